//! What agents of other languages take from each other without a word, and ABL's say: when they hand
//! over, which variables of others they read, and which tools they call.

use super::expr::Names;
use agentir_diagnostics::Spanned;
use agentir_expr::{
    Condition, Dialect, Expr, ExprKind, Literal, Name, Path, Segment, Template, TypeExpr,
};
use agentir_ir::{
    Agent, Decider, Extensions, Node, Parameter, PassedValue, Program, ReturnType, SessionVariable,
    Tool, ToolLibrary,
};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

/// What the agents of a program are for, by their names.
pub(super) type Goals = FxHashMap<Name, Template>;

/// What the agents of a program are for.
pub(super) fn goals(program: &Program) -> Goals {
    let goal = |agent: &Agent| {
        let name = &agent.metadata.name;
        Some((name.value.clone(), agent.identity.goal.clone()?))
    };
    program.agents.iter().filter_map(goal).collect()
}

/// A way to another agent that the model chooses without being told when: when the user wants what
/// the agent is for.
pub(super) fn occasions(names: Names<'_>, goals: &Goals, agent: &mut Agent) {
    for handoff in &mut agent.coordination.handoffs {
        if handoff.when.is_some() || handoff.decided_by != Decider::Model {
            continue;
        }
        let mut goal = goals.get(&handoff.to.value).cloned().unwrap_or_else(|| {
            let words = format_smolstr!("The user needs {}", handoff.to.value.replace('_', " "));
            Template::plain(Spanned::new(words, handoff.to.span))
        });
        names.text(&mut goal);
        handoff.when = Some(Condition::words(&goal));
    }
}

/// Whether an agent has a variable of its own.
fn has(agent: &Agent, name: &str) -> bool {
    agent.memory.session.iter().any(|v| v.name.value == name)
        || agent.gather.fields.iter().any(|f| f.name.value == name)
}

/// The variables of other agents that an agent reads under their names (`triage.date`).
pub(super) type Foreign = FxHashMap<Name, IndexSet<Name>>;

/// `triage.date` is a variable `date` that `triage` hands over, if the reader has none of that name. It
/// is declared, and `triage` passes it on where it leads to the reader.
pub(super) fn foreign_variables(program: &mut Program) -> FxHashMap<Name, Foreign> {
    let mut all: FxHashMap<Name, Foreign> = FxHashMap::default();
    for agent in program.agents.iter().filter(|a| a.metadata.dialect == Dialect::Adl.name()) {
        let mut found = Foreign::default();
        let mut read = |e: &Expr| {
            e.paths(&mut |path| {
                let Some(owner) = owner(program, agent, path) else { return };
                let Some(Segment::Field(name)) = path.segments.first() else { return };
                if has(owner, &name.value) && !has(agent, &name.value) {
                    let of = found.entry(path.root.value.clone()).or_default();
                    of.insert(name.value.clone());
                }
            });
        };
        agent.walk(&mut |node| node.exprs(&mut read));
        // The same name of two agents is no name for both.
        let mut times: FxHashMap<Name, usize> = FxHashMap::default();
        found.values().flatten().for_each(|name| *times.entry(name.clone()).or_default() += 1);
        found.values_mut().for_each(|of| of.retain(|name| times.get(name) == Some(&1)));
        found.retain(|_, of| !of.is_empty());
        if !found.is_empty() {
            all.insert(agent.metadata.name.value.clone(), found);
        }
    }
    for agent in &mut program.agents {
        let own = agent.metadata.name.clone();
        for (_, name) in all
            .get(&own.value)
            .into_iter()
            .flat_map(|f| f.iter().flat_map(|(from, of)| of.iter().map(move |name| (from, name))))
        {
            let name = Spanned::new(name.clone(), own.span);
            agent.memory.session.push(SessionVariable::new(name));
        }
        for handoff in &mut agent.coordination.handoffs {
            let passed = all.get(&handoff.to.value).and_then(|f| f.get(&own.value));
            for name in passed.into_iter().flatten() {
                let name = Spanned::new(name.clone(), handoff.to.span);
                let ty = SmolStr::new_static("string");
                handoff.context.pass.push(PassedValue { name, ty });
            }
        }
    }
    all
}

/// The agent whose variable a path is.
fn owner<'p>(program: &'p Program, agent: &Agent, path: &Path) -> Option<&'p Agent> {
    let root = &path.root.value;
    if path.namespace.is_some() || *root == agent.metadata.name.value || has(agent, root) {
        return None;
    }
    program.agent(root)
}

/// A bot of ADL whose Python functions are not at hand calls them all the same. ABL declares what is
/// called: with the arguments that the calls have.
pub(super) fn undeclared_tools(program: &mut Program) {
    if !program.libraries.is_empty() {
        return;
    }
    let mut library: IndexMap<Name, Tool> = IndexMap::new();
    for agent in &mut program.agents {
        if agent.metadata.dialect != Dialect::Adl.name() || !agent.tools.is_empty() {
            continue;
        }
        let mut tools: IndexMap<Name, Tool> = IndexMap::new();
        let mut read: IndexSet<Name> = IndexSet::new();
        let mut paths = |e: &Expr| e.paths(&mut |p| read.extend([p.root.value.clone()]));
        agent.walk(&mut |node| {
            node.exprs(&mut paths);
            if let Node::Call(call) = node {
                let name = call.tool.value.clone();
                let tool = tools.entry(name).or_insert_with(|| Tool::new(call.tool.clone()));
                for argument in &call.with {
                    let Some(name) = &argument.name else { continue };
                    if tool.parameters.iter().all(|p| p.name.value != name.value) {
                        let ty = TypeExpr::named(type_of(&argument.value), name.span);
                        tool.parameters.push(Parameter::new(name.clone(), Some(ty)));
                    }
                }
            }
        });
        for tool in tools.values_mut().filter(|tool| read.contains(&tool.name.value)) {
            tool.returns = Some(ReturnType::new(TypeExpr::named("object", tool.span)));
        }
        // Of what is only offered nobody knows the arguments.
        for name in &agent.use_tools {
            library.entry(name.value.clone()).or_insert_with(|| Tool::new(name.clone()));
        }
        // What an agent declares its model may call, too; a flow has nobody who would.
        if agent.flow.is_some() {
            agent.tools = tools.into_values().collect();
        } else {
            tools.into_iter().for_each(|(name, tool)| {
                library.entry(name).or_insert(tool);
            });
        }
    }
    if let Some(span) = library.values().next().map(|tool| tool.span) {
        let tools = library.into_values().collect();
        let (imports, extensions) = (Vec::new(), Extensions::default());
        program.libraries.push(ToolLibrary { tools, imports, extensions, span });
    }
}

/// The type of a constant; variables of ADL have none, and hold what the user said.
const fn type_of(value: &Expr) -> &'static str {
    match &value.kind {
        ExprKind::Literal(Literal::Number(_)) => "number",
        ExprKind::Literal(Literal::Bool(_)) => "boolean",
        _ => "string",
    }
}
