//! The speed by the size of a file.

use crate::documents::{Document, Rules, documents, load};
use crate::generate::{File, Project};
use crate::measure::{Options, WORK, fastest, megabytes, rate};
use agentir_lint::Selection;
use std::fmt::Write as _;
use std::hint::black_box;

/// The speed of lowering and of checking a file, by its size.
pub(crate) fn table(options: &Options) -> String {
    let mut out = format!("{:<24}{:>12}{:>14}\n", "one file of ABL", "MB/s to IR", "MB/s checked");
    let rules = Rules::new(Selection::default());
    for size in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let file = File { path: "large.agent.abl".to_owned(), text: file_of(size) };
        let bytes = file.text.len();
        let project = Project { name: "large".to_owned(), files: vec![file] };
        let documents: Vec<Document<'_>> = documents(&project).map(Document::new).collect();
        let times = (WORK / size).max(1);
        let lower = fastest(options.rounds, || {
            for _ in 0..times {
                for document in &documents {
                    black_box(document.lower());
                }
            }
        });
        let check = fastest(options.rounds, || {
            for _ in 0..times {
                black_box(rules.check(&load(&project), false));
            }
        });
        let whole = megabytes(bytes * times);
        let _ = writeln!(
            out,
            "{:<24}{:>12.1}{:>14.1}",
            format!("{} KB", bytes / 1000),
            rate(whole, lower),
            rate(whole, check)
        );
    }
    out
}

/// One agent with the fewest steps that make `lines` lines.
pub(crate) fn file_of_lines(lines: usize) -> String {
    let sizes = (1..).map(|step| file_of(step * 500));
    sizes.into_iter().find(|text| text.lines().count() >= lines).unwrap_or_default()
}

/// One agent of about `size` bytes, with more tools, fields and steps the larger it is.
fn file_of(size: usize) -> String {
    let mut tools = String::new();
    let mut gather = String::new();
    let mut flow = String::new();
    let mut n = 0;
    while tools.len() + gather.len() + flow.len() + 150 < size {
        let _ = write!(
            tools,
            "  find_{n}(visit_date_{n}: date) -> {{status: string, count: number}}\n    description: \"Finds what is free on a day\"\n\n"
        );
        let _ = write!(
            gather,
            "  visit_date_{n}:\n    prompt: \"Which day would suit you?\"\n    type: date\n    required: true\n\n"
        );
        let _ = write!(
            flow,
            "  step_{n}:\n    REASONING: false\n    CALL: find_{n}(visit_date_{n})\n    ON_SUCCESS:\n      - IF: find_{n}.status == \"free\" AND find_{n}.count > 3\n        RESPOND: \"There are {{{{find_{n}.count}}}}.\"\n        THEN: step_{}\n      - ELSE:\n        THEN: step_{}\n\n",
            n + 1,
            n + 1
        );
        n += 1;
    }
    format!(
        "AGENT: Large_Agent\n\nGOAL: \"Be as large as asked for\"\n\nTOOLS:\n{tools}GATHER:\n{gather}FLOW:\n{flow}  step_{n}:\n    REASONING: false\n    THEN: COMPLETE\n"
    )
}
