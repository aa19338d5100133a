//! Collecting fields (ABL).

use super::talk_abl;

/// Cur. 3.6, "Validation Rules": the message of the field about a value that does not fit, three
/// retries, then the failure of the step.
#[test]
fn invalid_values_are_refused_three_times() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Policies"
FLOW:
  entry_point: ask
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      - policy:
          TYPE: string
          REQUIRED: true
          PROMPT: "Your policy number?"
          VALIDATION:
            type: pattern
            rule: "^POL-[A-Z]{2}\d{3}$"
            error: "It looks like POL-XX999."
            max_retries: 3
      - guests:
          TYPE: number
          REQUIRED: true
          PROMPT: "How many guests?"
          VALIDATION:
            type: range
            rule: "1-10"
            error: "One to ten."
    ON_FAIL:
      RESPOND: "I cannot go on."
      THEN: COMPLETE
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "Policy {{policy}} for {{guests}}."
    THEN: COMPLETE
"#,
        r#"
answers:
  - { ask: extract, message: "^abc$", values: { policy: abc }, times: always }
  - { ask: extract, message: POL, values: { policy: POL-AB123 } }
  - { ask: extract, message: twelve, values: { guests: 12 } }
  - { ask: extract, message: two, values: { guests: 2 } }
tests:
  - name: in the end right
    turns:
      - says: ["Your policy number?"]
      - user: abc
        says: ["It looks like POL-XX999."]
        state: { policy: { any: false } }
      - user: POL-AB123
        says: ["How many guests?"]
      - user: twelve
        says: ["One to ten."]
      - user: two
        says: ["Policy POL-AB123 for 2."]
  - name: four times wrong
    turns:
      - user: abc
      - user: abc
      - user: abc
        says: ["It looks like POL-XX999."]
      - user: abc
        says: ["I cannot go on."]
        status: done
"#,
    );
}

/// Cur. 3.14.2: a step that only names a field asks for the agent's field of that name, with its
/// question, its type and its validation. What the step says itself comes first.
#[test]
fn fields_of_steps_take_over_those_of_the_agent() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Policies"
GATHER:
  policy_number:
    prompt: "What is your policy number?"
    type: string
    required: true
    validate:
      type: pattern
      rule: "^POL-\d{3}$"
      error: "It looks like POL-999."
  guests:
    prompt: "How many guests?"
    type: number
    required: true
FLOW:
  entry_point: ask
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      - policy_number: required
      - guests:
          REQUIRED: true
          PROMPT: "And guests?"
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "{{policy_number}} for {{guests + 1}}."
    THEN: COMPLETE
"#,
        r#"
answers:
  - { ask: extract, message: "^ABC$", values: { policy_number: ABC }, times: always }
  - { ask: extract, message: POL, values: { policy_number: POL-123 }, times: always }
  - { ask: extract, message: "^2$", values: { guests: "2" }, times: always }
tests:
  - name: question, validation and type
    turns:
      - says: ["What is your policy number?"]
      - user: ABC
        says: ["It looks like POL-999."]
        state: { policy_number: { any: false } }
      - user: POL-123
        says: ["And guests?"]
      - user: "2"
        says: ["POL-123 for 3."]
"#,
    );
}

/// Cur. 3.6 and 8.8 (`infer`, `infer_confirm`, `_pending_inferences`): an inferred value counts once the
/// user has confirmed it; what the user was asked for and said needs no confirmation.
#[test]
fn inferred_values_are_confirmed() {
    let agent = r#"AGENT: Desk
GOAL: "Flights"
FLOW:
  entry_point: ask
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      - cabin_class:
          TYPE: string
          REQUIRED: true
          PROMPT: "Which class?"
          INFER: true
          INFER_CONFIRM: true
      - bags:
          TYPE: number
          REQUIRED: true
          PROMPT: "How many bags?"
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "{{cabin_class}}, {{bags}} bags."
    THEN: COMPLETE
"#;
    let scenario = r#"
answers:
  - { ask: extract, message: legs, values: { cabin_class: business }, times: always }
  - { ask: extract, message: economy, values: { cabin_class: economy }, times: always }
  - { ask: extract, message: "^2$", values: { bags: 2 }, times: always }
  - { ask: extract, values: {}, times: always }
  - { holds: true, message: "^yes", times: always }
  - { holds: false, times: always }
tests:
  - name: confirmed
    turns:
      - says: ["Which class?"]
      - user: I have long legs
        says: [{ contains: "cabin class: business" }]
        state: { cabin_class: { any: false }, _pending_inferences.cabin_class: business }
      - user: "yes"
        says: ["How many bags?"]
        state: { cabin_class: business, _pending_inferences: { equals: {} } }
      - user: "2"
        says: ["business, 2 bags."]
  - name: refused
    turns:
      - user: I have long legs
      - user: "no"
        says: ["Which class?"]
        state: { cabin_class: { any: false } }
  - name: refused and corrected
    turns:
      - user: I have long legs
      - user: no, economy
        says: ["How many bags?"]
        state: { cabin_class: economy }
  - name: said in answer to the question
    turns:
      - user: economy
        says: ["How many bags?"]
"#;
    talk_abl(agent, scenario);
    // A question that a guardrail keeps back is not answered by what comes next.
    let rail = "GUARDRAILS:\n  g:\n    kind: output\n    check: \"abl.matches_pattern(output, 'I understood')\"\n    action: block\n    msg: \"No.\"\nFLOW:\n  entry";
    talk_abl(
        &agent.replace("FLOW:\n  entry", rail),
        r#"
answers:
  - { ask: extract, message: legs, values: { cabin_class: business }, times: always }
  - { ask: extract, values: {}, times: always }
  - { holds: true, message: "^yes", times: always }
  - { holds: false, times: always }
tests:
  - name: kept back
    turns:
      - {}
      - { user: I have long legs, says: ["No."] }
      - { user: "yes", state: { cabin_class: { any: false } } }
"#,
    );
    // Without a confirmation, it is taken at once.
    talk_abl(
        &agent.replace("INFER_CONFIRM: true", "INFER_CONFIRM: false"),
        r#"
answers:
  - { ask: extract, message: legs, values: { cabin_class: business } }
tests:
  - name: at once
    turns:
      - user: I have long legs
        says: ["How many bags?"]
        state: { cabin_class: business }
"#,
    );
}

/// Cur. 3.6: the same where the model leads.
#[test]
fn inferred_values_are_confirmed_where_the_model_leads() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Flights"
GATHER:
  cabin_class:
    prompt: "Which class?"
    type: string
    required: true
    infer: true
    infer_confirm: true
COMPLETE:
  - WHEN: cabin_class IS SET
    RESPOND: "{{cabin_class}} it is."
"#,
        r#"
answers:
  - { ask: extract, message: legs, values: { cabin_class: business } }
  - { holds: true, message: "^yes", times: always }
  - { say: "Good.", times: always }
tests:
  - name: confirmed
    turns:
      - user: I have long legs
        says: [{ contains: "cabin class: business" }]
        state: { cabin_class: { any: false } }
      - user: "yes"
        state: { cabin_class: business }
        says: ["Good.", "business it is."]
        status: done
"#,
    );
}

/// Cur. 3.6, "Field Activation Modes".
#[test]
fn fields_are_asked_for_when_they_are_active() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Members"
FLOW:
  entry_point: ask
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      - member:
          TYPE: boolean
          REQUIRED: true
          PROMPT: "Are you a member?"
      - number:
          TYPE: string
          PROMPT: "Your number?"
          ACTIVATION: progressive
          DEPENDS_ON: [member]
      - points:
          TYPE: boolean
          PROMPT: "Use points?"
          ACTIVATION:
            when: "member == true"
      - remark:
          TYPE: string
          PROMPT: "A remark?"
          ACTIVATION: optional
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "Thank you."
    THEN: COMPLETE
"#,
        r#"
answers:
  - { ask: extract, message: "^yes$", values: { member: true } }
  - { ask: extract, message: M1, values: { number: M1, remark: late } }
  - { ask: extract, message: please, values: { points: true } }
  - { ask: extract, message: "^no$", values: { member: false } }
tests:
  - name: a member
    turns:
      - says: ["Are you a member?"]
      - user: "yes"
        says: ["Your number?"]
      - user: M1, I will be late
        says: ["Use points?"]
        state: { remark: late }
      - user: please
        says: ["Thank you."]
"#,
    );
}

/// Cur. 3.14.2: corrections where the step allows them, the end of gathering, defaults.
#[test]
fn corrections_and_the_end_of_gathering() {
    let agent = |corrections: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Trips"
FLOW:
  entry_point: ask
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      - city:
          TYPE: string
          REQUIRED: true
          PROMPT: "Which city?"
      - guests:
          TYPE: number
          DEFAULT: 2
      - day:
          TYPE: string
          REQUIRED: true
          PROMPT: "Which day?"
      - hotel:
          TYPE: string
          PROMPT: "Which hotel?"
    CORRECTIONS: {corrections}
    COMPLETE_WHEN: city AND day
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "{{{{city}}}} on {{{{day}}}} for {{{{guests}}}}."
    THEN: COMPLETE
"#
        )
    };
    let scenario = |city: &str| {
        format!(
            r#"
answers:
  - {{ ask: extract, message: "^Rome$", values: {{ city: Rome }} }}
  - {{ ask: extract, message: actually, values: {{ city: Oslo }}, offers: [city] }}
  - {{ ask: extract, message: actually, values: {{}} }}
  - {{ ask: extract, message: Monday, values: {{ day: Monday }} }}
tests:
  - name: corrected or not
    turns:
      - says: ["Which city?"]
      - user: Rome
        says: ["Which day?"]
      - user: actually Oslo
        says: ["Which day?"]
        state: {{ city: {city} }}
      - user: Monday
        says: ["{city} on Monday for 2."]
"#
        )
    };
    talk_abl(&agent("true"), &scenario("Oslo"));
    talk_abl(&agent("false"), &scenario("Rome"));
}

/// Cur. 3.6, "Extraction Strategies": with `pattern`, values are found by their types and patterns, and
/// the model is not asked; with `hybrid` it is asked for what they do not find. A scripted model
/// without an answer for a question fails.
#[test]
fn strategies_decide_who_extracts() {
    let agent = |strategy: &str, day: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Calls"
FLOW:
  entry_point: ask
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      - email:
          TYPE: email
          REQUIRED: true
          PROMPT: "Your address?"
      - guests:
          TYPE: number
          REQUIRED: true
          PROMPT: "How many?"
{day}
      STRATEGY: {strategy}
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "{{{{email}}}}, {{{{guests}}}}, {{{{wish}}}}."
    THEN: COMPLETE
"#
        )
    };
    let wish = "      - wish:\n          TYPE: string\n          REQUIRED: true\n          PROMPT: \"Your wish?\"";
    talk_abl(
        &agent("pattern", ""),
        r#"
model: scripted
tests:
  - name: no model
    turns:
      - says: ["Your address?"]
      - user: it is ann@example.org
        says: ["How many?"]
        state: { email: ann@example.org }
      - user: no idea
        says: ["How many?"]
      - user: three
        says: ["ann@example.org, 3, ."]
"#,
    );
    talk_abl(
        &agent("hybrid", wish),
        r#"
answers:
  - { ask: extract, message: sea view, values: { wish: a sea view } }
  - { ask: extract, values: {}, times: always }
tests:
  - name: the model for the rest
    turns:
      - user: ann@example.org, three of us, with a sea view
        says: ["ann@example.org, 3, a sea view."]
"#,
    );
}

/// Cur. 3.13.2: an active profile overrides the question of a field; another profile, or none, does not.
#[test]
fn profiles_override_fields() {
    let files = |channel: &str| {
        let agent = r#"AGENT: Desk
GOAL: "Trips"
USE BEHAVIOR_PROFILE: by_voice
GATHER:
  city:
    prompt: "Which city would you like to go to?"
    type: string
    required: true
FLOW:
  entry_point: ask
  steps: [ask, extra, bye]
  ask:
    REASONING: false
    GATHER:
      - city: required
    THEN: extra
  extra:
    REASONING: false
    RESPOND: "Here is a map."
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "To {{city}}."
    THEN: COMPLETE
"#;
        let profile = r#"BEHAVIOR_PROFILE: by_voice
PRIORITY: 10
WHEN: channel == "voice"
INSTRUCTIONS: "Be brief."
GATHER:
  FIELD_OVERRIDES:
    city:
      prompt: "City?"
FLOW:
  SKIP: [extra]
"#;
        super::talk(
            &[("desk.agent.abl", agent), ("by_voice.behavior_profile.abl", profile)],
            channel,
        );
    };
    files(
        r#"
channel: voice
answers: [{ ask: extract, values: { city: Rome } }]
tests:
  - name: by voice
    turns:
      - says: ["City?"]
      - user: Rome
        says: ["To Rome."]
"#,
    );
    files(
        r#"
channel: web
answers: [{ ask: extract, values: { city: Rome } }]
tests:
  - name: elsewhere
    turns:
      - says: ["Which city would you like to go to?"]
      - user: Rome
        says: ["Here is a map.", "To Rome."]
"#,
    );
}

/// Cur. 3.13.4: the platform collects attachments by generic tools; a text that arrives where a file is
/// asked for is taken as its name. See the table of decisions in `docs/semantics.md`.
#[test]
fn a_text_stands_for_an_attachment() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Claims"
FLOW:
  entry_point: ask
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      - photo:
          TYPE: string
          REQUIRED: true
          PROMPT: "Please upload a photo."
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "Thank you for {{photo}}."
    THEN: COMPLETE
"#,
        r#"
answers: [{ ask: extract, values: { photo: damage.jpg } }]
tests:
  - name: its name
    turns:
      - user: damage.jpg
        says: ["Thank you for damage.jpg."]
"#,
    );
}

/// Cur. 8.8: `_validation_retries` counts the values that were refused, by field, until the field has one.
#[test]
fn refused_values_are_counted() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Tables"
GATHER:
  - guests:
      TYPE: number
      REQUIRED: true
      PROMPT: "How many?"
      VALIDATE: "range(1, 8)"
FLOW:
  steps: [ask, end]
  ask:
    REASONING: false
    GATHER:
      - guests
    THEN: end
  end:
    REASONING: false
    RESPOND: "Fine."
    THEN: COMPLETE
"#,
        r#"
tests:
  - name: twice too many
    turns:
      - user: "20"
        state: { _validation_retries: { equals: { guests: 1 } } }
      - user: "30"
        state: { _validation_retries: { equals: { guests: 2 } } }
      - user: "4"
        says: ["Fine."]
        state: { _validation_retries: { equals: {} } }
"#,
    );
}

/// Cur. 3.5.1 and 3.6: a field has the type of its entity, and its pattern is found in a sentence; Cur. 3.14.2: "actually 4
/// guests" corrects a value, and answers no other question.
#[test]
fn values_of_entities_and_corrections_are_found_in_sentences() {
    for strategy in ["", "      STRATEGY: pattern\n"] {
        let desk = format!(
            r#"AGENT: Desk
GOAL: "Book"
ENTITIES:
  count:
    type: integer
  reference:
    type: pattern
    pattern: "^[A-Z]{{2}}[0-9]{{4,6}}$"
FLOW:
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      - guests:
          ENTITY_REF: count
          REQUIRED: true
          PROMPT: "How many guests?"
      - ref:
          ENTITY_REF: reference
          REQUIRED: true
          PROMPT: "Which reference?"
      - city:
          TYPE: string
          REQUIRED: true
          PROMPT: "Which city?"
{strategy}    CORRECTIONS: true
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "{{{{guests}}}}, {{{{ref}}}}, {{{{city}}}}."
    THEN: COMPLETE
"#
        );
        talk_abl(
            &desk,
            r#"
tests:
  - name: in sentences
    turns:
      - says: ["How many guests?"]
      - { user: "2.5", says: [{ contains: "How many guests?" }] }
      - { user: "3", says: ["Which reference?"] }
      - { user: my ref is AB12345 ok, says: ["Which city?"], state: { ref: AB12345 } }
      - { user: actually 4 guests, says: ["Which city?"], state: { guests: 4 } }
      - { user: Oslo, says: ["4, AB12345, Oslo."] }
"#,
        );
    }
}
