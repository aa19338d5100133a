//! Forms of assignments that a grammar has and a vendor's compiler does not compile.

use crate::expr::{Expr, ExprKind, Path, Visit};

/// A form that is not compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UncompiledForm {
    /// A list in the value: `["a"]`.
    List,
    /// An object in the value: `{"a": 1}`.
    Object,
    /// A part of a variable as the target: `stars[0]`, `order.id`.
    PartOfVariable,
}

impl UncompiledForm {
    /// As completes "sets a variable to …" or "sets …".
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::List => "a list",
            Self::Object => "an object",
            Self::PartOfVariable => "a part of a variable",
        }
    }

    /// Whether an assignment has this form.
    #[must_use]
    pub fn is_in(self, target: &Path, value: &Expr) -> bool {
        let mut found = false;
        match self {
            Self::PartOfVariable => return !target.segments.is_empty(),
            Self::List | Self::Object => value.visit(&mut |expr| {
                found |= match &expr.kind {
                    ExprKind::List(_) => self == Self::List,
                    ExprKind::Object(_) => self == Self::Object,
                    _ => false,
                };
                Visit::Children
            }),
        }
        found
    }
}
