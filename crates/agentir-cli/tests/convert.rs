//! What `agentir convert` writes: a file for everything, which `check` and `diff` find.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails should stop"
)]

mod common;

use common::{ran, samples, write};
use std::fs;
use std::path::Path;

fn agent(name: &str, greeting: &str) -> String {
    format!(
        "AGENT: {name}\nGOAL: \"Book lanes\"\nFLOW:\n  start:\n    REASONING: false\n    RESPOND: \"{greeting}\"\n    THEN: COMPLETE\n"
    )
}

/// The files below a folder, with `/`.
fn files(folder: &Path) -> Vec<String> {
    fn add(folder: &Path, below: &str, all: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{below}{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() { add(&path, &format!("{name}/"), all) } else { all.push(name) }
        }
    }
    let mut all = Vec::new();
    add(folder, "", &mut all);
    all.sort();
    all
}

/// Programs whose entries have one name, also if only case tells them apart, have folders of their own.
#[test]
fn no_program_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    let all = [("Pool", "one"), ("Pool", "two"), ("POOL", "three"), ("Pool-2", "four")];
    for (at, (name, greeting)) in all.iter().enumerate() {
        write(folder.path(), &[(&format!("in/{at}/a.agent.abl"), &agent(name, greeting))]);
    }
    for to in ["abl-yaml", "abl", "agent-script", "adl"] {
        let (code, _, stderr) =
            ran(folder.path(), &["convert", "in", "--to", to, "-o", to, "--no-verify"]);
        assert!(code < 2, "{stderr}");
        let written = files(&folder.path().join(to));
        let mut names: Vec<String> = written.iter().map(|name| name.to_lowercase()).collect();
        names.dedup();
        assert_eq!(names.len(), written.len());
        let texts: Vec<String> = written
            .iter()
            .map(|name| fs::read_to_string(folder.path().join(to).join(name)).unwrap())
            .collect();
        for (_, greeting) in all {
            let with = texts.iter().filter(|text| text.contains(greeting)).count();
            assert_eq!(with, 1, "{to}: {greeting}: {written:?}");
        }
    }
}

/// A program with errors keeps no other from being converted.
#[test]
fn a_broken_program_costs_itself() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("in/a/a.agent.abl", &agent("Pool", "one")),
            ("in/b/b.agent.abl", "AGENT: Sauna\n ]] [[\n"),
            ("in/c/c.agent.abl", &agent("Gym", "three")),
        ],
    );
    let (code, _, stderr) = ran(folder.path(), &["convert", "in", "--to", "adl", "-o", "out"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("b.agent.abl"), "{stderr}");
    assert!(stderr.contains("1 program was not converted"), "{stderr}");
    let written = files(&folder.path().join("out"));
    assert!(written.iter().any(|name| name.starts_with("pool/")), "{written:?}");
    assert!(written.iter().any(|name| name.starts_with("gym/")), "{written:?}");
    // Alone, it is all there is.
    let (code, _, stderr) = ran(folder.path(), &["convert", "in/b", "--to", "adl", "-o", "other"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("nothing was converted"), "{stderr}");
    assert!(!folder.path().join("other").exists());
}

/// Within a program as well.
#[test]
fn no_file_of_a_program_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    for (at, name) in ["Öl", "ÖL", "öl"].iter().enumerate() {
        write(
            folder.path(),
            &[(&format!("in/{at}.agent.abl"), &agent(name, &format!("hello{at}")))],
        );
    }
    write(folder.path(), &[("in/project.json", "{\"entry_agent\": \"Öl\"}")]);
    let (code, _, stderr) =
        ran(folder.path(), &["convert", "in", "--to", "abl-yaml", "-o", "out", "--no-verify"]);
    assert_eq!(code, 0, "{stderr}");
    let written = files(&folder.path().join("out"));
    let agents: Vec<&str> =
        written.iter().filter(|name| name.ends_with(".agent.yaml")).map(String::as_str).collect();
    assert_eq!(
        agents,
        ["agents/öl.agent.yaml", "agents/öl_2.agent.yaml", "agents/öl_3.agent.yaml"]
    );
}

/// Converts a project to ABL in YAML: there is nothing new to find, and nothing is different.
fn stays_the_same(project: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let project = project.to_str().unwrap();
    let ran = |args: &[&str]| ran(folder.path(), args);
    let (code, _, stderr) =
        ran(&["convert", project, "--to", "abl-yaml", "-o", "out", "--no-verify"]);
    assert_eq!(code, 0, "{stderr}");
    let rules = |path: &str| {
        let (_, stdout, _) = ran(&["check", path, "--format", "json-lines"]);
        let mut all: Vec<String> = stdout
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|finding| finding["rule"].as_str().unwrap().to_owned())
            .collect();
        all.sort();
        all
    };
    assert_eq!(rules("out"), rules(project), "{project}");
    let (code, stdout, stderr) = ran(&["diff", project, "out"]);
    assert_eq!((code, stdout.as_str()), (0, "They have the same meaning\n"), "{project}: {stderr}");
}

const PROFILE: &str = r#"BEHAVIOR_PROFILE: evening
PRIORITY: 3
WHEN: channel == "voice"
INSTRUCTIONS: "Be brief."
TOOLS_ADD:
  - dim_lights(level: number) -> {dimmed: boolean}
    description: "Dim the lights"
FLOW_MODIFICATIONS:
  override:
    start:
      RESPOND: "Good evening."
"#;

const TOOLS: &str = r#"TOOLS:
  base_url: "https://pool.example"
  find_lane(day: string) -> {lane: number, free: boolean}
    description: "Find a free lane"
    type: http
    endpoint: "/lanes"
    method: GET
"#;

const AGENT: &str = r#"AGENT: Pool
GOAL: "Book lanes"
USE BEHAVIOR_PROFILE: evening
TOOLS:
  USE TOOL: find_lane
FLOW:
  start:
    REASONING: false
    CALL: find_lane("monday")
    RESPOND: "Welcome."
    THEN: COMPLETE
"#;

/// Profiles and libraries of tools that were written in YAML are found, whichever ending YAML has.
#[test]
fn profiles_and_tools_in_yaml_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("p");
    write(
        &project,
        &[
            ("agents/pool.agent.abl", AGENT),
            ("tools/lanes.tools.abl", TOOLS),
            ("behavior_profiles/evening.behavior_profile.abl", PROFILE),
            ("project.json", "{\"entry_agent\": \"Pool\"}"),
        ],
    );
    stays_the_same(&project);
    let (code, _, stderr) =
        ran(folder.path(), &["convert", "p", "--to", "abl-yaml", "-o", "out", "--no-verify"]);
    assert_eq!(code, 0, "{stderr}");
    let out = folder.path().join("out");
    let (code, stdout, _) = ran(folder.path(), &["check", "out"]);
    assert_eq!((code, stdout.as_str()), (0, "No findings in 3 files\n"));
    for name in ["behavior_profiles/evening.behavior_profile", "tools/tools.tools"] {
        fs::rename(out.join(format!("{name}.yaml")), out.join(format!("{name}.yml"))).unwrap();
    }
    let (code, stdout, _) = ran(folder.path(), &["check", "out"]);
    assert_eq!((code, stdout.as_str()), (0, "No findings in 3 files\n"));
}

/// Our samples of projects with profiles, tools, or both.
#[test]
fn projects_stay_the_same_in_yaml() {
    for project in ["observatory", "city_services", "tool_library", "harbour_office"] {
        stays_the_same(&samples().join("abl/valid").join(project));
    }
}

const POOL: &str = r#"AGENT: Pool
GOAL: "Book"
MEMORY:
  session:
    - name: lane
      type: number
  persistent:
    - PATH: user.past
      SCOPE: user
      ACCESS: readwrite
TOOLS:
  book(colour_name: string) -> {code: string}
    description: "Book one"
ENTITIES:
  colour:
    type: enum
    values: [red, blue]
TEMPLATES:
  thanks:
    DEFAULT: |
      Thank you
FLOW:
  begin -> finish

  begin:
    REASONING: false
    GATHER:
      paint:
        prompt: "Which?"
        type: string
        ENTITY_REF: colour
    ON_SUCCESS:
      SET: lane = 3
    CALL: book(colour_name: paint)
    THEN: finish

  finish:
    REASONING: false
    RESPOND: TEMPLATE(thanks)
    THEN: COMPLETE
COMPLETE:
  - WHEN: lane > 4
    RESPOND: "Lane {{lane}}"
"#;

/// A name that nobody outside of the program sees is no difference, and hides none.
#[test]
fn what_is_only_called_otherwise_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let diff = |one: &str, other: &str| {
        write(folder.path(), &[("a.agent.abl", one), ("b.agent.abl", other)]);
        let (code, out, err) = ran(folder.path(), &["diff", "a.agent.abl", "b.agent.abl"]);
        assert!(code < 2, "{err}");
        (code, out)
    };
    let renamed = [
        ("lane", "row", "variable `lane` of `Pool`"),
        ("thanks", "bye", "template `thanks` of `Pool`"),
        ("colour:", "tone:", "entity `colour` of `Pool`"),
        ("paint", "coat", "variable `paint` of `Pool`"),
        ("begin", "start", "step `begin` of `Pool`"),
    ];
    for (from, to, what) in renamed {
        let mut other = POOL.replace(from, to);
        if from == "colour:" {
            other = other.replace("REF: colour", "REF: tone");
        }
        let (code, out) = diff(POOL, &other);
        let new = to.trim_end_matches(':');
        assert_eq!(code, 0, "{out}");
        assert!(out.starts_with(&format!("renamed: the {what} is `{new}` in the second")), "{out}");
        assert_eq!(out.lines().count(), 2, "{out}");
        assert!(out.ends_with("they have the same meaning\n"), "{out}");
    }
    // A change beside it is the one difference.
    for (from, to, change, changed, path) in [
        ("lane", "row", "row > 4", "row > 5", "agents.Pool.completion.conditions[0].when"),
        ("thanks", "bye", "Thank you", "Thanks", "agents.Pool.templates.thanks.default"),
        ("lane", "row", "type: number", "type: integer", "agents.Pool.memory.session[lane].type"),
    ] {
        let other = POOL.replace(from, to).replace(change, changed);
        let (code, out) = diff(POOL, &other);
        assert_eq!(code, 1, "{out}");
        let mut lines = out.lines();
        assert!(lines.next().unwrap().starts_with("renamed: "), "{out}");
        assert_eq!(lines.next(), Some(path), "{out}");
        assert!(out.contains("\n1 difference\n"), "{out}");
    }
    // Two are two lines.
    let (code, out) = diff(POOL, &POOL.replace("lane", "row").replace("thanks", "bye"));
    assert_eq!((code, out.matches("renamed: ").count()), (0, 2), "{out}");
    // Names that services and other agents know are one line each, and a difference.
    for (from, to, what) in [
        ("book(", "reserve(", "renamed: the tool `book` of `Pool` is `reserve` in the second"),
        ("AGENT: Pool", "AGENT: Bath", "renamed: the agent `Pool` is `Bath` in the second"),
    ] {
        let (code, out) = diff(POOL, &POOL.replace(from, to));
        assert!(code == 1 && out.starts_with(what), "{out}");
        assert_eq!(out.lines().count(), 3, "{out}");
        let changed = POOL.replace(from, to).replace("> 4", "> 5");
        let (code, out) = diff(POOL, &changed);
        assert!(code == 1 && out.starts_with(what), "{out}");
        assert!(out.contains("agents.Pool.completion.conditions[0].when"), "{out}");
        assert!(out.contains("\n1 difference\n"), "{out}");
    }
    // What others see is a difference: a service, a store.
    for (from, to) in
        [("colour_name", "shade"), ("code:", "number:"), ("user.past", "user.earlier")]
    {
        let (code, out) = diff(POOL, &POOL.replace(from, to));
        assert!(code == 1 && !out.contains("renamed: "), "{from}: {out}");
    }
    // Names that change places are no renaming of one.
    let two = POOL
        .replace("    - name: lane\n", "    - name: row\n      type: string\n    - name: lane\n");
    let other = two.replace("lane", "x_x").replace("row", "lane").replace("x_x", "row");
    let (code, out) = diff(&two, &other);
    assert!(code == 1 && !out.contains("renamed: "), "{out}");
}

/// Exports in archives are found in a folder as their definitions are; other archives are nobody's.
#[test]
fn archives_in_a_folder_are_read() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("in/a/a.agent.abl", &agent("Pool", "one"))]);
    let export = fs::read(samples().join("xo/valid/van_hire/botDefinition.json")).unwrap();
    write(folder.path(), &[("in/config.json", "{\"no\": \"settings of the bot\"}")]);
    for (name, inside) in [("bots/Van.ZIP", "export/botDefinition.json"), ("pictures.zip", "a.png")]
    {
        let path = folder.path().join("in").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
        archive.start_file(inside, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut archive, &export).unwrap();
        archive.finish().unwrap();
    }
    let args = ["convert", "in", "--to", "abl", "-o", "out", "--no-verify"];
    let (code, _, stderr) = ran(folder.path(), &args);
    assert!(code < 2, "{stderr}");
    let summary = fs::read_to_string(folder.path().join("out/SUMMARY.md")).unwrap();
    assert!(summary.contains("2 converted, 0 not"), "{summary}");
    assert!(summary.contains("Van.ZIP") && !summary.contains("pictures"), "{summary}");
}
