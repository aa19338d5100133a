//! Lowers flows, steps, and other bodies of statements (§3.14, §8.10).

use super::digressions::{digression, digressions};
use super::fields::Fields;
use super::memory::header_condition;
use super::tools::set_variable;
use super::written::Written;
use super::{Context, gather};
use crate::inline::{self, Action, ActionKind, Direction};
use crate::{HeaderValue, Record};
use agentir_diagnostics::Spanned;
use agentir_expr::{Argument, Name, Template};
use agentir_ir::{
    ActionElement, ActionHandler, Actions, Body, Branch, Call, Collect, Decider, Delegation,
    ErrorHandler, ErrorHandling, Extensions, Flow, Gather, Hook, Jump, ReasoningZone, Response,
    SortBy, Statement, Step, Target, Transform,
};
use agentir_syntax::lower::{merge_extensions, required_field};
use smol_str::SmolStr;

/// Lowers an action to a jump. If a step has the name of a keyword, the name means the step.
pub(super) fn jump(cx: &Context<'_>, action: Action) -> Jump {
    let is_step = |name: &Spanned<Name>| cx.steps.contains(&name.value);
    let bare = action.target.as_ref().is_none_or(|t| t.span == action.word.span);
    let action = if bare && is_step(&action.word) {
        Action { kind: ActionKind::GoTo, target: Some(action.word.clone()), ..action }
    } else {
        action.without_steps()
    };
    let Action { kind, word, target, reason, arguments, span, .. } = action;
    let target = match kind {
        ActionKind::GoTo => Target::Step(target.unwrap_or(word)),
        ActionKind::Complete => Target::Complete,
        ActionKind::Continue => Target::Continue,
        ActionKind::Respond => Target::Respond,
        ActionKind::Retry => Target::Retry,
        ActionKind::RetryStep => Target::RetryStep,
        ActionKind::Resume | ActionKind::ResumeIntent => Target::Resume,
        ActionKind::Escalate => Target::Escalate,
        ActionKind::Handoff => Target::Handoff(target),
        ActionKind::Delegate => Target::Delegate(target),
        ActionKind::Block => Target::Block,
        ActionKind::Redact => Target::Redact,
        ActionKind::AskUser => Target::AskUser(arguments),
        ActionKind::Backtrack => Target::Backtrack(target),
        ActionKind::Fail => Target::Fail,
    };
    Jump { target, reason, span }
}

/// Splits off `TEMPLATE(name)`, which is a reference and not a text.
pub(super) fn split_template(text: Option<Template>) -> (Option<Template>, Option<Spanned<Name>>) {
    let name = text.as_ref().and_then(|t| t.template_ref());
    if name.is_some() { (None, name) } else { (text, None) }
}

pub(super) fn flow(cx: &mut Context<'_>, f: &mut Fields<'_>) -> Option<Flow> {
    let key = f.key("flow");
    let sections = f.records("flow");
    if sections.is_empty() {
        return None;
    }
    let span = sections.first().map_or(f.span, |s| s.span);
    let key = key.unwrap_or_else(|| span.at_start());
    let mut flow = Flow { span, key, ..Flow::default() };
    let mut chain: Vec<Spanned<Name>> = Vec::new();
    for mut section in sections {
        flow.span = flow.span.to(section.span);
        flow.entry_point = section.name_of("entry_point").or(flow.entry_point.take());
        for header in std::mem::take(&mut section.headers) {
            if let HeaderValue::Chain(names) = header {
                flow.sequence.extend(names.iter().cloned());
                chain.extend(names);
            }
        }
        // YAML has no lines without a key; there the arrows are the value of `steps`.
        let arrows = section.has_arrows("steps");
        let names = section.names("steps");
        if arrows {
            flow.sequence.extend(names.iter().cloned());
        }
        chain.extend(names);
        let mut items = section.items_of("steps", &mut flow.extensions);
        items.append(&mut section.items);
        for item in items {
            let step = step(cx, Fields::new(item));
            if let Some(earlier) = flow.definitions.insert(step.name.value.clone(), step) {
                flow.shadowed.push(earlier);
            }
        }
        for item in section.items_of("global_digressions", &mut flow.extensions) {
            flow.global_digressions.push(digression(cx, Fields::new(item)));
        }
        section.preserve(&mut flow.extensions);
    }
    // The arrows order the steps they name; the others follow in source order.
    let named: rustc_hash::FxHashSet<SmolStr> = chain.iter().map(|n| n.value.clone()).collect();
    flow.steps = chain;
    flow.steps.extend(
        flow.definitions
            .values()
            .filter(|s| !named.contains(&s.name.value))
            .map(|s| s.name.clone()),
    );
    Some(flow)
}

pub(super) fn step(cx: &mut Context<'_>, mut f: Fields<'_>) -> Step {
    let span = f.span;
    let name = f.name.take().unwrap_or_else(|| Spanned::new(SmolStr::default(), span.at_start()));
    let mut extensions = Extensions::default();
    let reasoning = f.boolean("reasoning");
    let zone = reasoning_zone(cx, &mut f, reasoning, &mut extensions);
    let mut written = leading_statements(&mut f, &mut extensions);
    let gathers = f.place(&["gather", "collect"]).or_else(|| f.place(&["present", "prompt"]));
    let calls = f.place(&["call"]);
    let checks = f.place(&["check"]);
    let succeeds = f.place(&["on_success"]);
    let branches_at = f.place(&["on_result"]);
    let collect = collect(cx, &mut f);
    let mut success = outcome(cx, &mut f, "on_success", &mut extensions);
    let has_check = f.has("check");
    let fail_jump = has_check.then(|| f.action("on_fail").map(|a| jump(cx, a))).flatten();
    let fails = f.place(&["on_fail", "on_failure"]);
    let mut failure = outcome(cx, &mut f, "on_fail", &mut extensions);
    failure.0.extend(outcome(cx, &mut f, "on_failure", &mut extensions).0);
    let mut results = branches(cx, &mut f, "on_result", &mut extensions);
    // Without a call it says nothing, and is kept as it is.
    let success_when = f.has("call").then(|| f.condition("success_when")).flatten();
    // What the follow-ups follow: the call, else the fields, else the check.
    let followed = if calls.is_some() {
        calls
    } else if collect.is_some() {
        gathers
    } else {
        checks.filter(|_| fail_jump.is_none())
    };
    if let Some(followed) = followed {
        let must_succeed = calls.is_none() && gathers == Some(followed);
        let (success, failure) = ((succeeds, &mut success), (fails, &mut failure));
        written.begin_follow_ups(followed, must_succeed, success, failure);
    }
    // Branches on a result are tried after what is written above them.
    let results_wait =
        followed.zip(branches_at).is_some_and(|(followed, at)| written.has_between(followed, at));
    let late = if results_wait { std::mem::take(&mut results) } else { Vec::new() };
    let mut parts = Some((success, failure, results));
    if let Some(mut collect) = collect {
        if calls.is_none()
            && let Some((success, failure, results)) = parts.take()
        {
            collect.on_success = success;
            collect.on_failure = failure;
            if !results.is_empty() {
                collect.on_success.0.push(Statement::If { branches: results });
            }
        }
        written.act(gathers, Statement::Collect(collect));
    }
    if let Some(mut call) = call(&mut f) {
        call.success_when = success_when;
        if let Some((success, failure, results)) = parts.take() {
            call.on_success = success;
            call.on_failure = failure;
            call.on_result = results;
        }
        written.act(calls, Statement::Call(Box::new(call)));
    }
    if let Some(condition) = f.condition("check") {
        let decides = |(success, failure, _): &mut (Body, Body, _)| {
            fail_jump.is_none() && !(success.is_empty() && failure.is_empty())
        };
        let statement = match parts.take_if(decides) {
            // The failure branch is more than a jump, or there is none: then only the success branch depends on it.
            Some((success, failure, _)) => {
                let span = condition.span();
                let branch = |condition, body| Branch {
                    condition,
                    body,
                    extensions: Extensions::default(),
                    span,
                };
                let mut branches = vec![branch(Some(condition), success)];
                if !failure.is_empty() {
                    branches.push(branch(None, failure));
                }
                Statement::If { branches }
            }
            None => Statement::Check { condition, otherwise: fail_jump },
        };
        written.act(checks, statement);
    }
    delegations(&mut f, &mut written);
    if let Some((success, failure, results)) = parts {
        // Without a call or check nothing can fail: the success branch always follows. The failure
        // branch is unreachable, but its jumps are preserved.
        for (at, body) in [(succeeds, success), (fails, failure)] {
            if !body.is_empty() {
                let span = f.span;
                let only =
                    Branch { condition: None, body, extensions: Extensions::default(), span };
                written.act(at, Statement::If { branches: vec![only] });
            }
        }
        if !results.is_empty() {
            written.act(branches_at, Statement::If { branches: results });
        }
    }
    if !late.is_empty() {
        written.act(branches_at, Statement::If { branches: late });
    }
    let asks = f.place(&["on_input"]);
    let input = branches(cx, &mut f, "on_input", &mut extensions);
    if !input.is_empty() {
        written.act(asks, Statement::Await { branches: input });
    }
    trailing_statements(cx, &mut f, &mut written, &mut extensions);
    let body = written.into_statements();
    let mut step = Step {
        when: f.condition("when"),
        description: f.template("description"),
        reasoning_zone: zone,
        reasoning,
        body: Body(body),
        max_attempts: f.plain_number("max_attempts"),
        on_exhausted: f.action("on_exhausted").map(|a| jump(cx, a)),
        digressions: digressions(cx, &mut f, "digressions", &mut extensions),
        sub_intents: digressions(cx, &mut f, "sub_intents", &mut extensions),
        on_action: action_handlers(cx, &mut f, "on_action", &mut extensions),
        on_error: handlers(cx, &mut f, "on_error", &mut extensions),
        await_attachment: f.spanned_data("await_attachment"),
        human_approval: f.spanned_data("human_approval"),
        extensions,
        span,
        name,
    };
    f.preserve(&mut step.extensions);
    step
}

fn reasoning_zone(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    reasoning: Option<bool>,
    rest: &mut Extensions,
) -> Option<ReasoningZone> {
    let says = ["goal", "available_tools", "exit_when", "max_turns", "step_constraints"];
    if reasoning != Some(true) && !says.iter().any(|name| f.has(name)) {
        return None;
    }
    let mut constraints = Vec::new();
    for item in f.items_of("step_constraints", rest) {
        super::rules::constraint(cx, item, None, &mut constraints, rest);
    }
    let tools_written = f.has("available_tools");
    let tools = f.names("available_tools");
    Some(ReasoningZone {
        prepare: Body::default(),
        bindings: Vec::new(),
        goal: f.template("goal"),
        available_tools: tools_written.then_some(tools),
        exit_when: f.condition("exit_when"),
        max_turns: f.plain_number("max_turns"),
        constraints,
        extensions: Extensions::default(),
    })
}

/// What runs where it is written, and the response.
fn leading_statements(f: &mut Fields<'_>, rest: &mut Extensions) -> Written {
    let sets = f.placed_assignments("set").into_iter();
    let mut placed: Vec<_> =
        sets.map(|(at, assignment)| (at, Statement::Set(set_variable(assignment)))).collect();
    let at = f.place(&["clear"]);
    let variables = f.names("clear");
    if let Some(at) = at.filter(|_| !variables.is_empty()) {
        placed.push((at, Statement::Clear { variables }));
    }
    if let Some(at) = f.place(&["transform"])
        && let Some(transform) = transform(f, rest)
    {
        placed.push((at, Statement::Transform(transform)));
    }
    if let Some(at) = f.place(&["log"])
        && let Some(value) = f.spanned_data("log")
    {
        placed.push((at, Statement::Log { value }));
    }
    let mut written = Written::new(placed);
    let says = f
        .place(&["respond"])
        .or_else(|| f.place(&["message_key", "voice", "rich_content", "formats", "actions"]));
    if let Some(response) = response(f, rest) {
        written.act(says, Statement::Respond(response));
    }
    written
}

fn response(f: &mut Fields<'_>, rest: &mut Extensions) -> Option<Response> {
    let (text, template) = split_template(f.template("respond"));
    let response = Response {
        text,
        template,
        message_key: f.name_of("message_key"),
        voice_config: f.data("voice"),
        rich_content: f.data("rich_content").or_else(|| f.data("formats")),
        actions: actions(f, rest),
    };
    let Response { text, template, message_key, voice_config, rich_content, actions } = &response;
    let says = text.is_some()
        || template.is_some()
        || message_key.is_some()
        || voice_config.is_some()
        || rich_content.is_some()
        || actions.is_some();
    says.then_some(response)
}

fn actions(f: &mut Fields<'_>, rest: &mut Extensions) -> Option<Actions> {
    let mut a = f.record("actions")?;
    let elements = std::mem::take(&mut a.items)
        .into_iter()
        .map(|item| {
            let mut e = Fields::new(item);
            let mut kind = None;
            let mut label = None;
            for word in ["button", "select", "input"] {
                if let Some(span) = e.key(word) {
                    kind = Some(Spanned::new(SmolStr::new_static(word), span));
                    label = e.template(word);
                    break;
                }
            }
            let written = e.text("type");
            // `- BUTTON: "…"` states the kind; then `TYPE` is the type of an input.
            let (kind, input_type) = match (kind, written) {
                (Some(kind), written) => (kind, written),
                (None, Some(written)) => (written, None),
                (None, None) => (Spanned::new(SmolStr::new_static("button"), e.span), None),
            };
            ActionElement {
                id: e.name_of("id"),
                kind,
                label: label.or_else(|| e.template("label")),
                value: e.text("value"),
                options: e.data("options"),
                input_type: input_type.or_else(|| e.text("input_type")),
                placeholder: e.template("placeholder"),
                description: e.template("description"),
                url: e.text("url"),
                required: e.boolean("required"),
                span: e.span,
                extensions: e.into_extensions(),
            }
        })
        .collect();
    let actions = Actions {
        elements,
        submit_label: a.template("submit_label"),
        submit_id: a.name_of("submit_id"),
        render_id: a.name_of("render_id"),
    };
    a.preserve(rest);
    Some(actions)
}

fn transform(f: &mut Fields<'_>, rest: &mut Extensions) -> Option<Transform> {
    use crate::Value;
    let span = f.value_span("transform")?;
    let header = f.value("transform", |v| match v {
        Value::TransformHeader(header) => Ok(*header),
        other => Err(other),
    });
    let (source, item_var, target, mut inner) = if let Some(header) = header {
        let inline::TransformHeader { source, item, target } = header;
        let name = Spanned::new(
            SmolStr::new(agentir_expr::Expr::path(target.value, target.span).to_string()),
            target.span,
        );
        (source, item, name, None)
    } else {
        let mut block = f.record("transform")?;
        match (block.expr("source"), block.name_of("as"), block.name_of("into")) {
            (Some(source), Some(item), Some(target)) => (source, item, target, Some(block)),
            _ => {
                block.preserve(rest);
                return None;
            }
        }
    };
    let from = inner.as_mut().unwrap_or(f);
    let transform = Transform {
        source,
        item_var,
        target,
        filter: from.expr("filter"),
        map: from.bindings("map").unwrap_or_default(),
        sort_by: from
            .value("sort_by", |v| match v {
                Value::SortBy(sort) => Ok(*sort),
                other => Err(other),
            })
            .map(|sort| SortBy {
                field: Spanned::new(
                    SmolStr::new(
                        agentir_expr::Expr::path(sort.field.value, sort.field.span).to_string(),
                    ),
                    sort.field.span,
                ),
                order: match sort.direction.map(|d| d.value) {
                    Some(Direction::Descending) => "desc",
                    _ => "asc",
                },
            }),
        limit: from.expr("limit"),
        span,
    };
    if let Some(inner) = inner {
        inner.preserve(rest);
    }
    Some(transform)
}

/// `GATHER`, or the legacy `COLLECT` with `PROMPT`.
fn collect(cx: &mut Context<'_>, f: &mut Fields<'_>) -> Option<Collect> {
    let span = f.value_span("gather").or_else(|| f.value_span("collect")).unwrap_or(f.span);
    let mut gathered: Option<Gather> = None;
    for section in f.records("gather") {
        let part = gather::gather(cx, section);
        match &mut gathered {
            None => gathered = Some(part),
            Some(all) => all.fields.extend(part.fields),
        }
    }
    let collected = f.names("collect");
    if !collected.is_empty() {
        let all = gathered.get_or_insert_default();
        all.fields.extend(collected.into_iter().map(required_field));
    }
    let present = f.template("present");
    let prompt = f.template("prompt");
    if gathered.is_none() && present.is_none() && prompt.is_none() {
        return None;
    }
    let mut gather = gathered.unwrap_or_default();
    gather.prompt = gather.prompt.or(prompt);
    Some(Collect {
        present,
        gather,
        corrections: f.boolean("corrections"),
        complete_when: f.condition("complete_when"),
        on_success: Body::default(),
        on_failure: Body::default(),
        span,
    })
}

fn call(f: &mut Fields<'_>) -> Option<Call> {
    let call = f.call("call")?;
    let mut with = call.arguments;
    let mut has_arguments = !with.is_empty();
    for name in ["with", "call_with"] {
        if f.has(name) {
            has_arguments = true;
        }
        for (name, value) in f.bindings(name).unwrap_or_default() {
            with.push(Argument { name: Some(name), value });
        }
    }
    Some(Call {
        tool: call.tool,
        with,
        named_again: None,
        has_arguments,
        result: f.name_of("as"),
        success_when: None,
        on_success: Body::default(),
        on_failure: Body::default(),
        on_result: Vec::new(),
        span: call.span,
    })
}

fn delegations(f: &mut Fields<'_>, body: &mut Written) {
    let (delegates, hands_over) = (f.place(&["delegate"]), f.place(&["handoff"]));
    let agent = |action: Action| match action.kind {
        ActionKind::GoTo => action.target,
        _ => action.target.or(Some(action.word)),
    };
    if let Some(agent) = f.action("delegate").and_then(agent) {
        let returns = f.boolean("return");
        let bindings = Vec::new();
        let to = Delegation { agent, returns, decided_by: Decider::Always, bindings };
        body.act(delegates, Statement::Delegate(to));
    }
    if let Some(agent) = f.action("handoff").and_then(agent) {
        let bindings = Vec::new();
        let to = Delegation { agent, returns: None, decided_by: Decider::Always, bindings };
        body.act(hands_over, Statement::Handoff(to));
    }
}

/// Step-level `IF`/`ELSE`, escalation and jumps.
fn trailing_statements(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    body: &mut Written,
    rest: &mut Extensions,
) {
    if let Some(span) = f.value_span("escalate") {
        // Control comes back to a jump only.
        let back = f.place(&["then", "goto", "transition"]);
        let at = back.and_then(|_| f.place(&["escalate"])).unwrap_or(usize::MAX);
        body.act(Some(at), Statement::Escalate { details: f.data("escalate"), span });
    }
    let mut jumps: Vec<Jump> = Vec::new();
    for name in ["then", "goto", "transition"] {
        while let Some(action) = f.action(name) {
            jumps.push(jump(cx, action));
        }
    }
    jumps.sort_by_key(|j| j.span.start);
    if let Some(condition) = f.condition("if") {
        let span = condition.span();
        let then = jumps.into_iter().map(Statement::Goto).collect();
        let mut branches = vec![Branch {
            condition: Some(condition),
            body: Body(then),
            extensions: Extensions::default(),
            span,
        }];
        if let Some(span) = f.value_span("else") {
            let otherwise = outcome(cx, f, "else", rest);
            branches.push(Branch {
                condition: None,
                body: otherwise,
                extensions: Extensions::default(),
                span,
            });
        }
        body.end(Statement::If { branches });
        return;
    }
    if let Some(span) = f.value_span("complete") {
        let details = f.data("complete");
        if details != Some(agentir_ir::Data::Bool(false)) {
            jumps.push(Jump { target: Target::Complete, reason: None, span });
        }
    }
    if let Some(span) = f.value_span("resume")
        && f.boolean("resume") != Some(false)
    {
        jumps.push(Jump { target: Target::Resume, reason: None, span });
    }
    jumps.into_iter().for_each(|jump| body.end(Statement::Goto(jump)));
}

/// The statements of a branch, handler or hook: the fields they have in common.
pub(super) fn body(cx: &mut Context<'_>, f: &mut Fields<'_>, rest: &mut Extensions) -> Body {
    body_of(cx, f, rest, false)
}

/// The statements of a digression, whose response to a call is written after the call (current specification, 3.14.5).
pub(super) fn digression_body(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    rest: &mut Extensions,
) -> Body {
    body_of(cx, f, rest, true)
}

fn body_of(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    rest: &mut Extensions,
    answers_calls: bool,
) -> Body {
    let mut statements = leading_statements(f, rest);
    let gathers = f.place(&["collect"]);
    let collected = f.names("collect");
    if let Some(span) = collected.first().map(|n| n.span) {
        let fields = collected.into_iter().map(required_field).collect();
        let collect = Collect {
            present: None,
            gather: Gather { fields, ..Gather::default() },
            corrections: None,
            complete_when: None,
            on_success: Body::default(),
            on_failure: Body::default(),
            span,
        };
        statements.act(gathers, Statement::Collect(collect));
    }
    let (calls, succeeds, fails) =
        (f.place(&["call"]), f.place(&["on_success"]), f.place(&["on_fail"]));
    let mut success = outcome(cx, f, "on_success", rest);
    let mut failure = outcome(cx, f, "on_fail", rest);
    if let Some(mut call) = call(f) {
        if let Some(at) = calls {
            let (success, failure) = ((succeeds, &mut success), (fails, &mut failure));
            statements.begin_follow_ups(at, false, success, failure);
        }
        call.on_success = success;
        call.on_failure = failure;
        statements.act(calls, Statement::Call(Box::new(call)));
    }
    if answers_calls {
        statements.respond_after_call();
    }
    delegations(f, &mut statements);
    let branches_at = f.place(&["branches"]);
    let inner = branches(cx, f, "branches", rest);
    if !inner.is_empty() {
        statements.act(branches_at, Statement::If { branches: inner });
    }
    let listed_at = f.place(&["do"]);
    let mut listed = Vec::new();
    for item in f.items_of("do", rest) {
        statement_item(cx, item, &mut listed, rest);
    }
    listed.into_iter().for_each(|statement| statements.act(listed_at, statement));
    trailing_statements(cx, f, &mut statements, rest);
    Body(statements.into_statements())
}

fn statement_item(
    cx: &mut Context<'_>,
    item: Record<'_>,
    into: &mut Vec<Statement>,
    rest: &mut Extensions,
) {
    let mut f = Fields::new(item);
    for header in std::mem::take(&mut f.headers) {
        if let HeaderValue::Resume(span) = header {
            into.push(Statement::Goto(Jump { target: Target::Resume, reason: None, span }));
        }
    }
    for keyword in ["set_interaction_language", "clear_interaction_language"] {
        if let Some(span) = f.key(keyword) {
            let value = f.data(keyword).unwrap_or_default();
            into.push(Statement::Other { keyword: SmolStr::new_static(keyword), value, span });
        }
    }
    into.extend(body(cx, &mut f, rest).0);
    f.preserve(rest);
}

/// `ON_SUCCESS` and the like: statements, possibly with branches, or only a jump.
fn outcome(cx: &mut Context<'_>, f: &mut Fields<'_>, name: &str, rest: &mut Extensions) -> Body {
    if let Some(action) = f.action(name) {
        return Body(vec![Statement::Goto(jump(cx, action))]);
    }
    let mut statements = Vec::new();
    for mut section in f.records(name) {
        let items = std::mem::take(&mut section.items);
        let mut part = body(cx, &mut section, rest);
        let all: Vec<Branch> = items.into_iter().map(|i| branch(cx, i)).collect();
        if !all.is_empty() {
            // Branches are tried before the block's own jump.
            let at =
                part.0.iter().position(|s| matches!(s, Statement::Goto(_))).unwrap_or(part.0.len());
            part.0.insert(at, Statement::If { branches: all });
        }
        statements.extend(part.0);
        section.preserve(rest);
    }
    Body(statements)
}

fn branches(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    name: &str,
    rest: &mut Extensions,
) -> Vec<Branch> {
    f.items_of(name, rest).into_iter().map(|item| branch(cx, item)).collect()
}

fn branch(cx: &mut Context<'_>, item: Record<'_>) -> Branch {
    let mut f = Fields::new(item);
    let mut condition = header_condition(&mut f).or_else(|| f.condition("if"));
    let mut at_once = None;
    for header in std::mem::take(&mut f.headers) {
        // `IF condition: ACTION` on one line.
        if let HeaderValue::Condition(c, Some(action)) = header {
            condition = Some(*c);
            at_once = Some(Statement::Goto(jump(cx, *action)));
        }
    }
    f.boolean("else");
    let mut extensions = Extensions::default();
    let mut body = body(cx, &mut f, &mut extensions);
    body.0.extend(at_once);
    let span = f.span;
    merge_extensions(&mut extensions, f.into_extensions());
    Branch { condition, body, extensions, span }
}

fn action_handlers(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    name: &str,
    rest: &mut Extensions,
) -> Vec<ActionHandler> {
    f.items_of(name, rest)
        .into_iter()
        .filter_map(|item| action_handler(cx, Fields::new(item)))
        .collect()
}

pub(super) fn action_handler(cx: &mut Context<'_>, mut f: Fields<'_>) -> Option<ActionHandler> {
    let action_id = f.name_of("action").or_else(|| f.name.take())?;
    let condition = f.condition("condition");
    let mut extensions = Extensions::default();
    let body = body(cx, &mut f, &mut extensions);
    let span = f.span;
    merge_extensions(&mut extensions, f.into_extensions());
    Some(ActionHandler { action_id, condition, body, extensions, span })
}

pub(super) fn hook(cx: &mut Context<'_>, mut f: Fields<'_>) -> Hook {
    let critical = f.boolean("critical");
    let mut extensions = Extensions::default();
    let items = std::mem::take(&mut f.items);
    let mut body = body(cx, &mut f, &mut extensions);
    for item in items {
        statement_item(cx, item, &mut body.0, &mut extensions);
    }
    merge_extensions(&mut extensions, f.into_extensions());
    Hook { body, critical, extensions }
}

pub(super) fn error_handling(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    rest: &mut Extensions,
) -> ErrorHandling {
    let mut handlers = handlers(cx, f, "on_error", rest);
    let default = handlers.iter().position(|h| h.kind.value == "default");
    ErrorHandling { default_handler: default.map(|at| Box::new(handlers.remove(at))), handlers }
}

fn handlers(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    name: &str,
    rest: &mut Extensions,
) -> Vec<ErrorHandler> {
    f.items_of(name, rest)
        .into_iter()
        .filter_map(|item| {
            let mut h = Fields::new(item);
            let kind = h.name_of("type").or_else(|| h.name.take())?;
            let then = h.action("then").map(|a| jump(cx, a));
            let respond = h.template("respond");
            let (retry, retry_delay_ms) = (h.number("retry"), h.number("retry_delay"));
            let (retry_backoff, retry_max_delay_ms) =
                (h.choice("retry_backoff"), h.number("retry_max_delay"));
            let subtypes = h.names("subtypes");
            let (handoff_target, backtrack_to) =
                (h.name_of("handoff_target"), h.name_of("backtrack_to"));
            let mut extensions = Extensions::default();
            let body = body(cx, &mut h, &mut extensions);
            let span = h.span;
            merge_extensions(&mut extensions, h.into_extensions());
            Some(ErrorHandler {
                kind,
                subtypes,
                respond,
                body,
                retry,
                retry_delay_ms,
                retry_backoff,
                retry_max_delay_ms,
                then,
                handoff_target,
                backtrack_to,
                extensions,
                span,
            })
        })
        .collect()
}
