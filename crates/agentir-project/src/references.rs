//! References to agents by the path of their document (supervisor reference, "Agent references": `REF` is the "file
//! path to the agent's ABL definition").

use agentir_diagnostics::{FileId, Spanned};
use agentir_expr::Name;
use agentir_ir::{Agent, AgentReference, Program};
use std::collections::HashMap;
use std::path::{Component, Path};
use std::sync::Arc;

/// Names the agents that supervisors refer to by a path alone: those that the document at the path defines, if that is
/// one agent. A path is relative to the supervisor's document or to a folder above it. What a reader has taken from
/// the name of the file is a guess, which the document overrides.
pub(crate) fn resolve(program: &mut Program, documents: &[(FileId, &Path)]) {
    let is_by_path = |reference: &AgentReference| match (&reference.agent, &reference.file) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(agent), Some(file)) => agent.span == file.span,
    };
    if !program.agents().any(|agent| agent.available_agents.iter().any(is_by_path)) {
        return;
    }
    // The only agent of each document.
    let mut defined: HashMap<FileId, Option<Name>> = HashMap::new();
    for agent in program.agents() {
        let name = &agent.metadata.name;
        let only = defined.entry(name.span.file).or_insert_with(|| Some(name.value.clone()));
        if only.as_ref() != Some(&name.value) {
            *only = None;
        }
    }
    let paths = documents
        .iter()
        .filter_map(|(file, path)| Some((components(path)?, defined.get(file)?.clone()?)));
    let paths: HashMap<Vec<&str>, Name> = paths.collect();
    let folders: HashMap<FileId, Vec<&str>> = documents
        .iter()
        .filter_map(|(file, path)| Some((*file, components(path.parent()?)?)))
        .collect();
    let by_path = |agent: &&mut Arc<Agent>| agent.available_agents.iter().any(is_by_path);
    for agent in program.agents.iter_mut().filter(by_path).map(Arc::make_mut) {
        let Some(folder) = folders.get(&agent.metadata.name.span.file) else { continue };
        for reference in agent.available_agents.iter_mut().filter(|r| is_by_path(r)) {
            let Some(file) = &reference.file else { continue };
            let written = file.value.replace('\\', "/");
            let found = (0..=folder.len()).rev().find_map(|depth| {
                let mut path = folder.get(..depth)?.to_vec();
                follow(&mut path, &written)?;
                paths.get(&path)
            });
            if let Some(name) = found {
                reference.agent = Some(Spanned::new(name.clone(), file.span));
            }
        }
    }
}

/// The parts of a path, without `.` and with `..` resolved as far as names are known; none if one of them is no text.
fn components(path: &Path) -> Option<Vec<&str>> {
    let mut all = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => all.push(part.to_str()?),
            Component::ParentDir => {
                if all.last().is_none_or(|last| *last == "..") {
                    all.push("..");
                } else {
                    all.pop();
                }
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(all)
}

/// Goes on from a folder by a relative path.
fn follow<'t>(folder: &mut Vec<&'t str>, path: &'t str) -> Option<()> {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(folder.pop()?),
            part => folder.push(part),
        }
    }
    Some(())
}
