//! What `agentir cost` prints.

use super::{AgentCost, Most, Reason};
use crate::cfg::Cfg;
use agentir_diagnostics::{SourceMap, Span};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use std::fmt::Write;

/// The version of the format. It changes when something that was there is gone or means something else.
const VERSION: &str = "1";

/// What one message of the user can cost at most, by agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CostReport {
    /// The version of this format.
    version: &'static str,
    /// The agents, program by program, in the order in which they were read.
    agents: Vec<AgentReport>,
}

/// One agent.
#[derive(Debug, Serialize, JsonSchema)]
struct AgentReport {
    /// Its name.
    agent: String,
    /// The file it is written in.
    file: String,
    /// How often models are called.
    model_calls: Count,
    /// How often tools are called.
    tool_calls: Count,
    /// Why there is no bound, where there is none.
    unbounded: Vec<Why>,
}

/// A count; null where nothing bounds it.
#[derive(Debug, Serialize, JsonSchema)]
struct Count {
    /// By the agent itself.
    own: Option<u64>,
    /// With the agents that it hands over to or asks before the user is waited for again.
    total: Option<u64>,
}

/// Why there is no bound.
#[derive(Debug, Serialize, JsonSchema)]
struct Why {
    /// What it is.
    reason: Kind,
    /// The lines that lead round.
    lines: Vec<Place>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// A loop inside an agent.
    Loop,
    /// Agents that lead to each other.
    Agents,
}

/// A place in a file.
#[derive(Debug, Serialize, JsonSchema)]
struct Place {
    /// The file.
    file: String,
    /// The line, from 1.
    line: u32,
    /// The column in characters, from 1.
    column: u32,
}

/// The JSON Schema of [`CostReport`].
#[must_use]
pub fn cost_schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.into_root_schema_for::<CostReport>().to_value()
}

impl Default for CostReport {
    fn default() -> Self {
        Self { version: VERSION, agents: Vec::new() }
    }
}

const fn bound(most: Most) -> Option<u64> {
    match most {
        Most::AtMost(n) => Some(n),
        Most::Unbounded => None,
    }
}

fn place(span: Span, sources: &SourceMap) -> Place {
    let Some(file) = sources.get(span.file) else {
        return Place { file: String::new(), line: 1, column: 1 };
    };
    let at = file.line_column(span.start);
    Place { file: file.name.to_string(), line: at.line, column: at.column }
}

impl CostReport {
    /// Adds the agents of a program.
    pub fn add(&mut self, cfg: &Cfg<'_>, costs: &[AgentCost], sources: &SourceMap) {
        for cost in costs {
            let Some(part) = cfg.part(cost.agent) else { continue };
            let name = &part.agent.metadata.name;
            let why = |reason: &Reason| {
                let (reason, spans) = match reason {
                    Reason::Loop(spans) => (Kind::Loop, spans),
                    Reason::Agents(spans) => (Kind::Agents, spans),
                };
                Why { reason, lines: spans.iter().map(|span| place(*span, sources)).collect() }
            };
            self.agents.push(AgentReport {
                agent: name.value.to_string(),
                file: place(name.span, sources).file,
                model_calls: Count { own: bound(cost.own.models), total: bound(cost.total.models) },
                tool_calls: Count { own: bound(cost.own.tools), total: bound(cost.total.tools) },
                unbounded: cost.reasons.iter().map(why).collect(),
            });
        }
    }

    /// As a table for people.
    #[must_use]
    pub fn text(&self) -> String {
        if self.agents.is_empty() {
            return "no agents\n".to_owned();
        }
        let name = |agent: &AgentReport| agent.agent.chars().count();
        let width = self.agents.iter().map(name).max().unwrap_or(0).max("agent".len());
        let mut text = String::from("The most that one message of the user can cost:\n\n");
        let gap = " ".repeat(width);
        text.push_str(&format!("{gap}   by itself         with other agents\n"));
        let _ = writeln!(
            text,
            "{:width$}   {:>6}  {:>6}    {:>6}  {:>6}",
            "agent", "models", "tools", "models", "tools"
        );
        for agent in &self.agents {
            let number = |n: Option<u64>| n.map_or_else(|| "∞".to_owned(), |n| n.to_string());
            let _ = writeln!(
                text,
                "{:width$}   {:>6}  {:>6}    {:>6}  {:>6}",
                agent.agent,
                number(agent.model_calls.own),
                number(agent.tool_calls.own),
                number(agent.model_calls.total),
                number(agent.tool_calls.total),
            );
        }
        let mut told: Vec<String> = Vec::new();
        for why in self.agents.iter().flat_map(|agent| &agent.unbounded) {
            let says = why.says();
            if !told.contains(&says) {
                told.push(says);
            }
        }
        for says in told {
            text.push('\n');
            text.push_str(&says);
        }
        text
    }
}

impl Why {
    fn says(&self) -> String {
        let what = match self.reason {
            Kind::Loop => "∞: nothing bounds this loop",
            Kind::Agents => "∞: these agents can lead to each other before the user is asked again",
        };
        let mut text = format!("{what}\n");
        for place in self.lines.iter().take(8) {
            let _ = writeln!(text, "  {}:{}:{}", place.file, place.line, place.column);
        }
        if let Some(more) = self.lines.len().checked_sub(8).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {more} more");
        }
        text
    }
}
