//! Conditions in an author's instructions: when something is to be done.

use super::addressed::USERS;
use super::words::{Word, name_words, regex, words};
use super::yes_no::reports_agreement;
use regex::Regex;
use std::sync::LazyLock;

/// When it is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum When {
    /// In its turn.
    Always,
    /// If something is missing, in the words of the author.
    Missing(String),
    /// If the user wants something, in the words of the author.
    Wants(String),
    /// Once everything before is done.
    Done,
    /// If a variable has one of some values: "If `reason` is \"lost\" or \"stolen\"".
    Is(String, Vec<String>),
    /// If the last tool said that it is all right, in the words of the author: "if available". It may be a value that is.
    Good(String),
    /// If the user agrees: "if correct".
    Agreed,
    /// If the last tool reported something, in the words of the author: "if the reader is no member".
    Reported(String),
    /// In a case that cannot be recognised.
    Unknown,
}

pub(super) static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:(?:then|otherwise|but|and|so|also),?\s+)?(?:only\s+)?(if|when|whenever|once|after|as soon as|before|until|unless)\b(.*)$",
    )
});

/// A condition about the value of a variable.
static IS_VALUE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"^(?:the )?["'`“]?(?P<name>\w+)["'`”]?\s+(?:is|equals|==?)\s+(?P<values>["'`“].+)$"#)
});

/// The condition of a sentence, and what is to be done.
pub(super) fn condition(sentence: &str) -> (When, &str) {
    let Some(captures) = CONDITION.captures(sentence) else {
        // "For all other cases, call …" depends on cases that are described elsewhere.
        const OTHER: &[&str] = &[
            "otherwise",
            "for all other",
            "for any other",
            "in all other",
            "in any other",
            "in other cases",
        ];
        let lower = sentence.to_lowercase();
        let other = OTHER.iter().any(|start| lower.starts_with(start));
        return (if other { When::Unknown } else { When::Always }, sentence);
    };
    let (Some(word), Some(rest)) = (captures.get(1), captures.get(2)) else {
        return (When::Always, sentence);
    };
    let text = rest.as_str();
    // Up to the comma or the colon, or to a verb that begins what is to be done.
    let end = end_of_condition(text).or_else(|| text.find(" then ")).or_else(|| {
        [" ask ", " call ", " use ", " run ", " respond ", " say ", " tell ", " thank ", " reply "]
            .iter()
            .filter_map(|verb| text.find(verb))
            .min()
    });
    let Some(end) = end else { return (When::Unknown, sentence) };
    let about = text.get(..end).unwrap_or_default().trim();
    let main = text.get(end..).unwrap_or_default().trim_start_matches([',', ':', ' ']);
    (kind_of(&word.as_str().to_lowercase(), about), main)
}

/// The condition that the lines below a sentence share: "If they agree:". What says only how something is done, like "When
/// answering:", is none.
pub(super) fn shared_condition(sentence: &str) -> Option<When> {
    let (when, "") = condition(sentence) else { return None };
    let captures = CONDITION.captures(sentence)?;
    let word = captures.get(1)?.as_str().to_lowercase();
    let first = captures.get(2)?.as_str().split_whitespace().next()?;
    let orders = matches!(word.as_str(), "before" | "until" | "after");
    (!orders && !first.trim_end_matches(':').ends_with("ing")).then_some(when)
}

/// Whether a clause forbids a call: "do not call `pay`".
pub(super) fn is_forbidden(clause: &str, call: &str) -> bool {
    static FORBIDS: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?:\bnot|\bnever|n't|n’t)\s+(?:\w+\s+)?(?:call|use|run|invoke|execute|make|trigger)\s+(?:the\s+)?[^\w\s]*$",
        )
    });
    clause.find(call).and_then(|at| clause.get(..at)).is_some_and(|text| FORBIDS.is_match(text))
}

/// Whether a clause that forbids a call leaves the call itself allowed: it is about calling twice, or about the values that
/// the call takes anyway, which are named `inputs`.
pub(super) fn limits_call(clause: &str, call: &str, inputs: &[&str]) -> bool {
    static REPEATED: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"^\W*(?:twice|again|repeatedly|more than once|multiple times|several times|(?:two|three) times|a second time)\b",
        )
    });
    // Words that say of any value that it is one.
    const VALUE: &[&str] =
        &["number", "id", "identifier", "code", "name", "value", "details", "information"];
    // Words that say how one gets it.
    const GETTING: &[&str] = &[
        "first",
        "both",
        "all",
        "required",
        "having",
        "knowing",
        "collecting",
        "getting",
        "asking",
    ];
    let Some(after) = after_call(clause, call) else { return false };
    if REPEATED.is_match(after) {
        return true;
    }
    let Some(about) =
        after.trim_start_matches(|c: char| !c.is_alphanumeric()).strip_prefix("without ")
    else {
        return false;
    };
    let about = words(about);
    let named = |word: &Word| {
        inputs.iter().any(|input| name_words(input).iter().any(|own| own.stem == word.stem))
    };
    let says_nothing = |word: &Word| {
        let text = word.text.trim_end_matches("'s");
        !word.is_content() || [VALUE, GETTING, USERS].iter().any(|list| list.contains(&text))
    };
    about.iter().any(named) && about.iter().all(|word| named(word) || says_nothing(word))
}

/// The rest of a clause after the name of a call.
fn after_call<'c>(clause: &'c str, call: &str) -> Option<&'c str> {
    clause.find(call).and_then(|at| clause.get(at + call.len()..))
}

/// Whether the user's agreement is what a forbidden call must not be made without: "without their consent", but not "without
/// the permission of a manager".
fn without_agreement(about: &str) -> bool {
    const AGREEMENT: &[&str] = &["confirmation", "permission", "approval", "agreement", "consent"];
    const GETTING: &[&str] = &[
        "explicit",
        "express",
        "clear",
        "prior",
        "first",
        "asking",
        "getting",
        "obtaining",
        "confirming",
    ];
    let about = words(about);
    let agreement = |word: &Word| {
        AGREEMENT.contains(&word.text.as_str())
            || reports_agreement(&word.text)
            || word.text == "confirming"
    };
    let says_nothing = |word: &Word| {
        let text = word.text.trim_end_matches("'s");
        !word.is_content() || GETTING.contains(&text) || USERS.contains(&text)
    };
    about.iter().any(agreement) && about.iter().all(|word| agreement(word) || says_nothing(word))
}

/// The condition of a call that follows it: "call `pay` only if they agree", "do not call `pay` unless they agree".
pub(super) fn trailing_condition(clause: &str, call: &str) -> Option<When> {
    static TRAILING: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?P<before>\w+)?[\s,]+(?:but\s+)?(?:only\s+)?(?P<word>if|when|whenever|once|after|as soon as|unless|until|before|provided that|provided|as long as|without)\b(?P<about>[^,;]*)$",
        )
    });
    // "To check if it is there" is a question, and "when needed" says nothing.
    const ASKING: &[&str] = &[
        "check",
        "see",
        "verify",
        "determine",
        "know",
        "ask",
        "tell",
        "decide",
        "confirm",
        "find",
        "out",
        "show",
        "explain",
        "learn",
        "on",
        "about",
        "for",
        "of",
        "as",
    ];
    const VAGUE: &[&str] =
        &["needed", "necessary", "appropriate", "required", "possible", "applicable", "relevant"];
    let at = clause.find(call)?;
    let found = TRAILING.captures(clause.get(at..)?)?;
    let text = |name: &str| found.name(name).map_or("", |m| m.as_str()).trim().to_lowercase();
    let about = text("about");
    let about = about.trim_end_matches('.');
    if ASKING.contains(&text("before").as_str())
        || about.split(' ').next_back().is_some_and(|w| VAGUE.contains(&w))
    {
        return None;
    }
    let word = match text("word").as_str() {
        "without" => {
            return (is_forbidden(clause, call) && without_agreement(about))
                .then_some(When::Agreed);
        }
        "provided that" | "provided" | "as long as" => "if".to_owned(),
        // "Do not call it before they agree" is: if they agree.
        "unless" | "until" | "before" if is_forbidden(clause, call) => "if".to_owned(),
        // "Call it before you answer" says in which order.
        "until" | "before" => return None,
        word => word.to_owned(),
    };
    Some(kind_of(&word, about))
}

/// The comma or colon that ends a condition, which is not one between values in quotation marks: "is "lost", or "stolen"".
fn end_of_condition(text: &str) -> Option<usize> {
    text.match_indices([',', ':']).map(|(at, _)| at).find(|at| {
        let after = text.get(at + 1..).unwrap_or_default().trim_start();
        let after =
            after.strip_prefix("or ").or_else(|| after.strip_prefix("and ")).unwrap_or(after);
        !(text.get(*at..).is_some_and(|t| t.starts_with(','))
            && text.get(..*at).is_some_and(|t| t.ends_with(['"', '”', '\'', '`']))
            && after.starts_with(['"', '“', '\'', '`']))
    })
}

/// The values of a condition in quotation marks, if it says nothing else: not "lost" and status is "active".
fn values_of(text: &str) -> Option<Vec<String>> {
    static QUOTED: LazyLock<Regex> =
        LazyLock::new(|| regex(r#""([^"]+)"|“([^”]+)”|'([^']+)'|`([^`]+)`"#));
    let mut values = Vec::new();
    let mut end = 0;
    for found in QUOTED.captures_iter(text) {
        let whole = found.get(0)?;
        let between = text.get(end..whole.start())?.trim();
        if !matches!(between.to_lowercase().as_str(), "" | "," | "or" | ", or") {
            return None;
        }
        values.push(found.iter().skip(1).flatten().next()?.as_str().to_owned());
        end = whole.end();
    }
    let rest = text.get(end..)?.trim_matches([' ', '.', ',', ':']);
    (rest.is_empty() && !values.is_empty()).then_some(values)
}

fn kind_of(word: &str, about: &str) -> When {
    if let ("if" | "when", Some(found)) = (word, IS_VALUE.captures(about)) {
        let text = |group: &str| found.name(group).map_or("", |m| m.as_str());
        let values = values_of(text("values"));
        return values.map_or(When::Unknown, |values| When::Is(text("name").to_owned(), values));
    }
    const MISSING: &[&str] = &[
        "is empty",
        "are empty",
        "is missing",
        "are missing",
        "not provided",
        "not been provided",
        "hasn't provided",
        "has not provided",
        "have not provided",
        "does not provide",
        "doesn't provide",
        "not given",
        "is 0",
        "is not set",
        "is unknown",
        "not known",
        "is none",
        "== \"\"",
        "don't have",
        "do not have",
        "haven't",
        "not specified",
        "not yet",
        "is blank",
        "is not available",
        "isn't provided",
        "did not provide",
    ];
    const FAILURES: &[&str] = &[
        "unclear",
        "wrong",
        "fail",
        "error",
        "invalid",
        "not found",
        "declin",
        "incorrect",
        "unsure",
        "cannot",
        "can't",
        "insufficient",
        "unable",
        "ambiguous",
        "no results",
        "no match",
        "too ",
        "refuse",
        "upset",
        "angry",
        "not enough",
        "disagree",
        "disapprov",
        "object",
        "hesitat",
    ];
    let lower = about.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|phrase| lower.contains(phrase));
    // The value of a variable that is a condition itself.
    if word == "if" && lower == "true" {
        return When::Always;
    }
    if has(MISSING) {
        return When::Missing(lower);
    }
    if has(FAILURES) || matches!(word, "before" | "until" | "unless") {
        return When::Unknown;
    }
    const GOOD: &[&str] = &[
        "available",
        "sufficient",
        "successful",
        "succeeds",
        "succeeded",
        "eligible",
        "valid",
        "approved",
        "enough",
        "found",
        "exists",
    ];
    let said = super::words::words(&lower);
    // Of "if they do not confirm" only the opposite can be recognised.
    let stated = |is: &dyn Fn(&str) -> bool| said.iter().any(|w| is(&w.text));
    let denied = said.iter().any(|w| w.negated);
    let agreed = |own: &str| own != "approved" && (own == "correct" || reports_agreement(own));
    let follows = matches!(word, "if" | "when" | "whenever" | "once" | "after" | "as soon as");
    if follows && stated(&agreed) {
        return if denied { When::Unknown } else { When::Agreed };
    }
    if word == "if" && stated(&|own| GOOD.contains(&own)) && !lower.contains("user") {
        return if denied { When::Unknown } else { When::Good(lower) };
    }
    if matches!(word, "once" | "after" | "as soon as")
        || ["received", "collected", "gathered", "verified", "you have", "you already have"]
            .iter()
            .any(|w| lower.contains(w))
    {
        return When::Done;
    }
    let user = lower.split_whitespace().any(|w| {
        let w = w.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
        USERS.contains(&w) || matches!(w, "they" | "asks" | "asked" | "someone" | "wants")
    });
    // "If the reader is no member" is about what a tool reports, "if the user is new" about the user.
    let subject = lower.split_once(" is ").or_else(|| lower.split_once(" are "));
    let reported = word == "if"
        && subject.is_some_and(|(subject, _)| {
            subject.starts_with("the ") && !subject.split(' ').any(|w| USERS.contains(&w))
        });
    if reported {
        return When::Reported(lower);
    }
    if user { When::Wants(lower) } else { When::Unknown }
}
