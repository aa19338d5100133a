//! The loss table of Agent Script.
//!
//! A row that claims an approximation applies only if the value occurs in the output; otherwise the next
//! matching row is the reason.

use agentir_syntax::emit::LossRule;

const fn approximated(path: &'static str, how: &'static str, help: &'static str) -> LossRule {
    LossRule::approximated(path, how, help)
}

const fn dropped(path: &'static str, how: &'static str, help: &'static str) -> LossRule {
    LossRule::dropped(path, how, help)
}

const CHECK_MODEL: &str = "check that the model follows it";
const WRITE_IN_ACTION: &str = "write it into the action that is called, or leave it to the model";
const CONFIGURE_PLATFORM: &str = "set it up in the platform";

const fn no_steps(path: &'static str) -> LossRule {
    const HELP: &str = "use `--style flow` where their order must be fixed";
    dropped(path, "the procedure of a subagent has no steps", HELP).where_led_by_model()
}

/// What goes before the other rows where flows may become procedures (`--style agentic`).
pub(crate) const PROCEDURE_LOSSES: &[LossRule] = &[
    no_steps("flow.steps.**"),
    no_steps("flow.sequence.**"),
    approximated("flow.**", "is a part of the subagent's procedure", CHECK_MODEL)
        .where_led_by_model(),
    no_steps("flow.definitions.*.name"),
    no_steps("flow.entry_point"),
    no_steps("flow.**.then"),
];

/// Where AgentIR has what a model is told.
const INSTRUCTIONS: &[&str] = &["**.instructions.**", "**.prepare.**"];

pub(crate) const LOSSES: &[LossRule] = &[
    approximated("**.natural", "is said so that it is not read as an expression", ""),
    // Agents and their identity.
    approximated("metadata.type", "a subagent that offers transitions is what a supervisor is", ""),
    dropped("metadata.type", "there is one kind of subagent", ""),
    dropped("metadata.**", "a document has no place for the version of an agent", ""),
    approximated("identity.goal", "its placeholders are filled from `@variables`", ""),
    approximated("identity.persona", "is a part of the system instructions", ""),
    approximated("identity.limitations.**", "is a part of the system instructions", CHECK_MODEL),
    approximated("identity.language", "is a sentence of the system instructions", "see `language`"),
    approximated(
        "identity.**",
        "is a part of the instructions, with placeholders filled from `@variables`",
        "",
    ),
    approximated("identity.instructions.**", "is an instruction", ""),
    dropped(
        "identity.**",
        "a placeholder or a condition has no counterpart in Agent Script",
        WRITE_IN_ACTION,
    ),
    approximated(
        "execution.model",
        "is the subagent's model",
        "put the platform's address of the model",
    ),
    dropped("execution.**", "how a model is run is decided by the platform", CONFIGURE_PLATFORM),
    // Fields.
    approximated("gather.fields.*.name", "is a variable that `@utils.setVariables` fills", ""),
    approximated(
        "gather.fields.*.prompt",
        "is an instruction to ask, while the variable is unset",
        "",
    ),
    approximated("gather.fields.*.description", "describes the variable", ""),
    dropped("gather.fields.*.type", "the variable has the nearest type that Agent Script has", ""),
    approximated(
        "gather.fields.*.required",
        "it is asked for while it is unset, or not at all",
        CHECK_MODEL,
    ),
    approximated("gather.fields.*.default", "is the variable's first value", ""),
    approximated("gather.fields.*.activation.**", "is a condition of the instruction to ask", ""),
    approximated("gather.fields.*.activation", "is a condition of the instruction to ask", ""),
    approximated("gather.fields.*.depends_on.**", "is a condition of the instruction to ask", ""),
    approximated(
        "gather.fields.*.prompt_mode",
        "it is taken when it is mentioned, and not asked for",
        "",
    ),
    approximated("gather.fields.*.validation.**", "is told to the model", CHECK_MODEL),
    approximated("gather.fields.*.enum_values.**", "is told to the model", CHECK_MODEL),
    approximated(
        "gather.fields.*.entity_ref",
        "what the entity says is told to the model",
        CHECK_MODEL,
    ),
    dropped(
        "gather.**",
        "the model takes values from the conversation in its own way",
        WRITE_IN_ACTION,
    ),
    approximated("**.gather.fields.*.name", "is a variable that `@utils.setVariables` fills", ""),
    approximated(
        "**.gather.fields.*.prompt",
        "is an instruction of the step's subagent",
        CHECK_MODEL,
    )
    .within(INSTRUCTIONS),
    dropped(
        "**.gather.fields.*.prompt",
        "the value is taken when it is mentioned, and not asked for",
        "ask for it in the instructions",
    ),
    approximated("**.gather.**", "is an instruction of the step's subagent", CHECK_MODEL),
    dropped(
        "**.gather.**",
        "the model takes values from the conversation in its own way",
        WRITE_IN_ACTION,
    ),
    approximated("entities.*.values.**", "is told to the model where it asks", CHECK_MODEL),
    approximated("entities.*.pattern", "is told to the model where it asks", CHECK_MODEL),
    dropped("entities.**", "there are no entities", WRITE_IN_ACTION),
    dropped("lookup_tables.**", "there are no reference tables", WRITE_IN_ACTION),
    dropped("attachments.**", "a document has no place for files it asks for", "see `file_upload`"),
    // Memory.
    approximated("memory.session.**", "is a variable of the document, which all agents share", ""),
    dropped(
        "memory.session.*.reset",
        "a variable is never reset",
        "set it where it has to be reset",
    ),
    approximated("memory.state.**", "is a variable of the document", ""),
    dropped("memory.state.**", "a variable says nothing of who changes it", ""),
    approximated(
        "memory.persistent.*.path",
        "is a variable, which lives as long as the conversation",
        "load and store it with actions",
    ),
    approximated("memory.persistent.*.description", "describes the variable", ""),
    dropped(
        "memory.persistent.**",
        "variables live as long as the conversation",
        "load and store it with actions",
    ),
    dropped(
        "memory.**",
        "there is no memory beyond the conversation",
        "load and store it with actions",
    ),
    // Constraints.
    approximated(
        "constraints.constraints.*.condition",
        "is a condition of a text, and guards the tools it is for",
        CHECK_MODEL,
    ),
    approximated("constraints.constraints.*.applies_when", "is a part of that condition", ""),
    approximated(
        "constraints.constraints.*.on_fail.message",
        "is said while the rule does not hold",
        CHECK_MODEL,
    ),
    approximated(
        "constraints.constraints.*.on_fail.target",
        "a check before reasoning goes there",
        "",
    ),
    approximated(
        "constraints.constraints.*.kind",
        "its keyword decides how the condition is read",
        "",
    ),
    approximated(
        "constraints.constraints.*.on_fail.type",
        "what happens is an instruction",
        CHECK_MODEL,
    ),
    approximated(
        "constraints.constraints.*.checkpoint.**",
        "guards the tool with `available when`",
        "",
    ),
    dropped(
        "constraints.constraints.**",
        "a rule is a guard and an instruction; that has no other parts",
        CHECK_MODEL,
    ),
    approximated(
        "constraints.guardrails.*.name",
        "is a rule of the system instructions",
        CHECK_MODEL,
    ),
    approximated(
        "constraints.guardrails.*.check",
        "is a rule of the system instructions",
        CHECK_MODEL,
    ),
    approximated(
        "constraints.guardrails.*.llmCheck",
        "is a rule of the system instructions",
        CHECK_MODEL,
    ),
    approximated(
        "constraints.guardrails.*.description",
        "is a rule of the system instructions",
        CHECK_MODEL,
    ),
    approximated(
        "constraints.guardrails.*.category",
        "is a rule of the system instructions",
        CHECK_MODEL,
    ),
    approximated(
        "constraints.guardrails.*.action.message",
        "is said where the rule is broken",
        CHECK_MODEL,
    ),
    dropped(
        "constraints.guardrails.**",
        "safety checks belong to the platform's trust layer",
        CONFIGURE_PLATFORM,
    ),
    dropped("policies.**", "there are no policies", CONFIGURE_PLATFORM),
    // Other agents.
    approximated(
        "coordination.handoffs.*.to",
        "is an agent that is asked and comes back, `@subagent.x`",
        "",
    ),
    approximated(
        "coordination.handoffs.*.return",
        "an agent that comes back is asked with `@subagent.x`",
        "",
    ),
    approximated("coordination.handoffs.*.when", "is the tool's description, or its guard", ""),
    approximated(
        "coordination.handoffs.*.decided_by",
        "the model takes the transition when its guard holds",
        CHECK_MODEL,
    ),
    approximated(
        "coordination.handoffs.*.context.pass.**",
        "all agents share the document's variables",
        "",
    ),
    approximated(
        "coordination.handoffs.*.context.bindings.**",
        "all agents share the document's variables",
        "set the variable in the transition, where its name is another one",
    ),
    approximated(
        "coordination.handoffs.*.remote.endpoint",
        "is the address of a `connected_subagent`",
        "put the address that the platform has for it",
    ),
    dropped(
        "coordination.handoffs.*.remote.**",
        "an agent that runs elsewhere is one that is deployed on the platform",
        "deploy it there, and put its address into the `connected_subagent`",
    ),
    dropped(
        "coordination.handoffs.**",
        "a transition has a target and a guard, nothing else",
        WRITE_IN_ACTION,
    ),
    approximated("coordination.delegates.*.agent", "is offered as `@subagent.x`", ""),
    approximated("coordination.delegates.*.when", "is the tool's description, or its guard", ""),
    approximated(
        "coordination.delegates.*.decided_by",
        "the model asks when the guard holds",
        CHECK_MODEL,
    ),
    approximated("coordination.delegates.*.purpose", "is the tool's description", ""),
    approximated(
        "coordination.delegates.*.input.**",
        "all agents share the document's variables",
        "",
    ),
    dropped("coordination.delegates.**", "asking another agent has no such part", WRITE_IN_ACTION),
    approximated(
        "coordination.escalation.triggers.*.when",
        "is the guard or the description of `@utils.escalate`",
        "",
    ),
    approximated(
        "coordination.escalation.triggers.*.decided_by",
        "the model escalates when the guard holds",
        CHECK_MODEL,
    ),
    approximated("coordination.escalation.triggers.*.reason", "describes `@utils.escalate`", ""),
    dropped(
        "coordination.escalation.**",
        "what people are told and do is set up in the platform",
        "set up the connection and its routing",
    ),
    dropped("coordination.**", "there is no counterpart", WRITE_IN_ACTION),
    approximated(
        "completion.conditions.*.when",
        "is the guard of `@utils.end_session`, or a text's condition",
        "",
    ),
    approximated(
        "completion.conditions.*.respond",
        "is what the model is told to say at the end",
        CHECK_MODEL,
    ),
    dropped(
        "completion.conditions.*.when",
        "the condition cannot be said without a function",
        CHECK_MODEL,
    ),
    dropped("completion.**", "ending a conversation stores and shows nothing", WRITE_IN_ACTION),
    approximated("routing.default_agent", "is a transition for when nothing else fits", ""),
    approximated("routing.rules.*.to", "is a transition tool", ""),
    approximated("routing.rules.*.when", "is the guard or the description of a transition", ""),
    approximated("routing.rules.*.intents.**", "is the description of a transition", CHECK_MODEL),
    approximated("routing.rules.*.description", "is the description of a transition", ""),
    approximated(
        "routing.rules.*.decided_by",
        "the model takes the transition when its guard holds",
        CHECK_MODEL,
    ),
    dropped("routing.**", "the model chooses by descriptions and guards alone", WRITE_IN_ACTION),
    approximated("available_agents.**", "transitions name the agents", ""),
    dropped("available_agents.**", "a subagent says itself what it is for", ""),
    dropped("nlu.**", "the model understands without intents and entities", ""),
    dropped("intent_handling.**", "the model understands without intents", ""),
    // Flows.
    approximated("flow.steps.**", "a step is a subagent", ""),
    approximated("flow.sequence.**", "the order is that of the transitions", ""),
    approximated("flow.entry_point", "the agent begins with a transition to its first step", ""),
    approximated("flow.definitions.*.name", "a step is a subagent", ""),
    approximated(
        "flow.definitions.*.reasoning_zone.goal",
        "is an instruction of the step's subagent",
        "",
    ),
    approximated(
        "flow.definitions.*.reasoning_zone.available_tools.**",
        "are the tools of the step's subagent",
        "",
    ),
    approximated(
        "flow.definitions.*.reasoning_zone.constraints.**",
        "is an instruction of the step's subagent",
        CHECK_MODEL,
    )
    .within(INSTRUCTIONS),
    approximated(
        "flow.definitions.*.reasoning_zone.exit_when",
        "guards the transition after reasoning",
        "",
    ),
    dropped(
        "flow.definitions.*.reasoning_zone.**",
        "nothing counts how long the model leads",
        WRITE_IN_ACTION,
    ),
    approximated(
        "flow.**.then",
        "is a transition, or the tool that ends the conversation",
        CHECK_MODEL,
    ),
    approximated("flow.**.respond", "is what the model is told to say", CHECK_MODEL),
    // Statements of a list, which are not under the key of a step.
    approximated("flow.**.do.*.text", "is what the model is told to say", CHECK_MODEL),
    approximated("flow.**.do.*.variable", "is `set` in a subagent of the step", ""),
    approximated("flow.**.do.*.expression", "is `set` in a subagent of the step", ""),
    approximated("flow.**.do.*.variables.**", "is `set` to `None`", ""),
    approximated("flow.**.do.*.agent", "is a transition, or offered as `@subagent.x`", ""),
    approximated("flow.**.do.*.otherwise.**", "is a transition where the check fails", ""),
    approximated("flow.**.do.*.jump.**", "is a transition that a variable counts", ""),
    approximated("flow.**.do.*.details.**", "says why a person is asked", CHECK_MODEL),
    approximated("flow.**.template", "is what the model is told to say", CHECK_MODEL),
    approximated("flow.**.respond_template", "is what the model is told to say", CHECK_MODEL),
    approximated("flow.**.present", "is what the model is told to say", CHECK_MODEL),
    approximated("flow.**.condition", "is a condition, or told to the model in words", CHECK_MODEL),
    approximated("flow.**.call", "is `run` before reasoning", ""),
    approximated("flow.**.call_spec.**", "is `run` with its inputs and outputs", ""),
    approximated("flow.**.tool", "is `run` with its inputs and outputs", ""),
    approximated(
        "flow.**.actions.**.label",
        "is offered where the model is told to say",
        CHECK_MODEL,
    )
    .within(INSTRUCTIONS),
    approximated("flow.**.with.**", "is an input of `run`", ""),
    dropped(
        "flow.**.on_action.**",
        "a document has no buttons and inputs",
        "do in an action what the button does",
    ),
    approximated("flow.**.set.**", "is `set` before reasoning", "").within(&[
        "**.set.**",
        "**.do.**",
        "**.bindings.**",
    ]),
    approximated("flow.**.clear.**", "is `set` to `None`", ""),
    approximated("flow.**.intent", "describes a way that the model takes", CHECK_MODEL),
    approximated("flow.**.keywords.**", "describes a way that the model takes", CHECK_MODEL),
    approximated("flow.**.decided_by", "the model decides, by the description", CHECK_MODEL),
    approximated("flow.**.type", "is said in the subagents of the step", ""),
    approximated("flow.**.when", "is a transition past the step before reasoning", ""),
    approximated("flow.**.check", "guards the transition that it leads to", ""),
    approximated("flow.**.on_fail", "is a transition where the check fails", ""),
    approximated("flow.**.complete_when", "guards the transition after the asking", ""),
    approximated("flow.**.delegate.**", "is offered as `@subagent.x`", CHECK_MODEL),
    approximated("flow.**.handoff.**", "is a transition", ""),
    approximated("flow.**.times", "a variable counts the jumps", ""),
    approximated("flow.**.jump", "is a transition that a variable counts", ""),
    approximated("flow.**.description", "describes the step's subagent", ""),
    dropped("flow.**.set.**", "Agent Script has no function for it", "let an action compute it"),
    dropped(
        "flow.**.call_spec.**",
        "an input cannot be said without a function",
        "let the action compute it",
    ),
    dropped("flow.**.transform.**", "lists cannot be filtered or sorted", "let an action do it"),
    dropped("flow.**.condition", "Agent Script has no words for the condition", WRITE_IN_ACTION),
    dropped(
        "flow.**.then",
        "the end is a tool of the model, `@utils.end_session`, or the way back to the caller",
        CHECK_MODEL,
    ),
    dropped(
        "flow.**.respond",
        "what is said needs a function or a place that is never reached",
        CHECK_MODEL,
    ),
    dropped(
        "flow.**.actions.**",
        "a document has no buttons and inputs",
        "see `response_formats` of a connection",
    ),
    dropped(
        "flow.**.voice_config.**",
        "how texts are spoken is set for the whole document",
        "see `modality voice`",
    ),
    dropped(
        "flow.**.rich_content.**",
        "texts have one form",
        "see `response_formats` of a connection",
    ),
    dropped("flow.**.on_error.**", "errors are left to the platform", CONFIGURE_PLATFORM),
    dropped("flow.**.max_attempts", "nothing counts attempts", "count them in a variable"),
    dropped("flow.**.on_exhausted", "nothing counts attempts", "count them in a variable"),
    dropped("flow.**", "a subagent has no such part", WRITE_IN_ACTION),
    // Hooks.
    approximated(
        "on_start.respond",
        "is the welcome, or the first thing the model is told to say",
        "",
    ),
    approximated("on_start.**.delegate.**", "the model is told to ask it first", CHECK_MODEL),
    approximated("on_start.**", "is done before the first reasoning", ""),
    dropped("on_start.**", "Agent Script has no statement or no function for it", WRITE_IN_ACTION),
    approximated(
        "hooks.after_agent.handoff.**",
        "the subagent leads on behind its reasoning, in the same turn",
        "",
    ),
    approximated("hooks.**.set.**", "is `set` before or after reasoning, or by the model", ""),
    approximated(
        "hooks.**.condition",
        "is words, which the description of a tool says",
        CHECK_MODEL,
    ),
    approximated("hooks.**.call.**", "is `run` before or after reasoning", ""),
    approximated("hooks.**.call_spec.**", "is `run` before or after reasoning", ""),
    dropped("hooks.**", "Agent Script has no statement or no function for it", WRITE_IN_ACTION),
    approximated(
        "error_handling.handlers.*.respond",
        "is what the model is told to say then",
        CHECK_MODEL,
    ),
    approximated("error_handling.default_handler.respond", "is the document's error message", ""),
    dropped("error_handling.**", "errors are left to the platform", CONFIGURE_PLATFORM),
    approximated("messages.**", "is the document's error message", ""),
    dropped("messages.**", "there are two messages: the welcome and the error", ""),
    approximated("templates.**", "is said where it is named", ""),
    dropped("templates.**", "texts have one form", "see `response_formats` of a connection"),
    approximated(
        "knowledge.**",
        "is an instruction",
        "see `knowledge`, and put the sources into the platform",
    ),
    dropped(
        "action_handlers.**",
        "a document has no buttons",
        "see `response_formats` of a connection",
    ),
    dropped("behavior_profiles.**", "behaviour does not depend on profiles", WRITE_IN_ACTION),
    dropped("use_behavior_profiles.**", "behaviour does not depend on profiles", WRITE_IN_ACTION),
    approximated("use_tools.**", "is declared where it is used", ""),
    dropped("use_tools.**", "nobody declares it", "declare the action"),
    dropped(
        "conversation_behavior.**",
        "how a conversation is led is decided by the platform",
        CONFIGURE_PLATFORM,
    ),
    dropped("destinations.**", "where events go is decided by the platform", CONFIGURE_PLATFORM),
    approximated(
        "reasoning.bindings.*.available_when",
        "is words, which the description of the tool says",
        CHECK_MODEL,
    ),
    approximated(
        "reasoning.bindings.*.description",
        "says also when the tool may be used",
        CHECK_MODEL,
    ),
    approximated(
        "reasoning.prepare.**",
        "is an instruction, with words as its condition",
        CHECK_MODEL,
    ),
    dropped("reasoning.**", "Agent Script has no such form of a tool", WRITE_IN_ACTION),
    dropped("extensions.**", "is a matter of the other language alone", ""),
    // The program.
    approximated("/tools.*.returns.**", "an output has the nearest type that Agent Script has", ""),
    dropped("/tools.*.returns.**", "an output has the nearest type that Agent Script has", ""),
    dropped(
        "/tools.*.parameters.*.type",
        "an input has the nearest type that Agent Script has",
        "",
    ),
    approximated(
        "/tools.*.confirmation.require",
        "the user is asked where the tool has side effects",
        "",
    ),
    dropped(
        "/libraries.**",
        "the target is a flow of the tool's name",
        "say in the flow how the service is reached",
    ),
    dropped("/tools.*.confirmation.**", "the user is asked, or is not", ""),
    approximated(
        "/tools.*.binding.**",
        "the target is a flow of the tool's name",
        "see what must be done for the action",
    ),
    dropped(
        "/tools.*.binding.**",
        "the target is a flow of the tool's name",
        "see what must be done for the action",
    ),
    dropped(
        "/tools.*.tool_type",
        "the target is a flow of the tool's name",
        "see what must be done for the action",
    ),
    dropped("/tools.*.hints.**", "an action says nothing of how it runs", ""),
    dropped("/tools.*.name", "no agent uses the tool", ""),
    dropped("/tools.**", "an action has no such part, or no agent uses it", WRITE_IN_ACTION),
    dropped("/profiles.**", "behaviour does not depend on profiles", WRITE_IN_ACTION),
    approximated("/entry", "its name is made legal", ""),
    dropped(
        "/settings.*.bot_name",
        "a bot's name is not an agent's",
        "write it as the `agent_label` of the `config`",
    ),
    dropped(
        "/settings.**",
        "how a bot runs is decided by the platform",
        "set it up in the platform",
    ),
    dropped("/agents.**", "there is no counterpart", WRITE_IN_ACTION),
    dropped("/**", "there is no counterpart", WRITE_IN_ACTION),
];

const BASE_DIALECT: &str = "belongs to agentforce, which extends the base dialect";

pub(crate) const BASE_LOSSES: &[LossRule] = &[
    dropped("execution.model", BASE_DIALECT, ""),
    dropped("extensions.agent-script.**", BASE_DIALECT, ""),
    dropped("memory.session.*.extensions.agent-script.**", BASE_DIALECT, ""),
    dropped("/tools.*.extensions.agent-script.**", BASE_DIALECT, ""),
    dropped("/tools.*.parameters.*.extensions.agent-script.**", BASE_DIALECT, ""),
    dropped("/tools.*.confirmation.**", BASE_DIALECT, ""),
];
