//! Documents: a whole program, or one agent.

use crate::reader::Parsers;
use crate::reader::Reader;
use crate::words::VERSIONS;
use agentir_diagnostics::{Diagnostic, FileId, Span, closest};
use agentir_expr::dialect::NONE;
use agentir_expr::{Dialect, Name};
use agentir_ir::{Agent, CompilationOutput, ExecutionHints, Program, Remote};
use agentir_syntax::json::{self, Format, Json as Node, Kind, Member};
use agentir_syntax::lower::{declare_missing_effects, too_many_agents};
use agentir_syntax::misspelled::unknown_field;
use agentir_syntax::{Origin, rules};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A document that was read.
#[derive(Debug, Default)]
pub struct Document {
    /// What it describes.
    pub program: Program,
    /// Where parts of it were written before they were JSON.
    pub origins: Vec<Origin>,
    /// The objects and arrays that could not be read, so that what is absent may have been there.
    pub gaps: Vec<Span>,
    /// The keys and single values of objects a value of which could not be read: they may have what they seem to lack.
    pub partial: Vec<Span>,
    /// The location of the error that ended the reading, if it did not come to the end.
    pub stopped: Option<Span>,
}

/// Bodies in bodies need two levels each, so that this is more than fifty of them.
const FORMAT: Format = Format {
    max_depth: 128,
    max_values: 400_000,
    object_values: 3,
    depth_note: "AgentIR of real agents has far fewer than 128 levels",
    help: "check the program that wrote this file",
};

/// Whether a file is called as AgentIR is.
#[must_use]
pub fn is_agent_ir_name(name: &str) -> bool {
    name.ends_with(".ir.json")
}

/// Whether a file is AgentIR, by its name or its content: an object with the keys that every document has.
#[must_use]
pub fn is_agent_ir(name: &str, text: &str) -> bool {
    if is_agent_ir_name(name) {
        return true;
    }
    let has = |key: &str| text.contains(key);
    // Standard input has no extension.
    let may_be_json = || !name.contains('.') && text.trim_start().starts_with('{');
    (name.ends_with(".json") || may_be_json())
        && ((has("\"ir_version\"") && has("\"metadata\""))
            || (has("\"version\"") && has("\"agents\"") && has("\"metadata\"")))
}

/// Reads a document. Mistakes are reported at their location, and reading goes on.
pub fn read(
    file: FileId,
    text: &str,
    parsers: &Parsers,
    problems: &mut Vec<Diagnostic>,
) -> Document {
    let before = problems.len();
    let Some(root) = json::parse(file, text, &FORMAT, problems) else {
        let stopped = problems.get(before).map(|problem| problem.primary.span);
        return Document { stopped, ..Document::default() };
    };
    if let Some(problem) = control_character(file, text) {
        let stopped = Some(problem.primary.span);
        problems.push(problem);
        return Document { stopped, ..Document::default() };
    }
    let agents = root.get("agents").map_or(0, |agents| agents.members().len());
    if let Some(problem) = too_many_agents(file, agents) {
        let stopped = Some(problem.primary.span);
        problems.push(problem);
        return Document { stopped, ..Document::default() };
    }
    let whole = root.get("agents").is_some();
    if !whole && root.get("metadata").is_none() {
        let start = Span { end: root.span.start, ..root.span };
        let note =
            "a program has the keys `version` and `agents`, one agent `ir_version` and `metadata`";
        let meant = |key: &str| closest(key, ["agents", "metadata"]);
        let misspelled = root.members().iter().find_map(|m| Some((m.key_span, meant(&m.key)?)));
        let version = ["version", "ir_version"].iter().any(|key| root.get(key).is_some());
        problems.push(match misspelled.filter(|_| version) {
            Some((span, meant)) => {
                let message = format!("this is AgentIR only with the key `{meant}`");
                unknown_field(span, message, Some(meant)).note(note)
            }
            None => Diagnostic::error(rules::SYNTAX, start, "this JSON is not AgentIR")
                .note(note)
                .help("pass the output of `agentir compile`, or of a program that writes AgentIR"),
        });
        return Document { stopped: Some(start), ..Document::default() };
    }
    let of_whole = unsupported_version(&root, if whole { "version" } else { "ir_version" });
    let agents = root.get("agents").map_or(&[][..], Node::members).iter();
    let mut of_agents = agents
        .map(|agent| &agent.value)
        .filter(|agent| agent.get("ir_version").is_some())
        .filter_map(|agent| unsupported_version(agent, "ir_version"));
    if let Some(problem) = of_whole.or_else(|| of_agents.next()) {
        let stopped = Some(problem.primary.span);
        problems.push(problem);
        return Document { stopped, ..Document::default() };
    }
    let mut reader = Reader::new(root.span, first_dialect(&root, parsers), parsers, problems);
    let program =
        if whole { read_program(&root, &mut reader) } else { read_agent(&root, &mut reader) };
    let (origins, gaps, partial) = (reader.origins, reader.gaps, reader.partial);
    let mut program = program.unwrap_or_default();
    declare_effects(&mut program);
    derive_hints(&root, &mut program);
    program.complete &= gaps.is_empty();
    Document { program, origins, gaps, partial, stopped: None }
}

/// Refuses control characters in strings, which JSON has only as escapes, and the one that no text has. The parser
/// takes them for exports of other programs.
fn control_character(file: FileId, text: &str) -> Option<Diagnostic> {
    let (mut inside, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'u' if escaped && text.get(at + 1..at + 5) == Some("0000") => {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                let span = Span::new(file, at.saturating_sub(1), at.saturating_add(5));
                let message = "a string must not contain the character U+0000";
                return Some(
                    Diagnostic::error(rules::INVALID_VALUE, span, message)
                        .note("no language can write it, and programs take it for the end of the text")
                        .help("leave it out"),
                );
            }
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            0..0x20 if inside => {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                let (name, escape) = match byte {
                    b'\n' => ("a line break", "\\n".to_owned()),
                    b'\r' => ("a carriage return", "\\r".to_owned()),
                    b'\t' => ("a tab", "\\t".to_owned()),
                    byte => ("a control character", format!("\\u{byte:04x}")),
                };
                let message = format!("invalid JSON: a string must not contain {name}");
                let span = Span::new(file, at, at.saturating_add(1));
                let help = format!("write it as `{escape}`");
                return Some(Diagnostic::error(rules::SYNTAX, span, message).help(help));
            }
            _ => {}
        }
    }
    None
}

/// Refuses a document of a version that is not read.
fn unsupported_version(root: &Node, key: &'static str) -> Option<Diagnostic> {
    let version = root.get(key);
    let known: Vec<_> = VERSIONS.iter().map(|version| format!("`{version}`")).collect();
    let known = known.join(", ");
    let problem = match version.map(|version| (&version.kind, version)) {
        Some((Kind::String(text), _)) if VERSIONS.contains(&&*text.value) => return None,
        Some((Kind::String(text), _)) => {
            let message = format!("version `{}` of AgentIR is not supported", text.value);
            Diagnostic::error(rules::INVALID_VALUE, text.span, message)
        }
        Some((_, json)) => {
            let span = match json.kind {
                Kind::Array(_) | Kind::Object(_) => Span { end: json.span.start + 1, ..json.span },
                _ => json.span,
            };
            let message = format!("`{key}` must be a string with the version of AgentIR");
            let problem = Diagnostic::error(rules::INVALID_VALUE, span, message);
            let written = match &json.kind {
                Kind::Number(text) => VERSIONS.iter().find(|version| ***version == **text),
                _ => None,
            };
            if let Some(version) = written {
                return Some(problem.help(format!("write it in quotes: `\"{version}\"`")));
            }
            problem
        }
        None => {
            let start = Span { end: root.span.start + 1, ..root.span };
            let message =
                format!("this document does not say its version: the key `{key}` is missing");
            let is_meant = |member: &&Member| closest(&member.key, [key]).is_some();
            if let Some(member) = root.members().iter().find(is_meant) {
                return Some(unknown_field(member.key_span, message, Some(key)));
            }
            Diagnostic::error(rules::MISSING_FIELD, start, message)
        }
    };
    Some(problem.note(format!("this release reads version {known}")).help(
        "write the document again with a program that writes this version, or use the release of agentir that wrote it",
    ))
}

/// Derives the execution hints that the document does not state.
fn derive_hints(root: &Node, program: &mut Program) {
    let agents = root.get("agents");
    for agent in &mut program.agents {
        let name = &agent.metadata.name.value;
        let node = agents.map_or(Some(root), |agents| agents.get(name));
        let stated = node.and_then(|node| node.get("execution")?.get("hints"));
        let says = |key| stated.is_some_and(|hints| hints.get(key).is_some());
        let (all, derived) = (agent.execution.hints.clone(), ExecutionHints::of(agent));
        macro_rules! hints {
            ($($key:ident),*) => {
                ExecutionHints { $($key: if says(stringify!($key)) { all.$key } else { derived.$key }),* }
            };
        }
        let hints = hints!(
            voice_optimized,
            requires_persistence,
            supports_hitl,
            parallel_tools,
            complexity
        );
        if hints != all {
            Arc::make_mut(agent).execution.hints = hints;
        }
    }
}

/// The dialect of the first agent that names one, for the parts of a program that belong to no agent.
fn first_dialect(root: &Node, parsers: &Parsers) -> Dialect {
    let of_agent =
        |agent: &Node| parsers.dialect(&agent.get("metadata")?.get("dialect")?.text()?.value);
    let agents = root.get("agents").map_or(&[][..], Node::members);
    let all = agents.iter().map(|member| &member.value).chain([root]);
    all.filter_map(of_agent).next().unwrap_or(NONE)
}

fn read_agent(root: &Node, reader: &mut Reader<'_>) -> Option<Program> {
    let agent: Agent = reader.object(root, "AgentIR")?;
    let mut program = Program { agents: vec![Arc::new(agent)], ..Program::default() };
    program.complete = is_complete(&program.agents, false);
    Some(program)
}

fn read_program(root: &Node, reader: &mut Reader<'_>) -> Option<Program> {
    let output: CompilationOutput = reader.object(root, "CompilationOutput")?;
    check_agents(root, &output, reader);
    // Those of which an agent says so are known from it.
    let said: FxHashSet<&Name> = output.agents.values().flat_map(|a| a.remote_agents()).collect();
    let is_new = |name: &Name| !said.contains(name) && !output.agents.contains_key(name);
    let remote_agents = output.remote_agents.into_iter().filter(is_new).collect();
    let mut program = Program {
        agents: output.agents.into_values().collect(),
        libraries: output.libraries,
        profiles: output.behavior_profiles,
        entry_agent: output.entry_agent,
        complete: false,
        remote_agents,
        extensions: output.extensions,
    };
    program.complete = output
        .complete
        .unwrap_or_else(|| is_complete(&program.agents, program.entry_agent.is_some()));
    // Agents that were not compiled, and those of a document that says that it has not all of them, may be referred to.
    let partial = output.complete == Some(false);
    for (key, is_partial) in
        [("complete", partial), ("compilation_errors", !output.compilation_errors.is_empty())]
    {
        program.complete &= !is_partial;
        reader.gaps.extend(root.get(key).filter(|_| is_partial).map(|value| value.span));
    }
    Some(program)
}

/// Reports a program without agents, and one whose conversations would begin at an agent that it does not have. Whether
/// the agents are all there are, or some are defined elsewhere: no command can begin with one that is not here.
fn check_agents(root: &Node, output: &CompilationOutput, reader: &mut Reader<'_>) {
    // Agents that were not compiled or could not be read are missing for another reason.
    let written = root.get("agents").map_or(&[][..], Node::members);
    if !output.compilation_errors.is_empty() || written.len() > output.agents.len() {
        return;
    }
    if let Some(place) = root.get("agents").filter(|_| output.agents.is_empty()) {
        let place = Span { end: place.span.start + 1, ..place.span };
        reader.report(
            Diagnostic::error(rules::MISSING_FIELD, place, "the program has no agents")
                .help("write at least one, by its name: `\"Desk\": {\"metadata\": …}`"),
        );
        return;
    }
    let Some(entry) = &output.entry_agent else { return };
    if !output.agents.contains_key(&entry.value) {
        reader.gaps.push(entry.span);
        let message = format!("the entry agent `{entry}` is not one of `agents`");
        let problem = Diagnostic::error(rules::INVALID_VALUE, entry.span, message);
        let near = closest(&entry.value, output.agents.keys().map(Name::as_str));
        reader.report(match near {
            Some(near) => problem.did_you_mean(near),
            None => problem.note("no conversation can start"),
        });
    }
}

/// Declares what the model's tools stand for, where the document leaves that out: emitters, and whoever looks for the
/// ways between agents, read declarations.
fn declare_effects(program: &mut Program) {
    let references = program.agents().flat_map(|agent| &agent.available_agents);
    let elsewhere: FxHashMap<Name, Remote> = references
        .filter(|reference| program.agent(&reference.alias.value).is_none())
        .filter_map(|reference| {
            let endpoint = reference.file.clone().filter(|file| file.value.contains("://"))?;
            let remote =
                Remote { location: Some("remote"), endpoint: Some(endpoint), ..Remote::default() };
            Some((reference.alias.value.clone(), remote))
        })
        .collect();
    for agent in &mut program.agents {
        if agent.reasoning.as_ref().is_some_and(|zone| !zone.bindings.is_empty()) {
            declare_missing_effects(Arc::make_mut(agent), |name| elsewhere.get(name));
        }
    }
}

/// Whether the agents of a document are all there are, if it does not say: where their language writes whole programs,
/// if it names the first one; else if there are several.
pub fn is_complete<'a>(
    agents: impl IntoIterator<Item = &'a Arc<Agent>>,
    names_entry: bool,
) -> bool {
    let mut agents = agents.into_iter().peekable();
    match agents.peek().is_some_and(|a| a.metadata.dialect.traits().closed_programs) {
        true => names_entry,
        false => agents.nth(1).is_some(),
    }
}
