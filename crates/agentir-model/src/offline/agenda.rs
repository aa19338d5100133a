//! What is to be asked and done next, by the instructions and by what is known.

use super::addressed::{question_to_user, to_user};
use super::conditions::When;
use super::consent::{agrees, only_declines};
use super::dialogue::Turn;
use super::extract::{Reach, extract};
use super::instructions::{Step, What};
use super::is_blank;
use super::kinds::{GOODS, TextKind, kind_of};
use super::phrases::{asks_fact, is_wish, requests, small_talk, wants_person};
use super::questions::{overlap, request_for};
use super::results::is_success;
use super::sentences::joined;
use super::words::{Word, is_question, name_words, similarity, words};
use super::yes_no::yes_or_no;
use agentir_runtime::{Answer, FieldSpec, FieldType, Purpose, Role, ToolSpec};

/// The number of the user's messages that are searched for what an instruction asks for.
const MAX_TOLD: usize = 8;

/// Words of questions, and the names of fields that such questions are about.
const ASKED_FOR: &[(&str, &[&str])] = &[
    ("who", &["name", "recipient", "person", "passenger", "contact"]),
    ("where", &["city", "location", "place", "destination", "address", "country"]),
    ("when", &["date", "time", "day", "datetime"]),
    ("much", &["amount", "price", "budget", "cost", "quantity", "total"]),
    ("many", &["quantity", "count", "guests", "number", "amount"]),
    ("why", &["reason", "cause", "why"]),
];

impl<'r> Turn<'r> {
    /// Does what the instructions demand next.
    pub(super) fn follow_instructions(&self, open: &[&'r ToolSpec]) -> Option<Answer> {
        let mut told: Vec<&str> = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            if let Some(question) = self.question_of(step) {
                if told.is_empty() {
                    return Some(self.ask(question));
                }
                told.push(&question);
                return Some(super::dialogue::say(told.join(" ")));
            }
            // What is said in a case comes before what is asked then.
            if let (What::Say(text), When::Is(..)) = (&step.what, &step.when)
                && self.applies(&step.when)
                && !text.contains(['{', '<', '$'])
                && !self.was_asked(text)
            {
                told.push(text);
            }
            let What::Call(name) = &step.what else { continue };
            if !self.permits(index, step, false) {
                continue;
            }
            let Some(tool) = open.iter().copied().find(|t| t.name == *name) else { continue };
            let after_answer = tool.purpose == Purpose::Collect && tool.parameters.is_empty();
            if after_answer {
                // "After the user answers, call `next_question`".
                if step.when == When::Done && self.answered_step_before(index) {
                    return Some(self.call(tool, serde_json::Map::new()));
                }
                continue;
            }
            if tool.purpose != Purpose::Call || self.called_before(tool) {
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
        if !told.is_empty() {
            return Some(super::dialogue::say(told.join(" ")));
        }
        // Without instructions to ask, the fields say what there is to ask.
        let asks = self.steps.iter().any(|step| matches!(step.what, What::Ask { .. }));
        let field = self.optional.first().filter(|_| !asks && self.awaits_fields())?;
        Some(self.ask(self.question(field)))
    }

    /// Whether the condition of a step holds.
    pub(super) fn applies(&self, when: &When) -> bool {
        match when {
            When::Always | When::Done => true,
            When::Wants(what) => self.user_wants(what),
            When::Missing(what) => self.is_missing(what),
            When::Is(name, values) => {
                let known = self.known.get(name).and_then(serde_json::Value::as_str);
                let said = words(known.unwrap_or_default());
                let says = |own: &Word| {
                    said.iter().any(|w| w.negated == own.negated && similarity(own, w) >= 1.0)
                };
                values.iter().any(|value| {
                    let own = words(value);
                    !own.is_empty() && own.iter().all(says)
                })
            }
            // Whether a value that is known is available, a result says, if there is one.
            When::Good(about) => {
                self.last_result().map_or_else(|| self.are_known(about), is_success)
            }
            When::Agreed => {
                let asked = self.before.iter().rev().find(|m| m.role == Role::Assistant);
                agrees(self.said, asked.map_or("", |m| m.text.as_str()))
            }
            When::Reported(what) => self.was_reported(what),
            When::Unknown => false,
        }
    }

    /// Whether a condition is about values that are known: "if Oslo and Norway are available".
    fn are_known(&self, condition: &str) -> bool {
        let Some((subject, _)) = condition.split_once(" is ").or(condition.split_once(" are "))
        else {
            return false;
        };
        let known = |part: &str| {
            let part = part.trim_matches(|c: char| !c.is_alphanumeric());
            let own = self.known.values().filter(|value| !super::is_blank(value));
            let mut own = own.filter_map(serde_json::Value::as_str);
            !part.is_empty() && own.any(|value| value.trim().to_lowercase() == part)
        };
        // What holds no value leaves a gap: " and  are available".
        subject.split(" and ").flat_map(|part| part.split(',')).all(known)
    }

    /// The last result of a tool in the conversation.
    pub(super) fn last_result(&self) -> Option<&str> {
        let results = self.messages.iter().rev().filter(|m| m.role == Role::Tool);
        results.map(|m| m.text.as_str()).find(|text| *text != "noted" && *text != "done")
    }

    /// Whether the last message answers the question of the step before another one.
    fn answered_step_before(&self, index: usize) -> bool {
        let asked = self.steps.iter().take(index).rev().find_map(|step| match &step.what {
            What::Ask { question, .. } => Some(question),
            _ => None,
        });
        let last =
            self.before.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty());
        asked.is_some_and(|question| last.is_some_and(|last| last.text.contains(question.as_str())))
            && small_talk(self.said).is_none()
            && !is_question(self.said)
            && !wants_person(self.said)
    }

    /// The call that the instructions demand before another one, and that can be made.
    pub(super) fn call_before(&self, tool: &ToolSpec, open: &[&'r ToolSpec]) -> Option<Answer> {
        let own = |step: &Step| matches!(&step.what, What::Call(name) if *name == tool.name);
        let at = self.steps.iter().position(own)?;
        self.steps.iter().take(at).find_map(|step| {
            let What::Call(name) = &step.what else { return None };
            let first =
                open.iter().copied().find(|t| t.name == *name && t.purpose == Purpose::Call)?;
            let needs = first.parameters.iter().any(|p| p.required || first.parameters.len() == 1);
            if !matches!(step.when, When::Always | When::Done)
                || !needs
                || self.called_before(first)
            {
                return None;
            }
            Some(self.call(first, self.arguments(first, false)?))
        })
    }

    /// The tool that instructions name after another, if nothing is to be asked before and it has all its arguments.
    pub(super) fn next_call(&self, open: &[&'r ToolSpec], after: Option<&str>) -> Option<Answer> {
        let after = after?;
        let own = |step: &Step| matches!(&step.what, What::Call(name) if name == after);
        let at = self.steps.iter().position(own)?;
        for step in self.steps.iter().skip(at + 1) {
            match &step.what {
                What::Ask { .. } if self.question_of(step).is_some() => return None,
                What::Call(name) if name != after => {
                    let applies = matches!(step.when, When::Always | When::Done)
                        || matches!(step.when, When::Good(_)) && self.applies(&step.when);
                    let tool =
                        open.iter().find(|t| t.name == *name && t.purpose == Purpose::Call)?;
                    if !applies || self.called_before(tool) {
                        return None;
                    }
                    return Some(self.call(tool, self.arguments(tool, false)?));
                }
                _ => {}
            }
        }
        None
    }

    /// The only tool of an agent that asks for nothing, if it takes what the user wants in their own words: what they say first is
    /// for it.
    pub(super) fn request_tool(&self, open: &[&'r ToolSpec]) -> Option<(&'r ToolSpec, f64)> {
        let calls = |t: &&ToolSpec| t.purpose == Purpose::Call;
        let mut all = self.tools.iter().filter(calls);
        let (Some(only), None) = (all.next(), all.next()) else { return None };
        let mut needed = Self::needed(only);
        let request = needed.next().filter(|_| needed.next().is_none())?;
        let takes = kind_of(request) == TextKind::Request;
        let asks = self.steps.iter().any(|step| matches!(step.what, What::Ask { .. }));
        let said = words(self.said).iter().filter(|w| w.is_content()).count();
        let tool = open.iter().copied().find(|tool| tool.name == only.name)?;
        (takes && !asks && said >= 2 && !self.is_answer() && !wants_person(self.said))
            .then_some((tool, super::choose::MIN_CONFIDENCE))
    }

    /// Whether the agent is only there to fill its fields.
    fn awaits_fields(&self) -> bool {
        self.tools.iter().any(|tool| tool.purpose == Purpose::Complete)
            || self.optional.iter().all(|field| field.prompt.is_some())
    }

    /// The next question, without regard to what the user has just said.
    pub(super) fn next_question(&self) -> Option<String> {
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

    /// The question for the first value that the agent can note and has not got, if the user wants something and the
    /// instructions ask for nothing.
    pub(super) fn question_to_note(&self) -> Option<String> {
        let asks = self.steps.iter().any(|step| matches!(step.what, What::Ask { .. }));
        let mut notes = self.tools.iter().filter(|t| t.purpose == Purpose::Collect);
        let field = notes.find_map(|tool| {
            let open = tool.parameters.iter().find(|p| !self.is_known(p))?;
            (open.ty != FieldType::Boolean).then_some(open)
        })?;
        (!asks && is_wish(self.said)).then(|| self.question(field))
    }

    /// The question that a step demands now: for the first thing that is not known yet.
    pub(super) fn question_of(&self, step: &Step) -> Option<String> {
        let What::Ask { question, items } = &step.what else { return None };
        if !self.applies(&step.when) {
            return None;
        }
        // What is to be confirmed has to be known.
        if question == super::instructions::IS_ALL_CORRECT
            && let Some(field) = self.awaited_first()
        {
            return Some(self.question(field));
        }
        // Only agreement answers a request for it: after another answer it is asked for again.
        if self.is_consent(question) {
            return (!self.agreed_to(question)).then(|| question.clone());
        }
        if items.is_empty() {
            if self.was_asked(question) || self.is_answered_ahead(question) {
                return self.rest_of(question);
            }
            return Some(question.clone());
        }
        let open: Vec<&String> =
            items.iter().filter(|item| !self.is_done(item, question)).collect();
        // "Your name or your number": one is enough.
        if open.len() < items.len() && question.contains(" or ") {
            return None;
        }
        let first = open.first()?;
        if let Some(field) = self.field_for(first) {
            return Some(self.question(field));
        }
        // What has no field is asked for together.
        let together: Vec<String> = open
            .iter()
            .take_while(|item| self.field_for(item).is_none())
            .map(|item| (*item).clone())
            .collect();
        if together.len() == items.len() {
            return Some(question.clone());
        }
        match together.as_slice() {
            [one] if one.split(' ').next().is_some_and(|w| w.starts_with("wh") || w == "how") => {
                question_to_user(one)
            }
            all => question_to_user(&format!("for {}", joined(all))),
        }
    }

    /// Whether a value that a question asks for is known, though it was not asked.
    fn is_answered_ahead(&self, question: &str) -> bool {
        let about = words(question);
        let mut fields = self.all_fields().filter(|field| self.is_known(field));
        fields.any(|field| overlap(field, &about) >= 2.0)
    }

    /// The question for what a question asked for beside what was answered: it asked for an order number and a reason.
    fn rest_of(&self, question: &str) -> Option<String> {
        let about = words(question);
        let notes = self.tools.iter().filter(|t| t.purpose == Purpose::Collect);
        let named: Vec<&FieldSpec> = notes
            .flat_map(|tool| &tool.parameters)
            .filter(|field| overlap(field, &about) >= 1.0)
            .collect();
        let begun = named.iter().any(|field| self.is_known(field));
        // "Your number or your email": one is enough.
        if about.iter().any(|w| matches!(w.text.as_str(), "or" | "either")) {
            return None;
        }
        let open = named.into_iter().find(|field| !self.is_known(field)).filter(|_| begun)?;
        let question = self.question(open);
        (!self.was_answered(&question)).then_some(question)
    }

    /// The first variable that a tool of the agent needs, that another one notes, and that has no value.
    fn awaited_first(&self) -> Option<&'r FieldSpec> {
        let calls = self.tools.iter().filter(|t| t.purpose == Purpose::Call);
        let mut awaited = calls.flat_map(|tool| self.awaited(tool));
        awaited
            .find(|field| self.is_stored(&field.name) && !self.was_answered(&self.question(field)))
    }

    /// Whether a parameter need not be given, because the instructions ask for it or for something that is known: "the
    /// name or the number".
    pub(super) fn is_spared(&self, parameter: &FieldSpec) -> bool {
        !parameter.required
            && self.steps.iter().any(|step| {
                let What::Ask { question, items } = &step.what else { return false };
                let own =
                    |item: &String| self.field_for(item).is_some_and(|f| f.name == parameter.name);
                question.contains(" or ")
                    && items.iter().any(own)
                    && items.iter().any(|item| !own(item) && self.is_done(item, question))
            })
    }

    /// Whether what an instruction asks for is known, or was answered in words that no field holds.
    fn is_done(&self, item: &str, question: &str) -> bool {
        if let Some(field) = self.field_for(item) {
            return self.is_known(field)
                || self.was_heard(field)
                || self.was_answered(&self.question(field));
        }
        self.is_told(item) || self.was_answered(question) || self.was_answered(&to_user(item))
    }

    /// Whether the agent has asked something, and the user has answered.
    pub(super) fn was_answered(&self, question: &str) -> bool {
        let asked = self.messages.iter().position(|m| {
            m.role == Role::Assistant && m.text.contains(question) && requests(&m.text)
        });
        let Some(at) = asked else { return false };
        let next = self.messages.iter().skip(at + 1).find(|m| m.role == Role::User);
        next.is_some_and(|m| {
            let answers = small_talk(&m.text).is_none() && !is_question(&m.text);
            answers && !is_wish(&m.text) && !wants_person(&m.text)
        })
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
    pub(super) fn field_for(&self, item: &str) -> Option<&'r FieldSpec> {
        if let Some(known) = self.found.fields.borrow().get(item) {
            return *known;
        }
        let field = self.find_field(item);
        self.found.fields.borrow_mut().insert(item.to_owned(), field);
        field
    }

    fn find_field(&self, item: &str) -> Option<&'r FieldSpec> {
        let about = words(item);
        // A name of one word may also be part of what another field is about: "the reason to block the card".
        let fuller = |one: &str| {
            let names = self.all_fields().map(|field| &field.name).chain(self.known.keys());
            names.filter(|name| *name != one && name_words(name).len() > 1).any(|name| {
                let own = name_words(name);
                own.first().is_some_and(|w| w.is_content() && item.contains(&w.text))
                    && overlap(&spec(name), &about) >= 2.0
            })
        };
        let mut fields = self.all_fields();
        if let Some(named) = fields.find(|field| {
            item.split(' ').any(|w| w == field.name)
                && (field.name.contains('_') || !fuller(&field.name))
        }) {
            return Some(named);
        }
        // "What they need to return" is about an item, "when they want to travel" about a date.
        let verb = about.windows(2).position(|pair| {
            let [one, to] = pair else { return false };
            to.text == "to"
                && matches!(one.text.as_str(), "need" | "want" | "like" | "wish" | "have")
        });
        let wanted = |first: bool| {
            about.iter().take(2).find_map(|word| match word.text.as_str() {
                "what" | "which" if verb.is_some() || !first => Some(GOODS),
                other => ASKED_FOR.iter().find(|(word, _)| *word == other).map(|(_, names)| *names),
            })
        };
        let named = |names: &[&str]| {
            let fits = |field: &&FieldSpec| {
                name_words(&field.name).iter().any(|w| names.contains(&w.text.as_str()))
            };
            self.all_fields().find(fits)
        };
        if let Some(names) = wanted(true) {
            if let Some(field) = named(names) {
                return Some(field);
            }
            if self.knows_one_of(names) {
                return None;
            }
        }
        // A value that is known may be what the phrase names in full.
        let known = self.known.iter().filter(|(_, value)| !is_blank(value));
        let known = known.filter(|(name, _)| name_words(name).len() > 1);
        let known = known.map(|(name, _)| overlap(&spec(name), &about)).fold(0.0, f64::max);
        let known = if known >= 2.0 { known + f64::EPSILON * 4.0 } else { 0.0 };
        self.all_fields()
            .map(|field| {
                let score = overlap(field, &about);
                let own = self.is_known(field) || name_words(&field.name).len() > 1;
                (field, if own && score >= 2.0 { score + 1.0 } else { score })
            })
            .filter(|(_, score)| *score > 0.0)
            // Of fields that fit as well, the one of which more words are said.
            .map(|(field, score)| (field, score, name_words(&field.name).len()))
            .filter(|(_, score, _)| *score >= known)
            .reduce(|best, next| {
                if next.1 > best.1 || next.1 >= best.1 && next.1 >= 2.0 && next.2 > best.2 {
                    next
                } else {
                    best
                }
            })
            .map(|(field, ..)| field)
            .or_else(|| wanted(false).and_then(named))
    }

    /// Whether a variable of one of some names has a value.
    fn knows_one_of(&self, names: &[&str]) -> bool {
        self.known
            .iter()
            .filter(|(_, value)| !is_blank(value))
            .any(|(name, _)| name_words(name).iter().any(|w| names.contains(&w.text.as_str())))
    }

    /// Whether a phrase of the instructions is about a value that is known, or that the user has said in a form by which
    /// it is recognised.
    fn is_told(&self, item: &str) -> bool {
        let about = words(item);
        let what = about.first().is_some_and(|w| matches!(w.text.as_str(), "what" | "which"));
        if what && self.knows_one_of(GOODS) {
            return true;
        }
        // "Why they are dissatisfied", if the reason is known.
        let asks = about.first().and_then(|w| ASKED_FOR.iter().find(|(word, _)| *word == w.text));
        if asks.is_some_and(|(_, names)| self.knows_one_of(names)) {
            return true;
        }
        let known = self.known.iter().filter(|(_, value)| !is_blank(value)).any(|(name, _)| {
            let own = name_words(name);
            let mut own = own.iter().filter(|w| w.is_content());
            own.any(|own| about.iter().any(|w| w.stem == own.stem))
        });
        if known {
            return true;
        }
        let named: Vec<&str> = about
            .iter()
            .filter(|w| w.is_content() && w.text != "their")
            .map(|w| w.text.as_str())
            .collect();
        let field = spec(&named.join("_"));
        let name = name_words(&field.name);
        let users = self.messages.iter().rev().filter(|m| m.role == Role::User).take(MAX_TOLD);
        if users
            .into_iter()
            .any(|m| super::spans::qualified_by(&m.text, &words(&m.text), &name, &name).is_some())
        {
            return true;
        }
        const TITLES: &[&str] = &["title", "book", "film", "movie", "song", "album", "game"];
        if name.iter().any(|w| TITLES.contains(&w.text.as_str())) {
            let mut users = self.messages.iter().rev().filter(|m| m.role == Role::User);
            return users.any(|m| super::nouns::has_title(&m.text));
        }
        if named.is_empty() || matches!(kind_of(&field), TextKind::Thing | TextKind::Request) {
            return false;
        }
        let said = self.messages.iter().rev().filter(|m| m.role == Role::User).take(MAX_TOLD);
        let mut said = said.filter(|m| small_talk(&m.text).is_none());
        said.any(|m| {
            let field = std::slice::from_ref(&field);
            !extract(self.offline, &m.text, field, None, Reach::Named).is_empty()
        })
    }

    /// Whether a value for a tool has been given, though the tool has not been called yet.
    fn was_heard(&self, field: &FieldSpec) -> bool {
        let tool = self.tools.iter().find(|t| t.parameters.iter().any(|p| p.name == field.name));
        let called = tool.is_some_and(|t| self.called_before(t) && t.purpose == Purpose::Call);
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
            .filter(|w| w.is_content() && !super::addressed::USERS.contains(&w.text.as_str()))
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
    pub(super) fn was_asked(&self, question: &str) -> bool {
        self.messages.iter().any(|m| m.role == Role::Assistant && m.text.contains(question))
    }

    /// Asks a question; in other words if it was just asked in vain.
    pub(super) fn ask(&self, question: String) -> Answer {
        let last =
            self.before.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty());
        // The user asks something else instead of an answer.
        let open = ["would you like to know", "can I help", "can I do for you"];
        if asks_fact(self.said)
            && self.since.is_empty()
            && (last.is_some_and(|last| last.text.trim().ends_with(question.trim()))
                || open.iter().any(|words| question.contains(words)))
        {
            let said = words(self.said);
            let why = said.iter().take(2).any(|w| w.text == "why")
                || matches!(said.as_slice(), [what, for_, ..] if what.text == "what" && for_.text == "for");
            let again = last.is_some_and(|last| last.text.starts_with(NO_IDEA));
            let excuse = match (why, again) {
                (true, _) => WHY,
                (_, true) => NO_IDEA_EITHER,
                _ => NO_IDEA,
            };
            return super::dialogue::say(format!("{excuse} {question}"));
        }
        // Who does not agree, and says nothing else, is asked what is wrong.
        if self.is_consent(&question)
            && only_declines(self.said)
            && self.since.is_empty()
            && last.is_some_and(|last| last.text.contains(question.trim()))
        {
            return super::dialogue::say(super::replies::NOT_DONE.to_owned());
        }
        let again = last.is_some_and(|last| last.text.trim().ends_with(question.trim()))
            && !self.since.iter().any(|m| m.role == Role::Tool)
            && !is_wish(self.said)
            && !is_question(self.said)
            // "No, make it 60" was understood, and is confirmed with the new value.
            && (yes_or_no(self.said) != Some(false)
                || !self.is_consent(&question));
        super::dialogue::say(if !again {
            question
        } else if last.is_some_and(|last| last.text.starts_with(AGAIN)) {
            format!("I still need this to go on. {question}")
        } else {
            format!("{AGAIN} {question}")
        })
    }

    /// The question for a field: the author's, what the instructions say about it, or one about its description.
    pub(super) fn question(&self, field: &FieldSpec) -> String {
        if let Some(prompt) = field.prompt.as_ref().filter(|p| !p.trim().is_empty()) {
            return prompt.clone();
        }
        if let Some(known) = self.found.questions.borrow().get(&field.name) {
            return known.clone();
        }
        let question = self.phrase(field);
        self.found.questions.borrow_mut().insert(field.name.clone(), question.clone());
        question
    }

    fn phrase(&self, field: &FieldSpec) -> String {
        let asked = self.steps.iter().find_map(|step| {
            let What::Ask { question, items } = &step.what else { return None };
            let own =
                |item: &&String| self.field_for(item).is_some_and(|best| best.name == field.name);
            let mine = items.iter().find(own)?;
            let all = items.iter().all(|item| own(&item));
            if mine.contains('_') {
                None
            } else if all {
                Some(question.clone())
            } else {
                question_to_user(&format!("for {mine}")).or_else(|| question_to_user(mine))
            }
        });
        asked.unwrap_or_else(|| request_for(field, self.remark_about(field)))
    }

    /// What the instructions say in parentheses after the name of a field, if it lists its values: "payee_type
    /// (person/business)".
    fn remark_about(&self, field: &FieldSpec) -> Option<&'r str> {
        super::questions::remark_about(&field.name, self.instructions)
    }
}

/// What is said to somebody who asks why something is asked.
const WHY: &str = "I need this so that I can help you.";

/// What is said to somebody who asks something that the agent knows nothing about.
pub(super) const NO_IDEA: &str = "I'm sorry, I cannot tell you that.";

/// What is said if they ask something else that it knows nothing about.
pub(super) const NO_IDEA_EITHER: &str = "I'm afraid I do not know that either.";

/// How a question is asked again.
const AGAIN: &str = "I'm sorry, I did not get that.";

/// A text field that only a phrase of the instructions names.
fn spec(name: &str) -> FieldSpec {
    FieldSpec {
        name: name.to_owned(),
        ty: FieldType::Text,
        description: String::new(),
        prompt: None,
        values: Default::default(),
        pattern: None,
        format: None,
        rule: None,
        hints: Vec::new(),
        required: false,
    }
}
