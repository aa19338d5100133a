//! What follows a result or a changed value without instructions: the next call, the same call with another value.

use super::dialogue::Turn;
use super::is_blank;
use super::kinds::{TextKind, kind_of};
use super::nouns::instead;
use super::results::is_check;
use super::words::{Act, Word, act, name_words, words};
use agentir_runtime::{Answer, FieldType, Purpose, Role, ToolSpec, ToolUse};
use serde_json::{Map, Value as Json};

/// Words of descriptions for what is done with requests that fit nothing else.
const REST: &[&str] = &[
    "general question",
    "general inquir",
    "general enquir",
    "anything else",
    "when no specific",
    "other question",
    "all other",
    "any other",
    "by default",
    "unclear",
    "fallback",
];

impl<'r> Turn<'r> {
    /// The agent for requests that fit no other, if its description says so.
    pub(super) fn for_the_rest(&self, handoffs: &[&&'r ToolSpec]) -> Option<&'r ToolSpec> {
        let wants = super::phrases::is_wish(self.said) || super::phrases::asks_fact(self.said);
        let about = words(self.said).iter().filter(|w| w.is_content()).count();
        if !wants || about < 2 || super::phrases::wants_person(self.said) {
            return None;
        }
        let rest = |tool: &&'r ToolSpec| {
            let description = tool.description.to_lowercase();
            REST.iter().any(|phrase| description.contains(phrase))
        };
        handoffs.iter().map(|tool| **tool).find(rest)
    }

    /// Whether the message does not want a tool, though it shares words with it: it wanted to come to this agent, or it wants
    /// to change what the tool only shows.
    pub(super) fn is_for_another(&self, tool: &ToolSpec) -> bool {
        if self.passed_on && super::nouns::wants_moved(self.said) {
            return true;
        }
        let returns = self.tools.iter().any(|t| t.purpose == Purpose::Return);
        let wanted = act(&words(self.said));
        let changes = matches!(wanted, Some(Act::Make | Act::Remove | Act::Change));
        returns && changes && act(&name_words(&tool.name)) == Some(Act::Show)
    }

    /// Whether the message gives the value that the agent has just asked for.
    pub(super) fn answers(&self, open: &[&'r ToolSpec]) -> bool {
        open.iter().filter(|tool| tool.purpose == Purpose::Call).any(|tool| {
            self.asked_parameter(tool, self.before)
                .is_some_and(|asked| self.heard(tool, false).contains_key(&asked.name))
        }) || self
            .known
            .values()
            .filter_map(Json::as_str)
            .any(|value| value.len() > 2 && self.said.contains(value))
    }

    /// Whether a message of the user was answered with a call of another tool that got values from it.
    pub(super) fn led_to_other(&self, tool: &ToolSpec, at: usize) -> bool {
        let Some(message) = self.messages.get(at) else { return false };
        let after = self.messages.iter().skip(at + 1).take_while(|m| m.role != Role::User);
        let calls = after.flat_map(|m| &m.calls).filter(|call| call.name != tool.name);
        calls.flat_map(|call| call.arguments.values()).any(|value| {
            value.as_str().is_some_and(|text| text.len() > 2 && message.text.contains(text))
        })
    }

    /// Whether the message says a value of a call.
    pub(super) fn says(&self, value: &Json) -> bool {
        match value {
            Json::String(text) => text.len() > 2 && self.said.contains(text.as_str()),
            Json::Number(number) => {
                super::numbers::numbers(self.said).iter().any(|n| Some(n.value) == number.as_f64())
            }
            _ => false,
        }
    }

    /// Whether the last result, if it is not old, states what a condition of the instructions says.
    pub(super) fn was_reported(&self, condition: &str) -> bool {
        let mut users =
            self.messages.iter().enumerate().filter(|(_, m)| m.role == Role::User).rev();
        let from = users.nth(1).map_or(0, |(at, _)| at);
        let recent = self.messages.get(from..).unwrap_or_default();
        let Some(result) = super::results::results(recent).next() else { return false };
        super::results::states(&result, condition)
    }

    /// What is done with a result without telling it: another agent is entered if the instructions say so, and after a check
    /// that went well comes what it was for.
    pub(super) fn after_result(
        &self,
        open: &[&'r ToolSpec],
        made: Option<&ToolUse>,
        result: &str,
    ) -> Option<Answer> {
        use super::conditions::When;
        use super::instructions::What;
        for step in &self.steps {
            if let (What::Call(name), When::Reported(_)) = (&step.what, &step.when)
                && self.applies(&step.when)
                && let Some(tool) = open.iter().copied().find(|t| t.name == *name)
                && matches!(tool.purpose, Purpose::Handoff | Purpose::Delegate)
            {
                return Some(self.call(tool, self.arguments(tool, false)?));
            }
        }
        let check = made.is_some_and(|made| checks(&made.name));
        if !check || !is_check(result) || !super::results::is_success(result) {
            return None;
        }
        let ready = open.iter().copied().find(|tool| {
            let mut needed = Self::needed(tool).peekable();
            tool.purpose == Purpose::Call
                && is_harmless(tool)
                && needed.peek().is_some()
                && needed.all(|p| self.is_known(p))
                && !self.called_before(tool)
                && !self.waits(tool)
        })?;
        Some(self.call(ready, self.arguments(ready, false)?))
    }

    /// Calls the last tool that only looks something up again, if the message replaces one of its values.
    pub(super) fn resume(&self, open: &[&'r ToolSpec]) -> Option<Answer> {
        if self.since.iter().any(|m| m.role == Role::Tool && m.text != "noted") {
            return None;
        }
        let last = self.before.iter().rev().flat_map(|m| &m.calls).find(|call| {
            self.tools.iter().any(|t| t.name == call.name && t.purpose == Purpose::Call)
        })?;
        let tool = open.iter().copied().find(|tool| tool.name == last.name)?;
        if !is_harmless(tool) {
            return None;
        }
        if let Some(text) = instead(self.said) {
            let mut texts = tool.parameters.iter().filter(|p| {
                p.ty == FieldType::Text
                    && p.values.is_empty()
                    && matches!(kind_of(p), TextKind::Place | TextKind::Thing | TextKind::Request)
                    && last.arguments.get(&p.name).is_some_and(Json::is_string)
            });
            let (Some(only), None) = (texts.next(), texts.next()) else { return None };
            let mut arguments = last.arguments.clone();
            arguments.insert(only.name.clone(), text.into());
            return Some(self.call(tool, arguments));
        }
        // A value of the agent that the user has just replaced.
        let changed = tool.parameters.iter().any(|p| {
            let known = self.known.get(&p.name).filter(|value| !is_blank(value));
            known.is_some_and(|known| last.arguments.get(&p.name).is_some_and(|old| old != known))
        });
        // A check is not what the user waits for.
        if !changed || checks(&tool.name) {
            return None;
        }
        let arguments = self.arguments(tool, false)?;
        (arguments != last.arguments).then(|| self.call(tool, arguments))
    }

    /// The question whether to go on with another agent that the values just given lead to.
    pub(super) fn onward(&self) -> Option<String> {
        let mut all = self.tools.iter().filter(|t| t.purpose == Purpose::Handoff);
        let (Some(only), None) = (all.next(), all.next()) else { return None };
        let subject = super::abilities::subject(&only.name)?;
        Some(format!("Would you like to go on with {subject}?"))
    }

    /// The agent that the user agrees to go on with.
    pub(super) fn agreed_handoff(&self, open: &[&'r ToolSpec]) -> Option<Answer> {
        let question = self.onward().filter(|_| self.since.is_empty())?;
        let last = self.before.iter().rev().find(|m| m.role == Role::Assistant)?;
        let agreed = last.text.ends_with(&question)
            && (super::consent::agrees(self.said, &question)
                || super::consent::affirms(self.said, &question, ""));
        let tool = open.iter().copied().find(|t| t.purpose == Purpose::Handoff)?;
        if !agreed {
            return None;
        }
        Some(self.call(tool, self.arguments(tool, false)?))
    }

    /// What the author's instructions name as a list, with its value, if it was not told yet: "choose one of the shortlist".
    pub(super) fn listed(&self) -> Option<String> {
        const MOST: usize = 5;
        let text = self.instructions.join("\n").to_lowercase();
        self.known.iter().find_map(|(name, value)| {
            let spoken = super::questions::spoken(name);
            let named = text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == name)
                || spoken.contains(' ') && text.contains(&spoken);
            let items = value.as_array().filter(|items| named && !items.is_empty())?;
            let items: Vec<String> = items.iter().take(MOST).map(one_of).collect();
            let told = format!("There is a choice of {}.", items.join("; "));
            (!self.was_asked(&told)).then_some(told)
        })
    }

    /// The value that "and Calais?" gives to the only text that the agent has noted.
    pub(super) fn replaced_text(&self, tool: &ToolSpec) -> Option<Map<String, Json>> {
        let text = instead(self.said)?;
        let mut texts = tool.parameters.iter().filter(|p| {
            p.ty == FieldType::Text
                && p.values.is_empty()
                && self.is_known(p)
                && matches!(kind_of(p), TextKind::Place | TextKind::Thing)
        });
        let (Some(only), None) = (texts.next(), texts.next()) else { return None };
        Some(Map::from_iter([(only.name.clone(), Json::from(text))]))
    }
}

/// An item of a list: its name first, without the word for it.
fn one_of(item: &Json) -> String {
    const NAMES: &[&str] = &["name", "title", "label"];
    let Json::Object(fields) = item else { return super::results::describe_value(item, 1) };
    let name = NAMES.iter().find_map(|name| Some((*name, fields.get(*name)?.as_str()?)));
    let Some((key, name)) = name else { return super::results::describe_value(item, 1) };
    let mut rest = fields.clone();
    rest.remove(key);
    let rest = super::results::describe_value(&Json::Object(rest), 1);
    if rest.is_empty() { name.to_owned() } else { format!("{name} ({rest})") }
}

/// Whether the name of a tool says that it only checks something.
fn checks(name: &str) -> bool {
    name_words(name).first().is_some_and(is_checking)
}

fn is_checking(word: &Word) -> bool {
    matches!(word.text.as_str(), "check" | "validate" | "verify" | "is" | "can")
}

/// Whether a tool may be called though nobody asked for it: it is not declared to have side effects, and its name says that it
/// shows something and names nothing that is done.
fn is_harmless(tool: &ToolSpec) -> bool {
    // "Check out", "check in": the verb alone would only look.
    const PARTICLES: &[&str] = &["out", "in", "off", "on", "up", "over", "away", "back", "down"];
    let name = name_words(&tool.name);
    let shows = |word: &Word| act(std::slice::from_ref(word)) == Some(Act::Show);
    let looks = |word: &Word| shows(word) || is_checking(word);
    let deed = name.iter().any(|word| super::words::is_deed(word) && !looks(word));
    let phrasal = name.get(1).is_some_and(|word| PARTICLES.contains(&word.text.as_str()));
    tool.side_effects != Some(true) && !deed && !phrasal && name.first().is_some_and(looks)
}
