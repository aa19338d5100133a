//! The ways through a flow: what is asked, called and said on each, and under which conditions.

use crate::emit::names::{NameSyntax, Namespace};
use crate::emit::phrase::{is_message, is_user_message, pattern_words};
use crate::lower::required_field;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{
    BinaryOp, Condition, Expr, ExprKind, Literal, Name, Path, Template, UnaryOp, Visit,
};
use agentir_ir::{
    Activation, Agent, Body, Branch, Call, Collect, Flow, GatherField, Node, Response, SetVariable,
    Statement, Step, Target, ToolType,
};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use smol_str::{SmolStr, format_smolstr};

/// The most ways of a flow that are followed: beyond, no list of conditions is readable.
const MAX_WAYS: usize = 24;

/// The most statements on a way.
const MAX_STATEMENTS: usize = 2_000;

/// Why a flow stays one.
pub type Reason = String;

/// Something on a way.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A field is asked for, by its number.
    Ask(usize),
    /// A tool is called, and not known to have failed.
    Call(&'a Call),
    /// The call before has failed.
    Failed(&'a Call),
    /// A condition, by its number, holds or does not.
    Holds(usize, bool),
    /// Something is said.
    Say(&'a Response),
    /// Something is said with the question that follows.
    Present(&'a Template),
    /// A variable is set.
    Set(&'a SetVariable),
}

impl Event<'_> {
    /// Whether something is said.
    #[must_use]
    pub const fn is_said(&self) -> bool {
        matches!(self, Self::Say(_) | Self::Present(_))
    }
}

/// A condition that decides where a way leads, and its opposite.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// That it holds.
    pub holds: Expr,
    /// That it does not.
    pub fails: Expr,
}

/// A field that is asked for.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The field, as the agent has to ask for it.
    pub field: GatherField,
    /// The step that asks.
    step: &'a str,
    /// Whether it is the answer to a question of yes or no.
    answer: bool,
}

impl Asked<'_> {
    /// Whether it is the answer to a question of yes or no.
    #[must_use]
    pub const fn is_answer(&self) -> bool {
        self.answer
    }

    /// Whether the conversation cannot go on without it.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        let field = &self.field;
        field.required
            && field.default.is_none()
            && field.prompt_mode.is_none_or(|mode| mode == "ask")
            && !matches!(field.activation, Some(Activation::Optional))
    }
}

/// The ways through a flow.
#[derive(Debug)]
pub struct Ways<'a> {
    agent: &'a Agent,
    flow: &'a Flow,
    /// The steps of a profile in place of the flow's.
    replaced: Option<&'a IndexMap<SmolStr, Step>>,
    names: Namespace,
    /// The fields, by their numbers.
    pub asked: Vec<Asked<'a>>,
    /// The conditions, by their numbers.
    pub decisions: Vec<Decision>,
    /// The conditions that are the answers to questions of yes or no, with the numbers of these.
    answers: Vec<(usize, usize)>,
    /// What happens on each way.
    pub all: Vec<Vec<Event<'a>>>,
    /// How many statements were passed.
    passed: usize,
}

/// Where a way has come to.
#[derive(Clone)]
struct At<'a> {
    step: &'a Step,
    /// What is left of the step, outermost first.
    rest: Vec<&'a [Statement]>,
    visited: Vec<&'a str>,
    events: Vec<Event<'a>>,
}

impl<'a> Ways<'a> {
    /// The ways of a flow that only collects, calls and answers. `replaced` are the steps of a profile.
    ///
    /// # Errors
    /// The reason, if it does more.
    pub fn of(
        agent: &'a Agent,
        flow: &'a Flow,
        replaced: Option<&'a IndexMap<SmolStr, Step>>,
    ) -> Result<Self, Reason> {
        let names = names_of(agent);
        let mut ways = Self {
            agent,
            flow,
            replaced,
            names,
            asked: Vec::new(),
            decisions: Vec::new(),
            answers: Vec::new(),
            all: Vec::new(),
            passed: 0,
        };
        if !flow.global_digressions.is_empty() {
            return Err("it has digressions".to_owned());
        }
        let entry = flow.entry().and_then(|name| ways.step(name));
        let first = entry.ok_or("it has no first step")?;
        let at =
            At { step: first, rest: vec![&first.body.0], visited: Vec::new(), events: Vec::new() };
        let at = ways.enter(at, first)?;
        ways.follow(at)?;
        Ok(ways)
    }

    fn step(&self, name: &str) -> Option<&'a Step> {
        let own = self.replaced.and_then(|steps| steps.get(name));
        own.or_else(|| self.flow.definitions.get(name))
    }

    /// Begins a step.
    fn enter(&self, mut at: At<'a>, step: &'a Step) -> Result<At<'a>, Reason> {
        let name = step.name.value.as_str();
        if at.visited.contains(&name) {
            return Err(format!("it goes back to the step `{name}`"));
        }
        // Those of an import are for its editor.
        let dialect = self.agent.metadata.dialect;
        let has_settings =
            dialect.traits().is_authored && step.extensions.0.contains_key(dialect.id());
        let more = [
            (step.when.is_some(), "is left out under a condition"),
            (step.reasoning_zone.is_some(), "leaves the conversation to the model already"),
            (step.max_attempts.is_some() || step.on_exhausted.is_some(), "counts attempts"),
            (
                !step.digressions.is_empty() || !step.sub_intents.is_empty(),
                "answers something else in between",
            ),
            (!step.on_action.is_empty(), "handles buttons"),
            (!step.on_error.is_empty(), "handles errors of its own"),
            (step.await_attachment.is_some(), "waits for a file"),
            (step.human_approval.is_some(), "waits for an approval"),
            (has_settings, "has settings that only a step has"),
        ];
        if let Some((_, does)) = more.iter().find(|(does, _)| *does) {
            return Err(format!("the step `{name}` {does}"));
        }
        at.visited.push(name);
        at.step = step;
        at.rest = vec![&step.body.0];
        Ok(at)
    }

    /// The step that follows one without a jump.
    fn following(&self, step: &Step) -> Option<&'a Step> {
        let order = match self.flow.sequence.is_empty() {
            true => &self.flow.steps,
            false => &self.flow.sequence,
        };
        let here = order.iter().position(|name| name.value == step.name.value)?;
        self.step(&order.get(here + 1)?.value)
    }

    fn follow(&mut self, mut at: At<'a>) -> Result<(), Reason> {
        loop {
            self.passed += 1;
            if self.passed > MAX_STATEMENTS || self.all.len() > MAX_WAYS {
                return Err("it has too many ways".to_owned());
            }
            let Some(statements) = at.rest.pop() else {
                let Some(next) = self.following(at.step) else {
                    return Err(format!("the step `{}` does not end it", at.step.name));
                };
                at = self.enter(at, next)?;
                continue;
            };
            let Some((statement, rest)) = statements.split_first() else { continue };
            at.rest.push(rest);
            match statement {
                Statement::Respond(response) => {
                    said(response)?;
                    at.events.push(Event::Say(response));
                }
                Statement::Set(set) => at.events.push(Event::Set(set)),
                Statement::Collect(collect) => self.collect(&mut at, collect)?,
                Statement::Call(call) => return self.call(at, call),
                Statement::If { branches } => return self.branches(&at, branches),
                Statement::Await { branches } => return self.answer(at, branches),
                Statement::Check { condition, otherwise } => {
                    let decision = self.decision(&at, condition)?;
                    let mut fails = at.clone();
                    fails.events.push(Event::Holds(decision, false));
                    match otherwise.as_ref().map(|jump| &jump.target) {
                        Some(target) => self.go(fails, target)?,
                        None => self.follow(fails)?,
                    }
                    at.events.push(Event::Holds(decision, true));
                }
                Statement::Goto(jump) => return self.go(at, &jump.target),
                other => return Err(more_than_a_dialog(other)),
            }
        }
    }

    fn go(&mut self, at: At<'a>, target: &Target) -> Result<(), Reason> {
        match target {
            Target::Complete => {
                self.all.push(at.events);
                Ok(())
            }
            Target::Step(name) => {
                let step = self.step(&name.value);
                let step = step.ok_or_else(|| format!("there is no step `{}`", name.value))?;
                let at = self.enter(at, step)?;
                self.follow(at)
            }
            Target::Escalate => Err("it hands over to a person".to_owned()),
            Target::Handoff(_) | Target::Delegate(_) => Err("it leads to another agent".to_owned()),
            _ => Err(format!("the step `{}` jumps", at.step.name)),
        }
    }

    fn collect(&mut self, at: &mut At<'a>, collect: &'a Collect) -> Result<(), Reason> {
        let step = at.step.name.value.as_str();
        let gather = &collect.gather;
        let more = collect.complete_when.is_some()
            || collect.corrections.is_some()
            || !collect.on_failure.is_empty()
            // The question of one field is the question of all.
            || (gather.prompt.is_some() && gather.fields.len() != 1)
            || gather.message_key.is_some()
            || !gather.correction_patterns.is_empty();
        if more {
            return Err(format!(
                "the step `{step}` says how it collects, or what follows if it cannot"
            ));
        }
        at.events.extend(collect.present.as_ref().map(Event::Present));
        for field in &gather.fields {
            let prompt = field.prompt.clone().or_else(|| gather.prompt.clone());
            let number = self.asked(step, &GatherField { prompt, ..field.clone() })?;
            at.events.push(Event::Ask(number));
        }
        at.rest.push(&collect.on_success.0);
        Ok(())
    }

    /// The question of yes or no that a condition, by its number, is the answer to.
    #[must_use]
    pub fn question_of(&self, decision: usize) -> Option<usize> {
        self.answers.iter().find(|(own, _)| *own == decision).map(|(_, field)| *field)
    }

    /// The number of a field.
    fn asked(&mut self, step: &'a str, field: &GatherField) -> Result<usize, Reason> {
        let name = &field.name.value;
        if matches!(field.activation, Some(Activation::When { .. })) {
            return Err(format!("`{name}` is asked for under a condition of its own"));
        }
        let mut known = self.asked.iter().enumerate();
        if let Some((number, one)) = known.find(|(_, one)| one.field.name.value == *name) {
            return match one.step == step {
                true => Ok(number),
                false => Err(format!("`{name}` is asked for by two steps")),
            };
        }
        let own = self.agent.gather.fields.iter().find(|own| own.name.value == *name);
        let field = match own {
            Some(own) if says_nothing(field) => own,
            Some(_) => {
                return Err(format!("the step `{step}` asks for `{name}` otherwise than `GATHER`"));
            }
            None => field,
        };
        self.asked.push(Asked { field: field.clone(), step, answer: false });
        Ok(self.asked.len() - 1)
    }

    fn call(&mut self, mut at: At<'a>, call: &'a Call) -> Result<(), Reason> {
        let tool = &call.tool.value;
        if call.success_when.is_some() {
            return Err(format!("it says itself whether `{tool}` has succeeded"));
        }
        let declared = self.agent.tools.iter().find(|one| one.name.value == *tool);
        let Some(declared) = declared else {
            return Err(format!("`{tool}` is declared elsewhere"));
        };
        if declared.tool_type == Some(ToolType::Sandbox) {
            return Err(format!("it runs the script `{tool}`"));
        }
        let renames = call.result.as_ref().filter(|name| name.value != *tool);
        if let Some(result) = renames
            && self.agent.memory.session.iter().any(|own| own.name.value == result.value)
        {
            return Err(format!("it stores the result of `{tool}` in `{result}`"));
        }
        if declared.returns.is_none() {
            return Err(format!("nothing says what `{tool}` returns"));
        }
        if !call.on_failure.is_empty() {
            if !call.on_result.is_empty() {
                return Err(format!("`{tool}` has branches beside what follows a failure"));
            }
            let mut failed = at.clone();
            failed.events.push(Event::Failed(call));
            failed.rest.push(&call.on_failure.0);
            let before = self.all.len();
            self.follow(failed)?;
            let ways = self.all.get(before..).unwrap_or_default();
            let goes_on = |way: &Vec<Event<'_>>| {
                let behind = way.iter().skip_while(|event| !matches!(event, Event::Failed(_)));
                behind.skip(1).any(|event| !matches!(event, Event::Say(_)))
            };
            if ways.iter().any(goes_on) {
                return Err(format!("it goes on in another way when `{tool}` fails"));
            }
        }
        at.events.push(Event::Call(call));
        if !call.on_result.is_empty() {
            let mut behind = at;
            behind.rest.push(&call.on_success.0);
            // What follows success comes before the branches.
            return match call.on_success.is_empty() {
                true => self.branches(&behind, &call.on_result),
                false => Err(format!("`{tool}` has branches beside what follows success")),
            };
        }
        at.rest.push(&call.on_success.0);
        self.follow(at)
    }

    /// Follows each of the branches.
    fn branches(&mut self, at: &At<'a>, branches: &'a [Branch]) -> Result<(), Reason> {
        let mut passed = Vec::new();
        let mut has_else = false;
        for branch in branches {
            let mut here = at.clone();
            here.events.extend(passed.iter().copied());
            match &branch.condition {
                Some(condition) => {
                    let decision = self.decision(at, condition)?;
                    here.events.push(Event::Holds(decision, true));
                    passed.push(Event::Holds(decision, false));
                }
                None => has_else = true,
            }
            here.rest.push(&branch.body.0);
            self.follow(here)?;
            if has_else {
                return Ok(());
            }
        }
        let mut here = at.clone();
        here.events.extend(passed);
        self.follow(here)
    }

    /// The number of a condition.
    fn decision(&mut self, at: &At<'a>, condition: &Condition) -> Result<usize, Reason> {
        let holds = condition.expr().map(|holds| by_tools(holds.clone(), &at.events));
        let Some(holds) = holds else {
            return Err(format!("the model decides whether {}", condition.text.value));
        };
        let mut reads_message = false;
        holds.paths(&mut |path| {
            reads_message |= is_user_message(path) || matches!(path.root.value.as_str(), "intent");
        });
        let mut computed = false;
        holds.visit(&mut |one| {
            computed |= matches!(one.kind, ExprKind::Ellipsis);
            Visit::Children
        });
        if reads_message || computed {
            return Err("it branches on the words of a message".to_owned());
        }
        let fails = negation(&holds).ok_or("its conditions are too long")?;
        let decision = Decision { holds, fails };
        Ok(self.numbered(decision))
    }

    fn numbered(&mut self, decision: Decision) -> usize {
        let known = self.decisions.iter().position(|one| *one == decision);
        known.unwrap_or_else(|| {
            self.decisions.push(decision);
            self.decisions.len() - 1
        })
    }

    /// A question that the user answers by yes or no.
    fn answer(&mut self, mut at: At<'a>, branches: &'a [Branch]) -> Result<(), Reason> {
        let step = at.step.name.value.as_str();
        let open = || format!("the step `{step}` branches on what the user answers");
        let (mut yes, mut no): (Option<&'a Body>, Option<&'a Body>) = (None, None);
        for branch in branches {
            let Some(condition) = &branch.condition else {
                let repeats = matches!(
                    branch.body.0.as_slice(),
                    [Statement::Goto(jump)]
                        if matches!(&jump.target, Target::Step(to) if to.value == *step)
                );
                if !repeats && no.is_none() {
                    no = Some(&branch.body);
                } else if !repeats {
                    return Err(open());
                }
                continue;
            };
            let words = condition.expr().and_then(answers).ok_or_else(open)?;
            let has = |word: &str| words.iter().any(|one| one.eq_ignore_ascii_case(word));
            let side = match (has("yes"), has("no")) {
                (true, false) => &mut yes,
                (false, true) => &mut no,
                _ => return Err(open()),
            };
            if side.replace(&branch.body).is_some() {
                return Err(open());
            }
        }
        let (Some(yes), Some(no)) = (yes, no) else { return Err(open()) };
        let Some(Event::Say(question)) = at.events.pop() else {
            return Err(format!("the step `{step}` waits for an answer without asking"));
        };
        let known = self.asked.iter().position(|one| one.step == step && one.answer);
        let number = match known {
            Some(number) => number,
            None => {
                let prompt = self.agent.response_text(question).cloned();
                let prompt =
                    prompt.ok_or_else(|| format!("the step `{step}` asks without words"))?;
                let name = format_smolstr!("{step}_confirmed");
                let name = self.names.claim(&["confirmed", &name]);
                let field = yes_or_no(name, prompt, at.step.name.span);
                self.asked.push(Asked { field, step, answer: true });
                self.asked.len() - 1
            }
        };
        let decision = self.confirmed(number)?;
        at.events.push(Event::Ask(number));
        for (body, holds) in [(yes, true), (no, false)] {
            let mut here = at.clone();
            here.events.push(Event::Holds(decision, holds));
            here.rest.push(&body.0);
            self.follow(here)?;
        }
        Ok(())
    }

    /// The number of the condition that the user has said yes.
    fn confirmed(&mut self, asked: usize) -> Result<usize, Reason> {
        let name = self.asked.get(asked).map(|one| one.field.name.clone());
        let name = name.ok_or("it asks for nothing")?;
        let is = |value: bool| {
            let left = Expr::path(Path::variable(name.clone()), name.span);
            let right = Expr::literal(Literal::Bool(value), name.span);
            let (op, left, right) = (BinaryOp::Equal, Box::new(left), Box::new(right));
            Expr::new(ExprKind::Binary { op, left, right }, name.span).ok()
        };
        let (Some(holds), Some(fails)) = (is(true), is(false)) else {
            return Err("it branches on words".to_owned());
        };
        let decision = self.numbered(Decision { holds, fails });
        self.answers.push((decision, asked));
        Ok(decision)
    }
}

/// The names that an agent has for variables, fields and tools, and all others that it reads or sets.
#[must_use]
pub fn names_of(agent: &Agent) -> Namespace {
    let mut names = Namespace::of(NameSyntax::Identifier);
    let mut taken: FxHashSet<SmolStr> = FxHashSet::default();
    taken.extend(agent.gather.fields.iter().map(|field| field.name.value.clone()));
    taken.extend(agent.memory.session.iter().map(|variable| variable.name.value.clone()));
    taken.extend(agent.tools.iter().map(|tool| tool.name.value.clone()));
    agent.walk(&mut |node| match node {
        Node::Expr(expr) => expr.paths(&mut |path| {
            taken.insert(path.root.value.clone());
        }),
        Node::Condition(condition, _) => {
            if let Some(expr) = condition.expr() {
                expr.paths(&mut |path| {
                    taken.insert(path.root.value.clone());
                });
            }
        }
        Node::Template(template) => template.exprs(&mut |expr| {
            expr.paths(&mut |path| {
                taken.insert(path.root.value.clone());
            });
        }),
        Node::Set(set) => {
            taken.insert(set.target.root.value.clone());
        }
        Node::Field(field) => {
            taken.insert(field.name.value.clone());
        }
        Node::Call(call) => taken.extend(call.result.iter().map(|name| name.value.clone())),
        _ => {}
    });
    for name in &taken {
        names.claim(&[name]);
    }
    names
}

/// An expression in which the results of calls are called as their tools are. `before` is what has happened.
#[must_use]
pub fn by_tools(expr: Expr, before: &[Event<'_>]) -> Expr {
    let mut calls = before.iter().rev();
    let last = calls.find_map(|event| match event {
        Event::Call(call) => Some(Some(&call.tool)),
        // What has failed has no result but its error.
        Event::Failed(_) => Some(None),
        _ => None,
    });
    expr.renamed(&|path| {
        let called = path.root.value.as_str();
        let named = before.iter().rev().find_map(|event| match event {
            Event::Call(call) if call.result.as_ref().is_some_and(|name| name.value == called) => {
                Some(&call.tool)
            }
            _ => None,
        });
        let tool = named.or_else(|| last.flatten().filter(|_| called == "result"));
        match tool {
            Some(tool) if path.namespace.is_none() => {
                Path { root: Spanned::new(tool.value.clone(), path.root.span), ..path.clone() }
            }
            _ => path.clone(),
        }
    })
}

/// The opposite of a condition.
fn negation(expr: &Expr) -> Option<Expr> {
    match &expr.kind {
        ExprKind::Unary { op: UnaryOp::Not, operand } => Some((**operand).clone()),
        _ => {
            let operand = Box::new(expr.clone());
            Expr::new(ExprKind::Unary { op: UnaryOp::Not, operand }, expr.span).ok()
        }
    }
}

/// Where what a way says and sets at its end begins.
#[must_use]
pub fn tail(way: &[Event<'_>]) -> usize {
    let last = way.iter().rposition(|event| !matches!(event, Event::Say(_) | Event::Set(_)));
    last.map_or(0, |last| last + 1)
}

/// Whether a step only names a field, which the agent describes.
fn says_nothing(field: &GatherField) -> bool {
    field.prompt.is_none()
        && field.message_key.is_none()
        && field.description.is_none()
        && field.ty.is_none()
        && field.entity_ref.is_none()
        && field.validation.is_none()
        && field.default.is_none()
        && field.enum_values.is_empty()
        && field.rich_content.is_none()
}

/// A field that is true or false.
fn yes_or_no(name: SmolStr, prompt: Template, span: Span) -> GatherField {
    GatherField {
        prompt: Some(prompt),
        ty: Some(Spanned::new(Name::new_static("boolean"), span)),
        span,
        ..required_field(Spanned::new(name, span))
    }
}

/// The words that a condition takes for an answer.
fn answers(condition: &Expr) -> Option<Vec<&str>> {
    let ExprKind::Binary { op, left, right } = &condition.kind else {
        let ExprKind::Or(parts) = &condition.kind else { return None };
        let parts: Option<Vec<_>> = parts.iter().map(answers).collect();
        return parts.map(|parts| parts.concat());
    };
    if !is_message(left) {
        return None;
    }
    match (op, &right.kind) {
        (BinaryOp::Matches, ExprKind::Literal(Literal::Regex(pattern))) => pattern_words(pattern),
        (BinaryOp::Equal | BinaryOp::StrictEqual, ExprKind::Literal(Literal::String(word))) => {
            Some(vec![word])
        }
        (BinaryOp::In, ExprKind::List(words)) => words.iter().map(word).collect(),
        _ => None,
    }
}

fn word(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(Literal::String(word)) => Some(word),
        _ => None,
    }
}

/// A message that the model, or the end of the conversation, can say.
fn said(response: &Response) -> Result<(), Reason> {
    match response.actions {
        Some(_) => Err("it shows buttons".to_owned()),
        None => Ok(()),
    }
}

fn more_than_a_dialog(statement: &Statement) -> Reason {
    match statement {
        Statement::Clear { .. } => "it forgets values",
        Statement::Transform(_) => "it computes a list",
        Statement::Log { .. } => "it writes to the log",
        Statement::Delegate(_) | Statement::Handoff(_) => "it leads to another agent",
        Statement::Escalate { .. } => "it hands over to a person",
        Statement::Repeat { .. } => "it counts how often it tries",
        _ => "it does what only a step does",
    }
    .to_owned()
}
