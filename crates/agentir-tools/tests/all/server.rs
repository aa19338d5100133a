//! A web server that answers what it is told, and remembers what it was sent.

use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use tiny_http::{Header, Response, Server};

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// `GET /path?query`.
    pub(crate) line: String,
    /// `name: value`, names in lower case.
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) struct Say {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether the server does not answer as long as it runs.
    pub(crate) held: bool,
}

pub(crate) fn say(status: u16, body: impl Into<Vec<u8>>) -> Say {
    Say { status, headers: Vec::new(), body: body.into(), held: false }
}

impl Say {
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn held(mut self) -> Self {
        self.held = true;
        self
    }
}

pub(crate) struct Web {
    server: Arc<Server>,
    seen: Arc<Mutex<Vec<Seen>>>,
    thread: Option<JoinHandle<()>>,
}

/// Answers each request by a function of it, and of how many there were before.
pub(crate) fn web(answer: impl Fn(&Seen, usize) -> Say + Send + 'static) -> Web {
    let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (serving, noting) = (server.clone(), seen.clone());
    let thread = thread::spawn(move || {
        let mut held = Vec::new();
        for mut request in serving.incoming_requests() {
            let mut body = String::new();
            let _ = request.as_reader().read_to_string(&mut body);
            let headers = request.headers().iter();
            let headers = headers
                .map(|h| format!("{}: {}", h.field.as_str().as_str().to_lowercase(), h.value));
            let now = Seen {
                line: format!("{} {}", request.method(), request.url()),
                headers: headers.collect(),
                body,
            };
            let before = noting.lock().unwrap().len();
            let say = answer(&now, before);
            noting.lock().unwrap().push(now);
            if say.held {
                held.push(request);
                continue;
            }
            let mut response = Response::from_data(say.body).with_status_code(say.status);
            for (name, value) in say.headers {
                response.add_header(Header::from_bytes(name, value).unwrap());
            }
            let _ = request.respond(response);
        }
        drop(held);
    });
    Web { server, seen, thread: Some(thread) }
}

impl Web {
    /// `http://host:port`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.server_addr())
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
