//! Lines of an input that nobody vouches for.

use std::io::{self, BufRead, Read};

/// The maximum size of a message, in bytes.
pub const MAX_MESSAGE: usize = 1 << 20;

/// A line, or why it cannot be a message.
pub enum Line {
    Text(String),
    Unusable(&'static str),
}

/// Whether a message is too long.
pub fn check_length(text: &str) -> Result<(), &'static str> {
    if text.len() > MAX_MESSAGE { Err(TOO_LONG) } else { Ok(()) }
}

const TOO_LONG: &str = "a message may have at most 1 MiB";

/// The next line without its end; none at the end of the input. Takes bounded memory, whatever the line.
pub fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    // With the end of the line, and one byte more.
    let most = MAX_MESSAGE as u64 + 3;
    if input.take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let ended = line.pop_if(|byte| *byte == b'\n').is_some();
    if ended {
        line.pop_if(|byte| *byte == b'\r');
    } else if line.len() > MAX_MESSAGE {
        input.skip_until(b'\n')?;
    }
    if line.len() > MAX_MESSAGE {
        return Ok(Some(Line::Unusable(TOO_LONG)));
    }
    Ok(Some(match String::from_utf8(line) {
        Ok(text) => Line::Text(text),
        Err(_) => Line::Unusable("it is not valid UTF-8"),
    }))
}
