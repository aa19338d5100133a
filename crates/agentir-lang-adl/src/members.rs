//! Reads the agents of an ensemble and the bindings of their arguments (Appendix A, `invoke_agent`; B.5).

use super::inline;
use super::reader::{Reader, duplicate};
use super::tree::{Binding, Member};
use crate::rules;
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_syntax::outline::{Entry, EntryKind, Key, Scalar};
use smol_str::SmolStr;

impl Reader<'_> {
    pub(super) fn members<'t>(
        &mut self,
        key: &Key<'t>,
        value: Option<&Scalar<'t>>,
        children: &'t [Entry<'t>],
    ) -> Vec<Member> {
        if value.is_some() || children.is_empty() {
            self.expected(key, children, "a list of agents", "contains");
        }
        let mut all = Vec::new();
        for child in children {
            let span = child.span(self.file);
            let entries = match &child.kind {
                EntryKind::Item { entries } => entries.as_slice(),
                // `contains:` as a map.
                EntryKind::Pair { .. } => std::slice::from_ref(child),
                EntryKind::Line { .. } => std::slice::from_ref(child),
            };
            match entries {
                [Entry { kind: EntryKind::Line { text, .. }, .. }] => {
                    let name = Spanned::new(text.to_smol(), text.span);
                    all.push(Member { name, bindings: Vec::new(), span });
                }
                [Entry { kind: EntryKind::Pair { key, children: below, .. }, .. }, rest @ ..] => {
                    let name = Spanned::new(SmolStr::new(key.text), key.span);
                    let mut bindings = self.member_fields(below);
                    let beside = self.member_fields(rest);
                    if !rest.is_empty() {
                        self.problems.push(
                            Diagnostic::error(
                                rules::INVALID_VALUE,
                                rest.first().map_or(span, |r| r.span(self.file)).at_start(),
                                format!("this is at the level of `{name}`, not below it"),
                            )
                            .note("MICA reads it as another agent and does not start")
                            .help("indent `args:` further than the name of the agent"),
                        );
                    }
                    bindings.extend(beside);
                    all.push(Member { name, bindings, span });
                }
                _ => self.problems.push(
                    Diagnostic::error(rules::INVALID_VALUE, span, "expected the name of an agent")
                        .help("write `- name`, or `- name:` with `args:` below it"),
                ),
            }
        }
        all
    }

    /// The fields of an agent of an ensemble: `args`.
    fn member_fields<'t>(&mut self, fields: &'t [Entry<'t>]) -> Vec<Binding> {
        let mut bindings = Vec::new();
        for field in fields {
            let EntryKind::Pair { key, children, .. } = &field.kind else { continue };
            if key.text == "args" {
                self.bindings(children, &mut bindings);
            } else {
                let finding = Diagnostic::warning(
                    rules::UNKNOWN_FIELD,
                    key.span,
                    format!("an agent of an ensemble has no field `{}`", key.text),
                );
                self.problems.push(finding.help("the only field is `args`"));
            }
        }
        bindings
    }

    fn bindings<'t>(&mut self, entries: &'t [Entry<'t>], into: &mut Vec<Binding>) {
        for (key, value) in self.pairs(entries) {
            let Some(scalar) = value else {
                self.problems.push(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        key.span,
                        format!("`{}` has no binding", key.text),
                    )
                    .help("name an argument of the ensemble: `name: name` or `name: ref name`"),
                );
                continue;
            };
            let name = Spanned::new(SmolStr::new(key.text), key.span);
            if let Some((by_reference, value)) = inline::reference(scalar, self.problems) {
                into.push(Binding { name, value, by_reference });
            }
        }
    }

    /// The pairs of a map, or of a list of single-pair maps, which is how the paper writes arguments
    /// (B.4.1, B.5).
    pub(super) fn pairs<'t>(
        &mut self,
        entries: &'t [Entry<'t>],
    ) -> Vec<(&'t Key<'t>, Option<&'t Scalar<'t>>)> {
        let mut pairs = Vec::new();
        let mut told = false;
        for entry in entries {
            let inner = match &entry.kind {
                EntryKind::Item { entries } => {
                    if !std::mem::replace(&mut told, true) {
                        self.problems.push(
                            Diagnostic::warning(
                                rules::MICA_ARGUMENT,
                                entry.span(self.file).at_start(),
                                "MICA expects `args` to be a map, not a list",
                            )
                            .note("it crashes on a list, although the paper and its documentation show one")
                            .help("remove the dashes: `name: value`"),
                        );
                    }
                    entries.as_slice()
                }
                _ => std::slice::from_ref(entry),
            };
            for entry in inner {
                match &entry.kind {
                    EntryKind::Pair { key, value, children } if children.is_empty() => {
                        if let Some((first, _)) =
                            pairs.iter().find(|(k, _): &&(&Key<'_>, _)| k.text == key.text)
                        {
                            self.problems.push(duplicate(key, first.span));
                        }
                        pairs.push((key, value.as_ref()));
                    }
                    _ => self.problems.push(
                        Diagnostic::error(
                            rules::INVALID_VALUE,
                            entry.span(self.file),
                            "expected the name of an argument and a value",
                        )
                        .help("write `name: value`"),
                    ),
                }
            }
        }
        pairs
    }
}
