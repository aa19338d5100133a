//! A result field that the other agent never sets.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::AgentAnalysis;
use agentir_diagnostics::{Applicability, Confidence, RuleName, Severity, Span, Spanned, closest};
use agentir_expr::dialect::Construct;
use agentir_expr::{Name, TypeKind};
use agentir_flow::cfg::{AccessKind, NodeKind};
use agentir_ir::Agent;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreturned-field"),
    group: Group::Data,
    severity: Severity::Warning,
    summary: "a result is read from another agent that never sets it",
    vendor: &["H-07"],
    requires: &[Construct::Returns],
    check: Check::Agent(check),
};

/// A field that is taken from a result.
struct Taken<'a> {
    /// The names that it may have in the other agent, with their spans.
    names: Vec<(&'a str, Span)>,
    /// Its span.
    span: Span,
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let coordination = &cx.agent.coordination;
    let mut children = Children::default();
    for handoff in coordination.handoffs.iter().filter(|h| h.remote.is_none()) {
        let map = handoff.on_return.iter().flat_map(|r| &r.map);
        // The two specifications disagree about the direction of the mapping, so both sides count.
        let taken = map.filter_map(|(name, value)| {
            let path = value.as_path()?;
            let names = [path.first_field(), Some(&path.root), Some(name)];
            let names = names.into_iter().flatten().map(|n| (n.value.as_str(), n.span));
            Some(Taken { names: names.collect(), span: value.span })
        });
        look(cx, &handoff.to, taken.collect(), &mut children, report);
    }
    for delegate in coordination.delegates.iter().filter(|d| d.remote.is_none()) {
        let Some(TypeKind::Object(fields)) = delegate.returns.as_ref().map(|t| &t.kind) else {
            continue;
        };
        let taken = fields.iter().filter(|f| !f.optional).map(|f| Taken {
            names: std::iter::once((f.name.value.as_str(), f.name.span))
                .chain(f.ty.name().map(|name| (name, f.ty.span)))
                .collect(),
            span: f.name.span,
        });
        look(cx, &delegate.agent, taken.collect(), &mut children, report);
    }
}

/// The variables that the agents of a name may return, if the name is unique.
#[derive(Default)]
struct Children<'a>(FxHashMap<&'a str, Option<(&'a Agent, FxHashSet<&'a str>)>>);

impl<'a> Children<'a> {
    fn get(
        &mut self,
        cx: &AgentContext<'_, 'a>,
        name: &'a str,
    ) -> Option<&(&'a Agent, FxHashSet<&'a str>)> {
        let find = || {
            let mut all = cx.program.all_agents().filter(|a| a.agent.metadata.name.value == name);
            let (Some(child), None) = (all.next(), all.next()) else { return None };
            let variables = child.variables;
            let own = [&variables.defined, &variables.roots, &variables.returned]
                .into_iter()
                .chain([&variables.results, &variables.labels])
                .flatten()
                .copied();
            let mut own: FxHashSet<&str> = own.collect();
            // What is only declared, nobody sets, unless a model may.
            let led = is_led_by_the_model(child.agent);
            let idle = child.agent.memory.session.iter().filter(|v| {
                v.initial_value.is_none() && v.scope.is_none() && v.name.value.find('.').is_none()
            });
            for name in idle
                .filter(|_| !led)
                .map(|v| v.name.value.as_str())
                .filter(|name| !is_set(&child, name))
            {
                own.remove(name);
            }
            Some((child.agent, own))
        };
        self.0.entry(name).or_insert_with(find).as_ref()
    }
}

/// Whether anything may set a variable of an agent.
fn is_set(child: &AgentAnalysis<'_, '_>, name: &str) -> bool {
    let index = &child.index;
    let root =
        |path: &str| path.strip_prefix("session.").unwrap_or(path).split('.').next() == Some(name);
    let passed = child.program.passed.get(child.agent.metadata.name.value.as_str());
    let cfg = child.program.graph();
    passed.is_some_and(|names| names.contains(name))
        || index.fields.iter().any(|f| f.name.value == name)
        || index.writes.iter().any(|(written, _)| root(&written.value))
        || index.sets.iter().any(|set| {
            set.target.root.value == name
                || (set.target.root.value == "session"
                    && set.target.first_field().is_some_and(|field| field.value == name))
        })
        || cfg.agent(child.id).into_iter().flat_map(|agent| agent.nodes()).any(|node| {
            let opaque = cfg
                .node(node)
                .is_some_and(|n| matches!(n.kind, NodeKind::Unknown | NodeKind::Other));
            opaque
                || cfg
                    .defs(node)
                    .iter()
                    .any(|access| access.kind == AccessKind::Def && root(&access.variable.name))
        })
}

fn look<'a>(
    cx: &AgentContext<'_, 'a>,
    name: &'a Spanned<Name>,
    taken: Vec<Taken<'_>>,
    children: &mut Children<'a>,
    report: &mut Report<'_>,
) {
    if taken.is_empty() {
        return;
    }
    let to = cx.agent.resolve_alias(name);
    let Some((child, own)) = children.get(cx, &to.value) else { return };
    for Taken { names, span } in taken {
        if names.iter().any(|(name, _)| own.contains(name)) || !cx.owns(span) {
            continue;
        }
        let near = names
            .iter()
            .find_map(|(name, at)| Some((*name, *at, closest(name, own.iter().copied())?)));
        let Some(name) = near.map(|(name, ..)| name).or(names.first().map(|(name, _)| *name))
        else {
            continue;
        };
        let mut finding = report
            .finding(span, format!("`{to}` never sets `{name}`, which is read from its result"))
            .label(child.metadata.name.span, "this agent has no such variable, field or result")
            .note("the variable stays unset: conditions on it are false, and texts show nothing in its place");
        if is_led_by_the_model(child) {
            // The agent may still compute a result of its own.
            finding.severity = Severity::Info;
            finding = finding.confidence(Confidence::Medium);
        }
        report.push(match near {
            Some((_, at, near)) => finding.help(format!("did you mean `{near}`?")).replace_at(
                at,
                near,
                Applicability::Unsafe,
            ),
            None => finding.help(format!(
                "set `{name}` in `{to}` before it completes, or read a result that it has"
            )),
        });
    }
}

fn is_led_by_the_model(agent: &Agent) -> bool {
    agent
        .flow
        .as_ref()
        .is_none_or(|flow| flow.definitions.values().any(|step| step.reasoning_zone.is_some()))
}
