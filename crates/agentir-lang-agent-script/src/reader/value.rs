//! Reads values by the shapes of the tables.

use super::super::inline::{EntryPoint, Parsed};
use super::super::outline::{Entry, EntryKind, Inline, Key, Text};
use super::super::schema::{FieldDef, FieldType, Limit, ProcedureKind, RecordType, TYPES};
use super::super::template::{self, Template};
use super::super::tree::{Data, Declaration, Declared, Modifier, TypeSpec, Value};
use super::{Names, Reader, excerpt};
use agentir_diagnostics::{Applicability, Diagnostic, Span, Spanned, closest};
use agentir_expr::{Expr, ExprKind, Literal, Name, TypeExpr, TypeKind};
use agentir_syntax::misspelled::explain_missing;
use agentir_syntax::rules;
use agentir_syntax::text::{listed, with_article};

/// An entry with a name chosen by the author: `name: …`.
pub(super) struct Named<'s> {
    pub name: Spanned<Name>,
    pub inline: Inline<'s>,
    /// The nested entries.
    pub children: Vec<Entry<'s>>,
    pub span: Span,
}

impl<'s> Reader<'s, '_> {
    /// The value of a field other than a named block.
    pub(super) fn value(
        &mut self,
        def: &'static FieldDef,
        key: Key<'s>,
        inline: Inline<'s>,
        children: Vec<Entry<'s>>,
        span: Span,
    ) -> Value<'s> {
        match def.field_type {
            FieldType::Block(ty) => {
                self.no_value(def.name, inline);
                Value::Record(self.record(ty, span, None, children).into())
            }
            FieldType::Named(ty) | FieldType::Collection(ty) => {
                self.no_value(def.name, inline);
                self.not_empty(def, key, &children);
                Value::Records(self.collection(ty, children))
            }
            FieldType::Declarations(ty) => {
                self.no_value(def.name, inline);
                Value::Declarations(self.declarations(ty, children))
            }
            FieldType::Bindings(ty) => {
                self.no_value(def.name, inline);
                Value::Bindings(self.bindings(ty, children))
            }
            FieldType::Items(ty) => {
                self.no_value(def.name, inline);
                let records = self.items(ty, children);
                self.check_count(def, key, records.len());
                Value::Records(records)
            }
            FieldType::Procedure(steps) => {
                Value::Procedure(self.procedure(def.name, key, steps, inline, children))
            }
            FieldType::Open => Value::Data(self.data(inline, children)),
            FieldType::Type(ty) => self.type_spec(def, key, ty, inline, children, span),
            FieldType::Values | FieldType::Expr => self.values(def, key, inline, children),
            FieldType::Text
            | FieldType::Quoted
            | FieldType::QuotedOrNone
            | FieldType::Bool
            | FieldType::Number
            | FieldType::Reference(_) => self.scalar(def, key, inline, children),
        }
    }

    fn not_empty(&mut self, def: &'static FieldDef, key: Key<'s>, children: &[Entry<'s>]) {
        if children.is_empty() {
            let span = key.span(self.file());
            self.report(
                Diagnostic::error(rules::INVALID_VALUE, span, format!("`{}` is empty", def.name))
                    .help("add something below it, or remove it"),
            );
        }
    }

    // ---- scalars -------------------------------------------------------------------------------

    fn scalar(
        &mut self,
        def: &'static FieldDef,
        key: Key<'s>,
        inline: Inline<'s>,
        mut children: Vec<Entry<'s>>,
    ) -> Value<'s> {
        let value = match inline {
            Inline::Template(raw) => {
                let template = template::block(&mut self.reading, raw);
                if !matches!(def.field_type, FieldType::Text) {
                    let span = Span::new(self.file(), raw.pipe, raw.pipe + 1);
                    self.expected(def, span, "text after `|`");
                }
                Value::Text(template)
            }
            Inline::Text(text) => self.scalar_text(def, text),
            Inline::Arrow(at, behind) => {
                let span = Span::new(self.file(), at, at + 2);
                self.expected(def, span, "`->`");
                let procedure = self.procedure(
                    def.name,
                    key,
                    ProcedureKind::Prompt,
                    Inline::Arrow(at, behind),
                    std::mem::take(&mut children),
                );
                return Value::Invalid("->", Data::Procedure(procedure));
            }
            Inline::Nothing => {
                // A text that starts on the line below its key.
                let template = match children.as_slice() {
                    [Entry { kind: EntryKind::Template(raw), .. }] => Some(*raw),
                    _ => None,
                };
                let span = key.span(self.file());
                if let Some(raw) = template
                    && matches!(def.field_type, FieldType::Text)
                {
                    self.report(
                        Diagnostic::error(
                            rules::INVALID_VALUE,
                            Span::new(self.file(), raw.pipe, raw.pipe + 1),
                            format!("the text of `{}` must begin on the next line", def.name),
                        )
                        .help(format!("write `{}: |` and the text below", def.name)),
                    );
                    return Value::Text(template::block(&mut self.reading, raw));
                }
                self.report(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        span,
                        format!("`{}` has no value", def.name),
                    )
                    .help(format!("expected {}", words(def.field_type))),
                );
                if children.is_empty() {
                    return Value::Empty;
                }
                return Value::Invalid("", self.data(inline, children));
            }
        };
        self.keep_misplaced_children(def.name, children);
        let at = match inline {
            Inline::Text(text) => text.span(self.file()),
            _ => key.span(self.file()),
        };
        self.check_limit(def, &value, at);
        value
    }

    fn scalar_text(&mut self, def: &'static FieldDef, text: Text<'s>) -> Value<'s> {
        let span = text.span(self.file());
        if text.quoted
            && matches!(
                def.field_type,
                FieldType::Text | FieldType::Quoted | FieldType::QuotedOrNone
            )
        {
            let inner = text.raw.get(1..text.raw.len() - 1).unwrap_or_default();
            let template = template::quoted(&mut self.reading, inner, span);
            if !matches!(def.field_type, FieldType::Text)
                && let Some(placeholder) = template.placeholders.first()
            {
                let at = placeholder.span;
                self.report(Diagnostic::error(
                    rules::INVALID_VALUE,
                    at,
                    format!("`{}` expects a constant string without placeholders", def.name),
                ));
            }
            return Value::Text(template);
        }
        let before = self.reading.problems.len();
        let Some(expr) = self.reading.value(&text) else {
            // Most likely an unquoted text.
            if matches!(
                def.field_type,
                FieldType::Text | FieldType::Quoted | FieldType::QuotedOrNone
            ) && looks_like_words(text.raw)
            {
                self.reading.problems.truncate(before);
                self.unquoted(def, text);
            }
            return Value::Invalid(text.raw, Data::Nothing);
        };
        match (def.field_type, &expr.kind) {
            (FieldType::QuotedOrNone, ExprKind::Literal(Literal::Null)) => Value::Nothing,
            (FieldType::Bool, ExprKind::Literal(Literal::Bool(b))) => Value::Bool(*b),
            (FieldType::Number, ExprKind::Literal(Literal::Number(n))) => Value::Number(*n),
            (FieldType::Number, ExprKind::Unary { op: agentir_expr::UnaryOp::Negate, operand }) => {
                match operand.kind {
                    ExprKind::Literal(Literal::Number(n)) => Value::Number(-n),
                    _ => self.mismatch(def, text, expr),
                }
            }
            (FieldType::Reference(namespaces), ExprKind::Path(path))
                if path.namespace.is_some() =>
            {
                let namespace = path.namespace.as_ref().map_or("", |n| n.value.as_str());
                if !namespaces.is_empty() && !namespaces.contains(&namespace) {
                    let all: Vec<String> = namespaces.iter().map(|n| format!("`@{n}`")).collect();
                    self.report(
                        Diagnostic::error(
                            rules::INVALID_VALUE,
                            span,
                            format!("`{}` cannot refer to `@{namespace}`", def.name),
                        )
                        .help(format!("it accepts members of {}", listed(&all))),
                    );
                }
                Value::Expr(expr)
            }
            (FieldType::Text | FieldType::Quoted, ExprKind::Path(path))
                if path.namespace.is_none() =>
            {
                self.unquoted(def, text);
                Value::Invalid(text.raw, Data::Expr(expr, Vec::new()))
            }
            _ => self.mismatch(def, text, expr),
        }
    }

    /// Reports a value of another shape than its field takes.
    fn mismatch(&mut self, def: &'static FieldDef, text: Text<'s>, expr: Expr) -> Value<'s> {
        let found = match &expr.kind {
            ExprKind::Literal(Literal::Null) => "`None`".to_owned(),
            ExprKind::Literal(Literal::String(_)) => "a string".to_owned(),
            ExprKind::List(_) => "a list".to_owned(),
            ExprKind::Object(_) => "an object".to_owned(),
            _ => format!("`{}`", excerpt(text.raw)),
        };
        let span = text.span(self.file());
        match (def.field_type, &expr.kind) {
            // `"True"`
            (FieldType::Bool, ExprKind::Literal(Literal::String(s)))
                if s.eq_ignore_ascii_case("true") || s.eq_ignore_ascii_case("false") =>
            {
                let meant = if s.eq_ignore_ascii_case("true") { "True" } else { "False" };
                self.report(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        span,
                        format!("`{}` expects `True` or `False` without quotes", def.name),
                    )
                    .replace(meant, Applicability::Safe),
                );
            }
            _ => self.expected(def, span, &found),
        }
        Value::Invalid(text.raw, Data::Expr(expr, Vec::new()))
    }

    fn expected(&mut self, def: &'static FieldDef, span: Span, found: &str) {
        self.report(Diagnostic::error(
            rules::INVALID_VALUE,
            span,
            format!("`{}` expects {}, found {found}", def.name, words(def.field_type)),
        ));
    }

    fn unquoted(&mut self, def: &'static FieldDef, text: Text<'s>) {
        let diagnostic = Diagnostic::error(
            rules::INVALID_VALUE,
            text.span(self.file()),
            format!("the value of `{}` must be a quoted string", def.name),
        );
        self.report(if text.raw.contains(['"', '\\', '\n']) {
            diagnostic.help("put it in double quotes")
        } else {
            diagnostic
                .help("put it in double quotes")
                .replace(format!("\"{}\"", text.raw), Applicability::Safe)
        });
    }

    // ---- limits --------------------------------------------------------------------------------

    fn check_limit(&mut self, def: &'static FieldDef, value: &Value<'s>, span: Span) {
        match (def.limit, value) {
            (Limit::Any | Limit::AtLeast(_), _) => {}
            (Limit::Range(least, most), Value::Number(n)) if !(least..=most).contains(n) => {
                let message = if most.is_finite() {
                    format!("`{}` must be between {least} and {most}", def.name)
                } else {
                    format!("`{}` must be at least {least}", def.name)
                };
                self.report(Diagnostic::error(rules::INVALID_VALUE, span, message));
            }
            (limit, Value::Text(text)) if text.placeholders.is_empty() => {
                self.check_text(def, limit, text);
            }
            _ => {}
        }
    }

    fn check_text(&mut self, def: &'static FieldDef, limit: Limit, text: &Template<'s>) {
        let value = text.text();
        let message = match limit {
            Limit::OneOf(values) => {
                if values.contains(&value.as_str()) {
                    return;
                }
                let diagnostic = Diagnostic::error(
                    rules::INVALID_VALUE,
                    text.span,
                    format!("`{}` cannot be `{value}`", def.name),
                );
                let all: Vec<String> = values.iter().map(|v| format!("`\"{v}\"`")).collect();
                self.report(match closest(&value, values.iter().copied()) {
                    Some(near) => diagnostic
                        .help(format!("did you mean `\"{near}\"`?"))
                        .replace(format!("\"{near}\""), Applicability::Unsafe),
                    None => diagnostic.help(format!("possible values are {}", listed(&all))),
                });
                return;
            }
            Limit::Uri(schemes) => match value.split_once("://") {
                Some((scheme, rest))
                    if is_word(scheme)
                        && !rest.is_empty()
                        && !rest.contains(char::is_whitespace)
                        && (schemes.is_empty() || schemes.contains(&scheme)) =>
                {
                    return;
                }
                _ => match schemes {
                    [scheme, ..] => format!("`{}` must begin with `{scheme}://`", def.name),
                    [] => format!("`{}` must be an address such as `scheme://name`", def.name),
                },
            },
            Limit::Connection(schemes, parts) => {
                let fits = value.split_once("://").is_some_and(|(scheme, rest)| {
                    schemes.contains(&scheme)
                        && rest.split('/').count() == parts
                        && rest.split('/').all(is_connection_name)
                });
                if fits {
                    return;
                }
                let scheme = schemes.last().copied().unwrap_or_default();
                let names = vec!["name"; parts].join("/");
                format!("`{}` must be the address of a connection: `{scheme}://{names}`", def.name)
            }
            _ => return,
        };
        self.report(Diagnostic::error(rules::INVALID_VALUE, text.span, message));
    }

    fn check_count(&mut self, def: &'static FieldDef, key: Key<'s>, count: usize) {
        if let Limit::AtLeast(least) = def.limit
            && count < least
        {
            let span = key.span(self.file());
            self.report(Diagnostic::error(
                rules::INVALID_VALUE,
                span,
                format!("`{}` needs at least {least} items", def.name),
            ));
        }
    }

    // ---- sequences and expressions -------------------------------------------------------------

    fn values(
        &mut self,
        def: &'static FieldDef,
        key: Key<'s>,
        inline: Inline<'s>,
        children: Vec<Entry<'s>>,
    ) -> Value<'s> {
        match inline {
            Inline::Text(text) => {
                let Some(expr) = self.reading.value(&text) else {
                    self.keep_misplaced_children(def.name, children);
                    return Value::Invalid(text.raw, Data::Nothing);
                };
                self.keep_misplaced_children(def.name, children);
                match (def.field_type, expr.kind) {
                    (FieldType::Values, ExprKind::List(items)) => Value::List(items),
                    (FieldType::Values, kind) => {
                        let span = text.span(self.file());
                        self.expected(def, span, &format!("`{}`", excerpt(text.raw)));
                        let expr = Expr::new(kind, span).ok();
                        Value::Invalid(
                            text.raw,
                            expr.map_or(Data::Nothing, |e| Data::Expr(e, Vec::new())),
                        )
                    }
                    (_, kind) => match Expr::new(kind, expr.span) {
                        Ok(expr) => Value::Expr(expr),
                        Err(_) => Value::Invalid(text.raw, Data::Nothing),
                    },
                }
            }
            Inline::Template(raw) => {
                let template = template::block(&mut self.reading, raw);
                if matches!(def.field_type, FieldType::Values) {
                    self.expected(def, template.span, "a string");
                }
                Value::Text(template)
            }
            Inline::Arrow(at, _) => {
                let span = Span::new(self.file(), at, at + 2);
                self.expected(def, span, "`->`");
                Value::Invalid("->", self.data(Inline::Nothing, children))
            }
            Inline::Nothing if children.is_empty() => {
                let span = key.span(self.file());
                self.report(Diagnostic::error(
                    rules::INVALID_VALUE,
                    span,
                    format!("`{}` has no value", def.name),
                ));
                Value::Empty
            }
            Inline::Nothing => Value::List(self.sequence(children)),
        }
    }

    /// `- value`, one per line.
    fn sequence(&mut self, children: Vec<Entry<'s>>) -> Vec<Expr> {
        let mut values = Vec::with_capacity(children.len());
        for entry in children {
            let span = entry.span(self.file());
            let value = match (&entry.kind, entry.children.as_slice()) {
                (EntryKind::Item, [Entry { kind: EntryKind::Line(text), children, .. }])
                    if children.is_empty() =>
                {
                    let text = *text;
                    self.reading.value(&text)
                }
                (EntryKind::Item, _) => {
                    self.report(Diagnostic::error(
                        rules::SYNTAX,
                        self.first_line_of(span),
                        "expected one value after the dash",
                    ));
                    self.keep_misplaced(entry);
                    None
                }
                (kind, _) => {
                    self.unexpected_in("`- value`", kind, span);
                    self.keep_misplaced(entry);
                    None
                }
            };
            values.extend(value);
        }
        values
    }

    // ---- declarations --------------------------------------------------------------------------

    fn declarations(
        &mut self,
        ty: &'static RecordType,
        entries: Vec<Entry<'s>>,
    ) -> Vec<Declaration<'s>> {
        self.named(ty, entries, "`name: type`", true, Self::declaration)
    }

    /// Entries with names chosen by the author, one per line; `form` is their notation.
    pub(super) fn named<T>(
        &mut self,
        ty: &'static RecordType,
        entries: Vec<Entry<'s>>,
        form: &str,
        declared: bool,
        read: fn(&mut Self, &'static RecordType, Named<'s>) -> T,
    ) -> Vec<T> {
        let mut names = Names::default();
        let mut all = Vec::with_capacity(entries.len());
        for mut entry in entries {
            let span = entry.span(self.file());
            self.complete_name(&mut entry);
            match entry.kind {
                EntryKind::Pair { key, value } => {
                    let name = self.entry_name(ty.name, &mut names, key, declared);
                    if ty.plain_names {
                        self.check_plain_name(ty, &name);
                    }
                    let children = entry.children;
                    all.push(read(self, ty, Named { name, inline: value, children, span }));
                }
                kind => {
                    self.unexpected_in(form, &kind, span);
                    self.keep_misplaced(Entry { kind, ..entry });
                }
            }
        }
        all
    }

    fn declaration(&mut self, ty: &'static RecordType, entry: Named<'s>) -> Declaration<'s> {
        let Named { name, inline, children, span } = entry;
        let declared = match inline {
            Inline::Text(text) => self.declared(text),
            Inline::Nothing => None,
            other => {
                self.no_value(&name.value, other);
                None
            }
        };
        let properties = self.record(ty, span, Some(name.clone()), children);
        let (modifier, declared_type, value) = match declared {
            Some(Parsed::Declaration(declared)) => {
                let Declared { modifier, ty, value } = *declared;
                let modifier = modifier.and_then(|m| self.modifier(&m));
                self.check_type(&ty);
                (modifier, Some(ty), value)
            }
            // The variable that a parameter is bound to.
            Some(Parsed::Value(expr)) => (None, None, Some(*expr)),
            _ => (None, None, None),
        };
        // The type may be a nested field, or be implied by the schema.
        let typed = properties.field("type").is_some() || properties.field("schema").is_some();
        let message = format!("the {} `{name}` has no type", ty.name);
        let misspelled = || properties.misspelling("type").or(properties.misspelling("schema"));
        if matches!(inline, Inline::Nothing)
            && !typed
            && !misspelled()
                .is_some_and(|key| explain_missing(self.reading.problems, key, &message))
        {
            self.report(
                Diagnostic::error(rules::MISSING_FIELD, name.span, message)
                    .help(format!("write `{name}: string`, or another type")),
            );
        }
        Declaration { name, modifier, ty: declared_type, value, properties, span }
    }

    /// `mutable string = ""`. Most are one or two words and need no parser.
    fn declared(&mut self, text: Text<'s>) -> Option<Parsed> {
        if text.raw.bytes().all(|b| b.is_ascii_alphabetic())
            && !matches!(
                text.raw,
                "True" | "False" | "None" | "and" | "or" | "not" | "is" | "if" | "else"
            )
            && TYPES.iter().any(|(name, _)| *name == text.raw)
        {
            let ty = TypeExpr::named(text.raw, text.span(self.file()));
            return Some(Parsed::Declaration(Declared { modifier: None, ty, value: None }.into()));
        }
        self.reading.parse(text.raw, text.start, EntryPoint::Declaration).or_else(|| {
            // What stands before a wrong value still holds.
            let (before, _) = text.raw.split_once('=')?;
            self.reading.attempt(before.trim_end(), text.start, EntryPoint::Declaration).ok()
        })
    }

    fn modifier(&mut self, word: &Spanned<Name>) -> Option<Spanned<Modifier>> {
        let known = Modifier::WORDS.iter().find(|(name, _)| *name == word.value);
        if let Some((_, modifier)) = known {
            return Some(Spanned::new(*modifier, word.span));
        }
        let message = format!("unknown modifier `{}`", word.value);
        let diagnostic = Diagnostic::error(rules::INVALID_VALUE, word.span, message);
        let near = closest(&word.value, Modifier::WORDS.iter().map(|(name, _)| *name));
        self.report(match near {
            Some(near) => diagnostic.did_you_mean(near),
            None => diagnostic.help("modifiers are `mutable` and `linked`"),
        });
        // What is meant, so that what follows from it is not wrong too.
        let meant = Modifier::WORDS.iter().find(|(name, _)| Some(*name) == near);
        meant.map(|(_, modifier)| Spanned::new(*modifier, word.span))
    }

    fn check_type(&mut self, ty: &TypeExpr) {
        let (name, span) = match &ty.kind {
            TypeKind::Named(name) => (name.as_str(), ty.span),
            TypeKind::Array(element) => return self.check_type(element),
            TypeKind::Object(_) => return,
        };
        match TYPES.iter().find(|(known, _)| *known == name) {
            Some((_, None)) => {}
            Some((_, Some(instead))) => self.report(
                Diagnostic::warning(
                    rules::DEPRECATED_FIELD,
                    span,
                    format!("the type `{name}` is deprecated"),
                )
                .help(format!("write `{instead}` instead"))
                .replace(*instead, Applicability::Unsafe),
            ),
            None => {
                let diagnostic =
                    Diagnostic::error(rules::INVALID_VALUE, span, format!("unknown type `{name}`"));
                let known = TYPES.iter().filter(|(_, d)| d.is_none()).map(|(n, _)| *n);
                let same = match name {
                    "str" | "text" | "String" => Some("string"),
                    "int" | "Integer" => Some("integer"),
                    "float" | "double" | "decimal" => Some("number"),
                    "bool" => Some("boolean"),
                    "dict" | "map" | "any" => Some("object"),
                    "array" => Some("list"),
                    _ => closest(name, known),
                };
                self.report(match same {
                    Some(near) => diagnostic.did_you_mean(near),
                    None => diagnostic.help(
                        "types are `string`, `number`, `boolean`, `object`, `list[…]`, `date`, …",
                    ),
                });
            }
        }
    }

    fn check_plain_name(&mut self, ty: &'static RecordType, name: &Spanned<Name>) {
        let text = name.value.as_str();
        let fits = text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !text.contains("__");
        if !fits && !text.is_empty() {
            self.report(
                Diagnostic::error(
                    rules::INVALID_VALUE,
                    name.span,
                    format!("`{text}` cannot be the name of {}", with_article(ty.name)),
                )
                .help(
                    "names begin with a letter, followed by letters, digits and single underscores",
                ),
            );
        }
    }

    fn type_spec(
        &mut self,
        def: &'static FieldDef,
        key: Key<'s>,
        ty: &'static RecordType,
        inline: Inline<'s>,
        children: Vec<Entry<'s>>,
        span: Span,
    ) -> Value<'s> {
        let Inline::Text(text) = inline else {
            let at = key.span(self.file());
            self.report(
                Diagnostic::error(rules::INVALID_VALUE, at, format!("`{}` has no type", def.name))
                    .help(format!("write `{}: string`, or another type", def.name)),
            );
            return Value::Invalid("", self.data(inline, children));
        };
        match self.declared(text) {
            Some(Parsed::Declaration(declared)) if declared.modifier.is_none() => {
                self.check_type(&declared.ty);
                if let Some(value) = &declared.value {
                    let at = value.span;
                    self.report(Diagnostic::error(
                        rules::INVALID_VALUE,
                        at,
                        format!("`{}` expects only a type", def.name),
                    ));
                }
                let properties = self.record(ty, span, None, children);
                Value::Type(TypeSpec { ty: declared.ty, properties })
            }
            Some(_) => {
                let at = text.span(self.file());
                self.expected(def, at, &format!("`{}`", excerpt(text.raw)));
                Value::Invalid(text.raw, self.data(Inline::Nothing, children))
            }
            None => Value::Invalid(text.raw, self.data(Inline::Nothing, children)),
        }
    }
}

/// The values a field takes, for messages.
const fn words(field_type: FieldType) -> &'static str {
    match field_type {
        FieldType::Text => "a string",
        FieldType::Quoted => "a quoted string",
        FieldType::QuotedOrNone => "a quoted string or `None`",
        FieldType::Bool => "`True` or `False`",
        FieldType::Number => "a number",
        FieldType::Reference(_) => "a reference such as `@namespace.name`",
        FieldType::Expr => "a value",
        FieldType::Values => "a list",
        FieldType::Procedure(_) => "statements",
        FieldType::Type(_) => "a type",
        _ => "a block",
    }
}

/// Whether a text that is not an expression looks like natural language.
fn looks_like_words(text: &str) -> bool {
    text.starts_with(char::is_alphabetic) || !text.contains(['"', '@', '(', '[', '{', '\''])
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// `[a-zA-Z][a-zA-Z0-9_.-]*[a-zA-Z0-9]`
fn is_connection_name(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}
