//! Lowers scripts: simple ones to statements, others to tools that are called.

use super::messages::{self, Message};
use super::names::PROJECT;
use super::status::Compared;
use super::{Context, builders, extensions, types};
use crate::Text;
use crate::dialect::ID;
use crate::script::{self, Branch as CodeBranch, Script, Statement as Code, Use};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Argument, Expr, ExprKind, Literal, Name, Path, Segment, Template, TypeExpr};
use agentir_ir::{
    Binding, Body, Call, Data, Extensions, Parameter, Response, ReturnType, SetVariable, Statement,
    Target, Tool, ToolType, Transform,
};
use agentir_syntax::rules;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
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
    let text = extensions::redacted(text, name, &mut cx.reports);
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
fn said(cx: &mut Context<'_, '_>, script: &Script, call: &Call, span: Span) -> Response {
    let tool = &call.tool.value;
    let text = Text::synthetic(format!("{{{{{tool}.text}}}}"), span);
    let text = (cx.names.parsers().template)(text.inline_text(), &mut Vec::new());
    let mut formats: Vec<_> = Vec::new();
    for kind in &script.cards {
        match messages::format_of(kind) {
            Some(format) if !formats.contains(&format) => formats.push(format),
            Some(_) => {}
            None => no_format(cx, kind, tool, span),
        }
    }
    // Which of several cards it is, is not known before.
    let rich_content = match formats.as_slice() {
        [(name, part)] if script.cards.len() == 1 => {
            let part = part.map_or_else(String::new, |part| format!(".{part}"));
            Some(messages::rich(name, Data::from(format!("{{{{{tool}.card.payload{part}}}}}"))))
        }
        [] => None,
        several => {
            let names: Vec<_> = several.iter().map(|(name, _)| format!("`{name}`")).collect();
            one_of_several(cx, &names, tool, span);
            None
        }
    };
    Response { text: Some(text), rich_content, ..Response::default() }
}

/// Reports a card of a kind that no format is like.
fn no_format(cx: &mut Context<'_, '_>, kind: &str, tool: &Name, span: Span) {
    let base = cx.base;
    cx.problem(
        Diagnostic::warning(
            rules::UNTRANSLATED,
            span,
            format!("{base} has no format for the card `{kind}` of this message"),
        )
        .note("its text is said")
        .help(format!(
            "if the card matters, show what it needs in one of the formats: the script gives it as `{{{{{tool}.card.payload}}}}`"
        )),
    );
}

/// Reports a script that shows one of several cards.
fn one_of_several(cx: &mut Context<'_, '_>, formats: &[String], tool: &Name, span: Span) {
    cx.problem(
        Diagnostic::warning(
            rules::UNTRANSLATED,
            span,
            "this message shows one of several cards, which are not of one format",
        )
        .note("its text is said")
        .help(format!(
            "if the cards matter, say each in a branch of its own, as {}: the script gives the card as `{{{{{tool}.card.payload}}}}`",
            formats.join(" or ")
        )),
    );
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
    let text = &extensions::redacted(text, name, &mut cx.reports);
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
            if nothing && path.root.value == PROJECT {
                // Nothing in persistent memory is deleted.
                report_kept(cx, *span);
                let value = Expr::literal(Literal::String(SmolStr::default()), *span);
                return Some(vec![Statement::Set(SetVariable {
                    target: path,
                    value,
                    span: *span,
                })]);
            }
            if nothing {
                let name = SmolStr::new(Expr::path(path, *span).to_string());
                return Some(vec![Statement::Clear { variables: vec![Spanned::new(name, *span)] }]);
            }
            let value = cx.names.expr(value);
            vec![Statement::Set(SetVariable { target: path, value, span: *span })]
        }
        Code::List { target, made, span } => {
            let is_whole = |path: &Path| path.root.value == "session" && path.segments.is_empty();
            if cx.names.group(target).is_some() {
                return None;
            }
            let (target, source) = (cx.names.path(target), cx.names.expr(&made.source));
            let all = matches!(&source.kind, ExprKind::Path(path) if !is_whole(path));
            if is_whole(&target) || !all {
                return None;
            }
            // An item hides a variable of its name.
            let mut hides = false;
            let mut part = |part: &Expr| {
                part.paths(&mut |path| {
                    if path.root.value != made.item.value {
                        hides |= cx.names.path(path).root.value == made.item.value;
                    }
                });
                cx.names.expr(part)
            };
            let transform = Transform {
                filter: made.filter.as_ref().map(&mut part),
                map: made.fields.iter().map(|(name, value)| (name.clone(), part(value))).collect(),
                limit: made.limit.as_ref().map(&mut part),
                source,
                item_var: made.item.clone(),
                target: Spanned::new(SmolStr::new(Expr::path(target, *span).to_string()), *span),
                sort_by: None,
                span: *span,
            };
            if hides {
                return None;
            }
            vec![Statement::Transform(transform)]
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

/// Reports that a value is deleted that outlives the conversation.
fn report_kept(cx: &mut Context<'_, '_>, span: Span) {
    let base = cx.base;
    cx.problem(
        Diagnostic::warning(
            rules::UNTRANSLATED,
            span,
            format!("this deletes a value of persistent memory, which {base} cannot"),
        )
        .note("the value is an empty text afterwards")
        .help("where it matters whether there is a value, test for `\"\"` as well"),
    );
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
    /// The types that the script shows of it, by parameter.
    types: FxHashMap<SmolStr, TypeExpr>,
    /// What the script changes: the variable, the name that it is returned under, and where the script has it.
    written: Vec<(Path, SmolStr, String)>,
}

impl Wrapped<'_> {
    /// Adds a value that the script needs.
    fn give(&mut self, cx: &mut Context<'_, '_>, path: &Path) {
        if let Some(all) = cx.names.whole_form(path) {
            let form = names_of(path, path.segments.len());
            for (field, variable) in all {
                let at: Vec<String> = form.iter().cloned().chain([field.to_string()]).collect();
                self.give_value("context", &at, Path::variable(variable), path.root.span, None);
            }
            return;
        }
        let (translated, consumed) = cx.names.resolve(path);
        let span = path.root.span;
        if let Some(tool) = cx.names.whole_answer(path) {
            self.give_answer(cx, path, &tool, span);
            return;
        }
        let root = match path.root.value.as_str() {
            "env" => "env",
            "content" => "content",
            _ => "context",
        };
        let mut at = names_of(path, consumed);
        if consumed == 2 && at.get(1).is_some_and(|name| name == "response") {
            // Of an answer there is its body.
            at.push("body".to_owned());
        }
        self.note_status(cx, &translated, path);
        if translated.root.value == "session" && translated.segments.is_empty() {
            // Which members are needed is unknown; accessing them must not fail.
            self.objects.entry(root).or_default().insert(&at, None);
            return;
        }
        let ty = types::of_uses(&self.script.uses, path, consumed);
        self.give_value(root, &at, translated, span, ty);
    }

    /// Gives an answer as a whole, in the shape that scripts find it in.
    fn give_answer(&mut self, cx: &mut Context<'_, '_>, path: &Path, tool: &SmolStr, span: Span) {
        let service = names_of(path, 1);
        let variable = |name: SmolStr| Path::variable(Spanned::new(name, span));
        let status = variable(cx.names.status_of(tool));
        self.note_status(cx, &status, path);
        for (part, value) in [("statusCode", status), ("body", variable(tool.clone()))] {
            let parts = ["response", part].map(str::to_owned);
            let at: Vec<String> = service.iter().cloned().chain(parts).collect();
            let named =
                at.iter().map(|name| Segment::Field(Spanned::new(SmolStr::new(name), span)));
            let whole = Path { segments: named.collect(), ..path.clone() };
            let ty = types::of_uses(&self.script.uses, &whole, whole.segments.len());
            self.give_value("context", &at, value, span, ty);
        }
    }

    /// Notes what the script does with the status of an answer.
    fn note_status(&self, cx: &mut Context<'_, '_>, value: &Path, path: &Path) {
        let name = &value.root.value;
        if !value.segments.is_empty() || !cx.names.statuses().values().any(|known| known == name) {
            return;
        }
        let span = path.root.span;
        let compared = self.script.uses.iter().filter(|(used, _)| used == path).map(|(_, used)| {
            let compared = match used {
                Use::Compared(op, with) => Compared::new(*op, *with),
                _ => None,
            };
            (compared, span)
        });
        let mut all: Vec<_> = compared.collect();
        if all.is_empty() {
            all.push((None, span));
        }
        cx.given_statuses.entry(name.clone()).or_default().extend(all);
    }

    fn give_value(
        &mut self,
        root: &'static str,
        at: &[String],
        value: Path,
        span: Span,
        ty: Option<TypeExpr>,
    ) {
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
        if let Some(ty) = ty {
            self.types.entry(parameter.clone()).or_insert(ty);
        }
        self.objects.entry(root).or_default().insert(at, Some(parameter.to_string()));
    }

    /// Adds a value that the script changes.
    fn change(&mut self, cx: &mut Context<'_, '_>, path: &Path) {
        // What is deleted is not there any more.
        let deletes = self.script.deletes.contains(path);
        if let Some(all) = cx.names.whole_form(path) {
            let form = names_of(path, path.segments.len());
            for (field, variable) in all {
                let whole = format!("context.{}?.{field} ?? null", form.join("."));
                self.returns(Path::variable(variable), whole);
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
        let gone = match deletes && path.segments.len() == consumed {
            true if translated.root.value == PROJECT => {
                report_kept(cx, path.root.span);
                " ?? \"\""
            }
            true => " ?? null",
            false => "",
        };
        self.returns(translated, format!("context.{}{gone}", at.join(".")));
    }

    fn returns(&mut self, variable: Path, whole: String) {
        if self.written.iter().any(|(known, ..)| *known == variable) {
            return;
        }
        let wanted = match variable.segments.last() {
            Some(Segment::Field(last)) => last.value.clone(),
            _ => variable.root.value.clone(),
        };
        let taken = |name: &SmolStr| self.written.iter().any(|(_, known, _)| known == name);
        let numbered = (2_u32..).map(|n| SmolStr::new(format!("{wanted}_{n}")));
        let name = std::iter::once(wanted.clone()).chain(numbered).find(|name| !taken(name));
        self.written.push((variable, name.unwrap_or(wanted), whole));
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

/// The names beside those of the context that a script finds although it does not know them.
const OWN_NAMES: &[&str] = &["said", "stored"];

/// What is returned of printed texts: cards are data, the rest is said.
const CARD_SHIM: &str = r#"  const parsed = said.map((text) => { try { return JSON.parse(text); } catch { return null; } });
  const card = parsed.find((one) => one?.payload) ?? null;
  const shown = (one) => [one?.title, one?.subtitle].filter(Boolean).join(": ");
  const lists = ["elements", "listItems", "subListItems", "items", "buttons", "quick_replies"];
  const items = (one) => lists.map((name) => one?.[name]).find(Array.isArray) ?? [];
  const titles = (one) => items(one).flatMap((item) =>
    [shown(item), ...(item?.subListItems ? titles(item) : [])]).filter(Boolean);
  const lines = said.map((text, at) => !parsed[at]?.payload ? text : parsed[at].payload.text
    ?? titles(parsed[at].payload).join("\n"));
"#;

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
    let mut wrapped = Wrapped {
        script,
        objects: IndexMap::new(),
        with: Vec::new(),
        types: FxHashMap::default(),
        written: Vec::new(),
    };
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
    let Wrapped { with, types, written, .. } = wrapped;
    let mut returned: Vec<String> =
        written.iter().map(|(_, name, at)| format!("{name}: {at}")).collect();
    if script.prints {
        code.push_str("const said = [];\nconst print = (text) => said.push(text);\n");
    }
    let is_apart =
        |name: &&str| !text.value.split(|c: char| !c.is_alphanumeric()).any(|w| w == *name);
    if script.returns || !OWN_NAMES.iter().all(is_apart) {
        // What it returns early is not what the tool gives, and its names are its own.
        code.push_str("(() => {\n");
        indented(&text.value, &mut code);
        code.push_str("})();\n");
    } else {
        indented(&text.value, &mut code);
    }
    let shows = script.prints && !script.cards.is_empty();
    if shows {
        returned.push("text: lines.join(\"\\n\") || null, card".to_owned());
    } else if script.prints {
        returned.push("text: said.join(\"\\n\") || null".to_owned());
    }
    let returned = match returned.as_slice() {
        [] => "return {};".to_owned(),
        all => format!("return {{ {} }};", all.join(", ")),
    };
    if shows {
        // Its names are apart from those of the script.
        let _ = write!(code, "return (() => {{\n{CARD_SHIM}  {returned}\n}})();");
    } else {
        code.push_str(&returned);
    }
    let own = tool(cx, name, (&with, needed, &types), code, span, output);
    let mut call = Call::new(own.clone(), with, span);
    let set = |(target, name, _)| set(&own, target, name, span);
    call.on_success = Body(written.into_iter().map(set).collect());
    if !call.on_success.is_empty() {
        call.on_failure = abort(span);
    }
    Statement::Call(Box::new(call))
}

/// Whether a text in a script may have several lines: between backticks there is the end of one.
fn has_text_of_lines(script: &str) -> bool {
    script.split('`').skip(1).step_by(2).any(|inside| inside.contains('\n'))
}

/// Adds a script, indented by spaces: a tab at the start of a line is no part of a text, unless a text has several lines.
fn indented(script: &str, code: &mut String) {
    let lines = script.trim_end().lines();
    if has_text_of_lines(script) {
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
    (with, needed, types): (&[Argument], usize, &FxHashMap<SmolStr, TypeExpr>),
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
            let ty = types.get(&parameter.name.value).cloned();
            Some(Parameter { required: at < needed, ty, ..parameter })
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

/// `target = tool.name`.
fn set(tool: &Spanned<Name>, target: Path, name: SmolStr, span: Span) -> Statement {
    let segments = vec![Segment::Field(Spanned::new(name, span))];
    let value = Path { namespace: None, root: tool.clone(), segments };
    let value = Expr::path(value, span);
    Statement::Set(SetVariable { target, value, span })
}
