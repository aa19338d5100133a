//! `agentir graph --watch`: a page that follows the files.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests end by panicking"
)]

mod common;

use common::{CACHE, agentir};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

const DESK: &str = "AGENT: Desk\n\nGOAL: \"Receive guests\"\n\nFLOW:\n  entry_point: greet\n\n  greet:\n    REASONING: false\n    RESPOND: \"Hello\"\n    THEN: COMPLETE\n";

struct Watching {
    child: Child,
    /// What it says must be read, so that it can go on.
    _said: BufReader<ChildStderr>,
    address: String,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Watching {
    fn start(file: &Path) -> Self {
        let mut command = agentir(file.parent().unwrap(), Path::new(CACHE));
        command.args(["graph", "--watch"]).arg(file).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "it ended");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.trim().trim_end_matches('/').to_owned();
            }
        };
        Self { child, _said: said, address }
    }

    fn get(&self, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn own(&self, path: &str) -> String {
        self.get(path, &self.address)
    }

    fn version(&self) -> Value {
        serde_json::from_str(self.own("/version").rsplit_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn until(&self, is_it: impl Fn(&Value) -> bool) {
        let begun = Instant::now();
        loop {
            let version = self.version();
            if is_it(&version) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{version}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn the_page_follows_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.agent.abl");
    fs::write(&file, DESK).unwrap();
    let watching = Watching::start(&file);
    let page = watching.own("/");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let first = watching.version()["version"].as_u64().unwrap();
    let body = format!("<body data-version=\"{first}\">");
    assert!(page.contains(&body) && page.contains("greet"), "{page}");
    assert!(watching.own("/other").starts_with("HTTP/1.1 404"));
    fs::write(&file, DESK.replace("greet", "welcome")).unwrap();
    watching.until(|said| said["version"] == first + 1);
    assert!(watching.own("/").contains("welcome"));
    // What cannot be drawn is said, and the page stays.
    fs::write(&file, "").unwrap();
    watching.until(|said| said["error"].is_string());
    assert_eq!(watching.version()["version"], first + 1);
    assert!(watching.own("/").contains("welcome"));
    fs::write(&file, DESK).unwrap();
    watching.until(|said| said["version"] == first + 2 && said["error"].is_null());
}

/// A browser that shows the page of a process that has ended asks the next one at its port.
#[test]
fn each_process_has_versions_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.agent.abl");
    fs::write(&file, DESK).unwrap();
    let before = Watching::start(&file).version()["version"].as_u64().unwrap();
    assert!(Watching::start(&file).version()["version"].as_u64().unwrap() > before);
}

#[test]
fn a_port_that_cannot_be_used_is_an_error_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.agent.abl");
    fs::write(&file, DESK).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    for (port, why) in [
        (6000, "browsers open no pages at port 6000".to_owned()),
        (taken.local_addr().unwrap().port(), "another program serves".to_owned()),
    ] {
        let mut command = agentir(folder.path(), Path::new(CACHE));
        command.args(["graph", "--watch", "--port", &port.to_string()]).arg(&file);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&why) && said.contains("help: choose a port"), "{said}");
    }
}

/// A page of another site that has its name lead to this machine sees nothing.
#[test]
fn pages_of_other_sites_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.agent.abl");
    fs::write(&file, DESK).unwrap();
    let watching = Watching::start(&file);
    let answer = watching.get("/", "elsewhere.example");
    assert!(answer.starts_with("HTTP/1.1 403") && !answer.contains("greet"), "{answer}");
    let port = watching.address.rsplit_once(':').unwrap().1;
    assert!(watching.get("/", &format!("localhost:{port}")).contains("greet"));
}
