//! Tables of tools: signatures in an agent, bindings in a tool library (§3.5).

use super::agent::VALIDATION;
use super::{Head, RecordType, Shape, field, record};

/// `TOOLS:` in an agent or a profile.
pub(super) static TOOLS: RecordType = record(
    "tools",
    &[
        // Defaults for the tools that follow, in a library.
        field("base_url", Shape::Text),
        field("auth", Shape::Data),
        field("auth_config", Shape::Data),
        field("timeout", Shape::Number),
        field("retry", Shape::Data),
        field("retry_delay", Shape::Number),
        field("rate_limit", Shape::Number),
        field("headers", Shape::Data),
        field("file", Shape::Text),
        field("use_tool", Shape::Names).aka(&["use tool", "use"]),
    ],
)
.items(&TOOL);

/// A `.tools.abl` document: `TOOLS:` at its root, optionally with defaults next to it.
pub static TOOL_LIBRARY: RecordType = record(
    "tool library",
    &[
        field("tools", Shape::Record(&TOOLS)),
        field("name", Shape::Text),
        field("version", Shape::Text),
        field("description", Shape::Template),
        field("base_url", Shape::Text),
        field("auth", Shape::Data),
        field("auth_config", Shape::Data),
        field("timeout", Shape::Number),
        field("retry", Shape::Data),
        field("retry_delay", Shape::Number),
        field("rate_limit", Shape::Number),
        field("headers", Shape::Data),
    ],
);

pub(super) static TOOL: RecordType = record(
    "tool",
    &[
        field("description", Shape::Template),
        field(
            "type",
            Shape::Enum(&[
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
        field("parameters", Shape::Record(&PARAMETERS)).aka(&["params"]),
        field("returns", Shape::OneOf(&[Shape::Record(&RETURNS), Shape::Types])),
        field("hints", Shape::Record(&HINTS)),
        // Hints may also be fields of the tool itself.
        field("cacheable", Shape::Bool),
        field("latency", Shape::Enum(&["fast", "medium", "slow"])),
        field("parallelizable", Shape::Bool),
        field("side_effects", Shape::Bool),
        field("requires_auth", Shape::Bool),
        field("effect", Shape::Enum(&["read_only", "state_write", "side_effect"])).newest(),
        field("confirm", Shape::Enum(&["always", "never", "when_side_effects"])),
        field("immutable", Shape::Names),
        field("confirmation", Shape::Record(&CONFIRMATION)).newest(),
        field("auth_profile", Shape::Text).current(),
        field("auth_jit", Shape::Bool).current(),
        field("consent", Shape::Enum(&["preflight", "inline"])).current(),
        field("connection", Shape::Enum(&["per_user", "shared"])).current(),
        field("tls_profile", Shape::Text).newest(),
        field("on_result", Shape::OneOf(&[Shape::Record(&ON_RESULT), Shape::Data])),
        field("on_success", Shape::Data),
        field("on_error", Shape::OneOf(&[Shape::Record(&ON_RESULT), Shape::Data])),
        field("store_result", Shape::Bool),
        field("context_access", Shape::Record(&CONTEXT_ACCESS)).newest(),
        field("pii_access", Shape::Data).newest(),
        field("scrub_secrets", Shape::Data).newest(),
        field("provides", Shape::Names).newest(),
        field("compaction", Shape::Data).newest(),
        field("process", Shape::Data).newest(),
        field("result_secrets", Shape::Data).newest(),
        field("secret_access", Shape::Data).newest(),
        // http
        field("endpoint", Shape::Text),
        field("method", Shape::Enum(&["get", "post", "put", "patch", "delete", "head"])),
        field("protocol", Shape::Text),
        field("auth", Shape::Data),
        field("auth_config", Shape::Data),
        field("timeout", Shape::Number).aka(&["timeout_ms"]),
        field("retry", Shape::Data),
        field("retry_delay", Shape::Number),
        field("retry_policy", Shape::Data),
        field("headers", Shape::Data),
        field("query_params", Shape::Data),
        field("body_type", Shape::Text),
        field("body_mode", Shape::Text),
        field("body", Shape::Template),
        field("body_template", Shape::Template),
        field("body_schema", Shape::Data),
        field("request_variants", Shape::Data),
        field("rate_limit", Shape::Number),
        field("circuit_breaker", Shape::Data),
        field("tls_options", Shape::Data),
        field("on_http_error", Shape::Enum(&["error", "data"])),
        field("soap_version", Shape::Text),
        field("soap_action", Shape::Text),
        field("soap_operation", Shape::Text),
        field("wsdl_url", Shape::Text),
        // mcp, sandbox, workflow, connector, searchai, webhook, table
        field("server", Shape::Text),
        field("tool", Shape::Text),
        field("runtime", Shape::Text),
        field("code", Shape::Template).aka(&["code_content"]),
        field("memory_mb", Shape::Number),
        field("function", Shape::Text),
        field("workflow_id", Shape::Text).aka(&["workflowId"]),
        field("workflow_version", Shape::Text).aka(&["workflowVersion"]),
        field("trigger_id", Shape::Text).aka(&["triggerId"]),
        field("mode", Shape::Text),
        field("param_mapping", Shape::Data).aka(&["paramMapping"]),
        field("connector", Shape::Text),
        field("action", Shape::Text),
        field("index_id", Shape::Text).aka(&["indexId"]),
        field("tenant_id", Shape::Text).aka(&["tenantId"]),
        field("kb_name", Shape::Text).aka(&["kbName"]),
        field("search_instructions", Shape::Template).aka(&["searchInstructions"]),
        field("callback_url_field", Shape::Text).aka(&["callbackUrlField"]),
        field("timeout_seconds", Shape::Number).aka(&["timeoutSeconds"]),
        field("table", Shape::Data),
        field("operations", Shape::Names),
        field("schema_version", Shape::Text),
    ],
)
.keyed()
.heads(&[Head::Signature, Head::Name])
.shorthand("description");

static PARAMETERS: RecordType = record("parameters", &[]).items(&PARAMETER);
pub(super) static PARAMETER: RecordType = record(
    "parameter",
    &[
        field("type", Shape::Type),
        field("description", Shape::Template),
        field("required", Shape::Bool),
        field("default", Shape::Data),
        field("enum", Shape::Templates),
        field(
            "source",
            Shape::Enum(&["model", "system", "runtime", "config", "auth", "expr", "lookup"]),
        ),
        field("value", Shape::Data),
        field("key", Shape::Text),
        field("table", Shape::Text),
        field("hidden", Shape::Bool),
        field("visibility", Shape::Text),
        field("validation", Shape::OneOf(&[Shape::Record(&VALIDATION), Shape::Text])),
        field("properties", Shape::Data),
        field("items", Shape::Data),
    ],
)
.keyed()
.shorthand("type");

static RETURNS: RecordType = record(
    "return type",
    &[
        field("type", Shape::Type),
        field("description", Shape::Template),
        field("fields", Shape::Types),
        field("items", Shape::Data),
        field("optional", Shape::Bool),
    ],
)
.open();

static HINTS: RecordType = record(
    "hints",
    &[
        field("cacheable", Shape::Bool),
        field("latency", Shape::Enum(&["fast", "medium", "slow"])),
        field("parallelizable", Shape::Bool),
        field("side_effects", Shape::Bool),
        field("requires_auth", Shape::Bool),
        field("timeout", Shape::Number),
    ],
);

static CONFIRMATION: RecordType = record(
    "confirmation",
    &[
        field("require", Shape::Enum(&["always", "never", "when_side_effects"])),
        field("immutable_params", Shape::Names),
        field("consent_required_in", Shape::Data),
        field("consent_scope", Shape::Text),
        field("consent_action", Shape::Text),
        field("consent_fallback", Shape::Text),
    ],
);

static ON_RESULT: RecordType =
    record("result handling", &[field("set", Shape::Assignments), field("do", Shape::Data)]).open();

static CONTEXT_ACCESS: RecordType =
    record("context access", &[field("read", Shape::Names), field("write", Shape::Names)]);
