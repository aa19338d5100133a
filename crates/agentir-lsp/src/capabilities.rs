//! What the server can do.

use crate::answers::completion::TRIGGERS;
use crate::answers::{actions, commands, tokens};
use crate::client::Client;
use crate::findings::SCHEME;
use agentir::diagnostics::PositionEncoding;
use gen_lsp_types::{
    ChangeNotifications, CodeActionKind, CodeActionOptions, CodeLensOptions, CompletionOptions,
    DiagnosticOptions, DidChangeWatchedFilesRegistrationOptions, DocumentLinkOptions,
    ExecuteCommandOptions, FileSystemWatcher, GlobPattern, InitializeResult, PositionEncodingKind,
    Registration, RegistrationParams, RenameOptions, Save, SemanticTokensFullDelta,
    SemanticTokensLegend, SemanticTokensOptions, ServerCapabilities, ServerInfo,
    SignatureHelpOptions, TextDocumentContentOptions, TextDocumentSyncKind,
    TextDocumentSyncOptions, WorkDoneProgressOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceOptions,
};
use serde_json::{Value, json};

/// The answer to `initialize`.
pub(crate) fn initialize_result(client: &Client) -> InitializeResult {
    let server_info = Some(ServerInfo {
        name: "agentir".to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
    });
    InitializeResult { capabilities: capabilities(client), server_info }
}

const fn no_progress() -> WorkDoneProgressOptions {
    WorkDoneProgressOptions { work_done_progress: None }
}

fn capabilities(client: &Client) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(match client.encoding {
            PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
            PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
            PositionEncoding::Utf32 => PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::Incremental),
                will_save: None,
                will_save_wait_until: None,
                save: Some(Save::Bool(false)),
            }
            .into(),
        ),
        hover_provider: Some(true.into()),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            retrigger_characters: None,
            work_done_progress_options: no_progress(),
        }),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(TRIGGERS.map(str::to_owned).to_vec()),
            resolve_provider: Some(true),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_highlight_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        workspace_symbol_provider: Some(true.into()),
        call_hierarchy_provider: Some(true.into()),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: None,
            work_done_progress_options: no_progress(),
        }),
        rename_provider: Some(
            RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: no_progress(),
            }
            .into(),
        ),
        folding_range_provider: Some(true.into()),
        selection_range_provider: Some(true.into()),
        document_formatting_provider: Some(true.into()),
        document_range_formatting_provider: Some(true.into()),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: tokens::TYPES.map(str::to_owned).to_vec(),
                    token_modifiers: tokens::MODIFIERS.map(str::to_owned).to_vec(),
                },
                range: Some(true.into()),
                full: Some(SemanticTokensFullDelta { delta: Some(true) }.into()),
                work_done_progress_options: no_progress(),
            }
            .into(),
        ),
        inlay_hint_provider: Some(true.into()),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: None,
            work_done_progress_options: no_progress(),
        }),
        code_action_provider: Some(
            CodeActionOptions {
                code_action_kinds: Some(vec![
                    CodeActionKind::QuickFix,
                    CodeActionKind::from(actions::FIX_ALL.to_owned()),
                    CodeActionKind::from(actions::CONVERT.to_owned()),
                ]),
                documentation: None,
                resolve_provider: None,
                work_done_progress_options: no_progress(),
            }
            .into(),
        ),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: commands::COMMANDS.map(str::to_owned).to_vec(),
            work_done_progress_options: no_progress(),
        }),
        diagnostic_provider: client.pulls.then(|| {
            DiagnosticOptions {
                identifier: Some("agentir".to_owned()),
                inter_file_dependencies: true,
                workspace_diagnostics: true,
                work_done_progress_options: no_progress(),
            }
            .into()
        }),
        workspace: Some(WorkspaceOptions {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(ChangeNotifications::Bool(true)),
            }),
            file_operations: None,
            text_document_content: client
                .reads_contents
                .then(|| TextDocumentContentOptions { schemes: vec![SCHEME.to_owned()] }.into()),
        }),
        ..ServerCapabilities::default()
    }
}

/// The files whose changes the client is asked to tell of.
const WATCHED: [&str; 8] = [
    "**/agentir.toml",
    "**/.gitignore",
    "**/.ignore",
    "**/*.{abl,agent}",
    "**/*.{yaml,yml}",
    "**/*.{json,zip}",
    "**/*.py",
    "**/*.csv",
];

/// What the client is asked to tell of.
pub(crate) fn registrations() -> Value {
    let watchers = WATCHED
        .iter()
        .map(|glob| FileSystemWatcher {
            glob_pattern: GlobPattern::Pattern((*glob).to_owned()),
            kind: None,
        })
        .collect();
    let options = DidChangeWatchedFilesRegistrationOptions { watchers };
    let watch = Registration {
        id: "agentir-files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!(options)),
    };
    json!(RegistrationParams { registrations: vec![watch] })
}
