//! Renders the fidelity report as text and HTML. Its JSON is its own serialisation.

use crate::fidelity::{Entry, Report, Totals};
use agentir_compare::Location;
use agentir_syntax::emit::{Preservation, Renamed};
use askama::Template;
use indexmap::{IndexMap, IndexSet};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'r> {
    title: &'r str,
    totals: Totals,
    parts: Vec<Part<'r>>,
    renamed: &'r [Renamed],
    verdict: Option<String>,
    differences: String,
    comments: Vec<(String, &'r str)>,
}

/// The losses of an agent, of the tools, or of another part of a program.
struct Part<'r> {
    title: String,
    dropped: usize,
    approximated: usize,
    rows: Vec<Row<'r>>,
}

struct Row<'r> {
    /// The path within the part, split where a line may break.
    path: Vec<&'r str>,
    value: String,
    preservation: &'static str,
    how: &'r str,
    help: Option<&'r str>,
    /// The locations in source and output: with the folders of the file, and without.
    places: Vec<(String, String)>,
}

/// The title of the part that a path leads into, and the path within it.
fn in_part(path: &str) -> (String, &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, path));
    match (first, rest.split_once('.')) {
        ("agents", Some((name, inner))) => (format!("Agent {name}"), inner),
        ("tools", _) => ("Tools".to_owned(), rest),
        ("profiles", _) => ("Profiles".to_owned(), rest),
        ("settings", _) => ("Settings".to_owned(), rest),
        _ => ("Program".to_owned(), path),
    }
}

/// The losses, by part of the program, in order.
fn parts<'r>(lost: impl Iterator<Item = &'r Entry>) -> Vec<Part<'r>> {
    let mut all: IndexMap<String, Vec<(&Entry, &str)>> = IndexMap::new();
    for entry in lost {
        let (title, path) = in_part(&entry.path);
        all.entry(title).or_default().push((entry, path));
    }
    let row = |(entry, path): (&'r Entry, &'r str)| Row {
        path: path.split_inclusive('.').collect(),
        value: short(&entry.value, 200),
        preservation: entry.preservation.name(),
        how: entry.how.as_deref().unwrap_or_default(),
        help: entry.help.as_deref(),
        places: [&entry.source, &entry.target]
            .into_iter()
            .flatten()
            .map(|place| {
                let file = place.to_string();
                let short = file.rsplit('/').next().unwrap_or_default().to_owned();
                (file, short)
            })
            .collect(),
    };
    all.into_iter()
        .map(|(title, entries)| {
            let dropped =
                entries.iter().filter(|(e, _)| e.preservation == Preservation::Dropped).count();
            let approximated = entries.len() - dropped;
            Part { title, dropped, approximated, rows: entries.into_iter().map(row).collect() }
        })
        .collect()
}

/// The names of the two programs of a conversion.
const PROGRAM_NAMES: [&str; 2] = ["source", "output"];

fn location(location: Option<&Location>) -> String {
    location.map_or_else(String::new, Location::to_string)
}

/// Capitalises the first letter.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A value on one line, truncated.
fn short(value: &Value, most: usize) -> String {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        value => value.to_string(),
    };
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// The maximum number of files listed for a reason.
const MAX_FILES: usize = 3;
/// The maximum number of line ranges listed per file.
const MAX_LOCATIONS: usize = 8;

/// Why values are lost, and what can be done about it.
#[derive(PartialEq, Eq, Hash)]
struct Reason<'r> {
    preservation: Preservation,
    how: &'r str,
    help: Option<&'r str>,
}

impl<'r> Reason<'r> {
    fn of(entry: &'r Entry) -> Self {
        let how = entry.how.as_deref().unwrap_or_default();
        Self { preservation: entry.preservation, how, help: entry.help.as_deref() }
    }

    fn text(&self, out: &mut String, alike: &[&Entry]) {
        let Some(first) = alike.first() else { return };
        let (preservation, how) = (self.preservation.name(), self.how);
        let value = format!("{} (`{}`)", first.path, short(&first.value, 60));
        if alike.len() == 1 {
            let from = first.source.as_ref().map_or_else(String::new, |p| format!("{p}: "));
            let _ = writeln!(out, "{from}{preservation}: {value}: {how}");
        } else {
            let _ = writeln!(out, "{preservation}, {} values: {how}", alike.len());
            places(out, alike);
            if self.preservation == Preservation::Dropped {
                let _ = writeln!(out, "    the first is {value}");
            }
        }
    }
}

/// The locations of values, one line per file.
fn places(out: &mut String, alike: &[&Entry]) {
    let mut files: IndexMap<&str, BTreeSet<u32>> = IndexMap::new();
    for place in alike.iter().filter_map(|entry| entry.source.as_ref()) {
        files.entry(&place.file).or_default().insert(place.line);
    }
    for (file, lines) in files.iter().take(MAX_FILES) {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for line in lines {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == *line => *last = *line,
                _ => runs.push((*line, *line)),
            }
        }
        let run = |(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        let ranges: Vec<String> = runs.iter().take(MAX_LOCATIONS).map(run).collect();
        let more = if runs.len() > MAX_LOCATIONS { ", …" } else { "" };
        let _ = writeln!(out, "    {file}:{}{more}", ranges.join(", "));
    }
    if files.len() > MAX_FILES {
        let _ = writeln!(out, "    and {} more files", files.len() - MAX_FILES);
    }
}

impl Report {
    /// Renders the report as text. It lists only losses, most severe first, grouped by reason, and the first
    /// value that only the output has; the other formats list each value.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut reasons: IndexMap<Reason<'_>, Vec<&Entry>> = IndexMap::new();
        for entry in self.losses() {
            reasons.entry(Reason::of(entry)).or_default().push(entry);
        }
        // Group reasons with the same help, which is printed once.
        let helps: IndexSet<_> = reasons.keys().map(|r| (r.preservation, r.help)).collect();
        reasons.sort_by_key(|r, _| {
            (Reverse(r.preservation), helps.get_index_of(&(r.preservation, r.help)))
        });
        let mut reasons = reasons.iter().peekable();
        let mut together = 0;
        while let Some((reason, alike)) = reasons.next() {
            reason.text(&mut out, alike);
            together += 1;
            if reasons.peek().is_some_and(|(r, _)| {
                (r.preservation, r.help) == (reason.preservation, reason.help)
            }) {
                continue;
            }
            if let Some(help) = reason.help {
                let all = match together {
                    1 => String::new(),
                    n => format!(" for these {n} reasons"),
                };
                let _ = writeln!(out, "    help{all}: {help}");
            }
            together = 0;
        }
        for comment in self.dropped_comments() {
            let text = comment.text.lines().next().unwrap_or_default();
            let _ = writeln!(
                out,
                "{}: a comment has no place: {text}",
                location(Some(&comment.source))
            );
        }
        for Renamed { what, from, to, agent } in &self.renamed {
            let of = agent.as_ref().map_or_else(String::new, |agent| format!(" of `{agent}`"));
            let _ = writeln!(out, "renamed: the {what} `{from}`{of} is `{to}`");
        }
        if let Some(first) = self.added.first() {
            let value = format!("{} (`{}`)", first.path, short(&first.value, 60));
            let _ = match self.added.len() {
                1 => writeln!(out, "added: {value}"),
                count => writeln!(out, "added, {count} values: the first is {value}"),
            };
        }
        if let Some(proof) = &self.proof {
            out.push_str(&proof.text(PROGRAM_NAMES));
        }
        let Totals { kept, approximated, dropped } = self.totals;
        let _ = writeln!(out, "{kept} kept, {approximated} approximated, {dropped} dropped");
        if let Some(verdict) = self.verdict() {
            let _ = writeln!(out, "{verdict}");
        }
        out
    }

    fn verdict(&self) -> Option<String> {
        let proof = self.proof.as_ref()?;
        Some(format!("the output {}: {}", proof.verdict.predicate(), proof.summary()))
    }

    /// Renders the report as a self-contained HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        let parts = parts(self.losses());
        // Rendering a built-in template cannot fail.
        let differences = self.proof.as_ref().map_or_else(String::new, |p| p.text(PROGRAM_NAMES));
        let (renamed, verdict) = (self.renamed.as_slice(), self.verdict().map(|v| sentence(&v)));
        let comments =
            self.dropped_comments().map(|c| (location(Some(&c.source)), c.text.as_str())).collect();
        Page {
            title: self.title,
            totals: self.totals,
            parts,
            comments,
            renamed,
            verdict,
            differences,
        }
        .render()
        .unwrap_or_default()
    }
}
