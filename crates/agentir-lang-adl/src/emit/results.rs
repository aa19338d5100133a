//! Renames results of calls: ADL has no variables for them and refers to their fields by the name of the
//! function, `find_parts.price` (B.4.2).

use agentir_expr::{Condition, ConditionKind, Expr, ExprKind, Name, Template, TemplatePart};
use agentir_ir::{Agent, Branch, Call, Flow, Statement};
use rustc_hash::FxHashMap;

/// ABL's variable for the result of the last call.
const LAST: &str = "result";

/// The functions, by the variables of their results.
#[derive(Default)]
struct Results(FxHashMap<Name, Name>);

/// The flow of an agent with results named by their functions.
pub(super) fn renamed(agent: &Agent) -> Option<Flow> {
    let mut flow = agent.flow.clone()?;
    let mut results = Results::default();
    for step in flow.definitions.values_mut() {
        step.when.iter_mut().for_each(|c| results.condition(c));
        results.statements(&mut step.body.0);
    }
    Some(flow)
}

impl Results {
    fn statements(&mut self, all: &mut [Statement]) {
        for statement in all {
            match statement {
                Statement::Set(set) => self.expr(&mut set.value),
                Statement::Respond(response) => {
                    response.text.iter_mut().for_each(|t| self.template(t));
                }
                Statement::Check { condition, .. } => self.condition(condition),
                Statement::If { branches } | Statement::Await { branches } => {
                    self.branches(branches);
                }
                Statement::Call(call) => self.call(call),
                Statement::Delegate(d) | Statement::Handoff(d) => {
                    d.bindings.iter_mut().for_each(|b| self.expr(&mut b.value));
                }
                Statement::Collect(collect) => {
                    collect.present.iter_mut().for_each(|t| self.template(t));
                    self.statements(&mut collect.on_success.0);
                    self.statements(&mut collect.on_failure.0);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, call: &mut Call) {
        call.with.iter_mut().for_each(|a| self.expr(&mut a.value));
        let tool = call.tool.value.clone();
        self.0.extend(call.result.as_ref().map(|name| (name.value.clone(), tool.clone())));
        self.0.insert(Name::new_static(LAST), tool);
        call.success_when.iter_mut().for_each(|c| self.condition(c));
        self.statements(&mut call.on_success.0);
        self.statements(&mut call.on_failure.0);
        self.branches(&mut call.on_result);
    }

    fn branches(&mut self, branches: &mut [Branch]) {
        for branch in branches {
            branch.condition.iter_mut().for_each(|c| self.condition(c));
            self.statements(&mut branch.body.0);
        }
    }

    fn condition(&self, condition: &mut Condition) {
        if let ConditionKind::Expr(expr) = &mut condition.kind {
            self.expr(expr);
        }
    }

    fn template(&self, template: &mut Template) {
        for part in &mut template.parts {
            match part {
                TemplatePart::Value { expr, .. }
                | TemplatePart::SingleBrace { expr, .. }
                | TemplatePart::Open { expr: Some(expr), .. } => self.expr(expr),
                _ => {}
            }
        }
    }

    fn expr(&self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Path(path) if !path.segments.is_empty() => {
                if let Some(tool) = self.0.get(&path.root.value) {
                    path.root.value = tool.clone();
                }
            }
            ExprKind::Path(_) | ExprKind::Literal(_) | ExprKind::Ellipsis => {}
            ExprKind::Template(text) => self.template(text),
            ExprKind::List(all)
            | ExprKind::And(all)
            | ExprKind::Or(all)
            | ExprKind::Call { args: all, .. } => all.iter_mut().for_each(|e| self.expr(e)),
            ExprKind::Object(entries) => {
                entries.iter_mut().filter_map(|e| e.value.as_mut()).for_each(|e| self.expr(e));
            }
            ExprKind::Method { receiver, args, .. } => {
                self.expr(receiver);
                args.iter_mut().for_each(|e| self.expr(e));
            }
            ExprKind::Member { base: one, .. }
            | ExprKind::Spread(one)
            | ExprKind::Unary { operand: one, .. }
            | ExprKind::IsSet { operand: one, .. } => self.expr(one),
            ExprKind::Binary { left, right, .. }
            | ExprKind::Subscript { base: left, index: right } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
        }
    }
}
