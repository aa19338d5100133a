//! A secret in the source.

use crate::rule::{Check, Group, Report, Rule, SourceText};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::{Expr, ExprKind, Literal, Path, Segment, Visit};
use agentir_ir::{Agent, Data, Extensions, Node, Tool};
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

/// A text that something has or is compared with, and where both are written.
struct Declared<'a> {
    /// The names of what has it, the nearest first.
    names: Names<'a>,
    text: &'a str,
    span: Span,
}

/// The name of a part, and those of what it is a part of.
#[derive(Clone, Copy)]
struct Names<'a> {
    nearest: &'a str,
    /// What has a value, if that is not the value of a variable itself.
    owner: Option<&'a str>,
}

/// The texts that are secrets by the names of what has them, however far apart the source has the two. Those that are
/// `known` by their texts are left out.
fn declared(source: &SourceText<'_>, known: &[Secret]) -> Vec<Secret> {
    let mut all = Vec::new();
    source.agents.iter().for_each(|agent| values_of(agent, &mut all));
    source.tools.iter().for_each(|tool| parameters(tool, &mut all));
    // Agents of a file may share a declaration.
    let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut places = Places { source: source.text, budget: MAX_SEARCHED + source.text.len() };
    let mut found = Vec::new();
    for Declared { names, text, span } in all.into_iter().filter(|one| one.span.file == source.file)
    {
        // The quotation of a text that is written as an expression, or was not closed.
        let text = text.trim_matches(['"', '\'']);
        let names = [Some(names.nearest), names.owner];
        let Some(what) = names.into_iter().flatten().find_map(|name| secret_named(name, text))
        else {
            continue;
        };
        let range = places.of(span.range(), text);
        let first = known.partition_point(|secret| secret.range.end <= range.start);
        let is_known = known.get(first).is_some_and(|secret| secret.range.start < range.end);
        if !range.is_empty() && !is_known && seen.insert((range.start, range.end)) {
            found.push(Secret { what: what.to_owned(), range });
        }
    }
    found
}

/// The initial and the allowed values of an agent's variables and fields, what is assigned to them, what they are compared
/// with, and what parameters are given.
fn values_of<'a>(agent: &'a Agent, all: &mut Vec<Declared<'a>>) {
    let memory = &agent.memory;
    let session = memory.session.iter();
    let session = session.map(|v| (&v.name, v.initial_value.as_ref(), &v.extensions, v.span));
    let state = memory.state.iter();
    let state = state.map(|v| (&v.name, v.default.as_ref(), &v.extensions, v.span));
    let paths = memory.persistent.iter();
    let paths = paths.map(|p| (&p.path, p.default_value.as_ref(), &p.extensions, p.span));
    for (name, value, extensions, span) in session.chain(state).chain(paths) {
        value.into_iter().for_each(|value| data(&name.value, value, span, all));
        other_keys(&name.value, extensions, all);
    }
    for (name, table) in &agent.lookup_tables {
        for one in &table.values {
            texts(name, &one.text.value, one.text.span, all);
        }
        table.map.iter().for_each(|map| data(name, map, table.span, all));
        other_keys(name, &table.extensions, all);
    }
    agent.walk(&mut |node| {
        match node {
            Node::Field(field) => {
                let name = &field.name.value;
                field.default.iter().for_each(|value| data(name, value, field.span, all));
                for one in &field.enum_values {
                    texts(name, &one.value, one.span, all);
                }
                other_keys(name, &field.extensions, all);
            }
            Node::Set(set) => literals(last_name(&set.target), &set.value, all),
            Node::Binding(_, binding) => literals(&binding.variable.value, &binding.value, all),
            Node::Call(call) => {
                for argument in &call.with {
                    let name = argument.name.iter();
                    name.for_each(|name| literals(&name.value, &argument.value, all));
                }
            }
            _ => {}
        }
        node.exprs(&mut |expr| compared(expr, all));
    });
    agent.tools.iter().for_each(|tool| parameters(tool, all));
}

fn parameters<'a>(tool: &'a Tool, all: &mut Vec<Declared<'a>>) {
    for input in &tool.parameters {
        let name = &input.name.value;
        for value in input.default.iter().chain(&input.value) {
            data(name, value, input.span, all);
        }
        for one in &input.values {
            texts(name, &one.text.value, one.text.span, all);
        }
        input.value_expr.iter().for_each(|value| literals(name, value, all));
        other_keys(name, &input.extensions, all);
    }
}

/// What stands under keys that nobody knows, such as a misspelled `initial_value`.
fn other_keys<'a>(owner: &'a str, extensions: &'a Extensions, all: &mut Vec<Declared<'a>>) {
    for (key, extension) in extensions.0.values().flatten() {
        let names = Names { nearest: key, owner: Some(owner) };
        named_texts(names, &extension.value, extension.span, all);
    }
}

fn texts<'a>(name: &'a str, text: &'a str, span: Span, all: &mut Vec<Declared<'a>>) {
    all.push(Declared { names: Names { nearest: name, owner: None }, text, span });
}

fn data<'a>(name: &'a str, value: &'a Data, span: Span, all: &mut Vec<Declared<'a>>) {
    named_texts(Names { nearest: name, owner: None }, value, span, all);
}

/// The texts of a value, with their names.
fn named_texts<'a>(names: Names<'a>, value: &'a Data, span: Span, all: &mut Vec<Declared<'a>>) {
    match value {
        Data::String(text) => all.push(Declared { names, text, span }),
        Data::Array(items) => items.iter().for_each(|item| named_texts(names, item, span, all)),
        Data::Object(fields) => {
            let owner = Some(names.owner.unwrap_or(names.nearest));
            for (name, value) in fields {
                named_texts(Names { nearest: name, owner }, value, span, all);
            }
        }
        Data::Null | Data::Bool(_) | Data::Number(_) => {}
    }
}

/// The texts of an expression that is assigned to something.
fn literals<'a>(name: &'a str, value: &'a Expr, all: &mut Vec<Declared<'a>>) {
    value.visit(&mut |part| {
        if let ExprKind::Literal(Literal::String(text)) = &part.kind {
            texts(name, text, part.span, all);
        }
        Visit::Children
    });
}

/// The texts that something with a name is compared with, on whichever side.
fn compared<'a>(expr: &'a Expr, all: &mut Vec<Declared<'a>>) {
    expr.visit(&mut |part| {
        if let ExprKind::Binary { left, right, .. } = &part.kind {
            for (named, value) in [(left, right), (right, left)] {
                let is_text = matches!(value.kind, ExprKind::Literal(_) | ExprKind::List(_));
                if let (Some(path), true) = (named.as_path(), is_text) {
                    literals(last_name(path), value, all);
                }
            }
        }
        Visit::Children
    });
}

/// The last name of a path: `apiKey` in `service.apiKey`.
fn last_name(path: &Path) -> &str {
    let field = path.segments.iter().rev().find_map(|segment| match segment {
        Segment::Field(name) => Some(&name.value),
        Segment::Index(_) | Segment::Any => None,
    });
    field.unwrap_or(&path.root.value)
}

/// Finds texts in parts of a source.
struct Places<'t> {
    source: &'t str,
    /// How many bytes may still be searched: a list of many texts is one part.
    budget: usize,
}

/// So many bytes are searched beside those of the source.
const MAX_SEARCHED: usize = 64 << 20;

impl Places<'_> {
    /// Where a text stands in a part of the source, or else in all of it: a block of its own may extend what has the value.
    /// If it is written otherwise, with escapes, it is somewhere in the part.
    fn of(&mut self, part: Range<usize>, text: &str) -> Range<usize> {
        let escaped = Data::from(text).to_string();
        let forms = [text, escaped.trim_matches('"')];
        for within in [part.clone(), 0..self.source.len()] {
            let Some(rest) = self.budget.checked_sub(within.len()) else { break };
            self.budget = rest;
            let searched = self.source.get(within.clone()).unwrap_or_default();
            // The value stands behind the name, which may be the same text.
            let found = forms.iter().find_map(|form| Some((searched.rfind(form)?, form.len())));
            if let Some((at, length)) = found {
                return within.start + at..within.start + at + length;
            }
        }
        part
    }
}
