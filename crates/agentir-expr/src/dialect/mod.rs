//! Dialects: the languages that agents are written in, as data. Each language has its tables; here are their types.
//!
//! Whoever needs to know how a language behaves asks a [`Dialect`] for one of its tables: how values
//! are computed ([`Semantics`]), how agents behave ([`Traits`]), which constructs authors write
//! ([`Construct`]), how things are called in messages ([`Vocabulary`]). Nobody asks which language it is.

mod assignments;
mod constructs;
mod none;
mod runtime;
mod semantics;
mod traits;
mod vocabulary;

pub use assignments::UncompiledForm;
pub use constructs::Construct;
pub use none::NONE;
pub use runtime::{Namespace, ReferenceSpace, Referent, RuntimeNames, SystemVariable};
pub use semantics::{Equality, Logic, Ordering, Remainder, Semantics, Unset};
pub use traits::{Entry, FallbackPolicy, Tools, Traits};
pub use vocabulary::{Keyword, Notation, Nouns, Phrase, Vocabulary};

use crate::infer::Coercion;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A language that agents are written in: a handle to its tables. Two handles are equal if their ids are.
#[derive(Clone, Copy)]
pub struct Dialect(&'static DialectTables);

/// The tables of a dialect. Nothing has a default, so a new language has to answer every question.
#[derive(Debug)]
pub struct DialectTables {
    /// Its name in data: in `metadata.dialect` and in the extensions of AgentIR.
    pub id: &'static str,
    /// Its name in messages.
    pub title: &'static str,
    /// How values are computed.
    pub semantics: Semantics,
    /// Which conversions fail.
    pub coercion: Coercion,
    /// The names that its runtime owns.
    pub runtime: RuntimeNames,
    /// The functions that expressions call.
    pub functions: Functions,
    /// Words that cannot be names of variables.
    pub reserved_words: &'static [&'static str],
    /// The forms of assignments that the vendor's compiler does not compile.
    pub uncompiled_assignments: &'static [UncompiledForm],
    /// How its agents behave.
    pub traits: Traits,
    /// Entries of an agent's extensions that repeat what fields of AgentIR say.
    pub redundant_extensions: &'static [&'static str],
    /// Entries of an agent's extensions that emitters read, with the words that they may be.
    pub extension_words: &'static [(&'static str, &'static [&'static str])],
    /// The entry of a program's extensions that has its name.
    pub program_name: Option<&'static str>,
    /// The entry of an agent's extensions, and its value, with which references and functions need no
    /// declarations.
    pub open_references: Option<(&'static str, &'static str)>,
    /// The constructs that authors write in it.
    pub constructs: &'static [Construct],
    /// How things are called, by notation. The first one is the usual one.
    pub vocabularies: &'static [Vocabulary],
}

/// The functions that expressions of a dialect call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Functions {
    /// Those of [`functions`](crate::functions), by version.
    Library,
    /// These.
    Listed(&'static [&'static str]),
}

impl Dialect {
    /// The dialect with these tables.
    #[must_use]
    pub const fn new(tables: &'static DialectTables) -> Self {
        Self(tables)
    }

    /// Its tables.
    #[must_use]
    pub const fn tables(self) -> &'static DialectTables {
        self.0
    }

    /// Its name in data.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.0.id
    }

    /// Its name in messages.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// How values are computed.
    #[must_use]
    pub const fn semantics(self) -> &'static Semantics {
        &self.0.semantics
    }

    /// Which conversions fail.
    #[must_use]
    pub const fn coercion(self) -> &'static Coercion {
        &self.0.coercion
    }

    /// The names that its runtime owns.
    #[must_use]
    pub const fn runtime(self) -> &'static RuntimeNames {
        &self.0.runtime
    }

    /// The functions that expressions call.
    #[must_use]
    pub const fn functions(self) -> Functions {
        self.0.functions
    }

    /// Words that cannot be names of variables.
    #[must_use]
    pub const fn reserved_words(self) -> &'static [&'static str] {
        self.0.reserved_words
    }

    /// The forms of assignments that the vendor's compiler does not compile.
    #[must_use]
    pub const fn uncompiled_assignments(self) -> &'static [UncompiledForm] {
        self.0.uncompiled_assignments
    }

    /// How its agents behave.
    #[must_use]
    pub const fn traits(self) -> &'static Traits {
        &self.0.traits
    }

    /// Entries of an agent's extensions that emitters read, with the words that they may be.
    #[must_use]
    pub const fn extension_words(self) -> &'static [(&'static str, &'static [&'static str])] {
        self.0.extension_words
    }

    /// Entries of an agent's extensions that repeat what fields of AgentIR say.
    #[must_use]
    pub const fn redundant_extensions(self) -> &'static [&'static str] {
        self.0.redundant_extensions
    }

    /// The entry of a program's extensions that has its name.
    #[must_use]
    pub const fn program_name(self) -> Option<&'static str> {
        self.0.program_name
    }

    /// The entry of an agent's extensions, and its value, with which references and functions need no
    /// declarations.
    #[must_use]
    pub const fn open_references(self) -> Option<(&'static str, &'static str)> {
        self.0.open_references
    }

    /// Whether authors write this construct in it.
    #[must_use]
    pub fn has(self, construct: Construct) -> bool {
        self.0.constructs.contains(&construct)
    }

    /// Whether expressions have the same value in both.
    #[must_use]
    pub fn computes_like(self, other: Self) -> bool {
        self == other || self.semantics() == other.semantics()
    }

    /// How things are called in a file with this notation.
    #[must_use]
    pub fn vocabulary(self, notation: Notation) -> &'static Vocabulary {
        if notation == Notation::Json {
            return &vocabulary::JSON;
        }
        let all = self.0.vocabularies;
        let own = all.iter().find(|vocabulary| vocabulary.notation == notation);
        own.or(all.first()).unwrap_or(&vocabulary::PLAIN)
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0) || self.id() == other.id()
    }
}

impl Eq for Dialect {}

impl Hash for Dialect {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dialect").field(&self.id()).finish()
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

impl serde::Serialize for Dialect {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}
