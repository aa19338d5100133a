//! Tools that several dialogs use become a library of the project, which has each of them once.

use super::dialog::merge_extensions;
use agentir_ir::{Agent, Tool};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// Takes the tools that several agents declare alike out of them, and makes them use the library's. What the export says
/// of a tool in the other places stays with the agents.
pub(super) fn tools(agents: &mut [Agent]) -> Vec<Tool> {
    // The declarations of each name: how many there are, and whether all are alike.
    let mut declared: FxHashMap<SmolStr, (String, usize, bool)> = FxHashMap::default();
    for tool in agents.iter().flat_map(|agent| &agent.tools) {
        let text = declaration(tool);
        declared
            .entry(tool.name.value.clone())
            .and_modify(|(first, count, alike)| {
                *count += 1;
                *alike &= *first == text;
            })
            .or_insert((text, 1, true));
    }
    let mut library: Vec<Tool> = Vec::new();
    let mut taken: FxHashSet<SmolStr> = FxHashSet::default();
    for agent in agents {
        let own = std::mem::take(&mut agent.tools);
        for mut tool in own {
            let is_shared = declared
                .get(&tool.name.value)
                .is_some_and(|(_, count, alike)| *count > 1 && *alike);
            if !is_shared {
                agent.tools.push(tool);
                continue;
            }
            agent.use_tools.push(tool.name.clone());
            if taken.insert(tool.name.value.clone()) {
                library.push(tool);
            } else {
                merge_extensions(&mut agent.extensions, std::mem::take(&mut tool.extensions));
            }
        }
    }
    library
}

/// What a tool is, apart from where it stands in the export.
fn declaration(tool: &Tool) -> String {
    let parameters: Vec<String> = tool
        .parameters
        .iter()
        .map(|p| {
            let ty = p.ty.as_ref().map(ToString::to_string);
            format!("{} {ty:?} {}", p.name.value, p.required)
        })
        .collect();
    let binding = tool.binding.as_ref().map(|binding| serde_json::to_string(&binding.0));
    let description = tool.description.as_ref().map(|d| d.text.value.as_str());
    let auth = tool.auth_profile_ref.as_ref().map(|a| a.value.as_str());
    let effects = tool.hints.side_effects;
    format!("{:?} {parameters:?} {binding:?} {description:?} {auth:?} {effects:?}", tool.tool_type)
}
