//! The result of a language: what a file defines, as AgentIR.

use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Name, Version};
use agentir_ir::{Agent, Extension, Extensions, Profile, Program, Tool, ToolLibrary};
use std::sync::Arc;

/// The largest file that is read. Spans are 32 bits wide, and nobody writes an agent of this size.
pub const MAX_FILE_SIZE: usize = 64 << 20;

/// How files are read where their language leaves a choice. A language ignores what it does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ReadOptions {
    /// The version that documents are held to; detected if not given.
    pub version: Option<Version>,
    /// Whether documents are fragments of a document, in which nothing counts as missing.
    pub fragment: bool,
    /// The name of the variant of the language that documents are written in if they do not say.
    pub variant: Option<&'static str>,
}

/// What one file defines.
#[derive(Debug)]
pub enum Definition {
    /// An agent or a supervisor.
    Agent(Arc<Agent>),
    /// A whole program: agents that run together, and nothing but them.
    Program {
        /// The agents, in their order.
        agents: Vec<Arc<Agent>>,
        /// The one that every conversation begins with.
        entry: Option<Spanned<Name>>,
        /// Tools that all of them may use.
        tools: Option<Arc<ToolLibrary>>,
        /// Profiles that they use.
        profiles: Vec<Arc<Profile>>,
        /// Whether these are all agents there are.
        complete: bool,
    },
    /// A whole program that says itself whether it is complete: AgentIR.
    Whole(Box<Program>),
    /// A behaviour profile.
    Profile(Arc<Profile>),
    /// Tools.
    Tools(Arc<ToolLibrary>),
    /// What holds for the program as a whole.
    Settings(Extensions),
}

impl Definition {
    /// A whole program, which is complete if it says who begins. Tools of its own become a library at its
    /// first agent's span.
    #[must_use]
    pub fn program(
        agents: Vec<Agent>,
        entry: Option<Spanned<Name>>,
        tools: Vec<Tool>,
        profiles: Vec<Profile>,
    ) -> Self {
        let tools = match agents.first() {
            Some(agent) if !tools.is_empty() => Some(Arc::new(ToolLibrary {
                dialect: agent.metadata.dialect,
                tools,
                imports: Vec::new(),
                comments: Vec::new(),
                extensions: Extensions::default(),
                span: agent.span,
            })),
            _ => None,
        };
        let agents = agents.into_iter().map(Arc::new).collect();
        let profiles = profiles.into_iter().map(Arc::new).collect();
        let complete = entry.is_some();
        Self::Program { agents, entry, tools, profiles, complete }
    }

    /// The same program, of which it is known that its agents, if there are any, are all there are.
    #[must_use]
    pub fn complete(mut self) -> Self {
        if let Self::Program { agents, complete, .. } = &mut self {
            *complete |= !agents.is_empty();
        }
        self
    }
}

/// A file, parsed and lowered.
#[derive(Debug, Default)]
pub struct LoweredFile {
    /// What it defines; nothing if it cannot be told.
    pub definition: Option<Definition>,
    /// The version it is held to.
    pub version: Version,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// Where an error ended the reading, so that the rest of the file is unknown.
    pub stopped: Option<Span>,
    /// Where parts were left out for mistakes, so that what is absent may have been there.
    pub gaps: Vec<Span>,
    /// The locations of elements that were read in part for mistakes, so that they may have what they seem to lack.
    pub partial: Vec<Span>,
    /// Where parts of the file were written before a program generated it, if it says so.
    pub origins: Vec<Origin>,
}

/// A file, line and column that a generated document gives for one of its objects: where the author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: Spanned<Name>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The location of the object that the origin is given for.
    pub element: Span,
    /// The location of the origin in the document.
    pub span: Span,
}

impl Origin {
    /// The origin in a message: `booking.flow:12:3`.
    #[must_use]
    pub fn shown(&self) -> String {
        let number = |n: Option<u32>| n.map(|n| format!(":{n}")).unwrap_or_default();
        format!("{}{}{}", self.file, number(self.line), number(self.column))
    }
}

impl LoweredFile {
    /// A file that was read to its end.
    #[must_use]
    pub fn new(definition: Definition, diagnostics: Vec<Diagnostic>) -> Self {
        Self { definition: Some(definition), diagnostics, ..Self::default() }
    }

    /// A file that defines nothing, for the reasons given.
    #[must_use]
    pub fn nothing(diagnostics: Vec<Diagnostic>) -> Self {
        let stopped = diagnostics.first().map(|problem| problem.primary.span);
        Self { diagnostics, stopped, ..Self::default() }
    }

    /// Adds what the file defines to a program, and the versions of its agents to `versions`. The
    /// program shares it: the file can be added to others.
    pub fn add_to(&self, program: &mut Program, versions: &mut Vec<Version>) {
        match &self.definition {
            Some(Definition::Agent(agent)) => {
                program.agents.push(Arc::clone(agent));
                versions.push(self.version);
            }
            Some(Definition::Program { agents, entry, tools, profiles, complete }) => {
                program.profiles.extend(profiles.iter().cloned());
                versions.extend(agents.iter().map(|_| self.version));
                program.libraries.extend(tools.clone());
                program.agents.extend(agents.iter().cloned());
                program.complete |= complete;
                program.entry_agent = entry.clone().or(program.entry_agent.take());
            }
            Some(Definition::Profile(profile)) => program.profiles.push(Arc::clone(profile)),
            Some(Definition::Tools(library)) => program.libraries.push(Arc::clone(library)),
            Some(Definition::Whole(whole)) => {
                let version = |agent: &Arc<Agent>| {
                    agent.metadata.language_version.and_then(Version::from_name).unwrap_or_default()
                };
                versions.extend(whole.agents.iter().map(version));
                program.agents.extend(whole.agents.iter().cloned());
                program.libraries.extend(whole.libraries.iter().cloned());
                program.profiles.extend(whole.profiles.iter().cloned());
                program.entry_agent = whole.entry_agent.clone().or(program.entry_agent.take());
                program.complete |= whole.complete;
                program.remote_agents.extend(whole.remote_agents.iter().cloned());
                add_settings(&whole.extensions, program);
            }
            Some(Definition::Settings(settings)) => add_settings(settings, program),
            None => {}
        }
    }
}

/// Adds what holds for a program as a whole.
fn add_settings(settings: &Extensions, program: &mut Program) {
    for (dialect, entries) in &settings.0 {
        for (key, Extension { value, span }) in entries {
            program.extensions.insert(dialect.clone(), key, value.clone(), *span);
        }
    }
}
