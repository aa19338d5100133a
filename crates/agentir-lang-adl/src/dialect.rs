//! The MICA project's Agent Declaration Language.

use agentir_expr::Coercion;
use agentir_expr::dialect::{
    Construct, Dialect, DialectTables, Entry, Equality, FallbackPolicy, Functions, Keyword, Logic,
    Notation, Nouns, Ordering, Phrase, Remainder, RuntimeNames, Semantics, Tools, Traits, Unset,
    Vocabulary,
};

/// The MICA project's Agent Declaration Language.
pub const ADL: Dialect = Dialect::new(&TABLES);

/// The user's last message.
pub(crate) const LAST_MESSAGE: &str = "_user_input";

/// Its tables.
pub const TABLES: DialectTables = DialectTables {
    id: "adl",
    title: "ADL",
    semantics: Semantics {
        false_text_is_falsy: false,
        equality: Equality::Converting,
        has_dates: false,
        ordering: Ordering::ByType,
        unset_number: Unset::Error,
        unset_member: Unset::Nothing,
        logic: Logic::Boolean,
        remainder: Remainder::Divisor,
        error_is_false: false,
        unset_text: "",
        false_text: "False",
        true_text: "True",
    },
    // Arguments have no types.
    coercion: Coercion::ANY,
    // The user's last message; all other names are those of arguments and agents (paper, B.1 and B.4.3).
    runtime: RuntimeNames { assumed: &[LAST_MESSAGE], ..RuntimeNames::NONE },
    functions: Functions::Listed(&[]),
    reserved_words: &[],
    uncompiled_assignments: &[],
    traits: Traits {
        is_authored: true,
        entry: Entry::Named("main"),
        closed_programs: true,
        agents_are_declared: false,
        shared_variables: false,
        arguments_are_variables: true,
        reads_other_agents: true,
        namespaced_references: false,
        enforces_types: false,
        unique_declarations: false,
        unset_is_a_value: false,
        model_sees_memory: true,
        tools: Tools::Functions,
        results_may_be_steps: true,
        hides_outputs: false,
        model_acts_by_tools: false,
        implicit_routing: true,
        queries_all_knowledge: true,
        sessions_expire: false,
        arguments_have_placeholders: false,
        fallback: Some(FALLBACK),
        restart_setting: &[],
    },
    // The kind of the agent, and the files whose functions it uses.
    redundant_extensions: &["type", "tools"],
    extension_words: &[("type", &crate::schema::AgentKind::NAMES)],
    program_name: Some("bot_name"),
    open_references: None,
    constructs: &[
        Construct::Arguments,
        Construct::ContextPassing,
        Construct::Fields,
        Construct::Mica,
        Construct::StepLists,
        Construct::Steps,
        Construct::ToolLists,
    ],
    vocabularies: &[Vocabulary {
        notation: Notation::Native,
        nouns: Nouns {
            agent: "agent",
            tool: "tool",
            argument: "parameter",
            step: "label or subflow",
            transfers: "handoffs and routing",
        },
        keywords: &[(Keyword::UseTools, "uses")],
        phrases: PHRASES,
    }],
};

const PHRASES: &[(Phrase, &str)] = &[
    (Phrase::AgentMustExist, "MICA raises an error when the conversation reaches this"),
    (Phrase::DeclareAgent, "add the agent: `{name}:` at the left margin, with its `type:` below"),
    (Phrase::EntryMissing, "this bot has no agent `main`"),
    (
        Phrase::EntryMustExist,
        "every conversation begins with `main`; without it the bot does not start",
    ),
    (Phrase::DeclareEntry, "add `main:` with `type: flow agent` and the step `- call: {name}`"),
    (Phrase::StepMustExist, "MICA raises an error when the conversation reaches this"),
    (Phrase::DeclareStep, "add `- label: {name}` to the steps, or a subflow `{name}:`"),
    (Phrase::GoToStep, "go to it with `next: {name}`, or remove it"),
    (
        Phrase::AgentIsReached,
        "an agent runs if it is the entry agent, or if a reachable agent hands over, delegates or routes to it",
    ),
    (
        Phrase::LeadToAgent,
        "list it in the `contains` of a reachable ensemble, `call` it, or remove `{name}`",
    ),
    (
        Phrase::CannotHandOver,
        "the model can only pretend to do it: no ensemble contains both agents",
    ),
    (
        Phrase::HandOver,
        "put both `{own}` and `{to}` into one ensemble, or change the instructions of `{own}`",
    ),
    (Phrase::DeclareTool, "define it in a Python file of the bot: `def {name}(…):`"),
    (Phrase::PassVariable, "bind it below `args:`: `{name}: {name}`"),
    (Phrase::PassToDelegate, "bind it below `args:`: `{name}: {name}`"),
    (Phrase::SetBefore, "set it first, or test `{name} != None`"),
    (Phrase::CallBefore, "call it first, or test `{name} != None`"),
    (Phrase::Clear, "set it to `null`"),
];

/// `fallback` (3.3, B.1): "the name of another agent" or "a natural language description outlining the
/// fallback strategy". Bots also write the message itself, which MICA says verbatim.
pub(crate) const FALLBACK: FallbackPolicy = FallbackPolicy {
    policy: "fallback",
    message: "message",
    phrases: &["fallback", "terminate", "the user"],
    verbs: &["give", "provide", "tell", "say", "if", "after", "when", "politely", "transfer"],
};
