//! Functions that import modules which MICA blocks.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Confidence, RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_ir::Data;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("mica-import"),
    group: Group::Mica,
    severity: Severity::Warning,
    summary: "a tool file imports a module that MICA does not allow",
    vendor: &[],
    requires: &[Construct::Mica],
    check: Check::Program(check),
};

/// Modules of Python's standard library that provide what MICA's whitelist excludes, with the
/// reason. The whitelist may change; these modules are never on it, and `os` and `subprocess` always are.
const KEPT_OUT: &[(&str, &str)] = &[
    ("ctypes", "other programs' memory"),
    ("email", "mail"),
    ("multiprocessing", "other processes"),
    ("pty", "other processes"),
    ("secrets", "the system's source of randomness"),
    ("shutil", "files"),
    ("smtplib", "mail servers"),
    ("socket", "the network"),
    ("ssl", "the network"),
];

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let settings = cx.program.extensions.0.get(cx.dialect().id());
    let mode = settings.and_then(|all| all.get("unsafe_mode"));
    if mode.is_some_and(|m| m.value == Data::Bool(true)) {
        return;
    }
    for import in cx.program.libraries.iter().flat_map(|library| &library.imports) {
        let module = import.value.split('.').next().unwrap_or_default();
        let Some((_, reaches)) = KEPT_OUT.iter().find(|(name, _)| *name == module) else {
            continue;
        };
        let mut finding = report
            .finding(import.span, format!("MICA does not allow importing `{module}`"))
            .confidence(Confidence::Medium)
            .note(format!("`{module}` gives access to {reaches}; without `unsafe_mode` MICA only accepts modules on its allowlist, and the bot does not start"))
            .help("remove the import, or set `unsafe_mode: true` in `config.yml`");
        if let Some(mode) = mode {
            finding = finding.label(mode.span, "turned off here");
        }
        report.push(finding);
    }
}
