//! Assembly: from the results of files to a program.

use crate::file::FileResult;
use crate::references;
use agentir_diagnostics::{Diagnostic, FileId, SourceFile, Span, Spanned};
use agentir_expr::Version;
use agentir_ir::{AgentType, Program};
use agentir_lint::Options;
use agentir_syntax::json::{self, Format, Kind};
use agentir_syntax::{Origin, misspelled, rules};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::path::Path;
use std::sync::Arc;

/// A file as a part of a program.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// Its id.
    pub id: FileId,
    /// Where it is, or its name.
    pub path: &'a Path,
    /// What the file defines.
    pub file: &'a FileResult,
    /// The options of rules that its agents are checked with.
    pub options: &'a Arc<Options>,
}

/// Agents that run together, with what the rules need to know about each.
#[derive(Debug, Default)]
pub struct LoadedProgram {
    /// The agents and what they share.
    pub program: Program,
    /// The version each agent is held to, in the order of the agents.
    pub versions: Vec<Version>,
    /// The options of rules, in the order of the agents.
    pub options: Vec<Arc<Options>>,
    /// The files that it is read from, its manifest included.
    pub files: Vec<FileId>,
    /// The files of data beside them, which findings may be about.
    pub data: Vec<FileId>,
    /// The files whose reading an error ended. What the rules say of their contents would rest on a part.
    pub unread: Vec<FileId>,
    /// Where parts of files were left out for mistakes, so that what is absent may have been there.
    pub gaps: Vec<Span>,
    /// Elements that were read in part for mistakes, so that they may have what they seem to lack.
    pub partial: Vec<Span>,
    /// Where parts of generated files were written.
    pub origins: Vec<Origin>,
}

/// The part of a project manifest that matters here.
#[derive(serde::Deserialize)]
#[serde(expecting = "an object")]
struct Manifest {
    entry_agent: Option<String>,
    /// The parts of the project, each by its name, with its path.
    #[serde(default)]
    agents: serde_json::Value,
    #[serde(default)]
    tools: serde_json::Value,
    #[serde(default)]
    behavior_profiles: serde_json::Value,
    /// With it, serde accepts objects alone, and no arrays of the fields.
    #[serde(flatten)]
    _others: serde::de::IgnoredAny,
}

impl Manifest {
    /// Where the manifest lists a file. Files that it does not list come after the others.
    fn position(&self, path: &Path) -> usize {
        let parts = [&self.agents, &self.tools, &self.behavior_profiles];
        let listed =
            parts.into_iter().filter_map(|part| part.as_object()).flat_map(|part| part.values());
        let mut paths =
            listed.map(|one| one.get("path").unwrap_or(one).as_str().unwrap_or_default());
        let is_it = |listed: &str| {
            let listed = listed.strip_prefix("./").unwrap_or(listed);
            !listed.is_empty() && path.ends_with(listed)
        };
        paths.position(is_it).unwrap_or(usize::MAX)
    }
}

/// The manifest of a program.
#[derive(Debug, Clone, Copy)]
pub enum ProjectManifest<'a> {
    /// The program has this one.
    Own(FileId, &'a SourceFile),
    /// The program is a part of the project of a manifest, and the rest was not read.
    Enclosing,
    /// There is none.
    Absent,
}

/// Assembles a program of files, in the order in which its manifest lists them, and else in theirs. Returns the findings
/// about the manifest, if it has one; those about files are in the files' results.
#[must_use]
pub fn assemble<'a>(
    members: impl IntoIterator<Item = Member<'a>>,
    manifest: ProjectManifest<'_>,
) -> (LoadedProgram, Vec<Diagnostic>) {
    let mut loaded = LoadedProgram::default();
    let mut paths = Vec::new();
    let read = match manifest {
        ProjectManifest::Own(_, file) => Some(serde_json::from_str::<Manifest>(&file.text)),
        ProjectManifest::Enclosing | ProjectManifest::Absent => None,
    };
    let mut members: Vec<Member<'_>> = members.into_iter().collect();
    if let Some(Ok(listed)) = &read {
        members.sort_by_cached_key(|member| listed.position(member.path));
    }
    for Member { id, path, file, options } in members {
        paths.push((id, path));
        loaded.files.push(id);
        file.lowered.add_to(&mut loaded.program, &mut loaded.versions);
        loaded.options.resize(loaded.program.agents.len(), Arc::clone(options));
        loaded.origins.extend(file.lowered.origins.iter().cloned());
        loaded.unread.extend(file.lowered.stopped.map(|at| at.file));
        loaded.gaps.extend(&file.lowered.gaps);
        loaded.partial.extend(&file.lowered.partial);
        loaded.gaps.extend(misspelled::gaps(&file.lowered.diagnostics));
    }
    let mut diagnostics = Vec::new();
    let program = &mut loaded.program;
    references::resolve(program, &paths);
    let supervised = program.agents().any(|a| a.metadata.kind == AgentType::Supervisor);
    program.complete |= match manifest {
        ProjectManifest::Own(..) => true,
        ProjectManifest::Enclosing => false,
        // A supervisor beside its agents is probably all there is.
        ProjectManifest::Absent => supervised && program.agents.len() > 1,
    };
    // Any name may be defined in what was not read.
    program.complete &= loaded.unread.is_empty() && loaded.gaps.is_empty();
    if let (ProjectManifest::Own(id, file), Some(read)) = (manifest, read) {
        loaded.files.push(id);
        if read.is_ok() {
            diagnostics.extend(repeated_parts(id, file));
        }
        match read {
            Ok(Manifest { entry_agent: Some(entry), .. }) => {
                // The span of the name, for findings about it.
                let at = file.text.find(&format!("\"{entry}\"")).map_or(0, |at| at + 1);
                let start = u32::try_from(at).unwrap_or(0);
                let end = start + u32::try_from(entry.len()).unwrap_or(0);
                let span = Span::new(id, start, end);
                program.entry_agent = Some(Spanned::new(SmolStr::new(&entry), span));
            }
            Ok(_) => {}
            Err(error) => diagnostics.push(about_manifest(&error, id, file)),
        }
    }
    (loaded, diagnostics)
}

/// The lists of a manifest, each of which has the parts of the project by their names.
const LISTS: [&str; 3] = ["agents", "tools", "behavior_profiles"];

/// What is read of a manifest for findings about it.
const MANIFEST: Format = Format {
    max_depth: 64,
    max_values: 100_000,
    object_values: 1,
    depth_note: "manifests are flat",
    help: "write JSON",
};

/// The findings about names that a list of a manifest has twice, of which only the last counts.
fn repeated_parts(id: FileId, file: &SourceFile) -> Vec<Diagnostic> {
    let manifest = json::parse(id, &file.text, &MANIFEST, &mut Vec::new());
    let Some(Kind::Object(members)) = manifest.map(|manifest| manifest.kind) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for list in members.iter().filter(|member| LISTS.contains(&member.key.as_str())) {
        let Kind::Object(parts) = &list.value.kind else { continue };
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for part in parts {
            if let Some(before) = seen.insert(&part.key, part.key_span) {
                let message = format!("`{}` lists `{}` twice", list.key, part.key);
                found.push(
                    Diagnostic::error(rules::DUPLICATE_FIELD, part.key_span, message)
                        .label(before, "the entry here is ignored")
                        .help("give each a name of its own, or remove one"),
                );
            }
        }
    }
    found
}

/// The finding about a manifest that cannot be read.
fn about_manifest(error: &serde_json::Error, id: FileId, file: &SourceFile) -> Diagnostic {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = error.to_string();
    let reason = reason.strip_suffix(&place).unwrap_or(&reason);
    let line = file.line_range(error.line().saturating_sub(1));
    let at = line.start.saturating_add(error.column().saturating_sub(1)).min(line.end);
    let at = u32::try_from(file.text.floor_char_boundary(at)).unwrap_or(u32::MAX);
    Diagnostic::error(
        rules::SYNTAX,
        Span::new(id, at, at),
        format!("this project manifest cannot be read: {reason}"),
    )
    .help("a manifest is an object with `entry_agent`, such as `{\"entry_agent\": \"Hotel_Desk\"}`")
}
