//! Conversion to ADL: ADL is written back as it was, the Rosetta agents become the hand-written
//! ones, and every loss on our samples says more than that there is no place for it.

#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "tests end by panicking"
)]

use agentir::{languages, targets};
use agentir_convert::{Conversion, NormalizedProgram, convert, differences};
use agentir_diagnostics::Severity;
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};
use agentir_tests::samples::{
    adl, agent_script, external_abl, external_root, files_below, ours, root,
};

fn to_adl(files: &[File]) -> (NormalizedProgram, Conversion) {
    let checked = check(files, Options::default());
    let done = convert(languages(), &checked.program, &checked.sources, targets::ADL);
    (NormalizedProgram::new(&checked.program), done)
}

/// What two programs do not have in common, as lines.
fn differ(left: &NormalizedProgram, right: &NormalizedProgram) -> Vec<String> {
    let side = |v: &Option<(serde_json::Value, _)>| {
        v.as_ref().map_or_else(|| "nothing".to_owned(), |(v, _)| v.to_string())
    };
    let found = differences(left, right);
    found.iter().map(|d| format!("{}: {} / {}", d.path, side(&d.left), side(&d.right))).collect()
}

fn errors(done: &Conversion) -> Vec<String> {
    let errors = done.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors
        .map(|d| {
            let file = done.sources.get(d.primary.span.file).unwrap();
            let at = file.line_column(d.primary.span.start);
            let line = file.text.lines().nth(at.line as usize - 1).unwrap_or_default();
            format!("{}:{}: {} ({}): {line}", file.name, at.line, d.rule.0, d.message)
        })
        .collect()
}

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

/// Our correct samples of every language.
fn samples() -> Vec<Vec<File>> {
    let mut all: Vec<Vec<File>> = ours("valid").into_iter().map(|s| s.files).collect();
    all.extend(adl("valid"));
    let scripts = root().join("corpus/agent-script/valid");
    all.extend(files_below(&scripts).into_iter().map(|f| vec![f]));
    let mut agents: Vec<_> = std::fs::read_dir(root().join("corpus/rosetta"))
        .unwrap()
        .flat_map(|agent| std::fs::read_dir(agent.unwrap().path()).unwrap())
        .map(|language| language.unwrap().path())
        .collect();
    agents.sort();
    all.extend(agents.iter().map(|a| files_below(a)));
    all
}

#[test]
fn adl_is_written_back_as_it_was() {
    let mut problems = Vec::new();
    for files in adl("valid") {
        let (before, done) = to_adl(&files);
        let name = &files.first().unwrap().name;
        problems.extend(
            differ(&before, &NormalizedProgram::new(&done.program))
                .iter()
                .map(|d| format!("{name}: {d}")),
        );
        problems.extend(errors(&done).iter().map(|d| format!("{name}: {d}")));
    }
    report("differences", &problems);
}

/// Third-party bots: MICA's, and the paper's.
#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn the_bots_of_others_are_written_back_as_they_were() {
    let mut open = vec![external_root().join("adl")];
    let mut problems = Vec::new();
    let mut bots = 0;
    while let Some(at) = open.pop() {
        let paths = std::fs::read_dir(&at).unwrap().map(|e| e.unwrap().path());
        let (folders, mut paths): (Vec<_>, Vec<_>) = paths.partition(|p| p.is_dir());
        open.extend(folders);
        paths.sort();
        let file = |path: &std::path::PathBuf| File {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            text: std::fs::read_to_string(path).unwrap_or_default(),
        };
        let kind = |path: &std::path::PathBuf, all: &[&str]| {
            path.extension().is_some_and(|e| all.iter().any(|kind| e == *kind))
        };
        let python: Vec<_> = paths.iter().filter(|p| kind(p, &["py"])).collect();
        for path in paths.iter().filter(|p| kind(p, &["yml", "yaml"])) {
            let mut files = vec![file(path)];
            if !agentir_lang_adl::is_adl(&files[0].name, &files[0].text) {
                continue;
            }
            files.extend(python.iter().map(|p| file(p)));
            let checked = check(&files, Options::default());
            if checked.diagnostics.iter().any(|d| d.severity == Severity::Error) {
                continue;
            }
            bots += 1;
            let done = convert(languages(), &checked.program, &checked.sources, targets::ADL);
            let found = differ(
                &NormalizedProgram::new(&checked.program),
                &NormalizedProgram::new(&done.program),
            );
            let found = found.into_iter().chain(errors(&done));
            problems.extend(found.map(|d| format!("{}: {d}", path.display())));
        }
    }
    assert!(bots > 10, "only {bots} bots");
    report("differences", &problems);
}

#[test]
fn what_is_written_can_be_read() {
    let mut problems = Vec::new();
    for files in samples() {
        let (_, done) = to_adl(&files);
        let name = &files.first().unwrap().name;
        problems.extend(errors(&done).iter().map(|d| format!("{name}: {d}")));
    }
    report("errors in the output", &problems);
}

/// Each agent that is written in ADL by hand is written as well from every other language.
#[test]
fn the_rosetta_agents_become_the_hand_written_ones() {
    let mut problems = Vec::new();
    for (agent, from) in [
        ("call_and_return", "abl"),
        ("confirmation", "abl"),
        ("form", "abl"),
        ("guarded_call", "abl"),
        ("hub", "abl"),
    ] {
        let at = root().join("corpus/rosetta").join(agent);
        let (_, done) = to_adl(&files_below(&at.join(from)));
        let by_hand = check(&files_below(&at.join("adl")), Options::default());
        let found = differ(
            &NormalizedProgram::new(&by_hand.program),
            &NormalizedProgram::new(&done.program),
        );
        // Without a fallback MICA crashes where no agent fits.
        let found = found.iter().filter(|d| !d.ends_with("adl.fallback: nothing / \"default\""));
        problems.extend(found.map(|d| format!("{agent}: {d}")));
        let own = std::fs::read_to_string(at.join("adl/agents.yml")).unwrap();
        // Which files have the tools, MICA does not want to be told.
        let own = own.strip_prefix("tools:\n  - tools.py\n\n").unwrap_or(&own);
        let text = done.files.first().unwrap().text.replace("  fallback: default\n", "");
        if text != own {
            problems.push(format!("{agent} reads otherwise:\n{text}"));
        }
    }
    report("differences", &problems);
}

/// ADL has neither `not` nor bare arguments in MICA, and no operators but comparisons.
#[test]
fn conditions_are_written_in_the_forms_of_table_4() {
    let mut problems = Vec::new();
    for (abl, adl) in [
        ("count IS NOT SET", "count == None"),
        ("member", "member == True"),
        ("NOT (a == 1 AND b IS SET)", "a != 1 or b == None"),
        ("NOT a < 3", "a == None or a >= 3"),
        ("a IN [\"x\", \"y\"] AND b > 2", "(a == \"x\" or a == \"y\") and b > 2"),
        ("a != b", "a == None or a != b"),
        ("a startsWith \"x.\"", "re.match(\"^x\\\\.\", a)"),
        ("input == \"yes\" OR input contains \"sure\"", "the user claims \"yes\", \"sure\""),
        ("input matches /yes|yep/", "the user claims \"yes\", \"yep\""),
        ("LENGTH(items) > 2 * a", "LENGTH of items is greater than 2 times a"),
        ("the user agrees", "the user agrees"),
        // The last message has a name; what the runtime of ABL knows of the user has none.
        (
            "input matches /[a-z]+ [0-9]+/ AND a == 1",
            "re.match(\".*(?:[a-z]+ [0-9]+)\", _user_input) and a == 1",
        ),
        ("user.verified == true", "user.verified is true"),
    ] {
        let text = format!(
            "AGENT: test\n\nGOAL: \"Tests\"\n\nMEMORY:\n  session:\n    - count\n    - member\n    - a\n    - b\n    - items\n\nFLOW:\n  entry_point: start\n\n  start:\n    RESPOND: \"Well?\"\n    ON_INPUT:\n      - IF: {abl}\n        THEN: COMPLETE\n      - ELSE:\n        THEN: FAIL\n"
        );
        let (_, done) = to_adl(&[File { name: "test.agent.abl".to_owned(), text }]);
        let written = &done.files.first().unwrap().text;
        let line = written.lines().find_map(|l| l.trim().strip_prefix("- if: ")).unwrap_or(written);
        if line != adl {
            problems.push(format!("{abl}: {line} instead of {adl}"));
        }
        problems.extend(errors(&done));
    }
    report("conditions", &problems);
}

/// The key of the steps that a flow begins with is no name that is written.
#[test]
fn the_first_steps_are_not_renamed() {
    let text = "main:\n  type: flow agent\n  description: d\n  steps:\n    - bot: \"Hi\"\n    - user\n    - next: more\n  more:\n    - bot: \"Bye\"\n    - return: success\n".to_owned();
    let (_, done) = to_adl(&[File { name: "agents.yml".to_owned(), text }]);
    assert!(done.report.renamed.is_empty(), "{:?}", done.report.renamed);
    let written = &done.files.first().unwrap().text;
    assert_eq!(written.matches("return: success").count(), 1, "{written}");
}

/// MICA has no place for what stands behind an `else`; nothing comes to it.
#[test]
fn what_stands_behind_an_else_is_a_comment() {
    let text = "AGENT: test\n\nGOAL: \"Tests\"\n\nFLOW:\n  entry_point: start\n\n  start:\n    RESPOND: \"Well?\"\n    ON_INPUT:\n      - IF: input == \"a\"\n        THEN: COMPLETE\n      - ELSE:\n        RESPOND: \"b\"\n        THEN: COMPLETE\n      - IF: input == \"c\"\n        RESPOND: \"d\"\n        THEN: COMPLETE\n".to_owned();
    let (_, done) = to_adl(&[File { name: "test.agent.abl".to_owned(), text }]);
    let written = &done.files.first().unwrap().text;
    assert!(written.contains("# never: if the message is \"c\""), "{written}");
    report("an else before an if", &errors(&done));
}

fn everything_is_in_the_report(samples: &[Vec<File>]) {
    for files in samples {
        let (before, done) = to_adl(files);
        assert_eq!(done.report.entries.len(), before.size());
    }
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn nothing_of_the_specifications_is_too_broken() {
    let all: Vec<Vec<File>> = external_abl().into_iter().map(|s| s.files).collect();
    everything_is_in_the_report(&all);
}

/// What is broken is written as far as it was read, and long flows take no longer than their length.
#[test]
fn nothing_is_too_broken_or_too_long() {
    let mut all: Vec<Vec<File>> = ours("invalid").into_iter().map(|s| s.files).collect();
    all.extend(adl("invalid"));
    all.extend(agent_script("invalid").into_iter().map(|s| s.files));
    everything_is_in_the_report(&all);
    let labels: String = (0..2_000)
        .map(|i| format!("    - label: l{i}\n    - bot: hi\n    - if: a == {i}\n      then:\n        - next: l0\n"))
        .collect();
    let text = format!("main:\n  type: flow agent\n  args:\n    - a\n  steps:\n{labels}");
    let (before, done) = to_adl(&[File { name: "agents.yml".to_owned(), text }]);
    assert_eq!(differ(&before, &NormalizedProgram::new(&done.program)), [""; 0]);
}

#[test]
fn every_loss_on_our_samples_has_a_reason_of_its_own() {
    let mut problems = Vec::new();
    for files in samples() {
        let (_, done) = to_adl(&files);
        for entry in done.report.losses() {
            let generic = entry.how.as_deref() == Some("ADL has no place for it");
            if generic {
                problems.push(format!("{} ({})", entry.path, files.first().unwrap().name));
            }
        }
    }
    problems.sort();
    report("losses without a reason", &problems);
}

/// A document without errors becomes a bot without errors: what ADL cannot say is left out, or said as nothing.
#[test]
fn calls_and_members_are_complete() {
    let text = r#"{"version": "1.0", "entry_agent": "Desk", "complete": true, "agents": {
        "Desk": {"metadata": {"name": "Desk", "dialect": "abl", "type": "supervisor"}, "identity": {"goal": "Help"},
            "gather": {"fields": [{"name": "street", "type": "string", "prompt": "Street?"}]},
            "coordination": {"handoffs": [
                {"to": "Care", "when": "the user is upset", "context": {"pass": [{"name": "street"}]}},
                {"to": "Far", "when": "the user wants a tree", "remote": {"location": "remote", "endpoint": "https://far.example"}}]}},
        "Care": {"metadata": {"name": "Care", "dialect": "abl"}, "identity": {"goal": "Listen"},
            "tools": [{"name": "note", "description": "d", "parameters": [{"name": "a", "type": "number"}, {"name": "b", "type": "string"}]}],
            "memory": {"session": [{"name": "x", "type": "number", "initial_value": 1}]},
            "flow": {"definitions": {"s": {
                "call_spec": {"tool": "note", "with": [{"name": "a", "value": "x + 1"}, {"name": "b", "value": "\"t\""}]},
                "then": "COMPLETE"}}}}}}"#;
    let files = [File { name: "desk.ir.json".to_owned(), text: text.to_owned() }];
    let checked = check(&files, Options::default());
    let found = |d: &[agentir_diagnostics::Diagnostic]| -> Vec<String> {
        let errors = d.iter().filter(|d| d.severity == Severity::Error);
        errors.map(|d| format!("{}: {}", d.rule.0, d.message)).collect()
    };
    report("errors in the document", &found(&checked.diagnostics));
    let done = convert(languages(), &checked.program, &checked.sources, targets::ADL);
    let written: Vec<File> = done
        .files
        .iter()
        .map(|file| File { name: file.path.clone(), text: file.text.clone() })
        .collect();
    report("errors in the bot", &found(&check(&written, Options::default()).diagnostics));
    let bot = &done.files.iter().find(|file| file.path.ends_with(".yml")).unwrap().text;
    assert!(bot.contains("a: null") && !bot.contains("Far"), "{bot}");
}
