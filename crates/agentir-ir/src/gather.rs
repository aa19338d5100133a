//! Fields collected from the user, and their validation.

use crate::data::{Data, Extensions, Number};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template};
use smol_str::SmolStr;

/// Fields that are collected together.
#[derive(Clone, Debug, Default)]
pub struct Gather {
    /// The fields, in order.
    pub fields: Vec<GatherField>,
    /// How values are extracted from messages: `pattern`, `llm`, `hybrid`, …
    pub strategy: Option<&'static str>,
    /// The prompt that asks for all fields.
    pub prompt: Option<Template>,
    /// The key of that prompt's message.
    pub message_key: Option<Spanned<Name>>,
    /// Patterns that indicate a correction.
    pub correction_patterns: Vec<Template>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// The types of fields and entities (ABL §3.6); a field without one has the type of its entity.
pub const FIELD_TYPES: &[&str] = &[
    "string",
    "text",
    "free_text",
    "number",
    "integer",
    "float",
    "currency",
    "boolean",
    "date",
    "datetime",
    "email",
    "phone",
    "enum",
    "pattern",
    "location",
    "attachment",
    "array",
    "object",
];

/// Whether the type of a field, an entity or a parameter has whole numbers only.
#[must_use]
pub fn is_integer_type(name: &str) -> bool {
    ["integer", "int", "long"].iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// A field to collect.
#[derive(Clone, Debug)]
pub struct GatherField {
    /// The name, which is also the variable that receives the value.
    pub name: Spanned<Name>,
    /// The entity that defines the values.
    pub entity_ref: Option<Spanned<Name>>,
    /// The prompt.
    pub prompt: Option<Template>,
    /// The key of the prompt's message.
    pub message_key: Option<Spanned<Name>>,
    /// A description.
    pub description: Option<Template>,
    /// The type; absent if an entity defines it or it is unknown.
    pub ty: Option<Spanned<Name>>,
    /// Whether a value is required; `true` by default.
    pub required: bool,
    /// The default value.
    pub default: Option<Data>,
    /// The validation of values.
    pub validation: Option<Validation>,
    /// The allowed values.
    pub enum_values: Vec<Spanned<SmolStr>>,
    /// Synonyms of each value.
    pub synonyms: Option<Data>,
    /// Hints for extraction.
    pub extraction_hints: Vec<Template>,
    /// A pattern that extracts the value.
    pub extraction_pattern: Option<Spanned<SmolStr>>,
    /// The capture group of that pattern.
    pub extraction_group: Option<Number>,
    /// The extraction strategy, where it differs from the default.
    pub strategy: Option<&'static str>,
    /// Whether the model may infer the value.
    pub infer: Option<bool>,
    /// The minimum confidence of an inferred value.
    pub infer_confidence: Option<Number>,
    /// Whether the user must confirm an inferred value.
    pub infer_confirm: Option<bool>,
    /// The meaning of the values.
    pub semantics: Option<Semantics>,
    /// Settings for ranges of values.
    pub range: Option<Data>,
    /// Settings for lists of values.
    pub list: Option<Data>,
    /// Settings for preferred values.
    pub preferences: Option<Data>,
    /// When the field is asked for.
    pub activation: Option<Activation>,
    /// The fields that must be collected first.
    pub depends_on: Vec<Spanned<Name>>,
    /// `ask` or `extract_only`.
    pub prompt_mode: Option<&'static str>,
    /// Who may provide the value: `user_input`, `authoritative_tool`, `system`.
    pub satisfied_by: Option<&'static str>,
    /// Whether values are personal or regulated data.
    pub sensitive: Option<bool>,
    /// How sensitive values are shown: `redact`, `replace`, `mask`.
    pub sensitive_display: Option<&'static str>,
    /// How sensitive values are masked.
    pub mask_config: Option<MaskConfig>,
    /// The category of personal data.
    pub pii_type: Option<Spanned<Name>>,
    /// Whether the value is discarded after use.
    pub transient: Option<bool>,
    /// Settings for speech output.
    pub voice_config: Option<Data>,
    /// Rich content for channels that show more than text.
    pub rich_content: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// The validation of a value.
#[derive(Clone, Debug)]
pub struct Validation {
    /// `pattern`, `range`, `enum`, `custom`, `llm`, `intrinsic`.
    pub kind: Spanned<Name>,
    /// The pattern, range, values, expression or instruction; or functions, all of which have to hold.
    pub rule: Spanned<SmolStr>,
    /// The expression of a `custom` rule.
    pub check: Option<Expr>,
    /// The message on failure.
    pub error_message: Option<Template>,
    /// The prompt for another attempt.
    pub retry_prompt: Option<Template>,
    /// The maximum number of retries.
    pub max_retries: Option<Number>,
    /// `REGEX`, `CODE`, `LLM`.
    pub validation_process: Option<SmolStr>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

impl Validation {
    /// A validation without anything but its rule.
    #[must_use]
    pub fn new(kind: Spanned<Name>, rule: Spanned<SmolStr>) -> Self {
        Self {
            kind,
            rule,
            check: None,
            error_message: None,
            retry_prompt: None,
            max_retries: None,
            validation_process: None,
            extensions: Extensions::default(),
        }
    }

    /// That of a field which lists its values and has no other; none without values.
    #[must_use]
    pub fn of_values(values: &[Spanned<SmolStr>], span: Span) -> Option<Self> {
        let all: Vec<&str> = values.iter().map(|value| value.value.as_str()).collect();
        let kind = Spanned::new(Name::new_static("enum"), span);
        let rule = Spanned::new(SmolStr::new(all.join("|")), span);
        (!all.is_empty()).then(|| Self::new(kind, rule))
    }
}

impl GatherField {
    /// The range that the field gives values without a validation: `range: "1-10"` or `range: [1, 10]`. Other settings of
    /// ranges are data.
    #[must_use]
    pub fn own_range(&self) -> Option<Result<Requirement<'_>, BadRule>> {
        match self.range.as_ref()? {
            Data::String(text) => Some(Requirement::range(text)),
            Data::Array(bounds) => match bounds.as_slice() {
                [least, most] if least.is_number() && most.is_number() => {
                    Some(Ok(Requirement::Range { least: least.as_f64(), most: most.as_f64() }))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl Validation {
    /// The message about an invalid value.
    #[must_use]
    pub fn message(&self) -> Option<&Template> {
        self.error_message.as_ref().or(self.retry_prompt.as_ref())
    }

    /// What the rule requires of values, all of which has to hold; nothing for `custom` and `llm`, which are evaluated
    /// or judged as a whole. A rule is written as its kind says (`1-10`, `red, blue`, a pattern), or as functions
    /// (`min(1) max(10)`), whatever the kind. `listed` tells whether the values are listed elsewhere.
    ///
    /// # Errors
    /// If the rule cannot be understood, with the reason.
    pub fn requirements(&self, listed: bool) -> Result<Vec<Requirement<'_>>, BadRule> {
        let kind = self.kind.value.to_ascii_lowercase();
        if matches!(kind.as_str(), "custom" | "llm") {
            return Ok(Vec::new());
        }
        let rule = self.rule.value.trim();
        if kind == "enum" && rule.is_empty() && listed {
            return Ok(Vec::new());
        }
        // A pattern may look like a call of another function.
        let is_pattern = matches!(kind.as_str(), "pattern" | "regex");
        let first = first_function(rule);
        if first.is_some_and(|first| !is_pattern || first == Function::Pattern) {
            return functions(rule);
        }
        if kind == "intrinsic" {
            return functions(rule);
        }
        Ok(vec![match kind.as_str() {
            "pattern" | "regex" => Requirement::pattern(rule)?,
            "range" => Requirement::range(rule)?,
            "enum" => Requirement::one_of(rule)?,
            _ => return Err(BadRule(format!("there is no kind of validation `{kind}`"))),
        }])
    }

    /// The kind of a rule that consists of functions, such as `min(2) max(9)`; none for a text.
    #[must_use]
    pub fn kind_of_functions(rule: &str) -> Option<&'static str> {
        let rule = rule.trim();
        Some(match first_function(rule) {
            Some(Function::Min | Function::Max | Function::Range) => "range",
            Some(Function::Enum) => "enum",
            Some(Function::Pattern) => "pattern",
            Some(Function::Email | Function::Phone | Function::Url) => "intrinsic",
            // Nothing but calls is meant as such, even if no function has the name.
            None if calls(rule).is_ok_and(|calls| !calls.is_empty()) => "intrinsic",
            None => return None,
        })
    }
}

/// What a value has to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Requirement<'a> {
    /// A number, or the length of a text or a list, in a range.
    Range {
        /// The least that is valid.
        least: Option<f64>,
        /// The most that is valid.
        most: Option<f64>,
    },
    /// One of these, whatever the case.
    OneOf(Vec<&'a str>),
    /// A text in which this regular expression has a match.
    Pattern(&'a str),
    /// An email address.
    Email,
    /// A telephone number.
    Phone,
    /// A web address.
    Url,
}

/// Why a rule cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRule(pub String);

impl std::fmt::Display for BadRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadRule {}

impl<'a> Requirement<'a> {
    /// A range: `1-10`, `-5..5`, `1, 10`, `>= 1`.
    ///
    /// # Errors
    /// If it is none.
    pub fn range(text: &'a str) -> Result<Self, BadRule> {
        let text = text.trim();
        if let Some(least) = text.strip_prefix(">=").and_then(number) {
            return Ok(Self::Range { least: Some(least), most: None });
        }
        if let Some(most) = text.strip_prefix("<=").and_then(number) {
            return Ok(Self::Range { least: None, most: Some(most) });
        }
        // The first separator with numbers on both sides: a minus may also be a sign.
        let found = ["..", ",", " to ", "-", "\u{2013}"].into_iter().find_map(|separator| {
            text.match_indices(separator).find_map(|(at, _)| {
                let (low, high) = (text.get(..at)?, text.get(at + separator.len()..)?);
                Some((number(low)?, number(high)?))
            })
        });
        let (least, most) = found
            .ok_or_else(|| BadRule(format!("`{text}` is no range of numbers, such as `1-10`")))?;
        Ok(Self::Range { least: Some(least), most: Some(most) })
    }

    /// Values, separated by commas or bars.
    fn one_of(text: &'a str) -> Result<Self, BadRule> {
        let list = text.trim_matches(|c| c == '[' || c == ']').split([',', '|']);
        let values = list.map(|value| value.trim().trim_matches(['"', '\'']));
        let values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
        if values.is_empty() {
            return Err(BadRule("it lists no values".to_owned()));
        }
        Ok(Self::OneOf(values))
    }

    fn pattern(text: &'a str) -> Result<Self, BadRule> {
        if text.is_empty() {
            return Err(BadRule("it has no pattern".to_owned()));
        }
        Ok(Self::Pattern(text))
    }
}

/// The functions of validations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    Range,
    Enum,
    Pattern,
    Email,
    Phone,
    Url,
}

const FUNCTIONS: &[(&str, Function)] = &[
    ("min", Function::Min),
    ("max", Function::Max),
    ("range", Function::Range),
    ("enum", Function::Enum),
    ("pattern", Function::Pattern),
    ("email", Function::Email),
    ("phone", Function::Phone),
    ("url", Function::Url),
];

fn function(name: &str) -> Option<Function> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// The function of the call that a rule begins with.
fn first_function(rule: &str) -> Option<Function> {
    function(rule.split_once('(')?.0)
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|n| n.is_finite())
}

/// What several functions require.
fn functions(rule: &str) -> Result<Vec<Requirement<'_>>, BadRule> {
    // The block form may name a function without parentheses: `email`.
    let calls = match function(rule) {
        Some(_) => vec![(rule, "")],
        None => calls(rule)?,
    };
    if calls.is_empty() {
        return Err(BadRule("it has no rule".to_owned()));
    }
    calls.into_iter().map(|(name, argument)| requirement(name, argument)).collect()
}

/// What a call of a function requires.
fn requirement<'a>(name: &str, argument: &'a str) -> Result<Requirement<'a>, BadRule> {
    let argument = argument.trim();
    let unquoted = ['"', '\''].into_iter().find_map(|quote| {
        argument.strip_prefix(quote)?.strip_suffix(quote).filter(|t| !t.contains(quote))
    });
    let bound =
        || number(argument).ok_or_else(|| BadRule(format!("`{name}({argument})` has no number")));
    let function = function(name).ok_or_else(|| {
        let known: Vec<String> = FUNCTIONS.iter().map(|(name, _)| format!("`{name}`")).collect();
        BadRule(format!("there is no function `{name}`, only {}", known.join(", ")))
    })?;
    Ok(match function {
        Function::Min => Requirement::Range { least: Some(bound()?), most: None },
        Function::Max => Requirement::Range { least: None, most: Some(bound()?) },
        Function::Range => Requirement::range(argument)?,
        Function::Enum => Requirement::one_of(argument)?,
        Function::Pattern => Requirement::pattern(unquoted.unwrap_or(argument))?,
        _ if !argument.is_empty() => {
            return Err(BadRule(format!("`{name}()` takes no argument")));
        }
        Function::Email => Requirement::Email,
        Function::Phone => Requirement::Phone,
        Function::Url => Requirement::Url,
    })
}

/// The calls that a rule consists of, with spaces or commas between them: names and arguments.
fn calls(rule: &str) -> Result<Vec<(&str, &str)>, BadRule> {
    let mut all = Vec::new();
    let mut rest = rule.trim();
    while !rest.is_empty() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c: char| !word(c)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let length = behind.strip_prefix('(').and_then(closing);
        let (Some(length), false) = (length, name.is_empty()) else {
            return Err(BadRule(format!("`{rest}` is no function such as `min(1)`")));
        };
        all.push((name, behind.get(1..=length).unwrap_or_default()));
        rest = behind.get(length + 2..).unwrap_or_default();
        rest = rest.trim_start_matches([' ', '\t', ',', ';']);
    }
    Ok(all)
}

/// Where the parenthesis that is open before a text is closed. Parentheses in classes of a pattern and escaped ones do
/// not count.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut escaped, mut class) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth += 1,
            ')' if !class && depth == 0 => return Some(at),
            ')' if !class => depth -= 1,
            _ => {}
        }
    }
    None
}

/// When a field is asked for.
#[derive(Clone, Debug)]
pub enum Activation {
    /// Always.
    Required,
    /// Only taken if mentioned.
    Optional,
    /// Once the fields it depends on are collected.
    Progressive,
    /// When a condition holds.
    When {
        /// The condition.
        when: Condition,
    },
}

/// How sensitive values are masked.
#[derive(Clone, Debug)]
pub struct MaskConfig {
    /// The number of characters shown at the start.
    pub show_first: Option<Number>,
    /// The number of characters shown at the end.
    pub show_last: Option<Number>,
    /// The masking character.
    pub char: Option<SmolStr>,
}

/// The meaning of a field's values.
#[derive(Clone, Debug, Default)]
pub struct Semantics {
    /// `airport_code`, `address`, …
    pub format: Option<SmolStr>,
    /// The components.
    pub components: Vec<Spanned<Name>>,
    /// The unit.
    pub unit: Option<SmolStr>,
    /// The lookup table of the values.
    pub lookup: Option<Spanned<Name>>,
    /// The unit values are converted to.
    pub convert_to: Option<SmolStr>,
    /// The locale of the notation.
    pub locale: Option<SmolStr>,
    /// `future`, `past`, `any`.
    pub temporal: Option<&'static str>,
    /// The values.
    pub enum_set: Vec<Template>,
    /// The entity type on the source platform.
    pub kore_entity_type: Option<SmolStr>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A file the user is asked for.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The name.
    pub name: Spanned<Name>,
    /// The prompt.
    pub prompt: Option<Template>,
    /// `image`, `document`, `audio`, `video`.
    pub category: &'static str,
    /// Whether the file is required.
    pub required: bool,
    /// The allowed MIME types.
    pub allowed_mime_types: Vec<Template>,
    /// The maximum size, in bytes.
    pub max_file_size_bytes: Option<Number>,
    /// How the file is processed.
    pub processing: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn validation(kind: &'static str, rule: &str) -> Validation {
        Validation {
            kind: Spanned::new(Name::new_static(kind), Span::default()),
            rule: Spanned::new(SmolStr::new(rule), Span::default()),
            check: None,
            error_message: None,
            retry_prompt: None,
            max_retries: None,
            validation_process: None,
            extensions: Extensions::default(),
        }
    }

    #[test]
    fn rules_are_read_in_all_notations() {
        use Requirement::{Email, OneOf, Pattern, Range};
        let range = |least, most| Range { least, most };
        let cases = [
            ("range", "1-10", vec![range(Some(1.0), Some(10.0))]),
            ("range", "-5..-1", vec![range(Some(-5.0), Some(-1.0))]),
            ("range", ">= 2", vec![range(Some(2.0), None)]),
            ("range", "min(2) max(9)", vec![range(Some(2.0), None), range(None, Some(9.0))]),
            ("enum", "red, 'dark blue'", vec![OneOf(vec!["red", "dark blue"])]),
            ("enum", "enum([a|b])", vec![OneOf(vec!["a", "b"])]),
            ("pattern", "^min(x)$", vec![Pattern("^min(x)$")]),
            ("pattern", "min(x)", vec![Pattern("min(x)")]),
            (
                "pattern",
                r"pattern(^\([)(]{2}(a|b)$) min(3)",
                vec![Pattern(r"^\([)(]{2}(a|b)$"), range(Some(3.0), None)],
            ),
            ("intrinsic", "email", vec![Email]),
            ("intrinsic", "email() max(40)", vec![Email, range(None, Some(40.0))]),
            ("llm", "min(1)", vec![]),
        ];
        for (kind, rule, expected) in cases {
            assert_eq!(validation(kind, rule).requirements(false), Ok(expected), "{kind}: {rule}");
        }
    }

    #[test]
    fn rules_that_cannot_be_understood_say_why() {
        let cases = [
            ("range", "", "`` is no range"),
            ("range", "min(a)", "`min(a)` has no number"),
            ("range", "min(1", "`min(1` is no function"),
            ("range", "min(1) or so", "`or so` is no function"),
            ("enum", "", "it lists no values"),
            ("pattern", "", "it has no pattern"),
            ("intrinsic", "colour()", "there is no function `colour`"),
            ("intrinsic", "", "it has no rule"),
            ("shape", "x", "there is no kind of validation `shape`"),
        ];
        for (kind, rule, why) in cases {
            let error = validation(kind, rule).requirements(false).unwrap_err().to_string();
            assert!(error.starts_with(why), "{kind}: {rule}: {error}");
        }
        assert_eq!(validation("enum", "").requirements(true), Ok(Vec::new()));
    }

    #[test]
    fn texts_are_told_from_functions() {
        assert_eq!(Validation::kind_of_functions("Must be between 1 and 9"), None);
        assert_eq!(Validation::kind_of_functions("a city (in Norway)"), None);
        assert_eq!(Validation::kind_of_functions("min(1) and max(9)"), Some("range"));
        assert_eq!(Validation::kind_of_functions("between(1, 9)"), Some("intrinsic"));
    }
}
