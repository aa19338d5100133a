//! The status of a service's answer: `context.<service>.response.statusCode`.
//!
//! A call in ABL succeeds or fails (`ON_SUCCESS`, `ON_FAIL`), and nothing says with which status. Transitions of the node
//! that calls are therefore decided for both outcomes. Where the status is read elsewhere it is a variable, which each call
//! sets: one number stands for success, one for failure. What tells more apart than these two is reported.

use super::Context;
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, Path, TypeExpr, UnaryOp};
use agentir_ir::{
    Agent, Body, Branch, Node, SessionVariable, SetVariable, Statement, Step, Target,
};
use agentir_syntax::rules;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The status of an answer that is a success, and of one that is none: redirects are followed.
const SUCCESS: RangeInclusive<u32> = 200..=299;
const FAILURE: RangeInclusive<u32> = 400..=599;

/// What a status is where only success or failure is known.
const USUAL_SUCCESS: u32 = 200;
const USUAL_FAILURE: u32 = 500;

/// The maximum number of further places that a finding shows.
const MAX_PLACES: usize = 4;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Success,
    Failure,
}

/// What is known of a condition.
enum Known {
    Always(bool),
    Open(Expr),
}

/// A comparison with a status: the status as the left side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Compared {
    op: BinaryOp,
    with: f64,
}

impl Compared {
    /// A comparison of the status with a number; `None` if the operator compares otherwise.
    pub(super) fn new(op: BinaryOp, with: f64) -> Option<Self> {
        let compares = matches!(
            op,
            BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
        );
        compares.then_some(Self { op, with })
    }

    /// The comparison, seen from the other side.
    fn turned(self) -> Self {
        let op = match self.op {
            BinaryOp::Less => BinaryOp::Greater,
            BinaryOp::LessEqual => BinaryOp::GreaterEqual,
            BinaryOp::Greater => BinaryOp::Less,
            BinaryOp::GreaterEqual => BinaryOp::LessEqual,
            op => op,
        };
        Self { op, ..self }
    }

    fn holds(self, status: u32) -> bool {
        let status = f64::from(status);
        #[expect(clippy::float_cmp, reason = "what is compared is what was written")]
        match self.op {
            BinaryOp::Equal => status == self.with,
            BinaryOp::NotEqual => status != self.with,
            BinaryOp::Less => status < self.with,
            BinaryOp::LessEqual => status <= self.with,
            BinaryOp::Greater => status > self.with,
            _ => status >= self.with,
        }
    }

    /// The one success that it asks for by its number.
    fn success(self) -> Option<u32> {
        let is_one = matches!(self.op, BinaryOp::Equal | BinaryOp::NotEqual);
        SUCCESS.into_iter().find(|status| is_one && f64::from(*status) == self.with)
    }

    /// Its value for every status that an outcome may have; `accepted`: what success is where one success is asked for.
    fn known(self, outcome: Outcome, accepted: Option<u32>) -> Option<bool> {
        if outcome == Outcome::Success
            && let Some(one) = self.success()
        {
            return (accepted == Some(one)).then(|| self.holds(one));
        }
        let all = if outcome == Outcome::Success { SUCCESS } else { FAILURE };
        let first = self.holds(*all.start());
        all.into_iter().all(|status| self.holds(status) == first).then_some(first)
    }
}

/// What an expression compares the status with, if that is all it does.
fn compared(e: &Expr, variable: &str) -> Option<Compared> {
    let ExprKind::Binary { op, left, right } = &e.kind else { return None };
    let number = |e: &Expr| match &e.kind {
        ExprKind::Literal(Literal::Number(n)) => Some(*n),
        ExprKind::Literal(Literal::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    if is_status(left, variable) {
        Compared::new(*op, number(right)?)
    } else if is_status(right, variable) {
        Compared::new(*op, number(left)?).map(Compared::turned)
    } else {
        None
    }
}

fn is_status(e: &Expr, variable: &str) -> bool {
    e.as_path().is_some_and(|path| path.root.value == variable && path.segments.is_empty())
}

/// A condition after a call that ended in one way.
fn known(e: &Expr, variable: &str, outcome: Outcome, accepted: Option<u32>) -> Known {
    let open = || Known::Open(e.clone());
    if let Some(compared) = compared(e, variable) {
        return compared.known(outcome, accepted).map_or_else(open, Known::Always);
    }
    if is_status(e, variable) {
        return Known::Always(true);
    }
    match &e.kind {
        ExprKind::IsSet { operand, negated } if is_status(operand, variable) => {
            Known::Always(!negated)
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            match known(operand, variable, outcome, accepted) {
                Known::Always(value) => Known::Always(!value),
                Known::Open(inner) => {
                    let kind = ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(inner) };
                    Expr::new(kind, e.span).map_or_else(|_| open(), Known::Open)
                }
            }
        }
        ExprKind::And(items) | ExprKind::Or(items) => {
            let all = matches!(e.kind, ExprKind::And(_));
            let mut left: Option<Expr> = None;
            for item in items {
                match known(item, variable, outcome, accepted) {
                    Known::Always(value) if value == all => {}
                    Known::Always(value) => return Known::Always(value),
                    Known::Open(item) => {
                        let joined = match left {
                            None => Ok(item),
                            Some(left) if all => Expr::and(left, item),
                            Some(left) => Expr::or(left, item),
                        };
                        match joined {
                            Ok(joined) => left = Some(joined),
                            Err(_) => return open(),
                        }
                    }
                }
            }
            left.map_or(Known::Always(all), Known::Open)
        }
        _ => open(),
    }
}

/// The branches and the default target of a node.
type Ways = (Vec<Branch>, (Target, Span));

/// The ways on from a call, after success and after failure; `None` if none of them depends on its status.
pub(super) fn by_outcome(ways: &Ways, variable: &str) -> Option<[Ways; 2]> {
    let (branches, default) = ways;
    let mut asked = BTreeSet::new();
    let mut depends = false;
    for branch in branches {
        let Some(e) = branch.condition.as_ref().and_then(|c| c.expr()) else { continue };
        e.paths(&mut |path| depends |= path.root.value == variable);
        comparisons(e, variable, &mut |one| asked.extend(one.and_then(Compared::success)));
    }
    if !depends {
        return None;
    }
    let accepted = accepted(&asked);
    Some([Outcome::Success, Outcome::Failure].map(|outcome| {
        let mut left = Vec::new();
        for branch in branches {
            let known = branch
                .condition
                .as_ref()
                .and_then(|c| c.expr())
                .map(|e| known(e, variable, outcome, accepted));
            match known {
                Some(Known::Always(false)) => {}
                Some(Known::Always(true)) => {
                    if let [Statement::Goto(jump)] = branch.body.0.as_slice() {
                        return (left, (jump.target.clone(), jump.span));
                    }
                    left.push(Branch { condition: None, ..branch.clone() });
                    return (left, default.clone());
                }
                Some(Known::Open(e)) => {
                    let condition = Some(super::names::condition(e));
                    left.push(Branch { condition, ..branch.clone() });
                }
                None => left.push(branch.clone()),
            }
        }
        (left, default.clone())
    }))
}

/// The success that all who ask for one ask for.
fn accepted(asked: &BTreeSet<u32>) -> Option<u32> {
    match asked.len() {
        0 => Some(USUAL_SUCCESS),
        1 => asked.first().copied(),
        _ => None,
    }
}

/// Visits the comparisons of a status within an expression, and with `None` what else is done with it.
fn comparisons(e: &Expr, variable: &str, visit: &mut dyn FnMut(Option<Compared>)) {
    if let Some(compared) = compared(e, variable) {
        visit(Some(compared));
        return;
    }
    if is_status(e, variable) {
        visit(None);
        return;
    }
    match &e.kind {
        // Whether there is an answer.
        ExprKind::IsSet { operand, .. } if is_status(operand, variable) => {}
        ExprKind::Unary { op: UnaryOp::Not, operand } => comparisons(operand, variable, visit),
        ExprKind::And(items) | ExprKind::Or(items) => {
            items.iter().for_each(|item| comparisons(item, variable, visit));
        }
        _ => e.paths(&mut |path| {
            if path.root.value == variable {
                visit(None);
            }
        }),
    }
}

/// How a status is used, apart from the transitions of the node that calls.
#[derive(Default)]
struct Use {
    compared: Vec<(Compared, Span)>,
    /// Where it is shown, stored or given to a tool.
    otherwise: Vec<Span>,
}

/// Declares and sets the variables for a status that is still read, and reports what they do not tell apart. `scripts`:
/// how scripts use what they are given, by variable; `None` for anything but a comparison.
pub(super) fn finish(cx: &mut Context<'_, '_>, agents: &mut [Agent]) {
    let statuses: Vec<(SmolStr, SmolStr)> =
        cx.names.statuses().iter().map(|(tool, name)| (tool.clone(), name.clone())).collect();
    if statuses.is_empty() {
        return;
    }
    let mut uses: FxHashMap<&str, Use> = FxHashMap::default();
    let mut readers: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); agents.len()];
    for (_, variable) in &statuses {
        let mut found = Use::default();
        let mut is_used = false;
        let mut note = |node: Node<'_>| {
            let mut here = false;
            let is_argument = matches!(node, Node::Expr(e) if is_status(e, variable));
            node.exprs(&mut |e| {
                comparisons(e, variable, &mut |one| {
                    here = true;
                    match one {
                        Some(one) => found.compared.push((one, e.span)),
                        None if is_argument => {}
                        None => found.otherwise.push(e.span),
                    }
                });
                e.paths(&mut |path| here |= path.root.value == *variable);
            });
            here
        };
        for (agent, readers) in agents.iter().zip(&mut readers) {
            let mut here = false;
            agent.walk(&mut |node| here |= note(node));
            if here {
                readers.insert(variable);
                is_used = true;
            }
        }
        for profile in &cx.profiles {
            profile.walk(&mut |node| is_used |= note(node));
        }
        if is_used {
            uses.insert(variable, found);
        }
    }
    for (tool, variable) in &statuses {
        let Some(found) = uses.get(variable.as_str()) else { continue };
        let in_scripts = cx.given_statuses.remove(variable).unwrap_or_default();
        let asked: BTreeSet<u32> = found
            .compared
            .iter()
            .map(|(one, _)| *one)
            .chain(in_scripts.iter().filter_map(|(one, _)| *one))
            .filter_map(Compared::success)
            .collect();
        let success = accepted(&asked);
        let tells = |one: Compared| {
            let known = |outcome| one.known(outcome, success).is_some();
            known(Outcome::Success) && known(Outcome::Failure)
        };
        let success = success.unwrap_or(USUAL_SUCCESS);
        let own = found.compared.iter().map(|(one, span)| (Some(*one), *span));
        let others = found.otherwise.iter().map(|span| (None, *span));
        let all = own.chain(others).chain(in_scripts);
        let untold = all.filter(|(one, _)| !one.is_some_and(tells)).map(|(_, span)| span);
        let places: BTreeSet<_> = untold.map(|s| (s.file, s.start, s.end)).collect();
        let mut places = places.into_iter().map(|(file, start, end)| Span::new(file, start, end));
        if let Some(span) = places.next() {
            let others = places.len();
            let more = match others.saturating_sub(MAX_PLACES) {
                0 => String::new(),
                1 => "; so does one more place".to_owned(),
                more => format!("; so do {more} more places"),
            };
            let mut finding = Diagnostic::warning(
                rules::UNTRANSLATED,
                span,
                format!("this needs the status that `{tool}` was answered with{more}"),
            )
            .note(format!(
                "a call succeeds or fails, and nothing says with which status: `{variable}` is {success} after success and {USUAL_FAILURE} after failure"
            ))
            .help(format!(
                "let the service say in its answer what matters, and use that instead of `{variable}`"
            ));
            for other in places.take(MAX_PLACES) {
                finding = finding.label(other, "and so does this");
            }
            cx.problem(finding);
        }
        for (agent, readers) in agents.iter_mut().zip(&readers) {
            let mut sets = false;
            for body in bodies(agent) {
                each_call(body, tool, &mut |call| {
                    sets = true;
                    let set = |value: u32| assignment(variable, value, call.span.at_start());
                    call.on_success.0.insert(0, set(success));
                    call.on_failure.0.insert(0, set(USUAL_FAILURE));
                });
            }
            if sets || readers.contains(variable.as_str()) {
                let name = Spanned::new(variable.clone(), agent.span.at_start());
                let ty = Some(TypeExpr::named("number", name.span));
                agent.memory.session.push(SessionVariable { ty, ..SessionVariable::new(name) });
            }
        }
    }
}

fn assignment(variable: &Name, value: u32, span: Span) -> Statement {
    Statement::Set(SetVariable {
        target: Path::variable(Spanned::new(variable.clone(), span)),
        value: Expr::literal(Literal::Number(f64::from(value)), span),
        span,
    })
}

/// What an agent does by itself.
fn bodies(agent: &mut Agent) -> impl Iterator<Item = &mut Body> {
    let steps = agent.flow.iter_mut().flat_map(|flow| flow.definitions.values_mut());
    steps.map(|step: &mut Step| &mut step.body).chain([&mut agent.on_start])
}

/// Visits the calls of a tool. Recursive: bodies are as deep as scripts and forms make them.
fn each_call(body: &mut Body, tool: &str, visit: &mut dyn FnMut(&mut agentir_ir::Call)) {
    for statement in &mut body.0 {
        match statement {
            Statement::Call(call) => {
                each_call(&mut call.on_success, tool, visit);
                each_call(&mut call.on_failure, tool, visit);
                for branch in &mut call.on_result {
                    each_call(&mut branch.body, tool, visit);
                }
                if call.tool.value == tool {
                    visit(call);
                }
            }
            Statement::Collect(collect) => {
                each_call(&mut collect.on_success, tool, visit);
                each_call(&mut collect.on_failure, tool, visit);
            }
            Statement::If { branches } | Statement::Await { branches } => {
                for branch in branches {
                    each_call(&mut branch.body, tool, visit);
                }
            }
            _ => {}
        }
    }
}

/// Sets what follows a call by its outcome: the statements in front of the ways on belong to both.
pub(super) fn follow(call: &mut agentir_ir::Call, [success, failure]: [Ways; 2]) {
    let end = |(branches, default): Ways| super::dialog::tail(branches, default);
    call.on_success.0.extend(end(success));
    call.on_failure.0.extend(end(failure));
}
