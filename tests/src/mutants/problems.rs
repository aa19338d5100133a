//! Problems with the conditions of an agent, found by evaluating them in states. They decide whether
//! a mutation is a defect, independently of the rules.

use super::states::{Domain, States, Test};
use agentir_eval::{Outcome, State};
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, Path, Visit};
use agentir_ir::{
    Agent, Body, Branch, Checkpoint, Constraint, ConstraintKind, GatherField, Node, NumberOrText,
    Program, Statement,
};
use std::collections::{BTreeMap, BTreeSet};

/// A problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// A comparison has the same value in every state.
    Constant,
    /// A condition holds in no state.
    NeverHolds,
    /// A condition holds in every state.
    AlwaysHolds,
    /// A branch is taken in no state.
    BranchNeverTaken,
    /// A handoff or a routing rule is taken in no state.
    RouteNeverTaken,
    /// A completion condition holds in no state.
    CompletionNeverTaken,
    /// Two routes of the same priority lead to different agents in one state.
    Tie,
    /// Two constraints that apply together cannot both be satisfied.
    Contradiction,
    /// An earlier constraint implies this one.
    Redundant,
    /// A listed value has no branch, although most have.
    ValueLeftOut,
    /// A listed value leads to no agent.
    ValueNotRouted,
    /// The agent completes or fails before it starts.
    DoneAtStart,
    /// A constraint is violated in the initial state.
    FailsAtStart,
    /// No run reaches a step.
    StepNotReached,
    /// A run reads an unset variable.
    ReadsUnset,
    /// A run loops without waiting.
    NeverWaits,
    /// An assigned variable is never read.
    NeverRead,
    /// A variable that another agent reads is not passed to it.
    NotHandedOver,
    /// A result that another agent should return does not exist there.
    NotReturned,
    /// Two agents hand a message back and forth.
    HandedBack,
    /// Sensitive data is exposed.
    Shown,
    /// A value has the wrong type.
    WrongType,
    /// A value is not a member of the enumeration.
    NotListed,
}

/// The number of problems of each kind.
pub type Problems = BTreeMap<Problem, usize>;

/// Alternatives of which the first that applies is taken.
#[derive(Debug)]
pub struct List<'a> {
    /// Their kind.
    pub what: What,
    /// Their conditions, in evaluation order; `None` always applies.
    pub items: Vec<Option<&'a Condition>>,
    /// The target agents of routes.
    pub to: Vec<&'a str>,
    /// Their priorities, if these decide.
    pub priorities: Vec<Option<f64>>,
    /// Whether more than the condition is required.
    pub narrowed: Vec<bool>,
}

impl List<'_> {
    /// Whether an alternative is known to be tried before another one.
    fn precedes(&self, one: usize, other: usize) -> bool {
        let priority = |at: usize| self.priorities.get(at).copied().flatten();
        let narrowed = self.narrowed.get(one).copied().unwrap_or_default();
        one < other
            && !narrowed
            && match (priority(one), priority(other)) {
                (Some(a), Some(b)) => a < b,
                (None, None) => true,
                _ => false,
            }
    }
}

/// The nested branches, each with its conditions and the enclosing ones, as text.
fn nested(agent: &Agent) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut inside = |branches: &[Branch]| {
        for branch in branches {
            let own = branch.condition.as_ref().map_or("ELSE", |c| c.text.value.as_str());
            let mut all = own.to_owned();
            let mut deep = false;
            branch.body.walk(&mut |node| {
                if let Node::Condition(condition, _) = node {
                    all.push_str(" / ");
                    all.push_str(&condition.text.value);
                    deep = true;
                }
            });
            if deep {
                found.insert(all);
            }
        }
    };
    bodies(agent, &mut |body| {
        statements(body, &mut |statement| match statement {
            Statement::If { branches } | Statement::Await { branches } => inside(branches),
            Statement::Call(call) => inside(&call.on_result),
            _ => {}
        });
    });
    found
}

/// The kind of alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Branches.
    Branches,
    /// Handoffs and routing rules.
    Routes,
    /// Completion conditions.
    Completions,
}

/// Priority, condition, target agent, and whether more than the condition is required.
type Route<'a> = (Option<f64>, Option<&'a Condition>, &'a str, bool);

/// The lists of alternatives of an agent.
#[must_use]
pub fn lists(agent: &Agent) -> Vec<List<'_>> {
    let mut all: Vec<List<'_>> = Vec::new();
    bodies(agent, &mut |body| {
        statements(body, &mut |statement| {
            let branches: &[Branch] = match statement {
                Statement::If { branches } | Statement::Await { branches } => branches,
                Statement::Call(call) => &call.on_result,
                _ => &[],
            };
            if !branches.is_empty() {
                all.push(List {
                    what: What::Branches,
                    items: branches.iter().map(|b| b.condition.as_ref()).collect(),
                    to: Vec::new(),
                    priorities: Vec::new(),
                    narrowed: Vec::new(),
                });
            }
        });
    });
    let number = |priority: &Option<NumberOrText>| match priority {
        Some(NumberOrText::Number(n)) => Some(n.0),
        _ => None,
    };
    // `HANDOFF_PROTOCOL` of a supervisor describes handoffs of other agents.
    let others = |h: &agentir_ir::Handoff| h.extensions.0.values().any(|e| e.contains_key("from"));
    let handoffs = agent.coordination.handoffs.iter().filter(|h| !others(h));
    let mut handoffs: Vec<Route<'_>> = handoffs
        .map(|h| (number(&h.priority), h.when.as_ref(), h.to.value.as_str(), false))
        .collect();
    let rules = agent.routing.iter().flat_map(|r| &r.rules).filter(|r| r.intents.is_empty());
    let mut rules: Vec<Route<'_>> = rules
        .map(|r| {
            let to = r.to.as_ref().map_or("", |to| to.value.as_str());
            let narrowed = !r.channels.is_empty()
                || !r.requires_state.is_empty()
                || !r.ignore_intents.is_empty();
            (number(&r.priority), r.when.as_ref(), to, narrowed)
        })
        .collect();
    for routes in [&mut handoffs, &mut rules] {
        routes.sort_by(|a, b| a.0.unwrap_or_default().total_cmp(&b.0.unwrap_or_default()));
        // A route without a condition is chosen by the model.
        routes.retain(|r| r.1.is_some());
        all.push(List {
            what: What::Routes,
            items: routes.iter().map(|r| r.1).collect(),
            to: routes.iter().map(|r| r.2).collect(),
            priorities: routes.iter().map(|r| r.0).collect(),
            narrowed: routes.iter().map(|r| r.3).collect(),
        });
    }
    let completions = agent.completion.conditions.iter().filter_map(|c| c.when.as_ref());
    all.push(List {
        what: What::Completions,
        items: completions.map(Some).collect(),
        to: Vec::new(),
        priorities: Vec::new(),
        narrowed: Vec::new(),
    });
    all.retain(|list| !list.items.is_empty());
    all
}

/// Calls `found` with every list of statements of an agent.
pub fn bodies<'a>(agent: &'a Agent, found: &mut dyn FnMut(&'a Body)) {
    found(&agent.on_start);
    agent.hooks.iter().for_each(|(_, hook)| found(&hook.body));
    let flow = agent.flow.iter();
    for step in flow.clone().flat_map(|f| f.definitions.values()) {
        found(&step.body);
        step.digressions.iter().chain(&step.sub_intents).for_each(|d| found(&d.body));
        step.on_action.iter().for_each(|a| found(&a.body));
        step.on_error.iter().for_each(|e| found(&e.body));
        step.reasoning_zone.iter().for_each(|z| found(&z.prepare));
    }
    flow.flat_map(|f| &f.global_digressions).for_each(|d| found(&d.body));
    agent.reasoning.iter().for_each(|z| found(&z.prepare));
    agent.action_handlers.iter().for_each(|a| found(&a.body));
    agent.error_handling.handlers.iter().for_each(|h| found(&h.body));
}

/// Calls `found` with every statement, including nested ones.
pub fn statements<'a>(body: &'a Body, found: &mut dyn FnMut(&'a Statement)) {
    for statement in &body.0 {
        found(statement);
        match statement {
            Statement::If { branches } | Statement::Await { branches } => {
                branches.iter().for_each(|b| statements(&b.body, found));
            }
            Statement::Call(call) => {
                statements(&call.on_success, found);
                statements(&call.on_failure, found);
                call.on_result.iter().for_each(|b| statements(&b.body, found));
            }
            Statement::Collect(collect) => {
                statements(&collect.on_success, found);
                statements(&collect.on_failure, found);
            }
            _ => {}
        }
    }
}

/// The problems with the conditions of a program, and the text of those that cannot be judged.
#[must_use]
pub fn of_conditions(program: &Program) -> (Problems, BTreeSet<String>) {
    let mut search = Search::default();
    for agent in program.agents() {
        let domain = Domain::of(program, agent);
        search.alone(agent, &domain);
        for list in lists(agent) {
            search.list(&list, &domain);
        }
        // The conditions around a branch may decide it.
        search.unjudged.extend(nested(agent));
        search.listed(agent);
        search.constraints(&agent.constraints.constraints, &domain);
        search.start(agent, &domain);
    }
    search.circles(program);
    (search.found, search.unjudged)
}

#[derive(Default)]
struct Search {
    found: Problems,
    unjudged: BTreeSet<String>,
}

impl Search {
    fn add(&mut self, problem: Problem) {
        *self.found.entry(problem).or_default() += 1;
    }

    /// Each condition, and each comparison in it.
    fn alone(&mut self, agent: &Agent, domain: &Domain) {
        let mut conditions: Vec<&Condition> = Vec::new();
        agent.walk(&mut |node| {
            if let Node::Condition(condition, _) = node {
                conditions.push(condition);
            }
        });
        for condition in conditions {
            let Some(test) = Test::of(condition).filter(|t| !t.is_constant()) else { continue };
            match ends(&test, domain) {
                None => {
                    self.unjudged.insert(condition.text.value.to_string());
                }
                Some((true, false)) => self.add(Problem::AlwaysHolds),
                Some((false, _)) => self.add(Problem::NeverHolds),
                Some((true, true)) => {}
            }
            let Test::Expr(expr) = test else { continue };
            let mut constant = 0;
            expr.visit(&mut |e| {
                let compares = matches!(
                    &e.kind,
                    ExprKind::Binary {
                        op: BinaryOp::Equal
                            | BinaryOp::NotEqual
                            | BinaryOp::StrictEqual
                            | BinaryOp::StrictNotEqual
                            | BinaryOp::In
                            | BinaryOp::NotIn
                            | BinaryOp::Less
                            | BinaryOp::LessEqual
                            | BinaryOp::Greater
                            | BinaryOp::GreaterEqual,
                        ..
                    }
                );
                let alone = Test::Expr(e);
                if compares
                    && !alone.is_constant()
                    && matches!(ends(&alone, domain), Some((true, false) | (false, true)))
                {
                    constant += 1;
                }
                Visit::Children
            });
            for _ in 0..constant {
                self.add(Problem::Constant);
            }
        }
    }

    /// Assigned constants that are not members of the enumeration.
    fn listed(&mut self, agent: &Agent) {
        let mut fields: Vec<&GatherField> = Vec::new();
        let mut sets = Vec::new();
        agent.walk(&mut |node| match node {
            Node::Field(field) if !field.enum_values.is_empty() => fields.push(field),
            Node::Set(set) => sets.push(set),
            _ => {}
        });
        for set in sets {
            let ExprKind::Literal(Literal::String(text)) = &set.value.kind else { continue };
            let field = fields.iter().find(|f| f.name.value == set.target.root.value);
            if field.is_some_and(|f| !f.enum_values.iter().any(|v| v.value == *text)) {
                self.add(Problem::NotListed);
            }
        }
    }

    /// Two agents whose runtime conditions make them hand over to each other in the same state.
    fn circles(&mut self, program: &Program) {
        let by_runtime = |condition: &Condition| {
            let mut known = condition.expr().is_some();
            condition.expr().into_iter().for_each(|e| {
                e.paths(&mut |p| {
                    known &= ["user", "channel", "language"].contains(&p.root.value.as_str());
                });
            });
            known
        };
        for (at, one) in program.agents().enumerate() {
            for other in program.agents().skip(at + 1) {
                let to = |a: &'_ Agent, b: &'_ Agent| -> Vec<usize> {
                    let all = a.coordination.handoffs.iter().enumerate();
                    all.filter(|(_, h)| h.to.value == b.metadata.name.value)
                        .map(|(n, _)| n)
                        .collect()
                };
                // In Agent Script, procedures run before the handoff.
                let names = |a: &Agent, b: &Agent| {
                    let mut found = false;
                    a.walk(&mut |node| {
                        if let Node::AgentRef(name, _) = node {
                            found |= name.value == b.metadata.name.value;
                        }
                    });
                    found
                };
                if one.metadata.dialect.traits().shared_variables
                    && names(one, other)
                    && names(other, one)
                {
                    let mut all = Vec::new();
                    for agent in [one, other] {
                        agent.walk(&mut |node| {
                            if let Node::Condition(condition, _) = node {
                                all.push(condition.text.value.to_string());
                            }
                        });
                    }
                    self.unjudged.insert(all.join(" / "));
                }
                for (n, m) in to(one, other)
                    .iter()
                    .flat_map(|n| to(other, one).into_iter().map(move |m| (*n, m)))
                {
                    let whens = [&one.coordination.handoffs[n], &other.coordination.handoffs[m]];
                    let whens = whens.map(|h| h.when.as_ref().filter(|c| by_runtime(c)));
                    let [Some(a), Some(b)] = whens else { continue };
                    let (Some(a), Some(b)) = (Test::of(a), Test::of(b)) else { continue };
                    let domain = Domain::of(program, one);
                    let both = |s: &State| {
                        [a, b].iter().all(|t| t.outcome(s, domain.dialect) == Outcome::True)
                    };
                    if States::of(&domain, &[a, b]).is_some_and(|states| states.any(both)) {
                        self.add(Problem::HandedBack);
                    }
                }
            }
        }
    }

    fn list(&mut self, list: &List<'_>, domain: &Domain) {
        let tests: Vec<Option<Test<'_>>> =
            list.items.iter().map(|c| c.and_then(Test::of)).collect();
        for (at, own) in tests.iter().enumerate() {
            let unread = list.items[at].is_some() && own.is_none();
            if unread || own.is_some_and(|t| t.is_constant()) {
                continue;
            }
            let before = || (0..at).filter(|one| list.precedes(*one, at));
            let always = before().any(|one| list.items[one].is_none());
            let before: Vec<Test<'_>> = before().filter_map(|one| tests[one]).collect();
            // A condition that never holds on its own is another problem.
            let never = own.is_some_and(|t| matches!(ends(&t, domain), Some((false, _))));
            if never {
                continue;
            }
            // Only conditions on the same variables can decide it.
            let about: Vec<Test<'_>> = match own {
                Some(own) => before.into_iter().filter(|t| shares(t, own)).collect(),
                None => before,
            };
            let dead = always || {
                let mut all = about.clone();
                all.extend(*own);
                let Some(states) = States::of(domain, &all) else {
                    self.unjudged.insert(in_words(&list.items));
                    continue;
                };
                !states.any(|state| {
                    about.iter().all(|t| t.outcome(state, domain.dialect) == Outcome::False)
                        && own.is_none_or(|t| t.outcome(state, domain.dialect) == Outcome::True)
                })
            };
            if dead {
                self.add(match list.what {
                    What::Branches => Problem::BranchNeverTaken,
                    What::Routes => Problem::RouteNeverTaken,
                    What::Completions => Problem::CompletionNeverTaken,
                });
            }
        }
        if list.what == What::Routes {
            self.ties(list, &tests, domain);
        }
        if list.what == What::Branches {
            self.values(list, &tests, domain);
        }
    }

    fn ties(&mut self, list: &List<'_>, tests: &[Option<Test<'_>>], domain: &Domain) {
        for (at, one) in tests.iter().enumerate() {
            for (other, two) in tests.iter().enumerate().skip(at + 1) {
                let (Some(Test::Expr(a)), Some(Test::Expr(b))) = (one, two) else { continue };
                let same = list.priorities[at].is_some()
                    && !list.narrowed[at]
                    && !list.narrowed[other]
                    && list.priorities[at] == list.priorities[other]
                    && list.to[at] != list.to[other];
                let both = [Test::Expr(a), Test::Expr(b)];
                let holds = |states: &States| {
                    states
                        .any(|s| both.iter().all(|t| t.outcome(s, domain.dialect) == Outcome::True))
                };
                if same && States::of(domain, &both).is_some_and(|states| holds(&states)) {
                    self.add(Problem::Tie);
                }
            }
        }
    }

    /// Branches over the values of one variable: at least two, for at least half of the values.
    fn values(&mut self, list: &List<'_>, tests: &[Option<Test<'_>>], domain: &Domain) {
        let Some(tests) = tests.iter().copied().collect::<Option<Vec<Test<'_>>>>() else { return };
        let mut by: Option<Path> = None;
        let mut one = list.items.len() > 1;
        for test in &tests {
            let Test::Expr(expr) = test else { return };
            let equality = |op: &BinaryOp| {
                matches!(op, BinaryOp::Equal | BinaryOp::StrictEqual | BinaryOp::Is | BinaryOp::In)
            };
            expr.visit(&mut |e| {
                match &e.kind {
                    ExprKind::Path(path) => {
                        one &= *by.get_or_insert_with(|| path.clone()) == *path;
                    }
                    ExprKind::Binary { op, .. } => one &= equality(op),
                    ExprKind::And(_) | ExprKind::IsSet { .. } => one = false,
                    _ => {}
                }
                Visit::Children
            });
        }
        let Some(path) = by.filter(|_| one) else { return };
        let Some(values) = domain.listed(&path) else { return };
        let left_out = values.iter().filter(|value| {
            let mut state = State::new();
            state.set_path(&path, (*value).clone()).is_ok()
                && tests.iter().all(|t| t.outcome(&state, domain.dialect) == Outcome::False)
        });
        let left_out = left_out.count();
        if left_out > 0 && left_out * 2 <= values.len() {
            self.add(Problem::ValueLeftOut);
        }
    }

    /// Pairs of constraints that are checked at the same program point under the same condition.
    fn constraints(&mut self, all: &[Constraint], domain: &Domain) {
        let place = |c: &Constraint| match &c.checkpoint {
            None => String::new(),
            Some(Checkpoint::ToolCall { target }) => format!("call {}", target.value),
            Some(Checkpoint::Response) => "response".to_owned(),
            Some(Checkpoint::Other { target }) => format!("other {}", target.value),
        };
        let when = |c: &Constraint| c.applies_when.as_ref().map(|w| w.text.value.clone());
        let stops = |c: &Constraint| {
            let on = |jump: &agentir_ir::Jump| jump.target.continues();
            let goes_on = c
                .on_fail
                .as_ref()
                .is_some_and(|f| f.then_action.iter().chain(&f.then_step).any(on));
            !goes_on && c.kind != Some(ConstraintKind::Warn) && c.severity != Some("warning")
        };
        for (at, a) in all.iter().enumerate() {
            for b in all.iter().skip(at + 1) {
                if place(a) != place(b) {
                    continue;
                }
                let (Some(x), Some(y)) = (Test::of(&a.condition), Test::of(&b.condition)) else {
                    continue;
                };
                if !shares(&x, &y) {
                    continue;
                }
                let mut tests = vec![x, y];
                tests.extend([a, b].iter().filter_map(|c| Test::of(c.applies_when.as_ref()?)));
                let Some(states) = States::of(domain, &tests) else {
                    let words = [Some(&a.condition), Some(&b.condition)];
                    self.unjudged.insert(in_words(&words));
                    continue;
                };
                let met = |c: &Constraint, t: &Test<'_>, state: &State| {
                    let holds = t.outcome(state, domain.dialect) == Outcome::True;
                    holds != (c.kind == Some(ConstraintKind::Restrict))
                };
                let applies = |state: &State| {
                    tests[2..].iter().all(|t| t.outcome(state, domain.dialect) == Outcome::True)
                };
                // A constraint that is unsatisfiable on its own is another problem.
                let alone = states.any(|s| applies(s) && met(a, &x, s))
                    && states.any(|s| applies(s) && met(b, &y, s));
                if alone && !states.any(|s| applies(s) && met(a, &x, s) && met(b, &y, s)) {
                    self.add(Problem::Contradiction);
                }
                let fails = states.any(|s| applies(s) && !met(b, &y, s));
                if when(a) == when(b)
                    && fails
                    && stops(a)
                    && !states.any(|s| applies(s) && met(a, &x, s) && !met(b, &y, s))
                {
                    self.add(Problem::Redundant);
                }
            }
        }
    }

    /// Conditions that hold initially, if all variables they read have initial values.
    fn start(&mut self, agent: &Agent, domain: &Domain) {
        if domain.dialect != agentir_lang_abl::dialect::ABL {
            return;
        }
        let unjudged = std::cell::RefCell::new(BTreeSet::new());
        let first = |test: &Test<'_>| -> Option<State> {
            let Test::Expr(expr) = test else { return None };
            let mut state = State::new();
            let mut known = !test.is_constant();
            // Assigned variables may or may not be set before; they are not considered.
            let mut open = known;
            expr.paths(&mut |path| open &= domain.first.contains_key(path.root.value.as_str()));
            if open {
                unjudged.borrow_mut().insert(format!("at first: {expr}"));
            }
            expr.visit(&mut |e| {
                if let ExprKind::Path(path) = &e.kind {
                    let name = path.root.value.as_str();
                    match domain.first.get(name).filter(|_| !domain.written.contains(name)) {
                        Some(value) => state.set(name, value.clone()),
                        None => known = false,
                    }
                }
                known &= !matches!(e.kind, ExprKind::Call { .. });
                Visit::Children
            });
            known.then_some(state)
        };
        let holds = |condition: &Condition| {
            let test = Test::of(condition)?;
            Some(test.outcome(&first(&test)?, domain.dialect) == Outcome::True)
        };
        let completes = agent.completion.conditions.iter().filter_map(|c| c.when.as_ref());
        let triggers = agent.coordination.escalation.iter().flat_map(|e| &e.triggers);
        for condition in completes.chain(triggers.filter_map(|t| t.when.as_ref())) {
            // A condition that always holds is another problem.
            let may_fail = Test::of(condition).and_then(|t| ends(&t, domain)).is_none_or(|e| e.1);
            if holds(condition) == Some(true) && may_fail {
                self.add(Problem::DoneAtStart);
            }
        }
        for constraint in &agent.constraints.constraints {
            let fails = match constraint.kind {
                Some(ConstraintKind::Limit) => holds(&constraint.condition) == Some(false),
                Some(ConstraintKind::Restrict) => holds(&constraint.condition) == Some(true),
                _ => false,
            };
            if fails && constraint.checkpoint.is_none() && constraint.applies_when.is_none() {
                self.add(Problem::FailsAtStart);
            }
        }
        self.unjudged.extend(unjudged.into_inner());
    }
}

/// Whether a test can be true, and whether it can be false; `None` if that cannot be judged.
fn ends(test: &Test<'_>, domain: &Domain) -> Option<(bool, bool)> {
    let states = States::of(domain, &[*test])?;
    let (mut holds, mut fails) = (false, false);
    states.each(&mut |state| {
        match test.outcome(state, domain.dialect) {
            Outcome::True => holds = true,
            Outcome::False => fails = true,
            Outcome::Error => {}
        }
        !(holds && fails)
    });
    Some((holds, fails))
}

fn in_words(items: &[Option<&Condition>]) -> String {
    let text = |c: &Option<&Condition>| c.map_or("ELSE", |c| c.text.value.as_str()).to_owned();
    items.iter().map(text).collect::<Vec<_>>().join(" / ")
}

fn shares(a: &Test<'_>, b: &Test<'_>) -> bool {
    let names = |expr: &Expr| {
        let mut names: Vec<String> = Vec::new();
        expr.paths(&mut |path| names.push(path.root.value.to_string()));
        names
    };
    match (a, b) {
        (Test::Expr(a), Test::Expr(b)) => {
            let (a, b) = (names(a), names(b));
            a.iter().any(|name| b.contains(name))
        }
        (Test::Words(a), Test::Words(b)) => a == b,
        _ => false,
    }
}
