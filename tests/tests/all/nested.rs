//! Conversions to ABL of statements that are nested deeper than its fields allow.

#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

use crate::foreign::{converted, program_of};
use crate::replay::{Sample, retell};
use agentir::targets;
use agentir_runtime::Machine;
use agentir_scenario::{Limits, first_agent, generate};
use serde_json::{Value, json};

/// Outcomes have no outcomes, and branches no branches, in ABL: what is nested in them becomes steps.
#[test]
fn what_is_nested_is_kept() {
    let call = |tool: &str, with: Value, success: Value, failure: Value| {
        json!({"type": "call", "tool": tool, "with": with,
               "on_success": {"do": success}, "on_failure": {"do": failure}})
    };
    let say = |text: &str| json!({"type": "respond", "text": text});
    let charge = |success: Value, failure: Value| {
        call("charge", json!([{"name": "amount", "value": "n"}]), success, failure)
    };
    let notify = |success: Value, failure: Value| {
        call("notify", json!([{"name": "text", "value": "s"}]), success, failure)
    };
    let inner = json!({"type": "if", "branches": [
        {"condition": "n > 1", "do": [say("Inner one")]}, {"do": [say("Inner two")]},
    ]});
    let check = json!({"type": "check", "condition": "n > 3", "otherwise": "b"});
    let set = json!({"type": "set", "variable": "s", "expression": "\"paid\""});
    let all = [
        vec![charge(json!([notify(json!([say("told")]), json!([say("not told")]))]), json!([]))],
        vec![charge(json!([check.clone()]), json!([say("failed")])), say("went on")],
        vec![json!({"type": "if", "branches": [
            {"condition": "n == 0", "do": [charge(json!([say("charged")]), json!([say("refused")]))]},
            {"do": [say("nothing to charge")]},
        ]})],
        vec![
            json!({"type": "if", "branches": [{"condition": "n < 2", "do": [say("small"), inner.clone()]}]}),
        ],
        vec![
            notify(json!([inner.clone(), charge(json!([]), json!([])), set]), json!([])),
            say("{{s}}"),
        ],
        vec![
            say("?"),
            json!({"type": "await", "branches": [
                {"condition": "input == \"x\"", "do": [inner, say("both")]}, {"do": [say("other")]},
            ]}),
        ],
    ];
    for statements in all {
        let texts: Vec<String> = {
            let mut found = Vec::new();
            let text = json!(statements).to_string();
            for part in text.split("\"text\":\"").skip(1) {
                found.push(part.split('"').next().unwrap().to_owned());
            }
            found
        };
        let mut statements = statements;
        statements.push(json!({"type": "goto", "then": "COMPLETE"}));
        let source = program_of(
            "abl",
            json!({
                "tools": [
                    {"name": "charge", "description": "Charge", "parameters": [{"name": "amount", "type": "number"}]},
                    {"name": "notify", "description": "Notify", "parameters": [{"name": "text", "type": "string"}]},
                ],
                "memory": {"session": [
                    {"name": "n", "type": "number", "initial_value": 0},
                    {"name": "s", "type": "string", "initial_value": ""},
                ]},
                "flow": {"entry_point": "a", "definitions": {
                    "a": {"do": statements}, "b": {"respond": "at b", "then": "COMPLETE"},
                }},
            }),
        );
        let sample = Sample { name: "nested".to_owned(), language: "abl", checked: source };
        let machine = Machine::new(&sample.checked.program);
        let made =
            generate(&machine, first_agent(&sample.checked.program), Limits::default()).unwrap();
        for target in [targets::ABL, targets::ABL_YAML] {
            let (done, text) = converted(&sample.checked, target);
            let unread = done.diagnostics.iter().filter(|d| d.rule.0 == "unknown-field");
            assert_eq!(unread.count(), 0, "{text}");
            for said in &texts {
                assert!(text.contains(said.as_str()), "{said}: {text}");
            }
            assert_eq!(done.report.totals.dropped, 0, "{text}");
            let mut differing = Vec::new();
            retell(&sample, &machine, &made, target, &mut differing);
            assert_eq!(differing, [""; 0], "{text}");
        }
    }
}
