//! What nodes and edges are called in a picture.

use agentir_expr::Expr;
use agentir_flow::cfg::{Cfg, DecidedBy, Edge, EdgeKind, Node, NodeKind, Origin};
use agentir_ir::{BindingAction, Statement};
use petgraph::graph::NodeIndex;

/// How long a text in a picture may be, in characters.
const MAX_LABEL_CHARS: usize = 60;

/// One line, cut where it gets long.
pub(crate) fn short(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.chars().count() > MAX_LABEL_CHARS {
            return line.chars().take(MAX_LABEL_CHARS - 1).chain(['…']).collect();
        }
    }
    line
}

fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = names.into_iter().map(|n| n.as_ref().to_owned()).collect();
    all.join(", ")
}

/// What stands in a node.
pub(crate) fn node(cfg: &Cfg<'_>, at: NodeIndex, node: &Node<'_>) -> String {
    let text = element(node);
    let to = || cfg.transfers().iter().find(|t| t.node == at).map(|t| t.to);
    let named = match node.kind {
        NodeKind::Handoff | NodeKind::Delegate => to().map(str::to_owned).or(text),
        _ => text,
    };
    let with = |verb: &str| match &named {
        Some(text) => format!("{verb} {text}"),
        None => verb.to_owned(),
    };
    short(&match node.kind {
        NodeKind::Entry => cfg
            .agent(node.agent)
            .map_or_else(String::new, |p| p.agent.metadata.name.value.to_string()),
        NodeKind::Step => named.unwrap_or_default(),
        NodeKind::Say => match &named {
            Some(text) => format!("“{text}”"),
            None => "say".to_owned(),
        },
        NodeKind::Hook => with(""),
        NodeKind::TurnStart => "turn begins".to_owned(),
        NodeKind::TurnEnd => "turn ends".to_owned(),
        NodeKind::Await => "wait for the user".to_owned(),
        NodeKind::Collect => with("ask for"),
        NodeKind::Confirm => with("may it call") + "?",
        NodeKind::Call => with("call"),
        NodeKind::Set => named.unwrap_or_else(|| "set".to_owned()),
        NodeKind::Clear => with("clear"),
        NodeKind::Transform => with("transform"),
        NodeKind::Store => with("remember"),
        NodeKind::Branch => "which?".to_owned(),
        NodeKind::Choose => "the model chooses".to_owned(),
        NodeKind::Route => "routing".to_owned(),
        NodeKind::Check => with("check"),
        NodeKind::Checkpoint => with("checks before"),
        NodeKind::Interrupt => "the user may instead".to_owned(),
        NodeKind::Error => "something went wrong".to_owned(),
        NodeKind::Delegate => with("ask"),
        NodeKind::Handoff => with("hand over to"),
        NodeKind::FanOut => "ask several at once".to_owned(),
        NodeKind::Return => "back".to_owned(),
        NodeKind::Escalate => "a person takes over".to_owned(),
        NodeKind::Complete => "complete".to_owned(),
        NodeKind::Fail => "fail".to_owned(),
        NodeKind::FlowEnd => "the flow is over".to_owned(),
        NodeKind::Resume => "where it was".to_owned(),
        NodeKind::Unknown => with("?"),
        NodeKind::Instruct => with("tell the model"),
        NodeKind::Log => "log".to_owned(),
        NodeKind::Other => named.unwrap_or_else(|| "other".to_owned()),
        NodeKind::Exit => "over".to_owned(),
        NodeKind::Dead => "never reached".to_owned(),
    })
}

fn element(node: &Node<'_>) -> Option<String> {
    Some(match node.origin {
        Origin::Step(step) => step.name.value.to_string(),
        Origin::Statement(statement) => return self::statement(statement),
        Origin::Set(set) => set_text(set),
        Origin::Constraint(c) => c.condition.text.value.to_string(),
        Origin::Guardrail(g) => g.name.value.to_string(),
        Origin::Failure(f) => match node.kind {
            NodeKind::Clear => listed(f.clear.iter().map(|n| &n.value)),
            NodeKind::Collect => listed(f.collect_fields.iter().map(|n| &n.value)),
            _ => f.message.as_ref()?.text.value.to_string(),
        },
        Origin::Completion(c) => c.respond.as_ref()?.text.value.to_string(),
        Origin::Handler(h) => h.respond.as_ref()?.text.value.to_string(),
        Origin::Trigger(t) => t.respond.as_ref()?.text.value.to_string(),
        Origin::Hook(_, name) => name.to_owned(),
        Origin::Procedure(name) => name.to_owned(),
        Origin::Tool(tool) => tool.name.value.to_string(),
        Origin::Name(name) => name.value.to_string(),
        Origin::ToolBinding(offer) => match &offer.action {
            BindingAction::Call { tool } => tool.value.to_string(),
            _ => offer.name.value.to_string(),
        },
        Origin::Agent(agent) if node.kind == NodeKind::Collect => {
            listed(agent.gather.fields.iter().map(|f| &f.name.value))
        }
        _ => return None,
    })
}

fn set_text(set: &agentir_ir::SetVariable) -> String {
    format!("{} = {}", Expr::path(set.target.clone(), set.span), set.value)
}

fn statement(statement: &Statement) -> Option<String> {
    Some(match statement {
        Statement::Set(set) => set_text(set),
        Statement::Clear { variables } => listed(variables.iter().map(|v| &v.value)),
        Statement::Transform(t) => t.target.value.to_string(),
        Statement::Respond(response) => {
            let named = response.template.as_ref().or(response.message_key.as_ref());
            let text = response.text.as_ref().map(|t| t.text.value.to_string());
            text.or_else(|| named.map(|n| n.value.to_string()))?
        }
        Statement::Instruct { text } => text.text.value.to_string(),
        Statement::Collect(c) => listed(c.gather.fields.iter().map(|f| &f.name.value)),
        Statement::Call(call) => call.tool.value.to_string(),
        Statement::Check { condition, .. } => condition.text.value.to_string(),
        Statement::Delegate(d) | Statement::Handoff(d) => d.agent.value.to_string(),
        Statement::Other { keyword, .. } => keyword.to_string(),
        _ => return None,
    })
}

/// What stands at an edge: what must hold beyond the branches before it, else why it is there.
pub(crate) fn edge(cfg: &Cfg<'_>, edge: &Edge<'_>) -> String {
    let mut text = match edge.origin {
        Origin::Digression(d) => {
            d.intent.as_ref().map(|i| format!("user: {}", i.value)).unwrap_or_default()
        }
        Origin::Action(a) => format!("button {}", a.action_id.value),
        Origin::Rule(rule) if !rule.intents.is_empty() => {
            format!("user: {}", listed(rule.intents.iter().map(|i| &i.value)))
        }
        Origin::Handler(h) if edge.kind == EdgeKind::Error => h.kind.value.to_string(),
        Origin::ToolBinding(offer) if edge.kind == EdgeKind::Choice => offer.name.value.to_string(),
        _ => String::new(),
    };
    if let Some(literal) = cfg.last_literal(edge.guard) {
        let condition = match literal.holds {
            true => literal.test.to_string(),
            false if !cfg.guard_prefix(edge.guard).is_always() => "else".to_owned(),
            false => format!("not: {}", literal.test),
        };
        if !text.is_empty() {
            text.push_str(" if ");
        }
        text.push_str(&condition);
    } else if text.is_empty() {
        text = match edge.kind {
            EdgeKind::Retry => "again",
            EdgeKind::Exhausted => "tries used up",
            // What the user does not agree to.
            EdgeKind::Error if edge.decided_by == DecidedBy::User => "not agreed",
            EdgeKind::Error => "on failure",
            EdgeKind::Profile => "profile",
            _ => "",
        }
        .to_owned();
    }
    if let Some(limit) =
        edge.limit.filter(|_| matches!(edge.kind, EdgeKind::Retry | EdgeKind::Jump))
    {
        text.push_str(&format!(" (at most {limit}×)"));
    }
    short(text.trim())
}
