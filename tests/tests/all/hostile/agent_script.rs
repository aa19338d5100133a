//! Hostile Agent Script.

use super::{Case, around, lines};

/// A document with `rest` behind what every agent has, and one subagent that it can go to.
fn agent(rest: &str) -> String {
    format!(
        "system:\n  instructions: \"i\"\n  messages:\n    error: \"e\"\nstart_agent a:\n  description: \"d\"\n  reasoning:\n    instructions: ->\n      | Go on.\n{rest}"
    )
}

/// A document whose start agent builds its prompt by these statements, which are indented by six.
fn prompt(statements: &str) -> String {
    agent(&format!("      {statements}\n"))
}

/// A document with an agent that does this before it thinks, indented by four.
fn before(statements: &str) -> String {
    agent(&format!("  before_reasoning:\n    {statements}\n"))
}

/// A document whose start agent has these tools, indented by six.
fn tools(tools: &str) -> String {
    agent(&format!("    actions:\n{tools}"))
}

fn set(value: &str) -> String {
    prompt(&format!("set @variables.x = {value}"))
}

pub(crate) const CASES: &[Case] = &[
    // ---- Size ----
    ("many subagents", "a.agent", 1_600, |n| {
        agent(&lines(n, |i| {
            let (next, far) = ((i + 1) % n, (i * 7) % n);
            format!(
                "subagent s{i}:\n  label: \"Topic {i}\"\n  description: \"Takes care of topic {i}\"\n  actions:\n    Find_{i}:\n      description: \"Finds what there is about topic {i}\"\n      inputs:\n        query: string\n          description: \"What to look for\"\n          is_required: True\n      outputs:\n        found: string\n          description: \"What was found\"\n      target: \"flow://Find_{i}\"\n  reasoning:\n    instructions: ->\n      | Help with topic {i}, one question at a time.\n      if @variables.known == \"yes\":\n        | Ask nothing twice.\n    actions:\n      find: @actions.Find_{i}\n        description: \"Find it\"\n        with query=...\n        set @variables.known = @outputs.found\n      next: @utils.transition to @subagent.s{next}\n      far: @utils.transition to @subagent.s{far}\n        available when @variables.known != \"\"\n"
            )
        }))
    }),
    ("a long file of comments", "a.agent", 4 << 20, |n| agent(&"# a comment\n".repeat(n / 12))),
    ("a long file of blank lines", "a.agent", 4 << 20, |n| agent(&"\n".repeat(n))),
    ("a long prompt", "a.agent", 4 << 20, |n| prompt(&"| one line more\n      ".repeat(n / 22))),
    ("a long text", "a.agent", 4 << 20, |n| {
        prompt(&format!("| text\n{}", "        word word word\n".repeat(n / 23)))
    }),
    ("a long line of text", "a.agent", 4 << 20, |n| {
        prompt(&format!("| {}", "word ".repeat(n / 5)))
    }),
    ("a long text in quotes", "a.agent", 4 << 20, |n| {
        agent(&format!("config:\n  description: \"{}\"\n", "word ".repeat(n / 5)))
    }),
    ("a long open text in quotes", "a.agent", 4 << 20, |n| {
        agent(&format!("config:\n  description: \"{}\n", "word ".repeat(n / 5)))
    }),
    ("a long line that means nothing", "a.agent", 4 << 20, |n| "x".repeat(n)),
    ("a long line of words", "a.agent", 1 << 20, |n| "word ".repeat(n / 5)),
    ("a long key", "a.agent", 1 << 20, |n| format!("{}:\n", "word ".repeat(n / 5))),
    // ---- Depth ----
    ("indentation", "a.agent", 2_400, |n| {
        agent(&format!("foo:\n{}", lines(n, |i| format!("{}k:\n", " ".repeat(i + 1)))))
    }),
    ("indentation by tabs", "a.agent", 2_400, |n| {
        agent(&format!("foo:\n{}", lines(n, |i| format!("{}k:\n", "\t".repeat(i + 1)))))
    }),
    ("indentation up and down", "a.agent", 40_000, |n| {
        agent(&format!(
            "foo:\n{}",
            lines(n, |i| format!("{}k{i}: 1\n", " ".repeat((i * 7919) % 97)))
        ))
    }),
    ("ragged indentation with tabs", "a.agent", 20_000, |n| {
        agent(&format!("foo:\n{}", lines(n, |i| format!("  k{i}:\n\t\t\ta: 1\n\t\tb: 1\n"))))
    }),
    ("conditions in conditions", "a.agent", 1_200, |n| {
        before(&format!(
            "{}{}set @variables.x = 1",
            lines(n, |i| format!("if @variables.x:\n{}", " ".repeat(5 + i))),
            ""
        ))
    }),
    ("dashes", "a.agent", 10_000, |n| format!("foo:\n  {}x\n", "- ".repeat(n))),
    ("parentheses", "a.agent", 10_000, |n| set(&around(n, "(", "1", ")"))),
    ("open parentheses", "a.agent", 10_000, |n| set(&"(".repeat(n))),
    ("brackets", "a.agent", 10_000, |n| set(&around(n, "[", "1", "]"))),
    ("open brackets", "a.agent", 10_000, |n| set(&"[".repeat(n))),
    ("braces", "a.agent", 10_000, |n| set(&around(n, "{a: ", "1", "}"))),
    ("open braces", "a.agent", 10_000, |n| set(&"{a: ".repeat(n))),
    ("not", "a.agent", 10_000, |n| set(&format!("{}True", "not ".repeat(n)))),
    ("minus", "a.agent", 10_000, |n| set(&format!("{}1", "- ".repeat(n)))),
    ("calls in calls", "a.agent", 10_000, |n| set(&around(n, "len(", "x", ")"))),
    ("subscripts in subscripts", "a.agent", 10_000, |n| set(&around(n, "@variables.x[", "0", "]"))),
    ("lists of lists", "a.agent", 10_000, |n| {
        agent(&format!("variables:\n  x: mutable {}\n", around(n, "list[", "string", "]")))
    }),
    ("holes in holes", "a.agent", 10_000, |n| prompt(&format!("| {}", around(n, "{!", "x", "}")))),
    // ---- Chains ----
    ("else if", "a.agent", 10_000, |n| {
        before(&format!(
            "if @variables.x == 0:\n      transition to @subagent.a\n{}",
            lines(n, |i| format!(
                "    else if @variables.x == {i}:\n      transition to @subagent.a\n"
            ))
        ))
    }),
    ("stray else", "a.agent", 10_000, |n| before(&"else:\n    ".repeat(n))),
    ("a long and", "a.agent", 10_000, |n| set(&format!("{}True", "x and ".repeat(n)))),
    ("a long or of comparisons", "a.agent", 10_000, |n| {
        set(&format!("{}True", "@variables.x == 1 or ".repeat(n)))
    }),
    ("a long sum", "a.agent", 10_000, |n| set(&format!("{}1", "1 + ".repeat(n)))),
    ("a long product", "a.agent", 10_000, |n| set(&format!("{}1", "2 * ".repeat(n)))),
    ("comparisons in a row", "a.agent", 10_000, |n| set(&format!("{}1", "1 == ".repeat(n)))),
    ("conditionals in a row", "a.agent", 10_000, |n| {
        set(&format!("{}1", "1 if x else ".repeat(n)))
    }),
    ("a long path", "a.agent", 40_000, |n| set(&format!("@variables.x{}", ".y".repeat(n)))),
    ("many subscripts", "a.agent", 40_000, |n| set(&format!("@variables.x{}", "[0]".repeat(n)))),
    ("many calls of calls", "a.agent", 10_000, |n| set(&format!("len{}", "(x)".repeat(n)))),
    ("a list", "a.agent", 40_000, |n| set(&format!("[{}]", "1, ".repeat(n)))),
    ("a list on many lines", "a.agent", 20_000, |n| {
        set(&format!("[\n{}        1]", "        1,\n".repeat(n)))
    }),
    ("blank lines in brackets", "a.agent", 40_000, |n| set(&format!("[\n{}1]", "\n".repeat(n)))),
    ("comments in brackets", "a.agent", 40_000, |n| {
        set(&format!("[\n{}          1]", "# x\n".repeat(n)))
    }),
    ("quotes in a row", "a.agent", 40_000, |n| set(&"\"".repeat(n | 1))),
    ("an object", "a.agent", 20_000, |n| {
        set(&format!("{{{}}}", lines(n, |i| format!("k{i}: {i}, "))))
    }),
    ("arguments of a call", "a.agent", 40_000, |n| set(&format!("max({}1)", "1, ".repeat(n)))),
    ("continued lines", "a.agent", 40_000, |n| set(&format!("1 {}+ 2", "\\\n".repeat(n)))),
    // ---- Many of one kind ----
    ("many transitions of one subagent", "a.agent", 10_000, |n| {
        tools(&lines(n, |i| format!("      t{i}: @utils.transition to @subagent.a\n")))
    }),
    ("many transitions to names that do not exist", "a.agent", 2_000, |n| {
        tools(&lines(n, |i| format!("      t{i}: @utils.transition to @subagent.b{i}\n")))
    }),
    ("every subagent goes to every other", "a.agent", 10_000, |n| {
        let k = n.isqrt();
        agent(&lines(k, |i| {
            format!(
                "subagent s{i}:\n  description: \"d\"\n  reasoning:\n    instructions: \"i\"\n    actions:\n{}",
                lines(k, |j| format!("      t{j}: @utils.transition to @subagent.s{j}\n"))
            )
        }))
    }),
    ("a chain of subagents without a turn", "a.agent", 4_000, |n| {
        agent(&lines(n, |i| {
            format!(
                "subagent s{i}:\n  description: \"d\"\n  before_reasoning:\n    transition to @subagent.s{}\n",
                (i + 1) % n
            )
        }))
    }),
    ("targets of one transition", "a.agent", 10_000, |n| {
        before(&format!("transition to @subagent.a{}", ", @subagent.a".repeat(n)))
    }),
    ("statements", "a.agent", 20_000, |n| before(&"set @variables.x = 1\n    ".repeat(n))),
    ("statements behind a transition", "a.agent", 20_000, |n| {
        before(&format!(
            "transition to @subagent.a\n    {}",
            "set @variables.x = 1\n    ".repeat(n)
        ))
    }),
    ("variables", "a.agent", 20_000, |n| {
        agent(&format!(
            "variables:\n{}",
            lines(n, |i| format!("  v{i}: mutable string = \"\"\n    description: \"d\"\n"))
        ))
    }),
    ("one variable many times", "a.agent", 20_000, |n| {
        agent(&format!("variables:\n{}", "  v: mutable string = \"\"\n".repeat(n)))
    }),
    ("unknown variables", "a.agent", 2_000, |n| {
        before(&lines(n, |i| format!("set @variables.v{i} = @variables.w{i}\n    ")))
            + &format!(
                "variables:\n{}",
                lines(n, |i| format!("  known_{i}: mutable string = \"\"\n"))
            )
    }),
    ("actions", "a.agent", 10_000, |n| {
        agent(&format!(
            "  actions:\n{}",
            lines(n, |i| format!(
                "    A{i}:\n      description: \"d\"\n      target: \"flow://F\"\n      inputs:\n        x: string\n"
            ))
        ))
    }),
    ("inputs of one action", "a.agent", 10_000, |n| {
        agent(&format!(
            "  actions:\n    A:\n      description: \"d\"\n      target: \"flow://F\"\n      inputs:\n{}",
            lines(n, |i| format!("        x{i}: string\n          is_required: True\n"))
        ))
    }),
    ("runs of one action", "a.agent", 4_000, |n| {
        agent(&format!(
            "  actions:\n    A:\n      description: \"d\"\n      target: \"flow://F\"\n      inputs:\n        x: string\n      outputs:\n        y: string\n  before_reasoning:\n{}",
            "    run @actions.A\n      with x=\"1\"\n      set @variables.y = @outputs.y\n"
                .repeat(n)
        ))
    }),
    ("unknown inputs of one action", "a.agent", 1_000, |n| {
        agent(&format!(
            "  actions:\n    A:\n      description: \"d\"\n      target: \"flow://F\"\n      inputs:\n{}  before_reasoning:\n    run @actions.A\n{}",
            lines(n, |i| format!("        input_{i}: string\n")),
            lines(n, |i| format!("      with inptu_{i}=1\n"))
        ))
    }),
    ("arguments on one line", "a.agent", 10_000, |n| {
        before(&format!("run @actions.A\n      with {}z=1", lines(n, |i| format!("a{i}=1, "))))
    }),
    ("holes", "a.agent", 40_000, |n| prompt(&format!("| {}", "{!@variables.x} ".repeat(n)))),
    ("open holes", "a.agent", 40_000, |n| prompt(&format!("| {}", "{!".repeat(n)))),
    ("open holes on many lines", "a.agent", 40_000, |n| {
        prompt(&format!("| {}", "{!\n        ".repeat(n)))
    }),
    ("escapes", "a.agent", 40_000, |n| {
        agent(&format!("config:\n  description: \"{}\"\n", "\\n".repeat(n)))
    }),
    ("wrong escapes", "a.agent", 10_000, |n| set(&format!("[{}]", "\"\\x\", ".repeat(n)))),
    ("placeholders", "a.agent", 40_000, |n| format!("config:\n  role: {}\n", "{{a}} ".repeat(n))),
    ("open placeholders", "a.agent", 40_000, |n| format!("config:\n  role: {}\n", "{{".repeat(n))),
    ("steps of a prompt", "a.agent", 10_000, |n| {
        prompt(&format!(
            "| Steps\n{}",
            lines(n, |i| format!(
                "        {i}. Ask for x, then go to {{!@subagent.a}} or call {{!@actions.B}}.\n"
            ))
        ))
    }),
    ("one block many times", "a.agent", 10_000, |n| {
        "subagent a:\n  description: \"d\"\n".repeat(n)
    }),
    ("one field many times", "a.agent", 20_000, |n| {
        format!("config:\n{}", "  role: \"r\"\n".repeat(n))
    }),
    ("unknown blocks", "a.agent", 10_000, |n| "subagnet a:\n  description: \"d\"\n".repeat(n)),
    ("unknown fields", "a.agent", 10_000, |n| format!("config:\n{}", "  rloe: \"r\"\n".repeat(n))),
    ("fields of other languages", "a.agent", 10_000, |n| {
        before(&"if x === 1 && y <> null:\n      set x = true\n    ".repeat(n))
    }),
    ("connected agents", "a.agent", 4_000, |n| {
        agent(&lines(n, |i| {
            format!(
                "connected_subagent c{i}:\n  target: \"agentforce://C{i}\"\n  description: \"d\"\n  inputs:\n    x: string = @variables.x\n"
            )
        }))
    }),
    // ---- Signs ----
    ("only dashes", "a.agent", 1 << 19, |n| "-\n".repeat(n / 2)),
    ("only colons", "a.agent", 1 << 19, |n| ":".repeat(n)),
    ("only bars", "a.agent", 1 << 19, |n| "|\n".repeat(n / 2)),
    ("only quotes", "a.agent", 1 << 19, |n| "\"".repeat(n)),
    ("only carriage returns", "a.agent", 1 << 19, |n| "\r".repeat(n)),
    ("only backslashes", "a.agent", 1 << 19, |n| "\\\n".repeat(n / 2)),
    ("only hashes", "a.agent", 1 << 19, |n| "#".repeat(n)),
    ("lone carriage returns", "a.agent", 1 << 19, |n| "\rk: v".repeat(n / 5)),
    ("binary", "a.agent", 1 << 19, |n| {
        lines(n / 2, |i| {
            u8::try_from((i * 131 + i / 256) % 255 + 1).map_or(' ', char::from).to_string()
        })
    }),
    ("wide characters", "a.agent", 1 << 19, |n| prompt(&format!("| {}", "😀é".repeat(n / 6)))),
    ("one error on each line", "a.agent", 10_000, |n| before(&"set ) = (\n    ".repeat(n))),
];
