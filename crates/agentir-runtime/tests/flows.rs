//! Conversations with flows of the sample corpus.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use agentir_runtime::{FailureKind, ToolFailure};
use serde_json::{Value as Json, json};
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

/// A flow that collects a field `x`, and says what it was.
fn collecting(field: &str, of_step: &str, rest: &str) -> String {
    format!(
        "AGENT: Form\nGOAL: \"Ask\"\n{rest}\nFLOW:\n  ask -> bye\n\n  ask:\n    REASONING: false\n{of_step}    GATHER:\n      x:\n        prompt: \"X?\"\n{field}    THEN: bye\n\n  bye:\n    REASONING: false\n    RESPOND: \"It is {{{{x}}}}.\"\n    THEN: COMPLETE\n\n  sorry:\n    REASONING: false\n    RESPOND: \"Never mind.\"\n    THEN: COMPLETE\n"
    )
}

fn said(text: &str, messages: &[&str]) -> String {
    let program = program("form.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Ok(Json::Null));
    talk.turn(None);
    for message in messages {
        talk.say(message);
    }
    talk.script.clone()
}

#[test]
fn an_integer_has_no_fraction() {
    let text = collecting("        type: integer\n", "", "");
    let script = said(&text, &["2.5", "7"]);
    assert!(!script.contains("It is 2.5") && script.contains("It is 7."), "{script}");
    let script = said(&collecting("        type: number\n", "", ""), &["2.5"]);
    assert!(script.contains("It is 2.5."), "{script}");
}

/// `case_sensitive` of a lookup table (3.5.2).
#[test]
fn case_counts_in_a_table_that_says_so() {
    let table = |settings: &str| {
        let rest = format!(
            "LOOKUP_TABLES:\n  cities:\n    source: inline\n    values: [London, Paris]\n{settings}"
        );
        collecting(
            "        type: string\n        semantics:\n          lookup: cities\n",
            "",
            &rest,
        )
    };
    for strategy in ["", "    STRATEGY: pattern\n"] {
        let text = |settings: &str| {
            table(settings).replace(
                "    GATHER:\n",
                &format!("    GATHER:\n{}", strategy.replace("    ", "      ")),
            )
        };
        let sensitive = text("    case_sensitive: true\n    fuzzy_match: false\n");
        let script = said(&sensitive, &["paris", "Paris"]);
        let (refused, taken) = script.split_once("> Paris").unwrap();
        assert!(!refused.contains("It is") && taken.contains("It is Paris."), "{script}");
        let script = said(&text("    fuzzy_match: false\n"), &["paris"]);
        assert!(script.contains("It is Paris."), "{script}");
    }
}

#[test]
fn the_attempts_of_a_question_lead_where_the_step_says() {
    let field = "        type: number\n        validate: range 1-10\n";
    let field = field.replace(
        "validate: range 1-10",
        "validation:\n          type: range\n          rule: \"1-10\"",
    );
    let limit = "    MAX_ATTEMPTS: 2\n";
    let script =
        said(&collecting(&field, &format!("{limit}    ON_EXHAUSTED: sorry\n"), ""), &["11", "12"]);
    assert!(script.contains("Never mind.") && !script.contains("error"), "{script}");
    let script = said(&collecting(&field, limit, ""), &["11", "12"]);
    assert!(script.contains("could not be collected"), "{script}");
}

/// What "answers nothing: it fills no field and chooses no branch".
#[test]
fn a_press_of_what_was_not_shown_answers_nothing() {
    let text = collecting("        type: string\n", "", "");
    let form = program("form.agent.abl", &text);
    for value in [None, Some("Bob")] {
        let mut talk = Talk::new(&form, |_, _| Ok(Json::Null));
        talk.turn(None).press("zz", value);
        assert!(!talk.script.contains("It is"), "{}", talk.script);
        talk.say("Bob");
        assert!(talk.script.contains("It is Bob."), "{}", talk.script);
    }
    let waits = "    ON_INPUT:\n      - ELSE:\n        THEN: bye\n";
    let program_of = |body: &str| {
        let text = format!(
            "AGENT: Form\nGOAL: \"Ask\"\nFLOW:\n  ask -> bye\n\n  ask:\n    REASONING: false\n{body}\n  bye:\n    REASONING: false\n    RESPOND: \"Goodbye.\"\n    THEN: COMPLETE\n"
        );
        program("form.agent.abl", &text)
    };
    let menu = "    RESPOND: \"City?\"\n      ACTIONS:\n        - SELECT: \"City\"\n          ID: city\n          OPTIONS:\n            - { id: \"NYC\", label: \"New York\" }\n            - { id: \"LAX\", label: \"Los Angeles\" }\n";
    let on_action =
        "    ON_ACTION:\n      city:\n        RESPOND: \"You go.\"\n        THEN: bye\n";
    for (body, id, value) in [
        (format!("    RESPOND: \"Ready?\"\n{waits}"), "zz", None),
        (format!("{menu}{waits}"), "zz", None),
        (format!("{menu}{waits}"), "city", Some("XXX")),
        (format!("{menu}{on_action}"), "zz", None),
        (format!("{menu}{on_action}"), "city", Some("XXX")),
    ] {
        let form = program_of(&body);
        let mut talk = Talk::new(&form, |_, _| Ok(Json::Null));
        talk.turn(None).press(id, value);
        assert!(!talk.script.contains("Goodbye."), "{body}\n{}", talk.script);
        assert!(!talk.script.contains("You go."), "{body}\n{}", talk.script);
        if id == "city" {
            talk.press("city", Some("NYC"));
            assert!(talk.script.contains("Goodbye."), "{body}\n{}", talk.script);
        }
    }
}
