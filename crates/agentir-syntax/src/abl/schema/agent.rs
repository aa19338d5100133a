//! Tables of the document, and of the sections on identity, execution, fields and memory.

use super::behavior::{CONSTRAINTS, GUARDRAILS, INLINE_PROFILES, PROFILES_LEGACY};
use super::coordination::{COMPLETE, DELEGATES, ESCALATE, HANDOFFS, RETURN_HANDLERS};
use super::flow::{ACTION_HANDLERS, ERROR_HANDLERS, FLOW, HOOK, HOOKS, STEP};
use super::supervisor::{AGENTS, BEHAVIOR, COMMUNICATION, POLICIES, PROTOCOL, ROUTING, STATE};
use super::tools::TOOLS;
use super::{Head, RecordType, Shape, Version, field, record};
use crate::rules;

/// An agent or supervisor document (§2). Both kinds share one table; sections that only supervisors have
/// are checked where the kind is known.
pub static AGENT: RecordType = record(
    "agent",
    &[
        field("agent", Shape::Name),
        field("supervisor", Shape::Name),
        field("version", Shape::Text),
        field("description", Shape::Template),
        field("language", Shape::Text),
        field("goal", Shape::Template),
        field("persona", Shape::Template),
        field("limitations", Shape::Templates),
        field("identity", Shape::Record(&IDENTITY)),
        field("instructions", Shape::OneOf(&[Shape::Record(&INSTRUCTIONS), Shape::Template])),
        field("system_prompt", Shape::Template),
        field("execution", Shape::Record(&EXECUTION)),
        field("tools", Shape::Record(&TOOLS)),
        field("use_tool", Shape::Name).aka(&["use tool"]),
        field("gather", Shape::Record(&GATHER)),
        field("flow", Shape::Record(&FLOW)),
        field("memory", Shape::Record(&MEMORY)),
        field("constraints", Shape::Record(&CONSTRAINTS)),
        field("guardrails", Shape::Record(&GUARDRAILS)),
        field("delegate", Shape::Record(&DELEGATES)),
        field("handoff", Shape::Record(&HANDOFFS)),
        field("escalate", Shape::Record(&ESCALATE)),
        field("complete", Shape::Record(&COMPLETE)),
        field("on_error", Shape::Record(&ERROR_HANDLERS)),
        field("on_start", Shape::Record(&HOOK)),
        field("messages", Shape::Record(&MESSAGES)),
        field("templates", Shape::Record(&TEMPLATES)),
        field("hooks", Shape::Record(&HOOKS)),
        field("nlu", Shape::Record(&NLU)).current(),
        field("multi_intent", Shape::Record(&MULTI_INTENT)).current(),
        field("intents", Shape::Record(&INTENTS)).current(),
        field("entities", Shape::Record(&ENTITIES)).current(),
        field("lookup_tables", Shape::Record(&LOOKUP_TABLES)).current(),
        field("attachments", Shape::Record(&ATTACHMENTS)).newest(),
        field("destinations", Shape::Record(&DESTINATIONS)).newest(),
        field("transfer_flow_policies", Shape::Data).newest(),
        field("return_handlers", Shape::Record(&RETURN_HANDLERS)).newest(),
        field("action_handlers", Shape::Record(&ACTION_HANDLERS)),
        field("conversation", Shape::Data).newest(),
        field("use_behavior_profile", Shape::Names)
            .aka(&["use behavior_profile", "use_behavior_profiles"])
            .current(),
        field("behavior_profile", Shape::Record(&INLINE_PROFILES)).newest(),
        field("behavior_profiles", Shape::Record(&PROFILES_LEGACY)).until(
            Version::Legacy,
            "put the profile into a file of its own (`BEHAVIOR_PROFILE: name`) and write `USE BEHAVIOR_PROFILE: name` here",
        )
        .reported_as(rules::BEHAVIOR_PROFILES_PLURAL),
        field("formats", Shape::Data).newest(),
        field("rich_content", Shape::Data).newest(),
        field("actions", Shape::Data).newest(),
        field("tests", Shape::Data).current(),
        field("mode", Shape::Text).until(
            Version::Legacy,
            "say `REASONING: true` or `REASONING: false` in each step of the `FLOW`",
        )
        .reported_as(rules::MODE_REMOVED),
        field("agents", Shape::Record(&AGENTS)),
        field("routing", Shape::Record(&ROUTING)),
        field("handoff_protocol", Shape::Record(&PROTOCOL)),
        field("state", Shape::Record(&STATE)),
        field("policies", Shape::Record(&POLICIES)),
        field("communication", Shape::Record(&COMMUNICATION)),
        field("behavior", Shape::Record(&BEHAVIOR)),
    ],
);

/// The sections that a top-level key of a fragment may belong to. A fragment is one section, or a part of
/// one, without an agent around it.
pub static FRAGMENT_HOMES: &[(&str, &RecordType)] = &[
    ("memory", &MEMORY),
    ("escalate", &ESCALATE),
    ("hooks", &HOOKS),
    ("nlu", &NLU),
    ("flow", &FLOW),
    ("step", &STEP),
];

static IDENTITY: RecordType = record(
    "identity",
    &[
        field("role", Shape::Template),
        field("goal", Shape::Template),
        field("persona", Shape::Template),
        field("tone", Shape::Template),
        field("description", Shape::Template),
        field("limitations", Shape::Templates),
        field("instructions", Shape::Template),
        field("language", Shape::Text),
    ],
);

static INSTRUCTIONS: RecordType = record("instructions", &[]).items(&INSTRUCTION);
static INSTRUCTION: RecordType =
    record("instruction", &[field("text", Shape::Template), field("when", Shape::Condition)])
        .heads(&[Head::Text]);

static EXECUTION: RecordType = record(
    "execution",
    &[
        field("model", Shape::Text),
        field("temperature", Shape::Number),
        field("max_tokens", Shape::Number),
        field("tool_timeout", Shape::Number).aka(&["tool_timeout_ms"]),
        field("llm_timeout", Shape::Number).aka(&["llm_timeout_ms"]),
        field("session_idle_timeout", Shape::Number).aka(&[
            "session_timeout",
            "session_timeout_ms",
            "session_idle_timeout_ms",
        ]),
        field("voice_latency_target", Shape::Number).aka(&["voice_latency_target_ms"]),
        field("max_reasoning_iterations", Shape::Number).aka(&["max_iterations"]),
        field("max_flow_iterations", Shape::Number),
        field("fallback_model", Shape::Text),
        field("reasoning_effort", Shape::Enum(&["low", "medium", "high"])).newest(),
        field("enable_thinking", Shape::Bool).newest(),
        field("thinking_budget", Shape::Number).newest(),
        field("compaction_threshold", Shape::Number).newest(),
        field("compaction", Shape::Data).newest(),
        field("inline_gather", Shape::Bool).newest(),
        field("concurrency", Shape::Enum(&["serial", "preemptive", "parallel"])).newest(),
        field("max_queue_depth", Shape::Number).newest(),
        field("max_concurrent_messages", Shape::Number).newest(),
        field("models", Shape::Record(&MODELS)).newest(),
        field("timeouts", Shape::Record(&TIMEOUTS)),
        field("voice", Shape::Data),
        field("pipeline", Shape::Data),
    ],
);

static MODELS: RecordType = record("models", &[]).items(&MODEL);
static MODEL: RecordType =
    record("model", &[field("model", Shape::Text)]).keyed().shorthand("model").open();

static TIMEOUTS: RecordType = record(
    "timeouts",
    &[
        field("tool_timeout", Shape::Number).aka(&["tool_timeout_ms"]),
        field("llm_timeout", Shape::Number).aka(&["llm_timeout_ms"]),
        field("session_idle_timeout", Shape::Number)
            .aka(&["session_timeout", "session_timeout_ms"]),
        field("voice_latency_target", Shape::Number).aka(&["voice_latency_target_ms"]),
    ],
);

/// The types of a gather field (§3.6) and of entities.
pub(super) const FIELD_TYPES: &[&str] = &[
    "string",
    "text",
    "free_text",
    "number",
    "integer",
    "float",
    "currency",
    "boolean",
    "date",
    "datetime",
    "email",
    "phone",
    "enum",
    "pattern",
    "location",
    "attachment",
    "array",
    "object",
];

pub(super) static GATHER: RecordType = record(
    "gather",
    &[
        // Effective in a step only (§3.6).
        field("strategy", Shape::Enum(&["pattern", "llm", "hybrid", "auto", "ml"])),
        field("fields", Shape::Record(&GATHER_FIELDS)),
        field("prompt", Shape::Template),
        field("message_key", Shape::Name),
        field("correction_patterns", Shape::Templates).newest(),
    ],
)
.items(&GATHER_FIELD);

pub(super) static GATHER_FIELDS: RecordType = record("fields", &[]).items(&GATHER_FIELD);

pub(super) static GATHER_FIELD: RecordType = record(
    "gather field",
    &[
        field("prompt", Shape::Template),
        field("message_key", Shape::Name).newest(),
        field("description", Shape::Template),
        field("type", Shape::Enum(FIELD_TYPES)),
        field("required", Shape::OneOf(&[Shape::Bool, Shape::Enum(&["required", "optional"])])),
        field("default", Shape::Data),
        field("entity_ref", Shape::Name).aka(&["entity"]).current(),
        field("options", Shape::Templates).aka(&["values", "enum_values", "enum"]),
        field("synonyms", Shape::Data),
        field("validate", Shape::OneOf(&[Shape::Record(&VALIDATION), Shape::Template]))
            .aka(&["validation"]),
        field("validation_process", Shape::Enum(&["regex", "code", "llm"])).newest(),
        field("retry_prompt", Shape::Template),
        field("max_retries", Shape::Number),
        field("infer", Shape::Bool),
        field("infer_confidence", Shape::Number),
        field("infer_confirm", Shape::Bool),
        field("prompt_mode", Shape::Enum(&["ask", "extract_only"])).newest(),
        field("range", Shape::Data),
        field("list", Shape::Data),
        field("preferences", Shape::Data),
        field(
            "activation",
            Shape::OneOf(&[
                Shape::Record(&ACTIVATION),
                Shape::Enum(&["required", "optional", "progressive"]),
            ]),
        ),
        field("depends_on", Shape::Names),
        field("satisfied_by", Shape::Enum(&["user_input", "authoritative_tool", "system"]))
            .newest(),
        field("sensitive", Shape::Bool),
        field("sensitive_display", Shape::Enum(&["redact", "replace", "mask"])),
        field("mask_config", Shape::Record(&MASK)),
        field("pii_type", Shape::Text),
        field("transient", Shape::Bool),
        field("extraction_pattern", Shape::Text),
        field("extraction_group", Shape::Number),
        field("extraction_hints", Shape::Templates).aka(&["hints"]),
        field("strategy", Shape::Enum(&["pattern", "llm", "hybrid", "auto", "ml"])),
        field("semantics", Shape::Record(&SEMANTICS)),
        // Attachments collected as fields (§3.13.4).
        field("category", Shape::Enum(&["image", "document", "audio", "video"])),
        field("allowed_mime_types", Shape::Templates).aka(&["allowed_types"]),
        field("max_file_size", Shape::Number),
        field("processing", Shape::Data),
        field("voice", Shape::Data),
        field("rich_content", Shape::Data).aka(&["formats"]),
    ],
)
.keyed()
.heads(&[Head::Name])
.shorthand("required");

pub(super) static VALIDATION: RecordType = record(
    "validation",
    &[
        field("type", Shape::Enum(&["pattern", "range", "enum", "custom", "llm", "intrinsic"])),
        field("rule", Shape::Text),
        field("error", Shape::Template).aka(&["error_message"]),
        field("retry_prompt", Shape::Template),
        field("max_retries", Shape::Number),
        field("validation_process", Shape::Enum(&["regex", "code", "llm"])),
        // The short form in the table of §3.6: `pattern: "…"`.
        field("pattern", Shape::Text),
        field("range", Shape::Text),
        field("enum", Shape::Text),
        field("custom", Shape::Text),
        field("llm", Shape::Text),
    ],
);

static ACTIVATION: RecordType = record("activation", &[field("when", Shape::Condition)]);

pub(super) static MASK: RecordType = record(
    "mask configuration",
    &[
        field("show_first", Shape::Number).aka(&["showFirst"]),
        field("show_last", Shape::Number).aka(&["showLast"]),
        field("char", Shape::Text),
    ],
);

static SEMANTICS: RecordType = record(
    "semantics",
    &[
        field("format", Shape::Text),
        field("components", Shape::Names),
        field("unit", Shape::Text),
        field("lookup", Shape::Name),
        field("convert_to", Shape::Text),
        field("locale", Shape::Text),
        field("temporal", Shape::Enum(&["future", "past", "any"])).newest(),
        field("enum_set", Shape::Templates).current(),
        field("kore_entity_type", Shape::Text),
    ],
);

static MEMORY: RecordType = record(
    "memory",
    &[
        field("session", Shape::Record(&SESSION)),
        field("persistent", Shape::Record(&PERSISTENT)),
        field("remember", Shape::Record(&REMEMBER)),
        field("recall", Shape::Record(&RECALL)),
    ],
);

static SESSION: RecordType = record("session memory", &[]).items(&SESSION_VARIABLE);
static SESSION_VARIABLE: RecordType = record(
    "session variable",
    &[
        field("type", Shape::Type).newest(),
        field("description", Shape::Template).newest(),
        field("initial", Shape::Data).aka(&["initial_value"]).current(),
        field("reset", Shape::Enum(&["per_session", "per_activation", "per_step", "never"]))
            .current(),
    ],
)
.keyed()
.heads(&[Head::Name])
.shorthand("description");

static PERSISTENT: RecordType = record(
    "persistent memory",
    &[field("reads", Shape::Names).current(), field("writes", Shape::Names).current()],
)
.items(&PERSISTENT_PATH);
static PERSISTENT_PATH: RecordType = record(
    "persistent path",
    &[
        field("path", Shape::Name),
        field("scope", Shape::Enum(&["user", "project", "execution_tree"])),
        field("access", Shape::Enum(&["read", "write", "readwrite"])),
        field("type", Shape::Type),
        field("unit", Shape::Text),
        field("default_value", Shape::Data).aka(&["default"]),
        field("description", Shape::Template),
        field("sensitive", Shape::Bool).newest(),
        field("sensitive_display", Shape::Enum(&["redact", "replace", "mask"])).newest(),
        field("mask_config", Shape::Record(&MASK)).newest(),
    ],
)
.keyed()
.named_by("path")
.heads(&[Head::Name])
.shorthand("description");

static REMEMBER: RecordType = record("remember", &[]).items(&REMEMBER_RULE);
static REMEMBER_RULE: RecordType = record(
    "remember rule",
    &[
        field("when", Shape::Condition),
        field("store", Shape::OneOf(&[Shape::Record(&STORE_BLOCK), Shape::Store])),
        field("ttl", Shape::Text),
    ],
)
.heads(&[Head::Condition]);
static STORE_BLOCK: RecordType = record(
    "store",
    &[
        field("value", Shape::Expr),
        field("target", Shape::Name),
        field("operation", Shape::Enum(&["overwrite", "set", "append"])).newest(),
        field("unique", Shape::Bool).newest(),
        field("max_size", Shape::Number).aka(&["maxSize"]).newest(),
    ],
);

static RECALL: RecordType = record("recall", &[]).items(&RECALL_RULE);
static RECALL_RULE: RecordType = record(
    "recall rule",
    &[
        field("on", Shape::Text).required(),
        field("action", Shape::Enum(&["inject_context", "load_memory", "prompt_llm"])),
        field("instruction", Shape::Template),
        field("paths", Shape::Names),
        field("retrieve", Shape::Names),
        field("domain", Shape::Text),
    ],
)
// `ON_START: "…"`: the key is the event; see the reader of recall rules.
.keyed()
.named_by("on")
.shorthand("instruction");

static MESSAGES: RecordType = record("messages", &[]).items(&MESSAGE);
static MESSAGE: RecordType =
    record("message", &[field("text", Shape::Template)]).keyed().shorthand("text");

static TEMPLATES: RecordType = record("templates", &[]).items(&TEMPLATE);
/// A named response with its variants (§3.13.1).
static TEMPLATE: RecordType = record(
    "template",
    &[
        field("default", Shape::Template),
        field("markdown", Shape::Template),
        field("html", Shape::Template),
        field("voice instructions", Shape::Template).aka(&["voice_instructions"]),
        field("adaptive_card", Shape::Template),
        field("slack", Shape::Template),
        field("whatsapp", Shape::Template),
        field("ag_ui", Shape::Template),
        field("voice", Shape::Data),
        field("when", Shape::Condition).newest(),
        field("adaptive", Shape::Data).newest(),
        field("actions", Shape::Data),
        field("renderables", Shape::Data).newest(),
        field("carousel", Shape::Data).newest(),
        field("quick_replies", Shape::Data).newest(),
        field("list", Shape::Data).newest(),
        field("image", Shape::Data).newest(),
        field("video", Shape::Data).newest(),
        field("audio", Shape::Data).newest(),
        field("file", Shape::Data).newest(),
        field("kpi", Shape::Data).newest(),
        field("table", Shape::Data).newest(),
        field("chart", Shape::Data).newest(),
        field("form", Shape::Data).newest(),
        field("progress", Shape::Data).newest(),
        field("feedback", Shape::Data).newest(),
    ],
)
.keyed()
.shorthand("default");

static NLU: RecordType = record(
    "nlu",
    &[
        field("intents", Shape::Record(&NLU_INTENTS)),
        field("entities", Shape::Record(&NLU_ENTITIES)),
        field("categories", Shape::Data),
        field("glossary", Shape::Data),
        field("embeddings", Shape::Data),
        field("languages", Shape::Names),
        field("default_language", Shape::Text),
        field("allow_code_switching", Shape::Bool),
        field("language_models", Shape::Data),
        field("models", Shape::Data),
        field("evaluation", Shape::Data),
        field("config_file", Shape::Text),
    ],
);
static NLU_INTENTS: RecordType = record("intents", &[]).items(&NLU_INTENT);
static NLU_INTENT: RecordType = record(
    "intent",
    &[
        field("description", Shape::Template),
        field("patterns", Shape::Templates),
        field("examples", Shape::Templates),
        field("examples_file", Shape::Text),
        field("entities", Shape::Names),
    ],
)
.keyed()
.heads(&[Head::Name])
.shorthand("description");
static NLU_ENTITIES: RecordType = record("entities", &[]).items(&ENTITY);

static ENTITIES: RecordType = record("entities", &[]).items(&ENTITY);
/// A reusable extraction contract (§3.5.1).
static ENTITY: RecordType = record(
    "entity",
    &[
        field("type", Shape::Enum(FIELD_TYPES)),
        field("values", Shape::Templates).aka(&["options"]),
        field("synonyms", Shape::Data),
        field("pattern", Shape::Text),
        field("validation", Shape::OneOf(&[Shape::Record(&VALIDATION), Shape::Text])),
        field("sensitive", Shape::Bool),
        field("sensitive_display", Shape::Enum(&["redact", "replace", "mask"])),
        field("mask_config", Shape::Record(&MASK)),
        field("pii_type", Shape::Text),
        field("description", Shape::Template),
        field("extraction_hints", Shape::Templates),
    ],
)
.keyed()
.shorthand("type");

static LOOKUP_TABLES: RecordType = record("lookup tables", &[]).items(&LOOKUP_TABLE);
static LOOKUP_TABLE: RecordType = record(
    "lookup table",
    &[
        field("source", Shape::Enum(&["inline", "collection", "api", "mongodb", "http"])),
        field("values", Shape::Templates),
        field("map", Shape::Data).newest(),
        field("table_name", Shape::Text).aka(&["collection"]),
        field("endpoint", Shape::Text).newest(),
        field("field", Shape::Text),
        field("headers", Shape::Data).newest(),
        field("timeout_ms", Shape::Number).newest(),
        field("case_sensitive", Shape::Bool),
        field("fuzzy_match", Shape::Bool),
        field("fuzzy_threshold", Shape::Number),
    ],
)
.keyed();

static INTENTS: RecordType = record(
    "intents",
    &[field("lexical_fallback", Shape::Enum(&["never", "when_unavailable", "always"]))],
)
.items(&NLU_INTENT);

static MULTI_INTENT: RecordType = record(
    "multi-intent handling",
    &[
        field("enabled", Shape::Bool),
        field(
            "strategy",
            Shape::Enum(&["primary_queue", "sequential", "parallel", "disambiguate", "auto"]),
        ),
        field("unknown_relationship_strategy", Shape::Text).newest(),
        field("max_intents", Shape::Number),
        field("confidence_threshold", Shape::Number),
        field("queue_max_age_ms", Shape::Number).newest(),
    ],
);

static ATTACHMENTS: RecordType = record("attachments", &[]).items(&ATTACHMENT);
static ATTACHMENT: RecordType = record(
    "attachment",
    &[
        field("prompt", Shape::Template),
        field("category", Shape::Enum(&["image", "document", "audio", "video"])),
        field("required", Shape::Bool),
        field("max_file_size_mb", Shape::Number).aka(&["max_size_mb"]),
        field("max_file_size", Shape::Number),
        field("allowed_types", Shape::Templates).aka(&["allowed_mime_types"]),
        field("ocr_enabled", Shape::Bool),
        field("transcription_enabled", Shape::Bool).aka(&["transcription"]),
        field("key_frame_extraction", Shape::Bool),
        field("processing", Shape::Data),
    ],
)
.keyed();

static DESTINATIONS: RecordType = record("destinations", &[]).items(&DESTINATION);
static DESTINATION: RecordType = record(
    "destination",
    &[
        field("url", Shape::Text),
        field("method", Shape::Text),
        field("auth", Shape::Data),
        field("headers", Shape::Data),
    ],
)
.keyed()
.heads(&[Head::Name])
.shorthand("url");
