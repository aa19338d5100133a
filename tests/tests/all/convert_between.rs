//! Conversions between languages: choices of the model stay its choices, descriptions arrive, hooks keep what they do, and
//! what the tools of a language's vendor refuse is not written.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::{languages, targets};
use agentir_compare::Verdict;
use agentir_convert::{Conversion, Target, convert};
use agentir_expr::dialect::UncompiledForm;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check, compare};

fn read(name: &str, text: &str) -> Checked {
    let checked =
        check(&[File { name: name.to_owned(), text: text.to_owned() }], Options::default());
    let errors: Vec<String> = checked.errors().map(|d| checked.line(d)).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    checked
}

fn converted(checked: &Checked, target: Target) -> (Conversion, String) {
    let done = convert(languages(), &checked.program, &checked.sources, target);
    let text = done.files.iter().map(|f| format!("--- {}\n{}", f.path, f.text)).collect();
    (done, text)
}

/// The output has no errors of any rule.
fn without_errors(done: &Conversion) {
    let files = done.files.iter().map(|f| File { name: f.path.clone(), text: f.text.clone() });
    let checked = check(&files.collect::<Vec<_>>(), Options::default());
    let errors: Vec<String> = checked.errors().map(|d| checked.line(d)).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// A desk of Agent Script that offers these tools to its model, and two others.
fn desk(variables: &str, before: &str, tools: &str, actions: &str) -> String {
    let nested = |text: &str, columns: usize| -> String {
        let space = " ".repeat(columns);
        text.lines().map(|line| format!("{space}{line}\n")).collect()
    };
    let before = match before {
        "" => String::new(),
        text => format!("    before_reasoning:\n{}", nested(text, 8)),
    };
    let actions = match actions {
        "" => String::new(),
        text => format!("    actions:\n{}", nested(text, 8)),
    };
    format!(
        "config:\n    developer_name: \"Sample\"\n\nsystem:\n    instructions: \"You help.\"\n    messages:\n        welcome: \"Hello\"\n        error: \"Please say that again.\"\n\naccess:\n    default_agent_user: \"desk@example.com\"\n\nvariables:\n{}\nstart_agent desk:\n    description: \"Receives guests\"\n{actions}{before}    reasoning:\n        instructions: ->\n            | Find out what the guest needs.\n        actions:\n{}\nsubagent kennel:\n    description: \"Looks after dogs\"\n    reasoning:\n        instructions: ->\n            | Ask for the name of the dog.\n\nsubagent stable:\n    description: \"Looks after horses\"\n    reasoning:\n        instructions: ->\n            | Ask for the name of the horse.\n",
        nested(variables, 4),
        nested(tools, 12)
    )
}

const VACCINATED: &str =
    "vaccinated: mutable boolean = False\n    description: \"Whether the animal is\"";

fn guarded(first: &str, second: &str) -> String {
    let way = |name: &str, to: &str, what: &str, guard: &str| {
        let guard = match guard {
            "" => String::new(),
            guard => format!("    available when {guard}\n"),
        };
        format!("{name}: @utils.transition to @subagent.{to}\n    description: \"{what}\"\n{guard}")
    };
    let one = way("to_kennel", "kennel", "The guest brings a dog", first);
    let other = way("to_stable", "stable", "The guest brings a horse", second);
    desk(VACCINATED, "", &format!("{one}{other}"), "")
}

const GUARD: &str = "@variables.vaccinated == True";

#[test]
fn guarded_choices_stay_the_models_choices() {
    let checked = read("desk.agent", &guarded(GUARD, GUARD));
    let (done, text) = converted(&checked, targets::ABL);
    without_errors(&done);
    for (to, words) in
        [("kennel", "The guest brings a dog"), ("stable", "The guest brings a horse")]
    {
        assert!(text.contains(&format!("- TO: {to}\n    WHEN: \"{words}\"")), "{text}");
    }
    for to in ["kennel", "stable"] {
        let rule = format!("- REQUIRE vaccinated == true BEFORE calling {to}");
        assert!(text.contains(&rule), "{text}");
    }
    assert!(text.contains("TEXT: \"Do not hand over to `kennel` or `stable` now.\""), "{text}");
    let handoffs = done.program.agents().flat_map(|agent| &agent.coordination.handoffs);
    let decided: Vec<_> = handoffs.map(|h| h.decided_by).collect();
    assert_eq!(decided, [agentir_ir::Decider::Model; 2]);
}

#[test]
fn each_agent_has_the_guard_of_its_own_ways() {
    let checked = read("desk.agent", &guarded(GUARD, "@variables.vaccinated == False"));
    let (_, text) = converted(&checked, targets::ABL);
    assert!(text.contains("REQUIRE vaccinated == true BEFORE calling kennel"), "{text}");
    assert!(text.contains("REQUIRE vaccinated == false BEFORE calling stable"), "{text}");
    assert!(text.contains("TEXT: \"Do not hand over to `kennel` now.\""), "{text}");
    assert!(text.contains("TEXT: \"Do not hand over to `stable` now.\""), "{text}");
    // What has no guard stays open.
    let checked = read("desk.agent", &guarded(GUARD, ""));
    let (_, text) = converted(&checked, targets::ABL);
    assert!(text.contains("REQUIRE vaccinated == true BEFORE calling kennel"), "{text}");
    assert!(!text.contains("BEFORE calling stable"), "{text}");
    assert!(text.contains("TEXT: \"Do not hand over to `kennel` now.\""), "{text}");
    assert!(!text.contains("`stable` now"), "{text}");
}

#[test]
fn guarded_ends_and_calls_of_agents_are_the_models_too() {
    let tools = format!(
        "ask: @subagent.kennel\n    description: \"What a kennel knows\"\n    available when {GUARD}\nperson: @utils.escalate\n    description: \"The guest is angry\"\n    available when {GUARD}\nbye: @utils.end_session\n    description: \"The guest leaves\"\n    available when {GUARD}\n"
    );
    let checked = read("desk.agent", &desk(VACCINATED, "", &tools, ""));
    let (done, text) = converted(&checked, targets::ABL);
    without_errors(&done);
    assert!(text.contains("WHEN: \"What a kennel knows\""), "{text}");
    assert!(
        text.contains("- WHEN: user.wants_human_agent == true AND vaccinated == true\n      REASON: \"The guest is angry\""),
        "{text}"
    );
    assert!(
        text.contains("TEXT: \"End the conversation when this is the case: The guest leaves\""),
        "{text}"
    );
    assert!(text.contains("TEXT: \"Do not ask `kennel` now.\""), "{text}");
    assert!(!text.contains("COMPLETE"), "{text}");
}

#[test]
fn descriptions_of_guarded_transitions_arrive_everywhere_and_are_compared() {
    let checked = read("desk.agent", &guarded(GUARD, GUARD));
    for target in targets::all() {
        let (_, text) = converted(&checked, target);
        for words in ["The guest brings a dog", "The guest brings a horse"] {
            assert!(text.contains(words), "{}: {text}", target.name());
        }
    }
    let other = guarded(GUARD, GUARD).replace("brings a dog", "brings a cat");
    let compared = compare(&checked, &read("other.agent", &other));
    assert_ne!(compared.verdict, Verdict::Same);
}

#[test]
fn a_rule_before_handing_over_is_part_of_what_a_program_does() {
    let agent = |rule: &str| {
        let desk = format!(
            "AGENT: Desk\n\nGOAL: \"Receives guests\"\n\nMEMORY:\n  session:\n    - vaccinated\n        TYPE: boolean\n\n{rule}HANDOFF:\n  - TO: Kennel\n    WHEN: \"The guest brings a dog\"\n    RETURN: false\n"
        );
        let kennel = "AGENT: Kennel\n\nGOAL: \"Looks after dogs\"\n";
        let file = |name: &str, text: &str| File { name: name.to_owned(), text: text.to_owned() };
        check(
            &[file("desk.agent.abl", &desk), file("kennel.agent.abl", kennel)],
            Options::default(),
        )
    };
    let rule =
        "CONSTRAINTS:\n  always:\n    - REQUIRE vaccinated == true BEFORE calling __handoff__\n\n";
    let (open, closed) = (agent(""), agent(rule));
    assert!(closed.errors().next().is_none(), "{:#?}", closed.lines());
    assert_eq!(compare(&closed, &closed).verdict, Verdict::Same);
    assert_ne!(compare(&open, &closed).verdict, Verdict::Same);
}

/// A hook branches once. What it cannot call the model is told to call, with what follows the call.
#[test]
fn hooks_with_several_guarded_calls_keep_them_all() {
    let variables = "dog: mutable string = \"\"\n    description: \"The name\"\nage: mutable string = \"\"\nfood: mutable string = \"\"\nfed: mutable boolean = False";
    let before = "if @variables.dog:\n    run @actions.find_age\n        with name = @variables.dog\n        set @variables.age = @outputs.years\nif @variables.age:\n    run @actions.find_food\n        with years = @variables.age\n        set @variables.food = @outputs.food\n    set @variables.fed = True";
    let tools = "note: @utils.setVariables\n    description: \"Note the name\"\n    with dog = ...";
    let action = |name: &str, input: &str, output: &str| {
        format!(
            "{name}:\n    description: \"Looks it up\"\n    inputs:\n        {input}: string\n    outputs:\n        {output}: string\n    target: \"flow://{name}\"\n"
        )
    };
    let actions = action("find_age", "name", "years") + &action("find_food", "years", "food");
    let checked = read("desk.agent", &desk(variables, before, tools, &actions));
    let (done, text) = converted(&checked, targets::ABL);
    without_errors(&done);
    assert!(text.contains("- IF: dog\n        CALL: find_age"), "{text}");
    assert!(
        text.contains("- WHEN: age\n    TEXT: \"First call `find_food` (years: {{age}}).\""),
        "{text}"
    );
    assert!(text.contains("- REQUIRE age BEFORE calling find_food"), "{text}");
    assert!(text.contains("food = find_food.food\n        fed = true"), "{text}");
    assert!(!text.contains("? find_food.food"), "set without the call: {text}");
    assert!(text.contains("TOOLS_HIDE: [find_age]"), "{text}");
}

const GUARDED_DESK: &str = "AGENT: Desk\n\nGOAL: \"Receives guests\"\n\nTEMPLATES:\n  greeting:\n    DEFAULT: \"Welcome to the kennel\"\n  closed:\n    DEFAULT: \"We are closed\"\n\nINSTRUCTIONS: \"At night RESPOND: TEMPLATE(closed) and nothing else.\"\n\nGUARDRAILS:\n  cruelty:\n    kind: input\n    llm_check: \"Does the guest want to hurt an animal?\"\n    action: block\n    message: \"Please call the police\"\n  rude:\n    kind: output\n    llm_check: \"The answer is rude\"\n    action: reask\n\nON_START:\n  RESPOND: TEMPLATE(greeting)\n";

#[test]
fn guardrails_keep_their_polarity_and_templates_arrive() {
    let checked = read("desk.agent.abl", GUARDED_DESK);
    for target in [targets::AGENT_SCRIPT, targets::ADL] {
        let (_, text) = converted(&checked, target);
        for words in [
            "cruelty: Check what the user writes. Violation: \"Does the guest want to hurt an animal?\" If so, do not go on, and say: \"Please call the police\".",
            "rude: Check your answer. Violation: \"The answer is rude\". If so, write another answer.",
            "At night say: \"We are closed\" and nothing else.",
        ] {
            assert!(text.contains(words), "{}: {words}\n{text}", target.name());
        }
        assert!(!text.contains("TEMPLATE("), "{text}");
    }
    let (done, text) = converted(&checked, targets::AGENT_SCRIPT);
    assert!(text.contains("welcome: \"Welcome to the kennel\""), "{text}");
    for path in ["templates.greeting.default", "templates.closed.default"] {
        let entry = done.report.entries.iter().find(|e| e.path.ends_with(path)).unwrap();
        assert_eq!(entry.preservation, agentir_convert::Preservation::Approximated, "{path}");
    }
}

/// An agent of ABL with a tool, a variable, and an input and an output of this name.
fn named(name: &str) -> String {
    format!(
        "AGENT: Desk\n\nGOAL: \"Receives guests\"\n\nMEMORY:\n  session:\n    - {name}\n        TYPE: string\n\nTOOLS:\n  look_up({name}: string) -> {{{name}: string}}\n    description: \"Looks a guest up\"\n\nFLOW:\n  entry_point: begin\n\n  begin:\n    CALL: look_up({name})\n    RESPOND: \"{{{{look_up.{name}}}}} of {{{{{name}}}}}\"\n    THEN: COMPLETE\n"
    )
}

/// Each row of the table of reserved names: `check` reports it, and no conversion writes it.
#[test]
fn reserved_names_are_reported_and_not_written() {
    let dialect = read("desk.agent", &guarded(GUARD, GUARD)).program.dialect();
    let mut converted_names = 0;
    for name in dialect.reserved_words() {
        // `else:` is read as a statement without an `if`.
        let expected = if *name == "else" { "syntax-error" } else { "reserved-name" };
        let text = desk(&format!("{name}: mutable string = \"\""), "", "", "");
        let file = File { name: "desk.agent".to_owned(), text };
        let checked = check(&[file], Options::default());
        assert!(checked.errors().any(|d| d.rule.0 == expected), "{name}: {:#?}", checked.lines());
        let file = File { name: "desk.agent.abl".to_owned(), text: named(name) };
        let source = check(&[file], Options::default());
        // Some are values or operators in ABL's expressions, too.
        let is_value = name.starts_with(char::is_uppercase);
        if is_value || source.errors().next().is_some() {
            continue;
        }
        converted_names += 1;
        let (done, text) = converted(&source, targets::AGENT_SCRIPT);
        without_errors(&done);
        assert!(!text.contains(&format!("    {name}: mutable")), "{text}");
        let renamed: Vec<&str> =
            done.report.renamed.iter().filter(|r| r.to.contains(name)).map(|r| r.what).collect();
        for what in ["variable", "input", "output"] {
            assert!(renamed.contains(&what), "{name}: {what} {renamed:?}\n{text}");
        }
    }
    assert!(converted_names > 10, "only {converted_names}");
}

/// Each row of the table of assignments that are not compiled.
#[test]
fn assignments_that_are_not_compiled_are_reported_and_not_written() {
    let checked = read("desk.agent", &guarded(GUARD, GUARD));
    let forms = checked.program.dialect().uncompiled_assignments();
    assert_eq!(forms.len(), 3);
    for form in forms {
        let (script, abl) = match form {
            UncompiledForm::List => ("dogs = [\"Rex\"]", "dogs = [\"Rex\"]"),
            UncompiledForm::Object => ("dogs = {\"name\": \"Rex\"}", "dogs = {name: \"Rex\"}"),
            UncompiledForm::PartOfVariable => ("dogs[0] = \"Rex\"", "dogs.first = \"Rex\""),
        };
        let variables = "dogs: mutable list[string] = []";
        let text = desk(variables, &format!("set @variables.{script}"), "", "");
        let checked = check(&[File { name: "desk.agent".to_owned(), text }], Options::default());
        let found = checked.diagnostics.iter().any(|d| d.rule.0 == "uncompiled-assignment");
        assert!(found, "{form:?}: {:#?}", checked.lines());
        let source = read(
            "desk.agent.abl",
            &format!(
                "AGENT: Desk\n\nGOAL: \"Receives guests\"\n\nMEMORY:\n  session:\n    - dogs\n        TYPE: object\n\nFLOW:\n  entry_point: begin\n\n  begin:\n    SET: {abl}\n    RESPOND: \"{{{{dogs}}}}\"\n    THEN: COMPLETE\n"
            ),
        );
        let (done, text) = converted(&source, targets::AGENT_SCRIPT);
        without_errors(&done);
        let files = done.files.iter().map(|f| File { name: f.path.clone(), text: f.text.clone() });
        let output = check(&files.collect::<Vec<_>>(), Options::default());
        let found = output.diagnostics.iter().any(|d| d.rule.0 == "uncompiled-assignment");
        assert!(!found, "{form:?}: {text}");
        let value_arrives = text.contains("Rex");
        assert_eq!(value_arrives, *form != UncompiledForm::PartOfVariable, "{text}");
    }
}

/// References, placeholders, numbers and comments of Agent Script in Agent Script.
#[test]
fn same_language_changes_nothing() {
    let text = "# Who owns this bot.\n# And since when.\nsystem:\n    instructions: \"You help.\"\n    messages:\n        welcome: |\n            Hello from {!@variables.town}\n        error: \"Please say that again.\"\n\nconfig:\n    developer_name: \"Sample\"\n\naccess:\n    default_agent_user: \"desk@example.com\"\n\nknowledge:\n    citations_url: \"https://example.com/c\"\n\nvariables:\n    town: linked string\n        source: @MessagingSession.Town\n        description: \"Where the user is\"\n        visibility: \"External\"\n    source_url: mutable string = @knowledge.citations_url\n    written: mutable string = \"@knowledge.citations_url\"\n    greeting: mutable string = \"\"\n\nmodality voice:\n    voice_id: \"v\"\n    outbound_speed: 1.5\n    outbound_stability: 0.65\n\nstart_agent desk:\n    description: \"Receives guests\"\n    before_reasoning:\n        set @variables.greeting = \"{!@variables.town}: {!@variables.written}\"\n        set @variables.written = \"\" + @variables.town\n    reasoning:\n        instructions: ->\n            | Say {!@variables.greeting} of {!@variables.source_url}.\n";
    let checked = read("desk.agent", text);
    let (done, output) = converted(&checked, targets::AGENT_SCRIPT);
    for line in text.lines() {
        assert!(output.contains(line.trim()), "{line}\n{output}");
    }
    assert!(
        output.contains("---\n# Who owns") || output.contains(".agent\n# Who owns this bot."),
        "{output}"
    );
    let url = |program: &agentir_ir::Program| {
        let agent = program.agents().next().unwrap();
        agent.memory.session.get(1).and_then(|variable| variable.initial_value.clone())
    };
    // What a reference refers to is the value, for whoever runs or converts it.
    assert_eq!(url(&checked.program), Some("https://example.com/c".into()));
    assert_eq!(url(&checked.program), url(&done.program));
    let (_, abl) = converted(&checked, targets::ABL);
    assert!(abl.contains("INITIAL: \"https://example.com/c\""), "{abl}");
}

/// MICA has no `else` inside of a `then`: an argument says whether it is due.
#[test]
fn nothing_else_is_nested_for_mica() {
    let text = "AGENT: Desk\n\nGOAL: \"Receives guests\"\n\nMEMORY:\n  session:\n    - otherwise\n        TYPE: string\n\nTOOLS:\n  look_up(guest: string) -> {age: number}\n    description: \"Looks a guest up\"\n\nFLOW:\n  entry_point: ask\n\n  ask:\n    RESPOND: \"Do you have a booking?\"\n    ON_INPUT:\n      - IF: input == \"yes\"\n        CALL: look_up(otherwise)\n        ON_SUCCESS:\n          RESPOND: \"Welcome back\"\n        ON_FAIL:\n          RESPOND: \"I do not find it\"\n        THEN: done\n      - ELSE:\n        THEN: done\n\n  done:\n    RESPOND: \"Goodbye\"\n    THEN: COMPLETE\n";
    let (done, text) = converted(&read("desk.agent.abl", text), targets::ADL);
    without_errors(&done);
    // The agent has a variable of the first name that comes to mind.
    let nested = "        - set:\n            otherwise_2: True\n        - if: look_up.status != \"error\"\n          then:\n            - set:\n                otherwise_2: False\n            - bot: \"Welcome back\"\n        - if: otherwise_2 == True\n          then:\n            - bot: \"I do not find it\"\n";
    assert!(text.contains(nested), "{text}");
    assert!(text.contains("    - otherwise_2\n"), "not declared: {text}");
    let files = done.files.iter().map(|f| File { name: f.path.clone(), text: f.text.clone() });
    let checked = check(&files.collect::<Vec<_>>(), Options::default());
    assert!(checked.diagnostics.iter().all(|d| d.rule.0 != "mica-nested-else"), "{text}");
}
