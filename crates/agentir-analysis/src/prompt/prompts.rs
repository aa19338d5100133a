//! The prompts of an agent.

use super::mentions::{AgentNames, Mentions};
use super::text::{self, PromptStep, PromptUse};
use agentir_diagnostics::Span;
use agentir_expr::Template;
use agentir_ir::{Agent, BindingAction, Body, Statement};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

/// A prompt, split into steps.
#[derive(Debug)]
pub struct Prompt<'a> {
    /// Its text.
    pub template: &'a Template,
    /// When the model sees it.
    pub prompt_use: PromptUse,
    /// The target agents of the agent's actions, by the names of the actions.
    pub offers: Rc<FxHashMap<&'a str, &'a str>>,
    /// Text before the first number is a step without a number.
    pub steps: Vec<PromptStep<'a>>,
    /// The handoffs and tools that it mentions.
    pub mentions: Mentions<'a>,
}

impl Prompt<'_> {
    /// Returns the source span of a range of the prompt.
    pub fn place(&self, range: &Range<usize>) -> Span {
        self.template.place(range.clone())
    }
}

/// Returns the texts that instruct an agent's model: its instructions, and the goals of its steps.
pub(super) fn prompts<'a>(agent: &'a Agent, names: &AgentNames<'a>) -> Vec<Prompt<'a>> {
    let mut texts: Vec<(&Template, PromptUse)> = Vec::new();
    for part in &agent.identity.instructions {
        let prompt_use =
            if part.when.is_some() { PromptUse::Conditionally } else { PromptUse::Always };
        texts.push((&part.text, prompt_use));
    }
    if let Some(zone) = &agent.reasoning {
        collect_instructions(&zone.prepare, PromptUse::Always, &mut texts);
    }
    for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
        let goal = step.reasoning_zone.as_ref().and_then(|zone| zone.goal.as_ref());
        texts.extend(goal.map(|goal| (goal, PromptUse::InStep)));
    }
    let bindings = agent.reasoning.iter().flat_map(|zone| &zone.bindings);
    let offers = bindings.filter_map(|binding| match &binding.action {
        BindingAction::Handoff { to } => Some((binding.name.value.as_str(), to.value.as_str())),
        _ => None,
    });
    let offers = Rc::new(offers.collect());
    texts
        .into_iter()
        .map(|(text, prompt_use)| prompt(text, prompt_use, Rc::clone(&offers), names))
        .collect()
}

/// Collects the instructions of a body.
fn collect_instructions<'a>(
    body: &'a Body,
    prompt_use: PromptUse,
    texts: &mut Vec<(&'a Template, PromptUse)>,
) {
    for statement in &body.0 {
        match statement {
            Statement::Instruct { text } => texts.push((text, prompt_use)),
            Statement::If { branches } => {
                branches
                    .iter()
                    .for_each(|b| collect_instructions(&b.body, PromptUse::Conditionally, texts));
            }
            _ => {}
        }
    }
}

fn prompt<'a>(
    template: &'a Template,
    prompt_use: PromptUse,
    offers: Rc<FxHashMap<&'a str, &'a str>>,
    names: &AgentNames<'a>,
) -> Prompt<'a> {
    let steps = text::steps(template.text.value.as_str());
    let mentions = Mentions::of(&steps, prompt_use, &offers, names);
    Prompt { template, prompt_use, offers, steps, mentions }
}
