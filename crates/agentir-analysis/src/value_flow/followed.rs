//! Which variables the analysis follows.

use crate::expressions::mentioned;
use crate::program::ProgramAnalysis;
use crate::symbols::AgentSymbols;
use crate::values::scope::{Scope, own_root, start};
use agentir_expr::{Expr, ExprKind, Path, Visit};
use agentir_flow::Cfg;
use agentir_flow::cfg::AgentId;
use agentir_ir::{BindingAction, SessionVariable};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// The scope of a program that shares its variables.
pub(super) fn scope_of_program<'a>(
    program: &ProgramAnalysis<'a>,
    cfg: &Cfg<'a>,
    wanted: &FxHashSet<SmolStr>,
) -> Scope {
    let mut seen: FxHashSet<(agentir_diagnostics::FileId, u32)> = FxHashSet::default();
    for access in cfg.graph().node_indices().flat_map(|node| cfg.defs(node)) {
        seen.insert(start(access.variable.span));
    }
    let mut outside: FxHashSet<SmolStr> = FxHashSet::default();
    for cx in program.all_agents() {
        mentioned(cx.agent, &mut outside);
        let sets = cx.index.sets.iter().map(|s| (&s.target.root.value, s.target.root.span));
        let offers = cx.index.offers.iter();
        let offers = offers.filter(|o| matches!(o.action, BindingAction::Collect));
        let with = offers.flat_map(|o| &o.with).map(|w| (&w.name.value, w.name.span));
        let writes = cx.index.writes.iter().map(|(name, _)| (&name.value, name.span));
        let all = sets.chain(with).chain(writes);
        let unseen = all.filter(|(_, span)| !seen.contains(&start(*span)));
        outside.extend(unseen.map(|(name, _)| name.clone()));
    }
    let own = program.variables.values().filter(|variable| is_followed(variable));
    let own = own.map(|variable| variable.name.value.clone());
    Scope::new(own.filter(|name| wanted.contains(name) && !outside.contains(name)), true)
}

/// Whether only the program may write a shared variable.
fn is_followed(variable: &SessionVariable) -> bool {
    variable.mutability != Some("linked") && !variable.extensions.has("visibility")
}

/// The names of the variables that conditions read, or that are copied to one of these.
pub(super) fn wanted(program: &ProgramAnalysis<'_>) -> FxHashSet<SmolStr> {
    let mut wanted: FxHashSet<SmolStr> = FxHashSet::default();
    // What a variable is computed of, by its name.
    let mut from: FxHashMap<SmolStr, Vec<SmolStr>> = FxHashMap::default();
    let mut copied = |to: SmolStr, expr: &Expr| {
        let all = from.entry(to).or_default();
        expr.paths(&mut |path| all.push(own_root(path)));
    };
    let mut passed: Vec<(SmolStr, SmolStr)> = Vec::new();
    for cx in program.all_agents() {
        for (condition, _) in &cx.index.conditions {
            if let Some(expr) = condition.expr() {
                expr.paths(&mut |path| {
                    wanted.insert(own_root(path));
                });
            }
        }
        for expr in &cx.index.exprs {
            expr.visit(&mut |e| {
                if let ExprKind::Conditional { condition, .. } = &e.kind {
                    condition.paths(&mut |path| {
                        wanted.insert(own_root(path));
                    });
                }
                Visit::Children
            });
        }
        cx.index.sets.iter().for_each(|set| copied(own_root(&set.target), &set.value));
        let coordination = &cx.agent.coordination;
        for handoff in &coordination.handoffs {
            handoff
                .context
                .bindings
                .iter()
                .for_each(|b| copied(b.variable.value.clone(), &b.value));
        }
        for delegate in &coordination.delegates {
            delegate.input.iter().for_each(|(name, value)| copied(name.value.clone(), value));
            let returned = delegate.returned();
            passed.extend(returned.map(|r| (r.variable.into(), r.field.value.clone())));
        }
    }
    for node in program.graph().graph().node_weights() {
        if let agentir_flow::cfg::Origin::Statement(
            agentir_ir::Statement::Delegate(to) | agentir_ir::Statement::Handoff(to),
        ) = node.origin
        {
            to.bindings.iter().for_each(|b| copied(b.variable.value.clone(), &b.value));
        }
    }
    for (to, of) in passed {
        from.entry(to).or_default().push(of);
    }
    let mut work: Vec<SmolStr> = wanted.iter().cloned().collect();
    while let Some(name) = work.pop() {
        for other in from.get(&name).into_iter().flatten() {
            if wanted.insert(other.clone()) {
                work.push(other.clone());
            }
        }
    }
    wanted
}

/// The maximum number of variables of a condition that are followed together.
const MAX_TOGETHER: usize = 4;

/// Has the variables followed together that one condition reads, or that two conditions read of which one stands in the
/// other.
pub(super) fn pairs(cx: &AgentSymbols<'_, '_>, scope: &mut Scope) {
    let mut before: Vec<usize> = Vec::new();
    for (condition, _) in &cx.index.conditions {
        let Some(expr) = condition.expr() else { continue };
        let mut slots: Vec<usize> = Vec::new();
        expr.paths(&mut |path| {
            let whole = Path { segments: Vec::new(), ..path.clone() };
            slots.extend(scope.slot(&whole).filter(|slot| !slots.contains(slot)));
        });
        slots.truncate(MAX_TOGETHER);
        for (at, first) in slots.iter().enumerate() {
            let others = slots.iter().skip(at + 1).chain(&before);
            let others: Vec<usize> = others.copied().collect();
            others.into_iter().for_each(|second| scope.follow(*first, second));
        }
        if !slots.is_empty() {
            before = slots;
        }
    }
}

/// The agents of a program, in order.
pub(super) fn agents(program: &ProgramAnalysis<'_>) -> impl Iterator<Item = AgentId> {
    (0..).map(AgentId).take(program.graph().agents().len())
}
