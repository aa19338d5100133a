//! How fast each phase reads programs of each language, and how that changes with the size of a file.

use crate::external;
use crate::generate::{self, File, Project};
use crate::proofs;
use agentir_diagnostics::FileId;
use agentir_ir::Program;
use agentir_lint::Selection;
use agentir_lower::Lowered;
use agentir_syntax::abl::schema::Version;
use agentir_syntax::abl::{self, Arena, Format, Options as Reading};
use agentir_syntax::{adl, agent_script, outline};
use cpu_time::ThreadTime;
use rayon::prelude::*;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// How many bytes each measurement reads at least.
const WORK: usize = 2_000_000;

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

/// What a text is written in.
#[derive(Debug, Clone, Copy)]
enum Language {
    Abl(Format),
    AgentScript,
    Adl,
    /// The functions of a bot.
    Python,
}

/// A document in memory.
struct Document<'p> {
    name: &'p str,
    text: &'p str,
    language: Language,
}

impl<'p> Document<'p> {
    fn new(file: &'p File) -> Self {
        let (name, text) = (file.path.as_str(), file.text.as_str());
        let language = if name.ends_with(".agent") {
            Language::AgentScript
        } else if name.ends_with(".py") {
            Language::Python
        } else if agentir_lower::is_adl(name, text) {
            Language::Adl
        } else if name.ends_with(".yaml") {
            Language::Abl(Format::Yaml)
        } else {
            Language::Abl(Format::Abl)
        };
        Self { name, text, language }
    }

    /// Lines and columns to tokens; YAML, which has a lexer of its own, up to its outline.
    fn lex(&self) {
        match self.language {
            Language::Abl(Format::Abl) => {
                black_box(outline::count_tokens(self.text));
            }
            Language::AgentScript => {
                black_box(agent_script::count_tokens(self.text));
            }
            Language::Abl(Format::Yaml) | Language::Adl | Language::Python => self.outline(),
        }
    }

    /// To the outline.
    fn outline(&self) {
        let mut problems = Vec::new();
        match self.language {
            Language::Abl(Format::Abl) => {
                black_box(outline::parse(FileId(0), self.text, &mut problems));
            }
            Language::Abl(Format::Yaml) | Language::Adl => {
                black_box(outline::parse_yaml(FileId(0), self.text, &mut problems));
            }
            Language::AgentScript => {
                black_box(agent_script::count_entries(self.text));
            }
            Language::Python => self.parse(),
        }
    }

    /// To the typed tree.
    fn parse(&self) {
        let mut problems = Vec::new();
        match self.language {
            Language::Abl(format) => {
                let outline = match format {
                    Format::Abl => outline::parse(FileId(0), self.text, &mut problems),
                    Format::Yaml => outline::parse_yaml(FileId(0), self.text, &mut problems),
                };
                let arena = Arena::new();
                let options = Reading::default();
                black_box(abl::read(&outline, format, options, &arena, &mut problems));
            }
            Language::AgentScript => {
                let options = agent_script::Options::default();
                black_box(agent_script::parse(FileId(0), self.text, options, &mut problems));
            }
            Language::Adl => {
                let outline = outline::parse_yaml(FileId(0), self.text, &mut problems);
                black_box(adl::read(&outline, &mut problems));
            }
            Language::Python => {
                black_box(adl::python::read(FileId(0), self.text, &mut problems));
            }
        }
    }

    /// To the IR.
    fn lower(&self, file: FileId) -> Lowered {
        match self.language {
            Language::Abl(_) => agentir_lower::abl(file, self.name, self.text, Reading::default()),
            Language::AgentScript => {
                agentir_lower::agent_script(file, self.text, agent_script::Options::default())
            }
            Language::Adl => agentir_lower::adl(file, self.text),
            Language::Python => agentir_lower::python(file, self.text),
        }
    }
}

/// A project's documents as one program.
pub(crate) fn program(project: &Project) -> (Program, Vec<Version>) {
    let mut program = Program { complete: true, ..Program::default() };
    let mut versions = Vec::new();
    for (file, id) in documents(project).zip(0..) {
        Document::new(file).lower(FileId(id)).add_to(&mut program, &mut versions);
    }
    (program, versions)
}

fn documents(project: &Project) -> impl Iterator<Item = &File> {
    project.files.iter().filter(|f| !f.path.ends_with(".json"))
}

/// The processor time of this thread that the fastest of some runs took: what others do on the same
/// machine at the same time counts little.
pub(crate) fn fastest(rounds: usize, mut run: impl FnMut()) -> Duration {
    (0..rounds.max(1))
        .map(|_| {
            let start = ThreadTime::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// The time on the clock that the fastest of some runs took, for what runs on several threads.
fn fastest_on_the_clock(rounds: usize, mut run: impl FnMut()) -> Duration {
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

/// Measures everything and writes a table for each language, and for the corpus of others where
/// `external` says where it is.
#[must_use]
pub fn table(options: &Options, external: Option<&Path>) -> String {
    let mut out = String::new();
    // Those of ABL are programs of several files, the others of one.
    let (files, seed) = (options.files, options.seed);
    for (name, projects) in [
        ("ABL", generate::projects(files, seed)),
        ("Agent Script", generate::scripts(files / 2, seed)),
        ("ADL", generate::bots(files / 2, seed)),
    ] {
        phases(&format!("{name}, made up"), &projects, options, &mut out);
    }
    if let Some(root) = external {
        for (name, ending) in [("Agent Script", "agent"), ("ADL", "yml")] {
            let projects = external::projects(root, ending);
            if !projects.is_empty() {
                phases(&format!("{name}, by others"), &projects, options, &mut out);
            }
        }
        out.push_str(&crate::convert::table(root, options));
        out.push('\n');
    }
    out.push_str(&sizes(options));
    out.push('\n');
    out.push_str(&proofs::table(&generate::projects(files, seed), options.rounds));
    out
}

/// Measures each phase. Each includes those above it, except the rules, which start from programs
/// that are lowered already.
fn phases(name: &str, projects: &[Project], options: &Options, out: &mut String) {
    let documents: Vec<Document<'_>> =
        projects.iter().flat_map(documents).map(Document::new).collect();
    let bytes: usize = documents.iter().map(|d| d.text.len()).sum();
    let programs: Vec<_> = projects.iter().map(program).collect();
    let threads = rayon::current_num_threads();
    // As much work for each language, so that a small corpus is not lost in the clock's noise.
    let times = (WORK / bytes.max(1)).max(1);
    let _ = writeln!(
        out,
        "{name}: {} documents, {:.1} MB, {:.1} KB each\n{:<24}{:>12}{:>12}{:>12}{:>18}",
        documents.len(),
        megabytes(bytes),
        bytes as f64 / 1e3 / documents.len().max(1) as f64,
        "phase",
        "MB/s, one",
        "files/s",
        "x lexing",
        format!("MB/s, {threads} threads"),
    );
    let mut lexing = None;
    let mut row = |name: &str, run: &dyn Fn(bool)| {
        let again = |threads: bool| (0..times).for_each(|_| run(threads));
        let one = fastest(options.rounds, || again(false));
        let all = fastest_on_the_clock(options.rounds, || again(true));
        let lexing = *lexing.get_or_insert(one);
        let _ = writeln!(
            out,
            "{name:<24}{:>12.1}{:>12.0}{:>12.1}{:>18.1}",
            rate(megabytes(bytes * times), one),
            rate((documents.len() * times) as f64, one),
            rate(one.as_secs_f64(), lexing),
            rate(megabytes(bytes * times), all),
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
        each(projects, threads, |project| {
            let (program, versions) = program(project);
            black_box(agentir_lint::check(&program, &versions, &selection));
        });
    });
    out.push('\n');
}

/// How fast one file is lowered and checked, by its size.
fn sizes(options: &Options) -> String {
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
                black_box(agentir_lint::check(&program, &versions, &Selection::default()));
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

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn rate(amount: f64, time: Duration) -> f64 {
    amount / time.as_secs_f64().max(1e-9)
}
