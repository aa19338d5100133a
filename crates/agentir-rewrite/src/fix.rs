//! Applies the fixes attached to findings.
//!
//! Edits that overlap are not applied together, and a text in which the front end finds more errors
//! than before is not returned. A rule offers a fix only where a single edit is what the author
//! meant; for the example on each rule page a test applies the fix and checks that the finding is
//! gone.

use crate::edit::{apply, non_overlapping};
use agentir_diagnostics::{Diagnostic, Edit, FileId, Fix, Severity};

/// How many fixes are tried one by one when they cannot all be applied together.
const MAX_SINGLE_ATTEMPTS: usize = 64;

/// A document with fixes applied.
#[derive(Debug)]
pub struct Fixed {
    /// The new text.
    pub text: String,
    /// The number of fixes applied.
    pub applied: usize,
}

/// Applies as many fixes to a document as are compatible. Of two overlapping fixes the first wins; the
/// caller may offer the other again for the new text. Fixes that also edit other documents are skipped.
///
/// `read` returns the front end's diagnostics for a text. The result never has more errors than `text`:
/// fixes that would add errors are skipped.
#[must_use]
pub fn fix(
    id: FileId,
    text: &str,
    fixes: &[&Fix],
    read: &dyn Fn(&str) -> Vec<Diagnostic>,
) -> Fixed {
    let errors = |text: &str| read(text).iter().filter(|d| d.severity == Severity::Error).count();
    let here = |edit: &Edit| {
        edit.span.file == id
            && edit.span.start <= edit.span.end
            && text.get(edit.span.range()).is_some_and(|old| old != edit.text)
    };
    let groups: Vec<Vec<Edit>> = fixes
        .iter()
        .filter(|fix| !fix.edits.is_empty() && fix.edits.iter().all(here))
        .map(|fix| fix.edits.clone())
        .collect();
    if groups.is_empty() {
        return Fixed { text: text.to_owned(), applied: 0 };
    }
    let before = errors(text);
    let with = |groups: &[Vec<Edit>]| {
        let edits = non_overlapping(groups.to_vec());
        let taken = |edit: &Edit| {
            let at = |edit: &Edit| (edit.span.start, edit.span.end);
            let found = edits.binary_search_by_key(&at(edit), at).ok();
            found.and_then(|found| edits.get(found)) == Some(edit)
        };
        let applied = groups.iter().filter(|group| group.iter().all(taken)).count();
        Fixed { text: apply(text, &edits), applied }
    };
    let all = with(&groups);
    if errors(&all.text) <= before {
        return all;
    }
    let mut accepted: Vec<Vec<Edit>> = Vec::new();
    let mut best = Fixed { text: text.to_owned(), applied: 0 };
    for group in groups.into_iter().take(MAX_SINGLE_ATTEMPTS) {
        accepted.push(group);
        let tried = with(&accepted);
        if errors(&tried.text) <= before {
            best = tried;
        } else {
            accepted.pop();
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{Fixed, fix};
    use agentir_diagnostics::{Applicability, Edit, FileId, Fix, Span};
    use agentir_lang_abl::{ABL, ABL_FILE};
    use agentir_syntax::ReadOptions;

    fn fixed(text: &str, fixes: &[&Fix]) -> Fixed {
        fix(FileId(0), text, fixes, &|text| {
            ABL.read(&ABL_FILE, FileId(0), text, ReadOptions::default()).diagnostics
        })
    }

    fn replace(text: &str, old: &str, new: &str) -> Fix {
        let start = u32::try_from(text.find(old).unwrap_or(0)).unwrap_or(0);
        let end = start + u32::try_from(old.len()).unwrap_or(0);
        let span = Span::new(FileId(0), start, end);
        let edits = vec![Edit { span, text: new.to_owned() }];
        Fix { title: String::new(), edits, applicability: Applicability::Safe }
    }

    #[test]
    fn fixes_that_would_add_errors_are_skipped() {
        let text = "AGENT: A\nGOAL: \"Sell tickets\"\nPERSONA: \"Kind\"\n";
        let breaks = replace(text, "\"Kind\"", "\"Kind");
        let good = replace(text, "tickets", "stamps");
        let fixed = fixed(text, &[&breaks, &good]);
        assert_eq!(fixed.text, "AGENT: A\nGOAL: \"Sell stamps\"\nPERSONA: \"Kind\"\n");
        assert_eq!(fixed.applied, 1);
    }

    #[test]
    fn the_first_of_two_overlapping_fixes_wins() {
        let text = "AGENT: A\nGOAL: \"Sell tickets\"\n";
        let one = replace(text, "tickets", "stamps");
        let other = replace(text, "Sell tickets", "Buy");
        let fixed = fixed(text, &[&one, &other]);
        assert_eq!(fixed.text, "AGENT: A\nGOAL: \"Sell stamps\"\n");
        assert_eq!(fixed.applied, 1);
    }
}
