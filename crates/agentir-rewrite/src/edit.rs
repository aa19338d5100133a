//! Edits of a text.

use agentir_diagnostics::{Edit, Span};

/// Sorts edits and leaves out those that reach into an earlier one; of a group all are left out.
pub(crate) fn apart(groups: Vec<Vec<Edit>>) -> Vec<Edit> {
    let mut taken: Vec<Edit> = Vec::new();
    for group in groups {
        let free = |edit: &Edit| taken.iter().all(|t| !overlap(t.span, edit.span));
        if group.iter().all(free) {
            taken.extend(group);
        }
    }
    taken.sort_by_key(|edit| (edit.span.start, edit.span.end));
    taken
}

/// Whether two places have a byte in common, or are both the same empty place.
const fn overlap(a: Span, b: Span) -> bool {
    if a.is_empty() && b.is_empty() {
        return a.start == b.start;
    }
    a.start < b.end && b.start < a.end
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
