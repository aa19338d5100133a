//! What readers of a program ask about a file: its outline, its tokens, what folds, what is said where.
//!
//! All of it follows from AgentIR, the symbols and the line layout, so that a language has it without doing anything.

mod calls;
mod folds;
mod hints;
mod outline;
mod references;
mod suppression;
mod tokens;

pub use calls::AgentCall;
pub use folds::{Fold, FoldKind};
pub use hints::{Hint, HintKind};
pub use outline::OutlineItem;
pub use references::Link;
pub use tokens::{Token, TokenKind};
