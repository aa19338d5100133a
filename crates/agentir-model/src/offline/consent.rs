//! Whether someone agrees to what is about to be done, and to nothing else.

use super::spans::declines;
use super::words::{Word, is_question, similarity, words, yes_or_no};

/// What an agreement may consist of. Whoever says more (another amount, a condition, a doubt) may mean something else,
/// and is asked again.
const WORDS: &[&str] = &[
    "a",
    "absolutely",
    "ahead",
    "all",
    "alright",
    "and",
    "by",
    "certainly",
    "complete",
    "confirm",
    "confirmed",
    "continue",
    "correct",
    "course",
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
    "me",
    "my",
    "now",
    "of",
    "ok",
    "okay",
    "perfect",
    "please",
    "proceed",
    "right",
    "s",
    "sounds",
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

/// What may be agreed to by its name, if that is what was asked: "cancel it" is no agreement to a transfer.
const ACTIONS: &[&str] = &[
    "book", "buy", "cancel", "create", "delete", "make", "order", "pay", "payment", "place",
    "refund", "send", "start", "transfer",
];

/// Words that follow each other in questions and in wishes for something else, though each may be part of an agreement.
const OTHERWISE: &[[&str; 2]] = &[
    ["can", "i"],
    ["may", "i"],
    ["will", "i"],
    ["you", "sure"],
    ["you", "right"],
    ["to", "me"],
    ["to", "my"],
    ["to", "this"],
    ["make", "it"],
    ["make", "that"],
];

/// What "correct" is followed by if it is a verb.
const CORRECTED: &[&str] = &["it", "that", "this", "the", "my", "them", "me"];

/// The number of words that an agreement has at most.
const MAX_WORDS: usize = 24;

/// Whether a text agrees without reservation to what a question asked.
pub(super) fn agrees(text: &str, question: &str) -> bool {
    if yes_or_no(text) != Some(true) || text.contains(['?', '…']) {
        return false;
    }
    // "Sure, why not" and "no problem" agree, and "not" alone does not.
    let plain = text.to_lowercase().replace("why not", "").replace("no problem", "");
    let said = words(&plain);
    if said.len() > MAX_WORDS || is_question(&plain) {
        return false;
    }
    // "That's all" ends, and "that's all correct" agrees.
    const RIGHT: &[&str] = &["correct", "right", "fine", "good", "perfect", "great"];
    let ends = |(at, word): (usize, &Word)| {
        let right = said.iter().skip(at).any(|w| RIGHT.contains(&w.text.as_str()));
        !right && plain.get(word.at.start..).is_some_and(declines)
    };
    let otherwise = said.windows(2).any(|pair| {
        let [one, next] = pair else { return false };
        let corrects = one.text == "correct"
            && CORRECTED.contains(&next.text.as_str())
            && plain.get(one.at.end..next.at.start) == Some(" ");
        corrects || OTHERWISE.contains(&[one.text.as_str(), next.text.as_str()])
    });
    if otherwise || said.iter().enumerate().any(ends) {
        return false;
    }
    let asked = words(question);
    // Of two things, the name of an action is one.
    let single = !asked.iter().any(|w| w.text == "or");
    said.iter().all(|word| {
        let own = word.text.as_str();
        // "Send me one" after an offer of "a new card".
        let one = || own == "one" && asked.iter().any(|w| matches!(w.text.as_str(), "a" | "an"));
        !word.negated
            && (one()
                || WORDS.contains(&own)
                || ACTIONS.contains(&own) && single && is_asked(question, &asked, word))
    })
}

/// Whether a text says yes to a question about a wish, with nothing but words of agreement and of the question: "yes please, I
/// need a new one". Unlike [`agrees`], it is no agreement to an action.
pub(super) fn affirms(text: &str, question: &str) -> bool {
    const WISHES: &[&str] = &["need", "want", "would", "like", "love", "i'd", "we'd", "we", "one"];
    const OFFERS: &[&str] = &["would you like", "do you want", "do you need", "would you want"];
    let question = question.to_lowercase();
    let offer = OFFERS.iter().filter_map(|phrase| question.rfind(phrase)).max();
    let Some(offer) = offer.and_then(|at| question.get(at..)) else { return false };
    if yes_or_no(text) != Some(true) || text.contains(['?', '…']) || is_question(text) {
        return false;
    }
    let (said, asked) = (words(text), words(offer));
    said.len() <= MAX_WORDS
        && !asked.iter().any(|w| w.text == "or")
        && said.iter().all(|word| {
            let own = word.text.as_str();
            !word.negated
                && (WORDS.contains(&own)
                    || WISHES.contains(&own)
                    || asked.iter().any(|w| w.stem == word.stem && !w.negated))
        })
}

/// Whether a question asks for an action: with a verb, or with a noun if it has no such verb. "Shall I cancel the booking" does
/// not ask for booking.
fn is_asked(text: &str, question: &[Word], action: &Word) -> bool {
    const BEFORE_NOUNS: &[&str] = &["a", "an", "the", "your", "my", "this", "that", "our", "any"];
    let noun = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| question.get(before));
        let next = question.get(at).map_or(0, |w| w.at.start);
        before.is_some_and(|w| {
            BEFORE_NOUNS.contains(&w.text.as_str()) && text.get(w.at.end..next) == Some(" ")
        })
    };
    let names =
        |word: &Word| ACTIONS.iter().any(|name| words(name).iter().any(|w| w.stem == word.stem));
    let verbs = || question.iter().enumerate().filter(|(at, _)| !noun(*at)).map(|(_, word)| word);
    let means = |word: &Word| !word.negated && similarity(word, action) > 0.7;
    if verbs().any(names) { verbs().any(means) } else { question.iter().any(means) }
}

/// Whether a text only declines, and gives nothing else instead: "no, thanks", but not "no, 4 people".
pub(super) fn only_declines(text: &str) -> bool {
    const NO: &[&str] = &[
        "no",
        "n",
        "nope",
        "nah",
        "never",
        "not",
        "don't",
        "dont",
        "do",
        "thanks",
        "thank",
        "you",
        "please",
        "that",
        "that's",
        "it",
        "is",
        "isn't",
        "wrong",
        "incorrect",
        "right",
        "correct",
        "really",
        "ok",
        "okay",
        "sorry",
        "now",
        "yet",
        "want",
        "to",
        "it's",
        "this",
        "i",
        "false",
        "negative",
        "all",
        "wait",
        "stop",
        "mind",
        "changed",
        "my",
    ];
    yes_or_no(text) == Some(false)
        && words(text).iter().all(|word| NO.contains(&word.text.as_str()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_agreement_is_agreement() {
        let agrees = |text: &str| super::agrees(text, "Shall I transfer 80 dollars to Ann?");
        for yes in [
            "sure, why not",
            "no problem",
            "yes",
            "Yes, please.",
            "ok, do it",
            "sure, go ahead",
            "that's correct, thanks",
            "Yes, transfer it, thanks",
        ] {
            assert!(agrees(yes), "{yes}");
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
            "right, cancel that",
            "correct it",
            "you sure",
            "ok, that's all",
            "no",
            "",
        ] {
            assert!(!agrees(no), "{no}");
        }
    }
}
