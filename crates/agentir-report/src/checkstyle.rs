//! Checkstyle's XML, which many CI systems read.

use crate::{Findings, in_full, relative};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, Event};
use std::io::{self, Write};

pub(crate) fn write(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(&mut *out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let whole = BytesStart::new("checkstyle").with_attributes([("version", "4.3")]);
    xml.write_event(Event::Start(whole))?;
    for (file, here) in findings.by_file() {
        if here.is_empty() {
            continue;
        }
        let name = relative(&file.name, findings.root);
        let start = BytesStart::new("file").with_attributes([("name", name.as_str())]);
        xml.write_event(Event::Start(start))?;
        for finding in here {
            let place = findings.place(finding.primary.span).start;
            let (line, column) = (place.line.to_string(), place.column.to_string());
            let source = format!("agentir.{}", finding.rule.0);
            let message = in_full(finding, findings.report.sources);
            let error = BytesStart::new("error").with_attributes([
                ("line", line.as_str()),
                ("column", column.as_str()),
                ("severity", finding.severity.name()),
                ("message", plain(&message).as_str()),
                ("source", source.as_str()),
            ]);
            xml.write_event(Event::Empty(error))?;
        }
        xml.write_event(Event::End(BytesEnd::new("file")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("checkstyle")))?;
    writeln!(out)
}

/// A text on one line.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
