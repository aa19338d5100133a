//! The speed of conversations: turns of a flow and of a supervisor with its agents, with a scripted model, which takes
//! no time.

use crate::measure::{Options, fastest, rate};
use agentir::ReadOptions;
use agentir::languages;
use agentir_model::{Offline, Script, Scripted};
use agentir_project::read_program;
use agentir_runtime::{Event, Host, Input, Machine, NoHuman, Observer, Session};
use agentir_scenario::FixedClock;
use agentir_tools::{Stubs, Toolbox};
use std::fmt::Write as _;
use std::io::Write as _;

/// The number of conversations in a measurement.
const CONVERSATIONS: usize = 200;

/// A program, and a conversation with it.
struct Case {
    name: &'static str,
    entry: &'static str,
    files: &'static [(&'static str, &'static str)],
    answers: &'static str,
    tools: &'static str,
    says: &'static [&'static str],
}

const CASES: [Case; 2] = [
    Case {
        name: "a flow",
        entry: "Theatre_Seats",
        files: &[(
            "theatre_seats.agent.abl",
            include_str!("../../corpus/abl/valid/theatre_seats.agent.abl"),
        )],
        answers: "
answers:
  - { values: {}, times: always }
  - { choose: [], times: always }
  - { holds: false, times: always }
",
        tools: "
tools:
  hold_seat:
    - answer: { held_until: \"19:00\", price: 32 }
",
        says: &["stalls", "row c seat 12 please", "yes"],
    },
    Case {
        name: "a supervisor",
        entry: "Corner_Desk",
        files: &[
            (
                "corner_desk.agent.abl",
                include_str!("../../tests/src/orchestration/corner_desk.agent.abl"),
            ),
            (
                "shop_policy.agent.abl",
                include_str!("../../tests/src/orchestration/shop_policy.agent.abl"),
            ),
            (
                "book_guide.agent.abl",
                include_str!("../../tests/src/orchestration/book_guide.agent.abl"),
            ),
            (
                "order_clerk.agent.abl",
                include_str!("../../tests/src/orchestration/order_clerk.agent.abl"),
            ),
        ],
        answers: "
answers:
  - { holds: false, times: always }
  - { choose: [Book_Guide], times: always }
  - { say: Try Nine Bells., times: always }
",
        tools: "tools: {}",
        says: &["I want a crime novel", "another one, please", "and one more"],
    },
];

/// Serializes each event as a line of a trace, and discards it.
struct Lines;

impl Observer for Lines {
    fn event(&mut self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            let _ = writeln!(std::io::sink(), "{line}");
        }
    }
}

/// Runs a conversation. Returns the session before the last message, or nothing if the conversation fails.
fn converse(machine: &Machine<'_>, case: &Case, observer: &mut dyn Observer) -> Option<Session> {
    let script = Script::parse(case.answers).ok()?;
    let mut model = Scripted::new(&script);
    let mut tools = Toolbox::new(machine.program()).stubs(Stubs::read(case.tools).ok()?);
    let clock = FixedClock::at("2026-03-02T10:00:00Z").ok()?;
    let extractor = Offline::at(clock.moment().clone());
    let mut session = machine.session(Some(case.entry)).ok()?;
    let mut idle = None;
    let inputs = std::iter::once(None).chain(case.says.iter().map(|says| Some(Input::text(*says))));
    for input in inputs {
        idle = Some(session.clone());
        let mut host = Host {
            model: &mut model,
            extractor: &extractor,
            tools: &mut tools,
            human: &mut NoHuman,
            clock: &clock,
            observer: &mut *observer,
        };
        let came = machine.turn(&mut session, input.as_ref(), &mut host).ok()?;
        if came.error.is_some() {
            return None;
        }
    }
    idle
}

/// Turns per second on one thread, without and with a trace, and the size of an idle session.
pub(crate) fn table(options: &Options) -> String {
    let mut out = format!(
        "{:<24}{:>12}{:>18}{:>18}\n",
        "conversations", "turns/s", "turns/s, traced", "idle session, KB"
    );
    for case in &CASES {
        let loaded = read_program(languages(), case.files.iter().copied(), ReadOptions::default());
        let machine = loaded.programs.first().map(|loaded| Machine::new(&loaded.program));
        let idle = machine.as_ref().and_then(|machine| converse(machine, case, &mut ()));
        let (Some(machine), Some(idle)) = (machine, idle) else {
            let _ = writeln!(out, "{:<24} fails", case.name);
            continue;
        };
        let time = |observer: &mut dyn Observer| {
            fastest(options.rounds, || {
                for _ in 0..CONVERSATIONS {
                    std::hint::black_box(converse(&machine, case, observer));
                }
            })
        };
        let (silent, traced) = (time(&mut ()), time(&mut Lines));
        let turns = (CONVERSATIONS * (case.says.len() + 1)) as f64;
        let size = serde_json::to_vec(&idle).map_or(0, |bytes| bytes.len());
        let _ = writeln!(
            out,
            "{:<24}{:>12.0}{:>18.0}{:>18.1}",
            case.name,
            rate(turns, silent),
            rate(turns, traced),
            size as f64 / 1e3,
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conversations_succeed() {
        let options = Options { files: 1, seed: 1, rounds: 1 };
        assert!(!table(&options).contains("fails"));
    }
}
