//! How fast each phase reads made-up projects, and how that changes with the size of one file.

use crate::generate::{self, Project};
use agentir_diagnostics::FileId;
use agentir_ir::Program;
use agentir_lint::Selection;
use agentir_lower::Unit;
use agentir_syntax::abl::{Arena, Format, Options as Reading};
use agentir_syntax::outline;
use rayon::prelude::*;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many documents.
    pub files: usize,
    /// What they are made from.
    pub seed: u64,
    /// How often each measurement is repeated; the fastest counts.
    pub rounds: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { files: 10_000, seed: 1, rounds: 3 }
    }
}

/// A document in memory.
struct Document<'p> {
    name: &'p str,
    text: &'p str,
    format: Format,
}

impl<'p> Document<'p> {
    fn new(name: &'p str, text: &'p str) -> Self {
        let format = if name.ends_with(".yaml") { Format::Yaml } else { Format::Abl };
        Self { name, text, format }
    }

    /// Lines and columns to tokens; YAML, which has a lexer of its own, up to its outline.
    fn lex(&self) {
        match self.format {
            Format::Abl => {
                black_box(outline::count_tokens(self.text));
            }
            Format::Yaml => self.outline(),
        }
    }

    /// To the outline.
    fn outline(&self) {
        let mut problems = Vec::new();
        black_box(match self.format {
            Format::Abl => outline::parse(FileId(0), self.text, &mut problems),
            Format::Yaml => outline::parse_yaml(FileId(0), self.text, &mut problems),
        });
    }

    /// To the typed tree.
    fn parse(&self) {
        let mut problems = Vec::new();
        let outline = match self.format {
            Format::Abl => outline::parse(FileId(0), self.text, &mut problems),
            Format::Yaml => outline::parse_yaml(FileId(0), self.text, &mut problems),
        };
        let arena = Arena::new();
        black_box(agentir_syntax::abl::read(
            &outline,
            self.format,
            Reading::default(),
            &arena,
            &mut problems,
        ));
    }

    /// To the IR.
    fn lower(&self, file: FileId) -> agentir_lower::Lowered {
        agentir_lower::abl(file, self.name, self.text, Reading::default())
    }
}

/// A project's documents as one program.
fn program(project: &Project) -> (Program, Vec<agentir_syntax::abl::schema::Version>) {
    let mut program = Program { complete: true, ..Program::default() };
    let mut versions = Vec::new();
    let documents = project.files.iter().filter(|f| !f.path.ends_with(".json"));
    for (file, id) in documents.zip(0..) {
        let lowered = Document::new(&file.path, &file.text).lower(FileId(id));
        match lowered.unit {
            Some(Unit::Agent(agent)) => {
                program.agents.push(*agent);
                versions.push(lowered.version);
            }
            Some(Unit::Profile(profile)) => program.profiles.push(*profile),
            Some(Unit::Agents(agents, _)) => program.agents.extend(agents),
            Some(Unit::Tools(library)) => program.libraries.push(library),
            None => {}
        }
    }
    (program, versions)
}

fn fastest(rounds: usize, mut run: impl FnMut()) -> Duration {
    (0..rounds.max(1))
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// Runs `work` on each of `all`, on this thread alone or on all of them.
fn each<T: Sync>(all: &[T], threads: bool, work: impl Fn(&T) + Send + Sync) {
    if threads {
        all.par_iter().for_each(work);
    } else {
        all.iter().for_each(work);
    }
}

/// Measures everything and writes a table. Each phase includes those above it, except the rules,
/// which start from programs that are lowered already.
#[must_use]
pub fn table(options: &Options) -> String {
    let projects = generate::projects(options.files, options.seed);
    let documents: Vec<Document<'_>> = projects
        .iter()
        .flat_map(|p| &p.files)
        .filter(|f| !f.path.ends_with(".json"))
        .map(|f| Document::new(&f.path, &f.text))
        .collect();
    let bytes: usize = documents.iter().map(|d| d.text.len()).sum();
    let programs: Vec<_> = projects.iter().map(program).collect();
    let threads = rayon::current_num_threads();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} documents, {:.1} MB, {:.1} KB each\n\n{:<28}{:>12}{:>12}{:>16}{:>12}",
        documents.len(),
        megabytes(bytes),
        bytes as f64 / 1e3 / documents.len().max(1) as f64,
        "phase",
        "MB/s, one",
        "files/s",
        format!("MB/s, {threads} threads"),
        "files/s"
    );
    let mut row = |name: &str, run: &dyn Fn(bool)| {
        let one = fastest(options.rounds, || run(false));
        let all = fastest(options.rounds, || run(true));
        let _ = writeln!(
            out,
            "{name:<28}{:>12.1}{:>12.0}{:>16.1}{:>12.0}",
            rate(megabytes(bytes), one),
            rate(documents.len() as f64, one),
            rate(megabytes(bytes), all),
            rate(documents.len() as f64, all),
        );
    };
    row("lex", &|threads| each(&documents, threads, Document::lex));
    row("… to the outline", &|threads| each(&documents, threads, Document::outline));
    row("… to the typed tree", &|threads| each(&documents, threads, Document::parse));
    row("… to the IR", &|threads| {
        each(&documents, threads, |d| {
            black_box(d.lower(FileId(0)));
        });
    });
    let selection = Selection::default();
    row("rules alone", &|threads| {
        each(&programs, threads, |(program, versions)| {
            black_box(agentir_lint::check(program, versions, &selection));
        });
    });
    row("all together", &|threads| {
        each(&projects, threads, |project| {
            let (program, versions) = program(project);
            black_box(agentir_lint::check(&program, &versions, &selection));
        });
    });
    out.push_str(&sizes(options));
    out
}

/// How fast one file is lowered and checked, by its size.
fn sizes(options: &Options) -> String {
    let mut out = format!("\n{:<28}{:>12}{:>12}\n", "one file of", "MB/s to IR", "MB/s checked");
    for size in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let text = file_of(size);
        let document = Document::new("large.agent.abl", &text);
        // As much work for each size, so that a small one is not lost in the clock's noise.
        let times = (2_000_000 / size).max(1);
        let lower = fastest(options.rounds, || {
            for _ in 0..times {
                black_box(document.lower(FileId(0)));
            }
        });
        let check = fastest(options.rounds, || {
            for _ in 0..times {
                let lowered = document.lower(FileId(0));
                if let Some(Unit::Agent(agent)) = lowered.unit {
                    let program = Program { agents: vec![*agent], ..Program::default() };
                    black_box(agentir_lint::check(
                        &program,
                        &[lowered.version],
                        &Selection::default(),
                    ));
                }
            }
        });
        let whole = megabytes(text.len() * times);
        let _ = writeln!(
            out,
            "{:<28}{:>12.1}{:>12.1}",
            format!("{} KB", text.len() / 1000),
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

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn rate(amount: f64, time: Duration) -> f64 {
    amount / time.as_secs_f64().max(1e-9)
}
