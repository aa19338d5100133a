//! Conditions in words, which no `if` of Agent Script can have: instructions say them to the model.

use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Name, Template};
use agentir_ir::{
    Agent, BindingAction, Body, Branch, Extensions, FilledBy, InputBinding, Response, Statement,
    ToolBinding,
};
use smol_str::{SmolStr, format_smolstr};

/// What is said after an error, if nobody says so.
pub(super) const ERROR: &str = "Something went wrong. Please try again.";

/// Says the conditions in words of an agent of Agent Script itself, as another program may have written them.
pub(super) fn say(agent: &mut Agent) {
    for instruction in &mut agent.identity.instructions {
        if let Some(words) = instruction.when.take_if(|when| is_words(when)) {
            prefix(&mut instruction.text, &format!("If {}: ", words.text.value));
        }
    }
    if let Some(zone) = &mut agent.reasoning {
        let prompt = std::mem::take(&mut zone.prepare);
        say_in_prompt(prompt, "", &mut zone.prepare.0);
        for binding in &mut zone.bindings {
            if let Some(words) = binding.available_when.take_if(|when| is_words(when)) {
                let text = match &binding.description {
                    Some(own) => {
                        let own = own.text.value.trim_end().trim_end_matches('.');
                        format_smolstr!("{own}. Only if {}", words.text.value)
                    }
                    None => format_smolstr!("Only if {}", words.text.value),
                };
                binding.description = Some(Template::plain(Spanned::new(text, words.span())));
            }
            cut(&mut binding.after, &mut Vec::new());
        }
    }
    // Messages without one for errors are no messages.
    let welcomes = matches!(agent.on_start.0.first(), Some(Statement::Respond(_)));
    if welcomes && !agent.messages.contains_key("error") {
        let text = Spanned::new(SmolStr::new_static(ERROR), agent.span);
        let error = Response { text: Some(Template::plain(text)), ..Response::default() };
        agent.messages.insert(SmolStr::new_static("error"), error);
    }
    let mut tools = Vec::new();
    agent.hooks.bodies_mut().for_each(|body| cut(body, &mut tools));
    cut(&mut agent.on_start, &mut tools);
    for (at, (words, values)) in tools.into_iter().enumerate() {
        let bindings = &mut agent.reasoning.get_or_insert_default().bindings;
        let free = |name: &String| bindings.iter().all(|b| b.name.value != name.as_str());
        let Some(name) = (at..).map(|n| format!("set_values_{}", n + 1)).find(free) else { return };
        let span = words.span();
        bindings.push(ToolBinding {
            name: Spanned::new(Name::new(name), span),
            action: BindingAction::Collect,
            description: Some(Template::plain(words.text)),
            available_when: None,
            with: values,
            after: Body::default(),
            extensions: Extensions::default(),
            span,
        });
    }
}

const fn is_words(condition: &Condition) -> bool {
    condition.expr().is_none()
}

/// Whether a branch is taken on words. A line that is no expression stands in the extensions, and is written as it is.
fn in_words(branch: &Branch) -> bool {
    branch.condition.as_ref().is_some_and(is_words) && branch.extensions.is_empty()
}

fn prefix(text: &mut Template, before: &str) {
    text.text.value = SmolStr::new(format!("{before}{}", text.text.value));
}

/// The texts of a prompt. Behind words nothing is evaluated any more: what else there is is told, too.
fn say_in_prompt(body: Body, before: &str, out: &mut Vec<Statement>) {
    for mut statement in body.0 {
        match &mut statement {
            Statement::Instruct { text } if !before.is_empty() => prefix(text, before),
            Statement::If { branches } => {
                let told = match before.is_empty() {
                    true => branches.iter().position(in_words).unwrap_or(branches.len()),
                    false => 0,
                };
                let rest = branches.split_off(told);
                for branch in branches.iter_mut() {
                    let inside = std::mem::take(&mut branch.body);
                    say_in_prompt(inside, "", &mut branch.body.0);
                }
                let mut said = Vec::new();
                for (at, branch) in rest.into_iter().enumerate() {
                    let otherwise = if at == 0 { "" } else { "otherwise " };
                    let when = match &branch.condition {
                        Some(when) => format!("{before}If {otherwise}{}: ", when.text.value),
                        None => format!("{before}Otherwise: "),
                    };
                    say_in_prompt(branch.body, &when, &mut said);
                }
                if branches.is_empty() {
                    out.append(&mut said);
                    continue;
                }
                if let (false, Some(last)) = (said.is_empty(), branches.last()) {
                    let (extensions, span) = (Default::default(), last.span);
                    branches.push(Branch { condition: None, body: Body(said), extensions, span });
                }
            }
            _ if !before.is_empty() => continue,
            _ => {}
        }
        out.push(statement);
    }
}

/// Values that the model sets on words.
type SetOnWords = (Condition, Vec<InputBinding>);

/// Leaves out what is done on words, since nobody can decide it before or after reasoning. The model can set values.
fn cut(body: &mut Body, tools: &mut Vec<SetOnWords>) {
    body.0.retain_mut(|statement| match statement {
        Statement::If { branches } => {
            let told = branches.iter().position(in_words).unwrap_or(branches.len());
            if let Some(first) = branches.get_mut(told)
                && let Some(words) = first.condition.take()
            {
                let set = |statement: Statement| match statement {
                    Statement::Set(set) => Some(InputBinding {
                        name: set.target.root,
                        filled_by: FilledBy::Value,
                        value: Some(set.value),
                    }),
                    _ => None,
                };
                let values: Vec<_> =
                    std::mem::take(&mut first.body.0).into_iter().filter_map(set).collect();
                tools.extend((!values.is_empty()).then_some((words, values)));
            }
            branches.truncate(told);
            branches.iter_mut().for_each(|branch| cut(&mut branch.body, tools));
            !branches.is_empty()
        }
        Statement::Call(call) => {
            cut(&mut call.on_success, tools);
            true
        }
        // Only the statements of a prompt ask.
        Statement::Collect(_) => false,
        _ => true,
    });
}
