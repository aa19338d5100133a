//! The names of a file, and the resolution of values to arguments.

use crate::{Assignment, Document, Step, StepKind, Value};
use agentir_diagnostics::{Spanned, closest};
use agentir_expr::{Expr, Literal, Path, Template};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// The agents of a file, their arguments, and the functions they call.
pub(super) struct Names {
    agents: FxHashSet<SmolStr>,
    args: FxHashMap<SmolStr, FxHashSet<SmolStr>>,
    functions: FxHashSet<SmolStr>,
    descriptions: FxHashMap<SmolStr, Template>,
}

impl Names {
    pub(super) fn new(document: &Document<'_>) -> Self {
        let mut names = Self {
            agents: FxHashSet::default(),
            args: FxHashMap::default(),
            functions: FxHashSet::default(),
            descriptions: FxHashMap::default(),
        };
        for agent in &document.agents {
            names.agents.insert(agent.name.value.clone());
            let args = names.args.entry(agent.name.value.clone()).or_default();
            for field in &agent.fields {
                match (&field.value, field.def.name) {
                    (Value::Names(all), "args") => {
                        args.extend(all.iter().map(|a| a.value.clone()));
                    }
                    (Value::Names(all), "uses") => {
                        names.functions.extend(all.iter().map(|a| a.value.clone()));
                    }
                    (Value::Text(text), "description") => {
                        names.descriptions.insert(agent.name.value.clone(), text.clone());
                    }
                    (Value::Steps(steps), _) => calls(steps, &mut names.functions),
                    _ => {}
                }
            }
            agent.subflows.iter().for_each(|s| calls(&s.steps, &mut names.functions));
        }
        names
    }

    /// Whether there is an agent called `name`; agents shadow functions.
    pub(super) fn is_agent(&self, name: &str) -> bool {
        self.agents.contains(name)
    }

    /// The description of an agent.
    pub(super) fn description(&self, name: &str) -> Option<&Template> {
        self.descriptions.get(name)
    }

    fn is_arg(&self, agent: &str, name: &str) -> bool {
        self.args.get(agent).is_some_and(|args| args.contains(name))
    }

    /// Whether a path resolves in an agent: to an argument of its own, or to something of another agent or
    /// of a function.
    fn resolves(&self, agent: &str, path: &Path) -> bool {
        let root = path.root.value.as_str();
        if path.segments.is_empty() {
            return self.is_arg(agent, root);
        }
        self.is_agent(root) || self.functions.contains(root) || self.is_arg(agent, root)
    }

    /// Whether a path is probably a misspelt name.
    fn is_misspelt(&self, agent: &str, path: &Path) -> bool {
        let root = path.root.value.as_str();
        if path.segments.is_empty() {
            // Plain words are text, even if they resemble a name.
            if !root.contains('_') {
                return false;
            }
            let args = self.args.get(agent).into_iter().flatten().map(SmolStr::as_str);
            return closest(root, args).is_some();
        }
        closest(root, self.agents.iter().chain(&self.functions).map(SmolStr::as_str)).is_some()
    }

    /// Resolves a value in an agent: the argument that it names, else a constant (B.4.3). The second
    /// result tells whether it is a constant.
    pub(super) fn value(&self, agent: &str, value: &Assignment) -> (Expr, bool) {
        if let (Some(path), Literal::String(_)) = (&value.path, &value.literal) {
            let meant = self.resolves(agent, &path.value)
                || (!value.quoted && self.is_misspelt(agent, &path.value));
            if meant {
                return (Expr::path(path.value.clone(), path.span), false);
            }
        }
        (Expr::literal(value.literal.clone(), value.value_span), true)
    }

    /// The argument of `agent` with a name similar to `name`, for messages.
    pub(super) fn similar_arg(&self, agent: &str, name: &Spanned<Path>) -> Option<SmolStr> {
        let args = self.args.get(agent)?.iter().map(SmolStr::as_str);
        closest(&name.value.root.value, args).map(SmolStr::new)
    }
}

fn calls(steps: &[Step<'_>], found: &mut FxHashSet<SmolStr>) {
    for step in steps {
        match &step.kind {
            StepKind::Call { target, .. } => {
                found.insert(target.value.clone());
            }
            StepKind::If(branches) => branches.iter().for_each(|b| calls(&b.steps, found)),
            _ => {}
        }
    }
}
