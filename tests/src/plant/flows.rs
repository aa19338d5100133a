//! The kinds of defects in flows and data, and where they can be planted.

use super::edit::{block, line, replace, slice};
use super::problems::Problem;
use super::{Clean, Judge, Kind, Plant};
use agentir_diagnostics::{Edit, FileId, Span};
use agentir_expr::{ExprKind, Literal, TemplatePart, TypeKind, ValueType};
use agentir_ir::{Agent, Body, GatherField, Node, Statement, Step, Target};
use std::collections::BTreeSet;

/// Defects in what follows what, and in what variables hold.
pub(super) const KINDS: &[Kind] = &[
    Kind { name: "a step redirected", plant: redirected },
    Kind { name: "a wait in a flow dropped", plant: hurried },
    Kind { name: "an assignment under another name", plant: renamed },
    Kind { name: "removed before it is used", plant: cleared },
    Kind { name: "a `pass` dropped", plant: withheld },
    Kind { name: "a result misspelt", plant: unreturned },
    Kind { name: "sensitive data in the prompt", plant: shown },
    Kind { name: "a text for a number", plant: mistyped },
    Kind { name: "a value that is not listed", plant: unlisted },
];

fn abl(clean: &Clean) -> impl Iterator<Item = (usize, &Agent)> {
    let all = clean.checked.program.agents().enumerate();
    all.filter(|(_, a)| a.metadata.dialect == "abl")
}

fn runs(agent: usize, span: Span, edits: Vec<Edit>) -> Plant {
    Plant { span, edits, judge: Judge::Runs(agent) }
}

fn redirected(clean: &Clean, plants: &mut Vec<Plant>) {
    for (at, agent) in abl(clean) {
        let Some(flow) = &agent.flow else { continue };
        for step in flow.definitions.values() {
            let mut targets: Vec<&agentir_diagnostics::Spanned<agentir_expr::Name>> = Vec::new();
            step.walk(&mut |node| {
                if let Node::Jump(jump) = node
                    && let Target::Step(name) = &jump.target
                    && slice(&clean.files, name.span) == name.value
                {
                    targets.push(name);
                }
            });
            for name in targets {
                let names = flow.definitions.keys().filter(|other| **other != name.value);
                for other in names.filter(|n| !n.contains(' ')).take(4) {
                    let edits = vec![replace(name.span, other.as_str())];
                    plants.push(runs(at, name.span, edits));
                }
            }
        }
    }
}

/// The line of a step on which a key stands, below its name.
fn key_line(clean: &Clean, step: &Step, key: &str) -> Option<(u32, usize)> {
    let file = step.name.span.file.0;
    let text = &clean.files.get(file as usize)?.text;
    let begin = line(&clean.files, step.name.span);
    let whole = block(&clean.files, file, begin)?;
    let lines = slice(&clean.files, whole).lines().count();
    let found = text.lines().enumerate().skip(begin + 1).take(lines.saturating_sub(1));
    let mut found = found.filter(|(_, l)| l.trim_start().starts_with(key));
    let (at, _) = found.next()?;
    found.next().is_none().then_some((file, at))
}

/// What stood behind the user's answer happens without it.
fn hurried(clean: &Clean, plants: &mut Vec<Plant>) {
    for (at, agent) in abl(clean) {
        for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
            let Some(Statement::Await { branches }) = step.body.0.last() else { continue };
            let Some((file, key)) = key_line(clean, step, "ON_INPUT:") else { continue };
            let Some(whole) = block(&clean.files, file, key) else { continue };
            let text = slice(&clean.files, whole);
            let indent = &text[..text.len() - text.trim_start().len()];
            let mut told = BTreeSet::new();
            for branch in branches {
                let to = branch.body.0.iter().find_map(|s| match s {
                    Statement::Goto(jump) => jump.target.step(),
                    _ => None,
                });
                let Some(to) = to.filter(|to| told.insert(to.value.clone())) else { continue };
                let edit = replace(whole, format!("{indent}THEN: {to}\n"));
                plants.push(runs(at, step.name.span, vec![edit]));
            }
        }
    }
}

fn renamed(clean: &Clean, plants: &mut Vec<Plant>) {
    for (at, agent) in abl(clean) {
        agent.walk(&mut |node| {
            if let Node::Set(set) = node
                && set.target.segments.is_empty()
                && slice(&clean.files, set.target.root.span) == set.target.root.value
            {
                let other = format!("{}_again", set.target.root.value);
                let edits = vec![replace(set.target.root.span, other.clone())];
                let judge = Judge::Renamed(at);
                plants.push(Plant { span: set.span, edits, judge });
            }
        });
    }
}

/// The variables that a step shows, by their names alone.
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

fn cleared(clean: &Clean, plants: &mut Vec<Plant>) {
    for (at, agent) in abl(clean) {
        for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
            if key_line(clean, step, "CLEAR:").is_some() {
                continue;
            }
            let Some((file, key)) = key_line(clean, step, "RESPOND:") else { continue };
            let Some(whole) = block(&clean.files, file, key) else { continue };
            let text = slice(&clean.files, whole);
            let indent = &text[..text.len() - text.trim_start().len()];
            for name in said(&step.body) {
                let before = Span::new(whole.file, whole.start, whole.start);
                let edit = replace(before, format!("{indent}CLEAR: {name}\n"));
                plants.push(runs(at, step.name.span, vec![edit]));
            }
        }
    }
}

fn withheld(clean: &Clean, plants: &mut Vec<Plant>) {
    for (at, agent) in abl(clean) {
        for handoff in &agent.coordination.handoffs {
            let agents = &clean.checked.program.agents;
            let to = agents.iter().position(|a| a.metadata.name.value == handoff.to.value);
            let Some(to) = to else { continue };
            for (nth, value) in handoff.context.pass.iter().enumerate() {
                let span = value.name.span;
                let text = &clean.files[span.file.0 as usize].text;
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
                let judge = Judge::Withheld { from: at, to, name, given };
                plants.push(Plant { span, edits: vec![replace(wider, "")], judge });
            }
        }
    }
}

fn unreturned(clean: &Clean, plants: &mut Vec<Plant>) {
    for (_, agent) in abl(clean) {
        let agents = &clean.checked.program.agents;
        let there = |name: &str| agents.iter().any(|a| a.metadata.name.value == name);
        for handoff in agent.coordination.handoffs.iter().filter(|h| there(&h.to.value)) {
            for (name, value) in handoff.on_return.iter().flat_map(|r| &r.map) {
                if value.as_path().is_some() && !slice(&clean.files, value.span).is_empty() {
                    let other = format!("{}_back", slice(&clean.files, value.span));
                    let mut edits = vec![replace(value.span, other)];
                    // Either side may be the other agent's name of it.
                    if slice(&clean.files, name.span) == name.value {
                        edits.push(replace(name.span, format!("{}_here", name.value)));
                    }
                    let judge = Judge::Certain(Problem::NotReturned);
                    plants.push(Plant { span: value.span, edits, judge });
                }
            }
        }
        for delegate in agent.coordination.delegates.iter().filter(|d| there(&d.agent.value)) {
            let Some(TypeKind::Object(fields)) = delegate.returns.as_ref().map(|t| &t.kind) else {
                continue;
            };
            for field in fields.iter().filter(|f| !f.optional) {
                let other = format!("{}_back", field.name.value);
                let judge = Judge::Certain(Problem::NotReturned);
                let mut edits = vec![replace(field.name.span, other)];
                // Either side may be the other agent's name of it.
                if let Some(ty) = field.ty.name().filter(|ty| ValueType::named(ty).is_none()) {
                    edits.push(replace(field.ty.span, format!("{ty}_here")));
                }
                plants.push(Plant { span: field.name.span, edits, judge });
            }
        }
    }
}

fn shown(clean: &Clean, plants: &mut Vec<Plant>) {
    for (_, agent) in abl(clean) {
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
        let file = &clean.files[goal.file.0 as usize].text;
        let Some(quote) = file[goal.start as usize..].find("\"\n") else { continue };
        let end = goal.start + u32::try_from(quote).unwrap_or_default();
        for field in sensitive {
            let place = Span::new(FileId(goal.file.0), end, end);
            let edits = vec![replace(place, format!(" {{{{{}}}}}", field.name.value))];
            let judge = Judge::Certain(Problem::Shown);
            plants.push(Plant { span: field.name.span, edits, judge });
        }
    }
}

/// A constant that is assigned.
struct Constant<'c> {
    span: Span,
    literal: &'c Literal,
    /// The type that the variable is declared with.
    ty: Option<&'c str>,
    /// Whether its values are listed.
    listed: bool,
}

/// All constants that are assigned.
fn constants(clean: &Clean) -> Vec<Constant<'_>> {
    let mut found = Vec::new();
    for (_, agent) in abl(clean) {
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

fn mistyped(clean: &Clean, plants: &mut Vec<Plant>) {
    for Constant { span, literal, ty, .. } in constants(clean) {
        if matches!((literal, ty), (Literal::Number(_), Some("number" | "integer"))) {
            let edits = vec![replace(span, "\"many\"")];
            plants.push(Plant { span, edits, judge: Judge::Certain(Problem::WrongType) });
        }
    }
}

fn unlisted(clean: &Clean, plants: &mut Vec<Plant>) {
    for Constant { span, literal, listed, .. } in constants(clean) {
        if let (Literal::String(text), true) = (literal, listed) {
            let edits = vec![replace(span, format!("\"{text}_x\""))];
            plants.push(Plant { span, edits, judge: Judge::Certain(Problem::NotListed) });
        }
    }
}
