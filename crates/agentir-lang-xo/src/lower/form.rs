//! Lowers forms: several values collected together.

use super::{Context, localized};
use crate::Json;
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::Template;
use agentir_ir::{Data, GatherField, Validation};
use agentir_syntax::rules;
use smol_str::SmolStr;

/// The components of forms, and the field types they map to.
const FIELDS: &[(&str, &str)] = &[
    ("textField", "string"),
    ("textArea", "text"),
    ("radio", "enum"),
    ("dropdown", "enum"),
    ("multiSelect", "enum"),
    ("checkbox", "boolean"),
    ("date", "date"),
    ("dateTime", "datetime"),
    ("phoneNumber", "phone"),
    ("email", "email"),
    ("number", "number"),
    ("password", "string"),
    ("attachment", "attachment"),
];

/// The fields of a form.
pub(super) fn fields(cx: &mut Context<'_, '_>, node: &Json, component: &Json) -> Vec<GatherField> {
    let ids = ["formId", "formRefId", "form"].into_iter();
    let named = ids.filter_map(|key| component.take_text(key).or_else(|| node.take_text(key)));
    let form = named.into_iter().find_map(|id| cx.forms.get(id.value.as_str()).copied());
    let lists = ["components", "formComponents", "fields"];
    let of = |json: &Json| lists.iter().any(|key| json.get(key).is_some());
    let Some(form) = form.or_else(|| of(component).then_some(component)) else {
        cx.problem(
            Diagnostic::warning(
                rules::MISSING_PART,
                node.span.at_start(),
                "the export does not contain the form of this node",
            )
            .note("no fields are collected here")
            .help("write the fields under `GATHER:` of the step by hand"),
        );
        return Vec::new();
    };
    let list = lists.iter().find_map(|key| form.get(key)).map_or(&[][..], Json::items);
    list.iter().filter_map(|part| field(cx, part)).collect()
}

fn field(cx: &mut Context<'_, '_>, part: &Json) -> Option<GatherField> {
    let named = ["key", "name", "fieldName", "label"];
    let name = named.into_iter().find_map(|key| part.take_text(key))?;
    let kind = ["type", "componentType"].into_iter().find_map(|key| part.take_text(key));
    let variable = cx.names.entity(&name.value, name.span);
    let mut field =
        GatherField { span: part.span, ..agentir_syntax::lower::required_field(variable) };
    let ty = kind.and_then(|k| FIELDS.iter().find(|(xo_name, _)| *xo_name == k.value));
    match (ty, kind) {
        (Some((_, ty)), Some(kind)) => {
            field.ty = Some(Spanned::new(SmolStr::new_static(ty), kind.span));
            if kind.value == "password" {
                field.sensitive = Some(true);
                field.sensitive_display = Some("redact");
                field.transient = Some(true);
            }
            if kind.value == "multiSelect" {
                field.list = Some(Data::Bool(true));
            }
        }
        (None, Some(kind)) => cx.problem(
            Diagnostic::warning(
                rules::INVALID_VALUE,
                kind.span,
                format!("unknown form component `{}`", kind.value),
            )
            .note("its values are read as strings")
            .help("give the field a type by hand"),
        ),
        _ => {}
    }
    field.required =
        ["required", "isRequired"].into_iter().find_map(|k| part.take_bool(k)).unwrap_or(false);
    let texts = localized(part, &cx.language).unwrap_or(part);
    let keys = ["label", "displayName", "placeHolder", "placeholder"];
    let prompt = keys.into_iter().find_map(|key| texts.take_text(key));
    if let Some(prompt) = prompt {
        let prompt = cx.decoded(prompt);
        field.prompt = Some(Template::plain(prompt.spanned()));
    }
    let options = ["options", "values"].into_iter().find_map(|key| texts.get(key));
    for option in options.map_or(&[][..], Json::items) {
        let value = option.text().or_else(|| {
            ["value", "label", "title"].into_iter().find_map(|key| option.take_text(key))
        });
        if option.text().is_some() {
            option.take();
        }
        field.enum_values.extend(value.map(crate::Text::spanned));
    }
    field.validation = Validation::of_values(&field.enum_values, field.name.span);
    Some(field)
}
