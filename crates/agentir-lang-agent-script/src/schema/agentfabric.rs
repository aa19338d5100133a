//! `agentfabric`: networks of nodes.

use super::base::{self, LABEL};
use super::{AGENTFABRIC_SCHEMA, FieldType, Limit, ProcedureKind, RecordType, field, record};

/// The possible targets of a transition.
pub(super) const NODES: &[&str] =
    &["orchestrator", "subagent", "generator", "executor", "router", "echo"];

/// A document.
pub(super) static DOCUMENT: RecordType = record(
    "document",
    AGENTFABRIC_SCHEMA,
    &[
        field("system", "what holds for the whole agent", FieldType::Block(&base::SYSTEM)),
        field("config", "who the agent is", FieldType::Block(&CONFIG)),
        field("variables", "what the agent remembers", FieldType::Declarations(&base::VARIABLE)),
        field("llm", "the models that nodes use", FieldType::Collection(&LLM)),
        field("actions", "what can be called", FieldType::Collection(&ACTION)),
        field("trigger", "which starts the network", FieldType::Named(&TRIGGER)).required(),
        field("orchestrator", "a node that directs others", FieldType::Named(&SUBAGENT)),
        field("subagent", "a node that thinks and uses tools", FieldType::Named(&SUBAGENT)),
        field("generator", "a node that asks a model once", FieldType::Named(&GENERATOR)),
        field("executor", "a node that does fixed steps", FieldType::Named(&EXECUTOR)),
        field("router", "a node that chooses the route", FieldType::Named(&ROUTER)),
        field("echo", "a node that reports to the caller", FieldType::Named(&ECHO)),
    ],
);

static CONFIG: RecordType = record(
    "config block",
    AGENTFABRIC_SCHEMA,
    &[
        field("agent_name", "the agent's name for programs", FieldType::Text).required(),
        LABEL,
        field("description", "what it is for", FieldType::Text),
        field("default_llm", "the model of nodes that name none", FieldType::Reference(&["llm"])),
    ],
);

static LLM: RecordType = record(
    "model",
    AGENTFABRIC_SCHEMA,
    &[
        field("target", "its connection: `llm://name`", FieldType::Text)
            .required()
            .limit(Limit::Connection(&["llm"], 1)),
        field("kind", "the provider of the model", FieldType::Text)
            .required()
            .one_of(&["OpenAI", "Gemini"]),
        field("model", "its name", FieldType::Text).required(),
        field("temperature", "how freely it answers", FieldType::Number)
            .limit(Limit::Range(0.0, 2.0)),
        field("top_p", "how many words it chooses from", FieldType::Number)
            .limit(Limit::Range(0.0, 1.0)),
        field("max_output_tokens", "how long answers may be", FieldType::Number),
        field("headers", "what is sent along", FieldType::Expr),
        field("timeout", "how many seconds it may take", FieldType::Number),
        field("api_key", "the key for it", FieldType::Text),
        field("reasoning_effort", "how hard it thinks", FieldType::Text)
            .requires("kind", &["OpenAI"]),
        field("top_logprobs", "how many likely words are reported", FieldType::Number)
            .requires("kind", &["OpenAI"]),
        field("thinking_level", "how hard it thinks", FieldType::Text)
            .requires("kind", &["Gemini"]),
        field("thinking_budget", "how long it may think", FieldType::Number)
            .requires("kind", &["Gemini"]),
        field("response_logprobs", "whether likelihoods are reported", FieldType::Bool)
            .requires("kind", &["Gemini"]),
    ],
);

static ACTION: RecordType = record(
    "action",
    AGENTFABRIC_SCHEMA,
    &[
        field("description", "what it does; the model reads it", FieldType::Text),
        LABEL,
        field("target", "its connection: `mcp://name` or `a2a://name`", FieldType::Text)
            .required()
            .limit(Limit::Connection(&["a2a", "mcp"], 1)),
        field("kind", "the kind of call", FieldType::Text)
            .required()
            .one_of(&["mcp:tool", "a2a:send_message"]),
        field("tool_name", "which tool of the server", FieldType::Text)
            .requires("kind", &["mcp:tool"]),
        field("inputs", "what it takes", FieldType::Declarations(&base::PARAMETER)),
    ],
);

static TRIGGER: RecordType = record(
    "trigger",
    AGENTFABRIC_SCHEMA,
    &[
        field("kind", "what it listens to", FieldType::Text).required().one_of(&["a2a"]),
        field("target", "the broker: `brokers://name/interface`", FieldType::Text)
            .required()
            .limit(Limit::Connection(&["broker", "brokers"], 2)),
        field("on_message", "which handles a message", FieldType::Procedure(ProcedureKind::Exit))
            .required(),
    ],
);

/// `orchestrator` and `subagent`.
static SUBAGENT: RecordType = record(
    "subagent",
    AGENTFABRIC_SCHEMA,
    &[
        field("label", "its name for people", FieldType::Quoted),
        field("description", "which tells the model what it is for", FieldType::Text).required(),
        field(
            "system",
            "replaces the agent's instructions here",
            FieldType::Block(&base::SUBAGENT_SYSTEM),
        ),
        field("reasoning", "the prompt and the tools of the model", FieldType::Block(&REASONING))
            .required(),
        field("schema", "which kind of node it is", FieldType::Quoted).uri(&["node"]),
        field("llm", "its model", FieldType::Reference(&["llm"])),
        field("on_exit", "which leads to the next node", FieldType::Procedure(ProcedureKind::Exit))
            .required(),
    ],
);

static REASONING: RecordType = record(
    "reasoning block",
    AGENTFABRIC_SCHEMA,
    &[
        field("outputs", "what has to come out", FieldType::Block(&OUTPUTS)),
        field("max_number_of_loops", "how often the model may think", FieldType::Number)
            .limit(Limit::Range(1.0, f64::INFINITY)),
        field("max_consecutive_errors", "how many errors in a row are borne", FieldType::Number)
            .limit(Limit::Range(1.0, f64::INFINITY)),
        field("task_timeout_secs", "how many seconds it may take", FieldType::Number),
    ],
)
.extends(&base::REASONING);

static OUTPUTS: RecordType = record(
    "outputs block",
    AGENTFABRIC_SCHEMA,
    &[field("properties", "what comes out", FieldType::Collection(&OUTPUT))],
);

/// A property or the items of an array: the supported part of JSON Schema.
static OUTPUT: RecordType = record(
    "output",
    AGENTFABRIC_SCHEMA,
    &[
        field("type", "its type", FieldType::Text)
            .required()
            .one_of(&["string", "number", "integer", "boolean", "array", "object"]),
        field("description", "what it means", FieldType::Text),
        field("pattern", "what texts have to match", FieldType::Text),
        field("minLength", "the shortest text", FieldType::Number),
        field("maxLength", "the longest text", FieldType::Number),
        field("minimum", "the least number", FieldType::Number),
        field("maximum", "the greatest number", FieldType::Number),
        field("exclusiveMinimum", "what numbers have to exceed", FieldType::Number),
        field("exclusiveMaximum", "what numbers have to stay below", FieldType::Number),
        field("minItems", "the shortest array", FieldType::Number),
        field("maxItems", "the longest array", FieldType::Number),
        field("enum", "the values it may have", FieldType::Expr),
        field("required", "which of its properties have to be there", FieldType::Expr),
        field("default", "its value if none comes out", FieldType::Expr),
        field("items", "what an array holds", FieldType::Block(&OUTPUT)),
        field("properties", "what an object holds", FieldType::Collection(&OUTPUT)),
    ],
);

static GENERATOR: RecordType = record(
    "generator",
    AGENTFABRIC_SCHEMA,
    &[
        field("description", "what it is for", FieldType::Text),
        LABEL,
        field("llm", "its model", FieldType::Reference(&["llm"])),
        field(
            "system",
            "replaces the agent's instructions here",
            FieldType::Block(&GENERATOR_SYSTEM),
        ),
        field("prompt", "the question to the model", FieldType::Procedure(ProcedureKind::Prompt))
            .required(),
        field("outputs", "what has to come out", FieldType::Block(&OUTPUTS)),
        field("on_exit", "which leads to the next node", FieldType::Procedure(ProcedureKind::Exit))
            .required(),
    ],
);

static GENERATOR_SYSTEM: RecordType = record(
    "system block",
    AGENTFABRIC_SCHEMA,
    &[field("instructions", "instructions that replace the agent's", FieldType::Text)],
);

static EXECUTOR: RecordType = record(
    "executor",
    AGENTFABRIC_SCHEMA,
    &[
        field("description", "what it is for", FieldType::Text),
        LABEL,
        field("do", "its steps", FieldType::Procedure(ProcedureKind::Deterministic)).required(),
        field("on_exit", "which leads to the next node", FieldType::Procedure(ProcedureKind::Exit)),
    ],
);

static ROUTER: RecordType = record(
    "router",
    AGENTFABRIC_SCHEMA,
    &[
        field("description", "what it is for", FieldType::Text),
        LABEL,
        field(
            "routes",
            "the routes, of which the first that applies is taken",
            FieldType::Items(&ROUTE),
        )
        .required()
        .limit(Limit::AtLeast(1)),
        field("otherwise", "the route if none applies", FieldType::Block(&OTHERWISE)),
    ],
);

static ROUTE: RecordType = record(
    "route",
    AGENTFABRIC_SCHEMA,
    &[
        field("target", "the node it leads to", FieldType::Reference(NODES)).required(),
        field("when", "the condition of the route", FieldType::Expr).required(),
        LABEL,
    ],
);

static OTHERWISE: RecordType = record(
    "otherwise block",
    AGENTFABRIC_SCHEMA,
    &[field("target", "the node it leads to", FieldType::Reference(NODES)).required()],
);

static ECHO: RecordType = record(
    "echo",
    AGENTFABRIC_SCHEMA,
    &[
        field("description", "what it is for", FieldType::Text),
        LABEL,
        field("kind", "what it reports", FieldType::Text)
            .required()
            .one_of(&["a2a:status_update_event", "a2a:artifact_update_event"]),
        field("state", "how far the task is", FieldType::Text)
            .requires("kind", &["a2a:status_update_event"]),
        field("message", "the message", FieldType::Expr),
        field("artifact", "what is handed over", FieldType::Expr)
            .requires("kind", &["a2a:artifact_update_event"]),
        field("append", "whether it adds to what was handed over", FieldType::Bool)
            .requires("kind", &["a2a:artifact_update_event"]),
        field("lastChunk", "whether nothing more follows", FieldType::Bool)
            .requires("kind", &["a2a:artifact_update_event"]),
        field("metadata", "what is sent along", FieldType::Expr),
        field("on_exit", "which leads to the next node", FieldType::Procedure(ProcedureKind::Exit)),
    ],
);
