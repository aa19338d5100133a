//! A secret in the source.

use crate::rule::{Check, Group, Report, Rule, SourceText};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_ir::{Agent, Data, Node, Tool};
use agentir_secrets::{Secret, secret_named, secrets};
use std::collections::BTreeSet;
use std::ops::Range;

/// The name of the rule about secrets in the source.
pub const HARDCODED_SECRET: RuleName = RuleName("hardcoded-secret");

pub(crate) static RULE: Rule = Rule {
    name: HARDCODED_SECRET,
    group: Group::Security,
    severity: Severity::Error,
    summary: "a key, token or password is hard-coded",
    vendor: &[],
    requires: &[],
    check: Check::Text(check),
};

fn check(source: &SourceText<'_>, report: &mut Report<'_>) {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let mut found = secrets(source.text);
    found.extend(declared(source, &found));
    found.sort_by_key(|secret| secret.range.start);
    for secret in found {
        let span = Span::new(source.file, offset(secret.range.start), offset(secret.range.end));
        // The message must not contain the secret: reports are copied more widely than sources.
        report.push(
            report
                .finding(span, format!("{} is hard-coded", secret.what))
                .secret()
                .note("anyone who can read this file, its history or a copy of it can use it")
                .help(
                    "revoke it, and read it from the platform or the environment: an auth profile, `{{secrets.NAME}}`, `os.environ[…]`",
                ),
        );
    }
}

/// A value that something has from the beginning, and where both are written.
struct Declared<'a> {
    name: &'a str,
    value: &'a Data,
    span: Span,
}

/// The initial values that are secrets by the names of what has them, however far apart the source has the two. Those
/// that are `known` by their texts are left out.
fn declared(source: &SourceText<'_>, known: &[Secret]) -> Vec<Secret> {
    let mut all = Vec::new();
    source.agents.iter().for_each(|agent| initial_values(agent, &mut all));
    source.tools.iter().for_each(|tool| defaults(tool, &mut all));
    // Agents of a file may share a declaration.
    let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut found = Vec::new();
    for one in all.into_iter().filter(|one| one.span.file == source.file) {
        named_texts(one.name, one.value, &mut |what, value| {
            let range = place(source.text, one.span.range(), value);
            let first = known.partition_point(|secret| secret.range.end <= range.start);
            let is_known = known.get(first).is_some_and(|secret| secret.range.start < range.end);
            if !range.is_empty() && !is_known && seen.insert((range.start, range.end)) {
                found.push(Secret { what: what.to_owned(), range });
            }
        });
    }
    found
}

fn initial_values<'a>(agent: &'a Agent, all: &mut Vec<Declared<'a>>) {
    let memory = &agent.memory;
    let session = memory.session.iter().map(|v| (&v.name, v.initial_value.as_ref(), v.span));
    let state = memory.state.iter().map(|v| (&v.name, v.default.as_ref(), v.span));
    let paths = memory.persistent.iter().map(|p| (&p.path, p.default_value.as_ref(), p.span));
    for (name, value, span) in session.chain(state).chain(paths) {
        all.extend(value.map(|value| Declared { name: &name.value, value, span }));
    }
    agent.walk(&mut |node| {
        if let Node::Field(field) = node {
            let value = field.default.as_ref();
            all.extend(value.map(|value| Declared {
                name: &field.name.value,
                value,
                span: field.span,
            }));
        }
    });
    agent.tools.iter().for_each(|tool| defaults(tool, all));
}

fn defaults<'a>(tool: &'a Tool, all: &mut Vec<Declared<'a>>) {
    for input in &tool.parameters {
        let value = input.default.as_ref();
        all.extend(value.map(|value| Declared {
            name: &input.name.value,
            value,
            span: input.span,
        }));
    }
}

/// Calls `found` with the texts of a value that are secrets by their names.
fn named_texts<'a>(name: &str, value: &'a Data, found: &mut dyn FnMut(&'static str, &'a str)) {
    match value {
        Data::String(text) => {
            if let Some(what) = secret_named(name, text) {
                found(what, text);
            }
        }
        Data::Array(items) => items.iter().for_each(|item| named_texts(name, item, found)),
        Data::Object(fields) => {
            fields.iter().for_each(|(name, value)| named_texts(name, value, found));
        }
        Data::Null | Data::Bool(_) | Data::Number(_) => {}
    }
}

/// Where a text stands in a part of a source. If it is written otherwise, with escapes, it is somewhere in the part.
fn place(source: &str, part: Range<usize>, text: &str) -> Range<usize> {
    let escaped = Data::from(text).to_string();
    let forms = [text, escaped.trim_matches('"')];
    let within = source.get(part.clone()).unwrap_or_default();
    // The value stands behind the name, which may be the same text.
    let found = forms.iter().find_map(|form| Some((within.rfind(form)?, form.len())));
    found.map_or(part.clone(), |(at, length)| part.start + at..part.start + at + length)
}
