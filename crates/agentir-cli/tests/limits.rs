//! Work, memory and output stay within limits, whatever the input.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{FORMATS, GOOD, agentir, code, stderr, stdout, write};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The CPU time in seconds that a run may take, in a build without optimization.
const SECONDS: u32 = 120;
/// The memory in bytes that a run may take.
const MEMORY: u64 = 1 << 30;

/// Runs a command with limits that the system enforces.
fn limited(folder: &Path, args: &[&str]) -> Output {
    within(SECONDS, folder, args)
}

/// Runs a command with the same limits, but for fewer seconds.
fn within(seconds: u32, folder: &Path, args: &[&str]) -> Output {
    let program = agentir(folder, folder);
    let mut command = Command::new("prlimit");
    command.arg(format!("--cpu={seconds}")).arg(format!("--data={MEMORY}"));
    command.arg(program.get_program()).args(args).current_dir(folder);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    assert!(output.status.code().is_some(), "{args:?} was stopped: {}", stderr(&output));
    output
}

fn agent(name: &str, rest: &str) -> String {
    format!("AGENT: {name}\n\nGOAL: \"Take orders\"\n\n{rest}")
}

/// Patterns whose intersections are hard.
fn patterns(count: usize) -> String {
    let mut text =
        "MEMORY:\n  session:\n    - name: a\n      type: string\n\nCONSTRAINTS:\n  c:\n".to_owned();
    for i in 1..=count {
        let _ = writeln!(text, "    - REQUIRE a MATCHES \"^(x{{{i}}}|y{{1,{i}}})+z{{{i}}}$\"");
        let _ = writeln!(text, "      ON_FAIL: \"no\"");
    }
    text
}

/// Equations that nobody can decide.
fn equations(count: usize) -> String {
    let mut text = "FLOW:\n  s -> t\n\n  s:\n    REASONING: false\n    GATHER:\n".to_owned();
    for name in ["x", "y", "z"] {
        let _ = writeln!(
            text,
            "      - {name}:\n          TYPE: number\n          REQUIRED: true\n          PROMPT: \"n?\""
        );
    }
    text += "    ON_INPUT:\n";
    for i in 0..count {
        let _ = writeln!(
            text,
            "      - IF: x*x*x + y*y*y == z*z*z + {i} AND x > 0 AND y > 0 AND z > 0\n        THEN: t"
        );
    }
    text + "      - ELSE:\n        THEN: t\n\n  t:\n    REASONING: false\n    RESPOND: \"x\"\n    THEN: COMPLETE\n"
}

#[test]
fn conditions_that_cannot_be_decided_cost_a_bounded_number_of_steps() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        agent("Many_Patterns", &patterns(203)),
        // More than are kept in their compiled form.
        agent("More_Patterns", &patterns(600)),
        agent("Equations", &equations(300)),
    ];
    for (at, text) in texts.iter().enumerate() {
        let name = format!("{at}.agent.abl");
        write(folder.path(), &[(&name, text)]);
        let output = limited(folder.path(), &["check", "--format", "concise", &name]);
        let said = stdout(&output);
        assert!(
            said.contains(&format!("{name}:")) && said.contains("info[analysis-limit]"),
            "{said}"
        );
        assert_eq!(code(&output), 0, "{said}");
    }
}

#[test]
fn many_programs_share_the_steps_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..60 {
        let (name, text) = (format!("p{at}/a.agent.abl"), agent(&format!("P{at}"), &patterns(39)));
        write(folder.path(), &[(&name, &text), (&format!("p{at}/project.json"), "{}")]);
    }
    let output = limited(folder.path(), &["check", "--format", "concise", "."]);
    assert!(stdout(&output).contains("info[analysis-limit]"), "{}", stdout(&output));
}

/// A condition of so many terms, about as many variables or few.
fn terms(count: usize, join: &str, term: fn(usize) -> String) -> String {
    let all: Vec<String> = (0..count).map(term).collect();
    agent(
        "Long",
        &format!("CONSTRAINTS:\n  c:\n    - REQUIRE {}\n      ON_FAIL: \"no\"\n", all.join(join)),
    )
}

#[test]
fn long_conditions_cost_what_their_length_is() {
    type Term = fn(usize) -> String;
    let shapes: [(&str, Term); 5] = [
        (" AND ", |i| format!("v{i} > {i}")),
        (" OR ", |i| format!("v{i} > {i}")),
        (" AND ", |i| format!("v{i} IS SET")),
        (" AND ", |i| format!("v{} > {i}", i % 8)),
        (" AND ", |i| format!("v{i} > v{}", i + 1)),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (at, (join, term)) in shapes.into_iter().enumerate() {
        let name = format!("{at}.agent.abl");
        write(folder.path(), &[(&name, &terms(12_000, join, term))]);
        // One that is four times as long took sixteen times as long: more than a minute.
        let output = within(40, folder.path(), &["check", "--format", "concise", &name]);
        assert!(code(&output) < 2, "{name}: {}", stderr(&output));
        let said = stdout(&output);
        assert!(said.contains("analysis-limit") || said.contains("undefined-variable"), "{name}");
    }
}

#[test]
fn a_long_condition_over_many_variables_ends_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    let text = terms(20_000, " OR ", |i| format!("(v{i} == {i} AND w{i} != \"x{i}\")"));
    write(folder.path(), &[("long.agent.abl", &text)]);
    let commands: [&[&str]; 4] = [
        &["check", "--format", "concise", "long.agent.abl"],
        &["convert", "--to", "adl", "-o", "out", "long.agent.abl"],
        &["diff", "long.agent.abl", "long.agent.abl"],
        &["test", "--generate", "--tries", "20", "long.agent.abl"],
    ];
    for args in commands {
        let output = limited(folder.path(), args);
        assert!(code(&output) < 2, "{args:?}: {}", stderr(&output));
    }
}

/// Agents that all hand over to each other.
fn circle(folder: &Path, count: usize) {
    for own in 0..count {
        let mut handoffs = "HANDOFF:\n".to_owned();
        for to in (0..count).filter(|to| *to != own) {
            let _ = writeln!(
                handoffs,
                "  - TO: A{to}\n    WHEN: user.topic == {to}\n    RETURN: false"
            );
        }
        write(folder, &[(&format!("a{own}.agent.abl"), &agent(&format!("A{own}"), &handoffs))]);
    }
}

#[test]
fn agents_that_all_lead_to_each_other_end_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    circle(&folder.path().join("all"), 80);
    let commands: [&[&str]; 10] = [
        &["check", "--format", "concise", "all"],
        &["cost", "all"],
        &["cost", "--format", "json", "all"],
        &["compile", "all"],
        &["diff", "all", "all"],
        &["graph", "--format", "dot", "all"],
        &["graph", "--format", "svg", "all"],
        &["graph", "--format", "html", "all"],
        &["convert", "--to", "agent-script", "-o", "out", "all"],
        &["test", "--generate", "--agent", "A0", "--tries", "50", "all"],
    ];
    for args in commands {
        let output = within(60, folder.path(), args);
        let said = stderr(&output);
        if args.contains(&"svg") || args.contains(&"html") {
            assert_eq!(code(&output), 2, "{args:?}");
            assert!(said.contains("80 nodes and 6320 edges"), "{said}");
            assert!(said.contains("`--format dot`, `mermaid` or `json`"), "{said}");
        } else {
            assert!(code(&output) < 2, "{args:?}: {said}");
        }
    }
}

/// The same from steps of their flows.
#[test]
fn flows_that_all_lead_to_each_other_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let count = 60;
    for own in 0..count {
        let mut handoffs =
            "MEMORY:\n  session:\n    - name: k\n      type: number\nHANDOFF:\n".to_owned();
        let mut flow =
            "FLOW:\n  a:\n    REASONING: false\n    GATHER:\n      - q: required\n    ON_INPUT:\n"
                .to_owned();
        let mut steps = "      - ELSE:\n        THEN: a\n".to_owned();
        for to in (0..count).filter(|to| *to != own) {
            let k = to + count;
            let _ = writeln!(handoffs, "  - TO: A{to}\n    WHEN: k == {k}");
            let _ = writeln!(
                flow,
                "      - IF: q == \"{to}\"\n        SET: k = {k}\n        THEN: b{to}"
            );
            let _ = writeln!(
                steps,
                "  b{to}:\n    REASONING: false\n    RESPOND: \"to {to}\"\n    THEN: HANDOFF A{to}"
            );
        }
        let text = agent(&format!("A{own}"), &(handoffs + &flow + &steps));
        write(folder.path(), &[(&format!("all/a{own}.agent.abl"), &text)]);
    }
    let output = within(60, folder.path(), &["check", "--format", "concise", "all"]);
    assert!(code(&output) < 2, "{}", stderr(&output));
    assert!(stdout(&output).contains("analysis-limit"), "{}", stdout(&output));
}

#[test]
fn many_handoffs_end_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = "SUPERVISOR: Desk\nGOAL: \"help\"\nHANDOFF:\n".to_owned();
    for i in 0..600 {
        let _ = writeln!(desk, "  - TO: A{i}\n    WHEN: user.topic == {i}\n    RETURN: false");
        write(
            &folder.path().join("all"),
            &[(&format!("a{i}.agent.abl"), &agent(&format!("A{i}"), ""))],
        );
    }
    write(&folder.path().join("all"), &[("desk.agent.abl", &desk)]);
    let commands: [&[&str]; 4] = [
        &["diff", "all", "all"],
        &["convert", "--to", "agent-script", "-o", "out", "all"],
        &["test", "--generate", "--agent", "Desk", "--tries", "20", "all"],
        &["graph", "--format", "html", "--detail", "agents", "all"],
    ];
    for args in commands {
        let output = within(80, folder.path(), args);
        assert!(code(&output) < 2, "{args:?}: {}", stderr(&output));
    }
}

/// A bot whose agents call each other in a row, each with so many steps.
fn chain(folder: &Path, count: usize, says: usize) {
    let mut text = String::new();
    for i in 0..count {
        let _ = writeln!(text, "a{i}:\n  type: flow agent\n  steps:");
        (0..says).for_each(|_| text += "    - bot: hi\n");
        let _ = writeln!(text, "    - call: a{}", (i + 1) % count);
    }
    write(folder, &[("bot/agents.yml", &text)]);
}

/// A flow of so many steps, each of which may also lead to a step of its own at which the flow ends.
fn comb(folder: &Path, count: usize) {
    let mut text = "FLOW:\n  entry_point: s0\n  steps:\n".to_owned();
    (0..count).for_each(|i| text += &format!("    - s{i}\n    - e{i}\n"));
    for i in 0..count {
        let next = (i + 1).min(count - 1);
        let _ = writeln!(
            text,
            "  s{i}:\n    REASONING: false\n    ON_INPUT:\n      - IF: input == \"{i}\"\n        THEN: e{i}\n      - ELSE:\n        THEN: s{next}"
        );
        let _ =
            writeln!(text, "  e{i}:\n    REASONING: false\n    RESPOND: \"x\"\n    THEN: COMPLETE");
    }
    write(folder, &[("comb.agent.abl", &agent("Comb", &text))]);
}

#[test]
fn pictures_are_drawn_or_refused_by_the_work_of_their_layout() {
    let folder = tempfile::tempdir().unwrap();
    let draw = |wanted: i32, args: &[&str]| {
        for format in ["svg", "html"] {
            let all = [&["graph", "--format", format], args].concat();
            let output = within(40, folder.path(), &all);
            assert_eq!(code(&output), wanted, "{all:?}: {}", stderr(&output));
            let refused = stderr(&output).contains("too many for a picture");
            assert_eq!(refused, wanted == 2, "{}", stderr(&output));
        }
    };
    // One node for each agent is a row, however long.
    chain(folder.path(), 600, 1);
    draw(0, &["bot"]);
    // A frame around those of each agent reaches over many layers.
    chain(folder.path(), 100, 1);
    draw(2, &["--detail", "statements", "bot"]);
    // No agent is drawn alone before the whole is refused.
    chain(folder.path(), 4_000, 1);
    draw(2, &["bot"]);
    // The ends lie on one layer, so the edges to them are long.
    comb(folder.path(), 400);
    draw(2, &["comb.agent.abl"]);
    comb(folder.path(), 60);
    draw(0, &["comb.agent.abl"]);
}

#[test]
fn a_file_that_is_too_large_is_refused_before_it_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.json", "a.ir.json", "a.agent.abl", "a.yaml", "a.agent"] {
        let file = fs::File::create(folder.path().join(name)).unwrap();
        file.set_len(200 << 20).unwrap();
        let output = within(10, folder.path(), &["check", "--format", "concise", name]);
        assert_eq!(code(&output), 1, "{name}: {}", stderr(&output));
        let said = stdout(&output);
        let wanted = "error[unreadable-file]: this file is larger than 64 MB and was not read";
        assert!(said.contains(wanted), "{name}: {said}");
    }
}

#[test]
fn work_grows_with_the_size_alone() {
    let count = 15_000;
    let mut text = "SUPERVISOR: Many\n\nGOAL: \"g\"\n\nAGENTS:\n".to_owned();
    (0..count).for_each(|i| {
        let _ = writeln!(text, "  - b{i}: B{i}");
    });
    text += "\nHANDOFF:\n";
    for i in 0..count {
        let _ = writeln!(text, "  - TO: b{i}\n    WHEN: x == {i}\n    CONTEXT:\n      pass: [x]");
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("many.agent.abl", &text)]);
    let output = limited(folder.path(), &["check", "--format", "concise", "many.agent.abl"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let found = stdout(&output);
    assert_eq!(found.matches("undefined-field").count(), 1, "{found}");
    // What runs on each message is told from each branch once.
    let output = limited(folder.path(), &["run", "many.agent.abl"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

/// Each of the choices of an agent is looked for among the declarations of its target.
#[test]
fn a_difference_of_many_choices_ends() {
    let count = 4000;
    let mut text = "config:\n    agent_name: \"A\"\n\nstart_agent s:\n    description: \"d\"\n    reasoning:\n        \
                    instructions: ->\n            | hi\n        actions:\n"
        .to_owned();
    (0..count).for_each(|i| {
        let _ = writeln!(text, "            go{i}: @utils.transition to @subagent.t{i}");
    });
    (0..count).for_each(|i| {
        let _ = writeln!(text, "\nsubagent t{i}:\n    description: \"d\"");
    });
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("many.agent", &text)]);
    let output = limited(folder.path(), &["diff", "many.agent", "many.agent"]);
    assert_eq!(code(&output), 0, "{} {}", stdout(&output), stderr(&output));
}

#[test]
fn a_file_of_too_many_lines_is_refused_by_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    for (name, head) in
        [("a.agent", "system:\n"), ("a.agent.abl", GOOD), ("a.yaml", "a:\n  type: llm agent\n")]
    {
        for filler in ["\n", "# c\n"] {
            write(folder.path(), &[(name, &format!("{head}{}", filler.repeat(1_100_000)))]);
            let output = limited(folder.path(), &["check", "--format", "concise", name]);
            let said = stdout(&output);
            assert!(said.contains("was not read"), "{name}: {said}");
            let output = limited(folder.path(), &["fmt", name]);
            assert_eq!(code(&output), 2, "{name}: {}", stderr(&output));
        }
    }
}

/// A document with so many copies of a part, and as many as it takes to be refused.
fn fits_and_more_does_not(name: &str, head: &str, part: fn(usize) -> String, fits: usize) {
    let folder = tempfile::tempdir().unwrap();
    for (count, is_read) in [(fits, true), (fits + fits / 50, false)] {
        let parts: String = (0..count).map(part).collect();
        write(folder.path(), &[(name, &format!("{head}{parts}"))]);
        let output = limited(folder.path(), &["check", "--format", "concise", name]);
        let refused = stdout(&output).contains("and was not read");
        assert_eq!(!refused, is_read, "{count} times in {name}: {}", stdout(&output));
    }
}

#[test]
fn what_is_read_fits_into_a_gigabyte() {
    let abl = "AGENT: A\n\nGOAL: \"g\"\n\n";
    let fields = format!("{abl}GATHER:\n");
    fits_and_more_does_not("a.abl", &fields, |i| format!("  g{i}:\n    type: string\n"), 55_000);
    fits_and_more_does_not("a.abl", &fields, |i| format!("  g{i}:\n"), 124_000);
    let steps = format!("{abl}FLOW:\n");
    let step = |i| format!("  s{i}:\n    REASONING: false\n    THEN: s{i}\n");
    fits_and_more_does_not("a.abl", &steps, step, 35_300);
    let bot = "a:\n  type: flow agent\n  description: d\n  steps:\n";
    fits_and_more_does_not("a.yaml", bot, |_| "    - bot: h\n".to_owned(), 82_500);
    let agents = |i| format!("a{i}:\n  type: flow agent\n  steps:\n    - bot: h\n");
    fits_and_more_does_not("a.yaml", "", agents, 10_000);
    let script = "config:\n    agent_name: \"A\"\n\nstart_agent s:\n    description: \"d\"\n";
    let topic = |i| format!("\nsubagent t{i}:\n    description: \"d\"\n");
    fits_and_more_does_not("a.agent", script, topic, 9_999);
}

/// What stands before some parts of AgentIR, one of them, what stands behind them, and how many are read.
type Shape = (&'static str, fn(usize) -> String, &'static str, usize);

#[test]
fn json_that_is_read_fits_into_a_gigabyte() {
    let folder = tempfile::tempdir().unwrap();
    let head =
        r#"{"ir_version":"1.0","metadata":{"name":"A","dialect":"abl"},"identity":{"goal":"g"},"#;
    // What takes most for what it counts.
    let shapes: [Shape; 4] = [
        (r#""flow":{"definitions":{"#, |i| format!(r#""s{i}":{{"respond":"x"}}"#), "}}", 99_000),
        (r#""flow":{"definitions":{"#, |i| format!(r#""s{i}":{{"call":"t"}}"#), "}}", 99_000),
        (r#""gather":{"fields":["#, |i| format!(r#"{{"name":"g{i}"}}"#), "]}", 99_000),
        (r#""gather":{"fields":["#, |_| "1".to_owned(), "]}", 395_000),
    ];
    for (open, part, close, fits) in shapes {
        for (count, is_read) in [(fits, true), (fits + fits / 50, false)] {
            let parts: Vec<String> = (0..count).map(part).collect();
            let text = format!("{head}{open}{}{close}}}", parts.join(","));
            write(folder.path(), &[("a.ir.json", &text)]);
            let output = limited(folder.path(), &["check", "--format", "concise", "a.ir.json"]);
            let refused = stdout(&output).contains(
                "has more than 400000 values, counting each object as 3, and was not read",
            );
            let said: String = stdout(&output).chars().take(500).collect();
            assert_eq!(!refused, is_read, "{count} times {open}: {said}");
        }
    }
}

#[test]
fn exports_that_are_read_fit_into_a_gigabyte() {
    let folder = tempfile::tempdir().unwrap();
    for (count, is_read) in [(165_000, true), (168_000, false)] {
        let nodes: Vec<String> =
            (0..count).map(|i| format!(r#"{{"nodeId":"n{i}","type":"message"}}"#)).collect();
        let export = format!(
            r#"{{"dialogs":[{{"_id":"d","lname":"d","nodes":[{}]}}],"dialogComponents":[],"sentences":[]}}"#,
            nodes.join(",")
        );
        write(folder.path(), &[("bot/botDefinition.json", &export)]);
        let output = limited(folder.path(), &["check", "--no-cache", "--format", "concise", "bot"]);
        let refused = stdout(&output)
            .contains("has more than 1500000 values, counting each object as 7, and was not read");
        let said: String = stdout(&output).chars().take(500).collect();
        assert_eq!(!refused, is_read, "{count}: {said}");
    }
}

/// An export with one text of 60 MB that is nothing but escapes: each of them moves what follows.
#[test]
fn texts_of_escapes_fit_into_a_gigabyte() {
    let folder = tempfile::tempdir().unwrap();
    for escape in ["%41", "\\u0041"] {
        let text = escape.repeat(60_000_000 / escape.len());
        let export = format!(
            r#"{{"dialogs":[{{"_id":"d","lname":"d","nodes":[{{"nodeId":"n","type":"message","componentId":"c","transitions":[]}}]}}],"dialogComponents":[{{"_id":"c","name":"c","type":"message","message":[{{"localeData":{{"en":{{"text":"{text}"}}}}}}]}}],"sentences":[]}}"#
        );
        write(folder.path(), &[("bot/botDefinition.json", &export)]);
        let output = limited(folder.path(), &["check", "--no-cache", "--format", "concise", "bot"]);
        assert!(code(&output) < 2, "{escape}: {}", stderr(&output));
    }
}

#[test]
fn a_program_of_too_many_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("project.json", "{}")]);
    for i in 0..=10_000 {
        fs::write(folder.path().join(format!("a{i}.abl")), agent(&format!("A{i}"), "")).unwrap();
    }
    let output = limited(folder.path(), &["check", "--format", "concise", "."]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("its program has 10001 files"), "{}", stdout(&output));
    assert_eq!(stdout(&output).lines().count(), 1, "{}", stdout(&output));
}

#[test]
fn an_unnamed_variable_is_a_mistake_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let text = "main:\n  type: flow agent\n  steps:\n    - bot: hi\n    - set:\n        : 0.9\n";
    write(folder.path(), &[("bot/agents.yml", text)]);
    for target in ["abl", "abl-yaml", "agent-script", "adl"] {
        let output =
            limited(folder.path(), &["convert", "--to", target, "-o", target, "bot/agents.yml"]);
        assert_eq!(code(&output), 2, "{target}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("this value has no name"), "{target}: {said}");
        assert!(said.contains("bot/agents.yml:6:9"), "{target}: {said}");
    }
}

#[test]
fn blanks_in_types_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let blanks = " ".repeat(400_000);
    let text = format!(
        r#"{{"version": "1.0", "entry_agent": "A", "agents": {{"A": {{
            "metadata": {{"name": "A", "dialect": "abl"}}, "identity": {{"goal": "g"}},
            "tools": [{{"name": "t", "parameters": [{{"name": "a", "type": "a{blanks}| b"}}]}}]
        }}}}}}"#
    );
    write(folder.path(), &[("a.ir.json", &text)]);
    let output = within(10, folder.path(), &["check", "--format", "concise", "a.ir.json"]);
    assert!(code(&output) < 2, "{}", stderr(&output));
}

/// A program on one line, with so many findings in it.
fn one_line(count: usize) -> String {
    let tool = |i| format!(r#"{{"name":"t{i}","description":"{}","bogus":1}}"#, "x".repeat(150));
    let tools: Vec<String> = (0..count).map(tool).collect();
    format!(
        r#"{{"version":"1.0","entry_agent":"A","agents":{{"A":{{"ir_version":"1.0","metadata":{{"name":"A","dialect":"abl"}},"identity":{{"goal":"g"}},"tools":[{}]}}}}}}"#,
        tools.join(",")
    )
}

#[test]
fn a_report_grows_with_its_findings_and_not_with_the_line_that_they_are_in() {
    let folder = tempfile::tempdir().unwrap();
    let mut sizes = Vec::new();
    for count in [500, 2_000] {
        write(folder.path(), &[("a.ir.json", &one_line(count))]);
        for format in FORMATS {
            let args = ["check", "--no-cache", "--format", format, "a.ir.json"];
            let said = stdout(&within(30, folder.path(), &args));
            let shown = said.matches("bogus").count();
            assert!(shown >= count.min(50), "{format}: {shown}");
            sizes.push(said.len());
        }
    }
    let (few, many) = sizes.split_at(FORMATS.len());
    for ((format, few), many) in FORMATS.iter().zip(few).zip(many) {
        assert!(*many < 5 * few, "{format}: {few} bytes of 500 findings, {many} of 2,000");
    }
}

#[test]
fn the_page_of_sixty_thousand_findings_fits_into_a_gigabyte() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.ir.json", &one_line(60_000))]);
    for format in ["html", "sarif"] {
        let output = format!("{format}=report");
        let args = ["check", "--no-cache", "-o", &output, "--format", "markdown", "a.ir.json"];
        assert_eq!(code(&limited(folder.path(), &args)), 0);
        let report = fs::metadata(folder.path().join("report")).unwrap();
        assert!(report.len() < 100 << 20, "{format}: {}", report.len());
    }
}

#[test]
fn standard_input_has_the_limit_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 7] = [
        &["check", "-"],
        &["fmt", "-"],
        &["migrate", "--to", "current", "-"],
        &["convert", "--to", "adl", "-"],
        &["compile", "-"],
        &["graph", "-"],
        &["cost", "-"],
    ];
    for args in commands {
        let program = agentir(folder.path(), folder.path());
        let mut command = Command::new("prlimit");
        command.args(["--cpu=20", "--data=500000000"]).arg(program.get_program()).args(args);
        // It has no end.
        command.stdin(fs::File::open("/dev/zero").unwrap());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("standard input is larger than 64 MB and was not read"), "{said}");
    }
}

/// A flow of so many steps, all of which are laid out in another way.
fn untidy(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("s{i}")).collect();
    let mut text = format!("MEMORY:\n  session:\n    - a\n\nFLOW:\n  {}\n\n", names.join(" -> "));
    for i in 0..count {
        let next = if i + 1 < count { format!("s{}", i + 1) } else { "COMPLETE".to_owned() };
        let blanks = " ".repeat(1 + i % 50);
        let _ = writeln!(
            text,
            "  s{i}:\n    REASONING: false\n    SET: a = {i}{blanks}# c\n    THEN: {next}\n"
        );
    }
    agent("Untidy", &text)
}

#[test]
fn differences_take_time_in_proportion_to_the_length() {
    let folder = tempfile::tempdir().unwrap();
    let text = untidy(16_000);
    let mut recalls = "MEMORY:\n  session:\n    - a\n  recall:\n".to_owned();
    (0..16_000).for_each(|i| {
        let _ = writeln!(recalls, "    - ON_START: \"Check {i}\"");
    });
    write(folder.path(), &[("a.agent.abl", &text), ("m.agent.abl", &agent("M", &recalls))]);
    let output = within(15, folder.path(), &["fmt", "--diff", "a.agent.abl"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    // It can be applied.
    fs::write(folder.path().join("a.diff"), output.stdout).unwrap();
    let mut patch = Command::new("patch");
    let patched = patch.current_dir(folder.path()).args(["-s", "a.agent.abl", "a.diff"]).status();
    // Not all systems have it.
    if let Ok(status) = patched {
        assert!(status.success());
        assert_eq!(code(&limited(folder.path(), &["fmt", "--check", "a.agent.abl"])), 0);
    }
    let args = ["migrate", "--to", "current", "--diff", "m.agent.abl"];
    let output = within(15, folder.path(), &args);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains("+    - ON: session:start"), "{}", stderr(&output));
}

#[test]
fn the_costs_of_ten_thousand_agents_fit_into_a_gigabyte() {
    let folder = tempfile::tempdir().unwrap();
    let count = 9_900;
    let agents: Vec<String> = (0..count)
        .map(|i| {
            let to = |k| format!(r#"{{"to":"A{}"}}"#, (i * 7 + k) % count);
            format!(
                r#""A{i}":{{"ir_version":"1.0","metadata":{{"name":"A{i}","dialect":"abl"}},"identity":{{"goal":"g"}},"coordination":{{"handoffs":[{},{},{}]}}}}"#,
                to(0), to(1), to(2)
            )
        })
        .collect();
    let text =
        format!(r#"{{"version":"1.0","entry_agent":"A0","agents":{{{}}}}}"#, agents.join(","));
    write(folder.path(), &[("a.ir.json", &text)]);
    for format in ["json", "text"] {
        let output = limited(folder.path(), &["cost", "--format", format, "a.ir.json"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(stdout(&output).contains("A9899"));
    }
}

/// A flow of many steps, each of which leads to the next.
fn long_flow(steps: usize) -> String {
    let mut text = "FLOW:\n  entry_point: s0\n\n".to_owned();
    for step in 1..steps {
        let _ = writeln!(text, "  s{}:\n    RESPOND: \"x\"\n    THEN: s{step}", step - 1);
    }
    let _ = writeln!(text, "  s{}:\n    RESPOND: \"x\"\n    THEN: COMPLETE", steps - 1);
    agent("Chain", &text)
}

/// A difference at the end of a flow is one at its beginning; it costs as much as the flow is long, not the square of it.
#[test]
fn long_flows_are_compared_in_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[("a.agent.abl", &long_flow(10_000)), ("b.agent.abl", &long_flow(9_999))],
    );
    let same = within(30, folder.path(), &["diff", "a.agent.abl", "a.agent.abl"]);
    assert_eq!(code(&same), 0, "{}{}", stdout(&same), stderr(&same));
    assert!(stdout(&same).contains("same meaning"), "{}", stdout(&same));
    let other = within(30, folder.path(), &["diff", "a.agent.abl", "b.agent.abl"]);
    assert_eq!(code(&other), 1, "{}{}", stdout(&other), stderr(&other));
    let converted =
        within(60, folder.path(), &["convert", "a.agent.abl", "--to", "adl", "-o", "out"]);
    assert!(!stdout(&converted).contains("undecided"), "{}", stdout(&converted));
}

/// Rules that look at each assignment look its variable up.
#[test]
fn assignments_are_checked_in_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    let agent = |n: usize| {
        let variables: String = (0..n).map(|i| format!("    - v{i}\n")).collect();
        let sets: String =
            (0..n).map(|i| format!("    SET: v{i} = v{} + 1\n", i * 7 % n)).collect();
        format!(
            "AGENT: A\nGOAL: \"x\"\nMEMORY:\n  session:\n{variables}FLOW:\n  a:\n    REASONING: false\n{sets}    THEN: COMPLETE\n"
        )
    };
    let time = |n: usize| {
        let name = format!("a{n}.agent.abl");
        write(folder.path(), &[(&name, &agent(n))]);
        let output = within(120, folder.path(), &["check", &name, "--statistics"]);
        let text = stdout(&output) + &stderr(&output);
        ["type-mismatch", "undefined-field"].map(|rule| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(rule));
            let time = lines.find_map(|line| line.split_whitespace().next()?.parse().ok());
            // Rules that take less are not listed by their names.
            let time: f64 = time.unwrap_or_default();
            time.max(5.0)
        })
    };
    // Eight times as much; a quadratic search would take 64 times as long.
    let (few, many) = (time(2_000), time(16_000));
    for (few, many) in few.into_iter().zip(many) {
        assert!(many < 30.0 * few, "{few} ms, {many} ms");
    }
}

/// Agents that all hand over to each other and get control back have as many moves as the third power of their number.
#[test]
fn agents_that_all_hand_over_to_each_other_are_compared_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = |n: usize| {
        for i in 0..n {
            let others = (0..n).filter(|j| *j != i);
            let handoffs: String = others
                .map(|j| {
                    format!(
                        "  - TO: A{j}\n    WHEN: k{i} == {j}\n    CONTEXT:\n      pass: [k{i}]\n      summary: \"x\"\n    RETURN: true\n"
                    )
                })
                .collect();
            let text = format!(
                "AGENT: A{i}\nGOAL: \"x\"\nMEMORY:\n  session:\n    - k{i}\nHANDOFF:\n{handoffs}"
            );
            write(folder.path(), &[(&format!("mesh{n}/a{i}.agent.abl"), &text)]);
        }
    };
    mesh(20);
    let same = within(60, folder.path(), &["diff", "mesh20", "mesh20"]);
    assert_eq!(code(&same), 0, "{}{}", stdout(&same), stderr(&same));
    mesh(90);
    let cut = within(120, folder.path(), &["diff", "mesh90", "mesh90"]);
    let said = stdout(&cut);
    assert!(
        said.contains("the graphs are too large to be compared; this was found at agent `A"),
        "{said}"
    );
    assert!(said.contains(".agent.abl:") && !said.contains("same meaning"), "{said}");
}
