//! JUnit's XML: a suite a file, a case a finding. What makes the run fail is a failure; other findings
//! pass and say what they have to say as output.

use crate::{Findings, in_full, relative};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::io::{self, Write};

pub(crate) fn write(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    let sources = findings.report.sources;
    let mut report = Report::new("agentir check");
    for (file, here) in findings.by_file() {
        let mut suite = TestSuite::new(relative(&file.name, findings.root));
        for finding in here {
            let at = findings.place(finding.primary.span);
            let place = format!("{}:{}:{}", at.file, at.start.line, at.start.column);
            let text =
                format!("{place}: {}: {}", finding.severity.name(), in_full(finding, sources));
            let status = if (findings.fails)(finding) {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(finding.severity.name());
                status.set_message(finding.sentence(sources));
                status.set_description(text.as_str());
                status
            } else {
                TestCaseStatus::success()
            };
            let name = format!("{} {}:{}", finding.rule.0, at.start.line, at.start.column);
            let mut case = TestCase::new(name, status);
            case.set_classname(finding.rule.0);
            if !(findings.fails)(finding) {
                case.set_system_out(text.as_str());
            }
            suite.add_test_case(case);
        }
        if suite.test_cases.is_empty() {
            suite.add_test_case(TestCase::new("no findings", TestCaseStatus::success()));
        }
        report.add_test_suite(suite);
    }
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}
