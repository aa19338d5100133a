//! Imports bot exports of Kore.ai XO 10 and 11: `botDefinition.json`, `appDefinition.json`, or both in a zip file.
//!
//! An export is JSON written by an editor, not by people, so it has no grammar or typed tree here. The text
//! is parsed as JSON with spans ([`json`]). Embedded languages have readers: URI-encoded texts ([`Text`]),
//! and the JavaScript of scripts and messages ([`script`]). XO's names are in [`tables`]. Lowering decides
//! what each part means: it takes the values it needs and preserves the rest.
//!
//! JavaScript is parsed by tree-sitter. Simple statements are translated; of all others, the
//! variables that they read and write are recorded. Spans survive URI decoding and escapes.
//!
//! Expressions and texts are translated to those of another language, whose parsers and tables [`Xo`] is given.
//!
//! *Invariant*: every value of the document is accessible with its span; each value is taken at most once.

mod archive;
pub mod dialect;
mod factory;
mod language;
mod losses;
mod lower;
pub mod script;
pub mod tables;

pub use agentir_syntax::json::{self, Json, Kind, Member, Text};
pub use language::{EXPORT_FILE, SETTINGS_FILE, Xo};

use agentir_diagnostics::{Diagnostic, FileId, Span};
use agentir_syntax::lower::too_many_agents;
use agentir_syntax::rules;

/// The file names of an export in its package.
pub const FILE_NAMES: &[&str] = &["botDefinition.json", "appDefinition.json"];

/// The name of the settings of an export.
pub(crate) const SETTINGS: &str = "config.json";

/// Keys that may wrap the definition.
const WRAPPERS: &[&str] = &["botDefinition", "appDefinition", "app", "bot"];

/// Whether a file is an export, by its name or content.
#[must_use]
pub fn is_xo(name: &str, text: &str) -> bool {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    FILE_NAMES.contains(&file)
        || (file.ends_with(".json")
            && text.contains("\"dialogComponents\"")
            && text.contains("\"dialogs\""))
}

/// The JSON of an export.
pub const FORMAT: json::Format = json::Format {
    max_depth: 100,
    max_values: 1_500_000,
    // A node takes up to 6 KB, and the shortest has two members.
    object_values: 7,
    depth_note: "exports have far fewer than 100 levels",
    help: "export the bot again instead of editing the file",
};

/// Parses an export; `None` if it is not JSON or contains no bot.
pub fn parse(file: FileId, text: &str, problems: &mut Vec<Diagnostic>) -> Option<Json> {
    let mut root = json::parse(file, text, &FORMAT, problems)?;
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
            Diagnostic::error(rules::SYNTAX, Span::new(file, 0, 0), "this JSON does not describe a bot")
                .note("a bot export of Kore.ai XO has a list `dialogs`, and the `dialogComponents` that its nodes refer to")
                .help("pass the `botDefinition.json` or `appDefinition.json` of an export, or its zip file"),
        );
        return None;
    }
    let dialogs = root.get("dialogs").map_or(0, |dialogs| dialogs.items().len());
    if let Some(problem) = too_many_agents(file, dialogs) {
        problems.push(problem);
        return None;
    }
    Some(root)
}
