//! Tables whose rows are files of their own: collections of the project whose rows are known. In what comes from other
//! languages, a long table that several agents look values up in becomes one: agents declare their own, so that it would be
//! written once for each of them.

use crate::dialect;
use agentir_diagnostics::Spanned;
use agentir_ir::{LookupTable, Program};
use agentir_syntax::emit::{
    NameSyntax, Namespace, OutputFile, file_stem, is_data_path, table_path, table_to_csv,
};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::borrow::Cow;

/// How many entries a table has that is written once for all agents.
const MIN_ENTRIES: usize = 20;

fn is_long(table: &LookupTable) -> bool {
    let entries = table.map.as_ref().and_then(|map| map.as_object()).map(|map| map.len());
    let inline = matches!(table.source, None | Some("inline"));
    inline && entries.unwrap_or(table.values.len()) >= MIN_ENTRIES
}

/// The program without the rows of collections, and the files of those.
pub(super) fn collections(program: &Program) -> (Cow<'_, Program>, Vec<OutputFile>) {
    // What is ABL keeps its form.
    let program = match program.dialect() == dialect::ABL {
        true => Cow::Borrowed(program),
        false => with_shared(program),
    };
    let rows = |table: &LookupTable| {
        let path = table_path(table.collection().filter(|_| table.has_rows())?);
        Some(OutputFile { path, text: table_to_csv(table)? })
    };
    // A name may be no name of a file.
    let rows = |table: &LookupTable| rows(table).filter(|file| is_data_path(&file.path));
    let all = program.agents().flat_map(|agent| agent.lookup_tables.values());
    let mut files: Vec<OutputFile> = Vec::new();
    for file in all.filter_map(rows) {
        // Rows that others of the name do not have stay with their agent.
        if files.iter().all(|known| known.path != file.path) {
            files.push(file);
        }
    }
    if files.is_empty() {
        return (program, files);
    }
    let mut program = program.into_owned();
    for agent in program.agents_mut() {
        for table in agent.lookup_tables.values_mut() {
            if rows(table).is_some_and(|file| files.contains(&file)) {
                table.map = None;
                table.values = Vec::new();
            }
        }
    }
    (Cow::Owned(program), files)
}

/// The program with the long tables that several agents have as collections.
fn with_shared(program: &Program) -> Cow<'_, Program> {
    // How many agents have a table, by its content.
    let mut users: FxHashMap<String, usize> = FxHashMap::default();
    let all = program.agents().flat_map(|agent| agent.lookup_tables.values());
    for content in all.filter(|table| is_long(table)).filter_map(table_to_csv) {
        *users.entry(content).or_default() += 1;
    }
    users.retain(|_, count| *count > 1);
    if users.is_empty() {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    let mut names: FxHashMap<String, String> = FxHashMap::default();
    let mut stems = Namespace::of(NameSyntax::Any);
    for agent in program.agents_mut() {
        for table in agent.lookup_tables.values_mut().filter(|table| is_long(table)) {
            let content = table_to_csv(table).filter(|content| users.contains_key(content));
            let Some(content) = content else { continue };
            let name = names
                .entry(content)
                .or_insert_with(|| stems.claim(&[&file_stem(&table.name.value)]).to_string());
            table.table_name = Some(Spanned::new(SmolStr::new(&*name), table.name.span));
            table.source = Some("collection");
        }
    }
    Cow::Owned(program)
}
