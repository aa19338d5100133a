//! Options of rules.

use globset::GlobSet;
use std::collections::HashMap;

/// An option of a rule.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct RuleOption {
    /// The rule.
    #[serde(skip)]
    pub rule: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The type of its value.
    pub kind: OptionKind,
    /// What it does.
    pub summary: &'static str,
}

/// The type of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionKind {
    /// A number, with its default.
    Number(u32),
    /// Names, in which `*` is a wildcard; none by default.
    Names,
}

const fn option(
    rule: &'static str,
    name: &'static str,
    kind: OptionKind,
    summary: &'static str,
) -> RuleOption {
    RuleOption { rule, name, kind, summary }
}

/// All options. The pages of the rules document them.
pub static OPTIONS: &[RuleOption] = &[
    option(
        "complex-procedure",
        "most",
        OptionKind::Number(20),
        "how many conditions a procedure may have",
    ),
    option("undefined-tool", "known", OptionKind::Names, "tools that the platform provides"),
    option("undefined-variable", "known", OptionKind::Names, "variables that the platform sets"),
];

/// The values of options for an agent.
#[derive(Debug, Default)]
pub struct Options {
    numbers: HashMap<(&'static str, &'static str), u32>,
    names: HashMap<(&'static str, &'static str), GlobSet>,
}

impl Options {
    /// Returns the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option to a number. Unknown options are ignored.
    pub fn set_number(&mut self, rule: &str, name: &str, number: u32) {
        if let Some(option) = find(rule, name) {
            self.numbers.insert((option.rule, option.name), number);
        }
    }

    /// Sets an option to names. Unknown options are ignored.
    pub fn set_names(&mut self, rule: &str, name: &str, names: GlobSet) {
        if let Some(option) = find(rule, name) {
            self.names.insert((option.rule, option.name), names);
        }
    }

    pub(crate) fn number(&self, rule: &str, name: &str) -> usize {
        let set = self.numbers.iter().find(|((r, n), _)| *r == rule && *n == name);
        let number = set.map(|(_, number)| *number).or_else(|| match find(rule, name)?.kind {
            OptionKind::Number(default) => Some(default),
            OptionKind::Names => None,
        });
        number.and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX)
    }

    /// Whether the value of an option includes `word`.
    pub(crate) fn names(&self, rule: &str, name: &str, word: &str) -> bool {
        let mut set = self.names.iter().filter(|((r, n), _)| *r == rule && *n == name);
        set.any(|(_, globs)| globs.is_match(word))
    }
}

fn find(rule: &str, name: &str) -> Option<&'static RuleOption> {
    OPTIONS.iter().find(|option| option.rule == rule && option.name == name)
}
