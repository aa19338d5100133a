//! What two programs call by different names.

use crate::snapshot::{ProgramId, Snapshot};
use crate::symbols::{Rename, name_kind};
use crate::workspace::Workspace;
use agentir_analysis::references::{References, Role, Scope, Symbol, SymbolId, SymbolKind};
use agentir_compare::{
    NormalizedProgram, differences, matches_pattern, segments, with_named_arguments,
};
use agentir_diagnostics::Span;
use agentir_expr::Name;
use agentir_ir::Program;
use agentir_project::LoadError;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Something that two programs call by different names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherName {
    /// What it is.
    pub kind: SymbolKind,
    /// The agent that it belongs to; `None` if it belongs to the program.
    pub agent: Option<Name>,
    /// Its name in the first program.
    pub first: Name,
    /// Its name in the second.
    pub second: Name,
    /// Whether its name is known outside of the program, so that the other name is a difference all the same.
    pub is_public: bool,
    /// Where the second defines it: the file, and the line, from 1.
    pub place: Option<(String, usize)>,
}

impl fmt::Display for OtherName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, agent, first, second, is_public: _, place } = self;
        let what = name_kind(*kind).1.split_once(' ').map_or("", |(_, what)| what);
        write!(f, "renamed: the {what} `{first}`")?;
        if let Some(agent) = agent {
            write!(f, " of `{agent}`")?;
        }
        write!(f, " is `{second}` in the second")?;
        match place {
            Some((file, line)) => write!(f, "   ({file}:{line})"),
            None => Ok(()),
        }
    }
}

/// What has a name that is known outside of the program: tools to services, agents to the model that chooses among them.
const PUBLIC: &[SymbolKind] = &[SymbolKind::Agent, SymbolKind::Tool];

/// What has a name that nobody outside of the program sees.
const KINDS: &[SymbolKind] = &[
    SymbolKind::Template,
    SymbolKind::Entity,
    SymbolKind::Profile,
    SymbolKind::Step,
    SymbolKind::Variable,
];

/// Where the name of something internal gets out of the program: to services, to people, to a store, or to a platform.
const OUTSIDE: &[&[&str]] = &[
    &["agents", "*", "coordination", "escalation", "**"],
    &["agents", "*", "memory", "persistent", "**"],
    &["agents", "*", "tools", "**"],
    &["**", "extensions", "**"],
    &["libraries", "**"],
    &["tools", "**"],
];

/// How many renamings are tried. Each one reads and checks a program twice.
const MAX_TRIES: usize = 24;

/// The length of the texts, in bytes, above which none is.
const MAX_LENGTH: usize = 1 << 18;

/// A difference, by path, with both values as JSON.
type Differences = BTreeSet<(String, String, String)>;

impl Workspace {
    /// The one program of this workspace under the names that the one of `first` has for the same things, and what is called
    /// otherwise: agents, tools, templates, entities, profiles, steps and variables. Each renaming is
    /// [proved](Snapshot::rename), and kept only if it explains most of the differences that it has to do with, so that all
    /// others are still there.
    ///
    /// Nothing is renamed if there is not exactly one program on each side, or if they are in different languages, or
    /// long. Texts set here keep the names of the first.
    ///
    /// # Errors
    /// If one of the paths cannot be read.
    pub fn under_names_of(
        &mut self,
        first: &Snapshot,
    ) -> Result<(Snapshot, Vec<OtherName>), LoadError> {
        let mut second = self.snapshot()?;
        let mut found = Vec::new();
        let (Some(one), Some(two)) = (only_program(first), only_program(&second)) else {
            return Ok((second, found));
        };
        let dialect = |snapshot: &Snapshot, id| snapshot.ir(id).map(Program::dialect);
        let length: usize = second.sources().iter().map(|(_, file)| file.text.len()).sum();
        if dialect(first, one) != dialect(&second, two) || length > MAX_LENGTH {
            return Ok((second, found));
        }
        let mut tried = BTreeSet::new();
        let mut before = different(first, one, &second, two);
        while !before.is_empty()
            && tried.len() < MAX_TRIES
            && let Some(candidate) = candidate(first, one, &second, two, &tried)
        {
            tried.insert(candidate.clone());
            let Candidate { kind, agent, from, to, at } = candidate;
            let Ok(rename) = second.rename(at.file, at.start, &from) else { continue };
            let texts = edited(&second, &rename);
            let Some(texts) = texts else { continue };
            for (file, text) in &texts {
                self.set_text(file, text.as_str());
            }
            let after_it = self.snapshot()?;
            let after = only_program(&after_it).map(|id| different(first, one, &after_it, id));
            if let Some(after) = after.filter(|after| explains(kind, &before, after)) {
                let place = second
                    .sources()
                    .get(at.file)
                    .map(|file| (file.name.to_string(), file.line_column(at.start).line as usize));
                let is_public = PUBLIC.contains(&kind);
                found.push(OtherName { kind, agent, first: from, second: to, is_public, place });
                (second, before) = (after_it, after);
            } else {
                for (file, _) in &texts {
                    let former = second.file(file).map(|(_, source)| source.text.clone());
                    if let Some(former) = former {
                        self.set_text(file, &*former);
                    }
                }
                second = self.snapshot()?;
            }
        }
        Ok((second, found))
    }
}

/// Two names for something that may be the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    kind: SymbolKind,
    agent: Option<Name>,
    from: Name,
    to: Name,
    at: Span,
}

fn only_program(snapshot: &Snapshot) -> Option<ProgramId> {
    let mut all = snapshot.programs().map(|(id, _)| id);
    all.next().filter(|_| all.next().is_none())
}

/// A pair of names of which each program has one, and that was not tried. Where many names differ, nothing was renamed.
fn candidate(
    first: &Snapshot,
    one: ProgramId,
    second: &Snapshot,
    two: ProgramId,
    tried: &BTreeSet<Candidate>,
) -> Option<Candidate> {
    let (here, there) = (names(first, one), names(second, two));
    here.iter().find_map(|(key, names)| {
        let others = there.get(key)?;
        let only = |names: &BTreeMap<Name, Span>, others: &BTreeMap<Name, Span>| -> Vec<_> {
            let only = names.iter().filter(|(name, _)| !others.contains_key(*name));
            only.map(|(name, at)| (name.clone(), *at)).collect()
        };
        let (only_here, only_there) = (only(names, others), only(others, names));
        if only_here.len() * only_there.len() > MAX_TRIES {
            return None;
        }
        let pairs = only_here.iter().flat_map(|one| only_there.iter().map(move |two| (one, two)));
        let mut pairs = pairs.map(|((from, _), (to, at))| {
            let ((kind, agent), from, to) = (key.clone(), from.clone(), to.clone());
            Candidate { kind, agent, from, to, at: *at }
        });
        pairs.find(|pair| !tried.contains(pair))
    })
}

/// Names with their definitions, by kind and agent.
type Names = BTreeMap<(SymbolKind, Option<Name>), BTreeMap<Name, Span>>;

fn names(snapshot: &Snapshot, id: ProgramId) -> Names {
    let mut all = Names::new();
    let (Some(program), Some(references)) = (snapshot.ir(id), snapshot.references(id)) else {
        return all;
    };
    for (id, symbol) in references.symbols() {
        let agent = match symbol.scope {
            Scope::Program => None,
            Scope::Agent(agent) => {
                let Some(agent) = program.agents().nth(agent.index()) else { continue };
                Some(agent.metadata.name.value.clone())
            }
            Scope::Symbol(_) => continue,
        };
        let definition = definition(program, references, id, symbol);
        if let Some(at) = definition {
            let names = all.entry((symbol.kind, agent)).or_default();
            names.entry(symbol.name.clone()).or_insert(at);
        }
    }
    all
}

/// The definition of a symbol, if it has one, and nobody outside of the program sees its name or its kind is one whose names
/// all see.
fn definition(
    program: &Program,
    references: &References,
    id: SymbolId,
    symbol: &Symbol,
) -> Option<Span> {
    let mut kept = program.agents().flat_map(|agent| &agent.memory.persistent);
    let is_internal =
        KINDS.contains(&symbol.kind) && kept.all(|path| path.path.value != symbol.name);
    // The model sees what prompts say.
    let is_internal = is_internal && references.occurrences(id).all(|o| o.role != Role::Mention);
    let first = references.definitions(id).first().copied();
    first.filter(|_| is_internal || PUBLIC.contains(&symbol.kind))
}

/// The texts of the files that a renaming changes, by name; `None` if one of them is no text.
fn edited(snapshot: &Snapshot, rename: &Rename) -> Option<Vec<(String, String)>> {
    let files: BTreeSet<_> = rename.edits.iter().map(|edit| edit.span.file).collect();
    let texts = files.into_iter().map(|file| {
        let source = snapshot.sources().get(file).filter(|_| snapshot.is_text(file))?;
        Some((source.name.to_string(), crate::symbols::edited(file, &source.text, &rename.edits)))
    });
    texts.collect()
}

fn different(first: &Snapshot, one: ProgramId, second: &Snapshot, two: ProgramId) -> Differences {
    let normal = |snapshot: &Snapshot, id| {
        let program = snapshot.ir(id).map(with_named_arguments);
        program.map(|program| NormalizedProgram::in_any_order(&program))
    };
    let (Some(left), Some(right)) = (normal(first, one), normal(second, two)) else {
        return Differences::new();
    };
    let all = differences(&left, &right).into_iter().map(|one| {
        let [left, right] = [one.left, one.right]
            .map(|said| said.map_or_else(String::new, |(value, _)| value.to_string()));
        (one.path, left, right)
    });
    all.collect()
}

/// Whether most of the differences that a renaming of something of a kind has to do with are gone, and none of them was seen
/// outside unless all names of the kind are. An agent or a tool of another name is one difference, however large: there their
/// length counts.
fn explains(kind: SymbolKind, before: &Differences, after: &Differences) -> bool {
    let is_public = PUBLIC.contains(&kind);
    let size = |(_, left, right): &(String, String, String)| match is_public {
        true => left.len() + right.len(),
        false => 1,
    };
    let gone = || before.difference(after);
    let is_outside = |path: &str| {
        let path = segments(path);
        OUTSIDE.iter().any(|pattern| matches_pattern(pattern, &path))
    };
    let new: usize = after.difference(before).map(size).sum();
    new * 2 < gone().map(size).sum() && (is_public || !gone().any(|(path, ..)| is_outside(path)))
}
