//! Reads `config.yml`, the settings that MICA reads next to `agents.yml` (its server's `load_bot` and
//! `bot.py`).
//!
//! The paper does not define this file; the keys are those that MICA looks up.

use super::reader::duplicate;
use crate::rules;
use agentir_diagnostics::{Applicability, Diagnostic, Span, Spanned, closest};
use agentir_syntax::outline::{Entry, EntryKind, Outline};
use agentir_syntax::text::{first_line, listed};

/// The shape of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingType {
    /// A text.
    Text,
    /// A boolean.
    Switch,
    /// Settings of a service, which are not checked.
    Service,
}

/// All settings.
static SETTINGS: &[(&str, SettingType)] = &[
    ("bot_name", SettingType::Text),
    ("unsafe_mode", SettingType::Switch),
    ("llm", SettingType::Service),
    ("llm_config", SettingType::Service),
    ("facebook", SettingType::Service),
    ("slack", SettingType::Service),
];

/// All settings: whether each is a boolean, and whether it is nested.
pub(crate) fn settings() -> impl Iterator<Item = (&'static str, bool, bool)> {
    SETTINGS
        .iter()
        .map(|(name, form)| (*name, *form == SettingType::Switch, *form == SettingType::Service))
}

/// The settings of a bot.
#[derive(Debug, Default)]
pub struct Config<'t> {
    /// `unsafe_mode`: whether the bot's functions may import any module.
    pub unsafe_mode: Option<Spanned<bool>>,
    /// All entries, including unknown ones.
    pub entries: Vec<&'t Entry<'t>>,
}

/// Whether a text is a settings file: one of its top-level keys is a setting.
#[must_use]
pub fn is_config(text: &str) -> bool {
    text.lines().any(|line| {
        line.split_once(':').is_some_and(|(key, _)| SETTINGS.iter().any(|(name, _)| *name == key))
    })
}

/// Reads an outline as settings. Never fails: unknown entries are reported and kept.
pub fn read<'t>(outline: &'t Outline<'t>, problems: &mut Vec<Diagnostic>) -> Config<'t> {
    let mut config = Config::default();
    let mut seen: Vec<(&str, Span)> = Vec::new();
    for entry in &outline.entries {
        config.entries.push(entry);
        let EntryKind::Pair { key, value, children } = &entry.kind else {
            let span = first_line(outline.text, entry.span(outline.file));
            problems.push(
                Diagnostic::error(rules::SYNTAX, span, "this is not a setting")
                    .help("a setting is a key and a value: `bot_name: …`"),
            );
            continue;
        };
        let names = || SETTINGS.iter().map(|(name, _)| *name);
        let Some((name, form)) = SETTINGS.iter().find(|(name, _)| *name == key.text) else {
            let finding = Diagnostic::warning(
                rules::UNKNOWN_FIELD,
                key.span,
                format!("MICA has no setting `{}`", key.text),
            )
            .note("it ignores unknown settings");
            problems.push(match closest(key.text, names()) {
                Some(near) => finding.did_you_mean(near),
                None => {
                    let all: Vec<String> = names().map(|name| format!("`{name}`")).collect();
                    finding.help(format!("settings are {}", listed(&all)))
                }
            });
            continue;
        };
        match seen.iter().find(|(other, _)| other == name) {
            Some((_, first)) => problems.push(duplicate(key, *first)),
            None => seen.push((name, key.span)),
        }
        let scalar = value.as_ref().filter(|_| children.is_empty());
        let wrong = |what: &str| {
            Diagnostic::error(
                rules::INVALID_VALUE,
                value.as_ref().map_or(key.span, |v| v.span),
                format!("`{name}` expects {what}"),
            )
        };
        match (form, scalar) {
            (SettingType::Text, None) => {
                problems.push(wrong("a string").help(format!("write `{name}: …`")))
            }
            (SettingType::Switch, _) => {
                match scalar.and_then(|s| Some((s.yaml_1_1_bool()?, s.span))) {
                    Some((on, span)) => config.unsafe_mode = Some(Spanned::new(on, span)),
                    None => {
                        let finding = wrong("a boolean")
                            .help(format!("write `{name}: true`, without quotes"));
                        let meant = scalar.map(|s| s.value());
                        problems.push(match meant.as_deref() {
                            Some(word @ ("true" | "false")) => {
                                finding.replace(word, Applicability::Safe)
                            }
                            _ => finding,
                        });
                    }
                }
            }
            (SettingType::Service, Some(_)) => problems.push(
                wrong("nested settings")
                    .help(format!("write them indented below `{name}:`, one per line")),
            ),
            _ => {}
        }
        if let (SettingType::Service, "llm" | "llm_config") = (form, *name) {
            chat(children, problems);
        }
    }
    if let Some(mode) = config.unsafe_mode.as_ref().filter(|mode| mode.value) {
        problems.push(not_passed_on(mode.span, "unsafe_mode"));
    }
    config
}

fn chat(entries: &[Entry<'_>], problems: &mut Vec<Diagnostic>) {
    for entry in entries {
        if let EntryKind::Pair { key, .. } = &entry.kind
            && key.text == "chat"
        {
            problems.push(not_passed_on(key.span, "llm.chat"));
        }
    }
}

/// The server passes only `llm` itself on, not its nested keys (`server.py`).
fn not_passed_on(span: Span, name: &str) -> Diagnostic {
    Diagnostic::info(
        rules::MICA_CONFIG,
        span,
        format!("MICA's server does not forward `{name}` to the bot"),
    )
    .note("it only forwards the contents of `llm`; the workbench reads the whole file")
    .help("test the bot on the server, not only in the workbench")
}
