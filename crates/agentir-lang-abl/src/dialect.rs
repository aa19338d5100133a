//! Kore.ai's Agent Blueprint Language.

use crate::runtime_names::RUNTIME;
use agentir_expr::Coercion;
use agentir_expr::ValueKind::{Boolean, Date, List, Number, Object, Text};
use agentir_expr::dialect::{
    Construct, Dialect, DialectTables, Entry, Equality, Functions, Keyword, Logic, Notation, Nouns,
    Ordering, Phrase, Remainder, Semantics, Tools, Traits, Unset, Vocabulary,
};

/// Kore.ai's Agent Blueprint Language.
pub const ABL: Dialect = Dialect::new(&TABLES);

/// Its tables.
pub const TABLES: DialectTables = DialectTables {
    id: "abl",
    title: "ABL",
    semantics: SEMANTICS,
    coercion: COERCION,
    runtime: RUNTIME,
    functions: Functions::Library,
    reserved_words: &[],
    uncompiled_assignments: &[],
    traits: TRAITS,
    redundant_extensions: &[],
    extension_words: &[],
    program_name: None,
    open_references: None,
    constructs: &[
        Construct::Comparisons,
        Construct::Completion,
        Construct::Constraints,
        Construct::ContextPassing,
        Construct::Credentials,
        Construct::DeclaredTypes,
        Construct::DeclaredVariables,
        Construct::Entities,
        Construct::FieldDependencies,
        Construct::Fields,
        Construct::FunctionLibrary,
        Construct::Functions,
        Construct::Guardrails,
        Construct::Handoffs,
        Construct::LookupTables,
        Construct::NaturalLanguageConditions,
        Construct::Outputs,
        Construct::Placeholders,
        Construct::Profiles,
        Construct::Recall,
        Construct::ReservedNames,
        Construct::Returns,
        Construct::RoutingRules,
        Construct::SensitiveData,
        Construct::SideEffects,
        Construct::StepGraph,
        Construct::Steps,
        Construct::Templates,
        Construct::ToolDeclarations,
        Construct::ValueLists,
    ],
    vocabularies: VOCABULARIES,
};

const SEMANTICS: Semantics = Semantics {
    false_text_is_falsy: true,
    equality: Equality::Converting,
    has_dates: false,
    ordering: Ordering::AsNumbers,
    unset_number: Unset::Nothing,
    unset_member: Unset::Nothing,
    logic: Logic::Boolean,
    remainder: Remainder::Dividend,
    error_is_false: true,
    unset_text: "",
    false_text: "false",
    true_text: "true",
};

/// Texts may hold anything, JSON included; numbers may be milliseconds.
const COERCION: Coercion = Coercion {
    never: &[
        (Number, &[List, Object]),
        (Boolean, &[Date, List, Object]),
        (Date, &[Number, Boolean, List, Object]),
        (List, &[Text, Number, Boolean, Date, Object]),
        (Object, &[Text, Number, Boolean, Date, List]),
    ],
    json: true,
};

const TRAITS: Traits = Traits {
    is_authored: true,
    entry: Entry::Found,
    closed_programs: false,
    agents_are_declared: false,
    shared_variables: false,
    arguments_are_variables: false,
    reads_other_agents: false,
    namespaced_references: false,
    enforces_types: false,
    unique_declarations: false,
    unset_is_a_value: false,
    model_sees_memory: true,
    tools: Tools::Declared,
    results_may_be_steps: false,
    hides_outputs: false,
    model_acts_by_tools: false,
    implicit_routing: false,
    queries_all_knowledge: false,
    sessions_expire: true,
    arguments_have_placeholders: true,
    fallback: None,
    restart_setting: &[],
};

const VOCABULARIES: &[Vocabulary] = &[
    Vocabulary { notation: Notation::Native, nouns: NOUNS, keywords: KEYWORDS, phrases: PHRASES },
    Vocabulary {
        notation: Notation::Yaml,
        nouns: NOUNS,
        keywords: YAML_KEYWORDS,
        phrases: YAML_PHRASES,
    },
];

const NOUNS: Nouns = Nouns {
    agent: "agent",
    tool: "tool",
    argument: "parameter",
    step: "step",
    transfers: "handoffs and routing",
};

const KEYWORDS: &[(Keyword, &str)] = &[
    (Keyword::Action, "ACTION"),
    (Keyword::Agent, "AGENT"),
    (Keyword::Agents, "AGENTS"),
    (Keyword::As, "AS"),
    (Keyword::AvailableTools, "AVAILABLE_TOOLS"),
    (Keyword::BehaviorProfile, "BEHAVIOR_PROFILE"),
    (Keyword::Call, "CALL"),
    (Keyword::Clear, "CLEAR"),
    (Keyword::Complete, "COMPLETE"),
    (Keyword::Constraints, "CONSTRAINTS"),
    (Keyword::Default, "DEFAULT"),
    (Keyword::Delegate, "DELEGATE"),
    (Keyword::Else, "ELSE"),
    (Keyword::Entities, "ENTITIES"),
    (Keyword::EntityRef, "ENTITY_REF"),
    (Keyword::Escalate, "ESCALATE"),
    (Keyword::Execution, "EXECUTION"),
    (Keyword::Flow, "FLOW"),
    (Keyword::Gather, "GATHER"),
    (Keyword::Handoff, "HANDOFF"),
    (Keyword::Initial, "INITIAL"),
    (Keyword::Input, "INPUT"),
    (Keyword::Into, "INTO"),
    (Keyword::LookupTables, "LOOKUP_TABLES"),
    (Keyword::Map, "MAP"),
    (Keyword::MaxAttempts, "MAX_ATTEMPTS"),
    (Keyword::Memory, "MEMORY"),
    (Keyword::On, "ON"),
    (Keyword::OnExhausted, "ON_EXHAUSTED"),
    (Keyword::OnFail, "ON_FAIL"),
    (Keyword::OnReturn, "ON_RETURN"),
    (Keyword::Pass, "pass"),
    (Keyword::Policies, "POLICIES"),
    (Keyword::Priority, "PRIORITY"),
    (Keyword::Remote, "REMOTE"),
    (Keyword::Respond, "RESPOND"),
    (Keyword::ReturnHandlers, "RETURN_HANDLERS"),
    (Keyword::Routing, "ROUTING"),
    (Keyword::Set, "SET"),
    (Keyword::State, "STATE"),
    (Keyword::Store, "STORE"),
    (Keyword::Supervisor, "SUPERVISOR"),
    (Keyword::Templates, "TEMPLATES"),
    (Keyword::Then, "THEN"),
    (Keyword::Tools, "TOOLS"),
    (Keyword::Transform, "TRANSFORM"),
    (Keyword::Type, "TYPE"),
    (Keyword::When, "WHEN"),
];

const YAML_KEYWORDS: &[(Keyword, &str)] = &[
    (Keyword::Action, "action"),
    (Keyword::Agent, "agent"),
    (Keyword::Agents, "agents"),
    (Keyword::As, "as"),
    (Keyword::AvailableTools, "available_tools"),
    (Keyword::BehaviorProfile, "behavior_profile"),
    (Keyword::Call, "call"),
    (Keyword::Clear, "clear"),
    (Keyword::Complete, "complete"),
    (Keyword::Constraints, "constraints"),
    (Keyword::Default, "default"),
    (Keyword::Delegate, "delegate"),
    (Keyword::Else, "else"),
    (Keyword::Entities, "entities"),
    (Keyword::EntityRef, "entity_ref"),
    (Keyword::Escalate, "escalate"),
    (Keyword::Execution, "execution"),
    (Keyword::Flow, "flow"),
    (Keyword::Gather, "gather"),
    (Keyword::Handoff, "handoff"),
    (Keyword::Initial, "initial"),
    (Keyword::Input, "input"),
    (Keyword::Into, "into"),
    (Keyword::LookupTables, "lookup_tables"),
    (Keyword::Map, "map"),
    (Keyword::MaxAttempts, "max_attempts"),
    (Keyword::Memory, "memory"),
    (Keyword::On, "on"),
    (Keyword::OnExhausted, "on_exhausted"),
    (Keyword::OnFail, "on_fail"),
    (Keyword::OnReturn, "on_return"),
    (Keyword::Pass, "pass"),
    (Keyword::Policies, "policies"),
    (Keyword::Priority, "priority"),
    (Keyword::Remote, "remote"),
    (Keyword::Respond, "respond"),
    (Keyword::ReturnHandlers, "return_handlers"),
    (Keyword::Routing, "routing"),
    (Keyword::Set, "set"),
    (Keyword::State, "state"),
    (Keyword::Store, "store"),
    (Keyword::Supervisor, "supervisor"),
    (Keyword::Templates, "templates"),
    (Keyword::Then, "then"),
    (Keyword::Tools, "tools"),
    (Keyword::Transform, "transform"),
    (Keyword::Type, "type"),
    (Keyword::When, "when"),
];

const AGENT_MUST_EXIST: &str =
    "the conversation cannot go to an agent that does not exist; the project does not compile";
const STEP_MUST_EXIST: &str =
    "control cannot go to a step that does not exist; the agent does not compile";
const AGENT_IS_REACHED: &str = "an agent runs if it is the entry agent, or if a reachable agent hands over, delegates or routes to it";
const CANNOT_HAND_OVER: &str =
    "the model can only pretend to do it: no handoff of the agent leads there";

const PHRASES: &[(Phrase, &str)] = &[
    (Phrase::AgentMustExist, AGENT_MUST_EXIST),
    (
        Phrase::DeclareAgent,
        "add a file with `AGENT: {name}`, or mark the agent as `REMOTE` if it runs elsewhere",
    ),
    (Phrase::StepMustExist, STEP_MUST_EXIST),
    (Phrase::DeclareStep, "add the step: `{name}:` below `FLOW:`"),
    (Phrase::GoToStep, "go to it, for example with `THEN: {name}`, or remove it"),
    (Phrase::AgentIsReached, AGENT_IS_REACHED),
    (
        Phrase::LeadToAgent,
        "name it in a `HANDOFF`, `DELEGATE` or `ROUTING` of a reachable agent, or remove `{name}`",
    ),
    (Phrase::CannotHandOver, CANNOT_HAND_OVER),
    (Phrase::HandOver, "add `{to}` to the `HANDOFF` of `{own}`, or change its instructions"),
    (Phrase::DeclareTool, "declare it: `TOOLS:` with `{name}(…) -> …`"),
    (Phrase::PassVariable, "add `{name}` to `pass:` of the handoff"),
    (
        Phrase::PassToDelegate,
        "add `{name}` to `pass:` of the handoff, or to `INPUT:` of the delegation",
    ),
    (Phrase::SetBefore, "set it first, give it an `INITIAL` value, or test `{name} IS SET`"),
    (
        Phrase::CallBefore,
        "call it first: a step does `RESPOND` before `CALL`, and `ON_SUCCESS` or the next step after it; or test `{name} IS SET`",
    ),
    (Phrase::Clear, "`CLEAR` it"),
    (Phrase::EndOfFlow, "COMPLETE"),
];

const YAML_PHRASES: &[(Phrase, &str)] = &[
    (Phrase::AgentMustExist, AGENT_MUST_EXIST),
    (
        Phrase::DeclareAgent,
        "add a file with `agent: {name}`, or mark the agent as `remote` if it runs elsewhere",
    ),
    (Phrase::StepMustExist, STEP_MUST_EXIST),
    (Phrase::DeclareStep, "add the step: `{name}:` below `flow:`"),
    (Phrase::GoToStep, "go to it, for example with `then: {name}`, or remove it"),
    (Phrase::AgentIsReached, AGENT_IS_REACHED),
    (
        Phrase::LeadToAgent,
        "name it in a `handoff`, `delegate` or `routing` of a reachable agent, or remove `{name}`",
    ),
    (Phrase::CannotHandOver, CANNOT_HAND_OVER),
    (Phrase::HandOver, "add `{to}` to the `handoff` of `{own}`, or change its instructions"),
    (Phrase::DeclareTool, "declare it: `- name: {name}` below `tools:`"),
    (Phrase::PassVariable, "add `{name}` to `pass:` of the handoff"),
    (
        Phrase::PassToDelegate,
        "add `{name}` to `pass:` of the handoff, or to `input:` of the delegation",
    ),
    (Phrase::SetBefore, "set it first, give it an `initial` value, or test `{name} IS SET`"),
    (
        Phrase::CallBefore,
        "call it first: a step does `respond` before `call`, and `on_success` or the next step after it; or test `{name} IS SET`",
    ),
    (Phrase::Clear, "`clear` it"),
    (Phrase::EndOfFlow, "COMPLETE"),
];
