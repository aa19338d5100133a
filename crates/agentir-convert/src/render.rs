//! The fidelity report for people: text and HTML. As JSON it is its own serialization.

use crate::fidelity::{Entry, Fate, Report, Totals};
use crate::names::Renamed;
use crate::target::Target;
use agentir_compare::Place;
use askama::Template;
use rustc_hash::FxHashMap;
use std::fmt::Write;

impl Fate {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Approximated => "approximated",
            Self::Dropped => "dropped",
        }
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'r> {
    title: &'r str,
    totals: Totals,
    lost: Vec<Row<'r>>,
    renamed: &'r [Renamed],
    verdict: Option<String>,
    differences: String,
    comments: Vec<(String, &'r str)>,
}

struct Row<'r> {
    path: &'r str,
    value: String,
    fate: &'static str,
    how: &'r str,
    help: Option<&'r str>,
    source: String,
    target: String,
}

/// What the two programs of a conversion are called.
const SIDES: [&str; 2] = ["source", "output"];

fn place(place: Option<&Place>) -> String {
    place.map_or_else(String::new, Place::to_string)
}

/// A value on one line, cut where it gets long.
fn short(entry: &Entry, most: usize) -> String {
    let text = match &entry.value {
        serde_json::Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        value => value.to_string(),
    };
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// So many values that are lost for the same reason are told one by one.
const MOST_ALIKE: usize = 30;
/// Of more than that, so many.
const SHOWN_ALIKE: usize = 5;

impl Report {
    /// The report as lines of text, losses only, most severe first. Of very many that are lost for the
    /// same reason the first are told, and how many more there are; the other forms tell all.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut lost: Vec<&Entry> = self.lost().collect();
        lost.sort_by_key(|e| std::cmp::Reverse(e.fate));
        // An export of a platform has thousands of values that are lost for the same reason.
        let mut alike: FxHashMap<(Fate, Option<&str>), usize> = FxHashMap::default();
        for entry in &lost {
            *alike.entry((entry.fate, entry.how.as_deref())).or_default() += 1;
        }
        let mut shown: FxHashMap<(Fate, Option<&str>), usize> = FxHashMap::default();
        for entry in lost {
            let kind = (entry.fate, entry.how.as_deref());
            let all = alike.get(&kind).copied().unwrap_or(0);
            let before = shown.entry(kind).or_default();
            *before += 1;
            if all > MOST_ALIKE && *before > SHOWN_ALIKE {
                if *before == SHOWN_ALIKE + 1 {
                    let (fate, how) = (entry.fate.name(), kind.1.unwrap_or_default());
                    let _ = writeln!(out, "    and {} more {fate}: {how}", all - SHOWN_ALIKE);
                }
                continue;
            }
            let from = entry
                .source
                .as_ref()
                .map_or_else(String::new, |p| format!("{}:{}: ", p.file, p.line));
            let how = entry.how.as_deref().unwrap_or_default();
            let _ = writeln!(
                out,
                "{from}{}: {} (`{}`): {how}",
                entry.fate.name(),
                entry.path,
                short(entry, 60),
            );
            if let Some(help) = &entry.help {
                let _ = writeln!(out, "    {help}");
            }
        }
        for comment in self.lost_comments() {
            let text = comment.text.lines().next().unwrap_or_default();
            let _ =
                writeln!(out, "{}: a comment has no place: {text}", place(Some(&comment.source)));
        }
        for Renamed { what, from, to } in &self.renamed {
            let _ = writeln!(out, "renamed: the {what} `{from}` is `{to}`");
        }
        if let Some(proof) = &self.proof {
            out.push_str(&proof.text(SIDES));
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
        Some(format!("the output {}: {}", proof.verdict.says(), proof.summary()))
    }

    /// The report as a page that needs nothing but a browser.
    #[must_use]
    pub fn html(&self) -> String {
        let lost = self
            .lost()
            .map(|entry| Row {
                path: &entry.path,
                value: short(entry, 200),
                fate: entry.fate.name(),
                how: entry.how.as_deref().unwrap_or_default(),
                help: entry.help.as_deref(),
                source: place(entry.source.as_ref()),
                target: place(entry.target.as_ref()),
            })
            .collect();
        let title = Target::ALL
            .into_iter()
            .find(|t| t.name() == self.target)
            .map_or(self.target, Target::title);
        // A template of our own cannot fail on texts.
        let differences = self.proof.as_ref().map_or_else(String::new, |p| p.text(SIDES));
        let (renamed, verdict) = (self.renamed.as_slice(), self.verdict());
        let comments =
            self.lost_comments().map(|c| (place(Some(&c.source)), c.text.as_str())).collect();
        Page { title, totals: self.totals, lost, comments, renamed, verdict, differences }
            .render()
            .unwrap_or_default()
    }
}
