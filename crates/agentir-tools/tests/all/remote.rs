//! Agents that run elsewhere.

use crate::here;
use crate::server::{say, web};
use agentir_diagnostics::{FileId, Span, Spanned};
use agentir_ir::Remote;
use agentir_runtime::{FailureKind, ToolCall, ToolFailure, Tools};
use agentir_tools::{Allow, EnvVars, Http, Stubs, Toolbox};
use serde_json::{Value as Json, json};

fn at(url: &str, protocol: &'static str) -> Remote {
    let endpoint = Spanned::new(url.into(), Span::new(FileId(0), 0, 0));
    let auth = json!("Bearer {{secrets.T}}");
    Remote {
        endpoint: Some(endpoint),
        protocol: Some(protocol),
        auth: Some(auth),
        ..Remote::default()
    }
}

fn toolbox(allow: Allow) -> Toolbox {
    let settings: EnvVars = [("T", "tok")].into_iter().collect();
    Toolbox::default().http(Http::new(settings, here())).allow(allow)
}

fn ask(by: &mut Toolbox, remote: &Remote, message: &Json) -> Result<Json, ToolFailure> {
    by.call(&ToolCall {
        agent: "Desk",
        name: "Billing",
        tool: None,
        remote: Some(remote),
        arguments: message.as_object().cloned().unwrap_or_default(),
        timeout_ms: 10_000,
        idempotency_key: String::new(),
        session: serde_json::Map::new(),
    })
}

#[test]
fn rest_sends_what_there_is_and_takes_the_answer_as_it_is() {
    let web = web(|seen, _| {
        assert_eq!(seen.line, "POST /ask");
        assert_eq!(seen.header("authorization"), Some("Bearer tok"));
        let sent: Json = serde_json::from_str(&seen.body).unwrap();
        let says = format!("You said {}.", sent["message"].as_str().unwrap());
        say(200, json!({ "says": [says], "done": false, "conversation": "c1" }).to_string())
    });
    let remote = at(&format!("{}/ask", web.url()), "rest");
    let mut open = toolbox(Allow::Everything);
    let answer = ask(&mut open, &remote, &json!({ "message": "hello", "context": {} })).unwrap();
    assert_eq!(answer, json!({ "says": ["You said hello."], "done": false, "conversation": "c1" }));
}

#[test]
fn a2a_sends_messages_and_reads_tasks() {
    let web = web(|seen, _| {
        let sent: Json = serde_json::from_str(&seen.body).unwrap();
        assert_eq!(sent["method"], "message/send");
        let message = &sent["params"]["message"];
        let text = message["parts"][0]["text"].as_str().unwrap();
        let said = |text: &str| json!([{ "kind": "text", "text": text }]);
        let result = match text {
            "refund" => {
                assert_eq!(message["parts"][1]["data"]["context"]["order"], 7);
                json!({ "kind": "task", "id": "t1", "contextId": "c1",
                        "status": { "state": "input-required",
                                    "message": { "parts": said("Which order?") } } })
            }
            "order 7" => {
                assert_eq!(
                    (&message["contextId"], &message["taskId"]),
                    (&json!("c1"), &json!("t1"))
                );
                json!({ "kind": "task", "id": "t1", "contextId": "c1",
                        "status": { "state": "completed" },
                        "artifacts": [{ "parts": [
                            { "kind": "text", "text": "Refunded." },
                            { "kind": "data", "data": { "amount": 12 } }] }] })
            }
            "hello" => json!({ "kind": "message", "role": "agent", "parts": said("Hi.") }),
            "slow" => json!({ "kind": "task", "id": "t2", "status": { "state": "working" } }),
            _ => json!({ "kind": "task", "id": "t3", "status": { "state": "failed" } }),
        };
        let answer = match text {
            "broken" => {
                json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32603, "message": "no" } })
            }
            _ => json!({ "jsonrpc": "2.0", "id": 1, "result": result }),
        };
        say(200, answer.to_string())
    });
    let remote = at(&web.url(), "a2a");
    let mut open = toolbox(Allow::Everything);
    let first = ask(&mut open, &remote, &json!({ "message": "refund", "context": { "order": 7 } }))
        .unwrap();
    assert_eq!((&first["says"], &first["done"]), (&json!(["Which order?"]), &json!(false)));
    let next = json!({ "message": "order 7", "conversation": first["conversation"] });
    let second = ask(&mut open, &remote, &next).unwrap();
    assert_eq!(
        (&second["says"], &second["done"], &second["result"]),
        (&json!(["Refunded."]), &json!(true), &json!({ "amount": 12 }))
    );
    let hello = ask(&mut open, &remote, &json!({ "message": "hello" })).unwrap();
    assert_eq!((&hello["says"], &hello["done"]), (&json!(["Hi."]), &json!(true)));
    let failures = ["slow", "wrong", "broken"].map(|message| {
        ask(&mut open, &remote, &json!({ "message": message })).unwrap_err().message
    });
    insta::assert_snapshot!(failures.join("\n"));
}

#[test]
fn nobody_is_asked_who_may_not_be() {
    let remote = at("http://localhost:1/", "rest");
    let refused = |remote: &Remote| {
        let failure =
            ask(&mut toolbox(Allow::Nothing), remote, &json!({ "message": "hello" })).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Refused);
        failure.explanation().to_owned()
    };
    let platform = Remote { auth: None, ..at("agentforce://Billing", "rest") };
    let told = [
        refused(&remote),
        refused(&Remote::default()),
        refused(&Remote {
            endpoint: platform.endpoint.map(|e| Spanned::new("Billing_v2".into(), e.span)),
            ..Remote::default()
        }),
    ];
    insta::assert_snapshot!(told.join("\n"));
    // Stubs always may.
    let stubs = "tools:\n  Billing:\n    - when: { message: hello }\n      answer: { says: Hi. }\n";
    let mut stubbed = toolbox(Allow::Nothing).stubs(Stubs::read(stubs).unwrap());
    let answer = ask(&mut stubbed, &remote, &json!({ "message": "hello" })).unwrap();
    assert_eq!(answer, json!({ "says": "Hi." }));
}
