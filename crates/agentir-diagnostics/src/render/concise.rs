//! One line a finding, for editors, `grep` and logs.

use super::clean::one_line;
use super::{Report, paint};
use std::io;

pub(crate) fn render(report: &Report<'_>, color: bool, out: &mut dyn io::Write) -> io::Result<()> {
    let mut line = String::new();
    for diagnostic in report.diagnostics {
        line.clear();
        let span = diagnostic.primary.span;
        if let Some(file) = report.sources.get(span.file) {
            let at = file.line_column(span.start);
            line.push_str(&format!("{}:{}:{}: ", one_line(&file.name), at.line, at.column));
        }
        let level = format!("{}[{}]", diagnostic.severity.name(), diagnostic.rule.0);
        paint::push(&mut line, color, paint::severity(diagnostic.severity), &level);
        line.push_str(": ");
        line.push_str(&one_line(&diagnostic.sentence(report.sources)));
        if let Some(help) = &diagnostic.help {
            line.push_str(&format!(" ({})", one_line(help)));
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}
