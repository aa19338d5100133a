//! Tables of delegation, handoffs, escalation and completion (§3.10–§3.12).

use super::{FieldType, Header, NameKind, Part, RecordType, Version, field, record};
use agentir_syntax::data;

pub(super) static DELEGATES: RecordType = record("delegate", &[]).items(&DELEGATE);
static DELEGATE: RecordType = record(
    "delegate",
    &[
        field("agent", FieldType::Name).names(NameKind::Agent).aliased(&["to"]).required(),
        field("when", FieldType::Condition),
        field("purpose", FieldType::Template),
        field("summary", FieldType::Template).newest(),
        field("input", FieldType::Bindings).aliased(&["pass"]),
        // Types of what comes back, or the variables that it is written to.
        field("returns", FieldType::Types).names(NameKind::Variable),
        field("use_result", FieldType::Template),
        field("memory_grants", FieldType::Data).newest(),
        field("timeout", FieldType::Text).time(),
        field("on_fail", FieldType::OneOf(&[FieldType::Record(&FAILURE), FieldType::Action]))
            .aliased(&["on_failure"]),
        field("failure_message", FieldType::Template),
        field("experience_mode", FieldType::Enum(EXPERIENCE_MODES)).newest(),
        field("remote", FieldType::OneOf(&[FieldType::Record(&REMOTE), FieldType::Data])),
    ],
)
.named_by("agent")
.headers(&[Header::Name]);

static FAILURE: RecordType = record(
    "failure strategy",
    &[
        field("type", FieldType::Enum(&["respond", "continue", "escalate", "retry"])),
        field("count", FieldType::Number),
        field("message", FieldType::Template),
        field("respond", FieldType::Template),
    ],
);

const EXPERIENCE_MODES: &[&str] =
    &["shared_voice_handoff", "visible_handoff", "silent_delegate", "human_escalation"];

static REMOTE: RecordType = record(
    "remote agent",
    &[
        field("location", FieldType::Enum(&["local", "remote"])),
        field("service_url", FieldType::Text),
        field("endpoint", FieldType::Text),
        field("protocol", FieldType::Enum(&["a2a", "rest"])),
        field("auth", FieldType::Data),
        field("auth_header", FieldType::Text),
        field("timeout", FieldType::Text).time(),
    ],
);

pub(super) static HANDOFFS: RecordType = record("handoff", &[]).items(&HANDOFF);
static HANDOFF: RecordType = record(
    "handoff",
    &[
        field("to", FieldType::Name).names(NameKind::Agent).required(),
        field("when", FieldType::Condition)
            .recommended("without it the model decides on its own when to hand over"),
        field("priority", FieldType::Number),
        field("context", FieldType::OneOf(&[FieldType::Record(&CONTEXT), FieldType::Names]))
            .names(NameKind::Variable),
        // Context keys written directly in the handoff.
        field("pass", FieldType::Names).names(NameKind::Variable),
        field("summary", FieldType::Template),
        field("history", FieldType::Data).patterns(HISTORY).keys(LAST_MESSAGES),
        field("set", FieldType::Assignments).newest(),
        field("memory_grants", FieldType::Data).newest(),
        field("grant_memory", FieldType::Names).names(NameKind::Variable).until(
            Version::Current,
            "write `memory_grants` with a `path` and an `access` for each",
        ),
        field("return", FieldType::Bool),
        field("expect_return", FieldType::Bool).newest(),
        field("on_return", FieldType::OneOf(&[FieldType::Record(&ON_RETURN), FieldType::Text])),
        field("map", FieldType::Bindings).until(Version::Current, "write `MAP` below `ON_RETURN`"),
        field("on_failure", FieldType::OneOf(&[FieldType::Action, FieldType::Template])).newest(),
        field("failure_message", FieldType::Template),
        field("respond", FieldType::Template),
        field("experience_mode", FieldType::Enum(EXPERIENCE_MODES)).newest(),
        field("remote", FieldType::OneOf(&[FieldType::Record(&REMOTE), FieldType::Data])),
        field("async", FieldType::Bool),
        field("async_timeout", FieldType::Number).aliased(&["asyncTimeout"]),
        field("timeout", FieldType::Data),
        field("on_timeout", FieldType::Data),
    ],
)
.named_by("to")
.headers(&[Header::Name]);

/// What of the conversation the other agent sees (§3.10).
const HISTORY: &[&[Part]] =
    &[&[Part::Word("none")], &[Part::Word("full")], &[Part::Word("summary_only")]];

/// How many messages, in both of its notations.
const LAST_MESSAGES: data::Keys =
    &[("last_n", data::Form::Number), ("mode", data::Form::Text), ("count", data::Form::Number)];

static CONTEXT: RecordType = record(
    "handoff context",
    &[
        field("pass", FieldType::Names).names(NameKind::Variable),
        field("summary", FieldType::Template),
        field("history", FieldType::Data).patterns(HISTORY).keys(LAST_MESSAGES),
        field("set", FieldType::Assignments).newest(),
        field("memory_grants", FieldType::Data).newest(),
        field("grant_memory", FieldType::Names).names(NameKind::Variable).until(
            Version::Current,
            "write `memory_grants` with a `path` and an `access` for each",
        ),
    ],
);

static ON_RETURN: RecordType = record(
    "return handling",
    &[
        field("action", FieldType::Text),
        field("handler", FieldType::Text),
        field("resume_with", FieldType::Text).newest(),
        // The variables of this agent, where the specification has them first (§3.11), or what the other one returns
        // (supervisor reference).
        field("map", FieldType::Bindings).names(NameKind::Variable),
        field("set", FieldType::Assignments).newest(),
    ],
);

pub(super) static RETURN_HANDLERS: RecordType =
    record("return handlers", &[]).items(&RETURN_HANDLER);
static RETURN_HANDLER: RecordType = record(
    "return handler",
    &[
        field("respond", FieldType::Template),
        field("clear", FieldType::Names).names(NameKind::Variable),
        field("continue", FieldType::Bool),
        field("resume_intent", FieldType::Bool),
    ],
)
.keyed();

pub(super) static ESCALATE: RecordType = record(
    "escalate",
    &[
        field("triggers", FieldType::Record(&TRIGGERS)),
        field("context_for_human", FieldType::Data),
        field("routing", FieldType::Data).keys(data::ESCALATION_ROUTING),
        field("on_human_complete", FieldType::Record(&HUMAN_OUTCOMES)),
        field("connector_action", FieldType::Data),
    ],
)
.items(&TRIGGER);
static TRIGGERS: RecordType = record("escalation triggers", &[]).items(&TRIGGER);
static TRIGGER: RecordType = record(
    "escalation trigger",
    &[
        field("when", FieldType::Condition).required(),
        field("reason", FieldType::Template),
        field(
            "priority",
            FieldType::OneOf(&[FieldType::Enum(data::PRIORITIES), FieldType::Number]),
        ),
        field("tags", FieldType::Names),
        field("set", FieldType::Assignments).newest(),
        // In a bare trigger list (§8.8).
        field("context", FieldType::Names).names(NameKind::Variable),
        field("respond", FieldType::Template),
    ],
)
.headers(&[Header::Condition]);

static HUMAN_OUTCOMES: RecordType = record("outcomes of the escalation", &[]).items(&HUMAN_OUTCOME);
static HUMAN_OUTCOME: RecordType = record(
    "outcome of the escalation",
    &[
        field("if", FieldType::Condition),
        field("store", FieldType::Store),
        field("respond", FieldType::Template),
        field("set", FieldType::Assignments),
        field("complete", FieldType::Bool),
        field("continue", FieldType::OneOf(&[FieldType::Bool, FieldType::Text])),
        field("context", FieldType::Names).names(NameKind::Variable),
        field("handoff", FieldType::Action).names(NameKind::Agent),
        field("then", FieldType::Action),
    ],
)
.headers(&[Header::Condition]);

pub(super) static COMPLETE: RecordType = record("complete", &[]).items(&COMPLETION);
static COMPLETION: RecordType = record(
    "completion",
    &[
        field("when", FieldType::Condition).required(),
        field("respond", FieldType::Template),
        field("store", FieldType::Store),
        field("set", FieldType::Assignments).newest(),
        field("terminal", FieldType::Bool).newest(),
        field("voice", FieldType::Data).keys(data::VOICE),
        field("formats", FieldType::Data).newest(),
        field("rich_content", FieldType::Data).newest(),
        field("actions", FieldType::Data),
    ],
)
.headers(&[Header::Condition]);
