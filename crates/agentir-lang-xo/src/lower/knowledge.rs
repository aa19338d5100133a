//! Lowers what the bot answers beside its dialogs: the questions of knowledge tasks, and small talk. Each becomes an agent
//! with a knowledge base, which the supervisor routes to.

use super::names::Namespace;
use super::{Context, entities, list_of, messages};
use crate::tables::DEFAULT_CHANNEL;
use crate::{Json, Text, script};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Name, Template};
use agentir_ir::{Agent, AgentType, Knowledge, Question};
use agentir_syntax::rules;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// How many questions the supervisor knows as examples. The others are in the knowledge base.
const MAX_EXAMPLES: usize = 10;

/// How many bytes the answers have, together, that are there again for each further way to ask.
const MAX_REPEATED: usize = 16 << 20;

/// What answers of small talk have for the name of the bot.
const BOT_NAMES: &[&str] = &["<display-bot-name>", "&lt;display-bot-name&gt;"];

/// An agent that answers from a knowledge base, and when the supervisor asks it.
pub(super) struct Topic {
    pub(super) agent: Agent,
    pub(super) name: Spanned<Name>,
    /// What it is about.
    pub(super) description: Template,
    /// Some of its questions.
    pub(super) examples: Vec<Template>,
}

/// The topics of a bot.
pub(super) fn topics(cx: &mut Context<'_, '_>, root: &Json, names: &mut Namespace) -> Vec<Topic> {
    let mut all = Vec::new();
    let mut left = MAX_REPEATED;
    for task in list_of(root, "knowledgeTasks") {
        let questions = questions(cx, task, &mut left);
        if questions.is_empty() {
            continue;
        }
        let named = task.take_text("name");
        let span = named.map_or(task.span.at_start(), |n| n.span);
        let wanted = named.map_or("Questions", |n| n.value.as_str());
        let described = task.take_text("description").filter(|d| !d.value.trim().is_empty());
        let about = match described {
            Some(text) => cx.decoded(text),
            None => Text::synthetic(format!("Questions about {wanted}"), span),
        };
        all.push(topic(cx, names, Spanned::new(wanted, span), &about, questions, task.span));
    }
    let bot = super::localized(root, &cx.language).and_then(|texts| texts.peek("name"));
    let bot = bot.unwrap_or("the assistant");
    let concepts = concepts(cx, root);
    let (mut questions, mut groups, mut place) = (Vec::new(), Vec::new(), None);
    for talk in list_of(root, "smallTalk") {
        if talk.peek("language").is_some_and(|l| !cx.speaks(l)) {
            continue;
        }
        for group in list_of(talk, "groups") {
            let found = small_talk(cx, group, (bot, &concepts), &mut left);
            if found.is_empty() {
                continue;
            }
            questions.extend(found);
            place = place.or(Some(group.span));
            let named = group.take_text("groupName").map(|n| n.value.clone());
            groups.extend(named.filter(|named| !groups.contains(named)));
        }
        talk.take_member("language");
    }
    if let Some(span) = place {
        let about = format!("Small talk: {}", groups.join(", "));
        let about = Text::synthetic(about, span.at_start());
        let name = Spanned::new("Small_talk", span.at_start());
        all.push(topic(cx, names, name, &about, questions, span));
    }
    all
}

fn topic(
    cx: &mut Context<'_, '_>,
    names: &mut Namespace,
    wanted: Spanned<&str>,
    about: &Text,
    questions: Vec<Question>,
    span: Span,
) -> Topic {
    let name = Spanned::new(names.claim(wanted.value, "Questions"), wanted.span);
    let mut agent = Agent::new(cx.metadata(name.clone(), AgentType::Agent), span);
    let description = messages::literal(cx, about).response.text.unwrap_or_default();
    agent.identity.goal = Some(description.clone());
    let examples = questions.iter().filter_map(|q| q.question.clone()).take(MAX_EXAMPLES).collect();
    agent.knowledge = Some(Knowledge { questions, span, ..Knowledge::default() });
    Topic { agent, name, description, examples }
}

/// A question for each way to ask, all with the same answer. Beyond `left` bytes only the first is kept.
fn asked_alike(
    cx: &mut Context<'_, '_>,
    ways: Vec<Spanned<SmolStr>>,
    answer: &Template,
    left: &mut usize,
) -> Vec<Question> {
    let size = answer.text.value.len();
    let (mut all, mut omitted) = (Vec::new(), Vec::new());
    for way in ways {
        let span = way.span;
        if !all.is_empty() {
            let Some(rest) = left.checked_sub(size) else {
                omitted.push(span);
                continue;
            };
            *left = rest;
        }
        let question = Some(Template::plain(way));
        all.push(Question { question, answer: Some(answer.clone()), span });
    }
    if let Some(first) = omitted.first() {
        let count = omitted.len();
        let ways = if count == 1 { "way to ask this is" } else { "ways to ask this are" };
        cx.problem(
            Diagnostic::warning(
                rules::UNTRANSLATED,
                *first,
                format!("{count} other {ways} not copied"),
            )
            .note(format!(
                "each would have the answer again, and all such answers together would be more than {} MiB",
                MAX_REPEATED >> 20
            ))
            .help("shorten the answer, or add the ways to ask to the knowledge base by hand"),
        );
    }
    all
}

/// The questions of a knowledge task. Each way to ask is a question of its own.
fn questions(cx: &mut Context<'_, '_>, task: &Json, left: &mut usize) -> Vec<Question> {
    let mut all = Vec::new();
    for faq in task.get("faqs").map_or(&[][..], |f| list_of(f, "faqs")) {
        let Some(answer) = answer(cx, faq) else {
            unanswered(cx, faq);
            continue;
        };
        let more = list_of(faq, "alternateQuestions").iter();
        let asked = more.filter_map(|q| match q.text() {
            Some(text) => {
                q.take();
                Some(text)
            }
            None => ["question", "text"].into_iter().find_map(|key| q.take_text(key)),
        });
        let asked: Vec<&Text> = faq.take_text("question").into_iter().chain(asked).collect();
        let ways = asked.into_iter().map(|text| cx.readable(text).spanned()).collect();
        all.extend(asked_alike(cx, ways, &answer, left));
        if faq.peek("responseType") == Some("message") {
            faq.take_member("responseType");
        }
    }
    all
}

/// Reports a question whose answer is computed, so that the question is left out.
fn unanswered(cx: &mut Context<'_, '_>, faq: &Json) {
    let answers = list_of(faq, "answer").iter();
    let text =
        answers.filter_map(|answer| answer.get("text")?.text()).find(|t| !t.value.is_empty());
    let Some(text) = text else { return };
    cx.problem(
        Diagnostic::warning(
            rules::UNTRANSLATED,
            text.span,
            "the answer to this question is computed, so the question is left out",
        )
        .note("a knowledge base has fixed answers")
        .help("write an answer in words, or handle the question in a dialog that calls a tool"),
    );
}

/// The answer to a question: the text of the default channel. One that is computed is only known if it is constant.
fn answer(cx: &mut Context<'_, '_>, faq: &Json) -> Option<Template> {
    let all = list_of(faq, "answer");
    let in_channel = |a: &&Json| a.peek("channel").is_none_or(|c| c == DEFAULT_CHANNEL);
    let one = all.iter().find(in_channel).or_else(|| all.first())?;
    let text = one.get("text").and_then(Json::text)?;
    let text = cx.decoded(text);
    let said = if one.peek("type") == Some("uxmap") {
        let code = script::read(&text).simple?;
        messages::from_script(cx, &code)?.response.text?
    } else {
        messages::literal(cx, &text).response.text?
    };
    for key in ["text", "type", "channel"] {
        one.take_member(key);
    }
    Some(said)
}

/// The exchanges of a group of small talk: what users say, with the first of the answers.
fn small_talk(
    cx: &mut Context<'_, '_>,
    group: &Json,
    (bot, concepts): (&str, &FxHashSet<&str>),
    left: &mut usize,
) -> Vec<Question> {
    let mut all = Vec::new();
    let mut open: Vec<&Json> = list_of(group, "nodes").iter().rev().collect();
    while let Some(node) = open.pop() {
        open.extend(list_of(node, "nodes").iter().rev());
        let answers = list_of(node, "botUtterances");
        let in_channel = |a: &&Json| a.peek("channel").is_none_or(|c| c == DEFAULT_CHANNEL);
        let answer = answers.iter().find(in_channel);
        let Some(answer) = answer.filter(|a| a.peek("type") != Some("uxmap")) else { continue };
        let utterances = list_of(node, "userUtterances");
        let said: Vec<(&Text, String)> = utterances
            .iter()
            .filter_map(|u| u.get("text").and_then(Json::text))
            .map(|text| (text, words(&entities::unescaped(&cx.decoded(text)).value, concepts)))
            .filter(|(_, words)| !words.is_empty())
            .collect();
        let Some(text) = answer.get("text").and_then(Json::text).filter(|_| !said.is_empty())
        else {
            continue;
        };
        let text = cx.decoded(text);
        let named = BOT_NAMES.iter().fold(text.value.clone(), |text, name| text.replace(name, bot));
        let text = if named == text.value { text } else { Text::synthetic(named, text.span) };
        let Some(reply) = messages::literal(cx, &text).response.text else { continue };
        for key in ["text", "type", "channel"] {
            answer.take_member(key);
        }
        // A concept stands for more words than its name, so it is kept as it is written.
        for utterance in
            utterances.iter().filter(|u| u.peek("text").is_some_and(|t| !t.contains('~')))
        {
            utterance.take_member("text");
        }
        let ways = said.into_iter().map(|(text, words)| Spanned::new(words.into(), text.span));
        all.extend(asked_alike(cx, ways.collect(), &reply, left));
    }
    all
}

/// What a pattern of small talk reads as: `!hello ~emohello` is "hello". `!` marks a word as it is, `~` a concept, `<` and
/// `>` the ends of a message, `*` any words; of `[a b]` the first is taken, `{a}` may be left out. Of concepts, those stand
/// for a word that are called after it (`~you`). Empty if it has no words to ask with: a plain yes or no (`!y ~yes`) answers
/// a question, and the names of most concepts (`~ibedone`) are nothing that people say.
fn words(pattern: &str, concepts: &FxHashSet<&str>) -> String {
    let marks = ['!', '<', '>', '*', '(', ')', '|', '\'', '"'];
    let mut spaced = String::with_capacity(pattern.len());
    for c in pattern.chars() {
        if matches!(c, '[' | ']' | '{' | '}') {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    let all: Vec<&str> = spaced.split_whitespace().collect();
    let (mut said, mut named): (Vec<String>, bool) = (Vec::new(), false);
    let (mut choice, mut left_out) = (None, false);
    for word in &all {
        match *word {
            "[" => choice = Some(false),
            "]" => choice = None,
            "{" => left_out = true,
            "}" => left_out = false,
            _ if left_out || choice == Some(true) => {}
            word => {
                let concept = word.strip_prefix('~');
                let word = match concept {
                    Some(name) if concepts.contains(name) => name.to_owned(),
                    Some(_) => continue,
                    None => word.trim_matches(marks).replace('_', " "),
                };
                if !word.is_empty() {
                    named |= concept.is_none();
                    said.push(word);
                    choice = choice.map(|_| true);
                }
            }
        }
    }
    if !named {
        // Those of greetings and feelings are called after what is said: `~emohello`.
        said = all.iter().filter_map(|w| w.strip_prefix("~emo")).map(str::to_owned).collect();
    }
    let said = said.join(" ");
    if said.chars().filter(|c| c.is_alphabetic()).count() > 1 { said } else { String::new() }
}

/// The concepts that are called after a word that they stand for.
fn concepts<'j>(cx: &Context<'_, '_>, root: &'j Json) -> FxHashSet<&'j str> {
    let texts = super::localized(root, &cx.language).and_then(|texts| texts.get("synonyms"));
    let all = texts.map_or(&[][..], Json::members).iter();
    let named = all.filter_map(|member| {
        let name = member.key.strip_prefix('~')?;
        let mut words = member.value.items().iter().filter_map(Json::text);
        words.any(|word| word.value.eq_ignore_ascii_case(name)).then_some(name)
    });
    named.collect()
}
