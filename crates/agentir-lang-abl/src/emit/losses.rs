//! The loss table of ABL.

use agentir_syntax::emit::LossRule;

const fn approximated(path: &'static str, how: &'static str) -> LossRule {
    LossRule::approximated(path, how, "")
}

const fn dropped(path: &'static str, how: &'static str, help: &'static str) -> LossRule {
    LossRule::dropped(path, how, help)
}

/// The rows of the table, most specific first.
pub(crate) const LOSSES: &[LossRule] = &[
    approximated("**.natural", "is said so that it is not read as an expression"),
    approximated("metadata.type", "an agent that only chooses others is a supervisor"),
    // Flows that are left to the model (`--style agentic`).
    approximated(
        "flow.**",
        "the model leads: `GATHER`, `CONSTRAINTS` and `COMPLETE` say what it must keep, `INSTRUCTIONS` the rest",
    )
    .where_led_by_model(),
    dropped(
        "flow.**",
        "the model leads, and decides about the order and the words in between",
        "use `--style flow` where they must be fixed",
    )
    .where_led_by_model(),
    dropped(
        "use_behavior_profiles.**",
        "the profile changed only steps of the flow that the model leads now",
        "use `--style flow` where they must be fixed",
    )
    .where_led_by_model(),
    approximated(
        "/profiles.**",
        "said by the agent under the condition of the profile, which changed steps of a flow that the model leads now",
    )
    .where_led_by_model(),
    dropped(
        "/profiles.**",
        "the profile changed steps of a flow that the model leads now",
        "use `--style flow` where they must be fixed",
    )
    .where_led_by_model(),
    // Flows.
    approximated(
        "flow.definitions.*.**.tries",
        "a step is tried a limited number of times (`MAX_ATTEMPTS`), a branch is not",
    ),
    dropped(
        "flow.definitions.*.**.extensions.*.tries",
        "the branches of a step cannot be limited",
        "give the step `MAX_ATTEMPTS` and `ON_EXHAUSTED`",
    ),
    dropped(
        "flow.definitions.*.**.delegate.bindings.**",
        "a step passes nothing to the agent it asks",
        "declare the agent under `DELEGATE` and say there what it gets (`INPUT`)",
    ),
    dropped(
        "flow.definitions.*.do.*.bindings.**",
        "a step passes nothing to the agent it asks",
        "declare the agent under `DELEGATE` and say there what it gets (`INPUT`)",
    ),
    approximated(
        "flow.definitions.**.times",
        "the step has `MAX_ATTEMPTS`, or a variable counts where others lead to it, too",
    ),
    dropped(
        "flow.definitions.**.times",
        "the number of tries is said in another way",
        "look at `MAX_ATTEMPTS`, and at the variables that count",
    ),
    approximated("flow.definitions.**", "said by steps in the order of ABL's phases"),
    approximated("flow.steps.*", "said by steps in the order of ABL's phases"),
    dropped("flow.definitions.**", "a step of ABL has no form for it", "rewrite the step by hand"),
    dropped("flow.steps.*", "the step has another name in ABL", ""),
    dropped(
        "error_handling.**.body.**",
        "a handler does one thing of each kind, in ABL's order",
        "do the rest in a step, and go there (`THEN`)",
    ),
    // Tools exposed to the model.
    approximated(
        "reasoning.bindings.*.available_when",
        "the guard is a constraint before the call, an instruction while it does not hold, or the condition of the field",
    ),
    approximated(
        "reasoning.bindings.*.description",
        "the description of the tool, the way or the field",
    ),
    approximated(
        "reasoning.bindings.*.after.**",
        "set from the result of the tool, or a handoff behind it",
    ),
    approximated(
        "reasoning.bindings.*.does",
        "what the model may do follows from the section it stands in",
    ),
    dropped(
        "reasoning.bindings.*.does",
        "what the model may do follows from the section it stands in",
        "",
    ),
    dropped(
        "reasoning.bindings.*.name",
        "the model knows a tool by its own name only",
        "use the tool's name where instructions use this one",
    ),
    approximated("reasoning.bindings.*.with.*.value", "the parameter has it (`source`, `value`)"),
    dropped(
        "reasoning.bindings.*.with.*.filled_by",
        "the model fills in every input of a tool",
        "call the tool from a step of a `FLOW` where values must be fixed",
    ),
    dropped(
        "reasoning.bindings.*.with.**",
        "the model fills in every input of a tool",
        "call the tool from a step of a `FLOW` where values must be fixed",
    ),
    dropped(
        "reasoning.bindings.*.after.**",
        "behind a tool that the model calls, variables can be set and nothing else done",
        "call the tool from a step of a `FLOW`",
    ),
    dropped(
        "reasoning.bindings.**",
        "a tool is offered as it is declared, always",
        "declare a tool of its own for each way of offering it",
    ),
    approximated(
        "reasoning.prepare.**",
        "the texts are `INSTRUCTIONS` with conditions, the rest is a hook, or the model is told to do it",
    ),
    dropped(
        "reasoning.prepare.**",
        "a hook branches once, and its branches do not branch again",
        "do it in steps of a `FLOW`",
    ),
    approximated(
        "hooks.**",
        "values that are set conditionally, handoffs with the condition, calls that the model is told to make",
    ),
    dropped(
        "hooks.**",
        "a hook branches once, and its branches do not branch again",
        "do it in steps of a `FLOW`",
    ),
    approximated("on_start.**", "done one after the other"),
    dropped(
        "on_start.**",
        "`ON_START` neither branches nor waits for the user",
        "do it in steps of a `FLOW`",
    ),
    // Memory.
    dropped(
        "memory.session.*.scope",
        "session memory is an agent's own: each that needs it declares it, and handoffs carry it",
        "what a delegate sets stays with it, and a step passes nothing on: look at these",
    ),
    dropped(
        "memory.session.*.mutability",
        "every session variable can be set",
        "leave variables that the platform fills in alone",
    ),
    dropped("memory.session.*.extensions.**", "the platform of the source only knows it", ""),
    dropped(
        "memory.remember.**",
        "the current version cannot compute the value",
        "let a tool work it out, and store its result",
    ),
    // Coordination.
    approximated(
        "coordination.handoffs.*.when",
        "the model chooses by the description; a guard is a constraint before the agent, if every way there has one, and an instruction",
    ),
    approximated(
        "coordination.delegates.*.when",
        "the model chooses by the description; a guard is a constraint before the agent, if every way there has one, and an instruction",
    ),
    approximated("coordination.handoffs.*.decided_by", "who decides follows from the condition"),
    approximated("coordination.delegates.*.decided_by", "who decides follows from the condition"),
    approximated(
        "coordination.escalation.triggers.*.decided_by",
        "who decides follows from the condition",
    ),
    dropped("coordination.**.decided_by", "who decides follows from the condition", ""),
    approximated(
        "coordination.handoffs.*.context.bindings.**",
        "`PASS` and `SET` hand it over, `MAP` takes it back",
    ),
    dropped(
        "coordination.handoffs.*.context.bindings.**",
        "`PASS` and `SET` hand it over by name",
        "",
    ),
    approximated("coordination.**", "said in ABL's words"),
    approximated("completion.conditions.*.when", "said in the instructions"),
    dropped(
        "completion.**",
        "`COMPLETE` needs a condition over the state",
        "let a variable say that the agent is done, and complete when it does",
    ),
    approximated("policies.**", "said in the instructions"),
    dropped("policies.**", "only supervisors have policies", "say it in `INSTRUCTIONS`"),
    approximated("knowledge.sources.*", "a search tool; the sources are named in its description"),
    approximated("knowledge.questions.**", "said in the instructions"),
    dropped(
        "knowledge.**",
        "knowledge belongs to the platform",
        "load the sources into a knowledge base and name it in the search tool",
    )
    .must("TOOLS:\n  search(query: string) -> object\n    type: searchai\n    kb_name: \"the name of the knowledge base\"\n"),
    // Texts and conditions.
    approximated("**.condition", "operators and names in ABL's words"),
    approximated("**.when", "operators and names in ABL's words"),
    approximated("**.expression", "operators and names in ABL's words"),
    approximated("identity.**", "references to variables, tools and agents are written ABL's way"),
    // Tools.
    approximated("/tools.*.binding.target", "the platform's action as a connector's action"),
    dropped("/tools.*.binding.**", "ABL cannot call it", "say how the tool is reached")
        .must("TOOLS:\n  {}(…) -> object\n    type: http\n    endpoint: \"https://service.example/{}\"\n    method: POST\n"),
    dropped("/tools.*.extensions.**", "the platform of the source only knows it", ""),
    dropped("/tools.*.parameters.*.extensions.**", "the platform of the source only knows it", ""),
    // Settings of whole programs.
    approximated("/settings.*.bot_name", "the name of the project"),
    dropped("/settings.*.bot_name", "an agent alone has no project that could be called so", ""),
    dropped(
        "/settings.*.*.model",
        "each agent of ABL says which model it uses",
        "name the model under `EXECUTION`",
    ),
    dropped("/settings.**", "how a bot runs is set up in the platform", ""),
    // Data of the source platform.
    dropped("**.extensions.agent-script.**", "Salesforce's platform only knows it", ""),
    dropped("**.extensions.adl.**", "the runtime of ADL only knows it", ""),
];
