//! Locations in source files, and announced losses.

use agentir_diagnostics::{FileId, SourceMap, Span};
use agentir_expr::Name;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Location {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl Location {
    /// The start of `span`.
    #[must_use]
    pub fn of(sources: &SourceMap, span: Span) -> Option<Self> {
        let file = sources.get(span.file).filter(|_| span != Span::default())?;
        Some(Self { file: file.name.to_string(), line: file.line_column(span.start).line })
    }
}

/// `agents/desk.agent.abl:12`
impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The parts of the first program that a converter reported as dropped or approximated.
#[derive(Debug, Clone, Default)]
pub struct AnnouncedLosses {
    paths: FxHashSet<String>,
    /// Values that only the platform of the source needs, by path: nobody who uses the program notices them.
    unneeded: FxHashSet<String>,
    /// Spans in the first and the second program, by file. Lines would not do: an export may have one line only.
    spans: [FxHashMap<FileId, Spans>; 2],
    names: FxHashMap<String, String>,
    /// Variables of the second program, with their names in the first.
    variables: FxHashMap<String, String>,
    /// Variables whose declaration is partly dropped or approximated.
    declared: FxHashSet<String>,
    /// Agents, each with a variable of which an assignment is dropped or approximated.
    assigned: FxHashSet<(String, String)>,
}

/// Keys of values that the comparison of behaviour never looks at: what is dropped of them explains no difference that
/// it finds.
const DESCRIPTIVE: &[&str] = &["decided_by", "description", "initial_value", "mutability", "scope"];

impl AnnouncedLosses {
    /// No announced losses.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Announces a loss: the path of the value in the IR, its span in the first program and that of its replacement in
    /// the second.
    ///
    /// What is never done, said or tested explains no difference between conversations: for it, only the path counts.
    pub fn add(&mut self, path: &str, spans: [Option<Span>; 2]) {
        self.paths.insert(path.to_owned());
        let key = path.rsplit('.').next().unwrap_or(path);
        if DESCRIPTIVE.contains(&key) {
            return;
        }
        let declared =
            path.split_once(".memory.session[").and_then(|(_, rest)| rest.split_once(']'));
        self.declared.extend(declared.map(|(name, _)| name.to_owned()));
        let set = path.rsplit_once(".set[").and_then(|(_, rest)| rest.split_once(']'));
        let agent = path.strip_prefix("agents.").and_then(|rest| rest.split_once('.'));
        if let (Some((agent, _)), Some((variable, _))) = (agent, set) {
            self.assigned.insert((agent.to_owned(), variable.to_owned()));
        }
        for (all, span) in self.spans.iter_mut().zip(spans) {
            if let Some(span) = span.filter(|span| *span != Span::default()) {
                all.entry(span.file).or_default().insert(span);
            }
        }
    }

    /// Announces that an agent of the second program sets a variable that the first does not have.
    pub fn assigns(&mut self, agent: &str, variable: &str) {
        self.assigned.insert((agent.to_owned(), variable.to_owned()));
    }

    /// Announces that nobody who uses the first program notices the value at a path.
    pub fn unneeded(&mut self, path: &str) {
        self.unneeded.insert(path.to_owned());
    }

    /// Whether nobody who uses the program notices the value at a path.
    pub(crate) fn is_unneeded(&self, path: &str) -> bool {
        self.unneeded.contains(path)
    }

    /// Announces a difference at a path, which explains none between conversations: a value that only the second program
    /// has, or one that repeats another.
    pub fn at_path(&mut self, path: &str) {
        self.paths.insert(path.to_owned());
    }

    /// Announces that a step or agent has another name in the second program.
    pub fn rename(&mut self, from: &str, to: &str) {
        self.names.entry(from.to_owned()).or_insert_with(|| to.to_owned());
    }

    /// Announces that a variable has another name in the second program. A field in the first
    /// (`order.state`) may be a variable there.
    pub fn rename_variable(&mut self, from: &str, to: &str) {
        self.variables.entry(to.to_owned()).or_insert_with(|| from.to_owned());
    }

    /// The name that a renamed variable of the second program has in the first.
    pub(crate) fn variable(&self, second: &str) -> Option<&str> {
        self.variables.get(second).map(String::as_str)
    }

    /// The names that renamed variables of the first program have in the second.
    pub(crate) fn variables_of(&self, first: &FxHashSet<Name>) -> impl Iterator<Item = Name> {
        let renamed = self.variables.iter().filter(|(_, from)| first.contains(from.as_str()));
        renamed.map(|(to, _)| Name::from(to.as_str()))
    }

    /// Replaces the names of variables of the second program by those in the first; in templates
    /// only within placeholders.
    pub(crate) fn with_first_names(&self, text: String, is_template: bool) -> String {
        if self.variables.is_empty() {
            return text;
        }
        if !is_template {
            return self.rename_words(&text);
        }
        let mut pieces = text.split("{{");
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (inside, after) = piece.split_once("}}").unwrap_or(("", piece));
            out.push_str("{{");
            out.push_str(&self.rename_words(inside));
            out.push_str("}}");
            out.push_str(after);
        }
        out
    }

    fn rename_words(&self, text: &str) -> String {
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            out.push_str(self.variable(word).unwrap_or(word));
            let next = after.find(in_word).unwrap_or(after.len());
            let (between, after) = after.split_at(next);
            out.push_str(between);
            rest = after;
        }
        out
    }

    /// The name in the second program of a step or agent of the first.
    pub(crate) fn name<'n>(&'n self, first: &'n str) -> &'n str {
        self.names.get(first).map_or(first, String::as_str)
    }

    /// Whether a loss was announced for the declaration of a variable.
    pub(crate) fn has_declaration(&self, variable: &str) -> bool {
        self.declared.contains(variable)
    }

    /// Whether a loss was announced for an assignment to a variable in an agent.
    pub(crate) fn has_assignment(&self, agent: &str, variable: &str) -> bool {
        self.assigned.contains(&(agent.to_owned(), variable.to_owned()))
    }

    /// Whether a loss was announced for the value at a path.
    pub(crate) fn has_path(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Whether a loss was announced for something in a span of the given side, or around it.
    pub(crate) fn has_span(&self, side: usize, span: Span) -> bool {
        let all = self.spans.get(side).and_then(|spans| spans.get(&span.file));
        span != Span::default() && all.is_some_and(|spans| spans.overlap(span))
    }
}

/// Spans of a file.
#[derive(Debug, Clone, Default)]
struct Spans {
    /// The spans that are not empty, by where they begin, each with the last end of those up to it.
    long: OnceLock<Vec<(u32, u32)>>,
    all: Vec<Span>,
    /// Where the empty ones stand.
    empty: BTreeSet<u32>,
}

impl Spans {
    fn insert(&mut self, span: Span) {
        match span.start == span.end {
            true => drop(self.empty.insert(span.start)),
            false => self.all.push(span),
        }
        self.long.take();
    }

    /// Whether one of them and this span have a character in common; an empty one is where it stands.
    fn overlap(&self, span: Span) -> bool {
        let (start, end) = (span.start, span.end);
        let long = self.long.get_or_init(|| {
            let mut long: Vec<(u32, u32)> = self.all.iter().map(|s| (s.start, s.end)).collect();
            long.sort_unstable();
            let mut last = 0;
            for (_, end) in &mut long {
                last = last.max(*end);
                *end = last;
            }
            long
        });
        let is_empty = start == end;
        // The last that begins before this one ends.
        let before = long.partition_point(|(from, _)| *from < end || is_empty && *from == end);
        let reach = before.checked_sub(1).and_then(|at| long.get(at)).map(|(_, reach)| *reach);
        reach.is_some_and(|reach| reach > start || is_empty && reach == start)
            || self.empty.range(start..=end).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::AnnouncedLosses;
    use agentir_diagnostics::{FileId, Span};

    fn span(start: u32, end: u32) -> Span {
        Span::new(FileId(0), start, end)
    }

    /// An export may be one line: what a loss is about is known to the character.
    #[test]
    fn a_loss_says_nothing_of_its_neighbours() {
        let mut losses = AnnouncedLosses::none();
        losses.add("agents.A.flow.definitions.a.respond", [Some(span(10, 20)), None]);
        assert!(losses.has_span(0, span(12, 14)));
        assert!(losses.has_span(0, span(5, 11)));
        assert!(losses.has_span(0, span(20, 20)));
        assert!(!losses.has_span(0, span(20, 30)));
        assert!(!losses.has_span(0, span(0, 10)));
        assert!(!losses.has_span(1, span(12, 14)));
    }

    /// Who decides is no action: its loss does not explain that another agent answers.
    #[test]
    fn a_description_explains_no_action() {
        let mut losses = AnnouncedLosses::none();
        losses.add("agents.A.coordination.handoffs[b].decided_by", [Some(span(10, 20)), None]);
        assert!(!losses.has_span(0, span(10, 20)));
        assert!(losses.has_path("agents.A.coordination.handoffs[b].decided_by"));
    }

    #[test]
    fn an_assignment_is_known_by_its_variable() {
        let mut losses = AnnouncedLosses::none();
        losses.add("agents.A.hooks.before_turn.on_success.set[passed].expression", [None, None]);
        assert!(losses.has_assignment("A", "passed"));
        assert!(!losses.has_assignment("B", "passed"));
        assert!(!losses.has_assignment("A", "other"));
    }
}
