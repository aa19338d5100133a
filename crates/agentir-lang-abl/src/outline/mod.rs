//! The outline of `.abl` text. The grammar is `grammars/abl/outline.lalrpop`.

pub(crate) mod layout;

use agentir_diagnostics::{Diagnostic, FileId};
use agentir_syntax::outline::Outline;

/// Parses `.abl` text. Never fails: lines that do not fit are reported and kept.
pub fn parse<'s>(file: FileId, text: &'s str, problems: &mut Vec<Diagnostic>) -> Outline<'s> {
    let (tokens, comments) = layout::tokens(file, text, problems);
    let entries = match grammar::outline::EntriesParser::new().parse(tokens) {
        Ok(entries) => entries,
        // The layout pass only produces sentences of the grammar; see the grammar's header.
        Err(error) => {
            debug_assert!(false, "unbalanced layout: {error:?}");
            Vec::new()
        }
    };
    Outline { file, text, entries, comments, stopped: None }
}

/// The number of tokens, for benchmarks of the lexer.
#[doc(hidden)]
#[must_use]
pub fn count_tokens(text: &str) -> usize {
    layout::tokens(FileId(0), text, &mut Vec::new()).0.len()
}

agentir_syntax::grammars!(outline);
