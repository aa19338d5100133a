//! AgentIR as a language that programs are read from.

use crate::document::{Document, is_agent_ir, is_agent_ir_name, read};
use crate::reader::Parsers;
use agentir_diagnostics::FileId;
use agentir_expr::Dialect;
use agentir_expr::dialect::NONE;
use agentir_syntax::context::NameKind;
use agentir_syntax::names::NameProblem;
use agentir_syntax::{
    Claim, Confidence, Definition, FileHead, FileKind, Language, LoweredFile, ProgramLayout,
    ReadOptions,
};

/// AgentIR in JSON.
#[derive(Debug)]
pub struct AgentIr {
    /// The parsers of texts.
    pub parsers: Parsers,
}

/// A document: a whole program, or one agent.
pub static DOCUMENT: FileKind = FileKind {
    name: "agentir",
    title: "AgentIR",
    notation: None,
    comments: None,
    is_companion: false,
    is_plain: true,
    migration: None,
};

impl Language for AgentIr {
    fn id(&self) -> &'static str {
        "agentir"
    }

    fn title(&self) -> &'static str {
        "AgentIR"
    }

    /// None: each agent says which one it has.
    fn dialect(&self) -> Dialect {
        NONE
    }

    fn detect(&self, file: &FileHead<'_>) -> Option<(Confidence, &'static FileKind)> {
        is_agent_ir(file.name, file.text).then_some((Confidence::Certain, &DOCUMENT))
    }

    fn kind_of(&self, _: &str, _: &str) -> &'static FileKind {
        &DOCUMENT
    }

    fn read(&self, _: &'static FileKind, file: FileId, text: &str, _: ReadOptions) -> LoweredFile {
        let mut diagnostics = Vec::new();
        if let Some(problem) = agentir_syntax::lower::not_text(file, text) {
            return LoweredFile::nothing(vec![problem]);
        }
        let document = read(file, text, &self.parsers, &mut diagnostics);
        let Document { program, origins, gaps, partial, stopped } = document;
        let definition = Some(Definition::Whole(Box::new(program)));
        LoweredFile {
            definition,
            diagnostics,
            stopped,
            gaps,
            partial,
            origins,
            ..LoweredFile::default()
        }
    }

    fn name_problem(
        &self,
        _kind: &'static FileKind,
        _what: NameKind,
        name: &str,
    ) -> Option<NameProblem> {
        name.is_empty().then_some(NameProblem::WORD)
    }

    fn claim(&self, name: &[u8]) -> Claim {
        match std::str::from_utf8(name) {
            Ok(name) if is_agent_ir_name(name) => Claim::ByName,
            _ => Claim::No,
        }
    }

    fn layout(&self) -> ProgramLayout {
        ProgramLayout::File
    }
}
