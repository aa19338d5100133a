//! An index of the parts of an agent by kind, built in one traversal.

use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Expr, ExprKind, Name, Path, Template, TemplatePart, Visit};
use agentir_ir::{
    Actions, Agent, AgentUse, Call, ConditionUse, GatherField, Jump, Node, Profile, ReadUse,
    SetVariable, Tool, ToolBinding, ToolUse, Transform, WriteUse,
};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// The parts of an agent by kind, in source order.
#[derive(Debug, Default)]
pub struct AgentIndex<'a> {
    /// Conditions, with what they decide.
    pub conditions: Vec<(&'a Condition, ConditionUse)>,
    /// Expressions whose values are used, except conditions and template placeholders.
    pub exprs: Vec<&'a Expr>,
    /// Templates.
    pub templates: Vec<&'a Template>,
    /// Assignments.
    pub sets: Vec<&'a SetVariable>,
    /// Variables that something other than an assignment writes.
    pub writes: Vec<(&'a Spanned<Name>, WriteUse)>,
    /// Lists of variables that are removed.
    pub clears: Vec<&'a [Spanned<Name>]>,
    /// References to variables.
    pub reads: Vec<(&'a Spanned<Name>, ReadUse)>,
    /// All gather fields, those of steps included.
    pub fields: Vec<&'a GatherField>,
    /// Tool calls.
    pub calls: Vec<&'a Call>,
    /// Lists that are made of others.
    pub transforms: Vec<&'a Transform>,
    /// Tool bindings: tools as they are exposed to the model.
    pub offers: Vec<&'a ToolBinding>,
    /// References to tools, other than calls.
    pub tool_refs: Vec<(&'a Spanned<Name>, ToolUse)>,
    /// References to agents.
    pub agent_refs: Vec<(&'a Spanned<Name>, AgentUse)>,
    /// References to named templates.
    pub template_refs: Vec<&'a Spanned<Name>>,
    /// Jumps.
    pub jumps: Vec<&'a Jump>,
    /// References to steps, other than jumps.
    pub step_refs: Vec<&'a Spanned<Name>>,
    /// Interactive elements.
    pub actions: Vec<&'a Actions>,
    /// The declared tools by name, those of profiles included.
    pub tools: FxHashMap<&'a str, &'a Tool>,
    paths: OnceCell<Vec<(&'a Path, &'a Expr)>>,
}

impl<'a> AgentIndex<'a> {
    /// Indexes an agent, given the standalone profiles of its program.
    #[must_use]
    pub fn new(agent: &'a Agent, profiles: &FxHashMap<&'a str, &'a Profile>) -> Self {
        let mut index = Self::default();
        agent.walk(&mut |node| index.add(node));
        for name in &agent.use_behavior_profiles {
            if let Some(profile) = profiles.get(name.value.as_str()) {
                profile.walk(&mut |node| index.add(node));
                index.tools.extend(profile.tools_add.iter().map(|t| (t.name.value.as_str(), t)));
            }
        }
        for profile in &agent.behavior_profiles {
            index.tools.extend(profile.tools_add.iter().map(|t| (t.name.value.as_str(), t)));
        }
        index.tools.extend(agent.tools.iter().map(|t| (t.name.value.as_str(), t)));
        index
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
            Node::Transform(transform) => self.transforms.push(transform),
            Node::ToolBinding(binding) => self.offers.push(binding),
            Node::Tool(name, used) => self.tool_refs.push((name, used)),
            Node::AgentRef(name, used) => self.agent_refs.push((name, used)),
            Node::TemplateRef(name) => self.template_refs.push(name),
            Node::Binding(..) => {}
            Node::Jump(jump) => self.jumps.push(jump),
            Node::StepRef(name) => self.step_refs.push(name),
            Node::Actions(actions) => self.actions.push(actions),
        }
    }

    /// Calls `found` with every path that is read, and the expression that contains it.
    pub fn paths(&self, found: &mut dyn FnMut(&'a Path, &'a Expr)) {
        let all = self.paths.get_or_init(|| {
            let mut all = Vec::new();
            self.all_exprs(&mut |expr| {
                expr.visit(&mut |e| {
                    if let ExprKind::Path(path) = &e.kind {
                        all.push((path, expr));
                    }
                    Visit::Children
                });
            });
            all
        });
        all.iter().for_each(|(path, expr)| found(path, expr));
    }

    /// Calls `found` with every expression: conditions, values, arguments, template placeholders.
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
