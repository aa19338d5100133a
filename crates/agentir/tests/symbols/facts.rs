//! Facts at places of a text.

use super::places::TWO;
use super::snapshot;

#[test]
fn facts_hold_where_the_text_is_executed() {
    let facts = |name: &str, text: &str, at: &str| {
        let snapshot = snapshot(&[(name, text)]);
        let (id, source) = snapshot.file(name).unwrap();
        let offset = u32::try_from(source.text.find(at).unwrap()).unwrap();
        let found = snapshot.facts_at(id, offset);
        found.map(|point| {
            let facts: Vec<_> = point.facts.into_iter().map(|fact| fact.message).collect();
            (point.is_reachable, facts)
        })
    };
    let abl = "AGENT: Gate\nGOAL: \"Open\"\nMEMORY:\n  session:\n    - days: number\nFLOW:\n  a -> b\n  a:\n    SET: days = 3\n    THEN: b\n  b:\n    ON_INPUT:\n      - IF: days > 2\n        RESPOND: \"Long\"\n        THEN: COMPLETE\n      - ELSE:\n        RESPOND: \"Short\"\n        THEN: COMPLETE\n";
    let (reachable, long) = facts("gate.agent.abl", abl, "\"Long\"").unwrap();
    assert!(reachable);
    assert_eq!(long, ["`days` is `3`", "`days > 2` holds"]);
    let (reachable, short) = facts("gate.agent.abl", abl, "\"Short\"").unwrap();
    assert!(!reachable);
    assert_eq!(short, ["`days` is `3`", "`days > 2` does not hold"]);
    assert_eq!(facts("gate.agent.abl", abl, "MEMORY"), None);
    // A key stands for its value, a jump for the branch that takes it, a name of a step for its beginning.
    assert_eq!(facts("gate.agent.abl", abl, "RESPOND: \"Long\"").unwrap().1, long);
    assert_eq!(facts("gate.agent.abl", abl, "HEN: COMPLETE").unwrap().1, long);
    assert_eq!(facts("gate.agent.abl", abl, "IF: days").unwrap().1, ["`days` is `3`"]);
    assert_eq!(
        facts("gate.agent.abl", abl, "b:\n").unwrap(),
        (true, vec!["`days` is `3`".to_owned()])
    );
    // What an assignment has done is known behind it.
    assert_eq!(facts("gate.agent.abl", abl, "SET: days").unwrap().1, [""; 0]);
    let later = abl.replace("      - ELSE:\n", "      - IF: days > 1\n");
    let test = facts("gate.agent.abl", &later, "days > 1").unwrap();
    assert_eq!(
        test,
        (false, vec!["`days` is `3`".to_owned(), "`days > 2` does not hold".to_owned()])
    );
    // No part of the flow is executed here.
    for at in ["FLOW", "a -> b", "ON_INPUT", "- ELSE"] {
        assert_eq!(facts("gate.agent.abl", abl, at), None, "{at}");
    }
}

#[test]
fn facts_hold_at_what_is_said_when_an_agent_hands_over() {
    let abl = "AGENT: Gate\nGOAL: \"Open\"\nMEMORY:\n  session:\n    - days: number\nHANDOFF:\n  - TO: Back\n    WHEN: days > 2\n    CONTEXT:\n      pass: [days]\n      summary: \"Many {{days}}\"\nESCALATE:\n  triggers:\n    - WHEN: days < 0\n      REASON: \"Few\"\n      PRIORITY: high\n";
    let facts = |name: &str, text: &str, at: &str| {
        let snapshot = snapshot(&[(name, text)]);
        let (id, source) = snapshot.file(name).unwrap();
        let offset = u32::try_from(source.text.find(at).unwrap()).unwrap();
        let point = snapshot.facts_at(id, offset).unwrap();
        assert!(point.is_reachable, "{at}");
        point.facts.into_iter().map(|fact| fact.message).collect::<Vec<_>>()
    };
    for at in ["Few", "REASON", "PRIORITY"] {
        assert_eq!(facts("gate.agent.abl", abl, at), ["`days < 0` holds"], "{at}");
    }
    for at in ["Many", "pass:", "summary"] {
        let expected = ["`days < 0` does not hold", "`days > 2` holds"];
        assert_eq!(facts("gate.agent.abl", abl, at), expected, "{at}");
    }
    let holds = ["`@variables.days > 3` holds"];
    assert_eq!(
        facts("library.agent", TWO, "transition to @subagent.lending\n            |"),
        holds
    );
    let at = "transition to @subagent.lending\n                available";
    assert!(facts("library.agent", TWO, at).contains(&"`@variables.days > 2` holds".to_owned()));
}
