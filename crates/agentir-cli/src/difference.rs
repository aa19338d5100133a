//! Differences of texts, by lines, in the unified format.
//!
//! The usual algorithm (Myers) takes time for each difference in proportion to the length of the texts. Long texts are
//! therefore divided first, at the lines that each of them has once (patience diff); where no such line is left and too
//! much is, all of it counts as replaced. So the time grows with the length alone, and the result is a difference that
//! can be applied in any case.

use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};
use std::collections::HashMap;
use std::ops::Range;

/// Up to so many lines, of both texts together, are compared without being divided.
const SMALL: usize = 2_000;

/// How often parts are divided again.
const MAX_DEPTH: u32 = 16;

/// The number of equal lines around what differs.
const CONTEXT: usize = 3;

/// The difference of two texts, which is empty if they are equal.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (old, new) = (lines(old), lines(new));
    let groups = group_diff_ops(operations(&old, &new), CONTEXT);
    if groups.is_empty() {
        return String::new();
    }
    let mut out = format!("--- {old_name}\n+++ {new_name}\n");
    let push = |mark: char, lines: &[&str], range: Range<usize>, out: &mut String| {
        for line in lines.get(range).unwrap_or_default() {
            out.push(mark);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    for group in groups {
        out.push_str(&format!("{}\n", UnifiedHunkHeader::new(&group)));
        for operation in group {
            match operation.as_tag_tuple() {
                (DiffTag::Equal, before, _) => push(' ', &old, before, &mut out),
                (_, before, after) => {
                    push('-', &old, before, &mut out);
                    push('+', &new, after, &mut out);
                }
            }
        }
    }
    out
}

/// What makes one text of the other, in order.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    // Lines by numbers, which are compared at once.
    let mut numbers = HashMap::new();
    let mut number = |line| {
        let next = numbers.len();
        *numbers.entry(line).or_insert(next)
    };
    let before: Vec<usize> = old.iter().map(|line| number(*line)).collect();
    let after: Vec<usize> = new.iter().map(|line| number(*line)).collect();
    let mut all = Vec::new();
    let (mut old_index, mut new_index) = (0, 0);
    let differs = |old_index: usize, old_end: usize, new_index: usize, new_end: usize| match (
        old_end - old_index,
        new_end - new_index,
    ) {
        (0, 0) => None,
        (0, new_len) => Some(DiffOp::Insert { old_index, new_index, new_len }),
        (old_len, 0) => Some(DiffOp::Delete { old_index, old_len, new_index }),
        (old_len, new_len) => Some(DiffOp::Replace { old_index, old_len, new_index, new_len }),
    };
    for (one, other) in equal_lines(&before, &after) {
        all.extend(differs(old_index, one, new_index, other));
        match all.last_mut() {
            Some(DiffOp::Equal { len, .. }) if (old_index, new_index) == (one, other) => *len += 1,
            _ => all.push(DiffOp::Equal { old_index: one, new_index: other, len: 1 }),
        }
        (old_index, new_index) = (one + 1, other + 1);
    }
    all.extend(differs(old_index, before.len(), new_index, after.len()));
    all
}

/// The lines that stay, by their indices in both texts, in order.
fn equal_lines(old: &[usize], new: &[usize]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut parts = vec![(0..old.len(), 0..new.len(), MAX_DEPTH)];
    while let Some((mut before, mut after, depth)) = parts.pop() {
        let same = |one: usize, other: usize| old.get(one) == new.get(other);
        while !before.is_empty() && !after.is_empty() && same(before.start, after.start) {
            found.push((before.start, after.start));
            (before.start, after.start) = (before.start + 1, after.start + 1);
        }
        while !before.is_empty() && !after.is_empty() && same(before.end - 1, after.end - 1) {
            (before.end, after.end) = (before.end - 1, after.end - 1);
            found.push((before.end, after.end));
        }
        let (Some(lines), Some(others)) = (old.get(before.clone()), new.get(after.clone())) else {
            continue;
        };
        if lines.is_empty() || others.is_empty() {
            continue;
        }
        if lines.len() + others.len() <= SMALL {
            for operation in capture_diff_slices(Algorithm::Myers, lines, others) {
                if let DiffOp::Equal { old_index, new_index, len } = operation {
                    let (one, other) = (before.start + old_index, after.start + new_index);
                    found.extend((one..one + len).zip(other..));
                }
            }
            continue;
        }
        let Some(depth) = depth.checked_sub(1) else { continue };
        let divided = anchors(lines, others);
        if divided.is_empty() {
            continue;
        }
        let (mut one, mut other) = (before.start, after.start);
        for (at, there) in divided {
            let (at, there) = (before.start + at, after.start + there);
            found.push((at, there));
            parts.push((one..at, other..there, depth));
            (one, other) = (at + 1, there + 1);
        }
        parts.push((one..before.end, other..after.end, depth));
    }
    found.sort_unstable();
    found
}

/// Of the lines that each text has once, as many as are in the same order in both: the longest increasing subsequence.
fn anchors(old: &[usize], new: &[usize]) -> Vec<(usize, usize)> {
    let once = |lines: &[usize]| {
        let mut places: HashMap<usize, Option<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            places.entry(*line).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let (before, after) = (once(old), once(new));
    let place = |of: &HashMap<usize, Option<usize>>, line: &usize| of.get(line).copied().flatten();
    let pairs: Vec<(usize, usize)> = old
        .iter()
        .enumerate()
        .filter_map(|(at, line)| {
            place(&before, line)?;
            Some((at, place(&after, line)?))
        })
        .collect();
    // The last pair of the best sequence of each length, and the pair before each pair.
    let mut ends: Vec<usize> = Vec::new();
    let mut earlier: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let there = |pair: usize| pairs.get(pair).map(|(_, there)| *there);
    for (index, (_, other)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| there(*end) < Some(*other));
        earlier.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut found = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        found.extend(pairs.get(index));
        next = earlier.get(index).copied().flatten();
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        reason = "a test that fails should stop"
    )]

    use super::*;

    fn applied(old: &[&str], new: &[&str]) -> Vec<String> {
        let mut all = Vec::new();
        for operation in operations(old, new) {
            let (tag, before, after) = operation.as_tag_tuple();
            let lines = if tag == DiffTag::Equal { &old[before] } else { &new[after] };
            all.extend(lines.iter().map(|line| (*line).to_owned()));
        }
        all
    }

    proptest::proptest! {
        #[test]
        fn what_a_difference_makes_of_the_old_text_is_the_new_one(
            old in proptest::collection::vec("[a-d]{1,2}", 0..40),
            new in proptest::collection::vec("[a-d]{1,2}", 0..40),
            long in proptest::bool::ANY,
        ) {
            let filler: Vec<String> = (0..if long { 3_000 } else { 0 }).map(|n| format!("{}", n % 97)).collect();
            let of = |lines: &[String], end: &str| -> Vec<String> {
                lines.iter().cloned().chain([end.to_owned()]).chain(filler.iter().cloned())
                    .chain(lines.iter().map(|line| format!("{line}{end}"))).collect()
            };
            let (old, new) = (of(&old, "x"), of(&new, "y"));
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            proptest::prop_assert_eq!(applied(&old, &new), new);
        }
    }

    #[test]
    fn the_format_is_that_of_others() {
        let (old, new) = ("a\nb\nc\nd\ne\nf\n", "a\nB\nc\nd\ne\nf\ng");
        let theirs = similar::TextDiff::from_lines(old, new);
        let theirs = theirs.unified_diff().header("x", "y").to_string();
        assert_eq!(unified(old, new, "x", "y"), theirs);
        assert_eq!(unified(old, old, "x", "y"), "");
    }
}
