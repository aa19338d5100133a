//! Memory (ABL).

use super::{talk, talk_abl};

/// Cur. 3.7.3, 3.7.4 and 3.12: what is stored at the end is recalled in a later conversation.
#[test]
fn memory_outlives_the_conversation() {
    let agent = r#"AGENT: Desk
GOAL: "Trips"
MEMORY:
  persistent:
    - PATH: user.city
      SCOPE: user
      ACCESS: readwrite
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.city]
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Last time {{user.city}}."
    ON_INPUT:
      - ELSE:
        SET: city = input
COMPLETE:
  - WHEN: city IS SET
    RESPOND: "Noted."
    STORE: city -> user.city
"#;
    talk_abl(
        agent,
        r#"
tests:
  - name: the first time
    turns:
      - says: ["Last time ."]
      - user: Oslo
        says: ["Noted."]
  - name: later
    memory: { user.city: Rome }
    turns:
      - says: ["Last time Rome."]
"#,
    );
}

/// Cur. 3.7.3: what is remembered can be read in the same conversation, whole and in part, in texts
/// and in conditions.
#[test]
fn remembered_values_are_readable() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Trips"
MEMORY:
  session:
    - city
    - n
  persistent:
    - PATH: user.trip
      SCOPE: user
      ACCESS: readwrite
    - PATH: user.all
      SCOPE: user
      ACCESS: readwrite
  remember:
    - WHEN: city IS SET
      STORE: {city, n} -> user.trip
FLOW:
  entry_point: ask
  steps: [ask, show]
  ask:
    REASONING: false
    RESPOND: "Where? {{user.trip.city}}"
    ON_INPUT:
      - ELSE:
        SET:
          city = input
          n = 3
        THEN: show
  show:
    REASONING: false
    RESPOND: "And?"
    ON_INPUT:
      - IF: user.trip.city == "Rome" AND user.trip.n > 2
        RESPOND: "{{user.trip.city}}, {{user.trip.n}}, {{user.trip.nothing}}."
        THEN: COMPLETE
      - ELSE:
        RESPOND: "Elsewhere."
        THEN: COMPLETE
"#,
        r#"
tests:
  - name: in the same talk
    turns:
      - user: Rome
        says: ["And?"]
      - user: go on
        says: ["Rome, 3, ."]
  - name: from an earlier one
    memory: { user.trip: { city: Oslo, n: 1 } }
    turns:
      - says: ["Where? Oslo"]
"#,
    );
}

/// Cur. 3.7.2: `per_session` initializes once per conversation, `per_activation` with each activation.
#[test]
fn variables_reset_as_they_say() {
    let front = r#"AGENT: Front
GOAL: "Front"
DELEGATE:
  - AGENT: Counter
    WHEN: input.contains("count")
    PURPOSE: "Count"
    RETURNS: {visits: visits, entries: entries, fresh: fresh}
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Say count."
    ON_INPUT:
      - ELSE:
        RESPOND: "{{visits}}, {{entries}}, {{fresh}}."
        THEN: ask
"#;
    let counter = r#"AGENT: Counter
GOAL: "Count"
MEMORY:
  session:
    - visits
        INITIAL: 0
        RESET: per_session
    - entries
        INITIAL: 0
        RESET: per_activation
    - fresh
        INITIAL: 0
        RESET: never
FLOW:
  entry_point: add
  steps: [add]
  add:
    REASONING: false
    SET:
      visits = visits + 1
      entries = entries + 1
      fresh = fresh + 1
    THEN: COMPLETE
"#;
    talk(
        &[("front.agent.abl", front), ("counter.agent.abl", counter)],
        r#"
entry: Front
tests:
  - name: three times
    turns:
      - user: count
        says: ["1, 1, 1.", "Say count."]
      - user: count on
        says: ["2, 1, 2.", "Say count."]
      - user: count again
        says: ["3, 1, 3.", "Say count."]
"#,
    );
}

/// Cur. 3.5: `session.x` is the variable `x`, also where it is written.
#[test]
fn a_variable_of_the_session_has_one_value() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Count"
MEMORY:
  session:
    - x
        INITIAL: 10
FLOW:
  a:
    REASONING: false
    RESPOND: "{{x}} and {{session.x}}"
    ON_INPUT:
      - IF: input == "clear"
        CLEAR: session.x
        THEN: a
      - ELSE:
        SET: session.x = 500
        THEN: a
"#,
        r#"
tests:
  - name: one value
    turns:
      - says: ["10 and 10"]
      - { user: more, says: ["500 and 500"] }
      - { user: clear, says: ["and"] }
"#,
    );
}

/// Cur. 3.7.2: `ACCESS: write` is no access for reading.
#[test]
fn what_may_only_be_written_is_not_read() {
    for (access, seen) in [("readwrite", "Known: x."), ("write", "Known: .")] {
        let agent = format!(
            r#"AGENT: Desk
GOAL: "Note"
MEMORY:
  session:
    - v
  persistent:
    - PATH: user.note
      SCOPE: user
      ACCESS: {access}
  remember:
    - WHEN: v IS SET
      STORE: v -> user.note
FLOW:
  a:
    REASONING: false
    RESPOND: "Known: {{{{user.note}}}}."
    ON_INPUT:
      - IF: input == "look"
        THEN: a
      - ELSE:
        SET: v = input
        THEN: a
"#
        );
        super::talk_abl(
            &agent,
            &format!(
                "tests:\n  - name: t\n    turns:\n      - says: [\"Known: .\"]\n      - {{ user: x }}\n      - {{ user: look, says: [\"{seen}\"] }}\n"
            ),
        );
    }
}
