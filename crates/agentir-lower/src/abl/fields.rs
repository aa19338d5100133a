//! Taking fields out of a record, so that what is left at the end is known.

use crate::abl::data;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr};
use agentir_ir::{Data, Dialect, Extensions, Number, NumberOrText};
use agentir_syntax::abl::leaf::{Action, Assignment, Store, ToolCall};
use agentir_syntax::abl::{Field, HeadValue, Record, Value};
use agentir_syntax::outline::{Entry, EntryKind};
use smol_str::SmolStr;

/// The fields of a record that were not taken yet.
pub(super) struct Fields<'t> {
    /// Where the record is.
    pub span: Span,
    /// Its name, if it has one and nobody took it.
    pub name: Option<Spanned<Name>>,
    /// What it begins with.
    pub heads: Vec<HeadValue>,
    /// Its items.
    pub items: Vec<Record<'t>>,
    fields: Vec<Option<Field<'t>>>,
    unknown: Vec<&'t Entry<'t>>,
    /// What was left of records inside this one.
    kept: Extensions,
}

impl<'t> Fields<'t> {
    pub(super) fn new(record: Record<'t>) -> Self {
        Self {
            span: record.span,
            name: record.name,
            heads: record.heads,
            items: record.items,
            fields: record.fields.into_iter().map(Some).collect(),
            unknown: record.unknown,
            kept: Extensions::default(),
        }
    }

    /// Takes the last field of this name that `accept` can use; a field it cannot use stays.
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

    /// Whether there is such a field, taken or not read.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().flatten().any(|f| f.def.name == name)
    }

    /// Whether such a field is written with arrows: `a -> b -> c`.
    pub(super) fn has_arrows(&self, name: &str) -> bool {
        self.fields.iter().flatten().rev().find(|f| f.def.name == name).is_some_and(|f| {
            matches!(&f.entry.kind, EntryKind::Pair { value: Some(v), .. } if v.raw.contains("->"))
        })
    }

    /// The key of such a field.
    pub(super) fn key(&self, name: &str) -> Option<Span> {
        self.fields.iter().flatten().rev().find(|f| f.def.name == name).map(|f| f.key)
    }

    /// Where the value of such a field is.
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

    /// A text without its place.
    pub(super) fn plain(&mut self, name: &str) -> Option<SmolStr> {
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

    /// A number that nothing else can stand for.
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

    /// The name of the type that such a field holds, without taking it.
    pub(super) fn text_of_type(&self, name: &str) -> Option<SmolStr> {
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

    /// Reads a record inside this one; what `read` leaves of it is kept with this one's rest.
    pub(super) fn with<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let mut inner = self.record(name)?;
        let result = read(&mut inner);
        inner.leave(&mut self.kept);
        Some(result)
    }

    /// The records of all fields of this name, in order: sections that may be repeated.
    pub(super) fn records(&mut self, name: &str) -> Vec<Fields<'t>> {
        let mut all: Vec<_> = std::iter::from_fn(|| self.record(name)).collect();
        all.reverse();
        all
    }

    /// The items below all fields of this name.
    pub(super) fn items_of(&mut self, name: &str, rest: &mut Extensions) -> Vec<Record<'t>> {
        let mut items = Vec::new();
        for mut section in self.records(name) {
            items.append(&mut section.items);
            section.leave(rest);
        }
        items
    }

    /// Whatever the field says, as data.
    pub(super) fn data(&mut self, name: &str) -> Option<Data> {
        self.placed_data(name).map(|data| data.value)
    }

    /// The same, with its place.
    pub(super) fn placed_data(&mut self, name: &str) -> Option<Spanned<Data>> {
        let slot = self
            .fields
            .iter_mut()
            .rev()
            .find(|slot| slot.as_ref().is_some_and(|f| f.def.name == name))?;
        slot.take().map(|field| Spanned::new(data::of_value(field.entry), field.span))
    }

    /// The entry of a field, for what reads it in its own way.
    pub(super) fn entry(&mut self, name: &str) -> Option<&'t Entry<'t>> {
        let slot = self
            .fields
            .iter_mut()
            .rev()
            .find(|slot| slot.as_ref().is_some_and(|f| f.def.name == name))?;
        slot.take().map(|field| field.entry)
    }

    /// Takes a value that `accept` can use.
    pub(super) fn value<T>(
        &mut self,
        name: &str,
        accept: impl FnOnce(Value<'t>) -> Result<T, Value<'t>>,
    ) -> Option<T> {
        self.take(name, accept)
    }

    /// What nobody took.
    pub(super) fn rest(self) -> Extensions {
        let mut extensions = Extensions::default();
        self.leave(&mut extensions);
        extensions
    }

    /// Keeps what nobody took.
    pub(super) fn leave(self, extensions: &mut Extensions) {
        super::agent::merge(extensions, self.kept);
        let dialect = Dialect::Abl.name();
        for field in self.fields.into_iter().flatten() {
            extensions.keep(dialect, field.def.name, data::of_value(field.entry), field.span);
        }
        for entry in self.unknown {
            let span = Span::new(self.span.file, entry.start, entry.end);
            match &entry.kind {
                EntryKind::Pair { key, .. } => {
                    extensions.keep(dialect, key.text, data::of_value(entry), span);
                }
                _ => extensions.keep(dialect, "text", data::of_entry(entry), span),
            }
        }
        for item in self.items {
            let mut inner = Extensions::default();
            let (name, span) = (item.name.clone(), item.span);
            Self::new(item).leave(&mut inner);
            let value = serde_json::to_value(&inner).unwrap_or_default();
            extensions.keep(dialect, name.as_ref().map_or("item", |n| &n.value), value, span);
        }
    }
}
