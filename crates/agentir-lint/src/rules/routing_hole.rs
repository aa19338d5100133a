//! A gap in a routing table.

use crate::evidence::{binding, bindings};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::proof::FactSource;
use agentir_analysis::routes::{self, Route};
use agentir_diagnostics::{Binding, RuleName, Severity, Span};
use agentir_eval::Value;
use agentir_expr::dialect::{Construct, Keyword};
use agentir_expr::{Expr, ExprKind, Literal, Path, Visit};
use agentir_ir::AgentType;
use agentir_solver::{Bound, Example, FactKind, Type};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("routing-hole"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "agents are chosen by a value, and no route handles one of its values",
    vendor: &[],
    requires: &[Construct::RoutingRules],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let routing = cx.agent.routing.as_ref();
    if routing.is_some_and(|r| r.default_agent.is_some()) {
        return;
    }
    // A supervisor that may answer itself covers all remaining cases.
    let answers = routing.and_then(|r| r.direct_response_allowed);
    let rules = routes::rules(cx.agent);
    let handoffs = routes::handoffs(cx.agent);
    if answers != Some(true) && cx.agent.metadata.kind == AgentType::Supervisor {
        if handoffs.is_empty() {
            intents(cx, &rules, report);
            values(cx, &rules, report);
        } else if answers == Some(false) && rules.is_empty() {
            values(cx, &handoffs, report);
        }
    }
    limits(cx, &rules, report);
    limits(cx, &handoffs, report);
}

/// Longer tables are generated, and a query is quadratic in their length.
const MAX_ROUTES: usize = 64;

/// A routing table over a single variable.
struct Table<'r, 'a> {
    routes: &'r [Route<'a>],
    by: Path,
}

impl<'r, 'a> Table<'r, 'a> {
    fn of(routes: &'r [Route<'a>]) -> Option<Self> {
        if !(2..=MAX_ROUTES).contains(&routes.len()) {
            return None;
        }
        let mut by: Option<Path> = None;
        let mut one = true;
        for route in routes {
            let expr = route.when?.expr()?;
            if !route.intents.is_empty() {
                return None;
            }
            let mut any = false;
            expr.visit(&mut |e| {
                match &e.kind {
                    ExprKind::Path(path) => {
                        any = true;
                        one &= *by.get_or_insert_with(|| path.clone()) == *path;
                    }
                    ExprKind::Call { .. } | ExprKind::Method { .. } => one = false,
                    _ => {}
                }
                Visit::Children
            });
            one &= any;
        }
        by.filter(|_| one).map(|by| Self { routes, by })
    }

    /// Returns a state in which no route is taken, if the variable satisfies these facts.
    fn hole(&self, cx: &AgentContext<'_, 'a>, facts: &[FactKind]) -> Option<Option<Example>> {
        let mut query = cx.query();
        for fact in facts {
            let source = FactSource::default();
            query.add_fact(self.by.clone(), fact.clone(), source);
        }
        for condition in self.routes.iter().filter_map(|r| r.when) {
            query.assume(condition, false);
        }
        query.solve().map(agentir_analysis::proof::SatResult::state)
    }

    fn report(
        &self,
        cx: &AgentContext<'_, '_>,
        text: &str,
        state: Vec<Binding>,
        report: &mut Report<'_>,
    ) {
        let Some((first, others)) = self.routes.split_first() else { return };
        let mut finding = report
            .finding(first.at(), format!("no route applies when {text}"))
            .at("this is false …")
            .example(state);
        let default = cx.words(first.at()).keyword(Keyword::Default);
        for route in others.iter().take(4) {
            finding = finding.label(route.at(), "… and so is this");
        }
        report.push(
            finding
                .note("the conversation stays with this agent: no route applies, and there is no default")
                .help(format!("add a route for it, widen one of these, or add `{default}`")),
        );
    }
}

/// Reports a value of an enumeration, or `true` or `false`.
fn values<'a>(cx: &AgentContext<'_, 'a>, routes: &[Route<'a>], report: &mut Report<'_>) {
    let Some(table) = Table::of(routes) else { return };
    if !cx.variable_facts().is_listed(&table.by) {
        return;
    }
    if let Some(Some(state)) = table.hole(cx, &[FactKind::Set]) {
        table.report(cx, &format!("`{state}`"), bindings(&state).collect(), report);
    }
}

/// Reports a number between two ranges.
fn limits<'a>(cx: &AgentContext<'_, 'a>, routes: &[Route<'a>], report: &mut Report<'_>) {
    let Some(table) = Table::of(routes) else { return };
    let mut limits: Vec<f64> = Vec::new();
    for expr in routes.iter().filter_map(|r| r.when?.expr()) {
        numbers(expr, &mut limits);
    }
    limits.sort_by(f64::total_cmp);
    limits.dedup_by(|a, b| a.total_cmp(b).is_eq());
    let free = |number: f64| {
        let least = FactKind::AtLeast(Bound::Value, number);
        let most = FactKind::AtMost(Bound::Value, number);
        let number = FactKind::Type(Type::Number);
        table.hole(cx, &[FactKind::Set, number, least, most]).map(|state| state.is_some())
    };
    for (at, limit) in limits.iter().enumerate().take(32) {
        let before = at.checked_sub(1).and_then(|i| limits.get(i));
        let below = before.map_or(limit - 1.0, |before| f64::midpoint(*before, *limit));
        let above = limits.get(at + 1).map_or(limit + 1.0, |next| f64::midpoint(*limit, *next));
        if free(*limit) == Some(true) && free(below) == Some(false) && free(above) == Some(false) {
            let state = Value::number(*limit).map(|value| binding(&table.by.to_string(), &value));
            let text = format!("`{} = {limit}`", table.by);
            table.report(cx, &text, state.into_iter().collect(), report);
            return;
        }
    }
}

fn numbers(expr: &Expr, found: &mut Vec<f64>) {
    expr.visit(&mut |e| {
        if let ExprKind::Literal(Literal::Number(n)) = e.kind {
            found.push(n);
        }
        Visit::Children
    });
}

/// Reports a declared intent that no rule matches.
fn intents(cx: &AgentContext<'_, '_>, rules: &[Route<'_>], report: &mut Report<'_>) {
    if rules.is_empty() || rules.iter().any(|r| r.intents.is_empty()) {
        return;
    }
    let handling = cx.agent.intent_handling.as_ref().and_then(|i| i.intents.as_ref());
    let nlu = cx.agent.nlu.iter().flat_map(|n| &n.intents);
    let declared = nlu.chain(handling.iter().flat_map(|i| &i.intents));
    let mut reported: Vec<Span> = Vec::new();
    for intent in declared {
        let name = &intent.name;
        let taken = rules.iter().any(|rule| rule.takes(&name.value));
        // Intents of digressions need no route.
        if taken || reported.contains(&name.span) {
            continue;
        }
        reported.push(name.span);
        let default = cx.words(name.span).keyword(Keyword::Default);
        let routing = rules.first().map_or(name.span, |r| r.span.at_start());
        report.push(
            report
                .finding(name.span, format!("no route handles the intent `{name}`"))
                .at("no rule lists this intent")
                .label(routing, format!("the rules begin here; none is a `{default}`"))
                .help(format!("add it to an `INTENT(…)`, or end the rules with `{default} -> …` for `{name}` and everything else")),
        );
    }
}
