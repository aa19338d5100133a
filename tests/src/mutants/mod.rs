//! Mutation tests: programs without findings are changed in one location at a time, and the rules
//! have to detect the defect.
//!
//! Not every change is a defect. Whether one is, is decided independently of the rules: conditions
//! are evaluated in states (`problems`), flows are executed with random choices (`runs`), or the
//! change is a defect in any program. A defect counts as found if a rule reports it that claims to
//! find this problem; no such rule may report a change that is not a defect. A test requires that
//! at least 95 of 100 defects of each kind are found. `cargo xtask mutate` writes `docs/mutations.md`.

mod condition_mutations;
pub mod edit;
mod flow_mutations;
pub mod problems;
mod programs;
pub mod runs;
pub mod states;
mod table;

pub use programs::{ProgramReport, run_programs, section, unexpected_in_programs};
pub use table::{Row, report, rows};

use crate::check::{Checked, File, check};
use crate::{pages, samples};
use agentir_diagnostics::{Edit, Severity, Span};
use agentir_lang_abl::Options;
use agentir_lint::Group;
use problems::{Problem, Problems};
use runs::Observed;
use std::collections::{BTreeMap, BTreeSet};

/// The number of random runs of an agent.
const RUNS: usize = 300;
/// The number of runs that must reach a step before a mutation, for it to count as unreachable after.
const MIN_VISITS: usize = 8;
/// The maximal number of mutations by one operator in one program, spread over all candidates.
const MAX_MUTATIONS: usize = 5;

/// A mutation operator.
struct Operator {
    /// Its name in the report.
    name: &'static str,
    /// Adds its mutations of a program.
    mutate: fn(&Baseline, &mut Vec<Mutation>),
}

/// A program without findings.
pub struct Baseline {
    /// Its name.
    pub name: String,
    /// Its files.
    pub files: Vec<File>,
    /// The parsed program.
    pub checked: Checked,
    /// Problems of its conditions that no rule reports.
    problems: Problems,
    /// The conditions that cannot be judged.
    unjudged: BTreeSet<String>,
    /// The observations of random runs, by agent.
    observed: Vec<Option<Observed>>,
}

/// A mutation.
struct Mutation {
    span: Span,
    edits: Vec<Edit>,
    oracle: Oracle,
}

/// The test oracle: how to decide whether a mutation is a defect.
enum Oracle {
    /// Evaluate conditions in states.
    Conditions,
    /// Also run this agent.
    Runs(usize),
    /// Also check whether the new name is read.
    Renamed(usize),
    /// Run the target agent with the variables that are still passed.
    Withheld { from: usize, to: usize, name: String, given: Vec<String> },
    /// Always a defect.
    Certain(Problem),
}

/// A mutant, with the findings of the rules.
pub struct Mutant {
    /// The index of the operator.
    pub operator: usize,
    /// The program and line.
    pub at: String,
    /// The problems that the mutation introduced.
    pub problems: BTreeSet<Problem>,
    /// Whether these are known to be all.
    pub judged: bool,
    /// The rules that report one of these problems.
    pub found: BTreeSet<&'static str>,
    /// Other rules based on proofs or dataflow that report something.
    pub others: BTreeSet<&'static str>,
    /// The changed lines.
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

/// Rules whose findings say what a condition does by definition, so that no run tells whether they are right: that a
/// guard holds while nothing is set.
const BY_DEFINITION: [&str; 1] = ["unset-opens-guard"];

fn operators() -> impl Iterator<Item = &'static Operator> {
    condition_mutations::OPERATORS.iter().chain(flow_mutations::OPERATORS)
}

/// Programs of the repository without findings: samples, passing examples of rule pages, generated
/// programs.
#[must_use]
pub fn baselines() -> Vec<Baseline> {
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
    programs.into_iter().filter_map(|(name, files)| Baseline::of(name, files)).collect()
}

impl Baseline {
    /// A program, if it has no findings.
    fn of(name: String, files: Vec<File>) -> Option<Self> {
        let checked = check(&files, Options::default());
        if !checked.diagnostics.is_empty() {
            return None;
        }
        let name = if name.is_empty() { files.first()?.name.clone() } else { name };
        let (problems, unjudged) = problems::of_conditions(&checked.program);
        let program = &checked.program;
        let observed =
            program.agents().map(|a| runs::explore(program, a, &given(program, a), 2 * RUNS));
        let observed = observed.collect();
        Some(Self { name, files, checked, problems, unjudged, observed })
    }

    /// Applies all operators, and checks the mutants.
    #[must_use]
    pub fn mutate(&self) -> Vec<Mutant> {
        let mut done = Vec::new();
        for (index, operator) in operators().enumerate() {
            let mut mutations = Vec::new();
            (operator.mutate)(self, &mut mutations);
            let stride = mutations.len().div_ceil(MAX_MUTATIONS).max(1);
            let some = mutations.iter().step_by(stride);
            done.extend(some.filter_map(|mutation| self.check(index, mutation)));
        }
        done
    }

    fn check(&self, operator: usize, mutation: &Mutation) -> Option<Mutant> {
        let files = edit::apply(&self.files, &mutation.edits);
        let after = check(&files, Options::default());
        let group = |name: &str| agentir_lint::rule(name).map(|r| r.group);
        let broken = after.diagnostics.iter().any(|d| {
            d.severity == Severity::Error
                && matches!(group(d.rule.0), Some(Group::Syntax | Group::Versions))
        });
        if broken {
            return None;
        }
        let (problems, judged) = self.problems_of(mutation, &after);
        let claimed: BTreeSet<&str> = problems.iter().flat_map(|p| claims(*p)).copied().collect();
        let reported: BTreeSet<&'static str> = after.diagnostics.iter().map(|d| d.rule.0).collect();
        let found = reported.iter().copied().filter(|r| claimed.contains(r)).collect();
        let proves = |rule: &&str| {
            !BY_DEFINITION.contains(rule)
                && matches!(group(rule), Some(Group::Proofs | Group::Data | Group::Security))
                || *rule == "unreachable-branch"
        };
        let others =
            reported.iter().copied().filter(|r| !claimed.contains(r)).filter(proves).collect();
        let (file, line) = self.checked.place(mutation.span);
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
        Some(Mutant {
            operator,
            at,
            problems,
            judged,
            found,
            others,
            changed: changed.collect(),
            lines: after.lines(),
        })
    }

    /// The problems that a mutation introduces, and whether these are known to be all.
    fn problems_of(&self, mutation: &Mutation, after: &Checked) -> (BTreeSet<Problem>, bool) {
        let mut new = BTreeSet::new();
        if let Oracle::Certain(problem) = mutation.oracle {
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
        match &mutation.oracle {
            Oracle::Certain(_) => {}
            // A condition may affect control flow.
            Oracle::Conditions => {
                for agent in 0..self.observed.len() {
                    if self.concerns(agent, mutation) {
                        judged &= self.compare(agent, mutation, after, &mut new);
                    }
                }
            }
            Oracle::Runs(agent) => judged &= self.compare(*agent, mutation, after, &mut new),
            Oracle::Renamed(agent) => {
                judged &= self.compare(*agent, mutation, after, &mut new);
                if after.program.complete {
                    new.insert(Problem::NeverRead);
                }
            }
            Oracle::Withheld { from, to, name, given } => {
                let program = &after.program;
                let all: Vec<String> = given.iter().chain([name]).cloned().collect();
                let run = |given: &[String]| {
                    runs::explore(program, program.agents.get(*to)?, given, RUNS)
                };
                let has = self.observed.get(*from).and_then(|s| s.as_ref()?.handed.as_ref());
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

    /// Whether a mutation is in the flow of an agent.
    fn concerns(&self, agent: usize, mutation: &Mutation) -> bool {
        let flow = self.checked.program.agents.get(agent).and_then(|a| a.flow.as_ref());
        flow.is_some_and(|flow| {
            flow.definitions.values().any(|step| {
                let whole = step.span;
                whole.file == mutation.span.file
                    && whole.start <= mutation.span.start
                    && mutation.span.end <= whole.end
            })
        })
    }

    /// Adds the problems that runs of an agent newly show. False if no run reaches the mutation.
    fn compare(
        &self,
        agent: usize,
        mutation: &Mutation,
        after: &Checked,
        new: &mut BTreeSet<Problem>,
    ) -> bool {
        let program = &after.program;
        let Some(before) = self.observed.get(agent).and_then(Option::as_ref) else { return false };
        let Some(changed) = program.agents.get(agent) else { return false };
        let Some(now) = runs::explore(program, changed, &given(program, changed), RUNS) else {
            return false;
        };
        if now.never_waits && !before.never_waits {
            new.insert(Problem::NeverWaits);
        }
        // An endless loop hides the steps after it.
        let often = before.steps.iter().filter(|(_, n)| **n >= MIN_VISITS);
        let missed: Vec<&String> =
            often.map(|(step, _)| step).filter(|step| !now.steps.contains_key(*step)).collect();
        if !now.never_waits && !missed.is_empty() {
            let more = runs::explore(program, changed, &given(program, changed), 8 * RUNS);
            if more.is_some_and(|more| missed.iter().any(|s| !more.steps.contains_key(*s))) {
                new.insert(Problem::StepNotReached);
            }
        }
        // The caller of an incomplete program may set variables that are declared and never set.
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
        // Runs must reach the mutation.
        let flow = self.checked.program.agents[agent].flow.iter();
        let step = flow.flat_map(|f| f.definitions.values()).find(|step| {
            step.span.file == mutation.span.file
                && step.span.start <= mutation.span.start
                && mutation.span.end <= step.span.end
        });
        let reached = step.is_some_and(|s| before.steps.contains_key(s.name.value.as_str()));
        let exact = matches!(mutation.oracle, Oracle::Renamed(_))
            || (matches!(mutation.oracle, Oracle::Runs(_))
                && step.is_some_and(|s| s.name.span != mutation.span));
        let same_mentions = now.mentioned.is_subset(&before.mentioned);
        reached && same_mentions && (!exact || before.places.contains(&mutation.span))
    }
}

/// The variables that any agent passes to this one.
fn given(program: &agentir_ir::Program, agent: &agentir_ir::Agent) -> Vec<String> {
    let all = program.agents().flat_map(|a| &a.coordination.handoffs);
    let to = all.filter(|h| h.to.value == agent.metadata.name.value);
    to.flat_map(|h| &h.context.pass).map(|p| p.name.value.to_string()).collect()
}

/// The mutants of all programs.
pub struct MutantReport {
    /// The number of programs.
    pub programs: usize,
    /// The mutants.
    pub mutants: Vec<Mutant>,
}

/// Generates and checks the mutants of all programs.
#[must_use]
pub fn run() -> MutantReport {
    use rayon::prelude::*;
    let programs = baselines();
    let mutants = programs.par_iter().flat_map(Baseline::mutate).collect();
    MutantReport { programs: programs.len(), mutants }
}

/// The missed defects and false positives, with details.
#[must_use]
pub fn unexpected(all: &MutantReport) -> Vec<String> {
    let names: Vec<&str> = operators().map(|operator| operator.name).collect();
    let describe = |p: &Mutant| {
        let what = match (p.problems.is_empty(), p.found.is_empty(), p.others.is_empty()) {
            (false, true, _) => "missed",
            (true, _, false) if p.judged => "no defect",
            _ => return None,
        };
        Some(format!(
            "{what}: {} in {}: {:?}\n    {}\n  found:\n    {}",
            names[p.operator],
            p.at,
            p.problems,
            p.changed.join("\n    "),
            p.lines.join("\n    ")
        ))
    };
    all.mutants.iter().filter_map(describe).collect()
}

/// The number of reports of each rule, by name.
pub type RuleCounts = BTreeMap<&'static str, usize>;
