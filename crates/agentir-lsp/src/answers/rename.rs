//! Renaming.

use super::{Answer, Failure, Question};
use gen_lsp_types::{
    PrepareRenameParams, PrepareRenamePlaceholder, PrepareRenameRequest, PrepareRenameResult,
    RenameParams, RenameRequest,
};

/// The name at a position, if it can be changed.
pub(crate) fn prepare(
    question: &Question,
    params: PrepareRenameParams,
) -> Answer<PrepareRenameRequest> {
    let view = &question.view;
    let at = params.text_document_position_params;
    let Some((file, offset)) = view.place(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let Some(source) = view.snapshot.sources().get(file) else { return Ok(None) };
    let span = view
        .snapshot
        .renamable(file, offset)
        .map_err(|error| Failure::Refused(error.to_string()))?;
    let placeholder = source.slice(span).to_owned();
    let range = view.range(source, span);
    Ok(Some(PrepareRenameResult::PrepareRenamePlaceholder(PrepareRenamePlaceholder {
        range,
        placeholder,
    })))
}

/// The edits that change a name everywhere, if the result is the same program.
pub(crate) fn rename(question: &Question, params: RenameParams) -> Answer<RenameRequest> {
    let view = &question.view;
    let at = params.text_document_position_params;
    let Some((file, offset)) = view.place(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let renamed = view.snapshot.rename(file, offset, params.new_name.trim());
    let renamed = renamed.map_err(|error| Failure::Refused(error.to_string()))?;
    Ok(Some(view.workspace_edit(&renamed.edits)))
}
