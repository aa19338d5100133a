//! Cross-language replay: converted agents behave like their sources, except for differences that the
//! report of the conversion announces. `docs/semantics.md`, "Cross-language replay", says what is
//! compared.
//!
//! `AGENTIR_CONVERSATIONS=300` replays 300 conversations per program.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir::{languages, targets};
use agentir_convert::{Conversion, Location, Report, Target, convert};
use agentir_diagnostics::{SourceMap, Span};
use agentir_flow::cfg::{Cfg, NodeKind, Origin};
use agentir_ir::{Program, Statement, Tool};
use agentir_lang_abl::Options;
use agentir_runtime::Machine;
use agentir_scenario::{
    Action, ActionKind, Conversation, Generated, Limits, Names, ReplayedTurn, generate, replay,
};
use agentir_tests::check::{Checked, File, check};
use agentir_tests::conversions::correct;
use agentir_tests::samples::{external_abl, external_agent_script, external_files};
use petgraph::graph::NodeIndex;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// So many conversations are tried with each program.
const TRIES: usize = 10;

/// Differences that are left although nothing announces them: parts of what is reported of them, each
/// with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[(
    "mica/retail_banking/agents.yml to abl",
    "a knowledge base of ADL returns when it has answered; in ABL its knowledge is a part of the instructions, and \
     nothing says yet that it is done",
)];

fn tries() -> usize {
    let given = std::env::var("AGENTIR_CONVERSATIONS").ok().and_then(|n| n.parse().ok());
    given.unwrap_or(TRIES)
}

/// A program and its sources.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) language: &'static str,
    pub(crate) checked: Checked,
}

impl Sample {
    fn new(files: &[File], options: Options, language: &'static str) -> Option<Self> {
        let checked = check(files, options);
        let sound = checked.errors().next().is_none() && !checked.program.agents.is_empty();
        let name = files.first()?.name.clone();
        sound.then_some(Self { name, language, checked })
    }
}

type Input = (Vec<File>, Options, &'static str);

fn samples() -> Vec<Input> {
    let languages = ["abl", "agent-script", "adl"].into_iter();
    let all = languages.flat_map(|language| {
        correct(language).into_iter().map(move |(files, options)| (files, options, language))
    });
    all.collect()
}

fn third_party_samples() -> Vec<Input> {
    let abl = external_abl()
        .into_iter()
        .map(|sample| (sample.files, Options { version: sample.version, fragment: false }, "abl"));
    let scripts = external_agent_script().into_iter();
    let scripts = scripts.map(|f| (vec![f], Options::default(), "agent-script"));
    let adl = external_files("adl").into_iter();
    let bots = adl.filter(|f| agentir_lang_adl::is_adl(&f.name, &f.text));
    abl.chain(scripts).chain(bots.map(|f| (vec![f], Options::default(), "adl"))).collect()
}

/// The lines that a report announces something of, by file.
#[derive(Default)]
struct Lines(FxHashMap<String, FxHashSet<u32>>);

impl Lines {
    fn of<'p>(places: impl Iterator<Item = &'p Location>) -> Self {
        let mut lines = Self::default();
        for place in places {
            lines.0.entry(place.file.clone()).or_default().insert(place.line);
        }
        lines
    }

    fn announced(&self, sources: &SourceMap, span: Span, first_only: bool) -> bool {
        let Some(file) = sources.get(span.file).filter(|_| span != Span::default()) else {
            return false;
        };
        let Some(lines) = self.0.get(&*file.name) else { return false };
        let first = file.line_column(span.start).line;
        let last = if first_only { first } else { file.line_column(span.end).line };
        lines.iter().any(|line| (first..=last).contains(line))
    }
}

/// A program with its graph, and what a report announces of it.
struct Side<'s> {
    cfg: &'s Cfg<'s>,
    sources: &'s SourceMap,
    lines: Lines,
}

impl Side<'_> {
    /// Whether something on the way from node to node is announced.
    fn announces(&self, path: &[usize]) -> bool {
        let nodes: Vec<_> = path.iter().map(|n| NodeIndex::new(*n)).collect();
        let at_nodes = nodes.iter().any(|at| {
            self.cfg.node(*at).is_some_and(|node| {
                // What stands for a whole agent or step is where that begins.
                let whole = !matches!(
                    node.kind,
                    NodeKind::Say
                        | NodeKind::Instruct
                        | NodeKind::Await
                        | NodeKind::Collect
                        | NodeKind::Call
                        | NodeKind::Set
                        | NodeKind::Clear
                        | NodeKind::Transform
                        | NodeKind::Store
                        | NodeKind::Check
                        | NodeKind::Branch
                        | NodeKind::Delegate
                        | NodeKind::Handoff
                        | NodeKind::Escalate
                        | NodeKind::Complete
                );
                // Whether a call needs approval is said where its tool is declared.
                let approval = match node.origin {
                    Origin::Statement(Statement::Call(call)) => {
                        let agent = self.cfg.agent(node.agent).map(|part| part.agent);
                        let mut tools = agent.into_iter().flat_map(|agent| &agent.tools);
                        let tool = tools.find(|tool| tool.name.value == call.tool.value);
                        tool.and_then(Tool::confirmation_required_at)
                    }
                    _ => None,
                };
                self.lines.announced(self.sources, node.span, whole)
                    || approval.is_some_and(|at| self.lines.announced(self.sources, at, true))
            })
        });
        // Questions with fixed answers are where the model chooses.
        let agents = nodes.iter().filter_map(|at| self.cfg.node(*at));
        let agents = agents.filter(|node| node.kind == NodeKind::Choose);
        let known = agents.filter_map(|node| self.cfg.agent(node.agent)?.agent.knowledge.as_ref());
        let questions = known.flat_map(|knowledge| &knowledge.questions);
        let mut texts = questions.filter_map(|q| q.answer.as_ref()).map(|t| t.text.span);
        let at_nodes = at_nodes || texts.any(|span| self.lines.announced(self.sources, span, true));
        let pairs = nodes.iter().zip(nodes.iter().skip(1));
        at_nodes
            || pairs.filter_map(|(a, b)| self.cfg.graph().find_edge(*a, *b)).any(|edge| {
                let weight = self.cfg.edge(edge).map(|(.., weight)| weight.span);
                weight.is_some_and(|span| self.lines.announced(self.sources, span, true))
            })
    }
}

/// How a conversation compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Same,
    /// A loss is reported where it differs.
    Announced,
    /// The languages differ in who says that an agent is done.
    WhoIsDone,
    Different,
}

/// The first difference between two conversations, in words, and the ways that lead to it.
struct Difference {
    what: String,
    turn: usize,
    paths: [Vec<usize>; 2],
    /// The variable whose value differs.
    variable: Option<String>,
    /// Whether a model could not say that it is done, or an agent had just answered and one of the two
    /// goes on with another.
    done: bool,
}

fn action(action: Option<&Action>) -> String {
    action.map_or_else(|| "nothing more".to_owned(), |d| d.kind.to_string())
}

fn difference(first: &[ReplayedTurn], second: &[ReplayedTurn]) -> Option<Difference> {
    for turn in 0..first.len().max(second.len()) {
        let none = ReplayedTurn::default();
        let [one, other] = [first, second].map(|side| side.get(turn).unwrap_or(&none));
        for at in 0..one.actions.len().max(other.actions.len()) {
            let [left, right] = [one, other].map(|side| side.actions.get(at));
            if left.map(|d| &d.kind) != right.map(|d| &d.kind) {
                let path = |d: Option<&Action>| d.map(|d| d.path.clone()).unwrap_or_default();
                let what = format!("{} / {}", action(left), action(right));
                let paths = [path(left), path(right)];
                let before = at.checked_sub(1).and_then(|at| one.actions.get(at));
                let answered = before.is_some_and(|d| d.kind == ActionKind::Answers);
                let moves = |d: Option<&Action>| {
                    d.is_some_and(|d| matches!(d.kind, ActionKind::Controls(_)))
                };
                let done = other.exit_blocked || answered && (moves(left) || moves(right));
                return Some(Difference { what, turn, paths, variable: None, done });
            }
        }
        let names: FxHashSet<&String> = one.state.keys().chain(other.state.keys()).collect();
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort();
        for name in names {
            let [left, right] = [one, other].map(|side| side.state.get(name));
            if left != right {
                let shown = |v: Option<&serde_json::Value>| {
                    v.map_or_else(|| "unset".to_owned(), ToString::to_string)
                };
                let what = format!("{name} = {} / {}", shown(left), shown(right));
                let set =
                    |side: &ReplayedTurn| side.set_at.get(name).copied().into_iter().collect();
                let paths = [set(one), set(other)];
                let variable = Some(name.clone());
                return Some(Difference { what, turn, paths, variable, done: false });
            }
        }
    }
    None
}

/// Whether the report speaks of a variable as such.
fn speaks_of(report: &Report, variable: &str) -> bool {
    let declared = [format!("[{variable}]"), format!(".{variable}.")];
    report.losses().any(|entry| declared.iter().any(|d| entry.path.contains(d.as_str())))
}

pub(crate) fn entry(program: &Program) -> Option<&str> {
    match program.entry() {
        Some(_) => None,
        None => program.agents().next().map(|a| a.metadata.name.value.as_str()),
    }
}

/// The conversation up to where it differs.
fn told(conversation: &Conversation, played: &[ReplayedTurn], until: usize) -> String {
    let mut out = String::new();
    for (turn, played) in conversation.turns.iter().zip(played).take(until + 1) {
        if let Some(input) = &turn.input {
            let _ = writeln!(out, "    > {}", input.text);
        }
        for action in &played.actions {
            let _ = writeln!(out, "    {}", action.kind);
        }
    }
    out
}

/// Goes through the conversations of a program with its conversion.
pub(crate) fn retell(
    sample: &Sample,
    machine: &Machine<'_>,
    made: &Generated,
    target: Target,
    problems: &mut Vec<String>,
) -> [usize; 4] {
    let program = &sample.checked.program;
    let done: Conversion = convert(languages(), program, &sample.checked.sources, target);
    let renamed = done
        .report
        .renamed
        .iter()
        .map(|renamed| (renamed.what, renamed.from.as_str(), renamed.to.as_str()));
    let names = Names::between(program, &done.program, renamed);
    let theirs = Machine::new(&done.program);
    let lost = || done.report.losses();
    let sides = [
        Side {
            cfg: machine.cfg(),
            sources: &sample.checked.sources,
            lines: Lines::of(lost().filter_map(|e| e.source.as_ref())),
        },
        Side {
            cfg: theirs.cfg(),
            sources: &done.sources,
            lines: Lines::of(lost().filter_map(|e| e.target.as_ref())),
        },
    ];
    let mut counts = [0; 4];
    let mut seen = FxHashSet::default();
    for conversation in &made.conversations {
        let first = replay(machine, entry(program), conversation, &Names::own(program)).unwrap();
        let second = replay(&theirs, entry(&done.program), conversation, &names).unwrap();
        let fate = match difference(&first, &second) {
            None => Verdict::Same,
            Some(difference) => {
                let on_the_way =
                    sides.iter().zip(&difference.paths).any(|(side, path)| side.announces(path));
                let declared =
                    difference.variable.as_ref().is_some_and(|v| speaks_of(&done.report, v));
                let script = |language: &str| language.starts_with("agent-script");
                let kept = second.get(difference.turn).is_some_and(|played| played.exit_blocked);
                let who = kept || script(sample.language) != script(target.name());
                if on_the_way || declared {
                    Verdict::Announced
                } else if difference.done && who {
                    Verdict::WhoIsDone
                } else {
                    let what = format!("{} to {}: {}", sample.name, target.name(), difference.what);
                    let reviewed = EXCEPTIONS.iter().any(|(part, _)| what.contains(part));
                    if !reviewed && seen.insert(difference.what.clone()) {
                        let [ours, theirs] =
                            [&first, &second].map(|way| told(conversation, way, difference.turn));
                        let theirs = if ours == theirs { String::new() } else { theirs };
                        problems.push(format!("{what}\n{ours}\n{theirs}"));
                    }
                    Verdict::Different
                }
            }
        };
        counts[fate as usize] += 1;
    }
    counts
}

/// What a conversation does, told by what was after in it, is what it did when it was made: otherwise
/// comparing would say nothing.
fn faithful(sample: &Sample, machine: &Machine<'_>, made: &Generated) -> Vec<String> {
    let mut problems = Vec::new();
    let names = Names::own(&sample.checked.program);
    for (n, conversation) in made.conversations.iter().enumerate() {
        let again = replay(machine, entry(&sample.checked.program), conversation, &names).unwrap();
        let status = |n: usize| again.get(n).and_then(|t| t.actions.last()).map(|d| d.kind.clone());
        for (at, turn) in conversation.turns.iter().enumerate() {
            if status(at) != Some(ActionKind::Ends(turn.status)) {
                problems.push(format!("{}: {n}: turn {at} ends otherwise", sample.name));
                break;
            }
            let calls: Vec<usize> =
                again[at].actions.iter().flat_map(|d| d.path.iter().copied()).collect();
            if calls != turn.path {
                problems.push(format!("{}: {n}: turn {at} goes another way", sample.name));
                break;
            }
        }
    }
    problems
}

#[test]
fn converted_agents_do_the_same_but_for_what_is_announced() {
    replays_are_the_same(samples());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn converted_third_party_agents_do_the_same_but_for_what_is_announced() {
    replays_are_the_same(third_party_samples());
}

fn replays_are_the_same(inputs: Vec<Input>) {
    let limits = Limits { max_tries: tries(), ..Limits::default() };
    type Row = BTreeMap<(&'static str, &'static str), [usize; 4]>;
    let (mut problems, unfaithful, table) = inputs
        .into_par_iter()
        .filter_map(|(files, options, language)| Sample::new(&files, options, language))
        .map(|sample| {
            let sample = &sample;
            let program = &sample.checked.program;
            let machine = Machine::new(program);
            let made = generate(&machine, entry(program), limits).unwrap();
            let mut problems = Vec::new();
            let mut row = Row::new();
            for target in targets::all() {
                let counts = retell(sample, &machine, &made, target, &mut problems);
                row.insert((sample.language, target.name()), counts);
            }
            (problems, faithful(sample, &machine, &made), row)
        })
        .reduce(Default::default, |mut a, b| {
            a.0.extend(b.0);
            a.1.extend(b.1);
            for (pair, counts) in b.2 {
                let all = a.2.entry(pair).or_insert([0; 4]);
                all.iter_mut().zip(counts).for_each(|(all, more)| *all += more);
            }
            a
        });
    let mut told = String::new();
    for ((from, to), [same, announced, done, different]) in &table {
        let _ = writeln!(told, "{from} to {to}: {same} / {announced} / {done} / {different}");
    }
    eprintln!(
        "the same / up to what is announced / up to who is done / reviewed or different\n{told}"
    );
    problems.extend(unfaithful);
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems.join("\n"));
}
