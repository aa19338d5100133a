//! Tables of `FLOW`, its steps, and other bodies of statements (§3.14, §8.10).

use super::agent::GATHER;
use super::{Head, RecordType, Shape, field, record};

/// A flow: an optional order, and steps by name.
pub static FLOW: RecordType = record(
    "flow",
    &[
        field("entry_point", Shape::Name).newest(),
        field("steps", Shape::OneOf(&[Shape::Record(&STEPS), Shape::Chain])).newest(),
        field("global_digressions", Shape::Record(&DIGRESSIONS)),
    ],
)
.items(&STEP)
.heads(&[Head::Chain]);

static STEPS: RecordType = record("steps", &[]).items(&STEP);

/// Statements: the fields shared by steps, branches, handlers and hooks. A macro, because tables cannot be
/// concatenated in constants.
macro_rules! with_actions {
    ($($row:expr),* $(,)?) => {
        &[
            $($row,)*
            field("respond", Shape::Template).aka(&["say"]),
            field("message_key", Shape::Name).newest(),
            field("voice", Shape::Data),
            field("rich_content", Shape::Data).newest(),
            field("formats", Shape::Data).newest(),
            field("actions", Shape::Record(&ACTIONS)),
            field("set", Shape::Assignments),
            field("clear", Shape::Names),
            field("call", Shape::Call),
            field("with", Shape::Bindings),
            field("as", Shape::Name),
            field("call_with", Shape::Bindings),
            field("transform", Shape::OneOf(&[Shape::Record(&TRANSFORM), Shape::TransformHead])),
            field("log", Shape::Data),
        ]
    };
}

/// A flow step.
pub static STEP: RecordType = record(
    "flow step",
    with_actions![
        field("reasoning", Shape::Bool),
        field("goal", Shape::Template),
        field("available_tools", Shape::Names),
        field("exit_when", Shape::Condition),
        field("max_turns", Shape::Number),
        field("step_constraints", Shape::Record(&super::behavior::STEP_CONSTRAINTS)),
        field("behavior", Shape::Data),
        field("description", Shape::Template),
        field("when", Shape::Condition).newest(),
        field("max_attempts", Shape::Number).newest(),
        field("on_exhausted", Shape::Action).newest(),
        field("present", Shape::Template),
        field("gather", Shape::Record(&GATHER)),
        field("collect", Shape::Names),
        field("prompt", Shape::Template),
        field("corrections", Shape::Bool),
        field("complete_when", Shape::Condition),
        field("filter", Shape::Expr),
        field("map", Shape::Bindings),
        field("sort_by", Shape::SortBy),
        field("limit", Shape::Expr),
        field("success_when", Shape::Condition),
        field("check", Shape::Condition),
        field("on_fail", Shape::OneOf(&[Shape::Record(&OUTCOME), Shape::Action])),
        field("on_success", Shape::OneOf(&[Shape::Record(&OUTCOME), Shape::Action])),
        // The legacy name of the ON_FAIL block; the newest documentation has both.
        field("on_failure", Shape::OneOf(&[Shape::Record(&OUTCOME), Shape::Action])),
        field("on_result", Shape::Record(&BRANCHES)),
        field("on_input", Shape::Record(&BRANCHES)),
        field("digressions", Shape::Record(&DIGRESSIONS)),
        field("sub_intents", Shape::Record(&SUB_INTENTS)),
        field("on_action", Shape::Record(&ACTION_HANDLERS)),
        field("on_error", Shape::Record(&ERROR_HANDLERS)),
        field("if", Shape::Condition),
        field("else", Shape::OneOf(&[Shape::Record(&OUTCOME), Shape::Action])),
        field("delegate", Shape::Action),
        field("handoff", Shape::Action),
        field("escalate", Shape::Data),
        field("complete", Shape::Data),
        field("human_approval", Shape::Data),
        field("await_attachment", Shape::Data).newest(),
        field("secure_input", Shape::Data).newest(),
        field("resolve_sip_destination", Shape::Data).newest(),
        field("barge_in", Shape::Data).newest(),
        field("streaming", Shape::Data).newest(),
        field("then", Shape::Action),
        field("goto", Shape::Action),
    ],
)
.keyed();

static TRANSFORM: RecordType = record(
    "transform",
    &[
        field("source", Shape::Expr),
        field("as", Shape::Name),
        field("into", Shape::Name),
        field("filter", Shape::Expr),
        field("map", Shape::Bindings),
        field("sort_by", Shape::SortBy),
        field("limit", Shape::Expr),
    ],
);

/// One branch of `ON_INPUT`, `ON_RESULT`, `ON_SUCCESS`, `BRANCHES`.
static BRANCH: RecordType = record(
    "branch",
    with_actions![
        field("if", Shape::Condition).aka(&["when", "condition"]),
        field("else", Shape::Marker),
        field("on_success", Shape::OneOf(&[Shape::Record(&OUTCOME), Shape::Action])),
        field("on_fail", Shape::OneOf(&[Shape::Record(&OUTCOME), Shape::Action]))
            .aka(&["on_failure"]),
        field("delegate", Shape::Action),
        field("handoff", Shape::Action),
        field("escalate", Shape::Data),
        field("collect", Shape::Names),
        field("then", Shape::Action),
        field("goto", Shape::Action),
    ],
)
.heads(&[Head::Condition]);

pub(super) static BRANCHES: RecordType = record("branches", &[]).items(&BRANCH);

/// The follow-up of success or failure: statements or branches.
static OUTCOME: RecordType = record(
    "outcome",
    with_actions![
        field("retry", Shape::Number),
        field("if", Shape::Condition),
        field("delegate", Shape::Action),
        field("handoff", Shape::Action),
        field("escalate", Shape::Data),
        field("collect", Shape::Names),
        field("branches", Shape::Record(&BRANCHES)),
        field("then", Shape::Action),
        field("goto", Shape::Action),
    ],
)
.items(&BRANCH);

/// A statement in a `DO:` list.
static STATEMENT: RecordType = record(
    "action",
    with_actions![
        field("if", Shape::Condition),
        field("delegate", Shape::Action),
        field("return", Shape::Bool),
        field("handoff", Shape::Action),
        field("escalate", Shape::Data),
        field("complete", Shape::Data),
        field("resume", Shape::OneOf(&[Shape::Bool, Shape::Marker])),
        field("set_interaction_language", Shape::Data).newest(),
        field("clear_interaction_language", Shape::Data).newest(),
        field("then", Shape::Action),
        field("goto", Shape::Action),
        field("transition", Shape::Action),
    ],
)
.heads(&[Head::Resume]);
static STATEMENTS: RecordType = record("actions", &[]).items(&STATEMENT);

pub(super) static DIGRESSIONS: RecordType = record("digressions", &[]).items(&DIGRESSION);
static DIGRESSION: RecordType = record(
    "digression",
    with_actions![
        field("intent", Shape::Text),
        field("keywords", Shape::Templates),
        field("condition", Shape::Condition).aka(&["when"]),
        field("delegate", Shape::Action),
        field("return", Shape::Bool),
        field("handoff", Shape::Action),
        field("goto", Shape::Action),
        field("then", Shape::Action),
        field("resume", Shape::Bool),
        field("do", Shape::Record(&STATEMENTS)).newest(),
    ],
);

static SUB_INTENTS: RecordType = record("sub-intents", &[]).items(&SUB_INTENT);
static SUB_INTENT: RecordType = record(
    "sub-intent",
    with_actions![
        field("intent", Shape::Text),
        field("keywords", Shape::Templates),
        field("condition", Shape::Condition).aka(&["when"]),
        field("resume", Shape::Bool),
        field("then", Shape::Action),
        field("goto", Shape::Action),
    ],
);

/// Buttons, menus and inputs shown with a message (§3.13.5).
static ACTIONS: RecordType = record(
    "actions",
    &[
        field("submit_label", Shape::Template).aka(&["submitLabel"]),
        field("submit_id", Shape::Text).aka(&["submitId"]),
        field("render_id", Shape::Text).aka(&["renderId"]),
    ],
)
.items(&ACTION);
static ACTION: RecordType = record(
    "interactive element",
    &[
        field("button", Shape::Template),
        field("select", Shape::Template),
        field("input", Shape::Template),
        field("id", Shape::Text),
        field("type", Shape::Text),
        field("label", Shape::Template),
        field("value", Shape::Text),
        field("url", Shape::Text),
        field("description", Shape::Template),
        field("options", Shape::Data),
        field("input_type", Shape::Text).aka(&["inputType"]),
        field("placeholder", Shape::Template),
        field("required", Shape::Bool),
    ],
);

pub(super) static ACTION_HANDLERS: RecordType =
    record("action handlers", &[]).items(&ACTION_HANDLER);
static ACTION_HANDLER: RecordType = record(
    "action handler",
    with_actions![
        field("action", Shape::Text).aka(&["action_id", "id"]),
        field("condition", Shape::Condition).aka(&["when", "if"]),
        field("do", Shape::Record(&STATEMENTS)).newest(),
        field("then", Shape::Action),
        field("goto", Shape::Action),
        field("transition", Shape::Action),
    ],
)
.keyed()
.named_by("action");

/// `ON_ERROR` (§3.13).
pub(super) static ERROR_HANDLERS: RecordType = record("error handlers", &[]).items(&ERROR_HANDLER);
static ERROR_HANDLER: RecordType = record(
    "error handler",
    with_actions![
        field("type", Shape::Name),
        field("subtypes", Shape::Names).aka(&["subtype"]).newest(),
        field("retry", Shape::Number),
        field("retry_delay", Shape::Number),
        field("retry_backoff", Shape::Enum(&["fixed", "exponential", "linear"])),
        field("retry_max_delay", Shape::Number),
        field("handoff_target", Shape::Name),
        field("backtrack_to", Shape::Name),
        field("handoff", Shape::Action),
        field("escalate", Shape::Data),
        field("then", Shape::Action),
    ],
)
.keyed()
.named_by("type")
.shorthand("then");

/// `ON_START` and each of the hooks.
pub(super) static HOOK: RecordType = record(
    "hook",
    with_actions![
        field("delegate", Shape::Action),
        field("critical", Shape::Bool),
        field("branches", Shape::Record(&BRANCHES)),
        field("do", Shape::Record(&STATEMENTS)).newest(),
        field("then", Shape::Action),
        field("goto", Shape::Action),
    ],
)
.items(&STATEMENT);

pub(super) static HOOKS: RecordType = record(
    "hooks",
    &[
        field("before_agent", Shape::Record(&HOOK)),
        field("after_agent", Shape::Record(&HOOK)),
        field("before_turn", Shape::Record(&HOOK)),
        field("after_turn", Shape::Record(&HOOK)),
    ],
);
