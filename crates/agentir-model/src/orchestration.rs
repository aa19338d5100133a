//! What the orchestration methods of the ADL paper (section 4) ask a model.
//!
//! | method | questions in a turn | here |
//! |---|---|---|
//! | merging | one, to the guardrail and the agent in one | [`merge`] |
//! | first-success | each agent in turn, and after each whether its answer will do | [`satisfies`] |
//! | best-of-N | each agent, and which answer is the best | [`best`] |
//! | proactive | which agent, then that agent | [`select`] |
//! | autonomous | the agent in charge, which may hand over | [`siblings`] |
//!
//! Nothing here asks: these build questions, and read answers. Which agents there are, whose turn it
//! is and what becomes of an answer that is not used is the runtime's business.

use agentir_runtime::{
    Answer, Ask, Candidate, Message, Purpose, Request, Role, Settings, ToolSpec,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How several agents share a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Agents that come one after the other are asked as one.
    Merging,
    /// Agents are asked in turn until one gives an answer that will do.
    FirstSuccess,
    /// All agents are asked, and the best answer is taken.
    BestOfN,
    /// The agent that suits the message best is asked.
    #[default]
    Proactive,
    /// The agent in charge says who goes on.
    Autonomous,
}

impl Method {
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

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|method| method.name()).collect();
            format!("`{text}` is no orchestration method; there are {}", all.join(", "))
        })
    }
}

/// A question to two agents as one: the instructions of the first come first and count more, what
/// either may pick is offered, and what is missing or known to the second is.
///
/// None if one of them is not about leading the conversation. Tools of the same name are the second
/// agent's.
#[must_use]
pub fn merge(first: &Request, second: &Request) -> Option<Request> {
    let (
        Ask::Converse { system: before, tools: others, .. },
        Ask::Converse { system, messages, tools, missing, known },
    ) = (&first.ask, &second.ask)
    else {
        return None;
    };
    let system = format!(
        "First, and above everything else:\n{}\n\nIf that allows it:\n{}",
        before.trim(),
        system.trim()
    );
    let new = others.iter().filter(|other| tools.iter().all(|tool| tool.name != other.name));
    let ask = Ask::Converse {
        system,
        messages: messages.clone(),
        tools: new.chain(tools).cloned().collect(),
        missing: missing.clone(),
        known: known.clone(),
    };
    Some(Request { ask, ..second.clone() })
}

/// The question whether an answer will do, in a conversation that ends with what the user said.
#[must_use]
pub fn satisfies(agent: &str, settings: &Settings, answer: &str, context: &[Message]) -> Request {
    let ask = Ask::Judge {
        statement: "it helps with what the user said last, and is no excuse".to_owned(),
        text: answer.to_owned(),
        context: context.to_vec(),
    };
    Request { agent: agent.to_owned(), step: None, settings: settings.clone(), ask }
}

/// The question which of several answers is the best; each has the name of the agent that gave it.
#[must_use]
pub fn best(
    agent: &str,
    settings: &Settings,
    user: &str,
    answers: &[(String, String)],
    context: &[Message],
) -> Request {
    let candidates = answers.iter().map(|(name, answer)| Candidate {
        name: name.clone(),
        description: answer.clone(),
        examples: Vec::new(),
        keywords: Vec::new(),
    });
    let purpose = "Several agents have answered the user. Which answer is the best?";
    choose(agent, settings, purpose, user, candidates.collect(), context)
}

/// The question which agent suits what the user says best.
#[must_use]
pub fn select(
    agent: &str,
    settings: &Settings,
    user: &str,
    agents: Vec<Candidate>,
    context: &[Message],
) -> Request {
    let purpose = "Which agent suits what the user says best?";
    choose(agent, settings, purpose, user, agents, context)
}

fn choose(
    agent: &str,
    settings: &Settings,
    purpose: &str,
    user: &str,
    candidates: Vec<Candidate>,
    context: &[Message],
) -> Request {
    let ask = Ask::Choose {
        purpose: purpose.to_owned(),
        message: user.to_owned(),
        context: context.to_vec(),
        candidates,
        several: false,
    };
    Request { agent: agent.to_owned(), step: None, settings: settings.clone(), ask }
}

/// The name of the agent or the answer that was chosen; the first if none was, for somebody has to
/// speak.
#[must_use]
pub fn chosen<'c>(answer: &'c Answer, candidates: &'c [Candidate]) -> Option<&'c str> {
    let Answer::Choice(names) = answer else { return None };
    let named = names.iter().map(|(name, _)| name.as_str());
    let mut known = named.filter(|name| candidates.iter().any(|c| c.name == *name));
    known.next().or_else(|| candidates.first().map(|c| c.name.as_str()))
}

/// Offers an agent the others, so that it can hand over by itself. Those that it can hand over to
/// anyway stay as they are; so does a question that is not about leading the conversation.
pub fn siblings(request: &mut Request, agents: &[Candidate]) {
    let own = request.agent.clone();
    let Ask::Converse { tools, .. } = &mut request.ask else { return };
    for agent in agents.iter().filter(|agent| agent.name != own) {
        if tools.iter().all(|tool| tool.name != agent.name) {
            tools.push(ToolSpec {
                name: agent.name.clone(),
                description: agent.description.clone(),
                purpose: Purpose::Handoff,
                parameters: Vec::new(),
            });
        }
    }
}

/// What the user said last.
#[must_use]
pub fn last_of_user(messages: &[Message]) -> &str {
    messages.iter().rev().find(|m| m.role == Role::User).map_or("", |m| &m.text)
}
