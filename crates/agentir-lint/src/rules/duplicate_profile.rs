//! Two behavior profiles with the same name.

use crate::names::defined_twice;
use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-profile"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "two behavior profiles have the same name",
    vendor: &[],
    requires: &[Construct::Profiles],
    check: Check::Program(check),
};

use agentir_ir::Profile;

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let mut look = |profiles: &mut dyn Iterator<Item = &Profile>| {
        defined_twice(profiles.map(|p| &p.name), &mut |again, before| {
            report.push(
                report
                    .finding(again.span, format!("there are two behavior profiles named `{again}`"))
                    .label(before.span, "the other is here")
                    .help("rename one of them, or merge the two")
                    .note("agents refer to profiles by name, so one of the two never applies"),
            );
        });
    };
    // Files in one folder do not necessarily belong to one program.
    if cx.program.complete {
        look(&mut cx.program.profiles());
    }
    cx.program.agents().for_each(|agent| look(&mut agent.behavior_profiles.iter()));
}
