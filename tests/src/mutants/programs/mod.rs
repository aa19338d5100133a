//! Mutations of whole programs of at least 60 lines, in all languages.
//!
//! Whether a change is a defect is decided by conversations with the changed program, which the runtime has with random
//! users, tools and models (`conversations`): a place that conversations reached before and that many do not reach any
//! more, a turn that does not end, a case that no branch takes. Other changes are defects in any program.

mod conversations;
mod operators;
mod table;

pub use table::section;

use super::edit;
use crate::check::{Checked, File, check};
use crate::pairs::{LANGUAGES, Variant, pairs};
use crate::samples;
use agentir_diagnostics::{Edit, Severity, Span};
use agentir_lang_abl::Options;
use agentir_lang_abl::dialect::ABL;
use agentir_lint::Group;
use conversations::{Observed, Place, converse};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The file that makes ABL agents a project.
const MANIFEST: &str = "project.json";
/// The least number of lines of a program.
const LINES: usize = 60;
/// The number of conversations with a program before it is changed.
const BEFORE: usize = 40;
/// The number of conversations that must reach a place before a change, for it to count as unreachable after.
const MIN_VISITS: usize = 6;
/// The number of conversations without a visit that make a place unreachable.
const AFTER: usize = 120;
/// The maximal number of changes by one operator in one program.
const MAX_CHANGES: usize = 2;

/// A mutation operator.
struct Operator {
    /// The class of defects.
    class: char,
    /// Its name in the report.
    name: &'static str,
    /// Adds its changes of a program.
    find: fn(&Sample, &mut Vec<Change>),
}

/// A program.
struct Sample {
    name: String,
    /// The title of its language.
    language: &'static str,
    files: Vec<File>,
    checked: Checked,
    /// The findings, and how often each was made.
    findings: BTreeMap<(&'static str, String), usize>,
    /// Lines that other programs have as well, and that are changed in one of them only.
    shared: BTreeSet<String>,
    before: Observed,
}

/// A change of a program.
struct Change {
    at: Span,
    edits: Vec<Edit>,
    judge: Judge,
}

/// How to decide whether a change is a defect.
enum Judge {
    /// It is one in any program.
    Certain(Fault),
    /// By conversations.
    Conversations,
    /// This condition replaces an `ELSE`: a defect if it fails in a conversation.
    LeftOver(String),
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// A place is never reached.
    NeverReached,
    /// A turn does not end.
    Endless,
    /// A case has no branch.
    CaseLeft,
    /// A condition never holds.
    Impossible,
    /// A value that is needed is not passed.
    Missing,
    /// A result has no field of this name.
    NoSuchField,
    /// A value has the wrong type.
    WrongType,
    /// A variable is assigned to itself.
    Itself,
    /// A tool has no parameter of this name.
    Signature,
}

/// The rules that claim to find a fault.
const fn claims(fault: Fault) -> &'static [&'static str] {
    match fault {
        Fault::NeverReached => &[
            "always-true-condition",
            "constant-comparison",
            "constraint-before-value",
            "constraint-polarity",
            "contradictory-constraints",
            "done-at-start",
            "lost-at-handoff",
            "never-set",
            "shadowed-completion",
            "shadowed-route",
            "unavailable-tool",
            "undefined-reference",
            "undefined-variable",
            "unlisted-value",
            "unreachable-agent",
            "unreachable-branch",
            "unreachable-statement",
            "unreachable-step",
            "unsatisfiable-condition",
            "used-after-clear",
            "used-before-set",
        ],
        Fault::Endless => &[
            "delegation-cycle",
            "endless-loop",
            "handoff-circle",
            "prompt-loop",
            "self-handoff",
            "transition-cycle",
            "turnless-cycle",
            "unbounded-retry",
        ],
        Fault::CaseLeft => &["missing-case", "routing-hole"],
        Fault::Impossible => &[
            "always-true-condition",
            "constant-comparison",
            "never-set",
            "unreachable-branch",
            "unreachable-statement",
            "unsatisfiable-condition",
        ],
        Fault::Missing => &["missing-argument"],
        Fault::NoSuchField => &["undefined-field", "undefined-reference", "undefined-variable"],
        Fault::WrongType => &["argument-type", "type-mismatch"],
        Fault::Itself => &["self-assignment"],
        Fault::Signature => &["missing-argument", "undefined-parameter", "unknown-argument"],
    }
}

/// A changed program.
pub struct ProgramMutant {
    operator: usize,
    language: &'static str,
    at: String,
    faults: BTreeSet<Fault>,
    found: BTreeSet<&'static str>,
    /// What rules say of a change that is not known to be a defect.
    others: BTreeSet<&'static str>,
    /// Branches that conversations took although a rule says that they are never taken.
    refuted: BTreeSet<Place>,
    changed: Vec<String>,
    new: Vec<String>,
}

/// The changed programs, and the number of programs.
pub struct ProgramReport {
    programs: BTreeMap<&'static str, usize>,
    mutants: Vec<ProgramMutant>,
}

fn operators() -> &'static [Operator] {
    operators::OPERATORS
}

/// Our samples, and what is right of the pairs in programs of a real size.
fn all_samples() -> Vec<Sample> {
    let mut programs: Vec<(String, Vec<File>, BTreeSet<String>)> = Vec::new();
    let mut add = |files: Vec<File>| {
        let name = files.first().map(|f| f.name.clone()).unwrap_or_default();
        programs.push((name, files, BTreeSet::new()));
    };
    for folder in ["valid", "newest"] {
        samples::ours(folder).into_iter().for_each(|s| add(s.files));
    }
    samples::agent_script("valid").into_iter().for_each(|s| add(s.files));
    samples::adl("valid").into_iter().for_each(&mut add);
    for (name, [_, large], text) in LANGUAGES {
        let frame: BTreeSet<String> = large.lines().map(|l| l.trim().to_owned()).collect();
        for (at, pair) in pairs(text).iter().enumerate() {
            let files = Variant::new(name, large, pair, false).files;
            let shared = if at == 0 { BTreeSet::new() } else { frame.clone() };
            programs.push((pair.name.clone(), files, shared));
        }
    }
    programs
        .into_par_iter()
        .filter(|(_, files, _)| {
            files.iter().map(|f| f.text.lines().count()).sum::<usize>() >= LINES
        })
        .filter_map(|(name, files, shared)| Sample::of(name, files, shared))
        .collect()
}

/// The findings of a program, by rule and message.
fn findings(checked: &Checked) -> BTreeMap<(&'static str, String), usize> {
    let mut all = BTreeMap::new();
    for d in &checked.diagnostics {
        *all.entry((d.rule.0, d.message.clone())).or_default() += 1;
    }
    all
}

impl Sample {
    fn of(name: String, mut files: Vec<File>, shared: BTreeSet<String>) -> Option<Self> {
        let mut checked = check(&files, Options::default());
        let first = &checked.program.agents().next()?.metadata;
        let language = first.dialect.title();
        // Otherwise an agent outside of the program might set anything that has no value at first.
        if first.dialect == ABL && !files.iter().any(|file| file.name.ends_with(MANIFEST)) {
            let entry = &first.name;
            let text = format!("{{\"format_version\": \"2.0\", \"entry_agent\": \"{entry}\"}}");
            files.push(File { name: MANIFEST.to_owned(), text });
            checked = check(&files, Options::default());
        }
        let findings = findings(&checked);
        let before = converse(&checked, BEFORE, &|_| false);
        Some(Self { name, language, files, checked, findings, shared, before })
    }

    fn changes(&self, operator: &Operator) -> Vec<Change> {
        let mut all = Vec::new();
        (operator.find)(self, &mut all);
        let line = |span: Span| {
            let text = &self.files.get(span.file.0 as usize)?.text;
            let start = text[..span.start as usize].rfind('\n').map_or(0, |n| n + 1);
            text[start..].lines().next().map(str::trim)
        };
        all.retain(|change| line(change.at).is_some_and(|line| !self.shared.contains(line)));
        let stride = all.len().div_ceil(MAX_CHANGES).max(1);
        all.into_iter().step_by(stride).collect()
    }

    fn check(&self, operator: usize, change: &Change) -> Option<ProgramMutant> {
        let files = edit::apply(&self.files, &change.edits);
        let after = check(&files, Options::default());
        let group = |name: &str| agentir_lint::rule(name).map(|r| r.group);
        let broken = |checked: &Checked| {
            let syntax = |d: &&agentir_diagnostics::Diagnostic| {
                d.severity == Severity::Error
                    && matches!(group(d.rule.0), Some(Group::Syntax | Group::Versions))
            };
            checked.diagnostics.iter().filter(syntax).count()
        };
        if broken(&after) > broken(&self.checked) {
            return None;
        }
        let new: BTreeMap<_, _> = findings(&after)
            .into_iter()
            .filter(|(key, n)| *n > self.findings.get(key).copied().unwrap_or_default())
            .collect();
        let said: BTreeSet<&'static str> = new.keys().map(|(rule, _)| *rule).collect();
        let (faults, refuted) = self.judge(change, &after);
        let claimed: BTreeSet<&str> = faults.iter().flat_map(|f| claims(*f)).copied().collect();
        let (found, rest): (BTreeSet<_>, BTreeSet<_>) =
            said.into_iter().partition(|rule| claimed.contains(rule));
        let about = [Fault::NeverReached, Fault::Endless, Fault::CaseLeft, Fault::Impossible];
        let about: BTreeSet<&str> = about.into_iter().flat_map(claims).copied().collect();
        let others = rest.into_iter().filter(|rule| faults.is_empty() && about.contains(rule));
        let (file, line) = self.checked.place(change.at);
        let changed = files.iter().zip(&self.files).flat_map(|(a, b)| {
            let lines = a.text.lines().zip(b.text.lines()).filter(|(a, b)| a != b).take(3);
            lines.map(|(a, b)| format!("{} → {}", b.trim(), a.trim())).collect::<Vec<_>>()
        });
        Some(ProgramMutant {
            operator,
            language: self.language,
            at: format!("{} {file}:{line}", self.name),
            others: others.collect(),
            faults,
            found,
            refuted,
            changed: changed.take(3).collect(),
            new: new.keys().map(|(rule, message)| format!("{rule}: {message}")).collect(),
        })
    }

    /// What is wrong with a changed program, and which branches are taken although a rule says they never are.
    fn judge(&self, change: &Change, after: &Checked) -> (BTreeSet<Fault>, BTreeSet<Place>) {
        let mut faults = BTreeSet::new();
        match &change.judge {
            Judge::Certain(fault) => {
                faults.insert(*fault);
                let seen = converse(after, BEFORE / 4, &|_| false);
                return (faults, seen.refuted);
            }
            Judge::LeftOver(condition) => {
                let seen = converse(after, AFTER, &|seen| seen.failed.contains(condition));
                if seen.failed.contains(condition) {
                    faults.insert(Fault::CaseLeft);
                }
                return (faults, seen.refuted);
            }
            Judge::Conversations => {}
        }
        let own: BTreeSet<Place> = change
            .edits
            .iter()
            .map(|edit| {
                let (file, line) = self.checked.place(edit.span);
                (file.to_owned(), line)
            })
            .collect();
        let often = self.before.reached.iter().filter(|(_, n)| **n >= MIN_VISITS);
        let wanted: BTreeSet<&Place> =
            often.map(|(place, _)| place).filter(|place| !own.contains(*place)).collect();
        let ends = self.before.endless == 0;
        let complete = |seen: &Observed| {
            seen.conversations >= BEFORE / 4
                && wanted.iter().all(|place| seen.reached.contains_key(*place))
        };
        let seen = converse(after, AFTER, &complete);
        if ends && seen.endless > 0 {
            faults.insert(Fault::Endless);
        }
        if wanted.iter().any(|place| !seen.reached.contains_key(*place)) {
            faults.insert(Fault::NeverReached);
        }
        (faults, seen.refuted)
    }
}

/// Changes all programs and checks them.
#[must_use]
pub fn run_programs() -> ProgramReport {
    let all = all_samples();
    let mut programs = BTreeMap::new();
    for sample in &all {
        *programs.entry(sample.language).or_default() += 1;
    }
    let work: Vec<(&Sample, usize, Change)> = all
        .iter()
        .flat_map(|sample| {
            operators().iter().enumerate().flat_map(move |(index, operator)| {
                sample.changes(operator).into_iter().map(move |change| (sample, index, change))
            })
        })
        .collect();
    let mutants = work
        .into_par_iter()
        .filter_map(|(sample, operator, change)| sample.check(operator, &change))
        .collect();
    ProgramReport { programs, mutants }
}

/// The missed defects, and what else must be looked at, with details.
#[must_use]
pub fn unexpected_in_programs(all: &ProgramReport) -> Vec<String> {
    let describe = |m: &ProgramMutant| {
        let what = if !m.refuted.is_empty() {
            "refuted"
        } else if !m.faults.is_empty() && m.found.is_empty() {
            "missed"
        } else if !m.others.is_empty() {
            "not a defect"
        } else {
            return None;
        };
        let operator = operators().get(m.operator).map_or("", |o| o.name);
        Some(format!(
            "{what}: {operator} ({}) at {}: {:?}\n    {}\n    {}",
            m.language,
            m.at,
            m.faults,
            m.changed.join("\n    "),
            m.new.join("\n    "),
        ))
    };
    all.mutants.iter().filter_map(describe).collect()
}
