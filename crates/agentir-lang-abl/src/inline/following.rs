//! What may follow inline text.

use super::context::Context;
use super::errors::Abl;
use super::grammar::inline::InlineParser;
use super::lexer::Lexer;
use super::token::{EntryPoint, Token};
use agentir_diagnostics::FileId;
use agentir_syntax::inline::following::{END, Following, Spelling};
use agentir_syntax::inline::{Error, InlineText};

impl Following for Abl {
    type EntryPoint = EntryPoint;

    // `undefined` is read, but what has no value is `null` in the specification.
    const SPELLINGS: &'static [Spelling] = &[
        Spelling::value("true"),
        Spelling::value("false"),
        Spelling::value("null"),
        Spelling::operator("AND"),
        Spelling::operator("OR"),
        Spelling::operator("NOT"),
        Spelling::operator("IMPLIES"),
        Spelling::operator("IN"),
        Spelling::operator("NOT IN"),
        Spelling::operator("matches"),
        Spelling::operator("contains"),
        Spelling::operator("startsWith"),
        Spelling::operator("endsWith"),
        Spelling::operator("IS SET"),
        Spelling::operator("IS NOT SET"),
        Spelling::operator("is_number"),
        Spelling::operator("=="),
        Spelling::operator("!="),
        Spelling::operator("<"),
        Spelling::operator("<="),
        Spelling::operator(">"),
        Spelling::operator(">="),
        Spelling::operator("+"),
        Spelling::operator("-"),
        Spelling::operator("*"),
        Spelling::operator("/"),
        Spelling::operator("%"),
        Spelling::operator("?"),
        Spelling::operator(":"),
        Spelling::operator("|"),
        Spelling::operator("="),
        Spelling::operator("->"),
        Spelling::keyword("REQUIRE").of("CONSTRAINT"),
        Spelling::keyword("WARN").of("CONSTRAINT"),
        Spelling::keyword("LIMIT").of("CONSTRAINT"),
        Spelling::keyword("RESTRICT").of("CONSTRAINT"),
        Spelling::keyword("ASC").of("DIRECTION"),
        Spelling::keyword("DESC").of("DIRECTION"),
        Spelling::keyword("BEFORE calling").of("BEFORE"),
        Spelling::keyword("BEFORE returning results").of("BEFORE"),
        Spelling::keyword("with"),
        Spelling::keyword("to"),
        Spelling::keyword("AS"),
        Spelling::keyword("INTO"),
        Spelling::keyword("INTENT"),
        Spelling::keyword("DEFAULT"),
        Spelling::keyword("FROM"),
        Spelling::keyword("ROUTE_TO"),
        Spelling::keyword("ROUTE_TO_USER"),
        Spelling::keyword("ROUTE_TO_VARIABLE"),
        Spelling::keyword("END_CONVERSATION"),
        Spelling::keyword("SYSTEM_ACTION"),
        Spelling::keyword("INTENT_MATCH"),
    ];

    const VALUE: [&'static str; 2] = ["NUMBER", "\"null\""];

    const SHORTHAND: bool = true;

    fn stop(text: &str, entry_point: EntryPoint) -> Option<Error<'_, Self>> {
        let context = Context { input: InlineText::verbatim(text, FileId(0), 0) };
        let end = Ok((END, Token::EntryPoint(entry_point), END));
        let tokens = Lexer::new(text, 0, entry_point).chain([end]);
        InlineParser::new().parse(&context, tokens).err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_syntax::inline::following::testing::unmatched;

    #[test]
    fn every_word_of_the_grammar_has_a_spelling() {
        const OTHERS: &[&str] = &[
            "WORD",
            "NUMBER",
            "STRING",
            "REGEX",
            "undefined",
            "ACTION",
            ".",
            ",",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
        ];
        let grammar = agentir_grammar_abl::GRAMMARS.iter().find(|(name, _)| *name == "inline");
        let grammar = grammar.map_or("", |(_, text)| *text);
        assert_eq!(unmatched(grammar, Abl::SPELLINGS, OTHERS), [""; 0]);
    }
}
