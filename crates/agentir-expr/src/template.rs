//! Text with holes.

use crate::expr::{Expr, Name};
use agentir_diagnostics::{Span, Spanned};
use smol_str::SmolStr;

/// Text to be shown to a user or a model, with the parts that are filled in at run time. In JSON it
/// is its text, holes included.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// The whole text, quotes and block indentation removed.
    pub text: Spanned<SmolStr>,
    /// The holes, in order. Plain text between them is not listed.
    pub parts: Vec<TemplatePart>,
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// A hole in a template.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    /// `{{expr}}`, `{{expr | filter}}`.
    Value {
        /// What is inserted.
        expr: Expr,
        /// The filters it goes through, in order.
        filters: Vec<Spanned<Name>>,
        /// From brace to brace.
        span: Span,
    },
    /// `{expr}` with single braces, a form of older message texts.
    SingleBrace {
        /// What is inserted.
        expr: Expr,
        /// From brace to brace.
        span: Span,
    },
    /// `{{#if x}}`, `{{#each items}}`, `{{#unless x}}`.
    Open {
        /// `if`, `each`, …
        block: Spanned<Name>,
        /// What it is about.
        expr: Option<Expr>,
        /// From brace to brace.
        span: Span,
    },
    /// `{{else}}`.
    Else {
        /// From brace to brace.
        span: Span,
    },
    /// `{{/if}}`.
    Close {
        /// Which block ends.
        block: Spanned<Name>,
        /// From brace to brace.
        span: Span,
    },
}

impl Template {
    /// A template without holes.
    #[must_use]
    pub const fn plain(text: Spanned<SmolStr>) -> Self {
        Self { text, parts: Vec::new() }
    }

    /// Calls `found` with every expression in it.
    pub fn exprs<'a>(&'a self, found: &mut dyn FnMut(&'a Expr)) {
        for part in &self.parts {
            match part {
                TemplatePart::Value { expr, .. }
                | TemplatePart::SingleBrace { expr, .. }
                | TemplatePart::Open { expr: Some(expr), .. } => found(expr),
                _ => {}
            }
        }
    }
}

impl serde::Serialize for Template {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text.value)
    }
}

impl schemars::JsonSchema for Template {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Template".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Text with holes (`{{path}}`, `{{FN(x)}}`, `{{#if x}}…{{/if}}`) that are filled in at run time."
        })
    }
}
