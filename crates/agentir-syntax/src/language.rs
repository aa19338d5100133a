//! The trait that a language implements, and the list of languages that a program knows.

use crate::code::{CodeName, CodeReference, CodeUses};
use crate::context::{Context, NameKind};
use crate::docs::{Docs, Documented};
use crate::emit::{Emitter, LossRule, Target};
use crate::inline::InlineText;
use crate::line_layout::Notation;
use crate::lowered::{LoweredFile, ReadOptions};
use crate::migrate::Migration;
use crate::names::NameProblem;
use crate::rules;
use agentir_diagnostics::{Diagnostic, FileId, Span};
use agentir_expr::dialect::NONE;
use agentir_expr::{Condition, Dialect, Template};
use std::fmt;

/// A language: everything that the rest of the program asks about one. There is one static value per language.
pub trait Language: Sync {
    /// Its name in data: in the metadata of agents, and in the extensions of the IR.
    fn id(&self) -> &'static str;

    /// Its name in prose.
    fn title(&self) -> &'static str;

    /// The names that editors have for it, each with what the names of such files end in.
    fn editor_names(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The dialect of its agents: their semantics, and how messages speak of them. [`NONE`] if documents say it.
    fn dialect(&self) -> Dialect;

    /// The names of its variants, which a document or [`ReadOptions::variant`] chooses from.
    fn variants(&self) -> &'static [&'static str] {
        &[]
    }

    /// The kind that a file is taken for, by its name and its content; `None` if it is not of this language.
    fn detect(&self, file: &FileHead<'_>) -> Option<(Confidence, &'static FileKind)>;

    /// The kind of a file that nothing but the language is known of.
    fn kind_of(&self, name: &str, text: &str) -> &'static FileKind;

    /// Parses and lowers a file of one of its kinds.
    fn read(
        &self,
        kind: &'static FileKind,
        file: FileId,
        text: &str,
        options: ReadOptions,
    ) -> LoweredFile;

    /// What stands at an offset of a file of one of its kinds, and what may be written there; half-written text is
    /// understood. `None` if the offset is outside of the text or in a comment, or if nothing is known of it. Spans are
    /// of [`FileId`] 0.
    fn context(
        &self,
        _kind: &'static FileKind,
        _text: &str,
        _offset: u32,
        _options: ReadOptions,
    ) -> Option<Context> {
        None
    }

    /// What the words of the language are for, and where they are specified.
    fn docs(&self) -> Option<&'static Docs> {
        None
    }

    /// All words of the language, with what is said of them: the fields of its records, their values, and what belongs
    /// to no record.
    fn reference(&self) -> Vec<Documented> {
        Vec::new()
    }

    /// Why a text cannot be the name of something in a file of one of its kinds; `None` if it can be.
    fn name_problem(
        &self,
        kind: &'static FileKind,
        what: NameKind,
        name: &str,
    ) -> Option<NameProblem>;

    /// Where the code of a file uses the name of a tool or of its parameter, and whether a new name is free there.
    /// Nothing for files without code.
    fn code_uses(
        &self,
        _kind: &'static FileKind,
        _text: &str,
        _name: CodeName<'_>,
        _new: &str,
    ) -> CodeUses {
        CodeUses::default()
    }

    /// What the code of a file refers to of the tools that it implements, as far as that is certain. Nothing for files
    /// without code.
    fn code_references(&self, _kind: &'static FileKind, _text: &str) -> Vec<CodeReference> {
        Vec::new()
    }

    /// Whether a file in a folder that is searched is taken for one of the language, by its name. The name is that in
    /// the folder, in the encoding of the system.
    fn claim(&self, name: &[u8]) -> Claim;

    /// How its files make up programs.
    fn layout(&self) -> ProgramLayout;

    /// How its agents are written in YAML, if they may be.
    fn yaml(&self) -> Option<YamlForm> {
        None
    }

    /// The files of a package, if bytes are one of the language.
    ///
    /// # Errors
    /// If it is damaged, too large, or contains nothing of the language.
    fn unpack(&self, _bytes: &[u8]) -> Option<Result<Package, PackageError>> {
        None
    }

    /// How programs are written in it: an emitter for each form of the language. None for a language that is only read.
    fn emitters(&self) -> &'static [&'static dyn Emitter] {
        &[]
    }

    /// What becomes of its extensions, data that the IR has no field for, in any other language: most specific rows
    /// first.
    fn extension_losses(&self) -> &'static [&'static [LossRule]] {
        &[]
    }

    /// The parsers of its inline languages, if other languages are translated to it.
    fn inline_parsers(&self) -> Option<&'static InlineParsers> {
        None
    }
}

/// A file, as far as its language depends on it.
#[derive(Debug, Clone, Copy)]
pub struct FileHead<'a> {
    /// Its name or path.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whether it belongs to a program beside other files: the names of settings, which mean nothing for a file that
    /// stands alone, are enough then.
    pub in_program: bool,
}

impl<'a> FileHead<'a> {
    /// The name in its folder.
    #[must_use]
    pub fn file_name(&self) -> &'a str {
        self.name.rsplit(['/', '\\']).next().unwrap_or(self.name)
    }
}

/// How sure a language is of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The name or the content speaks for it.
    Likely,
    /// Nothing else is called so or looks like it.
    Certain,
}

/// A kind of file: agents in one notation of a language, or what belongs to its programs beside them.
pub struct FileKind {
    /// Its name.
    pub name: &'static str,
    /// What such files are called in messages, where their language does not say it.
    pub title: &'static str,
    /// The notation, for what is laid out in lines of ours; the formatter needs it.
    pub notation: Option<Notation>,
    /// The comments, for what is not.
    pub comments: Option<fn(FileId, &str) -> Vec<Span>>,
    /// Whether such a file only belongs to agents, and defines none.
    pub is_companion: bool,
    /// Whether the text as written is searched for credentials. If not, reading the file does that.
    pub is_plain: bool,
    /// The changes between versions of the language.
    pub migration: Option<&'static dyn Migration>,
}

impl FileKind {
    /// Agents in a notation, as text, without versions.
    #[must_use]
    pub const fn agents(name: &'static str, title: &'static str, notation: Notation) -> Self {
        let notation = Some(notation);
        Self {
            name,
            title,
            notation,
            comments: None,
            is_companion: false,
            is_plain: true,
            migration: None,
        }
    }
}

impl fmt::Debug for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for FileKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FileKind {}

/// Whether a file in a folder is taken for one of a language.
#[derive(Debug, Clone, Copy)]
pub enum Claim {
    /// It is not.
    No,
    /// By its name.
    ByName,
    /// If its content speaks for it, which this function tells by name and content: most files of such names are
    /// something else.
    ByContent(fn(&str, &str) -> bool),
    /// If it is a package of the language, which this function tells by its bytes. It is a program of its own.
    Package(fn(&[u8]) -> bool),
}

/// How the files of a language make up programs.
#[derive(Debug, Clone, Copy)]
pub enum ProgramLayout {
    /// Each file is a program.
    File,
    /// All files below a manifest are one program, otherwise those of one folder.
    Folder {
        /// The subfolders that belong to the folder above them.
        parts: &'static [&'static str],
    },
    /// A file is a program with the companions in its folder.
    WithCompanions {
        /// Whether a file is a companion, by its name in the folder.
        is_companion: fn(&[u8]) -> bool,
        /// The stem of a file that stands for its whole folder.
        folder_stem: &'static str,
    },
    /// A file is a program with the settings beside it.
    WithSettings {
        /// The name of the settings.
        settings: &'static str,
    },
}

/// Agents in YAML, which is the notation of several languages and of much else.
#[derive(Debug, Clone, Copy)]
pub struct YamlForm {
    /// Whether a document describes an agent of the language, by its name and content.
    pub is_agent: fn(&str, &str) -> bool,
    /// How an agent is recognized, as part of a message.
    pub hint: &'static str,
}

/// The files of a package.
#[derive(Debug, Default)]
pub struct Package {
    /// The files that are read: their names in the package, and their bytes.
    pub files: Vec<(String, Vec<u8>)>,
    /// The names of the other files, in order.
    pub others: Vec<String>,
}

/// Why a package was not read.
pub type PackageError = Box<dyn std::error::Error + Send + Sync>;

/// Parsers of inline languages.
#[derive(Debug, Clone, Copy)]
pub struct InlineParsers {
    /// Parses a text with placeholders.
    pub template: fn(InlineText<'_>, &mut Vec<Diagnostic>) -> Template,
    /// Parses a condition; it is only an expression if the flag is set, and never natural language.
    pub condition: fn(InlineText<'_>, bool, &mut Vec<Diagnostic>) -> Condition,
    /// Whether a word has a meaning in expressions or actions, so that nothing should be called so.
    pub is_word: fn(&str) -> bool,
}

/// What a file was detected to be: a kind of file of a language.
#[derive(Clone, Copy)]
pub struct Detected {
    /// The language.
    pub language: &'static dyn Language,
    /// The kind of file.
    pub kind: &'static FileKind,
}

impl Detected {
    /// Parses and lowers a file of this kind.
    #[must_use]
    pub fn read(&self, file: FileId, text: &str, options: ReadOptions) -> LoweredFile {
        self.language.read(self.kind, file, text, options)
    }
}

impl fmt::Debug for Detected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind.name, self.language.id())
    }
}

impl PartialEq for Detected {
    fn eq(&self, other: &Self) -> bool {
        self.language.id() == other.language.id() && self.kind == other.kind
    }
}

impl Eq for Detected {}

/// The languages that a program knows.
#[derive(Clone, Copy)]
pub struct Languages {
    fallback: &'static dyn Language,
    all: &'static [&'static dyn Language],
}

impl fmt::Debug for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(Language::id)).finish()
    }
}

impl Languages {
    /// These languages. `fallback`, one of them, is the language of files that none of them detects.
    #[must_use]
    pub const fn new(
        fallback: &'static dyn Language,
        all: &'static [&'static dyn Language],
    ) -> Self {
        Self { fallback, all }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Language> + use<> {
        self.all.iter().copied()
    }

    /// The language with this [`Language::id`].
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&'static dyn Language> {
        self.iter().find(|language| language.id() == id)
    }

    /// Their dialects, in order. A language whose documents say the dialect of each agent has none of its own.
    pub fn dialects(&self) -> impl Iterator<Item = Dialect> + use<> {
        self.iter().map(Language::dialect).filter(|dialect| *dialect != NONE)
    }

    /// The dialect with this id.
    #[must_use]
    pub fn dialect(&self, id: &str) -> Option<Dialect> {
        self.dialects().find(|known| known.id() == id)
    }

    /// The targets of conversions, in order.
    pub fn targets(&self) -> impl Iterator<Item = Target> + use<> {
        self.iter().flat_map(|language| language.emitters()).map(|emitter| Target(*emitter))
    }

    /// What a file that stands alone is, by its name and its content.
    #[must_use]
    pub fn detect(&self, name: &str, text: &str) -> Detected {
        self.detect_head(&FileHead { name, text, in_program: false })
    }

    /// What a file is, by its name and its content.
    #[must_use]
    pub fn detect_head(&self, file: &FileHead<'_>) -> Detected {
        let mut best: Option<(Confidence, Detected)> = None;
        for language in self.iter() {
            if let Some((confidence, kind)) = language.detect(file)
                && best.is_none_or(|(so_far, _)| confidence > so_far)
            {
                best = Some((confidence, Detected { language, kind }));
                if confidence == Confidence::Certain {
                    break;
                }
            }
        }
        let fallback = || {
            let kind = self.fallback.kind_of(file.name, file.text);
            Detected { language: self.fallback, kind }
        };
        best.map_or_else(fallback, |(_, detected)| detected)
    }

    /// Parses and lowers a file of any language, by its name and its content.
    #[must_use]
    pub fn read(&self, file: FileId, name: &str, text: &str, options: ReadOptions) -> LoweredFile {
        self.read_detected(self.detect(name, text), file, name, text, options)
    }

    /// Parses and lowers a file that was detected. YAML that describes no agent is reported as such.
    #[must_use]
    pub fn read_detected(
        &self,
        detected: Detected,
        file: FileId,
        name: &str,
        text: &str,
        options: ReadOptions,
    ) -> LoweredFile {
        let whole = !detected.kind.is_companion && !options.fragment;
        match self.no_agent(file, name, text).filter(|_| whole) {
            Some(problem) => LoweredFile::nothing(vec![problem]),
            None => detected.read(file, text, options),
        }
    }

    /// What to say of a YAML or JSON file that was named and holds no agent of any language.
    #[must_use]
    pub fn no_agent(&self, file: FileId, name: &str, text: &str) -> Option<Diagnostic> {
        if name.ends_with(".json") {
            let head = FileHead { name, text, in_program: false };
            let is_known = self.iter().any(|language| language.detect(&head).is_some());
            let message = "this JSON file does not describe an agent";
            let problem = Diagnostic::error(rules::SYNTAX, Span::new(file, 0, 0), message)
                .note("AgentIR has `ir_version` and `metadata`, or `version`, `agents` and their `metadata`");
            return (!is_known).then_some(problem);
        }
        if !name.ends_with(".yaml") && !name.ends_with(".yml") {
            return None;
        }
        let forms: Vec<YamlForm> = self.iter().filter_map(|language| language.yaml()).collect();
        if forms.iter().any(|form| (form.is_agent)(name, text)) {
            return None;
        }
        let hints: Vec<&str> = forms.iter().map(|form| form.hint).collect();
        let message = "this YAML file does not describe an agent";
        Some(
            Diagnostic::error(rules::SYNTAX, Span::new(file, 0, 0), message)
                .note(hints.join("; "))
                .help("pass the file that describes the agents, or its folder"),
        )
    }

    /// The files of a package of one of the languages, and that language.
    ///
    /// # Errors
    /// If it is damaged, too large, or contains nothing of the language.
    pub fn unpack(
        &self,
        bytes: &[u8],
    ) -> Option<(&'static dyn Language, Result<Package, PackageError>)> {
        self.iter().find_map(|language| Some((language, language.unpack(bytes)?)))
    }
}
