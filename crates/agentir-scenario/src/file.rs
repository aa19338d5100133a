//! The format of conversation test files.

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

/// The maximum size of a file, in bytes.
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
    /// The agents under test: a path, or several whose files form one program, relative to the
    /// folder of this file. The default is that folder.
    #[serde(default)]
    pub agents: Agents,
    /// The entry agent, if the program does not define one.
    #[serde(default)]
    pub entry: Option<String>,
    /// The channel. The default is `web`.
    #[serde(default)]
    pub channel: Option<String>,
    /// The model: `scripted` or `offline`. The default is `scripted` if this file has answers.
    #[serde(default)]
    pub model: Option<ModelMode>,
    /// The orchestration method of an ensemble or a supervisor. The default is the semantics of the
    /// language.
    #[serde(default)]
    pub orchestration: Option<OrchestrationMethod>,
    /// The current time, as in RFC 3339. It does not advance.
    #[serde(default)]
    pub now: Option<String>,
    /// Answers of the scripted model, for all tests.
    #[serde(default)]
    pub answers: Vec<ScriptEntry>,
    /// Stubbed tools, for all tests.
    #[serde(default)]
    pub tools: BTreeMap<String, Vec<StubCase>>,
    /// Values in long-term memory from earlier conversations, by path.
    #[serde(default)]
    pub memory: Map<String, Json>,
    /// The tests.
    pub tests: Vec<Test>,
}

/// The location of the agents under test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Agents {
    /// The folder of the test file.
    #[default]
    SameFolder,
    /// A file or a folder.
    Path(String),
    /// Files and folders that form one program.
    Paths(Vec<String>),
}

impl Agents {
    /// The paths, for a test file in the given folder.
    #[must_use]
    pub fn paths(&self, folder: &Path) -> Vec<PathBuf> {
        match self {
            Self::SameFolder => vec![folder.to_owned()],
            Self::Path(path) => vec![folder.join(path)],
            Self::Paths(paths) => paths.iter().map(|path| folder.join(path)).collect(),
        }
    }
}

/// The model used by tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelMode {
    /// The scripted model, with the answers of the file.
    Scripted,
    /// The offline model, which uses heuristics.
    Offline,
}

/// A test: one conversation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The name.
    pub name: String,
    /// Answers of the scripted model for this test; they take precedence over the answers for all
    /// tests.
    #[serde(default)]
    pub answers: Vec<ScriptEntry>,
    /// Stubbed tools for this test; they replace the stubs of the same name for all tests.
    #[serde(default)]
    pub tools: BTreeMap<String, Vec<StubCase>>,
    /// Values in long-term memory from earlier conversations, by path.
    #[serde(default)]
    pub memory: Map<String, Json>,
    /// The responses of people who take over, in order.
    #[serde(default)]
    pub humans: Vec<HumanResponse>,
    /// The turns. Only the first one may omit `user`; it is what agents do before the user's first
    /// message.
    pub turns: Vec<Turn>,
}

/// The response of a person who takes over.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HumanResponse {
    /// The messages to the user.
    #[serde(default)]
    pub says: Vec<String>,
    /// The values that agents read as `human.…`; without it, the person is still handling the
    /// conversation.
    #[serde(default)]
    pub outcome: Option<Map<String, Json>>,
}

/// The user's input and the expectations for the turn. Omitted expectations are not checked.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The user's message.
    #[serde(default)]
    pub user: Option<String>,
    /// The button that the user presses.
    #[serde(default)]
    pub press: Option<ButtonPress>,
    /// All messages of the agents, in order.
    #[serde(default)]
    pub says: Option<Vec<TextMatch>>,
    /// All tool calls, in order.
    #[serde(default)]
    pub calls: Option<Vec<ExpectedCall>>,
    /// Values of variables, by name or path. Variables that are not named are not checked.
    #[serde(default)]
    pub state: IndexMap<String, Matcher>,
    /// The agent in charge after the turn.
    #[serde(default)]
    pub agent: Option<String>,
    /// The current step after the turn.
    #[serde(default)]
    pub step: Option<String>,
    /// The status after the turn: `await`, `human`, `done`, `failed`.
    #[serde(default)]
    pub status: Option<String>,
}

/// A button.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ButtonPress {
    /// The id.
    pub id: String,
    /// The value.
    #[serde(default)]
    pub value: Option<String>,
}

/// An expected message.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TextMatch {
    /// The exact text, ignoring white space at both ends.
    Exact(String),
    /// A substring. Case-insensitive.
    Contains {
        /// The substring.
        contains: String,
    },
    /// A regular expression that matches somewhere in the text.
    Matches {
        /// The regular expression.
        matches: String,
    },
}

/// An expected tool call.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ExpectedCall {
    /// A call of this tool with any arguments.
    Tool(String),
    /// A call with these arguments; further arguments are allowed.
    With(IndexMap<String, IndexMap<String, Matcher>>),
}

/// An error in a test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(pub String);

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScenarioError {}

impl Scenario {
    /// Parses a file.
    ///
    /// # Errors
    /// Returns a [`ScenarioError`] with the location of the error.
    pub fn read(text: &str) -> Result<Self, ScenarioError> {
        if text.len() > MAX_FILE {
            let most = MAX_FILE >> 20;
            return Err(ScenarioError(format!("a test file must not exceed {most} MB")));
        }
        let file: Self = serde_saphyr::from_str(text)
            .map_err(|e| ScenarioError(e.without_snippet().to_string()))?;
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), ScenarioError> {
        if let Some(now) = &self.now {
            self::now(now)?;
        }
        if matches!(&self.agents, Agents::Paths(paths) if paths.is_empty()) {
            return Err(ScenarioError("`agents` is empty".to_owned()));
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
                return Err(inside("only the first turn may omit `user`".to_owned()));
            }
            for text in test.turns.iter().flat_map(|t| t.says.iter().flatten()) {
                if let TextMatch::Matches { matches } = text
                    && let Err(error) = pattern(matches)
                {
                    return Err(inside(format!(
                        "`{matches}` is not a valid regular expression: {error}"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Parses the `now` field.
pub(crate) fn now(text: &str) -> Result<Zoned, ScenarioError> {
    let wrong =
        || ScenarioError(format!("`now: {text}` is not a valid time such as 2026-03-01T10:00:00Z"));
    let at: jiff::Timestamp = text.parse().map_err(|_| wrong())?;
    Ok(at.to_zoned(jiff::tz::TimeZone::UTC))
}

pub(crate) fn pattern(text: &str) -> Result<regex::Regex, regex::Error> {
    regex::RegexBuilder::new(text).size_limit(1 << 20).build()
}

/// The JSON Schema of a test file.
#[must_use]
pub fn scenario_schema() -> Json {
    schemars::schema_for!(Scenario).to_value()
}
