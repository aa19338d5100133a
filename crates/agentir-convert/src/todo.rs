//! What is left to do after a conversion: losses, findings of the import and of a check of the output, and data to be
//! loaded, by agent and cause.

use agentir_compare::Location;
use agentir_diagnostics::{SourceMap, Span};
use agentir_syntax::emit::Task;
use schemars::JsonSchema;
use serde::Serialize;

/// The number of characters of an excerpt.
const MAX_EXCERPT: usize = 160;

/// A thing to do.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Todo {
    /// How urgent it is.
    pub task: Task,
    /// The agent that it is about; absent for what several share, and for the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The rule that found it, in the source or in the output; absent for losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// Why.
    pub cause: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// What to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// In how many places.
    pub count: usize,
    /// The first of them.
    pub places: Vec<Place>,
}

/// Where something is to be done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Place {
    /// The path of the value in the IR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The location in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Location>,
    /// What is written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_text: Option<String>,
    /// The location in the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Location>,
    /// What is written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_text: Option<String>,
}

impl Todo {
    pub(crate) fn new(task: Task, cause: impl Into<String>) -> Self {
        Self {
            task,
            agent: None,
            rule: None,
            cause: cause.into(),
            help: None,
            snippet: None,
            count: 1,
            places: Vec::new(),
        }
    }

    /// Calls `change` with every text in it.
    pub(crate) fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        change(&mut self.cause);
        let own = self.agent.iter_mut().chain(&mut self.help).chain(&mut self.snippet);
        own.for_each(&mut *change);
        for place in &mut self.places {
            let texts = place.path.iter_mut().chain(&mut place.source_text);
            texts.chain(&mut place.target_text).for_each(&mut *change);
            let locations = place.source.iter_mut().chain(&mut place.target);
            locations.for_each(|at| change(&mut at.file));
        }
    }

    /// It in a line: what to do, and why.
    pub(crate) fn line(&self) -> String {
        match &self.help {
            Some(help) => format!("{help} ({})", self.cause),
            None => self.cause.clone(),
        }
    }
}

impl Place {
    pub(crate) fn new(
        path: Option<&str>,
        (sources, at): (&SourceMap, Option<Span>),
        (outputs, there): (&SourceMap, Option<Span>),
    ) -> Self {
        let location = |all: &SourceMap, at: Option<Span>| Location::of(all, at?);
        Self {
            path: path.map(str::to_owned),
            source: location(sources, at),
            source_text: at.and_then(|at| excerpt(sources, at)),
            target: location(outputs, there),
            target_text: there.and_then(|at| excerpt(outputs, at)),
        }
    }
}

/// The line of a span without its secrets, or what follows the start of the span, where the line is too long to be read.
fn excerpt(sources: &SourceMap, at: Span) -> Option<String> {
    let file = sources.get(at.file).filter(|_| at != Span::default())?;
    let start = at.start as usize;
    let line = file.text.get(..start)?.rfind('\n').map_or(0, |end| end + 1);
    let end = file.text.get(start..)?.find('\n').map_or(file.text.len(), |end| start + end);
    let whole = file.masked(line..end);
    let is_long = whole.chars().nth(MAX_EXCERPT).is_some();
    let text = if is_long { file.masked(start..end) } else { whole };
    shortened(&text)
}

pub(crate) fn shortened(text: &str) -> Option<String> {
    let text: String = text.trim().chars().take(MAX_EXCERPT).collect();
    (!text.is_empty()).then_some(text)
}
