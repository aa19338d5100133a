//! Reads values on the line of their key.

use super::{
    Reader,
    collections::{flow_names, is_unclosed},
    excerpt, variable,
    versions::Usage,
};
use crate::inline;
use crate::schema::{FieldDef, FieldType, RENAMED, Version};
use crate::tree::Value;
use agentir_diagnostics::{Applicability, Diagnostic, Edit, Span, Spanned, closest};
use agentir_expr::{Condition, Depth, Expr, ExprKind, Literal, Name, ObjectEntry, Path, Template};
use agentir_syntax::data::{TIME_HELP, is_time};
use agentir_syntax::inline::{InlineText, Origin};
use agentir_syntax::limits::range_of;
use agentir_syntax::outline::{Entry, EntryKind, Scalar, Style};
use agentir_syntax::rules;
use agentir_syntax::text::{alternatives, offset};
use smol_str::SmolStr;

impl<'t, 's: 't> Reader<'t, 's, '_> {
    pub(super) fn condition(&mut self, value: &Scalar<'_>) -> Condition {
        let quoted = value.is_quoted();
        let condition = value.with_inline(|l| inline::condition(l, quoted, self.problems));
        if let Some(expr) = condition.expr() {
            expr.paths(&mut |path| self.check_renamed(path));
        }
        condition
    }

    /// Reports former names of runtime paths.
    pub(super) fn check_renamed(&mut self, path: &Path) {
        let Some(field) = path.first_field() else { return };
        let is = |old: &str| old.split_once('.') == Some((&path.root.value, &field.value));
        if let Some((old, new)) = RENAMED.iter().find(|(old, _)| is(old)) {
            let span = path.root.span.to(field.span);
            self.usages.push(Usage {
                span,
                description: format!("`{old}`"),
                since: Version::Legacy,
                until: Some((Version::Legacy, new)),
                rule: None,
                fix: Some(Edit { span, text: (*new).to_owned() }),
                indicates_version: true,
            });
        }
    }

    /// A constraint with its keyword, or a condition without one.
    pub(super) fn rule(&mut self, value: &Scalar<'_>) -> Value<'t> {
        let word = value.value().split_whitespace().next().map(inline::ConstraintKind::from_word);
        if let Some(Some(_)) = word {
            return value
                .with_inline(|l| inline::constraint_rule(l, self.problems))
                .map_or(Value::Invalid, |rule| Value::Rule(Box::new(rule)));
        }
        Value::Condition(Box::new(self.condition(value)))
    }

    pub(super) fn template(&mut self, value: &Scalar<'_>) -> Template {
        value.with_inline(|l| inline::template(l, self.problems)).inside(value.span)
    }

    /// An expression. Quotes delimit a string literal here, not the field.
    pub(super) fn expr(&mut self, value: &Scalar<'_>) -> Option<Expr> {
        if value.decoded.is_some() || matches!(value.style, Style::Block(_)) {
            return Some(Expr::literal(Literal::String(value.to_smol()), value.span));
        }
        let origin = Origin { file: value.span.file, base: value.span.start, shifts: &[] };
        inline::expr(InlineText { text: value.raw, origin }, self.problems)
    }

    pub(super) fn text(&self, value: &Scalar<'_>) -> Spanned<Name> {
        Spanned::new(value.to_smol(), value.span)
    }

    /// The value of a field. A number must make sense there.
    pub(super) fn field_value(&mut self, def: &FieldDef, value: &'t Scalar<'s>) -> Value<'t> {
        let parsed = self.value(def.field_type, value);
        if let (Value::Number(number), Some(range)) = (&parsed, range_of(def.name))
            && !range.contains(*number)
        {
            self.invalid(value, &format!("expected {range}"), None);
            return Value::Invalid;
        }
        if def.is_time && !is_time(&value.value()) {
            self.invalid(value, "expected a time", None);
            if let Some(last) = self.problems.pop() {
                self.problems.push(last.help(TIME_HELP));
            }
            return Value::Invalid;
        }
        parsed
    }

    pub(super) fn value(&mut self, field_type: FieldType, value: &'t Scalar<'s>) -> Value<'t> {
        let problems = &mut *self.problems;
        let parsed = match field_type {
            FieldType::Text => Some(Value::Text(self.text(value))),
            FieldType::Template => Some(Value::Template(self.template(value))),
            FieldType::Templates => Some(Value::Templates(self.templates(value))),
            FieldType::Condition => Some(Value::Condition(Box::new(self.condition(value)))),
            FieldType::Rule => Some(self.rule(value)),
            FieldType::Expr => {
                if value.is_quoted() && value.decoded.is_none() {
                    // In `check: "…"` the quotes delimit the field.
                    value
                        .with_inline(|l| inline::expr(l, problems))
                        .map(|e| Value::Expr(Box::new(e)))
                } else {
                    self.expr(value).map(|e| Value::Expr(Box::new(e)))
                }
            }
            FieldType::Bool => Some(self.boolean(value)),
            FieldType::Number => Some(self.number(value)),
            FieldType::Enum(all) => Some(self.one_of(all, value)),
            FieldType::Name => Some(Value::Name(self.text(value))),
            FieldType::Names => Some(Value::Names(self.names(value))),
            FieldType::Choices(all) => {
                let names = self.names(value);
                self.check_choices(all, &names);
                Some(Value::Names(names))
            }
            FieldType::Type | FieldType::Types => self.type_expr(value).map(Value::Type),
            FieldType::Action => value
                .with_inline(|l| inline::action(l, problems))
                .map(|v| Value::Action(Box::new(v))),
            FieldType::Call => value.with_inline(|l| inline::call(l, problems)).map(|mut call| {
                for argument in &mut call.arguments {
                    self.placeholders(&mut argument.value);
                }
                Value::Call(Box::new(call))
            }),
            FieldType::Store => {
                value.with_inline(|l| inline::store(l, problems)).map(|v| Value::Store(Box::new(v)))
            }
            FieldType::Chain => {
                if value.raw.contains("->") {
                    value.with_inline(|l| inline::chain(l, problems)).map(Value::Names)
                } else {
                    Some(Value::Names(self.names(value)))
                }
            }
            FieldType::Assignments => {
                if value.raw.starts_with('{') {
                    self.bindings(value).map(|all| {
                        Value::Assignments(all.into_iter().map(|(n, e)| assignment(n, e)).collect())
                    })
                } else {
                    value
                        .with_inline(|l| inline::assignment(l, problems))
                        .map(|a| Value::Assignments(vec![a]))
                }
            }
            FieldType::Bindings => self.bindings(value).map(Value::Bindings),
            FieldType::Arguments => self.bindings(value).map(|mut all| {
                all.iter_mut().for_each(|(_, value)| self.placeholders(value));
                Value::Bindings(all)
            }),
            FieldType::TransformHeader => value
                .with_inline(|l| inline::transform_header(l, problems))
                .map(|v| Value::TransformHeader(Box::new(v))),
            FieldType::SortBy => value
                .with_inline(|l| inline::sort_by(l, problems))
                .map(|v| Value::SortBy(Box::new(v))),
            FieldType::RouteAction => value
                .with_inline(|l| inline::route_action(l, problems))
                .map(|v| Value::RouteAction(Box::new(v))),
            FieldType::OneOf(_) => {
                let (field_type, _) = self.select_type(field_type, Some(value), &[]);
                return self.value(field_type, value);
            }
            FieldType::Marker => Some(Value::Bool(true)),
            FieldType::Record(_) | FieldType::Data => Some(Value::Data(Some(value))),
        };
        parsed.unwrap_or(Value::Invalid)
    }

    pub(super) fn boolean(&mut self, value: &Scalar<'s>) -> Value<'t> {
        match &*value.value() {
            "true" | "True" | "TRUE" => return Value::Bool(true),
            "false" | "False" | "FALSE" => return Value::Bool(false),
            text if text.contains("{{") => return Value::Text(self.text(value)),
            "yes" | "on" => self.invalid(value, "expected `true` or `false`", Some("true")),
            "no" | "off" => self.invalid(value, "expected `true` or `false`", Some("false")),
            _ => self.invalid(value, "expected `true` or `false`", None),
        }
        Value::Invalid
    }

    /// A number; durations such as `15s` and placeholders stay text.
    pub(super) fn number(&mut self, value: &Scalar<'s>) -> Value<'t> {
        let text = value.value();
        if let Ok(number) = text.replace('_', "").parse::<f64>()
            && number.is_finite()
        {
            return Value::Number(number);
        }
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text.get(digits.len()..).unwrap_or_default();
        let duration =
            matches!(unit, "ms" | "s" | "m" | "h" | "d") && digits.parse::<f64>().is_ok();
        if duration || text.contains("{{") || text == "null" {
            return Value::Text(self.text(value));
        }
        self.invalid(value, "expected a number", None);
        Value::Invalid
    }

    pub(super) fn one_of(&mut self, all: &'static [&'static str], value: &Scalar<'s>) -> Value<'t> {
        let text = value.value();
        if let Some(one) = all.iter().find(|a| a.eq_ignore_ascii_case(&text)) {
            return Value::Enum(one);
        }
        if text.contains("{{") {
            return Value::Text(self.text(value));
        }
        let list: Vec<String> = all.iter().map(|a| format!("`{a}`")).collect();
        let near = closest(&text.to_lowercase(), all.iter().copied());
        self.invalid(value, &format!("expected {}", alternatives(&list)), near);
        Value::Invalid
    }

    pub(super) fn check_choices(&mut self, all: &'static [&'static str], names: &[Spanned<Name>]) {
        for name in names {
            if !all.iter().any(|a| a.eq_ignore_ascii_case(&name.value)) {
                self.one_of(all, &Scalar::bare("", name.span).with_text(&name.value));
            }
        }
    }

    pub(super) fn invalid(&mut self, value: &Scalar<'s>, expected: &str, instead: Option<&str>) {
        let found = excerpt(&value.value()).to_owned();
        let mut diagnostic = Diagnostic::error(
            rules::INVALID_VALUE,
            value.span,
            format!("{expected}, found `{found}`"),
        );
        if let Some(instead) = instead {
            diagnostic = diagnostic
                .help(format!("did you mean `{instead}`?"))
                .replace(instead, Applicability::Unsafe);
        }
        self.problems.push(diagnostic);
    }

    /// `a, b, c`, `[a, b, c]`, or a single name.
    pub(super) fn names(&mut self, value: &Scalar<'s>) -> Vec<Spanned<Name>> {
        if value.style == Style::Bare && value.raw.starts_with(['[', '{']) {
            let flow = self.flow(value);
            let mut names = Vec::new();
            flow_names(&flow, &mut names);
            return names;
        }
        if value.style != Style::Bare {
            return vec![self.text(value)];
        }
        let mut at = value.span.start;
        let mut names = Vec::new();
        for part in value.raw.split(',') {
            let name = part.trim();
            let start = at + offset(part.len()) - offset(part.trim_start().len());
            at += offset(part.len()) + 1;
            if !name.is_empty() {
                let unquoted = name.trim_matches(['"', '\'']);
                names.push(Spanned::new(
                    SmolStr::new(unquoted),
                    Span::new(value.span.file, start, start + offset(name.len())),
                ));
            }
        }
        names
    }

    /// Names, if the text consists only of names.
    pub(super) fn plain_names(&mut self, value: &Scalar<'s>) -> Option<Vec<Spanned<Name>>> {
        let names = self.names(value);
        let plain = |name: &str| {
            !name.is_empty()
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
        };
        names.iter().all(|n| plain(&n.value)).then_some(names)
    }

    pub(super) fn templates(&mut self, value: &'t Scalar<'s>) -> Vec<Template> {
        match self.inline_entries(value) {
            Some(entries) => self.nested_templates(entries),
            None if is_unclosed(value, '[', ']') => {
                // Reports the bracket.
                self.flow(value);
                Vec::new()
            }
            None => vec![self.template(value)],
        }
    }

    pub(super) fn nested_templates(&mut self, entries: &'t [Entry<'s>]) -> Vec<Template> {
        let mut all = Vec::new();
        for entry in entries {
            match &entry.kind {
                EntryKind::Item { entries } => all.extend(self.nested_templates(entries)),
                EntryKind::Line { text, children } => {
                    all.push(self.template(text));
                    all.extend(self.nested_templates(children));
                }
                // The colon is prose.
                EntryKind::Pair { key, value, children } => {
                    let line = self.outline.line(key);
                    let block = value.as_ref().filter(|v| matches!(v.style, Style::Block(_)));
                    all.push(self.template(block.unwrap_or(&line)));
                    all.extend(self.nested_templates(children));
                }
            }
        }
        all
    }

    /// `{a, b: c}` or `[a, b]` with expressions as values.
    /// Reads the placeholders in the texts of an argument, also of a list of texts.
    pub(super) fn placeholders(&mut self, argument: &mut Expr) {
        let span = argument.span;
        let kind = match &mut argument.kind {
            ExprKind::Literal(Literal::String(text)) if text.contains("{{") => {
                // After the quote. Escapes move what follows them by a few columns.
                let input = InlineText::verbatim(text, span.file, span.start.saturating_add(1));
                ExprKind::Template(Box::new(inline::template(input, self.problems).inside(span)))
            }
            ExprKind::List(items) => {
                items.iter_mut().for_each(|item| self.placeholders(item));
                ExprKind::List(std::mem::take(items))
            }
            _ => return,
        };
        match Expr::new(kind, span) {
            Ok(expr) => *argument = expr,
            Err(Depth) => {
                let message = "this text is nested too deeply";
                self.problems.push(Diagnostic::error(rules::EXPRESSION_TOO_DEEP, span, message));
                *argument = Expr::literal(Literal::Null, span);
            }
        }
    }

    pub(super) fn bindings(&mut self, value: &Scalar<'s>) -> Option<Vec<(Spanned<Name>, Expr)>> {
        let expr = self.expr(value)?;
        match expr.kind {
            ExprKind::Object(entries) => Some(
                entries
                    .into_iter()
                    .map(|ObjectEntry { key, value }| {
                        let value = value.unwrap_or_else(|| variable(&key));
                        (key, value)
                    })
                    .collect(),
            ),
            ExprKind::List(items) => Some(
                items
                    .into_iter()
                    .filter_map(|item| {
                        let name = item.as_path()?.root.clone();
                        Some((name, item))
                    })
                    .collect(),
            ),
            ExprKind::Path(ref path) => Some(vec![(path.root.clone(), expr.clone())]),
            _ => {
                self.invalid(value, "expected names with values, such as `{id: order_id}`", None);
                None
            }
        }
    }
}

pub(super) fn assignment(name: Spanned<Name>, value: Expr) -> inline::Assignment {
    let span = name.span;
    inline::Assignment { target: Spanned::new(Path::variable(name), span), value }
}
