//! What a message shows beside its text (Cur. 3.13.5), and what guardrails of answers see of it (Cur. 3.9: `output`).

use crate::support::{Talk, program};
use agentir_ir::Program;
use serde_json::Value as Json;

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

/// A conversation up to the first message of the desk.
fn opened(program: &Program) -> Talk<'_, '_> {
    let mut talk = Talk::new(program, |_, _| Ok(Json::Null));
    talk.turn(None);
    talk
}

/// Everything of the messages so far, as text.
fn all_said(talk: &Talk<'_, '_>) -> String {
    format!("{:?}", talk.said)
}

/// A message with something in it that is to be held back is held back.
#[test]
fn guardrails_see_all_that_is_shown() {
    for beside in SHOWN {
        let agent = program("desk.agent.abl", &desk(beside, "block"));
        let talk = opened(&agent);
        assert!(talk.script.contains("Desk: Held."), "{beside}\n{}", talk.script);
        assert!(!talk.script.contains("Which card?"), "{beside}\n{}", talk.script);
        assert!(!all_said(&talk).contains("4111"), "{beside}\n{}", all_said(&talk));
    }
    // Nothing is to be held back.
    let plain = "      ACTIONS:\n        - BUTTON: \"4111 2222\"\n          ID: c1\n";
    let agent = program("desk.agent.abl", &desk(plain, "block"));
    let talk = opened(&agent);
    assert!(all_said(&talk).contains("4111 2222"), "{}", all_said(&talk));
    assert!(talk.script.contains("Which card?"), "{}", talk.script);
}

/// What is redacted is gone from where it was, and the rest is said.
#[test]
fn what_is_redacted_is_not_shown() {
    for beside in SHOWN {
        let agent = program("desk.agent.abl", &desk(beside, "redact"));
        let talk = opened(&agent);
        let said = all_said(&talk);
        assert!(talk.script.contains("Desk: Which card?"), "{beside}\n{}", talk.script);
        assert!(!said.contains("4111"), "{beside}\n{said}");
        assert!(said.contains("[REDACTED]"), "{beside}\n{said}");
    }
}

/// The model is asked about all that is shown with an answer at once, however many buttons there are.
#[test]
fn the_model_judges_an_answer_once() {
    let mut buttons = "      VOICE:\n        plain_text: \"Say it.\"\n      ACTIONS:\n".to_owned();
    for n in 0..5 {
        buttons.push_str(&format!("        - BUTTON: \"Card {n}\"\n          ID: c{n}\n"));
    }
    let both = desk(&buttons, "block")
        .replace("    msg:", "    llm_check: \"It names a card.\"\n    msg:");
    let asks = both
        .replace("    check: \"abl.matches_pattern(content, '4111 1111')\"\n", "    tier: model\n");
    for text in [&both, &asks] {
        let agent = program("desk.agent.abl", text);
        let talk = opened(&agent);
        assert!(talk.script.contains("Which card?"), "{}", talk.script);
        let [(_, judged)] = talk.model.judged.as_slice() else { panic!("{:?}", talk.model.judged) };
        for part in ["Which card?", "Say it.", "Card 0", "Card 4"] {
            assert!(judged.contains(part), "{judged}");
        }
    }
}

/// How a voice is to speak is for nobody's ears.
#[test]
fn instructions_for_a_voice_are_not_said() {
    let agent = desk("      VOICE:\n        instructions: \"Slowly.\"\n", "block");
    let agent = program("desk.agent.abl", &agent.replace("Which card?", ""));
    let talk = opened(&agent);
    assert!(talk.said.is_empty() && !talk.script.contains("Slowly"), "{}", talk.script);
}

/// A response may consist of words that are spoken, or of what is shown; a filter that leaves nothing of its text leaves
/// them.
#[test]
fn what_is_only_spoken_or_shown_is_said() {
    let own = [
        "      VOICE:\n        plain_text: \"Listen.\"\n",
        "      RICH_CONTENT:\n        carousel:\n          - title: \"Listen.\"\n",
    ];
    for beside in own {
        for (text, check) in [("", "4111 1111"), ("Which card?", "^Which card.$")] {
            let agent = desk(beside, "filter")
                .replace("Which card?", text)
                .replace("4111 1111'", &format!("{check}'"));
            let agent = program("desk.agent.abl", &agent);
            let talk = opened(&agent);
            let [message] = talk.said.as_slice() else { panic!("{beside}\n{}", talk.script) };
            assert_eq!((message.text.as_str(), message.words()), ("", "Listen."), "{beside}");
            assert!(talk.script.contains("Desk: Listen."), "{}", talk.script);
            let last = talk.session.transcript.last().map(|message| message.text.as_str());
            assert_eq!(last, Some("Listen."));
        }
    }
}
