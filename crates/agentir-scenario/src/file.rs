//! The form of a file with conversation tests.

use agentir_model::ScriptEntry;
use agentir_runtime::OrchestrationMethod;
use agentir_tools::{Matcher, StubCase};
use indexmap::IndexMap;
use jiff::Zoned;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// How large a file may be, in bytes.
const MAX_FILE: usize = 16 << 20;

/// A file with conversation tests.
///
/// ```
/// # use agentir_scenario::Scenario;
/// let file = Scenario::read(r#"
/// agents: parcel_redirect.agent.abl
/// tools:
///   service_window:
///     - answer: { open: true }
///   track_parcel:
///     - when: { tracking_code: AB12345 }
///       answer: { status: delivered }
/// tests:
///   - name: a parcel that has arrived
///     turns:
///       - says: [{ contains: Hello }, "What is the tracking code?"]
///       - user: ab12345
///         calls: [track_parcel]
///         says: ["That parcel has been delivered already.", "Thank you for calling."]
///         status: done
/// "#).unwrap();
/// assert_eq!(file.tests.len(), 1);
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The agents: a path, or several whose files are one program, from the file's folder. Its folder
    /// itself if left out.
    #[serde(default)]
    pub agents: Agents,
    /// The agent that talks to the user first, where that is not clear.
    #[serde(default)]
    pub entry: Option<String>,
    /// The channel: `web` if nothing is said.
    #[serde(default)]
    pub channel: Option<String>,
    /// Who answers for a language model: the answers of this file if there are any, else rules of thumb.
    #[serde(default)]
    pub model: Option<ModelMode>,
    /// How the agents of an ensemble or a supervisor share the conversation; as their language says if
    /// left out.
    #[serde(default)]
    pub orchestration: Option<OrchestrationMethod>,
    /// What the clock says, as in RFC 3339. It does not move.
    #[serde(default)]
    pub now: Option<String>,
    /// What the model answers, for all tests.
    #[serde(default)]
    pub answers: Vec<ScriptEntry>,
    /// What tools answer, for all tests.
    #[serde(default)]
    pub tools: BTreeMap<String, Vec<StubCase>>,
    /// What is remembered of earlier conversations, by path.
    #[serde(default)]
    pub memory: Map<String, Json>,
    /// The tests.
    pub tests: Vec<Test>,
}

/// Where the agents of a file are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Agents {
    /// In the folder of the file.
    #[default]
    SameFolder,
    /// A file or a folder.
    Path(String),
    /// Files and folders that are one program together, whatever they are each by itself.
    Paths(Vec<String>),
}

impl Agents {
    /// Where they are, for a file in this folder.
    #[must_use]
    pub fn paths(&self, folder: &Path) -> Vec<PathBuf> {
        match self {
            Self::SameFolder => vec![folder.to_owned()],
            Self::Path(path) => vec![folder.join(path)],
            Self::Paths(paths) => paths.iter().map(|path| folder.join(path)).collect(),
        }
    }
}

/// Who answers for a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelMode {
    /// The answers of the file.
    Scripted,
    /// Rules of thumb.
    Offline,
}

/// A conversation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// What the model answers here, before the answers for all tests.
    #[serde(default)]
    pub answers: Vec<ScriptEntry>,
    /// What tools answer here; of a tool that is named, nothing else is used.
    #[serde(default)]
    pub tools: BTreeMap<String, Vec<StubCase>>,
    /// What is remembered of earlier conversations, by path.
    #[serde(default)]
    pub memory: Map<String, Json>,
    /// What people do who take over, in their order.
    #[serde(default)]
    pub humans: Vec<HumanResponse>,
    /// The turns. One without `user` is what agents do before anybody speaks, and comes first.
    pub turns: Vec<Turn>,
}

/// What a person does who takes over.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HumanResponse {
    /// What they say to the user.
    #[serde(default)]
    pub says: Vec<String>,
    /// What agents read as `human.…`; without it they are not done.
    #[serde(default)]
    pub outcome: Option<Map<String, Json>>,
}

/// What the user does, and what is to come of it. What is left out is not looked at.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// What the user says.
    #[serde(default)]
    pub user: Option<String>,
    /// The button that the user presses.
    #[serde(default)]
    pub press: Option<ButtonPress>,
    /// All that the agents say, in its order.
    #[serde(default)]
    pub says: Option<Vec<TextMatch>>,
    /// All calls of tools, in their order.
    #[serde(default)]
    pub calls: Option<Vec<ExpectedCall>>,
    /// Variables, by name or path; what is not named may be anything.
    #[serde(default)]
    pub state: IndexMap<String, Matcher>,
    /// The agent in charge at the end.
    #[serde(default)]
    pub agent: Option<String>,
    /// The step it is in at the end.
    #[serde(default)]
    pub step: Option<String>,
    /// How the conversation stands at the end: `await`, `human`, `done`, `failed`.
    #[serde(default)]
    pub status: Option<String>,
}

/// A button.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ButtonPress {
    /// Its id.
    pub id: String,
    /// Its value.
    #[serde(default)]
    pub value: Option<String>,
}

/// What a text is to be.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TextMatch {
    /// Exactly this, but for white space at its ends.
    Exact(String),
    /// It has this in it. Upper and lower case are the same.
    Contains {
        /// What.
        contains: String,
    },
    /// A regular expression is found in it.
    Matches {
        /// The expression.
        matches: String,
    },
}

/// A call that is to be made.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ExpectedCall {
    /// Of this tool, with any arguments.
    Tool(String),
    /// With these arguments, and any others.
    With(IndexMap<String, IndexMap<String, Matcher>>),
}

/// A file that is none of conversation tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(pub String);

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScenarioError {}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ScenarioError`] says what is wrong, and where.
    pub fn read(text: &str) -> Result<Self, ScenarioError> {
        if text.len() > MAX_FILE {
            let most = MAX_FILE >> 20;
            return Err(ScenarioError(format!("a file of tests has at most {most} MB")));
        }
        let file: Self = serde_saphyr::from_str(text).map_err(|e| ScenarioError(e.to_string()))?;
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), ScenarioError> {
        if let Some(now) = &self.now {
            self::now(now)?;
        }
        if matches!(&self.agents, Agents::Paths(paths) if paths.is_empty()) {
            return Err(ScenarioError("`agents` names nothing".to_owned()));
        }
        for test in &self.tests {
            let inside =
                |message: String| ScenarioError(format!("test `{}`: {message}", test.name));
            let mut silent = test
                .turns
                .iter()
                .enumerate()
                .filter(|(_, t)| t.user.is_none() && t.press.is_none());
            if silent.any(|(n, _)| n > 0) {
                return Err(inside(
                    "only the first turn may be without `user`: agents wait for the user in all others"
                        .to_owned(),
                ));
            }
            for text in test.turns.iter().flat_map(|t| t.says.iter().flatten()) {
                if let TextMatch::Matches { matches } = text
                    && let Err(error) = pattern(matches)
                {
                    return Err(inside(format!("`{matches}` is no regular expression: {error}")));
                }
            }
        }
        Ok(())
    }
}

/// A moment as files write it.
pub(crate) fn now(text: &str) -> Result<Zoned, ScenarioError> {
    let wrong = || ScenarioError(format!("`now: {text}` is no time as in 2026-03-01T10:00:00Z"));
    let at: jiff::Timestamp = text.parse().map_err(|_| wrong())?;
    Ok(at.to_zoned(jiff::tz::TimeZone::UTC))
}

pub(crate) fn pattern(text: &str) -> Result<regex::Regex, regex::Error> {
    regex::RegexBuilder::new(text).size_limit(1 << 20).build()
}

/// The JSON Schema of the file.
#[must_use]
pub fn scenario_schema() -> Json {
    schemars::schema_for!(Scenario).to_value()
}
