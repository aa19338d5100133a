//! The generated projects of the benchmarks are correct: else the benchmarks would mostly measure messages.

#![allow(clippy::panic, reason = "tests end by panicking")]

use agentir_lang_abl::Options;
use agentir_tests::check::{File, check, json};
use agentir_tests::words;
use std::collections::BTreeMap;

#[test]
fn generated_projects_have_no_findings_and_lose_nothing() {
    let mut counts: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut lost = Vec::new();
    let abl = agentir_bench::generate::projects(300, 11);
    let scripts = agentir_bench::generate::scripts(60, 11);
    let bots = agentir_bench::generate::bots(60, 11);
    for project in abl.into_iter().chain(scripts).chain(bots) {
        let files: Vec<File> = project
            .files
            .into_iter()
            .map(|f| File { name: format!("{}/{}", project.name, f.path), text: f.text })
            .collect();
        let checked = check(&files, Options::default());
        for d in &checked.diagnostics {
            let entry = counts.entry(d.rule.0.to_owned()).or_insert_with(|| (0, checked.line(d)));
            entry.0 += 1;
        }
        // Keywords of ADL and Python are not in the IR; those of the others are known.
        if !files.iter().any(|f| f.name.ends_with(".py")) {
            lost.extend(words::lost(&files, &json(&checked.program)));
        }
    }
    let found: Vec<String> =
        counts.into_values().map(|(n, first)| format!("{n} times: {first}")).collect();
    assert!(found.is_empty(), "findings in generated projects:\n  {}\n", found.join("\n  "));
    // What has `fields` is an object, whether it says so or not.
    lost.retain(|l| !l.starts_with("`object` "));
    assert!(
        lost.is_empty(),
        "words of generated projects that are not in the IR:\n  {}\n",
        lost.join("\n  ")
    );
}
