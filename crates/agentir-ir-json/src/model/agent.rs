//! The agent: identity, execution settings, and everything it contains.

use crate::describe::*;
use crate::reader::Reader;
use crate::words;
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::{NONE, Notation};
use agentir_ir::{
    Agent, AgentType, ConversationIntents, Entity, EntitySource, ErrorHandler, ErrorHandling,
    Execution, ExecutionHints, Hook, Hooks, Identity, Instruction, IntentHandling, LookupTable,
    Metadata, MultiIntent, NamedTemplate, Nlu, NluIntent, SystemPrompt, Timeouts,
};
use agentir_syntax::rules;
use smol_str::SmolStr;

object! {
    /// An agent or a supervisor.
    Agent = "AgentIR" {
        /// [`crate::IR_VERSION`].
        ir_version as "ir_version": default(agentir_ir::IR_VERSION) in words::VERSIONS;
        /// Name and origin.
        metadata as "metadata": required;
        /// Execution settings.
        execution as "execution": default(Default::default());
        /// Identity and instructions.
        identity as "identity": default(Default::default());
        /// The tools it can call.
        tools as "tools": default(Default::default());
        /// The fields it collects.
        gather as "gather": default(Default::default());
        /// The files it asks the user for.
        attachments as "attachments": list;
        /// Variables and longer-lived memory.
        memory as "memory": default(Default::default());
        /// The knowledge base it answers from.
        knowledge as "knowledge": optional;
        /// Constraints and guardrails.
        constraints as "constraints": default(Default::default());
        /// Handoffs, delegation and escalation.
        coordination as "coordination": default(Default::default());
        /// When the agent is done.
        completion as "completion": default(Default::default());
        /// Error handlers.
        error_handling as "error_handling": default(Default::default());
        /// The flow; without one the model leads the conversation.
        flow as "flow": optional;
        /// What the model may do where it leads, if more is declared than the tools.
        reasoning as "reasoning": optional;
        /// Statements executed when the agent starts.
        on_start as "on_start": list;
        /// Overrides of the platform's messages, by key.
        messages as "messages": list;
        /// Statements executed around agents and turns.
        hooks as "hooks": list;
        /// Natural-language understanding.
        nlu as "nlu": optional;
        /// Reusable entity types.
        entities as "entities": list;
        /// Handling of several intents in one message.
        intent_handling as "intent_handling": optional;
        /// Named templates.
        templates as "templates": list;
        /// Routing rules of a supervisor.
        routing as "routing": optional;
        /// The agents a supervisor can route to.
        available_agents as "available_agents": list;
        /// Lookup tables.
        lookup_tables as "lookup_tables": list;
        /// Behaviour profiles defined in the agent.
        behavior_profiles as "behavior_profiles": list;
        /// Names of behaviour profiles defined elsewhere.
        use_behavior_profiles as "use_behavior_profiles": list;
        /// Names of tools defined elsewhere.
        use_tools as "use_tools": list;
        /// Settings of the conversation style.
        conversation_behavior as "conversation_behavior": optional;
        /// Destinations of events.
        destinations as "destinations": list;
        /// Handlers of buttons and inputs.
        action_handlers as "action_handlers": list;
        /// Policies of a supervisor.
        policies as "policies": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    skip shadowed_templates = Default::default();
    skip shadowed_lookup_tables = Default::default();
    keyed check_name;
    // That of the agent before it is not its dialect.
    before |reader| reader.set_dialect(NONE);
    then |agent, _, reader| {
        check_not_empty(agent, reader);
        check_extensions(agent, reader);
        let all_read = reader.has_no_errors();
        reader.reporting(|problems| crate::repetitions::locate(agent, all_read, problems));
    };
}

/// Reports words in the extensions of an agent that its language does not have: emitters would ignore them.
fn check_extensions(agent: &Agent, reader: &mut Reader<'_>) {
    let dialect = agent.metadata.dialect;
    let Some(own) = agent.extensions.0.get(dialect.id()) else { return };
    for (key, words) in dialect.extension_words() {
        if let Some(entry) = own.get(*key) {
            reader.check_data(key, entry, words);
        }
    }
}

/// Reports an agent without a name, which nothing could refer to.
fn check_not_empty(agent: &mut Agent, reader: &mut Reader<'_>) {
    let name = &agent.metadata.name;
    if name.value.trim().is_empty() {
        reader.report(empty_name(name.span));
    }
}

fn empty_name(at: Span) -> Diagnostic {
    let message = "the name of an agent must not be empty";
    let help = "write the name by which other agents hand over to it";
    Diagnostic::error(rules::INVALID_VALUE, at, message).help(help)
}

/// Reports an agent whose key in the program is not its name.
fn check_name(agent: &mut Agent, key: &Spanned<Name>, reader: &mut Reader<'_>) {
    agent.metadata.named_again = Some(key.span);
    let name = &agent.metadata.name;
    if key.value.trim().is_empty() || name.value.trim().is_empty() {
        // The other one is meant.
        if name.value.trim().is_empty() {
            agent.metadata.name = Spanned::new(key.value.clone(), name.span);
        } else {
            reader.report(empty_name(key.span));
        }
        return;
    }
    if name.value != key.value {
        let message = format!("the agent `{key}` is called `{name}`");
        reader.report(
            Diagnostic::error(rules::CONFLICTING_FIELDS, name.span, message)
                .label(key.span, "the program has it under this key")
                .help("use the same name for both"),
        );
        // Others may mean it by either.
        reader.gaps.push(name.span);
        agent.metadata.name.value = key.value.clone();
    }
}

object! {
    /// The origin of an agent.
    Metadata = "Metadata" {
        /// The name.
        name as "name": required;
        /// Its version.
        version as "version": optional;
        /// Agent or supervisor.
        kind as "type": default(AgentType::Agent);
        /// A description.
        description as "description": optional;
        /// The source dialect.
        dialect as "dialect": required;
        /// The version of the language, unless it is the current one.
        language_version as "language_version": optional in &["legacy", "current", "newest"];
        /// A hash of the source.
        source_hash as "source_hash": default(SmolStr::default());
        /// The version of the compiler.
        compiler_version as "compiler_version": default(SmolStr::default());
    }
    skip notation = Notation::Json;
    skip named_again = None;
    then |metadata, _, reader| reader.set_dialect(metadata.dialect);
}

words_of! {
    /// The kinds of agent.
    AgentType = "AgentType" {
        /// An agent that does the work itself.
        Agent = "agent",
        /// An agent that routes to others.
        Supervisor = "supervisor",
    }
}

object! {
    /// The identity of an agent.
    Identity = "Identity" {
        /// The goal.
        goal as "goal": optional;
        /// The persona: tone and character.
        persona as "persona": optional;
        /// What the agent must not or cannot do.
        limitations as "limitations": default(Default::default());
        /// Further instructions to the model; parts may be conditional.
        instructions as "instructions": list;
        /// The system prompt.
        system_prompt as "system_prompt": optional;
        /// The language the agent speaks.
        language as "language": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// A part of the instructions to the model.
    Instruction = "Instruction" {
        /// Included only if this holds.
        when as "when": optional;
        /// The text.
        text as "text": required;
    }
}

object! {
    /// The author's own system prompt.
    SystemPrompt = "SystemPrompt" {
        /// Its text.
        template as "template": required;
        /// Whether the author wrote it.
        custom as "custom": default(true);
    }
}

object! {
    /// How an agent is executed.
    Execution = "Execution" {
        /// Hints to the platform, derived from the agent.
        hints as "hints": default(Default::default());
        /// Timeouts.
        timeouts as "timeouts": default(Default::default());
        /// The language model.
        model as "model": optional;
        /// The sampling temperature.
        temperature as "temperature": optional;
        /// The maximum number of tokens in an answer.
        max_tokens as "max_tokens": optional;
        /// The maximum number of tool calls in a turn.
        max_iterations as "max_iterations": optional;
        /// The maximum number of steps a flow may take.
        max_flow_iterations as "max_flow_iterations": optional;
        /// The model to use if the first one fails.
        fallback_model as "fallback_model": optional;
        /// `low`, `medium`, `high`.
        reasoning_effort as "reasoning_effort": optional in &["low", "medium", "high"];
        /// Whether the model reasons before it answers.
        enable_thinking as "enable_thinking": optional;
        /// The budget of that reasoning.
        thinking_budget as "thinking_budget": optional;
        /// When the history is compacted.
        compaction_threshold as "compaction_threshold": optional;
        /// How the history is compacted.
        compaction as "compaction": optional;
        /// Models for single operations.
        operation_models as "operation_models": list;
        /// `serial`, `preemptive`, `parallel`.
        concurrency as "concurrency": optional in &["serial", "preemptive", "parallel"];
        /// The maximum number of queued messages.
        max_queue_depth as "max_queue_depth": optional;
        /// The maximum number of messages handled at once.
        max_concurrent_messages as "max_concurrent_messages": optional;
        /// Classification before the model is called.
        pipeline as "pipeline": optional;
        /// Whether fields are asked for within the answer itself.
        inline_gather as "inline_gather": optional;
        /// Voice settings.
        voice as "voice": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// Hints to the platform about an agent.
    ExecutionHints = "ExecutionHints" {
        /// Whether it is a voice agent.
        voice_optimized as "voice_optimized": default(false);
        /// Whether it stores data beyond the conversation.
        requires_persistence as "requires_persistence": default(false);
        /// Whether a human can take over (human in the loop).
        supports_hitl as "supports_hitl": default(false);
        /// Whether its tools may run in parallel.
        parallel_tools as "parallel_tools": default(false);
        /// `simple`, `moderate`, `complex`.
        complexity as "complexity": default("simple") in &["simple", "moderate", "complex"];
    }
}

object! {
    /// Timeouts, in milliseconds.
    Timeouts = "Timeouts" {
        /// Timeout of a tool call.
        tool_timeout_ms as "tool_timeout_ms": default(Timeouts::default().tool_timeout_ms);
        /// Timeout of a model request.
        llm_timeout_ms as "llm_timeout_ms": default(Timeouts::default().llm_timeout_ms);
        /// How long a session waits for the user.
        session_timeout_ms as "session_timeout_ms": default(Timeouts::default().session_timeout_ms);
        /// Target latency of an answer in voice channels.
        voice_latency_target_ms as "voice_latency_target_ms": optional;
    }
}

object! {
    /// Statements executed around agents and turns.
    Hooks = "Hooks" {
        /// Runs before the agent starts.
        before_agent as "before_agent": optional;
        /// Runs after the agent is done.
        after_agent as "after_agent": optional;
        /// Runs before each turn.
        before_turn as "before_turn": optional;
        /// Runs after each turn.
        after_turn as "after_turn": optional;
    }
    absent Hooks::is_empty;
}

object! {
    /// The statements of one hook.
    Hook = "Hook" {
        /// The statements.
        body as "body": flat;
        /// Whether a failure of the hook fails the turn.
        critical as "critical": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// The error handlers of an agent.
    ErrorHandling = "ErrorHandling" {
        /// Handlers by error type, in order.
        handlers as "handlers": default(Default::default());
        /// The handler of all other errors.
        default_handler as "default_handler": optional;
    }
}

object! {
    /// The handler of one error type.
    ErrorHandler = "ErrorHandler" {
        /// The error type.
        kind as "type": required;
        /// Error subtypes.
        subtypes as "subtypes": list;
        /// The message to the user.
        respond as "respond": optional;
        /// Further statements.
        body as "body": list;
        /// The number of retries.
        retry as "retry": optional;
        /// The delay before a retry.
        retry_delay_ms as "retry_delay_ms": optional;
        /// `fixed`, `exponential`, `linear`.
        retry_backoff as "retry_backoff": optional in &["fixed", "exponential", "linear"];
        /// The maximum delay.
        retry_max_delay_ms as "retry_max_delay_ms": optional;
        /// What happens after the last retry.
        then as "then": optional;
        /// The agent that takes over.
        handoff_target as "handoff_target": optional;
        /// The step to go back to.
        backtrack_to as "backtrack_to": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// Natural-language understanding of an agent.
    Nlu = "Nlu" {
        /// The intents.
        intents as "intents": list;
        /// The entities.
        entities as "entities": list;
        /// The supported languages.
        languages as "languages": list;
        /// The language if none is detected.
        default_language as "default_language": optional;
        /// Whether users may mix languages.
        allow_code_switching as "allow_code_switching": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// The intents of an `INTENTS` section.
    ConversationIntents = "ConversationIntents" {
        /// The intents.
        intents as "intents": default(Default::default());
        /// `never`, `when_unavailable`, `always`.
        lexical_fallback as "lexical_fallback": optional in words::LEXICAL_FALLBACK;
    }
}

object! {
    /// An intent of the user.
    NluIntent = "NluIntent" {
        /// The name.
        name as "name": named;
        /// A description.
        description as "description": optional;
        /// Patterns that match it.
        patterns as "patterns": list;
        /// Example utterances.
        examples as "examples": list;
        /// A file with further examples.
        examples_file as "examples_file": optional;
        /// The entities mentioned with it.
        entities as "entities": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// A reusable entity type.
    Entity = "Entity" {
        /// The name.
        name as "name": named;
        /// The type.
        ty as "type": default("string") in agentir_ir::FIELD_TYPES;
        /// The allowed values.
        values as "values": list;
        /// Synonyms of each value.
        synonyms as "synonyms": optional;
        /// A pattern that values match.
        pattern as "pattern": optional;
        /// The validation of values.
        validation as "validation": optional;
        /// Whether values are personal or regulated data.
        sensitive as "sensitive": optional;
        /// How sensitive values are shown.
        sensitive_display as "sensitive_display": optional in words::SENSITIVE_DISPLAY;
        /// How sensitive values are masked.
        mask_config as "mask_config": optional;
        /// The category of personal data.
        pii_type as "pii_type": optional;
        /// A description.
        description as "description": optional;
        /// Hints for extraction.
        extraction_hints as "extraction_hints": list;
        /// The section it is declared in.
        source as "source": default(EntitySource::Explicit);
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

words_of! {
    /// The section an entity is declared in.
    EntitySource = "EntitySource" {
        /// The `ENTITIES` section.
        Explicit = "explicit",
        /// The `NLU` section.
        NluLowered = "nlu_lowered",
        /// An inline gather field.
        GatherInline = "gather_inline",
        /// The platform.
        System = "system",
    }
}

object! {
    /// The declared intents, and the handling of several in one message.
    IntentHandling = "IntentHandling" {
        /// Handling of several intents in one message.
        multi_intent as "multi_intent": optional;
        /// The declared intents.
        intents as "intents": optional;
    }
}

object! {
    /// Handling of several intents in one message.
    MultiIntent = "MultiIntent" {
        /// Whether several intents are detected.
        enabled as "enabled": optional;
        /// `primary_queue`, `sequential`, `parallel`, `disambiguate`, `auto`.
        strategy as "strategy": optional in &["primary_queue", "sequential", "parallel", "disambiguate", "auto"];
        /// The strategy if their relationship is unknown.
        unknown_relationship_strategy as "unknown_relationship_strategy": optional;
        /// The maximum number of intents.
        max_intents as "max_intents": optional;
        /// The minimum confidence of the classifier.
        confidence_threshold as "confidence_threshold": optional;
        /// How long an intent may stay queued.
        queue_max_age_ms as "queue_max_age_ms": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// A named template and its variants.
    NamedTemplate = "Template2" {
        /// The plain text, used where no other variant fits.
        default as "default": optional;
        /// Variants for richer channels, by format.
        rich_content as "rich_content": list;
        /// Instructions for speech output.
        voice_instructions as "voice_instructions": optional;
        /// Buttons and inputs shown with the message.
        actions as "actions": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    skip name = Default::default();
    key name;
}

object! {
    /// A lookup table.
    LookupTable = "LookupTable" {
        /// `inline`, `collection`, `api`.
        source as "source": optional in &["inline", "collection", "api"];
        /// The values.
        values as "values": list;
        /// The values by key.
        map as "map": optional;
        /// The collection that holds the table.
        table_name as "table_name": optional;
        /// The URL that serves the table.
        endpoint as "endpoint": optional;
        /// The field to read.
        field as "field": optional;
        /// Request headers.
        headers as "headers": optional;
        /// The timeout.
        timeout_ms as "timeout_ms": optional;
        /// Whether matching is case-sensitive.
        case_sensitive as "case_sensitive": optional;
        /// Whether approximate matches count.
        fuzzy_match as "fuzzy_match": optional;
        /// The minimum similarity of approximate matches.
        fuzzy_threshold as "fuzzy_threshold": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    skip name = Default::default();
    key name;
}
