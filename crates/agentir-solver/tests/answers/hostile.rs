//! Large, deep and unusual queries.

use super::harness::{Harness, summary};
use agentir_lang_abl::dialect::ABL;
use std::fmt::Write;

#[test]
fn thousands_of_constraints_over_fifty_variables() {
    let conditions: Vec<String> = (0..2000)
        .map(|i| format!("v{} != {} OR v{} > {}", i % 50, i, (i * 7) % 50, i / 4))
        .collect();
    let all: Vec<&str> = conditions.iter().map(String::as_str).collect();
    let mut harness = Harness::new(ABL, "");
    let found = summary(&harness.satisfiable(&all));
    assert!(found.starts_with("state"), "{found}");
    let simple: Vec<String> = (0..2000).map(|i| format!("v{} > {}", i % 50, i)).collect();
    let mut all: Vec<&str> = simple.iter().map(String::as_str).collect();
    all.push("v7 < 100");
    let found = summary(&harness.satisfiable(&all));
    assert!(found.starts_with("none:") && found.split(' ').count() == 3, "{found}");
}

#[test]
fn large_enumerations() {
    let values: Vec<String> = (0..10_000).map(|i| format!("value_{i}")).collect();
    let mut harness = Harness::new(ABL, &format!("x: {}", values.join(" | ")));
    let mut list = String::new();
    for value in &values {
        let _ = write!(list, "\"{value}\", ");
    }
    let within = format!("x IN [{}]", list.trim_end_matches(", "));
    assert_eq!(
        summary(&harness.satisfiable(&[&format!("- {within}"), "x IS SET"])),
        "none: 0 1 100"
    );
    assert_eq!(
        summary(&harness.satisfiable(&["x == \"value_9999\""])),
        "state: x = \"value_9999\""
    );
    assert_eq!(summary(&harness.satisfiable(&["x == \"value_10000\""])), "none: 0 100");
}

#[test]
fn long_strings_and_deep_expressions() {
    let mut harness = Harness::new(ABL, "");
    let long = format!("x == \"{}\"", "ü".repeat(500_000));
    assert!(summary(&harness.satisfiable(&[&long])).starts_with("state"));
    assert_eq!(summary(&harness.satisfiable(&[&long, "x == \"a\""])), "none: 0 1");
    let deep = format!("{}x > 5{}", "NOT (".repeat(150), ")".repeat(150));
    assert_eq!(summary(&harness.satisfiable(&[&deep])), "state: x = 6");
}
