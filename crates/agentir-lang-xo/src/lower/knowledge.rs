//! Lowers what the bot answers beside its dialogs: the questions of knowledge tasks, and small talk. Each becomes an agent
//! with a knowledge base, which the supervisor routes to.

use super::names::Namespace;
use super::{Context, entities, list_of, messages};
use crate::tables::DEFAULT_CHANNEL;
use crate::{Json, Text, script};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Name, Template};
use agentir_ir::{Agent, AgentType, Knowledge, Question};
use smol_str::SmolStr;

/// How many questions the supervisor knows as examples. The others are in the knowledge base.
const MAX_EXAMPLES: usize = 10;

/// What answers of small talk have for the name of the bot.
const BOT_NAME: &str = "<display-bot-name>";

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
    for task in list_of(root, "knowledgeTasks") {
        let questions = questions(cx, task);
        if questions.is_empty() {
            continue;
        }
        let named = task.take_text("name");
        let span = named.map_or(task.span.at_start(), |n| n.span);
        let wanted = named.map_or("Questions", |n| n.value.as_str());
        let described = task.take_text("description").filter(|d| !d.value.trim().is_empty());
        let about = match described {
            Some(text) => cx.readable(text),
            None => Text::synthetic(format!("Questions about {wanted}"), span),
        };
        all.push(topic(cx, names, Spanned::new(wanted, span), &about, questions, task.span));
    }
    let bot = super::localized(root, &cx.language).and_then(|texts| texts.peek("name"));
    let bot = bot.unwrap_or("the assistant");
    let (mut questions, mut groups, mut place) = (Vec::new(), Vec::new(), None);
    for talk in list_of(root, "smallTalk") {
        if talk.peek("language").is_some_and(|l| !cx.languages.iter().any(|known| known == l)) {
            continue;
        }
        for group in list_of(talk, "groups") {
            let found = small_talk(cx, group, bot);
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

/// The questions of a knowledge task. Each way to ask is a question of its own.
fn questions(cx: &mut Context<'_, '_>, task: &Json) -> Vec<Question> {
    let mut all = Vec::new();
    for faq in task.get("faqs").map_or(&[][..], |f| list_of(f, "faqs")) {
        let Some(answer) = answer(cx, faq) else { continue };
        let more = list_of(faq, "alternateQuestions").iter();
        let asked = more.filter_map(|q| match q.text() {
            Some(text) => {
                q.take();
                Some(text)
            }
            None => ["question", "text"].into_iter().find_map(|key| q.take_text(key)),
        });
        let asked: Vec<&Text> = faq.take_text("question").into_iter().chain(asked).collect();
        for text in asked {
            let question = Some(plain(&cx.readable(text)));
            all.push(Question { question, answer: Some(answer.clone()), span: text.span });
        }
        if faq.peek("responseType") == Some("message") {
            faq.take_member("responseType");
        }
    }
    all
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

fn plain(text: &Text) -> Template {
    Template::plain(text.spanned())
}

/// The exchanges of a group of small talk: what users say, with the first of the answers.
fn small_talk(cx: &mut Context<'_, '_>, group: &Json, bot: &str) -> Vec<Question> {
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
            .map(|text| (text, words(&entities::unescaped(&cx.decoded(text)).value)))
            .filter(|(_, words)| !words.is_empty())
            .collect();
        let Some(text) = answer.get("text").and_then(Json::text).filter(|_| !said.is_empty())
        else {
            continue;
        };
        let text = cx.decoded(text);
        let named = text.value.replace("&lt;", "<").replace("&gt;", ">");
        let text = match named.contains(BOT_NAME) {
            true => Text::synthetic(named.replace(BOT_NAME, bot), text.span),
            false => text,
        };
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
        for (text, words) in said {
            let question = Some(Template::plain(Spanned::new(SmolStr::new(words), text.span)));
            all.push(Question { question, answer: Some(reply.clone()), span: text.span });
        }
    }
    all
}

/// What a pattern of small talk reads as: `!hello ~emohello` is "hello". `!` marks a word as it is, `~` a concept, `<` and
/// `>` the ends of a message, `*` any words. Empty if it has no words to ask with: a plain yes or no (`!y ~yes`) answers a
/// question, and the names of most concepts (`~ibedone`) are nothing that people say.
fn words(pattern: &str) -> String {
    let marks = ['!', '<', '>', '*', '[', ']', '(', ')', '{', '}', '|', '\'', '"'];
    let all: Vec<&str> = pattern.split_whitespace().collect();
    let plain = |word: &&&str| !word.starts_with('~');
    let clean = |word: &&str| word.trim_matches(marks).replace('_', " ");
    let mut said: Vec<String> = all.iter().filter(plain).map(clean).collect();
    said.retain(|word| !word.is_empty());
    if said.is_empty() {
        // Of concepts, those of greetings and feelings are called after what is said: `~emohello`.
        said = all.iter().filter_map(|w| w.strip_prefix("~emo")).map(str::to_owned).collect();
    }
    let said = said.join(" ");
    if said.chars().filter(|c| c.is_alphabetic()).count() > 1 { said } else { String::new() }
}
