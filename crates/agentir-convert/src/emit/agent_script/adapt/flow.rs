//! Adapts flows: each step is a subagent, and so is what follows a step that waits.

use super::offers::{self, binding, branch, instruct, offer, say, set, truth};
use super::words::{self, all, not, spanned, text};
use super::{Adapter, blank};
use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, Template};
use agentir_ir::{
    Agent, BindingAction, Body, Branch, Collect, Data, Decider, Delegation, Digression, FilledBy,
    Flow, InputBinding, Jump, Response, Statement, Step, Target,
};
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
struct Steps<'a> {
    agent: &'a Agent,
    flow: &'a Flow,
    names: FxHashMap<SmolStr, Name>,
    /// The template for each of its subagents.
    like: &'a Agent,
}

/// Statements split into effects, messages and jumps.
#[derive(Default)]
struct Laid {
    done: Vec<Statement>,
    said: Vec<Statement>,
    exits: Vec<Statement>,
    /// Whether the conversation may end here.
    ends: bool,
}

fn leaves(statement: &Statement) -> bool {
    match statement {
        Statement::Goto(jump) => jump.target.diverges(),
        Statement::Handoff(_) => true,
        Statement::If { branches } => all_leave(branches),
        Statement::Call(call) => {
            all_leave(&call.on_result) || call.on_success.0.last().is_some_and(leaves)
        }
        _ => false,
    }
}

/// Whether a statement or one of its branches waits for the user.
fn waits(statement: &Statement) -> bool {
    match statement {
        Statement::Collect(_) | Statement::Await { .. } => true,
        Statement::If { branches } => branches.iter().any(|b| b.body.0.iter().any(waits)),
        _ => false,
    }
}

fn all_leave(branches: &[Branch]) -> bool {
    branches.iter().any(|b| b.condition.is_none())
        && branches.iter().all(|b| b.body.0.last().is_some_and(leaves))
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
        let like = new.clone();
        let steps = Steps { agent, flow, names, like: &like };
        if let Some(entry) = flow.entry().and_then(|e| steps.names.get(e)) {
            if welcome.is_empty() {
                offers::before(new).push(transition(entry));
            } else {
                new.reasoning.get_or_insert_default().prepare.0.extend(welcome);
                offers::after(new).push(transition(entry));
            }
        }
        let order: Vec<&Step> = flow.definitions.values().collect();
        for (i, step) in order.iter().enumerate() {
            let next = order.get(i + 1).and_then(|s| steps.names.get(&s.name.value)).cloned();
            let Some(name) = steps.names.get(&step.name.value).cloned() else { continue };
            let about = match &step.description {
                Some(about) => self.variables.text(about),
                None => text(format!("{}: {}", own.replace('_', " "), name.replace('_', " "))),
            };
            self.part(&steps, &name, about, &step.body.0, next.as_ref(), Some(step));
        }
    }

    /// Adapts statements to a subagent, up to the first that waits; the rest becomes another subagent.
    fn part(
        &mut self,
        steps: &Steps<'_>,
        name: &Name,
        about: Template,
        statements: &[Statement],
        next: Option<&Name>,
        step: Option<&Step>,
    ) {
        let mut new = blank(name.clone());
        new.identity.goal = Some(about.clone());
        new.identity.system_prompt = steps.like.identity.system_prompt.clone();
        new.identity.instructions = steps.like.identity.instructions.clone();
        new.execution.model = steps.like.execution.model.clone();
        let at = self.out.len();
        let cut = statements.iter().position(waits).unwrap_or(statements.len());
        let (head, rest) = statements.split_at(cut);
        let mut laid = Laid::default();
        if let Some(when) = step.and_then(|s| s.when.as_ref())
            && let (Some(when), Some(next)) = (self.variables.condition(when).and_then(not), next)
        {
            offers::before(&mut new)
                .push(Statement::If { branches: vec![branch(Some(when), vec![transition(next)])] });
        }
        self.lay(steps, head, &mut new, &mut laid);
        let zone = step.and_then(|s| s.reasoning_zone.as_ref());
        match rest.split_first() {
            Some((Statement::Collect(asked), tail)) => {
                self.collect(steps, name, &about, asked, tail, next, &mut new, laid);
            }
            Some((Statement::Await { branches }, tail)) => {
                let next = self.behind(steps, name, &about, tail, next);
                self.wait(steps, name, &about, branches, next.as_ref(), &mut new, laid);
            }
            // A nested statement waits: each branch continues in a subagent of its own.
            Some((Statement::If { branches }, tail)) => {
                let next = self.behind(steps, name, &about, tail, next);
                self.part_ways(steps, name, &about, branches, next.as_ref(), &mut new, laid);
            }
            _ => {
                if !statements.last().is_some_and(leaves) {
                    match next {
                        Some(next) => laid.exits.push(transition(next)),
                        None => laid.ends = true,
                    }
                }
                let talks = !laid.said.is_empty() || zone.is_some() || laid.ends;
                offers::before(&mut new).extend(laid.done);
                if laid.ends {
                    self.finish(&mut new);
                }
                let mut exits = laid.exits;
                if let Some(zone) = zone {
                    exits = self.reason(steps, zone, &mut new, exits);
                }
                if talks { offers::after(&mut new) } else { offers::before(&mut new) }
                    .extend(exits);
                new.reasoning.get_or_insert_default().prepare.0.extend(laid.said);
            }
        }
        if !rest.is_empty() || zone.is_some() {
            let ways = step.iter().flat_map(|s| s.digressions.iter().chain(&s.sub_intents));
            for way in ways.chain(&steps.flow.global_digressions) {
                self.digression(steps, way, &mut new);
            }
            self.ways(steps.agent, &mut new);
            self.rules(steps.agent, &mut new);
            if matches!(rest.first(), Some(Statement::Await { .. })) {
                self.forget_asking(name, &mut new);
            }
        }
        tidy(&mut new);
        self.out.insert(at, new);
    }

    /// Splits statements into effects, messages and jumps.
    fn lay(&mut self, steps: &Steps<'_>, all: &[Statement], new: &mut Agent, laid: &mut Laid) {
        for one in all {
            match one {
                Statement::Respond(response) => {
                    laid.said.extend(self.respond(steps.agent, response));
                }
                Statement::Instruct { text } => {
                    let text = self.variables.text(text);
                    laid.said.push(Statement::Instruct { text });
                }
                Statement::Call(call) => {
                    let only = agentir_ir::Call {
                        on_success: Body::default(),
                        on_result: Vec::new(),
                        ..(**call).clone()
                    };
                    self.call(&only, new, &mut laid.done);
                    self.lay(steps, &call.on_success.0, new, laid);
                    if !call.on_result.is_empty() {
                        self.lay_branches(steps, &call.on_result, new, laid);
                    }
                    // The script cannot see that a call failed, but the model can.
                    let failed = format!("`{}` fails", call.tool.value);
                    self.lay_in_words(steps, &call.on_failure.0, &failed, new, laid);
                }
                Statement::If { branches } => self.lay_branches(steps, branches, new, laid),
                Statement::Check { condition, otherwise } => {
                    let broken = self.variables.condition(condition).and_then(not);
                    let mut below = Laid::default();
                    if let Some(jump) = otherwise {
                        self.jump(steps, jump, new, &mut below);
                    }
                    if let (Some(broken), false) = (broken, below.exits.is_empty()) {
                        let branches = vec![branch(Some(broken), below.exits)];
                        laid.exits.push(Statement::If { branches });
                    }
                }
                Statement::Goto(jump) => self.jump(steps, jump, new, laid),
                Statement::Repeat { jump, times } => self.repeat(steps, jump, *times, new, laid),
                Statement::Handoff(to) => {
                    let to = self.agent_name(&to.agent.value, None);
                    laid.exits.push(transition(&to));
                }
                Statement::Delegate(to) => {
                    let to = self.agent_name(&to.agent.value, None);
                    let tool = Name::new(format!("ask_{to}"));
                    let mut one = binding(
                        tool.clone(),
                        BindingAction::Delegate { agent: spanned(to.clone()) },
                    );
                    one.description = Some(text(format!("Ask {to}")));
                    offer(new, one);
                    let ask = text(format!("Ask with {{!@actions.{tool}}}."));
                    laid.said.push(Statement::Instruct { text: ask });
                }
                Statement::Escalate { .. } => self.escalate(new, laid),
                other => {
                    let done = self.deterministic(std::slice::from_ref(other), new);
                    laid.done.extend(done);
                }
            }
        }
    }

    fn respond(&mut self, agent: &Agent, response: &Response) -> Option<Statement> {
        let named = || {
            let name = response.template.as_ref()?;
            agent.templates.get(&name.value)?.default.as_ref()
        };
        let words = response.text.as_ref().or_else(named)?;
        let text = say(&self.variables.text(words));
        Some(Statement::Instruct { text })
    }

    fn escalate(&mut self, new: &mut Agent, laid: &mut Laid) {
        let mut one = binding("to_person", BindingAction::Escalate);
        one.description = Some(text("Hand over to a person"));
        offer(new, one);
        let text = text("Hand over with {!@actions.to_person}.");
        laid.said.push(Statement::Instruct { text });
    }

    /// Splits branches; the conditions are repeated for effects, messages and jumps.
    fn lay_branches(
        &mut self,
        steps: &Steps<'_>,
        branches: &[Branch],
        new: &mut Agent,
        laid: &mut Laid,
    ) {
        let mut each: [Vec<Branch>; 3] = Default::default();
        for one in branches {
            let mut below = Laid::default();
            self.lay(steps, &one.body.0, new, &mut below);
            laid.ends |= below.ends;
            let when = match &one.condition {
                Some(c) => match self.variables.condition(c) {
                    Some(when) => Some(when),
                    // The model decides: it gets instructions and transitions.
                    None => {
                        in_words(below, &words::in_words(c), new, laid);
                        continue;
                    }
                },
                None => None,
            };
            for (list, body) in each.iter_mut().zip([below.done, below.said, below.exits]) {
                list.push(branch(when.clone(), body));
            }
        }
        let lists = [&mut laid.done, &mut laid.said, &mut laid.exits];
        for (list, branches) in lists.into_iter().zip(each) {
            list.extend(choice(branches));
        }
    }

    /// Statements under a natural-language condition.
    fn lay_in_words(
        &mut self,
        steps: &Steps<'_>,
        all: &[Statement],
        when: &str,
        new: &mut Agent,
        laid: &mut Laid,
    ) {
        let mut below = Laid::default();
        self.lay(steps, all, new, &mut below);
        in_words(below, when, new, laid);
    }

    fn jump(&mut self, steps: &Steps<'_>, jump: &Jump, new: &mut Agent, laid: &mut Laid) {
        match &jump.target {
            Target::Complete | Target::Fail => laid.ends = true,
            Target::Escalate => self.escalate(new, laid),
            target => {
                if let Some(step) = target.step() {
                    laid.exits.extend(steps.names.get(&step.value).map(transition));
                } else if let Some(agent) = target.agent() {
                    let to = self.agent_name(&agent.value, None);
                    laid.exits.push(transition(&to));
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
        laid: &mut Laid,
    ) {
        let own = format!("{}_tries", new.metadata.name.value);
        let counter = self.variables.declare(&own, "number", |declared| {
            declared.initial_value = Some(Data::from(0));
        });
        let mut below = Laid::default();
        self.jump(steps, jump, new, &mut below);
        let number = |n: f64| Expr::literal(Literal::Number(n), Span::default());
        let with = |op, right| {
            let left = Box::new(words::reference("variables", &counter));
            words::node(ExprKind::Binary { op, left, right: Box::new(right) })
        };
        let (Some(more), Some(next)) =
            (with(BinaryOp::Less, number(f64::from(times))), with(BinaryOp::Add, number(1.0)))
        else {
            return;
        };
        let mut body = vec![set(&counter, next)];
        body.extend(below.exits);
        laid.exits.push(Statement::If { branches: vec![branch(Some(more), body)] });
    }

    /// Collecting: a tool sets the fields, and once all are set the flow continues.
    #[expect(clippy::too_many_arguments, reason = "the parts of one step")]
    fn collect(
        &mut self,
        steps: &Steps<'_>,
        name: &Name,
        about: &Template,
        asked: &Collect,
        tail: &[Statement],
        next: Option<&Name>,
        new: &mut Agent,
        laid: Laid,
    ) {
        new.reasoning.get_or_insert_default().prepare.0.extend(laid.said);
        if !laid.done.is_empty() {
            // Only once, not in every turn of collecting.
            let flag = self.flag(&format!("{name}_begun"));
            let mut done = laid.done;
            done.push(set(&flag, truth(true)));
            let unset = not(words::reference("variables", &flag));
            offers::before(new).push(Statement::If { branches: vec![branch(unset, done)] });
        }
        if let Some(present) = &asked.present {
            let present = say(&self.variables.text(present));
            instruct(new, None, present);
        }
        let fields = self.gather(steps.agent, &asked.gather, new);
        let there = fields
            .iter()
            .filter(|(_, required)| *required)
            .filter_map(|(name, _)| words::is_set(words::reference("variables", name), false));
        let enough = match asked.complete_when.as_ref().and_then(|c| self.variables.condition(c)) {
            Some(enough) => Some(enough),
            None => all(there),
        };
        let mut given_up = Laid::default();
        self.lay_in_words(steps, &asked.on_failure.0, "the user cannot answer", new, &mut given_up);
        new.reasoning.get_or_insert_default().prepare.0.extend(given_up.said);
        let behind: Vec<Statement> = asked.on_success.0.iter().chain(tail).cloned().collect();
        let exit = self.continued(steps, &format!("{name}_done"), about, &behind, next);
        match (exit, enough) {
            (None, _) => self.finish(new),
            (Some((mut done, exit)), Some(enough)) => {
                done.push(exit);
                let branches = vec![branch(Some(enough), done)];
                offers::after(new).push(Statement::If { branches });
            }
            (Some((done, exit)), None) => {
                way_in_words(new, &exit, "When nothing is left to ask", done);
            }
        }
    }

    /// The continuation of statements that wait: a subagent for the rest, or the next target if there is no
    /// rest.
    fn behind(
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
        let long = format!("{}_{own}", steps.like.metadata.name.value);
        let own = self.subagents.claim(&[&own, &long]);
        self.part(steps, &own, about.clone(), tail, next, None);
        Some(own)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one step")]
    fn part_ways(
        &mut self,
        steps: &Steps<'_>,
        name: &Name,
        about: &Template,
        branches: &[Branch],
        next: Option<&Name>,
        new: &mut Agent,
        laid: Laid,
    ) {
        let mut ways = Vec::new();
        for (i, one) in branches.iter().enumerate() {
            let own = format!("{name}_{}", i + 1);
            let exit = self.continued(steps, &own, about, &one.body.0, next);
            let when = one.condition.as_ref().map(|c| (c, self.variables.condition(c)));
            match (when, exit) {
                (_, None) => self.finish(new),
                (None, Some((mut done, exit))) => {
                    done.push(exit);
                    ways.push(branch(None, done));
                }
                (Some((_, Some(when))), Some((mut done, exit))) => {
                    done.push(exit);
                    ways.push(branch(Some(when), done));
                }
                (Some((words, None)), Some((done, exit))) => {
                    way_in_words(new, &exit, &words::in_words(words), done);
                }
            }
        }
        if branches.iter().all(|b| b.condition.is_some())
            && let Some(next) = next
        {
            ways.push(branch(None, vec![transition(next)]));
        }
        let talks = !laid.said.is_empty() || new.reasoning.is_some();
        offers::before(new).extend(laid.done);
        new.reasoning.get_or_insert_default().prepare.0.extend(laid.said);
        let exits = laid.exits.into_iter().chain(choice(ways));
        if talks { offers::after(new) } else { offers::before(new) }.extend(exits);
    }

    /// Waiting for an answer: the first turn asks, the next one branches on the answer.
    #[expect(clippy::too_many_arguments, reason = "the parts of one step")]
    fn wait(
        &mut self,
        steps: &Steps<'_>,
        name: &Name,
        about: &Template,
        branches: &[Branch],
        next: Option<&Name>,
        new: &mut Agent,
        laid: Laid,
    ) {
        let flag = self.flag(&format!("{name}_asked"));
        let asked = || words::reference("variables", &flag);
        let Some(first) = not(asked()) else { return };
        if !laid.done.is_empty() {
            let branches = vec![branch(Some(first.clone()), laid.done)];
            offers::before(new).push(Statement::If { branches });
        }
        let prompt = &mut new.reasoning.get_or_insert_default().prepare.0;
        if !laid.said.is_empty() {
            let branches = vec![branch(Some(first.clone()), laid.said)];
            prompt.push(Statement::If { branches });
        }
        // Fields that are only taken if mentioned are taken here.
        let extracted = steps.agent.gather.clone();
        self.gather(steps.agent, &extracted, new);
        let mut ways = vec![branch(Some(first), vec![set(&flag, truth(true))])];
        let mut judged = false;
        for (i, one) in branches.iter().enumerate() {
            let own = format!("{name}_{}", i + 1);
            let exit = self.continued(steps, &own, about, &one.body.0, next);
            let when = one.condition.as_ref();
            let known = when.map(|c| self.variables.condition(c));
            let Some((mut done, exit)) = exit else {
                self.finish(new);
                continue;
            };
            match (when, known) {
                (None, _) if !judged => {
                    done.extend([set(&flag, truth(false)), exit]);
                    ways.push(branch(None, done));
                }
                (_, Some(Some(when))) => {
                    done.extend([set(&flag, truth(false)), exit]);
                    ways.push(branch(Some(when), done));
                }
                (when, _) => {
                    judged = true;
                    let words = when.map(words::in_words);
                    let words = words.unwrap_or_else(|| "None of the others fits".to_owned());
                    way_in_words(new, &exit, &words, done);
                    if let Some(one) = new.reasoning.as_mut().and_then(|r| r.bindings.last_mut()) {
                        one.available_when = Some(words::condition(asked()));
                        one.after.0.push(set(&flag, truth(false)));
                    }
                }
            }
        }
        if let Some(next) = next.filter(|_| branches.iter().all(|b| b.condition.is_some())) {
            if judged {
                way_in_words(new, &transition(next), "None of the others fits", Vec::new());
            } else {
                ways.push(branch(None, vec![set(&flag, truth(false)), transition(next)]));
            }
        }
        offers::after(new).push(Statement::If { branches: ways });
    }

    /// Resets the flag when the user leaves before answering, so that the question is repeated on return.
    fn forget_asking(&mut self, name: &Name, new: &mut Agent) {
        let flag = self.flag(&format!("{name}_asked"));
        for way in new.reasoning.iter_mut().flat_map(|zone| &mut zone.bindings) {
            let resets = way.after.0.iter().any(|s| match s {
                Statement::Set(one) => one.target.root.value == flag,
                _ => false,
            });
            if matches!(way.action, BindingAction::Handoff { .. }) && !resets {
                way.after.0.push(set(&flag, truth(false)));
            }
        }
    }

    /// The continuation of statements: assignments and a jump directly, otherwise a transition to a subagent
    /// of their own; `None` at the end.
    fn continued(
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
            let mut unused = blank(Name::default());
            return Some((self.deterministic(before, &mut unused), exit));
        }
        if statements.is_empty() {
            return None;
        }
        let long = format!("{}_{wanted}", steps.like.metadata.name.value);
        let name = self.subagents.claim(&[wanted, &long]);
        self.part(steps, &name, about.clone(), statements, next, None);
        Some((Vec::new(), transition(&name)))
    }

    /// A reasoning zone.
    fn reason(
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
        let tools: Vec<Name> = match &zone.available_tools {
            Some(tools) => tools.iter().map(|t| t.value.clone()).collect(),
            None => steps.agent.tools.iter().map(|t| t.name.value.clone()).collect(),
        };
        for tool in tools {
            self.offer_tool(steps.agent, &tool, new);
        }
        let done = zone.exit_when.as_ref().map(|c| (c, self.variables.condition(c)));
        if let Some((_, Some(done))) = &done {
            self.notes(done, new);
        }
        match done {
            Some((_, Some(done))) if !exits.is_empty() => {
                vec![Statement::If { branches: vec![branch(Some(done), exits)] }]
            }
            Some((words, None)) => {
                let words = words::in_words(words);
                exits.iter().for_each(|e| way_in_words(new, e, &words, Vec::new()));
                Vec::new()
            }
            _ => {
                exits.iter().for_each(|e| way_in_words(new, e, "When this is done", Vec::new()));
                Vec::new()
            }
        }
    }

    /// Values that the model has to determine before the zone ends, other than from tools.
    fn notes(&self, done: &Expr, new: &mut Agent) {
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
            offer(new, take);
        }
    }

    /// Ending a conversation is a tool of the model; a delegated agent returns control instead.
    fn finish(&self, new: &mut Agent) {
        let mut known = new.reasoning.iter().flat_map(|r| &r.bindings);
        if !self.comes_back && !known.any(|b| matches!(b.action, BindingAction::Complete)) {
            let mut one = binding("finish", BindingAction::Complete);
            one.description = Some(text("When nothing is left to do"));
            offer(new, one);
        }
    }

    /// A digression.
    fn digression(&mut self, steps: &Steps<'_>, way: &Digression, new: &mut Agent) {
        let mut laid = Laid::default();
        self.lay(steps, &way.body.0, new, &mut laid);
        let keywords: Vec<_> = way.keywords.iter().map(|k| k.text.value.as_str()).collect();
        let wish = match (&way.intent, &way.condition) {
            (Some(intent), _) => format!("the user wants: {}", intent.value.replace('_', " ")),
            (None, Some(c)) => c.text.value.to_string(),
            (None, None) => format!("the user says: {}", keywords.join(", ")),
        };
        for said in laid.said {
            if let Statement::Instruct { text: said } = said {
                instruct(new, None, text(format!("If {wish}: {}", said.text.value)));
            }
        }
        for exit in &laid.exits {
            way_in_words(new, exit, &wish, Vec::new());
        }
        if laid.ends {
            self.finish(new);
        }
    }
}

/// Branches as `if`, `else if`, `else`. Empty branches are not allowed, so they are excluded by the
/// conditions of the others.
pub(super) fn choice(branches: Vec<Branch>) -> Option<Statement> {
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

/// Statements under a natural-language condition become instructions and transitions of the model.
fn in_words(below: Laid, when: &str, new: &mut Agent, laid: &mut Laid) {
    for said in below.said {
        let Statement::Instruct { text: said } = said else { continue };
        let words = format!("If {when}: {}", said.text.value);
        laid.said.push(Statement::Instruct { text: text(words) });
    }
    for exit in below.exits {
        way_in_words(new, &exit, when, Vec::new());
    }
}

/// A transition that the model takes under a natural-language condition.
fn way_in_words(new: &mut Agent, exit: &Statement, words: &str, done: Vec<Statement>) {
    if let Statement::Handoff(to) = exit {
        let name = Name::new(format!("to_{}", to.agent.value));
        let mut one = binding(name, BindingAction::Handoff { to: to.agent.clone() });
        one.description = Some(text(words));
        one.after = Body(done);
        offer(new, one);
    }
}

/// Moves texts either under conditions or among statements; Agent Script does not mix the two.
fn tidy(new: &mut Agent) {
    let Some(zone) = new.reasoning.as_mut().filter(|z| !z.prepare.is_empty()) else { return };
    let mut all: Vec<Statement> = Vec::new();
    for one in std::mem::take(&mut new.identity.instructions) {
        let text = Statement::Instruct { text: one.text };
        match one.when {
            None => all.push(text),
            Some(when) => all.push(Statement::If {
                branches: vec![Branch {
                    condition: Some(when),
                    body: Body(vec![text]),
                    extensions: agentir_ir::Extensions::default(),
                    span: Span::default(),
                }],
            }),
        }
    }
    all.append(&mut zone.prepare.0);
    zone.prepare.0 = all;
}
