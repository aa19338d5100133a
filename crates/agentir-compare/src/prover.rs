//! Queries to the solver over the conditions of two programs.

use crate::place::Announced;
use agentir_diagnostics::Spanned;
use agentir_expr::{
    BinaryOp, Dialect, Expr, ExprKind, Literal as Constant, Name, Path, Segment, UnaryOp, Visit,
};
use agentir_flow::cfg;
use agentir_ir::{Agent, Program};
use agentir_solver::{
    Answer, Assertion, FactKind, Facts, Goal, Label, Query, Solver, Test, Type, UnknownReason,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// How many questions may be asked. No pair of programs that people write comes near it.
const MOST: u64 = 20_000;

/// A condition, in the words in which two programs can be compared: the same variable has the same
/// name in both.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    /// An expression, with what it means.
    Expr(Dialect, Expr),
    /// Words that the model judges.
    Words(String),
}

impl Asked {
    /// `names` is who knows what the variables are called in the first program.
    pub(crate) fn new(test: cfg::Test<'_>, agent: &Agent, names: &Announced) -> Self {
        match test.expr() {
            Some(expr) => {
                let name = |path: &Path| first_name(shared(path), names);
                Self::Expr(dialect(agent), expr.clone().renamed(&name))
            }
            None => Self::Words(crate::words::plain(&test.to_string())),
        }
    }

    /// By what two conditions that are written alike are found.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Expr(dialect, expr) => {
                let mut key = format!("{}: {expr} ", dialect.name());
                // Texts, patterns and dates print alike.
                expr.visit(&mut |e| {
                    match &e.kind {
                        ExprKind::Literal(Constant::String(_)) => key.push('s'),
                        ExprKind::Literal(Constant::Regex(_)) => key.push('r'),
                        ExprKind::Literal(Constant::Date(_)) => key.push('d'),
                        ExprKind::Binary { op, .. } => {
                            let strict = [BinaryOp::StrictEqual, BinaryOp::StrictNotEqual];
                            key.extend(strict.contains(op).then_some('!'));
                        }
                        _ => {}
                    }
                    Visit::Children
                });
                key
            }
            Self::Words(words) => format!("words: {words}"),
        }
    }

    /// The variables it is about, without their parts.
    pub(crate) fn roots(&self) -> Vec<Name> {
        let mut all = Vec::new();
        if let Self::Expr(_, expr) = self {
            expr.paths(&mut |path| all.push(path.root.value.clone()));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn test(&self, of_query: Dialect) -> Test<'_> {
        match self {
            Self::Expr(dialect, expr) if *dialect == of_query => Test::Expr(expr),
            Self::Expr(dialect, expr) => Test::In(*dialect, expr),
            Self::Words(words) => Test::Words(words),
        }
    }

    const fn dialect(&self) -> Option<Dialect> {
        match self {
            Self::Expr(dialect, _) => Some(*dialect),
            Self::Words(_) => None,
        }
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Expr(_, expr) => write!(f, "{expr}"),
            Self::Words(words) => write!(f, "“{words}”"),
        }
    }
}

/// What the conditions of an agent mean.
pub(crate) fn dialect(agent: &Agent) -> Dialect {
    Dialect::from_name(agent.metadata.dialect).unwrap_or(Dialect::Abl)
}

/// The variable under the name that it has in languages without namespaces.
fn shared(path: &Path) -> Path {
    match &path.namespace {
        Some(space) if space.value == "variables" => Path { namespace: None, ..path.clone() },
        _ => path.clone(),
    }
}

/// The variable under the name that it has in the first program: a dotted one is a part.
fn first_name(path: Path, names: &Announced) -> Path {
    let Some(own) = names.variable(&path.root.value) else { return path };
    let at = path.root.span;
    let mut parts = own.split('.').map(|part| Spanned::new(Name::new(part), at));
    let Some(root) = parts.next() else { return path };
    let segments = parts.map(Segment::Field).chain(path.segments).collect();
    Path { root, segments, namespace: path.namespace }
}

/// Asks the solver. What is known about variables is what the first program says of them: a state
/// that it can never be in tells nothing apart.
pub(crate) struct Prover {
    solver: Solver,
    /// What is known in each agent of the first program.
    agents: FxHashMap<Name, Facts>,
    /// What is known where no agent of the first program is in charge.
    nobody: Facts,
}

impl Prover {
    pub(crate) fn new(first: &Program) -> Self {
        let known = agentir_lint::variable_facts_of(first);
        let names = first.agents.iter().map(|a| a.metadata.name.value.clone());
        let agents: FxHashMap<Name, Facts> =
            names.zip(known).map(|(name, facts)| (name, facts.renamed(shared))).collect();
        // Of one agent it holds everywhere; of several, variables of one name are not the same.
        let nobody = match first.agents.as_slice() {
            [one] => agents.get(&one.metadata.name.value).cloned().unwrap_or_default(),
            _ => Facts::new(),
        };
        Self { solver: Solver::default(), agents, nobody }
    }

    /// Whether two conditions hold in the same states, the second perhaps turned round; and whether
    /// that rests on values having the types with which they are compared.
    pub(crate) fn equivalent(
        &mut self,
        one: &Asked,
        other: &Asked,
        turned: bool,
        agent: &str,
    ) -> (Answer, bool) {
        let dialect = one.dialect().or(other.dialect()).unwrap_or(Dialect::Abl);
        let assertion = |asked, holds| assertion(asked, holds, dialect);
        let asked = || Goal::Equivalent(assertion(one, true), assertion(other, !turned));
        // Where the first program stops there is nothing to be the same as.
        let evaluates = evaluates(one);
        let assumptions = || evaluates.iter().map(|e| assertion(e, true)).collect();
        let answer = self.ask(dialect, assumptions(), asked(), agent, &[]);
        let types = types(&[one, other]);
        if types.is_empty() || !matches!(answer, Answer::Sat(_)) {
            return (answer, false);
        }
        let typed = self.ask(dialect, assumptions(), asked(), agent, &types);
        let rests = typed.is_unsat();
        (if rests { typed } else { answer }, rests)
    }

    /// Whether conditions can come out like this all at once.
    pub(crate) fn possible(&mut self, all: &[(&Asked, bool)], agent: &str) -> Answer {
        let dialect = all.iter().find_map(|(a, _)| a.dialect()).unwrap_or(Dialect::Abl);
        let assumptions =
            all.iter().map(|(asked, holds)| assertion(asked, *holds, dialect)).collect();
        let asked: Vec<&Asked> = all.iter().map(|(asked, _)| *asked).collect();
        self.ask(dialect, assumptions, Goal::Satisfiable, agent, &types(&asked))
    }

    fn ask(
        &mut self,
        dialect: Dialect,
        assumptions: Vec<Assertion<'_>>,
        goal: Goal<'_>,
        agent: &str,
        types: &[(Path, Type)],
    ) -> Answer {
        if self.solver.statistics().queries >= MOST {
            return Answer::Unknown(UnknownReason::Budget);
        }
        let mut facts = Cow::Borrowed(self.agents.get(agent).unwrap_or(&self.nobody));
        for (path, ty) in types {
            facts.to_mut().add(path.clone(), FactKind::Type(*ty), None);
        }
        self.solver.solve(&Query { dialect, facts: &facts, assumptions, goal })
    }
}

/// The types of the constants with which conditions of several dialects compare their variables. One
/// dialect takes the text `"9"` for a number and another stops at it, but nobody means texts by such a
/// comparison.
fn types(all: &[&Asked]) -> Vec<(Path, Type)> {
    let mut dialects = all.iter().filter_map(|asked| asked.dialect());
    let first = dialects.next();
    if dialects.all(|d| Some(d) == first) {
        return Vec::new();
    }
    let mut found: Vec<(Path, Type)> = Vec::new();
    for asked in all {
        let Asked::Expr(_, expr) = asked else { continue };
        expr.visit(&mut |e| {
            if let ExprKind::Binary { left, right, .. } = &e.kind {
                for (path, other) in [(left, right), (right, left)] {
                    if let (ExprKind::Path(path), Some(ty)) = (&path.kind, type_of(other))
                        && !found.iter().any(|(known, _)| known == path)
                    {
                        found.push((path.clone(), ty));
                    }
                }
            }
            Visit::Children
        });
    }
    found
}

fn type_of(expr: &Expr) -> Option<Type> {
    match &expr.kind {
        ExprKind::Literal(Constant::Number(_)) => Some(Type::Number),
        ExprKind::Literal(Constant::String(_) | Constant::Regex(_)) => Some(Type::Text),
        ExprKind::Literal(Constant::Bool(_)) => Some(Type::Bool),
        ExprKind::List(items) => type_of(items.first()?),
        _ => None,
    }
}

/// That evaluating a condition does not fail: `c or not c`, in words that every dialect has.
fn evaluates(asked: &Asked) -> Option<Asked> {
    let Asked::Expr(dialect, expr) = asked else { return None };
    if *dialect == Dialect::Abl {
        return None;
    }
    let operand = Box::new(expr.clone());
    let not = Expr::new(ExprKind::Unary { op: UnaryOp::Not, operand }, expr.span).ok()?;
    Some(Asked::Expr(*dialect, Expr::or(expr.clone(), not).ok()?))
}

fn assertion(asked: &Asked, holds: bool, dialect: Dialect) -> Assertion<'_> {
    Assertion { test: asked.test(dialect), holds, label: Label(0) }
}
