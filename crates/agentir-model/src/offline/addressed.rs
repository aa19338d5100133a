//! Texts about the user turned into texts to the user.

use super::words::truncated;

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
        "if" | "whether" => direct(rest, None).or_else(|| inverted(rest)),
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

/// The direct form of a question about something else than the user: "whether the transfer should be made".
fn inverted(rest: &str) -> Option<String> {
    const VERBS: &[&str] =
        &["should", "is", "are", "was", "were", "can", "may", "will", "would", "has", "must"];
    const RELATIVE: &[&str] = &["that", "which", "who", "where", "when"];
    // The number of words of a subject.
    const MAX_SUBJECT: usize = 6;
    let tokens: Vec<&str> = rest.split_whitespace().collect();
    let verb = tokens.iter().take(MAX_SUBJECT + 1).position(|t| VERBS.contains(t))?;
    let (subject, after) = (tokens.get(..verb)?, tokens.get(verb + 1..)?);
    let simple = !subject.iter().any(|t| RELATIVE.contains(t));
    if subject.is_empty() || after.is_empty() || !simple {
        return None;
    }
    let mut letters = tokens.get(verb)?.chars();
    let first = letters.next()?.to_uppercase().collect::<String>();
    Some(format!("{first}{} {} {}?", letters.as_str(), subject.join(" "), after.join(" ")))
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
}
