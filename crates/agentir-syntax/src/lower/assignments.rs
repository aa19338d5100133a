//! Assignments that follow each other.

use crate::rules;
use agentir_diagnostics::{Diagnostic, Span};
use agentir_expr::{Expr, Name, Path};
use rustc_hash::FxHashMap;

/// Reports what is assigned and assigned again before anything could read it. `assignments` run one after the other.
pub fn report_lost<'s>(
    assignments: impl Iterator<Item = (&'s Path, &'s Expr)>,
    problems: &mut Vec<Diagnostic>,
) {
    // The last assignment to each variable, or to a part of it, that nothing has read.
    let mut unread: FxHashMap<Name, (String, Span)> = FxHashMap::default();
    for (target, value) in assignments {
        value.paths(&mut |path| {
            unread.remove(&path.root.value);
        });
        let written = target.to_string();
        let last = unread.insert(target.root.value.clone(), (written.clone(), target.root.span));
        if let Some((_, first)) = last.filter(|(before, _)| *before == written) {
            let message = format!("`{written}` is set twice");
            problems.push(
                Diagnostic::warning(rules::DUPLICATE_FIELD, target.root.span, message)
                    .label(first, "nothing reads the value that it has from here")
                    .help("keep one of them"),
            );
        }
    }
}
