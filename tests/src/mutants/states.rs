//! States in which conditions are evaluated: one value per class that the tests of the conditions
//! distinguish, as far as declarations allow it. All results come from exhaustive evaluation.

use agentir_eval::{Outcome, State, Value, outcome};
use agentir_expr::{
    BinaryOp, Condition, ConditionKind, Dialect, Expr, ExprKind, Literal, Name, Path, Segment,
    UnaryOp, Visit,
};
use agentir_ir::{Agent, GatherField, Node, Program};
use std::collections::{BTreeMap, BTreeSet};

/// The maximal number of states; with more, conditions are not judged.
const MOST: usize = 30_000;

/// The domain of a variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// One of these.
    Listed(Vec<Value>),
    /// A number between these.
    Number(f64, f64),
    /// A string.
    Text,
    /// A Boolean.
    Bool,
    /// Anything.
    Any,
}

/// The declared variables of an agent.
#[derive(Debug)]
pub struct Domain {
    /// The dialect of its conditions.
    pub dialect: Dialect,
    declared: BTreeMap<String, Values>,
    /// The initial values of variables that have one.
    pub first: BTreeMap<String, Value>,
    /// All assigned variables.
    pub written: BTreeSet<String>,
}

fn root(path: &str) -> String {
    path.split('.').next().unwrap_or(path).to_owned()
}

impl Domain {
    /// The declarations of an agent.
    #[must_use]
    pub fn of(program: &Program, agent: &Agent) -> Self {
        let dialect = agent.metadata.dialect;
        let mut fields: BTreeMap<String, Vec<&GatherField>> = BTreeMap::new();
        let mut written: BTreeSet<String> = BTreeSet::new();
        agent.walk(&mut |node| match node {
            Node::Field(field) => {
                fields.entry(field.name.value.to_string()).or_default().push(field)
            }
            Node::Set(set) => {
                written.insert(set.target.root.value.to_string());
            }
            Node::Writes(name, _) => {
                written.insert(root(&name.value));
            }
            _ => {}
        });
        // What others pass to this agent, and what it takes back.
        let own = &agent.metadata.name.value;
        let back = agent.coordination.handoffs.iter().flat_map(|h| &h.on_return);
        written.extend(back.flat_map(|r| &r.map).map(|(name, _)| root(&name.value)));
        for other in program.agents() {
            let handoffs = other.coordination.handoffs.iter().filter(|h| h.to.value == *own);
            written.extend(handoffs.flat_map(|h| &h.context.pass).map(|p| root(&p.name.value)));
            let rules = other.routing.iter().flat_map(|r| &r.rules);
            let rules = rules.filter(|r| r.to.as_ref().is_some_and(|to| to.value == *own));
            written.extend(rules.flat_map(|r| &r.pass).map(|name| root(&name.value)));
            let delegates = other.coordination.delegates.iter().filter(|d| d.agent.value == *own);
            written.extend(delegates.flat_map(|d| &d.input).map(|(name, _)| root(&name.value)));
        }
        let mut declared = BTreeMap::new();
        for variable in dialect.runtime().variables.iter().filter(|v| !v.values.is_empty()) {
            let values = variable.values.iter().map(|v| Value::from(*v)).collect();
            declared.insert(variable.name.to_owned(), Values::Listed(values));
        }
        for (name, all) in &fields {
            let [field] = all.as_slice() else { continue };
            if !written.contains(name) {
                declared.insert(name.clone(), of_field(field));
            }
        }
        let shared: Vec<&agentir_ir::SessionVariable> = if dialect.traits().shared_variables {
            program.agents().flat_map(|a| &a.memory.session).collect()
        } else {
            Vec::new()
        };
        for variable in shared {
            let ty = variable.ty.as_ref().and_then(|ty| ty.name());
            let values = ty.map_or(Values::Any, of_type);
            declared.insert(format!("@variables.{}", variable.name.value), values);
        }
        let mut first = BTreeMap::new();
        for variable in &agent.memory.session {
            let value = match &variable.initial_value {
                None => Value::Undefined,
                Some(serde_json::Value::Bool(b)) => Value::Bool(*b),
                Some(serde_json::Value::Number(n)) => {
                    Value::number(n.as_f64().unwrap_or_default()).unwrap_or_default()
                }
                Some(serde_json::Value::String(text)) => Value::from(text.as_str()),
                Some(_) => continue,
            };
            first.insert(variable.name.value.to_string(), value);
        }
        for (name, all) in &fields {
            if all.iter().all(|f| f.default.is_none()) {
                first.entry(name.clone()).or_insert(Value::Undefined);
            }
        }
        Self { dialect, declared, first, written }
    }

    /// Whether a variable is an enumeration.
    #[must_use]
    pub fn listed(&self, path: &Path) -> Option<Vec<Value>> {
        match self.declared.get(&key(path)?) {
            Some(Values::Listed(values)) => Some(values.clone()),
            Some(Values::Bool) => Some(vec![Value::Bool(true), Value::Bool(false)]),
            _ => None,
        }
    }

    /// The domain of a variable.
    #[must_use]
    pub fn of_name(&self, name: &str) -> Values {
        self.values(name)
    }

    fn values(&self, path: &str) -> Values {
        self.declared.get(path).cloned().unwrap_or(Values::Any)
    }
}

fn of_type(name: &str) -> Values {
    match name.to_lowercase().as_str() {
        "number" | "integer" | "int" | "float" | "currency" => {
            Values::Number(f64::NEG_INFINITY, f64::INFINITY)
        }
        "boolean" | "bool" => Values::Bool,
        "string" | "text" | "email" | "phone" => Values::Text,
        _ => Values::Any,
    }
}

fn of_field(field: &GatherField) -> Values {
    if !field.enum_values.is_empty() {
        let all = field.enum_values.iter().map(|v| Value::from(v.value.as_str()));
        return Values::Listed(all.collect());
    }
    let values = field.ty.as_ref().map_or(Values::Any, |ty| of_type(&ty.value));
    let range = field.validation.as_ref().filter(|v| v.kind.value == "range");
    if let (Values::Number(..), Some(range)) = (&values, range)
        && let Some((low, high)) = range.rule.value.split_once('-')
        && let (Ok(low), Ok(high)) = (low.trim().parse(), high.trim().parse())
    {
        return Values::Number(low, high);
    }
    values
}

/// The name under which a path is sampled; `None` if it cannot be.
fn key(path: &Path) -> Option<String> {
    let mut text = match &path.namespace {
        Some(namespace) => format!("@{}.{}", namespace.value, path.root.value),
        None => path.root.value.to_string(),
    };
    for segment in &path.segments {
        let Segment::Field(name) = segment else { return None };
        text.push('.');
        text.push_str(&name.value);
    }
    Some(text)
}

/// A condition that can be evaluated.
#[derive(Debug, Clone, Copy)]
pub enum Test<'a> {
    /// An expression.
    Expr(&'a Expr),
    /// Natural language, which may hold or not.
    Words(&'a str),
}

impl<'a> Test<'a> {
    /// The test of a condition; `None` if it could not be parsed.
    #[must_use]
    pub fn of(condition: &'a Condition) -> Option<Self> {
        match &condition.kind {
            ConditionKind::Expr(expr) => Some(Self::Expr(expr)),
            ConditionKind::Natural => Some(Self::Words(&condition.text.value)),
            ConditionKind::Invalid => None,
        }
    }

    /// Whether it is constant because it reads no variables.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        let Self::Expr(expr) = self else { return false };
        let mut constant = true;
        expr.visit(&mut |e| {
            constant &= !matches!(e.kind, ExprKind::Path(_) | ExprKind::Call { .. });
            Visit::Children
        });
        constant
    }

    /// Its value in a state.
    #[must_use]
    pub fn outcome(&self, state: &State, dialect: Dialect) -> Outcome {
        match self {
            Self::Expr(expr) => outcome(expr, state, dialect),
            Self::Words(words) => match state.get(&format!("words: {words}")) {
                Some(Value::Bool(true)) => Outcome::True,
                _ => Outcome::False,
            },
        }
    }
}

/// The states in which conditions are evaluated.
#[derive(Debug)]
pub struct States {
    variables: Vec<(Sampled, Vec<Value>)>,
}

#[derive(Debug)]
enum Sampled {
    Path(Path),
    Words(String),
}

impl States {
    /// All states that these conditions can distinguish; `None` if they contain functions, patterns or
    /// arithmetic, whose values cannot be enumerated.
    #[must_use]
    pub fn of(domain: &Domain, tests: &[Test<'_>]) -> Option<Self> {
        let mut numbers: Vec<f64> = vec![0.0];
        let mut texts: Vec<String> = vec![String::new(), "~".to_owned()];
        let mut parts = false;
        let mut paths: BTreeMap<String, Path> = BTreeMap::new();
        let mut words: BTreeSet<String> = BTreeSet::new();
        let mut fits = true;
        for test in tests {
            let expr = match test {
                Test::Expr(expr) => expr,
                Test::Words(text) => {
                    words.insert((*text).to_owned());
                    continue;
                }
            };
            expr.visit(&mut |e| {
                match &e.kind {
                    ExprKind::Literal(Literal::Number(n)) => numbers.extend([*n, -*n]),
                    ExprKind::Literal(Literal::String(text)) => texts.push(text.to_string()),
                    ExprKind::Literal(Literal::Regex(_) | Literal::Date(_))
                    | ExprKind::Call { .. }
                    | ExprKind::Ellipsis
                    | ExprKind::Spread(_)
                    | ExprKind::Subscript { .. }
                    | ExprKind::Member { .. }
                    | ExprKind::Unary { op: UnaryOp::IsNumber, .. }
                    | ExprKind::Object(_) => fits = false,
                    ExprKind::Method { method, .. } => {
                        parts = true;
                        let known = ["contains", "startsWith", "endsWith"];
                        fits &= known.contains(&method.value.as_str());
                    }
                    ExprKind::Binary { op, .. } => match op {
                        BinaryOp::Contains | BinaryOp::StartsWith | BinaryOp::EndsWith => {
                            parts = true;
                        }
                        BinaryOp::Add
                        | BinaryOp::Subtract
                        | BinaryOp::Multiply
                        | BinaryOp::Divide
                        | BinaryOp::Remainder
                        | BinaryOp::Matches => fits = false,
                        _ => {}
                    },
                    ExprKind::Path(path) => match key(path) {
                        Some(key) => {
                            paths.insert(key, path.clone());
                        }
                        None => fits = false,
                    },
                    _ => {}
                }
                Visit::Children
            });
        }
        // A value and its field cannot be chosen independently.
        let names: Vec<&String> = paths.keys().collect();
        let nested = |a: &&String| names.iter().any(|b| b.starts_with(&format!("{a}.")));
        if !fits || names.iter().any(nested) {
            return None;
        }
        if parts {
            let all: String = texts.iter().filter(|t| *t != "~").cloned().collect();
            texts.push(all);
        }
        texts.sort();
        texts.dedup();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let mut near: Vec<f64> = Vec::new();
        for (at, n) in numbers.iter().enumerate() {
            near.extend([n - 1.0, *n, n + 1.0]);
            if let Some(next) = numbers.get(at + 1) {
                near.push(f64::midpoint(*n, *next));
            }
        }
        near.sort_by(f64::total_cmp);
        near.dedup();
        let mut variables: Vec<(Sampled, Vec<Value>)> = Vec::new();
        for (key, path) in paths {
            let values = candidates(&domain.values(&key), &near, &texts);
            variables.push((Sampled::Path(path), values));
        }
        for text in words {
            let values = vec![Value::Bool(true), Value::Bool(false)];
            variables.push((Sampled::Words(text), values));
        }
        let count = variables.iter().try_fold(1usize, |n, (_, v)| n.checked_mul(v.len()));
        count.is_some_and(|n| n <= MOST).then_some(Self { variables })
    }

    /// Calls `visit` with each state until it returns a break.
    pub fn each(&self, visit: &mut dyn FnMut(&State) -> bool) {
        let mut at = vec![0usize; self.variables.len()];
        loop {
            let mut state = State::new();
            for ((sampled, values), at) in self.variables.iter().zip(&at) {
                match sampled {
                    Sampled::Path(path) => {
                        if values[*at] != Value::Undefined || !path.segments.is_empty() {
                            state
                                .set_path(path, values[*at].clone())
                                .expect("only names of fields");
                        }
                    }
                    Sampled::Words(words) => {
                        state.set(Name::new(format!("words: {words}")), values[*at].clone());
                    }
                }
            }
            if !visit(&state) {
                return;
            }
            let Some(next) = (0..at.len()).rev().find(|i| at[*i] + 1 < self.variables[*i].1.len())
            else {
                return;
            };
            at[next] += 1;
            at[next + 1..].fill(0);
        }
    }

    /// Whether a predicate holds in one of the states.
    #[must_use]
    pub fn any(&self, mut like: impl FnMut(&State) -> bool) -> bool {
        let mut found = false;
        self.each(&mut |state| {
            found = like(state);
            !found
        });
        found
    }
}

fn candidates(values: &Values, numbers: &[f64], texts: &[String]) -> Vec<Value> {
    let number = |n: &f64| Value::number(*n).unwrap_or_default();
    let mut all = vec![Value::Undefined];
    match values {
        Values::Listed(listed) => all.extend(listed.iter().cloned()),
        Values::Bool => all.extend([Value::Bool(true), Value::Bool(false)]),
        Values::Number(low, high) => {
            let ends = [low, high].into_iter().filter(|n| n.is_finite());
            all.extend(ends.map(number));
            all.extend(numbers.iter().filter(|n| (low..=high).contains(n)).map(number));
        }
        Values::Text => all.extend(texts.iter().map(|t| Value::from(t.as_str()))),
        Values::Any => {
            all.extend([Value::Bool(true), Value::Bool(false)]);
            all.extend(numbers.iter().map(number));
            all.extend(texts.iter().map(|t| Value::from(t.as_str())));
        }
    }
    all
}
