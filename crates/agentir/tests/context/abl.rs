//! ABL, in both notations.

use super::{Files, check, labels};

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
    check(
        "abl_keys",
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
        ],
    );
}

#[test]
fn values() {
    check(
        "abl_values",
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
        ],
    );
}

#[test]
fn expressions() {
    check(
        "abl_expressions",
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
        ],
    );
}

#[test]
fn yaml_notation() {
    check(
        "abl_yaml_notation",
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
        ],
    );
}

const SUPERVISOR: &str = r#"SUPERVISOR: Front_Desk
GOAL: "Send readers on"

AGENTS:
  lending: Lending_Desk
  fines: Fines_Desk

ROUTING:
  rules:
    - INTENT(borrow) -> lending
    - DEFAULT -> lending

GUARDRAILS:
  short:
    kind: output
    check: "abl.word_count(output) < 50"
    action: warn

USE BEHAVIOR_PROFILE: quiet

DELEGATE:
  - AGENT: Fines_Desk
    INPUT: {member: member_name}

ON_START:
  - CALL: find_copy
    WITH:
      title: "x"
"#;

const PROFILE: &str = "BEHAVIOR_PROFILE: quiet\nWHEN: channel == \"voice\"\nPRIORITY: 1\n";

const DESK: Files<'_> = Files {
    name: "library/agents/front_desk.agent.abl",
    text: SUPERVISOR,
    others: &[
        ("library/agents/fines_desk.agent.abl", FINES),
        ("library/agents/lending_desk.agent.abl", AGENT),
        ("library/profiles/quiet.abl", PROFILE),
        ("library/project.json", "{\"entry_agent\": \"Front_Desk\"}"),
    ],
};

#[test]
fn supervisors() {
    check(
        "abl_supervisors",
        DESK,
        &[
            ("INTENT(borrow) -> lending", "INTENT(borrow) -> <|>"),
            ("    - INTENT(borrow) -> lending", "    - <|>"),
            ("  fines: Fines_Desk", "  fines: <|>"),
            ("check: \"abl.word_count(output) < 50\"", "check: \"<|>\""),
            ("action: warn", "action: <|>"),
            ("    kind: output\n", "    <|>\n"),
            ("USE BEHAVIOR_PROFILE: quiet", "USE BEHAVIOR_PROFILE: <|>"),
            ("USE BEHAVIOR_PROFILE: quiet", "USE BEH<|>"),
            ("- AGENT: Fines_Desk", "- AGENT: <|>"),
            ("  - CALL: find_copy\n", "  - <|>\n"),
        ],
    );
}

#[test]
fn other_documents() {
    let profile = Files { name: "quiet.abl", text: PROFILE, others: &[] };
    check(
        "abl_profiles",
        profile,
        &[
            ("PRIORITY: 1\n", "<|>\n"),
            ("WHEN: channel == \"voice\"", "WHEN: chan<|>"),
            ("BEHAVIOR_PROFILE: quiet\n", "BEHAVIOR_PROFILE: <|>\n"),
        ],
    );
    let empty = Files { name: "new.agent.abl", text: "\n", others: &[] };
    let first = ["AGENT", "SUPERVISOR"];
    let labels = labels(empty, "<|>\n");
    assert!(first.iter().all(|one| labels.iter().any(|label| label == one)), "{labels:?}");
}
