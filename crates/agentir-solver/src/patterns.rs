//! The regular expressions of queries. Compiling one takes thousands of times as long as matching a text with it.

use crate::atom_class::is_match;
use crate::query::{FactKind, Facts, Query, Test};
use crate::work::Work;
use agentir_eval::{KEPT_PATTERNS, portable};
use agentir_expr::{Expr, ExprKind, Literal, Path, Visit};
use regex_syntax::hir::{Class, Hir, HirKind};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// The steps of compiling a pattern, but for its states.
const STEPS_OF_PATTERN: u64 = 1_000;

/// The steps of each state of a compiled pattern.
const STEPS_OF_STATE: u64 = 20;

/// No pattern gets more states: it would be refused for its size.
const MAX_STATES: u64 = 50_000;

/// How deep in a variable facts are looked for. Longer paths are not worth the work: a pattern that is not counted costs
/// time, and no answer depends on it.
const MAX_DEPTH: usize = 16;

/// The patterns that a solver has compiled. The evaluator keeps as many, but for all queries of a thread; a count must
/// not depend on what others have asked.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    compiled: FxHashSet<SmolStr>,
}

impl Patterns {
    /// Spends the steps of compiling the patterns of a query that are new. `false` if there are more than are kept, so
    /// that each evaluation would compile them again.
    pub(crate) fn admits(&mut self, query: &Query<'_>, work: &Work) -> bool {
        let mut found = Found::default();
        for assertion in query.assertions() {
            if let Test::Expr(expr) | Test::In(_, expr) = assertion.test {
                found.of_expr(expr, query.facts);
            }
        }
        self.admits_found(found, work)
    }

    /// The same for a condition.
    pub(crate) fn admits_expr(&mut self, expr: &Expr, facts: &Facts, work: &Work) -> bool {
        let mut found = Found::default();
        found.of_expr(expr, facts);
        self.admits_found(found, work)
    }

    fn admits_found(&mut self, found: Found<'_>, work: &Work) -> bool {
        let mut all = found.patterns;
        if found.computes {
            all.extend(found.texts);
        }
        if all.len() > KEPT_PATTERNS {
            return false;
        }
        for by in all {
            if self.compiled.contains(by) {
                continue;
            }
            if self.compiled.len() >= KEPT_PATTERNS {
                self.compiled.clear();
            }
            self.compiled.insert(by.clone());
            work.spend(STEPS_OF_PATTERN + STEPS_OF_STATE * states_of(by));
        }
        !work.is_exhausted()
    }
}

/// The texts of a query that are patterns, and those that are if a pattern is computed.
#[derive(Default)]
struct Found<'q> {
    patterns: FxHashSet<&'q SmolStr>,
    texts: FxHashSet<&'q SmolStr>,
    computes: bool,
}

impl<'q> Found<'q> {
    fn of_expr(&mut self, expr: &'q Expr, facts: &'q Facts) {
        expr.visit(&mut |e| {
            let by = match &e.kind {
                ExprKind::Binary { right, .. } if is_match(e) => Some(&**right),
                ExprKind::Method { args, .. } if is_match(e) => args.first(),
                ExprKind::Path(path) => {
                    self.of_facts(path, facts);
                    None
                }
                ExprKind::Literal(Literal::String(text)) => {
                    self.texts.insert(text);
                    None
                }
                _ => None,
            };
            match by.map(|by| &by.kind) {
                Some(ExprKind::Literal(Literal::String(text) | Literal::Regex(text))) => {
                    self.patterns.insert(text);
                }
                Some(_) => self.computes = true,
                None => {}
            }
            Visit::Children
        });
    }

    fn of_facts(&mut self, path: &Path, facts: &'q Facts) {
        let mut add = |path: &Path| {
            for fact in facts.get(path) {
                if let FactKind::Pattern(by) = &fact.kind {
                    self.patterns.insert(by);
                }
            }
        };
        let mut start = Path { segments: Vec::new(), ..Path::variable(path.root.clone()) };
        start.namespace.clone_from(&path.namespace);
        add(&start);
        for segment in path.segments.iter().take(MAX_DEPTH) {
            start.segments.push(segment.clone());
            add(&start);
        }
    }
}

/// About how many states the compiled form of a pattern has.
fn states_of(by: &str) -> u64 {
    let read = regex_syntax::parse(&portable(by));
    let states = read.map_or(0, |hir| states(&hir));
    states.saturating_add(by.len() as u64).min(MAX_STATES)
}

/// Recursive; `regex_syntax` refuses deep patterns.
fn states(hir: &Hir) -> u64 {
    let sum = |parts: &[Hir]| parts.iter().map(states).fold(1, u64::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Literal(text) => text.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => 4 * class.ranges().len() as u64,
        HirKind::Capture(capture) => states(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            states(&repetition.sub).saturating_add(1).saturating_mul(times.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_written_out() {
        let few = states_of("^a+$");
        assert!(few < 20, "{few}");
        let many = states_of("^(x{100}|y{1,100})+z{100}$");
        assert!((300..1_000).contains(&many), "{many}");
        assert_eq!(states_of("((a{1000}){1000}){1000}"), MAX_STATES);
        assert_eq!(states_of("("), 1);
    }
}
