//! What may follow a text: the tokens that a grammar allows next, as their language spells them.
//!
//! A parser that fails says which terminals it expected. Each language parses a text with a token behind it that no
//! grammar allows there ([`END`]), and spells the terminals; so what is offered cannot differ from what is read.

use super::{Error, InlineLanguage};
use crate::context::{
    Context, Expected, ExpectedKind, NameKind, Shape, ends_in_string, path_at_end, qualifier,
};
use lalrpop_util::ParseError;
use smol_str::SmolStr;

/// The offset of the token behind a text that is asked about.
pub const END: u32 = u32::MAX;

/// How a terminal of a grammar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The terminal. One that is written as it is called has quotes, and is listed without.
    pub terminal: &'static str,
    /// As it is written.
    pub text: &'static str,
    /// What it is.
    pub kind: ExpectedKind,
    /// What it stands for, in words, where it does not say so itself.
    pub means: &'static str,
}

impl Spelling {
    /// A function, which a grammar has a terminal for.
    #[must_use]
    pub const fn function(text: &'static str) -> Self {
        Self { terminal: text, text, kind: ExpectedKind::Function, means: "" }
    }

    /// A constant.
    #[must_use]
    pub const fn value(text: &'static str) -> Self {
        Self { terminal: text, text, kind: ExpectedKind::Value, means: "" }
    }

    /// An operator.
    #[must_use]
    pub const fn operator(text: &'static str) -> Self {
        Self { terminal: text, text, kind: ExpectedKind::Operator, means: "" }
    }

    /// Another word of the language.
    #[must_use]
    pub const fn keyword(text: &'static str) -> Self {
        Self { terminal: text, text, kind: ExpectedKind::Keyword, means: "" }
    }

    /// The same for a terminal with another name.
    #[must_use]
    pub const fn of(mut self, terminal: &'static str) -> Self {
        self.terminal = terminal;
        self
    }

    /// The same with what it stands for.
    #[must_use]
    pub const fn meaning(mut self, means: &'static str) -> Self {
        self.means = means;
        self
    }

    fn is_of(&self, terminal: &str) -> bool {
        terminal.trim_matches('"') == self.terminal
    }
}

/// A language that says what may follow a text.
pub trait Following: InlineLanguage {
    /// The entry points of the grammar.
    type EntryPoint: Copy;
    /// How its terminals are written: constants, operators and keywords, no brackets.
    const SPELLINGS: &'static [Spelling];
    /// Terminals that are expected together only where a value is possible.
    const VALUE: [&'static str; 2];
    /// Whether a name alone is an entry of an object: `{a}` for `{a: a}`.
    const SHORTHAND: bool;

    /// Why the parser stopped at the token at [`END`] behind a text, or before; `None` if it did not.
    fn stop(text: &str, entry_point: Self::EntryPoint) -> Option<Error<'_, Self>>;
}

/// The terminals that may follow a text; `None` if there is an error in the text.
fn terminals<L: Following>(text: &str, entry_point: L::EntryPoint) -> Option<Vec<String>> {
    match L::stop(text, entry_point)? {
        ParseError::UnrecognizedToken { token: (END, ..), expected } => Some(expected),
        _ => None,
    }
}

/// Adds what may follow a text: words of the language, and the shape of a value where one is possible. Behind a text
/// with an error in it, that is a value.
pub fn add_following<L: Following>(text: &str, entry_point: L::EntryPoint, context: &mut Context) {
    context.compared = compared(text);
    if ends_in_string(text) {
        return context.add_shape(Shape::Text);
    }
    context.qualifier = qualifier(text);
    if context.qualifier.is_some() {
        return context.add_shape(Shape::Expression);
    }
    let found = terminals::<L>(text, entry_point);
    let started = second_words::<L>(text, entry_point, context);
    let has = |terminal: &str, all: &[String]| all.iter().any(|one| one == terminal);
    match found {
        Some(all) => {
            if L::VALUE.iter().all(|value| has(value, &all)) {
                context.add_shape(Shape::Expression);
            } else if L::SHORTHAND && has("WORD", &all) && is_entry(text) {
                context.add_shape(Shape::Name(NameKind::Variable));
            }
            for one in L::SPELLINGS {
                if all.iter().any(|terminal| one.is_of(terminal)) {
                    add(context, one, one.text);
                }
            }
        }
        None if started => {}
        None => {
            context.add_shape(Shape::Expression);
            for one in L::SPELLINGS.iter().filter(|one| one.kind == ExpectedKind::Value) {
                add(context, one, one.text);
            }
        }
    }
}

/// Adds the rest of operators of several words that a text ends with the first words of: `SET` behind `x IS`.
fn second_words<L: Following>(
    text: &str,
    entry_point: L::EntryPoint,
    context: &mut Context,
) -> bool {
    let mut found = false;
    for one in L::SPELLINGS {
        for (at, _) in one.text.match_indices(' ') {
            let (begun, rest) = (one.text.get(..at), one.text.get(at + 1..));
            let (Some(begun), Some(rest)) = (begun, rest) else { continue };
            let Some(before) = without_last(text, begun) else { continue };
            let allowed = terminals::<L>(before, entry_point)
                .is_some_and(|all| all.iter().any(|terminal| one.is_of(terminal)));
            if allowed {
                found = true;
                add(context, one, rest);
            }
        }
    }
    found
}

/// A text without the words that it ends with.
fn without_last<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let mut text = text.strip_suffix(char::is_whitespace)?;
    for word in words.rsplit(' ') {
        text = text.trim_end();
        let at = text.len().checked_sub(word.len())?;
        let (before, last) = text.split_at_checked(at)?;
        if !last.eq_ignore_ascii_case(word) || !before.ends_with(char::is_whitespace) {
            return None;
        }
        text = before;
    }
    Some(text)
}

fn add(context: &mut Context, spelling: &Spelling, text: &'static str) {
    if context.expected.iter().any(|one| one.label == text) {
        return;
    }
    let is_function = spelling.kind == ExpectedKind::Function;
    let insert = if is_function { format!("{text}(") } else { text.to_owned() };
    let one = Expected::word(spelling.kind, text, spelling.means);
    context.expected.push(one.inserting(insert));
}

/// The path that a value at the end of a text is compared with: `x` behind `x == `, `x != "`, `x IN ["a", `.
fn compared(text: &str) -> Option<SmolStr> {
    // A string that is begun is a value already.
    let open = ends_in_string(text).then(|| text.rfind(['"', '\'']));
    let before = match open {
        Some(quote) => text.get(..quote?)?,
        None => text,
    };
    let before = match arguments(before).as_slice() {
        [.., Argument { bracket: '[', open, .. }] => {
            let list = format!("{} ", before.get(..*open)?);
            let before = without_last(&list, "not in").or_else(|| without_last(&list, "in"))?;
            return path_at_end(before.trim_end());
        }
        _ => {
            let before = before.trim_end();
            before.strip_suffix("==").or_else(|| before.strip_suffix("!="))?
        }
    };
    path_at_end(before.trim_end())
}

/// Whether a text ends where an entry of an object begins.
fn is_entry(text: &str) -> bool {
    arguments(text).last().is_some_and(|one| one.bracket == '{' && one.text.trim().is_empty())
}

/// The argument that a text ends in, where the text is a list of arguments: what follows the last comma outside of its
/// brackets.
#[must_use]
pub fn top_argument(text: &str) -> &str {
    arguments(text).first().map(|one| one.text).unwrap_or_default()
}

/// An argument that a text ends in.
struct Argument<'t> {
    /// The bracket that it is in; a space, if none.
    bracket: char,
    /// The offset of the bracket.
    open: usize,
    /// The argument.
    text: &'t str,
}

/// The arguments that a text ends in, from the outermost in.
fn arguments(text: &str) -> Vec<Argument<'_>> {
    let mut starts = vec![(' ', 0, 0)];
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if std::mem::take(&mut escaped) => {}
            (Some(_), '\\') => escaped = true,
            (Some(mark), _) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => starts.push((c, at, at + 1)),
            (None, ')' | ']' | '}') if starts.len() > 1 => {
                starts.pop();
            }
            (None, ',') => {
                if let Some((.., start)) = starts.last_mut() {
                    *start = at + 1;
                }
            }
            _ => {}
        }
    }
    let argument = |(bracket, open, start): (char, usize, usize)| {
        Some(Argument { bracket, open, text: text.get(start..)? })
    };
    starts.into_iter().filter_map(argument).collect()
}

/// Checks the spellings of a language against its grammar.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    use super::Spelling;

    /// The terminals of a grammar that have no spelling and are not among `others`, and the spellings of none.
    #[must_use]
    pub fn unmatched(grammar: &str, spellings: &[Spelling], others: &[&str]) -> Vec<String> {
        let terminals: Vec<&str> = grammar
            .lines()
            .filter(|line| line.contains("=> Token::"))
            .filter_map(|line| line.split("=> Token::").next())
            .map(|name| name.trim().trim_matches('"'))
            .filter(|name| !name.starts_with("entry: "))
            .collect();
        let known =
            |name: &str| others.contains(&name) || spellings.iter().any(|one| one.terminal == name);
        let unspelled = terminals.iter().copied().filter(|name| !known(name));
        let unused = spellings.iter().map(|one| one.terminal).chain(others.iter().copied());
        let unused = unused.filter(|name| !terminals.contains(name));
        unspelled.chain(unused).map(str::to_owned).collect()
    }
}
