//! Assignments that ADL computes in a function: `set` takes constants and arguments only (B.4.3), and a function may set
//! arguments (C.1).

use super::{Steps, call_step, value};
use crate::emit::expr::Form;
use crate::emit::tools::{Computation, identifier};
use crate::emit::yaml::Yaml;
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};
use agentir_ir::SetVariable;
use agentir_syntax::emit::dotted_path;

/// The parameters of a function, with what is passed for each.
type Parameters = Vec<(String, String)>;

impl Steps<'_> {
    /// `set`: adjacent assignments form one step.
    pub(super) fn set<'s>(&self, all: impl Iterator<Item = &'s SetVariable>, out: &mut Vec<Yaml>) {
        let mut pairs: Vec<(String, Yaml)> = Vec::new();
        let flush = |pairs: &mut Vec<(String, Yaml)>, out: &mut Vec<Yaml>| {
            if !pairs.is_empty() {
                push_set(std::mem::take(pairs), out);
            }
        };
        let mut left_out = Vec::new();
        for set in all {
            // A dotted name is an argument of another agent. A bot of ADL says itself what it means.
            let is_own = self.form == Form::AsWritten || set.target.segments.is_empty();
            let own = || dotted_path(&set.target).filter(|_| is_own);
            let target = self.scope().shared(&set.target).or_else(own);
            match (target, value(&set.value, self.scope())) {
                (Some(target), Some(value)) => {
                    if pairs.iter().any(|(name, _)| *name == target) {
                        flush(&mut pairs, out);
                    }
                    pairs.push((target, value));
                }
                _ => match self.computed(set) {
                    Some(call) => {
                        flush(&mut pairs, out);
                        out.push(call);
                    }
                    None => left_out.push(format!(
                        "not in ADL: set {} to {}",
                        set.target,
                        self.words_for(&set.value)
                    )),
                },
            }
        }
        flush(&mut pairs, out);
        out.extend(left_out.into_iter().map(Yaml::Comment));
    }

    /// A call of a function that computes the value and sets the argument. `None` for a bot of ADL, which says itself what
    /// it calls, and for values that need more than arithmetic.
    pub(super) fn computed(&self, set: &SetVariable) -> Option<Yaml> {
        if self.form == Form::AsWritten {
            return None;
        }
        let target = dotted_path(&set.target).filter(|_| set.target.segments.is_empty())?;
        let mut parameters = Parameters::new();
        let value = self.python(&set.value, &mut parameters)?;
        let names = parameters.iter().map(|(name, _)| name.clone()).collect();
        let function = self.context.computation(Computation {
            name: format!("set_{}", identifier(&target)),
            parameters: names,
            target,
            value,
            written: set.value.to_string(),
        });
        let args = parameters.into_iter().map(|(name, value)| (name, Yaml::text(value)));
        Some(call_step(&function, args.collect()))
    }

    /// An expression in Python, with every operation in parentheses. What it reads becomes a parameter.
    fn python(&self, expr: &Expr, parameters: &mut Parameters) -> Option<String> {
        Some(match &expr.kind {
            ExprKind::Literal(Literal::Number(number)) => number.to_string(),
            ExprKind::Literal(Literal::Bool(value)) => {
                if *value { "True" } else { "False" }.to_owned()
            }
            ExprKind::Literal(Literal::String(text)) => {
                serde_json::to_string(text.as_str()).ok()?
            }
            ExprKind::Literal(Literal::Null | Literal::Undefined) => "None".to_owned(),
            ExprKind::Path(path) => {
                let read = self.scope().name(path)?;
                let name = identifier(&read);
                match parameters.iter().find(|(known, _)| *known == name) {
                    Some((_, known)) if *known != read => return None,
                    Some(_) => {}
                    None => parameters.push((name.clone(), read)),
                }
                name
            }
            ExprKind::Unary { op, operand } => {
                let operand = self.python(operand, parameters)?;
                match op {
                    UnaryOp::Not => format!("(not {operand})"),
                    UnaryOp::Negate => format!("(-{operand})"),
                    _ => return None,
                }
            }
            ExprKind::Binary { op, left, right } => {
                let op = match op {
                    BinaryOp::Add => "+",
                    BinaryOp::Subtract => "-",
                    BinaryOp::Multiply => "*",
                    BinaryOp::Divide => "/",
                    BinaryOp::Less => "<",
                    BinaryOp::LessEqual => "<=",
                    BinaryOp::Greater => ">",
                    BinaryOp::GreaterEqual => ">=",
                    BinaryOp::Equal | BinaryOp::StrictEqual => "==",
                    BinaryOp::NotEqual | BinaryOp::StrictNotEqual => "!=",
                    _ => return None,
                };
                let left = self.python(left, parameters)?;
                let right = self.python(right, parameters)?;
                format!("({left} {op} {right})")
            }
            ExprKind::And(parts) => self.python_chain(parts, " and ", parameters)?,
            ExprKind::Or(parts) => self.python_chain(parts, " or ", parameters)?,
            ExprKind::IsSet { operand, negated } => {
                let is = if *negated { "is" } else { "is not" };
                format!("({} {is} None)", self.python(operand, parameters)?)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.python(condition, parameters)?;
                let then = self.python(then, parameters)?;
                let otherwise = self.python(otherwise, parameters)?;
                format!("({then} if {condition} else {otherwise})")
            }
            _ => return None,
        })
    }

    fn python_chain(
        &self,
        parts: &[Expr],
        word: &str,
        parameters: &mut Parameters,
    ) -> Option<String> {
        let parts: Option<Vec<String>> =
            parts.iter().map(|part| self.python(part, parameters)).collect();
        Some(format!("({})", parts?.join(word)))
    }
}

/// Adds assignments, to those before them if these are of other arguments.
pub(super) fn push_set(pairs: Vec<(String, Yaml)>, out: &mut Vec<Yaml>) {
    if let Some(Yaml::Map(step)) = out.last_mut()
        && let [(key, Yaml::Map(before))] = step.as_mut_slice()
        && key == "set"
        && !pairs.iter().any(|(name, _)| before.iter().any(|(known, _)| known == name))
    {
        before.extend(pairs);
        return;
    }
    out.push(Yaml::pair("set", Yaml::Map(pairs)));
}

/// Adds steps, whose assignments may go on with those before them.
pub(super) fn append(steps: Vec<Yaml>, out: &mut Vec<Yaml>) {
    for step in steps {
        match step {
            Yaml::Map(mut pairs) if matches!(pairs.as_slice(), [(key, Yaml::Map(_))] if key == "set") => {
                if let Some((_, Yaml::Map(set))) = pairs.pop() {
                    push_set(set, out);
                }
            }
            step => out.push(step),
        }
    }
}
