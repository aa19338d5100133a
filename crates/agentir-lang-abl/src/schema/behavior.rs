//! Tables of constraints, guardrails and behaviour profiles (§3.8, §3.9, §3.13.2).

use super::agent::GATHER_FIELDS;
use super::flow::STEP;
use super::tools::TOOLS;
use super::{FieldType, Header, NameKind, RecordType, field, record};
use agentir_syntax::data;

/// `CONSTRAINTS`: rules, with or without labels.
pub(super) static CONSTRAINTS: RecordType = record("constraints", &[]).items(&CONSTRAINT);

/// A rule; or a label with a list of rules.
static CONSTRAINT: RecordType = record("constraint", CONSTRAINT_FIELDS)
    .keyed()
    .named_by("label")
    .headers(&[Header::Constraint])
    .items(&CONSTRAINT);

/// The rules of a reasoning step, which may also be natural language.
pub(super) static STEP_CONSTRAINTS: RecordType =
    record("step constraints", &[]).items(&STEP_CONSTRAINT);
static STEP_CONSTRAINT: RecordType =
    record("constraint", CONSTRAINT_FIELDS).headers(&[Header::Constraint, Header::Text]);

static CONSTRAINT_ON_FAIL: [FieldType; 3] =
    [FieldType::Record(&ON_FAIL), FieldType::Action, FieldType::Template];

const CONSTRAINT_FIELDS: &[super::FieldDef] = &[
    // The YAML form: `rule`, `action`, `when`, `message`.
    field("rule", FieldType::Rule).aliased(&["condition"]),
    field("require", FieldType::Condition),
    field("warn", FieldType::Condition),
    field("limit", FieldType::Condition),
    field("restrict", FieldType::Condition),
    field("label", FieldType::Name),
    field("before", FieldType::Text),
    field("when", FieldType::Condition),
    field("on_fail", FieldType::OneOf(&CONSTRAINT_ON_FAIL)).aliased(&["action"]),
    field("message", FieldType::Template),
    field("severity", FieldType::Enum(&["error", "warning"])),
];

static ON_FAIL: RecordType = record(
    "failure action",
    &[
        field("respond", FieldType::Template),
        field("collect", FieldType::Names).names(NameKind::Variable),
        field("retry", FieldType::Bool),
        field("goto", FieldType::Action),
        field("clear", FieldType::Names).names(NameKind::Variable).newest(),
        field("escalate", FieldType::Data),
        field("handoff", FieldType::Action).names(NameKind::Agent),
        field("then", FieldType::Action),
    ],
);

/// `GUARDRAILS`.
pub(super) static GUARDRAILS: RecordType = record("guardrails", &[]).items(&GUARDRAIL);
/// A guardrail.
pub static GUARDRAIL: RecordType = record(
    "guardrail",
    &[
        field("description", FieldType::Template),
        field(
            "kind",
            FieldType::Enum(&["input", "output", "tool_input", "tool_output", "handoff", "both"]),
        )
        .recommended("it defaults to `input`, so it checks the user's messages"),
        field("check", FieldType::Expr),
        field("llm_check", FieldType::Template),
        field("provider", FieldType::Text),
        field("category", FieldType::Text),
        field("threshold", FieldType::Number),
        field(
            "action",
            FieldType::OneOf(&[
                FieldType::Record(&GUARDRAIL_ACTION),
                FieldType::Enum(&["block", "warn", "redact", "fix", "reask", "filter", "escalate"]),
            ]),
        ),
        field("message", FieldType::Template).aliased(&["msg"]),
        field("priority", FieldType::Number),
        field("severity_actions", FieldType::Data),
        field(
            "fix_strategy",
            FieldType::Enum(&["truncate", "strip_html", "redact_pii", "normalize", "custom"]),
        ),
        field("fix_expression", FieldType::Text),
        field("max_reasks", FieldType::Number),
        field("filter_min_length", FieldType::Number),
        field("streaming", FieldType::Data),
        field("streaming_interval", FieldType::Data),
        field("entities", FieldType::Names),
        field("preset_key", FieldType::Text).aliased(&["presetKey"]),
    ],
)
.keyed();
static GUARDRAIL_ACTION: RecordType = record(
    "guardrail action",
    &[
        field(
            "type",
            FieldType::Enum(&["block", "warn", "redact", "fix", "reask", "filter", "escalate"]),
        ),
        field("message", FieldType::Template).aliased(&["msg"]),
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

static PROFILE_CONSTRAINTS: [FieldType; 2] =
    [FieldType::Record(&CONSTRAINTS), FieldType::Templates];
static FLOW_OR_NAME: [FieldType; 2] = [FieldType::Record(&super::flow::FLOW), FieldType::Name];

const PROFILE_FIELDS: &[super::FieldDef] = &[
    field("behavior_profile", FieldType::Name),
    field("name", FieldType::Name),
    field("description", FieldType::Template),
    field("priority", FieldType::Number).required(),
    field("when", FieldType::Condition).required(),
    field("instructions", FieldType::Template),
    field("constraints", FieldType::OneOf(&PROFILE_CONSTRAINTS)),
    field("response", FieldType::Data).aliased(&["response_rules"]).keys(data::RESPONSE_RULES),
    field("voice", FieldType::Data).keys(data::VOICE),
    field("tools", FieldType::Record(&PROFILE_TOOLS)),
    field("tools_hide", FieldType::Names).names(NameKind::Tool),
    field("tools_add", FieldType::Record(&TOOLS)),
    field("conversation", FieldType::Data),
    field("gather", FieldType::Record(&GATHER_OVERRIDES)).aliased(&["gather_overrides"]),
    field("flow", FieldType::Record(&FLOW_CHANGES)).aliased(&["flow_modifications"]),
    field("flow_replace", FieldType::OneOf(&FLOW_OR_NAME)),
];

static PROFILE_TOOLS: RecordType = record(
    "profile tools",
    &[
        field("hide", FieldType::Names).names(NameKind::Tool),
        field("add", FieldType::Record(&TOOLS)),
    ],
);

static GATHER_OVERRIDES: RecordType = record(
    "gather overrides",
    &[
        field("validation_style", FieldType::Enum(&["strict", "lenient"])),
        field("confirmation", FieldType::Enum(&["always", "never", "on_change"])),
        field("field_overrides", FieldType::Record(&GATHER_FIELDS)),
    ],
);

static FLOW_CHANGES: RecordType = record(
    "flow modifications",
    &[
        field("skip", FieldType::Names).names(NameKind::Step),
        field(
            "replace",
            FieldType::OneOf(&[FieldType::Record(&super::flow::FLOW), FieldType::Name]),
        ),
        field("overrides", FieldType::Record(&STEP_MAP)).aliased(&["override"]),
        field("insert_before", FieldType::Record(&STEP_MAP)),
        field("insert_after", FieldType::Record(&STEP_MAP)),
        field("insertions", FieldType::Record(&INSERTIONS)),
    ],
);
static STEP_MAP: RecordType = record("steps", &[]).items(&STEP);
static INSERTIONS: RecordType = record("insertions", &[]).items(&INSERTION);
static INSERTION: RecordType = record(
    "insertion",
    &[
        field("position", FieldType::Enum(&["before", "after"])),
        field("before", FieldType::Name).names(NameKind::Step),
        field("after", FieldType::Name).names(NameKind::Step),
        field("target_step", FieldType::Name).names(NameKind::Step).aliased(&["target"]),
        field("name", FieldType::Name),
        field("step", FieldType::Record(&STEP)),
    ],
);
