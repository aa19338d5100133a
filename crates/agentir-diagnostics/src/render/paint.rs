//! The colours: for levels those of rustc, which people know; for frames that of ariadne.

use crate::diagnostic::Severity;

/// Parameters of the terminal's "select graphic rendition".
pub(crate) type Style = &'static str;

/// As the terminal has it.
pub(crate) const PLAIN: Style = "";
/// What a finding says.
pub(crate) const BOLD: Style = "1";
/// Frames.
pub(crate) const FRAME: Style = "38;5;246";

/// The colour of a level.
pub(crate) const fn severity(severity: Severity) -> Style {
    match severity {
        Severity::Error => "1;91",
        Severity::Warning => "1;33",
        Severity::Info => "1;96",
    }
}

/// Appends `text` in `style`.
pub(crate) fn push(out: &mut String, color: bool, style: Style, text: &str) {
    if !color || style == PLAIN || text.trim().is_empty() {
        out.push_str(text);
    } else {
        out.push_str("\u{1B}[");
        out.push_str(style);
        out.push('m');
        out.push_str(text);
        out.push_str("\u{1B}[0m");
    }
}
