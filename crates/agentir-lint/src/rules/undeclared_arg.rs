//! An argument that is set, read or bound, but that no agent declares.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::expressions::paths;
use agentir_diagnostics::{RuleName, Severity, Span, Spanned};
use agentir_expr::dialect::Construct;
use agentir_expr::{Name, Path};
use agentir_ir::{Agent, Body, Statement, VariableBinding};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undeclared-arg"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "an argument is used that its agent does not declare",
    vendor: &[],
    requires: &[Construct::Arguments],
    check: Check::Agent(check),
};

/// Returns the arguments of an agent in order.
fn args(agent: &Agent) -> impl Iterator<Item = &str> {
    let fields = agent.gather.fields.iter().map(|f| f.name.value.as_str());
    fields.chain(agent.memory.session.iter().map(|v| v.name.value.as_str()))
}

/// Whether an agent declares an argument.
fn declares(cx: &AgentContext<'_, '_>, agent: &Agent, name: &str) -> bool {
    cx.program.declared.contains(&(agent.metadata.name.span, name))
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let mut seen: FxHashSet<Span> = FxHashSet::default();
    let mut read = |path: &Path, set: bool, report: &mut Report<'_>| {
        if seen.insert(path.root.span) {
            look(cx, path, set, report);
        }
    };
    for set in &cx.index.sets {
        read(&set.target, true, report);
    }
    let mut used = Vec::new();
    cx.index.all_exprs(&mut |expr| paths(expr, &mut |path| used.push(path)));
    for path in used {
        read(path, false, report);
    }
    // The values of bindings have been checked; these are the names of the bound arguments.
    for handoff in &cx.agent.coordination.handoffs {
        bindings(cx, &handoff.to, &handoff.context.bindings, report);
    }
    agentir_flow::bodies(cx.agent, &mut |body| calls(cx, body, report));
}

fn calls(cx: &AgentContext<'_, '_>, body: &Body, report: &mut Report<'_>) {
    for statement in &body.0 {
        match statement {
            Statement::Delegate(d) => bindings(cx, &d.agent, &d.bindings, report),
            Statement::If { branches } => branches.iter().for_each(|b| calls(cx, &b.body, report)),
            _ => {}
        }
    }
}

/// Checks the arguments that are passed to another agent.
fn bindings(
    cx: &AgentContext<'_, '_>,
    to: &Spanned<Name>,
    bindings: &[VariableBinding],
    report: &mut Report<'_>,
) {
    let Some(agent) = cx.program.agents.get(to.value.as_str()).copied() else { return };
    for binding in bindings {
        let name = &binding.variable;
        if declares(cx, agent, &name.value) {
            continue;
        }
        let finding = report
            .finding(name.span, format!("the agent `{to}` has no argument `{name}`"))
            .label(agent.metadata.name.span, "declared here")
            .note("the value passed to it is never read");
        report.push(suggest(finding, &name.value, args(agent), || {
            format!("add {} of `{to}`, or remove it here", to_args(cx, name.span, &name.value))
        }));
    }
}

/// How an argument is added to those of an agent.
fn to_args(cx: &AgentContext<'_, '_>, at: Span, name: &str) -> String {
    match cx.words(at).is_json() {
        true => format!("`{{\"name\": \"{name}\"}}` to the `gather.fields`"),
        false => format!("`- {name}` to the `args`"),
    }
}

fn look(cx: &AgentContext<'_, '_>, path: &Path, set: bool, report: &mut Report<'_>) {
    let root = &path.root;
    let name = root.value.as_str();
    let own = declares(cx, cx.agent, name);
    // MICA fills this argument (`tracker.py`).
    if own || name == "_user_input" {
        return;
    }
    let program = cx.program.program;
    let note = if set {
        "MICA logs a message and discards the value"
    } else {
        "it never has a value: conditions on it are false, and texts show nothing in its place"
    };
    let Some(field) = path.first_field() else {
        let finding = report
            .finding(root.span, format!("`{}` has no argument `{name}`", cx.agent.metadata.name))
            .note(note);
        report.push(suggest(finding, name, args(cx.agent), || {
            let its = to_args(cx, root.span, name).replace(" the ", " its ");
            format!("add {its}; an argument of another agent is written `agent.{name}`")
        }));
        return;
    };
    if let Some(agent) = cx
        .program
        .agents
        .get(name)
        .copied()
        .filter(|a| a.metadata.dialect.traits().reads_other_agents)
    {
        if declares(cx, agent, &field.value) {
            return;
        }
        let finding = report
            .finding(field.span, format!("the agent `{name}` has no argument `{field}`"))
            .label(agent.metadata.name.span, "declared here")
            .note(note);
        report.push(suggest(finding, &field.value, args(agent), || {
            format!("add {} of `{name}`", to_args(cx, field.span, &field.value))
        }));
        return;
    }
    let called = program.agents().flat_map(|a| &a.use_tools).any(|t| t.value == name)
        || cx.index.calls.iter().any(|c| {
            c.tool.value == name || c.result.as_ref().is_some_and(|result| result.value == name)
        })
        || cx.tool(name).is_some();
    if called || (set && program.libraries.is_empty()) {
        return;
    }
    let finding = report
        .finding(root.span, format!("`{name}` is neither an agent nor a called function"))
        .note(note);
    let agents = program.agents().map(|a| a.metadata.name.value.as_str());
    let known: Vec<&str> =
        agents.chain(cx.index.calls.iter().map(|c| c.tool.value.as_str())).collect();
    report.push(suggest(finding, name, known, || {
        format!("call `{name}` first, or write `agent.{field}` with the name of an agent")
    }));
}
