//! Every construct of Agent Script, by section of its specification, with errors and their spans.
//!
//! A diagnostic is shown as the text it underlines, between `»` and `«`, and its message.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use agentir_diagnostics::{Diagnostic, FileId};

mod grammar;
mod hostile;
mod texts_and_tables;

use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Segment as Step, TypeKind};
use agentir_lang_agent_script::{
    CollectForm, Data, Dialect, Document, Modifier, Options, Procedure, Record, Segment,
    StatementKind, Template, Value, parse,
};
use std::fmt::Write as _;

fn read(text: &str) -> (Document<'_>, Vec<Diagnostic>) {
    read_as(text, None)
}

fn read_as(text: &str, dialect: Option<Dialect>) -> (Document<'_>, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let document = parse(FileId(0), text, Options { dialect }, &mut problems);
    (document, problems)
}

fn shown(text: &str, problems: &[Diagnostic]) -> Vec<String> {
    problems
        .iter()
        .map(|d| {
            let help = d.help.as_ref().map(|h| format!(" / {h}")).unwrap_or_default();
            format!("{}: »{}« {}{help}", d.rule.0, &text[d.primary.span.range()], d.message)
        })
        .collect()
}

/// Parses without problems.
fn parse_ok(text: &str) -> Document<'_> {
    let (document, problems) = read(text);
    assert_eq!(shown(text, &problems), Vec::<String>::new(), "{text}");
    document
}

/// The diagnostics of a text.
fn diagnostics(text: &str) -> Vec<String> {
    shown(text, &read(text).1)
}

/// The text after applying the first fix repeatedly, until none is left.
fn fixed(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..10 {
        let fix = read(&text).1.into_iter().find_map(|d| d.fixes.into_iter().next());
        let Some(fix) = fix else { return text };
        for edit in fix.edits.iter().rev() {
            text.replace_range(edit.span.range(), &edit.text);
        }
    }
    panic!("the fixes never end: {text}");
}

/// A subagent with this prompt, indented by four.
fn prompt(statements: &str) -> String {
    let mut text =
        "subagent a:\n  description: \"d\"\n  reasoning:\n    instructions: ->\n".to_owned();
    for line in statements.lines() {
        writeln!(text, "      {line}").unwrap();
    }
    text
}

fn subagent<'d, 's>(document: &'d Document<'s>) -> &'d Record<'s> {
    document.root.records("subagent").next().unwrap()
}

fn steps<'d, 's>(document: &'d Document<'s>) -> &'d Procedure<'s> {
    subagent(document).record("reasoning").unwrap().procedure("instructions").unwrap()
}

/// The value of `set @variables.x = …`, as the tree prints it.
fn expr(text: &str) -> Expr {
    let text = prompt(&format!("set @variables.x = {text}"));
    let document = parse_ok(&text);
    match &steps(&document).statements[0].kind {
        StatementKind::Set { value, .. } => value.clone(),
        other => panic!("{other:?}"),
    }
}

fn printed(text: &str) -> String {
    expr(text).to_string()
}

/// The diagnostics of an expression.
fn diagnostics_of(text: &str) -> String {
    let text = prompt(&format!("set @variables.x = {text}"));
    diagnostics(&text).join("\n")
}
