//! Builders for elements of the IR with default values.

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, ExprKind, Literal, Name, Path, Template};
use agentir_ir::{
    Body, Branch, Data, Delegate, Extensions, Jump, Parameter, PersistentPath, Remember, Response,
    Statement, StoredValue, Target, Tool, ToolType,
};
use smol_str::SmolStr;

pub(super) fn jump(target: Target, span: Span) -> Jump {
    Jump { target, reason: None, span }
}

pub(super) fn goto(target: Target, span: Span) -> Statement {
    Statement::Goto(jump(target, span))
}

pub(super) fn respond(text: Template) -> Statement {
    Statement::Respond(Response { text: Some(text), ..Response::default() })
}

pub(super) fn branch(condition: Option<Expr>, body: Vec<Statement>, span: Span) -> Branch {
    Branch {
        condition: condition.map(super::names::condition),
        body: Body(body),
        extensions: Extensions::default(),
        span,
    }
}

pub(super) fn text(value: &str, span: Span) -> Expr {
    Expr::literal(Literal::String(SmolStr::new(value)), span)
}

pub(super) fn variable(name: Spanned<Name>) -> Expr {
    let span = name.span;
    Expr::path(Path::variable(name), span)
}

/// `function(args)`; `None` if it would nest too deep.
pub(super) fn call_of(function: &'static str, args: Vec<Expr>, span: Span) -> Option<Expr> {
    let function = Spanned::new(Name::new_static(function), span);
    Expr::new(ExprKind::Call { function, args }, span).ok()
}

/// A path of data that exists before the conversation, and may outlive it.
pub(super) fn memory_path(path: Spanned<Name>, is_written: bool) -> PersistentPath {
    let scope = PersistentPath::scope_of(&path.value);
    PersistentPath::new(path, scope, if is_written { "readwrite" } else { "read" })
}

/// A rule that keeps what a flow puts into a path of persistent memory.
pub(super) fn kept(path: &Spanned<Name>) -> Remember {
    let span = path.span;
    let value = Expr::path(Path::dotted(&path.value, span), span);
    let kind = ExprKind::IsSet { operand: Box::new(value.clone()), negated: false };
    Remember {
        when: Expr::new(kind, span).ok().map(super::names::condition),
        store: Some(StoredValue {
            value: Some(value),
            target: Some(path.clone()),
            operation: None,
            unique: None,
            max_size: None,
        }),
        ttl: None,
        extensions: Extensions::default(),
        span,
    }
}

pub(super) fn delegate(agent: Spanned<Name>, input: Vec<(Spanned<Name>, Expr)>) -> Delegate {
    Delegate { input, ..Delegate::new(agent) }
}

pub(super) fn tool(name: Spanned<Name>, ty: ToolType, span: Span) -> Tool {
    Tool { tool_type: Some(ty), span, ..Tool::new(name) }
}

pub(super) fn parameter(name: Spanned<Name>, ty: Option<&'static str>) -> Parameter {
    let ty = ty.map(|ty| agentir_expr::TypeExpr::named(ty, name.span));
    Parameter::new(name, ty)
}

/// A constant expression as data.
pub(super) fn data_of(e: &Expr) -> Option<Data> {
    Some(match &e.kind {
        ExprKind::Literal(Literal::Null | Literal::Undefined) => Data::Null,
        ExprKind::Literal(Literal::Bool(b)) => Data::Bool(*b),
        ExprKind::Literal(Literal::Number(n)) => agentir_ir::Data::from(agentir_ir::Number(*n)),
        ExprKind::Literal(Literal::String(s)) => Data::from(s.as_str()),
        ExprKind::List(items) => Data::Array(items.iter().map(data_of).collect::<Option<_>>()?),
        ExprKind::Object(entries) => Data::Object(
            entries
                .iter()
                .map(|o| Some((o.key.value.to_string(), data_of(o.value.as_ref()?)?)))
                .collect::<Option<_>>()?,
        ),
        // Evaluated at run time.
        _ => Data::from(format!("{{{{{e}}}}}")),
    })
}
