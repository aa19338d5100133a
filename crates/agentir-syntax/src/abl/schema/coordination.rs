//! Tables of delegation, handoffs, escalation and completion (§3.10–§3.12).

use super::{Head, RecordType, Shape, Version, field, record};

pub(super) static DELEGATES: RecordType = record("delegate", &[]).items(&DELEGATE);
static DELEGATE: RecordType = record(
    "delegate",
    &[
        field("agent", Shape::Name).aka(&["to"]).required(),
        field("when", Shape::Condition),
        field("purpose", Shape::Template),
        field("summary", Shape::Template).newest(),
        field("input", Shape::Bindings).aka(&["pass"]),
        field("returns", Shape::Types),
        field("use_result", Shape::Template),
        field("memory_grants", Shape::Data).newest(),
        field("timeout", Shape::Text),
        field("on_fail", Shape::OneOf(&[Shape::Record(&FAILURE), Shape::Action]))
            .aka(&["on_failure"]),
        field("failure_message", Shape::Template),
        field("experience_mode", Shape::Enum(EXPERIENCE_MODES)).newest(),
        field("remote", Shape::OneOf(&[Shape::Record(&REMOTE), Shape::Data])),
    ],
)
.named_by("agent")
.heads(&[Head::Name]);

static FAILURE: RecordType = record(
    "failure strategy",
    &[
        field("type", Shape::Enum(&["respond", "continue", "escalate", "retry"])),
        field("count", Shape::Number),
        field("message", Shape::Template),
        field("respond", Shape::Template),
    ],
);

const EXPERIENCE_MODES: &[&str] =
    &["shared_voice_handoff", "visible_handoff", "silent_delegate", "human_escalation"];

static REMOTE: RecordType = record(
    "remote agent",
    &[
        field("location", Shape::Enum(&["local", "remote"])),
        field("service_url", Shape::Text),
        field("endpoint", Shape::Text),
        field("protocol", Shape::Enum(&["a2a", "rest"])),
        field("auth", Shape::Data),
        field("auth_header", Shape::Text),
        field("timeout", Shape::Text),
    ],
);

pub(super) static HANDOFFS: RecordType = record("handoff", &[]).items(&HANDOFF);
static HANDOFF: RecordType = record(
    "handoff",
    &[
        field("to", Shape::Name).required(),
        field("when", Shape::Condition)
            .expected("the model then decides on its own when to hand over"),
        field("priority", Shape::Number),
        field("context", Shape::OneOf(&[Shape::Record(&CONTEXT), Shape::Names])),
        // Context keys written directly in the handoff.
        field("pass", Shape::Names),
        field("summary", Shape::Template),
        field("history", Shape::Data),
        field("set", Shape::Assignments).newest(),
        field("memory_grants", Shape::Data).newest(),
        field("grant_memory", Shape::Names).until(
            Version::Current,
            "write `memory_grants` with a `path` and an `access` for each",
        ),
        field("return", Shape::Bool),
        field("expect_return", Shape::Bool).newest(),
        field("on_return", Shape::OneOf(&[Shape::Record(&ON_RETURN), Shape::Text])),
        field("map", Shape::Bindings).until(Version::Current, "write `MAP` below `ON_RETURN`"),
        field("on_failure", Shape::OneOf(&[Shape::Action, Shape::Template])).newest(),
        field("failure_message", Shape::Template),
        field("respond", Shape::Template),
        field("experience_mode", Shape::Enum(EXPERIENCE_MODES)).newest(),
        field("remote", Shape::OneOf(&[Shape::Record(&REMOTE), Shape::Data])),
        field("async", Shape::Bool),
        field("async_timeout", Shape::Number).aka(&["asyncTimeout"]),
        field("timeout", Shape::Data),
        field("on_timeout", Shape::Data),
    ],
)
.named_by("to")
.heads(&[Head::Name]);

static CONTEXT: RecordType = record(
    "handoff context",
    &[
        field("pass", Shape::Names),
        field("summary", Shape::Template),
        field("history", Shape::Data),
        field("set", Shape::Assignments).newest(),
        field("memory_grants", Shape::Data).newest(),
        field("grant_memory", Shape::Names).until(
            Version::Current,
            "write `memory_grants` with a `path` and an `access` for each",
        ),
    ],
);

static ON_RETURN: RecordType = record(
    "return handling",
    &[
        field("action", Shape::Text),
        field("handler", Shape::Text),
        field("resume_with", Shape::Text).newest(),
        field("map", Shape::Bindings),
        field("set", Shape::Assignments).newest(),
    ],
);

pub(super) static RETURN_HANDLERS: RecordType =
    record("return handlers", &[]).items(&RETURN_HANDLER);
static RETURN_HANDLER: RecordType = record(
    "return handler",
    &[
        field("respond", Shape::Template),
        field("clear", Shape::Names),
        field("continue", Shape::Bool),
        field("resume_intent", Shape::Bool),
    ],
)
.keyed();

pub(super) static ESCALATE: RecordType = record(
    "escalate",
    &[
        field("triggers", Shape::Record(&TRIGGERS)),
        field("context_for_human", Shape::Data),
        field("routing", Shape::Data),
        field("on_human_complete", Shape::Record(&HUMAN_OUTCOMES)),
        field("connector_action", Shape::Data),
    ],
)
.items(&TRIGGER);
static TRIGGERS: RecordType = record("escalation triggers", &[]).items(&TRIGGER);
static TRIGGER: RecordType = record(
    "escalation trigger",
    &[
        field("when", Shape::Condition).required(),
        field("reason", Shape::Template),
        field(
            "priority",
            Shape::OneOf(&[Shape::Enum(&["low", "medium", "high", "critical"]), Shape::Number]),
        ),
        field("tags", Shape::Names),
        field("set", Shape::Assignments).newest(),
        // In a bare trigger list (§8.8).
        field("context", Shape::Names),
        field("respond", Shape::Template),
    ],
)
.heads(&[Head::Condition]);

static HUMAN_OUTCOMES: RecordType = record("outcomes of the escalation", &[]).items(&HUMAN_OUTCOME);
static HUMAN_OUTCOME: RecordType = record(
    "outcome of the escalation",
    &[
        field("if", Shape::Condition),
        field("store", Shape::Store),
        field("respond", Shape::Template),
        field("set", Shape::Assignments),
        field("complete", Shape::Bool),
        field("continue", Shape::OneOf(&[Shape::Bool, Shape::Text])),
        field("context", Shape::Names),
        field("handoff", Shape::Action),
        field("then", Shape::Action),
    ],
)
.heads(&[Head::Condition]);

pub(super) static COMPLETE: RecordType = record("complete", &[]).items(&COMPLETION);
static COMPLETION: RecordType = record(
    "completion",
    &[
        field("when", Shape::Condition).required(),
        field("respond", Shape::Template),
        field("store", Shape::Store),
        field("set", Shape::Assignments).newest(),
        field("terminal", Shape::Bool).newest(),
        field("voice", Shape::Data),
        field("formats", Shape::Data).newest(),
        field("rich_content", Shape::Data).newest(),
        field("actions", Shape::Data),
    ],
)
.heads(&[Head::Condition]);
