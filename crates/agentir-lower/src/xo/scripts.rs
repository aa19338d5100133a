//! Scripts: what is simple becomes statements, anything else a tool that is called.

use super::said::{self, Message};
use super::{Context, XO, make, rest};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Argument, Expr, ExprKind, Literal, Name, Path, Segment, Template, TypeExpr};
use agentir_ir::{
    Binding, Body, Call, Data, Extensions, Response, ReturnType, SetVariable, Statement, Target,
    Tool, ToolType,
};
use agentir_syntax::xo::Text;
use agentir_syntax::xo::script::{self, Branch as CodeBranch, Script, Statement as Code};
use indexmap::IndexMap;
use smol_str::SmolStr;
use std::fmt::Write;

/// Where what belongs to a step beside its body goes.
pub(super) struct Home<'h> {
    /// The tools of its agent.
    pub(super) tools: &'h mut Vec<Tool>,
    /// Its extensions.
    pub(super) extensions: &'h mut Extensions,
}

/// What a script does.
pub(super) fn body(
    cx: &mut Context<'_, '_>,
    text: &Text,
    name: &str,
    home: &mut Home<'_>,
) -> Vec<Statement> {
    let text = rest::without(text, name, cx.problems);
    let script = script::read(&text);
    keep_comments(&script, &text, home);
    if let Some(simple) = &script.simple
        && let Some(all) = simple.iter().map(|s| statement(cx, s)).collect::<Option<Vec<_>>>()
    {
        return all.into_iter().flatten().collect();
    }
    vec![call(cx, &text, &script, name, home)]
}

/// The comments of a simple script; any other is kept whole.
fn keep_comments(script: &Script, text: &Text, home: &mut Home<'_>) {
    if script.simple.is_some() && !script.comments.is_empty() {
        let all = script.comments.iter().map(|c| Data::from(c.value.as_str())).collect();
        home.extensions.keep(XO, "comments", Data::Array(all), text.span);
    }
}

/// A message that is computed.
pub(super) fn message(
    cx: &mut Context<'_, '_>,
    text: &Text,
    name: &str,
    home: &mut Home<'_>,
) -> Message {
    let text = &rest::without(text, name, cx.problems);
    let script = script::read(text);
    keep_comments(&script, text, home);
    if let Some(simple) = &script.simple
        && let Some(message) = said::of_script(cx, simple)
    {
        return message;
    }
    let mut call = call(cx, text, &script, &format!("{name}_text"), home);
    let tool = match &mut call {
        Statement::Call(call) => {
            call.on_failure = given_up(text.span);
            call.tool.value.clone()
        }
        _ => SmolStr::default(),
    };
    let text = Text::made(format!("{{{{{tool}.text}}}}"), text.span);
    let text = agentir_syntax::abl::leaf::template(text.leaf(), &mut Vec::new());
    Message { before: vec![call], response: Response { text: Some(text), ..Response::default() } }
}

/// A statement of a simple script; nothing if ABL has no statement for it here.
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
                // An entity that is empty is asked for again.
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
            let mut lost = Vec::new();
            let text = cx.names.text_of(value, &mut lost);
            cx.untranslated(lost);
            let value = Spanned::new(Data::from(text.text.value.as_str()), text.text.span);
            vec![Statement::Log { value }]
        }
        Code::Print(value) => {
            if let ExprKind::Object(_) = value.kind {
                return None;
            }
            let mut lost = Vec::new();
            let text = cx.names.text_of(value, &mut lost);
            cx.untranslated(lost);
            vec![make::respond(text)]
        }
        Code::If(all) => {
            let branch = |cx: &mut Context<'_, '_>, b: &CodeBranch| {
                let condition = b.condition.as_ref().map(|c| cx.names.expr(c));
                let body: Option<Vec<_>> = b.body.iter().map(|s| statement(cx, s)).collect();
                Some(make::branch(condition, body?.into_iter().flatten().collect(), b.span))
            };
            let branches: Option<Vec<_>> = all.iter().map(|b| branch(cx, b)).collect();
            vec![Statement::If { branches: branches? }]
        }
    })
}

/// Parts of the context that a script needs, as an object of JavaScript.
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

/// The names of a path of XO's, without places in lists.
fn names_of(path: &Path, segments: usize) -> Vec<String> {
    let names = path.segments.iter().take(segments).filter_map(|s| match s {
        Segment::Field(name) => Some(name.value.to_string()),
        _ => None,
    });
    names.collect()
}

/// Makes a tool of a script, and calls it.
///
/// The tool gets what the script reads, puts it where the script looks for it, runs the script as it
/// is, and gives back what it wrote.
fn call(
    cx: &mut Context<'_, '_>,
    text: &Text,
    script: &Script,
    name: &str,
    home: &mut Home<'_>,
) -> Statement {
    let span = text.span;
    let own = Spanned::new(cx.names.tool(name), span.at_start());
    let mut objects: IndexMap<&str, Tree> = IndexMap::new();
    objects.insert("context", Tree::default());
    let mut with: Vec<Argument> = Vec::new();
    let mut given = |cx: &mut Context<'_, '_>, path: &Path, objects: &mut IndexMap<&str, Tree>| {
        let (ours, consumed) = cx.names.resolve(path);
        let parameter = match ours.segments.last() {
            Some(Segment::Field(last)) => super::names::word(&last.value),
            _ => ours.root.value.clone(),
        };
        let root = match path.root.value.as_str() {
            "env" => "env",
            "content" => "content",
            _ => "context",
        };
        let at = names_of(path, consumed);
        if ours.root.value == "session" && ours.segments.is_empty() {
            // Which of them it needs is not known; that they are looked for must not fail.
            objects.entry(root).or_default().insert(&at, None);
            return;
        }
        objects.entry(root).or_default().insert(&at, Some(parameter.to_string()));
        let known = |a: &Argument| a.name.as_ref().is_some_and(|n| n.value == parameter);
        if !with.iter().any(known) {
            let span = path.root.span;
            let name = Some(Spanned::new(parameter, span));
            with.push(Argument { name, value: Expr::path(ours, span) });
        }
    };
    for path in &script.reads {
        given(cx, path, &mut objects);
    }
    let mut written: Vec<(Spanned<Name>, String)> = Vec::new();
    for path in &script.writes {
        let (ours, consumed) = cx.names.resolve(path);
        if path.segments.len() > consumed {
            // Only a part is written, so the rest must be there.
            given(cx, path, &mut objects);
        }
        let at = names_of(path, consumed);
        if let (Some((_, outside)), Some(object)) = (at.split_last(), objects.get_mut("context")) {
            object.insert(outside, None);
        }
        let whole = format!("context.{}", at.join("."));
        if !written.iter().any(|(name, _)| name.value == ours.root.value) {
            written.push((ours.root, whole));
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
    let mut tool = make::tool(own.clone(), ToolType::Sandbox, span);
    tool.description = Some(Template::plain(Spanned::new(
        SmolStr::new(format!("Runs the script `{name}`")),
        span.at_start(),
    )));
    tool.parameters = with
        .iter()
        .filter_map(|a| a.name.clone())
        .map(|name| make::parameter(name, None))
        .collect();
    tool.returns = Some(ReturnType::new(TypeExpr::named("object", span.at_start())));
    let binding = [("runtime", "javascript"), ("code", code.as_str())];
    let binding = binding.map(|(key, value)| (key.to_owned(), Data::from(value)));
    tool.binding = Some(Binding(binding.into_iter().collect()));
    home.tools.push(tool);
    let mut call = Call::new(own.clone(), with, span);
    call.on_success = Body(written.into_iter().map(|(name, _)| set(&own, name, span)).collect());
    if !call.on_success.is_empty() {
        call.on_failure = given_up(span);
    }
    Statement::Call(Box::new(call))
}

/// A task whose script fails is given up.
fn given_up(span: Span) -> Body {
    Body(vec![make::goto(Target::Complete, span.at_start())])
}

/// `name = tool.name`.
fn set(tool: &Spanned<Name>, name: Spanned<Name>, span: Span) -> Statement {
    let segments = vec![Segment::Field(name.clone())];
    let value = Path { namespace: None, root: tool.clone(), segments };
    let value = Expr::path(value, span);
    Statement::Set(SetVariable { target: Path::variable(name), value, span })
}
