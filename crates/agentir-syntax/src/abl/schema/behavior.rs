//! Tables of constraints, guardrails and behaviour profiles (§3.8, §3.9, §3.13.2).

use super::agent::GATHER_FIELDS;
use super::flow::STEP;
use super::tools::TOOLS;
use super::{Head, RecordType, Shape, field, record};

/// `CONSTRAINTS`: rules, with or without labels.
pub(super) static CONSTRAINTS: RecordType = record("constraints", &[]).items(&CONSTRAINT);

/// A rule; or a label with a list of rules.
static CONSTRAINT: RecordType = record("constraint", CONSTRAINT_FIELDS)
    .keyed()
    .named_by("label")
    .heads(&[Head::Constraint])
    .items(&CONSTRAINT);

/// The rules of a reasoning step, which may also be natural language.
pub(super) static STEP_CONSTRAINTS: RecordType =
    record("step constraints", &[]).items(&STEP_CONSTRAINT);
static STEP_CONSTRAINT: RecordType =
    record("constraint", CONSTRAINT_FIELDS).heads(&[Head::Constraint, Head::Text]);

static CONSTRAINT_ON_FAIL: [Shape; 3] = [Shape::Record(&ON_FAIL), Shape::Action, Shape::Template];

const CONSTRAINT_FIELDS: &[super::FieldDef] = &[
    // The YAML form: `rule`, `action`, `when`, `message`.
    field("rule", Shape::Rule).aka(&["condition"]),
    field("require", Shape::Condition),
    field("warn", Shape::Condition),
    field("limit", Shape::Condition),
    field("restrict", Shape::Condition),
    field("label", Shape::Name),
    field("before", Shape::Text),
    field("when", Shape::Condition),
    field("on_fail", Shape::OneOf(&CONSTRAINT_ON_FAIL)).aka(&["action"]),
    field("message", Shape::Template),
    field("severity", Shape::Enum(&["error", "warning"])),
];

static ON_FAIL: RecordType = record(
    "failure action",
    &[
        field("respond", Shape::Template),
        field("collect", Shape::Names),
        field("retry", Shape::Bool),
        field("goto", Shape::Action),
        field("clear", Shape::Names).newest(),
        field("escalate", Shape::Data),
        field("handoff", Shape::Action),
        field("then", Shape::Action),
    ],
);

/// `GUARDRAILS`.
pub(super) static GUARDRAILS: RecordType = record("guardrails", &[]).items(&GUARDRAIL);
static GUARDRAIL: RecordType = record(
    "guardrail",
    &[
        field("description", Shape::Template),
        field(
            "kind",
            Shape::Enum(&["input", "output", "tool_input", "tool_output", "handoff", "both"]),
        )
        .expected("it is then checked against what the user says (`input`)"),
        field("check", Shape::Expr),
        field("llm_check", Shape::Template),
        field("provider", Shape::Text),
        field("category", Shape::Text),
        field("threshold", Shape::Number),
        field(
            "action",
            Shape::OneOf(&[
                Shape::Record(&GUARDRAIL_ACTION),
                Shape::Enum(&["block", "warn", "redact", "fix", "reask", "filter", "escalate"]),
            ]),
        ),
        field("message", Shape::Template).aka(&["msg"]),
        field("priority", Shape::Number),
        field("severity_actions", Shape::Data),
        field(
            "fix_strategy",
            Shape::Enum(&["truncate", "strip_html", "redact_pii", "normalize", "custom"]),
        ),
        field("fix_expression", Shape::Text),
        field("max_reasks", Shape::Number),
        field("filter_min_length", Shape::Number),
        field("streaming", Shape::Data),
        field("streaming_interval", Shape::Data),
        field("entities", Shape::Names),
        field("preset_key", Shape::Text).aka(&["presetKey"]),
    ],
)
.keyed();
static GUARDRAIL_ACTION: RecordType = record(
    "guardrail action",
    &[
        field(
            "type",
            Shape::Enum(&["block", "warn", "redact", "fix", "reask", "filter", "escalate"]),
        ),
        field("message", Shape::Template).aka(&["msg"]),
    ],
)
.open();

/// A `.behavior_profile.abl` document.
pub static PROFILE: RecordType = record("behavior profile", PROFILE_FIELDS);

/// `BEHAVIOR_PROFILE:` inside an agent.
pub(super) static INLINE_PROFILES: RecordType =
    record("behavior profile", PROFILE_FIELDS).shorthand("behavior_profile").items(&PROFILE_ITEM);

/// The legacy list below `BEHAVIOR_PROFILES:`.
pub(super) static PROFILES_LEGACY: RecordType =
    record("behavior profiles", &[]).items(&PROFILE_ITEM);
static PROFILE_ITEM: RecordType = record("behavior profile", PROFILE_FIELDS).keyed();

static PROFILE_CONSTRAINTS: [Shape; 2] = [Shape::Record(&CONSTRAINTS), Shape::Templates];
static FLOW_OR_NAME: [Shape; 2] = [Shape::Record(&super::flow::FLOW), Shape::Name];

const PROFILE_FIELDS: &[super::FieldDef] = &[
    field("behavior_profile", Shape::Name),
    field("name", Shape::Name),
    field("description", Shape::Template),
    field("priority", Shape::Number).required(),
    field("when", Shape::Condition).required(),
    field("instructions", Shape::Template),
    field("constraints", Shape::OneOf(&PROFILE_CONSTRAINTS)),
    field("response", Shape::Data).aka(&["response_rules"]),
    field("voice", Shape::Data),
    field("tools", Shape::Record(&PROFILE_TOOLS)),
    field("tools_hide", Shape::Names),
    field("tools_add", Shape::Record(&TOOLS)),
    field("conversation", Shape::Data),
    field("gather", Shape::Record(&GATHER_OVERRIDES)).aka(&["gather_overrides"]),
    field("flow", Shape::Record(&FLOW_CHANGES)).aka(&["flow_modifications"]),
    field("flow_replace", Shape::OneOf(&FLOW_OR_NAME)),
];

static PROFILE_TOOLS: RecordType =
    record("profile tools", &[field("hide", Shape::Names), field("add", Shape::Record(&TOOLS))]);

static GATHER_OVERRIDES: RecordType = record(
    "gather overrides",
    &[
        field("validation_style", Shape::Enum(&["strict", "lenient"])),
        field("confirmation", Shape::Enum(&["always", "never", "on_change"])),
        field("field_overrides", Shape::Record(&GATHER_FIELDS)),
    ],
);

static FLOW_CHANGES: RecordType = record(
    "flow modifications",
    &[
        field("skip", Shape::Names),
        field("replace", Shape::OneOf(&[Shape::Record(&super::flow::FLOW), Shape::Name])),
        field("overrides", Shape::Record(&STEP_MAP)).aka(&["override"]),
        field("insert_before", Shape::Record(&STEP_MAP)),
        field("insert_after", Shape::Record(&STEP_MAP)),
        field("insertions", Shape::Record(&INSERTIONS)),
    ],
);
static STEP_MAP: RecordType = record("steps", &[]).items(&STEP);
static INSERTIONS: RecordType = record("insertions", &[]).items(&INSERTION);
static INSERTION: RecordType = record(
    "insertion",
    &[
        field("position", Shape::Enum(&["before", "after"])),
        field("before", Shape::Name),
        field("after", Shape::Name),
        field("target_step", Shape::Name).aka(&["target"]),
        field("name", Shape::Name),
        field("step", Shape::Record(&STEP)),
    ],
);
