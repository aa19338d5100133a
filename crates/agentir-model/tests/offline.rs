//! Choices, judgements and conversations of the offline model.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use agentir_runtime::{Answer, Extractor, FieldSpec, Message, ModelTask, Purpose, ToolSpec};
use common::*;
use serde_json::{Value as Json, json};

fn chosen(message: &str, candidates: &[&str], several: bool) -> Vec<String> {
    let candidates = candidates.iter().map(|text| candidate(text)).collect();
    match respond(&mut offline(), &choose(message, candidates, several)).unwrap().answer {
        Answer::Choice(chosen) => {
            assert!(chosen.iter().all(|(_, sure)| (0.0..=1.0).contains(sure)));
            assert!(chosen.is_sorted_by(|(_, one), (_, other)| one >= other));
            chosen.into_iter().map(|(name, _)| name).collect()
        }
        other => panic!("{other:?}"),
    }
}

const AIRLINE: &[&str] = &[
    "BookFlight: Books flights for customers | I want to fly to Rome | get me a ticket",
    "CancelBooking: Cancels bookings and refunds the price",
    "BaggageInfo: Answers questions about baggage allowance and fees",
    "FlightStatus: Says whether a flight is late",
];

const SHOP: &[&str] = &[
    "book_recommendation: Recommends books by genre or author",
    "order: Places orders for books that the customer names",
    "refund: Handles refunds of orders",
];

#[test]
fn choices() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("I'd like to book a flight", AIRLINE, "BookFlight"),
        ("i want to fly to Rome", AIRLINE, "BookFlight"),
        ("please cancel my booking", AIRLINE, "CancelBooking"),
        ("How much baggage can I take?", AIRLINE, "BaggageInfo"),
        ("is my plane late?", AIRLINE, "FlightStatus"),
        ("what's the baggge allowence", AIRLINE, "BaggageInfo"),
        (
            "I don't want to cancel anything, I want to know the baggage fees",
            AIRLINE,
            "BaggageInfo",
        ),
        ("What's the capital of France?", AIRLINE, ""),
        ("hello", AIRLINE, ""),
        ("", AIRLINE, ""),
        ("FlightStatus", AIRLINE, "FlightStatus"),
        ("Actually, I'd like to place an order for a book instead.", SHOP, "order"),
        ("Can you recommend a good crime novel?", SHOP, "book_recommendation"),
        ("I want my money back, a refund", SHOP, "refund"),
        ("I want to buy Emma", SHOP, "order"),
        ("yes", SHOP, ""),
    ];
    let mut wrong = Vec::new();
    for (message, candidates, expected) in cases {
        let found = chosen(message, candidates, false);
        if found.first().map_or("", String::as_str) != *expected {
            wrong.push(format!("{message:?}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn ties_choose_the_first_candidate() {
    let twins = ["b: refunds money", "a: refunds money", "c: sells books"];
    assert_eq!(chosen("refunds", &twins, false), ["b"]);
    assert_eq!(chosen("refunds", &twins, true), ["b", "a"]);
}

#[test]
fn a_keyword_is_sufficient() {
    let mut with = candidate("one: Something else entirely");
    with.keywords = vec!["lost card".to_owned()];
    let all = vec![candidate("two: Cards and their limits"), with];
    let request = choose("help, I have a lost card!", all, false);
    let Answer::Choice(chosen) = respond(&mut offline(), &request).unwrap().answer else {
        panic!()
    };
    assert_eq!(chosen, [("one".to_owned(), 0.95)]);
}

#[test]
fn judgements() {
    let holds = [
        ("the user claims to be a new customer", "I'm a new customer"),
        ("the user wants to cancel", "please cancel it"),
        ("the user wants to cancel", "I'd like to cancel my subscription"),
        ("the user wants to cancel or change the order", "I have to change my order"),
        ("the user does not want to cancel", "please don't cancel"),
        ("the user agrees", "yes, go ahead"),
        ("the user declines", "no thanks"),
        ("the user greets the agent", "good morning!"),
        ("the user says goodbye", "ok bye"),
        ("the user wants to speak to a human", "let me talk to a person"),
        ("the user claims \"I have logged in\"", "I have logged in now"),
        ("the user asks about refunds", "How do refunds work?"),
        ("the user claims \"My card is damaged\"", "my card broke, it is cracked"),
        ("it helps with what the user said last, and is not an excuse", "What is the title?"),
    ];
    let fails = [
        ("the user claims to be a new customer", "I'm not a new customer"),
        ("the user claims to be a new customer", "I am a customer"),
        ("the user wants to cancel", "please don't cancel"),
        ("the user wants to cancel", "what's the weather?"),
        ("the user wants to book a flight", "I want to book a hotel"),
        ("the user agrees", "no"),
        ("the user declines", "yes"),
        ("the user is angry", ""),
        ("the user confirms", "I am worried"),
        ("the user confirms", "sure, if it's free"),
        ("the user accepts", "you sure"),
        ("the answer contains harmful content", "The Harbour Inn has two rooms."),
        ("", "anything"),
        (
            "it helps with what the user said last, and is not an excuse",
            "I'm sorry, I can't help with that.",
        ),
    ];
    let mut wrong = Vec::new();
    let cases = holds.iter().map(|c| (c, true)).chain(fails.iter().map(|c| (c, false)));
    for ((statement, text), expected) in cases {
        let answer = respond(&mut offline(), &judge(statement, text)).unwrap().answer;
        if answer != Answer::Verdict(expected) {
            wrong.push(format!("{statement:?} of {text:?}: {answer:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn tools() -> Vec<ToolSpec> {
    vec![
        tool(Purpose::Call, "search_books", "Finds books by title", &["title: text"]),
        tool(Purpose::Call, "opening_hours", "Says when the shop is open", &[]),
        tool(Purpose::Handoff, "Refunds", "Handles refunds and complaints", &[]),
        tool(Purpose::Escalate, "escalate", "Gives the conversation to a person", &[]),
        tool(Purpose::Complete, "complete", "The customer has everything they want", &[]),
    ]
}

fn turn(messages: Vec<Message>, missing: &[&str], known: Json) -> String {
    let mut missing = fields(missing);
    for field in &mut missing {
        field.prompt = Some(format!("Which {}?", field.name));
    }
    said(&converse(messages, tools(), missing, known))
}

#[test]
fn a_conversation() {
    // Returns a greeting, and asks for a missing field.
    assert_eq!(turn(vec![user("hello")], &["title"], json!({})), "Hello! Which title?");
    // All fields are known: calls the tool.
    let known = json!({"title": "Emma"});
    assert_eq!(
        turn(vec![user("find a book by title")], &[], known.clone()),
        "search_books({\"title\":\"Emma\"})"
    );
    // Reports the result and does not call the tool again.
    let mut messages = vec![user("find the book")];
    messages.extend(called(
        "search_books",
        known.clone(),
        json!({"title": "Emma", "in_stock": true}),
    ));
    assert_eq!(
        turn(messages.clone(), &[], known.clone()),
        "Here is what I found: title Emma, in stock."
    );
    // Nothing matches: says what the agent can do.
    messages.push(assistant("Here is what I found."));
    messages.push(user("What is the capital of France?"));
    assert_eq!(
        turn(messages, &[], known),
        "I'm sorry, I cannot tell you that. I can find books by title, or say when the shop is open. \
         What would you like to do?"
    );
    // A tool without parameters.
    assert_eq!(turn(vec![user("When are you open?")], &["title"], json!({})), "Which title?");
    assert_eq!(turn(vec![user("When are you open?")], &[], json!({})), "opening_hours({})");
    // A handover takes precedence over missing fields.
    assert_eq!(turn(vec![user("I have a complaint")], &["title"], json!({})), "Refunds({})");
    assert_eq!(turn(vec![user("let me talk to a person")], &["title"], json!({})), "escalate({})");
    assert_eq!(turn(vec![user("no, that's all")], &[], json!({})), "complete({})");
}

#[test]
fn results_are_described_in_sentences() {
    let told = |result: Json| {
        let mut messages = vec![user("find the book")];
        messages.extend(called("search_books", json!({}), result));
        turn(messages, &[], json!({"title": "Emma"}))
    };
    assert_eq!(told(json!({"message": "Your order is on its way."})), "Your order is on its way.");
    assert_eq!(told(json!([])), "I found nothing.");
    assert_eq!(told(json!({"results": [], "next": null})), "I found nothing.");
    assert_eq!(told(json!({"allowed": true})), "It is allowed.");
    assert_eq!(told(json!({"is_available": false})), "It is not available.");
    assert_eq!(told(json!({"result_code": "OK", "result_message": "We have it."})), "We have it.");
    assert_eq!(
        told(json!({"success": true, "code": "HH-1", "notes": []})),
        "Here is what I found: code HH-1."
    );
    assert_eq!(told(Json::Null), "That is done.");
    assert_eq!(
        told(json!([{"name": "Inn"}, {"name": "Hotel"}, {"name": "Villa"}, {"name": "Tent"}])),
        "Here is what I found: name Inn; name Hotel; name Villa; and 1 more."
    );
}

#[test]
fn fields_are_collected() {
    let mut all = tools();
    all.push(tool(Purpose::Collect, "set_fields", "Keeps what the customer says", &["day: date"]));
    let request = converse(vec![user("tomorrow")], all.clone(), fields(&["day: date"]), json!({}));
    assert_eq!(said(&request), "set_fields({\"day\":\"2026-11-19\"})");
    let known = json!({"day": "2026-11-19"});
    let request = converse(vec![user("tomorrow")], all, fields(&["title"]), known);
    assert_eq!(said(&request), "Could you tell me the title, please?");
}

#[test]
fn missing_arguments_are_asked_for() {
    let request = converse(vec![user("find books")], tools(), Vec::new(), json!({}));
    assert_eq!(said(&request), "Could you tell me the title, please?");
}

#[test]
fn instructions_are_followed() {
    let book =
        tool(Purpose::Call, "book_table", "Books a table", &["guests: number", "phone: text"]);
    let answers = follow(
        &[
            "1. Ask how many guests there are.\n2. Ask the guest for their phone number.\n3. Then use book_table.",
        ],
        &[book],
        &["hi", "four", "it is 415 555 0123"],
    );
    assert_eq!(answers.first().map(String::as_str), Some("Hello! How many guests are there?"));
    assert_eq!(answers[1], "Could you tell me your phone number, please?");
    assert_eq!(answers[2], "book_table({\"guests\":4,\"phone\":\"415 555 0123\"})");
}

#[test]
fn what_the_agent_said_does_not_decide() {
    let cancel = "Shall I cancel your subscription, or would you like to keep it?";
    for (statement, texts) in [
        (
            "the user wants to cancel the subscription today",
            &[
                "I want to keep it today",
                "I am busy today",
                "let me think about it today",
                "hello, nice day today",
            ][..],
        ),
        (
            "the user asks for an urgent cancellation of the subscription",
            &["this is urgent, who can I talk to"],
        ),
        ("the user wants the subscription now", &["I am busy now"]),
        ("the user wants to pay for the subscription", &["I want to keep it"]),
    ] {
        for text in texts {
            assert!(!verdict(statement, cancel, text), "{statement}: {text}");
        }
        assert!(!verdict(statement, "Do you want to pay for the subscription?", "busy now"));
    }
    assert!(verdict("the user wants to cancel the subscription today", cancel, "cancel it today"));
    // What was asked about need not be repeated.
    let card = "What happened to your card?";
    assert!(verdict("the card is damaged", card, "it is damaged"));
    assert!(!verdict("the card is damaged", card, "it is lost"));
}

#[test]
fn a_booking_for_people_is_no_wish_for_a_person() {
    let tools = [tool(Purpose::Call, "book_seats", "Books seats", &["show: text"])];
    for text in [
        "can I get tickets for two people",
        "what is the actual price for two people?",
        "I want two people and staff",
        "I want to sit beside my boss",
        "what is the real name of the person in the show that I want to see",
    ] {
        let answer = follow(&[], &tools, &[text]).remove(0);
        assert!(!answer.contains("put you through"), "{text}: {answer}");
    }
    for text in [
        "let me talk to a person",
        "get me your manager",
        "I want a real human",
        "I demand a supervisor",
    ] {
        let answer = follow(&[], &tools, &[text]).remove(0);
        assert!(answer.contains("put you through"), "{text}: {answer}");
    }
}

#[test]
fn a_condition_about_a_value_needs_all_of_it() {
    let says = |condition: &str, known: Json| {
        let text = format!("If {condition}, say \"We will look for it.\"\nAsk for the colour.");
        let mut request =
            converse(vec![user("I need help with my parcel")], Vec::new(), Vec::new(), known);
        if let ModelTask::Converse { instructions, .. } = &mut request.task {
            *instructions = vec![text];
        }
        said(&request).contains("We will look")
    };
    assert!(says("status is \"not delivered\"", json!({"status": "not delivered"})));
    assert!(says("status is \"lost\" or \"in transit\"", json!({"status": "in transit"})));
    assert!(says("status is \"lost\", or \"stolen\"", json!({"status": "stolen"})));
    assert!(says("status is \"lost\"", json!({"status": "it was lost"})));
    for (condition, known) in [
        ("status is \"not delivered\"", json!({"status": "delivered"})),
        ("status is \"delivered\"", json!({"status": "not delivered"})),
        ("status is \"in transit\"", json!({"status": "in store"})),
        (
            "reason is \"lost\" and status is \"active\"",
            json!({"reason": "lost", "status": "blocked"}),
        ),
        ("reason is \"lost\" and status is \"active\"", json!({"reason": "active"})),
    ] {
        assert!(!says(condition, known.clone()), "{condition}: {known}");
    }
}

#[test]
fn none_may_begin_what_is_said() {
    let said = |text: &str| follow(&[text], &[], &["the moon is bright"]).remove(0);
    assert!(
        said("None of our tours are free, but I can find you a cheap one.")
            .contains("None of our tours")
    );
    assert!(!said("I see that you have chosen None.").contains("None"));
}

#[test]
fn what_is_asked_may_stand_in_quotation_marks_on_the_next_line() {
    let text =
        "1. Ask the user:\n   \"Select the card you need help with:\"\n2. Ask for the reason.";
    let answers = follow(&[text], &[], &["hi", "the blue one"]);
    assert_eq!(answers[0], "Hello! Select the card you need help with:");
    assert!(answers[1].contains("the reason"), "{answers:?}");
}

#[test]
fn a_question_instead_of_an_answer_is_answered() {
    let answers = follow(
        &["Ask for the user's email."],
        &[],
        &["hi", "why do you want to know?", "is it nice there?"],
    );
    assert!(answers[1].contains("email") && answers[1] != answers[0], "{answers:?}");
    assert!(answers[1].starts_with("I need this"), "{answers:?}");
    let fee = follow(&["Ask for the user's email."], &[], &["hi", "what's the fee"]);
    assert!(!fee[1].starts_with("I need this") && fee[1].contains("email"), "{fee:?}");
    let what_for = follow(&["Ask for the user's email."], &[], &["hi", "what for?"]);
    assert!(what_for[1].starts_with("I need this"), "{what_for:?}");
}

#[test]
fn arguments_given_with_the_wish_are_not_asked_for() {
    let weather =
        tool(Purpose::Call, "get_weather", "Weather of a city", &["city: text", "day: date"]);
    let tools = [weather, tool(Purpose::Call, "buy", "Buys an umbrella", &["umbrella_name: text"])];
    let answers = follow(&[], &tools, &["what is the weather in Lisbon", "tomorrow"]);
    assert_eq!(answers[0], "Could you tell me the day, please?");
    assert_eq!(answers[1], "get_weather({\"city\":\"Lisbon\",\"day\":\"2026-11-19\"})");
}

#[test]
fn nothing_for_developers_is_shown() {
    let mut messages = vec![user("find the book")];
    let hint = json!({"error": "`search_books` is `flow://Search`; stub it:\n  search_books: …"});
    messages.extend(called("search_books", json!({"title": "Emma"}), hint));
    let answer = turn(messages, &[], json!({"title": "Emma"}));
    assert!(
        answer.starts_with("I'm sorry, that did not work") && !answer.contains("stub"),
        "{answer}"
    );
    // A completion text says everything.
    let mut request = converse(vec![user("bye")], tools(), Vec::new(), json!({}));
    if let ModelTask::Converse { closing, .. } = &mut request.task {
        *closing = Some("Happy reading!".to_owned());
    }
    assert_eq!(said(&request), "");
}

#[test]
fn answers_are_deterministic_and_usage_is_that_of_the_chat() {
    let question = converse(vec![user("I have a complaint")], tools(), Vec::new(), json!({}));
    let one = respond(&mut offline(), &question).unwrap();
    assert_eq!(one, respond(&mut offline(), &question).unwrap());
    let tokens = agentir_model::Tokens::O200k;
    assert_eq!(one.usage.input_tokens, tokens.question(&question.task));
    assert!(one.usage.input_tokens > 100 && one.usage.output_tokens > 0, "{:?}", one.usage);
    // The counts of OpenAI's own library.
    assert_eq!(tokens.count("hello world"), 2);
    assert_eq!(agentir_model::Tokens::Cl100k.count("tiktoken is great!"), 6);
}

#[test]
fn a_prohibition_is_kept_by_who_says_nothing_of_the_kind() {
    let verdict = |statement: &str, text: &str| {
        respond(&mut offline(), &judge(statement, text)).unwrap().answer == Answer::Verdict(true)
    };
    let never = "Never recommend a refund";
    assert!(verdict(never, "") && verdict(never, "We have a Zweigelt for 14 euros."));
    assert!(!verdict(never, "I would recommend a refund."));
    assert!(verdict("Do not mention competitors", "The tour starts at noon."));
    assert!(!verdict("Do not mention competitors", "Let me mention our competitors."));
    // Each of two things is forbidden, and what cannot be recognised is not known to be kept.
    let either = "Never promise a refund or a discount";
    assert!(verdict(either, "The tour starts at noon."));
    assert!(!verdict(either, "I promise a refund."));
    assert!(!verdict(either, "There is a discount."));
    assert!(!verdict("Do not do that", "The tour starts at noon."));
}

#[test]
fn what_nothing_answers_is_not_answered_with_a_phrase() {
    let instructions = &["Ask for the nights."];
    let conversation =
        follow(instructions, &[], &["a room please", "three", "is breakfast included?"]);
    let last = conversation.last().unwrap();
    assert!(last.contains("cannot tell you that"), "{last}");
    for (farewell, said) in [
        ("ok, never mind, thank you", "welcome"),
        ("alright, thanks anyway", "welcome"),
        ("no worries then. bye!", "Goodbye"),
        ("never mind", "All right"),
    ] {
        let last = follow(instructions, &[], &["a room please", farewell]).pop().unwrap();
        assert!(last.contains(said), "{farewell}: {last}");
    }
}

#[test]
fn what_is_to_be_done_with_a_thing_is_no_part_of_it() {
    let book = tool(Purpose::Call, "book_lesson", "Books a lesson", &["instrument: text"]);
    let answers = follow(&[], &[book], &["book a lesson", "I'd like to learn the cello"]);
    assert_eq!(answers[1], "book_lesson({\"instrument\":\"cello\"})");
}

#[test]
fn an_unrelated_fact_is_no_answer() {
    let instructions =
        &["The library is open Tuesday to Saturday.\nMembership is free for residents."];
    for question in ["do you have a car park?", "is there a toilet?"] {
        let answer = follow(instructions, &[], &["hi", question]).pop().unwrap();
        assert!(!answer.contains("Tuesday") && !answer.contains("free"), "{question}: {answer}");
    }
    let answer = follow(instructions, &[], &["hi", "is membership free?"]).pop().unwrap();
    assert!(answer.contains("free for residents"), "{answer}");
}

#[test]
fn who_says_goodbye_may_want_something_before() {
    let cancel = tool(Purpose::Call, "cancel_loan", "Cancels a loan", &["card_number: text"]);
    for text in ["please cancel my loan, bye", "I want to cancel my loan. Goodbye!"] {
        let answer = follow(&[], std::slice::from_ref(&cancel), &[text]).pop().unwrap();
        assert!(answer.contains("card number"), "{text}: {answer}");
    }
    for text in ["ok, bye", "Thanks, I need to think about it. Bye", "don't cancel it, bye"] {
        let answer = follow(&[], std::slice::from_ref(&cancel), &["hi", text]).pop().unwrap();
        assert!(answer.contains("Goodbye"), "{text}: {answer}");
    }
}

#[test]
fn another_value_looks_the_same_up_again() {
    let tools =
        [tool(Purpose::Call, "find_tides", "Finds the tides of a harbour", &["harbour: text"])];
    let mut messages = vec![user("find the tides of Dover")];
    messages.extend(called("find_tides", json!({"harbour": "Dover"}), json!({"high": "14:35"})));
    messages.push(assistant("Here is what I found: high 14:35."));
    messages.push(user("And Calais?"));
    let request = converse(messages, tools.to_vec(), Vec::new(), json!({}));
    assert_eq!(said(&request), "find_tides({\"harbour\":\"Calais\"})");
}

#[test]
fn a_tool_that_waits_for_a_variable_is_not_called() {
    let mut waiting = tool(Purpose::Call, "find_order", "Finds an order", &[]);
    waiting.awaits = fields(&["order_number: text"]);
    waiting.passes = vec!["order_number".to_owned()];
    let note = tool(Purpose::Collect, "note_order", "Notes the order", &["order_number: text"]);
    let ask = |tools: Vec<ToolSpec>, text: &str| {
        said(&converse(
            vec![Message::new(agentir_runtime::Role::User, text)],
            tools,
            vec![],
            json!({}),
        ))
    };
    let both = || vec![waiting.clone(), note.clone()];
    assert_eq!(ask(both(), "Please find my order"), "Could you tell me the order number, please?");
    assert_eq!(
        ask(both(), "Please find my order 88213"),
        "note_order({\"order_number\":\"88213\"})"
    );
    let alone = ask(vec![waiting.clone()], "Please find my order");
    assert!(alone.starts_with("I'm sorry, I cannot find an order"), "{alone}");
}

#[test]
fn a_wish_gives_values_by_how_they_are_said() {
    let news = tool(Purpose::Call, "get_news", "Gets news articles", &["category: text"]);
    assert_eq!(
        follow(&[], &[news], &["show me travel news"])[0],
        "get_news({\"category\":\"travel\"})"
    );
    let translate = tool(
        Purpose::Call,
        "translate",
        "Translates a text",
        &["text: text", "source_lang: text", "target_lang: text"],
    );
    assert_eq!(
        follow(&[], &[translate], &["translate 'see you soon' from French to Danish"])[0],
        "translate({\"text\":\"see you soon\",\"source_lang\":\"French\",\"target_lang\":\"Danish\"})"
    );
}

#[test]
fn a_name_refers_to_an_item_of_a_result() {
    let tools = [
        tool(Purpose::Call, "find_rooms", "Finds rooms", &["city: text"]),
        tool(Purpose::Call, "room_details", "Says details of a room", &["room_id: text"]),
    ];
    let mut messages = vec![user("find rooms in Rome")];
    let rooms =
        json!([{"room_id": "R7", "name": "Garden Room"}, {"room_id": "R9", "name": "Attic"}]);
    messages.extend(called("find_rooms", json!({"city": "Rome"}), rooms));
    messages.push(assistant("Here is what I found: Garden Room; Attic."));
    messages.push(user("Tell me the details of the attic"));
    let request = converse(messages, tools.to_vec(), Vec::new(), json!({}));
    assert_eq!(said(&request), "room_details({\"room_id\":\"R9\"})");
}

#[test]
fn an_instruction_to_ask_is_not_said() {
    let answers = follow(&["Ask this question: What did you cook yesterday?"], &[], &["hello"]);
    assert_eq!(answers[0], "Hello! What did you cook yesterday?");
}

#[test]
fn a_correction_is_no_answer_to_another_question() {
    const TRIP: &[&str] = &["guests: number", "city: text"];
    for (message, expected) in [
        ("actually 4 guests", json!({"guests": 4})),
        ("sorry, 4 guests", json!({"guests": 4})),
        ("actually 4 guests not 3", json!({"guests": 4})),
        ("no, make it 4 guests", json!({"guests": 4})),
        ("not 3 guests but 4", json!({"guests": 4})),
        ("4 guests", json!({"guests": 4})),
        ("Oslo", json!({"city": "Oslo"})),
    ] {
        let question = extract(message, fields(TRIP), Some("city"));
        assert_eq!(Json::Object(values(&mut offline(), &question)), expected, "{message}");
        // Patterns alone find the same.
        let found = Extractor::extract(&offline(), message, &fields(TRIP), Some("city"));
        assert_eq!(Json::Object(found), expected, "{message}");
    }
}

#[test]
fn a_pattern_of_whole_values_is_found_in_a_sentence() {
    let code =
        |pattern: &str| FieldSpec { pattern: Some((pattern.to_owned(), 0)), ..field("ref: text") };
    for (pattern, message, expected) in [
        ("^[A-Z]{2}[0-9]{4,6}$", "my ref is AB12345 ok", json!({"ref": "AB12345"})),
        ("^[A-Z]{2}[0-9]{4,6}$", "AB12345", json!({"ref": "AB12345"})),
        ("^[A-Z]{2}[0-9]{4,6}$", "my ref is XAB12345678", json!({})),
        ("^[A-Z]{2}[0-9]{4}", "it's AB1234.", json!({"ref": "AB1234"})),
        ("[0-9]+\\$", "it costs 12$", json!({"ref": "12$"})),
        ("[A-Z]{2}[0-9]{4}", "XXAB12345", json!({"ref": "AB1234"})),
    ] {
        let question = extract(message, vec![code(pattern)], Some("ref"));
        let found = values(&mut offline(), &question);
        assert_eq!(Json::Object(found), expected, "{pattern}: {message}");
    }
    // A part of the pattern may be the value.
    let part = FieldSpec { pattern: Some(("^REF-([0-9]+)$".to_owned(), 1)), ..field("ref: text") };
    let found = values(&mut offline(), &extract("it is REF-77, I think", vec![part], None));
    assert_eq!(Json::Object(found), json!({"ref": "77"}));
}
