//! What a request is answered from: a snapshot of the workspace, and how the client speaks of it.

use crate::client::Client;
use crate::documents::{BYTE_ORDER_MARK, Document, Documents};
use crate::settings::Settings;
use crate::uri;
use agentir::Snapshot;
use agentir::diagnostics::{self as base, FileId, SourceFile, Span};
use agentir_secrets::Masker;
use gen_lsp_types::{
    DocumentChange, Edit, Location, OptionalVersionedTextDocumentIdentifier, Position, Range,
    SemanticToken, TextDocumentEdit, TextDocumentIdentifier, TextEdit, Uri, WorkspaceEdit,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The size of a program in bytes from which on what reading it finds is shown before rules run.
const LARGE: usize = 60_000;

/// The tokens that clients have, by document: the name of the result, and its numbers.
#[derive(Debug, Default)]
pub(crate) struct Sent(pub(crate) Mutex<FxHashMap<Uri, (String, Vec<SemanticToken>)>>);

/// A snapshot with the documents that were open in it.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) snapshot: Snapshot,
    pub(crate) documents: Arc<Documents>,
    /// The ids of the files, by their paths.
    pub(crate) files: Arc<FxHashMap<PathBuf, FileId>>,
    pub(crate) client: Client,
    pub(crate) settings: Arc<Settings>,
    /// The folders of the workspace.
    pub(crate) folders: Arc<[PathBuf]>,
    /// The commands that the client has.
    pub(crate) commands: Arc<[String]>,
    /// The tokens that the client has.
    pub(crate) sent: Arc<Sent>,
    /// What masks the secrets of programs, as far as it was asked for.
    pub(crate) maskers: Arc<Maskers>,
}

/// What masks the secrets of programs: by the first of their files, and whether they were checked, which may find more.
#[derive(Debug, Default)]
pub(crate) struct Maskers(Mutex<FxHashMap<(FileId, bool), Arc<Masker>>>);

impl View {
    /// Whether what reading a file finds is shown before rules run on it.
    pub(crate) fn is_large(&self, file: FileId) -> bool {
        let files = self.snapshot.checked_with(file).iter();
        let files = files.filter_map(|file| self.snapshot.sources().get(*file));
        files.map(|file| file.text.len()).sum::<usize>() > LARGE
    }

    /// The file of a document, if it is a part of the workspace.
    pub(crate) fn file(&self, uri: &Uri) -> Option<(FileId, &SourceFile)> {
        let file = match self.documents.get(uri) {
            Some(document) => self.files.get(&document.path)?,
            None => self.files.get(&uri::path_of(uri)?)?,
        };
        self.snapshot.sources().get(*file).map(|source| (*file, source))
    }

    /// The file and the offset of a position in a document.
    pub(crate) fn place(&self, uri: &Uri, position: Position) -> Option<(FileId, u32)> {
        let (file, source) = self.file(uri)?;
        Some((file, self.offset(source, position)))
    }

    /// What masks the secrets of a program in what is said of one of its files. The client has the file, but what is said
    /// of it also goes to logs and other programs.
    pub(crate) fn masker(&self, file: FileId) -> Arc<Masker> {
        let first = self.snapshot.checked_with(file).first().copied().unwrap_or(file);
        let key = (first, self.snapshot.is_checked(file));
        let known = || self.maskers.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(masker) = known().get(&key) {
            return Arc::clone(masker);
        }
        let masker = Arc::new(self.snapshot.masker(file));
        known().insert(key, Arc::clone(&masker));
        masker
    }

    /// The open document of a file.
    pub(crate) fn document(&self, source: &SourceFile) -> Option<&Document> {
        self.documents.at(Path::new(&*source.name))
    }

    /// What the client calls a file.
    pub(crate) fn uri(&self, source: &SourceFile) -> Option<Uri> {
        match self.document(source) {
            Some(document) => Some(document.uri.clone()),
            None => uri::uri_of(Path::new(&*source.name)),
        }
    }

    /// The columns that the client counts before the text of a file: those of a byte order mark that it keeps.
    fn mark(&self, source: &SourceFile) -> u32 {
        if !source.text.starts_with(BYTE_ORDER_MARK) || self.document(source).is_none() {
            return 0;
        }
        match self.client.encoding {
            base::PositionEncoding::Utf8 => 3,
            base::PositionEncoding::Utf16 | base::PositionEncoding::Utf32 => 1,
        }
    }

    pub(crate) fn offset(&self, source: &SourceFile, position: Position) -> u32 {
        let mark = if position.line == 0 { self.mark(source) } else { 0 };
        let position = base::Position {
            line: position.line,
            character: position.character.saturating_sub(mark),
        };
        source.offset(position, self.client.encoding)
    }

    pub(crate) fn position(&self, source: &SourceFile, offset: u32) -> Position {
        let base::Position { line, character } = source.position(offset, self.client.encoding);
        let mark = if line == 0 { self.mark(source) } else { 0 };
        Position { line, character: character + mark }
    }

    pub(crate) fn range(&self, source: &SourceFile, span: Span) -> Range {
        let start = self.position(source, span.start);
        let end = self.position(source, span.end.max(span.start));
        Range { start, end }
    }

    pub(crate) fn span(&self, file: FileId, source: &SourceFile, range: Range) -> Span {
        let start = self.offset(source, range.start);
        Span::new(file, start, self.offset(source, range.end).max(start))
    }

    /// Where a span is.
    pub(crate) fn location(&self, span: Span) -> Option<Location> {
        let source = self.snapshot.sources().get(span.file)?;
        Some(Location { uri: self.uri(source)?, range: self.range(source, span) })
    }

    /// Edits of any files.
    pub(crate) fn workspace_edit(&self, edits: &[base::Edit]) -> WorkspaceEdit {
        let mut by_file: BTreeMap<FileId, Vec<TextEdit>> = BTreeMap::new();
        for edit in edits {
            let Some(source) = self.snapshot.sources().get(edit.span.file) else { continue };
            let range = self.range(source, edit.span);
            let text = TextEdit { range, new_text: edit.text.clone() };
            by_file.entry(edit.span.file).or_default().push(text);
        }
        let files = by_file.into_iter().filter_map(|(file, edits)| {
            let source = self.snapshot.sources().get(file)?;
            Some((self.uri(source)?, self.document(source).map(|d| d.version), edits))
        });
        if self.client.document_changes {
            let changes = files.map(|(uri, version, edits)| {
                let text_document_identifier = TextDocumentIdentifier { uri };
                DocumentChange::TextDocumentEdit(TextDocumentEdit {
                    text_document: OptionalVersionedTextDocumentIdentifier {
                        version,
                        text_document_identifier,
                    },
                    edits: edits.into_iter().map(Edit::TextEdit).collect(),
                })
            });
            return WorkspaceEdit {
                document_changes: Some(changes.collect()),
                ..WorkspaceEdit::default()
            };
        }
        let changes: HashMap<Uri, Vec<TextEdit>> =
            files.map(|(uri, _, edits)| (uri, edits)).collect();
        WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
    }
}
