//! Whether someone agrees to what is about to be done, and to nothing else.

use super::numbers::numbers;
use super::spans::declines;
use super::words::{Word, is_deed, is_question, similarity, words};
use super::yes_no::{Says, says, yes_or_no};

/// What an agreement consists of. These are whole phrases and not single words, because words that agree in one order wish
/// for something else in another ("will I", "correct it", "yes, for one"). Whoever says more (another amount, a condition, a
/// doubt) may mean something else, and is asked again.
///
/// `YES` is a word that says yes, `FINE` one that says that something is as it should be, `IT` what was asked about, and `ACT`
/// what is asked for.
const PHRASES: &[&str] = &[
    "YES",
    "of course",
    "by all means",
    "with pleasure",
    "why not",
    "no problem",
    "sure thing",
    "you bet",
    "good idea",
    "please",
    "thanks",
    "thank you",
    "many thanks",
    "very much",
    "so much",
    "very much so",
    "now",
    "then",
    "and",
    "alright",
    "all right",
    "FINE",
    "very good",
    "very well",
    "FINE by me",
    "FINE with me",
    "go ahead",
    "go ahead with IT",
    "go ahead with the ACT",
    "go on",
    "go for it",
    "let's go",
    "proceed",
    "proceed with IT",
    "proceed with the ACT",
    "continue",
    "submit",
    "execute",
    "complete",
    "submit IT",
    "execute IT",
    "complete IT",
    "confirm IT",
    "approve IT",
    "accept IT",
    "approve",
    "accept",
    "complete the ACT",
    "confirm the ACT",
    "approve the ACT",
    "submit the ACT",
    "do IT",
    "do so",
    "do IT for me",
    "please do",
    "let's do IT",
    "i do",
    "we do",
    "i am",
    "it is",
    "they are",
    "i would",
    "i agree",
    "we agree",
    "i accept",
    "i confirm",
    "i approve",
    "i confirm IT",
    "i approve IT",
    "i accept IT",
    "i confirm the ACT",
    "i agree to the ACT",
    "i am sure",
    "i'm sure",
    "i said yes",
    "IT is FINE",
    "it's FINE",
    "that's FINE",
    "thats FINE",
    "IT is all FINE",
    "it's all FINE",
    "that's all FINE",
    "all FINE",
    "all is FINE",
    "everything is FINE",
    "everything's FINE",
    "the details are FINE",
    "all details are FINE",
    "looks FINE",
    "it looks FINE",
    "that looks FINE",
    "all looks FINE",
    "everything looks FINE",
    "sounds FINE",
    "it sounds FINE",
    "that sounds FINE",
    "works for me",
    "that works",
    "that works for me",
    "it works for me",
    "that would be FINE",
    "that'd be FINE",
    "you can",
    "you may",
    "you can do IT",
    "you may do IT",
    "you can ACT IT",
    "you may ACT IT",
    "i want to",
    "i want IT",
    "i want to do IT",
    "i want to ACT IT",
    "i'd like to",
    "i'd like that",
    "i'd like to do IT",
    "i'd love to",
    "i would like to",
    "i would like that",
    "i would love to",
    "that's what i want",
    "that is what i want",
    "ACT",
    "ACT IT",
    "ACT the ACT",
    "ACT my ACT",
    "ACT this ACT",
    "ACT that ACT",
    "make the ACT",
    "place the ACT",
    "start the ACT",
];

/// Words that say that something is as it should be.
const FINE: &[&str] = &[
    "correct",
    "right",
    "fine",
    "good",
    "great",
    "perfect",
    "ok",
    "okay",
    "true",
    "nice",
    "lovely",
    "wonderful",
    "ideal",
    "excellent",
    "cool",
    "brilliant",
];

/// What may be agreed to by its name, if that is what was asked: "cancel it" is no agreement to a transfer.
const ACTIONS: &[&str] = &[
    "book", "buy", "cancel", "create", "delete", "order", "pay", "payment", "place", "refund",
    "send", "start", "transfer",
];

/// The number of words that an agreement has at most.
const MAX_WORDS: usize = 24;

/// Whether a text agrees without reservation to what a question asked.
pub(super) fn agrees(text: &str, question: &str) -> bool {
    assents(text, question, None)
}

/// Whether a text says yes to the offer of a thing, in words of agreement, of the offer, of a wish and of `own`, what a yes would
/// be in full: "yes please, I need a new one". To an action somebody only [`agrees`].
pub(super) fn affirms(text: &str, question: &str, own: &str) -> bool {
    offered(question).is_some_and(|offer| {
        let things = Things::of(offer, own);
        assents(text, question, Some(&things))
    })
}

/// What a question offers, if it is a thing: "would you like a new card?", but not "would you like to buy a card?".
fn offered(question: &str) -> Option<&str> {
    const OFFERS: &[&str] = &["would you like", "do you want", "do you need", "would you want"];
    // What is done to somebody who gets a thing.
    const PASSIVE: &[&str] = &["be", "get", "have"];
    let lower = question.to_ascii_lowercase();
    let at = OFFERS.iter().filter_map(|phrase| Some(lower.rfind(phrase)? + phrase.len())).max()?;
    let offer = question.get(at..)?;
    let offer = offer.split(['?', '\n']).next()?;
    let asked = words(offer);
    let does = match asked.as_slice() {
        [to, verb, ..] if to.text == "to" => !PASSIVE.contains(&verb.text.as_str()),
        // "Would you like me to send it?"
        all => all.iter().any(|w| w.text == "to" || w.text == "me"),
    };
    // "A new card" makes nothing.
    let deed = asked.iter().any(|w| is_deed(w) && w.text != "new" && w.text != "get");
    (!does && !deed).then_some(offer)
}

/// The words for the thing that is offered.
struct Things {
    /// Those of the offer, and those of what a yes would be in full.
    lists: [Vec<Word>; 2],
    /// Whether "one" is such a thing, and no number.
    one: bool,
}

impl Things {
    fn of(offer: &str, own: &str) -> Self {
        let counted = !numbers(offer).is_empty();
        let asked = words(offer);
        let one = !counted && asked.iter().any(|w| matches!(w.text.as_str(), "a" | "an"));
        let named = |text: &str| {
            let counted = numbers(text);
            let number = |w: &Word| counted.iter().any(|n| n.at.contains(&w.at.start));
            let all = words(text).into_iter();
            all.filter(|w| !w.negated && !number(w)).collect::<Vec<_>>()
        };
        Self { lists: [named(offer), named(own)], one }
    }

    /// The lengths of wishes for the thing at the beginning of what is said, after another word: "I need a new one", "a new
    /// card".
    fn wishes(&self, before: Option<&Word>, said: &[Word]) -> Vec<usize> {
        const WISHES: &[&[&str]] = &[
            &["i", "need"],
            &["i", "want"],
            &["i", "do", "need"],
            &["i", "do", "want"],
            &["i'd", "like"],
            &["i'd", "love"],
            &["i", "would", "like"],
            &["i", "would", "love"],
            &["we", "need"],
            &["we", "want"],
            &["we'd", "like"],
            &["we", "would", "like"],
            &["i'll", "take"],
            &["i'll", "have"],
        ];
        let begins = |wish: &&&[&str]| {
            said.len() > wish.len() && said.iter().zip(**wish).all(|(w, own)| w.text == *own)
        };
        // "Send me one", if a yes in full says so.
        let asks_for = || {
            let [verb, me, _, ..] = said else { return None };
            let [_, own] = &self.lists;
            let named = is_deed(verb) && own.iter().any(|w| w.stem == verb.stem);
            (named && matches!(me.text.as_str(), "me" | "us")).then_some(2)
        };
        let verb = WISHES.iter().find(begins).map(|wish| wish.len()).or_else(asks_for);
        // "Correct the card" is another wish.
        if verb.is_none()
            && before.is_some_and(|w| matches!(w.text.as_str(), "correct" | "confirm"))
        {
            return Vec::new();
        }
        let start = verb.unwrap_or(0);
        let rest = said.get(start..).unwrap_or_default();
        let mut found = Vec::new();
        for list in &self.lists {
            let mut at = usize::from(rest.first().is_some_and(is_determiner));
            let mut left = list.as_slice();
            let mut content = false;
            // "One" is a thing after a verb that wishes for it, and after a word for it.
            let ends = |at: usize, content: bool| {
                self.one
                    && rest.get(at).is_some_and(|w| w.text == "one")
                    && (content || verb.is_some() && at == 0)
            };
            loop {
                if ends(at, content) {
                    found.push(start + at + 1);
                }
                // The words of the offer in their order.
                let Some(word) = rest.get(at) else { break };
                let Some(next) = left.iter().position(|own| own.stem == word.stem) else { break };
                left = left.get(next + 1..).unwrap_or_default();
                content |= word.is_content();
                at += 1;
                if content {
                    found.push(start + at);
                }
            }
        }
        if verb.is_some() && rest.first().is_some_and(is_it) {
            found.push(start + 1);
        }
        found
    }
}

fn is_determiner(word: &Word) -> bool {
    matches!(word.text.as_str(), "a" | "an" | "the" | "that" | "this" | "my")
}

fn is_it(word: &Word) -> bool {
    matches!(word.text.as_str(), "it" | "that" | "this")
}

/// Whether a text is nothing but a yes to a question; `things` may be wished for.
fn assents(text: &str, question: &str, things: Option<&Things>) -> bool {
    if yes_or_no(text) != Some(true) || text.contains(['?', '…']) || chooses(question) {
        return false;
    }
    let plain = text.to_lowercase().replace('’', "'");
    let said = words(&plain);
    let asks = is_question(&plain.replace("why not", ""));
    // "That's all" ends, and "that's all correct" agrees.
    let ends = |(at, word): (usize, &Word)| {
        let fine = said.iter().skip(at).any(|w| FINE.contains(&w.text.as_str()));
        !fine && plain.get(word.at.start..).is_some_and(declines)
    };
    if said.len() > MAX_WORDS || asks || said.iter().enumerate().any(ends) {
        return false;
    }
    let asked = words(question);
    // Of two things, the name of an action is one.
    let single = !asked.iter().any(|w| w.text == "or");
    let is = |slot: &str, word: &Word| match slot {
        "YES" => says(&word.text) == Some(Says::Yes),
        "FINE" => FINE.contains(&word.text.as_str()),
        "IT" => is_it(word),
        "ACT" => {
            ACTIONS.contains(&word.text.as_str()) && single && is_asked(question, &asked, word)
        }
        own => word.text == own,
    };
    // The places up to which the text consists of phrases.
    let mut reached = vec![true];
    reached.resize(said.len() + 1, false);
    for at in 0..said.len() {
        if !reached.get(at).copied().unwrap_or_default() {
            continue;
        }
        let rest = said.get(at..).unwrap_or_default();
        let fits = |phrase: &&str| {
            let mut slots = phrase.split(' ').zip(rest);
            phrase.split(' ').count() <= rest.len() && slots.all(|(slot, word)| is(slot, word))
        };
        let phrases = PHRASES.iter().filter(|phrase| fits(phrase));
        let lengths = phrases.map(|phrase| phrase.split(' ').count());
        let before = at.checked_sub(1).and_then(|before| said.get(before));
        let wishes = things.iter().flat_map(|things| things.wishes(before, rest));
        for length in lengths.chain(wishes) {
            if let Some(end) = reached.get_mut(at + length) {
                *end = true;
            }
        }
    }
    reached.last().copied().unwrap_or_default()
}

/// Whether a question leaves the choice between two things, to which a yes is no answer.
fn chooses(question: &str) -> bool {
    let lower = question.to_lowercase();
    let asked = lower.rsplit_once('?').map_or("", |(asked, _)| asked);
    let asked = asked.rsplit(['?', '.', '!', '\n']).next().unwrap_or_default();
    let asked = words(asked);
    asked.iter().enumerate().filter(|(_, word)| word.text == "or").any(|(at, _)| {
        // "Shall I do it, or not?" and "yes or no?" leave a yes its meaning.
        let rest = asked.get(at + 1..).unwrap_or_default();
        !matches!(rest, [last] if matches!(last.text.as_str(), "no" | "not"))
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
    // What goes with a no, and gives nothing.
    const FILLERS: &[&str] = &[
        "do", "thanks", "thank", "you", "please", "that", "that's", "it", "is", "isn't", "right",
        "correct", "really", "ok", "okay", "sorry", "now", "yet", "want", "to", "it's", "this",
        "i", "all", "wait", "stop", "mind", "changed", "my",
    ];
    yes_or_no(text) == Some(false)
        && words(text).iter().all(|word| {
            let own = word.text.as_str();
            says(own) == Some(Says::No) || FILLERS.contains(&own)
        })
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
            "ok, that's it",
            "sure, can I",
            "fine, I will",
            "ok I will do it",
            "okay, I can do that",
            "yes, all of it",
            "yes, to them",
            "yes, for one",
            "yes, one",
            "yes to me",
            "no",
            "",
        ] {
            assert!(!agrees(no), "{no}");
        }
    }
}
