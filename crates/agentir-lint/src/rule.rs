//! Rules and what they get: the analysis of an agent or a program, options, a report.

use crate::options::Options;
use agentir_analysis::{AgentAnalysis, ProgramAnalysis};
use agentir_diagnostics::{Diagnostic, FileId, RuleName, Severity, Span};
use agentir_expr::dialect::{Construct, Notation};
use agentir_ir::{Agent, Dialect, Tool};
use std::ops::Deref;

/// A rule of the catalogue.
#[derive(Debug)]
pub struct Rule {
    /// Its name in kebab case; its page is `rules/NAME.md`.
    pub name: RuleName,
    /// Its group.
    pub group: Group,
    /// The severity of its findings.
    pub severity: Severity,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// The names of the equivalent checks in the vendors' tools.
    pub vendor: &'static [&'static str],
    /// The constructs that it is about. It applies to the dialects that have all of them; about names, also to documents
    /// of AgentIR with parts that the dialect of their agents has no form for.
    pub requires: &'static [Construct],
    /// Its check.
    pub check: Check,
}

impl Rule {
    /// Whether the rule applies to a dialect.
    pub(crate) fn applies_to(&self, dialect: Dialect) -> bool {
        self.requires.iter().all(|construct| dialect.has(*construct))
    }

    /// Whether the rule applies to what is written in a dialect and a notation.
    pub(crate) fn applies_in(&self, dialect: Dialect, notation: Notation) -> bool {
        let is_document = notation == Notation::Json && self.group == Group::Names;
        self.requires
            .iter()
            .all(|construct| dialect.has(*construct) || (is_document && construct.is_named_part()))
    }
}

/// A group of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Syntax.
    Syntax,
    /// Versions of the language, and conflicting forms.
    Versions,
    /// Undefined, duplicate and unused names.
    Names,
    /// Names reserved by the runtime.
    Reserved,
    /// Unreachable code.
    Reachability,
    /// Conditions, decided by a solver.
    Proofs,
    /// Dataflow: definitions, uses and transfers of variables.
    Data,
    /// Security.
    Security,
    /// Natural-language instructions.
    Prompts,
    /// Differences between ADL's paper and MICA, its implementation.
    Mica,
}

/// The scope of a rule's check.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// The front end checks it while reading.
    FrontEnd,
    /// Checks the source text of a file, comments included.
    Text(fn(&SourceText<'_>, &mut Report<'_>)),
    /// Checks each agent.
    Agent(fn(&AgentContext<'_, '_>, &mut Report<'_>)),
    /// Checks the program as a whole.
    Program(fn(&ProgramAnalysis<'_>, &mut Report<'_>)),
}

/// A file as the rules about texts see it.
#[derive(Debug, Clone, Copy)]
pub struct SourceText<'t> {
    /// The file.
    pub file: FileId,
    /// Its text.
    pub text: &'t str,
    /// The agents that it defines.
    pub agents: &'t [&'t Agent],
    /// The tools that it defines beside them.
    pub tools: &'t [&'t Tool],
}

/// An agent with its analyses, as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct AgentContext<'p, 'a> {
    analysis: AgentAnalysis<'p, 'a>,
    /// The options of the rules for this agent.
    options: &'p Options,
}

impl<'p, 'a> Deref for AgentContext<'p, 'a> {
    type Target = AgentAnalysis<'p, 'a>;
    fn deref(&self) -> &Self::Target {
        &self.analysis
    }
}

impl<'p, 'a> AgentContext<'p, 'a> {
    pub(crate) const fn new(analysis: AgentAnalysis<'p, 'a>, options: &'p Options) -> Self {
        Self { analysis, options }
    }

    /// Returns the value of a numeric option, or its default.
    pub(crate) fn number(&self, rule: &Rule, option: &str) -> usize {
        self.options.number(rule.name.0, option)
    }

    /// Whether an option of a rule includes `word`.
    pub(crate) fn names(&self, rule: &Rule, option: &str, word: &str) -> bool {
        self.options.names(rule.name.0, option, word)
    }
}

/// The findings of a rule.
pub struct Report<'r> {
    pub(crate) rule: &'static Rule,
    pub(crate) diagnostics: &'r mut Vec<Diagnostic>,
}

impl Report<'_> {
    /// Creates a finding at `span` with the rule's severity. Pass it to [`Report::push`].
    #[must_use]
    pub fn finding(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.rule.name, self.rule.severity, span, message)
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
