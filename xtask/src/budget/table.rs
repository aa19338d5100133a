//! The table in `docs/budgets.md`.

use std::fmt;

/// A document with one table: a row for each budget, with the columns name, meaning, limit and measured amount.
#[derive(Debug)]
pub(super) struct Table {
    lines: Vec<Line>,
}

#[derive(Debug)]
enum Line {
    Text(String),
    Row(Row),
}

/// A budget.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    meaning: String,
    /// The most that is allowed, if there is a limit.
    limit: Option<f64>,
    unit: String,
    measured: Option<f64>,
}

/// What a cell without an amount contains.
const NONE: &str = "–";

impl Table {
    /// Reads the document. A row begins with the name of the budget as code.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let line = |line: &str| match line.strip_prefix("| `") {
            Some(_) => Row::read(line).map(Line::Row),
            None => Ok(Line::Text(line.to_owned())),
        };
        Ok(Self { lines: text.lines().map(line).collect::<Result<_, _>>()? })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.lines.iter().filter_map(|line| match line {
            Line::Row(row) => Some(row),
            Line::Text(_) => None,
        })
    }

    /// Sets the measured amount of a budget, and returns its row.
    pub(super) fn measured(&mut self, name: &str, amount: f64) -> Result<&Row, String> {
        let rows = self.lines.iter_mut().filter_map(|line| match line {
            Line::Row(row) => Some(row),
            Line::Text(_) => None,
        });
        let row = rows.into_iter().find(|row| row.name == name);
        let row = row.ok_or_else(|| format!("`{name}` has no row in the table"))?;
        row.measured = Some(amount);
        Ok(row)
    }
}

impl Row {
    fn read(line: &str) -> Result<Self, String> {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, meaning, limit, measured] = cells[..] else {
            return Err(format!("a row has four cells, not {}: {line}", cells.len()));
        };
        let (limit, unit) = amount(limit)?;
        let (measured, _) = amount(measured)?;
        Ok(Self {
            name: name.trim_matches('`').to_owned(),
            meaning: meaning.to_owned(),
            limit,
            unit: unit.to_owned(),
            measured,
        })
    }

    /// Whether it is called `part`, or belongs to it: `build-full` is a part of `build`.
    pub(super) fn is_part(&self, part: &str) -> bool {
        let group = self.name.strip_prefix(part);
        group.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// Whether more was measured than is allowed.
    pub(super) fn is_exceeded(&self) -> bool {
        matches!((self.measured, self.limit), (Some(measured), Some(limit)) if measured > limit)
    }

    fn cell(&self, amount: Option<f64>) -> String {
        amount.map_or_else(
            || NONE.to_owned(),
            |amount| {
                // Two significant digits at least: 2.5 GB, 480 s.
                let digits = usize::from(amount < 100.0);
                format!("{amount:.digits$} {}", self.unit)
            },
        )
    }
}

/// `480 s`: an amount and its unit.
fn amount(cell: &str) -> Result<(Option<f64>, &str), String> {
    if cell == NONE {
        return Ok((None, "s"));
    }
    let (number, unit) = cell.split_once(' ').ok_or_else(|| format!("`{cell}` has no unit"))?;
    let number = number.parse().map_err(|_| format!("`{cell}` is not an amount"))?;
    Ok((Some(number), unit))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            match line {
                Line::Text(text) => writeln!(f, "{text}")?,
                Line::Row(row) => writeln!(
                    f,
                    "| `{}` | {} | {} | {} |",
                    row.name,
                    row.meaning,
                    row.cell(row.limit),
                    row.cell(row.measured)
                )?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [measured, limit] = [self.measured, self.limit].map(|amount| self.cell(amount));
        let verdict = match self.limit {
            None => "no limit".to_owned(),
            Some(_) if self.is_exceeded() => format!("over {limit}"),
            Some(_) => format!("within {limit}"),
        };
        write!(f, "{:<16}{measured:>16}  {verdict}", self.name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests end by panicking")]
mod tests {
    use super::Table;

    const TEXT: &str = "# Budgets\n\n| budget | meaning | limit | measured |\n|---|---|---:|---:|\n| `build-full` | a build | 720 s | – |\n| `size` | the program | 45.0 MB | 44.0 MB |\n| `ci` | CI | – | – |\n\nText.\n";

    #[test]
    fn tables_are_written_as_they_are_read() {
        assert_eq!(Table::read(TEXT).unwrap().to_string(), TEXT);
        let limits = include_str!("../../../docs/budgets.md");
        assert_eq!(Table::read(limits).unwrap().to_string(), limits);
    }

    #[test]
    fn what_is_measured_is_compared_and_written() {
        let mut table = Table::read(TEXT).unwrap();
        assert!(!table.measured("build-full", 720.0).unwrap().is_exceeded());
        assert!(table.measured("size", 45.1).unwrap().is_exceeded());
        assert!(!table.measured("ci", 9e9).unwrap().is_exceeded());
        assert!(table.measured("siz", 1.0).is_err());
        let text = table.to_string();
        assert!(text.contains("| 720 s | 720 s |") && text.contains("| 45.0 MB | 45.1 MB |"));
    }

    #[test]
    fn parts_are_names_and_groups() {
        let table = Table::read(TEXT).unwrap();
        let of = |part| table.rows().filter(|row| row.is_part(part)).count();
        assert_eq!([of("build"), of("build-full"), of("bui"), of("size")], [1, 1, 0, 1]);
    }

    #[test]
    fn rows_that_are_not_understood_are_errors() {
        for row in ["| `a` | b | 1 s |", "| `a` | b | 1 | 1 s |", "| `a` | b | much s | 1 s |"] {
            assert!(Table::read(row).is_err(), "{row}");
        }
    }
}
