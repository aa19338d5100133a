//! The tokens of `grammars/abl/inline.lalrpop`, and its entry points.

use super::ast::{ActionKind, ConstraintKind, Direction};

/// An entry point of the grammar: the first token that the parser gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EntryPoint {
    Expr,
    /// The inside of `{{…}}`: an expression and filters.
    Placeholder,
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

/// A token. It borrows from the text; grammar actions unescape strings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    EntryPoint(EntryPoint),
    /// A name. Names of steps, agents and tools may contain `-` and `.`.
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
    /// The keyword of an action.
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
