//! Def-use information: which variables a node reads, defines and kills.

use super::{AgentCfg, Cfg, NodeKind, Origin};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, ExprKind, Name, Path, Segment, Template, Visit};
use agentir_ir::{
    Agent, BindingAction, Call, Collect, Delegate, GatherField, Handoff, Response, SetVariable,
    Statement, StoredValue, Tool, VariableBinding,
};
use petgraph::graph::NodeIndex;
use smol_str::{SmolStr, SmolStrBuilder, format_smolstr};
use std::sync::OnceLock;

/// The kind of an access to a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// The value is read.
    Use,
    /// A value is assigned.
    Def,
    /// The variable is removed.
    Kill,
}

/// A variable, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its dotted path: `order.total`, `items[0]`. The namespace of Agent Script variables is
    /// omitted, others are kept: `@outputs.total`.
    pub name: SmolStr,
    /// The source of the access.
    pub span: Span,
}

impl Variable {
    pub(super) fn of(path: &Path) -> Self {
        let mut name = SmolStrBuilder::new();
        let mut span = path.root.span;
        if let Some(namespace) = path.namespace.as_ref().filter(|n| n.value != "variables") {
            name.push('@');
            name.push_str(&namespace.value);
            name.push('.');
        }
        name.push_str(&path.root.value);
        for segment in &path.segments {
            match segment {
                Segment::Field(field) => {
                    name.push('.');
                    name.push_str(&field.value);
                    span = span.to(field.span);
                }
                Segment::Index(index) => name.push_str(&format_smolstr!("[{index}]")),
                Segment::Any => name.push_str(".*"),
            }
        }
        Self { name: name.finish(), span }
    }

    pub(super) fn named(name: &Spanned<Name>) -> Self {
        Self { name: name.value.clone(), span: name.span }
    }

    /// The variable without its field path.
    #[must_use]
    pub fn root(&self) -> &str {
        if !self.name.starts_with('@') {
            let end = self.name.bytes().position(|b| matches!(b, b'.' | b'['));
            return end.and_then(|end| self.name.get(..end)).unwrap_or(&self.name);
        }
        self.name.split(['.', '[']).find(|part| !part.starts_with('@')).unwrap_or(&self.name)
    }

    /// Whether one path is a prefix of the other: `order` and `order.total` overlap.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let (short, long) = if self.name.len() <= other.name.len() {
            (&self.name, &other.name)
        } else {
            (&other.name, &self.name)
        };
        long.strip_prefix(short.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }
}

/// An access of a node to a variable.
#[derive(Debug, Clone)]
pub struct Access {
    /// The kind of access.
    pub kind: AccessKind,
    /// The variable.
    pub variable: Variable,
    /// Whether the access happens on every execution of the node (must) or only on some (may). The
    /// model, the user and tools may omit what they are asked for.
    pub definite: bool,
}

/// Lazily computed accesses, by node.
pub(super) type AccessCache = OnceLock<Vec<OnceLock<Box<[Access]>>>>;

/// Collects the accesses of a node in execution order, uses before definitions.
#[derive(Debug, Default)]
struct AccessCollector {
    all: Vec<Access>,
    /// Whether to collect uses. They outnumber all other accesses, and few callers need them.
    reads: bool,
}

impl AccessCollector {
    fn add(&mut self, kind: AccessKind, variable: Variable, definite: bool) {
        if self.reads || kind != AccessKind::Use {
            self.all.push(Access { kind, variable, definite });
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.expr_but(expr, None);
    }

    /// Collects the uses of an expression, except those of a name that is bound inside it.
    fn expr_but(&mut self, expr: &Expr, inner: Option<&str>) {
        if !self.reads {
            return;
        }
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Path(path) if inner != Some(path.root.value.as_str()) => {
                    self.add(AccessKind::Use, Variable::of(path), true);
                }
                ExprKind::Object(entries) => {
                    for entry in entries.iter().filter(|entry| entry.value.is_none()) {
                        self.add(AccessKind::Use, Variable::named(&entry.key), true);
                    }
                }
                _ => {}
            }
            Visit::Children
        });
    }

    fn condition(&mut self, condition: Option<&Condition>) {
        condition.and_then(Condition::expr).into_iter().for_each(|e| self.expr(e));
    }

    fn templates<'t>(&mut self, all: impl IntoIterator<Item = &'t Template>) {
        for template in all {
            template.exprs(&mut |e| self.expr(e));
        }
    }

    fn set(&mut self, set: &SetVariable) {
        self.expr(&set.value);
        self.add(AccessKind::Def, Variable::of(&set.target), true);
    }

    fn store(&mut self, store: Option<&StoredValue>) {
        let Some(store) = store else { return };
        store.value.iter().for_each(|e| self.expr(e));
        store.target.iter().for_each(|t| self.add(AccessKind::Def, Variable::named(t), true));
    }

    fn fields(&mut self, fields: &[GatherField]) {
        for field in fields {
            self.templates(&field.prompt);
        }
        for field in fields {
            self.add(AccessKind::Def, Variable::named(&field.name), field.required);
        }
    }

    fn collect(&mut self, collect: &Collect) {
        self.templates(&collect.gather.prompt);
        self.fields(&collect.gather.fields);
    }

    fn response(&mut self, response: &Response, agent: &Agent) {
        self.templates(&response.text);
        let template = response.template.as_ref().and_then(|t| agent.templates.get(&t.value));
        template.into_iter().for_each(|t| self.templates(t.texts()));
        let message = response.message_key.as_ref().and_then(|k| agent.messages.get(&k.value));
        message.into_iter().for_each(|m| self.templates(&m.text));
        for element in response.actions.iter().flat_map(|a| &a.elements) {
            self.templates(
                element.label.iter().chain(&element.placeholder).chain(&element.description),
            );
        }
    }

    /// The names under which the result of a call is available: `AS`, `result`, the tool's own
    /// name, and `last_<tool>_result`.
    fn result(&mut self, tool: &Spanned<Name>) {
        let names = [
            SmolStr::new_static("result"),
            tool.value.clone(),
            format_smolstr!("last_{}_result", tool.value),
        ];
        for name in names {
            self.add(AccessKind::Def, Variable { name, span: tool.span }, false);
        }
    }

    /// A tool that is called.
    fn tool(&mut self, tool: &Tool) {
        self.result(&tool.name);
        self.sets_of(tool);
    }

    /// The variables that a tool sets by itself.
    fn sets_of(&mut self, tool: &Tool) {
        for set in tool.on_result.iter().chain(&tool.on_error) {
            self.add(AccessKind::Def, Variable::of(&set.target), false);
        }
    }

    fn call(&mut self, call: &Call, agent_cfg: &AgentCfg<'_>) {
        call.with.iter().for_each(|a| self.expr(&a.value));
        self.result(&call.tool);
        if let Some(tool) = agent_cfg.tools.get(call.tool.value.as_str()) {
            self.sets_of(tool);
        }
        call.result.iter().for_each(|name| self.add(AccessKind::Def, Variable::named(name), true));
    }

    fn bindings(&mut self, bindings: &[VariableBinding], back: bool) {
        for binding in bindings {
            match binding.value.as_path() {
                Some(path) if back && binding.by_reference => {
                    self.add(AccessKind::Def, Variable::of(path), false);
                }
                _ if back => {}
                _ => self.expr(&binding.value),
            }
        }
    }

    fn handoff(&mut self, handoff: &Handoff, back: bool) {
        self.bindings(&handoff.context.bindings, back);
        if back {
            let mapped = handoff.on_return.iter().flat_map(|r| &r.map);
            mapped.for_each(|(name, _)| self.add(AccessKind::Def, Variable::named(name), false));
            return;
        }
        for value in &handoff.context.pass {
            self.add(AccessKind::Use, Variable::named(&value.name), true);
        }
        self.templates(&handoff.context.summary);
    }

    /// The variables that the result of a delegate is written to. The other agent may leave them unset.
    fn returned(&mut self, delegate: &Delegate) {
        for value in delegate.returned() {
            let variable = Variable { name: value.variable.into(), span: value.span };
            self.add(AccessKind::Def, variable, false);
        }
    }

    fn statement(&mut self, kind: NodeKind, statement: &Statement, agent_cfg: &AgentCfg<'_>) {
        match statement {
            Statement::Set(set) => self.set(set),
            Statement::Clear { variables } => {
                variables.iter().for_each(|v| self.add(AccessKind::Kill, Variable::named(v), true));
            }
            Statement::Transform(t) => {
                let item = Some(t.item_var.value.as_str());
                self.expr(&t.source);
                let inner = t.filter.iter().chain(t.map.iter().map(|(_, e)| e)).chain(&t.limit);
                inner.for_each(|e| self.expr_but(e, item));
                self.add(AccessKind::Def, Variable::named(&t.target), true);
            }
            Statement::Respond(response) => self.response(response, agent_cfg.agent),
            Statement::Instruct { text } => self.templates([text]),
            Statement::Collect(collect) if kind == NodeKind::Say => {
                self.templates(&collect.present);
            }
            Statement::Collect(collect) => self.collect(collect),
            Statement::Call(call) if kind == NodeKind::Call => self.call(call, agent_cfg),
            Statement::Delegate(d) | Statement::Handoff(d) => {
                self.bindings(&d.bindings, kind == NodeKind::Return);
                if kind == NodeKind::Return {
                    let agent = agent_cfg.agent;
                    let asked = agent.resolve_alias(&d.agent);
                    let all = agent.coordination.delegates.iter();
                    let mut declared =
                        all.filter(|one| agent.resolve_alias(&one.agent).value == asked.value);
                    declared.next().into_iter().for_each(|one| self.returned(one));
                }
            }
            _ => {}
        }
    }
}

impl<'a> Cfg<'a> {
    /// Returns the accesses of a node, uses before definitions. Conditions on outgoing edges count
    /// as uses of the node. A call without arguments also reads variables named like its
    /// parameters; these uses are not included.
    #[must_use]
    pub fn accesses(&self, at: NodeIndex) -> &[Access] {
        self.cached(&self.accesses, at, true)
    }

    /// Returns the definitions and kills of a node. Much cheaper than [`Self::accesses`].
    #[must_use]
    pub fn defs(&self, at: NodeIndex) -> &[Access] {
        self.cached(&self.defs, at, false)
    }

    fn cached<'k>(&self, all: &'k AccessCache, at: NodeIndex, reads: bool) -> &'k [Access] {
        let all = all.get_or_init(|| self.graph.node_indices().map(|_| OnceLock::new()).collect());
        let find = || self.compute_accesses(at, reads).into_boxed_slice();
        all.get(at.index()).map_or(&[], |slot| slot.get_or_init(find))
    }

    fn compute_accesses(&self, at: NodeIndex, reads: bool) -> Vec<Access> {
        let mut found = AccessCollector { all: Vec::new(), reads };
        let Some((node, agent_cfg)) = self.node(at).and_then(|n| Some((n, self.agent(n.agent)?)))
        else {
            return found.all;
        };
        let kind = node.kind;
        match node.origin {
            Origin::Statement(statement) => found.statement(kind, statement, agent_cfg),
            Origin::Set(set) => found.set(set),
            Origin::Agent(agent) if kind == NodeKind::Collect => {
                found.templates(&agent.gather.prompt);
                for field in &agent.gather.fields {
                    found.templates(&field.prompt);
                    found.add(AccessKind::Def, Variable::named(&field.name), false);
                }
            }
            Origin::Agent(agent) if kind == NodeKind::Choose => {
                let said = &agent.identity;
                found.templates(said.goal.iter().chain(&said.persona).chain(&said.limitations));
                for instruction in &said.instructions {
                    found.condition(instruction.when.as_ref());
                    found.templates([&instruction.text]);
                }
            }
            Origin::Zone(zone) if kind == NodeKind::Choose => found.templates(&zone.goal),
            Origin::Handoff(handoff) => match kind {
                NodeKind::Handoff | NodeKind::Return => {
                    found.handoff(handoff, kind == NodeKind::Return);
                }
                _ => {}
            },
            Origin::Delegate(delegate) if kind == NodeKind::Delegate => {
                delegate.input.iter().for_each(|(_, value)| found.expr(value));
            }
            Origin::Delegate(delegate) if kind == NodeKind::Return => found.returned(delegate),
            Origin::Rule(rule) if kind == NodeKind::Handoff => {
                let read = rule.pass.iter().chain(&rule.requires_state);
                read.for_each(|name| found.add(AccessKind::Use, Variable::named(name), true));
            }
            Origin::ToolBinding(binding)
                if !matches!(kind, NodeKind::Return | NodeKind::Confirm) =>
            {
                binding.with.iter().filter_map(|w| w.value.as_ref()).for_each(|e| found.expr(e));
                if matches!(binding.action, BindingAction::Collect) {
                    for with in &binding.with {
                        found.add(AccessKind::Def, Variable::named(&with.name), false);
                    }
                }
            }
            Origin::Tool(tool) if kind == NodeKind::Call => found.tool(tool),
            Origin::Name(name) if kind == NodeKind::Call => found.result(name),
            Origin::Completion(done) => match kind {
                NodeKind::Say => found.templates(&done.respond),
                NodeKind::Store => found.store(done.store.as_ref()),
                _ => {}
            },
            Origin::Remember(rule) if kind == NodeKind::Store => {
                found.store(rule.store.as_ref());
            }
            Origin::HumanOutcome(outcome) => match kind {
                NodeKind::Say => found.templates(&outcome.respond),
                NodeKind::Store => found.store(outcome.store.as_ref()),
                _ => {}
            },
            Origin::Trigger(trigger) => match kind {
                NodeKind::Say => found.templates(&trigger.respond),
                NodeKind::Escalate => {
                    found.templates(&trigger.reason);
                    for name in &trigger.context {
                        found.add(AccessKind::Use, Variable::named(name), true);
                    }
                }
                _ => {}
            },
            Origin::Failure(failure) => match kind {
                NodeKind::Say => found.templates(&failure.message),
                NodeKind::Clear => {
                    for name in &failure.clear {
                        found.add(AccessKind::Kill, Variable::named(name), true);
                    }
                }
                NodeKind::Collect => {
                    for name in &failure.collect_fields {
                        found.add(AccessKind::Def, Variable::named(name), false);
                    }
                }
                _ => {}
            },
            Origin::Handler(handler) if kind == NodeKind::Say => {
                found.templates(&handler.respond);
            }
            _ => {}
        }
        if !reads {
            return found.all;
        }
        // Conditions on outgoing edges read the state before the node's definitions, unless the
        // node is a call. Either way the node is the reader.
        let tests = self.successors(at).filter_map(|(_, edge)| self.last_literal(edge.guard));
        let mut seen: Vec<Span> = Vec::new();
        let mut read = AccessCollector { all: Vec::new(), reads };
        for test in tests.map(|literal| literal.test) {
            if seen.last() != Some(&test.span()) {
                seen.push(test.span());
                test.expr().into_iter().for_each(|e| read.expr(e));
            }
        }
        let writes_first = matches!(kind, NodeKind::Call | NodeKind::Collect | NodeKind::Await);
        if writes_first {
            // The node has defined what these conditions read.
            let set: Vec<Variable> = found
                .all
                .iter()
                .filter(|a| a.kind == AccessKind::Def)
                .map(|a| a.variable.clone())
                .collect();
            read.all.retain(|a| !set.iter().any(|v| v.overlaps(&a.variable)));
        }
        let at =
            found.all.iter().position(|a| a.kind != AccessKind::Use).unwrap_or(found.all.len());
        found.all.splice(at..at, read.all);
        found.all
    }
}
