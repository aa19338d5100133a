//! Tables of tools: signatures in an agent, bindings in a tool library (§3.5).

use super::agent::VALIDATION;
use super::{FieldType, Header, NameKind, RecordType, field, record};

/// `TOOLS:` in an agent or a profile.
pub(super) static TOOLS: RecordType = record(
    "tools",
    &[
        // Defaults for the tools that follow, in a library.
        field("base_url", FieldType::Text),
        field("auth", FieldType::Data),
        field("auth_config", FieldType::Data),
        field("timeout", FieldType::Number),
        field("retry", FieldType::Data),
        field("retry_delay", FieldType::Number),
        field("rate_limit", FieldType::Number),
        field("headers", FieldType::Data),
        field("file", FieldType::Text),
        field("use_tool", FieldType::Names)
            .names(NameKind::Tool)
            .aliased(&["use tool", "use"])
            .repeated(),
    ],
)
.items(&TOOL);

/// A `.tools.abl` document: `TOOLS:` at its root, optionally with defaults next to it.
pub static TOOL_LIBRARY: RecordType = record(
    "tool library",
    &[
        field("tools", FieldType::Record(&TOOLS)),
        field("name", FieldType::Text),
        field("version", FieldType::Text),
        field("description", FieldType::Template),
        field("base_url", FieldType::Text),
        field("auth", FieldType::Data),
        field("auth_config", FieldType::Data),
        field("timeout", FieldType::Number),
        field("retry", FieldType::Data),
        field("retry_delay", FieldType::Number),
        field("rate_limit", FieldType::Number),
        field("headers", FieldType::Data),
    ],
);

/// One tool: a signature, and how it is called.
pub static TOOL: RecordType = record(
    "tool",
    &[
        field("description", FieldType::Template),
        field(
            "type",
            FieldType::Enum(&[
                "http",
                "mcp",
                "sandbox",
                "lambda",
                "async_webhook",
                "workflow",
                "searchai",
                "table",
                "connector",
            ]),
        ),
        field("parameters", FieldType::Record(&PARAMETERS)).aliased(&["params"]),
        field("returns", FieldType::OneOf(&[FieldType::Record(&RETURNS), FieldType::Types])),
        field("hints", FieldType::Record(&HINTS)),
        // Hints may also be fields of the tool itself.
        field("cacheable", FieldType::Bool),
        field("latency", FieldType::Enum(&["fast", "medium", "slow"])),
        field("parallelizable", FieldType::Bool),
        field("side_effects", FieldType::Bool),
        field("requires_auth", FieldType::Bool),
        field("effect", FieldType::Enum(&["read_only", "state_write", "side_effect"])).newest(),
        field("confirm", FieldType::Enum(&["always", "never", "when_side_effects"])),
        field("immutable", FieldType::Names).names(NameKind::Parameter),
        field("confirmation", FieldType::Record(&CONFIRMATION)).newest(),
        field("auth_profile", FieldType::Text).current(),
        field("auth_jit", FieldType::Bool).current(),
        field("consent", FieldType::Enum(&["preflight", "inline"])).current(),
        field("connection", FieldType::Enum(&["per_user", "shared"])).current(),
        field("tls_profile", FieldType::Text).newest(),
        field("on_result", FieldType::OneOf(&[FieldType::Record(&ON_RESULT), FieldType::Data])),
        field("on_success", FieldType::Data),
        field("on_error", FieldType::OneOf(&[FieldType::Record(&ON_RESULT), FieldType::Data])),
        field("store_result", FieldType::Bool),
        field("context_access", FieldType::Record(&CONTEXT_ACCESS)).newest(),
        field("pii_access", FieldType::Data).newest(),
        field("scrub_secrets", FieldType::Data).newest(),
        field("provides", FieldType::Names).newest(),
        field("compaction", FieldType::Data).newest(),
        field("process", FieldType::Data).newest(),
        field("result_secrets", FieldType::Data).newest(),
        field("secret_access", FieldType::Data).newest(),
        // http
        field("endpoint", FieldType::Text),
        field("method", FieldType::Enum(&["get", "post", "put", "patch", "delete", "head"])),
        field("protocol", FieldType::Text),
        field("auth", FieldType::Data),
        field("auth_config", FieldType::Data),
        field("timeout", FieldType::Number).aliased(&["timeout_ms"]),
        field("retry", FieldType::Data),
        field("retry_delay", FieldType::Number),
        field("retry_policy", FieldType::Data),
        field("headers", FieldType::Data),
        field("query_params", FieldType::Data),
        field("body_type", FieldType::Text),
        field("body_mode", FieldType::Text),
        field("body", FieldType::Template),
        field("body_template", FieldType::Template),
        field("body_schema", FieldType::Data),
        field("request_variants", FieldType::Data),
        field("rate_limit", FieldType::Number),
        field("circuit_breaker", FieldType::Data),
        field("tls_options", FieldType::Data),
        field("on_http_error", FieldType::Enum(&["error", "data"])),
        field("soap_version", FieldType::Text),
        field("soap_action", FieldType::Text),
        field("soap_operation", FieldType::Text),
        field("wsdl_url", FieldType::Text),
        // mcp, sandbox, workflow, connector, searchai, webhook, table
        field("server", FieldType::Text),
        field("tool", FieldType::Text),
        field("runtime", FieldType::Text),
        field("code", FieldType::Template).aliased(&["code_content"]),
        field("memory_mb", FieldType::Number),
        field("function", FieldType::Text),
        field("workflow_id", FieldType::Text).aliased(&["workflowId"]),
        field("workflow_version", FieldType::Text).aliased(&["workflowVersion"]),
        field("trigger_id", FieldType::Text).aliased(&["triggerId"]),
        field("mode", FieldType::Text),
        field("param_mapping", FieldType::Data).aliased(&["paramMapping"]),
        field("connector", FieldType::Text),
        field("action", FieldType::Text),
        field("index_id", FieldType::Text).aliased(&["indexId"]),
        field("tenant_id", FieldType::Text).aliased(&["tenantId"]),
        field("kb_name", FieldType::Text).aliased(&["kbName"]),
        field("search_instructions", FieldType::Template).aliased(&["searchInstructions"]),
        field("callback_url_field", FieldType::Text).aliased(&["callbackUrlField"]),
        field("timeout_seconds", FieldType::Number).aliased(&["timeoutSeconds"]),
        field("table", FieldType::Data),
        field("operations", FieldType::Names),
        field("schema_version", FieldType::Text),
        // The platform's own exports have these.
        field("table_schema_versions", FieldType::Data),
        field("scope", FieldType::Text),
    ],
)
.keyed()
.headers(&[Header::Signature, Header::Name])
.shorthand("description");

static PARAMETERS: RecordType = record("parameters", &[]).items(&PARAMETER);
pub(super) static PARAMETER: RecordType = record(
    "parameter",
    &[
        field("type", FieldType::Type),
        field("description", FieldType::Template),
        field("required", FieldType::Bool),
        field("default", FieldType::Data),
        field("enum", FieldType::Templates),
        field(
            "source",
            FieldType::Enum(&["model", "system", "runtime", "config", "auth", "expr", "lookup"]),
        ),
        field("value", FieldType::Data),
        field("key", FieldType::Text),
        field("table", FieldType::Text),
        field("hidden", FieldType::Bool),
        field("visibility", FieldType::Text),
        field("validation", FieldType::OneOf(&[FieldType::Record(&VALIDATION), FieldType::Text])),
        field("properties", FieldType::Data),
        field("items", FieldType::Data),
        // The platform's own exports have these.
        field("schema", FieldType::Data),
        field("default_source", FieldType::Text),
    ],
)
.keyed()
.shorthand("type");

static RETURNS: RecordType = record(
    "return type",
    &[
        field("type", FieldType::Type),
        field("description", FieldType::Template),
        field("fields", FieldType::Types),
        field("items", FieldType::Data),
        field("optional", FieldType::Bool),
    ],
)
.open();

static HINTS: RecordType = record(
    "hints",
    &[
        field("cacheable", FieldType::Bool),
        field("latency", FieldType::Enum(&["fast", "medium", "slow"])),
        field("parallelizable", FieldType::Bool),
        field("side_effects", FieldType::Bool),
        field("requires_auth", FieldType::Bool),
        field("timeout", FieldType::Number),
    ],
);

static CONFIRMATION: RecordType = record(
    "confirmation",
    &[
        field("require", FieldType::Enum(&["always", "never", "when_side_effects"])),
        field("immutable_params", FieldType::Names).names(NameKind::Parameter),
        field("consent_required_in", FieldType::Data),
        field("consent_scope", FieldType::Text),
        field("consent_action", FieldType::Text),
        field("consent_fallback", FieldType::Text),
    ],
);

static ON_RESULT: RecordType = record(
    "result handling",
    &[field("set", FieldType::Assignments), field("do", FieldType::Data)],
)
.open();

static CONTEXT_ACCESS: RecordType = record(
    "context access",
    &[
        field("read", FieldType::Names).names(NameKind::Variable),
        field("write", FieldType::Names).names(NameKind::Variable),
    ],
);
