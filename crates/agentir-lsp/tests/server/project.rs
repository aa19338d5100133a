//! A project in three languages, and what is asked about it. In texts of tests, `<|>` is the caret.

use crate::client::{Client, at, place, uri};
use crate::write;
use serde_json::{Value, json};
use std::path::Path;

pub(crate) const DESK: &str = r#"SUPERVISOR: Desk
GOAL: "Greet guests"

HANDOFF:
  - TO: Lanes
    WHEN: intent == "lane"
    CONTEXT:
      pass: [day]
    RETURN: true
"#;

pub(crate) const LANES: &str = r#"AGENT: Lanes
GOAL: "Book lanes in the pool"

TOOLS:
  book_lane(day: string, count: number) -> {lane: string}
    description: "Books a lane"

GATHER:
  day:
    type: string
    prompt: "Which day?"
    required: true
  count:
    type: number
    prompt: "How many lanes?"

FLOW:
  steps:
    - ask
    - book

  ask:
    REASONING: false
    GATHER: day, count
    THEN: book

  book:
    REASONING: false
    # More than eight is not possible.
    CHECK: count > 8
    ON_FAIL: ask
    CALL: book_lane(day: day, count: count)
    SET: booked = true
    RESPOND: "Lane {{book_lane.lane}} on {{day}}"
    THEN: COMPLETE
"#;

pub(crate) const SCRIPT: &str = r#"system:
    instructions: "Be kind"
    messages:
        welcome: "Hello"
        error: "Sorry"

config:
    agent_name: "Shop"

variables:
    total: mutable number = 0
        description: "What the cart costs"

start_agent pick:
    description: "Picks"
    reasoning:
        actions:
            go: @utils.transition to @subagent.pay
                available when @variables.total > 10

subagent pay:
    description: "Pays"
    reasoning:
        instructions: ->
            if @variables.total > 5:
                | Say the total {!@variables.total}.
"#;

pub(crate) const AGENTS: &str = r#"main:
  type: flow agent
  steps:
    - call: order_desk

order_desk:
  type: flow agent
  description: Takes orders
  args:
    - item
  fallback: default
  steps:
    - user
    - call: place_order
      args:
        item: item
    - bot: "You ordered ${item}: ${place_order.status}"
"#;

pub(crate) const TOOLS: &str = r#"def place_order(item: str):
    """Places an order."""
    return [{"arg": "status", "value": item}]
"#;

/// A client with the project, and everything open.
pub(crate) fn project(folder: &Path) -> Client {
    let files = [
        ("pool/desk.agent.abl", DESK),
        ("pool/lanes.agent.abl", LANES),
        ("shop/shop.agent", SCRIPT),
        ("orders/agents.yml", AGENTS),
        ("orders/tools.py", TOOLS),
    ];
    write(folder, &files);
    let mut client = Client::in_folder(folder);
    for (name, text) in files {
        client.open(&uri(&folder.join(name)), "x", text);
    }
    client
}

/// A text without its caret, and the position of the caret.
pub(crate) fn caret(text: &str) -> (String, u32, u32) {
    let (before, after) = text.split_once("<|>").expect("there is a caret");
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let character = before[start..].encode_utf16().count();
    (format!("{before}{after}"), u32::try_from(line).unwrap(), u32::try_from(character).unwrap())
}

/// The position of a caret in one of the texts: what stands around it is written with `<|>` in it, and stands there once.
pub(crate) fn find(text: &str, around: &str) -> (u32, u32) {
    let plain = around.replace("<|>", "");
    assert_eq!(text.matches(&plain).count(), 1, "{plain}");
    let (_, line, character) = caret(&text.replacen(&plain, around, 1));
    (line, character)
}

/// The parameters of a request about a place in one of the texts.
pub(crate) fn here(uri: &str, text: &str, around: &str) -> Value {
    let (line, character) = find(text, around);
    place(uri, line, character)
}

/// The lines of a text at ranges, as a reader sees them: each range is marked below its line.
pub(crate) fn marked(text: &str, ranges: impl IntoIterator<Item = (Value, String)>) -> String {
    let mut out = String::new();
    let lines: Vec<&str> = text.split('\n').collect();
    for (range, note) in ranges {
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let (start, end) = (&range["start"], &range["end"]);
        let line = number(&start["line"]);
        let from = number(&start["character"]);
        let same_line = start["line"] == end["line"];
        let to = if same_line { number(&end["character"]) } else { lines[line].len() };
        let more = if same_line {
            String::new()
        } else {
            format!(" … {}:{}", number(&end["line"]) + 1, number(&end["character"]) + 1)
        };
        let width = to.saturating_sub(from).max(1);
        out.push_str(&format!("{:>4} {}\n", line + 1, lines[line]));
        out.push_str(&format!("     {}{}{more} {note}\n", " ".repeat(from), "^".repeat(width)));
    }
    out.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Several locations, by the names of their files.
pub(crate) fn located(folder: &Path, locations: &Value) -> String {
    let mut out = String::new();
    for location in locations.as_array().unwrap() {
        let name = name_of(folder, location["uri"].as_str().unwrap());
        let text = text_of(&name);
        out.push_str(&format!(
            "{name}\n{}",
            marked(text, [(location["range"].clone(), String::new())])
        ));
    }
    out
}

pub(crate) fn name_of(folder: &Path, uri: &str) -> String {
    uri.strip_prefix(&format!("file://{}/", folder.display())).unwrap_or(uri).to_owned()
}

pub(crate) fn text_of(name: &str) -> &'static str {
    match name.split('#').next().unwrap() {
        "pool/desk.agent.abl" => DESK,
        "pool/lanes.agent.abl" => LANES,
        "shop/shop.agent" => SCRIPT,
        "orders/agents.yml" => AGENTS,
        "orders/tools.py" => TOOLS,
        other => panic!("{other}"),
    }
}

/// A text after the edits of a document.
pub(crate) fn applied(text: &str, edits: &Value) -> String {
    let mut edits: Vec<Value> = edits.as_array().unwrap().clone();
    let key = |edit: &Value| {
        let start = &edit["range"]["start"];
        (start["line"].as_u64().unwrap(), start["character"].as_u64().unwrap())
    };
    edits.sort_by_key(key);
    let mut out = text.to_owned();
    for edit in edits.iter().rev() {
        let offset = |position: &Value| {
            let line = position["line"].as_u64().unwrap();
            let start: usize =
                text.split_inclusive('\n').take(usize::try_from(line).unwrap()).map(str::len).sum();
            let units = usize::try_from(position["character"].as_u64().unwrap()).unwrap();
            let mut seen = 0;
            let rest = &text[start..];
            let inside = rest.char_indices().find(|(_, c)| {
                let is_here = seen >= units;
                seen += c.len_utf16();
                is_here
            });
            start + inside.map_or(rest.len(), |(at, _)| at)
        };
        let range = offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
        out.replace_range(range, edit["newText"].as_str().unwrap());
    }
    out
}

/// The edits of a workspace edit, by the names of their files.
pub(crate) fn changed(folder: &Path, edit: &Value) -> Vec<(String, Value)> {
    let changes = edit["documentChanges"].as_array().unwrap();
    changes
        .iter()
        .filter(|change| change.get("kind").is_none())
        .map(|change| {
            let uri = change["textDocument"]["uri"].as_str().unwrap();
            (name_of(folder, uri), change["edits"].clone())
        })
        .collect()
}

/// The whole of a document as a range.
pub(crate) fn everything() -> Value {
    json!({ "start": at(0, 0), "end": at(100_000, 0) })
}
