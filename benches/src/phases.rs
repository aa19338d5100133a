//! The speed of each phase for one language.

use crate::documents::{Document, Rules, documents, load};
use crate::generate::Project;
use crate::measure::{Options, WORK, fastest, fastest_wall_clock, megabytes, rate};
use agentir_diagnostics::FileId;
use agentir_lint::{Selection, Times};
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

/// Measures each phase. Each includes those above it, except the rules, which start from programs
/// that are lowered already, and `fmt`, which checks nothing.
pub(crate) fn table(name: &str, projects: &[Project], options: &Options) -> String {
    let mut out = String::new();
    let documents: Vec<Document<'_>> =
        projects.iter().flat_map(documents).map(Document::new).collect();
    let bytes: usize = documents.iter().map(|d| d.text.len()).sum();
    let programs: Vec<_> = projects.iter().map(load).collect();
    let rules = Rules::new(Selection::default());
    let threads = rayon::current_num_threads();
    // The same amount of work for each language, so that small corpora are measured as precisely as large ones.
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
        let all = fastest_wall_clock(options.rounds, || again(true));
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
            black_box(d.lower());
        });
    });
    row("rules alone", &|threads| {
        // Those for the texts of documents run when a file is read.
        each(&documents, threads, |document| {
            let source = agentir_lint::SourceText {
                file: FileId(0),
                text: document.text,
                agents: &[],
                tools: &[],
            };
            black_box(agentir_lint::check_text(&source));
        });
        each(&programs, threads, |loaded| {
            black_box(rules.check(loaded, false));
        });
    });
    let mut times = Times::default();
    for loaded in &programs {
        times += rules.check(loaded, true).1;
    }
    row("all together", &|threads| {
        each(projects, threads, |project| {
            black_box(rules.check(&load(project), false));
        });
    });
    row("fmt", &|threads| each(&documents, threads, Document::format));
    let _ = writeln!(out, "{times}");
    out
}
