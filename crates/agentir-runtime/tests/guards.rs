//! What is guarded does not happen unless its guard holds: random programs, random conversations, and an oracle that
//! evaluates the guards by itself.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::panic,
    missing_docs
)]

#[path = "guards/generate.rs"]
mod generate;
#[path = "guards/oracle.rs"]
mod oracle;
#[path = "guards/random.rs"]
mod random;
mod support;

use agentir_runtime::{
    Answer, Clock, Escalation, FailureKind, Host, Human, HumanReply, Input, Machine, Model,
    ModelError, ModelRequest, ModelResponse, ModelTask, Purpose, Status, ToolCall, ToolFailure,
    ToolUse, Tools, Usage,
};
use oracle::Oracle;
use random::Random;
use serde_json::{Map, Value as Json, json};

/// No turn may make more calls: retries are limited.
const MAX_CALLS: usize = 100;

/// A model that does anything.
struct Anyone {
    random: Random,
    /// Whether it is asked several questions together.
    together: bool,
}

impl Model for Anyone {
    fn combines_questions(&self) -> bool {
        self.together
    }

    fn summarizes(&self) -> bool {
        self.together
    }

    fn respond(
        &mut self,
        request: &ModelRequest,
        partial: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        if self.random.chance(4) {
            return Err(match self.random.below(3) {
                0 => ModelError::Timeout,
                1 => ModelError::Refused("no".to_owned()),
                _ => ModelError::Malformed("no".to_owned()),
            });
        }
        let answer = self.answer(&request.task, partial);
        Ok(ModelResponse { answer, usage: Usage::default() })
    }
}

impl Anyone {
    fn answer(&mut self, task: &ModelTask, partial: &mut dyn FnMut(&str)) -> Answer {
        if let ModelTask::Several { questions } = task {
            return Answer::Several(questions.iter().map(|q| self.answer(q, partial)).collect());
        }
        let random = &mut self.random;
        match task {
            ModelTask::Extract { message, fields, asked, .. } => {
                let mut values = Map::new();
                for field in fields {
                    let said = message.split_once(&format!("{}=", field.name)).map(|(_, v)| v);
                    let asked = asked.as_ref() == Some(&field.name) && random.chance(60);
                    let value = match field.name.as_str() {
                        "ok" => json!(random.chance(50)),
                        "n" => json!(random.below(4)),
                        _ => json!(random.pick(&["go", "stop", "seven"])),
                    };
                    if said.is_some() || asked {
                        values.insert(field.name.clone(), value);
                    }
                }
                Answer::Values(values)
            }
            ModelTask::Choose { candidates, .. } => {
                let chosen = (!candidates.is_empty() && random.chance(40))
                    .then(|| candidates[random.below(candidates.len())].name.clone());
                Answer::Choice(chosen.into_iter().map(|name| (name, 0.9)).collect())
            }
            ModelTask::Judge { .. } => Answer::Verdict(random.chance(50)),
            ModelTask::Converse { tools, .. } => {
                let tools: Vec<_> = tools.iter().filter(|t| t.purpose != Purpose::Return).collect();
                let mut calls = Vec::new();
                if random.chance(60) {
                    for n in 0..1 + random.below(2) {
                        let name = match tools.len() {
                            0 => "act".to_owned(),
                            _ if random.chance(10) => "act".to_owned(),
                            len => tools[random.below(len)].name.clone(),
                        };
                        let arguments = json!({
                            "amount": random.below(9),
                            "note": random.pick(&["fine", "seven", "one two three"]),
                            "ok": random.chance(50),
                            "word": random.pick(&["go", "stop"]),
                        });
                        let Json::Object(arguments) = arguments else { unreachable!() };
                        calls.push(ToolUse { id: format!("c{n}"), name, arguments });
                    }
                }
                let text = match calls.is_empty() || random.chance(30) {
                    true => random.pick(&["fine", "the secret is this", "one two three four five"]),
                    false => "",
                };
                partial(text);
                Answer::Message { text: text.to_owned(), calls }
            }
            ModelTask::Several { .. } | ModelTask::Summarize { .. } => {
                Answer::Summary("the secret was mentioned".to_owned())
            }
        }
    }
}

struct Anything(Random);

impl Tools for Anything {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        if self.0.chance(20) {
            let kind = match self.0.below(3) {
                0 => FailureKind::Timeout,
                1 => FailureKind::Error,
                _ => FailureKind::Api,
            };
            return Err(ToolFailure::new(kind, "it failed"));
        }
        Ok(match call.name {
            "probe" | "Probe" => json!({ "ok": self.0.chance(50) }),
            _ => json!({ "done": true }),
        })
    }
}

struct Anybody(Random);

impl Human for Anybody {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        let outcome = json!({ "resolved": true, "handed_back": true });
        let outcome = outcome.as_object().cloned().filter(|_| self.0.chance(70));
        HumanReply { messages: Vec::new(), outcome }
    }
}

struct Still;

impl Clock for Still {
    fn now(&self) -> i64 {
        1_780_000_000_000
    }
    fn random(&self) -> u64 {
        7
    }
    fn sleep(&self, _: u64) {}
}

/// Runs a program with a conversation. Returns what was wrong, how many guarded actions there were, and how many were
/// refused.
fn converse(seed: u64) -> (Option<String>, usize, usize) {
    let mut random = Random::new(seed);
    let files = generate::program(&mut random);
    let texts: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let program = support::together(&texts);
    let machine = Machine::new(&program);
    let mut session = machine.session(None).unwrap();
    let mut oracle = Oracle::new(&program, session.agent().unwrap());
    let mut model = Anyone { random: Random::new(random.next()), together: random.chance(50) };
    let mut tools = Anything(Random::new(random.next()));
    let mut human = Anybody(Random::new(random.next()));
    let mut problem = None;
    for turn in 0..8 {
        let stored = serde_json::to_string(&session).unwrap();
        session = serde_json::from_str(&stored).unwrap();
        let message = random.pick(&[
            "go", "go", "yes", "no", "help", "ok=1", "n=2", "word=x", "review", "back", "seven",
            "stop",
        ]);
        let mut input = Input::text(message);
        if random.chance(10) {
            input.action = Some(("press".to_owned(), None));
        }
        oracle.begin_turn();
        let input = (turn > 0).then_some(&input);
        oracle.trace.push(format!("--- {:?}", input.map(|i| i.text.as_str())));
        let mut host = Host {
            model: &mut model,
            extractor: &support::Patterns,
            tools: &mut tools,
            human: &mut human,
            clock: &Still,
            observer: &mut oracle,
        };
        let reply = machine.turn(&mut session, input, &mut host).unwrap();
        let failed = reply.error.is_some() && reply.status != Status::Failed;
        for message in &reply.messages {
            if !oracle.said.contains(&message.text) {
                oracle
                    .problems
                    .push(format!("`{}` reached the user, but not the trace", message.text));
            }
        }
        if !failed && !oracle.streamed.is_empty() {
            let said: String = oracle.said.concat();
            let streamed = oracle.streamed.replace(['\n', ' '], "");
            if !said.replace(['\n', ' '], "").contains(&streamed) && oracle.said.is_empty() {
                oracle.problems.push(format!("`{}` was streamed and not said", oracle.streamed));
            }
        }
        if oracle.calls > MAX_CALLS {
            oracle.problems.push(format!("{} calls in a turn", oracle.calls));
        }
        if failed {
            oracle.turn_failed();
        }
        if let Some(first) = oracle.problems.first() {
            let program: Vec<&str> = files.iter().map(|(_, text)| text.as_str()).collect();
            let program = program.join("\n=====\n");
            problem =
                Some(format!("seed {seed}: {first}\n{program}\n{}\n", oracle.trace.join("\n")));
            break;
        }
        if matches!(reply.status, Status::Done | Status::Failed) {
            break;
        }
    }
    (problem, oracle.guarded, oracle.refused)
}

fn check(seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let (mut guarded, mut refused) = (0, 0);
    let mut problems = Vec::new();
    for seed in seeds {
        let (problem, done, not_done) = converse(seed);
        guarded += done;
        refused += not_done;
        problems.extend(problem);
    }
    // The first one whole, and what the others are about.
    let rest = problems.iter().skip(1).take(30).filter_map(|problem| problem.lines().next());
    let shown: Vec<&str> = problems.iter().map(String::as_str).take(1).chain(rest).collect();
    assert!(problems.is_empty(), "{} of {count}:\n{}", problems.len(), shown.join("\n"));
    // The programs do guarded things, and try others.
    println!("{count} conversations, {guarded} guarded actions, {refused} refusals");
    assert!(guarded as u64 > count && refused as u64 > count, "{guarded} and {refused}");
}

#[test]
fn nothing_guarded_happens_unless_its_guard_holds() {
    check(0..600);
}

/// `cargo test -p agentir-runtime --release --test guards -- --ignored`; `CONVERSATIONS=600` for another number.
#[test]
#[ignore = "takes minutes"]
fn nothing_guarded_happens_in_ten_thousand_conversations() {
    check(0..from_environment("CONVERSATIONS").unwrap_or(10_000));
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// One conversation, by the seed that a failure names: `SEED=17 cargo test … -- --ignored one`.
#[test]
#[ignore = "for debugging"]
fn one_conversation() {
    let seed = from_environment("SEED").unwrap_or(0);
    if let (Some(problem), ..) = converse(seed) {
        panic!("{problem}");
    }
}
