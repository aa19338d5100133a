//! A condition about a variable that nothing sets.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_analysis::values::ValueSet;
use agentir_diagnostics::{RuleName, Severity, Span, Spanned};
use agentir_expr::{Expr, ExprKind, Name, UnaryOp, Visit};
use agentir_ir::{Data, SessionVariable};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("never-set"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a condition depends on a variable that nothing sets",
    vendor: &[],
    requires: &[],
    check: Check::Program(check),
};

/// The maximum number of further conditions that are shown.
const MAX_SHOWN: usize = 4;

/// A variable, its initial value, and the tests that it decides with their outcomes.
type Constant<'v> = (&'v Spanned<Name>, &'v ValueSet, Vec<(Span, bool)>);

fn check(program: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let values = program.values();
    // One finding per variable, at the first condition.
    let mut all: Vec<Constant<'_>> = Vec::new();
    let mut known: FxHashMap<(u32, &str), usize> = FxHashMap::default();
    for cx in program.all_agents() {
        if cx.reports_constants_where_they_decide() {
            continue;
        }
        for (condition, _) in &cx.index.conditions {
            let Some(expr) = condition.expr().filter(|_| cx.owns(condition.span())) else {
                continue;
            };
            atoms(expr, 0, &mut |atom| {
                let mut paths = Vec::new();
                atom.visit(&mut |e| {
                    paths.extend(e.as_path());
                    Visit::Children
                });
                let Some((path, rest)) = paths.split_first() else { return };
                let Some(set) = values.constant(cx.id, path) else { return };
                let holds = [true, false];
                let decided = holds.map(|holds| cx.constants_exclude(atom, holds));
                let outcome = match decided {
                    [true, false] => false,
                    [false, true] => true,
                    _ => return,
                };
                if !rest.iter().all(|other| other.root.value == path.root.value) {
                    return;
                }
                let scope = if cx.traits().shared_variables { 0 } else { cx.id.0 };
                let at = *known.entry((scope, path.root.value.as_str())).or_insert_with(|| {
                    all.push((&path.root, set, Vec::new()));
                    all.len() - 1
                });
                if let Some((.., places)) = all.get_mut(at)
                    && !places.iter().any(|(span, _)| *span == atom.span)
                {
                    places.push((atom.span, outcome));
                }
            });
        }
    }
    in_texts(program, &all, report);
    for (name, set, mut places) in all {
        places.sort_by_key(|(span, _)| (span.file, span.start));
        let Some(((first, holds), others)) = places.split_first() else { continue };
        let always = if *holds { "always" } else { "never" };
        let mut finding = report
            .finding(*first, format!("this is {always} true: nothing sets `{name}`"))
            .help(format!("set `{name}` where it changes, or remove what depends on it"));
        for source in &set.sources {
            finding = finding.label(source.span, format!("its initial value is {set}"));
        }
        for (span, holds) in others.iter().take(MAX_SHOWN) {
            let always = if *holds { "always" } else { "never" };
            finding = finding.label(*span, format!("this is {always} true, too"));
        }
        report.push(finding);
    }
}

/// Reports variables that are empty, that nothing sets, and that texts and calls read all the same.
fn in_texts(program: &ProgramAnalysis<'_>, known: &[Constant<'_>], report: &mut Report<'_>) {
    if !program.traits().shared_variables {
        return;
    }
    let is_empty = |value: &Option<Data>| match value {
        None | Some(Data::Null) => true,
        Some(Data::String(text)) => text.is_empty(),
        Some(_) => false,
    };
    let never_set = program.never_set().into_iter().filter(|variable| {
        is_empty(&variable.initial_value)
            && !known.iter().any(|(name, ..)| name.value == variable.name.value)
    });
    let never_set: Vec<&SessionVariable> = never_set.collect();
    if never_set.is_empty() {
        return;
    }
    let mut read: FxHashMap<&str, Vec<Span>> = FxHashMap::default();
    let mut texts: FxHashSet<Span> = FxHashSet::default();
    let mut conditions: FxHashSet<Span> = FxHashSet::default();
    for cx in program.all_agents() {
        for (condition, _) in &cx.index.conditions {
            if let Some(expr) = condition.expr() {
                expr.paths(&mut |path| {
                    conditions.insert(path.root.span);
                });
            }
        }
        for template in &cx.index.templates {
            template.exprs(&mut |expr| {
                texts.insert(expr.span);
            });
        }
        cx.index.all_exprs(&mut |expr| {
            // A text that tests for a value has another one for its absence.
            expr.visit(&mut |e| match &e.kind {
                ExprKind::Conditional { .. } | ExprKind::And(_) | ExprKind::Or(_) => Visit::Skip,
                ExprKind::Path(path) => {
                    let shared = path.namespace.as_ref().is_some_and(|n| n.value == "variables");
                    if shared && cx.owns(path.root.span) && !conditions.contains(&path.root.span) {
                        let name = path.root.value.as_str();
                        if let Some(variable) =
                            never_set.iter().find(|variable| variable.name.value == name)
                        {
                            let places = read.entry(&variable.name.value).or_default();
                            if !places.contains(&e.span) {
                                places.push(e.span);
                            }
                        }
                    }
                    Visit::Children
                }
                _ => Visit::Children,
            });
        });
    }
    for variable in never_set {
        let name = &variable.name;
        let Some(places) = read.get_mut(name.value.as_str()) else { continue };
        places.sort_by_key(|span| (span.file, span.start));
        let Some((first, others)) = places.split_first() else { continue };
        let mut finding =
            report.finding(*first, format!("this is always empty: nothing sets `{name}`"));
        // A platform may fill in what a call lacks; a text has a gap.
        if !places.iter().any(|place| texts.contains(place)) {
            finding.severity = Severity::Info;
        }
        let mut finding = finding
            .label(name.span, "it begins without a value")
            .help(format!("set `{name}` before this, or remove what reads it"));
        for span in others.iter().take(MAX_SHOWN) {
            finding = finding.label(*span, "this is empty, too");
        }
        report.push(finding);
    }
}

/// Calls `found` with the tests that a condition combines.
fn atoms<'e>(expr: &'e Expr, depth: u8, found: &mut dyn FnMut(&'e Expr)) {
    match &expr.kind {
        ExprKind::And(parts) | ExprKind::Or(parts) if depth < 32 => {
            parts.iter().for_each(|part| atoms(part, depth + 1, found));
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } if depth < 32 => {
            atoms(operand, depth + 1, found);
        }
        _ => found(expr),
    }
}
