//! Checks that are not written as the specification has them: what is meant holds, and what nobody can read refuses. Each
//! form is reported.

use super::payment::Payment;
use super::run_talk;

/// An agent that pays as soon as somebody says something, with a rule and the declaration of the tool.
fn desk(tool: &str, rule: &str) -> String {
    Payment {
        tool,
        tools: "  refund(amount: number) -> {ok: boolean}\n    description: \"Refund\"\n    confirm: never\n",
        sections: &format!("MEMORY:\n  session:\n    - verified\n        INITIAL: false\n{rule}"),
        inputs: "      - IF: input == \"verify\"\n        SET: verified = true\n        THEN: a\n",
        paid: "      THEN: a\n",
        ..Payment::default()
    }
    .to_string()
}

const NEVER: &str = "    confirm: never\n";

/// The rules that report something in an agent, and what is wrong in a conversation with it.
fn outcome(agent: &str, turns: &str) -> (Vec<String>, Vec<String>) {
    outcome_with(agent, "", turns)
}

fn outcome_with(agent: &str, answers: &str, turns: &str) -> (Vec<String>, Vec<String>) {
    let tools = "{ pay: [{ answer: { ok: true } }], refund: [{ answer: { ok: true } }] }";
    let scenario = format!("tools: {tools}\n{answers}tests:\n  - name: t\n    turns:\n{turns}");
    let talk = run_talk(&[("desk.agent.abl", agent)], &scenario);
    let findings = talk.checked.diagnostics.iter();
    let reported = findings.map(|finding| finding.rule.0.to_owned()).collect();
    let failures = talk.outcomes.into_iter().filter(|outcome| !outcome.failures.is_empty());
    (reported, failures.map(|outcome| outcome.transcript).collect())
}

fn rule(line: &str) -> String {
    format!("CONSTRAINTS:\n  r:\n    - {line}\n      ON_FAIL: \"Verify first.\"\n")
}

/// Refused before the user is verified, paid afterwards.
const GUARDED: &str = r#"      - says: ["Hi."]
      - { user: go, calls: [], says: ["Verify first."] }
"#;
const OPENED: &str = r#"      - says: ["Hi."]
      - { user: verify, calls: [], says: ["Hi."] }
      - { user: go, calls: [pay], says: ["Paid.", "Hi."] }
"#;
/// Nothing is done at all.
const BLOCKED: &str = r#"      - says: ["Sorry, I cannot do that right now."]
      - { user: go, calls: [], says: ["Sorry, I cannot do that right now."] }
"#;
/// Refused from the first message on.
const ALWAYS: &str = r#"      - says: ["Verify first."]
      - { user: go, calls: [], says: ["Verify first."] }
"#;

/// Cur. 3.8.2: a condition in quotes is the condition, as for `HANDOFF`, `ESCALATE`, `COMPLETE` and `CHECK`.
#[test]
fn quotes_around_a_condition_are_no_text() {
    for line in [
        "REQUIRE \"verified == true\" BEFORE calling pay",
        "REQUIRE 'verified == true' BEFORE calling pay",
        "REQUIRE (\"verified == true\") BEFORE calling pay",
        "REQUIRE \"verified == true BEFORE calling pay\"",
        "LIMIT \"verified == true\" BEFORE calling pay",
        "RESTRICT \"verified == false\" BEFORE calling pay",
        "REQUIRE \"verified\" BEFORE calling pay",
    ] {
        for turns in [GUARDED, OPENED] {
            let (_, wrong) = outcome(&desk(NEVER, &rule(line)), turns);
            assert!(wrong.is_empty(), "{line}\n{}", wrong.join("\n"));
        }
    }
}

/// Words are for the model, with and without quotes; a text that is a part of a condition refuses.
#[test]
fn a_text_is_never_a_condition_that_holds() {
    for line in [
        "REQUIRE \"the user has accepted the fee\" BEFORE calling pay",
        "REQUIRE the user has accepted the fee BEFORE calling pay",
    ] {
        for (holds, turns) in [
            (false, GUARDED),
            (
                true,
                "      - says: [\"Hi.\"]\n      - { user: go, calls: [pay], says: [\"Paid.\", \"Hi.\"] }\n",
            ),
        ] {
            let answers =
                format!("answers: [{{ statement: accepted, holds: {holds}, times: always }}]\n");
            let (reported, wrong) = outcome_with(&desk(NEVER, &rule(line)), &answers, turns);
            assert!(wrong.is_empty(), "{line}\n{}", wrong.join("\n"));
            assert!(reported.iter().any(|rule| rule == "natural-language-condition"), "{line}");
        }
    }
    let refused = "      - says: [\"Hi.\"]\n      - { user: go, calls: [], says: [\"Sorry, I cannot do that right now.\"] }\n";
    for line in [
        "REQUIRE verified == false AND \"verified == true\" BEFORE calling pay",
        "REQUIRE verified == true OR \"it is fine\" BEFORE calling pay",
        "RESTRICT NOT \"it is fine\" BEFORE calling pay",
    ] {
        let (reported, wrong) = outcome(&desk(NEVER, &rule(line)), refused);
        assert!(wrong.is_empty(), "{line}\n{}", wrong.join("\n"));
        assert!(reported.iter().any(|rule| rule == "broken-guard"), "{line}: {reported:?}");
    }
}

/// Cur. 3.8.2: other words after `BEFORE` "compile with a warning". A slip opens nothing here.
#[test]
fn words_that_mean_a_point_are_read_as_that() {
    for words in [
        "BEFORE caling pay",
        "BEFORE pay",
        "before pay",
        "BEFORE calling: pay",
        "BEFORE calling tool pay",
        "BEFORE calling the pay tool",
        "BEFORE calling PAY()",
        "BEFORE calling \"pay\"",
        "BEFORE calling pay, refund",
        "BEFORE calling refund OR pay",
        "BEFORE CALL pay",
    ] {
        for turns in [GUARDED, OPENED] {
            let line = format!("REQUIRE verified == true {words}");
            let (reported, wrong) = outcome(&desk(NEVER, &rule(&line)), turns);
            assert!(wrong.is_empty(), "{words}\n{}", wrong.join("\n"));
            assert!(reported.iter().any(|rule| rule == "unknown-checkpoint"), "{words}");
        }
    }
    let (reported, wrong) =
        outcome(&desk(NEVER, &rule("REQUIRE verified == true BEFORE calling pay")), GUARDED);
    assert!(wrong.is_empty() && !reported.iter().any(|rule| rule == "unknown-checkpoint"));
}

/// Cur. 3.8.2: a constraint has one `BEFORE`. Of several, whatever stands between them, each names a point.
#[test]
fn each_of_several_points_is_guarded() {
    for words in [
        "BEFORE calling pay, BEFORE returning results",
        "BEFORE calling pay, BEFORE calling refund",
        "BEFORE calling pay; BEFORE calling refund",
        "BEFORE calling pay;BEFORE calling refund",
        "BEFORE calling pay / BEFORE returning results",
        "BEFORE calling pay - BEFORE calling refund",
        "(BEFORE calling pay) BEFORE calling refund",
        "[BEFORE calling pay] [BEFORE calling refund]",
        "BEFORE calling pay IF amount > 3 BEFORE calling refund",
        "OR BEFORE calling pay BEFORE returning results",
        "BEFORE calling pay AND BEFORE calling refund",
        "BEFORE calling pay or BEFORE calling refund",
        "BEFORE calling pay BEFORE calling refund",
        "BEFORE calling refund, BEFORE calling pay",
        "before calling pay, BEFORE calling refund",
        "before pay, BEFORE calling refund",
        "BEFORE calling pay, before calling refund",
        "BEFORE calling pay UNLESS x BEFORE calling refund THEN BEFORE returning results",
    ] {
        for rule in
            ["REQUIRE verified == true", "REQUIRE (verified == true)", "RESTRICT verified != true"]
        {
            let line = format!("{rule} {words}");
            let talk = run_talk(
                &[("desk.agent.abl", &desk(NEVER, &self::rule(&line)))],
                "tools: { pay: [{ answer: { ok: true } }], refund: [{ answer: { ok: true } }] }\ntests:\n  - name: t\n    turns:\n      - {}\n      - { user: go, calls: [] }\n",
            );
            let wrong: Vec<&str> = talk
                .outcomes
                .iter()
                .filter(|one| !one.failures.is_empty())
                .map(|one| one.transcript.as_str())
                .collect();
            assert!(wrong.is_empty(), "{line}\n{}", wrong.join("\n"));
            assert!(talk.checked.errors().count() > 0, "{line}\n{:#?}", talk.checked.lines());
        }
    }
    // A list opens when the condition holds.
    for words in [
        "BEFORE calling pay, BEFORE calling refund",
        "BEFORE calling refund AND BEFORE calling pay",
    ] {
        for turns in [GUARDED, OPENED] {
            let line = format!("REQUIRE verified == true {words}");
            let (reported, wrong) = outcome(&desk(NEVER, &rule(&line)), turns);
            assert!(wrong.is_empty(), "{words}\n{}", wrong.join("\n"));
            assert!(reported.iter().any(|rule| rule == "unknown-checkpoint"), "{words}");
        }
    }
    // Words in a text, and in a sentence for the model, name no point.
    for line in [
        "REQUIRE verified == true OR note == \"BEFORE calling refund\" BEFORE calling pay",
        "REQUIRE the fee was accepted before the trip BEFORE calling pay",
    ] {
        let (reported, wrong) = outcome_with(
            &desk(NEVER, &rule(line)),
            "answers: [{ statement: accepted, holds: false, times: always }]\n",
            GUARDED,
        );
        assert!(wrong.is_empty(), "{line}\n{}", wrong.join("\n"));
        assert!(!reported.iter().any(|rule| rule == "unknown-checkpoint"), "{line}");
    }
}

/// A guardrail that asks the model nothing refuses.
#[test]
fn a_guardrail_without_a_question_blocks() {
    for question in ["\"\"", "\"  \"", "\"{{nothing}}\""] {
        let rail = format!(
            "GUARDRAILS:\n  g:\n    kind: tool_input\n    llm_check: {question}\n    action: block\n    msg: \"No.\"\n"
        );
        let (reported, wrong) =
            outcome(&desk(NEVER, &rail), "      - {}\n      - { user: go, calls: [] }\n");
        assert!(wrong.is_empty(), "{question}\n{}", wrong.join("\n"));
        if !question.contains("nothing") {
            assert!(reported.iter().any(|rule| rule == "broken-guard"), "{question} {reported:?}");
        }
    }
}

/// With any other words the constraint holds in every turn and before every call.
#[test]
fn words_that_mean_no_point_hold_always() {
    for words in
        ["BEFORE payment", "BEFORE calling pay, reffund", "BEFORE anything", "BEFORE calling"]
    {
        let line = format!("REQUIRE verified == true {words}");
        let (reported, wrong) = outcome(&desk(NEVER, &rule(&line)), ALWAYS);
        assert!(wrong.is_empty(), "{words}\n{}", wrong.join("\n"));
        assert!(reported.iter().any(|rule| rule == "unknown-checkpoint"), "{words}");
    }
    // What is not known yet may be asked for, but nothing is called without it.
    let late = desk(NEVER, &rule("REQUIRE code == \"x\" BEFORE payment")).replace(
        "MEMORY:",
        "GATHER:\n  code:\n    prompt: \"Code?\"\n    type: string\n    required: false\nMEMORY:",
    );
    let (_, wrong) = outcome(
        &late,
        "      - says: [\"Hi.\"]\n      - { user: go, calls: [], says: [\"Verify first.\"] }\n",
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A tool that nobody declares may be the one that is called.
    let misspelled = desk(NEVER, &rule("REQUIRE verified == true BEFORE calling payy"));
    let (reported, wrong) = outcome(&misspelled, GUARDED);
    assert!(reported.iter().any(|rule| rule == "undefined-tool"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let (_, wrong) = outcome(&misspelled, OPENED);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A tool of a library is declared.
    let used = desk(NEVER, &rule("REQUIRE verified == true BEFORE calling others"))
        .replace("TOOLS:\n", "TOOLS:\n  use: [others]\n");
    let (_, wrong) = outcome(
        &used,
        "      - says: [\"Hi.\"]\n      - { user: go, calls: [pay], says: [\"Paid.\", \"Hi.\"] }\n",
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `THEN: continue` goes on without what is refused, whatever the words after `BEFORE` are.
#[test]
fn what_continues_opens_nothing() {
    for words in ["BEFORE calling pay", "BEFORE payment", "BEFORE calling payy"] {
        let rule = format!(
            "CONSTRAINTS:\n  r:\n    - REQUIRE verified == true {words}\n      ON_FAIL:\n        RESPOND: \"No.\"\n        THEN: continue\n"
        );
        let (_, wrong) = outcome(
            &desk(NEVER, &rule),
            "      - {}\n      - { user: go, calls: [] }\n      - { user: go, calls: [] }\n",
        );
        assert!(wrong.is_empty(), "{words}\n{}", wrong.join("\n"));
    }
}

/// A rule that cannot be read never holds.
#[test]
fn a_rule_that_cannot_be_read_blocks() {
    for line in [
        "RQUIRE verified == true BEFORE calling pay",
        "verified == true BEFORE calling pay",
        "\"REQUIRE verified == true BEFORE calling pay\"",
        "REQUIRE",
        "REQUIRE verified == BEFORE payment",
    ] {
        let (reported, wrong) = outcome(&desk(NEVER, &rule(line)), BLOCKED);
        assert!(wrong.is_empty(), "{line}\n{}", wrong.join("\n"));
        let errors = ["syntax-error", "invalid-value", "invalid-expression"];
        assert!(reported.iter().any(|rule| errors.contains(&rule.as_str())), "{reported:?}");
    }
}

/// Cur. 3.5: a confirmation that cannot be read is asked for.
#[test]
fn a_confirmation_that_cannot_be_read_is_asked_for() {
    let asked = r#"      - says: ["Hi."]
      - { user: go, calls: [], says: ["Shall I do this? Pay (amount: 1)."] }
"#;
    for (written, asks) in [
        ("confirm: true", true),
        ("confirm: alway", true),
        ("confirm: \"{{mode}}\"", true),
        ("confirmation: always", true),
        ("require_user_confirmation: True", true),
        ("confirm: always", true),
        ("confirm: never", false),
    ] {
        let agent = desk(&format!("    {written}\n"), "");
        let turns = if asks { asked } else { OPENED };
        let (reported, wrong) = outcome(&agent, turns);
        assert!(wrong.is_empty(), "{written}\n{}", wrong.join("\n"));
        if asks && written != "confirm: always" {
            let known = ["invalid-value", "broken-guard", "unknown-field"];
            assert!(
                reported.iter().any(|r| known.contains(&r.as_str())),
                "{written}: {reported:?}"
            );
        }
    }
}

/// The newest ABL, `parameters`: a value with another `source`, or a hidden one, is that of the declaration, whatever the
/// model says, and is there whatever it does not say.
#[test]
fn reserved_parameters_have_the_declared_value() {
    let agent = |about: &str| {
        format!(
            "AGENT: Desk\nGOAL: \"Pay\"\nTOOLS:\n  pay(amount: number, account: string) -> {{ok: boolean}}\n    description: \"Pay\"\n    parameters:\n      account:\n{about}MEMORY:\n  session:\n    - owner\n        INITIAL: \"OWN\"\nCOMPLETE:\n  - WHEN: done == true\n"
        )
    };
    for (about, account) in [
        ("        source: system\n        value: \"MINE\"\n", Some("MINE")),
        ("        source: expr\n        value: \"owner\"\n", Some("OWN")),
        ("        source: config\n        value: \"{{session.owner}}\"\n", Some("OWN")),
        ("        hidden: true\n        value: \"MINE\"\n", Some("MINE")),
        ("        hidden: true\n        default: \"MINE\"\n", Some("MINE")),
        ("        source: system\n        key: channel\n", Some("web")),
        // What cannot be told.
        ("        source: auth\n", None),
        ("        source: lookup\n        table: t\n", None),
        ("        source: expr\n        value: \"1 / 0\"\n", None),
        ("        hidden: true\n", None),
        ("        source: nobody\n        value: \"MINE\"\n", None),
    ] {
        for given in ["{ amount: 1, account: EVIL }", "{ amount: 1 }"] {
            let calls = match account {
                Some(account) => format!("[{{ pay: {{ amount: 1, account: {account} }} }}]"),
                None => "[]".to_owned(),
            };
            let answers = format!(
                "answers:\n  - calls: [{{ name: pay, arguments: {given} }}]\n  - {{ say: ok, times: always }}\n"
            );
            let turns = format!("      - {{ user: pay, calls: {calls} }}\n");
            let (_, wrong) = outcome_with(&agent(about), &answers, &turns);
            assert!(wrong.is_empty(), "{about}{given}\n{}", wrong.join("\n"));
        }
    }
}

/// A rule behind the name of its group is a rule, which cannot be read.
#[test]
fn a_rule_behind_a_name_blocks() {
    let rule = "CONSTRAINTS:\n  c: REQUIRE verified == true BEFORE calling pay\n";
    let (reported, wrong) = outcome(&desk(NEVER, rule), BLOCKED);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(reported.iter().any(|rule| rule == "invalid-value"), "{reported:?}");
}

/// A guardrail whose kind or check is misspelled guards.
#[test]
fn a_misspelled_guardrail_blocks() {
    for (kind, check) in [
        ("kind: tool_input", "check"),
        ("kind: tool_inptu", "check"),
        ("kind: tool-input", "check"),
        ("kind: whenever", "check"),
        ("kind: tool_input", "chekc"),
    ] {
        let rail = format!(
            "GUARDRAILS:\n  g:\n    {kind}\n    {check}: \"abl.matches_pattern(tool_input, 'amount')\"\n    action: block\n    msg: \"No.\"\n"
        );
        let (reported, wrong) =
            outcome(&desk(NEVER, &rail), "      - {}\n      - { user: go, calls: [] }\n");
        assert!(wrong.is_empty(), "{kind} {check}\n{}", wrong.join("\n"));
        let is_right = (kind, check) == ("kind: tool_input", "check");
        let is_silent = reported.iter().all(|rule| rule == "unused-tool");
        assert_eq!(is_silent, is_right, "{kind} {check} {reported:?}");
    }
}

/// A misspelled `confirm` asks.
#[test]
fn a_misspelled_confirmation_asks() {
    let (reported, wrong) = outcome(
        &desk("    confrim: always\n", ""),
        "      - {}\n      - { user: go, calls: [], says: [{ contains: \"Shall I do this?\" }] }\n",
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(reported.iter().any(|rule| rule == "unknown-field"), "{reported:?}");
}
