//! Labels: the observable actions of an agent, comparable across languages, and the events that
//! decide an edge besides conditions.

use super::pairs::Pairs;
use crate::normalized::spans_in;
use crate::text::{normalized_json, on_one_line, quoted};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Argument, Name, Template};
use agentir_flow::cfg::{DecidedBy, Edge, EdgeKind, Node, NodeKind, Origin, Transfer};
use agentir_ir::{BindingAction, FilledBy, Jump, Response, RoutingTarget, Statement};
use agentir_ir_json::{Json, Mode, shared_expression, shared_notation, to_value};
use serde_json::Value;

/// The label of a transition: an observable action.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Label {
    /// Equal if and only if the actions are.
    pub(super) key: String,
    /// Its description in a conversation.
    pub(super) text: String,
}

impl Label {
    fn new(verb: &str, about: &str, all: &impl Json) -> Self {
        let text = if about.is_empty() { verb.to_owned() } else { format!("{verb} {about}") };
        Self { key: format!("{verb} {}", normalized_json(all)), text }
    }

    fn says(text: Option<&Template>, all: &impl Json) -> Self {
        let text = text.map(|text| quoted(&shared_notation(text)));
        Self::new("says", text.as_deref().unwrap_or("something"), all)
    }

    /// A message with what goes with its text: voice, cards, buttons.
    fn response(response: &Response) -> Self {
        let mut this = Self::says(response.text.as_ref(), response);
        let besides = [
            (response.voice_config.is_some(), "voice"),
            (response.rich_content.is_some(), "rich content"),
            (response.actions.is_some(), "buttons"),
        ];
        let names: Vec<&str> = besides.iter().filter(|(is, _)| *is).map(|(_, n)| *n).collect();
        if !names.is_empty() {
            this.text += &format!(" with {}", names.join(", "));
        }
        this
    }

    /// The end of an agent's part. A person, the caller or the log reads why.
    fn because(verb: &str, node: &Node<'_>) -> Self {
        match node.origin {
            Origin::Jump(Jump { reason: Some(reason), .. }) => {
                Self::new(verb, &format!("because of {}", quoted(&reason.value)), reason)
            }
            _ => Self::plain(verb),
        }
    }

    fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { key: text.clone(), text }
    }
}

/// The label of a node; none if the node is a τ-move, which only decides, checks or jumps.
pub(super) fn label(
    node: &Node<'_>,
    transfer: Option<&Transfer<'_>>,
    pairs: &Pairs<'_>,
) -> Option<Label> {
    Some(match node.kind {
        NodeKind::Say => {
            // An empty message is not observable.
            if matches!(node.origin, Origin::Statement(Statement::Respond(response)) if is_empty(response))
            {
                return None;
            }
            say(node)
        }
        NodeKind::Instruct => match node.origin {
            Origin::Statement(Statement::Instruct { text }) => {
                Label::new("tells the model", &quoted(&shared_notation(text)), text)
            }
            _ => Label::plain("tells the model something"),
        },
        NodeKind::Log => match node.origin {
            Origin::Statement(Statement::Log { value }) => {
                Label::new("logs", &normalized_json(value), value)
            }
            _ => Label::plain("logs something"),
        },
        NodeKind::Await => Label::plain("waits for the user"),
        NodeKind::Collect => collect(node),
        NodeKind::Confirm => match tool_of(node) {
            Some(tool) => Label::new("asks whether to call", &format!("`{}`", tool.value), tool),
            None => Label::plain("asks whether to call something"),
        },
        NodeKind::Call => call(node),
        NodeKind::Set => set(node),
        NodeKind::Clear => match node.origin {
            Origin::Statement(Statement::Clear { variables }) => {
                Label::new("forgets", &list(variables.iter().map(|v| v.value.as_str())), variables)
            }
            Origin::Failure(failure) => {
                let names = list(failure.clear.iter().map(|v| v.value.as_str()));
                Label::new("forgets", &names, &failure.clear)
            }
            _ => Label::plain("forgets something"),
        },
        NodeKind::Transform => match node.origin {
            Origin::Statement(Statement::Transform(transform)) => {
                Label::new("makes", &transform.target.value, transform)
            }
            _ => Label::plain("makes a list"),
        },
        NodeKind::Store => match node.origin {
            Origin::Completion(done) => Label::new("stores", "", &done.store),
            Origin::HumanOutcome(outcome) => Label::new("stores", "", &outcome.store),
            Origin::Remember(remember) => Label::new("stores", "", &remember.store),
            _ => Label::plain("stores something"),
        },
        NodeKind::Delegate => return transfer_label("asks", transfer, node, pairs),
        NodeKind::Handoff => return transfer_label("hands over to", transfer, node, pairs),
        NodeKind::FanOut => match node.origin {
            Origin::Statement(statement) => Label::new("asks several agents", "", statement),
            _ => Label::plain("asks several agents"),
        },
        NodeKind::Escalate => match node.origin {
            Origin::Statement(Statement::Escalate { details, .. }) => {
                Label::new("gets a person", "", details)
            }
            _ => Label::because("gets a person", node),
        },
        NodeKind::Complete => Label::because("is done", node),
        NodeKind::Fail => Label::because("gives up", node),
        NodeKind::Unknown => match node.origin {
            Origin::Name(name) => Label::new("goes to", &name.value, name),
            _ => Label::plain("goes where nobody knows"),
        },
        NodeKind::Other => match node.origin {
            Origin::Statement(Statement::Other { keyword, value, .. }) => {
                Label::new(&format!("does `{keyword}`"), "", value)
            }
            Origin::Rule(rule) => Label::new("does", "", &rule.action),
            Origin::ToolBinding(binding) => {
                Label::new("does", &binding.name.value, &binding.action)
            }
            _ => Label::plain("does something"),
        },
        NodeKind::Entry
        | NodeKind::Hook
        | NodeKind::TurnStart
        | NodeKind::TurnEnd
        | NodeKind::Step
        | NodeKind::Branch
        | NodeKind::Choose
        | NodeKind::Route
        | NodeKind::Check
        | NodeKind::Checkpoint
        | NodeKind::Interrupt
        | NodeKind::Error
        | NodeKind::Return
        | NodeKind::FlowEnd
        | NodeKind::Resume
        | NodeKind::Exit
        | NodeKind::Dead => return None,
    })
}

/// The spans of the values that a node uses.
pub(super) fn value_spans(node: &Node<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    let json = match node.origin {
        // The continuations are separate nodes.
        Origin::Statement(Statement::Call(call)) => {
            found.extend(call.with.iter().map(|argument| argument.value.span));
            Value::from(vec![json(&call.tool), json(&call.result), json(&call.success_when)])
        }
        Origin::Statement(Statement::Collect(collect)) => {
            Value::from(vec![json(&collect.present), json(&collect.gather)])
        }
        Origin::Statement(Statement::If { .. } | Statement::Await { .. }) => Value::Null,
        Origin::Statement(statement) => json(statement),
        Origin::Set(set) => json(set),
        Origin::Jump(jump) => json(jump),
        Origin::Name(name) => json(name),
        Origin::Agent(agent) if node.kind == NodeKind::Collect => json(&agent.gather),
        Origin::Failure(failure) => json(failure),
        Origin::Guardrail(guardrail) => json(guardrail),
        Origin::Handoff(handoff) => json(handoff),
        Origin::Delegate(delegate) => json(delegate),
        Origin::Rule(rule) => json(rule),
        Origin::Trigger(trigger) => json(trigger),
        Origin::HumanOutcome(outcome) => json(outcome),
        Origin::Completion(done) => json(done),
        Origin::Remember(remember) => json(remember),
        Origin::ToolBinding(binding) => json(binding),
        Origin::Tool(tool) => json(tool),
        Origin::Handler(handler) => Value::from(vec![json(&handler.kind), json(&handler.respond)]),
        _ => Value::Null,
    };
    spans_in(&json, &mut found);
    found
}

/// The spans of parts of a program.
pub(super) fn spans_of<'p, P: Json + 'p>(parts: impl Iterator<Item = &'p P>) -> Vec<Span> {
    let mut found = Vec::new();
    parts.for_each(|part| spans_in(&json(part), &mut found));
    found
}

/// A part of a program, without spans.
fn plain(part: &impl Json) -> Value {
    to_value(part, Mode::Plain)
}

fn list_of(values: impl IntoIterator<Item = Value>) -> Value {
    Value::Array(values.into_iter().collect())
}

/// A part of a program, with spans.
fn json(part: &impl Json) -> Value {
    to_value(part, Mode::WithSpans)
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn is_empty(response: &Response) -> bool {
    let Response { text, template, message_key, voice_config, rich_content, actions } = response;
    text.as_ref().is_some_and(|text| text.text.value.trim().is_empty())
        && template.is_none()
        && message_key.is_none()
        && voice_config.is_none()
        && rich_content.is_none()
        && actions.is_none()
}

fn say(node: &Node<'_>) -> Label {
    match node.origin {
        Origin::Statement(Statement::Respond(response)) => Label::response(response),
        Origin::Statement(Statement::Collect(collect)) => {
            let text = collect.present.as_ref();
            Label::says(text, &collect.present)
        }
        Origin::Trigger(trigger) => {
            let text = trigger.respond.as_ref();
            Label::says(text, &trigger.respond)
        }
        Origin::Jump(Jump { reason: Some(said), .. }) => {
            Label::new("says", &quoted(&said.value), said)
        }
        Origin::Completion(done) => {
            let all = Value::from(vec![
                normalized_json(&done.respond),
                normalized_json(&done.respond_template),
                normalized_json(&done.rich_content),
                normalized_json(&done.actions),
            ]);
            match (&done.respond, &done.respond_template) {
                (None, Some(template)) => Label::new("says", &quoted(&template.value), &all),
                (text, _) => Label::says(text.as_ref(), &all),
            }
        }
        Origin::HumanOutcome(outcome) => {
            let text = outcome.respond.as_ref();
            Label::says(text, &outcome.respond)
        }
        Origin::Failure(failure) => {
            let text = failure.message.as_ref();
            Label::says(text, &failure.message)
        }
        Origin::Handler(handler) => {
            let text = handler.respond.as_ref();
            Label::says(text, &handler.respond)
        }
        Origin::Guardrail(guardrail) => Label::says(None, &guardrail.action),
        Origin::Rule(rule) => match &rule.action {
            Some(RoutingTarget::RouteToUser { .. }) => Label::says(None, &rule.action),
            _ => Label::plain("says something"),
        },
        // The text is the model's.
        _ => Label::plain("answers in the model's words"),
    }
}

fn gather_label(gather: &agentir_ir::Gather) -> Label {
    let names = list(gather.fields.iter().map(|f| f.name.value.as_str()));
    Label::new("asks for", &names, gather)
}

/// The variables that a node asks the user for.
pub(super) fn fields<'a>(node: &Node<'a>) -> Vec<&'a str> {
    let gather = match node.origin {
        Origin::Statement(Statement::Collect(collect)) => &collect.gather,
        Origin::Agent(agent) if node.kind == NodeKind::Collect => &agent.gather,
        _ => return Vec::new(),
    };
    gather.fields.iter().map(|f| f.name.value.as_str()).collect()
}

/// The variable that an action assigns to.
pub(super) fn assigned(node: &Node<'_>) -> Option<String> {
    match node.origin {
        Origin::Statement(Statement::Set(set)) | Origin::Set(set) => {
            let target = agentir_expr::Expr::path(set.target.clone(), set.span);
            Some(shared_expression(&target).to_string())
        }
        _ => None,
    }
}

fn collect(node: &Node<'_>) -> Label {
    match node.origin {
        Origin::Statement(Statement::Collect(collect)) => gather_label(&collect.gather),
        Origin::Failure(failure) => {
            let names = list(failure.collect_fields.iter().map(|f| f.value.as_str()));
            Label::new("asks again for", &names, &failure.collect_fields)
        }
        Origin::Agent(agent) => gather_label(&agent.gather),
        _ => Label::plain("asks for something"),
    }
}

/// The tool that a node calls or asks to confirm.
pub(super) fn tool_of<'a>(node: &Node<'a>) -> Option<&'a Spanned<Name>> {
    match node.origin {
        Origin::Statement(Statement::Call(call)) => Some(&call.tool),
        Origin::Tool(tool) => Some(&tool.name),
        Origin::Name(name) => Some(name),
        Origin::ToolBinding(binding) => match &binding.action {
            BindingAction::Call { tool } => Some(tool),
            _ => None,
        },
        _ => None,
    }
}

/// The arguments of a call in an order that says nothing: those with names go by them.
fn in_order(with: &[Argument]) -> Vec<&Argument> {
    let (mut named, mut all): (Vec<_>, Vec<_>) = with.iter().partition(|one| one.name.is_some());
    // One without a name goes by its place among all.
    if !with.iter().skip(all.len()).all(|one| one.name.is_some()) {
        return with.iter().collect();
    }
    named.sort_by_key(|one| one.name.as_ref().map(|name| &name.value));
    all.extend(named);
    all
}

fn call(node: &Node<'_>) -> Label {
    match node.origin {
        Origin::Statement(Statement::Call(call)) => {
            let arg = |a: &Argument| {
                let name = a.name.as_ref().map(|n| n.value.as_str());
                list_of([name.into(), shared_expression(&a.value).to_string().into()])
            };
            let with = in_order(&call.with);
            let args = list_of(with.iter().copied().map(arg));
            let args_text: Vec<String> = with
                .iter()
                .map(|a| {
                    let value = shared_expression(&a.value);
                    match &a.name {
                        Some(name) => format!("{} = {value}", name.value),
                        None => value.to_string(),
                    }
                })
                .collect();
            let kept =
                call.result.as_ref().map_or_else(String::new, |r| format!(" as {}", r.value));
            let text =
                on_one_line(&format!("`{}({}){kept}`", call.tool.value, args_text.join(", ")));
            Label::new("calls", &text, &list_of([plain(&call.tool), args, plain(&call.result)]))
        }
        Origin::Tool(tool) => Label::new("calls", &format!("`{}`", tool.name.value), &tool.name),
        Origin::Name(name) => Label::new("calls", &format!("`{}`", name.value), name),
        Origin::ToolBinding(binding) => match &binding.action {
            // What the model fills in is the tool's parameters.
            BindingAction::Call { tool }
                if binding.with.iter().all(|input| input.filled_by == FilledBy::Model) =>
            {
                Label::new("calls", &format!("`{}`", tool.value), tool)
            }
            BindingAction::Call { tool } => {
                let mut with = binding.with.clone();
                with.sort_by(|one, other| one.name.value.cmp(&other.name.value));
                let all = list_of([plain(tool), plain(&with)]);
                Label::new("calls", &format!("`{}`", tool.value), &all)
            }
            _ => Label::new("calls", &format!("`{}`", binding.name.value), &binding.name),
        },
        _ => Label::plain("calls something"),
    }
}

fn set(node: &Node<'_>) -> Label {
    let set = match node.origin {
        Origin::Statement(Statement::Set(set)) | Origin::Set(set) => set,
        // Variables are set from the message of the user.
        Origin::ToolBinding(binding) => {
            return Label::new("notes what the user says", "", &binding.with);
        }
        _ => return Label::plain("sets something"),
    };
    let target = agentir_expr::Expr::path(set.target.clone(), set.span);
    let [target, value] = [&target, &set.value].map(shared_expression);
    Label::new("sets", &on_one_line(&format!("`{target} = {value}`")), set)
}

/// The label of a transfer to an agent. A transfer to an agent that only this program has is internal.
fn transfer_label(
    verb: &str,
    transfer: Option<&Transfer<'_>>,
    node: &Node<'_>,
    pairs: &Pairs<'_>,
) -> Option<Label> {
    let Some(transfer) = transfer else {
        return Some(Label::plain(format!("{verb} another agent")));
    };
    if transfer.target.is_some_and(|to| pairs.is_inner(to)) {
        return None;
    }
    let to = pairs.agent_name(transfer.to);
    let passed = match node.origin {
        Origin::Statement(Statement::Delegate(d) | Statement::Handoff(d)) => {
            let mut bindings = d.bindings.clone();
            bindings.sort_by_key(|binding| binding.variable.value.clone());
            normalized_json(&bindings)
        }
        Origin::Handoff(handoff) => {
            let mut context = handoff.context.clone();
            // These are separate nodes.
            context.set.clear();
            context.pass.retain(|passed| !pairs.is_shared(&passed.name.value));
            // They go by their names.
            context.pass.sort_by(|one, other| one.name.value.cmp(&other.name.value));
            context.bindings.sort_by_key(|binding| binding.variable.value.clone());
            normalized_json(&context)
        }
        Origin::Delegate(delegate) => {
            let input = delegate
                .input
                .iter()
                .map(|(n, e)| (n.value.as_str(), shared_expression(e).to_string()))
                .filter(|(name, value)| name != value || !pairs.is_shared(name))
                .map(|(name, value)| list_of([name.into(), value.into()]));
            let mut input: Vec<Value> = input.collect();
            // They go by their names.
            input.sort_by_key(ToString::to_string);
            // Passing nothing is the same in every form.
            if input.is_empty() { String::new() } else { normalized_json(&Value::from(input)) }
        }
        _ => String::new(),
    };
    let (back, returned) = match transfer.returns {
        Some(_) => (" and back", returned(node, pairs)),
        None => ("", String::new()),
    };
    let key = format!("{verb} {to}{back} {passed} {returned}");
    Some(Label { key, text: format!("{verb} `{to}`{back}") })
}

/// The events that decide an edge besides conditions, and whether each happens on it.
pub(super) fn events(from: &Node<'_>, edge: &Edge<'_>) -> Vec<(String, bool)> {
    let mut all = Vec::new();
    let outcome = matches!(edge.decided_by, DecidedBy::Outcome);
    let fallible = matches!(
        from.kind,
        NodeKind::Call | NodeKind::Collect | NodeKind::Delegate | NodeKind::Handoff
    );
    match edge.kind {
        EdgeKind::Error | EdgeKind::Unhandled if fallible && edge.guard.is_always() => {
            all.push((FAILS.to_owned(), true));
        }
        EdgeKind::Next | EdgeKind::Return | EdgeKind::Sequence | EdgeKind::Jump
            if fallible && outcome && edge.guard.is_always() =>
        {
            all.push((FAILS.to_owned(), false));
        }
        _ => {}
    }
    match edge.origin {
        _ if from.kind == NodeKind::Confirm && edge.decided_by == DecidedBy::User => {
            let agrees = edge.kind == EdgeKind::Next;
            if agrees || matches!(edge.kind, EdgeKind::Error | EdgeKind::Return) {
                all.push((AGREES.to_owned(), agrees));
            }
        }
        Origin::Handler(handler) if from.kind == NodeKind::Error => {
            let kind = normalized_json(&list_of([plain(&handler.kind), plain(&handler.subtypes)]));
            all.push((format!("what went wrong is {kind}"), true));
        }
        Origin::Digression(digression) if from.kind == NodeKind::Interrupt => {
            let wish =
                normalized_json(&list_of([plain(&digression.intent), plain(&digression.keywords)]));
            all.push((format!("the user wants {wish}"), true));
        }
        Origin::Action(handler) if from.kind == NodeKind::Interrupt => {
            all.push((format!("the user presses `{}`", handler.action_id.value), true));
        }
        Origin::Rule(rule) if from.kind == NodeKind::Route && !rule.intents.is_empty() => {
            all.push((format!("the user wants {}", normalized_json(&rule.intents)), true));
        }
        Origin::Guardrail(guardrail) if guardrail.check.is_none() => {
            let event = format!("the guardrail `{}` objects", guardrail.name.value);
            all.push((event, edge.kind == EdgeKind::Error));
        }
        _ => {}
    }
    // How often the model may choose again is a setting of the model, not an event.
    if let Some(times) = edge.limit.filter(|_| edge.kind != EdgeKind::Return) {
        all.push((format!("it was tried fewer than {times} times"), true));
    }
    if edge.kind == EdgeKind::Exhausted {
        all.push(("all tries are used up".to_owned(), true));
    }
    all
}

const FAILS: &str = "it fails";

/// The event that the user confirms a tool call.
const AGREES: &str = "the user agrees";

/// What the result of another agent is written to. Variables that agents share come back in any case.
fn returned(node: &Node<'_>, pairs: &Pairs<'_>) -> String {
    let mut all: Vec<(String, String)> = match node.origin {
        Origin::Delegate(delegate) => delegate
            .returned()
            .map(|value| (value.variable.to_owned(), value.field.value.to_string()))
            .collect(),
        Origin::Handoff(handoff) => handoff
            .on_return
            .iter()
            .flat_map(|back| &back.map)
            .map(|(variable, value)| (variable.value.to_string(), value.to_string()))
            .collect(),
        _ => Vec::new(),
    };
    all.retain(|(variable, value)| variable != value || !pairs.is_shared(variable));
    all.sort();
    let all = all.into_iter().map(|(variable, value)| format!("{variable} = {value}"));
    all.collect::<Vec<_>>().join(", ")
}
