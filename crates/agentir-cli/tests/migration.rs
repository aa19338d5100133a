//! What `agentir convert` leaves to do: in `MIGRATION.md`, in the reports, and as comments in the output.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails should stop"
)]

mod common;

use common::{broken, ran, run_with_input, samples, stderr, stdout, write};
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
        assert!(all[0]["places"][0]["target_text"].as_str().unwrap().contains("book"), "{all:?}");
        assert!(all[0]["help"].as_str().unwrap().contains("`book`"), "{all:?}");
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
    assert!(stderr.contains("more that only the platform of the source needs"), "{stderr}");
    assert!(!stderr.contains("the editor and the database of XO only need it"), "{stderr}");
    assert!(stderr.contains("whether the import understood the program"), "{stderr}");
    assert!(!stderr.contains("proved to behave the same"), "{stderr}");
    // A project is tried with conversations, too.
    let report: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("r.json")).unwrap()).unwrap();
    let held = |what: &str| report["replays"][what].as_u64().unwrap();
    assert!(held("same") > 0 && held("same") + held("reported") == held("conversations"));
    assert!(
        stderr.contains(&format!(
            "replay: {} conversations were held with both",
            held("conversations")
        ))
    );
    let all = todos(folder.path(), "r.json");
    let of = |task: &str| all.iter().filter(|todo| todo["task"] == task).collect::<Vec<_>>();
    let must: Vec<&str> = of("must").iter().filter_map(|todo| todo["help"].as_str()).collect();
    let expected = [
        "as a secret",
        "into the knowledge base `van_questions`",
        "`tables/town.csv`",
        "test for `\"\"` as well",
        "create the table `vans`",
        "create the auth profile `azure`",
        "create the environment variable `AZURE_ENDPOINT`",
    ];
    assert_eq!(must.len(), expected.len(), "{must:?}");
    for said in expected {
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

/// What a conversion writes beside the agents is part of the project for every command.
#[test]
fn a_converted_project_is_read_with_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let van = samples().join("xo/valid/van_hire");
    let van = van.to_str().unwrap();
    let args = ["convert", van, "--to", "abl", "-o", "out", "--report", "r.json"];
    assert_eq!(ran(folder.path(), &args).0, 1);
    // A search tool answers from its file, in `run` and in `test`.
    let test = r#"agents: ../out
tests:
  - name: asks
    turns:
      - says: [{ contains: welcome }]
      - user: "what is the minimum age?"
        calls: [{ search_van_questions: { query: "what is the minimum age?" } }]
        says: [{ contains: "Drivers must be 21 or older." }]
"#;
    write(folder.path(), &[("t/age.test.yaml", test)]);
    let asked = run_with_input(folder.path(), &["run", "out"], b"what is the minimum age?\n");
    let (stdout, stderr) = (stdout(&asked), stderr(&asked));
    assert!(stdout.contains("Drivers must be 21 or older."), "{stdout}{stderr}");
    let (code, stdout, stderr) = ran(folder.path(), &["test", "t/age.test.yaml"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    // Where rows lie makes no difference, and they stay there in the same language.
    let (_, stdout, _) = ran(folder.path(), &["diff", van, "out"]);
    assert!(!stdout.contains("Van_questions.knowledge"), "{stdout}");
    assert!(!stdout.contains("lookup_tables"), "{stdout}");
    for target in ["abl", "abl-yaml"] {
        let args = ["convert", "out", "--to", target, "-o", target, "--report", "again.json"];
        assert_eq!(ran(folder.path(), &args).0, 0, "{target}");
        for file in ["tables/town.csv", "knowledge/van_questions.csv"] {
            let [first, second] = ["out", target]
                .map(|at| fs::read_to_string(folder.path().join(at).join(file)).unwrap());
            assert_eq!(first, second);
        }
        let (code, stdout, _) = ran(folder.path(), &["diff", "out", target]);
        assert_eq!(code, 0, "{stdout}");
    }
    // What is changed in a file is another program.
    let table = folder.path().join("abl/tables/town.csv");
    let changed =
        fs::read_to_string(&table).unwrap().replace("\"T1\",\"town1\"", "\"T1\",\"town2\"");
    fs::write(&table, changed).unwrap();
    let (code, stdout, _) = ran(folder.path(), &["diff", "out", "abl"]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("lookup_tables") && stdout.contains("town2"), "{stdout}");
}

/// A file of data that cannot be read as what it is has a finding at its line; one that nobody names has none.
#[test]
fn wrong_data_is_found_at_its_line() {
    const AGENT: &str = "AGENT: Desk\nGOAL: \"Answers\"\nTOOLS:\n  search(query: string)\n    \
        description: \"Searches\"\n    type: searchai\n    kb_name: faq\nLOOKUP_TABLES:\n  town:\n    \
        source: collection\n    table_name: towns\nFLOW:\n  start:\n    REASONING: false\n    \
        GATHER:\n      - place: required\n        prompt: \"Where?\"\n        semantics: { lookup: town }\n    \
        CALL: search(place)\n    THEN: COMPLETE\n";
    let folder = tempfile::tempdir().unwrap();
    let check = |tables: &str, questions: &str| {
        let project = [
            ("p/agents/desk.agent.abl", AGENT),
            ("p/project.json", "{\"entry_agent\": \"Desk\"}"),
            ("p/tables/towns.csv", tables),
            ("p/knowledge/faq.csv", questions),
            ("p/tables/other.csv", "\"no table of theirs"),
        ];
        write(folder.path(), &project);
        ran(folder.path(), &["check", "p"])
    };
    let questions = "question,answer\n\"Open?\",\"From 9.\"\n";
    let (code, stdout, stderr) = check("name,value\nA,a\n", questions);
    assert_eq!(code, 0, "{stdout}{stderr}");
    for (tables, questions, found) in [
        ("town;code\nA;a\n", questions, "tables/towns.csv:1:1"),
        ("name,value\nA,a\nB,b,c\n", questions, "tables/towns.csv:3:1"),
        ("name,value\nA,a\nA,b\n", questions, "tables/towns.csv:3:1"),
        ("value\nA\n", "question,answer\n\"Open?\",\"From 9.\n", "knowledge/faq.csv:2:9"),
        ("value\nA\n", "question,answer\n\"Op\"en?\",b\n", "knowledge/faq.csv:2:5"),
    ] {
        let (code, stdout, stderr) = check(tables, questions);
        assert_eq!(code, 1, "{stdout}{stderr}");
        assert!(stdout.contains(found), "{found}: {stdout}");
    }
}

/// Data is read through the same door as agents: no link leads out of what was named.
#[cfg(unix)]
#[test]
fn data_behind_links_is_not_read() {
    const AGENT: &str = "AGENT: Desk\nGOAL: \"Answers\"\nTOOLS:\n  search(query: string)\n    \
        description: \"Searches\"\n    type: searchai\n    kb_name: faq\n";
    let folder = tempfile::tempdir().unwrap();
    let secret = "question,answer\n\"password?\",\"swordfish\"\n";
    let both = [("p/desk.agent.abl", AGENT), ("q/desk.agent.abl", AGENT), ("else/faq.csv", secret)];
    write(folder.path(), &both);
    let at = |path: &str| folder.path().join(path);
    fs::create_dir(at("p/knowledge")).unwrap();
    std::os::unix::fs::symlink(at("else/faq.csv"), at("p/knowledge/faq.csv")).unwrap();
    std::os::unix::fs::symlink(at("else"), at("q/knowledge")).unwrap();
    for project in ["p", "q"] {
        let (code, stdout, stderr) = ran(folder.path(), &["check", project]);
        assert_eq!(code, 1, "{stdout}{stderr}");
        assert!(stdout.contains("knowledge/faq.csv") && stdout.contains("link"), "{stdout}");
        let (_, stdout, stderr) = ran(folder.path(), &["compile", project]);
        assert!(!stdout.contains("swordfish") && !stderr.contains("swordfish"), "{stdout}");
    }
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

/// Whatever the output has only because its language asks for it is to be replaced, each by its name: the targets of actions
/// and the user in Agent Script, all functions in ADL, whether or not anything of their tools was lost.
#[test]
fn what_was_invented_must_be_done() {
    let folder = tempfile::tempdir().unwrap();
    let tools = POOL.replace(
        "FLOW:",
        "  cancel(day: string) -> {ok: boolean}\n    description: \"Gives a lane back\"\nFLOW:",
    );
    write(folder.path(), &[("pool.agent.abl", &tools)]);
    let must = |target: &str| {
        let report = format!("{target}.json");
        let args = ["convert", "pool.agent.abl", "--to", target, "-o", target, "--report", &report];
        let (_, _, stderr) = ran(folder.path(), &args);
        assert!(stderr.contains("`book`"), "{stderr}");
        let all = todos(folder.path(), &report);
        let must = all.into_iter().filter(|todo| todo["task"] == "must");
        let must = must.inspect(|todo| assert!(todo["places"][0]["target"].is_object(), "{todo}"));
        must.map(|todo| todo["help"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        must("adl"),
        ["write the function `book` in `tools.py`", "write the function `cancel` in `tools.py`"]
    );
    let text = fs::read_to_string(folder.path().join("adl/tools.py")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for name in ["book", "cancel"] {
        let def = lines.iter().position(|line| line.starts_with(&format!("def {name}("))).unwrap();
        assert!(lines[def - 1].starts_with('#') && lines[def - 1].contains(name), "{text}");
    }
    let script = must("agent-script");
    // What no step calls is no action.
    for said in ["of the action `book`", "the user as whom the agent runs"] {
        assert!(script.iter().any(|help| help.contains(said)), "{said}: {script:?}");
    }
    // A target that the source has is no invention.
    let again =
        ["convert", "agent-script", "--to", "agent-script", "-o", "same", "--report", "s.json"];
    ran(folder.path(), &again);
    let all = todos(folder.path(), "s.json");
    let of_action =
        |todo: &Value| todo["help"].as_str().is_some_and(|h| h.contains("of the action"));
    assert!(!all.iter().any(of_action), "{all:?}");
}
