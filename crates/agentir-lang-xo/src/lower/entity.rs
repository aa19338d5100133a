//! Lowers entities to fields.

use super::messages::{self, Messages, Variant};
use super::scripts::ScriptOutput;
use super::{Context, localized};
use crate::Json;
use crate::tables::{ENTITY_TYPES, EntityType};
use agentir_diagnostics::{Diagnostic, Span, Spanned, closest};
use agentir_expr::{Dialect, Name, Template};
use agentir_ir::{
    Agent, Collect, Data, Entity, EntitySource, Extensions, Gather, GatherField, LookupTable,
    Number, Semantics, Statement, Validation,
};
use agentir_syntax::limits::makes_sense;
use agentir_syntax::rules;
use smol_str::SmolStr;

/// How many values are an enumeration, which the model is told with the field. More are a table that values are looked
/// up in.
const MAX_ENUMERATED: usize = 25;

/// A value of a list.
struct Allowed {
    value: Spanned<SmolStr>,
    synonyms: Vec<SmolStr>,
}

/// The field of an entity, with its prompts, and what is said in other languages and channels before it is asked for again.
pub(super) fn field(
    cx: &mut Context<'_, '_>,
    component: &Json,
    name: &str,
    agent: &mut Agent,
    extensions: &mut Extensions,
) -> (GatherField, Messages, Vec<Variant>) {
    let span = component.span;
    let place = component.get("name").map_or(span.at_start(), |n| n.span);
    let variable = cx.names.entity(name, place);
    let mut output = ScriptOutput { tools: &mut agent.tools, extensions };
    let prompts = messages::messages(cx, component.get("message"), name, &mut output);
    let mut retry = messages::messages(
        cx,
        component.get("errorMessage"),
        &format!("{name}_error"),
        &mut output,
    );
    let others = std::mem::take(&mut retry.variants);
    let mut field = GatherField { span, ..agentir_syntax::lower::required_field(variable) };
    field.prompt = prompts.main.as_ref().and_then(|m| m.response.text.clone());
    let actions = prompts.main.as_ref().and_then(|m| m.response.actions.as_ref());
    field.rich_content = actions.map(messages::choices);
    if let Some(id) = component.take_text("entityType") {
        match EntityType::called(&id.value) {
            Some(ty) => {
                apply_type(&mut field, ty, id.span);
                if let Some(lookup) = ty.lookup {
                    let name = Spanned::new(SmolStr::new_static(lookup), id.span);
                    let table = || reference(name);
                    agent.lookup_tables.entry(SmolStr::new_static(lookup)).or_insert_with(table);
                }
            }
            None => {
                let known = ENTITY_TYPES.iter().map(|t| t.id);
                let near = closest(&id.value, known);
                let help = near.map_or_else(
                    || "give the field a type and `semantics` by hand".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                cx.problem(
                    Diagnostic::warning(
                        rules::INVALID_VALUE,
                        id.span,
                        format!("unknown entity type `{}`", id.value),
                    )
                    .note("its values are read as strings")
                    .help(help),
                );
                field.ty = Some(Spanned::new(SmolStr::new_static("string"), id.span));
                let semantics = field.semantics.get_or_insert_default();
                semantics.kore_entity_type = Some(SmolStr::new(&id.value));
            }
        }
    }
    if component.take_bool("isArray") == Some(true) {
        field.list = Some(Data::Bool(true));
    }
    for key in ["isSensitive", "piiDataEnabled"] {
        if component.take_bool(key) == Some(true) {
            field.sensitive = Some(true);
            field.sensitive_display = Some("redact");
        }
    }
    pattern(component, &mut field);
    values(cx, component, &mut field, agent);
    let retry_prompt = retry.main.and_then(|m| m.response.text);
    if let Some(retry_prompt) = retry_prompt {
        ask_again(cx.base, &mut field, retry_prompt);
    }
    (field, prompts, others)
}

/// What is said before a field is asked for again. AgentIR has it only beside a validation; elsewhere it is an
/// extension of `base`.
pub(super) fn ask_again(base: Dialect, field: &mut GatherField, text: Template) {
    match &mut field.validation {
        Some(check) => check.retry_prompt = Some(text),
        None => {
            let data = Data::from(text.text.value.as_str());
            let known = field.extensions.0.get_mut(base.id());
            match known.and_then(|all| all.get_mut("retry_prompt")) {
                Some(known) => known.value = data,
                None => {
                    field.extensions.insert(base.id(), "retry_prompt", data, text.text.span);
                }
            }
        }
    }
}

pub(super) fn check(
    kind: &'static str,
    rule: &str,
    retry_prompt: Option<Template>,
    span: Span,
) -> Validation {
    let rule = Spanned::new(SmolStr::new(rule), span);
    Validation {
        retry_prompt,
        ..Validation::new(Spanned::new(SmolStr::new_static(kind), span), rule)
    }
}

/// Applies a row of the table of entity types to a field.
pub(super) fn apply_type(field: &mut GatherField, ty: &EntityType, span: Span) {
    field.ty = Some(Spanned::new(SmolStr::new_static(ty.ty), span));
    if ty.secret {
        field.sensitive = Some(true);
        field.sensitive_display = Some("redact");
        field.transient = Some(true);
    }
    if !ty.has_semantics() {
        return;
    }
    let word = SmolStr::new_static;
    field.semantics = Some(Semantics {
        format: ty.format.map(word),
        components: ty.components.iter().map(|c| Spanned::new(word(c), span)).collect(),
        unit: ty.unit.map(word),
        lookup: ty.lookup.map(|l| Spanned::new(word(l), span)),
        kore_entity_type: ty.platform.map(word),
        ..Semantics::default()
    });
}

/// A pattern in JavaScript notation: `/…/g`.
fn pattern(component: &Json, field: &mut GatherField) {
    let Some(text) = component.take_text("regexPattern") else { return };
    let inner = text.value.strip_prefix('/').and_then(|rest| {
        let (inner, flags) = rest.rsplit_once('/')?;
        flags.chars().all(|c| c.is_ascii_lowercase()).then_some(inner)
    });
    let pattern = inner.unwrap_or(&text.value);
    field.extraction_pattern = Some(Spanned::new(SmolStr::new(pattern), text.span));
    field.validation = Some(check("pattern", pattern, None, text.span));
}

/// The values of a list: of an enumeration they become an entity of the agent, of a lookup a lookup
/// table.
fn values(cx: &mut Context<'_, '_>, component: &Json, field: &mut GatherField, agent: &mut Agent) {
    let Some(texts) = localized(component, &cx.language) else { return };
    let list = texts.get("allowedValues").and_then(|a| a.get("values")).map(Json::items);
    let list = list.or_else(|| component.get("lookupValues").map(Json::items)).unwrap_or_default();
    let mut all: Vec<Allowed> = list.iter().filter_map(allowed).collect();
    if all.is_empty() {
        return;
    }
    other_words(cx, component, texts, &mut all);
    let is_enum = field.ty.as_ref().is_some_and(|t| t.value == "enum");
    if !is_enum || all.len() > MAX_ENUMERATED {
        if is_enum {
            field.ty = field.ty.take().map(|t| Spanned::new(SmolStr::new_static("string"), t.span));
        }
        let name = super::names::identifier(&field.name.value).to_ascii_lowercase();
        let name = Spanned::new(SmolStr::new(name), field.name.span);
        let semantics = field.semantics.get_or_insert_default();
        semantics.lookup = Some(name.clone());
        agent.lookup_tables.entry(name.value.clone()).or_insert_with(|| table(name, all));
        return;
    }
    let values: Vec<Spanned<SmolStr>> = all.iter().map(|a| a.value.clone()).collect();
    if all.iter().all(|a| a.synonyms.is_empty()) {
        field.validation = Validation::of_values(&values, field.name.span);
        field.enum_values = values;
        return;
    }
    let synonyms = all
        .iter()
        .filter(|a| !a.synonyms.is_empty())
        .map(|a| (a.value.value.to_string(), a.synonyms.iter().map(SmolStr::as_str).collect()))
        .collect();
    field.entity_ref = Some(field.name.clone());
    field.ty = None;
    if agent.entities.iter().all(|e| e.name.value != field.name.value) {
        agent.entities.push(entity(field.name.clone(), values, Data::Object(synonyms)));
    }
}

/// Adds what values are called in the bot's other languages: users may say it in any of them.
fn other_words(cx: &Context<'_, '_>, component: &Json, own: &Json, all: &mut [Allowed]) {
    let texts = component.get("localeData").map_or(&[][..], Json::members).iter();
    let others = texts.filter(|texts| !std::ptr::eq(&texts.value, own) && cx.speaks(&texts.key));
    let values = others.filter_map(|texts| texts.value.at(&["allowedValues", "values"]));
    for item in values.flat_map(Json::items) {
        let Some(value) = item.peek("value") else { continue };
        let Some(known) = all.iter_mut().find(|known| known.value.value == value) else { continue };
        for word in allowed(item).into_iter().flat_map(|item| item.synonyms) {
            if word != known.value.value && !known.synonyms.contains(&word) {
                known.synonyms.push(word);
            }
        }
    }
}

/// Makes the values of a field an entity of the agent, with what users see of each as its synonym.
pub(super) fn enumerate(field: &mut GatherField, shown: &[(String, String)], agent: &mut Agent) {
    let synonyms = shown.iter().map(|(value, label)| (value.clone(), vec![label.as_str()].into()));
    let synonyms = Data::Object(synonyms.collect());
    let values = std::mem::take(&mut field.enum_values);
    field.entity_ref = Some(field.name.clone());
    field.ty = None;
    if agent.entities.iter().all(|e| e.name.value != field.name.value) {
        agent.entities.push(entity(field.name.clone(), values, synonyms));
    }
}

/// The words of a list in one text: exports write several synonyms into one, separated by commas.
pub(super) fn separated(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

fn allowed(item: &Json) -> Option<Allowed> {
    let title = item.take_text("title").map(super::entities::unescaped);
    let value = item.take_text("value").map(super::entities::unescaped);
    let value = value.or_else(|| title.clone())?;
    let mut synonyms: Vec<SmolStr> = Vec::new();
    let mut add = |word: &str| {
        let known = word == value.value || synonyms.iter().any(|s| s == word);
        if !known && !word.is_empty() {
            synonyms.push(SmolStr::new(word));
        }
    };
    title.into_iter().for_each(|t| add(&t.value));
    let listed = item.get("synonyms");
    let whole = listed.filter(|s| s.text().is_some());
    for synonym in listed.map_or(&[][..], Json::items).iter().chain(whole) {
        if let Some(text) = synonym.text() {
            separated(&super::entities::unescaped(text).value).for_each(&mut add);
            synonym.take();
        }
    }
    Some(Allowed { value: value.spanned(), synonyms })
}

fn entity(name: Spanned<Name>, values: Vec<Spanned<SmolStr>>, synonyms: Data) -> Entity {
    Entity {
        span: name.span,
        name,
        ty: "enum",
        values,
        synonyms: Some(synonyms),
        pattern: None,
        validation: None,
        sensitive: None,
        sensitive_display: None,
        mask_config: None,
        pii_type: None,
        description: None,
        extraction_hints: Vec::new(),
        source: EntitySource::Explicit,
        extensions: Extensions::default(),
    }
}

/// A lookup table that the source platform provides and the project has to supply.
fn reference(name: Spanned<Name>) -> LookupTable {
    LookupTable {
        source: Some("collection"),
        table_name: Some(name.clone()),
        ..table(name, Vec::new())
    }
}

fn table(name: Spanned<Name>, all: Vec<Allowed>) -> LookupTable {
    let no_synonyms = all.iter().all(|a| a.synonyms.is_empty());
    let map = || {
        let entries = all.iter().flat_map(|a| {
            let value = a.value.value.as_str();
            let keys = a.synonyms.iter().map(SmolStr::as_str).chain([value]);
            keys.map(move |key| (key.to_owned(), Data::from(value)))
        });
        Data::Object(entries.collect())
    };
    LookupTable {
        span: name.span,
        name,
        source: Some("inline"),
        map: (!no_synonyms).then(map),
        values: if no_synonyms {
            all.iter().map(|a| Template::plain(a.value.clone())).collect()
        } else {
            Vec::new()
        },
        table_name: None,
        endpoint: None,
        field: None,
        headers: None,
        timeout_ms: None,
        case_sensitive: None,
        fuzzy_match: None,
        fuzzy_threshold: None,
        extensions: Extensions::default(),
    }
}

/// The settings of a node: whether the entity is required, and how often it is asked for. AgentIR has the limit only
/// beside a validation; elsewhere it is an extension of `base`.
pub(super) fn options(base: Dialect, node: &Json, field: &mut GatherField) {
    let Some(options) = node.get("nodeOptions") else { return };
    if options.take_bool("isOptional") == Some(true) {
        field.required = false;
    }
    let retry = options.at(&["eventOptions", "defaultMaxRetry"]);
    let limit =
        retry.and_then(|r| r.take_number_if("retry_limit", |n| makes_sense("max_retries", n)));
    match (limit, &mut field.validation) {
        (Some(limit), Some(check)) => check.max_retries = Some(Number(limit)),
        (Some(limit), None) => {
            let limit = Data::from(Number(limit));
            field.extensions.insert(base.id(), "max_retries", limit, node.span.at_start());
        }
        (None, _) => {}
    }
}

/// A `Collect` statement.
pub(super) fn collect(fields: Vec<GatherField>, span: Span) -> Statement {
    Statement::Collect(Collect {
        present: None,
        gather: Gather { fields, ..Gather::default() },
        corrections: None,
        complete_when: None,
        on_success: agentir_ir::Body::default(),
        on_failure: agentir_ir::Body::default(),
        span,
    })
}
