//! The base dialect, `agentscript` (specification part II).

use super::{
    BASE_SCHEMA, FieldDef, FieldType, Limit, ProcedureKind, RecordType, V3_2, field, record,
};

// Rows shared by many records.
pub(super) const LABEL: FieldDef = field("label", "its name for people", FieldType::Text);
pub(super) const SOURCE: FieldDef =
    field("source", "where its definition comes from", FieldType::Text).of(BASE_SCHEMA);
pub(super) const STRIP_SALESFORCE_INSTRUCTIONS: FieldDef = field(
    "strip_salesforce_instructions",
    "whether the platform's own instructions are left out",
    FieldType::Bool,
)
.of(BASE_SCHEMA);

/// The possible targets of a transition.
pub(super) const TARGETS: &[&str] = &["subagent", "start_agent", "connected_subagent"];

/// The namespaces of references that have a value.
pub(super) const VALUES: &[&str] = &[
    "variables",
    "outputs",
    "system_variables",
    "knowledge",
    "MessagingSession",
    "MessagingEndUser",
    "VoiceCall",
];

/// A document.
pub(super) static DOCUMENT: RecordType = record(
    "document",
    "part II",
    &[
        field("system", "what holds for the whole agent", FieldType::Block(&SYSTEM))
            .of("part II, 1"),
        field("config", "who the agent is", FieldType::Block(&CONFIG)).of("part II, 2"),
        field("variables", "what the agent remembers", FieldType::Declarations(&VARIABLE))
            .of("part II, 3"),
        field("language", "the languages it speaks", FieldType::Block(&LANGUAGE)).of(BASE_SCHEMA),
        field(
            "connected_subagent",
            "an agent that is deployed elsewhere",
            FieldType::Named(&CONNECTED_SUBAGENT),
        )
        .of("part II, 10"),
        field("start_agent", "where every conversation begins", FieldType::Named(&SUBAGENT))
            .singular()
            .of("part II, 4"),
        field("subagent", "one area of the conversation", FieldType::Named(&SUBAGENT))
            .of("part II, 5"),
    ],
);

pub(super) static SYSTEM: RecordType = record(
    "system block",
    "part II, 1",
    &[
        field("instructions", "instructions that every subagent inherits", FieldType::Text),
        field("messages", "the messages for standard situations", FieldType::Block(&MESSAGES)),
        STRIP_SALESFORCE_INSTRUCTIONS,
    ],
);

static MESSAGES: RecordType = record(
    "messages block",
    "part II, 1",
    &[
        field("welcome", "the greeting", FieldType::Text),
        field("error", "the message shown when something fails", FieldType::Text).required(),
    ],
);

pub(super) static CONFIG: RecordType = record(
    "config block",
    "part II, 2",
    &[field("description", "what the agent is for", FieldType::Text)],
);

pub(super) static VARIABLE: RecordType = record(
    "variable",
    "part II, 3",
    &[
        field("description", "what it holds; the model reads it to fill it", FieldType::Text),
        LABEL.of(BASE_SCHEMA),
        field("is_required", "whether it has to have a value", FieldType::Bool).of(BASE_SCHEMA),
    ],
)
.with_modifier();

pub(super) static LANGUAGE: RecordType = record(
    "language block",
    BASE_SCHEMA,
    &[
        field("adaptive", "whether the agent takes on the user's language", FieldType::Bool),
        field("default_locale", "the language to begin with, such as `en_US`", FieldType::Text),
        field("additional_locales", "other languages, with commas between", FieldType::Text),
        field("all_additional_locales", "whether all other languages are allowed", FieldType::Bool),
    ],
);

pub(super) static CONNECTED_SUBAGENT: RecordType = record(
    "connected subagent",
    "part II, 10",
    &[
        field("target", "the agent's address, such as `agentforce://Billing`", FieldType::Quoted)
            .required()
            .uri(&[]),
        LABEL,
        field("description", "what it can do; the model reads it to choose it", FieldType::Text),
        field("loading_text", "what is shown while it works", FieldType::Text).of(BASE_SCHEMA),
        field("inputs", "what it is given", FieldType::Declarations(&PARAMETER)).of(BASE_SCHEMA),
        field(
            "after_response",
            "what happens when it has answered",
            FieldType::Procedure(ProcedureKind::Deterministic),
        )
        .of(BASE_SCHEMA),
        field(
            "delegate_escalation",
            "whether its own way to a person is taken, not this agent's",
            FieldType::Bool,
        )
        .of(BASE_SCHEMA),
    ],
);

/// `start_agent` and `subagent`.
pub(super) static SUBAGENT: RecordType = record(
    "subagent",
    "part II, 5",
    &[
        field("label", "its name for people", FieldType::Quoted),
        field("description", "which tells the model when to go to it", FieldType::Text).required(),
        field(
            "system",
            "replaces the agent's instructions here",
            FieldType::Block(&SUBAGENT_SYSTEM),
        ),
        field("actions", "what can be called here", FieldType::Collection(&ACTION)),
        field("reasoning", "what the model is told and may use", FieldType::Block(&REASONING)),
        field("schema", "which kind of node it is", FieldType::Quoted)
            .uri(&["node"])
            .of(BASE_SCHEMA),
        field(
            "before_reasoning",
            "what happens before the model thinks",
            FieldType::Procedure(ProcedureKind::Deterministic),
        )
        .of("part II, 6"),
        field(
            "after_reasoning",
            "what happens when the model has answered",
            FieldType::Procedure(ProcedureKind::Deterministic),
        )
        .of("part II, 8"),
    ],
);

pub(super) static SUBAGENT_SYSTEM: RecordType = record(
    "system block",
    "part II, 1",
    &[
        field("instructions", "instructions that replace the agent's", FieldType::Text),
        STRIP_SALESFORCE_INSTRUCTIONS,
    ],
);

pub(super) static ACTION: RecordType = record(
    "action",
    "part I, 7.1",
    &[
        field("description", "what it does; the model reads it", FieldType::Text),
        LABEL,
        field("inputs", "what it takes", FieldType::Declarations(&PARAMETER)),
        field("outputs", "what it gives back", FieldType::Declarations(&OUTPUT)),
        field("target", "which names what executes it, such as `flow://Name`", FieldType::Text)
            .required(),
        SOURCE,
    ],
);

pub(super) static PARAMETER: RecordType = record(
    "input",
    "part I, 7.2",
    &[
        LABEL,
        field("description", "what it means; the model reads it to fill it", FieldType::Text),
        field("is_required", "whether it has to have a value", FieldType::Bool),
    ],
);

pub(super) static OUTPUT: RecordType = record(
    "output",
    "part I, 7.2",
    &[LABEL, field("description", "what it means", FieldType::Text)],
);

pub(super) static REASONING: RecordType = record(
    "reasoning block",
    "part II, 7",
    &[
        field(
            "instructions",
            "the prompt, built anew each time",
            FieldType::Procedure(ProcedureKind::Prompt),
        ),
        field("actions", "the tools the model may use", FieldType::Bindings(&BINDING)),
    ],
);

pub(super) static BINDING: RecordType = record(
    "tool",
    "part II, 7",
    &[
        field("description", "what the model is told about it", FieldType::Text),
        LABEL.of(BASE_SCHEMA),
    ],
);

/// The fields below `collect` and `ask for`.
pub static COLLECT: RecordType = record(
    "question",
    BASE_SCHEMA,
    &[
        field("message", "what the user is asked", FieldType::Text).until(V3_2, "instructions"),
        field("instructions", "how the model is to ask", FieldType::Text).since(V3_2),
    ],
);

/// `skills`, `skill_definitions`.
pub(super) static SKILL: RecordType = record(
    "skill",
    BASE_SCHEMA,
    &[field("target", "the skill's address, such as `skill://Name_v2`", FieldType::Text)
        .required()
        .limit(Limit::Any)],
);
