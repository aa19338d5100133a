//! Renaming, proved by reading the result.

use crate::languages::languages;
use crate::snapshot::{ProgramId, Snapshot};
use agentir_analysis::ProgramAnalysis;
use agentir_analysis::points::{PointFacts, facts_at};
use agentir_analysis::references::{Occurrence, References, Role, SymbolId, SymbolKind};
use agentir_compare::NormalizedProgram;
use agentir_config::Configs;
use agentir_diagnostics::{Edit, FileId, Span};
use agentir_ir::Program;
use agentir_lint::{Cancellation, Selection};
use agentir_project::{CheckOptions, Levels, Loaded, check_loaded, config_names, read_program};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Why a symbol is not renamed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// There is no symbol at the location.
    #[error("there is no name of a symbol here")]
    NoSymbol,
    /// Nothing in the program defines the symbol, so it belongs to something outside.
    #[error("`{0}` is not defined in this program")]
    Undefined(String),
    /// A use is written in another way than by the name itself.
    #[error("`{name}` is written in another form in another place")]
    OtherForm {
        /// The name.
        name: String,
        /// The use.
        span: Span,
    },
    /// Another symbol is called so.
    #[error("`{0}` is already the name of something else")]
    Taken(String),
    /// The new text would be another program.
    #[error("with `{0}`, the text would mean something else")]
    ChangesMeaning(String),
}

/// The edits that rename a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// What the symbol stands for.
    pub kind: SymbolKind,
    /// The former name.
    pub name: String,
    /// The edits, by file and position.
    pub edits: Vec<Edit>,
}

impl Snapshot {
    /// The program that a file belongs to, the first of several.
    #[must_use]
    pub fn program_of(&self, file: FileId) -> Option<ProgramId> {
        self.programs_of(file).next()
    }

    /// What holds at an offset, on every path that leads there; `None` if nothing that is executed stands there.
    #[must_use]
    pub fn facts_at(&self, file: FileId, offset: u32) -> Option<PointFacts> {
        let program = self.ir(self.program_of(file)?)?;
        let source = self.sources().get(file)?;
        let line = source.line_range(source.line_index(offset as usize));
        let line = Span::new(file, u32::try_from(line.start).ok()?, u32::try_from(line.end).ok()?);
        facts_at(&ProgramAnalysis::new(program), line, offset)
    }

    fn programs_of(&self, file: FileId) -> impl Iterator<Item = ProgramId> {
        let ids = self.programs().map(|(id, _)| id);
        ids.filter(move |id| self.loaded(*id).is_some_and(|loaded| loaded.files.contains(&file)))
    }

    /// The edits that give the symbol at an offset another name, everywhere in the programs that the file belongs to.
    ///
    /// The result is read back: it has the same symbols with the same occurrences, its AgentIR differs in the name
    /// alone, and rules find the same. The words of prompts and messages are not changed.
    ///
    /// # Errors
    /// If there is no symbol, or the new text would not be the same program.
    pub fn rename(&self, file: FileId, offset: u32, new: &str) -> Result<Rename, RenameError> {
        let mut edits = BTreeSet::new();
        let mut renamed = None;
        for program in self.programs_of(file).collect::<Vec<_>>() {
            let Some(references) = self.references(program) else { continue };
            let Some(found) = references.at(file, offset).first().copied() else { continue };
            let Some(symbol) = references.symbol(found.symbol) else { continue };
            let name = symbol.name.to_string();
            let symbols = same_name(references, found.symbol);
            if symbols.iter().all(|id| references.definitions(*id).is_empty()) {
                return Err(RenameError::Undefined(name));
            }
            for id in &symbols {
                let Some(one) = references.symbol(*id) else { continue };
                if references.find(one.kind, one.scope, new).is_some() {
                    return Err(RenameError::Taken(new.to_owned()));
                }
            }
            let spans: BTreeSet<Span> = symbols
                .iter()
                .flat_map(|id| references.occurrences(*id))
                .filter(|occurrence| occurrence.role != Role::Alias)
                .map(|occurrence| occurrence.span)
                .collect();
            for span in &spans {
                let text = self.sources().get(span.file).map(|source| &*source.text);
                let written =
                    text.and_then(|text| text.get(span.start as usize..span.end as usize));
                if written != Some(name.as_str()) {
                    return Err(RenameError::OtherForm { name, span: *span });
                }
            }
            edits.extend(spans);
            renamed = Some((symbol.kind, name));
        }
        let (kind, name) = renamed.ok_or(RenameError::NoSymbol)?;
        let edits: Vec<Edit> =
            edits.into_iter().map(|span| Edit { span, text: new.to_owned() }).collect();
        let files: BTreeSet<FileId> = edits.iter().map(|edit| edit.span.file).collect();
        let programs: BTreeSet<ProgramId> =
            files.iter().flat_map(|file| self.programs_of(*file)).collect();
        let same = |id: &ProgramId| self.is_same_program(*id, &edits, &name, new);
        if programs.iter().all(same) {
            Ok(Rename { kind, name, edits })
        } else {
            Err(RenameError::ChangesMeaning(new.to_owned()))
        }
    }

    /// Whether a program with edits differs from this one in the name alone.
    fn is_same_program(&self, id: ProgramId, edits: &[Edit], name: &str, new: &str) -> bool {
        let Some(loaded) = self.loaded(id) else { return false };
        let read = |edits: &[Edit]| {
            let files = loaded.files.iter().filter_map(|file| self.sources().get(*file));
            let texts: Vec<(&str, String)> = files
                .zip(&loaded.files)
                .map(|(source, file)| (&*source.name, edited(*file, &source.text, edits)))
                .collect();
            let options = loaded
                .files
                .first()
                .and_then(|file| self.sources().get(*file))
                .map(|source| self.read_options(Path::new(&*source.name)))
                .unwrap_or_default();
            read_program(
                languages(),
                texts.iter().map(|(name, text)| (*name, text.as_str())),
                options,
            )
        };
        // Read alike, so that ids and spans agree.
        let (mut before, mut after) = (read(&[]), read(edits));
        let ([one], [two]) = (before.programs.as_slice(), after.programs.as_slice()) else {
            return false;
        };
        let same =
            same_symbols(&References::new(&one.program), &References::new(&two.program), name, new)
                && same_values(&one.program, &two.program, name, new);
        // What refers to the name without being a reference becomes a finding.
        same && rules_of_findings(&mut before) == rules_of_findings(&mut after)
    }
}

/// The rules of all findings, in order.
fn rules_of_findings(loaded: &mut Loaded) -> Vec<&'static str> {
    let configs = Configs::none(config_names());
    let selection = Selection::default();
    let check = CheckOptions {
        languages: languages(),
        selection: &selection,
        levels: &Levels::new(&configs, &selection),
        fragment: false,
        timed: false,
        cancellation: &Cancellation::default(),
    };
    let mut rules: Vec<&str> = check_loaded(loaded, check)
        .map(|(checked, _)| checked.diagnostics.iter().map(|found| found.rule.0).collect())
        .unwrap_or_default();
    rules.sort_unstable();
    rules
}

/// A symbol and those that share occurrences with it under the same name, such as a variable that is
/// passed to another agent.
fn same_name(references: &References, first: SymbolId) -> BTreeSet<SymbolId> {
    let name = references.symbol(first).map(|symbol| &symbol.name);
    let mut all = BTreeSet::from([first]);
    let mut open = vec![first];
    while let Some(id) = open.pop() {
        for occurrence in references.occurrences(id) {
            let here = references.at(occurrence.span.file, occurrence.span.start);
            for other in here.into_iter().filter(|other| other.span == occurrence.span) {
                let same = references.symbol(other.symbol).map(|symbol| &symbol.name) == name;
                if same && all.insert(other.symbol) {
                    open.push(other.symbol);
                }
            }
        }
    }
    all
}

/// The text of a file with the edits in it.
fn edited(file: FileId, text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits.iter().filter(|edit| edit.span.file == file) {
        out.push_str(text.get(at..edit.span.start as usize).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Whether two programs have the same symbols, but for the name, with occurrences in the same order.
fn same_symbols(one: &References, two: &References, name: &str, new: &str) -> bool {
    let names = one.symbols().zip(two.symbols()).all(|((_, a), (_, b))| {
        a.kind == b.kind
            && a.scope == b.scope
            && (a.name == b.name || (a.name == name && b.name == new))
    });
    let key = |o: &Occurrence| (o.span.file, o.symbol, o.role);
    let occurrences = |all: &References| {
        let each = all.symbols().flat_map(|(id, _)| all.occurrences(id));
        each.map(|o| key(&o)).collect::<Vec<_>>()
    };
    names && one.symbols().count() == two.symbols().count() && occurrences(one) == occurrences(two)
}

/// Whether the values of two programs are the same, but for the name within them.
fn same_values(one: &Program, two: &Program, name: &str, new: &str) -> bool {
    let values = |program: &Program, rename: bool| {
        let mut all: BTreeMap<String, usize> = BTreeMap::new();
        NormalizedProgram::new(program).values(&mut |path, value, _| {
            // A hash of the source changes with any edit.
            if path.ends_with("source_hash") {
                return;
            }
            let line = format!("{path}\n{value}");
            *all.entry(if rename { renamed(&line, name, new) } else { line }).or_default() += 1;
        });
        all
    };
    // Words that are not references keep the former name.
    let (before, after) = (values(one, true), values(two, true));
    before == after
}

/// A text with each word `name` replaced.
fn renamed(text: &str, name: &str, new: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, tail) = rest.split_at(at);
        let after = tail.get(name.len()..).unwrap_or_default();
        let bounded = !before.ends_with(is_word) && !after.starts_with(is_word);
        out.push_str(before);
        out.push_str(if bounded { new } else { name });
        rest = after;
    }
    out.push_str(rest);
    out
}
