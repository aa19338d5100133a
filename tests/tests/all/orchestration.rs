//! The methods by which agents share a conversation, and `docs/orchestration.md`, which says what they
//! cost.

#![allow(clippy::panic, clippy::unwrap_used, missing_docs, reason = "tests end by panicking")]

use agentir_runtime::{Machine, OrchestrationMethod};
use agentir_scenario::{Scenario, run};
use agentir_tests::orchestration::{bot, document, measure};
use agentir_tests::samples::root;
use std::fmt::Write as _;

/// Goes through conversations with the bookshop, and gives what happened, line by line.
fn talk(method: &str, rest: &str) -> String {
    let checked = bot();
    assert!(checked.errors().next().is_none(), "{:?}", checked.lines());
    let machine = Machine::new(&checked.program);
    let file = format!("entry: Corner_Desk\norchestration: {method}\n{rest}");
    let outcomes = run(&machine, &Scenario::read(&file).unwrap()).unwrap();
    let mut text = String::new();
    for outcome in outcomes {
        let _ = write!(text, "{}", outcome.transcript);
        for failure in outcome.failures {
            let _ = writeln!(text, "!! {failure:?}");
        }
    }
    text
}

#[test]
fn the_document_says_what_is_measured() {
    let written = std::fs::read_to_string(root().join("docs/orchestration.md")).unwrap_or_default();
    assert!(
        written == document(),
        "docs/orchestration.md is not true: run `cargo xtask orchestration`"
    );
}

/// What the paper finds: a guardrail that is asked as one with the agent saves a question, trying agents
/// one after the other costs most, and an agent that hands over by itself saves the choice.
#[test]
fn methods_cost_what_they_ask() {
    let cost = |method| measure(Some(method));
    let proactive = cost(OrchestrationMethod::Proactive);
    let merging = cost(OrchestrationMethod::Merging);
    let first = cost(OrchestrationMethod::FirstSuccess);
    let best = cost(OrchestrationMethod::BestOfN);
    let autonomous = cost(OrchestrationMethod::Autonomous);
    // One a turn, but where a flow comes next: it may do something before the agent is asked.
    assert!(merging.questions < proactive.questions);
    assert!(merging.questions + merging.turns >= proactive.questions);
    assert!(merging.tokens() < proactive.tokens());
    for all in [first, best] {
        assert!(all.tokens() > proactive.tokens() && all.questions > proactive.questions);
    }
    assert!(autonomous.questions <= proactive.questions);
    // The guardrail and three agents; and where more than one of them answers, which of them is best.
    assert!(best.questions > best.turns * 4);
}

/// A conversation in which one of them calls a tool, and answers with what it gives.
const ASKED: &str = "tools: { bestsellers: [{ answer: { titles: [Nine Bells] } }] }
tests:
  - name: x
    turns:
      - user: What shall I read?
        calls: [bestsellers]
        says: [Read Nine Bells.]
        agent: Book_Guide
";

/// A model that is asked all agents' questions, by the agent that asks.
const ANSWERS: &str = "
answers:
  - { statement: no business, holds: false, times: always }
  - { agent: Shop_Policy, ask: converse, say: We open at nine., times: always }
  - { agent: Book_Guide, ask: converse, calls: [{ name: bestsellers, arguments: { genre: crime } }], times: 1 }
  - { agent: Book_Guide, ask: converse, say: Read Nine Bells., times: always }
  - { agent: Order_Clerk, ask: converse, say: I am sorry., times: always }
";

#[test]
fn what_is_only_tried_calls_no_tools() {
    // The best answer is another agent's: what the guide wanted to call is never called.
    let rest = format!(
        "{ANSWERS}  - {{ choose: [Shop_Policy] }}
tests:
  - name: x
    turns:
      - user: When do you open?
        calls: []
        says: [We open at nine.]
        agent: Shop_Policy
"
    );
    let text = talk("best-of-n", &rest);
    assert!(!text.contains("!!"), "{text}");
    // It is the guide's: now it is called, and the guide goes on from there.
    let rest = format!("{ANSWERS}  - {{ choose: [Book_Guide] }}\n{ASKED}");
    let text = talk("best-of-n", &rest);
    assert!(!text.contains("!!"), "{text}");
}

#[test]
fn agents_are_tried_until_an_answer_will_do() {
    let rest = format!("{ANSWERS}  - {{ statement: helps with, holds: false }}\n{ASKED}");
    let text = talk("first-success", &rest);
    assert!(!text.contains("!!"), "{text}");
}

#[test]
fn the_agent_in_charge_hands_over() {
    let rest = "
answers:
  - { statement: no business, holds: false, times: always }
  - { choose: [Book_Guide] }
  - { agent: Book_Guide, say: Which genre? }
  - { agent: Book_Guide, calls: [{ name: Order_Clerk, arguments: {} }] }
  - { agent: Order_Clerk, say: What would you like to order? }
tests:
  - name: x
    turns:
      - user: What shall I read?
        says: [Which genre?]
        agent: Book_Guide
      - user: I want to order instead
        says: [What would you like to order?]
        agent: Order_Clerk
";
    let text = talk("autonomous", rest);
    assert!(!text.contains("!!"), "{text}");
}

#[test]
fn guardrails_are_asked_as_one_with_the_agent() {
    let rest = "
answers:
  - { choose: [Book_Guide] }
  - { agent: Book_Guide, say: 'I can only help with books, orders and our shop.' }
tests:
  - name: x
    turns:
      - user: Which pills are good for me?
        says: ['I can only help with books, orders and our shop.']
        agent: Book_Guide
";
    let text = talk("merging", rest);
    assert!(!text.contains("!!"), "{text}");
}
