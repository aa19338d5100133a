//! "Did you mean": the nearest of a set of names.

/// The candidate nearest to `name`, if it is near enough for `name` to be a misspelling: the edit distance
/// is at most a third of the name's length (and at least one); case only breaks ties.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer names are not typos, and the distance is quadratic in the length.
    const LONGEST: usize = 64;
    // With this many names that could be meant, no guess is worth its time: a document with as many
    // unknown names as known ones must not compare each with each.
    const MOST: usize = 256;
    const MOST_KNOWN: usize = 4096;
    if name.len() > LONGEST {
        return None;
    }
    let folded = name.to_lowercase();
    let length = folded.chars().count();
    let limit = (length / 3).max(1);
    candidates
        .into_iter()
        .take(MOST_KNOWN)
        .filter(|c| c.len() <= LONGEST && *c != name && c.chars().count().abs_diff(length) <= limit)
        .take(MOST)
        .filter_map(|c| {
            let distance = strsim::osa_distance(&folded, &c.to_lowercase());
            (distance <= limit).then(|| (distance, strsim::osa_distance(name, c), c))
        })
        .min()
        .map(|(.., c)| c)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_misspellings_and_nothing_else() {
        let names = ["destination", "checkin", "checkout"];
        assert_eq!(closest("destnation", names), Some("destination"));
        assert_eq!(closest("CheckIn", names), Some("checkin"));
        assert_eq!(closest("guests", names), None);
        assert_eq!(
            closest("checkin", names),
            None,
            "neither the name itself is a suggestion, nor a word three edits away"
        );
    }
}
