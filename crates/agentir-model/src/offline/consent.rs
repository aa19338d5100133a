//! Whether someone agrees to what is about to be done, and to nothing else.

use super::words::{words, yes_or_no};

/// What an agreement may consist of. Whoever says more (another amount, a condition, a doubt) may mean something else,
/// and is asked again.
const WORDS: &[&str] = &[
    "a",
    "absolutely",
    "ahead",
    "all",
    "alright",
    "and",
    "book",
    "buy",
    "by",
    "cancel",
    "certainly",
    "complete",
    "confirm",
    "confirmed",
    "continue",
    "correct",
    "course",
    "create",
    "delete",
    "do",
    "exactly",
    "execute",
    "fine",
    "for",
    "go",
    "good",
    "great",
    "i",
    "is",
    "it",
    "its",
    "it's",
    "looks",
    "make",
    "me",
    "my",
    "now",
    "of",
    "ok",
    "okay",
    "order",
    "pay",
    "payment",
    "perfect",
    "place",
    "please",
    "proceed",
    "refund",
    "right",
    "s",
    "send",
    "sounds",
    "start",
    "submit",
    "sure",
    "thank",
    "thanks",
    "that",
    "that's",
    "thats",
    "the",
    "them",
    "this",
    "to",
    "transfer",
    "want",
    "works",
    "yeah",
    "yep",
    "y",
    "yes",
    "yup",
    "you",
    "agree",
    "agreed",
    "approve",
    "approved",
    "accept",
    "definitely",
    "indeed",
    "affirmative",
    "would",
    "will",
    "like",
    "can",
    "may",
    "very",
    "much",
    "so",
    "with",
    "on",
    "then",
    "go-ahead",
];

/// Whether a text agrees without reservation.
pub(super) fn agrees(text: &str) -> bool {
    // "Sure, why not" agrees, and "not" alone does not.
    let plain = text.to_lowercase().replace("why not", "");
    let said = words(&plain);
    yes_or_no(text) == Some(true)
        && !text.contains(['?', '…'])
        && said
            .iter()
            .all(|word| WORDS.contains(&word.text.to_lowercase().as_str()) && !word.negated)
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_agreement_is_agreement() {
        for yes in [
            "sure, why not",
            "yes",
            "Yes, please.",
            "ok, do it",
            "sure, go ahead",
            "Yes, transfer it, thanks",
        ] {
            assert!(super::agrees(yes), "{yes}");
        }
        for no in [
            "ok never mind",
            "yes no wait",
            "yeah right, no way",
            "yes but only 100",
            "yes, but make it 5000",
            "yes, but send it to Bob instead",
            "sure, but not to Ann",
            "yes, tomorrow",
            "yes?",
            "maybe",
            "no",
            "",
        ] {
            assert!(!super::agrees(no), "{no}");
        }
    }
}
