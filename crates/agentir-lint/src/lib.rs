//! Rules, their registry and the rule runner.
//!
//! A rule is a file in `rules/` with its metadata and its check. Its page in the top-level `rules/`
//! folder documents it, with examples that run as tests. Rules query the IR and its analyses
//! (`agentir-analysis`), so the same rule serves every dialect. Only rules about the source text itself, comments
//! included, read the source.
//!
//! What rules know about an agent or a program is an [`agentir_analysis::AgentAnalysis`] or
//! [`agentir_analysis::ProgramAnalysis`]: indexed names, the graph, def-use chains, facts at program
//! points, proofs. A rule is a query over them and words for the answer. `agentir check --statistics`
//! reports the time of each rule, and in parentheses that of shared analyses.
//!
//! Each rule names the constructs that it is about; dialects list theirs. What a project may decide (limits, names that the
//! platform provides) is an option of the rule, in one table (`options`). When several rules match
//! the same location, only the most specific reports: `constant-comparison` for a single
//! comparison, `unsatisfiable-condition` and `always-true-condition` for whole conditions,
//! `unreachable-branch` for branches.
//!
//! *Invariant*: nothing here prints, reads a file or changes the program.

mod catalogue;
mod evidence;
mod front_end;
mod names;
mod options;
mod rule;
/// What `cargo xtask new-rule` writes. It is compiled with the tests, so that it always fits.
#[cfg(test)]
mod rule_template;
mod rules;
mod run;
mod signature;
mod statistics;
mod suppress;
mod timing;
mod wording;

pub use agentir_analysis::{Cancellation, Cancelled};
pub use catalogue::{
    RuleInfo, catalogue, page, rests_on_absence, rests_on_own_agent, rests_on_unset, rule,
    rule_names, tag,
};
pub use options::{OPTIONS, OptionKind, Options, RuleOption};
pub use rule::{AgentContext, Check, Group, Report, Rule, SourceText};
pub use rules::hardcoded_secret::HARDCODED_SECRET;
pub use run::{
    CheckRun, Checked, Selection, UnknownRule, check, check_text, check_with, holds_in_fragment,
};
pub use statistics::Statistics;
pub use suppress::{Comment, MARKER as SUPPRESSION_MARKER, suppress};
pub use timing::Times;
