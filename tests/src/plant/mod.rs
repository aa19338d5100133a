//! Mutation tests: programs without findings are changed in one location at a time, and the rules
//! have to find the defect.
//!
//! Not every change is a defect. Whether one is, is decided independently of the rules: conditions
//! are evaluated in states (`problems`), flows are executed with random choices (`runs`), or the
//! change is a defect in any program. A defect counts as found if a rule reports it that claims to
//! find this problem; no such rule may report a change that is not a defect. A test requires that
//! at least 95 of 100 defects of each kind are found. `cargo xtask mutate` writes `docs/mutations.md`.

pub mod edit;
mod flows;
mod kinds;
pub mod problems;
pub mod runs;
pub mod states;
mod table;

pub use table::{Row, report, rows};

use crate::check::{Checked, File, check};
use crate::{pages, samples};
use agentir_diagnostics::{Edit, Severity, Span};
use agentir_lint::Group;
use agentir_syntax::abl::Options;
use problems::{Problem, Problems};
use runs::Seen;
use std::collections::{BTreeMap, BTreeSet};

/// So many runs say what an agent comes to.
const RUNS: usize = 60;
/// A step that so many runs come to before a change is missed after it.
const MISSED: usize = 8;
/// So many defects of a kind are planted in one program, spread over all places.
const EACH: usize = 5;

/// A kind of defect.
struct Kind {
    /// What is done.
    name: &'static str,
    /// Finds the places.
    plant: fn(&Clean, &mut Vec<Plant>),
}

/// A program without findings.
pub struct Clean {
    /// Its name.
    pub name: String,
    /// Its files.
    pub files: Vec<File>,
    /// What they say.
    pub checked: Checked,
    /// What is wrong with its conditions nevertheless.
    problems: Problems,
    /// Which of them cannot be judged.
    unjudged: BTreeSet<String>,
    /// What runs of its agents come to.
    seen: Vec<Option<Seen>>,
}

/// A change.
struct Plant {
    span: Span,
    edits: Vec<Edit>,
    judge: Judge,
}

/// How it is found out whether a change is a defect.
enum Judge {
    /// Conditions are tried in states.
    Conditions,
    /// This agent is run, and conditions are tried as well.
    Runs(usize),
    /// The same; or nothing reads the new name.
    Renamed(usize),
    /// The other agent is run with what it is still given.
    Withheld { from: usize, to: usize, name: String, given: Vec<String> },
    /// It always is.
    Certain(Problem),
}

/// What the rules made of a change.
pub struct Planted {
    /// The kind, by its place among all.
    pub kind: usize,
    /// The program and the line.
    pub at: String,
    /// What is wrong now and was not.
    pub problems: BTreeSet<Problem>,
    /// Whether it is known that there is nothing else.
    pub judged: bool,
    /// The rules that claim to find one of these and spoke.
    pub found: BTreeSet<&'static str>,
    /// Other rules that prove something and spoke.
    pub others: BTreeSet<&'static str>,
    /// The lines of the changed texts.
    pub changed: Vec<String>,
    /// All findings.
    pub lines: Vec<String>,
}

/// The rules that claim to find a problem.
#[must_use]
pub const fn claims(problem: Problem) -> &'static [&'static str] {
    match problem {
        Problem::Constant => {
            &["constant-comparison", "unsatisfiable-condition", "always-true-condition"]
        }
        Problem::NeverHolds => &[
            "unsatisfiable-condition",
            "constant-comparison",
            "unreachable-branch",
            "contradictory-constraints",
        ],
        Problem::AlwaysHolds => &[
            "always-true-condition",
            "constant-comparison",
            "unreachable-branch",
            "shadowed-route",
            "shadowed-completion",
            "done-at-start",
        ],
        Problem::BranchNeverTaken => &["unreachable-branch"],
        Problem::RouteNeverTaken => &["shadowed-route"],
        Problem::CompletionNeverTaken => &["shadowed-completion"],
        Problem::Tie => &["priority-tie"],
        Problem::Contradiction => &["contradictory-constraints", "redundant-constraint"],
        Problem::Redundant => &["redundant-constraint"],
        Problem::ValueLeftOut => &["missing-case"],
        Problem::ValueNotRouted => &["routing-hole"],
        Problem::DoneAtStart => &["done-at-start"],
        Problem::FailsAtStart => &["constraint-polarity", "constraint-before-value"],
        Problem::StepNotReached => &["unreachable-step", "unreachable-branch"],
        Problem::ReadsUnset => {
            &["used-before-set", "used-after-clear", "undefined-variable", "lost-at-handoff"]
        }
        Problem::NeverWaits => &["endless-loop", "unbounded-retry", "turnless-cycle"],
        Problem::NeverRead => &["unread-variable"],
        Problem::NotHandedOver => &["lost-at-handoff", "used-before-set"],
        Problem::NotReturned => &["unreturned-field"],
        Problem::HandedBack => &["handoff-circle"],
        Problem::Shown => &["exposed-sensitive-data"],
        Problem::WrongType => &["type-mismatch"],
        Problem::NotListed => &["type-mismatch", "unlisted-value"],
    }
}

fn kinds() -> impl Iterator<Item = &'static Kind> {
    kinds::KINDS.iter().chain(flows::KINDS)
}

/// All programs of ours that are in order: samples, examples of pages that pass, made-up ones.
#[must_use]
pub fn clean() -> Vec<Clean> {
    let mut programs: Vec<(String, Vec<File>)> = Vec::new();
    for folder in ["valid", "legacy", "newest"] {
        programs.extend(samples::ours(folder).into_iter().map(|s| (String::new(), s.files)));
    }
    programs.extend(samples::agent_script("valid").into_iter().map(|s| (String::new(), s.files)));
    programs.extend(samples::adl("valid").into_iter().map(|files| (String::new(), files)));
    for page in pages::all() {
        let passing = page.examples.into_iter().filter(|e| !e.fails && e.version.is_none());
        programs.extend(passing.map(|e| (format!("rules/{}.md:{}", page.name, e.line), e.files)));
    }
    let made = |projects: Vec<agentir_bench::generate::Project>| {
        projects.into_iter().map(|project| {
            let file = |f: agentir_bench::generate::File| File { name: f.path, text: f.text };
            (project.name, project.files.into_iter().map(file).collect())
        })
    };
    programs.extend(made(agentir_bench::generate::projects(14, 5)));
    programs.extend(made(agentir_bench::generate::scripts(4, 5)));
    programs.extend(made(agentir_bench::generate::bots(4, 5)));
    programs.into_iter().filter_map(|(name, files)| Clean::of(name, files)).collect()
}

impl Clean {
    /// A program, if nothing is found in it.
    fn of(name: String, files: Vec<File>) -> Option<Self> {
        let checked = check(&files, Options::default());
        if !checked.diagnostics.is_empty() {
            return None;
        }
        let name = if name.is_empty() { files.first()?.name.clone() } else { name };
        let (problems, unjudged) = problems::of_conditions(&checked.program);
        let program = &checked.program;
        let seen =
            program.agents().map(|a| runs::explore(program, a, &given(program, a), 2 * RUNS));
        let seen = seen.collect();
        Some(Self { name, files, checked, problems, unjudged, seen })
    }

    /// Plants what can be planted, and says what came of it.
    #[must_use]
    pub fn plant(&self) -> Vec<Planted> {
        let mut done = Vec::new();
        for (kind, all) in kinds().enumerate() {
            let mut plants = Vec::new();
            (all.plant)(self, &mut plants);
            let stride = plants.len().div_ceil(EACH).max(1);
            let some = plants.iter().step_by(stride);
            done.extend(some.filter_map(|plant| self.judge(kind, plant)));
        }
        done
    }

    fn judge(&self, kind: usize, plant: &Plant) -> Option<Planted> {
        let files = edit::apply(&self.files, &plant.edits);
        let after = check(&files, Options::default());
        let group = |name: &str| agentir_lint::rule(name).map(|r| r.group);
        let broken = after.diagnostics.iter().any(|d| {
            d.severity == Severity::Error
                && matches!(group(d.rule.0), Some(Group::Syntax | Group::Versions))
        });
        if broken {
            return None;
        }
        let (problems, judged) = self.problems_of(plant, &after);
        let claimed: BTreeSet<&str> = problems.iter().flat_map(|p| claims(*p)).copied().collect();
        let spoke: BTreeSet<&'static str> = after.diagnostics.iter().map(|d| d.rule.0).collect();
        let found = spoke.iter().copied().filter(|r| claimed.contains(r)).collect();
        let proves = |rule: &&str| {
            matches!(group(rule), Some(Group::Proofs | Group::Data | Group::Security))
                || *rule == "unreachable-branch"
        };
        let others =
            spoke.iter().copied().filter(|r| !claimed.contains(r)).filter(proves).collect();
        let (file, line) = self.checked.place(plant.span);
        let changed = files.iter().zip(&self.files).filter(|(a, b)| a.text != b.text);
        let changed = changed.flat_map(|(a, b)| {
            let before: BTreeSet<&str> = b.text.lines().collect();
            let new = a.text.lines().filter(|l| !before.contains(l));
            new.map(|l| l.trim().to_owned()).collect::<Vec<_>>()
        });
        let at = if self.name == file {
            format!("{file}:{line}")
        } else {
            format!("{} {file}:{line}", self.name)
        };
        Some(Planted {
            kind,
            at,
            problems,
            judged,
            found,
            others,
            changed: changed.collect(),
            lines: after.lines(),
        })
    }

    /// What is wrong after a change that was not before, and whether that is all.
    fn problems_of(&self, plant: &Plant, after: &Checked) -> (BTreeSet<Problem>, bool) {
        let mut new = BTreeSet::new();
        if let Judge::Certain(problem) = plant.judge {
            new.insert(problem);
            return (new, true);
        }
        let (now, unjudged) = problems::of_conditions(&after.program);
        let mut judged = unjudged.is_subset(&self.unjudged);
        new.extend(
            now.iter()
                .filter(|(p, n)| **n > self.problems.get(p).copied().unwrap_or_default())
                .map(|(p, _)| *p),
        );
        match &plant.judge {
            Judge::Certain(_) => {}
            // A condition may decide where it goes on.
            Judge::Conditions => {
                for agent in 0..self.seen.len() {
                    if self.concerns(agent, plant) {
                        judged &= self.compare(agent, plant, after, &mut new);
                    }
                }
            }
            Judge::Runs(agent) => judged &= self.compare(*agent, plant, after, &mut new),
            Judge::Renamed(agent) => {
                judged &= self.compare(*agent, plant, after, &mut new);
                if after.program.complete {
                    new.insert(Problem::NeverRead);
                }
            }
            Judge::Withheld { from, to, name, given } => {
                let program = &after.program;
                let all: Vec<String> = given.iter().chain([name]).cloned().collect();
                let run = |given: &[String]| {
                    runs::explore(program, program.agents.get(*to)?, given, RUNS)
                };
                let has = self.seen.get(*from).and_then(|s| s.as_ref()?.handed.as_ref());
                let has = has.map(|set| set.contains(name));
                match (has, run(&all), run(given)) {
                    (Some(has), Some(with), Some(without)) => {
                        if has && !with.unset.contains(name) && without.unset.contains(name) {
                            new.insert(Problem::NotHandedOver);
                        }
                    }
                    _ => judged = false,
                }
            }
        }
        (new, judged)
    }

    /// Whether a change is in the flow of an agent.
    fn concerns(&self, agent: usize, plant: &Plant) -> bool {
        let flow = self.checked.program.agents.get(agent).and_then(|a| a.flow.as_ref());
        flow.is_some_and(|flow| {
            flow.definitions.values().any(|step| {
                let whole = step.span;
                whole.file == plant.span.file
                    && whole.start <= plant.span.start
                    && plant.span.end <= whole.end
            })
        })
    }

    /// What runs of an agent come to now and did not before. False if runs do not come to the place of
    /// the change at all.
    fn compare(
        &self,
        agent: usize,
        plant: &Plant,
        after: &Checked,
        new: &mut BTreeSet<Problem>,
    ) -> bool {
        let program = &after.program;
        let Some(before) = self.seen.get(agent).and_then(Option::as_ref) else { return false };
        let Some(changed) = program.agents.get(agent) else { return false };
        let Some(now) = runs::explore(program, changed, &given(program, changed), RUNS) else {
            return false;
        };
        if now.never_waits && !before.never_waits {
            new.insert(Problem::NeverWaits);
        }
        // A loop that is not left hides what is behind it.
        let often = before.steps.iter().filter(|(_, n)| **n >= MISSED);
        let missed: Vec<&String> =
            often.map(|(step, _)| step).filter(|step| !now.steps.contains_key(*step)).collect();
        if !now.never_waits && !missed.is_empty() {
            let more = runs::explore(program, changed, &given(program, changed), 8 * RUNS);
            if more.is_some_and(|more| missed.iter().any(|s| !more.steps.contains_key(*s))) {
                new.insert(Problem::StepNotReached);
            }
        }
        // What is declared and never set may be given by whoever calls an agent that stands alone.
        let mut set: BTreeSet<&str> = BTreeSet::new();
        changed.walk(&mut |node| match node {
            agentir_ir::Node::Set(assignment) => {
                set.insert(&assignment.target.root.value);
            }
            agentir_ir::Node::Writes(name, _) => {
                set.insert(&name.value);
            }
            agentir_ir::Node::Field(field) => {
                set.insert(&field.name.value);
            }
            _ => {}
        });
        let by_caller = |name: &str| {
            let mut declared = changed.memory.session.iter().map(|v| v.name.value.as_str());
            !program.complete && !set.contains(name) && declared.any(|v| v == name)
        };
        if now.unset.difference(&before.unset).any(|name| !by_caller(name)) {
            new.insert(Problem::ReadsUnset);
        }
        // Runs have to come to what is changed.
        let flow = self.checked.program.agents[agent].flow.iter();
        let step = flow.flat_map(|f| f.definitions.values()).find(|step| {
            step.span.file == plant.span.file
                && step.span.start <= plant.span.start
                && plant.span.end <= step.span.end
        });
        let come = step.is_some_and(|s| before.steps.contains_key(s.name.value.as_str()));
        let exact = matches!(plant.judge, Judge::Renamed(_))
            || (matches!(plant.judge, Judge::Runs(_))
                && step.is_some_and(|s| s.name.span != plant.span));
        let elsewhere = now.mentioned.is_subset(&before.mentioned);
        come && elsewhere && (!exact || before.places.contains(&plant.span))
    }
}

/// What any agent hands over to this one.
fn given(program: &agentir_ir::Program, agent: &agentir_ir::Agent) -> Vec<String> {
    let all = program.agents().flat_map(|a| &a.coordination.handoffs);
    let to = all.filter(|h| h.to.value == agent.metadata.name.value);
    to.flat_map(|h| &h.context.pass).map(|p| p.name.value.to_string()).collect()
}

/// What came of defects planted in all programs.
pub struct Everything {
    /// How many programs were changed.
    pub programs: usize,
    /// The changes.
    pub planted: Vec<Planted>,
}

/// Plants defects in all programs.
#[must_use]
pub fn everywhere() -> Everything {
    use rayon::prelude::*;
    let programs = clean();
    let planted = programs.par_iter().flat_map(Clean::plant).collect();
    Everything { programs: programs.len(), planted }
}

/// The defects that were missed, and the changes that are none and made a rule speak, each told in
/// full.
#[must_use]
pub fn odd(all: &Everything) -> Vec<String> {
    let names: Vec<&str> = kinds().map(|kind| kind.name).collect();
    let tell = |p: &Planted| {
        let what = match (p.problems.is_empty(), p.found.is_empty(), p.others.is_empty()) {
            (false, true, _) => "missed",
            (true, _, false) if p.judged => "no defect",
            _ => return None,
        };
        Some(format!(
            "{what}: {} in {}: {:?}\n    {}\n  found:\n    {}",
            names[p.kind],
            p.at,
            p.problems,
            p.changed.join("\n    "),
            p.lines.join("\n    ")
        ))
    };
    all.planted.iter().filter_map(tell).collect()
}

/// How often each rule spoke, by name.
pub type Spoken = BTreeMap<&'static str, usize>;
