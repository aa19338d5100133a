//! Code actions.

use super::layout::edits;
use super::{Answer, Question};
use crate::findings::{diagnostic, unknown};
use crate::uri;
use crate::view::View;
use agentir::diagnostics::{Applicability, Diagnostic, FileId, Report, SourceFile, Span};
use agentir_report::{Baseline, Findings, Page};
use agentir_secrets::Masker;
use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CodeActionRequest, CodeActionResponse, Command,
    CreateFile, CreateFileOptions, DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier,
    Position, Range, TextDocumentEdit, TextDocumentIdentifier, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::json;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;

/// The kind of the action that applies all safe fixes.
pub(crate) const FIX_ALL: &str = "source.fixAll.agentir";

/// The kind of conversions.
pub(crate) const CONVERT: &str = "refactor.rewrite.agentir";

/// What a reader of a suppression is told until its author says why.
const REASON: &str = "reason";

/// What can be done about the findings in a range, and with the document.
pub(crate) fn actions(question: &Question, params: CodeActionParams) -> Answer<CodeActionRequest> {
    let view = &question.view;
    let uri = params.text_document.uri;
    let Some((file, source)) = view.file(&uri) else { return Ok(None) };
    let snapshot = view.snapshot.clone().cancelled_by(question.stop.cancelled.clone());
    let only = params.context.only;
    // `source` asks for `source.fixAll.agentir` as well.
    let wants = |kind: &str| match &only {
        None => true,
        Some(only) => only.iter().any(|wanted| {
            let wanted = wanted.as_str();
            wanted.is_empty()
                || kind
                    .strip_prefix(wanted)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }),
    };
    let found = snapshot.check_file(file)?;
    let found = unknown(view, question.baseline.as_ref(), found);
    let mut actions: Vec<CodeAction> = Vec::new();
    if wants("quickfix") {
        let masker = view.masker(file);
        let range = view.span(file, source, params.range);
        let touches = |span: Span| span.start <= range.end && range.start <= span.end;
        let here: Vec<&Cow<'_, Diagnostic>> =
            found.iter().filter(|finding| touches(finding.primary.span)).collect();
        for finding in &here {
            fixes(view, &masker, source, finding, &mut actions);
        }
        // What changes the program comes before what hides the finding.
        for finding in &here {
            suppressions(view, &masker, source, finding, &mut actions);
        }
        for finding in &here {
            actions.extend(to_baseline(view, &masker, source, finding));
        }
    }
    // Only if it is asked for: the list of what can be done at a place has the fixes one by one.
    if only.is_some() && wants(FIX_ALL) {
        let fixed = snapshot.fix(file, Applicability::Safe);
        if let Ok((text, applied)) = fixed
            && applied > 0
        {
            let edit = view.workspace_edit(&edits(file, &source.text, &text));
            actions.push(CodeAction {
                title: "Apply all fixes that keep the meaning".to_owned(),
                kind: Some(CodeActionKind::from(FIX_ALL.to_owned())),
                edit: Some(edit),
                ..CodeAction::default()
            });
        }
    }
    if wants(CONVERT) && view.commands.iter().any(|command| command == "agentir.convertTo") {
        actions.extend(conversions(view, file, &uri));
    }
    let answers = actions.into_iter().map(|action| match (view.client.code_actions, action) {
        (true, action) => CodeActionResponse::CodeAction(action),
        // Older clients know commands alone.
        (false, CodeAction { title, command, edit, .. }) => {
            let own = Command {
                title,
                tooltip: None,
                command: "agentir.applyEdit".to_owned(),
                arguments: Some(vec![json!(edit)]),
            };
            CodeActionResponse::Command(command.unwrap_or(own))
        }
    });
    Ok(Some(answers.collect()))
}

/// The fixes of a finding, those that keep the meaning first.
fn fixes(
    view: &View,
    masker: &Masker,
    source: &SourceFile,
    finding: &Diagnostic,
    actions: &mut Vec<CodeAction>,
) {
    let mut fixes: Vec<_> = finding
        .fixes
        .iter()
        .filter(|fix| fix.applicability > Applicability::DisplayOnly && !fix.edits.is_empty())
        .collect();
    fixes.sort_by_key(|fix| std::cmp::Reverse(fix.applicability));
    for (index, fix) in fixes.into_iter().enumerate() {
        let is_safe = fix.applicability == Applicability::Safe;
        let note = if is_safe { "" } else { " (may change the meaning)" };
        actions.push(CodeAction {
            title: format!("{}{note}", capitalized(&masker.mask(&fix.title))),
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: Some(vec![diagnostic(view, masker, source, finding)]),
            is_preferred: (is_safe && index == 0).then_some(true),
            edit: Some(view.workspace_edit(&fix.edits)),
            ..CodeAction::default()
        });
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The comments that suppress a finding.
fn suppressions(
    view: &View,
    masker: &Masker,
    source: &SourceFile,
    finding: &Diagnostic,
    actions: &mut Vec<CodeAction>,
) {
    let rule = finding.rule.0;
    let kinds = [
        (false, format!("Ignore `{rule}` in this line")),
        (true, format!("Ignore `{rule}` in this file")),
    ];
    for (in_file, title) in kinds {
        if let Some(edit) = view.snapshot.suppression(finding, in_file, REASON) {
            actions.push(CodeAction {
                title,
                kind: Some(CodeActionKind::QuickFix),
                diagnostics: Some(vec![diagnostic(view, masker, source, finding)]),
                edit: Some(view.workspace_edit(&[edit])),
                ..CodeAction::default()
            });
        }
    }
}

/// The edit of the baseline that adds a finding to it, where the settings name one.
fn to_baseline(
    view: &View,
    masker: &Masker,
    source: &SourceFile,
    finding: &Diagnostic,
) -> Option<CodeAction> {
    let (file, folder) = (view.settings.baseline.as_ref()?, view.folders.first()?);
    let path = folder.join(file);
    let document = view.documents.at(&path);
    let old = match document {
        Some(document) => Some(document.text.to_string()),
        None => fs::read_to_string(&path).ok(),
    };
    let found = [finding.clone()];
    let report = Report { sources: view.snapshot.sources(), diagnostics: &found, files_checked: 1 };
    let (fails, page, rules) = (&|_: &_| false, Page::default(), &|_: &_| None);
    let findings = Findings { report, root: folder, fails, page: &page, rules };
    let mut all = match &old {
        Some(old) => Baseline::read(old).ok()?,
        None => {
            Baseline::of(&Findings { report: Report { diagnostics: &[], ..report }, ..findings })
        }
    };
    all.add(&findings);
    let new_text = all.to_json();
    let uri = document.map(|document| document.uri.clone()).or_else(|| uri::uri_of(&path))?;
    let lines = old.as_deref().map_or(0, |old| old.lines().count() + 1);
    let end = Position { line: u32::try_from(lines).unwrap_or(u32::MAX), character: 0 };
    let range = Range { start: Position::default(), end };
    let edit = TextEdit { range, new_text };
    let edit = match (old.is_some(), view.client.document_changes) {
        (true, false) => WorkspaceEdit {
            changes: Some(HashMap::from([(uri, vec![edit])])),
            ..WorkspaceEdit::default()
        },
        (is_there, true) if is_there || view.client.creates_files => {
            let options = CreateFileOptions { overwrite: None, ignore_if_exists: Some(true) };
            let create =
                CreateFile { uri: uri.clone(), options: Some(options), annotation_id: None };
            let create = (!is_there).then_some(DocumentChange::CreateFile(create));
            let version = document.map(|document| document.version);
            let text_document_identifier = TextDocumentIdentifier { uri };
            let text_document =
                OptionalVersionedTextDocumentIdentifier { version, text_document_identifier };
            let edits = vec![Edit::TextEdit(edit)];
            let change =
                DocumentChange::TextDocumentEdit(TextDocumentEdit { text_document, edits });
            let changes = create.into_iter().chain([change]).collect();
            WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
        }
        // The client cannot create it.
        _ => return None,
    };
    Some(CodeAction {
        title: format!("Add `{}` to the baseline", finding.rule.0),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostic(view, masker, source, finding)]),
        edit: Some(edit),
        ..CodeAction::default()
    })
}

/// The conversions of a program to other languages, for clients that show what comes out.
fn conversions(view: &View, file: FileId, uri: &Uri) -> Vec<CodeAction> {
    let program = view.snapshot.program_of(file).and_then(|id| view.snapshot.ir(id));
    if program.is_none_or(|program| program.agents.is_empty()) {
        return Vec::new();
    }
    let action = |target: agentir::Target| {
        let title = format!("Convert to {}", target.title());
        let arguments = Some(vec![json!({ "uri": uri, "target": target.name() })]);
        let command = Command {
            title: title.clone(),
            tooltip: None,
            command: "agentir.convertTo".to_owned(),
            arguments,
        };
        CodeAction {
            title,
            kind: Some(CodeActionKind::from(CONVERT.to_owned())),
            command: Some(command),
            ..CodeAction::default()
        }
    };
    agentir::languages().targets().map(action).collect()
}
