//! The consequences of reading an undefined variable, by context.

use super::locals::Constants;
use super::search::{Dataflow, MAX_DEPTH, MAX_PARTS};
use crate::calls::is_required;
use agentir_diagnostics::Span;
use agentir_eval::Value;
use agentir_expr::{
    Argument, BinaryOp, Expr, ExprKind, Literal, ParameterType, Path, Template, TemplatePart,
    UnaryOp, function,
};
use agentir_flow::cfg::{NodeKind, Origin};
use agentir_ir::{Call, Response, Statement, Tool};
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::cell::OnceCell;

/// The consequence of reading an undefined variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consequence {
    /// A message has a gap.
    Text,
    /// A tool is called without a required argument.
    Argument,
    /// Arithmetic on an unset value.
    Arithmetic,
    /// A comparison by order without a value to compare.
    Order,
    /// Another agent receives an unset value.
    Pass,
    /// An unset value is copied to another variable.
    Copy,
    /// A condition tests the variable, perhaps on purpose.
    Test,
}

impl Consequence {
    /// Whether the consequence is always harmful. The others may be intended.
    pub const fn is_certain(self) -> bool {
        matches!(self, Self::Text | Self::Argument | Self::Arithmetic | Self::Order)
    }
}

/// A node that may read a variable.
#[derive(Debug, Clone, Copy)]
pub struct UseSite {
    /// The node.
    pub node: NodeIndex,
    /// Whether a read there is always harmful.
    pub has_consequence: bool,
}

/// Collects the reads of one variable at a node, as far as they are reachable under the known
/// constants.
pub struct UseCollector<'r, 'a> {
    flow: &'r Dataflow<'a>,
    /// The variable; `None` to collect the names of all variables that are read, and the
    /// consequences.
    name: Option<&'r str>,
    names: Vec<(SmolStr, Consequence)>,
    /// The constants before the node.
    before: &'r Constants,
    /// The same constants with the variable unset; computed on demand.
    constants: OnceCell<Constants>,
    found: Vec<(Consequence, Span)>,
    /// The current depth of the expression.
    depth: u8,
}

impl<'r, 'a> UseCollector<'r, 'a> {
    /// Returns the reads of `name` at a node, given the constants before it. The variable itself is
    /// unset.
    pub fn at(
        flow: &'r Dataflow<'a>,
        node: NodeIndex,
        name: &'r str,
        before: &'r Constants,
        tool: &dyn Fn(&str) -> Option<&'a Tool>,
    ) -> Vec<(Consequence, Span)> {
        let mut reads = Self::new(flow, Some(name), before);
        if let Some(at) = flow.cfg.node(node) {
            reads.origin(at.kind, at.origin, tool);
        }
        if !flow.defines(node, name) {
            reads.tests(node);
        }
        reads.found.sort_by_key(|(consequence, span)| (span.file, span.start, *consequence));
        reads.found.dedup_by_key(|(_, span)| *span);
        reads.found
    }

    /// Returns the nodes of an agent that may read each variable, in order. Over-approximates
    /// [`Self::at`].
    pub fn places(
        flow: &Dataflow<'a>,
        tool: &dyn Fn(&str) -> Option<&'a Tool>,
    ) -> FxHashMap<SmolStr, Vec<UseSite>> {
        let nothing = Constants::default();
        let mut all: FxHashMap<SmolStr, Vec<UseSite>> = FxHashMap::default();
        for node in flow.nodes() {
            let mut reads = UseCollector::new(flow, None, &nothing);
            if let Some(at) = flow.cfg.node(node) {
                reads.origin(at.kind, at.origin, tool);
            }
            reads.tests(node);
            for (name, consequence) in reads.names {
                let has_consequence = consequence.is_certain();
                let places = all.entry(name).or_default();
                match places.last_mut().filter(|last| last.node == node) {
                    Some(last) => last.has_consequence |= has_consequence,
                    None => places.push(UseSite { node, has_consequence }),
                }
            }
        }
        all
    }

    fn new(flow: &'r Dataflow<'a>, name: Option<&'r str>, before: &'r Constants) -> Self {
        let (constants, names, found) = (OnceCell::new(), Vec::new(), Vec::new());
        Self { flow, name, names, before, constants, found, depth: 0 }
    }

    /// Whether a name is that of the variable. In collecting mode, records the name.
    fn is_variable_name(&mut self, name: &str, consequence: Consequence) -> bool {
        if self.name.is_none() {
            self.names.push((name.into(), consequence));
        }
        self.name == Some(name)
    }

    fn constants(&self) -> &Constants {
        let Some(name) = self.name else { return self.before };
        if self.before.get(name) == Some(&Value::Undefined) {
            return self.before;
        }
        self.constants.get_or_init(|| {
            let mut constants = self.before.clone();
            constants.insert(name.into(), Value::Undefined);
            constants
        })
    }

    fn origin(
        &mut self,
        kind: NodeKind,
        origin: Origin<'a>,
        tool: &dyn Fn(&str) -> Option<&'a Tool>,
    ) {
        match (origin, kind) {
            (Origin::Set(set) | Origin::Statement(Statement::Set(set)), NodeKind::Set) => {
                self.expr(&set.value, Consequence::Copy);
            }
            (Origin::Statement(Statement::Respond(response)), _) => self.response(response),
            (Origin::Statement(Statement::Collect(c)), NodeKind::Say) => {
                self.optional_template(&c.present)
            }
            (Origin::Statement(Statement::Collect(c)), _) => {
                self.optional_template(&c.gather.prompt);
                c.gather.fields.iter().for_each(|f| self.optional_template(&f.prompt));
            }
            // Who is asked to confirm a call sees its arguments.
            (Origin::Statement(Statement::Call(call)), NodeKind::Call | NodeKind::Confirm) => {
                self.call(call, tool(&call.tool.value));
            }
            (Origin::Statement(Statement::Transform(t)), _) => {
                self.expr(&t.source, Consequence::Copy)
            }
            (Origin::Statement(Statement::Delegate(d) | Statement::Handoff(d)), kind)
                if kind != NodeKind::Return =>
            {
                let given = d.bindings.iter().filter(|b| !b.by_reference);
                given.for_each(|b| self.expr(&b.value, Consequence::Pass));
            }
            (Origin::Failure(failure), NodeKind::Say) => self.optional_template(&failure.message),
            (Origin::Completion(done), NodeKind::Say) => self.optional_template(&done.respond),
            (Origin::HumanOutcome(outcome), NodeKind::Say) => {
                self.optional_template(&outcome.respond)
            }
            (Origin::Trigger(trigger), NodeKind::Say) => self.optional_template(&trigger.respond),
            (Origin::Handler(handler), NodeKind::Say) => self.optional_template(&handler.respond),
            (Origin::Handoff(handoff), NodeKind::Handoff) => {
                for name in handoff.context.pass.iter().map(|p| &p.name) {
                    if self
                        .is_variable_name(crate::variables::first(&name.value), Consequence::Pass)
                    {
                        self.found.push((Consequence::Pass, name.span));
                    }
                }
                let given = handoff.context.bindings.iter().filter(|b| !b.by_reference);
                given.for_each(|b| self.expr(&b.value, Consequence::Pass));
            }
            (Origin::Rule(rule), NodeKind::Handoff) => {
                for name in &rule.pass {
                    if self
                        .is_variable_name(crate::variables::first(&name.value), Consequence::Pass)
                    {
                        self.found.push((Consequence::Pass, name.span));
                    }
                }
            }
            (Origin::Delegate(delegate), NodeKind::Delegate) => {
                delegate.input.iter().for_each(|(_, value)| self.expr(value, Consequence::Pass));
            }
            _ => {}
        }
    }

    /// Collects the reads in the conditions of outgoing edges, except those that an earlier
    /// condition decides.
    fn tests(&mut self, node: NodeIndex) {
        let mut seen: FxHashSet<Span> = FxHashSet::default();
        let tests: Vec<_> = self
            .flow
            .cfg
            .successors(node)
            .filter_map(|(_, edge)| {
                let cfg = &self.flow.cfg;
                let last = cfg.last_literal(edge.guard)?;
                // Without a variable there are no constants that decide a condition.
                if self.name.is_none() {
                    return Some(last.test);
                }
                let before = cfg.literals_backwards(cfg.guard_prefix(edge.guard));
                let comes = before.take(128).all(|literal| {
                    let holds =
                        literal.test.expr().and_then(|e| self.flow.holds(e, self.constants()));
                    holds.is_none_or(|holds| holds == literal.holds)
                });
                comes.then_some(last.test)
            })
            .collect();
        for test in tests {
            if seen.insert(test.span()) {
                test.expr().into_iter().for_each(|e| self.expr(e, Consequence::Test));
            }
        }
    }

    fn call(&mut self, call: &'a Call, tool: Option<&'a Tool>) {
        for (at, Argument { name, value }) in call.with.iter().enumerate() {
            let parameter = tool.and_then(|t| match name {
                Some(name) => t.parameters.iter().find(|p| p.name.value == name.value),
                None => t.parameters.get(at),
            });
            let required = parameter.is_some_and(is_required);
            self.expr(value, if required { Consequence::Argument } else { Consequence::Copy });
        }
        // A call without arguments reads variables named like the parameters.
        let taken = tool.filter(|_| !call.has_arguments).into_iter().flat_map(|t| &t.parameters);
        for parameter in taken.filter(|p| is_required(p)) {
            if self.is_variable_name(&parameter.name.value, Consequence::Argument) {
                self.found.push((Consequence::Argument, call.tool.span));
            }
        }
    }

    fn response(&mut self, response: &Response) {
        self.optional_template(&response.text);
        let Some(agent) = self.flow.cfg.agent(self.flow.agent).map(|p| p.agent) else { return };
        // A read in a shared template is reported where the template is used.
        let named =
            response.template.as_ref().and_then(|t| Some((t, agent.templates.get(&t.value)?)));
        if let Some((name, template)) = named {
            let before = self.found.len();
            template.texts().for_each(|t| self.template(t));
            if self.found.len() > before {
                self.found.truncate(before);
                self.found.push((Consequence::Text, name.span));
            }
        }
    }

    fn optional_template(&mut self, text: &Option<Template>) {
        if let Some(text) = text {
            self.template(text);
        }
    }

    /// Collects the reads in the placeholders of a template, except those in blocks that are not
    /// rendered.
    fn template(&mut self, text: &Template) {
        // Whether each open block is rendered; the body of `each` is rendered for every item.
        let mut open: Vec<Option<bool>> = Vec::new();
        for agent_cfg in &text.parts {
            let shown = open.iter().all(|block| *block != Some(false));
            match agent_cfg {
                TemplatePart::Value { expr, filters, .. }
                    if shown && !filters.iter().any(|f| f.value == "default") =>
                {
                    self.expr(expr, Consequence::Text);
                }
                TemplatePart::SingleBrace { expr, .. } if shown => {
                    self.expr(expr, Consequence::Text)
                }
                TemplatePart::Open { block, expr, .. } => {
                    let holds = expr.as_ref().and_then(|e| self.flow.holds(e, self.constants()));
                    open.push(match block.value.as_str() {
                        "if" => holds,
                        "unless" => holds.map(|holds| !holds),
                        // An unset list has no items.
                        _ => expr.as_ref().and_then(|e| self.is_variable(e)).map(|()| false),
                    });
                }
                TemplatePart::Else { .. } => {
                    if let Some(last) = open.last_mut() {
                        *last = last.map(|shown| !shown);
                    }
                }
                TemplatePart::Close { .. } => {
                    open.pop();
                }
                _ => {}
            }
        }
    }

    fn is_variable(&mut self, expr: &Expr) -> Option<()> {
        expr.as_path().is_some_and(|p| self.is_path_of(p, Consequence::Test)).then_some(())
    }

    fn is_path_of(&mut self, path: &Path, consequence: Consequence) -> bool {
        path.namespace.as_ref().is_none_or(|n| n.value == "variables")
            && self.is_variable_name(&path.root.value, consequence)
    }

    /// Collects the reads in an expression. `consequence` is that of its own value being unset.
    ///
    /// Very deep expressions are not visited.
    fn expr(&mut self, expr: &Expr, consequence: Consequence) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.of_kind(expr, consequence);
            self.depth -= 1;
        }
    }

    fn of_kind(&mut self, expr: &Expr, consequence: Consequence) {
        match &expr.kind {
            ExprKind::Path(path) if self.is_path_of(path, consequence) => {
                self.found.push((consequence, expr.span))
            }
            ExprKind::Literal(_)
            | ExprKind::Path(_)
            | ExprKind::Ellipsis
            | ExprKind::IsSet { .. } => {}
            ExprKind::And(all) | ExprKind::Or(all) if all.len() > MAX_PARTS => {}
            ExprKind::And(all) => self.short_circuit(all, false),
            ExprKind::Or(all) => self.short_circuit(all, true),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.expr(condition, Consequence::Test);
                let holds = self.flow.holds(condition, self.constants());
                if holds != Some(false) {
                    self.expr(then, consequence);
                }
                if holds != Some(true) {
                    self.expr(otherwise, consequence);
                }
            }
            ExprKind::Unary { op, operand } => {
                let inner = match op {
                    UnaryOp::Negate | UnaryOp::Plus => Consequence::Arithmetic,
                    UnaryOp::Not | UnaryOp::IsNumber => Consequence::Test,
                };
                self.expr(operand, inner);
            }
            ExprKind::Binary { op, left, right } => self.binary(expr, *op, left, right),
            ExprKind::Call { function: name, args } => {
                self.function(&name.value, args, consequence)
            }
            ExprKind::Method { receiver, args, .. } => {
                self.expr(receiver, consequence.max(Consequence::Copy));
                args.iter().for_each(|a| self.expr(a, Consequence::Copy));
            }
            ExprKind::List(items) => {
                items.iter().for_each(|e| self.expr(e, consequence.max(Consequence::Copy)))
            }
            ExprKind::Object(entries) => {
                for entry in entries {
                    match &entry.value {
                        Some(value) => self.expr(value, consequence.max(Consequence::Copy)),
                        None => {
                            let consequence = consequence.max(Consequence::Copy);
                            if self.is_variable_name(&entry.key.value, consequence) {
                                self.found.push((consequence, entry.key.span));
                            }
                        }
                    }
                }
            }
            ExprKind::Subscript { base, index } => {
                self.expr(base, consequence);
                self.expr(index, Consequence::Copy);
            }
            ExprKind::Member { base, .. } | ExprKind::Spread(base) => self.expr(base, consequence),
            ExprKind::Template(text) => self.template(text),
        }
    }

    /// Collects the reads in the operands up to the deciding one.
    fn short_circuit(&mut self, parts: &[Expr], decides: bool) {
        for agent_cfg in parts {
            self.expr(agent_cfg, Consequence::Test);
            if self.flow.holds(agent_cfg, self.constants()) == Some(decides) {
                return;
            }
        }
    }

    fn binary(&mut self, whole: &Expr, op: BinaryOp, left: &Expr, right: &Expr) {
        use BinaryOp as Op;
        let inner = match op {
            op if op.is_arithmetic() => Consequence::Arithmetic,
            op if op.is_order() => {
                // If it is false, the comparison does what most authors expect.
                match self.flow.holds(whole, self.constants()) {
                    Some(false) => Consequence::Test,
                    _ => Consequence::Order,
                }
            }
            Op::Implies => {
                self.expr(left, Consequence::Test);
                if self.flow.holds(left, self.constants()) != Some(false) {
                    self.expr(right, Consequence::Test);
                }
                return;
            }
            _ => Consequence::Test,
        };
        let is_null =
            |e: &Expr| matches!(&e.kind, ExprKind::Literal(Literal::Null | Literal::Undefined));
        if inner == Consequence::Test && (is_null(left) || is_null(right)) {
            return;
        }
        self.expr(left, inner);
        self.expr(right, inner);
    }

    fn function(&mut self, name: &str, args: &[Expr], consequence: Consequence) {
        // Functions for values that may be unset.
        const ASK: &[&str] =
            &["COALESCE", "FIRST_NON_EMPTY", "IS_ARRAY", "IS_NUMBER", "IS_STRING", "has"];
        if ASK.iter().any(|f| f.eq_ignore_ascii_case(name)) {
            return;
        }
        let constants = function(name);
        for (at, arg) in args.iter().enumerate() {
            let numeric = constants
                .and_then(|f| f.parameters.get(at).or(f.parameters.last()))
                .is_some_and(|p| p.ty == ParameterType::Number);
            self.expr(
                arg,
                if numeric { Consequence::Arithmetic } else { consequence.max(Consequence::Copy) },
            );
        }
    }
}
