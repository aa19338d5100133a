//! What it costs to keep a conversation: turns with a database, beside commits of SQLite without anything else.

use agentir::{ReadOptions, languages};
use agentir_model::Offline;
use agentir_runtime::{
    Clock, FailureKind, Host, Input, Machine, NoHuman, Status, ToolCall, ToolFailure, Tools,
};
use agentir_store::{Memory, Sqlite, Store};
use rusqlite::Connection;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// An agent with a flow, and one that a model leads.
const AGENTS: [(&str, &str); 2] = [
    (
        "flow",
        "AGENT: Echo_Desk\nGOAL: \"Repeat what is said\"\nEXECUTION:\n  max_flow_iterations: 1000000\nFLOW:\n  ask:\n    REASONING: false\n    GATHER:\n      - \
         word: required\n        type: string\n        prompt: \"A word?\"\n    THEN: tell\n  tell:\n    REASONING: \
         false\n    RESPOND: \"I heard {{word}}.\"\n    CLEAR: [word]\n    THEN: ask\n",
    ),
    ("led by a model", "AGENT: Talk_Desk\nGOAL: \"Talk about ferries\"\n"),
];

/// How many turns, at the beginning and at the end, are compared.
const COMPARED: usize = 100;

/// No tool is called.
struct NoTools;

impl Tools for NoTools {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<serde_json::Value, ToolFailure> {
        Err(ToolFailure::new(FailureKind::Refused, call.name))
    }
}

struct Now;

impl Clock for Now {
    fn now(&self) -> i64 {
        0
    }
    fn random(&self) -> u64 {
        0
    }
    fn sleep(&self, _: u64) {}
}

/// Measures, and prints a table.
pub(crate) fn measure(root: &Path, turns: usize) -> Result<(), Box<dyn Error>> {
    // On the disk of the repository: the usual folder for temporary files may be in memory.
    let target = root.join("target");
    fs::create_dir_all(&target)?;
    let folder = tempfile::tempdir_in(target)?;
    let bare = bare_commits(&folder.path().join("bare.sqlite"), turns)?;
    println!(
        "| | a second | bytes of a turn, first {COMPARED} | last {COMPARED} |\n|---|---|---|---|"
    );
    println!("| commits of SQLite | {:.0} | | |", rate(turns, bare));
    for (name, text) in AGENTS {
        let file = folder.path().join(format!("{}.sqlite", name.len()));
        let (time, written) = conversation(text, turns, Some(&file))?;
        let mean = |part: &[u64]| part.iter().sum::<u64>() / part.len().max(1) as u64;
        let (first, last) =
            (written.get(..COMPARED), written.get(turns.saturating_sub(COMPARED)..));
        println!(
            "| {name}, kept | {:.0} ({:.0} % of the commits) | {} | {} |",
            rate(turns, time),
            100.0 * rate(turns, time) / rate(turns, bare),
            mean(first.unwrap_or_default()),
            mean(last.unwrap_or_default())
        );
        let (time, _) = conversation(text, turns, None)?;
        println!("| {name}, not kept | {:.0} | | |", rate(turns, time));
    }
    Ok(())
}

fn rate(turns: usize, time: Duration) -> f64 {
    turns as f64 / time.as_secs_f64()
}

/// The time for commits of a row each, as durable as those of conversations.
fn bare_commits(file: &Path, commits: usize) -> Result<Duration, Box<dyn Error>> {
    let connection = Connection::open(file)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch("CREATE TABLE turn (n INTEGER PRIMARY KEY, body TEXT NOT NULL)")?;
    let body = "x".repeat(250);
    let begin = Instant::now();
    for n in 0..commits {
        connection.execute("INSERT INTO turn VALUES (?1, ?2)", (n as i64, &body))?;
    }
    Ok(begin.elapsed())
}

/// The time for a conversation, and how much each turn wrote.
fn conversation(
    agent: &str,
    turns: usize,
    file: Option<&Path>,
) -> Result<(Duration, Vec<u64>), Box<dyn Error>> {
    let files = [("desk.agent.abl", agent)];
    let loaded = agentir_project::read_program(languages(), files, ReadOptions::default());
    let program = &loaded.programs.first().ok_or("the agent cannot be read")?.program;
    let machine = Machine::new(program);
    let mut session = machine.session(None)?;
    let mut memory = Memory::new(program, "project", None);
    let mut store = file.map(Sqlite::open).transpose()?;
    if let Some(store) = &mut store {
        store.load("s")?;
    }
    let (mut model, mut tools, mut human, mut observer) =
        (Offline::default(), NoTools, NoHuman, ());
    let mut written = Vec::with_capacity(turns);
    let extractor = Offline::default();
    let begin = Instant::now();
    for turn in 0..=turns {
        let input = (turn > 0).then(|| Input::text(format!("word{turn}")));
        let mut host = Host {
            model: &mut model,
            extractor: &extractor,
            tools: &mut tools,
            human: &mut human,
            clock: &Now,
            observer: &mut observer,
        };
        let ended = machine.turn(&mut session, input.as_ref(), &mut host)?;
        if ended.status != Status::Await {
            return Err(format!("the conversation ended in turn {turn}").into());
        }
        let before = bytes_written();
        if let Some(store) = &mut store {
            memory.save(store, "s", &session)?;
        }
        written.push(bytes_written().saturating_sub(before));
    }
    Ok((begin.elapsed(), written))
}

/// How many bytes this process has written, where the system counts them.
fn bytes_written() -> u64 {
    let counted = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = counted.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}
