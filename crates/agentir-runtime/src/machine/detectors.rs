//! Detectors that guardrails use (ABL, current specification, 3.9). The specification leaves their
//! definition to the platform; these recognise only undisputed forms.

use agentir_eval::Value;
use regex::Regex;
use std::sync::LazyLock;
use unicode_segmentation::UnicodeSegmentation;

/// Evaluates a platform function; `None` if it is not defined here.
pub(super) fn call(function: &str, args: &[Value]) -> Option<Value> {
    let Some(Value::Text(text)) = args.first() else { return None };
    Some(match function {
        "contains_pii" => Value::Bool(PERSONAL_DATA.iter().any(|p| p.is_match(text))),
        "detect_pii" => {
            let found = PERSONAL_DATA.iter().flat_map(|p| p.find_iter(text));
            Value::list(found.map(|m| Value::text(m.as_str())).collect()).ok()?
        }
        "redact_pii" => Value::made_text(redact_personal_data(text, "[REDACTED]")).ok()?,
        "contains_email" => Value::Bool(EMAIL.is_match(text)),
        "contains_url" => Value::Bool(URL.is_match(text)),
        "contains_code" => Value::Bool(CODE.is_match(text)),
        "sentence_count" => Value::number(text.unicode_sentences().count() as f64).ok()?,
        _ => return None,
    })
}

/// Replaces personal data in a text.
pub(super) fn redact_personal_data(text: &str, instead: &str) -> String {
    PERSONAL_DATA.iter().fold(text.to_owned(), |text, p| p.replace_all(&text, instead).into_owned())
}

#[expect(clippy::expect_used, reason = "only with the patterns below, and a test uses all of them")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of ours")
}

static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+"));
static URL: LazyLock<Regex> = LazyLock::new(|| compiled(r"https?://[^\s]+"));
/// A fenced block, a tag, a line that ends as statements do, or the beginning of a definition.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?m)```|</?[a-z][a-z0-9]*( [^<>]*)?>|[;{]\s*$|^\s*(def|class|function|import|from|public|private|const|let|var) .*[({:;=]|^\s*(SELECT|INSERT|UPDATE|DELETE) .* (FROM|INTO|SET|WHERE) ",
    )
});
static PERSONAL_DATA: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    vec![
        EMAIL.clone(),
        // Credit card numbers, social security numbers, international and North American telephone
        // numbers. Dates must not match.
        compiled(r"\b[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,7}\b"),
        compiled(r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b"),
        compiled(r"\+[0-9][0-9 ().-]{6,}[0-9]"),
        compiled(r"\(?\b[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}\b"),
    ]
});

#[cfg(test)]
mod tests {
    use super::{call, redact_personal_data};
    use agentir_eval::Value;

    #[test]
    fn detectors_recognise_undisputed_forms() {
        let holds = |function, text: &str| call(function, &[Value::text(text)]);
        let yes = Some(Value::Bool(true));
        let no = Some(Value::Bool(false));
        for text in [
            "kim@example.com",
            "4111 1111 1111 1111",
            "078-05-1120",
            "+43 664 1234567",
            "415-555-0123",
        ] {
            assert_eq!(holds("contains_pii", text), yes, "{text}");
            assert_eq!(redact_personal_data(text, "#"), "#");
        }
        for text in ["room 12", "on 2026-03-15", "a@b", "three of 1200"] {
            assert_eq!(holds("contains_pii", text), no, "{text}");
        }
        assert_eq!(holds("contains_url", "see https://example.com/a"), yes);
        assert_eq!(holds("contains_email", "see example.com"), no);
        assert_eq!(holds("sentence_count", "One. And two! Three?"), Value::number(3.0).ok());
        for text in [
            "```\nx\n```",
            "use <b>this</b>",
            "int x = 1;",
            "def f(x):\n  return x",
            "SELECT name FROM users WHERE id = 1",
        ] {
            assert_eq!(holds("contains_code", text), yes, "{text}");
        }
        for text in ["x = 1", "Is it 3 < 5?", "Let me see: tomorrow.", "from Rome to Bern"] {
            assert_eq!(holds("contains_code", text), no, "{text}");
        }
    }
}
