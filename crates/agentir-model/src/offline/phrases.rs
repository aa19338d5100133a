//! Phrases: small talk of the user, and texts about the user turned into texts to the user.

use super::words::words;

/// What a message does beside giving or wanting something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SmallTalk {
    Greeting,
    Thanks,
    Goodbye,
    /// It asks what the agent can do.
    Abilities,
    /// It says how the user is, or agrees, without more.
    Remark,
    /// It takes back what was said: "never mind".
    Dropped,
}

const GREETINGS: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "hiya",
    "howdy",
    "greetings",
    "yo",
    "there",
    "good",
    "morning",
    "afternoon",
    "evening",
    "day",
    "everyone",
    "again",
    "sir",
    "madam",
    "team",
    "bot",
    "dear",
    "friend",
];
const GREETING_HEADS: &[&str] =
    &["hi", "hello", "hey", "hiya", "howdy", "greetings", "yo", "morning", "afternoon", "evening"];
const THANKS: &[&str] = &["thanks", "thank", "thx", "cheers", "ty"];
const GOODBYES: &[&str] = &["bye", "goodbye", "cya", "farewell", "ciao", "later"];
const FILLERS: &[&str] = &[
    "you",
    "so",
    "much",
    "very",
    "a",
    "lot",
    "for",
    "your",
    "the",
    "help",
    "that",
    "that's",
    "all",
    "is",
    "it",
    "ok",
    "okay",
    "great",
    "perfect",
    "good",
    "fine",
    "well",
    "now",
    "please",
    "and",
    "see",
    "have",
    "nice",
    "day",
    "to",
    "then",
    "no",
    "nothing",
    "else",
    "more",
    "i'm",
    "done",
    "was",
    "kind",
    "of",
    "just",
    "what",
    "i",
    "wanted",
    "needed",
    "know",
    "everything",
    "bye",
    "goodbye",
    "thanks",
    "thank",
    "hi",
    "hello",
    "take",
    "care",
    "us",
    "me",
    "brilliant",
    "awesome",
    "excellent",
    "wonderful",
    "lovely",
    "super",
    "amazing",
    "fantastic",
    "cool",
    "appreciated",
    "appreciate",
    "really",
    "helpful",
    "right",
    "alright",
    "helped",
    "many",
    "million",
    "weekend",
    "too",
    "soon",
];

/// What takes back what was said, and words that only go with it or with thanks.
const DROPS: &[&str] =
    &["never mind", "nevermind", "nvm", "forget it", "no worries", "leave it", "doesn't matter"];
const ASIDES: &[&str] = &[
    "never",
    "mind",
    "nevermind",
    "nvm",
    "forget",
    "leave",
    "worries",
    "anyway",
    "anyways",
    "hm",
    "hmm",
    "ah",
    "oh",
    "pity",
    "sorry",
    "matter",
    "doesn't",
    "i'll",
    "i",
    "but",
    "enough",
    "today",
    "for",
    "in",
    "case",
    "any",
    "way",
    "don't",
    "do",
    "not",
    "need",
    "anything",
    "my",
    "will",
    "be",
    "off",
    "all's",
];

/// Words that change nothing about what a phrase asks.
const ADVERBS: &[&str] = &[
    "exactly", "actually", "all", "else", "really", "just", "even", "so", "then", "now", "please",
];

/// Whether somebody who says goodbye says before that what is to be done, or a value: "please cancel my loan, bye".
fn demands(text: &str) -> bool {
    // "I need to think about it", "I have to go" want nothing.
    const LEAVING: &[&str] = &["think", "go", "leave", "run"];
    let said = words(text);
    let is = |list: &[&str]| said.iter().any(|w| list.contains(&w.text.as_str()));
    said.iter().any(|w| super::words::is_deed(w) && !w.negated)
        || is_wish(text) && !is(LEAVING)
        || text.contains('@')
        || !super::numbers::numbers(text).is_empty()
}

/// What a message does, if it does nothing else.
pub(super) fn small_talk(message: &str) -> Option<SmallTalk> {
    let found = words(message);
    let texts: Vec<&str> = found.iter().map(|w| w.text.as_str()).collect();
    if texts.is_empty() || texts.len() > 12 {
        return None;
    }
    let has = |list: &[&str]| texts.iter().any(|text| list.contains(text));
    let only =
        |lists: &[&[&str]]| texts.iter().all(|text| lists.iter().any(|list| list.contains(text)));
    if has(GOODBYES) && only(&[GOODBYES, FILLERS, THANKS, GREETINGS, ASIDES]) {
        return Some(SmallTalk::Goodbye);
    }
    if has(THANKS) && only(&[THANKS, FILLERS, ASIDES]) {
        return Some(SmallTalk::Thanks);
    }
    // "Thanks, I need to think about it. Bye"
    let leaves =
        |word: &&super::words::Word| matches!(word.text.as_str(), "bye" | "goodbye" | "ciao");
    if let Some(last) = found.last().filter(leaves)
        && let Some(head) = message.get(..last.at.start)
        && !demands(head)
        && !message.contains('?')
    {
        return Some(SmallTalk::Goodbye);
    }
    let said = texts.join(" ");
    if DROPS.iter().any(|phrase| said.contains(phrase)) && only(&[FILLERS, ASIDES]) {
        return Some(SmallTalk::Dropped);
    }
    if has(GREETING_HEADS) && only(&[GREETINGS]) {
        return Some(SmallTalk::Greeting);
    }
    // "Hi! What exactly can you do?"
    let head = texts.iter().take_while(|text| GREETINGS.contains(text)).count();
    let plain = texts.iter().skip(head).filter(|text| !ADVERBS.contains(text));
    let joined = plain.copied().collect::<Vec<_>>().join(" ");
    const HOW_ARE_YOU: &[&str] =
        &["how are you", "how's it going", "how is it going", "how are things"];
    if HOW_ARE_YOU.iter().any(|phrase| joined.contains(phrase)) {
        return Some(SmallTalk::Greeting);
    }
    const ABILITIES: &[&str] = &[
        "what can you do",
        "what do you do",
        "what can i ask",
        "what are you able to",
        "what are you good at",
        "what services do you",
        "what do you offer",
        "what can i get help with",
        "what kind of things can you",
        "what sort of things can you",
        "how does this work",
        "how can you help",
        "what can you help",
        "who are you",
        "what are you",
        "what can i do here",
        "what are my options",
        "can you help me",
        "could you help me",
        "can you help",
        "please help me",
        "help me please",
        "help me",
        "i need help",
        "i need some help",
        "help",
    ];
    if ABILITIES.iter().any(|phrase| {
        joined == *phrase
            || (phrase.starts_with("wh") && joined.contains(phrase))
            || (phrase.starts_with("how") && joined.contains(phrase))
    }) {
        return Some(SmallTalk::Abilities);
    }
    // "What can you book for me?"
    if let [.., "what", "can", "you", _, "for" | "with", "me" | "us"] = texts.as_slice() {
        return Some(SmallTalk::Abilities);
    }
    const REMARKS: &[&str] = &["i'm feeling", "i feel", "i am feeling", "nice to meet"];
    REMARKS.iter().any(|phrase| joined.starts_with(phrase)).then_some(SmallTalk::Remark)
}

/// Whether a message begins with a greeting.
pub(super) fn greets(message: &str) -> bool {
    words(message).first().is_some_and(|word| GREETING_HEADS.contains(&word.text.as_str()))
}

/// Whether a message is about what the user wants, rather than an answer: "I'd like to book a table", "can you help me".
pub(super) fn is_wish(message: &str) -> bool {
    const WISHES: &[&str] = &[
        "i want to",
        "i want a",
        "i want an",
        "i need to",
        "i need a",
        "i need an",
        "i need help",
        "i would like to",
        "i would like a",
        "i'd like to",
        "i'd like a",
        "i'm looking for",
        "i am looking for",
        "i'm calling",
        "i have a question",
        "i have a problem",
        "can you",
        "could you",
        "can i",
        "could i",
        "may i",
        "how do i",
        "how can i",
        "let me talk",
        "let me speak",
        "please help",
        "help me",
        "i wish to",
        "we want to",
        "we'd like to",
        "we need to",
        "we need a",
        "we need an",
        "we're looking for",
        "we'd like a",
        "i was hoping to",
        "i have to",
        "i've got to",
        "is it possible to",
        "would you",
        "i'd love to",
        "i'd love a",
    ];
    const LEADS: &[&str] = &[
        "well", "ok", "okay", "please", "yes", "and", "so", "um", "then", "thanks", "hm", "sorry",
    ];
    let said = words(message)
        .into_iter()
        .map(|w| w.text)
        .skip_while(|text| GREETINGS.contains(&text.as_str()) || LEADS.contains(&text.as_str()));
    let said = format!("{} ", said.collect::<Vec<_>>().join(" "));
    WISHES.iter().any(|wish| said.strip_prefix(wish).is_some_and(|rest| rest.starts_with(' ')))
}

/// Whether a message asks for something to be told, rather than done: "is the path open", "could you tell me how old it is".
pub(super) fn asks_fact(message: &str) -> bool {
    const TELL: &[&str] =
        &["tell me", "tell us", "you know", "you say", "you explain", "let me know", "i ask"];
    let said: Vec<String> = words(message).into_iter().map(|w| w.text).collect();
    let said = said.join(" ");
    let tell = TELL.iter().any(|phrase| said.contains(phrase));
    is_question_in(message) && (tell || !is_wish(message))
}

/// Whether one of the sentences of a message is a question, after a greeting or what is told before it.
fn is_question_in(message: &str) -> bool {
    message.contains('?') || super::words::is_question(message)
}

/// Whether a message asks for a person.
pub(super) fn wants_person(message: &str) -> bool {
    const PEOPLE: &[&str] = &[
        "human",
        "person",
        "agent",
        "representative",
        "operator",
        "somebody",
        "someone",
        "manager",
        "supervisor",
        "boss",
        "staff",
        "colleague",
    ];
    const CONTACT: &[&str] = &[
        "talk", "speak", "transfer", "connect", "escalate", "reach", "call", "real", "get", "want",
        "put", "chat", "actual", "demand",
    ];
    // "For one person", "my boss", "people and staff": whom a wish is about, and not whom it is for.
    const OTHERS: &[&str] = &[
        "my", "and", "or", "per", "each", "every", "one", "two", "three", "four", "five", "six",
        "which", "what", "this", "that", "his", "her", "beside",
    ];
    let said = words(message);
    let asked = |index: usize| {
        let before = index.checked_sub(1).and_then(|before| said.get(before));
        before.is_none_or(|w| {
            !OTHERS.contains(&w.text.as_str()) && !w.text.chars().all(|c| c.is_ascii_digit())
        })
    };
    let at = |list: &[&str], from: usize| {
        let mut rest = said.iter().enumerate().skip(from);
        let found =
            rest.find(|(at, w)| list.contains(&w.text.as_str()) && !w.negated && asked(*at));
        found.map(|(at, _)| at - from)
    };
    // "Get me a manager", but not "I want to know which agent it was".
    let contact = (0..said.len()).filter(|at| {
        said.get(*at).is_some_and(|w| CONTACT.contains(&w.text.as_str()) && !w.negated)
    });
    contact.into_iter().any(|from| {
        let most = said.get(from).map_or(0, |w| match w.text.as_str() {
            "real" | "actual" => 2,
            "get" | "want" | "put" | "demand" | "transfer" => 4,
            _ => said.len(),
        });
        at(PEOPLE, from).is_some_and(|apart| apart <= most)
    })
}

/// Whether a message says that something is wrong, or that the user is unhappy.
pub(super) fn complains(message: &str) -> bool {
    const TROUBLE: &[&str] = &[
        "broken",
        "broke",
        "damaged",
        "defective",
        "faulty",
        "problem",
        "issue",
        "trouble",
        "mistake",
        "incorrect",
        "fault",
        "wrong",
        "awful",
        "terrible",
        "horrible",
        "bad",
        "upset",
        "angry",
        "frustrated",
        "disappointed",
        "unhappy",
        "lost",
        "stolen",
        "late",
        "missing",
        "fails",
        "failed",
        "failing",
        "error",
        "crash",
        "crashes",
        "leaking",
        "leaks",
        "complain",
        "complaint",
        "dissatisfied",
        "worst",
        "never",
        "twice",
        "overcharged",
        "sick",
        "hurt",
        "pain",
        "delayed",
        "annoyed",
        "worried",
        "slow",
        "stuck",
        "unacceptable",
        "doesn't",
        "isn't",
        "won't",
        "hate",
        "accident",
        "drops",
        "down",
        "offline",
        "outage",
        "hasn't",
        "dirty",
        "noisy",
        "rude",
        "dead",
        "disgrace",
        "disgraceful",
        "ridiculous",
        "joke",
        "hopeless",
        "useless",
        "smashed",
        "cracked",
        "ripped",
        "torn",
        "burst",
        "scratched",
        "ruined",
        "robbed",
        "flooded",
    ];
    words(message).iter().any(|w| TROUBLE.contains(&w.text.as_str()))
}

/// Whether a text is a question or asks for something.
pub(super) fn requests(text: &str) -> bool {
    const ASKING: &[&str] = &[
        "please",
        "could you",
        "tell me",
        "provide",
        "what is your",
        "which",
        "let me know",
        "i need your",
        "enter",
        "select",
        "choose",
    ];
    let lower = text.to_lowercase();
    lower.contains('?')
        || lower.trim_end().ends_with(':')
        || ASKING.iter().any(|phrase| lower.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_talk_is_nothing_else() {
        for (text, kind) in [
            ("Hello!", Some(SmallTalk::Greeting)),
            ("good morning", Some(SmallTalk::Greeting)),
            ("Thanks, bye", Some(SmallTalk::Goodbye)),
            ("thank you so much", Some(SmallTalk::Thanks)),
            ("what can you do?", Some(SmallTalk::Abilities)),
            ("hi, I want to return my shoes", None),
            ("thanks, and the forecast for Porto?", None),
        ] {
            assert_eq!(small_talk(text), kind, "{text}");
        }
    }
}
