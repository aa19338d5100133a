//! Two agents that hand a message to and fro: what the rules say of the text shows itself when it is run
//! (paper of ADL, appendix D.1: the transfer that wants a payee, and the payee that wants a transfer).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "tests end by panicking"
)]

use agentir_lang_abl::Options;
use agentir_model::Offline;
use agentir_runtime::{
    Answer, Event, EventKind, Host, Input, Machine, Model, ModelError, ModelRequest, ModelResponse,
    ModelTask, NoHuman, Observer, Purpose, Status, ToolUse, Usage,
};
use agentir_scenario::FixedClock;
use agentir_tests::check::{File, check};
use agentir_tests::samples::{external_root, root};
use agentir_tools::Toolbox;
use std::fs;
use std::path::Path;

/// A model that does what the prompts of two agents say: each wants the other first.
struct Obedient {
    pair: [&'static str; 2],
    last: usize,
}

impl Model for Obedient {
    fn respond(
        &mut self,
        request: &ModelRequest,
        _: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        let answer = match &request.task {
            ModelTask::Choose { candidates, .. } => {
                self.last = 1 - self.last;
                let name = self.pair[self.last];
                assert!(candidates.iter().any(|c| c.name == name), "{candidates:?}");
                Answer::Choice(vec![(name.to_owned(), 1.0)])
            }
            ModelTask::Converse { tools, .. } => {
                let back = tools.iter().find(|tool| tool.purpose == Purpose::Return);
                let name = back.unwrap_or_else(|| panic!("{tools:?}")).name.clone();
                let call = ToolUse { id: "call".to_owned(), name, arguments: Default::default() };
                Answer::Message { text: String::new(), calls: vec![call] }
            }
            ModelTask::Extract { .. } => Answer::Values(Default::default()),
            ModelTask::Judge { .. } => Answer::Verdict(false),
            ModelTask::Several { .. } | ModelTask::Summarize { .. } => {
                return Err(ModelError::Unavailable("it is not asked".to_owned()));
            }
        };
        Ok(ModelResponse { answer, usage: Usage::default() })
    }
}

/// Who hands over to whom, and what goes wrong.
#[derive(Default)]
struct Transfers(Vec<String>);

impl Observer for Transfers {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Transfer { how, from, to } => self.0.push(format!("{how} {from} -> {to}")),
            EventKind::Error { kind, message } => self.0.push(format!("{kind}: {message}")),
            _ => {}
        }
    }
}

/// What happens until the loop guard is hit: the beginning and the end of the trace.
fn circle(path: &Path, pair: [&'static str; 2], says: &str) -> String {
    let text = fs::read_to_string(path).unwrap();
    let checked = check(&[File { name: "agents.yml".to_owned(), text }], Options::default());
    let machine = Machine::new(&checked.program);
    let mut session = machine.session(None).unwrap();
    let mut model = Obedient { pair, last: 1 };
    let mut tools = Toolbox::new(&checked.program);
    let clock = FixedClock::at("2026-03-02T10:00:00Z").unwrap();
    let extractor = Offline::at(clock.moment().clone());
    let mut seen = Transfers::default();
    let mut status = Status::Await;
    for input in [None, Some(Input::text(says))] {
        let mut host = Host {
            model: &mut model,
            extractor: &extractor,
            tools: &mut tools,
            human: &mut NoHuman,
            clock: &clock,
            observer: &mut seen,
        };
        status = machine.turn(&mut session, input.as_ref(), &mut host).unwrap().status;
    }
    assert_eq!(status, Status::Await, "{}", seen.0.join("\n"));
    let between = seen.0.iter().position(|line| line.contains(pair[0])).unwrap();
    let first = seen.0.iter().skip(between).take(5).cloned();
    first.chain(seen.0.last().cloned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_circle_of_ours_hits_the_loop_guard() {
    let path = root().join("corpus/adl/invalid/circle.yml");
    let trace = circle(&path, ["appointment", "register"], "I need an appointment");
    insta::assert_snapshot!(trace, @r"
    handoff clinic -> appointment
    return appointment -> clinic
    handoff clinic -> register
    return register -> clinic
    handoff clinic -> appointment
    loop: the agents run in a loop without waiting for the user
    ");
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn the_papers_transfer_and_payee_hit_the_loop_guard() {
    let path = external_root().join("adl/paper/retail_banking_D1.yml");
    let trace = circle(&path, ["transfer_money", "add_payee"], "Send 20 euros to Ann");
    insta::assert_snapshot!(trace, @r"
    handoff meta -> transfer_money
    return transfer_money -> meta
    handoff meta -> add_payee
    return add_payee -> meta
    handoff meta -> transfer_money
    loop: the agents run in a loop without waiting for the user
    ");
}
