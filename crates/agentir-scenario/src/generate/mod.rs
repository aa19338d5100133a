//! Generation of conversations that cover as much of a program as possible.
//!
//! Everything that is not determined by the program (the user's messages, the model's choices,
//! results of tools) is a numbered choice. A conversation is a sequence of choices. From each
//! conversation that increases the coverage, all sequences that differ in one choice are tried;
//! when none is left, choices are made at random, with fixed seeds. Candidate values come from the
//! solver, which finds states that satisfy the guards of the graph. The search is limited by the
//! number of conversations, not by time.

mod choices;
mod values;
mod write;

use crate::coverage::Coverage;
use crate::intents::Effects;
use agentir_ir::{ActionHandler, Agent, Digression, Program, Statement, Tool};
use agentir_runtime::{AgentMessage, Host, Input, Machine, StartError, Status};
use agentir_tools::{StubCase, StubFile, Stubs, Toolbox};
use choices::{ChoiceSequence, ChoiceWorld, ChoosingHuman, ChoosingModel, ChoosingTools, Recorder};
pub(crate) use choices::{FixedClock, Recording};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::VecDeque;
use values::Values;

/// The number of consecutive random conversations without new coverage after which the search ends.
const MAX_FRUITLESS: u32 = 100;

/// The limits of the search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of conversations to try.
    pub max_tries: usize,
    /// The maximum number of user messages per conversation.
    pub max_turns: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_tries: 4_000, max_turns: 20 }
    }
}

/// A turn of a generated conversation.
#[derive(Clone, Debug)]
pub struct GeneratedTurn {
    /// The user's input; `None` for the opening turn.
    pub input: Option<Input>,
    /// The messages of the agents.
    pub messages: Vec<AgentMessage>,
    /// The status after the turn.
    pub status: Status,
    /// The agent in charge after the turn.
    pub agent: Option<String>,
    /// The current step after the turn.
    pub step: Option<String>,
    /// The entered nodes, in order.
    pub path: Vec<usize>,
}

/// A generated conversation that increases the coverage.
pub struct Conversation {
    /// The turns.
    pub turns: Vec<GeneratedTurn>,
    /// The recording.
    recording: Recording,
}

impl Conversation {
    /// The recording.
    pub(crate) const fn recording(&self) -> &Recording {
        &self.recording
    }
}

/// The result of the generation.
pub struct Generated {
    /// The conversations.
    pub conversations: Vec<Conversation>,
    /// Their total coverage.
    pub coverage: Coverage,
}

/// Generates conversations that together cover as much of the program as possible.
///
/// # Errors
/// Returns a [`StartError`] if the program has no entry agent.
pub fn generate(
    machine: &Machine<'_>,
    entry: Option<&str>,
    limits: Limits,
) -> Result<Generated, StartError> {
    let values = Values::of(machine.cfg());
    let names = values::result_names(machine.program().agents());
    let alone = self_contained(machine.program());
    let checks = RefCell::new(toolbox(machine.program(), &alone));
    let effects = Effects::of(machine.cfg());
    let shared = Shared {
        values: &values,
        names: &names,
        checks: &checks,
        alone: &alone,
        effects: &effects,
    };
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
        let conversation = run_conversation(machine, entry, plan, &shared, limits.max_turns)?;
        let before = coverage.size();
        for turn in &conversation.turns {
            coverage.add(&turn.path);
        }
        if coverage.size() == before {
            continue;
        }
        fruitless = 0;
        // Alternatives to earlier choices were already queued with the conversation that this one
        // derives from.
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

/// The context shared by all conversations of a program.
struct Shared<'g> {
    values: &'g Values,
    names: &'g FxHashMap<String, Vec<String>>,
    /// Validates the arguments of calls.
    checks: &'g RefCell<Toolbox>,
    /// The tools that answer by themselves.
    alone: &'g FxHashSet<String>,
    /// The effects of the names that agents expose.
    effects: &'g Effects,
}

/// Tools that accept every call with valid arguments. Those that are scripts and tables of the program answer by themselves.
fn toolbox(program: &Program, alone: &FxHashSet<String>) -> Toolbox {
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
    let names = names.chain(called).filter(|name| !alone.contains(name));
    let tools = names.map(|name| (name, vec![case()])).collect();
    // A case that consists of an answer is always valid.
    Toolbox::new(program).stubs(Stubs::new(StubFile { tools }).unwrap_or_default())
}

/// The names of the tools of a program that always answer by themselves.
pub(crate) fn self_contained(program: &Program) -> FxHashSet<String> {
    let name = |tool: &Tool| tool.name.value.to_string();
    let (alone, others): (Vec<_>, Vec<_>) =
        program.tools().partition(|t| Toolbox::is_self_contained(t));
    let others: FxHashSet<String> = others.into_iter().map(name).collect();
    alone.into_iter().map(name).filter(|name| !others.contains(name)).collect()
}

fn run_conversation(
    machine: &Machine<'_>,
    entry: Option<&str>,
    plan: ChoiceSequence,
    given: &Shared<'_>,
    max_turns: usize,
) -> Result<Conversation, StartError> {
    let world = ChoiceWorld::new(given, plan);
    let extractor = FixedClock::extractor();
    let mut session = machine.session(entry)?;
    let mut turns = Vec::new();
    let mut input = None;
    loop {
        world.turn();
        let mut recorder = Recorder::default();
        let mut host = Host {
            model: &mut ChoosingModel(&world),
            extractor: &extractor,
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

/// The possible inputs of the user: values that conditions test for, keywords of digressions,
/// buttons, and one unexpected message.
fn possible_inputs(
    machine: &Machine<'_>,
    agent: Option<&str>,
    world: &ChoiceWorld<'_>,
) -> Vec<Input> {
    let mut all = vec![Input::text("something else")];
    all.extend(world.shared.values.inputs.iter().map(Input::text));
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
        all.push(Input { text: id.clone(), action: Some((id, None)), ..Input::default() });
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
