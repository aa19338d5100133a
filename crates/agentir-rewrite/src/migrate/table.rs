//! What changed between the versions of ABL, as data.

use super::source::{Changes, Source};
use super::{handoffs, names, profiles, rules};
use crate::same::Difference;
use agentir_expr::Version;
use agentir_syntax::abl::schema::RENAMED;
use serde_json::Value;

/// A change of the language.
pub struct Row {
    /// What changed.
    pub what: &'static str,
    /// The last version that has the old form.
    pub last: Version,
    /// Whether only documents that are in such a version are changed: what they say means something
    /// else in newer ones. Forms that newer versions do not have are changed wherever they are.
    pub means_otherwise: bool,
    /// The versions for which it is changed.
    pub to: &'static [Version],
    /// How it is changed.
    pub how: How,
    /// The places in the IR where the new form differs: the beginnings or parts of paths.
    pub differs: &'static [&'static str],
    /// Whether expressions and texts say the same in other words, wherever they are.
    pub spelled: bool,
}

/// How an old form becomes a new one.
#[derive(Clone, Copy)]
pub enum How {
    /// As the findings of this rule say.
    Finding(&'static str),
    /// By what is found in the tree.
    Tree(fn(&Source<'_, '_>, &mut Changes)),
    /// The same, but only once: what comes out looks like something to be changed.
    Once(fn(&Source<'_, '_>, &mut Changes)),
}

use Version::{Current, Legacy, Newest};

const BOTH: &[Version] = &[Current, Newest];

const fn row(what: &'static str, last: Version, to: &'static [Version], how: How) -> Row {
    Row { what, last, means_otherwise: false, to, how, differs: &[], spelled: false }
}

impl Row {
    const fn differing(mut self, differs: &'static [&'static str]) -> Self {
        self.differs = differs;
        self
    }

    const fn meaning_otherwise(mut self) -> Self {
        self.means_otherwise = true;
        self
    }

    const fn spelling(mut self) -> Self {
        self.spelled = true;
        self
    }

    /// Whether the new form may differ in this.
    pub(super) fn may_change(&self, difference: &Difference<'_>) -> bool {
        self.differs.iter().any(|part| difference.path.contains(part))
            || (self.spelled && spelling(difference.left) == spelling(difference.right))
    }
}

/// What a value says, whichever version its operators, holes and names are of.
fn spelling(value: &Value) -> String {
    let text = RENAMED.iter().fold(value.to_string(), |text, (old, new)| text.replace(old, new));
    text.chars().filter(|c| !matches!(c, '(' | ')' | '{' | '}' | '.' | ' ')).collect()
}

/// The rows that change something on the way between two versions.
pub(super) fn applies(from: Version, to: Version) -> impl Iterator<Item = &'static Row> {
    ROWS.iter()
        .filter(move |row| row.to.contains(&to) && (!row.means_otherwise || from <= row.last))
}

/// Everything that changed and can be written anew, or has to be told. What is not here is read alike
/// by all versions: bare paths and variables, labels of constraints, `RETURN`.
pub static ROWS: &[Row] = &[
    row(
        "keywords of sections in the case of the notation",
        Legacy,
        BOTH,
        How::Finding("keyword-case"),
    ),
    row("`WHEN` with a colon, new names of the runtime", Legacy, BOTH, How::Finding("legacy-form"))
        .spelling(),
    row("`{{x}}` for `{x}`", Legacy, BOTH, How::Finding("single-brace-hole"))
        .meaning_otherwise()
        .spelling(),
    row("`x.contains(y)` for `x contains y`", Legacy, &[Current], How::Tree(names::contains))
        .spelling(),
    row("`ON_FAIL` for `ON_FAILURE` of a call", Legacy, &[Current], How::Tree(names::on_failure)),
    row("`ON:` with an event and an action in `recall`", Legacy, BOTH, How::Tree(names::recall))
        .differing(&["memory.recall"]),
    row(
        "functions and wildcards that `remember` no longer has",
        Legacy,
        BOTH,
        How::Once(names::remember),
    ),
    row("strategies of gathering", Legacy, &[Current], How::Once(names::strategies)),
    row("a guardrail's check says what is not allowed", Legacy, BOTH, How::Once(rules::polarity))
        .meaning_otherwise()
        .differing(&["constraints.guardrails"]),
    row("profiles in files of their own", Legacy, BOTH, How::Once(profiles::extract))
        .differing(&["behavior_profiles"]),
    row("`MAP` below `ON_RETURN`", Current, &[Newest], How::Tree(handoffs::map)),
    row("`memory_grants` for `grant_memory`", Current, &[Newest], How::Tree(handoffs::grants))
        .differing(&["context.memory_grants"]),
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
    .meaning_otherwise()
    .differing(&["context.history"]),
    row("skills and priority of an escalation", Current, &[Newest], How::Tree(names::skills))
        .differing(&["escalation.routing"]),
    row(
        "a closed list of error types, with subtypes",
        Current,
        &[Newest],
        How::Tree(rules::error_types),
    )
    .differing(&["error_handling", "on_error"]),
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
