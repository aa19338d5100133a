//! Lowers scripts: simple ones to statements, others to tools that are called.

use super::messages::{self, Message};
use super::{Context, builders, extensions};
use crate::Text;
use crate::dialect::ID;
use crate::script::{self, Branch as CodeBranch, Script, Statement as Code};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Argument, Expr, ExprKind, Literal, Name, Path, Segment, Template, TypeExpr};
use agentir_ir::{
    Binding, Body, Call, Data, Extensions, Response, ReturnType, SetVariable, Statement, Target,
    Tool, ToolType,
};
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
    vec![call(cx, &text, &script, name, output)]
}

/// Preserves the comments of a simple script; any other script is preserved whole.
fn preserve_comments(script: &Script, text: &Text, output: &mut ScriptOutput<'_>) {
    if script.simple.is_some() && !script.comments.is_empty() {
        let all = script.comments.iter().map(|c| Data::from(c.value.as_str())).collect();
        output.extensions.insert(ID, "comments", Data::Array(all), text.span);
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
    let tool = match &mut call {
        Statement::Call(call) => {
            call.on_failure = abort(text.span);
            call.tool.value.clone()
        }
        _ => SmolStr::default(),
    };
    let text = Text::synthetic(format!("{{{{{tool}.text}}}}"), text.span);
    let text = (cx.names.parsers().template)(text.inline_text(), &mut Vec::new());
    Message { before: vec![call], response: Response { text: Some(text), ..Response::default() } }
}

/// Lowers a statement of a simple script; `None` if ABL has no equivalent here.
pub(super) fn statement(cx: &mut Context<'_, '_>, code: &Code) -> Option<Vec<Statement>> {
    Some(match code {
        Code::Assign { target, value, span } => {
            let entity = target
                .segments
                .first()
                .is_some_and(|s| matches!(s, Segment::Field(name) if name.value == "entities"));
            let path = cx.names.path(target);
            let nothing = match &value.kind {
                ExprKind::Literal(Literal::Null | Literal::Undefined) => true,
                // Clearing an entity makes it be collected again.
                ExprKind::Literal(Literal::String(text)) => entity && text.is_empty(),
                _ => false,
            };
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

/// Turns a script into a tool and calls it.
///
/// The tool's parameters are the values that the script reads. Its code builds the context object, runs
/// the script unchanged, and returns the values that the script wrote.
fn call(
    cx: &mut Context<'_, '_>,
    text: &Text,
    script: &Script,
    name: &str,
    output: &mut ScriptOutput<'_>,
) -> Statement {
    let span = text.span;
    let own = Spanned::new(cx.names.tool(name), span.at_start());
    let mut objects: IndexMap<&str, Tree> = IndexMap::new();
    objects.insert("context", Tree::default());
    let mut with: Vec<Argument> = Vec::new();
    let mut given = |cx: &mut Context<'_, '_>, path: &Path, objects: &mut IndexMap<&str, Tree>| {
        let (translated, consumed) = cx.names.resolve(path);
        let parameter = match translated.segments.last() {
            Some(Segment::Field(last)) => super::names::identifier(&last.value),
            _ => translated.root.value.clone(),
        };
        let root = match path.root.value.as_str() {
            "env" => "env",
            "content" => "content",
            _ => "context",
        };
        let at = names_of(path, consumed);
        if translated.root.value == "session" && translated.segments.is_empty() {
            // Which members are needed is unknown; accessing them must not fail.
            objects.entry(root).or_default().insert(&at, None);
            return;
        }
        objects.entry(root).or_default().insert(&at, Some(parameter.to_string()));
        let known = |a: &Argument| a.name.as_ref().is_some_and(|n| n.value == parameter);
        if !with.iter().any(known) {
            let span = path.root.span;
            let name = Some(Spanned::new(parameter, span));
            with.push(Argument { name, value: Expr::path(translated, span) });
        }
    };
    for path in &script.reads {
        given(cx, path, &mut objects);
    }
    let mut written: Vec<(Spanned<Name>, String)> = Vec::new();
    for path in &script.writes {
        let (translated, consumed) = cx.names.resolve(path);
        if path.segments.len() > consumed {
            // Only a part is written, so the rest has to exist.
            given(cx, path, &mut objects);
        }
        let at = names_of(path, consumed);
        if let (Some((_, outside)), Some(object)) = (at.split_last(), objects.get_mut("context")) {
            object.insert(outside, None);
        }
        let whole = format!("context.{}", at.join("."));
        if !written.iter().any(|(name, _)| name.value == translated.root.value) {
            written.push((translated.root, whole));
        }
    }
    let mut code = String::new();
    for (name, tree) in &objects {
        let _ = write!(code, "const {name} = ");
        tree.write(&mut code);
        code.push_str(";\n");
    }
    if text.value.contains("koreDebugger") {
        code.push_str("const koreDebugger = console;\n");
    }
    let mut returned: Vec<String> = written.iter().map(|(n, at)| format!("{n}: {at}")).collect();
    if script.prints {
        code.push_str("const said = [];\nconst print = (text) => said.push(text);\n");
        returned.push("text: said.join(\"\\n\")".to_owned());
    }
    let body = text.value.replace("\r\n", "\n");
    code.push_str(body.trim_end());
    let _ = write!(code, "\nreturn {{ {} }};", returned.join(", "));
    let mut tool = builders::tool(own.clone(), ToolType::Sandbox, span);
    tool.description = Some(Template::plain(Spanned::new(
        SmolStr::new(format!("Runs the script `{name}`")),
        span.at_start(),
    )));
    tool.parameters = with
        .iter()
        .filter_map(|a| a.name.clone())
        .map(|name| builders::parameter(name, None))
        .collect();
    tool.returns = Some(ReturnType::new(TypeExpr::named("object", span.at_start())));
    let binding = [("runtime", "javascript"), ("code", code.as_str())];
    let binding = binding.map(|(key, value)| (key.to_owned(), Data::from(value)));
    tool.binding = Some(Binding(binding.into_iter().collect()));
    output.tools.push(tool);
    let mut call = Call::new(own.clone(), with, span);
    call.on_success = Body(written.into_iter().map(|(name, _)| set(&own, name, span)).collect());
    if !call.on_success.is_empty() {
        call.on_failure = abort(span);
    }
    Statement::Call(Box::new(call))
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
