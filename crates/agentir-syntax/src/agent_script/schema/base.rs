//! The base dialect, `agentscript` (specification part II).

use super::{FieldDef, Limit, RecordType, Shape, Steps, V3_2, field, record};

// Rows shared by many records.
pub(super) const LABEL: FieldDef = field("label", "its name for people", Shape::Text);
pub(super) const SOURCE: FieldDef = field("source", "where its definition comes from", Shape::Text);
pub(super) const STRIP_SALESFORCE_INSTRUCTIONS: FieldDef = field(
    "strip_salesforce_instructions",
    "whether the platform's own instructions are left out",
    Shape::Bool,
);

/// A document.
pub(super) static DOCUMENT: RecordType = record(
    "document",
    &[
        field("system", "what holds for the whole agent", Shape::Block(&SYSTEM)),
        field("config", "who the agent is", Shape::Block(&CONFIG)),
        field("variables", "what the agent remembers", Shape::Declarations(&VARIABLE)),
        field("language", "the languages it speaks", Shape::Block(&LANGUAGE)),
        field(
            "connected_subagent",
            "an agent that is deployed elsewhere",
            Shape::Named(&CONNECTED_SUBAGENT),
        ),
        field("start_agent", "where every conversation begins", Shape::Named(&SUBAGENT)).singular(),
        field("subagent", "one area of the conversation", Shape::Named(&SUBAGENT)),
    ],
);

pub(super) static SYSTEM: RecordType = record(
    "system block",
    &[
        field("instructions", "instructions that every subagent inherits", Shape::Text),
        field("messages", "what is said in standard situations", Shape::Block(&MESSAGES)),
        STRIP_SALESFORCE_INSTRUCTIONS,
    ],
);

static MESSAGES: RecordType = record(
    "messages block",
    &[
        field("welcome", "greets the user", Shape::Text),
        field("error", "is said when something fails", Shape::Text).required(),
    ],
);

pub(super) static CONFIG: RecordType =
    record("config block", &[field("description", "what the agent is for", Shape::Text)]);

pub(super) static VARIABLE: RecordType = record(
    "variable",
    &[
        field("description", "what it holds; the model reads it to fill it", Shape::Text),
        LABEL,
        field("is_required", "whether it has to have a value", Shape::Bool),
    ],
);

pub(super) static LANGUAGE: RecordType = record(
    "language block",
    &[
        field("adaptive", "whether the agent takes on the user's language", Shape::Bool),
        field("default_locale", "the language to begin with, such as `en_US`", Shape::Text),
        field("additional_locales", "other languages, with commas between", Shape::Text),
        field("all_additional_locales", "whether all other languages are allowed", Shape::Bool),
    ],
);

pub(super) static CONNECTED_SUBAGENT: RecordType = record(
    "connected subagent",
    &[
        field("target", "the agent's address, such as `agentforce://Billing`", Shape::Quoted)
            .required()
            .uri(&[]),
        LABEL,
        field("description", "what it can do; the model reads it to choose it", Shape::Text),
        field("loading_text", "what is shown while it works", Shape::Text),
        field("inputs", "what it is given", Shape::Declarations(&PARAMETER)),
        field(
            "after_response",
            "what happens when it has answered",
            Shape::Procedure(Steps::Deterministic),
        ),
        field(
            "delegate_escalation",
            "whether its own way to a person is taken, not this agent's",
            Shape::Bool,
        ),
    ],
);

/// `start_agent` and `subagent`.
pub(super) static SUBAGENT: RecordType = record(
    "subagent",
    &[
        field("label", "its name for people", Shape::Quoted),
        field("description", "what it is for; decides when it is gone to", Shape::Text).required(),
        field("system", "replaces the agent's instructions here", Shape::Block(&SUBAGENT_SYSTEM)),
        field("actions", "what can be called here", Shape::Collection(&ACTION)),
        field("reasoning", "what the model is told and may use", Shape::Block(&REASONING)),
        field("schema", "which kind of node it is", Shape::Quoted).uri(&["node"]),
        field(
            "before_reasoning",
            "what happens before the model thinks",
            Shape::Procedure(Steps::Deterministic),
        ),
        field(
            "after_reasoning",
            "what happens when the model has answered",
            Shape::Procedure(Steps::Deterministic),
        ),
    ],
);

pub(super) static SUBAGENT_SYSTEM: RecordType = record(
    "system block",
    &[
        field("instructions", "instructions that replace the agent's", Shape::Text),
        STRIP_SALESFORCE_INSTRUCTIONS,
    ],
);

pub(super) static ACTION: RecordType = record(
    "action",
    &[
        field("description", "what it does; the model reads it", Shape::Text),
        LABEL,
        field("inputs", "what it takes", Shape::Declarations(&PARAMETER)),
        field("outputs", "what it gives back", Shape::Declarations(&OUTPUT)),
        field("target", "what carries it out, such as `flow://Name`", Shape::Text).required(),
        SOURCE,
    ],
);

pub(super) static PARAMETER: RecordType = record(
    "input",
    &[
        LABEL,
        field("description", "what it means; the model reads it to fill it", Shape::Text),
        field("is_required", "whether it has to have a value", Shape::Bool),
    ],
);

pub(super) static OUTPUT: RecordType =
    record("output", &[LABEL, field("description", "what it means", Shape::Text)]);

pub(super) static REASONING: RecordType = record(
    "reasoning block",
    &[
        field("instructions", "the prompt, built anew each time", Shape::Procedure(Steps::Prompt)),
        field("actions", "the tools the model may use", Shape::Bindings(&BINDING)),
    ],
);

pub(super) static BINDING: RecordType =
    record("tool", &[field("description", "what the model is told about it", Shape::Text), LABEL]);

/// The fields below `collect` and `ask for`.
pub static COLLECT: RecordType = record(
    "question",
    &[
        field("message", "what the user is asked", Shape::Text).until(V3_2, "instructions"),
        field("instructions", "how the model is to ask", Shape::Text).since(V3_2),
    ],
);

/// `skills`, `skill_definitions`.
pub(super) static SKILL: RecordType = record(
    "skill",
    &[field("target", "the skill's address, such as `skill://Name_v2`", Shape::Text)
        .required()
        .limit(Limit::Any)],
);
