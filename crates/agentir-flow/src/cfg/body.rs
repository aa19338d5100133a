//! Statements and jumps.

use super::build::{Builder, OpenEdge, OpenEdges, decided_by_condition};
use super::{DeadCode, DecidedBy, Edge, EdgeKind, Guard, NodeKind, Origin, Test};
use crate::body::statement_span;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_ir::{Body, Branch, Call, Collect, Delegation, Jump, Phase, Statement, Target};
use petgraph::graph::NodeIndex;

impl<'a> Builder<'_, 'a> {
    /// Builds a list of statements. Dead statements get nodes too, below a node of kind `Dead`
    /// without predecessors.
    ///
    /// The recursion is bounded: outlines nest at most 64 levels deep.
    pub(super) fn body(&mut self, body: &'a Body, ends: OpenEdges<'a>) -> OpenEdges<'a> {
        self.statements(&body.0, ends)
    }

    pub(super) fn statements(
        &mut self,
        all: &'a [Statement],
        mut ends: OpenEdges<'a>,
    ) -> OpenEdges<'a> {
        let mut reported = false;
        let comes_back = comes_back(all);
        for ((at, statement), comes_back) in all.iter().enumerate().zip(comes_back) {
            if ends.is_empty() {
                let dead = self.node(
                    NodeKind::Dead,
                    Origin::Statement(statement),
                    statement_span(statement).unwrap_or_default(),
                );
                ends.push(Self::fallthrough(dead));
                if let Some(leaves) = at.checked_sub(1).and_then(|before| all.get(before))
                    && !reported
                {
                    reported = true;
                    self.cfg.dead.push(DeadCode { agent: self.id, leaves, first: statement });
                }
            }
            ends = self.statement(statement, ends, comes_back);
        }
        ends
    }

    fn statement(
        &mut self,
        statement: &'a Statement,
        ends: OpenEdges<'a>,
        comes_back: bool,
    ) -> OpenEdges<'a> {
        let origin = Origin::Statement(statement);
        let span = statement_span(statement).unwrap_or_default();
        let kind = match statement {
            Statement::Set(_) => NodeKind::Set,
            Statement::Clear { .. } => NodeKind::Clear,
            Statement::Transform(_) => NodeKind::Transform,
            Statement::Log { .. } => NodeKind::Log,
            Statement::Respond(_) => NodeKind::Say,
            Statement::Instruct { .. } => NodeKind::Instruct,
            Statement::Other { .. } => NodeKind::Other,
            Statement::Collect(collect) => return self.collect(collect, origin, ends),
            Statement::Call(call) => return self.call(call, origin, ends),
            Statement::Check { condition, otherwise } => {
                let node = self.node(NodeKind::Check, origin, span);
                self.connect(ends, node);
                let test = Test::Condition(condition);
                let pass = self.extend_guard(Guard::ALWAYS, test, true);
                let fail = self.extend_guard(Guard::ALWAYS, test, false);
                let decided = decided_by_condition(condition);
                let fails =
                    Edge::of(EdgeKind::Error).guarded(fail).decided(decided).at(origin, span);
                let fails = vec![OpenEdge { from: node, edge: fails }];
                let mut ends = match otherwise {
                    Some(jump) => self.jump(jump, fails),
                    None => {
                        self.fallible.push(node);
                        fails
                    }
                };
                let edge = Edge::of(EdgeKind::Next).guarded(pass).decided(decided).at(origin, span);
                ends.push(OpenEdge { from: node, edge });
                return ends;
            }
            Statement::Await { branches } => {
                let node = self.node(NodeKind::Await, origin, span);
                self.connect(ends, node);
                if branches.is_empty() {
                    let edge = Edge::of(EdgeKind::Next).decided(DecidedBy::User).at(origin, span);
                    return vec![OpenEdge { from: node, edge }];
                }
                return self.branches(node, branches, Guard::ALWAYS);
            }
            Statement::If { branches } => {
                let node = self.node(NodeKind::Branch, origin, span);
                self.connect(ends, node);
                return self.branches(node, branches, Guard::ALWAYS);
            }
            Statement::Delegate(delegation) => return self.delegate(delegation, origin, ends),
            Statement::Handoff(delegation) => {
                let returns = match delegation.returns {
                    Some(returns) => returns,
                    None => comes_back || self.declared_return(&delegation.agent.value),
                };
                let node = self.node(NodeKind::Handoff, origin, span);
                self.connect(ends, node);
                return self.hand_over(node, &delegation.agent, returns);
            }
            Statement::Escalate { .. } => {
                let node = self.escalate(ends, origin, span);
                return if comes_back { vec![return_edge(node, origin, span)] } else { Vec::new() };
            }
            Statement::Goto(jump) => return self.jump(jump, ends),
            Statement::Repeat { jump, times } => {
                let node = self.node(NodeKind::Branch, origin, span);
                self.connect(ends, node);
                let again = Edge::of(EdgeKind::Retry).at_most(Some(*times)).at(origin, span);
                let mut ends = self.jump(jump, vec![OpenEdge { from: node, edge: again }]);
                let out = Edge::of(EdgeKind::Exhausted).at(origin, span);
                ends.push(OpenEdge { from: node, edge: out });
                return ends;
            }
        };
        self.append(ends, kind, origin, span)
    }

    /// Whether a returning handoff to the agent is declared.
    fn declared_return(&self, agent: &'a str) -> bool {
        let agent = self.agent_name(agent);
        let declared = &self.agent.coordination.handoffs;
        declared.iter().any(|h| h.returns && self.agent_name(&h.to.value) == agent)
    }

    /// Builds branches. Returns the open edges of each branch and of the case where none is taken.
    pub(super) fn branches(
        &mut self,
        node: NodeIndex,
        branches: &'a [Branch],
        before: Guard,
    ) -> OpenEdges<'a> {
        let outcome = |branch: &'a Branch| {
            Edge::of(EdgeKind::Branch)
                .decided(DecidedBy::Outcome)
                .guarded(before)
                .at(Origin::Branch(branch), branch.span)
        };
        // Lowering produces this form for `ON_SUCCESS` or `ON_FAILURE` without a preceding call.
        if let [only @ Branch { condition: None, .. }] = branches {
            let edge = outcome(only);
            let mut ends = self.body(&only.body, vec![OpenEdge { from: node, edge }]);
            ends.push(OpenEdge { from: node, edge: Edge { kind: EdgeKind::Next, ..edge } });
            return ends;
        }
        let mut ends = Vec::new();
        let mut none = before;
        let mut decided_by = DecidedBy::Condition;
        let mut open = true;
        for branch in branches {
            let origin = Origin::Branch(branch);
            let start = match &branch.condition {
                // Branches after an `ELSE` are never tried.
                _ if !open => Vec::new(),
                Some(condition) => {
                    let test = Test::Condition(condition);
                    let guard = self.extend_guard(none, test, true);
                    none = self.extend_guard(none, test, false);
                    if decided_by_condition(condition) == DecidedBy::Model {
                        decided_by = DecidedBy::Model;
                    }
                    let edge = Edge::of(EdgeKind::Branch)
                        .decided(decided_by_condition(condition))
                        .guarded(guard)
                        .at(origin, condition.span());
                    vec![OpenEdge { from: node, edge }]
                }
                None => {
                    open = false;
                    let edge = Edge::of(EdgeKind::Branch)
                        .decided(decided_by)
                        .guarded(none)
                        .at(origin, branch.span);
                    vec![OpenEdge { from: node, edge }]
                }
            };
            ends.extend(self.body(&branch.body, start));
        }
        if open {
            let span = branches.first().map_or(Span::default(), |b| b.span);
            let edge = Edge { span, ..Edge::of(EdgeKind::Next).decided(decided_by).guarded(none) };
            ends.push(OpenEdge { from: node, edge });
        }
        ends
    }

    /// Builds `COLLECT`: a loop until the fields are filled or the attempts are exhausted.
    fn collect(
        &mut self,
        collect: &'a Collect,
        origin: Origin<'a>,
        mut ends: OpenEdges<'a>,
    ) -> OpenEdges<'a> {
        let span = collect.span;
        if collect.present.is_some() {
            ends = self.append(ends, NodeKind::Say, origin, span);
        }
        let node = self.node(NodeKind::Collect, origin, span);
        self.connect(ends, node);
        let done = self.extend_guard_if(Guard::ALWAYS, collect.complete_when.as_ref(), true);
        let missing = self.extend_guard_if(Guard::ALWAYS, collect.complete_when.as_ref(), false);
        let again =
            Edge::of(EdgeKind::Retry).decided(DecidedBy::User).guarded(missing).at(origin, span);
        self.edge(node, node, again);
        let filled =
            Edge::of(EdgeKind::Next).decided(DecidedBy::User).guarded(done).at(origin, span);
        let mut ends = self.body(&collect.on_success, vec![OpenEdge { from: node, edge: filled }]);
        if !collect.on_failure.is_empty() {
            let edge = Edge::of(EdgeKind::Error).decided(DecidedBy::Outcome).at(origin, span);
            ends.extend(self.body(&collect.on_failure, vec![OpenEdge { from: node, edge }]));
        } else if let Some(jump) = self.step.and_then(|step| step.on_exhausted.as_ref()) {
            // The attempts of the step are those of its questions, too.
            self.leave_exhausted(node, jump, origin);
        }
        ends
    }

    fn call(&mut self, call: &'a Call, origin: Origin<'a>, ends: OpenEdges<'a>) -> OpenEdges<'a> {
        let ends = self.check_before_call(&call.tool, ends);
        let (ends, declined) = self.confirm_before_call(&call.tool, origin, ends);
        let node = self.node(NodeKind::Call, origin, call.span);
        self.connect(ends, node);
        let success = self.extend_guard_if(Guard::ALWAYS, call.success_when.as_ref(), true);
        let failure = self.extend_guard_if(Guard::ALWAYS, call.success_when.as_ref(), false);
        let edge = |kind: EdgeKind, guard: Guard| {
            Edge::of(kind).decided(DecidedBy::Outcome).guarded(guard).at(origin, call.span)
        };
        let went_well = vec![OpenEdge { from: node, edge: edge(EdgeKind::Next, success) }];
        let mut ends = self.callback(&call.on_success, went_well);
        let mut failed = vec![OpenEdge { from: node, edge: edge(EdgeKind::Error, failure) }];
        failed.extend(declined);
        ends.extend(self.body(&call.on_failure, failed));
        if call.on_result.is_empty() {
            return ends;
        }
        let result = self.node(NodeKind::Branch, origin, call.span);
        self.connect(ends, result);
        self.branches(result, &call.on_result, Guard::ALWAYS)
    }

    /// Builds what follows a call and reads its outputs.
    pub(super) fn callback(&mut self, body: &'a Body, ends: OpenEdges<'a>) -> OpenEdges<'a> {
        self.callbacks += 1;
        let ends = self.body(body, ends);
        self.callbacks -= 1;
        ends
    }

    fn delegate(
        &mut self,
        delegation: &'a Delegation,
        origin: Origin<'a>,
        ends: OpenEdges<'a>,
    ) -> OpenEdges<'a> {
        let span = delegation.agent.span;
        let node = self.node(NodeKind::Delegate, origin, span);
        self.connect(ends, node);
        if self.in_digression && delegation.returns != Some(true) {
            let exit = self.shared.exit;
            self.edge(
                node,
                exit,
                Edge::of(EdgeKind::Finish).decided(DecidedBy::Outcome).at(origin, span),
            );
        }
        self.hand_over(node, &delegation.agent, true)
    }

    /// Builds the transfer into another agent and, if control returns, the continuation.
    pub(super) fn hand_over(
        &mut self,
        node: NodeIndex,
        to: &'a Spanned<Name>,
        returns: bool,
    ) -> OpenEdges<'a> {
        if !returns {
            self.transfer(node, to, None);
            return Vec::new();
        }
        let origin = self.cfg.node(node).map_or(Origin::None, |n| n.origin);
        let back = self.node(NodeKind::Return, origin, to.span);
        self.edge(
            node,
            back,
            Edge::of(EdgeKind::Return).decided(DecidedBy::Outcome).at(origin, to.span),
        );
        self.transfer(node, to, Some(back));
        vec![Self::fallthrough(back)]
    }

    /// Continues as if nothing had failed: the edges of failures, which lead elsewhere than others do, end here.
    pub(super) fn joined(
        &mut self,
        ends: OpenEdges<'a>,
        origin: Origin<'a>,
        span: Span,
    ) -> OpenEdges<'a> {
        if !ends.iter().any(|open| matches!(open.edge.kind, EdgeKind::Error | EdgeKind::Exhausted))
        {
            return ends;
        }
        let on = self.node(NodeKind::Branch, origin, span);
        self.connect(ends, on);
        vec![Self::fallthrough(on)]
    }

    /// Builds an escalation to a person. The agent as a whole defines what follows it.
    pub(super) fn escalate(
        &mut self,
        ends: OpenEdges<'a>,
        origin: Origin<'a>,
        span: Span,
    ) -> NodeIndex {
        let node = self.node(NodeKind::Escalate, origin, span);
        self.connect(ends, node);
        if let Some(human) = self.shared.human {
            self.edge(
                node,
                human,
                Edge::of(EdgeKind::Return).decided(DecidedBy::Outcome).at(origin, span),
            );
        }
        node
    }

    /// Builds the end of the agent.
    pub(super) fn finish(
        &mut self,
        kind: NodeKind,
        ends: OpenEdges<'a>,
        origin: Origin<'a>,
        span: Span,
    ) {
        let node = self.node(kind, origin, span);
        self.connect(ends, node);
        let finish = self.shared.finish;
        self.edge(node, finish, Edge::of(EdgeKind::Finish).at(origin, span));
    }

    /// Connects the open edges to the target of a jump. Returns the edges that stay open.
    pub(super) fn jump(&mut self, jump: &'a Jump, ends: OpenEdges<'a>) -> OpenEdges<'a> {
        let (origin, span) = (Origin::Jump(jump), jump.span);
        match &jump.target {
            Target::Respond if jump.reason.is_some() => {
                return self.append(ends, NodeKind::Say, origin, span);
            }
            Target::Continue | Target::Respond | Target::Redact => return ends,
            Target::Step(name) | Target::Backtrack(Some(name)) => {
                let to = self.step_node(name);
                self.connect_as(ends, to, EdgeKind::Jump, origin, span);
            }
            Target::Complete => {
                self.finish(NodeKind::Complete, as_jump(ends, origin, span), origin, span);
            }
            Target::Fail => {
                self.finish(NodeKind::Fail, as_jump(ends, origin, span), origin, span);
            }
            Target::Retry | Target::RetryStep => {
                let (to, limit) = self.retry;
                let ends = ends.into_iter().map(|open| {
                    // A handler that only repeats has no node of its own.
                    let handler =
                        self.cfg.node(open.from).is_some_and(|n| n.kind == NodeKind::Error);
                    let kind = if handler { EdgeKind::Retry } else { open.edge.kind };
                    let edge = Edge { kind, ..open.edge };
                    OpenEdge { edge: edge.at_most(open.edge.limit.or(limit)), ..open }
                });
                let ends = ends.collect();
                self.connect_as(ends, to, EdgeKind::Retry, origin, span);
            }
            Target::Resume | Target::Backtrack(None) => {
                self.connect_as(ends, self.resume, EdgeKind::Return, origin, span);
            }
            Target::Escalate => {
                self.escalate(as_jump(ends, origin, span), origin, span);
            }
            Target::Handoff(to) => {
                let node = self.node(NodeKind::Handoff, origin, span);
                self.connect(as_jump(ends, origin, span), node);
                if let Some(to) = to {
                    self.transfer(node, to, None);
                }
            }
            Target::Delegate(to) => {
                let node = self.node(NodeKind::Delegate, origin, span);
                self.connect(as_jump(ends, origin, span), node);
                let back = match to {
                    Some(to) => self.hand_over(node, to, true),
                    None => vec![return_edge(node, origin, span)],
                };
                self.connect_as(back, self.resume, EdgeKind::Return, origin, span);
            }
            Target::Block => {
                let wait = self.shared.wait;
                self.connect_as(ends, wait, EdgeKind::Jump, origin, span);
            }
            Target::AskUser(choices) => return self.ask(choices, ends, origin, span),
        }
        Vec::new()
    }

    /// `ASK_USER {retry, escalate}`: only some of the choices have a defined meaning.
    fn ask(
        &mut self,
        choices: &'a [Spanned<Name>],
        ends: OpenEdges<'a>,
        origin: Origin<'a>,
        span: Span,
    ) -> OpenEdges<'a> {
        let node = self.node(NodeKind::Await, origin, span);
        self.connect(as_jump(ends, origin, span), node);
        let mut on = Vec::new();
        for choice in choices {
            let origin = Origin::Name(choice);
            let edge = Edge::of(EdgeKind::Choice).decided(DecidedBy::User).at(origin, choice.span);
            let chosen = vec![OpenEdge { from: node, edge }];
            match choice.value.to_ascii_lowercase().as_str() {
                "retry" => {
                    let (to, limit) = self.retry;
                    self.edge(node, to, Edge { kind: EdgeKind::Retry, ..edge.at_most(limit) });
                }
                "escalate" => {
                    self.escalate(chosen, origin, choice.span);
                }
                "continue" => on.extend(chosen),
                _ => {
                    let unknown = self.node(NodeKind::Unknown, origin, choice.span);
                    self.connect(chosen, unknown);
                }
            }
        }
        let edge = Edge::of(EdgeKind::Next).decided(DecidedBy::User).at(origin, span);
        on.push(OpenEdge { from: node, edge });
        on
    }
}

/// Whether each of some statements is followed by a jump. In `HANDOFF: agent` followed by `THEN: step`, the step runs after
/// control returns, and so does what is assigned in between.
fn comes_back(all: &[Statement]) -> Vec<bool> {
    let mut followed = vec![false; all.len()];
    let mut jumps = false;
    for (statement, followed) in all.iter().zip(&mut followed).rev() {
        *followed = jumps;
        if !statement.phase().is_some_and(Phase::keeps_its_place) {
            jumps = matches!(statement, Statement::Goto(_));
        }
    }
    followed
}

/// Returns the edges with kind `Jump`, unless they have a more specific kind.
fn as_jump<'a>(ends: OpenEdges<'a>, origin: Origin<'a>, span: Span) -> OpenEdges<'a> {
    ends.into_iter()
        .map(|open| match open.edge.kind {
            EdgeKind::Next | EdgeKind::Branch => {
                OpenEdge { edge: Edge { kind: EdgeKind::Jump, origin, span, ..open.edge }, ..open }
            }
            _ => open,
        })
        .collect()
}

fn return_edge<'a>(node: NodeIndex, origin: Origin<'a>, span: Span) -> OpenEdge<'a> {
    let edge = Edge::of(EdgeKind::Return).decided(DecidedBy::Outcome).at(origin, span);
    OpenEdge { from: node, edge }
}
