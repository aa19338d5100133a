//! Findings as they may be shown. Reports are copied more widely than sources, and what they quote was
//! written by others.

use super::Report;
use super::clean::{clean_lines, cut, one_line};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceFile, SourceMap};
use agentir_secrets::{Masker, mask};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;

/// Copies of findings without the secrets of the files that they point into. The files are the same,
/// but for their names; [`SourceFile::masked`] is what may be shown of their texts.
#[derive(Debug)]
pub struct Shown {
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    /// The secrets of the files.
    masker: Masker,
}

impl Shown {
    /// Findings in formats that escape characters on their own, as JSON does.
    #[must_use]
    pub fn new(diagnostics: &[Diagnostic], sources: &SourceMap) -> Self {
        let part = Self::part(diagnostics, sources);
        Self { sources: renamed(&part.sources, part.sources.iter(), mask), ..part }
    }

    /// Some of the findings of many files: only the files that they point into are ready to be shown. The time does
    /// not grow with the number of the others.
    pub(super) fn part(diagnostics: &[Diagnostic], sources: &SourceMap) -> Self {
        let mut diagnostics = diagnostics.to_vec();
        let sources = &*concealed(sources, &diagnostics);
        let mut files: HashSet<FileId> = HashSet::new();
        for diagnostic in &mut diagnostics {
            diagnostic.spans_mut(&mut |span| {
                files.insert(span.file);
            });
        }
        let files: Vec<(FileId, &SourceFile)> =
            files.into_iter().filter_map(|id| Some((id, sources.get(id)?))).collect();
        let masker: Masker = files.iter().map(|(_, file)| (&*file.text, file.masks())).collect();
        let mut shown = renamed(sources, files.iter().copied(), mask);
        if !masker.is_empty() && files.len() > 1 {
            // A secret of one file may stand in another, without what says there that it is one.
            for (id, _) in files {
                let Some(file) = shown.get(id).cloned() else { continue };
                let masks = OnceLock::from(file.masks_with(&masker));
                shown.replace(id, SourceFile { masks, ..file });
            }
        }
        for diagnostic in &mut diagnostics {
            diagnostic.texts_mut(&mut |text| {
                masker.mask_in_place(text);
                cut(text);
            });
            // An edit with a mask instead of a secret would destroy the secret.
            diagnostic.fixes.retain(|fix| {
                fix.edits.iter().all(|edit| matches!(masker.mask(&edit.text), Cow::Borrowed(_)))
            });
        }
        Self { sources: shown, diagnostics, masker }
    }

    /// Findings in formats that have no escapes for control characters.
    #[must_use]
    pub fn plain(diagnostics: &[Diagnostic], sources: &SourceMap) -> Self {
        let mut shown = Self::new(diagnostics, sources);
        for diagnostic in &mut shown.diagnostics {
            diagnostic.texts_mut(&mut |text| {
                if let Cow::Owned(clean) = clean_lines(text) {
                    *text = clean;
                }
            });
        }
        shown.sources = renamed(&shown.sources, shown.sources.iter(), one_line);
        shown
    }

    /// The findings and their files.
    #[must_use]
    pub fn report(&self, files_checked: usize) -> Report<'_> {
        Report { sources: &self.sources, diagnostics: &self.diagnostics, files_checked }
    }

    /// What masks the secrets of the files in other texts.
    #[must_use]
    pub const fn masker(&self) -> &Masker {
        &self.masker
    }
}

impl SourceMap {
    /// What masks the secrets of some files in other texts, those included that findings say are secrets.
    #[must_use]
    pub fn masker_of(
        &self,
        files: impl IntoIterator<Item = FileId>,
        findings: &[Diagnostic],
    ) -> Masker {
        let mut files: BTreeSet<FileId> = files.into_iter().collect();
        let labels = findings.iter().flat_map(|one| one.labels.iter().chain([&one.primary]));
        files.extend(labels.map(|label| label.span.file));
        let sources = concealed(self, findings);
        let files = files.into_iter().filter_map(|id| sources.get(id));
        files.map(|file| (&*file.text, file.masks())).collect()
    }
}

/// The same files, in which what findings say is a secret is hidden.
fn concealed<'s>(sources: &'s SourceMap, findings: &[Diagnostic]) -> Cow<'s, SourceMap> {
    let secrets = findings.iter().filter(|finding| finding.secret);
    let mut secrets = secrets.map(|finding| finding.primary.span).peekable();
    let mut sources = Cow::Borrowed(sources);
    if secrets.peek().is_some() {
        sources.to_mut().conceal(secrets);
    }
    sources
}

/// The same files, some of `which` under other names.
fn renamed<'s>(
    sources: &SourceMap,
    which: impl Iterator<Item = (FileId, &'s SourceFile)>,
    rename: impl Fn(&str) -> Cow<'_, str>,
) -> SourceMap {
    let mut all = sources.clone();
    for (id, file) in which {
        if let Cow::Owned(name) = rename(&file.name) {
            all.replace(id, SourceFile { name: name.into(), ..file.clone() });
        }
    }
    all
}
