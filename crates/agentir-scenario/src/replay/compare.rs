//! Whether a conversion does the same as its source in conversations.

use super::{Action, ActionKind, ReplayedTurn, Replayer};
use crate::generate::{Conversation, Generated, Limits, generate};
use crate::intents::Names;
use agentir_convert::{Conversion, DifferingConversation, Location, ReplayTurn, Replays, Report};
use agentir_diagnostics::{SourceMap, Span};
use agentir_flow::cfg::{Cfg, Node, NodeKind, Origin};
use agentir_ir::{Program, Statement, Tool};
use agentir_runtime::{Machine, StartError};
use petgraph::graph::{EdgeIndex, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The number of conversations of a report that differ.
const MAX_DIFFERING: usize = 20;

/// Makes conversations with a program, and holds them with its conversion. Tools answer alike in both; those that are scripts
/// and tables of the programs answer by themselves.
///
/// # Errors
/// A [`StartError`] if one of them has no agent to begin with.
pub fn compare_by_replay(
    program: &Program,
    sources: &SourceMap,
    done: &Conversion,
    limits: Limits,
) -> Result<Replays, StartError> {
    let machine = Machine::new(program);
    let made = generate(&machine, first_agent(program), limits)?;
    compare_conversations((program, sources), &machine, &made, done)
}

/// Holds conversations that were made with a program with its conversion.
///
/// # Errors
/// As [`compare_by_replay`].
pub fn compare_conversations(
    (program, sources): (&Program, &SourceMap),
    machine: &Machine<'_>,
    made: &Generated,
    done: &Conversion,
) -> Result<Replays, StartError> {
    let renamed = done.report.renamed.iter();
    let renamed = renamed.map(|one| (one.what, one.from.as_str(), one.to.as_str()));
    let names = Names::between(program, &done.program, renamed);
    let own = Names::own(program);
    let output = Machine::new(&done.program);
    let losses = || done.report.losses();
    let sides = [
        Side {
            cfg: machine.cfg(),
            sources,
            lines: Lines::of(losses().filter_map(|entry| entry.source.as_ref())),
            added: Lines::default(),
        },
        Side {
            cfg: output.cfg(),
            sources: &done.sources,
            lines: Lines::of(losses().filter_map(|entry| entry.target.as_ref())),
            added: Lines::of(done.report.added.iter().filter_map(|added| added.target.as_ref())),
        },
    ];
    let acts_by_tools = |program: &Program| {
        let first = program.agents().next();
        first.is_some_and(|agent| agent.metadata.dialect.traits().model_acts_by_tools)
    };
    // Where the model acts by tools, an agent that was called is done when it has answered.
    let ends_differ = acts_by_tools(program) != acts_by_tools(&done.program);
    let mut all = Replays { conversations: made.conversations.len(), ..Replays::default() };
    let mut seen = FxHashSet::default();
    let (source, target) = (Replayer::new(machine), Replayer::new(&output));
    for conversation in &made.conversations {
        let first = source.replay(conversation, &own)?;
        let second = target.replay(conversation, &names)?;
        let Some(difference) = difference(&first, &second) else {
            all.same += 1;
            continue;
        };
        let on_path = sides.iter().zip(&difference.paths).any(|(side, path)| side.reports(path));
        let declared =
            difference.variable.as_ref().is_some_and(|name| mentions(&done.report, name));
        let blocked = second.get(difference.turn).is_some_and(|turn| turn.exit_blocked);
        let reported = on_path || declared;
        if reported {
            all.reported += 1;
        } else if difference.at_end && (blocked || ends_differ) {
            all.end_of_agent += 1;
            continue;
        }
        if all.differing.len() < MAX_DIFFERING && seen.insert(difference.what.clone()) {
            let turns = side_by_side(conversation, [&first, &second], difference.turn);
            all.differing.push(DifferingConversation { reported, first: difference.what, turns });
        }
    }
    all.differing.sort_by_key(|one| one.reported);
    Ok(all)
}

/// The agent with which to begin if a program does not say so.
pub fn first_agent(program: &Program) -> Option<&str> {
    match program.entry() {
        Some(_) => None,
        None => program.agents().next().map(|agent| agent.metadata.name.value.as_str()),
    }
}

/// The lines that a report reports a loss of, by file.
#[derive(Default)]
struct Lines(FxHashMap<String, BTreeSet<u32>>);

impl Lines {
    fn of<'p>(locations: impl Iterator<Item = &'p Location>) -> Self {
        let mut lines = Self::default();
        for at in locations {
            lines.0.entry(at.file.clone()).or_default().insert(at.line);
        }
        lines
    }

    fn reported(&self, sources: &SourceMap, span: Span, first_only: bool) -> bool {
        let Some(file) = sources.get(span.file).filter(|_| span != Span::default()) else {
            return false;
        };
        let Some(lines) = self.0.get(&*file.name) else { return false };
        let first = file.line_column(span.start).line;
        let last = if first_only { first } else { file.line_column(span.end).line };
        lines.range(first..=last).next().is_some()
    }
}

/// A program with its graph, and where losses of it are reported.
struct Side<'s> {
    cfg: &'s Cfg<'s>,
    sources: &'s SourceMap,
    lines: Lines,
    /// Where there is what the other program does not have.
    added: Lines,
}

impl Side<'_> {
    /// Whether a loss of something on a path is reported.
    fn reports(&self, path: &[usize]) -> bool {
        let path: Vec<_> = path.iter().map(|n| NodeIndex::new(*n)).collect();
        let nodes: Vec<_> = path.iter().filter_map(|at| self.cfg.node(*at)).collect();
        let graph = self.cfg.graph();
        let mut edges =
            path.iter().zip(path.iter().skip(1)).filter_map(|(a, b)| graph.find_edge(*a, *b));
        nodes.iter().any(|node| self.at_node(node))
            || nodes.iter().any(|node| self.at_questions(node))
            || edges.any(|edge| self.at_edge(edge))
    }

    fn at_node(&self, node: &Node<'_>) -> bool {
        // What stands for a whole agent or step is where that begins.
        let first_only = !node.kind.is_statement();
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
        self.lines.reported(self.sources, node.span, first_only)
            || approval.is_some_and(|at| self.lines.reported(self.sources, at, true))
    }

    /// Questions with fixed answers are where the model chooses. A tool that searches them leaves it to the model what it
    /// says.
    fn at_questions(&self, node: &Node<'_>) -> bool {
        let part = self.cfg.agent(node.agent).filter(|_| node.kind == NodeKind::Choose);
        let Some(agent) = part.map(|part| part.agent) else { return false };
        let mut searching = agent.tools.iter().filter(|tool| !tool.questions.is_empty());
        let questions = agent.knowledge.iter().flat_map(|knowledge| &knowledge.questions);
        let mut answers = questions.filter_map(|question| question.answer.as_ref());
        searching.any(|tool| self.added.reported(self.sources, tool.name.span, true))
            || answers.any(|answer| self.lines.reported(self.sources, answer.text.span, true))
    }

    fn at_edge(&self, edge: EdgeIndex) -> bool {
        let edge = self.cfg.edge(edge);
        edge.is_some_and(|(.., edge)| self.lines.reported(self.sources, edge.span, true))
    }
}

/// The first difference between two conversations, and the paths that lead to it.
struct Difference {
    /// What each of them does.
    what: [String; 2],
    turn: usize,
    paths: [Vec<usize>; 2],
    /// The variable whose value differs.
    variable: Option<String>,
    /// Whether a model could not say that it is done, or an agent had just answered and one of the two goes on with
    /// another.
    at_end: bool,
}

fn describe(action: Option<&Action>) -> String {
    action.map_or_else(|| "does nothing more".to_owned(), |action| action.kind.to_string())
}

fn difference(first: &[ReplayedTurn], second: &[ReplayedTurn]) -> Option<Difference> {
    for turn in 0..first.len().max(second.len()) {
        let none = ReplayedTurn::default();
        let sides @ [one, other] = [first, second].map(|side| side.get(turn).unwrap_or(&none));
        for at in 0..one.actions.len().max(other.actions.len()) {
            let actions @ [left, right] = sides.map(|side| side.actions.get(at));
            if left.map(|action| &action.kind) == right.map(|action| &action.kind) {
                continue;
            }
            let before = at.checked_sub(1).and_then(|at| one.actions.get(at));
            let answered = before.is_some_and(|action| action.kind == ActionKind::Answers);
            let moves = |action: &Action| matches!(action.kind, ActionKind::Controls(_));
            return Some(Difference {
                what: actions.map(describe),
                turn,
                paths: actions.map(|a| a.map(|a| a.path.clone()).unwrap_or_default()),
                variable: None,
                at_end: other.exit_blocked || answered && actions.into_iter().flatten().any(moves),
            });
        }
        let mut names: Vec<&String> = one.state.keys().chain(other.state.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            let values @ [left, right] = sides.map(|side| side.state.get(name));
            if left == right {
                continue;
            }
            let shown = |value: Option<&Json>| match value {
                Some(value) => format!("sets {name} to {value}"),
                None => format!("leaves {name} unset"),
            };
            return Some(Difference {
                what: values.map(shown),
                turn,
                paths: sides.map(|side| side.set_at.get(name).copied().into_iter().collect()),
                variable: Some(name.clone()),
                at_end: false,
            });
        }
    }
    None
}

/// Whether the report mentions a variable as such.
fn mentions(report: &Report, variable: &str) -> bool {
    let declared = [format!("[{variable}]"), format!(".{variable}.")];
    report.losses().any(|entry| declared.iter().any(|d| entry.path.contains(d.as_str())))
}

/// The turns of two conversations, up to where they differ.
fn side_by_side(
    conversation: &Conversation,
    sides: [&[ReplayedTurn]; 2],
    until: usize,
) -> Vec<ReplayTurn> {
    let turns = conversation.turns.iter().enumerate().take(until + 1);
    turns
        .map(|(number, turn)| {
            let [source, output] = sides.map(|side| {
                let actions = side.get(number).map(|turn| turn.actions.as_slice());
                actions.unwrap_or_default().iter().map(|action| action.kind.to_string()).collect()
            });
            ReplayTurn { input: turn.input.as_ref().map(|i| i.text.clone()), source, output }
        })
        .collect()
}
