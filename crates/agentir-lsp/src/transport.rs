//! Messages on standard input and output.
//!
//! What is no message is reported and skipped: a client with a bug loses one message, and not the server.

use agentir_secrets::mask;
use crossbeam_channel::{Receiver, Sender, bounded};
use gen_lsp_types::{LogMessageParams, MessageType};
use lsp_server::{Connection, ErrorCode, Message, Notification, RequestId, Response};
use serde_json::Value;
use std::io::{self, BufRead, Read, Write};
use std::thread::{self, JoinHandle};

/// The largest message that is read, in bytes: larger than any file that is, with its line ends escaped.
const MAX_MESSAGE: usize = 160 << 20;

/// So many messages are read before the first of them is taken, so that keystrokes that come together are seen as such.
const WAITING: usize = 256;

/// So many messages wait for a client that does not read for a while; then the server waits for it.
const UNREAD: usize = 1 << 14;

/// The longest line of a header.
const MAX_HEADER: u64 = 4096;

/// The threads that read and write.
pub(crate) struct Threads {
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until all that was sent is written.
    pub(crate) fn join(self) -> io::Result<()> {
        // The reader waits for input that may never come; it ends with the process.
        self.writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer ended")))
    }
}

/// A connection on standard input and output.
pub(crate) fn stdio() -> (Connection, Threads) {
    let (to_client, outgoing) = bounded::<Message>(UNREAD);
    let (incoming, from_client) = bounded::<Message>(WAITING);
    let writer = thread::spawn(move || write_all(&outgoing, &mut io::stdout().lock()));
    let answers = to_client.clone();
    thread::spawn(move || read_all(&mut io::stdin().lock(), &incoming, &answers));
    (Connection { sender: to_client, receiver: from_client }, Threads { writer })
}

fn write_all(messages: &Receiver<Message>, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    for message in messages {
        message.write(&mut out)?;
    }
    out.flush()
}

/// Reads messages until the input or the server ends.
pub(crate) fn read_all(input: &mut dyn BufRead, to: &Sender<Message>, answers: &Sender<Message>) {
    loop {
        match read(input) {
            Ok(Some(Incoming::Message(message))) => {
                let is_exit = matches!(&message, Message::Notification(n) if n.method == "exit");
                if to.send(message).is_err() || is_exit {
                    return;
                }
            }
            Ok(Some(Incoming::Wrong(answer))) => {
                if answers.send(answer).is_err() {
                    return;
                }
            }
            Ok(None) | Err(_) => return,
        }
    }
}

/// What was read.
enum Incoming {
    Message(Message),
    /// No message, and what to say of it.
    Wrong(Message),
}

fn read(input: &mut dyn BufRead) -> io::Result<Option<Incoming>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        match line.trim_end_matches(['\r', '\n']) {
            "" if length.is_some() => break,
            // Anything else is skipped up to the next header, as far as that can be told.
            line => {
                let header = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
                if let Some((_, value)) =
                    header.filter(|(name, _)| name.eq_ignore_ascii_case("Content-Length"))
                {
                    length = value.parse::<usize>().ok();
                }
            }
        }
    }
    let length = length.unwrap_or_default();
    if length > MAX_MESSAGE {
        io::copy(&mut (&mut *input).take(length as u64), &mut io::sink())?;
        return Ok(Some(wrong(None, "a message is larger than 160 MB and was not read")));
    }
    let mut text = Vec::new();
    if input.take(length as u64).read_to_end(&mut text)? < length {
        return Ok(None);
    }
    let value: Value = match serde_json::from_slice(&text) {
        Ok(value) => value,
        Err(error) => {
            return Ok(Some(wrong(None, &format!("a message is not valid JSON: {error}"))));
        }
    };
    let id = value.get("id").cloned();
    Ok(Some(match serde_json::from_value(value) {
        // What has an id is no notification: its id is one that no request can have.
        Ok(message) if id.is_none() || !matches!(message, Message::Notification(_)) => {
            Incoming::Message(message)
        }
        _ => wrong(id, "this is neither a request, a response nor a notification"),
    }))
}

/// An answer to what is no message: to a request, if it has an id that can be answered.
fn wrong(id: Option<Value>, message: &str) -> Incoming {
    let id = id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    Incoming::Wrong(match id {
        Some(id) => {
            Response::new_err(id, ErrorCode::InvalidRequest as i32, message.to_owned()).into()
        }
        None => log(MessageType::Error, message),
    })
}

/// A message for the log of the client, which is copied more widely than documents.
pub(crate) fn log(kind: MessageType, message: &str) -> Message {
    let params = LogMessageParams { kind, message: mask(message).into_owned() };
    Notification::new("window/logMessage".to_owned(), params).into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]
mod tests {
    use super::{Message, read_all};
    use crossbeam_channel::unbounded;
    use std::io::Cursor;

    fn framed(texts: &[&str]) -> Vec<u8> {
        let one = |text: &&str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        texts.iter().map(one).collect::<String>().into_bytes()
    }

    fn read(bytes: Vec<u8>) -> (Vec<Message>, Vec<Message>) {
        let ((to, messages), (answers, said)) = (unbounded(), unbounded());
        read_all(&mut Cursor::new(bytes), &to, &answers);
        drop((to, answers));
        (messages.iter().collect(), said.iter().collect())
    }

    #[test]
    fn what_is_no_message_is_skipped() {
        let good = r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#;
        for bad in [
            "{",
            "[]",
            "1",
            "",
            "\"\u{e9}\"",
            r#"{"jsonrpc":"2.0"}"#,
            "{\"id\":1.5,\"method\":\"x\"}",
        ] {
            let (messages, said) = read(framed(&[good, bad, good]));
            assert_eq!(messages.len(), 2, "{bad}: {messages:?} {said:?}");
            assert_eq!(said.len(), 1, "{bad}: {said:?}");
        }
        let (_, said) = read(framed(&[r#"{"jsonrpc":"2.0","id":"a","method":1}"#]));
        assert!(
            matches!(&said[..], [Message::Response(answer)] if answer.id == "a".to_owned().into())
        );
    }

    #[test]
    fn headers_that_are_none_are_skipped() {
        let good = r#"{"jsonrpc":"2.0","method":"x"}"#;
        let mut bytes = b"nonsense\r\n\r\nContent-Type: x\r\ncontent-length:".to_vec();
        bytes.extend(format!("  {}\r\n\r\n{good}", good.len()).into_bytes());
        bytes.extend(framed(&[good]));
        bytes.extend(b"Content-Length: 99999999999999999999\r\n\r\n");
        bytes.extend(framed(&[good]));
        assert_eq!(read(bytes).0.len(), 3);
        // The rest of a message that ends too early is not waited for.
        assert_eq!(read(b"Content-Length: 10\r\n\r\n{}".to_vec()).0.len(), 0);
    }
}
