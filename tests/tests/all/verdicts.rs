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
    RESPOND: "Welcome to the pool"
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
        && !text.contains(['{', '}', '@'])
    {
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
