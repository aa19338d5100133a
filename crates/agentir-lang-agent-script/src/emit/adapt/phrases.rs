//! What the model is told to do, because a condition is words for it to judge.

use super::exposed_tools::{binding, expose};
use super::expr::text;
use super::flow::SplitBody;
use agentir_diagnostics::Span;
use agentir_expr::Name;
use agentir_ir::{
    Agent, BindingAction, Body, Branch, Extensions, FilledBy, InputBinding, Statement,
};
use agentir_syntax::emit::NameSyntax;

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
