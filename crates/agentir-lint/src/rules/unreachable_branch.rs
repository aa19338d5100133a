//! A branch that is never taken: because of earlier branches, of facts on every path to it, or of
//! the values of its variables.

use super::unsatisfiable_condition;
use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::{branch_guard, branches, is_stable, roots, test};
use agentir_analysis::proof::{Assumption, QueryBuilder, UnsatCore};
use agentir_analysis::values::When;
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Span};
use agentir_expr::{Condition, ConditionKind, ExprKind};
use agentir_flow::cfg::{Fact, GuardLiteral, NodeKind, Origin, Test};
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
    let mut dead = |case: Case<'a>| {
        if cx.owns(case.span)
            && let Some(finding) = case.dead(cx, report)
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
            let (node, what, when) = (NodeIndex::end(), "digression", When::After);
            dead(Case { node, when, what, span: digression.span, earlier, own });
        }
    }
    for at in agent_cfg.nodes() {
        let Some(node) = cfg.node(at) else { continue };
        let all = branches(node);
        for (index, branch) in all.iter().enumerate() {
            let Some((earlier, own)) = branch_guard(all, index) else { break };
            let when = When::After;
            dead(Case { node: at, when, what: "branch", span: branch.span, earlier, own });
        }
        for (_, edge) in cfg.successors(at) {
            let what = match (edge.origin, node.origin) {
                (Origin::ToolBinding(_), _) => "offer",
                (Origin::Digression(_), _) => "digression",
                (_, Origin::Step(_)) => "step",
                (Origin::Completion(_), _) => "completion",
                (Origin::Handoff(_), _) => "handoff",
                (Origin::Delegate(_), _) => "delegation",
                (Origin::Rule(_), _) => "route",
                (Origin::Trigger(_), _) => "escalation",
                _ => continue,
            };
            let own = cfg.last_literal(edge.guard).filter(|l| l.holds);
            if own.is_some() {
                let (when, earlier) = (When::After, Vec::new());
                dead(Case { node: at, when, what, span: edge.span, earlier, own });
            }
        }
    }
    instructions(cx, &mut seen, report);
}

/// Reports instructions that are never given. One that is nested in others has the conditions of all.
fn instructions<'a>(
    cx: &AgentContext<'_, 'a>,
    seen: &mut FxHashSet<Span>,
    report: &mut Report<'_>,
) {
    let Some(agent_cfg) = cx.agent_cfg() else { return };
    let graph = cx.program.graph();
    let chooses = |node: &NodeIndex| graph.node(*node).is_some_and(|n| n.kind == NodeKind::Choose);
    let Some(node) = agent_cfg.nodes().find(chooses) else { return };
    let at = (node, When::Before);
    for instruction in &cx.agent.identity.instructions {
        let Some(when) = instruction.when.as_ref() else { continue };
        let Some(expr) = when.expr() else { continue };
        // Another rule reports a condition that no values fulfil, where it was written as one.
        let impossible = cx.prove_outcome(expr, false).is_some();
        if impossible && !unsatisfiable_condition::is_nested(instruction, when) {
            continue;
        }
        let parts = match &expr.kind {
            ExprKind::And(parts) => parts.as_slice(),
            _ => std::slice::from_ref(expr),
        };
        let decides = parts.iter().enumerate().position(|(index, part)| {
            let before = parts.get(..index).unwrap_or_default();
            cx.values_exclude(at, before.iter().map(|e| (e, true)), (part, true))
        });
        let contradicts = || {
            (1..parts.len()).find(|last| {
                let mut query = cx.query();
                parts.iter().take(last + 1).for_each(|part| {
                    query.assume(part, true);
                });
                query.refute().is_some()
            })
        };
        let decides = decides.or_else(|| impossible.then(contradicts).flatten());
        let Some(decides) = decides else { continue };
        let Some(part) = parts.get(decides).filter(|part| is_stable(part)) else { continue };
        // The part of an `else` stands where its `if` does.
        let span = match &part.kind {
            ExprKind::Unary { operand, .. } if decides > 0 && operand.span == part.span => {
                instruction.text.text.span
            }
            _ => part.span,
        };
        if !cx.owns(span) || !seen.insert(span) {
            continue;
        }
        let mut query = cx.query();
        for part in parts.iter().take(decides + 1) {
            let _ = query.assume(part, true);
            cx.program.values().add_to(&mut query, cx.id, at, part);
        }
        let core = query.refute().filter(|core| !core.facts.is_empty()).unwrap_or_else(|| {
            let tests = parts.iter().take(decides + 1);
            UnsatCore::of_facts(cx.program.values().together(cx.id, at, tests))
        });
        let finding = report
            .finding(span, "this instruction is never given")
            .help("test for something that can be the case, or remove this");
        report.push(explain_core(finding, &core));
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
        let (node, own, when) = (NodeIndex::end(), literal(true), When::After);
        let before = earlier.clone();
        dead(Case { node, when, what: "outcome", span: outcome.span, earlier: before, own });
        // Nothing is known after an outcome that always applies.
        let Some(not) = literal(false) else { return };
        earlier.push(not);
    }
}

/// A digression is compared with this many of those before it.
const MAX_EARLIER_DIGRESSIONS: usize = 128;

/// Returns the lists of digressions of an agent, each digression with the earlier ones for the same
/// intent.
fn digressions(agent: &Agent) -> Vec<(&Digression, Vec<&Digression>)> {
    let Some(flow) = &agent.flow else { return Vec::new() };
    let steps = flow.definitions.values().flat_map(|s| [&s.digressions, &s.sub_intents]);
    let mut found = Vec::new();
    for all in std::iter::once(&flow.global_digressions).chain(steps) {
        for (at, digression) in all.iter().enumerate().filter(|(_, d)| d.intent.is_some()) {
            let first = at.saturating_sub(MAX_EARLIER_DIGRESSIONS);
            let before = all.get(first..at).unwrap_or_default();
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
    /// Whether it is tried before the node has any effect.
    when: When,
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

/// Whether a condition could not be read. Nothing is known of it, not even that it equals itself.
fn is_invalid(test: Test<'_>) -> bool {
    matches!(test, Test::Condition(condition) if matches!(condition.kind, ConditionKind::Invalid))
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
    fn dead(&self, cx: &AgentContext<'_, 'a>, report: &Report<'_>) -> Option<Diagnostic> {
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
            None => of_interest
                .iter()
                .any(|l| l.test.expr().is_none() && l.test == literal.test && !is_invalid(l.test)),
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
        known += usize::from(self.add_values(cx, &mut query).is_some());
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
        let core = match query.refute() {
            Some(core) => core,
            // What variables may be together is no fact about one of them.
            None => self.together(cx, &reasons)?,
        };
        self.explain(cx, &reasons, &core, report)
    }

    /// Whether what the variables hold here excludes the case.
    fn is_excluded(&self, cx: &AgentContext<'_, 'a>) -> bool {
        let Some(last) = self.own.or_else(|| self.earlier.last().copied()) else { return false };
        let before = match self.own {
            Some(_) => self.earlier.as_slice(),
            None => self.earlier.split_last().map_or(&[][..], |(_, before)| before),
        };
        let tests = |literal: &GuardLiteral<'a>| Some((literal.test.expr()?, literal.holds));
        let Some(last) = tests(&last) else { return false };
        cx.values_exclude((self.node, self.when), before.iter().filter_map(tests), last)
    }

    /// Adds what the variables hold here to a query, if that excludes the case.
    fn add_values(
        &self,
        cx: &AgentContext<'_, 'a>,
        query: &mut QueryBuilder<'_, 'a>,
    ) -> Option<()> {
        if !self.is_excluded(cx) {
            return None;
        }
        let (values, at) = (cx.program.values(), (self.node, self.when));
        let all = self.earlier.iter().chain(&self.own).filter_map(|literal| literal.test.expr());
        all.fold(false, |any, expr| values.add_to(query, cx.id, at, expr) | any).then_some(())
    }

    /// What excludes the case if no fact about a single variable does.
    fn together(&self, cx: &AgentContext<'_, 'a>, reasons: &[Reason<'a>]) -> Option<UnsatCore> {
        if !self.is_excluded(cx) {
            return None;
        }
        let own = reasons.iter().position(|reason| matches!(reason, Reason::Own));
        let last = reasons.iter().rposition(|reason| matches!(reason, Reason::Earlier(_)));
        let tests = self.earlier.iter().chain(&self.own).filter_map(|l| l.test.expr());
        let facts = cx.program.values().together(cx.id, (self.node, self.when), tests);
        let mut core = UnsatCore::of_facts(facts);
        core.assumptions.extend(own.or(last).map(Assumption));
        Some(core)
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
