//! Programs to the compilation output: AgentIR as it is published.

use agentir_diagnostics::{Diagnostic, FileId, Severity, SourceMap, Span};
use agentir_ir::{
    Agent, AgentType, CompilationIssue, CompilationOutput, Deployment, Extensions, IR_VERSION,
};
use agentir_project::Loaded;
use indexmap::IndexMap;
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The compilation output of everything that was loaded. An agent whose file has an error is omitted and reported.
pub(crate) fn output(loaded: &Loaded, diagnostics: &[Diagnostic]) -> CompilationOutput {
    let Loaded { sources, programs, .. } = loaded;
    let owners = Owners::of(programs.iter().flat_map(|loaded| &loaded.program.agents));
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let broken: BTreeSet<Span> =
        errors.flat_map(|d| owners.at(d.primary.span)).map(|agent| agent.span).collect();
    let mut result = CompilationOutput {
        version: IR_VERSION,
        agents: IndexMap::new(),
        entry_agent: None,
        libraries: Vec::new(),
        behavior_profiles: Vec::new(),
        deployment: Deployment::default(),
        remote_agents: Vec::new(),
        compilation_errors: Vec::new(),
        compilation_warnings: Vec::new(),
        complete: None,
        extensions: Extensions::default(),
    };
    let mut entries = Vec::new();
    let mut remote = BTreeSet::new();
    for loaded in programs {
        remote.extend(loaded.program.remote_agents.iter().cloned());
        entries.extend(loaded.program.entry().map(|a| a.metadata.name.clone()));
        for (dialect, settings) in &loaded.program.extensions.0 {
            for (key, setting) in settings {
                result.extensions.insert(dialect.clone(), key, setting.value.clone(), setting.span);
            }
        }
        result.libraries.extend(loaded.program.libraries.iter().cloned());
        result.behavior_profiles.extend(loaded.program.profiles.iter().cloned());
        for agent in &loaded.program.agents {
            if broken.contains(&agent.span) || agent.metadata.name.value.is_empty() {
                continue;
            }
            if let Some(first) = result.agents.get(&agent.metadata.name.value) {
                result.compilation_errors.push(duplicate(agent, first, sources));
                continue;
            }
            remote.extend(agent.remote_agents().cloned());
            deploy(agent, &mut result.deployment);
            result.agents.insert(agent.metadata.name.value.clone(), Arc::clone(agent));
        }
    }
    if let [entry] = entries.as_slice()
        && result.agents.contains_key(&entry.value)
    {
        result.entry_agent = Some(entry.clone());
    }
    result.remote_agents = remote.into_iter().collect();
    for diagnostic in diagnostics {
        let issue = issue(diagnostic, sources, &owners);
        match diagnostic.severity {
            Severity::Error => result.compilation_errors.push(issue),
            Severity::Warning => result.compilation_warnings.push(issue),
            Severity::Info => {}
        }
    }
    // Where there are errors, agents may be omitted.
    let complete = result.compilation_errors.is_empty()
        && programs.iter().all(|loaded| loaded.program.complete);
    let expected =
        agentir_ir_json::is_complete(result.agents.values(), result.entry_agent.is_some());
    result.complete = (complete != expected).then_some(complete);
    result
}

/// Says that an agent is omitted because another one has its name. Files of one folder need not be one program, so no
/// rule reports this everywhere.
fn duplicate(agent: &Agent, first: &Agent, sources: &SourceMap) -> CompilationIssue {
    let name = &agent.metadata.name;
    let file = sources.get(first.span.file).map_or("", |file| &file.name);
    CompilationIssue {
        agent: Some(name.value.clone()),
        message: format!("`{name}` is omitted, because {file} defines an agent with this name"),
        code: SmolStr::new_static("duplicate-agent"),
        path: location(name.span, sources),
        kind: "compilation",
        severity: "error",
    }
}

fn location(span: Span, sources: &SourceMap) -> String {
    sources.get(span.file).map_or_else(String::new, |file| {
        let at = file.line_column(span.start);
        format!("{}:{}:{}", file.name, at.line, at.column)
    })
}

fn deploy(agent: &Agent, deployment: &mut Deployment) {
    let name = agent.metadata.name.value.clone();
    let hints = &agent.execution.hints;
    let recommended = if hints.voice_optimized {
        "voice"
    } else if agent.flow.is_some()
        && agent.metadata.kind == AgentType::Agent
        && hints.complexity == "complex"
    {
        "workflow"
    } else {
        "digital"
    };
    deployment.runtime_recommendations.insert(name.clone(), recommended);
    let keeps = hints.requires_persistence || !agent.memory.session.is_empty();
    if keeps {
        deployment.stateful.push(name.clone());
    } else {
        deployment.parallel_safe.push(name.clone());
    }
    if hints.supports_hitl {
        deployment.hitl_capable.push(name);
    }
}

/// Which agents a location is about.
struct Owners<'a>(BTreeMap<FileId, Vec<&'a Agent>>);

impl<'a> Owners<'a> {
    fn of(agents: impl Iterator<Item = &'a Arc<Agent>>) -> Self {
        let mut by_file: BTreeMap<FileId, Vec<&Agent>> = BTreeMap::new();
        for agent in agents {
            by_file.entry(agent.span.file).or_default().push(agent);
        }
        Self(by_file)
    }

    /// The agent that a location is in; all of its file where it is in none.
    fn at(&self, span: Span) -> &[&'a Agent] {
        let all = self.0.get(&span.file).map_or(&[][..], Vec::as_slice);
        let holds = |agent: &&Agent| {
            agent.span.start <= span.start && span.start < agent.span.end.max(agent.span.start + 1)
        };
        match all.iter().position(holds) {
            Some(at) => all.get(at..=at).unwrap_or_default(),
            None => all,
        }
    }
}

fn issue(diagnostic: &Diagnostic, sources: &SourceMap, owners: &Owners<'_>) -> CompilationIssue {
    let span = diagnostic.primary.span;
    let path = location(span, sources);
    let mut rules = agentir_lint::rule_names();
    let group = rules.find(|(rule, _)| *rule == diagnostic.rule.0).map(|(_, group)| group);
    CompilationIssue {
        agent: match owners.at(span) {
            [agent] => Some(agent.metadata.name.value.clone()),
            _ => None,
        },
        message: diagnostic.message.clone(),
        code: SmolStr::new_static(diagnostic.rule.0),
        path,
        kind: match group {
            Some(agentir_lint::Group::Syntax) => "parse",
            Some(agentir_lint::Group::Versions) => "compilation",
            _ => "validation",
        },
        severity: match diagnostic.severity {
            Severity::Error => "error",
            _ => "warning",
        },
    }
}
