//! Tools of type `table`: reading what is written in the program. They change nothing, so they always
//! answer.

use crate::template;
use agentir_ir::{Agent, LookupTable, Tool, ToolType};
use agentir_runtime::entry_of;
use serde_json::{Map, Value as Json};

/// The answer of a table, if the tool has one that is written in the program: rows of the tool's own
/// (`table: [{…}]`), or a lookup table of the agent by its name (ABL, current specification, 3.5.2).
///
/// Rows are answered if they have all arguments as fields of equal value. A map answers the value of
/// its key; a list of values answers the one that is asked for; both by the lookup that fields have. What is not found is
/// null. The rows of a collection are
/// known if they lie beside the program (`tables/NAME.csv`).
pub(crate) fn answer(
    tool: &Tool,
    agent: Option<&Agent>,
    arguments: &Map<String, Json>,
) -> Option<Json> {
    match tool.binding.as_ref()?.0.get("table")? {
        Json::Array(rows) => {
            let fits = |row: &&Json| {
                arguments.iter().all(|(name, value)| {
                    row.get(name).is_some_and(|field| {
                        template::value_text(field) == template::value_text(value)
                    })
                })
            };
            Some(rows.iter().filter(fits).cloned().collect())
        }
        Json::String(name) => look_up(agent?.lookup_tables.get(name.as_str())?, arguments),
        _ => None,
    }
}

/// Whether the rows of a table are written in the tool.
pub(crate) fn has_rows(tool: &Tool) -> bool {
    let rows = tool.binding.as_ref().and_then(|binding| binding.0.get("table"));
    tool.tool_type == Some(ToolType::Table) && matches!(rows, Some(Json::Array(_)))
}

fn look_up(table: &LookupTable, arguments: &Map<String, Json>) -> Option<Json> {
    if table.source == Some("api") || table.source == Some("collection") && !table.has_rows() {
        return None;
    }
    let wanted = template::value_text(arguments.values().next()?);
    let entry = entry_of(table, wanted.trim());
    let found = match &table.map {
        Some(Json::Object(map)) => entry.and_then(|key| map.get(key)).cloned(),
        Some(_) => return None,
        None => entry.map(Json::from),
    };
    Some(found.unwrap_or_default())
}
