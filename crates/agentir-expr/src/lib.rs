//! The expression language that all dialects share: one tree for conditions, assignments, tool
//! arguments and template parts, with types and built-in functions.
//!
//! Grammars in `agentir-syntax` produce these trees; the IR holds them; lints, the solver and the
//! runtime read them.
//!
//! Expressions and [`Spanned`](agentir_diagnostics::Spanned) values compare by value, without
//! spans: "has the same meaning" is `==`. The tree is a crate of its own because the front ends and
//! the IR both need it, and neither may depend on the other.
//!
//! *Invariant*: nothing here parses text, resolves a name, or names a language; a language hands over its tables.

pub mod dialect;
mod expr;
mod functions;
mod infer;
mod print;
mod signatures;
mod template;
mod types;
mod version;

pub use dialect::Dialect;
pub use expr::{
    Argument, BinaryOp, Condition, ConditionKind, Depth, Expr, ExprKind, Literal, MAX_DEPTH, Name,
    ObjectEntry, Path, Segment, UnaryOp, Visit,
};
pub use functions::{
    Effect, FUNCTION_NAMESPACE, Function, METHODS_SOURCE, Method, Parameter, ParameterType, Scope,
    function, function_ignoring_case, functions, methods,
};
pub use infer::{Coercion, Known, Mismatch, ValueKind, ValueType, infer};
pub use signatures::check_calls;
pub use template::{Piece, Template, TemplateBuilder, TemplatePart, plain_text};
pub use types::{TypeExpr, TypeField, TypeKind};
pub use version::Version;
