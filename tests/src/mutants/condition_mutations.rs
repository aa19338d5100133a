//! Mutation operators for conditions.

use super::edit::{item, replace, slice};
use super::problems::{self, Problem};
use super::states::{Domain, States, Test};
use super::{Baseline, Mutation, Operator, Oracle};
use agentir_diagnostics::{Edit, Span};
use agentir_eval::Outcome;
use agentir_expr::{Condition, Expr, ExprKind, Literal, Visit};
use agentir_ir::{Agent, Branch, Node, NumberOrText, Statement};
use agentir_lang_abl::dialect::ABL;

/// Operators for conditions, constraints, routes and declared values.
pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "a comparison turned round", mutate: turned },
    Operator { name: "a limit moved", mutate: moved },
    Operator { name: "a comparison contradicted", mutate: contradicted },
    Operator { name: "`OR` between two inequalities", mutate: weakened },
    Operator { name: "a listed value misspelt", mutate: misspelt },
    Operator { name: "a condition repeated further down", mutate: repeated },
    Operator { name: "two alternatives swapped", mutate: swapped },
    Operator { name: "a transition made unconditional", mutate: unconditional },
    Operator { name: "an `ELSE` dropped", mutate: without_else },
    Operator { name: "a constraint doubled, negated", mutate: negated },
    Operator { name: "a constraint doubled", mutate: doubled },
    Operator { name: "a range narrowed", mutate: narrowed },
    Operator { name: "a listed value dropped", mutate: unlisted },
    Operator { name: "priorities made equal", mutate: tied },
    Operator { name: "handed back to whom it came from", mutate: handed_back },
];

/// All expression conditions of a program, each with its agent.
fn conditions(baseline: &Baseline) -> Vec<(&Agent, &Condition, &Expr)> {
    let mut all = Vec::new();
    for agent in baseline.checked.program.agents() {
        agent.walk(&mut |node| {
            if let Node::Condition(condition, _) = node
                && let Some(expr) = condition.expr()
            {
                all.push((agent, condition, expr));
            }
        });
    }
    all
}

/// Calls `found` with every comparison of a variable.
fn comparisons<'c>(baseline: &'c Baseline, found: &mut dyn FnMut(&'c Agent, &'c Expr)) {
    for (agent, _, expr) in conditions(baseline) {
        expr.visit(&mut |e| {
            if let ExprKind::Binary { left, right, .. } = &e.kind
                && (left.as_path().is_some() || right.as_path().is_some())
                && !slice(&baseline.files, e.span).is_empty()
            {
                found(agent, e);
            }
            Visit::Children
        });
    }
}

fn at(span: Span, edits: Vec<Edit>) -> Mutation {
    Mutation { span, edits, oracle: Oracle::Conditions }
}

/// The source text of the operator of a comparison, with its span.
fn operator<'c>(baseline: &'c Baseline, expr: &Expr) -> Option<(Span, &'c str)> {
    let ExprKind::Binary { left, right, .. } = &expr.kind else { return None };
    let between = Span::new(expr.span.file, left.span.end, right.span.start);
    let text = slice(&baseline.files, between);
    let written = text.trim();
    let start = between.start + u32::try_from(text.find(written)?).ok()?;
    let end = start + u32::try_from(written.len()).ok()?;
    Some((Span::new(expr.span.file, start, end), written))
}

fn turned(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    comparisons(baseline, &mut |_, e| {
        let Some((span, written)) = operator(baseline, e) else { return };
        let other = match written {
            "<" => ">",
            ">" => "<",
            "<=" => ">=",
            ">=" => "<=",
            "==" => "!=",
            "!=" => "==",
            _ => return,
        };
        mutations.push(at(e.span, vec![replace(span, other)]));
    });
}

fn moved(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    comparisons(baseline, &mut |_, e| {
        let ExprKind::Binary { left, right, .. } = &e.kind else { return };
        for side in [left, right] {
            if let ExprKind::Literal(Literal::Number(n)) = &side.kind {
                for other in [n + 50.0, n - 50.0] {
                    mutations.push(at(e.span, vec![replace(side.span, format!("{other}"))]));
                }
            }
        }
    });
}

fn words(agent: &Agent) -> [&'static str; 2] {
    if agent.metadata.dialect == ABL { ["AND", "OR"] } else { ["and", "or"] }
}

/// The source text of the operands of a comparison of a variable with a constant.
fn sides<'c>(baseline: &'c Baseline, e: &Expr) -> Option<(&'c str, &'c str)> {
    let ExprKind::Binary { left, right, .. } = &e.kind else { return None };
    left.as_path()?;
    matches!(right.kind, ExprKind::Literal(Literal::Number(_) | Literal::String(_)))
        .then_some(())?;
    Some((slice(&baseline.files, left.span), slice(&baseline.files, right.span)))
}

fn contradicted(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    comparisons(baseline, &mut |agent, e| {
        let Some((variable, constant)) = sides(baseline, e) else { return };
        let Some((_, written)) = operator(baseline, e) else { return };
        let other = match written {
            "<" | "<=" => format!("{variable} > {constant}"),
            ">" | ">=" => format!("{variable} < {constant}"),
            "==" if constant.ends_with('"') => {
                format!("{variable} == {}x\"", constant.trim_end_matches('"'))
            }
            _ => return,
        };
        let [and, _] = words(agent);
        let text = format!("({} {and} {other})", slice(&baseline.files, e.span));
        mutations.push(at(e.span, vec![replace(e.span, text)]));
    });
}

fn weakened(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    comparisons(baseline, &mut |agent, e| {
        let Some((variable, constant)) = sides(baseline, e) else { return };
        let Some((_, written)) = operator(baseline, e) else { return };
        if !matches!(written, "==" | "!=") || !constant.ends_with('"') {
            return;
        }
        let [_, or] = words(agent);
        let other = format!("{variable} != {}x\"", constant.trim_end_matches('"'));
        let text = format!("({variable} != {constant} {or} {other})");
        mutations.push(at(e.span, vec![replace(e.span, text)]));
    });
}

fn misspelt(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    comparisons(baseline, &mut |agent, e| {
        let ExprKind::Binary { left, right, .. } = &e.kind else { return };
        let domain = Domain::of(&baseline.checked.program, agent);
        let (Some(path), ExprKind::Literal(Literal::String(_))) = (left.as_path(), &right.kind)
        else {
            return;
        };
        let constant = slice(&baseline.files, right.span);
        if domain.listed(path).is_some() && constant.ends_with('"') {
            let text = format!("{}s\"", constant.trim_end_matches('"'));
            mutations.push(at(right.span, vec![replace(right.span, text)]));
        }
    });
}

/// The conditions of all lists of alternatives.
fn alternatives(baseline: &Baseline) -> Vec<Vec<&Condition>> {
    let agents = baseline.checked.program.agents();
    let lists = agents.flat_map(problems::lists);
    lists.map(|list| list.items.into_iter().flatten().collect()).collect()
}

fn written<'c>(baseline: &'c Baseline, condition: &Condition) -> Option<&'c str> {
    condition.expr()?;
    Some(slice(&baseline.files, condition.span())).filter(|text| !text.is_empty())
}

fn repeated(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for list in alternatives(baseline) {
        for (first, second) in list.iter().zip(list.iter().skip(1)) {
            let (Some(first), Some(_)) = (written(baseline, first), written(baseline, second))
            else {
                continue;
            };
            mutations.push(at(second.span(), vec![replace(second.span(), first)]));
        }
    }
}

fn swapped(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for list in alternatives(baseline) {
        for (at_first, first) in list.iter().enumerate() {
            for second in list.iter().skip(at_first + 1) {
                let (Some(a), Some(b)) = (written(baseline, first), written(baseline, second))
                else {
                    continue;
                };
                let edits = vec![replace(first.span(), b), replace(second.span(), a)];
                mutations.push(at(second.span(), edits));
            }
        }
    }
}

/// Calls `found` with all lists of branches.
fn branches<'c>(baseline: &'c Baseline, found: &mut dyn FnMut(&'c [Branch])) {
    for agent in baseline.checked.program.agents() {
        problems::bodies(agent, &mut |body| {
            problems::statements(body, &mut |statement| match statement {
                Statement::If { branches } | Statement::Await { branches } => found(branches),
                Statement::Call(call) => found(&call.on_result),
                _ => {}
            });
        });
    }
}

fn unconditional(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    branches(baseline, &mut |branches| {
        for branch in branches.iter().rev().skip(1) {
            let Some(condition) = &branch.condition else { continue };
            let span = condition.span();
            let text = &baseline.files[span.file.0 as usize].text;
            if text[..span.start as usize].ends_with("- IF: ") {
                let whole = Span::new(span.file, span.start - 4, span.end);
                mutations.push(at(span, vec![replace(whole, "ELSE:")]));
            }
        }
    });
}

fn without_else(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    branches(baseline, &mut |branches| {
        let Some(last) = branches.last().filter(|b| b.condition.is_none()) else { return };
        if let Some(whole) = item(&baseline.files, last.span)
            && slice(&baseline.files, whole).trim_start().starts_with("- ELSE")
        {
            mutations.push(at(last.span, vec![replace(whole, "")]));
        }
    });
}

/// The source text of each ABL constraint: its item and its condition.
fn constraints(baseline: &Baseline, found: &mut dyn FnMut(Span, &str, &str)) {
    for agent in baseline.checked.program.agents() {
        for constraint in &agent.constraints.constraints {
            let Some(condition) = written(baseline, &constraint.condition) else { continue };
            let Some(whole) = item(&baseline.files, constraint.condition.span()) else { continue };
            let text = slice(&baseline.files, whole);
            if text.matches(condition).count() == 1 && text.ends_with('\n') {
                found(whole, text, condition);
            }
        }
    }
}

fn negated(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    constraints(baseline, &mut |whole, text, condition| {
        let other = text.replacen(condition, &format!("NOT ({condition})"), 1);
        mutations.push(at(whole, vec![replace(whole, format!("{text}{other}"))]));
    });
}

fn doubled(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    constraints(baseline, &mut |whole, text, _| {
        mutations.push(at(whole, vec![replace(whole, format!("{text}{text}"))]));
    });
}

fn narrowed(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for agent in baseline.checked.program.agents() {
        agent.walk(&mut |node| {
            let Node::Field(field) = node else { return };
            let Some(rule) = field.validation.as_ref().map(|v| &v.rule) else { return };
            let text = slice(&baseline.files, rule.span);
            let Some((low, high)) = rule.value.split_once('-') else { return };
            for end in [low, high] {
                if !text.is_empty() && end.trim().parse::<f64>().is_ok() {
                    let other = text.replace(rule.value.as_str(), &format!("{end}-{end}"));
                    mutations.push(at(rule.span, vec![replace(rule.span, other)]));
                }
            }
        });
    }
}

fn unlisted(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for agent in baseline.checked.program.agents() {
        agent.walk(&mut |node| {
            let Node::Field(field) = node else { return };
            for (before, value) in field.enum_values.iter().zip(field.enum_values.iter().skip(1)) {
                let span = Span::new(value.span.file, before.span.end, value.span.end);
                if slice(&baseline.files, span).trim_start_matches('"').starts_with(',') {
                    mutations.push(at(value.span, vec![replace(span, "")]));
                }
            }
        });
    }
}

fn tied(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    for agent in baseline.checked.program.agents() {
        let number = |priority: &Option<NumberOrText>| match priority {
            Some(NumberOrText::Number(n)) => Some(n.0),
            _ => None,
        };
        let handoffs = agent.coordination.handoffs.iter();
        let handoffs: Vec<(Span, f64)> =
            handoffs.filter_map(|h| Some((h.span, number(&h.priority)?))).collect();
        let rules = agent.routing.iter().flat_map(|r| &r.rules);
        let rules: Vec<(Span, f64)> =
            rules.filter_map(|r| Some((r.span, number(&r.priority)?))).collect();
        for all in [handoffs, rules] {
            for ((_, first), (span, second)) in all.iter().zip(all.iter().skip(1)) {
                let Some(whole) = item(&baseline.files, *span) else { continue };
                let text = slice(&baseline.files, whole);
                let line = format!("PRIORITY: {second}");
                if first != second && text.matches(&line).count() == 1 {
                    let other = text.replace(&line, &format!("PRIORITY: {first}"));
                    mutations.push(at(*span, vec![replace(whole, other)]));
                }
            }
        }
    }
}

/// If the runtime alone decides the handoff of one agent, the other hands over under the same condition.
fn handed_back(baseline: &Baseline, mutations: &mut Vec<Mutation>) {
    let program = &baseline.checked.program;
    let quiet =
        |a: &&Agent| a.flow.is_none() && a.gather.fields.is_empty() && a.metadata.dialect == ABL;
    for agent in program.agents().filter(quiet) {
        let domain = Domain::of(program, agent);
        for handoff in agent.coordination.handoffs.iter().filter(|h| !h.returns) {
            let Some((condition, text)) =
                handoff.when.as_ref().and_then(|c| Some((c, written(baseline, c)?)))
            else {
                continue;
            };
            let mut known = true;
            condition.expr().into_iter().for_each(|e| {
                e.paths(&mut |p| {
                    known &= ["user", "channel", "language"].contains(&p.root.value.as_str());
                });
            });
            let holds = Test::of(condition).and_then(|test| {
                let states = States::of(&domain, &[test])?;
                Some(states.any(|s| test.outcome(s, domain.dialect) == Outcome::True))
            });
            let to = program.agents().find(|b| {
                b.metadata.name.value == handoff.to.value
                    && quiet(b)
                    && b.coordination.handoffs.is_empty()
            });
            let Some(to) = to.filter(|_| known && holds == Some(true)) else { continue };
            let file = to.metadata.name.span.file;
            let end = u32::try_from(baseline.files[file.0 as usize].text.len()).unwrap_or_default();
            let text = format!(
                "\nHANDOFF:\n  - TO: {}\n    WHEN: {text}\n    CONTEXT:\n      pass: []\n      summary: \"s\"\n    RETURN: false\n",
                agent.metadata.name.value
            );
            mutations.push(Mutation {
                span: handoff.span,
                edits: vec![replace(Span::new(file, end, end), text)],
                oracle: Oracle::Certain(Problem::HandedBack),
            });
        }
    }
}
