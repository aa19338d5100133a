//! The vocabulary of a dialect for messages: a message must not mention `TOOLS:` to an author who
//! writes `actions:`.

use agentir_analysis::constraints::EvaluationPoint;

/// `noun`, in the plural unless there is one.
pub(crate) fn plural(noun: &str, count: usize) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

/// Words as a list: "`a`, `b` and `c`".
pub(crate) fn listed<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}

/// When constraints are evaluated: "they are checked …".
pub(crate) fn evaluation_point(point: EvaluationPoint<'_>) -> String {
    match point {
        EvaluationPoint::Turn => "in every turn".to_owned(),
        EvaluationPoint::Response => "before every answer".to_owned(),
        EvaluationPoint::Call(tool) => format!("before every call of `{tool}`"),
        EvaluationPoint::Zone(_) => "whenever the step begins".to_owned(),
    }
}
