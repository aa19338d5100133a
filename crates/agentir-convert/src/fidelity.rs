//! The fidelity report: which values were kept, approximated or dropped.

use crate::comments::Comment;
use crate::places::{OutputIndex, part};
use crate::renames::{Renames, renames_at};
use crate::replays::Replays;
use crate::todo::Todo;
use crate::truthiness;
use agentir_compare::{
    AnnouncedLosses, Comparison, Location, NormalizedProgram, matches_pattern, segments,
};
use agentir_diagnostics::{SourceMap, Span, clean_lines, value_texts_mut};
use agentir_secrets::Masker;
use agentir_syntax::Languages;
use agentir_syntax::emit::{LossRule, Preservation, Renamed, Target, Task};
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use smol_str::SmolStr;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;

/// The preservation of one value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    /// The path of the value in the IR.
    pub path: String,
    /// The value.
    pub value: Value,
    /// How well it was preserved.
    #[serde(rename = "fate")]
    pub preservation: Preservation,
    /// How it is expressed instead, or why it is missing; absent for kept values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// What can be done by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// How much there is to do about it; absent for kept values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// What to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// The location in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Location>,
    /// The location in the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Location>,
    /// Its span in the source, and that of what stands for it in the output. For a dropped value of a tool that is where
    /// the tool is in the output: what the model may do with it there follows from what it lacks.
    #[serde(skip)]
    pub(crate) spans: [Option<Span>; 2],
}

/// The number of values by preservation. The sum of all four is the number of values in the source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    /// Kept.
    pub kept: usize,
    /// Approximated.
    pub approximated: usize,
    /// Dropped.
    pub dropped: usize,
    /// Dropped, and nobody misses it: data of an editor or a classifier, identifiers. Not part of what measures a conversion.
    pub unneeded: usize,
}

impl Totals {
    /// Adds the numbers of another program.
    pub fn add(&mut self, other: Self) {
        self.kept += other.kept;
        self.approximated += other.approximated;
        self.dropped += other.dropped;
        self.unneeded += other.unneeded;
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kept, approximated, dropped, unneeded } = self;
        write!(f, "{kept} kept, {approximated} approximated, {dropped} dropped")?;
        if *unneeded > 0 {
            write!(f, "; {unneeded} more that only the platform of the source needs")?;
        }
        Ok(())
    }
}

/// The fidelity report of a program.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FidelityReport")]
pub struct Report {
    /// The language of the output.
    pub target: &'static str,
    /// The language of the output in prose.
    #[serde(skip)]
    pub title: &'static str,
    /// The number of values kept, approximated and dropped.
    pub totals: Totals,
    /// The renamings in the output.
    pub renamed: Vec<Renamed>,
    /// What is left to do, most urgent first, by agent and cause.
    pub todo: Vec<Todo>,
    /// The result of the behavioural comparison, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Comparison>,
    /// What conversations with the source and with the output show, if they were held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replays: Option<Replays>,
    /// All values of the source, in the order of the IR.
    pub entries: Vec<Entry>,
    /// Values of the output without a counterpart in the source: required by the target, or part of an
    /// approximation.
    pub added: Vec<Addition>,
    /// The comments of the source. They are not values and not part of the totals.
    pub comments: Vec<Comment>,
}

/// A value of the output without a counterpart in the source.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Addition {
    /// The path of the value in the IR.
    pub path: String,
    /// The value.
    pub value: Value,
    /// The location in the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Location>,
}

impl Report {
    /// A report without values.
    #[must_use]
    pub fn empty(target: Target) -> Self {
        Self {
            target: target.name(),
            title: target.title(),
            totals: Totals::default(),
            renamed: Vec::new(),
            todo: Vec::new(),
            proof: None,
            replays: None,
            entries: Vec::new(),
            added: Vec::new(),
            comments: Vec::new(),
        }
    }

    /// Merges the report of another program.
    pub fn add(&mut self, other: Self) {
        self.totals.add(other.totals);
        self.todo.extend(other.todo);
        self.todo.sort_by_key(|todo| Reverse(todo.task));
        self.entries.extend(other.entries);
        self.renamed.extend(other.renamed);
        self.added.extend(other.added);
        match (&mut self.proof, other.proof) {
            (Some(proof), Some(other)) => proof.add(other),
            // A comparison of only one program is not a comparison of both.
            (proof, None) => *proof = None,
            (None, Some(_)) => {}
        }
        match (&mut self.replays, other.replays) {
            (Some(replays), Some(other)) => replays.add(other),
            (replays, None) => *replays = None,
            (None, Some(_)) => {}
        }
        self.comments.extend(other.comments);
    }

    /// The report as it may be shown: without secrets, and without commands to terminals and logs.
    #[must_use]
    pub fn shown(mut self, masker: &Masker) -> Self {
        self.texts_mut(&mut |text| {
            masker.mask_in_place(text);
            if let Cow::Owned(clean) = clean_lines(text) {
                *text = clean;
            }
        });
        self
    }

    /// Calls `change` with every text in it.
    fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        for entry in &mut self.entries {
            change(&mut entry.path);
            value_texts_mut(&mut entry.value, change);
            let texts = entry.how.iter_mut().chain(&mut entry.help).chain(&mut entry.snippet);
            texts.for_each(&mut *change);
            let places = entry.source.iter_mut().chain(&mut entry.target);
            places.for_each(|at| change(&mut at.file));
        }
        self.todo.iter_mut().for_each(|todo| todo.texts_mut(change));
        for renamed in &mut self.renamed {
            change(&mut renamed.from);
            change(&mut renamed.to);
        }
        if let Some(proof) = &mut self.proof {
            proof.texts_mut(change);
        }
        if let Some(replays) = &mut self.replays {
            replays.texts_mut(change);
        }
        for added in &mut self.added {
            change(&mut added.path);
            value_texts_mut(&mut added.value, change);
            added.target.iter_mut().for_each(|at| change(&mut at.file));
        }
        for comment in &mut self.comments {
            change(&mut comment.text);
            change(&mut comment.source.file);
            comment.target.iter_mut().for_each(|at| change(&mut at.file));
        }
    }

    /// Adds things to do: what is more urgent comes first.
    pub(crate) fn add_todos(&mut self, more: impl IntoIterator<Item = Todo>) {
        self.todo.extend(more);
        self.todo.sort_by_key(|todo| (Reverse(todo.task), todo.rule.is_none()));
    }

    /// The comments that were dropped.
    pub fn dropped_comments(&self) -> impl Iterator<Item = &Comment> {
        self.comments.iter().filter(|c| c.target.is_none())
    }

    /// The entries that were not kept.
    pub fn losses(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|e| e.preservation != Preservation::Kept)
    }

    /// The differences that the report accounts for: losses and renamings. The comparison skips them.
    pub(crate) fn announced_losses(&self) -> AnnouncedLosses {
        let mut all = AnnouncedLosses::none();
        let transitions = self.transitions();
        for entry in self.losses() {
            if entry.task == Some(Task::Nothing) {
                all.unneeded(&entry.path);
            }
            match binding_of(&entry.path) {
                // Where it leads, and when, is said by a handoff, a delegation or an end, which are values of their own.
                Some(binding) if transitions.contains(binding) => all.at_path(&entry.path),
                _ => all.add(&entry.path, entry.spans),
            }
        }
        for added in &self.added {
            all.at_path(&added.path);
        }
        for (agent, variable) in self.notes_of_starts() {
            all.assigns(agent, variable);
        }
        for Renamed { from, to, agent, .. } in &self.renamed {
            for (agent, tool) in agent.iter().flat_map(|agent| [(agent, from), (agent, to)]) {
                all.at_path(&format!("agents.{agent}.tools[{tool}]"));
            }
        }
        for renamed in &self.renamed {
            match renamed.what {
                "variable" => all.rename_variable(&renamed.from, &renamed.to),
                // Only texts refer to actions by these names, and the tool of one agent is not that of another.
                "action" | "tool" => {}
                _ => all.rename(&renamed.from, &renamed.to),
            }
        }
        all
    }
}

impl Report {
    /// Agents whose start is reported, each with a variable that only the output has and that it sets before a turn: it
    /// notes that the agent has started.
    fn notes_of_starts(&self) -> impl Iterator<Item = (&str, &str)> {
        const STARTS: &[&str] = &["on_start", "hooks.before_agent"];
        let starts: FxHashSet<&str> = self
            .losses()
            .filter_map(|entry| entry.path.strip_prefix("agents.")?.split_once('.'))
            .filter(|(_, rest)| STARTS.iter().any(|start| rest.starts_with(start)))
            .map(|(agent, _)| agent)
            .collect();
        let declared: FxHashSet<&str> = self
            .added
            .iter()
            .filter_map(|added| added.path.split_once(".memory.session[")?.1.strip_suffix("].name"))
            .collect();
        self.added.iter().filter_map(move |added| {
            let (agent, rest) = added.path.strip_prefix("agents.")?.split_once('.')?;
            let set = rest.strip_prefix("hooks.before_turn.")?.split_once("set[")?.1;
            let variable = set.strip_suffix("].variable")?;
            (starts.contains(agent) && declared.contains(variable)).then_some((agent, variable))
        })
    }

    /// The paths of bindings that only name a transition.
    fn transitions(&self) -> FxHashSet<&str> {
        const WAYS: &[&str] = &["handoff", "delegate", "escalate", "complete"];
        let is_way = |entry: &&Entry| entry.value.as_str().is_some_and(|does| WAYS.contains(&does));
        let does =
            self.entries.iter().filter(is_way).filter_map(|entry| entry.path.strip_suffix(".does"));
        does.filter(|path| binding_of(path) == Some(*path)).collect()
    }
}

/// The path of the binding that a path is in or leads to.
fn binding_of(path: &str) -> Option<&str> {
    const BINDINGS: &str = ".reasoning.bindings[";
    let start = path.find(BINDINGS)? + BINDINGS.len();
    let end = path.get(start..)?.find(']')?;
    path.get(..=start + end)
}

/// Whether nobody who uses a program notices a value of this path: what only the platform of the source needs.
#[must_use]
pub fn is_unneeded(languages: Languages, path: &str) -> bool {
    let names = segments(path);
    let own = languages.iter().filter(|language| names.contains(&language.id()));
    let mut rows = own.flat_map(|language| language.extension_losses()).copied().flatten();
    rows.find(|loss| fits(loss, &names)).is_some_and(|loss| loss.task == Task::Nothing)
}

/// The JSON Schema of [`Report`].
#[must_use]
pub fn report_schema() -> Value {
    schemars::schema_for!(Report).to_value()
}

/// The loss table of a target.
pub fn loss_rules(target: Target) -> impl Iterator<Item = &'static LossRule> {
    target.losses().iter().copied().flatten()
}

/// The loss table for a path, given by its segments: that of the language whose extensions it leads into, if the language
/// has one, else that of the target.
fn losses(languages: Languages, target: Target, names: &[&str]) -> &'static [&'static [LossRule]] {
    let own = languages
        .iter()
        .find(|language| !language.extension_losses().is_empty() && names.contains(&language.id()));
    own.map_or_else(|| target.losses(), |language| language.extension_losses())
}

/// The first matching row, and the place of the value. Rows that claim an approximation only count if the value has a
/// place in the output, where they say; `place` finds it.
fn matching_rule(
    languages: Languages,
    target: Target,
    path: &str,
    is_led: bool,
    mut place: impl FnMut(&'static [&'static str]) -> Option<Span>,
) -> Option<(&'static LossRule, Option<Span>)> {
    let names = segments(path);
    let anywhere = place(&[]);
    let rows = losses(languages, target, &names).iter().copied().flatten();
    rows.filter(|loss| is_led || !loss.led_by_model).filter(|loss| fits(loss, &names)).find_map(
        |loss| {
            let at = match loss.preservation {
                Preservation::Dropped => return Some((loss, anywhere)),
                _ if loss.within.is_empty() => anywhere,
                _ => anywhere.and_then(|_| place(loss.within)),
            };
            at.map(|at| (loss, Some(at)))
        },
    )
}

/// Whether a row is about a path, given by its segments.
fn fits(loss: &LossRule, names: &[&str]) -> bool {
    let names: Vec<&str> = names.iter().map(|name| without_number(name)).collect();
    let names = names.as_slice();
    let inner = match names.split_first() {
        Some((&"agents", [_, inner @ ..])) => inner,
        _ => &[],
    };
    match loss.path.strip_prefix('/') {
        Some(program) => matches_pattern(&program.split('.').collect::<Vec<_>>(), names),
        None => {
            !inner.is_empty() && matches_pattern(&loss.path.split('.').collect::<Vec<_>>(), inner)
        }
    }
}

/// A name without its number: what is there several times under one key is numbered (`color#2`).
fn without_number(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((plain, number)) if number.bytes().all(|b| b.is_ascii_digit()) => plain,
        _ => name,
    }
}

/// Where the IR has the texts of templates, in the path of an agent.
const TEMPLATES: &str = ".templates.";

/// What the path of such a text ends with.
const TEXT_OF_TEMPLATE: &str = ".default";

/// The path of the text that a value names, if it is the name of a template.
fn named_template(path: &str, value: &Value) -> Option<String> {
    let names = path.ends_with(".template") || path.ends_with(".respond_template");
    let name = value.as_str().filter(|_| names)?;
    Some(format!("{}{TEMPLATES}{name}{TEXT_OF_TEMPLATE}", part(path)))
}

/// Whether the model leads the agent that a path leads into, or any agent, if the path leads into none.
fn is_led(led_by_model: &[SmolStr], path: &str, renames: &Renames<'_>) -> bool {
    let own = part(path);
    if !own.starts_with("agents.") {
        return !led_by_model.is_empty();
    }
    let there = renames.apply_to_path(own);
    let there = there.as_deref().unwrap_or(own).strip_prefix("agents.");
    led_by_model.iter().any(|agent| there == Some(agent))
}

pub(crate) fn report(
    (source, sources): (&NormalizedProgram, &SourceMap),
    (output, outputs): (&NormalizedProgram, &SourceMap),
    renamed: Vec<Renamed>,
    languages: Languages,
    (target, truthiness_differs): (Target, &FxHashSet<Span>),
    led_by_model: &[SmolStr],
) -> Report {
    let everywhere = Renames::new(&renamed, None);
    let own = renamed.iter().filter_map(|one| one.agent.as_deref());
    let own: FxHashMap<&str, Renames<'_>> =
        own.map(|agent| (agent, Renames::new(&renamed, Some(agent)))).collect();
    let mut values: FxHashMap<String, (&Value, Option<Span>)> = FxHashMap::default();
    output.values(&mut |path, value, at| {
        values.insert(path.to_owned(), (value, at));
    });
    let location = |sources: &SourceMap, at: Option<Span>| Location::of(sources, at?);
    let mut shared: FxHashSet<String> = FxHashSet::default();
    source.values(&mut |path, _, _| {
        let own = part(path);
        shared.insert(everywhere.apply_to_path(own).unwrap_or_else(|| own.to_owned()));
    });
    let mut index = OutputIndex::new(&values, &shared);
    // What is said under a name stands in the output where it is said.
    let mut templates: FxHashMap<String, &Value> = FxHashMap::default();
    source.values(&mut |path, value, _| {
        if path.contains(TEMPLATES) && path.ends_with(TEXT_OF_TEMPLATE) {
            templates.insert(path.to_owned(), value);
        }
    });
    let mut source_paths: FxHashSet<String> = FxHashSet::default();
    let mut entries = Vec::new();
    let mut totals = Totals::default();
    source.values(&mut |path, value, at| {
        source_paths.insert(path.to_owned());
        let renames = renames_at(&own, path).unwrap_or(&everywhere);
        let moved = renames.moved_tool(path).filter(|moved| values.contains_key(moved.as_str()));
        let here = values.get(path);
        let same = here.is_some_and(|(other, _)| *other == value);
        let renamed =
            renames.renamed_value(path, moved.as_deref(), value, &values).filter(|_| !same);
        let counterpart = renamed.or(here);
        let mut entry = Entry {
            path: path.to_owned(),
            value: value.clone(),
            preservation: Preservation::Kept,
            how: None,
            help: None,
            task: None,
            snippet: None,
            source: location(sources, at),
            target: None,
            spans: [at, counterpart.and_then(|(_, at)| *at)],
        };
        if renamed.is_some() {
            entry.preservation = Preservation::Approximated;
            entry.how = Some("under the names that it has in the output".to_owned());
        } else if same && at.is_some_and(|at| truthiness_differs.contains(&at)) {
            entry.preservation = Preservation::Approximated;
            entry.how = Some(truthiness::HOW.to_owned());
            entry.help = Some(truthiness::HELP.to_owned());
        } else if !same {
            let is_led = is_led(led_by_model, path, renames);
            let said = named_template(path, value).and_then(|at| templates.get(&at).copied());
            let found = matching_rule(languages, target, path, is_led, |within| {
                index.locate(path, said.unwrap_or(value), renames, within)
            });
            let (loss, place) = found.unzip();
            let place = place.flatten();
            entry.preservation = loss.map_or(Preservation::Dropped, |loss| loss.preservation);
            entry.how = Some(match loss {
                Some(loss) => loss.how.to_owned(),
                None => format!("{} has no place for it", target.title()),
            });
            entry.help = loss.map(|l| l.help).filter(|h| !h.is_empty()).map(str::to_owned);
            entry.task = Some(loss.map_or(Task::Look, |loss| loss.task));
            let snippet = loss.map(|l| l.snippet).filter(|snippet| !snippet.is_empty());
            let named = || segments(path).get(1).copied().unwrap_or_default();
            entry.snippet = snippet.map(|snippet| snippet.replace("{}", named()));
            let [_, there] = &mut entry.spans;
            if entry.preservation == Preservation::Approximated {
                *there = there.or(place);
            }
            entry.target = location(outputs, *there);
            if entry.preservation == Preservation::Dropped && path.starts_with("tools.") {
                *there = there.or_else(|| index.of_element(path, ""));
            }
        }
        if same || renamed.is_some() {
            entry.target = location(outputs, entry.spans[1]);
        }
        if entry.preservation != Preservation::Kept {
            entry.task = entry.task.or(Some(Task::Look));
        }
        match entry.preservation {
            Preservation::Kept => totals.kept += 1,
            Preservation::Approximated => totals.approximated += 1,
            Preservation::Dropped if entry.task == Some(Task::Nothing) => totals.unneeded += 1,
            Preservation::Dropped => totals.dropped += 1,
        }
        entries.push(entry);
    });
    let mut added = Vec::new();
    output.values(&mut |path, value, at| {
        if !source_paths.contains(path) {
            let (path, value) = (path.to_owned(), value.clone());
            added.push(Addition { path, value, target: location(outputs, at) });
        }
    });
    Report { totals, entries, added, renamed, ..Report::empty(target) }
}
