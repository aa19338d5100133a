//! A corpus as tables for people.

use crate::{Corpus, FindingCounts, ProjectStats};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement};
use std::collections::BTreeMap;

/// How many constructs and rules are shown; JSON has all of them.
pub(crate) const MAX_ROWS: usize = 20;

/// The corpus as tables.
#[must_use]
pub fn text(corpus: &Corpus) -> String {
    let mut out = String::new();
    let mut table = Table::new(
        "dialect",
        &["programs", "clean", "agents", "files", "KB", "errors", "warnings", "infos"],
    );
    let rows = corpus.dialects.iter().map(|(name, d)| (name.as_str(), &d.totals));
    for (name, t) in rows.chain([("all", &corpus.totals)]) {
        let FindingCounts { errors, warnings, infos } = t.findings;
        let kb = t.bytes.div_ceil(1000);
        table.row(name, &[t.programs, t.clean, t.agents, t.files, kb, errors, warnings, infos]);
    }
    table.write(&mut out);
    let rules = by_count(corpus.rules.iter().map(|(name, rule)| (name, rule.findings)));
    let mut table = Table::new("rule", &["findings", "files", "programs"]);
    for (name, _) in rules.iter().take(MAX_ROWS) {
        if let Some(rule) = corpus.rules.get(*name) {
            table.row(name, &[rule.findings, rule.files, rule.programs]);
        }
    }
    table.more(rules.len(), "rules");
    table.write(&mut out);
    let constructs = constructs(corpus);
    let mut table = Table::new("construct", &["count"]);
    for (name, count) in constructs.iter().take(MAX_ROWS) {
        table.row(name, &[*count]);
    }
    table.more(constructs.len(), "constructs");
    table.write(&mut out);
    let projects = |title, rows: &[ProjectStats], out: &mut String| {
        let mut table = Table::new(title, &["files", "errors", "warnings", "infos", "ms"]);
        for p in rows {
            let FindingCounts { errors, warnings, infos } = p.findings;
            let ms = p.microseconds.div_ceil(1000);
            table.row(&p.name, &[p.files, errors, warnings, infos, ms]);
        }
        table.write(out);
    };
    projects("most affected program", &corpus.most_affected, &mut out);
    let mut table = Table::new("most affected file", &["errors", "warnings", "infos"]);
    for file in &corpus.most_affected_files {
        let FindingCounts { errors, warnings, infos } = file.findings;
        table.row(&file.name, &[errors, warnings, infos]);
    }
    table.write(&mut out);
    projects("slowest program", &corpus.slowest, &mut out);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The constructs of all dialects together, the most frequent first.
pub(crate) fn constructs(corpus: &Corpus) -> Vec<(&str, u64)> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in corpus.dialects.values().flat_map(|d| &d.constructs) {
        *all.entry(name).or_default() += count;
    }
    by_count(all.into_iter())
}

/// The largest first; the same by name.
pub(crate) fn by_count<K: Ord>(rows: impl Iterator<Item = (K, u64)>) -> Vec<(K, u64)> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
    rows
}

/// A table with a column of names and columns of numbers.
struct Table {
    table: comfy_table::Table,
    more: Option<String>,
}

impl Table {
    fn new(name: &str, columns: &[&str]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(std::iter::once(name).chain(columns.iter().copied()));
        for (index, column) in table.column_iter_mut().enumerate() {
            // Two blanks between columns.
            let left = if index == 0 { 0 } else { 2 };
            column.set_padding((left, 0));
            if index > 0 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Self { table, more: None }
    }

    fn row(&mut self, name: &str, numbers: &[u64]) {
        // A path may hold anything; a row is a line.
        let name: String =
            name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        let numbers = numbers.iter().map(u64::to_string);
        self.table.add_row(std::iter::once(name).chain(numbers));
    }

    fn more(&mut self, all: usize, what: &str) {
        let more = all.saturating_sub(self.table.row_count());
        self.more = (more > 0).then(|| format!("… {more} more {what} in `--format json`"));
    }

    fn write(&self, out: &mut String) {
        if self.table.is_empty() {
            return;
        }
        let lines = self.table.lines().chain(self.more.clone());
        for line in lines {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out.push('\n');
    }
}
