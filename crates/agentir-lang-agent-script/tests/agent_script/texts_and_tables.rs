//! Templates, actions, the tables and the dialects (specification part I, 6 and 7, part II).

use super::*;

// ---- 6. Templates --------------------------------------------------------------------------------

fn instructions(text: &str) -> (String, usize) {
    let document = parse_ok(text);
    let template: &Template<'_> =
        document.root.record("system").unwrap().text("instructions").unwrap();
    (template.text(), template.placeholders.len())
}

#[test]
fn template_text() {
    for (text, expected) in [
        ("system:\n  instructions: \"a\\n{!@a.b}\"\n", "a\n{!@a.b}"),
        ("system:\n  instructions: |\n    One\n      Two\n\n    Three\n", "One\n  Two\n\nThree"),
        ("system:\n  instructions:|\n    One\n", "One"),
        ("system:\n  instructions: | One\n    Two\n", "One\nTwo"),
        ("system:\n  instructions: |\n\n\n    One\n", "\nOne"),
        (
            "system:\n  instructions: |\n    One\n   Two\n  strip_salesforce_instructions: True\n",
            " One\nTwo",
        ),
        ("system:\n  instructions: |\n      {!@a.b} x\n        {!@c.d}\n", "{!@a.b} x\n  {!@c.d}"),
        (
            "system:\n  instructions: |\n    # One\n  # no text\n    Two # three\n",
            "# One\nTwo # three",
        ),
        ("system:\n  instructions: |\n", ""),
    ] {
        assert_eq!(instructions(text).0, expected, "{text}");
    }
}

#[test]
fn prompt_lines_are_dedented_by_the_bar() {
    let text = prompt("| One\n  Two\n    Three\n|Four\n| ");
    let document = parse_ok(&text);
    let texts: Vec<_> = steps(&document)
        .statements
        .iter()
        .map(|s| match &s.kind {
            StatementKind::Template(t) => t.text(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["One\nTwo\n  Three", "Four", ""]);
}

#[test]
fn placeholders() {
    let text = "system:\n  instructions: |\n    Hi {!@a.name}, {! @a.n + 1 } of {!len(@a.l)} {!\"}\" if @a.b else {}}\n";
    let document = parse_ok(text);
    let template = document.root.record("system").unwrap().text("instructions").unwrap();
    assert_eq!(template.placeholders.len(), 4);
    let second = &template.placeholders[1];
    assert_eq!(&text[second.span.range()], "{! @a.n + 1 }");
    let expr = second.expr.as_ref().unwrap();
    assert_eq!(&text[expr.span.range()], "@a.n + 1");
    assert!(matches!(template.segments()[0], Segment::Text(ref t) if t == "Hi "));
}

#[test]
fn placeholders_in_strings_of_expressions() {
    let set = |line: &str| {
        let text = prompt(&format!("set @variables.x = {line}"));
        let document = parse_ok(&text);
        let StatementKind::Set { value, .. } = &steps(&document).statements[0].kind else {
            panic!()
        };
        value.to_string()
    };
    assert_eq!(set("\"Turn {!@a.n}!\""), "\"Turn \" + @a.n + \"!\"");
    // A placeholder alone is still a text.
    assert_eq!(set("\"{!@a.n}\""), "\"\" + @a.n");
    assert_eq!(set("\"Turn {@a.n}\""), "\"Turn {@a.n}\"");
    let (_, problems) = read(&prompt("set @variables.x = \"Turn {!@a.n +}\""));
    assert_eq!(problems.len(), 1, "{problems:?}");
}

#[test]
fn unexpected_entries_stay_in_the_tree() {
    let text = "config:\n  role: \"x\"\n    deeper: 1\n- item\nset @a.b = 1\n";
    let (document, problems) = read(text);
    assert_eq!(problems.len(), 3, "{:?}", shown(text, &problems));
    let config = document.root.record("config").unwrap();
    assert_eq!(config.unknown[0].key.as_ref().unwrap().value, "deeper");
    assert_eq!(document.root.unknown.len(), 2);
}

#[test]
fn wrong_placeholders() {
    let one = |placeholder: &str| {
        diagnostics(&format!("system:\n  instructions: |\n    a {placeholder} b\n")).join("\n")
    };
    assert_eq!(
        one("{!}").split(" / ").next().unwrap(),
        "invalid-template: »{!}« this placeholder is empty"
    );
    assert_eq!(one("{!@a.b"), "invalid-template: »{!« this `{!` has no closing `}`");
    assert_eq!(one("{!@a.b +}"), "invalid-template: »+« expected a value after `+`");
    assert_eq!(
        one("{!@a}"),
        "invalid-template: »@a« `@a` is not a value by itself / write `@a.name`"
    );
    assert_eq!(one("{ x } {{y}} }"), "");
}

#[test]
fn constant_texts_take_no_template() {
    assert_eq!(
        diagnostics("subagent a:\n  description: \"d\"\n  label: |\n    x\n"),
        ["invalid-value: »|« `label` expects a quoted string, found text after `|`"]
    );
    assert_eq!(
        diagnostics("subagent a:\n  description: \"d\"\n  label: \"{!@a.b}\"\n"),
        ["invalid-value: »{!@a.b}« `label` expects a constant string without placeholders"]
    );
}

// ---- 7. Actions, and the tables ------------------------------------------------------------------

#[test]
fn actions() {
    let text = "subagent a:\n  description: \"d\"\n  actions:\n    Look:\n      description: \"x\"\n      target: \"flow://Look\"\n      inputs:\n        id: string\n          is_required: True\n        limit: number = 5\n        key: @variables.key\n      outputs:\n        items: list[object]\n          description: \"y\"\n";
    let document = parse_ok(text);
    let action = subagent(&document).records("actions").next().unwrap();
    assert_eq!(action.name.as_ref().unwrap().value, "Look");
    let inputs = action.declarations("inputs");
    assert_eq!(inputs[0].properties.bool("is_required"), Some(true));
    assert_eq!(inputs[1].value.as_ref().unwrap().to_string(), "5");
    assert!(inputs[2].ty.is_none() && inputs[2].value.is_some());
    assert_eq!(
        diagnostics(&text.replace("      target: \"flow://Look\"\n", "")),
        [
            "missing-field: »Look« the action `Look` has no `target` / add `target: \"…\"`, which names what executes it, such as `flow://Name`"
        ]
    );
}

#[test]
fn unknown_names() {
    assert_eq!(
        diagnostics("sytem:\n  instructions: \"x\"\n"),
        ["unknown-section: »sytem« `sytem` is not a block of agentforce / did you mean `system`?"]
    );
    assert_eq!(
        diagnostics("config:\n  agent_nmae: \"x\"\n"),
        [
            "unknown-field: »agent_nmae« `agent_nmae` is not a field of the config block / did you mean `agent_name`?"
        ]
    );
    assert_eq!(
        diagnostics("reasoning:\n  instructions: ->\n    if @a.b and:\n      | x\n"),
        [
            "unknown-section: »reasoning« `reasoning` is not a block of agentforce / `reasoning` is a field of a subagent",
            "invalid-expression: »:« expected a value after `and`, found `:` / a condition is written `if @variables.ready:`",
        ]
    );
    let (document, _) = read(
        "foo bar:\n  a: mutable string = \"\"\n  b: @utils.transition to @subagent.x\n  c:\n    - 1\n",
    );
    let unknown = &document.root.unknown[0];
    assert_eq!(unknown.name.as_ref().unwrap().value, "bar");
    let Data::Map(fields) = &unknown.data else { panic!("{unknown:?}") };
    assert!(matches!(&fields[0].data, Data::Declared(d, _) if d.value.is_some()));
    assert!(matches!(&fields[1].data, Data::Bound(_, targets, _) if targets.len() == 1));
    assert!(matches!(&fields[2].data, Data::List(items) if items.len() == 1));
}

#[test]
fn wrong_values() {
    let one = |line: &str| diagnostics(&format!("config:\n  {line}\n")).join("\n");
    assert_eq!(
        one("debug: \"True\""),
        "invalid-value: »\"True\"« `debug` expects `True` or `False` without quotes"
    );
    assert_eq!(one("debug: 1"), "invalid-value: »1« `debug` expects `True` or `False`, found `1`");
    assert_eq!(
        one("max_tokens: \"x\""),
        "invalid-value: »\"x\"« `max_tokens` expects a number, found a string"
    );
    assert_eq!(one("role: None"), "invalid-value: »None« `role` expects a string, found `None`");
    assert_eq!(
        one("role: Help desk"),
        "invalid-value: »Help desk« the value of `role` must be a quoted string / put it in double quotes"
    );
    assert_eq!(fixed("config:\n  role: Help desk\n"), "config:\n  role: \"Help desk\"\n");
    assert_eq!(one("role:"), "invalid-value: »role« `role` has no value / expected a string");
    assert_eq!(one("role: \"a\"\n  role: \"b\""), "duplicate-field: »role« duplicate `role`");
    assert_eq!(
        one("default_agent_user: None"),
        "deprecated-field: »default_agent_user« `default_agent_user` is deprecated / write `default_agent_user` in `access` instead"
    );
    assert_eq!(
        one("file_upload:\n    mode: \"manged\""),
        "invalid-value: »\"manged\"« `mode` cannot be `manged` / did you mean `\"managed\"`?"
    );
    assert_eq!(
        diagnostics("variables:\n  a: linked string\n    source: @foo.bar\n"),
        [
            "invalid-value: »@foo.bar« `source` cannot refer to `@foo` / it accepts members of `@MessagingSession`, `@MessagingEndUser` and `@VoiceCall`"
        ]
    );
    assert_eq!(
        diagnostics("modality voice:\n  outbound_speed: 3\n  anything: \"x\"\n"),
        ["invalid-value: »3« `outbound_speed` must be between 0.5 and 2"]
    );
    assert_eq!(
        diagnostics("connected_subagent a:\n  target: \"billing\"\n"),
        ["invalid-value: »\"billing\"« `target` must be an address such as `scheme://name`"]
    );
    assert_eq!(
        diagnostics("subagent a:\n  description: \"d\"\n    label: \"x\"\n"),
        [
            "invalid-value: »label« `description` does not take indented lines / indent this line like `description` if it is not part of it"
        ]
    );
    assert_eq!(
        diagnostics("subagent a:\n  description: \"d\"\n  parameters:\n    x: 1\n"),
        ["unknown-field: »parameters« `parameters` has no effect without `schema`"]
    );
    assert_eq!(
        diagnostics("topic a:\n  description: \"d\"\n"),
        ["deprecated-field: »topic« `topic` is deprecated / write `subagent` instead"]
    );
}

#[test]
fn connection_types() {
    let text = "connection messaging:\n  response_formats:\n    choices:\n      description: \"d\"\n      inputs:\n        options:\n          is_required: True\n          type: list\n            value: object\n              fields:\n                title: string\n                kind:\n                  type: string\n                    enum:\n                      - \"a\"\n                      - \"b\"\n";
    let document = parse_ok(text);
    let connection = document.root.records("connection").next().unwrap();
    let format = connection.records("response_formats").next().unwrap();
    let options = &format.declarations("inputs")[0];
    let Value::Type(list) = &options.properties.field("type").unwrap().value else { panic!() };
    assert_eq!(list.ty.name(), Some("list"));
    let Value::Type(value) = &list.properties.field("value").unwrap().value else { panic!() };
    assert_eq!(value.properties.declarations("fields").len(), 2);
}

// ---- Dialects ------------------------------------------------------------------------------------

#[test]
fn dialects_are_declared_given_or_detected() {
    let (document, _) = read_as("config:\n  role: \"x\"\n", None);
    assert_eq!(document.dialect, Dialect::Agentforce);
    let (document, problems) = read_as("config:\n  role: \"x\"\n", Some(Dialect::AgentScript));
    assert_eq!(document.dialect, Dialect::AgentScript);
    assert_eq!(problems.len(), 1);
    let (document, _) =
        read_as("# @dialect: AgentForce=3.1\nconfig:\n  role: \"x\"\n", Some(Dialect::AgentScript));
    assert_eq!(document.dialect, Dialect::Agentforce);
    assert_eq!(document.version.unwrap().value.to_string(), "3.1");
    let (document, _) = read("executor a:\n  do:\n    set @variables.x = 1\n");
    assert_eq!(document.dialect, Dialect::Agentfabric);
    assert_eq!(
        diagnostics("# @dialect: agentfroce\nconfig:\n  role: \"x\"\n"),
        ["unknown-dialect: »agentfroce« unknown dialect `agentfroce` / did you mean `agentforce`?"]
    );
}

#[test]
fn agentfabric() {
    let text = "# @dialect: agentfabric=1.0-BETA\nconfig:\n  agent_name: \"x\"\n  default_llm: @llm.a\nllm:\n  a:\n    target: \"llm://openai\"\n    kind: \"OpenAI\"\n    model: \"gpt\"\n    reasoning_effort: \"low\"\ntrigger t:\n  kind: \"a2a\"\n  target: \"brokers://bus/in\"\n  on_message: ->\n    transition to @router.r\nrouter r:\n  routes:\n    - target: @echo.e\n      when: @request.headers[\"X-Y\"] != \"\"\n      label: \"a\"\n  otherwise:\n    target: @echo.e\necho e:\n  kind: \"a2a:status_update_event\"\n  state: \"DONE\"\n  message: a2a.message({\n    parts: [\n      a2a.textPart(@echo.e.input)\n    ]\n  })\n";
    let document = parse_ok(text);
    let router = document.root.records("router").next().unwrap();
    assert_eq!(router.records("routes").count(), 1);
    assert_eq!(
        diagnostics(&text.replace("    transition to @router.r", "    set @variables.x = 1")),
        [
            "misplaced-statement: »set« expected `transition`, found `set` / write `transition to @kind.name`"
        ]
    );
    assert_eq!(
        diagnostics(&text.replace("OpenAI", "Gemini")),
        [
            "unknown-field: »reasoning_effort« `reasoning_effort` requires `kind: \"OpenAI\"`, not `\"Gemini\"`"
        ]
    );
    assert_eq!(
        diagnostics(&text.replace("brokers://bus/in", "brokers://bb")),
        [
            "invalid-value: »\"brokers://bb\"« `target` must be the address of a connection: `brokers://name/name`"
        ]
    );
}

#[test]
fn a_document_template_gets_one_diagnostic() {
    let text = "config:\n  agent_name: {{name}}\n  debug: {{#if x}}\n{{#each topics}}\nsubagent {{this}}:\n  description: {{d}}\n";
    assert_eq!(
        diagnostics(text),
        [
            "unfilled-placeholder: »{{name}}« the placeholder `{{name}}` is not filled in (and 4 more)"
        ]
    );
    assert!(read(text).0.placeholders);
    parse_ok("system:\n  instructions: \"say {{x}}\"\n");
}

#[test]
fn a_missing_colon_is_one_finding() {
    let with = |from: &str, to: &str| {
        let text = "system:\n  instructions: \"a\"\nvariables:\n  day: mutable string = \"\"\nstart_agent a:\n  description: \"d\"\n  reasoning:\n    instructions: ->\n      | b\n    actions:\n      look: @actions.look\n  actions:\n    look:\n      target: \"flow://look\"\n";
        assert!(text.contains(from), "{from}");
        diagnostics(&text.replacen(from, to, 1)).join("\n")
    };
    let missing = |key: &str| format!("syntax-error: »{key}« a `:` is missing after `{key}`");
    for (from, key) in [
        ("system:", "system"),
        ("instructions:", "instructions"),
        ("variables:", "variables"),
        ("day:", "day"),
        ("start_agent a:", "start_agent a"),
        ("description:", "description"),
        ("reasoning:", "reasoning"),
        ("instructions: ->", "instructions"),
        ("actions:\n      l", "actions"),
        ("look: @", "look"),
        ("actions:\n    l", "actions"),
        ("look:\n", "look"),
        ("target:", "target"),
    ] {
        assert_eq!(with(from, &from.replacen(':', "", 1)), missing(key));
    }
    assert_eq!(
        with("description: ", "description："),
        "syntax-error: »：« a full-width colon does not end a key / write `:`"
    );
    assert_eq!(with("system:", "sytem"), "syntax-error: »sytem« a `:` is missing after `sytem`");
}
