//! Inlay hints and code lenses.

use super::{Answer, Question};
use crate::findings::unknown;
use agentir::references::SymbolKind;
use agentir::{HintKind, Severity};
use gen_lsp_types::{
    CodeLens, CodeLensParams, CodeLensRequest, Command, InlayHint, InlayHintKind, InlayHintParams,
    InlayHintRequest, Label,
};
use serde_json::json;

/// What follows from a document and is not written in it.
pub(crate) fn hints(question: &Question, params: InlayHintParams) -> Answer<InlayHintRequest> {
    let view = &question.view;
    let Some((file, source)) = view.file(&params.text_document.uri) else { return Ok(None) };
    let part = view.span(file, source, params.range);
    let masker = view.masker(file);
    let hints = view.snapshot.hints(file).into_iter();
    let hints = hints.filter(|hint| part.start <= hint.span.end && hint.span.end <= part.end);
    let hints = hints.map(|hint| InlayHint {
        position: view.position(source, hint.span.end),
        label: Label::String(masker.mask(&hint.text).into_owned()),
        kind: (hint.kind == HintKind::Type).then_some(InlayHintKind::Type),
        text_edits: None,
        tooltip: None,
        padding_left: Some(hint.kind != HintKind::Type),
        padding_right: None,
        data: None,
    });
    Ok(Some(hints.collect()))
}

/// What can be done with an agent, above its name: only what the client has commands for, and how many findings it has.
pub(crate) fn lenses(question: &Question, params: CodeLensParams) -> Answer<CodeLensRequest> {
    let view = &question.view;
    let uri = params.text_document.uri;
    let Some((file, source)) = view.file(&uri) else { return Ok(None) };
    let outline = view.snapshot.outline(file);
    let agents: Vec<_> = outline.iter().filter(|item| item.kind == SymbolKind::Agent).collect();
    let snapshot = view.snapshot.clone().cancelled_by(question.stop.cancelled.clone());
    let found = snapshot.check_file(file)?;
    let found = unknown(view, question.baseline.as_ref(), found);
    let offers =
        [("agentir.talk", "Talk"), ("agentir.test", "Test"), ("agentir.showGraph", "Graph")];
    let mut lenses = Vec::new();
    for (index, item) in agents.iter().enumerate() {
        let range = view.range(source, item.selection);
        let mut add = |title: String, command: &str| {
            let arguments = Some(vec![json!(uri), json!(item.name)]);
            let command = Command { title, command: command.to_owned(), arguments, tooltip: None };
            lenses.push(CodeLens { range, command: Some(command), data: None });
        };
        for (command, title) in offers {
            if view.commands.iter().any(|known| known == command) {
                add(title.to_owned(), command);
            }
        }
        // What is above the first agent belongs to it, and what is behind one up to the next.
        let first = if index == 0 { 0 } else { item.span.start };
        let next = agents.get(index + 1).map_or(u32::MAX, |next| next.span.start);
        let of = |severity| {
            let here = found.iter().filter(|one| {
                let at = one.primary.span.start;
                one.severity == severity && first <= at && at < next
            });
            here.count()
        };
        let counts = [
            (of(Severity::Error), "error"),
            (of(Severity::Warning), "warning"),
            (of(Severity::Info), "remark"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| format!("{count} {noun}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        let title = if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") };
        let shows = view.commands.iter().any(|known| known == "agentir.showFindings");
        add(title, if shows { "agentir.showFindings" } else { "" });
    }
    Ok(Some(lenses))
}
