//! Which tool a message, what is known or the last question calls for.

use super::choose::{MIN_CONFIDENCE, candidate, choose};
use super::dialogue::{Turn, say};
use super::kinds::{TextKind, kind_of};
use super::phrases::small_talk;
use super::questions::spoken;
use super::words::{Act, act, is_question, name_words, words};
use agentir_runtime::{Answer, Candidate, FieldSpec, Purpose, Role, ToolSpec};

impl<'r> Turn<'r> {
    /// A tool that searches for answers to any question, for a question that nothing else fits.
    pub(super) fn search_tool(&self, open: &[&'r ToolSpec]) -> Option<(&'r ToolSpec, f64)> {
        const SEARCHES: &[&str] = &["search", "knowledge", "faq", "answer", "lookup", "articles"];
        let asks = is_question(self.said) && !super::nouns::wants_moved(self.said);
        if !asks || small_talk(self.said).is_some() {
            return None;
        }
        let searches = |tool: &&ToolSpec| {
            let about = name_words(&tool.name).into_iter().chain(words(&tool.description));
            let mut needed = Self::needed(tool);
            let only = needed.next().filter(|_| needed.next().is_none());
            tool.purpose == Purpose::Call
                && only.is_some_and(|p| {
                    let names = ["query", "question", "keywords", "search", "text"];
                    name_words(&p.name).iter().any(|w| names.contains(&w.text.as_str()))
                })
                && about.into_iter().any(|w| SEARCHES.contains(&w.text.as_str()))
        };
        open.iter().copied().find(searches).map(|tool| (tool, MIN_CONFIDENCE))
    }

    /// Calls the tool that the author passes variables to, once what was just noted completes them.
    pub(super) fn complete(&self, open: &[&'r ToolSpec]) -> Option<Answer> {
        let noted = self.since.iter().flat_map(|m| &m.calls).filter(|call| {
            self.tools.iter().any(|t| t.name == call.name && t.purpose == Purpose::Collect)
        });
        let noted: Vec<&String> = noted.flat_map(|call| call.arguments.keys()).collect();
        let tool = open.iter().copied().find(|tool| {
            tool.purpose == Purpose::Call
                && self.awaited(tool).next().is_none()
                && tool.passes.iter().any(|name| noted.contains(&name))
                && act(&name_words(&tool.name)) != Some(Act::Remove)
                && !self.called_before(tool)
                && !self.waits(tool)
                && !Self::needed(tool).any(|p| self.blank_in_passes(tool, p))
        })?;
        self.arguments(tool, false).map(|arguments| self.call(tool, arguments))
    }

    /// Whether a parameter that the model fills has no value yet.
    fn blank_in_passes(&self, tool: &ToolSpec, parameter: &FieldSpec) -> bool {
        !self.is_known(parameter) && !self.heard(tool, false).contains_key(&parameter.name)
    }

    /// Says what a tool cannot be called without, if nobody can be asked for it.
    pub(super) fn regret(&self, tool: &ToolSpec) -> Option<Answer> {
        let missing = self.awaited(tool).next()?;
        let able = super::abilities::ability(&tool.description)?;
        let record = kind_of(missing) == TextKind::Identifier && !self.is_stored(&missing.name);
        let missing = spoken(&missing.name);
        let missing =
            if record { "what is needed for it".to_owned() } else { format!("the {missing}") };
        Some(say(format!(
            "I'm sorry, I cannot {able} at the moment, because I do not have {missing}. \
             What else can I do for you?"
        )))
    }

    /// The tool whose argument the agent has just asked for.
    pub(super) fn pending_tool(&self, open: &[&'r ToolSpec]) -> Option<&'r ToolSpec> {
        let asked = open.iter().copied().filter(|tool| {
            tool.purpose == Purpose::Call && self.asked_parameter(tool, self.before).is_some()
        });
        // An answer that was noted is not also an argument.
        if self.since.iter().any(|m| m.text == "noted") {
            return None;
        }
        let all: Vec<&'r ToolSpec> = asked.collect();
        if all.len() < 2 {
            return all.first().copied();
        }
        // The one that the user wanted before.
        let before: Vec<&str> = self
            .before
            .iter()
            .rev()
            .filter(|m| m.role == Role::User)
            .take(4)
            .map(|m| m.text.as_str())
            .collect();
        let candidates: Vec<Candidate> = all.iter().map(|tool| candidate(tool)).collect();
        let wanted =
            before.iter().find_map(|said| choose(said, &candidates, false).into_iter().next());
        wanted
            .and_then(|(name, _)| all.iter().copied().find(|t| t.name == name))
            .or(all.first().copied())
    }
}
