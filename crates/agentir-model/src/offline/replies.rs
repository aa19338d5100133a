//! What the agent says about results, what it knows, and what else it can do.

use super::abilities::{ability, introduction, subject, topic};
use super::conditions::When;
use super::consent::only_declines;
use super::dialogue::{Turn, say};
use super::facts::facts;
use super::instructions::What;
use super::is_blank;
use super::phrases::{complains, is_wish, wants_person};
use super::questions::spoken;
use super::results::{describe_result, describe_value, is_failure, is_refusal};
use super::words::{Word, is_question, name_words, similarity, words};
use super::yes_no::yes_or_no;
use agentir_runtime::{Answer, Purpose, Role, ToolSpec};
use serde_json::Value as Json;

/// The number of abilities that are listed.
const MAX_ABILITIES: usize = 4;

/// The number of sentences of the instructions that are said at once.
const MAX_TOLD_SENTENCES: usize = 2;

/// What is said to a user whom something troubles.
const SYMPATHY: &str = "I'm sorry to hear that.";

/// Words of questions, and the names of fields that answer them.
const ANSWERS: &[(&str, &[&str])] = &[
    ("when", &["date", "time", "day", "eta", "arrival", "due", "deadline", "scheduled", "expires"]),
    ("where", &["location", "address", "place", "city", "status", "room", "branch"]),
    ("much", &["price", "total", "cost", "amount", "balance", "fee"]),
    ("cost", &["price", "total", "cost", "amount", "fee"]),
    ("many", &["count", "quantity", "number", "total", "points"]),
    ("who", &["name", "technician", "agent", "owner", "contact"]),
];

impl<'r> Turn<'r> {
    /// The answer to a question of the user that results of tools or the instructions give.
    pub(super) fn fact(&self) -> Option<String> {
        if !is_question(self.said) || self.since.iter().any(|m| !m.calls.is_empty()) {
            return None;
        }
        if let Some(known) = self.recall(false) {
            return Some(known);
        }
        let asked: Vec<Word> =
            words(self.said).into_iter().filter(|w| w.is_content() && !is_vague(w)).collect();
        let score = |fact: &String| {
            // The label says what a line is about.
            let about = fact.split_once(": ").map_or(fact.as_str(), |(label, _)| label);
            let told = words(about);
            asked.iter().filter(|own| told.iter().any(|w| similarity(own, w) > 0.7)).count()
        };
        let scored = facts(self.instructions, self.tools).map(|fact| (score(&fact), fact));
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        // A number is asked for.
        let counts = words(self.said).iter().any(|w| matches!(w.text.as_str(), "many" | "much"));
        let best = best.filter(|(score, fact)| {
            let told = !counts || fact.chars().any(|c| c.is_ascii_digit()) || fact.contains("free");
            *score > 0 && score * 2 >= asked.len() && told
        })?;
        Some(if best.1.ends_with(['.', '!', '?']) { best.1 } else { format!("{}.", best.1) })
    }

    /// What an earlier result of a tool says about what the user asks; only if all words of the name of a value occur in
    /// the question, if it has to be `exact`.
    pub(super) fn recall(&self, exact: bool) -> Option<String> {
        let asked = words(self.said);
        let about: Vec<&Word> = asked.iter().filter(|w| w.is_content() && !is_vague(w)).collect();
        let kinds: Vec<&str> = ANSWERS
            .iter()
            .filter(|(word, _)| asked.iter().any(|w| w.text == *word))
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let results = self.before.iter().rev().filter(|m| m.role == Role::Tool).take(8);
        let mut best: Option<(usize, String)> = None;
        for result in results.filter_map(|m| serde_json::from_str::<Json>(&m.text).ok()) {
            if result.get("error").is_some() {
                continue;
            }
            for (name, value) in leaves(&result) {
                let own: Vec<Word> =
                    name_words(name).into_iter().filter(Word::is_content).collect();
                let shared =
                    own.iter().filter(|own| about.iter().any(|w| similarity(own, w) > 0.7)).count();
                let kind = own.iter().any(|w| kinds.contains(&w.text.as_str()));
                let whole = !own.is_empty() && shared == own.len();
                let score = shared * 2 + usize::from(kind) * 2 + usize::from(whole);
                if (whole || kind && !exact) && best.as_ref().is_none_or(|(most, _)| score > *most)
                {
                    let text = format!("The {} is {}.", spoken(name), describe_value(value, 1));
                    best = Some((score, text));
                }
            }
        }
        best.map(|(_, text)| text)
    }

    // ---- results ------------------------------------------------------------------------------

    /// Tells the user what a tool answered, and asks the next question.
    pub(super) fn report(&self, open: &[&'r ToolSpec]) -> Option<Answer> {
        let at = self.since.iter().rposition(|m| m.role == Role::Tool)?;
        let result = self.since.get(at)?;
        let made = self.since.iter().flat_map(|m| &m.calls);
        let made = made.into_iter().find(|call| Some(&call.id) == result.tool_use_id.as_ref());
        let purpose = made.and_then(|call| self.tools.iter().find(|t| t.name == call.name));
        // Who says another value instead of yes is asked again, once it is noted.
        if result.text == "noted"
            && let Some(answer) = self.call_declined()
        {
            return Some(answer);
        }
        // Notes of values are not results.
        let transition = purpose.is_some_and(|tool| tool.purpose != Purpose::Call);
        if transition || matches!(result.text.as_str(), "noted" | "done") {
            return None;
        }
        if is_refusal(&result.text) {
            // Who says another value instead of yes wants the same with it.
            let call = self.messages.iter().flat_map(|m| &m.calls);
            let call =
                call.into_iter().find(|call| Some(&call.id) == result.tool_use_id.as_ref())?;
            let tool = self.tools.iter().find(|tool| tool.name == call.name)?;
            let other = self.arguments(tool, true).filter(|other| *other != call.arguments);
            let noted = || self.new_values(open).filter(|_| !only_declines(self.said));
            return Some(match other {
                Some(arguments) => self.call(tool, arguments),
                // Who says the same again has not declined.
                None if call.arguments.values().any(|value| self.says(value))
                    && yes_or_no(self.said).is_none()
                    && self.since.iter().flat_map(|m| &m.calls).count() <= 1 =>
                {
                    self.call(tool, call.arguments.clone())
                }
                None => match noted() {
                    Some((note, values)) => self.call(note, values),
                    None => say(NOT_DONE.to_owned()),
                },
            });
        }
        if is_failure(&result.text) {
            return Some(say(
                "I'm sorry, that did not work just now. Please try again later, or tell me what else I can do for you."
                    .to_owned(),
            ));
        }
        if let Some(answer) = self.after_result(open, made, &result.text) {
            return Some(answer);
        }
        // A tool that needs the result may be next.
        if let Some(answer) = self.next_call(open, made.map(|call| call.name.as_str())) {
            return Some(answer);
        }
        let text = describe_result(&result.text);
        let before = self.before.iter().rev().find(|m| m.role == Role::Assistant);
        let text = match before {
            Some(last) if last.text == text && text == super::results::DONE => {
                "That is done, too.".to_owned()
            }
            Some(last) if last.text == text => format!("The same as before: {text}"),
            _ => text,
        };
        let next =
            self.missing.first().map(|field| self.question(field)).or_else(|| self.next_question());
        Some(say(match next {
            Some(next) if !self.was_asked(&next) => format!("{text} {next}"),
            _ => text,
        }))
    }

    /// The call that the user has just declined, with the values that were noted since.
    fn call_declined(&self) -> Option<Answer> {
        let refused =
            self.since.iter().rposition(|m| m.role == Role::Tool && is_refusal(&m.text))?;
        let refusal = self.since.get(refused)?;
        let mut calls = self.messages.iter().flat_map(|m| &m.calls);
        let call = calls.find(|call| Some(&call.id) == refusal.tool_use_id.as_ref())?;
        let tool = self.tools.iter().find(|tool| tool.name == call.name)?;
        let again = self.since.iter().skip(refused).flat_map(|m| &m.calls);
        if again.into_iter().any(|call| call.name == tool.name) {
            return None;
        }
        Some(self.call(tool, self.arguments(tool, true)?))
    }

    // ---- the end ------------------------------------------------------------------------------

    /// Ends the task if nothing is left to do.
    pub(super) fn finish(
        &self,
        open: &[&'r ToolSpec],
        leaving: Option<&'r ToolSpec>,
    ) -> Option<Answer> {
        let ready = |tool: &ToolSpec| self.arguments(tool, false);
        let done = open.iter().find(|t| t.purpose == Purpose::Complete);
        let filled = self.optional.is_empty()
            || self.steps.iter().any(|s| matches!(s.what, What::Ask { .. }));
        let asked = self.before.iter().any(|m| m.role == Role::Assistant);
        // What the agent is there to collect has been said.
        let collected = self.optional.is_empty()
            && self.known.values().any(|value| self.says(value))
            && !self.tools.iter().any(|t| t.purpose == Purpose::Call);
        if let Some(tool) = done
            && (yes_or_no(self.said) == Some(false) || collected || (filled && self.is_answer()))
            && let Some(arguments) = ready(tool)
        {
            return Some(self.call(tool, arguments));
        }
        let text = self.steps.iter().find_map(|step| match (&step.what, &step.when) {
            (What::Say(text), When::Always | When::Done | When::Good(_) | When::Agreed) => {
                let good = !matches!(step.when, When::Good(_)) || self.applies(&step.when);
                let agreed = step.when != When::Agreed || self.applies(&When::Agreed);
                self.filled(text).filter(|text| good && agreed && !self.was_asked(text))
            }
            _ => None,
        });
        if let Some(text) = text.filter(|_| asked) {
            let end = if text.ends_with(['.', '!', '?']) { "" } else { "!" };
            return Some(say(format!("{text}{end}")));
        }
        let tool = leaving?;
        Some(self.call(tool, ready(tool)?))
    }

    /// A text with the values of its placeholders: `{name}`, `<date>`; `None` if one is not known.
    fn filled(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(['{', '<']) {
            let (before, from) = rest.split_at(start);
            let end = from.find(['}', '>'])?;
            let name = from.get(1..end)?.trim().trim_start_matches(['{', '!', '@', '$']);
            let value = self.known.get(name.rsplit('.').next()?).filter(|v| !is_blank(v))?;
            out.push_str(before.trim_end_matches('$'));
            out.push_str(&describe_value(value, 1));
            rest = from.get(end + 1..)?.trim_start_matches('}');
        }
        out.push_str(rest);
        Some(out)
    }

    /// What the agent says if nothing is to be done: what it is to show, thanks for an answer, what it can do.
    pub(super) fn otherwise(&self) -> Answer {
        let shown = self.steps.iter().find_map(|step| match &step.what {
            What::Show(text) => Some(text),
            _ => None,
        });
        if let Some(text) = shown {
            return say(format!("{text}."));
        }
        if let Some(listed) = self.listed() {
            return say(format!("{listed} {WHICH}"));
        }
        let next = self.next_question().filter(|question| !self.was_asked(question));
        let next = next.or_else(|| self.onward().filter(|question| !self.was_asked(question)));
        // One agent of a turn asks.
        let asked = self.since.iter().rposition(|m| {
            m.role == Role::Assistant
                && (super::phrases::requests(&m.text)
                    || m.text.contains(super::agenda::NO_IDEA)
                    || m.text.contains(NOT_HERE))
        });
        let untold = |step: &super::instructions::Step| matches!(&step.what, What::Tell(text) if !self.was_asked(text));
        if asked.is_some() && !self.steps.iter().any(untold) {
            return say(String::new());
        }
        if self.is_answer() && !is_question(self.said) {
            let next =
                next.unwrap_or_else(|| "Is there anything else I can help you with?".to_owned());
            return say(format!("Thank you, I have noted that. {next}"));
        }
        if wants_person(self.said) {
            return say(format!(
                "I'm sorry, I cannot put you through to a person here. {}",
                self.offer_of_help()
            ));
        }
        let states = !is_question(self.said) && !is_wish(self.said) && !complains(self.said);
        let gives = self.said.contains('@') || self.said.chars().any(|c| c.is_ascii_digit());
        if states
            && gives
            && self.before.iter().any(|m| m.role == Role::Assistant)
            && self.choose_nothing()
        {
            let next =
                next.unwrap_or_else(|| "Is there anything else I can help you with?".to_owned());
            return say(format!("Thank you, I have noted that. {next}"));
        }
        if yes_or_no(self.said).is_some() && words(self.said).len() <= 3 {
            let next = next.unwrap_or_else(|| "What else can I do for you?".to_owned());
            return say(format!("All right. {next}"));
        }
        say(self.told_fact().unwrap_or_else(|| self.offer_of_help()))
    }

    /// The only fact of the instructions, for an open question about nothing that they name. Of several facts, and to a question
    /// whether there is something, none is an answer.
    fn told_fact(&self) -> Option<String> {
        const OPEN: &[&str] = &["what", "how", "when", "where", "which"];
        let first = self.said.split_whitespace().map(str::to_lowercase);
        let first = first.take(2).find(|w| w != "so" && w != "and")?;
        let mut stated = facts(self.instructions, self.tools);
        let (Some(only), None) = (stated.next(), stated.next()) else { return None };
        let asks = is_question(self.said) && !is_wish(self.said) && OPEN.contains(&first.as_str());
        if !asks || super::facts::is_labelled(&only) || self.was_asked(&only) {
            return None;
        }
        let mut letters = only.chars();
        let first = letters.next()?.to_uppercase();
        Some(first.chain(letters).collect())
    }

    /// Whether the message is not about what the agent can do.
    fn choose_nothing(&self) -> bool {
        let open: Vec<&ToolSpec> = self.tools.iter().collect();
        self.best_tool(&open, |_| true).is_none()
    }

    /// Sympathy in front of an answer to somebody whom something troubles.
    pub(super) fn with_sympathy(&self, answer: Answer) -> Answer {
        let Answer::Message { text, calls } = answer else { return answer };
        let told = self.messages.iter().any(|m| m.text.starts_with("I'm sorry"));
        let fits = calls.is_empty()
            && !text.is_empty()
            && !told
            && complains(self.said)
            && !is_question(self.said)
            && self.since.iter().all(|m| m.role != Role::Tool)
            && !text.to_lowercase().contains("sorry");
        Answer::Message { text: if fits { format!("{SYMPATHY} {text}") } else { text }, calls }
    }

    /// What the agent can do, if nothing else applies.
    pub(super) fn offer_of_help(&self) -> String {
        let excuse = self.excuse();
        let question = self.next_question().or_else(|| self.question_to_note());
        // After a digression the open question is asked again.
        let question = question.filter(|question| excuse.is_some() || !self.was_asked(question));
        let told: Vec<&String> = self
            .steps
            .iter()
            .filter_map(|step| match &step.what {
                What::Tell(text) if !self.was_asked(text) => Some(text),
                _ => None,
            })
            .take(MAX_TOLD_SENTENCES)
            .collect();
        let mut offer: Vec<String> = told.into_iter().cloned().collect();
        let can = offer.iter().any(|text| text.to_lowercase().contains(" can "));
        offer.extend(self.abilities().filter(|_| !can));
        let text = offer.join(" ");
        let last = self.before.iter().rev().find(|m| m.role == Role::Assistant);
        let asks = text.ends_with('?');
        let open = match excuse {
            Some(_) if text.is_empty() => WHAT_ELSE,
            _ if text.is_empty() => TELL_MORE,
            _ => WHAT_TO_DO,
        };
        let question = match question {
            Some(question) => question,
            None if asks => String::new(),
            None => open.to_owned(),
        };
        let excuse = excuse.filter(|excuse| *excuse != NOT_HERE || text.is_empty());
        let all = [excuse.unwrap_or_default(), text.as_str(), question.as_str()];
        let all = all.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ");
        let again =
            self.messages.iter().any(|m| m.role == Role::Assistant && m.text.ends_with(&all));
        if again && (is_wish(self.said) || is_question(self.said)) && !offer.is_empty() {
            return format!("{NOT_HERE} {}", offer.join(" "));
        }
        if let Some(excuse) = excuse.filter(|_| last.is_some_and(|last| last.text.ends_with(&all)))
        {
            let other =
                if excuse == NOT_HERE { NOT_HERE_EITHER } else { super::agenda::NO_IDEA_EITHER };
            return all.replacen(excuse, other, 1);
        }
        if last.is_some_and(|last| last.text.ends_with(&all)) {
            return "Is there something else I can do for you?".to_owned();
        }
        all
    }

    /// What is said first to somebody who asks or wants something that the agent knows nothing about.
    fn excuse(&self) -> Option<&'static str> {
        let said = words(self.said);
        let about = said.iter().filter(|w| w.is_content() && !is_vague(w)).count();
        if about == 0 || super::phrases::small_talk(self.said).is_some() {
            return None;
        }
        if super::phrases::asks_fact(self.said) {
            return Some(super::agenda::NO_IDEA);
        }
        is_wish(self.said).then_some(NOT_HERE)
    }

    /// A sentence about what the agent can do, from its tools, the agents it knows and its instructions.
    fn abilities(&self) -> Option<String> {
        let mut abilities: Vec<String> = Vec::new();
        let mut add = |text: String| {
            if !abilities.contains(&text) && abilities.len() < MAX_ABILITIES {
                abilities.push(text);
            }
        };
        let tools = self
            .tools
            .iter()
            .filter(|t| matches!(t.purpose, Purpose::Call | Purpose::Handoff | Purpose::Delegate));
        tools
            .map(|t| t.description.as_str())
            .chain(self.agents.iter().map(|a| a.description.as_str()))
            .filter_map(ability)
            .for_each(&mut add);
        if abilities.is_empty() {
            let texts = self.instructions.iter().flat_map(|text| text.lines());
            let targets = self
                .tools
                .iter()
                .filter(|t| t.purpose == Purpose::Handoff)
                .map(|t| t.description.as_str());
            let topics: Vec<String> = texts.chain(targets).filter_map(topic).collect();
            if let [first, ..] = topics.as_slice() {
                return Some(format!("I can help you {first}."));
            }
            let who = self.instructions.iter().flat_map(|text| text.lines()).find_map(introduction);
            let handoffs = self.tools.iter().filter(|t| t.purpose == Purpose::Handoff);
            let mut subjects: Vec<String> = handoffs.filter_map(|t| subject(&t.name)).collect();
            subjects.dedup();
            subjects.truncate(MAX_ABILITIES);
            let with = super::sentences::joined(&subjects);
            let help = (!with.is_empty()).then(|| format!("I can help you with {with}."));
            let parts: Vec<String> = who.into_iter().chain(help).collect();
            return (!parts.is_empty()).then(|| parts.join(" "));
        }
        match abilities.as_slice() {
            [] => None,
            [one] => Some(format!("I can {one}.")),
            [most @ .., last] => Some(format!("I can {}, or {last}.", most.join(", "))),
        }
    }
}

/// Whether a word of a question says nothing about its subject.
fn is_vague(word: &Word) -> bool {
    matches!(
        word.text.as_str(),
        "need" | "know" | "tell" | "help" | "show" | "thing" | "things" | "kind" | "kinds"
    )
}

/// Whether an answer only says what the agent can do.
pub(super) fn is_offer(text: &str) -> bool {
    const OFFERS: &[&str] = &[
        WHAT_TO_DO,
        TELL_MORE,
        "Is there something else I can do for you?",
        "Is there anything else I can help you with?",
    ];
    let text = text.trim();
    text.starts_with(NOT_HERE) || OFFERS.iter().any(|offer| text.ends_with(offer))
}

/// What the agent says if the user does not agree to what it was about to do.
pub(super) const NOT_DONE: &str = "All right, I have not done that. What would you like to change?";

/// What the agent asks after it has said what it can do.
const WHAT_TO_DO: &str = "What would you like to do?";

/// What the agent asks after a list.
const WHICH: &str = "Which one would you like?";

/// What the agent asks after it has said that it cannot do something.
const WHAT_ELSE: &str = "What else can I do for you?";

/// What the agent asks if it cannot say what it can do.
const TELL_MORE: &str = "Could you tell me a little more about what you need?";

/// The beginning of the answer to a wish that is not for this agent.
const NOT_HERE: &str = "I'm sorry, that is something I cannot help with here.";

/// What is said if that was said before.
const NOT_HERE_EITHER: &str = "I'm afraid I cannot help with that either.";

/// The values of a result and of the objects and lists directly in it, with their names.
fn leaves(result: &Json) -> Vec<(&str, &Json)> {
    let mut found = Vec::new();
    let tops: Vec<&Json> = match result {
        Json::Array(items) => items.iter().take(1).collect(),
        other => vec![other],
    };
    for (name, value) in tops.iter().filter_map(|top| top.as_object()).flatten() {
        match value {
            Json::Object(inner) => {
                found.extend(inner.iter().map(|(name, value)| (name.as_str(), value)));
            }
            _ => found.push((name.as_str(), value)),
        }
    }
    found.retain(|(_, value)| !is_blank(value) && !value.is_object() && !value.is_boolean());
    found.truncate(64);
    found
}
