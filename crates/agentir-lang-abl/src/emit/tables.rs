//! Tables that several agents look values up in. Agents declare their own, so that a table would be written once for each
//! of them; a long one is a collection of the project instead, which they name.

use agentir_diagnostics::Spanned;
use agentir_ir::{LookupTable, Program};
use agentir_syntax::emit::{
    NameSyntax, Namespace, OutputFile, file_stem, table_path, table_to_csv,
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

/// The program with the long tables that several agents have as collections, and the files of those.
pub(super) fn shared(program: &Program) -> (Cow<'_, Program>, Vec<OutputFile>) {
    // How many agents have a table, by its content.
    let mut users: FxHashMap<String, usize> = FxHashMap::default();
    let all = program.agents().flat_map(|agent| agent.lookup_tables.values());
    for content in all.filter(|table| is_long(table)).filter_map(table_to_csv) {
        *users.entry(content).or_default() += 1;
    }
    users.retain(|_, count| *count > 1);
    if users.is_empty() {
        return (Cow::Borrowed(program), Vec::new());
    }
    let mut program = program.clone();
    let mut files: Vec<OutputFile> = Vec::new();
    let mut names: FxHashMap<String, String> = FxHashMap::default();
    let mut stems = Namespace::of(NameSyntax::Any);
    for agent in program.agents_mut() {
        for table in agent.lookup_tables.values_mut().filter(|table| is_long(table)) {
            let content = table_to_csv(table).filter(|content| users.contains_key(content));
            let Some(content) = content else { continue };
            let name = names.entry(content).or_insert_with_key(|content| {
                let stem = stems.claim(&[&file_stem(&table.name.value)]).to_string();
                files.push(OutputFile { path: table_path(&stem), text: content.clone() });
                stem
            });
            table.table_name = Some(Spanned::new(SmolStr::new(&*name), table.name.span));
            table.source = Some("collection");
            table.map = None;
            table.values = Vec::new();
        }
    }
    (Cow::Owned(program), files)
}
