//! What authors write.

/// A construct that authors of a dialect write. Rules name the constructs that they are about, and apply
/// to every dialect that has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Construct {
    /// Arguments that callers bind.
    Arguments,
    /// Callbacks of actions.
    Callbacks,
    /// Conditions under which an agent is done, or a person takes over.
    Completion,
    /// Comparisons of variables with values that declarations list or exclude.
    Comparisons,
    /// Constraints on the state of a conversation.
    Constraints,
    /// Handoffs that name the variables they pass.
    ContextPassing,
    /// Credentials of tools.
    Credentials,
    /// Declarations of variables that references must match.
    DeclaredVariables,
    /// Types of parameters and variables.
    DeclaredTypes,
    /// Agents that the model calls as tools.
    DelegationTools,
    /// Entities that fields refer to.
    Entities,
    /// Dependencies between fields.
    FieldDependencies,
    /// Fields that an agent asks for.
    Fields,
    /// A library of built-in functions with typed parameters.
    FunctionLibrary,
    /// Calls of functions.
    Functions,
    /// Guardrails on messages.
    Guardrails,
    /// Handoffs under conditions.
    Handoffs,
    /// Variables that the platform fills.
    LinkedVariables,
    /// Tables of reference data.
    LookupTables,
    /// What MICA, the implementation of ADL, makes of a bot.
    Mica,
    /// Conditions that may be in natural language.
    NaturalLanguageConditions,
    /// Outputs of actions, and results of tools, with fields.
    Outputs,
    /// Placeholders in texts, in one or two braces.
    Placeholders,
    /// Procedures that build the prompt.
    Procedures,
    /// Profiles that change an agent in a context.
    Profiles,
    /// Prompt templates that are called like actions.
    PromptTemplates,
    /// Prompts that refer to variables, actions and agents.
    PromptReferences,
    /// Memories that events recall.
    Recall,
    /// Names that the language or its runtime reserves.
    ReservedNames,
    /// Results that an agent returns to another.
    Returns,
    /// Routing by ordered rules.
    RoutingRules,
    /// Data that is declared as sensitive, or hidden.
    SensitiveData,
    /// Declarations of variables that all agents share.
    SharedVariables,
    /// Tools with side effects and confirmations.
    SideEffects,
    /// Flows whose steps say where to go next, and when the flow ends.
    StepGraph,
    /// Lists of steps that continue with the next one, with loops.
    StepLists,
    /// Steps with names.
    Steps,
    /// Messages with names.
    Templates,
    /// Declarations of tools that may remain unused.
    ToolDeclarations,
    /// Lists of the tools that the model is offered.
    ToolLists,
    /// Values that a declaration enumerates.
    ValueLists,
    /// Tools with which the model fills variables.
    VariableTools,
}

impl Construct {
    /// Whether it is a part of agents that others refer to by its name. Every document of AgentIR may have such parts,
    /// whether or not the language of its dialect has a form for them.
    #[must_use]
    pub const fn is_named_part(self) -> bool {
        matches!(
            self,
            Self::Entities
                | Self::Fields
                | Self::LookupTables
                | Self::Profiles
                | Self::Steps
                | Self::Templates
        )
    }
}
