//! Mutation operators over whole programs, for all languages. Edits keep the number of lines, so that a place after a
//! change is the same place as before, except where an `ELSE` becomes a condition.

use super::{Change, Fault, Judge, Operator, Sample};
use crate::mutants::edit::{replace, slice};
use crate::mutants::problems::{bodies, statements};
use crate::mutants::states::{Domain, Values};
use agentir_diagnostics::{Edit, FileId, Span, Spanned};
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, Name, Path, Segment, Visit};
use agentir_ir::{
    Agent, AgentUse, Branch, Call, Node, Parameter, SetVariable, Statement, Target, Tool,
    ToolBinding,
};
use agentir_lang_abl::dialect::ABL;
use std::collections::BTreeSet;

/// The operators, with the class of each: **A** values over the program, **B** cases left over, **C** texts and
/// arithmetic, **D** data between agents and tools, **E** loops, **F** types and signatures.
pub(super) const OPERATORS: &[Operator] = &[
    Operator { class: 'A', name: "compared with another value", find: other_constant },
    Operator { class: 'A', name: "a test negated", find: negated },
    Operator { class: 'A', name: "an assignment dropped", find: dropped },
    Operator { class: 'A', name: "another value assigned", find: other_value },
    Operator { class: 'A', name: "a counter counts down", find: counts_down },
    Operator { class: 'B', name: "an `ELSE` without the boundary", find: without_boundary },
    Operator { class: 'B', name: "an `ELSE` with a gap before it", find: with_gap },
    Operator { class: 'B', name: "an `ELSE` for one of two values", find: one_of_two },
    Operator { class: 'C', name: "a part of a text tested first", find: part_first },
    Operator { class: 'C', name: "compared in another letter case", find: other_case },
    Operator { class: 'C', name: "a sum out of bounds", find: sum },
    Operator { class: 'C', name: "a product out of bounds", find: product },
    Operator { class: 'D', name: "a field of a result misspelt", find: misspelt_field },
    Operator { class: 'D', name: "an argument dropped", find: dropped_argument },
    Operator { class: 'D', name: "a value removed", find: removed },
    Operator { class: 'E', name: "a jump to another step", find: redirected_step },
    Operator { class: 'E', name: "a transition to another agent", find: redirected_agent },
    Operator { class: 'E', name: "a step instead of an exit", find: without_exit },
    Operator { class: 'E', name: "a wait dropped", find: without_wait },
    Operator { class: 'F', name: "an argument of another type", find: mistyped_argument },
    Operator { class: 'F', name: "a text assigned to a number", find: mistyped_value },
    Operator { class: 'F', name: "assigned to itself", find: itself },
    Operator { class: 'F', name: "an argument misspelt", find: misspelt_argument },
];

fn agents(sample: &Sample) -> impl Iterator<Item = &Agent> {
    sample.checked.program.agents()
}

fn text(sample: &Sample, span: Span) -> Option<&str> {
    Some(slice(&sample.files, span)).filter(|text| !text.is_empty())
}

/// Whether a name stands in the source as it is.
fn is_written(sample: &Sample, name: &Spanned<Name>) -> bool {
    slice(&sample.files, name.span) == name.value
}

fn by_conversations(at: Span, edits: Vec<Edit>) -> Change {
    Change { at, edits, judge: Judge::Conversations }
}

fn certain(at: Span, edits: Vec<Edit>, fault: Fault) -> Change {
    Change { at, edits, judge: Judge::Certain(fault) }
}

/// A comparison of a variable with a constant.
struct Comparison<'a> {
    whole: &'a Expr,
    path: &'a Path,
    op: BinaryOp,
    constant: &'a Expr,
    literal: &'a Literal,
}

fn comparison(expr: &Expr) -> Option<Comparison<'_>> {
    let ExprKind::Binary { op, left, right } = &expr.kind else { return None };
    let ExprKind::Literal(literal) = &right.kind else { return None };
    Some(Comparison { whole: expr, path: left.as_path()?, op: *op, constant: right, literal })
}

impl<'a> Comparison<'a> {
    /// The source text of the variable and of the constant.
    fn sides<'s>(&self, sample: &'s Sample) -> Option<(&'s str, &'s str)> {
        let ExprKind::Binary { left, .. } = &self.whole.kind else { return None };
        Some((text(sample, left.span)?, text(sample, self.constant.span)?))
    }
}

/// Calls `found` with all conditions.
fn conditions<'a>(sample: &'a Sample, found: &mut dyn FnMut(&'a Agent, &'a Expr)) {
    for agent in agents(sample) {
        agent.walk(&mut |node| {
            if let Node::Condition(condition, _) = node
                && let Some(expr) = condition.expr()
            {
                found(agent, expr);
            }
        });
    }
}

/// Calls `found` with all comparisons in conditions.
fn comparisons<'a>(sample: &'a Sample, found: &mut dyn FnMut(&'a Agent, Comparison<'a>)) {
    conditions(sample, &mut |agent, expr| {
        expr.visit(&mut |e| {
            if let Some(comparison) = comparison(e) {
                found(agent, comparison);
            }
            Visit::Children
        });
    });
}

/// Another constant of the same type.
fn another(literal: &Literal, written: &str) -> Option<String> {
    match literal {
        Literal::Bool(value) => {
            let upper = written.starts_with(|c: char| c.is_ascii_uppercase());
            Some(match (upper, !value) {
                (true, true) => "True".to_owned(),
                (true, false) => "False".to_owned(),
                (false, other) => other.to_string(),
            })
        }
        Literal::Number(n) => Some(format!("{}", n + 1000.0)),
        Literal::String(_) => {
            let quote = written.chars().last().filter(|c| ['"', '\''].contains(c))?;
            let inside = written.strip_suffix(quote)?;
            Some(format!("{inside}_x{quote}"))
        }
        _ => None,
    }
}

fn other_constant(sample: &Sample, changes: &mut Vec<Change>) {
    comparisons(sample, &mut |_, c| {
        if matches!(c.op, BinaryOp::Equal | BinaryOp::StrictEqual)
            && let Some((_, written)) = c.sides(sample)
            && let Some(other) = another(c.literal, written)
        {
            let edit = replace(c.constant.span, other);
            changes.push(by_conversations(c.whole.span, vec![edit]));
        }
    });
}

/// The source text of the operator of a comparison, with its span.
fn operator<'s>(sample: &'s Sample, expr: &Expr) -> Option<(Span, &'s str)> {
    let ExprKind::Binary { left, right, .. } = &expr.kind else { return None };
    let between = Span::new(expr.span.file, left.span.end, right.span.start);
    let around = text(sample, between)?;
    let written = around.trim();
    let start = between.start + u32::try_from(around.find(written)?).ok()?;
    let end = start + u32::try_from(written.len()).ok()?;
    Some((Span::new(expr.span.file, start, end), written))
}

fn negated(sample: &Sample, changes: &mut Vec<Change>) {
    conditions(sample, &mut |agent, condition| {
        // A flag alone.
        if condition.as_path().is_some() && text(sample, condition.span).is_some() {
            let not = if agent.metadata.dialect == ABL { "NOT " } else { "not " };
            let before = Span::new(condition.span.file, condition.span.start, condition.span.start);
            changes.push(by_conversations(condition.span, vec![replace(before, not)]));
        }
        condition.visit(&mut |e| {
            if let Some((span, written)) = operator(sample, e) {
                let other = match written {
                    "<" => ">=",
                    ">" => "<=",
                    "<=" => ">",
                    ">=" => "<",
                    "==" => "!=",
                    "!=" => "==",
                    _ => return Visit::Children,
                };
                changes.push(by_conversations(e.span, vec![replace(span, other)]));
            }
            Visit::Children
        });
    });
}

/// The assignments that stand in the source, each with its agent.
fn assignments(sample: &Sample) -> Vec<(&Agent, &SetVariable)> {
    let mut all = Vec::new();
    for agent in agents(sample) {
        agent.walk(&mut |node| {
            if let Node::Set(set) = node
                && text(sample, set.value.span).is_some()
                && is_written(sample, &set.target.root)
            {
                all.push((agent, set));
            }
        });
    }
    all
}

/// The line at an offset of a file: its span, without the end of the line.
fn line_at(sample: &Sample, span: Span) -> Option<Span> {
    let text = &sample.files.get(span.file.0 as usize)?.text;
    let at = span.start as usize;
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    Some(Span::new(span.file, u32::try_from(start).ok()?, u32::try_from(end).ok()?))
}

/// Edits that leave a line empty, and the key above it if nothing is left below that.
fn without_line(sample: &Sample, inside: Span) -> Option<Vec<Edit>> {
    let whole = line_at(sample, inside)?;
    let mut edits = vec![replace(whole, "")];
    let all = &sample.files.get(whole.file.0 as usize)?.text;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(slice(&sample.files, whole));
    let next = all[whole.end as usize..].lines().find(|line| !line.trim().is_empty());
    let above = all[..whole.start as usize].trim_end();
    let start = above.rfind('\n').map_or(0, |n| n + 1);
    let key = &above[start..];
    let alone = key.trim_start().trim_start_matches("- ").to_lowercase();
    if ["set:", "args:", "with:"].contains(&alone.as_str())
        && indent(key) < own
        && next.is_none_or(|next| indent(next) < own)
    {
        let (start, end) = (u32::try_from(start).ok()?, u32::try_from(above.len()).ok()?);
        edits.push(replace(Span::new(whole.file, start, end), ""));
    }
    Some(edits)
}

fn dropped(sample: &Sample, changes: &mut Vec<Change>) {
    for (_, set) in assignments(sample) {
        if let Some(edits) = without_line(sample, set.target.root.span) {
            changes.push(by_conversations(set.target.root.span, edits));
        }
    }
}

fn other_value(sample: &Sample, changes: &mut Vec<Change>) {
    for (_, set) in assignments(sample) {
        if let ExprKind::Literal(literal) = &set.value.kind
            && let Some(other) = another(literal, slice(&sample.files, set.value.span))
        {
            changes.push(by_conversations(set.value.span, vec![replace(set.value.span, other)]));
        }
    }
}

fn counts_down(sample: &Sample, changes: &mut Vec<Change>) {
    for (_, set) in assignments(sample) {
        if let ExprKind::Binary { op: BinaryOp::Add, left, right } = &set.value.kind
            && left.as_path() == Some(&set.target)
            && matches!(right.kind, ExprKind::Literal(Literal::Number(_)))
            && let Some((span, "+")) = operator(sample, &set.value)
        {
            changes.push(by_conversations(set.value.span, vec![replace(span, "-")]));
        }
    }
}

/// Calls `found` with all lists of branches.
fn branches<'a>(sample: &'a Sample, found: &mut dyn FnMut(&'a Agent, &'a [Branch])) {
    for agent in agents(sample) {
        bodies(agent, &mut |body| {
            statements(body, &mut |statement| match statement {
                Statement::If { branches } | Statement::Await { branches } => {
                    found(agent, branches);
                }
                Statement::Call(call) => found(agent, &call.on_result),
                _ => {}
            });
        });
    }
}

/// The word that begins an alternative without a condition, and how one with a condition begins there.
fn in_place_of_else(sample: &Sample, branch: &Branch, condition: &str) -> Option<Edit> {
    let line = line_at(sample, branch.span)?;
    let written = slice(&sample.files, line);
    let indent = written.len() - written.trim_start().len();
    let (word, other) = match (written.trim_start(), sample.language) {
        (rest, "ABL") if rest.starts_with("- ELSE:") => ("- ELSE:", format!("- IF: {condition}")),
        (rest, "Agent Script") if rest.starts_with("else:") => {
            ("else:", format!("else if {condition}:"))
        }
        (rest, "ADL") if rest.starts_with("- else:") => {
            let inside = " ".repeat(indent + 2);
            ("- else:", format!("- else if: {condition}\n{inside}then:"))
        }
        ("else:", "ADL") => {
            let outside = indent.checked_sub(2)?;
            let start = line.start + u32::try_from(outside).ok()?;
            let whole = Span::new(line.file, start, line.end);
            let then = format!("- else if: {condition}\n{}then:", " ".repeat(indent));
            return Some(replace(whole, then));
        }
        _ => return None,
    };
    let start = line.start + u32::try_from(indent).ok()?;
    let end = start + u32::try_from(word.len()).ok()?;
    Some(replace(Span::new(line.file, start, end), other))
}

/// Calls `found` with each comparison with a number that is the only condition before an `ELSE`.
fn before_else<'a>(sample: &'a Sample, found: &mut dyn FnMut(&'a Branch, &'a str, BinaryOp, f64)) {
    branches(sample, &mut |_, all| {
        let [Branch { condition: Some(condition), .. }, last] = all else { return };
        if let Some(c) = condition.expr().and_then(comparison)
            && let Literal::Number(n) = c.literal
            && last.condition.is_none()
            && let Some((path, _)) = c.sides(sample)
        {
            found(last, path, c.op, *n);
        }
    });
}

fn left_over(sample: &Sample, branch: &Branch, condition: String, changes: &mut Vec<Change>) {
    let known = sample.files.iter().any(|file| file.text.contains(&condition));
    if !known && let Some(edit) = in_place_of_else(sample, branch, &condition) {
        let judge = Judge::LeftOver(condition);
        changes.push(Change { at: branch.span, edits: vec![edit], judge });
    }
}

fn without_boundary(sample: &Sample, changes: &mut Vec<Change>) {
    before_else(sample, &mut |last, path, op, n| {
        let other = match op {
            BinaryOp::Less => ">",
            BinaryOp::Greater => "<",
            _ => return,
        };
        left_over(sample, last, format!("{path} {other} {n}"), changes);
    });
}

fn with_gap(sample: &Sample, changes: &mut Vec<Change>) {
    before_else(sample, &mut |last, path, op, n| {
        let condition = match op {
            BinaryOp::Less | BinaryOp::LessEqual => format!("{path} > {}", n + 10.0),
            BinaryOp::Greater | BinaryOp::GreaterEqual => format!("{path} < {}", n - 10.0),
            _ => return,
        };
        left_over(sample, last, condition, changes);
    });
}

fn one_of_two(sample: &Sample, changes: &mut Vec<Change>) {
    branches(sample, &mut |agent, all| {
        let Some((last, before)) = all.split_last().filter(|(last, _)| last.condition.is_none())
        else {
            return;
        };
        let tests: Vec<Comparison<'_>> = before
            .iter()
            .filter_map(|b| comparison(b.condition.as_ref()?.expr()?))
            .filter(|c| c.op == BinaryOp::Equal)
            .collect();
        let Some(first) = tests.first().filter(|_| tests.len() == before.len()) else { return };
        let domain = Domain::of(&sample.checked.program, agent);
        let Some(values) =
            domain.listed(first.path).filter(|_| tests.iter().all(|test| test.path == first.path))
        else {
            return;
        };
        let tested: Vec<String> = tests
            .iter()
            .filter_map(|t| match t.literal {
                Literal::String(text) => Some(text.to_string()),
                _ => None,
            })
            .collect();
        let rest: Vec<String> = values
            .iter()
            .filter_map(|v| match v {
                agentir_eval::Value::Text(text) => Some(text.to_string()),
                _ => None,
            })
            .filter(|v| !tested.contains(v))
            .collect();
        if let ([one, _], Some((path, _))) = (rest.as_slice(), first.sides(sample)) {
            left_over(sample, last, format!("{path} == \"{one}\""), changes);
        }
    });
}

/// Whether a variable holds texts.
fn is_text(sample: &Sample, agent: &Agent, path: &Path) -> bool {
    let said = path.root.value == "input" && path.segments.is_empty();
    let domain = Domain::of(&sample.checked.program, agent);
    said || path.segments.is_empty() && domain.of_name(&path.root.value) == Values::Text
}

fn part_first(sample: &Sample, changes: &mut Vec<Change>) {
    branches(sample, &mut |agent, all| {
        for (first, second) in all.iter().zip(all.iter().skip(1)) {
            let (Some(a), Some(b)) = (condition(first), condition(second)) else { continue };
            // Branches that the user's words decide, in ABL mostly written as `contains`.
            let path = match (&a.kind, &b.kind) {
                (ExprKind::Method { receiver, .. }, ExprKind::Method { receiver: other, .. }) => {
                    receiver.as_path().filter(|path| other.as_path() == Some(*path))
                }
                _ => comparison(a)
                    .zip(comparison(b))
                    .filter(|(a, b)| a.path == b.path && matches!(a.literal, Literal::String(_)))
                    .map(|(a, _)| a.path),
            };
            let Some(path) = path else { continue };
            if !is_text(sample, agent, path) && agent.metadata.dialect == ABL {
                continue;
            }
            let (one, other) = match sample.language {
                "ABL" => {
                    (format!("{path}.contains(\"rain\")"), format!("{path}.contains(\"train\")"))
                }
                "ADL" => {
                    (format!("re.match(\"rain\", {path})"), format!("re.match(\"rainy\", {path})"))
                }
                _ => continue,
            };
            let edits = vec![replace(a.span, one), replace(b.span, other)];
            changes.push(certain(b.span, edits, Fault::Impossible));
        }
    });
}

fn condition(branch: &Branch) -> Option<&Expr> {
    branch.condition.as_ref().and_then(Condition::expr)
}

fn other_case(sample: &Sample, changes: &mut Vec<Change>) {
    comparisons(sample, &mut |agent, c| {
        let Literal::String(literal) = c.literal else { return };
        if agent.metadata.dialect != ABL || c.op != BinaryOp::Equal {
            return;
        }
        let Some((path, _)) = c.sides(sample) else { return };
        let (function, other) = match literal.to_uppercase() {
            upper if upper == literal.to_lowercase() => return,
            upper if upper == *literal => ("LOWER", upper),
            _ => ("UPPER", literal.to_lowercase()),
        };
        let edit = replace(c.whole.span, format!("{function}({path}) == \"{other}\""));
        changes.push(certain(c.whole.span, vec![edit], Fault::Impossible));
    });
}

/// Replaces comparisons `x > n` by one that contradicts itself.
fn contradicted(
    sample: &Sample,
    changes: &mut Vec<Change>,
    other: impl Fn(&str, bool, f64) -> String,
) {
    comparisons(sample, &mut |agent, c| {
        let Literal::Number(n) = c.literal else { return };
        let up = match c.op {
            BinaryOp::Greater | BinaryOp::GreaterEqual => true,
            BinaryOp::Less | BinaryOp::LessEqual => false,
            _ => return,
        };
        let Some((path, _)) = c.sides(sample) else { return };
        let and = if agent.metadata.dialect == ABL { "AND" } else { "and" };
        let whole = slice(&sample.files, c.whole.span);
        let both = format!("({whole} {and} {})", other(path, up, *n));
        changes.push(certain(c.whole.span, vec![replace(c.whole.span, both)], Fault::Impossible));
    });
}

fn sum(sample: &Sample, changes: &mut Vec<Change>) {
    contradicted(sample, changes, |path, up, n| {
        if up { format!("{path} + 1 < {n}") } else { format!("{path} - 1 > {n}") }
    });
}

fn product(sample: &Sample, changes: &mut Vec<Change>) {
    contradicted(sample, changes, |path, up, n| {
        let bound = 2.0 * n;
        if up { format!("{path} * 2 < {bound}") } else { format!("{path} * 2 > {bound}") }
    });
}

fn tools<'a>(sample: &'a Sample, agent: &'a Agent) -> impl Iterator<Item = &'a Tool> {
    let libraries = sample.checked.program.libraries.iter().flat_map(|l| &l.tools);
    agent.tools.iter().chain(libraries)
}

fn misspelt_field(sample: &Sample, changes: &mut Vec<Change>) {
    for agent in agents(sample) {
        let mut results: BTreeSet<(String, String)> = BTreeSet::new();
        agent.walk(&mut |node| {
            if let Node::Call(call) = node
                && let Some(tool) = tools(sample, agent).find(|t| t.name.value == call.tool.value)
            {
                let fields = tool.returns.iter().flat_map(|r| &r.fields);
                let name = call.result.as_ref().unwrap_or(&call.tool).value.to_string();
                results.extend(fields.map(|f| (name.clone(), f.name.value.to_string())));
            }
        });
        agent.walk(&mut |node| {
            node.exprs(&mut |expr| {
                expr.visit(&mut |e| {
                    let ExprKind::Path(path) = &e.kind else { return Visit::Children };
                    let space = path.namespace.as_ref().map(|n| n.value.as_str());
                    let field = match (space, path.segments.first()) {
                        (Some("outputs"), _) => &path.root,
                        (None, Some(Segment::Field(field))) => field,
                        _ => return Visit::Children,
                    };
                    let pair = (path.root.value.to_string(), field.value.to_string());
                    let known = space.is_some() || results.contains(&pair);
                    if known && is_written(sample, field) {
                        let edit = replace(field.span, format!("{}x", field.value));
                        changes.push(certain(field.span, vec![edit], Fault::NoSuchField));
                    }
                    Visit::Children
                });
            });
        });
    }
}

/// An argument of a tool.
struct Argument<'a> {
    name: Option<&'a Spanned<Name>>,
    parameter: &'a Parameter,
    value: &'a Expr,
    /// Whether the model gives the tool what is left out.
    offered: bool,
}

/// Calls `found` with the arguments of all calls of tools that are declared.
fn arguments<'a>(sample: &'a Sample, found: &mut dyn FnMut(Argument<'a>)) {
    for agent in agents(sample) {
        let tool = |name: &Name| tools(sample, agent).find(|t| t.name.value == *name);
        let of_call = |call: &'a Call, found: &mut dyn FnMut(Argument<'a>)| {
            let Some(tool) = tool(&call.tool.value) else { return };
            for (at, argument) in call.with.iter().enumerate() {
                let parameter = match &argument.name {
                    Some(name) => tool.parameters.iter().find(|p| p.name.value == name.value),
                    None => tool.parameters.get(at),
                };
                if let Some(parameter) = parameter {
                    found(Argument {
                        name: argument.name.as_ref(),
                        parameter,
                        value: &argument.value,
                        offered: false,
                    });
                }
            }
        };
        let of_binding = |binding: &'a ToolBinding, found: &mut dyn FnMut(Argument<'a>)| {
            let agentir_ir::BindingAction::Call { tool: name } = &binding.action else { return };
            let Some(tool) = tool(&name.value) else { return };
            for with in &binding.with {
                let parameter = tool.parameters.iter().find(|p| p.name.value == with.name.value);
                if let (Some(parameter), Some(value)) = (parameter, &with.value) {
                    found(Argument { name: Some(&with.name), parameter, value, offered: true });
                }
            }
        };
        agent.walk(&mut |node| match node {
            Node::Call(call) => of_call(call, &mut *found),
            Node::ToolBinding(binding) => of_binding(binding, &mut *found),
            _ => {}
        });
    }
}

/// Whether a line has nothing but an argument with its name.
fn alone(sample: &Sample, name: Span, value: Span) -> bool {
    line_at(sample, name).is_some_and(|line| {
        let before = slice(&sample.files, Span::new(line.file, line.start, name.start));
        let after = slice(&sample.files, Span::new(line.file, value.end.min(line.end), line.end));
        ["", "with"].contains(&before.trim()) && after.trim().is_empty()
    })
}

fn dropped_argument(sample: &Sample, changes: &mut Vec<Change>) {
    arguments(sample, &mut |Argument { name, parameter, value, offered }| {
        if let Some(name) = name.filter(|_| !offered)
            && parameter.required
            && parameter.default.is_none()
            && alone(sample, name.span, value.span)
            && let Some(edits) = without_line(sample, name.span)
            // Without any arguments, a call takes the variables of the same names.
            && edits.len() == 1
        {
            changes.push(certain(name.span, edits, Fault::Missing));
        }
    });
    // What another agent is given.
    for agent in agents(sample) {
        bodies(agent, &mut |body| {
            statements(body, &mut |statement| {
                let (Statement::Delegate(to) | Statement::Handoff(to)) = statement else { return };
                for binding in &to.bindings {
                    let (name, value) = (binding.variable.span, binding.value.span);
                    if alone(sample, name, value)
                        && let Some(edits) = without_line(sample, name)
                    {
                        changes.push(by_conversations(name, edits));
                    }
                }
            });
        });
    }
}

fn removed(sample: &Sample, changes: &mut Vec<Change>) {
    for (agent, set) in assignments(sample) {
        let null = if agent.metadata.dialect == ABL { "null" } else { "None" };
        changes.push(by_conversations(set.value.span, vec![replace(set.value.span, null)]));
    }
}

fn redirected_step(sample: &Sample, changes: &mut Vec<Change>) {
    for agent in agents(sample) {
        let Some(flow) = &agent.flow else { continue };
        agent.walk(&mut |node| {
            let Node::Jump(jump) = node else { return };
            let Some(name) = jump.target.step() else { return };
            // A label stands for the jump back to it.
            let is_label = line_at(sample, name.span)
                .is_some_and(|line| slice(&sample.files, line).trim().starts_with("- label:"));
            if is_label || !is_written(sample, name) {
                return;
            }
            let others = flow.definitions.keys().filter(|other| **other != name.value);
            for other in others.filter(|n| text_is_name(n)).take(3) {
                let edits = vec![replace(name.span, other.as_str())];
                changes.push(by_conversations(name.span, edits));
            }
        });
    }
}

fn text_is_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn redirected_agent(sample: &Sample, changes: &mut Vec<Change>) {
    let all: Vec<&Name> = agents(sample).map(|a| &a.metadata.name.value).collect();
    for agent in agents(sample) {
        agent.walk(&mut |node| {
            let Node::AgentRef(name, AgentUse::Flow | AgentUse::Delegate | AgentUse::Handoff) =
                node
            else {
                return;
            };
            if !is_written(sample, name) {
                return;
            }
            let own = &agent.metadata.name.value;
            let others = all.iter().filter(|other| ***other != name.value && **other != own);
            for other in others.take(3) {
                let edits = vec![replace(name.span, other.as_str())];
                changes.push(by_conversations(name.span, edits));
            }
        });
    }
}

fn without_exit(sample: &Sample, changes: &mut Vec<Change>) {
    for agent in agents(sample) {
        let Some(flow) = &agent.flow else { continue };
        agent.walk(&mut |node| {
            let Node::Jump(jump) = node else { return };
            let word = match jump.target {
                Target::Complete => "COMPLETE",
                Target::Escalate => "ESCALATE",
                _ => return,
            };
            if text(sample, jump.span) != Some(word) {
                return;
            }
            for step in flow.definitions.keys().filter(|n| text_is_name(n)).take(3) {
                let edits = vec![replace(jump.span, step.as_str())];
                changes.push(by_conversations(jump.span, edits));
            }
        });
    }
}

fn without_wait(sample: &Sample, changes: &mut Vec<Change>) {
    for (at, file) in sample.files.iter().enumerate().filter(|_| sample.language == "ADL") {
        let mut start = 0;
        for line in file.text.split_inclusive('\n') {
            if line.trim() == "- user" {
                let end = start + line.trim_end().len();
                let place = |n: usize| u32::try_from(n).unwrap_or_default();
                let file = FileId(place(at));
                let whole = Span::new(file, place(start), place(end));
                changes.push(by_conversations(whole, vec![replace(whole, "")]));
            }
            start += line.len();
        }
    }
}

fn mistyped_argument(sample: &Sample, changes: &mut Vec<Change>) {
    arguments(sample, &mut |Argument { parameter, value, .. }| {
        let ty = parameter.ty.as_ref().and_then(|ty| ty.name());
        if matches!(ty, Some("number" | "integer")) && text(sample, value.span).is_some() {
            let edits = vec![replace(value.span, "\"many\"")];
            changes.push(certain(value.span, edits, Fault::WrongType));
        }
    });
}

fn mistyped_value(sample: &Sample, changes: &mut Vec<Change>) {
    for (agent, set) in assignments(sample) {
        let shared = agent.metadata.dialect.traits().shared_variables;
        let declared = agents(sample)
            .filter(|other| shared || std::ptr::eq(*other, agent))
            .flat_map(|a| &a.memory.session)
            .find(|v| v.name.value == set.target.root.value);
        let ty = declared.and_then(|v| v.ty.as_ref()?.name());
        if set.target.segments.is_empty() && matches!(ty, Some("number" | "integer")) {
            let edits = vec![replace(set.value.span, "\"many\"")];
            changes.push(certain(set.value.span, edits, Fault::WrongType));
        }
    }
}

fn itself(sample: &Sample, changes: &mut Vec<Change>) {
    for (_, set) in assignments(sample) {
        let edits = vec![replace(set.value.span, set.target.to_string())];
        changes.push(certain(set.value.span, edits, Fault::Itself));
    }
}

fn misspelt_argument(sample: &Sample, changes: &mut Vec<Change>) {
    arguments(sample, &mut |Argument { name, .. }| {
        if let Some(name) = name.filter(|name| is_written(sample, name)) {
            let edits = vec![replace(name.span, format!("{}x", name.value))];
            changes.push(certain(name.span, edits, Fault::Signature));
        }
    });
}
