//! The rules, and what runs them.
//!
//! A rule is a file in `rules/` with its name, what it looks for, and the check; its page in the
//! top-level `rules/` folder says what it means, with examples that run as tests. Rules read the
//! IR and the facts collected from it, never the source: the same rule serves every dialect.
//!
//! *Invariant*: nothing here prints, reads a file or changes the program.

mod arguments;
mod bodies;
mod catalogue;
mod covered;
mod dialects;
mod facts;
mod front_end;
mod names;
mod polarity;
mod program;
mod prompt;
mod recall;
mod rule;
mod rules;
mod script;
mod variables;
mod wording;

pub use catalogue::{RuleInfo, catalogue, page, rule};
pub use facts::Facts;
pub use program::{Selection, check};
pub use rule::{AgentContext, Check, Group, ProgramContext, Report, Rule};
pub use variables::Variables;
