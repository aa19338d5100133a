//! Tables of sections that only supervisors have (§5.1 and the supervisor reference).

use super::{FieldType, Header, NameKind, RecordType, Version, field, record};

/// `AGENTS`: `alias: Agent`, or a list with `REF`, `ALIAS`, `CAPABILITIES`.
pub(super) static AGENTS: RecordType = record("agents", &[]).items(&AGENT_REFERENCE);
static AGENT_REFERENCE: RecordType = record(
    "agent reference",
    &[
        field("agent", FieldType::Name).names(NameKind::Agent),
        field("ref", FieldType::Text),
        field("alias", FieldType::Name),
        field("capabilities", FieldType::Templates),
        field("channels", FieldType::Names),
        field("requires_validation", FieldType::Bool),
        field("description", FieldType::Template),
    ],
)
.keyed()
.named_by("alias")
.headers(&[Header::Name])
.shorthand("agent");

/// `ROUTING`.
pub(super) static ROUTING: RecordType = record(
    "routing",
    &[
        field("rules", FieldType::Record(&ROUTING_RULES)),
        field("default", FieldType::Name).names(NameKind::Agent).aliased(&["default_agent"]),
        field("intent_classification", FieldType::Data),
        field("min_confidence", FieldType::Number),
    ],
)
.items(&ROUTING_RULE);
static ROUTING_RULES: RecordType = record("routing rules", &[]).items(&ROUTING_RULE);
static ROUTING_RULE: RecordType = record(
    "routing rule",
    &[
        field("name", FieldType::Text),
        field("description", FieldType::Template),
        field("priority", FieldType::Number),
        field("to", FieldType::Name).names(NameKind::Agent),
        field("default", FieldType::Name).names(NameKind::Agent),
        field("when", FieldType::Condition),
        field("pass", FieldType::Names).names(NameKind::Variable),
        field("return", FieldType::Bool),
        field("then", FieldType::OneOf(&[FieldType::Record(&THEN), FieldType::RouteAction])),
        field("intent_match", FieldType::Record(&INTENT_MATCHES)),
        field("fallback", FieldType::RouteAction),
        field("flags", FieldType::Choices(&["set_active", "silent", "no_log", "priority_boost"])),
        field("constraints", FieldType::Record(&ROUTING_CONSTRAINTS)),
    ],
)
.headers(&[Header::Routing]);

static THEN: RecordType = record(
    "routing action",
    &[
        field("intent_match", FieldType::Record(&INTENT_MATCHES)),
        field("fallback", FieldType::RouteAction),
        field("route_to", FieldType::Name).names(NameKind::Agent),
        field("route_to_user", FieldType::Template),
        field("route_to_variable", FieldType::Name).names(NameKind::Variable),
        field("system_action", FieldType::Name),
    ],
);
static INTENT_MATCHES: RecordType =
    record("intent matches", &[field("fallback", FieldType::RouteAction)]).items(&INTENT_MATCH);
static INTENT_MATCH: RecordType = record(
    "intent match",
    &[
        field("intents", FieldType::Templates).aliased(&["intent"]),
        field("action", FieldType::RouteAction),
        field("fallback", FieldType::RouteAction),
    ],
);
static ROUTING_CONSTRAINTS: RecordType = record(
    "routing constraints",
    &[
        field("ignore_intents", FieldType::Names).aliased(&["ignoreIntents"]),
        field("channels", FieldType::Names),
        field("requires_state", FieldType::Names)
            .names(NameKind::Variable)
            .aliased(&["requiresState"]),
    ],
);

/// `HANDOFF_PROTOCOL`: `- FROM a TO b:`.
pub(super) static PROTOCOL: RecordType = record("handoff protocol", &[]).items(&PROTOCOL_RULE);
static PROTOCOL_RULE: RecordType = record(
    "handoff protocol rule",
    &[
        field("from", FieldType::Name).names(NameKind::Agent),
        field("to", FieldType::Name).names(NameKind::Agent),
        field("context", FieldType::Names).names(NameKind::Variable),
        field("trigger", FieldType::Condition),
    ],
)
.headers(&[Header::Protocol]);

/// `STATE`: variables grouped by namespace.
pub(super) static STATE: RecordType = record("state", &[]).items(&STATE_ENTRY);
static STATE_ENTRY: RecordType = record(
    "state variable",
    &[
        field("type", FieldType::Type),
        field("required", FieldType::Bool),
        field("default", FieldType::Data),
        field("description", FieldType::Template),
        field("source", FieldType::Enum(&["system", "user", "agent", "computed"])),
        field("updated_by", FieldType::Names).names(NameKind::Agent).aliased(&["updatedBy"]),
    ],
)
.keyed()
.shorthand("type")
.items(&STATE_ENTRY);

/// `POLICIES`.
pub(super) static POLICIES: RecordType = record("policies", &[]).items(&POLICY);
static POLICY: RecordType = record(
    "policy",
    &[field("description", FieldType::Template), field("rules", FieldType::Record(&POLICY_RULES))],
)
.keyed();
static POLICY_RULES: RecordType = record("policy rules", POLICY_RULE_FIELDS).items(&POLICY_RULE);
static POLICY_RULE: RecordType = record("policy rule", POLICY_RULE_FIELDS).keyed();
const POLICY_RULE_FIELDS: &[super::FieldDef] = &[
    field("allowed_when", FieldType::Condition).aliased(&["allowedWhen"]),
    field("forbidden_when", FieldType::Condition).aliased(&["forbiddenWhen"]),
    field("trigger_signal", FieldType::Text).aliased(&["triggerSignal"]),
    field("behavior", FieldType::Template),
];

/// `COMMUNICATION`.
pub(super) static COMMUNICATION: RecordType = record(
    "communication",
    &[
        field("language", FieldType::Text),
        field("formality", FieldType::Enum(&["formal", "informal", "neutral"])),
        field("pronouns", FieldType::Data),
        field("vocabulary", FieldType::Data),
        field("constraints", FieldType::Templates),
    ],
);

/// `BEHAVIOR`.
pub(super) static BEHAVIOR: RecordType = record(
    "behavior",
    &[
        field("role", FieldType::Enum(&["router", "orchestrator", "assistant"])).newest(),
        field("can_respond_directly", FieldType::Bool).aliased(&["canRespondDirectly"]).until(
            Version::Current,
            "write `role: router`, `role: orchestrator` or `role: assistant`",
        ),
        field("allowed_direct_actions", FieldType::Templates)
            .aliased(&["allowedDirectActions"])
            .until(Version::Current, "write `role: assistant`"),
        field("forbidden_actions", FieldType::Names)
            .names(NameKind::Tool)
            .aliased(&["forbiddenActions"])
            .until(Version::Current, "write `role: router`"),
    ],
);
