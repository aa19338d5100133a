//! The schemas that are published in `schemas/`.

use serde_json::Value;

/// Each by the name of its file.
#[must_use]
pub fn published() -> Vec<(&'static str, Value)> {
    vec![
        ("agentir.schema.json", agentir_ir_json::schema(agentir::languages().dialects())),
        ("graph.schema.json", agentir_draw::graph_schema()),
        ("report.schema.json", agentir_diagnostics::report_schema()),
        ("config.schema.json", agentir_config::config_schema()),
        ("baseline.schema.json", agentir_report::baseline_schema()),
        ("corpus.schema.json", agentir_corpus::corpus_schema()),
        ("cost.schema.json", agentir_flow::cost::cost_schema()),
        ("fidelity.schema.json", agentir_convert::report_schema()),
        ("script.schema.json", agentir_model::script_schema()),
        ("mcp.schema.json", agentir_tools::mcp_schema()),
        ("stubs.schema.json", agentir_tools::stubs_schema()),
        ("test.schema.json", agentir_scenario::scenario_schema()),
        ("trace.schema.json", agentir_runtime::trace_schema()),
    ]
}
