//! Fields with given values: listed ones, those of entities with their synonyms, lookup tables (ABL).

use super::talk_abl;

/// Cur. 3.5.1: values of entities and their synonyms.
#[test]
fn entities_have_synonyms() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Requests"
ENTITIES:
  request:
    TYPE: enum
    VALUES: [REQ_REFUND, REQ_REPAIR]
    SYNONYMS:
      REQ_REFUND: [refund, money back]
      REQ_REPAIR: [repair]
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    GATHER:
      - kind:
          ENTITY_REF: request
          REQUIRED: true
          PROMPT: "What is it about?"
    RESPOND: "Hello."
    THEN: COMPLETE
"#,
        r#"
model: offline
tests:
  - name: a synonym
    turns:
      - says: ["Hello.", "What is it about?"]
      - user: I want my money back
        state: { kind: REQ_REFUND }
        status: done
"#,
    );
}

/// Cur. 3.5.2 and 3.6 ("Field Semantics"): an inline lookup table validates the values of a field, of a
/// step as of the agent, and writes them as it does.
#[test]
fn lookup_tables_validate_and_normalize() {
    let tables = r#"LOOKUP_TABLES:
  airports:
    source: inline
    values: [JFK, LAX, Charles de Gaulle]
    case_sensitive: false
    fuzzy_match: true
    fuzzy_threshold: 0.8
"#;
    let step = format!(
        r#"AGENT: Desk
GOAL: "Flights"
{tables}
FLOW:
  entry_point: ask
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      - from:
          TYPE: string
          REQUIRED: true
          PROMPT: "From where?"
          SEMANTICS:
            lookup: airports
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "From {{{{from}}}}."
    THEN: COMPLETE
"#
    );
    let scripted = r#"
answers:
  - { ask: extract, message: ZZZ, values: { from: ZZZ } }
  - { ask: extract, message: jfk, values: { from: jfk } }
  - { ask: extract, message: Charles, values: { from: charles de gaule } }
tests:
  - name: the case
    turns:
      - user: ZZZ
        says: [{ contains: "ZZZ" }]
        state: { from: { any: false } }
      - user: jfk
        says: ["From JFK."]
  - name: nearly
    turns:
      - user: Charles de Gaule
        says: ["From Charles de Gaulle."]
"#;
    let offline = r#"
model: offline
tests:
  - name: offline
    turns:
      - user: ZZZ
        state: { from: { any: false } }
        status: await
      - user: jfk please
        says: ["From JFK."]
"#;
    talk_abl(&step, scripted);
    talk_abl(&step, offline);
    let agent = format!(
        r#"AGENT: Desk
GOAL: "Flights"
{tables}
GATHER:
  from:
    prompt: "From where?"
    type: string
    required: true
    semantics:
      lookup: airports
COMPLETE:
  - WHEN: from IS SET
    RESPOND: "From {{{{from}}}}."
"#
    );
    talk_abl(
        &agent,
        r#"
answers:
  - { ask: extract, message: ZZZ, values: { from: ZZZ } }
  - { ask: extract, message: jfk, values: { from: jfk } }
  - { say: "Hm.", times: always }
tests:
  - name: where the model leads
    turns:
      - user: ZZZ
        state: { from: { any: false } }
      - user: jfk
        state: { from: JFK }
        says: ["Hm.", "From JFK."]
"#,
    );
    // Exact tables, and maps, whose keys stand for their values.
    let map = step
        .replace("    values: [JFK, LAX, Charles de Gaulle]\n", "    map: { ny: JFK, la: LAX }\n")
        .replace("    fuzzy_match: true\n    fuzzy_threshold: 0.8\n", "")
        .replace("case_sensitive: false", "case_sensitive: true");
    talk_abl(
        &map,
        r#"
answers:
  - { ask: extract, message: upper, values: { from: NY } }
  - { ask: extract, message: lower, values: { from: ny } }
tests:
  - name: keys and cases
    turns:
      - user: in upper case
        state: { from: { any: false } }
      - user: in lower case
        says: ["From JFK."]
"#,
    );
}

/// Cur. 3.6: a field that lists its values has one of them, as it is listed, however the user or the model writes it.
#[test]
fn listed_values_are_kept_as_they_are_listed() {
    let agent = r#"AGENT: Desk
GOAL: "Paint"
FLOW:
  a:
    REASONING: false
    GATHER:
      - colour: required
        prompt: "Which colour?"
        options: [Dark Red, Blue]
    THEN: b
  b:
    REASONING: false
    RESPOND: "It is {{colour}}."
    THEN: COMPLETE
"#;
    for said in ["dark red", "DARK RED", " Dark Red "] {
        let scenario = format!(
            r#"
answers: [{{ ask: extract, message: ".*red.*", values: {{ colour: "{said}" }}, times: always }}]
tests:
  - name: as listed
    turns:
      - says: ["Which colour?"]
      - {{ user: a red one, says: ["It is Dark Red."], state: {{ colour: "Dark Red" }} }}
"#
        );
        talk_abl(agent, &scenario);
    }
}

/// What is a listed value itself stands for no other one, whatever the others are also called.
#[test]
fn a_value_comes_before_a_synonym() {
    let agent = r#"AGENT: Desk
GOAL: "Paint"
ENTITIES:
  shade:
    TYPE: enum
    VALUES: [crimson, red]
    SYNONYMS:
      crimson: [Red, ruby]
FLOW:
  a:
    REASONING: false
    GATHER:
      - colour:
          ENTITY_REF: shade
          REQUIRED: true
          PROMPT: "Which colour?"
    THEN: b
  b:
    REASONING: false
    RESPOND: "It is {{colour}}."
    THEN: COMPLETE
"#;
    for model in [
        "answers: [{ ask: extract, message: red, values: { colour: red }, times: always }, { ask: extract, message: ruby, values: { colour: Ruby }, times: always }]",
        "model: offline",
    ] {
        let scenario = format!(
            r#"
{model}
tests:
  - name: a value
    turns:
      - says: ["Which colour?"]
      - {{ user: red, says: ["It is red."] }}
  - name: a synonym
    turns:
      - says: ["Which colour?"]
      - {{ user: ruby, says: ["It is crimson."] }}
"#
        );
        talk_abl(agent, &scenario);
    }
}

/// Cur. 3.5.2 ("validation") and 3.6 ("Allowed enumeration values"): what is not listed is refused with the words of the
/// field, counts as a try, and is never stored: whether the model is asked for the value or not.
#[test]
fn unlisted_values_are_refused_however_they_are_found() {
    let agent = |strategy: &str, list: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Flights"
LOOKUP_TABLES:
  cabins:
    source: inline
    values: [economy, business]
ENTITIES:
  cabin:
    TYPE: enum
    VALUES: [economy, business]
FLOW:
  steps: [ask, bye]
  ask:
    REASONING: false
    GATHER:
      FIELDS:
        - cabin:
            REQUIRED: true
            PROMPT: "Which cabin?"
{list}
        - bags:
            TYPE: number
            REQUIRED: true
            PROMPT: "How many bags?"
      STRATEGY: {strategy}
    ON_FAIL:
      RESPOND: "No luck."
      THEN: COMPLETE
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "{{{{cabin}}}} {{{{bags}}}}."
    THEN: COMPLETE
"#
        )
    };
    let scenario = r#"
answers:
  - { ask: extract, message: first, values: { cabin: first } }
  - { ask: extract, message: royal suite, values: { cabin: royal suite } }
  - { ask: extract, message: Business please, values: { cabin: business } }
  - { ask: extract, message: "2", values: { bags: 2 } }
  - { ask: extract, message: 3 bags, values: { bags: 3 } }
tests:
  - name: refused, then accepted
    turns:
      - says: ["Which cabin?"]
      - { user: first, says: ["We have no such cabin."], state: { cabin: { any: false } } }
      - { user: Business please, says: ["How many bags?"], state: { cabin: business } }
      - { user: "2", says: ["business 2."] }
  - name: too often
    turns:
      - says: ["Which cabin?"]
      - { user: first, says: ["We have no such cabin."] }
      - { user: royal suite, says: ["No luck."], status: done }
  - name: another field
    turns:
      - says: ["Which cabin?"]
      - { user: 3 bags, says: ["Which cabin?"], state: { bags: 3 } }
"#;
    let error = "            validate:\n              error: \"We have no such cabin.\"\n              max_retries: 1";
    let rule = error.replace(
        "error:",
        "type: enum\n              rule: \"economy, business\"\n              error:",
    );
    for list in [
        format!(
            "            TYPE: string\n            SEMANTICS:\n              lookup: cabins\n{error}"
        ),
        format!("            TYPE: string\n            OPTIONS: [economy, business]\n{error}"),
        format!("            ENTITY_REF: cabin\n{error}"),
        format!("            TYPE: string\n{rule}"),
    ] {
        for strategy in ["pattern", "llm"] {
            talk_abl(&agent(strategy, &list), scenario);
        }
    }
}
