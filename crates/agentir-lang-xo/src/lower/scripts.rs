//! Lowers scripts: simple ones to statements, others to tools that are called.

use super::messages::{self, Message};
use super::{Context, builders, extensions};
use crate::Text;
use crate::dialect::ID;
use crate::script::{self, Branch as CodeBranch, Script, Statement as Code};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Argument, Expr, ExprKind, Literal, Name, Path, Segment, Template, TypeExpr};
use agentir_ir::{
    Binding, Body, Call, Data, Extensions, Parameter, Response, ReturnType, SetVariable, Statement,
    Target, Tool, ToolType,
};
use agentir_syntax::rules;
use indexmap::IndexMap;
use smol_str::SmolStr;
use std::fmt::Write;

/// Where tools and data of a script go.
pub(super) struct ScriptOutput<'h> {
    /// The tools of the agent.
    pub(super) tools: &'h mut Vec<Tool>,
    /// The extensions of the step.
    pub(super) extensions: &'h mut Extensions,
}

/// Lowers a script.
pub(super) fn body(
    cx: &mut Context<'_, '_>,
    text: &Text,
    name: &str,
    output: &mut ScriptOutput<'_>,
) -> Vec<Statement> {
    let text = extensions::redacted(text, name, cx.problems);
    let script = script::read(&text);
    preserve_comments(&script, &text, output);
    if let Some(simple) = &script.simple
        && let Some(all) = simple.iter().map(|s| statement(cx, s)).collect::<Option<Vec<_>>>()
    {
        return all.into_iter().flatten().collect();
    }
    let mut call = call(cx, &text, &script, name, output);
    if let (true, Statement::Call(call)) = (script.prints, &mut call) {
        let said = said(cx, &script, call, text.span);
        let is_set = |e: Expr| {
            let kind = ExprKind::IsSet { operand: Box::new(e), negated: false };
            Expr::new(kind, text.span).ok()
        };
        let condition = is_set(result(&call.tool, "text", text.span));
        let spoken = vec![Statement::Respond(said)];
        let branches = vec![builders::branch(condition, spoken, text.span)];
        call.on_success.0.push(Statement::If { branches });
    }
    vec![call]
}

/// What a call of a script says: the texts that it printed, and its card.
fn said(cx: &Context<'_, '_>, script: &Script, call: &Call, span: Span) -> Response {
    let tool = &call.tool.value;
    let text = Text::synthetic(format!("{{{{{tool}.text}}}}"), span);
    let text = (cx.names.parsers().template)(text.inline_text(), &mut Vec::new());
    let rich_content = match script.cards.as_slice() {
        [] => None,
        [only] => Some(messages::card(only, |member| match member {
            Some(member) => Data::from(format!("{{{{{tool}.card.payload.{member}}}}}")),
            None => Data::from(format!("{{{{{tool}.card.payload}}}}")),
        })),
        _ => Some(messages::card("card", |_| Data::from(format!("{{{{{tool}.card.payload}}}}")))),
    };
    Response { text: Some(text), rich_content, ..Response::default() }
}

/// `tool.member`.
fn result(tool: &Spanned<Name>, member: &'static str, span: Span) -> Expr {
    let segments = vec![Segment::Field(Spanned::new(SmolStr::new_static(member), span))];
    Expr::path(Path { namespace: None, root: tool.clone(), segments }, span)
}

/// Preserves the comments of a simple script, and how long values live; any other script is preserved whole.
fn preserve_comments(script: &Script, text: &Text, output: &mut ScriptOutput<'_>) {
    if script.simple.is_none() {
        return;
    }
    for (key, all) in [("comments", &script.comments), ("lifetimes", &script.lifetimes)] {
        if !all.is_empty() {
            let all = all.iter().map(|c| Data::from(c.value.as_str())).collect();
            output.extensions.insert(ID, key, Data::Array(all), text.span);
        }
    }
}

/// Lowers a computed message.
pub(super) fn message(
    cx: &mut Context<'_, '_>,
    text: &Text,
    name: &str,
    output: &mut ScriptOutput<'_>,
) -> Message {
    let text = &extensions::redacted(text, name, cx.problems);
    let script = script::read(text);
    preserve_comments(&script, text, output);
    if let Some(simple) = &script.simple
        && let Some(message) = messages::from_script(cx, simple)
    {
        return message;
    }
    let mut call = call(cx, text, &script, &format!("{name}_text"), output);
    let response = match &mut call {
        Statement::Call(call) => {
            call.on_failure = abort(text.span);
            said(cx, &script, call, text.span)
        }
        _ => Response::default(),
    };
    Message { before: vec![call], response }
}

/// Lowers a statement of a simple script; `None` if ABL has no equivalent here.
pub(super) fn statement(cx: &mut Context<'_, '_>, code: &Code) -> Option<Vec<Statement>> {
    Some(match code {
        Code::Assign { target, value, span } => {
            let entity = target
                .segments
                .first()
                .is_some_and(|s| matches!(s, Segment::Field(name) if name.value == "entities"));
            let nothing = match &value.kind {
                ExprKind::Literal(Literal::Null | Literal::Undefined) => true,
                // Clearing an entity makes it be collected again.
                ExprKind::Literal(Literal::String(text)) => entity && text.is_empty(),
                ExprKind::Object(entries) => entries.is_empty(),
                _ => false,
            };
            if let Some(all) = cx.names.group(target) {
                if !nothing || all.is_empty() {
                    return None;
                }
                let variables =
                    all.into_iter().map(|name| Spanned::new(name.value, *span)).collect();
                return Some(vec![Statement::Clear { variables }]);
            }
            let path = cx.names.path(target);
            if path.root.value == "session" && path.segments.is_empty() {
                return None;
            }
            let nothing = nothing && !matches!(value.kind, ExprKind::Object(_));
            if nothing {
                let name = SmolStr::new(Expr::path(path, *span).to_string());
                return Some(vec![Statement::Clear { variables: vec![Spanned::new(name, *span)] }]);
            }
            let value = cx.names.expr(value);
            vec![Statement::Set(SetVariable { target: path, value, span: *span })]
        }
        Code::Log(value) => {
            let mut untranslated = Vec::new();
            let text = cx.names.template_of(value, &mut untranslated);
            cx.report_untranslated(untranslated);
            let value = Spanned::new(Data::from(text.text.value.as_str()), text.text.span);
            vec![Statement::Log { value }]
        }
        Code::Print(value) => {
            if let ExprKind::Object(_) = value.kind {
                return None;
            }
            let mut untranslated = Vec::new();
            let text = cx.names.template_of(value, &mut untranslated);
            cx.report_untranslated(untranslated);
            vec![builders::respond(text)]
        }
        Code::If(all) => {
            let branch = |cx: &mut Context<'_, '_>, b: &CodeBranch| {
                let condition = b.condition.as_ref().map(|c| cx.names.expr(c));
                let body: Option<Vec<_>> = b.body.iter().map(|s| statement(cx, s)).collect();
                Some(builders::branch(condition, body?.into_iter().flatten().collect(), b.span))
            };
            let branches: Option<Vec<_>> = all.iter().map(|b| branch(cx, b)).collect();
            vec![Statement::If { branches: branches? }]
        }
    })
}

/// Parts of the context that a script needs, as a JavaScript object.
#[derive(Default)]
struct Tree(IndexMap<String, Tree>, Option<String>);

impl Tree {
    fn insert(&mut self, path: &[String], value: Option<String>) {
        let mut at = self;
        for name in path {
            at = at.0.entry(name.clone()).or_default();
        }
        at.1 = at.1.take().or(value);
    }

    fn write(&self, out: &mut String) {
        if let Some(value) = &self.1 {
            out.push_str(value);
            return;
        }
        out.push('{');
        for (i, (name, below)) in self.0.iter().enumerate() {
            out.push_str(if i == 0 { " " } else { ", " });
            if below.1.as_ref() != Some(name) {
                let _ = write!(out, "{name}: ");
            }
            below.write(out);
        }
        out.push_str(if self.0.is_empty() { "}" } else { " }" });
    }
}

/// The names in an XO path, without list indices.
fn names_of(path: &Path, segments: usize) -> Vec<String> {
    let names = path.segments.iter().take(segments).filter_map(|s| match s {
        Segment::Field(name) => Some(name.value.to_string()),
        _ => None,
    });
    names.collect()
}

/// A script as a tool, while it is put together.
struct Wrapped<'s> {
    script: &'s Script,
    /// The objects that the script finds, by name.
    objects: IndexMap<&'static str, Tree>,
    /// What the call gives.
    with: Vec<Argument>,
    /// What the script changes: the variable, and where the script has it.
    written: Vec<(Spanned<Name>, String)>,
}

impl Wrapped<'_> {
    /// Adds a value that the script needs.
    fn give(&mut self, cx: &mut Context<'_, '_>, path: &Path) {
        if let Some(all) = cx.names.whole_form(path) {
            let form = names_of(path, path.segments.len());
            for (field, variable) in all {
                let at: Vec<String> = form.iter().cloned().chain([field.to_string()]).collect();
                self.give_value("context", &at, Path::variable(variable), path.root.span);
            }
            return;
        }
        let (translated, consumed) = cx.names.resolve(path);
        let root = match path.root.value.as_str() {
            "env" => "env",
            "content" => "content",
            _ => "context",
        };
        let at = names_of(path, consumed);
        if translated.root.value == "session" && translated.segments.is_empty() {
            // Which members are needed is unknown; accessing them must not fail.
            self.objects.entry(root).or_default().insert(&at, None);
            return;
        }
        self.give_value(root, &at, translated, path.root.span);
    }

    fn give_value(&mut self, root: &'static str, at: &[String], value: Path, span: Span) {
        let wanted = match value.segments.last() {
            Some(Segment::Field(last)) => super::names::identifier(&last.value),
            _ => value.root.value.clone(),
        };
        let value = Expr::path(value, span);
        let known = self.with.iter().find(|a| a.value == value);
        let parameter = known.and_then(|a| a.name.as_ref()).map(|n| n.value.clone());
        let parameter = parameter.unwrap_or_else(|| {
            let taken = |name: &SmolStr| {
                self.with.iter().any(|a| a.name.as_ref().is_some_and(|n| n.value == *name))
            };
            let numbered = (2_u32..).map(|n| SmolStr::new(format!("{wanted}_{n}")));
            let name = std::iter::once(wanted.clone()).chain(numbered).find(|name| !taken(name));
            let name = name.unwrap_or(wanted);
            self.with.push(Argument { name: Some(Spanned::new(name.clone(), span)), value });
            name
        });
        self.objects.entry(root).or_default().insert(at, Some(parameter.to_string()));
    }

    /// Adds a value that the script changes.
    fn change(&mut self, cx: &mut Context<'_, '_>, path: &Path) {
        // What is deleted is not there any more.
        let gone = if self.script.deletes.contains(path) { " ?? null" } else { "" };
        if let Some(all) = cx.names.whole_form(path) {
            let form = names_of(path, path.segments.len());
            for (field, variable) in all {
                let whole = format!("context.{}?.{field} ?? null", form.join("."));
                self.returns(variable, whole);
            }
            return;
        }
        let (translated, consumed) = cx.names.resolve(path);
        if translated.root.value == "session" && translated.segments.is_empty() {
            cx.problem(
                Diagnostic::warning(
                    rules::UNTRANSLATED,
                    path.root.span,
                    "this script replaces a part of the context as a whole",
                )
                .note(
                    "which values that are is not known, so the conversation keeps the ones it has",
                )
                .help("set or clear the values one by one"),
            );
            return;
        }
        if path.segments.len() > consumed {
            // Only a part is written, so the rest has to exist.
            self.give(cx, path);
        }
        let at = names_of(path, consumed);
        if let (Some((_, outside)), Some(object)) =
            (at.split_last(), self.objects.get_mut("context"))
        {
            object.insert(outside, None);
        }
        let gone = if path.segments.len() > consumed { "" } else { gone };
        self.returns(translated.root, format!("context.{}{gone}", at.join(".")));
    }

    fn returns(&mut self, variable: Spanned<Name>, whole: String) {
        if !self.written.iter().any(|(name, _)| name.value == variable.value) {
            self.written.push((variable, whole));
        }
    }

    /// The objects as code: the context, and what scripts use of the platform.
    fn objects(&mut self, text: &str) -> String {
        for name in &self.script.objects {
            let at = ["session".to_owned(), (*name).to_owned()];
            self.objects.entry("context").or_default().insert(&at, None);
        }
        let mut code = String::new();
        for (name, tree) in &self.objects {
            let _ = write!(code, "const {name} = ");
            tree.write(&mut code);
            code.push_str(";\n");
        }
        if !self.script.objects.is_empty() {
            code.push_str(SESSION_SHIM);
            for name in &self.script.objects {
                let _ = writeln!(code, "const {name} = stored(context.session.{name});");
            }
        }
        if text.contains("koreDebugger") {
            code.push_str("const koreDebugger = { log() {} };\n");
        }
        code
    }
}

/// What the objects of the session can do on XO: `put(key, value, seconds)`, `put(map, key, value, seconds)`, and `get`,
/// `delete` and `remove` with the key, or with the name of a map in front of it. How long values live is up to the session.
const SESSION_SHIM: &str = "\
// The session's objects, as scripts of XO use them.
const stored = (all) => Object.setPrototypeOf(all, {
  get(...keys) { return keys.reduce((at, key) => at?.[key], this); },
  put(...given) {
    const inMap = given.length > 3 || (given.length === 3 && typeof given[2] !== \"number\");
    const at = inMap ? (this[given.shift()] ??= {}) : this;
    at[given[0]] = given[1];
  },
  delete(...keys) {
    const last = keys.pop();
    delete keys.reduce((at, key) => at?.[key], this)?.[last];
  },
  remove(...keys) { this.delete(...keys); },
});
";

/// What is returned of printed texts: cards are data, the rest is said.
const CARD_SHIM: &str = "\
const parsed = said.map((text) => { try { return JSON.parse(text); } catch { return null; } });
const card = parsed.find((one) => one?.payload) ?? null;
const shown = (one) => [one?.title, one?.subtitle].filter(Boolean).join(\": \");
const lines = said.map((text, at) => !parsed[at]?.payload ? text : parsed[at].payload.text
  ?? (parsed[at].payload.elements ?? parsed[at].payload.buttons ?? []).map(shown).join(\"\\n\"));
";

/// Turns a script into a tool and calls it.
///
/// The tool's parameters are the values that the script reads. Its code builds the context object, runs
/// the script unchanged, and returns the values that the script wrote. A script that several nodes have becomes one
/// tool.
fn call(
    cx: &mut Context<'_, '_>,
    text: &Text,
    script: &Script,
    name: &str,
    output: &mut ScriptOutput<'_>,
) -> Statement {
    let span = text.span;
    let mut wrapped =
        Wrapped { script, objects: IndexMap::new(), with: Vec::new(), written: Vec::new() };
    wrapped.objects.insert("context", Tree::default());
    for path in &script.reads {
        wrapped.give(cx, path);
    }
    let needed = wrapped.with.len();
    for path in &script.keeps {
        wrapped.give(cx, path);
    }
    for path in &script.writes {
        wrapped.change(cx, path);
    }
    for place in &script.computed_keys {
        cx.problem(
            Diagnostic::warning(
                rules::UNTRANSLATED,
                *place,
                "this script computes which value it stores or reads",
            )
            .note(
                "which value that is is not known, so it neither reaches the script nor comes back",
            )
            .help("use one value with a fixed name, such as a map"),
        );
    }
    let mut code = wrapped.objects(&text.value);
    let Wrapped { with, written, .. } = wrapped;
    let mut returned: Vec<String> = written.iter().map(|(n, at)| format!("{n}: {at}")).collect();
    if script.prints {
        code.push_str("const said = [];\nconst print = (text) => said.push(text);\n");
    }
    indented(&text.value, &mut code);
    if script.prints && script.cards.is_empty() {
        returned.push("text: said.join(\"\\n\") || null".to_owned());
    } else if script.prints {
        code.push_str(CARD_SHIM);
        returned.push("text: lines.join(\"\\n\") || null, card".to_owned());
    }
    match returned.as_slice() {
        [] => code.push_str("return {};"),
        all => {
            let _ = write!(code, "return {{ {} }};", all.join(", "));
        }
    }
    let own = tool(cx, name, (&with, needed), code, span, output);
    let mut call = Call::new(own.clone(), with, span);
    call.on_success = Body(written.into_iter().map(|(name, _)| set(&own, name, span)).collect());
    if !call.on_success.is_empty() {
        call.on_failure = abort(span);
    }
    Statement::Call(Box::new(call))
}

/// Adds a script, indented by spaces: a tab at the start of a line is no part of a text, unless a text has several lines.
fn indented(script: &str, code: &mut String) {
    let lines = script.trim_end().lines();
    if script.contains('`') {
        lines.for_each(|line| {
            let _ = writeln!(code, "{line}");
        });
        return;
    }
    for line in lines {
        let body = line.trim_start_matches(['\t', ' ']);
        let depth = line.get(..line.len() - body.len()).unwrap_or_default();
        let _ = writeln!(code, "{}{body}", depth.replace('\t', "  "));
    }
}

/// The tool that runs code; the one that there is, if there is one of the same code.
fn tool(
    cx: &mut Context<'_, '_>,
    name: &str,
    (with, needed): (&[Argument], usize),
    code: String,
    span: Span,
    output: &mut ScriptOutput<'_>,
) -> Spanned<Name> {
    let known = cx.scripts.get(&code).cloned();
    let own = known.unwrap_or_else(|| {
        let tool = cx.names.tool(name);
        cx.scripts.insert(code.clone(), tool.clone());
        tool
    });
    let own = Spanned::new(own, span.at_start());
    if output.tools.iter().any(|tool| tool.name.value == own.value) {
        return own;
    }
    let mut tool = builders::tool(own.clone(), ToolType::Sandbox, span);
    tool.description = Some(Template::plain(Spanned::new(
        SmolStr::new(format!("Runs the script `{}`", own.value)),
        span.at_start(),
    )));
    tool.parameters = with
        .iter()
        .enumerate()
        .filter_map(|(at, a)| {
            // What is only kept need not have a value yet.
            let parameter = builders::parameter(a.name.clone()?, None);
            Some(Parameter { required: at < needed, ..parameter })
        })
        .collect();
    tool.returns = Some(ReturnType::new(TypeExpr::named("object", span.at_start())));
    let binding = [("runtime", "javascript"), ("code", code.as_str())];
    let binding = binding.map(|(key, value)| (key.to_owned(), Data::from(value)));
    tool.binding = Some(Binding(binding.into_iter().collect()));
    output.tools.push(tool);
    own
}

/// The failure branch of a script: the task is aborted.
fn abort(span: Span) -> Body {
    Body(vec![builders::goto(Target::Complete, span.at_start())])
}

/// `name = tool.name`.
fn set(tool: &Spanned<Name>, name: Spanned<Name>, span: Span) -> Statement {
    let segments = vec![Segment::Field(name.clone())];
    let value = Path { namespace: None, root: tool.clone(), segments };
    let value = Expr::path(value, span);
    Statement::Set(SetVariable { target: Path::variable(name), value, span })
}
