//! The rule runner.

use crate::catalogue::RULES;
use crate::options::Options;
use crate::rule::{AgentContext, Check, Report, SourceText};
use crate::statistics::Statistics;
use crate::timing::Times;
use agentir_analysis::{Cancellation, Cancelled, Clock, ProgramAnalysis};
use agentir_diagnostics::Diagnostic;
use agentir_expr::Version;
use agentir_ir::Program;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// No rule and no group of rules has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule or group `{name}`")]
pub struct UnknownRule {
    /// The name.
    pub name: String,
    /// A name that was probably meant.
    pub closest: Option<&'static str>,
}

/// A selection of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// If not empty, only these rules or groups run.
    pub select: FxHashSet<String>,
    /// These rules or groups do not run.
    pub ignore: FxHashSet<String>,
}

/// The rules that hold for parts of documents: whatever stands around them cannot define a function, nor a step that
/// is spelled as nearly as a step that is there.
const IN_FRAGMENTS: &[&str] = &["unknown-function", "undefined-step"];

/// Whether a finding about a part of a document holds whatever stands around it.
#[must_use]
pub fn holds_in_fragment(finding: &Diagnostic) -> bool {
    finding.rule.0 != "undefined-step" || !finding.fixes.is_empty()
}

impl Selection {
    /// The rules and groups of rules in `select`, or all if there are none, without those in `ignore`.
    ///
    /// # Errors
    /// If one of the names is neither that of a rule nor that of a group.
    pub fn new<N: Into<String>>(
        select: impl IntoIterator<Item = N>,
        ignore: impl IntoIterator<Item = N>,
    ) -> Result<Self, UnknownRule> {
        let names = || crate::rule_names().flat_map(|(rule, group)| [rule, group.name()]);
        let known = |name: String| {
            if names().any(|known| known == name) {
                return Ok(name);
            }
            let closest = agentir_diagnostics::closest(&name, names());
            Err(UnknownRule { name, closest })
        };
        Ok(Self {
            select: select.into_iter().map(Into::into).map(known).collect::<Result<_, _>>()?,
            ignore: ignore.into_iter().map(Into::into).map(known).collect::<Result<_, _>>()?,
        })
    }

    /// Those of its rules that hold for parts of documents; none if it has none of them.
    #[must_use]
    pub fn in_fragments(&self) -> Option<Self> {
        let names = IN_FRAGMENTS.iter().filter(|name| self.wants(name));
        let select: FxHashSet<String> = names.map(|name| (*name).to_owned()).collect();
        (!select.is_empty()).then(|| Self { select, ignore: FxHashSet::default() })
    }

    /// Whether the selection includes the rule called `name`.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        if self.select.is_empty() && self.ignore.is_empty() {
            return true;
        }
        let group = crate::rule_names().find(|(rule, _)| *rule == name);
        let group = group.map(|(_, group)| group.name()).unwrap_or_default();
        let among = |set: &FxHashSet<String>| set.contains(name) || set.contains(group);
        (self.select.is_empty() || among(&self.select)) && !among(&self.ignore)
    }
}

/// The result of checking a program.
#[derive(Debug, Default)]
pub struct Checked {
    /// The findings, by rule.
    pub diagnostics: Vec<Diagnostic>,
    /// The work that was done.
    pub statistics: Statistics,
}

/// Checks the source text of a file, and what it declares.
#[must_use]
pub fn check_text(source: &SourceText<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for rule in RULES.iter().copied() {
        if let Check::Text(check) = rule.check {
            check(source, &mut Report { rule, diagnostics: &mut diagnostics });
        }
    }
    diagnostics
}

/// How a program is checked.
#[derive(Debug, Clone, Copy)]
pub struct CheckRun<'r> {
    /// Which rules run.
    pub selection: &'r Selection,
    /// Whether the time of each rule is measured, which is not free.
    pub timed: bool,
    /// Stops the check early.
    pub cancellation: &'r Cancellation,
    /// The steps that the solver may take, where that is fewer than the size of the program allows.
    pub max_steps: u64,
}

/// Checks a program. `versions` says which version of the language each of its agents is held to, and
/// `options` what the project sets for the rules, both in the order of the agents.
///
/// # Errors
/// If the check was cancelled: between rules, or before a query of the solver.
pub fn check_with(
    program: &Program,
    versions: &[Version],
    options: &[Arc<Options>],
    how: CheckRun<'_>,
) -> Result<(Checked, Times), Cancelled> {
    let CheckRun { selection, timed, cancellation, max_steps } = how;
    let clock = if timed { Clock::running() } else { Clock::default() };
    let whole = clock.time("(names)", || ProgramAnalysis::new(program));
    let whole = whole.with_versions(versions).with_clock(clock);
    let whole = whole.with_cancellation(cancellation.clone()).with_max_steps(max_steps);
    let checked = run(&whole, options, selection, cancellation)?;
    Ok((checked, Times::of(whole.clock())))
}

/// Checks a program like [`check_with`], without measuring and to the end.
#[must_use]
pub fn check(
    program: &Program,
    versions: &[Version],
    options: &[Arc<Options>],
    selection: &Selection,
) -> Checked {
    let never = Cancellation::default();
    let how = CheckRun { selection, timed: false, cancellation: &never, max_steps: u64::MAX };
    let (checked, _) = check_with(program, versions, options, how).unwrap_or_default();
    checked
}

fn run(
    whole: &ProgramAnalysis<'_>,
    options: &[Arc<Options>],
    selection: &Selection,
    cancellation: &Cancellation,
) -> Result<Checked, Cancelled> {
    let mut diagnostics = Vec::new();
    let default = Options::new();
    let agents: Vec<AgentContext<'_, '_>> = whole
        .all_agents()
        .map(|agent| {
            let options = options.get(agent.id.index()).map_or(&default, Arc::as_ref);
            AgentContext::new(agent, options)
        })
        .collect();
    let notation = agents.first().map(|first| first.agent.metadata.notation).unwrap_or_default();
    for rule in RULES.iter().copied() {
        if !selection.wants(rule.name.0) {
            continue;
        }
        cancellation.check()?;
        let mut report = Report { rule, diagnostics: &mut diagnostics };
        let time = |work: &mut dyn FnMut()| whole.clock().time(rule.name.0, work);
        match rule.check {
            Check::FrontEnd | Check::Text(_) => {}
            Check::Agent(check) => time(&mut || {
                agents
                    .iter()
                    .filter(|agent| rule.applies_in(agent.dialect(), agent.agent.metadata.notation))
                    .for_each(|agent| check(agent, &mut report));
            }),
            Check::Program(check) if rule.applies_in(whole.dialect(), notation) => {
                time(&mut || check(whole, &mut report));
            }
            Check::Program(_) => {}
        }
    }
    // Agents of one file may share a mistake, for instance in the system prompt.
    let mut seen = FxHashSet::default();
    diagnostics.retain(|d| seen.insert((d.rule.0, d.primary.span, d.message.clone())));
    let statistics = Statistics::of(whole);
    // A rule that was stopped half-way has not seen everything.
    cancellation.check()?;
    Ok(Checked { diagnostics, statistics })
}
