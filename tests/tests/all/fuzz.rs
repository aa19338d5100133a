//! Texts that nobody wrote, made of our samples, go through everything that reads and writes. `fuzz/` has
//! the same for libFuzzer, which looks where the code has not been yet; this runs without it.
//!
//! `AGENTIR_FUZZ_CASES` says how many texts are tried for each language (24 if it does not), and each of
//! these runs then tries others.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_tests::fuzz::{INPUTS, everything, seeds};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// What is done to a text.
#[derive(Debug, Clone)]
enum Change {
    Delete(Index, usize),
    Insert(Index, &'static str),
    /// A part of another sample, over a part of this one.
    Splice(Index, Index, Index, usize),
    /// The same part again and again, which makes things deep or long.
    Repeat(Index, usize, usize),
}

const WORDS: [&str; 24] = [
    "\n", "\n\n", "  ", "\t", ":", "- ", "\"", "'", "{", "}", "[", "]", "(", ")", "@", "{{", "}}",
    "#", "|", ">", "\\", "\u{0}", "é😀", "\r",
];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), 0..60_usize).prop_map(|(at, length)| Change::Delete(at, length)),
        (any::<Index>(), prop::sample::select(&WORDS[..]))
            .prop_map(|(at, word)| Change::Insert(at, word)),
        (any::<Index>(), any::<Index>(), any::<Index>(), 0..400_usize)
            .prop_map(|(at, other, from, length)| Change::Splice(at, other, from, length)),
        (any::<Index>(), 1..12_usize, 2..90_usize)
            .prop_map(|(at, length, times)| Change::Repeat(at, length, times)),
    ]
}

/// A part of a text, on boundaries of characters.
fn part(text: &str, at: Index, length: usize) -> (usize, usize) {
    let start = text.floor_char_boundary(at.index(text.len() + 1));
    (start, text.floor_char_boundary((start + length).min(text.len())).max(start))
}

fn apply(text: &mut String, change: &Change, all: &[String]) {
    match change {
        Change::Delete(at, length) => {
            let (start, end) = part(text, *at, *length);
            text.replace_range(start..end, "");
        }
        Change::Insert(at, word) => text.insert_str(part(text, *at, 0).0, word),
        Change::Splice(at, other, from, length) => {
            let other = &all[other.index(all.len())];
            let (from, to) = part(other, *from, *length);
            let (start, end) = part(text, *at, *length);
            text.replace_range(start..end, &other[from..to]);
        }
        Change::Repeat(at, length, times) => {
            let (start, end) = part(text, *at, *length);
            let again = text[start..end].repeat(*times);
            text.insert_str(end, &again);
        }
    }
}

fn fuzz(name: &str) {
    let input = *INPUTS.iter().find(|input| input.name == name).unwrap();
    let more = std::env::var("AGENTIR_FUZZ_CASES").ok().and_then(|n| n.parse().ok());
    // The same cases in every run, so that a verdict depends on the tree alone.
    let rng_seed = if more.is_some() { RngSeed::Random } else { RngSeed::Fixed(1) };
    let config = Config {
        cases: more.unwrap_or(24),
        failure_persistence: None,
        rng_seed,
        ..Config::default()
    };
    let all = seeds(input);
    let texts = (any::<Index>(), prop::collection::vec(change(), 1..8));
    let made = TestRunner::new(config).run(&texts, |(seed, changes)| {
        let mut text = all[seed.index(all.len())].clone();
        for change in &changes {
            apply(&mut text, change, &all);
        }
        everything(input.name, &text);
        Ok(())
    });
    made.unwrap_or_else(|failure| panic!("{}: {failure}", input.name));
}

#[test]
fn abl() {
    fuzz("abl");
}

#[test]
fn abl_yaml() {
    fuzz("abl_yaml");
}

#[test]
fn agent_script() {
    fuzz("agent_script");
}

#[test]
fn adl() {
    fuzz("adl");
}

#[test]
fn python() {
    fuzz("python");
}

#[test]
fn xo() {
    fuzz("xo");
}

/// Every input has targets in `fuzz/`, and the other way round.
#[test]
fn libfuzzer_has_the_same() {
    let manifest = agentir_tests::samples::root().join("fuzz/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let targets: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .collect();
    let inputs: Vec<&str> = INPUTS.iter().map(|input| input.name).collect();
    assert_eq!(targets, [&["agentir-fuzz"], &inputs[..]].concat());
}
