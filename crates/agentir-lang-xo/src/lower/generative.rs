//! Lowers nodes that ask a language model once: the prompt and the settings are those of a request, whose answer later
//! nodes read as `context.GenerativeAINode.<name>.text`.

use super::scripts::ScriptOutput;
use super::service::{self, Arguments};
use super::{Context, builders, extensions};
use crate::{Json, Text};
use agentir_diagnostics::Spanned;
use agentir_expr::{Template, TypeExpr};
use agentir_ir::{Binding, Call, Data, Number, ReturnType, ToolType};
use agentir_syntax::limits::makes_sense;
use smol_str::SmolStr;

/// What a request to a model holds, if the node has one.
pub(super) fn request(component: &Json) -> Option<&Json> {
    component.get("generativeAI").filter(|r| !r.is_empty())
}

/// The tool that asks the model, and its call. The body is that of chat completions, which most providers take.
pub(super) fn call(
    cx: &mut Context<'_, '_>,
    component: &Json,
    request: &Json,
    name: &str,
    output: &mut ScriptOutput<'_>,
) -> Call {
    let span = component.span;
    let place = component.get("name").map_or(span.at_start(), |n| n.span);
    let own = Spanned::new(cx.names.model(name), place);
    let settings = request.get("settings").unwrap_or(request);
    let mut holes = Arguments::default();
    let mut text = |cx: &mut Context<'_, '_>, from: &Json, key: &str| {
        let text = cx.decoded(from.take_text(key)?);
        let text = extensions::redacted(&text, key, &mut cx.reports);
        Some(holes.text(cx, &text, ["{{", "}}"]).value)
    };
    let prompt = text(cx, request, "prompt");
    let role = text(cx, settings, "system_context");
    let more = text(cx, settings, "AdditionalInstructions");
    let system: Vec<String> = role.into_iter().chain(more).collect();
    let system = (!system.is_empty()).then(|| system.join("\n"));
    let message = |role: &str, content: String| {
        let all = [("role".to_owned(), role.into()), ("content".to_owned(), content.into())];
        Data::Object(all.into_iter().collect())
    };
    let system = system.map(|text| message("system", text));
    let messages = system.into_iter().chain(prompt.map(|text| message("user", text))).collect();
    let mut body = serde_json::Map::new();
    let model = settings.take_text("model").map(Text::spanned);
    if let Some(model) = &model {
        body.insert("model".to_owned(), model.value.as_str().into());
    }
    for key in ["temperature", "max_tokens", "top_p", "frequency_penalty", "presence_penalty"] {
        if let Some(number) = settings.take_number(key) {
            body.insert(key.to_owned(), Number(number).into());
        }
    }
    body.insert("messages".to_owned(), Data::Array(messages));
    let provider = settings.take_text("integrationName");
    let of = provider.map_or("MODEL", |p| p.value.as_str());
    let of = super::names::identifier(of).to_ascii_uppercase();
    let mut binding = serde_json::Map::new();
    binding.insert("endpoint".to_owned(), Data::from(format!("{{{{env.{of}_ENDPOINT}}}}")));
    binding.insert("method".to_owned(), Data::from("POST"));
    let fits = |seconds: f64| makes_sense("timeout", seconds * 1000.0);
    if let Some(seconds) = component.take_number_if("serviceAPITimeout", fits) {
        binding.insert("timeout".to_owned(), Number(seconds * 1000.0).into());
    }
    let headers = [("Content-Type".to_owned(), Data::from("application/json"))];
    binding.insert("headers".to_owned(), Data::Object(headers.into_iter().collect()));
    let body = serde_json::to_string_pretty(&Data::Object(body)).unwrap_or_default();
    binding.insert(service::body_key(&body).to_owned(), Data::from(body));
    let mut tool = builders::tool(own.clone(), ToolType::Http, span);
    let asked = model.map_or_else(|| "a model".to_owned(), |m| format!("the model {m}"));
    let described = format!("Asks {asked}");
    tool.description = Some(Template::plain(Spanned::new(SmolStr::new(described), place)));
    tool.parameters = holes.parameters();
    tool.returns = Some(ReturnType::new(TypeExpr::named("object", place)));
    tool.auth_profile_ref = provider.map(Text::spanned);
    tool.binding = Some(Binding(binding));
    cx.report_untranslated(holes.untranslated);
    service::add(output.tools, tool);
    Call::new(own, holes.with, span)
}
