//! What the runtime finds out about each message because conditions of the agent at work ask for it:
//! `user.intent`, `user.sentiment`, `user.wants_human_agent` (ABL, current specification, 3.7.2, 3.11.1).

use super::Run;
use crate::model::Candidate;
use crate::session::Problem;
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path, Segment, Visit};
use agentir_flow::cfg::{AgentCfg, Cfg};
use rustc_hash::FxHashSet;
use serde_json::Value as Json;

/// What conditions of an agent ask about a message.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The intents that `user.intent` is compared with, in their order.
    intents: Vec<String>,
    /// The moods that `user.sentiment` is compared with.
    moods: Vec<String>,
    /// Whether `user.wants_human_agent` is read.
    person: bool,
}

impl Asked {
    /// What the guards of an agent ask.
    pub(super) fn of(cfg: &Cfg<'_>, part: &AgentCfg<'_>) -> Self {
        let mut asked = Self::default();
        let mut seen = FxHashSet::default();
        for node in part.nodes() {
            for (_, edge) in cfg.successors(node) {
                if edge.guard.is_always() || !seen.insert(edge.guard) {
                    continue;
                }
                for literal in cfg.guard(edge.guard) {
                    if let Some(expr) = literal.test.expr() {
                        asked.note(expr);
                    }
                }
            }
        }
        asked
    }

    fn note(&mut self, expr: &Expr) {
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Path(path) => self.person |= is(path, "wants_human_agent"),
                ExprKind::Binary { op: BinaryOp::Equal | BinaryOp::NotEqual, left, right } => {
                    self.compared(left, right);
                    self.compared(right, left);
                }
                ExprKind::Binary { op: BinaryOp::In, left, right } => {
                    if let ExprKind::List(items) = &right.kind {
                        items.iter().for_each(|item| self.compared(left, item));
                    }
                }
                _ => {}
            }
            Visit::Children
        });
    }

    fn compared(&mut self, path: &Expr, with: &Expr) {
        let (Some(path), ExprKind::Literal(Literal::String(text))) = (path.as_path(), &with.kind)
        else {
            return;
        };
        let all = match path {
            path if is(path, "intent") => &mut self.intents,
            path if is(path, "sentiment") => &mut self.moods,
            _ => return,
        };
        if !all.iter().any(|known| known == text.as_str()) {
            all.push(text.to_string());
        }
    }
}

/// Whether a path is this part of `user`.
fn is(path: &Path, part: &str) -> bool {
    path.namespace.is_none()
        && path.root.value == "user"
        && matches!(path.segments.as_slice(), [Segment::Field(field)] if field.value == part)
}

impl Run<'_, '_, '_> {
    /// Finds out what conditions of the agent at work ask about a message that nobody has taken yet.
    pub(super) fn notice(&mut self) -> Result<(), Problem> {
        let machine = self.machine;
        let Some(asked) = self.id().and_then(|id| machine.asked.get(id.0 as usize)) else {
            return Ok(());
        };
        let agent = self.agent()?;
        if !asked.intents.is_empty() {
            let candidates = asked.intents.iter().map(|name| self.intent(agent, name)).collect();
            let chosen = self.choose_among("What does the user want?", candidates, false)?;
            self.note_user("intent", &Json::from(chosen.into_iter().next()));
        }
        if !asked.moods.is_empty() {
            let candidate = |mood: &String| Candidate {
                name: mood.clone(),
                description: format!("the user sounds {}", mood.replace('_', " ")),
                examples: Vec::new(),
                keywords: Vec::new(),
            };
            let candidates = asked.moods.iter().map(candidate).collect();
            let chosen = self.choose_among("How does the user sound?", candidates, false)?;
            self.note_user("sentiment", &Json::from(chosen.into_iter().next()));
        }
        if asked.person {
            let wants = self.judge_user("the user asks for a person")?;
            self.note_user("wants_human_agent", &Json::from(wants));
        }
        Ok(())
    }

    /// Keeps something that was found out about the user.
    pub(super) fn note_user(&mut self, name: &str, value: &Json) {
        let mut user = match self.session.variable("user") {
            Some(Json::Object(user)) => user,
            _ => serde_json::Map::new(),
        };
        user.insert(name.to_owned(), value.clone());
        self.session.set_system("user", &Json::Object(user));
    }
}
