//! Renaming, proved by reading the result.

use crate::languages::languages;
use crate::snapshot::{ProgramId, Snapshot};
use agentir_analysis::ProgramAnalysis;
use agentir_analysis::points::{PointFacts, facts_at};
use agentir_analysis::references::{
    Occurrence, References, Role, Scope, Symbol, SymbolId, SymbolKind,
};
use agentir_compare::NormalizedProgram;
use agentir_config::Configs;
use agentir_diagnostics::{Edit, FileId, Span};
use agentir_expr::dialect::Entry;
use agentir_expr::{ExprKind, Visit};
use agentir_ir::Program;
use agentir_lint::{Cancellation, Selection};
use agentir_project::{CheckOptions, Levels, Loaded, check_loaded, config_names, read_program};
use agentir_syntax::code::CodeName;
use agentir_syntax::context::NameKind;
use agentir_syntax::names::NameProblem;
use agentir_syntax::{Detected, FileHead};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
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
    /// The language gives it its name.
    #[error("`{0}` has its name from the language")]
    Fixed(String),
    /// The new name is none of the language.
    #[error("`{name}` cannot be the name of {kind}: {problem}")]
    Invalid {
        /// The new name.
        name: String,
        /// What it would name, with an article.
        kind: &'static str,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// A use is written in another way than by the name itself.
    #[error("`{name}` is written as `{written}` in another place")]
    OtherForm {
        /// The name.
        name: String,
        /// How it is written.
        written: String,
        /// The use.
        span: Span,
    },
    /// The name also stands in data that agentir keeps without knowing what it refers to, or in an expression that cannot
    /// be parsed.
    #[error("`{name}` also stands where it is not known what it refers to: {place}")]
    Unclear {
        /// The name.
        name: String,
        /// The place.
        span: Span,
        /// The file, the line and the column of the place, and what is written there.
        place: String,
    },
    /// It is a field of what a variable holds, which comes from elsewhere.
    #[error(
        "`{0}` is a field of what a variable holds: whatever is stored there has it under this name"
    )]
    Stored(String),
    /// The symbol has this name.
    #[error("`{0}` is already its name")]
    Unchanged(String),
    /// Another symbol is called so.
    #[error("`{0}` is already the name of something else")]
    Taken(String),
    /// The new text would have a finding that the text does not have, or the other way round.
    #[error("with `{name}`, {message}")]
    Finding {
        /// The new name.
        name: String,
        /// What the finding says.
        message: String,
    },
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

    /// What holds at an offset when what stands there is executed, on every path that leads there: at the reason of an
    /// escalation, its condition. `None` if nothing that is executed stands there.
    #[must_use]
    pub fn facts_at(&self, file: FileId, offset: u32) -> Option<PointFacts> {
        let program = self.ir(self.program_of(file)?)?;
        let source = self.sources().get(file)?;
        if offset as usize > source.text.len() {
            return None;
        }
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
    /// alone, and rules find the same. Words of prompts and messages are changed only where they refer to the symbol: as a
    /// placeholder, or as the exact name by which the model knows a tool. What no analysis reads is changed, too, where
    /// the language says that such a name stands there (the tools that are used of a file), or where it says so itself
    /// (`@variables.name`).
    ///
    /// # Errors
    /// If there is no symbol, the name is none of the language, or the new text would not be the same program.
    pub fn rename(&self, file: FileId, offset: u32, new: &str) -> Result<Rename, RenameError> {
        let mut edits = BTreeMap::new();
        let mut renamed = None;
        for program in self.programs_of(file).collect::<Vec<_>>() {
            let Some(references) = self.references(program) else { continue };
            let Some(found) = references.at(file, offset).first().copied() else { continue };
            let Some(symbol) = references.symbol(found.symbol) else { continue };
            let name = symbol.name.to_string();
            if name == new {
                return Err(RenameError::Unchanged(name));
            }
            let symbols = same_name(references, found.symbol);
            if symbols.iter().all(|id| references.definitions(*id).is_empty()) {
                return Err(RenameError::Undefined(name));
            }
            if symbol.kind == SymbolKind::Agent && self.is_entry_by_name(program, &name) {
                return Err(RenameError::Fixed(name));
            }
            for id in &symbols {
                let Some(one) = references.symbol(*id) else { continue };
                if is_stored(references, one) {
                    return Err(RenameError::Stored(name));
                }
                self.check_name(references, *id, one, new)?;
                if references.find(one.kind, one.scope, new).is_some() {
                    return Err(RenameError::Taken(new.to_owned()));
                }
            }
            let shorthands = self.shorthands(program);
            let occurrences = symbols
                .iter()
                .flat_map(|id| references.occurrences(*id))
                .filter(|occurrence| occurrence.role != Role::Alias);
            for occurrence in occurrences {
                let text = self.edit(occurrence, &name, new)?;
                // `{name}` is short for `{name: name}`, of which the first is the key of the data.
                let text = match shorthands.contains(&occurrence.span) {
                    true => format!("{name}: {text}"),
                    false => text,
                };
                // What reads it says more than words that mention it.
                edits.entry(occurrence.span).or_insert(text);
            }
            if symbol.kind == SymbolKind::Agent {
                let keys = self.manifest_keys(program, &name);
                edits.extend(keys.into_iter().map(|span| (span, new.to_owned())));
            }
            for id in &symbols {
                edits.extend(self.uses_in_code(program, references, *id, new)?);
            }
            for id in &symbols {
                let left = self.residue(program, references, *id, &edits).into_iter();
                let clear = left.filter(|residue| residue.is_clear);
                edits.extend(clear.map(|residue| (residue.span, new.to_owned())));
            }
            for id in &symbols {
                if let Some(span) = self.unclear_use(program, references, *id, &edits) {
                    return Err(self.unclear(name, span));
                }
            }
            renamed = Some((symbol.kind, name));
        }
        let (kind, name) = renamed.ok_or(RenameError::NoSymbol)?;
        let edits: Vec<Edit> = edits.into_iter().map(|(span, text)| Edit { span, text }).collect();
        let files: BTreeSet<FileId> = edits.iter().map(|edit| edit.span.file).collect();
        let programs: BTreeSet<ProgramId> =
            files.iter().flat_map(|file| self.programs_of(*file)).collect();
        let renaming = Renaming { name: &name, new, forms: self.forms(&edits) };
        for program in programs {
            self.check_same_program(program, &edits, &renaming).map_err(|error| match error {
                RenameError::ChangesMeaning(_) if self.is_keyword(kind, &edits, &name) => {
                    RenameError::Fixed(name.clone())
                }
                error => error,
            })?;
        }
        Ok(Rename { kind, name, edits })
    }

    /// The entries of objects that are only a name, which is both the key and the variable.
    fn shorthands(&self, program: ProgramId) -> BTreeSet<Span> {
        let mut found = BTreeSet::new();
        for agent in self.ir(program).into_iter().flat_map(Program::agents) {
            agent.walk(&mut |node| {
                node.exprs(&mut |expr| {
                    expr.visit(&mut |e| {
                        if let ExprKind::Object(entries) = &e.kind {
                            let short = entries.iter().filter(|entry| entry.value.is_none());
                            found.extend(short.map(|entry| entry.key.span));
                        }
                        Visit::Children
                    });
                });
            });
        }
        found
    }

    /// The error for a place where it is not known what a name refers to.
    fn unclear(&self, name: String, span: Span) -> RenameError {
        let place = self.sources().get(span.file).map_or_else(String::new, |source| {
            let at = source.line_column(span.start);
            let line = source.line_range(source.line_index(span.start as usize));
            let line = source.text.get(line).unwrap_or_default().trim();
            let short: String = line.chars().take(80).collect();
            let more = if short.len() < line.len() { "…" } else { "" };
            format!("{}:{}:{}: `{short}{more}`", source.name, at.line, at.column)
        });
        RenameError::Unclear { name, span, place }
    }

    /// The edits in the code of tools, for a tool or a parameter.
    fn uses_in_code(
        &self,
        program: ProgramId,
        references: &References,
        id: SymbolId,
        new: &str,
    ) -> Result<Vec<(Span, String)>, RenameError> {
        let mut edits = Vec::new();
        let Some(symbol) = references.symbol(id) else { return Ok(edits) };
        let tool = match (symbol.kind, symbol.scope) {
            (SymbolKind::Parameter, Scope::Symbol(tool)) => references.symbol(tool),
            (SymbolKind::Tool, _) => Some(symbol),
            _ => None,
        };
        let Some(tool) = tool else { return Ok(edits) };
        let parameter = (symbol.kind == SymbolKind::Parameter).then_some(symbol.name.as_str());
        let name = CodeName { tool: &tool.name, parameter };
        for file in self.loaded(program).map_or(&[][..], |loaded| &loaded.files) {
            let (Some(found), Some(source)) = (self.detected(*file), self.sources().get(*file))
            else {
                continue;
            };
            let span = |at: Range<usize>| {
                let [start, end] =
                    [at.start, at.end].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
                Span::new(*file, start, end)
            };
            let uses = found.language.code_uses(found.kind, &source.text, name, new);
            if uses.taken.is_some() {
                return Err(RenameError::Taken(new.to_owned()));
            }
            if let Some(at) = uses.unclear {
                return Err(self.unclear(symbol.name.to_string(), span(at)));
            }
            edits.extend(uses.uses.into_iter().map(|at| (span(at), new.to_owned())));
        }
        Ok(edits)
    }

    /// Whether conversations begin at an agent because of its name.
    fn is_entry_by_name(&self, program: ProgramId, name: &str) -> bool {
        let traits = self.ir(program).map(|program| program.dialect().traits());
        traits.is_some_and(|traits| matches!(traits.entry, Entry::Named(entry) if entry == name))
    }

    /// Whether a name is a keyword where it is written.
    fn is_keyword(&self, kind: SymbolKind, edits: &[Edit], name: &str) -> bool {
        let detected = edits.iter().filter_map(|edit| self.detected(edit.span.file));
        let problems = detected.map(|Detected { language, kind: file_kind }| {
            language.name_problem(file_kind, name_kind(kind).0, name)
        });
        problems.into_iter().any(|problem| problem == Some(NameProblem::Keyword))
    }

    /// Whether the languages of the files in which a symbol stands allow a name for it.
    fn check_name(
        &self,
        references: &References,
        id: SymbolId,
        symbol: &Symbol,
        new: &str,
    ) -> Result<(), RenameError> {
        let (what, kind) = name_kind(symbol.kind);
        let files: BTreeSet<FileId> = references.occurrences(id).map(|o| o.span.file).collect();
        for Detected { language, kind: file_kind } in
            files.into_iter().filter_map(|file| self.detected(file))
        {
            let problem = |what, name: &str| language.name_problem(file_kind, what, name);
            let problem = match (symbol.name.split_once('.'), new.split_once('.')) {
                // A path of persistent memory: its root is often one of the runtime.
                (Some((before, _)), Some((root, rest))) => (before != root)
                    .then(|| problem(what, root))
                    .flatten()
                    .or_else(|| rest.split('.').find_map(|n| problem(NameKind::ResultField, n))),
                _ => problem(what, new),
            };
            if let Some(problem) = problem {
                let name = new.to_owned();
                return Err(RenameError::Invalid { name, kind, problem });
            }
        }
        Ok(())
    }

    /// What a file is.
    pub(crate) fn detected(&self, file: FileId) -> Option<Detected> {
        let source = self.sources().get(file)?;
        let program = self.program_of(file).and_then(|id| self.loaded(id));
        let in_program = program.is_some_and(|loaded| loaded.files.len() > 1);
        let head = FileHead { name: &source.name, text: &source.text, in_program };
        Some(languages().detect_head(&head))
    }

    /// The text that stands at a span.
    fn written(&self, span: Span) -> Option<&str> {
        self.sources().get(span.file)?.text.get(span.start as usize..span.end as usize)
    }

    /// The text of an occurrence with the new name.
    fn edit(&self, occurrence: Occurrence, name: &str, new: &str) -> Result<String, RenameError> {
        let written = self.written(occurrence.span).unwrap_or_default();
        if written == name {
            return Ok(new.to_owned());
        }
        let mention = (occurrence.role == Role::Mention).then(|| in_form_of(written, name, new));
        mention.flatten().ok_or_else(|| RenameError::OtherForm {
            name: name.to_owned(),
            written: written.to_owned(),
            span: occurrence.span,
        })
    }

    /// The former and the new texts of the edits, each pair once.
    fn forms(&self, edits: &[Edit]) -> BTreeSet<(String, String)> {
        let form = |edit: &Edit| Some((self.written(edit.span)?.to_owned(), edit.text.clone()));
        edits.iter().filter(|edit| !edit.text.contains(": ")).filter_map(form).collect()
    }

    /// Whether a program with edits differs from this one in the name alone.
    fn check_same_program(
        &self,
        id: ProgramId,
        edits: &[Edit],
        renaming: &Renaming<'_>,
    ) -> Result<(), RenameError> {
        let changes_meaning = || RenameError::ChangesMeaning(renaming.new.to_owned());
        let loaded = self.loaded(id).ok_or_else(changes_meaning)?;
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
            return Err(changes_meaning());
        };
        let (old, new) = (
            References::with_texts(&one.program, &before.sources),
            References::with_texts(&two.program, &after.sources),
        );
        if !same_symbols(&old, &new, renaming.name, renaming.new)
            || !same_values(&one.program, &two.program, renaming)
        {
            return Err(changes_meaning());
        }
        // What refers to the name without being a reference becomes a finding.
        let (mut known, found) = (findings(&mut before), findings(&mut after));
        for (rule, message) in found {
            match known.iter().position(|(one, _)| *one == rule) {
                Some(at) => drop(known.swap_remove(at)),
                None => {
                    return Err(RenameError::Finding { name: renaming.new.to_owned(), message });
                }
            }
        }
        match known.pop() {
            None => Ok(()),
            Some((_, message)) => {
                let message = format!("this is no longer found: {message}");
                Err(RenameError::Finding { name: renaming.new.to_owned(), message })
            }
        }
    }
}

/// A symbol's names before and after.
struct Renaming<'a> {
    name: &'a str,
    new: &'a str,
    /// The forms in which they are written.
    forms: BTreeSet<(String, String)>,
}

/// Whether a symbol is a field of the type of a variable, at any depth.
fn is_stored(references: &References, symbol: &Symbol) -> bool {
    let mut around = std::iter::successors(Some(symbol), |one| match one.scope {
        Scope::Symbol(id) => references.symbol(id),
        Scope::Program | Scope::Agent(_) => None,
    });
    symbol.kind == SymbolKind::ResultField && around.any(|one| one.kind == SymbolKind::Variable)
}

/// The kind of a name, and what it is called with an article.
pub(crate) const fn name_kind(kind: SymbolKind) -> (NameKind, &'static str) {
    match kind {
        SymbolKind::Agent => (NameKind::Agent, "an agent"),
        SymbolKind::Alias => (NameKind::Agent, "an alias"),
        SymbolKind::Variable => (NameKind::Variable, "a variable"),
        SymbolKind::Step => (NameKind::Step, "a step"),
        SymbolKind::Tool => (NameKind::Tool, "a tool"),
        SymbolKind::Parameter => (NameKind::Parameter, "a parameter"),
        SymbolKind::ResultField => (NameKind::ResultField, "a field"),
        SymbolKind::Template => (NameKind::Template, "a template"),
        SymbolKind::Profile => (NameKind::Profile, "a profile"),
        SymbolKind::Entity => (NameKind::Entity, "an entity"),
        SymbolKind::LookupTable => (NameKind::LookupTable, "a lookup table"),
    }
}

/// The new name in the form in which a text mentions the former one: `Add payee` for `add_payee`.
fn in_form_of(written: &str, name: &str, new: &str) -> Option<String> {
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
    };
    let titled = |text: &str| text.split(' ').map(capital).collect::<Vec<String>>().join(" ");
    let cases: [&dyn Fn(&str) -> String; 5] =
        [&str::to_owned, &str::to_lowercase, &str::to_uppercase, &capital, &titled];
    let separators: [&dyn Fn(&str) -> String; 3] =
        [&str::to_owned, &|text| text.replace('_', " "), &|text| text.replace('_', "-")];
    let forms = separators.iter().flat_map(|s| cases.iter().map(move |c| (s, c)));
    forms
        .map(|(separate, case)| (case(&separate(name)), case(&separate(new))))
        .find(|(form, _)| form == written)
        .map(|(_, form)| form)
}

/// The rules of all findings with their messages.
fn findings(loaded: &mut Loaded) -> Vec<(&'static str, String)> {
    let configs = Configs::none(config_names());
    let selection = Selection::default();
    let check = CheckOptions {
        languages: languages(),
        selection: &selection,
        levels: &Levels::new(&configs, &selection),
        fragment: false,
        timed: false,
        cancellation: &Cancellation::default(),
        max_steps: u64::MAX,
    };
    let found = check_loaded(loaded, check).map(|(checked, _)| checked.diagnostics);
    let found = found.into_iter().flatten().map(|one| (one.rule.0, one.message.to_string()));
    found.collect()
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
pub(crate) fn edited(file: FileId, text: &str, edits: &[Edit]) -> String {
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
        each.filter(|o| o.role != Role::Mention).map(|o| key(&o)).collect::<Vec<_>>()
    };
    // A new name may not look like one in prose; but no other words may become a mention of anything.
    let mentions = |all: &References, id| {
        all.occurrences(id).filter(|occurrence| occurrence.role == Role::Mention).count()
    };
    let mentions = one.symbols().all(|(id, _)| mentions(two, id) <= mentions(one, id));
    let counts = one.symbols().count() == two.symbols().count();
    mentions && names && counts && occurrences(one) == occurrences(two)
}

/// Whether the values of two programs are the same, but for the name within them. Words that are not references keep
/// the former name. Equal tools of several agents are one value until one of them has another name, so each value
/// counts once.
fn same_values(one: &Program, two: &Program, renaming: &Renaming<'_>) -> bool {
    let values = |program: &Program| {
        let mut all = BTreeSet::new();
        NormalizedProgram::new(program).values(&mut |path, value, _| {
            // A hash of the source changes with any edit.
            if path.ends_with("source_hash") {
                return;
            }
            // Tools that were equal before get a path with their owners.
            let path = match (path.starts_with("tools"), path.split_once('@')) {
                (true, Some((tool, rest))) => {
                    let below = rest.find(['.', ']']).and_then(|end| rest.get(end..));
                    format!("{tool}{}", below.unwrap_or_default())
                }
                _ => path.to_owned(),
            };
            // Escapes would hide where words begin.
            let line = match value.as_str() {
                Some(text) => format!("{path}\n{text}"),
                None => format!("{path}\n{value}"),
            };
            let forms = renaming.forms.iter();
            let line = forms.fold(line, |line, (form, new)| renamed(&line, form, new));
            let new = renaming.new;
            let line = line.replace(&format!("{new}: {new}"), new);
            all.insert(line);
        });
        all
    };
    values(one) == values(two)
}

/// A text with each word `name` replaced.
fn renamed(text: &str, name: &str, new: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(name) {
        let (before, rest) = text.split_at(at);
        let after = rest.get(name.len()..).unwrap_or_default();
        if at >= done && !before.ends_with(is_word) && !after.starts_with(is_word) {
            out.push_str(text.get(done..at).unwrap_or_default());
            out.push_str(new);
            done = at + name.len();
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
