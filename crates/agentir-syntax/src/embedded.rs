//! Texts with placeholders in the notation of a language, outside of its documents.

use crate::inline::InlineText;
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Dialect, Template, TemplatePart};
use smol_str::SmolStr;

/// A text with placeholders, as AgentIR has it for an agent of this dialect.
pub fn template(
    dialect: Dialect,
    input: InlineText<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Template {
    match dialect {
        Dialect::Abl => crate::abl::inline::template(input, problems),
        Dialect::AgentScript => agent_script(input, problems),
        Dialect::Adl => {
            // Lowering writes placeholders as ABL has them, and only paths; other braces are text.
            let mut template = crate::abl::inline::template(input, &mut Vec::new());
            template.parts.retain(|part| {
                matches!(part, TemplatePart::Value { expr, filters, .. }
                    if filters.is_empty() && expr.as_path().is_some())
            });
            template
        }
    }
}

fn agent_script(input: InlineText<'_>, problems: &mut Vec<Diagnostic>) -> Template {
    let file = input.origin.file;
    let mut found = Vec::new();
    let placeholders = crate::agent_script::placeholders_in(input.text, file, &mut found);
    let relocate = |span: Span| input.span_of(span.start, span.end);
    for problem in &mut found {
        problem.spans_mut(&mut |span| *span = relocate(*span));
    }
    problems.append(&mut found);
    let part = |placeholder: crate::agent_script::Placeholder| {
        let expr = placeholder.expr?.relocated(&relocate);
        Some(TemplatePart::Value { expr, filters: Vec::new(), span: relocate(placeholder.span) })
    };
    Template {
        parts: placeholders.into_iter().filter_map(part).collect(),
        shifts: input.shifts(),
        ..Template::plain(Spanned::new(SmolStr::new(input.text), input.span()))
    }
}
