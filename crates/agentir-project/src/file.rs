//! One file: parsed and lowered once per content.

use crate::internal_error::guarded;
use agentir_diagnostics::{Diagnostic, FileId, RuleName, Span};
use agentir_ir::{Agent, Tool};
use agentir_lint::SourceText;
use agentir_syntax::{
    Definition, Detected, FileHead, Languages, LoweredFile, MAX_FILE_SIZE, ReadOptions,
};
use std::io;

/// The rule that reports files that cannot be read.
pub const READ_ERROR: RuleName = agentir_syntax::rules::UNREADABLE_FILE;

/// Everything that depends on one file's name, content and options alone: what it defines, and the findings of
/// the front end and of the rules about texts.
#[derive(Debug)]
pub struct FileResult {
    /// The language the file is written in.
    pub language: Detected,
    /// What it defines, and what is wrong with it.
    pub lowered: LoweredFile,
}

impl FileResult {
    /// Parses and lowers a file. `in_program` says that it belongs to a program beside other files, where
    /// settings are known by their names alone.
    #[must_use]
    pub fn new(
        languages: Languages,
        file: FileId,
        name: &str,
        text: &str,
        in_program: bool,
        options: ReadOptions,
    ) -> Self {
        let language = languages.detect_head(&FileHead { name, text, in_program });
        let read = || {
            let lowered = languages.read_detected(language, file, name, text, options);
            Self::with_text_rules(language, lowered, file, text)
        };
        guarded(read).unwrap_or_else(|error| {
            let mut lowered = LoweredFile::nothing(vec![error.finding(file)]);
            lowered.stopped = Some(Span::new(file, 0, 0));
            Self { language, lowered }
        })
    }

    /// Parses and lowers a file of a known language.
    #[must_use]
    pub fn of(language: Detected, file: FileId, text: &str, options: ReadOptions) -> Self {
        let lowered = language.read(file, text, options);
        Self::with_text_rules(language, lowered, file, text)
    }

    fn with_text_rules(
        language: Detected,
        mut lowered: LoweredFile,
        file: FileId,
        text: &str,
    ) -> Self {
        if language.kind.is_plain {
            let (agents, tools) = lowered.definition.as_ref().map(defined).unwrap_or_default();
            let source = SourceText { file, text, agents: &agents, tools: &tools };
            let found = agentir_lint::check_text(&source);
            lowered.diagnostics.extend(found);
        }
        Self { language, lowered }
    }
}

/// The agents of a file, and its tools beside them.
fn defined(definition: &Definition) -> (Vec<&Agent>, Vec<&Tool>) {
    match definition {
        Definition::Agent(agent) => (vec![agent], Vec::new()),
        Definition::Program { agents, tools, .. } => (
            agents.iter().map(|agent| &**agent).collect(),
            tools.iter().flat_map(|library| &library.tools).collect(),
        ),
        Definition::Whole(program) => (
            program.agents().collect(),
            program.libraries.iter().flat_map(|library| &library.tools).collect(),
        ),
        Definition::Tools(library) => (Vec::new(), library.tools.iter().collect()),
        Definition::Profile(_) | Definition::Settings(_) => (Vec::new(), Vec::new()),
    }
}

/// The text of a file, and the finding if it is not readable text. An unreadable file has no text; one that
/// is not UTF-8 keeps what can be shown of it.
pub(crate) fn decode(bytes: io::Result<Vec<u8>>) -> (String, Option<(RuleName, u32, String)>) {
    match bytes {
        // Only its beginning was read, which says nothing about the file.
        Ok(bytes) if bytes.len() > MAX_FILE_SIZE => {
            let message =
                format!("this file is larger than {} MB and was not read", MAX_FILE_SIZE >> 20);
            (String::new(), Some((READ_ERROR, 0, message)))
        }
        Ok(bytes) if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) => {
            let message = "this file is UTF-16 text: save it as UTF-8".to_owned();
            (String::new(), Some((agentir_syntax::rules::NOT_TEXT, 0, message)))
        }
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let at = u32::try_from(error.utf8_error().valid_up_to()).unwrap_or(u32::MAX);
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let message = "this file is not UTF-8 text from here on".to_owned();
                (text, Some((agentir_syntax::rules::NOT_TEXT, at, message)))
            }
        },
        Err(error) => {
            let message = format!("this file cannot be read: {error}");
            (String::new(), Some((READ_ERROR, 0, message)))
        }
    }
}

/// The finding that [`decode`] describes.
pub(crate) fn problem(id: FileId, (rule, at, message): (RuleName, u32, String)) -> Diagnostic {
    Diagnostic::error(rule, Span::new(id, at, at), message)
}
