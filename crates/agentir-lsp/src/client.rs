//! What a client can do.

use agentir::diagnostics::PositionEncoding;
use serde_json::Value;

/// The capabilities of a client that make a difference. What it does not say it cannot do.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has a flag for each")]
pub(crate) struct Client {
    /// What columns count.
    pub(crate) encoding: PositionEncoding,
    /// It asks for diagnostics.
    pub(crate) pulls: bool,
    /// It asks again when it is told to.
    pub(crate) refreshes_diagnostics: bool,
    pub(crate) refreshes_tokens: bool,
    pub(crate) refreshes_lenses: bool,
    pub(crate) refreshes_hints: bool,
    pub(crate) related_information: bool,
    pub(crate) tags: bool,
    pub(crate) code_description: bool,
    pub(crate) versions_in_diagnostics: bool,
    pub(crate) markdown: bool,
    pub(crate) markdown_in_completion: bool,
    pub(crate) snippets: bool,
    pub(crate) document_changes: bool,
    pub(crate) creates_files: bool,
    pub(crate) watches_files: bool,
    pub(crate) has_configuration: bool,
    pub(crate) nested_symbols: bool,
    pub(crate) code_actions: bool,
    pub(crate) folds_lines_only: bool,
    /// It asks the server for the contents of documents of its scheme.
    pub(crate) reads_contents: bool,
}

impl Client {
    /// Reads the capabilities, as far as they have the form of the protocol.
    pub(crate) fn new(capabilities: &Value) -> Self {
        let has = |path: &str| capabilities.pointer(path).is_some_and(|value| !value.is_null());
        let is = |path: &str| capabilities.pointer(path).and_then(Value::as_bool) == Some(true);
        let lists = |path: &str, wanted: &str| {
            let list = capabilities.pointer(path).and_then(Value::as_array);
            list.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(wanted)))
        };
        Self {
            encoding: encoding(capabilities.pointer("/general/positionEncodings")),
            pulls: has("/textDocument/diagnostic"),
            refreshes_diagnostics: is("/workspace/diagnostics/refreshSupport"),
            refreshes_tokens: is("/workspace/semanticTokens/refreshSupport"),
            refreshes_lenses: is("/workspace/codeLens/refreshSupport"),
            refreshes_hints: is("/workspace/inlayHint/refreshSupport"),
            related_information: is("/textDocument/publishDiagnostics/relatedInformation")
                || is("/textDocument/diagnostic/relatedInformation"),
            tags: has("/textDocument/publishDiagnostics/tagSupport")
                || has("/textDocument/diagnostic/tagSupport"),
            code_description: is("/textDocument/publishDiagnostics/codeDescriptionSupport")
                || is("/textDocument/diagnostic/codeDescriptionSupport"),
            versions_in_diagnostics: is("/textDocument/publishDiagnostics/versionSupport"),
            markdown: lists("/textDocument/hover/contentFormat", "markdown"),
            markdown_in_completion: lists(
                "/textDocument/completion/completionItem/documentationFormat",
                "markdown",
            ),
            snippets: is("/textDocument/completion/completionItem/snippetSupport"),
            document_changes: is("/workspace/workspaceEdit/documentChanges"),
            creates_files: lists("/workspace/workspaceEdit/resourceOperations", "create"),
            watches_files: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            has_configuration: is("/workspace/configuration"),
            nested_symbols: is("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            code_actions: has("/textDocument/codeAction/codeActionLiteralSupport"),
            folds_lines_only: is("/textDocument/foldingRange/lineFoldingOnly"),
            reads_contents: has("/workspace/textDocumentContent"),
        }
    }
}

/// The encoding to use: bytes if the client offers them, because they cost nothing, else the first that is known.
fn encoding(offered: Option<&Value>) -> PositionEncoding {
    let names = offered.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let known: Vec<PositionEncoding> = names.filter_map(PositionEncoding::from_name).collect();
    match known.contains(&PositionEncoding::Utf8) {
        true => PositionEncoding::Utf8,
        false => known.first().copied().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::encoding;
    use agentir::diagnostics::PositionEncoding::{self, Utf8, Utf16, Utf32};
    use serde_json::json;

    #[test]
    fn encodings_are_negotiated() {
        let of = |offered: serde_json::Value| -> PositionEncoding { encoding(Some(&offered)) };
        assert_eq!(encoding(None), Utf16);
        assert_eq!(of(json!([])), Utf16);
        assert_eq!(of(json!(["utf-16", "utf-8"])), Utf8);
        assert_eq!(of(json!(["utf-32", "utf-16"])), Utf32);
        assert_eq!(of(json!(["utf-7", 3, "utf-16"])), Utf16);
        assert_eq!(of(json!("utf-8")), Utf16);
    }
}
