//! Mistakes of agentir itself, which cost the results of one program and not of all.

use agentir_diagnostics::{Diagnostic, FileId, RuleName, Span};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The rule that reports that agentir could not finish.
pub const INTERNAL_ERROR: RuleName = RuleName("internal-error");

/// What a panic said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InternalError(String);

/// The result of `work`, or what it said when it panicked. What `work` changes must not be used after an error.
///
/// Exhaustion of memory or of the stack ends the process and cannot be caught; limits keep from it.
///
/// # Errors
/// If it panicked.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, InternalError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| InternalError(said(&*payload)))
}

fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .to_owned()
}

impl InternalError {
    /// The finding in a file that says so.
    #[must_use]
    pub fn finding(&self, file: FileId) -> Diagnostic {
        Diagnostic::error(
            INTERNAL_ERROR,
            Span::new(file, 0, 0),
            format!("agentir made a mistake and could not finish this: {self}"),
        )
        .note("the mistake is in agentir, not in the file; other programs are not affected")
        .help("please report it to the maintainers, with the part of the file that is needed to see this")
    }
}

#[cfg(test)]
mod tests {
    use super::{InternalError, guarded};

    #[test]
    #[allow(clippy::panic, reason = "it is what is tested")]
    fn panics_are_errors() {
        assert_eq!(guarded(|| 1), Ok(1));
        let constant: Result<(), _> = guarded(|| panic!("a word"));
        assert_eq!(constant, Err(InternalError("a word".to_owned())));
        let formatted: Result<(), _> = guarded(|| panic!("{} words", 2));
        assert_eq!(formatted, Err(InternalError("2 words".to_owned())));
    }
}
