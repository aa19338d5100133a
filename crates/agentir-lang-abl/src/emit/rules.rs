//! Emits constraints, guardrails and profiles (§3.8, §3.9, §3.13.2).

use super::body::{Bodies, extension_entries, of_condition};
use super::record::{self, inner};
use super::tools;
use super::tree::{Entry, Key, Notation, Scalar, data, names};
use crate::schema::{AGENT, PROFILE};
use agentir_ir::{
    Checkpoint, Constraint, ConstraintFailure, ConstraintKind, FailureKind, Guardrail, Insertion,
    NumberOrText, Profile, Target,
};
use agentir_ir_json::{Mode, to_value};
use serde_json::Value;

/// The constraints of a reasoning zone, which may be words for the model.
pub(super) fn zone_constraints(bodies: Bodies, all: &[Constraint]) -> Vec<Entry> {
    all.iter().map(|c| constraint(bodies, c, true, true)).collect()
}

/// The constraints of a section, grouped by label.
pub(super) fn constraints(bodies: Bodies, all: &[Constraint]) -> Vec<Entry> {
    let labelled = !all.is_empty() && all.iter().all(|c| c.label.is_some());
    if !labelled {
        return all.iter().map(|c| constraint(bodies, c, true, false)).collect();
    }
    let mut entries: Vec<Entry> = Vec::new();
    let mut open: Option<(&str, Vec<Entry>)> = None;
    for rule in all {
        let Some(label) = &rule.label else { continue };
        match &mut open {
            Some((name, children)) if *name == label.value => {
                children.push(constraint(bodies, rule, false, false));
            }
            _ => {
                entries.extend(open.take().map(|(name, children)| Entry::named(name, children)));
                open = Some((&label.value, vec![constraint(bodies, rule, false, false)]));
            }
        }
    }
    entries.extend(open.map(|(name, children)| Entry::named(name, children)));
    entries
}

fn constraint(bodies: Bodies, c: &Constraint, label: bool, in_zone: bool) -> Entry {
    let mut children = Vec::new();
    if label {
        children
            .extend(c.label.as_ref().map(|l| Entry::field("label", Scalar::Code(l.to_string()))));
    }
    children.extend(c.applies_when.as_ref().map(|w| Entry::field("when", of_condition(w))));
    if let Some(severity) = c.severity
        && c.kind != Some(ConstraintKind::Warn)
    {
        children.push(Entry::field("severity", Scalar::Word(severity.to_owned())));
    }
    children.extend(c.on_fail.as_ref().map(|f| failure(bodies, f)));
    if let Some(ty) = inner(&AGENT, "constraints").and_then(|t| t.items) {
        children.extend(extension_entries(ty, &c.extensions));
    }
    let word = match c.kind {
        None if in_zone => {
            let text = Scalar::Text(c.condition.text.value.to_string());
            return Entry::Item(vec![Entry::Line { key: "text", text, children }]);
        }
        None | Some(ConstraintKind::Require) => "REQUIRE",
        Some(ConstraintKind::Warn) => "WARN",
        Some(ConstraintKind::Limit) => "LIMIT",
        Some(ConstraintKind::Restrict) => "RESTRICT",
    };
    let condition = match of_condition(&c.condition) {
        Scalar::Text(text) if bodies.notation == Notation::Abl || !record::is_words(&text) => {
            super::layout::quoted(&text)
        }
        Scalar::Text(text) | Scalar::Code(text) | Scalar::Word(text) => text,
        Scalar::Jump { target, .. } => target,
    };
    let before = match &c.checkpoint {
        None => String::new(),
        Some(Checkpoint::ToolCall { target }) => format!(" BEFORE calling {target}"),
        Some(Checkpoint::Response) => " BEFORE returning results".to_owned(),
        Some(Checkpoint::Other { target }) => format!(" BEFORE {target}"),
    };
    let text = Scalar::Code(format!("{word} {condition}{before}"));
    let text = match (text, bodies.notation) {
        (Scalar::Code(text), Notation::Abl) => Scalar::Word(text),
        (text, _) => text,
    };
    let mut item = match bodies.notation {
        Notation::Abl => vec![Entry::line(text)],
        Notation::Yaml => vec![Entry::field("rule", text)],
    };
    item.append(&mut children);
    Entry::Item(item)
}

fn failure(bodies: Bodies, f: &ConstraintFailure) -> Entry {
    let message = f.message.as_ref().map(|m| Scalar::Text(m.text.value.to_string()));
    let jump = |target: Target| agentir_ir::Jump { target, reason: f.reason.clone(), span: f.span };
    let target = match f.kind {
        FailureKind::Escalate => Some(jump(Target::Escalate)),
        FailureKind::Handoff => Some(jump(Target::Handoff(f.target.clone()))),
        FailureKind::Block => Some(jump(Target::Block)),
        FailureKind::Redact => Some(jump(Target::Redact)),
        FailureKind::RetryStep => Some(jump(Target::RetryStep)),
        FailureKind::Respond | FailureKind::GotoStep | FailureKind::CollectField => None,
    };
    let mut more = Vec::new();
    if !f.collect_fields.is_empty() {
        let fields = names(f.collect_fields.iter().map(|n| n.value.as_str()));
        more.push(Entry::field("collect", fields));
    }
    let simple = f.clear.is_empty()
        && f.then_action.is_none()
        && f.then_step.is_none()
        && f.extensions.is_empty()
        && more.is_empty();
    match (&message, &target) {
        (Some(message), None) if simple => return Entry::field("on_fail", message.clone()),
        (None, Some(target)) if simple => return Entry::field("on_fail", bodies.jump(target)),
        (None, None) if f.extensions.is_empty() && f.clear.is_empty() && more.is_empty() => {
            let only = match (&f.then_action, &f.then_step) {
                (Some(only), None) | (None, Some(only)) => Some(only),
                _ => None,
            };
            if let Some(only) = only {
                return Entry::field("on_fail", bodies.jump(only));
            }
        }
        _ => {}
    }
    let mut children = Vec::new();
    children.extend(message.map(|m| Entry::field("respond", m)));
    children.extend(more);
    if !f.clear.is_empty() {
        children.push(Entry::field("clear", names(f.clear.iter().map(|n| n.value.as_str()))));
    }
    match (f.kind, target) {
        (FailureKind::RetryStep, _) if f.then_step.is_some() || f.then_action.is_some() => {
            children.push(Entry::field("retry", Scalar::Word("true".to_owned())));
        }
        (_, Some(target)) => children.push(Entry::field("then", bodies.jump(&target))),
        _ => {}
    }
    let step = if f.then_action.is_some() { "goto" } else { "then" };
    children.extend(f.then_step.as_ref().map(|j| Entry::field(step, bodies.jump(j))));
    let used = children.iter().any(|e| matches!(e, Entry::Field { key, .. } if key.text == "then"));
    let key = if used { "goto" } else { "then" };
    children.extend(f.then_action.as_ref().map(|j| Entry::field(key, bodies.jump(j))));
    let ty = inner(&AGENT, "constraints").and_then(|t| t.items);
    if let Some(ty) = ty.and_then(|t| inner(t, "on_fail")) {
        children.extend(extension_entries(ty, &f.extensions));
    }
    Entry::block("on_fail", children)
}

/// A guardrail.
pub(super) fn guardrail(g: &Guardrail) -> Entry {
    let Some(ty) = inner(&AGENT, "guardrails").and_then(|t| t.items) else { return Entry::Gap };
    let Value::Object(mut json) = to_value(g, Mode::Plain) else { return Entry::Gap };
    for gone in ["name", "tier", "check"] {
        json.remove(gone);
    }
    if json.get("priority").and_then(Value::as_f64) == Some(100.0) {
        json.remove("priority");
    }
    let mut message = None;
    if let Some(Value::Object(mut action)) = json.remove("action") {
        if let Some(kind) = action.remove("type") {
            json.insert("action".to_owned(), kind);
        }
        message = action.remove("message");
        json.extend(action);
    }
    if let Some(message) = message {
        json.insert("message".to_owned(), message);
    }
    let mut children = record::record(ty, &json);
    if let Some(check) = &g.check {
        let at = children.iter().position(|e| {
            matches!(e, Entry::Field { key, .. } if !matches!(key.text.as_str(), "description" | "kind"))
        });
        let check = Entry::field("check", Scalar::Text(check.to_string())).lower();
        children.insert(at.unwrap_or(children.len()), check);
    }
    Entry::named(&g.name.value, children)
}

/// The sections of a profile.
pub(super) fn profile(bodies: Bodies, p: &Profile) -> Vec<Entry> {
    let mut entries =
        vec![Entry::field("behavior_profile", Scalar::Code(p.name.value.to_string()))];
    let mut section = |entry: Entry| {
        entries.push(Entry::Gap);
        entries.push(entry);
    };
    let text = |t: &agentir_expr::Template| Scalar::Text(t.text.value.to_string());
    if let Some(description) = &p.description {
        section(Entry::field("description", text(description)));
    }
    let priority = match &p.priority {
        NumberOrText::Number(n) => Scalar::Word(super::body::number(*n)),
        NumberOrText::Text(t) => Scalar::Text(t.to_string()),
    };
    section(Entry::field("priority", priority));
    if let Some(when) = &p.when {
        section(Entry::field("when", of_condition(when)));
    }
    if let Some(instructions) = &p.instructions {
        section(Entry::field("instructions", text(instructions)));
    }
    let keyword = Key::keyword;
    if let Some(voice) = &p.voice {
        section(data(keyword("voice"), voice));
    }
    if let Some(rules) = &p.response_rules {
        section(data(keyword("response_rules"), rules));
    }
    let mut rules = constraints(bodies, &p.constraints);
    if rules.is_empty() {
        let words = p.constraint_texts.iter();
        rules.extend(words.map(|t| Entry::Item(vec![Entry::line(text(t))])));
    }
    if !rules.is_empty() {
        section(Entry::block("constraints", rules));
    }
    if !p.tools_hide.is_empty() {
        let hidden = names(p.tools_hide.iter().map(|n| n.value.as_str()));
        section(Entry::field("tools_hide", hidden));
    }
    if !p.tools_add.is_empty() {
        section(Entry::block("tools_add", tools::tools(bodies.notation, &p.tools_add, true)));
    }
    if let Some(overrides) = &p.gather_overrides {
        let mut children = Vec::new();
        let mut choice = |key: &str, value: Option<&str>| {
            let value = value.map(|v| Entry::field(key, Scalar::Word(v.to_owned())).lower());
            children.extend(value);
        };
        choice("validation_style", overrides.validation_style);
        choice("confirmation", overrides.confirmation);
        if !overrides.field_overrides.is_empty() {
            let fields = overrides.field_overrides.iter();
            let fields = fields.map(super::body::gather_field).collect();
            children.push(Entry::block("field_overrides", fields).lower());
        }
        section(Entry::block("gather_overrides", children));
    }
    if let Some(changes) = &p.flow_modifications {
        let mut children = Vec::new();
        if !changes.skip.is_empty() {
            let skip = names(changes.skip.iter().map(|n| n.value.as_str()));
            children.push(Entry::field("skip", skip).lower());
        }
        if !changes.overrides.is_empty() {
            let steps = changes.overrides.values().map(|s| bodies.step(s)).collect();
            children.push(Entry::block("overrides", steps).lower());
        }
        insertions(bodies, &changes.insertions, &mut children);
        section(Entry::block("flow_modifications", children));
    }
    if let Some(replace) = &p.flow_replace {
        section(Entry::field("flow_replace", Scalar::Code(replace.to_string())));
    }
    if let Some(conversation) = &p.conversation_behavior {
        section(data(keyword("conversation"), conversation));
    }
    let rest = extension_entries(&PROFILE, &p.extensions);
    for entry in rest {
        entries.push(Entry::Gap);
        entries.push(entry);
    }
    entries
}

fn insertions(bodies: Bodies, all: &[Insertion], into: &mut Vec<Entry>) {
    let same_name = |i: &&Insertion| i.step.name.value == i.target_step.value;
    for (position, key) in [("before", "insert_before"), ("after", "insert_after")] {
        let steps: Vec<Entry> = all
            .iter()
            .filter(same_name)
            .filter(|i| i.position == position)
            .map(|i| bodies.step(&i.step))
            .collect();
        if !steps.is_empty() {
            into.push(Entry::block(key, steps).lower());
        }
    }
    let others: Vec<Entry> = all
        .iter()
        .filter(|i| !same_name(i))
        .map(|i| {
            let children = match bodies.step(&i.step) {
                Entry::Field { children, .. } => children,
                _ => Vec::new(),
            };
            Entry::Item(vec![
                Entry::field(i.position, Scalar::Code(i.target_step.to_string())),
                Entry::field("name", Scalar::Code(i.step.name.to_string())),
                Entry::block("step", children),
            ])
        })
        .collect();
    if !others.is_empty() {
        into.push(Entry::block("insertions", others).lower());
    }
}
