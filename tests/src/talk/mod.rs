//! Whether the offline model answers sensibly: conversations with agents of every language, where each message has
//! criteria that a program can check.
//!
//! A dialogue names agents of ours, or of the external corpus, of which nothing is copied: the messages and the criteria
//! are ours. Some criteria hold for every answer, whatever the message is (`decency`).

use crate::check::{File, load};
use crate::samples::{external_folder, files_below, root};
use agentir_ir::{Agent, Program};
use agentir_lang_abl::Options;
use agentir_model::Offline;
use agentir_runtime::{
    Escalation, Event, EventKind, Host, Human, HumanReply, Input, Machine, Observer, Status,
};
use agentir_scenario::FixedClock;
use agentir_tools::{RecordedCall, StubCase, StubFile, Stubs, Toolbox};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

/// The sets of dialogues: those that the offline model was developed with; and those that were written before anything
/// was run on their agents. The first runs of the numbered ones, each after the repairs that the one before it led to,
/// gave 38 % (before any repair), 69 %, 77 %, 83 %, 48 %, 58 %, 59 %, 42 %, 57 % and 67 %; those from the fifth on are longer
/// and further from the words of the agents, and the eighth is of somebody who had seen none of the others.
pub const SETS: [(&str, &str); 12] = [
    ("known", include_str!("known.yaml")),
    ("held-out", include_str!("held_out.yaml")),
    ("blind-1", include_str!("blind_1.yaml")),
    ("blind-2", include_str!("blind_2.yaml")),
    ("blind-3", include_str!("blind_3.yaml")),
    ("blind-4", include_str!("blind_4.yaml")),
    ("blind-5", include_str!("blind_5.yaml")),
    ("blind-6", include_str!("blind_6.yaml")),
    ("blind-7", include_str!("blind_7.yaml")),
    ("blind-8", include_str!("blind_8.yaml")),
    ("blind-9", include_str!("blind_9.yaml")),
    ("blind-10", include_str!("blind_10.yaml")),
];

/// A file of dialogues.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dialogues {
    dialogues: Vec<Dialogue>,
}

/// A conversation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dialogue {
    /// The agents: a path in the repository.
    #[serde(default)]
    agents: Option<String>,
    /// The agents: a path in the external corpus.
    #[serde(default)]
    external: Option<String>,
    /// The entry agent, if the program does not define one.
    #[serde(default)]
    entry: Option<String>,
    /// What tools answer. Calls of others are refused, as by the command line without further options.
    #[serde(default)]
    tools: BTreeMap<String, Vec<StubCase>>,
    turns: Vec<Turn>,
}

/// A message and the criteria for its answer. Patterns are regular expressions, unanchored and case-insensitive.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    user: String,
    /// Patterns that occur in the answer.
    #[serde(default)]
    says: Vec<String>,
    /// Patterns that do not occur in the answer.
    #[serde(default)]
    never: Vec<String>,
    /// A pattern that occurs in the answer, which must request something.
    #[serde(default)]
    asks: Option<String>,
    /// Calls that are made, with patterns of their arguments. If it is empty, none may be made.
    #[serde(default)]
    calls: Option<BTreeMap<String, BTreeMap<String, String>>>,
    /// Patterns of variables, by name or `agent.name`.
    #[serde(default)]
    sets: BTreeMap<String, String>,
    /// The agent that is in charge afterwards, or has spoken.
    #[serde(default)]
    moves: Option<String>,
}

/// A message, its answer, and which criteria the answer does not meet.
#[derive(Debug)]
pub struct Reply {
    /// The message.
    pub user: String,
    /// The answer, one line per message or call.
    pub answer: Vec<String>,
    /// The unmet criteria; empty if the answer is sensible.
    pub faults: Vec<String>,
}

/// What came of a dialogue.
#[derive(Debug)]
pub struct Talk {
    /// The path of the agents.
    pub agents: String,
    /// What they say before the first message.
    pub opening: Vec<String>,
    /// The replies; `None` if the agents are not there.
    pub replies: Option<Vec<Reply>>,
}

/// Holds all dialogues of a set whose path contains `only`.
///
/// # Panics
/// If the set does not exist or is invalid.
#[must_use]
pub fn hold(set: &str, only: &str) -> Vec<Talk> {
    let all = dialogues(set);
    all.iter().filter(|d| path(d).contains(only)).map(hold_one).collect()
}

/// Holds all dialogues of a set whose agents are in the repository.
///
/// # Panics
/// If the set does not exist or is invalid.
#[must_use]
pub fn hold_own(set: &str) -> Vec<Talk> {
    dialogues(set).iter().filter(|d| d.external.is_none()).map(hold_one).collect()
}

fn dialogues(set: &str) -> Vec<Dialogue> {
    let (_, text) = SETS.iter().find(|(name, _)| *name == set).expect("there is such a set");
    let file: Dialogues = serde_saphyr::from_str(text).expect("the dialogues are valid");
    file.dialogues
}

/// The report: which messages were answered sensibly, and how many.
#[must_use]
pub fn report(set: &str, talks: &[Talk], verbose: bool) -> String {
    let mut out = String::new();
    let (mut all, mut sensible, mut absent) = (0, 0, 0);
    for talk in talks {
        let Some(replies) = &talk.replies else {
            absent += 1;
            let _ = writeln!(out, "\n{}: not there, skipped", talk.agents);
            continue;
        };
        let good = replies.iter().filter(|reply| reply.faults.is_empty()).count();
        all += replies.len();
        sensible += good;
        let _ = writeln!(out, "\n{}: {good} of {}", talk.agents, replies.len());
        if verbose {
            talk.opening.iter().for_each(|line| {
                let _ = writeln!(out, "      {line}");
            });
        }
        for reply in replies {
            let mark = if reply.faults.is_empty() { "ok" } else { "NO" };
            let _ = writeln!(out, "  {mark}  > {}", reply.user);
            if verbose || !reply.faults.is_empty() {
                reply.answer.iter().for_each(|line| {
                    let _ = writeln!(out, "      {line}");
                });
            }
            reply.faults.iter().for_each(|fault| {
                let _ = writeln!(out, "      ** {fault}");
            });
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
    let share = if all == 0 { 0.0 } else { sensible as f64 / all as f64 * 100.0 };
    let _ = writeln!(out, "\n{set}: {sensible} of {all} answers are sensible ({share:.0} %)");
    if absent > 0 {
        let _ = writeln!(out, "{absent} dialogues skipped: their agents are not there");
    }
    out
}

fn path(dialogue: &Dialogue) -> String {
    let external = dialogue.external.as_ref().map(|path| format!("external:{path}"));
    external.or_else(|| dialogue.agents.clone()).unwrap_or_default()
}

/// The files of the agents; `None` if they are not there.
fn files(dialogue: &Dialogue) -> Option<Vec<File>> {
    let at: PathBuf = match (&dialogue.external, &dialogue.agents) {
        (Some(path), _) => external_folder()?.join(path),
        (None, path) => root().join(path.as_ref()?),
    };
    if at.is_dir() {
        return Some(files_below(&at));
    }
    let text = fs::read_to_string(&at).ok()?;
    let name = at.file_name()?.to_string_lossy().into_owned();
    Some(vec![File { name, text }])
}

/// Nobody takes over.
struct Nobody;

impl Human for Nobody {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        HumanReply::default()
    }
}

/// Who spoke, and what failed.
#[derive(Default)]
struct Notes {
    spoke: Vec<String>,
    errors: Vec<String>,
}

impl Observer for Notes {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Say { .. } => self.spoke.push(event.agent.clone()),
            EventKind::Error { kind, message } => self.errors.push(format!("{kind}: {message}")),
            _ => {}
        }
    }
}

fn hold_one(dialogue: &Dialogue) -> Talk {
    let agents = path(dialogue);
    let Some(files) = files(dialogue) else {
        return Talk { agents, opening: Vec::new(), replies: None };
    };
    let loaded = load(&files, Options::default());
    let program = &loaded.programs.first().expect("the agents are a program").program;
    let machine = Machine::new(program);
    let clock = FixedClock::at("2026-03-02T10:00:00Z").expect("it is a time");
    let extractor = Offline::at(clock.moment().clone());
    let mut model = extractor.clone();
    let stubs = Stubs::new(StubFile { tools: dialogue.tools.clone() }).expect("stubs are valid");
    let mut tools = Toolbox::new(program).stubs(stubs);
    let mut session = machine.session(dialogue.entry.as_deref()).expect("there is an entry agent");
    let mut talk = Talk { agents, opening: Vec::new(), replies: None };
    let mut replies: Vec<Reply> = Vec::new();
    for turn in std::iter::once(None).chain(dialogue.turns.iter().map(Some)) {
        let before = tools.calls().len();
        let mut notes = Notes::default();
        let mut host = Host {
            model: &mut model,
            extractor: &extractor,
            tools: &mut tools,
            human: &mut Nobody,
            clock: &clock,
            observer: &mut notes,
        };
        let input = turn.map(|turn| Input::text(turn.user.as_str()));
        let done = machine.turn(&mut session, input.as_ref(), &mut host).expect("it can go on");
        let calls = tools.calls().get(before..).unwrap_or_default();
        let mut answer: Vec<String> =
            done.messages.iter().map(|m| format!("{}: {}", m.agent, m.words())).collect();
        answer.extend(calls.iter().map(shown));
        answer.extend(notes.errors.iter().map(|error| format!("  [{error}]")));
        // A loop is one line.
        answer.dedup();
        let Some(turn) = turn else {
            talk.opening = answer;
            continue;
        };
        let said: Vec<&str> = done.messages.iter().map(|m| m.words()).collect();
        let said = said.join("\n");
        let ended = matches!(done.status, Status::Done | Status::Human);
        let mut faults = decency(program, &said, ended);
        if let Some(last) = replies.last() {
            let same = !said.is_empty()
                && last
                    .answer
                    .iter()
                    .filter(|line| !line.starts_with("  "))
                    .eq(answer.iter().filter(|line| !line.starts_with("  ")))
                && last.user != turn.user;
            if same {
                faults.push("it is the same answer as before".to_owned());
            }
        }
        let owner = session.agent().unwrap_or_default();
        faults.extend(unmet(turn, &said, calls, &|name| value(&session, name), owner, &notes));
        faults.extend(calls.iter().filter_map(|call| lacking(program, call)));
        replies.push(Reply { user: turn.user.clone(), answer, faults });
    }
    talk.replies = Some(replies);
    talk
}

fn shown(call: &RecordedCall) -> String {
    format!("  calls {} {}", call.tool, Json::Object(call.arguments.clone()))
}

/// The value of a variable of any agent.
fn value(session: &agentir_runtime::Session, name: &str) -> Json {
    let name = name.rsplit('.').next().unwrap_or(name);
    // Variables of a whole program have a prefix.
    let named = |key: &str| key.rsplit(['.', ':', '@']).next() == Some(name);
    session
        .variable(name)
        .or_else(|| session.variables().into_iter().find(|(key, _)| named(key)).map(|(_, v)| v))
        .unwrap_or(Json::Null)
}

/// What is wrong with any answer, whatever the question is: it is empty; it refuses; it shows what only developers are to
/// see (names of tools and variables, placeholders, hints, goals, instructions).
fn decency(program: &Program, said: &str, ended: bool) -> Vec<String> {
    let mut faults = Vec::new();
    if said.trim().is_empty() && !ended {
        faults.push("it says nothing".to_owned());
    }
    let lower = said.to_lowercase();
    for refusal in ["i can't help with that", "something went wrong", "could not understand that"] {
        if lower.contains(refusal) {
            faults.push(format!("it says `{refusal}`"));
        }
    }
    for hint in ["stub it", "://", "__", "{{", "${", "{!", "{\"", "[{", "undefined", "null"] {
        if lower.contains(hint) {
            faults.push(format!("it shows `{hint}`"));
        }
    }
    for agent in program.agents() {
        for own in internal_names(agent) {
            if own.contains('_') && lower.contains(&own.to_lowercase()) {
                faults.push(format!("it shows the name `{own}`"));
            }
        }
        for text in internal_texts(agent) {
            // What an agent says that it can do is for users, though it is how it is described.
            let able = lower.contains(&format!("i can {text}"))
                || lower.starts_with("i can ") && lower.contains(&format!(", {text}"));
            if lower.contains(&text) && !able {
                faults.push(format!("it shows `{text}`"));
            }
        }
    }
    faults.sort();
    faults.dedup();
    faults
}

/// The names that users do not know.
fn internal_names(agent: &Agent) -> Vec<String> {
    let tools = agent.tools.iter().map(|t| t.name.value.to_string());
    let fields = agent.gather.fields.iter().map(|f| f.name.value.to_string());
    let variables = agent.memory.session.iter().map(|v| v.name.value.to_string());
    let own = std::iter::once(agent.metadata.name.value.to_string());
    tools.chain(fields).chain(variables).chain(own).collect()
}

/// The texts for the model: goals, personas, lines of prompts; and descriptions, unless they are in the first person.
fn internal_texts(agent: &Agent) -> Vec<String> {
    let identity = &agent.identity;
    let description = agent.metadata.description.iter().filter(|d| !d.text.value.starts_with("I "));
    let all = identity.goal.iter().chain(&identity.persona).chain(description);
    let prompts = identity.system_prompt.iter().map(|p| &p.template);
    all.chain(prompts)
        .flat_map(|text| {
            text.text.value.lines().map(|line| line.trim().to_lowercase()).collect::<Vec<_>>()
        })
        .filter(|line| line.split_whitespace().count() > 4)
        .collect()
}

/// The criteria of a turn that are not met.
fn unmet(
    turn: &Turn,
    said: &str,
    calls: &[RecordedCall],
    value: &dyn Fn(&str) -> Json,
    owner: &str,
    notes: &Notes,
) -> Vec<String> {
    let mut faults = Vec::new();
    for wanted in turn.says.iter().filter(|wanted| !pattern(wanted).is_match(said)) {
        faults.push(format!("it does not say /{wanted}/"));
    }
    for unwanted in turn.never.iter().filter(|unwanted| pattern(unwanted).is_match(said)) {
        faults.push(format!("it says /{unwanted}/"));
    }
    if let Some(wanted) = &turn.asks {
        let requests = pattern(
            r"\?|\b(please|tell|provide|share|enter|give|let me know|send|need|say|name|confirm|select|choose)\b",
        );
        if !requests.is_match(said) || !pattern(wanted).is_match(said) {
            faults.push(format!("it does not ask /{wanted}/"));
        }
    }
    for (tool, arguments) in turn.calls.iter().flatten() {
        let fits = |call: &RecordedCall| {
            call.tool == *tool
                && arguments.iter().all(|(name, wanted)| {
                    let given = call.arguments.get(name).unwrap_or(&Json::Null);
                    pattern(wanted).is_match(&text(given))
                })
        };
        if !calls.iter().any(fits) {
            faults.push(format!("it does not call {tool} {arguments:?}"));
        }
    }
    if turn.calls.as_ref().is_some_and(BTreeMap::is_empty) && !calls.is_empty() {
        faults.push("it makes a call".to_owned());
    }
    for (name, wanted) in &turn.sets {
        let value = text(&value(name));
        if !pattern(wanted).is_match(&value) {
            faults.push(format!("{name} is `{value}`, not /{wanted}/"));
        }
    }
    if let Some(agent) = &turn.moves
        && owner != agent
        && !notes.spoke.contains(agent)
    {
        faults.push(format!("{owner} answers, not {agent}"));
    }
    faults
}

/// A call without an argument that is required.
fn lacking(program: &Program, call: &RecordedCall) -> Option<String> {
    let tools = program.agents().flat_map(|agent| &agent.tools).chain(program.tools());
    let tool = tools.into_iter().find(|tool| tool.name.value == call.tool)?;
    let given = |name: &str| {
        let value = call.arguments.get(name).unwrap_or(&Json::Null);
        !value.is_null()
    };
    let lacking = tool
        .parameters
        .iter()
        .find(|p| p.required && p.default.is_none() && !given(&p.name.value))?;
    Some(format!("it calls {} without {}", call.tool, lacking.name.value))
}

fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn pattern(text: &str) -> Regex {
    RegexBuilder::new(text).case_insensitive(true).build().expect("the pattern is valid")
}
