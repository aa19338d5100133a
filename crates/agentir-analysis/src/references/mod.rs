//! Symbols of a program with their definitions and references, in both directions and with spans.
//!
//! A symbol is what a name stands for: an agent, a variable, a step, a tool. Every occurrence of a
//! name in the program (in paths segment by segment, and in types) belongs to one symbol, whether
//! something defines it or not.
//!
//! Variables belong to the agent that declares or uses them, or to the program where it shares them
//! among its agents. A variable that is passed on under its name is two symbols that share an
//! occurrence: the variable that is read, and that of the receiver.

mod collect;
mod holes;
mod mentions;
mod paths;

use agentir_diagnostics::{FileId, SourceMap, Span};
use agentir_expr::Name;
use agentir_flow::cfg::AgentId;
use agentir_ir::Program;
use collect::Collector;
pub use mentions::looks_like_code;

/// A symbol of [`References`]: its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(u32);

impl SymbolId {
    /// Its position among the symbols.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a symbol stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// An agent.
    Agent,
    /// A variable, a collected field, an argument of an agent, or a path of persistent memory.
    Variable,
    /// A step of a flow.
    Step,
    /// A tool.
    Tool,
    /// A parameter of a tool.
    Parameter,
    /// A field of a tool's result, or of the type of another field or of a variable.
    ResultField,
    /// A named template.
    Template,
    /// A behaviour profile.
    Profile,
    /// An entity, which types and fields refer to.
    Entity,
    /// A lookup table, which fields and parameters refer to.
    LookupTable,
    /// An agent's own name for another agent.
    Alias,
}

/// What a symbol belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The whole program.
    Program,
    /// An agent.
    Agent(AgentId),
    /// Another symbol: the tool of a parameter or result field, the field or variable of a field of its type.
    Symbol(SymbolId),
}

/// A name and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// What it stands for.
    pub kind: SymbolKind,
    /// The name.
    pub name: Name,
    /// What it belongs to.
    pub scope: Scope,
}

/// What an occurrence of a name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Defines or declares it.
    Definition,
    /// Assigns to it.
    Write,
    /// Reads, calls or names it.
    Read,
    /// Names it by an alias.
    Alias,
    /// Names it in the words of instructions, where the model has to know it. It may be written with spaces, or in
    /// another case: `add payee` for `add_payee`.
    Mention,
}

/// An occurrence of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// Where it is written. Where the name is part of a longer text, only that part.
    pub span: Span,
    /// The symbol.
    pub symbol: SymbolId,
    /// What it does.
    pub role: Role,
}

/// The symbols of a program and all occurrences of their names.
#[derive(Debug, Default)]
pub struct References {
    symbols: Vec<Symbol>,
    /// By file and position.
    occurrences: Vec<Occurrence>,
    /// The occurrences of each symbol, by its index: positions in `occurrences`.
    by_symbol: Vec<Vec<u32>>,
}

impl References {
    /// Collects the symbols of a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        Self::of(program, None)
    }

    /// Collects the symbols of a program of which the texts are at hand: with them, also those in the placeholders of
    /// what implements tools.
    #[must_use]
    pub fn with_texts(program: &Program, sources: &SourceMap) -> Self {
        Self::of(program, Some(sources))
    }

    fn of(program: &Program, sources: Option<&SourceMap>) -> Self {
        let (symbols, all) = Collector::new(program, sources).collect();
        Self::from_all(symbols, all)
    }

    /// With more occurrences of symbols that are known.
    #[must_use]
    pub fn with_more(self, more: impl IntoIterator<Item = Occurrence>) -> Self {
        let Self { symbols, mut occurrences, .. } = self;
        occurrences.extend(more);
        Self::from_all(symbols, occurrences)
    }

    fn from_all(symbols: Vec<Symbol>, mut all: Vec<Occurrence>) -> Self {
        all.sort_unstable_by_key(|o| (o.span.file, o.span.start, o.span.end, o.symbol, o.role));
        all.dedup_by_key(|o| (o.span, o.symbol));
        let mut by_symbol = vec![Vec::new(); symbols.len()];
        for (position, occurrence) in all.iter().enumerate() {
            if let (Some(list), Ok(position)) =
                (by_symbol.get_mut(occurrence.symbol.index()), u32::try_from(position))
            {
                list.push(position);
            }
        }
        Self { symbols, occurrences: all, by_symbol }
    }

    /// All symbols with their ids, in the order in which they were met.
    pub fn symbols(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        (0..).map(SymbolId).zip(&self.symbols)
    }

    /// The symbol with this id.
    #[must_use]
    pub fn symbol(&self, id: SymbolId) -> Option<&Symbol> {
        self.symbols.get(id.index())
    }

    /// The symbol of this kind and name in a scope.
    #[must_use]
    pub fn find(&self, kind: SymbolKind, scope: Scope, name: &str) -> Option<SymbolId> {
        let is = |symbol: &Symbol| {
            symbol.kind == kind && symbol.scope == scope && symbol.name.as_str() == name
        };
        self.symbols().find(|(_, symbol)| is(symbol)).map(|(id, _)| id)
    }

    /// The occurrences of a symbol, by file and position.
    pub fn occurrences(&self, symbol: SymbolId) -> impl Iterator<Item = Occurrence> {
        let list = self.by_symbol.get(symbol.index()).map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(|at| self.occurrences.get(*at as usize).copied())
    }

    /// The definitions of a symbol. If nothing declares it, its assignments.
    #[must_use]
    pub fn definitions(&self, symbol: SymbolId) -> Vec<Span> {
        let of = |role| {
            self.occurrences(symbol).filter(move |o| o.role == role).map(|o| o.span).collect()
        };
        let declared: Vec<Span> = of(Role::Definition);
        if declared.is_empty() { of(Role::Write) } else { declared }
    }

    /// The occurrences in a file, by position.
    #[must_use]
    pub fn in_file(&self, file: FileId) -> &[Occurrence] {
        let start = self.occurrences.partition_point(|o| o.span.file < file);
        let end = self.occurrences.partition_point(|o| o.span.file <= file);
        self.occurrences.get(start..end).unwrap_or_default()
    }

    /// The occurrences at an offset, the shortest first. An offset right after a name counts.
    #[must_use]
    pub fn at(&self, file: FileId, offset: u32) -> Vec<Occurrence> {
        let all = self.in_file(file);
        let end = all.partition_point(|o| o.span.start <= offset);
        let before = all.get(..end).unwrap_or_default().iter().rev();
        // Names overlap only where one is part of another, so those that hold the offset are near.
        let mut found: Vec<Occurrence> =
            before.take(16).filter(|o| offset <= o.span.end).copied().collect();
        found.sort_by_key(|o| (o.span.end - o.span.start, o.role));
        found
    }
}
