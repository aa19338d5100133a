//! Whether a statement in words holds for a text: if the text says what the statement is about, and
//! does not deny it. Who is not sure says no.

use super::words::{Word, similarity, words, yes_or_no};

/// How much of what a statement is about the text must say.
const MIN_OVERLAP: f64 = 0.74;

/// How many words of a statement are looked at.
const MAX_STATEMENT_WORDS: usize = 200;

/// Words of statements that are about the conversation, not about what is said in it.
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

/// What people do with few words, and the words they do it with.
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

/// Statements that a yes or a no answers.
const AGREE: &[&str] =
    &["agrees", "agree", "confirms", "confirm", "accepts", "accept", "approves", "yes", "consents"];
const REFUSE: &[&str] =
    &["declines", "decline", "refuses", "refuse", "rejects", "reject", "disagrees", "denies", "no"];

/// Whether a statement holds for a text.
pub(super) fn judge(statement: &str, text: &str) -> bool {
    let said = words(text);
    if said.is_empty() {
        return false;
    }
    // What is quoted is what is to be said: `the user claims "I have an account"`.
    let quoted: Vec<&str> = statement.split(['"', '“', '”']).skip(1).step_by(2).collect();
    if !quoted.is_empty() {
        return quoted.iter().any(|quote| holds(&statement_words(quote), &said, text));
    }
    let all = statement_words(statement);
    // Alternatives: each is a statement of its own.
    all.split(|word| word.text == "or").any(|part| holds(part, &said, text))
}

/// The words of a statement, as many as are looked at.
fn statement_words(statement: &str) -> Vec<Word> {
    let mut all = words(statement);
    all.truncate(MAX_STATEMENT_WORDS);
    all
}

fn holds(statement: &[Word], said: &[Word], text: &str) -> bool {
    // A denied verb of the frame ("does not want to pay") denies the rest.
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
        return said.iter().any(|w| shown.contains(&w.text.as_str())) != negated;
    }
    let mut found = 0.0;
    let mut against = false;
    for word in &about {
        let best = said
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
