//! A terminal that does not echo what is typed while a turn is taken: it would stand in the middle of
//! what is printed. It is read afterwards.

#[cfg(unix)]
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
#[cfg(unix)]
use std::sync::Mutex;

/// How the terminal was, as long as it is quiet.
#[cfg(unix)]
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// As long as this value lives, nothing is echoed.
pub struct Quiet(());

impl Quiet {
    /// Stops the echo of standard input, if it is a terminal.
    pub fn begin() -> Self {
        #[cfg(unix)]
        if let Ok(before) = tcgetattr(std::io::stdin()) {
            let mut quiet = before.clone();
            quiet.local_flags.remove(LocalFlags::ECHO | LocalFlags::ECHOCTL);
            if tcsetattr(std::io::stdin(), SetArg::TCSANOW, &quiet).is_ok()
                && let Ok(mut kept) = BEFORE.lock()
            {
                kept.get_or_insert(before);
            }
        }
        Self(())
    }

    /// Makes the terminal as it was, before the program ends in the middle of a turn.
    pub fn end() {
        #[cfg(unix)]
        if let Ok(mut kept) = BEFORE.lock()
            && let Some(before) = kept.take()
        {
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &before);
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        Self::end();
    }
}
