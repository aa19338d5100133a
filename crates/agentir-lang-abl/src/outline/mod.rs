//! The outline of `.abl` text. The grammar is `grammars/abl/outline.lalrpop`.

pub(crate) mod layout;

use agentir_diagnostics::{Diagnostic, FileId};
use agentir_syntax::outline::{Outline, invalid_layout};

/// Parses `.abl` text. Never fails: lines that do not fit are reported and kept.
pub fn parse<'s>(file: FileId, text: &'s str, problems: &mut Vec<Diagnostic>) -> Outline<'s> {
    let (tokens, comments) = layout::tokens(file, text, problems);
    let mut stopped = None;
    let entries = grammar::outline::EntriesParser::new().parse(tokens).unwrap_or_else(|error| {
        let problem = invalid_layout(file, &error);
        stopped = Some(problem.primary.span);
        problems.push(problem);
        Vec::new()
    });
    Outline { file, text, entries, comments, stopped }
}

/// The number of tokens, for benchmarks of the lexer.
#[doc(hidden)]
#[must_use]
pub fn count_tokens(text: &str) -> usize {
    layout::tokens(FileId(0), text, &mut Vec::new()).0.len()
}

agentir_syntax::grammars!(outline);

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_syntax::words::testing::{lines, words_of_lines};
    use proptest::prelude::*;

    const FORMS: &[&str] = &[
        "",
        "-",
        "- ",
        "- - -",
        "- %",
        "- K%:",
        "- K%: %",
        "- - K%: %",
        "-\t%",
        "K%:",
        "K%: %",
        "K%: |",
        "- |",
        "% -> %",
        "%",
        "% ->",
        "K%: [",
        "K%: [%,",
        "]",
        "- # c",
        "- \"%",
        "\"%\": %",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The grammar reads what the layout pass makes of a text, and no line is lost unless a finding is about it.
        #[test]
        fn every_layout_is_a_sentence_of_the_grammar(text in lines(FORMS)) {
            let mut problems = Vec::new();
            let outline = parse(FileId(0), &text, &mut problems);
            prop_assert!(outline.stopped.is_none(), "{}: {:?}", text, problems);
            let mut kept = words_of_lines(&format!("{:?}", outline.entries));
            let reported = problems.iter().filter_map(|p| text.get(p.primary.span.range()));
            kept.extend(reported.flat_map(words_of_lines));
            for word in words_of_lines(&text) {
                prop_assert!(kept.contains(&word), "{word} of:\n{text}");
            }
        }
    }
}
