//! A mistake is one finding: what is missing because it is misspelled is said where it is misspelled.

use agentir_tests::check::{File, check};

/// The findings of a file as `line: rule severity`.
fn found(name: &str, text: &str) -> Vec<String> {
    let file = File { name: name.to_owned(), text: text.to_owned() };
    let checked = check(&[file], agentir_lang_abl::Options::default());
    let line = |offset: u32| text[..offset as usize].matches('\n').count() + 1;
    let mut all: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|d| format!("{}: {} {}", line(d.primary.span.start), d.rule.0, d.severity.name()))
        .collect();
    all.sort();
    all
}

const DESK: &str = "AGENT: Desk\nGOAL: \"Help\"\nPERSONA: \"Kind\"\n";

#[test]
fn a_misspelled_required_key_is_one_error() {
    let profile = "BEHAVIOR_PROFILE: calm\nPRIORTY: 10\nWHEN: channel == \"voice\"\n";
    let cases: &[(&str, String, &[&str])] = &[
        ("desk.agent.abl", DESK.replace("GOAL", "GAOL"), &["2: unknown-section error"]),
        ("desk.agent.abl", format!("{DESK}HANDOFF:\n  - OT: Other\n    WHEN: user.x == true\n"), &[
            "5: unknown-field error",
        ]),
        ("calm.behavior_profile.abl", profile.to_owned(), &["2: unknown-section error"]),
        (
            "bot.yml",
            "main:\n  type: flow agent\n  steps:\n    - call: helper\nhelper:\n  tpye: llm agent\n  promt: \"You help\"\n"
                .to_owned(),
            &["6: unknown-field error", "7: unknown-field error"],
        ),
        (
            "desk.agent",
            "config:\n  developr_name: \"Desk\"\nstart_agnt main:\n  description: \"x\"\n".to_owned(),
            &["2: unknown-field error", "3: unknown-section error"],
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(found(name, text), *expected, "{text}");
    }
}

/// What a misspelled word means is there, and what is said twice is not reported to be without effect as well.
#[test]
fn one_mistake_in_a_source_is_one_finding() {
    let desk = format!(
        "{DESK}FLOW:\n  a:\n    REASONING: false\n    RESPOND: \"x\"\n    THEN: b\n    THEN: a\n  b:\n    REASONING: false\n    RESPOND: \"y\"\n    THEN: COMPLETE\n"
    );
    assert_eq!(found("desk.agent.abl", &desk), ["9: duplicate-field warning"]);
    let bot = "main:\n  type: flow agent\n  steps:\n    - set:\n        a: True\n    - if: a\n      thn:\n        - bot: \"x\"\n  args:\n    - a\n";
    let errors = |name: &str, text: &str| -> Vec<String> {
        found(name, text).into_iter().filter(|one| one.ends_with("error")).collect()
    };
    assert_eq!(errors("agents.yml", bot), ["7: unknown-field error"]);
    let ensemble = "main:\n  type: ensemble agent\n  description: d\n  contains:\n    - talk\n  falback: default\ntalk:\n  type: llm agent\n  description: d\n  prompt: p\n";
    let of_ensemble = found("agents.yml", ensemble);
    assert!(of_ensemble.contains(&"6: unknown-field error".to_owned()), "{of_ensemble:?}");
    assert!(!of_ensemble.iter().any(|one| one.contains("mica-policy")), "{of_ensemble:?}");
    let script = "config:\n    developer_name: \"Desk\"\nsystem:\n    instructions: \"You help.\"\nvariables:\n    size: mutabel number = 1\n        description: \"d\"\nstart_agent main:\n    description: \"x\"\n    reasoning:\n        instructions: ->\n            | The size is {!@variables.size}.\n    after_reasoning:\n        set @variables.size = 2\n";
    let script_found = found("desk.agent", script);
    assert!(script_found.contains(&"6: invalid-value error".to_owned()), "{script_found:?}");
    assert!(
        !script_found.iter().any(|one| one.contains("linked-variable-set")),
        "{script_found:?}"
    );
}

#[test]
fn a_misspelled_argument_is_not_missing_as_well() {
    let abl = format!(
        "{DESK}TOOLS:\n  find(id: string) -> {{ok: boolean}}\n    description: \"finds\"\nFLOW:\n  start:\n    REASONING: false\n    CALL: find(idd: \"7\")\n    THEN: COMPLETE\n"
    );
    assert_eq!(found("desk.agent.abl", &abl), ["10: unknown-argument error"]);
    let one_missing = abl.replace("id: string", "id: string, day: string");
    assert_eq!(
        found("desk.agent.abl", &one_missing),
        ["10: missing-argument error", "10: unknown-argument error"]
    );
}

#[test]
fn a_misspelled_key_of_an_instruction_is_no_text() {
    let with = |rest: &str| format!("{DESK}INSTRUCTIONS:\n{rest}");
    let key = "  - WHNE: user.vip == true\n    TEXT: \"Greet by name\"\n";
    assert_eq!(found("desk.agent.abl", &with(key)), ["5: unknown-field error"]);
    // A text may have a colon.
    let text = "  - Note: be short\n    WHEN: user.vip == true\n";
    assert_eq!(found("desk.agent.abl", &with(text)), [""; 0]);
}

#[test]
fn misspelled_keys_of_profiles_are_reported() {
    let inside = format!(
        "{DESK}BEHAVIOR_PROFILE: calm\n  PRIORITY: 10\n  WHEN: channel == \"voice\"\n  INSTRUCTION: \"Be calm\"\n  VOICE:\n    voice_idd: aria\n"
    );
    assert_eq!(
        found("desk.agent.abl", &inside),
        ["7: unknown-field error", "9: unknown-field error"]
    );
    let list = format!(
        "{DESK}BEHAVIOR_PROFILE:\n  calm:\n    PRIORTY: 10\n    WHEN: channel == \"voice\"\n"
    );
    assert_eq!(found("desk.agent.abl", &list), ["6: unknown-field error"]);
}

#[test]
fn names_that_a_type_or_a_signature_has_twice_are_errors() {
    let tool =
        |signature: &str| format!("{DESK}TOOLS:\n  {signature}\n    description: \"finds\"\n");
    for signature in [
        "find(id: string, id: number) -> object",
        "find(id: string) -> {ok: boolean, ok: string}",
        "find(id: {a: string, a: number}) -> object",
        "find(id: string) -> {all: {a: string, a: number}[]}",
    ] {
        assert_eq!(found("desk.agent.abl", &tool(signature)), ["5: duplicate-field error"]);
    }
}

#[test]
fn a_document_with_several_main_sections_is_an_agent_without_its_header() {
    let sections = "LIMITATIONS:\n  - \"No refunds\"\nGATHER:\n  boat:\n    prompt: \"Which boat?\"\n    type: string\n";
    assert_eq!(found("desk.agent.abl", sections), ["1: missing-section error"]);
    let identity = format!("IDENTITY:\n  ROLE: \"Rents boats\"\n{sections}");
    assert_eq!(found("desk.agent.abl", &identity), ["1: missing-section error"]);
}

/// A field of a subagent at the wrong margin makes no document of another dialect.
#[test]
fn one_wrong_indent_does_not_change_the_dialect() {
    let text = "config:\n  developer_name: \"Desk\"\nstart_agent main:\n  description: \"x\"\nactions:\n  find:\n    description: \"f\"\n";
    assert_eq!(found("desk.agent", text), ["5: unknown-section error"]);
    let fabric = "config:\n  agent_name: \"desk\"\ntrigger t:\n  kind: \"a2a\"\n";
    assert!(!found("desk.agent", fabric).iter().any(|one| one.contains("unknown-section")));
}

#[test]
fn a_handler_of_a_return_that_does_not_exist_is_reported() {
    let desk = format!(
        "{DESK}HANDOFF:\n  - TO: Other\n    WHEN: user.x == true\n    RETURN: true\n    ON_RETURN:\n      HANDLER: gone\n"
    );
    let found = found("desk.agent.abl", &desk);
    assert!(found.contains(&"9: undefined-return-handler error".to_owned()), "{found:?}");
}
