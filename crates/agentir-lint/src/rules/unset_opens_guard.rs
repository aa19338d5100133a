//! A guard that holds while the variables it reads have no value.

use crate::evidence::binding;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::broken_guards::check_of;
use agentir_analysis::conditions::{is_stable, starts_unset};
use agentir_analysis::initial_state;
use agentir_diagnostics::{Confidence, Diagnostic, RuleName, Severity, Span};
use agentir_eval::{Outcome, State, Value, outcome};
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, Path, Segment, Visit};
use agentir_flow::cfg::Origin;
use agentir_ir::{Checkpoint, ConstraintKind, GuardrailKind, Node};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unset-opens-guard"),
    group: Group::Security,
    severity: Severity::Warning,
    summary: "a guard lets through what it guards while its variables have no value, or because the user says so",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

/// A guard that nothing closes while its variables have no value.
struct OpenGuard<'a> {
    expr: &'a Expr,
    paths: Vec<Path>,
    /// Whether it has to hold; else it must not.
    required: bool,
    /// What happens then.
    guarded: String,
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let candidates = candidates(cx);
    if !candidates.is_empty() {
        let names: FxHashSet<String> =
            candidates.iter().flat_map(|open| &open.paths).map(ToString::to_string).collect();
        let cfg = cx.program.graph();
        let unset = cfg.uninitialized_reads_after_failures(cx.id, |name| names.contains(name));
        let reads = unset.iter().filter_map(|read| {
            let guard = guard_at(&cfg.node(read.read)?.origin)?;
            Some((std::ptr::from_ref(guard), read.variable.name.as_str()))
        });
        let reads: FxHashSet<_> = reads.collect();
        for open in candidates {
            // The check itself reads all of them; each may be unset there.
            let may_be_unset = |path: &Path| {
                reads.contains(&(std::ptr::from_ref(open.expr), path.to_string().as_str()))
                    || is_lost_by_failure(cx, path)
            };
            if open.paths.iter().all(may_be_unset) && cx.owns(open.expr.span) {
                report.push(finding(cx, report, &open));
            }
        }
    }
    opened_by_words(cx, report);
    for offer in &cx.index.offers {
        if let Some(expr) = offer.available_when.as_ref().and_then(Condition::expr)
            && let Some(paths) = opened_by(cx, expr, true)
            && cx.owns(expr.span)
            && !is_meant_to_be_open(cx, expr, &paths)
        {
            let guarded = format!("`{}` is offered", offer.name.value);
            report.push(finding(cx, report, &OpenGuard { expr, paths, required: true, guarded }));
        }
    }
}

/// The condition of a guard at a node: of a constraint, a guardrail, or a `CHECK` of a step.
fn guard_at<'a>(origin: &Origin<'a>) -> Option<&'a Expr> {
    match *origin {
        Origin::Constraint(constraint) => constraint.condition.expr(),
        Origin::Guardrail(rail) => rail.check.as_ref(),
        Origin::Statement(statement) => check_of(statement)?.expr(),
        _ => None,
    }
}

/// The guards that are open while their variables have no value, and do not test just that.
fn candidates<'a>(cx: &AgentContext<'_, 'a>) -> Vec<OpenGuard<'a>> {
    let constraints = cx.agent.constraints.constraints.iter();
    let constraints = constraints
        .filter(|c| c.severity != Some("warning"))
        .filter(|c| applies_at_first(cx, c.applies_when.as_ref()));
    let constraints = constraints.filter_map(|c| {
        let guarded = match c.checkpoint.as_ref()? {
            Checkpoint::ToolCall { target } => format!("`{}` is called", target.value),
            Checkpoint::Response => "the answer is sent".to_owned(),
            _ => "a tool is called".to_owned(),
        };
        Some((c.condition.expr()?, c.kind != Some(ConstraintKind::Restrict), guarded))
    });
    // At the first message nothing can be known, and what a tool returned is checked by itself. What the check is about has
    // a value.
    let runtime = cx.dialect().runtime();
    let content = |path: &Path| {
        let name = path.root.value.as_str();
        path.namespace.is_none()
            && (runtime.checked.contains(&name) || runtime.handed_over.contains(&name))
    };
    let rails = cx.agent.constraints.guardrails.iter().filter(|rail| rail.action_type() != "warn");
    let rails = rails.filter_map(|rail| {
        let guarded = match rail.kind {
            GuardrailKind::ToolInput => "a tool is called",
            GuardrailKind::Handoff => "another agent takes over",
            GuardrailKind::Output => "the answer is sent",
            GuardrailKind::Input | GuardrailKind::ToolOutput => return None,
        };
        let check = rail.check.as_ref()?;
        let mut reads_content = false;
        check.paths(&mut |path| reads_content |= content(path));
        (!reads_content).then(|| (check, false, guarded.to_owned()))
    });
    let steps = cx.agent.flow.iter().flat_map(|flow| flow.definitions.values());
    let checks = steps.flat_map(|step| {
        let checks = step.body.0.iter().filter_map(check_of).filter_map(Condition::expr);
        checks.map(|expr| (expr, true, format!("`{}` goes on", step.name)))
    });
    let all = constraints.chain(rails).chain(checks);
    let open = all.filter_map(|(expr, required, guarded)| {
        let paths = opened_by(cx, expr, required)?;
        Some(OpenGuard { expr, paths, required, guarded })
    });
    open.collect()
}

/// Reports guards of which a variable has no value but what the user says: nothing sets it, and the model takes it from
/// messages, because it ends a part that the model leads.
fn opened_by_words(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let cfg = cx.program.graph();
    let Some(part) = cfg.agent(cx.id) else { return };
    let awaited = cfg.exit_variables(part);
    if awaited.is_empty() {
        return;
    }
    let mut waits: FxHashMap<&str, &Condition> = FxHashMap::default();
    for (condition, variables) in awaited {
        for variable in variables {
            waits.entry(variable.name.value.as_str()).or_insert(condition);
        }
    }
    // A declared field is for the user to say.
    for field in &cx.agent.gather.fields {
        waits.remove(field.name.value.as_str());
    }
    let zones = cx.agent.flow.iter().flat_map(|flow| flow.definitions.values());
    let zones = zones.filter_map(|step| step.reasoning_zone.as_ref());
    let guards = cx.agent.constraints.constraints.iter();
    let guards = guards.chain(zones.flat_map(|zone| &zone.constraints));
    let mut seen: FxHashSet<Span> = FxHashSet::default();
    for expr in guards.filter(|c| c.severity != Some("warning")).filter_map(|c| c.condition.expr())
    {
        expr.paths(&mut |path| {
            let name = &path.root;
            if path.namespace.is_none()
                && let Some(condition) = waits.get(name.value.as_str())
                && cx.owns(name.span)
                && seen.insert(name.span)
            {
                report.push(
                    report
                        .finding(name.span, format!("`{name}` is whatever the user says it is"))
                        .label(condition.span(), "the model takes it from messages, to end this part")
                        .note("nothing else sets it: who claims what the guard asks for gets past it")
                        .help("set it from the result of a tool, or declare it as a field to collect if it is for the user to say")
                        .confidence(Confidence::Medium),
                );
            }
        });
    }
}

fn finding(cx: &AgentContext<'_, '_>, report: &Report<'_>, open: &OpenGuard<'_>) -> Diagnostic {
    let OpenGuard { expr, paths, required, guarded } = open;
    let names: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    let (names, have) = match names.as_slice() {
        [one] => (one.clone(), "has"),
        all => (all.join(" and "), "have"),
    };
    let (note, help) = match paths.iter().all(|path| is_lost_by_failure(cx, path)) {
        false => (
            format!(
                "{guarded} then, although nothing has set it; a call that fails sets nothing either"
            ),
            "give it an initial value that closes the guard, or test that it is set, too",
        ),
        // An initial value does not help.
        true => (
            format!("{guarded} then: what was to return it leaves no value when it fails"),
            "test that it is set, too, or let the guard ask for a value that opens it",
        ),
    };
    let holds = if *required { "also holds" } else { "does not hold" };
    report
        .finding(expr.span, format!("this {holds} while {names} {have} no value"))
        .note(note)
        .help(help)
        .confidence(Confidence::Medium)
        .example(paths.iter().map(|path| binding(&path.to_string(), &Value::Undefined)))
}

/// Whether a constraint with this gate applies before anything is set.
fn applies_at_first(cx: &AgentContext<'_, '_>, gate: Option<&Condition>) -> bool {
    gate.and_then(Condition::expr)
        .is_none_or(|expr| outcome(expr, &State::new(), cx.dialect()) == Outcome::True)
}

/// The variables of a guard, if it holds (or, for what must not hold, does not) while none of them has a value, and
/// does not test just that.
fn opened_by(cx: &AgentContext<'_, '_>, expr: &Expr, required: bool) -> Option<Vec<Path>> {
    let wanted = if required { Outcome::True } else { Outcome::False };
    if !is_stable(expr) || outcome(expr, &State::new(), cx.dialect()) != wanted {
        return None;
    }
    let mut paths: Vec<Path> = Vec::new();
    let mut tested = false;
    expr.visit(&mut |e| {
        match &e.kind {
            // What an implication asks for first is a gate.
            ExprKind::IsSet { .. } | ExprKind::Binary { op: BinaryOp::Implies, .. } => {
                tested = true;
            }
            // Only where `!=` says the same as `IS SET` is it such a test.
            ExprKind::Binary { op, left, right }
                if [left, right].iter().any(|side| is_null(side)) =>
            {
                let open = matches!(op, BinaryOp::NotEqual | BinaryOp::StrictNotEqual)
                    && outcome(e, &State::new(), cx.dialect()) == Outcome::True;
                tested |= !open;
            }
            ExprKind::Path(path) if !paths.contains(path) => paths.push(path.clone()),
            _ => {}
        }
        Visit::Children
    });
    let plain = |path: &Path| path.segments.iter().all(|s| matches!(s, Segment::Field(_)));
    let open = !tested
        && !paths.is_empty()
        && paths.iter().all(|path| {
            plain(path) && (is_unset_at_first(cx, path) || is_lost_by_failure(cx, path))
        });
    open.then_some(paths)
}

/// Whether a guard holds for the initial values that its variables are given: the author opened it.
fn is_meant_to_be_open(cx: &AgentContext<'_, '_>, expr: &Expr, paths: &[Path]) -> bool {
    let mut state = State::new();
    for path in paths {
        let shared = path.namespace.as_ref().is_some_and(|n| n.value == "variables");
        let mut all = cx.program.program.agents().flat_map(|agent| &agent.memory.session);
        let declared = all.find(|v| shared && v.name.value == path.root.value);
        let given = declared.and_then(|v| initial_state::value(v.initial_value.as_ref()?));
        let Some(given) = given.filter(|_| path.segments.is_empty()) else { return false };
        if state.set_path(path, given).is_err() {
            return false;
        }
    }
    outcome(expr, &state, cx.dialect()) == Outcome::True
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Null | Literal::Undefined))
}

/// Whether a variable loses its value when what sets it fails: a delegation that returns it (ABL), an action whose outputs
/// it is set from (Agent Script). No earlier value may stand for what was not returned.
fn is_lost_by_failure(cx: &AgentContext<'_, '_>, path: &Path) -> bool {
    let name = path.root.value.as_str();
    if path.namespace.is_none() {
        let delegates = &cx.agent.coordination.delegates;
        return delegates.iter().any(|d| d.returned().any(|returned| returned.variable == name));
    }
    let from_outputs = |value: &Expr| {
        let mut found = false;
        value.paths(&mut |path| {
            found |= path.namespace.as_ref().is_some_and(|space| space.value == "outputs");
        });
        found
    };
    cx.program.program.agents().any(|agent| {
        let mut found = false;
        agent.walk(&mut |node| {
            if let Node::Set(set) = node {
                let target = &set.target;
                found |= target.namespace == path.namespace
                    && target.root.value == name
                    && from_outputs(&set.value);
            }
        });
        found
    })
}

/// Whether a variable has no value when the conversation begins.
fn is_unset_at_first(cx: &AgentContext<'_, '_>, path: &Path) -> bool {
    let name = path.root.value.as_str();
    match path.namespace.as_ref().map(|n| n.value.as_str()) {
        None => starts_unset(cx, name),
        Some("variables") => cx.program.program.agents().any(|agent| {
            agent.memory.session.iter().any(|v| {
                v.name.value == name && v.initial_value.is_none() && v.mutability != Some("linked")
            })
        }),
        Some(_) => false,
    }
}
