//! What stands at an offset, and what may be written there.

use crate::languages::languages;
use crate::snapshot::Snapshot;
use agentir_analysis::references::References;
use agentir_diagnostics::{Diagnostic, FileId, Severity};
use agentir_project::{Loaded, read_program};
use agentir_syntax::FileHead;
use agentir_syntax::context::{Context, Cursor, Expected};
use rustc_hash::FxHashSet;
use std::path::Path;

mod describe;
mod names;

pub use describe::{Description, Signature};
use names::Names;
pub(crate) use names::signature;

impl Snapshot {
    /// What stands at an offset of a file; half-written text is understood. `None` if there is no such file or offset,
    /// if a comment stands there, or if nothing is known of it.
    #[must_use]
    pub fn context(&self, file: FileId, offset: u32) -> Option<Context> {
        let source = self.sources().get(file).filter(|_| self.is_text(file))?;
        let program = self.program_of(file).and_then(|id| self.loaded(id));
        let in_program = program.is_some_and(|loaded| loaded.files.len() > 1);
        let head = FileHead { name: &source.name, text: &source.text, in_program };
        let found = languages().detect_head(&head);
        let options = self.read_options(Path::new(&*source.name));
        let mut context = found.language.context(found.kind, &source.text, offset, options)?;
        let mut expected = std::mem::take(&mut context.expected);
        if let Some(docs) = found.language.docs() {
            expected.iter_mut().for_each(|one| docs.document(&context, one));
        }
        context.expected = expected;
        Some(context.in_file(file))
    }

    /// What may be written at an offset of a file: keys and words of the language, names of the program, functions and
    /// variables of the runtime.
    #[must_use]
    pub fn expected(&self, file: FileId, offset: u32) -> Vec<Expected> {
        let Some(context) = self.context(file, offset) else { return Vec::new() };
        let mut all = context.expected.clone();
        if !context.shapes.is_empty() {
            let mut names = self.names(file, offset, &context);
            if let Some(docs) = self.detected(file).and_then(|found| found.language.docs()) {
                names.iter_mut().for_each(|one| docs.document(&context, one));
            }
            all.extend(names);
        }
        let mut seen = FxHashSet::default();
        all.retain(|one| seen.insert((one.label.clone(), one.kind)));
        all
    }

    /// The names that may be written.
    fn names(&self, file: FileId, offset: u32, context: &Context) -> Vec<Expected> {
        let Some(id) = self.program_of(file) else { return Vec::new() };
        if let Some((repaired, file, offset)) = self.repaired(file, offset)
            && let [only] = repaired.programs.as_slice()
        {
            let references = References::with_texts(&only.program, &repaired.sources);
            return Names::new(&only.program, &references, &only.versions, file, offset)
                .expected(context);
        }
        match (self.loaded(id), self.references(id)) {
            (Some(loaded), Some(references)) => {
                Names::new(&loaded.program, references, &loaded.versions, file, offset)
                    .expected(context)
            }
            _ => Vec::new(),
        }
    }

    /// The program of a file with errors, read with a word for what is missing at an offset: half a line may hide all
    /// that follows. Also the id of the file in it, and the offset of that word.
    fn repaired(&self, file: FileId, offset: u32) -> Option<(Loaded, FileId, u32)> {
        let mut found = self.read_findings().iter();
        if !found.any(|d| d.primary.span.file == file && d.severity == Severity::Error) {
            return None;
        }
        let loaded = self.loaded(self.program_of(file)?)?;
        let index = loaded.files.iter().position(|id| *id == file)?;
        let own = FileId(u32::try_from(index).ok()?);
        let source = self.sources().get(file)?;
        let options = self.read_options(Path::new(&*source.name));
        let cursor = Cursor::new(&source.text, offset)?;
        // The whole text, and the text without the rest of the line.
        let copies = cursor.marked().take(2).map(|marked| {
            let files = loaded.files.iter().filter_map(|id| {
                let source = self.sources().get(*id)?;
                let text = if *id == file { &*marked.text } else { &*source.text };
                Some((&*source.name, text))
            });
            let program = read_program(languages(), files, options);
            let is_error =
                |d: &&Diagnostic| d.primary.span.file == own && d.severity == Severity::Error;
            let errors = program.diagnostics.iter().filter(is_error).count();
            (errors, program, marked.at)
        });
        let (_, program, at) = copies.min_by_key(|(errors, ..)| *errors)?;
        Some((program, own, at))
    }
}
