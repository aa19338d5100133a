//! Lowers tools and their bindings (§3.5).

use super::Context;
use super::fields::{Fields, text_start};
use super::gather;
use crate::HeaderValue;
use crate::inline::{self, Assignment, SignatureParameter, ToolSignature};
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::{Expr, ExprKind, Literal, Name, TypeExpr};
use agentir_ir::{
    Binding, Confirmation, ContextAccess, Data, Extensions, Parameter, ReturnType, SetVariable,
    Tool, ToolHints, ToolType,
};
use agentir_syntax::data::{self, Form};
use agentir_syntax::inline::InlineText;
use agentir_syntax::rules;
use agentir_syntax::text::offset;

/// The tools of a section, the names of tools defined elsewhere, and the remaining fields.
pub(super) fn tools(
    cx: &mut Context<'_>,
    mut section: Fields<'_>,
) -> (Vec<Tool>, Vec<Spanned<Name>>, Extensions) {
    let items = std::mem::take(&mut section.items);
    let used = section.names("use_tool");
    let tools = items.into_iter().filter_map(|item| tool(cx, Fields::new(item))).collect();
    (tools, used, section.into_extensions())
}

fn tool(cx: &mut Context<'_>, mut f: Fields<'_>) -> Option<Tool> {
    let at = f.headers.iter().position(|h| matches!(h, HeaderValue::Signature(_)));
    let signature = at.and_then(|at| match f.headers.remove(at) {
        HeaderValue::Signature(signature) => Some(*signature),
        _ => None,
    });
    let (name, mut parameters, mut returns) = match signature {
        Some(ToolSignature { name, parameters, returns }) => {
            (name, parameters.into_iter().map(signature_parameter).collect(), returns)
        }
        None => (f.name.take()?, Vec::new(), None),
    };
    let mut extensions = Extensions::default();
    for section in f.records("parameters") {
        let mut section = section;
        for item in std::mem::take(&mut section.items) {
            described_parameter(cx, Fields::new(item), &mut parameters, &mut extensions);
        }
        section.preserve(&mut extensions);
    }
    returns =
        returns.or_else(|| f.ty("returns")).or_else(|| f.with_record("returns", return_type)?);
    let hints =
        f.with_record("hints", |h| ToolHints { timeout: h.number("timeout"), ..tool_hints(h) });
    let direct = tool_hints(&mut f);
    let hints = match hints {
        Some(h) => ToolHints {
            cacheable: h.cacheable.or(direct.cacheable),
            latency: h.latency.or(direct.latency),
            parallelizable: h.parallelizable.or(direct.parallelizable),
            side_effects: h.side_effects.or(direct.side_effects),
            requires_auth: h.requires_auth.or(direct.requires_auth),
            timeout: h.timeout,
        },
        None => direct,
    };
    let tool_type = f.choice("type").and_then(ToolType::from_name);
    if !f.has("confirm") && !f.has("confirmation") {
        f.take_misspelled("confirm");
    }
    let tool = Tool {
        name,
        description: f.template("description"),
        parameters,
        returns: returns.map(ReturnType::new),
        hints,
        tool_type,
        binding: binding(&mut f, cx.problems),
        store_result: f.boolean("store_result"),
        on_result: result_sets(&mut f, "on_result"),
        on_error: result_sets(&mut f, "on_error"),
        context_access: f.with_record("context_access", |c| ContextAccess {
            read: c.names("read"),
            write: c.names("write"),
        }),
        confirmation: confirmation(&mut f),
        pii_access: f.data("pii_access"),
        compaction: f.data("compaction"),
        auth_profile_ref: f.text("auth_profile"),
        connection_mode: f.choice("connection"),
        consent_mode: f.choice("consent"),
        jit_auth: f.boolean("auth_jit"),
        questions: Vec::new(),
        span: f.span,
        extensions: {
            f.preserve(&mut extensions);
            extensions
        },
    };
    Some(tool)
}

/// `type` and `fields`; fields imply an object type.
fn return_type(r: &mut Fields<'_>) -> Option<TypeExpr> {
    let fields = r.ty("fields");
    if fields.is_some() && r.type_name("type") == Some("object".into()) {
        r.ty("type");
    }
    fields.or_else(|| r.ty("type"))
}

fn signature_parameter(p: SignatureParameter) -> Parameter {
    let end = p.default.as_ref().map(|value| value.span).or(p.ty.as_ref().map(|ty| ty.span));
    let span = end.map_or(p.name.span, |end| p.name.span.to(end));
    Parameter {
        required: !p.optional && p.default.is_none(),
        default: p.default.map(|e| literal_data(&e)),
        span,
        ..Parameter::new(p.name, p.ty)
    }
}

fn literal_data(e: &agentir_expr::Expr) -> Data {
    match &e.kind {
        ExprKind::Literal(Literal::Null | Literal::Undefined) => Data::Null,
        ExprKind::Literal(Literal::Bool(b)) => Data::Bool(*b),
        ExprKind::Literal(Literal::Number(n)) => Data::from(agentir_ir::Number(*n)),
        ExprKind::Literal(Literal::String(s)) => Data::from(s.as_str()),
        _ => Data::from(e.to_string()),
    }
}

/// A parameter with a block of its own: it extends one of the signature, or is new.
fn described_parameter(
    cx: &mut Context<'_>,
    mut p: Fields<'_>,
    parameters: &mut Vec<Parameter>,
    rest: &mut Extensions,
) {
    let Some(name) = p.name.take() else {
        p.preserve(rest);
        return;
    };
    let default = p.data("default");
    let source = p.choice("source");
    let (value, value_expr) = reserved_value(cx, &mut p, source);
    let parameter = Parameter {
        ty: p.ty("type"),
        description: p.template("description"),
        required: p.boolean("required").unwrap_or(default.is_none()),
        default,
        values: p.templates("enum"),
        validation: gather::validation(cx, &mut p, "validation"),
        source,
        value,
        value_expr,
        key: p.plain_text("key"),
        hidden: p.boolean("hidden"),
        span: p.span,
        extensions: p.into_extensions(),
        name,
    };
    match parameters.iter_mut().find(|known| known.name.value == parameter.name.value) {
        Some(known) => {
            let before = std::mem::replace(known, parameter);
            known.name = before.name;
            known.ty = known.ty.take().or(before.ty);
            known.required &= before.required;
            known.default = known.default.take().or(before.default);
        }
        None => parameters.push(parameter),
    }
}

/// The `value` of a parameter that the model does not fill: data, or an expression, which a text of the source `expr` is,
/// and what is between the braces of `"{{…}}"`.
fn reserved_value(
    cx: &mut Context<'_>,
    p: &mut Fields<'_>,
    source: Option<&str>,
) -> (Option<Data>, Option<Expr>) {
    let Some(Spanned { value, span }) = p.spanned_data("value") else { return (None, None) };
    let Data::String(text) = &value else { return (Some(value), None) };
    let inside = text.trim().strip_prefix("{{").and_then(|text| text.strip_suffix("}}"));
    let inside = inside.filter(|text| !text.contains(['{', '}']));
    let Some(written) = inside.or((source == Some("expr")).then_some(text)) else {
        return (Some(value), None);
    };
    // After the braces, if there are any.
    let lead = offset(text.find(written).unwrap_or(0));
    let start = text_start(text, span).unwrap_or(span.start);
    let input = InlineText::verbatim(written, span.file, start + lead);
    match inline::expr(input, cx.problems) {
        Some(expr) => (None, Some(expr)),
        // It has been reported, and is evaluated nowhere.
        None => (Some(value), None),
    }
}

fn tool_hints(f: &mut Fields<'_>) -> ToolHints {
    let effect = f.choice("effect");
    ToolHints {
        cacheable: f.boolean("cacheable"),
        latency: f.choice("latency"),
        parallelizable: f.boolean("parallelizable"),
        side_effects: f.boolean("side_effects").or(effect.map(|e| e != "read_only")),
        requires_auth: f.boolean("requires_auth"),
        timeout: None,
    }
}

fn binding(f: &mut Fields<'_>, problems: &mut Vec<Diagnostic>) -> Option<Binding> {
    let mut found = Vec::new();
    for (name, form) in data::BINDING {
        let Some(Spanned { value, span }) = f.spanned_data(name) else { continue };
        // The reader has checked everything else. A value that is wrong stays: a call with it is refused.
        if matches!(form, Form::Retry | Form::Pairs)
            && let Some(expected) = form.expected(name, &value)
        {
            let message = format!("`{name}` must be {expected}");
            problems.push(Diagnostic::error(rules::INVALID_VALUE, span, message));
        }
        found.push((span.start, (*name).to_owned(), value));
    }
    // They stay in the order in which they are written.
    found.sort_by_key(|(start, ..)| *start);
    let map: serde_json::Map<String, Data> =
        found.into_iter().map(|(_, name, value)| (name, value)).collect();
    (!map.is_empty()).then_some(Binding(map))
}

fn result_sets(f: &mut Fields<'_>, name: &str) -> Vec<SetVariable> {
    // The free form is preserved as data.
    let sets = f.with_record(name, |r| r.assignments("set")).unwrap_or_default();
    sets.into_iter().map(set_variable).collect()
}

/// `target = value`.
pub(super) fn set_variable(a: Assignment) -> SetVariable {
    let span = a.target.span.to(a.value.span);
    SetVariable { target: a.target.value, value: a.value, span }
}

fn spanned_choice(f: &mut Fields<'_>, name: &str) -> Option<Spanned<&'static str>> {
    let place = f.value_span(name).unwrap_or(f.span);
    f.choice(name).map(|choice| Spanned::new(choice, place))
}

fn confirmation(f: &mut Fields<'_>) -> Option<Confirmation> {
    let require = spanned_choice(f, "confirm");
    let immutable_params = f.names("immutable");
    let mut confirmation = f.with_record("confirmation", |c| Confirmation {
        // `confirmation: always` has been reported, and was meant to ask.
        require: match c.has_fields() {
            true => spanned_choice(c, "require"),
            false => Some(Spanned::new("always", c.span)),
        },
        immutable_params: c.names("immutable_params"),
        consent_required_in: c.data("consent_required_in"),
        consent_scope: c.plain_text("consent_scope"),
        consent_action: c.plain_text("consent_action"),
        consent_fallback: c.plain_text("consent_fallback"),
    });
    if require.is_some() || !immutable_params.is_empty() {
        let c = confirmation.get_or_insert_default();
        c.require = c.require.or(require);
        c.immutable_params.extend(immutable_params);
    }
    confirmation
}
