//! Variables, persistent memory, and its rules.

use super::coordination::check_time;
use crate::describe::*;
use crate::words;
use agentir_ir::{
    Memory, PersistentPath, Recall, RecallAction, Remember, SessionVariable, StateVariable,
    StoredValue,
};

object! {
    /// The variables and the memory of an agent.
    Memory = "Memory" {
        /// Variables of the conversation.
        session as "session": default(Default::default());
        /// Paths of the persistent memory.
        persistent as "persistent": default(Default::default());
        /// Rules that write to the persistent memory.
        remember as "remember": default(Default::default());
        /// Rules that load from the persistent memory.
        recall as "recall": default(Default::default());
        /// Variables that a supervisor shares with its agents, with their namespaces.
        state as "state": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// A variable of the conversation.
    SessionVariable = "SessionVariable" {
        /// The name.
        name as "name": named;
        /// The type.
        ty as "type": optional;
        /// What it holds.
        description as "description": optional;
        /// The initial value.
        initial_value as "initial_value": optional;
        /// When it is reset: `per_session`, `per_activation`, `per_step`, `never`.
        reset as "reset": optional in &["per_session", "per_activation", "per_step", "never"];
        /// The visibility: `program` for all agents of the program. If absent, that of the dialect: `program` if its
        /// agents share all variables, else this agent alone.
        scope as "scope": optional in &["program"];
        /// Who may write it: `mutable` for the agents, `linked` for the platform alone.
        mutability as "mutability": optional in &["mutable", "linked"];
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |variable, _, reader| if reader.dialect.traits().shared_variables {
        variable.scope.get_or_insert("program");
    };
}

object! {
    /// A path of the persistent memory.
    PersistentPath = "PersistentPath" {
        /// The dotted path.
        path as "path": named;
        /// The owner of the memory: `user`, `project`, `execution_tree`.
        scope as "scope": default(path.as_ref().map_or("user", |path| PersistentPath::scope_of(&path.value))) in &["user", "project", "execution_tree"];
        /// `read`, `write`, `readwrite`.
        access as "access": default("readwrite") in &["read", "write", "readwrite"];
        /// The type.
        ty as "type": optional;
        /// The unit.
        unit as "unit": optional;
        /// The value if none is stored.
        default_value as "default_value": optional;
        /// Whether values are personal or regulated data.
        sensitive as "sensitive": optional;
        /// How sensitive values are shown.
        sensitive_display as "sensitive_display": optional in words::SENSITIVE_DISPLAY;
        /// How sensitive values are masked.
        mask_config as "mask_config": optional;
        /// A description.
        description as "description": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// A rule that stores a value.
    Remember = "Remember" {
        /// The condition.
        when as "when": optional;
        /// The value and its target.
        store as "store": optional;
        /// How long the value is kept.
        ttl as "ttl": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |rule, _, reader| check_time(&mut rule.ttl, "ttl", reader);
}

object! {
    /// A value to store in memory.
    StoredValue = "StoredValue" {
        /// The value.
        value as "value": optional;
        /// The path.
        target as "target": optional;
        /// `overwrite`, `set`, `append`.
        operation as "operation": optional in &["overwrite", "set", "append"];
        /// Whether duplicates are dropped.
        unique as "unique": optional;
        /// The maximum number of values.
        max_size as "maxSize": optional;
    }
}

object! {
    /// A rule that loads memory.
    Recall = "Recall" {
        /// The event: `session:start`, `tool:<name>:after`, …
        event as "event": required;
        /// An instruction to the model about the data.
        instruction as "instruction": optional;
        /// The action.
        action as "action": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// A variable of a supervisor's state.
    StateVariable = "StateVariable" {
        /// The name, with its namespace: `session.tier`.
        name as "name": named;
        /// The type.
        ty as "type": optional;
        /// Whether it must have a value.
        required as "required": optional;
        /// The initial value.
        default as "default": optional;
        /// A description.
        description as "description": optional;
        /// The origin of the value: `system`, `user`, `agent`, `computed`.
        source as "source": optional in &["system", "user", "agent", "computed"];
        /// The agents that may change it.
        updated_by as "updatedBy": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

tagged! {
    /// The action of a recall rule.
    RecallAction = "RecallAction" by "type" {
        /// Adds values to the context.
        InjectContext = "inject_context" {
            /// The paths of the values.
            paths as "paths": required;
        };
        /// Loads a memory domain.
        LoadMemory = "load_memory" {
            /// The domain.
            domain as "domain": optional;
        };
        /// Gives the model an instruction.
        PromptLlm = "prompt_llm" {
            /// The instruction.
            instruction as "instruction": required;
        };
    }
}
