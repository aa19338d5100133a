//! The loss table of ADL.

use agentir_syntax::emit::LossRule;

const fn approximated(path: &'static str, how: &'static str) -> LossRule {
    LossRule::approximated(path, how, "")
}

const fn dropped(path: &'static str, how: &'static str, help: &'static str) -> LossRule {
    LossRule::dropped(path, how, help)
}

/// Where AgentIR has the prompt of an agent.
const PROMPT: &[&str] = &["**.identity.instructions.**"];

/// Most specific rows first. Only llm agents have a prompt, so the same part may be approximated for one
/// agent and dropped for another.
pub(crate) const LOSSES: &[LossRule] = &[
    approximated("**.natural", "is said so that it is not read as an expression"),
    // ---- The program ----
    approximated("/entry", "`main` calls an ensemble that begins with it"),
    approximated("/tools.*.returns.**", "a comment in the stub of the function"),
    approximated("/tools.*.description", "the docstring, with what the parameters are"),
    approximated("/tools.*.parameters.**", "the signature and the docstring of the function"),
    dropped(
        "/tools.*.confirmation.**",
        "a function does not ask for consent",
        "ask in a step before the call; llm agents are told to",
    ),
    dropped(
        "/tools.**",
        "the function itself does it",
        "see what must be done for the function in `tools.py`",
    ),
    dropped(
        "/libraries.**",
        "the function itself reaches the service",
        "see what must be done for the function in `tools.py`",
    ),
    dropped(
        "/profiles.**",
        "an agent of ADL is the same in every context",
        "write an agent for each context, and let an ensemble choose",
    ),
    // ---- Identity ----
    approximated("identity.goal", "the description, with what it is chosen for"),
    approximated("identity.**", "a part of the prompt"),
    approximated("metadata.description", "the description"),
    approximated("metadata.type", "the type of agent follows from what it does"),
    dropped("metadata.**", "ADL has no versions", "keep it in version control"),
    approximated("execution.model", "the model of the whole bot, in `config.yml`"),
    dropped(
        "execution.**",
        "the model is the same for the whole bot",
        "set it in `config.yml`, under `llm_config`",
    ),
    // ---- Knowledge and fields ----
    dropped("gather.fields.*.sensitive", "ADL does not mask values", "mask it in the functions"),
    dropped(
        "gather.fields.*.mask_config.**",
        "ADL does not mask values",
        "mask it in the functions",
    ),
    dropped("gather.fields.*.transient", "an argument stays", "set it to `null` after its use"),
    dropped("gather.fields.*.infer_confidence", "the model says no confidence", ""),
    dropped("gather.fields.*.extraction_group", "the model finds the value", ""),
    approximated("gather.fields.*.required", "an argument that the prompt or the steps ask for"),
    approximated("gather.fields.*.prompt_mode", "an argument"),
    approximated("gather.fields.**", "an argument, with a sentence in the prompt"),
    approximated("gather.**", "a sentence in the prompt"),
    approximated("attachments.**", "a sentence in the prompt"),
    approximated("memory.session.*.name", "an argument"),
    approximated("memory.session.*.initial_value", "set by the first step"),
    approximated("memory.state.*.name", "an argument"),
    dropped(
        "memory.session.*.scope",
        "an argument belongs to one agent",
        "bind it in `contains` with `ref`",
    ),
    dropped("memory.session.**", "arguments are names without types", ""),
    dropped("memory.state.**", "arguments are names without types", ""),
    dropped(
        "memory.**",
        "a bot of ADL remembers nothing beyond the conversation",
        "write functions that store and load it, and call them",
    ),
    approximated("knowledge.**", "a part of the prompt"),
    dropped("lookup_tables.**", "ADL has no tables", "write a function that looks it up"),
    approximated("nlu.**", "examples of what the user claims"),
    approximated("intent_handling.**", "examples of what the user claims"),
    dropped(
        "entities.**",
        "arguments are names without types",
        "write a function that checks the value",
    ),
    // ---- Constraints ----
    dropped("constraints.guardrails.*.priority", "the rules of a prompt have no order", ""),
    dropped("constraints.guardrails.*.threshold", "the model says no confidence", ""),
    dropped("constraints.guardrails.*.streaming", "a prompt holds for the whole answer", ""),
    approximated("constraints.**", "a sentence in the prompt").within(PROMPT),
    approximated("policies.**", "a sentence in the prompt").within(PROMPT),
    // ---- Coordination ----
    approximated(
        "coordination.handoffs.*.when",
        "the description of the agent, by which it is chosen",
    ),
    approximated(
        "coordination.handoffs.*.to",
        "a sentence in the prompt, and a member of the ensemble",
    ),
    approximated(
        "coordination.handoffs.*.decided_by",
        "who decides is the ensemble, by descriptions",
    ),
    approximated("coordination.handoffs.*.return", "an ensemble always gets the conversation back"),
    approximated("coordination.handoffs.*.context.pass.**", "the member's `args`"),
    dropped(
        "coordination.handoffs.*.remote.**",
        "all agents of ADL run in one bot",
        "write a function that calls it",
    ),
    dropped(
        "coordination.handoffs.**",
        "an ensemble only passes arguments",
        "bind an argument in `contains`",
    ),
    approximated(
        "coordination.delegates.**",
        "a sentence in the prompt, and a member of the ensemble",
    ),
    approximated("coordination.escalation.**", "a sentence in the prompt; ADL has no people"),
    dropped(
        "coordination.**",
        "ADL has no word for what happens then",
        "write a flow agent that calls both",
    ),
    approximated("routing.rules.*.when", "the description of the agent, by which it is chosen"),
    approximated("routing.rules.*.to", "a member of the ensemble"),
    approximated("routing.default_agent", "`fallback`"),
    dropped(
        "routing.**",
        "an ensemble chooses by the descriptions of its members",
        "say it in their descriptions",
    ),
    approximated("available_agents.*.agent", "a member of the ensemble"),
    approximated("available_agents.*.alias", "a member of the ensemble, by its own name"),
    dropped(
        "available_agents.**",
        "an ensemble knows its members by their descriptions",
        "say it there",
    ),
    // ---- Flow ----
    approximated("completion.**", "a sentence in the prompt").within(PROMPT),
    approximated("error_handling.**", "a sentence in the prompt").within(PROMPT),
    approximated("flow.definitions.*.reasoning_zone.**", "an llm agent that the flow calls"),
    dropped(
        "flow.definitions.*.digressions.**",
        "a flow of ADL goes one step after the other",
        "ask for it in an `if` after `user`",
    ),
    dropped(
        "flow.definitions.*.sub_intents.**",
        "a flow of ADL goes one step after the other",
        "ask for it in an `if` after `user`",
    ),
    dropped(
        "flow.definitions.*.on_error.**",
        "a flow of ADL does not see errors",
        "let the function return a status, and ask for it in an `if`",
    ),
    dropped("**.rich_content.**", "ADL only has texts", "let a function show it"),
    dropped("**.voice_config.**", "ADL only has texts", ""),
    dropped(
        "**.actions.**",
        "ADL has no buttons",
        "let a function show them, and ask what `the user clicks`",
    ),
    dropped(
        "flow.global_digressions.**",
        "a flow of ADL goes one step after the other",
        "ask for it in an `if` after `user`",
    ),
    dropped(
        "flow.definitions.*.max_attempts",
        "ADL counts jumps, and not attempts at steps",
        "write `tries` beside the `next` that comes back",
    ),
    dropped("flow.definitions.*.corrections", "the model always takes corrections", ""),
    approximated("flow.definitions.*.gather.**", "`bot`, `user` and an `if` that asks again"),
    approximated(
        "flow.definitions.*.call_spec.**",
        "`call`, its results under the name of the function",
    ),
    approximated(
        "flow.definitions.**.set.**",
        "`set`, or a function of `tools.py` that computes it",
    )
    .within(&["**.set.**", "**.do.**", "**.call_spec.**", "**.call", "tools.**"]),
    dropped(
        "flow.definitions.**.set.**",
        "`set` gives an argument a constant or another argument, and this is something else: what reads it finds another value",
        "let a function compute it",
    )
    .must("return [{\"arg\": \"name\", \"value\": 0}]\n"),
    approximated("flow.definitions.*.when", "an `if` around the steps"),
    approximated("flow.definitions.**", "equivalent steps"),
    approximated("flow.steps.**", "the main steps come first"),
    approximated("flow.sequence.**", "the order of the steps"),
    approximated("flow.**", "the steps, in another order"),
    approximated("on_start.**", "steps before the others"),
    approximated("reasoning.**", "`uses`, and a sentence in the prompt"),
    approximated("messages.**", "a text in the prompt"),
    approximated("templates.**", "the text where it is said"),
    dropped(
        "hooks.**",
        "ADL does nothing around turns",
        "put it into the steps before the call of the agent",
    ),
    dropped("action_handlers.**", "ADL has no buttons", "ask what `the user clicks` in an `if`"),
    dropped(
        "use_behavior_profiles.**",
        "an agent of ADL is the same in every context",
        "write an agent for each context, and let an ensemble choose",
    ),
    dropped(
        "behavior_profiles.**",
        "an agent of ADL is the same in every context",
        "write an agent for each context, and let an ensemble choose",
    ),
    dropped(
        "conversation_behavior.**",
        "the bot decides it for all agents",
        "set it in `config.yml`",
    ),
    dropped("destinations.**", "ADL sends no events", "let a function send them"),
    approximated("use_tools.**", "`uses`"),
    dropped("**.extensions.**", "no other language has an equivalent", ""),
    dropped("extensions.**", "no other language has an equivalent", ""),
    // ---- Where the value does not occur in the output ----
    dropped(
        "flow.**",
        "ADL steps can only talk, set, compare, call and jump",
        "look for `not in ADL` in the flow, and let a function do it",
    ),
    dropped(
        "on_start.**",
        "ADL steps can only talk, set, compare, call and jump",
        "look for `not in ADL` in the steps, and let a function do it",
    ),
    dropped(
        "gather.**",
        "a flow can name the values it asks for, but has no prompt for them",
        "check it in an `if` after `user`",
    ),
    dropped(
        "constraints.**",
        "a prompt has the rule alone, in words, and a flow agent has no prompt",
        "check it in an `if` of the flow",
    ),
    dropped(
        "policies.**",
        "only an llm agent can be told rules",
        "check it in an `if` of the flow",
    ),
    dropped("identity.**", "only an llm agent has a prompt", "say it in what the bot says"),
    dropped(
        "completion.**",
        "only an llm agent can be told when it is done",
        "write `return` where it is",
    ),
    dropped(
        "error_handling.**",
        "ADL does not see errors",
        "let the function return a status, and ask for it in an `if`",
    ),
    dropped(
        "reasoning.**",
        "a prompt is fixed, and nothing runs around it",
        "write a flow that sets what is needed and calls the agent",
    ),
    dropped("messages.**", "the platform says it", ""),
    dropped("templates.**", "nothing says it in a form that ADL has", ""),
    dropped(
        "nlu.**",
        "the model tells what the user wants",
        "give examples: `the user claims \"…\"`",
    ),
    dropped(
        "intent_handling.**",
        "the model tells what the user wants",
        "give examples: `the user claims \"…\"`",
    ),
    dropped("attachments.**", "a bot of ADL takes no files", "let a function fetch it"),
    dropped(
        "knowledge.**",
        "only a kb agent answers from sources",
        "write a kb agent, and let an ensemble contain both",
    ),
    dropped("use_tools.**", "a flow calls functions by name", ""),
];
