//! What checks refuse is neither called nor said, now and later (ABL, current specification, 3.8, 3.9, 3.13).

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod support;

use agentir_runtime::{Answer, FailureKind, Status, ToolFailure};
use serde_json::{Value as Json, json};
use std::cell::Cell;
use support::{Talk, calls, program, says, together};

/// A flow whose second step wires money, and a constraint on that.
fn desk(on_fail: &str) -> String {
    format!(
        r#"AGENT: Wire_Desk

GOAL: "Send money"

TOOLS:
  wire(amount: number) -> {{id: string}}
    description: "Wires"

GATHER:
  verified:
    prompt: "Verified?"
    type: boolean
    required: false

CONSTRAINTS:
  always:
    - REQUIRE verified == true BEFORE calling wire
{on_fail}

FLOW:
  ask -> pay -> bye

  ask:
    REASONING: false
    RESPOND: "What now?"
    ON_INPUT:
      - IF: input == "verify"
        SET: verified = true
        THEN: pay
      - ELSE:
        THEN: pay

  pay:
    REASONING: false
    CALL: wire(100)
    ON_SUCCESS:
      RESPOND: "Sent."
      THEN: bye

  bye:
    REASONING: false
    RESPOND: "Goodbye."
    THEN: COMPLETE
"#
    )
}

/// What a conversation prints.
fn talk(text: &str, messages: &[&str]) -> String {
    let program = program("wire_desk.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "id": "w1" })));
    talk.turn(None);
    for message in messages {
        if matches!(talk.session.status, Status::Await) {
            talk.turn(Some(message));
        }
    }
    talk.script.clone()
}

const FORMS: &[&str] = &[
    "",
    "      ON_FAIL: \"Verify first.\"",
    "      ON_FAIL: BLOCK",
    "      ON_FAIL: ESCALATE",
    "      ON_FAIL:\n        RESPOND: \"Verify first.\"",
    "      ON_FAIL:\n        RESPOND: \"Verify first.\"\n        RETRY: true",
    "      ON_FAIL:\n        RETRY: true",
    "      ON_FAIL:\n        RESPOND: \"Verify first.\"\n        THEN: retry",
    "      ON_FAIL:\n        COLLECT: [verified]",
    "      ON_FAIL:\n        RESPOND: \"Verify first.\"\n        COLLECT: [verified]",
    "      ON_FAIL:\n        GOTO: ask",
    "      ON_FAIL:\n        RESPOND: \"Verify first.\"\n        THEN: COMPLETE",
];

#[test]
fn no_form_of_on_fail_opens_a_call_in_a_flow() {
    for form in FORMS {
        let script = talk(&desk(form), &["ok", "no", "no", "ok", "well"]);
        assert!(!script.contains("wire("), "{form}\n{script}");
        assert!(!script.contains("Sent."), "{form}\n{script}");
    }
    let script = talk(&desk(FORMS[1]), &["verify"]);
    assert!(script.contains("wire(") && script.contains("Sent."), "{script}");
}

#[test]
fn the_author_may_go_on_without_the_call() {
    let script =
        talk(&desk("      ON_FAIL:\n        RESPOND: \"Well.\"\n        THEN: continue"), &["ok"]);
    assert!(script.contains("Well.") && !script.contains("wire("), "{script}");
}

#[test]
fn a_flow_waits_at_a_refused_call_and_goes_on_when_it_is_allowed() {
    let script = talk(&desk(FORMS[1]), &["ok", "nonsense", "verified=true"]);
    assert_eq!(script.matches("Verify first.").count(), 2, "{script}");
    assert!(script.contains("Sent.") && script.contains("Goodbye."), "{script}");
    // Fields are asked for, then the constraint is checked again.
    let script = talk(&desk(FORMS[9]), &["ok", "true"]);
    assert!(script.contains("Verified?") && script.contains("Sent."), "{script}");
    let script = talk(&desk(FORMS[9]), &["ok", "false", "false"]);
    assert!(!script.contains("Sent."), "{script}");
}

#[test]
fn a_mute_block_says_that_it_cannot() {
    let script = talk(&desk("      ON_FAIL: BLOCK"), &["ok"]);
    assert!(script.contains("Sorry, I cannot do that right now."), "{script}");
}

#[test]
fn where_the_model_leads_a_refused_call_is_not_made_and_the_model_is_asked_anew() {
    let text = r#"AGENT: Wire_Desk

GOAL: "Send money"

TOOLS:
  wire(amount: number) -> {id: string}
    description: "Wires"

GATHER:
  verified:
    prompt: "Verified?"
    type: boolean
    required: false

CONSTRAINTS:
  always:
    - REQUIRE verified == true BEFORE calling wire
      ON_FAIL: "Verify first."
"#;
    let program = program("wire_desk.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "id": "w1" })));
    let wire = || calls("wire", json!({ "amount": 1 }));
    talk.model.answers.extend([wire(), says("We open at nine."), wire(), says("Sent.")]);
    talk.turn(None).say("send it").say("when do you open?").say("verified=true");
    let script = &talk.script;
    let opens = script.find("We open at nine.").unwrap();
    assert!(script.find("Verify first.").unwrap() < opens, "{script}");
    assert!(script.find("wire(").unwrap() > opens, "{script}");
    assert!(script.contains("Sent."), "{script}");
}

fn results(on_fail: &str) -> String {
    format!(
        r#"AGENT: Care_Desk

GOAL: "Answer"

TOOLS:
  check() -> {{ok: boolean}}
    description: "Checks"

MEMORY:
  session:
    - checked

CONSTRAINTS:
  always:
    - REQUIRE check.ok == true BEFORE returning results
      ON_FAIL: {on_fail}
"#
    )
}

#[test]
fn an_answer_is_held_back_until_its_constraint_holds() {
    for on_fail in ["\"Not yet.\"", "BLOCK", "ESCALATE"] {
        let program = program("care_desk.agent.abl", &results(on_fail));
        let mut talk = Talk::new(&program, |_, _| Ok(json!({ "ok": true })));
        talk.model.answers.extend([
            says("The secret."),
            calls("check", json!({})),
            says("The answer."),
        ]);
        talk.turn(None).say("hello").say("again");
        let script = &talk.script;
        assert!(!script.contains("The secret."), "{script}");
        if on_fail == "\"Not yet.\"" {
            assert!(script.contains("Not yet.") && script.contains("The answer."), "{script}");
        }
    }
}

#[test]
fn an_answer_may_lead_to_another_agent_unsaid() {
    let desk = results("HANDOFF Review");
    let review = "AGENT: Review\n\nGOAL: \"Review\"\n\nON_START:\n  RESPOND: \"Review here.\"\n";
    let program = together(&[("care_desk.agent.abl", &desk), ("review.agent.abl", review)]);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "ok": false })));
    talk.model.answers.extend([says("The secret."), says("I review.")]);
    talk.turn(None).say("hello");
    assert!(!talk.script.contains("The secret."), "{}", talk.script);
    assert!(talk.script.contains("Review here."), "{}", talk.script);
}

#[test]
fn a_flow_holds_its_answer_back_and_says_it_later() {
    let text = r#"AGENT: Care_Desk

GOAL: "Answer"

GATHER:
  checked:
    prompt: "Checked?"
    type: boolean
    required: false

CONSTRAINTS:
  always:
    - REQUIRE checked == true BEFORE returning results
      ON_FAIL: "Not yet."

FLOW:
  tell -> bye

  tell:
    REASONING: false
    RESPOND: "The result is 7. More?"
    ON_INPUT:
      - ELSE:
        THEN: bye

  bye:
    REASONING: false
    RESPOND: "Goodbye."
    THEN: COMPLETE
"#;
    let program = program("care_desk.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Ok(Json::Null));
    talk.turn(None).say("hm");
    assert!(!talk.script.contains("The result"), "{}", talk.script);
    talk.say("checked=true");
    assert!(talk.script.contains("The result is 7."), "{}", talk.script);
    assert!(!talk.script.contains("Goodbye."), "{}", talk.script);
    talk.say("no");
    assert!(talk.script.contains("Goodbye."), "{}", talk.script);
}

/// A guardrail on what tools get, and calls by a flow, a hook and an action handler.
#[test]
fn tool_input_guardrails_see_every_call() {
    let agent = |guard: &str, rest: &str| {
        format!(
            "AGENT: Desk\n\nGOAL: \"Work\"\n\nTOOLS:\n  t(x: string) -> {{ok: boolean}}\n    description: \"T\"\n\nGUARDRAILS:\n  sevens:\n    kind: tool_input\n    check: \"{guard}\"\n    action: block\n    msg: \"No sevens.\"\n\n{rest}"
        )
    };
    let places = [
        "FLOW:\n  a\n\n  a:\n    REASONING: false\n    CALL: t(\"seven\")\n    THEN: COMPLETE\n",
        "ON_START:\n  CALL: t(\"seven\")\n",
        "HOOKS:\n  before_turn:\n    CALL: t(\"seven\")\n",
        "FLOW:\n  a\n\n  a:\n    REASONING: false\n    RESPOND: \"Press.\"\n    ON_INPUT:\n      - ELSE:\n        CALL: t(\"seven\")\n        THEN: COMPLETE\n",
        "FLOW:\n  a\n\n  a:\n    REASONING: false\n    RESPOND: \"Hm?\"\n    DIGRESSIONS:\n      - INTENT: help\n        KEYWORDS: [go]\n        CALL: t(\"seven\")\n    ON_INPUT:\n      - ELSE:\n        THEN: COMPLETE\n",
    ];
    // The second check cannot be read, the third not be evaluated, the fourth calls nothing known.
    let guards = [
        "abl.matches_pattern(tool_input, 'seven')",
        "abl.matches_pattern(tool_input, 'seven'",
        "abl.matches_pattern(tool_input, '(')",
        "foo(tool_input)",
    ];
    for guard in guards {
        for place in places {
            let program = program("desk.agent.abl", &agent(guard, place));
            let made = Cell::new(0);
            let mut talk = Talk::new(&program, |_, _| {
                made.set(made.get() + 1);
                Ok(json!({ "ok": true }))
            });
            talk.model.answers.extend([says("x"), says("y")]);
            talk.turn(None).say("go");
            assert_eq!(made.get(), 0, "{guard}\n{place}\n{}", talk.script);
            let told =
                talk.script.contains("No sevens.") || talk.script.contains("Sorry, I cannot");
            assert!(told, "{guard}\n{place}\n{}", talk.script);
            if guard != guards[0] {
                assert!(talk.script.contains("check_error"), "{}", talk.script);
            }
        }
    }
    let program = program("desk.agent.abl", &agent(guards[0], &places[0].replace("seven", "six")));
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "ok": true })));
    talk.turn(None);
    assert!(talk.script.contains("t("), "{}", talk.script);
}

/// An error that stays: so many calls, with a response and without one.
#[test]
fn retries_are_limited_with_and_without_a_response() {
    for respond in ["", "    RESPOND: \"Again.\"\n"] {
        for then in ["ESCALATE", "CONTINUE", "COMPLETE", "RETRY_STEP"] {
            let text = format!(
                "AGENT: Desk\n\nGOAL: \"Work\"\n\nTOOLS:\n  t() -> {{ok: boolean}}\n    description: \"T\"\n\nON_ERROR:\n  api_error:\n{respond}    RETRY: 2\n    THEN: {then}\n\nFLOW:\n  a\n\n  a:\n    REASONING: false\n    CALL: t()\n    THEN: COMPLETE\n"
            );
            let program = program("desk.agent.abl", &text);
            let made = Cell::new(0);
            let mut talk = Talk::new(&program, |_, _| {
                made.set(made.get() + 1);
                Err(ToolFailure::new(FailureKind::Api, "HTTP 500"))
            });
            talk.turn(None);
            let most = if then == "RETRY_STEP" { 5 } else { 3 };
            assert!(
                (3..=most).contains(&made.get()),
                "{respond}{then}: {}\n{}",
                made.get(),
                talk.script
            );
        }
    }
}

#[test]
fn input_guardrails_see_the_answer_to_a_failed_constraint() {
    let text = desk(FORMS[8]).replace(
        "FLOW:",
        "GUARDRAILS:\n  bombs:\n    kind: input\n    check: \"abl.matches_pattern(input, 'bomb')\"\n    action: block\n    msg: \"No bombs.\"\n\nFLOW:",
    );
    let script = talk(&text, &["ok", "bomb verified=true"]);
    assert!(script.contains("No bombs.") && !script.contains("Sent."), "{script}");
}

#[test]
fn output_guardrails_see_the_last_words() {
    let text = r#"AGENT: Desk

GOAL: "Work"

GUARDRAILS:
  secrets:
    kind: output
    check: "abl.matches_pattern(output, 'secret')"
    action: block
    msg: "I cannot say that."

FLOW:
  a

  a:
    REASONING: false
    RESPOND: "A secret."
    THEN: COMPLETE
"#;
    let program = program("desk.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Ok(Json::Null));
    talk.turn(None);
    assert!(!talk.script.contains("A secret."), "{}", talk.script);
    assert!(talk.script.contains("I cannot say that."), "{}", talk.script);
}

/// The user agrees to a call that is not allowed any more.
#[test]
fn a_call_is_checked_again_after_the_user_has_agreed() {
    let text = r#"AGENT: Wire_Desk

GOAL: "Send money"

TOOLS:
  wire(amount: number) -> {id: string}
    description: "Wires"
    confirm: always

MEMORY:
  session:
    - name: open
      initial_value: true

CONSTRAINTS:
  always:
    - REQUIRE open == true BEFORE calling wire
      ON_FAIL: "Closed."

HOOKS:
  before_turn:
    SET:
      open: input != "yes"

FLOW:
  pay

  pay:
    REASONING: false
    CALL: wire(100)
    THEN: COMPLETE
"#;
    let script = talk(text, &["yes"]);
    assert!(script.contains("Shall I do this?") && script.contains("Closed."), "{script}");
    assert!(!script.contains("  wire("), "{script}");
}

#[test]
fn a_missing_value_is_a_value_before_a_call() {
    let text = desk("      ON_FAIL: \"Verify first.\"")
        .replace("verified == true BEFORE", "wire.id == \"w0\" BEFORE");
    assert!(!talk(&text, &["ok", "ok"]).contains("Sent."));
    let text = desk("").replace("REQUIRE verified == true", "RESTRICT FOO(verified) == 1");
    let script = talk(&text, &["ok"]);
    assert!(!script.contains("Sent.") && script.contains("check_error"), "{script}");
}

#[test]
fn nothing_that_a_check_may_refuse_is_streamed() {
    let program = program("care_desk.agent.abl", &results("\"Not yet.\""));
    let mut talk = Talk::new(&program, |_, _| Ok(Json::Null));
    let both = Answer::Message { text: "The secret.".to_owned(), calls: Vec::new() };
    talk.model.answers.extend([both]);
    talk.turn(None).say("hello");
    assert!(!talk.script.contains("The secret."), "{}", talk.script);
}

/// `ON_FAIL` applies "when a check fails" (3.8): what it would ask for is no part of the check.
#[test]
fn a_check_that_holds_asks_for_nothing() {
    let text = |condition: &str| {
        desk("      ON_FAIL:\n        RESPOND: \"Verify first.\"\n        COLLECT: [verified]")
            .replace(
                "CONSTRAINTS:",
                "MEMORY:\n  session:\n    - vip\n        INITIAL: true\n\nCONSTRAINTS:",
            )
            .replace("REQUIRE verified == true", condition)
    };
    for holds in [
        "REQUIRE vip == true",
        "REQUIRE vip == true OR verified == true",
        "REQUIRE verified IS NOT SET OR verified != false",
        "REQUIRE NOT (vip == false AND verified < 3)",
        "RESTRICT vip == false",
    ] {
        let script = talk(&text(holds), &["ok"]);
        assert!(script.contains("Sent.") && !script.contains("Verif"), "{holds}\n{script}");
    }
    // What compares the value that is missing is not decided without it.
    for open in [
        "REQUIRE verified != false",
        "REQUIRE vip == true AND verified != false",
        "RESTRICT verified == false",
        "REQUIRE vip == false OR verified != false",
        "REQUIRE verified IS SET",
        "REQUIRE FOO(vip) == 1",
        "REQUIRE FOO(verified) == 1 OR verified == true",
    ] {
        let script = talk(&text(open), &["ok"]);
        assert!(!script.contains("Sent."), "{open}\n{script}");
    }
    let script = talk(&text("REQUIRE verified != false"), &["ok", "true"]);
    assert!(script.contains("Verified?") && script.contains("Sent."), "{script}");
    // An answer that is evaded does not make a test for what is unset pass.
    let text = text("REQUIRE verified IS NOT SET OR verified != false")
        .replace("SET: verified = true", "SET: verified = false");
    let script = talk(&text, &["verify", "well", "well"]);
    assert!(script.contains("Verified?") && !script.contains("Sent."), "{script}");
}

#[test]
fn a_check_of_what_the_model_does_that_holds_asks_for_nothing() {
    for (guards, on_fail) in [
        ("vip == true BEFORE calling wire", "Verify"),
        ("vip == true OR code == \"good\" BEFORE calling wire", "Verify"),
        ("code IS NOT SET OR code != \"bad\" BEFORE returning results", "Verify"),
    ] {
        let text = format!(
            "AGENT: Desk\nGOAL: \"Send\"\nTOOLS:\n  wire(amount: number) -> {{id: string}}\n    description: \"Wires\"\nMEMORY:\n  session:\n    - vip\n        INITIAL: true\nGATHER:\n  code:\n    prompt: \"Code?\"\n    type: string\n    required: false\nCONSTRAINTS:\n  r:\n    - REQUIRE {guards}\n      ON_FAIL:\n        RESPOND: \"{on_fail}\"\n        COLLECT: [code]\n"
        );
        let program = program("desk.agent.abl", &text);
        let mut talk = Talk::new(&program, |_, _| Ok(json!({ "id": "w1" })));
        talk.model.answers.extend([calls("wire", json!({ "amount": 5 })), says("Done.")]);
        talk.turn(Some("send"));
        assert!(talk.script.contains("Done."), "{guards}\n{}", talk.script);
        assert!(talk.script.contains("wire("), "{guards}\n{}", talk.script);
        assert!(!talk.script.contains("Verify"), "{guards}\n{}", talk.script);
    }
}

/// `GOTO` leads to its step, whatever is written after it (3.8.3).
#[test]
fn a_goto_is_taken_beside_another_consequence() {
    let lines = "      ON_FAIL:\n        RESPOND: \"Verify first.\"\n        GOTO: check\n";
    let check = "  check:\n    REASONING: false\n    RESPOND: \"Password?\"\n    ON_INPUT:\n      - ELSE:\n        SET: verified = true\n        THEN: pay\n\n  bye:";
    let run =
        |then: &str| talk(&desk(&format!("{lines}{then}")).replace("  bye:", check), &["ok", "x"]);
    let expected = run("");
    assert!(expected.contains("Password?") && expected.contains("Sent."), "{expected}");
    for then in ["continue", "retry", "resume"] {
        let script = run(&format!("        THEN: {then}"));
        let said = |script: &str| -> Vec<String> {
            script
                .lines()
                .map(|line| line.split(':').next_back().unwrap_or("").to_owned())
                .collect()
        };
        assert_eq!(said(&script), said(&expected), "{then}");
    }
    // Questions beside `THEN: continue` do not lose the place either.
    let form =
        "      ON_FAIL:\n        COLLECT: [verified]\n        GOTO: check\n        THEN: continue";
    let script = talk(&desk(form).replace("  bye:", check), &["ok", "false", "x"]);
    assert_eq!(script.matches("What now?").count(), 1, "{script}");
    let form = "      ON_FAIL:\n        COLLECT: [verified]\n        THEN: continue";
    let script = talk(&desk(form), &["ok", "false", "x"]);
    assert_eq!(script.matches("What now?").count(), 1, "{script}");
    assert!(!script.contains("wire("), "{script}");
}

/// Rules of every turn are checked again before a call (3.8), also those that refuse nothing.
#[test]
fn a_rule_that_goes_on_is_checked_again_before_a_call() {
    let text = |rule: &str| {
        format!(
            "AGENT: Payer\nGOAL: \"Pay\"\nTOOLS:\n  pay(amount: number) -> {{id: string}}\n    description: \"Pays\"\nCONSTRAINTS:\n  r:\n    - {rule}\nFLOW:\n  ask -> go\n  ask:\n    REASONING: false\n    GATHER:\n      amount:\n        prompt: \"How much?\"\n        type: number\n    THEN: go\n  go:\n    REASONING: false\n    CALL: pay(amount)\n    ON_SUCCESS:\n      RESPOND: \"Paid.\"\n      THEN: COMPLETE\n    ON_FAIL:\n      RESPOND: \"Failed.\"\n      THEN: COMPLETE\n"
        )
    };
    for rule in [
        "WARN amount <= 100\n      ON_FAIL: \"That is a lot.\"",
        "REQUIRE amount <= 100\n      ON_FAIL:\n        RESPOND: \"That is a lot.\"\n        THEN: continue",
    ] {
        let script = talk(&text(rule), &["500"]);
        assert_eq!(script.matches("That is a lot.").count(), 1, "{rule}\n{script}");
        assert!(script.contains("Paid."), "{rule}\n{script}");
        assert!(script.find("That is a lot.") < script.find("Paid."), "{rule}\n{script}");
        assert!(!talk(&text(rule), &["50"]).contains("That is a lot."), "{rule}");
    }
    let collects = "REQUIRE amount <= 100\n      ON_FAIL:\n        RESPOND: \"That is a lot.\"\n        COLLECT: [amount]\n        THEN: continue";
    let script = talk(&text(collects), &["500", "60"]);
    assert!(!script.contains("{\"amount\":500"), "{script}");
    assert!(script.contains("{\"amount\":60") && script.contains("Paid."), "{script}");
    assert_eq!(script.matches("How much?").count(), 2, "{script}");
    // It goes on after the answer, whatever that is, and other rules see the answer before the call.
    let script = talk(&text(collects), &["500", "600"]);
    assert!(script.contains("{\"amount\":600") && !script.contains("500}"), "{script}");
    let least = "REQUIRE amount > 50\n      ON_FAIL: \"Too little.\"\n    - ";
    let script = talk(&text(&format!("{least}{collects}")), &["500", "20"]);
    assert!(script.contains("Too little.") && !script.contains("  pay("), "{script}");
    // Where there is nothing to ask for, it goes on as well.
    let unknown = collects.replace("[amount]", "[nothing]");
    let script = talk(&text(&unknown), &["500"]);
    assert!(script.contains("That is a lot.") && script.contains("Paid."), "{script}");
}

/// What a rule that refuses nothing says about the same values, it says once in a turn.
#[test]
fn a_rule_that_goes_on_speaks_again_about_other_values() {
    let text = |then: &str| {
        format!(
            "AGENT: Payer\nGOAL: \"Pay\"\nTOOLS:\n  pay(amount: number) -> {{id: string}}\n    description: \"Pays\"\nCONSTRAINTS:\n  r:\n    - WARN amount <= 100\n      ON_FAIL: \"{{{{amount}}}} is a lot.\"\nFLOW:\n  ask -> go\n  ask:\n    REASONING: false\n    GATHER:\n      amount:\n        prompt: \"How much?\"\n        type: number\n    THEN: go\n  go:\n    REASONING: false\n    CALL: pay(amount)\n    THEN: {then}\n  more:\n    REASONING: false\n    SET: amount = 700\n    CALL: pay(amount)\n    THEN: last\n  last:\n    REASONING: false\n    CALL: pay(amount)\n    RESPOND: \"Paid.\"\n    THEN: COMPLETE\n"
        )
    };
    for (then, said) in [("last", ["500"].as_slice()), ("more", &["500", "700"])] {
        let script = talk(&text(then), &["500"]);
        for amount in said {
            assert_eq!(script.matches(&format!("{amount} is a lot.")).count(), 1, "{script}");
        }
        assert_eq!(script.matches("is a lot.").count(), said.len(), "{script}");
        assert!(script.contains("Paid."), "{script}");
    }
}

/// So they are where the model makes the call; what they ask for is asked before it.
#[test]
fn a_rule_that_goes_on_is_checked_again_before_a_call_of_the_model() {
    let text = |rule: &str, flow: bool| {
        let flow = match flow {
            true => {
                "FLOW:\n  lead -> bye\n  lead:\n    REASONING: true\n    GOAL: \"Pay\"\n    AVAILABLE_TOOLS: [quote, pay]\n    MAX_TURNS: 5\n    EXIT_WHEN: pay.id IS SET\n    THEN: bye\n  bye:\n    REASONING: false\n    RESPOND: \"Goodbye.\"\n    THEN: COMPLETE\n"
            }
            false => "",
        };
        format!(
            "AGENT: Payer\nGOAL: \"Pay\"\nTOOLS:\n  quote() -> {{amount: number}}\n    description: \"Quotes\"\n  pay(n: number) -> {{id: string}}\n    description: \"Pays\"\nGATHER:\n  code:\n    prompt: \"Code?\"\n    type: string\n    required: false\nCONSTRAINTS:\n  r:\n    - {rule}\n{flow}"
        )
    };
    for flow in [false, true] {
        for (rule, asks) in [
            ("WARN quote.amount <= 100\n      ON_FAIL: \"A lot.\"", false),
            (
                "REQUIRE quote.amount <= 100\n      ON_FAIL:\n        RESPOND: \"A lot.\"\n        THEN: continue",
                false,
            ),
            (
                "REQUIRE quote.amount <= 100\n      ON_FAIL:\n        RESPOND: \"A lot.\"\n        COLLECT: [code]\n        THEN: continue",
                true,
            ),
        ] {
            let program = program("payer.agent.abl", &text(rule, flow));
            let mut talk = Talk::new(&program, |tool, _| {
                Ok(if tool == "quote" { json!({ "amount": 500 }) } else { json!({ "id": "p1" }) })
            });
            talk.model.answers.extend([
                calls("quote", json!({})),
                calls("pay", json!({ "n": 1 })),
                says("Done."),
                says("Still here."),
            ]);
            talk.turn(None);
            if !flow {
                talk.say("pay");
            }
            let script = talk.script.clone();
            assert_eq!(script.matches("A lot.").count(), 1, "{rule}\n{script}");
            if asks {
                assert!(script.contains("Code?") && !script.contains("  pay("), "{rule}\n{script}");
                // The model goes on where it was.
                talk.say("c1");
                assert!(talk.script.contains("Payer: Done."), "{rule}\n{}", talk.script);
            } else {
                let (warned, paid) = (script.find("A lot."), script.find("  pay("));
                assert!(paid.is_some() && warned < paid, "{rule}\n{script}");
            }
        }
    }
}

/// A turn in which something is refused says so (3.8.3: a check "fails", and what it refuses is neither done nor said).
#[test]
fn a_turn_that_is_refused_is_not_silent() {
    const BLOCKED: &str = "Sorry, I cannot do that right now.";
    let flow = |rule: &str| {
        format!(
            "AGENT: P\nGOAL: \"p\"\nMEMORY:\n  session:\n    - ok\nCONSTRAINTS:\n  r:\n    - REQUIRE {rule}FLOW:\n  ask -> fin\n  ask:\n    REASONING: false\n    GATHER:\n      amount:\n        prompt: \"How much?\"\n        type: number\n    THEN: fin\n  fin:\n    REASONING: false\n    RESPOND: \"FIN {{{{amount}}}}\"\n    ON_INPUT:\n      - ELSE:\n        THEN: fin\n"
        )
    };
    for rule in [
        "amount <= 100\n      ON_FAIL:\n        RETRY: true\n",
        "amount <= 100\n      ON_FAIL:\n        THEN: retry\n",
        "amount <= 100 BEFORE returning results\n      ON_FAIL:\n        THEN: continue\n",
        "amount <= 100 BEFORE returning results\n      ON_FAIL:\n        RETRY: true\n",
        "amount <= 100 BEFORE returning results\n      ON_FAIL: BLOCK\n",
    ] {
        let script = talk(&flow(rule), &["500", "again", "again"]);
        let turns: Vec<&str> = script.split("> ").collect();
        for turn in turns.get(1..).unwrap_or_default() {
            assert!(turn.contains("P: "), "{rule}\n{script}");
        }
        assert!(script.contains(BLOCKED), "{rule}\n{script}");
    }
    // Nothing is said where a rule refuses nothing.
    let script = talk(&flow("ok == true\n      ON_FAIL:\n        THEN: continue\n"), &["5"]);
    assert!(script.contains("FIN 5") && !script.contains(BLOCKED), "{script}");
}

/// Where the model leads a step, it goes on with the answer to the questions of a check.
#[test]
fn the_model_goes_on_after_the_questions_about_its_answer() {
    let text = "AGENT: P\nGOAL: \"p\"\nMEMORY:\n  session:\n    - ok\nGATHER:\n  amount:\n    prompt: \"How much?\"\n    type: number\nCONSTRAINTS:\n  r:\n    - REQUIRE ok == true BEFORE returning results\n      ON_FAIL:\n        COLLECT: [amount]\nFLOW:\n  talk -> bye\n  talk:\n    REASONING: true\n    GOAL: \"talk\"\n    MAX_TURNS: 9\n    EXIT_WHEN: amount == 1\n    THEN: bye\n  bye:\n    REASONING: false\n    RESPOND: \"Bye.\"\n    THEN: COMPLETE\n";
    let program = program("p.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Ok(Json::Null));
    talk.model.answers.extend((0..9).map(|_| says("SECRET")));
    talk.turn(None).say("hello").say("50").say("60").say("70");
    let turns: Vec<&str> = talk.script.split("> ").collect();
    for turn in turns.get(1..).unwrap_or_default() {
        assert!(turn.contains("How much?"), "{}", talk.script);
    }
    assert!(!talk.script.contains("SECRET"), "{}", talk.script);
}

/// A constraint that has asked for a value is not open while that is missing, where the model leads as in a flow.
#[test]
fn a_constraint_that_has_asked_waits_for_the_answer_where_the_model_leads() {
    let text = |rule: &str| {
        format!(
            "AGENT: Desk\nGOAL: \"Send\"\nTOOLS:\n  wire(n: number) -> {{id: string}}\n    description: \"Wires\"\nGATHER:\n  code:\n    prompt: \"Code?\"\n    type: number\n    required: false\nCONSTRAINTS:\n  r:\n    - REQUIRE {rule}\n      ON_FAIL:\n        RESPOND: \"Bad code.\"\n        COLLECT: [code]\n"
        )
    };
    for rule in ["code < 5", "code IS NOT SET OR code < 5 BEFORE calling wire"] {
        let program = program("desk.agent.abl", &text(rule));
        let mut talk = Talk::new(&program, |_, _| Ok(json!({ "id": "w1" })));
        talk.model.answers.extend((0..9).map(|_| calls("wire", json!({ "n": 5 }))));
        talk.turn(None).say("code=7");
        assert_eq!(talk.script.matches("Bad code.").count(), 1, "{rule}\n{}", talk.script);
        talk.say("well");
        assert!(!talk.script.contains("  wire("), "{rule}\n{}", talk.script);
        talk.model.answers.clear();
        talk.model.answers.extend([calls("wire", json!({ "n": 5 })), says("Done.")]);
        talk.say("4");
        assert!(talk.script.contains("  wire("), "{rule}\n{}", talk.script);
        // Now it has what it has asked for.
        assert_eq!(talk.script.matches("Bad code.").count(), 2, "{rule}\n{}", talk.script);
    }
}
