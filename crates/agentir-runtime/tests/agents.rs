//! Conversations with model-led agents, and with several agents.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use agentir_runtime::{FailureKind, ToolFailure};
use serde_json::json;
use support::{Talk, calls, folder, program, says};

fn none(tool: &str) -> Result<serde_json::Value, ToolFailure> {
    Err(ToolFailure::new(FailureKind::Refused, format!("no {tool}")))
}

#[test]
fn model_led_agent_extracts_fields_from_messages() {
    let program =
        program("car_wash.agent.abl", include_str!("../../../corpus/abl/valid/car_wash.agent.abl"));
    let mut talk = Talk::new(&program, |tool, _| match tool {
        "sell_ticket" => Ok(json!({ "ticket": "T7", "bay": 3 })),
        other => none(other),
    });
    talk.model.answers.extend([
        says("Which programme would you like?"),
        says("And your plate?"),
        calls("sell_ticket", json!({ "programme": "plus", "plate": "W-1" })),
        says("There you go."),
    ]);
    talk.turn(None).say("hello").say("programme=plus").say("plate=W-1").say("yes");
    insta::assert_snapshot!(talk.script);
    insta::assert_snapshot!("what_the_model_is_told", talk.model.system.join("\n---\n"));
}

#[test]
fn supervisor_routes_and_agents_return() {
    let program = folder("abl/valid/city_services", Some("City_Desk"));
    let mut talk = Talk::new(&program, |tool, _| match tool {
        "open_case" => Ok(json!({ "case_number": "C1" })),
        other => none(other),
    });
    talk.model.answers.extend([
        says("What is it about?"),
        calls("open_case", json!({ "subject": "noise", "details": "at night" })),
        says("Noted."),
        says("Hello again."),
    ]);
    talk.turn(None).say("I have a complaint").say("subject=noise details=night").say("thanks");
    insta::assert_snapshot!(talk.script);
}

#[test]
fn agent_script_prepares_guards_and_transitions() {
    let program = program(
        "luthier_orders.agent",
        include_str!("../../../corpus/agent-script/valid/luthier_orders.agent"),
    );
    let mut talk = Talk::new(&program, |tool, _| match tool {
        "Quote" => Ok(json!({ "amount": 900 })),
        other => none(other),
    });
    talk.model.answers.extend([
        calls("choose", json!({ "wood": "maple" })),
        calls("quote", json!({ "size": "full" })),
        says("900 it is."),
        calls("pay", json!({ "deposit_paid": true })),
        says("Received."),
        says("Thank you, we begin next week."),
    ]);
    talk.turn(None).say("a maple violin").say("I have paid");
    insta::assert_snapshot!(talk.script);
    insta::assert_snapshot!("what_agent_script_tells", talk.model.system.join("\n---\n"));
}

#[test]
fn adl_stacks_agents() {
    let program = folder("adl/valid/ferry", None);
    let mut talk = Talk::new(&program, |tool, _| match tool {
        "get_day" => Ok(json!({ "day": "Monday" })),
        "book_crossing" => Ok(json!({ "status": "booked" })),
        other => none(other),
    });
    talk.model.holds = vec!["yes"];
    talk.turn(None).say("crossing").say("route=Capri").say("yes");
    insta::assert_snapshot!(talk.script);
}

#[test]
fn outputs_that_are_filtered_are_not_for_the_model() {
    let text = r#"system:
    instructions: "Look up policies."

config:
    agent_name: "policies"

variables:
    record: mutable string = ""

start_agent policies:
    description: "Looks up policies"
    actions:
        Lookup:
            description: "Look up a policy."
            inputs:
                number: string
            outputs:
                status: string
                record_id: string
                    filter_from_agent: True
            target: "flow://Lookup"
    reasoning:
        instructions: ->
            | Tell the status of the policy.
        actions:
            lookup: @actions.Lookup
                with number = "P-1"
                set @variables.record = @outputs.record_id
"#;
    let program = program("policies.agent", text);
    let mut talk =
        Talk::new(&program, |_, _| Ok(json!({ "status": "active", "record_id": "R-99" })));
    talk.model.answers.extend([calls("lookup", json!({})), says("It is active.")]);
    talk.turn(None).say("what about my policy?");
    let seen = talk.model.messages.last().unwrap().join("\n");
    assert!(seen.contains("active") && !seen.contains("R-99"), "{seen}");
    // The author's variables get them.
    let variables = talk.session.variables();
    let set = |(name, value): (String, serde_json::Value)| {
        name.ends_with("record") && value == json!("R-99")
    };
    assert!(variables.into_iter().any(set));
}

#[test]
fn functions_without_a_signature_get_what_their_agent_collects() {
    let text = r#"main:
  type: flow agent
  steps:
    - call: payees

payees:
  type: llm agent
  description: Removes payees
  prompt: |
    Ask which one, call "remove_payee", and say what came of it. Then ask for the note.
  args:
    - payee_name
    - note
  uses:
    - remove_payee
"#;
    let program = program("agents.yml", text);
    let mut talk =
        Talk::new(&program, |_, arguments| Ok(json!([{ "bot": json!(arguments).to_string() }])));
    talk.model
        .answers
        .extend([calls("remove_payee", json!({ "payee_name": "Tom Fox" })), says("He is gone.")]);
    talk.turn(None).say("payee_name=Tom");
    assert!(talk.script.contains("Tom Fox"), "{}", talk.script);
    let tools = talk.model.tools.last().unwrap();
    let tool = tools.iter().find(|tool| tool.name == "remove_payee").unwrap();
    let needs = |name: &str| tool.parameters.iter().find(|p| p.name == name).map(|p| p.required);
    assert_eq!((needs("payee_name"), needs("note")), (Some(true), Some(false)));
}
