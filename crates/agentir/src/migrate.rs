//! Migration of documents to newer versions of their language: joins the changes of the language with the rules.

use agentir_diagnostics::{Diagnostic, FileId};
use agentir_expr::Version;
use agentir_lint::Selection;
use agentir_project::{FileResult, LoadedProgram, Member, ProjectManifest, assemble};
use agentir_rewrite::{Migration, RewriteError};
use agentir_syntax::{Detected, ReadOptions};
use std::path::Path;
use std::sync::Arc;

/// Brings a document into a newer version of its language. `from` is the version it is in, found out if not
/// given. What is newer already stays as it is; so do documents of languages without versions.
///
/// # Errors
/// If the document has errors that make its structure doubtful.
pub fn migrate(
    language: Detected,
    file: FileId,
    text: &str,
    from: Option<Version>,
    to: Version,
) -> Result<Migration, RewriteError> {
    agentir_rewrite::migrate(language, file, text, (from, to), &findings)
}

/// What the front end and the rules of these names find in a document.
fn findings(
    language: Detected,
    file: FileId,
    text: &str,
    options: ReadOptions,
    rules: &[&str],
) -> Vec<Diagnostic> {
    let (id, file) = (file, FileResult::of(language, file, text, options));
    let rule_options = Arc::default();
    let (loaded, _) = assemble(
        [Member { id, path: Path::new(""), file: &file, options: &rule_options }],
        ProjectManifest::Absent,
    );
    let select = rules.iter().map(|rule| (*rule).to_owned()).collect();
    let selection = Selection { select, ..Selection::default() };
    let LoadedProgram { program, versions, options, .. } = &loaded;
    let mut found = file.lowered.diagnostics;
    found.extend(agentir_lint::check(program, versions, options, &selection).diagnostics);
    found
}
