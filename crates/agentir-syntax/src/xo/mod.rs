//! Bot exports of Kore.ai XO 10 and 11: `botDefinition.json`, `appDefinition.json`.
//!
//! An export is JSON that an editor wrote, not a language that people write. So there is no grammar of
//! ours: the text is read as JSON with places ([`json`]), and what is a language of its own in it has a
//! reader here: texts, which are mostly URI-encoded ([`Text`]), and the JavaScript of scripts and
//! messages ([`script`]). What XO calls things is in [`tables`]. Which part of an export is what, is
//! decided by who lowers it, who takes each value that an agent needs and keeps the rest.
//!
//! *Invariant*: every value of the document can be found again, with its place; a value is taken once.

pub mod json;
pub mod script;
pub mod tables;
mod text;

pub use json::{Json, Kind, Member};
pub use text::Text;

use crate::rules;
use agentir_diagnostics::{Diagnostic, FileId, Span};

/// How an export is called in its package.
pub const FILE_NAMES: &[&str] = &["botDefinition.json", "appDefinition.json"];

/// Under which names the definition stands where it does not stand at the root.
const WRAPPERS: &[&str] = &["botDefinition", "appDefinition", "app", "bot"];

/// Whether a file is an export, by its name, else by its content.
#[must_use]
pub fn is_xo(name: &str, text: &str) -> bool {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    FILE_NAMES.contains(&file)
        || (file.ends_with(".json")
            && text.contains("\"dialogComponents\"")
            && text.contains("\"dialogs\""))
}

/// Reads an export; nothing if it is no JSON or describes no bot.
pub fn parse(file: FileId, text: &str, problems: &mut Vec<Diagnostic>) -> Option<Json> {
    let mut root = json::parse(file, text, problems)?;
    if root.get("dialogs").is_none() {
        let inner = WRAPPERS
            .iter()
            .find(|name| root.get(name).is_some_and(|inner| inner.get("dialogs").is_some()));
        if let Some(inner) = inner {
            root = root.unwrapped(inner)?;
        }
    }
    if root.get("dialogs").is_none_or(|d| !matches!(d.kind, Kind::Array(_))) {
        problems.push(
            Diagnostic::error(rules::SYNTAX, Span::new(file, 0, 0), "this JSON describes no bot")
                .note("a bot export of Kore.ai XO has a list `dialogs`, and the `dialogComponents` that its nodes refer to")
                .help("name the `botDefinition.json` or `appDefinition.json` of an export, or its zip file"),
        );
        return None;
    }
    Some(root)
}
