//! Lowers forms: several values collected together.
//!
//! A node names its form by `resourceId`; the context holds what users entered as `forms.<form>.<component>`.

use super::{Context, builders, entity, localized, messages};
use crate::tables::{FORM_COMPONENTS, FormComponent, FormPart};
use crate::{Json, Text};
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::Template;
use agentir_ir::{Agent, Data, GatherField, Number, Semantics, Statement, Validation};
use agentir_syntax::rules;
use smol_str::SmolStr;

/// What a form asks for and says.
#[derive(Default)]
pub(super) struct Form {
    /// The fields, in the order of the form.
    pub(super) fields: Vec<GatherField>,
    /// The texts between the fields.
    pub(super) notes: Vec<Text>,
}

/// The components of a form, with those inside others.
pub(super) fn components(form: &Json) -> Vec<&Json> {
    let mut all = Vec::new();
    let mut open: Vec<&Json> =
        form.get("components").map_or(&[][..], Json::items).iter().rev().collect();
    while let Some(part) = open.pop() {
        all.push(part);
        open.extend(part.get("components").map_or(&[][..], Json::items).iter().rev());
    }
    all
}

/// What a component is: its row of the table, by its own type or that in its settings.
pub(super) fn kind_of(part: &Json) -> Option<&'static FormComponent> {
    let own = part.peek("type");
    let inner = part.get("metaData").and_then(|m| m.peek("type"));
    let all = [own, inner].into_iter().flatten();
    all.filter_map(FormComponent::called).next()
}

/// The form of a node.
pub(super) fn of_node<'j>(
    cx: &mut Context<'j, '_>,
    node: &'j Json,
    component: &'j Json,
) -> Option<&'j Json> {
    let named = component.take_text("resourceId").or_else(|| node.take_text("resourceId"));
    let form = named.and_then(|id| cx.forms.get(id.value.as_str()).copied());
    if form.is_none() {
        if let Some(named) = component.get("resourceId").or_else(|| node.get("resourceId")) {
            named.release();
        }
        cx.problem(
            Diagnostic::warning(
                rules::MISSING_PART,
                named.map_or(node.span.at_start(), |id| id.span),
                "the export does not contain the form of this node",
            )
            .note("no fields are collected here")
            .help("export the bot again with its forms, or write the fields under `GATHER:` of the step by hand"),
        );
    }
    form
}

/// The fields and texts of a form.
pub(super) fn lower(cx: &mut Context<'_, '_>, form: &Json, agent: &mut Agent) -> Form {
    let mut lowered = Form::default();
    let form_name = form.peek("name").unwrap_or_default().to_owned();
    for part in components(form) {
        let kind = kind_of(part);
        match kind.map(|k| k.part) {
            Some(FormPart::Control) => {
                part.get("type").map(Json::take);
            }
            Some(FormPart::Text) => lowered.notes.extend(note(cx, part, &cx.language.clone())),
            Some(FormPart::Field(_)) | None => {
                lowered.fields.extend(field(cx, &form_name, part, kind, agent));
            }
        }
    }
    lowered
}

/// The settings of a component; some exports have them in the component itself.
fn settings(part: &Json) -> &Json {
    part.get("metaData").unwrap_or(part)
}

fn text_of<'j>(language: &str, part: &'j Json, keys: &[&str]) -> Option<&'j Text> {
    let settings = settings(part);
    let localized = localized(settings, language).or_else(|| localized(part, language));
    let places = [localized, Some(settings), Some(part)];
    keys.iter().find_map(|key| places.iter().flatten().find_map(|place| place.take_text(key)))
}

/// The texts that a form shows in a language.
pub(super) fn notes_in(cx: &mut Context<'_, '_>, form: &Json, language: &str) -> Vec<Text> {
    let is_text = |part: &&Json| kind_of(part).is_some_and(|kind| kind.part == FormPart::Text);
    let shown = components(form).into_iter().filter(is_text);
    shown.filter_map(|part| note(cx, part, language)).collect()
}

/// A text that a form only shows: in a language, or in the default one if it is not there.
fn note(cx: &mut Context<'_, '_>, part: &Json, language: &str) -> Option<Text> {
    let is_there = [part, settings(part)]
        .into_iter()
        .filter_map(|place| place.get("localeData"))
        .any(|texts| texts.members().iter().any(|m| super::is_same_language(&m.key, language)));
    let language = if is_there { language } else { &cx.language.clone() };
    for place in [part, settings(part)] {
        place.get("type").map(Json::take);
    }
    let text =
        text_of(language, part, &["text", "content", "value", "description", "displayName"])?;
    Some(cx.readable(text))
}

fn field(
    cx: &mut Context<'_, '_>,
    form: &str,
    part: &Json,
    kind: Option<&'static FormComponent>,
    agent: &mut Agent,
) -> Option<GatherField> {
    let name = part.take_text("name").or_else(|| settings(part).take_text("name"))?;
    let variable = cx.names.form_field(form, &name.value, name.span);
    let mut field =
        GatherField { span: part.span, ..agentir_syntax::lower::required_field(variable) };
    let settings = settings(part);
    let named = part.take_text("type").or_else(|| settings.take_text("type"));
    // In forms the key is the type once more.
    for key in ["type", "key"] {
        if settings.peek(key).is_some_and(|key| Some(key) == named.map(|t| t.value.as_str())) {
            settings.take_member(key);
        }
    }
    let place = named.map_or(name.span, |t| t.span);
    match (kind, named) {
        (Some(FormComponent { part: FormPart::Field(ty), format, several, secret, .. }), _) => {
            field.ty = Some(Spanned::new(SmolStr::new_static(ty), place));
            if let Some(format) = format {
                let format = Some(SmolStr::new_static(format));
                field.semantics = Some(Semantics { format, ..Semantics::default() });
            }
            if *secret {
                field.sensitive = Some(true);
                field.sensitive_display = Some("redact");
                field.transient = Some(true);
            }
            if *several {
                field.list = Some(Data::Bool(true));
            }
        }
        (_, Some(named)) => {
            named_unknown(cx, named);
            field.ty = Some(Spanned::new(SmolStr::new_static("string"), place));
        }
        _ => {}
    }
    let required = |json: &Json| ["required", "isRequired"].iter().find_map(|k| json.take_bool(k));
    field.required = required(settings).or_else(|| required(part)).unwrap_or(false);
    prompt(cx, part, &name.value, &mut field);
    options(cx, part, &mut field, agent);
    if let Some(text) = settings.take_text("defaultvalueInput") {
        let text = cx.readable(text);
        let shown = cx.names.holes(&text, &mut Vec::new()).value;
        let is_number = field.ty.as_ref().is_some_and(|ty| ty.value == "number");
        let number = shown.trim().parse().ok().filter(|n: &f64| is_number && n.is_finite());
        field.default = Some(number.map_or_else(|| Data::from(shown), |n| Number(n).into()));
    }
    pattern(settings, &mut field);
    // A field that nobody sees has what the bot puts there.
    if settings.take_bool("isVisible") == Some(false) {
        field.prompt_mode = Some("extract_only");
        field.required = false;
    }
    if field.validation.is_none() {
        field.validation = Validation::of_values(&field.enum_values, field.name.span);
    }
    Some(field)
}

/// What asks for a field: its label, and what its placeholder or help adds.
fn prompt(cx: &mut Context<'_, '_>, part: &Json, name: &str, field: &mut GatherField) {
    let label = text_of(&cx.language, part, &["displayName", "label"]);
    let hint = text_of(&cx.language, part, &["placeholder", "placeHolder"]);
    let help = text_of(&cx.language, part, &["toolTip", "tooltip"]);
    let label = label.map(|text| cx.readable(text));
    let mut value = label.as_ref().map_or_else(|| name.replace('_', " "), |l| l.value.clone());
    let span = label.as_ref().map_or(field.name.span, |l| l.span);
    if let Some(hint) = hint {
        let hint = cx.readable(hint);
        if !hint.value.trim().is_empty() && hint.value != value {
            value = format!("{} ({})", value.trim_end(), hint.value.trim());
        }
    }
    let mut untranslated = Vec::new();
    let text = Text::synthetic(value, span);
    field.prompt = Some(cx.names.template(&text, &mut untranslated));
    cx.report_untranslated(untranslated);
    if let Some(help) = help {
        let help = cx.decoded(help);
        field.description = Some(messages::literal(cx, &help).response.text.unwrap_or_default());
    }
}

/// Names of the list that a choice is made from.
const OPTION_LISTS: &[&str] =
    &["options", "optionValues", "values", "allowedValues", "items", "choices", "dataSource"];

/// Names of what is stored for an option, and of what users see of it.
const OPTION_VALUES: &[&str] =
    &["value", "id", "key", "label", "title", "displayName", "text", "name"];
const OPTION_LABELS: &[&str] = &["label", "title", "displayName", "text", "name"];

/// The values that may be chosen.
fn options(cx: &mut Context<'_, '_>, part: &Json, field: &mut GatherField, agent: &mut Agent) {
    let settings = settings(part);
    let localized = localized(settings, &cx.language).or_else(|| localized(part, &cx.language));
    let places = [localized, Some(settings), Some(part)];
    let list = places.iter().flatten().find_map(|place| {
        let lists = OPTION_LISTS.iter().filter_map(|key| place.get(key));
        let list = |json: &&Json| !json.items().is_empty();
        lists.map(|json| json.get("values").unwrap_or(json)).find(list)
    });
    let mut shown = Vec::new();
    for option in list.map_or(&[][..], Json::items) {
        if let Some(text) = option.text() {
            option.take();
            field.enum_values.push(text.spanned());
            continue;
        }
        let Some(value) = OPTION_VALUES.iter().find_map(|key| option.take_text(key)) else {
            continue;
        };
        let label = OPTION_LABELS.iter().find_map(|key| option.take_text(key));
        if let Some(label) = label.filter(|label| label.value != value.value) {
            shown.push((value.value.clone(), label.value.clone()));
        }
        field.enum_values.push(value.spanned());
    }
    let is_choice = field.ty.as_ref().is_some_and(|ty| ty.value == "enum" || ty.value == "boolean");
    if field.enum_values.is_empty() {
        // What is chosen from is computed, or not in the export.
        if field.ty.as_ref().is_some_and(|ty| ty.value == "enum") {
            field.ty =
                field.ty.take().map(|ty| Spanned::new(SmolStr::new_static("string"), ty.span));
            field.list = None;
        }
        return;
    }
    if is_choice {
        let several = field.ty.as_ref().is_some_and(|ty| ty.value == "boolean");
        field.ty = field.ty.take().map(|ty| Spanned::new(SmolStr::new_static("enum"), ty.span));
        // Several boxes may be ticked; of one box it is only asked whether it is.
        if several && field.enum_values.len() > 1 {
            field.list = Some(Data::Bool(true));
        }
    }
    if !shown.is_empty() {
        let values = field.enum_values.clone();
        entity::enumerate(field, &shown, agent);
        let choice = |value: &Spanned<SmolStr>| {
            let label = shown.iter().find(|(of, _)| value.value == *of).map(|(_, label)| label);
            let title = label.map_or_else(|| value.value.as_str().into(), |l| l.as_str().into());
            let all =
                [("title".to_owned(), title), ("value".to_owned(), value.value.as_str().into())];
            Data::Object(all.into_iter().collect())
        };
        let all = Data::Array(values.iter().map(choice).collect());
        field.rich_content =
            Some(Data::Object([("QUICK_REPLIES".to_owned(), all)].into_iter().collect()));
    }
}

/// A pattern that values have to match.
fn pattern(settings: &Json, field: &mut GatherField) {
    let Some(rules) = settings.get("validations") else { return };
    if rules.peek("validationType") == Some("simple") {
        rules.take_member("validationType");
    }
    let known = ["regex", "regexPattern", "pattern"];
    let Some(text) = known.into_iter().find_map(|key| rules.take_text(key)) else { return };
    field.validation = Some(entity::check("pattern", &text.value, None, text.span));
}

fn named_unknown(cx: &mut Context<'_, '_>, named: &Text) {
    let near = agentir_diagnostics::closest(&named.value, FORM_COMPONENTS.iter().map(|c| c.id));
    let help = near.map_or_else(
        || "give the field a type by hand".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    cx.problem(
        Diagnostic::warning(
            rules::INVALID_VALUE,
            named.span,
            format!("unknown form component `{}`", named.value),
        )
        .note("its values are read as strings")
        .help(help),
    );
}

/// Adds the texts of a form to the message before it.
pub(super) fn add_notes(cx: &mut Context<'_, '_>, notes: &[Text], statements: &mut Vec<Statement>) {
    let last = statements.iter_mut().rev().find_map(|s| match s {
        Statement::Respond(response) => response.text.as_mut(),
        _ => None,
    });
    let Some(text) = noted(cx, notes, last.as_deref()) else { return };
    match last {
        Some(last) => *last = text,
        None => statements.push(builders::respond(text)),
    }
}

/// A message with the texts of a form behind it; `None` if the form has none.
pub(super) fn noted(
    cx: &mut Context<'_, '_>,
    notes: &[Text],
    message: Option<&Template>,
) -> Option<Template> {
    let span = message.map_or(notes.first()?.span, |text| text.text.span);
    let said = notes.iter().map(|note| cx.names.holes(note, &mut Vec::new()).value);
    let before = message.map(|text| text.text.value.to_string());
    let whole: Vec<String> = before.into_iter().chain(said).collect();
    let text = Text::synthetic(whole.join("\n"), span);
    Some((cx.names.parsers().template)(text.inline_text(), &mut Vec::new()))
}
