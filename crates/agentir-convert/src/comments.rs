//! Transfers comments from the source to the output.
//!
//! Neither the IR nor the emitters know comments. A comment refers to the values that the source has on
//! its line or below it. It goes above the same values in the output, or else above the nearest
//! enclosing value that the output has. The output is parsed again with its comments, and they stay only
//! if its meaning is unchanged.

use crate::todo::Todo;
use agentir_compare::{Location, NormalizedProgram};
use agentir_diagnostics::{FileId, SourceMap, Span};
use agentir_syntax::Languages;
use agentir_syntax::emit::{OutputFile, Task};
use agentir_syntax::line_layout::{LineKind, LineLayout, Notation};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A comment and where it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Comment {
    /// The text.
    pub text: String,
    /// The location in the source.
    pub source: Location,
    /// The location in the output; absent if the comment was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Location>,
}

/// A comment of a source: adjacent comment lines.
struct SourceComment {
    /// The lines, without comment markers.
    lines: Vec<String>,
    at: Span,
    /// The start of the line it refers to.
    about: u32,
    /// Whether it refers to the file as a whole.
    whole_file: bool,
}

/// A value of a program: its IR path, its span and, for strings, its text.
type SpannedValue = (String, Span, Option<String>);

/// The comments to insert, by output file and line: the index of each comment, and its lines.
type Insertions = BTreeMap<(usize, usize), Vec<(usize, Vec<String>)>>;

/// The notation of a file whose comments are transferred; `None` if it has none.
fn notation(languages: Languages, name: &str, text: &str) -> Option<Notation> {
    // Data has no comments.
    if name.ends_with(".json") || name.ends_with(".csv") {
        return None;
    }
    languages.detect(name, text).kind.notation
}

fn values(program: &NormalizedProgram) -> Vec<SpannedValue> {
    let mut all = Vec::new();
    program.values(&mut |path, value, at| {
        if let Some(at) = at {
            all.push((path.to_owned(), at, value.as_str().map(str::to_owned)));
        }
    });
    all
}

/// Inserts the comments of the sources into the output. Returns the new files, and what became of each
/// comment.
pub(crate) fn transfer(
    languages: Languages,
    (source, sources): (&NormalizedProgram, &SourceMap),
    (output, outputs): (&NormalizedProgram, &SourceMap),
    files: &[OutputFile],
) -> (Vec<OutputFile>, Vec<Comment>) {
    let mut values = self::values(source);
    values.sort_by_key(|(_, at, _)| (at.file, at.start));
    let found = comments_of(languages, &values, sources);
    if found.iter().all(|(.., found)| found.is_empty()) {
        return (files.to_vec(), Vec::new());
    }
    let places = value_spans(self::values(output));
    // The number of agents per output file.
    let mut agents: FxHashMap<FileId, usize> = FxHashMap::default();
    for (path, at) in &places {
        if path.starts_with("agents.") && path.ends_with(".metadata.name") {
            *agents.entry(at.file).or_default() += 1;
        }
    }
    let laid_out: Vec<Option<LineLayout>> = outputs
        .iter()
        .map(|(id, file)| Some(notation(languages, &file.name, &file.text)?.layout(id, &file.text)))
        .collect();
    let mut comments = Vec::new();
    let mut insertions = Insertions::new();
    for (id, lines, found) in found {
        let Some(file) = sources.get(id) else { continue };
        let from = values.partition_point(|(_, at, _)| at.file < id);
        let here = values.get(from..).unwrap_or_default();
        let here: Vec<&SpannedValue> = here.iter().take_while(|(_, at, _)| at.file == id).collect();
        for found in found {
            let line = file.line_column(found.at.start).line;
            let source = Location { file: file.name.to_string(), line };
            let written = (&lines, &*file.text);
            let target =
                target_of(&found, written, &here, (&places, &agents), (&laid_out, outputs));
            if let Some(at) = target {
                insertions.entry(at).or_default().push((comments.len(), found.lines.clone()));
            }
            comments.push(Comment { text: found.lines.join("\n"), source, target: None });
        }
    }
    let mut written = files.to_vec();
    for (output, (file, lines)) in written.iter_mut().zip(&laid_out).enumerate() {
        let Some(lines) = lines else { continue };
        insert_comments(output, file, lines, &insertions, &mut comments);
    }
    (written, comments)
}

/// The first span of each path and of each of its prefixes.
fn value_spans(values: Vec<SpannedValue>) -> FxHashMap<String, Span> {
    let mut places: FxHashMap<String, Span> = FxHashMap::default();
    for (path, at, _) in values {
        let mut rest = path.as_str();
        loop {
            let known = places.entry(rest.to_owned()).or_insert(at);
            if (at.file, at.start) < (known.file, known.start) && rest != path {
                *known = at;
            }
            match parent_path(rest) {
                Some(parent) => rest = parent,
                None => break,
            }
        }
    }
    places
}

/// The enclosing path.
fn parent_path(path: &str) -> Option<&str> {
    path.rfind(['.', '[']).and_then(|at| path.get(..at))
}

/// The comments of every file that contributes values to the program.
fn comments_of(
    languages: Languages,
    values: &[SpannedValue],
    sources: &SourceMap,
) -> Vec<(FileId, LineLayout, Vec<SourceComment>)> {
    let mut ids: Vec<FileId> = values.iter().map(|(_, at, _)| at.file).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut all = Vec::new();
    for id in ids {
        let Some(file) = sources.get(id) else { continue };
        let Some(notation) = notation(languages, &file.name, &file.text) else { continue };
        let lines = notation.layout(id, &file.text);
        let found = comments_in(&lines, &file.text);
        all.push((id, lines, found));
    }
    all
}

fn comments_in(lines: &LineLayout, text: &str) -> Vec<SourceComment> {
    let mut all: Vec<SourceComment> = Vec::new();
    let mut before: Option<u32> = None;
    let mut index = 0;
    while let Some(line) = lines.lines.get(index) {
        index += 1;
        let Some(comment) = line.comment else {
            if line.kind == LineKind::Entry {
                before = Some(line.span.start);
            }
            continue;
        };
        let mut texts = vec![comment_text(text, comment)];
        if line.kind != LineKind::Comment {
            before = Some(line.span.start);
            all.push(SourceComment {
                lines: texts,
                at: comment,
                about: line.span.start,
                whole_file: false,
            });
            continue;
        }
        // Adjacent comment lines form one comment.
        while let Some(next) = lines.lines.get(index)
            && next.kind == LineKind::Comment
            && next.column == line.column
        {
            texts.extend(next.comment.map(|c| comment_text(text, c)));
            index += 1;
        }
        // The entry below, unless it is less indented.
        let below = lines.lines.get(index..).unwrap_or_default();
        let next = below.iter().find(|l| l.kind == LineKind::Entry);
        let above = next.filter(|n| n.column >= line.column || before.is_none());
        let Some(about) = above.map(|l| l.span.start).or(before) else { continue };
        // Separate from everything else at the top of the file: refers to the whole file.
        let whole_file = before.is_none()
            && below.first().is_some_and(|l| l.kind == LineKind::Blank || l.column == 0);
        // The dialect annotation does not describe the agent.
        texts.retain(|line| !line.starts_with("@dialect"));
        if !texts.is_empty() {
            all.push(SourceComment { lines: texts, at: comment, about, whole_file });
        }
    }
    all
}

/// The text of a comment line, without its marker.
fn comment_text(text: &str, comment: Span) -> String {
    let written = text.get(comment.range()).unwrap_or_default();
    let words = written.strip_prefix("//").or_else(|| written.strip_prefix('#')).unwrap_or(written);
    words.strip_prefix(' ').unwrap_or(words).trim_end().to_owned()
}

/// The output file and line that a comment goes above.
fn target_of(
    found: &SourceComment,
    (lines, text): (&LineLayout, &str),
    values: &[&SpannedValue],
    (places, agents): (&FxHashMap<String, Span>, &FxHashMap<FileId, usize>),
    (outputs, texts): (&[Option<LineLayout>], &SourceMap),
) -> Option<(usize, usize)> {
    let output = |at: Span| {
        let index = at.file.0 as usize;
        let lines = outputs.get(index)?.as_ref()?;
        let line = (0..=lines.line_of(at.start)).rev().find(|&l| is_entry(lines, l))?;
        Some((index, line))
    };
    // Refers to what the file defines: goes to the top of it.
    let defined = values.iter().filter(|_| found.whole_file).filter_map(|(path, ..)| {
        let (agents, rest) = path.split_once('.')?;
        let name = rest.split(['.', '[']).next()?;
        (agents == "agents").then(|| format!("agents.{name}"))
    });
    let defined: Vec<String> = defined.collect();
    let agent = defined.first();
    let several = defined.iter().any(|other| Some(other) != agent);
    if let Some(at) = agent.and_then(|agent| places.get(&format!("{agent}.metadata.name"))) {
        let (index, line) = output(*at)?;
        let lines = outputs.get(index)?.as_ref()?;
        let heads =
            |l: &usize| is_entry(lines, *l) && lines.lines.get(*l).is_some_and(|l| l.column == 0);
        let alone = agents.get(&at.file) == Some(&1);
        let head =
            if alone || several { (0..=line).find(heads) } else { (0..=line).rev().find(heads) };
        return Some((index, head?));
    }
    // If the line has no values with a span, the comment refers to the enclosing entry.
    let own = lines.line_of(found.about);
    let around = || std::iter::successors(Some(own), |&line| enclosing_entry(lines, line));
    let valued = around()
        .map(|line| (line, values_in_entry(lines, line, values)))
        .find(|(_, about)| !about.is_empty());
    let Some((head, about)) = valued else {
        // Nothing there is a value: what has the same keys in the same agent.
        let mut keys: Vec<&str> = around().map(|line| key(lines, text, line)).collect();
        let agents = values
            .iter()
            .filter_map(|(path, ..)| path.strip_prefix("agents.")?.strip_suffix(".metadata.name"));
        let [agent] = agents.collect::<Vec<_>>().try_into().ok()?;
        let at = places.get(&format!("agents.{agent}.metadata.name"))?;
        let index = at.file.0 as usize;
        let there = outputs.get(index)?.as_ref()?;
        let written = &texts.get(at.file)?.text;
        let first = keys.pop()?;
        let is_it = |line: &usize| {
            there.lines.get(*line).is_some_and(|l| l.column == 0)
                && is_entry(there, *line)
                && key(there, written, *line).eq_ignore_ascii_case(first)
        };
        let section = (0..there.lines.len()).find(is_it)?;
        let mut keys = keys.into_iter().rev();
        let line = keys.try_fold(section, |line, key| entry_below(there, written, line, key))?;
        return Some((index, line));
    };
    let first = about.first()?;
    // If the line has no values but its nested entries have, count the levels between them.
    let heads = (own..lines.line_of(first.1.start)).filter(|&l| is_entry(lines, l));
    let levels = if head == own { heads.count() } else { 0 };
    // The keys that lead from there to the line.
    let mut keys: Vec<&str> =
        around().take_while(|line| *line != head).map(|line| key(lines, text, line)).collect();
    keys.reverse();
    let above = |at: Span| {
        let (index, line) = output(at)?;
        let there = outputs.get(index)?.as_ref()?;
        let line = ascend(there, line, levels);
        let text = &texts.get(at.file)?.text;
        let below = keys.iter().try_fold(line, |line, key| entry_below(there, text, line, key));
        Some((index, below.unwrap_or(line)))
    };
    // The values that start where the first one does.
    let close: Vec<&&SpannedValue> =
        about.iter().take_while(|s| s.1.start <= first.1.end).collect();
    if let Some(at) = close.iter().find_map(|s| places.get(&s.0)) {
        return above(*at);
    }
    // The same text in another field.
    let words = |values: &&&SpannedValue| {
        values.2.as_deref().and_then(|words| unique_occurrence(words, texts))
    };
    if let Some(at) = close.iter().find_map(words) {
        return output(at);
    }
    // The enclosing values, but not the whole agent: that would be too unspecific.
    let mut inside: Vec<&str> = close.iter().map(|s| s.0.as_str()).collect();
    while !inside.is_empty() {
        inside =
            inside.into_iter().filter_map(parent_path).filter(|p| is_within_agent(p)).collect();
        if let Some(at) = inside.iter().find_map(|path| places.get(*path)) {
            let (index, line) = above(*at)?;
            let column = outputs.get(index)?.as_ref()?.lines.get(line)?.column;
            return (column > 0).then_some((index, line));
        }
    }
    None
}

/// The minimum length of a text that identifies a location.
const MIN_UNIQUE_LEN: usize = 8;

/// The only occurrence of a text, if there is exactly one.
fn unique_occurrence(words: &str, texts: &SourceMap) -> Option<Span> {
    if words.len() < MIN_UNIQUE_LEN || words.contains('\n') {
        return None;
    }
    let mut places = texts.iter().flat_map(|(id, file)| {
        file.text.match_indices(words).map(move |(at, _)| {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            Span::new(id, at, at)
        })
    });
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

fn is_entry(lines: &LineLayout, line: usize) -> bool {
    lines.lines.get(line).is_some_and(|l| l.kind == LineKind::Entry)
}

/// The line of the enclosing entry.
fn enclosing_entry(lines: &LineLayout, line: usize) -> Option<usize> {
    let column = lines.lines.get(line)?.column;
    (0..line).rev().find(|&l| {
        is_entry(lines, l) && lines.lines.get(l).is_some_and(|above| above.column < column)
    })
}

/// The values of an entry, including nested ones.
fn values_in_entry<'s>(
    lines: &LineLayout,
    line: usize,
    values: &[&'s SpannedValue],
) -> Vec<&'s SpannedValue> {
    let Some(head) = lines.lines.get(line) else { return Vec::new() };
    let below = lines.lines.get(line + 1..).unwrap_or_default();
    let next = below.iter().find(|l| l.kind == LineKind::Entry && l.column <= head.column);
    let (start, end) = (head.span.start, next.map_or(u32::MAX, |l| l.span.start));
    let from = values.partition_point(|(_, at, _)| at.start < start);
    values.get(from..).unwrap_or_default().iter().take_while(|s| s.1.start < end).copied().collect()
}

/// The key of an entry, with what makes it the item of a list: `endpoint`, `- name`. Of what has no key, the line.
fn key<'t>(lines: &LineLayout, text: &'t str, line: usize) -> &'t str {
    let Some(line) = lines.lines.get(line) else { return "" };
    let content = text.get(line.content as usize..line.span.end as usize).unwrap_or_default();
    content.split(':').next().unwrap_or_default().trim()
}

/// The entry of this key among those below an entry, if there is only one.
fn entry_below(lines: &LineLayout, text: &str, line: usize, wanted: &str) -> Option<usize> {
    let column = lines.lines.get(line)?.column;
    let below = lines.lines.iter().enumerate().skip(line + 1);
    let inside = below.take_while(|(_, l)| l.kind != LineKind::Entry || l.column > column);
    let mut found = inside.map(|(at, _)| at).filter(|at| {
        is_entry(lines, *at)
            && enclosing_entry(lines, *at) == Some(line)
            && key(lines, text, *at).eq_ignore_ascii_case(wanted)
    });
    found.next().filter(|_| found.next().is_none())
}

/// Moves up `levels` levels, as long as the line is the first one nested in its parent.
fn ascend(lines: &LineLayout, mut line: usize, levels: usize) -> usize {
    for _ in 0..levels {
        let Some(column) = lines.lines.get(line).map(|l| l.column) else { break };
        let above = lines.lines.get(..line).unwrap_or_default();
        let head = above.iter().rposition(|l| l.kind != LineKind::Blank);
        match head.and_then(|at| Some((at, lines.lines.get(at)?))) {
            Some((at, head)) if head.kind == LineKind::Entry && head.column < column => line = at,
            _ => break,
        }
    }
    line
}

/// Whether a path leads into an agent, rather than to the agent itself.
fn is_within_agent(path: &str) -> bool {
    path.split(['.', '[']).count() > 2
}

/// Inserts the comments into one output file, and records their locations.
fn insert_comments(
    output: usize,
    file: &mut OutputFile,
    lines: &LineLayout,
    insertions: &Insertions,
    comments: &mut [Comment],
) {
    let old = std::mem::take(&mut file.text);
    let mut number = 0;
    for (index, line) in lines.lines.iter().enumerate() {
        for (which, lines_above) in insertions.get(&(output, index)).into_iter().flatten() {
            let indentation = old.get(line.span.start as usize..line.content as usize);
            if let Some(comment) = comments.get_mut(*which) {
                comment.target = Some(Location { file: file.path.clone(), line: number + 1 });
            }
            for words in lines_above {
                file.text.push_str(indentation.unwrap_or_default());
                file.text.push('#');
                if !words.is_empty() {
                    file.text.push(' ');
                    file.text.push_str(words);
                }
                file.text.push('\n');
                number += 1;
            }
        }
        file.text.push_str(old.get(line.span.range()).unwrap_or_default());
        if index + 1 < lines.lines.len() {
            file.text.push('\n');
        }
        number += 1;
    }
}

/// How many lines were inserted above the lines of files, from 0.
pub(crate) struct Moved(FxHashMap<String, BTreeMap<usize, u32>>);

impl Moved {
    /// Where a line of the old file is in the new one.
    pub(crate) fn apply(&self, at: &mut Location) {
        let Some(lines) = self.0.get(&at.file) else { return };
        let index = at.line.saturating_sub(1) as usize;
        at.line += lines.range(..=index).map(|(_, count)| count).sum::<u32>();
    }
}

/// How comments about what must be done begin, as editors look for them; no such comment is left open in this file.
const MARK: &str = concat!("TO", "DO:");

/// The longest line of a comment, in characters.
const MAX_COMMENT: usize = 110;

/// The files with a comment for everything that must be done and has a place in them; `None` if nothing has.
pub(crate) fn with_todos(
    languages: Languages,
    files: &[OutputFile],
    todos: &[Todo],
) -> Option<(Vec<OutputFile>, Moved)> {
    let mut insertions: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    let mut layouts: FxHashMap<usize, Option<LineLayout>> = FxHashMap::default();
    let mut place = |at: &Location| {
        let index = files.iter().position(|file| file.path == at.file)?;
        let file = files.get(index)?;
        let line = at.line.saturating_sub(1) as usize;
        // The stub of a function has a line of its own.
        if file.path.ends_with(".py") {
            let is_stub = file.text.lines().nth(line)?.trim_start().starts_with("def ");
            return is_stub.then_some((index, line));
        }
        let layout = layouts.entry(index).or_insert_with(|| {
            Some(notation(languages, &file.path, &file.text)?.layout(FileId(0), &file.text))
        });
        let layout = layout.as_ref()?;
        let line = (0..=line).rev().find(|&line| is_entry(layout, line))?;
        Some((index, line))
    };
    for todo in todos.iter().filter(|todo| todo.task == Task::Must) {
        let mut targets = todo.places.iter().filter_map(|place| place.target.as_ref());
        if let Some(at) = targets.find_map(&mut place) {
            insertions.entry(at).or_default().extend(comment_of(todo));
        }
    }
    if insertions.is_empty() {
        return None;
    }
    let mut written = files.to_vec();
    let mut moved: FxHashMap<String, BTreeMap<usize, u32>> = FxHashMap::default();
    for (index, file) in written.iter_mut().enumerate() {
        let mut text = String::with_capacity(file.text.len());
        for (number, line) in file.text.split_inclusive('\n').enumerate() {
            let above = insertions.get(&(index, number)).map_or(&[][..], Vec::as_slice);
            let indentation = line.len() - line.trim_start().len();
            for words in above {
                text.push_str(line.get(..indentation).unwrap_or_default());
                text.push_str("# ");
                text.push_str(words);
                text.push('\n');
            }
            text.push_str(line);
            if let (1.., Ok(count)) = (above.len(), u32::try_from(above.len())) {
                moved.entry(file.path.clone()).or_default().insert(number, count);
            }
        }
        file.text = text;
    }
    Some((written, Moved(moved)))
}

/// The lines of a comment.
fn comment_of(todo: &Todo) -> Vec<String> {
    let mut lines = vec![MARK.to_owned()];
    for word in todo.line().split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < MAX_COMMENT => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines
}
