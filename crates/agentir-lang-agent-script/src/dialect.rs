//! Salesforce's Agent Script.

use agentir_expr::Coercion;
use agentir_expr::ValueKind::{Boolean, Date, List, Number, Text};
use agentir_expr::dialect::UncompiledForm;
use agentir_expr::dialect::{
    Construct, Dialect, DialectTables, Entry, Equality, Functions, Keyword, Logic, Notation, Nouns,
    Ordering, Phrase, ReferenceSpace, Referent, Remainder, RuntimeNames, Semantics, Tools, Traits,
    Unset, Vocabulary,
};

/// Salesforce's Agent Script.
pub const AGENT_SCRIPT: Dialect = Dialect::new(&TABLES);

/// Its tables.
pub const TABLES: DialectTables = DialectTables {
    id: "agent-script",
    title: "Agent Script",
    semantics: Semantics {
        false_text_is_falsy: false,
        equality: Equality::Strict,
        has_dates: true,
        ordering: Ordering::ByType,
        unset_number: Unset::Error,
        unset_member: Unset::Error,
        logic: Logic::Operand,
        remainder: Remainder::Divisor,
        error_is_false: false,
        unset_text: "None",
        false_text: "False",
        true_text: "True",
    },
    coercion: COERCION,
    runtime: RuntimeNames {
        references: REFERENCES,
        text_types: TEXT_TYPES,
        expected: EXPECTED,
        ..RuntimeNames::NONE
    },
    functions: Functions::Listed(&["len", "max", "min"]),
    // Keywords, and the names of the types.
    reserved_words: &[
        "True",
        "False",
        "None",
        "and",
        "or",
        "not",
        "is",
        "if",
        "else",
        "mutable",
        "linked",
        "string",
        "number",
        "boolean",
        "object",
        "list",
        "currency",
        "date",
        "datetime",
        "time",
        "timestamp",
        "integer",
        "long",
        "id",
    ],
    uncompiled_assignments: &[
        UncompiledForm::List,
        UncompiledForm::Object,
        UncompiledForm::PartOfVariable,
    ],
    traits: Traits {
        is_authored: true,
        entry: Entry::Declared,
        closed_programs: true,
        agents_are_declared: true,
        shared_variables: true,
        arguments_are_variables: false,
        reads_other_agents: false,
        namespaced_references: true,
        enforces_types: true,
        unique_declarations: true,
        unset_is_a_value: true,
        model_sees_memory: false,
        tools: Tools::Local,
        results_may_be_steps: false,
        hides_outputs: true,
        model_acts_by_tools: true,
        implicit_routing: false,
        queries_all_knowledge: false,
        sessions_expire: false,
        arguments_have_placeholders: false,
        fallback: None,
        restart_setting: &["config", "runtime", "reset_to_initial_node"],
    },
    redundant_extensions: &[],
    extension_words: &[],
    // The nodes of agentfabric have references and functions of their own.
    program_name: None,
    open_references: Some(("dialect", "agentfabric")),
    constructs: &[
        Construct::Callbacks,
        Construct::Comparisons,
        Construct::DeclaredTypes,
        Construct::DeclaredVariables,
        Construct::DelegationTools,
        Construct::Functions,
        Construct::Handoffs,
        Construct::LinkedVariables,
        Construct::Outputs,
        Construct::Procedures,
        Construct::PromptReferences,
        Construct::PromptTemplates,
        Construct::ReservedNames,
        Construct::SensitiveData,
        Construct::SharedVariables,
        Construct::ToolDeclarations,
        Construct::VariableTools,
    ],
    vocabularies: &[Vocabulary {
        notation: Notation::Native,
        nouns: Nouns {
            agent: "subagent",
            tool: "action",
            argument: "input",
            step: "step",
            transfers: "transitions",
        },
        keywords: &[(Keyword::EntryAgent, "start_agent"), (Keyword::Tools, "actions")],
        phrases: PHRASES,
    }],
};

/// Single values convert as Python converts them on request; lists do not. An `object` is "an untyped structured value"
/// (part I, 2.2), and on the platform the type of whatever has a type of its own there, numbers and dates included:
/// nothing is known of it.
const COERCION: Coercion = Coercion {
    never: &[
        (Text, &[List]),
        (Number, &[List]),
        (Boolean, &[Date, List]),
        (Date, &[Number, Boolean, List]),
        (List, &[Text, Number, Boolean, Date]),
    ],
    json: false,
};

/// The variables that the platform's own agents declare with its sources. The vendor's linter says of them that removing
/// them can cause issues.
const EXPECTED: &[&str] = &[
    "ChannelType",
    "ContactId",
    "EndUserId",
    "EndUserLanguage",
    "RoutableId",
    "VerifiedCustomerId",
];

/// What `complex_data_type_name` says of inputs that are declared as `object` (Agentforce).
const TEXT_TYPES: &[(&str, &str)] = &[
    ("lightning__dateType", "date"),
    ("lightning__dateTimeStringType", "datetime"),
    ("lightning__timeType", "time"),
    ("lightning__textType", "string"),
];

/// The namespaces that agents can read in the dialects agentscript and agentforce, with their members if these are
/// fixed, and those that exist only inside a `connection` (specification part II, 11 and 12, and the published
/// schemas).
const REFERENCES: &[ReferenceSpace] = &[
    space("variables", Referent::Program, None),
    space("outputs", Referent::Program, None),
    space("actions", Referent::Program, None),
    space("subagent", Referent::Agents, None),
    space("topic", Referent::Agents, None),
    space("start_agent", Referent::Agents, None),
    space("connected_subagent", Referent::Agents, None),
    space("MessagingSession", Referent::Platform, None),
    space("MessagingEndUser", Referent::Platform, None),
    space("VoiceCall", Referent::Platform, None),
    space(
        "utils",
        Referent::Platform,
        Some(&["transition", "setVariables", "escalate", "end_session"]),
    ),
    space(
        "system_variables",
        Referent::Platform,
        Some(&["user_input", "current_modality", "current_connection", "last_reply"]),
    ),
    space(
        "knowledge",
        Referent::Platform,
        Some(&["citations_url", "rag_feature_config_id", "citations_enabled"]),
    ),
    space("inputs", Referent::Connection, None),
    space("response_actions", Referent::Connection, None),
    space("response_formats", Referent::Connection, None),
];

const fn space(
    name: &'static str,
    holds: Referent,
    members: Option<&'static [&'static str]>,
) -> ReferenceSpace {
    ReferenceSpace { name, holds, members }
}

const PHRASES: &[(Phrase, &str)] = &[
    (
        Phrase::AgentMustExist,
        "the conversation cannot go to a subagent that does not exist; the agent does not compile",
    ),
    (
        Phrase::DeclareAgent,
        "add `subagent {name}:`, or `connected_subagent {name}:` if it is deployed elsewhere",
    ),
    (Phrase::EntryMissing, "there is no `start_agent`"),
    (
        Phrase::EntryMustExist,
        "a document needs exactly one `start_agent`, where every conversation begins; the agent does not compile",
    ),
    (Phrase::DeclareEntry, "turn one of the subagents into the `start_agent`: `start_agent name:`"),
    (
        Phrase::AgentIsReached,
        "a subagent runs if a transition leads to it, or if it is offered as a tool",
    ),
    (
        Phrase::LeadToAgent,
        "add a tool `go_to_{name}: @utils.transition to @subagent.{name}` where it is needed, or remove it",
    ),
    (
        Phrase::CannotHandOver,
        "the model can only pretend to do it: no action of the subagent leads there",
    ),
    (
        Phrase::HandOver,
        "add an action `go_to_{to}: @utils.transition to @subagent.{to}`, or change the instructions of `{own}`",
    ),
    (
        Phrase::DeclareTool,
        "declare it below `actions:` of the same subagent: actions are only visible there",
    ),
    (Phrase::CallTool, "use `run` to call an action"),
    (
        Phrase::SetBefore,
        "give it a default below `variables:`, set it first, or test `@variables.{name} is not None`",
    ),
    (Phrase::Clear, "set it to `None`"),
];
