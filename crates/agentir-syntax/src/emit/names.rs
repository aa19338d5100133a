//! Names for a target: valid, unique, and as close to the source's names as possible. Renamings are
//! recorded for the report.

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;
use smol_str::{SmolStr, format_smolstr};

/// Something with another name in the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Renamed {
    /// Its kind: `agent`, `step`, `tool`, `variable`; `action` for names of exposed actions in texts.
    pub what: &'static str,
    /// The name in the source.
    pub from: String,
    /// The name in the output.
    pub to: String,
    /// The agent in which it is renamed, if others have something else of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Which names are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSyntax {
    /// ASCII letters, digits and single underscores, starting with a letter.
    Word,
    /// Letters and digits of any script and underscores, not starting with a digit.
    Identifier,
    /// Any text.
    Any,
}

impl NameSyntax {
    /// The valid name closest to a text.
    pub fn legalize(self, text: &str) -> SmolStr {
        match self {
            Self::Word => word(text),
            Self::Identifier => identifier(text),
            Self::Any => SmolStr::new(text),
        }
    }
}

/// The names used in one namespace.
#[derive(Debug, Clone)]
pub struct Namespace {
    form: NameSyntax,
    /// Whether a name is reserved.
    reserved: fn(&str) -> bool,
    taken: FxHashSet<SmolStr>,
    renamed: Vec<Renamed>,
}

impl Default for Namespace {
    /// A namespace of [`NameSyntax::Word`] without reserved names.
    fn default() -> Self {
        Self::of(NameSyntax::Word)
    }
}

impl Namespace {
    /// An empty namespace.
    pub fn new(form: NameSyntax, reserved: fn(&str) -> bool) -> Self {
        Self { form, reserved, taken: FxHashSet::default(), renamed: Vec::new() }
    }

    /// An empty namespace without reserved names.
    pub fn of(form: NameSyntax) -> Self {
        Self::new(form, |_| false)
    }

    /// Claims a valid and unused name: the first unused one of `wanted`, or the last one with a numeric
    /// suffix.
    pub fn claim(&mut self, wanted: &[&str]) -> SmolStr {
        let legal: Vec<SmolStr> = wanted.iter().map(|text| self.form.legalize(text)).collect();
        let taken = |name: &str| self.taken.contains(name) || (self.reserved)(name);
        let free = legal.iter().find(|name| !taken(name)).cloned();
        let name = free.unwrap_or_else(|| {
            let last = legal.last().map_or("unnamed", SmolStr::as_str);
            numbered(last, taken)
        });
        self.taken.insert(name.clone());
        name
    }

    /// Like [`claim`](Self::claim), for something called `own` in the source. A different name is recorded
    /// as a renaming.
    pub fn rename(&mut self, what: &'static str, own: &str, instead: &[&str]) -> SmolStr {
        let wanted: Vec<&str> = [own].into_iter().chain(instead.iter().copied()).collect();
        let name = self.claim(&wanted);
        if name != own {
            let (from, to) = (own.to_owned(), name.to_string());
            self.renamed.push(Renamed { what, from, to, agent: None });
        }
        name
    }

    /// The recorded renamings.
    pub fn into_renamed(self) -> Vec<Renamed> {
        self.renamed
    }
}

/// A word of letters, digits and single underscores, starting with a letter.
fn word(text: &str) -> SmolStr {
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

/// Replaces invalid characters by `_`; the result does not start with a digit.
fn identifier(text: &str) -> SmolStr {
    let legal = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '_' };
    let mut out: String = text.chars().map(legal).collect();
    if !out.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        out.insert(0, '_');
    }
    SmolStr::new(out)
}

/// The first unused name of `wanted_2`, `wanted_3`, … If `wanted` ends with a number, counting
/// continues from there.
fn numbered(wanted: &str, taken: impl Fn(&str) -> bool) -> SmolStr {
    let numbered = wanted.rsplit_once('_').and_then(|(base, n)| Some((base, n.parse().ok()?)));
    let (base, last): (&str, u32) = numbered.unwrap_or((wanted, 1));
    // A language may reserve all names of a form, such as those that begin with an underscore.
    first_free(base, last, &taken)
        .or_else(|| first_free("unnamed", 1, &taken))
        .unwrap_or_else(|| SmolStr::from(wanted))
}

/// The first of `base_2`, `base_3`, … after `last` that is not taken; `None` if all are. By bisection: a name wanted ten
/// thousand times must not be counted up to each time.
fn first_free(base: &str, last: u32, taken: &impl Fn(&str) -> bool) -> Option<SmolStr> {
    let name = |n: u32| format_smolstr!("{base}_{n}");
    let (mut below, mut step) = (last, 1_u32);
    while taken(&name(below.checked_add(step)?)) {
        below += step;
        step = step.checked_mul(2)?;
    }
    let mut found = below + step;
    while found - below > 1 {
        let middle = below + (found - below) / 2;
        if taken(&name(middle)) { below = middle } else { found = middle }
    }
    Some(name(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_is_reserved_is_left() {
        let mut names = Namespace::new(NameSyntax::Identifier, |name| name.starts_with('_'));
        assert_eq!(names.claim(&["_x"]), "unnamed_2");
        assert_eq!(names.claim(&["_"]), "unnamed_3");
    }

    #[test]
    fn names_are_legal() {
        assert_eq!(NameSyntax::Word.legalize("__x__1"), "x_1");
        assert_eq!(NameSyntax::Word.legalize("7"), "n7");
        assert_eq!(NameSyntax::Word.legalize("…"), "unnamed");
        assert_eq!(NameSyntax::Identifier.legalize("steps~1"), "steps_1");
        assert_eq!(NameSyntax::Identifier.legalize("2nd try"), "_2nd_try");
        assert_eq!(NameSyntax::Identifier.legalize("größe"), "größe");
    }

    #[test]
    fn names_are_used_once() {
        let mut names = Namespace::new(NameSyntax::Word, |name| name == "then");
        assert_eq!(names.claim(&["ask date", "a"]), "ask_date");
        assert_eq!(names.claim(&["ask_date", "booking ask date"]), "booking_ask_date");
        assert_eq!(names.claim(&["ask_date", "booking ask date"]), "booking_ask_date_2");
        assert_eq!(names.claim(&["b_7"]), "b_7");
        assert_eq!(names.claim(&["b_7"]), "b_8");
        assert_eq!(names.claim(&["then"]), "then_2");
        assert_eq!(names.claim(&[]), "unnamed_2");
    }

    #[test]
    fn what_is_called_otherwise_is_written_down() {
        let mut names = Namespace::of(NameSyntax::Word);
        assert_eq!(names.rename("step", "ask", &[]), "ask");
        assert_eq!(names.rename("step", "ask", &["b_ask"]), "b_ask");
        let renamed = Renamed { what: "step", from: "ask".into(), to: "b_ask".into(), agent: None };
        assert_eq!(names.into_renamed(), [renamed]);
    }
}
