//! A branch that is never taken, because an earlier one always is.

use crate::bodies::bodies;
use crate::covered::Covered;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::Condition;
use agentir_flow::branch_lists;
use agentir_ir::Branch;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreachable-branch"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a branch is never taken, because an earlier one always is",
    vendor: &[],
    dialects: crate::rule::ANY,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    bodies(cx, &mut |body| branch_lists(body, &mut |branches| list(branches, report)));
}

fn list(branches: &[Branch], report: &mut Report<'_>) {
    let mut covered = Covered::default();
    let mut otherwise: Option<&Branch> = None;
    for branch in branches {
        let at = branch.condition.as_ref().map_or(branch.span, Condition::span);
        if let Some(earlier) = otherwise {
            report.push(
                report
                    .finding(at, "this branch is never taken")
                    .label(earlier.span, "this branch has no condition, so none is tried after it")
                    .note("the first branch whose condition holds is taken, and no other")
                    .help("move the branch without a condition to the end"),
            );
            continue;
        }
        let Some(condition) = &branch.condition else {
            otherwise = Some(branch);
            continue;
        };
        let Some(expr) = condition.expr() else { continue };
        match covered.by(expr) {
            Some(earlier) => report.push(
                report
                    .finding(at, "this branch is never taken")
                    .at("whenever this holds …")
                    .label(earlier, "… this holds as well, and comes first")
                    .note("the first branch whose condition holds is taken, and no other")
                    .help("put the narrower condition first, or remove this branch"),
            ),
            None => covered.add(expr, condition.span()),
        }
    }
}
