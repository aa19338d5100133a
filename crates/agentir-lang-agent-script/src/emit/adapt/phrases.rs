//! What the model is told to do, because a condition is words for it to judge.

use super::exposed_tools::{binding, expose, instruct};
use super::expr::{condition, text, to_phrase};
use super::flow::SplitBody;
use agentir_diagnostics::Span;
use agentir_expr::{Condition, Expr, Name, Template};
use agentir_ir::{
    Agent, BindingAction, Body, Branch, Extensions, FilledBy, InputBinding, Statement,
};
use agentir_syntax::emit::NameSyntax;
use smol_str::SmolStr;

/// That none of some conditions in words holds.
pub(super) fn neither(told: &[String]) -> String {
    format!("it is not the case that {}", told.join(", or that "))
}

/// Statements under a natural-language condition become instructions, transitions and tools of the model.
pub(super) fn instruct_under_phrase(
    below: SplitBody,
    when: &str,
    new: &mut Agent,
    split: &mut SplitBody,
) {
    for message in below.messages {
        let Statement::Instruct { text: message } = message else { continue };
        let words = format!("If {when}: {}", message.text.value);
        split.messages.push(Statement::Instruct { text: text(words) });
    }
    let mut effects = below.effects;
    for exit in below.jumps {
        transition_under_phrase(new, &exit, when, std::mem::take(&mut effects));
    }
    let mut values = binding("set_values", BindingAction::Collect);
    for effect in effects {
        match effect {
            Statement::Set(set) => values.with.push(InputBinding {
                name: set.target.root,
                filled_by: FilledBy::Value,
                value: Some(set.value),
            }),
            Statement::Call(call) => {
                let tool = &call.tool.value;
                let name = NameSyntax::Word.legalize(&format!("use_{tool}"));
                let mut one = binding(name, BindingAction::Call { tool: call.tool.clone() });
                one.description = Some(text(when));
                one.with.extend(call.with.iter().filter_map(|argument| {
                    Some(InputBinding {
                        name: argument.name.clone()?,
                        filled_by: FilledBy::Value,
                        value: Some(argument.value.clone()),
                    })
                }));
                one.after = call.on_success;
                expose(new, one);
            }
            _ => {}
        }
    }
    if !values.with.is_empty() {
        values.description = Some(text(when));
        expose(new, values);
    }
}

/// A transition that the model takes under a natural-language condition.
pub(super) fn transition_under_phrase(
    new: &mut Agent,
    exit: &Statement,
    words: &str,
    effects: Vec<Statement>,
) {
    if let Statement::Handoff(to) = exit {
        let name = Name::new(format!("to_{}", to.agent.value));
        let mut one = binding(name, BindingAction::Handoff { to: to.agent.clone() });
        one.description = Some(text(words));
        one.after = Body(effects);
        expose(new, one);
    }
}

/// The end under a condition that the model judges, and perhaps a guard. An agent that returns control does so by itself.
pub(super) fn complete_under_phrase(
    words: &str,
    guard: Option<Expr>,
    returns_control: bool,
    new: &mut Agent,
) {
    if returns_control {
        instruct(new, None, text(format!("If {words}: You are done.")));
        return;
    }
    let mut one = binding("finish", BindingAction::Complete);
    one.description = Some(text(words));
    one.available_when = guard.map(condition);
    expose(new, one);
}

/// The words for a condition that the model judges, or for what is left.
pub(super) fn in_words(when: Option<&Condition>) -> String {
    when.map_or_else(|| "None of the others fits".to_owned(), to_phrase)
}

/// An instruction to say something, with what the user is offered to choose from.
pub(super) fn with_choices(said: Template, labels: &[SmolStr]) -> Template {
    if labels.is_empty() {
        return said;
    }
    let all: Vec<String> = labels.iter().map(|label| format!("\"{label}\"")).collect();
    text(format!("{} Offer: {}.", said.text.value, all.join(", ")))
}

/// Moves texts either under conditions or among statements; Agent Script does not mix the two.
pub(super) fn separate_texts(new: &mut Agent) {
    let Some(zone) = new.reasoning.as_mut().filter(|z| !z.prepare.is_empty()) else { return };
    let mut all: Vec<Statement> = Vec::new();
    for one in std::mem::take(&mut new.identity.instructions) {
        let text = Statement::Instruct { text: one.text };
        match one.when {
            None => all.push(text),
            Some(when) => all.push(Statement::If {
                branches: vec![Branch {
                    condition: Some(when),
                    body: Body(vec![text]),
                    extensions: Extensions::default(),
                    span: Span::default(),
                }],
            }),
        }
    }
    all.append(&mut zone.prepare.0);
    zone.prepare.0 = all;
}
