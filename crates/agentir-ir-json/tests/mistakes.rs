//! Mistakes in a document: each is one finding, at its location, and reading goes on.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests end by panicking"
)]

mod common;

use agentir_lang_agent_script::dialect::AGENT_SCRIPT;
use common::{agent, finds, finds_in_agent, read_text};

#[test]
fn wrong_types_are_reported_and_left_out() {
    let document = finds_in_agent(
        r#""tools": [{"name": "a", "parameters": 5}, {"name": "b"}]"#,
        "invalid-value",
        "`parameters` must be an array, not a number",
        "5",
    );
    assert_eq!(document.program.agents[0].tools.len(), 2);
    finds_in_agent(
        r#""gather": {"fields": [{"name": "x", "required": "yes"}]}"#,
        "invalid-value",
        "`required` must be `true` or `false`, not a string",
        r#""yes""#,
    );
    finds_in_agent(
        r#""use_tools": null"#,
        "invalid-value",
        "`use_tools` must be an array, not `null`",
        "null",
    );
    finds_in_agent(
        r#""hooks": [1]"#,
        "invalid-value",
        "`hooks` must be an object, not an array",
        "[",
    );
}

#[test]
fn unknown_words_are_reported_with_what_is_valid() {
    let text = agent(r#""gather": {"strategy": "patern"}"#);
    let message = "`patern` is not a valid `strategy`";
    let (_, problems) = read_text(&text);
    finds(&text, "invalid-value", message, "patern");
    assert_eq!(problems[0].help.as_deref(), Some("did you mean `pattern`?"));
    assert!(problems[0].note.as_ref().unwrap().contains("`hybrid`"));
    finds_in_agent(
        r#""coordination": {"handoffs": [{"to": "B", "decided_by": "nobody"}]}"#,
        "invalid-value",
        "`nobody` is not a valid `decided_by`",
        "nobody",
    );
    let text = r#"{"ir_version": "1.0", "metadata": {"name": "A", "dialect": "agent-scrip"}}"#;
    let message = "`agent-scrip` is not a valid `dialect`";
    let document = finds(text, "invalid-value", message, "agent-scrip");
    assert_eq!(document.program.agents[0].metadata.dialect, AGENT_SCRIPT);
}

#[test]
fn missing_keys_are_reported_in_their_object() {
    let document = finds_in_agent(
        r#""tools": [{"description": "x"}, {"name": "b"}]"#,
        "missing-field",
        "a tool must have the key `name`",
        "{",
    );
    assert_eq!(document.program.agents[0].tools.len(), 1);
    finds_in_agent(
        r#""on_start": {"do": [{"variables": ["x"]}]}"#,
        "missing-field",
        "a statement must have the key `type`",
        "{",
    );
    finds_in_agent(
        r#""on_start": {"success_when": "x"}"#,
        "missing-field",
        "`success_when` has no effect without `call`",
        "success_when",
    );
}

#[test]
fn unknown_keys_are_warned_of() {
    let text = agent(r#""tools": [{"name": "a", "discription": "x"}]"#);
    let message = "`discription` is not a key of a tool";
    finds(&text, "unknown-field", message, "discription");
    let (_, problems) = read_text(&text);
    assert_eq!(problems[0].help.as_deref(), Some("did you mean `description`?"));
    finds_in_agent(
        r#""vendor": 1"#,
        "unknown-field",
        "`vendor` is not a key of an agent",
        "vendor",
    );
    // Data of one's own.
    let (document, problems) = read_text(&agent(r#""extensions": {"vendor": {"a": [1, null]}}"#));
    assert!(problems.is_empty());
    assert!(document.program.agents[0].extensions.0["vendor"].contains_key("a"));
}

#[test]
fn duplicate_and_conflicting_keys_are_reported() {
    finds_in_agent(
        r#""tools": [], "tools": [{"name": "a"}]"#,
        "duplicate-field",
        "this object has the key `tools` twice",
        "tools",
    );
    finds_in_agent(
        r#""flow": {"definitions": {"a": {"name": "b"}}}"#,
        "conflicting-fields",
        "the step `a` is called `b`",
        "b",
    );
    finds_in_agent(
        r#""on_start": {"do": [], "then": "COMPLETE"}"#,
        "conflicting-fields",
        "`then` must not be beside `do`, and is ignored",
        "then",
    );
    finds_in_agent(
        r#""on_start": {"call": "a", "call_spec": {"tool": "b"}}"#,
        "conflicting-fields",
        "`call` says `a`, and `call_spec` says `b`",
        "a",
    );
}

#[test]
fn notations_are_checked_inside_strings() {
    finds_in_agent(
        r#""flow": {"definitions": {"a": {"check": "x \u003d= \"a\" AND"}}}"#,
        "invalid-expression",
        "this condition cannot be parsed: expected a value at the end",
        "",
    );
    finds_in_agent(
        r#""on_start": {"set": [{"variable": "x", "expression": "\"é\" + 1 2"}]}"#,
        "invalid-expression",
        "this expression cannot be parsed: expected an operator, found `2`",
        "2",
    );
    finds_in_agent(
        r#""on_start": {"set": [{"variable": "1x", "expression": "1"}]}"#,
        "invalid-expression",
        "this variable cannot be parsed: expected a name, found `1`",
        "1",
    );
    finds_in_agent(
        r#""tools": [{"name": "a", "returns": {"type": "{x: }"}}]"#,
        "invalid-expression",
        "this type cannot be parsed: expected a type, found `}`",
        "}",
    );
    finds_in_agent(r#""on_start": {"then": " "}"#, "invalid-value", "`then` names no target", " ");
}

#[test]
fn words_for_the_model_need_no_mark_unless_they_could_be_an_expression() {
    let is_expression = |when: &str| {
        let handoff = format!(r#""coordination": {{"handoffs": [{{"to": "B", "when": {when}}}]}}"#);
        let (document, problems) = read_text(&agent(&handoff));
        assert!(problems.is_empty(), "{problems:#?}");
        let handoff = document.program.agents[0].coordination.handoffs[0].clone();
        handoff.when.unwrap().expr().is_some()
    };
    assert!(!is_expression(r#""the user wants a refund""#));
    assert!(!is_expression(r#"{"natural": "refund"}"#));
    assert!(is_expression(r#""refund""#));
    assert!(is_expression(r#""intent == \"refund\"""#));
}

#[test]
fn versions_that_are_not_read_are_refused_by_name() {
    let text = r#"{"version": "9.1", "agents": {}}"#;
    let document = finds(text, "invalid-value", "version `9.1` of AgentIR is not supported", "9.1");
    assert!(document.stopped.is_some());
    let text = r#"{"agents": {}}"#;
    let message = "this document does not say its version: the key `version` is missing";
    finds(text, "missing-field", message, "{");
    let text = r#"{"metadata": {}, "ir_version": 1}"#;
    finds(text, "invalid-value", "`ir_version` must be a string with the version of AgentIR", "1");
    finds("[]", "syntax-error", "this JSON is not AgentIR", "");
}

#[test]
fn deep_documents_are_refused() {
    let mut body = String::from("{}");
    for _ in 0..70 {
        body = format!(r#"{{"branches": [{body}]}}"#);
    }
    let (document, problems) = read_text(&agent(&format!(r#""on_start": {body}"#)));
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(problems[0].rule.0, "nesting-too-deep");
    assert!(document.stopped.is_some());
    for (open, close) in [("(", ")"), ("NOT ", ""), ("- ", ""), ("[", "]"), ("f(", ")")] {
        let text = format!("{}x{}", open.repeat(5000), close.repeat(5000));
        let set =
            format!(r#""on_start": {{"set": [{{"variable": "x", "expression": "{text}"}}]}}"#);
        let (_, problems) = read_text(&agent(&set));
        assert_eq!(problems.len(), 1, "{open}");
        assert_eq!(problems[0].rule.0, "expression-too-deep", "{open}: {:#?}", problems[0]);
    }
}

#[test]
fn origins_are_recorded_for_their_objects() {
    let text = agent(r#""tools": [{"name": "a", "origin": {"file": "a.flow", "line": 3}}]"#);
    let (document, problems) = read_text(&text);
    assert!(problems.is_empty(), "{problems:#?}");
    let [origin] = document.origins.as_slice() else { panic!("{:?}", document.origins) };
    assert_eq!(origin.shown(), "a.flow:3");
    assert!(text[origin.element.range()].starts_with(r#"{"name": "a""#));
}

#[test]
fn values_have_their_locations() {
    let text = agent(r#""on_start": {"respond": "a\n{{user.name}}", "then": "HANDOFF Bob"}"#);
    let (document, _) = read_text(&text);
    let shown = format!("{:#?}", document.program.agents[0].on_start);
    for part in ["{{user.name}}", "user.name"] {
        let at = text.rfind(part).unwrap();
        let place = format!("0:{at}..{}", at + part.len());
        assert!(shown.contains(&place), "{part} at {place}: {shown}");
    }
}

#[test]
fn declarations_that_repeat_nothing_are_reported() {
    finds_in_agent(
        r#""coordination": {"handoffs": [{"to": "Desk", "repeats_binding": true}]}"#,
        "conflicting-fields",
        "no tool of the model under `reasoning.bindings` hands over to `Desk`",
        r#"{"to": "Desk", "repeats_binding": true}"#,
    );
    let (document, problems) = read_text(&agent(
        r#""reasoning": {"bindings": [{"name": "go", "does": "handoff", "to": "Desk"}]},
           "coordination": {"handoffs": [{"to": "Desk", "repeats_binding": true}, {"to": "Desk"}]}"#,
    ));
    assert!(problems.is_empty(), "{problems:?}");
    let agent = &document.program.agents[0];
    let handoffs = &agent.coordination.handoffs;
    assert_eq!(handoffs[0].span, agent.reasoning.as_ref().unwrap().bindings[0].span);
    assert!(handoffs[0].repeats_binding && !handoffs[1].repeats_binding);
}

#[test]
fn the_key_of_an_object_belongs_to_it() {
    let text = agent(
        r#""flow": {"origin": {"file": "a", "line": 2}, "definitions": {"s": {"origin": {"file": "a", "line": 3}}}},
           "templates": {"t": {"origin": {"file": "a", "line": 4}}}"#,
    );
    let (document, problems) = read_text(&text);
    assert!(problems.is_empty(), "{problems:#?}");
    for (line, key) in [(2, "flow\""), (3, "s\""), (4, "t\"")] {
        let origin = document.origins.iter().find(|origin| origin.line == Some(line)).unwrap();
        assert!(text[origin.element.range()].starts_with(key), "{origin:?}");
    }
}

#[test]
fn origins_are_known_where_a_required_key_is_missing() {
    let origin = r#""origin": {"file": "a.flow"}"#;
    for (keys, message) in [
        (format!(r#""tools": [{{{origin}}}]"#), "a tool must have the key `name`"),
        (
            format!(r#""on_start": {{"do": [{{"type": "other", "keyword": "x", {origin}}}]}}"#),
            "a statement must have the key `value`",
        ),
    ] {
        finds_in_agent(&keys, "missing-field", message, "{");
    }
}

#[test]
fn conditions_that_could_not_be_read_never_hold() {
    for wrong in
        ["5", "[]", "{}", "true", r#"{"natural": 5}"#, r#""a ==""#, r#"{"natural": "a", "b": 1}"#]
    {
        let keys = format!(
            r#""flow": {{"definitions": {{"s": {{"when": {wrong}}}}}}},
               "coordination": {{"handoffs": [{{"to": "B", "when": {wrong}}}]}},
               "on_start": {{"branches": [{{"condition": {wrong}}}]}},
               "gather": {{"fields": [{{"name": "x", "activation": {{"when": {wrong}}}}}]}},
               "constraints": {{"constraints": [{{"condition": {wrong}, "applies_when": {wrong}}}]}}"#
        );
        let (document, problems) = read_text(&agent(&keys));
        assert_eq!(problems.len(), 6, "{wrong}: {problems:#?}");
        let shown = format!("{:?}", document.program.agents[0]);
        assert_eq!(shown.matches("kind: Invalid").count(), 6, "{wrong}: {shown}");
    }
    // Nothing stands for the absence of a condition as well.
    let (document, problems) =
        read_text(&agent(r#""on_start": {"branches": [{"condition": null}]}"#));
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(!format!("{:?}", document.program.agents[0]).contains("Invalid"));
}

#[test]
fn checks_that_could_not_be_read_are_not_absent() {
    for wrong in ["5", r#""a ==""#] {
        let keys = format!(
            r#""constraints": {{"guardrails": [{{"name": "g", "kind": "input", "action": {{"type": "block"}}, "check": {wrong}}}]}}"#
        );
        let (document, problems) = read_text(&agent(&keys));
        assert_eq!(problems.len(), 1, "{problems:#?}");
        let [guardrail] = document.program.agents[0].constraints.guardrails.as_slice() else {
            panic!()
        };
        assert!(guardrail.check.is_some());
        assert_eq!(guardrail.tier, "local");
    }
}

#[test]
fn a_required_key_that_is_misspelled_is_one_mistake() {
    let text = agent(r#""tools": [{"nam": "t"}]"#);
    let document = finds(&text, "unknown-field", "`nam` is not a key of a tool", "nam");
    assert_eq!(document.gaps.len(), 1);
    let (_, problems) = read_text(&text);
    assert_eq!(problems[0].help.as_deref(), Some("did you mean `name`?"));
    assert_eq!(problems[0].severity, agentir_diagnostics::Severity::Error);
}

#[test]
fn names_of_agents_must_be_the_same_and_not_empty() {
    let program = |key: &str, name: &str| {
        format!(
            r#"{{"version": "1.0", "agents": {{"{key}": {{"metadata": {{"name": "{name}", "dialect": "abl"}}}}}}}}"#
        )
    };
    finds(&program("A", "B"), "conflicting-fields", "the agent `A` is called `B`", "B");
    let message = "the name of an agent must not be empty";
    finds(&program("A", ""), "invalid-value", message, "");
    finds(&program("", ""), "invalid-value", message, "");
    let text = r#"{"ir_version": "1.0", "metadata": {"name": " ", "dialect": "abl"}}"#;
    finds(text, "invalid-value", message, " ");
}

#[test]
fn what_is_not_json_is_refused() {
    for (raw, name) in [("\n", "a line break"), ("\t", "a tab"), ("\u{1}", "a control character")] {
        let text = agent(&format!(r#""identity": {{"goal": "a\\\"{raw}"}}"#));
        let message = format!("invalid JSON: a string must not contain {name}");
        let document = finds(&text, "syntax-error", &message, raw);
        assert!(document.stopped.is_some());
    }
    let (_, problems) = read_text(&agent(r#""identity": {"goal": "\ud800"}"#));
    assert!(problems[0].message.contains("half of a character"), "{problems:#?}");
    // White space between values is none of a string.
    assert!(read_text(&agent("\"tools\":\n\t[]\r\n")).1.is_empty());
}

#[test]
fn messages_name_what_is_wrong() {
    finds_in_agent(
        r#""tools": [null]"#,
        "invalid-value",
        "an item of `tools` must be an object, not `null`",
        "null",
    );
    let line = |line: &str| format!(r#""origin": {{"file": "a", "line": {line}}}"#);
    let range = "a whole number from 1 to 4294967295";
    for wrong in ["-1", "0", "4294967296", "1.5"] {
        let message = format!("`line` must be {range}, not `{wrong}`");
        finds_in_agent(&line(wrong), "invalid-value", &message, wrong);
    }
    assert!(read_text(&agent(&line("3.0"))).1.is_empty());
    let text = r#"{"ir_version": "1.0", "metadata": {"dialect": "abl"}}"#;
    finds(text, "missing-field", "the metadata must have the key `name`", "{");
    let (_, problems) = read_text(r#"{"ir_version": 1.0, "metadata": {}}"#);
    assert_eq!(problems[0].help.as_deref(), Some("write it in quotes: `\"1.0\"`"));
}

#[test]
fn numbers_that_are_not_kept_are_reported() {
    for number in [
        "123456789012345678901234567890",
        "1e-400",
        "9007199254740993.0",
        "0.1234567890123456789012",
    ] {
        let (_, problems) =
            read_text(&agent(&format!(r#""extensions": {{"me": {{"k": {number}}}}}"#)));
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(problems[0].message.starts_with(&format!("the number `{number}` is kept as")));
    }
    let kept = r#""extensions": {"me": {"k": [226.46658325195312, 226.46658325195313, 646.7966918945312, 646.7966918945313, 0.10000000000000001, 1e20, 100000000000000000000, 0, -0.0, 0e9, 1.50, 0.1, 1e23, 1.25e-7, 100.0, 0.30000000000000004, -9223372036854775808, 18446744073709551615]}}"#;
    assert!(read_text(&agent(kept)).1.is_empty());
}

#[test]
fn versions_of_agents_are_refused_by_name() {
    let text = r#"{"version": "1.0", "agents": {"A": {"ir_version": "3.0", "metadata": {"name": "A", "dialect": "abl"}}}}"#;
    let document = finds(text, "invalid-value", "version `3.0` of AgentIR is not supported", "3.0");
    assert!(document.stopped.is_some() && document.program.agents.is_empty());
}

#[test]
fn misspelled_words_of_conditions_are_one_mistake() {
    let text = agent(r#""flow": {"definitions": {"s": {"when": {"naturl": "they ask"}}}}"#);
    finds(&text, "unknown-field", "`naturl` is not a key of a condition", "naturl");
    let (_, problems) = read_text(&text);
    assert_eq!(problems[0].help.as_deref(), Some("did you mean `natural`?"));
}

#[test]
fn agent_ir_is_recognised_without_a_name() {
    let text = agent("");
    assert!(agentir_ir_json::is_agent_ir("<stdin>", &text));
    assert!(!agentir_ir_json::is_agent_ir("a.agent.abl", &text));
    assert!(!agentir_ir_json::is_agent_ir("<stdin>", "AGENT: A\n"));
}

#[test]
fn references_of_another_notation_are_reported() {
    let document = finds_in_agent(
        r#""on_start": {"set": [{"variable": "y", "expression": "@variables.x.z + 1"}]}"#,
        "invalid-expression",
        "`@variables.x.z` is no reference of ABL, which has no namespaces",
        "@variables.x.z",
    );
    // What is meant is read.
    assert!(!format!("{:?}", document.program.agents[0].on_start).contains('@'));
    finds_in_agent(
        r#""on_start": {"set": [{"variable": "@variables.y", "expression": "1"}]}"#,
        "invalid-expression",
        "`@variables.y` is no reference of ABL, which has no namespaces",
        "@variables.y",
    );
    finds_in_agent(
        r#""on_start": {"branches": [{"condition": "@variables.x > 3", "then": "COMPLETE"}]}"#,
        "invalid-expression",
        "`@variables.x` is no reference of ABL, which has no namespaces",
        "@variables.x",
    );
    finds_in_agent(
        r#""on_start": {"respond": "a {{@variables.x}}"}"#,
        "invalid-expression",
        "`@variables.x` is no reference of ABL, which has no namespaces",
        "@variables.x",
    );
    finds_in_agent(
        r#""on_start": {"respond": "a {!@variables.x}"}"#,
        "invalid-template",
        "`{!@…}` is a placeholder of Agent Script",
        "{!@",
    );
    // Counters of blocks are no namespaces.
    let (_, problems) =
        read_text(&agent(r#""on_start": {"respond": "{{#each a}}{{@index}}{{/each}}"}"#));
    assert!(problems.is_empty(), "{problems:#?}");
    let script = r#"{"ir_version": "1.0", "metadata": {"name": "A", "dialect": "agent-script"},
        "on_start": {"respond": "{!@variables.x}", "set": [{"variable": "@variables.x", "expression": "@variables.y"}]}}"#;
    assert!(read_text(script).1.is_empty());
}

#[test]
fn names_that_may_occur_once_are_reported() {
    finds_in_agent(
        r#""on_start": {"call_spec": {"tool": "t", "with": [{"name": "q", "value": "1"}, {"value": "2"}, {"name": "q", "value": "3"}]}}"#,
        "duplicate-field",
        "the argument `q` is given twice",
        "q",
    );
    finds_in_agent(
        r#""tools": [{"name": "t", "parameters": [{"name": "q"}, {"name": "q"}]}]"#,
        "duplicate-field",
        "the parameter `q` is declared twice",
        "q",
    );
    finds_in_agent(
        r#""reasoning": {"bindings": [{"name": "f", "does": "call", "tool": "t", "with": [{"name": "q"}, {"name": "q"}]}]}"#,
        "duplicate-field",
        "the input `q` is bound twice",
        "q",
    );
}

#[test]
fn reactions_need_what_they_lead_to() {
    for (kind, key) in
        [("goto_step", "then_step"), ("handoff", "target"), ("collect_field", "collect_fields")]
    {
        let failure = |more: &str| {
            format!(
                r#""constraints": {{"constraints": [{{"condition": "x > 1", "on_fail": {{"type": "{kind}"{more}}}}}]}}"#
            )
        };
        let message = format!("a failure of this type must have the key `{key}`");
        finds_in_agent(&failure(""), "missing-field", &message, kind);
        let value = if key == "collect_fields" { r#"["x"]"# } else { r#""x""# };
        let (_, problems) = read_text(&agent(&failure(&format!(r#", "{key}": {value}"#))));
        assert!(problems.is_empty(), "{problems:#?}");
        // A value that is wrong is one mistake.
        if key != "collect_fields" {
            let (_, problems) = read_text(&agent(&failure(&format!(r#", "{key}": 5"#))));
            assert_eq!(problems.len(), 1, "{problems:#?}");
        }
    }
    for word in ["HANDOFF", "DELEGATE"] {
        let message = format!("`{word}` names no agent");
        finds_in_agent(
            &format!(r#""on_start": {{"then": "{word}"}}"#),
            "invalid-value",
            &message,
            word,
        );
        finds_in_agent(
            &format!(r#""on_start": {{"do": [{{"type": "goto", "then": "{word}"}}]}}"#),
            "invalid-value",
            &message,
            word,
        );
    }
    let message = "`then` names no target";
    finds_in_agent(r#""on_start": {"then": "STEP "}"#, "invalid-value", message, "STEP ");
}

#[test]
fn constraints_that_should_hold_only_warn() {
    let constraint = |keys: &str| {
        agent(&format!(
            r#""constraints": {{"constraints": [{{"condition": "x > 1", "kind": "warn"{keys}}}]}}"#
        ))
    };
    let (document, problems) = read_text(&constraint(""));
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(document.program.agents[0].constraints.constraints[0].severity, Some("warning"));
    finds(
        &constraint(r#", "severity": "error""#),
        "conflicting-fields",
        "a constraint of the kind `warn` has the severity `warning`",
        "severity",
    );
}

#[test]
fn limits_are_numbers_durations_or_configuration() {
    for wrong in ["ten", "2x", "5 apples", "", "1e999", "10"] {
        finds_in_agent(
            &format!(r#""execution": {{"max_iterations": "{wrong}"}}"#),
            "invalid-value",
            &format!("`{wrong}` is not a valid `max_iterations`"),
            wrong,
        );
    }
    for right in ["10", r#""15s""#, r#""250ms""#, r#""{{config.MOST}}""#] {
        let text = agent(&format!(r#""execution": {{"max_iterations": {right}}}"#));
        let (document, problems) = read_text(&text);
        assert!(problems.is_empty(), "{problems:#?}");
        assert!(document.program.agents[0].execution.max_iterations.is_some());
    }
}

#[test]
fn empty_names_are_reported() {
    for (keys, what) in [
        (r#""tools": [{"name": ""}]"#, "a tool"),
        (r#""tools": [{"name": "t", "parameters": [{"name": " "}]}]"#, "a parameter"),
        (r#""gather": {"fields": [{"name": ""}]}"#, "a gather field"),
        (r#""memory": {"session": [{"name": ""}]}"#, "a session variable"),
    ] {
        let (_, problems) = read_text(&agent(keys));
        let [problem] = problems.as_slice() else { panic!("{keys}: {problems:#?}") };
        assert_eq!(problem.message, format!("`name` of {what} must not be empty"));
    }
    let message = "the name of a step must not be empty";
    finds_in_agent(r#""flow": {"definitions": {"": {}}}"#, "invalid-value", message, "");
}

#[test]
fn a_program_has_agents_and_begins_at_one() {
    let program = |rest: &str, agents: &str| {
        format!(r#"{{"version": "1.0", {rest} "agents": {{{agents}}}}}"#)
    };
    let one = r#""Desk": {"metadata": {"name": "Desk", "dialect": "abl"}}"#;
    for complete in ["", r#""complete": true,"#, r#""complete": false,"#] {
        let text = program(&format!(r#"{complete} "entry_agent": "Dsk","#), one);
        let message = "the entry agent `Dsk` is not one of `agents`";
        let document = finds(&text, "invalid-value", message, "Dsk");
        assert!(!document.gaps.is_empty());
    }
    finds(&program("", ""), "missing-field", "the program has no agents", "{");
    // One that could not be read is there.
    let text = program(r#""entry_agent": "Desk","#, r#""Desk": 5"#);
    finds(&text, "invalid-value", "`Desk` must be an object, not a number", "5");
}

/// Only where objects or arrays could not be read, names may be defined that are missing.
#[test]
fn a_wrong_value_leaves_no_gap() {
    for keys in [
        r#""origin": {"file": "a", "line": 0}"#,
        r#""origin": 5"#,
        r#""execution": {"temperature": "hot"}"#,
        r#""execution": {"max_iterations": -1}"#,
        r#""identity": {"persona": 5}"#,
        r#""gather": {"fields": [{"name": "a", "infer_confidence": 3}]}"#,
        r#""gather": {"fields": [{"name": "a", "strategy": "guess"}]}"#,
        r#""use_tools": [5]"#,
        r#""tools": [{"name": "t"}, {"name": "t", "description": 5}]"#,
    ] {
        let (document, problems) = read_text(&agent(keys));
        assert_eq!(problems.len(), 1, "{keys}: {problems:#?}");
        assert!(document.gaps.is_empty(), "{keys}: {:?}", document.gaps);
    }
    for keys in [
        r#""memory": 5"#,
        r#""memory": {"session": {}}"#,
        r#""memory": {"session": ["x"]}"#,
        r#""memory": {"session": [{"name": 5}]}"#,
        r#""tools": [{"description": "d"}]"#,
        r#""tools": [], "tools": []"#,
        r#""flow": {"definitions": {"s": {"do": [{"type": "clal"}]}}}"#,
    ] {
        let (document, problems) = read_text(&agent(keys));
        assert!(!problems.is_empty() && !document.gaps.is_empty(), "{keys}: {problems:#?}");
    }
}

#[test]
fn types_that_do_not_parse_are_reported() {
    let typed = |ty: &str| {
        let ty = serde_json::to_string(ty).unwrap();
        agent(&format!(
            r#""tools": [{{"name": "t", "parameters": [{{"name": "p", "type": {ty}}}]}}]"#
        ))
    };
    for ty in [
        "string[",
        "string]",
        "[string",
        "a b c",
        "int|",
        "|int",
        "int||str",
        "Foo<Bar",
        "Foo>",
        "5",
        "f(a",
        "list[a)",
        "\"a",
        "",
        " ",
        "{a: 5}",
        "{a: b c}",
        "list[string] x",
        "-",
        "?",
    ] {
        let text = typed(ty);
        let (_, problems) = read_text(&text);
        let [problem] = problems.as_slice() else { panic!("{ty}: {problems:#?}") };
        assert_eq!(problem.rule.0, "invalid-expression", "{ty}");
        let at = text.find(r#""type": ""#).unwrap() + r#""type": ""#.len();
        let span = problem.primary.span.range();
        assert!(span.start >= at && span.end <= text.len() - 5, "{ty}: {span:?}");
    }
    for ty in [
        "string",
        "string[]",
        "string[][]",
        "list[string]",
        "dict[str, list[int]]",
        "int | None",
        "Optional[int]",
        "Map<string, number>[]",
        "Literal[\"a\", \"b]\"]",
        "\"a\" | \"b\"",
        "{a: string, b?: {c: number[]}}",
        "order.Line",
        "lightning__textType",
        "@apexClassType/c__Order$Item",
        "größe",
    ] {
        let (document, problems) = read_text(&typed(ty));
        assert!(problems.is_empty(), "{ty}: {problems:#?}");
        let read = document.program.agents[0].tools[0].parameters[0].ty.clone().unwrap();
        assert_eq!(read.to_string(), ty);
    }
}

#[test]
fn types_of_fields_and_words_for_conditions_are_checked() {
    let message = "`strng` is not a valid `type`";
    let field = r#""gather": {"fields": [{"name": "a", "type": "strng"}]}"#;
    finds_in_agent(field, "invalid-value", message, "strng");
    let (_, problems) = read_text(&agent(field));
    assert_eq!(problems[0].help.as_deref(), Some("did you mean `string`?"));
    // Where the language has no list of types, any name may be one.
    assert!(read_text(&agent(field).replace("\"abl\"", "\"agent-script\"")).1.is_empty());
    for words in ["", " "] {
        let when = format!(
            r#""coordination": {{"handoffs": [{{"to": "B", "when": {{"natural": "{words}"}}}}]}}"#
        );
        finds_in_agent(
            &when,
            "invalid-expression",
            "`natural` must not be empty",
            &format!("\"{words}\""),
        );
    }
}

/// Mistakes in texts, conditions and rules, which parsers of embedded languages find, count as others do.
#[test]
fn the_mistakes_of_a_document_are_limited() {
    let tools = |texts: &str| -> String {
        let all = (0..50_050).map(|n| format!(r#"{{"name": "t{n}", "description": "{texts}"}}"#));
        all.collect::<Vec<_>>().join(",")
    };
    let text = agent(&format!(r#""tools": [{}]"#, tools("{{1 +}} and {{2 *}}")));
    let (_, problems) = read_text(&text);
    assert_eq!(problems.len(), 100_001);
    let last = &problems.last().unwrap().message;
    assert_eq!(last, "more than 100000 mistakes: the others are not listed");
}
