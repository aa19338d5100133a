//! ADL: the agents of a bot, and its settings.

use super::{Files, check};

const BOT: &str = r#"main:
  type: flow agent
  steps:
    - call: harbour

harbour:
  type: ensemble agent
  description: Chooses who helps
  args:
    - passenger
    - today
  contains:
    - crossing:
        args:
          passenger: ref passenger
  steps:
    - call: get_day
    - set:
        today: get_day.day

crossing:
  type: flow agent
  description: Books a crossing
  args:
    - passenger
    - route
  fallback: Sorry
  steps:
    - label: ask_route
    - bot: "Where to, ${passenger}?"
    - user
    - if: route == None
      then:
        - next: ask_route
          tries: 2
    - call: find_ferry
      args:
        route: route
    - next: goodbye
  goodbye:
    - bot: "Bye"

helper:
  type: llm agent
  description: Helps
  prompt: |
    Be kind.
  uses:
    - find_ferry
"#;

const TOOLS: &str = "def get_day():\n    return {\"day\": 1}\n\ndef find_ferry(route, cabin=None):\n    return {}\n";

const AGENTS: Files<'_> =
    Files { name: "bot/agents.yml", text: BOT, others: &[("bot/tools.py", TOOLS)] };

#[test]
fn agents() {
    check(
        "adl_agents",
        AGENTS,
        &[
            ("  description: Books a crossing\n", "  <|>\n"),
            ("  description: Books a crossing\n", "  des<|>\n"),
            ("type: llm agent", "type: <|>"),
            ("type: llm agent", "type: llm<|> agent"),
            ("    - user\n", "    - <|>\n"),
            ("    - user\n", "    -<|>\n"),
            ("    - user\n", "    <|>\n"),
            ("          tries: 2\n", "          <|>\n"),
            ("      then:\n", "      <|>\n"),
            ("next: goodbye", "next: <|>"),
            ("call: harbour", "call: <|>"),
            ("        today: get_day.day", "        <|>"),
            ("        today: get_day.day", "        today: <|>"),
            ("if: route == None", "if: <|>"),
            ("if: route == None", "if: harbour.<|>"),
            ("        route: route", "        <|>"),
            ("${passenger}", "${<|>}"),
            ("Where to, $", "Where <|> to, $"),
            ("fallback: Sorry", "fallback: <|>"),
            ("    - find_ferry", "    - <|>"),
            ("    - crossing:\n        args:\n          passenger: ref passenger", "    - <|>"),
        ],
    );
}

#[test]
fn arguments_of_agents() {
    check(
        "adl_arguments",
        AGENTS,
        &[
            ("          passenger: ref passenger", "          <|>"),
            ("          passenger: ref passenger", "          passenger: <|>"),
            ("    - crossing:\n        args:\n", "    - crossing:\n        <|>\n"),
            ("    - call: harbour\n", "    - call: crossing\n      args:\n        <|>\n"),
            ("    - call: harbour\n", "    - return: <|>\n"),
            ("main:\n  type: flow agent", "<|>:\n  type: flow agent"),
        ],
    );
}

const SETTINGS: &str = "bot_name: Ferry\nport: 8080\n";

#[test]
fn settings() {
    let files =
        Files { name: "bot/config.yml", text: SETTINGS, others: &[("bot/agents.yml", BOT)] };
    check("adl_settings", files, &[("port: 8080\n", "<|>\n"), ("port: 8080", "port: <|>")]);
}
