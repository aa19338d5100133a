//! Edits of a text.

use agentir_diagnostics::{Edit, Span};
use std::collections::BTreeMap;

/// Sorts edits and leaves out those that reach into an earlier one; of a group all are left out.
pub(crate) fn apart(groups: Vec<Vec<Edit>>) -> Vec<Edit> {
    let mut taken: BTreeMap<(u32, u32), Edit> = BTreeMap::new();
    for group in groups {
        if group.iter().all(|edit| is_free(&taken, edit.span)) {
            taken.extend(group.into_iter().map(|edit| ((edit.span.start, edit.span.end), edit)));
        }
    }
    taken.into_values().collect()
}

/// Whether no place that is taken has a byte in common with this one. Those that are taken have none
/// in common, so their neighbours are enough.
fn is_free(taken: &BTreeMap<(u32, u32), Edit>, span: Span) -> bool {
    let at = (span.start, span.end);
    let before = taken.range(..at).next_back();
    let behind = taken.range(at..).next();
    let touches =
        |&(start, end): &(u32, u32)| (start, end) == at || (start < span.end && span.start < end);
    !before.into_iter().chain(behind).any(|(place, _)| touches(place))
}

/// A text after edits that are sorted and do not overlap.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out =
        String::with_capacity(text.len() + edits.iter().map(|e| e.text.len()).sum::<usize>());
    let mut at = 0;
    for Edit { span, text: new } in edits {
        out.push_str(text.get(at..span.start as usize).unwrap_or_default());
        out.push_str(new);
        at = span.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Where a place is after edits that are sorted and do not overlap.
pub(crate) fn moved(span: Span, edits: &[Edit]) -> Span {
    let to = |at: u32| {
        let before = edits.iter().take_while(|e| e.span.end <= at);
        let shift: i64 = before
            .map(|e| {
                let new = i64::try_from(e.text.len()).unwrap_or(0);
                new - i64::from(e.span.end - e.span.start)
            })
            .sum();
        u32::try_from(i64::from(at) + shift).unwrap_or(at)
    };
    let start = to(span.start);
    Span::new(span.file, start, to(span.end).max(start))
}

#[cfg(test)]
mod tests {
    use super::{apart, apply, moved};
    use agentir_diagnostics::{Edit, FileId, Span};

    fn edit(start: u32, end: u32, text: &str) -> Edit {
        Edit { span: Span::new(FileId(0), start, end), text: text.to_owned() }
    }

    #[test]
    fn edits_that_touch_others_wait() {
        let edits = apart(vec![
            vec![edit(4, 5, "X")],
            vec![edit(0, 1, "a"), edit(4, 6, "no")],
            vec![edit(1, 1, "-")],
        ]);
        assert_eq!(apply("0123456", &edits), "0-123X56");
        assert_eq!(moved(Span::new(FileId(0), 5, 7), &edits), Span::new(FileId(0), 6, 8));
    }
}
