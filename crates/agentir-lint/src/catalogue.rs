//! All rules. Registering a rule happens here and nowhere else.

use crate::front_end;
use crate::rule::{Group, Rule};
use crate::rules;
use agentir_diagnostics::Severity;
use serde::Serialize;

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The rules that look at the IR.
pub(crate) static RULES: &[&Rule] = &[
    &rules::undefined_tool::RULE,
];

/// What `agentir rules` says of a rule.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RuleInfo {
    /// Its name.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// Its severity.
    pub severity: Severity,
    /// What it finds.
    pub summary: &'static str,
    /// What the vendors' tools call it.
    pub vendor: &'static [&'static str],
}

impl RuleInfo {
    /// The group's name.
    #[must_use]
    pub const fn group_name(&self) -> &'static str {
        match self.group {
            Group::Syntax => "syntax",
            Group::Versions => "versions",
            Group::Names => "names",
            Group::Reserved => "reserved",
            Group::Reachability => "reachability",
        }
    }
}

const fn info(rule: &'static Rule) -> RuleInfo {
    RuleInfo {
        name: rule.name.0,
        group: rule.group,
        severity: rule.severity,
        summary: rule.summary,
        vendor: rule.vendor,
    }
}

/// All rules, by group and name.
#[must_use]
pub fn catalogue() -> Vec<RuleInfo> {
    let mut all: Vec<RuleInfo> =
        front_end::RULES.iter().map(info).chain(RULES.iter().map(|r| info(r))).collect();
    all.sort_by_key(|r| (r.group, r.name));
    all
}

/// The rule called `name`.
#[must_use]
pub fn rule(name: &str) -> Option<RuleInfo> {
    front_end::RULES.iter().map(info).chain(RULES.iter().map(|r| info(r))).find(|r| r.name == name)
}

/// The page of the rule called `name`, in Markdown.
#[must_use]
pub fn page(name: &str) -> Option<&'static str> {
    PAGES.binary_search_by_key(&name, |(n, _)| n).ok().and_then(|i| PAGES.get(i)).map(|(_, text)| *text)
}
