//! A guard that cannot be evaluated, whatever the state.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_eval::{EvalError, State, Value, evaluate, pattern};
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Path, Segment, Visit};
use agentir_flow::cfg::Origin;
use agentir_ir::{GatherField, Node, Requirement, Statement, Validation};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("broken-guard"),
    group: Group::Security,
    severity: Severity::Error,
    summary: "a constraint, guardrail, check or validation can never be evaluated, so that it refuses what it guards",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

/// The names by which checks of guardrails read their content.
const CONTENT: [&str; 7] =
    ["content", "input", "output", "response", "tool_input", "tool_output", "text"];

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let constraints = cx.agent.constraints.constraints.iter();
    let offers = cx.index.offers.iter().filter_map(|offer| offer.available_when.as_ref());
    let rails = cx.agent.constraints.guardrails.iter().filter_map(|rail| rail.check.as_ref());
    let guards = constraints
        .flat_map(|c| c.applies_when.iter().chain([&c.condition]))
        .chain(offers)
        .filter_map(Condition::expr)
        .chain(rails);
    let fields = types_of_fields(cx);
    let guards = guards.chain(checks(cx));
    let mut seen: FxHashSet<Span> = FxHashSet::default();
    cx.agent.walk(&mut |node| {
        if let Node::Field(field) = node {
            for (span, why) in broken_rules(cx, &fields, field) {
                refused(cx, report, &mut seen, span, &why);
            }
        }
    });
    for entity in &cx.agent.entities {
        let validation = entity.validation.as_ref();
        if let Some((span, why)) =
            validation.and_then(|v| broken_rule(cx, &fields, v, !entity.values.is_empty()))
        {
            refused(cx, report, &mut seen, span, &why);
        }
    }
    undecided_confirmations(cx, report, &mut seen);
    for question in cx.agent.constraints.guardrails.iter().filter_map(|g| g.llm_check.as_ref()) {
        let span = question.text.span;
        if question.text.value.trim().is_empty() && cx.owns(span) && seen.insert(span) {
            report.push(
                report
                    .finding(span, "this cannot be evaluated: it asks the model nothing")
                    .note("what it guards is refused, whatever the user says")
                    .help("write what must not be so, for the model to judge"),
            );
        }
    }
    for guard in guards {
        if let Some(text) = guard.text_as_condition() {
            if cx.owns(text.span) && seen.insert(guard.span) {
                let message = "this cannot be evaluated: a quoted string is not a condition";
                report.push(
                    report
                        .finding(text.span, message)
                        .note("what it guards is refused, whatever the user says")
                        .help("write the condition without the quotes"),
                );
            }
            continue;
        }
        let whole = || always_fails(cx, &fields, guard, Unset::Too).map(|why| (guard.span, why));
        let part = || broken_comparison(cx, &fields, guard).map(|(part, why)| (part.span, why));
        if cx.owns(guard.span)
            && let Some((span, error)) = whole().or_else(part)
            && seen.insert(guard.span)
        {
            report.push(
                report
                    .finding(span, format!("this cannot be evaluated: {error}"))
                    .note("what it guards is refused, whatever the user says")
                    .help("write a condition that has a value"),
            );
        }
    }
}

/// The types that fields declare, by the names of the fields.
type Fields<'a> = FxHashMap<&'a str, &'a str>;

fn types_of_fields<'a>(cx: &AgentContext<'_, 'a>) -> Fields<'a> {
    let mut fields = Fields::default();
    cx.agent.walk(&mut |node| {
        if let Node::Field(GatherField { name, ty: Some(ty), .. }) = node {
            fields.entry(name.value.as_str()).or_insert(ty.value.as_str());
        }
    });
    fields
}

/// The conditions of `CHECK` in steps, of which a part may have become a choice.
fn checks<'a>(cx: &AgentContext<'_, 'a>) -> Vec<&'a Expr> {
    let cfg = cx.program.graph();
    let nodes = cfg.agent(cx.id).into_iter().flat_map(|part| part.nodes());
    let statements = nodes.filter_map(|node| match cfg.node(node)?.origin {
        Origin::Statement(statement) => Some(statement),
        _ => None,
    });
    let conditions = statements.filter_map(|statement| match statement {
        Statement::Check { condition, .. } => Some(condition),
        Statement::If { branches } => {
            let first = branches.first()?;
            first.condition.as_ref().filter(|condition| condition.span() == first.span)
        }
        _ => None,
    });
    conditions.filter_map(Condition::expr).collect()
}

/// The comparisons in guards that have no value, whatever the variables are, as long as they have the declared types.
pub(super) fn broken_comparisons(cx: &AgentContext<'_, '_>) -> FxHashSet<Span> {
    let fields = types_of_fields(cx);
    let constraints = cx.agent.constraints.constraints.iter().map(|c| &c.condition);
    let guards = constraints.filter_map(Condition::expr).chain(checks(cx));
    guards.filter_map(|g| broken_comparison(cx, &fields, g)).map(|(part, _)| part.span).collect()
}

/// A comparison in a guard that has no value, whatever the variables are, as long as they have the declared types.
fn broken_comparison<'e>(
    cx: &AgentContext<'_, '_>,
    fields: &Fields<'_>,
    guard: &'e Expr,
) -> Option<(&'e Expr, EvalError)> {
    let mut found = None;
    guard.visit(&mut |part| {
        let orders = matches!(
            &part.kind,
            ExprKind::Binary {
                op: BinaryOp::Less
                    | BinaryOp::LessEqual
                    | BinaryOp::Greater
                    | BinaryOp::GreaterEqual,
                ..
            }
        );
        if orders && found.is_none() {
            found = always_fails(cx, fields, part, Unset::Never).map(|why| (part, why));
        }
        Visit::Children
    });
    found
}

/// Reports settings that say whether the user is asked before a call, and that are not known before a conversation.
fn undecided_confirmations(
    cx: &AgentContext<'_, '_>,
    report: &mut Report<'_>,
    seen: &mut FxHashSet<Span>,
) {
    for tool in &cx.agent.tools {
        if let Some(unread) = tool.unread_confirmation()
            && unread.value.as_str().is_some_and(|text| text.contains("{{"))
            && cx.owns(unread.span)
            && seen.insert(unread.span)
        {
            let tool = &tool.name.value;
            report.push(
                report
                    .finding(
                        unread.span,
                        format!("it is not known whether `{tool}` has to be confirmed"),
                    )
                    .note("the user is asked before each call")
                    .help("write `always`, `never` or `when_side_effects`"),
            );
        }
    }
}

/// Reports a rule that refuses all values.
fn refused(
    cx: &AgentContext<'_, '_>,
    report: &mut Report<'_>,
    seen: &mut FxHashSet<Span>,
    span: Span,
    why: &str,
) {
    if cx.owns(span) && seen.insert(span) {
        report.push(
            report
                .finding(span, format!("this cannot be evaluated: {why}"))
                .note("all values are refused")
                .help(
                    "write functions such as `min(1) max(9)`, `enum(a, b)`, `pattern(…)` or `email()`, \
                     or a text that a model can judge",
                ),
        );
    }
}

/// The rules of a field that refuse all values, with the reasons.
fn broken_rules(
    cx: &AgentContext<'_, '_>,
    fields: &Fields<'_>,
    field: &GatherField,
) -> Vec<(Span, String)> {
    let listed = !field.enum_values.is_empty() || field.entity_ref.is_some();
    let own = field.validation.as_ref();
    let own = own.and_then(|validation| broken_rule(cx, fields, validation, listed));
    // Brackets that are never closed have been reported, but for those in strings of JSON.
    let text = field.range.as_ref().and_then(|range| range.as_str()).unwrap_or_default();
    let range = field.own_range().and_then(|range| match range {
        Ok(range) => no_value(&range),
        Err(why) if cx.words(field.name.span).is_json() || !text.starts_with(['[', '{']) => {
            Some(why.to_string())
        }
        Err(_) => None,
    });
    own.into_iter().chain(range.map(|why| (field.name.span, why))).collect()
}

/// Why no value fulfils a requirement.
fn no_value(requirement: &Requirement<'_>) -> Option<String> {
    match requirement {
        Requirement::Range { least: Some(least), most: Some(most) } if least > most => {
            Some(format!("no value is from {least} to {most}"))
        }
        _ => None,
    }
}

fn broken_rule(
    cx: &AgentContext<'_, '_>,
    fields: &Fields<'_>,
    validation: &Validation,
    listed: bool,
) -> Option<(Span, String)> {
    let (rule, span) = (&validation.rule.value, validation.rule.span);
    // A parenthesis that is never closed has been reported where it is written without quotes.
    let is_bare = !cx.words(span).is_json() && (span.end - span.start) as usize == rule.len();
    if is_bare && rule.matches('(').count() > rule.matches(')').count() {
        return None;
    }
    // An expression about the value, which it has by then.
    if let Some(check) =
        validation.check.as_ref().filter(|check| check.text_as_condition().is_none())
        && let Some(error) = always_fails(cx, fields, check, Unset::OfField)
    {
        return Some((span, error.to_string()));
    }
    let requirements = match validation.requirements(listed) {
        Ok(requirements) => requirements,
        Err(why) => return Some((span, why.to_string())),
    };
    requirements.iter().find_map(|requirement| match requirement {
        Requirement::Pattern(text) => Some((span, pattern(text).err()?.to_string())),
        requirement => no_value(requirement).map(|why| (span, why)),
    })
}

/// Why a guard has no value in any of a number of states; `None` if it has one in some.
fn always_fails(
    cx: &AgentContext<'_, '_>,
    fields: &Fields<'_>,
    guard: &Expr,
    unset: Unset,
) -> Option<EvalError> {
    let mut paths: Vec<Path> = Vec::new();
    let mut known: FxHashSet<Path> = FxHashSet::default();
    guard.paths(&mut |path| {
        if known.insert(path.clone()) {
            paths.push(path.clone());
        }
    });
    let typed =
        |path: &Path| path.segments.is_empty().then(|| declared(cx, fields, path)).flatten();
    let all_typed = paths.iter().all(|path| typed(path).is_some());
    let mut found = None;
    let first = usize::from(unset != Unset::Too);
    for sample in first..=SAMPLES {
        let mut state = State::new();
        for path in &paths {
            let value = match typed(path) {
                Some(ty) => of_type(ty, sample),
                None => untyped(sample),
            };
            let plain = path.segments.iter().all(|s| matches!(s, Segment::Field(_)));
            if sample > 0 && plain {
                // A path into a value that another path reads whole stays as it is.
                let _ = state.set_path(path, value);
            }
        }
        for name in CONTENT {
            if state.get(name).is_none() {
                state.set(name, Value::text("a text"));
            }
        }
        match evaluate(guard, &state, cx.dialect()) {
            Ok(_) => return None,
            Err(error) => found = Some(error),
        }
    }
    // Types that nobody declares may be those that fit.
    found.filter(|error| match error {
        EvalError::Pattern(_) | EvalError::DivisionByZero | EvalError::Arguments(_) => true,
        // Those of rules for values are reported nowhere else.
        EvalError::UnknownFunction(_) => unset == Unset::OfField,
        EvalError::NotANumber(_) | EvalError::NoOrder(..) | EvalError::Operands(..) => all_typed,
        _ => false,
    })
}

/// The states in which an expression is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unset {
    /// Also that in which nothing is set.
    Too,
    /// Those in which everything is set.
    Never,
    /// The same, for a rule about a value.
    OfField,
}

/// So many states are tried besides that in which nothing is set.
const SAMPLES: usize = 5;

fn untyped(sample: usize) -> Value {
    match sample {
        1 => Value::Bool(true),
        2 => Value::number(1.0).unwrap_or_default(),
        3 => Value::text("a"),
        4 => Value::text("2026-03-15"),
        _ => Value::list(vec![Value::Bool(true)]).unwrap_or_default(),
    }
}

/// A kind of value that an author declares.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Boolean,
}

fn of_type(kind: Kind, sample: usize) -> Value {
    match kind {
        Kind::Text if sample.is_multiple_of(2) => Value::text("1"),
        Kind::Text => Value::text("a"),
        Kind::Number => Value::number(sample as f64).unwrap_or_default(),
        Kind::Boolean => Value::Bool(sample.is_multiple_of(2)),
    }
}

/// The declared type of a variable, if it is a simple one.
fn declared(cx: &AgentContext<'_, '_>, fields: &Fields<'_>, path: &Path) -> Option<Kind> {
    let name = path.root.value.as_str();
    if path.namespace.as_ref().is_some_and(|n| n.value != "variables") {
        return None;
    }
    let of_session = || cx.program.session_types().get(name).and_then(|ty| ty.name());
    let ty = fields.get(name).copied().or_else(of_session)?;
    Some(match ty {
        "string" | "text" => Kind::Text,
        "number" | "integer" | "float" => Kind::Number,
        "boolean" => Kind::Boolean,
        _ => return None,
    })
}
