//! How things are called: a message must not mention `TOOLS:` to an author who writes `actions:`.

/// A notation of a dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Notation {
    /// The usual one.
    #[default]
    Native,
    /// YAML, in a dialect that has a notation of its own as well.
    Yaml,
    /// AgentIR as JSON, in any dialect.
    Json,
}

/// How things are called in one notation of a dialect.
#[derive(Debug)]
pub struct Vocabulary {
    /// The notation.
    pub notation: Notation,
    /// Nouns.
    pub nouns: Nouns,
    /// How keywords are spelt.
    pub keywords: &'static [(Keyword, &'static str)],
    /// Sentences about syntax, with placeholders such as `{name}`.
    pub phrases: &'static [(Phrase, &'static str)],
}

/// Nouns of a dialect.
#[derive(Clone, Copy, Debug)]
pub struct Nouns {
    /// An agent of a program.
    pub agent: &'static str,
    /// Something that an agent calls.
    pub tool: &'static str,
    /// An argument of a call.
    pub argument: &'static str,
    /// What a jump leads to.
    pub step: &'static str,
    /// What refers to agents by name.
    pub transfers: &'static str,
}

/// How a message is built from a table of entries.
macro_rules! entries {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $entry:ident = $plain:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $entry,)* }

        impl $name {
            /// What it is called in a dialect that does not say.
            #[must_use]
            pub const fn plain(self) -> &'static str {
                match self { $(Self::$entry => $plain,)* }
            }
        }
    };
}

entries! {
    /// A word of the syntax that messages mention. The plain word stands for it in dialects without it.
    Keyword {
        /// The action of a rule.
        Action = "action",
        /// The head of an agent.
        Agent = "agent",
        /// The agents that a supervisor knows.
        Agents = "agents",
        /// The variable that takes a result.
        As = "as",
        /// The tools that a step offers.
        AvailableTools = "available tools",
        /// The head of a profile.
        BehaviorProfile = "profile",
        /// A call of a tool.
        Call = "call",
        /// What removes variables.
        Clear = "clear",
        /// The conditions under which an agent is done.
        Complete = "completion",
        /// The section of constraints.
        Constraints = "constraints",
        /// What applies if nothing else does.
        Default = "default",
        /// Delegations.
        Delegate = "delegation",
        /// What applies if no condition holds.
        Else = "else",
        /// The section of entities.
        Entities = "entities",
        /// The reference of a field to an entity.
        EntityRef = "entity",
        /// The declaration of the entry agent.
        EntryAgent = "entry agent",
        /// The conditions under which a person takes over.
        Escalate = "escalation",
        /// The section of limits.
        Execution = "execution",
        /// The section of steps.
        Flow = "flow",
        /// The section of fields.
        Gather = "fields",
        /// Handoffs.
        Handoff = "handoff",
        /// The initial value of a variable.
        Initial = "initial",
        /// What is passed to a delegate.
        Input = "input",
        /// The variable that takes what a transformation makes.
        Into = "into",
        /// The section of lookup tables.
        LookupTables = "lookup tables",
        /// What maps results to variables.
        Map = "map",
        /// The limit of attempts.
        MaxAttempts = "attempts",
        /// The section of variables.
        Memory = "variables",
        /// The event of a rule.
        On = "on",
        /// What happens when attempts are exhausted.
        OnExhausted = "exhaustion",
        /// What happens when a constraint fails.
        OnFail = "failure",
        /// What happens when another agent returns.
        OnReturn = "return",
        /// What is passed to another agent.
        Pass = "pass",
        /// The section of policies.
        Policies = "policies",
        /// A priority.
        Priority = "priority",
        /// What marks an agent as deployed elsewhere.
        Remote = "remote",
        /// A message.
        Respond = "message",
        /// The section of what is done when another agent returns.
        ReturnHandlers = "return handlers",
        /// The section of routing rules.
        Routing = "routing",
        /// An assignment.
        Set = "assignment",
        /// The section of variables of a supervisor.
        State = "state",
        /// What stores a value.
        Store = "store",
        /// The head of a supervisor.
        Supervisor = "supervisor",
        /// The section of templates.
        Templates = "templates",
        /// A jump.
        Then = "then",
        /// The section of tools.
        Tools = "tools",
        /// A transformation of a list.
        Transform = "transformation",
        /// A type.
        Type = "type",
        /// The list of tools that the model is offered.
        UseTools = "tools",
        /// A condition.
        When = "when",
    }
}

entries! {
    /// A sentence about the syntax or the platform. The plain one stands for it in dialects without one.
    Phrase {
        /// Why an agent that does not exist is a problem.
        AgentMustExist = "the conversation cannot go to an agent that does not exist",
        /// How to declare the agent `{name}`.
        DeclareAgent = "declare `{name}`, or go elsewhere",
        /// Why a program needs an entry agent.
        EntryMustExist = "no conversation can start",
        /// What is missing without an entry agent.
        EntryMissing = "there is no entry agent",
        /// How to declare an entry agent that leads to `{name}`.
        DeclareEntry = "declare the agent at which conversations begin, such as `{name}`",
        /// Why a step that does not exist is a problem.
        StepMustExist = "control cannot go to a step that does not exist",
        /// How to declare the step `{name}`.
        DeclareStep = "add the step `{name}`",
        /// How to go to the step `{name}`.
        GoToStep = "go to it from another step, or remove it",
        /// How an agent is reached.
        AgentIsReached = "an agent runs if another one leads to it",
        /// How to lead to the agent `{name}`.
        LeadToAgent = "lead to it where it is needed, or remove `{name}`",
        /// Why the model cannot hand over.
        CannotHandOver = "the model can only pretend to do it: nothing leads there",
        /// How to let `{own}` hand over to `{to}`.
        HandOver = "let `{own}` hand over to `{to}`, or change its instructions",
        /// How to declare the tool `{name}`.
        DeclareTool = "declare it, or name an existing one",
        /// How to call a tool instead of a function.
        CallTool = "call tools in steps",
        /// How to pass the variable `{name}` in a handoff.
        PassVariable = "pass `{name}` to it",
        /// How to pass the variable `{name}` in a delegation.
        PassToDelegate = "pass `{name}` to it",
        /// How to make sure that the variable `{name}` is set.
        SetBefore = "set `{name}` first, or test whether it is set",
        /// How to make sure that the tool `{name}` was called.
        CallBefore = "call `{name}` first, or test whether it has a result",
        /// How to clear a variable.
        Clear = "clear it",
        /// The jump that ends a flow, if there is one.
        EndOfFlow = "",
    }
}

/// Vocabulary for what a dialect does not name.
pub(super) static PLAIN: Vocabulary = Vocabulary {
    notation: Notation::Native,
    nouns: Nouns {
        agent: "agent",
        tool: "tool",
        argument: "parameter",
        step: "step",
        transfers: "handoffs and routing",
    },
    keywords: &[],
    phrases: &[],
};

/// Vocabulary for AgentIR as JSON: its keys.
pub(super) static JSON: Vocabulary = Vocabulary {
    notation: Notation::Json,
    nouns: PLAIN.nouns,
    keywords: &[
        (Keyword::Agents, "available_agents"),
        (Keyword::AvailableTools, "available_tools"),
        (Keyword::BehaviorProfile, "behavior_profiles"),
        (Keyword::Complete, "completion.conditions"),
        (Keyword::Delegate, "coordination.delegates"),
        (Keyword::EntityRef, "entity_ref"),
        (Keyword::EntryAgent, "entry_agent"),
        (Keyword::Escalate, "coordination.escalation"),
        (Keyword::Gather, "gather"),
        (Keyword::Handoff, "coordination.handoffs"),
        (Keyword::Initial, "initial_value"),
        (Keyword::LookupTables, "lookup_tables"),
        (Keyword::MaxAttempts, "max_attempts"),
        (Keyword::Memory, "memory"),
        (Keyword::OnExhausted, "on_exhausted"),
        (Keyword::OnFail, "on_fail"),
        (Keyword::OnReturn, "on_return"),
        (Keyword::Respond, "respond"),
        (Keyword::Set, "set"),
        (Keyword::State, "memory.state"),
        (Keyword::Transform, "transform"),
        (Keyword::UseTools, "use_tools"),
    ],
    phrases: &[
        (
            Phrase::DeclareAgent,
            "add it to `agents`, or set `remote` of the handoff if it runs elsewhere",
        ),
        (Phrase::EntryMissing, "there is no `entry_agent`"),
        (Phrase::DeclareEntry, "name the agent at which conversations begin in `entry_agent`"),
        (Phrase::DeclareStep, "add the step `{name}` to `flow.definitions`"),
        (Phrase::GoToStep, "go to it, for example with `\"then\": \"{name}\"`, or remove it"),
        (
            Phrase::LeadToAgent,
            "name it in `coordination.handoffs`, `coordination.delegates` or `routing` of a reachable agent, or remove `{name}`",
        ),
        (
            Phrase::HandOver,
            "add `{to}` to `coordination.handoffs` of `{own}`, or change its instructions",
        ),
        (Phrase::DeclareTool, "declare it: `{\"name\": \"{name}\"}` in `tools`"),
        (Phrase::CallTool, "call tools with `call`"),
        (Phrase::PassVariable, "add `{name}` to `context.pass` of the handoff"),
        (
            Phrase::PassToDelegate,
            "add `{name}` to `context.pass` of the handoff, or to `input` of the delegate",
        ),
        (
            Phrase::SetBefore,
            "set `{name}` first, give it an `initial_value`, or test whether it is set",
        ),
        (Phrase::Clear, "name it in `clear`"),
    ],
};

impl Vocabulary {
    /// Whether messages are about the keys of AgentIR's JSON, which have no lines and no blocks.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.notation == Notation::Json
    }

    /// One of two sentences: about the text of a language, or about AgentIR's JSON.
    #[must_use]
    pub fn either<T>(&self, text: T, json: T) -> T {
        if self.is_json() { json } else { text }
    }

    /// A key with a value, which is a text in JSON.
    #[must_use]
    pub fn entry(&self, key: &str, value: &str) -> String {
        self.either(format!("`{key}: {value}`"), format!("`\"{key}\": \"{value}\"`"))
    }

    /// How a keyword is spelt.
    #[must_use]
    pub fn keyword(&self, keyword: Keyword) -> &'static str {
        let own = self.keywords.iter().find(|(known, _)| *known == keyword);
        own.map_or(keyword.plain(), |(_, word)| word)
    }

    /// A sentence without placeholders.
    #[must_use]
    pub fn phrase(&self, phrase: Phrase) -> &'static str {
        let own = self.phrases.iter().find(|(known, _)| *known == phrase);
        own.map_or(phrase.plain(), |(_, text)| text)
    }

    /// A sentence, its placeholders replaced by the values of these names.
    #[must_use]
    pub fn phrase_with(&self, phrase: Phrase, values: &[(&str, &str)]) -> String {
        let mut text = String::new();
        let mut rest = self.phrase(phrase);
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let value = after.split_once('}').and_then(|(name, after)| {
                let (_, value) = values.iter().find(|(known, _)| *known == name)?;
                Some((value, after))
            });
            match value {
                Some((value, after)) => {
                    text.push_str(value);
                    rest = after;
                }
                None => {
                    text.push('{');
                    rest = after;
                }
            }
        }
        text.push_str(rest);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{PLAIN, Phrase};

    #[test]
    fn placeholders_are_replaced_once() {
        let values = [("own", "{to}"), ("to", "b")];
        assert_eq!(
            PLAIN.phrase_with(Phrase::HandOver, &values),
            "let `{to}` hand over to `b`, or change its instructions"
        );
        assert_eq!(
            PLAIN.phrase_with(Phrase::LeadToAgent, &[]),
            "lead to it where it is needed, or remove `{name}`"
        );
    }
}
