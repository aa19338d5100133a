//! A configuration that was read, and what it says of a file.

use crate::file::{DialectName, File, Level, Options, Threshold};
use crate::{INVALID_CONFIGURATION, Names, OptionValue, ValueKind};
use agentir_diagnostics::{Diagnostic, FileId, SourceFile, Span, closest};
use agentir_expr::Version;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// What stands for the name of a rule in the address of its page.
const RULE_PLACEHOLDER: &str = "{rule}";

/// What holds for some files.
#[derive(Debug, Default)]
struct Layer {
    abl_version: Option<Version>,
    dialect: Option<&'static str>,
    levels: BTreeMap<String, Level>,
    /// By rule and option.
    options: BTreeMap<(String, String), OptionValue>,
}

impl Layer {
    /// What it says of a rule: the rule's own level, else its group's.
    fn level(&self, rule: &str, group: &str) -> Option<Level> {
        self.levels.get(rule).or_else(|| self.levels.get(group)).copied()
    }
}

/// A configuration. The default is that of a project without one.
#[derive(Debug, Default)]
pub struct Config {
    /// The folder that globs are relative to.
    root: PathBuf,
    /// What is written.
    text: Arc<str>,
    fail_on: Threshold,
    /// An address with [`RULE_PLACEHOLDER`] in it.
    rule_pages: Option<String>,
    base: Layer,
    overrides: Vec<(GlobSet, Layer)>,
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Config {
    /// Reads the text of an `agentir.toml` in the folder `root`.
    ///
    /// # Errors
    /// What is wrong with it, each at its place.
    pub fn read(
        id: FileId,
        file: &SourceFile,
        root: &Path,
        names: &Names,
    ) -> Result<Self, Vec<Diagnostic>> {
        let written: File =
            toml::from_str(&file.text).map_err(|error| vec![invalid_toml(id, &error)])?;
        let mut reader = Reader { id, names, problems: Vec::new() };
        let base = Layer {
            abl_version: written.abl_version.map(Version::from),
            dialect: written.dialect.map(DialectName::name),
            levels: reader.levels(written.rules),
            options: reader.options(written.options),
        };
        let overrides = written
            .overrides
            .into_iter()
            .map(|one| {
                let layer = Layer {
                    abl_version: one.abl_version.map(Version::from),
                    dialect: one.dialect.map(DialectName::name),
                    levels: reader.levels(one.rules),
                    options: reader.options(one.options),
                };
                (reader.globs(&one.files), layer)
            })
            .collect();
        let rule_pages = written.rule_pages.and_then(|address| reader.address(address));
        let include = (!written.include.is_empty()).then(|| reader.globs(&written.include));
        let exclude = reader.globs(&written.exclude);
        if !reader.problems.is_empty() {
            reader.problems.sort_by_key(|problem| problem.primary.span);
            return Err(reader.problems);
        }
        let (root, text, fail_on) = (root.to_owned(), Arc::clone(&file.text), written.fail_on);
        Ok(Self { root, text, fail_on, rule_pages, base, overrides, include, exclude })
    }

    /// From which level on findings make a run fail.
    #[must_use]
    pub const fn fail_on(&self) -> Threshold {
        self.fail_on
    }

    /// Where the page of a rule is on the web, if that is said.
    #[must_use]
    pub fn rule_page(&self, rule: &str) -> Option<String> {
        self.rule_pages.as_ref().map(|address| address.replace(RULE_PLACEHOLDER, rule))
    }

    /// Whether it says nothing, of any file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// All that this says of a file, as a key: what is written, and where the file is for it.
    #[must_use]
    pub fn identity<'c>(&'c self, path: &'c Path) -> (&'c str, &'c Path) {
        (&self.text, self.relative(path))
    }

    /// Whether a file that was found in a folder is to be read. `path` is absolute, as all paths here.
    #[must_use]
    pub fn includes(&self, path: &Path) -> bool {
        let path = self.relative(path);
        self.include.as_ref().is_none_or(|globs| globs.is_match(path))
            && !self.exclude.is_match(path)
    }

    /// The version of ABL to hold a file to, if that is said.
    #[must_use]
    pub fn abl_version(&self, path: &Path) -> Option<Version> {
        self.layers(path).find_map(|layer| layer.abl_version)
    }

    /// The name of the dialect to hold a file to, as in a `# @dialect:` line, if that is said.
    #[must_use]
    pub fn dialect(&self, path: &Path) -> Option<&'static str> {
        self.layers(path).find_map(|layer| layer.dialect)
    }

    /// The level of a rule in a file, if one is said.
    #[must_use]
    pub fn level(&self, path: &Path, rule: &str, group: &str) -> Option<Level> {
        self.layers(path)
            .find_map(|layer| layer.level(rule, group))
            .filter(|level| *level != Level::Default)
    }

    /// The options that are set for a file, each with its rule and its name.
    #[must_use]
    pub fn options<'c>(&'c self, path: &Path) -> BTreeMap<(&'c str, &'c str), &'c OptionValue> {
        let mut all = BTreeMap::new();
        // What counts most comes first, and is kept.
        for ((rule, name), value) in self.layers(path).flat_map(|layer| &layer.options) {
            all.entry((rule.as_str(), name.as_str())).or_insert(value);
        }
        all
    }

    /// Whether a rule has nothing to say in any file, so that it need not run.
    #[must_use]
    pub fn always_off(&self, rule: &str, group: &str) -> bool {
        let off = |layer: &Layer| layer.level(rule, group).is_none_or(|l| l == Level::Off);
        self.base.level(rule, group) == Some(Level::Off)
            && self.overrides.iter().all(|(_, layer)| off(layer))
    }

    /// What holds for a file, what counts most first.
    fn layers<'c, 'p>(&'c self, path: &'p Path) -> impl Iterator<Item = &'c Layer> + use<'c, 'p> {
        let path = self.relative(path);
        let special = self.overrides.iter().rev().filter(move |(globs, _)| globs.is_match(path));
        special.map(|(_, layer)| layer).chain([&self.base])
    }

    fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

/// What is said in TOML that is none, or none of ours.
fn invalid_toml(id: FileId, error: &toml::de::Error) -> Diagnostic {
    let span = error.span().map_or(Span::new(id, 0, 0), |range| span(id, range));
    let message = error.message();
    // The words of TOML, not those of the library that reads it.
    let words = [("field", "key"), ("variant", "value")];
    let shown = words.iter().fold(message.replace('\n', ", "), |text, (theirs, ours)| {
        ["unknown", "missing"].iter().fold(text, |text, what| {
            text.replace(&format!("{what} {theirs} `"), &format!("{what} {ours} `"))
        })
    });
    let shown = in_terms_of_toml(&shown).unwrap_or(shown);
    let finding = Diagnostic::error(INVALID_CONFIGURATION, span, shown);
    // What was found and what there is stand in backticks, by serde's wording.
    let mut quoted = message.split('`').skip(1).step_by(2);
    let found = quoted.next().unwrap_or_default();
    match closest(found, quoted) {
        Some(near) if message.starts_with("unknown ") => {
            finding.help(format!("did you mean `{near}`?"))
        }
        _ => finding.help("`agentir schema config` describes the file"),
    }
}

/// A message of the library in terms of TOML, if it names the types of Rust or tokens of the parser.
fn in_terms_of_toml(message: &str) -> Option<String> {
    if message.starts_with("wanted string or table") {
        return Some("expected a string".to_owned());
    }
    if message.starts_with("string values must be quoted") {
        return Some("a string must be in quotes".to_owned());
    }
    let (found, expected) = message.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    Some(format!("expected {}, found {}", type_name(expected)?, type_name(found)?))
}

/// The name of a type in TOML, by how the library describes a value.
fn type_name(description: &str) -> Option<&'static str> {
    let description = description.strip_prefix("a ").unwrap_or(description);
    let word = description.split([' ', ',']).next().unwrap_or_default();
    Some(match word {
        "sequence" => "a list",
        "map" | "struct" => "a table",
        "string" => "a string",
        "integer" => "a whole number",
        "floating" => "a number",
        "boolean" => "a boolean",
        _ => return None,
    })
}

fn span(id: FileId, range: std::ops::Range<usize>) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(id, offset(range.start), offset(range.end))
}

/// A file that is being read.
struct Reader<'n> {
    id: FileId,
    names: &'n Names,
    problems: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn problem(&mut self, range: std::ops::Range<usize>, message: String) {
        let at = span(self.id, range);
        self.problems.push(Diagnostic::error(INVALID_CONFIGURATION, at, message));
    }

    fn levels(&mut self, written: BTreeMap<Spanned<String>, Level>) -> BTreeMap<String, Level> {
        let mut levels = BTreeMap::new();
        for (name, level) in written {
            if !self.names.has(name.get_ref()) {
                self.unknown("there is no rule or group", &name, self.names.all().collect());
            }
            levels.insert(name.into_inner(), level);
        }
        levels
    }

    fn options(&mut self, written: Options) -> BTreeMap<(String, String), OptionValue> {
        let mut options = BTreeMap::new();
        for (rule, set) in written {
            if !self.names.has(rule.get_ref()) {
                self.unknown(
                    "there is no rule",
                    &rule,
                    self.names.rules.iter().map(|(rule, _)| *rule).collect(),
                );
                continue;
            }
            for (name, value) in set {
                let known: Vec<_> = self.names.options(rule.get_ref()).collect();
                let Some((_, kind)) = known.iter().find(|(known, _)| known == name.get_ref())
                else {
                    let names = known.iter().map(|(name, _)| *name).collect();
                    self.unknown(&format!("`{}` has no option", rule.get_ref()), &name, names);
                    continue;
                };
                if let Some(value) = self.value(*kind, &value) {
                    options.insert((rule.get_ref().clone(), name.into_inner()), value);
                }
            }
        }
        options
    }

    fn value(&mut self, kind: ValueKind, written: &Spanned<toml::Value>) -> Option<OptionValue> {
        match kind {
            ValueKind::Number => {
                let number = written.get_ref().as_integer().and_then(|n| u32::try_from(n).ok());
                if number.is_none() {
                    self.problem(
                        written.span(),
                        "expected a whole number that is not negative".to_owned(),
                    );
                }
                number.map(OptionValue::Number)
            }
            ValueKind::Names => {
                let list = written.get_ref().as_array().map(Vec::as_slice).unwrap_or_default();
                let names: Option<Vec<&str>> = list.iter().map(toml::Value::as_str).collect();
                let Some(names) = names.filter(|names| !names.is_empty()) else {
                    let message = "expected a list of names, such as `[\"crm_*\"]`".to_owned();
                    self.problem(written.span(), message);
                    return None;
                };
                let mut all = GlobSetBuilder::new();
                for name in names {
                    match Glob::new(name) {
                        Ok(glob) => _ = all.add(glob),
                        Err(error) => {
                            let message = format!("`{name}` is not a valid name: {}", error.kind());
                            self.problem(written.span(), message);
                        }
                    }
                }
                all.build().ok().map(OptionValue::Names)
            }
        }
    }

    /// There is no such thing, as the `message` says before the name; one of the `known` may have been meant.
    fn unknown(&mut self, message: &str, name: &Spanned<String>, known: Vec<&str>) {
        let at = span(self.id, name.span());
        let message = format!("{message} `{}`", name.get_ref());
        let finding = Diagnostic::error(INVALID_CONFIGURATION, at, message);
        let near = closest(name.get_ref(), known.iter().copied());
        self.problems.push(match (near, known.as_slice()) {
            (Some(near), _) => finding.help(format!("did you mean `{near}`?")),
            (None, []) => finding.help("the rule has no options"),
            (None, [only]) => finding.help(format!("its only option is `{only}`")),
            (None, _) => finding.help("`agentir rules` lists them all"),
        });
    }

    /// The address of a rule's page, with [`RULE_PLACEHOLDER`] in it.
    fn address(&mut self, written: Spanned<String>) -> Option<String> {
        let text = written.get_ref();
        let uri = text.replace(RULE_PLACEHOLDER, "rule").parse::<http::Uri>().ok();
        let web = uri.is_some_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
        let message = match (web, text.contains(RULE_PLACEHOLDER)) {
            (true, true) => return Some(written.into_inner()),
            (false, _) => {
                format!("`{text}` is not a web address: it must begin with `https://` or `http://`")
            }
            (true, false) => format!("all rules would have the page `{text}`"),
        };
        let at = span(self.id, written.span());
        self.problems.push(Diagnostic::error(INVALID_CONFIGURATION, at, message).help(format!(
            "write `{RULE_PLACEHOLDER}` where the name of a rule belongs: `https://example.org/rules/{RULE_PLACEHOLDER}.html`"
        )));
        None
    }

    fn globs(&mut self, written: &[Spanned<String>]) -> GlobSet {
        let mut all = GlobSetBuilder::new();
        for text in written {
            // A folder means all that is in it.
            let glob = text.get_ref().strip_prefix("./").unwrap_or(text.get_ref());
            let inside = format!("{}/**", glob.trim_end_matches('/'));
            for glob in [glob, inside.as_str()] {
                match GlobBuilder::new(glob).literal_separator(true).build() {
                    Ok(glob) => {
                        all.add(glob);
                    }
                    Err(error) => {
                        let message = format!("invalid glob: {}", error.kind());
                        self.problem(text.span(), message);
                        break;
                    }
                }
            }
        }
        all.build().unwrap_or_else(|error| {
            let message = format!("these globs cannot be matched: {error}");
            self.problem(0..0, message);
            GlobSet::empty()
        })
    }
}
