//! Random runs of a flow: an agent is executed statement by statement, with random choices of the user,
//! the tools and the model within their declarations. A state that a run reaches is possible; one that
//! very many runs do not reach is assumed to be impossible.

use super::states::{Domain, Test};
use agentir_bench::generate::Random;
use agentir_diagnostics::Span;
use agentir_eval::{Outcome, State, Value, evaluate};
use agentir_expr::{
    Condition, ConditionKind, Expr, ExprKind, Literal, Name, Template, TemplatePart, TypeKind,
    Visit,
};
use agentir_ir::{
    Agent, Body, Branch, Call, Flow, Jump, Node, Program, Statement, Step, Target, Tool,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximal number of steps of a run.
const STEPS: usize = 250;
/// The number of steps without waiting that counts as an endless loop.
const WITHOUT_WAITING: usize = 120;

/// The observations of runs.
#[derive(Debug, Default)]
pub struct Observed {
    /// The steps, with the number of runs that reached each.
    pub steps: BTreeMap<String, usize>,
    /// The unset variables that were read in text or as required arguments.
    pub unset: BTreeSet<String>,
    /// The unset variables that were read elsewhere.
    pub mentioned: BTreeSet<String>,
    /// Whether a run looped without waiting.
    pub never_waits: bool,
    /// The spans of executed assignments and jump targets.
    pub places: BTreeSet<Span>,
    /// The variables that were set in all runs that handed over; `None` if no run did.
    pub handed: Option<BTreeSet<String>>,
}

/// How tools behave in a run.
#[derive(Clone, Copy, PartialEq)]
enum Tools {
    Anyhow,
    Fail,
    Succeed,
}

/// The continuation of a statement.
enum On {
    Next,
    To(String),
    End,
}

/// Observes random runs of the flow of an agent. `given` are the variables that another agent passes.
/// `None` if the agent has no flow.
#[must_use]
pub fn explore(
    program: &Program,
    agent: &Agent,
    given: &[String],
    runs: usize,
) -> Option<Observed> {
    let flow = agent.flow.as_ref()?;
    let domain = Domain::of(program, agent);
    let (mut numbers, mut texts) = (vec![0.0, 1.0], vec!["~".to_owned()]);
    agent.walk(&mut |node| {
        let expr = match node {
            Node::Condition(condition, _) => condition.expr(),
            Node::Set(set) => Some(&set.value),
            _ => None,
        };
        let Some(expr) = expr else { return };
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Literal(Literal::Number(n)) => numbers.extend([n - 1.0, *n, n + 1.0]),
                ExprKind::Literal(Literal::String(text)) => texts.push(text.to_string()),
                _ => {}
            }
            Visit::Children
        });
    });
    let mut results: BTreeSet<String> = ["result", "input", "match"].map(str::to_owned).into();
    agent.walk(&mut |node| {
        if let Node::Call(call) = node {
            let name = call.result.as_ref().unwrap_or(&call.tool);
            results.insert(name.value.to_string());
        }
    });
    let mut seen = Observed::default();
    for run in 0..runs {
        let tools = match run % 4 {
            0 => Tools::Fail,
            1 => Tools::Succeed,
            _ => Tools::Anyhow,
        };
        let mut state = State::new();
        for (name, value) in &domain.first {
            state.set(name.as_str(), value.clone());
        }
        let random = Random::from_state(u64::try_from(run).unwrap_or(0) * 7919 + 1);
        let mut one = Run {
            program,
            agent,
            flow,
            numbers: &numbers,
            texts: &texts,
            domain: &domain,
            results: &results,
            state,
            random,
            tools,
            waited: 0,
            entered: BTreeMap::new(),
            repeated: BTreeMap::new(),
            seen: &mut seen,
        };
        for name in given {
            let value = one.any();
            one.state.set(name.as_str(), value);
        }
        // The fields of the agent may be filled at any time.
        for field in &agent.gather.fields {
            let value = one.of_name(&field.name.value);
            one.state.set(field.name.value.clone(), value);
        }
        one.run();
        // Further runs would observe the same.
        if seen.never_waits {
            break;
        }
    }
    Some(seen)
}

struct Run<'r> {
    program: &'r Program,
    agent: &'r Agent,
    flow: &'r Flow,
    numbers: &'r [f64],
    texts: &'r [String],
    domain: &'r Domain,
    /// The results of tools: no rule checks that they are read after the call.
    results: &'r BTreeSet<String>,
    state: State,
    random: Random,
    tools: Tools,
    /// Steps since the last wait.
    waited: usize,
    entered: BTreeMap<String, usize>,
    repeated: BTreeMap<usize, u32>,
    seen: &'r mut Observed,
}

impl<'r> Run<'r> {
    fn run(&mut self) {
        if matches!(self.body(&self.agent.on_start, None), On::End) {
            return;
        }
        let Some(mut at) = self.flow.entry().map(str::to_owned) else { return };
        let mut here: BTreeSet<String> = BTreeSet::new();
        for _ in 0..STEPS {
            let Some(step) = self.flow.definitions.get(at.as_str()) else { break };
            here.insert(at.clone());
            self.waited += 1;
            if self.waited > WITHOUT_WAITING {
                self.seen.never_waits = true;
                break;
            }
            match self.step(step) {
                On::To(step) => at = step,
                On::End => break,
                On::Next => match self.following(&at) {
                    Some(next) => at = next,
                    None => break,
                },
            }
        }
        for step in here {
            *self.seen.steps.entry(step).or_default() += 1;
        }
    }

    /// The step after another one.
    fn following(&self, at: &str) -> Option<String> {
        let orders = [&self.flow.sequence, &self.flow.steps];
        let (order, place) = orders
            .iter()
            .find_map(|order| Some((order, order.iter().position(|s| s.value == at)?)))?;
        order.get(place + 1).map(|s| s.value.to_string())
    }

    fn step(&mut self, step: &'r Step) -> On {
        if step.when.as_ref().is_some_and(|when| !self.holds(when)) {
            return On::Next;
        }
        let entered = self.entered.entry(step.name.value.to_string()).or_default();
        *entered += 1;
        if step
            .max_attempts
            .is_some_and(|most| f64::from(u32::try_from(*entered).unwrap_or(u32::MAX)) > most.0)
        {
            return step.on_exhausted.as_ref().map_or(On::Next, |jump| self.jump(jump, Some(step)));
        }
        if step.await_attachment.is_some() || step.human_approval.is_some() {
            self.waited = 0;
        }
        // The model takes over after messages and questions.
        let leads = step.body.0.iter().position(|s| {
            !matches!(
                s,
                Statement::Set(_)
                    | Statement::Clear { .. }
                    | Statement::Respond(_)
                    | Statement::Collect(_)
                    | Statement::Log { .. }
                    | Statement::Transform(_)
            )
        });
        let (first, rest) = step.body.0.split_at(leads.unwrap_or(step.body.0.len()));
        match self.statements(first, Some(step)) {
            On::Next => {}
            on => return on,
        }
        if step.reasoning_zone.is_some() {
            self.led_by_the_model();
        }
        self.statements(rest, Some(step))
    }

    /// A turn of the model, the user and the tools.
    fn led_by_the_model(&mut self) {
        self.waited = 0;
        let tools =
            self.agent.tools.iter().chain(self.program.libraries.iter().flat_map(|l| &l.tools));
        let tools: Vec<&Tool> = tools.collect();
        for tool in tools {
            if self.random.chance(70) {
                let value = self.result(Some(tool));
                self.state.set(tool.name.value.clone(), value);
            }
        }
        for variable in &self.agent.memory.session {
            if self.random.chance(30) {
                let value = self.any();
                self.state.set(variable.name.value.clone(), value);
            }
        }
    }

    /// A message or another action of the user.
    fn wait(&mut self, step: Option<&'r Step>) -> On {
        self.waited = 0;
        let mut said = self.texts[self.random.below(self.texts.len())].clone();
        if self.random.chance(30) {
            said = format!("{said} {}", self.texts[self.random.below(self.texts.len())]);
        }
        self.state.set("input", Value::from(said.as_str()));
        let mut bodies: Vec<&'r Body> = Vec::new();
        if let Some(step) = step {
            bodies.extend(step.digressions.iter().chain(&step.sub_intents).map(|d| &d.body));
            bodies.extend(step.on_action.iter().map(|a| &a.body));
        }
        bodies.extend(self.flow.global_digressions.iter().map(|d| &d.body));
        bodies.extend(self.agent.action_handlers.iter().map(|a| &a.body));
        if !bodies.is_empty() && self.random.chance(15) {
            let body = bodies[self.random.below(bodies.len())];
            return self.body(body, step);
        }
        let failures = self.agent.constraints.constraints.iter().filter_map(|c| c.on_fail.as_ref());
        let jumps: Vec<&'r Jump> =
            failures.flat_map(|f| f.then_step.iter().chain(&f.then_action)).collect();
        if !jumps.is_empty() && self.random.chance(5) {
            let jump = jumps[self.random.below(jumps.len())];
            return self.jump(jump, step);
        }
        On::Next
    }

    fn body(&mut self, body: &'r Body, step: Option<&'r Step>) -> On {
        self.statements(&body.0, step)
    }

    fn statements(&mut self, all: &'r [Statement], step: Option<&'r Step>) -> On {
        for statement in all {
            match self.statement(statement, step) {
                On::Next => {}
                on => return on,
            }
        }
        On::Next
    }

    fn statement(&mut self, statement: &'r Statement, step: Option<&'r Step>) -> On {
        match statement {
            Statement::Set(set) => {
                self.seen.places.insert(set.span);
                self.mentions(&set.value);
                let mut value =
                    evaluate(&set.value, &self.state, self.domain.dialect).unwrap_or_default();
                // The result of a tool or a pattern is set, with an unknown value.
                let null = matches!(set.value.kind, ExprKind::Literal(_));
                if !null && matches!(value, Value::Undefined | Value::Null) {
                    value = self.any();
                }
                let _ = self.state.set_path(&set.target, value);
            }
            Statement::Clear { variables } => {
                for name in variables {
                    self.state.set(name.value.clone(), Value::Undefined);
                }
            }
            Statement::Transform(transform) => {
                let list = Value::list(Vec::new()).unwrap_or_default();
                self.state.set(transform.target.value.clone(), list);
            }
            Statement::Respond(said) => {
                said.text.iter().for_each(|text| self.said(text));
                let template =
                    said.template.as_ref().and_then(|t| self.agent.templates.get(&t.value));
                template.iter().flat_map(|t| &t.default).for_each(|text| self.said(text));
            }
            Statement::Collect(collect) => {
                collect.present.iter().for_each(|text| self.said(text));
                for field in &collect.gather.fields {
                    if field.required || field.default.is_some() || self.random.chance(50) {
                        let value = self.of_name(&field.name.value);
                        self.state.set(field.name.value.clone(), value);
                    }
                }
                match self.wait(step) {
                    On::Next => {}
                    on => return on,
                }
                let well = self.random.chance(85);
                return self
                    .body(if well { &collect.on_success } else { &collect.on_failure }, step);
            }
            Statement::Call(call) => return self.call(call, step),
            Statement::Check { condition, otherwise } => {
                if !self.holds(condition) {
                    return otherwise.as_ref().map_or(On::Next, |jump| self.jump(jump, step));
                }
            }
            Statement::Await { branches } => {
                match self.wait(step) {
                    On::Next => {}
                    on => return on,
                }
                return self.branches(branches, step);
            }
            Statement::If { branches } => return self.branches(branches, step),
            Statement::Delegate(_) => self.waited = 0,
            Statement::Handoff(_) => {
                self.hand_over();
                return On::End;
            }
            Statement::Escalate { .. } => return On::End,
            Statement::Goto(jump) => return self.jump(jump, step),
            Statement::Repeat { jump, times } => {
                let again = self.repeated.entry(std::ptr::from_ref(jump) as usize).or_default();
                *again += 1;
                if *again <= *times {
                    return self.jump(jump, step);
                }
            }
            Statement::Other { .. } => self.waited = 0,
            Statement::Log { .. } | Statement::Instruct { .. } => {}
        }
        On::Next
    }

    /// The variables that could be passed to another agent.
    fn hand_over(&mut self) {
        let unset = |value: &Value| matches!(value, Value::Undefined | Value::Null);
        let set = self.state.variables().filter(|(_, value)| !unset(value));
        let set: BTreeSet<String> = set.map(|(name, _)| name.to_string()).collect();
        self.seen.handed = Some(match self.seen.handed.take() {
            Some(before) => before.intersection(&set).cloned().collect(),
            None => set,
        });
    }

    fn branches(&mut self, branches: &'r [Branch], step: Option<&'r Step>) -> On {
        for branch in branches {
            if branch.condition.as_ref().is_none_or(|c| self.holds(c)) {
                return self.body(&branch.body, step);
            }
        }
        On::Next
    }

    fn call(&mut self, call: &'r Call, step: Option<&'r Step>) -> On {
        let own = self.agent.tools.iter();
        let mut all = own.chain(self.program.libraries.iter().flat_map(|l| &l.tools));
        let tool = all.find(|t| t.name.value == call.tool.value);
        let parameters = tool.map_or(&[][..], |t| &t.parameters);
        let needed = |p: &agentir_ir::Parameter| p.required && p.default.is_none();
        if call.has_arguments {
            for (at, argument) in call.with.iter().enumerate() {
                let parameter = match &argument.name {
                    Some(name) => parameters.iter().find(|p| p.name.value == name.value),
                    None => parameters.get(at),
                };
                // Placeholders are printed.
                argument.value.visit(&mut |e| {
                    if let ExprKind::Template(text) = &e.kind {
                        self.said(text);
                    }
                    Visit::Children
                });
                // Fields of an object may be missing.
                if parameter.is_some_and(needed) && argument.value.as_path().is_some() {
                    self.reads(&argument.value);
                } else {
                    self.mentions(&argument.value);
                }
            }
        } else {
            for parameter in parameters.iter().filter(|p| needed(p)) {
                let name = &parameter.name.value;
                if self.state.get(name).is_none_or(|v| *v == Value::Undefined) {
                    self.seen.unset.insert(name.to_string());
                }
            }
        }
        let fails = match self.tools {
            Tools::Fail => true,
            Tools::Succeed => false,
            Tools::Anyhow => self.random.chance(40),
        };
        if fails && call.on_failure.is_empty() && call.on_result.is_empty() {
            let handlers = step.into_iter().flat_map(|s| &s.on_error);
            let handlers: Vec<_> = handlers.chain(&self.agent.error_handling.handlers).collect();
            if !handlers.is_empty() {
                let handler = handlers[self.random.below(handlers.len())];
                match self.body(&handler.body, step) {
                    On::Next => {}
                    on => return on,
                }
                if let Some(to) = &handler.backtrack_to {
                    return On::To(to.value.to_string());
                }
                return handler.then.as_ref().map_or(On::End, |jump| self.jump(jump, step));
            }
        }
        let result = self.result(tool);
        let name = call.result.as_ref().unwrap_or(&call.tool).value.clone();
        self.state.set("result", result.clone());
        self.state.set(name, result);
        let outcome = if fails { &call.on_failure } else { &call.on_success };
        match self.body(outcome, step) {
            On::Next => self.branches(&call.on_result, step),
            on => on,
        }
    }

    fn jump(&mut self, jump: &Jump, step: Option<&Step>) -> On {
        let this = || step.map_or(On::End, |s| On::To(s.name.value.to_string()));
        match &jump.target {
            Target::Step(name) | Target::Backtrack(Some(name)) => {
                self.seen.places.insert(name.span);
                On::To(name.value.to_string())
            }
            Target::Retry | Target::RetryStep => this(),
            Target::Continue
            | Target::Respond
            | Target::Resume
            | Target::Redact
            | Target::Delegate(_) => On::Next,
            Target::AskUser(_) => {
                self.waited = 0;
                On::Next
            }
            Target::Handoff(_) => {
                self.hand_over();
                On::End
            }
            _ => On::End,
        }
    }

    fn holds(&mut self, condition: &Condition) -> bool {
        match &condition.kind {
            ConditionKind::Expr(expr) => {
                self.mentions(expr);
                Test::Expr(expr).outcome(&self.state, self.domain.dialect) == Outcome::True
            }
            _ => self.random.chance(50),
        }
    }

    /// Prints a text, which reads the placeholders of visible blocks.
    fn said(&mut self, text: &Template) {
        // Whether each open block is visible; unknown for lists.
        let mut open: Vec<Option<bool>> = Vec::new();
        for part in &text.parts {
            match part {
                TemplatePart::Open { block, expr, .. } => {
                    let holds = expr.as_ref().map(|expr| {
                        let outcome = Test::Expr(expr).outcome(&self.state, self.domain.dialect);
                        outcome == Outcome::True
                    });
                    open.push(match block.value.as_str() {
                        "if" => holds,
                        "unless" => holds.map(|holds| !holds),
                        _ => None,
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
                TemplatePart::Value { expr, filters, .. } => {
                    if open.contains(&Some(false)) {
                        continue;
                    }
                    let given = filters.iter().any(|f| f.value == "default");
                    if open.contains(&None) || given {
                        self.mentions(expr);
                    } else {
                        self.reads(expr);
                    }
                }
                TemplatePart::SingleBrace { .. } => {}
            }
        }
    }

    /// A read that is harmless if the variable is unset, or not judged here.
    fn mentions(&mut self, expr: &Expr) {
        expr.paths(&mut |path| {
            let value = self.state.get(&path.root.value);
            if value.is_none_or(|v| matches!(v, Value::Undefined | Value::Null)) {
                self.seen.mentioned.insert(path.root.value.to_string());
            }
        });
    }

    /// A read that requires the variable to be set.
    fn reads(&mut self, expr: &Expr) {
        let mut guarded = false;
        let mut paths = Vec::new();
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Call { function, .. } => {
                    guarded |= ["COALESCE", "FIRST_NON_EMPTY", "DEFAULT"]
                        .contains(&function.value.as_str());
                }
                ExprKind::Conditional { .. } => guarded = true,
                ExprKind::Path(path) if path.namespace.is_none() => paths.push(path.clone()),
                _ => {}
            }
            Visit::Children
        });
        for path in paths.into_iter().filter(|_| !guarded) {
            let name = path.root.value.as_str();
            if self.results.contains(name) {
                continue;
            }
            if self.state.get(name).is_none_or(|v| matches!(v, Value::Undefined | Value::Null)) {
                self.seen.unset.insert(name.to_owned());
            }
        }
    }

    /// A value of a variable.
    fn of_name(&mut self, name: &Name) -> Value {
        match self.domain.of_name(name) {
            super::states::Values::Listed(all) if !all.is_empty() => {
                all[self.random.below(all.len())].clone()
            }
            super::states::Values::Bool => Value::Bool(self.random.chance(50)),
            super::states::Values::Number(low, high) => {
                let n = self.numbers[self.random.below(self.numbers.len())];
                Value::number(n.clamp(low, high)).unwrap_or_default()
            }
            super::states::Values::Text => self.text(),
            _ => self.any(),
        }
    }

    fn text(&mut self) -> Value {
        Value::from(self.texts[self.random.below(self.texts.len())].as_str())
    }

    fn any(&mut self) -> Value {
        match self.random.below(3) {
            0 => Value::Bool(self.random.chance(50)),
            1 => {
                let n = self.numbers[self.random.below(self.numbers.len())];
                Value::number(n).unwrap_or_default()
            }
            _ => self.text(),
        }
    }

    /// The result of a tool.
    fn result(&mut self, tool: Option<&Tool>) -> Value {
        let mut fields = BTreeMap::new();
        for field in tool.iter().filter_map(|t| t.returns.as_ref()).flat_map(|r| &r.fields) {
            let value = match &field.ty.kind {
                TypeKind::Named(name) => match name.as_str() {
                    "boolean" => Value::Bool(self.random.chance(50)),
                    "number" | "integer" => {
                        let n = self.numbers[self.random.below(self.numbers.len())];
                        Value::number(n).unwrap_or_default()
                    }
                    _ => self.text(),
                },
                TypeKind::Array(_) => {
                    let items = if self.random.chance(50) { vec![self.text()] } else { Vec::new() };
                    Value::list(items).unwrap_or_default()
                }
                TypeKind::Object(_) => Value::object(BTreeMap::new()).unwrap_or_default(),
            };
            fields.insert(field.name.value.clone(), value);
        }
        Value::object(fields).unwrap_or_default()
    }
}
