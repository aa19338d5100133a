//! Colours of a conversation in a terminal.

use std::io::{IsTerminal, stdout};

const RESET: &str = "\u{1b}[0m";

/// Whether and how texts are marked. All marks are the program's: texts of others have no escapes.
#[derive(Clone, Copy)]
pub struct Style {
    colored: bool,
}

impl Style {
    /// Colours in a terminal, unless `NO_COLOR` is set (no-color.org) or the terminal has none.
    pub fn of_stdout() -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { colored: stdout().is_terminal() && !set("NO_COLOR") && !dumb }
    }

    fn marked(self, code: &str, text: &str) -> String {
        if self.colored { format!("\u{1b}[{code}m{text}{RESET}") } else { text.to_owned() }
    }

    /// Who speaks.
    pub fn speaker(self, text: &str) -> String {
        self.marked("1;36", text)
    }

    /// The prompt of the user.
    pub fn prompt(self, text: &str) -> String {
        self.marked("1;32", text)
    }

    /// What the program says.
    pub fn aside(self, text: &str) -> String {
        self.marked("2", text)
    }

    /// What can be chosen.
    pub fn choice(self, text: &str) -> String {
        self.marked("33", text)
    }
}
