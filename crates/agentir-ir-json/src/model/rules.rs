//! Constraints, guardrails, policies and behaviour profiles.

use crate::describe::*;
use crate::reader::{Object, Reader};
use crate::values::place;
use crate::words;
use agentir_diagnostics::Diagnostic;
use agentir_expr::dialect::{NONE, Notation};
use agentir_ir::{
    Checkpoint, Constraint, ConstraintFailure, ConstraintKind, Constraints, FailureKind,
    FlowModifications, GatherOverrides, Guardrail, GuardrailKind, Insertion, Number, NumberOrText,
    Policy, PolicyRule, Profile,
};
use agentir_syntax::json::{Json as Node, Kind};
use agentir_syntax::rules;

object! {
    /// The constraints and guardrails of an agent.
    Constraints = "Constraints" {
        /// Conditions over the state, in the order they are checked.
        constraints as "constraints": default(Default::default());
        /// Checks of messages and of data passed on.
        guardrails as "guardrails": default(Default::default());
    }
    then |all, _, _| for constraint in &mut all.constraints {
        constraint.kind = constraint.kind.or(Some(ConstraintKind::Require));
    };
}

object! {
    /// A condition over the state.
    Constraint = "Constraint" {
        /// What must hold; for `RESTRICT`, what must not hold.
        condition as "condition": required;
        /// What happens if it is violated.
        on_fail as "on_fail": optional;
        /// `warning` for `WARN`.
        severity as "severity": optional in &["error", "warning"];
        /// The keyword. Without it the condition must hold; in a reasoning zone, words are for the model.
        kind as "kind": optional;
        /// The constraint applies only if this holds.
        applies_when as "applies_when": optional;
        /// The point where it is checked.
        checkpoint as "checkpoint": optional;
        /// The enclosing label.
        label as "label": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |constraint, object, reader| complete_constraint(constraint, object, reader);
}

words_of! {
    /// The keyword of a constraint.
    ConstraintKind = "ConstraintKind" {
        /// Must hold.
        Require = "require",
        /// Should hold.
        Warn = "warn",
        /// Bounds a number.
        Limit = "limit",
        /// Must not hold.
        Restrict = "restrict",
    }
}

object! {
    /// What happens if a constraint is violated.
    ConstraintFailure = "ConstraintFailure" {
        /// The kind of reaction.
        kind as "type": required;
        /// The message to the user.
        message as "message": optional;
        /// The agent that takes over.
        target as "target": optional;
        /// The reason, shown to the human who takes over.
        reason as "reason": optional;
        /// Fields to collect again.
        collect_fields as "collect_fields": list;
        /// Variables to clear.
        clear as "clear": list;
        /// `continue`, `retry`.
        then_action as "then_action": optional;
        /// The next step.
        then_step as "then_step": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |failure, object, reader| check_failure(failure, object, reader);
}

words_of! {
    /// The kinds of [`ConstraintFailure`].
    FailureKind = "FailureKind" {
        /// Sends a message to the user.
        Respond = "respond",
        /// Escalates to a human.
        Escalate = "escalate",
        /// Hands over to another agent.
        Handoff = "handoff",
        /// Blocks further processing.
        Block = "block",
        /// Removes the offending part.
        Redact = "redact",
        /// Restarts the step.
        RetryStep = "retry_step",
        /// Jumps to another step.
        GotoStep = "goto_step",
        /// Collects fields again.
        CollectField = "collect_field",
    }
}

object! {
    /// A check of messages or of data passed on.
    Guardrail = "Guardrail" {
        /// The name.
        name as "name": named;
        /// A description.
        description as "description": optional;
        /// What it checks.
        kind as "kind": required;
        /// The priority; lower first.
        priority as "priority": default(Number(0.0));
        /// Who decides: `local`, `model`, `llm`.
        tier as "tier": default("model") in &["local", "model", "llm"];
        /// True if the content is a violation.
        check as "check": optional;
        /// The classifier.
        provider as "provider": optional;
        /// The category it detects.
        category as "category": optional;
        /// The minimum confidence.
        threshold as "threshold": optional;
        /// The question put to the model.
        llm_check as "llmCheck": optional;
        /// The reaction.
        action as "action": required;
        /// The reactions by severity.
        severity_actions as "severityActions": optional;
        /// Whether partial answers are checked.
        streaming as "streaming": optional;
        /// How often partial answers are checked.
        streaming_interval as "streamingInterval": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    skip check_span = Default::default();
    then |guardrail, object, reader| complete_guardrail(guardrail, object, reader);
}

words_of! {
    /// What a guardrail checks.
    GuardrailKind = "GuardrailKind" {
        /// Messages of the user.
        Input = "input",
        /// Messages of the agent.
        Output = "output",
        /// Inputs of tools.
        ToolInput = "tool_input",
        /// Outputs of tools.
        ToolOutput = "tool_output",
        /// Data passed to another agent.
        Handoff = "handoff",
    }
}

object! {
    /// A policy of a supervisor.
    Policy = "Policy" {
        /// The name.
        name as "name": named;
        /// A description.
        description as "description": optional;
        /// The rules.
        rules as "rules": default(Default::default());
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// A rule of a [`Policy`].
    PolicyRule = "PolicyRule" {
        /// The name, if any.
        name as "name": optional;
        /// When the behaviour is allowed.
        allowed_when as "allowedWhen": optional;
        /// When the behaviour is forbidden.
        forbidden_when as "forbiddenWhen": optional;
        /// The signal it raises.
        trigger_signal as "triggerSignal": optional;
        /// The behaviour then.
        behavior as "behavior": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// A behaviour profile: changes to an agent that depend on the context.
    Profile = "Profile" {
        /// The name.
        name as "name": named;
        /// A description.
        description as "description": optional;
        /// The priority; higher wins.
        priority as "priority": default(NumberOrText::Number(Number(0.0)));
        /// When it applies.
        when as "when": optional;
        /// Additional instructions to the model.
        instructions as "instructions": optional;
        /// Voice settings.
        voice as "voice": optional;
        /// Rules for the form of answers.
        response_rules as "response_rules": optional;
        /// Additional constraints.
        constraints as "constraints": list;
        /// Additional constraints in natural language.
        constraint_texts as "constraint_texts": list;
        /// Tools hidden from the model.
        tools_hide as "tools_hide": list;
        /// Additional tools.
        tools_add as "tools_add": list;
        /// Changes to field collection.
        gather_overrides as "gather_overrides": optional;
        /// Changes to the flow.
        flow_modifications as "flow_modifications": optional;
        /// The flow that replaces the agent's.
        flow_replace as "flow_replace": optional;
        /// Settings of the conversation style.
        conversation_behavior as "conversation_behavior": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    skip notation = Notation::Json;
    skip dialect = NONE;
    then |profile, _, reader| profile.dialect = reader.dialect;
}

object! {
    /// Changes of a profile to field collection.
    GatherOverrides = "GatherOverrides" {
        /// `strict` or `lenient`.
        validation_style as "validation_style": optional in &["strict", "lenient"];
        /// `always`, `never`, `on_change`.
        confirmation as "confirmation": optional in &["always", "never", "on_change"];
        /// Overrides by field.
        field_overrides as "field_overrides": list;
    }
}

object! {
    /// Changes of a profile to the flow.
    FlowModifications = "FlowModifications" {
        /// Skipped steps.
        skip as "skip": list;
        /// Replaced steps.
        overrides as "overrides": list;
        /// Inserted steps.
        insertions as "insertions": list;
    }
}

object! {
    /// An inserted step.
    Insertion = "Insertion" {
        /// `before` or `after`.
        position as "position": default("after") in &["before", "after"];
        /// The existing step.
        target_step as "target_step": required;
        /// The inserted step.
        step as "step": required;
    }
}

tagged! {
    /// The point where a constraint is checked.
    Checkpoint = "Checkpoint" by "kind" {
        /// Before a tool call.
        ToolCall = "tool_call" {
            /// The tool.
            target as "target": required;
        };
        /// Before the response to the user.
        Response = "response" {};
        /// A point the language does not define: the constraint is checked in every turn, and before every call.
        Other = "other" {
            /// The text as written.
            target as "target": required;
        };
    }
}

/// A constraint that should hold only warns, and no other one does. A point that is none is reported.
fn complete_constraint(constraint: &mut Constraint, object: &Object<'_>, reader: &mut Reader<'_>) {
    if let Some(Checkpoint::Other { target }) = &constraint.checkpoint {
        let message = "this is not a checkpoint";
        reader.report(
            Diagnostic::warning(rules::UNKNOWN_CHECKPOINT, target.span, message)
                .note("the constraint is checked in every turn and before every call; other platforms ignore it")
                .help("write the kind `tool_call` with the name of a tool, or `response`"),
        );
    }
    let warns = constraint.kind == Some(ConstraintKind::Warn);
    if warns
        && constraint.severity == Some("error")
        && let (Some(severity), Some(kind)) = (object.key_span("severity"), object.key_span("kind"))
    {
        reader.report(
            Diagnostic::error(
                rules::CONFLICTING_FIELDS,
                severity,
                "a constraint of the kind `warn` has the severity `warning`",
            )
            .label(kind, "the kind is here")
            .help("leave `severity` out, or write `\"kind\": \"require\"`"),
        );
    }
    if warns {
        constraint.severity = Some("warning");
    }
}

/// Reports a reaction without what it leads to.
fn check_failure(failure: &mut ConstraintFailure, object: &Object<'_>, reader: &mut Reader<'_>) {
    let (key, is_absent) = match failure.kind {
        FailureKind::GotoStep => ("then_step", failure.then_step.is_none()),
        FailureKind::Handoff => ("target", failure.target.is_none()),
        FailureKind::CollectField => ("collect_fields", failure.collect_fields.is_empty()),
        FailureKind::Respond
        | FailureKind::Escalate
        | FailureKind::Block
        | FailureKind::Redact
        | FailureKind::RetryStep => return,
    };
    // What is wrong with a value is reported there.
    if is_absent && (!object.has(key) || key == "collect_fields") {
        let message = format!("a failure of this type must have the key `{key}`");
        let place = object.node("type").map_or(object.start(), place);
        reader.report(
            Diagnostic::error(rules::MISSING_FIELD, place, message)
                .help(format!("add `\"{key}\": …` to this object")),
        );
    }
}

/// Who decides is said by the check, if it is not said.
fn complete_guardrail(guardrail: &mut Guardrail, object: &Object<'_>, reader: &mut Reader<'_>) {
    if let Some(action) = object.node("action") {
        check_reaction(action, reader);
    }
    guardrail.check_span = guardrail.check.as_ref().map(|check| check.span);
    if !object.has("tier") && guardrail.check.is_some() {
        guardrail.tier = "local";
    } else if !object.has("tier") && guardrail.llm_check.is_some() {
        guardrail.tier = "llm";
    }
}

/// Reports a reaction that no runtime knows: the guardrail would guard nothing.
fn check_reaction(action: &Node, reader: &mut Reader<'_>) {
    let Kind::Object(members) = &action.kind else {
        reader.within("action", |reader| {
            reader.expected_parts::<()>(action, "an object with the key `type`")
        });
        return;
    };
    match members.iter().rfind(|member| member.key == "type") {
        Some(member) => {
            reader.within("type", |reader| reader.word(&member.value, words::REACTIONS));
        }
        None => {
            let message = "the action of a guardrail must have the key `type`";
            let problem = Diagnostic::error(rules::MISSING_FIELD, place(action), message);
            let all: Vec<_> = words::REACTIONS.iter().map(|word| format!("`{word}`")).collect();
            reader.report(problem.note(format!("its value is one of {}", all.join(", "))));
        }
    }
}
