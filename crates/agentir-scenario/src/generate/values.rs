//! Candidate values that conditions distinguish. For every guard of the graph, the solver finds a
//! state that satisfies it; the values of that state become candidates for users, tools and models.

use agentir_eval::Value;
use agentir_expr::{TypeExpr, TypeKind};
use agentir_flow::cfg::{Cfg, Test as CfgTest};
use agentir_ir::{Agent, Statement, Tool};
use agentir_runtime::{FieldSpec, FieldType, to_json};
use agentir_solver::{Answer, Assertion, Facts, Goal, Label, Query, Solver, Test};
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json, json};

/// The maximum number of candidates per variable.
const MAX_VALUES: usize = 12;

/// A guard with more conditions is a long chain of branches. The last ones are its own and those nearest to it.
const MAX_CONDITIONS: usize = 64;

/// The steps of the solver for all guards. Values that it does not find are those of the types.
const MAX_STEPS: u64 = 30_000_000;

/// The candidate values of variables, by dotted path.
#[derive(Debug, Default)]
pub(super) struct Values {
    by_path: FxHashMap<String, Vec<Json>>,
    /// Candidate messages that satisfy conditions on `input`.
    pub(super) inputs: Vec<String>,
}

impl Values {
    pub(super) fn of(cfg: &Cfg<'_>) -> Self {
        let mut values = Self::default();
        let mut solver = Solver::default().limited(MAX_STEPS);
        let mut seen = rustc_hash::FxHashSet::default();
        for edge in cfg.graph().edge_references() {
            let guard = edge.weight().guard;
            if guard.is_always() || !seen.insert(guard) {
                continue;
            }
            let node = cfg.node(edge.source());
            let Some(part) = node.and_then(|node| cfg.agent(node.agent)) else { continue };
            let dialect = part.agent.metadata.dialect;
            let literals = cfg.guard(guard);
            let near = literals.len().saturating_sub(MAX_CONDITIONS);
            let assumptions = literals
                .iter()
                .skip(near)
                .zip(0..)
                .map(|(assertion, n)| Assertion {
                    test: match assertion.test {
                        CfgTest::Condition(condition) => Test::from(condition),
                        CfgTest::Expr(expr) => Test::Expr(expr),
                    },
                    holds: assertion.holds,
                    label: Label(n),
                })
                .collect();
            let facts = Facts::new();
            let query = Query { dialect, facts: &facts, assumptions, goal: Goal::Satisfiable };
            if let Answer::Sat(example) = solver.solve(&query) {
                for (name, value) in example.state.variables() {
                    values.note(name.trim_start_matches("@variables."), value);
                }
            }
        }
        values.inputs.dedup();
        values
    }

    fn note(&mut self, path: &str, value: &Value) {
        if value.is_unset() {
            return;
        }
        if path == "input"
            && let Value::Text(text) = value
        {
            if !self.inputs.iter().any(|known| known == text.as_str()) {
                self.inputs.push(text.to_string());
            }
            return;
        }
        if let Value::Object(object) = value {
            for (name, part) in object.fields() {
                self.note(&format!("{path}.{name}"), part);
            }
            return;
        }
        let all = self.by_path.entry(path.to_owned()).or_default();
        let json = to_json(value);
        if all.len() < MAX_VALUES && !all.contains(&json) {
            all.push(json);
        }
    }

    /// Candidate values for a field, most plausible first.
    pub(super) fn of_field(&self, field: &FieldSpec) -> Vec<Json> {
        let mut all: Vec<Json> = field.values.keys().map(|v| Json::from(v.as_str())).collect();
        all.extend(self.by_path.get(&field.name).into_iter().flatten().map(|value| {
            // A string field is not answered with a boolean.
            match value {
                Json::Bool(_) if field.ty == FieldType::Text => Json::from(value.to_string()),
                _ => value.clone(),
            }
        }));
        if all.is_empty() || field.values.is_empty() {
            all.push(of_type(field.ty));
        }
        if field.ty == FieldType::Boolean && !all.contains(&Json::Bool(false)) {
            all.push(Json::Bool(false));
        }
        all.truncate(MAX_VALUES);
        all
    }

    /// Candidate results of a tool: one with the first value of every field, and one for each other
    /// value.
    pub(super) fn of_tool(&self, name: &str, tool: Option<&Tool>, called: &[String]) -> Vec<Json> {
        let mut parts: Vec<(String, Vec<Json>)> = Vec::new();
        let declared = tool.and_then(|t| t.returns.as_ref());
        for field in declared.into_iter().flat_map(|r| &r.fields) {
            parts.push((field.name.value.to_string(), vec![of_type_expr(&field.ty)]));
        }
        let names = [name.to_owned(), "result".to_owned(), format!("last_{name}_result")];
        for known in names.iter().chain(called) {
            let prefix = format!("{known}.");
            let mut found: Vec<_> =
                self.by_path.iter().filter(|(path, _)| path.starts_with(&prefix)).collect();
            found.sort_by(|a, b| a.0.cmp(b.0));
            for (path, values) in found {
                let part = path.get(prefix.len()..).unwrap_or_default().to_owned();
                match parts.iter_mut().find(|(p, _)| *p == part) {
                    Some((_, all)) => {
                        for (n, value) in values.iter().enumerate() {
                            if !all.contains(value) {
                                // Values from conditions take precedence over those of the declared
                                // type.
                                all.insert(n.min(all.len()), value.clone());
                            }
                        }
                    }
                    None => parts.push((part, values.clone())),
                }
            }
        }
        if parts.is_empty() {
            let whole = declared.map_or_else(|| json!({ "status": "ok" }), |r| of_type_expr(&r.ty));
            return vec![whole];
        }
        let first: Vec<(String, Json)> =
            parts.iter().filter_map(|(p, all)| Some((p.clone(), all.first()?.clone()))).collect();
        let mut results = vec![object(&first)];
        for (part, values) in &parts {
            for value in values.iter().skip(1) {
                let mut other = first.clone();
                if let Some(slot) = other.iter_mut().find(|(p, _)| p == part) {
                    slot.1 = value.clone();
                }
                results.push(object(&other));
            }
        }
        results.truncate(2 * MAX_VALUES);
        results
    }
}

/// The names under which the results of each tool are stored.
pub(super) fn result_names<'a>(
    agents: impl Iterator<Item = &'a Agent>,
) -> FxHashMap<String, Vec<String>> {
    let mut names: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for agent in agents {
        agentir_flow::bodies(agent, &mut |body| {
            for statement in &body.0 {
                if let Statement::Call(call) = statement
                    && let Some(result) = &call.result
                {
                    names
                        .entry(call.tool.value.to_string())
                        .or_default()
                        .push(result.value.to_string());
                }
            }
        });
    }
    names
}

/// Builds an object from values at dotted paths.
fn object(parts: &[(String, Json)]) -> Json {
    let mut whole = Map::new();
    for (path, value) in parts {
        let mut at = &mut whole;
        let mut names = path.split('.').peekable();
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                at.insert(name.to_owned(), value.clone());
                break;
            }
            let inner = at.entry(name.to_owned()).or_insert_with(|| Json::Object(Map::new()));
            if !inner.is_object() {
                *inner = Json::Object(Map::new());
            }
            match inner {
                Json::Object(inner) => at = inner,
                _ => break,
            }
        }
    }
    Json::Object(whole)
}

fn of_type(ty: FieldType) -> Json {
    match ty {
        FieldType::Text => json!("something"),
        FieldType::Number => json!(3),
        FieldType::Boolean => json!(true),
        FieldType::Date => json!("2026-03-15"),
        FieldType::Time => json!("14:30"),
        FieldType::DateTime => json!("2026-03-15T14:30:00Z"),
        FieldType::Email => json!("kim@example.com"),
        FieldType::Phone => json!("+436641234567"),
        FieldType::Currency => json!(25),
        FieldType::List => json!([]),
        FieldType::Object => json!({}),
    }
}

/// Recursive; the parser limits the nesting of types.
fn of_type_expr(ty: &TypeExpr) -> Json {
    match &ty.kind {
        TypeKind::Array(item) => Json::Array(vec![of_type_expr(item)]),
        TypeKind::Object(fields) => {
            fields.iter().map(|f| (f.name.value.to_string(), of_type_expr(&f.ty))).collect()
        }
        TypeKind::Named(name) => match name.as_str() {
            "number" | "integer" | "int" | "float" | "currency" => json!(3),
            "boolean" | "bool" => json!(true),
            "date" => json!("2026-03-15"),
            "object" => json!({}),
            _ => json!("something"),
        },
    }
}
