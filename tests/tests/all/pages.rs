//! The page is the rule: every rule has one, and its examples run.

#![allow(clippy::panic, reason = "tests end by panicking")]

use agentir_tests::{documents, pages};
use similar::TextDiff;
use std::collections::BTreeSet;

/// Rules whose pages need not have examples that fail.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[
    ("not-text", "about files that are not text, which a page cannot show"),
    ("unreadable-file", "about files that cannot be opened, which a page cannot show"),
    ("internal-error", "about mistakes of agentir, and none is known"),
    ("invalid-configuration", "about `agentir.toml`, which is not an agent"),
    ("nesting-too-deep", "needs more levels than a page is wide"),
    ("expression-too-deep", "needs more parentheses than a page is wide"),
];

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{what}:\n  {}\n", problems.join("\n  "));
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let rules: BTreeSet<String> =
        agentir_lint::catalogue().iter().map(|r| r.name.to_owned()).collect();
    let pages: BTreeSet<String> = pages::all().into_iter().map(|p| p.name).collect();
    let without_page = rules.difference(&pages).map(|r| format!("rule without a page: {r}"));
    let without_rule =
        pages.difference(&rules).map(|p| format!("page without a rule: rules/{p}.md"));
    let problems: Vec<String> = without_page.chain(without_rule).collect();
    report("rules and pages differ", &problems);
}

#[test]
fn pages_are_headed_by_their_rule() {
    let problems: Vec<String> = pages::all()
        .into_iter()
        .filter(|p| p.heading != p.name)
        .map(|p| format!("rules/{}.md is headed `{}`", p.name, p.heading))
        .collect();
    report("wrong headings", &problems);
}

#[test]
fn every_page_has_examples() {
    let mut problems = Vec::new();
    for page in pages::all() {
        problems.extend(page.problems.iter().map(|p| format!("rules/{}.md {p}", page.name)));
        if WITHOUT_EXAMPLE.iter().any(|(name, _)| *name == page.name) {
            continue;
        }
        if !page.examples.iter().any(|e| e.fails) {
            problems.push(format!("rules/{}.md has no `abl fail` block", page.name));
        }
        if page.examples.iter().all(|e| e.fails) {
            problems.push(format!("rules/{}.md has no `abl pass` block", page.name));
        }
    }
    report("pages without examples", &problems);
}

#[test]
fn examples_fail_and_pass_as_they_say() {
    let mut problems = Vec::new();
    for page in pages::all() {
        for example in &page.examples {
            let at = format!("rules/{}.md:{}", page.name, example.line);
            let checked = example.check();
            let given = checked.diagnostics.iter().any(|d| d.rule.0 == page.name);
            if given != example.fails {
                let verb = if example.fails { "does not give" } else { "gives" };
                let found = checked.lines().join("\n      ");
                problems.push(format!("{at} {verb} the finding; all findings:\n      {found}"));
            }
            if !example.fails {
                problems.extend(checked.errors().map(|d| format!("{at} {}", checked.line(d))));
            }
        }
    }
    report("examples that do not do what they say", &problems);
}

/// Every finding of the page's rule is marked where it is and with what it says, and nothing else is.
#[test]
fn examples_are_marked_with_their_findings() {
    let update = documents::updates();
    let mut problems = String::new();
    for page in pages::all() {
        let mut text = pages::text(&page.name);
        // From the last to the first: those before stay where they are.
        for example in page.examples.iter().rev() {
            let marked = example.marked(&example.check(), &page.name);
            if marked == example.body {
                continue;
            }
            if update {
                let fence: usize =
                    text.split_inclusive('\n').take(example.line).map(str::len).sum();
                text.replace_range(fence..fence + example.body.len(), &marked);
                pages::write(&page.name, &text);
                continue;
            }
            let at = format!("rules/{}.md:{}", page.name, example.line);
            let diff = TextDiff::from_lines(&example.body, &marked);
            let diff = diff.unified_diff().context_radius(1).header(&at, "findings").to_string();
            problems.push_str(&diff);
        }
    }
    assert!(
        problems.is_empty(),
        "marks differ from findings; if the findings are right, write the marks with\n    \
         AGENTIR_UPDATE_PAGES=1 cargo test -p agentir-tests --test all -- pages::\n{problems}"
    );
}

#[test]
fn options_are_on_the_pages_of_their_rules() {
    let problems: Vec<String> = agentir_lint::OPTIONS
        .iter()
        .filter(|option| {
            let page = agentir_lint::page(option.rule).unwrap_or_default();
            let shown = page.contains(&format!("\n`{}`: ", option.name));
            !shown || !page.contains(&format!("[options.{}]\n{} = ", option.rule, option.name))
        })
        .map(|option| format!("rules/{}.md says nothing of `{}`", option.rule, option.name))
        .collect();
    report("options that are not described", &problems);
}
