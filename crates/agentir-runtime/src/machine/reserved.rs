//! Parameters of tools whose values the model does not give (`source`, `value`, `key`, `hidden` of the newest ABL).
//!
//! The value is that of the declaration. A call of the author may give it where the declaration has none; nobody else may.

use super::Run;
use crate::json::to_json;
use agentir_eval::{Value, evaluate};
use agentir_ir::Parameter;
use serde_json::{Map, Value as Json};

/// A value, that there is none, or why that cannot be told.
type Reserved = Result<Option<Json>, String>;

impl<'p> Run<'_, 'p, '_> {
    /// The parameters of a tool that are not the model's to fill.
    pub(super) fn reserved(&self, tool: &str) -> Vec<&'p Parameter> {
        let parameters = self.tool(tool).into_iter().flat_map(|tool| &tool.parameters);
        parameters.filter(|parameter| parameter.is_reserved()).collect()
    }

    /// Puts the declared values of reserved parameters into the arguments of a call.
    pub(super) fn fill_reserved(&self, tool: &str, arguments: &mut Map<String, Json>) {
        for parameter in self.reserved(tool) {
            if let Ok(Some(value)) = self.reserved_value(parameter) {
                arguments.insert(parameter.name.value.to_string(), value);
            }
        }
    }

    /// Why a call cannot be made whose reserved parameters have no value.
    pub(super) fn missing_reserved(
        &self,
        tool: &str,
        arguments: &Map<String, Json>,
    ) -> Option<String> {
        self.reserved(tool).into_iter().find_map(|parameter| {
            let name = parameter.name.value.as_str();
            let given = arguments.get(name).is_some_and(|value| !value.is_null());
            match self.reserved_value(parameter) {
                Err(why) => Some(format!("`{name}` has no value, because {why}")),
                Ok(_) if given || !parameter.required => None,
                Ok(_) => Some(format!("`{name}` has no value, and the model may not give one")),
            }
        })
    }

    fn reserved_value(&self, parameter: &Parameter) -> Reserved {
        if parameter.source.is_none() && parameter.has_unread_source() {
            return Err("its `source` cannot be read".to_owned());
        }
        let declared = parameter.value.as_ref().filter(|value| !value.is_null());
        if let Some(text) = declared.and_then(Json::as_str).filter(|text| text.contains("{{")) {
            return Err(format!("placeholders in `{text}` are not filled in"));
        }
        if let Some(expr) = &parameter.value_expr {
            return match evaluate(expr, &self.scope(), self.dialect()) {
                Ok(Value::Null | Value::Undefined) => Ok(None),
                Ok(value) => {
                    self.note_computed(expr, &self.scope(), &value);
                    Ok(Some(to_json(&value)))
                }
                Err(error) => Err(format!("`{expr}` cannot be evaluated: {error}")),
            };
        }
        match parameter.source {
            Some("expr") => Err("its `value` is no expression".to_owned()),
            Some("lookup") => Err("tables are not looked up for parameters here".to_owned()),
            _ if declared.is_some() => Ok(declared.cloned()),
            // What a call of the author says, or the default.
            None | Some("model") => Ok(None),
            Some("system" | "runtime") => Ok(self.provided(parameter)),
            Some(source) => Err(format!("`{source}` has no values here")),
        }
    }

    /// What the platform knows: the user's id, the channel, what is passed to a conversation from outside.
    fn provided(&self, parameter: &Parameter) -> Option<Json> {
        let key = parameter.key.as_deref().unwrap_or(&parameter.name.value);
        let key = key.strip_prefix("session.").unwrap_or(key);
        let value = self.session.system.get(key)?;
        Some(to_json(value)).filter(|value| !value.is_null())
    }
}
