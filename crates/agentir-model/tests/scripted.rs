//! The scripted model.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use agentir_model::{Script, Scripted};
use agentir_runtime::{Answer, Model, ModelError, ModelRequest, Purpose};
use common::*;
use serde_json::json;

fn model(yaml: &str) -> Scripted {
    Scripted::new(&Script::parse(yaml).unwrap_or_else(|error| panic!("{error}")))
}

fn talk(text: &str) -> ModelRequest {
    let tools = vec![tool(Purpose::Call, "search", "Finds books", &["title: text"])];
    converse(vec![user(text)], tools, Vec::new(), json!({}))
}

fn said(model: &mut Scripted, text: &str) -> Result<String, ModelError> {
    respond(model, &talk(text)).map(|reply| match reply.answer {
        Answer::Message { text, .. } => text,
        other => panic!("{other:?}"),
    })
}

#[test]
fn first_matching_unused_entry_answers() {
    let mut model = model(
        r#"
answers:
  - { message: "^bye", say: Goodbye!, times: always }
  - { agent: Other, say: Not me. }
  - { say: One. }
  - { say: Two., times: 2 }
"#,
    );
    assert_eq!(said(&mut model, "BYE now"), Ok("Goodbye!".to_owned()));
    assert_eq!(said(&mut model, "x"), Ok("One.".to_owned()));
    assert_eq!(said(&mut model, "bye"), Ok("Goodbye!".to_owned()));
    assert_eq!(said(&mut model, "x"), Ok("Two.".to_owned()));
    let unused: Vec<usize> = model.unused().into_iter().map(|(number, _)| number).collect();
    assert_eq!(unused, [2, 4]);
    assert_eq!(said(&mut model, "x"), Ok("Two.".to_owned()));
    assert!(matches!(said(&mut model, "x"), Err(ModelError::Unscripted(_))));
}

#[test]
fn every_task_has_its_answer() {
    let mut model = model(
        r#"
answers:
  - say: Let me look.
    calls: [{ name: search, arguments: { title: Emma } }]
  - values: { day: 2026-03-15 }
  - choose: [b, a]
    confidence: 0.5
    offers: [a, b]
  - statement: cancel
    holds: true
  - { ask: judge, fail: timeout }
"#,
    );
    let mut parts = String::new();
    let reply = model.respond(&talk("x"), &mut |part| parts.push_str(part)).unwrap();
    let Answer::Message { text, calls } = reply.answer else { panic!() };
    assert_eq!((text.as_str(), parts.as_str()), ("Let me look.", "Let me look."));
    assert_eq!((calls[0].id.as_str(), calls[0].name.as_str()), ("call_1", "search"));
    assert!(reply.usage.input_tokens > reply.usage.output_tokens);
    let found = values(&mut model, &extract("x", fields(&["day: date"]), None));
    assert_eq!(found["day"], "2026-03-15");
    let request = choose("x", vec![candidate("a"), candidate("b")], true);
    let reply = respond(&mut model, &request).unwrap();
    assert_eq!(reply.answer, Answer::Choice(vec![("b".into(), 0.5), ("a".into(), 0.5)]));
    let reply = respond(&mut model, &judge("the user wants to cancel", "x")).unwrap();
    assert_eq!(reply.answer, Answer::Verdict(true));
    assert_eq!(respond(&mut model, &judge("x", "y")), Err(ModelError::Timeout));
    assert!(model.unused().is_empty());
}

#[test]
fn unscripted_requests_suggest_an_entry() {
    let mut model = model("answers: [{ say: Once., message: emma }]");
    let mut in_step = talk("Have you got Emma? (the novel)");
    in_step.step = Some("start".to_owned());
    respond(&mut model, &in_step).unwrap();
    let questions = [
        in_step,
        extract("tomorrow", fields(&["day: date", "at: time"]), None),
        choose("a book", vec![candidate("order"), candidate("refund")], false),
        judge("the user wants to cancel", "no"),
    ];
    let shown: Vec<String> =
        questions.iter().map(|q| respond(&mut model, q).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(shown.join("\n\n"));
    // The suggested entry is valid and answers the request.
    for (question, shown) in questions.iter().zip(&shown) {
        let (_, entry) = shown.split_once('\n').unwrap();
        let script = Script::parse(&format!("answers:\n{entry}")).unwrap_or_else(|e| panic!("{e}"));
        assert!(respond(&mut Scripted::new(&script), question).is_ok(), "{entry}");
    }
}

#[test]
fn unknown_names_are_script_errors() {
    let mut model =
        model("answers: [{ choose: [c] }, { calls: [{ name: find }] }, { values: { x: 1 } }]");
    let wrong = [
        respond(&mut model, &choose("x", vec![candidate("a"), candidate("b")], true)),
        respond(&mut model, &talk("x")),
        respond(&mut model, &extract("x", fields(&["day: date"]), None)),
    ];
    let shown: Vec<String> = wrong.into_iter().map(|w| w.unwrap_err().to_string()).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn invalid_scripts() {
    let wrong = [
        "answers: 3",
        "answers:\n  - says: Hello",
        "answers: [{ agent: A }]",
        "answers: [{ say: A, holds: true }]",
        "answers: [{ ask: judge, say: A }]",
        "answers: [{ message: '(', say: A }]",
        "answers: [{ say: A, confidence: 1 }]",
        "answers: [{ choose: [a], confidence: 3 }]",
        "answers: [{ say: A, times: often }]",
    ];
    let shown: Vec<String> = wrong
        .iter()
        .map(|yaml| format!("{yaml}\n→ {}", Script::parse(yaml).unwrap_err()))
        .collect();
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn schema_accepts_what_the_parser_accepts() {
    let schema = jsonschema::validator_for(&agentir_model::script_schema()).unwrap();
    let good = json!({"answers": [
        {"say": "Hello", "times": "always"}, {"values": {"day": "2026-03-15"}, "times": 2},
        {"choose": [], "offers": ["a"]}, {"ask": "judge", "fail": "timeout"},
    ]});
    assert!(schema.is_valid(&good));
    assert!(Script::parse(&good.to_string()).is_ok());
    for bad in [
        json!({"answers": [{"says": "Hello"}]}),
        json!({"answers": [{"holds": "maybe"}]}),
        json!({}),
    ] {
        assert!(!schema.is_valid(&bad), "{bad}");
        assert!(Script::parse(&bad.to_string()).is_err(), "{bad}");
    }
}

#[test]
fn documented_scripts_are_valid() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md");
    let text = std::fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> =
        text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        assert!(Script::parse(block).is_ok_and(|script| script.entries().len() > 5));
    }
}
