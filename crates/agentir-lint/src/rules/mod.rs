//! The rules, one per file.

pub(crate) mod agent_in_prompt;
pub(crate) mod always_true_condition;
pub(crate) mod argument_type;
pub(crate) mod auth_jit_without_profile;
pub(crate) mod callback_too_deep;
pub(crate) mod circular_dependency;
pub(crate) mod complex_procedure;
pub(crate) mod conflicting_bindings;
pub(crate) mod constant_comparison;
pub(crate) mod constraint_before_value;
pub(crate) mod constraint_polarity;
pub(crate) mod contradictory_constraints;
pub(crate) mod delegation_cycle;
pub(crate) mod discarded_prompt;
pub(crate) mod done_at_start;
pub(crate) mod dropped_transition;
pub(crate) mod duplicate_agent;
pub(crate) mod duplicate_entity;
pub(crate) mod duplicate_gather_field;
pub(crate) mod duplicate_lookup_table;
pub(crate) mod duplicate_profile;
pub(crate) mod duplicate_step;
pub(crate) mod duplicate_template;
pub(crate) mod duplicate_tool;
pub(crate) mod duplicate_variable;
pub(crate) mod empty_flow;
pub(crate) mod endless_loop;
pub(crate) mod exposed_sensitive_data;
pub(crate) mod flow_never_completes;
pub(crate) mod function_argument_type;
pub(crate) mod function_arity;
pub(crate) mod guardrail_polarity;
pub(crate) mod guardrail_without_check;
pub(crate) mod handoff_circle;
pub(crate) mod hardcoded_secret;
pub(crate) mod hidden_prompt_output;
pub(crate) mod iteration_limit;
pub(crate) mod legacy_recall_event;
pub(crate) mod linked_variable_set;
pub(crate) mod lost_at_handoff;
pub(crate) mod message_variable;
pub(crate) mod mica_call;
pub(crate) mod mica_import;
pub(crate) mod mica_knowledge;
pub(crate) mod missing_argument;
pub(crate) mod missing_case;
pub(crate) mod missing_entry_point;
pub(crate) mod missing_handoff;
pub(crate) mod natural_language_condition;
pub(crate) mod outputs_out_of_scope;
pub(crate) mod plain_english_complete;
pub(crate) mod priority_tie;
pub(crate) mod prompt_loop;
pub(crate) mod prompt_steps;
pub(crate) mod redundant_constraint;
pub(crate) mod reserved_name;
pub(crate) mod routing_hole;
pub(crate) mod self_handoff;
pub(crate) mod shadowed_completion;
pub(crate) mod shadowed_profile;
pub(crate) mod shadowed_route;
pub(crate) mod side_effect_without_confirmation;
pub(crate) mod single_brace_hole;
pub(crate) mod slot_filling_in_run;
pub(crate) mod supervisor_section;
pub(crate) mod transition_cycle;
pub(crate) mod turnless_cycle;
pub(crate) mod type_mismatch;
pub(crate) mod unbounded_retry;
pub(crate) mod unclosed_backtick;
pub(crate) mod undeclared_arg;
pub(crate) mod undefined_agent;
pub(crate) mod undefined_entity;
pub(crate) mod undefined_field;
pub(crate) mod undefined_lookup_table;
pub(crate) mod undefined_profile;
pub(crate) mod undefined_reference;
pub(crate) mod undefined_step;
pub(crate) mod undefined_template;
pub(crate) mod undefined_tool;
pub(crate) mod undefined_variable;
pub(crate) mod undescribed_variable;
pub(crate) mod unknown_argument;
pub(crate) mod unknown_function;
pub(crate) mod unknown_recall_event;
pub(crate) mod unlisted_tool;
pub(crate) mod unlisted_value;
pub(crate) mod unmentioned_tool;
pub(crate) mod unreachable_agent;
pub(crate) mod unreachable_branch;
pub(crate) mod unreachable_prompt_step;
pub(crate) mod unreachable_statement;
pub(crate) mod unreachable_step;
pub(crate) mod unread_variable;
pub(crate) mod unreturned_field;
pub(crate) mod unsatisfiable_condition;
pub(crate) mod unset_counts_as_zero;
pub(crate) mod unused_entity;
pub(crate) mod unused_lookup_table;
pub(crate) mod unused_template;
pub(crate) mod unused_tool;
pub(crate) mod unused_variable;
pub(crate) mod used_after_clear;
pub(crate) mod used_before_set;

/// What `cargo xtask new-rule` writes. It is compiled with the tests, so that it always fits.
#[cfg(test)]
mod template;

#[cfg(test)]
mod tests {
    use super::template;
    use crate::rule::{AgentContext, Check, ProgramContext, Report};
    use agentir_diagnostics::FileId;
    use agentir_ir::Program;
    use agentir_syntax::abl::Options;

    #[test]
    fn the_template_is_a_rule_that_works() {
        let text = "AGENT: A\nGOAL: \"g\"\nFLOW:\n  start:\n    REASONING: false\n    CALL: example_tool()\n    THEN: COMPLETE\n";
        let file = agentir_lower::file(FileId(0), "a.agent.abl", text, Options::default());
        let mut program = Program::default();
        file.add_to(&mut program, &mut Vec::new());
        let whole = ProgramContext::new(&program);
        let agents = program.agents().enumerate();
        let mut diagnostics = Vec::new();
        for (index, agent) in agents {
            let cx = AgentContext::new(agent, index, &whole, file.version);
            let Check::Agent(check) = template::RULE.check else { continue };
            check(&cx, &mut Report { rule: &template::RULE, diagnostics: &mut diagnostics });
        }
        let found: Vec<_> = diagnostics.iter().map(|d| (d.rule.0, &*d.message)).collect();
        assert_eq!(found, [("example-rule", "`example_tool` is an example")]);
    }
}
