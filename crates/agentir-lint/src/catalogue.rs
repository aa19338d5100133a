//! The registry of all rules. A new rule is registered only here.

use crate::front_end;
use crate::options::{OPTIONS, RuleOption};
use crate::rule::{Group, Rule};
use crate::rules;
use agentir_diagnostics::{Severity, Tag};
use agentir_ir::Dialect;
use agentir_rules::PAGES;
use serde::Serialize;

/// The rules that check the IR.
pub(crate) static RULES: &[&Rule] = &[
    &rules::always_true_condition::RULE,
    &rules::broken_guard::RULE,
    &rules::constant_comparison::RULE,
    &rules::constraint_before_value::RULE,
    &rules::constraint_polarity::RULE,
    &rules::contradictory_constraints::RULE,
    &rules::missing_case::RULE,
    &rules::redundant_constraint::RULE,
    &rules::unavailable_tool::RULE,
    &rules::uncompiled_assignment::RULE,
    &rules::unsatisfiable_condition::RULE,
    &rules::unset_counts_as_zero::RULE,
    &rules::unset_opens_guard::RULE,
    &rules::argument_type::RULE,
    &rules::duplicate_agent::RULE,
    &rules::duplicate_entity::RULE,
    &rules::duplicate_gather_field::RULE,
    &rules::duplicate_lookup_table::RULE,
    &rules::duplicate_profile::RULE,
    &rules::duplicate_step::RULE,
    &rules::duplicate_template::RULE,
    &rules::duplicate_tool::RULE,
    &rules::duplicate_workflow::RULE,
    &rules::duplicate_variable::RULE,
    &rules::function_argument_type::RULE,
    &rules::function_arity::RULE,
    &rules::missing_argument::RULE,
    &rules::signature_drift::RULE,
    &rules::type_mismatch::RULE,
    &rules::undefined_agent::RULE,
    &rules::undefined_entity::RULE,
    &rules::undefined_field::RULE,
    &rules::undefined_lookup_table::RULE,
    &rules::undefined_parameter::RULE,
    &rules::undefined_profile::RULE,
    &rules::undefined_return_handler::RULE,
    &rules::undefined_step::RULE,
    &rules::undefined_template::RULE,
    &rules::undefined_tool::RULE,
    &rules::undefined_variable::RULE,
    &rules::unknown_argument::RULE,
    &rules::unknown_function::RULE,
    &rules::done_at_start::RULE,
    &rules::endless_loop::RULE,
    &rules::handoff_circle::RULE,
    &rules::unbounded_retry::RULE,
    &rules::priority_tie::RULE,
    &rules::routing_hole::RULE,
    &rules::shadowed_completion::RULE,
    &rules::shadowed_profile::RULE,
    &rules::shadowed_route::RULE,
    &rules::unused_entity::RULE,
    &rules::unused_lookup_table::RULE,
    &rules::unused_template::RULE,
    &rules::unused_tool::RULE,
    &rules::auth_jit_without_profile::RULE,
    &rules::circular_dependency::RULE,
    &rules::empty_flow::RULE,
    &rules::flow_never_completes::RULE,
    &rules::guardrail_polarity::RULE,
    &rules::guardrail_without_check::RULE,
    &rules::iteration_limit::RULE,
    &rules::legacy_recall_event::RULE,
    &rules::missing_entry_point::RULE,
    &rules::natural_language_condition::RULE,
    &rules::plain_english_complete::RULE,
    &rules::reserved_name::RULE,
    &rules::self_handoff::RULE,
    &rules::side_effect_without_confirmation::RULE,
    &rules::single_brace_hole::RULE,
    &rules::supervisor_section::RULE,
    &rules::unknown_recall_event::RULE,
    &rules::unconfirmable_call::RULE,
    &rules::unreachable_agent::RULE,
    &rules::unreachable_branch::RULE,
    &rules::unreachable_statement::RULE,
    &rules::unreachable_step::RULE,
    &rules::dropped_transition::RULE,
    &rules::linked_variable_set::RULE,
    &rules::outputs_out_of_scope::RULE,
    &rules::transition_cycle::RULE,
    &rules::unused_variable::RULE,
    &rules::never_set::RULE,
    &rules::self_assignment::RULE,
    &rules::conflicting_bindings::RULE,
    &rules::turnless_cycle::RULE,
    &rules::exposed_sensitive_data::RULE,
    &rules::hardcoded_secret::RULE,
    &rules::lost_at_handoff::RULE,
    &rules::unlisted_value::RULE,
    &rules::unread_variable::RULE,
    &rules::unreturned_field::RULE,
    &rules::used_after_clear::RULE,
    &rules::used_before_set::RULE,
    &rules::undeclared_arg::RULE,
    &rules::missing_handoff::RULE,
    &rules::prompt_loop::RULE,
    &rules::prompt_steps::RULE,
    &rules::unlisted_tool::RULE,
    &rules::unmentioned_tool::RULE,
    &rules::agent_in_prompt::RULE,
    &rules::callback_too_deep::RULE,
    &rules::complex_procedure::RULE,
    &rules::delegation_cycle::RULE,
    &rules::discarded_prompt::RULE,
    &rules::hidden_prompt_output::RULE,
    &rules::message_variable::RULE,
    &rules::slot_filling_in_run::RULE,
    &rules::undefined_reference::RULE,
    &rules::undescribed_variable::RULE,
    &rules::unclosed_backtick::RULE,
    &rules::unreachable_prompt_step::RULE,
    &rules::mica_call::RULE,
    &rules::mica_import::RULE,
    &rules::mica_knowledge::RULE,
    // Says where the others stopped early.
    &rules::analysis_limit::RULE,
];

/// The tags of the rules that find dead or deprecated code, sorted by name.
static TAGS: &[(&str, Tag)] = &[
    ("behavior-profiles-plural", Tag::Deprecated),
    ("deprecated-field", Tag::Deprecated),
    ("discarded-prompt", Tag::Unnecessary),
    ("dropped-transition", Tag::Unnecessary),
    ("legacy-form", Tag::Deprecated),
    ("legacy-recall-event", Tag::Deprecated),
    ("misplaced-statement", Tag::Unnecessary),
    ("mode-removed", Tag::Deprecated),
    ("redundant-constraint", Tag::Unnecessary),
    ("shadowed-completion", Tag::Unnecessary),
    ("shadowed-profile", Tag::Unnecessary),
    ("shadowed-route", Tag::Unnecessary),
    ("supervisor-section", Tag::Unnecessary),
    ("unreachable-agent", Tag::Unnecessary),
    ("unreachable-branch", Tag::Unnecessary),
    ("unreachable-prompt-step", Tag::Unnecessary),
    ("unreachable-statement", Tag::Unnecessary),
    ("unreachable-step", Tag::Unnecessary),
    ("unread-variable", Tag::Unnecessary),
    ("unused-entity", Tag::Unnecessary),
    ("unused-lookup-table", Tag::Unnecessary),
    ("unused-suppression", Tag::Unnecessary),
    ("unused-template", Tag::Unnecessary),
    ("unused-tool", Tag::Unnecessary),
    ("unused-variable", Tag::Unnecessary),
];

/// Returns the tag of the findings of the rule called `name`.
#[must_use]
pub fn tag(name: &str) -> Option<Tag> {
    let at = TAGS.binary_search_by_key(&name, |(rule, _)| rule).ok()?;
    TAGS.get(at).map(|(_, tag)| *tag)
}

/// The entry of a rule in `agentir rules`.
#[derive(Debug, Clone, Serialize)]
pub struct RuleInfo {
    /// Its name.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// Its severity.
    pub severity: Severity,
    /// What it finds.
    pub summary: &'static str,
    /// The names of the equivalent checks in the vendors' tools.
    pub vendor: &'static [&'static str],
    /// Its options.
    pub options: Vec<RuleOption>,
    /// The tag of its findings.
    pub tag: Option<Tag>,
    #[serde(skip)]
    rule: &'static Rule,
}

impl RuleInfo {
    /// Those of some dialects that it applies to and that authors write.
    pub fn dialects(
        &self,
        all: impl IntoIterator<Item = Dialect>,
    ) -> impl Iterator<Item = Dialect> {
        let rule = self.rule;
        all.into_iter().filter(|dialect| dialect.traits().is_authored && rule.applies_to(*dialect))
    }

    /// The name of the group.
    #[must_use]
    pub const fn group_name(&self) -> &'static str {
        self.group.name()
    }
}

impl Group {
    /// Its name, as users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Versions => "versions",
            Self::Names => "names",
            Self::Reserved => "reserved",
            Self::Reachability => "reachability",
            Self::Proofs => "proofs",
            Self::Data => "data",
            Self::Security => "security",
            Self::Prompts => "prompts",
            Self::Mica => "mica",
        }
    }
}

fn info(rule: &'static Rule) -> RuleInfo {
    RuleInfo {
        name: rule.name.0,
        group: rule.group,
        severity: rule.severity,
        summary: rule.summary,
        vendor: rule.vendor,
        options: OPTIONS.iter().copied().filter(|option| option.rule == rule.name.0).collect(),
        tag: tag(rule.name.0),
        rule,
    }
}

/// Returns all rules, by group and name.
#[must_use]
pub fn catalogue() -> Vec<RuleInfo> {
    let mut all: Vec<RuleInfo> =
        front_end::RULES.iter().map(info).chain(RULES.iter().map(|r| info(r))).collect();
    all.sort_by_key(|r| (r.group, r.name));
    all
}

/// The names of all rules, each with its group, in no particular order. Allocates nothing, unlike [`catalogue`].
pub fn rule_names() -> impl Iterator<Item = (&'static str, Group)> {
    front_end::RULES.iter().chain(RULES.iter().copied()).map(|rule| (rule.name.0, rule.group))
}

/// Returns the rule called `name`.
#[must_use]
pub fn rule(name: &str) -> Option<RuleInfo> {
    front_end::RULES.iter().map(info).chain(RULES.iter().map(|r| info(r))).find(|r| r.name == name)
}

/// Returns the page of the rule called `name`, in Markdown.
#[must_use]
pub fn page(name: &str) -> Option<&'static str> {
    PAGES
        .binary_search_by_key(&name, |(n, _)| n)
        .ok()
        .and_then(|i| PAGES.get(i))
        .map(|(_, text)| *text)
}

/// The beginnings of the names of rules whose findings say that something is nowhere in the program. If a part of it
/// could not be read, they may be wrong.
const ABSENCE: &[&str] = &[
    "dropped-transition",
    "empty-flow",
    "endless-loop",
    "flow-never-completes",
    "guardrail-without-check",
    "iteration-limit",
    "lost-at-handoff",
    "missing-",
    "never-set",
    "routing-hole",
    "side-effect-without-confirmation",
    "supervisor-section",
    "undeclared-",
    "undefined-",
    "unknown-",
    "unlisted-",
    "unmentioned-",
    "unreachable-",
    "unread-",
    "unreturned-",
    "unset-opens-guard",
    "unused-",
    "used-before-set",
];

/// The names of those among them whose findings rest on the agent that they are about alone.
const ABSENCE_IN_AGENT: &[&str] = &[
    "empty-flow",
    "endless-loop",
    "flow-never-completes",
    "guardrail-without-check",
    "undefined-entity",
    "undefined-lookup-table",
    "undefined-return-handler",
    "undefined-step",
    "undefined-template",
    "unlisted-value",
    "unreachable-branch",
    "unreachable-prompt-step",
    "unreachable-statement",
    "unreachable-step",
    "unused-entity",
    "unused-lookup-table",
    "unused-template",
];

/// Whether findings of a rule rest on something being absent from the agent that they are about alone.
#[must_use]
pub fn rests_on_own_agent(rule: &str) -> bool {
    ABSENCE_IN_AGENT.contains(&rule)
}

/// The beginnings of the names of further rules whose findings say that an element lacks something, or is of a kind that is
/// that of elements without more. If a part of the element could not be read, they may be wrong.
const UNSET: &[&str] =
    &["linked-variable-set", "slot-filling-in-run", "supervisor-section", "undescribed-"];

/// Whether findings of a rule rest on an element lacking something.
#[must_use]
pub fn rests_on_unset(rule: &str) -> bool {
    rests_on_absence(rule) || UNSET.iter().any(|name| rule.starts_with(name))
}

/// Whether findings of a rule rest on something being absent.
#[must_use]
pub fn rests_on_absence(rule: &str) -> bool {
    ABSENCE.iter().any(|name| rule.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::{ABSENCE, ABSENCE_IN_AGENT, RuleInfo, TAGS, Tag, UNSET, catalogue, tag};
    use crate::options::Options;
    use crate::rule::{AgentContext, Check, Report};
    use crate::rule_template as template;
    use agentir_analysis::ProgramAnalysis;
    use agentir_diagnostics::FileId;
    use agentir_ir::Program;
    use agentir_lang_abl::{ABL, ABL_FILE};
    use agentir_syntax::ReadOptions;

    #[test]
    fn rules_about_dead_or_deprecated_code_are_tagged() {
        assert!(TAGS.is_sorted_by(|(a, _), (b, _)| a < b), "they are searched by name");
        let rules = catalogue();
        for (name, _) in TAGS {
            assert!(rules.iter().any(|rule| rule.name == *name), "there is no rule `{name}`");
        }
        for rule in rules {
            let begins = |words: &[&str]| words.iter().any(|word| rule.name.starts_with(word));
            if begins(&["unused-", "unread-", "unreachable-", "shadowed-", "redundant-"]) {
                assert_eq!(tag(rule.name), Some(Tag::Unnecessary), "{}", rule.name);
            }
            if begins(&["deprecated-", "legacy-"]) {
                assert_eq!(tag(rule.name), Some(Tag::Deprecated), "{}", rule.name);
            }
        }
        assert_eq!(tag("undefined-variable"), None);
    }

    #[test]
    fn limits_are_reported_after_everything_that_may_reach_them() {
        assert_eq!(super::RULES.last().map(|rule| rule.name.0), Some("analysis-limit"));
    }

    #[test]
    fn names_of_rules_about_absence_are_names_of_rules() {
        for name in ABSENCE_IN_AGENT {
            assert!(super::rests_on_absence(name), "{name} does not rest on absence");
        }
        for name in ABSENCE.iter().chain(ABSENCE_IN_AGENT).chain(UNSET) {
            let fits = |rule: &RuleInfo| rule.name.starts_with(name);
            assert!(catalogue().iter().any(fits), "there is no rule `{name}`");
        }
    }

    #[test]
    fn the_template_is_a_rule_that_works() {
        let text = "AGENT: A\nGOAL: \"g\"\nFLOW:\n  start:\n    REASONING: false\n    CALL: example_tool()\n    THEN: COMPLETE\n";
        let file = ABL.read(&ABL_FILE, FileId(0), text, ReadOptions::default());
        let mut program = Program::default();
        file.add_to(&mut program, &mut Vec::new());
        let whole = ProgramAnalysis::new(&program);
        let options = Options::new();
        let mut diagnostics = Vec::new();
        for agent in whole.all_agents() {
            let cx = AgentContext::new(agent, &options);
            let Check::Agent(check) = template::RULE.check else { continue };
            check(&cx, &mut Report { rule: &template::RULE, diagnostics: &mut diagnostics });
        }
        let found: Vec<_> = diagnostics.iter().map(|d| (d.rule.0, &*d.message)).collect();
        assert_eq!(found, [("example-rule", "`example_tool` is an example")]);
    }
}
