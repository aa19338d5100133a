//! Judging natural-language statements: a statement holds if the text mentions its subject without
//! negating it. In doubt it does not hold, unless the question says otherwise.

use super::consent::{affirms, agrees};
use super::phrases::small_talk;
use super::words::{Word, is_deed, similarity, words};
use super::yes_no::{reports_agreement, reports_refusal, yes_or_no};
use agentir_runtime::{Message, ModelTask, Role};

/// The fraction of the statement's content words that the text must contain.
const MIN_OVERLAP: f64 = 0.74;

/// The number of words of a statement that are considered.
const MAX_STATEMENT_WORDS: usize = 200;

/// Words that describe the conversation and not its content.
const FRAME_WORDS: &[&str] = &[
    "user",
    "users",
    "customer",
    "caller",
    "guest",
    "client",
    "claims",
    "claim",
    "says",
    "say",
    "said",
    "saying",
    "asks",
    "ask",
    "asked",
    "asking",
    "mentions",
    "mention",
    "states",
    "wants",
    "wishes",
    "wish",
    "requests",
    "request",
    "needs",
    "need",
    "tries",
    "trying",
    "tells",
    "told",
    "indicates",
    "expresses",
    "message",
    "text",
    "input",
    "answer",
    "response",
    "conversation",
    "intends",
    "intent",
    "likes",
    "interested",
    "contains",
    "is",
    "are",
    "whether",
    "speak",
    "talk",
    "also",
    "currently",
    "explicitly",
    "he",
    "she",
    "they",
];

/// Speech acts that are expressed in few words, with these words.
const SPEECH_ACTS: &[(&[&str], &[&str])] = &[
    (
        &["greets", "greeting", "greet"],
        &["hello", "hi", "hey", "morning", "evening", "afternoon", "greetings"],
    ),
    (&["thanks", "thank", "thankful", "grateful"], &["thanks", "thank", "thx", "cheers"]),
    (
        &["excuse", "apologizes", "apologises", "apology"],
        &["sorry", "unfortunately", "apologies", "afraid"],
    ),
    (&["goodbye", "bye", "farewell", "leave", "finished"], &["bye", "goodbye", "cheerio", "ciao"]),
];

/// Words for when and how much, which say nothing of what a statement is about.
const INCIDENTAL: &[&str] = &[
    "today",
    "tomorrow",
    "tonight",
    "yesterday",
    "now",
    "soon",
    "later",
    "immediately",
    "urgent",
    "urgently",
    "asap",
    "quickly",
    "fast",
    "right",
    "away",
    "again",
    "still",
    "already",
    "yet",
    "really",
    "actually",
    "possible",
    "possibly",
    "maybe",
    "more",
    "less",
    "much",
    "many",
    "new",
    "other",
    "another",
    "different",
    "same",
    "current",
    "next",
    "last",
    "first",
    "good",
    "nice",
    "one",
    "only",
    "well",
    "all",
    "day",
    "week",
    "month",
    "year",
    "time",
    "morning",
    "afternoon",
    "evening",
    "night",
];

/// The number of words up to which a yes or no is an answer to the question before it.
const MAX_SHORT_WORDS: usize = 5;

/// The number of messages of the agent that an answer is about.
const MAX_TOPIC: usize = 3;

/// What the user said, and after what.
struct Said<'s> {
    text: &'s str,
    /// What is looked for the statement: the words of the text, or what a short answer says.
    words: &'s [Word],
    /// What the agent's last message is about.
    topic: &'s [Word],
    /// The agent's last message.
    question: &'s str,
}

/// Whether a statement holds for a text. If it holds in doubt, it does unless the text says nothing.
pub(super) fn judge(statement: &str, text: &str, context: &[Message], in_doubt: bool) -> bool {
    let last = context.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty());
    let asked = last.map_or("", |m| m.text.as_str());
    if statement == ModelTask::AGREEMENT {
        return agrees(text, asked);
    }
    let topic = if in_doubt { Vec::new() } else { topic(context) };
    let text_words = words(text);
    if let Some(forbidden) = forbidden(statement) {
        // What forbids nothing that can be recognised, like "do not do that", is not known to be kept.
        return forbidden.iter().any(Word::is_content)
            && !forbidden.split(|word| word.text == "or").any(|part| does(part, &text_words));
    }
    let said = Said { text, words: &text_words, topic: &topic, question: asked };
    if holds_for(statement, &said, in_doubt) {
        return true;
    }
    // A short yes says what the question asked, if it is nothing but a yes.
    let short = text_words.len() <= MAX_SHORT_WORDS || affirms(text, asked, "");
    let Some(yes) = yes_or_no(text).filter(|_| short && !in_doubt) else { return false };
    let quoted = || statement.split(['"', '“', '”']).skip(1).step_by(2);
    let begins = |quote: &str| {
        let first = words(quote).into_iter().next();
        first.and_then(|first| yes_or_no(&first.text))
    };
    // "Send me one" may be in the words of the statement.
    let says = |quote: &str| {
        let named = format!("{asked} {quote}");
        !yes || agrees(text, &named) || affirms(text, asked, quote)
    };
    if quoted().any(|quote| begins(quote) == Some(yes) && says(quote)) {
        return true;
    }
    if yes && !agrees(text, asked) && !affirms(text, asked, "") {
        return false;
    }
    let question = asked.split_inclusive(['.', '!', '\n']).next_back();
    let Some(question) = question.filter(|question| question.contains('?')) else { return false };
    let mut asked_words = words(question);
    asked_words.iter_mut().for_each(|word| word.negated = !yes);
    let answered = Said { words: &asked_words, topic: &[], ..said };
    let part = |statement: &str| {
        let all = statement_words(statement);
        all.split(|word| word.text == "or").any(|part| holds(part, &answered))
    };
    // Agreement without more was judged above.
    if quoted().next().is_some() { quoted().any(part) } else { part(statement) }
}

/// What a statement forbids: "never recommend more than three wines".
fn forbidden(statement: &str) -> Option<Vec<Word>> {
    let all = statement_words(statement);
    let start = match all.as_slice() {
        [never, ..] if never.text == "never" || never.text == "don't" => 1,
        [do_, not, ..] if do_.text == "do" && not.text == "not" => 2,
        _ => return None,
    };
    Some(all.into_iter().skip(start).collect())
}

/// Whether a text does all of what is forbidden. A prohibition is kept by who has not said anything of the kind.
fn does(forbidden: &[Word], text: &[Word]) -> bool {
    let about: Vec<&Word> = forbidden.iter().filter(|w| w.is_content()).collect();
    !about.is_empty()
        && about.iter().all(|own| text.iter().any(|w| !w.negated && similarity(own, w) > 0.7))
}

/// What the agent's last message is about: an answer need not repeat it.
fn topic(context: &[Message]) -> Vec<Word> {
    let said = context.iter().rev().take(MAX_TOPIC).take_while(|m| m.role == Role::Assistant);
    said.flat_map(|m| statement_words(&m.text)).filter(Word::is_content).collect()
}

fn holds_for(statement: &str, said: &Said<'_>, in_doubt: bool) -> bool {
    if said.words.is_empty() {
        return false;
    }
    if in_doubt {
        return said.words.iter().any(Word::is_content) && small_talk(said.text).is_none();
    }
    // If the statement contains quotations, they are what the text must contain: `the user claims
    // "I have an account"`.
    let quoted: Vec<&str> = statement.split(['"', '“', '”']).skip(1).step_by(2).collect();
    // "I don't want anything else" and "that's all" say the same.
    let enough = |said: &str| super::spans::declines(said);
    if enough(said.text) && quoted.iter().any(|quote| enough(quote)) {
        return true;
    }
    if !quoted.is_empty() {
        return quoted.iter().any(|quote| holds(&statement_words(quote), said));
    }
    let all = statement_words(statement);
    // Alternatives are separate statements.
    all.split(|word| word.text == "or").any(|part| holds(part, said))
}

/// The words of a statement, up to the limit.
fn statement_words(statement: &str) -> Vec<Word> {
    let mut all = words(statement);
    all.truncate(MAX_STATEMENT_WORDS);
    all
}

fn holds(statement: &[Word], said: &Said<'_>) -> bool {
    let Said { text, words: text_words, topic, question } = *said;
    // A negated verb ("does not want to pay") negates the rest.
    let negated = statement.iter().any(|word| {
        matches!(
            word.text.as_str(),
            "not" | "never" | "doesn't" | "don't" | "isn't" | "hasn't" | "no" | "without"
        )
    });
    let is = |list: &[&str]| statement.iter().any(|w| list.contains(&w.text.as_str()));
    let about: Vec<&Word> = statement
        .iter()
        .filter(|w| w.is_content() && !FRAME_WORDS.contains(&w.text.as_str()))
        .collect();
    let reports = |said: fn(&str) -> bool| {
        statement.iter().any(|w| said(&w.text)) && about.iter().all(|w| said(&w.text))
    };
    if reports(reports_agreement) {
        return if negated { yes_or_no(text) == Some(false) } else { agrees(text, question) };
    }
    if reports(reports_refusal) {
        return yes_or_no(text) == Some(negated && !is(&["no"]));
    }
    if about.is_empty() {
        return false;
    }
    let act =
        |word: &Word| SPEECH_ACTS.iter().find(|(names, _)| names.contains(&word.text.as_str()));
    if let Some((_, shown)) = about.iter().find_map(|word| act(word)) {
        // To say what one can do instead of an answer is an excuse.
        let excuse = shown.contains(&"unfortunately") && super::replies::is_offer(text);
        let shows = excuse || text_words.iter().any(|w| shown.contains(&w.text.as_str()));
        return shows != negated;
    }
    // What was asked about goes without saying, but not what is to be done with it, and only if most of the rest is said: a
    // word that anybody may say, such as "today", decides nothing.
    let given = |word: &Word| {
        topic.iter().any(|w| w.stem == word.stem)
            && !text_words.iter().any(|w| w.stem == word.stem)
            && !is_deed(word)
    };
    let rest: Vec<&Word> = about.iter().copied().filter(|word| !given(word)).collect();
    let tells = rest.iter().any(|word| !INCIDENTAL.contains(&word.text.as_str()));
    let about = if tells && rest.len() * 2 >= about.len() { rest } else { about };
    let mut found = 0.0;
    let mut against = false;
    for word in &about {
        let best = text_words
            .iter()
            .map(|w| (similarity(w, word), w.negated))
            .fold((0.0, false), |best, now| if now.0 > best.0 { now } else { best });
        found += best.0;
        against |= best.0 > 0.0 && best.1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a few hundred words at most")]
    let share = found / about.len() as f64;
    share >= MIN_OVERLAP && against == negated
}
