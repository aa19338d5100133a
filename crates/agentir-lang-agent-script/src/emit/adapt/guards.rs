//! Constraints: what has to hold in every turn is told to the model, and what has to hold before a call stands at the call.
//!
//! A tool that the model calls is offered under the guard (`available when`), and a call of the script stands in an `if`.
//! In a flow, what follows a call that is refused waits: the subagent of the step says the message, and goes on when the
//! guard holds. ABL checks before a call only (current specification, 3.8.2), so nothing is said of it elsewhere; and of
//! values that are not known yet nothing is concluded.

use super::Adapter;
use super::exposed_tools::{before_turn, binding, branch, expose, instruct};
use super::expr::{self, all, condition, not, spanned, text};
use super::flow::{SplitBody, Steps, transition};
use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, Path, Visit};
use agentir_ir::{
    Agent, BindingAction, Checkpoint, Constraint, ConstraintKind, FilledBy, GatherField,
    InputBinding, Statement, ToolBinding,
};
use agentir_syntax::emit::phrase;

/// What a condition compares: what has to have a value for it. `IS SET` and comparisons with nothing are about whether it has.
fn compared(condition: &Condition) -> Vec<Path> {
    let mut found: Vec<Path> = Vec::new();
    let nothing =
        |e: &Expr| matches!(e.kind, ExprKind::Literal(Literal::Null | Literal::Undefined));
    if let Some(expr) = condition.expr() {
        expr.visit(&mut |part| match &part.kind {
            ExprKind::IsSet { .. } => Visit::Skip,
            ExprKind::Binary { op: BinaryOp::Equal | BinaryOp::NotEqual, left, right }
                if nothing(left) || nothing(right) =>
            {
                Visit::Skip
            }
            ExprKind::Path(path) => {
                if path.namespace.is_none() && !found.contains(path) {
                    found.push(path.clone());
                }
                Visit::Children
            }
            _ => Visit::Children,
        });
    }
    found
}

/// The fields that an agent gathers, in its steps as well.
fn fields(agent: &Agent) -> impl Iterator<Item = &GatherField> {
    let steps = agent.flow.iter().flat_map(|flow| flow.definitions.values());
    let asked = steps.flat_map(|step| &step.body.0).filter_map(|one| match one {
        Statement::Collect(asked) => Some(&asked.gather),
        _ => None,
    });
    std::iter::once(&agent.gather).chain(asked).flat_map(|gather| &gather.fields)
}

/// Statements that are only executed under a condition.
fn add_under(guard: &Expr, body: Vec<Statement>, list: &mut Vec<Statement>) {
    if !body.is_empty() {
        list.push(Statement::If { branches: vec![branch(Some(guard.clone()), body)] });
    }
}

impl Adapter<'_> {
    /// The condition under which a constraint is satisfied.
    fn satisfied_when(&mut self, constraint: &Constraint) -> Option<Expr> {
        let must = self.variables.condition(&constraint.condition)?;
        let must = match constraint.kind {
            Some(ConstraintKind::Restrict) => not(must)?,
            _ => must,
        };
        match &constraint.applies_when {
            Some(when) => {
                let not_now = not(self.variables.condition(when)?)?;
                Expr::or(not_now, must).ok()
            }
            None => Some(must),
        }
    }

    /// The constraints of the current agent before a call of a tool or an agent that refuse it.
    fn before_call(&self, called: &str) -> Vec<Constraint> {
        let own = self.constraints.iter().filter(|rule| rule.is_before_call(called));
        own.filter(|rule| rule.refuses()).cloned().collect()
    }

    /// What has to hold before the current agent calls a tool or another agent.
    pub(super) fn call_guard(&mut self, called: &str) -> Option<Expr> {
        let rules = self.before_call(called);
        let guards: Vec<Expr> = rules.iter().filter_map(|rule| self.satisfied_when(rule)).collect();
        all(guards)
    }

    /// Offers a way to an agent only while what has to hold before it does.
    pub(super) fn guard_way(&mut self, to: &str, one: &mut ToolBinding) {
        if let Some(guard) = self.call_guard(to) {
            let known = one.available_when.as_ref().and_then(|when| when.expr().cloned());
            one.available_when = all(known.into_iter().chain([guard])).map(condition);
        }
    }

    /// A transition of the script under what has to hold before the agent.
    pub(super) fn guarded_way(&mut self, to: &str, exit: Statement) -> Statement {
        match self.call_guard(to) {
            Some(guard) => Statement::If { branches: vec![branch(Some(guard), vec![exit])] },
            None => exit,
        }
    }

    /// Whether a statement makes a call that has a guard.
    pub(super) fn has_guarded_call(&mut self, statement: &Statement) -> bool {
        match statement {
            Statement::Call(call) => self.call_guard(&call.tool.value).is_some(),
            Statement::If { branches } => {
                branches.iter().any(|b| b.body.0.iter().any(|one| self.has_guarded_call(one)))
            }
            _ => false,
        }
    }

    /// A step at a call of a tool that has a guard: what is `done` from here on is done under the guard, and where it does
    /// not hold the user reads why, and can change what it is about.
    pub(super) fn refuse(
        &mut self,
        steps: &Steps<'_>,
        tool: &str,
        (guard, done): (Expr, SplitBody),
        new: &mut Agent,
        split: &mut SplitBody,
    ) {
        let mut held: Vec<Expr> = Vec::new();
        for rule in self.before_call(tool) {
            let Some(must) = self.satisfied_when(&rule) else { continue };
            let Some(broken) = not(must.clone()) else { continue };
            let here = all(held.iter().cloned().chain([broken]));
            held.push(must);
            let failure = rule.on_fail.as_ref();
            let message = failure.and_then(|failure| failure.message.as_ref());
            let words = match message {
                Some(message) => {
                    format!("Do not go on. Say: \"{}\"", self.variables.text(message).text.value)
                }
                None => format!("Do not go on: it is necessary that {}.", phrase(&rule.condition)),
            };
            instruct(new, here.clone(), text(words));
            if let (Some(to), Some(here)) = (failure.and_then(|f| f.target.as_ref()), here) {
                let to = self.agent_name(&to.value, None);
                add_under(&here, vec![transition(&to)], &mut split.jumps);
            }
            self.offer_correction(steps.agent, &rule, &guard, new);
        }
        add_under(&guard, done.effects, &mut split.effects);
        add_under(&guard, done.messages, &mut split.messages);
        add_under(&guard, done.jumps, &mut split.jumps);
        split.may_complete |= done.may_complete;
        let below = done.blocked.into_iter().map(|one| all([guard.clone(), one]));
        split.blocked.extend(below.chain([not(guard.clone())]).flatten());
    }

    /// Fields that a constraint reads can be given anew while it does not hold.
    fn offer_correction(
        &mut self,
        agent: &Agent,
        rule: &Constraint,
        guard: &Expr,
        new: &mut Agent,
    ) {
        let read = compared(&rule.condition);
        let is_read =
            |field: &&GatherField| read.iter().any(|path| path.root.value == field.name.value);
        let mut take = binding("note_details", BindingAction::Collect);
        for field in fields(agent).filter(is_read) {
            let ty = field.ty.as_ref().map_or("", |ty| ty.value.as_str());
            let name = self.variables.declare(&field.name.value, ty, |_| {});
            if take.with.iter().all(|known| known.name.value != name) {
                take.with.push(InputBinding {
                    name: spanned(name),
                    filled_by: FilledBy::Model,
                    value: None,
                });
            }
        }
        if take.with.is_empty() {
            return;
        }
        let names: Vec<_> = take.with.iter().map(|w| w.name.value.replace('_', " ")).collect();
        take.description = Some(text(format!("Note what the user says: {}", names.join(", "))));
        take.available_when = not(guard.clone()).map(condition);
        expose(new, take);
    }

    /// Where a constraint is broken, as far as its values are known.
    fn broken(&mut self, agent: &Agent, rule: &Constraint) -> Option<Expr> {
        let before = self.variables.known_paths.len();
        let asked = |path: &Path| {
            let root = &path.root.value;
            rule.checkpoint.is_some()
                || fields(agent).any(|field| field.name.value == *root)
                || agent.tools.iter().any(|tool| tool.name.value == *root)
        };
        let mut paths = compared(&rule.condition);
        paths.retain(asked);
        self.variables.known_paths.extend(paths.iter().cloned());
        let must = self.satisfied_when(rule);
        self.variables.known_paths.truncate(before);
        let broken = not(must?)?;
        let mut there = Vec::new();
        for path in &paths {
            let here = self.variables.path(path);
            let declared = self.variables.all.get(&here.root.value);
            let is_there = declared.is_some_and(|one| one.initial_value.is_some());
            if !is_there || !here.segments.is_empty() {
                there.extend(expr::is_set(Expr::path(here, Span::default()), false));
            }
        }
        all(there.into_iter().chain([broken]))
    }

    /// What the model is told where constraints are violated: those of every turn, and those before what it may call.
    pub(super) fn constraints(&mut self, agent: &Agent, new: &mut Agent) {
        for rule in &agent.constraints.constraints {
            let called = match &rule.checkpoint {
                Some(Checkpoint::ToolCall { target }) => {
                    match self.offered_as(&target.value, new) {
                        Some(name) => Some(name),
                        None => continue,
                    }
                }
                _ => None,
            };
            let failure = rule.on_fail.as_ref();
            let message = failure.and_then(|f| f.message.as_ref());
            let broken = self.broken(agent, rule);
            let message = message.map(|m| self.variables.text(m).text.value.to_string());
            // A warning stops nothing.
            if !rule.refuses() {
                if let Some(message) = message {
                    let before = called.map(|name| format!(" before {{!@actions.{name}}}"));
                    let before = before.unwrap_or_default();
                    let words = match &broken {
                        Some(_) => format!("Say{before}: \"{message}\" Then go on."),
                        None => {
                            let must = phrase(&rule.condition);
                            format!("Unless {must}, say{before}: \"{message}\" Then go on.")
                        }
                    };
                    instruct(new, broken, text(words));
                }
                continue;
            }
            let rest = match &called {
                Some(name) => format!("Do not use {{!@actions.{name}}} now."),
                None => "Do not go on.".to_owned(),
            };
            let must = phrase(&rule.condition);
            let words = match (&broken, message) {
                (Some(_), Some(message)) => format!("{rest} Say: \"{message}\""),
                (Some(_), None) => format!("{rest} It is necessary that {must}."),
                (None, message) => {
                    let before = called.iter().map(|name| format!(" before {{!@actions.{name}}}"));
                    let before: String = before.collect();
                    let otherwise = message.map(|message| format!(" Otherwise say: \"{message}\""));
                    format!("Make sure{before} that {must}.{}", otherwise.unwrap_or_default())
                }
            };
            let target = failure.and_then(|f| f.target.clone());
            if let (Some(broken), Some(to), None) = (&broken, target, &called) {
                let to = self.agent_name(&to.value, None);
                before_turn(new).push(Statement::If {
                    branches: vec![branch(Some(broken.clone()), vec![transition(&to)])],
                });
            }
            instruct(new, broken, text(words));
        }
    }

    /// The name under which a subagent offers a tool or an agent to its model.
    fn offered_as(&self, called: &str, new: &Agent) -> Option<String> {
        let agent = self.agents.get(called);
        let bindings = new.reasoning.iter().flat_map(|zone| &zone.bindings);
        let mut found = bindings.filter(|binding| match &binding.action {
            BindingAction::Call { tool } => tool.value == called,
            BindingAction::Handoff { to: name } | BindingAction::Delegate { agent: name } => {
                agent.is_some_and(|agent| *agent == name.value)
            }
            _ => false,
        });
        found.next().map(|binding| binding.name.value.to_string())
    }
}
