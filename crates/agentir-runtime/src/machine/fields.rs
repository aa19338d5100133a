//! What is known of a field: what its own declaration says, and what it takes over (ABL, current
//! specification, 3.5.2, 3.13.2 and 3.14.2).

use super::{Run, check_error};
use crate::json::from_json;
use crate::model::{FieldSpec, is_email};
use crate::session::RuntimeError;
use crate::trace::EventKind;
use agentir_eval::{Value, evaluate, pattern, truthy};
use agentir_expr::dialect::Semantics;
use agentir_ir::{
    BadRule, Entity, GatherField, GatherOverrides, LookupTable, NumberOrText, Requirement, Tool,
    Validation, is_integer_type,
};
use serde_json::{Map, Value as Json};

/// The default of `fuzzy_threshold`.
const FUZZY_THRESHOLD: f64 = 0.85;

/// The maximum length of texts that are compared approximately, in characters.
const MAX_FUZZY: usize = 64;

/// The declarations of a field, of which the first that says something counts: those of active
/// profiles, highest priority first; its own; that of the agent's field of the same name.
#[derive(Clone, Debug)]
pub(super) struct FieldLayers<'p> {
    layers: Vec<&'p GatherField>,
    own: &'p GatherField,
}

impl<'p> FieldLayers<'p> {
    /// What the declarations say about something.
    pub(super) fn get<T: ?Sized>(
        &self,
        part: impl Fn(&'p GatherField) -> Option<&'p T>,
    ) -> Option<&'p T> {
        self.layers.iter().find_map(|field| part(field))
    }

    /// What the declarations say about something, as a value.
    pub(super) fn copied<T: Copy>(&self, part: impl Fn(&'p GatherField) -> Option<T>) -> Option<T> {
        self.layers.iter().find_map(|field| part(field))
    }

    /// The first list that is not empty.
    pub(super) fn list<T>(&self, part: impl Fn(&'p GatherField) -> &'p Vec<T>) -> &'p [T] {
        self.get(|field| Some(part(field)).filter(|list| !list.is_empty()))
            .map_or(&[], Vec::as_slice)
    }

    /// The field's own declaration.
    pub(super) const fn own(&self) -> &'p GatherField {
        self.own
    }
}

impl<'p> Run<'_, 'p, '_> {
    /// What active profiles say about fields, highest priority first.
    pub(super) fn gather_overrides(&mut self) -> Result<Vec<&'p GatherOverrides>, RuntimeError> {
        let profiles = self.active_profiles()?;
        Ok(profiles.into_iter().filter_map(|profile| profile.gather_overrides.as_ref()).collect())
    }

    /// The declarations of a field.
    pub(super) fn field_layers(
        &self,
        field: &'p GatherField,
        overrides: &[&'p GatherOverrides],
    ) -> FieldLayers<'p> {
        let name = &field.name.value;
        let overridden = overrides.iter().flat_map(|all| &all.field_overrides);
        let mut layers: Vec<&GatherField> =
            overridden.filter(|one| one.name.value == *name).collect();
        layers.push(field);
        // A field of a step takes over what the agent says about it.
        let agent = self.agent().ok();
        let general = agent.and_then(|agent| {
            agent.gather.fields.iter().find(|general| general.name.value == *name)
        });
        layers.extend(general.filter(|general| !std::ptr::eq(*general, field)));
        FieldLayers { layers, own: field }
    }

    /// The lookup table of a field, if its values are known here. Those of a service, and of a collection that does not lie
    /// beside the program, are not.
    pub(super) fn lookup_table(&self, field: &FieldLayers<'p>) -> Option<&'p LookupTable> {
        let name = field.get(|f| f.semantics.as_ref()?.lookup.as_ref())?;
        let table = self.agent().ok()?.lookup_tables.get(name.value.as_str())?;
        let is_readable = table.map.as_ref().is_none_or(|map| map.is_object());
        Some(table).filter(|table| table.has_rows() && is_readable)
    }
}

/// What a rule requires, or the rule and why it cannot be understood.
pub(super) type Requirements<'p> = Result<Vec<Requirement<'p>>, (String, BadRule)>;

impl<'p> Run<'_, 'p, '_> {
    /// The validations of a field: its own, and that of its entity.
    pub(super) fn validations(&self, field: &FieldLayers<'p>) -> Vec<&'p Validation> {
        let own = field.get(|f| f.validation.as_ref());
        let entity = self.entity_of(field);
        own.into_iter().chain(entity.and_then(|entity| entity.validation.as_ref())).collect()
    }

    /// The entity that defines the values of a field.
    fn entity_of(&self, field: &FieldLayers<'p>) -> Option<&'p Entity> {
        let name = field.get(|f| f.entity_ref.as_ref())?;
        self.agent().ok()?.entities.iter().find(|entity| entity.name.value == name.value)
    }

    /// What the rules of a field require of its values.
    pub(super) fn requirements(&self, field: &FieldLayers<'p>, listed: bool) -> Requirements<'p> {
        let mut all = Vec::new();
        for validation in self.validations(field) {
            let rule = || validation.rule.value.to_string();
            all.extend(validation.requirements(listed).map_err(|why| (rule(), why))?);
        }
        let ranges = field.layers.iter().find(|layer| layer.own_range().is_some());
        if let Some((layer, range)) = ranges.and_then(|layer| Some((layer, layer.own_range()?))) {
            let rule = || layer.range.as_ref().map(ToString::to_string).unwrap_or_default();
            all.push(range.map_err(|why| (rule(), why))?);
        }
        Ok(all)
    }

    /// Whether a value has what the rules of its field require. One that cannot be checked is refused.
    pub(super) fn is_valid(
        &mut self,
        field: &FieldLayers<'p>,
        spec: &FieldSpec,
        value: &Value,
    ) -> Result<bool, RuntimeError> {
        let semantics = self.dialect().semantics();
        let text = agentir_eval::text(value, semantics);
        let requirements = match self.requirements(field, !spec.values.is_empty()) {
            Ok(requirements) => requirements,
            Err((rule, why)) => return Ok(self.refuse_value(&spec.name, &rule, &why.to_string())),
        };
        // A table has been looked into, and a rule with values lists them itself.
        let listed = requirements.iter().any(|one| matches!(one, Requirement::OneOf(_)))
            || self.lookup_table(field).is_some()
            || is_listed(spec, value, semantics);
        if !listed {
            return Ok(false);
        }
        let own = field.get(|f| f.ty.as_ref()).map(|ty| ty.value.as_str());
        let of_integers =
            own.or(self.entity_of(field).map(|entity| entity.ty)).is_some_and(is_integer_type);
        if of_integers && matches!(value, Value::Number(number) if number.fract() != 0.0) {
            return Ok(false);
        }
        for requirement in &requirements {
            match meets(requirement, spec.values.keys(), value, &text) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err((rule, why)) => return Ok(self.refuse_value(&spec.name, rule, &why)),
            }
        }
        for validation in self.validations(field) {
            if !self.is_approved(validation, &spec.name, &text)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a value passes a rule that is evaluated in the state (`custom`) or judged by the model (`llm`).
    fn is_approved(
        &mut self,
        validation: &'p Validation,
        name: &str,
        text: &str,
    ) -> Result<bool, RuntimeError> {
        let rule = validation.rule.value.as_str();
        match validation.kind.value.to_ascii_lowercase().as_str() {
            "custom" => {
                let semantics = self.dialect().semantics();
                let holds = match &validation.check {
                    Some(expr) => evaluate(expr, &self.scope(), self.dialect())
                        .map(|value| truthy(&value, semantics))
                        .map_err(|error| error.to_string()),
                    None => Err("it is not a valid expression".to_owned()),
                };
                Ok(holds.unwrap_or_else(|why| self.refuse_value(name, rule, &why)))
            }
            "llm" if rule.trim().is_empty() => {
                // Without a rule there are only texts, unless one is there that could not be read.
                let written = ["rule", "pattern", "range", "enum", "custom", "llm"];
                Ok(match written.iter().any(|name| validation.extensions.has(name)) {
                    true => self.refuse_value(name, rule, "it cannot be read"),
                    false => true,
                })
            }
            "llm" => {
                let statement = format!("`{text}` as {name}: {rule}");
                self.judge_or(&statement, text.to_owned(), true)
            }
            _ => Ok(true),
        }
    }

    /// The first argument of a call that the validation of its parameter does not allow, and why. Whether it is one of
    /// the parameter's values is for whoever makes the call, as its type is.
    pub(super) fn invalid_argument(
        &mut self,
        tool: &'p Tool,
        arguments: &Map<String, Json>,
    ) -> Result<Option<String>, RuntimeError> {
        for parameter in &tool.parameters {
            let Some(validation) = &parameter.validation else { continue };
            let name = parameter.name.value.as_str();
            let given = arguments.get(name).filter(|given| !given.is_null());
            let Some(value) = given.and_then(|given| from_json(given).ok()) else { continue };
            let text = agentir_eval::text(&value, self.dialect().semantics());
            let requirements = match validation.requirements(!parameter.values.is_empty()) {
                Ok(requirements) => requirements,
                Err(why) => {
                    self.refuse_value(name, &validation.rule.value, &why.to_string());
                    return Ok(Some(format!("`{name}` cannot be checked: {why}")));
                }
            };
            let mut valid = true;
            for requirement in &requirements {
                valid &= meets(requirement, [].iter(), &value, &text)
                    .unwrap_or_else(|(rule, why)| self.refuse_value(name, rule, &why));
            }
            let mark = self.locals.len();
            self.locals.push((name.into(), value));
            let approved = self.is_approved(validation, name, &text);
            self.locals.truncate(mark);
            if !(valid && approved?) {
                return Ok(Some(match validation.message() {
                    Some(message) => self.render(message),
                    None if self.is_sensitive(name) => format!("`{name}` may not have this value"),
                    None => format!("`{name}` may not be `{text}`"),
                }));
            }
        }
        Ok(None)
    }

    /// Refuses a value because its rule cannot be evaluated, and says so to whoever runs the agents.
    fn refuse_value(&mut self, name: &str, rule: &str, why: &str) -> bool {
        let RuntimeError { kind, message } = check_error(rule, why);
        let message = format!("values of `{name}` are refused: {message}");
        self.emit(EventKind::Error { kind, message });
        false
    }
}

/// Whether a field that lists its values lists this one, or all items of it.
fn is_listed(spec: &FieldSpec, value: &Value, semantics: &Semantics) -> bool {
    let known = |one: &Value| {
        let text = agentir_eval::text(one, semantics).to_lowercase();
        spec.values.keys().any(|name| name.to_lowercase() == text)
    };
    spec.values.is_empty()
        || match value {
            Value::List(list) => list.items().iter().all(known),
            one => known(one),
        }
}

/// Whether a value is as required, or the rule and why that cannot be told.
fn meets<'r, 'l>(
    requirement: &'r Requirement<'_>,
    mut listed: impl Iterator<Item = &'l String>,
    value: &Value,
    text: &str,
) -> Result<bool, (&'r str, String)> {
    let same = |one: &str| one.to_lowercase() == text.to_lowercase();
    Ok(match requirement {
        Requirement::Range { least, most } => {
            let size = match value {
                Value::Number(number) => *number,
                Value::Text(text) => text.parse::<f64>().unwrap_or(text.chars().count() as f64),
                Value::List(list) => list.items().len() as f64,
                _ => return Ok(false),
            };
            least.is_none_or(|least| size >= least) && most.is_none_or(|most| size <= most)
        }
        Requirement::OneOf(values) => match value {
            Value::List(list) => {
                let listed: Vec<&String> = listed.collect();
                list.items().iter().all(|item| {
                    let Value::Text(item) = item else { return false };
                    values.iter().any(|v| v.to_lowercase() == item.to_lowercase())
                        || listed.iter().any(|one| one.as_str() == item)
                })
            }
            _ => values.iter().any(|value| same(value)) || listed.any(|value| same(value)),
        },
        Requirement::Pattern(rule) => {
            pattern(rule).map_err(|error| (*rule, error.to_string()))?.is_match(text)
        }
        Requirement::Email => is_email(text),
        Requirement::Phone => is_phone(text),
        Requirement::Url => is_url(text),
    })
}

/// A telephone number in any usual notation: at most 15 digits (ITU-T E.164), and what separates them.
fn is_phone(text: &str) -> bool {
    let number = text.trim().strip_prefix('+').unwrap_or(text.trim());
    let digits = number.chars().filter(char::is_ascii_digit).count();
    (4..=15).contains(&digits)
        && number
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '.' | '(' | ')' | '/'))
}

/// An address of the web.
fn is_url(text: &str) -> bool {
    let text = text.trim();
    let rest = ["http://", "https://"].iter().find_map(|scheme| {
        text.get(..scheme.len())?.eq_ignore_ascii_case(scheme).then(|| text.get(scheme.len()..))?
    });
    rest.is_some_and(|rest| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        !host.is_empty() && !text.contains(char::is_whitespace)
    })
}

/// The values that a lookup table has, as authors write them.
pub(super) fn listed(table: &LookupTable) -> impl Iterator<Item = &str> {
    let keys = table.map.iter().filter_map(|map| map.as_object()).flat_map(|map| map.keys());
    let values = table.values.iter().map(|value| value.text.value.as_str());
    values.chain(keys.map(String::as_str))
}

/// A value of a table in which case counts as the message writes it; values are found whatever their case. What the message
/// does not contain was concluded from it, and is left as it is.
pub(super) fn as_written(table: &LookupTable, found: &str, message: &str) -> Option<String> {
    if table.case_sensitive != Some(true) || message.contains(found) {
        return None;
    }
    let pattern = regex::RegexBuilder::new(&regex::escape(found)).case_insensitive(true).build();
    Some(pattern.ok()?.find(message)?.as_str().to_owned())
}

/// The value or the key of a table that a text stands for, as the table writes it: the same text, whatever its case unless
/// the table says that case counts; else, with `fuzzy_match`, the text that is most similar (ABL, current specification,
/// 3.5.2).
#[must_use]
pub fn entry_of<'t>(table: &'t LookupTable, said: &str) -> Option<&'t str> {
    same_entry(table, said).or_else(|| similar_entry(table, said))
}

/// Whether a text is one of a table, but for its case if that does not count.
fn is_same(table: &LookupTable, one: &str, said: &str) -> bool {
    let exact = table.case_sensitive == Some(true);
    one == said || !exact && one.to_lowercase() == said.to_lowercase()
}

fn same_entry<'t>(table: &'t LookupTable, said: &str) -> Option<&'t str> {
    listed(table).find(|one| is_same(table, one, said))
}

fn similar_entry<'t>(table: &'t LookupTable, said: &str) -> Option<&'t str> {
    if table.fuzzy_match != Some(true) {
        return None;
    }
    let threshold = match table.fuzzy_threshold {
        Some(NumberOrText::Number(n)) => n.0,
        _ => FUZZY_THRESHOLD,
    };
    let exact = table.case_sensitive == Some(true);
    let close = listed(table).map(|one| (one, similarity(one, said, exact)));
    let close = close.filter(|(_, score)| *score >= threshold);
    close.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(one, _)| one)
}

/// Looks a value up: `Some(None)` if the table does not have it, `None` if it is no text or number. The
/// value is as the table writes it; for a key of a map, it is the value of the key.
pub(super) fn looked_up(
    table: &LookupTable,
    value: &Value,
    semantics: &Semantics,
) -> Option<Option<Value>> {
    let said = match value {
        Value::Text(_) | Value::Number(_) => agentir_eval::text(value, semantics),
        _ => return None,
    };
    let said = said.trim();
    let map = table.map.as_ref().and_then(|map| map.as_object());
    // A value of a map stands for itself.
    let value_of_map = || {
        let mut values = map.into_iter().flat_map(|map| map.values()).filter_map(|v| v.as_str());
        values.find(|one| is_same(table, one, said))
    };
    let found =
        same_entry(table, said).or_else(value_of_map).or_else(|| similar_entry(table, said));
    match found.and_then(|key| map?.get(key)) {
        Some(mapped) => Some(from_json(mapped).ok()),
        None => Some(found.map(Value::text)),
    }
}

/// The similarity of two texts, from 0 to 1: one minus the share of characters to change. The case of
/// characters counts if it is `exact`.
fn similarity(one: &str, other: &str, exact: bool) -> f64 {
    let folded = |text: &str| if exact { text.to_owned() } else { text.to_lowercase() };
    let characters = |text: &str| folded(text).chars().take(MAX_FUZZY).collect::<Vec<char>>();
    let (one, other) = (characters(one), characters(other));
    let most = one.len().max(other.len());
    if most == 0 {
        return 1.0;
    }
    // One row of the table of distances between the beginnings.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (n, a) in one.iter().enumerate() {
        let mut diagonal = n;
        let mut left = n + 1;
        let mut next = vec![left];
        for (above, b) in row.iter().skip(1).zip(&other) {
            let changed = diagonal + usize::from(a != b);
            left = changed.min(left + 1).min(above + 1);
            next.push(left);
            diagonal = *above;
        }
        row = next;
    }
    let distance = row.last().copied().unwrap_or(most);
    1.0 - distance as f64 / most as f64
}
