//! A branch that is never taken: because of earlier branches, of facts on every path to it, or of
//! the values of its variables.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::{branch_guard, branches, is_stable, roots, test};
use agentir_analysis::initial_values::InitialValues;
use agentir_analysis::proof::{Assumption, UnsatCore};
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Span};
use agentir_expr::Condition;
use agentir_flow::cfg::{Fact, GuardLiteral, Origin, Test};
use agentir_ir::{Agent, Branch, Digression};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreachable-branch"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a branch is never taken",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

/// The maximum number of earlier branches in a query, which is quadratic in its assumptions.
const MAX_GUARDS: usize = 24;

fn check<'a>(cx: &AgentContext<'_, 'a>, report: &mut Report<'_>) {
    let Some(agent_cfg) = cx.agent_cfg() else { return };
    let cfg = cx.program.graph();
    for at in agent_cfg.nodes() {
        let all = cfg.node(at).map(branches).unwrap_or_default();
        if all.first().is_some_and(|b| cx.owns(b.span)) {
            behind_else(all, report);
        }
    }
    behind_digression(cx.agent, report);
    let mut seen = FxHashSet::default();
    let mut first = InitialValues::new(cx);
    let mut dead = |case: Case<'a>| {
        if cx.owns(case.span)
            && let Some(finding) = case.dead(cx, &mut first, report)
            && seen.insert(finding.primary.span)
        {
            report.push(finding);
        }
    };
    outcomes(cx, &mut dead);
    for (digression, before) in digressions(cx.agent) {
        let test = |d: &&'a Digression| d.condition.as_ref().map(Test::Condition);
        let earlier: Vec<GuardLiteral<'a>> = before
            .iter()
            .filter_map(test)
            .map(|test| GuardLiteral { test, holds: false })
            .collect();
        // A branch after an unconditional one has been reported above.
        if !earlier.is_empty() && earlier.len() == before.len() {
            let own = test(&digression).map(|test| GuardLiteral { test, holds: true });
            let (node, what) = (NodeIndex::end(), "digression");
            dead(Case { node, what, span: digression.span, earlier, own });
        }
    }
    for at in agent_cfg.nodes() {
        let Some(node) = cfg.node(at) else { continue };
        let all = branches(node);
        for (index, branch) in all.iter().enumerate() {
            let Some((earlier, own)) = branch_guard(all, index) else { break };
            dead(Case { node: at, what: "branch", span: branch.span, earlier, own });
        }
        for (_, edge) in cfg.successors(at) {
            let what = match (edge.origin, node.origin) {
                (Origin::ToolBinding(_), _) => "offer",
                (Origin::Digression(_), _) => "digression",
                (_, Origin::Step(_)) => "step",
                _ => continue,
            };
            let own = cfg.last_literal(edge.guard).filter(|l| l.holds);
            if own.is_some() {
                dead(Case { node: at, what, span: edge.span, earlier: Vec::new(), own });
            }
        }
    }
}

/// Checks the outcomes of a handover to a person, in order.
fn outcomes<'a>(cx: &AgentContext<'_, 'a>, dead: &mut dyn FnMut(Case<'a>)) {
    let all = cx.agent.coordination.escalation.iter().flat_map(|e| &e.on_human_complete);
    let mut earlier: Vec<GuardLiteral<'a>> = Vec::new();
    for outcome in all {
        let literal = |holds| {
            let condition = outcome.condition.as_ref()?;
            Some(GuardLiteral { test: Test::Condition(condition), holds })
        };
        let (node, own) = (NodeIndex::end(), literal(true));
        let before = earlier.clone();
        dead(Case { node, what: "outcome", span: outcome.span, earlier: before, own });
        // Nothing is known after an outcome that always applies.
        let Some(not) = literal(false) else { return };
        earlier.push(not);
    }
}

/// Returns the lists of digressions of an agent, each digression with the earlier ones for the same
/// intent.
fn digressions(agent: &Agent) -> Vec<(&Digression, Vec<&Digression>)> {
    let Some(flow) = &agent.flow else { return Vec::new() };
    let steps = flow.definitions.values().flat_map(|s| [&s.digressions, &s.sub_intents]);
    let mut found = Vec::new();
    for all in std::iter::once(&flow.global_digressions).chain(steps) {
        for (at, digression) in all.iter().enumerate().filter(|(_, d)| d.intent.is_some()) {
            let before = all.get(..at).unwrap_or_default();
            let same = before
                .iter()
                .filter(|d| d.intent == digression.intent && d.keywords == digression.keywords);
            found.push((digression, same.collect()));
        }
    }
    found
}

/// Reports digressions whose intent an earlier one handles unconditionally.
fn behind_digression(agent: &Agent, report: &mut Report<'_>) {
    for (digression, before) in digressions(agent) {
        let Some(first) = before.iter().find(|d| d.condition.is_none()) else { continue };
        let at = digression.condition.as_ref().map_or(digression.span, Condition::span);
        report.push(
            report
                .finding(at, "this digression is never taken")
                .label(first.span, "this one handles the same intent unconditionally")
                .note("only the first digression that applies is taken")
                .help("merge the two, or add a condition to the first one"),
        );
    }
}

/// A case to check.
struct Case<'a> {
    node: NodeIndex,
    what: &'static str,
    span: Span,
    /// The literals of earlier cases, which were not taken.
    earlier: Vec<GuardLiteral<'a>>,
    /// Its own condition; `None` for an `ELSE`.
    own: Option<GuardLiteral<'a>>,
}

/// Reports branches after an unconditional one.
fn behind_else(branches: &[Branch], report: &mut Report<'_>) {
    let Some(at) = branches.iter().position(|b| b.condition.is_none()) else { return };
    let (tried, dead) = branches.split_at(at + 1);
    let Some(last) = tried.last() else { return };
    for branch in dead {
        let at = branch.condition.as_ref().map_or(branch.span, Condition::span);
        report.push(
            report
                .finding(at, "this branch is never taken")
                .label(last.span, "this branch has no condition, so none after it is tried")
                .note("only the first branch whose condition is true is taken")
                .help("move the branch without a condition to the end"),
        );
    }
}

/// The origin of an assumption.
#[derive(Clone, Copy)]
enum Reason<'a> {
    /// The condition of the branch itself.
    Own,
    /// An earlier branch is not taken.
    Earlier(GuardLiteral<'a>),
    /// A test on every path to the branch.
    Way(GuardLiteral<'a>),
}

impl<'a> Case<'a> {
    /// Proves that the case is never taken.
    fn dead(
        &self,
        cx: &AgentContext<'_, 'a>,
        first: &mut InitialValues<'a>,
        report: &Report<'_>,
    ) -> Option<Diagnostic> {
        let mut about = FxHashSet::default();
        let of_interest = self.own.as_ref().map_or(self.earlier.as_slice(), std::slice::from_ref);
        of_interest.iter().filter_map(|l| l.test.expr()).for_each(|e| roots(e, &mut about));
        let concerns = |literal: &GuardLiteral<'_>| match literal.test.expr() {
            Some(expr) => {
                let mut names = FxHashSet::default();
                roots(expr, &mut names);
                is_stable(expr) && !names.is_disjoint(&about)
            }
            // Natural-language conditions are equal only to themselves.
            None => of_interest.iter().any(|l| l.test.expr().is_none() && l.test == literal.test),
        };
        let mut query = cx.query();
        let mut reasons = Vec::new();
        let mut known = 0;
        for fact in cx.flow_facts().at(self.node) {
            let wanted = match fact {
                Fact::Test(literal) => concerns(&literal),
                Fact::Value(set) => about.contains(&set.target.root.value),
                Fact::Cleared(name) => about.contains(&name.value),
            };
            if wanted {
                known += 1;
                if let (Some(_), Fact::Test(literal)) = (query.assume_fact(fact), fact) {
                    reasons.push(Reason::Way(literal));
                }
            }
        }
        known += usize::from(first.add_to(&mut query, &about, self.node));
        for literal in self.earlier.iter().rev().filter(|l| concerns(l)).take(MAX_GUARDS) {
            query.assume(test(literal.test), literal.holds);
            reasons.push(Reason::Earlier(*literal));
        }
        // Another rule reports conditions that are unsatisfiable by themselves.
        if self.own.is_some() && reasons.is_empty() && known == 0 {
            return None;
        }
        if let Some(own) = self.own {
            if own.test.expr().is_some_and(|e| !is_stable(e)) {
                return None;
            }
            query.assume(test(own.test), true);
            reasons.push(Reason::Own);
        }
        let core = query.refute()?;
        self.explain(cx, &reasons, &core, report)
    }

    fn explain(
        &self,
        cx: &AgentContext<'_, '_>,
        reasons: &[Reason<'_>],
        core: &UnsatCore,
        report: &Report<'_>,
    ) -> Option<Diagnostic> {
        let own = self.own;
        let used: Vec<Reason<'_>> = core
            .assumptions
            .iter()
            .filter_map(|Assumption(at)| reasons.get(*at).copied())
            .collect();
        let earlier: Vec<Span> = used
            .iter()
            .filter_map(|r| if let Reason::Earlier(l) = r { Some(l.test.span()) } else { None })
            .collect();
        let path_guards: Vec<GuardLiteral<'_>> = used
            .iter()
            .filter_map(|r| if let Reason::Way(l) = r { Some(*l) } else { None })
            .collect();
        let is_own = used.iter().any(|r| matches!(r, Reason::Own));
        let set = core.facts.iter().any(|source| source.on_paths);
        // A path that contradicts itself is dead before this branch; other rules report the rest.
        if (!is_own && earlier.is_empty())
            || (is_own && earlier.is_empty() && path_guards.is_empty() && !set)
        {
            return None;
        }
        let at = own.map_or(self.span, |l| l.test.span());
        let message = match (self.what, own) {
            ("step", _) => "this step is always skipped".to_owned(),
            ("offer", _) => {
                format!("this {} is never available", cx.words(at).nouns.tool)
            }
            (what, Some(_)) => format!("this {what} is never taken"),
            (what, _) => format!("this {what} is never taken: those before it cover all cases"),
        };
        let mut finding = report.finding(at, message);
        match earlier.as_slice() {
            [] => {}
            [only] if is_own && path_guards.is_empty() && !set => {
                finding = finding
                    .at("whenever this is true …")
                    .label(*only, "… this is true as well, and comes first");
            }
            [only] if !is_own => {
                finding = finding.label(*only, "this is always true here, and comes first");
            }
            many => {
                if is_own {
                    finding = finding.at("whenever this is true …");
                }
                let label = match (is_own, many.len()) {
                    (true, 1) => "… this is true here as well, and comes first",
                    (true, _) => "… this is true, or another one that comes first",
                    (false, _) => "one of these is always true, and comes first",
                };
                for span in many {
                    finding = finding.label(*span, label);
                }
            }
        }
        for literal in &path_guards {
            let label = if literal.holds {
                "every path here requires that this is true"
            } else {
                "every path here requires that this is false"
            };
            finding = finding.label(literal.test.span(), label);
        }
        if !earlier.is_empty() {
            finding = finding.note("only the first branch whose condition is true is taken");
        }
        Some(explain_core(finding, core).help(match (own, earlier.is_empty()) {
            (Some(_), false) => "put the narrower condition first, or remove this branch",
            (Some(_), true) => "test something that is not decided yet, or remove this",
            (None, _) => "remove this branch, or narrow one of those before it",
        }))
    }
}
