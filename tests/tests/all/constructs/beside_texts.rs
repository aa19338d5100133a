//! What a message shows beside its text (Cur. 3.13.5), and what guardrails of answers see of it (Cur. 3.9: `output`).

use super::talk;

/// A desk that shows something with its first message. The guardrail keeps the number of a card back.
fn desk(beside: &str, action: &str) -> String {
    format!(
        r#"AGENT: Desk
GOAL: "Help"
MEMORY:
  session:
    - name: card
      initial_value: "4111 1111"
GUARDRAILS:
  no_cards:
    kind: output
    check: "abl.matches_pattern(content, '4111 1111')"
    action: {action}
    msg: "Held."
FLOW:
  ask -> bye
  ask:
    REASONING: false
    RESPOND: "Which card?"
{beside}
    ON_INPUT:
      - ELSE:
        RESPOND: "Got {{{{action_value}}}}."
        THEN: bye
  bye:
    REASONING: false
    RESPOND: "Bye."
    THEN: COMPLETE
"#
    )
}

const SHOWN: &[&str] = &[
    "      ACTIONS:\n        - BUTTON: \"4111 1111\"\n          ID: c1\n",
    "      ACTIONS:\n        - BUTTON: \"Use {{card}}\"\n          ID: c1\n",
    "      ACTIONS:\n        - BUTTON: \"Use\"\n          ID: c1\n          VALUE: \"{{card}}\"\n",
    "      ACTIONS:\n        - BUTTON: \"Use\"\n          ID: c1\n          DESCRIPTION: \"4111 1111\"\n",
    "      ACTIONS:\n        - INPUT: \"4111 1111\"\n          ID: c1\n",
    "      ACTIONS:\n        - INPUT: \"Card\"\n          ID: c1\n          PLACEHOLDER: \"{{card}}\"\n",
    "      ACTIONS:\n        - SELECT: \"Card\"\n          ID: c1\n          OPTIONS:\n            - { id: \"a\", label: \"4111 1111\" }\n",
    "      ACTIONS:\n        - SELECT: \"Card\"\n          ID: c1\n          OPTIONS:\n            - { id: \"a\", label: \"{{card}}\" }\n",
    "      ACTIONS:\n        SUBMIT_LABEL: \"Send {{card}}\"\n        - INPUT: \"Card\"\n          ID: c1\n",
    "      VOICE:\n        plain_text: \"4111 1111\"\n",
    "      VOICE:\n        ssml: \"<speak>{{card}}</speak>\"\n",
    "      RICH_CONTENT:\n        carousel:\n          - title: \"{{card}}\"\n",
    "      FORMATS:\n        markdown: \"**4111 1111**\"\n",
];

/// A message with something in it that is to be held back is held back.
#[test]
fn guardrails_see_all_that_is_shown() {
    for beside in SHOWN {
        let scenario = "tests:\n  - name: t\n    turns:\n      - says: [\"Held.\"]\n";
        talk(&[("desk.agent.abl", &desk(beside, "block"))], scenario);
    }
    // Nothing is to be held back.
    let plain = "      ACTIONS:\n        - BUTTON: \"4111 2222\"\n          ID: c1\n";
    let scenario = "tests:\n  - name: t\n    turns:\n      - says: [\"Which card?\"]\n";
    talk(&[("desk.agent.abl", &desk(plain, "block"))], scenario);
    // What is redacted is gone from where it was.
    for beside in SHOWN {
        talk(&[("desk.agent.abl", &desk(beside, "redact"))], scenario);
    }
}
