//! What conversations show about a conversion: the data of the report. Whoever has a runtime holds the conversations.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// The number of conversations that the text of a report shows.
const MAX_SHOWN: usize = 3;

/// The source and the output of a conversion, driven with the same messages, answers of models, people and tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Replays {
    /// The number of conversations.
    pub conversations: usize,
    /// In so many, both did the same.
    pub same: usize,
    /// In so many, the first difference comes from a loss that is reported.
    pub reported: usize,
    /// In so many, the first difference is who says that an agent is done: itself, or its language.
    pub end_of_agent: usize,
    /// Conversations with a difference, of each first difference one.
    pub differing: Vec<DifferingConversation>,
}

/// A conversation in which the source and the output do not do the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DifferingConversation {
    /// Whether the difference comes from a loss that is reported.
    pub reported: bool,
    /// What differs first: what the source does, and what the output does.
    pub first: [String; 2],
    /// The turns, up to where they differ.
    pub turns: Vec<ReplayTurn>,
}

/// A turn of two conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplayTurn {
    /// What the user says; absent in the opening turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// What the source does.
    pub source: Vec<String>,
    /// What the output does.
    pub output: Vec<String>,
}

impl Replays {
    /// In so many conversations, the first difference is not accounted for.
    #[must_use]
    pub const fn different(&self) -> usize {
        self.conversations - self.same - self.reported - self.end_of_agent
    }

    /// Adds those of another program.
    pub(crate) fn add(&mut self, other: Self) {
        self.conversations += other.conversations;
        self.same += other.same;
        self.reported += other.reported;
        self.end_of_agent += other.end_of_agent;
        self.differing.extend(other.differing);
    }

    /// The result, in a sentence.
    #[must_use]
    pub(crate) fn statement(&self) -> String {
        let count = match self.conversations {
            1 => "1 conversation was".to_owned(),
            n => format!("{n} conversations were"),
        };
        let mut out = format!("replay: {count} held with both: {} the same", self.same);
        for (n, place) in [
            (self.reported, "where a loss is reported"),
            (self.end_of_agent, "in who says that an agent is done"),
            (self.different(), "where nothing is reported"),
        ] {
            if n > 0 {
                let verb = if n == 1 { "differs" } else { "differ" };
                let _ = write!(out, ", {n} {verb} {place}");
            }
        }
        out
    }

    /// The first conversations that differ where nothing is reported, as text.
    #[must_use]
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for one in self.differing.iter().filter(|one| !one.reported).take(MAX_SHOWN) {
            let [source, output] = &one.first;
            let _ =
                writeln!(out, "in a conversation, the source {source}, and the output {output}:");
            for turn in &one.turns {
                if let Some(input) = &turn.input {
                    let _ = writeln!(out, "    > {input}");
                }
                let common = turn.source.iter().zip(&turn.output).take_while(|(a, b)| a == b);
                let common = common.count();
                for both in turn.source.iter().take(common) {
                    let _ = writeln!(out, "    both: {both}");
                }
                for (name, does) in [("source", &turn.source), ("output", &turn.output)] {
                    for own in does.iter().skip(common) {
                        let _ = writeln!(out, "    {name}: {own}");
                    }
                }
            }
        }
        out
    }

    /// Calls `change` with every text in it.
    pub(crate) fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        for one in &mut self.differing {
            one.first.iter_mut().for_each(&mut *change);
            for turn in &mut one.turns {
                let texts = turn.input.iter_mut().chain(&mut turn.source).chain(&mut turn.output);
                texts.for_each(&mut *change);
            }
        }
    }
}
