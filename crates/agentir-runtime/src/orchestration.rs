//! The orchestration methods of the ADL paper (section 4): how the agents of an ensemble, or those that
//! a supervisor routes to, share a conversation.
//!
//! | method | who answers a message | questions in a turn |
//! |---|---|---|
//! | merging | the agent that is chosen, which also heeds the guardrails of the ensemble | the choice, and one for both |
//! | first-success | the first whose answer will do | each agent in turn, and after each whether its answer will do |
//! | best-of-N | all of them, and the best answer is taken | each agent, and which answer is the best |
//! | proactive | the agent that is chosen | the guardrails, the choice, that agent |
//! | autonomous | the agent in charge, or whom it hands over to | the guardrails, that agent |
//!
//! Without a method a conversation goes as its language says: an agent keeps it until it gives it back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How several agents share a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OrchestrationMethod {
    /// A guardrail and the agent behind it are asked as one.
    Merging,
    /// Agents are asked in turn until one gives an answer that will do.
    FirstSuccess,
    /// All agents are asked, and the best answer is taken.
    BestOfN,
    /// The agent that suits the message best is asked.
    Proactive,
    /// The agent in charge says who goes on.
    Autonomous,
}

impl OrchestrationMethod {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 5] =
        [Self::Merging, Self::FirstSuccess, Self::BestOfN, Self::Proactive, Self::Autonomous];

    /// Its name, as in JSON and on the command line.
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
            format!("`{text}` is no orchestration method; there are {}", all.join(", "))
        })
    }
}

/// What a model that leads is told if guardrails are asked as one with it: they come first, and count
/// more. Each has what it looks for, and what is said if it is there.
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
    fn methods_have_names() {
        for method in OrchestrationMethod::ALL {
            assert_eq!(method.name().parse(), Ok(method));
            assert_eq!(serde_json::to_value(method).ok(), Some(method.name().into()));
        }
        assert_eq!(
            "both".parse::<OrchestrationMethod>(),
            Err("`both` is no orchestration method; there are merging, first-success, best-of-n, proactive, autonomous".to_owned())
        );
    }
}
