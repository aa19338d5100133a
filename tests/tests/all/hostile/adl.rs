//! Hostile ADL.

use super::{Case, around, lines};

/// A bot of one flow agent with these steps, which are indented by four.
fn flow(steps: &str) -> String {
    format!(
        "main:\n  type: flow agent\n  steps:\n    - call: a\na:\n  type: flow agent\n  description: d\n  args:\n    - x\n  steps:\n{steps}"
    )
}

fn condition(text: &str) -> String {
    flow(&format!("    - if: {text}\n      then:\n        - bot: \"b\"\n"))
}

pub(crate) const CASES: &[Case] = &[
    ("steps", "agents.yml", 10_000, |n| flow(&"    - bot: \"b\"\n    - user\n".repeat(n / 2))),
    ("labels in a row", "agents.yml", 10_000, |n| {
        flow(&lines(n, |i| format!("    - label: l{i}\n    - bot: \"b\"\n")))
    }),
    ("jumps forward", "agents.yml", 10_000, |n| {
        flow(&format!(
            "{}    - label: l{n}\n    - bot: \"b\"\n",
            lines(n, |i| format!(
                "    - label: l{i}\n    - if: x == {i}\n      then:\n        - next: l{}\n",
                i + 1
            ))
        ))
    }),
    ("jumps to labels that do not exist", "agents.yml", 2_000, |n| {
        flow(&lines(n, |i| {
            format!(
                "    - label: label_{i}\n    - if: x == {i}\n      then:\n        - next: lable_{i}\n"
            )
        }))
    }),
    ("ifs in a row", "agents.yml", 10_000, |n| {
        flow(&lines(n, |i| {
            format!(
                "    - if: x == {i}\n      then:\n        - bot: \"b\"\n    - else:\n        - set:\n            x: 1\n"
            )
        }))
    }),
    ("else if", "agents.yml", 10_000, |n| {
        flow(&format!(
            "    - if: x == 0\n      then:\n        - bot: \"b\"\n{}",
            lines(n, |i| format!("    - else if: x == {i}\n      then:\n        - bot: \"b\"\n"))
        ))
    }),
    ("ifs in ifs", "agents.yml", 600, |n| {
        flow(&lines(n, |i| {
            let white = " ".repeat(4 + 4 * i);
            format!("{white}- if: x == {i}\n{white}  then:\n")
        }))
    }),
    ("ifs in braces", "agents.yml", 10_000, |n| {
        flow(&format!("    - {}\n", around(n, "{if: x, then: [", "user", "]}")))
    }),
    ("steps in brackets", "agents.yml", 10_000, |n| {
        format!("a:\n  type: flow agent\n  steps: [{}user]\n", "user, ".repeat(n))
    }),
    ("subflows", "agents.yml", 4_000, |n| {
        format!(
            "{}  subflows:\n{}",
            flow("    - call: s0\n"),
            lines(n, |i| format!(
                "    s{i}:\n      - bot: \"b\"\n      - call: s{}\n",
                (i + 1) % n
            ))
        )
    }),
    ("subflows beside the steps", "agents.yml", 4_000, |n| {
        format!(
            "{}{}",
            flow("    - call: s0\n"),
            lines(n, |i| format!("  s{i}:\n    - bot: \"b\"\n    - call: s{}\n", (i + 1) % n))
        )
    }),
    ("agents", "agents.yml", 4_000, |n| {
        format!(
            "main:\n  type: flow agent\n  steps:\n    - call: e\ne:\n  type: ensemble agent\n  contains:\n{}{}",
            lines(n, |i| format!("    - a{i}\n")),
            lines(n, |i| format!(
                "a{i}:\n  type: llm agent\n  description: d\n  args:\n    - x\n  prompt: \"Ask for x, then enter the a{} agent.\"\n  uses:\n    - t{i}\n",
                (i + 1) % n
            ))
        )
    }),
    ("calls of agents that do not exist", "agents.yml", 2_000, |n| {
        format!(
            "{}{}",
            flow(&lines(n, |i| format!("    - call: agnet_{i}\n"))),
            lines(n, |i| format!("agent_{i}:\n  type: llm agent\n  prompt: p\n"))
        )
    }),
    ("one agent many times", "agents.yml", 4_000, |n| {
        "a:\n  type: llm agent\n  prompt: p\n".repeat(n)
    }),
    ("args", "agents.yml", 10_000, |n| {
        format!(
            "a:\n  type: llm agent\n  prompt: p\n  args:\n{}",
            lines(n, |i| format!("    - x{i}\n"))
        )
    }),
    ("arguments of a call", "agents.yml", 10_000, |n| {
        flow(&format!(
            "    - call: a\n      args:\n{}",
            lines(n, |i| format!("        x{i}: {i}\n"))
        ))
    }),
    ("assignments", "agents.yml", 10_000, |n| {
        flow(&format!("    - set:\n{}", lines(n, |i| format!("        x{i}: {i}\n"))))
    }),
    ("questions and answers", "agents.yml", 10_000, |n| {
        format!(
            "a:\n  type: kb agent\n  description: d\n  faq:\n{}",
            lines(n, |i| format!("    - q: \"q{i}\"\n      a: \"a{i}\"\n"))
        )
    }),
    ("a prompt of many sentences", "agents.yml", 10_000, |n| {
        format!(
            "a:\n  type: llm agent\n  prompt: |\n{}",
            lines(n, |i| format!(
                "    {i}. If it is so, enter the \"a\" agent, else call \"t\".\n"
            ))
        )
    }),
    ("parentheses", "agents.yml", 10_000, |n| condition(&around(n, "(", "x == 1", ")"))),
    ("open parentheses", "agents.yml", 10_000, |n| condition(&"(".repeat(n))),
    ("the user claims", "agents.yml", 10_000, |n| condition(&"the user claims ".repeat(n))),
    ("open brackets in YAML", "agents.yml", 10_000, |n| format!("a: {}", "[".repeat(n))),
    ("not", "agents.yml", 10_000, |n| condition(&format!("{}x == 1", "not ".repeat(n)))),
    ("a long and", "agents.yml", 10_000, |n| {
        condition(&format!("{}x == 1", "x == 1 and ".repeat(n)))
    }),
    ("a long or of nots", "agents.yml", 10_000, |n| {
        condition(&format!("{}x == 1", "not x == 1 or ".repeat(n)))
    }),
    ("comparisons in a row", "agents.yml", 10_000, |n| {
        condition(&format!("{}1", "x == ".repeat(n)))
    }),
    ("examples", "agents.yml", 10_000, |n| {
        condition(&format!("the user claims {}\"y\"", "\"x\", ".repeat(n)))
    }),
    ("examples joined", "agents.yml", 10_000, |n| {
        condition(&format!("the user claims {}\"y\"", "\"x\" or ".repeat(n)))
    }),
    ("a long sentence", "agents.yml", 1 << 20, |n| {
        condition(&format!("the customer {}", "is angry ".repeat(n / 9)))
    }),
    ("holes", "agents.yml", 40_000, |n| flow(&format!("    - bot: \"{}\"\n", "${x} ".repeat(n)))),
    ("open holes", "agents.yml", 40_000, |n| flow(&format!("    - bot: \"{}\"\n", "${".repeat(n)))),
    ("a long path", "agents.yml", 40_000, |n| condition(&format!("{}x == 1", "x.".repeat(n)))),
    ("two verbs", "agents.yml", 10_000, |n| {
        flow(&"    - bot: \"b\"\n      user: true\n".repeat(n))
    }),
    ("else without if", "agents.yml", 10_000, |n| {
        flow(&"    - else:\n        - bot: \"b\"\n".repeat(n))
    }),
    ("unknown fields", "agents.yml", 10_000, |n| {
        format!("a:\n  type: llm agent\n  prompt: p\n{}", lines(n, |i| format!("  prmopt{i}: x\n")))
    }),
    ("functions", "tools.py", 10_000, |n| {
        lines(n, |i| {
            format!("def f{i}(a, b=1, **kwargs):\n    \"\"\"Does {i}.\"\"\"\n    return a\n\n")
        })
    }),
    ("functions that are broken", "tools.py", 4_000, |n| "def f(a, (b=:\n".repeat(n)),
    ("nested calls in Python", "tools.py", 2_000, |n| {
        format!("def f(a={}):\n    pass\n", around(n, "g(", "1", ")"))
    }),
];
