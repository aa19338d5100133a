//! ADL.

use super::talk;

fn talk_adl(bot: &str, scenario: &str) {
    talk(&[("agents.yml", bot)], scenario);
}

/// Paper B.4: assignments, subflows, nested `else`, patterns, functions and their values, `return`.
#[test]
fn flows_do_what_they_say() {
    talk_adl(
        r#"main:
  type: flow agent
  args: [code, again]
  steps:
    - set:
        again: "never"
    - bot: "The code?"
    - user
    - if: re.match("^[0-9]+$", code)
      then:
        - next: good
      else:
        - if: code == "skip"
          then:
            - bot: "Skipped."
          else:
            - bot: "Not ${code}, ${again}."
    - return: error, no code
  good:
    - bot: "Code ${code}."
    - return: success
"#,
        r#"
answers:
  - { ask: extract, message: "^12$", values: { code: "12" } }
  - { ask: extract, message: skip, values: { code: skip } }
  - { ask: extract, message: ab, values: { code: ab } }
tests:
  - name: digits
    turns:
      - says: ["The code?"]
      - user: "12"
        says: ["Code 12."]
        status: done
  - name: nested
    turns:
      - user: skip
        says: ["Skipped."]
  - name: else
    turns:
      - user: ab
        says: ["Not ab, never."]
"#,
    );
}

/// Paper B.4.6: "given three attempts": `tries` counts them, the first included. MICA counts jumps; see
/// the table of decisions in `docs/semantics.md`.
#[test]
fn tries_count_attempts() {
    let bot = |tries: u8| {
        format!(
            r#"main:
  type: flow agent
  args: [code]
  steps:
    - label: ask
    - bot: "The code?"
    - user
    - if: code == "4711"
      then:
        - return: success, open
    - next: ask
      tries: {tries}
    - bot: "Too often."
    - return: error, locked
"#
        )
    };
    talk_adl(
        &bot(3),
        r#"
answers: [{ ask: extract, values: { code: "1" }, times: always }]
tests:
  - name: three
    turns:
      - says: ["The code?"]
      - user: "1"
        says: ["The code?"]
      - user: "1"
        says: ["The code?"]
      - user: "1"
        says: ["Too often."]
"#,
    );
    talk_adl(
        &bot(1),
        r#"
answers: [{ ask: extract, values: { code: "1" }, times: always }]
tests:
  - name: one
    turns:
      - user: "1"
        says: ["Too often."]
"#,
    );
}

/// The same bot, read as one for MICA.
#[test]
fn tries_count_jumps_for_mica() {
    use agentir::languages;
    let bot = r#"main:
  type: flow agent
  args: [code]
  steps:
    - label: ask
    - bot: "The code?"
    - user
    - next: ask
      tries: 2
    - bot: "Too often."
    - return: error, locked
"#;
    let options = agentir::ReadOptions { variant: Some("mica"), ..Default::default() };
    let mut loaded = agentir_project::read_program(languages(), [("agents.yml", bot)], options);
    let program = loaded.programs.remove(0).program;
    let machine = agentir_runtime::Machine::new(&program);
    let scenario = agentir_scenario::Scenario::read(
        r#"
answers: [{ ask: extract, values: {}, times: always }]
tests:
  - name: three passes
    turns:
      - user: "1"
        says: ["The code?"]
      - user: "1"
        says: ["The code?"]
      - user: "1"
        says: ["Too often."]
"#,
    );
    let outcomes = agentir_scenario::run(&machine, &scenario.unwrap()).unwrap();
    assert!(outcomes.iter().all(|one| one.failures.is_empty()), "{outcomes:#?}");
}

/// Paper B.3: an argument bound by `ref` is changed in the caller, one by value is not.
#[test]
fn references_are_written_back() {
    let bot = |value: &str| {
        format!(
            r#"main:
  type: flow agent
  steps:
    - call: meta
meta:
  type: ensemble agent
  description: "Routes"
  args: [day]
  contains:
    - plan:
        args:
          when: {value}
    - other
plan:
  type: flow agent
  description: "Plans a day"
  args: [when]
  steps:
    - bot: "Which day?"
    - user
    - set:
        when: "Monday"
    - bot: "Planned."
    - return: success
other:
  type: llm agent
  description: "Tells the time"
  prompt: "Tell the time."
"#
        )
    };
    let scenario = |day: &str| {
        format!(
            r#"
answers:
  - {{ choose: [plan], message: plan }}
  - {{ ask: extract, values: {{}}, times: always }}
tests:
  - name: one
    turns:
      - user: plan it
        says: ["Which day?"]
      - user: hm
        says: ["Planned."]
        state: {{ day: {day} }}
"#
        )
    };
    talk_adl(&bot("ref day"), &scenario("Monday"));
    talk_adl(&bot("day"), &scenario("{ any: false }"));
}

/// Paper B.5: an ensemble executes its steps and then runs its agents; the first message, for which
/// `user` waits, is routed, also after a greeting. A second `user` waits for another message.
#[test]
fn the_first_message_of_an_ensemble_is_routed() {
    let bot = |steps: &str| {
        format!(
            r#"main:
  type: flow agent
  steps:
    - call: meta
meta:
  type: ensemble agent
  description: "Routes"
  contains: [order, hours]
  fallback: "I take orders and tell the hours."
  steps:
{steps}
order:
  type: flow agent
  description: "Takes pizza orders"
  args: [size]
  steps:
    - bot: "Which size?"
    - user
    - return: success
hours:
  type: flow agent
  description: "Tells opening hours"
  steps:
    - bot: "From nine."
    - return: success
"#
        )
    };
    let scenario = |greeting: &str| {
        format!(
            r#"
answers:
  - {{ choose: [order], message: pizza }}
tests:
  - name: at once
    turns:
      - says: [{greeting}]
      - user: I want to order a pizza
        says: ["Which size?"]
        agent: order
"#
        )
    };
    talk_adl(&bot("    - user"), &scenario(""));
    talk_adl(&bot("    - bot: \"Hi!\"\n    - user"), &scenario("\"Hi!\""));
    talk_adl(
        &bot("    - user\n    - bot: \"And?\"\n    - user"),
        r#"
answers:
  - { choose: [order], message: pizza }
tests:
  - name: the second
    turns:
      - user: hello
        says: ["And?"]
      - user: I want to order a pizza
        says: ["Which size?"]
"#,
    );
    talk_adl(
        &bot("    - user"),
        r#"
model: offline
tests:
  - name: offline
    turns:
      - user: I want to order a pizza
        says: ["Which size?"]
"#,
    );
}

/// Paper 3.3 and B.1: the text of `fallback` is said if no agent fits, also without a language model; an
/// instruction is for the model.
#[test]
fn the_text_of_fallback_is_said() {
    let bot = |fallback: &str| {
        format!(
            r#"main:
  type: flow agent
  steps:
    - call: meta
meta:
  type: ensemble agent
  description: "Routes"
  contains: [order, hours]
  fallback: "{fallback}"
order:
  type: flow agent
  description: "Takes pizza orders"
  steps:
    - bot: "Which size?"
    - user
    - return: success
hours:
  type: flow agent
  description: "Tells opening hours"
  steps:
    - bot: "From nine."
    - return: success
"#
        )
    };
    let text = "I take orders and tell the hours.";
    talk_adl(
        &bot(text),
        r#"
model: offline
tests:
  - name: offline
    turns:
      - user: xyzzy
        says: ["I take orders and tell the hours."]
        agent: meta
      - user: a pizza order
        says: ["Which size?"]
"#,
    );
    talk_adl(
        &bot(text),
        r#"
answers: [{ choose: [], times: always }]
tests:
  - name: scripted
    turns:
      - user: xyzzy
        says: ["I take orders and tell the hours."]
"#,
    );
    talk_adl(
        &bot("Provide a fallback message and ask what the user wants."),
        r#"
answers:
  - { choose: [], times: always }
  - { say: "What would you like, a pizza?" }
tests:
  - name: an instruction
    turns:
      - user: xyzzy
        says: ["What would you like, a pizza?"]
"#,
    );
}

/// Paper B.2: a KB agent "searches for relevant information and returns the answer", so the ensemble routes the next
/// message; and it is chosen by the questions that it has answers to. Before the user speaks, an ensemble that is called
/// says what its steps say, and nothing else (Paper B.5).
#[test]
fn a_knowledge_base_answers_and_returns() {
    talk_adl(
        r#"
main:
  type: flow agent
  description: The shop
  steps:
    - call: desk
desk:
  type: ensemble agent
  description: Chooses who helps
  contains: [facts, complaints]
  steps:
    - bot: "Welcome."
facts:
  type: kb agent
  faq:
    - q: What is the refund policy?
      a: Thirty days.
complaints:
  type: llm agent
  description: Takes complaints
  prompt: Ask what is wrong.
  args: [item]
"#,
        r#"
tests:
  - name: answered, then routed
    turns:
      - says: ["Welcome."]
      - user: What is your refund policy?
        says: ["Thirty days."]
        agent: desk
      - user: I have a complaint about my toaster
        agent: complaints
"#,
    );
}

/// Paper B.4.6: a loop repeats its steps, each call among them. Only a call that is tried again after a failure is not
/// made twice.
#[test]
fn each_pass_of_a_loop_makes_its_calls() {
    talk_adl(
        r#"main:
  type: flow agent
  args: [k]
  steps:
    - bot: "Hi."
    - user
    - label: top
    - call: check
    - if: check.status == "three"
      then:
        - bot: "Third."
        - return: success, done
    - next: top
      tries: 3
    - bot: "Gave up."
"#,
        r#"
answers: [{ ask: extract, values: {}, times: always }]
tests:
  - name: three results
    tools: { check: [{ times: 1, answer: { status: one } }, { times: 1, answer: { status: two } }, { answer: { status: three } }] }
    turns:
      - says: ["Hi."]
      - { user: go, calls: [check, check, check], says: ["Third."] }
  - name: the same result
    tools: { check: [{ answer: { status: one } }] }
    turns:
      - says: ["Hi."]
      - { user: go, calls: [check, check, check], says: ["Gave up."] }
"#,
    );
}
