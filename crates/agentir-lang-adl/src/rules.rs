//! The names of the rules reported by the front end: those that it shares with other languages, and its own. Their
//! pages are in `rules/`.

use agentir_diagnostics::RuleName;
pub(crate) use agentir_syntax::rules::*;

/// A pattern of `re.match` that Python rejects.
pub(crate) const INVALID_PATTERN: RuleName = RuleName("invalid-pattern");
/// Typographic quotes and full-width characters instead of ASCII.
pub(crate) const TYPOGRAPHIC_PUNCTUATION: RuleName = RuleName("typographic-punctuation");
/// A word that YAML 1.1 reads as a boolean.
pub(crate) const YAML_BOOLEAN: RuleName = RuleName("yaml-boolean");
/// A step with two verbs.
pub(crate) const TWO_VERBS: RuleName = RuleName("step-with-two-verbs");
/// `else` without a preceding `if`.
pub(crate) const ELSE_WITHOUT_IF: RuleName = RuleName("else-without-if");
/// A condition that MICA evaluates differently from the paper.
pub(crate) const MICA_CONDITION: RuleName = RuleName("mica-condition");
/// A field of the paper that MICA rejects.
pub(crate) const MICA_FIELD: RuleName = RuleName("mica-field");
/// Arguments in a form that MICA rejects.
pub(crate) const MICA_ARGUMENT: RuleName = RuleName("mica-argument");
/// An `else` that MICA drops.
pub(crate) const MICA_NESTED_ELSE: RuleName = RuleName("mica-nested-else");
/// A `return` whose status MICA loses.
pub(crate) const MICA_RETURN: RuleName = RuleName("mica-return");
/// `tries`, which MICA counts differently.
pub(crate) const MICA_TRIES: RuleName = RuleName("mica-tries");
/// An instruction that MICA sends to the user.
pub(crate) const MICA_POLICY: RuleName = RuleName("mica-policy");
/// A knowledge source that MICA does not load.
pub(crate) const MICA_SOURCE: RuleName = RuleName("mica-source");
/// A `main` that MICA cannot start.
pub(crate) const MICA_MAIN: RuleName = RuleName("mica-main");
/// A jump to a label after which MICA continues elsewhere.
pub(crate) const MICA_JUMP: RuleName = RuleName("mica-jump");
/// Placeholders in a prompt, which MICA does not resolve.
pub(crate) const MICA_PROMPT: RuleName = RuleName("mica-prompt");
/// A setting that MICA's server does not pass on.
pub(crate) const MICA_CONFIG: RuleName = RuleName("mica-config");
/// Steps that MICA does not execute as the paper specifies.
pub(crate) const MICA_STEPS: RuleName = RuleName("mica-steps");
