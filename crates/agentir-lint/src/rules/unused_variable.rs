//! A variable that nothing reads or writes.

use crate::names::mentioned;
use crate::rule::{AGENT_SCRIPT, Check, Group, ProgramContext, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::{Expr, ExprKind, Path, Visit};
use agentir_ir::{Agent, Node, Offer};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unused-variable"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a variable is declared, but nothing reads or sets it",
    vendor: &["unused-variable"],
    dialects: AGENT_SCRIPT,
    check: Check::Program(check),
};

fn check(cx: &ProgramContext<'_>, report: &mut Report<'_>) {
    let mut used: FxHashSet<SmolStr> = FxHashSet::default();
    for agent in &cx.program.agents {
        of_agent(agent, &mut used);
    }
    for variable in cx.program.agents.iter().flat_map(|a| &a.memory.session) {
        let name = &variable.name;
        if used.contains(name.value.as_str()) {
            continue;
        }
        report.push(
            report
                .finding(name.span, format!("nothing uses the variable `{name}`"))
                .note("no subagent reads or sets it")
                .help(format!("use it as `@variables.{name}`, or remove it")),
        );
    }
}

fn of_agent(agent: &Agent, used: &mut FxHashSet<SmolStr>) {
    let path = |path: &Path, used: &mut FxHashSet<SmolStr>| {
        if path.namespace.as_ref().is_none_or(|n| n.value == "variables") {
            used.insert(path.root.value.clone());
        }
    };
    let expr = |expr: &Expr, used: &mut FxHashSet<SmolStr>| {
        expr.visit(&mut |e| {
            if let ExprKind::Path(found) = &e.kind {
                path(found, used);
            }
            Visit::Children
        });
    };
    agent.walk(&mut |node| {
        node.exprs(&mut |e| expr(e, used));
        match node {
            Node::Set(set) => path(&set.target, used),
            Node::Field(field) => {
                used.insert(field.name.value.clone());
            }
            Node::Offer(offer) if matches!(offer.does, Offer::Collect) => {
                used.extend(offer.with.iter().map(|w| w.name.value.clone()));
            }
            _ => {}
        }
    });
    mentioned(agent, used);
}
