//! An argument that two agents bind to different values.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_ir::VariableBinding;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("conflicting-bindings"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "two ensembles bind an argument of one agent to different arguments",
    vendor: &[],
    requires: &[Construct::Arguments],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    // The first binding by agent and argument.
    let mut first: FxHashMap<(&str, &str), (&SmolStr, &VariableBinding)> = FxHashMap::default();
    for agent in cx.program.agents() {
        let by = &agent.metadata.name.value;
        for handoff in &agent.coordination.handoffs {
            let to = handoff.to.value.as_str();
            for binding in &handoff.context.bindings {
                let (other, before) =
                    *first.entry((to, binding.variable.value.as_str())).or_insert((by, binding));
                let same =
                    before.value == binding.value && before.by_reference == binding.by_reference;
                if other == by || same {
                    continue;
                }
                let variable = &binding.variable;
                report.push(
                    report
                        .finding(
                            variable.span,
                            format!("`{by}` and `{other}` bind `{variable}` of `{to}` to different arguments"),
                        )
                        .label(before.variable.span, format!("bound by `{other}` here"))
                        .note("MICA keeps one binding per agent: that of the ensemble it reads last applies to both")
                        .help("bind it to an argument of the same name in both, or let only one ensemble contain the agent"),
                );
            }
        }
    }
}
