//! Extraction by the offline model. The current date is Wednesday, 18 November 2026.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use agentir_model::{DateOrder, Offline, fits};
use agentir_runtime::ModelTask;
use common::{extract, field, fields, offline, values};
use serde_json::{Value as Json, json};

/// The message, the field that was asked for (or none), the fields, and the expected values.
type Case = (&'static str, Option<&'static str>, &'static [&'static str], Json);

fn check(model: &mut Offline, cases: &[Case]) {
    let mut wrong = Vec::new();
    for (message, asked, list, expected) in cases {
        let specs = fields(list);
        let found = values(model, &extract(message, specs.clone(), *asked));
        for (name, value) in &found {
            let spec = specs.iter().find(|s| s.name == *name).unwrap();
            assert_eq!(fits(spec, value), Ok(()), "{message}");
        }
        let found = Json::Object(found);
        if found != *expected {
            wrong.push(format!("{message:?} asked {asked:?}: {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn dates() {
    const DAY: &[&str] = &["day: date"];
    let cases: Vec<Case> = [
        ("tomorrow", "2026-11-19"),
        ("today please", "2026-11-18"),
        ("the day after tomorrow", "2026-11-20"),
        ("Friday", "2026-11-20"),
        ("this friday", "2026-11-20"),
        ("next friday", "2026-11-20"),
        ("on Monday would be good", "2026-11-23"),
        ("15 March", "2027-03-15"),
        ("the 15th of March", "2027-03-15"),
        ("March 15, 2028", "2028-03-15"),
        ("March 15th 2028", "2028-03-15"),
        ("dec 24", "2026-12-24"),
        ("2026-12-01", "2026-12-01"),
        ("12/24", "2026-12-24"),
        ("12/24/2026", "2026-12-24"),
        ("24/12/2026", "2026-12-24"),
        ("24.12.2026", "2026-12-24"),
        ("1/2/27", "2027-01-02"),
        ("in two weeks", "2026-12-02"),
        ("in 3 days", "2026-11-21"),
        ("a week from now", "2026-11-25"),
        ("two days ago", "2026-11-16"),
        ("next week", "2026-11-25"),
        ("the 20th", "2026-11-20"),
        ("monday the twenty-third", "2026-11-23"),
        ("until the fourteenth", "2026-12-14"),
        ("the twentieth of December", "2026-12-20"),
        ("December the twenty-first", "2026-12-21"),
        ("the 3rd", "2026-12-03"),
        ("not friday but saturday", "2026-11-21"),
        ("Tomorrow. No, sorry, friday", "2026-11-20"),
    ]
    .map(|(message, day)| (message, Some("day"), DAY, json!({"day": day})))
    .into();
    check(&mut offline(), &cases);
}

#[test]
fn invalid_dates() {
    const DAY: &[&str] = &["day: date"];
    let none = [
        "I may come",
        "two weeks",
        "the 31st of February",
        "2026-13-45",
        "99/99",
        "room 12",
        "second floor",
        "I don't know",
        "what day is it?",
        "march",
        "sun and sand",
        "1.5",
    ];
    let cases: Vec<Case> = none.map(|message| (message, Some("day"), DAY, json!({}))).into();
    check(&mut offline(), &cases);
}

#[test]
fn date_order_depends_on_the_country() {
    let mut model = offline().date_order(DateOrder::DayFirst);
    const DAY: &[&str] = &["day: date"];
    check(
        &mut model,
        &[
            ("3/4/2027", None, DAY, json!({"day": "2027-04-03"})),
            ("12/24/2026", None, DAY, json!({"day": "2026-12-24"})),
            ("next friday", None, DAY, json!({"day": "2026-11-27"})),
        ],
    );
}

#[test]
fn past_dates() {
    const BORN: &[&str] = &["date_of_birth: date"];
    check(
        &mut offline(),
        &[
            (
                "3 december 1990",
                Some("date_of_birth"),
                BORN,
                json!({"date_of_birth": "1990-12-03"}),
            ),
            ("5 march", None, &["purchase_date: date"], json!({"purchase_date": "2026-03-05"})),
            ("5 december", None, &["purchase_date: date"], json!({"purchase_date": "2025-12-05"})),
        ],
    );
}

#[test]
fn times_of_day() {
    const AT: &[&str] = &["at: time"];
    let cases: Vec<Case> = [
        ("3pm", "15:00"),
        ("at 3 p.m.", "15:00"),
        ("12 am", "00:00"),
        ("12pm", "12:00"),
        ("9:30", "09:30"),
        ("9.30 am", "09:30"),
        ("18:45 please", "18:45"),
        ("at noon", "12:00"),
        ("half past two", "02:30"),
        ("quarter to eight pm", "19:45"),
        ("at 7 in the evening", "19:00"),
        ("tonight at 8", "20:00"),
        ("8 o'clock", "08:00"),
        ("at seven", "07:00"),
        ("seven thirty pm", "19:30"),
        ("eight o'clock", "08:00"),
    ]
    .map(|(message, at)| (message, Some("at"), AT, json!({"at": at})))
    .into();
    check(&mut offline(), &cases);
    check(
        &mut offline(),
        &[
            ("25:00", Some("at"), AT, json!({})),
            ("14 am", Some("at"), AT, json!({})),
            (
                "tomorrow at 3pm",
                None,
                &["start: date_time"],
                json!({"start": "2026-11-19T15:00:00+00:00"}),
            ),
            ("tomorrow", Some("start"), &["start: date_time"], json!({})),
        ],
    );
}

#[test]
fn numbers() {
    const N: &[&str] = &["guests: number"];
    let cases: Vec<Case> = [
        ("2", json!(2)),
        ("two", json!(2)),
        ("there are four of us", json!(4)),
        ("twenty-five", json!(25)),
        ("two hundred and ten", json!(210)),
        ("1,200", json!(1200)),
        ("2.5", json!(2.5)),
        ("-3", json!(-3)),
        ("one", json!(1)),
        ("3k", json!(3000)),
        ("1.5 million", json!(1_500_000)),
        ("2 adults, I mean 3", json!(3)),
    ]
    .map(|(message, n)| (message, Some("guests"), N, json!({"guests": n})))
    .into();
    check(&mut offline(), &cases);
    check(
        &mut offline(),
        &[
            ("the second one please", None, N, json!({})),
            ("which one?", None, N, json!({})),
            ("a table for 4", None, N, json!({"guests": 4})),
            (
                "12 Baker Street",
                Some("street"),
                &["street: text", "age: number"],
                json!({"street": "12 Baker Street"}),
            ),
            (
                "3 rooms for 5 guests",
                None,
                &["guests: number", "rooms: number"],
                json!({"guests": 5, "rooms": 3}),
            ),
            ("5", None, &["guests: number", "rooms: number"], json!({})),
            ("order A7B9", Some("guests"), N, json!({})),
        ],
    );
}

#[test]
fn money() {
    const P: &[&str] = &["budget: currency"];
    let cases: Vec<Case> = [
        ("$80", json!(80)),
        ("80 dollars", json!(80)),
        ("eighty euros", json!(80)),
        ("EUR 1,200.50", json!(1200.5)),
        ("about 90", json!(90)),
        ("2k", json!(2000)),
    ]
    .map(|(message, n)| (message, Some("budget"), P, json!({"budget": n})))
    .into();
    check(&mut offline(), &cases);
    check(
        &mut offline(),
        &[
            (
                "2 nights for $80",
                None,
                &["nights: number", "budget: currency"],
                json!({"nights": 2, "budget": 80}),
            ),
            ("send it to 12 people", None, P, json!({})),
        ],
    );
}

#[test]
fn email_addresses_and_phone_numbers() {
    check(
        &mut offline(),
        &[
            (
                "I'm ada@example.com, call +1 415 555 2671",
                None,
                &["phone: phone", "mail: email"],
                json!({"phone": "+14155552671", "mail": "ada@example.com"}),
            ),
            ("(415) 555-2671", Some("phone"), &["phone: phone"], json!({"phone": "+14155552671"})),
            (
                "+44 20 7946 0958",
                Some("phone"),
                &["phone: phone"],
                json!({"phone": "+442079460958"}),
            ),
            ("order 123456789012", None, &["phone: phone"], json!({})),
            ("ada at example", Some("mail"), &["mail: email"], json!({})),
        ],
    );
    let mut british = offline().region("gb").unwrap();
    check(
        &mut british,
        &[("020 7946 0958", Some("phone"), &["phone: phone"], json!({"phone": "+442079460958"}))],
    );
    assert!(offline().region("zz").is_none());
}

#[test]
fn booleans() {
    const OK: &[&str] = &["ok: boolean"];
    let yes = ["yes", "Yeah!", "sure", "of course", "go ahead", "yes please, no problem", "I do"];
    let no = ["no", "nope", "not really", "No, thanks.", "of course not", "never", "I don't"];
    let mut cases: Vec<Case> = Vec::new();
    cases.extend(yes.map(|m| (m, Some("ok"), OK, json!({"ok": true}))));
    cases.extend(no.map(|m| (m, Some("ok"), OK, json!({"ok": false}))));
    cases.extend(["maybe", "I'm not sure", "what?", ""].map(|m| (m, Some("ok"), OK, json!({}))));
    cases.extend([
        ("yes", None, OK, json!({})),
        (
            "two nights with breakfast",
            None,
            &["breakfast: boolean"][..],
            json!({"breakfast": true}),
        ),
        (
            "two nights without breakfast",
            None,
            &["breakfast: boolean"],
            json!({"breakfast": false}),
        ),
        ("is there breakfast?", None, &["breakfast: boolean"], json!({})),
    ]);
    check(&mut offline(), &cases);
}

#[test]
fn enumerated_values() {
    const ROOM: &[&str] = &["room: text = single, double / twin, suite, junior suite"];
    check(
        &mut offline(),
        &[
            ("a double room", None, ROOM, json!({"room": "double"})),
            ("Twin, please", None, ROOM, json!({"room": "double"})),
            ("the junior suite", None, ROOM, json!({"room": "junior suite"})),
            ("two doubles", None, ROOM, json!({"room": "double"})),
            ("a duoble", None, ROOM, json!({"room": "double"})),
            ("not a single room but a double", None, ROOM, json!({"room": "double"})),
            ("a penthouse", Some("room"), ROOM, json!({})),
            ("not a suite", Some("room"), ROOM, json!({})),
            (
                "it has an engine",
                None,
                &["boat: text = sail, motor, barge"],
                json!({"boat": "motor"}),
            ),
            (
                "pool and a sauna",
                None,
                &["extras: list = pool, sauna, gym"],
                json!({"extras": ["pool", "sauna"]}),
            ),
            ("yep", Some("sure"), &["sure: text = yes, no"], json!({"sure": "yes"})),
        ],
    );
}

#[test]
fn texts() {
    const CITY: &[&str] = &["city: text", "day: date"];
    check(
        &mut offline(),
        &[
            ("Rome", Some("city"), CITY, json!({"city": "Rome"})),
            ("Rome tomorrow", Some("city"), CITY, json!({"city": "Rome", "day": "2026-11-19"})),
            (
                "in New York on friday",
                Some("city"),
                CITY,
                json!({"city": "New York", "day": "2026-11-20"}),
            ),
            (
                "a hotel in Rome for tomorrow",
                None,
                CITY,
                json!({"city": "Rome", "day": "2026-11-19"}),
            ),
            ("hello", None, CITY, json!({})),
            ("I don't know", Some("city"), CITY, json!({})),
            ("What can I say?", Some("city"), CITY, json!({})),
            (
                "My name is Ada Lovelace.",
                Some("name"),
                &["name: text"],
                json!({"name": "Ada Lovelace"}),
            ),
            ("I'm Ada", Some("name"), &["name: text"], json!({"name": "Ada"})),
            (
                "my name is Ada, and I want a room",
                None,
                &["customer_name: text"],
                json!({"customer_name": "Ada"}),
            ),
            ("order number: X-17", None, &["order_number: text"], json!({"order_number": "X-17"})),
            (
                "from Rome to New York",
                None,
                &["origin: text", "destination: text"],
                json!({"origin": "Rome", "destination": "New York"}),
            ),
            (
                "eggs, milk and bread",
                Some("items"),
                &["items: list"],
                json!({"items": ["eggs", "milk", "bread"]}),
            ),
            (
                "from 3 march to 7 march",
                None,
                &["check_in: date", "check_out: date"],
                json!({"check_in": "2027-03-03", "check_out": "2027-03-07"}),
            ),
        ],
    );
}

#[test]
fn a_thing_is_a_noun_phrase() {
    const THING: &[&str] = &["instrument: text"];
    const WAY: &[&str] = &["payment_method: text"];
    const DISH: &[&str] = &["dish: text"];
    const PHOTO: &[&str] = &["item_photo: text"];
    check(
        &mut offline(),
        &[
            ("A flute, please", Some("instrument"), THING, json!({"instrument": "flute"})),
            ("wednesdays would be best", Some("instrument"), THING, json!({})),
            ("the cello sounds nice", Some("instrument"), THING, json!({"instrument": "cello"})),
            ("flute I think", Some("instrument"), THING, json!({"instrument": "flute"})),
            ("he's nine", Some("instrument"), THING, json!({})),
            ("I want to think about it", Some("instrument"), THING, json!({})),
            ("the price is too high", Some("instrument"), THING, json!({})),
            ("the weather is nice", Some("instrument"), THING, json!({})),
            ("not the piano", Some("instrument"), THING, json!({})),
            ("yes", Some("instrument"), THING, json!({})),
            ("you sure", Some("instrument"), THING, json!({})),
            ("hm you think so", Some("instrument"), THING, json!({})),
            ("I already told you", Some("instrument"), THING, json!({})),
            ("Ada Moor, ada@moor.example", Some("instrument"), THING, json!({})),
            (
                "I will call on Friday",
                Some("note_text"),
                &["note_text: text"],
                json!({"note_text": "I will call on Friday"}),
            ),
            ("as I said, paypal", Some("payment_method"), WAY, json!({"payment_method": "paypal"})),
            (
                "two hundred and fifty, by paypal",
                Some("payment_method"),
                WAY,
                json!({"payment_method": "paypal"}),
            ),
            (
                "We're having roast duck and I don't want to spend much",
                Some("dish"),
                DISH,
                json!({"dish": "roast duck"}),
            ),
            (
                "here's a picture of it: umbrella.jpg",
                Some("item_photo"),
                PHOTO,
                json!({"item_photo": "umbrella.jpg"}),
            ),
        ],
    );
}

#[test]
fn a_day_that_is_wished_for_is_no_day_of_birth() {
    const BIRTH: &[&str] = &["name: text", "date_of_birth: text"];
    let message = "Name's Peter Hallam, and could I come on 14 December?";
    check(&mut offline(), &[(message, Some("name"), BIRTH, json!({"name": "Peter Hallam"}))]);
}

#[test]
fn a_range_of_days_has_two_fields() {
    const STAY: &[&str] = &["checkin: date", "checkout: date"];
    let stay = json!({"checkin": "2027-04-10", "checkout": "2027-04-14"});
    let cases: Vec<Case> = [
        "from the 10th to the 14th of April",
        "April 10th to 14th",
        "10-14 April",
        "from the tenth until the fourteenth of April",
    ]
    .map(|message| (message, None, STAY, stay.clone()))
    .into();
    check(&mut offline(), &cases);
}

#[test]
fn corrections_are_for_the_field_that_they_correct() {
    let known =
        json!({"checkin": "2027-04-10", "checkout": "2027-04-14", "guests": 2, "city": "Rome"});
    let list = ["checkin: date", "checkout: date", "guests: number", "city: text"];
    for (message, expected) in [
        ("we leave on the 15th, not the 14th", json!({"checkout": "2027-04-15"})),
        ("the 9th, not the 10th", json!({"checkin": "2027-04-09"})),
        ("three, not two", json!({"guests": 3})),
        ("no, make it 3", json!({"guests": 3})),
    ] {
        let mut question = extract(message, fields(&list), None);
        if let ModelTask::Extract { known: own, .. } = &mut question.task {
            *own = known.as_object().unwrap().clone();
        }
        let mut found = values(&mut offline(), &question);
        found.retain(|name, value| known.get(name) != Some(value));
        assert_eq!(Json::Object(found), expected, "{message}");
    }
}

#[test]
fn a_number_of_something_else_is_no_amount() {
    check(
        &mut offline(),
        &[
            ("I have two accounts with you", None, &["transfer_amount: number"], json!({})),
            (
                "please send 300",
                None,
                &["transfer_amount: number"],
                json!({"transfer_amount": 300}),
            ),
            ("we are five and a half metres", None, &["metres: number"], json!({"metres": 5.5})),
            ("two dozen rolls", None, &["quantity: number"], json!({"quantity": 24})),
            (
                "me and the two kids, so three",
                Some("guests"),
                &["guests: number"],
                json!({"guests": 3}),
            ),
        ],
    );
}

#[test]
fn sentences_are_no_names() {
    check(
        &mut offline(),
        &[
            ("my rubbish wasn't collected last week", Some("street"), &["street: text"], json!({})),
            ("my card was stolen", None, &["card: text"], json!({})),
            (
                "Oak Road, number 7",
                Some("street"),
                &["street: text"],
                json!({"street": "Oak Road"}),
            ),
            (
                "the Hotel Aurora, please",
                None,
                &["hotel_name: text"],
                json!({"hotel_name": "Hotel Aurora"}),
            ),
            (
                "I'm the CTO of Fjord Labs",
                None,
                &["job_title: text", "company: text"],
                json!({"job_title": "CTO", "company": "Fjord Labs"}),
            ),
        ],
    );
}

#[test]
fn author_patterns_are_used() {
    let mut order = field("order: text");
    order.pattern = Some((r"\b([A-Z]{2}-\d{4})\b".to_owned(), 1));
    let found = |message: &str| {
        let request = extract(message, vec![order.clone()], Some("order"));
        Json::Object(values(&mut offline(), &request))
    };
    assert_eq!(found("it is ab-1234, I think"), json!({"order": "ab-1234"}));
    assert_eq!(found("no idea"), json!({}));
    // An invalid pattern matches nothing.
    order.pattern = Some(("(".to_owned(), 1));
    let request = extract("x", vec![order.clone()], Some("order"));
    assert!(values(&mut offline(), &request).is_empty());
}

#[test]
fn the_smallest_text_that_fits_is_taken() {
    const ORDER: &[&str] = &["order_id: text", "reason: text"];
    const ACCOUNTS: &[&str] = &["from_account: text", "to_account: text", "amount: number"];
    const TRIP: &[&str] = &["city: text", "country: text"];
    let cases: Vec<Case> = vec![
        (
            "I want a refund for order A-1001",
            Some("order_id"),
            ORDER,
            json!({ "order_id": "A-1001" }),
        ),
        ("It's order 70031", Some("order_id"), ORDER, json!({ "order_id": "70031" })),
        ("Order number 5512", Some("reason"), ORDER, json!({ "order_id": "5512" })),
        (
            "From account 111222 to 333444",
            Some("from_account"),
            ACCOUNTS,
            json!({ "from_account": "111222", "to_account": "333444" }),
        ),
        (
            "the weather in Lisbon, Portugal",
            None,
            TRIP,
            json!({ "city": "Lisbon", "country": "Portugal" }),
        ),
        ("I would like to book an appointment", Some("city"), TRIP, json!({})),
        ("it's W-1234 AB", Some("plate"), &["plate: text"], json!({ "plate": "W-1234 AB" })),
        (
            "Ann Lee, ann@x.org",
            None,
            &["contact_name: text", "contact_email: text"],
            json!({ "contact_name": "Ann Lee", "contact_email": "ann@x.org" }),
        ),
        (
            "I want to return my shoes",
            None,
            &["item: text", "reason: text"],
            json!({ "item": "shoes" }),
        ),
        ("my budget is 100 dollars", None, &["budget: number"], json!({ "budget": 100 })),
        ("I like fantasy", Some("genre"), &["genre: text"], json!({ "genre": "fantasy" })),
    ];
    check(&mut offline(), &cases);
}

#[test]
fn a_value_is_the_smallest_span_that_fits() {
    check(
        &mut offline(),
        &[
            (
                "I need to report a claim, a branch fell on my roof",
                None,
                &["cause: text", "claim_number: text"],
                json!({"cause": "a branch fell on my roof"}),
            ),
            (
                "It was on 4 May 2026 at 9am at 3 Castle Street, Leeds",
                Some("cause"),
                &["cause: text", "date: text", "time: text", "location: text"],
                json!({"date": "4 May 2026", "time": "9am", "location": "3 Castle Street, Leeds"}),
            ),
            ("ann@example.org", Some("city"), &["city: text"], json!({})),
            (
                "9 Hill Road, and I live in Leeds",
                Some("street"),
                &["street: text"],
                json!({"street": "9 Hill Road"}),
            ),
            ("No, that's all I need", Some("items"), &["items: list"], json!({})),
            (
                "I'm Eva Lund",
                Some("reason"),
                &["reason: text", "username: text"],
                json!({"username": "Eva Lund"}),
            ),
            (
                "I'd like to book a visit for Eva Lund",
                None,
                &["name: text"],
                json!({"name": "Eva Lund"}),
            ),
        ],
    );
}

#[test]
fn a_number_is_for_the_field_that_it_names() {
    check(
        &mut offline(),
        &[
            (
                "The code is 5512",
                Some("code"),
                &["code: text", "code_length: number"],
                json!({"code": "5512"}),
            ),
            (
                "a hotel in Cork from 10 June 2027 to 12 June 2027",
                None,
                &["hotel_id: text", "checkin: date", "checkout: date"],
                json!({"checkin": "2027-06-10", "checkout": "2027-06-12"}),
            ),
        ],
    );
}

/// What a message gives for fields with known values, beside these values.
fn beside(message: &str, list: &[&str], known: &Json) -> Json {
    let mut question = extract(message, fields(list), None);
    if let ModelTask::Extract { known: own, .. } = &mut question.task {
        *own = known.as_object().unwrap().clone();
    }
    let mut found = values(&mut offline(), &question);
    found.retain(|name, value| known.get(name) != Some(value));
    Json::Object(found)
}

#[test]
fn a_correction_says_the_value_after_it() {
    const AMOUNT: &[&str] = &["amount: number"];
    const GUESTS: &[&str] = &["guests: number"];
    let amount = json!({"amount": 80});
    let guests = json!({"guests": 4});
    for text in [
        "I mean, why do you need 2 confirmations",
        "you took 3 minutes, change it to 5 days please",
    ] {
        assert_eq!(beside(text, AMOUNT, &amount), json!({}), "{text}");
    }
    for text in ["it should be there for 2 reasons", "I mean 3 days is too long"] {
        assert_eq!(beside(text, GUESTS, &guests), json!({}), "{text}");
    }
    for (text, value) in [
        ("no, make it 60", 60),
        ("I have 2 accounts, make it 60", 60),
        ("sorry, I meant about 60", 60),
        ("it should be $60", 60),
        ("make it 60 dollars", 60),
    ] {
        assert_eq!(beside(text, AMOUNT, &amount), json!({"amount": value}), "{text}");
    }
    assert_eq!(beside("make it 5 guests", GUESTS, &guests), json!({"guests": 5}));
}

#[test]
fn a_word_for_a_topic_is_no_listed_value() {
    check(
        &mut offline(),
        &[
            ("can I send you money later", None, &["payment: text = cash, card"], json!({})),
            ("I have no money on me", None, &["payment: text = cash, card"], json!({})),
            ("I want to send money", None, &["payment: text = cash, card"], json!({})),
            ("is one still available?", None, &["plan: text = free, premium"], json!({})),
            ("one that is available", None, &["plan: text = free, premium"], json!({})),
            ("has it got an engine?", None, &["boat: text = sail, motor"], json!({})),
            ("one without an engine", None, &["boat: text = sail, motor"], json!({})),
            ("an engine", Some("boat"), &["boat: text = sail, motor"], json!({"boat": "motor"})),
        ],
    );
}

#[test]
fn what_somebody_is_at_the_moment_is_no_job() {
    const JOB: &[&str] = &["job_title: text"];
    let none = [
        "I'm a bit lost",
        "I'm a new customer",
        "as a gift for my wife",
        "as the Hotel Aurora was full, I slept in a tent",
        "I'm the one who called",
        "I'm a little late for this",
    ];
    let mut cases: Vec<Case> = none.map(|message| (message, None, JOB, json!({}))).into();
    cases.extend([
        ("I'm the CTO of Fjord Labs", None, JOB, json!({"job_title": "CTO"})),
        ("I work as a nurse at Lake Hospital", None, JOB, json!({"job_title": "nurse"})),
        ("I'm a nurse", Some("job_title"), JOB, json!({"job_title": "nurse"})),
    ]);
    check(&mut offline(), &cases);
}

#[test]
fn a_name_after_of_or_for_is_no_company() {
    const COMPANY: &[&str] = &["company: text"];
    check(
        &mut offline(),
        &[
            ("I have a question for Ben", None, COMPANY, json!({})),
            ("I'm the king of Spain", None, COMPANY, json!({})),
            ("I work for Fjord Labs", None, COMPANY, json!({"company": "Fjord Labs"})),
            ("I'm working for Fjord Labs", None, COMPANY, json!({"company": "Fjord Labs"})),
            (
                "I'm the CTO of Fjord Labs",
                None,
                &["job_title: text", "company: text"],
                json!({"job_title": "CTO", "company": "Fjord Labs"}),
            ),
        ],
    );
}

#[test]
fn ordinals_and_months_that_are_other_words() {
    const STAY: &[&str] = &["checkin: date", "checkout: date"];
    let may = |from: &str, to: &str| json!({"checkin": from, "checkout": to});
    check(
        &mut offline(),
        &[
            ("First may I ask what it costs", None, STAY, json!({})),
            ("second may be fine", None, STAY, json!({})),
            ("first march out of here", None, STAY, json!({})),
            ("the second of May", Some("checkin"), STAY, json!({"checkin": "2027-05-02"})),
            ("the first May", Some("checkin"), STAY, json!({"checkin": "2027-05-01"})),
            ("second of may", Some("checkin"), STAY, json!({"checkin": "2027-05-02"})),
            ("second April", Some("checkin"), STAY, json!({"checkin": "2027-04-02"})),
            ("from 28th to 3rd of May", None, STAY, may("2027-04-28", "2027-05-03")),
            ("from April 30th to 2nd", None, STAY, may("2027-04-30", "2027-05-02")),
            ("from December 30th to 2nd", None, STAY, may("2026-12-30", "2027-01-02")),
            ("from 30th to 2nd of January", None, STAY, may("2026-12-30", "2027-01-02")),
        ],
    );
}

#[test]
fn a_value_may_begin_like_a_state() {
    check(
        &mut offline(),
        &[
            (
                "my street is Old Mill Lane",
                None,
                &["street: text"],
                json!({"street": "Old Mill Lane"}),
            ),
            ("my street is Mill Lane", None, &["street: text"], json!({"street": "Mill Lane"})),
            (
                "the flavour is salted caramel",
                None,
                &["flavour: text"],
                json!({"flavour": "salted caramel"}),
            ),
            ("my card was stolen", None, &["card: text"], json!({})),
            ("my parcel is still missing", None, &["parcel: text"], json!({})),
            ("my card was stolen yesterday", None, &["card: text"], json!({})),
            ("my parcel is not here", None, &["parcel: text"], json!({})),
        ],
    );
}
