//! The orchestration methods of the ADL paper (section 4): how the agents of an ensemble, or those
//! that a supervisor routes to, share a conversation.
//!
//! | method | which agent answers a message | model requests in a turn |
//! |---|---|---|
//! | merging | the chosen agent, whose prompt includes the guardrails of the ensemble | the choice, and one for guardrails and agent |
//! | first-success | the first agent whose answer is acceptable | each agent in turn, and a judgement after each |
//! | best-of-N | all agents, and the best answer is used | each agent, and the choice of the best answer |
//! | proactive | the chosen agent | the guardrails, the choice, that agent |
//! | autonomous | the active agent, or the one it hands over to | the guardrails, that agent |
//!
//! Without a method, the semantics of the language apply: an agent stays active until it returns
//! control.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A method by which several agents share a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OrchestrationMethod {
    /// A guardrail and the agent after it share one model request.
    Merging,
    /// Agents are tried in turn until one gives an acceptable answer.
    FirstSuccess,
    /// All agents are tried, and the best answer is used.
    BestOfN,
    /// The best-suited agent is chosen.
    Proactive,
    /// The active agent decides which agent continues.
    Autonomous,
}

impl OrchestrationMethod {
    /// All methods, in the order of the paper.
    pub const ALL: [Self; 5] =
        [Self::Merging, Self::FirstSuccess, Self::BestOfN, Self::Proactive, Self::Autonomous];

    /// The name, as in JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Merging => "merging",
            Self::FirstSuccess => "first-success",
            Self::BestOfN => "best-of-n",
            Self::Proactive => "proactive",
            Self::Autonomous => "autonomous",
        }
    }
}

impl fmt::Display for OrchestrationMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for OrchestrationMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|method| method.name()).collect();
            format!("unknown orchestration method `{text}`; expected one of {}", all.join(", "))
        })
    }
}

/// A system prompt that starts with guardrails, which take precedence. Each rule is a pair of what
/// the guardrail detects and the answer to give in that case.
pub(crate) fn with_guardrail_rules(rules: &[(String, String)], system: &str) -> String {
    let mut text = "First, and above everything else:\n".to_owned();
    for (looks_for, answer) in rules {
        text.push_str("- ");
        text.push_str(looks_for.trim());
        text.push_str(" If so, say only: ");
        text.push_str(answer.trim());
        text.push('\n');
    }
    text.push_str("\nIf that allows it:\n");
    text.push_str(system.trim());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_names_round_trip() {
        for method in OrchestrationMethod::ALL {
            assert_eq!(method.name().parse(), Ok(method));
            assert_eq!(serde_json::to_value(method).ok(), Some(method.name().into()));
        }
        assert_eq!(
            "both".parse::<OrchestrationMethod>(),
            Err("unknown orchestration method `both`; expected one of merging, first-success, best-of-n, proactive, autonomous".to_owned())
        );
    }
}
