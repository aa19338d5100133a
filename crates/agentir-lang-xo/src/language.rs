//! The export as the rest of the program sees it: a language that is only read.

use crate::dialect::{ID, TITLE};
use crate::{FILE_NAMES, SETTINGS, archive, is_xo, json, losses, lower, parse};
use agentir_diagnostics::FileId;
use agentir_expr::Dialect;
use agentir_syntax::context::NameKind;
use agentir_syntax::emit::LossRule;
use agentir_syntax::lower::not_text;
use agentir_syntax::names::NameProblem;
use agentir_syntax::{
    Claim, Confidence, Definition, FileHead, FileKind, InlineParsers, Language, LoweredFile,
    Package, PackageError, ProgramLayout, ReadOptions,
};
use std::io::Cursor;

/// Bot exports of Kore.ai XO.
#[derive(Debug)]
pub struct Xo {
    /// The parsers of the language that expressions and texts are translated to.
    pub parsers: &'static InlineParsers,
    /// The dialect of that language. Settings that only it has are its extensions.
    pub base: Dialect,
    /// The dialect of exports: with the [`tables`](crate::dialect::tables) made of those of that language.
    pub dialect: Dialect,
}

/// The definition of a bot.
pub static EXPORT_FILE: FileKind = kind(ID, "exports of Kore.ai XO", false);

/// The settings beside the definition of a bot (`config.json`).
pub static SETTINGS_FILE: FileKind = kind("kore-xo-settings", "settings of Kore.ai XO", true);

/// Exports are searched for credentials when they are lowered, decoded.
const fn kind(name: &'static str, title: &'static str, is_companion: bool) -> FileKind {
    FileKind {
        name,
        title,
        notation: None,
        comments: None,
        is_companion,
        is_plain: false,
        migration: None,
    }
}

impl Language for Xo {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn detect(&self, file: &FileHead<'_>) -> Option<(Confidence, &'static FileKind)> {
        if is_xo(file.name, file.text) {
            Some((Confidence::Certain, &EXPORT_FILE))
        } else if file.in_program && file.file_name() == SETTINGS {
            Some((Confidence::Certain, &SETTINGS_FILE))
        } else {
            None
        }
    }

    fn kind_of(&self, _name: &str, _text: &str) -> &'static FileKind {
        &EXPORT_FILE
    }

    fn read(
        &self,
        kind: &'static FileKind,
        file: FileId,
        text: &str,
        _options: ReadOptions,
    ) -> LoweredFile {
        let mut diagnostics = Vec::new();
        if let Some(problem) = not_text(file, text) {
            return LoweredFile::nothing(vec![problem]);
        }
        let definition = if *kind == SETTINGS_FILE {
            json::parse(file, text, &crate::FORMAT, &mut diagnostics)
                .map(|root| Definition::Settings(lower::settings(&root, &mut diagnostics)))
        } else {
            parse(file, text, &mut diagnostics)
                .map(|root| lower::lower(&root, text, self, &mut diagnostics))
        };
        match definition {
            Some(definition) => LoweredFile::new(definition, diagnostics),
            None => LoweredFile::nothing(diagnostics),
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
        let is_archive =
            name.last_chunk().is_some_and(|end: &[u8; 4]| end.eq_ignore_ascii_case(b".zip"));
        match FILE_NAMES.iter().any(|known| known.as_bytes() == name) {
            true => Claim::ByName,
            false if is_archive => Claim::Package(archive::has_bot),
            false => Claim::No,
        }
    }

    fn layout(&self) -> ProgramLayout {
        ProgramLayout::WithSettings { settings: SETTINGS }
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Result<Package, PackageError>> {
        let read = || archive::read(Cursor::new(bytes)).map_err(PackageError::from);
        archive::is_zip(bytes).then(read)
    }

    fn extension_losses(&self) -> &'static [&'static [LossRule]] {
        losses::LOSSES
    }
}
