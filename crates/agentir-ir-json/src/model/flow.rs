//! Flows.

use crate::describe::*;
use crate::reader::{Object, Reader};
use agentir_ir::{Decider, Digression, Flow, ReasoningZone};

object! {
    /// A flow. Without one, the model leads the conversation.
    Flow = "Flow" {
        /// The steps in declaration order; a step without a `then` continues with the next.
        steps as "steps": default(Default::default());
        /// An explicit order, written as `a -> b -> c`.
        sequence as "sequence": list;
        /// The steps by name.
        definitions as "definitions": default(Default::default());
        /// The first step; the first of `steps` if absent.
        entry_point as "entry_point": optional;
        /// Digressions available in every step.
        global_digressions as "global_digressions": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    skip shadowed = Default::default();
    skip key = Default::default();
    then |flow, object, reader| complete_flow(flow, object, reader);
}

object! {
    /// A part of a conversation that the model leads.
    ReasoningZone = "ReasoningZone" {
        /// The goal.
        goal as "goal": optional;
        /// The tools it may use; all if absent.
        available_tools as "available_tools": optional;
        /// Statements executed before each model request; they may add instructions.
        prepare as "prepare": list;
        /// The tools as exposed to the model, where they differ from their declarations.
        bindings as "bindings": list;
        /// The exit condition.
        exit_when as "exit_when": optional;
        /// The maximum number of turns.
        max_turns as "max_turns": optional;
        /// Constraints in this zone.
        constraints as "constraints": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    then |zone, _, reader| {
        // The model tells what it is offered by names.
        let bindings = zone.bindings.iter().map(|binding| &binding.name);
        let offered = zone.available_tools.iter().flatten().chain(bindings);
        reader.warn_of_repeated(offered, ("tool of the model", "offered"));
    };
}

object! {
    /// A digression: leaves a step when the user has another intent.
    Digression = "Digression" {
        /// The intent.
        intent as "intent": optional;
        /// Keywords that indicate it.
        keywords as "keywords": list;
        /// The condition.
        condition as "condition": optional;
        /// Who decides that it happens.
        decided_by as "decided_by": default(Decider::of(condition.as_ref()));
        /// The statements.
        body as "body": flat;
        /// Whether the step is resumed afterwards.
        resume as "resume": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

/// A flow without `steps` has its steps in the order of their definitions.
fn complete_flow(flow: &mut Flow, object: &Object<'_>, reader: &mut Reader<'_>) {
    reader.check_unique(flow.steps.iter(), ("step", "listed"));
    flow.key = object.start();
    if !object.has("steps") {
        flow.steps = flow.definitions.values().map(|step| step.name.clone()).collect();
    }
}
