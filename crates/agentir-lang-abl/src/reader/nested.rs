//! Reads values nested below their key.

use super::{Reader, fields::is_text_line, variable};
use crate::inline::{self, ToolSignature};
use crate::schema::FieldType;
use crate::tree::Value;
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Expr, ExprKind, Literal, Name, ObjectEntry, TypeExpr, TypeField, TypeKind};
use agentir_syntax::lower::report_lost;
use agentir_syntax::outline::{Entry, EntryKind, Scalar, Style};
use agentir_syntax::rules;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

impl<'t, 's: 't> Reader<'t, 's, '_> {
    pub(super) fn nested_value(
        &mut self,
        field_type: FieldType,
        children: &'t [Entry<'s>],
    ) -> Option<Value<'t>> {
        if children.is_empty() {
            return None;
        }
        match field_type {
            FieldType::Templates => Some(Value::Templates(self.nested_templates(children))),
            FieldType::Names | FieldType::Chain => {
                let mut names = Vec::new();
                self.nested_names(children, &mut names);
                Some(Value::Names(names))
            }
            FieldType::Choices(all) => {
                let mut names = Vec::new();
                self.nested_names(children, &mut names);
                self.check_choices(all, &names);
                Some(Value::Names(names))
            }
            FieldType::Assignments => {
                let all = self.nested_assignments(children);
                let pairs = all.iter().map(|one| (&one.target.value, &one.value));
                report_lost(pairs, self.problems);
                Some(Value::Assignments(all))
            }
            FieldType::Bindings => Some(Value::Bindings(self.nested_bindings(children))),
            FieldType::Arguments => {
                let mut all = self.nested_bindings(children);
                all.iter_mut().for_each(|(_, value)| self.placeholders(value));
                Some(Value::Bindings(all))
            }
            FieldType::Types | FieldType::Type => self.nested_types(children).map(Value::Type),
            // The value is on the next line.
            FieldType::Template
            | FieldType::Text
            | FieldType::Condition
            | FieldType::Expr
            | FieldType::Number
            | FieldType::Name
                if children.iter().all(is_text_line) =>
            {
                let first = children.first()?;
                match &first.kind {
                    EntryKind::Line { text, .. } if children.len() == 1 => {
                        Some(self.value(field_type, text))
                    }
                    _ => {
                        let joined = self.joined_lines(children)?;
                        Some(self.value(field_type, joined))
                    }
                }
            }
            _ => None,
        }
    }

    /// Several lines of prose below a key as one text.
    pub(super) fn joined_lines(&mut self, children: &'t [Entry<'s>]) -> Option<&'t Scalar<'s>> {
        let start = children.first()?.start;
        let end = children.last()?.end;
        let lines: Vec<String> = children
            .iter()
            .filter_map(|c| match &c.kind {
                EntryKind::Line { text, .. } => Some(text.value().into_owned()),
                _ => None,
            })
            .collect();
        let raw = match &children.first()?.kind {
            EntryKind::Line { text, .. } => text.raw,
            _ => "",
        };
        let scalar = Scalar {
            raw,
            span: Span::new(self.outline.file, start, end),
            style: Style::Block(0),
            decoded: Some(lines.join("\n").into_boxed_str()),
        };
        let entry = self.arena.alloc(Entry {
            start,
            end,
            empty: None,
            kind: EntryKind::Line { text: scalar, children: Vec::new() },
        });
        match &entry.kind {
            EntryKind::Line { text, .. } => Some(text),
            _ => None,
        }
    }

    pub(super) fn nested_names(
        &mut self,
        entries: &'t [Entry<'s>],
        names: &mut Vec<Spanned<Name>>,
    ) {
        for entry in entries {
            match &entry.kind {
                EntryKind::Item { entries } => self.nested_names(entries, names),
                EntryKind::Line { text, children } => {
                    names.extend(self.names(text));
                    self.nested_names(children, names);
                }
                // `- name: x` and `- x: type` both name x; the rest of the line is not a name.
                EntryKind::Pair { key, value, .. } => {
                    let name = match value {
                        Some(value)
                            if key.text.eq_ignore_ascii_case("name")
                                || key.text.eq_ignore_ascii_case("path") =>
                        {
                            self.text(value)
                        }
                        _ => Spanned::new(SmolStr::new(key.text), key.span),
                    };
                    names.push(name);
                }
            }
        }
    }

    pub(super) fn nested_assignments(
        &mut self,
        entries: &'t [Entry<'s>],
    ) -> Vec<inline::Assignment> {
        let mut all = Vec::new();
        for entry in entries {
            match &entry.kind {
                EntryKind::Item { entries } => all.extend(self.nested_assignments(entries)),
                EntryKind::Line { text, children } => {
                    if let Some(one) = text.with_inline(|l| inline::assignment(l, self.problems)) {
                        all.push(one);
                    }
                    all.extend(self.nested_assignments(children));
                }
                EntryKind::Pair { key, .. } => {
                    let target = Scalar::bare(key.text, key.span);
                    let path = target.with_inline(|l| inline::path(l, self.problems));
                    let value = self.binding_value(entry);
                    if let (Some(target), Some(value)) = (path, value) {
                        all.push(inline::Assignment { target, value });
                    }
                }
            }
        }
        all
    }

    pub(super) fn nested_bindings(
        &mut self,
        entries: &'t [Entry<'s>],
    ) -> Vec<(Spanned<Name>, Expr)> {
        let mut all = Vec::new();
        for entry in entries {
            match &entry.kind {
                EntryKind::Item { entries } => all.extend(self.nested_bindings(entries)),
                EntryKind::Pair { key, value, children } => {
                    // `{a, b: c}` passes `a` under its name; `a:` says nothing.
                    let colon = self.outline.text.get(key.span.end as usize..);
                    let colon = colon.is_some_and(|rest| rest.trim_start().starts_with(':'));
                    if value.is_none() && children.is_empty() && colon {
                        self.problems.push(
                            Diagnostic::error(
                                rules::INVALID_VALUE,
                                key.span,
                                format!("`{}` has no value", key.text),
                            )
                            .help(format!("write `{}: …`, or remove the line", key.text)),
                        );
                        let name = Spanned::new(SmolStr::new(key.text), key.span);
                        all.push((name, Expr::literal(Literal::Null, key.span)));
                        continue;
                    }
                    let name = Spanned::new(SmolStr::new(key.text), key.span);
                    let value = self.binding_value(entry).unwrap_or_else(|| variable(&name));
                    all.push((name, value));
                }
                EntryKind::Line { text, .. } => {
                    if let Some(one) = self.bare_name(text) {
                        let value = variable(&one);
                        all.push((one, value));
                    } else if let Some(one) =
                        text.with_inline(|l| inline::assignment(l, self.problems))
                    {
                        all.push((one.target.value.root, one.value));
                    }
                }
            }
        }
        all
    }

    /// The value of `name: value`, which may be a nested map or list.
    pub(super) fn binding_value(&mut self, entry: &'t Entry<'s>) -> Option<Expr> {
        let EntryKind::Pair { key, value, children } = &entry.kind else { return None };
        if let Some(value) = value {
            return self.expr(value);
        }
        let span = self.span_of(entry);
        if children.is_empty() {
            return Some(variable(&Spanned::new(SmolStr::new(key.text), key.span)));
        }
        let kind = if children.iter().all(|c| matches!(c.kind, EntryKind::Item { .. })) {
            let mut items = Vec::new();
            for child in children {
                if let [Entry { kind: EntryKind::Line { text, .. }, .. }] = child.children() {
                    items.extend(self.expr(text));
                }
            }
            ExprKind::List(items)
        } else {
            let entries = self.nested_bindings(children);
            ExprKind::Object(
                entries
                    .into_iter()
                    .map(|(key, value)| ObjectEntry { key, value: Some(value) })
                    .collect(),
            )
        };
        Expr::new(kind, span).ok()
    }

    pub(super) fn nested_types(&mut self, entries: &'t [Entry<'s>]) -> Option<TypeExpr> {
        let first = entries.first()?;
        let last = entries.last()?;
        let span = Span::new(self.outline.file, first.start, last.end);
        let mut fields = Vec::new();
        for entry in entries {
            match &entry.kind {
                EntryKind::Pair { key, value, children } => {
                    let (name, optional) = match key.text.strip_suffix('?') {
                        Some(name) => (name, true),
                        None => (key.text, false),
                    };
                    let ty = match value {
                        Some(value) => self.type_expr(value),
                        None => self.nested_types(children),
                    };
                    fields.push(TypeField {
                        name: Spanned::new(SmolStr::new(name), key.span),
                        optional,
                        ty: ty.unwrap_or_else(|| TypeExpr::named("object", key.span)),
                    });
                }
                EntryKind::Line { text, .. } if entries.len() == 1 => {
                    return self.type_expr(text);
                }
                EntryKind::Line { text, .. } => fields.push(TypeField {
                    name: self.text(text),
                    optional: false,
                    ty: TypeExpr::named("string", text.span),
                }),
                EntryKind::Item { entries } => {
                    if let Some(TypeExpr { kind: TypeKind::Object(more), .. }) =
                        self.nested_types(entries)
                    {
                        fields.extend(more);
                    }
                }
            }
        }
        self.report_repeated(fields.iter().map(|field| &field.name), "field");
        Some(TypeExpr { kind: TypeKind::Object(fields), span })
    }

    pub(super) fn type_expr(&mut self, text: &Scalar<'_>) -> Option<TypeExpr> {
        let ty = text.with_inline(|l| inline::type_expr(l, self.problems))?;
        self.report_repeated_fields(&ty);
        Some(ty)
    }

    pub(super) fn tool_signature(&mut self, text: &Scalar<'_>) -> Option<ToolSignature> {
        let signature = text.with_inline(|l| inline::tool_signature(l, self.problems))?;
        let parameters = || signature.parameters.iter();
        self.report_repeated(parameters().map(|parameter| &parameter.name), "parameter");
        let types = parameters().filter_map(|parameter| parameter.ty.as_ref());
        for ty in types.chain(&signature.returns) {
            self.report_repeated_fields(ty);
        }
        Some(signature)
    }

    /// Reports the fields that a type on one line, or one within it, has twice.
    fn report_repeated_fields(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Named(_) => {}
            TypeKind::Array(item) => self.report_repeated_fields(item),
            TypeKind::Object(fields) => {
                self.report_repeated(fields.iter().map(|field| &field.name), "field");
                for field in fields {
                    self.report_repeated_fields(&field.ty);
                }
            }
        }
    }

    /// Reports the names that occur twice where each names one thing.
    fn report_repeated<'n>(&mut self, names: impl Iterator<Item = &'n Spanned<Name>>, what: &str) {
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for name in names {
            if let Some(first) = seen.insert(&name.value, name.span) {
                let message = format!("the {what} `{name}` is declared twice");
                self.problems.push(
                    Diagnostic::error(rules::DUPLICATE_FIELD, name.span, message)
                        .label(first, "first declared here")
                        .help("keep one of them"),
                );
            }
        }
    }
}
