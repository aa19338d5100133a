//! Branches over the values of a variable that omit some values.

use crate::evidence::{binding, explain_core};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::{branch_guard, branches, is_stable, test};
use agentir_analysis::proof::{FactSource, UnsatCore};
use agentir_analysis::values::{Known, ValueSet, When, source};
use agentir_diagnostics::{Diagnostic, RuleName, Severity};
use agentir_eval::{Outcome, State, Value, outcome};
use agentir_expr::dialect::{Construct, Keyword};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path, UnaryOp, Visit};
use agentir_flow::cfg::{Fact, GuardLiteral, NodeKind};
use agentir_ir::{Body, Statement};
use agentir_solver::FactKind;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("missing-case"),
    group: Group::Proofs,
    severity: Severity::Info,
    summary: "branches on the values of a variable leave some of them out",
    vendor: &[],
    requires: &[Construct::Comparisons],
    check: Check::Agent(check),
};

/// The maximum number of branches that a finding shows.
const MAX_SHOWN: usize = 6;

/// Longer enumerations are not meant to be matched exhaustively.
const MAX_VALUES: usize = 64;

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let Some(agent_cfg) = cx.agent_cfg() else { return };
    // Branches that follow where none is taken are looked at with the first: `if x < 4` and then `if x > 4`. A node may
    // have as many successors as the program has branches, so they are looked for once.
    let later: FxHashSet<NodeIndex> =
        agent_cfg.nodes().filter_map(|node| follows(cx, node)).collect();
    for node in agent_cfg.nodes() {
        let finding = missing_case(cx, node, report);
        let finding = finding.or_else(|| {
            let is_first = !later.contains(&node);
            is_first.then(|| gap(cx, node, report).or_else(|| combination(cx, node, report)))?
        });
        if let Some(finding) = finding
            && cx.owns(finding.primary.span)
        {
            report.push(finding);
        }
    }
}

fn missing_case(
    cx: &AgentContext<'_, '_>,
    node: NodeIndex,
    report: &Report<'_>,
) -> Option<Diagnostic> {
    let cfg = cx.program.graph();
    let all = branches(cfg.node(node)?);
    let (tried, None) = branch_guard(all, all.len())? else { return None };
    let (first, rest) = tried.split_first()?;
    let path = subject(first)?;
    if rest.is_empty() || !rest.iter().all(|l| subject(l) == Some(path)) {
        return None;
    }
    // The edge where no branch is taken.
    let (next, edge) = cfg.successors(node).find(|(_, edge)| {
        let guard = || cfg.literals_backwards(edge.guard);
        guard().all(|l| !l.holds) && guard().take(tried.len() + 1).count() == tried.len()
    })?;
    let variable_facts = cx.variable_facts();
    let mut values = variable_facts.values(path);
    if values.is_empty() && variable_facts.is_bool(path) {
        values = vec![Value::Bool(true), Value::Bool(false)];
    }
    // Or those that are assigned on the paths here.
    let assigned = cx.program.values().at(cx.id, node, When::After, path);
    let assigned = assigned.filter(|_| values.is_empty());
    if let Some(ValueSet { known: Known::Values(all), .. }) = assigned {
        values.clone_from(all);
    }
    if values.len() > MAX_VALUES {
        return None;
    }
    let open = |value: &Value| {
        let mut query = cx.query();
        query.add_fact(path.clone(), FactKind::Is(value.clone()), FactSource::default());
        for known in cx.flow_facts().at(node) {
            match known {
                Fact::Value(set) if set.target.root != path.root => {}
                Fact::Cleared(name) if name.value != path.root.value => {}
                Fact::Test(literal) if subject(&literal) != Some(path) => {}
                known => {
                    query.assume_fact(known);
                }
            }
        }
        tried.iter().for_each(|l| {
            query.assume(test(l.test), l.holds);
        });
        query.is_satisfiable()
    };
    let mut missing = Vec::new();
    for value in &values {
        if open(value)? {
            missing.push(value);
        }
    }
    // If most values are missing, the branches are special cases.
    if missing.is_empty() || missing.len() * 2 > values.len() {
        return None;
    }
    let examples: Vec<String> = missing.iter().map(|v| format!("`{v}`")).collect();
    let mut finding = report.finding(
        first.test.span(),
        format!("no branch handles `{path}` being {}", examples.join(" or ")),
    );
    let (ends, what) = after(cx, next, edge.kind);
    if ends {
        finding.severity = Severity::Warning;
    }
    let listed = match assigned {
        Some(set) => vec![source(&path.root, set)],
        None => variable_facts.listed(path),
    };
    let core = UnsatCore::of_facts(listed);
    let example = missing.first()?;
    Some(
        explain_core(finding, &core)
            .example([binding(&path.to_string(), example)])
            .note(format!("if `{path} = {example}`, {what}"))
            .help(format!(
                "add a branch for this value, or an `{}`",
                cx.words(first.test.span()).keyword(Keyword::Else)
            )),
    )
}

/// Finds a number that no branch handles between numbers that branches handle.
fn gap(cx: &AgentContext<'_, '_>, node: NodeIndex, report: &Report<'_>) -> Option<Diagnostic> {
    let cfg = cx.program.graph();
    let mut path = None;
    let mut bounds = Vec::new();
    let mut tried: Vec<GuardLiteral<'_>> = Vec::new();
    let mut next = Some(node);
    while let Some(node) = next.filter(|_| tried.len() < MAX_VALUES) {
        let all = branches(cfg.node(node)?);
        let Some((own, None)) = branch_guard(all, all.len()) else { return None };
        for literal in &own {
            if !bands(literal.test.expr()?, &mut path, &mut bounds, 0) {
                return None;
            }
        }
        tried.extend(own);
        next = follows(cx, node);
    }
    let path = path?;
    bounds.sort_by(f64::total_cmp);
    bounds.dedup();
    let (first, last) = (*bounds.first()?, *bounds.last()?);
    let whole = bounds.iter().all(|n| n.fract() == 0.0);
    let mut numbers = vec![first - 1.0];
    for (at, bound) in bounds.iter().enumerate() {
        numbers.push(*bound);
        if let Some(next) = bounds.get(at + 1) {
            let middle = f64::midpoint(*bound, *next);
            let middle = if whole { middle.floor() } else { middle };
            numbers.extend(Some(middle).filter(|n| n > bound));
        }
    }
    numbers.push(last + 1.0);
    let handled = |n: f64| {
        let mut state = State::new();
        let set = Value::number(n).is_ok_and(|value| state.set_path(path, value).is_ok());
        let holds = |literal: &GuardLiteral<'_>| {
            let expr = literal.test.expr();
            expr.is_some_and(|e| outcome(e, &state, cx.dialect()) == Outcome::True)
        };
        set && tried.iter().any(holds)
    };
    let handled: Vec<bool> = numbers.iter().map(|n| handled(*n)).collect();
    let from = handled.iter().position(|handled| *handled)?;
    let to = handled.iter().rposition(|handled| *handled)?;
    let possible = |n: f64| {
        let value = Value::number(n).ok()?;
        let values = cx.program.values().at(cx.id, node, When::After, path);
        if values.is_some_and(|values| !values.holds(&value)) {
            return Some(false);
        }
        let mut query = cx.query();
        query.add_fact(path.clone(), FactKind::Is(value), FactSource::default());
        for known in cx.flow_facts().at(node) {
            let about = match known {
                Fact::Value(set) => set.target.root == path.root,
                Fact::Cleared(name) => name.value == path.root.value,
                Fact::Test(literal) => literal.test.expr().is_some_and(|expr| {
                    let mut other = Some(path);
                    bands(expr, &mut other, &mut Vec::new(), 0)
                }),
            };
            if about {
                query.assume_fact(known);
            }
        }
        query.is_satisfiable()
    };
    let missing =
        numbers.iter().zip(&handled).take(to).skip(from).filter(|(_, handled)| !**handled);
    let missing = missing.map(|(n, _)| *n).find(|n| possible(*n) == Some(true))?;
    let at = tried.first()?.test.span();
    let labels = tried.iter().skip(1).map(|literal| literal.test.span());
    let finding = report.finding(at, format!("no branch handles `{path}` being `{missing}`"));
    let finding = labels.fold(finding, |finding, span| finding.label(span, "nor does this"));
    let value = Value::number(missing).ok()?;
    let keyword = cx.words(at).keyword(Keyword::Else);
    Some(
        finding
            .example([binding(&path.to_string(), &value)])
            .note("smaller and larger numbers have a branch")
            .help(format!("let one of the branches include this number, or add an `{keyword}`")),
    )
}

/// The maximum number of combinations of values, and of variables in them.
const MAX_COMBINATIONS: usize = 64;
const MAX_VARIABLES: usize = 3;

/// Finds the values of one or more variables that a list of branches leaves out, or a list of `if`s that all leave.
fn combination(
    cx: &AgentContext<'_, '_>,
    node: NodeIndex,
    report: &Report<'_>,
) -> Option<Diagnostic> {
    let cfg = cx.program.graph();
    let mut tried: Vec<GuardLiteral<'_>> = Vec::new();
    let mut nodes = 0;
    let mut leave = true;
    let mut next = Some(node);
    while let Some(node) = next.filter(|_| tried.len() < MAX_VALUES) {
        let all = branches(cfg.node(node)?);
        let Some((own, None)) = branch_guard(all, all.len()) else { return None };
        leave &= all.iter().all(|branch| leaves(&branch.body));
        tried.extend(own);
        nodes += 1;
        next = follows(cx, node);
    }
    if tried.len() < 2 || (nodes > 1 && !leave) {
        return None;
    }
    let mut paths: Vec<&Path> = Vec::new();
    let mut reads_of: Vec<Vec<&Path>> = Vec::new();
    for literal in &tried {
        let expr = literal.test.expr().filter(|expr| is_stable(expr) && only_equality(expr, 0))?;
        let mut read = Vec::new();
        expr.visit(&mut |e| {
            read.extend(e.as_path());
            Visit::Children
        });
        for path in &read {
            if !paths.contains(path) {
                paths.push(path);
            }
        }
        reads_of.push(read);
    }
    // `if`s about one variable each are ways out of their own, and no list of cases.
    let reads_all = |read: &Vec<&Path>| paths.iter().all(|path| read.contains(path));
    if nodes > 1 && !reads_of.iter().all(reads_all) {
        return None;
    }
    // One variable in one list is looked at above.
    if paths.is_empty() || paths.len() > MAX_VARIABLES || (paths.len() == 1 && nodes == 1) {
        return None;
    }
    let mut sources = Vec::new();
    let mut values: Vec<Vec<Value>> = Vec::new();
    for path in &paths {
        values.push(values_of(cx, node, path, &mut sources)?);
    }
    let count: usize = values.iter().map(Vec::len).product();
    if !(2..=MAX_COMBINATIONS).contains(&count) {
        return None;
    }
    let mut missing: Vec<Vec<Value>> = Vec::new();
    for number in 0..count {
        let mut rest = number;
        let mut state = State::new();
        let mut chosen = Vec::new();
        for (path, values) in paths.iter().zip(&values) {
            let value = values.get(rest % values.len())?.clone();
            rest /= values.len();
            state.set_path(path, value.clone()).ok()?;
            chosen.push(value);
        }
        let taken = |literal: &GuardLiteral<'_>| {
            literal.test.expr().is_some_and(|e| outcome(e, &state, cx.dialect()) == Outcome::True)
        };
        let begins = || nodes > 1 && begins_with(cx, &paths, &chosen);
        if !tried.iter().any(taken) && !begins() {
            missing.push(chosen);
        }
    }
    // If many are missing, the branches are special cases.
    let most = if paths.len() == 1 { count / 3 } else { count / 4 };
    if missing.is_empty() || missing.len() > most.max(1) || missing.len() * 2 >= count {
        return None;
    }
    let possible = |chosen: &Vec<Value>| {
        let mut query = cx.query();
        for (path, value) in paths.iter().zip(chosen) {
            let source = FactSource::default();
            query.add_fact((*path).clone(), FactKind::Is(value.clone()), source);
        }
        for known in cx.flow_facts().at(node) {
            query.assume_fact(known);
        }
        query.is_satisfiable() == Some(true) && cx.may_hold((node, When::After), &paths, chosen)
    };
    let chosen = missing.into_iter().find(possible)?;
    let words: Vec<String> = paths
        .iter()
        .zip(&chosen)
        .map(|(path, value)| format!("`{path}` being `{value}`"))
        .collect();
    let at = tried.first()?.test.span();
    let mut finding = report.finding(at, format!("no branch handles {}", words.join(" and ")));
    for literal in tried.iter().skip(1).take(MAX_SHOWN) {
        finding = finding.label(literal.test.span(), "nor does this");
    }
    let bindings = paths.iter().zip(&chosen).map(|(path, v)| binding(&path.to_string(), v));
    Some(explain_core(finding, &UnsatCore::of_facts(sources)).example(bindings).help(format!(
        "add a branch for this case, or an `{}`",
        cx.words(at).keyword(Keyword::Else)
    )))
}

/// Whether an agent may begin with a value of a variable. Where it still has that, no `if` after which it goes elsewhere
/// needs to say so.
fn begins_with(cx: &AgentContext<'_, '_>, paths: &[&Path], chosen: &[Value]) -> bool {
    let ([path], [value]) = (paths, chosen) else { return false };
    let entry = cx.agent_cfg().map(|agent_cfg| agent_cfg.entry);
    let begins = entry.and_then(|node| cx.program.values().at(cx.id, node, When::Before, path));
    begins.is_some_and(|set| set.holds(value))
}

/// The values of a variable at a node, if they are known and few.
fn values_of(
    cx: &AgentContext<'_, '_>,
    node: NodeIndex,
    path: &Path,
    sources: &mut Vec<FactSource>,
) -> Option<Vec<Value>> {
    let facts = cx.variable_facts();
    let declared = facts.values(path);
    if !declared.is_empty() {
        sources.extend(facts.listed(path));
        return Some(declared);
    }
    let assigned = cx.program.values().at(cx.id, node, When::After, path);
    if let Some(set @ ValueSet { known: Known::Values(all), .. }) = assigned
        && !all.is_empty()
    {
        sources.push(source(&path.root, set));
        // An empty string is what a variable has before it has a value.
        let told = all.iter().filter(|value| **value != Value::from(""));
        return Some(told.cloned().collect());
    }
    facts.is_bool(path).then(|| {
        sources.extend(facts.listed(path));
        vec![Value::Bool(true), Value::Bool(false)]
    })
}

/// Whether statements end by going elsewhere.
fn leaves(body: &Body) -> bool {
    matches!(
        body.0.last(),
        Some(Statement::Goto(_) | Statement::Handoff(_) | Statement::Escalate { .. })
    )
}

/// Whether a condition only says what variables are equal to.
fn only_equality(expr: &Expr, depth: u8) -> bool {
    match &expr.kind {
        _ if depth > 16 => false,
        ExprKind::And(parts) | ExprKind::Or(parts) => {
            parts.iter().all(|part| only_equality(part, depth + 1))
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => only_equality(operand, depth + 1),
        ExprKind::Path(_) => true,
        ExprKind::Binary { op, left, right } => {
            let constant = |e: &Expr| matches!(e.kind, ExprKind::Literal(_) | ExprKind::List(_));
            (op.is_equality() || matches!(op, BinaryOp::In | BinaryOp::NotIn))
                && ((left.as_path().is_some() && constant(right))
                    || (right.as_path().is_some() && constant(left)))
        }
        _ => false,
    }
}

/// Returns the branches that are next if none of a node's is taken.
fn follows(cx: &AgentContext<'_, '_>, node: NodeIndex) -> Option<NodeIndex> {
    let cfg = cx.program.graph();
    let own = branches(cfg.node(node)?).len();
    // Where a model chooses there may be many successors.
    if own == 0 {
        return None;
    }
    let (next, _) = cfg.successors(node).find(|(_, edge)| {
        let guard = || cfg.literals_backwards(edge.guard);
        guard().all(|l| !l.holds) && guard().take(own + 1).count() == own
    })?;
    let other = cfg.node(next)?;
    (other.kind == NodeKind::Branch && !branches(other).is_empty()).then_some(next)
}

/// Collects the numbers that a condition compares one variable with. Returns false if it tests anything else.
fn bands<'e>(
    expr: &'e Expr,
    path: &mut Option<&'e Path>,
    bounds: &mut Vec<f64>,
    depth: u8,
) -> bool {
    match &expr.kind {
        _ if depth > 16 => false,
        ExprKind::And(parts) | ExprKind::Or(parts) => {
            parts.iter().all(|part| bands(part, path, bounds, depth + 1))
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => bands(operand, path, bounds, depth + 1),
        ExprKind::Binary { op, left, right } if !op.is_arithmetic() => {
            let sides = [(left, right), (right, left)];
            let found = sides.into_iter().find_map(|(a, b)| match b.kind {
                ExprKind::Literal(Literal::Number(n)) => Some((a.as_path()?, n)),
                _ => None,
            });
            let Some((own, n)) = found else { return false };
            bounds.push(n);
            *path.get_or_insert(own) == own
        }
        _ => false,
    }
}

/// Returns what happens where no branch is taken, and whether nothing does.
fn after(
    cx: &AgentContext<'_, '_>,
    next: NodeIndex,
    why: agentir_flow::cfg::EdgeKind,
) -> (bool, &'static str) {
    match cx.program.graph().node(next).map(|n| n.kind) {
        Some(NodeKind::FlowEnd) => (true, "no branch is taken and the flow ends without an answer"),
        _ if why == agentir_flow::cfg::EdgeKind::Sequence => {
            (false, "no branch is taken and the flow continues with the next step")
        }
        _ => (false, "no branch is taken and execution continues after them"),
    }
}

/// Returns the variable that a branch matches.
fn subject<'a>(literal: &GuardLiteral<'a>) -> Option<&'a Path> {
    let expr = literal.test.expr().filter(|e| is_stable(e))?;
    variable(expr)
}

fn variable(expr: &Expr) -> Option<&Path> {
    match &expr.kind {
        ExprKind::Path(path) => Some(path),
        ExprKind::Unary { op: UnaryOp::Not, operand } => variable(operand),
        ExprKind::Or(parts) => {
            let (first, rest) = parts.split_first()?;
            let path = variable(first)?;
            rest.iter().all(|p| variable(p) == Some(path)).then_some(path)
        }
        ExprKind::Binary { op, left, right } => {
            let equals =
                matches!(op, BinaryOp::Equal | BinaryOp::StrictEqual | BinaryOp::Is | BinaryOp::In);
            let constant = |e: &Expr| matches!(e.kind, ExprKind::Literal(_) | ExprKind::List(_));
            match (left.as_path(), right.as_path()) {
                (Some(path), None) if equals && constant(right) => Some(path),
                (None, Some(path)) if equals && constant(left) && *op != BinaryOp::In => Some(path),
                _ => None,
            }
        }
        _ => None,
    }
}
