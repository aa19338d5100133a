//! The values that the analysis computes are over-approximations: random programs are run with random users, tools and
//! models. No run enters a node that no values lead to, takes a branch that a rule calls impossible, or has a variable
//! outside of its set.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "tests end by panicking"
)]

mod generate;

use agentir_analysis::ProgramAnalysis;
use agentir_analysis::values::When;
use agentir_diagnostics::{Severity, Span};
use agentir_eval::Value;
use agentir_expr::Path;
use agentir_flow::cfg::{Cfg, NodeKind};
use agentir_ir::Program;
use agentir_lang_abl::Options;
use agentir_runtime::{
    Answer, Clock, Escalation, Event, EventKind, Extractor, FailureKind, FieldSpec, Host, Human,
    HumanReply, Input, Machine, Model, ModelError, ModelRequest, ModelResponse, ModelTask,
    Observer, Purpose, Session, Status, ToolCall, ToolFailure, ToolUse, Tools, Usage,
};
use agentir_tests::check::{File, check};
use generate::Random;
use petgraph::graph::NodeIndex;
use rayon::prelude::*;
use serde_json::{Map, Value as Json, json};

/// The turns of a conversation.
const TURNS: usize = 8;

struct Anyone(Random);

impl Anyone {
    fn value(&mut self, name: &str) -> Json {
        match name {
            "a" | "b" | "c" => json!(self.0.chance(50)),
            "n" | "m" => json!(self.0.below(9)),
            "guests" => json!(1 + self.0.below(8)),
            _ => json!(self.0.pick(&["red", "green", "blue"])),
        }
    }

    fn answer(&mut self, task: &ModelTask) -> Answer {
        match task {
            ModelTask::Extract { fields, .. } => {
                let mut values = Map::new();
                for field in fields {
                    if self.0.chance(60) {
                        values.insert(field.name.clone(), self.value(&field.name));
                    }
                }
                Answer::Values(values)
            }
            ModelTask::Choose { candidates, .. } => {
                let chosen = (!candidates.is_empty() && self.0.chance(60))
                    .then(|| candidates[self.0.below(candidates.len())].name.clone());
                Answer::Choice(chosen.into_iter().map(|name| (name, 0.9)).collect())
            }
            ModelTask::Judge { .. } => Answer::Verdict(self.0.chance(50)),
            ModelTask::Converse { tools, .. } => {
                let tools: Vec<_> = tools.iter().filter(|t| t.purpose != Purpose::Return).collect();
                let mut calls = Vec::new();
                if !tools.is_empty() && self.0.chance(70) {
                    let tool = tools[self.0.below(tools.len())].name.clone();
                    let names = ["a", "b", "c", "n", "m", "word"];
                    let arguments: Map<String, Json> =
                        names.iter().map(|name| ((*name).to_owned(), self.value(name))).collect();
                    calls.push(ToolUse { id: "c".to_owned(), name: tool, arguments });
                }
                let text = if calls.is_empty() { "fine" } else { "" };
                Answer::Message { text: text.to_owned(), calls }
            }
            ModelTask::Several { questions } => {
                Answer::Several(questions.iter().map(|q| self.answer(q)).collect())
            }
            ModelTask::Summarize { .. } => Answer::Summary("it was about boats".to_owned()),
        }
    }
}

impl Model for Anyone {
    fn respond(
        &mut self,
        request: &ModelRequest,
        _: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        Ok(ModelResponse { answer: self.answer(&request.task), usage: Usage::default() })
    }
}

struct Anything(Random);

impl Tools for Anything {
    fn call(&mut self, _: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        if self.0.chance(20) {
            return Err(ToolFailure::new(FailureKind::Error, "it failed"));
        }
        Ok(json!({
            "ok": self.0.chance(50),
            "amount": self.0.below(9),
            "state": self.0.pick(&["red", "green", "blue"]),
        }))
    }
}

struct Nobody;

impl Human for Nobody {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        HumanReply { messages: Vec::new(), outcome: None }
    }
}

struct Still;

impl Clock for Still {
    fn now(&self) -> i64 {
        1_780_000_000_000
    }
    fn random(&self) -> u64 {
        7
    }
    fn sleep(&self, _: u64) {}
}

/// Takes the values of fields out of messages such as `n=3 a=true`.
struct Named;

impl Extractor for Named {
    fn extract(&self, message: &str, fields: &[FieldSpec], _: Option<&str>) -> Map<String, Json> {
        let mut values = Map::new();
        for field in fields {
            let said = message.split_whitespace().find_map(|word| {
                word.split_once('=').filter(|(name, _)| *name == field.name).map(|(_, v)| v)
            });
            if let Some(said) = said {
                let value = serde_json::from_str(said).unwrap_or_else(|_| Json::from(said));
                values.insert(field.name.clone(), value);
            }
        }
        values
    }
}

/// The nodes that a turn enters.
#[derive(Default)]
struct Watcher {
    path: Vec<NodeIndex>,
    log: Vec<String>,
}

impl Observer for Watcher {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Node { node, kind, .. } => {
                self.path.push(NodeIndex::new(*node));
                self.log.push(format!("  {node} {kind}"));
            }
            EventKind::Set { variable, value } => {
                self.log.push(format!("    {variable} = {value}"))
            }
            EventKind::Clear { variable } => self.log.push(format!("    clear {variable}")),
            EventKind::Input { text } => self.log.push(format!("user: {text}")),
            _ => {}
        }
    }
}

/// The path of a variable as conditions write it.
fn path(name: &str, shared: bool) -> Path {
    let name = if shared { format!("@variables.{name}") } else { name.to_owned() };
    Path::dotted(&name, Span::default())
}

/// What is wrong with the state at the end of a turn.
fn outside(
    analysis: &ProgramAnalysis<'_>,
    cfg: &Cfg<'_>,
    at: NodeIndex,
    session: &Session,
) -> Option<String> {
    let node = cfg.node(at)?;
    // Of the agent in charge it is known what its variables are.
    let in_charge = cfg.agent(node.agent)?.agent.metadata.name.value.as_str();
    if session.agent() != Some(in_charge) {
        return None;
    }
    let shared = analysis.traits().shared_variables;
    for name in generate::VARIABLES {
        let key = if shared { format!("@variables.{name}") } else { (*name).to_owned() };
        let value = match session.variable(&key) {
            None | Some(Json::Null) => Value::Undefined,
            Some(Json::Bool(value)) => Value::Bool(value),
            Some(Json::Number(n)) => Value::Number(n.as_f64()?),
            Some(Json::String(text)) => Value::from(text.as_str()),
            Some(_) => continue,
        };
        let set = analysis.values().at(node.agent, at, When::After, &path(name, shared));
        if let Some(set) = set
            && !set.holds(&value)
        {
            return Some(format!("`{name}` is {value}, which is not in: {set}"));
        }
    }
    None
}

/// Runs a generated program. Returns what was wrong, and how many turns were looked at.
fn converse(seed: u64) -> (Option<String>, usize, usize) {
    let mut random = Random::new(seed);
    let files: Vec<File> = generate::program(&mut random)
        .into_iter()
        .map(|(name, text)| File { name, text })
        .collect();
    let mut checked = check(&files, Options::default());
    let whole = || files.iter().map(|f| f.text.as_str()).collect::<Vec<_>>().join("\n=====\n");
    if let Some(error) = checked.diagnostics.iter().find(|d| d.severity == Severity::Error) {
        return (Some(format!("seed {seed}: {}\n{}", checked.line(error), whole())), 0, 0);
    }
    let program: &mut Program = &mut checked.program;
    if program.entry_agent.is_none() {
        let first = program.agents().next().map(|agent| agent.metadata.name.clone());
        program.entry_agent = first;
    }
    let program = &checked.program;
    let dead: Vec<Span> = checked
        .diagnostics
        .iter()
        .filter(|d| ["unreachable-branch", "never-set"].contains(&d.rule.0))
        .filter(|d| d.message.contains("never"))
        .map(|d| d.primary.span)
        .collect();
    let machine = Machine::new(program);
    let analysis = ProgramAnalysis::new(program);
    let cfg = machine.cfg();
    let mut session = machine.session(None).unwrap();
    let mut model = Anyone(Random::new(random.next()));
    let mut tools = Anything(Random::new(random.next()));
    let mut looked_at = 0;
    let mut log = Vec::new();
    for turn in 0..TURNS {
        let message = random.pick(&[
            "n=3 a=true",
            "guests=2 a=false",
            "guests=7 word=red",
            "b=true",
            "help",
            "yes",
            "word=blue guests=5",
            "stop",
        ]);
        let input = Input::text(message);
        let mut watcher = Watcher::default();
        let mut host = Host {
            model: &mut model,
            extractor: &Named,
            tools: &mut tools,
            human: &mut Nobody,
            clock: &Still,
            observer: &mut watcher,
        };
        let input = (turn > 0).then_some(&input);
        let reply = machine.turn(&mut session, input, &mut host).unwrap();
        log.append(&mut watcher.log);
        let mut problem = None;
        for (at, node) in watcher.path.iter().enumerate() {
            let Some(here) = cfg.node(*node) else { continue };
            if here.kind != NodeKind::Dead && analysis.values().is_unreached(here.agent, *node) {
                problem = Some(format!("{node:?} is entered, and no values lead to it"));
                break;
            }
            // A branch that is never taken is not taken.
            let Some(next) = watcher.path.get(at + 1) else { continue };
            let mut edges = cfg.successors(*node).filter(|(to, _)| to == next).peekable();
            let never = |edge: &agentir_flow::cfg::Edge<'_>| {
                let last = cfg.last_literal(edge.guard).filter(|literal| literal.holds);
                last.is_some_and(|literal| dead.contains(&literal.test.span()))
            };
            if edges.peek().is_some() && edges.all(|(_, edge)| never(edge)) {
                problem = Some(format!("{node:?} goes where it never goes: {next:?}"));
                break;
            }
        }
        let last = watcher.path.last().copied();
        let whole_turn = reply.error.is_none();
        let problem = problem.or_else(|| {
            let at = last.filter(|_| whole_turn)?;
            outside(&analysis, cfg, at, &session)
        });
        if let Some(problem) = problem {
            let log = log.join("\n");
            return (Some(format!("seed {seed}: {problem}\n{}\n{log}", whole())), looked_at, 0);
        }
        looked_at += watcher.path.len();
        if matches!(reply.status, Status::Done | Status::Failed) {
            break;
        }
    }
    (None, looked_at, dead.len())
}

fn run(seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let all: Vec<_> = seeds.into_par_iter().map(converse).collect();
    let problems: Vec<&String> = all.iter().filter_map(|(problem, ..)| problem.as_ref()).collect();
    let rest = problems.iter().skip(1).take(20).filter_map(|problem| problem.lines().next());
    let shown: Vec<&str> = problems.iter().map(|p| p.as_str()).take(1).chain(rest).collect();
    assert!(problems.is_empty(), "{} of {count}:\n{}", problems.len(), shown.join("\n"));
    let nodes: usize = all.iter().map(|(_, nodes, _)| nodes).sum();
    let claims: usize = all.iter().map(|(.., claims)| claims).sum();
    // The programs do something, and the rules say something of them.
    assert!(nodes as u64 > 10 * count && claims as u64 > count / 4, "{nodes} and {claims}");
}

#[test]
fn no_run_leaves_the_values_that_are_computed() {
    run(0..200);
}

/// `SEEDS=600` for another number.
#[test]
#[ignore = "takes minutes"]
fn no_run_of_ten_thousand_leaves_the_values_that_are_computed() {
    let seeds = std::env::var("SEEDS").ok().and_then(|n| n.parse().ok());
    run(0..seeds.unwrap_or(10_000));
}
