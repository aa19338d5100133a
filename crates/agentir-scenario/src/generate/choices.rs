//! The choice sequence that drives generated conversations: everything that the outside world
//! decides is a numbered choice.

use super::Shared;
use crate::intents::Intent;
use agentir_model::{Offline, ScriptEntry};
use agentir_runtime::{
    Answer, Clock, Escalation, Event, EventKind, FailureKind, FieldSpec, Human, HumanReply, Model,
    ModelError, ModelRequest, ModelResponse, ModelTask, Observer, Purpose, SplitMix64, ToolCall,
    ToolFailure, ToolUse, Tools, Usage,
};
use serde_json::{Map, Value as Json, json};
use std::cell::RefCell;

/// A choice: the chosen alternative and the number of alternatives.
pub(crate) type Choice = (usize, usize);

/// The choices of a conversation that are determined in advance.
#[derive(Clone, Debug, Default)]
pub(super) struct ChoiceSequence {
    /// The first choices.
    pub(super) choices: Vec<usize>,
    /// The seed for further choices; without it, the first alternative is chosen.
    pub(super) random_seed: Option<u64>,
}

/// A pseudo-random choice that depends on the seed only.
fn random_choice(seed: u64, at: usize, ways: usize) -> usize {
    let ways = u64::try_from(ways.max(1)).unwrap_or(1);
    let at = u64::try_from(at).unwrap_or(u64::MAX);
    let mut random = SplitMix64::new(seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(at));
    usize::try_from(random.next() % ways).unwrap_or(0)
}

/// The outside world of a generated conversation, which records its choices. The model, the tools
/// and the people share it.
pub(super) struct ChoiceWorld<'v> {
    pub(super) shared: &'v Shared<'v>,
    inner: RefCell<Inner>,
}

/// A recorded tool call.
pub(crate) struct RecordedCall {
    pub(crate) tool: String,
    pub(crate) result: Result<Json, ToolFailure>,
    /// Whether the answer was no choice: the arguments were rejected, or the tool answers by itself.
    pub(crate) is_fixed: bool,
}

#[derive(Default)]
struct Inner {
    plan: ChoiceSequence,
    taken: Vec<Choice>,
    answers: Vec<ScriptEntry>,
    calls: Vec<RecordedCall>,
    humans: Vec<HumanReply>,
    /// The intents of users and models, by turn.
    intents: Vec<Vec<Intent>>,
    conversed: usize,
}

/// The recording of a conversation.
pub(crate) struct Recording {
    pub(crate) taken: Vec<Choice>,
    pub(crate) answers: Vec<ScriptEntry>,
    pub(crate) calls: Vec<RecordedCall>,
    pub(crate) humans: Vec<HumanReply>,
    /// The intents of users and models, by turn.
    pub(crate) intents: Vec<Vec<Intent>>,
}

impl<'v> ChoiceWorld<'v> {
    pub(super) fn new(shared: &'v Shared<'v>, plan: ChoiceSequence) -> Self {
        let inner = RefCell::new(Inner { plan, ..Inner::default() });
        Self { shared, inner }
    }

    /// Starts a turn.
    pub(super) fn turn(&self) {
        self.inner.borrow_mut().intents.push(Vec::new());
    }

    /// Chooses one of the alternatives: as determined in advance, else pseudo-random, else the
    /// first.
    pub(super) fn choose(&self, ways: usize) -> usize {
        let mut inner = self.inner.borrow_mut();
        let at = inner.taken.len();
        let chosen = match (inner.plan.choices.get(at), inner.plan.random_seed) {
            (Some(planned), _) => *planned,
            (None, None) => 0,
            (None, Some(seed)) => random_choice(seed, at, ways),
        };
        let chosen = chosen.min(ways.saturating_sub(1));
        inner.taken.push((chosen, ways));
        chosen
    }

    fn record(&self, request: &ModelRequest, answer: &Answer, entry: ScriptEntry) {
        let entry =
            ScriptEntry { agent: Some(request.agent.clone()), step: request.step.clone(), ..entry };
        let mut inner = self.inner.borrow_mut();
        inner.answers.push(entry);
        if let Some(turn) = inner.intents.last_mut() {
            turn.extend(Intent::of(self.shared.effects, request, answer));
        }
    }

    pub(super) fn into_recording(self) -> Recording {
        let Inner { taken, answers, calls, humans, intents, .. } = self.inner.into_inner();
        Recording { taken, answers, calls, humans, intents }
    }

    fn arguments(&self, fields: &[FieldSpec]) -> Map<String, Json> {
        fields
            .iter()
            .filter_map(|f| {
                Some((f.name.clone(), self.shared.values.of_field(f).into_iter().next()?))
            })
            .collect()
    }
}

pub(super) struct ChoosingModel<'w, 'v>(pub(super) &'w ChoiceWorld<'v>);

impl Model for ChoosingModel<'_, '_> {
    fn respond(
        &mut self,
        request: &ModelRequest,
        _: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        let world = self.0;
        let (answer, entry) = match &request.task {
            ModelTask::Extract { fields, asked, .. } => {
                let field = asked
                    .as_ref()
                    .and_then(|name| fields.iter().find(|f| f.name == *name))
                    .or_else(|| fields.first());
                let values = field.map(|f| world.shared.values.of_field(f)).unwrap_or_default();
                // One more alternative: the user does not provide a value.
                let chosen = world.choose(values.len() + 1);
                let mut found = Map::new();
                if let (Some(field), Some(value)) = (field, values.get(chosen)) {
                    found.insert(field.name.clone(), value.clone());
                }
                let entry = ScriptEntry { values: Some(found.clone()), ..ScriptEntry::default() };
                (Answer::Values(found), entry)
            }
            ModelTask::Choose { candidates, .. } => {
                let chosen = world.choose(candidates.len() + 1);
                let names: Vec<String> =
                    candidates.get(chosen).map(|c| c.name.clone()).into_iter().collect();
                let entry = ScriptEntry { choose: Some(names.clone()), ..ScriptEntry::default() };
                (Answer::Choice(names.into_iter().map(|n| (n, 1.0)).collect()), entry)
            }
            ModelTask::Judge { .. } => {
                let holds = world.choose(2) == 0;
                (
                    Answer::Verdict(holds),
                    ScriptEntry { holds: Some(holds), ..ScriptEntry::default() },
                )
            }
            // They are sent only to models that ask for them.
            ModelTask::Several { .. } | ModelTask::Summarize { .. } => {
                return Err(ModelError::Unavailable("it answers single questions".to_owned()));
            }
            ModelTask::Converse { tools, .. } => {
                let chosen = world.choose(tools.len() + 1);
                let mut inner = world.inner.borrow_mut();
                inner.conversed += 1;
                let number = inner.conversed;
                drop(inner);
                match chosen.checked_sub(1).and_then(|n| tools.get(n)) {
                    Some(tool) => {
                        let arguments =
                            if tool.purpose == Purpose::Call || tool.purpose == Purpose::Collect {
                                world.arguments(&tool.parameters)
                            } else {
                                Map::new()
                            };
                        let name = tool.name.clone();
                        let call = serde_json::from_value(
                            json!({ "name": name, "arguments": arguments.clone() }),
                        );
                        let entry = ScriptEntry {
                            calls: call.into_iter().collect(),
                            ..ScriptEntry::default()
                        };
                        let call = ToolUse { id: format!("call{number}"), name, arguments };
                        (Answer::Message { text: String::new(), calls: vec![call] }, entry)
                    }
                    None => {
                        let text = format!("({}, {number})", request.agent);
                        let entry =
                            ScriptEntry { say: Some(text.clone()), ..ScriptEntry::default() };
                        (Answer::Message { text, calls: Vec::new() }, entry)
                    }
                }
            }
        };
        world.record(request, &answer, entry);
        Ok(ModelResponse { answer, usage: Usage::default() })
    }
}

pub(super) struct ChoosingTools<'w, 'v>(pub(super) &'w ChoiceWorld<'v>);

impl Tools for ChoosingTools<'_, '_> {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let world = self.0;
        // What answers by itself, and what rejects its arguments, does the same in the replay.
        let answer = world.shared.checks.borrow_mut().call(call);
        if answer.is_err() || world.shared.alone.contains(call.name) {
            let (tool, result) = (call.name.to_owned(), answer.clone());
            world.inner.borrow_mut().calls.push(RecordedCall { tool, result, is_fixed: true });
            return answer;
        }
        let names = world.shared.names.get(call.name).map(Vec::as_slice).unwrap_or_default();
        let results = world.shared.values.of_tool(call.name, call.tool, names);
        // Two more alternatives: an error and a timeout.
        let chosen = world.choose(results.len() + 2);
        let result = match results.get(chosen) {
            Some(result) => Ok(result.clone()),
            None if chosen == results.len() => {
                Err(ToolFailure::new(FailureKind::Error, "the tool failed"))
            }
            None => Err(ToolFailure::new(FailureKind::Timeout, "the tool took too long")),
        };
        let mut inner = world.inner.borrow_mut();
        let tool = call.name.to_owned();
        inner.calls.push(RecordedCall { tool, result: result.clone(), is_fixed: false });
        result
    }

    fn refusal(&self, call: &ToolCall<'_>) -> Option<ToolFailure> {
        self.0.shared.checks.borrow().refusal(call)
    }
}

pub(super) struct ChoosingHuman<'w, 'v>(pub(super) &'w ChoiceWorld<'v>);

impl Human for ChoosingHuman<'_, '_> {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        let outcomes = [Some("resolved"), Some("handed_back"), Some("escalated_further"), None];
        let chosen = self.0.choose(outcomes.len());
        let outcome = outcomes
            .get(chosen)
            .copied()
            .flatten()
            .map(|name| Map::from_iter([(name.to_owned(), Json::Bool(true))]));
        let reply = HumanReply { messages: Vec::new(), outcome };
        self.0.inner.borrow_mut().humans.push(reply.clone());
        reply
    }
}

/// A clock with a fixed time.
pub(crate) struct FixedClock;

impl FixedClock {
    /// What is extracted without a model is extracted at this time.
    pub(crate) fn extractor() -> Offline {
        let now = jiff::Timestamp::from_millisecond(Self.now()).unwrap_or_default();
        Offline::at(now.to_zoned(jiff::tz::TimeZone::UTC))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> i64 {
        1_772_445_600_000
    }
    fn random(&self) -> u64 {
        0x9E37_79B9_7F4A_7C15
    }
    fn sleep(&self, _: u64) {}
}

/// Records the path of the conversation.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) path: Vec<usize>,
    pub(super) step: Option<String>,
}

impl Observer for Recorder {
    fn event(&mut self, event: &Event) {
        if let EventKind::Node { node, .. } = event.kind {
            self.path.push(node);
            self.step.clone_from(&event.step);
        }
    }
}
