//! Coordination between agents, and with humans.

use crate::describe::*;
use crate::reader::{Object, Reader};
use crate::words;
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_ir::{
    AgentReference, Completion, CompletionCondition, Context, Coordination, Data, Decider,
    Delegate, Escalation, Handoff, HumanOutcome, IntentClassification, MemoryGrant, Number,
    OnReturn, PassedValue, Remote, ReturnHandler, Routing, RoutingRule, RoutingTarget, Trigger,
    VariableBinding,
};
use agentir_syntax::json::Kind;
use agentir_syntax::{data, rules};
use smol_str::SmolStr;

words_of! {
    /// Who decides that something happens.
    Decider = "Decider" {
        /// A condition over the state.
        Condition = "condition",
        /// The model, from the conversation.
        Model = "model",
        /// The user, by a message or a button.
        User = "user",
        /// Nobody: it happens whenever it is reached.
        Always = "always",
    }
}

object! {
    /// How an agent works with others.
    Coordination = "Coordination" {
        /// Agents it delegates to.
        delegates as "delegates": default(Default::default());
        /// Agents it hands over to.
        handoffs as "handoffs": default(Default::default());
        /// Handlers run when control returns.
        return_handlers as "return_handlers": list;
        /// When a human takes over.
        escalation as "escalation": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// A delegation: another agent does a task, and control returns.
    Delegate = "Delegate" {
        /// The agent.
        agent as "agent": named;
        /// The condition.
        when as "when": optional;
        /// Who decides that it happens.
        decided_by as "decided_by": default(Decider::of(when.as_ref()));
        /// The purpose.
        purpose as "purpose": optional;
        /// The input: parameters of the other agent, and expressions of this one.
        input as "input": default(Default::default());
        /// The type of the result.
        returns as "returns": optional;
        /// How the result is used.
        use_result as "use_result": optional;
        /// The timeout.
        timeout as "timeout": optional;
        /// `continue`, `escalate`, `respond`, `retry`.
        on_failure as "on_failure": optional;
        /// How many further attempts there are, if `on_failure` is a retry.
        max_retries as "max_retries": optional;
        /// The message to the user on failure.
        failure_message as "failure_message": optional;
        /// Where a remote agent runs.
        remote as "remote": optional;
        /// How the user experiences the change of agent.
        experience_mode as "experienceMode": optional in words::EXPERIENCE_MODES;
        /// The memory paths the other agent may access.
        memory_grants as "memory_grants": optional;
        /// Whether it repeats what a tool of the model does, under `reasoning.bindings`.
        repeats_binding as "repeats_binding": flag;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |delegate, _, reader| check_time(&mut delegate.timeout, "timeout", reader);
}

object! {
    /// A handoff: another agent takes over the conversation.
    Handoff = "Handoff" {
        /// The agent.
        to as "to": named;
        /// The condition.
        when as "when": optional;
        /// Who decides that it happens.
        decided_by as "decided_by": default(Decider::of(when.as_ref()));
        /// The priority; lower first.
        priority as "priority": optional;
        /// What the other agent receives.
        context as "context": default(Default::default());
        /// Whether control returns.
        returns as "return": default(false);
        /// What happens if the agent cannot take over.
        on_failure as "on_failure": optional;
        /// The message to the user in that case.
        failure_message as "failure_message": optional;
        /// What happens when control returns.
        on_return as "on_return": optional;
        /// Where a remote agent runs.
        remote as "remote": optional;
        /// The timeout.
        timeout as "timeout": optional;
        /// What happens after the timeout.
        on_timeout as "on_timeout": optional;
        /// Whether the user can continue in the meantime.
        is_async as "async": optional;
        /// The timeout of an asynchronous handoff, in seconds.
        async_timeout as "asyncTimeout": optional;
        /// How the user experiences the change of agent.
        experience_mode as "experienceMode": optional in words::EXPERIENCE_MODES;
        /// Whether it repeats what a tool of the model does, under `reasoning.bindings`.
        repeats_binding as "repeats_binding": flag;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// What the next agent receives.
    Context = "Context" {
        /// The variables passed.
        pass as "pass": default(Default::default());
        /// A summary of the conversation so far.
        summary as "summary": optional;
        /// Assignments made during the handoff.
        set as "set": list;
        /// The memory paths the next agent may access.
        memory_grants as "memory_grants": list;
        /// Values bound to the next agent's own variables.
        bindings as "bindings": list;
        /// How much of the history is passed: `auto`, `none`, `summary_only`, `full`, `{last_n}`.
        history as "history": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    then |context, object, reader| check_history(context, object, reader);
}

object! {
    /// A variable of the next agent, and the value it is bound to while that agent runs.
    VariableBinding = "VariableBinding" {
        /// The next agent's variable.
        variable as "variable": required;
        /// The value, an expression of this agent.
        value as "value": required;
        /// Whether writes to the variable also change this agent's value; otherwise it is copied.
        by_reference as "by_reference": default(false);
    }
}

object! {
    /// A variable that is passed to another agent.
    PassedValue = "PassedValue" {
        /// The name or path.
        name as "name": required;
        /// The declared type; `string` if there is none.
        ty as "type": default(SmolStr::new_static("string"));
    }
}

object! {
    /// Access to a memory path.
    MemoryGrant = "MemoryGrant" {
        /// The path.
        path as "path": required;
        /// `read`, `write`, `readwrite`.
        access as "access": optional;
    }
    then |grant, object, reader| {
        if let Some(json) = object.node("access").filter(|_| grant.access.is_some()) {
            let word = reader.within("access", |reader| reader.word(json, data::ACCESS));
            grant.access = word.map(|word| word.value.into());
        }
    };
}

object! {
    /// What happens when control returns.
    OnReturn = "OnReturn" {
        /// `continue`, `resume_intent`, a step, or a text.
        action as "action": optional;
        /// The return handler.
        handler as "handler": optional;
        /// What is resumed.
        resume_with as "resume_with": optional;
        /// Variables of this agent, set from the results.
        map as "map": list;
        /// Assignments.
        set as "set": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// Where a remote agent runs.
    Remote = "Remote" {
        /// `local` or `remote`.
        location as "location": optional in &["local", "remote"];
        /// The URL.
        endpoint as "endpoint": optional;
        /// `a2a` or `rest`.
        protocol as "protocol": optional in &["a2a", "rest"];
        /// The authentication.
        auth as "auth": optional;
        /// The timeout of a call.
        timeout as "timeout": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    then |remote, _, reader| check_time(&mut remote.timeout, "timeout", reader);
}

object! {
    /// What is done when a child agent returns.
    ReturnHandler = "ReturnHandler" {
        /// The message to the user.
        respond as "respond": optional;
        /// The variables to clear.
        clear as "clear": list;
        /// Whether the agent continues.
        continues as "continue": optional;
        /// Whether the interrupted intent is resumed.
        resume_intent as "resume_intent": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// When and how a human takes over.
    Escalation = "Escalation" {
        /// The triggers.
        triggers as "triggers": default(Default::default());
        /// What the human is told.
        context_for_human as "context_for_human": default(Default::default());
        /// What happens after the human is done.
        on_human_complete as "on_human_complete": default(Default::default());
        /// The routing to a queue or person.
        routing as "routing": optional;
        /// The action of a connected system.
        connector_action as "connector_action": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |_, object, reader| {
        if let Some(routing) = object.node("routing").filter(|json| matches!(json.kind, Kind::Object(_))) {
            let keys = data::ESCALATION_ROUTING.iter();
            reader.check_keys(routing, "the routing of an escalation", keys);
        }
    };
}

object! {
    /// A trigger of an escalation.
    Trigger = "Trigger" {
        /// The condition.
        when as "when": optional;
        /// Who decides that it happens.
        decided_by as "decided_by": default(Decider::of(when.as_ref()));
        /// The reason, shown to the human.
        reason as "reason": optional;
        /// The priority.
        priority as "priority": optional;
        /// Tags for routing.
        tags as "tags": list;
        /// Variables shown to the human.
        context as "context": list;
        /// The message to the user.
        respond as "respond": optional;
        /// Assignments.
        set as "set": list;
        /// Whether it repeats what a tool of the model does, under `reasoning.bindings`.
        repeats_binding as "repeats_binding": flag;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |trigger, object, reader| check_priority(trigger, object, reader);
}

object! {
    /// What happens after the human is done.
    HumanOutcome = "HumanOutcome" {
        /// The condition.
        condition as "condition": optional;
        /// What the agent does next.
        action as "action": optional;
        /// The message to the user.
        respond as "respond": optional;
        /// A value to store.
        store as "store": optional;
        /// Assignments.
        set as "set": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// When the agent is done.
    Completion = "Completion" {
        /// The conditions, in order.
        conditions as "conditions": default(Default::default());
    }
}

object! {
    /// One completion condition.
    CompletionCondition = "CompletionCondition" {
        /// The condition.
        when as "when": optional;
        /// The message to the user.
        respond as "respond": optional;
        /// The named template of the message.
        respond_template as "respond_template": optional;
        /// Settings for speech output.
        voice_config as "voice_config": optional;
        /// Rich content for channels that show more than text.
        rich_content as "rich_content": optional;
        /// Buttons and inputs shown with the message.
        actions as "actions": optional;
        /// A value to store.
        store as "store": optional;
        /// Assignments.
        set as "set": list;
        /// Whether the conversation ends.
        terminal as "terminal": optional;
        /// Whether it repeats what a tool of the model does, under `reasoning.bindings`.
        repeats_binding as "repeats_binding": flag;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// The routing of a supervisor.
    Routing = "Routing" {
        /// The rules, in the order in which they are tried.
        rules as "rules": default(Default::default());
        /// The agent for messages no rule matches.
        default_agent as "default_agent": optional;
        /// The intents it classifies.
        intent_classification as "intent_classification": optional;
        /// Whether the supervisor may answer itself.
        direct_response_allowed as "direct_response_allowed": optional;
        /// The tools that the supervisor never calls.
        forbidden_actions as "forbidden_actions": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// The intents a supervisor classifies.
    IntentClassification = "IntentClassification" {
        /// Their names.
        categories as "categories": default(Default::default());
        /// The minimum confidence of the classifier.
        min_confidence as "min_confidence": default(Number(0.0));
        /// `explicit` or `inferred`.
        source as "source": default("explicit") in &["explicit", "inferred"];
        /// When keyword matching replaces the classifier.
        lexical_fallback as "lexical_fallback": optional in words::LEXICAL_FALLBACK;
    }
}

object! {
    /// One routing rule.
    RoutingRule = "RoutingRule" {
        /// The name.
        name as "name": optional;
        /// The agent; absent if the rule does something else.
        to as "to": optional;
        /// The action, if the target is not an agent.
        action as "action": optional;
        /// The condition.
        when as "when": optional;
        /// The intents the rule matches.
        intents as "intents": list;
        /// Who decides that it happens.
        decided_by as "decided_by": default(Decider::of(when.as_ref()));
        /// A description.
        description as "description": optional;
        /// The priority, lower first; source order otherwise.
        priority as "priority": optional;
        /// Whether control returns.
        returns as "return": optional;
        /// The variables passed.
        pass as "pass": list;
        /// `set_active`, `silent`, `no_log`, `priority_boost`.
        flags as "flags": list;
        /// The channels it applies to.
        channels as "channels": list;
        /// The intents it ignores.
        ignore_intents as "ignoreIntents": list;
        /// Variables that must have a value.
        requires_state as "requiresState": list;
        /// Whether it is another target of the rule before it, whose condition it shares.
        continues as "continues": flag;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |rule, object, reader| check_target(rule, object, reader);
}

object! {
    /// An agent that a supervisor can route to.
    AgentReference = "AgentReference" {
        /// The supervisor's name for it.
        alias as "alias": named;
        /// The agent's name; absent if only a file is given.
        agent as "agent": optional;
        /// The file that defines it.
        file as "ref": optional;
        /// The capabilities.
        capabilities as "capabilities": list;
        /// The channels it is available in.
        channels as "channels": list;
        /// Whether the user must be authenticated.
        requires_validation as "requires_validation": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

tagged! {
    /// An action of a routing rule other than routing to an agent.
    RoutingTarget = "RoutingTarget" by "type" {
        /// Sends a message and waits for the user.
        RouteToUser = "route_to_user" {
            /// The message.
            message as "message": required;
        };
        /// Routes to the agent named by a variable.
        RouteToVariable = "route_to_variable" {
            /// The variable.
            variable as "variable": required;
        };
        /// Ends the conversation.
        EndConversation = "end_conversation" {};
        /// Runs an action of the platform.
        SystemAction = "system_action" {
            /// The action.
            action as "action": required;
        };
    }
}

/// How much of the history is passed is one of some words, or how many messages.
fn check_history(context: &mut Context, object: &Object<'_>, reader: &mut Reader<'_>) {
    let Some(json) = object.node("history") else { return };
    match (&json.kind, &mut context.history) {
        (_, None) => {}
        // As if the key were absent.
        (Kind::Null, _) => context.history = None,
        (Kind::String(_), Some(_)) => {
            let word = reader.within("history", |reader| reader.word(json, data::HISTORY));
            context.history = word.map(|word| Data::from(word.value));
        }
        (Kind::Object(members), Some(Data::Object(fields))) => {
            reader.check_keys(json, "`history`", data::LAST_MESSAGES.iter());
            for (key, form) in data::LAST_MESSAGES {
                let written = members.iter().rfind(|member| member.key == *key);
                if let (Some(written), Some(value)) = (written, fields.get_mut(*key))
                    && !reader
                        .within(key, |reader| reader.check_form(&written.value, key, *form, value))
                {
                    context.history = None;
                    return;
                }
            }
        }
        (_, Some(_)) => {
            let all = "a string or `{\"last_n\": …}`";
            context.history = reader.within("history", |reader| reader.expected(json, all));
        }
    }
}

/// The priority of a trigger is one of some words, or a number.
fn check_priority(trigger: &mut Trigger, object: &Object<'_>, reader: &mut Reader<'_>) {
    let is_open = |text: &SmolStr| text.parse::<f64>().is_ok() || text.contains("{{");
    if let Some(json) = object.node("priority")
        && trigger.priority.take_if(|text| !is_open(text)).is_some()
    {
        let word = reader.within("priority", |reader| reader.word(json, data::PRIORITIES));
        trigger.priority = word.map(|word| word.value.into());
    }
}

/// A text that says how long something may take.
pub(crate) fn check_time(time: &mut Option<Spanned<SmolStr>>, key: &str, reader: &mut Reader<'_>) {
    if let Some(time) = time.take_if(|time| !data::is_time(&time.value)) {
        let message = format!("`{time}` is not a valid `{key}`");
        let problem = Diagnostic::error(rules::INVALID_VALUE, time.span, message);
        reader.report(problem.help(data::TIME_HELP));
    }
}

/// Reports a rule that is chosen and then leads nowhere.
fn check_target(rule: &mut RoutingRule, object: &Object<'_>, reader: &mut Reader<'_>) {
    // What is wrong with a value is reported there.
    if rule.to.is_none() && rule.action.is_none() && !object.has("to") && !object.has("action") {
        let message = "a routing rule must have the key `to` or `action`";
        reader.report(
            Diagnostic::error(rules::MISSING_FIELD, object.start(), message)
                .help("add `\"to\": …` with the name of an agent"),
        );
    }
}
