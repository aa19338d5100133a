//! A heuristic dialogue policy. In this order: small talk; what the user asks for (another agent, a tool); what a tool
//! answered; values for variables; what is missing; what the instructions demand next; and else an offer of help. It asks
//! for one thing at a time, calls no tool without its required arguments, and shows nothing that is not meant for users.

use super::choose::{candidate, choose};
use super::conditions::When;
use super::corrections::{corrected, extract_corrected, may_replace};
use super::extract::{Reach, extract};
use super::instructions::{Step, What, steps};
use super::kinds::{TextKind, kind_of};
use super::phrases::{SmallTalk, greets, is_wish, requests, small_talk, wants_person};
use super::questions::without_transitions;
use super::results::{referred_to, results};
use super::spans::qualified_by;
use super::words::{Word, is_question, name_words, similarity, words};
use super::yes_no::yes_or_no;
use super::{Offline, is_blank};
use agentir_runtime::{
    Answer, Candidate, FieldSpec, FieldType, Message, ModelTask, Purpose, Role, ToolSpec, ToolUse,
};
use serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::collections::HashMap;

/// The confidence required to hand over, escalate or complete.
const MIN_LEAVE_CONFIDENCE: f64 = 0.55;

/// First words of names of tools that begin the next stage.
const FORWARD: &[&str] =
    &["start", "begin", "proceed", "continue", "next", "dispatch", "finish", "complete", "advance"];

/// The number of fields that values are looked for at once.
const MAX_FIELDS: usize = 64;

/// The number of messages of the user that values are looked for in.
const MAX_HEARD: usize = 24;

/// Answers [`ModelTask::Converse`].
pub(super) fn answer(offline: &Offline, task: &ModelTask) -> Answer {
    let ModelTask::Converse {
        instructions,
        messages,
        tools,
        missing,
        optional,
        known,
        agents,
        closing,
        ..
    } = task
    else {
        return say(String::new());
    };
    let of_turn =
        |messages: &[Message]| messages.iter().rev().take_while(|m| m.role != Role::User).count();
    let all = of_turn(messages);
    let messages = &without_transitions(messages, tools);
    let user = messages.iter().rposition(|m| m.role == Role::User);
    let offline = &offline.with_days_of(known, None);
    let tools = &super::questions::described(tools, instructions);
    let turn = Turn {
        offline,
        steps: steps(instructions, tools),
        instructions,
        messages,
        said: user.and_then(|at| messages.get(at)).map_or("", |m| m.text.as_str()),
        since: messages.get(user.map_or(0, |at| at + 1)..).unwrap_or_default(),
        before: messages.get(..user.unwrap_or(0)).unwrap_or_default(),
        tools,
        missing,
        optional,
        known,
        agents,
        passed_on: of_turn(messages) < all,
        found: Found::default(),
    };
    turn.with_sympathy(turn.answer(closing.is_some()))
}

pub(super) fn say(text: String) -> Answer {
    Answer::Message { text, calls: Vec::new() }
}

/// What was found out about the conversation.
#[derive(Default)]
pub(super) struct Found<'r> {
    /// The values that were heard for a tool, if it is wanted and if not.
    heard: RefCell<HashMap<(String, bool), Map<String, Json>>>,
    /// The fields that phrases of the instructions are about.
    pub(super) fields: RefCell<HashMap<String, Option<&'r FieldSpec>>>,
    /// The questions for fields.
    pub(super) questions: RefCell<HashMap<String, String>>,
}

/// The state of the conversation.
pub(super) struct Turn<'r> {
    pub(super) offline: &'r Offline,
    pub(super) steps: Vec<Step>,
    pub(super) instructions: &'r [String],
    pub(super) messages: &'r [Message],
    /// The user's last message.
    pub(super) said: &'r str,
    /// The messages after it, and those before it.
    pub(super) since: &'r [Message],
    pub(super) before: &'r [Message],
    pub(super) tools: &'r [ToolSpec],
    pub(super) missing: &'r [FieldSpec],
    pub(super) optional: &'r [FieldSpec],
    pub(super) known: &'r Map<String, Json>,
    pub(super) agents: &'r [Candidate],
    /// Whether other agents passed the conversation on in this turn.
    pub(super) passed_on: bool,
    /// What has been found out already, because steps and tools ask for the same again and again.
    pub(super) found: Found<'r>,
}

impl<'r> Turn<'r> {
    fn answer(&self, closes: bool) -> Answer {
        // What follows says everything.
        if closes {
            return say(String::new());
        }
        let open: Vec<&ToolSpec> = self.tools.iter().filter(|t| !self.called_now(t)).collect();
        let asks_abilities = small_talk(self.said) == Some(SmallTalk::Abilities);
        if !asks_abilities && let Some(answer) = self.hand_on(&open) {
            return answer;
        }
        let talk = small_talk(self.said).filter(|_| self.since.iter().all(|m| m.calls.is_empty()));
        if let Some(talk) = talk {
            return self.answer_small_talk(talk, &open);
        }
        if let Some(answer) = self.agreed_handoff(&open) {
            return answer;
        }
        // What is known already needs nobody else.
        if self.since.is_empty()
            && is_question(self.said)
            && let Some(known) = self.recall(true)
        {
            return say(known);
        }
        // A request for another agent or a person takes precedence over what is missing.
        let leaving = self.best_tool(&open, |p| {
            matches!(p, Purpose::Handoff | Purpose::Delegate | Purpose::Escalate)
        });
        let acting = self.best_tool(&open, |p| p == Purpose::Call);
        let acting = acting.filter(|(tool, _)| !self.is_for_another(tool));
        let acting = acting.or_else(|| {
            let any = self.search_tool(&open).or_else(|| self.request_tool(&open));
            any.filter(|_| leaving.is_none())
        });
        // What was passed on or noted in this turn is not passed on again.
        let forward = |tool: &ToolSpec| {
            let first = name_words(&tool.name).into_iter().next();
            first.is_some_and(|w| FORWARD.contains(&w.text.as_str()))
        };
        // The next stage begins when what this one asks for is known.
        let asks = self.asks_list();
        let leaving = leaving.filter(|(tool, _)| !(asks && forward(tool)));
        let settled = self.passed_on || self.since.iter().any(|m| m.text == "noted");
        if let Some((tool, sure)) = leaving
            && sure >= MIN_LEAVE_CONFIDENCE
            && (!settled || tool.purpose == Purpose::Escalate)
            && acting.is_none_or(|(_, other)| sure > other)
            && let Some(arguments) = self.arguments(tool, true)
        {
            return self.call(tool, arguments);
        }
        if wants_person(self.said)
            && self.since.is_empty()
            && !self.passed_on
            && !self
                .steps
                .iter()
                .any(|step| matches!(&step.what, What::Tell(text) if !self.was_asked(text)))
            && !self.tools.iter().any(|t| t.purpose == Purpose::Escalate)
            && leaving.is_none()
            && acting.is_none()
        {
            return say(format!(
                "I'm sorry, I cannot put you through to a person here. {}",
                self.offer_of_help()
            ));
        }
        if let Some(answer) = self.report(&open) {
            return answer;
        }
        if let Some((tool, values)) = self.new_values(&open) {
            return self.call(tool, values);
        }
        let fact = self.fact();
        if fact.is_none()
            && acting.is_none()
            && let Some(tool) = self.is_elsewhere(&open)
        {
            return self.call(tool, Map::new());
        }
        if let Some(field) = self.missing.first() {
            let question = self.question(field);
            return match fact {
                Some(fact) => say(format!("{fact} {question}")),
                None => self.ask(question),
            };
        }
        if let Some(fact) = fact {
            return say(fact);
        }
        if let Some(answer) = self.complete(&open) {
            return answer;
        }
        self.resume(&open)
            .or_else(|| self.act(&open, acting))
            .or_else(|| self.follow_instructions(&open))
            .or_else(|| self.finish(&open, leaving.map(|(tool, _)| tool)))
            .unwrap_or_else(|| self.otherwise())
    }

    /// The tool that returns control, if the user wants something that this agent says nothing about.
    fn is_elsewhere(&self, open: &[&'r ToolSpec]) -> Option<&'r ToolSpec> {
        let back = open.iter().copied().find(|t| t.purpose == Purpose::Return)?;
        let begun = self.before.iter().any(|m| m.role == Role::Assistant);
        let fresh = self.since.iter().all(|m| m.role != Role::Tool);
        if !begun || !fresh || !is_wish(self.said) && !is_question(self.said) {
            return None;
        }
        // What answers the question that was asked is for this agent, whatever else is in it.
        if self.is_answer() && self.answers(open) {
            return None;
        }
        let own = self.instructions.iter().flat_map(|text| words(text));
        let tools = self.tools.iter().filter(|t| t.purpose != Purpose::Return);
        let tools = tools.flat_map(|t| [name_words(&t.name), words(&t.description)]).flatten();
        let own: Vec<Word> = own.chain(tools).filter(Word::is_content).collect();
        let said: Vec<Word> = words(self.said).into_iter().filter(Word::is_content).collect();
        let about = said.iter().filter(|w| own.iter().any(|own| similarity(own, w) > 0.7)).count();
        (!said.is_empty() && about * 2 < said.len()).then_some(back)
    }

    pub(super) fn call(&self, tool: &ToolSpec, arguments: Map<String, Json>) -> Answer {
        let id = format!("call_{}", self.offline.calls);
        let calls = vec![ToolUse { id, name: tool.name.clone(), arguments }];
        Answer::Message { text: String::new(), calls }
    }

    fn called_now(&self, tool: &ToolSpec) -> bool {
        self.since.iter().flat_map(|m| &m.calls).any(|call| call.name == tool.name)
    }

    pub(super) fn called_before(&self, tool: &ToolSpec) -> bool {
        self.messages.iter().flat_map(|m| &m.calls).any(|call| call.name == tool.name)
    }

    // ---- other agents -------------------------------------------------------------------------

    /// An agent that can only hand over does so: if there is no choice, whatever the message is; otherwise to the agent
    /// that fits best.
    fn hand_on(&self, open: &[&'r ToolSpec]) -> Option<Answer> {
        let routes =
            self.tools.iter().all(|t| !matches!(t.purpose, Purpose::Call | Purpose::Collect));
        let handoffs: Vec<&&ToolSpec> =
            open.iter().filter(|t| t.purpose == Purpose::Handoff).collect();
        if !routes || !self.missing.is_empty() || handoffs.is_empty() {
            return None;
        }
        // An agent with something to say for itself is more than a distributor.
        let speaks = self
            .steps
            .iter()
            .any(|step| matches!(step.what, What::Tell(_)) || self.question_of(step).is_some());
        let others = |t: &&ToolSpec| !matches!(t.purpose, Purpose::Return | Purpose::Escalate);
        let only = self.tools.iter().filter(others).count() == 1 && !wants_person(self.said);
        let tool = match handoffs.as_slice() {
            [only_one] if only && !speaks && !self.passed_on => *only_one,
            _ if small_talk(self.said).is_some() => return None,
            _ => &self
                .best_tool(open, |purpose| purpose == Purpose::Handoff)
                .map(|(tool, _)| tool)
                .or_else(|| self.for_the_rest(&handoffs))?,
        };
        // With questions of its own, an agent is more than a distributor.
        let asks = self.steps.iter().any(|step| {
            step.when == When::Always
                && matches!(&step.what, What::Ask { items, .. } if !items.is_empty())
        });
        if asks && handoffs.len() == 1 && small_talk(self.said).is_some() {
            return None;
        }
        Some(self.call(tool, self.arguments(tool, true)?))
    }

    // ---- small talk ---------------------------------------------------------------------------

    fn answer_small_talk(&self, talk: SmallTalk, open: &[&ToolSpec]) -> Answer {
        let next = || self.next_question();
        match talk {
            SmallTalk::Greeting => {
                let next = next().unwrap_or_else(|| "How can I help you today?".to_owned());
                say(if greets(&next) || next.to_lowercase().starts_with("welcome") {
                    next
                } else {
                    format!("Hello! {next}")
                })
            }
            SmallTalk::Thanks => {
                say("You're welcome! Is there anything else I can help you with?".to_owned())
            }
            SmallTalk::Goodbye => {
                // Another agent may have the last word.
                let last = |purpose| open.iter().find(move |t| t.purpose == purpose);
                let done = last(Purpose::Complete).or_else(|| last(Purpose::Return));
                match done.and_then(|tool| Some((tool, self.arguments(tool, false)?))) {
                    Some((tool, arguments)) => self.call(tool, arguments),
                    None => say("Goodbye, and thank you for getting in touch!".to_owned()),
                }
            }
            SmallTalk::Abilities => {
                let offer = self.offer_of_help();
                let open = offer.starts_with("Could you tell me a little");
                say(if open { format!("I'm happy to help. {offer}") } else { offer })
            }
            SmallTalk::Dropped => {
                say("All right. Is there anything else I can help you with?".to_owned())
            }
            SmallTalk::Remark => say(format!(
                "Thank you for telling me. {}",
                next().unwrap_or_else(|| "What can I do for you today?".to_owned())
            )),
        }
    }

    // ---- values -------------------------------------------------------------------------------

    /// The parameters that a call needs: those that are required, or all if none is declared to be.
    pub(super) fn needed(tool: &ToolSpec) -> impl Iterator<Item = &FieldSpec> {
        let declared = tool.parameters.iter().any(|p| p.required) || !tool.passes.is_empty();
        tool.parameters.iter().filter(move |p| p.required || !declared)
    }

    /// Whether the message answers a question of the agent.
    pub(super) fn is_answer(&self) -> bool {
        // Another agent asked.
        if self.passed_on {
            return false;
        }
        let last =
            self.before.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty());
        last.is_some_and(|last| {
            requests(&last.text)
                && !["help", "would you like to do", "need?"].iter().any(|w| last.text.contains(w))
        })
    }

    /// A value that a tool returned under the name of a parameter.
    fn returned(&self, name: &str) -> Option<Json> {
        results(self.messages)
            .find_map(|result| result.get(name).filter(|v| !is_blank(v) && !v.is_object()).cloned())
    }

    /// The value of a parameter for what the user refers to by a name in the last results: the identifier of "the Harbour
    /// Inn".
    fn referred_to(&self, parameter: &FieldSpec) -> Option<Json> {
        if kind_of(parameter) != TextKind::Identifier {
            return None;
        }
        results(self.messages)
            .take(6)
            .find_map(|result| referred_to(&result, &parameter.name, self.said))
    }

    /// A value that is known under a longer name than that of a parameter: the `refund_reason` for `reason`.
    fn known_as(&self, parameter: &FieldSpec) -> Option<&'r Json> {
        let own = name_words(&parameter.name);
        let longer = |name: &str| {
            let name = name_words(name);
            let (last, first) = (name.last(), name.len() == own.len() + 1);
            first
                && last.map(|w| &w.stem) == own.last().map(|w| &w.stem)
                && own.iter().all(|own| name.iter().any(|w| w.stem == own.stem))
        };
        let number = matches!(parameter.ty, FieldType::Number | FieldType::Currency);
        if kind_of(parameter) != TextKind::Request && !number {
            return None;
        }
        let fits = |value: &Json| if number { value.is_number() } else { value.is_string() };
        let mut all = self.known.iter().filter(|(name, v)| fits(v) && !is_blank(v) && longer(name));
        let (_, value) = all.next()?;
        all.next().is_none().then_some(value)
    }

    pub(super) fn is_known(&self, field: &FieldSpec) -> bool {
        self.known.get(&field.name).is_some_and(|value| !is_blank(value))
    }

    /// The tool that notes values, with new values from the last message.
    pub(super) fn new_values(
        &self,
        open: &[&'r ToolSpec],
    ) -> Option<(&'r ToolSpec, Map<String, Json>)> {
        // The tool whose value was asked for comes first.
        let asked = |tool: &ToolSpec| self.asked_parameter(tool, self.before).is_some();
        let collect =
            open.iter().filter(|t| t.purpose == Purpose::Collect && !t.parameters.is_empty());
        let mut all: Vec<&'r ToolSpec> = collect.copied().collect();
        all.sort_by_key(|tool| !asked(tool));
        let answered = all.iter().any(|tool| asked(tool));
        all.into_iter().find_map(|tool| {
            let parameter = self.asked_parameter(tool, self.before);
            // An answer to a question is for the tool whose value was asked for.
            if answered && parameter.is_none() && yes_or_no(self.said).is_some() {
                return None;
            }
            // What was noted already is not also what the user wants.
            let noted = self.since.iter().any(|m| !m.calls.is_empty());
            let reach =
                if parameter.is_some() || answered || noted { Reach::Wish } else { Reach::Request };
            let correction = corrected(self.offline, self.said, &tool.parameters, self.known);
            let mut values = extract_corrected(
                self.offline,
                self.said,
                &tool.parameters,
                correction.as_ref(),
                parameter.map(|p| p.name.as_str()),
                reach,
            );
            let replaces = |name: &String| {
                let own = tool.parameters.iter().find(|p| p.name == *name);
                correction.as_ref().is_some_and(|one| one.field == name)
                    || parameter.is_some_and(|p| p.name == *name)
                    || self.known.get(name).is_none_or(is_blank)
                    || own.is_none_or(|p| may_replace(self.said, p))
            };
            values.retain(|name, _| replaces(name));
            if values.is_empty() {
                values.extend(self.replaced_text(tool).unwrap_or_default());
            }
            values.retain(|name, value| self.known.get(name) != Some(value));
            (!values.is_empty()).then_some((tool, values))
        })
    }

    /// The parameter that the last message of the agent, in some messages, asks for.
    pub(super) fn asked_parameter<'t>(
        &self,
        tool: &'t ToolSpec,
        messages: &[Message],
    ) -> Option<&'t FieldSpec> {
        let last =
            messages.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty())?;
        let own = tool.parameters.iter().chain(&tool.awaits);
        own.into_iter().find(|p| last.text.contains(&self.question(p)))
    }

    /// The arguments of a tool: values of the last message, known values, values from earlier in the conversation. `None`
    /// if a required one is missing. `wanted` if the message is why the tool is called.
    pub(super) fn arguments(&self, tool: &ToolSpec, wanted: bool) -> Option<Map<String, Json>> {
        if self.awaited(tool).next().is_some() {
            return None;
        }
        let heard = self.heard(tool, wanted);
        let mut arguments = Map::new();
        for parameter in &tool.parameters {
            let known = self.known.get(&parameter.name).filter(|value| !is_blank(value));
            let value = heard.get(&parameter.name).or(known).cloned();
            if let Some(value) = value.or_else(|| self.returned(&parameter.name)) {
                arguments.insert(parameter.name.clone(), value);
            } else if Self::needed(tool).any(|needed| needed.name == parameter.name)
                && !self.is_spared(parameter)
            {
                return None;
            }
        }
        Some(arguments)
    }

    /// The variables that a tool needs and that have no value. A zero is only none if the user may give another number.
    pub(super) fn awaited<'t>(&self, tool: &'t ToolSpec) -> impl Iterator<Item = &'t FieldSpec> {
        tool.awaits.iter().filter(|field| {
            let zero = self.known.get(&field.name).is_some_and(Json::is_number);
            !self.is_known(field) && (!zero || self.is_stored(&field.name))
        })
    }

    /// Whether a tool of the agent notes the value of a variable.
    pub(super) fn is_stored(&self, name: &str) -> bool {
        let mut notes = self.tools.iter().filter(|t| t.purpose == Purpose::Collect);
        notes.any(|tool| tool.parameters.iter().any(|p| p.name == name))
    }

    /// The first argument that a tool needs and nobody has given.
    pub(super) fn lacking<'t>(&self, tool: &'t ToolSpec, wanted: bool) -> Option<&'t FieldSpec> {
        let heard = self.heard(tool, wanted);
        let own = Self::needed(tool).find(|p| {
            !self.is_known(p)
                && !heard.contains_key(&p.name)
                && self.returned(&p.name).is_none()
                && !self.is_spared(p)
        });
        // What is to be stored first is asked for, unless that was in vain.
        own.or_else(|| {
            self.awaited(tool)
                .find(|p| self.is_stored(&p.name) && !self.was_answered(&self.question(p)))
        })
    }

    /// The values for a tool that the user has given since it was last called; later ones replace earlier ones.
    pub(super) fn heard(&self, tool: &ToolSpec, wanted: bool) -> Map<String, Json> {
        let key = (tool.name.clone(), wanted);
        if let Some(known) = self.found.heard.borrow().get(&key) {
            return known.clone();
        }
        let mut heard = self.listen(tool, wanted);
        for parameter in tool.parameters.iter().filter(|p| !self.is_known(p)) {
            if let Some(value) = self.referred_to(parameter) {
                heard.insert(parameter.name.clone(), value);
            } else if let Some(value) = self.known_as(parameter) {
                heard.insert(parameter.name.clone(), value.clone());
            }
        }
        self.found.heard.borrow_mut().insert(key, heard.clone());
        heard
    }

    fn listen(&self, tool: &ToolSpec, wanted: bool) -> Map<String, Json> {
        let unknown: Vec<&FieldSpec> =
            tool.parameters.iter().filter(|p| !self.is_known(p)).collect();
        let noted = |name: &str| {
            self.since.iter().flat_map(|m| &m.calls).any(|c| c.arguments.contains_key(name))
        };
        // What belongs to another field is not for this one.
        let mut fields: Vec<FieldSpec> = tool.parameters.clone();
        for other in self.tools.iter().filter(|t| t.purpose == Purpose::Collect) {
            for field in other.parameters.iter().filter(|p| !self.is_known(p) || noted(&p.name)) {
                if fields.len() < MAX_FIELDS && !fields.iter().any(|own| own.name == field.name) {
                    fields.push(field.clone());
                }
            }
        }
        let mut values = Map::new();
        if unknown.is_empty() {
            return values;
        }
        let from = self
            .messages
            .iter()
            .rposition(|m| m.calls.iter().any(|call| call.name == tool.name))
            .map_or(0, |at| at + 1);
        let said: Vec<usize> = (from..self.messages.len())
            .filter(|at| self.messages.get(*at).is_some_and(|m| m.role == Role::User))
            .collect();
        let skip = said.len().saturating_sub(MAX_HEARD);
        let last = said.last().copied();
        for at in said.into_iter().skip(skip) {
            let Some(message) = self.messages.get(at) else { continue };
            if small_talk(&message.text).is_some() {
                continue;
            }
            let before = self.messages.get(from..at).unwrap_or_default();
            let asked = self.asked_parameter(tool, before).map(|p| p.name.as_str());
            let why = asked.is_none() && (wanted && Some(at) == last || self.led_to(tool, at));
            let mut new = extract(self.offline, &message.text, &fields, asked, Reach::Wish);
            // What is needed is also taken if it is not named, unless it is the value of something that is.
            if why {
                let needed: Vec<FieldSpec> = Self::needed(tool)
                    .filter(|p| !new.contains_key(&p.name) && !self.is_known(p))
                    .cloned()
                    .collect();
                let any = extract(self.offline, &message.text, &needed, None, Reach::Any);
                let other = any.into_iter().filter(|(_, value)| !new.values().any(|v| v == value));
                let other: Map<String, Json> = other.collect();
                new.extend(other);
                // "Sports news" for the category of a tool that fetches news.
                let nouns = [name_words(&tool.name), words(&tool.description)].concat();
                for field in Self::needed(tool).filter(|p| p.ty == FieldType::Text) {
                    let (said, name) = (words(&message.text), name_words(&field.name));
                    if let Some(at) = qualified_by(&message.text, &said, &name, &nouns)
                        && let Some(text) = message.text.get(at)
                        && new.get(&field.name).is_none_or(|found| {
                            found.as_str().is_some_and(|found| found.starts_with(text))
                        })
                    {
                        new.insert(field.name.clone(), text.into());
                    }
                }
            }
            new.retain(|name, _| unknown.iter().any(|own| own.name == *name));
            // What gave the values of another call says no more.
            if asked.is_none() && self.led_to_other(tool, at) {
                let request = |name: &String| {
                    let own = tool.parameters.iter().find(|p| p.name == *name);
                    own.is_some_and(|p| kind_of(p) == TextKind::Request)
                };
                new.retain(|name, _| !request(name));
            }
            // "Find books" names what the tool does, not which books.
            let others: Vec<String> =
                new.values().filter_map(|v| v.as_str().map(str::to_owned)).collect();
            new.retain(|_, value| {
                let Some(text) = value.as_str().filter(|_| why) else { return true };
                let rest = others.iter().filter(|other| *other != text);
                let rest =
                    rest.fold(text.to_owned(), |rest, other| rest.replace(other.as_str(), " "));
                // Beside the values, a request for the tool says little.
                let beside = rest.len() < text.len() && self.other_words(tool, &rest) <= 2;
                !beside && !self.only_names(tool, &rest)
            });
            values.extend(new);
        }
        values
    }

    /// Whether a text consists of words about a tool.
    fn only_names(&self, tool: &ToolSpec, text: &str) -> bool {
        self.other_words(tool, text) == 0
    }

    /// The number of words of a text that are not about a tool.
    fn other_words(&self, tool: &ToolSpec, text: &str) -> usize {
        let mut own = name_words(&tool.name);
        own.extend(words(&tool.description));
        let vague = |w: &Word| matches!(w.text.as_str(), "now" | "new" | "again" | "today");
        let said = words(text);
        said.iter()
            .filter(|w| w.is_content() && !vague(w))
            .filter(|w| !own.iter().any(|own| own.stem == w.stem))
            .count()
    }

    /// Whether a message of the user made the agent ask for a parameter of a tool.
    fn led_to(&self, tool: &ToolSpec, at: usize) -> bool {
        let next = self.messages.get(at + 1..).unwrap_or_default();
        let reply = next.iter().find(|m| m.role == Role::Assistant && !m.text.is_empty());
        reply
            .is_some_and(|reply| Self::needed(tool).any(|p| reply.text.contains(&self.question(p))))
    }

    // ---- tools --------------------------------------------------------------------------------

    /// The tool of given purposes that matches the message best.
    pub(super) fn best_tool(
        &self,
        open: &[&'r ToolSpec],
        purpose: impl Fn(Purpose) -> bool,
    ) -> Option<(&'r ToolSpec, f64)> {
        // All tools are compared, so that words that all of them share have little weight.
        let all: Vec<Candidate> = self.tools.iter().map(candidate).collect();
        choose(self.said, &all, true).into_iter().find_map(|(name, sure)| {
            let tool = open.iter().find(|tool| tool.name == name && purpose(tool.purpose))?;
            Some((*tool, sure))
        })
    }

    /// Calls the tool that the user wants, or asks for what it needs.
    fn act(&self, open: &[&'r ToolSpec], acting: Option<(&'r ToolSpec, f64)>) -> Option<Answer> {
        let pending = self.pending_tool(open);
        let wanted = acting.map(|(tool, sure)| (tool, sure >= MIN_LEAVE_CONFIDENCE));
        let tool = match (pending, wanted) {
            // The instructions demand something else before.
            (None, Some((tool, _))) if self.asks_before(tool) => return None,
            (Some(tool), _)
                if self.asks_before(tool)
                    && (self.arguments(tool, true).is_none()
                        || self.open_consent(tool).is_some()) =>
            {
                return None;
            }
            // Another wish than the answer to the question.
            (Some(_), Some((tool, true))) | (None, Some((tool, _))) => tool,
            (Some(tool), _) => tool,
            (None, None) => {
                // All that a tool needs is known.
                let ready = open.iter().find(|tool| {
                    let mut required = Self::needed(tool).peekable();
                    tool.purpose == Purpose::Call
                        && required.peek().is_some()
                        && required.all(|p| self.is_known(p))
                        && !self.called_before(tool)
                        && !self.waits(tool)
                })?;
                return Some(self.call(ready, self.arguments(ready, false)?));
            }
        };
        // What is allowed only in some cases, or by agreement.
        if self.is_held_back(tool, true) || self.open_consent(tool).is_some() {
            return if self.asks_before(tool) { None } else { self.ask_consent(tool) };
        }
        if let Some(first) = self.call_before(tool, open) {
            return Some(first);
        }
        // An answer to a question does not ask for what has been done already.
        if self.is_answer() && !is_wish(self.said) && !is_question(self.said) {
            let calls = self.messages.iter().rev().flat_map(|m| &m.calls);
            let last = calls.into_iter().find(|call| call.name == tool.name);
            let same = last.is_some_and(|last| {
                !last.arguments.is_empty()
                    && self.arguments(tool, true).as_ref() == Some(&last.arguments)
            });
            if same {
                return None;
            }
        }
        match self.arguments(tool, true) {
            Some(arguments) => Some(self.call(tool, arguments)),
            // What the instructions ask for comes before what only a variable holds.
            None if self.asks_list() && self.lacking_own(tool).is_none() => None,
            None => match self.lacking(tool, true) {
                Some(lacking) => Some(self.ask(self.question(lacking))),
                None => self
                    .regret(tool)
                    .filter(|_| acting.is_some_and(|(_, sure)| sure >= MIN_LEAVE_CONFIDENCE)),
            },
        }
    }

    /// Whether the instructions list what is to be asked for, and something of it is open.
    fn asks_list(&self) -> bool {
        self.steps.iter().any(|step| {
            let listed = matches!(&step.what, What::Ask { items, .. } if items.len() > 1);
            step.when == When::Always && listed && self.question_of(step).is_some()
        })
    }

    /// The first argument of a tool that the model is to give and that nobody has given.
    fn lacking_own<'t>(&self, tool: &'t ToolSpec) -> Option<&'t FieldSpec> {
        let heard = self.heard(tool, true);
        Self::needed(tool).find(|p| {
            !self.is_known(p)
                && !heard.contains_key(&p.name)
                && self.returned(&p.name).is_none()
                && !self.is_spared(p)
        })
    }
}
