//! Hostile ABL, as `.abl` and as YAML.

use super::{Case, around, lines};

fn agent(rest: &str) -> String {
    format!("AGENT: A\nGOAL: \"g\"\n{rest}")
}

pub(crate) const CASES: &[Case] = &[
    ("indentation", "a.abl", 2_400, |n| agent(&lines(n, |i| format!("{}k:\n", " ".repeat(i + 1))))),
    ("steps of indentation up and down", "a.abl", 40_000, |n| {
        agent(&lines(n, |i| format!("{}k{i}: v\n", " ".repeat((i * 7919) % 97))))
    }),
    ("dashes", "a.abl", 10_000, |n| agent(&format!("LIMITATIONS:\n  {}x\n", "- ".repeat(n)))),
    ("dashes in YAML", "a.yaml", 10_000, |n| {
        format!("agent: A\nlimitations:\n  {}x\n", "- ".repeat(n))
    }),
    ("brackets", "a.abl", 10_000, |n| {
        agent(&format!("LIMITATIONS: {}\n", around(n, "[", "x", "]")))
    }),
    ("open brackets", "a.abl", 10_000, |n| agent(&format!("LIMITATIONS: {}\n", "[".repeat(n)))),
    ("open braces", "a.abl", 10_000, |n| {
        agent(&format!("MEMORY:\n  session:\n    - x: {}\n", "{a: ".repeat(n)))
    }),
    ("flow collections in YAML", "a.yaml", 10_000, |n| {
        format!("agent: A\nlimitations: {}\n", around(n, "[", "x", "]"))
    }),
    ("open flow collections in YAML", "a.yaml", 10_000, |n| {
        format!("agent: A\nlimitations: {}\n", "[".repeat(n))
    }),
    ("maps in YAML", "a.yaml", 2_400, |n| {
        format!("agent: A\n{}", lines(n, |i| format!("{}k:\n", " ".repeat(i))))
    }),
    ("aliases in YAML", "a.yaml", 400, |n| {
        format!(
            "agent: A\nl0: &l0 [x, x]\n{}",
            lines(n, |i| format!("l{}: &l{} [*l{i}, *l{i}]\n", i + 1, i + 1))
        )
    }),
    ("parentheses", "a.abl", 10_000, |n| {
        agent(&format!("COMPLETE:\n  - WHEN: {}\n", around(n, "(", "x", ")")))
    }),
    ("open parentheses", "a.abl", 10_000, |n| {
        agent(&format!("COMPLETE:\n  - WHEN: {}\n", "(".repeat(n)))
    }),
    ("NOT", "a.abl", 10_000, |n| agent(&format!("COMPLETE:\n  - WHEN: {}x\n", "NOT ".repeat(n)))),
    ("minus", "a.abl", 10_000, |n| {
        agent(&format!("COMPLETE:\n  - WHEN: x == {}1\n", "-".repeat(n)))
    }),
    ("calls in calls", "a.abl", 10_000, |n| {
        agent(&format!("COMPLETE:\n  - WHEN: {} == 1\n", around(n, "UPPER(", "x", ")")))
    }),
    ("a long AND", "a.abl", 10_000, |n| {
        agent(&format!("COMPLETE:\n  - WHEN: {}x\n", "x AND ".repeat(n)))
    }),
    ("a long sum", "a.abl", 10_000, |n| {
        agent(&format!("COMPLETE:\n  - WHEN: {}x > 1\n", "x + ".repeat(n)))
    }),
    ("comparisons in a row", "a.abl", 10_000, |n| {
        agent(&format!("COMPLETE:\n  - WHEN: {}x\n", "x == ".repeat(n)))
    }),
    ("a long path", "a.abl", 40_000, |n| {
        agent(&format!("COMPLETE:\n  - WHEN: {}x\n", "x.".repeat(n)))
    }),
    ("types in types", "a.abl", 10_000, |n| {
        agent(&format!("TOOLS:\n  f(a: {}) -> x\n", around(n, "{a: ", "string", "}")))
    }),
    ("arrays of arrays", "a.abl", 10_000, |n| {
        agent(&format!("TOOLS:\n  f(a: string{}) -> x\n", "[]".repeat(n)))
    }),
    ("blocks in templates", "a.abl", 10_000, |n| {
        agent(&format!("PERSONA: \"{}\"\n", around(n, "{{#if x}}", "y", "{{/if}}")))
    }),
    ("open blocks in templates", "a.abl", 10_000, |n| {
        agent(&format!("PERSONA: \"{}\"\n", "{{#if x}}".repeat(n)))
    }),
    ("open holes", "a.abl", 10_000, |n| agent(&format!("PERSONA: \"{}\"\n", "{{".repeat(n)))),
    ("open single braces", "a.abl", 10_000, |n| {
        agent(&format!("PERSONA: \"{}\"\n", "{ x ".repeat(n)))
    }),
    ("a long chain", "a.abl", 40_000, |n| agent(&format!("FLOW:\n  {}x\n", "x -> ".repeat(n)))),
    ("a long chain of lines", "a.abl", 40_000, |n| {
        agent(&format!("FLOW:\n  {}x\n", "x ->\n    ".repeat(n)))
    }),
    ("many arguments", "a.abl", 40_000, |n| {
        agent(&format!("FLOW:\n  s:\n    CALL: f({}x)\n", "x, ".repeat(n)))
    }),
    ("many holes", "a.abl", 100_000, |n| agent(&format!("PERSONA: \"{}\"\n", "{{x}} ".repeat(n)))),
    ("many fields", "a.abl", 100_000, |n| {
        agent(&format!("GATHER:\n{}", lines(n, |i| format!("  f{i}:\n    prompt: \"p\"\n"))))
    }),
    ("many fields in YAML", "a.yaml", 40_000, |n| {
        format!("agent: A\ngather:\n{}", lines(n, |i| format!("  f{i}:\n    prompt: p\n")))
    }),
    ("many tools", "a.abl", 40_000, |n| {
        agent(&format!("TOOLS:\n{}", lines(n, |i| format!("  t{i}(a: string) -> {{b: string}}\n"))))
    }),
    ("many steps", "a.abl", 40_000, |n| {
        agent(&format!(
            "FLOW:\n{}  s{n}:\n    THEN: COMPLETE\n",
            lines(n, |i| format!("  s{i}:\n    REASONING: false\n    THEN: s{}\n", i + 1))
        ))
    }),
    ("many branches", "a.abl", 10_000, |n| {
        agent(&format!(
            "FLOW:\n  s:\n    REASONING: false\n    ON_INPUT:\n{}",
            lines(n, |i| format!("      - IF: input == \"{i}\"\n        THEN: s\n"))
        ))
    }),
    ("many agents to hand over to", "a.abl", 20_000, |n| {
        agent(&format!("HANDOFF:\n{}", lines(n, |i| format!("  - TO: B{i}\n    WHEN: x == {i}\n"))))
    }),
    ("many constraints", "a.abl", 20_000, |n| {
        agent(&format!(
            "CONSTRAINTS:\n{}",
            lines(n, |i| format!("  - REQUIRE x{i} > {i}\n    ON_FAIL: \"m\"\n"))
        ))
    }),
    ("many variables", "a.abl", 40_000, |n| {
        agent(&format!("MEMORY:\n  session:\n{}", lines(n, |i| format!("    - v{i}\n"))))
    }),
    ("one variable many times", "a.abl", 40_000, |n| {
        agent(&format!("MEMORY:\n  session:\n{}", "    - v\n".repeat(n)))
    }),
    ("one step many times", "a.abl", 20_000, |n| {
        agent(&format!("FLOW:\n{}", "  s:\n    REASONING: false\n    THEN: s\n".repeat(n)))
    }),
    ("one tool many times", "a.abl", 20_000, |n| {
        agent(&format!("TOOLS:\n{}", "  t(a: string) -> x\n".repeat(n)))
    }),
    ("one section many times", "a.abl", 20_000, |n| agent(&"GOAL: \"g\"\n".repeat(n))),
    ("one unknown section many times", "a.abl", 20_000, |n| agent(&"GAOL: \"g\"\n".repeat(n))),
    ("one unknown field many times", "a.abl", 20_000, |n| {
        agent(&format!("EXECUTION:\n{}", "  modle: x\n".repeat(n)))
    }),
    ("one key of data many times", "a.abl", 20_000, |n| {
        agent(&format!("EXECUTION:\n  voice:\n{}", "    k: x\n".repeat(n)))
    }),
    ("one key of data many times in braces", "a.abl", 20_000, |n| {
        agent(&format!("EXECUTION:\n  voice: {{{}k: x}}\n", "k: x, ".repeat(n)))
    }),
    ("many unknown tools called", "a.abl", 2_000, |n| {
        let tools = lines(n, |i| format!("  tool_{i}(a: string) -> x\n"));
        let steps = lines(n, |i| format!("  s{i}:\n    CALL: toll_{i}(x)\n    THEN: s{i}\n"));
        agent(&format!("TOOLS:\n{tools}FLOW:\n{steps}"))
    }),
    ("a large file", "a.abl", 10 << 20, |n| {
        let block = "  f_:\n    prompt: \"What would you like to be called, and how old are you?\"\n    type: string\n";
        let count = n / block.len();
        agent(&format!("GATHER:\n{}", lines(count, |i| block.replace('_', &i.to_string()))))
    }),
    ("a long line of text", "a.abl", 10 << 20, |n| {
        agent(&format!("PERSONA: {}\n", "word ".repeat(n / 5)))
    }),
    ("a long line in quotes", "a.abl", 10 << 20, |n| {
        agent(&format!("PERSONA: \"{}\"\n", "word ".repeat(n / 5)))
    }),
    ("a long open string", "a.abl", 10 << 20, |n| {
        agent(&format!("PERSONA: \"{}\n", "word ".repeat(n / 5)))
    }),
    ("a long line that means nothing", "a.abl", 10 << 20, |n| "x".repeat(n)),
    ("a long line of quotes", "a.abl", 4 << 20, |n| {
        agent(&format!("PERSONA: {}\n", "\"".repeat(n)))
    }),
    ("a long line of hashes", "a.abl", 4 << 20, |n| {
        agent(&format!("PERSONA: {}\n", " #".repeat(n / 2)))
    }),
    ("a long block", "a.abl", 10 << 20, |n| {
        agent(&format!("PERSONA: |\n{}", "  word word word\n".repeat(n / 17)))
    }),
    ("a long line in YAML", "a.yaml", 10 << 20, |n| {
        format!("agent: A\npersona: {}\n", "word ".repeat(n / 5))
    }),
    ("a long condition of words", "a.abl", 4 << 20, |n| {
        agent(&format!("COMPLETE:\n  - WHEN: {}\n", "word ".repeat(n / 5)))
    }),
    ("only comments", "a.abl", 10 << 20, |n| "# a comment\n".repeat(n / 12)),
    ("only blank lines", "a.abl", 10 << 20, |n| "\n".repeat(n)),
    ("only carriage returns", "a.abl", 1 << 20, |n| "\r".repeat(n)),
    ("only dashes", "a.abl", 1 << 20, |n| "-\n".repeat(n / 2)),
    ("only colons", "a.abl", 1 << 20, |n| ":".repeat(n)),
    ("lone carriage returns", "a.abl", 1 << 20, |n| agent(&"\rk: v".repeat(n / 5))),
    ("binary", "a.abl", 1 << 20, |n| {
        // Every byte value as the character of that number.
        agent(&lines(n / 2, |i| {
            u8::try_from((i * 131 + i / 256) % 255 + 1).map_or(' ', char::from).to_string()
        }))
    }),
    ("wide characters", "a.abl", 1 << 20, |n| {
        agent(&format!("PERSONA: \"{}\"\n", "😀é".repeat(n / 6)))
    }),
    ("one error on each line", "a.abl", 40_000, |n| {
        agent(&format!("FLOW:\n{}", lines(n, |i| format!("  s{i}: ) (\n"))))
    }),
    ("errors on one line", "a.abl", 40_000, |n| {
        agent(&format!("PERSONA: \"{}\"\n", "{{)}} ".repeat(n)))
    }),
];
