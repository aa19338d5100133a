//! Reads what ariadne drew, as characters that know what they belong to.
//!
//! ariadne gives every character its own escape sequences. So each label gets a colour that is its
//! number, and reading the colours back tells which label drew what; the final colours are then
//! free, and need one escape sequence per run.

use ariadne::Color;

/// The first of the label's colours; the 16 below are the terminal's own.
const FIRST_LABEL: u8 = 16;
/// How many labels there can be: ariadne's own colours are greys, from 232.
pub(crate) const MAX_LABELS: usize = 200;

/// What drew a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A label, by its number.
    Label(usize),
    /// No label: the source, the frame, a message.
    Other,
}

/// A character on the screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub owner: Owner,
    pub char: char,
}

/// The colour that stands for a label.
pub(crate) fn color(label: usize) -> Color {
    Color::Fixed(u8::try_from(label.min(MAX_LABELS)).unwrap_or(0) + FIRST_LABEL)
}

/// The characters of one line.
pub(crate) fn read(line: &str) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut owner = Owner::Other;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        if char == '\u{1B}' {
            let sequence: String = chars.by_ref().take_while(|&c| c != 'm').collect();
            owner = sequence
                .strip_prefix("[38;5;")
                .and_then(|color| color.parse::<usize>().ok())
                .and_then(|color| color.checked_sub(usize::from(FIRST_LABEL)))
                .filter(|&label| label < MAX_LABELS)
                .map_or(Owner::Other, Owner::Label);
        } else {
            cells.push(Cell { owner, char });
        }
    }
    cells
}
