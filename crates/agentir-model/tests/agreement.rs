//! What the offline model takes for agreement, and calls that need it, or a condition, or somebody who wants them.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use agentir_runtime::{ModelTask, Purpose, ToolSpec};
use common::*;
use serde_json::{Value as Json, json};

#[test]
fn only_agreement_confirms() {
    let send = tool(Purpose::Call, "send_money", "Sends money", &["amount: currency"]);
    let instructions = [
        "1. Ask for the amount.\n2. Confirm with the user whether the transfer should be made.\n3. Then call send_money.",
    ];
    let talk = |answer: &str| {
        let all = follow(&instructions, std::slice::from_ref(&send), &["hi", "80 dollars", answer]);
        assert!(all[1].contains("confirm"), "{all:?}");
        all.last().cloned().unwrap()
    };
    assert!(talk("yes please").starts_with("send_money("), "{}", talk("yes please"));
    for yes in ["yes", "no problem", "ok, do it", "Yes, transfer it, thanks", "sure, go ahead"] {
        assert!(talk(yes).starts_with("send_money("), "{yes}: {}", talk(yes));
    }
    for other in NO_AGREEMENT {
        assert!(!talk(other).contains("send_money("), "{other}: {}", talk(other));
    }
    // Whoever gives another value is asked again, and whoever only declines is asked what is wrong.
    assert!(talk("no, make it 60 dollars").contains("confirm"));
    assert!(talk("no").contains("not done"));
}

/// What somebody may answer who is to confirm a transfer of 80 dollars to Mia, and does not.
const NO_AGREEMENT: &[&str] = &[
    "no",
    "no, make it 60 dollars",
    "what for?",
    "maybe",
    "yes, but not now",
    "yes I said no",
    "okay no",
    "ok wait",
    "yes, later",
    "fine, forget it",
    "right, cancel that",
    "ok, delete it",
    "sure, refund it",
    "I am worried",
    "I do wonder",
    "sure, if it's free",
    "correct the amount to 60",
    "correct it",
    "yes but to Eva Stone",
    "yes but make it 60",
    "yes, send it to me",
    "you sure",
    "is that right",
    "ok thanks, that's all",
    "ok, that's it",
    "sure, can I",
    "fine, I will",
    "ok, I will do that now",
    "okay, I can do that",
    "correct the card",
    "yes to me",
    "yes, to them",
    "yes, for me and Mia",
    "yes, for one",
    "yes, one",
    "sure, all of it",
    "yes, 60",
];

#[test]
fn what_is_done_on_agreement_needs_agreement() {
    let instructions = [
        "1. Ask for the amount.\n2. Ask whether the transfer should be made now.\n3. If they agree, say \"We start.\"",
    ];
    let talk = |answer: &str| {
        follow(&instructions, &[], &["hi", "80 dollars", answer]).last().cloned().unwrap()
    };
    assert!(talk("yes please").contains("We start"), "{}", talk("yes please"));
    for other in ["yes, but not now", "ok wait", "right, cancel that", "fine, forget it"] {
        assert!(!talk(other).contains("We start"), "{other}: {}", talk(other));
    }
}

#[test]
fn an_action_is_agreed_to_if_the_question_names_it() {
    let agrees = |question: &str, text: &str| verdict(ModelTask::AGREEMENT, question, text);
    let cancel = "Shall I do this? Cancels a booking.";
    assert!(agrees(cancel, "yes, cancel it") && agrees(cancel, "yes"));
    assert!(!agrees(cancel, "yes, book it"));
    assert!(!agrees("Shall I send it?", "right, cancel that"));
    assert!(agrees("Shall I transfer 80 dollars?", "Yes, send it, thanks"));
    // Of two things, an action is one, and a yes none.
    assert!(!agrees("Shall I cancel it, or refund it?", "ok, refund it"));
    for other in NO_AGREEMENT {
        assert!(!agrees("Shall I transfer 80 dollars?", other), "{other}");
    }
    // "Or not" leaves a yes its meaning, other words after "or" do not.
    for question in ["Shall I send it, or not?", "Should I send the letter, yes or no?"] {
        assert!(agrees(question, "yes"), "{question}");
    }
    for question in [
        "Should I send the letter or notify you?",
        "Is it for October or November?",
        "Shall I send it or not only print it?",
    ] {
        assert!(!agrees(question, "yes"), "{question}");
    }
    // A number is none of the words for what is done.
    let table = "Shall I do this? Book a table in the restaurant (guests: 3).";
    assert!(agrees(table, "yes, book it"));
    for other in NO_AGREEMENT {
        assert!(!agrees(table, other), "{other}");
    }
    // The same where a short answer says what the question asked.
    let card = "Would you like a new card?";
    assert!(verdict("the user wants a new card", card, "sure, go ahead"));
    // Who is offered a card may want one, and have it sent to them.
    let wishes = ["yes, one", "yes, send it to me"];
    for other in NO_AGREEMENT.iter().filter(|text| !wishes.contains(text)) {
        assert!(!verdict("the user wants a new card", card, other), "{other}");
        assert!(!verdict("the user claims \"Yes, send me a card\"", card, other), "{other}");
        assert!(!verdict("the user confirms", card, other), "{other}");
    }
    // "Would you like to" asks for an action.
    for (statement, question) in [
        ("the user wants a new card", "Would you like to buy a new card for 40 dollars?"),
        (
            "the user wants to transfer 80 dollars to Mia",
            "Would you like to transfer 80 dollars to Mia?",
        ),
    ] {
        for other in NO_AGREEMENT {
            assert!(!verdict(statement, question, other), "{question} {other}");
        }
    }
    let buy = "Would you like to buy a new card for 40 dollars?";
    assert!(verdict("the user wants a new card", buy, "yes please"));
}

#[test]
fn a_short_answer_says_what_the_question_asked() {
    let card = "Would you like to be issued a new card?";
    let wants = "the user claims \"Yes, send me a new card\"";
    assert!(verdict(wants, card, "yes please"));
    assert!(!verdict(wants, card, "no"));
    assert!(verdict("the user wants a new card", card, "yes"));
    assert!(!verdict("the user wants a new card", card, "no thanks"));
    assert!(!verdict("the user wants to cancel", card, "yes"));
    // The words of an offer and of a wish are no reservation; everything else is.
    for yes in ["yes please, I need a new one", "yes, I would like a new card please"] {
        assert!(verdict(wants, card, yes), "{yes}");
    }
    for other in
        ["yes, but not a new one", "yes, I need it tomorrow", "yes, I need a new one, or two"]
    {
        assert!(!verdict(wants, card, other), "{other}");
    }
    // It is no agreement to an action.
    let transfer = "Shall I transfer 80 dollars to Mia?";
    let agreement = ModelTask::AGREEMENT;
    assert!(!verdict(agreement, transfer, "yes, I need Mia"));
    assert!(!verdict(agreement, card, "yes please, I need a new one"));
}

#[test]
fn nobody_has_to_expect_a_call_that_changes_something() {
    let check = tool(Purpose::Call, "check_room", "Checks a room", &["room: text"]);
    // Says whether another tool is called after a check, and after another value.
    let called_unasked = |other: &ToolSpec| {
        let tools = [check.clone(), other.clone()];
        let mut messages = vec![user("is B12 free?")];
        messages.extend(called("check_room", json!({"room": "B12"}), json!({"free": true})));
        let known = json!({"room": "B12"});
        let after = said(&converse(messages, tools.to_vec(), Vec::new(), known.clone()));
        let mut messages = vec![user("B12 please")];
        messages.extend(called(&other.name, json!({"room": "B12"}), json!({"code": "T-1"})));
        messages.push(assistant("Here is what I found: code T-1."));
        messages.push(user("And B14?"));
        let again = said(&converse(messages, vec![other.clone()], Vec::new(), json!({})));
        [after, again].map(|text| text.contains(&format!("{}(", other.name)))
    };
    for name in ["find_and_book_room", "check_out_guest", "check_in_room", "get_and_pay_bill"] {
        let other = tool(Purpose::Call, name, "Serves the guest", &["room: text"]);
        assert_eq!(called_unasked(&other), [false, false], "{name}");
    }
    let mut prices = tool(Purpose::Call, "find_prices", "Finds the prices", &["room: text"]);
    assert_eq!(called_unasked(&prices), [true, true]);
    // The name may say too little.
    prices.side_effects = Some(true);
    assert_eq!(called_unasked(&prices), [false, false]);
}

/// What is said or called after a message that follows a result of the tool `read`, if the instructions demand this.
fn after_result(instruction: &str, result: Json, message: &str) -> String {
    let tools = [
        tool(Purpose::Call, "read_door", "Reads a door", &["door: text"]),
        tool(Purpose::Call, "send_police", "Sends somebody", &["door: text"]),
    ];
    let mut messages = vec![user("read door 5")];
    messages.extend(called("read_door", json!({"door": "5"}), result));
    messages.push(assistant("Here is what I found."));
    messages.push(user(message));
    let known = json!({"door": "5"});
    said(&instructed(converse(messages, tools.to_vec(), Vec::new(), known), &[instruction]))
}

#[test]
fn a_condition_about_a_result_reads_its_value() {
    let instruction = "If the alarm is active, call send_police.";
    for result in [
        json!({"alarm": "none", "sensors": "active"}),
        json!({"alarm": {"active": false}}),
        json!({"alarm": "not active"}),
        json!({"sensors_active": true, "alarm": "off"}),
        json!({}),
    ] {
        for message in ["I see", "ok", "please send somebody"] {
            let answer = after_result(instruction, result.clone(), message);
            assert!(!answer.contains("send_police("), "{result} {message}: {answer}");
        }
    }
    for result in [
        json!({"alarm": {"active": true}}),
        json!({"alarm": "active"}),
        json!({"result": {"alarm_active": true}}),
        json!("The alarm is active."),
    ] {
        let answer = after_result(instruction, result.clone(), "please send somebody");
        assert!(answer.contains("send_police("), "{result}: {answer}");
    }
    // What is reported is no reason for a call that nobody wants.
    let answer = after_result(instruction, json!({"alarm": "active"}), "I see");
    assert!(!answer.contains("send_police("), "{answer}");
    let denied = "If the alarm is not active, call send_police.";
    for (result, calls) in [(json!({"alarm": "active"}), false), (json!({"alarm": "off"}), true)] {
        let answer = after_result(denied, result, "please send somebody");
        assert_eq!(answer.contains("send_police("), calls, "{answer}");
    }
}

#[test]
fn a_call_on_agreement_is_asked_for_first() {
    let send = tool(Purpose::Call, "send_money", "Sends money", &["amount: currency"]);
    let calls = |instructions: &str, said_by_user: &[&str]| {
        let answers = follow(&[instructions], std::slice::from_ref(&send), said_by_user);
        answers.iter().map(|text| text.starts_with("send_money(")).collect::<Vec<_>>()
    };
    for instructions in [
        "1. Ask for the amount. 2. Ask whether the transfer should be made now. 3. If they agree, call send_money.",
        "1. Ask for the amount. 2. Ask the customer if the payment should go out today. 3. If they confirm, call send_money.",
        "1. Ask for the amount. 2. Ask the user to confirm the transfer. 3. If they confirm, call send_money.",
        "1. Ask for the amount. 2. Ask the user to confirm the transfer. 3. Once they have agreed, call send_money.",
        "Ask for the amount. Call send_money only if the user agrees.",
        "Ask for the amount. Do not call send_money until the user agrees.",
        "Ask for the amount. Never call send_money unless the user confirms.",
        "Ask for the amount.\nIf the user agrees:\n- Call send_money.",
    ] {
        let yes = calls(instructions, &["hi", "80 dollars", "yes"]);
        assert_eq!(yes, [false, false, true], "{instructions}");
        let wish = calls(instructions, &["I want to send 80 dollars", "yes, do it"]);
        assert_eq!(wish, [false, true], "{instructions}");
        let no = calls(instructions, &["I want to send 80 dollars", "no", "hm"]);
        assert_eq!(no, [false; 3], "{instructions}");
        let doubt = calls(instructions, &["I want to send 80 dollars", "yes, but not today"]);
        assert_eq!(doubt, [false; 2], "{instructions}");
    }
}

#[test]
fn a_denied_condition_is_not_its_opposite() {
    let close = tool(Purpose::Call, "close_account", "Closes the account", &["order: text"]);
    for instructions in [
        "Ask for the order. If the customer does not confirm, call close_account.",
        "Ask for the order. If the order is not eligible, call close_account.",
        "Ask for the order. Never call close_account.",
    ] {
        let answers =
            follow(&[instructions], std::slice::from_ref(&close), &["hi", "A-5512", "yes", "ok"]);
        let called = answers.iter().any(|text| text.contains("close_account("));
        assert!(!called, "{instructions}: {answers:?}");
    }
    let tools = [tool(Purpose::Call, "check_order", "Checks an order", &["order: text"]), close];
    let after = |instructions: &str, eligible: bool| {
        let mut messages = vec![user("check order A-5512")];
        let result = json!({"eligible": eligible});
        messages.extend(called("check_order", json!({"order": "A-5512"}), result));
        messages.push(assistant("Here is what I found."));
        messages.push(user("I see"));
        let known = json!({"order": "A-5512"});
        let request = converse(messages, tools.to_vec(), Vec::new(), known);
        said(&instructed(request, &[instructions])).contains("close_account(")
    };
    assert!(after("If the order is eligible, call close_account.", true));
    assert!(!after("If the order is eligible, call close_account.", false));
    assert!(!after("If the order is not eligible, call close_account.", true));
    // A prompt has the value of `{{order}}`. That it is known does not make it eligible.
    assert!(after("If A-5512 is eligible, call close_account.", true));
    assert!(!after("If A-5512 is eligible, call close_account.", false));
}

/// What a prohibition is about decides whether the call is allowed: some other case that nobody knows is none that allows it.
#[test]
fn a_prohibition_with_an_exception_is_one() {
    let close = tool(Purpose::Call, "close_account", "Closes the account", &["order: text"]);
    let calls = |instructions: &str| {
        let said_by_user = ["hi", "A-5512", "please close the account", "yes"];
        let answers = follow(&[instructions], std::slice::from_ref(&close), &said_by_user);
        answers.iter().map(|text| text.contains("close_account(")).collect::<Vec<_>>()
    };
    for instructions in [
        "Ask for the order. Never call close_account without permission of a manager.",
        "Ask for the order. Never call close_account without the approval of finance for the order.",
        "Ask for the order. Never call close_account for companies.",
        "Ask for the order. Do not call close_account except in emergencies.",
        "Ask for the order. Don't call close_account without checking the balance.",
    ] {
        assert!(!calls(instructions).contains(&true), "{instructions}: {:?}", calls(instructions));
    }
    // What limits how a call is made does not forbid it.
    for instructions in [
        "Ask for the order. Do not call close_account twice.",
        "Ask for the order. Never call close_account more than once.",
        "Ask for the order. Never call close_account without the order number.",
        "Ask for the order. Never call close_account without first asking the customer for their order.",
    ] {
        assert!(calls(instructions).contains(&true), "{instructions}: {:?}", calls(instructions));
    }
    // The user's own agreement is asked for.
    for instructions in [
        "Ask for the order. Never call close_account without the customer's consent.",
        "Ask for the order. Do not call close_account without explicit confirmation from the user.",
    ] {
        let called = calls(instructions);
        assert_eq!(called, [false, false, false, true], "{instructions}");
    }
}
