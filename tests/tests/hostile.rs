//! Texts that nobody writes on purpose, or only to do harm: nothing overflows, nothing takes more
//! than its share of time. Each is made in two sizes; the larger may take as much longer as it is
//! larger, with a generous margin.

#![allow(clippy::panic, reason = "tests end by panicking")]

use agentir_lint::Selection;
use agentir_syntax::abl::Options;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The name of the file, how large the larger text is, and what makes a text of a size.
type Case = (&'static str, &'static str, usize, fn(usize) -> String);

/// How much longer a text four times as large may take, beyond four times as long.
const MARGIN: f64 = 3.0;
/// What is always allowed, so that small times are not compared.
const FREE: Duration = Duration::from_millis(150);
/// When a text is given up.
const GIVE_UP: Duration = Duration::from_secs(15);

fn agent(rest: &str) -> String {
    format!("AGENT: A\nGOAL: \"g\"\n{rest}")
}

fn lines(n: usize, mut line: impl FnMut(usize) -> String) -> String {
    (0..n).map(|i| line(i)).collect()
}

fn around(n: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

const CASES: &[Case] = &[
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

fn time(name: &'static str, text: String) -> Result<Duration, String> {
    let (send, receive) = mpsc::channel();
    // As much stack as a worker of the command line has.
    let worker = thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let start = Instant::now();
        let file = agentir_tests::check::File { name: name.to_owned(), text };
        let checked = agentir_tests::check::check(&[file], Options::default());
        let _ = send.send((start.elapsed(), checked.diagnostics.len()));
    });
    worker.map_err(|e| e.to_string())?;
    match receive.recv_timeout(GIVE_UP) {
        Ok((took, _)) => Ok(took),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("was given up after {GIVE_UP:?}")),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("panicked".to_owned()),
    }
}

#[test]
fn time_grows_with_size() {
    let only = std::env::var("AGENTIR_HOSTILE").ok();
    let mut problems = Vec::new();
    for (what, name, size, make) in CASES {
        if only.as_ref().is_some_and(|only| only != what) {
            continue;
        }
        let (small, large) = (make(size / 4), make(*size));
        let factor = large.len() as f64 / small.len() as f64;
        // Twice, because somebody else may have been at work; the faster one counts.
        let run = |text: &str| {
            let first = time(name, text.to_owned())?;
            if first > Duration::from_secs(5) {
                return Ok(first);
            }
            Ok::<_, String>(first.min(time(name, text.to_owned())?))
        };
        let (a, b) = (run(&small), run(&large));
        eprintln!("{:>9} bytes {a:>12.1?} {b:>12.1?}  {what}", large.len());
        match (a, b) {
            (Ok(a), Ok(b)) => {
                if b > FREE && b.as_secs_f64() > a.as_secs_f64() * factor * MARGIN {
                    problems.push(format!(
                        "{what}: {} bytes took {a:?}, {} bytes {b:?}",
                        small.len(),
                        large.len()
                    ));
                }
            }
            (a, b) => problems
                .extend([a, b].into_iter().filter_map(Result::err).map(|e| format!("{what}: {e}"))),
        }
    }
    assert!(problems.is_empty(), "time does not grow with size:\n  {}\n", problems.join("\n  "));
}

#[test]
fn odd_files_are_answered() {
    for text in [
        "",
        "\n",
        "\r",
        "\0",
        "\u{feff}",
        "-",
        ":",
        "|",
        "\"",
        "AGENT",
        "AGENT:",
        "---",
        "- -",
        "AGENT: A\0",
    ] {
        for name in ["a.abl", "a.yaml"] {
            let file = agentir_tests::check::File { name: name.to_owned(), text: text.to_owned() };
            for fragment in [false, true] {
                let options = Options { fragment, ..Options::default() };
                let checked = agentir_tests::check::check(std::slice::from_ref(&file), options);
                let silent = checked.diagnostics.is_empty() && checked.program.agents.is_empty();
                assert!(
                    fragment || !silent,
                    "{text:?} in {name} gives neither an agent nor a finding"
                );
            }
        }
    }
}

#[test]
fn many_agents_are_one_program() {
    // Rules that look at all agents together must not look at all pairs.
    let program = |n: usize| {
        let mut program = agentir_ir::Program { complete: true, ..agentir_ir::Program::default() };
        for i in 0..n {
            let text = format!(
                "AGENT: A{i}\nGOAL: \"g\"\nHANDOFF:\n  - TO: A{}\n    WHEN: x == 1\n",
                (i + 1) % n
            );
            let id = agentir_diagnostics::FileId(u32::try_from(i).unwrap_or(0));
            let lowered = agentir_lower::abl(id, "a.abl", &text, Options::default());
            if let Some(agentir_lower::Unit::Agent(agent)) = lowered.unit {
                program.agents.push(*agent);
            }
        }
        let start = Instant::now();
        let _ = agentir_lint::check(&program, &[], &Selection::default());
        start.elapsed()
    };
    let (small, large) = (program(2_000), program(8_000));
    assert!(
        large < FREE || large.as_secs_f64() < small.as_secs_f64() * 4.0 * MARGIN,
        "2,000 agents took {small:?}, 8,000 took {large:?}"
    );
}
