//! Names in the placeholders of what implements a tool: endpoints, headers, bodies. AgentIR keeps these as data, so they are
//! found in the text.

use super::Role;
use super::collect::{Collector, Owner, SESSION};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_ir::Tool;

/// A placeholder: `{name}`, `{{session.name}}`, `{!@variables.name}`.
pub(super) struct Hole {
    /// The first name of its path.
    pub root: Spanned<Name>,
    /// The name of what it inserts: behind `session` and namespaces, the first name.
    pub name: Spanned<Name>,
    /// Whether it says that it is a variable.
    pub is_variable: bool,
}

impl<'a> Collector<'a> {
    /// The placeholders of what implements a tool.
    pub(super) fn holes(&self, tool: &Tool) -> Vec<Hole> {
        let source = self.sources.and_then(|sources| sources.get(tool.span.file));
        let text = source.filter(|_| tool.binding.is_some()).and_then(|source| {
            let end = (tool.span.end as usize).min(source.text.len());
            source.text.get(tool.span.start as usize..end)
        });
        text.map_or_else(Vec::new, |text| holes(text, tool.span))
    }

    /// The variables that a tool's texts insert.
    pub(super) fn tool_texts(&mut self, owner: Owner<'_, 'a>, tool: &'a Tool) {
        if tool.binding.is_none() || self.sources.is_none() {
            let described = tool.parameters.iter().filter_map(|p| p.description.as_ref());
            for text in tool.description.iter().chain(described) {
                text.exprs(&mut |expr| self.expr(owner, expr));
            }
            return;
        }
        let memory = &owner.agent.memory;
        for hole in self.holes(tool) {
            let is_parameter = || tool.parameters.iter().any(|p| p.name.value == hole.root.value);
            let declared = memory.session.iter().any(|v| v.name.value == hole.name.value)
                || owner.variables.contains(hole.name.value.as_str());
            if declared && (hole.is_variable || !is_parameter()) {
                self.variable(owner, &hole.name, Role::Read);
            }
        }
    }
}

/// The placeholders of a text.
fn holes(text: &str, within: Span) -> Vec<Hole> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('{') {
        let rest = text.get(at + 1..).unwrap_or_default();
        if rest.starts_with('{') {
            continue;
        }
        let inside = rest.trim_start_matches([' ', '!']);
        let path = inside.strip_prefix("@variables.").unwrap_or(inside);
        let start = text.len() - path.len();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let end = path.find(|c| !is_part(c)).unwrap_or(path.len());
        let (path, behind) = path.split_at(end);
        if !behind.trim_start().starts_with(['}', '|', '[']) {
            continue;
        }
        let mut parts = path.split('.');
        let Some(first) = parts.next().filter(|name| !name.is_empty()) else { continue };
        let name = |name: &str, at: usize| {
            let start = within.start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
            let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
            Spanned::new(
                Name::new(name),
                Span::new(within.file, start, start.saturating_add(length)),
            )
        };
        let root = name(first, start);
        let in_session = (first == SESSION).then(|| parts.next()).flatten();
        let is_variable = in_session.is_some() || path.len() < inside.len() - behind.len();
        let name = in_session.map_or_else(|| root.clone(), |n| name(n, start + first.len() + 1));
        found.push(Hole { root, name, is_variable });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_have_a_path() {
        let text =
            "{a} {{ b.c }} {{session.d}} {!@variables.e} ${f} {g: 1} {h, i} {} {{j | upper}}";
        let found: Vec<_> = holes(text, Span::default())
            .into_iter()
            .map(|hole| {
                let at = hole.name.span.start as usize..hole.name.span.end as usize;
                assert_eq!(text.get(at), Some(hole.name.value.as_str()));
                (hole.name.value.to_string(), hole.is_variable)
            })
            .collect();
        let expected =
            [("a", false), ("b", false), ("d", true), ("e", true), ("f", false), ("j", false)];
        assert_eq!(found, expected.map(|(name, is)| (name.to_owned(), is)));
    }
}
