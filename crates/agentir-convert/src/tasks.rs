//! Where what is left to do comes from: losses, findings of the import and of a check of the output, data to be loaded.

use crate::fidelity::Report;
use crate::todo::{Place, Todo, shortened};
use agentir_diagnostics::{Diagnostic, Severity, SourceMap, Span};
use agentir_ir::{Program, ToolType};
use agentir_syntax::emit::{
    Invented, InventedAt, OutputFile, Remark, Task, knowledge_of, table_of,
};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::cmp::Reverse;

/// The number of places that are listed for one thing to do; the others are counted.
const MAX_PLACES: usize = 20;

/// A value in a line.
fn line_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => shortened(&text.split_whitespace().collect::<Vec<_>>().join(" ")),
        value => shortened(&value.to_string()),
    }
}

/// The agent that a path leads into.
fn agent_of(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("agents.")?;
    rest.get(..rest.find(['.', '['])?)
}

/// What the losses of a report on a program leave to do.
///
/// Nothing is quoted from an export: what its import took out of a value is still in its text, whatever that looks like.
pub(crate) fn of_losses(
    report: &Report,
    (program, sources): (&Program, &SourceMap),
    outputs: &SourceMap,
) -> Vec<Todo> {
    let is_authored = program.dialect().traits().is_authored;
    type Key<'r> = (Task, Option<&'r str>, &'r str, Option<&'r str>, Option<&'r str>);
    let mut all: IndexMap<Key<'_>, Todo> = IndexMap::new();
    for entry in report.losses() {
        let task = entry.task.unwrap_or(Task::Look);
        let agent = agent_of(&entry.path);
        let how = entry.how.as_deref().unwrap_or_default();
        let key = (task, agent, how, entry.help.as_deref(), entry.snippet.as_deref());
        let todo = all.entry(key).or_insert_with(|| Todo {
            agent: agent.map(str::to_owned),
            help: entry.help.clone(),
            snippet: entry.snippet.clone(),
            count: 0,
            ..Todo::new(task, how)
        });
        todo.count += 1;
        if todo.places.len() < MAX_PLACES {
            let [at, there] = entry.spans;
            let mut place = Place::new(Some(&entry.path), (sources, at), (outputs, there));
            if !is_authored {
                place.source_text = line_of(&entry.value);
            }
            todo.places.push(place);
        }
    }
    let mut all: Vec<Todo> = all.into_values().collect();
    all.sort_by_key(|todo| Reverse(todo.task));
    all
}

/// What findings of the import leave to do: nobody but an author can supply what is not in the export. In the output, each
/// is where what to write is mentioned, or what stands there in the source.
pub(crate) fn of_import(
    found: &[Diagnostic],
    report: &Report,
    sources: &SourceMap,
    outputs: &SourceMap,
) -> Vec<Todo> {
    let mut written: Vec<(Span, Span, &str)> = Vec::new();
    for entry in &report.entries {
        if let [Some(at), Some(there)] = entry.spans {
            written.push((at, there, &entry.path));
        }
    }
    written.sort_unstable_by_key(|(at, ..)| (at.file, at.start));
    let there = |at: Span| {
        let start =
            written.partition_point(|(one, ..)| (one.file, one.start) < (at.file, at.start));
        let (here, place, path) = written.get(start)?;
        (here.file == at.file && here.start < at.end.max(at.start + 1)).then_some((*place, *path))
    };
    let all = found.iter().map(|one| {
        let at = one.primary.span;
        let (there, path) = there(at).unzip();
        let snippet = one.help.as_deref().and_then(quoted);
        let there =
            snippet.as_deref().and_then(|text| mentioned(outputs, text.trim_end())).or(there);
        let mut place = Place::new(None, (sources, Some(at)), (outputs, there));
        place.source_text = None;
        Todo {
            snippet,
            agent: path.and_then(agent_of).map(str::to_owned),
            ..of_finding(one, Task::Must, place)
        }
    });
    grouped(all)
}

/// What a check of the output found. `agents` are those that a file has.
pub(crate) fn of_check(
    found: &[Diagnostic],
    checked: &SourceMap,
    agents: &FxHashMap<&str, Vec<&str>>,
) -> Vec<Todo> {
    let none = SourceMap::default();
    let all = found.iter().map(|one| {
        let at = one.primary.span;
        let task = if one.severity == Severity::Error { Task::Must } else { Task::Look };
        let place = Place::new(None, (&none, None), (checked, Some(at)));
        let here = checked.get(at.file).and_then(|file| agents.get(&*file.name));
        let agent = match here.map(Vec::as_slice) {
            Some([one]) => Some((*one).to_owned()),
            _ => None,
        };
        Todo { agent, ..of_finding(one, task, place) }
    });
    grouped(all)
}

fn of_finding(one: &Diagnostic, task: Task, place: Place) -> Todo {
    Todo {
        rule: Some(one.rule.0),
        help: one.help.clone(),
        places: vec![place],
        ..Todo::new(task, one.message.clone())
    }
}

/// The last thing that a text quotes, if it is more than a name: what to write.
fn quoted(help: &str) -> Option<String> {
    let text = help.split('`').enumerate().filter(|(at, _)| at % 2 == 1).map(|(_, text)| text);
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    text.last().filter(|text| !is_name(text)).map(|text| format!("{text}\n"))
}

/// One thing to do for all findings that say the same.
fn grouped(all: impl Iterator<Item = Todo>) -> Vec<Todo> {
    type Key = (Task, Option<String>, Option<&'static str>, String, Option<String>);
    let mut groups: IndexMap<Key, Todo> = IndexMap::new();
    for one in all {
        let key = (one.task, one.agent.clone(), one.rule, one.cause.clone(), one.help.clone());
        match groups.get_mut(&key) {
            Some(group) => {
                group.count += 1;
                if group.places.len() < MAX_PLACES {
                    group.places.extend(one.places);
                }
            }
            None => {
                groups.insert(key, one);
            }
        }
    }
    groups.into_values().collect()
}

/// What the emitter invented, each where it is declared.
pub(crate) fn of_invented(all: &[Invented], program: &Program, outputs: &SourceMap) -> Vec<Todo> {
    let none = SourceMap::default();
    let place = |at: Span| Place::new(None, (&none, None), (outputs, Some(at)));
    let mut declared: FxHashMap<&str, Vec<Span>> = FxHashMap::default();
    for tool in program.tools() {
        declared.entry(&tool.name.value).or_default().push(tool.name.span);
    }
    let todo = |one: &Invented| {
        let spans = match &one.at {
            InventedAt::Tool(name) => declared.get(name.as_str()).cloned().unwrap_or_default(),
            InventedAt::Text(text) => mentioned(outputs, text).into_iter().collect(),
        };
        Todo {
            help: Some(one.help.clone()),
            snippet: (!one.snippet.is_empty()).then(|| one.snippet.clone()),
            count: spans.len().max(1),
            places: spans.into_iter().take(MAX_PLACES).map(place).collect(),
            ..Todo::new(Task::Must, one.cause.clone())
        }
    };
    all.iter().map(todo).collect()
}

/// What is to be known of how agents were written, each at its agent.
pub(crate) fn of_remarks(all: &[Remark], program: &Program, outputs: &SourceMap) -> Vec<Todo> {
    let none = SourceMap::default();
    let todo = |one: &Remark| {
        let mut agents = program.agents().map(|agent| &agent.metadata.name);
        let at = agents.find(|name| *name.value == *one.agent).map(|name| name.span);
        Todo {
            agent: Some(one.agent.clone()),
            help: Some(one.help.clone()),
            places: vec![Place::new(None, (&none, None), (outputs, at))],
            ..Todo::new(Task::Look, one.cause.clone())
        }
    };
    all.iter().map(todo).collect()
}

/// Where a text first is in the output.
pub(crate) fn mentioned(outputs: &SourceMap, text: &str) -> Option<Span> {
    outputs.iter().find_map(|(id, file)| {
        let start = u32::try_from(file.text.find(text)?).ok()?;
        Some(Span::new(id, start, start))
    })
}

/// What the output itself leaves to do: data to be loaded, and tools that nothing says how to reach.
pub(crate) fn of_output(files: &[OutputFile], program: &Program, outputs: &SourceMap) -> Vec<Todo> {
    let none = SourceMap::default();
    let mut all = Vec::new();
    for file in files {
        let place = |at: Option<Span>| vec![Place::new(None, (&none, None), (outputs, at))];
        if let Some(base) = knowledge_of(&file.path) {
            let tool = program.tools().find(|tool| tool.knowledge_base() == Some(base));
            all.push(Todo {
                help: Some(format!("load `{}` into the knowledge base `{base}`", file.path)),
                snippet: Some(format!("kb_name: {}\n", Value::from(base))),
                places: place(tool.map(|tool| tool.name.span)),
                ..Todo::new(Task::Must, "questions and answers belong to a knowledge base")
            });
        } else if let Some(table) = table_of(&file.path) {
            let mut own = program.agents().flat_map(|agent| agent.lookup_tables.values());
            let own = own.find(|own| own.collection() == Some(table));
            all.push(Todo {
                help: Some(format!("load `{}` into the collection `{table}`", file.path)),
                snippet: Some(format!("table: {}\n", Value::from(table))),
                places: place(own.map(|own| own.name.span)),
                ..Todo::new(Task::Must, "the rows of a long table belong to a collection")
            });
        }
    }
    for tool in program.tools() {
        let reached = tool.binding.iter().any(|binding| binding.0.contains_key("endpoint"));
        if tool.tool_type == Some(ToolType::Http) && !reached {
            let name = &tool.name;
            let place = Place::new(None, (&none, None), (outputs, Some(name.span)));
            all.push(Todo {
                help: Some(format!("say where `{name}` is called")),
                snippet: Some("endpoint: \"https://service.example\"\nmethod: POST\n".to_owned()),
                places: vec![place],
                ..Todo::new(Task::Must, format!("the tool `{name}` has no address"))
            });
        }
    }
    all
}
