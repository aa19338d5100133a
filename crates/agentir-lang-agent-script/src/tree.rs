//! The typed tree of a document: records with fields whose values are parsed by the tables in
//! [`schema`](super::schema). Nothing in the text is missing from it: unknown entries are [`Unknown`], and
//! invalid ones [`Value::Invalid`] or [`StatementKind::Invalid`], with their spans.

use super::schema::{Dialect, FieldDef, RecordType, Version};
use super::template::Template;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, Name, Path, TypeExpr};
use agentir_syntax::misspelled::misspelling;

/// A document.
#[derive(Debug)]
pub struct Document<'s> {
    /// The dialect it is read as.
    pub dialect: Dialect,
    /// The version in its `# @dialect:` line.
    pub version: Option<Spanned<Version>>,
    /// The blocks.
    pub root: Record<'s>,
    /// All comments, in order, from `#` to the end of the line.
    pub comments: Vec<Span>,
    /// Whether it is a template for documents, with unresolved `{{…}}` placeholders.
    pub placeholders: bool,
}

impl Document<'_> {
    /// Whether it is only a part of an agent: it neither describes itself nor has a first subagent.
    pub(crate) fn is_fragment(&self) -> bool {
        let lacks = |name| self.root.field(name).is_none() && self.root.misspelling(name).is_none();
        // Blocks of several kinds are an agent.
        let mut kinds = self.root.fields.iter().map(|field| field.def.name);
        let first = kinds.next();
        lacks("config") && lacks("start_agent") && kinds.all(|kind| Some(kind) == first)
    }
}

/// A block: fields by name.
#[derive(Debug)]
pub struct Record<'s> {
    /// The record type.
    pub ty: &'static RecordType,
    /// From the key to the end of the last field.
    pub span: Span,
    /// The author's name for it, if records of this type have one.
    pub name: Option<Spanned<Name>>,
    /// The fields, in order. Named blocks (`subagent a:`, `subagent b:`) are fields of the same name; a
    /// repeated field occurs repeatedly.
    pub fields: Vec<Field<'s>>,
    /// Entries unknown to the table.
    pub unknown: Vec<Unknown<'s>>,
}

/// A field as written.
#[derive(Debug)]
pub struct Field<'s> {
    /// The row in the table.
    pub def: &'static FieldDef,
    /// Its key.
    pub key: Span,
    /// Its value.
    pub value: Value<'s>,
    /// Key and value.
    pub span: Span,
}

/// A value, parsed by its field's shape.
#[derive(Debug)]
pub enum Value<'s> {
    /// Only the key.
    Empty,
    /// Invalid; a diagnostic was reported. The text after the key, and the nested entries.
    Invalid(&'s str, Data<'s>),
    /// A text, quoted or after `|`.
    Text(Template<'s>),
    /// `None` in place of a text.
    Nothing,
    /// `True`, `False`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// An expression; a reference.
    Expr(Expr),
    /// `- …` or `[…]` with values.
    List(Vec<Expr>),
    /// `-> …`, or statements without the arrow.
    Procedure(Procedure<'s>),
    /// A block.
    Record(Box<Record<'s>>),
    /// Named blocks, or the items of a sequence of blocks.
    Records(Vec<Record<'s>>),
    /// `name: type`, in order.
    Declarations(Vec<Declaration<'s>>),
    /// `name: @actions.x`, in order.
    Bindings(Vec<Binding<'s>>),
    /// A type with its constraints.
    Type(TypeSpec<'s>),
    /// Free-form.
    Data(Data<'s>),
}

/// `name: mutable string = "x"` with its properties (specification part I, 2.3, 7.2).
#[derive(Debug)]
pub struct Declaration<'s> {
    /// The name.
    pub name: Spanned<Name>,
    /// Whether the agent can set it, or the platform provides it.
    pub modifier: Option<Spanned<Modifier>>,
    /// The type: a name, or an array for `list[string]` (`list` alone is a name). `None` if it is missing or
    /// invalid.
    pub ty: Option<TypeExpr>,
    /// The value after `=`. Without a type, the variable that the parameter is bound to.
    pub value: Option<Expr>,
    /// The properties; their `name` is the declaration's.
    pub properties: Record<'s>,
    /// From the name to the last property.
    pub span: Span,
}

/// The modifier of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modifier {
    /// The agent may set it.
    Mutable,
    /// Only the platform sets it.
    Linked,
}

impl Modifier {
    /// The keywords, with their modifiers.
    pub const WORDS: &[(&str, Self)] = &[("mutable", Self::Mutable), ("linked", Self::Linked)];
}

/// `type: list` with nested `value: …`, `fields: …` or limits (connection inputs).
#[derive(Debug)]
pub struct TypeSpec<'s> {
    /// The type.
    pub ty: TypeExpr,
    /// The constraints.
    pub properties: Record<'s>,
}

/// `name: @actions.x` with its clauses (specification part II, 7).
#[derive(Debug)]
pub struct Binding<'s> {
    /// The name of the tool, shown to the model.
    pub name: Spanned<Name>,
    /// The action: `@actions.x`, `@utils.transition`, `@subagent.y`; `None` if it is missing or invalid.
    pub action: Option<Expr>,
    /// The targets of `@utils.transition to …`.
    pub targets: Vec<Target>,
    /// `available when …`, in order.
    pub available: Vec<Spanned<Expr>>,
    /// `with …`, in order.
    pub with: Vec<Argument>,
    /// The follow-up of the action.
    pub body: Vec<Statement<'s>>,
    /// `description`, `label`.
    pub properties: Record<'s>,
    /// From the name to the last line of the body.
    pub span: Span,
}

/// The target of an assignment or a transition: `@variables.x`, `@subagent.y`.
pub type Target = Spanned<Path>;

/// `name = value` of a `with`.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The parameter.
    pub name: Spanned<Name>,
    /// The value; [`Ellipsis`](agentir_expr::ExprKind::Ellipsis) if the model provides it.
    pub value: Expr,
    /// The whole argument.
    pub span: Span,
}

/// Statements (specification part I, 5).
#[derive(Debug, Default)]
pub struct Procedure<'s> {
    /// The arrow `->`, if written.
    pub arrow: Option<Span>,
    /// The statements, in order.
    pub statements: Vec<Statement<'s>>,
}

/// A statement.
#[derive(Debug)]
pub struct Statement<'s> {
    /// The kind.
    pub kind: StatementKind<'s>,
    /// From its first word to the end of its body.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Debug)]
pub enum StatementKind<'s> {
    /// `| text`: adds to the prompt.
    Template(Template<'s>),
    /// `set target = value`.
    Set {
        /// The variable. Its namespace may be omitted.
        target: Target,
        /// The new value.
        value: Expr,
    },
    /// `run @actions.x` with inputs and follow-up.
    Run {
        /// The action.
        action: Expr,
        /// `with …`, in order.
        with: Vec<Argument>,
        /// The follow-up; also misplaced clauses, as written.
        body: Vec<Statement<'s>>,
    },
    /// `if`, `else if`, `else`.
    If {
        /// `if` and every `else if`.
        branches: Vec<Branch<'s>>,
        /// `else`.
        otherwise: Option<Vec<Statement<'s>>>,
    },
    /// `transition to …`.
    Transition {
        /// The targets; several are reported by a lint rule.
        targets: Vec<Target>,
        /// Nested `with …`.
        with: Vec<Argument>,
        /// Other nested statements; they never run.
        body: Vec<Statement<'s>>,
    },
    /// `collect @variables.x`, since 3.2 `ask for @variables.x`.
    Collect {
        /// The variable to set.
        target: Target,
        /// The keyword.
        form: CollectForm,
        /// `message`, `instructions`.
        properties: Record<'s>,
    },
    /// `with …` without an action.
    With(Vec<Argument>),
    /// `to …` on a line of its own.
    To(Vec<Target>),
    /// `available when …` outside an action binding.
    Available(Expr),
    /// A bare expression.
    Expr(Expr),
    /// `key: value` among statements.
    Data(Unknown<'s>),
    /// Invalid; a diagnostic was reported. The line, and the nested statements.
    Invalid(&'s str, Vec<Statement<'s>>),
}

/// The keyword of `collect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectForm {
    /// `collect @variables.x`.
    Collect,
    /// `ask for @variables.x`.
    AskFor,
}

/// `if condition:` or `else if condition:` with its body.
#[derive(Debug)]
pub struct Branch<'s> {
    /// The condition; `None` if it is invalid.
    pub condition: Option<Expr>,
    /// The nested statements.
    pub body: Vec<Statement<'s>>,
    /// From `if` or `else` to the end of the body.
    pub span: Span,
}

/// An entry unknown to its table.
#[derive(Debug)]
pub struct Unknown<'s> {
    /// The key; `None` for a statement or an item where only fields are allowed.
    pub key: Option<Spanned<Name>>,
    /// The name after the key: `name` in `key name:`.
    pub name: Option<Spanned<Name>>,
    /// The content.
    pub data: Data<'s>,
    /// The whole entry.
    pub span: Span,
}

/// Content read without a table: of unknown blocks and free-form ones.
#[derive(Debug)]
pub enum Data<'s> {
    /// Nothing.
    Nothing,
    /// A text, quoted or behind `|`.
    Text(Template<'s>),
    /// An expression, and its nested entries.
    Expr(Expr, Vec<Unknown<'s>>),
    /// `mutable string = ""`, and its nested entries.
    Declared(Box<Declared>, Vec<Unknown<'s>>),
    /// `@utils.transition to @subagent.x`, and its nested statements.
    Bound(Expr, Vec<Target>, Procedure<'s>),
    /// Keys and values.
    Map(Vec<Unknown<'s>>),
    /// `- …`.
    List(Vec<Unknown<'s>>),
    /// Statements.
    Procedure(Procedure<'s>),
    /// Invalid; a diagnostic was reported.
    Invalid(&'s str),
}

/// The rest of a declaration after the colon.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// `mutable`, `linked`, or another word.
    pub modifier: Option<Spanned<Name>>,
    /// The type.
    pub ty: TypeExpr,
    /// The value after `=`.
    pub value: Option<Expr>,
}

impl<'s> Record<'s> {
    /// The key of this record that no table knows and that is a misspelling of the field `name`.
    pub(crate) fn misspelling(&self, name: &str) -> Option<Span> {
        let unknown = self.unknown.iter().filter_map(|unknown| unknown.key.as_ref());
        let unknown = unknown.map(|key| (key.value.as_str(), key.span));
        let known: Vec<&str> =
            self.ty.fields().map(|f| f.name).filter(|name| !name.ends_with('*')).collect();
        misspelling(name, unknown, known.into_iter())
    }

    /// The last field called `name` in the table.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field<'s>> {
        self.fields.iter().rev().find(|f| f.def.name == name)
    }

    /// All fields called `name` in the table, in order: the named blocks of a kind.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Field<'s>> {
        self.fields.iter().filter(move |f| f.def.name == name)
    }

    /// The text of the field called `name`.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&Template<'s>> {
        match &self.field(name)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean value of the field called `name`.
    #[must_use]
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.field(name)?.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The block called `name`.
    #[must_use]
    pub fn record(&self, name: &str) -> Option<&Self> {
        match &self.field(name)?.value {
            Value::Record(record) => Some(record),
            _ => None,
        }
    }

    /// The blocks of the kind `name`: `subagent a:`, `subagent b:`; those below `actions:`.
    pub fn records<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.all(name).flat_map(|f| match &f.value {
            Value::Record(record) => std::slice::from_ref(&**record),
            Value::Records(records) => records.as_slice(),
            _ => &[],
        })
    }

    /// The statements of the field called `name`.
    #[must_use]
    pub fn procedure(&self, name: &str) -> Option<&Procedure<'s>> {
        match &self.field(name)?.value {
            Value::Procedure(procedure) => Some(procedure),
            _ => None,
        }
    }

    /// The declarations in the field called `name`.
    #[must_use]
    pub fn declarations(&self, name: &str) -> &[Declaration<'s>] {
        match self.field(name).map(|f| &f.value) {
            Some(Value::Declarations(declarations)) => declarations,
            _ => &[],
        }
    }

    /// The bindings in the field called `name`.
    #[must_use]
    pub fn bindings(&self, name: &str) -> &[Binding<'s>] {
        match self.field(name).map(|f| &f.value) {
            Some(Value::Bindings(bindings)) => bindings,
            _ => &[],
        }
    }
}
