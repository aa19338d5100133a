//! Emits bodies of steps, branches, handlers and hooks with ABL's fields.

use super::order::PhaseOrder;
use super::record::{self, extensions, inner};
use super::tree::{Entry, Key, Notation, Scalar, data, names, push_block};
use crate::schema::{FLOW, RecordType, STEP};
use agentir_expr::{Argument, Condition};
use agentir_ir::{
    ActionHandler, Actions, Body, Branch, Call, Collect, Delegation, Digression, ErrorHandler,
    Extensions, Gather, GatherField, Hook, Jump, Phase, Response, SetVariable, Statement, Step,
    Target, Transform,
};
use agentir_ir_json::{Json, Mode, to_value};
use serde_json::Value;

/// The context of a body, which determines the available fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyContext {
    /// A step.
    Step,
    /// A branch or a handler.
    Branch,
    /// The follow-up of a call, which may have branches.
    Outcome,
    /// A hook.
    Hook,
    /// A digression.
    Digression,
    /// An item of a `DO` list.
    Item,
}

/// Emits bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bodies {
    pub(super) notation: Notation,
}

fn text_of(value: &impl Json) -> String {
    match to_value(value, Mode::Plain) {
        Value::String(text) => text,
        _ => String::new(),
    }
}

/// A condition as a scalar.
pub(super) fn of_condition(condition: &Condition) -> Scalar {
    if condition.expr().is_some() {
        Scalar::Code(text_of(condition))
    } else {
        Scalar::Text(record::words(&condition.text.value))
    }
}

fn template(text: &agentir_expr::Template) -> Scalar {
    Scalar::Text(text.text.value.to_string())
}

/// The extensions of an element, by its table.
pub(super) fn extension_entries(ty: &'static RecordType, all: &Extensions) -> Vec<Entry> {
    extensions(ty, Some(&to_value(all, Mode::Plain)))
}

fn table(path: &[&str]) -> &'static RecordType {
    path.iter().fold(&STEP, |ty, field| inner(ty, field).unwrap_or(ty))
}

impl Bodies {
    /// A jump as a scalar.
    pub(super) fn jump(self, jump: &Jump) -> Scalar {
        Scalar::Jump {
            target: jump.target.to_string(),
            reason: jump.reason.as_ref().map(|r| r.value.to_string()),
        }
    }

    /// A jump, or statements, below a key.
    fn outcome(self, key: &str, body: &Body, into: &mut Vec<Entry>) {
        if body.is_empty() {
            return;
        }
        if let [Statement::Goto(jump)] = body.0.as_slice()
            && matches!(jump.target, Target::Step(_) | Target::Complete)
        {
            into.push(Entry::block(key, vec![Entry::field("then", self.jump(jump))]));
            return;
        }
        let entries = self.body(BodyContext::Outcome, body);
        // A choice without branches, for instance, does nothing.
        if !entries.is_empty() {
            into.push(Entry::block(key, entries));
        }
    }

    /// The fields of a body.
    pub(super) fn body(self, context: BodyContext, body: &Body) -> Vec<Entry> {
        let mut entries = Vec::new();
        if context == BodyContext::Hook {
            let (fields, rest) = body.0.split_at(expressible_by_fields(body));
            let choice = fields.iter().any(|s| matches!(s, Statement::If { .. }));
            let list = |all: &[Statement]| -> Vec<Entry> {
                let item = |s: &Statement| {
                    Entry::Item(self.body(BodyContext::Item, &Body(vec![s.clone()])))
                };
                all.iter().map(item).collect()
            };
            if !rest.is_empty() && !choice {
                return list(&body.0);
            }
            if !rest.is_empty() {
                entries = self.body(BodyContext::Hook, &Body(fields.to_vec()));
                entries.push(Entry::block("do", list(rest)));
                return entries;
            }
        }
        let mut kept = Body::default();
        let body = match context {
            // A key that is written twice would not be read twice.
            BodyContext::Branch | BodyContext::Outcome if !is_in_order(body) => {
                let mut order = PhaseOrder::default();
                let fits =
                    |s: &&Statement| phase_of_key(s).is_none_or(|phase| order.takes(Some(phase)));
                kept.0.extend(body.0.iter().filter(fits).cloned());
                &kept
            }
            _ => body,
        };
        let calls = body.0.iter().any(|s| matches!(s, Statement::Call(_) | Statement::Collect(_)));
        let mut statements = body.0.as_slice();
        while let Some((first, rest)) = statements.split_first() {
            statements = rest;
            match first {
                Statement::Set(_) => {
                    let more = rest.iter().take_while(|s| matches!(s, Statement::Set(_))).count();
                    let (sets, rest) = rest.split_at(more);
                    statements = rest;
                    entries.push(self.sets(std::iter::once(first).chain(sets)));
                }
                Statement::Clear { variables } => {
                    let all = names(variables.iter().map(|v| v.value.as_str()));
                    entries.push(Entry::field("clear", all));
                }
                Statement::Transform(transform) => self.transform(context, transform, &mut entries),
                Statement::Log { value } => entries.push(data(Key::keyword("log"), &value.value)),
                Statement::Respond(response) => self.response(response, &mut entries),
                Statement::Instruct { .. } => {}
                Statement::Collect(collect) => self.collect(context, collect, &mut entries),
                Statement::Call(call) => self.call(call, &mut entries),
                Statement::Check { condition, otherwise } => {
                    entries.push(Entry::field("check", of_condition(condition)));
                    entries.extend(
                        otherwise.as_ref().map(|jump| Entry::field("on_fail", self.jump(jump))),
                    );
                }
                Statement::Await { branches } => {
                    push_block(&mut entries, "on_input", self.branches(branches));
                }
                Statement::If { branches } => {
                    let is_last = rest.iter().all(|s| matches!(s, Statement::Goto(_)));
                    self.choice(context, calls, is_last, branches, &mut entries);
                }
                Statement::Delegate(delegation) => {
                    entries.extend(self.delegation("delegate", delegation));
                }
                Statement::Handoff(delegation) => {
                    entries.extend(self.delegation("handoff", delegation));
                }
                Statement::Escalate { details, .. } => {
                    let details = details.clone().unwrap_or_default();
                    entries.push(data(Key::keyword("escalate"), &details));
                }
                Statement::Goto(jump)
                    if jump.target == Target::Resume && context == BodyContext::Item =>
                {
                    entries.push(Entry::line(Scalar::Word("RESUME".to_owned())));
                }
                Statement::Goto(jump) => {
                    let digression = context == BodyContext::Digression
                        && matches!(jump.target, Target::Step(_));
                    let key = if digression { "goto" } else { "then" };
                    entries.push(Entry::field(key, self.jump(jump)));
                }
                Statement::Repeat { jump, .. } => {
                    entries.push(Entry::field("then", self.jump(jump)));
                }
                Statement::Other { keyword, value, .. } => {
                    entries.push(data(Key::keyword(keyword), value));
                }
            }
        }
        entries
    }

    fn sets<'s>(self, all: impl Iterator<Item = &'s Statement>) -> Entry {
        let pairs: Vec<_> = all
            .filter_map(|s| match s {
                Statement::Set(set) => Some(pair(set)),
                _ => None,
            })
            .collect();
        match (pairs.as_slice(), self.notation) {
            ([(name, value)], Notation::Abl) => {
                Entry::field("set", Scalar::Word(format!("{name} = {value}")))
            }
            _ => Entry::block("set", vec![Entry::Pairs { assign: true, pairs }]),
        }
    }

    fn transform(self, context: BodyContext, t: &Transform, into: &mut Vec<Entry>) {
        let mut children = Vec::new();
        let mut push = |key: &str, value: Option<String>| {
            children.extend(value.map(|v| Entry::field(key, Scalar::Code(v))));
        };
        push("filter", t.filter.as_ref().map(ToString::to_string));
        if !t.map.is_empty() {
            let pairs = t.map.iter().map(|(n, e)| (n.value.to_string(), e.to_string())).collect();
            children.push(Entry::block("map", vec![Entry::Pairs { assign: false, pairs }]));
        }
        let mut push = |key: &str, value: Option<String>| {
            children.extend(value.map(|v| Entry::field(key, Scalar::Code(v))));
        };
        push(
            "sort_by",
            t.sort_by.as_ref().map(|s| format!("{} {}", s.field, s.order.to_uppercase())),
        );
        push("limit", t.limit.as_ref().map(ToString::to_string));
        let key = Key::keyword("transform");
        if context == BodyContext::Step {
            let head = format!("{} AS {} INTO {}", t.source, t.item_var, t.target);
            into.push(Entry::Field { key, value: Some(Scalar::Code(head)), children });
        } else {
            let mut all = vec![
                Entry::field("source", Scalar::Code(t.source.to_string())),
                Entry::field("as", Scalar::Code(t.item_var.value.to_string())),
                Entry::field("into", Scalar::Code(t.target.value.to_string())),
            ];
            all.append(&mut children);
            into.push(Entry::Field { key, value: None, children: all });
        }
    }

    fn response(self, response: &Response, into: &mut Vec<Entry>) {
        let Response { text, template: named, message_key, voice_config, rich_content, actions } =
            response;
        let mut children = Vec::new();
        let key = |k: &'static str| Key::keyword(k);
        children.extend(
            message_key.as_ref().map(|k| Entry::field("message_key", Scalar::Code(k.to_string()))),
        );
        children.extend(voice_config.as_ref().map(|v| data(key("voice"), v)));
        children.extend(rich_content.as_ref().map(|v| data(key("rich_content"), v)));
        children.extend(actions.as_ref().map(|a| self.actions(a)));
        let value = match (text, named) {
            (Some(text), _) => Some(template(text)),
            (None, Some(name)) => Some(Scalar::Code(format!("TEMPLATE({name})"))),
            (None, None) => None,
        };
        match value {
            Some(value) => {
                into.push(Entry::Field { key: key("respond"), value: Some(value), children });
            }
            None => into.append(&mut children),
        }
    }

    fn actions(self, actions: &Actions) -> Entry {
        let mut children = Vec::new();
        let element_type = table(&["actions"]).items;
        let mut field = |key: &str, value: Option<Scalar>| {
            children.extend(value.map(|v| Entry::field(key, v)));
        };
        field("submit_label", actions.submit_label.as_ref().map(template));
        field("submit_id", actions.submit_id.as_ref().map(|n| Scalar::Code(n.to_string())));
        field("render_id", actions.render_id.as_ref().map(|n| Scalar::Code(n.to_string())));
        for element in &actions.elements {
            let Value::Object(mut json) = to_value(element, Mode::Plain) else { continue };
            let kind = element.kind.value.as_str();
            let mut item = Vec::new();
            if matches!(kind, "button" | "select" | "input") && element.label.is_some() {
                item.extend(element.label.as_ref().map(|l| Entry::field(kind, template(l))));
                json.remove("label");
                json.remove("type");
                if let Some(input_type) = json.remove("input_type") {
                    json.insert("type".to_owned(), input_type);
                }
            }
            if let Some(ty) = element_type {
                item.extend(record::record(ty, &json));
            }
            children.push(Entry::Item(item));
        }
        Entry::block("actions", children)
    }

    fn collect(self, context: BodyContext, c: &Collect, into: &mut Vec<Entry>) {
        into.extend(c.present.as_ref().map(|p| Entry::field("present", template(p))));
        if !c.gather.fields.is_empty() && is_bare(&c.gather) && context != BodyContext::Step {
            let all = names(c.gather.fields.iter().map(|f| f.name.value.as_str()));
            into.push(Entry::field("collect", all));
        } else if context == BodyContext::Step || !is_bare(&c.gather) {
            let children = self.gather(&c.gather);
            push_block(into, "gather", children);
        }
        into.extend(
            c.corrections.map(|b| Entry::field("corrections", Scalar::Word(b.to_string()))),
        );
        into.extend(
            c.complete_when.as_ref().map(|w| Entry::field("complete_when", of_condition(w))),
        );
        self.outcome("on_success", &c.on_success, into);
        self.outcome("on_fail", &c.on_failure, into);
    }

    /// The fields to collect.
    pub(super) fn gather(self, gather: &Gather) -> Vec<Entry> {
        let Some(ty) = inner(&STEP, "gather") else { return Vec::new() };
        let Value::Object(mut json) = to_value(gather, Mode::Plain) else { return Vec::new() };
        json.remove("fields");
        let mut children = record::record(ty, &json);
        let fields: Vec<Entry> = gather.fields.iter().map(gather_field).collect();
        if children.is_empty() {
            return fields;
        }
        if !fields.is_empty() {
            children.insert(0, Entry::block("fields", fields).lower());
        }
        children
    }

    fn call(self, call: &Call, into: &mut Vec<Entry>) {
        let mut children = Vec::new();
        let named = !call.with.is_empty() && call.with.iter().all(|a| a.name.is_some());
        let value = if named {
            let pair =
                |a: &Argument| Some((a.name.as_ref()?.value.to_string(), a.value.to_string()));
            let pairs = call.with.iter().filter_map(pair).collect();
            children.push(Entry::block("with", vec![Entry::Pairs { assign: false, pairs }]));
            call.tool.value.to_string()
        } else if call.with.is_empty() {
            // Without `WITH`, the call takes the variables named like the parameters.
            children.extend(
                call.has_arguments.then(|| Entry::field("with", Scalar::Word("{}".into()))),
            );
            call.tool.value.to_string()
        } else {
            let argument = |a: &Argument| match &a.name {
                Some(name) => format!("{name}: {}", a.value),
                None => a.value.to_string(),
            };
            let all: Vec<String> = call.with.iter().map(argument).collect();
            format!("{}({})", call.tool, all.join(", "))
        };
        children
            .extend(call.result.as_ref().map(|r| Entry::field("as", Scalar::Code(r.to_string()))));
        into.push(Entry::Field {
            key: Key::keyword("call"),
            value: Some(Scalar::Code(value)),
            children,
        });
        into.extend(
            call.success_when.as_ref().map(|w| Entry::field("success_when", of_condition(w))),
        );
        self.outcome("on_success", &call.on_success, into);
        self.outcome("on_fail", &call.on_failure, into);
        push_block(into, "on_result", self.branches(&call.on_result));
    }

    fn delegation(self, key: &str, delegation: &Delegation) -> Vec<Entry> {
        let mut entries = vec![Entry::field(key, Scalar::Code(delegation.agent.to_string()))];
        entries.extend(
            delegation.returns.map(|r| Entry::field("return", Scalar::Word(r.to_string()))),
        );
        entries
    }

    /// A choice that does not wait for the user. `is_last` says that nothing but a jump follows.
    fn choice(
        self,
        context: BodyContext,
        calls: bool,
        is_last: bool,
        branches: &[Branch],
        into: &mut Vec<Entry>,
    ) {
        match (context, branches) {
            (BodyContext::Step, [one]) if is_success(one) => {
                self.outcome("on_success", &one.body, into);
            }
            (BodyContext::Step, [yes, no]) if is_check(calls, yes, no) => {
                into.extend(yes.condition.as_ref().map(|c| Entry::field("check", of_condition(c))));
                self.outcome("on_success", &yes.body, into);
                into.push(Entry::block("on_fail", self.body(BodyContext::Outcome, &no.body)));
            }
            (BodyContext::Step | BodyContext::Item, [yes, rest @ ..])
                if calls
                    && is_last
                    && only_jumps(&yes.body)
                    && rest.iter().all(|no| fits(BodyContext::Outcome, &no.body)) =>
            {
                into.extend(yes.condition.as_ref().map(|c| Entry::field("if", of_condition(c))));
                into.extend(self.body(BodyContext::Branch, &yes.body));
                if let [no] = rest {
                    into.push(Entry::block("else", self.body(BodyContext::Outcome, &no.body)));
                }
            }
            (BodyContext::Step, _) => push_block(into, "on_result", self.branches(branches)),
            (BodyContext::Outcome, _)
                if self.notation == Notation::Abl && is_last && into.is_empty() =>
            {
                into.extend(self.branches(branches));
            }
            _ => push_block(into, "branches", self.branches(branches)),
        }
    }

    /// The items of a list of branches.
    pub(super) fn branches(self, branches: &[Branch]) -> Vec<Entry> {
        branches
            .iter()
            .map(|branch| {
                let mut item = vec![match &branch.condition {
                    Some(condition) => Entry::field("if", of_condition(condition)),
                    None => Entry::block("else", Vec::new()),
                }];
                item.extend(self.body(BodyContext::Branch, &branch.body));
                if let Some(ty) = table(&["on_result"]).items {
                    item.extend(extension_entries(ty, &branch.extensions));
                }
                Entry::Item(item)
            })
            .collect()
    }

    /// `ON_START` or a hook.
    pub(super) fn hook(self, hook: &Hook) -> Vec<Entry> {
        let mut entries = Vec::new();
        entries
            .extend(hook.critical.map(|c| Entry::field("critical", Scalar::Word(c.to_string()))));
        entries.extend(self.body(BodyContext::Hook, &hook.body));
        entries.extend(extension_entries(table(&[]), &hook.extensions));
        entries
    }

    /// Digressions.
    pub(super) fn digressions(self, all: &[Digression]) -> Vec<Entry> {
        all.iter()
            .map(|d| {
                let mut item = Vec::new();
                item.extend(
                    d.intent.as_ref().map(|i| Entry::field("intent", Scalar::Text(i.to_string()))),
                );
                if !d.keywords.is_empty() {
                    let all = d.keywords.iter();
                    let all = all.map(|k| Entry::Item(vec![Entry::line(template(k))])).collect();
                    item.push(Entry::block("keywords", all));
                }
                item.extend(
                    d.condition.as_ref().map(|c| Entry::field("condition", of_condition(c))),
                );
                self.body_or_do_list(BodyContext::Digression, &d.body, &mut item);
                item.extend(d.resume.map(|r| Entry::field("resume", Scalar::Word(r.to_string()))));
                item.extend(extension_entries(
                    table(&["digressions"]).items.unwrap_or(&STEP),
                    &d.extensions,
                ));
                Entry::Item(item)
            })
            .collect()
    }

    /// A body with the fields of its context, or as a `DO` list if they cannot express it.
    fn body_or_do_list(self, context: BodyContext, body: &Body, into: &mut Vec<Entry>) {
        let mut phases: Vec<Option<Phase>> = body.0.iter().map(phase_in_branch).collect();
        // A digression's response to a call is written after the call.
        let at = |here: Phase| phases.iter().position(|phase| *phase == Some(here));
        if context == BodyContext::Digression
            && let (Some(calls), Some(says)) = (at(Phase::Call), at(Phase::Respond))
            && calls < says
        {
            phases.swap(calls, says);
        }
        let mut order = PhaseOrder::default();
        if phases.into_iter().all(|phase| order.takes(phase)) {
            into.extend(self.body(context, body));
        } else {
            let item =
                |s: &Statement| Entry::Item(self.body(BodyContext::Item, &Body(vec![s.clone()])));
            into.push(Entry::block("do", body.0.iter().map(item).collect()));
        }
    }

    /// Handlers of buttons and inputs.
    pub(super) fn action_handlers(self, all: &[ActionHandler]) -> Vec<Entry> {
        all.iter()
            .map(|h| {
                let mut item =
                    vec![Entry::field("action", Scalar::Code(h.action_id.value.to_string()))];
                item.extend(
                    h.condition.as_ref().map(|c| Entry::field("condition", of_condition(c))),
                );
                self.body_or_do_list(BodyContext::Branch, &h.body, &mut item);
                item.extend(extension_entries(
                    table(&["on_action"]).items.unwrap_or(&STEP),
                    &h.extensions,
                ));
                Entry::Item(item)
            })
            .collect()
    }

    /// Error handlers.
    pub(super) fn error_handlers<'h>(
        self,
        all: impl IntoIterator<Item = &'h ErrorHandler>,
    ) -> Vec<Entry> {
        let ty = table(&["on_error"]).items.unwrap_or(&STEP);
        all.into_iter()
            .map(|h| {
                let Value::Object(mut json) = to_value(h, Mode::Plain) else {
                    return Entry::Gap;
                };
                for gone in ["type", "body", "then"] {
                    json.remove(gone);
                }
                let mut children = record::record(ty, &json);
                children.extend(self.body(BodyContext::Branch, &h.body));
                children.extend(h.then.as_ref().map(|j| Entry::field("then", self.jump(j))));
                Entry::named(&h.kind.value, children)
            })
            .collect()
    }

    /// A step.
    pub(super) fn step(self, step: &Step) -> Entry {
        let mut children = Vec::new();
        let word = |b: bool| Scalar::Word(b.to_string());
        let zone = step.reasoning_zone.as_ref();
        let reasoning = step.reasoning.or(zone.map(|_| true));
        children.extend(reasoning.map(|r| Entry::field("reasoning", word(r))));
        children.extend(step.when.as_ref().map(|w| Entry::field("when", of_condition(w))));
        children
            .extend(step.description.as_ref().map(|d| Entry::field("description", template(d))));
        if let Some(zone) = zone {
            children.extend(zone.goal.as_ref().map(|g| Entry::field("goal", template(g))));
            children.extend(zone.available_tools.as_ref().map(|tools| {
                Entry::field("available_tools", names(tools.iter().map(|t| t.value.as_str())))
            }));
            children.extend(
                zone.exit_when.as_ref().map(|w| Entry::field("exit_when", of_condition(w))),
            );
            children
                .extend(zone.max_turns.map(|n| Entry::field("max_turns", Scalar::Word(number(n)))));
            let rules = super::rules::zone_constraints(self, &zone.constraints);
            push_block(&mut children, "step_constraints", rules);
        }
        children.extend(
            step.max_attempts.map(|n| Entry::field("max_attempts", Scalar::Word(number(n)))),
        );
        children
            .extend(step.on_exhausted.as_ref().map(|j| Entry::field("on_exhausted", self.jump(j))));
        children.extend(self.body(BodyContext::Step, &step.body));
        push_block(&mut children, "digressions", self.digressions(&step.digressions));
        push_block(&mut children, "sub_intents", self.digressions(&step.sub_intents));
        push_block(&mut children, "on_action", self.action_handlers(&step.on_action));
        push_block(&mut children, "on_error", self.error_handlers(&step.on_error));
        let keyword = Key::keyword;
        children.extend(
            step.await_attachment.as_ref().map(|v| data(keyword("await_attachment"), &v.value)),
        );
        children.extend(
            step.human_approval.as_ref().map(|v| data(keyword("human_approval"), &v.value)),
        );
        children.extend(extension_entries(&STEP, &step.extensions));
        Entry::named(&step.name.value, children)
    }

    /// A flow.
    pub(super) fn flow(self, flow: &agentir_ir::Flow) -> Vec<Entry> {
        let mut entries = Vec::new();
        if let Some(entry) = &flow.entry_point {
            entries.push(Entry::field("entry_point", Scalar::Code(entry.to_string())).lower());
        }
        let declared = flow.definitions.keys().eq(flow.steps.iter().map(|s| &s.value));
        let all = |of: &[agentir_diagnostics::Spanned<agentir_expr::Name>], by: &str| {
            of.iter().map(|s| s.value.as_str()).collect::<Vec<_>>().join(by)
        };
        if flow.sequence.is_empty() {
            if !declared && !flow.steps.is_empty() {
                let steps = names(flow.steps.iter().map(|s| s.value.as_str()));
                entries.push(Entry::field("steps", steps).lower());
            }
        } else {
            let chain = Scalar::Code(all(&flow.sequence, " -> "));
            entries.push(match self.notation {
                Notation::Abl => Entry::line(chain),
                Notation::Yaml => Entry::field("steps", chain),
            });
        }
        let ways_out = self.digressions(&flow.global_digressions);
        if !ways_out.is_empty() {
            entries.push(Entry::block("global_digressions", ways_out).lower());
        }
        entries.extend(extension_entries(&FLOW, &flow.extensions));
        for step in flow.definitions.values() {
            if !entries.is_empty() {
                entries.push(Entry::Gap);
            }
            entries.push(self.step(step));
        }
        entries
    }
}

pub(super) fn number(n: agentir_ir::Number) -> String {
    Value::from(n).to_string()
}

pub(super) fn pair(set: &SetVariable) -> (String, String) {
    (agentir_expr::Expr::path(set.target.clone(), set.span).to_string(), set.value.to_string())
}

/// A field to collect.
pub(super) fn gather_field(field: &GatherField) -> Entry {
    let ty = table(&["gather"]).items.unwrap_or(&STEP);
    let Value::Object(mut json) = to_value(field, Mode::Plain) else { return Entry::Gap };
    json.remove("name");
    let by_default = field.required == field.default.is_none();
    if by_default && json.len() == 1 && field.required {
        return Entry::Field {
            key: Key::own(&field.name.value),
            value: Some(Scalar::Word("required".to_owned())),
            children: Vec::new(),
        };
    }
    if by_default && !field.required {
        json.remove("required");
    }
    if let Some(validation) = &field.validation {
        let rule: Vec<&str> = field.enum_values.iter().map(|v| v.value.as_str()).collect();
        // The field's values imply the validation.
        let implied = validation.kind.value == "enum"
            && !rule.is_empty()
            && validation.rule.value == rule.join("|")
            && validation.error_message.is_none();
        let rest = [
            ("retry_prompt", validation.retry_prompt.is_some()),
            ("max_retries", validation.max_retries.is_some()),
            ("validation_process", validation.validation_process.is_some()),
        ];
        if implied {
            let removed = json.remove("validation");
            for (key, there) in rest {
                if let (true, Some(value)) = (there, removed.as_ref().and_then(|g| g.get(key))) {
                    json.insert(key.to_owned(), value.clone());
                }
            }
        }
    }
    Entry::named(&field.name.value, record::record(ty, &json))
}

/// Whether the fields have only names.
fn is_bare(gather: &Gather) -> bool {
    let bare = |f: &GatherField| match to_value(f, Mode::Plain) {
        Value::Object(json) => json.len() == 2 && f.required,
        _ => false,
    };
    gather.fields.iter().all(bare)
        && gather.strategy.is_none()
        && gather.prompt.is_none()
        && gather.message_key.is_none()
        && gather.correction_patterns.is_empty()
        && gather.extensions.is_empty()
}

fn only_jumps(body: &Body) -> bool {
    !body.is_empty() && body.0.iter().all(|s| matches!(s, Statement::Goto(_)))
}

/// The phase of a statement in a branch, an outcome or a hook; `None` if no field there can express it.
pub(super) fn phase_in_branch(statement: &Statement) -> Option<Phase> {
    statement.phase().filter(|phase| !matches!(phase, Phase::Check | Phase::Await))
}

/// The phase of the key that a statement in a branch is written at; `None` if it has no key there.
fn phase_of_key(statement: &Statement) -> Option<Phase> {
    match statement {
        Statement::Repeat { .. } => Some(Phase::Goto),
        _ => phase_in_branch(statement),
    }
}

/// Whether the fields of a branch can express a body, but for what has no field there.
fn is_in_order(body: &Body) -> bool {
    let mut order = PhaseOrder::default();
    body.0.iter().filter_map(phase_of_key).all(|phase| order.takes(Some(phase)))
}

/// A choice without a condition that is written as the success of a step.
fn is_success(one: &Branch) -> bool {
    one.condition.is_none() && one.extensions.is_empty() && fits(BodyContext::Outcome, &one.body)
}

/// A choice that is written as the check of a step, whose `calls` have no success of their own.
fn is_check(calls: bool, yes: &Branch, no: &Branch) -> bool {
    // Without a condition, the second one is never taken.
    yes.condition.is_some()
        && no.condition.is_none()
        && !no.body.is_empty()
        && !calls
        && yes.extensions.is_empty()
        && [yes, no].iter().all(|branch| fits(BodyContext::Outcome, &branch.body))
}

/// Whether the fields of a step can express its statements: each phase occurs once, in ABL's order, also in branches.
pub(super) fn fits_step(body: &Body) -> bool {
    let calls = body.0.iter().any(|s| matches!(s, Statement::Call(_) | Statement::Collect(_)));
    let mut order = PhaseOrder::default();
    body.0.iter().all(|statement| {
        let inside = match statement {
            Statement::If { branches } => match branches.as_slice() {
                [one] if is_success(one) => true,
                [yes, no] if is_check(calls, yes, no) => true,
                all => all_fit(all),
            },
            Statement::Await { branches } => all_fit(branches),
            statement => !is_limited(statement) && follow_ups_fit(BodyContext::Step, statement),
        };
        inside && statement.phase().is_none_or(|phase| order.takes(Some(phase)))
    })
}

/// Whether the fields of a branch, or of an outcome, can express a body.
pub(super) fn fits(context: BodyContext, body: &Body) -> bool {
    is_in_order(body)
        && body.0.iter().all(|statement| {
            !is_limited(statement)
                && (statement.phase().is_none() || phase_in_branch(statement).is_some())
                && follow_ups_fit(context, statement)
        })
}

fn all_fit(branches: &[Branch]) -> bool {
    branches.iter().all(|branch| fits(BodyContext::Branch, &branch.body))
}

/// Whether what is nested in a statement has fields where the statement is written. A branch has outcomes but no choices,
/// an outcome has choices but no outcomes.
pub(super) fn follow_ups_fit(context: BodyContext, statement: &Statement) -> bool {
    let outcomes = |all: [&Body; 2]| match context {
        BodyContext::Step | BodyContext::Branch => {
            all.iter().all(|body| fits(BodyContext::Outcome, body))
        }
        _ => all.iter().all(|body| body.is_empty()),
    };
    match statement {
        Statement::If { branches } => match context {
            BodyContext::Step | BodyContext::Outcome => all_fit(branches),
            _ => false,
        },
        Statement::Call(call) => {
            let is_step = context == BodyContext::Step;
            outcomes([&call.on_success, &call.on_failure])
                && (is_step || (call.success_when.is_none() && call.on_result.is_empty()))
                && all_fit(&call.on_result)
        }
        Statement::Collect(collect) => {
            let is_plain = || {
                is_bare(&collect.gather)
                    && collect.present.is_none()
                    && collect.corrections.is_none()
                    && collect.complete_when.is_none()
            };
            outcomes([&collect.on_success, &collect.on_failure])
                && (context == BodyContext::Step || is_plain())
        }
        _ => true,
    }
}

const fn is_limited(statement: &Statement) -> bool {
    matches!(statement, Statement::Repeat { .. })
}

/// The number of statements of a hook that its fields can express; the rest becomes a `DO` list.
pub(super) fn expressible_by_fields(body: &Body) -> usize {
    let mut order = PhaseOrder::default();
    body.0.iter().take_while(|s| order.takes(phase_in_branch(s))).count()
}
