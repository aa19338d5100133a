//! What precedes each question and each call of a flow, over all ways to it.

use super::ways::{Event, Reason, Ways};
use agentir_diagnostics::Spanned;
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path};
use agentir_ir::Call;
use smol_str::SmolStr;

/// Something that is known on a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A field has a value.
    Known(usize),
    /// A tool has given a result.
    Called(Spanned<SmolStr>),
    /// A condition holds or does not.
    Holds(usize, bool),
}

impl Fact {
    /// As an expression.
    #[must_use]
    pub fn expr(&self, ways: &Ways<'_>) -> Option<Expr> {
        match self {
            Self::Known(field) => is_set(&ways.asked.get(*field)?.field.name),
            Self::Called(tool) => is_set(tool),
            Self::Holds(decision, truth) => {
                let decision = ways.decisions.get(*decision)?;
                Some(if *truth { decision.holds.clone() } else { decision.fails.clone() })
            }
        }
    }

    /// The name of the field.
    #[must_use]
    pub fn known(&self, ways: &Ways<'_>) -> Option<String> {
        match self {
            Self::Known(field) => Some(ways.asked.get(*field)?.field.name.value.to_string()),
            _ => None,
        }
    }

    /// The name of the tool.
    #[must_use]
    pub fn called(&self) -> Option<String> {
        match self {
            Self::Called(tool) => Some(tool.value.to_string()),
            _ => None,
        }
    }
}

fn is_set(name: &Spanned<SmolStr>) -> Option<Expr> {
    let operand = Box::new(Expr::path(Path::variable(name.clone()), name.span));
    Expr::new(ExprKind::IsSet { operand, negated: false }, name.span).ok()
}

/// What all ways have in common of questions and calls.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The calls, in order.
    pub calls: Vec<&'a Call>,
    /// What precedes each call, by its number, on each way to it.
    before_calls: Vec<Vec<Vec<Fact>>>,
    /// What precedes each question, by the number of its field: what decides whether it is asked.
    before_asking: Vec<Option<Expr>>,
    /// What precedes each question on each way to it.
    before_fields: Vec<Vec<Vec<Fact>>>,
    /// The conditions that are answers, with the questions.
    questions: Vec<Option<usize>>,
    /// The tools whose failure the flow speaks of.
    failing: Vec<SmolStr>,
}

impl<'a> Facts<'a> {
    /// The facts.
    ///
    /// # Errors
    /// The reason, if the flow decides between different effects.
    pub fn of(ways: &Ways<'a>) -> Result<Self, Reason> {
        let called = |way: &Vec<Event<'a>>| -> Vec<&'a Call> {
            way.iter()
                .filter_map(|event| match event {
                    Event::Call(call) | Event::Failed(call) => Some(*call),
                    _ => None,
                })
                .collect()
        };
        let all: Vec<Vec<&Call>> = ways.all.iter().map(called).collect();
        let calls = all.iter().max_by_key(|calls| calls.len()).cloned().unwrap_or_default();
        for own in &all {
            let differs = own.iter().zip(&calls).find(|(one, other)| !std::ptr::eq(**one, **other));
            if let Some((one, other)) = differs {
                return Err(match one.tool.value == other.tool.value {
                    true => format!("it calls `{}` in different ways", one.tool),
                    false => format!("it decides between `{}` and `{}`", one.tool, other.tool),
                });
            }
        }
        for (at, call) in calls.iter().enumerate() {
            if calls.iter().skip(at + 1).any(|other| other.tool.value == call.tool.value) {
                return Err(format!("it calls `{}` twice", call.tool));
            }
        }
        if calls.is_empty() && ways.asked.is_empty() {
            return Err("it neither asks nor calls anything".to_owned());
        }
        let mut facts = Self {
            before_calls: vec![Vec::new(); calls.len()],
            before_asking: Vec::new(),
            before_fields: Vec::new(),
            questions: (0..ways.decisions.len()).map(|one| ways.question_of(one)).collect(),
            failing: Vec::new(),
            calls,
        };
        let mut before_asking: Vec<Vec<Vec<Fact>>> = vec![Vec::new(); ways.asked.len()];
        for way in &ways.all {
            let last =
                way.iter().rposition(|event| !matches!(event, Event::Say(_) | Event::Set(_)));
            let mut before: Vec<Fact> = Vec::new();
            let mut made = 0_usize;
            for (at, event) in way.iter().enumerate() {
                match event {
                    Event::Ask(field) => {
                        if let Some(all) = before_asking.get_mut(*field) {
                            push(all, &before);
                        }
                        // That there is an answer follows from what the answer is.
                        if ways
                            .asked
                            .get(*field)
                            .is_some_and(|one| one.is_needed() && !one.is_answer())
                        {
                            before.push(Fact::Known(*field));
                        }
                    }
                    Event::Call(call) => {
                        if let Some(all) = facts.before_calls.get_mut(made) {
                            push(all, &before);
                        }
                        made += 1;
                        // What precedes a call is a constraint on it, and holds where it has a result.
                        before.clear();
                        before.push(Fact::Called(call.tool.clone()));
                    }
                    Event::Failed(call) => {
                        if !facts.failing.contains(&call.tool.value) {
                            facts.failing.push(call.tool.value.clone());
                        }
                    }
                    Event::Holds(decision, truth) => before.push(Fact::Holds(*decision, *truth)),
                    Event::Set(set) if last.is_some_and(|last| at < last) => {
                        return Err(format!("it sets `{}` in between", set.target));
                    }
                    Event::Set(_) | Event::Say(_) | Event::Present(_) => {}
                }
            }
        }
        facts.before_asking =
            before_asking.iter().map(|all| asked_when(all, ways, &facts.questions)).collect();
        facts.before_fields = before_asking;
        Ok(facts)
    }

    /// Whether the flow says what follows when a tool fails.
    #[must_use]
    pub fn fails(&self, tool: &str) -> bool {
        self.failing.iter().any(|one| one == tool)
    }

    /// What precedes a call on each way to it.
    #[must_use]
    pub fn before_call(&self, tool: &str) -> Vec<Vec<Fact>> {
        let at = self.calls.iter().position(|call| call.tool.value == tool);
        at.and_then(|at| self.before_calls.get(at))
            .map(|all| merged(all.clone(), &self.questions))
            .unwrap_or_default()
    }

    /// What precedes a question on each way to it.
    #[must_use]
    pub fn before_field(&self, field: usize) -> Vec<Vec<Fact>> {
        let all = self.before_fields.get(field).cloned();
        all.map(|all| merged(all, &self.questions)).unwrap_or_default()
    }

    /// When a field is asked for, if not from the start.
    #[must_use]
    pub fn when_asked(&self, field: usize) -> Option<Expr> {
        self.before_asking.get(field).cloned().flatten()
    }

    /// When a way is at its end; `None` if nothing says so. What precedes the last call is a constraint on it, and only a
    /// part of the condition if it is `whole`.
    #[must_use]
    pub fn when_done(
        &self,
        ways: &Ways<'_>,
        way: &[Event<'_>],
        failures: &[(SmolStr, Spanned<SmolStr>)],
        whole: bool,
    ) -> Option<Expr> {
        let mut all: Vec<Expr> = Vec::new();
        for event in way {
            let one = match event {
                Event::Ask(field) => {
                    let asked = ways.asked.get(*field)?;
                    if !asked.is_needed() || asked.is_answer() {
                        continue;
                    }
                    is_set(&asked.field.name)?
                }
                Event::Call(call) => {
                    if !whole {
                        all.clear();
                    }
                    is_set(&call.tool)?
                }
                Event::Failed(call) => {
                    if !whole {
                        all.clear();
                    }
                    let (_, mark) = failures.iter().find(|(tool, _)| *tool == call.tool.value)?;
                    let left = Box::new(Expr::path(Path::variable(mark.clone()), mark.span));
                    let right = Box::new(Expr::literal(Literal::Bool(true), mark.span));
                    let kind = ExprKind::Binary { op: BinaryOp::Equal, left, right };
                    Expr::new(kind, mark.span).ok()?
                }
                Event::Holds(decision, truth) => Fact::Holds(*decision, *truth).expr(ways)?,
                Event::Say(_) | Event::Present(_) | Event::Set(_) => continue,
            };
            if !all.contains(&one) {
                all.push(one);
            }
        }
        conjunction(all)
    }
}

fn push(all: &mut Vec<Vec<Fact>>, before: &[Fact]) {
    if !all.iter().any(|one| one == before) {
        all.push(before.to_vec());
    }
}

/// When a question is asked: behind the last call, and under the conditions that lead to it.
fn asked_when(all: &[Vec<Fact>], ways: &Ways<'_>, questions: &[Option<usize>]) -> Option<Expr> {
    let decided = |before: &Vec<Fact>| -> Vec<Fact> {
        before.iter().filter(|fact| !matches!(fact, Fact::Known(_))).cloned().collect()
    };
    let ways_there = merged(all.iter().map(decided).collect(), questions);
    // What is compared has to be known: what is unset is not equal to anything.
    let read = |fact: &Fact| {
        let holds = fact.expr(ways)?;
        let Fact::Holds(_, false) = fact else { return Some(holds) };
        let mut needed: Vec<Expr> = Vec::new();
        holds.paths(&mut |path| {
            let own = ways.asked.iter().find(|asked| asked.field.name.value == path.root.value);
            if let Some(set) = own.and_then(|asked| is_set(&asked.field.name))
                && asked_is_set(&holds)
                && !needed.contains(&set)
            {
                needed.push(set);
            }
        });
        needed.push(holds);
        conjunction(needed)
    };
    conjunction(alternatives(&ways_there, &read))
}

/// Whether a negated condition could hold for what is unset.
fn asked_is_set(fails: &Expr) -> bool {
    !matches!(&fails.kind, ExprKind::Binary { op: BinaryOp::Equal, .. })
}

fn conjunction(all: Vec<Expr>) -> Option<Expr> {
    let mut all = all.into_iter();
    let first = all.next()?;
    all.try_fold(first, |both, one| Expr::and(both, one).ok())
}

/// Ways of which two differ in nothing but that a condition holds or not are one without it. Of an answer of yes or no, it is
/// left that there is one.
fn merged(mut ways: Vec<Vec<Fact>>, questions: &[Option<usize>]) -> Vec<Vec<Fact>> {
    'again: loop {
        for one in 0..ways.len() {
            for other in one + 1..ways.len() {
                let (Some(left), Some(right)) = (ways.get(one), ways.get(other)) else { continue };
                if let Some(both) = without_condition(left, right, questions) {
                    ways.remove(other);
                    ways.remove(one);
                    push(&mut ways, &both);
                    continue 'again;
                }
            }
        }
        return ways;
    }
}

fn without_condition(
    left: &[Fact],
    right: &[Fact],
    questions: &[Option<usize>],
) -> Option<Vec<Fact>> {
    if left.len() != right.len() {
        return None;
    }
    let mut differing = left.iter().zip(right).enumerate().filter(|(_, (one, other))| one != other);
    let (at, (one, other)) = differing.next()?;
    let opposite = matches!(
        (one, other),
        (Fact::Holds(one, truth), Fact::Holds(other, not)) if one == other && truth != not
    );
    if !opposite || differing.next().is_some() {
        return None;
    }
    let mut kept = left.to_vec();
    let question = match one {
        Fact::Holds(decision, _) => questions.get(*decision).copied().flatten(),
        _ => None,
    };
    kept.splice(at..=at, question.map(Fact::Known));
    Some(kept)
}

/// What all ways share.
#[must_use]
pub fn shared(ways: &[Vec<Fact>]) -> Vec<Fact> {
    let Some((first, others)) = ways.split_first() else { return Vec::new() };
    first.iter().filter(|fact| others.iter().all(|way| way.contains(fact))).cloned().collect()
}

/// What holds on one of the ways: what they share, each by itself, and one of what they do not.
#[must_use]
pub fn alternatives(ways: &[Vec<Fact>], expr: &dyn Fn(&Fact) -> Option<Expr>) -> Vec<Expr> {
    let shared = shared(ways);
    let mut all: Vec<Expr> = shared.iter().filter_map(expr).collect();
    let own = |way: &Vec<Fact>| {
        let own = way.iter().filter(|fact| !shared.contains(fact));
        conjunction(own.filter_map(expr).collect())
    };
    let rest: Option<Vec<Expr>> = ways.iter().map(own).collect();
    // One way that needs no more makes the others needless.
    let either = rest.and_then(|rest| {
        let mut rest = rest.into_iter();
        let first = rest.next()?;
        rest.try_fold(first, |either, one| Expr::or(either, one).ok())
    });
    all.extend(either);
    all
}
