//! Semantic tokens.

use super::{Answer, Question};
use crate::view::{Sent, View};
use agentir::TokenKind;
use agentir::diagnostics::{FileId, SourceFile, Span};
use agentir::references::SymbolKind;
use gen_lsp_types::{
    SemanticToken, SemanticTokens, SemanticTokensDelta, SemanticTokensDeltaParams,
    SemanticTokensDeltaRequest, SemanticTokensDeltaResponse, SemanticTokensEdit,
    SemanticTokensParams, SemanticTokensRangeParams, SemanticTokensRangeRequest,
    SemanticTokensRequest, Uri,
};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::PoisonError;

/// The types of tokens: the protocol's, so that every theme has colours for them.
pub(crate) const TYPES: [&str; 14] = [
    "comment",
    "keyword",
    "class",
    "variable",
    "event",
    "function",
    "parameter",
    "property",
    "macro",
    "interface",
    "struct",
    "enum",
    "string",
    "number",
];

/// What is said of tokens beside their type, each a bit.
pub(crate) const MODIFIERS: [&str; 4] =
    ["declaration", "modification", "defaultLibrary", "readonly"];

const DECLARATION: u32 = 1;
const MODIFICATION: u32 = 2;
const LIBRARY: u32 = 4;
const READONLY: u32 = 8;

const fn type_of(kind: TokenKind) -> (u32, u32) {
    match kind {
        TokenKind::Comment => (0, 0),
        TokenKind::Key => (1, 0),
        TokenKind::Constant => (1, READONLY),
        TokenKind::Function => (5, LIBRARY),
        TokenKind::String => (12, 0),
        TokenKind::Number => (13, 0),
        TokenKind::Name(kind) => match kind {
            SymbolKind::Agent | SymbolKind::Alias => (2, 0),
            SymbolKind::Variable => (3, 0),
            SymbolKind::Step => (4, 0),
            SymbolKind::Tool => (5, 0),
            SymbolKind::Parameter => (6, 0),
            SymbolKind::ResultField => (7, 0),
            SymbolKind::Template => (8, 0),
            SymbolKind::Profile => (9, 0),
            SymbolKind::Entity => (10, 0),
            SymbolKind::LookupTable => (11, 0),
        },
    }
}

impl Sent {
    /// Forgets a document.
    pub(crate) fn forget(&self, uri: &Uri) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// Keeps what a client is sent, and returns what it had.
    fn replace(
        &self,
        uri: Uri,
        id: String,
        tokens: Vec<SemanticToken>,
    ) -> Option<(String, Vec<SemanticToken>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uri, (id, tokens))
    }
}

/// The tokens in a part of a document, each relative to the one before.
fn tokens(
    view: &View,
    file: FileId,
    source: &SourceFile,
    part: Option<Span>,
) -> Vec<SemanticToken> {
    let mut encoded = Vec::new();
    let (mut line, mut character) = (0, 0);
    for token in view.snapshot.tokens(file) {
        if part.is_some_and(|part| token.span.end <= part.start || part.end <= token.span.start) {
            continue;
        }
        let range = view.range(source, token.span);
        let (token_type, mut bits) = type_of(token.kind);
        if token.is_definition {
            bits |= DECLARATION;
        }
        if token.is_write {
            bits |= MODIFICATION;
        }
        let start = range.start;
        encoded.push(SemanticToken {
            delta_line: start.line - line,
            delta_start: if start.line == line {
                start.character - character
            } else {
                start.character
            },
            length: range.end.character.saturating_sub(start.character),
            token_type,
            token_modifiers_bitset: bits,
        });
        (line, character) = (start.line, start.character);
    }
    encoded
}

fn name_of(tokens: &[SemanticToken]) -> String {
    let mut hasher = FxHasher::default();
    for token in tokens {
        numbers(token).hash(&mut hasher);
    }
    format!("{}-{:x}", tokens.len(), hasher.finish())
}

const fn numbers(token: &SemanticToken) -> [u32; 5] {
    let SemanticToken { delta_line, delta_start, length, token_type, token_modifiers_bitset } =
        *token;
    [delta_line, delta_start, length, token_type, token_modifiers_bitset]
}

/// All tokens of a document.
pub(crate) fn full(
    question: &Question,
    params: SemanticTokensParams,
) -> Answer<SemanticTokensRequest> {
    let view = &question.view;
    let uri = params.text_document.uri;
    let Some((file, source)) = view.file(&uri) else { return Ok(None) };
    let data = tokens(view, file, source, None);
    let id = name_of(&data);
    view.sent.replace(uri, id.clone(), data.clone());
    Ok(Some(SemanticTokens { result_id: Some(id), data }))
}

/// The tokens of some lines.
pub(crate) fn range(
    question: &Question,
    params: SemanticTokensRangeParams,
) -> Answer<SemanticTokensRangeRequest> {
    let view = &question.view;
    let Some((file, source)) = view.file(&params.text_document.uri) else { return Ok(None) };
    let part = view.span(file, source, params.range);
    Ok(Some(SemanticTokens { result_id: None, data: tokens(view, file, source, Some(part)) }))
}

/// What is different from the tokens that the client has.
pub(crate) fn delta(
    question: &Question,
    params: SemanticTokensDeltaParams,
) -> Answer<SemanticTokensDeltaRequest> {
    let view = &question.view;
    let uri = params.text_document.uri;
    let Some((file, source)) = view.file(&uri) else { return Ok(None) };
    let data = tokens(view, file, source, None);
    let id = name_of(&data);
    let before = view.sent.replace(uri, id.clone(), data.clone());
    let before = before.filter(|(known, _)| *known == params.previous_result_id);
    let Some((_, before)) = before else {
        let all = SemanticTokens { result_id: Some(id), data };
        return Ok(Some(SemanticTokensDeltaResponse::SemanticTokens(all)));
    };
    let edits = difference(&before, &data).into_iter().collect();
    let delta = SemanticTokensDelta { result_id: Some(id), edits };
    Ok(Some(SemanticTokensDeltaResponse::SemanticTokensDelta(delta)))
}

/// The edit that makes some tokens of others.
fn difference(before: &[SemanticToken], now: &[SemanticToken]) -> Option<SemanticTokensEdit> {
    let same = |(one, other): &(&SemanticToken, &SemanticToken)| numbers(one) == numbers(other);
    let start = before.iter().zip(now).take_while(same).count();
    let most = before.len().min(now.len()) - start;
    let end = before.iter().rev().zip(now.iter().rev()).take(most).take_while(same).count();
    let removed = before.len() - end - start;
    let added = now.get(start..now.len() - end).unwrap_or_default();
    let size = |tokens: usize| u32::try_from(tokens * 5).unwrap_or(u32::MAX);
    (removed > 0 || !added.is_empty()).then(|| SemanticTokensEdit {
        start: size(start),
        delete_count: size(removed),
        data: Some(added.iter().flat_map(numbers).collect()),
    })
}
