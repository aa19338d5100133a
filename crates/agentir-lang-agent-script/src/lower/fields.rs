//! A cursor over a block: lowering takes fields, and the remaining ones become extensions.

#![expect(
    clippy::result_large_err,
    reason = "a value that does not fit goes back to where it was; no error is passed on"
)]

use super::Source;
use super::data;
use crate::dialect;
use crate::{Binding, Declaration, Field, Procedure, Record, Unknown, Value};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, Name, Template};
use agentir_ir::{Data, Extensions};
use smol_str::SmolStr;

/// The fields of a block that have not been taken yet.
pub(super) struct Fields<'s> {
    /// From the key to the end of the last field.
    pub span: Span,
    /// The author's name for the block.
    pub name: Option<Spanned<Name>>,
    source: Source<'s>,
    fields: Vec<Option<Field<'s>>>,
    unknown: Vec<Unknown<'s>>,
}

impl<'s> Fields<'s> {
    pub(super) fn new(record: Record<'s>, source: Source<'s>) -> Self {
        Self {
            span: record.span,
            name: record.name,
            source,
            fields: record.fields.into_iter().map(Some).collect(),
            unknown: record.unknown,
        }
    }

    /// Takes the last field of this name if `accept` can use its value; otherwise the field stays.
    fn take<T>(
        &mut self,
        name: &str,
        accept: impl FnOnce(Value<'s>) -> Result<T, Value<'s>>,
    ) -> Option<T> {
        let slot = self
            .fields
            .iter_mut()
            .rev()
            .find(|slot| slot.as_ref().is_some_and(|f| f.def.name == name))?;
        let Field { def, key, value, span } = slot.take()?;
        match accept(value) {
            Ok(value) => Some(value),
            Err(value) => {
                *slot = Some(Field { def, key, value, span });
                None
            }
        }
    }

    pub(super) fn template(&mut self, name: &str) -> Option<Template> {
        self.take(name, |v| match v {
            Value::Text(t) => Ok(data::template(&t)),
            other => Err(other),
        })
    }

    pub(super) fn text(&mut self, name: &str) -> Option<Spanned<SmolStr>> {
        self.template(name).map(|t| t.text)
    }

    /// The span of the field's value.
    pub(super) fn value_span(&self, name: &str) -> Option<Span> {
        self.fields.iter().flatten().rev().find(|f| f.def.name == name).map(|f| f.span)
    }

    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        self.take(name, |v| match v {
            Value::Bool(b) => Ok(b),
            other => Err(other),
        })
    }

    pub(super) fn expr(&mut self, name: &str) -> Option<Expr> {
        self.take(name, |v| match v {
            Value::Expr(e) => Ok(e),
            other => Err(other),
        })
    }

    pub(super) fn record(&mut self, name: &str) -> Option<Self> {
        let source = self.source;
        self.take(name, |v| match v {
            Value::Record(r) => Ok(Self::new(*r, source)),
            other => Err(other),
        })
    }

    /// Reads a nested block; the fields that `read` leaves are preserved with this block's, under the
    /// nested block's name.
    pub(super) fn with_record<T>(
        &mut self,
        name: &str,
        rest: &mut Extensions,
        read: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let mut inner = self.record(name)?;
        let result = read(&mut inner);
        let span = inner.span;
        let left = inner.into_data();
        if !left.is_null() {
            rest.insert(dialect::AGENT_SCRIPT.id(), name, left, span);
        }
        Some(result)
    }

    /// The nested blocks of all fields of these names, in order: named blocks, and those of collections.
    pub(super) fn records(&mut self, names: &[&str]) -> Vec<(&'static str, Self)> {
        let source = self.source;
        let mut all = Vec::new();
        for slot in &mut self.fields {
            let wanted = slot.as_ref().is_some_and(|f| {
                names.contains(&f.def.name)
                    && matches!(f.value, Value::Record(_) | Value::Records(_))
            });
            let Some(field) = slot.take_if(|_| wanted) else { continue };
            match field.value {
                Value::Record(record) => all.push((field.def.name, Self::new(*record, source))),
                Value::Records(records) => {
                    all.extend(records.into_iter().map(|r| (field.def.name, Self::new(r, source))));
                }
                _ => {}
            }
        }
        all
    }

    pub(super) fn procedure(&mut self, name: &str) -> Option<Procedure<'s>> {
        self.take(name, |v| match v {
            Value::Procedure(p) => Ok(p),
            other => Err(other),
        })
    }

    pub(super) fn declarations(&mut self, name: &str) -> Vec<Declaration<'s>> {
        let mut all = Vec::new();
        while let Some(mut more) = self.take(name, |v| match v {
            Value::Declarations(d) => Ok(d),
            other => Err(other),
        }) {
            more.append(&mut all);
            all = more;
        }
        all
    }

    pub(super) fn bindings(&mut self, name: &str) -> Vec<Binding<'s>> {
        self.take(name, |v| match v {
            Value::Bindings(b) => Ok(b),
            other => Err(other),
        })
        .unwrap_or_default()
    }

    /// The remaining fields as data; null if there are none.
    pub(super) fn into_data(self) -> Data {
        let mut extensions = Extensions::default();
        self.preserve(&mut extensions);
        let Some(all) = extensions.0.into_values().next() else { return Data::Null };
        Data::Object(all.into_iter().map(|(key, extension)| (key, extension.value)).collect())
    }

    /// Adds the remaining fields to `extensions`.
    pub(super) fn preserve(self, extensions: &mut Extensions) {
        let dialect = dialect::AGENT_SCRIPT.id();
        for field in self.fields.into_iter().flatten() {
            // A wildcard field goes by the name that was written.
            let key = match field.def.name.contains('*') {
                true => self.source.slice(field.key),
                false => field.def.name,
            };
            let value = data::value(field.value, field.span, self.source);
            extensions.insert(dialect, key, value, field.span);
        }
        for entry in self.unknown {
            let key = entry.key.as_ref().map_or("text", |k| &k.value).to_owned();
            let value = Data::from(self.source.dedented(entry.span));
            extensions.insert(dialect, &key, value, entry.span);
        }
    }

    /// The remaining fields as extensions.
    pub(super) fn into_extensions(self) -> Extensions {
        let mut extensions = Extensions::default();
        self.preserve(&mut extensions);
        extensions
    }
}
