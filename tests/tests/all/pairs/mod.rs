//! Pairs of a defect about values and its near miss, each in a small program and in one of a real size.
//!
//! A text has the pairs of one language. A line `= name` begins a pair, and `[slot]` what it puts in the place of
//! `[[slot]]` in the programs `small` and `large`, indented as the slot is written there. `[files]` are other files of
//! the program. A line with `D|` in front is only in the defect, one with `N|` only in the near miss. ` <<` at the end
//! of a line is where a rule must speak of the defect. The name of a pair that no rule finds yet begins with `open: `.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_diagnostics::Severity;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The languages: the name of the main file, the two programs, the pairs.
const LANGUAGES: [(&str, [&str; 2], &str); 3] = [
    (
        "ledger.agent.abl",
        [include_str!("small.agent.abl"), include_str!("large.agent.abl")],
        include_str!("abl.txt"),
    ),
    (
        "ledger.agent",
        [include_str!("small.agent"), include_str!("large.agent")],
        include_str!("agent_script.txt"),
    ),
    ("ledger.yml", [include_str!("small.yml"), include_str!("large.yml")], include_str!("adl.txt")),
];

/// How far the slots of each language's programs are indented.
const SLOTS: [(&str, usize); 9] = [
    ("memory", 4),
    ("steps", 2),
    ("tools", 2),
    ("sections", 0),
    ("vars", 4),
    ("first", 4),
    ("subs", 0),
    ("agents", 0),
    ("args", 4),
];

/// The rules that say something about values, data and signatures.
const RULES: [&str; 29] = [
    "always-true-condition",
    "argument-type",
    "constant-comparison",
    "delegation-cycle",
    "duplicate-workflow",
    "exposed-sensitive-data",
    "handoff-circle",
    "impossible-value",
    "lost-at-handoff",
    "missing-case",
    "never-set",
    "self-assignment",
    "shadowed-completion",
    "shadowed-route",
    "signature-drift",
    "transition-cycle",
    "turnless-cycle",
    "type-mismatch",
    "unavailable-tool",
    "undeclared-arg",
    "undefined-field",
    "undefined-parameter",
    "unknown-argument",
    "unreachable-branch",
    "unreachable-step",
    "unreachable-statement",
    "unreturned-field",
    "unsatisfiable-condition",
    "used-after-clear",
];

struct Pair {
    name: String,
    /// Whether no rule finds it yet.
    open: bool,
    slots: BTreeMap<String, Vec<String>>,
}

fn pairs(text: &str) -> Vec<Pair> {
    let mut all: Vec<Pair> = Vec::new();
    let mut slot = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("= ") {
            let (open, name) = match name.strip_prefix("open: ") {
                Some(name) => (true, name),
                None => (false, name),
            };
            all.push(Pair { name: name.to_owned(), open, slots: BTreeMap::new() });
            slot.clear();
        } else if let Some(pair) = all.last_mut() {
            match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                Some(name) if name.chars().all(|c| c.is_ascii_lowercase()) => {
                    slot = name.to_owned();
                }
                _ if slot.is_empty() || line.is_empty() => {}
                _ => pair.slots.entry(slot.clone()).or_default().push(line.to_owned()),
            }
        }
    }
    all
}

/// A program: its files, and the marked places, each a file and a line from 1.
struct Variant {
    files: Vec<File>,
    marks: Vec<(String, u32)>,
}

/// The lines of a slot in a variant.
fn lines(pair: &Pair, slot: &str, defect: bool) -> Vec<String> {
    let all = pair.slots.get(slot).into_iter().flatten();
    all.filter_map(|line| match (line.strip_prefix("D|"), line.strip_prefix("N|")) {
        (Some(own), _) => defect.then(|| own.to_owned()),
        (_, Some(own)) => (!defect).then(|| own.to_owned()),
        _ => Some(line.clone()),
    })
    .collect()
}

impl Variant {
    fn new(name: &str, program: &str, pair: &Pair, defect: bool) -> Self {
        let mut texts: Vec<(String, Vec<String>)> = vec![(name.to_owned(), Vec::new())];
        for line in program.lines() {
            let slot = line.trim().strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
            let main = &mut texts.first_mut().unwrap().1;
            match slot {
                Some(slot) => {
                    let indent = indent(name, slot);
                    let all = lines(pair, slot, defect).into_iter();
                    main.extend(all.map(|line| format!("{}{line}", " ".repeat(indent))));
                }
                None => main.push(line.to_owned()),
            }
        }
        for line in lines(pair, "files", defect) {
            match line.strip_prefix("--- ") {
                Some(name) => texts.push((name.to_owned(), Vec::new())),
                None => texts.last_mut().unwrap().1.push(line),
            }
        }
        let mut marks = Vec::new();
        let mut files = Vec::new();
        for (name, mut lines) in texts {
            for (at, line) in (1..).zip(&mut lines) {
                if let Some(marked) = line.strip_suffix(" <<") {
                    *line = marked.to_owned();
                    marks.push((name.clone(), at));
                }
            }
            files.push(File { name, text: lines.join("\n") + "\n" });
        }
        Self { files, marks }
    }
}

fn indent(name: &str, slot: &str) -> usize {
    let adl_step = name.ends_with(".yml") && slot == "steps";
    if adl_step {
        return 4;
    }
    SLOTS.iter().find(|(known, _)| *known == slot).unwrap_or_else(|| panic!("no slot {slot}")).1
}

/// The findings of the rules about values: where, and as a line.
fn findings(checked: &Checked) -> Vec<((String, u32), String)> {
    let all = checked.diagnostics.iter();
    all.filter(|d| RULES.contains(&d.rule.0))
        .map(|d| {
            let (name, line) = checked.place(d.primary.span);
            ((name.to_owned(), line), checked.line(d))
        })
        .collect()
}

#[test]
fn defects_are_found_and_near_misses_are_not() {
    let mut problems = String::new();
    let mut table = String::new();
    for (name, programs, text) in LANGUAGES {
        let all = pairs(text);
        let mut found = 0;
        for pair in &all {
            for (size, program) in ["small", "large"].into_iter().zip(programs) {
                let what = format!("{name}, {size}, {}", pair.name);
                let defect = Variant::new(name, program, pair, true);
                let near = Variant::new(name, program, pair, false);
                assert!(!defect.marks.is_empty(), "{what}: nothing is marked");
                for variant in [&defect, &near] {
                    let checked = check(&variant.files, Options::default());
                    let errors = checked.diagnostics.iter();
                    let others = errors.filter(|d| !RULES.contains(&d.rule.0));
                    for d in others.filter(|d| d.severity == Severity::Error) {
                        writeln!(problems, "{what}: {}", checked.line(d)).unwrap();
                    }
                }
                let said = findings(&check(&defect.files, Options::default()));
                let is_found = said.iter().any(|(at, _)| defect.marks.contains(at));
                found += usize::from(is_found);
                if is_found == pair.open {
                    let verb = if is_found { "found now" } else { "missed" };
                    writeln!(problems, "{what}: {verb}").unwrap();
                }
                for (_, line) in said.iter().filter(|(at, _)| !defect.marks.contains(at)) {
                    writeln!(problems, "{what}, beside the mark: {line}").unwrap();
                }
                for (_, line) in findings(&check(&near.files, Options::default())) {
                    writeln!(problems, "{what}, near miss: {line}").unwrap();
                }
            }
        }
        writeln!(table, "{name}: {found} of {}", 2 * all.len()).unwrap();
    }
    assert!(problems.is_empty(), "{table}{problems}");
}
