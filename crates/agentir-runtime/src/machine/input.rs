//! What a user says, presses and sends.

use crate::session::{Attachment, Session};

/// The user's input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The text.
    pub text: String,
    /// The id and value of a pressed button or menu entry. Without a value, it is the one that the button was offered
    /// with.
    pub action: Option<(String, Option<String>)>,
    /// Files that come with it.
    pub attachments: Vec<Attachment>,
}

impl Input {
    /// Text without an action.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A press of a button, or a choice from a menu. It says the value that is sent, or else that of the button, or
    /// else its id.
    #[must_use]
    pub fn press(id: impl Into<String>, value: Option<String>) -> Self {
        Self { action: Some((id.into(), value)), ..Self::default() }
    }

    /// The input with what a pressed button submits (ABL, current specification, 3.13.5).
    pub(super) fn submitted(&self, session: &Session) -> Self {
        let mut input = self.clone();
        if let Some((id, value)) = &mut input.action {
            if value.is_none() {
                *value = session.offered.get(id).and_then(|offer| offer.value.clone());
            }
            if input.text.is_empty() {
                input.text = value.as_ref().unwrap_or(id).clone();
            }
        }
        input
    }
}
