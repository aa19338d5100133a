//! The vendor's diagnostics of level error: `corpus/agent-script/VENDOR.md` names all of them, each with
//! the rule that finds the same and an example, or with a reason.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};
use agentir_tests::samples::{external_agent_script, external_root, root};
use std::collections::BTreeSet;
use std::fs;

/// A section of the document.
struct Entry {
    code: String,
    rule: Option<String>,
    reason: Option<String>,
    example: String,
}

fn entries() -> Vec<Entry> {
    let text = fs::read_to_string(root().join("corpus/agent-script/VENDOR.md")).unwrap();
    let sections = text.split("\n## ").skip(1);
    sections
        .map(|section| {
            let (code, rest) = section.split_once('\n').unwrap();
            let said = |word: &str| {
                rest.lines().find_map(|l| l.strip_prefix(word)).map(|s| s.trim().to_owned())
            };
            let example = rest.split("```agent fail\n").nth(1).unwrap_or_default();
            Entry {
                code: code.trim().to_owned(),
                rule: said("Rule:").map(|r| r.trim_matches('`').to_owned()),
                reason: said("No rule:"),
                example: example.split("```").next().unwrap_or_default().to_owned(),
            }
        })
        .collect()
}

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

#[test]
fn examples_are_found_where_they_say() {
    let mut problems = Vec::new();
    for Entry { code, rule, reason, example } in entries() {
        let Some(rule) = rule else {
            assert!(reason.is_some_and(|r| r.len() > 20), "`{code}` has neither rule nor reason");
            continue;
        };
        let here: Vec<usize> = (1..)
            .zip(example.lines())
            .filter(|(_, line)| line.ends_with("# here"))
            .map(|(number, _)| number)
            .collect();
        let [here] = here.as_slice() else {
            problems.push(format!("`{code}` has {} lines that say `here`", here.len()));
            continue;
        };
        let file = File { name: "vendor.agent".to_owned(), text: example };
        let checked = check(&[file], Options::default());
        let found = checked.diagnostics.iter().any(|d| {
            d.rule.0 == rule
                && usize::try_from(checked.place(d.primary.span).1).is_ok_and(|line| line == *here)
        });
        if !found {
            let all = checked.lines().join("\n      ");
            problems.push(format!("`{code}`: no `{rule}` in line {here}\n      {all}"));
        }
        let known = agentir_lint::rule(&rule).map(|r| r.vendor).unwrap_or_default();
        if !known.contains(&code.as_str()) {
            problems.push(format!("the rule `{rule}` does not name `{code}`"));
        }
    }
    report("examples without their finding", &problems);
}

#[test]
#[cfg_attr(not(vendor_diagnostics), ignore = "needs ../languages beside the external corpus")]
fn every_error_of_the_vendor_is_there() {
    let list = external_root().join("../languages/agent-script-diagnostics.md");
    let text = fs::read_to_string(list).unwrap();
    let ours: BTreeSet<String> = entries().into_iter().map(|e| e.code).collect();
    let mut missing = BTreeSet::new();
    let mut section = "";
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", code, severity, _, ..] = cells.as_slice()
            && severity.contains("Error")
            && !section.starts_with("agentfabric")
            && !ours.contains(*code)
        {
            missing.insert((*code).to_owned());
        }
    }
    report("codes that are not named", &missing.into_iter().collect::<Vec<_>>());
}

/// Findings of the vendor's that we do not share, by the end of the file's name and the code.
const NOT_SHARED: &[(&str, &str, &str)] = &[(
    "ComprehensiveDemo.agent",
    "undefined-reference",
    "a `source` in a namespace that does not exist is one finding of ours, `invalid-value`, not two",
)];

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn rejected_files_are_rejected_for_the_same_cause() {
    let text =
        fs::read_to_string(external_root().join("agentscript/official-verdicts.json")).unwrap();
    let verdicts: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entries = entries();
    let mut problems = Vec::new();
    for file in external_agent_script() {
        let said = verdicts[&file.name]["lint"].as_object().cloned().unwrap_or_default();
        let codes = said.keys().filter_map(|key| key.split_once("|error|")).map(|(code, _)| code);
        let causes: Vec<&str> = codes
            .filter(|code| entries.iter().any(|e| e.code == *code && e.rule.is_some()))
            .filter(|code| {
                !NOT_SHARED.iter().any(|(name, c, _)| file.name.ends_with(name) && c == code)
            })
            .collect();
        let name = file.name.clone();
        let checked = check(&[file], Options::default());
        let ours: BTreeSet<&str> = checked.errors().map(|d| d.rule.0).collect();
        for cause in causes {
            // A rule may find the same under several of the vendor's codes.
            let same =
                |rule: &&str| agentir_lint::rule(rule).is_some_and(|r| r.vendor.contains(&cause));
            if !ours.iter().any(same) {
                problems.push(format!("{name}: nothing of {ours:?} is `{cause}`"));
            }
        }
    }
    report("files that are rejected for another cause", &problems);
}
