//! From names to what they stand for, and to where else they are written.

use crate::snapshot::{ProgramId, Snapshot};
use crate::symbols::RenameError;
use agentir_analysis::references::{Occurrence, Role, Symbol, SymbolId, SymbolKind};
use agentir_diagnostics::{FileId, Span};
use std::collections::BTreeMap;

/// A name that leads to another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The name.
    pub span: Span,
    /// What it stands for.
    pub target: Span,
    /// What it is, and how it is called.
    pub title: String,
}

impl Snapshot {
    /// The symbols at an offset, in every program that a file belongs to, those of the shortest name first.
    pub(crate) fn symbols_at(
        &self,
        file: FileId,
        offset: u32,
    ) -> Vec<(ProgramId, Occurrence, &Symbol)> {
        let programs = self.programs().map(|(id, _)| id);
        let mut found: Vec<(ProgramId, Occurrence, &Symbol)> = Vec::new();
        for id in programs.filter(|id| self.files_of(*id).contains(&file)) {
            let Some(references) = self.references(id) else { continue };
            let here = references.at(file, offset);
            let shortest = here.first().map(|one| one.span);
            let here = here.into_iter().filter(|one| Some(one.span) == shortest);
            found.extend(here.filter_map(|one| Some((id, one, references.symbol(one.symbol)?))));
        }
        found
    }

    /// The name at an offset, and where what it stands for is defined: in any file of the program, in code, too.
    #[must_use]
    pub fn definitions(&self, file: FileId, offset: u32) -> Vec<Span> {
        let mut all = Vec::new();
        for (id, occurrence, symbol) in self.symbols_at(file, offset) {
            let Some(references) = self.references(id) else { continue };
            let mut own = references.definitions(occurrence.symbol);
            if symbol.kind == SymbolKind::Alias && own.contains(&occurrence.span) {
                own.clear();
            }
            all.extend(own);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// All places where what a name at an offset stands for is named, by file and position.
    #[must_use]
    pub fn occurrences(&self, file: FileId, offset: u32) -> Vec<Occurrence> {
        let mut all: BTreeMap<Span, Occurrence> = BTreeMap::new();
        for (id, occurrence, _) in self.symbols_at(file, offset) {
            let Some(references) = self.references(id) else { continue };
            for one in references.occurrences(occurrence.symbol) {
                all.entry(one.span).or_insert(one);
            }
        }
        all.into_values().collect()
    }

    /// The name at an offset that [`Snapshot::rename`] would change.
    ///
    /// # Errors
    /// If there is none, or the program does not define it.
    pub fn renamable(&self, file: FileId, offset: u32) -> Result<Span, RenameError> {
        let mut undefined = None;
        for (id, occurrence, symbol) in self.symbols_at(file, offset) {
            let Some(references) = self.references(id) else { continue };
            if !references.definitions(occurrence.symbol).is_empty() {
                return Ok(occurrence.span);
            }
            undefined.get_or_insert_with(|| symbol.name.to_string());
        }
        Err(undefined.map_or(RenameError::NoSymbol, RenameError::Undefined))
    }

    /// The names in a file that stand for something in another file, by position.
    #[must_use]
    pub fn links(&self, file: FileId) -> Vec<Link> {
        let mut links: BTreeMap<Span, Link> = BTreeMap::new();
        let programs = self.programs().map(|(id, _)| id);
        for id in programs.filter(|id| self.files_of(*id).contains(&file)) {
            let Some(references) = self.references(id) else { continue };
            let uses = references.in_file(file).iter();
            for one in uses.filter(|one| one.role != Role::Definition) {
                let Some(symbol) = references.symbol(one.symbol) else { continue };
                if !matches!(
                    symbol.kind,
                    SymbolKind::Agent | SymbolKind::Tool | SymbolKind::Profile
                ) {
                    continue;
                }
                let target = self.declaration(id, one.symbol);
                if let Some(target) = target.filter(|target| target.file != file) {
                    let (_, kind) = crate::symbols::name_kind(symbol.kind);
                    let title = format!("{kind}: {}", symbol.name);
                    links.entry(one.span).or_insert(Link { span: one.span, target, title });
                }
            }
        }
        links.into_values().collect()
    }

    fn declaration(&self, program: ProgramId, symbol: SymbolId) -> Option<Span> {
        let references = self.references(program)?;
        references
            .occurrences(symbol)
            .find(|one| one.role == Role::Definition)
            .map(|definition| definition.span)
    }
}
