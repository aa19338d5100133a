//! The variables whose definitions are all in the control-flow graph.

use crate::dataflow::{ExternalDefs, written_outside};
use crate::symbols::AgentSymbols;
use agentir_diagnostics::Span;
use agentir_expr::{Expr, Path, Segment};
use agentir_flow::Cfg;
use agentir_flow::cfg::AccessKind;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// All pairs of so many variables are followed.
const MAX_PAIRED: usize = 8;

/// No more pairs than these are followed.
const MAX_PAIRS: usize = 48;

/// The variables that are followed: those of an agent or, if the program shares its variables, of the program.
#[derive(Debug, Default)]
pub struct Scope {
    slots: FxHashMap<SmolStr, usize>,
    /// The names, by slot.
    pub(crate) names: Vec<SmolStr>,
    /// Whether all agents share it.
    pub(crate) shared: bool,
    /// The slots of fields that any message of the user may fill.
    pub(crate) fields: Vec<usize>,
    /// The pairs of variables whose values are followed together, the smaller slot first.
    pub(crate) pairs: Vec<(usize, usize)>,
}

/// The name of a variable as an agent knows it: `session.x` is `x` (ABL 3.7).
pub(crate) fn own_name(name: &str) -> &str {
    let name = name.strip_prefix("session.").unwrap_or(name);
    name.split(['.', '[']).next().unwrap_or(name)
}

impl Scope {
    pub(crate) fn new(names: impl IntoIterator<Item = SmolStr>, shared: bool) -> Self {
        let mut names: Vec<SmolStr> = names.into_iter().collect();
        names.sort();
        let slots = names.iter().cloned().enumerate().map(|(at, name)| (name, at)).collect();
        let mut scope = Self { slots, names, shared, fields: Vec::new(), pairs: Vec::new() };
        // All pairs of a few variables; of many, [`Self::follow`] says which.
        if scope.names.len() <= MAX_PAIRED {
            let all = 0..scope.names.len();
            scope.pairs = all.clone().flat_map(|a| (a + 1..all.end).map(move |b| (a, b))).collect();
        }
        scope
    }

    /// Follows two variables together, unless many are already.
    pub(crate) fn follow(&mut self, first: usize, second: usize) {
        let pair = (first.min(second), first.max(second));
        if first != second && self.pairs.len() < MAX_PAIRS && !self.pairs.contains(&pair) {
            self.pairs.push(pair);
        }
    }

    /// The pair of two variables, and whether its first one is the second given one.
    pub(crate) fn pair(&self, one: usize, other: usize) -> Option<(usize, bool)> {
        let pair = (one.min(other), one.max(other));
        Some((self.pairs.iter().position(|known| *known == pair)?, other < one))
    }

    /// The slot of a whole variable.
    pub(crate) fn slot(&self, path: &Path) -> Option<usize> {
        let namespace = path.namespace.as_ref().map(|n| n.value.as_str());
        match (namespace, path.segments.as_slice()) {
            (None, []) if !self.shared => self.named(&path.root.value),
            (None, [Segment::Field(field)]) if !self.shared && path.root.value == "session" => {
                self.named(&field.value)
            }
            (Some("variables"), []) if self.shared => self.named(&path.root.value),
            _ => None,
        }
    }

    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.slots.get(name).copied()
    }

    /// Whether an expression reads one of the variables.
    pub(crate) fn is_read_by(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.paths(&mut |path| found |= self.slot(path).is_some());
        found
    }

    /// The scope of an agent with variables of its own.
    pub(crate) fn of_agent<'a>(
        cx: &AgentSymbols<'_, 'a>,
        cfg: &Cfg<'a>,
        external: &ExternalDefs<'a>,
        wanted: &FxHashSet<SmolStr>,
    ) -> Self {
        let Some(agent_cfg) = cfg.agent(cx.id) else { return Self::default() };
        let (mut seen, mut defined) = (FxHashSet::default(), FxHashSet::default());
        for access in agent_cfg.nodes().flat_map(|node| cfg.defs(node)) {
            if access.kind != AccessKind::Use && !access.variable.name.starts_with('@') {
                seen.insert(start(access.variable.span));
                defined.insert(SmolStr::new(own_name(&access.variable.name)));
            }
        }
        let results: FxHashSet<&str> =
            cx.index.tools.keys().copied().filter(|tool| defined.contains(*tool)).collect();
        let mut outside: FxHashSet<SmolStr> = FxHashSet::default();
        outside.extend(written_outside(cx, external, &results).into_iter().map(SmolStr::new));
        let arguments = cx.traits().arguments_are_variables;
        // What the graph does not define may be defined at any time.
        let sets = cx.index.sets.iter().map(|s| (own_root(&s.target), s.target.root.span));
        let writes =
            cx.index.writes.iter().map(|(name, _)| (own_name(&name.value).into(), name.span));
        let clears = cx.index.clears.iter().copied().flatten();
        let clears = clears.map(|name| (own_name(&name.value).into(), name.span));
        let unseen: Vec<SmolStr> = sets
            .chain(writes)
            .chain(clears)
            .filter(|(_, span)| !seen.contains(&start(*span)))
            .map(|(name, _)| name)
            .collect();
        outside.extend(unseen);
        let declared =
            cx.agent.memory.session.iter().map(|v| SmolStr::new(own_name(&v.name.value)));
        let asked: FxHashSet<SmolStr> =
            cx.index.fields.iter().map(|f| f.name.value.clone()).collect();
        let fields = cx.agent.gather.fields.iter().map(|f| f.name.value.clone());
        let fields = fields.chain(asked.iter().filter(|_| !arguments).cloned());
        let set = cx.index.sets.iter().map(|s| own_root(&s.target));
        let names: FxHashSet<SmolStr> = declared.chain(fields).chain(set).collect();
        let runtime = cx.dialect().runtime();
        let own = names.into_iter().filter(|name| {
            wanted.contains(name)
                && !name.is_empty()
                && !outside.contains(name)
                && !runtime.assigns(name, name)
        });
        let mut scope = Self::new(own, false);
        if !arguments {
            let names = scope.names.iter().enumerate();
            let fields = names.filter(|(_, name)| asked.contains(*name)).map(|(at, _)| at);
            scope.fields = fields.collect();
        }
        scope
    }
}

pub(crate) fn start(span: Span) -> (agentir_diagnostics::FileId, u32) {
    (span.file, span.start)
}

/// The variable that a target is, or is a part of.
pub(crate) fn own_root(path: &Path) -> SmolStr {
    match path.segments.first() {
        Some(Segment::Field(field)) if path.namespace.is_none() && path.root.value == "session" => {
            field.value.clone()
        }
        _ => path.root.value.clone(),
    }
}
