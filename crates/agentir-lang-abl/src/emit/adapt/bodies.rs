//! Adapts bodies of other languages: translates expressions, and splits steps so that their statements
//! follow ABL's order, one per phase.

use super::expr::{Scope, of_expr};
use crate::emit::body::{BodyContext, fits, fits_step, follow_ups_fit, phase_in_branch};
use crate::emit::order::PhaseOrder;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, Name, Path, TypeExpr};
use agentir_ir::{
    Agent, Body, Branch, Data, Delegation, Extensions, Flow, Jump, Number, Phase, SessionVariable,
    SetVariable, Statement, Step, Target,
};
use agentir_syntax::emit::{NameSyntax, Namespace, Renamed};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::collections::VecDeque;

/// Translates every expression and text of a body.
pub(super) fn rewrite(scope: Scope<'_>, body: &mut Body) {
    body.0.retain(|statement| match statement {
        Statement::Set(set) => scope.value(&set.value).is_some(),
        _ => true,
    });
    for statement in &mut body.0 {
        scope.rename_written(statement);
        match statement {
            Statement::Set(set) => {
                let target = agentir_expr::Expr::path(set.target.clone(), set.span);
                if let Some(path) = scope.expr(&target).as_path() {
                    set.target = path.clone();
                }
                set.value = scope.expr(&set.value);
            }
            Statement::Respond(response) => {
                response.text.iter_mut().for_each(|t| scope.text(t));
            }
            Statement::Instruct { text } => scope.text(text),
            Statement::Collect(collect) => {
                collect.present.iter_mut().for_each(|t| scope.text(t));
                rewrite(scope, &mut collect.on_success);
                rewrite(scope, &mut collect.on_failure);
            }
            Statement::Call(call) => {
                call.with.retain_mut(|argument| {
                    scope.value(&argument.value).map(|value| argument.value = value).is_some()
                });
                let tool = call.tool.value.clone();
                // Where there is nothing to pass, ABL says nothing.
                call.has_arguments &= !call.with.is_empty() || scope.taking.contains(&tool);
                let inside = Scope { outputs: Some(&tool), ..scope };
                rewrite(inside, &mut call.on_success);
                rewrite(inside, &mut call.on_failure);
                branches(inside, &mut call.on_result);
            }
            Statement::Check { condition, .. } => *condition = scope.condition(condition),
            Statement::Await { branches: all } | Statement::If { branches: all } => {
                branches(scope, all);
            }
            Statement::Delegate(Delegation { bindings, .. })
            | Statement::Handoff(Delegation { bindings, .. }) => {
                bindings.retain_mut(|binding| {
                    scope.value(&binding.value).map(|value| binding.value = value).is_some()
                });
            }
            _ => {}
        }
    }
}

fn branches(scope: Scope<'_>, all: &mut [Branch]) {
    for branch in all {
        branch.condition = branch.condition.as_ref().map(|c| scope.condition(c));
        rewrite(scope, &mut branch.body);
    }
}

/// Splits the steps of a flow of ABL itself that its fields cannot express, because another program wrote them.
pub(super) fn own_flow(flow: &mut Flow) {
    if flow.definitions.values().all(|step| fits_step(&step.body)) {
        return;
    }
    // Steps follow each other as the order says, and else as they are declared.
    let at = |list: &[Spanned<Name>], key: &SmolStr| {
        list.iter().position(|name| name.value == *key).unwrap_or(usize::MAX)
    };
    let order = |key: &SmolStr| (at(&flow.sequence, key), at(&flow.steps, key));
    let mut keys: Vec<SmolStr> = flow.definitions.keys().cloned().collect();
    keys.sort_by_cached_key(order);
    let entry = flow.entry().map(|name| Spanned::new(SmolStr::new(name), flow.span));
    flow.definitions.sort_by_cached_key(|key, _| keys.iter().position(|known| known == key));
    let mut builder = Builder::new();
    for step in flow.definitions.keys() {
        builder.used.claim(&[step]);
    }
    // What each step became.
    let mut parts: IndexMap<SmolStr, Vec<Spanned<Name>>> = IndexMap::new();
    for (key, step) in &flow.definitions {
        let before = builder.steps.len();
        if fits_step(&step.body) {
            builder.steps.insert(key.clone(), step.clone());
        } else {
            let mut shell = step.clone();
            let body = std::mem::take(&mut shell.body);
            builder.steps.insert(key.clone(), shell);
            builder.pending.push_back((step.name.clone(), body.0.into()));
            builder.run();
        }
        let new = builder.steps.values().skip(before).map(|step| step.name.clone());
        parts.insert(key.clone(), new.collect());
    }
    builder.limit_attempts();
    let end = builder.lead_on(parts.values());
    if flow.entry_point.is_none() {
        flow.entry_point = entry.filter(|entry| builder.steps.keys().next() != Some(&entry.value));
    }
    // An order that is written has the parts where the definitions have them.
    if !flow.sequence.is_empty() {
        let sequence = std::mem::take(&mut flow.sequence).into_iter();
        flow.sequence = sequence
            .flat_map(|name| parts.get(&name.value).cloned().unwrap_or_else(|| vec![name]))
            .chain(end)
            .collect();
    }
    flow.steps = builder.steps.values().map(|step| step.name.clone()).collect();
    flow.definitions = builder.steps;
}

/// Splits the steps of the flow of an agent into ABL's phases. Returns the renamed steps and the variables that count, too.
pub(super) fn flow(flow: &Flow, agent: &Agent) -> (Flow, Vec<Renamed>, Vec<SessionVariable>) {
    let mut builder = Builder::new();
    let fields = agent.gather.fields.iter().map(|field| &field.name.value);
    for name in fields.chain(agent.memory.session.iter().map(|one| &one.name.value)) {
        builder.counters.claim(&[name]);
    }
    for step in flow.definitions.keys() {
        let name = if flow.entry() == Some(step.as_str()) && is_reserved(step) {
            // ADL's first step has no name; its node has a name reserved in ABL.
            builder.used.claim(&["start"])
        } else {
            builder.used.rename("step", step, &[&format!("{step}_step")])
        };
        builder.names.insert(step.clone(), name);
    }
    let mut jumps: Vec<(usize, usize)> = Vec::new();
    for (at, step) in flow.definitions.values().enumerate() {
        let mut all = Vec::new();
        targets(&step.body, &mut all);
        let to = all.into_iter().filter_map(|to| flow.definitions.get_index_of(to));
        jumps.extend(to.map(|to| (at, to)));
    }
    for (at, step) in flow.definitions.keys().enumerate() {
        let back = jumps.iter().filter(|(from, to)| *to <= at && at <= *from).count();
        let name = builder.names.get(step).cloned().unwrap_or_else(|| step.clone());
        builder.jumps_back.insert(name, back);
    }
    let mut parts: Vec<Vec<Spanned<Name>>> = Vec::new();
    for step in flow.definitions.values() {
        let name = builder.name(&step.name);
        let mut shell = step.clone();
        let mut body = std::mem::take(&mut shell.body);
        rename(&builder.names, &mut body);
        let before = builder.steps.len();
        builder.add(name, shell, body.0.into());
        builder.run();
        parts.push(builder.steps.values().skip(before).map(|step| step.name.clone()).collect());
    }
    builder.limit_attempts();
    let first = builder.names.get(flow.entry().unwrap_or_default()).cloned();
    builder.lead_on(parts.iter());
    let moved = first.filter(|first| builder.steps.keys().next() != Some(first));
    let declared = |n: &Spanned<Name>| builder.steps.contains_key(&n.value);
    let steps = builder.steps.values().map(|s| s.name.clone()).collect();
    let sequence: Vec<_> = flow.sequence.iter().map(|n| builder.name(n)).filter(declared).collect();
    let entry_point = flow.entry_point.as_ref().map(|n| builder.name(n));
    let moved = moved.map(|name| Spanned::new(name, flow.span));
    let entry_point = entry_point.or(moved);
    let flow = Flow { steps, sequence, entry_point, definitions: builder.steps, ..flow.clone() };
    (flow, builder.used.into_renamed(), builder.counted)
}

/// Renames the targets of jumps.
fn rename(names: &IndexMap<SmolStr, SmolStr>, body: &mut Body) {
    for statement in &mut body.0 {
        match statement {
            Statement::Goto(jump) | Statement::Repeat { jump, .. } => rename_jump(names, jump),
            Statement::Check { otherwise: Some(jump), .. } => rename_jump(names, jump),
            Statement::Collect(collect) => {
                rename(names, &mut collect.on_success);
                rename(names, &mut collect.on_failure);
            }
            Statement::If { branches } | Statement::Await { branches } => {
                branches.iter_mut().for_each(|b| rename(names, &mut b.body));
            }
            Statement::Call(call) => {
                rename(names, &mut call.on_success);
                rename(names, &mut call.on_failure);
                call.on_result.iter_mut().for_each(|b| rename(names, &mut b.body));
            }
            _ => {}
        }
    }
}

fn rename_jump(names: &IndexMap<SmolStr, SmolStr>, jump: &mut Jump) {
    if let Target::Step(step) | Target::Backtrack(Some(step)) = &mut jump.target
        && let Some(name) = names.get(&step.value)
    {
        step.value = name.clone();
    }
}

/// Names that steps cannot have: fields of the section, and targets of actions.
fn is_reserved(name: &str) -> bool {
    crate::schema::FLOW.field(name).is_some()
        || crate::inline::ActionKind::from_word(name).is_some()
}

fn to(name: &Spanned<Name>) -> Jump {
    Jump { target: Target::Step(name.clone()), reason: None, span: name.span }
}

struct Builder {
    /// The new names of the steps.
    names: IndexMap<SmolStr, SmolStr>,
    steps: IndexMap<SmolStr, Step>,
    /// Steps with a maximum number of attempts, and what follows when they are used up.
    max_attempts: Vec<(Spanned<Name>, u32, Option<VecDeque<Statement>>)>,
    /// Steps still to be built. A queue avoids recursion over bodies with thousands of statements.
    pending: VecDeque<(Spanned<Name>, VecDeque<Statement>)>,
    /// The names of all steps, built or not.
    used: Namespace,
    /// How many jumps of the source lead back to each step or across it, by its new name.
    jumps_back: FxHashMap<SmolStr, usize>,
    /// The names of the agent's variables.
    counters: Namespace,
    /// The variables that count jumps.
    counted: Vec<SessionVariable>,
}

/// A variable that counts, the condition that fewer than `times` are counted, and counting one more.
fn counter_of(
    name: Name,
    times: u32,
    span: Span,
) -> Option<(SessionVariable, Condition, Statement)> {
    let variable = || Path::variable(Spanned::new(name.clone(), span));
    let with = |op, number: f64| {
        let left = Box::new(Expr::path(variable(), span));
        let right = Box::new(Expr::literal(Literal::Number(number), span));
        Expr::new(ExprKind::Binary { op, left, right }, span).ok()
    };
    let left = of_expr(with(BinaryOp::Less, f64::from(times))?);
    let value = with(BinaryOp::Add, 1.0)?;
    let counter = SessionVariable {
        ty: Some(TypeExpr::named("number", span)),
        initial_value: Some(Data::from(0)),
        span,
        ..SessionVariable::new(Spanned::new(name.clone(), span))
    };
    Some((counter, left, Statement::Set(SetVariable { target: variable(), value, span })))
}

/// The steps that statements jump to.
fn targets<'b>(body: &'b Body, all: &mut Vec<&'b SmolStr>) {
    let mut below: Vec<&Body> = Vec::new();
    for statement in &body.0 {
        match statement {
            Statement::Goto(jump)
            | Statement::Repeat { jump, .. }
            | Statement::Check { otherwise: Some(jump), .. } => {
                all.extend(jump.target.step().map(|step| &step.value));
            }
            Statement::Collect(collect) => below.extend([&collect.on_success, &collect.on_failure]),
            Statement::Call(call) => {
                below.extend([&call.on_success, &call.on_failure]);
                below.extend(call.on_result.iter().map(|branch| &branch.body));
            }
            Statement::If { branches } | Statement::Await { branches } => {
                below.extend(branches.iter().map(|branch| &branch.body));
            }
            _ => {}
        }
    }
    below.into_iter().for_each(|body| targets(body, all));
}

/// The phase of a statement in a step; statements that ABL lacks count as jumps.
fn phase(statement: &Statement) -> Phase {
    statement.phase().unwrap_or(Phase::Goto)
}

impl Builder {
    fn new() -> Self {
        Self {
            names: IndexMap::new(),
            steps: IndexMap::new(),
            max_attempts: Vec::new(),
            pending: VecDeque::new(),
            used: Namespace::new(NameSyntax::Identifier, is_reserved),
            jumps_back: FxHashMap::default(),
            counters: Namespace::of(NameSyntax::Identifier),
            counted: Vec::new(),
        }
    }

    /// Makes steps lead on where their source did. `parts` has what each step became: none of the others may follow
    /// because it happens to be written next. Returns the step that was added to end the flow, if one was needed.
    fn lead_on<'p>(
        &mut self,
        parts: impl DoubleEndedIterator<Item = &'p Vec<Spanned<Name>>>,
    ) -> Option<Spanned<Name>> {
        let mut next: Option<Spanned<Name>> = None;
        let mut end: Option<Spanned<Name>> = None;
        for names in parts.rev() {
            let Some((first, rest)) = names.split_first() else { continue };
            let falls = |this: &Self, name: &Spanned<Name>| {
                this.steps.get(&name.value).is_some_and(|step| step.body.falls_through())
            };
            let skipped = self.steps.get(&first.value).is_some_and(|step| step.when.is_some());
            let before_last = names.split_last().map_or(&[][..], |(_, before)| before);
            let misled = before_last.iter().any(|name| falls(self, name));
            if !rest.is_empty() && (misled || skipped) {
                let target = next.clone().unwrap_or_else(|| {
                    let name = Spanned::new(self.used.claim(&["end"]), first.span);
                    let step = Step {
                        name: name.clone(),
                        reasoning: Some(false),
                        span: first.span,
                        ..Step::default()
                    };
                    self.steps.insert(name.value.clone(), step);
                    end = Some(name.clone());
                    name
                });
                for name in names {
                    if let Some(step) = self.steps.get_mut(&name.value)
                        && step.body.falls_through()
                    {
                        step.body.0.push(Statement::Goto(to(&target)));
                    }
                }
            }
            // A step that is skipped leads to what is written next, which therefore are none of its parts.
            if skipped {
                for name in rest.iter().rev() {
                    if let Some(from) = self.steps.get_index_of(&name.value) {
                        self.steps.move_index(from, 0);
                    }
                }
            }
            next = Some(first.clone());
        }
        end
    }

    /// Gives steps that are jumped to a limited number of times a maximum number of attempts.
    fn limit_attempts(&mut self) {
        while let Some((target, times, rest)) = self.max_attempts.pop() {
            let next = rest.and_then(|rest| self.continuation(&target, rest));
            self.run();
            if let Some(step) = self.steps.get_mut(&target.value)
                && step.max_attempts.is_none()
            {
                step.max_attempts = Some(Number(f64::from(times) + 1.0));
                step.on_exhausted = next;
            }
        }
    }

    fn name(&self, name: &Spanned<Name>) -> Spanned<Name> {
        let to = self.names.get(&name.value).cloned().unwrap_or_else(|| name.value.clone());
        Spanned::new(to, name.span)
    }

    /// A new step after or next to `of`.
    fn new_step(&mut self, of: &Spanned<Name>, body: VecDeque<Statement>) -> Spanned<Name> {
        // What only calls is named after what it calls.
        let tool = match body.front() {
            Some(Statement::Call(call)) => call.tool.value.as_str(),
            _ => &of.value,
        };
        let name = Spanned::new(self.used.claim(&[tool, &of.value]), of.span);
        self.add(name.clone(), Step { span: of.span, ..Step::default() }, body);
        name
    }

    fn add(&mut self, name: Spanned<Name>, shell: Step, body: VecDeque<Statement>) {
        // A step states whether the model leads in it.
        let reasoning = shell.reasoning.or(Some(shell.reasoning_zone.is_some()));
        let shell = Step { name: name.clone(), reasoning, ..shell };
        self.steps.insert(name.value.clone(), shell);
        self.pending.push_back((name, body));
    }

    fn run(&mut self) {
        while let Some((name, body)) = self.pending.pop_front() {
            self.step(&name, body);
        }
    }

    /// Builds a step; statements that do not fit its phases go to further steps.
    fn step(&mut self, name: &Spanned<Name>, mut rest: VecDeque<Statement>) {
        let mut done: Vec<Statement> = Vec::new();
        let mut order = PhaseOrder::default();
        while let Some(statement) = rest.pop_front() {
            let here = phase(&statement);
            let follows = order.takes(Some(here));
            // A choice directly after a call branches on its result. Any other choice there would be misread
            // as one.
            let about_result = here == Phase::If
                && done.iter().any(|s| matches!(s, Statement::Call(_) | Statement::Collect(_)));
            if let (Some(Statement::Call(call)), Statement::If { branches }) =
                (done.last_mut(), &statement)
                && call.on_result.is_empty()
                && call.on_success.is_empty()
                && call.on_failure.is_empty()
            {
                let (branches, then) = self.branches(name, branches.clone(), rest);
                call.on_result = branches;
                done.extend(then);
                break;
            }
            if !follows || about_result {
                rest.push_front(statement);
                let next = self.new_step(name, rest);
                done.push(Statement::Goto(to(&next)));
                break;
            }
            match statement {
                Statement::Goto(jump) => {
                    done.push(Statement::Goto(jump));
                    break;
                }
                Statement::Repeat { jump, times } => {
                    done.push(self.repeat(name, jump, times, rest));
                    break;
                }
                Statement::If { branches } => {
                    let (branches, then) = self.branches(name, branches, rest);
                    done.push(Statement::If { branches });
                    done.extend(then);
                    break;
                }
                // Continues whatever the user says.
                Statement::Await { branches } if branches.is_empty() => {
                    let then = self.continuation(name, rest).map(Statement::Goto);
                    let any = branch(None, Body(then.into_iter().collect()), name.span);
                    done.push(Statement::Await { branches: vec![any] });
                    break;
                }
                Statement::Await { branches } => {
                    let (branches, then) = self.branches(name, branches, rest);
                    done.push(Statement::Await { branches });
                    done.extend(then);
                    break;
                }
                // What does not fit into its outcomes goes to further steps, which lead on to what follows.
                other if !follow_ups_fit(BodyContext::Step, &other) => {
                    let then = self.continuation(name, rest);
                    done.push(self.fitted(name, other, then.as_ref()));
                    done.extend(then.map(Statement::Goto));
                    break;
                }
                other => done.push(other),
            }
        }
        if let Some(step) = self.steps.get_mut(&name.value) {
            step.body = Body(done);
        }
    }

    /// A statement of a step whose outcomes and branches fit.
    fn fitted(
        &mut self,
        of: &Spanned<Name>,
        mut statement: Statement,
        then: Option<&Jump>,
    ) -> Statement {
        match &mut statement {
            Statement::Call(call) => {
                self.outcome(of, &mut call.on_success, then);
                self.outcome(of, &mut call.on_failure, then);
                for branch in &mut call.on_result {
                    let body = std::mem::take(&mut branch.body);
                    branch.body = Body(self.branch(of, body.0, then, BodyContext::Branch));
                }
            }
            Statement::Collect(collect) => {
                self.outcome(of, &mut collect.on_success, then);
                self.outcome(of, &mut collect.on_failure, then);
            }
            _ => {}
        }
        statement
    }

    fn outcome(&mut self, of: &Spanned<Name>, body: &mut Body, then: Option<&Jump>) {
        if !fits(BodyContext::Outcome, body) {
            let statements = std::mem::take(body).0;
            *body = Body(self.branch(of, statements, then, BodyContext::Outcome));
        }
    }

    /// A limited jump. If nothing else leads back to the step, the step gets a maximum number of attempts, then continues
    /// with `rest`. Otherwise a variable counts these jumps, and a step that applies only while there are any left makes
    /// them: what follows it is `rest`.
    fn repeat(
        &mut self,
        of: &Spanned<Name>,
        jump: Jump,
        times: u32,
        rest: VecDeque<Statement>,
    ) -> Statement {
        let Target::Step(target) = &jump.target else { return Statement::Goto(jump) };
        if self.jumps_back.get(&target.value).is_none_or(|all| *all <= 1) {
            let rest = (!rest.is_empty()).then_some(rest);
            self.max_attempts.push((target.clone(), times, rest));
            return Statement::Goto(jump);
        }
        let counted =
            counter_of(self.counters.claim(&[&format!("{}_tries", of.value)]), times, of.span);
        let Some((counter, left, count)) = counted else { return Statement::Goto(jump) };
        self.counted.push(counter);
        let name = Spanned::new(self.used.claim(&[&format!("{}_again", of.value)]), of.span);
        let shell = Step { when: Some(left), span: of.span, ..Step::default() };
        self.add(name.clone(), shell, VecDeque::from([count, Statement::Goto(jump)]));
        self.new_step(of, rest);
        Statement::Goto(to(&name))
    }

    /// The continuation after a choice.
    fn continuation(&mut self, of: &Spanned<Name>, following: VecDeque<Statement>) -> Option<Jump> {
        match following.front() {
            None => None,
            Some(Statement::Goto(jump)) => Some(jump.clone()),
            Some(_) => Some(to(&self.new_step(of, following))),
        }
    }

    /// Branches, and the continuation of a step after them.
    fn branches(
        &mut self,
        of: &Spanned<Name>,
        all: Vec<Branch>,
        following: VecDeque<Statement>,
    ) -> (Vec<Branch>, Option<Statement>) {
        let only_leads_on = matches!(following.front(), Some(Statement::Goto(_)));
        let then = self.continuation(of, following);
        let all: Vec<Branch> = all
            .into_iter()
            .map(|branch| {
                let body = self.branch(of, branch.body.0, then.as_ref(), BodyContext::Branch);
                Branch { body: Body(body), ..branch }
            })
            .collect();
        // Statements after branches that all jump are unreachable.
        let then = then.filter(|_| !(only_leads_on && all_diverge(&all)));
        (all, then.map(Statement::Goto))
    }

    /// The body of a branch or an outcome; statements that do not fit go to a step of their own.
    fn branch(
        &mut self,
        of: &Spanned<Name>,
        body: Vec<Statement>,
        then: Option<&Jump>,
        context: BodyContext,
    ) -> Vec<Statement> {
        let mut done: Vec<Statement> = Vec::new();
        let mut rest = VecDeque::from(body);
        let mut order = PhaseOrder::default();
        while let Some(statement) = rest.pop_front() {
            let fits = match phase_in_branch(&statement) {
                Some(here) => {
                    !matches!(statement, Statement::If { .. })
                        && follow_ups_fit(context, &statement)
                        && order.takes(Some(here))
                }
                None => matches!(statement, Statement::Repeat { .. }),
            };
            if !fits {
                rest.push_front(statement);
                rest.extend(then.cloned().map(Statement::Goto));
                let next = self.new_step(of, rest);
                done.push(Statement::Goto(to(&next)));
                return done;
            }
            match statement {
                Statement::Goto(jump) => {
                    done.push(Statement::Goto(jump));
                    return done;
                }
                Statement::Repeat { jump, times } => {
                    rest.extend(then.cloned().map(Statement::Goto));
                    done.push(self.repeat(of, jump, times, rest));
                    return done;
                }
                other => done.push(other),
            }
        }
        done
    }
}

/// Whether one of the branches is always taken, and all of them jump.
fn all_diverge(branches: &[Branch]) -> bool {
    let leaves = |b: &Branch| match b.body.0.last() {
        Some(Statement::Goto(jump)) => jump.target.diverges(),
        _ => false,
    };
    branches.iter().any(|b| b.condition.is_none()) && branches.iter().all(leaves)
}

/// A branch with a body.
pub(super) fn branch(condition: Option<agentir_expr::Condition>, body: Body, span: Span) -> Branch {
    Branch { condition, body, extensions: Extensions::default(), span }
}
