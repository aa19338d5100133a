//! Rendering of templates (ABL, current specification, 3.13.1).

use super::Run;
use super::scope::Scope;
use crate::session::RuntimeError;
use agentir_diagnostics::Spanned;
use agentir_eval::{Value, evaluate, text, truthy};
use agentir_expr::dialect::{Semantics, Unset};
use agentir_expr::{Dialect, Expr, Piece, Template, TemplatePart};
use smol_str::SmolStr;
use std::cell::Cell;

/// The maximum size of a rendered text, in bytes; nested loops multiply.
const MAX_TEXT: usize = 1 << 20;

/// The maximum size of all texts together that the filters of a template give, in bytes.
const MAX_WORK: usize = 16 * MAX_TEXT;

/// The maximum nesting of blocks.
const MAX_BLOCKS: usize = 32;

impl Run<'_, '_, '_> {
    /// An error if a text rendered since the last check has an expression that cannot be evaluated,
    /// where the language makes that an error (Agent Script, part I, 3.1: "produces a runtime error").
    pub(super) fn check_rendered(&self) -> Result<(), RuntimeError> {
        match self.render_error.borrow_mut().take() {
            Some(message) => Err(RuntimeError::unknown(message)),
            None => Ok(()),
        }
    }

    /// Renders a template in the current state. A placeholder without a value is empty.
    pub(super) fn render(&self, template: &Template) -> String {
        let renderer = Renderer { run: self, dialect: self.dialect(), worked: Cell::new(0) };
        let mut pieces: Vec<Piece<'_>> = template.pieces().collect();
        standalone(&mut pieces);
        let mut out = String::new();
        let mut locals = self.locals.clone();
        renderer.pieces(&pieces, &mut locals, 0, &mut out);
        out
    }
}

struct Renderer<'r, 'a, 'p, 'h> {
    run: &'r Run<'a, 'p, 'h>,
    dialect: Dialect,
    /// How long all texts together are that filters gave.
    worked: Cell<usize>,
}

type Locals = Vec<(SmolStr, Value)>;

impl Renderer<'_, '_, '_, '_> {
    fn scope<'s>(&'s self, locals: &'s Locals) -> Scope<'s> {
        let others = self.run.traits().reads_other_agents;
        let agent = self.run.agent().ok();
        let (clock, outputs) = (self.run.host.clock, self.run.outputs());
        Scope::new(self.run.session, locals, clock, outputs, others, agent)
    }

    fn value(&self, expr: &Expr, locals: &Locals) -> Value {
        let scope = self.scope(locals);
        match evaluate(expr, &scope, self.dialect) {
            Ok(value) => {
                self.run.note_computed(expr, &scope, &value);
                value
            }
            Err(error) => {
                if self.dialect.semantics().unset_member == Unset::Error {
                    let mut first = self.run.render_error.borrow_mut();
                    first.get_or_insert_with(|| format!("`{expr}` has no value: {error}"));
                }
                Value::Undefined
            }
        }
    }

    /// A value with filters applied. Each may make a text longer than the last: of one that is too long, nothing is left.
    fn filtered(&self, filters: &[Spanned<SmolStr>], mut value: Value) -> Value {
        for filter in filters {
            value = filtered(&filter.value, value, self.dialect.semantics());
            let Value::Text(text) = &value else { continue };
            let worked = self.worked.get() + text.len();
            self.worked.set(worked);
            if text.len() > MAX_TEXT || worked > MAX_WORK {
                let mut first = self.run.render_error.borrow_mut();
                first.get_or_insert_with(|| {
                    format!("the text that the filter `{}` gives is too long", filter.value)
                });
                return Value::Undefined;
            }
        }
        value
    }

    fn pieces(&self, pieces: &[Piece<'_>], locals: &mut Locals, depth: usize, out: &mut String) {
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            if out.len() > MAX_TEXT {
                return;
            }
            at += 1;
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Part(
                    TemplatePart::Value { expr, .. } | TemplatePart::SingleBrace { expr, .. },
                    _,
                ) => {
                    let mut value = self.value(expr, locals);
                    if let Piece::Part(TemplatePart::Value { filters, .. }, _) = piece
                        && !filters.is_empty()
                    {
                        value = self.filtered(filters, value);
                        self.run.note_derived(expr, &self.scope(locals), &value);
                    }
                    // Lists and objects are rendered as JSON.
                    match &value {
                        Value::List(_) | Value::Object(_) => {
                            out.push_str(&crate::json::to_json(&value).to_string());
                        }
                        value => out.push_str(&text(value, self.dialect.semantics())),
                    }
                }
                Piece::Part(TemplatePart::Open { block, expr, .. }, _) if depth < MAX_BLOCKS => {
                    let (inner, otherwise, end) = block_of(pieces, at);
                    at = end;
                    let value = expr.as_ref().map(|e| self.value(e, locals)).unwrap_or_default();
                    let holds = truthy(&value, self.dialect.semantics());
                    match (block.value.as_str(), &value) {
                        ("each", Value::List(list)) if !list.items().is_empty() => {
                            for (n, item) in list.items().iter().enumerate() {
                                let before = locals.len();
                                locals.push(("this".into(), item.clone()));
                                locals.push((
                                    "@index".into(),
                                    Value::number(n as f64).unwrap_or_default(),
                                ));
                                if let Value::Object(object) = item {
                                    let fields = object.fields().iter();
                                    locals.extend(fields.map(|(n, v)| (n.clone(), v.clone())));
                                }
                                self.pieces(inner, locals, depth + 1, out);
                                locals.truncate(before);
                            }
                        }
                        ("each", _) => self.pieces(otherwise, locals, depth + 1, out),
                        ("unless", _) if !holds => self.pieces(inner, locals, depth + 1, out),
                        ("unless", _) => self.pieces(otherwise, locals, depth + 1, out),
                        _ if holds => self.pieces(inner, locals, depth + 1, out),
                        _ => self.pieces(otherwise, locals, depth + 1, out),
                    }
                }
                Piece::Part(..) => {}
            }
        }
    }
}

/// Removes lines that contain nothing but a block tag, as Handlebars does, so that tags leave no
/// empty lines.
fn standalone(pieces: &mut [Piece<'_>]) {
    let blank = |text: &str| text.chars().all(|c| c == ' ' || c == '\t');
    // Determined before any line is removed, as two blocks may share the text between them.
    let alone: Vec<usize> = (0..pieces.len())
        .filter(|n| {
            let part = matches!(
                pieces.get(*n),
                Some(Piece::Part(
                    TemplatePart::Open { .. }
                        | TemplatePart::Else { .. }
                        | TemplatePart::Close { .. },
                    _,
                ))
            );
            let before = match n.checked_sub(1).and_then(|n| pieces.get(n)) {
                None => true,
                Some(Piece::Text(text)) => {
                    let line = text.rsplit('\n').next().unwrap_or_default();
                    blank(line) && (text.contains('\n') || *n == 1)
                }
                Some(Piece::Part(..)) => false,
            };
            let after = match pieces.get(n + 1) {
                None => true,
                Some(Piece::Text(text)) => match text.split_once('\n') {
                    Some((line, _)) => blank(line),
                    None => blank(text) && n + 2 == pieces.len(),
                },
                Some(Piece::Part(..)) => false,
            };
            // A single-line template is left unchanged.
            part && before && after && pieces.len() > 1
        })
        .collect();
    for n in alone {
        if let Some(Piece::Text(text)) = n.checked_sub(1).and_then(|n| pieces.get_mut(n)) {
            *text = text.trim_end_matches([' ', '\t']);
        }
        if let Some(Piece::Text(text)) = pieces.get_mut(n + 1) {
            *text = text.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }
}

/// The pieces of the block that begins before `from`, those after its `else`, and the index after
/// its end.
fn block_of<'a, 't>(
    pieces: &'a [Piece<'t>],
    from: usize,
) -> (&'a [Piece<'t>], &'a [Piece<'t>], usize) {
    let mut open = 0usize;
    let mut middle = None;
    for (n, piece) in pieces.iter().enumerate().skip(from) {
        match piece {
            Piece::Part(TemplatePart::Open { .. }, _) => open += 1,
            Piece::Part(TemplatePart::Else { .. }, _) if open == 0 => middle = middle.or(Some(n)),
            Piece::Part(TemplatePart::Close { .. }, _) if open == 0 => {
                let inner = pieces.get(from..middle.unwrap_or(n)).unwrap_or_default();
                let otherwise = middle.and_then(|m| pieces.get(m + 1..n)).unwrap_or_default();
                return (inner, otherwise, n + 1);
            }
            Piece::Part(TemplatePart::Close { .. }, _) => open -= 1,
            _ => {}
        }
    }
    let inner = pieces.get(from..middle.unwrap_or(pieces.len())).unwrap_or_default();
    let otherwise = middle.and_then(|m| pieces.get(m + 1..)).unwrap_or_default();
    (inner, otherwise, pieces.len())
}

fn filtered(filter: &str, value: Value, semantics: &Semantics) -> Value {
    match (filter, &value) {
        ("upper" | "uppercase", Value::Text(text)) => Value::text(text.to_uppercase()),
        ("lower" | "lowercase", Value::Text(text)) => Value::text(text.to_lowercase()),
        ("trim", Value::Text(text)) => Value::text(text.trim()),
        ("json", value) => Value::text(crate::json::to_json(value).to_string()),
        ("length" | "count" | "size", value) => agentir_eval::length(value)
            .and_then(|n| Value::number(n as f64).ok())
            .unwrap_or_default(),
        ("join", Value::List(list)) => {
            let parts: Vec<String> =
                list.items().iter().map(|i| text(i, semantics).to_string()).collect();
            Value::text(parts.join(", "))
        }
        _ => value,
    }
}
