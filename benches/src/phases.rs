//! How fast each phase reads programs of one language.

use crate::documents::{Document, documents, program};
use crate::generate::Project;
use crate::measure::{Options, WORK, fastest, fastest_on_the_clock, megabytes, rate};
use agentir_diagnostics::FileId;
use agentir_ir::Program;
use agentir_lint::{Selection, Times};
use agentir_syntax::abl::schema::Version;
use rayon::prelude::*;
use std::fmt::Write as _;
use std::hint::black_box;

/// Runs `work` on each of `all`, on this thread alone or on all of them.
fn each<T: Sync>(all: &[T], threads: bool, work: impl Fn(&T) + Send + Sync) {
    if threads {
        all.par_iter().for_each(work);
    } else {
        all.iter().for_each(work);
    }
}

/// All rules, those for the texts of documents as well as those for the program.
fn rules(project: &Project, lowered: &(Program, Vec<Version>), selection: &Selection) {
    for document in documents(project) {
        black_box(agentir_lint::check_text(FileId(0), &document.text));
    }
    let (program, versions) = lowered;
    black_box(agentir_lint::check(program, versions, &[], selection));
}

/// Measures each phase. Each includes those above it, except the rules, which start from programs
/// that are lowered already, and `fmt`, which checks nothing.
pub(crate) fn table(name: &str, projects: &[Project], options: &Options) -> String {
    let mut out = String::new();
    let documents: Vec<Document<'_>> =
        projects.iter().flat_map(documents).map(Document::new).collect();
    let bytes: usize = documents.iter().map(|d| d.text.len()).sum();
    let programs: Vec<_> = projects.iter().map(|p| (p, program(p))).collect();
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
        each(&programs, threads, |(project, lowered)| rules(project, lowered, &selection));
    });
    let mut times = Times::default();
    for (_, (program, versions)) in &programs {
        let never = agentir_lint::Cancellation::default();
        let checked = agentir_lint::check_with(program, versions, &[], &selection, true, &never);
        times += checked.unwrap_or_default().1;
    }
    row("all together", &|threads| {
        each(projects, threads, |project| rules(project, &program(project), &selection));
    });
    row("fmt", &|threads| each(&documents, threads, Document::format));
    let _ = writeln!(out, "{times}");
    out
}
