//! Taint analysis of sensitive data.
//!
//! Sources are variables that are declared as sensitive or have a sensitive format. Taint
//! propagates through assignments and expressions, except through functions that do not reveal
//! their arguments.

use crate::program::AgentAnalysis;
use crate::script::{Outputs, output, outputs};
use crate::variables::first;
use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, Expr, ExprKind, ParameterType, Path, Segment, UnaryOp, function};
use agentir_ir::{Data, GatherField, Tool};
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, SmolStrBuilder};

/// Formats of personal or regulated values.
const SENSITIVE_FORMATS: &[&str] =
    &["credit_card", "card_number", "cvv", "ssn", "social_security_number", "iban", "passport"];

/// Functions whose result does not reveal their arguments.
const SANITIZERS: &[&str] = &["MASK", "LENGTH", "len", "size", "redact_pii", "word_count"];

/// How a variable came to hold sensitive data.
#[derive(Debug, Clone)]
pub struct Flow {
    /// A description, for the beginning of a sentence.
    pub what: String,
    /// The declaration of the source.
    pub declared: Span,
    /// Why the source is sensitive.
    pub reason: String,
    /// Whether the declaration says how to mask the value.
    pub masked: bool,
    /// Whether the user provides the value in the conversation.
    from_user: bool,
    /// The assignments on the way from the source, in order.
    pub steps: Vec<Span>,
}

/// The tainted variables of an agent, by path.
#[derive(Debug, Default)]
pub struct Taint<'a> {
    by_path: FxHashMap<SmolStr, Flow>,
    /// Outputs that are hidden from the model, by the span of the read.
    hidden: FxHashMap<Span, (&'a Tool, SmolStr)>,
}

impl<'a> Taint<'a> {
    /// Propagates taint through the assignments of an agent.
    #[must_use]
    pub fn new(cx: &AgentAnalysis<'_, 'a>) -> Self {
        let mut taint = Self::default();
        if cx.traits().hides_outputs {
            taint.hidden_outputs(cx);
        } else {
            taint.declared(cx);
        }
        if taint.by_path.is_empty() && taint.hidden.is_empty() {
            return taint;
        }
        let sets = cx.index.sets.iter().map(|s| (dotted(&s.target), s.span, vec![&s.value]));
        let assignments: Vec<(SmolStr, Span, Vec<&'a Expr>)> = sets.chain(transforms(cx)).collect();
        // Assignments by the variables that they read; they are revisited when one of these becomes
        // tainted.
        let mut readers: FxHashMap<SmolStr, Vec<usize>> = FxHashMap::default();
        for (at, (_, _, values)) in assignments.iter().enumerate() {
            for value in values {
                value.paths(&mut |p| readers.entry(p.root.value.clone()).or_default().push(at));
            }
        }
        let mut worklist: Vec<SmolStr> = taint.by_path.keys().cloned().collect();
        worklist.sort();
        while let Some(path) = worklist.pop() {
            for at in readers.get(first(&path)).into_iter().flatten() {
                let Some((target, span, values)) = assignments.get(*at) else { continue };
                if taint.by_path.contains_key(target) {
                    continue;
                }
                if let Some(mut flow) = values.iter().find_map(|value| taint.of_expr(value)) {
                    flow.steps.push(*span);
                    flow.steps.truncate(8);
                    taint.by_path.insert(target.clone(), flow);
                    worklist.push(target.clone());
                }
            }
        }
        taint
    }

    /// Whether no variable is tainted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    fn declared(&mut self, cx: &AgentAnalysis<'_, 'a>) {
        let entities: FxHashMap<&str, _> =
            cx.agent.entities.iter().map(|e| (e.name.value.as_str(), e)).collect();
        for field in &cx.index.fields {
            let entity = field.entity_ref.as_ref().and_then(|e| entities.get(e.value.as_str()));
            let own = field.sensitive == Some(true) || field.pii_type.is_some();
            let shared = entity.filter(|e| e.sensitive == Some(true) || e.pii_type.is_some());
            let kind = format_of(field);
            // An explicit `sensitive: false` wins.
            if field.sensitive == Some(false) || !(own || shared.is_some() || kind.is_some()) {
                continue;
            }
            let reason = match (own, shared, kind) {
                (true, ..) => "it is declared as sensitive".to_owned(),
                (_, Some(entity), _) => {
                    format!("its entity `{}` is declared as sensitive", entity.name)
                }
                (.., kind) => {
                    format!("its values are classified as `{}`", kind.unwrap_or_default())
                }
            };
            let masked = field.sensitive_display.is_some()
                || shared.is_some_and(|e| e.sensitive_display.is_some());
            let name = &field.name;
            self.by_path.insert(
                name.value.clone(),
                Flow {
                    what: format!("`{name}`"),
                    declared: name.span,
                    reason,
                    masked,
                    from_user: true,
                    steps: Vec::new(),
                },
            );
        }
        for path in cx.agent.memory.persistent.iter().filter(|p| p.sensitive == Some(true)) {
            let name = &path.path;
            let flow = Flow {
                what: format!("`{name}`"),
                declared: name.span,
                reason: "it is declared as sensitive".to_owned(),
                masked: path.sensitive_display.is_some(),
                from_user: false,
                steps: Vec::new(),
            };
            self.by_path.insert(name.value.clone(), flow);
        }
    }

    /// Taints variables with outputs that the model does not see.
    fn hidden_outputs(&mut self, cx: &AgentAnalysis<'_, 'a>) {
        let mut read: Vec<(&'a Path, &'a str)> = Vec::new();
        outputs(cx.agent, &mut |path, here| {
            if let Outputs::Of(tool, _) = *here {
                read.push((path, &tool.value));
            }
        });
        for (path, tool) in read {
            let Some(tool) = cx.tool(tool) else { continue };
            let name = &output(path).value;
            let about = tool.extensions.0.get(cx.dialect().id());
            let about = about.and_then(|e| e.get("outputs")?.value.get(name.as_str()));
            let flag = |key: &str| match about?.get(key)? {
                Data::Bool(value) => Some(*value),
                Data::String(word) => Some(word.eq_ignore_ascii_case("true")),
                _ => None,
            };
            // Outputs that the user may see are hidden only so that the author can word them.
            let hidden =
                flag("filter_from_agent") == Some(true) && flag("is_displayable") == Some(false);
            if !hidden {
                continue;
            }
            // The reader may be any assignment; variables belong to the program.
            self.hidden.insert(path.root.span, (tool, name.clone()));
        }
        let sets = cx.index.sets.iter();
        for set in sets {
            let mut found = None;
            set.value.paths(&mut |p| found = found.or(self.hidden.get(&p.root.span)));
            let Some((tool, name)) = found else { continue };
            let declared = tool
                .returns
                .iter()
                .flat_map(|r| &r.fields)
                .find(|f| f.name.value == *name)
                .map_or(tool.name.span, |f| f.name.span);
            let flow = Flow {
                what: format!("`{}`", set.target.root),
                declared,
                reason: "this output is hidden from the model and from the user".to_owned(),
                masked: false,
                from_user: false,
                steps: vec![set.span],
            };
            self.by_path.entry(dotted(&set.target)).or_insert(flow);
        }
    }

    /// Returns the taint of a path, or of an object that contains it.
    pub fn of_name(&self, name: &str) -> Option<Flow> {
        if let Some(flow) = self.by_path.get(name) {
            return Some(flow.clone());
        }
        let mut upper = name;
        while let Some((above, _)) = upper.rsplit_once('.') {
            if let Some(flow) = self.by_path.get(above) {
                return Some(flow.clone());
            }
            upper = above;
        }
        None
    }

    /// Returns the taint of an expression, if its value reveals tainted data.
    ///
    /// The recursion is bounded: expressions are at most [`agentir_expr::MAX_DEPTH`] levels deep.
    pub fn of_expr(&self, expr: &Expr) -> Option<Flow> {
        let any = |all: &[Expr]| all.iter().find_map(|e| self.of_expr(e));
        match &expr.kind {
            ExprKind::Path(path)
                if path.namespace.as_ref().is_none_or(|n| n.value == "variables") =>
            {
                self.of_name(&dotted(path))
            }
            ExprKind::List(items) => any(items),
            ExprKind::Template(text) => {
                let mut flow = None;
                text.exprs(&mut |e| flow = flow.take().or_else(|| self.of_expr(e)));
                flow
            }
            ExprKind::Object(entries) => entries.iter().find_map(|entry| match &entry.value {
                Some(value) => self.of_expr(value),
                None => self.of_name(&entry.key.value),
            }),
            ExprKind::Call { function: name, args } => {
                let propagates = !SANITIZERS.iter().any(|f| f.eq_ignore_ascii_case(&name.value))
                    && function(&name.value).is_none_or(|f| f.returns != ParameterType::Boolean);
                if propagates { any(args) } else { None }
            }
            ExprKind::Method { receiver, .. } => self.of_expr(receiver),
            ExprKind::Subscript { base, .. }
            | ExprKind::Member { base, .. }
            | ExprKind::Spread(base) => self.of_expr(base),
            ExprKind::Unary { op: UnaryOp::Negate | UnaryOp::Plus, operand } => {
                self.of_expr(operand)
            }
            ExprKind::Binary { op: BinaryOp::Add, left, right } => {
                self.of_expr(left).or_else(|| self.of_expr(right))
            }
            ExprKind::Conditional { then, otherwise, .. } => {
                self.of_expr(then).or_else(|| self.of_expr(otherwise))
            }
            _ => None,
        }
    }

    /// Returns the first tainted variable that the user provides in the conversation.
    pub fn user_input(&self) -> Option<Flow> {
        let said = self.by_path.values().filter(|f| f.from_user && f.steps.is_empty());
        said.min_by_key(|f| (f.declared.file, f.declared.start)).cloned()
    }
}

/// Returns the targets of list pipelines with the expressions that they depend on.
fn transforms<'a>(cx: &AgentAnalysis<'_, 'a>) -> Vec<(SmolStr, Span, Vec<&'a Expr>)> {
    use agentir_flow::cfg::Origin;
    use agentir_ir::Statement;
    let cfg = cx.program.graph();
    let agent_cfg = cfg.agent(cx.id);
    let nodes = agent_cfg.into_iter().flat_map(|p| p.nodes()).filter_map(|n| cfg.node(n));
    nodes
        .filter_map(|node| match node.origin {
            Origin::Statement(Statement::Transform(t)) => {
                let values = std::iter::once(&t.source).chain(t.map.iter().map(|(_, e)| e));
                Some((t.target.value.clone(), t.span, values.collect()))
            }
            _ => None,
        })
        .collect()
}

/// Returns the sensitive format of a field's values, if there is one.
fn format_of(field: &GatherField) -> Option<&str> {
    let semantics = field.semantics.as_ref()?;
    let said = [semantics.format.as_deref(), semantics.kore_entity_type.as_deref()];
    said.into_iter().flatten().find(|s| SENSITIVE_FORMATS.iter().any(|f| f.eq_ignore_ascii_case(s)))
}

fn dotted(path: &Path) -> SmolStr {
    let mut name = SmolStrBuilder::new();
    name.push_str(&path.root.value);
    for segment in &path.segments {
        if let Segment::Field(field) = segment {
            name.push('.');
            name.push_str(&field.value);
        }
    }
    name.finish()
}
