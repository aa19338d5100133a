//! A conversation through a pipe: each line is a message. Messages of the user are repeated behind `> `, so
//! that the output is the whole conversation.

use super::lines::{self, Line};
use super::{Outcome, Talk, said};
use agentir_runtime::{Role, Status};
use std::io;
use std::process::ExitCode;

/// Talks until the conversation or the input ends.
pub fn run(talk: &mut Talk<'_>) -> Result<ExitCode, String> {
    // Whether the last turn failed.
    let mut failed = false;
    for message in &talk.session.transcript {
        let mark = if message.role == Role::User { "> " } else { "" };
        talk.screen.say(&format!("{mark}{}", message.text))?;
    }
    if talk.session.has_begun() {
        if let Status::Done | Status::Failed = talk.session.status {
            tell!(
                "note: this conversation has ended; `agentir session delete` makes room for another one"
            );
            return Ok(ExitCode::SUCCESS);
        }
    } else if let Some(code) = ended(talk.turn(None)?, &mut failed) {
        return Ok(code);
    }
    let mut input = io::stdin().lock();
    let mut number = 0;
    while let Some(line) =
        lines::next(&mut input).map_err(|error| format!("the input cannot be read: {error}"))?
    {
        number += 1;
        let line = match line {
            Line::Text(line) => line,
            Line::Unusable(why) => {
                tell!("note: line {number} of the input is not sent: {why}");
                continue;
            }
        };
        if line.trim().is_empty() {
            continue;
        }
        talk.screen.say(&format!("> {line}"))?;
        if let Some(code) = ended(talk.turn(Some(&said(&line)))?, &mut failed) {
            return Ok(code);
        }
    }
    Ok(ExitCode::from(u8::from(failed)))
}

/// The exit code after a turn that ends the conversation; notes whether the turn failed.
fn ended(outcome: Outcome, failed: &mut bool) -> Option<ExitCode> {
    let Outcome::Over(turn) = outcome else { return Some(ExitCode::from(1)) };
    *failed = turn.error.is_some();
    match turn.status {
        Status::Await => None,
        Status::Human => {
            println!("[a human agent takes over]");
            Some(ExitCode::SUCCESS)
        }
        Status::Done => Some(ExitCode::SUCCESS),
        Status::Failed => Some(ExitCode::from(1)),
    }
}
