//! Agent Script, in the dialects agentforce and agentfabric.

use super::{Files, check};

const SCRIPT: &str = r#"system:
    instructions: "Help readers"
    messages:
        welcome: "Hello"
        error: "Sorry"

config:
    developer_name: "Library"

variables:
    days: mutable number = 0
        description: "For how long"
    member: mutable string = ""
    channel: linked string
        source: @MessagingSession.ChannelType

start_agent desk:
    description: "Lends books"
    actions:
        Find_Copy:
            description: "Finds a free copy"
            inputs:
                title: string
                    is_required: True
                branch: string
                    is_required: False
            outputs:
                copy_id: string
                due_days: number
            target: "flow://Find_Copy"
    reasoning:
        instructions: ->
            | Ask {!@variables.member} for a title.
            if @variables.days > 30:
                | That is long.
            run @actions.Find_Copy
                with title=@variables.member
                set @variables.days = @outputs.due_days
            transition to @subagent.fines
        actions:
            find: @actions.Find_Copy
                with title=...
                available when @variables.member != ""
            note: @utils.setVariables
                with member=...
            go: @utils.transition to @subagent.fines
    after_reasoning:
        set @variables.days = 0

subagent fines:
    description: "Collects fines"
    reasoning:
        instructions: ->
            | Collect {!@variables.days}.
"#;

const AGENTFORCE: Files<'_> = Files { name: "library.agent", text: SCRIPT, others: &[] };

const NETWORK: &str = r#"# @dialect: agentfabric
config:
    agent_name: "library"
    default_llm: @llm.small

llm:
    small:
        target: "llm://models"
        kind: "OpenAI"
        model: "gpt"

actions:
    find:
        target: "mcp://catalogue"
        kind: "mcp:tool"
        tool_name: "find"

trigger entry:
    kind: "a2a"
    target: "brokers://main/a2a"
    on_message: ->
        transition to @router.sort

router sort:
    routes:
        - target: @generator.answer
          when: True
    otherwise:
        target: @generator.answer

generator answer:
    prompt: ->
        | Answer.
    on_exit: ->
        transition to @echo.done

echo done:
    kind: "a2a:status_update_event"
    state: "completed"
"#;

const AGENTFABRIC: Files<'_> = Files { name: "network.agent", text: NETWORK, others: &[] };

#[test]
fn keys() {
    check(
        "agent_script_keys",
        AGENTFORCE,
        &[
            ("subagent fines:", "<|>\n\nsubagent fines:"),
            ("config:\n", "conf<|>\n"),
            ("subagent fines:", "sub<|>agent fines:"),
            ("subagent fines:", "subagent <|>:"),
            ("        description: \"For how long\"\n", "        <|>\n"),
            ("            target: \"flow://Find_Copy\"\n", "            <|>\n"),
            ("                    is_required: True\n", "                    <|>\n"),
            ("    description: \"Collects fines\"\n", "    des<|>\n"),
            ("        error: \"Sorry\"\n", "        <|>\n"),
            ("    member: mutable", "    <|>: mutable"),
        ],
    );
}

#[test]
fn statements() {
    check(
        "agent_script_statements",
        AGENTFORCE,
        &[
            (
                "            transition to @subagent.fines\n        actions",
                "            <|>\n        actions",
            ),
            (
                "                | That is long.\n",
                "                | That is long.\n            <|>\n",
            ),
            ("                with title=@variables.member\n", "                <|>\n"),
            ("                available when @variables.member != \"\"\n", "                <|>\n"),
            ("        set @variables.days = 0\n", "        <|>\n"),
            (
                "            transition to @subagent.fines\n        actions",
                "            transition <|>\n        actions",
            ),
            (
                "            transition to @subagent.fines\n        actions",
                "            transition to <|>\n        actions",
            ),
            (
                "            transition to @subagent.fines\n        actions",
                "            transition to @subagent.<|>\n        actions",
            ),
            ("run @actions.Find_Copy", "run @actions.<|>"),
            ("with title=@variables.member", "with <|>"),
            ("with title=@variables.member", "with title=<|>"),
            ("with member=...", "with <|>"),
            ("        set @variables.days = 0", "        set <|>"),
            ("        set @variables.days = 0", "        set @variables.<|>"),
            ("go: @utils.transition to @subagent.fines", "go: <|>"),
            ("go: @utils.transition to @subagent.fines", "go: @utils.<|>"),
            ("go: @utils.transition to @subagent.fines", "go: @utils.transition to @subagent.f<|>"),
        ],
    );
}

#[test]
fn values() {
    check(
        "agent_script_values",
        AGENTFORCE,
        &[
            ("if @variables.days > 30:", "if <|>"),
            ("if @variables.days > 30:", "if @<|>:"),
            ("if @variables.days > 30:", "if @variables.<|>:"),
            ("if @variables.days > 30:", "if @variables.days > 30 and @system_variables.<|>:"),
            ("= @outputs.due_days", "= @outputs.<|>"),
            ("{!@variables.member}", "{!<|>}"),
            ("{!@variables.member}", "{!@variables.<|>"),
            ("Ask {!@variables.member} for", "Ask <|> for"),
            ("is_required: False", "is_required: <|>"),
            ("days: mutable number = 0", "days: <|>"),
            ("days: mutable number = 0", "days: mutable <|>"),
            ("title: string", "title: <|>"),
            ("@MessagingSession.ChannelType", "<|>"),
            ("instructions: ->\n            | Collect", "instructions: <|>\n            | Collect"),
            ("welcome: \"Hello\"", "welcome: \"Hello <|>\""),
        ],
    );
}

#[test]
fn agentfabric() {
    check(
        "agent_script_agentfabric",
        AGENTFABRIC,
        &[
            ("# @dialect: agentfabric", "# @dialect: <|>"),
            ("echo done:", "<|>\n\necho done:"),
            ("transition to @router.sort", "transition to @<|>"),
            ("transition to @router.sort", "transition to @router.<|>"),
            ("default_llm: @llm.small", "default_llm: @llm.<|>"),
            ("kind: \"OpenAI\"", "kind: <|>"),
            ("        model: \"gpt\"\n", "        <|>\n"),
            ("    state: \"completed\"\n", "    <|>\n"),
        ],
    );
}
