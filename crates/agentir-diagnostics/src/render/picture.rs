//! The excerpts of a finding with its labels.
//!
//! ariadne draws them. Here is what it draws, and how it is read back: into rows that carry the
//! file's line numbers instead of the excerpt's.

use super::cells;
use super::clean::one_line;
use super::excerpt::Excerpt;
use super::paint;
use super::rows::Rows;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::{FileId, SourceMap};
use ariadne::{Config, IndexType, ReportKind, Source};
use std::cmp::Reverse;
use std::fmt;
use std::io;

/// How many places of one finding are shown. More would hide the primary one.
const MAX_PLACES: usize = 10;
/// Stands for a file's name in what ariadne draws; nothing that is printed holds it.
const NAME: char = '\u{1}';
/// Stands for the message of a label that has none, which ariadne would not draw at all.
const NO_MESSAGE: char = '\u{2}';

/// The places of a finding in one file.
struct Group<'a> {
    /// `name:line:column` of the first.
    location: String,
    /// Each with its number; 0 is the primary one.
    labels: Vec<(usize, &'a Label)>,
    excerpt: Excerpt,
}

/// All places of a finding.
pub(crate) struct Picture<'a> {
    groups: Vec<Group<'a>>,
    /// How many digits the longest line number has.
    pub width: usize,
    /// How many places there was no room for.
    pub omitted: usize,
}

impl<'a> Picture<'a> {
    pub(crate) fn new(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Self {
        let mut files: Vec<(FileId, Vec<(usize, &Label)>)> = Vec::new();
        let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.labels).enumerate();
        for (number, label) in labels.take(MAX_PLACES) {
            match files.iter_mut().find(|(file, _)| *file == label.span.file) {
                Some((_, labels)) => labels.push((number, label)),
                None => files.push((label.span.file, vec![(number, label)])),
            }
        }
        let groups: Vec<_> = files
            .into_iter()
            .filter_map(|(file, labels)| {
                let file = sources.get(file)?;
                let (_, first) = labels.first()?;
                let at = file.line_column(first.span.start);
                let location = format!("{}:{}:{}", one_line(&file.name), at.line, at.column);
                let excerpt = Excerpt::new(file, labels.iter().map(|(_, label)| label.span));
                Some(Group { location, labels, excerpt })
            })
            .collect();
        let last_line = groups.iter().flat_map(|g| &g.excerpt.numbers).flatten().max();
        Self {
            width: last_line.map_or(1, |line| line.to_string().len()),
            groups,
            omitted: (diagnostic.labels.len() + 1).saturating_sub(MAX_PLACES),
        }
    }

    /// Whether there is nothing to show.
    pub(crate) const fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Appends the picture, the primary place in the style `primary`.
    pub(crate) fn draw(
        &self,
        primary: paint::Style,
        color: bool,
        out: &mut String,
    ) -> io::Result<()> {
        // Without a place, ariadne draws nothing but its header.
        let drawing = self.drawing()?;
        let mut rows = Rows::default();
        let mut groups = self.groups.iter();
        let mut group = None;
        for line in drawing.lines().skip(1) {
            let cells = cells::read(line);
            // What is left of the frame are the excerpt's line numbers.
            let Some(frame) = cells.iter().position(|c| "│┆╭├╯".contains(c.char)) else {
                continue;
            };
            let (margin, body) = cells.split_at(frame);
            if body.iter().any(|c| c.char == NAME) {
                group = groups.next();
                rows.header(group.map_or("", |group| &group.location));
                continue;
            }
            let number: String = margin.iter().map(|c| c.char).collect();
            let number = number.trim().parse::<usize>().ok().and_then(|number| {
                let numbers = &group?.excerpt.numbers;
                numbers.get(number.checked_sub(1)?).copied().flatten()
            });
            if body.first().is_some_and(|c| c.char == '╯') {
                // ariadne's last line; the notes come instead.
            } else if let Some(number) = number {
                rows.source(number, body);
            } else if let Some(end) = body.iter().position(|c| c.char == NO_MESSAGE) {
                let body = body.get(..end).unwrap_or_default();
                rows.without_message(body, |label| group.is_some_and(|g| g.is_multiline(label)));
            } else {
                rows.labels(body);
            }
        }
        for row in rows.finish() {
            row.draw(self.width, primary, color, out);
        }
        Ok(())
    }

    /// What ariadne makes of it.
    fn drawing(&self) -> io::Result<String> {
        let mut labels = Vec::new();
        let mut sources = Vec::new();
        for (file, group) in self.groups.iter().enumerate() {
            let mut places: Vec<_> = group.labels.iter().zip(&group.excerpt.places).collect();
            // By the line of the end, because ariadne starts a new section for a label above the one
            // before; in a line from the right, so that no label's line crosses another's.
            places.sort_by_key(|((number, _), place)| {
                let line = group.excerpt.line_of_end(place);
                (line, Reverse(place.start + place.end), *number)
            });
            for ((number, label), place) in places {
                let order = i32::try_from(labels.len()).unwrap_or(i32::MAX);
                let message = match label.message.as_str() {
                    "" => NO_MESSAGE.to_string(),
                    message => one_line(message).into_owned(),
                };
                labels.push(
                    ariadne::Label::new((file, group.excerpt.in_chars(place)))
                        .with_color(cells::color(*number))
                        .with_order(order)
                        .with_message(message),
                );
            }
            sources.push(Source::from(group.excerpt.text.as_str()));
        }
        let mut drawing = Vec::new();
        // With bytes as its index, ariadne 0.6 takes the second file's position, a count of
        // characters, for one of bytes, and panics if that lies within a character.
        ariadne::Report::build(ReportKind::Error, (0, 0..0))
            .with_config(Config::new().with_index_type(IndexType::Char))
            .with_labels(labels)
            .finish()
            .write(Sources(sources), &mut drawing)?;
        String::from_utf8(drawing).map_err(io::Error::other)
    }
}

impl Group<'_> {
    fn is_multiline(&self, label: usize) -> bool {
        let mut places = self.labels.iter().zip(&self.excerpt.places);
        places
            .find(|((number, _), _)| *number == label)
            .and_then(|(_, place)| self.excerpt.text.get(place.clone()))
            .is_some_and(|text| text.contains('\n'))
    }
}

/// The excerpts, as ariadne asks for them: by the index of their group.
struct Sources<'a>(Vec<Source<&'a str>>);

impl<'s> ariadne::Cache<usize> for Sources<'s> {
    type Storage = &'s str;

    fn fetch(&mut self, id: &usize) -> Result<&Source<&'s str>, impl fmt::Debug> {
        self.0.get(*id).ok_or("no such group")
    }

    fn display<'a>(&self, _: &'a usize) -> Option<impl fmt::Display + 'a> {
        Some(NAME)
    }
}
