//! Names that a target takes: legal there, and each used once.

use rustc_hash::FxHashSet;
use smol_str::{SmolStr, format_smolstr};

/// The names that are used in one space of names.
#[derive(Debug, Default)]
pub(crate) struct Names(FxHashSet<SmolStr>);

impl Names {
    /// A legal name as near to `wanted` as is free: `wanted`, else with `prefix` before it, else with
    /// a number behind.
    pub(crate) fn claim(&mut self, wanted: &str, prefix: &str) -> SmolStr {
        let plain = word(wanted);
        let long = word(&format!("{prefix}_{wanted}"));
        let numbered = (2_u32..).map(|n| SmolStr::new(format!("{long}_{n}")));
        let free = [plain.clone(), long.clone()]
            .into_iter()
            .chain(numbered)
            .find(|name| !self.0.contains(name))
            .unwrap_or(plain);
        self.0.insert(free.clone());
        free
    }
}

/// A word of letters, digits and single underscores that begins with a letter.
pub(crate) fn word(text: &str) -> SmolStr {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c == '_' && (out.is_empty() || out.ends_with('_')) {
            continue;
        }
        if out.is_empty() && c.is_ascii_digit() {
            out.push('n');
        }
        out.push(c);
    }
    let trimmed = out.trim_end_matches('_');
    SmolStr::new(if trimmed.is_empty() { "unnamed" } else { trimmed })
}

/// `name` with `_` for every character that is not allowed, and not beginning with a digit.
#[must_use]
pub(crate) fn legal(name: &str, allowed: impl Fn(char) -> bool) -> SmolStr {
    let mut out: String =
        name.chars().map(|c| if allowed(c) || c == '_' { c } else { '_' }).collect();
    if !out.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        out.insert(0, '_');
    }
    SmolStr::new(out)
}

/// `wanted`, or where that is taken, the first free one of `wanted_2`, `wanted_3`, … Counting goes on
/// from a number that `wanted` ends with.
#[must_use]
pub(crate) fn free(wanted: &str, taken: impl Fn(&str) -> bool) -> SmolStr {
    if !taken(wanted) {
        return SmolStr::new(wanted);
    }
    let numbered = wanted.rsplit_once('_').and_then(|(base, n)| Some((base, n.parse().ok()?)));
    let (base, last): (&str, u32) = numbered.unwrap_or((wanted, 1));
    let name = |n: u32| format_smolstr!("{base}_{n}");
    // By bisection: a name that is wanted ten thousand times must not be counted up to each time.
    let (mut below, mut step) = (last, 1);
    while taken(&name(below.saturating_add(step))) {
        below = below.saturating_add(step);
        step = step.saturating_mul(2);
    }
    let mut found = below.saturating_add(step);
    while found - below > 1 {
        let middle = below + (found - below) / 2;
        if taken(&name(middle)) { below = middle } else { found = middle }
    }
    name(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_unique() {
        let mut names = Names::default();
        assert_eq!(names.claim("ask date", "a"), "ask_date");
        assert_eq!(names.claim("ask_date", "booking"), "booking_ask_date");
        assert_eq!(names.claim("ask_date", "booking"), "booking_ask_date_2");
        assert_eq!(word("__x__1"), "x_1");
        assert_eq!(word("7"), "n7");
        assert_eq!(word("…"), "unnamed");
    }

    #[test]
    fn names_are_legal_and_free() {
        let letters = |c: char| c.is_ascii_alphanumeric();
        assert_eq!(legal("steps~1", letters), "steps_1");
        assert_eq!(legal("2nd try", letters), "_2nd_try");
        let taken = ["a", "a_2", "a_3", "b_7"];
        let is_taken = |n: &str| taken.contains(&n);
        assert_eq!(free("c", is_taken), "c");
        assert_eq!(free("a", is_taken), "a_4");
        assert_eq!(free("a_2", is_taken), "a_4");
        assert_eq!(free("b_7", is_taken), "b_8");
    }
}
