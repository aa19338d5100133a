//! Sessions survive: the end of a process at any moment, another process, another version.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir::languages;
use agentir_ir::Program;
use agentir_runtime::{MemoryWrite, SESSION_VERSION, Session};
use agentir_store::{
    Memory, MemoryChange, MemoryChanges, Owner, SessionInfo, Sqlite, Store, StoreError,
};
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A session that is nothing but its turn.
fn session(turn: u32) -> Session {
    serde_json::from_value(json!({
        "version": SESSION_VERSION, "program": "ferry", "status": "await", "turn": turn,
        "transcript": [], "usage": { "input_tokens": 0, "output_tokens": 0 }, "model_calls": 0, "stack": [],
        "parked": [], "shared": {}, "system": {}, "memory": {}, "flow_steps": 0, "next_call": 0,
    }))
    .unwrap()
}

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    (folder, path)
}

fn user(name: &str) -> Owner {
    Owner::User { project: "ferry".to_owned(), user: name.to_owned() }
}

#[test]
fn what_is_saved_is_loaded() {
    let (_folder, path) = file();
    for mut store in [Sqlite::open(&path).unwrap(), Sqlite::in_memory().unwrap()] {
        assert!(store.load("a").unwrap().is_none());
        let mut one = session(1);
        one.set_system("channel", &json!({ "kind": "phone", "at": 3.5 }));
        store.save("a", &one, &[]).unwrap();
        store.save("b", &session(7), &[]).unwrap();
        let read = store.load("a").unwrap().unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&one).unwrap());
        one.turn = 2;
        store.save("a", &one, &[]).unwrap();
        assert_eq!(store.load("a").unwrap().unwrap().turn, 2);
        let mut all = store.list().unwrap();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        let told: Vec<_> = all.iter().map(|e| (e.id.as_str(), e.turn, e.can_continue())).collect();
        assert_eq!(told, [("a", 2, true), ("b", 7, true)]);
        assert!(
            all.iter()
                .all(|SessionInfo { created, updated, .. }| *created > 0 && created <= updated)
        );
        assert!(store.delete("a").unwrap());
        assert!(!store.delete("a").unwrap());
        assert!(store.load("a").unwrap().is_none());
    }
}

#[test]
fn ids_are_checked() {
    let mut store = Sqlite::in_memory().unwrap();
    for id in ["", "a\nb", &"x".repeat(81)] {
        assert!(matches!(store.load(id), Err(StoreError::InvalidId(_))), "{id:?}");
    }
    for id in ["../../etc/passwd", "C:\\x", "ü", " ", "'; DROP TABLE session; --"] {
        let (folder, path) = file();
        let mut store = Sqlite::open(&path).unwrap();
        store.save(id, &session(1), &[]).unwrap();
        assert_eq!(store.load(id).unwrap().unwrap().turn, 1, "{id:?}");
        // Nothing but the database and its locks.
        for entry in fs::read_dir(folder.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name.starts_with("sessions.db"), "{name}");
        }
    }
}

/// The other process of the tests below: it writes turn after turn, or holds a session until its input
/// ends.
#[test]
#[ignore = "is started by the others"]
fn other() {
    let Ok(job) = std::env::var("AGENTIR_STORE_TEST") else { return };
    let (job, path) = job.split_once(' ').unwrap();
    let mut store = Sqlite::open(Path::new(path)).unwrap();
    let found = store.load("s").unwrap();
    println!("has {}", found.as_ref().map_or(0, |s| s.turn));
    if job == "hold" {
        let _ = std::io::stdin().read_line(&mut String::new());
        return;
    }
    let mut now = found.unwrap_or_else(|| session(0));
    loop {
        now.turn += 1;
        now.set_memory("user.turns", &json!(now.turn));
        let turns = [("turns".to_owned(), set_to(json!(now.turn)))].into();
        store.save("s", &now, &[MemoryChanges { owner: user("u"), values: turns }]).unwrap();
        println!("wrote {}", now.turn);
    }
}

fn start(job: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "other", "--ignored", "--nocapture"])
        .env("AGENTIR_STORE_TEST", format!("{job} {}", path.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Reads what the other process says, up to a line that begins like this; the number at its end. The
/// harness may have said something on the same line before.
fn until(lines: &mut impl BufRead, what: &str) -> u32 {
    loop {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended before it said `{what}`");
        if let Some((_, number)) = line.split_once(what) {
            return number.trim().parse().unwrap();
        }
    }
}

#[test]
fn a_conversation_survives_the_end_of_its_process() {
    let (_folder, path) = file();
    let mut written = 0;
    for round in 1..=5 {
        let mut other = start("write", &path);
        let mut lines = BufReader::new(other.stdout.take().unwrap());
        assert!(until(&mut lines, "has ") >= written);
        for _ in 0..round * 3 {
            written = until(&mut lines, "wrote ");
        }
        other.kill().unwrap();
        other.wait().unwrap();
        // What it said is there, and it may have been just about to say more.
        let mut store = Sqlite::open(&path).unwrap();
        let mut now = store.load("s").unwrap().unwrap();
        assert!(now.turn >= written, "turn {} of {written}", now.turn);
        // The memory is of the same turn: both or nothing.
        assert_eq!(now.memory()["user.turns"], json!(now.turn));
        assert_eq!(store.recall(&user("u")).unwrap()["turns"], json!(now.turn));
        // It goes on here.
        now.turn += 1;
        now.set_memory("user.turns", &json!(now.turn));
        let turns = [("turns".to_owned(), set_to(json!(now.turn)))].into();
        store.save("s", &now, &[MemoryChanges { owner: user("u"), values: turns }]).unwrap();
        written = now.turn;
    }
}

#[test]
fn one_process_at_a_time_has_a_session() {
    let (_folder, path) = file();
    Sqlite::open(&path).unwrap().save("s", &session(4), &[]).unwrap();
    let mut other = start("hold", &path);
    let mut lines = BufReader::new(other.stdout.take().unwrap());
    assert_eq!(until(&mut lines, "has "), 4);

    let mut store = Sqlite::open(&path).unwrap();
    let message = store.load("s").unwrap_err().to_string();
    assert!(message.contains("session `s` is in use by another process"), "{message}");
    assert!(matches!(store.save("s", &session(5), &[]), Err(StoreError::Locked(_))));
    assert!(matches!(store.delete("s"), Err(StoreError::Locked(_))));
    // Others are free.
    store.save("t", &session(1), &[]).unwrap();

    // Who is patient gets it when the other one is done.
    let mut store = store.with_lock_timeout(Duration::from_secs(60));
    let mut input = other.stdin.take().unwrap();
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        input.write_all(b"\n").unwrap();
    });
    assert_eq!(store.load("s").unwrap().unwrap().turn, 4);
    release.join().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_turn_is_never_lost_to_another() {
    let (folder, path) = file();
    let mut one = Sqlite::open(&path).unwrap();
    one.save("s", &session(1), &[]).unwrap();
    // Somebody took the locks away.
    fs::remove_dir_all(folder.path().join("sessions.db-locks")).unwrap();
    let mut two = Sqlite::open(&path).unwrap();
    assert!(matches!(two.save("s", &session(9), &[]), Err(StoreError::Conflict(_))), "not read");
    assert_eq!(two.load("s").unwrap().unwrap().turn, 1);
    let note =
        MemoryChanges { owner: user("u"), values: [("x".to_owned(), set_to(json!(1)))].into() };
    two.save("s", &session(2), &[]).unwrap();
    let lost = one.save("s", &session(2), &[note]).unwrap_err();
    assert!(lost.to_string().contains("was continued elsewhere"), "{lost}");
    assert!(one.recall(&user("u")).unwrap().is_empty(), "all or nothing");
}

#[test]
fn files_that_are_something_else_are_told() {
    let (folder, path) = file();
    let damaged = |text: &[u8]| {
        let path = folder.path().join("other.db");
        fs::write(&path, text).unwrap();
        Sqlite::open(&path).unwrap_err()
    };
    assert!(matches!(damaged(b"turns = 1\n"), StoreError::Corrupt { .. }));
    assert!(matches!(damaged(&[7; 5000]), StoreError::Corrupt { .. }));
    assert!(matches!(Sqlite::open(folder.path()), Err(StoreError::Io { .. })));
    assert!(matches!(Sqlite::open(&path.join("x")), Err(StoreError::Io { .. })));

    // Its middle is lost.
    let mut store = Sqlite::open(&path).unwrap();
    for n in 0..50 {
        store.save(&format!("s{n}"), &session(n), &[]).unwrap();
    }
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    fs::write(&path, &bytes).unwrap();
    let told = Sqlite::open(&path).and_then(|mut s| s.list().map(drop)).unwrap_err().to_string();
    assert!(told.contains("damaged") && told.contains(".recover"), "{told}");
}

#[test]
fn databases_of_others_and_of_the_future_are_left_alone() {
    let (folder, path) = file();
    let other = folder.path().join("contacts.db");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE people (name TEXT)").unwrap();
    drop(connection);
    let before = fs::read(&other).unwrap();
    assert!(matches!(Sqlite::open(&other), Err(StoreError::ForeignDatabase(_))));
    assert_eq!(fs::read(&other).unwrap(), before, "untouched");

    drop(Sqlite::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let told = Sqlite::open(&path).unwrap_err().to_string();
    assert!(told.contains("newer version (schema 99"), "{told}");
}

/// A session with these messages in its transcript, and of its only agent.
fn talked(turn: u32, transcript: &[String], agent: &[String]) -> Session {
    let messages = |all: &[String]| -> Vec<_> {
        all.iter().map(|text| json!({ "role": "user", "text": text })).collect()
    };
    let mut whole = serde_json::to_value(session(turn)).unwrap();
    whole["transcript"] = json!(messages(transcript));
    whole["stack"] = json!([{
        "agent": "Ferry", "node": 4, "variables": {}, "back": [], "taken": {}, "bound": [],
        "summary": "what came before", "messages": messages(agent), "instructions": [], "notes": [], "recalled": [],
        "heard": null, "since": 0, "pending": [], "proposed": null, "approved": null, "away": null,
        "answer": null, "iterations": 0, "returns_to": null, "delegated": false, "failed": false,
        "asked": {}, "refused": {}, "confidential": false, "error": null, "outputs": {},
    }]);
    serde_json::from_value(whole).unwrap()
}

fn numbered(numbers: std::ops::Range<u32>) -> Vec<String> {
    numbers.map(|n| format!("message {n}")).collect()
}

#[test]
fn messages_may_be_taken_back_and_replaced() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path).unwrap();
    let twenty = numbered(0..20);
    let states = [
        talked(1, &twenty[..4], &twenty[..4]),
        talked(2, &twenty[..6], &twenty[..6]),
        // A turn is undone, and another one taken in its place.
        talked(1, &twenty[..4], &twenty[..4]),
        talked(
            2,
            &[&twenty[..4], &twenty[9..11]].concat(),
            &[&twenty[..4], &twenty[9..11]].concat(),
        ),
        // The agent forgets the beginning.
        talked(3, &twenty[..8], &twenty[5..8]),
        // Both are something else.
        talked(4, &twenty[12..14], &twenty[15..20]),
        talked(5, &[], &[]),
        talked(6, &twenty, &twenty[..1]),
    ];
    for state in &states {
        store.save("s", state, &[]).unwrap();
        let mut other = Sqlite::in_memory().unwrap();
        other.save("s", state, &[]).unwrap();
        let mut again = Sqlite::open(&path).unwrap();
        store.release("s");
        let read = again.load("s").unwrap().unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(state).unwrap());
        again.release("s");
        store.load("s").unwrap();
    }
}

/// The number of bytes that were written to the database's log.
fn log_bytes(path: &Path) -> u64 {
    fs::metadata(format!("{}-wal", path.display())).map_or(0, |file| file.len())
}

#[test]
fn a_turn_writes_as_much_however_long_the_conversation_is() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path).unwrap();
    let messages = numbered(0..4000);
    let mut written = Vec::new();
    for turn in 0..1000 {
        let end = 2 * turn as usize + 2;
        // The log is emptied, so that its length is that of this turn.
        let measured = (100..120).contains(&turn) || turn >= 980;
        if measured {
            rusqlite::Connection::open(&path)
                .unwrap()
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .unwrap();
        }
        store.save("s", &talked(turn, &messages[..end], &messages[..end]), &[]).unwrap();
        if measured {
            written.push(log_bytes(&path));
        }
    }
    let mean = |part: &[u64]| part.iter().sum::<u64>() / part.len() as u64;
    let (first, last) = (mean(&written[..20]), mean(&written[20..]));
    assert!(last <= first + first / 4, "{first} bytes a turn became {last}");
    assert_eq!(store.load("s").unwrap().unwrap().transcript.len(), 2000);
}

/// A database of version 0.1.0: sessions are one value.
const FIRST_SCHEMA: &str = "
    CREATE TABLE session (
        id TEXT PRIMARY KEY, program TEXT NOT NULL, status TEXT NOT NULL, turn INTEGER NOT NULL,
        revision INTEGER NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL, body TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX session_updated ON session (updated DESC);
    CREATE TABLE memory (
        project TEXT NOT NULL, user TEXT NOT NULL, path TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (project, user, path)
    ) WITHOUT ROWID;
    INSERT INTO memory VALUES ('ferry', 'user:u', 'turns', '3');
    PRAGMA application_id = 0x61676972;
    PRAGMA user_version = 1;
";

#[test]
fn databases_of_the_first_schema_are_read_and_continued() {
    let (_folder, path) = file();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(FIRST_SCHEMA).unwrap();
    let old = talked(3, &numbered(0..6), &numbered(0..3));
    let mut body = serde_json::to_value(&old).unwrap();
    body.as_object_mut().unwrap().remove("id");
    connection
        .execute(
            "INSERT INTO session VALUES ('s', 'ferry', 'await', 3, 4, 1, 2, ?1)",
            [body.to_string()],
        )
        .unwrap();
    drop(connection);
    let mut store = Sqlite::open(&path).unwrap();
    let mut read = store.load("s").unwrap().unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&old).unwrap());
    assert_eq!(store.recall(&user("u")).unwrap()["turns"], json!(3));
    read.turn = 4;
    store.save("s", &read, &[]).unwrap();
    drop(store);
    let read = Sqlite::open(&path).unwrap().load("s").unwrap().unwrap();
    assert_eq!((read.turn, read.transcript.len()), (4, 6));
}

#[test]
fn a_session_whose_messages_are_missing_is_told() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path).unwrap();
    store.save("s", &talked(2, &numbered(0..4), &numbered(0..4)), &[]).unwrap();
    store.release("s");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute("DELETE FROM message WHERE n = 2", [])
        .unwrap();
    assert!(matches!(store.load("s"), Err(StoreError::Corrupt { .. })));
}

#[cfg(unix)]
#[test]
fn locks_are_removed_with_their_sessions() {
    let (folder, path) = file();
    let locks = folder.path().join("sessions.db-locks");
    let mut store = Sqlite::open(&path).unwrap();
    store.save("a", &session(1), &[]).unwrap();
    store.save("b", &session(1), &[]).unwrap();
    assert_eq!(fs::read_dir(&locks).unwrap().count(), 2);
    store.release("a");
    assert_eq!(fs::read_dir(&locks).unwrap().count(), 1);
    drop(store);
    assert!(!locks.exists());
    // A process that is killed leaves one, which the next one removes.
    let mut other = start("hold", &path);
    until(&mut BufReader::new(other.stdout.take().unwrap()), "has ");
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(locks.exists());
    drop(Sqlite::open(&path).unwrap());
    assert!(!locks.exists());
}

#[test]
fn sessions_of_another_form_are_told() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path).unwrap();
    for id in ["old", "odd", "text"] {
        store.save(id, &session(1), &[]).unwrap();
        store.release(id);
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    let put = |id: &str, body: &str| {
        connection.execute("UPDATE session SET body = ?2 WHERE id = ?1", [id, body]).unwrap();
    };
    put("old", r#"{"version": 900}"#);
    put("odd", &json!({ "version": SESSION_VERSION, "turn": "three" }).to_string());
    put("text", "hello");
    assert!(matches!(
        store.load("old"),
        Err(StoreError::UnsupportedVersion { found: Some(900), .. })
    ));
    assert!(matches!(store.load("odd"), Err(StoreError::UnsupportedVersion { found: None, .. })));
    assert!(matches!(store.load("text"), Err(StoreError::UnsupportedVersion { found: None, .. })));
    // They can be removed, and listed meanwhile.
    assert_eq!(store.list().unwrap().len(), 3);
    assert!(store.delete("old").unwrap());
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_sessions() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path).unwrap();
    store.save("s", &session(1), &[]).unwrap();
    let check = || {
        for end in ["", "-wal", "-shm"] {
            let file = PathBuf::from(format!("{}{end}", path.display()));
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o77, 0, "{end}");
        }
    };
    check();
    // It was made by something that did not care.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let _other = Sqlite::open(&path).unwrap();
    check();
}

const TRAVELLER: &str = "\
AGENT: Traveller
GOAL: \"Remember\"
MEMORY:
  persistent:
    - PATH: user.chains
      SCOPE: user
      ACCESS: readwrite
    - PATH: project.rates
      SCOPE: project
      ACCESS: readwrite
    - PATH: workflow.quote
      SCOPE: execution_tree
      ACCESS: readwrite
";

fn set_to(value: serde_json::Value) -> MemoryChange {
    MemoryChange { to: Some(value), ..MemoryChange::default() }
}

fn traveller() -> Program {
    let files = [("traveller.agent.abl", TRAVELLER)];
    let mut loaded =
        agentir_project::read_program(languages(), files, agentir::ReadOptions::default());
    loaded.programs.remove(0).program
}

#[test]
fn memory_is_shared_by_scope() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path).unwrap();
    let program = traveller();
    let memory = |user| Memory::new(&program, "ferry", user);

    let mut ann = memory(Some("ann"));
    let mut first = session(1);
    ann.load_into(&mut store, &mut first).unwrap();
    for path in ["user.chains", "project.rates", "workflow.quote", "undeclared"] {
        first.set_memory(path, &json!([path, 1]));
    }
    ann.save(&mut store, "one", &first).unwrap();

    let recalled = |who: &mut Memory, store: &mut Sqlite| {
        let mut new = session(0);
        who.load_into(store, &mut new).unwrap();
        new.memory().into_keys().collect::<Vec<_>>()
    };
    assert_eq!(
        recalled(&mut memory(Some("ann")), &mut store),
        ["project.rates", "undeclared", "user.chains"]
    );
    assert_eq!(recalled(&mut memory(Some("ben")), &mut store), ["project.rates"]);
    assert_eq!(recalled(&mut memory(None), &mut store), ["project.rates"]);
    assert!(recalled(&mut Memory::new(&program, "bakery", Some("ann")), &mut store).is_empty());
}

#[test]
fn conversations_do_not_undo_what_others_remember() {
    let mut store = Sqlite::in_memory().unwrap();
    let program = traveller();
    let (mut left, mut right) =
        (Memory::new(&program, "p", Some("ann")), Memory::new(&program, "p", Some("ann")));
    let (mut one, mut two) = (session(1), session(1));
    one.set_memory("user.a", &json!(1));
    left.save(&mut store, "one", &one).unwrap();
    right.load_into(&mut store, &mut two).unwrap();
    two.set_memory("user.b", &json!(2));
    right.save(&mut store, "two", &two).unwrap();
    one.set_memory("user.a", &json!(3));
    left.save(&mut store, "one", &one).unwrap();
    // The second conversation still thinks that `user.a` is 1, but that is not its doing.
    two.set_memory("user.b", &json!(4));
    right.save(&mut store, "two", &two).unwrap();
    let mut new = session(0);
    Memory::new(&program, "p", Some("ann")).load_into(&mut store, &mut new).unwrap();
    assert_eq!(json!(new.memory()), json!({ "user.a": 3, "user.b": 4 }));
}

/// Turns at the same moment: both have read the memory before the other one wrote it.
#[test]
fn turns_at_the_same_moment_lose_nothing() {
    let append = |value: &str, unique: bool, max_size: Option<usize>| MemoryWrite::Append {
        value: json!(value),
        unique,
        max_size,
    };
    let change = |from: Option<serde_json::Value>, to: serde_json::Value, write: MemoryWrite| {
        MemoryChange { from, to: Some(to), writes: vec![write] }
    };
    let list = json!(["a", "b"]);
    let merged = |change: MemoryChange| change.merged(Some(&list));
    // Nobody wrote meanwhile.
    let mine = change(Some(list.clone()), json!(["z"]), MemoryWrite::Set(json!(["z"])));
    assert_eq!(merged(mine), Some(json!(["z"])));
    let more = change(Some(json!(["a"])), json!(["a", "c"]), append("c", false, None));
    assert_eq!(merged(more), Some(json!(["a", "b", "c"])));
    let known = change(Some(json!(["a"])), json!(["a", "b"]), append("b", true, None));
    assert_eq!(merged(known), Some(json!(["a", "b"])));
    let last = change(Some(json!(["a"])), json!(["a", "c"]), append("c", false, Some(2)));
    assert_eq!(merged(last), Some(json!(["b", "c"])));
    // What was only a default gives way; of values that were set the last one holds.
    let initial = change(None, json!([]), MemoryWrite::Default);
    assert_eq!(merged(initial), Some(list.clone()));
    let set = change(Some(json!(["a"])), json!("new"), MemoryWrite::Set(json!("new")));
    assert_eq!(merged(set), Some(json!("new")));
    // What has run out here was renewed there.
    let gone = MemoryChange { from: Some(json!(["a"])), ..MemoryChange::default() };
    assert_eq!(merged(gone), Some(list.clone()));
}

/// Going back takes back the own turns only.
#[test]
fn a_session_that_goes_back_keeps_what_others_remember() {
    let mut store = Sqlite::in_memory().unwrap();
    let program = traveller();
    let memory = || Memory::new(&program, "p", Some("ann"));
    let (mut left, mut right) = (memory(), memory());
    let mut one = session(1);
    left.load_into(&mut store, &mut one).unwrap();
    let before = one.clone();
    let mut two = session(1);
    two.set_memory("user.b", &json!("theirs"));
    right.save(&mut store, "two", &two).unwrap();
    left.load_into(&mut store, &mut one).unwrap();
    assert_eq!(json!(one.memory()), json!({ "user.b": "theirs" }));
    one.set_memory("user.a", &json!("mine"));
    left.save(&mut store, "one", &one).unwrap();
    let mut back = before;
    left.keep_foreign(&mut back);
    left.save(&mut store, "one", &back).unwrap();
    let mut new = session(0);
    memory().load_into(&mut store, &mut new).unwrap();
    assert_eq!(json!(new.memory()), json!({ "user.b": "theirs" }));
}

#[test]
fn what_is_kept_for_a_time_is_kept_for_that_time_on_disk() {
    let (_folder, path) = file();
    let program = traveller();
    let memory = || Memory::new(&program, "p", Some("ann"));
    let mut first = session(1);
    first.set_memory_until("user.wish", &json!("peace"), 2_000);
    first.set_memory("user.name", &json!("Ann"));
    memory().save(&mut Sqlite::open(&path).unwrap(), "one", &first).unwrap();

    let mut next = session(0);
    memory().load_into(&mut Sqlite::open(&path).unwrap(), &mut next).unwrap();
    assert_eq!(json!(next.memory()), json!({ "user.wish": "peace", "user.name": "Ann" }));
    assert_eq!(
        (next.memory_expiry("user.wish"), next.memory_expiry("user.name")),
        (Some(2_000), None)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Any file gives a store or a sentence, never a panic.
    #[test]
    fn no_file_is_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..3000), real in any::<bool>()) {
        let (_folder, path) = file();
        let mut all = bytes;
        if real {
            Sqlite::open(&path).unwrap().save("s", &session(1), &[]).unwrap();
            let mut whole = fs::read(&path).unwrap();
            for (at, byte) in all.iter().enumerate() {
                let place = (at * 7919 + usize::from(*byte) * 31) % whole.len();
                whole[place] = *byte;
            }
            all = whole;
        }
        fs::write(&path, all).unwrap();
        match Sqlite::open(&path).and_then(|mut s| { s.list()?; s.load("s").map(drop) }) {
            Ok(()) => {}
            Err(e) => prop_assert!(!e.to_string().is_empty()),
        }
    }
}
