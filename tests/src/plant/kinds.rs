//! The kinds of defects in conditions, and where they can be planted.

use super::edit::{item, replace, slice};
use super::problems::{self, Problem};
use super::states::{Domain, States, Test};
use super::{Clean, Judge, Kind, Plant};
use agentir_diagnostics::{Edit, Span};
use agentir_eval::Outcome;
use agentir_expr::{Condition, Dialect, Expr, ExprKind, Literal, Visit};
use agentir_ir::{Agent, Branch, Node, NumberOrText, Statement};

/// Defects in conditions, constraints, routes and what declarations say of values.
pub(super) const KINDS: &[Kind] = &[
    Kind { name: "a comparison turned round", plant: turned },
    Kind { name: "a limit moved", plant: moved },
    Kind { name: "a comparison contradicted", plant: contradicted },
    Kind { name: "`OR` between two inequalities", plant: weakened },
    Kind { name: "a listed value misspelt", plant: misspelt },
    Kind { name: "a condition repeated further down", plant: repeated },
    Kind { name: "two alternatives swapped", plant: swapped },
    Kind { name: "a transition made unconditional", plant: unconditional },
    Kind { name: "an `ELSE` dropped", plant: without_else },
    Kind { name: "a constraint doubled, negated", plant: negated },
    Kind { name: "a constraint doubled", plant: doubled },
    Kind { name: "a range narrowed", plant: narrowed },
    Kind { name: "a listed value dropped", plant: unlisted },
    Kind { name: "priorities made equal", plant: tied },
    Kind { name: "handed back to whom it came from", plant: handed_back },
];

/// All conditions of a program that are expressions, with the agent.
fn conditions(clean: &Clean) -> Vec<(&Agent, &Condition, &Expr)> {
    let mut all = Vec::new();
    for agent in clean.checked.program.agents() {
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
fn comparisons<'c>(clean: &'c Clean, found: &mut dyn FnMut(&'c Agent, &'c Expr)) {
    for (agent, _, expr) in conditions(clean) {
        expr.visit(&mut |e| {
            if let ExprKind::Binary { left, right, .. } = &e.kind
                && (left.as_path().is_some() || right.as_path().is_some())
                && !slice(&clean.files, e.span).is_empty()
            {
                found(agent, e);
            }
            Visit::Children
        });
    }
}

fn at(span: Span, edits: Vec<Edit>) -> Plant {
    Plant { span, edits, judge: Judge::Conditions }
}

/// The operator of a comparison as it is written, and where.
fn operator<'c>(clean: &'c Clean, expr: &Expr) -> Option<(Span, &'c str)> {
    let ExprKind::Binary { left, right, .. } = &expr.kind else { return None };
    let between = Span::new(expr.span.file, left.span.end, right.span.start);
    let text = slice(&clean.files, between);
    let written = text.trim();
    let start = between.start + u32::try_from(text.find(written)?).ok()?;
    let end = start + u32::try_from(written.len()).ok()?;
    Some((Span::new(expr.span.file, start, end), written))
}

fn turned(clean: &Clean, plants: &mut Vec<Plant>) {
    comparisons(clean, &mut |_, e| {
        let Some((span, written)) = operator(clean, e) else { return };
        let other = match written {
            "<" => ">",
            ">" => "<",
            "<=" => ">=",
            ">=" => "<=",
            "==" => "!=",
            "!=" => "==",
            _ => return,
        };
        plants.push(at(e.span, vec![replace(span, other)]));
    });
}

fn moved(clean: &Clean, plants: &mut Vec<Plant>) {
    comparisons(clean, &mut |_, e| {
        let ExprKind::Binary { left, right, .. } = &e.kind else { return };
        for side in [left, right] {
            if let ExprKind::Literal(Literal::Number(n)) = &side.kind {
                for other in [n + 50.0, n - 50.0] {
                    plants.push(at(e.span, vec![replace(side.span, format!("{other}"))]));
                }
            }
        }
    });
}

fn words(agent: &Agent) -> [&'static str; 2] {
    match super::states::dialect(agent) {
        Dialect::Abl => ["AND", "OR"],
        _ => ["and", "or"],
    }
}

/// The sides of a comparison of a variable with a constant, as they are written.
fn sides<'c>(clean: &'c Clean, e: &Expr) -> Option<(&'c str, &'c str)> {
    let ExprKind::Binary { left, right, .. } = &e.kind else { return None };
    left.as_path()?;
    matches!(right.kind, ExprKind::Literal(Literal::Number(_) | Literal::String(_)))
        .then_some(())?;
    Some((slice(&clean.files, left.span), slice(&clean.files, right.span)))
}

fn contradicted(clean: &Clean, plants: &mut Vec<Plant>) {
    comparisons(clean, &mut |agent, e| {
        let Some((variable, constant)) = sides(clean, e) else { return };
        let Some((_, written)) = operator(clean, e) else { return };
        let other = match written {
            "<" | "<=" => format!("{variable} > {constant}"),
            ">" | ">=" => format!("{variable} < {constant}"),
            "==" if constant.ends_with('"') => {
                format!("{variable} == {}x\"", constant.trim_end_matches('"'))
            }
            _ => return,
        };
        let [and, _] = words(agent);
        let text = format!("({} {and} {other})", slice(&clean.files, e.span));
        plants.push(at(e.span, vec![replace(e.span, text)]));
    });
}

fn weakened(clean: &Clean, plants: &mut Vec<Plant>) {
    comparisons(clean, &mut |agent, e| {
        let Some((variable, constant)) = sides(clean, e) else { return };
        let Some((_, written)) = operator(clean, e) else { return };
        if !matches!(written, "==" | "!=") || !constant.ends_with('"') {
            return;
        }
        let [_, or] = words(agent);
        let other = format!("{variable} != {}x\"", constant.trim_end_matches('"'));
        let text = format!("({variable} != {constant} {or} {other})");
        plants.push(at(e.span, vec![replace(e.span, text)]));
    });
}

fn misspelt(clean: &Clean, plants: &mut Vec<Plant>) {
    comparisons(clean, &mut |agent, e| {
        let ExprKind::Binary { left, right, .. } = &e.kind else { return };
        let domain = Domain::of(&clean.checked.program, agent);
        let (Some(path), ExprKind::Literal(Literal::String(_))) = (left.as_path(), &right.kind)
        else {
            return;
        };
        let constant = slice(&clean.files, right.span);
        if domain.listed(path).is_some() && constant.ends_with('"') {
            let text = format!("{}s\"", constant.trim_end_matches('"'));
            plants.push(at(right.span, vec![replace(right.span, text)]));
        }
    });
}

/// The conditions of all lists of alternatives.
fn alternatives(clean: &Clean) -> Vec<Vec<&Condition>> {
    let agents = clean.checked.program.agents();
    let lists = agents.flat_map(problems::lists);
    lists.map(|list| list.items.into_iter().flatten().collect()).collect()
}

fn written<'c>(clean: &'c Clean, condition: &Condition) -> Option<&'c str> {
    condition.expr()?;
    Some(slice(&clean.files, condition.span())).filter(|text| !text.is_empty())
}

fn repeated(clean: &Clean, plants: &mut Vec<Plant>) {
    for list in alternatives(clean) {
        for (first, second) in list.iter().zip(list.iter().skip(1)) {
            let (Some(first), Some(_)) = (written(clean, first), written(clean, second)) else {
                continue;
            };
            plants.push(at(second.span(), vec![replace(second.span(), first)]));
        }
    }
}

fn swapped(clean: &Clean, plants: &mut Vec<Plant>) {
    for list in alternatives(clean) {
        for (at_first, first) in list.iter().enumerate() {
            for second in list.iter().skip(at_first + 1) {
                let (Some(a), Some(b)) = (written(clean, first), written(clean, second)) else {
                    continue;
                };
                let edits = vec![replace(first.span(), b), replace(second.span(), a)];
                plants.push(at(second.span(), edits));
            }
        }
    }
}

/// Calls `found` with all lists of branches.
fn branches<'c>(clean: &'c Clean, found: &mut dyn FnMut(&'c [Branch])) {
    for agent in clean.checked.program.agents() {
        problems::bodies(agent, &mut |body| {
            problems::statements(body, &mut |statement| match statement {
                Statement::If { branches } | Statement::Await { branches } => found(branches),
                Statement::Call(call) => found(&call.on_result),
                _ => {}
            });
        });
    }
}

fn unconditional(clean: &Clean, plants: &mut Vec<Plant>) {
    branches(clean, &mut |branches| {
        for branch in branches.iter().rev().skip(1) {
            let Some(condition) = &branch.condition else { continue };
            let span = condition.span();
            let text = &clean.files[span.file.0 as usize].text;
            if text[..span.start as usize].ends_with("- IF: ") {
                let whole = Span::new(span.file, span.start - 4, span.end);
                plants.push(at(span, vec![replace(whole, "ELSE:")]));
            }
        }
    });
}

fn without_else(clean: &Clean, plants: &mut Vec<Plant>) {
    branches(clean, &mut |branches| {
        let Some(last) = branches.last().filter(|b| b.condition.is_none()) else { return };
        if let Some(whole) = item(&clean.files, last.span)
            && slice(&clean.files, whole).trim_start().starts_with("- ELSE")
        {
            plants.push(at(last.span, vec![replace(whole, "")]));
        }
    });
}

/// Each constraint of ABL with its item and its condition as they are written.
fn constraints(clean: &Clean, found: &mut dyn FnMut(Span, &str, &str)) {
    for agent in clean.checked.program.agents() {
        for constraint in &agent.constraints.constraints {
            let Some(condition) = written(clean, &constraint.condition) else { continue };
            let Some(whole) = item(&clean.files, constraint.condition.span()) else { continue };
            let text = slice(&clean.files, whole);
            if text.matches(condition).count() == 1 && text.ends_with('\n') {
                found(whole, text, condition);
            }
        }
    }
}

fn negated(clean: &Clean, plants: &mut Vec<Plant>) {
    constraints(clean, &mut |whole, text, condition| {
        let other = text.replacen(condition, &format!("NOT ({condition})"), 1);
        plants.push(at(whole, vec![replace(whole, format!("{text}{other}"))]));
    });
}

fn doubled(clean: &Clean, plants: &mut Vec<Plant>) {
    constraints(clean, &mut |whole, text, _| {
        plants.push(at(whole, vec![replace(whole, format!("{text}{text}"))]));
    });
}

fn narrowed(clean: &Clean, plants: &mut Vec<Plant>) {
    for agent in clean.checked.program.agents() {
        agent.walk(&mut |node| {
            let Node::Field(field) = node else { return };
            let Some(rule) = field.validation.as_ref().map(|v| &v.rule) else { return };
            let text = slice(&clean.files, rule.span);
            let Some((low, high)) = rule.value.split_once('-') else { return };
            for end in [low, high] {
                if !text.is_empty() && end.trim().parse::<f64>().is_ok() {
                    let other = text.replace(rule.value.as_str(), &format!("{end}-{end}"));
                    plants.push(at(rule.span, vec![replace(rule.span, other)]));
                }
            }
        });
    }
}

fn unlisted(clean: &Clean, plants: &mut Vec<Plant>) {
    for agent in clean.checked.program.agents() {
        agent.walk(&mut |node| {
            let Node::Field(field) = node else { return };
            for (before, value) in field.enum_values.iter().zip(field.enum_values.iter().skip(1)) {
                let span = Span::new(value.span.file, before.span.end, value.span.end);
                if slice(&clean.files, span).trim_start_matches('"').starts_with(',') {
                    plants.push(at(value.span, vec![replace(span, "")]));
                }
            }
        });
    }
}

fn tied(clean: &Clean, plants: &mut Vec<Plant>) {
    for agent in clean.checked.program.agents() {
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
                let Some(whole) = item(&clean.files, *span) else { continue };
                let text = slice(&clean.files, whole);
                let line = format!("PRIORITY: {second}");
                if first != second && text.matches(&line).count() == 1 {
                    let other = text.replace(&line, &format!("PRIORITY: {first}"));
                    plants.push(at(*span, vec![replace(whole, other)]));
                }
            }
        }
    }
}

/// Where one agent hands over by what the runtime alone knows, the other hands over by the same.
fn handed_back(clean: &Clean, plants: &mut Vec<Plant>) {
    let program = &clean.checked.program;
    let quiet =
        |a: &&Agent| a.flow.is_none() && a.gather.fields.is_empty() && a.metadata.dialect == "abl";
    for agent in program.agents().filter(quiet) {
        let domain = Domain::of(program, agent);
        for handoff in agent.coordination.handoffs.iter().filter(|h| !h.returns) {
            let Some((condition, text)) =
                handoff.when.as_ref().and_then(|c| Some((c, written(clean, c)?)))
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
            let end = u32::try_from(clean.files[file.0 as usize].text.len()).unwrap_or_default();
            let text = format!(
                "\nHANDOFF:\n  - TO: {}\n    WHEN: {text}\n    CONTEXT:\n      pass: []\n      summary: \"s\"\n    RETURN: false\n",
                agent.metadata.name.value
            );
            plants.push(Plant {
                span: handoff.span,
                edits: vec![replace(Span::new(file, end, end), text)],
                judge: Judge::Certain(Problem::HandedBack),
            });
        }
    }
}
