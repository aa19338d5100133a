//! What may follow the strings inside YAML.

use super::grammar::inline::InlineParser;
use super::lexer::{EntryPoint, Lexer, Token};
use super::{Adl, context};
use agentir_diagnostics::FileId;
use agentir_syntax::inline::following::{END, Following, Spelling};
use agentir_syntax::inline::{Error, InlineText};

impl Following for Adl {
    type EntryPoint = EntryPoint;

    const SPELLINGS: &'static [Spelling] = &[
        Spelling::value("None"),
        Spelling::value("True"),
        Spelling::value("False"),
        Spelling::function("re.match"),
        Spelling::keyword("the user claims").of("VERB"),
        Spelling::keyword("ref"),
        Spelling::operator("and"),
        Spelling::operator("or"),
        Spelling::operator("not"),
        Spelling::operator("=="),
        Spelling::operator("!="),
        Spelling::operator("<"),
        Spelling::operator("<="),
        Spelling::operator(">"),
        Spelling::operator(">="),
    ];

    const VALUE: [&'static str; 2] = ["NUMBER", "\"None\""];

    const SHORTHAND: bool = false;

    fn stop(text: &str, entry_point: EntryPoint) -> Option<Error<'_, Self>> {
        let context = context(InlineText::verbatim(text, FileId(0), 0));
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
        // `-` only begins a number.
        const OTHERS: &[&str] =
            &["WORD", "NUMBER", "STRING", "RAW", "TEXT", "-", "(", ")", ".", ","];
        let grammar = agentir_grammar_adl::GRAMMARS.iter().find(|(name, _)| *name == "inline");
        let grammar = grammar.map_or("", |(_, text)| *text);
        assert_eq!(unmatched(grammar, Adl::SPELLINGS, OTHERS), [""; 0]);
    }
}
