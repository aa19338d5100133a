//! The fidelity report: which values were kept, approximated or dropped.

use crate::comments::Comment;
use crate::todo::Todo;
use crate::truthiness;
use agentir_compare::{
    AnnouncedLosses, Comparison, ENTRY, Location, NormalizedProgram, matches_pattern, segments,
};
use agentir_diagnostics::{SourceMap, Span, clean_lines, value_texts_mut};
use agentir_secrets::Masker;
use agentir_syntax::Languages;
use agentir_syntax::emit::{LossRule, Preservation, Renamed, Target, Task};
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
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
    /// Dropped, and nobody misses it: data of an editor, identifiers. Not part of what measures a conversion.
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
            write!(f, "; {unneeded} more that only an editor or a database needs")?;
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

/// Whether nobody who uses a program notices a value of this path: what only an editor needs.
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

/// The first matching row. Rows that claim an approximation only count if the value has a place in the output.
fn matching_rule(
    languages: Languages,
    target: Target,
    path: &str,
    has_place: bool,
) -> Option<&'static LossRule> {
    let names = segments(path);
    let rows = losses(languages, target, &names).iter().copied().flatten();
    rows.filter(|loss| has_place || loss.preservation == Preservation::Dropped)
        .find(|loss| fits(loss, &names))
}

/// Whether a row is about a path, given by its segments.
fn fits(loss: &LossRule, names: &[&str]) -> bool {
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

/// Operators and constants, which every language spells differently.
const OPERATORS: &[&str] = &[
    "is",
    "not",
    "and",
    "or",
    "in",
    "if",
    "else",
    "null",
    "none",
    "true",
    "false",
    "set",
    "undefined",
];

/// The words of a text in lower case, so that `TRUE` and `True` are equal.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|w| !w.is_empty() && !OPERATORS.contains(&w.as_str()))
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Fields whose values are keywords of the IR rather than the author's text.
const IR_KEYWORD_FIELDS: &[&str] = &["type", "kind", "decided_by", "prompt_mode", "require"];

fn is_ir_keyword(path: &str, text: &str) -> bool {
    let field = path.rsplit('.').next().unwrap_or_default();
    text == ENTRY || IR_KEYWORD_FIELDS.contains(&field)
}

/// The name in a jump to a step. The word only tells that the name is no keyword.
fn without_step(jump: &str) -> &str {
    jump.strip_prefix("STEP ").unwrap_or(jump)
}

/// Renamed names, by old name.
struct Renames<'r> {
    words: FxHashMap<&'r str, &'r str>,
    /// Names that are no words, which may contain others.
    others: Vec<(&'r str, &'r str)>,
}

impl<'r> Renames<'r> {
    /// The renamings that hold in an agent.
    fn new(renamed: &'r [Renamed], agent: Option<&str>) -> Self {
        let is_word = |name: &str| !name.is_empty() && name.chars().all(in_word);
        let holds = |r: &&Renamed| r.agent.is_none() || r.agent.as_deref() == agent;
        let all = renamed.iter().filter(holds).map(|r| (r.from.as_str(), r.to.as_str()));
        let (words, mut others): (Vec<_>, Vec<_>) = all.partition(|(from, _)| is_word(from));
        others.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        Self { words: words.into_iter().collect(), others }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.others.is_empty()
    }

    /// Applies the renamings to a text; `None` if none applies.
    fn apply(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut changed = false;
        while !rest.is_empty() {
            let (word, tail) = rest.split_at(rest.find(|c| !in_word(c)).unwrap_or(rest.len()));
            let to = self.words.get(word);
            changed |= to.is_some();
            out.push_str(to.unwrap_or(&word));
            let (between, tail) = tail.split_at(tail.find(in_word).unwrap_or(tail.len()));
            out.push_str(between);
            rest = tail;
        }
        changed.then_some(out)
    }

    /// Applies the renamings to the names in a path, which stand between its delimiters.
    fn apply_to_path(&self, path: &str) -> Option<String> {
        if self.others.is_empty() {
            return self.apply(path);
        }
        let mut out = String::with_capacity(path.len());
        let mut rest = path;
        let mut changed = false;
        while !rest.is_empty() {
            let ends = |tail: &str| tail.is_empty() || tail.starts_with(['.', '[', ']']);
            let word = rest.find(['.', '[', ']']).unwrap_or(rest.len());
            let other = self.others.iter().find_map(|(from, to)| {
                let tail = rest.strip_prefix(from).filter(|tail| ends(tail))?;
                Some((*to, tail))
            });
            let (to, tail) = other.unwrap_or_else(|| {
                let (word, tail) = rest.split_at(word);
                (self.words.get(word).copied().unwrap_or(word), tail)
            });
            changed |= !rest.starts_with(to) || other.is_some();
            out.push_str(to);
            let next = tail.chars().next().map_or(0, char::len_utf8);
            let (between, tail) = tail.split_at(next);
            out.push_str(between);
            rest = tail;
        }
        changed.then_some(out)
    }

    /// The new name, if a text is a renamed name, or a jump to a step called so.
    fn of_name(&self, text: &str) -> Option<&'r str> {
        let text = without_step(text);
        let word = self.words.get(text).copied();
        word.or_else(|| Some(self.others.iter().find(|(from, _)| *from == text)?.1))
    }

    /// Whether a text is another one with the renamings applied: a name, a jump to it, or an expression.
    fn equal(&self, text: &str, other: &str) -> bool {
        let jump = || {
            let (verb, target) = text.split_once(' ')?;
            Some(format!("{verb} {}", self.of_name(target)?))
        };
        self.of_name(text).is_some_and(|to| to == without_step(other))
            || jump().is_some_and(|jump| jump == other)
            || self.apply(text).is_some_and(|to| to == other)
    }

    /// Where another tool of a name is in a program that gives it a name of its own.
    fn moved_tool(&self, path: &str) -> Option<String> {
        let (tool, rest) = path.strip_prefix("tools.")?.split_once('@')?;
        let end = rest.find('.')?;
        Some(format!("tools.{}{}", self.of_name(tool)?, rest.get(end..)?))
    }

    /// The output's value at `path`, or at that of a moved tool, if it equals `value` after renaming.
    fn renamed_value<'o>(
        &self,
        path: &str,
        moved: Option<&str>,
        value: &Value,
        values: &'o FxHashMap<String, (&Value, Option<Span>)>,
    ) -> Option<&'o (&'o Value, Option<Span>)> {
        if self.is_empty() {
            return None;
        }
        let renamed_path = self.apply_to_path(path);
        let moved = || values.get(moved?);
        let other = values.get(renamed_path.as_deref().unwrap_or(path)).or_else(moved)?;
        let same = other.0 == value
            || match (value, other.0) {
                (Value::String(value), Value::String(other)) => self.equal(value, other),
                _ => false,
            };
        same.then_some(other)
    }
}

/// Finds the place in the output that corresponds to a value which is not there as it was.
///
/// A text corresponds to a value of the output that has all its words, in its path or itself: `guests > 3` to
/// `@variables.guests > 3`. Only what may stem from the same agent is searched: the agent of that name, agents that only
/// the output has, and what belongs to no agent. Any other value corresponds to what is said instead of the element that
/// it belongs to.
struct OutputIndex<'o> {
    /// The values with their places, in source order.
    values: Vec<PlacedValue<'o>>,
    /// The values by their texts, in source order.
    by_text: FxHashMap<&'o str, Vec<usize>>,
    /// The values by the words that they have, in source order.
    by_word: FxHashMap<String, Vec<usize>>,
    paths: BTreeMap<&'o str, Span>,
    /// What was found for a text of a part of the source: the words of elements repeat.
    found: FxHashMap<String, FxHashMap<String, Option<Span>>>,
}

/// A value of the output.
struct PlacedValue<'o> {
    path: &'o str,
    text: Option<&'o str>,
    at: Span,
    /// The agent that it is in, if the source has this agent, too: it stems from no other.
    agent: Option<&'o str>,
}

impl PlacedValue<'_> {
    /// Whether it may stem from a part of the source.
    fn may_stem_from(&self, source: &str) -> bool {
        self.agent.is_none_or(|agent| agent == source) || !source.starts_with("agents.")
    }
}

/// The agent or other part of a program that a path leads into.
fn part(path: &str) -> &str {
    let end = path.match_indices(['.', '[']).nth(1).map_or(path.len(), |(at, _)| at);
    path.get(..end).unwrap_or(path)
}

impl<'o> OutputIndex<'o> {
    /// How many values that have the words of a text are searched for the text itself.
    const MAX_SEARCHED: usize = 256;

    /// The values of the output, and the parts that the source has, too.
    fn new(
        values: &'o FxHashMap<String, (&Value, Option<Span>)>,
        shared: &FxHashSet<String>,
    ) -> Self {
        let placed = values.iter().filter_map(|(path, (value, at))| {
            let own = part(path);
            let agent = (own.starts_with("agents.") && shared.contains(own)).then_some(own);
            Some(PlacedValue { path, text: value.as_str(), at: (*at)?, agent })
        });
        let mut values: Vec<_> = placed.collect();
        values.sort_unstable_by_key(|value| (value.at, value.path));
        let mut by_text: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        let mut by_word: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (index, value) in values.iter().enumerate() {
            if let Some(text) = value.text {
                by_text.entry(text).or_default().push(index);
            }
            let different: FxHashSet<String> =
                words(value.path).chain(words(value.text.unwrap_or_default())).collect();
            for word in different {
                by_word.entry(word).or_default().push(index);
            }
        }
        let paths = values.iter().map(|value| (value.path, value.at)).collect();
        Self { values, by_text, by_word, paths, found: FxHashMap::default() }
    }

    /// The place of a value that has all words of a text. What has no word is everywhere.
    fn of_text(&mut self, source: &str, text: &str) -> Option<Span> {
        if let Some(found) = self.found.get(source).and_then(|found| found.get(text)) {
            return *found;
        }
        let place = self.search(source, text);
        self.found.entry(source.to_owned()).or_default().insert(text.to_owned(), place);
        place
    }

    /// What is equal to a text, else what has the text, else what has its words.
    fn search(&self, source: &str, text: &str) -> Option<Span> {
        let wanted: FxHashSet<String> = words(text).collect();
        if wanted.is_empty() {
            return self.values.first().map(|value| value.at);
        }
        let get =
            |index: &usize| self.values.get(*index).filter(|value| value.may_stem_from(source));
        if let Some(equal) = self.by_text.get(text).and_then(|all| all.iter().find_map(get)) {
            return Some(equal.at);
        }
        let mut lists = Vec::with_capacity(wanted.len());
        for word in &wanted {
            lists.push(self.by_word.get(word)?);
        }
        lists.sort_unstable_by_key(|list| list.len());
        let (fewest, others) = lists.split_first()?;
        let has_all = |index: &&usize| others.iter().all(|list| list.binary_search(index).is_ok());
        let all = || fewest.iter().filter(has_all).filter_map(get);
        let has = |value: &&PlacedValue<'_>| value.text.is_some_and(|own| own.contains(text));
        all().take(Self::MAX_SEARCHED).find(has).or_else(|| all().next()).map(|value| value.at)
    }

    /// The place of what stands for the element that a value belongs to: what has its path, or its name.
    fn of_element(&mut self, path: &str, source: &str) -> Option<Span> {
        let ends = path.match_indices(['.', '[']).map(|(at, _)| at);
        // The start of the agent is too unspecific.
        let ends: Vec<usize> = ends.skip(2).collect();
        let around = |end: usize| {
            let around = path.get(..=end)?;
            let (found, at) = self.paths.range(around..).next()?;
            found.starts_with(around).then_some(*at)
        };
        if let Some(place) = ends.iter().rev().find_map(|end| around(*end)) {
            return Some(place);
        }
        ends.iter().rev().find_map(|end| {
            let name = path.get(..*end)?.rsplit(['.', '[']).next()?.trim_end_matches(']');
            self.of_text(source, name)
        })
    }

    fn locate(&mut self, path: &str, value: &Value, renames: &Renames<'_>) -> Option<Span> {
        let source = renames.apply_to_path(part(path));
        let source = source.as_deref().unwrap_or_else(|| part(path));
        match value.as_str().filter(|text| !is_ir_keyword(path, text)) {
            Some(text) => {
                let own = self.of_text(source, text);
                own.or_else(|| self.of_text(source, renames.of_name(text)?))
            }
            None => self.of_element(path, source),
        }
    }
}

/// The renamings of the agent that a path leads into, if it has its own.
fn renames_at<'a>(own: &'a FxHashMap<&str, Renames<'a>>, path: &str) -> Option<&'a Renames<'a>> {
    let of_tool = path.strip_prefix("tools.").and_then(|path| path.split_once('@'));
    let rest = of_tool.map(|(_, rest)| rest).or_else(|| path.strip_prefix("agents."))?;
    // Names of agents may have dots.
    let mut starts = rest.match_indices('.').filter_map(|(end, _)| rest.get(..end));
    starts.find_map(|start| own.get(start))
}

pub(crate) fn report(
    (source, sources): (&NormalizedProgram, &SourceMap),
    (output, outputs): (&NormalizedProgram, &SourceMap),
    renamed: Vec<Renamed>,
    languages: Languages,
    (target, truthiness_differs): (Target, &FxHashSet<Span>),
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
            let place = index.locate(path, value, renames);
            let loss = matching_rule(languages, target, path, place.is_some());
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
