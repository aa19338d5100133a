//! Symbols, their definitions and references, and renaming, through the library.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use agentir::references::{Role, Scope, SymbolKind};
use agentir::{Configs, ProgramId, RenameError, Severity, Snapshot, Workspace};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn snapshot(files: &[(&str, &str)]) -> Snapshot {
    let mut workspace = Workspace::in_memory();
    for (name, text) in files {
        workspace.set_text(name, *text);
    }
    workspace.snapshot().unwrap()
}

/// Every symbol with the locations of its occurrences.
fn table(files: &[(&str, &str)]) -> String {
    let snapshot = snapshot(files);
    let mut out = String::new();
    for (program, ir) in snapshot.programs() {
        let references = snapshot.references(program).unwrap();
        for (id, symbol) in references.symbols() {
            let scope = match symbol.scope {
                Scope::Program => String::new(),
                Scope::Agent(agent) => {
                    format!(" of {}", ir.agents().nth(agent.index()).unwrap().metadata.name.value)
                }
                Scope::Symbol(tool) => format!(" of {}", references.symbol(tool).unwrap().name),
            };
            write!(out, "{:?} {}{scope}:", symbol.kind, symbol.name).unwrap();
            for occurrence in references.occurrences(id) {
                let file = snapshot.sources().get(occurrence.span.file).unwrap();
                let at = file.line_column(occurrence.span.start);
                let role = match occurrence.role {
                    Role::Definition => "defined",
                    Role::Write => "set",
                    Role::Read => "used",
                    Role::Alias => "used by an alias",
                };
                let range = occurrence.span.start as usize..occurrence.span.end as usize;
                let text = file.text.get(range).unwrap();
                let shown =
                    if text == symbol.name { String::new() } else { format!(" as {text:?}") };
                let name = if files.len() > 1 { format!("{} ", file.name) } else { String::new() };
                write!(out, " {role} {name}{}:{}{shown},", at.line, at.column).unwrap();
            }
            out.truncate(out.trim_end_matches([',', ':']).len());
            out.push('\n');
        }
    }
    out
}

const LIBRARY: &str = r#"AGENT: Lending_Desk
GOAL: "Lend books to {{member_name}}"
MEMORY:
  session:
    - member_name
    - days: number
  persistent:
    - user.favourite_author
TOOLS:
  find_copy(title: string, branch?: string) -> {copy_id: string, due_days: number}
    description: "Find a free copy"
GATHER:
  title:
    prompt: "Which book, {{member_name}}?"
    type: string
    required: true
FLOW:
  ask -> lend -> thanks

  ask:
    GATHER:
      - title
    THEN: lend

  lend:
    CALL: find_copy(title: title)
      AS: copy
    ON_SUCCESS:
      SET: days = copy.due_days + 1
      RESPOND: "Copy {{copy.copy_id}}, like {{user.favourite_author}}"
      THEN: thanks
    ON_FAIL:
      THEN: ask

  thanks:
    RESPOND: TEMPLATE(bye)
    THEN: COMPLETE
TEMPLATES:
  bye: "Bring it back in {{days}} days"
HANDOFF:
  - TO: Fines_Desk
    WHEN: days > 30
    CONTEXT:
      pass: [member_name, days]
"#;

const FINES: &str = r#"AGENT: Fines_Desk
GOAL: "Collect fines"
GATHER:
  amount:
    prompt: "How much, {{member_name}}?"
    type: number
CONSTRAINTS:
  late:
    - REQUIRE days > 30
      ON_FAIL: "Not late"
"#;

const SCRIPT: &str = r#"system:
    instructions: "Help readers"
config:
    agent_name: "Library"
variables:
    days: mutable number = 0
    title: mutable string = ""
start_agent front:
    description: "Welcome"
    reasoning:
        instructions: ->
            | Ask for {!@variables.title}.
        actions:
            lend: @utils.transition to @subagent.lending
                available when @variables.title != ""
subagent lending:
    description: "Lend"
    actions:
        find_copy:
            description: "Find"
            inputs:
                title: string
            outputs:
                due_days: number
            target: "flow://Find_Copy"
    reasoning:
        instructions: ->
            | Use {!@actions.search}.
        actions:
            search: @actions.find_copy
                with title=@variables.title
                set @variables.days = @outputs.due_days
"#;

const BOT: &str = r#"main:
  type: flow agent
  description: Lends books
  args:
    - title
    - days
  steps:
    - call: lender
      args:
        book: title
    - label: check
    - if: the user claims "more"
      then:
        - next: check
          tries: 2
    - set:
        days: lender.weeks
    - bot: Back in ${days} days, ${lender.weeks} weeks
lender:
  type: llm agent
  description: Finds a copy of a book
  prompt: Find ${book}
  args:
    - book
    - weeks
"#;

#[test]
fn symbols_of_abl_agents_are_linked_across_files() {
    insta::assert_snapshot!(table(&[
        ("desk/lending.agent.abl", LIBRARY),
        ("desk/fines.agent.abl", FINES),
        ("desk/project.json", "{\"entry_agent\": \"Lending_Desk\"}")
    ]));
}

#[test]
fn symbols_of_agent_script_follow_the_namespaces() {
    insta::assert_snapshot!(table(&[("library.agent", SCRIPT)]));
}

#[test]
fn symbols_of_adl_include_arguments_of_other_agents() {
    insta::assert_snapshot!(table(&[("library.yml", BOT)]));
}

/// The text of the file after renaming what is at the `n`th occurrence of `at`.
fn rename(
    files: &[(&str, &str)],
    file: &str,
    at: &str,
    new: &str,
) -> Result<Vec<String>, RenameError> {
    let snapshot = snapshot(files);
    let (id, source) = snapshot.file(file).unwrap();
    let offset = u32::try_from(source.text.find(at).unwrap()).unwrap();
    let rename = snapshot.rename(id, offset, new)?;
    let mut texts = Vec::new();
    for (name, text) in files {
        let Some((id, _)) = snapshot.file(name) else { panic!("{name}") };
        let mut text = (*text).to_owned();
        for edit in rename.edits.iter().rev().filter(|edit| edit.span.file == id) {
            text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
        }
        texts.push(text);
    }
    Ok(texts)
}

#[test]
fn a_variable_is_renamed_where_it_is_passed_on() {
    let files = [
        ("desk/lending.agent.abl", LIBRARY),
        ("desk/fines.agent.abl", FINES),
        ("desk/project.json", "{\"entry_agent\": \"Lending_Desk\"}"),
    ];
    let texts = rename(&files, "desk/fines.agent.abl", "days > 30", "late_days").unwrap();
    let word = |text: &str| text.replace("due_days", "").matches("late_days").count();
    assert_eq!(word(&texts[0]), 5, "{}", texts[0]);
    assert_eq!(word(&texts[1]), 1, "{}", texts[1]);
    // The words of a message are not a reference.
    assert!(texts[0].contains("{{late_days}} days"), "{}", texts[0]);
    let agent = rename(&files, "desk/fines.agent.abl", "Fines_Desk", "Cashier").unwrap();
    assert!(agent[0].contains("TO: Cashier") && agent[1].contains("AGENT: Cashier"));
    let entry = rename(&files, "desk/lending.agent.abl", "Lending_Desk", "Counter").unwrap();
    assert_eq!(entry[2], "{\"entry_agent\": \"Counter\"}");
}

#[test]
fn symbols_of_every_kind_are_renamed() {
    for (file, text, at, new, count) in [
        ("library.agent", SCRIPT, "title: mutable", "book", 4),
        ("library.agent", SCRIPT, "find_copy:", "look_up", 2),
        ("library.agent", SCRIPT, "due_days: number", "due", 2),
        ("library.agent", SCRIPT, "lending\n", "loans", 2),
        ("library.yml", BOT, "weeks\n", "loan", 3),
        ("library.yml", BOT, "lender:", "finder", 4),
        ("lending.agent.abl", LIBRARY, "find_copy(title: string", "look_up", 2),
        ("lending.agent.abl", LIBRARY, "due_days: number", "due", 2),
        ("lending.agent.abl", LIBRARY, "thanks:", "bye_bye", 3),
        ("lending.agent.abl", LIBRARY, "bye:", "goodbye", 2),
        ("lending.agent.abl", LIBRARY, "user.favourite_author", "user.author", 2),
    ] {
        let texts = rename(&[(file, text)], file, at, new);
        let texts = texts.unwrap_or_else(|error| panic!("{file} {at}: {error}"));
        assert_eq!(texts[0].matches(new).count(), count, "{at}\n{}", texts[0]);
    }
}

#[test]
fn a_rename_that_changes_the_program_is_refused() {
    let one = |at, new| rename(&[("lending.agent.abl", LIBRARY)], "lending.agent.abl", at, new);
    assert_eq!(one("days: number\n  persistent", "title"), Err(RenameError::Taken("title".into())));
    assert_eq!(one("Lend books", "x"), Err(RenameError::NoSymbol));
    assert_eq!(one("Fines_Desk", "Cashier"), Err(RenameError::Undefined("Fines_Desk".into())));
    for new in ["", "two words", "a-b c", "x: y", "true", "{{", "input"] {
        let result = one("days: number\n  persistent", new);
        assert!(result.is_err(), "{new}: {result:?}");
    }
    let kind = SymbolKind::Step;
    let snapshot = snapshot(&[("lending.agent.abl", LIBRARY)]);
    let (program, _) = snapshot.programs().next().unwrap();
    let references = snapshot.references(program).unwrap();
    assert_eq!(references.symbols().filter(|(_, s)| s.kind == kind).count(), 3);
}

/// Calls `each` with every program below a folder that is read without errors.
fn programs(folder: &Path, each: &mut dyn FnMut(&Snapshot, ProgramId)) {
    let mut workspace = Workspace::on_disk([folder]);
    workspace.set_configs(Arc::new(Configs::none(agentir::config_names())));
    let snapshot = workspace.snapshot().unwrap();
    let broken: HashSet<_> = snapshot
        .read_findings()
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| found.primary.span.file)
        .collect();
    for (id, program) in snapshot.programs() {
        if !program.agents().any(|agent| broken.contains(&agent.span.file)) {
            each(&snapshot, id);
        }
    }
}

/// The folders with samples: ours, and those of others if they are there.
fn corpora() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let others = std::env::var_os("AGENTIR_EXTERNAL_CORPUS").map(PathBuf::from);
    std::iter::once(own).chain(others.filter(|folder| folder.is_dir())).collect()
}

#[test]
fn every_occurrence_is_where_its_name_is_written() {
    let mut wrong = Vec::new();
    let (mut right, mut others) = (0, 0);
    for folder in corpora() {
        programs(&folder, &mut |snapshot, program| {
            let references = snapshot.references(program).unwrap();
            for (id, symbol) in references.symbols() {
                for occurrence in references.occurrences(id) {
                    let span = occurrence.span;
                    let file = snapshot.sources().get(span.file).unwrap();
                    let text = file.text.get(span.start as usize..span.end as usize).unwrap();
                    // Imports are not edited, and quotes and escapes are a matter of JSON.
                    let import = file.name.ends_with(".json");
                    if text == symbol.name || occurrence.role == Role::Alias || import {
                        right += 1;
                        continue;
                    }
                    others += 1;
                    let at = file.line_column(span.start);
                    let (kind, name) = (symbol.kind, &symbol.name);
                    wrong.push(format!(
                        "{}:{}:{} {kind:?} {name}: {text:?}",
                        file.name, at.line, at.column
                    ));
                }
            }
        });
    }
    assert!(right > 2_000, "{right}");
    assert!(others * 100 <= right, "{others} of {right}:\n{}", wrong.join("\n"));
}

#[test]
fn every_defined_symbol_of_the_samples_can_be_renamed() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    // Refused are names in endpoints, in the words of prompts, and shorthand keys of objects.
    let (mut done, mut refused) = (0, Vec::new());
    programs(&own, &mut |snapshot, program| {
        let references = snapshot.references(program).unwrap();
        for (id, symbol) in references.symbols() {
            let Some(at) = references.definitions(id).first().copied() else { continue };
            let file = snapshot.sources().get(at.file).unwrap();
            // Proofs check the whole program: a part of the symbols is enough here.
            let chosen = id.index() % 7 == 3;
            // The steps of a flow agent of ADL have a keyword instead of a name.
            let keyword = symbol.kind == SymbolKind::Step && symbol.name == "steps";
            if !chosen || keyword || file.name.ends_with(".json") {
                continue;
            }
            match snapshot.rename(at.file, at.start, "zz_renamed") {
                Ok(_) => done += 1,
                Err(error) => {
                    let place = file.line_column(at.start);
                    let name = &symbol.name;
                    refused.push(format!(
                        "{}:{} {:?} {name}: {error}",
                        file.name, place.line, symbol.kind
                    ));
                }
            }
        }
    });
    assert!(done > 130, "{done}");
    assert!(refused.len() * 30 <= done, "{} of {done}:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn facts_hold_where_the_text_is_executed() {
    let facts = |name: &str, text: &str, at: &str| {
        let snapshot = snapshot(&[(name, text)]);
        let (id, source) = snapshot.file(name).unwrap();
        let offset = u32::try_from(source.text.find(at).unwrap()).unwrap();
        let found = snapshot.facts_at(id, offset);
        found.map(|point| {
            let facts: Vec<_> = point.facts.into_iter().map(|fact| fact.message).collect();
            (point.is_reachable, facts)
        })
    };
    let abl = "AGENT: Gate\nGOAL: \"Open\"\nMEMORY:\n  session:\n    - days: number\nFLOW:\n  a -> b\n  a:\n    SET: days = 3\n    THEN: b\n  b:\n    ON_INPUT:\n      - IF: days > 2\n        RESPOND: \"Long\"\n        THEN: COMPLETE\n      - ELSE:\n        RESPOND: \"Short\"\n        THEN: COMPLETE\n";
    let (reachable, long) = facts("gate.agent.abl", abl, "\"Long\"").unwrap();
    assert!(reachable);
    assert_eq!(long, ["`days` is `3`", "`days > 2` holds"]);
    let (_, short) = facts("gate.agent.abl", abl, "\"Short\"").unwrap();
    assert_eq!(short, ["`days` is `3`", "`days > 2` does not hold"]);
    assert_eq!(facts("gate.agent.abl", abl, "MEMORY"), None);
    // A key stands for its value, a jump for the branch that takes it, a name of a step for its beginning.
    assert_eq!(facts("gate.agent.abl", abl, "RESPOND: \"Long\"").unwrap().1, long);
    assert_eq!(facts("gate.agent.abl", abl, "HEN: COMPLETE").unwrap().1, long);
    assert_eq!(facts("gate.agent.abl", abl, "IF: days").unwrap().1, ["`days` is `3`"]);
    assert_eq!(
        facts("gate.agent.abl", abl, "b:\n").unwrap(),
        (true, vec!["`days` is `3`".to_owned()])
    );
    // No part of the flow is executed here.
    for at in ["FLOW", "a -> b", "ON_INPUT", "- ELSE"] {
        assert_eq!(facts("gate.agent.abl", abl, at), None, "{at}");
    }
}
