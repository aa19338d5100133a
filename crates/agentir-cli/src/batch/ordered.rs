//! Sorts findings by file name while programs, which may be nested, are still being checked.

use super::Findings;
use agentir_diagnostics::{Diagnostic, SourceMap};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Findings that wait until those of all files with smaller names are there.
#[derive(Default)]
pub struct Ordered {
    waiting: BTreeMap<(Arc<str>, usize), OfFile>,
    /// How many programs there were.
    programs: usize,
    /// How many documents were read since that was last said.
    files: usize,
}

struct OfFile {
    diagnostics: Vec<Diagnostic>,
    sources: Arc<SourceMap>,
}

impl Ordered {
    /// Adds what was found in a program.
    pub fn add(&mut self, found: Findings) {
        self.files += found.files;
        self.programs += 1;
        let sources = found.sources;
        for diagnostic in found.diagnostics {
            let file = sources.get(diagnostic.primary.span.file);
            let name = file.map_or_else(|| Arc::from(""), |file| file.name.clone());
            self.waiting
                .entry((name, self.programs))
                .or_insert_with(|| OfFile { diagnostics: Vec::new(), sources: sources.clone() })
                .diagnostics
                .push(diagnostic);
        }
    }

    /// What nothing can come before any more, if only files from `next` on are still to come.
    pub fn ready(&mut self, next: Option<&str>) -> impl Iterator<Item = Findings> {
        let mut ready = Vec::new();
        while let Some(first) = self.waiting.first_entry()
            && next.is_none_or(|next| *first.key().0 < *next)
        {
            let OfFile { diagnostics, sources } = first.remove();
            ready.push(Findings { diagnostics, sources, files: 0 });
        }
        ready.push(Findings { files: std::mem::take(&mut self.files), ..Findings::default() });
        ready.into_iter()
    }
}
