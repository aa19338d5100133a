//! What the environment says: `{{config.X}}`, `{{secrets.X}}`, `{{env.X}}`.

use crate::template::{Encoding, Values};
use serde_json::Map;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;

/// The namespaces that stand for the environment. All of them mean its variable of that name: there is
/// no other place where settings or secrets come from.
const NAMESPACES: &[&str] = &["config", "secrets", "env"];

/// What stands for a secret in messages.
const MASK: &str = "***";

/// Values that are shorter cannot be hidden: they would be found everywhere.
const MIN_SECRET_LEN: usize = 4;

/// The variables that processes see which are started here. Others may be secrets.
const INHERITED_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "PYENV_VERSION",
];

/// The variables of an environment that tools may read.
#[derive(Clone, Default)]
pub struct EnvVars {
    values: BTreeMap<String, String>,
    /// Those that may be read, if there are others.
    allowed: Option<BTreeSet<String>>,
}

/// Never shows values.
impl fmt::Debug for EnvVars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

impl EnvVars {
    /// These variables of the environment of this process, and no others. Variables that are not UTF-8 are
    /// left out.
    #[must_use]
    pub fn from_environment(names: impl IntoIterator<Item = String>) -> Self {
        let allowed: BTreeSet<String> = names.into_iter().collect();
        let value = |name: &String| Some((name.clone(), std::env::var(name).ok()?));
        Self { values: allowed.iter().filter_map(value).collect(), allowed: Some(allowed) }
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// It may not be read, or is not set; the error says how it is.
    pub fn get(&self, name: &str) -> Result<&str, NoVariable> {
        match self.values.get(name) {
            Some(value) => Ok(value),
            None if self.allowed.as_ref().is_none_or(|names| names.contains(name)) => {
                Err(NoVariable::NotSet(name.to_owned()))
            }
            None => Err(NoVariable::NotAllowed(name.to_owned())),
        }
    }

    /// All variables that may be read and are set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Fills the placeholders of a template: `{{secrets.X}}`, `{{env.X}}`, `{{config.X}}`. Their values are added to
    /// `secrets`.
    ///
    /// # Errors
    /// If a variable is not set, or a placeholder is of another kind.
    pub fn fill(&self, template: &str, secrets: &mut Secrets) -> Result<String, FillError> {
        let none = Map::new();
        let values = Values { arguments: &none, session: &none, env: self };
        values.fill(template, Encoding::Plain, secrets).map_err(FillError)
    }

    /// The variables that a process may see which is started for a tool: `PATH`, `HOME` and the like.
    pub fn inherited() -> impl Iterator<Item = (&'static str, OsString)> {
        INHERITED_VARIABLES.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)))
    }

    /// The variable that a path names; none if it is about something else.
    pub(crate) fn variable(path: &str) -> Option<&str> {
        path.split_once('.').filter(|(space, _)| NAMESPACES.contains(space)).map(|(_, name)| name)
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for EnvVars {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(all: I) -> Self {
        let values = all.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        Self { values, allowed: None }
    }
}

/// Why a variable has no value for a tool. The text continues a sentence: what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoVariable {
    /// Whoever runs the agents has not allowed to read it.
    #[error("to let tools read `{0}` of the environment, run with --allow-env {0}")]
    NotAllowed(String),
    /// It is not set.
    #[error("set `{0}` in the environment")]
    NotSet(String),
}

/// A placeholder that has no value: which, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FillError(String);

/// The secrets of a call, which are redacted in all messages about it.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Notes a secret, and the forms in which it may come back.
    pub fn add(&mut self, secret: &str) {
        let escaped = serde_json::to_string(secret).unwrap_or_default();
        let escaped = escaped.trim_matches('"');
        let encoded = crate::template::percent_encoded(secret);
        for form in [secret, escaped, &encoded] {
            if form.len() >= MIN_SECRET_LEN && !self.0.iter().any(|known| known == form) {
                self.0.push(form.to_owned());
            }
        }
        // A secret that contains another one goes first.
        self.0.sort_by_key(|s| std::cmp::Reverse(s.len()));
    }

    /// A text without them.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), MASK);
            }
        }
        text
    }
}
