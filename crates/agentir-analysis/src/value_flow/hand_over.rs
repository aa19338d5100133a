//! What agents give each other.

use super::flow::Flow;
use crate::program::AgentAnalysis;
use crate::values::expr::Frame;
use crate::values::scope::{own_name, own_root};
use crate::values::set::{SourceKind, ValueSet};
use crate::values::state::State;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, Path};
use agentir_flow::cfg::{AgentId, Node, NodeKind, Origin};
use agentir_ir::{Statement, VariableBinding};
use rustc_hash::FxHashMap;
use std::rc::Rc;

impl<'p, 'a> Flow<'p, 'a> {
    /// Gives the variables that a transfer passes to the agent that it enters.
    pub(super) fn hand_over(
        &mut self,
        at: usize,
        node: &Node<'a>,
        before: &Rc<State>,
        frame: &Frame<'_>,
        cx: &AgentAnalysis<'p, 'a>,
    ) {
        if !matches!(node.kind, NodeKind::Handoff | NodeKind::Delegate | NodeKind::FanOut) {
            return;
        }
        let transfers: Vec<(AgentId, &'a str)> = self
            .cfg
            .transfers()
            .iter()
            .filter(|t| t.node.index() == at)
            .filter_map(|t| Some((t.target?, t.to)))
            .collect();
        for (target, name) in transfers {
            let Some(theirs) = self.scope(target).cloned() else { continue };
            let mut passed: FxHashMap<usize, ValueSet> = FxHashMap::default();
            let mut give = |name: &str, set: ValueSet, span: Span| {
                if let Some(slot) = theirs.named(name) {
                    let set = set.resting_on(span, SourceKind::Passed);
                    passed.entry(slot).or_insert_with(ValueSet::none).join(&set);
                }
            };
            // Arguments are evaluated before anything can change them.
            let value = |expr: &Expr| frame.value(expr, before, 0);
            let bind = |b: &VariableBinding| match b.by_reference {
                true => ValueSet::any(),
                false => value(&b.value),
            };
            let own = |name: &Spanned<agentir_expr::Name>| {
                frame.path(&Path::dotted(&name.value, name.span), before)
            };
            let agent = cx.agent;
            let aliases = agent.aliases();
            let to_it = |to: &'a Spanned<agentir_expr::Name>| aliases.resolve(to).value == name;
            if let Origin::Statement(Statement::Delegate(to) | Statement::Handoff(to)) = node.origin
            {
                to.bindings.iter().for_each(|b| give(&b.variable.value, bind(b), b.variable.span));
            }
            for handoff in agent.coordination.handoffs.iter().filter(|h| to_it(&h.to)) {
                let context = &handoff.context;
                for passed in &context.pass {
                    give(own_name(&passed.name.value), own(&passed.name), passed.name.span);
                }
                context
                    .set
                    .iter()
                    .for_each(|s| give(&own_root(&s.target), value(&s.value), s.span));
                context
                    .bindings
                    .iter()
                    .for_each(|b| give(&b.variable.value, bind(b), b.variable.span));
                for grant in &context.memory_grants {
                    give(own_name(&grant.path.value), ValueSet::any(), grant.path.span);
                }
            }
            for delegate in agent.coordination.delegates.iter().filter(|d| to_it(&d.agent)) {
                for (name, input) in &delegate.input {
                    give(own_name(&name.value), value(input), name.span);
                }
            }
            for rule in agent.routing.iter().flat_map(|r| &r.rules) {
                if rule.to.as_ref().is_some_and(to_it) {
                    rule.pass.iter().for_each(|n| give(own_name(&n.value), own(n), n.span));
                }
            }
            let Some(other) = self.agents.get(target.index()).copied() else { continue };
            let sets = theirs.names.iter().map(|name| self.initial(&other, name)).collect();
            let mut state = State::new(&theirs, sets);
            // Who is entered again has what it had, but for what it is given.
            if let Some(left) = self.left.get(target.index()).and_then(Option::as_ref) {
                state.join(left, None);
            }
            for (slot, set) in passed {
                let set = match state.get(slot).cloned() {
                    Some(mut known) if set.unset => {
                        known.join(&set);
                        known
                    }
                    _ => set,
                };
                state.put(&theirs, slot, set);
            }
            self.enter(target, Rc::new(state));
        }
    }
}
