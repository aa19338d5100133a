//! `agentfabric`: networks of nodes.

use super::base::{self, LABEL};
use super::{Limit, RecordType, Shape, Steps, field, record};

/// The possible targets of a transition.
const NODES: &[&str] = &["orchestrator", "subagent", "generator", "executor", "router", "echo"];

/// A document.
pub(super) static DOCUMENT: RecordType = record(
    "document",
    &[
        field("system", "what holds for the whole agent", Shape::Block(&base::SYSTEM)),
        field("config", "who the agent is", Shape::Block(&CONFIG)),
        field("variables", "what the agent remembers", Shape::Declarations(&base::VARIABLE)),
        field("llm", "the models that nodes use", Shape::Collection(&LLM)),
        field("actions", "what can be called", Shape::Collection(&ACTION)),
        field("trigger", "what starts the network", Shape::Named(&TRIGGER)).required(),
        field("orchestrator", "a node that directs others", Shape::Named(&SUBAGENT)),
        field("subagent", "a node that thinks and uses tools", Shape::Named(&SUBAGENT)),
        field("generator", "a node that asks a model once", Shape::Named(&GENERATOR)),
        field("executor", "a node that does fixed steps", Shape::Named(&EXECUTOR)),
        field("router", "a node that chooses the way", Shape::Named(&ROUTER)),
        field("echo", "a node that reports to the caller", Shape::Named(&ECHO)),
    ],
);

static CONFIG: RecordType = record(
    "config block",
    &[
        field("agent_name", "the agent's name for programs", Shape::Text).required(),
        LABEL,
        field("description", "what it is for", Shape::Text),
        field("default_llm", "the model of nodes that name none", Shape::Reference(&["llm"])),
    ],
);

static LLM: RecordType = record(
    "model",
    &[
        field("target", "its connection: `llm://name`", Shape::Text)
            .required()
            .limit(Limit::Connection(&["llm"], 1)),
        field("kind", "whose it is", Shape::Text).required().one_of(&["OpenAI", "Gemini"]),
        field("model", "its name", Shape::Text).required(),
        field("temperature", "how freely it answers", Shape::Number).limit(Limit::Range(0.0, 2.0)),
        field("top_p", "how many words it chooses from", Shape::Number)
            .limit(Limit::Range(0.0, 1.0)),
        field("max_output_tokens", "how long answers may be", Shape::Number),
        field("headers", "what is sent along", Shape::Expr),
        field("timeout", "how many seconds it may take", Shape::Number),
        field("api_key", "the key for it", Shape::Text),
        field("reasoning_effort", "how hard it thinks", Shape::Text).only_with("kind", &["OpenAI"]),
        field("top_logprobs", "how many likely words are reported", Shape::Number)
            .only_with("kind", &["OpenAI"]),
        field("thinking_level", "how hard it thinks", Shape::Text).only_with("kind", &["Gemini"]),
        field("thinking_budget", "how long it may think", Shape::Number)
            .only_with("kind", &["Gemini"]),
        field("response_logprobs", "whether likelihoods are reported", Shape::Bool)
            .only_with("kind", &["Gemini"]),
    ],
);

static ACTION: RecordType = record(
    "action",
    &[
        field("description", "what it does; the model reads it", Shape::Text),
        LABEL,
        field("target", "its connection: `mcp://name` or `a2a://name`", Shape::Text)
            .required()
            .limit(Limit::Connection(&["a2a", "mcp"], 1)),
        field("kind", "what kind of call it is", Shape::Text)
            .required()
            .one_of(&["mcp:tool", "a2a:send_message"]),
        field("tool_name", "which tool of the server", Shape::Text)
            .only_with("kind", &["mcp:tool"]),
        field("inputs", "what it takes", Shape::Declarations(&base::PARAMETER)),
    ],
);

static TRIGGER: RecordType = record(
    "trigger",
    &[
        field("kind", "what it listens to", Shape::Text).required().one_of(&["a2a"]),
        field("target", "the broker: `brokers://name/interface`", Shape::Text)
            .required()
            .limit(Limit::Connection(&["broker", "brokers"], 2)),
        field("on_message", "where a message goes", Shape::Procedure(Steps::Exit)).required(),
    ],
);

/// `orchestrator` and `subagent`.
static SUBAGENT: RecordType = record(
    "subagent",
    &[
        field("label", "its name for people", Shape::Quoted),
        field("description", "what it is for", Shape::Text).required(),
        field(
            "system",
            "replaces the agent's instructions here",
            Shape::Block(&base::SUBAGENT_SYSTEM),
        ),
        field("reasoning", "what the model is told and may use", Shape::Block(&REASONING))
            .required(),
        field("schema", "which kind of node it is", Shape::Quoted).uri(&["node"]),
        field("llm", "its model", Shape::Reference(&["llm"])),
        field("on_exit", "where to go next", Shape::Procedure(Steps::Exit)).required(),
    ],
);

static REASONING: RecordType = record(
    "reasoning block",
    &[
        field("outputs", "what has to come out", Shape::Block(&OUTPUTS)),
        field("max_number_of_loops", "how often the model may think", Shape::Number)
            .limit(Limit::Range(1.0, f64::INFINITY)),
        field("max_consecutive_errors", "how many errors in a row are borne", Shape::Number)
            .limit(Limit::Range(1.0, f64::INFINITY)),
        field("task_timeout_secs", "how many seconds it may take", Shape::Number),
    ],
)
.extends(&base::REASONING);

static OUTPUTS: RecordType =
    record("outputs block", &[field("properties", "what comes out", Shape::Collection(&OUTPUT))]);

/// A property or the items of an array: the supported part of JSON Schema.
static OUTPUT: RecordType = record(
    "output",
    &[
        field("type", "its type", Shape::Text)
            .required()
            .one_of(&["string", "number", "integer", "boolean", "array", "object"]),
        field("description", "what it means", Shape::Text),
        field("pattern", "what texts have to match", Shape::Text),
        field("minLength", "the shortest text", Shape::Number),
        field("maxLength", "the longest text", Shape::Number),
        field("minimum", "the least number", Shape::Number),
        field("maximum", "the greatest number", Shape::Number),
        field("exclusiveMinimum", "what numbers have to exceed", Shape::Number),
        field("exclusiveMaximum", "what numbers have to stay below", Shape::Number),
        field("minItems", "the shortest array", Shape::Number),
        field("maxItems", "the longest array", Shape::Number),
        field("enum", "the values it may have", Shape::Expr),
        field("required", "which of its properties have to be there", Shape::Expr),
        field("default", "its value if none comes out", Shape::Expr),
        field("items", "what an array holds", Shape::Block(&OUTPUT)),
        field("properties", "what an object holds", Shape::Collection(&OUTPUT)),
    ],
);

static GENERATOR: RecordType = record(
    "generator",
    &[
        field("description", "what it is for", Shape::Text),
        LABEL,
        field("llm", "its model", Shape::Reference(&["llm"])),
        field("system", "replaces the agent's instructions here", Shape::Block(&GENERATOR_SYSTEM)),
        field("prompt", "what the model is asked", Shape::Procedure(Steps::Prompt)).required(),
        field("outputs", "what has to come out", Shape::Block(&OUTPUTS)),
        field("on_exit", "where to go next", Shape::Procedure(Steps::Exit)).required(),
    ],
);

static GENERATOR_SYSTEM: RecordType = record(
    "system block",
    &[field("instructions", "instructions that replace the agent's", Shape::Text)],
);

static EXECUTOR: RecordType = record(
    "executor",
    &[
        field("description", "what it is for", Shape::Text),
        LABEL,
        field("do", "its steps", Shape::Procedure(Steps::Deterministic)).required(),
        field("on_exit", "where to go next", Shape::Procedure(Steps::Exit)),
    ],
);

static ROUTER: RecordType = record(
    "router",
    &[
        field("description", "what it is for", Shape::Text),
        LABEL,
        field("routes", "the ways, the first that fits is taken", Shape::Items(&ROUTE))
            .required()
            .limit(Limit::AtLeast(1)),
        field("otherwise", "the way if none fits", Shape::Block(&OTHERWISE)),
    ],
);

static ROUTE: RecordType = record(
    "route",
    &[
        field("target", "where it goes", Shape::Reference(NODES)).required(),
        field("when", "when it is taken", Shape::Expr).required(),
        LABEL,
    ],
);

static OTHERWISE: RecordType = record(
    "otherwise block",
    &[field("target", "where it goes", Shape::Reference(NODES)).required()],
);

static ECHO: RecordType = record(
    "echo",
    &[
        field("description", "what it is for", Shape::Text),
        LABEL,
        field("kind", "what is reported", Shape::Text)
            .required()
            .one_of(&["a2a:status_update_event", "a2a:artifact_update_event"]),
        field("state", "how far the task is", Shape::Text)
            .only_with("kind", &["a2a:status_update_event"]),
        field("message", "what is said", Shape::Expr),
        field("artifact", "what is handed over", Shape::Expr)
            .only_with("kind", &["a2a:artifact_update_event"]),
        field("append", "whether it adds to what was handed over", Shape::Bool)
            .only_with("kind", &["a2a:artifact_update_event"]),
        field("lastChunk", "whether nothing more follows", Shape::Bool)
            .only_with("kind", &["a2a:artifact_update_event"]),
        field("metadata", "what is sent along", Shape::Expr),
        field("on_exit", "where to go next", Shape::Procedure(Steps::Exit)),
    ],
);
