//! The typed tree of a document: records with fields whose values are parsed by the shapes in
//! [`super::schema`].

use super::schema::{FieldDef, RecordType, Version};
use crate::inline::{
    Action, Assignment, ConstraintRule, ProtocolHeader, RouteAction, RoutingRule, SortBy, Store,
    ToolCall, ToolSignature, TransformHeader,
};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr};
use agentir_syntax::misspelled::misspelling;
use agentir_syntax::outline::{Entry, EntryKind, Scalar};

/// The kind of document.
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

/// The notation of a document.
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
    /// The kind.
    pub kind: DocumentKind,
    /// The notation.
    pub format: Format,
    /// The language version it is read as.
    pub version: Version,
    /// The sections.
    pub root: Record<'t>,
}

/// A record: fields by name, and items.
#[derive(Debug)]
pub struct Record<'t> {
    /// The record type.
    pub ty: &'static RecordType,
    /// The span, from the name or first entry to the last.
    pub span: Span,
    /// The author's name for it, if records of this type have one.
    pub name: Option<Spanned<Name>>,
    /// The headers it starts with instead of a field.
    pub headers: Vec<HeaderValue>,
    /// The fields, in order; a repeated field occurs repeatedly.
    pub fields: Vec<Field<'t>>,
    /// The items.
    pub items: Vec<Record<'t>>,
    /// Entries unknown to the table.
    pub unknown: Vec<&'t Entry<'t>>,
}

impl Record<'_> {
    /// An empty record.
    pub(super) const fn new(
        ty: &'static RecordType,
        span: Span,
        name: Option<Spanned<Name>>,
    ) -> Self {
        Self {
            ty,
            span,
            name,
            headers: Vec::new(),
            fields: Vec::new(),
            items: Vec::new(),
            unknown: Vec::new(),
        }
    }
}

/// The keys among entries that no table knows.
pub(crate) fn unknown_keys<'t>(unknown: &[&'t Entry<'t>]) -> impl Iterator<Item = (&'t str, Span)> {
    unknown.iter().filter_map(|entry| match &entry.kind {
        EntryKind::Pair { key, .. } => Some((key.text, key.span)),
        _ => None,
    })
}

/// The header of a record.
#[derive(Debug)]
pub enum HeaderValue {
    /// `name(p: type) -> type`.
    Signature(Box<ToolSignature>),
    /// `REQUIRE condition`.
    Constraint(Box<ConstraintRule>),
    /// `IF condition:`, optionally with an action on the same line.
    Condition(Box<Condition>, Option<Box<Action>>),
    /// `INTENT(a) -> alias`.
    Routing(Box<RoutingRule>),
    /// `FROM a TO b:`.
    Protocol(Box<ProtocolHeader>),
    /// `a -> b -> c`.
    Chain(Vec<Spanned<Name>>),
    /// An unquoted text.
    Text(Template),
    /// A bare `RESUME`.
    Resume(Span),
}

/// A field as written.
#[derive(Debug)]
pub struct Field<'t> {
    /// The row in the table.
    pub def: &'static FieldDef,
    /// The span of the key.
    pub key: Span,
    /// The value.
    pub value: Value<'t>,
    /// The span of the value; of the key, if there is none.
    pub span: Span,
    /// The outline entry.
    pub entry: &'t Entry<'t>,
}

/// A value, parsed by its field's shape. Large or rare variants are boxed, since most values are texts and
/// every value is moved several times.
#[derive(Debug)]
pub enum Value<'t> {
    /// Only the key.
    Empty,
    /// Invalid; a diagnostic was reported.
    Invalid,
    /// [`super::schema::FieldType::Text`]; also a placeholder for a number or boolean.
    Text(Spanned<Name>),
    /// Text with placeholders.
    Template(Template),
    /// Several texts.
    Templates(Vec<Template>),
    /// A condition.
    Condition(Box<Condition>),
    /// A constraint with its keyword.
    Rule(Box<ConstraintRule>),
    /// An expression.
    Expr(Box<Expr>),
    /// A boolean.
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
    TransformHeader(Box<TransformHeader>),
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
    /// The key of this record that no table knows and that is a misspelling of the field `name`.
    pub(crate) fn misspelling(&self, name: &str) -> Option<Span> {
        misspelling(
            name,
            unknown_keys(&self.unknown),
            self.ty.fields.iter().map(|field| field.name),
        )
    }

    /// The last field called `name` in the table.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field<'t>> {
        self.fields.iter().rev().find(|f| f.def.name == name)
    }
}
