//! What a server process writes, within limits: the SDK keeps a message until its line ends, and answers whatever
//! comes.

use agentir_tools::MAX_ANSWER_BYTES;
use rmcp::service::{RoleClient, RxJsonRpcMessage};
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

/// Why nothing more is read from a server, once that is so.
pub(crate) type Refusal = Arc<Mutex<Option<String>>>;

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
    refusal: Refusal,
}

impl<R> Bounded<R> {
    /// Limits a stream; says in `refusal` why it has failed, which the SDK does not pass on.
    pub(crate) fn new(inner: R, refusal: Refusal) -> Self {
        Self { inner, line: Vec::new(), lines: 0, since: Instant::now(), refusal }
    }

    fn refuse(&self, words: String) -> io::Result<()> {
        let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        *refusal = Some(words.clone());
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
                if let Some(why) = unreadable_answer(&self.line) {
                    return self.refuse(format!("its answer cannot be read: {why}"));
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

/// Why a line is an answer that nobody can read; `None` if it can be read, or is none: a request or a notification of
/// the server, or words that do not belong here.
fn unreadable_answer(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    let message: Json = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return Some(error.to_string()),
    };
    if message.get("method").is_some() {
        return None;
    }
    match (message.get("result"), message.get("error")) {
        (None, None) => return Some("it has neither `result` nor `error`".to_owned()),
        (Some(_), Some(error)) if !error.is_null() => {
            return Some("it has both `result` and `error`".to_owned());
        }
        (Some(_), _) if !message.get("id").is_some_and(Json::is_u64) => {
            return Some("its `id` is not that of the question".to_owned());
        }
        _ => {}
    }
    let read = serde_json::from_value::<RxJsonRpcMessage<RoleClient>>(message);
    read.err().map(|error| error.to_string())
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
