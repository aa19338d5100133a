//! One query per assertion.

use super::harness::{Harness, summary};
use agentir_expr::Dialect::{self, Abl, Adl, AgentScript};

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
    assert_eq!(satisfiable(Abl, "", &["x > 5", "y == 1", "x < 3"]), "none: 0 2");
    assert_eq!(satisfiable(Abl, "", &["x == \"a\"", "x == \"b\"", "x IS SET"]), "none: 0 1");
    assert_eq!(satisfiable(Abl, "", &["x > 5 AND x < 3"]), "none: 0");
    assert_eq!(satisfiable(Abl, "", &["x IS SET", "- x IS SET"]), "none: 0 1");
    assert_eq!(satisfiable(Abl, "", &["a OR b", "- a", "- b"]), "none: 0 1 2");
    assert_eq!(satisfiable(Abl, "", &["a OR b", "a OR c", "- a", "- b"]), "none: 0 2 3");
    assert_eq!(satisfiable(Abl, "", &["false"]), "none: 0");
}

#[test]
fn facts_are_part_of_cores() {
    assert_eq!(
        satisfiable(Abl, "guests: number\nguests: 1..8", &["guests > 8"]),
        "none: 0 100 101"
    );
    assert_eq!(satisfiable(Abl, "tier: gold | silver", &["tier == \"Gold\""]), "none: 0 100");
    assert_eq!(satisfiable(Abl, "x: set", &["x IS NOT SET"]), "none: 0 100");
    assert_eq!(satisfiable(Abl, "x: = 5", &["x > 5"]), "none: 0 100");
    assert_eq!(satisfiable(Abl, "x: bool", &["x == \"yes\""]), "none: 0 100");
    assert_eq!(
        satisfiable(Abl, "n: integer", &["n > 1", "n < 2", "n IS SET"]),
        "none: 0 1 100",
        "between 1 and 2 is not a whole number"
    );
    assert_eq!(
        satisfiable(Abl, "code: text\ncode: length 3..5", &["LENGTH(code) == 9"]),
        "none: 0 101"
    );
}

#[test]
fn states_are_short_and_readable() {
    assert_eq!(
        satisfiable(Abl, "", &["guests > 8", "pets == true"]),
        "state: guests = 9, pets = true"
    );
    assert_eq!(
        satisfiable(Abl, "tier: gold | silver", &["tier IS SET", "- tier == \"gold\""]),
        "state: tier = \"silver\""
    );
    assert_eq!(satisfiable(Abl, "", &["x > 5 OR y == 1"]), "state: y = 1");
    assert_eq!(
        satisfiable(Abl, "", &["input.contains(\"late\")", "- input == \"late\""]),
        "state: input = \"late other\""
    );
    assert_eq!(satisfiable(Abl, "", &["user.email IS NOT SET"]), "state: user.email is not set");
}

#[test]
fn implications() {
    assert_eq!(implied(Abl, "", &["x > 10"], "x > 5"), "none: 0");
    assert_eq!(implied(Abl, "", &["x > 5"], "x > 10"), "state: x = 6");
    assert_eq!(implied(Abl, "x: 1..8\nx: number", &[], "x <= 8"), "none: 100 101");
    assert_eq!(implied(Abl, "", &["x == \"a\""], "x IN [\"a\", \"b\"]"), "none: 0");
    assert_eq!(implied(Abl, "", &["x.startsWith(\"ab\")"], "x.startsWith(\"a\")"), "none: 0");
}

#[test]
fn equivalences() {
    assert_eq!(equivalent(Abl, "", "NOT (a AND b)", "NOT a OR NOT b"), "none: ");
    assert_eq!(equivalent(Abl, "", "x > 5", "x >= 5"), "state: x = 5");
    assert_eq!(equivalent(Abl, "x: number", "NOT x > 5", "x <= 5"), "none: 100");
}

#[test]
fn unset_values_follow_the_dialect() {
    // ABL's `!=` is not the negation of `==`.
    assert_eq!(satisfiable(Abl, "", &["x == null", "x != null"]), "state: x is not set");
    assert_eq!(satisfiable(AgentScript, "", &["x == null", "x != null"]), "none: 0 1");
    assert_eq!(equivalent(Abl, "", "x != 5", "NOT x == 5"), "none: ");
    // An unset value counts as 0 in ABL; elsewhere the comparison fails.
    assert_eq!(satisfiable(Abl, "", &["x < 5", "x IS NOT SET"]), "state: x is not set");
    assert_eq!(satisfiable(AgentScript, "", &["x < 5", "x IS NOT SET"]), "none: 0 1");
    assert_eq!(satisfiable(Adl, "", &["- x < 5", "x IS NOT SET"]), "none: 0 1");
    assert_eq!(satisfiable(Abl, "", &["- x > 5", "x IS NOT SET"]), "state: x is not set");
}

#[test]
fn conversions_follow_the_dialect() {
    assert_eq!(satisfiable(Abl, "x: text", &["x == 5"]), "state: x = \"5\"");
    assert_eq!(satisfiable(AgentScript, "x: text", &["x == 5"]), "none: 0 100");
    assert_eq!(satisfiable(AgentScript, "", &["x == true", "x == 1"]), "state: x = true");
    assert_eq!(satisfiable(Abl, "", &["x == true", "x == 1"]), "none: 0 1");
    assert_eq!(satisfiable(Abl, "x: bool", &["x", "x == false"]), "none: 0 1");
}

#[test]
fn opaque_conditions_are_equal_only_to_themselves() {
    assert_eq!(satisfiable(Abl, "", &["the user is angry", "- the user is angry"]), "none: 0 1");
    assert_eq!(
        satisfiable(Abl, "", &["the user is angry", "- the user is cross"]),
        "unknown: Opaque"
    );
    assert_eq!(satisfiable(Abl, "", &["the user is angry", "x > 5", "x < 4"]), "none: 1 2");
    assert_eq!(satisfiable(Abl, "", &["NOW() > x", "- NOW() > x"]), "none: 0 1");
}

#[test]
fn members_of_objects() {
    assert_eq!(
        satisfiable(Abl, "", &["order.status == \"open\"", "order IS NOT SET"]),
        "none: 0 1"
    );
    assert_eq!(
        satisfiable(Abl, "", &["order.status == \"open\"", "order IS SET", "- order.total > 5"]),
        "state: order = {status: \"open\", total: 0}"
    );
}

#[test]
fn arithmetic_and_comparisons_of_variables_need_z3() {
    assert_eq!(
        satisfiable(Abl, "x: number\nx: set\ny: number\ny: set", &["x < y", "y < x"]),
        "none: 0 1"
    );
    assert_eq!(
        satisfiable(Abl, "x: number\nx: set\ny: number\ny: set", &["x + y > 10", "x < 3", "y < 4"]),
        "none: 0 1 2 100 102"
    );
    assert!(satisfiable(Abl, "x: number", &["x * 2 == 14"]).contains("x = 7"));
    assert_eq!(
        satisfiable(
            Abl,
            "s: text",
            &["s.startsWith(\"ab\")", "s.endsWith(\"cd\")", "LENGTH(s) == 3"]
        ),
        "none: 0 1 2"
    );
    assert_eq!(satisfiable(Abl, "s: text", &["s matches /^[a-c]+$/", "s == \"d\""]), "none: 0 1");
}
