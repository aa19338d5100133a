//! What may follow inline text.

use super::context::Context;
use super::errors::AgentScript;
use super::grammar::inline::InlineParser;
use super::lexer::{EntryPoint, Lexer, Token};
use agentir_diagnostics::FileId;
use agentir_syntax::inline::following::{END, Following, Spelling};
use agentir_syntax::inline::{Error, InlineText};

impl Following for AgentScript {
    type EntryPoint = EntryPoint;

    const SPELLINGS: &'static [Spelling] = &[
        Spelling::value("True"),
        Spelling::value("False"),
        Spelling::value("None"),
        Spelling::value("...").meaning("what the model decides"),
        Spelling::operator("and"),
        Spelling::operator("or"),
        Spelling::operator("not"),
        Spelling::operator("is"),
        Spelling::operator("is not"),
        Spelling::operator("if"),
        Spelling::operator("else"),
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
        Spelling::operator(":"),
        Spelling::operator("="),
        Spelling::keyword("to"),
        Spelling::keyword("when"),
        Spelling::keyword("for"),
    ];

    const VALUE: [&'static str; 2] = ["NUMBER", "\"None\""];

    const SHORTHAND: bool = false;

    fn stop(text: &str, entry_point: EntryPoint) -> Option<Error<'_, Self>> {
        let context = Context { input: InlineText::verbatim(text, FileId(0), 0) };
        let end = Ok((END, Token::EntryPoint(entry_point), END));
        let tokens = Lexer::new(text, entry_point).chain([end]);
        InlineParser::new().parse(&context, tokens).err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_syntax::inline::following::testing::unmatched;

    #[test]
    fn every_word_of_the_grammar_has_a_spelling() {
        const OTHERS: &[&str] =
            &["REF", "WORD", "NUMBER", "DATE", "STRING", ".", ",", "(", ")", "[", "]", "{", "}"];
        let grammar =
            agentir_grammar_agent_script::GRAMMARS.iter().find(|(name, _)| *name == "inline");
        let grammar = grammar.map_or("", |(_, text)| *text);
        assert_eq!(unmatched(grammar, AgentScript::SPELLINGS, OTHERS), [""; 0]);
    }
}
