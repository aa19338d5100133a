//! The names of the rules that the front ends report under. Their pages are in `rules/`.

use agentir_diagnostics::RuleName;

/// A line or a file that cannot be read as what it should be.
pub const SYNTAX: RuleName = RuleName("syntax-error");
/// A string without its closing quote.
pub const UNTERMINATED_STRING: RuleName = RuleName("unterminated-string");
/// A line between two levels of indentation.
pub const INDENTATION: RuleName = RuleName("inconsistent-indentation");
/// Deeper than anybody nests on purpose.
pub const NESTING: RuleName = RuleName("nesting-too-deep");
/// Not text at all, or too much of it.
pub const NOT_TEXT: RuleName = RuleName("not-text");
/// A top-level keyword that does not exist.
pub const UNKNOWN_SECTION: RuleName = RuleName("unknown-section");
/// A key that its section does not have.
pub const UNKNOWN_FIELD: RuleName = RuleName("unknown-field");
/// A value its field does not take.
pub const INVALID_VALUE: RuleName = RuleName("invalid-value");
/// A section that must be there.
pub const MISSING_SECTION: RuleName = RuleName("missing-section");
/// A field that must be there.
pub const MISSING_FIELD: RuleName = RuleName("missing-field");
/// A section written twice.
pub const DUPLICATE_SECTION: RuleName = RuleName("duplicate-section");
/// A field written twice.
pub const DUPLICATE_FIELD: RuleName = RuleName("duplicate-field");
/// Fields that exclude each other.
pub const CONFLICTING_FIELDS: RuleName = RuleName("conflicting-fields");
/// `agent:` in a `.abl` file, `AGENT:` in YAML.
pub const KEYWORD_CASE: RuleName = RuleName("keyword-case");
/// A form of an older version of the language.
pub const LEGACY_FORM: RuleName = RuleName("legacy-form");
/// A form of a newer version of the language.
pub const NEWER_FORM: RuleName = RuleName("newer-form");
/// `BEHAVIOR_PROFILES:` inside an agent.
pub const BEHAVIOR_PROFILES_PLURAL: RuleName = RuleName("behavior-profiles-plural");
/// `MODE:`.
pub const MODE_REMOVED: RuleName = RuleName("mode-removed");
/// An expression that cannot be read.
pub const INVALID_EXPRESSION: RuleName = RuleName("invalid-expression");
/// An expression that is nested too deep.
pub const EXPRESSION_TOO_DEEP: RuleName = RuleName("expression-too-deep");
/// A hole in a text that cannot be read.
pub const INVALID_TEMPLATE: RuleName = RuleName("invalid-template");
/// A block, a field or a type that has a successor.
pub const DEPRECATED_FIELD: RuleName = RuleName("deprecated-field");
/// A statement or a clause where it has no effect.
pub const MISPLACED_STATEMENT: RuleName = RuleName("misplaced-statement");
/// A `# @dialect:` line that names a dialect that does not exist.
pub const UNKNOWN_DIALECT: RuleName = RuleName("unknown-dialect");
/// A file in which `{{…}}` still has to be filled in.
pub const UNFILLED_PLACEHOLDER: RuleName = RuleName("unfilled-placeholder");
/// An `agentir.toml` that cannot be read, or that speaks of what does not exist.
pub const INVALID_CONFIGURATION: RuleName = RuleName("invalid-configuration");

// ADL.

/// A pattern of `re.match` that Python does not take.
pub const INVALID_PATTERN: RuleName = RuleName("invalid-pattern");
/// Typographic quotes and full-width signs where plain ones count.
pub const TYPOGRAPHIC_PUNCTUATION: RuleName = RuleName("typographic-punctuation");
/// A word that YAML 1.1 takes for true or false.
pub const YAML_BOOLEAN: RuleName = RuleName("yaml-boolean");
/// A step that says two things to do.
pub const TWO_VERBS: RuleName = RuleName("step-with-two-verbs");
/// `else` without an `if` right before it.
pub const ELSE_WITHOUT_IF: RuleName = RuleName("else-without-if");
/// A condition that MICA does not evaluate as the paper says.
pub const MICA_CONDITION: RuleName = RuleName("mica-condition");
/// A field of the paper that MICA rejects.
pub const MICA_FIELD: RuleName = RuleName("mica-field");
/// Arguments in a form that MICA does not take.
pub const MICA_ARGUMENT: RuleName = RuleName("mica-argument");
/// An `else` that MICA drops.
pub const MICA_NESTED_ELSE: RuleName = RuleName("mica-nested-else");
/// A `return` whose status MICA loses.
pub const MICA_RETURN: RuleName = RuleName("mica-return");
/// `tries`, which MICA counts otherwise.
pub const MICA_TRIES: RuleName = RuleName("mica-tries");
/// A policy in words that MICA says to the user.
pub const MICA_POLICY: RuleName = RuleName("mica-policy");
/// A source of knowledge that MICA does not load.
pub const MICA_SOURCE: RuleName = RuleName("mica-source");
/// A `main` that MICA cannot start with.
pub const MICA_MAIN: RuleName = RuleName("mica-main");
/// A jump to a label behind which MICA loses its way.
pub const MICA_JUMP: RuleName = RuleName("mica-jump");
/// Holes in a prompt, which MICA does not fill in.
pub const MICA_PROMPT: RuleName = RuleName("mica-prompt");
/// A setting that MICA's server does not pass on.
pub const MICA_CONFIG: RuleName = RuleName("mica-config");
/// Steps of an agent that MICA does not execute as the paper says.
pub const MICA_STEPS: RuleName = RuleName("mica-steps");

// Kore.ai XO.

/// A password, key or token in an export, which is left out of the result.
pub const CREDENTIAL_NOT_COPIED: RuleName = RuleName("credential-not-copied");
/// A node, a component, a form or a dialog that an export refers to and does not hold.
pub const MISSING_PART: RuleName = RuleName("missing-part");
/// JavaScript, or a condition, that ABL has no form for.
pub const UNTRANSLATED: RuleName = RuleName("untranslated");
