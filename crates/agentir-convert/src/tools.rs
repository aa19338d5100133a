//! Tools of equal names in several agents, for targets whose agents share all tools.

use agentir_diagnostics::{SourceMap, Span};
use agentir_expr::Name;
use agentir_ir::{Agent, NamedThing, Program, Tool};
use agentir_ir_json::{Mode, to_value};
use agentir_syntax::emit::{NameSyntax, Namespace, OutputFile, Renamed, Target};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The files with the functions of a program whose output is of the same language, as they are: nothing but their
/// signatures is in the IR. `None` if the program has no such files, if they are not part of `sources`, or if the output
/// calls a function otherwise.
pub(crate) fn own_code(
    program: &Program,
    sources: &SourceMap,
    target: Target,
    renamed: &[Renamed],
) -> Option<Vec<OutputFile>> {
    target.code_file().filter(|_| program.dialect() == target.dialect())?;
    // A document of AgentIR has nothing but the signatures.
    if crate::is_document(program) {
        return None;
    }
    if renamed.iter().any(|one| one.what == "tool") {
        return None;
    }
    let agents = sources.get(program.agents().next()?.metadata.name.span.file)?;
    let folder =
        agents.name.rfind(['/', '\\']).map_or("", |at| agents.name.get(..=at).unwrap_or(""));
    let own = program.libraries.iter().filter(|library| library.dialect == target.dialect());
    let mut files: Vec<OutputFile> = Vec::new();
    for library in own {
        let file = sources.get(library.span.file).filter(|_| library.span != Span::default())?;
        let name = file.name.strip_prefix(folder).unwrap_or(&file.name).replace('\\', "/");
        let is_below = !name.starts_with('/')
            && !name.split('/').any(|part| part == ".." || part.ends_with(':'));
        let path = if is_below { name } else { name.rsplit('/').next()?.to_owned() };
        if files.iter().any(|known| known.path == path) {
            return None;
        }
        files.push(OutputFile { path, text: file.text.to_string() });
    }
    (!files.is_empty()).then_some(files)
}

/// The program with one name for each tool: where agents or libraries declare different tools of one name, all but the
/// first get names of their own.
pub(crate) fn with_distinct_names(program: &Program) -> (Cow<'_, Program>, Vec<Renamed>) {
    let own = program.agents().flat_map(|agent| &agent.tools);
    let shared = program.libraries.iter().flat_map(|library| &library.tools);
    // The tools of each name, as they are declared.
    let mut declared: FxHashMap<&str, Vec<Value>> = FxHashMap::default();
    for tool in own.chain(shared) {
        let all = declared.entry(&tool.name.value).or_default();
        let this = to_value(tool, Mode::Plain);
        if !all.contains(&this) {
            all.push(this);
        }
    }
    declared.retain(|_, all| all.len() > 1);
    if declared.is_empty() {
        return (Cow::Borrowed(program), Vec::new());
    }
    let mut result = program.clone();
    let mut taken: BTreeSet<Name> = BTreeSet::new();
    result.names_mut(&mut |_, name| {
        taken.insert(name.clone());
    });
    let mut names = Namespace::of(NameSyntax::Any);
    for name in &taken {
        names.claim(&[name]);
    }
    let mut ambiguous: Vec<_> = declared.iter().collect();
    ambiguous.sort_by_key(|(name, _)| **name);
    // The names of all but the first of each name.
    let others: FxHashMap<(String, usize), String> = ambiguous
        .into_iter()
        .flat_map(|(name, all)| (1..all.len()).map(move |at| (*name, at)))
        .map(|(name, at)| ((name.to_owned(), at), names.claim(&[name]).to_string()))
        .collect();
    let name_of = |tool: &Tool| {
        let name = tool.name.value.as_str();
        let this = to_value(tool, Mode::Plain);
        let at = declared.get(name)?.iter().position(|one| *one == this)?;
        others.get(&(name.to_owned(), at))
    };
    let mut renamed = Vec::new();
    // What the first library that has it calls it now.
    let mut of_libraries: FxHashMap<String, Option<String>> = FxHashMap::default();
    for library in &mut result.libraries {
        for tool in &mut Arc::make_mut(library).tools {
            let (from, new) = (tool.name.value.to_string(), name_of(tool).cloned());
            if let Some(to) = &new {
                tool.name.value = to.as_str().into();
                let agent = Some("library".to_owned());
                renamed.push(Renamed { what: "tool", from: from.clone(), to: to.clone(), agent });
            }
            of_libraries.entry(from).or_insert(new);
        }
    }
    for agent in &mut result.agents {
        let own: FxHashMap<String, Option<String>> = agent
            .tools
            .iter()
            .map(|tool| (tool.name.value.to_string(), name_of(tool).cloned()))
            .collect();
        let shared = of_libraries.iter().filter(|(name, _)| !own.contains_key(*name));
        let new: BTreeMap<String, String> = own
            .iter()
            .chain(shared)
            .filter_map(|(from, to)| Some((from.clone(), to.clone()?)))
            .collect();
        if !new.is_empty() {
            rename(Arc::make_mut(agent), &new, &mut renamed);
        }
    }
    (Cow::Owned(result), renamed)
}

/// Renames tools in one agent.
fn rename(agent: &mut Agent, new: &BTreeMap<String, String>, renamed: &mut Vec<Renamed>) {
    let mut found = BTreeSet::new();
    agent.names_mut(&mut |what, name| {
        if what == NamedThing::Tool
            && let Some((from, to)) = new.get_key_value(name.as_str())
        {
            *name = to.as_str().into();
            found.insert((from, to));
        }
    });
    let agent = agent.metadata.name.value.to_string();
    renamed.extend(found.into_iter().map(|(from, to)| Renamed {
        what: "tool",
        from: from.clone(),
        to: to.clone(),
        agent: Some(agent.clone()),
    }));
}
