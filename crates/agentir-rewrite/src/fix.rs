//! Applying the fixes that findings come with.

use crate::edit::{apart, apply};
use agentir_diagnostics::{Diagnostic, Edit, FileId, Fix, Severity};

/// Where fixes cannot be applied together, so many of them are tried one by one.
const MOST_ALONE: usize = 64;

/// A document with fixes applied.
#[derive(Debug)]
pub struct Fixed {
    /// Its text.
    pub text: String,
    /// How many fixes are in it.
    pub applied: usize,
}

/// Applies fixes to a document, as far as they go together: where two want the same bytes the first
/// wins, and the other is offered again by whoever looks at the new text. A fix that reaches into other
/// documents is left out.
///
/// `read` is what the front end finds in a text. It does not find more errors in what is given back than
/// in `text`: fixes after which it would are left out.
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
        let edits = apart(groups.to_vec());
        let applied = groups.iter().filter(|g| g.iter().all(|edit| edits.contains(edit))).count();
        Fixed { text: apply(text, &edits), applied }
    };
    let all = with(&groups);
    if errors(&all.text) <= before {
        return all;
    }
    let mut accepted: Vec<Vec<Edit>> = Vec::new();
    let mut best = Fixed { text: text.to_owned(), applied: 0 };
    for group in groups.into_iter().take(MOST_ALONE) {
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
    use agentir_syntax::abl::Options;

    fn fixed(text: &str, fixes: &[&Fix]) -> Fixed {
        fix(FileId(0), text, fixes, &|text| {
            agentir_lower::file(FileId(0), "a.agent.abl", text, Options::default()).diagnostics
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
    fn what_would_break_a_document_is_left_out() {
        let text = "AGENT: A\nGOAL: \"Sell tickets\"\nPERSONA: \"Kind\"\n";
        let breaks = replace(text, "\"Kind\"", "\"Kind");
        let good = replace(text, "tickets", "stamps");
        let fixed = fixed(text, &[&breaks, &good]);
        assert_eq!(fixed.text, "AGENT: A\nGOAL: \"Sell stamps\"\nPERSONA: \"Kind\"\n");
        assert_eq!(fixed.applied, 1);
    }

    #[test]
    fn of_fixes_for_the_same_bytes_the_first_wins() {
        let text = "AGENT: A\nGOAL: \"Sell tickets\"\n";
        let one = replace(text, "tickets", "stamps");
        let other = replace(text, "Sell tickets", "Buy");
        let fixed = fixed(text, &[&one, &other]);
        assert_eq!(fixed.text, "AGENT: A\nGOAL: \"Sell stamps\"\n");
        assert_eq!(fixed.applied, 1);
    }
}
