//! What a message shows beside its text: buttons, menus and inputs, cards and carousels, words to be spoken (ABL, current
//! specification, 3.13.5). The user reads or hears it as the text, so that placeholders in it are filled in, and checks of
//! answers see it.

use super::Run;
use agentir_diagnostics::{Span, Spanned};
use agentir_eval::{evaluate, text};
use agentir_expr::{Expr, Name, Path, Segment};
use agentir_ir::{Actions, Response};
use agentir_ir_json::{Mode, to_value};
use serde_json::Value as Json;

/// The texts of an element that the user sees or that its client is given.
const SHOWN: &[&str] = &["label", "description", "placeholder", "value", "url", "options"];

/// What is said of the settings for speech; the others are for the voice.
const SPOKEN: &[&str] = &["plain_text", "ssml"];

impl Run<'_, '_, '_> {
    /// Buttons, menus and inputs as they are sent: with the values of their placeholders.
    pub(super) fn filled_actions(&self, actions: &Actions) -> Json {
        let mut sent = to_value(actions, Mode::Plain);
        if let (Some(label), Some(at)) = (&actions.submit_label, sent.get_mut("submit_label")) {
            *at = self.render(label).into();
        }
        let elements = sent.get_mut("elements").and_then(Json::as_array_mut);
        for (element, sent) in actions.elements.iter().zip(elements.into_iter().flatten()) {
            let texts = [
                ("label", &element.label),
                ("description", &element.description),
                ("placeholder", &element.placeholder),
            ];
            for (name, template) in texts {
                if let (Some(template), Some(at)) = (template, sent.get_mut(name)) {
                    *at = self.render(template).into();
                }
            }
            for name in ["value", "url", "options"] {
                if let Some(at) = sent.get_mut(name) {
                    self.fill(at);
                }
            }
        }
        sent
    }

    /// The words of a response that are spoken, or shown by channels that show more than text.
    pub(super) fn words_beside(&self, response: &Response, depth: u8) -> String {
        let mut all: Vec<String> = Vec::new();
        let spoken = response
            .voice_config
            .iter()
            .flat_map(|voice| SPOKEN.iter().filter_map(|name| voice.get(name)));
        for data in spoken.chain(&response.rich_content) {
            let mut data = data.clone();
            self.fill(&mut data);
            let mut texts = Vec::new();
            texts_of(&data, &mut texts);
            all.extend(texts.into_iter().map(str::to_owned));
        }
        let key = response.message_key.as_ref().filter(|_| response.text.is_none() && depth < 8);
        if let Some(message) = key.and_then(|key| {
            self.agent().ok().and_then(|agent| agent.messages.get(key.value.as_str()))
        }) {
            all.push(self.words_beside(message, depth + 1));
        }
        all.retain(|text| !text.trim().is_empty());
        all.join("\n")
    }

    /// Fills in the variables and paths that all texts of a value have as placeholders. Recursive; parsers limit the depth.
    fn fill(&self, value: &mut Json) {
        match value {
            Json::String(text) if text.contains("{{") => *text = self.filled(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Json::Object(fields) => fields.values_mut().for_each(|value| self.fill(value)),
            _ => {}
        }
    }

    fn filled(&self, written: &str) -> String {
        let mut out = String::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            match after.split_once("}}").and_then(|(inside, end)| Some((path_of(inside)?, end))) {
                Some((path, end)) => {
                    let value = evaluate(&path, &self.scope(), self.dialect()).unwrap_or_default();
                    out.push_str(&text(&value, self.dialect().semantics()));
                    rest = end;
                }
                // Other expressions have been read where templates are; here they stay as they are.
                None => {
                    out.push_str("{{");
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    }
}

/// A variable, or a path into one.
fn path_of(written: &str) -> Option<Expr> {
    let is_name = |name: &&str| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let name = |name: &str| Spanned::new(Name::new(name), Span::default());
    let mut names = written.trim().split('.');
    let root = names.next().filter(is_name)?;
    let segments: Option<Vec<Segment>> =
        names.map(|field| is_name(&field).then(|| Segment::Field(name(field)))).collect();
    let path = Path { namespace: None, root: name(root), segments: segments? };
    Some(Expr::path(path, Span::default()))
}

/// The texts that a user reads on buttons, menus and inputs, or sends by them.
pub(super) fn shown_texts(actions: &Json) -> Vec<&str> {
    let mut all = Vec::new();
    if let Some(label) = actions.get("submit_label") {
        texts_of(label, &mut all);
    }
    let elements = actions.get("elements").and_then(Json::as_array);
    for element in elements.into_iter().flatten() {
        SHOWN.iter().filter_map(|name| element.get(name)).for_each(|at| texts_of(at, &mut all));
    }
    all
}

/// Changes these texts.
pub(super) fn change_shown(actions: &mut Json, change: &impl Fn(&str) -> String) {
    if let Some(label) = actions.get_mut("submit_label") {
        super::checks::map_strings(label, change);
    }
    let elements = actions.get_mut("elements").and_then(Json::as_array_mut);
    for element in elements.into_iter().flatten() {
        for name in SHOWN {
            if let Some(at) = element.get_mut(name) {
                super::checks::map_strings(at, change);
            }
        }
    }
}

/// All texts of a value. Recursive; parsers limit the depth.
fn texts_of<'j>(value: &'j Json, all: &mut Vec<&'j str>) {
    match value {
        Json::String(text) => all.push(text),
        Json::Array(items) => items.iter().for_each(|item| texts_of(item, all)),
        Json::Object(fields) => fields.values().for_each(|value| texts_of(value, all)),
        _ => {}
    }
}
