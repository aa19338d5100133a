//! What agents give each other.

use super::flow::Flow;
use crate::program::AgentAnalysis;
use crate::values::expr::Frame;
use crate::values::scope::{Scope, own_name, own_root};
use crate::values::set::{SourceKind, ValueSet};
use crate::values::state::State;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, Name, Path};
use agentir_flow::cfg::{Node, NodeKind, Origin};
use agentir_ir::{Agent, Handoff, Statement, VariableBinding};
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
        let transfers = self.transfers.get(&at).map(Rc::clone);
        for (target, name) in transfers.iter().flat_map(|all| all.iter().copied()) {
            let Some(theirs) = self.scope(target).cloned() else { continue };
            let mut given = Given { theirs: &theirs, sets: FxHashMap::default() };
            let asks = node.kind != NodeKind::Handoff;
            collect(&mut given, cx.agent, node.origin, name, asks, frame, before);
            let Some(other) = self.agents.get(target.index()).copied() else { continue };
            let sets = theirs.names.iter().map(|name| self.initial(&other, name)).collect();
            let mut state = State::new(&theirs, sets);
            // Who is entered again has what it had, but for what it is given.
            if let Some(left) = self.left.get(target.index()).and_then(Option::as_ref) {
                state.join(left, None);
            }
            for (slot, (set, always)) in given.sets {
                let set = match state.get(slot).cloned() {
                    Some(mut known) if set.unset || !always => {
                        known.join(&set);
                        known
                    }
                    _ => set,
                };
                state.put(&theirs, slot, set);
            }
            self.spent += state.len();
            self.enter(target, Rc::new(state));
        }
    }
}

/// What an agent is given by one transfer.
struct Given<'s> {
    theirs: &'s Scope,
    /// For each variable the values, and whether it is given one whenever the transfer happens.
    sets: FxHashMap<usize, (ValueSet, bool)>,
}

impl Given<'_> {
    fn add(&mut self, name: &str, set: ValueSet, span: Span, always: bool) {
        let Some(slot) = self.theirs.named(name) else { return };
        let set = set.resting_on(span, SourceKind::Passed);
        let (known, given) = self.sets.entry(slot).or_insert_with(|| (ValueSet::none(), false));
        known.join(&set);
        *given |= always;
    }
}

/// What the runtime passes: by the declaration that the transfer is, or else by the first one of that name; a delegation
/// takes a declared delegation before a handoff, and a handoff the other way round.
fn collect<'a>(
    given: &mut Given<'_>,
    agent: &'a Agent,
    origin: Origin<'a>,
    name: &'a str,
    asks: bool,
    frame: &Frame<'_>,
    before: &Rc<State>,
) {
    let value = |expr: &Expr| frame.value(expr, before, 0);
    let bound = |b: &VariableBinding| match b.by_reference {
        true => ValueSet::any(),
        false => value(&b.value),
    };
    let own = |name: &Spanned<Name>| frame.path(&Path::dotted(&name.value, name.span), before);
    let aliases = agent.aliases();
    let to_it = |to: &'a Spanned<Name>| aliases.resolve(to).value == name;
    let coordination = &agent.coordination;
    let (handoff, delegate) = match origin {
        Origin::Handoff(handoff) => (Some(handoff), None),
        Origin::Delegate(delegate) => (None, Some(delegate)),
        _ => {
            let handoff = coordination.handoffs.iter().find(|h| to_it(&h.to));
            let delegate = coordination.delegates.iter().find(|d| to_it(&d.agent));
            match (handoff, delegate) {
                (Some(_), Some(_)) if asks => (None, delegate),
                (Some(_), Some(_)) => (handoff, None),
                one => one,
            }
        }
    };
    if let Some(Handoff { context, .. }) = handoff {
        for passed in &context.pass {
            let set = own(&passed.name);
            given.add(own_name(&passed.name.value), set, passed.name.span, true);
        }
        for b in &context.bindings {
            given.add(&b.variable.value, bound(b), b.variable.span, true);
        }
        // These are assigned before the transfer, or looked up by the next agent.
        for set in &context.set {
            given.add(&own_root(&set.target), value(&set.value), set.span, false);
        }
        for grant in &context.memory_grants {
            given.add(own_name(&grant.path.value), ValueSet::any(), grant.path.span, false);
        }
    }
    for (name, input) in delegate.iter().flat_map(|delegate| &delegate.input) {
        given.add(own_name(&name.value), value(input), name.span, true);
    }
    match origin {
        Origin::Statement(Statement::Delegate(to) | Statement::Handoff(to)) => {
            for b in &to.bindings {
                given.add(&b.variable.value, bound(b), b.variable.span, true);
            }
        }
        Origin::Rule(rule) => {
            for name in &rule.pass {
                given.add(own_name(&name.value), own(name), name.span, true);
            }
        }
        Origin::ToolBinding(offer) => {
            for with in &offer.with {
                let set = with.value.as_ref().map_or_else(ValueSet::any, value);
                given.add(own_name(&with.name.value), set, with.name.span, with.value.is_some());
            }
        }
        _ => {}
    }
}
