//! What a server process writes, within limits: the SDK keeps a message until its line ends, and answers whatever
//! comes.

use agentir_tools::MAX_ANSWER_BYTES;
use rmcp::model::CallToolResult;
use rmcp::service::{RoleClient, RxJsonRpcMessage};
use serde::Deserialize;
use serde_json::Value as Json;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Duration, Instant};

/// The number of messages that a server may write within [`PERIOD`].
const MAX_MESSAGES: usize = 1_000;

/// The time for which messages are counted.
const PERIOD: Duration = Duration::from_secs(1);

/// What is wrong with what a server wrote, which the SDK does not pass on.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    /// Why nothing more is read from it, once that is so.
    pub(crate) refusal: Option<String>,
    /// Why its last answer is no result of a tool, if it is none.
    pub(crate) no_result: Option<String>,
}

/// The same, shared with who reads.
pub(crate) type SharedComplaints = Arc<Mutex<Complaints>>;

/// A stream of lines that fails once a line is longer than [`MAX_ANSWER_BYTES`], lines come too fast, or one is an answer
/// that cannot be read: the SDK passes over those, and whoever asked would wait in vain.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    /// The line that has not ended.
    line: Vec<u8>,
    /// The lines since `since`.
    lines: usize,
    since: Instant,
    complaints: SharedComplaints,
}

impl<R> Bounded<R> {
    /// Limits a stream; says in `complaints` why it has failed.
    pub(crate) fn new(inner: R, complaints: SharedComplaints) -> Self {
        Self { inner, line: Vec::new(), lines: 0, since: Instant::now(), complaints }
    }

    fn refuse(&self, words: String) -> io::Result<()> {
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        complaints.refusal = Some(words.clone());
        Err(io::Error::other(words))
    }

    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.since.elapsed() > PERIOD {
            (self.since, self.lines) = (Instant::now(), 0);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() > MAX_ANSWER_BYTES {
                let words =
                    format!("it wrote a message of more than {} MB", MAX_ANSWER_BYTES >> 20);
                return self.refuse(words);
            }
            if part.ends_with(b"\n") {
                match read_answer(&self.line) {
                    Line::Unreadable(why) => {
                        return self.refuse(format!("its answer cannot be read: {why}"));
                    }
                    Line::Result { no_result } => {
                        let complaints = &self.complaints;
                        let mut heard = complaints.lock().unwrap_or_else(PoisonError::into_inner);
                        heard.no_result = no_result;
                    }
                    Line::Other => {}
                }
                self.line.clear();
                self.lines += 1;
            }
        }
        if self.lines > MAX_MESSAGES {
            let words = format!("it wrote more than {MAX_MESSAGES} messages in a second");
            return self.refuse(words);
        }
        Ok(())
    }
}

/// A line of a server.
enum Line {
    /// A result, and why it is none of a tool, if that is so.
    Result { no_result: Option<String> },
    /// An answer that nobody can read, and why.
    Unreadable(String),
    /// An error, a request or a notification of the server, or words that do not belong here.
    Other,
}

/// The keys of which a result of a tool has one.
const RESULT_KEYS: [&str; 3] = ["content", "structuredContent", "isError"];

/// Why a result is none of a tool; `None` if it is one.
fn no_result(result: &Json) -> Option<String> {
    match result {
        Json::Object(fields) if RESULT_KEYS.iter().any(|key| fields.contains_key(*key)) => {
            CallToolResult::deserialize(result).err().map(|error| error.to_string())
        }
        Json::Object(_) => Some("it has neither `content` nor `structuredContent`".to_owned()),
        _ => Some("it is no object".to_owned()),
    }
}

fn read_answer(line: &[u8]) -> Line {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return Line::Other;
    }
    let message: Json = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return Line::Unreadable(error.to_string()),
    };
    if message.get("method").is_some() {
        return Line::Other;
    }
    let unreadable = |words: &str| Line::Unreadable(words.to_owned());
    let result = message.get("result");
    match (result, message.get("error")) {
        (None, None) => return unreadable("it has neither `result` nor `error`"),
        (Some(_), Some(error)) if !error.is_null() => {
            return unreadable("it has both `result` and `error`");
        }
        (Some(_), _) if !message.get("id").is_some_and(Json::is_u64) => {
            return unreadable("its `id` is not that of the question");
        }
        _ => {}
    }
    let answer = match result {
        Some(result) => Line::Result { no_result: no_result(result) },
        None => Line::Other,
    };
    match serde_json::from_value::<RxJsonRpcMessage<RoleClient>>(message) {
        Ok(_) => answer,
        Err(error) => Line::Unreadable(error.to_string()),
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let read = buf.filled().get(before..).unwrap_or_default();
        Poll::Ready(self.count(read))
    }
}
