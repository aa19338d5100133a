//! Migration of documents to newer versions: the table of changes between the versions.
//!
//! A row of [`ROWS`] either names a rule whose fixes migrate the document, or finds the old form in the typed
//! tree. Both yield edits of the text, so everything else stays byte for byte. What cannot be decided stays as it
//! is and becomes a finding.
//!
//! A row also states where in the IR the new form may differ; a migration that differs elsewhere is
//! refused. Constructs whose semantics changed (guardrails, the context of a handoff) are only
//! rewritten in documents of an older version.

mod handoffs;
mod names;
mod profiles;
mod rules;
mod source;
mod table;

pub use table::{How, ROWS, Row};

use crate::{Arena, Format, Options, outline, reader};
use agentir_expr::Version;
use agentir_syntax::migrate::{Changes, Difference, Migration, OldDocument};
use agentir_syntax::outline::parse_yaml;
use source::Source;

/// The changes between the versions of ABL.
pub(crate) struct VersionChanges(pub(crate) Format);

/// The rules whose findings are about forms of other versions.
const ABOUT_VERSIONS: &[&str] = &[
    "keyword-case",
    "legacy-form",
    "legacy-recall-event",
    "behavior-profiles-plural",
    "mode-removed",
    "guardrail-polarity",
    "single-brace-hole",
];

impl Migration for VersionChanges {
    fn rules(&self) -> &'static [&'static str] {
        ABOUT_VERSIONS
    }

    fn fixing_rules(&self, from: Version, to: Version) -> Vec<&'static str> {
        let rule = |row: &Row| match row.how {
            How::Finding(rule) => Some(rule),
            _ => None,
        };
        table::applies(from, to).filter_map(rule).collect()
    }

    fn changes(&self, document: &OldDocument<'_>) -> Changes {
        let &OldDocument { file, text, fragment, from, to, is_first_round } = document;
        let mut changes = Changes::default();
        let mut problems = Vec::new();
        let Self(format) = *self;
        let outline = match format {
            Format::Abl => outline::parse(file, text, &mut problems),
            Format::Yaml => parse_yaml(file, text, &mut problems),
        };
        let arena = Arena::new();
        let options = Options { version: Some(to), fragment };
        let Some(document) = reader::read(&outline, format, options, &arena, &mut problems) else {
            return changes;
        };
        let source = Source { file, text, document: &document, from, to };
        for row in table::applies(from, to) {
            match row.how {
                How::Tree(find) => find(&source, &mut changes),
                How::Once(find) if is_first_round => find(&source, &mut changes),
                _ => {}
            }
        }
        changes
    }

    fn explains(&self, from: Version, to: Version, difference: &Difference<'_>) -> bool {
        table::applies(from, to).any(|row| row.may_change(difference))
    }
}
