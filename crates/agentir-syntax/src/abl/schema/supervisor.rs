//! Tables of sections that only supervisors have (§5.1 and the supervisor reference).

use super::{Head, RecordType, Shape, Version, field, record};

/// `AGENTS`: `alias: Agent`, or a list with `REF`, `ALIAS`, `CAPABILITIES`.
pub(super) static AGENTS: RecordType = record("agents", &[]).items(&AGENT_REFERENCE);
static AGENT_REFERENCE: RecordType = record(
    "agent reference",
    &[
        field("agent", Shape::Name),
        field("ref", Shape::Text),
        field("alias", Shape::Name),
        field("capabilities", Shape::Templates),
        field("channels", Shape::Names),
        field("requires_validation", Shape::Bool),
        field("description", Shape::Template),
    ],
)
.keyed()
.named_by("alias")
.heads(&[Head::Name])
.shorthand("agent");

/// `ROUTING`.
pub(super) static ROUTING: RecordType = record(
    "routing",
    &[
        field("rules", Shape::Record(&ROUTING_RULES)),
        field("default", Shape::Name).aka(&["default_agent"]),
        field("intent_classification", Shape::Data),
        field("min_confidence", Shape::Number),
    ],
)
.items(&ROUTING_RULE);
static ROUTING_RULES: RecordType = record("routing rules", &[]).items(&ROUTING_RULE);
static ROUTING_RULE: RecordType = record(
    "routing rule",
    &[
        field("name", Shape::Text),
        field("description", Shape::Template),
        field("priority", Shape::Number),
        field("to", Shape::Name),
        field("default", Shape::Name),
        field("when", Shape::Condition),
        field("pass", Shape::Names),
        field("return", Shape::Bool),
        field("then", Shape::OneOf(&[Shape::Record(&THEN), Shape::RouteAction])),
        field("intent_match", Shape::Record(&INTENT_MATCHES)),
        field("fallback", Shape::RouteAction),
        field("flags", Shape::Choices(&["set_active", "silent", "no_log", "priority_boost"])),
        field("constraints", Shape::Record(&ROUTING_CONSTRAINTS)),
    ],
)
.heads(&[Head::Routing]);

static THEN: RecordType = record(
    "routing action",
    &[
        field("intent_match", Shape::Record(&INTENT_MATCHES)),
        field("fallback", Shape::RouteAction),
        field("route_to", Shape::Name),
        field("route_to_user", Shape::Template),
        field("route_to_variable", Shape::Name),
        field("system_action", Shape::Name),
    ],
);
static INTENT_MATCHES: RecordType =
    record("intent matches", &[field("fallback", Shape::RouteAction)]).items(&INTENT_MATCH);
static INTENT_MATCH: RecordType = record(
    "intent match",
    &[
        field("intents", Shape::Templates).aka(&["intent"]),
        field("action", Shape::RouteAction),
        field("fallback", Shape::RouteAction),
    ],
);
static ROUTING_CONSTRAINTS: RecordType = record(
    "routing constraints",
    &[
        field("ignore_intents", Shape::Names).aka(&["ignoreIntents"]),
        field("channels", Shape::Names),
        field("requires_state", Shape::Names).aka(&["requiresState"]),
    ],
);

/// `HANDOFF_PROTOCOL`: `- FROM a TO b:`.
pub(super) static PROTOCOL: RecordType = record("handoff protocol", &[]).items(&PROTOCOL_RULE);
static PROTOCOL_RULE: RecordType = record(
    "handoff protocol rule",
    &[
        field("from", Shape::Name),
        field("to", Shape::Name),
        field("context", Shape::Names),
        field("trigger", Shape::Condition),
    ],
)
.heads(&[Head::Protocol]);

/// `STATE`: variables grouped by namespace.
pub(super) static STATE: RecordType = record("state", &[]).items(&STATE_ENTRY);
static STATE_ENTRY: RecordType = record(
    "state variable",
    &[
        field("type", Shape::Type),
        field("required", Shape::Bool),
        field("default", Shape::Data),
        field("description", Shape::Template),
        field("source", Shape::Enum(&["system", "user", "agent", "computed"])),
        field("updated_by", Shape::Names).aka(&["updatedBy"]),
    ],
)
.keyed()
.shorthand("type")
.items(&STATE_ENTRY);

/// `POLICIES`.
pub(super) static POLICIES: RecordType = record("policies", &[]).items(&POLICY);
static POLICY: RecordType = record(
    "policy",
    &[field("description", Shape::Template), field("rules", Shape::Record(&POLICY_RULES))],
)
.keyed();
static POLICY_RULES: RecordType = record("policy rules", POLICY_RULE_FIELDS).items(&POLICY_RULE);
static POLICY_RULE: RecordType = record("policy rule", POLICY_RULE_FIELDS).keyed();
const POLICY_RULE_FIELDS: &[super::FieldDef] = &[
    field("allowed_when", Shape::Condition).aka(&["allowedWhen"]),
    field("forbidden_when", Shape::Condition).aka(&["forbiddenWhen"]),
    field("trigger_signal", Shape::Text).aka(&["triggerSignal"]),
    field("behavior", Shape::Template),
];

/// `COMMUNICATION`.
pub(super) static COMMUNICATION: RecordType = record(
    "communication",
    &[
        field("language", Shape::Text),
        field("formality", Shape::Enum(&["formal", "informal", "neutral"])),
        field("pronouns", Shape::Data),
        field("vocabulary", Shape::Data),
        field("constraints", Shape::Templates),
    ],
);

/// `BEHAVIOR`.
pub(super) static BEHAVIOR: RecordType = record(
    "behavior",
    &[
        field("role", Shape::Enum(&["router", "orchestrator", "assistant"])).newest(),
        field("can_respond_directly", Shape::Bool).aka(&["canRespondDirectly"]).until(
            Version::Current,
            "write `role: router`, `role: orchestrator` or `role: assistant`",
        ),
        field("allowed_direct_actions", Shape::Templates)
            .aka(&["allowedDirectActions"])
            .until(Version::Current, "write `role: assistant`"),
        field("forbidden_actions", Shape::Templates)
            .aka(&["forbiddenActions"])
            .until(Version::Current, "write `role: router`"),
    ],
);
