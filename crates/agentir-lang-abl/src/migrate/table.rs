//! The changes between versions of ABL, as a table.

use super::source::Source;
use super::{handoffs, names, profiles, rules};
use crate::schema::RENAMED;
use agentir_expr::Version;
use agentir_syntax::migrate::{Changes, Difference};
use serde_json::Value;

/// A change of the language.
pub struct Row {
    /// What changed.
    pub what: &'static str,
    /// The last version with the old form.
    pub last: Version,
    /// Whether to change only documents in such a version, because the old form means something else
    /// in newer ones. Forms that newer versions lack are changed wherever they occur.
    pub old_versions_only: bool,
    /// The target versions that require the change.
    pub to: &'static [Version],
    /// How to change it.
    pub how: How,
    /// The parts of IR paths where the new form may differ.
    pub changed_paths: &'static [&'static str],
    /// Whether the new form may spell expressions and texts differently, anywhere.
    pub respelled: bool,
}

/// How an old form is migrated.
#[derive(Clone, Copy)]
pub enum How {
    /// By the fixes of this rule.
    Finding(&'static str),
    /// By a function over the typed tree, in every round.
    Tree(fn(&Source<'_, '_>, &mut Changes)),
    /// The same, but in the first round only: its output would match again.
    Once(fn(&Source<'_, '_>, &mut Changes)),
}

use Version::{Current, Legacy, Newest};

const BOTH: &[Version] = &[Current, Newest];

const fn row(what: &'static str, last: Version, to: &'static [Version], how: How) -> Row {
    Row { what, last, old_versions_only: false, to, how, changed_paths: &[], respelled: false }
}

impl Row {
    const fn changing(mut self, changed_paths: &'static [&'static str]) -> Self {
        self.changed_paths = changed_paths;
        self
    }

    const fn for_old_versions_only(mut self) -> Self {
        self.old_versions_only = true;
        self
    }

    const fn respelling(mut self) -> Self {
        self.respelled = true;
        self
    }

    /// Whether this change explains a difference.
    pub(super) fn may_change(&self, difference: &Difference<'_>) -> bool {
        self.changed_paths.iter().any(|part| difference.path.contains(part))
            || (self.respelled
                && without_spelling(difference.left) == without_spelling(difference.right))
    }
}

/// The text of a value without the spelling that changed_paths between versions: operators, placeholders
/// and renamed names.
fn without_spelling(value: &Value) -> String {
    let text = RENAMED.iter().fold(value.to_string(), |text, (old, new)| text.replace(old, new));
    text.chars().filter(|c| !matches!(c, '(' | ')' | '{' | '}' | '.' | ' ')).collect()
}

/// The rows that apply between two versions.
pub(super) fn applies(from: Version, to: Version) -> impl Iterator<Item = &'static Row> {
    ROWS.iter()
        .filter(move |row| row.to.contains(&to) && (!row.old_versions_only || from <= row.last))
}

/// All changes that can be migrated or have to be reported. Forms that all versions read alike are not
/// listed: bare paths and variables, labels of constraints, `RETURN`.
pub static ROWS: &[Row] = &[
    row(
        "keywords of sections in the case of the notation",
        Legacy,
        BOTH,
        How::Finding("keyword-case"),
    ),
    row("`WHEN` with a colon, new names of the runtime", Legacy, BOTH, How::Finding("legacy-form"))
        .respelling(),
    row("`{{x}}` for `{x}`", Legacy, BOTH, How::Finding("single-brace-hole"))
        .for_old_versions_only()
        .respelling(),
    row("`x.contains(y)` for `x contains y`", Legacy, &[Current], How::Tree(names::contains))
        .respelling(),
    row("`ON_FAIL` for `ON_FAILURE` of a call", Legacy, &[Current], How::Tree(names::on_failure)),
    row("`ON:` with an event and an action in `recall`", Legacy, BOTH, How::Tree(names::recall))
        .changing(&["memory.recall"]),
    row(
        "functions and wildcards that `remember` no longer has",
        Legacy,
        BOTH,
        How::Once(names::remember),
    ),
    row("strategies of gathering", Legacy, &[Current], How::Once(names::strategies)),
    row("a guardrail's check says what is not allowed", Legacy, BOTH, How::Once(rules::polarity))
        .for_old_versions_only()
        .changing(&["constraints.guardrails"]),
    row("profiles in files of their own", Legacy, BOTH, How::Once(profiles::extract))
        .changing(&["behavior_profiles"]),
    row("`MAP` below `ON_RETURN`", Current, &[Newest], How::Tree(handoffs::map)),
    row("`memory_grants` for `grant_memory`", Current, &[Newest], How::Tree(handoffs::grants))
        .changing(&["context.memory_grants"]),
    row(
        "how much of the conversation is counted",
        Current,
        &[Newest],
        How::Tree(handoffs::counted),
    ),
    row(
        "nothing of the conversation is handed over by default",
        Current,
        &[Newest],
        How::Tree(handoffs::history),
    )
    .for_old_versions_only()
    .changing(&["context.history"]),
    row("skills and priority of an escalation", Current, &[Newest], How::Tree(names::skills))
        .changing(&["escalation.routing"]),
    row(
        "a closed list of error types, with subtypes",
        Current,
        &[Newest],
        How::Tree(rules::error_types),
    )
    .changing(&["error_handling", "on_error"]),
    row(
        "handlers of errors that jump to a step",
        Current,
        &[Newest],
        How::Once(rules::error_jumps),
    ),
    row("only orchestrators delegate", Current, &[Newest], How::Once(rules::delegates)),
    row(
        "`DEFAULT_VALUE` for `DEFAULT` of persistent paths",
        Current,
        &[Newest],
        How::Tree(names::default_value),
    ),
];
