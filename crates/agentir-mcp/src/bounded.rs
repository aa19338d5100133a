//! What a server process writes, within limits: the SDK keeps a message until its line ends, and answers whatever
//! comes.

use agentir_tools::MAX_ANSWER_BYTES;
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

/// A stream of lines that fails once a line is longer than [`MAX_ANSWER_BYTES`], or lines come too fast.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    /// The bytes of the line that has not ended.
    line: usize,
    /// The lines since `since`.
    lines: usize,
    since: Instant,
    refusal: Refusal,
}

impl<R> Bounded<R> {
    /// Limits a stream; says in `refusal` why it has failed, which the SDK does not pass on.
    pub(crate) fn new(inner: R, refusal: Refusal) -> Self {
        Self { inner, line: 0, lines: 0, since: Instant::now(), refusal }
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
            self.line += part.len();
            if self.line > MAX_ANSWER_BYTES {
                let words =
                    format!("it wrote a message of more than {} MB", MAX_ANSWER_BYTES >> 20);
                return self.refuse(words);
            }
            if part.ends_with(b"\n") {
                (self.line, self.lines) = (0, self.lines + 1);
            }
        }
        if self.lines > MAX_MESSAGES {
            let words = format!("it wrote more than {MAX_MESSAGES} messages in a second");
            return self.refuse(words);
        }
        Ok(())
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
