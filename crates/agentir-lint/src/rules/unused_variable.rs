//! A variable that nothing reads or writes.

use crate::rule::{AGENT_SCRIPT, Check, Group, ProgramContext, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::{Expr, ExprKind, Path, Visit};
use agentir_ir::{Agent, Data, Node, Offer};
use rustc_hash::FxHashSet;

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
    let mut used: FxHashSet<String> = FxHashSet::default();
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

fn of_agent(agent: &Agent, used: &mut FxHashSet<String>) {
    let path = |path: &Path, used: &mut FxHashSet<String>| {
        if path.namespace.as_ref().is_none_or(|n| n.value == "variables") {
            used.insert(path.root.value.to_string());
        }
    };
    let expr = |expr: &Expr, used: &mut FxHashSet<String>| {
        expr.visit(&mut |e| {
            if let ExprKind::Path(found) = &e.kind {
                path(found, used);
            }
            Visit::Children
        });
    };
    agent.walk(&mut |node| match node {
        Node::Condition(condition, _) => condition.expr().into_iter().for_each(|e| expr(e, used)),
        Node::Expr(e) => expr(e, used),
        Node::Template(text) => text.exprs(&mut |e| expr(e, used)),
        Node::Set(set) => {
            path(&set.target, used);
            expr(&set.value, used);
        }
        Node::Field(field) => {
            used.insert(field.name.value.to_string());
        }
        Node::Offer(offer) if matches!(offer.does, Offer::Collect) => {
            used.extend(offer.with.iter().map(|w| w.name.value.to_string()));
        }
        _ => {}
    });
    // What the model has no place for may name a variable as well.
    let mut text = |data: &Data| kept(data, used);
    agent.extensions.0.values().flat_map(|all| all.values()).for_each(|e| text(&e.value));
    let references = agent.available_agents.iter().map(|r| &r.extensions);
    let tools = agent.tools.iter().map(|t| &t.extensions);
    for extensions in references.chain(tools) {
        extensions.0.values().flat_map(|all| all.values()).for_each(|e| text(&e.value));
    }
    let mut others = Vec::new();
    agentir_flow::bodies(agent, &mut |body| others.extend(agentir_flow::others(body)));
    others.into_iter().for_each(text);
}

/// Every `@variables.name` in free-form data.
fn kept(data: &Data, used: &mut FxHashSet<String>) {
    match data {
        Data::String(text) => {
            for rest in text.split("@variables.").skip(1) {
                let end =
                    rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                used.extend(rest.get(..end).map(str::to_owned));
            }
        }
        Data::Array(all) => all.iter().for_each(|one| kept(one, used)),
        Data::Object(all) => all.values().for_each(|one| kept(one, used)),
        _ => {}
    }
}
