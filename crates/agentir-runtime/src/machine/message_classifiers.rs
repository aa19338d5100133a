//! Classifiers that run on each message because conditions of the active agent read their results:
//! `user.intent`, `user.sentiment`, `user.wants_human_agent` (ABL, current specification, 3.7.2,
//! 3.11.1).

use super::Run;
use crate::model::Candidate;
use crate::session::RuntimeError;
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path, Segment, Visit};
use agentir_flow::cfg::{AgentCfg, Cfg};
use rustc_hash::FxHashSet;
use serde_json::Value as Json;

/// The classifiers that the conditions of an agent require.
#[derive(Debug, Default)]
pub(super) struct Classifiers {
    /// The intents that `user.intent` is compared with, in order.
    intents: Vec<String>,
    /// The values that `user.sentiment` is compared with.
    sentiments: Vec<String>,
    /// Whether `user.wants_human_agent` is read.
    wants_human_agent: bool,
}

impl Classifiers {
    /// Collects the classifiers from the guards of an agent.
    pub(super) fn of(cfg: &Cfg<'_>, part: &AgentCfg<'_>) -> Self {
        let mut classifiers = Self::default();
        let mut seen = FxHashSet::default();
        // What a rule must not be triggered by has to be known (supervisor reference, "Routing constraint blocks").
        let rules = part.agent.routing.iter().flat_map(|routing| &routing.rules);
        for ignored in rules.flat_map(|rule| &rule.ignore_intents) {
            classifiers.intents.push(ignored.value.to_string());
        }
        for node in part.nodes() {
            for (_, edge) in cfg.successors(node) {
                // That of the last of many branches begins with those of the others.
                let (mut guard, mut literals) = (edge.guard, Vec::new());
                while !guard.is_always() && seen.insert(guard) {
                    literals.extend(cfg.last_literal(guard));
                    guard = cfg.guard_prefix(guard);
                }
                let tests = literals.iter().rev().filter_map(|literal| literal.test.expr());
                tests.for_each(|expr| classifiers.collect(expr));
            }
        }
        for all in [&mut classifiers.intents, &mut classifiers.sentiments] {
            let mut known = FxHashSet::default();
            all.retain(|name| known.insert(name.clone()));
        }
        classifiers
    }

    fn collect(&mut self, expr: &Expr) {
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Path(path) => {
                    self.wants_human_agent |= is_user_field(path, "wants_human_agent")
                }
                ExprKind::Binary { op: BinaryOp::Equal | BinaryOp::NotEqual, left, right } => {
                    self.add_comparison(left, right);
                    self.add_comparison(right, left);
                }
                ExprKind::Binary { op: BinaryOp::In, left, right } => {
                    if let ExprKind::List(items) = &right.kind {
                        items.iter().for_each(|item| self.add_comparison(left, item));
                    }
                }
                _ => {}
            }
            Visit::Children
        });
    }

    fn add_comparison(&mut self, path: &Expr, with: &Expr) {
        let (Some(path), ExprKind::Literal(Literal::String(text))) = (path.as_path(), &with.kind)
        else {
            return;
        };
        let all = match path {
            path if is_user_field(path, "intent") => &mut self.intents,
            path if is_user_field(path, "sentiment") => &mut self.sentiments,
            _ => return,
        };
        all.push(text.to_string());
    }
}

/// Whether a path is this field of `user`.
fn is_user_field(path: &Path, part: &str) -> bool {
    path.namespace.is_none()
        && path.root.value == "user"
        && matches!(path.segments.as_slice(), [Segment::Field(field)] if field.value == part)
}

impl Run<'_, '_, '_> {
    /// Classifies an unread message, as far as conditions of the active agent require it.
    pub(super) fn classify_message(&mut self) -> Result<(), RuntimeError> {
        let machine = self.machine;
        let Some(classifiers) =
            self.agent_id().and_then(|id| machine.classifiers.get(id.0 as usize))
        else {
            return Ok(());
        };
        let agent = self.agent()?;
        if !classifiers.intents.is_empty() {
            let candidates =
                classifiers.intents.iter().map(|name| self.intent_candidate(agent, name)).collect();
            let chosen = self.choose_among("What does the user want?", candidates, false)?;
            self.set_user_attribute("intent", &Json::from(chosen.into_iter().next()));
        }
        if !classifiers.sentiments.is_empty() {
            let candidate = |sentiment: &String| Candidate {
                name: sentiment.clone(),
                description: format!("the user sounds {}", sentiment.replace('_', " ")),
                examples: Vec::new(),
                keywords: Vec::new(),
            };
            let candidates = classifiers.sentiments.iter().map(candidate).collect();
            let chosen = self.choose_among("How does the user sound?", candidates, false)?;
            self.set_user_attribute("sentiment", &Json::from(chosen.into_iter().next()));
        }
        if classifiers.wants_human_agent {
            let wants = self.judge_user("the user asks for a person")?;
            self.set_user_attribute("wants_human_agent", &Json::from(wants));
        }
        Ok(())
    }

    /// Sets a field of `user`.
    pub(super) fn set_user_attribute(&mut self, name: &str, value: &Json) {
        let mut user = match self.session.variable("user") {
            Some(Json::Object(user)) => user,
            _ => serde_json::Map::new(),
        };
        user.insert(name.to_owned(), value.clone());
        self.session.set_system("user", &Json::Object(user));
    }
}
