//! The order of `SET`, `CLEAR`, `TRANSFORM` and `LOG` beside `CALL` and others (Cur. 3.14.9: `AS` binds a result "for
//! subsequent use in ON_RESULT branches or SET expressions"): they run where they are written.

use super::{run_talk, talk};
use crate::ir_json::json;
use agentir::{languages, targets};
use agentir_compare::{NormalizedProgram, value_differences};
use agentir_convert::{convert, read_back};
use agentir_diagnostics::{Diagnostic, Severity};
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};

/// A payment that needs a PIN. An invoice has been found before, with `ok: true`; `verify` are the lines of the step that
/// follows, and says which PIN was right.
fn desk(verify: &str) -> String {
    format!(
        r#"AGENT: Pay_Desk
GOAL: "Pay"
TOOLS:
  check_pin(pin: string) -> {{ok: boolean}}
    description: "Check the PIN of the customer"
  find_invoice(number: string) -> {{ok: boolean}}
    description: "Find an invoice"
  pay(number: string) -> {{id: string}}
    description: "Pay an invoice"
MEMORY:
  session:
    - name: verified
      initial_value: false
    - name: seen
      initial_value: "nothing"
CONSTRAINTS:
  safety:
    - REQUIRE verified == true BEFORE calling pay
      ON_FAIL: "You are not verified."
FLOW:
  find -> verify -> do_pay
  find:
    REASONING: false
    CALL: find_invoice("I1")
    THEN: verify
  verify:
    REASONING: false
{verify}
  do_pay:
    REASONING: false
    CALL: pay("I1")
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: COMPLETE
"#
    )
}

fn scenario(right: bool, turns: &str) -> String {
    format!(
        "tools: {{ find_invoice: [{{ answer: {{ ok: true }} }}], check_pin: [{{ answer: {{ ok: {right} }} }}], pay: [{{ answer: {{ id: X }} }}] }}\ntests:\n  - name: t\n    turns:\n{turns}"
    )
}

const REFUSED: &str =
    "      - { calls: [find_invoice, check_pin], says: [\"You are not verified.\"] }\n";
const PAID: &str = "      - { calls: [find_invoice, check_pin, pay], says: [\"Paid.\"] }\n";

/// What is wrong with a step, if the payment has to depend on the PIN.
fn assert_checked(verify: &str) {
    let agent = desk(verify);
    for (right, turns) in [(false, REFUSED), (true, PAID)] {
        let talk = run_talk(&[("desk.agent.abl", &agent)], &scenario(right, turns));
        let wrong: Vec<&str> = talk
            .outcomes
            .iter()
            .filter(|one| !one.failures.is_empty())
            .map(|one| one.transcript.as_str())
            .collect();
        assert!(wrong.is_empty(), "{right}\n{verify}\n{}", wrong.join("\n"));
        assert_eq!(talk.checked.errors().count(), 0, "{verify}\n{:#?}", talk.checked.lines());
    }
}

/// What stands below a call reads its result, in every body that calls.
#[test]
fn a_set_below_a_call_reads_its_result() {
    for verify in [
        "    CALL: check_pin(\"0\")\n    SET: verified = result.ok\n    THEN: do_pay",
        "    CALL: check_pin(\"0\")\n      AS: pin\n    SET: verified = pin.ok\n    THEN: do_pay",
        "    CALL: check_pin\n      WITH:\n        pin: \"0\"\n      AS: pin\n    SET:\n      seen = pin\n      verified = seen.ok\n    THEN: do_pay",
        // Jumps come last, wherever they are written.
        "    CALL: check_pin(\"0\")\n    THEN: do_pay\n    SET: verified = result.ok",
        "    CALL: check_pin(\"0\")\n    SET: verified = check_pin.ok\n    LOG: verified\n    THEN: do_pay",
        // A check that follows.
        "    CALL: check_pin(\"0\")\n    SET: verified = result.ok\n    CHECK: verified == true\n    ON_FAIL: do_pay\n    THEN: do_pay",
        // Follow-ups of the call that are written below.
        "    CALL: check_pin(\"0\")\n    SET: verified = result.ok\n    ON_SUCCESS:\n      THEN: do_pay\n    THEN: do_pay",
        "    CALL: check_pin(\"0\")\n    SET: verified = result.ok\n    ON_SUCCESS:\n      LOG: verified\n    ON_FAIL:\n      THEN: do_pay\n    THEN: do_pay",
        "    CALL: check_pin(\"0\")\n    SET: verified = result.ok\n    ON_RESULT:\n      - IF: verified == true\n        THEN: do_pay\n      - ELSE:\n        THEN: do_pay",
        // In an outcome, a list and a branch.
        "    CALL: find_invoice(\"I1\")\n    ON_SUCCESS:\n      CALL: check_pin(\"0\")\n      SET: verified = result.ok\n      THEN: do_pay",
    ] {
        if verify.contains("find_invoice") {
            let agent = desk(verify);
            for (right, turns) in [
                (
                    false,
                    "      - { calls: [find_invoice, find_invoice, check_pin], says: [\"You are not verified.\"] }\n",
                ),
                (
                    true,
                    "      - { calls: [find_invoice, find_invoice, check_pin, pay], says: [\"Paid.\"] }\n",
                ),
            ] {
                talk(&[("desk.agent.abl", &agent)], &scenario(right, turns));
            }
            continue;
        }
        assert_checked(verify);
    }
}

/// What stands above a call runs before it, with what was known then.
#[test]
fn a_set_above_a_call_runs_before_it() {
    for right in [true, false] {
        let agent = desk(
            "    SET: seen = result.ok\n    CALL: check_pin(\"0\")\n    SET: verified = seen\n    THEN: do_pay",
        );
        talk(&[("desk.agent.abl", &agent)], &scenario(right, PAID));
    }
}

/// A verification of an earlier turn does not stand for a later one.
#[test]
fn a_later_failure_is_read() {
    let agent = r#"AGENT: Pay_Desk
GOAL: "Pay"
TOOLS:
  check_pin(pin: string) -> {ok: boolean}
    description: "Check the PIN of the customer"
  pay(number: string) -> {id: string}
    description: "Pay an invoice"
MEMORY:
  session:
    - name: verified
      initial_value: false
CONSTRAINTS:
  safety:
    - REQUIRE verified == true BEFORE calling pay
      ON_FAIL: "You are not verified."
FLOW:
  ask -> do_pay
  ask:
    REASONING: false
    RESPOND: "PIN?"
    ON_INPUT:
      - IF: input == "stop"
        THEN: COMPLETE
      - ELSE:
        CALL: check_pin(input)
          AS: pin
        SET: verified = pin.ok
        THEN: do_pay
  do_pay:
    REASONING: false
    CALL: pay("I1")
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: ask
"#;
    let scenario = r#"tools: { check_pin: [{ when: { pin: "right" }, answer: { ok: true } }, { answer: { ok: false } }], pay: [{ answer: { id: X } }] }
tests:
  - name: t
    turns:
      - says: ["PIN?"]
      - { user: right, calls: [check_pin, pay], says: ["Paid.", "PIN?"] }
      - { user: wrong, calls: [check_pin], says: ["You are not verified."] }
"#;
    talk(&[("desk.agent.abl", agent)], scenario);
    let hook = agent
        .replace("        CALL: check_pin(input)\n          AS: pin\n        SET: verified = pin.ok\n", "")
        .replace(
            "FLOW:\n",
            "HOOKS:\n  before_turn:\n    CALL: check_pin(input)\n    SET:\n      verified = result.ok\nFLOW:\n",
        );
    let scenario = r#"tools: { check_pin: [{ when: { pin: "right" }, answer: { ok: true } }, { answer: { ok: false } }], pay: [{ answer: { id: X } }] }
tests:
  - name: t
    turns:
      - says: ["PIN?"]
      - { user: right, calls: [check_pin, pay], says: ["Paid.", "PIN?"] }
      - { user: wrong, calls: [check_pin], says: ["You are not verified."] }
"#;
    let talk = run_talk(&[("desk.agent.abl", &hook)], scenario);
    let last = &talk.outcomes.first().unwrap().transcript;
    assert!(last.contains("You are not verified."), "{last}");
    assert_eq!(last.matches("calls pay").count(), 1, "{last}");
}

/// The same beside messages, fields and lists.
#[test]
fn what_is_assigned_keeps_its_place() {
    let agent = r#"AGENT: Shop
GOAL: "Sell"
TOOLS:
  find(word: string) -> {items: array}
    description: "Find"
MEMORY:
  session:
    - total
    - found
    - name: round
      initial_value: 1
FLOW:
  a -> b
  a:
    REASONING: false
    GATHER:
      - amount:
          TYPE: number
          REQUIRED: true
          PROMPT: "How many?"
    SET: total = amount * 2
    THEN: b
  b:
    REASONING: false
    RESPOND: "Round {{round}}, total {{total}}."
    SET: round = 2
    CALL: find("x")
    CLEAR: total
    TRANSFORM: result.items AS item INTO found
      FILTER: item.price > 1
    ON_SUCCESS:
      RESPOND: "Round {{round}}, total {{total}}, {{LENGTH(found)}} found."
      THEN: COMPLETE
"#;
    let scenario = r#"tools: { find: [{ answer: { items: [{ price: 1 }, { price: 2 }, { price: 3 }] } }] }
answers: [{ ask: extract, values: { amount: 4 }, times: always }]
tests:
  - name: t
    turns:
      - says: ["How many?"]
      - { user: "4", calls: [find], says: ["Round 1, total 8.", "Round 2, total , 2 found."] }
"#;
    talk(&[("shop.agent.abl", agent)], scenario);
}

/// Written again, also as JSON and in the other notation, the order is the same.
#[test]
fn conversions_keep_the_order() {
    for verify in [
        "    CALL: check_pin(\"0\")\n    SET: verified = result.ok\n    THEN: do_pay",
        "    CALL: check_pin(\"0\")\n      AS: pin\n    CLEAR: seen\n    SET: verified = pin.ok\n    THEN: do_pay",
        "    RESPOND: \"Wait.\"\n    SET: seen = 1\n    CALL: check_pin(\"0\")\n    LOG: seen\n    ON_RESULT:\n      - IF: result.ok\n        CALL: check_pin(\"1\")\n        SET: verified = result.ok\n        THEN: do_pay\n      - ELSE:\n        THEN: do_pay",
        "    CALL: check_pin(\"0\")\n    SET: verified = result.ok\n    ON_SUCCESS:\n      THEN: do_pay\n    ON_FAIL:\n      CLEAR: verified\n      RESPOND: \"No.\"\n      THEN: do_pay",
    ] {
        let agent = desk(verify);
        let checked =
            run_talk(&[("desk.agent.abl", &agent)], &scenario(true, "      - {}\n")).checked;
        for target in [targets::ABL, targets::ABL_YAML] {
            let name = target.name();
            let done = convert(languages(), &checked.program, &checked.sources, target);
            let (_, program, problems) = read_back(languages(), &done.files);
            let is_error = |problem: &Diagnostic| problem.severity == Severity::Error;
            assert!(!problems.iter().any(is_error), "{name}: {problems:#?}");
            let [before, after] = [&checked.program, &program].map(NormalizedProgram::new);
            let differences = value_differences(&before, &after);
            assert!(
                differences.is_empty(),
                "{name}\n{verify}\n{differences:#?}\n{:#?}",
                done.files
            );
        }
        let text = json(&checked.program);
        let files = [File { name: "desk.ir.json".to_owned(), text }];
        let read = check(&files, Options::default()).program;
        let [before, after] = [&checked.program, &read].map(NormalizedProgram::new);
        let differences = value_differences(&before, &after);
        assert!(differences.is_empty(), "{verify}\n{differences:#?}");
    }
}
