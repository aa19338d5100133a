//! The names that a runtime owns.

use crate::functions::ParameterType::{self, String};
use crate::version::Version;

/// The names to which the runtime of a dialect gives a meaning: those that it defines itself, and those that are
/// defined outside of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeNames {
    /// The variables that it assigns.
    pub variables: &'static [SystemVariable],
    /// The first words of paths that it resolves itself: `config.API_URL`.
    pub namespaces: &'static [Namespace],
    /// The roots of persistent memory, which belong to no agent.
    pub memory_roots: &'static [&'static str],
    /// The objects whose members it sets.
    pub objects: &'static [&'static str],
    /// The variables that the examples of its specification use without declaring them.
    pub assumed: &'static [&'static str],
    /// The variables that its platform wants agents to declare, whether they use them or not.
    pub expected: &'static [&'static str],
    /// The names by which conditions read the text that the user has just said.
    pub said: &'static [&'static str],
    /// The names by which the check of a guardrail reads what it checks.
    pub checked: &'static [&'static str],
    /// Those by which the check of a guardrail of handoffs reads what is handed over, in addition.
    pub handed_over: &'static [&'static str],
    /// How all its names begin that are not listed one by one.
    pub prefixes: &'static [&'static str],
    /// The tools that it gives agents, with what they do.
    pub tools: &'static [(&'static str, &'static str)],
    /// The one of them by which the model hands the conversation over, where rules can be about its call.
    pub handoff_tool: Option<&'static str>,
    /// The namespaces of references, where references say what they refer to: `@variables.x`.
    pub references: &'static [ReferenceSpace],
    /// The types of its platform that declarations name beside `object` although their values are texts, with the types
    /// of AgentIR that they are.
    pub text_types: &'static [(&'static str, &'static str)],
}

/// A variable that the runtime assigns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemVariable {
    /// Its path: `user.intent`. A `*` at the end stands for any rest, `last_*_result` for any tool.
    pub name: &'static str,
    /// What it holds.
    pub ty: ParameterType,
    /// The values it takes, where they are known.
    pub values: &'static [&'static str],
    /// Who assigns it, and when: completes "the runtime assigns it …".
    pub assigned: &'static str,
    /// A name authors could use for a variable of their own.
    pub instead: &'static str,
    /// The first version that has it.
    pub since: Version,
    /// Whether an author's variable of that name takes precedence.
    pub authored_wins: bool,
    /// Whether an agent may return it to another, which then knows it.
    pub returned: bool,
}

impl SystemVariable {
    /// A variable of every version, which agents cannot hide.
    #[must_use]
    pub const fn new(
        name: &'static str,
        ty: ParameterType,
        values: &'static [&'static str],
        assigned: &'static str,
        instead: &'static str,
    ) -> Self {
        let since = Version::Legacy;
        Self { name, ty, values, assigned, instead, since, authored_wins: false, returned: false }
    }

    /// The same variable, which an agent may return to another: one that finds out who the user is.
    #[must_use]
    pub const fn returned(self) -> Self {
        Self { returned: true, ..self }
    }

    /// A text of the newest version, which agents can hide by a variable of their own.
    #[must_use]
    pub const fn newest(name: &'static str, assigned: &'static str, instead: &'static str) -> Self {
        let plain = Self::new(name, String, &[], assigned, instead);
        Self { since: Version::Newest, authored_wins: true, ..plain }
    }
}

/// A first word of paths that the runtime resolves itself: `config.API_URL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// The word.
    pub name: &'static str,
    /// What is below it.
    pub holds: &'static str,
    /// Whether agents may write below it.
    pub writable: bool,
    /// The first version that has it.
    pub since: Version,
}

/// A namespace of references: `variables` in `@variables.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceSpace {
    /// The word.
    pub name: &'static str,
    /// What its members are.
    pub holds: Referent,
    /// The members, if they are fixed.
    pub members: Option<&'static [&'static str]>,
}

/// What the members of a namespace of references are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referent {
    /// Agents of the program.
    Agents,
    /// Other things of the program that agents read or use.
    Program,
    /// What the platform provides.
    Platform,
    /// What exists only inside a connection to a channel, where agents cannot read it.
    Connection,
}

impl RuntimeNames {
    /// No names.
    pub const NONE: Self = Self {
        variables: &[],
        namespaces: &[],
        memory_roots: &[],
        objects: &[],
        assumed: &[],
        expected: &[],
        said: &[],
        checked: &[],
        handed_over: &[],
        prefixes: &[],
        tools: &[],
        handoff_tool: None,
        references: &[],
        text_types: &[],
    };

    /// Whether it gives agents a tool of this name.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|(own, _)| *own == name)
            || (!self.tools.is_empty() && name.starts_with("__") && name.ends_with("__"))
    }

    /// The variable that `path` is, or is a part of: `match.1`, `user.intent`, `last_search_result.total`.
    #[must_use]
    pub fn variable(&self, path: &str) -> Option<&'static SystemVariable> {
        // Every pattern begins with a letter or `_`, so nearly all rows are out at the first byte.
        let first = path.as_bytes().first();
        self.variables.iter().filter(|v| v.name.as_bytes().first() == first).find(|v| {
            let names = v.name.split('.').count();
            let end = path.match_indices('.').nth(names - 1).map_or(path.len(), |(at, _)| at);
            path.get(..end).is_some_and(|head| fits(v.name, head))
        })
    }

    /// The namespace called `name`.
    #[must_use]
    pub fn namespace(&self, name: &str) -> Option<&'static Namespace> {
        self.namespaces.iter().find(|n| n.name == name)
    }

    /// What the tool called `name` does.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&'static str> {
        self.tools.iter().find(|(n, _)| *n == name).map(|(_, does)| *does)
    }

    /// The tool whose last result the variable `name` is: `search` in `last_search_result`.
    #[must_use]
    pub fn tool_of_result<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (start, end) = self.variable(name)?.name.split_once('*')?;
        // Of the other patterns the rest names no tool.
        if end.is_empty() { None } else { name.strip_prefix(start)?.strip_suffix(end) }
    }

    /// The namespace of references called `name`.
    #[must_use]
    pub fn reference(&self, name: &str) -> Option<&'static ReferenceSpace> {
        self.references.iter().find(|space| space.name == name)
    }

    /// Whether references to agents begin with `name`.
    #[must_use]
    pub fn refers_to_agents(&self, name: &str) -> bool {
        self.reference(name).is_some_and(|space| space.holds == Referent::Agents)
    }

    /// The names without a path, as far as they are listed one by one.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let whole = |name: &&str| !name.contains(['*', '.']);
        let variables = self.variables.iter().map(|v| v.name).filter(whole);
        let words = [self.assumed, self.objects, self.memory_roots];
        let namespaces = self.namespaces.iter().map(|n| n.name);
        words.into_iter().flatten().copied().chain(variables).chain(namespaces)
    }

    /// Whether it is one of these [`names`](Self::names).
    #[must_use]
    pub fn lists(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Whether a name without a path has a meaning of its own, listed or not.
    #[must_use]
    pub fn defines(&self, name: &str) -> bool {
        self.lists(name) || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Whether something other than the agents may assign what a path begins with: `root` of `path`.
    #[must_use]
    pub fn assigns(&self, root: &str, path: &str) -> bool {
        self.namespace(root).is_some()
            || self.memory_roots.contains(&root)
            || self.variable(path).is_some()
    }
}

/// Whether `name` is one that `pattern` stands for.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => {
            name.len() > start.len() + end.len() - usize::from(end.is_empty())
                && name.starts_with(start)
                && name.ends_with(end)
        }
    }
}
