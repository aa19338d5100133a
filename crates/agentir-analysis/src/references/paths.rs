//! What the paths of expressions name, segment by segment, and the fields that types declare.

use super::collect::{Collector, Owner, SESSION};
use super::{Role, Scope, SymbolId, SymbolKind};
use crate::variables::first;
use agentir_diagnostics::Span;
use agentir_expr::{Expr, ExprKind, Path, Segment, TypeExpr, TypeKind, Visit};

impl<'a> Collector<'a> {
    pub(super) fn expr(&mut self, owner: Owner<'_, 'a>, expr: &'a Expr) {
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Path(path) => self.path(owner, path, Role::Read),
                ExprKind::Object(entries) => {
                    for entry in entries.iter().filter(|entry| entry.value.is_none()) {
                        self.variable(owner, &entry.key, Role::Read);
                    }
                }
                _ => {}
            }
            Visit::Children
        });
    }

    /// A path, segment by segment.
    pub(super) fn path(&mut self, owner: Owner<'_, 'a>, path: &'a Path, role: Role) {
        let root = &path.root;
        match path.namespace.as_ref().map(|namespace| namespace.value.as_str()) {
            Some("variables") => {
                if !root.value.is_empty() {
                    let symbol = self.variable_symbol(owner.id, &root.value);
                    self.add(symbol, root.span, role);
                    self.below(symbol, &path.segments, role);
                }
            }
            Some("actions") => {
                self.tool_use(owner, root);
            }
            Some(namespace) if self.runtime.refers_to_agents(namespace) => {
                self.name(SymbolKind::Agent, Scope::Program, root, Role::Read);
            }
            Some(_) => {}
            None => self.bare_path(owner, path, role),
        }
    }

    fn bare_path(&mut self, owner: Owner<'_, 'a>, path: &'a Path, role: Role) {
        let root = &path.root;
        if let Some((name, span)) = self.persistent_path(path) {
            let symbol = self.symbol(SymbolKind::Variable, Scope::Program, &name);
            self.add(symbol, span, role);
            return;
        }
        let member = path.first_field();
        // `session.name`: the same variable, by the runtime's name for the memory that it is in.
        if let (SESSION, Some(member)) = (root.value.as_str(), member)
            && self.runtime.lists(SESSION)
            && owner.agent.memory.session.iter().any(|v| first(&v.name.value) == member.value)
        {
            self.variable(owner, member, role);
            let symbol = self.variable_symbol(owner.id, &member.value);
            self.below(symbol, path.segments.get(1..).unwrap_or_default(), role);
            return;
        }
        let is_variable = owner.variables.contains(root.value.as_str());
        // `search.total`: a field of a tool's result, under the name of the tool or of the result.
        let tool = match owner.results.get(root.value.as_str()) {
            Some(tool) => Some(*tool),
            None if is_variable => None,
            None => self.tool_symbol(owner.tools, &root.value),
        };
        if let Some(tool) = tool {
            if let Some(member) = member {
                self.name(SymbolKind::ResultField, Scope::Symbol(tool), member, Role::Read);
            }
            self.below(tool, &path.segments, Role::Read);
            if !is_variable {
                self.add(tool, root.span, Role::Read);
                return;
            }
        }
        // `desk.name`: a variable of another agent.
        if let (false, Some(member), Some(other)) =
            (is_variable, member, self.agents.get(root.value.as_str()).copied())
        {
            self.name(SymbolKind::Agent, Scope::Program, root, Role::Read);
            let symbol = self.variable_symbol(other, &member.value);
            self.add(symbol, member.span, role);
            self.below(symbol, path.segments.get(1..).unwrap_or_default(), role);
            return;
        }
        if !is_variable && role == Role::Read {
            if let Some(field) = owner.returned.get(root.value.as_str()) {
                self.add(*field, root.span, role);
                self.below(*field, &path.segments, role);
                return;
            }
            let entity = (SymbolKind::Entity, Scope::Agent(owner.id), root.value.clone());
            if let Some(entity) = self.ids.get(&entity).copied() {
                self.add(entity, root.span, role);
                return;
            }
        }
        self.variable(owner, root, role);
        if is_variable {
            let symbol = self.variable_symbol(owner.id, &root.value);
            self.below(symbol, &path.segments, role);
        }
    }

    /// The declared path of persistent memory that a path begins with: the longest.
    fn persistent_path(&self, path: &Path) -> Option<(String, Span)> {
        let mut text = path.root.value.to_string();
        let mut span = path.root.span;
        let mut found = self.persistent.contains(text.as_str()).then(|| (text.clone(), span));
        for segment in &path.segments {
            let Segment::Field(name) = segment else { break };
            text.push('.');
            text.push_str(&name.value);
            span = span.to(name.span);
            if self.persistent.contains(text.as_str()) {
                found = Some((text.clone(), span));
            }
        }
        found
    }

    /// The fields of `result`, which is what the tool returned, in what follows its call.
    pub(super) fn result_of(&mut self, tool: SymbolId, expr: &Expr) {
        expr.visit(&mut |e| {
            if let ExprKind::Path(path) = &e.kind
                && path.namespace.is_none()
                && path.root.value == "result"
                && self.runtime.lists("result")
            {
                // A call within what follows has results of its own.
                self.below(tool, &path.segments, Role::Read);
            }
            Visit::Children
        });
    }

    /// The fields that a type declares, and those of their types.
    pub(super) fn members(&mut self, of: SymbolId, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Named(_) => {}
            TypeKind::Array(item) => self.members(of, item),
            TypeKind::Object(fields) => {
                for field in fields.iter().filter(|field| !field.name.value.is_empty()) {
                    let name = &field.name;
                    let below = Scope::Symbol(of);
                    let symbol = self.symbol(SymbolKind::ResultField, below, &name.value);
                    self.add(symbol, name.span, Role::Definition);
                    self.members(symbol, &field.ty);
                }
            }
        }
    }

    pub(super) fn variable_members(
        &mut self,
        owner: Owner<'_, 'a>,
        name: &str,
        ty: Option<&TypeExpr>,
    ) {
        if let (Some(ty), false) = (ty, name.contains('.')) {
            let variable = self.variable_symbol(owner.id, name);
            self.members(variable, ty);
        }
    }

    /// What a path leads to below a symbol, as far as types declare it.
    pub(super) fn below(&mut self, mut symbol: SymbolId, segments: &[Segment], role: Role) {
        for segment in segments {
            match segment {
                Segment::Field(name) => {
                    let scope = Scope::Symbol(symbol);
                    let key = (SymbolKind::ResultField, scope, name.value.clone());
                    let Some(field) = self.ids.get(&key).copied() else { return };
                    self.add(field, name.span, role);
                    symbol = field;
                }
                // An item has the fields of the list.
                Segment::Index(_) => {}
                Segment::Any => return,
            }
        }
    }
}
