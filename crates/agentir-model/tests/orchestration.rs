//! The questions of the orchestration methods.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use agentir_model::Tokens;
use agentir_model::orchestration::{Method, best, chosen, merge, satisfies, select, siblings};
use agentir_runtime::{Answer, Ask, Purpose, Request, Settings};
use common::*;
use serde_json::json;

fn talk(system: &str, tools: &[&str]) -> Request {
    let tools = tools.iter().map(|name| tool(Purpose::Call, name, "A tool", &[])).collect();
    let mut request = converse(vec![user("I want Emma")], tools, Vec::new(), json!({}));
    if let Ask::Converse { system: own, .. } = &mut request.ask {
        system.clone_into(own);
    }
    request
}

#[test]
fn methods_have_names() {
    for method in Method::ALL {
        assert_eq!(method.name().parse(), Ok(method));
        assert_eq!(serde_json::to_value(method).unwrap(), json!(method.name()));
    }
    assert_eq!(
        "both".parse::<Method>(),
        Err("`both` is no orchestration method; there are merging, first-success, best-of-n, proactive, autonomous".to_owned())
    );
}

#[test]
fn two_agents_are_asked_as_one() {
    let guard = talk("Refuse what is illegal.", &["refuse", "search"]);
    let agent = talk("Sell books.", &["search"]);
    let one = merge(&guard, &agent).unwrap();
    assert_eq!(one.agent, agent.agent);
    let Ask::Converse { system, tools, messages, .. } = &one.ask else { panic!() };
    insta::assert_snapshot!(system, @r"
    First, and above everything else:
    Refuse what is illegal.

    If that allows it:
    Sell books.
    ");
    let names: Vec<&str> = tools.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["refuse", "search"]);
    assert_eq!(messages.len(), 1);
    // That is what makes it cheap: the conversation is sent once.
    let cost = |request: &Request| Tokens::O200k.question(&request.ask);
    assert!(cost(&one) < cost(&guard) + cost(&agent));
    assert_eq!(merge(&judge("x", "y"), &agent), None);
}

#[test]
fn the_agent_in_charge_may_hand_over() {
    let mut request = talk("Sell books.", &["Refunds"]);
    let agents = [candidate("Desk: Sells"), candidate("Refunds: x"), candidate("News: Tells news")];
    siblings(&mut request, &agents);
    let Ask::Converse { tools, .. } = &request.ask else { panic!() };
    let offered: Vec<_> = tools.iter().map(|t| (t.name.as_str(), t.purpose)).collect();
    assert_eq!(offered, [("Refunds", Purpose::Call), ("News", Purpose::Handoff)]);
}

#[test]
fn answers_are_judged_and_compared() {
    let settings = Settings::default();
    let context = [user("Have you got a book about birds?")];
    let will_do = |answer: &str| {
        let request = satisfies("Shop", &settings, answer, &context);
        ask(&mut offline(), &request).unwrap().answer
    };
    assert_eq!(will_do("Yes, a book about birds of the sea."), Answer::Verdict(true));
    assert_eq!(will_do("I'm sorry, I can't help with that."), Answer::Verdict(false));
    let answers = [
        ("News".to_owned(), "The weather is fine.".to_owned()),
        ("Sales".to_owned(), "This book about birds costs 12 euros.".to_owned()),
    ];
    let request = best("Shop", &settings, &context[0].text, &answers, &[]);
    let Answer::Choice(names) = ask(&mut offline(), &request).unwrap().answer else { panic!() };
    assert_eq!(names[0].0, "Sales");
    let agents = vec![candidate("News: Tells news"), candidate("Sales: Sells books")];
    let request = select("Shop", &settings, "a book please", agents.clone(), &[]);
    let answer = ask(&mut offline(), &request).unwrap().answer;
    assert_eq!(chosen(&answer, &agents), Some("Sales"));
    assert_eq!(chosen(&Answer::Choice(vec![]), &agents), Some("News"), "somebody has to speak");
    assert_eq!(chosen(&Answer::Verdict(true), &agents), None);
}
