//! What things are called in AgentIR: variables, tools, agents and steps, and the expressions and texts
//! that name them.

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{
    Condition, ConditionKind, Expr, ExprKind, Literal, Name, ObjectEntry, Path, Segment, Template,
    system_namespace, system_variable,
};
use agentir_syntax::abl::leaf::is_word_of_expressions;
use agentir_syntax::xo::tables::{KNOWN_PATHS, SCOPES, USER};
use agentir_syntax::xo::{Text, script};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};

/// Names that exclude each other.
#[derive(Debug, Default)]
pub(super) struct Space {
    taken: FxHashSet<SmolStr>,
    /// The next number to try behind a name.
    next: FxHashMap<SmolStr, u32>,
}

impl Space {
    /// A legal name as near to `wanted` as is free: `wanted`, else with `scope` before it, if there is one,
    /// else with a number behind.
    pub(super) fn claim(&mut self, wanted: &str, scope: &str) -> SmolStr {
        let plain = word(wanted);
        let free = |name: &SmolStr| !self.taken.contains(name) && !is_reserved(name);
        let mut name = plain.clone();
        if !free(&name) && !scope.is_empty() {
            name = format_smolstr!("{scope}_{plain}");
        } else if is_reserved(&name) {
            name = format_smolstr!("{plain}_step");
        }
        if !free(&name) {
            let base = name.clone();
            let next = self.next.entry(base.clone()).or_insert(2);
            while self.taken.contains(&name) || is_reserved(&name) {
                name = format_smolstr!("{base}_{next}");
                *next = next.saturating_add(1);
            }
        }
        self.taken.insert(name.clone());
        name
    }
}

/// A word of letters, digits and underscores that begins with a letter.
pub(super) fn word(text: &str) -> SmolStr {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c == '_' && (out.is_empty() || out.ends_with('_')) {
            continue;
        }
        if out.is_empty() && c.is_ascii_digit() {
            out.push_str("n_");
        }
        out.push(c);
    }
    let trimmed = out.trim_end_matches('_');
    SmolStr::new(if trimmed.is_empty() { "unnamed" } else { trimmed })
}

/// Words that ABL's expressions, flows and runtime have for themselves.
fn is_reserved(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "in",
        "is",
        "set",
        "if",
        "else",
        "contains",
        "matches",
        "startswith",
        "endswith",
        "result",
        "input",
        "steps",
        "entry_point",
        "complete",
        "continue",
        "escalate",
        "handoff",
        "delegate",
        "retry",
        "resume",
        "user",
        "session",
        "context",
    ];
    WORDS.iter().any(|w| w.eq_ignore_ascii_case(name))
        || is_word_of_expressions(name)
        || system_variable(name).is_some()
        || system_namespace(name).is_some()
        || agentir_syntax::abl::leaf::ActionKind::from_word(name).is_some()
}

/// What the variables and services of an export are called.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Variables by their paths in XO.
    variables: FxHashMap<String, SmolStr>,
    /// Tools by the names of the services whose responses the context holds.
    services: FxHashMap<SmolStr, SmolStr>,
    /// Variables and tools are named in the same expressions.
    space: Space,
    /// The variables that were named since they were last asked for, each with its first place.
    used: Vec<Spanned<Name>>,
}

fn field(segment: &Segment) -> Option<&str> {
    match segment {
        Segment::Field(name) => Some(&name.value),
        _ => None,
    }
}

/// Whether a path begins with `prefix`; places in lists between its names do not matter.
fn begins(path: &Path, prefix: &[&str]) -> Option<usize> {
    let (root, names) = prefix.split_first()?;
    if path.root.value != *root {
        return None;
    }
    let mut at = 0;
    for name in names {
        while let Some(Segment::Index(_)) = path.segments.get(at) {
            at += 1;
        }
        if path.segments.get(at).and_then(field) != Some(name) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

impl Names {
    /// Gives a service its tool's name.
    pub(super) fn service(&mut self, name: &str) -> SmolStr {
        let tool = self.space.claim(name, "call");
        self.services.insert(SmolStr::new(name), tool.clone());
        tool
    }

    /// The tool of a service.
    pub(super) fn tool_of(&self, service: &str) -> Option<&SmolStr> {
        self.services.get(service)
    }

    /// A name for a tool that no service has.
    pub(super) fn tool(&mut self, wanted: &str) -> SmolStr {
        self.space.claim(wanted, "run")
    }

    /// The variables that were named since this was last asked.
    pub(super) fn used(&mut self) -> Vec<Spanned<Name>> {
        std::mem::take(&mut self.used)
    }

    /// The variable that an entity fills.
    pub(super) fn entity(&mut self, name: &str, span: Span) -> Spanned<Name> {
        let name = self.variable(&["context", "entities"], "entity", name);
        Spanned::new(name, span)
    }

    fn variable(&mut self, prefix: &[&str], scope: &str, name: &str) -> SmolStr {
        let key = format!("{}.{name}", prefix.join("."));
        if let Some(known) = self.variables.get(&key) {
            return known.clone();
        }
        let claimed = self.space.claim(name, scope);
        self.variables.insert(key, claimed.clone());
        claimed
    }

    /// What XO calls `path`, as a path of ours.
    pub(super) fn path(&mut self, path: &Path) -> Path {
        let (mut ours, consumed) = self.resolve(path);
        ours.segments.extend_from_slice(path.segments.get(consumed..).unwrap_or_default());
        ours
    }

    /// The variable, tool or setting that `path` begins with, and how many of its segments that is.
    pub(super) fn resolve(&mut self, path: &Path) -> (Path, usize) {
        let span = path.root.span;
        let named = |root: &str| {
            let mut names = root.split('.').map(|n| Spanned::new(SmolStr::new(n), span));
            let root = names.next().unwrap_or_default();
            Path { namespace: None, root, segments: names.map(Segment::Field).collect() }
        };
        let first = path.segments.first().and_then(field).unwrap_or_default();
        match path.root.value.as_str() {
            "content" => return (named("config"), 0),
            "env" if !first.is_empty() => return (named(&format!("env.{first}")), 1),
            "context" => {}
            _ => return (Path { segments: Vec::new(), ..path.clone() }, 0),
        }
        for (prefix, ours) in KNOWN_PATHS {
            if let Some(at) = begins(path, prefix) {
                return (named(ours), at);
            }
        }
        if let Some(tool) = self.services.get(first) {
            let after = ["response", "body"]
                .iter()
                .enumerate()
                .take_while(|(i, name)| path.segments.get(i + 1).and_then(field) == Some(name));
            return (named(tool), 1 + after.count());
        }
        for (prefix, scope) in SCOPES {
            let Some(at) = begins(path, prefix) else { continue };
            let Some(name) = path.segments.get(at).and_then(field) else {
                // All variables of a kind, and no single one.
                return (named("session"), path.segments.len());
            };
            // What is known of the user is there before the conversation is.
            let variable = if *scope == USER {
                format_smolstr!("{USER}.{}", word(name))
            } else {
                self.variable(prefix, scope, name)
            };
            if !self.used.iter().any(|u| u.value == variable) {
                self.used.push(Spanned::new(variable.clone(), span));
            }
            return (named(&variable), at + 1);
        }
        (named("session"), path.segments.len())
    }

    /// An expression with our names.
    pub(super) fn expr(&mut self, e: &Expr) -> Expr {
        let kind = match &e.kind {
            ExprKind::Path(path) => return Expr::path(self.path(path), e.span),
            ExprKind::List(items) => ExprKind::List(self.all(items)),
            ExprKind::And(items) => ExprKind::And(self.all(items)),
            ExprKind::Or(items) => ExprKind::Or(self.all(items)),
            ExprKind::Call { function, args } => {
                ExprKind::Call { function: function.clone(), args: self.all(args) }
            }
            ExprKind::Object(entries) => ExprKind::Object(
                entries
                    .iter()
                    .map(|o| ObjectEntry {
                        key: o.key.clone(),
                        value: o.value.as_ref().map(|v| self.expr(v)),
                    })
                    .collect(),
            ),
            ExprKind::Unary { op, operand } => {
                ExprKind::Unary { op: *op, operand: Box::new(self.expr(operand)) }
            }
            ExprKind::IsSet { operand, negated } => {
                ExprKind::IsSet { operand: Box::new(self.expr(operand)), negated: *negated }
            }
            ExprKind::Binary { op, left, right } => ExprKind::Binary {
                op: *op,
                left: Box::new(self.expr(left)),
                right: Box::new(self.expr(right)),
            },
            _ => return e.clone(),
        };
        // The tree is as deep as it was.
        Expr::new(kind, e.span).unwrap_or_else(|_| e.clone())
    }

    fn all(&mut self, items: &[Expr]) -> Vec<Expr> {
        items.iter().map(|i| self.expr(i)).collect()
    }

    /// A text with holes of ours. What a hole says and ABL cannot say goes to `lost`, and stays in the
    /// text without its braces.
    pub(super) fn template(&mut self, text: &Text, lost: &mut Vec<Text>) -> Template {
        let text = self.holes(text, lost);
        parsed(text, lost)
    }

    /// A text whose holes have our names.
    pub(super) fn holes(&mut self, text: &Text, lost: &mut Vec<Text>) -> Text {
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(start) = text.value.get(at..).and_then(|rest| rest.find("{{")) {
            let start = at + start;
            let Some(length) = text.value.get(start..).and_then(|rest| rest.find("}}")) else {
                break;
            };
            let end = start + length + 2;
            let inside = text.part(start + 2..end - 2);
            let by = match script::expression(&inside) {
                Some(e) => format!("{{{{{}}}}}", self.expr(&e)),
                None => {
                    let words = inside.value.replace(['{', '}'], " ");
                    lost.push(inside);
                    format!("({})", words.trim())
                }
            };
            parts.push((start..end, by));
            at = end;
        }
        text.replaced(&parts)
    }

    /// What is put together, as a text with holes.
    pub(super) fn text_of(&mut self, e: &Expr, lost: &mut Vec<Text>) -> Template {
        let whole = [e.clone()];
        let mut value = String::new();
        for piece in script::pieces(e).unwrap_or(&whole) {
            match &piece.kind {
                ExprKind::Literal(Literal::String(text)) => {
                    let text = Text::made(text.to_string(), piece.span);
                    value.push_str(&self.holes(&text, lost).value);
                }
                ExprKind::Literal(Literal::Number(_) | Literal::Bool(_)) => {
                    value.push_str(&piece.to_string());
                }
                _ => {
                    value.push_str("{{");
                    value.push_str(&self.expr(piece).to_string());
                    value.push_str("}}");
                }
            }
        }
        parsed(Text::made(value, e.span), lost)
    }
}

/// A text as ABL reads it.
fn parsed(text: Text, lost: &mut Vec<Text>) -> Template {
    let mut problems = Vec::new();
    let template = agentir_syntax::abl::leaf::template(text.leaf(), &mut problems);
    if problems.is_empty() {
        return template;
    }
    // Braces that are no holes in XO are written so that they are none in ABL.
    let value = text.value.replace("{{", "{ {").replace("}}", "} }");
    let spaced = Text::made(value, text.span);
    lost.push(text);
    agentir_syntax::abl::leaf::template(spaced.leaf(), &mut Vec::new())
}

/// A condition that is an expression.
pub(super) fn condition(e: Expr) -> Condition {
    let text = Spanned::new(SmolStr::new(e.to_string()), e.span);
    Condition { text, kind: ConditionKind::Expr(e) }
}
