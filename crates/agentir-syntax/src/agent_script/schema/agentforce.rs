//! `agentforce`: extensions of the base dialect.

use super::base::{self, LABEL, SKILL, SOURCE};
use super::{FieldDef, Limit, RecordType, Shape, Steps, V3_2, field, record};

// Rows of variables and parameters.
const IS_DISPLAYABLE: FieldDef = field("is_displayable", "whether users may see it", Shape::Bool);
const IS_USED_BY_PLANNER: FieldDef =
    field("is_used_by_planner", "whether the planner may read it", Shape::Bool);
const COMPLEX_DATA_TYPE_NAME: FieldDef =
    field("complex_data_type_name", "the platform's name of the type", Shape::Text);
const FILTER_FROM_AGENT: FieldDef =
    field("filter_from_agent", "whether the model does not see it", Shape::Bool);

/// A document.
pub(super) static DOCUMENT: RecordType = record(
    "document",
    &[
        field("system", "what holds for the whole agent", Shape::Block(&SYSTEM)),
        field("config", "who the agent is", Shape::Block(&CONFIG)),
        field("variables", "what the agent remembers", Shape::Declarations(&VARIABLE)),
        field("start_agent", "where every conversation begins", Shape::Named(&SUBAGENT)).singular(),
        field("subagent", "one area of the conversation", Shape::Named(&SUBAGENT)),
        field("topic", "one area of the conversation", Shape::Named(&SUBAGENT)).renamed("subagent"),
        field("model_config", "the model that thinks", Shape::Block(&MODEL_CONFIG)),
        field("knowledge", "where answers come from", Shape::Block(&KNOWLEDGE)),
        field("connection", "a channel that users come by", Shape::Named(&CONNECTION)),
        field("modality", "how voice is spoken and heard", Shape::Named(&MODALITY)),
        field("access", "on whose behalf the agent acts", Shape::Block(&ACCESS)),
        field("context", "what is known of the user", Shape::Block(&CONTEXT)),
        field("skill_definitions", "skills that subagents use", Shape::Collection(&SKILL))
            .since(V3_2),
    ],
)
.extends(&base::DOCUMENT);

static SYSTEM: RecordType = record(
    "system block",
    &[field(
        "recommended_prompts",
        "suggestions the user can tap",
        Shape::Block(&RECOMMENDED_PROMPTS),
    )],
)
.extends(&base::SYSTEM);

static RECOMMENDED_PROMPTS: RecordType = record(
    "recommended prompts",
    &[
        field("in_conversation", "whether there are some while talking", Shape::Bool),
        field("welcome_screen", "whether there are some to begin with", Shape::Bool),
        field("starter_prompts", "three to twenty to begin with", Shape::Values),
    ],
);

static CONFIG: RecordType = record(
    "config block",
    &[
        field("developer_name", "the agent's name for programs; or `agent_name`", Shape::Text),
        field("agent_name", "the agent's name for programs; or `developer_name`", Shape::Text),
        field("agent_label", "its name for people", Shape::Quoted),
        field("agent_description", "what it is for, as prompts and routing see it", Shape::Text),
        // Twelve types are known, others are accepted; which ones exist is not a matter of syntax.
        field("agent_type", "what kind of agent it is", Shape::Text),
        field("agent_id", "its identifier", Shape::Text),
        field("default_agent_user", "the user it acts for", Shape::QuotedOrNone)
            .moved("default_agent_user` in `access"),
        field("agent_version", "its version", Shape::Text),
        field("enable_enhanced_event_logs", "whether detailed logs are kept", Shape::Bool),
        field("company", "what it should know about the company", Shape::Text),
        field("role", "its job", Shape::Text),
        field("planner_type", "which planner runs it", Shape::Text),
        field(
            "additional_parameter__disable_graph_runtime",
            "a parameter that the platform refuses",
            Shape::Expr,
        ),
        field("additional_parameter__*", "a parameter for the platform", Shape::Expr),
        field("debug", "whether it runs in debug mode", Shape::Bool),
        field("max_tokens", "how long answers may be", Shape::Number),
        field("temperature", "how freely the model answers", Shape::Number),
        field("agent_template", "the template it was made from", Shape::Text),
        field("outbound_flow", "the flow that finds a person", Shape::Text),
        field("user_locale", "the user's language", Shape::Text).moved("language"),
        field("runtime", "how answers are delivered", Shape::Block(&RUNTIME)),
        field("file_upload", "what happens to files of the user", Shape::Block(&FILE_UPLOAD)),
    ],
)
.extends(&base::CONFIG);

static RUNTIME: RecordType = record(
    "runtime block",
    &[
        field("streaming", "whether answers come in one piece", Shape::Bool),
        field("thought_chunks", "whether thoughts are sent along", Shape::Bool),
        field("citation", "whether citations are left out", Shape::Bool),
        field("groundedness", "whether the check for groundedness is off", Shape::Bool),
        field("reset_to_initial_node", "whether every turn begins at the start", Shape::Bool),
    ],
);

static FILE_UPLOAD: RecordType = record(
    "file upload block",
    &[
        field("mode", "who gets to see the files", Shape::Text)
            .one_of(&["auto", "managed", "disabled", "error"]),
        field("message", "what is said when files are not taken", Shape::QuotedOrNone),
    ],
);

static VARIABLE: RecordType = record(
    "variable",
    &[
        field(
            "source",
            "where a linked variable comes from",
            Shape::Reference(&["MessagingSession", "MessagingEndUser", "VoiceCall"]),
        ),
        field("visibility", "whether it is seen outside the agent", Shape::Text)
            .one_of(&["Internal", "External", "internal", "external"]),
        IS_DISPLAYABLE,
        IS_USED_BY_PLANNER,
    ],
)
.extends(&base::VARIABLE)
.plain_names();

static SUBAGENT: RecordType = record(
    "subagent",
    &[
        field("actions", "what can be called here", Shape::Collection(&ACTION)),
        field("model_config", "the model that thinks here", Shape::Block(&MODEL_CONFIG)),
        field("skills", "skills that can be used here", Shape::Collection(&SKILL))
            .until(V3_2, "skill_definitions"),
        // Fields of other kinds of node.
        field("parameters", "what the node is given", Shape::Open).only_with("schema", &[]),
        field(
            "on_init",
            "what happens when the node is entered",
            Shape::Procedure(Steps::Deterministic),
        )
        .only_with("schema", &[]),
        field(
            "on_exit",
            "what happens when the node is left",
            Shape::Procedure(Steps::Deterministic),
        )
        .only_with("schema", &[]),
    ],
)
.extends(&base::SUBAGENT);

static ACTION: RecordType = record(
    "action",
    &[
        field("inputs", "what it takes", Shape::Declarations(&INPUT)),
        field("outputs", "what it gives back", Shape::Declarations(&OUTPUT)),
        field("require_user_confirmation", "whether the user is asked before", Shape::Bool),
        field("include_in_progress_indicator", "whether progress is shown", Shape::Bool),
        field("progress_indicator_message", "what is shown meanwhile", Shape::Text),
    ],
)
.extends(&base::ACTION);

static INPUT: RecordType = record(
    "input",
    &[
        COMPLEX_DATA_TYPE_NAME,
        field("schema", "where its schema is", Shape::Text),
        field("is_user_input", "whether the user gives it", Shape::Bool),
        FILTER_FROM_AGENT,
        IS_DISPLAYABLE,
        IS_USED_BY_PLANNER,
    ],
)
.extends(&base::PARAMETER);

static OUTPUT: RecordType = record(
    "output",
    &[
        field("developer_name", "its name for programs", Shape::Text),
        IS_DISPLAYABLE,
        IS_USED_BY_PLANNER,
        COMPLEX_DATA_TYPE_NAME,
        FILTER_FROM_AGENT,
    ],
)
.extends(&base::OUTPUT);

static MODEL_CONFIG: RecordType = record(
    "model configuration",
    &[
        field("model", "the model, such as `model://…`", Shape::Text),
        field("params", "its parameters", Shape::Open),
    ],
);

static KNOWLEDGE: RecordType = record(
    "knowledge block",
    &[
        field("citations_url", "what links to sources begin with", Shape::Text),
        field("rag_feature_config_id", "which retrieval is used", Shape::Text),
        field("citations_enabled", "whether sources are named", Shape::Bool),
    ],
);

static CONNECTION: RecordType = record(
    "connection",
    &[
        field("label", "its name for people", Shape::Quoted),
        field("description", "what it is for", Shape::Text),
        SOURCE,
        field("inputs", "what the channel gives", Shape::Declarations(&base::PARAMETER)),
        field("additional_system_instructions", "instructions for this channel", Shape::Text),
        field("reasoning", "how answers look here", Shape::Block(&CONNECTION_REASONING)),
        field("response_formats", "forms of an answer", Shape::Collection(&RESPONSE_FORMAT)),
        field("adaptive_response_allowed", "whether answers may adapt", Shape::Bool),
        field("escalation_message", "what is said on the way to a person", Shape::Text),
        field("outbound_route_type", "what kind of route leads to a person", Shape::Text),
        field("outbound_route_name", "which route leads to a person", Shape::Text),
    ],
);

static CONNECTION_REASONING: RecordType = record(
    "reasoning block",
    &[
        field("instructions", "when to use which form", Shape::Text),
        field("response_actions", "the forms the model may use", Shape::Bindings(&base::BINDING)),
    ],
);

static RESPONSE_FORMAT: RecordType = record(
    "response format",
    &[
        LABEL,
        field("description", "when the model should use it", Shape::Text).required(),
        SOURCE,
        field("target", "what renders it, such as `apex://Name`", Shape::Text),
        field("inputs", "what it shows", Shape::Declarations(&FORMAT_INPUT)),
    ],
);

static FORMAT_INPUT: RecordType = record(
    "input",
    &[
        field("schema", "where its schema is", Shape::Text),
        field("type", "its type, where that has parts", Shape::Type(&TYPE)),
    ],
)
.extends(&base::PARAMETER);

/// The fields below `type: list` and `value: object`.
static TYPE: RecordType = record(
    "type",
    &[
        field("value", "the type of the list's elements", Shape::Type(&TYPE)),
        field("fields", "the object's fields", Shape::Declarations(&FORMAT_INPUT)),
        field("enum", "the values it may have", Shape::Values),
        field("minimum", "the least number", Shape::Number),
        field("maximum", "the greatest number", Shape::Number),
    ],
);

/// Two versions of the block are in use; the table has what tools and documentation agree on.
static MODALITY: RecordType = record(
    "modality",
    &[
        field("inbound", "how speech is heard", Shape::Open),
        field("outbound", "how speech is made", Shape::Open),
        field("session_language_switching", "whether the language may change", Shape::Bool),
        field("languages", "settings for each language", Shape::Open),
        field("voice_id", "the voice", Shape::Text),
        field("outbound_speed", "how fast it speaks", Shape::Number).limit(Limit::Range(0.5, 2.0)),
        field("pronunciation_dict", "how words are said", Shape::Open),
        field("additional_configs", "further settings", Shape::Open),
    ],
)
.open();

static ACCESS: RecordType = record(
    "access block",
    &[
        field("default_agent_user", "the user it acts for", Shape::QuotedOrNone),
        field("sharing_policy", "which records it may see", Shape::Block(&SHARING_POLICY)),
        field(
            "verified_customer_record_access",
            "which records a verified customer may see",
            Shape::Block(&RECORD_ACCESS),
        ),
    ],
);

static SHARING_POLICY: RecordType = record(
    "sharing policy",
    &[
        field("use_default_sharing_entities", "whether the usual records are shared", Shape::Bool),
        field("custom_sharing_entities", "further kinds of records", Shape::Values),
    ],
);

static RECORD_ACCESS: RecordType = record(
    "record access block",
    &[
        field("use_default_objects", "whether the usual records are open", Shape::Bool),
        field("additional_objects", "further kinds of records", Shape::Values),
    ],
);

static CONTEXT: RecordType = record(
    "context block",
    &[
        field("memory", "what is remembered", Shape::Block(&SWITCH)),
        field("user_profile", "what the profile says", Shape::Block(&SWITCH)),
        field("past_conversations", "what was said before", Shape::Block(&SWITCH)),
    ],
);

static SWITCH: RecordType =
    record("context block", &[field("enabled", "whether it is used", Shape::Bool)]);
