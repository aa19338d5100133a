//! Exports of Kore.ai's XO platform, which are imported.

use super::{Dialect, DialectTables, Functions, Traits, abl};
use crate::infer::Coercion;
use crate::system::SYSTEM_VARIABLES;

/// Exports of Kore.ai's XO platform. The import writes expressions in the notation of ABL and gives agents
/// its behaviour; nobody writes an export by hand.
pub const XO: Dialect = Dialect::new(&TABLES);

static TABLES: DialectTables = DialectTables {
    id: "kore-xo",
    title: "Kore.ai XO",
    semantics: abl::SEMANTICS,
    coercion: Coercion::ABL,
    system_variables: SYSTEM_VARIABLES,
    functions: Functions::Library,
    reserved_words: &[],
    traits: Traits { is_authored: false, ..abl::TRAITS },
    redundant_extensions: &[],
    open_references: None,
    constructs: &[],
    vocabularies: abl::VOCABULARIES,
};
