//! Expressions and references of an agent, and the types of results.

use crate::symbols::AgentSymbols;
use agentir_diagnostics::Spanned;
use agentir_expr::{
    Expr, ExprKind, Literal, Name, Path, Scope, Segment, Template, TemplatePart, TypeExpr,
    TypeField, TypeKind, Visit,
};
use agentir_ir::{Agent, Data, Node, Tool, WriteUse};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// The context of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ExprContext {
    /// An ordinary expression.
    Plain,
    /// The check of a guardrail, in which the checked content is visible.
    Guardrail,
    /// Inside `{{#each}}`, where bare names are fields of the item.
    Each,
}

impl ExprContext {
    /// Returns the functions that may be called in this context.
    pub const fn scope(self) -> Scope {
        match self {
            Self::Guardrail => Scope::Guardrail,
            Self::Plain | Self::Each => Scope::Everywhere,
        }
    }
}

/// Calls `found` with every expression that the agent owns, each once.
pub fn expressions<'a>(cx: &AgentSymbols<'_, 'a>, found: &mut dyn FnMut(&'a Expr, ExprContext)) {
    let checks = cx.agent.constraints.guardrails.iter().filter_map(|g| g.check.as_ref());
    // `kind: both` is lowered to two guardrails.
    let mut guardrails: FxHashMap<_, _> = checks.map(|check| (check.span, false)).collect();
    let index = &cx.index;
    let mut own = |expr: &'a Expr, context: ExprContext| {
        if cx.owns(expr.span) {
            found(expr, context);
        }
    };
    index.conditions.iter().filter_map(|(c, _)| c.expr()).for_each(|e| own(e, ExprContext::Plain));
    for expr in &index.exprs {
        match guardrails.get_mut(&expr.span) {
            None => own(expr, ExprContext::Plain),
            Some(seen) if !*seen => {
                *seen = true;
                own(expr, ExprContext::Guardrail);
            }
            Some(_) => {}
        }
    }
    index.sets.iter().for_each(|s| own(&s.value, ExprContext::Plain));
    index.templates.iter().for_each(|t| holes(t, &mut own));
}

/// Calls `found` with the expressions in double braces. Single braces may be literal.
fn holes<'a>(template: &'a Template, found: &mut dyn FnMut(&'a Expr, ExprContext)) {
    let mut depth = 0_usize;
    for part in &template.parts {
        let context = if depth == 0 { ExprContext::Plain } else { ExprContext::Each };
        match part {
            TemplatePart::Value { expr, .. } => found(expr, context),
            TemplatePart::Open { block, expr, .. } => {
                if let Some(expr) = expr {
                    found(expr, context);
                }
                depth += usize::from(block.value == "each");
            }
            TemplatePart::Close { block, .. } if block.value == "each" => {
                depth = depth.saturating_sub(1)
            }
            _ => {}
        }
    }
}

/// Calls `found` with every expression in a part of an agent.
pub fn expressions_of<'a>(node: Node<'a>, found: &mut dyn FnMut(&'a Expr, ExprContext)) {
    match node {
        Node::Condition(condition, _) => {
            condition.expr().into_iter().for_each(|e| found(e, ExprContext::Plain))
        }
        Node::Expr(expr) => found(expr, ExprContext::Plain),
        Node::Set(set) => found(&set.value, ExprContext::Plain),
        Node::Template(template) => holes(template, found),
        _ => {}
    }
}

/// Calls `found` with every path in an expression.
pub fn paths<'a>(expr: &'a Expr, found: &mut dyn FnMut(&'a Path)) {
    expr.visit(&mut |e| {
        if let ExprKind::Path(path) = &e.kind {
            found(path);
        }
        Visit::Children
    });
}

/// The longest chain of copies that is followed.
const MAX_COPIES: usize = 8;

/// The tools whose results are available under a name: the tool's own name or that of `AS`.
pub struct Results<'c, 'a> {
    cx: &'c AgentSymbols<'c, 'a>,
    /// Names other than those of tools; `None` if the name may hold anything else.
    named: FxHashMap<&'a str, Option<&'a Tool>>,
    /// The names of the items of lists in results; `None` if a name may hold anything else.
    items: FxHashMap<&'a str, Option<(&'a Tool, &'a TypeExpr)>>,
}

impl<'c, 'a> Results<'c, 'a> {
    /// Collects the names of an agent that hold results.
    #[must_use]
    pub fn new(cx: &'c AgentSymbols<'c, 'a>) -> Self {
        let index = &cx.index;
        let mut named: FxHashMap<&'a str, Option<&'a Tool>> = FxHashMap::default();
        for call in &index.calls {
            let (Some(result), tool) = (&call.result, cx.tool(&call.tool.value)) else { continue };
            let entry = named.entry(&result.value).or_insert(tool);
            // Several tools write their results to this name.
            if entry.map(|t| &t.name.value) != tool.map(|t| &t.name.value) {
                *entry = None;
            }
        }
        // Names with other definitions may hold anything.
        let written = index.sets.iter().map(|s| s.target.root.value.as_str());
        let asked = index.fields.iter().map(|f| f.name.value.as_str());
        let others = index.writes.iter().filter(|(_, used)| *used != WriteUse::ToolResult);
        for name in written.chain(asked).chain(others.map(|(name, _)| name.value.as_str())) {
            named.insert(name, None);
        }
        let mut results = Self { cx, named, items: FxHashMap::default() };
        results.copies();
        results.items = results.items_of_lists();
        results
    }

    /// Adds the variables to which nothing but the result of one tool is copied.
    fn copies(&mut self) {
        let index = &self.cx.index;
        let mut copied: FxHashMap<&'a str, Vec<Option<&'a str>>> = FxHashMap::default();
        for set in &index.sets {
            let value = set.value.as_path().filter(|path| {
                path.segments.is_empty()
                    && path.namespace.is_none()
                    && set.target.segments.is_empty()
            });
            let value = value.map(|path| path.root.value.as_str());
            copied.entry(&set.target.root.value).or_default().push(value);
        }
        let passed = self.cx.program.passed.get(self.cx.agent.metadata.name.value.as_str());
        let agent = self.cx.agent;
        // There may be as many copies as fields, writes and variables.
        let asked = index.fields.iter().map(|f| f.name.value.as_str());
        let others = index.writes.iter().filter(|(_, used)| *used != WriteUse::ToolResult);
        let initial = agent
            .memory
            .session
            .iter()
            .filter(|v| v.initial_value.as_ref().is_some_and(|v| !v.is_null()));
        let elsewhere: FxHashSet<&str> = asked
            .chain(others.map(|(name, _)| name.value.as_str()))
            .chain(initial.map(|v| v.name.value.as_str()))
            .collect();
        copied.retain(|name, _| {
            !elsewhere.contains(name) && !passed.is_some_and(|names| names.contains(*name))
        });
        // Copies of copies are found in the next round.
        for _ in 0..MAX_COPIES {
            let found: Vec<(&'a str, &'a Tool)> = copied
                .iter()
                .filter(|(name, _)| !matches!(self.named.get(*name), Some(Some(_))))
                .filter_map(|(name, values)| {
                    let mut tools = values.iter().map(|value| Some(self.get((*value)?)?.0));
                    let first = tools.next()??;
                    let same =
                        tools.all(|tool| tool.is_some_and(|t| t.name.value == first.name.value));
                    same.then_some((*name, first))
                })
                .collect();
            if found.is_empty() {
                return;
            }
            self.named.extend(found.into_iter().map(|(name, tool)| (name, Some(tool))));
        }
    }

    /// What the items of `TRANSFORM`s are (ABL §3.14.11).
    fn items_of_lists(&self) -> FxHashMap<&'a str, Option<(&'a Tool, &'a TypeExpr)>> {
        let index = &self.cx.index;
        let mut items: FxHashMap<&'a str, Option<(&'a Tool, &'a TypeExpr)>> = FxHashMap::default();
        for transform in &index.transforms {
            let source = transform.source.as_path().filter(|path| path.namespace.is_none());
            let item = source.and_then(|path| {
                let (tool, ty) = self.get(&path.root.value)?;
                let Member::Found(list) = member(ty, &path.segments) else { return None };
                match &list.kind {
                    TypeKind::Array(item) => Some((tool, &**item)),
                    _ => None,
                }
            });
            let known = items.entry(&transform.item_var.value).or_insert(item);
            if known.map(|(_, ty)| ty) != item.map(|(_, ty)| ty) {
                *known = None;
            }
        }
        let written = index.sets.iter().map(|s| s.target.root.value.as_str());
        let asked = index.fields.iter().map(|f| f.name.value.as_str());
        let others = index.writes.iter().filter(|(_, used)| *used != WriteUse::TransformItem);
        for name in written.chain(asked).chain(others.map(|(name, _)| name.value.as_str())) {
            items.remove(name);
        }
        items
    }

    /// The items of lists in results, by the names that they have.
    pub fn items(&self) -> impl Iterator<Item = (&'a str, &'a TypeExpr)> + '_ {
        self.items.iter().filter_map(|(name, item)| Some((*name, item.as_ref()?.1)))
    }

    /// Whether a name is that of the items of a list.
    #[must_use]
    pub fn is_item(&self, name: &str) -> bool {
        self.items.contains_key(name)
    }

    /// Returns the type of the result called `name`, or of the items of that name, and its tool.
    pub fn get(&self, name: &str) -> Option<(&'a Tool, &'a TypeExpr)> {
        if let Some(item) = self.items.get(name) {
            return *item;
        }
        let tool = match self.named.get(name) {
            Some(tool) => (*tool)?,
            None => self
                .cx
                .tool(name)
                .or_else(|| self.cx.tool(self.cx.dialect().runtime().tool_of_result(name)?))?,
        };
        Some((tool, &tool.returns.as_ref()?.ty))
    }
}

/// The result of resolving a path in a type.
pub enum Member<'t> {
    /// The member has this type.
    Found(&'t TypeExpr),
    /// The object has no such field.
    Missing(&'t Spanned<Name>, &'t [TypeField]),
    /// The type is unknown.
    Unknown,
}

/// Resolves the segments of a path in a type.
pub fn member<'t>(mut ty: &'t TypeExpr, segments: &'t [Segment]) -> Member<'t> {
    for segment in segments {
        ty = match (&ty.kind, segment) {
            (TypeKind::Object(fields), Segment::Field(name)) => {
                match fields.iter().find(|f| f.name.value == name.value) {
                    Some(field) => &field.ty,
                    None => return Member::Missing(name, fields),
                }
            }
            (TypeKind::Array(item), Segment::Index(_)) => item,
            _ => return Member::Unknown,
        };
    }
    Member::Found(ty)
}

/// Calls `found` with every reference to a named template.
pub fn template_refs<'a>(cx: &AgentSymbols<'_, 'a>, found: &mut dyn FnMut(Spanned<Name>)) {
    cx.index.template_refs.iter().for_each(|name| found((*name).clone()));
    cx.index.templates.iter().filter_map(|t| t.template_ref()).for_each(&mut *found);
    expressions(cx, &mut |expr, _| {
        expr.visit(&mut |e| {
            if let ExprKind::Call { function, args } = &e.kind
                && function.value == "TEMPLATE"
                && let [arg] = args.as_slice()
            {
                match &arg.kind {
                    ExprKind::Path(path) => found(path.root.clone()),
                    ExprKind::Literal(Literal::String(name)) => {
                        found(Spanned::new(name.clone(), arg.span))
                    }
                    _ => {}
                }
            }
            Visit::Children
        });
    });
}

/// Calls `found` with every reference to a lookup table, by fields and by tool parameters.
pub fn lookup_refs<'a>(cx: &AgentSymbols<'_, 'a>, found: &mut dyn FnMut(Spanned<Name>)) {
    for lookup in cx.index.fields.iter().filter_map(|f| f.semantics.as_ref()?.lookup.as_ref()) {
        found(lookup.clone());
    }
    cx.index.tools.values().for_each(|tool| tool_lookups(tool, found));
}

/// Calls `found` with each lookup table that a parameter of a tool names.
pub(crate) fn tool_lookups(tool: &Tool, found: &mut dyn FnMut(Spanned<Name>)) {
    for parameter in tool.parameters.iter().filter(|p| p.source == Some("lookup")) {
        for (key, value) in parameter.extensions.0.values().flatten() {
            if let ("table", Data::String(name)) = (key.as_str(), &value.value) {
                found(Spanned::new(SmolStr::new(name), value.span));
            }
        }
    }
}

/// Collects the variables of Agent Script that occur in data the IR keeps verbatim.
pub fn mentioned(agent: &Agent, found: &mut FxHashSet<SmolStr>) {
    let mut text = |data: &Data| kept(data, found);
    agent.extensions.0.values().flat_map(|all| all.values()).for_each(|e| text(&e.value));
    let references = agent.available_agents.iter().map(|r| &r.extensions);
    let tools = agent.tools.iter().map(|t| &t.extensions);
    let inputs = agent.tools.iter().flat_map(|t| &t.parameters).map(|p| &p.extensions);
    for extensions in references.chain(tools).chain(inputs) {
        extensions.0.values().flat_map(|all| all.values()).for_each(|e| text(&e.value));
    }
    let mut others = Vec::new();
    agentir_flow::bodies(agent, &mut |body| others.extend(agentir_flow::other_statements(body)));
    others.into_iter().for_each(text);
}

/// Collects every `@variables.name` in free-form data.
fn kept(data: &Data, found: &mut FxHashSet<SmolStr>) {
    match data {
        Data::String(text) => {
            for rest in text.split("@variables.").skip(1) {
                let end =
                    rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                found.extend(rest.get(..end).map(SmolStr::new));
            }
        }
        Data::Array(all) => all.iter().for_each(|one| kept(one, found)),
        Data::Object(all) => all.values().for_each(|one| kept(one, found)),
        _ => {}
    }
}
