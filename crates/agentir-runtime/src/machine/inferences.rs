//! Inferred values, which the user confirms before they count (ABL, current specification, 3.6 and
//! 8.8: `infer`, `infer_confirm`, `_pending_inferences`; 3.13.2: `confirmation` of a profile).
//!
//! The specification does not say when a value is inferred. Here it is if the user was not asked for
//! it, or if the message does not contain it as a value of its type.

use super::Run;
use super::fields::FieldLayers;
use crate::json::from_json;
use crate::model::{FieldSpec, FieldType, ModelTask};
use crate::session::RuntimeError;
use serde_json::{Map, Value as Json};

/// What became of the inferred values that the user was asked about.
pub(super) enum Settled {
    /// There were none.
    Nothing,
    /// The message says no more than whether they are right.
    Answered,
    /// They are not right, and the message says more: about this field first.
    Refused(String),
}

impl<'p> Run<'_, 'p, '_> {
    /// Whether the user has to confirm a value.
    pub(super) fn needs_confirmation(
        &mut self,
        field: &FieldLayers<'p>,
        spec: &FieldSpec,
        found: &Json,
        asked: bool,
    ) -> bool {
        let overrides = self.gather_overrides().unwrap_or_default();
        match overrides.iter().find_map(|all| all.confirmation) {
            Some("always") => return true,
            Some("never") => return false,
            Some("on_change") if self.has_value(&spec.name) => return true,
            _ => {}
        }
        let infers = field.copied(|f| f.infer) == Some(true);
        let confirms = field.copied(|f| f.infer_confirm) != Some(false);
        infers && confirms && !(asked && self.is_said(spec, found))
    }

    /// Whether the message contains a value.
    fn is_said(&self, spec: &FieldSpec, found: &Json) -> bool {
        let Some(input) = &self.input else { return false };
        if let (FieldType::Text, Json::String(text)) = (spec.ty, found)
            && input.text.to_lowercase().contains(&text.trim().to_lowercase())
        {
            return true;
        }
        let fields = std::slice::from_ref(spec);
        let by_patterns = self.host.extractor.extract(&input.text, fields, Some(&spec.name));
        by_patterns.get(&spec.name) == Some(found)
    }

    /// The question about the inferred values, if there are any.
    pub(super) fn inference_question(&mut self) -> Option<String> {
        let pending = self.frame().inferences.clone();
        if pending.is_empty() {
            return None;
        }
        let shown = |name: &str, value: &Json| {
            let value = match self.masked(name, value) {
                Json::String(text) => text,
                other => other.to_string(),
            };
            format!("{}: {value}", name.replace('_', " "))
        };
        let all: Vec<String> = pending.iter().map(|(name, one)| shown(name, &one.value)).collect();
        Some(format!("I understood {}. Is that right?", all.join(", ")))
    }

    /// Evaluates the user's answer to that question: values that are right are assigned, others are
    /// dropped.
    pub(super) fn settle_inferences(&mut self, message: &str) -> Result<Settled, RuntimeError> {
        let turn = self.session.turn;
        let pending = self.frame().inferences.clone();
        let Some((first, _)) = pending.iter().find(|(_, one)| one.turn < turn) else {
            return Ok(Settled::Nothing);
        };
        let agrees = self.judge(ModelTask::AGREEMENT, message.to_owned())?;
        self.frame().inferences.clear();
        self.show_inferences();
        if agrees {
            for (name, one) in &pending {
                if let Ok(value) = from_json(&one.value) {
                    self.assign_name(&self.field_variable(name), value)?;
                }
            }
            self.condition_results.clear();
            return Ok(Settled::Answered);
        }
        if message.split_whitespace().count() > 1 {
            return Ok(Settled::Refused(first.clone()));
        }
        Ok(Settled::Answered)
    }

    /// Gives up the inferred values that the user has not been asked about, because the question was not sent.
    pub(super) fn forget_inferences(&mut self) {
        let turn = self.session.turn;
        let frame = self.frame();
        if frame.inferences.values().any(|one| one.turn == turn) {
            frame.inferences.clear();
            self.show_inferences();
        }
    }

    /// Shows agents which values are to be confirmed.
    pub(super) fn show_inferences(&mut self) {
        let pending = self.frame().inferences.iter();
        let pending: Map<String, Json> =
            pending.map(|(name, one)| (name.clone(), one.value.clone())).collect();
        self.session.set_system("_pending_inferences", &Json::Object(pending));
    }
}
