//! A server for tests: it answers one connection after the other with what it is told to send.

use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// When a connection that is held is closed after all: whoever waits for it hangs.
const WATCHDOG: Duration = Duration::from_mins(1);

/// What the server does next on a connection. Behind the last it closes it.
pub enum Play {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends this again and again until nobody reads it.
    Repeat(Vec<u8>),
    /// Neither answers nor closes the connection.
    Hold,
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Json,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Connections that are held are closed when this is dropped.
    _running: mpsc::Sender<()>,
}

impl Server {
    /// A server that answers as many requests as there are plays.
    pub fn start(plays: Vec<Vec<Play>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let (running, over) = mpsc::channel();
        thread::spawn(move || {
            let mut held = Vec::new();
            for play in plays {
                let Ok((stream, _)) = listener.accept() else { return };
                if let Some(request) = read(&stream) {
                    log.lock().unwrap().push(request);
                }
                held.extend(perform(stream, play));
            }
            let _ = over.recv_timeout(WATCHDOG);
        });
        Self { address, seen, _running: running }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { path, headers, body: serde_json::from_slice(&body).ok()? })
}

/// Gives the connection back if it is to stay open.
fn perform(mut stream: TcpStream, play: Vec<Play>) -> Option<TcpStream> {
    for part in play {
        match part {
            Play::Send(bytes) => stream.write_all(&bytes).and_then(|()| stream.flush()).ok()?,
            Play::Repeat(bytes) => while stream.write_all(&bytes).is_ok() {},
            Play::Wait(time) => thread::sleep(time),
            Play::Hold => return Some(stream),
        }
    }
    None
}

/// An answer in one piece.
pub fn http(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<Play> {
    let mut head = format!("HTTP/1.1 {status} Status\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    vec![Play::Send(head.into_bytes())]
}

pub fn json_answer(body: &Json) -> Vec<Play> {
    http(200, &[("content-type", "application/json")], &body.to_string())
}

/// What a service answers that says a text.
pub fn said(text: &str) -> Json {
    json!({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    })
}

/// The beginning of a stream with these events; it is not ended.
pub fn events(events: &[Json]) -> Vec<Play> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let mut plays = vec![Play::Send(format!("{head}: a comment\r\n\r\n").into_bytes())];
    for event in events {
        plays.push(Play::Send(format!("data: {event}\n\n").into_bytes()));
        plays.push(Play::Wait(Duration::from_millis(5)));
    }
    plays
}

/// A whole stream.
pub fn event_stream(all: &[Json]) -> Vec<Play> {
    let mut plays = events(all);
    plays.push(Play::Send(b"data: [DONE]\n\n".to_vec()));
    plays
}
