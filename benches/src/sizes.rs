//! How the speed changes with the size of one file.

use crate::documents::Document;
use crate::generate::File;
use crate::measure::{Options, WORK, fastest, megabytes, rate};
use agentir_diagnostics::FileId;
use agentir_ir::Program;
use agentir_lint::Selection;
use std::fmt::Write as _;
use std::hint::black_box;

/// How fast one file is lowered and checked, by its size.
pub(crate) fn table(options: &Options) -> String {
    let mut out = format!("{:<24}{:>12}{:>14}\n", "one file of ABL", "MB/s to IR", "MB/s checked");
    for size in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let file = File { path: "large.agent.abl".to_owned(), text: file_of(size) };
        let document = Document::new(&file);
        let times = (WORK / size).max(1);
        let lower = fastest(options.rounds, || {
            for _ in 0..times {
                black_box(document.lower(FileId(0)));
            }
        });
        let check = fastest(options.rounds, || {
            for _ in 0..times {
                let (mut program, mut versions) = (Program::default(), Vec::new());
                document.lower(FileId(0)).add_to(&mut program, &mut versions);
                black_box(agentir_lint::check(&program, &versions, &[], &Selection::default()));
            }
        });
        let whole = megabytes(file.text.len() * times);
        let _ = writeln!(
            out,
            "{:<24}{:>12.1}{:>14.1}",
            format!("{} KB", file.text.len() / 1000),
            rate(whole, lower),
            rate(whole, check)
        );
    }
    out
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
