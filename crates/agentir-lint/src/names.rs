//! Shared helpers of the rules about names: duplicate definitions, suggestions, calls of functions.

use crate::rule::{AgentContext, Report};
use agentir_analysis::expressions::expressions;
use agentir_diagnostics::{Diagnostic, Spanned, closest};
use agentir_expr::Name;
use rustc_hash::{FxHashMap, FxHashSet};

/// Suggests the most similar of the `known` names; otherwise adds the help text.
pub(crate) fn suggest<'k>(
    finding: Diagnostic,
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
    otherwise: impl FnOnce() -> String,
) -> Diagnostic {
    match closest(name, known) {
        Some(near) => finding.did_you_mean(near),
        None => finding.help(otherwise()),
    }
}

/// Calls `found` with every duplicate definition and the first definition of the name.
pub(crate) fn defined_twice<'n>(
    names: impl IntoIterator<Item = &'n Spanned<Name>>,
    found: &mut dyn FnMut(&'n Spanned<Name>, &'n Spanned<Name>),
) {
    let mut all: Vec<_> = names.into_iter().filter(|name| !name.value.is_empty()).collect();
    all.sort_by_key(|name| (name.span.file, name.span.start));
    let mut first: FxHashMap<&str, &Spanned<Name>> = FxHashMap::default();
    for name in all {
        match first.get(name.value.as_str()) {
            Some(before) => found(name, before),
            None => {
                first.insert(&name.value, name);
            }
        }
    }
}

/// Reports invalid calls of built-in functions, as far as they belong to the running rule.
pub(crate) fn check_functions(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let mut seen = FxHashSet::default();
    expressions(cx, &mut |expr, context| {
        agentir_expr::check_calls(expr, context.scope(), cx.version, &mut |mut finding| {
            if finding.rule == report.rule.name && seen.insert(finding.primary.span) {
                finding.note = finding.note.or_else(|| note(finding.rule.0));
                report.push(finding);
            }
        });
    });
}

/// Returns the effect of an invalid call at run time.
fn note(rule: &str) -> Option<String> {
    let text = match rule {
        "unknown-function" => {
            "a call of an unknown function has no value, so conditions that use it do not hold"
        }
        "function-arity" => "a missing argument is undefined; a superfluous one is ignored",
        "function-argument-type" => "a value that cannot be converted yields null, not an error",
        _ => return None,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_diagnostics::{FileId, Span};

    fn name(text: &str, start: u32) -> Spanned<Name> {
        Spanned::new(text.into(), Span::new(FileId(0), start, start + 1))
    }

    #[test]
    fn every_later_definition_is_compared_with_the_first() {
        // As maps yield them: not in source order.
        let names =
            [name("b", 5), name("a", 9), name("a", 1), name("a", 4), name("", 0), name("", 2)];
        let mut found = Vec::new();
        defined_twice(&names, &mut |again, before| {
            found.push((again.span.start, before.span.start))
        });
        assert_eq!(found, [(4, 1), (9, 1)]);
    }
}
