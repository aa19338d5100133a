//! What a model is sent: the full requests of a few conversations, for people to read.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests end by panicking")]

use agentir_lang_abl::Options;
use agentir_model::{Chat, Offline};
use agentir_runtime::{
    Host, Input, Machine, Model, ModelError, ModelRequest, ModelResponse, NoHuman,
};
use agentir_scenario::FixedClock;
use agentir_tests::check::{File, check};
use agentir_tests::samples::{files_below, root};
use agentir_tools::{StubFile, Stubs, Toolbox};
use serde_json::Value as Json;
use std::fmt::Write;
use std::fs;

/// The offline model, which writes down what a service would be sent.
struct Recorder {
    model: Offline,
    log: String,
    requests: usize,
}

impl Model for Recorder {
    fn combines_questions(&self) -> bool {
        true
    }

    fn respond(
        &mut self,
        request: &ModelRequest,
        partial: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        self.requests += 1;
        let chat = Chat::of(&request.task);
        let log = &mut self.log;
        let (number, kind) = (self.requests, request.task.kind());
        let _ =
            writeln!(log, "\n======== request {number}: {} by {} ========", kind, request.agent);
        for message in &chat.messages {
            let text =
                |name: &str| message[name].as_str().unwrap_or_default().trim_end().to_owned();
            let _ = writeln!(log, "[{}]", text("role"));
            if !text("content").is_empty() {
                let _ = writeln!(log, "{}", text("content"));
            }
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let of = &call["function"];
                let _ = writeln!(log, "calls {} {}", of["name"].as_str().unwrap(), of["arguments"]);
            }
        }
        for tool in &chat.tools {
            let of = &tool["function"];
            let _ = writeln!(log, "[tool] {}: {}", of["name"].as_str().unwrap(), of["description"]);
            for (name, schema) in of["parameters"]["properties"].as_object().unwrap() {
                let needed = of["parameters"]["required"]
                    .as_array()
                    .unwrap()
                    .contains(&Json::from(name.as_str()));
                let _ = writeln!(log, "  {name}{}: {schema}", if needed { "" } else { "?" });
            }
        }
        if let Some(form) = &chat.form {
            let _ =
                writeln!(log, "[form] {}", serde_json::to_string_pretty(&form["schema"]).unwrap());
        }
        let response = self.model.respond(request, partial)?;
        let answer = serde_json::to_string(&response.answer).unwrap();
        let _ = writeln!(self.log, "[answer] {answer}");
        Ok(response)
    }
}

/// All requests of a conversation with agents of ours, a file or a folder.
fn requests(agents: &str, stubs: &str, messages: &[&str]) -> String {
    let at = root().join("corpus").join(agents);
    let files = if at.is_dir() {
        files_below(&at)
    } else {
        vec![File { name: agents.to_owned(), text: fs::read_to_string(&at).unwrap() }]
    };
    let checked = check(&files, Options::default());
    let machine = Machine::new(&checked.program);
    let clock = FixedClock::at("2026-03-02T10:00:00Z").unwrap();
    let extractor = Offline::at(clock.moment().clone());
    let mut model = Recorder { model: extractor.clone(), log: String::new(), requests: 0 };
    let stubs = if stubs.is_empty() {
        Stubs::new(StubFile::default()).unwrap()
    } else {
        Stubs::read(stubs).unwrap()
    };
    let mut tools = Toolbox::new(&checked.program).stubs(stubs);
    let mut session = machine.session(None).unwrap();
    for message in std::iter::once(None).chain(messages.iter().map(Some)) {
        if let Some(message) = message {
            let _ = writeln!(model.log, "\n######## the user says: {message}");
        }
        let mut host = Host {
            model: &mut model,
            extractor: &extractor,
            tools: &mut tools,
            human: &mut NoHuman,
            clock: &clock,
            observer: &mut (),
        };
        let input = message.map(|message| Input::text(*message));
        let turn = machine.turn(&mut session, input.as_ref(), &mut host).unwrap();
        for said in &turn.messages {
            let _ = writeln!(model.log, "-------- {} says: {}", said.agent, said.text);
        }
    }
    model.log
}

#[test]
fn an_agent_led_by_the_model() {
    insta::assert_snapshot!(requests(
        "abl/valid/car_wash.agent.abl",
        "tools:\n  sell_ticket:\n    - answer: { ticket: T-1, bay: 2 }\n",
        &["hello", "plus, please", "W-1234 AB", "yes"],
    ));
}

#[test]
fn an_agent_with_guardrails_and_memory() {
    insta::assert_snapshot!(requests(
        "abl/valid/pharmacy_refill.agent.abl",
        "tools:\n  find_prescription:\n    - answer: { prescription_id: R-7, medicine: Ibuprofen, refills_left: 2 }\n",
        &["I need a refill, my number is P-4471", "3 May 1980"],
    ));
}

#[test]
fn a_flow() {
    insta::assert_snapshot!(requests(
        "abl/valid/parcel_redirect.agent.abl",
        "tools:\n  service_window:\n    - answer: { open: true }\n  track_parcel:\n    - answer: { status: in_transit, eta: friday }\n",
        &["hello", "AB12345"],
    ));
}

#[test]
fn a_supervisor() {
    insta::assert_snapshot!(requests(
        "abl/valid/harbour_office",
        "",
        &["hello", "I need a berth for my boat"],
    ));
}

#[test]
fn an_ensemble() {
    insta::assert_snapshot!(requests(
        "adl/valid/ferry",
        "tools:\n  get_day:\n    - answer: [{ arg: day, value: Monday }]\n  find_thing:\n    - answer: { found: true }\n",
        &["hello", "I lost my umbrella"],
    ));
}

#[test]
fn subagents_led_by_a_procedure() {
    insta::assert_snapshot!(requests(
        "agent-script/valid/observatory_tickets.agent",
        "",
        &["hello", "I would like to see the stars"],
    ));
}
