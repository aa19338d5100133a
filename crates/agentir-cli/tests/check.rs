//! `agentir check` in a project: its configuration, its comments, its baseline, its formats, its fixes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{ran as run, write};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A call of a tool whose name is misspelt, and another tool that nobody calls.
const AGENT: &str = "AGENT: Ferry_Desk\nGOAL: \"Sell tickets\"\n\nTOOLS:\n  sell_ticket(day: string) -> {price: number}\n    description: \"Sells a ticket\"\n  weather(harbour: string) -> {wind: number}\n    description: \"Says the wind\"\n\nFLOW:\n  start:\n    REASONING: false\n    CALL: sell_tikcet(\"monday\")\n    THEN: COMPLETE\n";

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    folder
}

/// The findings, as lines `file rule level`.
fn found(folder: &Path, args: &[&str]) -> Vec<String> {
    let (_, out, err) = run(folder, &[&["check", "--format", "json"], args].concat());
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    let all = report["diagnostics"].as_array().unwrap();
    let word = |d: &Value, key: &str| d[key].as_str().unwrap().to_owned();
    all.iter()
        .map(|d| format!("{} {} {}", word(d, "file"), word(d, "rule"), word(d, "severity")))
        .collect()
}

#[test]
fn rules_have_options() {
    let folder = project(&[
        ("a.agent.abl", AGENT),
        ("old/b.agent.abl", AGENT),
        ("agentir.toml", "[options.undefined-tool]\nknown = [\"sell_*\"]\n"),
        ("old/agentir.toml", "[options.undefined-tool]\nknown = [\"buy_*\"]\n"),
    ]);
    let here = folder.path();
    let args = ["--select", "undefined-tool", "."];
    assert_eq!(found(here, &args), ["old/b.agent.abl undefined-tool error"]);
    // What was found is kept together with what was asked.
    fs::write(here.join("agentir.toml"), "").unwrap();
    let both = ["a.agent.abl undefined-tool error", "old/b.agent.abl undefined-tool error"];
    assert_eq!(found(here, &args), both);
    let (code, _, err) = run(here, &["check", "--config", "wrong.toml", "."]);
    assert_eq!(code, 2, "{err}");
    fs::write(here.join("wrong.toml"), "[options.undefined-tool]\nknwon = [\"x\"]\n").unwrap();
    let (code, _, err) = run(here, &["check", "--config", "wrong.toml", "."]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("did you mean `known`?"), "{err}");
}

#[test]
fn each_file_goes_by_the_configuration_above_it() {
    let folder = project(&[
        ("a.agent.abl", AGENT),
        ("old/b.agent.abl", AGENT),
        ("vendor/c.agent.abl", AGENT),
        ("other/d.agent.abl", AGENT),
        (
            "agentir.toml",
            "exclude = [\"vendor\"]\n[rules]\nunused-tool = \"error\"\n[[overrides]]\nfiles = [\"old\"]\nrules = { names = \"off\" }\n",
        ),
        ("other/agentir.toml", "[rules]\nundefined-tool = \"info\"\nunused-tool = \"off\"\n"),
    ]);
    let here = folder.path();
    assert_eq!(
        found(here, &["."]),
        [
            "a.agent.abl unused-tool error",
            "a.agent.abl undefined-tool error",
            "other/d.agent.abl undefined-tool info",
        ]
    );
    // The command line comes first.
    assert_eq!(
        found(here, &["old", "--select", "undefined-tool"]),
        ["old/b.agent.abl undefined-tool error"]
    );
    assert_eq!(found(here, &[".", "--no-config"]).len(), 8);
    assert_eq!(
        found(here, &["a.agent.abl", "--config", "other/agentir.toml"]),
        ["a.agent.abl undefined-tool info"]
    );
    // What is named is read.
    assert_eq!(found(here, &["vendor/c.agent.abl"]).len(), 2);
}

#[test]
fn what_a_misspelled_name_means_is_not_reported_as_unused() {
    let other = AGENT.replace("Ferry_Desk", "Ferry_Kiosk").replace("sell_tikcet", "sell_ticket");
    let unused = other.replace("sell_ticket(\"", "weather(\"");
    let folder = project(&[("a.agent.abl", AGENT), ("b.agent.abl", &unused)]);
    let here = folder.path();
    assert_eq!(
        found(here, &["."]),
        [
            "a.agent.abl unused-tool warning",
            "a.agent.abl undefined-tool error",
            "b.agent.abl unused-tool warning",
        ],
        "`weather` is unused in one, `sell_ticket` in the other"
    );
    // What is not reported explains nothing.
    fs::write(here.join("agentir.toml"), "[rules]\nundefined-tool = \"off\"\n").unwrap();
    assert_eq!(found(here, &["a.agent.abl"]), ["a.agent.abl unused-tool warning"; 2]);
}

#[test]
fn a_slip_in_a_configuration_stops_everything() {
    let folder =
        project(&[("a.agent.abl", AGENT), ("agentir.toml", "[rules]\nundefined-toll = \"off\"\n")]);
    for command in ["check", "compile", "cost"] {
        let (code, out, err) = run(folder.path(), &[command, "."]);
        assert_eq!(code, 2, "{err}");
        assert!(out.is_empty() && err.contains("did you mean `undefined-tool`?"), "{out}{err}");
    }
    let (code, _, err) = run(folder.path(), &["fmt", ".", "--check"]);
    assert!(code == 2 && err.contains("undefined-toll"), "{err}");
}

#[test]
fn the_least_level_that_fails_is_a_wish() {
    let folder = project(&[("a.agent.abl", AGENT)]);
    let code = |args: &[&str]| {
        run(folder.path(), &[&["check", "a.agent.abl", "--select", "unused-tool"], args].concat()).0
    };
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["--fail-on", "warning"]), 1);
    assert_eq!(run(folder.path(), &["check", "."]).0, 1);
    assert_eq!(run(folder.path(), &["check", ".", "--fail-on", "never"]).0, 0);
    fs::write(folder.path().join("agentir.toml"), "fail-on = \"never\"\n").unwrap();
    assert_eq!(run(folder.path(), &["check", "."]).0, 0);
    assert_eq!(run(folder.path(), &["check", ".", "--fail-on", "error"]).0, 1);
}

#[test]
fn the_dialect_and_the_version_are_said_for_files() {
    let script = "start_agent a:\n    description: \"A\"\n";
    let folder = project(&[
        ("a.agent", script),
        ("b/b.agent", script),
        (
            "agentir.toml",
            "dialect = \"agentforce\"\n[[overrides]]\nfiles = [\"b/**\"]\ndialect = \"agentscript\"\n",
        ),
    ]);
    let found = found(folder.path(), &["."]);
    // Only agentforce asks for `config`.
    assert!(found.iter().any(|f| f.starts_with("a.agent ")), "{found:?}");
    assert!(!found.iter().any(|f| f.starts_with("b/")), "{found:?}");
}

#[test]
fn comments_ignore_in_every_language() {
    let abl =
        AGENT.replace("    CALL", "    # agentir: ignore[undefined-tool] comes later\n    CALL");
    let yaml = "# agentir: ignore-file[undefined-tool]\nagent: Ferry_Desk\ngoal: \"Sell tickets\"\nflow:\n  start:\n    reasoning: false\n    call: sell()\n    then: COMPLETE\n";
    let script = "# @dialect: agentscript\nstart_agent a:\n    description: \"A\"\n    reasoning:\n        instructions: ->\n            | Hello\n        actions:\n            go: @utils.transition to @topic.nowhere  # agentir: ignore[names] on its way\n";
    let adl = "main:\n  type: flow agent\n  steps:\n    # agentir: ignore[names]\n    - call: dsek\n\ndesk:\n  type: flow agent\n  description: Lends bicycles\n  steps:\n    - bot: \"Here it is.\"\n";
    let files = [
        ("a.agent.abl", abl.as_str()),
        ("b.agent.yaml", yaml),
        ("c.agent", script),
        ("d/agents.yml", adl),
    ];
    let folder = project(&files);
    let plain: Vec<(&str, String)> =
        files.iter().map(|(name, text)| (*name, text.replace("agentir: ignore", "no"))).collect();
    let plain: Vec<(&str, &str)> = plain.iter().map(|(n, t)| (*n, t.as_str())).collect();
    let loud = project(&plain);
    for name in ["a.agent.abl", "b.agent.yaml", "c.agent", "d"] {
        let found = |folder: &Path| found(folder, &[name, "--select", "names,unused-suppression"]);
        let (quiet, loud) = (found(folder.path()), found(loud.path()));
        assert!(loud.len() > quiet.len(), "{name}: {quiet:?} {loud:?}");
        assert!(!quiet.iter().any(|f| f.contains("suppression")), "{name}: {quiet:?}");
    }
}

#[test]
fn a_comment_is_only_idle_if_its_rule_ran() {
    let text = AGENT.replace("AGENT:", "# agentir: ignore-file[undefined-step]\nAGENT:");
    let folder = project(&[("a.agent.abl", &text)]);
    let idle = |args: &[&str]| {
        found(folder.path(), &[&["."], args].concat())
            .iter()
            .any(|f| f.contains("unused-suppression"))
    };
    assert!(idle(&[]));
    assert!(!idle(&["--ignore", "undefined-step"]));
    assert!(!idle(&["--select", "undefined-tool"]));
    fs::write(folder.path().join("agentir.toml"), "[rules]\nundefined-step = \"off\"\n").unwrap();
    assert!(!idle(&[]));
}

#[test]
fn a_baseline_hides_what_was_there_and_nothing_new() {
    let folder = project(&[("a.agent.abl", AGENT)]);
    let here = folder.path();
    let (code, _, err) = run(here, &["check", ".", "--baseline", "known.json"]);
    assert!(code == 2 && err.contains("--write-baseline"), "{err}");
    let (code, _, err) = run(here, &["check", ".", "--baseline", "known.json", "--write-baseline"]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = run(here, &["check", ".", "--baseline", "known.json"]);
    assert_eq!(code, 0, "{out}");
    assert!(err.contains("2 findings hidden by the baseline"), "{err}");
    // Lines above, and a new finding.
    let step = "    THEN: more\n\n  more:\n    REASONING: false\n    CALL: lend_tikcet()\n    THEN";
    let more = format!("# a comment\n\n{AGENT}").replace("    THEN", step);
    fs::write(here.join("a.agent.abl"), more).unwrap();
    assert_eq!(
        found(here, &[".", "--baseline", "known.json"]),
        ["a.agent.abl undefined-tool error"]
    );
    // Fixed findings are listed.
    let unused =
        "  weather(harbour: string) -> {wind: number}\n    description: \"Says the wind\"\n";
    let fixed = AGENT.replace("tikcet", "ticket").replace(unused, "");
    fs::write(here.join("a.agent.abl"), fixed).unwrap();
    let (code, _, err) = run(here, &["check", ".", "--baseline", "known.json"]);
    assert_eq!(code, 0);
    assert!(err.contains("2 findings in the baseline no longer occur:"), "{err}");
}

#[test]
fn several_formats_at_once() {
    let folder = project(&[("a.agent.abl", AGENT)]);
    let here = folder.path();
    let outputs = ["-o", "sarif=out/a.sarif", "-o", "html=out/a.html", "-o", "junit=out/a.xml"];
    let (code, out, _) =
        run(here, &[&["check", ".", "--format", "concise"], &outputs[..]].concat());
    assert_eq!(code, 1);
    assert!(out.starts_with("a.agent.abl:"), "{out}");
    let read = |name: &str| fs::read_to_string(here.join("out").join(name)).unwrap();
    let sarif: Value = serde_json::from_str(&read("a.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 2);
    let page = read("a.html");
    assert!(page.contains("<svg") && page.contains("Ferry_Desk") && page.contains("with others"));
    assert!(read("a.xml").contains("failures=\"1\""));
    let (_, out, _) = run(here, &["check", ".", "--format", "github", "-o", "notes.txt"]);
    assert!(out.is_empty(), "{out}");
    assert!(fs::read_to_string(here.join("notes.txt")).unwrap().starts_with("::"));
    let (code, _, err) = run(here, &["check", ".", "-o", "a", "-o", "b"]);
    assert!(code == 2 && err.contains("two output files"), "{err}");
}

#[test]
fn reports_link_to_the_pages_of_rules_where_the_project_says_they_are() {
    let folder = project(&[("a.agent.abl", AGENT), ("other/b.agent.abl", AGENT)]);
    let here = folder.path();
    let links = |path: &str| {
        let (_, out, err) = run(here, &["check", "--format", "sarif", path]);
        let sarif: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
        let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().clone();
        rules.iter().filter_map(|r| r["helpUri"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert!(links(".").is_empty(), "no link rather than a dead one");
    let config = "rule-pages = \"https://example.org/{rule}.html\"\n";
    fs::write(here.join("other/agentir.toml"), config).unwrap();
    assert!(links("a.agent.abl").is_empty());
    assert_eq!(
        links("other"),
        ["https://example.org/undefined-tool.html", "https://example.org/unused-tool.html"]
    );
    let (_, out, _) = run(here, &["check", "--format", "json", "other"]);
    assert!(out.contains(r#""page":"https://example.org/unused-tool.html""#), "{out}");
    let (_, out, _) = run(here, &["check", "--format", "markdown", "other"]);
    assert!(out.contains("[`unused-tool`](<https://example.org/unused-tool.html>)"), "{out}");
}

#[test]
fn fixes_are_shown_and_applied() {
    let idle = format!("# agentir: ignore-file[undefined-step]\n{AGENT}");
    let folder = project(&[("a.agent.abl", &idle)]);
    let here = folder.path();
    let text = || fs::read_to_string(here.join("a.agent.abl")).unwrap();
    let (code, out, _) = run(here, &["check", ".", "--diff"]);
    assert_eq!(code, 1);
    assert!(out.contains("-# agentir: ignore-file") && !out.contains("+    CALL"), "{out}");
    assert_eq!(text(), idle);
    let (code, _, err) = run(here, &["check", ".", "--fix"]);
    assert_eq!((code, text().as_str()), (1, AGENT), "{err}");
    assert!(err.contains("1 fix applied in 1 file"), "{err}");
    let (code, _, _) = run(here, &["check", ".", "--unsafe-fixes"]);
    assert_eq!((code, text()), (0, AGENT.replace("tikcet", "ticket")));
    let (code, out, _) = run(here, &["check", ".", "--diff", "--unsafe-fixes"]);
    assert_eq!((code, out.as_str()), (0, ""));
    let (code, _, err) = run(here, &["check", "-", "--fix"]);
    assert!(code == 2 && err.contains("--diff"), "{err}");
}

/// The first fenced block of a language in a document.
fn block(document: &str, language: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_examples_of_documents_are_right() {
    for document in ["docs/ci.md", "rules/invalid-configuration.md"] {
        let folder = project(&[("agents/a.agent.abl", AGENT)]);
        fs::write(folder.path().join("agentir.toml"), block(document, "toml")).unwrap();
        let (code, out, err) = run(folder.path(), &["check", "agents", "--format", "concise"]);
        assert_eq!(code, 1, "{document}: {err}");
        assert!(out.contains("undefined-tool") && !out.contains("unused-tool"), "{out}");
    }
    let comments = block("docs/ci.md", "text");
    let agent = format!("AGENT: Stamp_Shop\nGOAL: \"Sell stamps\"\nFLOW:\n{comments}");
    let folder = project(&[("a.agent.abl", &agent)]);
    assert_eq!(found(folder.path(), &["."]), Vec::<String>::new(), "{agent}");
}

#[test]
fn misspelt_arguments_are_not_taken_for_something_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.agent.abl"), "AGENT: A\nGOAL: \"g\"\n").unwrap();
    let failed = |arguments: &[&str], message: &str| {
        let (code, _, stderr) = run(folder.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(stderr.contains(message), "{stderr}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is written");
    };
    failed(&["check", ".", "-o", "sarf=out.json"], "did you mean `sarif=out.json`?");
    failed(&["convert", ".", "--to", "adl", "-o", "out", "--report", "r.pdf"], "`.json`, `.html`");
    failed(&["explain", "names"], "`names` is a group of rules");
    failed(&["explain", "undefined-tol"], "did you mean `undefined-tool`?");
    let (code, ..) = run(folder.path(), &["check", ".", "-o", "./sarf=out.json"]);
    assert_eq!(code, 0);
    assert!(folder.path().join("sarf=out.json").is_file());
}

#[test]
fn a_file_that_is_named_twice_is_checked_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = "AGENT: A\nGOAL: \"g\"\nON_START:\n  CALL: nothing()\n";
    fs::write(folder.path().join("a.agent.abl"), text).unwrap();
    let absolute = folder.path().join("a.agent.abl");
    let absolute = absolute.to_str().unwrap();
    let (_, once, _) = run(folder.path(), &["check", "a.agent.abl"]);
    assert!(once.contains("1 error in 1 file"), "{once}");
    for again in [&["./a.agent.abl", absolute][..], &["."], &[absolute, "."]] {
        let arguments = [&["check", "a.agent.abl"], again].concat();
        let (_, output, _) = run(folder.path(), &arguments);
        assert!(output.contains("1 error in 1 file"), "{again:?}: {output}");
    }
}

#[test]
fn a_baseline_holds_however_paths_are_written() {
    let folder = project(&[("c/a.agent.abl", AGENT)]);
    let record = ["check", "c", "--baseline", "b.json", "--write-baseline"];
    assert_eq!(run(folder.path(), &record).0, 0);
    let absolute = folder.path().join("c/../c");
    for path in ["./c", "c/../c", "c/./a.agent.abl", absolute.to_str().unwrap()] {
        let (code, out, err) = run(folder.path(), &["check", path, "--baseline", "b.json"]);
        assert_eq!(code, 0, "{path}: {out}{err}");
    }
}

#[cfg(unix)]
#[test]
fn a_report_and_a_baseline_are_two_files() {
    let folder = project(&[("c/a.agent.abl", AGENT), ("kept/b.json", "{}")]);
    std::os::unix::fs::symlink("b.json", folder.path().join("kept/link")).unwrap();
    for file in ["new", "./new", "c/../new", "kept/b.json", "kept/link"] {
        let output = format!("json={file}");
        let baseline = if file.starts_with("kept") { "kept/b.json" } else { "new" };
        let args = ["check", "c", "--baseline", baseline, "--write-baseline", "-o", &output];
        let (code, out, err) = run(folder.path(), &args);
        assert_eq!(code, 2, "{file}: {out}{err}");
        assert!(err.contains("a report and the baseline would be written to"), "{err}");
    }
    assert!(!folder.path().join("new").exists());
    let args = ["check", "c", "--baseline", "b", "--write-baseline", "-o", "json=new"];
    assert_eq!(run(folder.path(), &args).0, 0);
}

#[test]
fn compile_says_which_agents_it_omits() {
    let same = |goal: &str| format!("AGENT: Same\nGOAL: \"{goal}\"\n");
    let folder = project(&[("a.agent.abl", &same("one")), ("b.agent.abl", &same("two"))]);
    let (code, out, _) = run(folder.path(), &["compile", "."]);
    let output: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    let errors = output["compilation_errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["code"], "duplicate-agent");
    assert_eq!(errors[0]["path"], "b.agent.abl:1:8");
}
