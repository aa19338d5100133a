//! Conversations with flows of the sample corpus.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use agentir_runtime::{FailureKind, ToolFailure};
use serde_json::json;
use support::{Talk, program};

const PARCEL: &str = include_str!("../../../corpus/abl/valid/parcel_redirect.agent.abl");

#[test]
fn flow_branches_on_tool_results() {
    let program = program("parcel_redirect.agent.abl", PARCEL);
    let mut talk = Talk::new(&program, |tool, _| match tool {
        "service_window" => Ok(json!({ "open": true })),
        "track_parcel" => Ok(json!({ "status": "moving", "depot": "Graz", "weight": 3 })),
        "quote_fee" => Ok(json!({ "fee": 12.5, "days": 2 })),
        "charge_fee" => Ok(json!({ "receipt": "R1", "status": "paid" })),
        "redirect_parcel" => Ok(json!({ "accepted": true })),
        other => Err(ToolFailure::new(FailureKind::Refused, format!("no {other}"))),
    });
    talk.turn(None).say("ab12345").say("8010").say("yes");
    insta::assert_snapshot!(talk.script);
}

#[test]
fn error_handlers_retry_and_give_up() {
    let program = program("parcel_redirect.agent.abl", PARCEL);
    let mut times = 0;
    let mut talk = Talk::new(&program, |tool, _| match tool {
        "service_window" => Ok(json!({ "open": true })),
        "track_parcel" => Ok(json!({ "status": "moving", "depot": "Graz", "weight": 3 })),
        "quote_fee" => Ok(json!({ "fee": 12.5, "days": 2 })),
        "charge_fee" => {
            times += 1;
            if times < 2 {
                Err(ToolFailure::new(FailureKind::Timeout, "too slow"))
            } else {
                Err(ToolFailure::new(FailureKind::Error, "refused"))
            }
        }
        other => Err(ToolFailure::new(FailureKind::Refused, format!("no {other}"))),
    });
    talk.turn(None).say("ab12345").say("8010").say("yes");
    insta::assert_snapshot!(talk.script);
}
