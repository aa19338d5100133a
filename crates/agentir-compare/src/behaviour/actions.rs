//! Labels: the observable actions of an agent, comparable across languages, and what decides an
//! edge besides conditions.

use super::pairs::Pairs;
use crate::meaning::places_in;
use crate::words::{all_of, plain, quoted};
use agentir_diagnostics::{Span, Spanned, with_places};
use agentir_expr::Name;
use agentir_flow::cfg::{DecidedBy, Edge, EdgeKind, Node, NodeKind, Origin, Transfer};
use agentir_ir::{BindingAction, Response, RoutingTarget, Statement};
use serde::Serialize;
use serde_json::{Value, to_value};

/// Something that an agent does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Action {
    /// Equal exactly if the same is done.
    pub(super) key: String,
    /// What it is called in a conversation.
    pub(super) says: String,
}

impl Action {
    fn new(verb: &str, about: &str, all: &impl Serialize) -> Self {
        let says = if about.is_empty() { verb.to_owned() } else { format!("{verb} {about}") };
        Self { key: format!("{verb} {}", all_of(all)), says }
    }

    fn says(text: Option<&str>, all: &impl Serialize) -> Self {
        Self::new("says", &text.map_or_else(|| "something".to_owned(), quoted), all)
    }

    /// A message with what goes with its text: voice, cards, buttons.
    fn response(said: &Response) -> Self {
        let mut this = Self::says(said.text.as_ref().map(|t| t.text.value.as_str()), said);
        let besides = [
            (said.voice_config.is_some(), "voice"),
            (said.rich_content.is_some(), "rich content"),
            (said.actions.is_some(), "buttons"),
        ];
        let names: Vec<&str> = besides.iter().filter(|(is, _)| *is).map(|(_, n)| *n).collect();
        if !names.is_empty() {
            this.says += &format!(" with {}", names.join(", "));
        }
        this
    }

    fn plain(says: impl Into<String>) -> Self {
        let says = says.into();
        Self { key: says.clone(), says }
    }
}

/// What is noticed of a node; nothing if it only decides, checks or leads on.
pub(super) fn action(
    node: &Node<'_>,
    transfer: Option<&Transfer<'_>>,
    pairs: &Pairs<'_>,
) -> Option<Action> {
    Some(match node.kind {
        NodeKind::Say => {
            // Nobody hears an empty text.
            if matches!(node.origin, Origin::Statement(Statement::Respond(said)) if is_silent(said))
            {
                return None;
            }
            say(node)
        }
        NodeKind::Instruct => match node.origin {
            Origin::Statement(Statement::Instruct { text }) => {
                Action::new("tells the model", &quoted(&text.text.value), text)
            }
            _ => Action::plain("tells the model something"),
        },
        NodeKind::Log => match node.origin {
            Origin::Statement(Statement::Log { value }) => {
                Action::new("logs", &all_of(value), value)
            }
            _ => Action::plain("logs something"),
        },
        NodeKind::Await => Action::plain("waits for the user"),
        NodeKind::Collect => collect(node),
        NodeKind::Confirm => match called(node) {
            Some(tool) => Action::new("asks whether to call", &format!("`{}`", tool.value), tool),
            None => Action::plain("asks whether to call something"),
        },
        NodeKind::Call => call(node),
        NodeKind::Set => set(node),
        NodeKind::Clear => match node.origin {
            Origin::Statement(Statement::Clear { variables }) => {
                Action::new("forgets", &list(variables.iter().map(|v| v.value.as_str())), variables)
            }
            Origin::Failure(failure) => {
                let names = list(failure.clear.iter().map(|v| v.value.as_str()));
                Action::new("forgets", &names, &failure.clear)
            }
            _ => Action::plain("forgets something"),
        },
        NodeKind::Transform => match node.origin {
            Origin::Statement(Statement::Transform(transform)) => {
                Action::new("makes", &transform.target.value, transform)
            }
            _ => Action::plain("makes a list"),
        },
        NodeKind::Store => match node.origin {
            Origin::Completion(done) => Action::new("stores", "", &done.store),
            Origin::HumanOutcome(outcome) => Action::new("stores", "", &outcome.store),
            Origin::Remember(remember) => Action::new("stores", "", &remember.store),
            _ => Action::plain("stores something"),
        },
        NodeKind::Delegate => return handed("asks", transfer, node, pairs),
        NodeKind::Handoff => return handed("hands over to", transfer, node, pairs),
        NodeKind::FanOut => match node.origin {
            Origin::Statement(statement) => Action::new("asks several agents", "", statement),
            _ => Action::plain("asks several agents"),
        },
        NodeKind::Escalate => match node.origin {
            Origin::Statement(Statement::Escalate { details, .. }) => {
                Action::new("gets a person", "", details)
            }
            _ => Action::plain("gets a person"),
        },
        NodeKind::Complete => Action::plain("is done"),
        NodeKind::Fail => Action::plain("gives up"),
        NodeKind::Unknown => match node.origin {
            Origin::Name(name) => Action::new("goes to", &name.value, name),
            _ => Action::plain("goes where nobody knows"),
        },
        NodeKind::Other => match node.origin {
            Origin::Statement(Statement::Other { keyword, value, .. }) => {
                Action::new(&format!("does `{keyword}`"), "", value)
            }
            Origin::Rule(rule) => Action::new("does", "", &rule.action),
            Origin::ToolBinding(binding) => {
                Action::new("does", &binding.name.value, &binding.action)
            }
            _ => Action::plain("does something"),
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

/// Where the values are written that a node says what is done with.
pub(super) fn places(node: &Node<'_>) -> Vec<Span> {
    let json = with_places(|| match node.origin {
        // What follows is done by nodes of its own.
        Origin::Statement(Statement::Call(call)) => {
            let with: Vec<_> = call.with.iter().map(|a| Spanned::new((), a.value.span)).collect();
            to_value((&call.tool, with, &call.result, &call.success_when))
        }
        Origin::Statement(Statement::Collect(collect)) => {
            to_value((&collect.present, &collect.gather))
        }
        Origin::Statement(Statement::If { .. } | Statement::Await { .. }) => Ok(Value::Null),
        Origin::Statement(statement) => to_value(statement),
        Origin::Set(set) => to_value(set),
        Origin::Agent(agent) if node.kind == NodeKind::Collect => to_value(&agent.gather),
        Origin::Failure(failure) => to_value(failure),
        Origin::Guardrail(guardrail) => to_value(guardrail),
        Origin::Handoff(handoff) => to_value(handoff),
        Origin::Delegate(delegate) => to_value(delegate),
        Origin::Rule(rule) => to_value(rule),
        Origin::Trigger(trigger) => to_value(trigger),
        Origin::HumanOutcome(outcome) => to_value(outcome),
        Origin::Completion(done) => to_value(done),
        Origin::Remember(remember) => to_value(remember),
        Origin::ToolBinding(binding) => to_value(binding),
        Origin::Tool(tool) => to_value(tool),
        Origin::Handler(handler) => to_value((&handler.kind, &handler.respond)),
        _ => Ok(Value::Null),
    });
    let mut found = Vec::new();
    places_in(&json.unwrap_or_default(), &mut found);
    found
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn is_silent(said: &Response) -> bool {
    let Response { text, template, message_key, voice_config, rich_content, actions } = said;
    text.as_ref().is_some_and(|text| text.text.value.trim().is_empty())
        && template.is_none()
        && message_key.is_none()
        && voice_config.is_none()
        && rich_content.is_none()
        && actions.is_none()
}

fn say(node: &Node<'_>) -> Action {
    match node.origin {
        Origin::Statement(Statement::Respond(said)) => Action::response(said),
        Origin::Statement(Statement::Collect(collect)) => {
            let text = collect.present.as_ref();
            Action::says(text.map(|t| t.text.value.as_str()), &collect.present)
        }
        Origin::Trigger(trigger) => {
            let text = trigger.respond.as_ref();
            Action::says(text.map(|t| t.text.value.as_str()), &trigger.respond)
        }
        Origin::Completion(done) => {
            let text = done.respond.as_ref().map(|t| t.text.value.as_str());
            let named = done.respond_template.as_ref().map(|t| t.value.as_str());
            let all = (&done.respond, &done.respond_template, &done.rich_content, &done.actions);
            Action::says(text.or(named), &all)
        }
        Origin::HumanOutcome(outcome) => {
            let text = outcome.respond.as_ref();
            Action::says(text.map(|t| t.text.value.as_str()), &outcome.respond)
        }
        Origin::Failure(failure) => {
            let text = failure.message.as_ref();
            Action::says(text.map(|t| t.text.value.as_str()), &failure.message)
        }
        Origin::Handler(handler) => {
            let text = handler.respond.as_ref();
            Action::says(text.map(|t| t.text.value.as_str()), &handler.respond)
        }
        Origin::Guardrail(guardrail) => Action::says(None, &guardrail.action),
        Origin::Rule(rule) => match &rule.action {
            Some(RoutingTarget::RouteToUser { .. }) => Action::says(None, &rule.action),
            _ => Action::plain("says something"),
        },
        // What the model says is its own.
        _ => Action::plain("answers in the model's words"),
    }
}

fn asks(gather: &agentir_ir::Gather) -> Action {
    let names = list(gather.fields.iter().map(|f| f.name.value.as_str()));
    Action::new("asks for", &names, gather)
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

fn collect(node: &Node<'_>) -> Action {
    match node.origin {
        Origin::Statement(Statement::Collect(collect)) => asks(&collect.gather),
        Origin::Failure(failure) => {
            let names = list(failure.collect_fields.iter().map(|f| f.value.as_str()));
            Action::new("asks again for", &names, &failure.collect_fields)
        }
        Origin::Agent(agent) => asks(&agent.gather),
        _ => Action::plain("asks for something"),
    }
}

/// The tool that a node is about.
fn called<'a>(node: &Node<'a>) -> Option<&'a Spanned<Name>> {
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

fn call(node: &Node<'_>) -> Action {
    match node.origin {
        Origin::Statement(Statement::Call(call)) => {
            let args: Vec<_> = call
                .with
                .iter()
                .map(|a| (a.name.as_ref().map(|n| &n.value), a.value.to_string()))
                .collect();
            let says: Vec<String> = call
                .with
                .iter()
                .map(|a| match &a.name {
                    Some(name) => format!("{} = {}", name.value, a.value),
                    None => a.value.to_string(),
                })
                .collect();
            let kept =
                call.result.as_ref().map_or_else(String::new, |r| format!(" as {}", r.value));
            let says = plain(&format!("`{}({}){kept}`", call.tool.value, says.join(", ")));
            Action::new("calls", &says, &(&call.tool, args, &call.result))
        }
        Origin::Tool(tool) => Action::new("calls", &format!("`{}`", tool.name.value), &tool.name),
        Origin::Name(name) => Action::new("calls", &format!("`{}`", name.value), name),
        Origin::ToolBinding(binding) => match &binding.action {
            BindingAction::Call { tool } if binding.with.is_empty() => {
                Action::new("calls", &format!("`{}`", tool.value), tool)
            }
            BindingAction::Call { tool } => {
                Action::new("calls", &format!("`{}`", tool.value), &(tool, &binding.with))
            }
            _ => Action::new("calls", &format!("`{}`", binding.name.value), &binding.name),
        },
        _ => Action::plain("calls something"),
    }
}

fn set(node: &Node<'_>) -> Action {
    let set = match node.origin {
        Origin::Statement(Statement::Set(set)) | Origin::Set(set) => set,
        // What the user said is written down: variables by their names.
        Origin::ToolBinding(binding) => {
            let all: Vec<_> = binding.with.iter().collect();
            return Action::new("notes what the user says", "", &all);
        }
        _ => return Action::plain("sets something"),
    };
    let target = agentir_expr::Expr::path(set.target.clone(), set.span);
    Action::new("sets", &plain(&format!("`{target} = {}`", set.value)), set)
}

/// Handing over to an agent. One that only this program has is a part of the agent, so nothing is
/// noticed.
fn handed(
    verb: &str,
    transfer: Option<&Transfer<'_>>,
    node: &Node<'_>,
    pairs: &Pairs<'_>,
) -> Option<Action> {
    let Some(transfer) = transfer else {
        return Some(Action::plain(format!("{verb} another agent")));
    };
    if transfer.target.is_some_and(|to| pairs.is_inner(to)) {
        return None;
    }
    let to = pairs.agent_name(transfer.to);
    let passed = match node.origin {
        Origin::Statement(Statement::Delegate(d) | Statement::Handoff(d)) => all_of(&d.bindings),
        Origin::Handoff(handoff) => {
            let mut context = handoff.context.clone();
            // These are actions of their own.
            context.set.clear();
            context.pass.retain(|passed| !pairs.is_shared(&passed.name.value));
            all_of(&context)
        }
        Origin::Delegate(delegate) => {
            let input: Vec<_> = delegate
                .input
                .iter()
                .map(|(n, e)| (&n.value, e.to_string()))
                .filter(|(name, value)| *name != value || !pairs.is_shared(name))
                .collect();
            all_of(&input)
        }
        _ => String::new(),
    };
    let back = if transfer.returns.is_some() { " and back" } else { "" };
    Some(Action {
        key: format!("{verb} {to}{back} {passed}"),
        says: format!("{verb} `{to}`{back}"),
    })
}

/// What decides about an edge beside conditions, and whether it is so on this edge.
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
            let kind = all_of(&(&handler.kind, &handler.subtypes));
            all.push((format!("what went wrong is {kind}"), true));
        }
        Origin::Digression(digression) if from.kind == NodeKind::Interrupt => {
            let wish = all_of(&(&digression.intent, &digression.keywords));
            all.push((format!("the user wants {wish}"), true));
        }
        Origin::Action(handler) if from.kind == NodeKind::Interrupt => {
            all.push((format!("the user presses `{}`", handler.action_id.value), true));
        }
        Origin::Rule(rule) if from.kind == NodeKind::Route && !rule.intents.is_empty() => {
            all.push((format!("the user wants {}", all_of(&rule.intents)), true));
        }
        Origin::Guardrail(guardrail) if guardrail.check.is_none() => {
            let event = format!("the guardrail `{}` objects", guardrail.name.value);
            all.push((event, edge.kind == EdgeKind::Error));
        }
        _ => {}
    }
    // How often the model may come back to choose again is a setting of the model.
    if let Some(times) = edge.limit.filter(|_| edge.kind != EdgeKind::Return) {
        all.push((format!("it was tried fewer than {times} times"), true));
    }
    if edge.kind == EdgeKind::Exhausted {
        all.push(("all tries are used up".to_owned(), true));
    }
    all
}

const FAILS: &str = "it fails";

/// What is asked of the user before a tool is called.
const AGREES: &str = "the user agrees";
