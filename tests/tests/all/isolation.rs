//! A mistake of ours in one file costs that file, not the others of the run.

use agentir_diagnostics::FileId;
use agentir_expr::dialect::Dialect;
use agentir_lang_abl::{ABL, Options};
use agentir_project::read_program;
use agentir_syntax::context::NameKind;
use agentir_syntax::names::NameProblem;
use agentir_syntax::{
    Claim, Confidence, FileHead, FileKind, Language, Languages, LoweredFile, ProgramLayout,
    ReadOptions,
};
use agentir_tests::check::run_rules;

/// ABL, by a reader that panics at a word.
struct Fragile;

impl Language for Fragile {
    fn id(&self) -> &'static str {
        ABL.id()
    }
    fn title(&self) -> &'static str {
        ABL.title()
    }
    fn dialect(&self) -> Dialect {
        ABL.dialect()
    }
    fn detect(&self, file: &FileHead<'_>) -> Option<(Confidence, &'static FileKind)> {
        ABL.detect(file)
    }
    fn kind_of(&self, name: &str, text: &str) -> &'static FileKind {
        ABL.kind_of(name, text)
    }
    fn read(
        &self,
        kind: &'static FileKind,
        file: FileId,
        text: &str,
        options: ReadOptions,
    ) -> LoweredFile {
        assert!(!text.contains("straw"), "too much");
        ABL.read(kind, file, text, options)
    }
    fn name_problem(
        &self,
        kind: &'static FileKind,
        what: NameKind,
        name: &str,
    ) -> Option<NameProblem> {
        ABL.name_problem(kind, what, name)
    }
    fn claim(&self, name: &[u8]) -> Claim {
        ABL.claim(name)
    }
    fn layout(&self) -> ProgramLayout {
        ABL.layout()
    }
}

#[test]
fn a_file_whose_reading_fails_is_one_finding() {
    let languages = Languages::new(&Fragile, &[&Fragile]);
    let files = [
        ("camel.abl", "AGENT: Camel\nGOAL: \"Carry straw\"\n"),
        (
            "horse.abl",
            "AGENT: Horse\nGOAL: \"Carry {{rider}}\"\nHANDOFF:\n  - TO: Camel\n    WHEN: true\n",
        ),
    ];
    let loaded = read_program(languages, files, ReadOptions::default());
    let checked = run_rules(loaded, Options::default());
    insta::assert_snapshot!(checked.lines().join("\n"));
    let helps =
        checked.diagnostics.iter().filter(|d| d.rule.0 == "internal-error").flat_map(|d| &d.help);
    insta::assert_debug_snapshot!(helps.collect::<Vec<_>>());
}
