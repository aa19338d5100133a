//! Pairs of a defect about values and its near miss, each in a small program and in one of a real size.
//!
//! A text has the pairs of one language. A line `= name` begins a pair, and `[slot]` what it puts in the place of
//! `[[slot]]` in the programs `small` and `large`, indented as the slot is written there. `[files]` are other files of
//! the program. A line with `D|` in front is only in the defect, one with `N|` only in the near miss. ` <<` at the end
//! of a line is where a rule must speak of the defect. The name of a pair that no rule finds yet begins with `open: `.

use crate::check::File;
use std::collections::BTreeMap;

/// The languages: the name of the main file, the two programs, the pairs.
pub const LANGUAGES: [(&str, [&str; 2], &str); 3] = [
    (
        "ledger.agent.abl",
        [
            include_str!("../tests/all/pairs/small.agent.abl"),
            include_str!("../tests/all/pairs/large.agent.abl"),
        ],
        include_str!("../tests/all/pairs/abl.txt"),
    ),
    (
        "ledger.agent",
        [
            include_str!("../tests/all/pairs/small.agent"),
            include_str!("../tests/all/pairs/large.agent"),
        ],
        include_str!("../tests/all/pairs/agent_script.txt"),
    ),
    (
        "ledger.yml",
        [
            include_str!("../tests/all/pairs/small.yml"),
            include_str!("../tests/all/pairs/large.yml"),
        ],
        include_str!("../tests/all/pairs/adl.txt"),
    ),
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

/// A defect and its near miss.
#[derive(Debug)]
pub struct Pair {
    /// What the defect is.
    pub name: String,
    /// Whether no rule finds it yet.
    pub open: bool,
    slots: BTreeMap<String, Vec<String>>,
}

/// The pairs of a text.
#[must_use]
pub fn pairs(text: &str) -> Vec<Pair> {
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

/// One side of a pair, as a program.
#[derive(Debug)]
pub struct Variant {
    /// Its files.
    pub files: Vec<File>,
    /// The marked places, each a file and a line from 1.
    pub marks: Vec<(String, u32)>,
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
    /// The defect or the near miss of a pair in a program.
    #[must_use]
    pub fn new(name: &str, program: &str, pair: &Pair, defect: bool) -> Self {
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
