//! What the outside of a conversation sees: messages in order, keys of calls, turns that are given up.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod support;

use agentir_ir::Program;
use agentir_runtime::{
    AgentMessage, Answer, Clock, Event, EventKind, FailureKind, Host, Input, Machine, Model,
    ModelError, ModelRequest, ModelResponse, ModelTask, NoHuman, Observer, Session, StartError,
    Status, ToolCall, ToolFailure, Tools, Turn, Usage,
};
use serde_json::{Map, Value as Json, json};
use support::{Patterns, program, together};

/// A model that streams.
struct Streams;

impl Model for Streams {
    fn respond(
        &mut self,
        request: &ModelRequest,
        partial: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        let answer = match &request.task {
            ModelTask::Converse { .. } => {
                partial("It is ");
                partial("open.");
                Answer::Message { text: "It is open.".to_owned(), calls: Vec::new() }
            }
            ModelTask::Extract { .. } => Answer::Values(Map::new()),
            ModelTask::Choose { .. } => Answer::Choice(Vec::new()),
            ModelTask::Judge { .. } => Answer::Verdict(false),
            other => panic!("it is not asked to answer {}", other.kind()),
        };
        Ok(ModelResponse { answer, usage: Usage::default() })
    }
}

/// Remembers the keys of calls; the first so many fail.
#[derive(Default)]
struct Keys {
    seen: Vec<String>,
    fail: usize,
}

impl Tools for Keys {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        self.seen.push(call.idempotency_key.clone());
        if self.seen.len() <= self.fail {
            return Err(ToolFailure::new(FailureKind::Api, "the line is down"));
        }
        Ok(json!({ "paid": true }))
    }
}

struct Time(u64);

impl Clock for Time {
    fn now(&self) -> i64 {
        0
    }
    fn random(&self) -> u64 {
        self.0
    }
    fn sleep(&self, _: u64) {}
}

/// Remembers what is shown, and gives up at an event.
#[derive(Default)]
struct Shown {
    lines: Vec<String>,
    cancel_at: Option<&'static str>,
    cancelled: bool,
}

impl Observer for Shown {
    fn event(&mut self, event: &Event) {
        if let EventKind::Call { tool, .. } = &event.kind
            && self.cancel_at == Some(tool.as_str())
        {
            self.cancelled = true;
        }
    }
    fn partial(&mut self, text: &str) {
        self.lines.push(format!("… {text}"));
    }
    fn message(&mut self, message: &AgentMessage) {
        self.lines.push(format!("{}: {}", message.agent, message.text));
    }
    fn is_cancelled(&self) -> bool {
        self.cancelled
    }
}

fn turn(
    machine: &Machine<'_>,
    session: &mut Session,
    input: Option<&str>,
    tools: &mut Keys,
    shown: &mut Shown,
) -> Result<Turn, StartError> {
    let mut host = Host {
        model: &mut Streams,
        extractor: &Patterns,
        tools,
        human: &mut NoHuman,
        clock: &Time(7),
        observer: shown,
    };
    machine.turn(session, input.map(Input::text).as_ref(), &mut host)
}

const FRONT: &str = "AGENT: Front\n\nGOAL: \"Help\"\n\nHANDOFF:\n  - TO: Back\n    WHEN: input == \"go\"\n    RETURN: false\n";

fn shown(back: &str) -> Vec<String> {
    let program = together(&[("front.agent.abl", FRONT), ("back.agent.abl", back)]);
    let machine = Machine::new(&program);
    let mut session = machine.session(None).unwrap();
    let (mut tools, mut shown) = (Keys::default(), Shown::default());
    turn(&machine, &mut session, None, &mut tools, &mut shown).unwrap();
    let before = shown.lines.len();
    let turn = turn(&machine, &mut session, Some("go"), &mut tools, &mut shown).unwrap();
    // Every message once.
    let messages: Vec<String> =
        turn.messages.iter().map(|m| format!("{}: {}", m.agent, m.text)).collect();
    let lines = shown.lines.split_off(before);
    let delivered: Vec<&String> = lines.iter().filter(|line| !line.starts_with('…')).collect();
    assert_eq!(delivered, messages.iter().collect::<Vec<_>>());
    lines
}

#[test]
fn messages_are_shown_before_an_answer_that_is_streamed_after_them() {
    let back = "AGENT: Back\n\nGOAL: \"Help\"\n\nON_START:\n  RESPOND: \"Back here.\"\n";
    assert_eq!(shown(back), ["Back: Back here.", "… It is ", "… open.", "Back: It is open."]);
}

#[test]
fn what_a_guardrail_may_withdraw_is_shown_at_the_end() {
    let back = "AGENT: Back\n\nGOAL: \"Help\"\n\nON_START:\n  RESPOND: \"Back here.\"\n\nGUARDRAILS:\n  mild:\n    kind: output\n    check: \"output contains 'closed'\"\n    action: block\n    message: \"No.\"\n";
    let lines = shown(back);
    assert!(lines.iter().all(|line| !line.starts_with('…')), "{lines:?}");
}

const PAY: &str = "AGENT: Payer\n\nGOAL: \"Pay\"\n\nTOOLS:\n  pay(amount: number) -> {paid: boolean}\n    description: \"Pay\"\n\nFLOW:\n  ask:\n    REASONING: false\n    RESPOND: \"Pay?\"\n    ON_INPUT:\n      - ELSE:\n        THEN: first\n  first:\n    REASONING: false\n    CALL: pay(1)\n    ON_SUCCESS:\n      THEN: second\n    ON_FAIL:\n      THEN: second\n  second:\n    REASONING: false\n    CALL: pay(1)\n    ON_SUCCESS:\n      THEN: third\n    ON_FAIL:\n      THEN: third\n  third:\n    REASONING: false\n    CALL: pay(2)\n    ON_SUCCESS:\n      THEN: ask\n    ON_FAIL:\n      THEN: ask\n";

fn payer() -> Program {
    program("payer.agent.abl", PAY)
}

#[test]
fn a_call_that_is_made_again_has_the_same_key() {
    let program = payer();
    let machine = Machine::new(&program);
    let mut session = machine.session(None).unwrap();
    let keys = |session: &mut Session, input: Option<&str>, fail: usize| {
        let mut tools = Keys { fail, ..Keys::default() };
        turn(&machine, session, input, &mut tools, &mut Shown::default()).unwrap();
        tools.seen
    };
    keys(&mut session, None, 0);
    assert!(!session.id.is_empty());
    let stored = serde_json::to_string(&session).unwrap();
    let again = || serde_json::from_str::<Session>(&stored).unwrap();

    let first = keys(&mut session, Some("yes"), 0);
    assert_eq!(first.len(), 3);
    assert!(first[0] != first[1] && first[1] != first[2] && first[0].len() == 32, "{first:?}");
    // The turn was not finished, and is done again.
    assert_eq!(keys(&mut again(), Some("yes"), 0), first);
    // A call that failed is made again.
    let failed = keys(&mut again(), Some("yes"), 1);
    assert_eq!((&failed[0], &failed[1], &failed[2]), (&first[0], &first[0], &first[2]));
    // The next turn, and another conversation, make other calls.
    let next = keys(&mut session, Some("yes"), 0);
    assert!(next.iter().all(|key| !first.contains(key)));
    let mut other = again();
    other.id = "another".to_owned();
    assert!(keys(&mut other, Some("yes"), 0).iter().all(|key| !first.contains(key)));
}

#[test]
fn a_turn_that_is_given_up_makes_no_more_calls() {
    let program = payer();
    let machine = Machine::new(&program);
    let mut session = machine.session(None).unwrap();
    let mut tools = Keys::default();
    turn(&machine, &mut session, None, &mut tools, &mut Shown::default()).unwrap();
    let before = session.clone();
    let mut shown = Shown { cancel_at: Some("pay"), ..Shown::default() };
    let given_up = turn(&machine, &mut session, Some("yes"), &mut tools, &mut shown);
    assert_eq!(given_up, Err(StartError::Cancelled));
    assert_eq!(tools.seen.len(), 1);
    session = before;
    let done =
        turn(&machine, &mut session, Some("yes"), &mut tools, &mut Shown::default()).unwrap();
    assert_eq!((done.status, tools.seen.len()), (Status::Await, 4));
    assert_eq!(tools.seen[0], tools.seen[1]);
}
