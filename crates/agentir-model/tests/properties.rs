//! Properties of the offline model and of scripts: every input is answered within bounded time, and
//! the answer is valid.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use agentir_model::{Offline, Script, Tokens, fits};
use agentir_runtime::{Answer, Model};
use common::*;
use cpu_time::ThreadTime;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::Duration;

/// Runs as many cases as `AGENTIR_CASES` says; a fixed set by default.
fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value)) {
    let cases = std::env::var("AGENTIR_CASES").ok().and_then(|n| n.parse().ok());
    let config =
        Config { cases: cases.unwrap_or(400), failure_persistence: None, ..Config::default() };
    let mut runner = if cases.is_some() {
        TestRunner::new(config)
    } else {
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    };
    runner
        .run(strategy, |value| {
            test(value);
            Ok(())
        })
        .unwrap();
}

/// Arbitrary messages, and messages that resemble dates, numbers and telephone numbers.
fn messages() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "tomorrow",
            "next",
            "friday",
            "march",
            "15",
            "15th",
            "of",
            "the",
            "/",
            ".",
            "-",
            ":",
            "31",
            "0",
            "99",
            "2026",
            "9999",
            "at",
            "pm",
            "am",
            "noon",
            "half past",
            "in",
            "two",
            "weeks",
            "ago",
            "hundred",
            "million",
            "one",
            "k",
            "$",
            "€",
            "euros",
            "+",
            "+1",
            "(415)",
            "555",
            "2671",
            "@",
            "a@b.co",
            "yes",
            "no",
            "not",
            "don't",
            "want",
            "cancel",
            "double",
            "my name is",
            "from",
            "to",
            "Rome",
            "?",
            "!",
            ",",
            "\n",
            "'",
            "’",
            "İ",
            "ß",
            "日本",
            "\u{301}",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,12}",
        any::<String>(),
        "[0-9 ()./+-]{0,30}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.join(" "))
}

const FIELDS: &[&str] = &[
    "day: date",
    "birth_date: date",
    "at: time",
    "start: date_time",
    "guests: number",
    "rooms: number",
    "budget: currency",
    "mail: email",
    "phone: phone",
    "ok: boolean",
    "city: text",
    "name: text",
    "items: list",
    "room: text = single, double / twin",
    "extras: list = pool, gym",
    "more: object",
];

#[test]
fn values_are_valid_and_occur_in_the_message() {
    let asked = prop::option::of(prop::sample::select(FIELDS.to_vec()));
    run(&(messages(), asked), |(message, asked)| {
        let specs = fields(FIELDS);
        let asked = asked.map(|f| f.split(':').next().unwrap());
        let found = values(&mut offline(), &extract(&message, specs.clone(), asked));
        for (name, value) in &found {
            let spec = specs.iter().find(|spec| spec.name == *name).unwrap();
            assert_eq!(fits(spec, value), Ok(()), "{message:?}");
            // A string is part of the message.
            if matches!(name.as_str(), "city" | "name" | "mail") {
                assert!(message.contains(value.as_str().unwrap()), "{message:?}: {value}");
            }
        }
        if message.trim().is_empty() {
            assert!(found.is_empty());
        }
    });
}

#[test]
fn choices_are_candidates_and_judgements_terminate() {
    let text = messages();
    run(
        &(messages(), prop::collection::vec(text, 1..5), any::<bool>()),
        |(message, others, several)| {
            let candidates: Vec<_> = others
                .iter()
                .enumerate()
                .map(|(index, text)| candidate(&format!("c{index}: {text}")))
                .collect();
            let reply =
                respond(&mut offline(), &choose(&message, candidates.clone(), several)).unwrap();
            let Answer::Choice(chosen) = reply.answer else { panic!() };
            assert!(several || chosen.len() <= 1);
            for (name, sure) in chosen {
                assert!(candidates.iter().any(|c| c.name == name) && (0.0..=1.0).contains(&sure));
            }
            let verdict = respond(&mut offline(), &judge(&others[0], &message)).unwrap();
            assert!(matches!(verdict.answer, Answer::Verdict(_)));
        },
    );
}

#[test]
fn conversations_never_fail() {
    let parts = prop::collection::vec(messages(), 1..4);
    run(&parts, |said| {
        let mut messages: Vec<_> = said.iter().map(|text| user(text)).collect();
        let [call, mut result] = called("look", serde_json::json!({}), serde_json::json!({}));
        result.text.clone_from(&said[0]);
        messages.extend([call, result]);
        let tools = vec![tool(agentir_runtime::Purpose::Call, "book", &said[0], FIELDS)];
        let request = converse(messages, tools, Vec::new(), serde_json::json!({}));
        let reply = respond(&mut offline(), &request).unwrap();
        let Answer::Message { text, calls } = reply.answer else { panic!() };
        assert!(!text.is_empty() || !calls.is_empty());
    });
}

#[test]
fn scripts_are_parsed_or_rejected() {
    let piece = prop::sample::select(vec![
        "answers:\n",
        "  - ",
        "say: x\n",
        "message: '('\n",
        "times: always\n",
        "times: -1\n",
        "&a ",
        "*a ",
        "    ",
        "values: {a: 1}\n",
        "choose: []\n",
        "holds: yes\n",
        ": ",
        "[",
        "{",
        "\"",
        "#",
    ]);
    run(&prop::collection::vec(piece, 0..20), |pieces| {
        let _ = Script::parse(&pieces.concat());
    });
}

/// How much more CPU time a text four times as long may take, beyond four times as much.
const MARGIN: f64 = 3.0;
/// What is always allowed, so that small times are not compared.
const FREE: Duration = Duration::from_secs(1);

/// Holds work to CPU time that grows no faster than the length of a text, which consists of so many
/// copies of a piece.
fn grows_with_length(piece: &str, copies: usize, mut work: impl FnMut(&str)) {
    let mut time = |copies| {
        let text = piece.repeat(copies);
        let begin = ThreadTime::now();
        work(&text);
        begin.elapsed()
    };
    let (small, large) = (time(copies / 4), time(copies));
    assert!(
        large < FREE || large.as_secs_f64() < small.as_secs_f64() * 4.0 * MARGIN,
        "{copies} times {piece:?}: a quarter took {small:?}, all {large:?}"
    );
}

#[test]
fn cpu_time_grows_with_the_length_of_a_text() {
    let mut model: Offline = offline();
    for (piece, copies) in [
        ("a", 1 << 18),
        ("1 ", 1 << 17),
        ("tomorrow at 3 pm for two, ", 1 << 13),
        ("+1 (415) 555-2671 ", 1 << 13),
        ("not ", 1 << 16),
        ("not the 14th, make it two dozen ", 1 << 12),
        ("tell me how much, send it back ", 1 << 13),
        ("日本", 1 << 16),
        ("a@", 1 << 17),
        (" ", 1 << 18),
    ] {
        grows_with_length(piece, copies, |text| {
            values(&mut model, &extract(text, fields(FIELDS), Some("city")));
            let candidates = (0..50).map(|i| candidate(&format!("c{i}: {text}"))).collect();
            let mut question = choose(text, candidates, true);
            if let agentir_runtime::ModelTask::Choose { candidates, .. } = &mut question.task {
                for candidate in candidates {
                    let description = &mut candidate.description;
                    description.truncate(description.floor_char_boundary(20_000));
                }
            }
            model.respond(&question, &mut |_| {}).unwrap();
            let statement = &text[..text.floor_char_boundary(20_000)];
            model.respond(&judge(statement, text), &mut |_| {}).unwrap();
        });
    }
}

#[test]
fn tokens_are_counted_in_linear_time() {
    grows_with_length("a", 1 << 20, |text| assert!(Tokens::O200k.count(text) > 0));
}
