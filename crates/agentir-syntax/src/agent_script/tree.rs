//! The typed tree of a document: records with fields whose values are parsed, as the tables in
//! [`schema`](super::schema) say. Nothing that was written is missing from it: what the tables do not know
//! is there as [`Unknown`], and what could not be read as [`Value::Invalid`] or
//! [`StatementKind::Invalid`], with its place.

use super::schema::{Dialect, FieldDef, RecordType, Version};
use super::template::Template;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, Name, Path, TypeExpr};

/// A document.
#[derive(Debug)]
pub struct Document<'s> {
    /// The dialect it is held to.
    pub dialect: Dialect,
    /// The version that its `# @dialect:` line asks for.
    pub version: Option<Spanned<Version>>,
    /// Its blocks.
    pub root: Record<'s>,
    /// All comments, in order, from `#` to the end of the line.
    pub comments: Vec<Span>,
    /// It is a template for documents: `{{…}}` stands where something has to be filled in.
    pub placeholders: bool,
}

/// A block: fields by name.
#[derive(Debug)]
pub struct Record<'s> {
    /// The table it was read by.
    pub ty: &'static RecordType,
    /// From its key to the end of its last field.
    pub span: Span,
    /// The name the author gave it, if it is of a kind that has one.
    pub name: Option<Spanned<Name>>,
    /// Its fields, in order. Named blocks (`subagent a:`, `subagent b:`) are fields of the same
    /// name; a field written twice is there twice.
    pub fields: Vec<Field<'s>>,
    /// What the table does not know.
    pub unknown: Vec<Unknown<'s>>,
}

/// A field as written.
#[derive(Debug)]
pub struct Field<'s> {
    /// Its row in the table.
    pub def: &'static FieldDef,
    /// Its key.
    pub key: Span,
    /// Its value.
    pub value: Value<'s>,
    /// Key and value.
    pub span: Span,
}

/// A value, parsed as its field's shape says.
#[derive(Debug)]
pub enum Value<'s> {
    /// The key alone.
    Empty,
    /// Cannot be read; a diagnostic was given. The text behind the key, and what is below it.
    Invalid(&'s str, Data<'s>),
    /// A text, quoted or behind `|`.
    Text(Template<'s>),
    /// `None`, where a text may be missing.
    Nothing,
    /// `True`, `False`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// An expression; a reference.
    Expr(Expr),
    /// `- …` or `[…]` of values.
    List(Vec<Expr>),
    /// `-> …`, or statements without the arrow.
    Procedure(Procedure<'s>),
    /// A block.
    Record(Box<Record<'s>>),
    /// Blocks under names of the author's; the items of a sequence of blocks.
    Records(Vec<Record<'s>>),
    /// `name: type`, in order.
    Declarations(Vec<Declaration<'s>>),
    /// `name: @actions.x`, in order.
    Bindings(Vec<Binding<'s>>),
    /// A type with what narrows it.
    Type(TypeSpec<'s>),
    /// Free-form.
    Data(Data<'s>),
}

/// `name: mutable string = "x"` with its properties (specification part I, 2.3, 7.2).
#[derive(Debug)]
pub struct Declaration<'s> {
    /// The name.
    pub name: Spanned<Name>,
    /// Whether it can be set, or is given by the platform.
    pub modifier: Option<Spanned<Modifier>>,
    /// Its type: a name, or an array of one for `list[string]` (`list` alone is a name). `None` if
    /// it was left out or could not be read.
    pub ty: Option<TypeExpr>,
    /// What stands behind `=`. Where there is no type, the variable that the parameter is bound to.
    pub value: Option<Expr>,
    /// Its properties; their `name` is the declaration's.
    pub properties: Record<'s>,
    /// From the name to the last property.
    pub span: Span,
}

/// What a variable may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modifier {
    /// The agent may set it.
    Mutable,
    /// Only the platform sets it.
    Linked,
}

/// `type: list` with `value: …`, `fields: …` or limits below (connection inputs).
#[derive(Debug)]
pub struct TypeSpec<'s> {
    /// The type.
    pub ty: TypeExpr,
    /// What narrows it.
    pub properties: Record<'s>,
}

/// `name: @actions.x` with what belongs to it (specification part II, 7).
#[derive(Debug)]
pub struct Binding<'s> {
    /// The name of the tool, for the model.
    pub name: Spanned<Name>,
    /// What it does: `@actions.x`, `@utils.transition`, `@subagent.y`; `None` if it was left out or
    /// could not be read.
    pub action: Option<Expr>,
    /// Where `@utils.transition to …` goes.
    pub targets: Vec<Target>,
    /// `available when …`, in order.
    pub available: Vec<Spanned<Expr>>,
    /// `with …`, in order.
    pub with: Vec<Argument>,
    /// What happens after the action.
    pub body: Vec<Statement<'s>>,
    /// `description`, `label`.
    pub properties: Record<'s>,
    /// From the name to the last line of the body.
    pub span: Span,
}

/// Something to set, or to go to: `@variables.x`, `@subagent.y`.
pub type Target = Spanned<Path>;

/// `name = value` of a `with`.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The parameter.
    pub name: Spanned<Name>,
    /// The value; [`Ellipsis`](agentir_expr::ExprKind::Ellipsis) if the model fills it in.
    pub value: Expr,
    /// Both.
    pub span: Span,
}

/// Statements (specification part I, 5).
#[derive(Debug, Default)]
pub struct Procedure<'s> {
    /// Where `->` stands, if it does.
    pub arrow: Option<Span>,
    /// The statements, in order.
    pub statements: Vec<Statement<'s>>,
}

/// A statement.
#[derive(Debug)]
pub struct Statement<'s> {
    /// What it does.
    pub kind: StatementKind<'s>,
    /// From its first word to the end of its body.
    pub span: Span,
}

/// The forms of a statement.
#[derive(Debug)]
pub enum StatementKind<'s> {
    /// `| text`: adds to the prompt.
    Template(Template<'s>),
    /// `set target = value`.
    Set {
        /// The variable. Its namespace may have been left out.
        target: Target,
        /// Its new value.
        value: Expr,
    },
    /// `run @actions.x` with inputs and what happens after.
    Run {
        /// The action.
        action: Expr,
        /// `with …`, in order.
        with: Vec<Argument>,
        /// What happens after; also clauses that have no place here, as they were written.
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
        /// Where to; more than one is reported by a lint.
        targets: Vec<Target>,
        /// `with …` below it.
        with: Vec<Argument>,
        /// What is below it besides; it never runs.
        body: Vec<Statement<'s>>,
    },
    /// `collect @variables.x`, since 3.2 `ask for @variables.x`.
    Collect {
        /// What is to be found out.
        target: Target,
        /// How it was written.
        form: CollectForm,
        /// `message`, `instructions`.
        properties: Record<'s>,
    },
    /// `with …` that belongs to no action.
    With(Vec<Argument>),
    /// `to …` on a line of its own.
    To(Vec<Target>),
    /// `available when …` outside of an action binding.
    Available(Expr),
    /// A bare expression.
    Expr(Expr),
    /// `key: value` among statements.
    Data(Unknown<'s>),
    /// Cannot be read; a diagnostic was given. The line, and what is below it.
    Invalid(&'s str, Vec<Statement<'s>>),
}

/// How `collect` was written.
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
    /// The condition; `None` if it could not be read.
    pub condition: Option<Expr>,
    /// The statements below it.
    pub body: Vec<Statement<'s>>,
    /// From `if` or `else` to the end of the body.
    pub span: Span,
}

/// An entry that its table does not know.
#[derive(Debug)]
pub struct Unknown<'s> {
    /// The key; `None` for a statement or an item where only fields may stand.
    pub key: Option<Spanned<Name>>,
    /// The name behind the key: `name` in `key name:`.
    pub name: Option<Spanned<Name>>,
    /// What it says.
    pub data: Data<'s>,
    /// All of it.
    pub span: Span,
}

/// What is read without a table: unknown blocks and free-form ones.
#[derive(Debug)]
pub enum Data<'s> {
    /// Nothing.
    Nothing,
    /// A text, quoted or behind `|`.
    Text(Template<'s>),
    /// An expression, and what is below it.
    Expr(Expr, Vec<Unknown<'s>>),
    /// `mutable string = ""`, and what is below it.
    Declared(Box<Declared>, Vec<Unknown<'s>>),
    /// `@utils.transition to @subagent.x`, and what is below it.
    Bound(Expr, Vec<Target>, Procedure<'s>),
    /// Keys and values.
    Map(Vec<Unknown<'s>>),
    /// `- …`.
    List(Vec<Unknown<'s>>),
    /// Statements.
    Procedure(Procedure<'s>),
    /// Cannot be read; a diagnostic was given.
    Invalid(&'s str),
}

/// What stands behind the colon of a declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// `mutable`, `linked`, or another word.
    pub modifier: Option<Spanned<Name>>,
    /// The type.
    pub ty: TypeExpr,
    /// What stands behind `=`.
    pub value: Option<Expr>,
}

impl<'s> Record<'s> {
    /// The last field called `name` in the table.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field<'s>> {
        self.fields.iter().rev().find(|f| f.def.name == name)
    }

    /// All fields called `name` in the table: the named blocks of a kind, in order.
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

    /// The truth value of the field called `name`.
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

    /// The declarations below the field called `name`.
    #[must_use]
    pub fn declarations(&self, name: &str) -> &[Declaration<'s>] {
        match self.field(name).map(|f| &f.value) {
            Some(Value::Declarations(declarations)) => declarations,
            _ => &[],
        }
    }

    /// The bindings below the field called `name`.
    #[must_use]
    pub fn bindings(&self, name: &str) -> &[Binding<'s>] {
        match self.field(name).map(|f| &f.value) {
            Some(Value::Bindings(bindings)) => bindings,
            _ => &[],
        }
    }
}
