//! No language.

use super::{
    Dialect, DialectTables, Entry, Equality, Functions, Logic, Ordering, Remainder, RuntimeNames,
    Semantics, Tools, Traits, Unset,
};
use crate::infer::Coercion;

/// What an empty program is written in. It has no constructs, and its expressions, of which there are none,
/// convert nothing. Nothing that was read has this dialect.
pub const NONE: Dialect = Dialect::new(&TABLES);

static TABLES: DialectTables = DialectTables {
    id: "none",
    title: "no language",
    semantics: Semantics {
        false_text_is_falsy: false,
        equality: Equality::Strict,
        has_dates: false,
        ordering: Ordering::ByType,
        unset_number: Unset::Error,
        unset_member: Unset::Error,
        logic: Logic::Boolean,
        remainder: Remainder::Dividend,
        error_is_false: false,
        unset_text: "",
        false_text: "false",
        true_text: "true",
    },
    coercion: Coercion::ANY,
    runtime: RuntimeNames::NONE,
    functions: Functions::Listed(&[]),
    reserved_words: &[],
    uncompiled_assignments: &[],
    traits: Traits {
        is_authored: false,
        entry: Entry::Found,
        closed_programs: false,
        agents_are_declared: false,
        shared_variables: false,
        arguments_are_variables: false,
        reads_other_agents: false,
        namespaced_references: false,
        enforces_types: false,
        unique_declarations: false,
        unset_is_a_value: false,
        model_sees_memory: false,
        tools: Tools::Declared,
        results_may_be_steps: false,
        hides_outputs: false,
        model_acts_by_tools: false,
        implicit_routing: false,
        queries_all_knowledge: false,
        sessions_expire: false,
        arguments_have_placeholders: false,
        fallback: None,
        restart_setting: &[],
    },
    redundant_extensions: &[],
    extension_words: &[],
    program_name: None,
    open_references: None,
    constructs: &[],
    vocabularies: &[],
};
