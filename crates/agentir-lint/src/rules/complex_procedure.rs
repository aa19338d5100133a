//! A procedure with too many decisions.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::dialect::Construct;
use agentir_expr::{Condition, ExprKind, Visit};
use agentir_flow::statement_span;
use agentir_ir::{Body, Statement};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("complex-procedure"),
    group: Group::Reachability,
    severity: Severity::Info,
    summary: "a procedure has too many conditions",
    vendor: &["cyclomatic-complexity"],
    requires: &[Construct::Procedures],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let agent = cx.agent;
    // The maximum number of decisions without a finding.
    let most = cx.number(&RULE, "most");
    let prompt = agent.reasoning.iter().map(|zone| &zone.prepare);
    let hooks = agent.hooks.iter().map(|(_, hook)| &hook.body);
    for body in prompt.chain(hooks) {
        let many = decisions(body);
        if let (true, Some(at)) = (many > most, body.0.first().and_then(statement_span)) {
            tell(at, many, report);
        }
    }
    // Agents whose prompt consists of conditional texts.
    let said = &agent.identity.instructions;
    let many: usize = said.iter().filter_map(|i| i.when.as_ref()).map(of).sum();
    if let (true, Some(first)) = (many > most, said.first()) {
        tell(first.text.text.span.at_start(), many, report);
    }
}

fn tell(at: Span, many: usize, report: &mut Report<'_>) {
    report.push(
        report
            .finding(at, format!("this procedure has {many} conditions"))
            .at("the procedure begins here")
            .note("so many paths cannot all be tested")
            .help("split the subagent, or move conditions into an action"),
    );
}

/// Counts the decisions of a procedure: its branches, and the `and` and `or` in their conditions.
fn decisions(body: &Body) -> usize {
    let of_one = |statement: &Statement| match statement {
        Statement::If { branches } => {
            branches.iter().map(|b| b.condition.as_ref().map_or(0, of) + decisions(&b.body)).sum()
        }
        Statement::Call(call) => decisions(&call.on_success),
        _ => 0,
    };
    body.0.iter().map(of_one).sum()
}

fn of(condition: &Condition) -> usize {
    let mut many = 1;
    if let Some(expr) = condition.expr() {
        expr.visit(&mut |e| {
            if let ExprKind::And(all) | ExprKind::Or(all) = &e.kind {
                many += all.len() - 1;
            }
            Visit::Children
        });
    }
    many
}
