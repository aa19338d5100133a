//! Many programs: the cache, shares, corpora, watching.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{GOOD, agentir, broken, code, run, samples, stderr, stdout, write};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const FORMATS: [&str; 3] = ["text", "concise", "json"];

/// Projects in each other, single files beside them, in several languages.
fn nested(folder: &Path) {
    write(
        folder,
        &[
            ("a.agent.abl", &broken("A")),
            ("b/agents/inner.agent.abl", &broken("Inner")),
            ("b/project.json", "{}"),
            ("b/z/other.agent.abl", &broken("Other")),
            ("b.agent.abl", GOOD),
            ("c/x.agent", "start_agent x:\n    description: \"A\"\n    oops: 1\n"),
            ("c/w.agent.abl", &broken("W")),
            ("c/y.agent.abl", &broken("Y")),
            ("d/agents.yml", "helper:\n  type: llm agent\n  oops: 1\n"),
            ("z.agent.abl", &broken("Z")),
        ],
    );
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn what_was_kept_says_the_same() {
    let cache = tempfile::tempdir().unwrap();
    let mut all = String::new();
    for format in FORMATS {
        for place in ["abl/invalid", "agent-script/invalid", "adl", "abl/valid/city_services"] {
            let args = ["check", place, "--format", format];
            let cold = run(&samples(), cache.path(), &[&args[..], &["--no-cache"]].concat());
            let first = run(&samples(), cache.path(), &args);
            let again = run(&samples(), cache.path(), &args);
            assert_eq!(stdout(&cold), stdout(&first), "{place}");
            assert_eq!(stdout(&cold), stdout(&again), "{place}");
            assert_eq!(code(&cold), code(&again));
            assert_eq!(stderr(&again), "");
            all.push_str(&stdout(&again));
        }
    }
    // Optional parts of findings, all of which are kept.
    for part in ["fixes", "tags", "evidence", "state", "core", "run"] {
        assert!(all.contains(&format!("\"{part}\":")), "no sample has `{part}`");
    }
}

#[test]
fn cached_results_are_not_used_once_a_file_changes() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let check = |at: &Path| run(at, cache.path(), &["check", ".", "--format", "concise"]);
    write(folder.path(), &[("a.agent.abl", GOOD)]);
    assert_eq!(stdout(&check(folder.path())), "");
    write(folder.path(), &[("a.agent.abl", &broken("A"))]);
    assert!(stdout(&check(folder.path())).contains("undefined-tool"));
    // Another file of the same program may say what was missing.
    let tools = "TOOLS:\n  sell_tikcet() -> { done: boolean }\n    description: \"Sells\"\n";
    write(folder.path(), &[("tools/all.tools.abl", tools), ("project.json", "{}")]);
    let with_tools = stdout(&check(folder.path()));
    assert!(!with_tools.contains("a.agent.abl:6"), "{with_tools}");
}

/// Longer than a file has to be at rest until its time says something.
const REST: Duration = Duration::from_millis(2100);

/// Which files a run opens.
#[cfg(target_os = "linux")]
fn opened(folder: &Path, run: impl FnOnce()) -> Vec<String> {
    use notify::event::{AccessKind, EventKind};
    use notify::{Event, RecursiveMode, Watcher};
    let (to, events) = std::sync::mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        let _told = to.send(event.unwrap());
    })
    .unwrap();
    watcher.watch(folder, RecursiveMode::Recursive).unwrap();
    run();
    // The last event is ours.
    fs::read(folder.join("last")).unwrap();
    let mut names = Vec::new();
    for event in events.iter().filter(|e| matches!(e.kind, EventKind::Access(AccessKind::Open(_))))
    {
        for path in event.paths.iter().filter(|path| path.is_file()) {
            if path.ends_with("last") {
                names.sort();
                names.dedup();
                return names;
            }
            names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    names
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_nobody_touched_are_not_read_again() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(
        folder.path(),
        &[
            ("good/one.agent.abl", GOOD),
            ("bad/two.agent.abl", &broken("Two")),
            (
                "bot/agents.yml",
                "helper:\n  type: llm agent\n  description: Helps\n  prompt: Help.\n",
            ),
            ("last", ""),
        ],
    );
    let check = || run(folder.path(), cache.path(), &["check", ".", "--format", "concise"]);
    let first = check();
    // What was changed just now may change again within the same tick of the clock.
    let names = opened(folder.path(), || assert_eq!(stdout(&check()), stdout(&first)));
    assert_eq!(names, ["agents.yml", "one.agent.abl", "two.agent.abl"]);
    std::thread::sleep(REST);
    assert_eq!(stdout(&check()), stdout(&first));
    // Where there are findings, the report needs the text.
    let names = opened(folder.path(), || assert_eq!(stdout(&check()), stdout(&first)));
    assert_eq!(names, ["two.agent.abl"]);

    // As long as before, and with the time of change it had before.
    let path = folder.path().join("good/one.agent.abl");
    let before = fs::metadata(&path).unwrap();
    let changed = GOOD.replace("GOAL", "GAOL");
    assert_ne!(changed, GOOD);
    fs::write(&path, &changed).unwrap();
    fs::File::options()
        .append(true)
        .open(&path)
        .and_then(|file| file.set_modified(before.modified()?))
        .unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!(
        (after.len(), after.modified().unwrap()),
        (before.len(), before.modified().unwrap())
    );
    assert!(stdout(&check()).contains("one.agent.abl"), "{}", stdout(&check()));

    // A manifest that appears makes another program of the same files.
    std::thread::sleep(REST);
    check();
    check();
    write(folder.path(), &[("good/project.json", "{")]);
    assert!(stdout(&check()).contains("project.json"));
}

#[test]
fn rules_and_versions_are_asked_for_apart() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), &[("a.agent.abl", &broken("A"))]);
    let all = run(folder.path(), cache.path(), &["check", "."]);
    assert_eq!(code(&all), 1);
    let less = run(folder.path(), cache.path(), &["check", ".", "--ignore", "undefined-tool"]);
    assert_eq!(code(&less), 0);
    assert_eq!(code(&run(folder.path(), cache.path(), &["check", "."])), 1);
}

#[test]
fn a_broken_cache_costs_nothing_but_time() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    nested(folder.path());
    let args = ["check", ".", "--format", "json"];
    let before = stdout(&run(folder.path(), cache.path(), &args));
    for file in fs::read_dir(cache.path().join("agentir")).unwrap() {
        fs::write(file.unwrap().path(), "not what it was\n".repeat(999)).unwrap();
    }
    let after = run(folder.path(), cache.path(), &args);
    assert_eq!((stdout(&after), stderr(&after)), (before.clone(), String::new()));
    // No folder can be made here.
    let nowhere = run(folder.path(), Path::new("/dev/null"), &args);
    assert_eq!(stdout(&nowhere), before);
    assert!(stderr(&nowhere).contains("the cache is not used"), "{}", stderr(&nowhere));
}

#[test]
fn runs_beside_each_other_do_not_disturb_each_other() {
    let cache = tempfile::tempdir().unwrap();
    let start = |_| {
        let mut command = agentir(&samples(), cache.path());
        command.args(["check", "adl", "--format", "json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all: Vec<_> = (0..4).map(start).collect();
    let outputs: Vec<_> = all.into_iter().map(|c| c.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert_eq!(stdout(output), stdout(&outputs[0]));
        assert_eq!(stderr(output), "");
    }
}

#[test]
fn the_cache_can_be_cleaned_and_left_out() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), &[("a.agent.abl", GOOD)]);
    run(folder.path(), cache.path(), &["check", ".", "--no-cache"]);
    let there = cache.path().join("agentir");
    assert!(!there.exists());
    assert_eq!(
        stdout(&run(folder.path(), cache.path(), &["cache", "dir"])).trim(),
        there.to_str().unwrap()
    );
    // A single small program is checked faster than a cache is opened.
    run(folder.path(), cache.path(), &["check", "."]);
    assert!(!there.exists());
    fs::create_dir(folder.path().join("other")).unwrap();
    write(folder.path(), &[("other/a.agent.abl", GOOD)]);
    run(folder.path(), cache.path(), &["check", "."]);
    assert_ne!(fs::read_dir(&there).unwrap().count(), 0);
    assert_eq!(code(&run(folder.path(), cache.path(), &["cache", "clean"])), 0);
    assert_eq!(fs::read_dir(&there).unwrap().count(), 0);
    let own = folder.path().join("own");
    run(folder.path(), cache.path(), &["check", ".", "--cache-dir", own.to_str().unwrap()]);
    assert_ne!(fs::read_dir(&own).unwrap().count(), 0);
    assert_eq!(fs::read_dir(&there).unwrap().count(), 0);
}

#[test]
fn findings_are_in_the_order_of_files_whatever_lies_in_what() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    nested(folder.path());
    let output = run(folder.path(), cache.path(), &["check", ".", "--format", "json"]);
    let report = json(&stdout(&output));
    let files: Vec<&str> = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["file"].as_str().unwrap())
        .collect();
    assert!(files.is_sorted(), "{files:?}");
    let mut each = files;
    each.dedup();
    insta::assert_debug_snapshot!(each, @r#"
    [
        "a.agent.abl",
        "b/agents/inner.agent.abl",
        "b/z/other.agent.abl",
        "c/w.agent.abl",
        "c/x.agent",
        "c/y.agent.abl",
        "d/agents.yml",
        "z.agent.abl",
    ]
    "#);
    assert_eq!(report["summary"]["files"], 9);
}

/// Shares put together are the whole, byte by byte.
#[test]
fn shares_make_up_the_whole() {
    let (cache, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    nested(&out.path().join("nested"));
    for place in [samples(), out.path().join("nested")] {
        for (command, shares) in [("check", 1), ("check", 3), ("corpus", 1), ("corpus", 4)] {
            let args = [command, ".", "--format", "json"];
            let whole = run(&place, cache.path(), &args);
            let mut files = Vec::new();
            for share in 1..=shares {
                let shard = format!("{share}/{shares}");
                let part = run(&place, cache.path(), &[&args[..], &["--shard", &shard]].concat());
                let file = out.path().join(format!("{share}.json"));
                fs::write(&file, &part.stdout).unwrap();
                if shares > 1 && place == samples() {
                    assert!(part.stdout.len() < whole.stdout.len());
                }
                // In any order.
                files.insert(0, file.display().to_string());
            }
            let mut merge = vec!["report", "merge"];
            merge.extend(files.iter().map(String::as_str));
            let merged = run(&place, cache.path(), &merge);
            assert_eq!(
                stdout(&merged),
                stdout(&whole),
                "{command} in {shares}: {}",
                stderr(&merged)
            );
            assert_eq!(code(&merged), code(&whole));
        }
    }
}

#[test]
fn what_is_no_report_is_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[("cut.json", "{\"version\":1,\"summ"), ("other.json", "{\"version\": 1}")],
    );
    for file in ["cut.json", "other.json", "missing.json"] {
        let output = run(folder.path(), folder.path(), &["report", "merge", file]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(file), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
    let newer =
        r#"{"version":9,"summary":{"files":0,"errors":0,"warnings":0,"infos":0},"diagnostics":[]}"#;
    write(folder.path(), &[("newer.json", newer)]);
    let output = run(folder.path(), folder.path(), &["report", "merge", "newer.json"]);
    assert!(stderr(&output).contains("version 9"), "{}", stderr(&output));
}

#[test]
fn a_corpus_is_counted() {
    let cache = tempfile::tempdir().unwrap();
    let of = |command: &str| run(&samples(), cache.path(), &[command, ".", "--format", "json"]);
    let (corpus, report) = (of("corpus"), of("check"));
    assert_eq!(code(&corpus), 0);
    let (corpus, report) = (json(&stdout(&corpus)), json(&stdout(&report)));
    let schema = json(&stdout(&run(&samples(), cache.path(), &["schema", "corpus"])));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&corpus).map(|e| e.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    // What is counted in several ways comes to the same.
    let totals = &corpus["totals"];
    assert_eq!(totals["files"], report["summary"]["files"]);
    for level in ["errors", "warnings", "infos"] {
        assert_eq!(totals["findings"][level], report["summary"][level]);
    }
    let sum = |values: Vec<&Value>| values.iter().map(|v| v.as_u64().unwrap()).sum::<u64>();
    let each = |of: &str| corpus[of].as_object().unwrap().values().collect::<Vec<_>>();
    let rules = sum(each("rules").iter().map(|rule| &rule["findings"]).collect());
    assert_eq!(rules, report["diagnostics"].as_array().unwrap().len() as u64);
    for count in ["programs", "agents", "files", "bytes"] {
        assert_eq!(
            sum(each("dialects").iter().map(|d| &d[count]).collect()),
            totals[count].as_u64().unwrap()
        );
    }
    for dialect in ["abl", "agent-script", "adl"] {
        let of = &corpus["dialects"][dialect];
        assert!(of["constructs"]["call"].as_u64().unwrap() > 0, "{dialect}");
        assert_eq!(of["constructs"]["agent"], of["agents"], "{dialect}");
    }
    for list in ["most_affected", "most_affected_files", "slowest"] {
        assert_eq!(corpus[list].as_array().unwrap().len(), 10);
    }
}

#[test]
fn a_corpus_is_shown_as_tables_and_as_a_page() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    nested(folder.path());
    let table = stdout(&run(folder.path(), cache.path(), &["corpus", ".", "--top", "3"]));
    // Times differ; everything else does not.
    let (counts, _) = table.split_once("most affected program").unwrap();
    insta::assert_snapshot!(counts, @"
    dialect       programs  clean  agents  files  KB  errors  warnings  infos
    abl                  3      0       7      7   1       6         0      0
    adl                  1      0       1      1   1       1         1      0
    agent-script         1      0       1      1   1       2         0      0
    all                  5      0       9      9   1       9         1      0

    rule            findings  files  programs
    undefined-tool         6      6         3
    missing-field          2      2         2
    unknown-field          2      2         2

    construct  count
    agent          9
    call           6
    complete       6
    flow           6
    step           6
    ");
    let page = stdout(&run(folder.path(), cache.path(), &["corpus", ".", "--format", "html"]));
    for said in ["<!doctype html>", "undefined-tool", "agent-script", "b/z/other.agent.abl"] {
        assert!(page.contains(said), "{said}");
    }
    assert!(!page.contains("http"), "it needs no network");
}

#[test]
fn what_git_ignores_and_what_is_hidden_is_left_out() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bad = broken("A");
    write(
        folder.path(),
        &[
            (".gitignore", "out/\n*.old.abl\n"),
            ("out/a.agent.abl", &bad),
            ("a.old.abl", &bad),
            (".hidden/a.agent.abl", &bad),
            ("seen/a.agent.abl", &bad),
            ("seen/.gitignore", "b.*\n"),
            ("seen/b.agent.abl", &bad),
        ],
    );
    let output = run(folder.path(), cache.path(), &["check", ".", "--format", "concise"]);
    let files: Vec<String> =
        stdout(&output).lines().filter_map(|l| Some(l.split_once(':')?.0.to_owned())).collect();
    assert!(!files.is_empty());
    assert!(files.iter().all(|f| f == "seen/a.agent.abl"), "{files:?}");
    // What is named is read.
    assert_eq!(code(&run(folder.path(), cache.path(), &["check", "a.old.abl"])), 1);
}

#[test]
fn a_file_that_is_named_in_two_ways_is_read_once() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), &[("a/x.agent.abl", GOOD)]);
    let said = |paths: &[&str]| {
        let args = [&["check"], paths, &["--format", "json"]].concat();
        stdout(&run(folder.path(), cache.path(), &args))
    };
    let once = said(&["a/x.agent.abl"]);
    assert!(once.contains("\"files\":1,"), "{once}");
    assert_eq!(said(&["a/x.agent.abl", "a//x.agent.abl", "a/./x.agent.abl"]), once);
    assert_eq!(said(&["a", "a/", "a//", "a/."]), once);
}

#[test]
fn a_project_is_named_by_its_manifest_from_anywhere() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), &[("p/project.json", "{}"), ("p/agents/a.agent.abl", &broken("A"))]);
    for (from, manifest, file) in [
        (".", "p/project.json", "p/agents/a.agent.abl:"),
        ("p", "project.json", "agents/a.agent.abl:"),
        ("p", "./project.json", "agents/a.agent.abl:"),
        ("p/agents", "../project.json", "../agents/a.agent.abl:"),
    ] {
        let here = folder.path().join(from);
        let said = stdout(&run(&here, cache.path(), &["check", manifest, "--format", "concise"]));
        assert!(said.starts_with(file), "{manifest} from {from}: {said}");
    }
}

/// The functions of an ADL bot are in the Python files beside it; a link to one counts, too.
#[cfg(unix)]
#[test]
fn functions_beside_a_bot_are_found_as_files_are() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let function = |name: &str| format!("def {name}():\n    return []\n");
    let calls = ["beside", "linked", "ignored", "hidden", "elsewhere"];
    let steps: String = calls.iter().map(|name| format!("    - call: {name}\n")).collect();
    write(
        folder.path(),
        &[
            (".gitignore", "old.py\n"),
            ("bot/agents.yml", &format!("main:\n  type: flow agent\n  steps:\n{steps}")),
            ("bot/here.py", &function("beside")),
            ("bot/old.py", &function("ignored")),
            ("bot/.hidden.py", &function("hidden")),
            ("bot/below/here.py", &function("elsewhere")),
            ("lib/shared.py", &function("linked")),
        ],
    );
    std::os::unix::fs::symlink("../lib/shared.py", folder.path().join("bot/shared.py")).unwrap();
    let output = run(folder.path(), cache.path(), &["check", ".", "--format", "concise"]);
    let said = stdout(&output);
    let undefined: Vec<&str> = calls
        .into_iter()
        .filter(|name| said.lines().any(|l| l.contains("undefined") && l.contains(name)))
        .collect();
    assert_eq!(undefined, ["ignored", "hidden", "elsewhere"], "{said}");
}

#[test]
fn files_are_watched() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), &[("a.agent.abl", GOOD)]);
    let mut child = agentir(folder.path(), cache.path())
        .args(["check", ".", "--watch", "--output", "json=found.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    let (to, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in said.lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    // After a minute without a line it is taken to hang.
    let until = |what: &str| {
        std::iter::from_fn(|| lines.recv_timeout(Duration::from_mins(1)).ok())
            .any(|line| line.contains(what))
    };
    let first = until("No findings in 1 file");
    // It says so before it watches.
    std::thread::sleep(Duration::from_millis(500));
    write(folder.path(), &[("a.agent.abl", &broken("A"))]);
    let second = first && until("undefined-tool");
    write(folder.path(), &[("b.agent.abl", GOOD)]);
    let third = second && until("in 2 files");
    // It does not go round by itself.
    std::thread::sleep(Duration::from_secs(1));
    let quiet = lines.try_recv().is_err();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((first, second, third, quiet), (true, true, true, true));
}

#[test]
fn shells_are_told_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = stdout(&run(folder.path(), folder.path(), &["completions", shell]));
        for word in ["check", "convert", "no-cache"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(code(&run(folder.path(), folder.path(), &["man", "pages"])), 0);
    let page = fs::read_to_string(folder.path().join("pages/agentir-check.1")).unwrap();
    assert!(page.contains("shard"), "{page}");
}
