//! Queries to the solver over the conditions of two programs.

use crate::location::AnnouncedLosses;
use agentir_analysis::ProgramAnalysis;
use agentir_expr::dialect::Semantics;
use agentir_expr::{
    BinaryOp, Dialect, Expr, ExprKind, Literal as Constant, Name, Path, UnaryOp, Visit,
};
use agentir_flow::cfg;
use agentir_ir::{Agent, Program};
use agentir_solver::{
    Answer, Assertion, Fact, FactKind, Facts, Goal, Label, Query, Solver, Test, Type, UnknownReason,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The maximal number of queries, far above what hand-written programs need.
const MAX_QUERIES: u64 = 20_000;

/// The steps that all queries may take together.
const MAX_STEPS: u64 = 150_000_000;

/// A condition in which variables have the names of the first program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    /// An expression, with the dialect that defines its semantics.
    Expr(Dialect, Expr),
    /// Natural language that the model judges.
    Words(String),
}

/// What tells atoms of guards apart. Dialects with the same semantics share expressions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Expr(&'static Semantics, String),
    Words(String),
    Event(String),
}

impl Condition {
    /// `names` maps variables to their names in the first program.
    pub(crate) fn new(test: cfg::Test<'_>, agent: &Agent, names: &AnnouncedLosses) -> Self {
        match test.expr() {
            Some(expr) => {
                let name = |path: &Path| first_name(without_namespace(path), names);
                Self::Expr(agent.metadata.dialect, expr.clone().renamed(&name))
            }
            None => Self::Words(crate::text::on_one_line(&test.to_string())),
        }
    }

    /// A key that is equal for textually identical conditions.
    pub(crate) fn key(&self) -> Key {
        match self {
            Self::Expr(dialect, expr) => {
                let mut key = format!("{expr} ");
                // Strings, patterns and dates are printed alike.
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
                Key::Expr(dialect.semantics(), key)
            }
            Self::Words(words) => Key::Words(words.clone()),
        }
    }

    /// The variables it reads, without field accesses.
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
            Self::Expr(dialect, expr) if dialect.computes_like(of_query) => Test::Expr(expr),
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

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Expr(_, expr) => write!(f, "{expr}"),
            Self::Words(words) => write!(f, "“{words}”"),
        }
    }
}

/// The path that the variable has in languages without namespaces.
fn without_namespace(path: &Path) -> Path {
    match &path.namespace {
        Some(space) if space.value == "variables" => Path { namespace: None, ..path.clone() },
        _ => path.clone(),
    }
}

/// The path that the variable has in the first program. A dotted name is a field access.
fn first_name(path: Path, names: &AnnouncedLosses) -> Path {
    let Some(own) = names.variable(&path.root.value) else { return path };
    let mut whole = Path::dotted(own, path.root.span);
    whole.segments.extend(path.segments);
    Path { namespace: path.namespace, ..whole }
}

/// Queries the solver under the facts about the variables of the first program: a state that it
/// cannot reach distinguishes nothing.
pub(crate) struct Prover {
    solver: Solver,
    /// The dialect of the first program.
    dialect: Dialect,
    /// The facts of each agent of the first program.
    agents: FxHashMap<Name, Facts>,
    /// The facts where no agent of the first program is in charge.
    shared: Facts,
    /// Conditions that are equivalent where they can be evaluated, but may fail in states in which the other one does not.
    pub(crate) assumed: BTreeSet<String>,
}

impl Prover {
    pub(crate) fn new(first: &Program) -> Self {
        let analysis = ProgramAnalysis::new(first);
        let all = || analysis.all_agents();
        let facts =
            Facts::all_renamed(all().map(|cx| cx.variable_facts().facts()), &without_namespace);
        let names = all().map(|cx| cx.agent.metadata.name.value.clone());
        let agents: FxHashMap<Name, Facts> = names.zip(facts).collect();
        // The facts of a single agent hold everywhere; several agents may have different variables
        // of the same name.
        let shared = match first.agents.as_slice() {
            [one] => agents.get(&one.metadata.name.value).cloned().unwrap_or_default(),
            _ => Facts::new(),
        };
        let solver = Solver::default().limited(MAX_STEPS);
        let (dialect, assumed) = (first.dialect(), BTreeSet::new());
        Self { solver, dialect, agents, shared, assumed }
    }

    /// Whether two conditions are equivalent, the second negated if `negated`; and whether that
    /// assumes that values have the types with which they are compared.
    pub(crate) fn equivalent(
        &mut self,
        one: &Condition,
        other: &Condition,
        negated: bool,
        agent: &str,
    ) -> (Answer, bool) {
        let dialect = one.dialect().or(other.dialect()).unwrap_or(self.dialect);
        let assertion = |condition, holds| assertion(condition, holds, dialect);
        let goal = || Goal::Equivalent(assertion(one, true), assertion(other, !negated));
        // Where evaluation fails in the first program there is nothing to compare with.
        let evaluates = evaluates(one);
        let assumptions = || evaluates.iter().map(|e| assertion(e, true)).collect();
        let answer = self.ask(dialect, assumptions(), goal(), agent, &[]);
        if answer.is_unsat() && !self.fail_alike(one, other, agent) {
            self.assumed.insert(one.to_string());
        }
        let types = types(&[one, other]);
        if types.is_empty() || !matches!(answer, Answer::Sat(_)) {
            return (answer, false);
        }
        let typed = self.ask(dialect, assumptions(), goal(), agent, &types);
        let assumes_types = typed.is_unsat();
        if assumes_types {
            self.assumed.insert(one.to_string());
        }
        (if assumes_types { typed } else { answer }, assumes_types)
    }

    /// Whether two conditions are proved to fail in the same states, if at all. Where one dialect goes on with a condition
    /// that does not hold, the turn fails in another.
    fn fail_alike(&mut self, one: &Condition, other: &Condition, agent: &str) -> bool {
        let mut always = |condition: &Condition| {
            let Some(evaluates) = evaluates(condition) else { return true };
            let dialect = evaluates.dialect().unwrap_or(self.dialect);
            let goal = Goal::Implied(assertion(&evaluates, true, dialect));
            self.ask(dialect, Vec::new(), goal, agent, &[]).is_unsat()
        };
        if always(one) && always(other) {
            return true;
        }
        let (Some(one), Some(other)) = (evaluates(one), evaluates(other)) else { return false };
        let dialect = one.dialect().unwrap_or(self.dialect);
        let [one, other] = [&one, &other].map(|condition| assertion(condition, true, dialect));
        self.ask(dialect, Vec::new(), Goal::Equivalent(one, other), agent, &[]).is_unsat()
    }

    /// What is known of the variable that an expression of the first program is.
    pub(crate) fn facts(&self, agent: &str, path: &Path) -> &[Fact] {
        self.agents.get(agent).unwrap_or(&self.shared).get(&without_namespace(path))
    }

    /// Whether conditions can have these truth values in one state.
    pub(crate) fn possible(&mut self, all: &[(&Condition, bool)], agent: &str) -> Answer {
        let dialect = all.iter().find_map(|(a, _)| a.dialect()).unwrap_or(self.dialect);
        let assumptions =
            all.iter().map(|(condition, holds)| assertion(condition, *holds, dialect)).collect();
        let conditions: Vec<&Condition> = all.iter().map(|(condition, _)| *condition).collect();
        self.ask(dialect, assumptions, Goal::Satisfiable, agent, &types(&conditions))
    }

    fn ask(
        &mut self,
        dialect: Dialect,
        assumptions: Vec<Assertion<'_>>,
        goal: Goal<'_>,
        agent: &str,
        types: &[(Path, Type)],
    ) -> Answer {
        if self.solver.statistics().queries >= MAX_QUERIES {
            return Answer::Unknown(UnknownReason::Budget);
        }
        let mut facts = Cow::Borrowed(self.agents.get(agent).unwrap_or(&self.shared));
        for (path, ty) in types {
            facts.to_mut().add(path.clone(), FactKind::Type(*ty), None);
        }
        self.solver.solve(&Query { dialect, facts: &facts, assumptions, goal })
    }
}

/// The types of the constants with which conditions of several dialects compare their variables. One
/// dialect converts the string `"9"` to a number and another raises an error, but such comparisons
/// are not meant for strings.
fn types(all: &[&Condition]) -> Vec<(Path, Type)> {
    let mut dialects = all.iter().filter_map(|condition| condition.dialect());
    let first = dialects.next();
    if dialects.all(|d| first.is_some_and(|first| d.computes_like(first))) {
        return Vec::new();
    }
    let mut found: Vec<(Path, Type)> = Vec::new();
    for condition in all {
        let Condition::Expr(_, expr) = condition else { continue };
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

/// The condition that evaluating another does not fail: `c or not c`, which every dialect can
/// express.
fn evaluates(condition: &Condition) -> Option<Condition> {
    let Condition::Expr(dialect, expr) = condition else { return None };
    if dialect.semantics().error_is_false {
        return None;
    }
    let operand = Box::new(expr.clone());
    let not = Expr::new(ExprKind::Unary { op: UnaryOp::Not, operand }, expr.span).ok()?;
    Some(Condition::Expr(*dialect, Expr::or(expr.clone(), not).ok()?))
}

fn assertion(condition: &Condition, holds: bool, dialect: Dialect) -> Assertion<'_> {
    Assertion { test: condition.test(dialect), holds, label: Label(0) }
}
