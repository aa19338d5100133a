//! What has to be so before a call is made: what the instructions ask for before it, their conditions, and agreement.

use super::conditions::When;
use super::consent::agrees;
use super::dialogue::Turn;
use super::instructions::{Step, What, asks_consent, is_consent};
use agentir_runtime::{Answer, Purpose, Role, ToolSpec};

impl Turn<'_> {
    /// Whether the instructions demand something else before a tool, or do not allow the call now.
    pub(super) fn waits(&self, tool: &ToolSpec) -> bool {
        self.asks_before(tool) || self.is_held_back(tool, false)
    }

    /// Whether the instructions ask for something before a tool that is open.
    pub(super) fn asks_before(&self, tool: &ToolSpec) -> bool {
        let at = self.steps.iter().position(|step| calls(step, tool));
        // What the instructions do not name comes after what they say that is missing.
        if at.is_none() && tool.purpose == Purpose::Call {
            return self.steps.iter().any(|step| {
                let What::Ask { items, .. } = &step.what else { return false };
                let first = matches!(step.when, When::Missing(_))
                    || step.when == When::Always && items.len() > 1;
                first && self.question_of(step).is_some()
            });
        }
        at.is_some_and(|at| self.steps.iter().take(at).any(|step| self.question_of(step).is_some()))
    }

    /// Whether the instructions allow a call in some cases only, and this is none of them. What the user wants is `wanted`.
    pub(super) fn is_held_back(&self, tool: &ToolSpec, wanted: bool) -> bool {
        let named = self.steps.iter().enumerate().filter(|(_, step)| calls(step, tool));
        let mut named = named.peekable();
        tool.purpose == Purpose::Call
            && named.peek().is_some()
            && !named.any(|(at, step)| self.permits(at, step, wanted))
    }

    /// Whether the condition of a step that calls a tool holds; what the user wants is `wanted`. What another tool reported, in
    /// the words of the author, is too little for a call that nobody wants.
    pub(super) fn permits(&self, at: usize, step: &Step, wanted: bool) -> bool {
        match (&step.what, &step.when) {
            (What::Call(name), When::Agreed) => self.agreed_since(&self.consent_before(at), name),
            (_, When::Wants(_)) if wanted => true,
            (_, When::Reported(_)) if !wanted => false,
            (_, when) => self.applies(when),
        }
    }

    /// The question that is agreed to before a call which needs agreement: the author's right before it, or what the call does.
    fn consent_before(&self, at: usize) -> String {
        let asked = self.steps.iter().take(at).rev().find_map(|step| match &step.what {
            What::Ask { question, .. } => Some(question),
            _ => None,
        });
        if let Some(question) = asked.filter(|question| asks_consent(question)) {
            return question.clone();
        }
        let name = self.steps.get(at).and_then(|step| match &step.what {
            What::Call(name) => Some(name),
            _ => None,
        });
        let tool = self.tools.iter().find(|tool| Some(&tool.name) == name);
        match tool.and_then(|tool| super::abilities::ability(&tool.description)) {
            Some(able) => format!("Shall I {able}?"),
            None => "Shall I go ahead?".to_owned(),
        }
    }

    /// Whether only agreement answers a question.
    pub(super) fn is_consent(&self, question: &str) -> bool {
        let needs = |step: &Step| step.when == When::Agreed && matches!(step.what, What::Call(_));
        is_consent(question)
            || self
                .steps
                .iter()
                .enumerate()
                .any(|(at, step)| needs(step) && self.consent_before(at) == question)
    }

    /// Whether the user agreed when a question was last asked.
    pub(super) fn agreed_to(&self, question: &str) -> bool {
        self.agreed_at(question).is_some()
    }

    /// Whether the user agreed when a question was last asked, and the call was not made since: one agreement is for one call.
    fn agreed_since(&self, question: &str, name: &str) -> bool {
        self.agreed_at(question).is_some_and(|at| {
            let since = self.messages.iter().skip(at).flat_map(|m| &m.calls);
            !since.into_iter().any(|call| call.name == name)
        })
    }

    /// Where the user agreed when a question was last asked.
    fn agreed_at(&self, question: &str) -> Option<usize> {
        let asked = self
            .messages
            .iter()
            .rposition(|m| m.role == Role::Assistant && m.text.contains(question))?;
        let after = self.messages.iter().enumerate().skip(asked + 1);
        let (at, answer) = after.into_iter().find(|(_, m)| m.role == Role::User)?;
        agrees(&answer.text, &self.messages.get(asked)?.text).then_some(at)
    }

    /// The question before a call that the user has to agree to, and has not for this call.
    pub(super) fn open_consent(&self, tool: &ToolSpec) -> Option<String> {
        let at = self.steps.iter().position(|step| calls(step, tool))?;
        let question = self.steps.iter().take(at).rev().find_map(|step| match &step.what {
            What::Ask { question, .. } if self.is_consent(question) && self.applies(&step.when) => {
                Some(question)
            }
            _ => None,
        })?;
        (!self.agreed_since(question, &tool.name)).then(|| question.clone())
    }

    /// Asks for the agreement that a call needs which the user wants, once it has all its arguments, or for these.
    pub(super) fn ask_consent(&self, tool: &ToolSpec) -> Option<Answer> {
        let agreed = |step: &Step| calls(step, tool) && step.when == When::Agreed;
        let at = self.steps.iter().position(agreed);
        if self.arguments(tool, true).is_some() {
            let question = self.open_consent(tool).or_else(|| Some(self.consent_before(at?)))?;
            return Some(self.ask(question));
        }
        self.lacking(tool, true).map(|lacking| self.ask(self.question(lacking)))
    }
}

/// Whether a step calls a tool.
fn calls(step: &Step, tool: &ToolSpec) -> bool {
    matches!(&step.what, What::Call(name) if *name == tool.name)
}
