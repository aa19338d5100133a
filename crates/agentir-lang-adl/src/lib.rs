//! ADL, the agent declaration language of the MICA project.
//!
//! The language is the paper's (ADL 1.0, Appendices A to C). [`schema`] has its tables; `reader` reads
//! agents by them, `steps` reads steps, `inline` the strings inside (conditions, paths, returns, texts with
//! `${…}`; `grammars/adl/inline.lalrpop`), [`python`] the bot's Python functions, [`config`] its settings.
//!
//! Forms that MICA, the implementation of the language, treats differently from the paper are reported
//! here, since only the text shows them.
//!
//! The paper is the definition. Rules of the group `mica` report where MICA differs from it. Python
//! files are parsed by tree-sitter, which recovers from errors, and never executed; `config.yml`
//! has a table of its own. The settings and the imports of the Python files are kept with the
//! program, for the rules that check whether MICA can start the bot.
//!
//! *Invariant*: parsing does not resolve names of agents or functions.

pub mod config;
mod context;
pub mod dialect;
mod docs;
mod emit;
mod inline;
mod language;
mod lower;
mod members;
mod names;
pub mod python;
mod reader;
mod reference;
mod rules;
pub mod schema;
mod steps;
mod tree;

pub use emit::EMITTER;
pub use inline::Verb;
pub use language::{ADL, AGENTS_FILE, PYTHON_FILE, SETTINGS_FILE, is_adl};
pub use reader::read;
pub use schema::AgentKind;
pub use tree::{
    Agent, Assignment, Binding, Branch, Document, Faq, Field, Member, Step, StepKind, Subflow,
    Value,
};
