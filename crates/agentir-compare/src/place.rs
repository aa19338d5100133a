//! Locations of values, and announced differences.

use agentir_diagnostics::{SourceMap, Span};
use agentir_expr::Name;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl Place {
    /// Where `span` begins.
    #[must_use]
    pub fn of(sources: &SourceMap, span: Span) -> Option<Self> {
        let file = sources.get(span.file).filter(|_| span != Span::default())?;
        Some(Self { file: file.name.to_string(), line: file.line_column(span.start).line })
    }
}

/// `agents/desk.agent.abl:12`
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Which parts of the first program somebody already said to be lost or said in another way.
#[derive(Debug, Clone, Default)]
pub struct Announced {
    paths: FxHashSet<String>,
    /// Lines of the first program, and of the second, by file.
    lines: [FxHashMap<String, FxHashSet<u32>>; 2],
    names: FxHashMap<String, String>,
    /// Variables of the second program, with what they are called in the first.
    variables: FxHashMap<String, String>,
    /// Variables of whose declaration something is lost or said in another way.
    declared: FxHashSet<String>,
}

impl Announced {
    /// Nothing was announced.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Announces a value by its path in the IR, and the places at which the first program says it and
    /// the second says what has taken its place.
    pub fn add(&mut self, path: &str, places: [Option<&Place>; 2]) {
        self.paths.insert(path.to_owned());
        let declared =
            path.split_once(".memory.session[").and_then(|(_, rest)| rest.split_once(']'));
        self.declared.extend(declared.map(|(name, _)| name.to_owned()));
        for (lines, place) in self.lines.iter_mut().zip(places) {
            if let Some(place) = place {
                lines.entry(place.file.clone()).or_default().insert(place.line);
            }
        }
    }

    /// Announces that something of the first program is called otherwise in the second.
    pub fn rename(&mut self, from: &str, to: &str) {
        self.names.entry(from.to_owned()).or_insert_with(|| to.to_owned());
    }

    /// Announces that a variable is called otherwise in the second program. What had a part of its own
    /// in the first (`order.state`) may be a variable there.
    pub fn rename_variable(&mut self, from: &str, to: &str) {
        self.variables.entry(to.to_owned()).or_insert_with(|| from.to_owned());
    }

    /// What a variable of the second program is called in the first, if that is known to differ.
    pub(crate) fn variable(&self, second: &str) -> Option<&str> {
        self.variables.get(second).map(String::as_str)
    }

    /// What variables of the first program are called in the second, where that is known to differ.
    pub(crate) fn variables_of(&self, first: &FxHashSet<Name>) -> impl Iterator<Item = Name> {
        let renamed = self.variables.iter().filter(|(_, from)| first.contains(from.as_str()));
        renamed.map(|(to, _)| Name::from(to.as_str()))
    }

    /// A text about variables of the second program with their names in the first; only in the holes
    /// of a text that is said.
    pub(crate) fn in_first(&self, text: String, only_holes: bool) -> String {
        if self.variables.keys().all(|name| !text.contains(name.as_str())) {
            return text;
        }
        if !only_holes {
            return self.words_in_first(&text);
        }
        let mut pieces = text.split("{{");
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (inside, behind) = piece.split_once("}}").unwrap_or(("", piece));
            out.push_str("{{");
            out.push_str(&self.words_in_first(inside));
            out.push_str("}}");
            out.push_str(behind);
        }
        out
    }

    fn words_in_first(&self, text: &str) -> String {
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            out.push_str(self.variable(word).unwrap_or(word));
            let next = behind.find(in_word).unwrap_or(behind.len());
            let (between, behind) = behind.split_at(next);
            out.push_str(between);
            rest = behind;
        }
        out
    }

    /// What something of the first program is called in the second.
    pub(crate) fn name<'n>(&'n self, first: &'n str) -> &'n str {
        self.names.get(first).map_or(first, String::as_str)
    }

    /// Whether something was announced of the declaration of a variable.
    pub(crate) fn declaration(&self, variable: &str) -> bool {
        self.declared.contains(variable)
    }

    /// Whether the value at a path was announced.
    pub(crate) fn path(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Whether anything on the lines of a span was, of the first program or of the second.
    pub(crate) fn span(&self, side: usize, sources: &SourceMap, span: Span) -> bool {
        let Some(file) = sources.get(span.file).filter(|_| span != Span::default()) else {
            return false;
        };
        let lines = self.lines.get(side).and_then(|lines| lines.get(&*file.name));
        let Some(lines) = lines else { return false };
        let (first, last) = (file.line_column(span.start).line, file.line_column(span.end).line);
        lines.iter().any(|line| (first..=last).contains(line))
    }
}
