//! What an agent says, collected in one walk and sorted by what it does, so that a rule looks at
//! what it is about and nothing is walked twice.

use crate::rule::ProgramContext;
use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Expr, ExprKind, Name, Path, Template, TemplatePart, TypeExpr, TypeKind, Visit};
use agentir_ir::{
    Actions, Agent, AgentUse, Call, ConditionUse, GatherField, Jump, Node, ReadUse, SetVariable,
    Tool, ToolUse, WriteUse,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The parts of an agent by what they do, in the order of the source.
#[derive(Debug, Default)]
pub struct Facts<'a> {
    /// Conditions, with what they decide.
    pub conditions: Vec<(&'a Condition, ConditionUse)>,
    /// Expressions whose values are used; conditions and holes of templates are not among them.
    pub exprs: Vec<&'a Expr>,
    /// Texts with holes.
    pub templates: Vec<&'a Template>,
    /// Assignments.
    pub sets: Vec<&'a SetVariable>,
    /// Variables that something else writes.
    pub writes: Vec<(&'a Spanned<Name>, WriteUse)>,
    /// Lists of variables that are removed.
    pub clears: Vec<&'a [Spanned<Name>]>,
    /// Variables that are named.
    pub reads: Vec<(&'a Spanned<Name>, ReadUse)>,
    /// All gather fields, those of steps included.
    pub fields: Vec<&'a GatherField>,
    /// Tool calls.
    pub calls: Vec<&'a Call>,
    /// Tools that are named without being called.
    pub tool_refs: Vec<(&'a Spanned<Name>, ToolUse)>,
    /// Agents that are named.
    pub agent_refs: Vec<(&'a Spanned<Name>, AgentUse)>,
    /// Named templates that are used.
    pub template_refs: Vec<&'a Spanned<Name>>,
    /// Jumps.
    pub jumps: Vec<&'a Jump>,
    /// Steps that are named other than by a jump.
    pub step_refs: Vec<&'a Spanned<Name>>,
    /// Interactive elements.
    pub actions: Vec<&'a Actions>,
    /// The tools it declares, its profiles' included, by name.
    pub tools: FxHashMap<&'a str, &'a Tool>,
    /// The variables it knows.
    pub variables: Variables<'a>,
}

/// The variables that an agent knows, and from where.
#[derive(Debug, Default)]
pub struct Variables<'a> {
    /// Names that are declared or written somewhere: session memory, gathered fields, assignments,
    /// results of calls, returns of other agents, state.
    pub defined: FxHashSet<&'a str>,
    /// First words of the paths of the longer-lived memory: `user`, `workflow`.
    pub roots: FxHashSet<&'a str>,
    /// Fields of what its tools return: after a call they may be used without the tool's name.
    pub returned: FxHashSet<&'a str>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(agent: &'a Agent, program: &ProgramContext<'a>) -> Self {
        let mut facts = Self::default();
        agent.walk(&mut |node| facts.add(node));
        for name in &agent.use_behavior_profiles {
            if let Some(profile) = program.profiles.get(name.value.as_str()) {
                profile.walk(&mut |node| facts.add(node));
                facts.tools.extend(profile.tools_add.iter().map(|t| (t.name.value.as_str(), t)));
            }
        }
        for profile in &agent.behavior_profiles {
            facts.tools.extend(profile.tools_add.iter().map(|t| (t.name.value.as_str(), t)));
        }
        facts.tools.extend(agent.tools.iter().map(|t| (t.name.value.as_str(), t)));
        facts.collect_variables(agent, program);
        facts
    }

    fn add(&mut self, node: Node<'a>) {
        match node {
            Node::Condition(condition, used) => self.conditions.push((condition, used)),
            Node::Expr(expr) => self.exprs.push(expr),
            Node::Template(template) => self.templates.push(template),
            Node::Set(set) => self.sets.push(set),
            Node::Writes(name, used) => self.writes.push((name, used)),
            Node::Clear(names) => self.clears.push(names),
            Node::Reads(name, used) => self.reads.push((name, used)),
            Node::Field(field) => self.fields.push(field),
            Node::Call(call) => self.calls.push(call),
            Node::Tool(name, used) => self.tool_refs.push((name, used)),
            Node::AgentRef(name, used) => self.agent_refs.push((name, used)),
            Node::TemplateRef(name) => self.template_refs.push(name),
            Node::Jump(jump) => self.jumps.push(jump),
            Node::StepRef(name) => self.step_refs.push(name),
            Node::Actions(actions) => self.actions.push(actions),
        }
    }

    fn collect_variables(&mut self, agent: &'a Agent, program: &ProgramContext<'a>) {
        let variables = &mut self.variables;
        let first = |path: &'a str| path.split('.').next().unwrap_or(path);
        variables.defined.extend(agent.memory.session.iter().map(|v| first(&v.name.value)));
        variables.defined.extend(agent.memory.state.iter().map(|v| first(&v.name.value)));
        variables.roots.extend(agent.memory.persistent.iter().map(|p| first(&p.path.value)));
        variables.defined.extend(self.fields.iter().map(|f| f.name.value.as_str()));
        variables.defined.extend(self.sets.iter().map(|s| s.target.root.value.as_str()));
        variables.defined.extend(self.writes.iter().map(|(name, _)| first(&name.value)));
        variables.defined.extend(agent.attachments.iter().map(|a| a.name.value.as_str()));
        for delegate in &agent.coordination.delegates {
            if let Some(TypeKind::Object(fields)) = delegate.returns.as_ref().map(|t| &t.kind) {
                for field in fields {
                    variables.defined.insert(&field.name.value);
                    // `child_field: parent_variable`.
                    variables.defined.extend(field.ty.name());
                }
            }
        }
        for tool in self.tools.values().chain(program.library.values()) {
            variables.defined.extend(tool.on_result.iter().map(|s| s.target.root.value.as_str()));
            for field in tool.returns.iter().flat_map(|r| &r.fields) {
                variables.returned.insert(&field.name.value);
            }
            if let Some(access) = &tool.context_access {
                variables.defined.extend(access.write.iter().map(|w| first(&w.value)));
            }
        }
    }

    /// Calls `found` with every path that is read, with the whole expression it stands in.
    pub fn paths(&self, found: &mut dyn FnMut(&'a Path, &'a Expr)) {
        self.all_exprs(&mut |expr| {
            expr.visit(&mut |e| {
                if let ExprKind::Path(path) = &e.kind {
                    found(path, expr);
                }
                Visit::Children
            });
        });
    }

    /// Calls `found` with every expression: conditions, values, arguments, holes of templates.
    pub fn all_exprs(&self, found: &mut dyn FnMut(&'a Expr)) {
        for expr in self.conditions.iter().filter_map(|(c, _)| c.expr()) {
            found(expr);
        }
        self.exprs.iter().for_each(|e| found(e));
        self.sets.iter().for_each(|s| found(&s.value));
        for part in self.templates.iter().flat_map(|t| &t.parts) {
            match part {
                TemplatePart::Value { expr, .. }
                | TemplatePart::SingleBrace { expr, .. }
                | TemplatePart::Open { expr: Some(expr), .. } => found(expr),
                _ => {}
            }
        }
    }
}

/// The fields of a type, if it is an object of known form.
pub(crate) fn fields_of(ty: &TypeExpr) -> Option<&[agentir_expr::TypeField]> {
    match &ty.kind {
        TypeKind::Object(fields) => Some(fields),
        _ => None,
    }
}
