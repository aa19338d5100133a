//! One query per assertion.

use super::harness::{Harness, summary};
use agentir_expr::Dialect;
use agentir_lang_abl::dialect::ABL;
use agentir_lang_adl::dialect::ADL;
use agentir_lang_agent_script::dialect::AGENT_SCRIPT;

fn satisfiable(dialect: Dialect, facts: &str, conditions: &[&str]) -> String {
    summary(&Harness::new(dialect, facts).satisfiable(conditions))
}

fn implied(dialect: Dialect, facts: &str, conditions: &[&str], last: &str) -> String {
    summary(&Harness::new(dialect, facts).implied(conditions, last))
}

fn equivalent(dialect: Dialect, facts: &str, a: &str, b: &str) -> String {
    summary(&Harness::new(dialect, facts).equivalent(a, b))
}

#[test]
fn contradictions_have_a_minimal_core() {
    assert_eq!(satisfiable(ABL, "", &["x > 5", "y == 1", "x < 3"]), "none: 0 2");
    assert_eq!(satisfiable(ABL, "", &["x == \"a\"", "x == \"b\"", "x IS SET"]), "none: 0 1");
    assert_eq!(satisfiable(ABL, "", &["x > 5 AND x < 3"]), "none: 0");
    assert_eq!(satisfiable(ABL, "", &["x IS SET", "- x IS SET"]), "none: 0 1");
    assert_eq!(satisfiable(ABL, "", &["a OR b", "- a", "- b"]), "none: 0 1 2");
    assert_eq!(satisfiable(ABL, "", &["a OR b", "a OR c", "- a", "- b"]), "none: 0 2 3");
    assert_eq!(satisfiable(ABL, "", &["false"]), "none: 0");
}

#[test]
fn facts_are_part_of_cores() {
    assert_eq!(
        satisfiable(ABL, "guests: number\nguests: 1..8", &["guests > 8"]),
        "none: 0 100 101"
    );
    assert_eq!(satisfiable(ABL, "tier: gold | silver", &["tier == \"Gold\""]), "none: 0 100");
    assert_eq!(satisfiable(ABL, "x: set", &["x IS NOT SET"]), "none: 0 100");
    assert_eq!(satisfiable(ABL, "x: = 5", &["x > 5"]), "none: 0 100");
    assert_eq!(satisfiable(ABL, "x: bool", &["x == \"yes\""]), "none: 0 100");
    assert_eq!(
        satisfiable(ABL, "n: integer", &["n > 1", "n < 2", "n IS SET"]),
        "none: 0 1 100",
        "between 1 and 2 is not a whole number"
    );
    assert_eq!(
        satisfiable(ABL, "code: text\ncode: length 3..5", &["LENGTH(code) == 9"]),
        "none: 0 101"
    );
}

#[test]
fn states_are_short_and_readable() {
    assert_eq!(
        satisfiable(ABL, "", &["guests > 8", "pets == true"]),
        "state: guests = 9, pets = true"
    );
    assert_eq!(
        satisfiable(ABL, "tier: gold | silver", &["tier IS SET", "- tier == \"gold\""]),
        "state: tier = \"silver\""
    );
    assert_eq!(satisfiable(ABL, "", &["x > 5 OR y == 1"]), "state: x = 6");
    assert_eq!(
        satisfiable(ABL, "", &["input.contains(\"late\")", "- input == \"late\""]),
        "state: input = \"late other\""
    );
    assert_eq!(satisfiable(ABL, "", &["user.email IS NOT SET"]), "state: user.email is not set");
}

#[test]
fn implications() {
    assert_eq!(implied(ABL, "", &["x > 10"], "x > 5"), "none: 0");
    assert_eq!(implied(ABL, "", &["x > 5"], "x > 10"), "state: x = 6");
    assert_eq!(implied(ABL, "x: 1..8\nx: number", &[], "x <= 8"), "none: 100 101");
    assert_eq!(implied(ABL, "", &["x == \"a\""], "x IN [\"a\", \"b\"]"), "none: 0");
    assert_eq!(implied(ABL, "", &["x.startsWith(\"ab\")"], "x.startsWith(\"a\")"), "none: 0");
}

#[test]
fn equivalences() {
    assert_eq!(equivalent(ABL, "", "NOT (a AND b)", "NOT a OR NOT b"), "none: ");
    assert_eq!(equivalent(ABL, "", "x > 5", "x >= 5"), "state: x = 5");
    // What cannot be compared with a number makes both fail.
    assert_eq!(equivalent(ABL, "", "NOT x > 5", "x <= 5"), "none: ");
}

#[test]
fn unset_values_follow_the_dialect() {
    // ABL's `!=` is not the negation of `==`.
    assert_eq!(satisfiable(ABL, "", &["x == null", "x != null"]), "state: x is not set");
    assert_eq!(satisfiable(AGENT_SCRIPT, "", &["x == null", "x != null"]), "none: 0 1");
    assert_eq!(equivalent(ABL, "", "x != 5", "NOT x == 5"), "none: ");
    // An unset value counts as 0 in ABL; elsewhere the comparison fails.
    assert_eq!(satisfiable(ABL, "", &["x < 5", "x IS NOT SET"]), "state: x is not set");
    assert_eq!(satisfiable(AGENT_SCRIPT, "", &["x < 5", "x IS NOT SET"]), "none: 0 1");
    assert_eq!(satisfiable(ADL, "", &["- x < 5", "x IS NOT SET"]), "none: 0 1");
    assert_eq!(satisfiable(ABL, "", &["- x > 5", "x IS NOT SET"]), "state: x is not set");
}

#[test]
fn conversions_follow_the_dialect() {
    assert_eq!(satisfiable(ABL, "x: text", &["x == 5"]), "state: x = \"5\"");
    assert_eq!(satisfiable(AGENT_SCRIPT, "x: text", &["x == 5"]), "none: 0 100");
    assert_eq!(satisfiable(AGENT_SCRIPT, "", &["x == true", "x == 1"]), "state: x = true");
    assert_eq!(satisfiable(ABL, "", &["x == true", "x == 1"]), "none: 0 1");
    assert_eq!(satisfiable(ABL, "x: bool", &["x", "x == false"]), "none: 0 1");
}

#[test]
fn opaque_conditions_are_equal_only_to_themselves() {
    assert_eq!(satisfiable(ABL, "", &["the user is angry", "- the user is angry"]), "none: 0 1");
    assert_eq!(
        satisfiable(ABL, "", &["the user is angry", "- the user is cross"]),
        "unknown: Opaque"
    );
    assert_eq!(satisfiable(ABL, "", &["the user is angry", "x > 5", "x < 4"]), "none: 1 2");
    assert_eq!(satisfiable(ABL, "", &["NOW() > x", "- NOW() > x"]), "none: 0 1");
}

#[test]
fn members_of_objects() {
    assert_eq!(
        satisfiable(ABL, "", &["order.status == \"open\"", "order IS NOT SET"]),
        "none: 0 1"
    );
    assert_eq!(
        satisfiable(ABL, "", &["order.status == \"open\"", "order IS SET", "- order.total > 5"]),
        "state: order = {status: \"open\", total: 0}"
    );
}

#[test]
fn arithmetic_and_comparisons_of_variables_need_z3() {
    assert_eq!(
        satisfiable(ABL, "x: number\nx: set\ny: number\ny: set", &["x < y", "y < x"]),
        "none: 0 1"
    );
    assert_eq!(
        satisfiable(ABL, "x: number\nx: set\ny: number\ny: set", &["x + y > 10", "x < 3", "y < 4"]),
        "none: 0 1 2 100 102"
    );
    assert!(satisfiable(ABL, "x: number", &["x * 2 == 14"]).contains("x = 7"));
    assert_eq!(
        satisfiable(
            ABL,
            "s: text",
            &["s.startsWith(\"ab\")", "s.endsWith(\"cd\")", "LENGTH(s) == 3"]
        ),
        "none: 0 1 2"
    );
    assert_eq!(satisfiable(ABL, "s: text", &["s matches /^[a-c]+$/", "s == \"d\""]), "none: 0 1");
}
