//! The rows of a picture, and what is mended in them: ariadne marks neither the primary place nor
//! lines that are left out, and cannot underline without a message.

use super::cells::{Cell, Owner};
use super::paint::{self, Style};

/// The first character of a row: the frame's.
const BAR: char = '│';
const BROKEN_BAR: char = '┆';
const BLANK: Cell = Cell { owner: Owner::Other, char: ' ' };

/// A line of the picture.
pub(crate) enum Row {
    /// Where a file's part starts.
    Header { corner: &'static str, location: String },
    /// A line of the source.
    Source { number: usize, body: Vec<Cell> },
    /// Lines and messages of labels, below a line of the source.
    Labels { body: Vec<Cell> },
}

/// The rows of a picture so far.
#[derive(Default)]
pub(crate) struct Rows {
    rows: Vec<Row>,
    /// The line last shown of the file.
    line: Option<usize>,
}

impl Rows {
    pub(crate) fn header(&mut self, location: &str) {
        let corner = if self.rows.is_empty() { "╭" } else { "├" };
        self.rows.push(Row::Header { corner, location: location.to_owned() });
        self.line = None;
    }

    pub(crate) fn source(&mut self, number: usize, body: &[Cell]) {
        // ariadne draws an empty row for lines that are left out.
        if self.line.is_some_and(|line| line + 1 < number)
            && let Some(Row::Labels { body }) = self.rows.last_mut()
            && is_empty(body)
            && let Some(frame) = body.first_mut()
        {
            frame.char = BROKEN_BAR;
        }
        self.line = Some(number);
        self.rows.push(Row::Source { number, body: body.to_vec() });
    }

    pub(crate) fn labels(&mut self, body: &[Cell]) {
        let mut body = body.to_vec();
        // The underlines come first below the source. The primary place gets heavy ones, so that it
        // is told from the others without colours too.
        let is_message = body.iter().any(|c| c.owner != Owner::Other && c.char == '╰');
        if !is_message && matches!(self.rows.last(), Some(Row::Source { .. })) {
            for cell in body.iter_mut().filter(|c| c.owner == Owner::Label(0)) {
                match cell.char {
                    '─' => cell.char = '━',
                    '┬' => cell.char = '┯',
                    _ => {}
                }
            }
        }
        // ariadne draws a row of bars before every message, which only takes room. That of a gap or
        // below a header has no label's bar.
        let is_bar = |cell: &Cell| cell.char == BAR && cell.owner != Owner::Other;
        if body.iter().any(is_bar) && body.iter().skip(1).all(|c| c.char == ' ' || is_bar(c)) {
            return;
        }
        self.rows.push(Row::Labels { body });
    }

    /// Instead of a row that ends in the message of a label that has none.
    pub(crate) fn without_message(&mut self, body: &[Cell], is_multiline: impl Fn(usize) -> bool) {
        let owner = body.iter().rev().map(|c| c.owner).find(|owner| *owner != Owner::Other);
        let Some(Owner::Label(label)) = owner else { return };
        let mine = |cell: &Cell| cell.owner == Owner::Label(label);
        if is_multiline(label) {
            match body.iter().position(|c| mine(c) && c.char == '┴') {
                // The line that ends below the place's last character.
                Some(end) => {
                    let mut body = body.get(..end).unwrap_or_default().to_vec();
                    body.push(Cell { owner: Owner::Label(label), char: '╯' });
                    self.rows.push(Row::Labels { body });
                }
                // The line ends in an arrow at the place's last line, and goes on to the message.
                None => self.end_at_arrow(label),
            }
            return;
        }
        // No message, so nothing to lead to it: the underline is enough.
        for row in self.rows.iter_mut().rev() {
            let Row::Labels { body } = row else { break };
            for cell in body.iter_mut().filter(|c| mine(c)) {
                match cell.char {
                    BAR => *cell = BLANK,
                    '┬' => cell.char = '─',
                    '┯' => cell.char = '━',
                    _ => {}
                }
            }
        }
    }

    fn end_at_arrow(&mut self, label: usize) {
        for row in self.rows.iter_mut().rev() {
            let (Row::Source { body, .. } | Row::Labels { body }) = row else { return };
            for cell in body.iter_mut().filter(|c| c.owner == Owner::Label(label)) {
                match cell.char {
                    BAR => *cell = BLANK,
                    '├' => {
                        cell.char = '╰';
                        return;
                    }
                    _ => {}
                }
            }
        }
    }

    /// The rows.
    pub(crate) fn finish(self) -> Vec<Row> {
        self.rows
    }
}

/// Whether there is nothing but the frame.
fn is_empty(body: &[Cell]) -> bool {
    body.iter().skip(1).all(|c| c.char.is_whitespace())
}

impl Row {
    /// Appends the row, the primary place in the style `primary`.
    pub(crate) fn draw(&self, width: usize, primary: Style, color: bool, out: &mut String) {
        let style = |owner| match owner {
            Owner::Label(0) => primary,
            Owner::Label(_) => paint::FRAME,
            Owner::Other => paint::PLAIN,
        };
        match self {
            Self::Header { corner, location } => {
                let blank = " ".repeat(width + 2);
                paint::push(out, color, paint::FRAME, &format!("{blank}{corner}─["));
                out.push_str(&format!(" {location} "));
                paint::push(out, color, paint::FRAME, "]");
            }
            Self::Source { number, body } => {
                paint::push(out, color, paint::FRAME, &format!(" {number:>width$} "));
                draw_body(body, |cell| style(cell.owner), color, out);
            }
            Self::Labels { body } => {
                out.push_str(&" ".repeat(width + 2));
                // A message follows the line that leads to it.
                let mut last = paint::PLAIN;
                let message_style = |cell: &Cell| {
                    if cell.owner != Owner::Other {
                        last = style(cell.owner);
                    }
                    last
                };
                draw_body(body, message_style, color, out);
            }
        }
        out.push('\n');
    }
}

/// Appends the characters, those of one style together.
fn draw_body(body: &[Cell], mut style: impl FnMut(&Cell) -> Style, color: bool, out: &mut String) {
    let end = body.iter().rposition(|c| !c.char.is_whitespace()).map_or(0, |last| last + 1);
    let mut run = String::new();
    let mut run_style = paint::FRAME;
    for (i, cell) in body.iter().take(end).enumerate() {
        let style = if i == 0 { paint::FRAME } else { style(cell) };
        // A space has no colour to change.
        if style != run_style && cell.char != ' ' {
            paint::push(out, color, run_style, &run);
            run.clear();
            run_style = style;
        }
        run.push(cell.char);
    }
    paint::push(out, color, run_style, &run);
}
