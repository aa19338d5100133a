//! What the text does not say, and follows from it.

use crate::snapshot::Snapshot;
use agentir_analysis::references::{Role, Scope, SymbolKind};
use agentir_diagnostics::{FileId, Span};
use agentir_expr::{ConditionKind, Expr, ExprKind, Literal};
use agentir_flow::Cfg;
use agentir_flow::cfg::AgentId;
use agentir_flow::cost::{AgentCost, UpperBound, cost};
use agentir_ir::{Agent, Node, Program};
use std::collections::BTreeMap;

/// Something that follows from a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What it is about; it is shown behind.
    pub span: Span,
    /// A few words.
    pub text: String,
    /// What it says.
    pub kind: HintKind,
}

/// What a hint says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HintKind {
    /// The type of a variable that declares none.
    Type,
    /// Who decides.
    Decider,
    /// What a message costs at most.
    Cost,
}

impl Snapshot {
    /// The hints of a file, by position.
    #[must_use]
    pub fn hints(&self, file: FileId) -> Vec<Hint> {
        let Some(id) = self.program_of(file) else { return Vec::new() };
        let Some(program) = self.ir(id) else { return Vec::new() };
        let mut hints = Vec::new();
        self.types(id, program, &mut hints);
        for agent in program.agents().filter(|agent| agent.metadata.name.span.file == file) {
            deciders(agent, &mut hints);
        }
        if program.agents().any(|agent| agent.metadata.name.span.file == file) {
            costs(program, &mut hints);
        }
        hints.retain(|hint| hint.span.file == file && hint.span.start < hint.span.end);
        hints.sort_by_key(|hint| (hint.span.end, hint.kind));
        hints.dedup();
        hints
    }

    /// The types of variables that nothing declares, where all assignments agree.
    fn types(&self, id: crate::ProgramId, program: &Program, hints: &mut Vec<Hint>) {
        let Some(references) = self.references(id) else { return };
        // By agent and name: where it is first assigned, and the types of what is.
        let mut assigned: BTreeMap<(usize, &str), Assigned> = BTreeMap::new();
        for (index, agent) in program.agents().enumerate() {
            agent.walk(&mut |node| {
                let (name, ty) = match node {
                    Node::Set(set)
                        if set.target.segments.is_empty() && set.target.namespace.is_none() =>
                    {
                        (&set.target.root, of_constant(&set.value))
                    }
                    Node::Writes(name, _) => (name, None),
                    _ => return,
                };
                let one = assigned.entry((index, &name.value)).or_insert((name.span, Vec::new()));
                one.1.push(ty);
            });
        }
        for ((agent, name), (span, types)) in assigned {
            let scope = Scope::Agent(AgentId(u32::try_from(agent).unwrap_or(u32::MAX)));
            let symbol = references.find(SymbolKind::Variable, scope, name);
            let is_declared = symbol.is_some_and(|symbol| {
                references.occurrences(symbol).any(|one| one.role == Role::Definition)
            });
            let [Some(first), rest @ ..] = types.as_slice() else { continue };
            if symbol.is_some() && !is_declared && rest.iter().all(|other| *other == Some(first)) {
                let text = format!(": {first}");
                hints.push(Hint { span, text, kind: HintKind::Type });
            }
        }
    }
}

/// Where a variable is first assigned, and the types of what is.
type Assigned = (Span, Vec<Option<&'static str>>);

/// The type of a constant.
const fn of_constant(expr: &Expr) -> Option<&'static str> {
    match &expr.kind {
        ExprKind::Literal(Literal::Bool(_)) => Some("boolean"),
        ExprKind::Literal(Literal::Number(_)) => Some("number"),
        ExprKind::Literal(Literal::String(_)) | ExprKind::Template(_) => Some("string"),
        ExprKind::List(_) => Some("list"),
        ExprKind::Object(_) => Some("object"),
        _ => None,
    }
}

/// Where the model decides.
fn deciders(agent: &Agent, hints: &mut Vec<Hint>) {
    let mut hint = |span, text: &str| {
        hints.push(Hint { span, text: text.to_owned(), kind: HintKind::Decider });
    };
    if let Some(flow) = &agent.flow {
        for step in flow.definitions.values() {
            if step.reasoning_zone.is_some() && step.reasoning != Some(false) {
                hint(step.name.span, "the model leads");
            }
        }
    }
    agent.walk(&mut |node| {
        if let Node::Condition(condition, _) = node
            && matches!(condition.kind, ConditionKind::Natural)
        {
            hint(condition.text.span, "the model decides");
        }
    });
}

/// What a message to an agent costs at most.
fn costs(program: &Program, hints: &mut Vec<Hint>) {
    let cfg = Cfg::of_program(program);
    for AgentCost { agent, total, .. } in cost(&cfg) {
        let Some(agent) = cfg.agent(agent) else { continue };
        let count = |bound: UpperBound, noun: &str| match bound {
            UpperBound::AtMost(0) => format!("no {noun} calls"),
            UpperBound::AtMost(1) => format!("≤ 1 {noun} call"),
            UpperBound::AtMost(most) => format!("≤ {most} {noun} calls"),
            UpperBound::Unbounded => format!("{noun} calls without a bound"),
        };
        let text =
            format!("{}, {} per message", count(total.models, "model"), count(total.tools, "tool"));
        hints.push(Hint { span: agent.agent.metadata.name.span, text, kind: HintKind::Cost });
    }
}
