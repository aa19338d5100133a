//! What `agentir convert` leaves to do: in `MIGRATION.md`, in the reports, and as comments in the output.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails should stop"
)]

mod common;

use common::{broken, ran, samples, write};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// How comments in outputs begin. There is none in this file.
const MARK: &str = concat!("# TO", "DO: ");

const POOL: &str = r#"AGENT: Pool
GOAL: "Lets lanes"
TOOLS:
  book(day: string) -> {code: string}
    description: "Books a lane"
    type: http
    endpoint: "https://pool.example/book"
    method: POST
FLOW:
  start:
    REASONING: false
    RESPOND: "Welcome"
    CALL: book("monday")
    THEN: COMPLETE
"#;

fn todos(folder: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    report["todo"].as_array().unwrap().clone()
}

/// What must be done is in the list, in the report and in the output; the output means the same with its comments.
#[test]
fn what_must_be_done_is_said_where_it_is_to_be_done() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("pool.agent.abl", POOL)]);
    for (target, file, snippet) in [
        ("agent-script", "pool.agent", "target: \"flow://book\""),
        ("adl", "tools.py", "def book("),
    ] {
        let report = format!("{target}.json");
        let args = ["convert", "pool.agent.abl", "--to", target, "-o", target, "--report", &report];
        let (code, _, stderr) = ran(folder.path(), &args);
        assert_eq!(code, 1, "{stderr}");
        assert!(stderr.contains("must do: "), "{stderr}");
        let list = fs::read_to_string(folder.path().join(target).join("MIGRATION.md")).unwrap();
        let must = list.find("## Must do").unwrap();
        assert!(list.find("## Look at").unwrap() > must, "{list}");
        assert!(list.contains(snippet), "{list}");
        let all = todos(folder.path(), &report);
        assert_eq!(all[0]["task"], "must", "{all:?}");
        assert!(all[0]["snippet"].as_str().unwrap().contains(snippet), "{all:?}");
        assert!(all[0]["places"][0]["source_text"].as_str().unwrap().contains("book("), "{all:?}");
        let output = folder.path().join(target).join(file);
        let text = fs::read_to_string(&output).unwrap();
        assert!(text.contains(MARK), "{text}");
        // Places are those of the file with its comments.
        let line = all[0]["places"].as_array().unwrap().iter().find_map(|place| {
            let at = &place["target"];
            (at["file"] == file).then(|| at["line"].as_u64().unwrap())
        });
        let line = text.lines().nth(usize::try_from(line.unwrap()).unwrap() - 1).unwrap();
        assert!(line.contains("book") || line.contains("flow://"), "{line}");
        // Without the comments it is the same program.
        let without: Vec<&str> =
            text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
        let other = folder.path().join(format!("{target}-without"));
        fs::create_dir(&other).unwrap();
        for entry in fs::read_dir(folder.path().join(target)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, other.join(path.file_name().unwrap())).unwrap();
        }
        fs::write(other.join(file), without.join("\n") + "\n").unwrap();
        let (code, stdout, stderr) = ran(folder.path(), &["diff", target, other.to_str().unwrap()]);
        assert_eq!(code, 0, "{stdout}{stderr}");
    }
    // Nothing is left to do in the same language.
    let args = ["convert", "pool.agent.abl", "--to", "abl-yaml", "-o", "yaml"];
    assert_eq!(ran(folder.path(), &args).0, 0);
    assert!(!folder.path().join("yaml/MIGRATION.md").exists());
}

/// An export leaves its credentials, questions and tables to do. What only its editor needs is counted apart, and not
/// listed by `diff`.
#[test]
fn an_export_leaves_a_list_without_its_editor() {
    let folder = tempfile::tempdir().unwrap();
    let van = samples().join("xo/valid/van_hire");
    let van = van.to_str().unwrap();
    let args = ["convert", van, "--to", "abl", "-o", "out", "--verify", "--report", "r.json"];
    let (code, _, stderr) = ran(folder.path(), &args);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("more that only an editor or a database needs"), "{stderr}");
    assert!(!stderr.contains("the editor and the database of XO only need it"), "{stderr}");
    assert!(stderr.contains("whether the import understood the program"), "{stderr}");
    assert!(!stderr.contains("proved to behave the same"), "{stderr}");
    let all = todos(folder.path(), "r.json");
    let of = |task: &str| all.iter().filter(|todo| todo["task"] == task).collect::<Vec<_>>();
    let must: Vec<&str> = of("must").iter().filter_map(|todo| todo["help"].as_str()).collect();
    assert_eq!(must.len(), 3, "{must:?}");
    for said in ["as a secret", "into the knowledge base `van_questions`", "`tables/town.csv`"] {
        assert!(must.iter().any(|help| help.contains(said)), "{must:?}");
    }
    assert!(!of("nothing").is_empty());
    // The check of the output is in the report.
    let found = |todo: &&Value| todo["rule"] == "side-effect-without-confirmation";
    assert!(of("look").iter().any(found), "{all:?}");
    let tool = fs::read_to_string(folder.path().join("out/agents/van_questions.agent.abl"));
    assert!(tool.unwrap().contains(&format!("{MARK}load `knowledge/van_questions.csv`")));
    let (_, stdout, _) = ran(folder.path(), &["diff", van, "out"]);
    assert!(stdout.contains("not listed: "), "{stdout}");
    assert!(!stdout.contains("._id"), "{stdout}");
}

/// What a check of the output calls an error is not written, unless that is asked for.
#[test]
fn errors_are_only_written_by_force() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("desk.agent.abl", &broken("Desk"))]);
    let convert = |more: &[&str]| {
        let args = ["convert", "desk.agent.abl", "--to", "abl-yaml", "-o", "out"];
        ran(folder.path(), &[&args, more].concat())
    };
    let (code, _, stderr) = convert(&[]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("undefined-tool"), "{stderr}");
    assert!(stderr.contains("--force"), "{stderr}");
    assert!(!folder.path().join("out").exists());
    let (code, _, stderr) = convert(&["--force"]);
    assert!(code < 2, "{stderr}");
    let list = fs::read_to_string(folder.path().join("out/MIGRATION.md")).unwrap();
    assert!(list.contains("## Must do") && list.contains("[undefined-tool]"), "{list}");
}

/// A large bot, as an export: its page can be filtered and searched, shows source and output, and is no burden.
#[test]
fn the_page_of_a_large_bot_is_small() {
    let folder = tempfile::tempdir().unwrap();
    let van = samples().join("xo/valid/van_hire/botDefinition.json");
    let mut bot: Value = serde_json::from_str(&fs::read_to_string(van).unwrap()).unwrap();
    let settings: serde_json::Map<String, Value> = (0..3_000)
        .map(|n| (format!("setting{n}"), json!({"text": "<&'\"> ".repeat(30), "n": n})))
        .collect();
    for dialog in bot["dialogs"].as_array_mut().unwrap() {
        dialog["someSettings"] = Value::Object(settings.clone());
    }
    fs::write(folder.path().join("botDefinition.json"), bot.to_string()).unwrap();
    let args = ["convert", "botDefinition.json", "--to", "abl", "-o", "out", "--no-verify"];
    let (code, _, stderr) = ran(folder.path(), &[&args[..], &["--report", "page.html"]].concat());
    assert_eq!(code, 1, "{}", stderr.get(..500).unwrap_or(&stderr));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    for part in ["type=\"search\"", "<th>Source</th><th>Output</th>", "Must do", "data-agent="] {
        assert!(page.contains(part), "{part}");
    }
    let list = fs::metadata(folder.path().join("out/MIGRATION.md")).unwrap();
    assert!(list.len() < 1_000_000, "{} bytes", list.len());
}
