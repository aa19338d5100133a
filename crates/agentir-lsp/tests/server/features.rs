//! What is answered about a project, as readers see it.

use crate::client::{Client, uri};
use crate::project::{
    AGENTS, DESK, LANES, SCRIPT, TOOLS, applied, caret, changed, everything, here, located, marked,
    name_of, project, text_of,
};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// A folder with the project, a client, and the URIs of its documents.
struct Open {
    folder: tempfile::TempDir,
    client: Client,
}

impl Open {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let client = project(folder.path());
        Self { folder, client }
    }

    fn uri(&self, name: &str) -> String {
        uri(&self.folder.path().join(name))
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What is answered about places in the files.
    fn at(
        &mut self,
        method: &str,
        places: &[(&str, &str)],
        show: impl Fn(&Path, &Value) -> String,
    ) -> String {
        let mut out = String::new();
        for (name, around) in places {
            let uri = self.uri(name);
            let answer = self.client.ask(method, here(&uri, text_of(name), around));
            let shown = show(self.folder.path(), &answer);
            writeln!(out, "== {name}: {around}\n{}", shown.trim_end()).unwrap();
        }
        out
    }

    /// What is answered about documents.
    fn of(
        &mut self,
        method: &str,
        names: &[&str],
        show: impl Fn(&Path, &str, &Value) -> String,
    ) -> String {
        let mut out = String::new();
        for name in names {
            let document =
                json!({ "textDocument": { "uri": self.uri(name) }, "range": everything() });
            let answer = self.client.ask(method, document);
            let shown = show(self.folder.path(), text_of(name), &answer);
            writeln!(out, "== {name}\n{}", shown.trim_end()).unwrap();
        }
        out
    }

    fn settle(&mut self) {
        for name in ["pool/lanes.agent.abl", "shop/shop.agent"] {
            let uri = self.uri(name);
            self.client.current(&uri);
        }
    }
}

#[test]
fn hover_says_what_it_is_and_what_holds_there() {
    let mut open = Open::new();
    open.settle();
    let places = [
        ("pool/desk.agent.abl", "TO: La<|>nes"),
        ("pool/desk.agent.abl", "RET<|>URN"),
        ("pool/lanes.agent.abl", "CALL: book_<|>lane"),
        ("pool/lanes.agent.abl", "CHECK: cou<|>nt"),
        ("pool/lanes.agent.abl", "THEN: bo<|>ok"),
        ("pool/lanes.agent.abl", "SET: boo<|>ked"),
        ("pool/lanes.agent.abl", "# More th<|>an"),
        ("shop/shop.agent", "if @variables.to<|>tal"),
        ("shop/shop.agent", "start_<|>agent"),
        ("orders/agents.yml", "call: place_<|>order"),
        ("orders/agents.yml", "fall<|>back"),
    ];
    let shown = open.at("textDocument/hover", &places, |_, answer| {
        answer["contents"]["value"].as_str().unwrap_or("nothing").to_owned()
    });
    assert_snapshot!(shown);
    assert!(open.client.end());
}

#[test]
fn definitions_and_references_are_in_all_files() {
    let mut open = Open::new();
    let places = [
        ("pool/desk.agent.abl", "TO: La<|>nes"),
        ("pool/lanes.agent.abl", "CALL: book_<|>lane"),
        ("shop/shop.agent", "@subagent.pa<|>y"),
        ("orders/agents.yml", "call: place_<|>order"),
        ("orders/agents.yml", "item: it<|>em\n    - bot"),
        ("orders/agents.yml", "- call: order_<|>desk"),
    ];
    let definitions = open.at("textDocument/definition", &places, located);
    assert_snapshot!("definitions", definitions);
    let mut all = String::new();
    for (name, around) in places {
        let uri = open.uri(name);
        let mut params = here(&uri, text_of(name), around);
        params["context"] = json!({ "includeDeclaration": true });
        let answer = open.client.ask("textDocument/references", params);
        writeln!(all, "== {name}: {around}\n{}", located(open.path(), &answer).trim_end()).unwrap();
    }
    assert_snapshot!("references", all);
    let highlights = open.at("textDocument/documentHighlight", &places[1..3], |_, answer| {
        let each = answer.as_array().unwrap().iter();
        each.map(|one| format!("{} {}\n", one["range"]["start"], one["kind"])).collect()
    });
    assert_snapshot!("highlights", highlights);
    assert!(open.client.end());
}

#[test]
fn names_are_changed_everywhere_or_nowhere() {
    let mut open = Open::new();
    let lanes = open.uri("pool/lanes.agent.abl");
    let mut rename = |name: &str, around: &str, new: &str| {
        let uri = open.uri(name);
        let mut params = here(&uri, text_of(name), around);
        params["newName"] = json!(new);
        let edit = open.client.ask("textDocument/rename", params);
        let mut out = String::new();
        for (name, edits) in changed(open.folder.path(), &edit) {
            let text = text_of(&name);
            let after = applied(text, &edits);
            for (old, new) in text.lines().zip(after.lines()).filter(|(old, new)| old != new) {
                writeln!(out, "{name}\n- {old}\n+ {new}").unwrap();
            }
        }
        out
    };
    let mut all = rename("pool/desk.agent.abl", "TO: La<|>nes", "Swimming");
    all += &rename("pool/lanes.agent.abl", "CHECK: cou<|>nt", "number_of_lanes");
    all += &rename("orders/agents.yml", "call: place_<|>order", "order_item");
    all += &rename("shop/shop.agent", "@subagent.pa<|>y", "check_out");
    assert_snapshot!(all);
    let mut refused = |around: &str, new: &str| {
        let mut params = here(&lanes, LANES, around);
        params["newName"] = json!(new);
        open.client.refused("textDocument/rename", params).1
    };
    let said = [
        refused("CALL: book_<|>lane", "day"),
        refused("THEN: bo<|>ok", "ask"),
        refused("THEN: bo<|>ok", "not a name"),
        refused("# More th<|>an", "x"),
    ];
    assert_snapshot!("refused", said.join("\n"));
    let prepared =
        open.client.ask("textDocument/prepareRename", here(&lanes, LANES, "THEN: bo<|>ok"));
    assert_eq!(prepared["placeholder"], "book");
    let refused =
        open.client.refused("textDocument/prepareRename", here(&lanes, LANES, "# More th<|>an"));
    assert_eq!(refused.1, "there is no name of a symbol here");
    assert!(open.client.end());
}

#[test]
fn symbols_are_what_files_define() {
    fn symbols(depth: usize, all: &Value, out: &mut String) {
        for one in all.as_array().into_iter().flatten() {
            let detail = one["detail"].as_str().unwrap_or_default();
            let lines = (&one["range"]["start"]["line"], &one["range"]["end"]["line"]);
            writeln!(
                out,
                "{}{} {detail} [{} {}-{}]",
                "  ".repeat(depth),
                one["name"].as_str().unwrap(),
                one["kind"],
                lines.0,
                lines.1
            )
            .unwrap();
            symbols(depth + 1, &one["children"], out);
        }
    }
    let mut open = Open::new();
    let names = [
        "pool/desk.agent.abl",
        "pool/lanes.agent.abl",
        "shop/shop.agent",
        "orders/agents.yml",
        "orders/tools.py",
    ];
    let shown = open.of("textDocument/documentSymbol", &names, |_, _, answer| {
        let mut out = String::new();
        symbols(0, answer, &mut out);
        out
    });
    assert_snapshot!("document_symbols", shown);
    let found = open.client.ask("workspace/symbol", json!({ "query": "plor" }));
    let found: Vec<String> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!(
                "{} in {}",
                one["name"].as_str().unwrap(),
                name_of(open.path(), one["location"]["uri"].as_str().unwrap())
            )
        })
        .collect();
    assert_eq!(found, ["place_order in orders/tools.py"]);
    assert!(open.client.end());
}

#[test]
fn blocks_fold_and_selections_grow() {
    let mut open = Open::new();
    let names = ["pool/lanes.agent.abl", "shop/shop.agent", "orders/agents.yml"];
    let folds = open.of("textDocument/foldingRange", &names, |_, text, answer| {
        let lines: Vec<&str> = text.lines().collect();
        let each = answer.as_array().unwrap().iter().map(|fold| {
            let line = |key: &str| usize::try_from(fold[key].as_u64().unwrap()).unwrap();
            format!(
                "{:>3}-{:<3} {}\n",
                line("startLine") + 1,
                line("endLine") + 1,
                lines[line("startLine")]
            )
        });
        each.collect()
    });
    assert_snapshot!("folds", folds);
    let lanes = open.uri("pool/lanes.agent.abl");
    let params = here(&lanes, LANES, "CALL: book_lane(day: d<|>ay");
    let params = json!({ "textDocument": { "uri": lanes }, "positions": [params["position"]] });
    let answer = open.client.ask("textDocument/selectionRange", params);
    let mut chain = Vec::new();
    let mut one = &answer[0];
    while !one.is_null() {
        chain.push((one["range"].clone(), String::new()));
        one = &one["parent"];
    }
    assert_snapshot!("selections", marked(LANES, chain));
    assert!(open.client.end());
}

#[test]
fn hints_say_what_follows() {
    let mut open = Open::new();
    let names =
        ["pool/desk.agent.abl", "pool/lanes.agent.abl", "shop/shop.agent", "orders/agents.yml"];
    let hints = open.of("textDocument/inlayHint", &names, |_, text, answer| {
        let lines: Vec<&str> = text.lines().collect();
        let each = answer.as_array().unwrap().iter().map(|hint| {
            let number =
                |key: &str| usize::try_from(hint["position"][key].as_u64().unwrap()).unwrap();
            let (before, after) = lines[number("line")].split_at(number("character"));
            format!("{before}«{}»{after}\n", hint["label"].as_str().unwrap())
        });
        each.collect()
    });
    assert_snapshot!(hints);
    assert!(open.client.end());
}

#[test]
fn tokens_have_the_kinds_of_names() {
    let mut open = Open::new();
    let legend =
        open.client.server_capabilities["capabilities"]["semanticTokensProvider"]["legend"].clone();
    let names = ["pool/lanes.agent.abl", "shop/shop.agent", "orders/agents.yml"];
    let shown = open.of("textDocument/semanticTokens/full", &names, |_, text, answer| {
        let numbers: Vec<usize> = answer["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| usize::try_from(n.as_u64().unwrap()).unwrap())
            .collect();
        let (mut line, mut character) = (0, 0);
        let lines: Vec<&str> = text.lines().collect();
        let mut out = String::new();
        let mut last = usize::MAX;
        for token in numbers.chunks(5) {
            if token[0] > 0 {
                character = 0;
            }
            line += token[0];
            character += token[1];
            let word = &lines[line][character..character + token[2]];
            let kind = legend["tokenTypes"][token[3]].as_str().unwrap();
            let bits = (0..4)
                .filter(|bit| token[4] & (1 << bit) != 0)
                .map(|bit| legend["tokenModifiers"][bit].as_str().unwrap());
            let bits: String = bits.map(|bit| format!(".{bit}")).collect();
            if last != line {
                write!(out, "{}{:>3}", if out.is_empty() { "" } else { "\n" }, line + 1).unwrap();
                last = line;
            }
            write!(out, " {word}:{kind}{bits}").unwrap();
        }
        out
    });
    assert_snapshot!(shown);
    assert!(open.client.end());
}

/// Tokens after an edit: applying the differences to those before gives those of a new request.
#[test]
fn differences_of_tokens_lead_to_the_tokens() {
    let mut open = Open::new();
    let lanes = open.uri("pool/lanes.agent.abl");
    let document = json!({ "textDocument": { "uri": lanes } });
    let numbers = |value: &Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
    };
    let first = open.client.ask("textDocument/semanticTokens/full", document.clone());
    let (mut data, mut id) = (numbers(&first["data"]), first["resultId"].clone());
    for text in [
        LANES.replace("book_lane", "book"),
        LANES.replace("# More than eight is not possible.\n", ""),
        String::new(),
        LANES.to_owned(),
    ] {
        open.client.replace(&lanes, &text);
        let params = json!({ "textDocument": { "uri": lanes }, "previousResultId": id });
        let delta = open.client.ask("textDocument/semanticTokens/full/delta", params);
        for edit in delta["edits"].as_array().unwrap() {
            let start = usize::try_from(edit["start"].as_u64().unwrap()).unwrap();
            let count = usize::try_from(edit["deleteCount"].as_u64().unwrap()).unwrap();
            data.splice(start..start + count, numbers(&edit["data"]));
        }
        id = delta["resultId"].clone();
        let full = open.client.ask("textDocument/semanticTokens/full", document.clone());
        assert_eq!(data, numbers(&full["data"]));
        assert_eq!(id, full["resultId"]);
    }
    // An unknown result is answered with all.
    let params = json!({ "textDocument": { "uri": lanes }, "previousResultId": "x" });
    let all = open.client.ask("textDocument/semanticTokens/full/delta", params);
    assert_eq!(numbers(&all["data"]), data);
    assert!(open.client.end());
}

#[test]
fn handoffs_are_calls() {
    let mut open = Open::new();
    let mut out = String::new();
    for (name, around) in [
        ("pool/desk.agent.abl", "GOAL: <|>"),
        ("pool/desk.agent.abl", "TO: La<|>nes"),
        ("shop/shop.agent", "start_agent pi<|>ck"),
    ] {
        let uri = open.uri(name);
        let items =
            open.client.ask("textDocument/prepareCallHierarchy", here(&uri, text_of(name), around));
        let item = &items[0];
        writeln!(out, "== {around}: {}", item["name"].as_str().unwrap()).unwrap();
        for (method, end) in
            [("callHierarchy/incomingCalls", "from"), ("callHierarchy/outgoingCalls", "to")]
        {
            let calls = open.client.ask(method, json!({ "item": item }));
            for call in calls.as_array().unwrap() {
                writeln!(out, "{end} {} {}", call[end]["name"], call["fromRanges"]).unwrap();
            }
        }
    }
    assert_snapshot!(out);
    assert!(open.client.end());
}

#[test]
fn links_lead_to_other_files() {
    let mut open = Open::new();
    let names = ["pool/desk.agent.abl", "orders/agents.yml"];
    let links = open.of("textDocument/documentLink", &names, |folder, text, answer| {
        let each = answer.as_array().unwrap().iter();
        marked(
            text,
            each.map(|link| {
                let target = name_of(folder, link["target"].as_str().unwrap());
                (
                    link["range"].clone(),
                    format!("{} -> {target}", link["tooltip"].as_str().unwrap()),
                )
            }),
        )
    });
    assert_snapshot!(links);
    assert!(open.client.end());
}

// ---- completion --------------------------------------------------------------------------------

/// The labels that are offered at the caret of a text.
fn offered(client: &mut Client, name: &str, text: &str) -> Vec<Value> {
    let (text, line, character) = caret(text);
    client.open(name, "x", &text);
    let params = crate::client::place(name, line, character);
    let answer = client.ask("textDocument/completion", params);
    client.close(name);
    answer["items"].as_array().unwrap().clone()
}

#[test]
fn completion_offers_what_may_be_written() {
    let mut client = Client::alone();
    let cases = [
        ("untitled:a.agent.abl", LANES.replace("THEN: COMPLETE", "THEN: <|>")),
        ("untitled:a.agent.abl", LANES.replace("    THEN: COMPLETE\n", "    CALL: bo<|>\n")),
        ("untitled:a.agent.abl", LANES.replace("CHECK: count > 8", "CHECK: co<|>")),
        ("untitled:a.agent.abl", LANES.replace("    type: number\n", "    ty<|>\n")),
        ("untitled:a.agent.abl", LANES.replace("type: number", "type: <|>")),
        ("untitled:a.agent", SCRIPT.replace("if @variables.total > 5", "if @variables.<|>")),
        ("untitled:a.agent", SCRIPT.replace("to @subagent.pay", "to @<|>")),
        ("untitled:agents.yml", AGENTS.replace("fallback: default", "fall<|>")),
    ];
    let mut out = String::new();
    for (name, text) in &cases {
        let line = text.lines().find(|line| line.contains("<|>")).unwrap();
        writeln!(out, "== {}", line.trim()).unwrap();
        for item in offered(&mut client, name, text).iter().take(12) {
            let edit = &item["textEdit"];
            writeln!(
                out,
                "{} [{}] {} -> {}",
                item["label"].as_str().unwrap(),
                item["kind"],
                item["detail"].as_str().unwrap_or_default(),
                edit["newText"]
            )
            .unwrap();
        }
    }
    assert_snapshot!(out);
    assert!(client.end());
}

#[test]
fn items_are_described_when_they_are_chosen() {
    let mut client = Client::alone();
    let text = LANES.replace("    THEN: COMPLETE\n", "    CALL: bo<|>\n");
    let (plain, line, character) = caret(&text);
    client.open("untitled:a.agent.abl", "x", &plain);
    let answer = client.ask(
        "textDocument/completion",
        crate::client::place("untitled:a.agent.abl", line, character),
    );
    let item = answer["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["label"] == "book_lane")
        .unwrap()
        .clone();
    assert_eq!(item["documentation"], Value::Null);
    let resolved = client.ask("completionItem/resolve", item);
    assert!(
        resolved["documentation"]["value"].as_str().unwrap().contains("Books a lane"),
        "{resolved}"
    );
    assert_eq!(client.refused("completionItem/resolve", json!({ "label": "x" })).0, -32602);
    // A space asks only where a value begins.
    let mut params = crate::client::place("untitled:a.agent.abl", 0, 0);
    params["context"] = json!({ "triggerKind": 2, "triggerCharacter": " " });
    assert_eq!(client.ask("textDocument/completion", params), Value::Null);
    assert!(client.end());
}

#[test]
fn signatures_show_the_argument() {
    let mut client = Client::alone();
    let mut out = String::new();
    for call in [
        "CALL: book_lane(<|>",
        "CALL: book_lane(day: day, <|>",
        "CALL: book_lane(count: 3<|>)",
        "SET: x = SUBSTRING(day, <|>1)",
        "SET: x = 1<|>",
    ] {
        let text = LANES.replace("CALL: book_lane(day: day, count: count)", call);
        let (text, line, character) = caret(&text);
        client.open("untitled:a.agent.abl", "x", &text);
        let answer = client.ask(
            "textDocument/signatureHelp",
            crate::client::place("untitled:a.agent.abl", line, character),
        );
        client.close("untitled:a.agent.abl");
        let one = &answer["signatures"][0];
        writeln!(
            out,
            "{call}\n  {} active {} {}",
            one["label"], answer["activeParameter"], one["documentation"]["value"]
        )
        .unwrap();
    }
    assert_snapshot!(out);
    assert!(client.end());
}

// ---- formatting --------------------------------------------------------------------------------

#[test]
fn formatting_is_that_of_the_command_line() {
    let mut client = Client::alone();
    let untidy = LANES
        .replace("GOAL: ", "GOAL:   ")
        .replace("  ask:\n    REASONING", "  ask:\n        REASONING")
        .replace("THEN: COMPLETE\n", "THEN:   COMPLETE   \n\n\n");
    let name = "untitled:a.agent.abl";
    client.open(name, "x", &untidy);
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let edits = client.ask(
        "textDocument/formatting",
        json!({ "textDocument": { "uri": name }, "options": options }),
    );
    let formatted = applied(&untidy, &edits);
    let mut workspace = agentir::Workspace::in_memory();
    workspace.set_text("a.agent.abl", untidy.as_str());
    let snapshot = workspace.snapshot().unwrap();
    let (file, _) = snapshot.file("a.agent.abl").unwrap();
    assert_eq!(formatted, snapshot.format(file).unwrap());
    assert!(edits.as_array().unwrap().len() > 1, "lines that are as they should be stay");
    // A range: the other lines stay as they are.
    let range =
        json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 3 } });
    let edits = client.ask(
        "textDocument/rangeFormatting",
        json!({ "textDocument": { "uri": name }, "range": range, "options": options }),
    );
    assert_eq!(applied(&untidy, &edits), untidy.replace("GOAL:   ", "GOAL: "));
    client.replace(name, &formatted);
    assert_eq!(
        client.ask(
            "textDocument/formatting",
            json!({ "textDocument": { "uri": name }, "options": options })
        ),
        json!([])
    );
    // Nothing is done to what is broken.
    client.replace(name, &untidy.replace("\"Which day?\"", "\"Which day?"));
    assert_eq!(
        client.ask(
            "textDocument/formatting",
            json!({ "textDocument": { "uri": name }, "options": options })
        ),
        Value::Null
    );
    assert!(client.end());
}

// ---- actions -----------------------------------------------------------------------------------

const WRONG: &str = "AGENT: Pool\nGOAL: \"Book lanes\"\n\nTOOLS:\n  book_lane(day: string) -> object\n    description: \"Books a lane\"\n\nON_START:\n  CALL: book_line(day: \"monday\")\n  RESPOND: \"Hello\"\n";

fn actions(client: &mut Client, uri: &str, only: Option<&[&str]>) -> Vec<Value> {
    let mut context = json!({ "diagnostics": [] });
    if let Some(only) = only {
        context["only"] = json!(only);
    }
    let range =
        json!({ "start": { "line": 8, "character": 10 }, "end": { "line": 8, "character": 10 } });
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
    client.ask("textDocument/codeAction", params).as_array().unwrap().clone()
}

#[test]
fn actions_have_the_kinds_that_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    crate::write(folder.path(), &[("pool.agent.abl", WRONG)]);
    let pool = uri(&folder.path().join("pool.agent.abl"));
    let mut client = Client::new(json!({
        "capabilities": crate::client::capabilities(),
        "workspaceFolders": [{ "uri": uri(folder.path()), "name": "x" }],
        "initializationOptions": { "baseline": "known.json", "commands": ["agentir.convertTo"] },
    }));
    client.open(&pool, "abl", WRONG);
    let mut out = String::new();
    for only in [
        None,
        Some(&["quickfix"][..]),
        Some(&["source.fixAll"][..]),
        Some(&["source"][..]),
        Some(&["refactor"][..]),
        Some(&["source.organizeImports"][..]),
    ] {
        writeln!(out, "== {only:?}").unwrap();
        for action in actions(&mut client, &pool, only) {
            writeln!(out, "{} {} {}", action["kind"], action["title"], action["isPreferred"])
                .unwrap();
        }
    }
    assert_snapshot!(out);
    // All safe fixes at once: here a comment that suppresses nothing.
    client.replace(&pool, &format!("# agentir: ignore-file[unused-tool] not needed\n{WRONG}"));
    let all = actions(&mut client, &pool, Some(&["source.fixAll"]));
    assert_eq!((all.len(), &all[0]["kind"]), (1, &json!("source.fixAll.agentir")));
    let (_, edits) = changed(folder.path(), &all[0]["edit"]).remove(0);
    assert_eq!(
        applied(&format!("# agentir: ignore-file[unused-tool] not needed\n{WRONG}"), &edits),
        WRONG
    );
    client.replace(&pool, WRONG);
    // Each of them does what it says.
    let text_after = |action: &Value| {
        let (_, edits) = changed(folder.path(), &action["edit"]).remove(0);
        applied(WRONG, &edits)
    };
    let all = actions(&mut client, &pool, Some(&["quickfix"]));
    let action = |start: &str| {
        all.iter()
            .find(|action| action["title"].as_str().unwrap().starts_with(start))
            .unwrap()
            .clone()
    };
    assert!(text_after(&action("Replace by")).contains("CALL: book_lane(day"));
    for title in ["Ignore `undefined-tool` in this line", "Ignore `undefined-tool` in this file"] {
        client.replace(&pool, &text_after(&action(title)));
        let rules = client.rules(&pool);
        assert!(!rules.contains(&"undefined-tool".to_owned()), "{rules:?}");
        assert!(!rules.iter().any(|rule| rule.contains("suppression")), "{rules:?}");
        client.replace(&pool, WRONG);
    }
    // The baseline that an action makes hides the finding.
    let edit = action("Add `undefined-tool`")["edit"].clone();
    let changes = edit["documentChanges"].as_array().unwrap();
    assert_eq!(changes[0]["kind"], "create");
    let text = changes[1]["edits"][0]["newText"].as_str().unwrap();
    std::fs::write(folder.path().join("known.json"), text).unwrap();
    let change = json!([{ "uri": uri(&folder.path().join("known.json")), "type": 1 }]);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": change }));
    client.until(|client| {
        let found = client.findings.get(&pool)?["diagnostics"].as_array().unwrap().clone();
        (!found.iter().any(|d| d["code"] == "undefined-tool")).then_some(())
    });
    assert!(client.end());
}

#[test]
fn lenses_are_for_what_the_client_can_do() {
    let titles = |commands: Value| {
        let mut client = Client::new(json!({
            "capabilities": crate::client::capabilities(),
            "initializationOptions": { "commands": commands },
        }));
        client.open("untitled:a.agent.abl", "abl", WRONG);
        let lenses = client.ask(
            "textDocument/codeLens",
            json!({ "textDocument": { "uri": "untitled:a.agent.abl" } }),
        );
        assert!(client.end());
        let each = lenses.as_array().unwrap().iter();
        each.map(|lens| lens["command"]["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = titles(json!([
        "agentir.talk",
        "agentir.test",
        "agentir.showGraph",
        "agentir.showFindings"
    ]));
    assert_eq!(all[..3], ["Talk", "Test", "Graph"]);
    assert!(all[3].starts_with("1 error"), "{all:?}");
    assert_eq!(titles(json!([])).len(), 1);
}

// ---- commands ----------------------------------------------------------------------------------

#[test]
fn commands_return_what_they_make() {
    let mut open = Open::new();
    let lanes = open.uri("pool/lanes.agent.abl");
    let mut run = |command: &str, argument: Value| {
        open.client
            .ask("workspace/executeCommand", json!({ "command": command, "arguments": [argument] }))
    };
    let page = run("agentir.explain", json!({ "rule": "undefined-tool" }));
    assert!(page.as_str().unwrap().starts_with("# undefined-tool"), "{page}");
    let graph = run("agentir.graph", json!({ "uri": lanes }));
    assert!(graph.as_str().unwrap().contains("flowchart"), "{graph}");
    let graph = run("agentir.graph", json!({ "uri": lanes, "format": "json", "detail": "agents" }));
    assert!(graph["nodes"].is_array(), "{graph}");
    let converted = run("agentir.convert", json!({ "uri": lanes, "target": "agent-script" }));
    assert!(converted["files"][0]["text"].as_str().unwrap().contains("Lanes"), "{converted}");
    assert!(converted["report"].is_object());
    assert!(run("agentir.ir", Value::Null)["agents"]["Lanes"].is_object());
    let mut refused = |command: &str, argument: Value| {
        let params = json!({ "command": command, "arguments": [argument] });
        open.client.refused("workspace/executeCommand", params)
    };
    assert_eq!(refused("agentir.none", Value::Null).1, "there is no command `agentir.none`");
    assert_eq!(refused("agentir.convert", json!({})).0, -32602);
    assert!(
        refused("agentir.convert", json!({ "uri": lanes, "target": "x" }))
            .1
            .contains("agent-script")
    );
    let content = open
        .client
        .ask("workspace/textDocumentContent", json!({ "uri": "agentir:/rules/undefined-tool.md" }));
    assert_eq!(content["text"], page);
    assert!(open.client.end());
}

/// No request that this server answers fails at any place of any text.
#[test]
fn every_place_can_be_asked_about() {
    let mut open = Open::new();
    for (name, text) in
        [("pool/desk.agent.abl", DESK), ("orders/agents.yml", AGENTS), ("orders/tools.py", TOOLS)]
    {
        let uri = open.uri(name);
        for (line, written) in text.lines().enumerate() {
            for character in (0..written.len() + 2).step_by(3) {
                let at = crate::client::place(
                    &uri,
                    u32::try_from(line).unwrap(),
                    u32::try_from(character).unwrap(),
                );
                for method in [
                    "textDocument/hover",
                    "textDocument/completion",
                    "textDocument/signatureHelp",
                    "textDocument/definition",
                    "textDocument/documentHighlight",
                    "textDocument/prepareCallHierarchy",
                ] {
                    open.client.ask(method, at.clone());
                }
            }
        }
    }
    assert!(open.client.end());
}
