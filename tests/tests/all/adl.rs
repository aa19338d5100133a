//! ADL: our own samples, the external corpus, and what nobody writes on purpose.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_diagnostics::Severity;
use agentir_ir::Statement;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check, json};
use agentir_tests::samples::{adl, external_root};
use agentir_tests::{expect, words};
use cpu_time::ThreadTime;
use rayon::prelude::*;

fn run(files: &[File]) -> Checked {
    check(files, Options::default())
}

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

fn one(text: &str) -> Checked {
    run(&[File { name: "agents.yml".to_owned(), text: text.to_owned() }])
}

fn found(checked: &Checked) -> Vec<(&'static str, u32)> {
    checked.diagnostics.iter().map(|d| (d.rule.0, checked.place(d.primary.span).1)).collect()
}

#[test]
fn valid_samples_have_no_findings() {
    let problems: Vec<String> = adl("valid").iter().flat_map(|files| run(files).lines()).collect();
    report("findings in correct samples", &problems);
}

#[test]
fn invalid_samples_have_the_findings_they_expect() {
    let problems: Vec<String> =
        adl("invalid").iter().flat_map(|files| expect::differences(files, &run(files))).collect();
    report("differences", &problems);
}

/// Third-party samples, by their path in the corpus.
fn third_party(path: &str) -> Checked {
    run(&others_files(path))
}

fn others_files(path: &str) -> Vec<File> {
    let folder = external_root().join("adl").join(path);
    let mut names: Vec<_> = if folder.is_dir() {
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect()
    } else {
        vec![folder]
    };
    names.retain(|n| n.extension().is_some_and(|e| e == "yml" || e == "yaml" || e == "py"));
    names.sort();
    names
        .iter()
        .map(|n| File {
            name: n.file_name().unwrap().to_str().unwrap().to_owned(),
            text: std::fs::read_to_string(n).unwrap(),
        })
        .collect()
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn the_loop_of_the_papers_case_study_is_found_and_its_guarded_twin_has_none() {
    let buggy = third_party("paper/retail_banking_D1.yml");
    let loops: Vec<_> = buggy.diagnostics.iter().filter(|d| d.rule.0 == "prompt-loop").collect();
    let [found] = loops.as_slice() else { panic!("{loops:?}") };
    assert!(found.message.contains("`transfer_money` → `add_payee` → `transfer_money`"));
    let slice = |span| buggy.sources.slice(span);
    assert_eq!(
        slice(found.primary.span),
        "Prompt the user to enter the \"add payee\" agent and exit this agent."
    );
    assert_eq!(
        found.labels.iter().map(|l| slice(l.span)).collect::<Vec<_>>(),
        ["Ask the user if they need to make a transfer; if so, enter the transfer_money agent."]
    );
    let note = found.note.as_deref().unwrap_or_default();
    for cut in [
        "5, 6a, 6b, 7, 8a, 8b and 9 of `transfer_money` are never reached",
        "`action_process_immediate_payment`",
    ] {
        assert!(note.contains(cut), "{note}");
    }
    let fixed = third_party("paper/retail_banking_D1_fixed_control.yml");
    assert!(fixed.diagnostics.iter().all(|d| d.rule.0 != "prompt-loop"), "{:?}", fixed.lines());
}

/// The rule, the line, and why it is true.
type Reviewed = (&'static str, u32, &'static str);

/// What is found in third-party bots, by the bot: rule, line, and why it is true. A finding of
/// [`EVERYWHERE`] is not listed.
const BOTS: &[(&str, &[Reviewed])] = &[
    ("mica/bookstore", &[]),
    ("mica/custom_llm_example", &[]),
    ("mica/customer_service", &[]),
    ("mica/database_experiment_agent", &[]),
    ("mica/insurance_bot", &[]),
    ("mica/kb_agent_example", &[]),
    ("mica/middleman/flow_agent_impl.yaml", &[("syntax-error", 1, "nothing but a comment")]),
    ("mica/middleman/llm_agent_impl.yaml", &[]),
    (
        "mica/retail_banking",
        &[
            ("unlisted-tool", 17, "`action_ask_account_from` is called and not in `uses`"),
            ("typographic-punctuation", 62, "`｜` in place of `|`"),
        ],
    ),
    (
        "mica/shopping_assistant",
        &[
            ("unreachable-statement", 13, "the `if` stands behind `next: discount`"),
            ("mica-condition", 13, "`discount.success` compares nothing"),
            ("mica-nested-else", 16, "the `else` is inside the `then` of line 11"),
            ("undefined-tool", 31, "`start` is a label, not a function"),
            ("unknown-field", 32, "`tries` belongs to `next`, not to `call`"),
            ("mica-policy", 43, "the user would read the policy itself"),
        ],
    ),
    (
        "mica/third_party/dental_assistant",
        &[
            ("prompt-steps", 33, "two steps are called 6"),
            ("unclosed-backtick", 83, "no backtick behind `action_send_notification(…)`"),
        ],
    ),
    ("mica/transfer_money", &[("mica-policy", 20, "MICA's `exit` is a timer of its own")]),
    (
        "paper/bookstore_E.yml",
        &[
            ("mica-source", 24, "a single file"),
            ("mica-source", 25, "an address without `https://`"),
            ("mica-policy", 55, "the user would read the policy itself"),
            ("mica-call", 69, "MICA keeps the answer of a kb agent to itself"),
        ],
    ),
    ("paper/block_card_flow_F22.yml", &[]),
    ("paper/block_card_llm_F22.yml", &[("mica-prompt", 18, "`${reason_for_blocking}`")]),
    ("paper/remove_payee_flow_F1.yml", &[]),
    (
        "paper/retail_banking_D1.yml",
        &[
            ("unlisted-tool", 9, "`action_ask_account_from` is called and not in `uses`"),
            ("prompt-loop", 11, "the mistake of the paper's case study"),
            ("unmentioned-tool", 32, "the case study took `action_check_payee_existence` out"),
            ("mica-knowledge", 38, "`meta` does not contain `kb`"),
            ("mica-source", 40, "MICA takes `file` for a list of letters"),
            ("undeclared-arg", 166, "`block_card` has no `username`"),
        ],
    ),
    (
        "paper/retail_banking_D1_fixed_control.yml",
        &[
            ("unlisted-tool", 7, "`action_ask_account_from` is called and not in `uses`"),
            ("mica-knowledge", 37, "`meta` does not contain `kb`"),
            ("mica-source", 39, "MICA takes `file` for a list of letters"),
            ("undeclared-arg", 164, "`block_card` has no `username`"),
        ],
    ),
];

/// Differences of MICA that many bots come across, at information level, by rule and the beginning of
/// the message, with the reason.
const EVERYWHERE: &[(&str, &str, &str)] = &[
    ("mica-tries", "MICA jumps back", "MICA counts jumps, the paper attempts"),
    (
        "mica-policy",
        "MICA raises an error when",
        "no `fallback`: `ensemble_agent.py` has no answer",
    ),
    ("mica-config", "MICA's server does not forward", "the server forwards `llm` alone"),
];

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn what_is_found_in_bots_of_others_is_true() {
    let mut problems = Vec::new();
    for (path, reviewed) in BOTS {
        let checked = third_party(path);
        let everywhere = |d: &agentir_diagnostics::Diagnostic| {
            d.severity == Severity::Info
                && EVERYWHERE
                    .iter()
                    .any(|(rule, message, _)| d.rule.0 == *rule && d.message.starts_with(message))
        };
        let mut expected: Vec<(&str, u32)> = reviewed.iter().map(|(r, l, _)| (*r, *l)).collect();
        for finding in checked.diagnostics.iter().filter(|d| !everywhere(d)) {
            let found = (finding.rule.0, checked.place(finding.primary.span).1);
            match expected.iter().position(|e| *e == found) {
                Some(at) => drop(expected.remove(at)),
                None => problems.push(format!("{path}, not reviewed: {}", checked.line(finding))),
            }
        }
        problems.extend(expected.iter().map(|(r, l)| format!("{path}:{l} {r} is not found")));
        // One of the files is a comment from beginning to end.
        let loads = !checked.program.agents.is_empty() || path.ends_with("flow_agent_impl.yaml");
        problems.extend((!loads).then(|| format!("{path} has no agents")));
    }
    report("differences from what was reviewed", &problems);
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn every_bot_of_others_is_reviewed() {
    let root = external_root();
    let mut open = vec![root.join("adl")];
    let mut problems = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        let bot = path.extension().is_some_and(|e| e == "yml" || e == "yaml");
        if bot && path.file_name().is_some_and(|n| n != "config.yml") {
            let name = path.strip_prefix(root.join("adl")).unwrap().display().to_string();
            let listed =
                BOTS.iter().any(|(bot, _)| name == *bot || name.starts_with(&format!("{bot}/")));
            problems.extend((!listed).then_some(name));
        }
    }
    report("bots that nobody has looked at", &problems);
}

/// The words that are lost of some files. A `main` that only calls is the entry of the program, so
/// nothing is called `main` then, and no flow is its own.
fn lost(files: &[File]) -> Vec<String> {
    let program = run(files).program;
    let entry = program.agent("main").is_none();
    let otherwise = |lost: &String| {
        entry && ["main", "flow"].iter().any(|word| lost.starts_with(&format!("`{word}` ")))
    };
    // The first of the attempts in `tries` is no jump.
    let mut attempts = json(&program);
    count_attempts(&mut attempts);
    words::lost(files, &attempts).into_iter().filter(|l| !otherwise(l)).collect()
}

/// Counts attempts in place of jumps. Recursive; only for our test data.
fn count_attempts(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            if let Some(times) = fields.get("times").and_then(serde_json::Value::as_u64) {
                fields.insert("times".to_owned(), (times + 1).into());
            }
            fields.values_mut().for_each(count_attempts);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(count_attempts),
        _ => {}
    }
}

#[test]
fn nothing_of_ours_is_lost() {
    let problems: Vec<String> = adl("valid").iter().flat_map(|files| lost(files)).collect();
    report("words that are not in the IR", &problems);
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn nothing_of_others_is_lost() {
    let mut problems = Vec::new();
    for (path, _) in BOTS {
        problems.extend(lost(&others_files(path)).into_iter().map(|l| format!("{path}: {l}")));
    }
    report("words that are not in the IR", &problems);
}

#[test]
fn damaged_samples_are_read() {
    damaged_files_are_read(adl("valid").into_iter().chain(adl("invalid")).flatten().collect());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn damaged_samples_of_others_are_read() {
    damaged_files_are_read(BOTS.iter().flat_map(|(path, _)| others_files(path)).collect());
}

/// Reads each prefix of each file, and each file with one character missing: at every character with
/// `AGENTIR_DENSE=1`, otherwise at some.
fn damaged_files_are_read(files: Vec<File>) {
    let stride = if std::env::var_os("AGENTIR_DENSE").is_some() { 1 } else { 131 };
    let problems: Vec<String> = files
        .par_iter()
        .flat_map_iter(|file| {
            let ends = (0..file.text.len()).filter(|at| file.text.is_char_boundary(*at));
            ends.step_by(stride).flat_map(move |at| {
                let prefix = file.text[..at].to_owned();
                let rest = file.text[at..].chars().skip(1).collect::<String>();
                let hole = format!("{prefix}{rest}");
                [("up to", prefix), ("without", hole)].into_iter().flat_map(move |(what, text)| {
                    let damaged = File { name: file.name.clone(), text };
                    misplaced(&damaged)
                        .into_iter()
                        .map(move |m| format!("{} {what} {at}: {m}", file.name))
                })
            })
        })
        .collect();
    report("damaged samples that are not answered well", &problems);
}

/// Reads a text, and tells which findings lie outside of it.
fn misplaced(file: &File) -> Vec<String> {
    let checked = run(std::slice::from_ref(file));
    let _ = json(&checked.program);
    let mut wrong = Vec::new();
    for d in &checked.diagnostics {
        let spans = std::iter::once(d.primary.span).chain(d.labels.iter().map(|l| l.span));
        for span in spans {
            let text = checked.sources.get(span.file).map(|f| &f.text[..]);
            if text.is_none_or(|t| t.get(span.range()).is_none()) {
                wrong.push(format!("{} at {span:?}", d.rule.0));
            }
        }
    }
    wrong
}

#[test]
fn a_flow_becomes_a_graph_of_steps() {
    let text = "main:\n  type: flow agent\n  args: [code]\n  steps:\n    - label: again\n    - bot: \"Code? ${code}\"\n    - user\n    - if: code != \"x\"\n      then:\n        - next: again\n          tries: 3\n    - return: error, wrong\n";
    let checked = one(text);
    let agent = checked.program.agent("main").unwrap();
    let flow = agent.flow.as_ref().unwrap();
    let names: Vec<_> = flow.definitions.keys().map(|k| k.as_str()).collect();
    assert_eq!(names, ["steps", "again"]);
    let body = &flow.definitions["again"].body.0;
    let [Statement::Respond(said), Statement::Await { branches }, Statement::Goto(end)] =
        body.as_slice()
    else {
        panic!("{body:?}")
    };
    assert_eq!(said.text.as_ref().unwrap().text.value, "Code? {{code}}");
    assert!(matches!(branches[0].body.0.as_slice(), [Statement::Repeat { times: 2, .. }]));
    assert_eq!(end.target.to_string(), "FAIL");
    assert_eq!(end.reason.as_ref().unwrap().value, "wrong");
}

#[test]
fn bindings_and_knowledge_are_in_the_ir() {
    let files =
        adl("valid").into_iter().find(|f| f.iter().any(|f| f.name.contains("ferry"))).unwrap();
    let checked = run(&files);
    let harbour = checked.program.agent("harbour").unwrap();
    let bound: Vec<_> = harbour
        .coordination
        .handoffs
        .iter()
        .flat_map(|h| &h.context.bindings)
        .map(|b| (b.variable.value.to_string(), b.value.to_string(), b.by_reference))
        .collect();
    let text = |s: &str| s.to_owned();
    assert_eq!(
        bound,
        [(text("passenger"), text("passenger"), true), (text("owner"), text("passenger"), false)]
    );
    let known = checked.program.agent("timetable").unwrap().knowledge.as_ref().unwrap();
    assert_eq!((known.sources.len(), known.questions.len()), (2, 1));
    // `main` only calls it.
    assert_eq!(checked.program.entry().unwrap().metadata.name.value, "harbour");
    assert!(checked.program.agent("main").is_none());
}

#[test]
fn fields_that_the_tables_do_not_have_are_kept() {
    let checked = one("main:\n  type: llm agent\n  prompt: Hi\n  colour: green\n");
    assert!(json(&checked.program).to_string().contains("green"));
    assert!(found(&checked).contains(&("unknown-field", 4)));
}

#[test]
fn a_pattern_that_only_python_knows_is_not_judged() {
    let text = "main:\n  type: flow agent\n  args: [x]\n  steps:\n    - call: main2\n    - if: re.match(\"(?=a)(?P<n>b)(?P=n)\", x)\n      then:\n        - user\nmain2:\n  type: llm agent\n  prompt: Hi\n";
    assert_eq!(found(&one(text)), []);
}

/// What checking a text gives, and how long it took.
fn timed(text: &str) -> std::time::Duration {
    let start = ThreadTime::now();
    let _ = one(text);
    start.elapsed()
}

/// A name, how large the larger text is, and what makes a text of a size.
type Size = (&'static str, usize, fn(usize) -> String);

/// Texts that are each made in two sizes.
const SIZES: &[Size] = &[
    ("steps", 10_000, |n| flow(&"    - bot: \"Hello\"\n    - user\n".repeat(n / 2))),
    ("labels and jumps", 4_000, |n| {
        flow(&lines(n / 2, |i| format!("    - label: l{i}\n    - next: l{}\n", i / 2)))
    }),
    ("conditions", 4_000, |n| {
        flow(&lines(n / 4, |i| {
            format!("    - if: x == {i}\n      then:\n        - next: l{i}\n    - label: l{i}\n")
        }))
    }),
    ("calls in a loop", 4_000, |n| {
        flow(&format!("    - label: a\n{}    - user\n    - next: a\n", "    - call: f\n".repeat(n)))
    }),
    ("subflows", 3_000, |n| {
        flow(&format!("    - user\n{}", lines(n, |i| format!("  s{i}:\n    - next: s{}\n", i + 1))))
    }),
    ("agents that call each other", 3_000, |n| {
        let agent = |i| format!("a{i}:\n  type: flow agent\n  steps:\n    - call: a{}\n", i + 1);
        format!("main:\n  type: flow agent\n  steps:\n    - call: a0\n{}", lines(n, agent))
    }),
    ("agents that name each other", 2_000, |n| {
        let agent = |i: usize| {
            format!(
                "agent_{i}:\n  type: llm agent\n  prompt: Enter the agent_{} agent.\n",
                (i + 1) % n
            )
        };
        lines(n, agent)
    }),
    ("agents that name one", 2_000, |n| {
        lines(n, |i| format!("agent_{i}:\n  type: llm agent\n  prompt: Enter the agent_0 agent.\n"))
    }),
    ("ensembles", 2_000, |n| {
        lines(n, |i| {
            format!("e{i}:\n  type: ensemble agent\n  contains:\n    - e{}\n    - e0\n", i + 1)
        })
    }),
    ("a long prompt", 100_000, |n| {
        prompt(&"    1. If it rains, enter the b agent. Call \"f_g\".\n".repeat(n / 50))
    }),
    ("a long line in a prompt", 100_000, |n| {
        prompt(&format!("    {}\n", "go to the step 4 `a_b` ".repeat(n / 24)))
    }),
    ("exits", 100_000, |n| {
        prompt(&lines(n / 40, |i| {
            format!("    {}. Proceed to step {i}. Exit this agent.\n", i % 900)
        }))
    }),
    ("holes", 100_000, |n| flow(&format!("    - bot: \"{}\"\n", "${a} ".repeat(n / 5)))),
    ("a huge scalar", 2_000_000, |n| flow(&format!("    - bot: \"{}\"\n", "word ".repeat(n / 5)))),
    ("nested conditions", 40, |n| {
        flow(&lines(n, |i| format!("{0}- if: x == 1\n{0}  then:\n", "    ".repeat(i + 1))))
    }),
    ("flow collections", 2_000, |n| format!("a: {}{}\n", "{b: ".repeat(n), "}".repeat(n))),
    ("aliases", 400, |n| {
        format!(
            "l0: &l0 [x, x]\n{}",
            lines(n, |i| format!("l{}: &l{} [*l{i}, *l{i}]\n", i + 1, i + 1))
        )
    }),
    ("aliases of steps", 2_000, |n| {
        flow(&format!("    - &s\n      bot: \"Hello\"\n{}", "    - *s\n".repeat(n)))
    }),
    ("anchors", 3_000, |n| flow(&lines(n, |i| format!("    - &a{i} user\n")))),
    ("arguments", 3_000, |n| {
        let args = lines(n, |i| format!("    - arg_{i}\n"));
        let set = lines(n, |i| format!("        arg_{i}: arg_{}\n", i + 1));
        format!("main:\n  type: flow agent\n  args:\n{args}  steps:\n    - set:\n{set}")
    }),
    ("unknown arguments", 1_000, |n| {
        let args = lines(n, |i| format!("    - arg_{i}\n"));
        let set = lines(n, |i| format!("        agr_{i}: x_{i}\n"));
        format!("main:\n  type: flow agent\n  args:\n{args}  steps:\n    - set:\n{set}")
    }),
    ("members", 3_000, |n| {
        format!(
            "main:\n  type: ensemble agent\n  contains:\n{}",
            lines(n, |i| format!("    - a{i}:\n        args:\n          x: ref x\n"))
        )
    }),
    ("settings", 3_000, |n| lines(n, |i| format!("llm{i}:\n  chat: x\n"))),
];

fn lines(n: usize, line: impl FnMut(usize) -> String) -> String {
    (0..n).map(line).collect()
}

fn flow(steps: &str) -> String {
    format!("main:\n  type: flow agent\n  steps:\n{steps}")
}

fn prompt(text: &str) -> String {
    format!(
        "a:\n  type: llm agent\n  prompt: |\n{text}b:\n  type: llm agent\n  prompt: Call the a agent.\n"
    )
}

#[test]
fn time_grows_with_the_text_and_no_faster() {
    let mut problems = Vec::new();
    for (name, size, text) in SIZES {
        let (small, large) = (text(size / 4), text(*size));
        let free = std::time::Duration::from_millis(400);
        // Measured again if it is too long: something else may have taken the processors.
        let measured = (0..3).map(|_| (timed(&small), timed(&large)));
        let all = measured.take_while(|(before, after)| {
            *after > free && after.as_secs_f64() > before.as_secs_f64() * 10.0
        });
        let slow: Vec<_> = all.collect();
        if slow.len() == 3 {
            problems.push(format!("{name}, a quarter and all: {slow:?}"));
        }
    }
    report("texts that take more than their share of time", &problems);
}
