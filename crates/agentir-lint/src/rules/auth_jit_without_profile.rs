//! A tool that requires a login without naming an authentication profile.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("auth-jit-without-profile"),
    group: Group::Versions,
    severity: Severity::Warning,
    summary: "a tool asks the user to log in when it is called, but names no credentials",
    vendor: &["AUTH_JIT_WITHOUT_PROFILE"],
    requires: &[Construct::Credentials],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    for tool in
        cx.program.tools().filter(|t| t.jit_auth == Some(true) && t.auth_profile_ref.is_none())
    {
        let name = &tool.name;
        report.push(
            report
                .finding(name.span, format!("`{name}` sets `auth_jit`, but has no `auth_profile`"))
                .note("the runtime does not know where the user should log in, and calls the tool without credentials")
                .help("add `auth_profile: \"…\"` with the profile's name, or remove `auth_jit`"),
        );
    }
}
