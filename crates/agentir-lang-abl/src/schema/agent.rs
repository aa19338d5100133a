//! Tables of the document, and of the sections on identity, execution, fields and memory.

use super::behavior::{CONSTRAINTS, GUARDRAILS, INLINE_PROFILES, PROFILES_LEGACY};
use super::coordination::{COMPLETE, DELEGATES, ESCALATE, HANDOFFS, RETURN_HANDLERS};
use super::flow::{ACTION_HANDLERS, ERROR_HANDLERS, FLOW, HOOK, HOOKS, STEP};
use super::supervisor::{AGENTS, BEHAVIOR, COMMUNICATION, POLICIES, PROTOCOL, ROUTING, STATE};
use super::tools::TOOLS;
use super::{FieldType, Header, NameKind, Part, RecordType, Version, field, record};
use crate::tree::DocumentKind;
use agentir_syntax::data;
use agentir_syntax::rules;

/// An agent or supervisor document (§2). Both kinds share one table, which says what only one of them is for: a supervisor
/// routes, and neither runs tools nor gathers (supervisor reference, overview). Others are read all the same.
pub static AGENT: RecordType = record(
    "agent",
    &[
        field("agent", FieldType::Name),
        field("supervisor", FieldType::Name),
        field("version", FieldType::Text),
        field("description", FieldType::Template),
        field("language", FieldType::Text),
        field("goal", FieldType::Template),
        field("persona", FieldType::Template),
        field("limitations", FieldType::Templates),
        field("identity", FieldType::Record(&IDENTITY)),
        field("instructions", FieldType::OneOf(&[FieldType::Record(&INSTRUCTIONS), FieldType::Template])),
        field("system_prompt", FieldType::Template),
        field("execution", FieldType::Record(&EXECUTION)),
        field("tools", FieldType::Record(&TOOLS)),
        field("use_tool", FieldType::Name).names(NameKind::Tool).aliased(&["use tool"]).repeated(),
        field("gather", FieldType::Record(&GATHER)).only(DocumentKind::Agent),
        field("flow", FieldType::Record(&FLOW)).only(DocumentKind::Agent),
        field("memory", FieldType::Record(&MEMORY)),
        field("constraints", FieldType::Record(&CONSTRAINTS)),
        field("guardrails", FieldType::Record(&GUARDRAILS)),
        field("delegate", FieldType::Record(&DELEGATES)),
        field("handoff", FieldType::Record(&HANDOFFS)),
        field("escalate", FieldType::Record(&ESCALATE)),
        field("complete", FieldType::Record(&COMPLETE)),
        field("on_error", FieldType::Record(&ERROR_HANDLERS)),
        field("on_start", FieldType::Record(&HOOK)),
        field("messages", FieldType::Record(&MESSAGES)),
        field("templates", FieldType::Record(&TEMPLATES)),
        field("hooks", FieldType::Record(&HOOKS)),
        field("nlu", FieldType::Record(&NLU)).current(),
        field("multi_intent", FieldType::Record(&MULTI_INTENT)).current(),
        field("intents", FieldType::Record(&INTENTS)).current(),
        field("entities", FieldType::Record(&ENTITIES)).current(),
        field("lookup_tables", FieldType::Record(&LOOKUP_TABLES)).current(),
        field("attachments", FieldType::Record(&ATTACHMENTS)).newest(),
        field("destinations", FieldType::Record(&DESTINATIONS)).newest(),
        field("transfer_flow_policies", FieldType::Data).newest(),
        field("return_handlers", FieldType::Record(&RETURN_HANDLERS)).newest(),
        field("action_handlers", FieldType::Record(&ACTION_HANDLERS)),
        field("conversation", FieldType::Data).newest(),
        field("use_behavior_profile", FieldType::Names).names(NameKind::Profile)
            .aliased(&["use behavior_profile", "use_behavior_profiles"])
            .repeated()
            .current(),
        field("behavior_profile", FieldType::Record(&INLINE_PROFILES)).newest(),
        field("behavior_profiles", FieldType::Record(&PROFILES_LEGACY)).until(
            Version::Legacy,
            "move the profile to its own file (`BEHAVIOR_PROFILE: name`), and write `USE BEHAVIOR_PROFILE: name` here",
        )
        .reported_as(rules::BEHAVIOR_PROFILES_PLURAL),
        field("formats", FieldType::Data).newest(),
        field("rich_content", FieldType::Data).newest(),
        field("actions", FieldType::Data).newest(),
        field("tests", FieldType::Data).current(),
        field("mode", FieldType::Text).until(
            Version::Legacy,
            "write `REASONING: true` or `REASONING: false` in each step of the `FLOW`",
        )
        .reported_as(rules::MODE_REMOVED),
        field("agents", FieldType::Record(&AGENTS)).only(DocumentKind::Supervisor),
        field("routing", FieldType::Record(&ROUTING)).only(DocumentKind::Supervisor),
        field("handoff_protocol", FieldType::Record(&PROTOCOL)).only(DocumentKind::Supervisor),
        field("state", FieldType::Record(&STATE)).only(DocumentKind::Supervisor),
        field("policies", FieldType::Record(&POLICIES)).only(DocumentKind::Supervisor),
        field("communication", FieldType::Record(&COMMUNICATION)).only(DocumentKind::Supervisor),
        field("behavior", FieldType::Record(&BEHAVIOR)).only(DocumentKind::Supervisor),
    ],
);

/// The sections that say what an agent is and does (§2.1). Examples of a part of an agent have one of them, with the
/// sections that it uses; a document with several is an agent.
pub const MAIN_SECTIONS: &[&str] = &[
    "goal",
    "persona",
    "limitations",
    "identity",
    "instructions",
    "system_prompt",
    "tools",
    "gather",
    "flow",
    "constraints",
    "guardrails",
    "delegate",
    "handoff",
    "escalate",
    "complete",
    "agents",
    "routing",
];

/// The sections that a top-level key of a fragment may belong to. A fragment is one section, or a part of
/// one, without an agent around it.
pub static FRAGMENT_PARENTS: &[(&str, &RecordType)] = &[
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
        field("role", FieldType::Template),
        field("goal", FieldType::Template),
        field("persona", FieldType::Template),
        field("tone", FieldType::Template),
        field("description", FieldType::Template),
        field("limitations", FieldType::Templates),
        field("instructions", FieldType::Template),
        field("language", FieldType::Text),
    ],
);

static INSTRUCTIONS: RecordType = record("instructions", &[]).items(&INSTRUCTION);
static INSTRUCTION: RecordType = record(
    "instruction",
    &[field("text", FieldType::Template), field("when", FieldType::Condition)],
)
.headers(&[Header::Text]);

static EXECUTION: RecordType = record(
    "execution",
    &[
        field("model", FieldType::Text),
        field("temperature", FieldType::Number),
        field("max_tokens", FieldType::Number),
        field("tool_timeout", FieldType::Number).aliased(&["tool_timeout_ms"]),
        field("llm_timeout", FieldType::Number).aliased(&["llm_timeout_ms"]),
        field("session_idle_timeout", FieldType::Number).aliased(&[
            "session_timeout",
            "session_timeout_ms",
            "session_idle_timeout_ms",
        ]),
        field("voice_latency_target", FieldType::Number).aliased(&["voice_latency_target_ms"]),
        field("max_reasoning_iterations", FieldType::Number).aliased(&["max_iterations"]),
        field("max_flow_iterations", FieldType::Number),
        field("fallback_model", FieldType::Text),
        field("reasoning_effort", FieldType::Enum(&["low", "medium", "high"])).newest(),
        field("enable_thinking", FieldType::Bool).newest(),
        field("thinking_budget", FieldType::Number).newest(),
        field("compaction_threshold", FieldType::Number).newest(),
        field("compaction", FieldType::Data).newest(),
        field("inline_gather", FieldType::Bool).newest(),
        field("concurrency", FieldType::Enum(&["serial", "preemptive", "parallel"])).newest(),
        field("max_queue_depth", FieldType::Number).newest(),
        field("max_concurrent_messages", FieldType::Number).newest(),
        field("models", FieldType::Record(&MODELS)).newest(),
        field("timeouts", FieldType::Record(&TIMEOUTS)),
        field("voice", FieldType::Data).keys(data::VOICE),
        field("pipeline", FieldType::Data),
    ],
);

static MODELS: RecordType = record("models", &[]).items(&MODEL);
static MODEL: RecordType =
    record("model", &[field("model", FieldType::Text)]).keyed().shorthand("model").open();

static TIMEOUTS: RecordType = record(
    "timeouts",
    &[
        field("tool_timeout", FieldType::Number).aliased(&["tool_timeout_ms"]),
        field("llm_timeout", FieldType::Number).aliased(&["llm_timeout_ms"]),
        field("session_idle_timeout", FieldType::Number)
            .aliased(&["session_timeout", "session_timeout_ms"]),
        field("voice_latency_target", FieldType::Number).aliased(&["voice_latency_target_ms"]),
    ],
);

pub(super) static GATHER: RecordType = record(
    "gather",
    &[
        // Effective in a step only (§3.6).
        field("strategy", FieldType::Enum(&["pattern", "llm", "hybrid", "auto", "ml"])),
        field("fields", FieldType::Record(&GATHER_FIELDS)),
        field("prompt", FieldType::Template),
        field("message_key", FieldType::Name),
        field("correction_patterns", FieldType::Templates).newest(),
    ],
)
.items(&GATHER_FIELD);

pub(super) static GATHER_FIELDS: RecordType = record("fields", &[]).items(&GATHER_FIELD);

pub(super) static GATHER_FIELD: RecordType = record(
    "gather field",
    &[
        field("prompt", FieldType::Template),
        field("message_key", FieldType::Name).newest(),
        field("description", FieldType::Template),
        field("type", FieldType::Enum(agentir_ir::FIELD_TYPES)),
        field(
            "required",
            FieldType::OneOf(&[FieldType::Bool, FieldType::Enum(&["required", "optional"])]),
        ),
        field("default", FieldType::Data),
        field("entity_ref", FieldType::Name).names(NameKind::Entity).aliased(&["entity"]).current(),
        field("options", FieldType::Templates).aliased(&["values", "enum_values", "enum"]),
        field("synonyms", FieldType::Data),
        field("validate", FieldType::OneOf(&[FieldType::Record(&VALIDATION), FieldType::Template]))
            .aliased(&["validation"]),
        field("validation_process", FieldType::Enum(&["regex", "code", "llm"])).newest(),
        field("retry_prompt", FieldType::Template),
        field("max_retries", FieldType::Number),
        field("infer", FieldType::Bool),
        field("infer_confidence", FieldType::Number),
        field("infer_confirm", FieldType::Bool),
        field("prompt_mode", FieldType::Enum(&["ask", "extract_only"])).newest(),
        field("range", FieldType::Data),
        field("list", FieldType::Data),
        field("preferences", FieldType::Data),
        field(
            "activation",
            FieldType::OneOf(&[
                FieldType::Record(&ACTIVATION),
                FieldType::Enum(&["required", "optional", "progressive"]),
            ]),
        ),
        field("depends_on", FieldType::Names).names(NameKind::Variable),
        field("satisfied_by", FieldType::Enum(&["user_input", "authoritative_tool", "system"]))
            .newest(),
        field("sensitive", FieldType::Bool),
        field("sensitive_display", FieldType::Enum(&["redact", "replace", "mask"])),
        field("mask_config", FieldType::Record(&MASK)),
        field("pii_type", FieldType::Text),
        field("transient", FieldType::Bool),
        field("extraction_pattern", FieldType::Text),
        field("extraction_group", FieldType::Number),
        field("extraction_hints", FieldType::Templates).aliased(&["hints"]),
        field("strategy", FieldType::Enum(&["pattern", "llm", "hybrid", "auto", "ml"])),
        field("semantics", FieldType::Record(&SEMANTICS)),
        // Attachments collected as fields (§3.13.4).
        field("category", FieldType::Enum(&["image", "document", "audio", "video"])),
        field("allowed_mime_types", FieldType::Templates).aliased(&["allowed_types"]),
        field("max_file_size", FieldType::Number),
        field("processing", FieldType::Data),
        field("voice", FieldType::Data).keys(data::VOICE),
        field("rich_content", FieldType::Data).aliased(&["formats"]),
    ],
)
.keyed()
.referring_to(NameKind::Variable)
.headers(&[Header::Name])
.shorthand("required");

/// The validation of a field.
pub static VALIDATION: RecordType = record(
    "validation",
    &[
        field("type", FieldType::Enum(&["pattern", "range", "enum", "custom", "llm", "intrinsic"])),
        field("rule", FieldType::Text),
        field("error", FieldType::Template).aliased(&["error_message"]),
        field("retry_prompt", FieldType::Template),
        field("max_retries", FieldType::Number),
        field("validation_process", FieldType::Enum(&["regex", "code", "llm"])),
        // The short form in the table of §3.6: `pattern: "…"`.
        field("pattern", FieldType::Text),
        field("range", FieldType::Text),
        field("enum", FieldType::Text),
        field("custom", FieldType::Text),
        field("llm", FieldType::Text),
    ],
);

static ACTIVATION: RecordType = record("activation", &[field("when", FieldType::Condition)]);

pub(super) static MASK: RecordType = record(
    "mask configuration",
    &[
        field("show_first", FieldType::Number).aliased(&["showFirst"]),
        field("show_last", FieldType::Number).aliased(&["showLast"]),
        field("char", FieldType::Text),
    ],
);

static SEMANTICS: RecordType = record(
    "semantics",
    &[
        field("format", FieldType::Text),
        field("components", FieldType::Names),
        field("unit", FieldType::Text),
        field("lookup", FieldType::Name).names(NameKind::LookupTable),
        field("convert_to", FieldType::Text),
        field("locale", FieldType::Text),
        field("temporal", FieldType::Enum(&["future", "past", "any"])).newest(),
        field("enum_set", FieldType::Templates).current(),
        field("kore_entity_type", FieldType::Text),
    ],
);

static MEMORY: RecordType = record(
    "memory",
    &[
        field("session", FieldType::Record(&SESSION)),
        field("persistent", FieldType::Record(&PERSISTENT)),
        field("remember", FieldType::Record(&REMEMBER)),
        field("recall", FieldType::Record(&RECALL)),
    ],
);

static SESSION: RecordType = record("session memory", &[]).items(&SESSION_VARIABLE);
static SESSION_VARIABLE: RecordType = record(
    "session variable",
    &[
        field("type", FieldType::Type).newest(),
        field("description", FieldType::Template).newest(),
        field("initial", FieldType::Data).aliased(&["initial_value"]).current(),
        field("reset", FieldType::Enum(&["per_session", "per_activation", "per_step", "never"]))
            .current(),
    ],
)
.keyed()
.headers(&[Header::Name])
.shorthand("description");

static PERSISTENT: RecordType = record(
    "persistent memory",
    &[
        field("reads", FieldType::Names).names(NameKind::Variable).current(),
        field("writes", FieldType::Names).names(NameKind::Variable).current(),
    ],
)
.items(&PERSISTENT_PATH);
static PERSISTENT_PATH: RecordType = record(
    "persistent path",
    &[
        field("path", FieldType::Name),
        field("scope", FieldType::Enum(&["user", "project", "execution_tree"])),
        field("access", FieldType::Enum(&["read", "write", "readwrite"])),
        field("type", FieldType::Type),
        field("unit", FieldType::Text),
        field("default_value", FieldType::Data).aliased(&["default"]),
        field("description", FieldType::Template),
        field("sensitive", FieldType::Bool).newest(),
        field("sensitive_display", FieldType::Enum(&["redact", "replace", "mask"])).newest(),
        field("mask_config", FieldType::Record(&MASK)).newest(),
    ],
)
.keyed()
.named_by("path")
.headers(&[Header::Name])
.shorthand("description");

static REMEMBER: RecordType = record("remember", &[]).items(&REMEMBER_RULE);
static REMEMBER_RULE: RecordType = record(
    "remember rule",
    &[
        field("when", FieldType::Condition),
        field("store", FieldType::OneOf(&[FieldType::Record(&STORE_BLOCK), FieldType::Store])),
        field("ttl", FieldType::Text).time(),
    ],
)
.headers(&[Header::Condition]);
static STORE_BLOCK: RecordType = record(
    "store",
    &[
        field("value", FieldType::Expr),
        field("target", FieldType::Name).names(NameKind::Variable),
        field("operation", FieldType::Enum(&["overwrite", "set", "append"])).newest(),
        field("unique", FieldType::Bool).newest(),
        field("max_size", FieldType::Number).aliased(&["maxSize"]).newest(),
    ],
);

/// The events that recall rules wait for.
const EVENTS: &[&[Part]] = &[
    &[Part::Word("session"), Part::Word("start")],
    &[Part::Word("session"), Part::Word("end")],
    &[Part::Word("agent"), Part::Name(NameKind::Agent), Part::Word("before")],
    &[Part::Word("agent"), Part::Name(NameKind::Agent), Part::Word("after")],
    &[Part::Word("tool"), Part::Name(NameKind::Tool), Part::Word("after")],
    &[Part::Word("entity"), Part::Name(NameKind::Variable), Part::Word("extracted")],
    &[Part::Word("step"), Part::Word("enter"), Part::Name(NameKind::Step)],
    &[Part::Word("step"), Part::Word("exit"), Part::Name(NameKind::Step)],
];

static RECALL: RecordType = record("recall", &[]).items(&RECALL_RULE);
static RECALL_RULE: RecordType = record(
    "recall rule",
    &[
        field("on", FieldType::Text).required().patterns(EVENTS),
        field("action", FieldType::Enum(&["inject_context", "load_memory", "prompt_llm"])),
        field("instruction", FieldType::Template),
        field("paths", FieldType::Names).names(NameKind::Variable),
        field("retrieve", FieldType::Names).names(NameKind::Variable),
        field("domain", FieldType::Text),
    ],
)
// `ON_START: "…"`: the key is the event; see the reader of recall rules.
.keyed()
.named_by("on")
.shorthand("instruction");

static MESSAGES: RecordType = record("messages", &[]).items(&MESSAGE);
static MESSAGE: RecordType =
    record("message", &[field("text", FieldType::Template)]).keyed().shorthand("text");

static TEMPLATES: RecordType = record("templates", &[]).items(&TEMPLATE);
/// A named response with its variants (§3.13.1).
static TEMPLATE: RecordType = record(
    "template",
    &[
        field("default", FieldType::Template),
        field("markdown", FieldType::Template),
        field("html", FieldType::Template),
        field("voice instructions", FieldType::Template).aliased(&["voice_instructions"]),
        field("adaptive_card", FieldType::Template),
        field("slack", FieldType::Template),
        field("whatsapp", FieldType::Template),
        field("ag_ui", FieldType::Template),
        field("voice", FieldType::Data).keys(data::VOICE),
        field("when", FieldType::Condition).newest(),
        field("adaptive", FieldType::Data).newest(),
        field("actions", FieldType::Data),
        field("renderables", FieldType::Data).newest(),
        field("carousel", FieldType::Data).newest(),
        field("quick_replies", FieldType::Data).newest(),
        field("list", FieldType::Data).newest(),
        field("image", FieldType::Data).newest(),
        field("video", FieldType::Data).newest(),
        field("audio", FieldType::Data).newest(),
        field("file", FieldType::Data).newest(),
        field("kpi", FieldType::Data).newest(),
        field("table", FieldType::Data).newest(),
        field("chart", FieldType::Data).newest(),
        field("form", FieldType::Data).newest(),
        field("progress", FieldType::Data).newest(),
        field("feedback", FieldType::Data).newest(),
    ],
)
.keyed()
.shorthand("default");

static NLU: RecordType = record(
    "nlu",
    &[
        field("intents", FieldType::Record(&NLU_INTENTS)),
        field("entities", FieldType::Record(&NLU_ENTITIES)),
        field("categories", FieldType::Data),
        field("glossary", FieldType::Data),
        field("embeddings", FieldType::Data),
        field("languages", FieldType::Names),
        field("default_language", FieldType::Text),
        field("allow_code_switching", FieldType::Bool),
        field("language_models", FieldType::Data),
        field("models", FieldType::Data),
        field("evaluation", FieldType::Data),
        field("config_file", FieldType::Text),
    ],
);
static NLU_INTENTS: RecordType = record("intents", &[]).items(&NLU_INTENT);
static NLU_INTENT: RecordType = record(
    "intent",
    &[
        field("description", FieldType::Template),
        field("patterns", FieldType::Templates),
        field("examples", FieldType::Templates),
        field("examples_file", FieldType::Text),
        field("entities", FieldType::Names).names(NameKind::Entity),
    ],
)
.keyed()
.headers(&[Header::Name])
.shorthand("description");
static NLU_ENTITIES: RecordType = record("entities", &[]).items(&ENTITY);

static ENTITIES: RecordType = record("entities", &[]).items(&ENTITY);
/// A reusable extraction contract (§3.5.1).
static ENTITY: RecordType = record(
    "entity",
    &[
        field("type", FieldType::Enum(agentir_ir::FIELD_TYPES)),
        field("values", FieldType::Templates).aliased(&["options"]),
        field("synonyms", FieldType::Data),
        field("pattern", FieldType::Text),
        field("validation", FieldType::OneOf(&[FieldType::Record(&VALIDATION), FieldType::Text])),
        field("sensitive", FieldType::Bool),
        field("sensitive_display", FieldType::Enum(&["redact", "replace", "mask"])),
        field("mask_config", FieldType::Record(&MASK)),
        field("pii_type", FieldType::Text),
        field("description", FieldType::Template),
        field("extraction_hints", FieldType::Templates),
    ],
)
.keyed()
.shorthand("type");

static LOOKUP_TABLES: RecordType = record("lookup tables", &[]).items(&LOOKUP_TABLE);
static LOOKUP_TABLE: RecordType = record(
    "lookup table",
    &[
        field("source", FieldType::Enum(&["inline", "collection", "api", "mongodb", "http"])),
        field("values", FieldType::Templates),
        field("map", FieldType::Data).newest(),
        field("table_name", FieldType::Text).aliased(&["collection"]),
        field("endpoint", FieldType::Text).newest(),
        field("field", FieldType::Text),
        field("headers", FieldType::Data).newest(),
        field("timeout_ms", FieldType::Number).newest(),
        field("case_sensitive", FieldType::Bool),
        field("fuzzy_match", FieldType::Bool),
        field("fuzzy_threshold", FieldType::Number),
    ],
)
.keyed();

static INTENTS: RecordType = record(
    "intents",
    &[field("lexical_fallback", FieldType::Enum(&["never", "when_unavailable", "always"]))],
)
.items(&NLU_INTENT);

static MULTI_INTENT: RecordType = record(
    "multi-intent handling",
    &[
        field("enabled", FieldType::Bool),
        field(
            "strategy",
            FieldType::Enum(&["primary_queue", "sequential", "parallel", "disambiguate", "auto"]),
        ),
        field("unknown_relationship_strategy", FieldType::Text).newest(),
        field("max_intents", FieldType::Number),
        field("confidence_threshold", FieldType::Number),
        field("queue_max_age_ms", FieldType::Number).newest(),
    ],
);

static ATTACHMENTS: RecordType = record("attachments", &[]).items(&ATTACHMENT);
static ATTACHMENT: RecordType = record(
    "attachment",
    &[
        field("prompt", FieldType::Template),
        field("category", FieldType::Enum(&["image", "document", "audio", "video"])),
        field("required", FieldType::Bool),
        field("max_file_size_mb", FieldType::Number).aliased(&["max_size_mb"]),
        field("max_file_size", FieldType::Number),
        field("allowed_types", FieldType::Templates).aliased(&["allowed_mime_types"]),
        field("ocr_enabled", FieldType::Bool),
        field("transcription_enabled", FieldType::Bool).aliased(&["transcription"]),
        field("key_frame_extraction", FieldType::Bool),
        field("processing", FieldType::Data),
    ],
)
.keyed();

static DESTINATIONS: RecordType = record("destinations", &[]).items(&DESTINATION);
static DESTINATION: RecordType = record(
    "destination",
    &[
        field("url", FieldType::Text),
        field("method", FieldType::Text),
        field("auth", FieldType::Data),
        field("headers", FieldType::Data),
    ],
)
.keyed()
.headers(&[Header::Name])
.shorthand("url");
