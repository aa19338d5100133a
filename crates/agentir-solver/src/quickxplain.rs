//! Minimal sufficient subsets.

/// Returns a minimal subset of `items` that is sufficient, sorted. `is_sufficient` must hold for
/// all of `items`, and must be monotone.
///
/// This is `QuickXplain` (Junker 2004): about `k log(n / k)` calls for a subset of `k`.
pub(crate) fn minimal_subset<T: Copy + Ord>(
    items: &[T],
    is_sufficient: &mut impl FnMut(&[T]) -> bool,
) -> Vec<T> {
    let mut found = Vec::new();
    shrink(&mut Vec::new(), false, items, is_sufficient, &mut found);
    found.sort_unstable();
    found
}

/// Adds to `found` a minimal subset of `items` that is sufficient together with `kept`. `changed`
/// says whether `kept` has grown since the last call of `is_sufficient`. The recursion depth is
/// logarithmic.
fn shrink<T: Copy + Ord>(
    kept: &mut Vec<T>,
    changed: bool,
    items: &[T],
    is_sufficient: &mut impl FnMut(&[T]) -> bool,
    found: &mut Vec<T>,
) {
    if items.is_empty() || (changed && is_sufficient(kept)) {
        return;
    }
    if let [one] = items {
        // A single item may be redundant if the empty set is sufficient.
        if changed || !is_sufficient(kept) {
            found.push(*one);
        }
        return;
    }
    let (first, second) = items.split_at(items.len() / 2);
    let before = kept.len();
    kept.extend_from_slice(first);
    let start = found.len();
    shrink(kept, true, second, is_sufficient, found);
    kept.truncate(before);
    let needed = found.get(start..).unwrap_or_default().to_vec();
    kept.extend_from_slice(&needed);
    shrink(kept, !needed.is_empty(), first, is_sufficient, found);
    kept.truncate(before);
}

#[cfg(test)]
mod tests {
    use super::minimal_subset;

    #[test]
    fn finds_what_suffices() {
        let all: Vec<u32> = (0..100).collect();
        let needed = [3, 40, 41, 99];
        let mut asked = 0;
        let found = minimal_subset(&all, &mut |set| {
            asked += 1;
            needed.iter().all(|n| set.contains(n))
        });
        assert_eq!(found, needed);
        assert!(asked < 60, "{asked}");
        assert!(minimal_subset(&all, &mut |_| true).is_empty());
        assert_eq!(minimal_subset(&[7], &mut |set| set == [7]), [7]);
    }
}
