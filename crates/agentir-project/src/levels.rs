//! What configurations say about rules: which run, with which options, at which level.

use agentir_config::{Config, Configs, Level, Names, OptionValue, ValueKind};
use agentir_diagnostics::{Diagnostic, Severity, SourceMap};
use agentir_lint::{OPTIONS, OptionKind, Options, Selection};
use agentir_vfs::FileSystem;
use std::collections::HashMap;
use std::path::{self, Path};
use std::sync::Arc;

/// The rules, each with the group it belongs to.
fn rules() -> Vec<(&'static str, &'static str)> {
    agentir_lint::rule_names().map(|(rule, group)| (rule, group.name())).collect()
}

/// The names of rules and options that configurations may use.
#[must_use]
pub fn config_names() -> Names {
    let kind = |kind| match kind {
        OptionKind::Number(_) => ValueKind::Number,
        OptionKind::Names => ValueKind::Names,
    };
    let options = OPTIONS.iter().map(|option| (option.rule, option.name, kind(option.kind)));
    Names { rules: rules(), options: options.collect() }
}

/// The configurations of `files`: each file has the nearest `agentir.toml` above it.
#[must_use]
pub fn configs(files: Arc<dyn FileSystem>) -> Configs {
    Configs::nearest(files, config_names())
}

/// A selection without the rules that need not run, because no configuration wants them. A rule that was selected by
/// name runs.
#[must_use]
pub fn selection(mut wanted: Selection, configs: &Configs) -> Selection {
    if wanted.select.is_empty() {
        let unwanted = rules().into_iter().filter(|(rule, group)| configs.always_off(rule, group));
        wanted.ignore.extend(unwanted.map(|(rule, _)| rule.to_owned()));
    }
    wanted
}

/// What a file's configuration sets for the rules. `known` has what was found out before, by what is set.
pub fn rule_options(
    config: &Config,
    file: &Path,
    known: &mut HashMap<String, Arc<Options>>,
) -> Arc<Options> {
    let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let set = config.options(&file);
    let new = || {
        let mut options = Options::new();
        for ((rule, name), value) in &set {
            match value {
                OptionValue::Number(number) => options.set_number(rule, name, *number),
                OptionValue::Names(names) => options.set_names(rule, name, (*names).clone()),
            }
        }
        Arc::new(options)
    };
    Arc::clone(known.entry(format!("{set:?}")).or_insert_with(new))
}

/// What holds for the findings of a run.
pub struct Levels<'a> {
    configs: &'a Configs,
    groups: HashMap<&'static str, &'static str>,
    /// Whether rules were selected on the command line: then none of them is off.
    selected: bool,
}

impl<'a> Levels<'a> {
    /// What these configurations say.
    #[must_use]
    pub fn new(configs: &'a Configs, selection: &Selection) -> Self {
        let groups = rules().into_iter().collect();
        Self { configs, groups, selected: !selection.select.is_empty() }
    }

    /// The level of a rule in a file.
    fn of(&self, file: &str, rule: &str) -> Option<Level> {
        let file = Path::new(file);
        let config = self.configs.of(file);
        let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let group = self.groups.get(rule).copied().unwrap_or_default();
        config.level(&file, rule, group).filter(|level| !(self.selected && *level == Level::Off))
    }

    /// Whether a rule is off in a file.
    #[must_use]
    pub fn is_off(&self, file: &str, rule: &str) -> bool {
        self.of(file, rule) == Some(Level::Off)
    }

    /// Completes findings with what depends on their rule and on the project: level, tags, and the address
    /// of the rule's page. Takes out those that the project does not want.
    pub fn apply(&self, diagnostics: &mut Vec<Diagnostic>, sources: &SourceMap) {
        diagnostics.retain_mut(|finding| {
            let file = sources.get(finding.primary.span.file).map_or("", |file| &file.name);
            match self.of(file, finding.rule.0) {
                Some(Level::Off) => return false,
                Some(Level::Info) => finding.severity = Severity::Info,
                Some(Level::Warning) => finding.severity = Severity::Warning,
                Some(Level::Error) => finding.severity = Severity::Error,
                Some(Level::Default) | None => {}
            }
            finding.tags = agentir_lint::tag(finding.rule.0).into_iter().collect();
            finding.page = self.configs.of(Path::new(file)).rule_page(finding.rule.0);
            true
        });
    }

    /// Whether a finding makes the run fail, by the configuration of its file.
    #[must_use]
    pub fn fails(&self, finding: &Diagnostic, sources: &SourceMap) -> bool {
        let file = sources.get(finding.primary.span.file).map_or("", |file| &file.name);
        self.configs.of(Path::new(file)).fail_on().fails(finding.severity)
    }
}
