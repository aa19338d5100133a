//! Names in documents of AgentIR.

use super::{Role, SymbolKind, edited, snapshot};
use agentir::RenameError;

/// A program of two agents, with a name of every kind, each as often as AgentIR can refer to it.
const DESK: &str = r#"{
  "version": "1.0",
  "entry_agent": "Desk",
  "complete": true,
  "agents": {
    "Desk": {
      "metadata": {"name": "Desk", "dialect": "abl"},
      "identity": {"goal": "Help. If that fails, transfer to the Repair_Shop agent, or call find_order."},
      "tools": [{
        "name": "find_order",
        "description": "Finds an order",
        "parameters": [{"name": "number_of_order", "type": "string"}],
        "returns": {"type": "{state: string}"},
        "on_result": [{"variable": "times", "expression": "times + 1"}]
      }],
      "memory": {"session": [{"name": "times", "type": "number", "initial_value": 0}]},
      "gather": {"fields": [{"name": "wanted", "prompt": "Which \"order\"?", "type": "string"}]},
      "flow": {"steps": ["look", "say"], "entry_point": "look", "definitions": {
        "look": {
          "gather": {"fields": [{"name": "wanted", "prompt": "Which?"}]},
          "call": "find_order",
          "call_spec": {"tool": "find_order", "with": [{"name": "number_of_order", "value": "wanted"}], "as": "found"},
          "on_success": {"then": "say"},
          "on_failure": {"respond": "\u00e4 Failed {{times}} times", "then": "look"}
        },
        "say": {
          "branches": [
            {"condition": "found.state == \"lost\" AND times > 1", "handoff": {"agent": "Repair_Shop"}},
            {"respond": "It is {{found.state}}.", "then": "COMPLETE"}
          ]
        }
      }},
      "coordination": {
        "handoffs": [{"to": "Repair_Shop", "when": "times > 3", "context": {"pass": [{"name": "times"}, {"name": "wanted"}]}}],
        "delegates": [{"agent": "Repair_Shop", "when": "times > 4", "on_failure": "look"}]
      }
    },
    "Repair_Shop": {
      "metadata": {"name": "Repair_Shop", "dialect": "abl"},
      "identity": {"goal": "Mend things."}
    }
  }
}
"#;

/// How often a name is written as a whole.
fn count(text: &str, name: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .filter(|(at, _)| {
            !text[..*at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
        })
        .count()
}

#[test]
fn names_in_documents_are_renamed_everywhere() {
    let snapshot = snapshot(&[("desk.ir.json", DESK)]);
    let (file, _) = snapshot.file("desk.ir.json").unwrap();
    let (program, _) = snapshot.programs().next().unwrap();
    let before = snapshot.check().unwrap();
    assert!(
        before.iter().all(|finding| finding.severity != agentir::Severity::Error),
        "{before:#?}"
    );
    for (name, new) in [
        ("find_order", "search_order"),
        ("number_of_order", "order_number"),
        ("times", "tries"),
        ("wanted", "asked_for"),
        ("look", "search"),
        ("say", "tell"),
        ("found", "result_of_it"),
        ("Repair_Shop", "Workshop"),
    ] {
        // Each place where the name is written is one at which it can be renamed.
        let places = DESK.match_indices(name).filter(|(at, _)| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            !DESK[..*at].ends_with(is_part) && !DESK[at + name.len()..].starts_with(is_part)
        });
        for (at, _) in places {
            // Words of a message are no names.
            if DESK[..at].ends_with("{{times}} ") {
                continue;
            }
            let renamed = snapshot
                .rename(file, u32::try_from(at).unwrap(), new)
                .unwrap_or_else(|error| panic!("{name} at {}: {error:?}", &DESK[at - 20..at + 20]));
            let all = edited(&snapshot, program, &renamed);
            let [(_, text)] = all.as_slice() else { panic!() };
            let left = count(text, name) - usize::from(name == "times");
            assert_eq!(left, 0, "{name} at {}: {text}", &DESK[at - 20..at + 20]);
        }
    }
}

#[test]
fn the_definition_and_all_references_are_known() {
    let snapshot = snapshot(&[("desk.ir.json", DESK)]);
    let (program, _) = snapshot.programs().next().unwrap();
    let references = snapshot.references(program).unwrap();
    for (kind, name, definitions, others) in [
        (SymbolKind::Step, "look", 1, 4),
        (SymbolKind::Step, "say", 1, 2),
        (SymbolKind::Tool, "find_order", 1, 3),
        (SymbolKind::Agent, "Repair_Shop", 1, 4),
    ] {
        let (id, _) = references
            .symbols()
            .find(|(_, symbol)| symbol.kind == kind && symbol.name == name)
            .unwrap_or_else(|| panic!("{name}"));
        let (defined, used): (Vec<_>, Vec<_>) =
            references.occurrences(id).partition(|o| o.role == Role::Definition);
        let lines = |all: &[agentir::references::Occurrence]| {
            let source = |o: &agentir::references::Occurrence| {
                let file = snapshot.sources().get(o.span.file).unwrap();
                let at = file.line_column(o.span.start);
                format!("{}:{}", at.line, at.column)
            };
            all.iter().map(source).collect::<Vec<_>>()
        };
        assert!(defined.len() >= definitions, "{name}: {:?}", lines(&defined));
        assert_eq!(used.len(), others, "{name}: {:?} {:?}", lines(&defined), lines(&used));
    }
}

#[test]
fn what_is_no_name_in_a_document_is_refused() {
    let snapshot = snapshot(&[("desk.ir.json", DESK)]);
    let (file, _) = snapshot.file("desk.ir.json").unwrap();
    let at = |text: &str| u32::try_from(DESK.find(text).unwrap()).unwrap();
    // A name that another one has already, and one that is a reference to something else.
    assert!(matches!(snapshot.rename(file, at("look\": {"), "say"), Err(RenameError::Taken(_))));
    for new in ["", "COMPLETE"] {
        assert!(snapshot.rename(file, at("look\": {"), new).is_err(), "{new}");
    }
    // Quotes cannot stand in a string of JSON as they are.
    if let Ok(renamed) = snapshot.rename(file, at("find_order"), "a\"b") {
        let (program, _) = snapshot.programs().next().unwrap();
        for (_, text) in edited(&snapshot, program, &renamed) {
            let read = super::snapshot(&[("desk.ir.json", &text)]);
            assert!(read.read_findings().is_empty(), "{text}");
        }
    }
}
