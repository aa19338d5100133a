//! A summary for people: the page of a run of CI, a comment on a change.

use crate::Findings;
use agentir_diagnostics::{Diagnostic, Severity};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// So many findings are listed.
const MAX_FINDINGS: usize = 50;

pub(crate) fn write(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    let all = findings.report.diagnostics;
    writeln!(out, "## agentir\n\n{}\n", findings.report.summary())?;
    if all.is_empty() {
        return Ok(());
    }
    // A rule has one row for each level, so the first of its findings decides where it links to.
    let mut rules: BTreeMap<(Reverse<Severity>, &str), (usize, &Diagnostic)> = BTreeMap::new();
    for finding in all {
        let row = rules.entry((Reverse(finding.severity), finding.rule.0));
        row.or_insert((0, finding)).0 += 1;
    }
    writeln!(out, "| rule | level | findings |\n|---|---|---:|")?;
    for ((severity, _), (count, first)) in rules {
        writeln!(out, "| {} | {} | {count} |", rule(first), severity.0.name())?;
    }
    writeln!(out, "\n| place | level | what |\n|---|---|---|")?;
    let mut sorted: Vec<_> = all.iter().collect();
    sorted.sort_by_key(|finding| Reverse(finding.severity));
    for finding in sorted.iter().take(MAX_FINDINGS) {
        let place = findings.place(finding.primary.span);
        let help = finding.help.as_deref().map(|h| format!("<br>{}", cell(h))).unwrap_or_default();
        writeln!(
            out,
            "| {}:{} | {} | {} ({}){help} |",
            cell(&place.file),
            place.start.line,
            finding.severity.name(),
            cell(&finding.sentence(findings.report.sources)),
            rule(finding),
        )?;
    }
    if let Some(more) = all.len().checked_sub(MAX_FINDINGS).filter(|more| *more > 0) {
        writeln!(out, "\nand {more} more")?;
    }
    Ok(())
}

/// The name of a finding's rule, with a link to its page if it is known where that is.
fn rule(finding: &Diagnostic) -> String {
    let name = finding.rule.0;
    match &finding.page {
        Some(web) => format!("[`{name}`](<{}>)", web.replace('|', "%7C")),
        None => format!("`{name}`"),
    }
}

/// The last bytes of a text, if a character begins there.
fn before(text: &str, length: usize) -> &str {
    let start = text.len().checked_sub(length);
    start.and_then(|start| text.get(start..)).unwrap_or_default()
}

/// A text in a cell of a table: texts of sources are not markup, but for the backticks of ours, between
/// which nothing is escaped but what ends a cell.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let paired = text.matches('`').count().is_multiple_of(2);
    let mut code = false;
    for (at, c) in text.char_indices() {
        let rest = || text.get(at..).unwrap_or_default();
        match c {
            '`' => {
                code = paired && !code;
                out.push(c);
            }
            '|' => out.push_str("\\|"),
            '<' if !code => out.push_str("&lt;"),
            '>' if !code => out.push_str("&gt;"),
            '&' if !code => out.push_str("&amp;"),
            '[' | ']' | '*' | '_' | '~' | '#' | '\\' if !code => out.extend(['\\', c]),
            // What looks like an address would become a link.
            ':' if !code && rest().starts_with("://") => out.push_str("&#58;"),
            '.' if !code && before(&out, 3).eq_ignore_ascii_case("www") => out.push_str("&#46;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
