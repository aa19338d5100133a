//! A branch that is never taken: because of the branches before it, of what the way there has tested
//! or set, or of the values that its variables take.

use crate::proof::{Core, Given, branches, is_stable, roots, taken, test};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Span};
use agentir_expr::Condition;
use agentir_flow::cfg::{Element, Known, Literal};
use agentir_ir::Branch;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreachable-branch"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a branch is never taken, whatever is said and returned",
    vendor: &[],
    dialects: crate::rule::ANY,
    check: Check::Agent(check),
};

/// At most so many branches before one are looked at together: a question takes time in the square of
/// what is given.
const MOST: usize = 24;

fn check<'a>(cx: &AgentContext<'a>, report: &mut Report<'_>) {
    let Some(part) = cx.part() else { return };
    let cfg = cx.program.graph();
    for at in part.nodes() {
        let all = cfg.node(at).map(branches).unwrap_or_default();
        if all.first().is_some_and(|b| cx.answers_for(b.span)) {
            behind_else(all, report);
        }
    }
    let mut seen = FxHashSet::default();
    let mut dead = |case: Case<'a>| {
        if cx.answers_for(case.span)
            && let Some(finding) = case.dead(cx, report)
            && seen.insert(finding.primary.span)
        {
            report.push(finding);
        }
    };
    for at in part.nodes() {
        let Some(node) = cfg.node(at) else { continue };
        let all = branches(node);
        for (index, branch) in all.iter().enumerate() {
            let Some((earlier, own)) = taken(all, index) else { break };
            dead(Case { node: at, what: "branch", span: branch.span, earlier, own });
        }
        for (_, edge) in cfg.successors(at) {
            let what = match (edge.by, node.element) {
                (Element::Offer(_), _) => "offer",
                (_, Element::Step(_)) => "step",
                _ => continue,
            };
            let own = cfg.last_literal(edge.guard).filter(|l| l.holds);
            if own.is_some() {
                dead(Case { node: at, what, span: edge.span, earlier: Vec::new(), own });
            }
        }
    }
}

/// Something an author wrote for a case.
struct Case<'a> {
    node: NodeIndex,
    what: &'static str,
    span: Span,
    /// What must not have been taken before.
    earlier: Vec<Literal<'a>>,
    /// Its own condition; an `ELSE` has none.
    own: Option<Literal<'a>>,
}

/// Branches that stand behind one without a condition are not even tried.
fn behind_else(branches: &[Branch], report: &mut Report<'_>) {
    let Some(at) = branches.iter().position(|b| b.condition.is_none()) else { return };
    let (tried, dead) = branches.split_at(at + 1);
    let Some(last) = tried.last() else { return };
    for branch in dead {
        let at = branch.condition.as_ref().map_or(branch.span, Condition::span);
        report.push(
            report
                .finding(at, "this branch is never taken")
                .label(last.span, "this branch has no condition, so none is tried after it")
                .note("the first branch whose condition holds is taken, and no other")
                .help("move the branch without a condition to the end"),
        );
    }
}

/// What was given, by the order in which it was.
#[derive(Clone, Copy)]
enum Reason<'a> {
    /// The condition of the branch itself.
    Own,
    /// A branch before it is not taken.
    Earlier(Literal<'a>),
    /// On every way here this came out so.
    Way(Literal<'a>),
}

impl<'a> Case<'a> {
    /// The proof that it never comes to it.
    fn dead(&self, cx: &AgentContext<'a>, report: &Report<'_>) -> Option<Diagnostic> {
        let mut about = FxHashSet::default();
        let of_interest = self.own.as_ref().map_or(self.earlier.as_slice(), std::slice::from_ref);
        of_interest.iter().filter_map(|l| l.test.expr()).for_each(|e| roots(e, &mut about));
        let concerns = |literal: &Literal<'_>| match literal.test.expr() {
            Some(expr) => {
                let mut names = FxHashSet::default();
                roots(expr, &mut names);
                is_stable(expr) && !names.is_disjoint(&about)
            }
            // Words say the same only if they are the same.
            None => of_interest.iter().any(|l| l.test.expr().is_none() && l.test == literal.test),
        };
        let mut ask = cx.ask();
        let mut reasons = Vec::new();
        let mut known = 0;
        for fact in cx.known().at(self.node) {
            let wanted = match fact {
                Known::Test(literal) => concerns(&literal),
                Known::Value(set) => about.contains(&set.target.root.value),
                Known::Cleared(name) => about.contains(&name.value),
            };
            if wanted {
                known += 1;
                if let (Some(_), Known::Test(literal)) = (ask.known(fact), fact) {
                    reasons.push(Reason::Way(literal));
                }
            }
        }
        for literal in self.earlier.iter().rev().filter(|l| concerns(l)).take(MOST) {
            ask.given(test(literal.test), literal.holds);
            reasons.push(Reason::Earlier(*literal));
        }
        // A condition that is impossible as such is another rule's.
        if self.own.is_some() && reasons.is_empty() && known == 0 {
            return None;
        }
        if let Some(own) = self.own {
            if own.test.expr().is_some_and(|e| !is_stable(e)) {
                return None;
            }
            ask.given(test(own.test), true);
            reasons.push(Reason::Own);
        }
        let core = ask.satisfiable()?.nothing()?;
        self.explain(cx, &reasons, &core, report)
    }

    fn explain(
        &self,
        cx: &AgentContext<'_>,
        reasons: &[Reason<'_>],
        core: &Core,
        report: &Report<'_>,
    ) -> Option<Diagnostic> {
        let own = self.own;
        let used: Vec<Reason<'_>> =
            core.given.iter().filter_map(|Given(at)| reasons.get(*at).copied()).collect();
        let earlier: Vec<Span> = used
            .iter()
            .filter_map(|r| if let Reason::Earlier(l) = r { Some(l.test.span()) } else { None })
            .collect();
        let ways: Vec<Literal<'_>> = used
            .iter()
            .filter_map(|r| if let Reason::Way(l) = r { Some(*l) } else { None })
            .collect();
        let is_own = used.iter().any(|r| matches!(r, Reason::Own));
        let set = core.facts.iter().any(|line| line.says.starts_with("every way here"));
        // What contradicts itself on the way is dead before this; what does so alone is another rule's.
        if (!is_own && earlier.is_empty())
            || (is_own && earlier.is_empty() && ways.is_empty() && !set)
        {
            return None;
        }
        let at = own.map_or(self.span, |l| l.test.span());
        let message = match (self.what, own) {
            ("step", _) => "this step is always skipped".to_owned(),
            ("offer", _) => {
                let words = crate::wording::Wording::of(cx.agent);
                format!("this {} is never available", words.tool)
            }
            (_, Some(_)) => "this branch is never taken".to_owned(),
            _ => "this branch is never taken: those before it leave no case".to_owned(),
        };
        let mut finding = report.finding(at, message);
        match earlier.as_slice() {
            [] => {}
            [only] if is_own && ways.is_empty() && !set => {
                finding = finding
                    .at("whenever this holds …")
                    .label(*only, "… this holds as well, and comes first");
            }
            [only] if !is_own => {
                finding = finding.label(*only, "this always holds here, and comes first");
            }
            many => {
                if is_own {
                    finding = finding.at("whenever this holds …");
                }
                let label = match (is_own, many.len()) {
                    (true, 1) => "… this holds here as well, and comes first",
                    (true, _) => "… this holds, or another one that comes first",
                    (false, _) => "one of these always holds, and comes first",
                };
                for span in many {
                    finding = finding.label(*span, label);
                }
            }
        }
        for literal in &ways {
            let says = if literal.holds {
                "whoever comes here passed this"
            } else {
                "whoever comes here failed this"
            };
            finding = finding.label(literal.test.span(), says);
        }
        if !earlier.is_empty() {
            finding = finding.note("the first branch whose condition holds is taken, and no other");
        }
        Some(core.explain(finding).help(match (own, earlier.is_empty()) {
            (Some(_), false) => "put the narrower condition first, or remove this branch",
            (Some(_), true) => "test something that is still open here, or remove this",
            (None, _) => "remove this branch, or make one of those before it narrower",
        }))
    }
}
