//! Text edits.

use agentir_diagnostics::{Edit, Span};
use std::collections::BTreeMap;

/// Sorts edits and drops every group that overlaps an earlier one.
pub(crate) fn non_overlapping(groups: Vec<Vec<Edit>>) -> Vec<Edit> {
    let mut taken: BTreeMap<(u32, u32), Edit> = BTreeMap::new();
    for group in groups {
        if group.iter().all(|edit| is_free(&taken, edit.span)) {
            taken.extend(group.into_iter().map(|edit| ((edit.span.start, edit.span.end), edit)));
        }
    }
    taken.into_values().collect()
}

/// Whether a span overlaps none of the accepted edits. Accepted edits do not overlap each other, so
/// checking the two neighbours is enough.
fn is_free(taken: &BTreeMap<(u32, u32), Edit>, span: Span) -> bool {
    let at = (span.start, span.end);
    let before = taken.range(..at).next_back();
    let after = taken.range(at..).next();
    let touches =
        |&(start, end): &(u32, u32)| (start, end) == at || (start < span.end && span.start < end);
    !before.into_iter().chain(after).any(|(span, _)| touches(span))
}

/// Applies sorted, non-overlapping edits to a text.
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

/// How far sorted, non-overlapping edits move what stands behind each of them.
pub(crate) struct Shifts(Vec<(u32, i64)>);

impl Shifts {
    pub(crate) fn of(edits: &[Edit]) -> Self {
        let mut shift = 0;
        let after = |edit: &Edit| {
            shift += i64::try_from(edit.text.len()).unwrap_or(0);
            shift -= i64::from(edit.span.end - edit.span.start);
            (edit.span.end, shift)
        };
        Self(edits.iter().map(after).collect())
    }

    /// The position of a span after the edits.
    pub(crate) fn moved(&self, span: Span) -> Span {
        let to = |at: u32| {
            let behind = self.0.partition_point(|(end, _)| *end <= at);
            let shift = behind.checked_sub(1).and_then(|last| self.0.get(last));
            u32::try_from(i64::from(at) + shift.map_or(0, |(_, shift)| *shift)).unwrap_or(at)
        };
        let start = to(span.start);
        Span::new(span.file, start, to(span.end).max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::{Shifts, apply, non_overlapping};
    use agentir_diagnostics::{Edit, FileId, Span};

    fn edit(start: u32, end: u32, text: &str) -> Edit {
        Edit { span: Span::new(FileId(0), start, end), text: text.to_owned() }
    }

    #[test]
    fn overlapping_edits_are_dropped() {
        let edits = non_overlapping(vec![
            vec![edit(4, 5, "X")],
            vec![edit(0, 1, "a"), edit(4, 6, "no")],
            vec![edit(1, 1, "-")],
        ]);
        assert_eq!(apply("0123456", &edits), "0-123X56");
        let moved = Shifts::of(&edits).moved(Span::new(FileId(0), 5, 7));
        assert_eq!(moved, Span::new(FileId(0), 6, 8));
    }
}
