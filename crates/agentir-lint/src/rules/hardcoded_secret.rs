//! A secret in the source.

use crate::rule::{Check, Group, Report, Rule};
use agentir_diagnostics::{FileId, RuleName, Severity, Span};
use agentir_secrets::secrets;

/// The name of the rule about secrets in the source.
pub const HARDCODED_SECRET: RuleName = RuleName("hardcoded-secret");

pub(crate) static RULE: Rule = Rule {
    name: HARDCODED_SECRET,
    group: Group::Security,
    severity: Severity::Error,
    summary: "a key, token or password is hard-coded",
    vendor: &[],
    requires: &[],
    check: Check::Text(check),
};

fn check(file: FileId, text: &str, report: &mut Report<'_>) {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    for secret in secrets(text) {
        let span = Span::new(file, offset(secret.range.start), offset(secret.range.end));
        // The message must not contain the secret: reports are copied more widely than sources.
        report.push(
            report
                .finding(span, format!("{} is hard-coded", secret.what))
                .secret()
                .note("anyone who can read this file, its history or a copy of it can use it")
                .help(
                    "revoke it, and read it from the platform or the environment: an auth profile, `{{secrets.NAME}}`, `os.environ[…]`",
                ),
        );
    }
}
