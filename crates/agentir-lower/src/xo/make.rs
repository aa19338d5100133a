//! Elements of the IR of which nothing else is said.

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Argument, Expr, ExprKind, Literal, Name, Path, Template};
use agentir_ir::{
    Body, Branch, Call, Data, Decider, Delegate, Extensions, Jump, Parameter, PersistentPath,
    Response, SessionVariable, Statement, Target, Tool, ToolHints, ToolType,
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

/// `function(args)`; nothing if that would be too deep.
pub(super) fn call_of(function: &'static str, args: Vec<Expr>, span: Span) -> Option<Expr> {
    let function = Spanned::new(Name::new_static(function), span);
    Expr::new(ExprKind::Call { function, args }, span).ok()
}

pub(super) fn call(tool: Spanned<Name>, with: Vec<Argument>, span: Span) -> Call {
    Call {
        tool,
        has_arguments: !with.is_empty(),
        with,
        result: None,
        success_when: None,
        on_success: Body::default(),
        on_failure: Body::default(),
        on_result: Vec::new(),
        span,
    }
}

pub(super) fn session(name: Spanned<Name>) -> SessionVariable {
    SessionVariable {
        span: name.span,
        name,
        ty: None,
        description: None,
        initial_value: None,
        reset: None,
        scope: None,
        mutability: None,
        extensions: Extensions::default(),
    }
}

/// Something that the platform knows about the user.
pub(super) fn known_of_user(path: Spanned<Name>) -> PersistentPath {
    PersistentPath {
        span: path.span,
        path,
        scope: "user",
        access: "read",
        ty: None,
        unit: None,
        default_value: None,
        sensitive: None,
        sensitive_display: None,
        mask_config: None,
        description: None,
        extensions: Extensions::default(),
    }
}

pub(super) fn delegate(agent: Spanned<Name>, input: Vec<(Spanned<Name>, Expr)>) -> Delegate {
    Delegate {
        span: agent.span,
        agent,
        when: None,
        decided_by: Decider::of(None),
        purpose: None,
        input,
        returns: None,
        use_result: None,
        timeout: None,
        on_failure: None,
        failure_message: None,
        remote: None,
        experience_mode: None,
        memory_grants: None,
        extensions: Extensions::default(),
    }
}

pub(super) fn tool(name: Spanned<Name>, ty: ToolType, span: Span) -> Tool {
    Tool {
        name,
        description: None,
        parameters: Vec::new(),
        returns: None,
        hints: ToolHints::default(),
        tool_type: Some(ty),
        binding: None,
        store_result: None,
        on_result: Vec::new(),
        on_error: Vec::new(),
        context_access: None,
        confirmation: None,
        pii_access: None,
        compaction: None,
        auth_profile_ref: None,
        connection_mode: None,
        consent_mode: None,
        jit_auth: None,
        extensions: Extensions::default(),
        span,
    }
}

pub(super) fn parameter(name: Spanned<Name>, ty: Option<&'static str>) -> Parameter {
    Parameter {
        span: name.span,
        ty: ty.map(|ty| agentir_expr::TypeExpr::named(ty, name.span)),
        name,
        description: None,
        required: true,
        default: None,
        values: Vec::new(),
        validation: None,
        source: None,
        extensions: Extensions::default(),
    }
}

/// A constant expression as data.
pub(super) fn data_of(e: &Expr) -> Option<Data> {
    Some(match &e.kind {
        ExprKind::Literal(Literal::Null | Literal::Undefined) => Data::Null,
        ExprKind::Literal(Literal::Bool(b)) => Data::Bool(*b),
        ExprKind::Literal(Literal::Number(n)) => {
            serde_json::to_value(agentir_ir::Number(*n)).ok()?
        }
        ExprKind::Literal(Literal::String(s)) => Data::from(s.as_str()),
        ExprKind::List(items) => Data::Array(items.iter().map(data_of).collect::<Option<_>>()?),
        ExprKind::Object(entries) => Data::Object(
            entries
                .iter()
                .map(|o| Some((o.key.value.to_string(), data_of(o.value.as_ref()?)?)))
                .collect::<Option<_>>()?,
        ),
        // What is filled in at run time.
        _ => Data::from(format!("{{{{{e}}}}}")),
    })
}
