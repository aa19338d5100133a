//! The JSON Schema, made of the descriptions of types.

use crate::describe::{Fields, Json};
use crate::reader::{ORIGIN, ORIGIN_DESCRIPTION};
use agentir_expr::Dialect;
use agentir_ir::{Agent, CompilationOutput, Data, Number};
use agentir_syntax::Origin;
use agentir_syntax::limits::range_of;
use serde_json::{Map, Value, json};

/// The schema of a key with the numbers that it may have. They restrict numbers alone, whatever else it may be.
pub(crate) fn ranged(key: &str, mut schema: Value) -> Value {
    let text = schema.to_string();
    let is_number =
        ["\"number\"", "\"integer\"", "/NumberOrText\""].iter().any(|ty| text.contains(ty));
    if let (Some(range), Some(schema)) =
        (range_of(key).filter(|_| is_number), schema.as_object_mut())
    {
        schema.insert("minimum".to_owned(), Data::from(Number(range.least)));
        schema.insert("maximum".to_owned(), Data::from(Number(range.most)));
        if range.whole {
            schema.insert("multipleOf".to_owned(), 1.into());
        }
    }
    schema
}

/// The JSON Schema of documents: programs, as `agentir compile` writes them, and single agents. Agents have one of these
/// dialects.
#[must_use]
pub fn schema(dialects: impl IntoIterator<Item = Dialect>) -> Value {
    let dialects = dialects.into_iter().map(Dialect::id).collect();
    let mut schemas = Schemas { dialects, ..Schemas::default() };
    let program = CompilationOutput::definition(&mut schemas);
    let mut agent = Agent::definition(&mut schemas);
    // The version of an agent in a program is that of the program.
    if let Some(agent) = agent.as_object_mut() {
        agent.insert("required".to_owned(), json!(["ir_version"]));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "AgentIR",
        "description": "A program, as `agentir compile` writes it, or one agent.",
        "anyOf": [program, agent],
        "$defs": schemas.definitions,
    })
}

/// The definitions of a schema, in the order in which they are first referred to.
#[derive(Debug, Default)]
pub struct Schemas {
    definitions: Map<String, Value>,
    /// The words that the field being described may have as its value.
    pub(crate) words: &'static [&'static str],
    /// The ids of the dialects that agents may have.
    pub(crate) dialects: Vec<&'static str>,
}

impl Schemas {
    /// A reference to the definition `name`, which is made by `make` if it does not exist.
    fn reference(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.definitions.contains_key(name) {
            // Types refer to themselves.
            self.definitions.insert(name.to_owned(), Value::Null);
            let words = std::mem::take(&mut self.words);
            let definition = make(self);
            self.words = words;
            self.definitions.insert(name.to_owned(), definition);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    /// A reference to the definition of a type whose JSON is an object.
    pub(crate) fn object<T: Fields>(&mut self, name: &str, docs: &[&str]) -> Value {
        self.reference(name, |schemas| {
            let mut object = ObjectSchema::default();
            T::describe(schemas, &mut object);
            described(object.into_value(), docs)
        })
    }

    /// A reference to the definition of an enum whose values are words.
    pub(crate) fn words(&mut self, name: &str, docs: &[&str], words: &[(&str, &[&str])]) -> Value {
        self.reference(name, |_| {
            let documented = words.iter().all(|(_, docs)| !docs.is_empty());
            let schema = if documented {
                let one = |(word, docs): &(&str, &[&str])| {
                    described(json!({ "type": "string", "const": word }), docs)
                };
                json!({ "oneOf": words.iter().map(one).collect::<Vec<_>>() })
            } else {
                let all: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                json!({ "type": "string", "enum": all })
            };
            described(schema, docs)
        })
    }

    /// A reference to a definition that no macro makes.
    pub(crate) fn named(
        &mut self,
        name: &str,
        description: &str,
        make: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        self.reference(name, |schemas| described(make(schemas), &[description]))
    }
}

/// The schema of an object.
#[derive(Debug, Default)]
pub struct ObjectSchema(Map<String, Value>);

impl ObjectSchema {
    /// An object whose key `tag` has the value `word`.
    pub(crate) fn tagged(tag: &str, word: &str) -> Self {
        let mut object = Self::default();
        object.property(tag, json!({ "type": "string", "const": word }), &[], true);
        object
    }

    /// Adds a key.
    pub(crate) fn property(&mut self, key: &str, schema: Value, docs: &[&str], required: bool) {
        self.typed();
        let schema = ranged(key, schema);
        if let Some(properties) = self.map("properties") {
            properties.insert(key.to_owned(), described(schema, docs));
        }
        if required {
            let list = self.0.entry("required").or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(key.into());
            }
        }
    }

    /// Adds the key for the original location of what the object describes.
    pub(crate) fn placed(&mut self, schemas: &mut Schemas, _: &str) {
        let schema = Option::<Origin>::schema(schemas);
        self.property(ORIGIN, schema, &[ORIGIN_DESCRIPTION], false);
    }

    /// Adds the keys of a definition.
    pub(crate) fn reference(&mut self, reference: Value) {
        if let Value::Object(reference) = reference {
            let own = std::mem::replace(&mut self.0, reference);
            self.0.extend(own);
        }
    }

    /// Adds a variant, one of which an object has to be.
    pub(crate) fn variant(&mut self, variant: Self, docs: &[&str]) {
        let all = self.0.entry("oneOf").or_insert_with(|| json!([]));
        if let Some(all) = all.as_array_mut() {
            all.push(described(variant.into_value(), docs));
        }
    }

    fn typed(&mut self) {
        if !self.0.contains_key("properties") {
            self.0.entry("type").or_insert_with(|| "object".into());
            self.0.insert("properties".to_owned(), json!({}));
        }
    }

    fn map(&mut self, key: &str) -> Option<&mut Map<String, Value>> {
        self.0.get_mut(key).and_then(Value::as_object_mut)
    }

    fn into_value(mut self) -> Value {
        // After the properties, wherever the first key that is required stands.
        if let Some(required) = self.0.shift_remove("required") {
            let variants = self.0.shift_remove("oneOf");
            self.0.insert("required".to_owned(), required);
            self.0.extend(variants.map(|variants| ("oneOf".to_owned(), variants)));
        }
        Value::Object(self.0)
    }
}

/// A schema with a description.
fn described(schema: Value, docs: &[&str]) -> Value {
    if docs.is_empty() {
        return schema;
    }
    let mut object = match schema {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    let lines: Vec<_> = docs.iter().map(|line| line.trim()).collect();
    object.insert("description".to_owned(), lines.join("\n").into());
    Value::Object(object)
}

/// The schema of a value or `null`.
pub(crate) fn nullable(schema: Value) -> Value {
    let Value::Object(mut object) = schema else { return schema };
    if let Some(words) = object.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
    match object.get_mut("type") {
        Some(ty) => {
            *ty = json!([ty.take(), "null"]);
            Value::Object(object)
        }
        None => json!({ "anyOf": [Value::Object(object), { "type": "null" }] }),
    }
}
