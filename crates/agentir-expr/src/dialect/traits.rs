//! Questions about how agents of a dialect behave.

/// How agents of a dialect behave where others do otherwise. Sections are those of the specifications:
/// ABL's current one, Agent Script's formal one, and the paper of ADL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is the answer to a question of its own")]
pub struct Traits {
    /// Whether authors write files in it. If not, agents are only imported, and rules about constructs would
    /// report what the import made of them.
    pub is_authored: bool,
    /// Where conversations begin.
    pub entry: Entry,
    /// Whether a program is complete in the files that are read, so that no one else calls its agents or
    /// reads their variables: a script is one file (Agent Script, part II), a bot one folder (ADL B.6).
    /// Agents of ABL may belong to a larger project.
    pub closed_programs: bool,
    /// Whether a program declares every agent that its agents lead to, also those that are deployed elsewhere
    /// (Agent Script, part II, 5 and 10). Otherwise each agent lists the remote ones it knows (ABL 3.10).
    pub agents_are_declared: bool,
    /// Whether all agents of a program share its variables (Agent Script, part II, 3). Otherwise each agent
    /// has its own, and who hands over says what it passes (ABL 3.10, ADL B.4.2).
    pub shared_variables: bool,
    /// Whether the fields of an agent are its arguments: variables that callers bind, that the model fills
    /// from any message, and that tools may set (ADL B.1, B.4.2). Otherwise they are questions that the
    /// agent asks (ABL 3.6).
    pub arguments_are_variables: bool,
    /// Whether `agent.variable` is a variable of another agent (ADL B.4.3).
    pub reads_other_agents: bool,
    /// Whether references say what they refer to, as `@variables.x` does (Agent Script, part I, 3.2).
    /// Otherwise a name means what is in scope.
    pub namespaced_references: bool,
    /// Whether the runtime enforces the declared types of variables (Agent Script, part I, 2.3).
    pub enforces_types: bool,
    /// Whether a second declaration of a variable is an error, not only confusing (Agent Script, part I,
    /// 2.3).
    pub unique_declarations: bool,
    /// Whether testing or copying an unset variable is usual and not worth a finding (Agent Script, part I,
    /// 3.1: `None` is a value).
    pub unset_is_a_value: bool,
    /// Whether the model sees the variables of an agent that no text mentions (ABL 3.7; ADL B.1).
    /// In Agent Script it sees the prompt only (part I, 6.3).
    pub model_sees_memory: bool,
    /// What tools are, and who is offered them.
    pub tools: Tools,
    /// Whether the result of a tool may be a list of steps for the agent to execute (ADL C.1).
    pub results_may_be_steps: bool,
    /// Whether declarations say which outputs of a tool the user may see (Agent Script, part I, 7.2).
    /// Otherwise fields and variables are declared as sensitive (ABL 3.6).
    pub hides_outputs: bool,
    /// Whether the model acts through exposed tools only: it fills variables and hands over by calling a tool,
    /// and an agent that it calls is done once it has answered (Agent Script, part II, 7 and 11).
    /// Otherwise it also fills fields from messages and chooses among declared handoffs (ABL 3.6, 3.10).
    pub model_acts_by_tools: bool,
    /// Whether it is open who chooses the next agent unless something routes (ADL B.5).
    pub implicit_routing: bool,
    /// Whether agents with knowledge are queried even if nothing leads to them (ADL B.2, as MICA does).
    pub queries_all_knowledge: bool,
    /// Whether a session expires when the user is idle (ABL 7.11).
    pub sessions_expire: bool,
    /// Whether texts among the arguments of a call have placeholders (ABL 3.14, `call_with`).
    pub arguments_have_placeholders: bool,
    /// The policy that says what happens if none of an agent's agents fits a message (ADL 3.3, B.1).
    pub fallback: Option<FallbackPolicy>,
    /// The setting by which every message begins at the first agent again, as a path in the extensions of
    /// that agent (Agentforce, `runtime`); empty if there is none. Otherwise the agent that answered last
    /// gets the next message.
    pub restart_setting: &'static [&'static str],
}

/// A policy in words, which is either a message to the user or an instruction to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FallbackPolicy {
    /// The name of the policy.
    pub policy: &'static str,
    /// The name of a rule of it that is a message, whatever its words.
    pub message: &'static str,
    /// Words that only instructions have, in lower case.
    pub phrases: &'static [&'static str],
    /// First words of instructions, in lower case.
    pub verbs: &'static [&'static str],
}

impl FallbackPolicy {
    /// Whether a text tells the model what to do, rather than the user.
    #[must_use]
    pub fn instructs(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let first = lower.split_whitespace().next().unwrap_or_default();
        self.phrases.iter().any(|phrase| lower.contains(phrase)) || self.verbs.contains(&first)
    }
}

/// Where conversations begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// At the agent that a manifest names, or that no other leads to (ABL 5.1).
    Found,
    /// At the agent that is declared as the first one (Agent Script, part II, 4).
    Declared,
    /// At the agent with this name (ADL B.6).
    Named(&'static str),
}

/// What tools are, and who is offered them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// An agent or a library declares them. Those that an agent declares are offered to the model (ABL 3.5).
    Declared,
    /// Each agent declares its own. The model is offered those that its reasoning lists (Agent Script, part
    /// II, 7 and 9).
    Local,
    /// They are functions in code. The model is offered those that its agent lists (ADL B.3, C.1).
    Functions,
}
