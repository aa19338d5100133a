//! Comments that suppress findings.

use crate::snapshot::Snapshot;
use agentir_diagnostics::{Diagnostic, Edit, Span};
use agentir_lint::SUPPRESSION_MARKER;
use agentir_syntax::line_layout::LineKind;

impl Snapshot {
    /// The edit that suppresses a finding with a comment above its line, or above everything for the whole file. `None` where
    /// a comment would be part of a text.
    #[must_use]
    pub fn suppression(&self, finding: &Diagnostic, in_file: bool, reason: &str) -> Option<Edit> {
        let at = finding.primary.span;
        let (layout, source) = self.layout(at.file)?;
        let text = &*source.text;
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let rule = finding.rule.0;
        let (start, comment) = if in_file {
            let first = layout.lines.first()?;
            (first.span.start, format!("# {SUPPRESSION_MARKER} ignore-file[{rule}] {reason}"))
        } else {
            let line = layout.lines.get(layout.line_of(at.start))?;
            // Only between entries nothing else can be meant.
            if !matches!(line.kind, LineKind::Entry | LineKind::Blank) {
                return None;
            }
            let indentation = text.get(line.span.start as usize..line.content as usize)?;
            let comment = format!("{indentation}# {SUPPRESSION_MARKER} ignore[{rule}] {reason}");
            (line.span.start, comment)
        };
        let edit = Edit { span: Span::new(at.file, start, start), text: comment + ending };
        // The comment is one for the language, too, and all other lines are what they were.
        let mut edited = text.to_owned();
        edited.insert_str(start as usize, &edit.text);
        let notation = self.detected(at.file)?.kind.notation?;
        let after = notation.layout(at.file, &edited);
        let index = after.line_of(start);
        let is_comment = after.lines.get(index).is_some_and(|line| line.kind == LineKind::Comment);
        let others = after.lines.iter().enumerate().filter(|(at, _)| *at != index);
        let same = others.map(|(_, line)| line.kind).eq(layout.lines.iter().map(|line| line.kind));
        (is_comment && same).then_some(edit)
    }
}
