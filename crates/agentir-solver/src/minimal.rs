//! Smallest sets that suffice.

/// A smallest subset of `items` for which `suffices` holds, in their order: without any one of its
/// items it no longer does. `suffices` must hold for all of `items`, and for every superset of a set
/// for which it holds.
///
/// This is `QuickXplain` (Junker 2004): about `k log(n / k)` questions for a subset of `k`.
pub(crate) fn smallest<T: Copy + Ord>(
    items: &[T],
    suffices: &mut impl FnMut(&[T]) -> bool,
) -> Vec<T> {
    let mut found = Vec::new();
    shrink(&mut Vec::new(), false, items, suffices, &mut found);
    found.sort_unstable();
    found
}

/// Adds to `found` a smallest subset of `items` that suffices together with `kept`. `changed` says
/// that `kept` has grown since it was last asked about. Recursive, as deep as a logarithm.
fn shrink<T: Copy + Ord>(
    kept: &mut Vec<T>,
    changed: bool,
    items: &[T],
    suffices: &mut impl FnMut(&[T]) -> bool,
    found: &mut Vec<T>,
) {
    if items.is_empty() || (changed && suffices(kept)) {
        return;
    }
    if let [one] = items {
        // A single one may not be needed if nothing is.
        if changed || !suffices(kept) {
            found.push(*one);
        }
        return;
    }
    let (first, second) = items.split_at(items.len() / 2);
    let before = kept.len();
    kept.extend_from_slice(first);
    let start = found.len();
    shrink(kept, true, second, suffices, found);
    kept.truncate(before);
    let needed = found.get(start..).unwrap_or_default().to_vec();
    kept.extend_from_slice(&needed);
    shrink(kept, !needed.is_empty(), first, suffices, found);
    kept.truncate(before);
}

#[cfg(test)]
mod tests {
    use super::smallest;

    #[test]
    fn finds_what_suffices() {
        let all: Vec<u32> = (0..100).collect();
        let needed = [3, 40, 41, 99];
        let mut asked = 0;
        let found = smallest(&all, &mut |set| {
            asked += 1;
            needed.iter().all(|n| set.contains(n))
        });
        assert_eq!(found, needed);
        assert!(asked < 60, "{asked}");
        assert!(smallest(&all, &mut |_| true).is_empty());
        assert_eq!(smallest(&[7], &mut |set| set == [7]), [7]);
    }
}
