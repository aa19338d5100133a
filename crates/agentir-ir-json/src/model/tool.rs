//! Tools: signatures, and how they are exposed to the model.

use crate::describe::*;
use crate::reader::{Object, Reader};
use agentir_diagnostics::Diagnostic;
use agentir_expr::{TypeExpr, TypeField, TypeKind};
use agentir_ir::{
    BindingAction, Confirmation, ContextAccess, FilledBy, InputBinding, Parameter, ReturnField,
    ReturnType, Tool, ToolBinding, ToolHints, ToolType,
};
use agentir_syntax::rules;

object! {
    /// A tool.
    Tool = "Tool" {
        /// The name.
        name as "name": named;
        /// The description shown to the model.
        description as "description": optional;
        /// The parameters.
        parameters as "parameters": default(Default::default());
        /// The result.
        returns as "returns": optional;
        /// Hints to the platform.
        hints as "hints": default(Default::default());
        /// The kind of implementation.
        tool_type as "tool_type": optional;
        /// How the implementation is reached.
        binding as "binding": optional;
        /// Whether the result is stored.
        store_result as "store_result": optional;
        /// Assignments from the result.
        on_result as "on_result": list;
        /// Assignments after a failure.
        on_error as "on_error": list;
        /// The conversation data it may read and write.
        context_access as "context_access": optional;
        /// When the user must confirm a call.
        confirmation as "confirmation": optional;
        /// Whether it may access personal data.
        pii_access as "pii_access": optional;
        /// How long results are compacted.
        compaction as "compaction": optional;
        /// The credentials.
        auth_profile_ref as "auth_profile_ref": optional;
        /// `per_user` or `shared`.
        connection_mode as "connection_mode": optional in &["per_user", "shared"];
        /// `preflight` or `inline`.
        consent_mode as "consent_mode": optional in &["preflight", "inline"];
        /// Whether the user logs in at the first call.
        jit_auth as "jit_auth": optional;
        /// The content of the knowledge base that it searches, where that lies beside the program.
        questions as "questions": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |tool, _, reader| {
        reader.check_unique(tool.parameters.iter().map(|p| &p.name), ("parameter", "declared"));
    };
}

object! {
    /// A parameter of a tool.
    Parameter = "Parameter" {
        /// The name.
        name as "name": named;
        /// The type.
        ty as "type": optional;
        /// A description.
        description as "description": optional;
        /// Whether calls must provide it.
        required as "required": default(true);
        /// The default value.
        default as "default": optional;
        /// The allowed values.
        values as "enum": list;
        /// The validation of values.
        validation as "validation": optional;
        /// Who provides the value: `model`, `system`, `runtime`, `config`, `auth`, `expr`, `lookup`.
        source as "source": optional in &["model", "system", "runtime", "config", "auth", "expr", "lookup"];
        /// The value, if its source is not the model.
        value as "value": optional;
        /// The expression of the value, for the source `expr`.
        value_expr as "value_expr": optional;
        /// What the source calls the value; without it, the name of the parameter.
        key as "key": optional;
        /// Whether the model does not see it.
        hidden as "hidden": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// The result of a tool.
    ReturnType = "ReturnType" {
        /// The type.
        ty as "type": required;
        /// The fields of an object type.
        fields as "fields": list;
    }
    then |returns, object, reader| {
        complete_returns(returns, object, reader);
        reader.check_unique(returns.fields.iter().map(|field| &field.name), ("field", "declared"));
    };
}

object! {
    /// A field of a result.
    ReturnField = "ReturnField" {
        /// The name.
        name as "name": named;
        /// The type.
        ty as "type": required;
        /// Whether it may be absent.
        optional as "optional": list;
    }
}

object! {
    /// Hints to the platform about a tool.
    ToolHints = "ToolHints" {
        /// Whether equal calls have equal results.
        cacheable as "cacheable": optional;
        /// `fast`, `medium`, `slow`.
        latency as "latency": optional in &["fast", "medium", "slow"];
        /// Whether it may run in parallel with others.
        parallelizable as "parallelizable": optional;
        /// Whether it has side effects.
        side_effects as "side_effects": optional;
        /// Whether it needs authentication.
        requires_auth as "requires_auth": optional;
        /// The timeout.
        timeout as "timeout": optional;
    }
}

words_of! {
    /// The kind of a tool's implementation.
    ToolType = "ToolType" {
        Http = "http",
        Mcp = "mcp",
        Sandbox = "sandbox",
        Lambda = "lambda",
        Connector = "connector",
        Workflow = "workflow",
        Searchai = "searchai",
        AsyncWebhook = "async_webhook",
        Table = "table",
    }
}

object! {
    /// When and how the user confirms a call.
    Confirmation = "Confirmation" {
        /// `always`, `never`, `when_side_effects`.
        require as "require": optional in &["always", "never", "when_side_effects"];
        /// Parameters that must not change after confirmation.
        immutable_params as "immutable_params": list;
        /// Where consent is requested.
        consent_required_in as "consent_required_in": optional;
        /// The scope of the consent.
        consent_scope as "consent_scope": optional;
        /// How consent is requested.
        consent_action as "consent_action": optional;
        /// What happens without consent.
        consent_fallback as "consent_fallback": optional;
    }
}

object! {
    /// The conversation data that a tool may read and write.
    ContextAccess = "ContextAccess" {
        /// Paths it may read.
        read as "read": default(Default::default());
        /// Paths it may write.
        write as "write": default(Default::default());
    }
}

object! {
    /// A tool as exposed to the model: under its own name, possibly under a condition, with some inputs
    /// bound.
    ToolBinding = "ToolBinding" {
        /// The name shown to the model.
        name as "name": named;
        /// What happens when the model selects it.
        action as "action": flat;
        /// The description shown to the model.
        description as "description": optional;
        /// It is exposed only while this holds.
        available_when as "available_when": optional;
        /// The bound inputs.
        with as "with": list;
        /// Statements executed afterwards.
        after as "after": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |binding, _, reader| {
        reader.check_unique(binding.with.iter().map(|input| &input.name), ("input", "bound"));
    };
}

object! {
    /// An input of a [`ToolBinding`].
    InputBinding = "InputBinding" {
        /// The parameter.
        name as "name": named;
        /// Who provides the value.
        filled_by as "filled_by": default(FilledBy::Model);
        /// The value, unless the model provides it.
        value as "value": optional;
    }
    then |input, object, reader| complete_input(input, object, reader);
}

words_of! {
    /// Who provides the value of an input.
    FilledBy = "FilledBy" {
        /// The model, from the conversation.
        Model = "model",
        /// The author, by an expression.
        Value = "value",
    }
}

tagged! {
    /// What happens when the model selects a [`ToolBinding`].
    BindingAction = "BindingAction" by "does" {
        /// Calls a tool.
        Call = "call" {
            /// The tool.
            tool as "tool": named;
        };
        /// Hands over to another agent.
        Handoff = "handoff" {
            /// The agent.
            to as "to": named;
        };
        /// Delegates to another agent; control returns.
        Delegate = "delegate" {
            /// The agent.
            agent as "agent": named;
        };
        /// Escalates to a human.
        Escalate = "escalate" {};
        /// Sets variables from the conversation.
        Collect = "collect" {};
        /// Ends the conversation.
        Complete = "complete" {};
        /// An action that AgentIR does not model.
        Other = "other" {
            /// The reference as written.
            reference as "reference": required;
        };
    }
}

/// An input with a value is filled by the author, if nothing else is said. Reports what says both, or neither.
fn complete_input(input: &mut InputBinding, object: &Object<'_>, reader: &mut Reader<'_>) {
    let Some(filled_by) = object.key_span("filled_by") else {
        if input.value.is_some() {
            input.filled_by = FilledBy::Value;
        }
        return;
    };
    if object.is_wrong(reader) {
        return;
    }
    match (input.filled_by, object.key_span("value")) {
        (FilledBy::Model, Some(value)) if input.value.is_some() => {
            let message = format!("the model fills in `{}`, and its value is given", input.name);
            reader.report(
                Diagnostic::error(rules::CONFLICTING_FIELDS, value, message)
                    .label(filled_by, "that the model does is said here")
                    .help("leave out one of the two"),
            );
        }
        (FilledBy::Value, None) => {
            let message = format!("the author fills in `{}`, but no value is given", input.name);
            reader.report(
                Diagnostic::error(rules::MISSING_FIELD, filled_by, message)
                    .help("add `\"value\": …` to this object, or let the model fill it in"),
            );
        }
        _ => {}
    }
}

/// The fields are those of the type. A type that only says that there are some is what the fields say.
fn complete_returns(returns: &mut ReturnType, object: &Object<'_>, reader: &mut Reader<'_>) {
    let is_object =
        matches!(&returns.ty.kind, TypeKind::Named(name) if name.eq_ignore_ascii_case("object"));
    if is_object && !returns.fields.is_empty() {
        let fields = std::mem::take(&mut returns.fields);
        let field = |f: ReturnField| TypeField { name: f.name, optional: f.optional, ty: f.ty };
        let kind = TypeKind::Object(fields.into_iter().map(field).collect());
        *returns = ReturnType::new(TypeExpr { kind, span: returns.ty.span });
        return;
    }
    let TypeKind::Object(_) = &returns.ty.kind else { return };
    let of_type = ReturnType::new(returns.ty.clone());
    let shape = |returns: &ReturnType| {
        let fields = returns.fields.iter();
        fields.map(|f| (f.name.value.clone(), f.ty.to_string(), f.optional)).collect::<Vec<_>>()
    };
    let fields = object.key_span("fields");
    if let Some(at) =
        fields.filter(|_| !object.is_wrong(reader) && shape(returns) != shape(&of_type))
    {
        let problem = Diagnostic::error(
            rules::CONFLICTING_FIELDS,
            at,
            "`fields` are not those of `type`, which are read",
        );
        reader.report(problem.help("leave out one of the two, or write `\"type\": \"object\"`"));
    }
    *returns = of_type;
}
