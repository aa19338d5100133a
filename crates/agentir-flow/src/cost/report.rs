//! The report of `agentir cost`.

use super::{AgentCost, Reason, UpperBound};
use crate::cfg::Cfg;
use agentir_diagnostics::{SourceMap, Span};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::Write;

/// The version of the format. It changes with every incompatible change.
const SCHEMA_VERSION: &str = "1";

/// The places of a cycle that are listed. Each agent on it lists them, so more would be too many.
const MAX_PLACES: usize = 100;

/// The maximum cost of one user message, by agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CostReport {
    /// The version of this format.
    version: &'static str,
    /// The agents in input order, grouped by program.
    agents: Vec<AgentReport>,
}

/// One agent.
#[derive(Debug, Serialize, JsonSchema)]
struct AgentReport {
    /// Its name.
    agent: String,
    /// The file that defines it.
    file: String,
    /// The number of model calls.
    model_calls: Count,
    /// The number of tool calls.
    tool_calls: Count,
    /// The causes of a missing bound; empty if there is a bound.
    unbounded: Vec<UnboundedCause>,
}

/// A maximum; null if there is none.
#[derive(Debug, Serialize, JsonSchema)]
struct Count {
    /// The calls of the agent itself.
    own: Option<u64>,
    /// The calls including the agents that it hands off to or calls in the same turn.
    total: Option<u64>,
}

/// The cause of a missing bound.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Why")]
struct UnboundedCause {
    /// The kind of cause.
    reason: CauseKind,
    /// The source of the edges of the cycle: the first hundred.
    lines: Vec<Place>,
    /// The number of further ones; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Kind")]
enum CauseKind {
    /// A loop inside an agent.
    Loop,
    /// Agents that transfer to each other.
    Agents,
}

/// A location in a file.
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
        Self { version: SCHEMA_VERSION, agents: Vec::new() }
    }
}

const fn bound(most: UpperBound) -> Option<u64> {
    match most {
        UpperBound::AtMost(n) => Some(n),
        UpperBound::Unbounded => None,
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
            let Some(part) = cfg.agent(cost.agent) else { continue };
            let name = &part.agent.metadata.name;
            let cause = |reason: &Reason| {
                let (reason, spans) = match reason {
                    Reason::Loop(spans) => (CauseKind::Loop, spans),
                    Reason::Agents(spans) => (CauseKind::Agents, spans),
                };
                let lines = spans.iter().take(MAX_PLACES).map(|span| place(*span, sources));
                let more = spans.len().checked_sub(MAX_PLACES).filter(|more| *more > 0);
                UnboundedCause { reason, lines: lines.collect(), more }
            };
            self.agents.push(AgentReport {
                agent: name.value.to_string(),
                file: place(name.span, sources).file,
                model_calls: Count { own: bound(cost.own.models), total: bound(cost.total.models) },
                tool_calls: Count { own: bound(cost.own.tools), total: bound(cost.total.tools) },
                unbounded: cost.reasons.iter().map(cause).collect(),
            });
        }
    }

    /// Calls `change` with every text that comes from documents: names of agents and of files.
    pub fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        for agent in &mut self.agents {
            change(&mut agent.agent);
            change(&mut agent.file);
            let places = agent.unbounded.iter_mut().flat_map(|cause| &mut cause.lines);
            // Most places are in the same few files.
            let mut last: Option<(String, String)> = None;
            for place in places {
                match &last {
                    Some((before, after)) if *before == place.file => place.file.clone_from(after),
                    _ => {
                        let before = place.file.clone();
                        change(&mut place.file);
                        last = Some((before, place.file.clone()));
                    }
                }
            }
        }
    }

    /// Renders the report as a plain-text table.
    #[must_use]
    pub fn text(&self) -> String {
        if self.agents.is_empty() {
            return "no agents\n".to_owned();
        }
        let name = |agent: &AgentReport| agent.agent.chars().count();
        let width = self.agents.iter().map(name).max().unwrap_or(0).max("agent".len());
        let mut text = String::from("Maximum number of calls per user message:\n\n");
        let gap = " ".repeat(width);
        text.push_str(&format!("{gap}   own calls         with other agents\n"));
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
        let mut reported: HashSet<String> = HashSet::new();
        for cause in self.agents.iter().flat_map(|agent| &agent.unbounded) {
            let says = cause.text_lines();
            if !reported.contains(&says) {
                text.push('\n');
                text.push_str(&says);
                reported.insert(says);
            }
        }
        text
    }
}

impl UnboundedCause {
    fn text_lines(&self) -> String {
        let what = match self.reason {
            CauseKind::Loop => "∞: nothing bounds this loop",
            CauseKind::Agents => {
                "∞: these agents can lead to each other before the user is asked again"
            }
        };
        let mut text = format!("{what}\n");
        for place in self.lines.iter().take(8) {
            let _ = writeln!(text, "  {}:{}:{}", place.file, place.line, place.column);
        }
        let all = self.lines.len() + self.more.unwrap_or(0);
        if let Some(more) = all.checked_sub(8).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {more} more");
        }
        text
    }
}
