//! The rules, their registry and the rule runner.
//!
//! A rule is a file in `rules/` with its metadata and its check. Its page in the top-level `rules/`
//! folder documents it, with examples that run as tests. Rules query the IR and the analyses of it,
//! so the same rule serves every dialect. Only rules about the source text itself, comments
//! included, read the source.
//!
//! Every part of an agent is visited once ([`agentir_ir::Node`]) and indexed by its use; rules read
//! the index and never walk the IR. What several rules need besides it (the graph, def-use chains,
//! facts at program points, the steps of prompts) is computed when the first rule asks for it, once
//! per agent or program, and kept in [`AgentContext`] or [`ProgramContext`]. `agentir check
//! --statistics` reports the time of each rule, and in parentheses that of shared analyses.
//!
//! Each rule lists the dialects it applies to. What a project may decide (limits, names that the
//! platform provides) is an option of the rule, in one table (`options`). When several rules match
//! the same location, only the most specific reports: `constant-comparison` for a single
//! comparison, `unsatisfiable-condition` and `always-true-condition` for whole conditions,
//! `unreachable-branch` for branches.
//!
//! *Invariant*: nothing here prints, reads a file or changes the program.

mod arguments;
mod cancel;
mod catalogue;
mod constraints;
mod dataflow;
mod dialects;
mod front_end;
mod index;
mod names;
mod options;
pub mod polarity;
mod prompt;
mod proof;
pub mod recall;
mod routes;
mod rule;
/// What `cargo xtask new-rule` writes. It is compiled with the tests, so that it always fits.
#[cfg(test)]
mod rule_template;
mod rules;
mod run;
mod script;
mod statistics;
mod suppress;
mod taint;
mod timing;
mod types;
mod variables;
mod wording;

pub use cancel::{Cancellation, Cancelled};
pub use catalogue::{RuleInfo, catalogue, page, rule, rule_names, tag};
pub use index::AgentIndex;
pub use options::{OPTIONS, OptionKind, Options, RuleOption};
pub use proof::{Assumption, FactSource, QueryBuilder, SatResult, UnsatCore, VariableFacts};
pub use rule::{AgentContext, Check, Group, ProgramContext, Report, Rule};
pub use run::{Checked, Selection, UnknownRule, check, check_text, check_with, variable_facts_of};
pub use statistics::Statistics;
pub use suppress::suppress;
pub use timing::Times;
pub use variables::Variables;
