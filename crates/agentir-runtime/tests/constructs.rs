//! One construct at a time, as a conversation.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use agentir_runtime::{FailureKind, HumanReply, ToolFailure};
use serde_json::{Value as Json, json};
use support::{Talk, folder, program, says, together};

fn nothing(tool: &str) -> Result<Json, ToolFailure> {
    Err(ToolFailure::new(FailureKind::Refused, format!("no {tool}")))
}

// ---- several agents ---------------------------------------------------------------------------

#[test]
fn several_intents_are_handled_in_sequence() {
    let desk = r#"SUPERVISOR: Front_Desk

GOAL: "Send guests to the right office"

MULTI_INTENT:
  enabled: true
  strategy: parallel
  max_intents: 3

AGENTS:
  rooms: Rooms
  meals: Meals

ROUTING:
  - INTENT(room, bed) -> rooms
  - INTENT(meal, breakfast) -> meals
  - DEFAULT -> rooms
"#;
    let office = |name: &str, words: &str| {
        format!(
            "AGENT: {name}\n\nGOAL: \"Tell\"\n\nFLOW:\n  tell:\n    REASONING: false\n    RESPOND: \"{words}\"\n    THEN: COMPLETE\n"
        )
    };
    let (rooms, meals) = (office("Rooms", "Room 7 is free."), office("Meals", "Breakfast at 8."));
    let program = together(&[
        ("front_desk.agent.abl", desk),
        ("rooms.agent.abl", &rooms),
        ("meals.agent.abl", &meals),
    ]);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.turn(None).say("a room and a meal, please").say("just a meal");
    insta::assert_snapshot!(talk.script);
    // What has to hold before one of them gets control (current specification, 3.8.2) is about that one.
    for name in ["Meals", "meals"] {
        let rule = format!(
            "STATE:\n  verified:\n    type: boolean\n    default: false\n    source: agent\n\nCONSTRAINTS:\n  c:\n    - REQUIRE verified == true BEFORE calling {name}\n      ON_FAIL: \"Guests only.\"\n\nROUTING:"
        );
        let program = together(&[
            ("front_desk.agent.abl", &desk.replace("ROUTING:", &rule)),
            ("rooms.agent.abl", &rooms),
            ("meals.agent.abl", &meals),
        ]);
        let mut talk = Talk::new(&program, |tool, _| nothing(tool));
        talk.turn(None).say("a meal and a room, please").say("just a meal");
        assert!(talk.script.contains("Room 7 is free."), "{}", talk.script);
        assert_eq!(talk.script.matches("Guests only.").count(), 2, "{}", talk.script);
        assert!(!talk.script.contains("Breakfast"), "{}", talk.script);
    }
}

#[test]
fn adl_agents_read_and_set_arguments_of_others() {
    let text = r#"main:
  type: flow agent
  steps:
    - call: triage
    - call: desk
    - bot: "It was ${triage.date}, and ${desk.note}."

triage:
  type: flow agent
  args:
    - date
  steps:
    - set:
        date: "Monday"
    - call: helper
    - bot: "Then ${date}."
    - return: success

helper:
  type: flow agent
  steps:
    - bot: "You said ${triage.date}."
    - set:
        triage.date: "Tuesday"
    - return: success

desk:
  type: flow agent
  args:
    - note
  steps:
    - bot: "Noted for ${triage.date}."
    - set:
        note: triage.date
    - return: success
"#;
    let program = program("agents.yml", text);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.turn(None);
    insta::assert_snapshot!(talk.script);
}

/// A jump with two attempts is taken once (ADL, B.4.6).
#[test]
fn adl_jump_has_a_retry_limit() {
    let text = r#"main:
  type: flow agent
  args:
    - code
  steps:
    - label: ask
    - bot: "The code?"
    - user
    - if: code == None
      then:
        - next: ask
          tries: 2
        - bot: "Then not."
        - return: error, no code
    - bot: "Thank you."
    - return: success
"#;
    let program = program("agents.yml", text);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.turn(None).say("").say("").say("");
    insta::assert_snapshot!(talk.script);
}

#[test]
fn ensemble_fallback_takes_unrouted_messages() {
    let program = folder("adl/valid/ferry", None);
    let mut talk = Talk::new(&program, |tool, _| match tool {
        "get_day" => Ok(json!({ "day": "Monday" })),
        other => nothing(other),
    });
    talk.model.answers.extend([says("I can help with crossings.")]);
    talk.turn(None).say("hm");
    insta::assert_snapshot!(talk.script);
}

// ---- behaviour profiles and channels ----------------------------------------------------------

/// The same agent on two channels: on one of them steps are skipped, inserted and reworded.
fn bins(channel: &str) -> String {
    let program = folder("abl/valid/city_services", Some("Waste_Calendar"));
    let mut talk = Talk::new(&program, |tool, _| match tool {
        "find_pickup_day" => Ok(json!({ "weekday": "Tuesday", "bin_kind": "brown" })),
        other => nothing(other),
    });
    talk.session.set_system("channel", &json!(channel));
    talk.turn(None).say("street=Weidenweg house_number=3").say("no");
    talk.script.clone()
}

#[test]
fn active_profiles_change_a_flow() {
    insta::assert_snapshot!("a_flow_on_the_telephone", bins("voice"));
    insta::assert_snapshot!("a_flow_on_a_touch_screen", bins("web"));
}

#[test]
fn routing_rules_are_filtered_by_channel() {
    let desk = r#"SUPERVISOR: Front_Desk

GOAL: "Send guests to the right office"

AGENTS:
  - REF: "callers.agent.abl"
    ALIAS: callers
  - REF: "writers.agent.abl"
    ALIAS: writers

ROUTING:
  - NAME: who_calls
    PRIORITY: 1
    WHEN: user.intent IS NOT SET
    THEN: ROUTE_TO callers
    CONSTRAINTS:
      channels: [voice]
  - NAME: who_writes
    PRIORITY: 2
    WHEN: user.intent IS NOT SET
    THEN: ROUTE_TO writers
"#;
    let office = |name: &str| {
        format!(
            "AGENT: {name}\n\nGOAL: \"Tell\"\n\nFLOW:\n  tell:\n    REASONING: false\n    RESPOND: \"Here is {name}.\"\n    THEN: COMPLETE\n"
        )
    };
    let (callers, writers) = (office("Callers"), office("Writers"));
    let program = together(&[
        ("front_desk.agent.abl", desk),
        ("callers.agent.abl", &callers),
        ("writers.agent.abl", &writers),
    ]);
    let on = |channel: &str| {
        let mut talk = Talk::new(&program, |tool, _| nothing(tool));
        talk.session.set_system("channel", &json!(channel));
        talk.turn(None).say("a room");
        talk.script.clone()
    };
    assert!(on("voice").contains("Here is Callers."), "{}", on("voice"));
    assert!(on("web").contains("Here is Writers."), "{}", on("web"));
}

// ---- collecting fields ------------------------------------------------------------------------

fn asking(fields: &str, corrections: bool) -> String {
    format!(
        r#"AGENT: Form_Desk

GOAL: "Fill in a form"

FLOW:
  ask:
    REASONING: false
    GATHER:
{fields}
    CORRECTIONS: {corrections}
    THEN: tell

  tell:
    REASONING: false
    RESPOND: "{{{{pet}}}}, {{{{booklet}}}}, {{{{number}}}}, {{{{colour}}}}, {{{{reason}}}}."
    THEN: COMPLETE
"#
    )
}

const FIELDS: &str = r#"      - pet:
          REQUIRED: true
          PROMPT: "Which animal?"
      - colour:
          ACTIVATION: optional
          PROMPT: "Which colour?"
      - booklet:
          TYPE: boolean
          REQUIRED: true
          PROMPT: "Is there a booklet?"
      - number:
          ACTIVATION: progressive
          DEPENDS_ON: [booklet]
          PROMPT: "Its number?"
      - reason:
          ACTIVATION:
            WHEN: "pet == \"dog\""
          PROMPT: "Why the dog?"
"#;

/// `optional` fields are never asked for but accepted, `progressive` ones are asked for once their
/// dependencies are set, `when` fields while their condition holds.
#[test]
fn fields_are_collected_according_to_activation() {
    let text = asking(FIELDS, false);
    let program = program("form_desk.agent.abl", &text);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.turn(None).say("dog").say("yes").say("colour=brown number=12").say("it barks");
    insta::assert_snapshot!(talk.script);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.turn(None).say("cat").say("yes").say("7");
    insta::assert_snapshot!("no_reason_is_asked_of_a_cat", talk.script);
}

#[test]
fn corrections_require_the_step_to_allow_them() {
    let told = |corrections| {
        let text = asking(FIELDS, corrections);
        let program = program("form_desk.agent.abl", &text);
        let mut talk = Talk::new(&program, |tool, _| nothing(tool));
        talk.turn(None).say("cat").say("pet=bird booklet=yes").say("7");
        talk.script.clone()
    };
    assert!(told(true).contains("bird, true, 7"), "{}", told(true));
    assert!(told(false).contains("cat, true, 7"), "{}", told(false));
}

/// The model leads for at most two turns, until `topic` is known.
const CHAT: &str = r#"AGENT: Chat_Desk

GOAL: "Talk a little"

MEMORY:
  session:
    - topic

FLOW:
  talk:
    REASONING: true
    GOAL: "Find a topic"
    EXIT_WHEN: topic IS SET
    MAX_TURNS: 2
    THEN: bye

  bye:
    REASONING: false
    RESPOND: "That was nice."
    THEN: COMPLETE
"#;

#[test]
fn reasoning_zone_ends_after_max_turns() {
    // None of these messages is a yes or a no.
    let text = CHAT.replace("- topic", "- name: topic\n      type: boolean");
    let program = program("chat_desk.agent.abl", &text);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.model.answers.extend(["One.", "Two.", "Three."].map(says));
    talk.turn(None).say("a").say("b").say("c");
    insta::assert_snapshot!(talk.script);
}

#[test]
fn reasoning_zone_ends_when_exit_condition_holds() {
    let program = program("chat_desk.agent.abl", CHAT);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.model.answers.push_back(says("What about?"));
    talk.turn(None).say("trains");
    assert_eq!(talk.session.variable("topic"), Some(json!("trains")));
    insta::assert_snapshot!(talk.script);
}

#[test]
fn variables_set_by_tools_are_not_extracted() {
    let text = CHAT.replace(
        "FLOW:",
        "TOOLS:\n  find() -> {topic: string}\n    ON_RESULT:\n      SET:\n        topic = result.topic\n\nFLOW:",
    );
    let program = program("chat_desk.agent.abl", &text);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.model.answers.extend(["What about?", "What else?"].map(says));
    talk.turn(None).say("trains");
    assert_eq!(talk.session.variable("topic"), None);
}

// ---- guardrails -------------------------------------------------------------------------------

/// The result of a guardrail that detects six digits in the user's or the agent's message.
fn guarded(kind: &str, action: &str, user: &str, answers: &[&str]) -> String {
    let text = format!(
        r#"AGENT: Guarded_Desk

GOAL: "Talk"

GUARDRAILS:
  numbers:
    kind: {kind}
    check: "abl.matches_pattern(content, '[0-9]{{6}}')"
    action: {action}
    msg: "No numbers, please."
"#
    );
    let program = program("guarded_desk.agent.abl", &text);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.model.answers.extend(answers.iter().map(|text| says(text)));
    talk.turn(None).say(user);
    let seen = talk.session.transcript.iter().map(|m| m.text.as_str());
    format!("{}  transcript: {}\n", talk.script, seen.collect::<Vec<_>>().join(" | "))
}

#[test]
fn input_guardrail_actions() {
    let mut all = String::new();
    for action in ["block", "warn", "redact", "filter", "escalate"] {
        all += &format!("--- {action}\n");
        all += &guarded("input", action, "my code is 123456", &["All right."]);
    }
    insta::assert_snapshot!(all);
}

#[test]
fn output_guardrail_actions() {
    let mut all = String::new();
    for action in ["block", "warn", "redact", "filter", "fix", "reask", "escalate"] {
        all += &format!("--- {action}\n");
        all += &guarded("output", action, "my code?", &["It is 123456.", "I may not say it."]);
    }
    insta::assert_snapshot!(all);
}

// ---- people, time -----------------------------------------------------------------------------

/// A person returns control without an outcome: the agent continues.
#[test]
fn agent_continues_after_a_person_returns_control() {
    let text = r#"AGENT: Care_Desk

GOAL: "Care"

ESCALATE:
  triggers:
    - WHEN: input == "help"
      REASON: "Asked for help"
"#;
    let program = program("care_desk.agent.abl", text);
    let after = |outcome: Option<Json>| {
        let mut talk = Talk::new(&program, |tool, _| nothing(tool));
        let outcome = outcome.and_then(|o| o.as_object().cloned());
        talk.people.replies.push_back(HumanReply { messages: Vec::new(), outcome });
        talk.model.answers.extend([says("Here I am again.")]);
        talk.turn(None).say("help").say("and now?");
        talk.script.clone()
    };
    let back = after(Some(json!({ "handed_back": true })));
    assert!(back.contains("Here I am again."), "{back}");
    let kept = after(Some(json!({ "transferred": true })));
    assert!(!kept.contains("Here I am again."), "{kept}");
    assert!(!after(None).contains("Here I am again."));
}

#[test]
fn session_times_out() {
    let text = "AGENT: Slow_Desk\n\nGOAL: \"Wait\"\n\nEXECUTION:\n  timeouts:\n    session_timeout_ms: 60000\n";
    let program = program("slow_desk.agent.abl", text);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.model.answers.extend(["One.", "Two."].map(says));
    talk.turn(None).say("a");
    talk.now += 59_000;
    talk.say("b");
    assert!(talk.script.contains("Two."), "{}", talk.script);
    talk.now += 61_000;
    talk.say("c");
    assert!(talk.script.ends_with("(`session_timeout_ms`)\n"), "{}", talk.script);
    assert!(talk.script.contains("session_timeout: the user was idle for 61 seconds"));
}

#[test]
fn memory_entries_expire() {
    let text = r#"AGENT: Note_Desk

GOAL: "Remember"

MEMORY:
  session:
    - wish
  persistent:
    - PATH: user.wish
      SCOPE: user
      ACCESS: readwrite
  remember:
    - WHEN: wish IS SET
      STORE: wish -> user.wish
      TTL: 2d

FLOW:
  ask:
    REASONING: false
    RESPOND: "You wish: {{user.wish}}."
    ON_INPUT:
      - IF: input == "again"
        THEN: ask
      - ELSE:
        SET: wish = input
        THEN: ask
"#;
    let program = program("note_desk.agent.abl", text);
    let mut talk = Talk::new(&program, |tool, _| nothing(tool));
    talk.turn(None).say("peace");
    let day = 86_400_000;
    assert_eq!(
        talk.session.memory_expiry("user.wish"),
        Some(talk.now + 2 * day),
        "{}",
        talk.script
    );
    // Another conversation of the same user, before and after the expiry.
    let told = |later: i64| {
        let mut next = Talk::new(&program, |tool, _| nothing(tool));
        next.session.set_memory_until("user.wish", &json!("peace"), next.now + 2 * day);
        next.now += later;
        next.turn(None);
        next.script.clone()
    };
    assert!(told(day).contains("You wish: peace."), "{}", told(day));
    assert!(told(3 * day).contains("You wish: ."), "{}", told(3 * day));
}
