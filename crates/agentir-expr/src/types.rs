//! Types as authors write them on tools, fields and variables.

use crate::expr::Name;
use agentir_diagnostics::{Span, Spanned};

/// A type and where it was written. Equality ignores the place.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeKind,
    /// Where it was written.
    pub span: Span,
}

impl PartialEq for TypeExpr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// The forms of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// A built-in type or a domain type by name: `string`, `Hotel`.
    Named(Name),
    /// `T[]`.
    Array(Box<TypeExpr>),
    /// `{a: T, b?: T}`.
    Object(Vec<TypeField>),
}

/// A field of an object type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeField {
    /// Its name.
    pub name: Spanned<Name>,
    /// Whether it may be absent: `name?`.
    pub optional: bool,
    /// Its type.
    pub ty: TypeExpr,
}

impl TypeExpr {
    /// The type called `name`.
    #[must_use]
    pub fn named(name: impl Into<Name>, span: Span) -> Self {
        Self { kind: TypeKind::Named(name.into()), span }
    }

    /// The name, if the type is just a name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.kind {
            TypeKind::Named(name) => Some(name),
            _ => None,
        }
    }
}

impl std::fmt::Display for TypeExpr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            TypeKind::Named(name) => f.write_str(name),
            TypeKind::Array(item) => write!(f, "{item}[]"),
            TypeKind::Object(fields) => {
                f.write_str("{")?;
                for (i, field) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    let mark = if field.optional { "?" } else { "" };
                    write!(f, "{comma}{}{mark}: {}", field.name.value, field.ty)?;
                }
                f.write_str("}")
            }
        }
    }
}
