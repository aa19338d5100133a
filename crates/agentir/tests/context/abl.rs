//! ABL, in both notations.

use super::{Files, table};

const AGENT: &str = r#"AGENT: Lending_Desk
VERSION: "1.0"
GOAL: "Lend books to {{member_name}}"

MEMORY:
  session:
    - name: member_name
    - name: days
      type: number
  persistent:
    - PATH: user.favourite_author

TOOLS:
  find_copy(title: string, branch?: string) -> {copy_id: string, due_days: number}
    description: "Find a free copy"

GATHER:
  title:
    prompt: "Which book, {{member_name}}?"
    type: string
    required: true

CONSTRAINTS:
  lending:
    - REQUIRE days < 30
      ON_FAIL: "Too long"

FLOW:
  steps:
    - ask
    - lend
    - thanks

  ask:
    GATHER:
      - title
    THEN: lend

  lend:
    CALL: find_copy(title: title)
      AS: copy
    ON_SUCCESS:
      SET: days = copy.due_days + 1
      RESPOND: "Copy {{copy.copy_id}} is yours"
      THEN: thanks
    ON_FAIL:
      THEN: ask

  thanks:
    RESPOND: TEMPLATE(bye)
    THEN: COMPLETE

TEMPLATES:
  bye: "Bring it back in {{days}} days"

HANDOFF:
  - TO: Fines_Desk
    WHEN: days > 30
    CONTEXT:
      pass: [member_name, days]

COMPLETE:
  - WHEN: days == 0
    RESPOND: "Bye"
"#;

const FINES: &str = "AGENT: Fines_Desk\nGOAL: \"Collect fines\"\n";

const NATIVE: Files<'_> = Files {
    name: "library/agents/lending_desk.agent.abl",
    text: AGENT,
    others: &[
        ("library/agents/fines_desk.agent.abl", FINES),
        ("library/project.json", "{\"entry_agent\": \"Lending_Desk\"}"),
    ],
};

const YAML_AGENT: &str = r#"agent: Lending_Desk
goal: "Lend books to {{member_name}}"

memory:
  session:
    - name: member_name
    - name: days
      type: number

tools:
  - name: find_copy
    description: "Find a free copy"
    parameters:
      - name: title
        type: string
    returns:
      type: object
      fields:
        copy_id: string

flow:
  entry_point: ask
  steps: [ask, thanks]

  ask:
    gather:
      - title
    then: thanks

  thanks:
    respond: "Bye, {{member_name}}"
    then: COMPLETE

complete:
  - when: days == 0
    respond: "Bye"
"#;

const YAML: Files<'_> = Files { name: "lending_desk.agent.yaml", text: YAML_AGENT, others: &[] };

#[test]
fn keys() {
    insta::assert_snapshot!(table(
        NATIVE,
        &[
            ("VERSION: \"1.0\"", "<|>"),
            ("VERSION: \"1.0\"", "VER<|>"),
            ("VERSION: \"1.0\"", "VERS<|>ION: \"1.0\""),
            ("    type: string\n", "    type: string\n    <|>\n"),
            ("    type: string\n", "    ty<|>: string\n"),
            ("    - name: days\n      type: number", "    - <|>"),
            ("    - name: days\n      type: number", "    - name: days\n      <|>"),
            ("    THEN: lend\n", "    <|>\n"),
            ("    THEN: lend\n", "    TH<|>\n"),
            ("      THEN: thanks\n", "      <|>\n"),
            ("      AS: copy\n", "      <|>\n"),
            ("    CONTEXT:\n", "    CONTEXT:\n      <|>\n"),
            ("    WHEN: days > 30\n", "    <|>\n"),
            ("  lending:\n", "  lending:\n    - <|>\n"),
            ("    description: \"Find a free copy\"", "    <|>"),
        ]
    ));
}

#[test]
fn values() {
    insta::assert_snapshot!(table(
        NATIVE,
        &[
            ("    THEN: lend\n", "    THEN: <|>\n"),
            ("    THEN: lend\n", "    THEN: l<|>\n"),
            ("    THEN: COMPLETE", "    THEN: HANDOFF <|>"),
            ("required: true", "required: <|>"),
            ("    type: string\n", "    type: <|>\n"),
            ("TO: Fines_Desk", "TO: <|>"),
            ("pass: [member_name, days]", "pass: [member_name, <|>]"),
            ("CALL: find_copy(title: title)", "CALL: <|>"),
            ("find_copy(title: title)", "find_copy(<|>)"),
            ("find_copy(title: title)", "find_copy(title: <|>)"),
            ("TEMPLATE(bye)", "TEMPLATE(<|>"),
            ("      - title\n", "      - <|>\n"),
            ("    - lend\n", "    - <|>\n"),
            ("SET: days = copy.due_days + 1", "SET: <|>"),
            ("      type: number\n", "      type: num<|>\n"),
        ]
    ));
}

#[test]
fn expressions() {
    insta::assert_snapshot!(table(
        NATIVE,
        &[
            ("WHEN: days > 30", "WHEN: <|>"),
            ("WHEN: days > 30", "WHEN: days > 30 AND me<|>"),
            ("WHEN: days > 30", "WHEN: user.<|>"),
            ("WHEN: days > 30", "WHEN: member_name == \"<|>\""),
            ("days = copy.due_days + 1", "days = copy.<|>"),
            ("days = copy.due_days + 1", "days = copy.due<|> + 1"),
            ("{{copy.copy_id}}", "{{<|>}}"),
            ("{{copy.copy_id}}", "{{copy.<|>"),
            ("Bring it back in", "Bring <|> back in"),
            ("REQUIRE days < 30", "REQUIRE <|>"),
        ]
    ));
}

#[test]
fn yaml_notation() {
    insta::assert_snapshot!(table(
        YAML,
        &[
            ("goal: \"Lend books to {{member_name}}\"", "<|>"),
            ("    then: thanks\n", "    <|>\n"),
            ("    then: thanks\n", "    then: <|>\n"),
            ("    then: thanks\n", "    th<|>\n"),
            ("entry_point: ask", "entry_point: <|>"),
            ("steps: [ask, thanks]", "steps: [ask, <|>]"),
            ("steps: [ask, thanks]", "steps: [ask, <|>"),
            ("  - when: days == 0", "  - <|>"),
            ("  - when: days == 0", "  -<|>"),
            ("when: days == 0", "when: <|>"),
            ("when: days == 0", "when: \"days > <|>\""),
            ("{{member_name}}\"\n    then", "{{me<|>}}\"\n    then"),
            ("      - name: title\n        type: string", "      - name: title\n        <|>"),
            ("        type: string", "        type: <|>"),
        ]
    ));
}
