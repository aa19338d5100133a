//! Checks that can be seen never to have a value, in the source (Cur. 3.8: a check holds or does not; 3.5.1: validation).

use super::run_talk;

/// An agent with a field `amount`, a validation of it, a check in its last step and a constraint.
fn desk(rule: &str, check: &str, constraint: &str) -> String {
    format!(
        r#"AGENT: Desk
GOAL: "Pay"
TOOLS:
  pay(amount: number) -> {{id: string}}
    description: "Pay"
CONSTRAINTS:
  safety:
    - REQUIRE {constraint} BEFORE calling pay
      ON_FAIL: "No."
FLOW:
  ask -> bye
  ask:
    REASONING: false
    GATHER:
      - amount:
          TYPE: number
          REQUIRED: true
          PROMPT: "How much?"
          VALIDATE:
            type: custom
            rule: {rule}
    CALL: pay(amount)
    THEN: bye
  bye:
    REASONING: false
    CHECK: {check}
    THEN: COMPLETE
"#
    )
}

/// The lines at which a rule reports something in an agent.
fn reported(agent: &str, rule: &str) -> Vec<String> {
    let talk = run_talk(&[("desk.agent.abl", agent)], "tests: []\n");
    let found = talk.checked.diagnostics.iter().filter(|finding| finding.rule.0 == rule);
    found
        .map(|finding| {
            let (_, line) = talk.checked.place(finding.primary.span);
            let line = line.checked_sub(1).and_then(|at| agent.lines().nth(at as usize));
            line.unwrap_or_default().trim().to_owned()
        })
        .collect()
}

const FINE: &str = "amount > 1";

#[test]
fn what_never_has_a_value_is_an_error() {
    assert!(reported(&desk(FINE, FINE, FINE), "broken-guard").is_empty());
    for broken in ["1/0 > 1", "amount < \"abc\"", "abl.matches_pattern(amount, \"[\")"] {
        for (agent, line) in [
            (desk(broken, FINE, FINE), format!("rule: {broken}")),
            (desk(FINE, broken, FINE), format!("CHECK: {broken}")),
            (
                desk(FINE, &format!("{broken}\n    ON_FAIL:\n      RESPOND: \"Failed\""), FINE),
                format!("CHECK: {broken}"),
            ),
            (desk(FINE, FINE, broken), format!("- REQUIRE {broken} BEFORE calling pay")),
            (
                desk(FINE, FINE, &format!("NOT ({broken})")),
                format!("- REQUIRE NOT ({broken}) BEFORE calling pay"),
            ),
        ] {
            assert_eq!(reported(&agent, "broken-guard"), [line], "{broken}\n{agent}");
        }
    }
    // A rule for values is reported nowhere else.
    let unknown = desk("nofunc(amount) > 1", FINE, FINE);
    assert_eq!(reported(&unknown, "broken-guard"), ["rule: nofunc(amount) > 1"]);
}

/// What has no value is not false.
#[test]
fn a_comparison_without_a_value_is_not_called_false() {
    for broken in ["amount < \"abc\"", "NOT (amount < \"abc\")", "amount > 1 AND amount < \"abc\""]
    {
        let agent = desk(FINE, FINE, broken);
        for rule in ["constant-comparison", "unsatisfiable-condition"] {
            let found = reported(&agent, rule);
            assert!(found.is_empty(), "{broken}: {rule} {found:?}");
        }
        assert_eq!(reported(&agent, "broken-guard").len(), 1, "{broken}");
    }
}

/// A guard that the user's words alone open is reported; what is declared as a field is for the user to say.
#[test]
fn a_guard_that_the_user_opens_is_reported() {
    let agent = |gather: &str, set: &str| {
        format!(
            "AGENT: Desk\nGOAL: \"Pay\"\nTOOLS:\n  pay(amount: number) -> {{id: string, ok: boolean}}\n    description: \"Pay\"\nMEMORY:\n  session:\n    - verified\n{gather}CONSTRAINTS:\n  r:\n    - REQUIRE verified == true BEFORE calling pay\n      ON_FAIL: \"No.\"\nFLOW:\n  s -> t\n  s:\n    REASONING: true\n    GOAL: \"Talk\"\n    AVAILABLE_TOOLS: [pay]\n    EXIT_WHEN: verified == true\n    THEN: t\n  t:\n    REASONING: false\n    CALL: pay(5)\n{set}    THEN: COMPLETE\n"
        )
    };
    assert_eq!(reported(&agent("", ""), "unset-opens-guard").len(), 1);
    let field = "GATHER:\n  verified:\n    TYPE: boolean\n    PROMPT: \"Are you?\"\n";
    assert!(reported(&agent(field, ""), "unset-opens-guard").is_empty());
    let set = "    SET: verified = result.ok\n";
    assert!(reported(&agent("", set), "unset-opens-guard").is_empty());
}

/// Parameters that must not change after a confirmation are locked by none.
#[test]
fn parameters_that_nothing_locks_are_reported() {
    let agent = |confirmation: &str| {
        desk(FINE, FINE, FINE).replace(
            "    description: \"Pay\"\n",
            &format!("    description: \"Pay\"\n{confirmation}"),
        )
    };
    let rule = "side-effect-without-confirmation";
    let locked = "    confirmation:\n      immutable_params: [amount]\n";
    assert_eq!(reported(&agent(locked), rule).len(), 1);
    let asked = "    confirmation:\n      require: always\n      immutable_params: [amount]\n";
    assert!(reported(&agent(asked), rule).is_empty());
    assert!(reported(&agent("    confirm: never\n    immutable: [amount]\n"), rule).is_empty());
}
