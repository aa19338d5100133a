//! Conditions: expressions, or words for the model to judge.

use crate::describe::{Json, Mode};
use crate::expression;
use crate::notation::check_references;
use crate::reader::Reader;
use crate::schema::Schemas;
use crate::values::write_entry;
use crate::words::is_strict;
use agentir_diagnostics::{Diagnostic, Spanned, closest};
use agentir_expr::{Condition, ConditionKind};
use agentir_ir::Activation;
use agentir_syntax::inline::InlineText;
use agentir_syntax::json::{Json as Node, Kind, Text};
use agentir_syntax::rules;
use serde::ser::Serializer;
use serde_json::{Value, json};
use smol_str::SmolStr;

/// The key of words that would be read as an expression.
const NATURAL: &str = "natural";

impl Json for Condition {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            ConditionKind::Expr(expr) => expr.write(mode, serializer),
            ConditionKind::Natural if !reads_as_words(&self.text.value) => {
                write_entry(NATURAL, &self.text, mode, serializer)
            }
            ConditionKind::Natural | ConditionKind::Invalid => self.text.write(mode, serializer),
        }
    }

    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if let Kind::Object(members) = &json.kind
            && let [member] = members.as_slice()
            && member.key == NATURAL
        {
            let words = reader.within(NATURAL, |reader| Json::read(&member.value, reader));
            let text: Option<Spanned<SmolStr>> = words;
            let Some(text) = text else { return Some(unreadable(json)) };
            if text.value.trim().is_empty() {
                let message = format!("`{NATURAL}` must not be empty");
                let problem =
                    Diagnostic::error(rules::INVALID_EXPRESSION, member.value.span, message);
                reader.report(problem.help(
                    "write words for the model to judge, or leave the condition out if there is none",
                ));
                return Some(unreadable(json));
            }
            return Some(Self { text, kind: ConditionKind::Natural });
        }
        Some(match &json.kind {
            Kind::String(text) => of_text(text, reader),
            Kind::Object(members) if !members.is_empty() => {
                let has_words = members.iter().any(|member| member.key == NATURAL);
                for member in members.iter().filter(|member| member.key != NATURAL) {
                    let message = format!("`{}` is not a key of a condition", member.key);
                    let problem = Diagnostic::error(rules::UNKNOWN_FIELD, member.key_span, message);
                    reader.report(match closest(&member.key, [NATURAL]).filter(|_| !has_words) {
                        Some(meant) => problem.did_you_mean(meant),
                        None => problem.help(format!(
                            "a condition is a string, or an object with `{NATURAL}` alone"
                        )),
                    });
                }
                unreadable(json)
            }
            _ => {
                reader.expected::<()>(json, "a string, or an object `{\"natural\": …}`");
                unreadable(json)
            }
        })
    }

    fn schema(schemas: &mut Schemas) -> Value {
        let description = "A condition: an expression in its canonical form, or words for the model to judge. Words that could be an expression are the value of `natural` in an object.";
        schemas.named("Condition", description, |_| {
            json!({ "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": { "natural": { "type": "string" } },
                    "required": ["natural"],
                    "additionalProperties": false,
                },
            ] })
        })
    }
}

/// A condition that could not be read. It never holds, whereas one that is absent always does.
fn unreadable(json: &Node) -> Condition {
    Condition { text: Spanned::new(SmolStr::default(), json.span), kind: ConditionKind::Invalid }
}

fn of_text(text: &Text, reader: &mut Reader<'_>) -> Condition {
    let input = text.inline_text();
    let kind = match expression::expression(input, is_strict(reader.dialect)) {
        Ok(mut expr) => {
            check_references(&mut expr, reader);
            ConditionKind::Expr(expr)
        }
        Err(failure) if failure.too_deep || !looks_like_words(&text.value) => {
            let message = format!("this condition cannot be parsed: {}", failure.message);
            let help = "write words for the model to judge as `{\"natural\": \"…\"}`";
            let rule = match failure.too_deep {
                true => rules::EXPRESSION_TOO_DEEP,
                false => rules::INVALID_EXPRESSION,
            };
            reader.report(Diagnostic::error(rule, failure.span, message).help(help));
            ConditionKind::Invalid
        }
        Err(_) => ConditionKind::Natural,
    };
    Condition { text: Spanned::new(SmolStr::new(&text.value), text.span), kind }
}

/// Whether a condition in the JSON of a dialect that converts in comparisons is an expression: what it was written from
/// was one.
#[must_use]
pub fn is_expression(text: &str) -> bool {
    expression::expression(InlineText::verbatim(text, Default::default(), 0), false).is_ok()
}

/// Whether a string is read as words, in any dialect.
fn reads_as_words(text: &str) -> bool {
    let input = InlineText::verbatim(text, Default::default(), 0);
    looks_like_words(text)
        && [false, true].iter().all(|strict| match expression::expression(input, *strict) {
            Ok(_) => false,
            Err(failure) => !failure.too_deep,
        })
}

/// Whether a text that is not an expression is meant as words, and not as an expression with a mistake.
fn looks_like_words(text: &str) -> bool {
    // What is quoted is an example of what a user says.
    let mut outside = String::with_capacity(text.len());
    for (at, part) in text.split('"').enumerate() {
        outside.push_str(if at % 2 == 0 { part } else { "…" });
    }
    let operator =
        |word: &str| matches!(word, "AND" | "OR" | "NOT" | "IS" | "SET" | "IMPLIES" | "IN");
    let pairs = || outside.bytes().zip(outside.bytes().skip(1));
    let is_called = |(a, b): (u8, u8)| b == b'(' && (a.is_ascii_alphanumeric() || a == b'_');
    !outside.trim().is_empty()
        && !outside.contains(['=', '<', '>'])
        && !outside.contains("&&")
        && !outside.contains("||")
        && !pairs().any(is_called)
        && !outside.split_whitespace().any(operator)
}

impl Json for Activation {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Required => serializer.serialize_str("required"),
            Self::Optional => serializer.serialize_str("optional"),
            Self::Progressive => serializer.serialize_str("progressive"),
            Self::When { when } => write_entry("when", when, mode, serializer),
        }
    }

    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if matches!(json.kind, Kind::Object(_)) {
            return Some(Self::When { when: reader.only(json, "Activation", "when")? });
        }
        if json.text().is_none() {
            return reader
                .expected(json, "`required`, `optional`, `progressive` or `{\"when\": …}`");
        }
        match reader.word(json, &["required", "optional", "progressive"])?.value {
            "required" => Some(Self::Required),
            "optional" => Some(Self::Optional),
            _ => Some(Self::Progressive),
        }
    }

    fn schema(schemas: &mut Schemas) -> Value {
        schemas.named("Activation", "When a field is asked for.", |schemas| {
            let mut condition = Condition::schema(schemas);
            if let Some(condition) = condition.as_object_mut() {
                condition.insert("description".to_owned(), "The condition.".into());
            }
            let word = |word: &str, description: &str| {
                json!({ "type": "string", "const": word, "description": description })
            };
            json!({ "anyOf": [
                word("required", "Always."),
                word("optional", "Only taken if mentioned."),
                word("progressive", "Once the fields it depends on are collected."),
                {
                    "type": "object",
                    "properties": { "when": condition },
                    "required": ["when"],
                    "description": "When a condition holds.",
                },
            ] })
        })
    }
}
