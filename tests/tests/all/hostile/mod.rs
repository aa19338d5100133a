//! Texts that nobody writes on purpose, or only to do harm: nothing overflows, nothing takes more
//! than its share of time. Each is made in two sizes; the larger may take as much longer as it is
//! larger, with a generous margin.

#![allow(clippy::panic, reason = "tests end by panicking")]

mod abl;
mod adl;
mod agent_script;
mod xo;

use agentir_ir_json::{Mode, Written};
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check, load, run_rules};
use cpu_time::ThreadTime;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// The name of the file, how large the larger text is, and what makes a text of a size.
type Case = (&'static str, &'static str, usize, fn(usize) -> String);

/// A text of the table is asked for by its name or the end of its file with `AGENTIR_HOSTILE`.
const ONLY: &str = "AGENTIR_HOSTILE";

/// By what the sizes of the table are divided: without optimization everything takes ten times as long,
/// and a law of growth shows at a quarter of the size as well. `cargo test --release` takes them whole.
const SHARE: usize = if cfg!(debug_assertions) { 4 } else { 1 };

/// How much longer a text four times as large may take, beyond four times as long.
const MARGIN: f64 = 3.0;
/// What is always allowed, so that small times are not compared.
const FREE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 150 });
/// When a text is given up.
const GIVE_UP: Duration = Duration::from_mins(3);

fn lines(n: usize, line: impl FnMut(usize) -> String) -> String {
    (0..n).map(line).collect()
}

fn around(n: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

fn time(name: &'static str, text: String) -> Result<Duration, String> {
    let (send, receive) = mpsc::channel();
    // As much stack as a worker of the command line has.
    let worker = thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let start = ThreadTime::now();
        let file = File { name: name.to_owned(), text };
        let checked = check(&[file], Options::default());
        // Written out, too, as `compile` does.
        let _ = serde_json::to_vec(&Written(&checked.program.agents, Mode::Published));
        let _ = send.send(start.elapsed());
    });
    worker.map_err(|e| e.to_string())?;
    match receive.recv_timeout(GIVE_UP) {
        Ok(took) => Ok(took),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("was given up after {GIVE_UP:?}")),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("panicked".to_owned()),
    }
}

/// Checks one text of the table in two sizes, and says what is wrong with the times.
fn problem((what, name, size, make): &Case) -> Option<String> {
    let size = size / SHARE;
    let (small, large) = (make(size / 4), make(size));
    let factor = large.len() as f64 / small.len() as f64;
    let run = |text: &str| time(name, text.to_owned());
    let too_slow =
        |a: Duration, b: Duration| b > FREE && b.as_secs_f64() > a.as_secs_f64() * factor * MARGIN;
    let (mut a, mut b) = (run(&small), run(&large));
    if let (Ok(first), Ok(second)) = (&a, &b)
        && too_slow(*first, *second)
    {
        // Somebody else may have been at work.
        (a, b) = (run(&small), run(&large));
    }
    eprintln!("{:>9} bytes {a:>12.1?} {b:>12.1?}  {what}", large.len());
    match (a, b) {
        (Ok(a), Ok(b)) if too_slow(a, b) => {
            Some(format!("{what}: {} bytes took {a:?}, {} bytes {b:?}", small.len(), large.len()))
        }
        (Ok(_), Ok(_)) => None,
        (Err(e), _) | (_, Err(e)) => Some(format!("{what}: {e}")),
    }
}

#[test]
fn time_grows_with_size() {
    let only = std::env::var(ONLY).ok();
    let wanted = |(what, name, ..): &&Case| {
        only.as_ref().is_none_or(|only| name.ends_with(only) || only == what)
    };
    let cases: Vec<&Case> = [abl::CASES, agent_script::CASES, adl::CASES, xo::CASES]
        .into_iter()
        .flatten()
        .filter(wanted)
        .collect();
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    // Time is a thread's own, so two at once do not disturb each other.
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |n| n.get().min(4)) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = problem(case);
                    problems.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(problems.is_empty(), "time does not grow with size:\n  {}\n", problems.join("\n  "));
}

#[test]
fn odd_files_are_answered() {
    for text in [
        "",
        "\n",
        "\r",
        "\0",
        "\u{feff}",
        "-",
        ":",
        "|",
        "\"",
        "AGENT",
        "AGENT:",
        "---",
        "- -",
        "AGENT: A\0",
        "system:",
        "subagent :",
        "if :",
        "else:",
        "| {!",
        "- - - -\n? :\n: :",
        "a: &x {type: llm agent}\nb: *x",
    ] {
        for name in ["a.abl", "a.yaml", "a.agent", "agents.yml", "botDefinition.json"] {
            let file = File { name: name.to_owned(), text: text.to_owned() };
            for fragment in [false, true] {
                let options = Options { fragment, ..Options::default() };
                let checked = check(std::slice::from_ref(&file), options);
                let silent = checked.diagnostics.is_empty() && checked.program.agents.is_empty();
                assert!(
                    fragment || !silent,
                    "{text:?} in {name} gives neither an agent nor a finding"
                );
            }
        }
    }
}

#[test]
fn many_agents_are_one_program() {
    // Rules that look at all agents together must not look at all pairs.
    let program = |n: usize| {
        let manifest = File { name: "project.json".to_owned(), text: "{}".to_owned() };
        let agent = |i: usize| {
            let text = format!(
                "AGENT: A{i}\nGOAL: \"g\"\nHANDOFF:\n  - TO: A{}\n    WHEN: x == 1\n",
                (i + 1) % n
            );
            File { name: format!("a{i}.abl"), text }
        };
        let files: Vec<File> = (0..n).map(agent).chain([manifest]).collect();
        let loaded = load(&files, Options::default());
        let start = ThreadTime::now();
        let checked = run_rules(loaded, Options::default());
        let took = start.elapsed();
        assert_eq!(checked.program.agents.len(), n);
        took
    };
    let (small, large) = (program(2_000), program(8_000));
    assert!(
        large < FREE || large.as_secs_f64() < small.as_secs_f64() * 4.0 * MARGIN,
        "2,000 agents took {small:?}, 8,000 took {large:?}"
    );
}
