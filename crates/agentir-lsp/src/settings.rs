//! What the editor's settings say.

use agentir::Selection;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// The settings, below `agentir` in those of the editor. What a project says, in `agentir.toml`, is not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Settings {
    /// Only these rules or groups of rules run.
    pub(crate) select: Vec<String>,
    /// These rules or groups of rules do not run.
    pub(crate) ignore: Vec<String>,
    /// The file of known findings, which are not shown; relative to the folder of the workspace.
    pub(crate) baseline: Option<PathBuf>,
}

impl Settings {
    /// Reads settings, with or without the name of the section around them.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn read(value: &Value) -> Result<Self, String> {
        let value = value.get("agentir").unwrap_or(value);
        if value.is_null() {
            return Ok(Self::default());
        }
        let settings: Self = Self::deserialize(value).map_err(|error| error.to_string())?;
        settings.selection()?;
        Ok(settings)
    }

    /// The rules that run.
    ///
    /// # Errors
    /// If there is no such rule.
    pub(crate) fn selection(&self) -> Result<Selection, String> {
        Selection::new(self.select.clone(), self.ignore.clone()).map_err(|error| {
            let near = error.closest.map(|near| format!("; did you mean `{near}`?"));
            format!("{error}{}", near.unwrap_or_default())
        })
    }
}
