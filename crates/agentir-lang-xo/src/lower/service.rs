//! Lowers services: HTTP calls and other calls of the platform.

use super::scripts::ScriptOutput;
use super::{Context, builders, extensions, table};
use crate::dialect::ID;
use crate::tables::NodeKind;
use crate::{Json, Text, script};
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::{Argument, Expr, Name, Segment, Template, TypeExpr};
use agentir_ir::{Binding, Call, Data, Extensions, Parameter, ReturnType, Tool, ToolType};
use agentir_secrets::is_credential;
use agentir_syntax::limits::makes_sense;
use agentir_syntax::rules;
use smol_str::SmolStr;

/// Collects the arguments of a call from the placeholders in a request.
#[derive(Default)]
pub(super) struct Arguments {
    pub(super) with: Vec<Argument>,
    /// Expressions without a counterpart in ABL.
    pub(super) untranslated: Vec<Text>,
}

impl Arguments {
    /// Replaces placeholders by parameters of the tool; settings are unchanged. Parameters in a URL have
    /// single braces.
    pub(super) fn text(
        &mut self,
        cx: &mut Context<'_, '_>,
        text: &Text,
        braces: [&str; 2],
    ) -> Text {
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(start) = text.value.get(at..).and_then(|r| r.find("{{")).map(|s| s + at) {
            let Some(length) = text.value.get(start..).and_then(|r| r.find("}}")) else { break };
            at = start + length + 2;
            let inside = text.part(start + 2..start + length);
            let Some(e) = script::expression(&inside) else {
                self.untranslated.push(inside);
                continue;
            };
            let value = cx.names.expr(&e);
            let setting = value
                .as_path()
                .is_some_and(|p| matches!(p.root.value.as_str(), "env" | "config" | "secrets"));
            let by = if setting {
                format!("{{{{{value}}}}}")
            } else {
                let [open, close] = braces;
                format!("{open}{}{close}", self.parameter(value))
            };
            parts.push((start..at, by));
        }
        text.replaced(&parts)
    }

    /// The parameters of the tool.
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let names = self.with.iter().filter_map(|a| a.name.clone());
        names.map(|name| builders::parameter(name, Some("string"))).collect()
    }

    /// The parameter for a value, named like the value.
    fn parameter(&mut self, value: Expr) -> Name {
        if let Some(known) = self.with.iter().find(|a| a.value == value) {
            return known.name.as_ref().map(|n| n.value.clone()).unwrap_or_default();
        }
        let wanted = value.as_path().map_or_else(
            || SmolStr::new_static("value"),
            |p| {
                let last = p.segments.iter().rev().find_map(|s| match s {
                    Segment::Field(name) => Some(&name.value),
                    _ => None,
                });
                super::names::identifier(last.unwrap_or(&p.root.value))
            },
        );
        let taken =
            |name: &str| self.with.iter().any(|a| a.name.as_ref().is_some_and(|n| n.value == name));
        let numbered = (2_u32..).map(|n| SmolStr::new(format!("{wanted}_{n}")));
        let name = std::iter::once(wanted.clone()).chain(numbered).find(|n| !taken(n));
        let name = name.unwrap_or(wanted);
        let span = value.span;
        self.with.push(Argument { name: Some(Spanned::new(name.clone(), span)), value });
        name
    }
}

/// The tool of a service, and its call.
pub(super) fn call(
    cx: &mut Context<'_, '_>,
    kind: NodeKind,
    component: &Json,
    name: &str,
    output: &mut ScriptOutput<'_>,
) -> Call {
    let span = component.span;
    let known = cx.names.tool_of(name).cloned();
    let own = known.unwrap_or_else(|| cx.names.tool(name));
    let place = component.get("name").map_or(span.at_start(), |n| n.span);
    let own = Spanned::new(own, place);
    let mut holes = Arguments::default();
    let table = kind == NodeKind::Service && table::is_table(component);
    let ty = match kind {
        _ if table => ToolType::Table,
        NodeKind::Webhook => ToolType::AsyncWebhook,
        NodeKind::Process => ToolType::Workflow,
        NodeKind::Search => ToolType::Searchai,
        _ => ToolType::Http,
    };
    let mut tool = builders::tool(own.clone(), ty, span);
    let mut binding = serde_json::Map::new();
    if let Some(end) = component.get("endPoint") {
        address(cx, end, &own, &mut holes, &mut binding);
    }
    // In the order of ABL's fields.
    let fits = |seconds: f64| makes_sense("timeout", seconds * 1000.0);
    if let Some(seconds) = component.take_number_if("serviceAPITimeout", fits) {
        binding.insert("timeout".to_owned(), agentir_ir::Number(seconds * 1000.0).into());
    }
    if let Some(headers) = component.get("headers") {
        self::headers(cx, headers, &mut holes, &mut binding);
    }
    if let Some(payload) = component.get("payload") {
        if table {
            table::request(cx, payload, &mut holes, &mut binding);
            tool.hints.side_effects = Some(!table::only_reads(&binding));
        } else {
            body(cx, payload, &mut holes, &mut binding);
        }
    }
    if !binding.contains_key("endpoint") && matches!(ty, ToolType::Http | ToolType::AsyncWebhook) {
        no_address(cx, &own, &mut binding);
    }
    for key in ["processId", "flowId", "workflowId"] {
        if let Some(id) = component.take_text(key) {
            binding.insert("workflow_id".to_owned(), Data::from(id.value.as_str()));
        }
    }
    // `none` and false mean no authentication.
    if let Some(idp) = component.take_text("idp").filter(|t| t.value != "none") {
        tool.auth_profile_ref = Some(idp.spanned());
    }
    // The profile says it, or nothing is required.
    let requires = component.get("authRequired").map(|a| &a.kind);
    if tool.auth_profile_ref.is_some() || matches!(requires, Some(crate::Kind::Bool(false))) {
        component.take_member("authRequired");
    }
    let described = super::localized(component, &cx.language)
        .and_then(|texts| texts.take_text("desc").or_else(|| texts.take_text("label")));
    let described = described.filter(|text| super::names::identifier(&text.value) != own.value);
    tool.description = described.map(|text| Template::plain(text.spanned()));
    tool.parameters = holes.parameters();
    tool.returns = Some(ReturnType::new(TypeExpr::named("object", place)));
    tool.binding = (!binding.is_empty()).then_some(Binding(binding));
    cx.report_untranslated(holes.untranslated);
    add(output.tools, tool);
    Call::new(own, holes.with, span)
}

/// A request without an address: the project has to say where it goes.
fn no_address(
    cx: &mut Context<'_, '_>,
    tool: &Spanned<Name>,
    binding: &mut serde_json::Map<String, Data>,
) {
    let setting = format!("{{{{env.{}_URL}}}}", tool.value.to_ascii_uppercase());
    cx.problem(
        Diagnostic::warning(
            rules::MISSING_PART,
            tool.span,
            "the export does not contain the address that this service calls",
        )
        .note(format!("the tool takes it from the setting `{setting}`"))
        .help("give the project that setting, or write the `endpoint` of the tool by hand"),
    );
    let mut all = serde_json::Map::new();
    all.insert("endpoint".to_owned(), Data::from(setting));
    all.append(binding);
    *binding = all;
}

/// Adds a tool unless it is already declared.
pub(super) fn add(tools: &mut Vec<Tool>, tool: Tool) {
    if !tools.iter().any(|t| t.name.value == tool.name.value) {
        tools.push(tool);
    }
}

fn address(
    cx: &mut Context<'_, '_>,
    end: &Json,
    tool: &Spanned<Name>,
    holes: &mut Arguments,
    binding: &mut serde_json::Map<String, Data>,
) {
    const BRACES: [&str; 2] = ["{", "}"];
    let mut written = Vec::new();
    let mut part = |cx: &mut Context<'_, '_>, key: &str| {
        let text = end.take_text(key)?;
        let text = cx.decoded(text);
        let text = holes.text(cx, &text, BRACES);
        let value = text.value.clone();
        written.push(text);
        Some(value)
    };
    let host = part(cx, "host");
    let path = part(cx, "path").unwrap_or_default();
    let port = part(cx, "port").filter(|p| !p.is_empty());
    if let Some(host) = host {
        let protocol = end.take_text("protocol").map_or("https", |t| t.value.as_str());
        let port = port.map_or_else(String::new, |p| format!(":{p}"));
        let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
        let url = format!("{protocol}://{host}{port}{slash}{path}");
        let url = Text::synthetic(url, end.span.at_start());
        let url = extensions::redacted_address(&url, &written, &tool.value, &mut cx.reports);
        binding.insert("endpoint".to_owned(), Data::from(url.value));
    }
    if let Some(method) = end.take_text("method") {
        binding.insert("method".to_owned(), Data::from(method.value.to_uppercase()));
    }
}

/// Headers with credentials.
const AUTH_HEADERS: &[&str] =
    &["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"];

fn headers(
    cx: &mut Context<'_, '_>,
    headers: &Json,
    holes: &mut Arguments,
    binding: &mut serde_json::Map<String, Data>,
) {
    let Some(text) = headers.get("value").and_then(Json::text) else { return };
    let decoded = cx.decoded(text);
    let Some(all) = serde_json::from_str(&decoded.value).ok().and_then(pairs) else {
        if !decoded.value.trim().is_empty() && decoded.value != "undefined" {
            cx.problem(
                Diagnostic::warning(
                    rules::INVALID_VALUE,
                    text.span,
                    "these headers are not a JSON object or a list of keys and values, so they are not sent",
                )
                .help("write them under `headers:` of the tool"),
            );
        }
        return;
    };
    headers.take_member("value");
    take_raw(headers);
    let mut sent = serde_json::Map::new();
    for (name, value) in all {
        let value = match value {
            Data::String(value) => value,
            other => other.to_string(),
        };
        let value = Text::synthetic(value, text.span);
        let whole = holes.text(cx, &value, ["{{", "}}"]);
        let login = AUTH_HEADERS.iter().any(|l| name.eq_ignore_ascii_case(l));
        let literal = !whole.value.contains("{{") && !whole.value.is_empty();
        let value = if (login && literal) || is_credential(&name, &whole.value) {
            // As a part of the headers, if they are written as it reads.
            let place = decoded.value.find(&value.value);
            let place = place.map(|at| decoded.place(at..at + value.value.len()));
            // The authentication scheme is not secret.
            let schemed = whole.value.split_once(' ');
            let schemed = schemed.filter(|(scheme, _)| matches!(*scheme, "Basic" | "Bearer"));
            let (scheme, secret) = schemed.unwrap_or(("", &whole.value));
            let what = format!("a credential (the header `{name}`)");
            let place = place.unwrap_or(text.span);
            let reference = cx.reports.credential(&what, &name, secret, place);
            format!("{scheme} {reference}").trim_start().to_owned()
        } else {
            extensions::redacted(&whole, &name, &mut cx.reports).value
        };
        sent.insert(name, Data::from(value));
    }
    if !sent.is_empty() {
        binding.insert("headers".to_owned(), Data::Object(sent));
    }
}

/// The names and values of headers: of an object, or of a list of `{"key": …, "value": …}`.
fn pairs(headers: Data) -> Option<Vec<(String, Data)>> {
    let pair = |one: Data| {
        let Data::Object(mut one) = one else { return None };
        let name = one.remove("key").or_else(|| one.remove("name"))?;
        Some((name.as_str()?.to_owned(), one.remove("value")?))
    };
    match headers {
        Data::Object(all) => Some(all.into_iter().collect()),
        Data::Array(all) => all.into_iter().map(pair).collect(),
        _ => None,
    }
}

/// Takes the body format; `raw` is the only one and carries no information.
fn take_raw(part: &Json) {
    if part.peek("type") == Some("raw") {
        part.take_member("type");
    }
}

fn body(
    cx: &mut Context<'_, '_>,
    payload: &Json,
    holes: &mut Arguments,
    binding: &mut serde_json::Map<String, Data>,
) {
    let Some(text) = payload.take_text("value") else { return };
    take_raw(payload);
    let text = cx.decoded(text);
    if text.value.trim().is_empty() || text.value == "undefined" {
        return;
    }
    let text = extensions::redacted_body(&text, "payload", &mut cx.reports);
    let sent = holes.text(cx, &text, ["{{", "}}"]);
    let key = body_key(&sent.value);
    binding.insert(key.to_owned(), Data::from(sent.value.replace("\r\n", "\n")));
}

/// The field for a body, which depends on whether there is anything to fill in.
pub(super) fn body_key(text: &str) -> &'static str {
    if text.contains("{{") { "body_template" } else { "body" }
}

/// Preserves the remaining data of a service with its tool.
pub(super) fn preserve_remaining(
    cx: &mut Context<'_, '_>,
    component: &Json,
    tools: &mut [Tool],
    tool: &str,
    step: &mut Extensions,
) {
    let into = match tools.iter_mut().find(|t| t.name.value == tool) {
        Some(tool) => &mut tool.extensions,
        None => step,
    };
    let mut kept = Extensions::default();
    extensions::preserve(component, &mut kept, &mut cx.reports);
    for (key, extension) in kept.0.into_values().flatten() {
        into.insert(ID, &key, extension.value, extension.span);
    }
}
