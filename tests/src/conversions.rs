//! The fidelity of conversions, for the samples and by the loss rules of the targets:
//! `docs/conversions.md`.

use crate::check::{File, check};
use crate::samples::{Sample, adl, agent_script, files_below, ours, root};
use agentir::{languages, targets};
use agentir_compare::Verdict;
use agentir_convert::{Preservation, Target, Totals, convert, loss_rules};
use agentir_lang_abl::Options;
use rayon::prelude::*;
use std::fmt::Write;
use std::fs;

/// The languages of the samples, by the names of their targets, with their titles.
pub const LANGUAGES: [(&str, &str); 3] =
    [("abl", "ABL"), ("agent-script", "Agent Script"), ("adl", "ADL")];

/// The correct samples of a language, including the rosetta samples, with their options.
///
/// # Panics
/// If they are not where they should be.
#[must_use]
pub fn correct(language: &str) -> Vec<(Vec<File>, Options)> {
    let read = |sample: Sample| {
        (sample.files, Options { version: sample.version, fragment: sample.fragment })
    };
    let by_default = |files| (files, Options::default());
    let mut all: Vec<_> = match language {
        "abl" => ["valid", "newest", "legacy"].iter().flat_map(|f| ours(f)).map(read).collect(),
        "agent-script" => agent_script("valid").into_iter().map(read).collect(),
        _ => adl("valid").into_iter().map(by_default).collect(),
    };
    let rosetta = fs::read_dir(root().join("corpus/rosetta")).expect("it is in the repository");
    let mut agents: Vec<_> = rosetta.map(|e| e.expect("a folder").path().join(language)).collect();
    agents.sort();
    let agents = agents.iter().filter(|at| at.is_dir());
    all.extend(agents.map(|at| by_default(files_below(at))));
    all
}

/// The result of converting the samples of one language to another.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    totals: Totals,
    /// The number of programs by [`Verdict`]: same, same except for announced differences, undecided,
    /// different.
    verdicts: [usize; 4],
}

impl Pair {
    fn of(samples: &[(Vec<File>, Options)], target: Target) -> Self {
        let one = |(files, options): &(Vec<File>, Options)| {
            let checked = check(files, *options);
            let mut done = convert(languages(), &checked.program, &checked.sources, target);
            done.verify(&checked.program, &checked.sources);
            let verdict = done.report.proof.as_ref().map_or(Verdict::Undecided, |p| p.verdict);
            let mut verdicts = [0; 4];
            verdicts[verdict as usize] = 1;
            Self { totals: done.report.totals, verdicts }
        };
        samples.par_iter().map(one).reduce(Self::default, Self::plus)
    }

    fn plus(self, other: Self) -> Self {
        let mut totals = self.totals;
        totals.add(other.totals);
        let mut verdicts = self.verdicts;
        for (sum, one) in verdicts.iter_mut().zip(other.verdicts) {
            *sum += one;
        }
        Self { totals, verdicts }
    }
}

fn title(target: Target) -> String {
    format!("{} (`--to {}`)", target.title(), target.name())
}

/// The document.
///
/// # Panics
/// If our samples are not where they should be.
#[must_use]
pub fn document() -> String {
    let mut out = String::from(
        "# Conversions\n\n\
         Written by `cargo xtask conversions` from our own samples (`corpus/`) and from the tables by \
         which\nreports are made; a test fails where it is out of date.\n\n\
         ## Every pair of languages\n\n\
         How many values of the samples are kept / approximated / dropped, as `agentir convert` \
         reports them.\n\n",
    );
    let head: Vec<String> = targets::all().into_iter().map(title).collect();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = |n: usize| format!("|{}\n", "---|".repeat(n));
    let header = |first: &str| {
        let cells: Vec<String> = [first.to_owned()].into_iter().chain(head.clone()).collect();
        line(&cells) + &rule(cells.len())
    };
    let mut proofs = header("from");
    out += &header("from");
    for (language, name) in LANGUAGES {
        let samples = correct(language);
        let pairs: Vec<Pair> = targets::all().iter().map(|t| Pair::of(&samples, *t)).collect();
        let first = format!("{name}, {} samples", samples.len());
        let values = pairs.iter().map(|pair| {
            let Totals { kept, approximated, dropped, .. } = pair.totals;
            format!("{kept} / {approximated} / {dropped}")
        });
        out += &line(&[first.clone()].into_iter().chain(values).collect::<Vec<_>>());
        let verdicts = pairs.iter().map(|pair| pair.verdicts.map(|n| n.to_string()).join(" / "));
        proofs += &line(&[first].into_iter().chain(verdicts).collect::<Vec<_>>());
    }
    out += "\n## Proofs\n\n\
            Of the same conversions, how many programs are proved to behave the same / differ only where \
            a loss is\nreported / could not be decided everywhere / do something else \
            (`--verify`).\n\n";
    out += &proofs;
    out += "\n## What a language says otherwise or not at all\n\n\
            Paths are those of AgentIR, of an agent or (with `/`) of the program; `*` is one name, \
            `**` any number.\nThe first row that fits holds, one of the first kind only if what it \
            speaks of is in the output.\n";
    for target in targets::all() {
        // Both notations of ABL are one language.
        if target == targets::ABL_YAML {
            continue;
        }
        let own: Vec<_> = loss_rules(target).collect();
        let shared = target == targets::AGENT_SCRIPT_BASE;
        let inherited = if shared { loss_rules(targets::AGENT_SCRIPT).count() } else { 0 };
        let _ = write!(out, "\n### {}\n\n", target.title());
        if shared {
            out += "What the agentforce dialect loses, and:\n\n";
        }
        out += "| part | | how, or why | by hand |\n|---|---|---|---|\n";
        for loss in own.iter().take(own.len() - inherited) {
            let fate =
                if loss.preservation == Preservation::Dropped { "dropped" } else { "approximated" };
            let escaped = |text: &str| text.replace('|', "\\|");
            let (how, help) = (escaped(loss.how), escaped(loss.help));
            let _ = writeln!(out, "| `{}` | {fate} | {how} | {help} |", loss.path);
        }
    }
    out
}
