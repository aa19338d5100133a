//! `agentforce`: extensions of the base dialect.

use super::base::{self, LABEL, SKILL, SOURCE};
use super::{
    AGENTFORCE_SCHEMA, FieldDef, FieldType, Limit, ProcedureKind, RecordType, V3_2, field, record,
};

// Rows of variables and parameters.
const IS_DISPLAYABLE: FieldDef =
    field("is_displayable", "whether users may see it", FieldType::Bool);
const IS_USED_BY_PLANNER: FieldDef =
    field("is_used_by_planner", "whether the planner may read it", FieldType::Bool);
const COMPLEX_DATA_TYPE_NAME: FieldDef =
    field("complex_data_type_name", "the platform's name of the type", FieldType::Text);
const FILTER_FROM_AGENT: FieldDef =
    field("filter_from_agent", "whether the model does not see it", FieldType::Bool);

/// A document.
pub(super) static DOCUMENT: RecordType = record(
    "document",
    AGENTFORCE_SCHEMA,
    &[
        field("system", "what holds for the whole agent", FieldType::Block(&SYSTEM)),
        field("config", "who the agent is", FieldType::Block(&CONFIG)),
        field("variables", "what the agent remembers", FieldType::Declarations(&VARIABLE)),
        field("start_agent", "where every conversation begins", FieldType::Named(&SUBAGENT))
            .singular(),
        field("subagent", "one area of the conversation", FieldType::Named(&SUBAGENT)),
        field("topic", "one area of the conversation", FieldType::Named(&SUBAGENT))
            .renamed("subagent"),
        field("model_config", "the model that thinks", FieldType::Block(&MODEL_CONFIG)),
        field("knowledge", "where answers come from", FieldType::Block(&KNOWLEDGE)),
        field("connection", "a channel that users come by", FieldType::Named(&CONNECTION)),
        field("modality", "how voice is spoken and heard", FieldType::Named(&MODALITY)),
        field("access", "on whose behalf the agent acts", FieldType::Block(&ACCESS)),
        field("context", "what is known of the user", FieldType::Block(&CONTEXT)),
        field("skill_definitions", "skills that subagents use", FieldType::Collection(&SKILL))
            .since(V3_2),
    ],
)
.extends(&base::DOCUMENT);

static SYSTEM: RecordType = record(
    "system block",
    AGENTFORCE_SCHEMA,
    &[field(
        "recommended_prompts",
        "suggestions the user can tap",
        FieldType::Block(&RECOMMENDED_PROMPTS),
    )],
)
.extends(&base::SYSTEM);

static RECOMMENDED_PROMPTS: RecordType = record(
    "recommended prompts",
    AGENTFORCE_SCHEMA,
    &[
        field("in_conversation", "whether there are some while talking", FieldType::Bool),
        field("welcome_screen", "whether there are some to begin with", FieldType::Bool),
        field("starter_prompts", "three to twenty to begin with", FieldType::Values),
    ],
);

static CONFIG: RecordType = record(
    "config block",
    AGENTFORCE_SCHEMA,
    &[
        field("developer_name", "the agent's name for programs; or `agent_name`", FieldType::Text),
        field("agent_name", "the agent's name for programs; or `developer_name`", FieldType::Text),
        field("agent_label", "its name for people", FieldType::Quoted),
        field(
            "agent_description",
            "what it is for, as prompts and routing see it",
            FieldType::Text,
        ),
        // Twelve types are known, others are accepted; which ones exist is not a matter of syntax.
        field("agent_type", "what kind of agent it is", FieldType::Text),
        field("agent_id", "its identifier", FieldType::Text),
        field("default_agent_user", "the user it acts for", FieldType::QuotedOrNone)
            .moved("default_agent_user` in `access"),
        field("agent_version", "its version", FieldType::Text),
        field("enable_enhanced_event_logs", "whether detailed logs are kept", FieldType::Bool),
        field("company", "what it should know about the company", FieldType::Text),
        field("role", "its job", FieldType::Text),
        field("planner_type", "which planner runs it", FieldType::Text),
        field(
            "additional_parameter__disable_graph_runtime",
            "a parameter that the platform refuses",
            FieldType::Expr,
        ),
        field("additional_parameter__*", "a parameter for the platform", FieldType::Expr),
        field("debug", "whether it runs in debug mode", FieldType::Bool),
        field("max_tokens", "how long answers may be", FieldType::Number),
        field("temperature", "how freely the model answers", FieldType::Number),
        field("agent_template", "the template it was made from", FieldType::Text),
        field("outbound_flow", "the flow that finds a person", FieldType::Text),
        field("user_locale", "the user's language", FieldType::Text).moved("language"),
        field("runtime", "how answers are delivered", FieldType::Block(&RUNTIME)),
        field("file_upload", "what happens to files of the user", FieldType::Block(&FILE_UPLOAD)),
    ],
)
.extends(&base::CONFIG);

static RUNTIME: RecordType = record(
    "runtime block",
    AGENTFORCE_SCHEMA,
    &[
        field("streaming", "whether answers come in one piece", FieldType::Bool),
        field("thought_chunks", "whether thoughts are sent along", FieldType::Bool),
        field("citation", "whether citations are left out", FieldType::Bool),
        field("groundedness", "whether the check for groundedness is off", FieldType::Bool),
        field("reset_to_initial_node", "whether every turn begins at the start", FieldType::Bool),
    ],
);

static FILE_UPLOAD: RecordType = record(
    "file upload block",
    AGENTFORCE_SCHEMA,
    &[
        field("mode", "who gets to see the files", FieldType::Text)
            .one_of(&["auto", "managed", "disabled", "error"]),
        field("message", "the message when files are not accepted", FieldType::QuotedOrNone),
    ],
);

static VARIABLE: RecordType = record(
    "variable",
    AGENTFORCE_SCHEMA,
    &[
        field(
            "source",
            "where a linked variable comes from",
            FieldType::Reference(&["MessagingSession", "MessagingEndUser", "VoiceCall"]),
        ),
        field("visibility", "whether it is seen outside the agent", FieldType::Text)
            .one_of(&["Internal", "External", "internal", "external"]),
        IS_DISPLAYABLE,
        IS_USED_BY_PLANNER,
    ],
)
.extends(&base::VARIABLE)
.with_modifier()
.plain_names();

static SUBAGENT: RecordType = record(
    "subagent",
    AGENTFORCE_SCHEMA,
    &[
        field("actions", "what can be called here", FieldType::Collection(&ACTION)),
        field("model_config", "the model that thinks here", FieldType::Block(&MODEL_CONFIG)),
        field("skills", "skills that can be used here", FieldType::Collection(&SKILL))
            .until(V3_2, "skill_definitions"),
        // Fields of other kinds of node.
        field("parameters", "what the node is given", FieldType::Open).requires("schema", &[]),
        field(
            "on_init",
            "what happens when the node is entered",
            FieldType::Procedure(ProcedureKind::Deterministic),
        )
        .requires("schema", &[]),
        field(
            "on_exit",
            "what happens when the node is left",
            FieldType::Procedure(ProcedureKind::Deterministic),
        )
        .requires("schema", &[]),
    ],
)
.extends(&base::SUBAGENT);

static ACTION: RecordType = record(
    "action",
    AGENTFORCE_SCHEMA,
    &[
        field("inputs", "what it takes", FieldType::Declarations(&INPUT)),
        field("outputs", "what it gives back", FieldType::Declarations(&OUTPUT)),
        field("require_user_confirmation", "whether the user is asked before", FieldType::Bool),
        field("include_in_progress_indicator", "whether progress is shown", FieldType::Bool),
        field("progress_indicator_message", "what is shown meanwhile", FieldType::Text),
    ],
)
.extends(&base::ACTION);

static INPUT: RecordType = record(
    "input",
    AGENTFORCE_SCHEMA,
    &[
        COMPLEX_DATA_TYPE_NAME,
        field("schema", "where its schema is", FieldType::Text),
        field("is_user_input", "whether the user gives it", FieldType::Bool),
        FILTER_FROM_AGENT,
        IS_DISPLAYABLE,
        IS_USED_BY_PLANNER,
    ],
)
.extends(&base::PARAMETER);

static OUTPUT: RecordType = record(
    "output",
    AGENTFORCE_SCHEMA,
    &[
        field("developer_name", "its name for programs", FieldType::Text),
        IS_DISPLAYABLE,
        IS_USED_BY_PLANNER,
        COMPLEX_DATA_TYPE_NAME,
        FILTER_FROM_AGENT,
    ],
)
.extends(&base::OUTPUT);

static MODEL_CONFIG: RecordType = record(
    "model configuration",
    AGENTFORCE_SCHEMA,
    &[
        field("model", "the model, such as `model://…`", FieldType::Text),
        field("params", "its parameters", FieldType::Open),
    ],
);

static KNOWLEDGE: RecordType = record(
    "knowledge block",
    AGENTFORCE_SCHEMA,
    &[
        field("citations_url", "what links to sources begin with", FieldType::Text),
        field("rag_feature_config_id", "which retrieval is used", FieldType::Text),
        field("citations_enabled", "whether sources are named", FieldType::Bool),
    ],
);

static CONNECTION: RecordType = record(
    "connection",
    AGENTFORCE_SCHEMA,
    &[
        field("label", "its name for people", FieldType::Quoted),
        field("description", "what it is for", FieldType::Text),
        SOURCE,
        field("inputs", "what the channel gives", FieldType::Declarations(&base::PARAMETER)),
        field("additional_system_instructions", "instructions for this channel", FieldType::Text),
        field("reasoning", "how answers look here", FieldType::Block(&CONNECTION_REASONING)),
        field("response_formats", "forms of an answer", FieldType::Collection(&RESPONSE_FORMAT)),
        field("adaptive_response_allowed", "whether answers may adapt", FieldType::Bool),
        field("escalation_message", "the message before an escalation", FieldType::Text),
        field("outbound_route_type", "what kind of route leads to a person", FieldType::Text),
        field("outbound_route_name", "which route leads to a person", FieldType::Text),
    ],
);

static CONNECTION_REASONING: RecordType = record(
    "reasoning block",
    AGENTFORCE_SCHEMA,
    &[
        field("instructions", "when to use which form", FieldType::Text),
        field(
            "response_actions",
            "the forms the model may use",
            FieldType::Bindings(&base::BINDING),
        ),
    ],
);

static RESPONSE_FORMAT: RecordType = record(
    "response format",
    AGENTFORCE_SCHEMA,
    &[
        LABEL,
        field("description", "which tells the model when to use it", FieldType::Text).required(),
        SOURCE,
        field("target", "what renders it, such as `apex://Name`", FieldType::Text),
        field("inputs", "what it shows", FieldType::Declarations(&FORMAT_INPUT)),
    ],
);

static FORMAT_INPUT: RecordType = record(
    "input",
    AGENTFORCE_SCHEMA,
    &[
        field("schema", "where its schema is", FieldType::Text),
        field("type", "its type, where that has parts", FieldType::Type(&TYPE)),
    ],
)
.extends(&base::PARAMETER);

/// The fields below `type: list` and `value: object`.
static TYPE: RecordType = record(
    "type",
    AGENTFORCE_SCHEMA,
    &[
        field("value", "the type of the list's elements", FieldType::Type(&TYPE)),
        field("fields", "the object's fields", FieldType::Declarations(&FORMAT_INPUT)),
        field("enum", "the values it may have", FieldType::Values),
        field("minimum", "the least number", FieldType::Number),
        field("maximum", "the greatest number", FieldType::Number),
    ],
);

/// Two versions of the block are in use; the table has what tools and documentation agree on.
static MODALITY: RecordType = record(
    "modality",
    AGENTFORCE_SCHEMA,
    &[
        field("inbound", "how speech is heard", FieldType::Open),
        field("outbound", "how speech is made", FieldType::Open),
        field("session_language_switching", "whether the language may change", FieldType::Bool),
        field("languages", "settings for each language", FieldType::Open),
        field("voice_id", "the voice", FieldType::Text),
        field("outbound_speed", "how fast it speaks", FieldType::Number)
            .limit(Limit::Range(0.5, 2.0)),
        field("pronunciation_dict", "how words are said", FieldType::Open),
        field("additional_configs", "further settings", FieldType::Open),
    ],
)
.open();

static ACCESS: RecordType = record(
    "access block",
    AGENTFORCE_SCHEMA,
    &[
        field("default_agent_user", "the user it acts for", FieldType::QuotedOrNone),
        field("sharing_policy", "which records it may see", FieldType::Block(&SHARING_POLICY)),
        field(
            "verified_customer_record_access",
            "which records a verified customer may see",
            FieldType::Block(&RECORD_ACCESS),
        ),
    ],
);

static SHARING_POLICY: RecordType = record(
    "sharing policy",
    AGENTFORCE_SCHEMA,
    &[
        field(
            "use_default_sharing_entities",
            "whether the usual records are shared",
            FieldType::Bool,
        ),
        field("custom_sharing_entities", "further kinds of records", FieldType::Values),
    ],
);

static RECORD_ACCESS: RecordType = record(
    "record access block",
    AGENTFORCE_SCHEMA,
    &[
        field("use_default_objects", "whether the usual records are open", FieldType::Bool),
        field("additional_objects", "further kinds of records", FieldType::Values),
    ],
);

static CONTEXT: RecordType = record(
    "context block",
    AGENTFORCE_SCHEMA,
    &[
        field("memory", "what is remembered", FieldType::Block(&SWITCH)),
        field("user_profile", "what the profile says", FieldType::Block(&SWITCH)),
        field("past_conversations", "what was said before", FieldType::Block(&SWITCH)),
    ],
);

static SWITCH: RecordType = record(
    "context block",
    AGENTFORCE_SCHEMA,
    &[field("enabled", "whether it is used", FieldType::Bool)],
);
