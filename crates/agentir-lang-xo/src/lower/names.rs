//! Names in AgentIR (variables, tools, agents and steps), and the translation of expressions and texts
//! that use them.

use super::sessions::Shared;
use crate::tables::{ANSWERS, ENTITIES, FORMS, KNOWN_PATHS, LASTING, SCOPES, USER};
use crate::{Text, script};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::dialect::RuntimeNames;
use agentir_expr::{
    Condition, ConditionKind, Expr, ExprKind, Literal, Name, ObjectEntry, Path, Segment, Template,
};
use agentir_syntax::InlineParsers;
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};

/// How many fields forms that are named as a whole stand for, in all of an export: each mention becomes all of them.
const MAX_EXPANDED: usize = 20_000;

/// The namespace of the variables that a supervisor shares with its agents.
const STATE: &str = "conversation";

/// The persistent memory of a project.
pub(super) const PROJECT: &str = "project";

/// A namespace of unique names.
#[derive(Debug)]
pub(super) struct Namespace {
    /// The language that the names are written in.
    parsers: &'static InlineParsers,
    runtime: &'static RuntimeNames,
    taken: FxHashSet<SmolStr>,
    /// The next numeric suffix to try.
    next: FxHashMap<SmolStr, u32>,
}

impl Namespace {
    /// An empty namespace.
    pub(super) fn new(parsers: &'static InlineParsers, runtime: &'static RuntimeNames) -> Self {
        Self { parsers, runtime, taken: FxHashSet::default(), next: FxHashMap::default() }
    }

    /// A valid and unused name close to `wanted`: `wanted`, else with the prefix `scope` if any, else with
    /// a numeric suffix.
    pub(super) fn claim(&mut self, wanted: &str, scope: &str) -> SmolStr {
        let plain = identifier(wanted);
        let owned = |name: &str| {
            self.runtime.variable(name).is_some() || self.runtime.namespace(name).is_some()
        };
        let is_reserved =
            |name: &str| is_reserved(name) || (self.parsers.is_word)(name) || owned(name);
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

/// An identifier: letters, digits and underscores, starting with a letter.
pub(super) fn identifier(text: &str) -> SmolStr {
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

/// A name in words: `CreateTickets` and `Create_Tickets` are "Create tickets". What has spaces is words already.
pub(super) fn words(name: &str) -> String {
    let name = name.trim();
    if name.contains(char::is_whitespace) {
        return name.to_owned();
    }
    let mut spaced = String::with_capacity(name.len());
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if (begins || c == '_') && !spaced.ends_with(' ') && !spaced.is_empty() {
            spaced.push(' ');
        }
        if c != '_' {
            spaced.push(c);
        }
        before = c;
    }
    let lower = |word: &str| match word.chars().nth(1) {
        // An abbreviation.
        Some(second) if second.is_uppercase() => word.to_owned(),
        _ => word.to_lowercase(),
    };
    let words: Vec<String> = spaced
        .split_whitespace()
        .enumerate()
        .map(|(at, word)| if at == 0 { word.to_owned() } else { lower(word) })
        .collect();
    words.join(" ")
}

/// Names reserved by flows.
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
}

/// The names of the variables and services of an export.
#[derive(Debug)]
pub(super) struct Names {
    /// Variables by their XO paths.
    variables: FxHashMap<String, SmolStr>,
    /// Tools by the names of the services whose responses the context holds.
    services: FxHashMap<SmolStr, SmolStr>,
    /// Tools by the names of the nodes that ask a model.
    models: FxHashMap<SmolStr, SmolStr>,
    /// Variables and tools share a namespace, since expressions refer to both.
    space: Namespace,
    /// The fields of forms, by the names of the forms.
    forms: FxHashMap<SmolStr, Vec<SmolStr>>,
    /// How many fields forms that are named as a whole stood for so far.
    expanded: usize,
    /// Where a form is named as a whole after [`MAX_EXPANDED`] fields.
    unexpanded: Vec<Span>,
    /// The variables for the status of answers, by the tools.
    statuses: FxHashMap<SmolStr, SmolStr>,
    /// Where something else than body and status of an answer is read.
    unanswered: Vec<Span>,
    /// The services that are not there and whose answers are read, each with the first place.
    unknown_services: IndexMap<SmolStr, Span>,
    /// The variables of the session that several dialogs use.
    shared: Shared,
    /// Those that the supervisor declares for all of them, each with the span of its first use.
    states: IndexMap<Name, Span>,
    /// Variables used since the last call of `used`, each with the span of its first use.
    used: IndexMap<Name, Span>,
}

/// The name of the tool that is registered under `name`, after it is.
fn register(
    tools: &mut FxHashMap<SmolStr, SmolStr>,
    space: &mut Namespace,
    name: &str,
    scope: &str,
) -> SmolStr {
    let tool = tools.entry(SmolStr::new(name));
    tool.or_insert_with(|| space.claim(name, scope)).clone()
}

fn field(segment: &Segment) -> Option<&str> {
    match segment {
        Segment::Field(name) => Some(&name.value),
        _ => None,
    }
}

/// The number of segments of `path` that match `prefix`, if all do; list indices are skipped.
fn matched_prefix(path: &Path, prefix: &[&str]) -> Option<usize> {
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
    /// No names, in the language that the export is translated to.
    pub(super) fn new(
        parsers: &'static InlineParsers,
        runtime: &'static RuntimeNames,
        shared: Shared,
    ) -> Self {
        let mut space = Namespace::new(parsers, runtime);
        space.taken.extend([STATE, PROJECT].map(SmolStr::new_static));
        Self {
            variables: FxHashMap::default(),
            services: FxHashMap::default(),
            models: FxHashMap::default(),
            space,
            forms: FxHashMap::default(),
            expanded: 0,
            unexpanded: Vec::new(),
            statuses: FxHashMap::default(),
            unanswered: Vec::new(),
            unknown_services: IndexMap::new(),
            shared,
            states: IndexMap::new(),
            used: IndexMap::new(),
        }
    }

    /// An empty namespace of the language that the export is translated to.
    pub(super) fn namespace(&self) -> Namespace {
        Namespace::new(self.space.parsers, self.space.runtime)
    }

    /// The parsers of the language that the export is translated to.
    pub(super) fn parsers(&self) -> &'static InlineParsers {
        self.space.parsers
    }

    /// Registers a service and returns the name of its tool.
    pub(super) fn service(&mut self, name: &str) -> SmolStr {
        register(&mut self.services, &mut self.space, name, "call")
    }

    /// Registers a node that asks a model, and returns the name of its tool. The model's answers have a place of their
    /// own, so a service may have the same name.
    pub(super) fn model(&mut self, name: &str) -> SmolStr {
        register(&mut self.models, &mut self.space, name, "ask")
    }

    /// The variable for the status of a tool's answers.
    pub(super) fn status_of(&mut self, tool: &SmolStr) -> SmolStr {
        if let Some(known) = self.statuses.get(tool) {
            return known.clone();
        }
        let name = self.space.claim(&format!("{tool}_status"), "");
        self.statuses.insert(tool.clone(), name.clone());
        name
    }

    /// The variables for the status of answers, by the tools.
    pub(super) const fn statuses(&self) -> &FxHashMap<SmolStr, SmolStr> {
        &self.statuses
    }

    /// The tool that a path names the whole answer of: `context.Find.response`, or `context.Find`.
    pub(super) fn whole_answer(&self, path: &Path) -> Option<SmolStr> {
        let mut names = path.segments.iter().map(field);
        let tool = self.services.get(names.next()??).filter(|_| path.root.value == "context")?;
        match (names.next(), names.next()) {
            (None, _) | (Some(Some("response")), None) => Some(tool.clone()),
            _ => None,
        }
    }

    /// Where something of an answer is read that is neither its body nor its status.
    pub(super) fn unanswered(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.unanswered)
    }

    /// The services that are not there and whose answers are read, each with the first place, and a service whose name
    /// is similar.
    pub(super) fn unknown_services(&mut self) -> Vec<(SmolStr, Span, Option<SmolStr>)> {
        let all = std::mem::take(&mut self.unknown_services);
        let near = |name: &str| {
            agentir_diagnostics::closest(name, self.services.keys().map(SmolStr::as_str))
                .map(SmolStr::new)
        };
        all.into_iter().map(|(name, span)| (name.clone(), span, near(&name))).collect()
    }

    /// The variables that dialogs share by the supervisor, each with the place of its first use.
    pub(super) fn states(&mut self) -> Vec<Spanned<Name>> {
        let all = std::mem::take(&mut self.states);
        all.into_iter().map(|(name, span)| Spanned::new(name, span)).collect()
    }

    /// The tool of a service.
    pub(super) fn tool_of(&self, service: &str) -> Option<&SmolStr> {
        self.services.get(service)
    }

    /// What a path below [`ANSWERS`] refers to: the answer of a model.
    fn answer(&self, path: &Path) -> Option<(Path, usize)> {
        let [first, name, rest @ ..] = path.segments.as_slice() else { return None };
        if field(first) != Some(ANSWERS) {
            return None;
        }
        let span = path.root.span;
        let tool = Spanned::new(self.models.get(field(name)?)?.clone(), span);
        let part = |name: &str| Segment::Field(Spanned::new(SmolStr::new(name), span));
        let (segments, consumed) = match rest.first().and_then(field) {
            // Where chat completions have it.
            Some("text") => {
                (vec![part("choices"), Segment::Index(0), part("message"), part("content")], 3)
            }
            _ => (Vec::new(), 2),
        };
        Some((Path { namespace: None, root: tool, segments }, consumed))
    }

    /// A name for a tool without a service.
    pub(super) fn tool(&mut self, wanted: &str) -> SmolStr {
        self.space.claim(wanted, "run")
    }

    /// Takes the variables used since the last call.
    pub(super) fn used(&mut self) -> Vec<Spanned<Name>> {
        let all = std::mem::take(&mut self.used);
        all.into_iter().map(|(name, span)| Spanned::new(name, span)).collect()
    }

    /// The variable that an entity fills.
    pub(super) fn entity(&mut self, name: &str, span: Span) -> Spanned<Name> {
        let name = self.variable(&["context", ENTITIES], "entity", name);
        Spanned::new(name, span)
    }

    /// Registers a form and its fields, so that all of them can be referred to.
    pub(super) fn form(&mut self, form: &str, fields: Vec<SmolStr>) {
        self.forms.entry(SmolStr::new(form)).or_insert(fields);
    }

    /// The variable that a field of a form fills.
    pub(super) fn form_field(&mut self, form: &str, field: &str, span: Span) -> Spanned<Name> {
        let scope = identifier(form);
        Spanned::new(self.variable(&["context", FORMS, form], &scope, field), span)
    }

    /// Where a form is named as a whole whose fields are not all written out.
    pub(super) fn unexpanded(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.unexpanded)
    }

    /// The variables of all fields of the form that a path names as a whole; `None` also if they would be too many.
    pub(super) fn whole_form(&mut self, path: &Path) -> Option<Vec<(SmolStr, Spanned<Name>)>> {
        let [first, form] = path.segments.as_slice() else { return None };
        if path.root.value != "context" || field(first) != Some(FORMS) {
            return None;
        }
        let form = SmolStr::new(field(form)?);
        let fields = self.forms.get(&form)?;
        let span = path.root.span;
        self.expanded = self.expanded.saturating_add(fields.len());
        if self.expanded > MAX_EXPANDED {
            self.unexpanded.push(span);
            return None;
        }
        let fields = fields.clone();
        let all = fields.into_iter().map(|f| (f.clone(), self.form_field(&form, &f, span)));
        let all: Vec<_> = all.collect();
        all.iter().for_each(|(_, variable)| self.note_use(&variable.value, span));
        Some(all)
    }

    /// The variables that a path names as a group: of one form, of all forms, or of all entities.
    pub(super) fn group(&mut self, path: &Path) -> Option<Vec<Spanned<Name>>> {
        if let Some(all) = self.whole_form(path) {
            return Some(all.into_iter().map(|(_, variable)| variable).collect());
        }
        let [only] = path.segments.as_slice() else { return None };
        let prefix = match (path.root.value.as_str(), field(only)) {
            ("context", Some(name @ (FORMS | ENTITIES))) => format!("context.{name}."),
            _ => return None,
        };
        let span = path.root.span;
        let all = self.variables.iter().filter(|(key, _)| key.starts_with(&prefix));
        let mut all: Vec<Name> = all.map(|(_, variable)| variable.clone()).collect();
        all.sort_unstable();
        all.iter().for_each(|variable| self.note_use(variable, span));
        Some(all.into_iter().map(|variable| Spanned::new(variable, span)).collect())
    }

    fn note_use(&mut self, variable: &SmolStr, span: Span) {
        if !self.used.contains_key(variable) {
            self.used.insert(variable.clone(), span);
        }
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

    /// Translates an XO path.
    pub(super) fn path(&mut self, path: &Path) -> Path {
        let (mut translated, consumed) = self.resolve(path);
        translated.segments.extend_from_slice(path.segments.get(consumed..).unwrap_or_default());
        translated
    }

    /// The variable, tool or setting that a prefix of `path` refers to, and the number of its segments.
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
        for (prefix, translated) in KNOWN_PATHS {
            if let Some(at) = matched_prefix(path, prefix) {
                return (named(translated), at);
            }
        }
        if let Some(tool) = self.services.get(first).cloned() {
            if path.segments.get(1).and_then(field) != Some("response") {
                return (named(&tool), 1);
            }
            return match path.segments.get(2).and_then(field) {
                Some("body") => (named(&tool), 3),
                Some("statusCode") => (named(&self.status_of(&tool)), 3),
                Some(_) => {
                    self.unanswered.push(span);
                    (named(&tool), 2)
                }
                None => (named(&tool), 2),
            };
        }
        if let Some(answer) = self.answer(path) {
            return answer;
        }
        if let [_, response, part, ..] = path.segments.as_slice()
            && field(response) == Some("response")
            && matches!(field(part), Some("body" | "statusCode"))
        {
            self.unknown_services.entry(SmolStr::new(first)).or_insert(span);
        }
        if let [first, form, entered, ..] = path.segments.as_slice()
            && field(first) == Some(FORMS)
            && let (Some(form), Some(entered)) = (field(form), field(entered))
        {
            let variable = self.form_field(form, entered, span).value;
            self.note_use(&variable, span);
            return (named(&variable), 3);
        }
        for (prefix, scope) in SCOPES {
            let Some(at) = matched_prefix(path, prefix) else { continue };
            let Some(name) = path.segments.get(at).and_then(field) else {
                // All variables of a scope.
                return (named("session"), path.segments.len());
            };
            // What belongs to the user, to the bot or to the company exists before the conversation.
            let variable = if *scope == USER {
                format_smolstr!("{USER}.{}", identifier(name))
            } else {
                let own = self.variable(prefix, scope, name);
                let lasts = LASTING.contains(scope);
                match lasts || self.shared.contains(scope, name) {
                    true if lasts => format_smolstr!("{PROJECT}.{own}"),
                    true => format_smolstr!("{STATE}.{own}"),
                    false => own,
                }
            };
            if variable.starts_with(STATE) && variable.contains('.') {
                self.states.entry(variable.clone()).or_insert(span);
            } else {
                self.note_use(&variable, span);
            }
            return (named(&variable), at + 1);
        }
        (named("session"), path.segments.len())
    }

    /// Translates an expression.
    pub(super) fn expr(&mut self, e: &Expr) -> Expr {
        let kind = match &e.kind {
            ExprKind::Path(path) => match self.whole_form(path) {
                None => return Expr::path(self.path(path), e.span),
                Some(all) => {
                    let entry = |(key, variable): (SmolStr, Spanned<Name>)| ObjectEntry {
                        key: Spanned::new(key, e.span),
                        value: Some(Expr::path(Path::variable(variable), e.span)),
                    };
                    ExprKind::Object(all.into_iter().map(entry).collect())
                }
            },
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
        // The depth does not change.
        Expr::new(kind, e.span).unwrap_or_else(|_| e.clone())
    }

    fn all(&mut self, items: &[Expr]) -> Vec<Expr> {
        items.iter().map(|i| self.expr(i)).collect()
    }

    /// Translates a text with placeholders. Placeholders without a counterpart in ABL are added to `lost`
    /// and stay in the text without braces.
    pub(super) fn template(&mut self, text: &Text, untranslated: &mut Vec<Text>) -> Template {
        let text = self.holes(text, untranslated);
        parsed(self.parsers(), text, untranslated)
    }

    /// Translates the placeholders of a text.
    pub(super) fn holes(&mut self, text: &Text, untranslated: &mut Vec<Text>) -> Text {
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
                    untranslated.push(inside);
                    format!("({})", words.trim())
                }
            };
            parts.push((start..end, by));
            at = end;
        }
        text.replaced(&parts)
    }

    /// Turns a concatenation into a text with placeholders.
    pub(super) fn template_of(&mut self, e: &Expr, untranslated: &mut Vec<Text>) -> Template {
        let whole = [e.clone()];
        let mut value = String::new();
        for piece in script::pieces(e).unwrap_or(&whole) {
            match &piece.kind {
                ExprKind::Literal(Literal::String(text)) => {
                    let text = Text::synthetic(text.to_string(), piece.span);
                    value.push_str(&self.holes(&text, untranslated).value);
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
        parsed(self.parsers(), Text::synthetic(value, e.span), untranslated)
    }
}

/// Parses a text with the placeholders of the language that the export is translated to.
fn parsed(parsers: &InlineParsers, text: Text, untranslated: &mut Vec<Text>) -> Template {
    let mut problems = Vec::new();
    let template = (parsers.template)(text.inline_text(), &mut problems);
    if problems.is_empty() {
        return template;
    }
    // Braces that are not placeholders in XO are written so that they are not read as such.
    let value = text.value.replace("{{", "{ {").replace("}}", "} }");
    let spaced = Text::synthetic(value, text.span);
    untranslated.push(text);
    (parsers.template)(spaced.inline_text(), &mut Vec::new())
}

/// A condition from an expression.
pub(super) fn condition(e: Expr) -> Condition {
    let text = Spanned::new(SmolStr::new(e.to_string()), e.span);
    Condition { text, kind: ConditionKind::Expr(e) }
}
