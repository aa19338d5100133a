//! Emits statements as steps (B.4): a flow becomes main steps, labels and subflows.
//!
//! A step reached only from its predecessor becomes a label in the same list; a step that others jump
//! forward to becomes a subflow. This is the inverse of lowering, so ADL's own steps keep their order.

mod collect;
mod computed;
mod jumps;

use super::expr::{self, Form};
use super::yaml::Yaml;
use super::{ADL, Scope, text};
use crate::schema;
use agentir_expr::{Expr, ExprKind, Literal, Name, Path, Template};
use agentir_ir::{
    Agent, Body, Branch, Call, Data, Delegation, Flow, Jump, Response, Statement, Step, Target,
    Tool,
};
use agentir_syntax::emit::{expr_phrase, is_user_message, phrase};
use computed::{append, push_set};
use indexmap::{IndexMap, IndexSet};
pub(super) use jumps::is_nameless;
use jumps::{has_label, is_implied, is_led_back_to, is_placed, jumps, order};
use rustc_hash::{FxHashMap, FxHashSet};

/// Context of emitting the steps of an agent.
pub(super) struct Steps<'p> {
    agent: &'p Agent,
    form: Form,
    tools: &'p FxHashMap<&'p str, &'p Tool>,
    context: &'p super::Context<'p>,
    flow: Option<&'p Flow>,
    /// The steps in declaration order, starting with the entry.
    order: IndexSet<&'p str>,
    /// The steps emitted so far.
    emitted: FxHashSet<&'p str>,
    /// The number of forward jumps to each step.
    forward_jumps: FxHashMap<&'p str, usize>,
    /// The nesting depth of labels in branches.
    depth: usize,
    /// Whether the steps that were written last end as steps end of themselves.
    implied_end: bool,
    /// Labels other than the steps of the flow.
    labels: FxHashSet<String>,
    /// Arguments that say whether no branch of a nested `if` was taken.
    pub(super) flags: Vec<String>,
    /// The current step.
    current: &'p str,
}

/// The key of the steps that a flow begins with.
pub(super) const MAIN_STEPS: &str = "steps";

/// What sets an argument.
fn assign(name: &str, value: bool) -> Vec<(String, Yaml)> {
    vec![(name.to_owned(), Yaml::Raw(if value { "True" } else { "False" }.to_owned()))]
}

/// The maximum nesting depth of labels in branches; outlines nest no deeper.
const MAX_DEPTH: usize = 64;

/// The context of statements.
#[derive(Clone, Copy)]
struct Position<'p> {
    /// Inside a `then` or `else`, to which MICA does not return from a label.
    nested: bool,
    /// The step that follows implicitly.
    then: Option<&'p str>,
}

const TOP: Position<'static> = Position { nested: false, then: None };

impl<'p> Steps<'p> {
    pub(super) fn new(
        agent: &'p Agent,
        flow: Option<&'p Flow>,
        tools: &'p FxHashMap<&'p str, &'p Tool>,
        context: &'p super::Context<'p>,
    ) -> Self {
        let mut steps = Self {
            agent,
            form: super::form(agent),
            tools,
            context,
            flow,
            order: flow.map(order).unwrap_or_default(),
            depth: 0,
            implied_end: false,
            emitted: FxHashSet::default(),
            forward_jumps: FxHashMap::default(),
            labels: FxHashSet::default(),
            flags: Vec::new(),
            current: "",
        };
        for name in steps.order.clone() {
            steps.emitted.insert(name);
            let Some(step) = steps.step(name) else { continue };
            for target in jumps(&step.body) {
                if !steps.emitted.contains(target) {
                    *steps.forward_jumps.entry(target).or_default() += 1;
                }
            }
        }
        steps.emitted.clear();
        steps
    }

    /// What the names in its expressions and texts may be.
    const fn scope(&self) -> Scope<'p> {
        Scope { form: self.form, agent: self.agent, context: self.context }
    }

    fn step(&self, name: &str) -> Option<&'p Step> {
        self.flow?.definitions.get(name)
    }

    /// An unused label: `name`, `name_2`, …
    fn fresh(&mut self, name: &str) -> String {
        let mut label = name.to_owned();
        let mut number = 1;
        while self.step(&label).is_some() || self.labels.contains(&label) {
            number += 1;
            label = format!("{name}_{number}");
        }
        self.labels.insert(label.clone());
        label
    }

    /// The main steps and the subflows, by key. `before` is prepended to the main steps.
    pub(super) fn flow(&mut self, before: Vec<Yaml>) -> IndexMap<String, Vec<Yaml>> {
        let order = self.order.clone();
        let mut blocks: IndexMap<String, Vec<Yaml>> = IndexMap::new();
        // Whether the last of them ends as steps end of themselves, which is not written.
        let mut ends_of_itself = false;
        let end = || Yaml::pair("return", Yaml::text("success"));
        for (i, name) in order.iter().copied().enumerate() {
            if self.emitted.contains(name) {
                continue;
            }
            let key = if i == 0 { MAIN_STEPS } else { name };
            let mut steps = Vec::new();
            if i == 0 {
                steps.extend(before.iter().cloned());
                if self.returns_to(name) {
                    steps.push(Yaml::pair("label", Yaml::text(name)));
                }
            }
            // The name of a field cannot be the key of a subflow.
            if i > 0 && (schema::by_key(name).is_some() || blocks.contains_key(name)) {
                steps.push(Yaml::pair("label", Yaml::text(name)));
                self.chain(name, &mut steps, TOP);
                if let Some((_, last)) = blocks.last_mut() {
                    last.extend(ends_of_itself.then(end));
                    last.append(&mut steps);
                }
                ends_of_itself = false;
                continue;
            }
            self.chain(name, &mut steps, TOP);
            ends_of_itself = self.implied_end && steps.len() > 1;
            if ends_of_itself {
                steps.pop();
            }
            blocks.insert(key.to_owned(), steps);
        }
        blocks
    }

    /// Whether something jumps back to the entry and no label of its own is there; ADL has no name for the main steps.
    fn returns_to(&self, entry: &str) -> bool {
        self.flow.is_some_and(|flow| !has_label(flow, entry) && is_led_back_to(flow, entry))
    }

    /// A step and the labels that follow it.
    fn chain(&mut self, first: &'p str, out: &mut Vec<Yaml>, position: Position<'p>) {
        let mut name = first;
        loop {
            self.implied_end = false;
            self.emitted.insert(name);
            let Some(step) = self.step(name) else { return };
            let around = std::mem::replace(&mut self.current, name);
            let mut statements = step.body.0.as_slice();
            let last = match statements.split_last() {
                Some((Statement::Goto(jump), before)) => {
                    statements = before;
                    Some(jump)
                }
                _ => None,
            };
            let after = self
                .label_continuation(statements, last)
                .filter(|after| position.then != Some(*after));
            self.other_fields(step, out);
            match &step.when {
                Some(when) => {
                    let mut guarded = Vec::new();
                    let nested = Position { nested: true, then: None };
                    self.statements(statements, &mut guarded, nested, None);
                    if guarded.is_empty() {
                        guarded.push(Yaml::text("user"));
                    }
                    out.push(Yaml::Map(vec![
                        ("if".to_owned(), Yaml::text(expr::condition(when, self.scope()))),
                        ("then".to_owned(), Yaml::List(guarded)),
                    ]));
                }
                None => self.statements(statements, out, position, after),
            }
            let next = after.or_else(|| Some(last?.target.step()?.value.as_str()));
            let joined = next.filter(|next| {
                let is_written =
                    || last.is_some_and(|to| self.form == Form::AsWritten && self.is_written(to));
                after.is_some()
                    || (position.then != Some(*next) && !is_written() && self.is_label(name, next))
            });
            match (joined, last) {
                (Some(next), _) => {
                    if after.is_none() {
                        out.push(Yaml::pair("label", Yaml::text(next)));
                    }
                    self.current = around;
                    name = next;
                }
                (None, last) => {
                    self.implied_end = false;
                    match last {
                        Some(jump) => {
                            self.implied_end = self.form == Form::AsWritten && is_implied(jump);
                            self.jump(jump, out, position);
                        }
                        None if step.when.is_some() || step.body.falls_through() => {
                            self.fall_through(name, out, position)
                        }
                        None => {}
                    }
                    self.current = around;
                    return;
                }
            }
        }
    }

    /// Whether a jump is a `next`, and not the label that it leads to.
    fn is_written(&self, jump: &Jump) -> bool {
        let target = jump.target.step();
        let label = target.and_then(|target| self.step(&target.value));
        let is_label = label.zip(target).is_some_and(|(step, to)| step.name.span == to.span);
        is_placed(jump) && !is_label
    }

    /// The continuation after a step's statements: the next step in order (ABL §3.14).
    fn fall_through(&self, name: &str, out: &mut Vec<Yaml>, position: Position<'p>) {
        if self.form == Form::AsWritten || position.nested {
            return;
        }
        let next = self.order.get_index_of(name).and_then(|at| self.order.get_index(at + 1));
        out.push(match next {
            Some(next) => Yaml::pair("next", Yaml::text(*next)),
            None => Yaml::pair("return", Yaml::text("success")),
        });
    }

    /// The unnamed step after an `if` that has a label inside.
    fn label_continuation(
        &self,
        statements: &'p [Statement],
        last: Option<&'p Jump>,
    ) -> Option<&'p str> {
        let unnamed = |jump: &'p Jump| {
            let name = jump.target.step()?.value.as_str();
            let open = name.contains('~') && !self.emitted.contains(name);
            (open && self.step(name).is_some()).then_some(name)
        };
        if self.form != Form::AsWritten {
            return None;
        }
        let Some(Statement::If { branches } | Statement::Await { branches }) = statements.last()
        else {
            return None;
        };
        last.and_then(unnamed).or_else(|| {
            branches.iter().find_map(|b| match b.body.0.last() {
                Some(Statement::Goto(jump)) => unnamed(jump),
                _ => None,
            })
        })
    }

    /// Whether `next` can be a label after `name`: it is the next step, and no other step jumps forward to
    /// it.
    fn is_label(&self, name: &str, next: &str) -> bool {
        if self.emitted.contains(next) || self.step(next).is_none() {
            return false;
        }
        let following = self.order.get_index_of(name).and_then(|at| self.order.get_range(at + 1..));
        let follows = following.is_some_and(|following| {
            following.iter().find(|n| !self.emitted.contains(*n)) == Some(&next)
        });
        follows && self.forward_jumps.get(next).is_none_or(|n| *n <= 1)
    }

    /// The parts of a step other than its statements.
    fn other_fields(&self, step: &Step, out: &mut Vec<Yaml>) {
        if step.reasoning_zone.is_some() {
            let target = super::zone_name(&self.agent.metadata.name.value, &step.name.value);
            out.push(Yaml::pair("call", Yaml::text(target)));
        }
        for digression in step.digressions.iter().chain(&step.sub_intents) {
            let what = digression
                .intent
                .as_ref()
                .map(|i| i.value.to_string())
                .or_else(|| digression.condition.as_ref().map(phrase))
                .unwrap_or_default();
            out.push(Yaml::Comment(format!("not in ADL: what the user may ask for here: {what}")));
        }
    }

    /// Statements before an agent's prompt or choice.
    pub(super) fn initial(&mut self, body: &'p Body) -> Vec<Yaml> {
        let mut out = Vec::new();
        self.statements(&body.0, &mut out, TOP, None);
        out
    }

    /// `after` is the continuation of the last statement's branches.
    fn statements(
        &mut self,
        all: &'p [Statement],
        out: &mut Vec<Yaml>,
        position: Position<'p>,
        after: Option<&'p str>,
    ) {
        let mut at = 0;
        while let Some(statement) = all.get(at) {
            at += 1;
            match statement {
                Statement::Set(_) => {
                    let more = all.iter().skip(at).take_while(|s| matches!(s, Statement::Set(_)));
                    let run = 1 + more.count();
                    at += run - 1;
                    let sets = all.iter().skip(at - run).take(run).filter_map(|s| match s {
                        Statement::Set(set) => Some(set),
                        _ => None,
                    });
                    self.set(sets, out);
                }
                statement => {
                    let after = if at == all.len() { after } else { None };
                    self.statement(statement, out, position, after);
                }
            }
        }
    }

    fn statement(
        &mut self,
        statement: &'p Statement,
        out: &mut Vec<Yaml>,
        position: Position<'p>,
        after: Option<&'p str>,
    ) {
        match statement {
            Statement::Set(_) => {}
            Statement::Respond(response) => self.respond(response, out),
            Statement::Await { branches } => {
                out.push(Yaml::text("user"));
                self.branches(branches, out, position, after);
            }
            Statement::If { branches } => self.branches(branches, out, position, after),
            Statement::Goto(jump) => self.jump(jump, out, position),
            Statement::Repeat { jump, times } => {
                let target = jump.target.to_string();
                out.push(Yaml::Map(vec![
                    ("next".to_owned(), Yaml::text(target)),
                    // The paper counts attempts (B.4.6), of which the first needs no jump.
                    ("tries".to_owned(), Yaml::Raw(times.saturating_add(1).to_string())),
                ]));
            }
            Statement::Call(call) => self.call(call, out, position),
            Statement::Delegate(d) => out.push(self.delegate(d)),
            Statement::Handoff(d) => {
                out.push(self.delegate(d));
                if d.returns != Some(true) {
                    out.push(Yaml::pair("return", Yaml::text("success")));
                }
            }
            Statement::Check { condition, otherwise } => {
                let mut then = Vec::new();
                if let Some(jump) = otherwise {
                    self.jump(jump, &mut then, Position { nested: true, then: None });
                }
                if then.is_empty() {
                    then.push(Yaml::pair("return", Yaml::text("error")));
                }
                out.push(Yaml::Map(vec![
                    ("if".to_owned(), Yaml::text(expr::negation(condition, self.scope()))),
                    ("then".to_owned(), Yaml::List(then)),
                ]));
            }
            Statement::Collect(collect) => self.collect(collect, out, position),
            Statement::Clear { variables } if variables.is_empty() => {}
            Statement::Clear { variables } => {
                let none = |v: &agentir_diagnostics::Spanned<Name>| {
                    let shared = self.scope().shared(&Path::dotted(&v.value, v.span));
                    let name = shared.unwrap_or_else(|| v.value.to_string());
                    (name, Yaml::Raw("null".to_owned()))
                };
                push_set(variables.iter().map(none).collect(), out);
            }
            Statement::Instruct { text } => {
                out.push(Yaml::Comment(format!("not in ADL: for the model: {}", text.text.value)));
            }
            Statement::Transform(transform) => out.push(Yaml::Comment(format!(
                "not in ADL: {} from {}",
                transform.target,
                expr_phrase(&transform.source)
            ))),
            Statement::Log { value } => {
                out.push(Yaml::Comment(format!("not in ADL: log {}", value.value)));
            }
            Statement::Escalate { .. } => {
                out.push(Yaml::pair("return", Yaml::text("error, a person takes over")));
            }
            Statement::Other { keyword, value, .. } => self.other(keyword, value, out),
        }
    }

    fn other(&self, keyword: &str, value: &Data, out: &mut Vec<Yaml>) {
        match (keyword, value) {
            ("label", Data::String(name)) => {
                out.push(Yaml::pair("label", Yaml::text(name.as_str())))
            }
            ("step", value) if self.form == Form::AsWritten => out.push(match value {
                Data::Array(items) if items.len() == 1 => {
                    items.first().map_or(Yaml::text(""), Yaml::data)
                }
                value => Yaml::data(value),
            }),
            _ => out.push(Yaml::Comment(format!("not in ADL: {keyword} {value}"))),
        }
    }

    fn respond(&self, response: &Response, out: &mut Vec<Yaml>) {
        if let Some(text) = self.agent.response_text(response) {
            self.say(text, out);
        }
    }

    /// `bot`, and what of the text ADL has no placeholder for.
    fn say(&self, text: &Template, out: &mut Vec<Yaml>) {
        let (text, left_out) = text::said(text, self.scope());
        out.extend(left_out.iter().map(|what| Yaml::Comment(format!("not in ADL: {what}"))));
        if !text.trim().is_empty() {
            out.push(Yaml::pair("bot", Yaml::Quoted(text)));
        }
    }

    /// A value that ADL has no expression for, as words of a comment.
    fn words_for(&self, value: &Expr) -> String {
        match value.as_path() {
            Some(path)
                if path.segments.is_empty()
                    && self.tools.contains_key(path.root.value.as_str()) =>
            {
                format!("the whole result of `{}`", path.root)
            }
            _ => expr_phrase(value),
        }
    }

    fn branches(
        &mut self,
        branches: &'p [Branch],
        out: &mut Vec<Yaml>,
        position: Position<'p>,
        after: Option<&'p str>,
    ) {
        let inner = Position { nested: true, then: after.or(position.then) };
        // Statements after an always-taken branch are unreachable, and MICA rejects them.
        let always = branches.iter().position(|branch| branch.condition.is_none());
        let (branches, never) = branches.split_at(always.map_or(branches.len(), |at| at + 1));
        self.emit_branches(branches, out, position, inner);
        out.extend(never.iter().map(|branch| match &branch.condition {
            Some(condition) => Yaml::Comment(format!("never: if {}", phrase(condition))),
            None => Yaml::Comment("never: another else".to_owned()),
        }));
    }

    fn emit_branches(
        &mut self,
        branches: &'p [Branch],
        out: &mut Vec<Yaml>,
        position: Position<'p>,
        inner: Position<'p>,
    ) {
        // MICA drops an `else` inside of a `then` that is attached to its `if`, and its validator refuses one that is an
        // item of its own. An argument says whether the `else` is due.
        let flag = (position.nested && self.form == Form::ForMica && branches.len() > 1)
            .then(|| branches.last().filter(|last| last.condition.is_none()))
            .flatten()
            .map(|_| self.flag());
        if let Some(flag) = &flag {
            push_set(assign(flag, true), out);
        }
        for (i, branch) in branches.iter().enumerate() {
            let mut steps = Vec::new();
            if let (Some(flag), Some(_)) = (&flag, &branch.condition) {
                push_set(assign(flag, false), &mut steps);
            }
            self.branch(&branch.body.0, &mut steps, inner);
            let Some(condition) = &branch.condition else {
                if i == 0 {
                    append(steps, out);
                    return;
                }
                if steps.iter().all(|s| matches!(s, Yaml::Comment(_))) {
                    continue;
                }
                match (&flag, out.last_mut()) {
                    (Some(flag), _) => out.push(Yaml::Map(vec![
                        ("if".to_owned(), Yaml::text(format!("{flag} == True"))),
                        ("then".to_owned(), Yaml::List(steps)),
                    ])),
                    (None, Some(Yaml::Map(last))) => {
                        last.push(("else".to_owned(), Yaml::List(steps)));
                    }
                    (None, _) => out.push(Yaml::pair("else", Yaml::List(steps))),
                }
                continue;
            };
            self.fill(&mut steps);
            let word = if i == 0 { "if" } else { "else if" };
            let mut pairs = vec![
                (word.to_owned(), Yaml::text(expr::condition(condition, self.scope()))),
                ("then".to_owned(), Yaml::List(steps)),
            ];
            let tries = branch.extensions.0.get(ADL).and_then(|all| all.get("tries"));
            pairs.extend(tries.map(|t| ("tries".to_owned(), Yaml::data(&t.value))));
            out.push(Yaml::Map(pairs));
        }
    }

    /// A new argument that is true if an `else` is due.
    fn flag(&mut self) -> String {
        let known = super::agent::args(self.agent);
        let names = (1_u32..).map(|number| match number {
            1 => "otherwise".to_owned(),
            number => format!("otherwise_{number}"),
        });
        let mut free =
            names.filter(|name| !known.contains(name.as_str()) && !self.flags.contains(name));
        let flag = free.next().unwrap_or_default();
        self.flags.push(flag.clone());
        flag
    }

    /// `then` must not be empty, and comments are no steps.
    fn fill(&mut self, steps: &mut Vec<Yaml>) {
        if steps.iter().all(|step| matches!(step, Yaml::Comment(_))) {
            let label = self.fresh("go_on");
            steps.push(Yaml::pair("label", Yaml::text(label)));
        }
    }

    /// The statements of a branch. A jump to a label that only continues after the `if` is replaced by the
    /// label.
    fn branch(&mut self, all: &'p [Statement], out: &mut Vec<Yaml>, position: Position<'p>) {
        if let (Some(after), Some((Statement::Goto(jump), before))) =
            (position.then, all.split_last())
            && self.form == Form::AsWritten
            && let Some(label) = jump.target.step().map(|s| s.value.as_str())
            && self.depth < MAX_DEPTH
            && self.leads_to(label, after)
        {
            self.statements(before, out, position, None);
            out.push(Yaml::pair("label", Yaml::text(label)));
            self.depth += 1;
            self.chain(label, out, position);
            self.depth -= 1;
            return;
        }
        self.statements(all, out, position, position.then);
    }

    /// Whether a step that is not emitted yet only continues with `after`.
    fn leads_to(&self, label: &str, after: &str) -> bool {
        let mut name = label;
        for _ in 0..64 {
            let Some(step) = self.step(name).filter(|_| !self.emitted.contains(name)) else {
                return false;
            };
            let Some(Statement::Goto(jump)) = step.body.0.last() else { return false };
            match jump.target.step() {
                Some(next) if next.value == after => return true,
                Some(next) => name = &next.value,
                None => return false,
            }
        }
        false
    }

    fn jump(&self, jump: &Jump, out: &mut Vec<Yaml>, position: Position<'p>) {
        let reason = jump.reason.as_ref().map(|r| r.value.as_str());
        let ended = |status: &str, reason: Option<&str>| {
            let text = match reason {
                Some(reason) => format!("{status}, {reason}"),
                None => status.to_owned(),
            };
            Yaml::pair("return", Yaml::text(text))
        };
        match &jump.target {
            Target::Step(step) | Target::Backtrack(Some(step)) => {
                if position.then != Some(step.value.as_str()) {
                    out.push(Yaml::pair("next", Yaml::text(step.value.as_str())));
                }
            }
            Target::Complete => out.push(ended("success", reason)),
            Target::Fail | Target::Block => out.push(ended("error", reason)),
            Target::Escalate => {
                out.push(ended("error", Some(reason.unwrap_or("a person takes over"))));
            }
            Target::Retry | Target::RetryStep if !self.current.is_empty() => {
                out.push(Yaml::pair("next", Yaml::text(self.current)));
            }
            Target::Handoff(Some(agent)) => {
                out.push(Yaml::pair("call", Yaml::text(self.context.agent(&agent.value))));
                out.push(ended("success", None));
            }
            Target::Delegate(Some(agent)) => {
                out.push(Yaml::pair("call", Yaml::text(self.context.agent(&agent.value))));
            }
            Target::AskUser(choices) => {
                let choices: Vec<_> = choices.iter().map(|c| c.value.as_str()).collect();
                out.push(Yaml::pair("bot", Yaml::Quoted(format!("{}?", choices.join(", ")))));
                out.push(Yaml::text("user"));
            }
            Target::Respond => {
                out.extend(reason.map(|said| Yaml::pair("bot", Yaml::Quoted(said.to_owned()))));
            }
            Target::Continue
            | Target::Resume
            | Target::Redact
            | Target::Retry
            | Target::RetryStep
            | Target::Backtrack(None)
            | Target::Handoff(None)
            | Target::Delegate(None) => {}
        }
    }

    fn delegate(&self, d: &Delegation) -> Yaml {
        let args: Vec<_> = d
            .bindings
            .iter()
            .filter_map(|b| Some((b.variable.value.to_string(), value(&b.value, self.scope())?)))
            .collect();
        call_step(&self.context.agent(&d.agent.value), args)
    }

    fn call(&mut self, call: &'p Call, out: &mut Vec<Yaml>, position: Position<'p>) {
        let tool = self.tools.get(call.tool.value.as_str());
        let mut parameters = tool.iter().flat_map(|t| &t.parameters);
        let mut args = Vec::new();
        if call.has_arguments {
            for (i, arg) in call.with.iter().enumerate() {
                let named = match &arg.name {
                    Some(name) => Some(name.value.to_string()),
                    None => tool.and_then(|t| Some(t.parameters.get(i)?.name.value.to_string())),
                };
                let Some(name) = named else { continue };
                match value(&arg.value, self.scope()) {
                    Some(value) => args.push((name, value)),
                    None => out.push(Yaml::Comment(format!(
                        "not in ADL: {name} is {}",
                        self.words_for(&arg.value)
                    ))),
                }
            }
        } else {
            let known = self.context.args(&self.agent.metadata.name.value);
            args.extend(
                parameters
                    .by_ref()
                    .filter(|p| known.contains(p.name.value.as_str()))
                    .map(|p| (p.name.value.to_string(), Yaml::text(p.name.value.as_str()))),
            );
        }
        // A call without an argument that is required fails before the function begins.
        let required = tool.filter(|_| self.form == Form::ForMica).map(|tool| &tool.parameters);
        for parameter in required.into_iter().flatten() {
            let name = parameter.name.value.as_str();
            let is_required = parameter.required && parameter.default.is_none();
            if is_required && !args.iter().any(|(given, _)| given == name) {
                args.push((name.to_owned(), Yaml::Raw("null".to_owned())));
            }
        }
        let named = call.result.as_ref().filter(|name| name.value != call.tool.value);
        out.extend(
            named.map(|name| Yaml::Comment(format!("what was called {name} is now {}", call.tool))),
        );
        out.push(call_step(&call.tool.value, args));
        let inner = Position { nested: true, then: None };
        let mut done = Vec::new();
        self.statements(&call.on_success.0, &mut done, inner, None);
        let mut failed = Vec::new();
        self.statements(&call.on_failure.0, &mut failed, inner, None);
        let succeeded = match &call.success_when {
            Some(condition) => expr::condition(condition, self.scope()),
            None => format!("{}.status != \"error\"", call.tool),
        };
        let has_failed = match &call.success_when {
            Some(condition) => expr::negation(condition, self.scope()),
            // A function says that it has failed; what it returns otherwise need not have a status (C.1).
            None => format!("{}.status == \"error\"", call.tool),
        };
        match (done.is_empty(), failed.is_empty()) {
            (true, true) => {}
            (false, true) => append(done, out),
            (true, false) => {
                self.fill(&mut failed);
                out.push(Yaml::Map(vec![
                    ("if".to_owned(), Yaml::text(has_failed)),
                    ("then".to_owned(), Yaml::List(failed)),
                ]));
            }
            (false, false) => {
                self.fill(&mut done);
                self.fill(&mut failed);
                let flag = (position.nested && self.form == Form::ForMica).then(|| self.flag());
                if let Some(flag) = &flag {
                    push_set(assign(flag, true), out);
                    let after = std::mem::take(&mut done);
                    push_set(assign(flag, false), &mut done);
                    append(after, &mut done);
                }
                let mut pairs = vec![
                    ("if".to_owned(), Yaml::text(succeeded)),
                    ("then".to_owned(), Yaml::List(done)),
                ];
                if let Some(flag) = flag {
                    out.push(Yaml::Map(pairs));
                    out.push(Yaml::Map(vec![
                        ("if".to_owned(), Yaml::text(format!("{flag} == True"))),
                        ("then".to_owned(), Yaml::List(failed)),
                    ]));
                } else {
                    pairs.push(("else".to_owned(), Yaml::List(failed)));
                    out.push(Yaml::Map(pairs));
                }
            }
        }
        self.branches(&call.on_result, out, position, None);
    }
}

fn call_step(name: &str, args: Vec<(String, Yaml)>) -> Yaml {
    let mut pairs = vec![("call".to_owned(), Yaml::text(name))];
    if !args.is_empty() {
        pairs.push(("args".to_owned(), Yaml::Map(args)));
    }
    Yaml::Map(pairs)
}

/// A value of `set` or an argument of a call: the name of an argument, or a constant (B.4.3).
fn value(expr: &Expr, scope: Scope<'_>) -> Option<Yaml> {
    Some(match &expr.kind {
        // What is no argument is a text here.
        ExprKind::Path(path) if scope.form == Form::ForMica && is_user_message(path) => {
            return None;
        }
        // Placeholders are not filled in here; a placeholder alone is the value itself.
        ExprKind::Template(text) => return value(text.only_placeholder()?, scope),
        ExprKind::Path(path) => Yaml::text(scope.name(path)?),
        ExprKind::Literal(Literal::String(text) | Literal::Date(text)) => {
            Yaml::Quoted(text.to_string())
        }
        ExprKind::Literal(Literal::Number(number)) => Yaml::Raw(number.to_string()),
        ExprKind::Literal(Literal::Bool(value)) => {
            Yaml::Raw(if *value { "True" } else { "False" }.to_owned())
        }
        ExprKind::Literal(Literal::Null | Literal::Undefined) => Yaml::Raw("null".to_owned()),
        _ => return None,
    })
}
