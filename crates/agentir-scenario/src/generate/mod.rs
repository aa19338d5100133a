//! Conversations that come to every place they can come to.
//!
//! All that no text decides (what the user says, what the model picks, what tools give) is a decision
//! with a number of ways. A conversation is its list of decisions; from one that came to a new place,
//! every list that differs in one decision is tried as well; when that leads nowhere any more,
//! conversations stray, by chances that are the same each time. Values come from the guards of the graph,
//! by the solver. The search is bounded by the number of conversations, never by a clock.

mod choices;
mod values;
mod write;

use crate::coverage::Coverage;
use crate::replay::Effects;
use agentir_ir::{ActionHandler, Agent, Digression, Program, Statement};
use agentir_runtime::{AgentMessage, Host, Input, Machine, StartError, Status};
use agentir_tools::{StubCase, StubFile, Stubs, Toolbox};
use choices::{ChoiceSequence, ChoiceWorld, ChoosingHuman, ChoosingModel, ChoosingTools, Recorder};
pub(crate) use choices::{FixedClock, Recording};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::VecDeque;
use values::Values;

/// So many conversations in a row stray without coming to a new place before the search ends.
const MAX_FRUITLESS: u32 = 100;

/// How far the search goes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// So many conversations are tried.
    pub max_tries: usize,
    /// So many messages a conversation has at most.
    pub max_turns: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_tries: 4_000, max_turns: 20 }
    }
}

/// A turn of a conversation that was made.
#[derive(Clone, Debug)]
pub struct GeneratedTurn {
    /// What the user sent; none before they speak.
    pub input: Option<Input>,
    /// What the agents said.
    pub messages: Vec<AgentMessage>,
    /// How the conversation stands.
    pub status: Status,
    /// The agent in charge at the end.
    pub agent: Option<String>,
    /// The step it is in.
    pub step: Option<String>,
    /// The places that were come to, in their order.
    pub path: Vec<usize>,
}

/// A conversation that came to a place none before it came to.
pub struct Conversation {
    /// Its turns.
    pub turns: Vec<GeneratedTurn>,
    /// What was decided in it.
    recording: Recording,
}

impl Conversation {
    /// What was decided in it.
    pub(crate) const fn recording(&self) -> &Recording {
        &self.recording
    }
}

/// What was found.
pub struct Generated {
    /// The conversations.
    pub conversations: Vec<Conversation>,
    /// Where they came to, together.
    pub coverage: Coverage,
}

/// Looks for conversations that together come to as many places as they can.
///
/// # Errors
/// [`StartError`] if no agent talks first.
pub fn generate(
    machine: &Machine<'_>,
    entry: Option<&str>,
    limits: Limits,
) -> Result<Generated, StartError> {
    let values = Values::of(machine.cfg());
    let names = values::result_names(machine.program().agents());
    let checks = RefCell::new(toolbox(machine.program()));
    let effects = Effects::of(machine.cfg());
    let mut waiting: VecDeque<ChoiceSequence> = VecDeque::from([ChoiceSequence::default()]);
    let (mut seed, mut fruitless) = (0, 0);
    let mut coverage = Coverage::default();
    let mut conversations = Vec::new();
    let mut tries = 0;
    loop {
        let plan = waiting.pop_front().unwrap_or_else(|| {
            seed += 1;
            ChoiceSequence { choices: Vec::new(), random_seed: Some(seed) }
        });
        tries += 1;
        fruitless += u32::from(plan.random_seed.is_some());
        if tries > limits.max_tries || fruitless > MAX_FRUITLESS {
            break;
        }
        let depth = plan.choices.len();
        let conversation = run_conversation(
            machine,
            entry,
            plan,
            &Shared { values: &values, names: &names, checks: &checks, effects: &effects },
            limits.max_turns,
        )?;
        let before = coverage.size();
        for turn in &conversation.turns {
            coverage.add(&turn.path);
        }
        if coverage.size() == before {
            continue;
        }
        fruitless = 0;
        // Decisions before the last that was changed were tried with the conversation it came from.
        let taken = &conversation.recording.taken;
        for (at, (chosen, ways)) in taken.iter().enumerate().skip(depth.saturating_sub(1)) {
            for other in 0..*ways {
                if other != *chosen {
                    let before = taken.iter().take(at).map(|(chosen, _)| *chosen);
                    let choices = before.chain([other]).collect();
                    waiting.push_back(ChoiceSequence { choices, random_seed: None });
                }
            }
        }
        conversations.push(conversation);
    }
    Ok(Generated { conversations, coverage })
}

/// What all conversations of a program have in common.
struct Shared<'g> {
    values: &'g Values,
    names: &'g FxHashMap<String, Vec<String>>,
    checks: &'g RefCell<Toolbox>,
    effects: &'g Effects,
}

/// Tools that take every call whose arguments are in order.
fn toolbox(program: &Program) -> Toolbox {
    let case = || StubCase { answer: Some(serde_json::Value::Null), ..StubCase::default() };
    let names = program.tools().map(|t| t.name.value.to_string());
    let mut called = Vec::new();
    for agent in program.agents() {
        agentir_flow::bodies(agent, &mut |body| {
            for statement in &body.0 {
                if let Statement::Call(call) = statement {
                    called.push(call.tool.value.to_string());
                }
            }
        });
    }
    let tools = names.chain(called).map(|name| (name, vec![case()])).collect();
    // A case with nothing but an answer contradicts nothing.
    Toolbox::new(program).stubs(Stubs::new(StubFile { tools }).unwrap_or_default())
}

fn run_conversation(
    machine: &Machine<'_>,
    entry: Option<&str>,
    plan: ChoiceSequence,
    given: &Shared<'_>,
    max_turns: usize,
) -> Result<Conversation, StartError> {
    let world = ChoiceWorld::new(given.values, given.names, given.checks, given.effects, plan);
    let mut session = machine.session(entry)?;
    let mut turns = Vec::new();
    let mut input = None;
    loop {
        world.turn();
        let mut recorder = Recorder::default();
        let mut host = Host {
            model: &mut ChoosingModel(&world),
            tools: &mut ChoosingTools(&world),
            human: &mut ChoosingHuman(&world),
            clock: &FixedClock,
            observer: &mut recorder,
        };
        let turn = machine.turn(&mut session, input.as_ref(), &mut host)?;
        let status = turn.status;
        turns.push(GeneratedTurn {
            input,
            messages: turn.messages,
            status,
            agent: session.agent().map(str::to_owned),
            step: recorder.step,
            path: recorder.path,
        });
        if status != Status::Await || turns.len() > max_turns {
            break;
        }
        let inputs = possible_inputs(machine, session.agent(), &world);
        let chosen = world.choose(inputs.len());
        input = inputs.into_iter().nth(chosen);
        if input.is_none() {
            break;
        }
    }
    Ok(Conversation { turns, recording: world.into_recording() })
}

/// What the user may send: what conditions ask for, words of digressions, buttons, and something that
/// nobody expects.
fn possible_inputs(
    machine: &Machine<'_>,
    agent: Option<&str>,
    world: &ChoiceWorld<'_>,
) -> Vec<Input> {
    let mut all = vec![Input::text("something else")];
    all.extend(world.values.inputs.iter().map(Input::text));
    let agent: Option<&Agent> = agent.and_then(|name| machine.program().agent(name));
    let Some(agent) = agent else { return all };
    let flow = agent.flow.as_ref();
    let steps = || flow.into_iter().flat_map(|f| f.definitions.values());
    let digressions: Vec<&Digression> = flow
        .into_iter()
        .flat_map(|f| &f.global_digressions)
        .chain(steps().flat_map(|s| s.digressions.iter().chain(&s.sub_intents)))
        .collect();
    for digression in digressions {
        all.extend(digression.keywords.first().map(|k| Input::text(k.text.value.as_str())));
    }
    let handlers: Vec<&ActionHandler> =
        agent.action_handlers.iter().chain(steps().flat_map(|s| &s.on_action)).collect();
    for handler in handlers {
        let id = handler.action_id.value.to_string();
        all.push(Input { text: id.clone(), action: Some((id, None)) });
    }
    let mut seen = Vec::new();
    all.retain(|input| {
        let new = !seen.contains(input);
        if new {
            seen.push(input.clone());
        }
        new
    });
    all
}
