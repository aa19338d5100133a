//! Verdicts on converted outputs: whatever is changed in them by hand is named, and what was not changed is equal.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::{languages, targets};
use agentir_compare::{AnnouncedLosses, Comparison, NormalizedProgram, Side, Verdict, differences};
use agentir_convert::{OutputFile, convert, read_back};
use agentir_diagnostics::{Severity, SourceMap};
use agentir_ir::Program;
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};

/// A program with something of every kind outside of control flow.
const POOL: &str = r#"AGENT: Pool
GOAL: "Lets lanes"
PERSONA: "You help guests."
INSTRUCTIONS: "Be kind to everybody."
LIMITATIONS:
  - "You sell no food."
MEMORY:
  session:
    - count
        TYPE: number
        INITIAL: 7
        DESCRIPTION: "How often somebody asked"
    - hint
        TYPE: string
        INITIAL: "Write {!day} or {{day}}"
TOOLS:
  book(day: string, lane: number) -> {code: string}
    description: "Books a lane"
    type: http
    endpoint: "https://pool.example/book"
    method: POST
    timeout: 5000
GATHER:
  guests:
    type: number
    required: true
    prompt: "How many guests?"
    validation:
      type: range
      rule: "1-9"
      error_message: "Between one and nine."
FLOW:
  entry_point: start
  start:
    REASONING: false
    RESPOND: "Welcome to the pool, {{count}} times"
    CALL: book("monday", 3)
      ON_SUCCESS:
        RESPOND: "That is done"
        THEN: ask
      ON_FAIL:
        RESPOND: "That went wrong"
        THEN: COMPLETE
  ask:
    REASONING: false
    RESPOND: "Anything else today?"
    ON_INPUT:
      - IF: count > 4
        RESPOND: "You asked often"
        THEN: COMPLETE
      - ELSE:
        RESPOND: "Good bye then"
        THEN: COMPLETE
COMPLETE:
  - WHEN: count > 9
    RESPOND: "Enough for now"
"#;

struct Output {
    files: Vec<OutputFile>,
    sources: SourceMap,
    program: Program,
}

fn outputs() -> Vec<(String, Output)> {
    let file = File { name: "pool.agent.abl".to_owned(), text: POOL.to_owned() };
    let source = check(&[file], Options::default());
    let errors: Vec<_> =
        source.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let one = |target| {
        let done = convert(languages(), &source.program, &source.sources, target);
        let output = Output { files: done.files, sources: done.sources, program: done.program };
        (target.name().to_owned(), output)
    };
    targets::all().into_iter().map(one).collect()
}

/// The lines that say something else, where a line has a text, a number, a method or a truth value.
fn mutated(line: &str) -> Vec<String> {
    let start = line.trim_start();
    if start.starts_with('#') || start.starts_with("entry_point") || start.starts_with("then") {
        return Vec::new();
    }
    let mut all = Vec::new();
    // A text of several words: `"You help"` becomes `"You do not help"`.
    if let Some((before, rest)) = line.split_once(" \"")
        && let Some((text, after)) = rest.split_once('"')
    {
        // What only looks like a reference to a variable, and what is one.
        if !text.contains("://") && !text.is_empty() {
            all.push(format!("{before} \"@variables.{text}\"{after}"));
        }
        for [open, close] in [["{!", "}"], ["{{", "}}"]] {
            let inside = text.split_once(open).and_then(|(start, rest)| {
                let (inside, end) = rest.split_once(close)?;
                Some((start, inside, end))
            });
            if let Some((start, inside, end)) = inside {
                let other = if open == "{!" { ["{{", "}}"] } else { ["{!", "}"] };
                let [open, close] = other;
                all.push(format!("{before} \"{start}{open}{inside}{close}{end}\"{after}"));
                all.push(format!("{before} \"{start}{inside}{end}\"{after}"));
            }
        }
        match text.split_once(' ') {
            Some((first, others)) => all.push(format!("{before} \"{first} not {others}\"{after}")),
            None if text.contains("://") => all.push(format!("{before} \"{text}x\"{after}")),
            None => {}
        }
    }
    for (one, other) in [
        ("POST", "GET"),
        ("required: true", "required: false"),
        ("is_required: True", "is_required: False"),
        ("5000", "6000"),
        (" = 7", " = 8"),
        ("INITIAL: 7", "INITIAL: 8"),
        ("initial: 7", "initial: 8"),
        ("> 4", "> 5"),
        ("> 4", ">= 4"),
        ("> 9", "< 9"),
    ] {
        if line.contains(one) && (other != "is_required: False" || !line.contains("True\"")) {
            all.push(line.replacen(one, other, 1));
        }
    }
    all
}

fn compared(one: &Output, other: &Output) -> (Vec<String>, Comparison) {
    let [a, b] = [one, other].map(|output| NormalizedProgram::new(&output.program));
    let paths = differences(&a, &b).into_iter().map(|difference| difference.path).collect();
    let left = Side { program: &one.program, sources: &one.sources, normalized: &a };
    let right = Side { program: &other.program, sources: &other.sources, normalized: &b };
    (paths, Comparison::new(left, right, &AnnouncedLosses::none()))
}

/// Texts with a `not`, numbers, methods, bounds: each change of an output is named, and no output that was changed is
/// said to do the same.
#[test]
fn each_change_of_an_output_is_named() {
    let mut tried = 0;
    let mut problems = Vec::new();
    for (target, output) in outputs() {
        for (at, file) in output.files.iter().enumerate() {
            for (number, line) in file.text.lines().enumerate() {
                for changed in mutated(line) {
                    let mut lines: Vec<&str> = file.text.lines().collect();
                    *lines.get_mut(number).unwrap() = &changed;
                    let text = lines.join("\n") + "\n";
                    let mut files = output.files.clone();
                    files.get_mut(at).unwrap().text = text;
                    let (sources, program, found) = read_back(languages(), &files);
                    if found.iter().any(|d| d.severity == Severity::Error) {
                        continue;
                    }
                    tried += 1;
                    let (paths, comparison) =
                        compared(&output, &Output { files, sources, program });
                    let what = format!("{target}: {} -> {}", line.trim(), changed.trim());
                    if paths.is_empty() {
                        problems.push(format!("{what}: not named"));
                    }
                    if comparison.verdict == Verdict::Same {
                        problems.push(format!("{what}: said to do the same"));
                    }
                    let said = comparison.statements("second");
                    assert_eq!(said.len(), 3, "{what}: {said:?}");
                }
            }
        }
    }
    assert!(tried >= 60, "only {tried} changes could be read");
    assert!(problems.is_empty(), "{} of {tried}:\n{}", problems.len(), problems.join("\n"));
}

/// What was not changed is equal, and said to be.
#[test]
fn an_output_is_equal_to_itself() {
    for (target, output) in outputs() {
        let (sources, program, _) = read_back(languages(), &output.files);
        let other = Output { files: output.files.clone(), sources, program };
        let (paths, comparison) = compared(&output, &other);
        assert_eq!(paths, Vec::<String>::new(), "{target}");
        assert_eq!(comparison.verdict, Verdict::Same, "{target}");
        let said = comparison.statements("second");
        assert!(said.iter().any(|one| one.starts_with("control flow: proved equal")), "{said:?}");
        assert!(said.contains(&"the second is proved to behave the same".to_owned()), "{said:?}");
    }
}

/// The three statements name what differs in a conversion and what nobody compared.
#[test]
fn a_conversion_says_what_it_did_not_compare() {
    let file = File { name: "pool.agent.abl".to_owned(), text: POOL.to_owned() };
    let source = check(&[file], Options::default());
    let mut done = convert(languages(), &source.program, &source.sources, targets::ADL);
    done.verify(&source.program, &source.sources);
    let proof = done.report.proof.as_ref().unwrap();
    let said = proof.statements("output").join("\n");
    assert!(said.contains("what tools do that are declared otherwise: `book`"), "{said}");
    assert!(said.contains("texts that differ, of the agents `Pool`"), "{said}");
    assert!(!said.contains("proved to behave the same"), "{said}");
    // All values that are outside of control flow are counted, and all that differ are in the JSON.
    let json = serde_json::to_value(&done.report).unwrap();
    let values = json.pointer("/proof/values").unwrap();
    assert!(values.pointer("/kept").unwrap().as_u64().unwrap() > 0, "{values}");
    let listed = values.pointer("/different").unwrap().as_array().unwrap().len();
    assert!(said.contains(&format!("{listed} differ")), "{said}");
}

/// A program of one file.
fn read_one(path: &str, text: &str) -> Output {
    let files = vec![OutputFile { path: path.to_owned(), text: text.to_owned() }];
    let (sources, program, found) = read_back(languages(), &files);
    assert!(found.iter().all(|d| d.severity != Severity::Error), "{found:?}\n{text}");
    Output { files, sources, program }
}

/// What looks like a reference to a variable in a text is text: programs that differ in it do not have the same meaning.
#[test]
fn texts_are_compared_as_they_are_written() {
    let desk = |initial: &str, said: &str| {
        let text = format!(
            "AGENT: Desk\nGOAL: \"g\"\nMEMORY:\n  session:\n    - a\n        TYPE: string\n        INITIAL: \"{initial}\"\nFLOW:\n  entry_point: s\n  s:\n    REASONING: false\n    SET: a = \"Now {initial}\"\n    RESPOND: \"{said}\"\n    THEN: COMPLETE\n"
        );
        read_one("desk.agent.abl", &text)
    };
    for [one, other] in [
        [("@variables.id", "Hi"), ("id", "Hi")],
        [("x", "Pay {{a == \"@variables.b\"}}"), ("x", "Pay {{a == \"b\"}}")],
        [("Write {!day}", "Hi"), ("Write {{day}}", "Hi")],
        [("{!@actions.find}", "Hi"), ("find", "Hi")],
    ] {
        let [one, other] = [one, other].map(|(initial, said)| desk(initial, said));
        let (paths, comparison) = compared(&one, &other);
        assert!(!paths.is_empty(), "{}", other.files.first().unwrap().text);
        assert_ne!(comparison.verdict, Verdict::Same);
    }
    // A conversation quotes what the source says.
    let [one, other] = ["Write {!day}", "Write {{day}}"].map(|text| desk(text, "Hi"));
    let (_, comparison) = compared(&one, &other);
    let said = comparison.text(["one", "other"]);
    assert!(said.contains("one: sets `a = \"Now Write {!day}\"`"), "{said}");
}

/// A flow of ADL with a statement.
fn adl(statement: &str) -> Output {
    let text = format!(
        "main:\n  type: flow agent\n  steps:\n    - call: Desk\n\nDesk:\n  type: flow agent\n  description: g\n  args:\n    - vip\n    - count\n  steps:\n{statement}    - return: success\n"
    );
    read_one("agents.yml", &text)
}

/// The program in another language, with nothing lost.
fn converted(program: &Output) -> Output {
    let done = convert(languages(), &program.program, &program.sources, targets::ABL);
    assert_eq!(done.report.losses().count(), 0);
    Output { files: done.files, sources: done.sources, program: done.program }
}

/// A text with a truth value, and a condition that one language cannot evaluate and the other counts as false, are not the
/// same in both, although nothing differs in what is written.
#[test]
fn what_languages_compute_in_their_own_ways_is_not_called_the_same() {
    let same = "    - bot: \"Hello\"\n";
    let text = "    - bot: \"Vip ${vip}\"\n";
    let ordered = "    - if: count > 3\n      then:\n        - bot: \"Many\"\n      else:\n        - bot: \"Few\"\n";
    let member = "    - bot: \"Name ${vip.name}\"\n";
    let of_text = "how truth values and what is not set are written in a text: `vip`";
    let of_value = "also where something cannot be evaluated";
    for (statement, why) in [
        (same, None),
        (text, Some(of_text.to_owned())),
        (ordered, Some(format!("{of_value}: `count > 3`"))),
        (member, Some(format!("{of_value}: `vip.name`"))),
    ] {
        let one = adl(statement);
        let other = converted(&one);
        for (one, other) in [(&one, &other), (&other, &one)] {
            let (paths, comparison) = compared(one, other);
            assert_eq!(paths, Vec::<String>::new(), "{statement}");
            let said = comparison.statements("second").join("\n");
            match &why {
                None => assert_eq!(comparison.verdict, Verdict::Same, "{said}"),
                Some(why) => {
                    assert_eq!(comparison.verdict, Verdict::Undecided, "{statement}: {said}");
                    assert!(said.contains(why), "{said}");
                    assert!(!said.contains("proved to behave the same"), "{said}");
                }
            }
            assert_eq!(
                said.contains("proved equal:"),
                why.as_ref().is_none_or(|why| why == of_text),
                "{said}"
            );
        }
        // One language computes alike.
        let (_, comparison) = compared(&one, &adl(statement));
        assert_eq!(comparison.verdict, Verdict::Same, "{statement}");
    }
}

/// What a tool's declaration does with the result of a call is a part of the call.
#[test]
fn calls_that_set_something_else_are_different() {
    let desk = |key: &str, field: &str| {
        let text = format!(
            "AGENT: Desk\nGOAL: \"g\"\nMEMORY:\n  session:\n    - level\n        TYPE: string\n        INITIAL: \"x\"\nTOOLS:\n  find(day: string) -> {{level: string, other: string}}\n    description: \"Finds\"\n    {key}:\n      set:\n        level: {field}\nFLOW:\n  entry_point: s\n  s:\n    REASONING: false\n    CALL: find(\"monday\")\n    THEN: t\n  t:\n    REASONING: false\n    RESPOND: \"Level {{{{level}}}}\"\n    THEN: COMPLETE\n"
        );
        read_one("desk.agent.abl", &text)
    };
    let one = desk("on_result", "$result.level");
    let (_, comparison) = compared(&one, &desk("on_result", "$result.level"));
    assert_eq!(comparison.verdict, Verdict::Same);
    for other in [desk("on_result", "$result.other"), desk("on_error", "$result.level")] {
        let (_, comparison) = compared(&one, &other);
        assert_eq!(comparison.control_flow, Verdict::Different);
        let said = comparison.text(["one", "other"]);
        assert!(said.contains("one: calls `find(\"monday\")` and then sets `level = "), "{said}");
    }
}

/// The values that a field lists are values of its type: a number is compared as a number. What may be another value is no
/// reason to call two conditions the same: several of them in a list, a default that is not listed, numbers that a model finds.
#[test]
fn conditions_about_listed_values_are_compared_as_they_run() {
    let desk = |field: &str, condition: &str| {
        let text = format!(
            "AGENT: Desk\nGOAL: \"g\"\nGATHER:\n  x:\n    prompt: \"X?\"\n{field}COMPLETE:\n  - WHEN: {condition}\n    RESPOND: \"Found.\"\n"
        );
        read_one("desk.agent.abl", &text)
    };
    for (field, one, other) in [
        ("    type: number\n    options: [1, 2, 3]\n", "x > 1", "x > 2"),
        ("    type: integer\n    options: [1, 2, 3]\n", "x == 1", "x == 2"),
        ("    type: currency\n    options: [10, 20]\n", "x > 5", "x > 15"),
        ("    type: boolean\n    options: [true, false]\n", "x == true", "x == false"),
        ("    options: [1, 2, 3]\n", "x == 1", "x == 2"),
        ("    options: [a, b]\n    list: true\n", "x.contains(\"a\")", "x == \"a\""),
        ("    options: [a, b]\n    default: c\n", "x == \"c\"", "x == \"d\""),
        ("    type: integer\n", "x == 2.5", "x == 3.5"),
    ] {
        let (_, comparison) = compared(&desk(field, one), &desk(field, other));
        assert_ne!(comparison.verdict, Verdict::Same, "{field}{one} / {other}");
        assert_ne!(comparison.control_flow, Verdict::Same, "{field}{one} / {other}");
    }
    // What the field never has makes no difference.
    let field = "    type: number\n    options: [1, 2, 3]\n";
    let (_, comparison) = compared(&desk(field, "x > 1"), &desk(field, "x >= 2"));
    assert_eq!(comparison.control_flow, Verdict::Same);
}

/// Agents may have different tools of one name, in any order.
#[test]
fn tools_of_one_name_are_compared_by_agent() {
    let agent = |name: &str, field: &str| {
        format!(
            "AGENT: {name}\nGOAL: \"g\"\nTOOLS:\n  find(x: string) -> {{{field}: number}}\n    description: \"Finds {field}\"\n"
        )
    };
    let (one, other) = (agent("One", "k"), agent("Other", "m"));
    let program = |files: [&str; 2]| {
        let files: Vec<File> = ["a", "b"]
            .iter()
            .zip(files)
            .map(|(name, text)| File { name: format!("{name}.agent.abl"), text: text.to_owned() })
            .collect();
        check(&files, Options::default()).program
    };
    let (left, right) = (program([&one, &other]), program([&other, &one]));
    let [a, b] = [&left, &right].map(NormalizedProgram::in_any_order);
    assert_eq!(differences(&a, &b).into_iter().map(|d| d.path).collect::<Vec<_>>(), [""; 0]);
    let changed = program([&other, &one.replace("Finds k", "Looks for k")]);
    let found = differences(&a, &NormalizedProgram::in_any_order(&changed));
    assert_eq!(found.len(), 1, "{:?}", found.into_iter().map(|d| d.path).collect::<Vec<_>>());
}

/// What is passed by name may be written in any order; what is passed by its place may not.
#[test]
fn names_tell_what_is_passed() {
    let call = |arguments: &str| {
        read_one(
            "desk.agent.abl",
            &format!(
                "AGENT: Desk\nGOAL: \"g\"\nTOOLS:\n  find(x: string, y: string, z: string) -> {{k: number}}\n    description: \"Finds\"\nFLOW:\n  a:\n    REASONING: false\n    CALL: find({arguments})\n    THEN: COMPLETE\n"
            ),
        )
    };
    let passed = |names: &str| {
        read_one(
            "desk.agent.abl",
            &format!(
                "AGENT: Desk\nGOAL: \"g\"\nMEMORY:\n  session:\n    - a\n    - b\nHANDOFF:\n  - TO: Other\n    WHEN: a IS SET\n    CONTEXT:\n      pass: [{names}]\n"
            ),
        )
    };
    for (same, one, other) in [
        (true, call("x=\"1\", y=\"2\", z=\"3\""), call("z=\"3\", x=\"1\", y=\"2\"")),
        (true, call("\"1\", y=\"2\", z=\"3\""), call("\"1\", z=\"3\", y=\"2\"")),
        (false, call("x=\"1\", y=\"2\", z=\"3\""), call("x=\"2\", y=\"1\", z=\"3\"")),
        (false, call("\"1\", \"2\", \"3\""), call("\"2\", \"1\", \"3\"")),
        (true, passed("a, b"), passed("b, a")),
        (false, passed("a, b"), passed("b")),
    ] {
        let (paths, comparison) = compared(&one, &other);
        let text = &other.files.first().unwrap().text;
        assert_eq!(paths.is_empty(), same, "{text}{paths:?}");
        assert_eq!(comparison.verdict == Verdict::Same, same, "{text}");
    }
}

/// Statements agree with what they summarize: the number of values that differ, how conditions differ, and what is undecided.
#[test]
fn statements_contradict_nothing() {
    let file = File { name: "pool.agent.abl".to_owned(), text: POOL.to_owned() };
    let source = check(&[file], Options::default());
    let done = convert(languages(), &source.program, &source.sources, targets::ADL);
    let changed = POOL.replace("IF: count > 4", "IF: count > 5");
    let other = read_one("pool.agent.abl", &changed);
    let one = read_one("pool.agent.abl", POOL);
    let (_, comparison) = compared(&one, &other);
    let said = comparison.statements("second").join("\n");
    assert!(said.contains("1 condition differs"), "{said}");
    assert!(said.contains("not compared: nothing else"), "{said}");
    // Values are shown as the files have them.
    let output = Output { files: done.files, sources: done.sources, program: done.program };
    let other = POOL.replace("Be kind to everybody.", "Be kind, {{count}}.");
    let other = read_one("pool.agent.abl", &other);
    let (_, comparison) = compared(&other, &output);
    let said = comparison.differing_values(["one", "other"]);
    assert!(said.contains("{{count}}"), "{said}");
}
