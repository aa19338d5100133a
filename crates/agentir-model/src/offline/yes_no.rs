//! Words that say yes and no, and words for saying so.

use super::words::{truncated, words};

/// What a word says about agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// It is a yes.
    Yes,
    /// It is a no.
    No,
    /// It reports that somebody agrees: "the user accepts".
    Agreed,
    /// It reports that somebody does not.
    Refused,
}

/// All of these words, each once.
const WORDS: &[(Says, &[&str])] = &[
    (
        Says::Yes,
        &[
            "yes",
            "y",
            "yeah",
            "yep",
            "yup",
            "aye",
            "sure",
            "ok",
            "okay",
            "right",
            "correct",
            "true",
            "exactly",
            "absolutely",
            "definitely",
            "certainly",
            "fine",
            "affirmative",
            "indeed",
            "agreed",
            "confirm",
            "confirmed",
            "approved",
            "accepted",
        ],
    ),
    (
        Says::No,
        &[
            "no",
            "n",
            "nope",
            "nah",
            "never",
            "false",
            "wrong",
            "incorrect",
            "negative",
            "not",
            "don't",
            "dont",
        ],
    ),
    (
        Says::Agreed,
        &[
            "agrees", "agree", "confirms", "accepts", "accept", "approves", "approve", "consents",
            "consent",
        ],
    ),
    (
        Says::Refused,
        &[
            "declines",
            "decline",
            "refuses",
            "refuse",
            "rejects",
            "reject",
            "disagrees",
            "disagree",
            "denies",
            "deny",
        ],
    ),
];

/// What a word, in lower case, says about agreement.
pub(super) fn says(word: &str) -> Option<Says> {
    WORDS.iter().find(|(_, list)| list.contains(&word)).map(|(says, _)| *says)
}

/// Whether a word reports agreement, in the words of an author: "the user confirms", "if they say yes".
pub(super) fn reports_agreement(word: &str) -> bool {
    says(word) == Some(Says::Agreed) || matches!(word, "yes" | "confirm" | "confirmed" | "agreed")
}

/// Whether a word reports the opposite.
pub(super) fn reports_refusal(word: &str) -> bool {
    says(word) == Some(Says::Refused) || word == "no"
}

/// Whether a text is a clear yes or no.
pub(super) fn yes_or_no(text: &str) -> Option<bool> {
    const PHRASES: &[(&str, bool)] = &[
        ("of course not", false),
        ("not really", false),
        ("no thanks", false),
        ("no problem", true),
        ("of course", true),
        ("go ahead", true),
        ("sounds good", true),
        ("please do", true),
        ("why not", true),
        ("that's right", true),
        ("that is right", true),
        ("not right", false),
        ("i do not", false),
        ("i do", true),
        ("i am not", false),
        ("i am", true),
        ("not sure", false),
    ];
    let text = truncated(text).to_lowercase().replace('’', "'");
    let words = words(&text);
    let spaced: String =
        words.iter().map(|w| format!(" {}", w.text)).chain([" ".to_owned()]).collect();
    if spaced.contains(" not sure ") || spaced.contains(" don't know ") {
        return None;
    }
    // The first words decide: "no, I'm sure", "yes, no problem".
    if let Some((_, yes)) = PHRASES.iter().find(|(p, _)| spaced.starts_with(&format!(" {p} "))) {
        return Some(*yes);
    }
    words.iter().take(3).find_map(|word| match says(&word.text)? {
        Says::Yes => Some(true),
        Says::No => Some(false),
        Says::Agreed | Says::Refused => None,
    })
}
