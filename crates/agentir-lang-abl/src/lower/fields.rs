//! A cursor over a record: lowering takes fields, and the remaining ones become extensions.

use super::data;
use crate::dialect;
use crate::inline::{Action, Assignment, Store, ToolCall};
use crate::schema::RecordType;
use crate::tree::unknown_keys;
use crate::{Field, HeaderValue, Record, Value};
use agentir_diagnostics::{Span, Spanned, closest};
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr};
use agentir_ir::{Data, Extensions, Number, NumberOrText};
use agentir_ir_json::Mode;
use agentir_syntax::misspelled::misspelling;
use agentir_syntax::outline::{Entry, EntryKind};
use agentir_syntax::text::offset;
use smol_str::SmolStr;

/// The fields of a record that have not been taken yet.
pub(super) struct Fields<'t> {
    /// The span of the record.
    pub span: Span,
    /// The name, if any and not taken yet.
    pub name: Option<Spanned<Name>>,
    /// The header values.
    pub headers: Vec<HeaderValue>,
    /// The items.
    pub items: Vec<Record<'t>>,
    fields: Vec<Option<Field<'t>>>,
    unknown: Vec<&'t Entry<'t>>,
    ty: &'static RecordType,
    /// The remaining fields of nested records.
    nested_extensions: Extensions,
}

impl<'t> Fields<'t> {
    pub(super) fn new(record: Record<'t>) -> Self {
        Self {
            span: record.span,
            name: record.name,
            headers: record.headers,
            items: record.items,
            fields: record.fields.into_iter().map(Some).collect(),
            unknown: record.unknown,
            ty: record.ty,
            nested_extensions: Extensions::default(),
        }
    }

    /// Takes the last field of this name if `accept` can use its value; otherwise the field stays.
    fn take<T>(
        &mut self,
        name: &str,
        accept: impl FnOnce(Value<'t>) -> Result<T, Value<'t>>,
    ) -> Option<T> {
        let slot = self
            .fields
            .iter_mut()
            .rev()
            .find(|slot| slot.as_ref().is_some_and(|f| f.def.name == name))?;
        let Field { def, key, value, span, entry } = slot.take()?;
        match accept(value) {
            Ok(value) => Some(value),
            Err(value) => {
                *slot = Some(Field { def, key, value, span, entry });
                None
            }
        }
    }

    /// The key of the record that no table knows and that is a misspelling of a field.
    pub(super) fn misspelling(&self, name: &str) -> Option<Span> {
        misspelling(
            name,
            unknown_keys(&self.unknown),
            self.ty.fields.iter().map(|field| field.name),
        )
    }

    /// Whether a field of this name is left.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().flatten().any(|f| f.def.name == name)
    }

    /// The text that is written for a field, whatever is expected there.
    pub(super) fn written(&self, name: &str) -> Option<String> {
        let field = self.fields.iter().flatten().find(|field| field.def.name == name)?;
        data::of_value(field.entry).as_str().map(str::to_owned)
    }

    /// Whether any field is left.
    pub(super) fn has_fields(&self) -> bool {
        self.fields.iter().any(Option::is_some)
    }

    /// Keeps an entry that no table knows as the field that it must be a misspelling of: a check that is meant and cannot be
    /// read is not left out.
    pub(super) fn take_misspelled(&mut self, name: &'static str) {
        let is_meant = |entry: &&'t Entry<'t>| match &entry.kind {
            EntryKind::Pair { key, .. } => closest(&key.text.to_lowercase(), [name]).is_some(),
            _ => false,
        };
        let Some(at) = self.unknown.iter().position(is_meant) else { return };
        let entry = self.unknown.remove(at);
        let span = Span::new(self.span.file, entry.start, entry.end);
        self.nested_extensions.insert(dialect::ABL.id(), name, data::of_value(entry), span);
    }

    /// The texts of the entries that no table knows, without what is below them.
    pub(super) fn unknown_texts(&self) -> impl Iterator<Item = Spanned<SmolStr>> {
        let file = self.span.file;
        self.unknown.iter().map(move |entry| match &entry.kind {
            EntryKind::Line { text, .. } => Spanned::new(text.to_smol(), text.span),
            _ => Spanned::new(SmolStr::default(), Span::new(file, entry.start, entry.end)),
        })
    }

    /// Whether the field is written with arrows: `a -> b -> c`.
    pub(super) fn has_arrows(&self, name: &str) -> bool {
        self.fields.iter().flatten().rev().find(|f| f.def.name == name).is_some_and(|f| {
            matches!(&f.entry.kind, EntryKind::Pair { value: Some(v), .. } if v.raw.contains("->"))
        })
    }

    /// Where the first of these fields stands among the fields of the record. Of a field that is written several times, the
    /// last one counts.
    pub(super) fn place(&self, names: &[&str]) -> Option<usize> {
        let last = |name: &&str| {
            self.fields.iter().rposition(|s| s.as_ref().is_some_and(|f| f.def.name == *name))
        };
        names.iter().filter_map(last).min()
    }

    /// The span of the field's key.
    pub(super) fn key(&self, name: &str) -> Option<Span> {
        self.fields.iter().flatten().rev().find(|f| f.def.name == name).map(|f| f.key)
    }

    /// The span of the field's value.
    pub(super) fn value_span(&self, name: &str) -> Option<Span> {
        self.fields.iter().flatten().rev().find(|f| f.def.name == name).map(|f| f.span)
    }

    pub(super) fn template(&mut self, name: &str) -> Option<Template> {
        self.take(name, |v| match v {
            Value::Template(t) => Ok(t),
            Value::Text(t) => Ok(Template::plain(t)),
            other => Err(other),
        })
    }

    pub(super) fn templates(&mut self, name: &str) -> Vec<Template> {
        self.take(name, |v| match v {
            Value::Templates(t) => Ok(t),
            Value::Template(t) => Ok(vec![t]),
            other => Err(other),
        })
        .unwrap_or_default()
    }

    pub(super) fn text(&mut self, name: &str) -> Option<Spanned<SmolStr>> {
        self.take(name, |v| match v {
            Value::Text(t) | Value::Name(t) => Ok(t),
            Value::Template(t) => Ok(t.text),
            other => Err(other),
        })
    }

    /// A string without its span.
    pub(super) fn plain_text(&mut self, name: &str) -> Option<SmolStr> {
        self.text(name).map(|t| t.value)
    }

    pub(super) fn name_of(&mut self, name: &str) -> Option<Spanned<Name>> {
        self.text(name)
    }

    pub(super) fn names(&mut self, name: &str) -> Vec<Spanned<Name>> {
        self.take(name, |v| match v {
            Value::Names(n) => Ok(n),
            Value::Name(n) => Ok(vec![n]),
            other => Err(other),
        })
        .unwrap_or_default()
    }

    pub(super) fn condition(&mut self, name: &str) -> Option<Condition> {
        self.take(name, |v| match v {
            Value::Condition(c) => Ok(*c),
            other => Err(other),
        })
    }

    pub(super) fn expr(&mut self, name: &str) -> Option<Expr> {
        self.take(name, |v| match v {
            Value::Expr(e) => Ok(*e),
            other => Err(other),
        })
    }

    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        self.take(name, |v| match v {
            Value::Bool(b) => Ok(b),
            other => Err(other),
        })
    }

    pub(super) fn number(&mut self, name: &str) -> Option<NumberOrText> {
        self.take(name, |v| match v {
            Value::Number(n) => Ok(NumberOrText::Number(Number(n))),
            Value::Text(t) => Ok(NumberOrText::Text(t.value)),
            other => Err(other),
        })
    }

    /// A number literal, without a placeholder or unit.
    pub(super) fn plain_number(&mut self, name: &str) -> Option<Number> {
        self.take(name, |v| match v {
            Value::Number(n) => Ok(Number(n)),
            other => Err(other),
        })
    }

    pub(super) fn choice(&mut self, name: &str) -> Option<&'static str> {
        self.take(name, |v| match v {
            Value::Enum(e) => Ok(e),
            other => Err(other),
        })
    }

    pub(super) fn ty(&mut self, name: &str) -> Option<TypeExpr> {
        self.take(name, |v| match v {
            Value::Type(t) => Ok(t),
            other => Err(other),
        })
    }

    /// The name of the type in a field, without taking the field.
    pub(super) fn type_name(&self, name: &str) -> Option<SmolStr> {
        self.fields.iter().flatten().rev().find(|f| f.def.name == name).and_then(|f| {
            match &f.value {
                Value::Type(ty) => ty.name().map(SmolStr::new),
                _ => None,
            }
        })
    }

    pub(super) fn action(&mut self, name: &str) -> Option<Action> {
        self.take(name, |v| match v {
            Value::Action(a) => Ok(*a),
            other => Err(other),
        })
    }

    pub(super) fn call(&mut self, name: &str) -> Option<ToolCall> {
        self.take(name, |v| match v {
            Value::Call(c) => Ok(*c),
            other => Err(other),
        })
    }

    pub(super) fn store(&mut self, name: &str) -> Option<Store> {
        self.take(name, |v| match v {
            Value::Store(s) => Ok(*s),
            other => Err(other),
        })
    }

    pub(super) fn assignments(&mut self, name: &str) -> Vec<Assignment> {
        self.take(name, |v| match v {
            Value::Assignments(a) => Ok(a),
            other => Err(other),
        })
        .unwrap_or_default()
    }

    /// The assignments of all fields of a name, each with the place of its field among those of the record.
    pub(super) fn placed_assignments(&mut self, name: &str) -> Vec<(usize, Assignment)> {
        let mut all = Vec::new();
        for (at, slot) in self.fields.iter_mut().enumerate() {
            let is_it = |field: &Field<'_>| {
                field.def.name == name
                    && matches!(&field.value, Value::Assignments(sets) if !sets.is_empty())
            };
            if let Some(Field { value: Value::Assignments(sets), .. }) =
                slot.take_if(|field| is_it(field))
            {
                all.extend(sets.into_iter().map(|assignment| (at, assignment)));
            }
        }
        all
    }

    pub(super) fn bindings(&mut self, name: &str) -> Option<Vec<(Spanned<Name>, Expr)>> {
        self.take(name, |v| match v {
            Value::Bindings(b) => Ok(b),
            other => Err(other),
        })
    }

    pub(super) fn record(&mut self, name: &str) -> Option<Fields<'t>> {
        self.take(name, |v| match v {
            Value::Record(r) => Ok(Self::new(*r)),
            other => Err(other),
        })
    }

    /// Reads a nested record; the fields that `read` leaves are preserved with this record's.
    pub(super) fn with_record<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let mut inner = self.record(name)?;
        let result = read(&mut inner);
        inner.preserve(&mut self.nested_extensions);
        Some(result)
    }

    /// The records of all fields of this name, in order: repeatable sections.
    pub(super) fn records(&mut self, name: &str) -> Vec<Fields<'t>> {
        let mut all: Vec<_> = std::iter::from_fn(|| self.record(name)).collect();
        all.reverse();
        all
    }

    /// The items of all fields of this name.
    pub(super) fn items_of(&mut self, name: &str, rest: &mut Extensions) -> Vec<Record<'t>> {
        let mut items = Vec::new();
        for mut section in self.records(name) {
            items.append(&mut section.items);
            section.preserve(rest);
        }
        items
    }

    /// The value of a field as data.
    pub(super) fn data(&mut self, name: &str) -> Option<Data> {
        self.spanned_data(name).map(|data| data.value)
    }

    /// The value of a field as data, with its span.
    pub(super) fn spanned_data(&mut self, name: &str) -> Option<Spanned<Data>> {
        let slot = self
            .fields
            .iter_mut()
            .rev()
            .find(|slot| slot.as_ref().is_some_and(|f| f.def.name == name))?;
        slot.take().map(|field| Spanned::new(data::of_value(field.entry), field.span))
    }

    /// The outline entry of a field, for custom reading.
    pub(super) fn entry(&mut self, name: &str) -> Option<&'t Entry<'t>> {
        let slot = self
            .fields
            .iter_mut()
            .rev()
            .find(|slot| slot.as_ref().is_some_and(|f| f.def.name == name))?;
        slot.take().map(|field| field.entry)
    }

    /// Takes the last field of this name if `accept` can use its value.
    pub(super) fn value<T>(
        &mut self,
        name: &str,
        accept: impl FnOnce(Value<'t>) -> Result<T, Value<'t>>,
    ) -> Option<T> {
        self.take(name, accept)
    }

    /// The remaining fields as extensions.
    pub(super) fn into_extensions(self) -> Extensions {
        let mut extensions = Extensions::default();
        self.preserve(&mut extensions);
        extensions
    }

    /// Adds the remaining fields to `extensions`.
    pub(super) fn preserve(self, extensions: &mut Extensions) {
        agentir_syntax::lower::merge_extensions(extensions, self.nested_extensions);
        let dialect = dialect::ABL.id();
        for field in self.fields.into_iter().flatten() {
            extensions.insert(dialect, field.def.name, data::of_value(field.entry), field.span);
        }
        for entry in self.unknown {
            let span = Span::new(self.span.file, entry.start, entry.end);
            match &entry.kind {
                EntryKind::Pair { key, .. } => {
                    extensions.insert(dialect, key.text, data::of_value(entry), span);
                }
                _ => extensions.insert(dialect, "text", data::of_entry(entry), span),
            }
        }
        for item in self.items {
            let mut inner = Extensions::default();
            let (name, span) = (item.name.clone(), item.span);
            Self::new(item).preserve(&mut inner);
            let value = agentir_ir_json::to_value(&inner, Mode::Plain);
            extensions.insert(dialect, name.as_ref().map_or("item", |n| &n.value), value, span);
        }
    }
}

/// Where the text of a value begins in its file: the span of a value has its quotes. None where escapes or the layout of a
/// block moved the text, so that no part of it has a known place.
pub(super) fn text_start(text: &str, span: Span) -> Option<u32> {
    match (span.end - span.start).checked_sub(offset(text.len()))? {
        lead @ (0 | 2) => Some(span.start + lead / 2),
        _ => None,
    }
}
