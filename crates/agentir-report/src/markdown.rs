//! A summary for people: the page of a run of CI, a comment on a change.

use crate::Findings;
use agentir_diagnostics::Severity;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// So many findings are listed.
const MOST: usize = 50;

pub(crate) fn write(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    let all = findings.report.diagnostics;
    writeln!(out, "## agentir\n\n{}\n", findings.report.summary())?;
    if all.is_empty() {
        return Ok(());
    }
    let mut rules: BTreeMap<(Reverse<Severity>, &str), usize> = BTreeMap::new();
    for finding in all {
        *rules.entry((Reverse(finding.severity), finding.rule.0)).or_default() += 1;
    }
    writeln!(out, "| rule | level | findings |\n|---|---|---:|")?;
    for ((severity, rule), count) in rules {
        writeln!(out, "| `{rule}` | {} | {count} |", severity.0.name())?;
    }
    writeln!(out, "\n| place | level | what |\n|---|---|---|")?;
    let mut sorted: Vec<_> = all.iter().collect();
    sorted.sort_by_key(|finding| Reverse(finding.severity));
    for finding in sorted.iter().take(MOST) {
        let place = findings.place(finding.primary.span);
        let help = finding.help.as_deref().map(|h| format!("<br>{}", cell(h))).unwrap_or_default();
        writeln!(
            out,
            "| {}:{} | {} | {} (`{}`){help} |",
            cell(&place.file),
            place.start.line,
            finding.severity.name(),
            cell(&finding.message),
            finding.rule.0,
        )?;
    }
    if let Some(more) = all.len().checked_sub(MOST).filter(|more| *more > 0) {
        writeln!(out, "\nand {more} more")?;
    }
    Ok(())
}

/// A text in a cell of a table: texts of sources are no markup, but for the backticks of ours, between
/// which nothing is escaped but what ends a cell.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let paired = text.matches('`').count().is_multiple_of(2);
    let mut code = false;
    for c in text.chars() {
        match c {
            '`' => {
                code = paired && !code;
                out.push(c);
            }
            '|' => out.push_str("\\|"),
            '<' if !code => out.push_str("&lt;"),
            '>' if !code => out.push_str("&gt;"),
            '&' if !code => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
