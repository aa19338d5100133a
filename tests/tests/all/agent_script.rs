//! Agent Script: our own samples give the findings they promise; the external corpus gives errors
//! where the vendor's tools do.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_diagnostics::{FileId, RuleName, Severity};
use agentir_lang_abl::Options;
use agentir_lang_agent_script as syntax;
use agentir_lint::Group;
use agentir_syntax::rules;
use agentir_tests::check::{Checked, File, check, json};
use agentir_tests::samples::{agent_script, external_agent_script, external_root};
use agentir_tests::{expect, words};

fn run(files: &[File]) -> Checked {
    check(files, Options::default())
}

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

#[test]
fn valid_samples_have_no_findings() {
    let problems: Vec<String> =
        agent_script("valid").iter().flat_map(|s| run(&s.files).lines()).collect();
    report("findings in correct samples", &problems);
}

#[test]
fn invalid_samples_have_the_findings_they_expect() {
    let problems: Vec<String> = agent_script("invalid")
        .iter()
        .flat_map(|s| expect::differences(&s.files, &run(&s.files)))
        .collect();
    report("differences", &problems);
}

#[test]
fn nothing_of_ours_is_lost() {
    let problems: Vec<String> = agent_script("valid")
        .iter()
        .flat_map(|s| words::lost(&s.files, &json(&run(&s.files).program)))
        .collect();
    report("words that are not in the IR", &problems);
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn nothing_of_the_corpus_is_lost() {
    let mut problems = Vec::new();
    for file in external_agent_script() {
        let files = [file];
        let checked = run(&files);
        let broken = |group| group == Some(Group::Syntax);
        // What cannot be read is reported and need not be in the IR.
        if checked.errors().any(|d| broken(agentir_lint::rule(d.rule.0).map(|r| r.group))) {
            continue;
        }
        problems.extend(words::lost(&files, &json(&checked.program)));
    }
    report("words that are not in the IR", &problems);
}

/// Files about which the vendor's tools and we do not agree, by the end of their names, with the
/// reason.
const OTHERWISE: &[(&str, &str)] = &[(
    "ConditionalLogicPatterns.agent",
    "`unsupported-nested-if`: the specification asks for nested ifs (part I, 5.8)",
)];

/// What the vendor's tools find in each file of the external corpus.
fn verdicts() -> serde_json::Value {
    let path = external_root().join("agentscript/official-verdicts.json");
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn errors_are_where_the_vendor_finds_them() {
    let verdicts = verdicts();
    let mut problems = Vec::new();
    let mut agreed = 0;
    for file in external_agent_script() {
        let verdict = &verdicts[&file.name];
        let theirs = ["parseErrors", "lintErrors", "compileErrors"]
            .iter()
            .any(|kind| verdict[kind].as_u64().is_some_and(|n| n > 0));
        let listed = OTHERWISE.iter().any(|(name, _)| file.name.ends_with(name));
        let checked = run(std::slice::from_ref(&file));
        let ours: Vec<String> = checked.errors().map(|d| checked.line(d)).collect();
        match (theirs != ours.is_empty(), listed) {
            (true, false) => agreed += 1,
            (false, true) => {}
            (true, true) => problems.push(format!("{} is listed, but we agree", file.name)),
            (false, false) if theirs => problems.push(format!("{}: only theirs", file.name)),
            (false, false) => problems.extend(ours),
        }
    }
    eprintln!("agreed with the vendor about {agreed} files; {} listed", OTHERWISE.len());
    report("files about which the vendor says otherwise", &problems);
}

/// The rules that say that a text is not valid Agent Script, whatever its fields are.
const SYNTAX: &[RuleName] = &[
    rules::SYNTAX,
    rules::UNTERMINATED_STRING,
    rules::NESTING,
    rules::INVALID_EXPRESSION,
    rules::INVALID_TEMPLATE,
    rules::EXPRESSION_TOO_DEEP,
    rules::UNFILLED_PLACEHOLDER,
];

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn dialects_and_syntax_errors_are_those_of_the_vendors_parser() {
    let verdicts = verdicts();
    let files = external_agent_script();
    assert!(files.len() > 100, "only {} files", files.len());
    let mut problems = Vec::new();
    for file in files {
        let verdict = &verdicts[&file.name];
        let mut found = Vec::new();
        let document = syntax::parse(FileId(0), &file.text, Default::default(), &mut found);
        if document.dialect.name() != verdict["dialect"] {
            problems.push(format!("{}: is of dialect {}", file.name, verdict["dialect"]));
        }
        let ours: Vec<&str> = found
            .iter()
            .filter(|d| d.severity == Severity::Error && SYNTAX.contains(&d.rule))
            .map(|d| d.message.as_str())
            .collect();
        let theirs = verdict["parseErrors"].as_u64().unwrap();
        if (theirs > 0) == ours.is_empty() {
            problems.push(format!("{}: {theirs} of the vendor's, ours: {ours:?}", file.name));
        }
    }
    report("files that the vendor's parser reads differently", &problems);
}
