//! Answers to requests, from a snapshot.

pub(crate) mod actions;
pub(crate) mod commands;
pub(crate) mod completion;
pub(crate) mod diagnostics;
mod hints;
mod hover;
mod layout;
mod navigate;
mod rename;
pub(crate) mod tokens;

use crate::findings::KnownFindings;
use crate::view::View;
use agentir::{Cancellation, Cancelled};
use agentir_secrets::mask;
use gen_lsp_types::Request;
use lsp_server::{ErrorCode, RequestId, ResponseError};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Who answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Needs what is in the snapshot, and answers at once.
    Quick,
    /// Needs findings.
    Findings,
}

/// A request, and what it takes to answer it.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) id: RequestId,
    pub(crate) route: Route,
    pub(crate) params: Value,
    pub(crate) view: View,
    pub(crate) baseline: Option<KnownFindings>,
    pub(crate) stop: Stop,
}

/// What ends the work on a question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    /// The client does not want the answer any more.
    pub(crate) cancelled: Cancellation,
    /// The document has changed, and the answer is of no use.
    pub(crate) stale: Arc<AtomicBool>,
}

impl Stop {
    fn check(&self) -> Result<(), Failure> {
        if self.stale.load(Ordering::Relaxed) {
            return Err(Failure::Stale);
        }
        self.cancelled.check().map_err(|_| Failure::Cancelled)
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The parameters are not those of the request.
    Params(String),
    /// The client does not want the answer any more.
    Cancelled,
    /// The document has changed.
    Stale,
    /// What was asked for is not possible, and why.
    Refused(String),
    /// A mistake in this program.
    Internal(String),
}

impl Failure {
    pub(crate) fn error(self, method: &str) -> ResponseError {
        let (code, message) = match self {
            Self::Params(error) => {
                let message = format!("these are no parameters of `{method}`: {error}");
                (ErrorCode::InvalidParams, message)
            }
            Self::Cancelled => (ErrorCode::RequestCanceled, "cancelled".to_owned()),
            Self::Stale if method.ends_with("diagnostic") => {
                let data = Some(serde_json::json!({ "retriggerRequest": true }));
                let message = "the document has changed".to_owned();
                return ResponseError { code: ErrorCode::ServerCancelled as i32, message, data };
            }
            Self::Stale => (ErrorCode::ContentModified, "the document has changed".to_owned()),
            Self::Refused(message) => (ErrorCode::RequestFailed, message),
            Self::Internal(message) => (ErrorCode::InternalError, message),
        };
        let message = mask(&message).into_owned();
        ResponseError { code: code as i32, message, data: None }
    }
}

/// A question about findings that a change interrupts is asked again.
impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Stale
    }
}

/// What a handler answers with.
pub(crate) type Answer<R> = Result<<R as Request>::Result, Failure>;

/// How a request is answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) lane: Lane,
    /// Whether the client asks again when the document changes, so that an answer for what it was is of no use.
    pub(crate) is_volatile: bool,
    answer: fn(&Question, Value) -> Result<Value, Failure>,
}

macro_rules! routes {
    ($($request:ty => $lane:ident $volatile:literal $handler:path;)*) => {
        /// The requests that are answered from snapshots.
        pub(crate) const ROUTES: &[Route] = &[$(Route {
            method: <$request as Request>::METHOD.as_str(),
            lane: Lane::$lane,
            is_volatile: $volatile,
            answer: |question, params| {
                let params = serde_json::from_value(params)
                    .map_err(|error| Failure::Params(error.to_string()))?;
                let result: <$request as Request>::Result = $handler(question, params)?;
                serde_json::to_value(result).map_err(|error| Failure::Internal(error.to_string()))
            },
        }),*];
    };
}

routes! {
    gen_lsp_types::HoverRequest => Quick false hover::hover;
    gen_lsp_types::SignatureHelpRequest => Quick false hover::signature;
    gen_lsp_types::CompletionRequest => Quick false completion::completion;
    gen_lsp_types::CompletionResolveRequest => Quick false completion::resolve;
    gen_lsp_types::DefinitionRequest => Quick false navigate::definition;
    gen_lsp_types::ReferencesRequest => Quick false navigate::references;
    gen_lsp_types::DocumentHighlightRequest => Quick false navigate::highlights;
    gen_lsp_types::DocumentSymbolRequest => Quick false navigate::document_symbols;
    gen_lsp_types::WorkspaceSymbolRequest => Quick false navigate::workspace_symbols;
    gen_lsp_types::CallHierarchyPrepareRequest => Quick false navigate::prepare_calls;
    gen_lsp_types::CallHierarchyIncomingCallsRequest => Quick false navigate::incoming;
    gen_lsp_types::CallHierarchyOutgoingCallsRequest => Quick false navigate::outgoing;
    gen_lsp_types::DocumentLinkRequest => Quick false navigate::links;
    gen_lsp_types::PrepareRenameRequest => Quick false rename::prepare;
    gen_lsp_types::RenameRequest => Quick false rename::rename;
    gen_lsp_types::FoldingRangeRequest => Quick false layout::folding;
    gen_lsp_types::SelectionRangeRequest => Quick false layout::selection;
    gen_lsp_types::DocumentFormattingRequest => Quick false layout::format;
    gen_lsp_types::DocumentRangeFormattingRequest => Quick false layout::format_range;
    gen_lsp_types::SemanticTokensRequest => Quick true tokens::full;
    gen_lsp_types::SemanticTokensDeltaRequest => Quick true tokens::delta;
    gen_lsp_types::SemanticTokensRangeRequest => Quick true tokens::range;
    gen_lsp_types::InlayHintRequest => Quick true hints::hints;
    gen_lsp_types::CodeLensRequest => Findings true hints::lenses;
    gen_lsp_types::CodeActionRequest => Findings false actions::actions;
    gen_lsp_types::ExecuteCommandRequest => Findings false commands::execute;
    gen_lsp_types::TextDocumentContentRequest => Quick false commands::content;
    gen_lsp_types::DocumentDiagnosticRequest => Findings true diagnostics::document;
    gen_lsp_types::WorkspaceDiagnosticRequest => Findings false diagnostics::workspace;
}

/// How a request is answered; `None` if it is not one of those that are answered from a snapshot.
pub(crate) fn route(method: &str) -> Option<Route> {
    ROUTES.iter().find(|route| route.method == method).copied()
}

impl Question {
    /// The answer. A mistake in this program is an answer, too, and does not end the server.
    pub(crate) fn answer(&mut self) -> Result<Value, ResponseError> {
        let params = std::mem::take(&mut self.params);
        let answer = || {
            self.stop.check()?;
            (self.route.answer)(self, params)
        };
        let answer = catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
            Err(Failure::Internal("this is a mistake in agentir; the server goes on".to_owned()))
        });
        answer.map_err(|failure| failure.error(self.route.method))
    }
}
