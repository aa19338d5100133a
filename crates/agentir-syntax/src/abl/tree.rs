//! The typed tree of a document: records with fields whose values are parsed, as the tables in
//! [`super::schema`] say.

use super::schema::{FieldDef, RecordType, Version};
use crate::abl::leaf::{
    Action, Assignment, ConstraintRule, ProtocolHead, RouteAction, RoutingRule, SortBy, Store,
    ToolCall, ToolSignature, TransformHead,
};
use crate::outline::{Entry, Scalar};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr};

/// What a document defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// `AGENT:`.
    Agent,
    /// `SUPERVISOR:`.
    Supervisor,
    /// `BEHAVIOR_PROFILE:`.
    Profile,
    /// `TOOLS:` at the root.
    ToolLibrary,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `.abl`, keywords in upper case.
    Abl,
    /// YAML, keywords in lower case.
    Yaml,
}

/// A document.
#[derive(Debug)]
pub struct Document<'t> {
    /// What it defines.
    pub kind: DocumentKind,
    /// How it is written.
    pub format: Format,
    /// The version of the language it is held to.
    pub version: Version,
    /// Its sections.
    pub root: Record<'t>,
}

/// A record: fields by name, and items.
#[derive(Debug)]
pub struct Record<'t> {
    /// The table it was read by.
    pub ty: &'static RecordType,
    /// Where it is, from its name or first entry to its last.
    pub span: Span,
    /// The name the author gave it, if it is of a kind that has one.
    pub name: Option<Spanned<Name>>,
    /// What it begins with instead of a field.
    pub heads: Vec<HeadValue>,
    /// Its fields, in order; a field written twice is there twice.
    pub fields: Vec<Field<'t>>,
    /// Its items.
    pub items: Vec<Record<'t>>,
    /// What the table does not know.
    pub unknown: Vec<&'t Entry<'t>>,
}

impl Record<'_> {
    /// A record with nothing in it yet.
    pub(super) const fn new(
        ty: &'static RecordType,
        span: Span,
        name: Option<Spanned<Name>>,
    ) -> Self {
        Self {
            ty,
            span,
            name,
            heads: Vec::new(),
            fields: Vec::new(),
            items: Vec::new(),
            unknown: Vec::new(),
        }
    }
}

/// What a record may begin with.
#[derive(Debug)]
pub enum HeadValue {
    /// `name(p: type) -> type`.
    Signature(Box<ToolSignature>),
    /// `REQUIRE condition`.
    Constraint(Box<ConstraintRule>),
    /// `IF condition:`, perhaps with what to do on the same line.
    Condition(Box<Condition>, Option<Box<Action>>),
    /// `INTENT(a) -> alias`.
    Routing(Box<RoutingRule>),
    /// `FROM a TO b:`.
    Protocol(Box<ProtocolHead>),
    /// `a -> b -> c`.
    Chain(Vec<Spanned<Name>>),
    /// A bare text.
    Text(Template),
    /// A bare `RESUME`.
    Resume(Span),
}

/// A field as written.
#[derive(Debug)]
pub struct Field<'t> {
    /// Its row in the table.
    pub def: &'static FieldDef,
    /// Its key.
    pub key: Span,
    /// Its value.
    pub value: Value<'t>,
    /// Where the value is; the key, if there is none.
    pub span: Span,
    /// The entry it was read from.
    pub entry: &'t Entry<'t>,
}

/// A value, parsed as its field's shape says. What is large or rare is boxed: most values are texts,
/// and every value is moved a few times.
#[derive(Debug)]
pub enum Value<'t> {
    /// The key alone.
    Empty,
    /// Cannot be read; a diagnostic was given.
    Invalid,
    /// [`super::schema::Shape::Text`]; also a number or a boolean that is filled in by configuration.
    Text(Spanned<Name>),
    /// Text with holes.
    Template(Template),
    /// Several of them.
    Templates(Vec<Template>),
    /// A condition.
    Condition(Box<Condition>),
    /// A rule with its keyword.
    Rule(Box<ConstraintRule>),
    /// An expression.
    Expr(Box<Expr>),
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f64),
    /// One of a fixed set, in the table's spelling.
    Enum(&'static str),
    /// A name.
    Name(Spanned<Name>),
    /// Several names.
    Names(Vec<Spanned<Name>>),
    /// A type.
    Type(TypeExpr),
    /// An action.
    Action(Box<Action>),
    /// A tool call.
    Call(Box<ToolCall>),
    /// `value -> path`.
    Store(Box<Store>),
    /// `target = value`, in order.
    Assignments(Vec<Assignment>),
    /// `name: value`, in order.
    Bindings(Vec<(Spanned<Name>, Expr)>),
    /// `source AS item INTO target`.
    TransformHead(Box<TransformHead>),
    /// `field DESC`.
    SortBy(Box<SortBy>),
    /// `ROUTE_TO X`.
    RouteAction(Box<RouteAction>),
    /// A record.
    Record(Box<Record<'t>>),
    /// Free-form; see the entry.
    Data(Option<&'t Scalar<'t>>),
}

impl<'t> Record<'t> {
    /// The last field called `name` in the table.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field<'t>> {
        self.fields.iter().rev().find(|f| f.def.name == name)
    }
}
