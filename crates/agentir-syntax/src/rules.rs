//! The names of the rules that front ends of several languages report. Their pages are in `rules/`.

use agentir_diagnostics::RuleName;

/// A line or a file that cannot be parsed.
pub const SYNTAX: RuleName = RuleName("syntax-error");
/// A string without its closing quote.
pub const UNTERMINATED_STRING: RuleName = RuleName("unterminated-string");
/// A line between two levels of indentation.
pub const INDENTATION: RuleName = RuleName("inconsistent-indentation");
/// Nesting beyond the limit.
pub const NESTING: RuleName = RuleName("nesting-too-deep");
/// A file that is not text.
pub const NOT_TEXT: RuleName = RuleName("not-text");
/// A file that cannot be read, or is too large.
pub const UNREADABLE_FILE: RuleName = RuleName("unreadable-file");
/// An unknown section keyword.
pub const UNKNOWN_SECTION: RuleName = RuleName("unknown-section");
/// A key that its section does not have.
pub const UNKNOWN_FIELD: RuleName = RuleName("unknown-field");
/// A value that its field does not accept.
pub const INVALID_VALUE: RuleName = RuleName("invalid-value");
/// A required section is missing.
pub const MISSING_SECTION: RuleName = RuleName("missing-section");
/// A required field is missing.
pub const MISSING_FIELD: RuleName = RuleName("missing-field");
/// A section occurs twice.
pub const DUPLICATE_SECTION: RuleName = RuleName("duplicate-section");
/// A field occurs twice.
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
/// `BEFORE` with words that name no point at which constraints are checked.
pub const UNKNOWN_CHECKPOINT: RuleName = RuleName("unknown-checkpoint");
/// An expression that cannot be parsed.
pub const INVALID_EXPRESSION: RuleName = RuleName("invalid-expression");
/// An expression nested too deeply.
pub const EXPRESSION_TOO_DEEP: RuleName = RuleName("expression-too-deep");
/// A placeholder that cannot be parsed.
pub const INVALID_TEMPLATE: RuleName = RuleName("invalid-template");
/// A block, a field or a type that is deprecated.
pub const DEPRECATED_FIELD: RuleName = RuleName("deprecated-field");
/// A statement or a clause in a position where it has no effect.
pub const MISPLACED_STATEMENT: RuleName = RuleName("misplaced-statement");
/// A `# @dialect:` line with an unknown dialect.
pub const UNKNOWN_DIALECT: RuleName = RuleName("unknown-dialect");
/// A file with unresolved `{{…}}` placeholders.
pub const UNFILLED_PLACEHOLDER: RuleName = RuleName("unfilled-placeholder");

// Imports.

/// A password, key or token in an export, which is not copied to the result.
pub const CREDENTIAL_NOT_COPIED: RuleName = RuleName("credential-not-copied");
/// A node, component, form or dialog that an export refers to but does not contain.
pub const MISSING_PART: RuleName = RuleName("missing-part");
/// Code or a condition without a counterpart in the language that it is translated to.
pub const UNTRANSLATED: RuleName = RuleName("untranslated");

/// What an import reports that only an author can supply or decide: it is to be done after a conversion.
pub const OF_IMPORTS: &[RuleName] = &[CREDENTIAL_NOT_COPIED, MISSING_PART, UNTRANSLATED];
