//! Symbols, their definitions and references, and renaming, through the library.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "symbols/facts.rs"]
mod facts;
#[path = "symbols/json.rs"]
mod json;
#[path = "symbols/places.rs"]
mod places;

use agentir::references::{Role, Scope, SymbolKind};
use agentir::{
    Configs, Diagnostic, NameProblem, ProgramId, Rename, RenameError, Severity, Snapshot, Workspace,
};
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
                    Role::Mention => "mentioned",
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
                    let other_form = matches!(occurrence.role, Role::Alias | Role::Mention);
                    if text == symbol.name || other_form || import {
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

/// The texts of a program's files, with edits.
fn edited(snapshot: &Snapshot, program: ProgramId, rename: &Rename) -> Vec<(String, String)> {
    let files = snapshot.sources().iter();
    let texts =
        files.filter(|(id, _)| snapshot.program_of(*id) == Some(program)).map(|(id, file)| {
            let mut text = file.text.to_string();
            for edit in rename.edits.iter().rev().filter(|edit| edit.span.file == id) {
                text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
            }
            (file.name.to_string(), text)
        });
    texts.collect()
}

/// What a program says about its symbols, in order, with `from` called `to`: kinds, names, and the roles of the
/// occurrences by file.
fn shape(snapshot: &Snapshot, program: ProgramId, from: &str, to: &str) -> Vec<String> {
    let references = snapshot.references(program).unwrap();
    let symbols = references.symbols().map(|(id, symbol)| {
        let name = if symbol.name == from { to } else { symbol.name.as_str() };
        let occurrences = references.occurrences(id);
        let all: Vec<_> = occurrences
            .map(|o| (o.role, snapshot.sources().get(o.span.file).unwrap().name.to_string()))
            .collect();
        format!("{:?} {name} {all:?}", symbol.kind)
    });
    let mut all: Vec<String> = symbols.collect();
    all.sort();
    all
}

/// The rules of the findings in the files of a program, in order.
fn rules(snapshot: &Snapshot, program: ProgramId) -> Vec<&'static str> {
    let own = |found: &&Diagnostic| snapshot.program_of(found.primary.span.file) == Some(program);
    let mut all: Vec<_> =
        snapshot.check().unwrap().iter().filter(own).map(|found| found.rule.0).collect();
    all.sort_unstable();
    all
}

#[test]
fn renaming_keeps_the_program_and_can_be_undone() {
    const NEW: &str = "zz_renamed";
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").canonicalize().unwrap();
    // Refused are names in endpoints, those of steps that are keywords, and fields that are read of the items of lists.
    let (mut done, mut unclear, mut refused) = (0usize, Vec::new(), Vec::new());
    programs(&own, &mut |snapshot, program| {
        let references = snapshot.references(program).unwrap();
        for (id, symbol) in references.symbols() {
            let Some(at) = references.definitions(id).first().copied() else { continue };
            let file = snapshot.sources().get(at.file).unwrap();
            // Proofs check the whole program: a part of the symbols is enough here.
            if id.index() % 7 != 3 || file.name.ends_with(".json") {
                continue;
            }
            let place = format!("{}:{}", file.name, file.line_column(at.start).line);
            // A path keeps its root.
            let new = match symbol.name.split_once('.') {
                Some((root, _)) => format!("{root}.{NEW}"),
                None => NEW.to_owned(),
            };
            let rename = match snapshot.rename(at.file, at.start, &new) {
                Ok(rename) => rename,
                // A name that also stands where nobody knows what it means has to be refused.
                Err(error @ RenameError::Unclear { .. }) => {
                    unclear.push(format!("{place} {:?} {}: {error}", symbol.kind, symbol.name));
                    continue;
                }
                Err(error) => {
                    refused.push(format!("{place} {:?} {}: {error}", symbol.kind, symbol.name));
                    continue;
                }
            };
            done += 1;
            let mut workspace = Workspace::in_memory();
            for (name, text) in edited(snapshot, program, &rename) {
                workspace.set_text(&name, text);
            }
            let after = workspace.snapshot().unwrap();
            let (again, _) = after.file(&file.name).unwrap();
            let other = after.program_of(again).unwrap();
            assert_eq!(
                shape(snapshot, program, &symbol.name, &new),
                shape(&after, other, &symbol.name, &new),
                "{place} {}",
                symbol.name
            );
            // The renaming has compared all findings itself: here are some of them as the command sees them.
            if done % 8 == 0 {
                let (one, two) = (rules(snapshot, program), rules(&after, other));
                assert_eq!(one, two, "{place} {}", symbol.name);
            }
            let here =
                rename.edits.iter().filter(|e| e.span.file == at.file && e.span.start < at.start);
            let moved: i64 =
                here.map(|e| e.text.len() as i64 - i64::from(e.span.end - e.span.start)).sum();
            let offset = u32::try_from(i64::from(at.start) + moved).unwrap();
            let back = after.rename(again, offset, &symbol.name);
            let back = back.unwrap_or_else(|error| panic!("{place} {}: {error}", symbol.name));
            for (name, text) in edited(&after, other, &back) {
                let (_, source) = snapshot.file(&name).unwrap();
                // `{name}` comes back as `{name: name}`.
                let short =
                    |text: &str| text.replace(&format!("{0}: {0}", symbol.name), &symbol.name);
                assert_eq!(short(&text), short(&source.text), "{place} {}", symbol.name);
            }
        }
    });
    assert!(done > 130, "{done}");
    assert!(refused.len() * 25 <= done, "{} of {done}:\n{}", refused.len(), refused.join("\n"));
    assert!(unclear.len() * 25 <= done, "{} of {done}:\n{}", unclear.len(), unclear.join("\n"));
}

#[test]
fn what_is_no_name_is_refused_for_every_symbol() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut tried = 0;
    programs(&own, &mut |snapshot, program| {
        let references = snapshot.references(program).unwrap();
        for (id, symbol) in references.symbols() {
            let Some(at) = references.definitions(id).first().copied() else { continue };
            if snapshot.sources().get(at.file).unwrap().name.ends_with(".json") {
                continue;
            }
            for new in ["", " ", "1a", "a:b", "x ", "{{x}}", "a\nb", "x, y", "(x)", "\"x\"", "a/b"]
            {
                let result = snapshot.rename(at.file, at.start, new);
                assert!(result.is_err(), "{:?} {}: {new:?}", symbol.kind, symbol.name);
                tried += 1;
            }
        }
    });
    assert!(tried > 5_000, "{tried}");
}

#[test]
fn names_that_a_language_has_a_use_for_are_refused() {
    let problem = |file: &str, text: &str, at: &str, new: &str| {
        let Err(RenameError::Invalid { problem, .. }) = rename(&[(file, text)], file, at, new)
        else {
            panic!("{at}: {new}")
        };
        problem
    };
    let yaml = "agent: Desk\ngoal: Lend\nmemory:\n  session:\n    - name: days\n";
    for (file, text, at, new, expected) in [
        ("lending.agent.abl", LIBRARY, "days: number\n  pers", "true", NameProblem::Keyword),
        ("lending.agent.abl", LIBRARY, "days: number\n  pers", "user_id", NameProblem::Runtime),
        ("lending.agent.abl", LIBRARY, "thanks:", "COMPLETE", NameProblem::Keyword),
        ("lending.agent.abl", LIBRARY, "Lending_Desk", "if", NameProblem::Keyword),
        ("desk.agent.yaml", yaml, "days", "yes", NameProblem::Yaml),
        ("library.agent", SCRIPT, "title: mutable", "and", NameProblem::Keyword),
        ("library.agent", SCRIPT, "find_copy:", "find-copy", NameProblem::WORD),
        ("library.yml", BOT, "weeks\n", "null", NameProblem::Yaml),
        ("library.yml", BOT, "weeks\n", "and", NameProblem::Keyword),
        ("library.yml", BOT, "lender:", "tools", NameProblem::Keyword),
    ] {
        assert_eq!(problem(file, text, at, new), expected, "{new}");
    }
    let entry = rename(&[("library.yml", BOT)], "library.yml", "main:", "start");
    assert_eq!(entry, Err(RenameError::Fixed("main".into())));
    let steps = rename(&[("library.yml", BOT)], "library.yml", "steps:", "start");
    assert_eq!(steps, Err(RenameError::Fixed("steps".into())));
}

#[test]
fn a_new_name_may_repeat_the_former_one() {
    let text = "AGENT: V\nGOAL: \"g\"\nMEMORY:\n  session:\n    - aab\n    - a\nCOMPLETE:\n  - WHEN: a == \"x\"\n    RESPOND: \"{{a}}\"\n";
    let files = [("v.agent.abl", text)];
    for (at, new, count) in [("a\nCOMPLETE", "aa", 3), ("V\n", "VV", 1), ("a\nCOMPLETE", "a_a", 3)]
    {
        let texts = rename(&files, "v.agent.abl", at, new).unwrap();
        let words = texts[0].split(|c: char| !c.is_alphanumeric() && c != '_');
        assert_eq!(words.filter(|word| *word == new).count(), count, "{}", texts[0]);
    }
}

const BANK: &str = r#"main:
  type: flow agent
  steps:
    - call: desk
desk:
  type: ensemble agent
  description: Chooses
  contains:
    - transfer_money
    - add_payee
transfer_money:
  type: llm agent
  description: Transfers money, after add_payee if needed
  prompt: |
    1. Ask for payee_name, then call the function "find_payee".
    2. If there is none, hand over to the "Add payee" agent.
  args:
    - payee_name
  uses:
    - find_payee
add_payee:
  type: llm agent
  description: Adds a payee
  prompt: |
    Add the payee.
  args:
    - payee_name
"#;

#[test]
fn mentions_in_prompts_are_renamed() {
    let files =
        [("bank/agents.yml", BANK), ("bank/tools.py", "def find_payee(payee_name):\n    pass\n")];
    let agent = rename(&files, "bank/agents.yml", "add_payee:", "new_contact").unwrap();
    assert!(agent[0].contains("the \"New contact\" agent"), "{}", agent[0]);
    assert!(agent[0].contains("- new_contact\n"), "{}", agent[0]);
    let tool = rename(&files, "bank/tools.py", "find_payee", "look_up").unwrap();
    assert!(tool[0].contains("function \"look_up\"") && tool[1].starts_with("def look_up("));
    let at = "payee_name\n  uses";
    let argument = rename(&files, "bank/agents.yml", at, "who_gets_it").unwrap();
    assert!(argument[0].contains("Ask for who_gets_it, then"), "{}", argument[0]);
    let python = rename(&files, "bank/agents.yml", "find_payee\n", "class");
    assert!(matches!(python, Err(RenameError::Invalid { problem: NameProblem::Python, .. })));
}

#[test]
fn aliases_are_symbols_of_their_own() {
    let host = "SUPERVISOR: Host\nGOAL: \"Guide\"\nAGENTS:\n  - AGENT: Booth_Agent\n    ALIAS: booth\n    CAPABILITIES: [tickets]\nROUTING:\n  - INTENT(tickets) -> booth\n  - DEFAULT -> booth\n";
    let files =
        [("host.agent.abl", host), ("booth.agent.abl", "AGENT: Booth_Agent\nGOAL: \"Sell\"\n")];
    let alias = rename(&files, "host.agent.abl", "booth\n  - DEFAULT", "desk").unwrap();
    assert_eq!(alias[0].matches("desk").count(), 3, "{}", alias[0]);
    assert!(alias[0].contains("AGENT: Booth_Agent"));
    let agent = rename(&files, "booth.agent.abl", "Booth_Agent", "Seller").unwrap();
    assert!(agent[0].contains("AGENT: Seller\n    ALIAS: booth\n"), "{}", agent[0]);
    assert!(agent[1].contains("AGENT: Seller"));
}

#[test]
fn names_of_the_runtime_belong_to_a_language() {
    for name in ["route", "input", "session", "user", "result", "error", "channel"] {
        let bot = BOT.replace("title", name);
        let table = table(&[("library.yml", &bot)]);
        let line = format!("Variable {name} of main: defined 5:7, used 10:15");
        assert!(table.lines().any(|l| l == line), "{name}\n{table}");
    }
    let abl = LIBRARY.replace("member_name", "route");
    let table = table(&[("lending.agent.abl", &abl)]);
    assert!(table.contains("Variable route of Lending_Desk: defined 5:7\n"), "{table}");
}

#[test]
fn collecting_into_a_variable_writes_to_it() {
    let text = SCRIPT.replace(
        "            search: @actions",
        "            note: @utils.setVariables\n                with title=...\n            search: @actions",
    );
    let table = table(&[("library.agent", &text)]);
    let line = table.lines().find(|line| line.starts_with("Variable title")).unwrap();
    assert_eq!(line.matches("defined").count(), 1, "{line}");
    assert!(line.contains("set "), "{line}");
}

/// An agent with names where AgentIR keeps data, and where nothing can be parsed.
const KEPT: &str = r#"AGENT: Desk
GOAL: "Help"

MEMORY:
  session:
    - name: tier
      TYPE: string

TOOLS:
  find(city: string, day: string) -> {hotels: string[]}
    type: http
    endpoint: "https://hotels.example/{city}"
    method: GET
    immutable: [day]

ESCALATE:
  triggers:
    - WHEN: tier == "gold"
      REASON: "r"

FLOW:
  begin -> wait -> done

  begin:
    REASONING: false
    CALL: find(city: "Rome", day: "1")
    THEN: wait

  wait:
    REASONING: false
    LOG: {level: tier}
    AWAIT_ATTACHMENT: doc
      on_timeout: done
    THEN: done

  done:
    REASONING: false
    RESPOND: "Bye {{tier"
    THEN: COMPLETE
"#;

#[test]
fn names_in_data_are_renamed_or_the_place_is_named() {
    let file = "desk.agent.abl";
    let texts = rename(&[(file, KEPT)], file, "day: string", "date").unwrap();
    assert!(texts[0].contains("immutable: [date]"), "{}", texts[0]);
    let place = |at: &str, new: &str| {
        let error = rename(&[(file, KEPT)], file, at, new).unwrap_err();
        let RenameError::Unclear { span, name, .. } = error else { panic!("{error}") };
        let line = KEPT.get(..span.start as usize).unwrap().matches('\n').count() + 1;
        (KEPT.get(span.start as usize..span.end as usize).unwrap() == name, line)
    };
    assert!(
        rename(&[(file, KEPT)], file, "city: string", "town").unwrap()[0]
            .contains("example/{town}")
    );
    assert_eq!(place("done:", "end"), (true, 33));
    assert_eq!(place("tier\n", "level_name"), (true, 31));
    let clear = KEPT.replace("    LOG: {level: tier}\n", "");
    let error = rename(&[(file, &clear)], file, "tier\n", "rank").unwrap_err();
    assert!(matches!(error, RenameError::Unclear { .. }), "{error}");
    let clear = clear.replace("{{tier\"", "{{tier}}\"");
    assert!(rename(&[(file, &clear)], file, "tier\n", "rank").is_ok());
    assert!(rename(&[(file, &clear)], file, "begin ->", "first").is_ok());
}

#[test]
fn a_manifest_lists_agents_by_name() {
    let files = [
        ("desk/a.agent.abl", "AGENT: Desk\nGOAL: \"g\"\nHANDOFF:\n  - TO: Back\n    WHEN: true\n"),
        ("desk/b.agent.abl", "AGENT: Back\nGOAL: \"g\"\n"),
        (
            "desk/project.json",
            r#"{"entry_agent": "Desk", "agents": {"Desk": {"path": "a.agent.abl"}, "Back": {"path": "b.agent.abl"}}}"#,
        ),
    ];
    let texts = rename(&files, files[0].0, "Desk", "Front").unwrap();
    assert_eq!(texts[2], files[2].1.replace("Desk", "Front"));
    let texts = rename(&files, files[1].0, "Back", "Office").unwrap();
    assert_eq!(texts[2], files[2].1.replace("Back", "Office"));
}

const TOOLS_PY: &str = "import json\nLIMIT = 3\n\ndef find_payee(payee_name):\n    \"\"\"Finds.\n\n    payee_name: who\n    \"\"\"\n    log = len(payee_name)\n    return log\n\ndef helper(x):\n    return find_payee(payee_name=x)\n";

#[test]
fn the_code_of_functions_is_renamed_with_them() {
    let files = [("bank/agents.yml", BANK), ("bank/tools.py", TOOLS_PY)];
    let function = rename(&files, "bank/tools.py", "find_payee", "look_up").unwrap();
    assert_eq!(function[1], TOOLS_PY.replace("find_payee", "look_up"));
    for taken in ["LIMIT", "json", "len", "helper"] {
        let error = rename(&files, "bank/tools.py", "find_payee", taken).unwrap_err();
        assert_eq!(error, RenameError::Taken(taken.to_owned()));
    }
    let parameter = rename(&files, "bank/tools.py", "payee_name", "who").unwrap();
    assert_eq!(parameter[1], TOOLS_PY.replace("payee_name", "who"));
    let error = rename(&files, "bank/tools.py", "payee_name", "log").unwrap_err();
    assert_eq!(error, RenameError::Taken("log".to_owned()));
    // References are known without a renaming; what another function calls so is another name.
    let nested = "def first(amount):\n    def inner(amount):\n        return amount\n    return inner(amount)\n\ndef second(amount):\n    other = first\n    return other(amount) + first(amount=amount)\n\ndef third(first):\n    return 0\n";
    let table = table(&[files[0], ("bank/tools.py", nested)]);
    let line = "Parameter amount of first: defined bank/tools.py 1:11, used bank/tools.py 4:18";
    // `third` binds the name of the first function itself.
    assert!(table.lines().any(|one| one == line), "{table}");
    assert!(table.lines().any(|one| one == "Tool first: defined bank/tools.py 1:5"), "{table}");
    let clear = nested.replace("third(first)", "third(x)");
    let table = self::table(&[files[0], ("bank/tools.py", &clear)]);
    let at = "used bank/tools.py 7:13, used bank/tools.py 8:28";
    let line = format!("Tool first: defined bank/tools.py 1:5, {at}");
    assert!(table.lines().any(|one| one == line), "{table}");
    assert!(table.contains("used bank/tools.py 4:18, used bank/tools.py 8:34\n"), "{table}");
    let other = [files[0], files[1], ("bank/more.py", "from tools import find_payee\n")];
    let error = rename(&other, "bank/tools.py", "find_payee", "look_up").unwrap_err().to_string();
    assert!(error.contains("bank/more.py:1:19: `from tools import find_payee`"), "{error}");
}

#[test]
fn names_of_the_runtime_reach_variables() {
    let file = "pool.agent.abl";
    let text = "AGENT: Pool\nGOAL: \"Book\"\nMEMORY:\n  session:\n    - lane\n  persistent:\n    - PATH: user.past\n      SCOPE: user\n      ACCESS: readwrite\n  remember:\n    - WHEN: lane IS SET\n      STORE: {lane} -> user.past\nTOOLS:\n  f(a: string) -> {x: string}\n    description: \"d\"\n    type: http\n    endpoint: \"https://x.example/{{session.lane}}/{{a}}\"\n    method: GET\n    context_access:\n      read: [lane]\nESCALATE:\n  triggers:\n    - WHEN: lane > 3\n      REASON: \"r\"\n  context_for_human:\n    - lane\n    - at: {lane, f.x}\nCOMPLETE:\n  - WHEN: session.lane == 3\n    RESPOND: \"{{session.lane}} {{user.past.lane}}\"\n";
    let texts = rename(&[(file, text)], file, "lane\n", "row").unwrap();
    let expected = text
        .replace("lane", "row")
        .replace("{row} ->", "{lane: row} ->")
        .replace("past.row", "past.lane");
    assert_eq!(texts[0], expected);
    // The name in a placeholder is an occurrence itself.
    let from = rename(&[(file, text)], file, "lane}}/", "row").unwrap();
    assert_eq!(from[0], expected);
    let parameter = rename(&[(file, text)], file, "a}}\"", "key").unwrap();
    assert!(parameter[0].contains("f(key: string)") && parameter[0].contains("/{{key}}\""));
    let error = rename(&[(file, text)], file, "lane\n", "lane").unwrap_err();
    assert_eq!(error, RenameError::Unchanged("lane".to_owned()));
}

#[test]
fn what_is_left_of_a_name_is_said_with_its_place() {
    let file = "pool.agent.abl";
    let text = "AGENT: Pool\nGOAL: \"Book\"\nPERSONA: \"Call book_lane first, book order\"\nMEMORY:\n  session:\n    - lane\n    - lane_no\nTOOLS:\n  book_lane(order: string) -> {x: string}\n    description: \"d\"\nGUARDRAILS:\n  g:\n    kind: output\n    check: \"lane == 3\"\n    action: block\n    msg: \"lane {{lane}}\"\nCOMPLETE:\n  - WHEN: lane_no IS SET\n    RESPOND: \"Your lane_no\"\n";
    // Prompts name tools.
    let tool = rename(&[(file, text)], file, "book_lane(", "reserve_lane").unwrap();
    assert!(tool[0].contains("Call reserve_lane first"), "{}", tool[0]);
    let at = |at: &str| rename(&[(file, text)], file, at, "row").unwrap_err().to_string();
    let error = at("lane\n");
    assert!(error.ends_with("pool.agent.abl:16:18: `msg: \"lane {{lane}}\"`"), "{error}");
    let error = at("lane_no\n");
    assert!(error.ends_with("pool.agent.abl:19:20: `RESPOND: \"Your lane_no\"`"), "{error}");
    // A plain word of prose is no name.
    rename(&[(file, text)], file, "order: string", "wish").unwrap();
}

const ORDERS: &str = r#"AGENT: Orders
GOAL: "Track"
MEMORY:
  session:
    - name: address
      type: "{street: string, place: {city: string, code: string}}"
TOOLS:
  find(id: string) -> {order: {lines: {sku: string, count: number}[], total: number}}
    description: "Find an order"
FLOW:
  begin:
    REASONING: false
    CALL: find(id: "1")
      AS: found
    ON_SUCCESS:
      RESPOND: "{{found.order.lines[0].sku}} for {{result.order.total}} to {{address.place.city}}"
      THEN: COMPLETE
"#;

#[test]
fn fields_of_types_are_symbols_at_any_depth() {
    let table = table(&[("orders.agent.abl", ORDERS)]);
    for line in [
        "ResultField order of find: defined 8:24, used 16:25, used 16:59",
        "ResultField lines of order: defined 8:32, used 16:31",
        "ResultField sku of lines: defined 8:40, used 16:40",
        "ResultField count of lines: defined 8:53",
        "ResultField total of order: defined 8:71, used 16:65",
        "ResultField place of address: defined 6:31, used 16:86",
        "ResultField city of place: defined 6:39, used 16:92",
    ] {
        assert!(table.lines().any(|one| one == line), "{line}\n{table}");
    }
    let file = "orders.agent.abl";
    let texts = rename(&[(file, ORDERS)], file, "sku: string", "article").unwrap();
    assert_eq!(texts[0], ORDERS.replace("sku", "article"));
    // What is stored in a variable may come from anywhere.
    let error = rename(&[(file, ORDERS)], file, "city: string", "town").unwrap_err();
    assert_eq!(error, RenameError::Stored("city".to_owned()));
    let snapshot = snapshot(&[(file, ORDERS)]);
    let (id, _) = snapshot.file(file).unwrap();
    let outline = snapshot.outline(id);
    let find = outline[0].children.iter().find(|item| item.name == "find").unwrap();
    assert_eq!(find.children[0].name, "order");
    assert_eq!(find.children[0].children[0].children[0].name, "sku");
}
