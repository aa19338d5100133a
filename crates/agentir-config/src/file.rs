//! The file as it is written, and its schema.

use agentir_diagnostics::Severity;
use agentir_expr::Version;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// What a project wants of agentir: the file `agentir.toml`. It holds for the files below its folder,
/// as far as no other `agentir.toml` is nearer to them. What the command line says comes first.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[schemars(title = "agentir.toml")]
pub(crate) struct File {
    /// The least level of a finding that makes `agentir check` end with exit code 1.
    pub(crate) fail_on: Threshold,
    /// The version of ABL to hold documents to; found out from each document if not given.
    pub(crate) abl_version: Option<VersionName>,
    /// The dialect to hold documents to that name none; found out from each if not given: of Agent Script,
    /// or `mica` for bots of ADL that are written for its runtime.
    pub(crate) dialect: Option<DialectName>,
    /// Where the pages of the rules are on the web: an address with `{rule}` where the name of a rule
    /// belongs. Reports that have links (SARIF, HTML, Markdown) link there; without it they have none.
    #[schemars(with = "Option<String>", extend("pattern" = r"^https?://.*\{rule\}"))]
    pub(crate) rule_pages: Option<Spanned<String>>,
    /// Of the files in folders only those are read that one of these globs matches, relative to the
    /// folder of `agentir.toml`. All if none are given.
    #[schemars(with = "Vec<String>")]
    pub(crate) include: Vec<Spanned<String>>,
    /// Files in folders that one of these globs matches are not read. Files that are named on the
    /// command line are.
    #[schemars(with = "Vec<String>")]
    pub(crate) exclude: Vec<Spanned<String>>,
    /// Levels of rules and of groups of rules, by their names; a rule's own comes before its group's.
    #[schemars(with = "BTreeMap<String, Level>")]
    pub(crate) rules: BTreeMap<Spanned<String>, Level>,
    /// Options of rules, by the rules' names: `agentir explain RULE` says which there are.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, OptionSchema>>")]
    pub(crate) options: Options,
    /// What is otherwise for some files. Of several that match, later ones come first.
    pub(crate) overrides: Vec<Override>,
}

/// What is otherwise for some files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Override {
    /// Globs, relative to the folder of `agentir.toml`, of which one matches the files that are meant.
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(crate) files: Vec<Spanned<String>>,
    /// The version of ABL to hold these files to.
    pub(crate) abl_version: Option<VersionName>,
    /// The dialect to hold these files to.
    pub(crate) dialect: Option<DialectName>,
    /// Levels of rules and groups in these files.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Level>")]
    pub(crate) rules: BTreeMap<Spanned<String>, Level>,
    /// Options of rules in these files.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, OptionSchema>>")]
    pub(crate) options: Options,
}

/// Options of rules, by rule and name.
pub(crate) type Options =
    BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<toml::Value>>>;

/// What an option of a rule is set to.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what is read as TOML's own values")]
enum OptionSchema {
    /// A whole number.
    Number(u32),
    /// Names, in which `*` stands for anything.
    Names(Vec<String>),
}

/// What becomes of the findings of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// There are none.
    Off,
    /// They are for information.
    Info,
    /// They are warnings.
    Warning,
    /// They are errors.
    Error,
    /// They are what the rule says: undoes what was said of the rule's group, or further up.
    Default,
}

/// From which level on findings make a run fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// Errors alone.
    #[default]
    Error,
    /// Warnings and errors.
    Warning,
    /// Any finding.
    Info,
    /// None.
    Never,
}

impl Threshold {
    /// Whether a finding of this level makes a run fail.
    #[must_use]
    pub fn fails(self, severity: Severity) -> bool {
        match self {
            Self::Error => severity >= Severity::Error,
            Self::Warning => severity >= Severity::Warning,
            Self::Info => true,
            Self::Never => false,
        }
    }
}

/// A version of ABL.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VersionName {
    /// The legacy specification.
    Legacy,
    /// The current specification.
    Current,
    /// What the public reference says beyond it.
    Newest,
}

impl From<VersionName> for Version {
    fn from(name: VersionName) -> Self {
        match name {
            VersionName::Legacy => Self::Legacy,
            VersionName::Current => Self::Current,
            VersionName::Newest => Self::Newest,
        }
    }
}

/// A dialect of a language.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DialectName {
    /// The base that the others extend.
    AgentScript,
    /// Salesforce's.
    Agentforce,
    /// MuleSoft's, for networks of agents.
    Agentfabric,
    /// ADL as its runtime MICA has it, rather than the paper.
    Mica,
}

impl DialectName {
    /// The name, as in a `# @dialect:` line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AgentScript => "agentscript",
            Self::Agentforce => "agentforce",
            Self::Agentfabric => "agentfabric",
            Self::Mica => "mica",
        }
    }
}

/// The JSON Schema of `agentir.toml`.
#[must_use]
pub fn config_schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    generator.into_root_schema_for::<File>().to_value()
}
