//! Buttons (Cur. 3.13.5: "Clickable button that submits a value"), and the handlers of a step.

use super::talk_abl;

/// A flow whose first step shows buttons, with what the step does next and the handlers of the agent.
fn desk(step: &str, handlers: &str) -> String {
    format!(
        r#"AGENT: Desk
GOAL: "Sizes"
MEMORY:
  session:
    - word
      INITIAL: "big"
FLOW:
  steps: [size, bye]
  size:
    REASONING: false
    RESPOND: "Which size?"
      ACTIONS:
        - BUTTON: "Small"
          ID: small
          VALUE: "s"
        - BUTTON: "Large"
          ID: large
          VALUE: "{{{{word}}}}"
        - BUTTON: "Whatever"
          ID: any
{step}
  bye:
    REASONING: false
    RESPOND: "Bye."
    THEN: COMPLETE
{handlers}"#
    )
}

/// What is pressed submits the value that it was shown with, unless another one is sent with it; what has none, its id.
#[test]
fn a_button_submits_its_value() {
    let branches =
        "    ON_INPUT:\n      - ELSE:\n        RESPOND: \"Got {{input}}.\"\n        THEN: bye\n";
    talk_abl(
        &desk(branches, ""),
        r#"
tests:
  - { name: its own, turns: [{ says: ["Which size?"] }, { press: { id: small }, says: ["Got s.", "Bye."] }] }
  - { name: filled in, turns: [{ says: ["Which size?"] }, { press: { id: large }, says: ["Got big.", "Bye."] }] }
  - { name: another, turns: [{ says: ["Which size?"] }, { press: { id: small, value: xl }, says: ["Got xl.", "Bye."] }] }
  - { name: none, turns: [{ says: ["Which size?"] }, { press: { id: any }, says: ["Got any.", "Bye."] }] }
"#,
    );
    let handlers =
        "ACTION_HANDLERS:\n  small:\n    RESPOND: \"It is {{action_value}}.\"\n    THEN: bye\n";
    talk_abl(
        &desk(branches, handlers),
        r#"
tests:
  - { name: handled, turns: [{ says: ["Which size?"] }, { press: { id: small }, says: ["It is s.", "Bye."] }] }
"#,
    );
}

/// Who presses a button of a step that shows some, and of the next that shows others with the same labels, has answered
/// the one whose button it is. A step that shows none takes those that were shown before it.
#[test]
fn a_button_answers_the_step_that_showed_it() {
    let agent = |second: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Orders"
FLOW:
  steps: [news, sure]
  news:
    REASONING: false
    RESPOND: "Do you want news?"
      ACTIONS:
        - BUTTON: "Yes"
          ID: news_yes
          VALUE: "yes"
    THEN: sure
  sure:
    REASONING: false
{second}    ON_INPUT:
      - IF: input == "yes"
        RESPOND: "Ordered."
        THEN: COMPLETE
      - ELSE:
        RESPOND: "Not ordered."
        THEN: COMPLETE
"#
        )
    };
    let second = "    RESPOND: \"Shall I order?\"\n      ACTIONS:\n        - BUTTON: \"Yes\"\n          ID: order_yes\n          VALUE: \"yes\"\n";
    talk_abl(
        &agent(second),
        r#"
tests:
  - name: of the other step
    turns:
      - says: ["Do you want news?", "Shall I order?"]
      - { press: { id: news_yes }, says: [{ contains: earlier question }], status: await }
      - { press: { id: order_yes }, says: ["Ordered."] }
"#,
    );
    talk_abl(
        &agent(""),
        r#"
tests:
  - name: the only ones
    turns:
      - says: ["Do you want news?"]
      - { press: { id: news_yes }, says: ["Ordered."] }
"#,
    );
}

/// A step with handlers of buttons waits for them, whatever else it does; what is not for them goes on.
#[test]
fn a_step_with_handlers_waits() {
    let handlers = "    ON_ACTION:\n      small:\n        SET: word = \"little\"\n        RESPOND: \"{{word}}, {{action_value}}.\"\n        THEN: bye\n      large:\n        RESPOND: \"None left.\"\n";
    let scenario = r#"
tests:
  - { name: handled, turns: [{ says: ["Which size?"] }, { press: { id: small }, says: ["little, s.", "Bye."], status: done }] }
  - name: handled without a way
    turns:
      - says: ["Which size?"]
      - { press: { id: large }, says: ["None left.", "Which size?"], step: size, status: await }
      - { press: { id: small }, says: ["little, s.", "Bye."], status: done }
  - { name: no handler, turns: [{ says: ["Which size?"] }, { press: { id: any }, says: ["Bye."], status: done }] }
  - { name: words, turns: [{ says: ["Which size?"] }, { user: medium, says: ["Bye."], status: done }] }
"#;
    talk_abl(&desk(&format!("{handlers}    THEN: bye\n"), ""), scenario);
    talk_abl(&desk(&format!("    THEN: bye\n{handlers}"), ""), scenario);
    talk_abl(&desk(handlers, ""), scenario);
}
