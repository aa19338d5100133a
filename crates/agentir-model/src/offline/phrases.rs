//! Phrases: small talk of the user, and texts about the user turned into texts to the user.

use super::words::{truncated, words};

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
    "not",
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

/// Whether one of the sentences of a message is a question, behind a greeting or what is told before it.
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

/// Nouns for the user.
pub(super) const USERS: &[&str] = &[
    "user",
    "users",
    "customer",
    "customers",
    "caller",
    "client",
    "guest",
    "patient",
    "passenger",
    "visitor",
    "member",
    "person",
    "traveler",
    "traveller",
    "shopper",
    "employee",
    "student",
    "buyer",
    "borrower",
    "rider",
    "applicant",
];

/// A phrase about the user as a phrase to the user: "the user's address", "what they want".
pub(super) fn to_user(phrase: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let tokens: Vec<&str> = truncated(phrase).split_whitespace().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let (word, tail) = split_tail(token);
        let lower = word.to_lowercase().replace('’', "'");
        let next = tokens.get(at + 1).map(|t| split_tail(t));
        let next_word = next.map(|(word, _)| word.to_lowercase().replace('’', "'"));
        let article = matches!(lower.as_str(), "the" | "a" | "an" | "this");
        // "A brand-new patient record" is that of anybody.
        let determined = at > 1
            && tokens.get(at - 2).is_some_and(|t| matches!(*t, "a" | "an"))
            && tokens.get(at - 1).is_some_and(|t| user_noun(&t.to_lowercase()).is_none());
        if determined && user_noun(&lower).is_some() && is_noun(next_word.as_deref()) {
            out.push((*token).to_owned());
            at += 1;
            continue;
        }
        // "Customer identity" is the identity of the customer.
        if at > 0 && user_noun(&lower) == Some(false) && !article && is_noun(next_word.as_deref()) {
            let service = next_word.as_deref().is_some_and(|next| SERVICES.contains(&next));
            out.push(if service { (*token).to_owned() } else { "your".to_owned() });
            at += 1;
            continue;
        }
        // "The user ID" is an ID of the user.
        if is_compound(&tokens, at) {
            out.push((*token).to_owned());
            at += 1;
            continue;
        }
        if article && is_compound(&tokens, at + 1) {
            out.push("your".to_owned());
            at += 1;
            continue;
        }
        if article && let Some(possessive) = next_word.as_deref().and_then(user_noun) {
            let tail = next.map_or("", |(_, tail)| tail);
            out.push(format!("{}{tail}", if possessive { "your" } else { "you" }));
            at += 2;
            continue;
        }
        let plain = match lower.as_str() {
            "their" | "his" | "her" => "your".to_owned(),
            "they" | "them" | "he" | "she" | "him" => "you".to_owned(),
            "they're" | "they’re" => "you're".to_owned(),
            "themselves" | "himself" | "herself" => "yourself".to_owned(),
            "theirs" => "yours".to_owned(),
            "your" => "my".to_owned(),
            "you" => "I".to_owned(),
            other => match user_noun(other) {
                Some(true) => "your".to_owned(),
                Some(false) => "you".to_owned(),
                None => word.to_owned(),
            },
        };
        out.push(format!("{plain}{tail}"));
        at += 1;
    }
    agree(&out.join(" "))
}

/// What companies have for users, and users do not have themselves.
const SERVICES: &[&str] = &["care", "feedback", "satisfaction", "service", "support"];

/// Whether a word may be a noun, as no common word of another kind is.
fn is_noun(word: Option<&str>) -> bool {
    const OTHERS: &[&str] = &[
        "to", "for", "with", "and", "or", "is", "are", "has", "have", "wants", "want", "needs",
        "need", "who", "that", "in", "on", "about", "using", "by", "if", "when", "can", "asks",
        "would", "does", "in", "at", "from", "provides", "through", "of", "based", "was", "will",
        "wishes", "prefers", "likes", "said", "says", "the", "a", "an", "what", "which", "where",
        "how", "before", "after", "as",
    ];
    word.is_some_and(|word| {
        word.len() > 2 && word.chars().all(char::is_alphabetic) && !OTHERS.contains(&word)
    })
}

/// Whether a token is the first word of a noun of two words: "user ID", "customer service".
fn is_compound(tokens: &[&str], at: usize) -> bool {
    const SECOND: &[&str] = &[
        "account",
        "address",
        "care",
        "code",
        "data",
        "email",
        "feedback",
        "id",
        "ids",
        "identifier",
        "name",
        "names",
        "number",
        "numbers",
        "profile",
        "record",
        "records",
        "reference",
        "satisfaction",
        "service",
        "support",
        "type",
    ];
    let Some((word, "")) = tokens.get(at).map(|token| split_tail(token)) else { return false };
    let next = tokens.get(at + 1).map(|token| split_tail(token).0.to_lowercase());
    user_noun(&word.to_lowercase()) == Some(false)
        && next.is_some_and(|next| SECOND.contains(&next.as_str()))
}

/// A word and the punctuation after it.
fn split_tail(token: &str) -> (&str, &str) {
    let word = token.trim_end_matches(|c: char| ",.;:!?)\"”".contains(c));
    (word, token.get(word.len()..).unwrap_or_default())
}

/// Whether a word is a noun for the user, and then whether it is a possessive.
pub(super) fn user_noun(word: &str) -> Option<bool> {
    let (noun, possessive) = match word.strip_suffix("'s").or_else(|| word.strip_suffix("s'")) {
        Some(noun) => (noun, true),
        None => (word, false),
    };
    USERS.contains(&noun).then_some(possessive)
}

/// Verbs in the form that "you" takes.
fn agree(text: &str) -> String {
    const FORMS: &[(&str, &str)] = &[
        ("you wants", "you want"),
        ("you is", "you are"),
        ("you has", "you have"),
        ("you was", "you were"),
        ("you does", "you do"),
        ("you needs", "you need"),
        ("you prefers", "you prefer"),
        ("you likes", "you like"),
        ("you wishes", "you wish"),
    ];
    // Whole words: "your issue" has no verb.
    let padded = FORMS.iter().fold(format!(" {text} "), |text, (wrong, right)| {
        text.replace(&format!(" {wrong} "), &format!(" {right} "))
    });
    padded.trim().to_owned()
}

/// An indirect question about the user as a direct one to the user: "what their email is", "if they have a genre",
/// "for the order number", "about their hobbies".
pub(super) fn question_to_user(phrase: &str) -> Option<String> {
    let phrase = phrase.trim().trim_end_matches(['.', '!', '?', ',', ';', ':']).trim();
    let phrase = to_user(phrase);
    let (first, rest) = phrase.split_once(' ').unwrap_or((phrase.as_str(), ""));
    if rest.is_empty() && !first.chars().any(char::is_alphanumeric) {
        return None;
    }
    let ask = |text: &str| Some(format!("Could you tell me {}, please?", text.trim()));
    match first.to_lowercase().as_str() {
        "if" | "whether" => direct(rest, None),
        word @ ("what" | "which" | "when" | "where" | "how" | "who" | "why") => {
            if rest.is_empty() {
                return None;
            }
            direct(rest, Some(word)).or_else(|| ask(&phrase))
        }
        "for" if rest.starts_with("confirm") || rest.ends_with("confirmation") => {
            Some("Could you please confirm that I should go ahead?".to_owned())
        }
        "for" => ask(&with_article(rest)),
        "about" => Some(format!("Could you tell me about {}, please?", rest.trim())),
        "to" => {
            let verb = rest.split(' ').next().unwrap_or_default();
            (!matches!(verb, "be" | "wait" | "the"))
                .then(|| format!("Could you please {}?", rest.trim()))
        }
        _ => ask(&with_article(&phrase)),
    }
}

/// "Order number" as "your order number"; phrases with an article or a possessive stay.
fn with_article(phrase: &str) -> String {
    let first = phrase.split(' ').next().unwrap_or_default().to_lowercase();
    let determined = [
        "the",
        "a",
        "an",
        "your",
        "my",
        "our",
        "any",
        "all",
        "some",
        "more",
        "which",
        "what",
        "if",
        "whether",
        "how",
        "both",
        "details",
        "clarification",
        "additional",
        "further",
        "at",
    ];
    if determined.contains(&first.as_str()) { phrase.to_owned() } else { format!("your {phrase}") }
}

/// The direct form of a question whose subject is "you" or whose verb stands at the end.
fn direct(rest: &str, word: Option<&str>) -> Option<String> {
    let head = word.map(|word| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|c| c.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    });
    let with_head = |text: String| match &head {
        Some(head) => format!("{head} {text}?"),
        None => {
            let mut letters = text.chars();
            let first = letters.next().map(|c| c.to_uppercase().collect::<String>());
            format!("{}{}?", first.unwrap_or_default(), letters.as_str())
        }
    };
    let tokens: Vec<&str> = rest.split(' ').collect();
    // "how many guests there are"
    if let [before @ .., "there", last @ ("is" | "are")] = tokens.as_slice() {
        return Some(with_head(format!("{} {last} there", before.join(" "))));
    }
    // "what your email is"
    if let (Some(_), Some((last @ ("is" | "are" | "was"), before))) =
        (word, tokens.split_last().map(|(last, before)| (*last, before)))
        && !before.is_empty()
    {
        return Some(with_head(format!("{last} {}", before.join(" "))));
    }
    let subject = tokens.iter().position(|t| *t == "you" || *t == "I")?;
    // "which genre you prefer": what stands before the subject belongs to the question.
    if subject > 3 || (word.is_none() && subject > 0) {
        return None;
    }
    let (before, after) = (tokens.get(..subject)?, tokens.get(subject + 1..)?);
    let who = *tokens.get(subject)?;
    let (verb, more) = after.split_first()?;
    let before = before.iter().map(|t| format!("{t} ")).collect::<String>();
    let auxiliary = matches!(
        *verb,
        "are"
            | "am"
            | "were"
            | "would"
            | "will"
            | "can"
            | "could"
            | "should"
            | "must"
            | "may"
            | "might"
            | "did"
    ) || (*verb == "have"
        && more.first().is_some_and(|m| m.ends_with("ed") || LOST.contains(m)));
    let rest = if auxiliary {
        format!("{before}{verb} {who} {}", more.join(" "))
    } else {
        format!("{before}do {who} {}", after.join(" "))
    };
    Some(with_head(rest.trim().to_owned()))
}

/// Participles that do not end in "ed".
const LOST: &[&str] = &[
    "lost", "seen", "bought", "found", "done", "been", "had", "got", "made", "paid", "sent",
    "taken", "told", "brought", "chosen", "given", "gone",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indirect_questions_become_direct_ones() {
        for (phrase, question) in [
            ("if they have a preferred book genre.", "Do you have a preferred book genre?"),
            ("what their email is", "What is your email?"),
            ("what the verification code is", "What is the verification code?"),
            ("what the passenger has lost", "What have you lost?"),
            ("for their email address", "Could you tell me your email address, please?"),
            ("for order number", "Could you tell me your order number, please?"),
            (
                "about their hobbies and interests",
                "Could you tell me about your hobbies and interests, please?",
            ),
            ("how you can help them", "How can I help you?"),
            (
                "to confirm deletion of the record",
                "Could you please confirm deletion of the record?",
            ),
            ("whether they would like a receipt", "Would you like a receipt?"),
            ("which size they want", "Which size do you want?"),
            ("how many guests there are", "How many guests are there?"),
            ("if the user needs anything else", "Do you need anything else?"),
        ] {
            assert_eq!(question_to_user(phrase).as_deref(), Some(question), "{phrase}");
        }
    }

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
