//! What the runtime owns: variables it assigns, namespaces it resolves, tools it adds. As data, like
//! the functions (current specification 3.7.2 and 8.8; the newest documentation adds a few).

use crate::functions::ParameterType::{self, Array, Boolean, Number, Object, String};
use crate::version::Version;

/// A variable that the runtime assigns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemVariable {
    /// Its path: `user.intent`. A `*` at the end stands for any rest, `last_*_result` for any tool.
    pub name: &'static str,
    /// What it holds.
    pub ty: ParameterType,
    /// The values it takes, where they are known.
    pub values: &'static [&'static str],
    /// Who assigns it, and when: completes "the runtime assigns it …".
    pub assigned: &'static str,
    /// A name authors could use for a variable of their own.
    pub instead: &'static str,
    /// The first version that has it.
    pub since: Version,
    /// Whether an author's variable of that name takes precedence.
    pub authored_wins: bool,
}

const fn variable(
    name: &'static str,
    ty: ParameterType,
    values: &'static [&'static str],
    assigned: &'static str,
    instead: &'static str,
) -> SystemVariable {
    SystemVariable {
        name,
        ty,
        values,
        assigned,
        instead,
        since: Version::Legacy,
        authored_wins: false,
    }
}

const fn newest(
    name: &'static str,
    assigned: &'static str,
    instead: &'static str,
) -> SystemVariable {
    let plain = variable(name, String, &[], assigned, instead);
    SystemVariable { since: Version::Newest, authored_wins: true, ..plain }
}

const SENTIMENTS: &[&str] =
    &["very_negative", "negative", "neutral", "positive", "very_positive", "frustrated"];
const TRAJECTORIES: &[&str] = &["improving", "declining", "stable", "volatile"];
const CHANNELS: &[&str] = &["web", "slack", "teams", "whatsapp", "voice", "api"];

/// All variables that the runtime assigns.
pub static SYSTEM_VARIABLES: &[SystemVariable] = &[
    variable("match", Object, &[], "whenever a `matches` condition holds", "match_result"),
    variable(
        "all_fields_gathered",
        Boolean,
        &[],
        "when all required fields are collected",
        "form_done",
    ),
    variable("user.intent", String, &[], "with each message, from what the user wants", "wish"),
    variable(
        "user.sentiment",
        String,
        SENTIMENTS,
        "with each message, from how the user sounds",
        "mood",
    ),
    variable(
        "sentiment_trajectory",
        String,
        TRAJECTORIES,
        "over the turns of the conversation",
        "mood_trend",
    ),
    variable("tool_failures", Number, &[], "when a tool call fails", "failed_calls"),
    variable("constraint_failures", Number, &[], "when a constraint fails", "failed_rules"),
    variable("channel", String, CHANNELS, "when the session starts", "preferred_channel"),
    variable(
        "language",
        String,
        &[],
        "when the session starts and when it detects the language",
        "preferred_language",
    ),
    variable(
        "user_id",
        String,
        &[],
        "when the session starts, from who is logged in",
        "customer_id",
    ),
    variable("project_id", String, &[], "when the session starts", "own_project_id"),
    variable("tenant_id", String, &[], "when the session starts", "customer_number"),
    variable(
        "handoff.completed",
        Boolean,
        &[],
        "when an agent that took over is done",
        "handoff_done",
    ),
    variable(
        "escalate.completed",
        Boolean,
        &[],
        "when a person has resolved an escalation",
        "escalation_done",
    ),
    variable("last_*_result", Object, &[], "after each call of that tool", "kept_result"),
    variable(
        "_clarification_count",
        Number,
        &[],
        "each time a field is asked for again",
        "clarification_count",
    ),
    variable("_validation_retries", Object, &[], "when the value of a field is refused", "retries"),
    variable(
        "_pending_inferences",
        Object,
        &[],
        "when the model infers the value of a field",
        "inferred",
    ),
    variable("_constraint_warnings", Array, &[], "when a soft constraint fails", "warnings"),
    variable(
        "_disambiguation_intents",
        Array,
        &[],
        "when a message has several intents",
        "possible_intents",
    ),
    variable("_summary*", String, &[], "with the summary of the conversation", "summary"),
    variable("_stored_*", Object, &[], "with what the persistent memory holds", "stored"),
    variable("_error*", Object, &[], "when an operation fails", "last_error"),
    variable("_correction*", Object, &[], "when the user corrects an answer", "correction"),
    variable("_current_step_for_reset", String, &[], "when the flow enters a step", "current_step"),
    newest("recent_input", "with each message", "last_message"),
    newest("input_transcript", "with each message", "transcript"),
];

/// Whether `name` is one that `pattern` stands for.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => {
            name.len() > start.len() + end.len() - usize::from(end.is_empty())
                && name.starts_with(start)
                && name.ends_with(end)
        }
    }
}

/// The variable of the runtime that `path` is, or is a part of: `match.1`, `user.intent`,
/// `last_search_result.total`.
#[must_use]
pub fn system_variable(path: &str) -> Option<&'static SystemVariable> {
    // Every pattern begins with a letter or `_`, so nearly all rows are out at the first byte.
    let first = path.as_bytes().first();
    SYSTEM_VARIABLES.iter().filter(|v| v.name.as_bytes().first() == first).find(|v| {
        let names = v.name.split('.').count();
        let end = path.match_indices('.').nth(names - 1).map_or(path.len(), |(at, _)| at);
        path.get(..end).is_some_and(|head| fits(v.name, head))
    })
}

/// The tool whose last result `name` is: `search` in `last_search_result`.
#[must_use]
pub fn tool_of_result(name: &str) -> Option<&str> {
    name.strip_prefix("last_")?.strip_suffix("_result").filter(|tool| !tool.is_empty())
}

/// A first word of paths that the runtime resolves itself: `config.API_URL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// The word.
    pub name: &'static str,
    /// What is below it.
    pub holds: &'static str,
    /// Whether agents may write below it.
    pub writable: bool,
    /// The first version that has it.
    pub since: Version,
}

const fn namespace(
    name: &'static str,
    holds: &'static str,
    writable: bool,
    since: Version,
) -> Namespace {
    Namespace { name, holds, writable, since }
}

/// The namespaces.
pub static NAMESPACES: &[Namespace] = &[
    namespace("config", "the configuration of the project", false, Version::Legacy),
    namespace("env", "the environment of the deployment", false, Version::Legacy),
    namespace("secrets", "the secrets of the project", false, Version::Legacy),
    namespace("session", "the session", true, Version::Legacy),
    namespace("input", "what the user has just said", false, Version::Legacy),
    namespace("_secret", "values the user typed in secret", false, Version::Newest),
    namespace("lookup", "the reference tables", false, Version::Newest),
    namespace("secure", "values the user typed in secret", false, Version::Newest),
    namespace("route", "the routing decision", false, Version::Newest),
];

/// The namespace called `name`.
#[must_use]
pub fn system_namespace(name: &str) -> Option<&'static Namespace> {
    NAMESPACES.iter().find(|n| n.name == name)
}

/// The tools that the runtime gives agents, with what they do.
pub static SYSTEM_TOOLS: &[(&str, &str)] = &[
    ("__return_to_parent__", "gives control back to the agent that handed over"),
    ("__fan_out__", "asks several agents at once"),
    ("__handoff__", "hands the conversation over"),
    ("__complete__", "ends the agent's work"),
];

/// What the tool of the runtime called `name` does.
#[must_use]
pub fn system_tool(name: &str) -> Option<&'static str> {
    SYSTEM_TOOLS.iter().find(|(n, _)| *n == name).map(|(_, does)| *does)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> Option<&'static str> {
        system_variable(path).map(|v| v.name)
    }

    #[test]
    fn paths_are_found_by_their_beginning() {
        assert_eq!(found("match.1"), Some("match"));
        assert_eq!(found("matches"), None);
        assert_eq!(found("user.intent"), Some("user.intent"));
        assert_eq!(found("user.email"), None);
        assert_eq!(found("user"), None);
        assert_eq!(found("last_find_room_result.total"), Some("last_*_result"));
        assert_eq!(found("last_result"), None, "no tool between the two");
        assert_eq!(found("_stored_pets"), Some("_stored_*"));
        assert_eq!(found("_summary"), Some("_summary*"));
        assert_eq!(found("_turn_start"), None);
    }
}
