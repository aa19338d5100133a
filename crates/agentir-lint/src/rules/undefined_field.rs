//! A reference to a field that nothing collects, returns or declares.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::wording::{listed, plural};
use agentir_analysis::expressions::{
    ExprContext, Member, Results, expressions, expressions_of, member, paths,
};
use agentir_analysis::script::{Outputs, output, outputs};
use agentir_analysis::variables::first;
use agentir_diagnostics::{Confidence, Diagnostic, RuleName, Severity, Span, Spanned};
use agentir_expr::dialect::{Construct, Keyword};
use agentir_expr::{Name, Path, TypeExpr, TypeField};
use agentir_ir::{Agent, Call, Node, ReadUse, Tool};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-field"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a field is named that is not collected, not returned by the tool, or not available to pass on",
    vendor: &["INVALID_DEPENDS_ON_REF", "H-04", "action-unknown-output"],
    requires: &[Construct::Outputs],
    check: Check::Agent(check),
};

/// `@outputs.x` below an action without such an output.
fn with_namespaces(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let declared = |tool: &str| Some(cx.tool(tool)?.returns.as_ref()?.fields.as_slice());
    outputs(cx.agent, &mut |path, here| {
        let Outputs::Of(tool, outside) = *here else { return };
        let (name, Some(fields)) = (output(path), declared(&tool.value)) else { return };
        if fields.is_empty() || fields.iter().any(|f| f.name.value == name.value) {
            return;
        }
        let finding = report
            .finding(name.span, format!("the action `{tool}` has no output `{name}`"))
            .label(tool.span, "`@outputs` holds the outputs of this action");
        let hidden = match outside {
            Outputs::Of(outer, _) => declared(&outer.value)
                .is_some_and(|fields| fields.iter().any(|f| f.name.value == name.value))
                .then_some(*outer),
            _ => None,
        };
        report.push(match hidden {
            Some(outer) => finding
                .note(format!("`{outer}` has it, but its outputs are not visible here"))
                .help("copy it to a variable before this action runs"),
            None => {
                let names = fields.iter().map(|f| f.name.value.as_str());
                suggest(finding, &name.value, names, || {
                    let has: Vec<String> = fields.iter().map(|f| format!("`{}`", f.name)).collect();
                    format!("`{tool}` has the {} {}", plural("output", has.len()), listed(&has))
                })
            }
        });
    });
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.traits().namespaced_references {
        with_namespaces(cx, report);
        return;
    }
    let fields: FxHashSet<&str> = cx.index.fields.iter().map(|f| f.name.value.as_str()).collect();
    asked_for(cx, &fields, report);
    passed_on(cx, report);
    overridden(cx, &fields, report);
    returned(cx, report);
}

/// `depends_on`, and `COLLECT` after a failed constraint.
fn asked_for(cx: &AgentContext<'_, '_>, fields: &FxHashSet<&str>, report: &mut Report<'_>) {
    let files: FxHashSet<&str> =
        cx.agent.attachments.iter().map(|a| a.name.value.as_str()).collect();
    for (name, used) in cx.index.reads.iter().filter(|(name, _)| cx.owns(name.span)) {
        let gather = cx.words(name.span).keyword(Keyword::Gather);
        let note = match used {
            ReadUse::DependsOn => {
                "a field that depends on a missing field is never asked for".to_owned()
            }
            ReadUse::Collect => format!(
                "only fields of a `{gather}` can be collected again, so the constraint keeps failing"
            ),
            _ => continue,
        };
        if !fields.contains(name.value.as_str()) && !files.contains(name.value.as_str()) {
            let finding =
                report.finding(name.span, format!("there is no gather field `{name}`")).note(note);
            report.push(suggest(finding, &name.value, fields.iter().copied(), || {
                match cx.words(name.span).is_json() {
                    true => format!(
                        "add it to `gather.fields`: `{{\"name\": \"{name}\", \"prompt\": …}}`"
                    ),
                    false => format!("add `{name}:` with a `prompt` below `{gather}:`"),
                }
            }));
        }
    }
}

/// Variables that are passed to other agents.
fn passed_on(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let variables = &cx.variables;
    // A supervisor's description of a handoff between two other agents.
    let protocol = cx.agent.coordination.handoffs.iter().filter(|h| {
        h.extensions.0.get(cx.dialect().id()).is_some_and(|all| all.contains_key("from"))
    });
    let others: FxHashSet<Span> =
        protocol.flat_map(|h| &h.context.pass).map(|p| p.name.span).collect();
    let mut unknown: FxHashMap<&str, Vec<&Spanned<Name>>> = FxHashMap::default();
    let mut order = Vec::new();
    for (name, used) in &cx.index.reads {
        let known = *used != ReadUse::Pass
            || others.contains(&name.span)
            || variables.knows(first(&name.value));
        if !known && cx.owns(name.span) {
            let places = unknown.entry(&name.value).or_insert_with(|| {
                order.push(name.value.as_str());
                Vec::new()
            });
            places.push(name);
        }
    }
    for name in order {
        let places = unknown.remove(name).unwrap_or_default();
        let Some((name, rest)) = places.split_first() else { continue };
        let mut finding = report
            .finding(name.span, format!("there is no variable or field `{name}` to pass on"))
            .note("the other agent gets nothing under this name");
        for other in rest {
            finding = finding.label(other.span, "also passed here");
        }
        let words = cx.words(name.span);
        let mut finding = suggest(finding, &name.value, variables.names(), || {
            let (gather, memory) = (words.keyword(Keyword::Gather), words.keyword(Keyword::Memory));
            match words.is_json() {
                true => format!(
                    "collect it in `{gather}`, declare it in `memory.session`, or remove `{name}` from the list"
                ),
                false => format!(
                    "collect it in `{gather}`, declare it below `{memory}:`, or remove `{name}` from the list"
                ),
            }
        });
        // An agent outside of the program may have passed it.
        let guess = finding.fixes.is_empty() && !cx.program.program.complete;
        finding.severity = if guess { Severity::Info } else { Severity::Warning };
        report.push(finding.confidence(Confidence::Medium));
    }
}

/// Fields whose prompts a profile overrides.
fn overridden(cx: &AgentContext<'_, '_>, fields: &FxHashSet<&str>, report: &mut Report<'_>) {
    let overrides = cx.profiles().flat_map(|p| p.gather_overrides.iter().map(move |o| (p, o)));
    for (profile, name) in
        overrides.flat_map(|(p, o)| o.field_overrides.iter().map(move |f| (p, &f.name)))
    {
        if fields.contains(name.value.as_str()) || !cx.owns(name.span) {
            continue;
        }
        // A profile may serve several agents; one of them is enough.
        let uses = |agent: &&Agent| {
            agent.use_behavior_profiles.iter().any(|p| p.value == profile.name.value)
        };
        if cx.program.program.agents().filter(uses).any(|agent| asks_for(agent, name)) {
            continue;
        }
        let mut finding = report
            .finding(name.span, format!("there is no gather field `{name}`"))
            .note("a profile can only change fields of the agent, so this has no effect");
        finding.severity = Severity::Warning;
        report.push(suggest(finding, &name.value, fields.iter().copied(), || {
            let gather = cx.words(name.span).keyword(Keyword::Gather);
            format!("name a field of the agent's `{gather}`, or remove the entry")
        }));
    }
}

fn asks_for(agent: &Agent, name: &Spanned<Name>) -> bool {
    let mut found = false;
    agent.walk(&mut |node| {
        found |= matches!(node, Node::Field(field) if field.name.value == name.value)
    });
    found
}

/// Members of tool results.
fn returned(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let results = Results::new(cx);
    let mut seen = FxHashSet::default();
    expressions(cx, &mut |expr, context| {
        if context == ExprContext::Plain {
            paths(expr, &mut |path| {
                let name = &path.root.value;
                if let Some((tool, ty)) = results.get(name) {
                    let item = results.is_item(name).then_some(name);
                    lacks((tool, ty, item), path, &mut seen, report);
                }
            });
        }
    });
    if cx.index.sets.iter().any(|s| s.target.root.value == "result") {
        return;
    }
    for call in cx.index.calls.iter().filter(|call| cx.owns(call.tool.span)) {
        if let Some(tool) = cx.tool(&call.tool.value) {
            let Some(returns) = &tool.returns else { continue };
            after(call, &mut |path| lacks((tool, &returns.ty, None), path, &mut seen, report));
        }
    }
}

/// Calls `found` with every path into `result` after a call, up to the next call.
fn after<'a>(call: &'a Call, found: &mut dyn FnMut(&'a Path)) {
    let mut all = Vec::new();
    let mut other = false;
    let mut visit = |node: Node<'a>| {
        other |= matches!(node, Node::Call(_));
        expressions_of(node, &mut |expr, context| {
            if context == ExprContext::Plain {
                paths(expr, &mut |path| all.push(path));
            }
        });
    };
    call.on_success.walk(&mut visit);
    for branch in &call.on_result {
        if let Some(condition) = &branch.condition {
            visit(Node::Condition(condition, agentir_ir::ConditionUse::Branch));
        }
        branch.body.walk(&mut visit);
    }
    if !other {
        all.into_iter().filter(|path| path.root.value == "result").for_each(found);
    }
}

/// The tool that returns something, its type, and the name of the item if it is one of a list.
type Returned<'t> = (&'t Tool, &'t TypeExpr, Option<&'t Name>);

fn lacks(
    (tool, ty, item): Returned<'_>,
    path: &Path,
    seen: &mut FxHashSet<Span>,
    report: &mut Report<'_>,
) {
    let Member::Missing(name, fields) = member(ty, &path.segments) else { return };
    // Fields that the runtime adds to a failed call.
    let failure = matches!(name.value.as_str(), "error" | "error_message" | "success");
    if (failure && item.is_none()) || !seen.insert(name.span) {
        return;
    }
    let mut finding = missing_member(report, (tool, ty, item), name, fields);
    finding.severity = Severity::Warning;
    report.push(finding);
}

fn missing_member(
    report: &Report<'_>,
    (tool, _, item): Returned<'_>,
    name: &Spanned<Name>,
    fields: &[TypeField],
) -> Diagnostic {
    let what = match item {
        Some(item) => format!("an item `{item}` in the result of `{}`", tool.name),
        None => format!("the result of `{}`", tool.name),
    };
    let finding = report
        .finding(name.span, format!("{what} has no field `{name}`"))
        .label(tool.name.span, "declared here")
        .note("a missing field is undefined: conditions on it are false, and texts show nothing in its place");
    suggest(finding, &name.value, fields.iter().map(|f| f.name.value.as_str()), || {
        let has: Vec<String> = fields.iter().map(|f| format!("`{}`", f.name)).collect();
        match has.is_empty() {
            true => format!(
                "the return type of `{}` has no fields; declare what the tool returns",
                tool.name
            ),
            false => format!("{what} has the {} {}", plural("field", has.len()), listed(&has)),
        }
    })
}
