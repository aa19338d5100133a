//! Judging natural-language statements: a statement holds if the text mentions its subject without
//! negating it. In doubt it does not hold, unless the question says otherwise.

use super::consent::agrees;
use super::phrases::small_talk;
use super::words::{Word, similarity, words, yes_or_no};
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

/// Words for agreement and refusal.
const AGREE: &[&str] =
    &["agrees", "agree", "confirms", "confirm", "accepts", "accept", "approves", "yes", "consents"];
const REFUSE: &[&str] =
    &["declines", "decline", "refuses", "refuse", "rejects", "reject", "disagrees", "denies", "no"];

/// The number of words up to which a yes or no is an answer to the question before it.
const MAX_SHORT_WORDS: usize = 5;

/// The number of messages of the agent that an answer is about.
const MAX_TOPIC: usize = 3;

/// Whether a statement holds for a text. If it holds in doubt, it does unless the text says nothing.
pub(super) fn judge(statement: &str, text: &str, context: &[Message], in_doubt: bool) -> bool {
    if statement == ModelTask::AGREEMENT {
        return agrees(text);
    }
    let topic = if in_doubt { Vec::new() } else { topic(context) };
    if holds_for(statement, text, &topic, in_doubt) {
        return true;
    }
    // A short yes says what the question asked.
    let short = words(text).len() <= MAX_SHORT_WORDS;
    let Some(yes) = yes_or_no(text).filter(|_| short && !in_doubt) else { return false };
    let quoted = || statement.split(['"', '“', '”']).skip(1).step_by(2);
    let begins = |quote: &str| {
        let first = words(quote).into_iter().next();
        first.and_then(|first| yes_or_no(&first.text))
    };
    if quoted().any(|quote| begins(quote) == Some(yes)) {
        return true;
    }
    let last = context.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty());
    let question = last.and_then(|m| m.text.split_inclusive(['.', '!', '\n']).next_back());
    let Some(question) = question.filter(|question| question.contains('?')) else { return false };
    let mut asked = words(question);
    asked.iter_mut().for_each(|word| word.negated = !yes);
    let part = |statement: &str| {
        let all = statement_words(statement);
        all.split(|word| word.text == "or").any(|part| holds(part, &asked, &[], text))
    };
    // Agreement without more was judged above.
    if quoted().next().is_some() { quoted().any(part) } else { part(statement) }
}

/// What the agent's last message is about: an answer need not repeat it.
fn topic(context: &[Message]) -> Vec<Word> {
    let said = context.iter().rev().take(MAX_TOPIC).take_while(|m| m.role == Role::Assistant);
    said.flat_map(|m| statement_words(&m.text)).filter(Word::is_content).collect()
}

fn holds_for(statement: &str, text: &str, topic: &[Word], in_doubt: bool) -> bool {
    let text_words = words(text);
    if text_words.is_empty() {
        return false;
    }
    if in_doubt {
        return text_words.iter().any(Word::is_content) && small_talk(text).is_none();
    }
    // If the statement contains quotations, they are what the text must contain: `the user claims
    // "I have an account"`.
    let quoted: Vec<&str> = statement.split(['"', '“', '”']).skip(1).step_by(2).collect();
    // "I don't want anything else" and "that's all" say the same.
    let enough = |said: &str| super::spans::declines(said);
    if enough(text) && quoted.iter().any(|quote| enough(quote)) {
        return true;
    }
    if !quoted.is_empty() {
        return quoted.iter().any(|quote| holds(&statement_words(quote), &text_words, topic, text));
    }
    let all = statement_words(statement);
    // Alternatives are separate statements.
    all.split(|word| word.text == "or").any(|part| holds(part, &text_words, topic, text))
}

/// The words of a statement, up to the limit.
fn statement_words(statement: &str) -> Vec<Word> {
    let mut all = words(statement);
    all.truncate(MAX_STATEMENT_WORDS);
    all
}

fn holds(statement: &[Word], text_words: &[Word], topic: &[Word], text: &str) -> bool {
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
    let only = |list: &[&str]| about.iter().all(|w| list.contains(&w.text.as_str()));
    if is(AGREE) && only(AGREE) {
        return yes_or_no(text) == Some(!negated);
    }
    if is(REFUSE) && only(REFUSE) {
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
    // What was asked about goes without saying, if anything else is left.
    let given = |word: &Word| {
        topic.iter().any(|w| w.stem == word.stem) && !text_words.iter().any(|w| w.stem == word.stem)
    };
    let rest: Vec<&Word> = about.iter().copied().filter(|word| !given(word)).collect();
    let about = if rest.is_empty() { about } else { rest };
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
