//! Findings for clients that ask for them.

use super::{Answer, Failure, Question};
use crate::findings::{config_problems, diagnostics};
use crate::view::View;
use agentir::diagnostics::FileId;
use gen_lsp_types::{
    Diagnostic, DocumentDiagnosticParams, DocumentDiagnosticRequest, FullDocumentDiagnosticReport,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport, Uri, WorkspaceDiagnosticParams, WorkspaceDiagnosticReport,
    WorkspaceDiagnosticRequest, WorkspaceDocumentDiagnosticReport,
    WorkspaceFullDocumentDiagnosticReport, WorkspaceUnchangedDocumentDiagnosticReport,
};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// Names a result, so that the client need not be sent the same again.
fn result_id(found: &[Diagnostic]) -> String {
    let mut hasher = FxHasher::default();
    // Diagnostics are data.
    hasher.write(&serde_json::to_vec(found).unwrap_or_default());
    format!("{}-{:x}", found.len(), hasher.finish())
}

/// The findings in a document.
pub(crate) fn document(
    question: &Question,
    params: DocumentDiagnosticParams,
) -> Answer<DocumentDiagnosticRequest> {
    let found = match question.view.file(&params.text_document.uri) {
        Some((file, _)) => found_in(question, file)?,
        None => Vec::new(),
    };
    let id = result_id(&found);
    Ok(match params.previous_result_id == Some(id.clone()) {
        true => RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport {
                result_id: id,
            },
        }
        .into(),
        false => RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport {
                result_id: Some(id),
                items: found,
            },
        }
        .into(),
    })
}

fn found_in(question: &Question, file: FileId) -> Result<Vec<Diagnostic>, Failure> {
    let snapshot = question.view.snapshot.clone().cancelled_by(question.stop.cancelled.clone());
    let view = View { snapshot, ..question.view.clone() };
    let baseline = question.baseline.as_ref();
    // Rules run on a large program when nothing is written for a while; the client is told to ask again.
    if view.is_large(file) && view.client.refreshes_diagnostics && !view.snapshot.is_checked(file) {
        let found = view.snapshot.check_reading(file)?;
        return Ok(diagnostics(&view, baseline, file, found.iter()));
    }
    let found = view.snapshot.check_file(file)?;
    Ok(diagnostics(&view, baseline, file, found))
}

/// The findings in all files, also in those that are not open.
pub(crate) fn workspace(
    question: &Question,
    params: WorkspaceDiagnosticParams,
) -> Answer<WorkspaceDiagnosticRequest> {
    let mut known: FxHashMap<Uri, String> =
        params.previous_result_ids.into_iter().map(|known| (known.uri, known.value)).collect();
    let snapshot = question.view.snapshot.clone().cancelled_by(question.stop.cancelled.clone());
    let view = View { snapshot, ..question.view.clone() };
    let all = view.snapshot.check()?;
    let mut by_file: FxHashMap<FileId, Vec<_>> = FxHashMap::default();
    for finding in all {
        by_file.entry(finding.primary.span.file).or_default().push(finding);
    }
    let mut items = Vec::new();
    let mut report = |uri: Uri, version, found: Vec<Diagnostic>| {
        let id = result_id(&found);
        let before = known.remove(&uri);
        items.push(match before == Some(id.clone()) {
            true => WorkspaceUnchangedDocumentDiagnosticReport {
                uri,
                version,
                unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport {
                    result_id: id,
                },
            }
            .into(),
            false => WorkspaceFullDocumentDiagnosticReport {
                uri,
                version,
                full_document_diagnostic_report: FullDocumentDiagnosticReport {
                    result_id: Some(id),
                    items: found,
                },
            }
            .into(),
        });
    };
    for (file, source) in view.snapshot.sources().iter() {
        let Some(uri) = view.uri(source) else { continue };
        let version = view.document(source).map(|document| document.version);
        let found = by_file.remove(&file).unwrap_or_default();
        report(
            uri,
            version,
            diagnostics(&view, question.baseline.as_ref(), file, found.into_iter()),
        );
    }
    for (uri, found) in config_problems(&view) {
        report(uri, None, found);
    }
    // What is gone has no findings.
    let gone: Vec<(Uri, String)> = known.drain().collect();
    let none = result_id(&[]);
    for (uri, _) in gone.into_iter().filter(|(_, id)| *id != none) {
        let report = WorkspaceFullDocumentDiagnosticReport {
            uri,
            version: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport {
                result_id: Some(none.clone()),
                items: Vec::new(),
            },
        };
        items.push(report.into());
    }
    Ok(WorkspaceDiagnosticReport { items })
}

/// Whether a report of a workspace says anything that the client does not know.
pub(crate) fn has_news(report: &WorkspaceDiagnosticReport) -> bool {
    let is_news = |one: &WorkspaceDocumentDiagnosticReport| {
        matches!(one, WorkspaceDocumentDiagnosticReport::WorkspaceFullDocumentDiagnosticReport(_))
    };
    report.items.iter().any(is_news)
}
