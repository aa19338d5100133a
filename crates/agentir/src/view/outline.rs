//! The outline of a file: what it defines.

use crate::snapshot::Snapshot;
use agentir_analysis::references::SymbolKind;
use agentir_diagnostics::{FileId, Span, Spanned};
use agentir_expr::{Name, TypeExpr, TypeField, TypeKind};
use agentir_ir::{Agent, AgentType, Tool};

/// Something that a file defines, with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// Its name.
    pub name: String,
    /// Its type, or what else is said of it in a few words.
    pub detail: String,
    /// What the name stands for.
    pub kind: SymbolKind,
    /// All of it.
    pub span: Span,
    /// The name.
    pub selection: Span,
    /// What belongs to it.
    pub children: Vec<OutlineItem>,
}

impl OutlineItem {
    fn new(kind: SymbolKind, name: &Spanned<Name>, span: Span, detail: impl Into<String>) -> Self {
        let selection = name.span;
        let span = if span.file == selection.file { span.to(selection) } else { selection };
        let (name, detail) = (name.value.to_string(), detail.into());
        Self { name, detail, kind, span, selection, children: Vec::new() }
    }

    /// With the fields that its type declares, where they are written within it.
    fn with_members(mut self, ty: Option<&TypeExpr>) -> Self {
        let fields = match ty.map(|ty| &ty.kind) {
            Some(TypeKind::Array(item)) => return self.with_members(Some(item)),
            Some(TypeKind::Object(fields)) => fields.as_slice(),
            Some(TypeKind::Named(_)) | None => &[],
        };
        for TypeField { name, ty, .. } in fields.iter().filter(|field| !field.name.span.is_empty())
        {
            // A type that is written in several lines may have no place of its own.
            let end = if ty.span.file == name.span.file { ty.span.end } else { name.span.end };
            let span = Span { end: end.max(name.span.end), ..name.span };
            let is_inside = span.file == self.span.file
                && (self.span.start..=self.span.end).contains(&span.start)
                && span.end <= self.span.end;
            if is_inside {
                let member = Self::new(SymbolKind::ResultField, name, span, ty.to_string());
                self.children.push(member.with_members(Some(ty)));
            }
        }
        self
    }
}

impl Snapshot {
    /// What a file defines, in the order of the text.
    #[must_use]
    pub fn outline(&self, file: FileId) -> Vec<OutlineItem> {
        let Some(ir) = self.program_of(file).and_then(|id| self.ir(id)) else { return Vec::new() };
        let mut items: Vec<OutlineItem> = Vec::new();
        for agent in ir.agents() {
            let item = of_agent(agent, file);
            if item.selection.file == file {
                items.push(item);
            } else {
                // Files beside an agent define a part of it.
                items.extend(item.children);
            }
        }
        items.extend(ir.libraries.iter().flat_map(|library| &library.tools).map(of_tool));
        items.extend(ir.profiles().map(|profile| {
            let mut item = OutlineItem::new(SymbolKind::Profile, &profile.name, profile.span, "");
            item.children.extend(profile.tools_add.iter().map(of_tool));
            item
        }));
        items.retain(|item| {
            item.selection.file == file && item.selection.end > item.selection.start
        });
        sort(&mut items);
        // Agents that share a tool have it each.
        items.dedup_by(|a, b| a.selection == b.selection && a.kind == b.kind);
        items
    }
}

fn sort(items: &mut [OutlineItem]) {
    items.sort_by_key(|item| (item.selection.start, item.selection.end, item.kind));
    items.iter_mut().for_each(|item| sort(&mut item.children));
}

fn shown(ty: Option<&TypeExpr>) -> String {
    ty.map(TypeExpr::to_string).unwrap_or_default()
}

fn of_tool(tool: &Tool) -> OutlineItem {
    let detail = crate::context::signature(tool);
    OutlineItem::new(SymbolKind::Tool, &tool.name, tool.span, detail)
        .with_members(tool.returns.as_ref().map(|returns| &returns.ty))
}

fn of_agent(agent: &Agent, file: FileId) -> OutlineItem {
    let detail = match agent.metadata.kind {
        AgentType::Agent => "agent",
        AgentType::Supervisor => "supervisor",
    };
    let mut item = OutlineItem::new(SymbolKind::Agent, &agent.metadata.name, agent.span, detail);
    let all = &mut item.children;
    all.extend(agent.tools.iter().map(of_tool));
    let memory = &agent.memory;
    all.extend(memory.session.iter().map(|variable| {
        let ty = shown(variable.ty.as_ref());
        let item = OutlineItem::new(SymbolKind::Variable, &variable.name, variable.span, ty);
        item.with_members(variable.ty.as_ref())
    }));
    all.extend(memory.state.iter().map(|variable| {
        let (name, ty) = (&variable.name, shown(variable.ty.as_ref()));
        let item = OutlineItem::new(SymbolKind::Variable, name, name.span, ty);
        item.with_members(variable.ty.as_ref())
    }));
    all.extend(memory.persistent.iter().map(|path| {
        let (name, ty) = (&path.path, shown(path.ty.as_ref()));
        OutlineItem::new(SymbolKind::Variable, name, name.span, ty)
    }));
    all.extend(agent.gather.fields.iter().map(|field| {
        let ty = field.ty.as_ref().map_or_else(String::new, |ty| ty.value.to_string());
        OutlineItem::new(SymbolKind::Variable, &field.name, field.span, ty)
    }));
    if let Some(flow) = &agent.flow {
        all.extend(
            flow.definitions
                .values()
                .chain(&flow.shadowed)
                .map(|step| OutlineItem::new(SymbolKind::Step, &step.name, step.span, "")),
        );
    }
    all.extend(agent.entities.iter().map(|entity| {
        OutlineItem::new(SymbolKind::Entity, &entity.name, entity.name.span, entity.ty)
    }));
    all.extend(
        agent.templates.values().map(|template| {
            OutlineItem::new(SymbolKind::Template, &template.name, template.span, "")
        }),
    );
    all.extend(agent.lookup_tables.values().map(|table| {
        let source = table.source.unwrap_or_default();
        OutlineItem::new(SymbolKind::LookupTable, &table.name, table.name.span, source)
    }));
    all.extend(
        agent
            .behavior_profiles
            .iter()
            .map(|profile| OutlineItem::new(SymbolKind::Profile, &profile.name, profile.span, "")),
    );
    all.retain(|item| item.selection.file == file && item.selection.end > item.selection.start);
    item
}
