//! Adapts the tools exposed to the model and the statements around its turns.
//!
//! A guard becomes a constraint on the call. Statements after a call become assignments from its result.
//! A guarded transition becomes a handoff with a condition.

use super::bodies::{self, branch};
use super::expr::{self, Scope};
use super::label;
use crate::dialect::ABL;
use crate::emit::body::{expressible_by_fields, phase_in_branch};
use crate::emit::order::PhaseOrder;
use agentir_diagnostics::Spanned;
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, Path, Template, TypeExpr};
use agentir_ir::{
    Activation, Agent, Binding, BindingAction, Body, Branch, Call, Checkpoint, Constraint,
    ConstraintKind, Data, Extensions, FilledBy, Handoff, Hook, Instruction, Node, Number,
    Parameter, Profile, ReasoningZone, SessionVariable, SetVariable, Statement, Tool, ToolBinding,
    ToolType,
};
use agentir_syntax::emit::{NameSyntax, Namespace};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};
use std::collections::VecDeque;

/// The profile that hides what only statements call.
pub(super) const INTERNAL_TOOLS: &str = "internal_tools";

/// In ABL the model may call every tool that is declared. Those that it was not offered a profile hides, always: they are
/// declared for hooks, or for nothing.
pub(super) fn hide_unbound_tools(agent: &mut Agent) {
    if !agent.metadata.dialect.traits().model_acts_by_tools || agent.flow.is_some() {
        return;
    }
    let zone = agent.reasoning.as_ref();
    let listed = zone.and_then(|zone| zone.available_tools.as_ref()).into_iter().flatten();
    let bound = zone.into_iter().flat_map(|zone| &zone.bindings);
    let bound = bound.filter_map(|binding| match &binding.action {
        BindingAction::Call { tool } => Some(tool),
        _ => None,
    });
    let offered: FxHashSet<&str> = listed.chain(bound).map(|tool| tool.value.as_str()).collect();
    let hidden: Vec<Spanned<SmolStr>> = agent
        .tools
        .iter()
        .map(|tool| &tool.name)
        .filter(|name| !offered.contains(name.value.as_str()))
        .cloned()
        .collect();
    let Some(span) = hidden.first().map(|name| name.span) else { return };
    agent.behavior_profiles.push(Profile {
        when: Some(expr::of_expr(Expr::literal(Literal::Bool(true), span))),
        tools_hide: hidden,
        ..Profile::new(Spanned::new(SmolStr::new_static(INTERNAL_TOOLS), span), ABL)
    });
}

/// Adapts the exposed tools and the statements before each model request.
pub(super) fn tool_bindings(scope: Scope<'_>, agent: &mut Agent, mut zone: ReasoningZone) {
    bodies::rewrite(scope, &mut zone.prepare);
    let mut done = Vec::new();
    prepare(agent, zone.prepare, None, &mut done);
    if !done.is_empty() {
        agent.hooks.before_turn.get_or_insert_with(Hook::default).body.0.extend(done);
    }
    let mut times: FxHashMap<SmolStr, usize> = FxHashMap::default();
    for binding in &zone.bindings {
        if let BindingAction::Call { tool } = &binding.action {
            *times.entry(tool.value.clone()).or_default() += 1;
        }
    }
    for binding in zone.bindings {
        match &binding.action {
            BindingAction::Call { tool } => {
                let once = times.get(&tool.value) == Some(&1);
                let tool = tool.clone();
                call(scope, agent, &tool, once, binding);
            }
            BindingAction::Collect => {
                collected_fields(scope, agent, &binding);
                if has_fixed_values(&binding) {
                    value_setter_tool(scope, agent, binding);
                } else {
                    explain_mention(agent, &binding);
                }
            }
            _ => {}
        }
    }
}

/// Fields are taken from what the user says, without a tool. Where instructions speak of one, the model is told so.
fn explain_mention(agent: &mut Agent, binding: &ToolBinding) {
    if !expr::is_unambiguous_name(&binding.name.value) {
        return;
    }
    let called = binding.name.value.replace('_', " ");
    let told = agent.identity.instructions.iter();
    if !told.into_iter().any(|one| one.text.text.value.contains(called.as_str())) {
        return;
    }
    let names: Vec<String> = binding.with.iter().map(|w| format!("`{}`", w.name)).collect();
    let text = format_smolstr!(
        "There is no tool for \"{called}\": {} {} noted when the user says it.",
        names.join(", "),
        if names.len() == 1 { "is" } else { "are" }
    );
    let text = Template::plain(Spanned::new(text, binding.span));
    agent.identity.instructions.push(Instruction { when: None, text });
}

/// Whether the author provides some of the values that the model sets.
pub(super) fn has_fixed_values(binding: &ToolBinding) -> bool {
    binding.with.iter().any(|with| with.filled_by == FilledBy::Value)
}

/// Setting fixed values becomes a tool without other effects, whose `on_result` sets them.
fn value_setter_tool(scope: Scope<'_>, agent: &mut Agent, binding: ToolBinding) {
    let span = binding.span;
    let fixed = binding.with.iter().filter(|with| with.filled_by == FilledBy::Value);
    let sets = fixed.filter_map(|with| {
        let mut variable = with.name.clone();
        scope.variable(&mut variable);
        let value = scope.value(with.value.as_ref()?)?;
        Some(SetVariable { target: Path::variable(variable), value, span: with.name.span })
    });
    let code = [("runtime", "javascript"), ("code", "return {};")];
    let code = code.map(|(key, value)| (key.to_owned(), Data::from(value)));
    let tool = Tool {
        description: binding.description.clone(),
        tool_type: Some(ToolType::Sandbox),
        binding: Some(Binding(code.into_iter().collect())),
        on_result: sets.collect(),
        span,
        ..Tool::new(binding.name.clone())
    };
    agent.tools.push(tool);
    guard_constraint(scope, agent, &binding.name, &binding);
}

/// Turns the guard of a tool into a constraint on its call. A natural-language guard is left to the
/// model.
fn guard_constraint(
    scope: Scope<'_>,
    agent: &mut Agent,
    tool: &Spanned<SmolStr>,
    binding: &ToolBinding,
) {
    let Some(when) = &binding.available_when else { return };
    let Some(condition) = scope.evaluated(when) else {
        let words = scope.condition(when).text.value;
        let text = format_smolstr!("Call `{}` only if {words}.", tool.value);
        agent.identity.instructions.push(Instruction {
            when: None,
            text: Template::plain(Spanned::new(text, binding.span)),
        });
        return;
    };
    agent
        .constraints
        .constraints
        .push(Constraint { span: binding.span, ..call_constraint(condition, tool) });
}

/// Exposes a tool. If it is exposed under a single name, the guard applies to the tool itself.
fn call(
    scope: Scope<'_>,
    agent: &mut Agent,
    tool: &Spanned<SmolStr>,
    once: bool,
    mut binding: ToolBinding,
) {
    let inside = Scope { outputs: Some(&tool.value), ..scope };
    bodies::rewrite(inside, &mut binding.after);
    if once {
        guard_constraint(scope, agent, tool, &binding);
    }
    let declared = agent.tools.iter_mut().find(|t| t.name.value == tool.value);
    let (mut targets, mut sets) = (Vec::new(), Vec::new());
    for statement in binding.after.0 {
        match statement {
            Statement::Set(set) => sets.push(set),
            Statement::Handoff(delegation) => targets.push((delegation.agent, None)),
            Statement::If { branches } => {
                for (when, body) in mutually_exclusive(branches) {
                    if let [Statement::Handoff(delegation)] = body.0.as_slice() {
                        targets.push((delegation.agent.clone(), when));
                    }
                }
            }
            _ => {}
        }
    }
    if let (Some(declared), true) = (declared, once) {
        for with in binding.with.iter().filter(|with| with.filled_by == FilledBy::Value) {
            let value = with.value.as_ref().and_then(|value| scope.value(value));
            let mut parameters = declared.parameters.iter_mut();
            let own = parameters.find(|parameter| parameter.name.value == with.name.value);
            if let (Some(own), Some(value)) = (own, value) {
                fix(own, value);
            }
        }
        declared.on_result.extend(sets);
        declared.description = declared.description.take().or(binding.description);
    }
    for (to, when) in targets {
        let result = Path::variable(tool.clone());
        let operand = Box::new(Expr::path(result, tool.span));
        let Ok(there) = Expr::new(ExprKind::IsSet { operand, negated: false }, tool.span) else {
            continue;
        };
        let there = expr::of_expr(there);
        let when = match &when {
            Some(when) => expr::conjunction(&there, when),
            None => Some(there),
        };
        agent.coordination.handoffs.extend(when.map(|when| Handoff::new(to, Some(when))));
    }
}

/// Gives a parameter a value that the author has fixed, which is not the model's to fill in.
pub(super) fn fix(parameter: &mut Parameter, value: Expr) {
    let constant = match &value.kind {
        ExprKind::Literal(Literal::Bool(value)) => Some(Data::Bool(*value)),
        ExprKind::Literal(Literal::Number(number)) => Some(Data::from(Number(*number))),
        // Braces would be an expression.
        ExprKind::Literal(Literal::String(text)) if !text.contains(['{', '}']) => {
            Some(Data::from(text.as_str()))
        }
        _ => None,
    };
    match constant {
        Some(constant) => {
            parameter.source = Some("config");
            parameter.value = Some(constant);
        }
        None => {
            parameter.source = Some("expr");
            parameter.value_expr = Some(value);
        }
    }
}

/// Variables that the model sets become fields that are taken if mentioned.
fn collected_fields(scope: Scope<'_>, agent: &mut Agent, binding: &ToolBinding) {
    let inputs = binding.with.iter().map(|w| &w.name.value);
    for input in inputs {
        let Some(field) = agent.gather.fields.iter_mut().find(|f| f.name.value == *input) else {
            continue;
        };
        // The variable's own description is more specific than the tool's.
        let variable = agent.memory.session.iter().find(|v| v.name.value == *input);
        let own = variable.and_then(|v| v.description.as_ref());
        if field.description.is_none() {
            field.description = own.or(binding.description.as_ref()).cloned();
        }
        // Fields are strings by default.
        let ty = variable.and_then(|v| v.ty.as_ref()?.name());
        let ty = ty.filter(|ty| matches!(*ty, "number" | "boolean" | "date"));
        if let (None, Some(ty)) = (&field.ty, ty) {
            field.ty = Some(Spanned::new(SmolStr::new(ty), field.name.span));
        }
        if let (None, Some(when)) = (&field.activation, &binding.available_when) {
            field.activation = scope.evaluated(when).map(|when| Activation::When { when });
        }
    }
}

/// Splits a prompt built by statements: texts become conditional instructions, other statements run
/// before the turn, each under the full condition that leads to it.
fn prepare(agent: &mut Agent, body: Body, known: Option<&Condition>, done: &mut Vec<Statement>) {
    for statement in body.0 {
        match statement {
            Statement::Instruct { text } => {
                agent.identity.instructions.push(match known {
                    Some(known) if known.expr().is_none() => conditional_text(known, &text),
                    known => Instruction { when: known.cloned(), text },
                });
            }
            Statement::If { branches } => {
                // Effects of a branch must not influence the conditions of later branches.
                let mixed = condition_depends_on_effects(&branches);
                let mut rest = Vec::new();
                if mixed {
                    done.push(Statement::If { branches: branches.clone() });
                }
                for (when, body) in mutually_exclusive(branches) {
                    let both = match (known, &when) {
                        (Some(known), Some(here)) => expr::conjunction(known, here),
                        (one, other) => one.or(other.as_ref()).cloned(),
                    };
                    prepare(agent, body, both.as_ref(), &mut rest);
                }
                if !mixed {
                    done.append(&mut rest);
                }
            }
            other => match known {
                None => done.push(other),
                Some(known) => push_conditional(known, other, done),
            },
        }
    }
}

/// A conditional text with a natural-language condition: the runtime would treat the condition as true,
/// so it becomes part of the text.
fn conditional_text(when: &Condition, text: &Template) -> Instruction {
    let text = &text.text;
    let conditional = format_smolstr!("If {}: {}", when.text.value, text.value);
    Instruction { when: None, text: Template::plain(Spanned::new(conditional, text.span)) }
}

/// Adds a conditional statement, merging it with the previous one if the conditions are equal.
fn push_conditional(known: &Condition, statement: Statement, done: &mut Vec<Statement>) {
    if let Some(Statement::If { branches }) = done.last_mut()
        && let [only] = branches.as_mut_slice()
        && only.condition.as_ref() == Some(known)
    {
        only.body.0.push(statement);
        return;
    }
    let one = branch(Some(known.clone()), Body(vec![statement]), known.span());
    done.push(Statement::If { branches: vec![one] });
}

/// Whether a branch assigns a variable that a condition reads.
fn condition_depends_on_effects(branches: &[Branch]) -> bool {
    fn reads(branches: &[Branch], found: &mut Vec<SmolStr>) {
        for branch in branches {
            if let Some(e) = branch.condition.as_ref().and_then(Condition::expr) {
                e.paths(&mut |p| found.push(p.root.value.clone()));
            }
            for statement in &branch.body.0 {
                if let Statement::If { branches } = statement {
                    reads(branches, found);
                }
            }
        }
    }
    fn writes(body: &Body, read: &[SmolStr]) -> bool {
        body.0.iter().any(|statement| match statement {
            Statement::Set(set) => read.contains(&set.target.root.value),
            Statement::Call(call) => writes(&call.on_success, read),
            Statement::If { branches } => branches.iter().any(|b| writes(&b.body, read)),
            _ => false,
        })
    }
    let mut read = Vec::new();
    reads(branches, &mut read);
    branches.iter().any(|b| writes(&b.body, &read))
}

/// Makes the conditions of branches mutually exclusive.
fn mutually_exclusive(branches: Vec<Branch>) -> Vec<(Option<Condition>, Body)> {
    let mut before: Option<Condition> = None;
    let mut all = Vec::with_capacity(branches.len());
    for Branch { condition, body, .. } in branches {
        let when = match (&before, &condition) {
            (Some(before), Some(here)) => expr::conjunction(before, here),
            (one, other) => one.as_ref().or(other.as_ref()).cloned(),
        };
        let not = condition.as_ref().map(expr::not);
        before = match (before, not) {
            (Some(before), Some(not)) => expr::conjunction(&before, &not),
            (before, not) => before.or(not),
        };
        all.push((when, body));
    }
    all
}

/// Adapts hooks. A guarded transition becomes a handoff with a condition, a conditional assignment a
/// conditional value. A hook has one choice: the calls of others are left to the model. The rest has to fit the fields of
/// a hook. Returns the transitions before the turn, which come before all others.
pub(super) fn hooks(agent: &mut Agent) -> Vec<Handoff> {
    results_to_tools(agent);
    let mut told = Vec::new();
    let names = agent.memory.session.iter().map(|one| &one.name.value);
    let mut marks = Marks { names: Namespace::of(NameSyntax::Identifier), name: None };
    for name in names.chain(agent.gather.fields.iter().map(|field| &field.name.value)) {
        marks.names.claim(&[name]);
    }
    let hooks = &mut agent.hooks;
    let gates = hook_transitions(&mut hooks.before_turn, &mut told, &mut marks);
    let behind = hook_transitions(&mut hooks.after_turn, &mut told, &mut marks);
    agent.coordination.handoffs.extend(behind);
    agent.memory.session.extend(marks.name.map(|name| SessionVariable {
        ty: Some(TypeExpr::named("string", name.span)),
        span: name.span,
        ..SessionVariable::new(name)
    }));
    tell_calls(agent, told);
    gates
}

/// The variable that says where a hook leads: no field of a hook hands over (current specification, 7.10).
struct Marks {
    names: Namespace,
    name: Option<Spanned<SmolStr>>,
}

impl Marks {
    /// Replaces the transition at the end of a body that does more by an assignment, and adds the handoff where it holds.
    fn mark(&mut self, body: &mut Body, handoffs: &mut Vec<Handoff>) {
        let Some((Statement::Handoff(_), [_, ..])) = body.0.split_last() else { return };
        let Some(Statement::Handoff(to)) = body.0.pop() else { return };
        let span = to.agent.span;
        let name = self
            .name
            .get_or_insert_with(|| Spanned::new(self.names.claim(&["next_agent"]), span))
            .value
            .clone();
        let target = Path::variable(Spanned::new(name, span));
        let value = Expr::literal(Literal::String(to.agent.value.clone()), span);
        let is_it = ExprKind::Binary {
            op: BinaryOp::Equal,
            left: Box::new(Expr::path(target.clone(), span)),
            right: Box::new(value.clone()),
        };
        if let Ok(is_it) = Expr::new(is_it, span) {
            handoffs.push(Handoff::new(to.agent, Some(expr::of_expr(is_it))));
        }
        // Assignments come before a call.
        let set = Statement::Set(SetVariable { target, value, span });
        let at = body.0.iter().position(|one| !is_set(one)).unwrap_or(body.0.len());
        body.0.insert(at, set);
    }
}

/// What is set from the result of a tool that nothing but one statement of a hook calls belongs to the tool: in a hook,
/// assignments come before calls.
fn results_to_tools(agent: &mut Agent) {
    let hidden: FxHashSet<SmolStr> = agent
        .behavior_profiles
        .iter()
        .filter(|profile| profile.name.value == INTERNAL_TOOLS)
        .flat_map(|profile| profile.tools_hide.iter().map(|name| name.value.clone()))
        .collect();
    let mut times: FxHashMap<SmolStr, usize> = FxHashMap::default();
    agent.walk(&mut |node| {
        if let Node::Call(call) = node {
            *times.entry(call.tool.value.clone()).or_default() += 1;
        }
    });
    let mut results: Vec<(SmolStr, SetVariable)> = Vec::new();
    for hook in [&mut agent.hooks.before_turn, &mut agent.hooks.after_turn].into_iter().flatten() {
        let mut take = |tool: &SmolStr| hidden.contains(tool) && times.get(tool) == Some(&1);
        move_results(&mut hook.body, &mut take, &mut results);
    }
    for (tool, set) in results {
        if let Some(declared) = agent.tools.iter_mut().find(|one| one.name.value == tool) {
            declared.on_result.push(set);
        }
    }
}

/// Moves the assignments that follow the calls of some tools.
fn move_results(
    body: &mut Body,
    take: &mut dyn FnMut(&SmolStr) -> bool,
    results: &mut Vec<(SmolStr, SetVariable)>,
) {
    let mut called: Option<SmolStr> = None;
    let mut kept = Vec::with_capacity(body.0.len());
    for mut statement in std::mem::take(&mut body.0) {
        match (&mut statement, &called) {
            (Statement::Call(call), _) => {
                called = take(&call.tool.value).then(|| call.tool.value.clone());
                if let Some(tool) = &called {
                    let (sets, rest): (Vec<_>, Vec<_>) =
                        std::mem::take(&mut call.on_success.0).into_iter().partition(is_set);
                    results.extend(sets.into_iter().filter_map(|one| match one {
                        Statement::Set(set) => Some((tool.clone(), set)),
                        _ => None,
                    }));
                    call.on_success.0 = rest;
                }
            }
            (Statement::Set(set), Some(tool)) => {
                results.push((tool.clone(), set.clone()));
                continue;
            }
            (Statement::If { branches }, _) => {
                for branch in branches {
                    move_results(&mut branch.body, take, results);
                }
                called = None;
            }
            _ => called = None,
        }
        kept.push(statement);
    }
    body.0 = kept;
}

/// Adapts a hook. Returns its transitions.
fn hook_transitions(
    hook: &mut Option<Hook>,
    told: &mut Vec<ToldCall>,
    marks: &mut Marks,
) -> Vec<Handoff> {
    let mut handoffs = Vec::new();
    if let Some(hook) = hook {
        let mut kept = Vec::new();
        // Where the next statement stands among the fields of the hook, as long as its fields can express all.
        let mut order = Some(PhaseOrder::default());
        let mut open = VecDeque::from(std::mem::take(&mut hook.body.0));
        while let Some(statement) = open.pop_front() {
            let more = match statement {
                Statement::Instruct { .. } => continue,
                Statement::Handoff(to) => {
                    let always = Expr::literal(Literal::Bool(true), to.agent.span);
                    handoffs.push(Handoff::new(to.agent, Some(expr::of_expr(always))));
                    continue;
                }
                Statement::If { mut branches } => {
                    let moves = |b: &Branch| matches!(b.body.0.as_slice(), [Statement::Handoff(_)]);
                    if branches.iter().all(moves) {
                        for (when, body) in mutually_exclusive(branches) {
                            if let [Statement::Handoff(delegation)] = body.0.as_slice() {
                                handoffs.push(Handoff::new(delegation.agent.clone(), when));
                            }
                        }
                        continue;
                    }
                    for branch in &mut branches {
                        marks.mark(&mut branch.body, &mut handoffs);
                    }
                    let group = choice(branches.clone());
                    let fits = match group.first() {
                        Some(Statement::If { branches }) => {
                            let mut next = order;
                            branches.iter().all(fits_branch)
                                && group.first().is_some_and(|first| takes(&mut next, first))
                        }
                        _ => true,
                    };
                    if fits { group } else { leave_calls_to_model(branches, told) }
                }
                // Statements that use the result are placed after the call.
                Statement::Call(call) => {
                    let (call, follow_ups) = split_outcomes(*call);
                    follow_ups.into_iter().rev().for_each(|s| open.push_front(s));
                    vec![call]
                }
                other => vec![other],
            };
            for statement in more {
                if !takes(&mut order, &statement) {
                    order = None;
                }
                kept.push(statement);
            }
        }
        hook.body.0 = kept;
    }
    if hook.as_ref().is_some_and(|h| h.body.is_empty() && h.extensions.is_empty()) {
        *hook = None;
    }
    handoffs
}

/// Whether the fields of a hook can express a statement next.
fn takes(order: &mut Option<PhaseOrder>, statement: &Statement) -> bool {
    order.as_mut().is_some_and(|order| order.takes(phase_in_branch(statement)))
}

/// A call that the model is told to make, because a hook has no place for it.
struct ToldCall {
    when: Condition,
    call: Call,
    /// What is set behind it.
    sets: Vec<SetVariable>,
}

/// Separates the calls of a choice that a hook cannot express; the rest of it is assignments.
fn leave_calls_to_model(branches: Vec<Branch>, told: &mut Vec<ToldCall>) -> Vec<Statement> {
    let mut rest = Vec::new();
    for (when, body) in mutually_exclusive(branches) {
        let Some(when) = when.filter(|when| when.expr().is_some()) else { continue };
        // What a hook does precedes all texts, which conditions inside of the branch may depend on.
        if body.0.iter().any(|s| matches!(s, Statement::If { .. } | Statement::Instruct { .. })) {
            continue;
        }
        let mut sets = Vec::new();
        let mut current: Option<ToldCall> = None;
        let mut open = VecDeque::from(body.0);
        while let Some(statement) = open.pop_front() {
            match (statement, &mut current) {
                (Statement::Call(call), _) => {
                    let (call, follow_ups) = split_outcomes(*call);
                    told.extend(current.take());
                    if let Statement::Call(call) = call {
                        current =
                            Some(ToldCall { when: when.clone(), call: *call, sets: Vec::new() });
                    }
                    follow_ups.into_iter().rev().for_each(|s| open.push_front(s));
                }
                (Statement::Set(set), Some(call)) => call.sets.push(set),
                (Statement::Set(set), None) => sets.push(Statement::Set(set)),
                _ => {}
            }
        }
        told.extend(current);
        if !sets.is_empty() {
            let span = when.span();
            let assigns = branch(Some(when), Body(sets), span);
            rest.extend(as_conditional_value(&assigns).unwrap_or_default());
        }
    }
    rest
}

/// Tells the model to make calls while their conditions hold. What follows a call is set from its result, if nothing
/// else calls the tool.
fn tell_calls(agent: &mut Agent, told: Vec<ToldCall>) {
    let mut times: FxHashMap<SmolStr, usize> = FxHashMap::default();
    let mut count = |tool: &Spanned<SmolStr>| *times.entry(tool.value.clone()).or_default() += 1;
    told.iter().for_each(|one| count(&one.call.tool));
    agent.walk(&mut |node| {
        if let Node::Call(call) = node {
            count(&call.tool);
        }
    });
    for ToldCall { when, call, sets } in told {
        let tool = &call.tool;
        let values: Vec<String> = call
            .with
            .iter()
            .filter_map(|argument| {
                let name = argument.name.as_ref()?;
                Some(match argument.value.as_path() {
                    Some(path) => format!("{name}: {{{{{path}}}}}"),
                    None => format!("{name}: {}", argument.value),
                })
            })
            .collect();
        let values = values.join(", ");
        let text = match values.as_str() {
            "" => format_smolstr!("First call `{tool}`."),
            values => format_smolstr!("First call `{tool}` ({values})."),
        };
        let text = Template::plain(Spanned::new(text, tool.span));
        agent.identity.instructions.push(Instruction { when: Some(when.clone()), text });
        let internal =
            agent.behavior_profiles.iter_mut().find(|profile| profile.name.value == INTERNAL_TOOLS);
        let hidden = internal.and_then(|profile| {
            let at = profile.tools_hide.iter().position(|name| name.value == tool.value)?;
            Some(profile.tools_hide.remove(at))
        });
        if hidden.is_none() || times.get(&tool.value) != Some(&1) {
            continue;
        }
        if let Some(declared) = agent.tools.iter_mut().find(|t| t.name.value == tool.value) {
            declared.on_result.extend(sets);
        }
        agent.constraints.constraints.push(call_constraint(when, tool));
    }
    agent
        .behavior_profiles
        .retain(|profile| profile.name.value != INTERNAL_TOOLS || !profile.tools_hide.is_empty());
}

/// A condition that must hold so that a tool can be called.
pub(super) fn call_constraint(condition: Condition, tool: &Spanned<SmolStr>) -> Constraint {
    Constraint {
        condition,
        on_fail: None,
        severity: None,
        kind: Some(ConstraintKind::Require),
        applies_when: None,
        checkpoint: Some(Checkpoint::ToolCall { target: tool.clone() }),
        label: Some(Spanned::new(label(&tool.value), tool.span)),
        extensions: Extensions::default(),
        span: tool.span,
    }
}

/// Separates a call from its follow-up, since a hook has no outcomes.
fn split_outcomes(mut call: Call) -> (Statement, Vec<Statement>) {
    let follow_ups = std::mem::take(&mut call.on_success.0);
    call.on_failure.0.clear();
    call.on_result.clear();
    (Statement::Call(Box::new(call)), follow_ups)
}

/// Separates a choice from the follow-ups of the calls in it: assignments from results are placed after
/// the choice, each under the condition of its branch. A branch has one call; statements after it that
/// assign nothing are dropped.
fn choice(mut branches: Vec<Branch>) -> Vec<Statement> {
    let mut follow_ups = Vec::new();
    let conditions = mutually_exclusive(branches.clone());
    for (branch, (when, _)) in branches.iter_mut().zip(conditions) {
        let calls = |s: &Statement| matches!(s, Statement::Call(_));
        let Some(at) = branch.body.0.iter().position(calls) else { continue };
        let mut rest = branch.body.0.split_off(at);
        let Some(Statement::Call(call)) = rest.drain(..1).next() else { continue };
        let (call, mut results) = split_outcomes(*call);
        results.append(&mut rest);
        let sets = results.iter().take_while(|s| is_set(s)).count();
        let stays = results.split_off(sets);
        let later = Branch { condition: when, body: Body(results), ..branch.clone() };
        branch.body.0.push(call);
        // Statements after a call that do not need its result stay in the branch.
        branch.body.0.extend(stays.into_iter().filter(|s| !calls(s) && !is_set(s)));
        if sets > 0 {
            follow_ups.extend(as_conditional_value(&later).unwrap_or_default());
        }
    }
    let mut all = as_conditional_values(Statement::If { branches });
    all.append(&mut follow_ups);
    all
}

/// Whether a branch of a hook can express its body.
fn fits_branch(branch: &Branch) -> bool {
    let inner = |s: &Statement| matches!(s, Statement::If { .. } | Statement::Instruct { .. });
    // Hooks evaluate conditions; natural language would always hold.
    let evaluated = branch.condition.as_ref().is_none_or(|when| when.expr().is_some());
    evaluated
        && expressible_by_fields(&branch.body) == branch.body.0.len()
        && !branch.body.0.iter().any(inner)
}

const fn is_set(statement: &Statement) -> bool {
    matches!(statement, Statement::Set(_))
}

/// Turns a choice that only assigns variables into conditional values; anything else is unchanged.
fn as_conditional_values(statement: Statement) -> Vec<Statement> {
    let sets = |b: &Branch| b.body.0.iter().all(is_set) && !b.body.0.is_empty();
    match &statement {
        Statement::If { branches } => match branches.as_slice() {
            [only] if sets(only) => as_conditional_value(only).unwrap_or_else(|| vec![statement]),
            _ => vec![statement],
        },
        _ => vec![statement],
    }
}

/// `IF c: SET x = v` as `SET x = c ? v : x`, unless an assignment changes what the condition reads.
fn as_conditional_value(branch: &Branch) -> Option<Vec<Statement>> {
    let condition = branch.condition.as_ref()?.expr()?;
    let mut read = Vec::new();
    condition.paths(&mut |p| read.push(p.root.value.clone()));
    let sets: Vec<_> = branch
        .body
        .0
        .iter()
        .filter_map(|s| match s {
            Statement::Set(set) => Some(set),
            _ => None,
        })
        .collect();
    let count = sets.len();
    let mut out = Vec::with_capacity(count);
    for (i, set) in sets.into_iter().enumerate() {
        if i + 1 < count && read.contains(&set.target.root.value) {
            return None;
        }
        let kind = ExprKind::Conditional {
            condition: Box::new(condition.clone()),
            then: Box::new(set.value.clone()),
            otherwise: Box::new(Expr::path(set.target.clone(), set.span)),
        };
        let mut set = set.clone();
        set.value = Expr::new(kind, set.span).ok()?;
        out.push(Statement::Set(set));
    }
    Some(out)
}
