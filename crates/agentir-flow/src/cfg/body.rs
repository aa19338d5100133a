//! Statements and jumps.

use super::build::{Builder, Ends, Open, decider};
use super::{DeadCode, DecidedBy, Edge, Element, Guard, NodeKind, Test, Why};
use crate::body::statement_span;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_ir::{Body, Branch, Call, Collect, Delegation, Jump, Statement, Target};
use petgraph::graph::NodeIndex;

impl<'a> Builder<'_, 'a> {
    /// Statements, one behind the other. Those behind one that always leaves get their nodes as well,
    /// below a node of kind `Dead` that nothing leads to.
    ///
    /// Bodies lie inside each other as deep as outlines nest, which is bounded (64 levels).
    pub(super) fn body(&mut self, body: &'a Body, ends: Ends<'a>) -> Ends<'a> {
        self.statements(&body.0, ends)
    }

    pub(super) fn statements(&mut self, all: &'a [Statement], mut ends: Ends<'a>) -> Ends<'a> {
        let mut told = false;
        for (at, statement) in all.iter().enumerate() {
            if ends.is_empty() {
                let dead = self.node(
                    NodeKind::Dead,
                    Element::Statement(statement),
                    statement_span(statement).unwrap_or_default(),
                );
                ends.push(Self::after(dead));
                if let Some(leaves) = at.checked_sub(1).and_then(|before| all.get(before))
                    && !told
                {
                    told = true;
                    self.cfg.dead.push(DeadCode { agent: self.id, leaves, first: statement });
                }
            }
            // `HANDOFF: agent` and then `THEN: step`: the step is for when the conversation is back.
            let comes_back = matches!(all.get(at + 1), Some(Statement::Goto(_)));
            ends = self.statement(statement, ends, comes_back);
        }
        ends
    }

    fn statement(
        &mut self,
        statement: &'a Statement,
        ends: Ends<'a>,
        comes_back: bool,
    ) -> Ends<'a> {
        let element = Element::Statement(statement);
        let span = statement_span(statement).unwrap_or_default();
        let kind = match statement {
            Statement::Set(_) => NodeKind::Set,
            Statement::Clear { .. } => NodeKind::Clear,
            Statement::Transform(_) => NodeKind::Transform,
            Statement::Log { .. } => NodeKind::Log,
            Statement::Respond(_) => NodeKind::Say,
            Statement::Instruct { .. } => NodeKind::Instruct,
            Statement::Other { .. } => NodeKind::Other,
            Statement::Collect(collect) => return self.collect(collect, element, ends),
            Statement::Call(call) => return self.call(call, element, ends),
            Statement::Check { condition, otherwise } => {
                let node = self.node(NodeKind::Check, element, span);
                self.attach(ends, node);
                let test = Test::Condition(condition);
                let pass = self.and(Guard::ALWAYS, test, true);
                let fail = self.and(Guard::ALWAYS, test, false);
                let decided = decider(condition);
                let fails = Edge::of(Why::Error).guarded(fail).decided(decided).by(element, span);
                let fails = vec![Open { from: node, edge: fails }];
                let mut ends = match otherwise {
                    Some(jump) => self.jump(jump, fails),
                    None => {
                        self.fallible.push(node);
                        fails
                    }
                };
                let edge = Edge::of(Why::Next).guarded(pass).decided(decided).by(element, span);
                ends.push(Open { from: node, edge });
                return ends;
            }
            Statement::Await { branches } => {
                let node = self.node(NodeKind::Await, element, span);
                self.attach(ends, node);
                if branches.is_empty() {
                    let edge = Edge::of(Why::Next).decided(DecidedBy::User).by(element, span);
                    return vec![Open { from: node, edge }];
                }
                return self.branches(node, branches, Guard::ALWAYS);
            }
            Statement::If { branches } => {
                let node = self.node(NodeKind::Branch, element, span);
                self.attach(ends, node);
                return self.branches(node, branches, Guard::ALWAYS);
            }
            Statement::Delegate(delegation) => return self.delegate(delegation, element, ends),
            Statement::Handoff(delegation) => {
                let returns = match delegation.returns {
                    Some(returns) => returns,
                    None => comes_back || self.declared_return(&delegation.agent.value),
                };
                let node = self.node(NodeKind::Handoff, element, span);
                self.attach(ends, node);
                return self.hand_over(node, &delegation.agent, returns);
            }
            Statement::Escalate { .. } => {
                let node = self.escalate(ends, element, span);
                return if comes_back { vec![came_back(node, element, span)] } else { Vec::new() };
            }
            Statement::Goto(jump) => return self.jump(jump, ends),
            Statement::Repeat { jump, times } => {
                let node = self.node(NodeKind::Branch, element, span);
                self.attach(ends, node);
                // No limit is written as zero.
                let limit = Some(*times).filter(|times| *times > 0);
                let again = Edge::of(Why::Retry).at_most(limit).by(element, span);
                let mut ends = self.jump(jump, vec![Open { from: node, edge: again }]);
                let out = Edge::of(Why::Exhausted).by(element, span);
                ends.push(Open { from: node, edge: out });
                return ends;
            }
        };
        self.then(ends, kind, element, span)
    }

    /// Whether a handoff to the agent is declared that comes back.
    fn declared_return(&self, agent: &'a str) -> bool {
        let agent = self.agent_name(agent);
        let declared = &self.agent.coordination.handoffs;
        declared.iter().any(|h| h.returns && self.agent_name(&h.to.value) == agent)
    }

    /// The ways on from branches at a node: each branch's own, and the one where none is taken.
    pub(super) fn branches(
        &mut self,
        node: NodeIndex,
        branches: &'a [Branch],
        before: Guard,
    ) -> Ends<'a> {
        let outcome = |branch: &'a Branch| {
            Edge::of(Why::Branch)
                .decided(DecidedBy::Outcome)
                .guarded(before)
                .by(Element::Branch(branch), branch.span)
        };
        // The lowering writes what follows success or failure of nothing this way.
        if let [only @ Branch { condition: None, .. }] = branches {
            let edge = outcome(only);
            let mut ends = self.body(&only.body, vec![Open { from: node, edge }]);
            ends.push(Open { from: node, edge: Edge { why: Why::Next, ..edge } });
            return ends;
        }
        let mut ends = Vec::new();
        let mut none = before;
        let mut decided_by = DecidedBy::Condition;
        let mut open = true;
        for branch in branches {
            let by = Element::Branch(branch);
            let start = match &branch.condition {
                // Behind an `ELSE` no branch is tried.
                _ if !open => Vec::new(),
                Some(condition) => {
                    let test = Test::Condition(condition);
                    let guard = self.and(none, test, true);
                    none = self.and(none, test, false);
                    if decider(condition) == DecidedBy::Model {
                        decided_by = DecidedBy::Model;
                    }
                    let edge = Edge::of(Why::Branch)
                        .decided(decider(condition))
                        .guarded(guard)
                        .by(by, condition.span());
                    vec![Open { from: node, edge }]
                }
                None => {
                    open = false;
                    let edge =
                        Edge::of(Why::Branch).decided(decided_by).guarded(none).by(by, branch.span);
                    vec![Open { from: node, edge }]
                }
            };
            ends.extend(self.body(&branch.body, start));
        }
        if open {
            let span = branches.first().map_or(Span::default(), |b| b.span);
            let edge = Edge { span, ..Edge::of(Why::Next).decided(decided_by).guarded(none) };
            ends.push(Open { from: node, edge });
        }
        ends
    }

    /// Asking for fields: again and again until they are filled, or until the attempts are used up.
    fn collect(
        &mut self,
        collect: &'a Collect,
        element: Element<'a>,
        mut ends: Ends<'a>,
    ) -> Ends<'a> {
        let span = collect.span;
        if collect.present.is_some() {
            ends = self.then(ends, NodeKind::Say, element, span);
        }
        let node = self.node(NodeKind::Collect, element, span);
        self.attach(ends, node);
        let done = self.and_if(Guard::ALWAYS, collect.complete_when.as_ref(), true);
        let missing = self.and_if(Guard::ALWAYS, collect.complete_when.as_ref(), false);
        let again =
            Edge::of(Why::Retry).decided(DecidedBy::User).guarded(missing).by(element, span);
        self.edge(node, node, again);
        let filled = Edge::of(Why::Next).decided(DecidedBy::User).guarded(done).by(element, span);
        let mut ends = self.body(&collect.on_success, vec![Open { from: node, edge: filled }]);
        if !collect.on_failure.is_empty() {
            let edge = Edge::of(Why::Error).decided(DecidedBy::Outcome).by(element, span);
            ends.extend(self.body(&collect.on_failure, vec![Open { from: node, edge }]));
        }
        ends
    }

    fn call(&mut self, call: &'a Call, element: Element<'a>, ends: Ends<'a>) -> Ends<'a> {
        let ends = self.checked_before_call(&call.tool, ends);
        let (ends, declined) = self.agreed_before_call(&call.tool, element, ends);
        let node = self.node(NodeKind::Call, element, call.span);
        self.attach(ends, node);
        let success = self.and_if(Guard::ALWAYS, call.success_when.as_ref(), true);
        let failure = self.and_if(Guard::ALWAYS, call.success_when.as_ref(), false);
        let edge = |why: Why, guard: Guard| {
            Edge::of(why).decided(DecidedBy::Outcome).guarded(guard).by(element, call.span)
        };
        let went_well = vec![Open { from: node, edge: edge(Why::Next, success) }];
        let mut ends = self.body(&call.on_success, went_well);
        let mut failed = vec![Open { from: node, edge: edge(Why::Error, failure) }];
        failed.extend(declined);
        ends.extend(self.body(&call.on_failure, failed));
        if call.on_result.is_empty() {
            return ends;
        }
        let result = self.node(NodeKind::Branch, element, call.span);
        self.attach(ends, result);
        self.branches(result, &call.on_result, Guard::ALWAYS)
    }

    fn delegate(
        &mut self,
        delegation: &'a Delegation,
        element: Element<'a>,
        ends: Ends<'a>,
    ) -> Ends<'a> {
        let span = delegation.agent.span;
        let node = self.node(NodeKind::Delegate, element, span);
        self.attach(ends, node);
        if self.digressing && delegation.returns != Some(true) {
            let exit = self.places.exit;
            self.edge(
                node,
                exit,
                Edge::of(Why::Finish).decided(DecidedBy::Outcome).by(element, span),
            );
        }
        self.hand_over(node, &delegation.agent, true)
    }

    /// The way into another agent and, if it comes back, what is behind.
    pub(super) fn hand_over(
        &mut self,
        node: NodeIndex,
        to: &'a Spanned<Name>,
        returns: bool,
    ) -> Ends<'a> {
        if !returns {
            self.transfer(node, to, None);
            return Vec::new();
        }
        let element = self.cfg.node(node).map_or(Element::None, |n| n.element);
        let back = self.node(NodeKind::Return, element, to.span);
        self.edge(
            node,
            back,
            Edge::of(Why::Return).decided(DecidedBy::Outcome).by(element, to.span),
        );
        self.transfer(node, to, Some(back));
        vec![Self::after(back)]
    }

    /// A person takes over; what happens when they are done is the agent's.
    pub(super) fn escalate(
        &mut self,
        ends: Ends<'a>,
        element: Element<'a>,
        span: Span,
    ) -> NodeIndex {
        let node = self.node(NodeKind::Escalate, element, span);
        self.attach(ends, node);
        if let Some(human) = self.places.human {
            self.edge(
                node,
                human,
                Edge::of(Why::Return).decided(DecidedBy::Outcome).by(element, span),
            );
        }
        node
    }

    /// The agent is done.
    pub(super) fn finish(
        &mut self,
        kind: NodeKind,
        ends: Ends<'a>,
        element: Element<'a>,
        span: Span,
    ) {
        let node = self.node(kind, element, span);
        self.attach(ends, node);
        let finish = self.places.finish;
        self.edge(node, finish, Edge::of(Why::Finish).by(element, span));
    }

    /// Leads the ends to where a jump leads. What is left goes on behind it.
    pub(super) fn jump(&mut self, jump: &'a Jump, ends: Ends<'a>) -> Ends<'a> {
        let (element, span) = (Element::Jump(jump), jump.span);
        match &jump.target {
            Target::Continue | Target::Redact => return ends,
            Target::Step(name) | Target::Backtrack(Some(name)) => {
                let to = self.step_node(name);
                self.lead(ends, to, Why::Jump, element, span);
            }
            Target::Complete => {
                self.finish(NodeKind::Complete, jumping(ends, element, span), element, span);
            }
            Target::Fail => {
                self.finish(NodeKind::Fail, jumping(ends, element, span), element, span);
            }
            Target::Retry | Target::RetryStep => {
                let (to, limit) = self.retry;
                let ends = ends
                    .into_iter()
                    .map(|o| Open { edge: o.edge.at_most(o.edge.limit.or(limit)), ..o });
                self.lead(ends.collect(), to, Why::Retry, element, span);
            }
            Target::Resume | Target::Backtrack(None) => {
                self.lead(ends, self.resume, Why::Return, element, span);
            }
            Target::Escalate => {
                self.escalate(jumping(ends, element, span), element, span);
            }
            Target::Handoff(to) => {
                let node = self.node(NodeKind::Handoff, element, span);
                self.attach(jumping(ends, element, span), node);
                if let Some(to) = to {
                    self.transfer(node, to, None);
                }
            }
            Target::Delegate(to) => {
                let node = self.node(NodeKind::Delegate, element, span);
                self.attach(jumping(ends, element, span), node);
                let back = match to {
                    Some(to) => self.hand_over(node, to, true),
                    None => vec![came_back(node, element, span)],
                };
                self.lead(back, self.resume, Why::Return, element, span);
            }
            Target::Block => {
                let wait = self.places.wait;
                self.lead(ends, wait, Why::Jump, element, span);
            }
            Target::AskUser(choices) => return self.ask(choices, ends, element, span),
        }
        Vec::new()
    }

    /// `ASK_USER {retry, escalate}`: what the choices mean is only known for some.
    fn ask(
        &mut self,
        choices: &'a [Spanned<Name>],
        ends: Ends<'a>,
        element: Element<'a>,
        span: Span,
    ) -> Ends<'a> {
        let node = self.node(NodeKind::Await, element, span);
        self.attach(jumping(ends, element, span), node);
        let mut on = Vec::new();
        for choice in choices {
            let by = Element::Name(choice);
            let edge = Edge::of(Why::Choice).decided(DecidedBy::User).by(by, choice.span);
            let chosen = vec![Open { from: node, edge }];
            match choice.value.to_ascii_lowercase().as_str() {
                "retry" => {
                    let (to, limit) = self.retry;
                    self.edge(node, to, Edge { why: Why::Retry, ..edge.at_most(limit) });
                }
                "escalate" => {
                    self.escalate(chosen, by, choice.span);
                }
                "continue" => on.extend(chosen),
                _ => {
                    let unknown = self.node(NodeKind::Unknown, by, choice.span);
                    self.attach(chosen, unknown);
                }
            }
        }
        let edge = Edge::of(Why::Next).decided(DecidedBy::User).by(element, span);
        on.push(Open { from: node, edge });
        on
    }
}

/// The ends with the jump as their reason.
fn jumping<'a>(ends: Ends<'a>, by: Element<'a>, span: Span) -> Ends<'a> {
    ends.into_iter()
        .map(|open| match open.edge.why {
            Why::Next | Why::Branch => {
                Open { edge: Edge { why: Why::Jump, by, span, ..open.edge }, ..open }
            }
            _ => open,
        })
        .collect()
}

fn came_back<'a>(node: NodeIndex, element: Element<'a>, span: Span) -> Open<'a> {
    let edge = Edge::of(Why::Return).decided(DecidedBy::Outcome).by(element, span);
    Open { from: node, edge }
}
