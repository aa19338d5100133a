//! What a project may set for a rule.

use globset::GlobSet;
use std::collections::HashMap;

/// An option of a rule.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct RuleOption {
    /// The rule.
    #[serde(skip)]
    pub rule: &'static str,
    /// The option.
    pub name: &'static str,
    /// What it is set to.
    pub kind: OptionKind,
    /// What it does.
    pub summary: &'static str,
}

/// What an option is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionKind {
    /// A number; this one if it is not set.
    Number(u32),
    /// Names, in which `*` stands for anything; none if it is not set.
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

/// All options. The page of a rule describes them in full.
pub static OPTIONS: &[RuleOption] = &[
    option(
        "complex-procedure",
        "most",
        OptionKind::Number(20),
        "how many decisions a procedure may take",
    ),
    option("undefined-tool", "known", OptionKind::Names, "tools that the platform has"),
    option("undefined-variable", "known", OptionKind::Names, "variables that the platform sets"),
];

/// What is set for an agent, by rule and option.
#[derive(Debug, Default)]
pub struct Options {
    numbers: HashMap<(&'static str, &'static str), u32>,
    names: HashMap<(&'static str, &'static str), GlobSet>,
}

impl Options {
    /// Nothing is set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option to a number; does nothing where there is no such option.
    pub fn set_number(&mut self, rule: &str, name: &str, number: u32) {
        if let Some(option) = find(rule, name) {
            self.numbers.insert((option.rule, option.name), number);
        }
    }

    /// Sets an option to names; does nothing where there is no such option.
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

    /// Whether `word` is among the names that an option is set to.
    pub(crate) fn names(&self, rule: &str, name: &str, word: &str) -> bool {
        let mut set = self.names.iter().filter(|((r, n), _)| *r == rule && *n == name);
        set.any(|(_, globs)| globs.is_match(word))
    }
}

fn find(rule: &str, name: &str) -> Option<&'static RuleOption> {
    OPTIONS.iter().find(|option| option.rule == rule && option.name == name)
}
