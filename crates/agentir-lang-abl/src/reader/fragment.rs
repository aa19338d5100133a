//! Reads fragments: sections, or parts of one, without an agent around them.

use super::Reader;
use crate::schema::{AGENT, FRAGMENT_PARENTS, STEP};
use crate::tree::Format;
use agentir_diagnostics::Span;
use agentir_syntax::outline::{Entry, EntryKind, Key};

impl<'t, 's: 't> Reader<'t, 's, '_> {
    /// Nests the entries of a fragment in the sections they belong to.
    pub(super) fn nest_fragment(&mut self, entries: &'t [Entry<'s>]) -> &'t [Entry<'s>] {
        let mut adopted: Vec<Entry<'s>> = Vec::new();
        for entry in entries {
            let home = match &entry.kind {
                EntryKind::Pair { key, children, .. } => home_of(key.text, children),
                _ => None,
            };
            let Some(home) = home else {
                adopted.push(entry.clone());
                continue;
            };
            let (section, inner) =
                if home == "step" { ("flow", Some("fragment")) } else { (home, None) };
            let shell = |name: &'static str, children: Vec<Entry<'s>>| Entry {
                start: entry.start,
                end: entry.end,
                empty: None,
                kind: EntryKind::Pair {
                    key: Key {
                        text: name,
                        span: Span::new(self.outline.file, entry.start, entry.start),
                        line_length: 0,
                    },
                    value: None,
                    children,
                },
            };
            let same = adopted.last_mut().filter(|last| {
                matches!(&last.kind, EntryKind::Pair { key, .. } if key.text.eq_ignore_ascii_case(section) && key.span.is_empty())
            });
            if let Some(last) = same {
                last.end = entry.end;
                if let EntryKind::Pair { children, .. } = &mut last.kind {
                    match (inner, children.last_mut()) {
                        (
                            Some(_),
                            Some(Entry {
                                kind: EntryKind::Pair { key, children: step, .. },
                                end,
                                ..
                            }),
                        ) if key.text == "fragment" => {
                            *end = entry.end;
                            step.push(entry.clone());
                        }
                        (Some(inner), _) => children.push(shell(inner, vec![entry.clone()])),
                        (None, _) => children.push(entry.clone()),
                    }
                }
            } else {
                let children = match inner {
                    Some(inner) => vec![shell(inner, vec![entry.clone()])],
                    None => vec![entry.clone()],
                };
                let name: &'static str = match (self.format, section) {
                    (Format::Abl, "flow") => "FLOW",
                    (Format::Abl, "memory") => "MEMORY",
                    (Format::Abl, "escalate") => "ESCALATE",
                    (Format::Abl, "hooks") => "HOOKS",
                    (Format::Abl, "nlu") => "NLU",
                    (_, other) => other,
                };
                adopted.push(shell(name, children));
            }
        }
        self.arena
            .alloc(Entry {
                start: 0,
                end: 0,
                empty: None,
                kind: EntryKind::Item { entries: adopted },
            })
            .children()
    }
}

/// The section that an entry belongs to, if it is none itself.
pub(super) fn home_of(key: &str, children: &[Entry<'_>]) -> Option<&'static str> {
    if AGENT.field(key).is_some() {
        return None;
    }
    let parent = FRAGMENT_PARENTS.iter().find(|(_, ty)| ty.field(key).is_some());
    parent.map(|(name, _)| *name).or_else(|| looks_like_step(children).then_some("flow"))
}

/// Whether entries are mostly fields of a step, so that their parent is a step.
pub(super) fn looks_like_step(children: &[Entry<'_>]) -> bool {
    children
        .iter()
        .any(|c| matches!(&c.kind, EntryKind::Pair { key, .. } if STEP.field(key.text).is_some()))
}
