//! The names that the runtime of ABL owns (current specification 3.7.2 and 8.8; the newest documentation adds a
//! few).

use agentir_expr::ParameterType::{Array, Boolean, Number, Object, String};
use agentir_expr::Version;
use agentir_expr::dialect::{Namespace, RuntimeNames, SystemVariable};

/// The names.
pub(crate) const RUNTIME: RuntimeNames = RuntimeNames {
    variables: VARIABLES,
    namespaces: NAMESPACES,
    memory_roots: &["project", "user", "workflow"],
    objects: &["agent", "context", "conversation", "escalate", "handoff", "human", "system"],
    assumed: ASSUMED,
    expected: &[],
    said: &["input"],
    checked: &["content", "input", "output", "response", "tool_input", "tool_output", "text"],
    handed_over: &["handoff", "context"],
    // `$result` stands in the bindings of tools.
    prefixes: &["_", "$"],
    tools: TOOLS,
    handoff_tool: Some(HANDOFF_TOOL),
    references: &[],
    text_types: &[],
};

/// Variables that the examples of the specifications use without declaring them.
const ASSUMED: &[&str] = &[
    "action",
    "action_value",
    "active_agent",
    "content",
    "conversation_history",
    "conversation_transcript",
    "current_state",
    "error",
    "error_message",
    "failure_reasons",
    "response",
    "result",
    "session_id",
    "this",
    "turn_count",
];

const SENTIMENTS: &[&str] =
    &["very_negative", "negative", "neutral", "positive", "very_positive", "frustrated"];
const TRAJECTORIES: &[&str] = &["improving", "declining", "stable", "volatile"];
const CHANNELS: &[&str] = &["web", "slack", "teams", "whatsapp", "voice", "api"];

const VARIABLES: &[SystemVariable] = &[
    SystemVariable::new(
        "match",
        Object,
        &[],
        "whenever a `matches` condition holds",
        "match_result",
    ),
    SystemVariable::new(
        "all_fields_gathered",
        Boolean,
        &[],
        "when all required fields are collected",
        "form_done",
    ),
    SystemVariable::new(
        "user.intent",
        String,
        &[],
        "with each message, from what the user wants",
        "wish",
    ),
    SystemVariable::new(
        "user.sentiment",
        String,
        SENTIMENTS,
        "with each message, from how the user sounds",
        "mood",
    ),
    SystemVariable::new(
        "sentiment_trajectory",
        String,
        TRAJECTORIES,
        "over the turns of the conversation",
        "mood_trend",
    ),
    SystemVariable::new("tool_failures", Number, &[], "when a tool call fails", "failed_calls"),
    SystemVariable::new(
        "constraint_failures",
        Number,
        &[],
        "when a constraint fails",
        "failed_rules",
    ),
    SystemVariable::new(
        "channel",
        String,
        CHANNELS,
        "when the session starts",
        "preferred_channel",
    ),
    SystemVariable::new(
        "language",
        String,
        &[],
        "when the session starts and when it detects the language",
        "preferred_language",
    ),
    SystemVariable::new(
        "user_id",
        String,
        &[],
        "when the session starts, from who is logged in",
        "customer_id",
    )
    .returned(),
    SystemVariable::new("project_id", String, &[], "when the session starts", "own_project_id"),
    SystemVariable::new("tenant_id", String, &[], "when the session starts", "customer_number"),
    SystemVariable::new(
        "handoff.completed",
        Boolean,
        &[],
        "when an agent that took over is done",
        "handoff_done",
    ),
    SystemVariable::new(
        "escalate.completed",
        Boolean,
        &[],
        "when a person has resolved an escalation",
        "escalation_done",
    ),
    SystemVariable::new(
        "last_*_result",
        Object,
        &[],
        "after each call of that tool",
        "kept_result",
    ),
    SystemVariable::new(
        "_clarification_count",
        Number,
        &[],
        "each time a field is asked for again",
        "clarification_count",
    ),
    SystemVariable::new(
        "_validation_retries",
        Object,
        &[],
        "when the value of a field is refused",
        "retries",
    ),
    SystemVariable::new(
        "_pending_inferences",
        Object,
        &[],
        "when the model infers the value of a field",
        "inferred",
    ),
    SystemVariable::new(
        "_constraint_warnings",
        Array,
        &[],
        "when a soft constraint fails",
        "warnings",
    ),
    SystemVariable::new(
        "_disambiguation_intents",
        Array,
        &[],
        "when a message has several intents",
        "possible_intents",
    ),
    SystemVariable::new(
        "_summary*",
        String,
        &[],
        "with the summary of the conversation",
        "summary",
    ),
    SystemVariable::new(
        "_stored_*",
        Object,
        &[],
        "with what the persistent memory holds",
        "stored",
    ),
    SystemVariable::new("_error*", Object, &[], "when an operation fails", "last_error"),
    SystemVariable::new(
        "_correction*",
        Object,
        &[],
        "when the user corrects an answer",
        "correction",
    ),
    SystemVariable::new(
        "_current_step_for_reset",
        String,
        &[],
        "when the flow enters a step",
        "current_step",
    ),
    SystemVariable::newest("recent_input", "with each message", "last_message"),
    SystemVariable::newest("input_transcript", "with each message", "transcript"),
];

const fn namespace(
    name: &'static str,
    holds: &'static str,
    writable: bool,
    since: Version,
) -> Namespace {
    Namespace { name, holds, writable, since }
}

const NAMESPACES: &[Namespace] = &[
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

/// The tool by which the model hands over to another agent.
pub(crate) const HANDOFF_TOOL: &str = "__handoff__";

const TOOLS: &[(&str, &str)] = &[
    ("__return_to_parent__", "gives control back to the agent that handed over"),
    ("__fan_out__", "asks several agents at once"),
    (HANDOFF_TOOL, "hands the conversation over"),
    ("__complete__", "ends the agent's work"),
    ("get_attachment", "reads what a user has attached"),
    ("list_attachments", "names what users have attached"),
];

#[cfg(test)]
mod tests {
    use super::RUNTIME;

    fn found(path: &str) -> Option<&'static str> {
        RUNTIME.variable(path).map(|v| v.name)
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

    #[test]
    fn names_are_listed_or_have_a_prefix() {
        for name in ["user_id", "config", "user", "handoff", "result"] {
            assert!(RUNTIME.lists(name), "{name}");
        }
        assert!(RUNTIME.defines("_turn_start") && !RUNTIME.lists("_turn_start"));
        assert!(!RUNTIME.defines("order"));
        assert_eq!(RUNTIME.tool_of_result("last_find_room_result"), Some("find_room"));
        assert_eq!(RUNTIME.tool_of_result("_stored_pets"), None);
    }
}
