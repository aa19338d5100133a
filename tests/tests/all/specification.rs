//! Agent Script by the sections of its formal specification: for each construct a text of our own,
//! and what it becomes in the IR, or what is said about it.
//!
//! A row of a table is a construct; a snapshot is a section. Texts are parts of the document that
//! [`Part`] puts around them.

#![allow(clippy::panic, clippy::indexing_slicing, reason = "tests end by panicking")]

use agentir_lang_abl::Options;
use agentir_tests::check::{File, check, json};
use std::fmt::Write as _;

/// Where a text stands, and with that which part of the IR shows what became of it.
#[derive(Clone, Copy)]
enum Part {
    /// A whole document; the pointer says what is shown.
    Document(&'static str),
    /// Blocks of a document, behind those that all have; the pointer says what is shown.
    Blocks(&'static str),
    /// Declarations of variables.
    Variables,
    /// The value of `set @variables.name = …`.
    Value,
    /// What builds the prompt.
    Prompt,
    /// What is done before the model thinks.
    Before,
    /// The tools of the model.
    Tools,
    /// Blocks of the start agent; the pointer says what is shown.
    Agent(&'static str),
}
use Part::{Agent, Before, Blocks, Document, Prompt, Tools, Value, Variables};

/// A construct: its section, what it is, where its text stands, and the text.
type Row = (&'static str, &'static str, Part, &'static str);

fn indented(text: &str, columns: usize) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let columns = if line.is_empty() { 0 } else { columns };
        let _ = writeln!(out, "{:columns$}{line}", "");
        out
    })
}

const VARIABLES: &str = "\
name: mutable string = \"\"
    description: \"The name of a ship\"
count: mutable number = 0
    description: \"How many ships are near\"
lit: mutable boolean = False
    description: \"Whether the lamp is lit\"
log: mutable list[object] = []
    description: \"What was seen\"
ship: mutable object = {}
    description: \"The last ship\"
session: linked string
    source: @MessagingSession.Id
    description: \"The session\"
";

const ACTIONS: &str = "\
actions:
    Find_Ship:
        description: \"Finds a ship\"
        inputs:
            name: string
                description: \"Its name\"
            flag: string = \"any\"
                description: \"Its flag\"
        outputs:
            found: object
            knots: number
        target: \"flow://Find_Ship\"
    Sound_Horn:
        description: \"Sounds the horn\"
        inputs:
            times: number = 1
                description: \"How often\"
        outputs:
            heard: boolean
        target: \"apex://Horn\"
";

/// A document: the blocks, the variables, what the start agent has besides its actions.
fn document(blocks: &str, variables: &str, agent: &str) -> String {
    format!(
        "system:\n    instructions: \"You keep a lighthouse.\"\n    messages:\n        welcome: \"Ahoy!\"\n        error: \"The lamp is out.\"\nconfig:\n    developer_name: \"Lighthouse\"\naccess:\n    default_agent_user: \"keeper@light.example\"\n{blocks}variables:\n{}start_agent keeper:\n    description: \"Keeps the light\"\n{}{}subagent harbour:\n    description: \"Knows the harbour\"\n    reasoning:\n        instructions: | {{!@variables.count}} ships are near.\n",
        indented(variables, 4),
        indented(ACTIONS, 4),
        indented(agent, 4),
    )
}

fn text(part: Part, text: &str) -> String {
    let plain = "reasoning:\n    instructions: | Keep watch.\n";
    let in_agent = |agent: String| document("", VARIABLES, &agent);
    match part {
        Document(_) => text.to_owned(),
        Blocks(_) => document(&format!("{text}\n"), VARIABLES, plain),
        Variables => document("", &format!("{VARIABLES}{text}\n"), plain),
        Value => in_agent(format!("before_reasoning:\n    set @variables.name = {text}\n{plain}")),
        Prompt => in_agent(format!("reasoning:\n    instructions: ->\n{}", indented(text, 8))),
        Before => in_agent(format!("before_reasoning:\n{}{plain}", indented(text, 4))),
        Tools => in_agent(format!("{plain}    actions:\n{}", indented(text, 8))),
        Agent(_) => in_agent(format!("{text}\n")),
    }
}

/// What became of a text.
fn became(part: Part, written: &str) -> String {
    let whole = text(part, written);
    let files = [File { name: "a.agent".to_owned(), text: whole }];
    let checked = check(&files, Options::default());
    let program = json(&checked.program);
    let pointer = match part {
        Document(pointer) | Blocks(pointer) | Agent(pointer) => pointer,
        Variables => "/agents/0/memory/session/6",
        Value => "/agents/0/hooks/before_turn/set/0/expression",
        Prompt => "/agents/0/identity/instructions",
        Before => "/agents/0/hooks/before_turn",
        Tools => "/agents/0/reasoning/bindings",
    };
    let mut out = String::new();
    if let Some(shown) = program.pointer(pointer).filter(|_| !pointer.is_empty()) {
        match shown.as_array() {
            Some(all) => all.iter().for_each(|one| {
                let _ = writeln!(out, "  = {one}");
            }),
            None => {
                let _ = writeln!(out, "  = {shown}");
            }
        }
    }
    for d in &checked.diagnostics {
        // What the examples do not use does not concern the construct.
        if !d.rule.0.starts_with("unused") && d.rule.0 != "unreachable-agent" {
            let source = checked.sources.get(d.primary.span.file);
            let found = source.map_or("", |s| &s.text[d.primary.span.range()]);
            let found = found.lines().next().unwrap_or_default();
            let _ = writeln!(out, "  ! {}: »{found}« {}", d.rule.0, d.message);
        }
    }
    out
}

fn conforms(section: &str, rows: &[Row]) {
    let mut out = String::new();
    for (number, what, part, text) in rows {
        let _ = write!(out, "{number} {what}\n{}{}\n", indented(text, 2), became(*part, text));
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => true }, {
        insta::assert_snapshot!(section, out);
    });
}

#[test]
fn part_1_section_1_structure() {
    conforms(
        "part_1_section_1_structure",
        &[
            (
                "1.1",
                "any deeper column is a level",
                Blocks("/agents/0/extensions/agent-script/knowledge"),
                "knowledge:\n citations_enabled: True\n citations_url: \"https://light.example\"",
            ),
            (
                "1.1",
                "a line that belongs to no level",
                Blocks("/agents/0/extensions/agent-script/knowledge"),
                "knowledge:\n        citations_enabled: True\n    citations_url: \"https://light.example\"",
            ),
            (
                "1.2",
                "comments on lines of their own, behind values and between blocks",
                Blocks("/agents/0/extensions/agent-script/knowledge"),
                "# above\nknowledge: # behind a key\n    citations_enabled: True # behind a value\n  # left of the block\n    citations_url: \"https://light.example/#top\"",
            ),
            (
                "1.2",
                "a hash in a template is text where it is deeper",
                Prompt,
                "| Watch\n    # the north\n# nobody reads this\n    and the south.",
            ),
            (
                "1.3",
                "a named block",
                Document("/agents/0/metadata/name"),
                "system:\n    messages:\n        error: \"e\"\nconfig:\n    developer_name: \"L\"\naccess:\n    default_agent_user: \"u@l.example\"\nstart_agent keeper:\n    description: \"Keeps the light\"\n    reasoning:\n        instructions: | Keep watch.",
            ),
            (
                "1.3",
                "a name where there is none",
                Blocks(""),
                "knowledge sea:\n    citations_enabled: True",
            ),
            (
                "1.3",
                "a block without its name",
                Blocks(""),
                "connected_subagent:\n    target: \"agentforce://Pilot\"\n    description: \"Pilots\"",
            ),
            (
                "1.3",
                "a sequence of scalars",
                Blocks("/agents/0/extensions/agent-script/access/sharing_policy"),
                "access:\n    default_agent_user: \"keeper@light.example\"\n    sharing_policy:\n        custom_sharing_entities:\n            - \"Ship\"\n            - \"Pilot\"",
            ),
            (
                "1.3",
                "a sequence of maps",
                Blocks("/agents/0/extensions/agent-script/modality voice"),
                "modality voice:\n    pronunciation_dict:\n        - grapheme: \"buoy\"\n          phoneme: \"boy\"",
            ),
            (
                "1.4",
                "properties below a value",
                Variables,
                "depth: mutable number = 3\n    description: \"Fathoms\"\n    label: \"Depth\"",
            ),
            (
                "1.4",
                "a property that the value does not have",
                Variables,
                "depth: mutable number = 3\n    colour: \"blue\"",
            ),
        ],
    );
}

#[test]
fn part_1_section_2_types() {
    conforms(
        "part_1_section_2_types",
        &[
            ("2.1", "string", Variables, "a: mutable string = \"x\""),
            ("2.1", "number", Variables, "a: mutable number = 3.14"),
            ("2.1", "boolean", Variables, "a: mutable boolean = True"),
            ("2.1", "a boolean in small letters", Variables, "a: mutable boolean = true"),
            ("2.1", "object", Variables, "a: mutable object = None"),
            ("2.1", "a type that does not exist", Variables, "a: mutable text = \"x\""),
            (
                "2.2",
                "a list with the type of its elements",
                Variables,
                "a: mutable list[number] = [1, 2]",
            ),
            ("2.2", "a list of lists", Variables, "a: mutable list[list[number]] = []"),
            ("2.2", "only lists have elements", Variables, "a: mutable string[number]"),
            ("2.3", "no value", Variables, "a: mutable string"),
            ("2.3", "linked", Variables, "a: linked string\n    source: @MessagingSession.Id"),
            ("2.3", "no modifier", Variables, "a: string = \"x\""),
            ("2.3", "another modifier", Variables, "a: const string = \"x\""),
            ("2.3", "a linked variable that is set", Before, "set @variables.session = \"x\""),
        ],
    );
}

#[test]
fn part_1_section_3_expressions() {
    conforms(
        "part_1_section_3_expressions",
        &[
            (
                "3.1",
                "or is loosest, then and, then not",
                Value,
                "not @variables.lit or @variables.lit and @variables.count > 1",
            ),
            ("3.1", "not is looser than a comparison", Value, "not @variables.count == 1"),
            ("3.1", "comparisons", Value, "[1 == 2, 1 != 2, 1 < 2, 1 <= 2, 1 > 2, 1 >= 2]"),
            ("3.1", "is, is not", Value, "@variables.name is None or @variables.name is not None"),
            ("3.1", "comparisons do not follow each other", Value, "1 < 2 < 3"),
            ("3.1", "arithmetic", Value, "1 + 2 * 3 - 4 / 5"),
            ("3.1", "signs", Value, "-@variables.count + +1"),
            ("3.1", "there is no remainder", Value, "@variables.count % 2"),
            ("3.1", "parentheses", Value, "(1 + 2) * 3"),
            ("3.1", "members and subscripts", Value, "@variables.ship.crew[0].name"),
            ("3.1", "a subscript that is computed", Value, "@variables.log[@variables.count - 1]"),
            ("3.1", "calls", Value, "len(@variables.log)"),
            ("3.1", "only names can be called", Value, "\"a\"(1)"),
            (
                "3.1",
                "a ternary, loosest of all",
                Value,
                "\"a\" if @variables.lit else \"b\" if @variables.count > 1 else \"c\"",
            ),
            ("3.1", "texts are joined", Value, "\"MS \" + @variables.name"),
            ("3.1", "lists and objects", Value, "[[], [1, \"two\",], {}, {\"a\": 1, b: [2]}]"),
            ("3.1", "an unclosed list", Value, "[1, 2"),
            (
                "3.1",
                "operators of other languages",
                Value,
                "@variables.lit && !@variables.lit || @variables.name === null",
            ),
            ("3.1", "texts in single quotes", Value, "'a'"),
            ("3.1", "escapes", Value, "\"a \\\"b\\\" \\\\ \\n\""),
            ("3.1", "an escape that does not exist", Value, "\"\\q\""),
            ("3.2", "references", Value, "@variables.count"),
            ("3.2", "a reference needs a member", Value, "@variables"),
            ("3.2", "a variable that does not exist", Value, "@variables.cuont"),
            ("3.2", "@start_agent is @subagent", Before, "transition to @start_agent.keeper"),
        ],
    );
}

#[test]
fn part_1_section_4_schema() {
    conforms(
        "part_1_section_4_schema",
        &[
            (
                "4.1",
                "a block has fixed fields",
                Blocks(""),
                "knowledge:\n    citation_url: \"https://light.example\"",
            ),
            (
                "4.1",
                "a block that does not exist",
                Blocks(""),
                "knowlege:\n    citations_enabled: True",
            ),
            ("4.1", "a block twice", Blocks(""), "config:\n    developer_name: \"Again\""),
            ("4.1", "a map takes any key", Variables, "any_key_at_all: mutable string = \"\""),
            ("4.1", "a key twice", Variables, "name: mutable string = \"\""),
            (
                "4.2",
                "a kind selects the fields",
                Document("/agents/0/extensions/agent-script/llm"),
                "# @dialect: agentfabric=1.0\nllm:\n    fast:\n        kind: \"OpenAI\"\n        model: \"gpt-4o\"\n        target: \"llm://fast\"\n        thinking_budget: 3",
            ),
        ],
    );
}

#[test]
fn part_1_section_5_procedures() {
    conforms(
        "part_1_section_5_procedures",
        &[
            ("5.1", "with an arrow", Prompt, "| Watch the sea."),
            (
                "5.1",
                "without",
                Agent("/agents/0/identity/instructions"),
                "reasoning:\n    instructions:\n        | Watch the sea.",
            ),
            ("5.2", "lines are appended", Prompt, "| Watch the sea.\n| Sound the horn in fog."),
            (
                "5.2",
                "under a condition",
                Prompt,
                "| Watch.\nif @variables.lit:\n    | The lamp is lit.\n| Go on.",
            ),
            ("5.3", "set", Before, "set @variables.count = @variables.count + 1"),
            ("5.3", "the namespace may be left out", Before, "set count = 1"),
            ("5.3", "a value is missing", Before, "set @variables.count ="),
            ("5.4", "run", Before, "run @actions.Sound_Horn"),
            ("5.4", "an action that does not exist", Before, "run @actions.Sound_Hron"),
            ("5.4", "no action at all", Before, "run @variables.name"),
            (
                "5.5",
                "with",
                Before,
                "run @actions.Find_Ship\n    with name=@variables.name\n    with flag=\"any\"",
            ),
            (
                "5.5",
                "several in one clause",
                Before,
                "run @actions.Find_Ship\n    with name=\"Ida\", flag=\"any\"",
            ),
            (
                "5.5",
                "an input that does not exist",
                Before,
                "run @actions.Find_Ship\n    with nmae=\"Ida\"",
            ),
            ("5.5", "with without run", Before, "with name=\"Ida\""),
            (
                "5.6",
                "left to the model",
                Tools,
                "find: @actions.Find_Ship\n    with name=...\n    with flag=\"any\"",
            ),
            ("5.6", "nowhere else", Before, "set @variables.name = 1 + ..."),
            (
                "5.7",
                "available when",
                Tools,
                "find: @actions.Find_Ship\n    available when @variables.lit == True\n    with name=...",
            ),
            (
                "5.7",
                "without when",
                Tools,
                "find: @actions.Find_Ship\n    available @variables.lit",
            ),
            (
                "5.7",
                "not in procedures",
                Before,
                "run @actions.Sound_Horn\n    available when @variables.lit",
            ),
            ("5.8", "if", Before, "if @variables.lit:\n    set @variables.count = 1"),
            (
                "5.8",
                "else",
                Before,
                "if @variables.lit:\n    set @variables.count = 1\nelse:\n    set @variables.count = 2",
            ),
            (
                "5.8",
                "if in else",
                Before,
                "if @variables.lit:\n    set @variables.count = 1\nelse:\n    if @variables.count > 3:\n        set @variables.count = 2",
            ),
            (
                "5.8",
                "elif",
                Before,
                "if @variables.lit:\n    set @variables.count = 1\nelif @variables.count > 3:\n    set @variables.count = 2",
            ),
            ("5.8", "no colon", Before, "if @variables.lit\n    set @variables.count = 1"),
            ("5.8", "no body", Before, "if @variables.lit:\nset @variables.count = 1"),
            ("5.8", "else alone", Before, "else:\n    set @variables.count = 1"),
            (
                "5.9",
                "a callback",
                Before,
                "run @actions.Find_Ship\n    with name=\"Ida\"\n    set @variables.ship = @outputs.found\n    transition to @subagent.harbour",
            ),
            (
                "5.9",
                "a condition in it",
                Before,
                "run @actions.Find_Ship\n    with name=\"Ida\"\n    if @outputs.knots > 10:\n        run @actions.Sound_Horn\n            set @variables.lit = @outputs.heard",
            ),
            (
                "5.9",
                "outputs of the outer action",
                Before,
                "run @actions.Find_Ship\n    with name=\"Ida\"\n    run @actions.Sound_Horn\n        set @variables.ship = @outputs.found",
            ),
            (
                "5.9",
                "three runs inside each other",
                Before,
                "run @actions.Sound_Horn\n    run @actions.Sound_Horn\n        run @actions.Sound_Horn",
            ),
            (
                "5.9",
                "outputs behind the callback",
                Before,
                "run @actions.Find_Ship\n    with name=\"Ida\"\nset @variables.ship = @outputs.found",
            ),
            (
                "5.9",
                "an output that does not exist",
                Before,
                "run @actions.Sound_Horn\n    set @variables.lit = @outputs.herad",
            ),
            (
                "5.9",
                "with behind the body",
                Before,
                "run @actions.Find_Ship\n    set @variables.ship = @outputs.found\n    with name=\"Ida\"",
            ),
            ("5.10", "transition", Before, "transition to @subagent.harbour"),
            ("5.10", "without to", Before, "transition @subagent.harbour"),
            ("5.10", "to nowhere", Before, "transition to"),
            ("5.10", "to a subagent that does not exist", Before, "transition to @subagent.harbor"),
            ("5.10", "to a variable", Before, "transition to @variables.name"),
            (
                "5.10",
                "as a tool",
                Tools,
                "go: @utils.transition to @subagent.harbour\n    description: \"To the harbour\"",
            ),
            (
                "5.10",
                "statements behind it",
                Before,
                "transition to @subagent.harbour\nset @variables.lit = True",
            ),
        ],
    );
}

#[test]
fn part_1_section_6_templates() {
    conforms(
        "part_1_section_6_templates",
        &[
            (
                "6.1",
                "in quotes and behind a bar",
                Agent("/agents/0/identity/instructions"),
                "reasoning:\n    instructions: |\n        Watch the sea.\n            Note every ship.\n\n        Go on.",
            ),
            (
                "6.1",
                "the text begins behind the bar",
                Prompt,
                "| Watch the sea.\n  Note every ship.\n    With its flag.",
            ),
            ("6.2", "bars append", Prompt, "| One\n| Two"),
            ("6.3", "holes", Prompt, "| {! @variables.name } at {!@variables.count + 1} knots"),
            (
                "6.3",
                "any expression",
                Prompt,
                "| {!@variables.name if @variables.lit else \"nobody\"}",
            ),
            (
                "6.3",
                "holes in quotes",
                Agent("/agents/0/identity/instructions"),
                "reasoning:\n    instructions: \"Greet {!@variables.name}.\"",
            ),
            ("6.3", "other braces are text", Prompt, "| {name} {{name}} { !name }"),
            ("6.3", "a hole that is not closed", Prompt, "| {!@variables.name"),
            ("6.3", "an empty hole", Prompt, "| {! }"),
            ("6.3", "no expression", Prompt, "| {!@variables.name is}"),
            (
                "6.3",
                "no holes in labels",
                Agent(""),
                "label: \"{!@variables.name}\"\nreasoning:\n    instructions: | i",
            ),
            ("6.3", "no templates in procedures that only act", Before, "| Watch."),
        ],
    );
}

#[test]
fn part_1_section_7_actions() {
    conforms(
        "part_1_section_7_actions",
        &[
            ("7.1", "an action", Agent("/agents/0/tools/0"), "reasoning:\n    instructions: | i"),
            (
                "7.1",
                "without a target",
                Blocks(""),
                "subagent fog:\n    description: \"d\"\n    actions:\n        Look:\n            description: \"Looks\"\n    reasoning:\n        instructions: | i",
            ),
            (
                "7.1",
                "fields of a dialect",
                Blocks("/agents/0/tools/0"),
                "subagent fog:\n    description: \"d\"\n    actions:\n        Look:\n            description: \"Looks\"\n            target: \"flow://Look\"\n            require_user_confirmation: True\n    reasoning:\n        instructions: | i\n        actions:\n            look: @actions.Look",
            ),
            (
                "7.2",
                "properties of parameters",
                Blocks("/agents/0/tools/0"),
                "subagent fog:\n    description: \"d\"\n    actions:\n        Look:\n            description: \"Looks\"\n            target: \"flow://Look\"\n            inputs:\n                far: number\n                    description: \"How far\"\n                    is_required: True\n            outputs:\n                seen: list[object]\n                    description: \"What is there\"\n    reasoning:\n        instructions: | i\n        actions:\n            look: @actions.Look\n                with far=...",
            ),
            (
                "7.3",
                "no address",
                Blocks(""),
                "subagent fog:\n    description: \"d\"\n    actions:\n        Look:\n            description: \"Looks\"\n            target: \"Look\"\n    reasoning:\n        instructions: | i",
            ),
        ],
    );
}

#[test]
fn part_2_the_dialect() {
    conforms(
        "part_2_the_dialect",
        &[
            (
                "1",
                "system",
                Agent("/agents/0/identity/system_prompt"),
                "reasoning:\n    instructions: | i",
            ),
            ("1", "messages", Agent("/agents/0/messages"), "reasoning:\n    instructions: | i"),
            (
                "1",
                "a subagent replaces the instructions",
                Agent("/agents/0/identity/system_prompt"),
                "system:\n    instructions: \"You keep the lamp only.\"\nreasoning:\n    instructions: | i",
            ),
            (
                "1",
                "but not the messages",
                Agent(""),
                "system:\n    instructions: \"i\"\n    messages:\n        error: \"e\"\nreasoning:\n    instructions: | i",
            ),
            (
                "2",
                "config",
                Agent("/agents/0/extensions/agent-script/config"),
                "reasoning:\n    instructions: | i",
            ),
            ("3", "variables belong to the program", Variables, "tide: mutable string = \"low\""),
            (
                "3",
                "not to a subagent",
                Agent(""),
                "variables:\n    tide: mutable string = \"low\"\nreasoning:\n    instructions: | i",
            ),
            (
                "4",
                "a second start agent",
                Blocks(""),
                "start_agent other:\n    description: \"d\"\n    reasoning:\n        instructions: | i",
            ),
            (
                "4",
                "no start agent",
                Document(""),
                "system:\n    messages:\n        error: \"e\"\nconfig:\n    developer_name: \"L\"\nsubagent a:\n    description: \"d\"\n    reasoning:\n        instructions: | i",
            ),
            (
                "5",
                "label",
                Agent("/agents/0/metadata"),
                "label: \"The keeper\"\nreasoning:\n    instructions: | i",
            ),
            (
                "5",
                "a description is required",
                Blocks(""),
                "subagent fog:\n    reasoning:\n        instructions: | i",
            ),
            (
                "6",
                "before_reasoning",
                Agent("/agents/0/hooks"),
                "before_reasoning:\n    if @variables.lit is not True:\n        set @variables.lit = True\nreasoning:\n    instructions: | i",
            ),
            (
                "7",
                "reasoning",
                Agent("/agents/0/reasoning"),
                "reasoning:\n    instructions: | i\n    actions:\n        find: @actions.Find_Ship\n            description: \"Find a ship\"\n            available when @variables.lit\n            with name=@variables.name\n            set @variables.ship = @outputs.found",
            ),
            ("7", "a tool that is not a reference", Tools, "find: Find_Ship"),
            (
                "8",
                "after_reasoning",
                Agent("/agents/0/hooks"),
                "reasoning:\n    instructions: | i\nafter_reasoning:\n    set @variables.count = @variables.count + 1",
            ),
            (
                "10",
                "connected_subagent",
                Blocks(""),
                "connected_subagent pilot:\n    target: \"agentforce://Pilot\"\n    description: \"Pilots ships\"",
            ),
            (
                "10",
                "without a target",
                Blocks(""),
                "connected_subagent pilot:\n    description: \"Pilots ships\"",
            ),
            (
                "10",
                "to one of them",
                Document("/agents/0/coordination"),
                "system:\n    messages:\n        error: \"e\"\nconfig:\n    developer_name: \"L\"\naccess:\n    default_agent_user: \"u@l.example\"\nconnected_subagent pilot:\n    target: \"agentforce://Pilot\"\n    description: \"Pilots ships\"\nstart_agent keeper:\n    description: \"d\"\n    reasoning:\n        instructions: | i\n        actions:\n            call: @connected_subagent.pilot",
            ),
            ("11", "@utils.transition", Tools, "go: @utils.transition to @subagent.harbour"),
            (
                "11",
                "@utils.setVariables",
                Tools,
                "note: @utils.setVariables\n    description: \"Note the ship\"\n    with name=...\n    with count=...",
            ),
            (
                "11",
                "@utils.escalate",
                Tools,
                "help: @utils.escalate\n    description: \"Call a person\"",
            ),
            ("11", "a utility that does not exist", Tools, "help: @utils.escalte"),
            (
                "12",
                "@system_variables.user_input",
                Before,
                "if @system_variables.user_input is not None:\n    set @variables.count = 0",
            ),
        ],
    );
}

/// A keyword without its colon is one mistake: the section does not count as missing as well.
#[test]
fn a_section_without_its_colon_is_not_missing() {
    let text = "AGENT: Bread_Orders\n\nGOAL \"Take orders for bread\"\n\nCOMPLETE:\n  - WHEN: ready == true\n";
    let file =
        agentir_tests::check::File { name: "bread.agent.abl".to_owned(), text: text.to_owned() };
    let checked = agentir_tests::check::check(&[file], agentir_lang_abl::Options::default());
    let rules: Vec<&str> = checked.errors().map(|finding| finding.rule.0).collect();
    assert_eq!(rules.iter().filter(|rule| **rule == "syntax-error").count(), 1, "{rules:?}");
    assert!(!rules.contains(&"missing-section"), "{rules:?}");
}

#[test]
fn sections_without_a_header_are_a_part_of_an_agent() {
    let of = |text: &str| {
        let file =
            agentir_tests::check::File { name: "desk.abl".to_owned(), text: text.to_owned() };
        let checked = agentir_tests::check::check(&[file], agentir_lang_abl::Options::default());
        let found = checked.diagnostics.iter();
        found.map(|d| (d.rule.0, d.severity.name())).collect::<Vec<_>>()
    };
    let gather = "GATHER:\n  boat:\n    prompt: \"Which boat?\"\n    type: string\n";
    assert_eq!(of(gather), [("missing-section", "info")]);
    assert_eq!(of("session:\n  - boat\n  - day\n"), [("missing-section", "info")]);
    // Several sections that make up an agent are one whose header is missing.
    assert_eq!(of(&format!("GOAL: \"Rents out boats\"\n{gather}")), [("missing-section", "error")]);
    assert_eq!(of(&format!("AGNET: Desk\n{gather}")), [("missing-section", "error")]);
}
