//! Mistakes in what is kept as data, and in the words and times of texts.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests end by panicking"
)]

mod common;

use common::{agent, finds_in_agent, read_text};

#[test]
fn what_a_tool_is_reached_by_is_checked() {
    let binding = |keys: &str| format!(r#""tools": [{{"name": "a", "binding": {{{keys}}}}}]"#);
    for (keys, rule, message, underlined) in [
        (
            r#""endpont": "https://x.example""#,
            "unknown-field",
            "`endpont` is not a key of a binding",
            "endpont",
        ),
        (r#""method": "PSOT""#, "invalid-value", "`PSOT` is not a valid `method`", "PSOT"),
        (
            r#""timeout": -5"#,
            "invalid-value",
            "`timeout` must be a number from 0 to 31536000000, not `-5`",
            "-5",
        ),
        (
            r#""timeout": {"a": 1}"#,
            "invalid-value",
            "`timeout` must be a number from 0 to 31536000000, not an object",
            "{",
        ),
        (
            r#""timeout": "30x""#,
            "invalid-value",
            "`timeout` must be a number from 0 to 31536000000, not a string",
            "\"30x\"",
        ),
        (
            r#""endpoint": {"a": 1}"#,
            "invalid-value",
            "`endpoint` must be a string, not an object",
            "{",
        ),
        (
            r#""retry": 1.5"#,
            "invalid-value",
            "`retry` must be a whole number from 0 to 4294967295, not `1.5`",
            "1.5",
        ),
        (
            r#""headers": 5"#,
            "invalid-value",
            "`headers` must be an object of names and texts, not a number",
            "5",
        ),
        (
            r#""on_http_error": "eror""#,
            "invalid-value",
            "`eror` is not a valid `on_http_error`",
            "eror",
        ),
        (
            r#""operations": 1"#,
            "invalid-value",
            "`operations` must be an array of names, not a number",
            "1",
        ),
        (
            r#""endpoint": "x", "endpoint": "y""#,
            "duplicate-field",
            "this object has the key `endpoint` twice",
            "endpoint",
        ),
    ] {
        finds_in_agent(&binding(keys), rule, message, underlined);
    }
    for keys in [
        r#""endpoint": "https://x.example", "method": "Post", "timeout": "15s", "retry": {"count": 2}, "retry_policy": {"x": 1}"#,
        r#""endpoint": "{{config.URL}}", "method": "{{config.METHOD}}", "timeout": "{{config.T}}", "retry": "{{config.R}}""#,
        r#""headers": [{"a": "b"}], "auth": {"type": "bearer"}, "workflow_version": 2, "operations": ["a"]"#,
        r#""target": "flow://Find""#,
    ] {
        let (document, problems) = read_text(&agent(&binding(keys)));
        assert!(problems.is_empty(), "{keys}: {problems:#?}");
        assert!(document.program.agents[0].tools[0].binding.is_some());
    }
    // What is meant is read.
    let (document, _) = read_text(&agent(&binding(r#""method": "PSOT", "timeout": -5"#)));
    let kept = &document.program.agents[0].tools[0].binding.as_ref().unwrap().0;
    assert_eq!(
        kept.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>(),
        ["method=\"post\""]
    );
}

#[test]
fn words_and_times_in_texts_are_checked() {
    let handoff = |history: &str| {
        format!(
            r#""coordination": {{"handoffs": [{{"to": "B", "context": {{"history": {history}}}}}]}}"#
        )
    };
    let ttl = |ttl: &str| {
        format!(
            r#""memory": {{"persistent": [{{"path": "user.y"}}], "remember": [{{"when": "x == 1", "store": {{"value": "x", "target": "user.y"}}, "ttl": {ttl}}}]}}"#
        )
    };
    let routing = |keys: &str| {
        format!(r#""coordination": {{"escalation": {{"triggers": [], "routing": {{{keys}}}}}}}"#)
    };
    for (keys, rule, message, underlined) in [
        (handoff(r#""ful""#), "invalid-value", "`ful` is not a valid `history`", "ful"),
        (
            handoff("5"),
            "invalid-value",
            "`history` must be a string or `{\"last_n\": …}`, not a number",
            "5",
        ),
        (
            handoff(r#"{"last_m": 5}"#),
            "unknown-field",
            "`last_m` is not a key of `history`",
            "last_m",
        ),
        (
            handoff(r#"{"last_n": -1}"#),
            "invalid-value",
            "`last_n` must be a whole number from 0 to 4294967295, not `-1`",
            "-1",
        ),
        (ttl(r#""30x""#), "invalid-value", "`30x` is not a valid `ttl`", "30x"),
        (
            routing(r#""qeue": "vip""#),
            "unknown-field",
            "`qeue` is not a key of the routing of an escalation",
            "qeue",
        ),
    ] {
        finds_in_agent(&keys, rule, message, underlined);
    }
    for keys in [
        handoff(r#""full""#),
        handoff(r#""auto""#),
        handoff(r#"{"last_n": 5}"#),
        ttl(r#""90d""#),
        ttl(r#""12 hours""#),
        ttl(r#""{{config.TTL}}""#),
        routing(r#""queue": "vip", "skills": ["x"]"#),
    ] {
        let (_, problems) = read_text(&agent(&keys));
        assert!(problems.is_empty(), "{keys}: {problems:#?}");
    }
}

#[test]
fn a_value_that_is_overwritten_unread_is_reported() {
    let sets = |all: &[(&str, &str)]| {
        let all: Vec<String> = all
            .iter()
            .map(|(variable, value)| {
                format!(r#"{{"variable": "{variable}", "expression": "{value}"}}"#)
            })
            .collect();
        all.join(", ")
    };
    let lists: [fn(&str) -> String; 2] = [
        |sets| format!(r#""on_start": {{"set": [{sets}]}}"#),
        |sets| {
            let typed = sets.replace("{\"variable\"", "{\"type\": \"set\", \"variable\"");
            format!(r#""on_start": {{"do": [{typed}]}}"#)
        },
    ];
    for list in lists {
        let keys = list(&sets(&[("k", "1"), ("j", "2"), ("k", "3")]));
        let (_, problems) = read_text(&agent(&keys));
        let [problem] = problems.as_slice() else { panic!("{keys}: {problems:#?}") };
        assert_eq!((problem.rule.0, &*problem.message), ("duplicate-field", "`k` is set twice"));
        for right in [
            &[("k", "1"), ("j", "k"), ("k", "3")][..],
            &[("k", "1"), ("k", "k + 1")],
            &[("k.a", "1"), ("k.b", "1")],
        ] {
            let keys = list(&sets(right));
            assert!(read_text(&agent(&keys)).1.is_empty(), "{keys}");
        }
    }
}
