//! Mutation operators for flows and data.

use super::edit::{block, line, replace, slice};
use super::problems::Problem;
use super::{Baseline, Mutation, Operator, Oracle};
use agentir_diagnostics::{Edit, FileId, Span};
use agentir_expr::{ExprKind, Literal, TemplatePart, TypeKind, ValueType};
use agentir_ir::{Agent, Body, GatherField, Node, Statement, Step, Target};
use std::collections::BTreeSet;

/// Operators for control flow and the values of variables.
pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "a step redirected", mutate: redirected },
    Operator { name: "a wait in a flow dropped", mutate: hurried },
    Operator { name: "an assignment under another name", mutate: renamed },
    Operator { name: "removed before it is used", mutate: cleared },
    Operator { name: "a `pass` dropped", mutate: withheld },
    Operator { name: "a result misspelt", mutate: unreturned },
    Operator { name: "sensitive data in the prompt", mutate: shown },
    Operator { name: "a text for a number", mutate: mistyped },
    Operator { name: "a value that is not listed", mutate: unlisted },
];

fn abl(baseline: &Baseline) -> impl Iterator<Item = (usize, &Agent)> {
    let all = baseline.checked.program.agents().enumerate();
    all.filter(|(_, a)| a.metadata.dialect == agentir_lang_abl::dialect::ABL)
}

fn runs(agent: usize, span: Span, edits: Vec<Edit>) -> Mutation {
    Mutation { span, edits, oracle: Oracle::Runs(agent) }
}

fn redirected(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for (at, agent) in abl(baseline) {
        let Some(flow) = &agent.flow else { continue };
        for step in flow.definitions.values() {
            let mut targets: Vec<&agentir_diagnostics::Spanned<agentir_expr::Name>> = Vec::new();
            step.walk(&mut |node| {
                if let Node::Jump(jump) = node
                    && let Target::Step(name) = &jump.target
                    && slice(&baseline.files, name.span) == name.value
                {
                    targets.push(name);
                }
            });
            for name in targets {
                let names = flow.definitions.keys().filter(|other| **other != name.value);
                for other in names.filter(|n| !n.contains(' ')).take(4) {
                    let edits = vec![replace(name.span, other.as_str())];
                    mutations.push(runs(at, name.span, edits));
                }
            }
        }
    }
}

/// The line of a key of a step, below its name.
fn key_line(baseline: &Baseline, step: &Step, key: &str) -> Option<(u32, usize)> {
    let file = step.name.span.file.0;
    let text = &baseline.files.get(file as usize)?.text;
    let begin = line(&baseline.files, step.name.span);
    let whole = block(&baseline.files, file, begin)?;
    let lines = slice(&baseline.files, whole).lines().count();
    let found = text.lines().enumerate().skip(begin + 1).take(lines.saturating_sub(1));
    let mut found = found.filter(|(_, l)| l.trim_start().starts_with(key));
    let (at, _) = found.next()?;
    found.next().is_none().then_some((file, at))
}

/// Drops a wait, so that the statements after it run without user input.
fn hurried(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for (at, agent) in abl(baseline) {
        for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
            let Some(Statement::Await { branches }) = step.body.0.last() else { continue };
            let Some((file, key)) = key_line(baseline, step, "ON_INPUT:") else { continue };
            let Some(whole) = block(&baseline.files, file, key) else { continue };
            let text = slice(&baseline.files, whole);
            let indent = &text[..text.len() - text.trim_start().len()];
            let mut told = BTreeSet::new();
            for branch in branches {
                let to = branch.body.0.iter().find_map(|s| match s {
                    Statement::Goto(jump) => jump.target.step(),
                    _ => None,
                });
                let Some(to) = to.filter(|to| told.insert(to.value.clone())) else { continue };
                let edit = replace(whole, format!("{indent}THEN: {to}\n"));
                mutations.push(runs(at, step.name.span, vec![edit]));
            }
        }
    }
}

fn renamed(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for (at, agent) in abl(baseline) {
        agent.walk(&mut |node| {
            if let Node::Set(set) = node
                && set.target.segments.is_empty()
                && slice(&baseline.files, set.target.root.span) == set.target.root.value
            {
                let other = format!("{}_again", set.target.root.value);
                let edits = vec![replace(set.target.root.span, other.clone())];
                let oracle = Oracle::Renamed(at);
                mutations.push(Mutation { span: set.span, edits, oracle });
            }
        });
    }
}

/// The variables that a step prints as plain placeholders.
fn said(body: &Body) -> Vec<String> {
    let mut names = Vec::new();
    for statement in &body.0 {
        let Statement::Respond(said) = statement else { continue };
        for part in said.text.iter().flat_map(|t| &t.parts) {
            if let TemplatePart::Value { expr, filters, .. } = part
                && let Some(path) = expr.as_path().filter(|p| p.segments.is_empty())
                && filters.is_empty()
            {
                names.push(path.root.value.to_string());
            }
        }
    }
    names
}

fn cleared(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for (at, agent) in abl(baseline) {
        for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
            if key_line(baseline, step, "CLEAR:").is_some() {
                continue;
            }
            let Some((file, key)) = key_line(baseline, step, "RESPOND:") else { continue };
            let Some(whole) = block(&baseline.files, file, key) else { continue };
            let text = slice(&baseline.files, whole);
            let indent = &text[..text.len() - text.trim_start().len()];
            for name in said(&step.body) {
                let before = Span::new(whole.file, whole.start, whole.start);
                let edit = replace(before, format!("{indent}CLEAR: {name}\n"));
                mutations.push(runs(at, step.name.span, vec![edit]));
            }
        }
    }
}

fn withheld(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for (at, agent) in abl(baseline) {
        for handoff in &agent.coordination.handoffs {
            let agents = &baseline.checked.program.agents;
            let to = agents.iter().position(|a| a.metadata.name.value == handoff.to.value);
            let Some(to) = to else { continue };
            for (nth, value) in handoff.context.pass.iter().enumerate() {
                let span = value.name.span;
                let text = &baseline.files[span.file.0 as usize].text;
                let (start, end) = (span.start as usize, span.end as usize);
                let wider = if text[..start].ends_with(", ") {
                    Span::new(span.file, span.start - 2, span.end)
                } else if text[end..].starts_with(", ") {
                    Span::new(span.file, span.start, span.end + 2)
                } else {
                    span
                };
                let others = handoff.context.pass.iter().enumerate().filter(|(n, _)| *n != nth);
                let given = others.map(|(_, v)| v.name.value.to_string()).collect();
                let name = value.name.value.to_string();
                let oracle = Oracle::Withheld { from: at, to, name, given };
                mutations.push(Mutation { span, edits: vec![replace(wider, "")], oracle });
            }
        }
    }
}

fn unreturned(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for (_, agent) in abl(baseline) {
        let agents = &baseline.checked.program.agents;
        let there = |name: &str| agents.iter().any(|a| a.metadata.name.value == name);
        for handoff in agent.coordination.handoffs.iter().filter(|h| there(&h.to.value)) {
            for (name, value) in handoff.on_return.iter().flat_map(|r| &r.map) {
                if value.as_path().is_some() && !slice(&baseline.files, value.span).is_empty() {
                    let other = format!("{}_back", slice(&baseline.files, value.span));
                    let mut edits = vec![replace(value.span, other)];
                    // Either side may be the name in the other agent.
                    if slice(&baseline.files, name.span) == name.value {
                        edits.push(replace(name.span, format!("{}_here", name.value)));
                    }
                    let oracle = Oracle::Certain(Problem::NotReturned);
                    mutations.push(Mutation { span: value.span, edits, oracle });
                }
            }
        }
        for delegate in agent.coordination.delegates.iter().filter(|d| there(&d.agent.value)) {
            let Some(TypeKind::Object(fields)) = delegate.returns.as_ref().map(|t| &t.kind) else {
                continue;
            };
            for field in fields.iter().filter(|f| !f.optional) {
                let other = format!("{}_back", field.name.value);
                let oracle = Oracle::Certain(Problem::NotReturned);
                let mut edits = vec![replace(field.name.span, other)];
                // Either side may be the name in the other agent.
                if let Some(ty) = field.ty.name().filter(|ty| ValueType::named(ty).is_none()) {
                    edits.push(replace(field.ty.span, format!("{ty}_here")));
                }
                mutations.push(Mutation { span: field.name.span, edits, oracle });
            }
        }
    }
}

fn shown(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for (_, agent) in abl(baseline) {
        let mut sensitive: Vec<&GatherField> = Vec::new();
        agent.walk(&mut |node| {
            if let Node::Field(field) = node
                && field.sensitive == Some(true)
            {
                sensitive.push(field);
            }
        });
        let goal = agent.identity.goal.as_ref().map(|t| t.text.span);
        let Some(goal) = goal else { continue };
        let file = &baseline.files[goal.file.0 as usize].text;
        let Some(quote) = file[goal.start as usize..].find("\"\n") else { continue };
        let end = goal.start + u32::try_from(quote).unwrap_or_default();
        for field in sensitive {
            let place = Span::new(FileId(goal.file.0), end, end);
            let edits = vec![replace(place, format!(" {{{{{}}}}}", field.name.value))];
            let oracle = Oracle::Certain(Problem::Shown);
            mutations.push(Mutation { span: field.name.span, edits, oracle });
        }
    }
}

/// An assignment of a constant.
struct Constant<'c> {
    span: Span,
    literal: &'c Literal,
    /// The declared type of the variable.
    ty: Option<&'c str>,
    /// Whether the variable is an enumeration.
    listed: bool,
}

/// All assignments of constants.
fn constants(baseline: &Baseline) -> Vec<Constant<'_>> {
    let mut found = Vec::new();
    for (_, agent) in abl(baseline) {
        let mut fields: Vec<&GatherField> = Vec::new();
        let mut sets = Vec::new();
        agent.walk(&mut |node| match node {
            Node::Field(field) => fields.push(field),
            Node::Set(set) => sets.push(set),
            _ => {}
        });
        for set in sets.into_iter().filter(|s| s.target.segments.is_empty()) {
            let name = &set.target.root.value;
            let ExprKind::Literal(literal) = &set.value.kind else { continue };
            let session = agent.memory.session.iter().find(|v| v.name.value == *name);
            let ty = session.and_then(|v| v.ty.as_ref()?.name());
            let mut own = fields.iter().filter(|f| f.name.value == *name);
            let field = own.next().filter(|_| own.next().is_none());
            let ty = ty.or_else(|| field.and_then(|f| f.ty.as_ref().map(|t| t.value.as_str())));
            let listed = field.is_some_and(|f| !f.enum_values.is_empty());
            found.push(Constant { span: set.value.span, literal, ty, listed });
        }
    }
    found
}

fn mistyped(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for Constant { span, literal, ty, .. } in constants(baseline) {
        if matches!((literal, ty), (Literal::Number(_), Some("number" | "integer"))) {
            let edits = vec![replace(span, "\"many\"")];
            mutations.push(Mutation { span, edits, oracle: Oracle::Certain(Problem::WrongType) });
        }
    }
}

fn unlisted(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for Constant { span, literal, listed, .. } in constants(baseline) {
        if let (Literal::String(text), true) = (literal, listed) {
            let edits = vec![replace(span, format!("\"{text}_x\""))];
            mutations.push(Mutation { span, edits, oracle: Oracle::Certain(Problem::NotListed) });
        }
    }
}
