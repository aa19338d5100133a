//! Adapts flows: each step is a subagent, and so is what follows a step that waits (`waits`).

use super::exposed_tools::{
    after_turn, before_turn, binding, branch, expose, instruct, say_instruction, set,
};
use super::expr::{self, all, not, spanned, text};
use super::order::{self, diverges, waits};
use super::phrases::{
    instruct_under_phrase, neither, separate_texts, transition_under_phrase, with_choices,
};
use super::{Adapter, empty_agent};
use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, Template};
use agentir_ir::{
    Agent, BindingAction, Body, Branch, Call, Data, Decider, Delegation, Digression, FilledBy,
    Flow, InputBinding, Jump, Response, Statement, Step, Target, ToolBinding,
};
use agentir_syntax::emit::phrase;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// `transition to @subagent.x`.
pub(super) fn transition(to: &Name) -> Statement {
    Statement::Handoff(Delegation {
        agent: spanned(to.clone()),
        returns: None,
        decided_by: Decider::Always,
        bindings: Vec::new(),
    })
}

/// The flow being adapted.
pub(super) struct Steps<'a> {
    pub(super) agent: &'a Agent,
    flow: &'a Flow,
    names: FxHashMap<SmolStr, Name>,
    /// The template for each of its subagents.
    template: &'a Agent,
}

/// Statements split into effects, messages and jumps.
#[derive(Default)]
pub(super) struct SplitBody {
    pub(super) effects: Vec<Statement>,
    pub(super) messages: Vec<Statement>,
    pub(super) jumps: Vec<Statement>,
    /// Whether the conversation may end here.
    pub(super) may_complete: bool,
    /// The conditions under which nothing follows, because a call is refused.
    pub(super) blocked: Vec<Expr>,
}

impl Adapter<'_> {
    pub(super) fn flow(
        &mut self,
        agent: &Agent,
        flow: &Flow,
        new: &mut Agent,
        welcome: Vec<Statement>,
    ) {
        let own = new.metadata.name.value.clone();
        let names: FxHashMap<SmolStr, Name> = flow
            .definitions
            .keys()
            .map(|step| {
                let long = format!("{own}_{step}");
                (step.clone(), self.subagents.rename("step", step, &[&long]))
            })
            .collect();
        let template = new.clone();
        let steps = Steps { agent, flow, names, template: &template };
        if let Some(entry) = flow.entry().and_then(|e| steps.names.get(e)) {
            if welcome.is_empty() {
                before_turn(new).push(transition(entry));
            } else {
                new.reasoning.get_or_insert_default().prepare.0.extend(welcome);
                after_turn(new).push(transition(entry));
            }
        }
        self.turn_hooks(agent, true, new);
        let order: Vec<&Step> = flow.definitions.values().collect();
        for (i, step) in order.iter().enumerate() {
            let next = order.get(i + 1).and_then(|s| steps.names.get(&s.name.value)).cloned();
            let Some(name) = steps.names.get(&step.name.value).cloned() else { continue };
            let about = match &step.description {
                Some(about) => self.variables.text(about),
                None => text(format!("{}: {}", own.replace('_', " "), name.replace('_', " "))),
            };
            self.subagent(&steps, &name, about, &step.body.0, next.as_ref(), Some(step));
        }
    }

    /// Adapts statements to a subagent, up to the first that waits; the rest becomes another subagent.
    fn subagent(
        &mut self,
        steps: &Steps<'_>,
        name: &Name,
        about: Template,
        statements: &[Statement],
        next: Option<&Name>,
        step: Option<&Step>,
    ) {
        let mut new = empty_agent(name.clone());
        new.identity.goal = Some(about.clone());
        new.identity.system_prompt = steps.template.identity.system_prompt.clone();
        new.identity.instructions = steps.template.identity.instructions.clone();
        new.execution.model = steps.template.execution.model.clone();
        let at = self.out.len();
        let zone = step.and_then(|s| s.reasoning_zone.as_ref());
        let flat;
        let (statements, cut) = if zone.is_some() {
            // The zone is part of the subagent that ends the step.
            (statements, statements.iter().position(waits).unwrap_or(statements.len()))
        } else {
            flat = order::flat(statements);
            let fits = order::fitting(steps.agent, &flat);
            // What is before a call that may be refused is not done again with it.
            let guarded = flat.iter().position(|one| self.has_guarded_call(one));
            (flat.as_slice(), guarded.filter(|at| (1..fits).contains(at)).unwrap_or(fits))
        };
        let (head, rest) = statements.split_at(cut);
        let mut split = SplitBody::default();
        if let Some(when) = step.and_then(|s| s.when.as_ref())
            && let (Some(when), Some(next)) = (self.variables.condition(when).and_then(not), next)
        {
            before_turn(&mut new)
                .push(Statement::If { branches: vec![branch(Some(when), vec![transition(next)])] });
        }
        let in_words = step
            .and_then(|s| s.when.as_ref())
            .filter(|when| self.variables.condition(when).is_none());
        match in_words {
            // The model judges whether the step is done.
            Some(when) => {
                let words = expr::to_phrase(when);
                self.split_under_phrase(steps, head, &words, &mut new, &mut split);
                if let (Some(next), false) = (next, rest.is_empty()) {
                    let skips = transition(next);
                    transition_under_phrase(&mut new, &skips, &neither(&[words]), Vec::new());
                }
            }
            None => self.split_statements(steps, head, &mut new, &mut split),
        }
        // Where a call is refused, values can be given anew; that is nothing to wait for.
        let corrects = |b: &ToolBinding| {
            matches!(b.action, BindingAction::Collect)
                && b.with.iter().all(|input| input.filled_by == FilledBy::Model)
        };
        let judged = new.reasoning.as_ref().is_some_and(|zone| {
            let leads = |b: &ToolBinding| !matches!(b.action, BindingAction::Complete);
            zone.bindings.iter().any(|b| leads(b) && !corrects(b))
        });
        let refusable = !split.blocked.is_empty();
        match rest.split_first().filter(|_| !refusable) {
            Some((Statement::Collect(asked), tail)) => {
                self.collect(steps, name, &about, asked, tail, next, &mut new, split);
            }
            Some((Statement::Await { branches }, tail)) => {
                let next = self.rest_as_subagent(steps, name, &about, tail, next);
                self.await_answer(steps, name, &about, branches, next.as_ref(), &mut new, split);
            }
            // A nested statement waits or runs later: each branch continues in a subagent of its own.
            Some((one @ Statement::If { branches }, tail))
                if waits(one) || order::needs_branches(steps.agent, one) =>
            {
                let next = self.rest_as_subagent(steps, name, &about, tail, next);
                self.wait_in_branches(
                    steps,
                    name,
                    &about,
                    branches,
                    next.as_ref(),
                    &mut new,
                    split,
                );
            }
            _ => {
                let next = self.rest_as_subagent(steps, name, &about, rest, next);
                if in_words.is_some() || !head.last().is_some_and(diverges) {
                    match next {
                        Some(next) => {
                            let onward = unless(&split.blocked, transition(&next));
                            split.jumps.push(onward);
                        }
                        None => split.may_complete = true,
                    }
                }
                let talks =
                    !split.messages.is_empty() || zone.is_some() || split.may_complete || judged;
                // Who has given another value need not say anything else. Where the guard holds, the subagent is left.
                let corrected = new.reasoning.iter().flat_map(|zone| &zone.bindings).any(corrects);
                if refusable && corrected && !talks {
                    let again = unless(&split.blocked, transition(name));
                    after_turn(&mut new).push(again);
                }
                before_turn(&mut new).extend(split.effects);
                if split.may_complete {
                    self.expose_completion(&mut new);
                    guard_completion(&split.blocked, &mut new);
                }
                let mut exits = split.jumps;
                if let Some(zone) = zone {
                    exits = self.reasoning_zone(steps, zone, &mut new, exits);
                }
                if talks { after_turn(&mut new) } else { before_turn(&mut new) }.extend(exits);
                new.reasoning.get_or_insert_default().prepare.0.extend(split.messages);
            }
        }
        let asks = rest.first().is_some_and(waits) && !refusable;
        if asks || refusable || zone.is_some() {
            let digressions = step.iter().flat_map(|s| s.digressions.iter().chain(&s.sub_intents));
            for digression in digressions.chain(&steps.flow.global_digressions) {
                self.digression(steps, digression, &mut new);
            }
            self.transitions(steps.agent, &mut new);
            self.constraints(steps.agent, &mut new);
            if asks && matches!(rest.first(), Some(Statement::Await { .. })) {
                self.reset_asked_flag(name, &mut new);
            }
        }
        self.turn_hooks(steps.agent, false, &mut new);
        separate_texts(&mut new);
        self.out.insert(at, new);
    }

    /// Splits statements into effects, messages and jumps.
    fn split_statements(
        &mut self,
        steps: &Steps<'_>,
        all: &[Statement],
        new: &mut Agent,
        split: &mut SplitBody,
    ) {
        for (at, one) in all.iter().enumerate() {
            match one {
                Statement::Respond(response) => {
                    split.messages.extend(self.respond(steps.agent, response));
                }
                Statement::Instruct { text } => {
                    let text = self.variables.text(text);
                    split.messages.push(Statement::Instruct { text });
                }
                Statement::Call(call) => match self.call_guard(&call.tool.value) {
                    Some(guard) => {
                        let mut below = SplitBody::default();
                        self.split_call(steps, call, new, &mut below);
                        let rest = all.get(at + 1..).unwrap_or_default();
                        self.split_statements(steps, rest, new, &mut below);
                        self.refuse(steps, &call.tool.value, (guard, below), new, split);
                        return;
                    }
                    None => self.split_call(steps, call, new, split),
                },
                Statement::If { branches } => self.split_branches(steps, branches, new, split),
                Statement::Check { condition, otherwise } => {
                    let broken = self.variables.condition(condition).and_then(not);
                    let mut below = SplitBody::default();
                    if let Some(jump) = otherwise {
                        self.jump(steps, jump, new, &mut below);
                    }
                    match broken {
                        Some(_) if below.jumps.is_empty() => {}
                        Some(broken) => {
                            let branches = vec![branch(Some(broken), below.jumps)];
                            split.jumps.push(Statement::If { branches });
                        }
                        None => {
                            split.may_complete |= below.may_complete;
                            let words = neither(&[expr::to_phrase(condition)]);
                            instruct_under_phrase(below, &words, new, split);
                        }
                    }
                }
                Statement::Goto(jump) => self.jump(steps, jump, new, split),
                Statement::Repeat { jump, times } => self.repeat(steps, jump, *times, new, split),
                Statement::Handoff(to) => {
                    let own = &to.agent.value;
                    let to = self.agent_name(own, None);
                    let way = self.guarded_way(own, transition(&to));
                    split.jumps.push(way);
                }
                Statement::Delegate(to) => {
                    let to = self.agent_name(&to.agent.value, None);
                    let tool = Name::new(format!("ask_{to}"));
                    let mut one = binding(
                        tool.clone(),
                        BindingAction::Delegate { agent: spanned(to.clone()) },
                    );
                    one.description = Some(text(format!("Ask {to}")));
                    expose(new, one);
                    let ask = text(format!("Ask with {{!@actions.{tool}}}."));
                    split.messages.push(Statement::Instruct { text: ask });
                }
                Statement::Escalate { .. } => self.escalate(new, split),
                other => {
                    let done = self.effects(std::slice::from_ref(other), new);
                    split.effects.extend(done);
                }
            }
        }
    }

    /// Splits a call and what follows it.
    fn split_call(
        &mut self,
        steps: &Steps<'_>,
        call: &Call,
        new: &mut Agent,
        split: &mut SplitBody,
    ) {
        let only = Call { on_success: Body::default(), on_result: Vec::new(), ..call.clone() };
        self.call(&only, new, &mut split.effects);
        self.split_statements(steps, &call.on_success.0, new, split);
        if !call.on_result.is_empty() {
            self.split_branches(steps, &call.on_result, new, split);
        }
        // The script cannot see that a call failed, but the model can.
        let failed = format!("`{}` fails", call.tool.value);
        self.split_under_phrase(steps, &call.on_failure.0, &failed, new, split);
    }

    fn respond(&mut self, agent: &Agent, response: &Response) -> Option<Statement> {
        let words = agent.response_text(response)?;
        let said = say_instruction(&self.variables.text(words));
        let elements = response.actions.iter().flat_map(|actions| &actions.elements);
        let labels = elements.filter_map(|element| element.label.as_ref());
        let labels: Vec<_> = labels.map(|label| self.variables.text(label).text.value).collect();
        Some(Statement::Instruct { text: with_choices(said, &labels) })
    }

    fn escalate(&mut self, new: &mut Agent, split: &mut SplitBody) {
        let mut one = binding("to_person", BindingAction::Escalate);
        one.description = Some(text("Hand over to a person"));
        expose(new, one);
        let text = text("Hand over with {!@actions.to_person}.");
        split.messages.push(Statement::Instruct { text });
    }

    /// Splits branches; the conditions are repeated for effects, messages and jumps.
    fn split_branches(
        &mut self,
        steps: &Steps<'_>,
        branches: &[Branch],
        new: &mut Agent,
        split: &mut SplitBody,
    ) {
        let mut each: [Vec<Branch>; 3] = Default::default();
        // Behind words nothing is evaluated any more: the model judges the other branches, too.
        let mut told: Vec<String> = Vec::new();
        let mut said = SplitBody::default();
        // That none of the branches before is taken.
        let mut passed: Vec<Expr> = Vec::new();
        for one in branches {
            let mut below = SplitBody::default();
            self.split_statements(steps, &one.body.0, new, &mut below);
            split.may_complete |= below.may_complete;
            let when = match &one.condition {
                Some(c) => match self.variables.condition(c).filter(|_| told.is_empty()) {
                    Some(when) => Some(when),
                    // The model decides: it gets instructions, transitions and values to set.
                    None => {
                        let words = expr::to_phrase(c);
                        let when = match told.is_empty() {
                            true => words.clone(),
                            false => format!("{}, but {words}", neither(&told)),
                        };
                        told.push(words);
                        instruct_under_phrase(below, &when, new, &mut said);
                        continue;
                    }
                },
                None if !told.is_empty() => {
                    instruct_under_phrase(below, &neither(&told), new, &mut said);
                    break;
                }
                None => None,
            };
            // Nothing follows where this branch is taken and a call in it is refused.
            let taken = || passed.iter().cloned().chain(when.clone());
            let blocked = below.blocked.into_iter().map(|one| all(taken().chain([one])));
            split.blocked.extend(blocked.flatten());
            passed.extend(when.clone().and_then(not));
            for (list, body) in each.iter_mut().zip([below.effects, below.messages, below.jumps]) {
                list.push(branch(when.clone(), body));
            }
        }
        if let [_, messages, _] = &mut each
            && !messages.is_empty()
            && !said.messages.is_empty()
        {
            messages.push(branch(None, said.messages));
        } else {
            split.messages.append(&mut said.messages);
        }
        let lists = [&mut split.effects, &mut split.messages, &mut split.jumps];
        for (list, branches) in lists.into_iter().zip(each) {
            list.extend(if_chain(branches));
        }
    }

    /// Statements under a natural-language condition.
    pub(super) fn split_under_phrase(
        &mut self,
        steps: &Steps<'_>,
        all: &[Statement],
        when: &str,
        new: &mut Agent,
        split: &mut SplitBody,
    ) {
        let mut below = SplitBody::default();
        self.split_statements(steps, all, new, &mut below);
        split.may_complete |= below.may_complete;
        instruct_under_phrase(below, when, new, split);
    }

    fn jump(&mut self, steps: &Steps<'_>, jump: &Jump, new: &mut Agent, split: &mut SplitBody) {
        match &jump.target {
            Target::Complete | Target::Fail => split.may_complete = true,
            Target::Escalate => self.escalate(new, split),
            target => {
                if let Some(step) = target.step() {
                    split.jumps.extend(steps.names.get(&step.value).map(transition));
                } else if let Some(agent) = target.agent() {
                    let to = self.agent_name(&agent.value, None);
                    let way = self.guarded_way(&agent.value, transition(&to));
                    split.jumps.push(way);
                }
            }
        }
    }

    /// A limited jump counts how often it was taken.
    fn repeat(
        &mut self,
        steps: &Steps<'_>,
        jump: &Jump,
        times: u32,
        new: &mut Agent,
        split: &mut SplitBody,
    ) {
        let own = format!("{}_tries", new.metadata.name.value);
        let counter = self.variables.declare(&own, "number", |declared| {
            declared.initial_value = Some(Data::from(0));
        });
        let mut below = SplitBody::default();
        self.jump(steps, jump, new, &mut below);
        let number = |n: f64| Expr::literal(Literal::Number(n), Span::default());
        let with = |op, right| {
            let left = Box::new(expr::reference("variables", &counter));
            expr::node(ExprKind::Binary { op, left, right: Box::new(right) })
        };
        let (Some(more), Some(next)) =
            (with(BinaryOp::Less, number(f64::from(times))), with(BinaryOp::Add, number(1.0)))
        else {
            return;
        };
        let mut body = vec![set(&counter, next)];
        body.extend(below.jumps);
        split.jumps.push(Statement::If { branches: vec![branch(Some(more), body)] });
    }

    /// The continuation of statements that wait: a subagent for the rest, or the next target if there is no
    /// rest.
    pub(super) fn rest_as_subagent(
        &mut self,
        steps: &Steps<'_>,
        name: &Name,
        about: &Template,
        tail: &[Statement],
        next: Option<&Name>,
    ) -> Option<Name> {
        match tail {
            [] => return next.cloned(),
            [Statement::Goto(Jump { target: Target::Step(step), .. })] => {
                return steps.names.get(&step.value).cloned();
            }
            [Statement::Goto(_)] => return None,
            _ => {}
        }
        let own = format!("{name}_then");
        let long = format!("{}_{own}", steps.template.metadata.name.value);
        let own = self.subagents.claim(&[&own, &long]);
        self.subagent(steps, &own, about.clone(), tail, next, None);
        Some(own)
    }

    /// The continuation of statements: assignments and a jump directly, otherwise a transition to a subagent
    /// of their own; `None` at the end.
    pub(super) fn continuation(
        &mut self,
        steps: &Steps<'_>,
        wanted: &str,
        about: &Template,
        statements: &[Statement],
        next: Option<&Name>,
    ) -> Option<(Vec<Statement>, Statement)> {
        if let [Statement::Goto(Jump { target: Target::Complete | Target::Fail, .. })] = statements
        {
            return None;
        }
        let (before, exit) = match statements.split_last() {
            None => (&[][..], next.map(transition)),
            Some((Statement::Goto(Jump { target: Target::Step(step), .. }), before)) => {
                (before, steps.names.get(&step.value).map(transition))
            }
            Some(_) => (statements, next.map(transition)),
        };
        let assigns = |s: &Statement| matches!(s, Statement::Set(_) | Statement::Clear { .. });
        if before.iter().all(assigns)
            && let Some(exit) = exit
        {
            let mut unused = empty_agent(Name::default());
            return Some((self.effects(before, &mut unused), exit));
        }
        if statements.is_empty() {
            return None;
        }
        let long = format!("{}_{wanted}", steps.template.metadata.name.value);
        let name = self.subagents.claim(&[wanted, &long]);
        self.subagent(steps, &name, about.clone(), statements, next, None);
        Some((Vec::new(), transition(&name)))
    }

    /// A reasoning zone.
    fn reasoning_zone(
        &mut self,
        steps: &Steps<'_>,
        zone: &agentir_ir::ReasoningZone,
        new: &mut Agent,
        exits: Vec<Statement>,
    ) -> Vec<Statement> {
        if let Some(goal) = &zone.goal {
            let goal = self.variables.text(goal);
            instruct(new, None, goal);
        }
        for rule in &zone.constraints {
            let words = match &rule.condition {
                condition if condition.expr().is_none() => condition.text.value.to_string(),
                condition => format!("Make sure that {}.", phrase(condition)),
            };
            instruct(new, None, text(words));
        }
        let tools: Vec<Name> = match &zone.available_tools {
            Some(tools) => tools.iter().map(|t| t.value.clone()).collect(),
            None => steps.agent.tools.iter().map(|t| t.name.value.clone()).collect(),
        };
        for tool in tools {
            self.expose_tool(&tool, new);
        }
        let done = zone.exit_when.as_ref().map(|c| (c, self.variables.condition(c)));
        if let Some((_, Some(done))) = &done {
            self.collect_exit_values(done, new);
        }
        match done {
            Some((_, Some(done))) if !exits.is_empty() => {
                vec![Statement::If { branches: vec![branch(Some(done), exits)] }]
            }
            Some((words, None)) => {
                let words = expr::to_phrase(words);
                exits.iter().for_each(|e| transition_under_phrase(new, e, &words, Vec::new()));
                Vec::new()
            }
            _ => {
                exits
                    .iter()
                    .for_each(|e| transition_under_phrase(new, e, "When this is done", Vec::new()));
                Vec::new()
            }
        }
    }

    /// Values that the model has to determine before the zone ends, other than from tools.
    fn collect_exit_values(&self, done: &Expr, new: &mut Agent) {
        let mut take = binding("note_details", BindingAction::Collect);
        done.paths(&mut |path| {
            let name = &path.root;
            let new = take.with.iter().all(|w| w.name.value != name.value);
            if new && !self.variables.results.contains(&name.value) {
                take.with.push(InputBinding {
                    name: spanned(name.value.clone()),
                    filled_by: FilledBy::Model,
                    value: None,
                });
            }
        });
        if !take.with.is_empty() {
            let names: Vec<_> = take.with.iter().map(|w| w.name.value.replace('_', " ")).collect();
            take.description = Some(text(format!("Note what was agreed: {}", names.join(", "))));
            expose(new, take);
        }
    }

    /// Ending a conversation is a tool of the model; a delegated agent returns control instead.
    pub(super) fn expose_completion(&self, new: &mut Agent) {
        let mut known = new.reasoning.iter().flat_map(|r| &r.bindings);
        if !self.returns_control && !known.any(|b| matches!(b.action, BindingAction::Complete)) {
            let mut one = binding("finish", BindingAction::Complete);
            one.description = Some(text("When nothing is left to do"));
            expose(new, one);
        }
    }

    /// A digression.
    fn digression(&mut self, steps: &Steps<'_>, digression: &Digression, new: &mut Agent) {
        let mut split = SplitBody::default();
        self.split_statements(steps, &digression.body.0, new, &mut split);
        let keywords: Vec<_> = digression.keywords.iter().map(|k| k.text.value.as_str()).collect();
        let wish = match (&digression.intent, &digression.condition) {
            (Some(intent), _) => format!("the user wants: {}", intent.value.replace('_', " ")),
            (None, Some(c)) => c.text.value.to_string(),
            (None, None) => format!("the user says: {}", keywords.join(", ")),
        };
        for message in split.messages {
            if let Statement::Instruct { text: message } = message {
                instruct(new, None, text(format!("If {wish}: {}", message.text.value)));
            }
        }
        for exit in &split.jumps {
            transition_under_phrase(new, exit, &wish, Vec::new());
        }
        if split.may_complete {
            self.expose_completion(new);
        }
    }
}

/// A statement that is only executed where none of some conditions holds.
fn unless(blocked: &[Expr], exit: Statement) -> Statement {
    match all(blocked.iter().cloned().filter_map(not)) {
        Some(free) => Statement::If { branches: vec![branch(Some(free), vec![exit])] },
        None => exit,
    }
}

/// The conversation does not end where a call is refused.
fn guard_completion(blocked: &[Expr], new: &mut Agent) {
    let free = all(blocked.iter().cloned().filter_map(not)).map(expr::condition);
    let bindings = new.reasoning.iter_mut().flat_map(|zone| &mut zone.bindings);
    for one in bindings.filter(|one| matches!(one.action, BindingAction::Complete)) {
        one.available_when = one.available_when.take().or_else(|| free.clone());
    }
}

/// Branches as `if`, `else if`, `else`. Empty branches are not allowed, so they are excluded by the
/// conditions of the others.
pub(super) fn if_chain(branches: Vec<Branch>) -> Option<Statement> {
    let mut out: Vec<Branch> = Vec::new();
    let mut idle: Vec<Expr> = Vec::new();
    for one in branches {
        let when = one.condition.as_ref().and_then(|c| c.expr()).cloned();
        if one.body.is_empty() {
            idle.extend(when.and_then(not));
            continue;
        }
        let when = match idle.is_empty() {
            true => when,
            false => all(idle.iter().cloned().chain(when)),
        };
        out.push(branch(when, one.body.0));
    }
    match out.as_slice() {
        [] => None,
        [only] if only.condition.is_none() => None,
        _ => Some(Statement::If { branches: out }),
    }
}
