//! The tokens of `abl_leaf.lalrpop`, and what a leaf can be read as.

use super::ast::{ActionKind, ConstraintKind, Direction};

/// What a leaf is read as. The first token the parser gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Goal {
    Expr,
    /// The inside of `{{…}}`: an expression and filters.
    Hole,
    Path,
    Type,
    Signature,
    Constraint,
    Action,
    Call,
    Store,
    Chain,
    Assignment,
    Transform,
    Sort,
    RoutingRule,
    RouteAction,
    Protocol,
}

/// A token. `Copy`, and borrowing from the leaf: strings are unescaped by the grammar's actions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Goal(Goal),
    /// A name. In names (of steps, agents, tools) it may contain `-` and `.`.
    Word(&'a str),
    Number(f64),
    /// With its quotes.
    String(&'a str),
    /// With its slashes and flags.
    Regex(&'a str),
    True,
    False,
    Null,
    Undefined,

    And,
    Or,
    Not,
    Implies,
    In,
    NotIn,
    Matches,
    Contains,
    StartsWith,
    EndsWith,
    IsSet,
    IsNotSet,
    IsNumber,

    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Question,
    Colon,
    Dot,
    Comma,
    Pipe,
    Assign,
    Arrow,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,

    /// `REQUIRE`, `WARN`, `LIMIT`, `RESTRICT`.
    Constraint(ConstraintKind),
    Before,
    /// A keyword that begins an action.
    Action(ActionKind),
    With,
    To,
    As,
    Into,
    Direction(Direction),
    Intent,
    Default,
    From,
    RouteTo,
    RouteToUser,
    RouteToVariable,
    EndConversation,
    SystemAction,
    IntentMatch,
}

impl Token<'_> {
    /// Whether a value is complete after this token, so that an operator may follow.
    pub(crate) const fn ends_value(self) -> bool {
        matches!(
            self,
            Token::Word(_)
                | Token::Number(_)
                | Token::String(_)
                | Token::Regex(_)
                | Token::True
                | Token::False
                | Token::Null
                | Token::Undefined
                | Token::IsSet
                | Token::IsNotSet
                | Token::IsNumber
                | Token::RightParen
                | Token::RightBracket
                | Token::RightBrace
        )
    }
}
