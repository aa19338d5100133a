//! Lowers steps (B.4) to a flow whose nodes are the main steps, the labels and the subflows.
//!
//! A label ends the current node and starts a new one, to which the current one falls through. If a
//! label is nested in a `then`, the steps after the `if` become a node as well, so that a jump to the
//! label continues after the `if`, as the paper specifies.

use super::{ADL, Context};
use crate::rules;
use crate::{AgentKind, Assignment, StepKind, Subflow};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Argument, Literal, Name, Path};
use agentir_ir::{
    Body, Branch, Call, Data, Decider, Delegation, Extensions, Flow, Jump, Response, SetVariable,
    Statement, Step, Target, VariableBinding, falls_through,
};
use agentir_syntax::lower::data;
use agentir_syntax::lower::data::NO_FLOW;
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};
use std::collections::VecDeque;

/// The name of the node with the main steps.
const MAIN: &str = "steps";

pub(super) fn flow(
    cx: &mut Context<'_>,
    agent: &Spanned<Name>,
    steps: Option<(Span, Vec<crate::Step<'_>>)>,
    subflows: Vec<Subflow<'_>>,
    extensions: &mut Extensions,
) -> Flow {
    let mut builder = Builder::new(cx, agent, extensions);
    if let Some((key, steps)) = steps {
        if let [crate::Step { kind: StepKind::User, span, .. }] = steps.as_slice() {
            builder.cx.problems.push(
                Diagnostic::warning(
                    rules::MICA_STEPS,
                    *span,
                    "MICA crashes on a flow whose only step is `user`",
                )
                .note("it looks for a step to execute after it, and there is none")
                .help("say something first, or do something with the user's answer"),
            );
        }
        builder.flow.entry_point = Some(Spanned::new(SmolStr::new_static(MAIN), key));
        builder.flow.span = key;
        builder.block(Spanned::new(SmolStr::new_static(MAIN), key), key, steps);
    }
    for subflow in subflows {
        builder.block(subflow.name, subflow.span, subflow.steps);
    }
    builder.inner_jumps();
    builder.flow
}

/// Steps executed before the agent's prompt or choice (B.3, B.5).
pub(super) fn initial(
    cx: &mut Context<'_>,
    agent: &Spanned<Name>,
    steps: Vec<crate::Step<'_>>,
    extensions: &mut Extensions,
) -> Body {
    let mut builder = Builder::new(cx, agent, extensions);
    let mut body = Vec::new();
    for step in steps {
        builder.statement(step, &mut body);
    }
    Body(body)
}

/// Reports steps that the paper defines but MICA does not execute, in agents that are not flows.
pub(super) fn check_initial(
    cx: &mut Context<'_>,
    kind: Option<AgentKind>,
    key: Span,
    steps: &[crate::Step<'_>],
) {
    match kind {
        Some(AgentKind::Ensemble) => {
            let fine = |kind: &StepKind<'_>| {
                matches!(
                    kind,
                    StepKind::Bot(_) | StepKind::Set(_) | StepKind::Call { .. } | StepKind::User
                )
            };
            if let Some(step) = steps.iter().find(|s| !fine(&s.kind)) {
                cx.problems.push(
                    Diagnostic::warning(
                        rules::MICA_STEPS,
                        step.verb(),
                        "MICA crashes on this step of an ensemble",
                    )
                    .label(key, "these steps run before the ensemble selects an agent")
                    .note("an ensemble only supports the steps `bot`, `set` and `call` there")
                    .help("move it to a flow agent, and call that agent"),
                );
            }
        }
        Some(AgentKind::Llm) => cx.problems.push(
            Diagnostic::info(
                rules::MICA_STEPS,
                key,
                "MICA skips these steps when the agent is called by a flow",
            )
            .note("it only executes them when an ensemble selects the agent")
            .help("move them before the `call`"),
        ),
        _ => {}
    }
}

struct Builder<'b, 'p, 't> {
    cx: &'b mut Context<'p>,
    agent: &'b str,
    extensions: &'b mut Extensions,
    flow: Flow,
    /// The number of unnamed nodes.
    unnamed_count: usize,
    /// Labels inside a `then` or `else`: their span, and the continuation of the list they are in.
    nested_labels: FxHashMap<SmolStr, (Span, SmolStr)>,
    /// The jumps so far.
    jumps: Vec<Spanned<Name>>,
    /// Nodes still to be lowered. A queue avoids recursion over lists with thousands of labels.
    pending: VecDeque<Pending<'t>>,
}

fn has_label(steps: &[crate::Step<'_>]) -> bool {
    steps.iter().any(|step| match &step.kind {
        StepKind::Label(_) => true,
        StepKind::If(branches) => branches.iter().any(|b| has_label(&b.steps)),
        _ => false,
    })
}

fn to_step(name: &Spanned<Name>, span: Span) -> Statement {
    Statement::Goto(Jump { target: Target::Step(name.clone()), reason: None, span })
}

/// Adds branches. Directly after `user` they branch on the user's answer.
fn branch_off(body: &mut Vec<Statement>, all: Vec<Branch>) {
    match body.last_mut() {
        Some(Statement::Await { branches }) if branches.is_empty() => *branches = all,
        _ => body.push(Statement::If { branches: all }),
    }
}

/// A node still to be lowered.
struct Pending<'t> {
    name: Spanned<Name>,
    span: Span,
    /// The steps up to the end of the list.
    steps: std::vec::IntoIter<crate::Step<'t>>,
    /// The node that the list continues with.
    then: Option<Spanned<Name>>,
    /// The end of the list.
    end: Span,
}

impl<'b, 'p, 't> Builder<'b, 'p, 't> {
    fn new(
        cx: &'b mut Context<'p>,
        agent: &'b Spanned<Name>,
        extensions: &'b mut Extensions,
    ) -> Self {
        let flow = Flow { span: agent.span, key: agent.span, ..Flow::default() };
        Self {
            cx,
            agent: &agent.value,
            extensions,
            flow,
            unnamed_count: 0,
            nested_labels: FxHashMap::default(),
            jumps: Vec::new(),
            pending: VecDeque::new(),
        }
    }

    /// The steps of the agent or of a subflow. After the last one the agent is done.
    fn block(&mut self, name: Spanned<Name>, span: Span, steps: Vec<crate::Step<'t>>) {
        let end = steps.last().map_or(span.end, |s| s.span.end);
        let end = Span::new(span.file, end, end);
        self.pending.push_back(Pending { name, span, steps: steps.into_iter(), then: None, end });
        while let Some(node) = self.pending.pop_front() {
            self.node(node);
        }
    }

    /// Reports jumps to labels after which MICA continues differently from the paper.
    fn inner_jumps(&mut self) {
        for jump in std::mem::take(&mut self.jumps) {
            let Some((label, then)) = self.nested_labels.get(&jump.value) else { continue };
            let lost = self.flow.definitions.get(then);
            let nothing =
                |s: &Statement| matches!(s, Statement::Goto(Jump { target: Target::Complete, .. }));
            if lost.is_none_or(|step| step.body.0.iter().all(nothing)) {
                continue;
            }
            self.cx.problems.push(
                Diagnostic::warning(
                    rules::MICA_JUMP,
                    jump.span,
                    format!("MICA does not continue after the steps of `{jump}`: the label is inside a `then`"),
                )
                .label(*label, "the list ends after this label")
                .note("in the paper the flow continues after the `if`; MICA skips those steps and ends the flow")
                .help(format!("move the steps after `{jump}` to a subflow that ends with `next`")),
            );
        }
    }

    fn node(&mut self, node: Pending<'t>) {
        let Pending { name, span, steps, then, end } = node;
        self.flow.steps.push(name.clone());
        let mut body = self.run(steps, then.as_ref(), end);
        if falls_through(&body) {
            body.push(match &then {
                Some(then) => to_step(then, end),
                None => Statement::Goto(Jump { target: Target::Complete, reason: None, span: end }),
            });
        }
        let step = Step { name: name.clone(), body: Body(body), span, ..Step::default() };
        let before = self.flow.definitions.insert(name.value, step);
        self.flow.shadowed.extend(before);
    }

    /// Lowers steps up to the first label; the rest become nodes. `then` is the continuation.
    fn run(
        &mut self,
        mut steps: std::vec::IntoIter<crate::Step<'t>>,
        then: Option<&Spanned<Name>>,
        end: Span,
    ) -> Vec<Statement> {
        let mut body = Vec::new();
        while let Some(step) = steps.next() {
            let (name, span) = match step.kind {
                StepKind::Label(name) => {
                    if let Some(then) = then {
                        self.nested_labels
                            .insert(name.value.clone(), (name.span, then.value.clone()));
                    }
                    (name, step.span)
                }
                StepKind::If(branches) if branches.iter().any(|b| has_label(&b.steps)) => {
                    self.unnamed_count += 1;
                    let at = Span::new(end.file, step.span.end, step.span.end);
                    let after = Spanned::new(format_smolstr!("{MAIN}~{}", self.unnamed_count), at);
                    let branches = branches
                        .into_iter()
                        .map(|branch| self.branch(branch, Some(&after)))
                        .collect();
                    branch_off(&mut body, branches);
                    (after, at)
                }
                kind => {
                    self.statement(crate::Step { kind, ..step }, &mut body);
                    continue;
                }
            };
            if falls_through(&body) {
                body.push(to_step(&name, span));
            }
            self.pending.push_back(Pending { name, span, steps, then: then.cloned(), end });
            return body;
        }
        body
    }

    fn branch(&mut self, branch: crate::Branch<'t>, then: Option<&Spanned<Name>>) -> Branch {
        let mut extensions = Extensions::default();
        if let Some(tries) = &branch.tries {
            extensions.insert(ADL, "tries", Data::from(tries.value), tries.span);
        }
        let end = Span::new(branch.span.file, branch.span.end, branch.span.end);
        let mut body = self.run(branch.steps.into_iter(), then, end);
        if let Some(then) = then
            && falls_through(&body)
        {
            body.push(to_step(then, end));
        }
        Branch { condition: branch.condition, body: Body(body), extensions, span: branch.span }
    }

    /// Lowers a step that starts no node.
    fn statement(&mut self, step: crate::Step<'t>, body: &mut Vec<Statement>) {
        for entry in &step.unknown {
            let span = entry.span(step.span.file);
            self.extensions.insert(ADL, "step", data::of_entry(entry, NO_FLOW), span);
        }
        match step.kind {
            StepKind::User => body.push(Statement::Await { branches: Vec::new() }),
            StepKind::Bot(text) => {
                body.push(Statement::Respond(Response { text: Some(text), ..Response::default() }));
            }
            StepKind::Set(all) => body.extend(all.into_iter().map(|a| self.set(a))),
            StepKind::Label(name) => body.push(Statement::Other {
                keyword: SmolStr::new_static("label"),
                value: Data::from(name.value.as_str()),
                span: step.span,
            }),
            StepKind::Next { target, tries } => {
                self.jumps.push(target.clone());
                let jump = Jump { target: Target::Step(target), reason: None, span: step.span };
                body.push(match tries {
                    // The paper counts attempts, the first included (B.4.6); MICA counts jumps.
                    Some(tries) if self.cx.for_mica => {
                        Statement::Repeat { jump, times: tries.value }
                    }
                    Some(tries) => Statement::Repeat { jump, times: tries.value.saturating_sub(1) },
                    None => Statement::Goto(jump),
                });
            }
            StepKind::Call { target, args } => body.push(self.call(target, args, step.span)),
            StepKind::If(branches) => {
                let branches = branches.into_iter().map(|b| self.branch(b, None)).collect();
                branch_off(body, branches);
            }
            StepKind::Return { status, message } => {
                let target =
                    if status.value == "success" { Target::Complete } else { Target::Fail };
                if !matches!(status.value.as_str(), "success" | "error") {
                    self.extensions.insert(
                        ADL,
                        "return",
                        Data::from(status.value.as_str()),
                        status.span,
                    );
                }
                body.push(Statement::Goto(Jump { target, reason: message, span: step.span }));
            }
            StepKind::Other(entry) => body.push(Statement::Other {
                keyword: SmolStr::new_static("step"),
                value: data::of_entry(entry, NO_FLOW),
                span: step.span,
            }),
        }
    }

    fn set(&mut self, assignment: Assignment) -> Statement {
        let (value, constant) = self.cx.names.value(self.agent, &assignment);
        let own = assignment.path.as_ref().filter(|path| path.value.segments.is_empty());
        if let Some(path) = own.filter(|_| assignment.quoted && !constant) {
            self.cx.problems.push(
                Diagnostic::warning(
                    rules::MICA_ARGUMENT,
                    assignment.value_span,
                    format!("MICA reads this as the argument `{}`, not as a string", path.value.root),
                )
                .note("YAML drops the quotes, so a string that is the name of an argument refers to that argument")
                .help("remove the quotes if its value is meant, or choose another string"),
            );
        }
        let span = assignment.target.span.to(assignment.value_span);
        Statement::Set(SetVariable { target: assignment.target.value, value, span })
    }

    /// `call` (B.4.2): delegates to an agent, or calls a function.
    fn call(&mut self, target: Spanned<Name>, args: Vec<Assignment>, span: Span) -> Statement {
        let mut values = Vec::new();
        for arg in args {
            let (value, constant) = self.cx.names.value(self.agent, &arg);
            if constant {
                self.constant_argument(&target, &arg);
            }
            values.push((name_of(&arg.target), value));
        }
        if self.cx.names.is_agent(&target.value) {
            let bindings = values
                .into_iter()
                .map(|(variable, value)| VariableBinding { variable, value, by_reference: false })
                .collect();
            return Statement::Delegate(Delegation {
                agent: target,
                returns: None,
                decided_by: Decider::Always,
                bindings,
            });
        }
        let with: Vec<Argument> =
            values.into_iter().map(|(name, value)| Argument { name: Some(name), value }).collect();
        Statement::Call(Box::new(Call { has_arguments: true, ..Call::new(target, with, span) }))
    }

    /// Reports constant arguments: the paper allows them (B.4.2), MICA reads every value as the name of an
    /// argument.
    fn constant_argument(&mut self, target: &Spanned<Name>, arg: &Assignment) {
        let name = &arg.target.value.root;
        let (what, note) = match &arg.literal {
            Literal::String(text) => (
                format!(
                    "MICA passes nothing for `{name}`: `{text}` is not an argument of `{}`",
                    self.agent
                ),
                "it reads every value of a call as the name of an argument",
            ),
            Literal::Null => return,
            _ => (
                format!("MICA cannot pass a constant for `{name}`"),
                "it reads every value of a call as the name of an argument, and crashes on this one",
            ),
        };
        let finding = Diagnostic::warning(rules::MICA_ARGUMENT, arg.value_span, what)
            .label(target.span, "in this call")
            .note(note);
        let similar =
            arg.path.as_ref().and_then(|path| self.cx.names.similar_arg(self.agent, path));
        self.cx.problems.push(match similar {
            Some(similar) => finding.did_you_mean(&similar),
            None => finding.help("set an argument to the value first, and pass the argument"),
        });
    }
}

fn name_of(path: &Spanned<Path>) -> Spanned<Name> {
    if path.value.segments.is_empty() {
        return path.value.root.clone();
    }
    let text = agentir_expr::Expr::path(path.value.clone(), path.span).to_string();
    Spanned::new(SmolStr::new(text), path.span)
}
