//! Stubs: which case answers, what it answers, what is said if none does.

use crate::{WATCHDOG, arguments, call, call_by_name, call_within, tool};
use agentir_runtime::{FailureKind, ToolCall, Tools};
use agentir_tools::Stubs;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn stubs(text: &str) -> Stubs {
    Stubs::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

const HOTELS: &str = "
tools:
  search:
    - when: { city: Paris, guests: { at_least: 2, below: 5 } }
      answer: { hotels: [{ name: 'Grand {{city}}', beds: '{{guests}}' }] }
    - when: { city: { matches: '^Old ' } }
      fail: api
      message: 'the {{city}} system is down'
      data: { code: 503, asked: '{{city}}' }
    - when: { city: { one_of: [Rome, Oslo] }, guests: { any: false } }
      answer: '{{city}} for nobody'
    - times: 1
      fail: timeout
    - times: 1
      delay: 20000
      answer: late
    - answer: []
";

#[test]
fn the_first_case_that_holds_answers() {
    let mut stubs = stubs(HOTELS);
    let mut search = |with: Json| call_by_name(&mut stubs, "search", with);
    let grand = json!({ "hotels": [{ "name": "Grand Paris", "beds": 3 }] });
    assert_eq!(search(json!({ "city": "Paris", "guests": 3 })).unwrap(), grand);
    // A number that is a text, as users give them, is a number.
    let grand = json!({ "hotels": [{ "name": "Grand Paris", "beds": "4" }] });
    assert_eq!(search(json!({ "city": "Paris", "guests": "4" })).unwrap(), grand);
    let down = search(json!({ "city": "Old Town" })).unwrap_err();
    assert_eq!(
        (down.kind, down.message.as_str()),
        (FailureKind::Api, "the Old Town system is down")
    );
    assert_eq!(down.data, json!({ "code": 503, "asked": "Old Town" }));
    assert_eq!(search(json!({ "city": "Oslo" })).unwrap(), json!("Oslo for nobody"));
    // What is left: once this, once that, and then always the same.
    let five = json!({ "city": "Paris", "guests": 5 });
    let first = search(five.clone()).unwrap_err();
    assert_eq!(first.kind, FailureKind::Timeout);
    let second = search(five.clone()).unwrap_err();
    assert_eq!(second.kind, FailureKind::Timeout);
    assert_eq!(second.message, "`search` did not answer within 10000 ms (its stub takes 20000 ms)");
    assert_eq!(search(five.clone()).unwrap(), json!([]));
    assert_eq!(search(five).unwrap(), json!([]));
}

#[test]
fn arguments_match_as_the_table_says() {
    let cases: &[(&str, Json, bool)] = &[
        ("Paris", json!("Paris"), true),
        ("Paris", json!("paris"), false),
        ("2", json!(2.0), true),
        ("2", json!("2"), false),
        ("true", json!(true), true),
        ("null", json!(null), true),
        ("[1, [2]]", json!([1, [2.0]]), true),
        ("[1, 2]", json!([1]), false),
        ("{ equals: { a: 1, b: [x] } }", json!({ "b": ["x"], "a": 1 }), true),
        ("{ equals: { a: 1 } }", json!({ "a": 1, "b": 2 }), false),
        ("{ not: Paris }", json!("Rome"), true),
        ("{ not: Paris }", json!("Paris"), false),
        ("{ matches: '(?i)^par' }", json!("Paris"), true),
        ("{ matches: '^2[0-9]$' }", json!(27), true),
        ("{ matches: '.*' }", json!(null), false),
        ("{ any: true }", json!(0), true),
        ("{ any: true }", json!(null), false),
        ("{ any: false }", json!(null), true),
        ("{ one_of: [1, 2] }", json!(2), true),
        ("{ one_of: [1, 2] }", json!(3), false),
        ("{ above: 2 }", json!(2), false),
        ("{ above: 2 }", json!(2.1), true),
        ("{ at_least: 2, at_most: 2 }", json!(2), true),
        ("{ below: 2 }", json!("one"), false),
        ("{ below: 2 }", json!(null), false),
    ];
    for (matcher, value, holds) in cases {
        let mut stubs =
            stubs(&format!("tools:\n  t:\n    - when: {{ x: {matcher} }}\n      answer: 1\n"));
        let answer = call_by_name(&mut stubs, "t", json!({ "x": value }));
        assert_eq!(answer.is_ok(), *holds, "{matcher} and {value}");
    }
}

#[test]
fn parts_of_arguments_are_named_by_paths() {
    let mut stubs = stubs(
        "tools:\n  t:\n    - when: { guest.name: Ann }\n      answer: '{{guest.name}} has {{guest.bags.1}}, {{nothing}}.'\n",
    );
    let with = json!({ "guest": { "name": "Ann", "bags": [7, 8] } });
    assert_eq!(call_by_name(&mut stubs, "t", with).unwrap(), json!("Ann has 8, ."));
}

#[test]
fn calls_are_remembered() {
    let mut stubs = stubs("tools:\n  t:\n    - when: { x: 1 }\n      answer: yes\n");
    let _ = call_by_name(&mut stubs, "t", json!({ "x": 1 }));
    let _ = call_by_name(&mut stubs, "t", json!({ "x": 2 }));
    let told: Vec<_> = stubs
        .calls()
        .iter()
        .map(|c| (c.agent.as_str(), c.tool.as_str(), json!(c.arguments), c.result.is_ok()))
        .collect();
    assert_eq!(
        told,
        [("Desk", "t", json!({ "x": 1 }), true), ("Desk", "t", json!({ "x": 2 }), false)]
    );
}

#[test]
fn a_call_without_a_stub_shows_the_one_it_needs() {
    let search = tool(
        "  search(city: string, guest: object, nights?: number) -> {hotels: {name: string, price: number}[], checked: boolean}\n",
    );
    let with = json!({ "city": "Paris", "guest": { "name": "Ann" }, "nights": 2 });
    let mut stubs = stubs(
        "tools:\n  search:\n    - when: { city: Rome }\n      answer: 1\n    - times: 1\n      answer: 2\n",
    );
    let _ = call(&mut stubs, &search, with.clone());
    let failure = call(&mut stubs, &search, with.clone()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused);
    insta::assert_snapshot!(failure.message, @r#"
    no stub answers this call of `search`
      case 1 wants `city` to be "Rome"
      case 2 was for 1 calls, and they were made
    this one would:
    tools:
      search:
        - when: { city: "Paris", guest: { equals: {"name":"Ann"} }, nights: 2 }
          answer: {"hotels":[{"name":"…","price":1}],"checked":true}
    "#);
    // It does.
    let (_, proposal) = failure.message.split_once("this one would:\n").unwrap();
    let mut proposed = Stubs::read(proposal).unwrap();
    let answer = call(&mut proposed, &search, with).unwrap();
    assert_eq!(answer, json!({ "hotels": [{ "name": "…", "price": 1 }], "checked": true }));
}

#[test]
fn delays_pass_only_where_it_is_asked_for() {
    const DAY: u64 = 86_400_000;
    let text = format!("tools:\n  t:\n    - delay: {DAY}\n      answer: 1\n");
    let start = |mut stubs: Stubs| {
        let (done, answer) = mpsc::channel();
        thread::spawn(move || done.send(call_within(&mut stubs, &tool("  t()\n"), json!({}), DAY)));
        answer
    };
    let answer = start(stubs(&text)).recv_timeout(WATCHDOG).unwrap();
    assert_eq!(answer.unwrap(), json!(1));
    // This one would answer tomorrow.
    let answer = start(stubs(&text).in_real_time(true)).recv_timeout(Duration::from_millis(100));
    assert!(answer.is_err(), "{answer:?}");
}

#[test]
fn files_that_are_wrong_are_told() {
    let files = [
        "tools:\n  t:\n    - answer: 1\n      fail: api\n",
        "tools:\n  t:\n    - when: { x: 1 }\n",
        "tools:\n  t:\n    - answer: 1\n      message: hm\n",
        "tools:\n  t:\n    - answer: 1\n      times: 0\n",
        "tools:\n  t:\n    - when: { x: { more: 1 } }\n      answer: 1\n",
        "tools:\n  t:\n    - when: { x: { matches: '(' } }\n      answer: 1\n",
        "tools:\n  t:\n    - when: { x: { above: much } }\n      answer: 1\n",
        "tools:\n  t:\n    - fail: badly\n",
        "tools:\n  t:\n    - anwser: 1\n",
        "tools:\n  t: 1\n",
        "tools: [",
        "",
    ];
    let told: Vec<String> = files
        .iter()
        .map(|text| {
            let problem = Stubs::read(text).unwrap_err().to_string();
            format!("{text:?}\n{}", problem.lines().next().unwrap_or_default())
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

fn cases() -> ProptestConfig {
    let more = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(more.unwrap_or(256)) }
}

proptest! {
    #![proptest_config(cases())]

    /// Whatever a file says, and whatever is called: an answer or a sentence.
    #[test]
    fn no_file_is_too_odd(text in "(tools:\\n  t:\\n)?[ \\-:a-z{}\\[\\]'\"&*!|>#\\n0-9.,~]{0,200}", value in "\\PC{0,20}") {
        answers(&text, &value);
    }

    /// The same, with files that are nearly right.
    #[test]
    fn no_case_is_too_odd(
        word in "equals|not|one_of|matches|any|above|at_least|below|at_most|more",
        written in "[0-9]{1,30}|-?[0-9]{1,3}\\.[0-9]e[0-9]{1,4}|true|~|'[(\\[*+?a-z{}\\\\]{0,12}'|\\[1, \\[2\\]\\]|\\{ a: 1 \\}|\\.nan|\\.inf",
        answer in "'\\{{0,3}[a-z.0-9 ]{0,9}\\}{0,3}'|\\.nan|[0-9]{1,40}|\\{ 1: 2 \\}|!!binary aGk=",
        value in "\\PC{0,20}",
    ) {
        answers(&format!("tools:\n  t:\n    - when: {{ x: {{ {word}: {written} }} }}\n      answer: {answer}\n"), &value);
    }
}

fn answers(text: &str, value: &str) {
    let Ok(mut stubs) = Stubs::read(text) else { return };
    for value in [json!(value), json!(7), json!([value]), json!({ value: value }), Json::Null] {
        let arguments = arguments(json!({ "x": value }));
        let call = ToolCall {
            agent: "a",
            name: "t",
            tool: None,
            remote: None,
            arguments,
            timeout_ms: u64::MAX,
            idempotency_key: String::new(),
            session: serde_json::Map::new(),
        };
        if let Err(failure) = stubs.call(&call) {
            assert!(!failure.message.is_empty());
        }
    }
}
