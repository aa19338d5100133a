//! Tables of `FLOW`, its steps, and other bodies of statements (§3.14, §8.10).

use super::agent::GATHER;
use super::{FieldType, Header, NameKind, Part, RecordType, field, record};
use agentir_syntax::data;

/// A flow: an optional order, and steps by name.
pub static FLOW: RecordType = record(
    "flow",
    &[
        field("entry_point", FieldType::Name).names(NameKind::Step).newest(),
        field("steps", FieldType::OneOf(&[FieldType::Record(&STEPS), FieldType::Chain])).newest(),
        field("global_digressions", FieldType::Record(&DIGRESSIONS)),
    ],
)
.items(&STEP)
.headers(&[Header::Chain]);

static STEPS: RecordType = record("steps", &[]).items(&STEP);

/// Statements: the fields shared by steps, branches, handlers and hooks. A macro, because tables cannot be
/// concatenated in constants.
macro_rules! with_actions {
    ($($row:expr),* $(,)?) => {
        &[
            $($row,)*
            field("respond", FieldType::Template).aliased(&["say"]),
            field("message_key", FieldType::Name).newest(),
            field("voice", FieldType::Data).keys(data::VOICE),
            field("rich_content", FieldType::Data).newest(),
            field("formats", FieldType::Data).newest(),
            field("actions", FieldType::Record(&ACTIONS)),
            // Each runs where it is written.
            field("set", FieldType::Assignments).repeated(),
            field("clear", FieldType::Names).names(NameKind::Variable),
            field("call", FieldType::Call),
            field("with", FieldType::Arguments),
            field("as", FieldType::Name),
            field("call_with", FieldType::Arguments),
            field("transform", FieldType::OneOf(&[FieldType::Record(&TRANSFORM), FieldType::TransformHeader])),
            field("log", FieldType::Data),
        ]
    };
}

/// A flow step.
pub static STEP: RecordType = record(
    "flow step",
    with_actions![
        field("reasoning", FieldType::Bool),
        field("goal", FieldType::Template),
        field("available_tools", FieldType::Names).names(NameKind::Tool),
        field("exit_when", FieldType::Condition),
        field("max_turns", FieldType::Number),
        field("step_constraints", FieldType::Record(&super::behavior::STEP_CONSTRAINTS)),
        field("behavior", FieldType::Data),
        field("description", FieldType::Template),
        field("when", FieldType::Condition).newest(),
        field("max_attempts", FieldType::Number).newest(),
        field("on_exhausted", FieldType::Action).newest(),
        field("present", FieldType::Template),
        field("gather", FieldType::Record(&GATHER)),
        field("collect", FieldType::Names).names(NameKind::Variable),
        field("prompt", FieldType::Template),
        field("corrections", FieldType::Bool),
        field("complete_when", FieldType::Condition),
        field("filter", FieldType::Expr),
        field("map", FieldType::Bindings),
        field("sort_by", FieldType::SortBy),
        field("limit", FieldType::Expr),
        field("success_when", FieldType::Condition),
        field("check", FieldType::Condition),
        field("on_fail", FieldType::OneOf(&[FieldType::Record(&OUTCOME), FieldType::Action])),
        field("on_success", FieldType::OneOf(&[FieldType::Record(&OUTCOME), FieldType::Action])),
        // The legacy name of the ON_FAIL block; the newest documentation has both.
        field("on_failure", FieldType::OneOf(&[FieldType::Record(&OUTCOME), FieldType::Action])),
        field("on_result", FieldType::Record(&BRANCHES)),
        field("on_input", FieldType::Record(&BRANCHES)),
        field("digressions", FieldType::Record(&DIGRESSIONS)),
        field("sub_intents", FieldType::Record(&SUB_INTENTS)),
        field("on_action", FieldType::Record(&ACTION_HANDLERS)),
        field("on_error", FieldType::Record(&ERROR_HANDLERS)),
        field("if", FieldType::Condition),
        field("else", FieldType::OneOf(&[FieldType::Record(&OUTCOME), FieldType::Action])),
        field("delegate", FieldType::Action).names(NameKind::Agent),
        field("handoff", FieldType::Action).names(NameKind::Agent),
        field("escalate", FieldType::Data),
        field("complete", FieldType::Data),
        field("human_approval", FieldType::Data),
        field("await_attachment", FieldType::Data).newest(),
        field("secure_input", FieldType::Data).newest(),
        field("resolve_sip_destination", FieldType::Data).newest(),
        field("barge_in", FieldType::Data).newest(),
        field("streaming", FieldType::Data).newest(),
        field("then", FieldType::Action),
        field("goto", FieldType::Action),
    ],
)
.keyed()
.referring_to(NameKind::Step);

static TRANSFORM: RecordType = record(
    "transform",
    &[
        field("source", FieldType::Expr),
        field("as", FieldType::Name),
        field("into", FieldType::Name).names(NameKind::Variable),
        field("filter", FieldType::Expr),
        field("map", FieldType::Bindings),
        field("sort_by", FieldType::SortBy),
        field("limit", FieldType::Expr),
    ],
);

/// One branch of `ON_INPUT`, `ON_RESULT`, `ON_SUCCESS`, `BRANCHES`.
static BRANCH: RecordType = record(
    "branch",
    with_actions![
        field("if", FieldType::Condition).aliased(&["when", "condition"]),
        field("else", FieldType::Marker),
        field("on_success", FieldType::OneOf(&[FieldType::Record(&OUTCOME), FieldType::Action])),
        field("on_fail", FieldType::OneOf(&[FieldType::Record(&OUTCOME), FieldType::Action]))
            .aliased(&["on_failure"]),
        field("delegate", FieldType::Action).names(NameKind::Agent),
        field("handoff", FieldType::Action).names(NameKind::Agent),
        field("escalate", FieldType::Data),
        field("collect", FieldType::Names).names(NameKind::Variable),
        field("then", FieldType::Action),
        field("goto", FieldType::Action),
    ],
)
.headers(&[Header::Condition]);

pub(super) static BRANCHES: RecordType = record("branches", &[]).items(&BRANCH);

/// The follow-up of success or failure: statements or branches.
static OUTCOME: RecordType = record(
    "outcome",
    with_actions![
        field("retry", FieldType::Number),
        field("if", FieldType::Condition),
        field("delegate", FieldType::Action).names(NameKind::Agent),
        field("handoff", FieldType::Action).names(NameKind::Agent),
        field("escalate", FieldType::Data),
        field("collect", FieldType::Names).names(NameKind::Variable),
        field("branches", FieldType::Record(&BRANCHES)),
        field("then", FieldType::Action),
        field("goto", FieldType::Action),
    ],
)
.items(&BRANCH);

/// A statement in a `DO:` list.
static STATEMENT: RecordType = record(
    "action",
    with_actions![
        field("if", FieldType::Condition),
        field("delegate", FieldType::Action).names(NameKind::Agent),
        field("return", FieldType::Bool),
        field("handoff", FieldType::Action).names(NameKind::Agent),
        field("escalate", FieldType::Data),
        field("complete", FieldType::Data),
        field("resume", FieldType::OneOf(&[FieldType::Bool, FieldType::Marker])),
        field("set_interaction_language", FieldType::Data).newest(),
        field("clear_interaction_language", FieldType::Data).newest(),
        field("then", FieldType::Action),
        field("goto", FieldType::Action),
        field("transition", FieldType::Action),
    ],
)
.headers(&[Header::Resume]);
static STATEMENTS: RecordType = record("actions", &[]).items(&STATEMENT);

pub(super) static DIGRESSIONS: RecordType = record("digressions", &[]).items(&DIGRESSION);
static DIGRESSION: RecordType = record(
    "digression",
    with_actions![
        field("intent", FieldType::Text),
        field("keywords", FieldType::Templates),
        field("condition", FieldType::Condition).aliased(&["when"]),
        field("delegate", FieldType::Action).names(NameKind::Agent),
        field("return", FieldType::Bool),
        field("handoff", FieldType::Action).names(NameKind::Agent),
        field("goto", FieldType::Action),
        field("then", FieldType::Action),
        field("resume", FieldType::Bool),
        field("do", FieldType::Record(&STATEMENTS)).newest(),
    ],
);

static SUB_INTENTS: RecordType = record("sub-intents", &[]).items(&SUB_INTENT);
static SUB_INTENT: RecordType = record(
    "sub-intent",
    with_actions![
        field("intent", FieldType::Text),
        field("keywords", FieldType::Templates),
        field("condition", FieldType::Condition).aliased(&["when"]),
        field("resume", FieldType::Bool),
        field("then", FieldType::Action),
        field("goto", FieldType::Action),
    ],
);

/// Buttons, menus and inputs shown with a message (§3.13.5).
static ACTIONS: RecordType = record(
    "actions",
    &[
        field("submit_label", FieldType::Template).aliased(&["submitLabel"]),
        field("submit_id", FieldType::Text).aliased(&["submitId"]),
        field("render_id", FieldType::Text).aliased(&["renderId"]),
    ],
)
.items(&ACTION);
static ACTION: RecordType = record(
    "interactive element",
    &[
        field("button", FieldType::Template),
        field("select", FieldType::Template),
        field("input", FieldType::Template),
        field("id", FieldType::Text),
        field("type", FieldType::Text),
        field("label", FieldType::Template),
        field("value", FieldType::Text),
        field("url", FieldType::Text),
        field("description", FieldType::Template),
        field("options", FieldType::Data),
        field("input_type", FieldType::Text).aliased(&["inputType"]),
        field("placeholder", FieldType::Template),
        field("required", FieldType::Bool),
    ],
);

pub(super) static ACTION_HANDLERS: RecordType =
    record("action handlers", &[]).items(&ACTION_HANDLER);
static ACTION_HANDLER: RecordType = record(
    "action handler",
    with_actions![
        field("action", FieldType::Text).aliased(&["action_id", "id"]),
        field("condition", FieldType::Condition).aliased(&["when", "if"]),
        field("do", FieldType::Record(&STATEMENTS)).newest(),
        field("then", FieldType::Action),
        field("goto", FieldType::Action),
        field("transition", FieldType::Action),
    ],
)
.keyed()
.named_by("action");

/// `ON_ERROR` (§3.13).
pub(super) static ERROR_HANDLERS: RecordType = record("error handlers", &[]).items(&ERROR_HANDLER);
/// The types of errors (§3.13), without those of one version alone.
const ERROR_TYPES: &[&[Part]] = &[
    &[Part::Word("tool_error")],
    &[Part::Word("tool_timeout")],
    &[Part::Word("validation_error")],
    &[Part::Word("invalid_input")],
    &[Part::Word("api_error")],
    &[Part::Word("unknown_error")],
    &[Part::Word("default")],
];
static ERROR_HANDLER: RecordType = record(
    "error handler",
    with_actions![
        field("type", FieldType::Name).patterns(ERROR_TYPES),
        field("subtypes", FieldType::Names).aliased(&["subtype"]).newest(),
        field("retry", FieldType::Number),
        field("retry_delay", FieldType::Number),
        field("retry_backoff", FieldType::Enum(&["fixed", "exponential", "linear"])),
        field("retry_max_delay", FieldType::Number),
        field("handoff_target", FieldType::Name).names(NameKind::Agent),
        field("backtrack_to", FieldType::Name).names(NameKind::Step),
        field("handoff", FieldType::Action).names(NameKind::Agent),
        field("escalate", FieldType::Data),
        field("then", FieldType::Action),
    ],
)
.keyed()
.named_by("type")
.shorthand("then");

/// `ON_START` and each of the hooks.
pub(super) static HOOK: RecordType = record(
    "hook",
    with_actions![
        field("delegate", FieldType::Action).names(NameKind::Agent),
        field("critical", FieldType::Bool),
        field("branches", FieldType::Record(&BRANCHES)),
        field("do", FieldType::Record(&STATEMENTS)).newest(),
        field("then", FieldType::Action),
        field("goto", FieldType::Action),
    ],
)
.items(&STATEMENT);

pub(super) static HOOKS: RecordType = record(
    "hooks",
    &[
        field("before_agent", FieldType::Record(&HOOK)),
        field("after_agent", FieldType::Record(&HOOK)),
        field("before_turn", FieldType::Record(&HOOK)),
        field("after_turn", FieldType::Record(&HOOK)),
    ],
);
