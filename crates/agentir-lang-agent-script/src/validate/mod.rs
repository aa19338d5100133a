//! Constraints of agentforce documents that the tables cannot express: fields that require or exclude each
//! other, values that depend on the agent type, target URIs.
//!
//! Names are not resolved here; rules on the IR check what depends on them. Sources: the published
//! diagnostics of the vendor's tools; each function names their codes.

mod access;
mod actions;
mod config;
mod connection;
mod subagent;
mod variables;

use super::tree::{Document, Field, Record, Value};
use agentir_diagnostics::{Applicability, Diagnostic, RuleName, Span, closest};
use agentir_syntax::misspelled::explain_missing;
use agentir_syntax::rules;

/// The agent type for employees of a company.
const EMPLOYEE: &str = "AgentforceEmployeeAgent";
/// The agent type for customers.
const SERVICE: &str = "AgentforceServiceAgent";

/// Checks an agentforce document as a whole.
pub(super) fn agentforce(document: &Document<'_>, problems: &mut Vec<Diagnostic>) {
    let mut check = Check { root: &document.root, problems };
    config::check(&mut check);
    access::check(&mut check);
    variables::check(&mut check);
    for kind in ["start_agent", "subagent", "topic"] {
        for agent in document.root.records(kind) {
            subagent::check(&mut check, agent, kind);
            agent.records("actions").for_each(|action| actions::action(&mut check, action));
            agent.records("skills").for_each(|skill| actions::skill(&mut check, skill));
        }
    }
    document.root.records("skill_definitions").for_each(|s| actions::skill(&mut check, s));
    document.root.records("connected_subagent").for_each(|c| actions::connected(&mut check, c));
    document.root.records("connection").for_each(|c| connection::check(&mut check, c));
}

/// The state of checking a document.
struct Check<'d, 's, 'p> {
    root: &'d Record<'s>,
    problems: &'p mut Vec<Diagnostic>,
}

impl<'d, 's> Check<'d, 's, '_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.problems.push(diagnostic);
    }

    fn error(&mut self, rule: RuleName, span: Span, message: impl Into<String>, help: &str) {
        let diagnostic = Diagnostic::error(rule, span, message);
        self.report(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
    }

    /// Reports that a record has no field `name`; at its misspelling, if it is there.
    fn missing(
        &mut self,
        record: &Record<'_>,
        name: &str,
        span: Span,
        message: impl Into<String>,
        help: &str,
    ) {
        let message = message.into();
        let misspelled = record.misspelling(name);
        if !misspelled.is_some_and(|key| explain_missing(self.problems, key, &message)) {
            self.error(rules::MISSING_FIELD, span, message, help);
        }
    }

    fn invalid(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.error(rules::INVALID_VALUE, span, message, help);
    }

    /// Reports two fields that exclude each other.
    fn conflict(&mut self, span: Span, other: Span, message: impl Into<String>, help: &str) {
        self.report(
            Diagnostic::error(rules::CONFLICTING_FIELDS, span, message)
                .label(other, "the other one is here")
                .help(help),
        );
    }

    /// The type of the agent and its span, if it is a constant.
    fn agent_type(&self) -> Option<(String, Span)> {
        constant(self.root.record("config")?.field("agent_type")?)
    }

    /// Reports a field that this agent type does not have.
    fn not_for(&mut self, field: &Field<'_>, kind: &str) {
        let name = field.def.name;
        self.error(
            rules::CONFLICTING_FIELDS,
            field.key,
            format!("`{name}` has no effect in an agent of type `{kind}`"),
            "remove it, or change `agent_type` in `config`",
        );
    }

    /// Parses a URI, `scheme://name`. Returns its scheme and the rest.
    fn address<'t>(&mut self, text: &'t str, span: Span, what: &str) -> Option<(&'t str, &'t str)> {
        let parts = text.split_once("://").filter(|(scheme, rest)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && !rest.trim().is_empty()
        });
        if parts.is_none() {
            self.invalid(
                span,
                format!("`{text}` is not an address"),
                &format!("{what} is written `scheme://name`"),
            );
        }
        parts
    }

    /// Parses a URI with one of the `known` schemes, ignoring case. Returns the scheme in canonical case. An
    /// unknown scheme is only a warning, since the platform grows, unless it resembles a known one.
    fn scheme(
        &mut self,
        text: &str,
        span: Span,
        what: &str,
        known: &'static [&'static str],
    ) -> Option<&'static str> {
        let (scheme, _) = self.address(text, span, "a target")?;
        if let Some(found) = known.iter().find(|s| s.eq_ignore_ascii_case(scheme)) {
            return Some(found);
        }
        let message = format!("{what} `{scheme}://`");
        let first: Vec<String> = known.iter().take(4).map(|s| format!("`{s}://…`")).collect();
        self.report(match closest(scheme, known.iter().copied()) {
            Some(near) => Diagnostic::error(rules::INVALID_VALUE, span, message)
                .help(format!("did you mean `{near}://`?"))
                .replace(format!("\"{}\"", text.replacen(scheme, near, 1)), Applicability::Unsafe),
            None => Diagnostic::warning(rules::INVALID_VALUE, span, message)
                .help(format!("possible targets are {}, among others", first.join(", "))),
        });
        None
    }
}

/// The text of a field without placeholders, and its span.
fn constant(field: &Field<'_>) -> Option<(String, Span)> {
    match &field.value {
        Value::Text(text) if text.placeholders.is_empty() => Some((text.text(), text.span)),
        _ => None,
    }
}

/// The span to point at for an error in a block as a whole.
fn head(record: &Record<'_>) -> Span {
    record.name.as_ref().map_or_else(
        || Span::new(record.span.file, record.span.start, record.span.start + 1),
        |n| n.span,
    )
}
