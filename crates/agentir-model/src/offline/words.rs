//! Tokenisation into words, word similarity, and negation.

use regex::Regex;
use rust_stemmers::{Algorithm, Stemmer};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

/// The number of bytes of a text that are processed. Bounds the running time.
pub(super) const MAX_TEXT_BYTES: usize = 8 * 1024;

/// The Jaro-Winkler similarity from which two words may differ by a typing mistake.
const MIN_TYPO_SIMILARITY: f64 = 0.93;

/// The length from which words may contain a typing mistake, in bytes.
const MIN_TYPO_LEN: usize = 5;

/// Words without content.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "but",
    "by",
    "can",
    "could",
    "d",
    "did",
    "do",
    "does",
    "for",
    "from",
    "get",
    "give",
    "had",
    "has",
    "have",
    "hello",
    "her",
    "here",
    "hey",
    "hi",
    "him",
    "his",
    "how",
    "i",
    "if",
    "im",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "let",
    "like",
    "ll",
    "m",
    "may",
    "me",
    "might",
    "my",
    "of",
    "on",
    "or",
    "our",
    "please",
    "re",
    "s",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "t",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "too",
    "up",
    "us",
    "ve",
    "very",
    "want",
    "wants",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// Groups of words with a similar meaning in requests.
const SYNONYMS: &[&[&str]] = &[
    &["buy", "purchase", "order"],
    &["reserve", "book", "booking", "reservation"],
    &["change", "modify", "update", "edit", "reschedule"],
    &["cancel", "revoke", "terminate"],
    &["find", "search", "look", "looking", "lookup"],
    &["show", "view", "display", "see", "list"],
    &["recommend", "recommendation", "suggest", "suggestion", "propose"],
    &["price", "cost", "fee", "charge", "quote", "quotation", "estimate", "expensive"],
    &["person", "human", "agent", "representative", "operator", "somebody"],
    &["help", "assist", "support", "assistance"],
    &["refund", "reimburse", "reimbursement"],
    &["problem", "issue", "trouble", "broken", "complain", "complaint", "dissatisfied"],
    &["now", "current", "currently", "today"],
    &["bill", "billing", "invoice", "charged", "billed", "payment"],
    &["parcel", "package", "shipped", "shipping", "shipment", "delivery"],
    &["phone", "telephone", "mobile"],
    &["pick", "choose", "select"],
    &["ticket", "case"],
    &["hire", "rent", "rental"],
    &["fix", "repair", "mend"],
    &["job", "position", "vacancy"],
    &["doctor", "physician"],
    &["start", "begin"],
    &["item", "product", "article", "goods"],
    &[
        "technical",
        "technician",
        "app",
        "crash",
        "crashes",
        "bug",
        "software",
        "website",
        "internet",
        "router",
        "computer",
        "laptop",
        "login",
        "device",
        "printer",
        "wifi",
        "error",
    ],
    &["damage", "damaged", "accident", "claim", "crashed", "collision", "collided"],
    &["damaged", "broken", "cracked", "defective", "faulty", "smashed", "snapped"],
    &["lost", "missing", "gone", "stolen", "disappeared"],
    &["insurance", "insure", "policy", "policies", "coverage"],
    &["forecast", "tomorrow", "weekend", "future", "upcoming"],
    &["weather", "rain", "raining", "snow", "snowing", "sunny", "windy", "storm", "forecast"],
    &["toll", "fee", "pay", "payment", "charge"],
    &["food", "hungry", "eat", "meal", "kitchen", "pizza", "lunch", "dinner", "breakfast"],
    &["room", "bed", "accommodation", "stay", "overnight", "hotel", "sleep"],
    &["book", "read", "novel"],
    &["dental", "dentist", "tooth", "toothache", "teeth"],
    &["sms", "text", "notification", "message", "reminder"],
    &["rubbish", "waste", "trash", "garbage", "bin"],
    &["return", "returns", "exchange"],
    &["available", "availability", "vacancies", "free"],
    &["engine", "motor"],
    &["inspect", "inspection", "examine"],
    &["rewards", "reward", "loyalty", "points"],
    &["exit", "leave", "resign", "resignation", "quit"],
    &["vacation", "holiday", "absence"],
    &["send", "transfer", "wire"],
    &["money", "funds", "cash"],
    &["balance", "account"],
    &["status", "track", "tracking"],
    &["flat", "apartment"],
    &["trip", "journey", "travel"],
];

/// Phrases that mean a word, which may stand apart by up to [`MAX_APART`] words: "send them back" is returning.
const PHRASES: &[(&[&str], &str)] = &[
    (&["send", "back"], "return"),
    (&["bring", "back"], "return"),
    (&["give", "back"], "return"),
    (&["take", "back"], "return"),
    (&["money", "back"], "refund"),
    (&["how", "much"], "price"),
    (&["money", "left"], "balance"),
    (&["much", "left"], "balance"),
    (&["much", "in"], "balance"),
    (&["have", "anything"], "available"),
    (&["anything", "free"], "available"),
    (&["get", "rid", "of"], "remove"),
    (&["get", "out", "of"], "cancel"),
    (&["put", "on"], "add"),
    (&["sign", "me", "up"], "register"),
    (&["take", "off"], "remove"),
    (&["pull", "out"], "cancel"),
    (&["call", "off"], "cancel"),
    (&["set", "up"], "start"),
    (&["sign", "up"], "register"),
    (&["look", "at"], "view"),
    (&["come", "by"], "visit"),
    (&["see", "someone"], "appointment"),
    (&["see", "somebody"], "appointment"),
    (&["come", "in"], "appointment"),
    (&["hit", "my"], "damage"),
    (&["ran", "into"], "damage"),
    (&["put", "off"], "reschedule"),
    (&["move", "to"], "reschedule"),
    (&["sum", "up"], "summarize"),
];

/// Phrases that only say that something is asked: "tell me about the tickets" is about the tickets.
const FRAMES: &[&[&str]] =
    &[&["tell", "me"], &["tell", "us"], &["let", "me", "know"], &["to", "know"], &["find", "out"]];

/// The number of words that may stand between two words of a phrase.
const MAX_APART: usize = 2;

/// What requests and descriptions are for, by their verbs.
const ACTS: &[(Act, &[&str])] = &[
    (
        Act::Make,
        &[
            "add", "create", "new", "open", "submit", "file", "register", "make", "adds",
            "creates", "enrol", "enroll",
        ],
    ),
    (
        Act::Remove,
        &[
            "delete",
            "remove",
            "cancel",
            "close",
            "terminate",
            "deletes",
            "removes",
            "cancels",
            "unsubscribe",
        ],
    ),
    (
        Act::Change,
        &[
            "change",
            "update",
            "modify",
            "edit",
            "reschedule",
            "updates",
            "changes",
            "correct",
            "rename",
        ],
    ),
    (
        Act::Show,
        &[
            "list",
            "show",
            "view",
            "display",
            "see",
            "look",
            "know",
            "find",
            "search",
            "get",
            "retrieve",
            "tell",
            "which",
            "who",
            "what",
            "where",
            "when",
            "lookup",
            "retrieves",
            "shows",
            "views",
            "check",
            "checks",
            "fetch",
        ],
    ),
];

/// What is to be done with something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Make,
    Remove,
    Change,
    Show,
}

/// Whether a word says what is to be done, rather than with what.
pub(super) fn is_act(word: &Word) -> bool {
    ACTS.iter().any(|(_, list)| list.contains(&word.text.as_str()))
}

/// Other words for what is done with something.
const DEEDS: &[&str] = &[
    "accept",
    "activate",
    "allow",
    "apply",
    "approve",
    "arrange",
    "ask",
    "begin",
    "block",
    "book",
    "borrow",
    "bring",
    "buy",
    "call",
    "charge",
    "choose",
    "claim",
    "confirm",
    "continue",
    "decline",
    "deliver",
    "deny",
    "deposit",
    "end",
    "exchange",
    "extend",
    "fix",
    "freeze",
    "give",
    "hire",
    "hold",
    "keep",
    "leave",
    "lend",
    "lock",
    "lose",
    "move",
    "order",
    "pause",
    "pay",
    "payment",
    "pick",
    "postpone",
    "purchase",
    "quit",
    "receive",
    "refund",
    "reject",
    "renew",
    "rent",
    "repair",
    "replace",
    "report",
    "reserve",
    "reservation",
    "reset",
    "resume",
    "return",
    "save",
    "select",
    "sell",
    "send",
    "ship",
    "sign",
    "start",
    "stop",
    "subscribe",
    "switch",
    "take",
    "transfer",
    "unblock",
    "unlock",
    "upgrade",
    "downgrade",
    "use",
    "verify",
    "wire",
    "withdraw",
    "withdrawal",
];

/// Whether a word in any form says what is done with something: "pay", "cancellation".
pub(super) fn is_deed(word: &Word) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let stemmer = Stemmer::create(Algorithm::English);
        let acts = ACTS.iter().flat_map(|(_, list)| *list).chain(DEEDS);
        acts.map(|word| stemmer.stem(word).into_owned()).collect()
    });
    STEMS.contains(&word.stem)
}

/// What the first verb of a text that says it is for. Showing only counts if there is no other.
pub(super) fn act(words: &[Word]) -> Option<Act> {
    // "My list of payees" lists nothing, and "get rid of" gets nothing.
    let noun = |at: usize| {
        at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|w| {
            matches!(
                w.text.as_str(),
                "my" | "the" | "a" | "your" | "our" | "this" | "that" | "his" | "her"
            )
        })
    };
    let verbs = words.iter().enumerate().filter(|(at, w)| !w.negated && !noun(*at));
    let found = verbs.filter_map(|(_, w)| {
        let text = match (w.means, w.covered) {
            (Some(means), _) => means,
            (None, true) => return None,
            (None, false) => w.text.as_str(),
        };
        ACTS.iter().find(|(_, list)| list.contains(&text)).map(|(act, _)| *act)
    });
    found.reduce(|first, next| if first == Act::Show { next } else { first })
}

/// Words that negate what follows, up to the end of the clause.
const NEGATIONS: &[&str] = &[
    "not", "no", "never", "without", "dont", "don't", "doesn't", "didn't", "isn't", "aren't",
    "wasn't", "weren't", "won't", "wouldn't", "can't", "cannot", "couldn't", "haven't", "hasn't",
    "neither", "nor", "except",
];

/// Words that end the scope of a negation.
const CLAUSE_BREAKS: &[&str] = &["but", "instead", "rather", "although", "however", "because"];

/// A word of a text.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// In lower case.
    pub text: String,
    /// The position in the text.
    pub at: Range<usize>,
    /// The stem.
    pub stem: String,
    /// The rows of [`SYNONYMS`] that contain the word.
    meanings: Vec<usize>,
    /// What the phrase means that ends with the word.
    means: Option<&'static str>,
    /// Whether the word is the first of a phrase, and means nothing of its own.
    covered: bool,
    /// Whether the word is negated.
    pub negated: bool,
}

impl Word {
    pub(super) fn is_content(&self) -> bool {
        self.means.is_some()
            || !self.covered
                && !STOP_WORDS.contains(&self.text.as_str())
                && !NEGATIONS.contains(&self.text.as_str())
    }
}

/// The part of a text that is processed.
pub(super) fn truncated(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT_BYTES)).unwrap_or(text)
}

/// Splits a text into words: letters and digits, with apostrophes between them.
pub(super) fn words(text: &str) -> Vec<Word> {
    let stemmer = Stemmer::create(Algorithm::English);
    let text = truncated(text);
    let mut found: Vec<Word> = Vec::new();
    let mut negated = false;
    let mut start = None;
    let ends = text.char_indices().map(|(at, c)| (at, Some(c))).chain([(text.len(), None)]);
    for (at, c) in ends {
        let inside =
            c.is_some_and(|c| c.is_alphanumeric() || (start.is_some() && is_apostrophe(c)));
        if inside {
            start.get_or_insert(at);
            continue;
        }
        if let Some(from) = start.take()
            && let Some(word) = text.get(from..at)
        {
            let word = word.trim_end_matches(is_apostrophe);
            let lower = word.to_lowercase().replace('’', "'");
            if CLAUSE_BREAKS.contains(&lower.as_str()) {
                negated = false;
            }
            // "No, tomorrow" negates what was said before, not what follows.
            let deny = NEGATIONS.contains(&lower.as_str()) && !(lower == "no" && c != Some(' '));
            // "The recipient's address" is about the recipient.
            let stem = stemmer.stem(lower.strip_suffix("'s").unwrap_or(&lower)).into_owned();
            let meanings = meanings(&[&lower, &stem]);
            let at = from..from + word.len();
            found.push(Word {
                text: lower,
                at,
                stem,
                meanings,
                means: None,
                covered: false,
                negated,
            });
            negated |= deny;
        }
        if c.is_some_and(|c| ",.;:!?\n".contains(c)) {
            negated = false;
        }
    }
    mark_frames(&mut found);
    mark_phrases(&mut found);
    found
}

/// The rows of [`SYNONYMS`] by the words in them and their stems, so that every form of a word is found.
static MEANINGS: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut rows: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, row) in SYNONYMS.iter().enumerate() {
        for word in *row {
            for form in [(*word).to_owned(), stemmer.stem(word).into_owned()] {
                let found = rows.entry(form).or_default();
                if !found.contains(&at) {
                    found.push(at);
                }
            }
        }
    }
    rows
});

/// The rows of [`SYNONYMS`] that contain one of some words.
fn meanings(of: &[&str]) -> Vec<usize> {
    of.iter().filter_map(|word| MEANINGS.get(*word)).flatten().copied().collect()
}

/// Marks the words that only say that something is asked.
fn mark_frames(found: &mut [Word]) {
    for start in 0..found.len() {
        let rest = found.get(start..).unwrap_or_default();
        let frame = FRAMES.iter().find(|frame| {
            rest.len() >= frame.len() && rest.iter().zip(**frame).all(|(w, own)| w.text == *own)
        });
        let end = start + frame.map_or(0, |frame| frame.len());
        found.get_mut(start..end).into_iter().flatten().for_each(|word| word.covered = true);
    }
}

/// Gives the last word of each phrase the meaning of the phrase.
fn mark_phrases(found: &mut [Word]) {
    for start in 0..found.len() {
        let Some(first) = found.get(start).map(|w| w.text.as_str()) else { return };
        if !PHRASES.iter().any(|(phrase, _)| phrase.first() == Some(&first)) {
            continue;
        }
        let first = first.to_owned();
        for (phrase, meant) in
            PHRASES.iter().filter(|(phrase, _)| phrase.first() == Some(&first.as_str()))
        {
            let mut at = start;
            let whole = phrase.iter().skip(1).all(|wanted| {
                let next = (at + 1..=at + 1 + MAX_APART)
                    .find(|next| found.get(*next).is_some_and(|w| w.text == *wanted));
                at = next.unwrap_or(at);
                next.is_some()
            });
            if whole {
                // "How much money is left" is not about money alone.
                if let Some(first) = found.get_mut(start) {
                    first.covered = true;
                }
            }
            if whole && let Some(last) = found.get_mut(at) {
                last.meanings.extend(meanings(&[meant]));
                last.means = Some(meant);
            }
        }
    }
}

fn is_apostrophe(c: char) -> bool {
    c == '\'' || c == '’'
}

/// Splits an identifier into words: `check_in_date`, `BookFlight`.
pub(super) fn name_words(name: &str) -> Vec<Word> {
    let mut spaced = String::new();
    let mut lower = false;
    for c in truncated(name).chars() {
        if c.is_uppercase() && lower {
            spaced.push(' ');
        }
        lower = c.is_lowercase() || c.is_numeric();
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    words(&spaced)
}

/// The similarity of two words: 1 for forms of the same word, less for synonyms or typing mistakes,
/// else 0.
pub(super) fn similarity(one: &Word, other: &Word) -> f64 {
    if one.stem == other.stem || one.text == other.text {
        return 1.0;
    }
    if one.meanings.iter().any(|row| other.meanings.contains(row)) {
        return 0.8;
    }
    let means = |one: &Word, other: &Word| one.means.is_some_and(|means| means == other.text);
    if means(one, other) || means(other, one) {
        return 0.8;
    }
    if is_typo(&one.text, &other.text) { 0.8 } else { 0.0 }
}

/// Whether two words may differ by a typing mistake.
pub(super) fn is_typo(one: &str, other: &str) -> bool {
    // Lengths in bytes; very long words are not compared.
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    let long = short >= MIN_TYPO_LEN && long <= short + 2 && long <= 40;
    // Different numbers are never typing mistakes.
    let letters = |text: &str| text.chars().all(char::is_alphabetic);
    long && letters(one)
        && letters(other)
        && strsim::jaro_winkler(one, other) >= MIN_TYPO_SIMILARITY
}

/// Whether a text is a question rather than an answer.
pub(super) fn is_question(text: &str) -> bool {
    const ASKING: &[&str] = &[
        "what", "what's", "why", "how", "when", "where", "who", "which", "can", "could", "do",
        "does", "is", "are", "will", "would", "should",
    ];
    let asks = words(text).first().is_some_and(|word| ASKING.contains(&word.text.as_str()));
    text.trim_end().ends_with('?') || asks
}

/// A pattern of ours, which ignores case.
#[expect(clippy::expect_used, reason = "constants, which tests compile")]
pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("a constant pattern")
}
