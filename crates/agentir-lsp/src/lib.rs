//! A language server for the languages of conversational agents.
//!
//! ```text
//! client ──► transport ──► server: documents, workspace ──► view: a snapshot, as the client sees it
//!                             ▲                               │
//!                             └── answers, findings ◄── two threads: what is at hand, what needs a check
//! ```
//!
//! The main loop takes one message after the other, so that edits are made in their order. Whatever takes time gets a
//! snapshot and runs on another thread; what a later edit makes useless is dropped.
//!
//! *Invariant*: nothing that a client sends ends the server but `exit`, and everything that is said of programs is said
//! by the library; only commands that the user chose write files, and these are the client's.

mod answers;
mod capabilities;
mod checker;
mod client;
mod documents;
mod findings;
mod server;
mod settings;
mod transport;
mod uri;
mod view;
mod watch;

use lsp_server::Connection;
use std::io;

/// Serves a client on standard input and output until it is done. Returns whether it said so before, as it should.
///
/// # Errors
/// If standard output cannot be written to.
pub fn run() -> io::Result<bool> {
    let (connection, threads) = transport::stdio();
    let is_done = server::serve(&connection);
    drop(connection);
    threads.join()?;
    Ok(is_done)
}

/// Serves a client on a connection, such as one in memory. Returns whether it said that it was done before it was gone.
#[must_use]
pub fn serve(connection: &Connection) -> bool {
    server::serve(connection)
}
