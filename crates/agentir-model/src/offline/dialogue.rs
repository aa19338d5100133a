//! A heuristic dialogue policy. In this order: small talk; what the user asks for (another agent, a tool); what a tool
//! answered; values for variables; what is missing; what the instructions demand next; and else an offer of help. It asks
//! for one thing at a time, calls no tool without its required arguments, and shows nothing that is not meant for users.

use super::choose::choose;
use super::extract::{Reach, extract};
use super::instructions::{Step, What, When, facts, steps};
use super::phrases::{SmallTalk, ability, greets, question_to_user, requests, small_talk};
use super::questions::{overlap, request_for, without_transitions};
use super::results::{describe_result, is_failure};
use super::words::{Word, is_question, name_words, similarity, words, yes_or_no};
use super::{Offline, is_blank};
use agentir_runtime::{
    Answer, Candidate, FieldSpec, Message, ModelTask, Purpose, Role, ToolSpec, ToolUse,
};
use serde_json::{Map, Value as Json};

/// The confidence required to hand over, escalate or complete.
const MIN_LEAVE_CONFIDENCE: f64 = 0.55;

/// The number of messages of the user that values are looked for in.
const MAX_HEARD: usize = 24;

/// The number of abilities that are listed.
const MAX_ABILITIES: usize = 4;

/// What is said before an offer of help if the message means nothing to the agent.
const NOT_UNDERSTOOD: &str = "I'm afraid I did not quite get that.";

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
    let messages = &without_transitions(messages, tools);
    let user = messages.iter().rposition(|m| m.role == Role::User);
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
    };
    turn.answer(closing.is_some())
}

fn say(text: String) -> Answer {
    Answer::Message { text, calls: Vec::new() }
}

/// The state of the conversation.
struct Turn<'r> {
    offline: &'r Offline,
    steps: Vec<Step>,
    instructions: &'r [String],
    messages: &'r [Message],
    /// The user's last message.
    said: &'r str,
    /// The messages after it, and those before it.
    since: &'r [Message],
    before: &'r [Message],
    tools: &'r [ToolSpec],
    missing: &'r [FieldSpec],
    optional: &'r [FieldSpec],
    known: &'r Map<String, Json>,
    agents: &'r [Candidate],
}

impl<'r> Turn<'r> {
    fn answer(&self, closes: bool) -> Answer {
        // What follows says everything.
        if closes {
            return say(String::new());
        }
        let open: Vec<&ToolSpec> = self.tools.iter().filter(|t| !self.called_now(t)).collect();
        if let Some(answer) = self.hand_on(&open) {
            return answer;
        }
        let talk = small_talk(self.said).filter(|_| self.since.iter().all(|m| m.calls.is_empty()));
        if let Some(talk) = talk {
            return self.answer_small_talk(talk, &open);
        }
        // A request for another agent or a person takes precedence over what is missing.
        let leaving = self.best_tool(&open, |p| {
            !matches!(p, Purpose::Call | Purpose::Collect | Purpose::Complete)
        });
        let acting = self.best_tool(&open, |p| p == Purpose::Call);
        if let Some((tool, sure)) = leaving
            && sure >= MIN_LEAVE_CONFIDENCE
            && acting.is_none_or(|(_, other)| sure > other)
            && let Some(arguments) = self.arguments(tool, true)
        {
            return self.call(tool, arguments);
        }
        if let Some(answer) = self.report(&open) {
            return answer;
        }
        if let Some((tool, values)) = self.new_values(&open) {
            return self.call(tool, values);
        }
        let fact = self.fact();
        if let Some(field) = self.missing.first() {
            let question = self.question(field);
            return match fact {
                Some(fact) => say(format!("{fact} {question}")),
                None => self.ask(question),
            };
        }
        if let Some(fact) =
            fact.filter(|_| acting.is_none_or(|(_, sure)| sure < MIN_LEAVE_CONFIDENCE))
        {
            return say(fact);
        }
        self.act(&open, acting)
            .or_else(|| self.follow_instructions(&open))
            .or_else(|| self.finish(&open, leaving.map(|(tool, _)| tool)))
            .unwrap_or_else(|| say(format!("{NOT_UNDERSTOOD} {}", self.offer_of_help())))
    }

    fn call(&self, tool: &ToolSpec, arguments: Map<String, Json>) -> Answer {
        let id = format!("call_{}", self.offline.calls);
        let calls = vec![ToolUse { id, name: tool.name.clone(), arguments }];
        Answer::Message { text: String::new(), calls }
    }

    fn called_now(&self, tool: &ToolSpec) -> bool {
        self.since.iter().flat_map(|m| &m.calls).any(|call| call.name == tool.name)
    }

    fn called_before(&self, tool: &ToolSpec) -> bool {
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
        let tool = match handoffs.as_slice() {
            [only] if self.tools.iter().filter(|t| t.purpose == Purpose::Handoff).count() == 1 => {
                **only
            }
            _ if small_talk(self.said).is_some() => return None,
            _ => self.best_tool(open, |purpose| purpose == Purpose::Handoff)?.0,
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
                let done = open.iter().find(|t| t.purpose == Purpose::Complete);
                match done.and_then(|tool| Some((tool, self.arguments(tool, false)?))) {
                    Some((tool, arguments)) => self.call(tool, arguments),
                    None => say("Goodbye, and thank you for getting in touch!".to_owned()),
                }
            }
            SmallTalk::Abilities => say(self.offer_of_help()),
            SmallTalk::Remark => say(format!(
                "Thank you for telling me. {}",
                next().unwrap_or_else(|| "What can I do for you today?".to_owned())
            )),
        }
    }

    /// The answer to a question of the user that the instructions state as a fact.
    fn fact(&self) -> Option<String> {
        if !is_question(self.said) || self.since.iter().any(|m| !m.calls.is_empty()) {
            return None;
        }
        let asked: Vec<Word> = words(self.said).into_iter().filter(Word::is_content).collect();
        let score = |fact: &String| {
            let told = words(fact);
            asked.iter().filter(|own| told.iter().any(|w| similarity(own, w) > 0.7)).count()
        };
        let scored = facts(self.instructions, self.tools).map(|fact| (score(&fact), fact));
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.filter(|(score, _)| *score > 0 && score * 2 >= asked.len()).map(|(_, fact)| fact)
    }

    // ---- results ------------------------------------------------------------------------------

    /// Tells the user what a tool answered, and asks the next question.
    fn report(&self, open: &[&ToolSpec]) -> Option<Answer> {
        let at = self.since.iter().rposition(|m| m.role == Role::Tool)?;
        let result = self.since.get(at)?;
        let made = self.since.iter().flat_map(|m| &m.calls);
        let made = made.into_iter().find(|call| Some(&call.id) == result.tool_use_id.as_ref());
        let purpose = made.and_then(|call| self.tools.iter().find(|t| t.name == call.name));
        // Notes of values are not results.
        if purpose.is_some_and(|tool| tool.purpose == Purpose::Collect) || result.text == "noted" {
            return None;
        }
        if is_failure(&result.text) {
            return Some(say(
                "I'm sorry, that did not work just now. Please try again later, or tell me what else I can do for you."
                    .to_owned(),
            ));
        }
        // A tool that needs the result may be next.
        if let Some(answer) = self.next_call(open, made.map(|call| call.name.as_str())) {
            return Some(answer);
        }
        let text = describe_result(&result.text);
        let next =
            self.missing.first().map(|field| self.question(field)).or_else(|| self.next_question());
        Some(say(match next {
            Some(next) if !self.was_asked(&next) => format!("{text} {next}"),
            _ => text,
        }))
    }

    /// The tool that instructions name right after another, if it has all its arguments and none is up to the user.
    fn next_call(&self, open: &[&ToolSpec], after: Option<&str>) -> Option<Answer> {
        let after = after?;
        let at =
            self.steps.iter().position(|s| matches!(&s.what, What::Call(name) if name == after))?;
        let next = self.steps.get(at + 1)?;
        let What::Call(name) = &next.what else { return None };
        if !matches!(next.when, When::Always | When::Done) {
            return None;
        }
        let tool = open.iter().find(|t| t.name == *name && t.purpose == Purpose::Call)?;
        if self.called_before(tool) {
            return None;
        }
        Some(self.call(tool, self.arguments(tool, false)?))
    }

    // ---- values -------------------------------------------------------------------------------

    /// The parameters that a call needs: those that are required, or all if none is declared to be.
    fn needed(tool: &ToolSpec) -> impl Iterator<Item = &FieldSpec> {
        let declared = tool.parameters.iter().any(|p| p.required);
        tool.parameters.iter().filter(move |p| p.required || !declared)
    }

    /// Whether the message answers a question of the agent.
    fn is_answer(&self) -> bool {
        let last =
            self.before.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty());
        last.is_some_and(|last| {
            requests(&last.text)
                && !["help", "would you like to do", "need?"].iter().any(|w| last.text.contains(w))
        })
    }

    /// A value that a tool returned under the name of a parameter.
    fn returned(&self, name: &str) -> Option<Json> {
        let results = self.messages.iter().rev().filter(|m| m.role == Role::Tool);
        results
            .filter_map(|m| serde_json::from_str::<Json>(&m.text).ok())
            .find_map(|result| result.get(name).filter(|v| !is_blank(v) && !v.is_object()).cloned())
    }

    fn is_known(&self, field: &FieldSpec) -> bool {
        self.known.get(&field.name).is_some_and(|value| !is_blank(value))
    }

    /// The tool that notes values, with new values from the last message.
    fn new_values(&self, open: &[&'r ToolSpec]) -> Option<(&'r ToolSpec, Map<String, Json>)> {
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
            let reach = if parameter.is_some() || answered || noted {
                Reach::Named
            } else {
                Reach::Request
            };
            let mut values = extract(
                self.offline,
                self.said,
                &tool.parameters,
                parameter.map(|p| p.name.as_str()),
                reach,
            );
            values.retain(|name, value| self.known.get(name) != Some(value));
            (!values.is_empty()).then_some((tool, values))
        })
    }

    /// The parameter that the last message of the agent, in some messages, asks for.
    fn asked_parameter<'t>(
        &self,
        tool: &'t ToolSpec,
        messages: &[Message],
    ) -> Option<&'t FieldSpec> {
        let last =
            messages.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty())?;
        tool.parameters.iter().find(|p| last.text.contains(&self.question(p)))
    }

    /// The arguments of a tool: values of the last message, known values, values from earlier in the conversation. `None`
    /// if a required one is missing. `wanted` if the message is why the tool is called.
    fn arguments(&self, tool: &ToolSpec, wanted: bool) -> Option<Map<String, Json>> {
        let heard = self.heard(tool, wanted);
        let mut arguments = Map::new();
        for parameter in &tool.parameters {
            let known = self.known.get(&parameter.name).filter(|value| !is_blank(value));
            let value = heard.get(&parameter.name).or(known).cloned();
            if let Some(value) = value.or_else(|| self.returned(&parameter.name)) {
                arguments.insert(parameter.name.clone(), value);
            } else if Self::needed(tool).any(|needed| needed.name == parameter.name) {
                return None;
            }
        }
        Some(arguments)
    }

    /// The first argument that a tool needs and nobody has given.
    fn lacking<'t>(&self, tool: &'t ToolSpec, wanted: bool) -> Option<&'t FieldSpec> {
        let heard = self.heard(tool, wanted);
        Self::needed(tool).find(|p| {
            !self.is_known(p) && !heard.contains_key(&p.name) && self.returned(&p.name).is_none()
        })
    }

    /// The values for a tool that the user has given since it was last called; later ones replace earlier ones.
    fn heard(&self, tool: &ToolSpec, wanted: bool) -> Map<String, Json> {
        let unknown: Vec<FieldSpec> =
            tool.parameters.iter().filter(|p| !self.is_known(p)).cloned().collect();
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
            let reach = if why { Reach::Any } else { Reach::Named };
            let mut new = extract(self.offline, &message.text, &unknown, asked, reach);
            // "Find books" names what the tool does, not which books.
            new.retain(|_, value| {
                !why || value.as_str().is_none_or(|text| !self.only_names(tool, text))
            });
            values.extend(new);
        }
        values
    }

    /// Whether a text consists of words about a tool.
    fn only_names(&self, tool: &ToolSpec, text: &str) -> bool {
        let mut own = name_words(&tool.name);
        own.extend(words(&tool.description));
        let said = words(text);
        said.iter().filter(|w| w.is_content()).all(|w| own.iter().any(|own| own.stem == w.stem))
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
    fn best_tool(
        &self,
        open: &[&'r ToolSpec],
        purpose: impl Fn(Purpose) -> bool,
    ) -> Option<(&'r ToolSpec, f64)> {
        // All tools are compared, so that words that all of them share have little weight.
        let all: Vec<Candidate> = self
            .tools
            .iter()
            .map(|tool| Candidate {
                name: tool.name.clone(),
                description: tool.description.clone(),
                examples: Vec::new(),
                keywords: Vec::new(),
            })
            .collect();
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
            (None, Some((tool, _))) if self.waits(tool) => return None,
            (Some(tool), _) if self.waits(tool) && self.arguments(tool, true).is_none() => {
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
        match self.arguments(tool, true) {
            Some(arguments) => Some(self.call(tool, arguments)),
            None => {
                let lacking = self.lacking(tool, true)?;
                Some(self.ask(self.question(lacking)))
            }
        }
    }

    /// The tool whose argument the agent has just asked for.
    fn pending_tool(&self, open: &[&'r ToolSpec]) -> Option<&'r ToolSpec> {
        let asked = open.iter().copied().filter(|tool| {
            tool.purpose == Purpose::Call && self.asked_parameter(tool, self.before).is_some()
        });
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
        let candidates: Vec<Candidate> = all
            .iter()
            .map(|tool| Candidate {
                name: tool.name.clone(),
                description: tool.description.clone(),
                examples: Vec::new(),
                keywords: Vec::new(),
            })
            .collect();
        let wanted =
            before.iter().find_map(|said| choose(said, &candidates, false).into_iter().next());
        wanted
            .and_then(|(name, _)| all.iter().copied().find(|t| t.name == name))
            .or(all.first().copied())
    }

    /// Whether the instructions demand something else before a tool.
    fn waits(&self, tool: &ToolSpec) -> bool {
        let at = self
            .steps
            .iter()
            .position(|s| matches!(&s.what, What::Call(name) if *name == tool.name));
        at.is_some_and(|at| self.steps.iter().take(at).any(|step| self.question_of(step).is_some()))
    }

    // ---- instructions -------------------------------------------------------------------------

    /// Does what the instructions demand next.
    fn follow_instructions(&self, open: &[&'r ToolSpec]) -> Option<Answer> {
        for step in &self.steps {
            if let Some(question) = self.question_of(step) {
                return Some(self.ask(question));
            }
            let What::Call(name) = &step.what else { continue };
            let applies = match &step.when {
                When::Always | When::Done => true,
                When::Wants(what) => self.user_wants(what),
                When::Missing(_) | When::Unknown => false,
            };
            let Some(tool) = open.iter().find(|t| t.name == *name && t.purpose == Purpose::Call)
            else {
                continue;
            };
            if !applies || self.called_before(tool) {
                continue;
            }
            let wanted = matches!(step.when, When::Wants(_)) || !self.is_answer();
            if let Some(arguments) = self.arguments(tool, wanted) {
                return Some(self.call(tool, arguments));
            }
            if let Some(parameter) = self.lacking(tool, wanted) {
                return Some(self.ask(self.question(parameter)));
            }
        }
        // Without instructions to ask, the fields say what there is to ask.
        let asks = self.steps.iter().any(|step| matches!(step.what, What::Ask { .. }));
        let field = self.optional.first().filter(|_| !asks && self.awaits_fields())?;
        Some(self.ask(self.question(field)))
    }

    /// Whether the agent is only there to fill its fields.
    fn awaits_fields(&self) -> bool {
        self.tools.iter().any(|tool| tool.purpose == Purpose::Complete)
            || self.optional.iter().all(|field| field.prompt.is_some())
    }

    /// The next question, without regard to what the user has just said.
    fn next_question(&self) -> Option<String> {
        if let Some(field) = self.missing.first() {
            return Some(self.question(field));
        }
        let by_steps = self.steps.iter().find_map(|step| self.question_of(step));
        by_steps.or_else(|| {
            let asks = self.steps.iter().any(|step| matches!(step.what, What::Ask { .. }));
            let field = self.optional.first().filter(|_| !asks && self.awaits_fields())?;
            Some(self.question(field))
        })
    }

    /// The question that a step demands now: for the first thing that is not known yet.
    fn question_of(&self, step: &Step) -> Option<String> {
        let What::Ask { question, items } = &step.what else { return None };
        let applies = match &step.when {
            When::Always | When::Done => true,
            When::Missing(what) => self.is_missing(what),
            When::Wants(what) => self.user_wants(what),
            When::Unknown => false,
        };
        if !applies {
            return None;
        }
        let matched: Vec<&FieldSpec> =
            items.iter().filter_map(|item| self.field_for(item)).collect();
        if matched.is_empty() {
            let told = !items.is_empty() && items.iter().all(|item| self.is_told(item));
            return (!told && !self.was_asked(question)).then(|| question.clone());
        }
        let open =
            matched.into_iter().find(|field| !self.is_known(field) && !self.was_heard(field))?;
        Some(self.question(open))
    }

    /// The values that can be filled: of the agent, of its tools.
    fn all_fields(&self) -> impl Iterator<Item = &'r FieldSpec> {
        let own = self.missing.iter().chain(self.optional);
        let of_tools = |purpose| {
            self.tools.iter().filter(move |t| t.purpose == purpose).flat_map(|t| &t.parameters)
        };
        own.chain(of_tools(Purpose::Collect)).chain(of_tools(Purpose::Call))
    }

    /// The field that a phrase of the instructions is about, whether it has a value or not.
    fn field_for(&self, item: &str) -> Option<&'r FieldSpec> {
        let about = words(item);
        self.all_fields()
            .map(|field| (field, overlap(field, &about)))
            .filter(|(_, score)| *score > 0.0)
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map(|(field, _)| field)
    }

    /// Whether a phrase of the instructions is about a value that is known.
    fn is_told(&self, item: &str) -> bool {
        let about = words(item);
        self.known.iter().filter(|(_, value)| !is_blank(value)).any(|(name, _)| {
            let own = name_words(name);
            let mut own = own.iter().filter(|w| w.is_content());
            own.any(|own| about.iter().any(|w| w.stem == own.stem))
        })
    }

    /// Whether a value for a tool has been given, though the tool has not been called yet.
    fn was_heard(&self, field: &FieldSpec) -> bool {
        let tool = self.tools.iter().find(|t| t.parameters.iter().any(|p| p.name == field.name));
        let called = tool.is_some_and(|t| self.called_before(t));
        called || tool.is_some_and(|tool| self.heard(tool, false).contains_key(&field.name))
    }

    /// Whether what a condition names has no value: a field by its name, or in other words.
    fn is_missing(&self, condition: &str) -> bool {
        let named = self.all_fields().find(|field| condition.contains(&field.name.to_lowercase()));
        match named.or_else(|| self.field_for(condition)) {
            Some(field) => !self.is_known(field) && !self.was_heard(field),
            None => true,
        }
    }

    /// Whether the user has said what a condition is about.
    fn user_wants(&self, condition: &str) -> bool {
        let about: Vec<Word> = words(condition)
            .into_iter()
            .filter(|w| w.is_content() && !super::phrases::USERS.contains(&w.text.as_str()))
            .filter(|w| {
                !matches!(
                    w.text.as_str(),
                    "asks" | "ask" | "wants" | "request" | "requests" | "help"
                )
            })
            .collect();
        let mut said = self.messages.iter().rev().filter(|m| m.role == Role::User).take(4);
        said.any(|message| {
            let heard = words(&message.text);
            about.iter().any(|own| heard.iter().any(|w| w.is_content() && similarity(own, w) > 0.7))
        })
    }

    // ---- questions ----------------------------------------------------------------------------

    /// Whether the agent has asked a question.
    fn was_asked(&self, question: &str) -> bool {
        self.messages.iter().any(|m| m.role == Role::Assistant && m.text.contains(question))
    }

    /// Asks a question; in other words if it was just asked in vain.
    fn ask(&self, question: String) -> Answer {
        let last =
            self.before.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty());
        let again = last.is_some_and(|last| last.text.trim().ends_with(question.trim()))
            && !self.since.iter().any(|m| m.role == Role::Tool);
        say(if !again {
            question
        } else if last.is_some_and(|last| last.text.starts_with("I'm sorry, I did not get that.")) {
            format!("I still need this to go on. {question}")
        } else {
            format!("I'm sorry, I did not get that. {question}")
        })
    }

    /// The question for a field: the author's, what the instructions say about it, or one about its description.
    fn question(&self, field: &FieldSpec) -> String {
        if let Some(prompt) = field.prompt.as_ref().filter(|p| !p.trim().is_empty()) {
            return prompt.clone();
        }
        let asked = self.steps.iter().find_map(|step| {
            let What::Ask { question, items } = &step.what else { return None };
            let mine = items.iter().find(|item| {
                overlap(field, &words(item)) > 0.0
                    && self.field_for(item).is_some_and(|best| best.name == field.name)
            })?;
            let all =
                items.iter().all(|item| self.field_for(item).is_some_and(|f| f.name == field.name));
            if all { Some(question.clone()) } else { question_to_user(&format!("for {mine}")) }
        });
        asked.unwrap_or_else(|| request_for(field))
    }

    // ---- the end ------------------------------------------------------------------------------

    /// Ends the task if nothing is left to do.
    fn finish(&self, open: &[&ToolSpec], leaving: Option<&ToolSpec>) -> Option<Answer> {
        let ready = |tool: &ToolSpec| self.arguments(tool, false);
        let done = open.iter().find(|t| t.purpose == Purpose::Complete);
        let filled = self.optional.is_empty()
            || self.steps.iter().any(|s| matches!(s.what, What::Ask { .. }));
        let asked = self.before.iter().any(|m| m.role == Role::Assistant);
        if let Some(tool) = done
            && (yes_or_no(self.said) == Some(false) || (filled && self.is_answer()))
            && let Some(arguments) = ready(tool)
        {
            return Some(self.call(tool, arguments));
        }
        let text = self.steps.iter().find_map(|step| match (&step.what, &step.when) {
            (What::Say(text), When::Always | When::Done) if !self.was_asked(text) => Some(text),
            _ => None,
        });
        if let Some(text) = text.filter(|_| asked) {
            let end = if text.ends_with(['.', '!', '?']) { "" } else { "!" };
            return Some(say(format!("{text}{end}")));
        }
        let tool = leaving?;
        Some(self.call(tool, ready(tool)?))
    }

    /// What the agent can do, if nothing else applies.
    fn offer_of_help(&self) -> String {
        let mut abilities: Vec<String> = Vec::new();
        let tools = self
            .tools
            .iter()
            .filter(|t| matches!(t.purpose, Purpose::Call | Purpose::Handoff | Purpose::Delegate));
        let described = tools
            .map(|t| t.description.as_str())
            .chain(self.agents.iter().map(|a| a.description.as_str()));
        for text in described.filter_map(ability) {
            if !abilities.contains(&text) && abilities.len() < MAX_ABILITIES {
                abilities.push(text);
            }
        }
        let offer = match abilities.as_slice() {
            [] => None,
            [one] => Some(format!("I can {one}.")),
            [most @ .., last] => Some(format!("I can {}, or {last}.", most.join(", "))),
        };
        let question = self.next_question().filter(|question| !self.was_asked(question));
        let question = question.unwrap_or_else(|| "What would you like to do?".to_owned());
        let text = match offer {
            Some(offer) => format!("{offer} {question}"),
            None if question.starts_with("What would") => {
                "Could you tell me a little more about what you need?".to_owned()
            }
            None => question,
        };
        let last = self.before.iter().rev().find(|m| m.role == Role::Assistant);
        if last.is_some_and(|last| last.text.ends_with(&text)) {
            return "Is there something else I can do for you?".to_owned();
        }
        text
    }
}
