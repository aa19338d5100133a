//! Random conversations with a program, by the runtime. The user, the tools and the model answer with anything that
//! their declarations allow, preferably with what the program compares. What a conversation reaches is possible; what
//! very many conversations do not reach is assumed to be impossible.

use crate::check::Checked;
use agentir_bench::generate::Random;
use agentir_diagnostics::Span;
use agentir_expr::{Expr, ExprKind, Literal, Segment, TypeExpr, TypeKind, Visit};
use agentir_flow::cfg::{Cfg, Edge, NodeKind};
use agentir_ir::{Node, Program, Tool};
use agentir_runtime::{
    Answer, Clock, Escalation, Event, EventKind, Extractor, FailureKind, FieldSpec, FieldType,
    Host, Human, HumanReply, Input, Machine, Model, ModelError, ModelRequest, ModelResponse,
    ModelTask, Observer, Status, ToolCall, ToolFailure, ToolUse, Tools, Usage,
};
use petgraph::graph::NodeIndex;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The maximal number of turns of a conversation.
const TURNS: usize = 8;

/// A file and a line, from 1.
pub(super) type Place = (String, u32);

/// The observations of conversations.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// The places of the nodes that conversations entered, with the number of conversations.
    pub(super) reached: BTreeMap<Place, usize>,
    /// The number of conversations in which a turn did not end by itself.
    pub(super) endless: usize,
    /// The conditions that did not hold, as written.
    pub(super) failed: BTreeSet<String>,
    /// The lines of branches that were taken although a rule says that they never are.
    pub(super) refuted: BTreeSet<Place>,
    /// The conversations.
    pub(super) conversations: usize,
}

/// What the literals of a program are, from which values are chosen.
#[derive(Debug, Default)]
struct Pool {
    numbers: Vec<f64>,
    texts: Vec<String>,
    members: BTreeSet<String>,
}

impl Pool {
    fn of(program: &Program) -> Self {
        let mut pool = Self {
            numbers: vec![0.0, 1.0],
            texts: ["yes", "no", "abc", "2030-01-31", "12345"].map(str::to_owned).into(),
            members: BTreeSet::new(),
        };
        for agent in program.agents() {
            agent.walk(&mut |node: Node<'_>| node.exprs(&mut |expr| pool.add(expr)));
        }
        pool.numbers.sort_by(f64::total_cmp);
        pool.numbers.dedup();
        pool.texts.sort();
        pool.texts.dedup();
        pool
    }

    fn add(&mut self, expr: &Expr) {
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Literal(Literal::Number(n)) => {
                    self.numbers.extend([n - 1.0, *n, n + 1.0]);
                }
                ExprKind::Literal(Literal::String(text)) => self.texts.push(text.to_string()),
                ExprKind::Path(path) => {
                    self.members.extend(path.segments.iter().filter_map(|s| match s {
                        Segment::Field(name) => Some(name.value.to_string()),
                        _ => None,
                    }));
                }
                _ => {}
            }
            Visit::Children
        });
    }
}

struct Chance<'p> {
    random: Random,
    pool: &'p Pool,
}

impl Chance<'_> {
    fn number(&mut self) -> Json {
        json!(self.pool.numbers[self.random.below(self.pool.numbers.len())])
    }

    fn text(&mut self) -> String {
        self.pool.texts[self.random.below(self.pool.texts.len())].clone()
    }

    fn any(&mut self) -> Json {
        match self.random.below(5) {
            0 => json!(self.random.chance(50)),
            1 | 2 => self.number(),
            _ => json!(self.text()),
        }
    }

    fn of_type(&mut self, ty: &TypeExpr) -> Json {
        match &ty.kind {
            TypeKind::Named(name) => match name.to_lowercase().as_str() {
                "boolean" | "bool" => json!(self.random.chance(50)),
                "number" | "integer" | "currency" => self.number(),
                "object" => self.object(),
                _ => json!(self.text()),
            },
            TypeKind::Array(item) => {
                let items = self.random.below(3);
                Json::Array((0..items).map(|_| self.of_type(item)).collect())
            }
            TypeKind::Object(fields) => {
                let fields = fields.iter().filter(|f| !f.optional || f.name.value.len() % 2 == 0);
                fields.map(|f| (f.name.value.to_string(), self.of_type(&f.ty))).collect()
            }
        }
    }

    fn object(&mut self) -> Json {
        let members = self.pool.members.iter();
        members.map(|name| (name.clone(), self.any())).collect::<Map<_, _>>().into()
    }

    fn result(&mut self, tool: Option<&Tool>) -> Json {
        match tool.and_then(|tool| tool.returns.as_ref()) {
            Some(returns) if !returns.fields.is_empty() => {
                let fields = returns.fields.iter();
                fields.map(|f| (f.name.value.to_string(), self.of_type(&f.ty))).collect()
            }
            Some(returns) => self.of_type(&returns.ty),
            None => self.object(),
        }
    }

    fn field(&mut self, field: &FieldSpec) -> Json {
        if !field.values.is_empty() {
            let at = self.random.below(field.values.len());
            return field.values.get_index(at).map_or(Json::Null, |(value, _)| json!(value));
        }
        match field.ty {
            FieldType::Boolean => json!(self.random.chance(50)),
            FieldType::Number | FieldType::Currency => self.number(),
            FieldType::Date => json!("2030-01-31"),
            FieldType::Time => json!("14:30"),
            FieldType::DateTime => json!("2030-01-31T14:30:00Z"),
            FieldType::Email => json!("ann@mail.example"),
            FieldType::Phone => json!("+4930123456"),
            FieldType::List => json!([self.text()]),
            FieldType::Object => self.object(),
            FieldType::Text => {
                // What a list of characters and digits accepts.
                let usual = ["AB1234", "12345", "1234567890", "x", "Ann Lee"];
                match self.random.below(3) {
                    0 => json!(usual[self.random.below(usual.len())]),
                    _ => json!(self.text()),
                }
            }
        }
    }

    fn message(&mut self) -> String {
        match self.random.below(4) {
            0 => "yes".to_owned(),
            1 => format!("{} {}", self.text(), self.text()),
            _ => self.text(),
        }
    }

    fn answer(&mut self, task: &ModelTask) -> Answer {
        match task {
            ModelTask::Extract { fields, .. } => {
                let mut values = Map::new();
                for field in fields {
                    if self.random.chance(75) {
                        values.insert(field.name.clone(), self.field(field));
                    }
                }
                Answer::Values(values)
            }
            ModelTask::Choose { candidates, .. } => {
                let chosen = (!candidates.is_empty() && self.random.chance(70))
                    .then(|| candidates[self.random.below(candidates.len())].name.clone());
                Answer::Choice(chosen.into_iter().map(|name| (name, 0.9)).collect())
            }
            ModelTask::Judge { .. } => Answer::Verdict(self.random.chance(50)),
            ModelTask::Converse { tools, .. } => {
                let mut calls = Vec::new();
                if !tools.is_empty() && self.random.chance(70) {
                    let tool = &tools[self.random.below(tools.len())];
                    let mut arguments = Map::new();
                    for field in &tool.parameters {
                        arguments.insert(field.name.clone(), self.field(field));
                    }
                    let name = tool.name.clone();
                    calls.push(ToolUse { id: "c".to_owned(), name, arguments });
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

impl Model for Chance<'_> {
    fn respond(
        &mut self,
        request: &ModelRequest,
        _: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        Ok(ModelResponse { answer: self.answer(&request.task), usage: Usage::default() })
    }
}

impl Tools for Chance<'_> {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        if self.random.chance(15) {
            return Err(ToolFailure::new(FailureKind::Error, "it failed"));
        }
        Ok(self.result(call.tool))
    }
}

struct Nobody;

impl Human for Nobody {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        HumanReply { messages: Vec::new(), outcome: None }
    }
}

impl Extractor for Nobody {
    fn extract(&self, _: &str, _: &[FieldSpec], _: Option<&str>) -> Map<String, Json> {
        Map::new()
    }
}

struct Still(u64);

impl Clock for Still {
    fn now(&self) -> i64 {
        1_780_000_000_000
    }
    fn random(&self) -> u64 {
        self.0
    }
    fn sleep(&self, _: u64) {}
}

#[derive(Default)]
struct Watcher {
    path: Vec<NodeIndex>,
    failed: BTreeSet<String>,
    endless: bool,
}

impl Observer for Watcher {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Node { node, .. } => self.path.push(NodeIndex::new(*node)),
            EventKind::Condition { condition, holds: false, .. } => {
                self.failed.insert(condition.clone());
            }
            // That the model calls tools without end is the model's choice.
            EventKind::Error { kind, message } if kind == "loop" => {
                self.endless |= !message.contains("without answering");
            }
            _ => {}
        }
    }
}

/// Has conversations until `enough` holds, at most `most`.
pub(super) fn converse(
    checked: &Checked,
    most: usize,
    enough: &dyn Fn(&Observed) -> bool,
) -> Observed {
    let mut program = checked.program.clone();
    if program.entry_agent.is_none() {
        let first = program.agents().next().map(|agent| agent.metadata.name.clone());
        program.entry_agent = first;
    }
    let program = &program;
    let pool = Pool::of(program);
    let never = ["unreachable-branch", "never-set"];
    let never = checked.diagnostics.iter().filter(|d| never.contains(&d.rule.0));
    let never = never.filter(|d| d.message.contains("never"));
    let never: Vec<Span> = never.map(|d| d.primary.span).collect();
    let machine = Machine::new(program);
    let mut seen = Observed::default();
    while seen.conversations < most && !enough(&seen) {
        let seed = 7919 * seen.conversations as u64 + 1;
        let chance = |n: u64| Chance { random: Random::from_state(seed + n), pool: &pool };
        let (mut user, mut model, mut tools) = (chance(1), chance(2), chance(3));
        let Ok(mut session) = machine.session(None) else { break };
        let mut here: BTreeSet<Place> = BTreeSet::new();
        for turn in 0..TURNS {
            let input = Input::text(user.message());
            let mut watcher = Watcher::default();
            let mut host = Host {
                model: &mut model,
                extractor: &Nobody,
                tools: &mut tools,
                human: &mut Nobody,
                clock: &Still(seed),
                observer: &mut watcher,
            };
            let reply = machine.turn(&mut session, (turn > 0).then_some(&input), &mut host);
            let Ok(reply) = reply else { break };
            for node in &watcher.path {
                if let Some(node) = machine.cfg().node(*node).filter(|n| n.kind != NodeKind::Dead) {
                    let (file, line) = checked.place(node.span);
                    here.insert((file.to_owned(), line));
                }
            }
            seen.refuted.extend(refuted(checked, machine.cfg(), &watcher.path, &never));
            seen.failed.append(&mut watcher.failed);
            if watcher.endless {
                seen.endless += 1;
                break;
            }
            if matches!(reply.status, Status::Done | Status::Failed) {
                break;
            }
        }
        for place in here {
            *seen.reached.entry(place).or_default() += 1;
        }
        seen.conversations += 1;
    }
    seen
}

/// The branches on a path that a rule says are never taken.
fn refuted(checked: &Checked, cfg: &Cfg<'_>, path: &[NodeIndex], never: &[Span]) -> Vec<Place> {
    let taken = |(from, to): (&NodeIndex, &NodeIndex)| {
        let dead = |edge: &Edge<'_>| {
            let last = cfg.last_literal(edge.guard).filter(|literal| literal.holds);
            last.map(|literal| literal.test.span()).filter(|span| never.contains(span))
        };
        let edges: Vec<Option<Span>> =
            cfg.successors(*from).filter(|(next, _)| next == to).map(|(_, e)| dead(e)).collect();
        let all = edges.iter().all(Option::is_some);
        edges.into_iter().flatten().next().filter(|_| all)
    };
    let spans = path.iter().zip(path.iter().skip(1)).filter_map(taken);
    spans
        .map(|span| {
            let (file, line) = checked.place(span);
            (file.to_owned(), line)
        })
        .collect()
}
