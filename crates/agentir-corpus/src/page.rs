//! A corpus as a page with charts. It needs no network.

use crate::table::{MAX_ROWS, by_count, constructs};
use crate::{Corpus, RuleStats, Totals};
use askama::Template;

/// A bar of a chart.
struct Bar<'a> {
    name: &'a str,
    count: u64,
    /// How long it is, in percent of the longest.
    width: u64,
}

/// A dialect: how much there is of it, and the parts of its bar.
struct Row<'a> {
    name: &'a str,
    totals: &'a Totals,
    /// Programs in which something was found.
    affected: u64,
}

impl<'a> Row<'a> {
    fn new(name: &'a str, totals: &'a Totals) -> Self {
        Self { name, totals, affected: totals.programs.saturating_sub(totals.clean) }
    }
}

#[derive(Template)]
#[template(path = "corpus.html")]
struct Page<'a> {
    title: &'a str,
    corpus: &'a Corpus,
    dialects: Vec<Row<'a>>,
    rules: Vec<(Bar<'a>, RuleStats)>,
    constructs: Vec<Bar<'a>>,
}

fn bars<'a>(rows: Vec<(&'a str, u64)>) -> Vec<Bar<'a>> {
    let most = rows.first().map_or(1, |(_, count)| (*count).max(1));
    let bar =
        |(name, count): (&'a str, u64)| Bar { name, count, width: (count * 100).div_ceil(most) };
    rows.into_iter().take(MAX_ROWS).map(bar).collect()
}

/// The corpus as a page.
///
/// # Errors
/// Those of the template, which do not happen.
pub fn html(title: &str, corpus: &Corpus) -> Result<String, askama::Error> {
    let rules = by_count(corpus.rules.iter().map(|(name, rule)| (name.as_str(), rule.findings)));
    let rules = bars(rules).into_iter().map(|bar| {
        let affected = corpus.rules.get(bar.name).copied().unwrap_or_default();
        (bar, affected)
    });
    Page {
        title,
        corpus,
        dialects: corpus.dialects.iter().map(|(name, d)| Row::new(name, &d.totals)).collect(),
        rules: rules.collect(),
        constructs: bars(constructs(corpus)),
    }
    .render()
}
