//! A variable that is neither read nor written.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_analysis::expressions::mentioned;
use agentir_diagnostics::{RuleName, Severity, Spanned};
use agentir_expr::dialect::Construct;
use agentir_expr::{ExprKind, Name, Path, Visit};
use agentir_ir::{Agent, BindingAction, Node};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unused-variable"),
    group: Group::Names,
    severity: Severity::Info,
    summary: "a variable is declared, but never read or set",
    vendor: &["unused-variable"],
    requires: &[Construct::SharedVariables],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let mut used: FxHashSet<&str> = FxHashSet::default();
    for agent in cx.program.agents() {
        of_agent(agent, &mut used);
    }
    let variables = cx.program.agents().flat_map(|a| &a.memory.session).map(|v| &v.name);
    let mut unused = variables.filter(|name| !used.contains(name.value.as_str())).peekable();
    if unused.peek().is_none() {
        return;
    }
    let mut elsewhere: FxHashSet<SmolStr> = FxHashSet::default();
    cx.program.agents().for_each(|agent| mentioned(agent, &mut elsewhere));
    let expected = cx.dialect().runtime().expected;
    let reported = |name: &&Spanned<Name>| {
        !elsewhere.contains(&name.value) && !expected.contains(&name.value.as_str())
    };
    for name in unused.filter(reported) {
        report.push(
            report
                .finding(name.span, format!("the variable `{name}` is never used"))
                .note("no subagent reads or sets it")
                .help(format!("use it as `@variables.{name}`, or remove it")),
        );
    }
}

fn of_agent<'a>(agent: &'a Agent, used: &mut FxHashSet<&'a str>) {
    agent.walk(&mut |node| {
        node.exprs(&mut |e| {
            e.visit(&mut |e| {
                if let ExprKind::Path(path) = &e.kind {
                    of_path(path, used);
                }
                Visit::Children
            });
        });
        match node {
            Node::Set(set) => of_path(&set.target, used),
            Node::Field(field) => {
                used.insert(&field.name.value);
            }
            Node::ToolBinding(offer) if matches!(offer.action, BindingAction::Collect) => {
                used.extend(offer.with.iter().map(|w| w.name.value.as_str()));
            }
            _ => {}
        }
    });
}

fn of_path<'a>(path: &'a Path, used: &mut FxHashSet<&'a str>) {
    if path.namespace.as_ref().is_none_or(|n| n.value == "variables") {
        used.insert(&path.root.value);
    }
}
