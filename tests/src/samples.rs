//! The samples: our own, and those of the external corpus.

use crate::check::File;
use crate::expect;
use agentir_expr::Version;
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is in the repository")
        .to_owned()
}

/// Files that are checked together.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The files, `project.json` included.
    pub files: Vec<File>,
    /// The version they are checked against.
    pub version: Option<Version>,
    /// Whether they are fragments of documents.
    pub fragment: bool,
}

/// The samples in a folder of `corpus/abl`. A folder with a `project.json` is one; so is each other
/// file, except that those of `legacy/` belong together.
#[must_use]
pub fn ours(folder: &str) -> Vec<Sample> {
    let at = root().join("corpus/abl").join(folder);
    let version = match folder {
        "legacy" => Some(Version::Legacy),
        "newest" => Some(Version::Newest),
        // Found out, as it is for those who do not set it.
        _ => None,
    };
    let mut samples = Vec::new();
    collect(&at, version, &mut samples);
    match folder {
        "legacy" => {
            let files = samples.drain(..).flat_map(|s: Sample| s.files).collect();
            samples.push(Sample { files, version, fragment: false });
        }
        "invalid" => {
            for sample in &mut samples {
                sample.version = Some(expect::version(&sample.files));
            }
        }
        _ => {}
    }
    assert!(!samples.is_empty(), "no samples in {}", at.display());
    samples
}

fn collect(folder: &Path, version: Option<Version>, samples: &mut Vec<Sample>) {
    if folder.join("project.json").is_file() {
        let files = files_below(folder);
        samples.push(Sample { files, version, fragment: false });
        return;
    }
    for path in sorted(folder) {
        if path.is_dir() {
            collect(&path, version, samples);
        } else if is_sample(&path) {
            samples.push(Sample { files: vec![read(&path)], version, fragment: false });
        }
    }
}

/// All our samples.
#[must_use]
pub fn all_ours() -> Vec<Sample> {
    ["valid", "legacy", "newest", "invalid"].iter().flat_map(|f| ours(f)).collect()
}

/// The ADL bots in a folder of `corpus/adl`: each file, and each folder.
#[must_use]
pub fn adl(folder: &str) -> Vec<Vec<File>> {
    let at = root().join("corpus/adl").join(folder);
    let samples: Vec<Vec<File>> = sorted(&at)
        .iter()
        .filter(|path| !is_conversation_test(path))
        .map(|path| {
            if path.is_dir() {
                sorted(path).iter().filter(|p| !is_conversation_test(p)).map(|p| read(p)).collect()
            } else {
                vec![read(path)]
            }
        })
        .collect();
    assert!(!samples.is_empty(), "no samples in {}", at.display());
    samples
}

/// The folder of the external corpus: `AGENTIR_EXTERNAL_CORPUS`, or `../shared/corpus` beside the
/// repository.
///
/// # Panics
/// If the corpus was absent when the tests were built. A test that calls this, or one of the other
/// `external_…` functions, is ignored then:
/// `#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]`.
#[must_use]
pub fn external_root() -> PathBuf {
    external_folder()
        .expect("the external corpus is absent: set AGENTIR_EXTERNAL_CORPUS to its folder")
}

/// The folder of the external corpus; `None` if it was absent when this was built.
#[must_use]
pub fn external_folder() -> Option<PathBuf> {
    option_env!("AGENTIR_EXTERNAL_CORPUS_FOLDER").map(PathBuf::from)
}

/// The examples of the two specifications in the external corpus, each with its version.
#[must_use]
pub fn external_abl() -> Vec<Sample> {
    let root = external_root();
    let mut samples = Vec::new();
    for (folder, version) in [("current", Version::Current), ("legacy", Version::Legacy)] {
        let folder = root.join("abl").join(format!("specification-{folder}"));
        for path in sorted(&folder) {
            if is_sample(&path) {
                let mut file = read(&path);
                file.name = path.strip_prefix(&root).unwrap().display().to_string();
                samples.push(Sample { files: vec![file], version: Some(version), fragment: true });
            }
        }
    }
    assert!(!samples.is_empty(), "no ABL in {}", root.display());
    samples
}

/// Those of [`external_abl`] that are whole documents.
#[must_use]
pub fn external_documents() -> Vec<Sample> {
    let whole = |file: &File| {
        file.text.lines().any(|line| {
            let key = line.split(':').next().unwrap_or_default().to_lowercase();
            matches!(key.as_str(), "agent" | "supervisor" | "behavior_profile")
        })
    };
    let mut samples = external_abl();
    samples.retain(|sample| sample.files.iter().any(whole));
    for sample in &mut samples {
        sample.fragment = false;
    }
    assert!(!samples.is_empty(), "no documents among the examples of the specifications");
    samples
}

/// All files below a folder of the external corpus, by their paths in that folder.
#[must_use]
pub fn external_files(folder: &str) -> Vec<File> {
    let folder = external_root().join(folder);
    let mut files = files_below(&folder);
    assert!(!files.is_empty(), "no samples in {}", folder.display());
    for file in &mut files {
        if let Ok(inside) = Path::new(&file.name).strip_prefix(&folder) {
            file.name = inside.display().to_string();
        }
    }
    files
}

/// The samples in a folder of `corpus/agent-script`, each a program.
#[must_use]
pub fn agent_script(folder: &str) -> Vec<Sample> {
    let mut samples = Vec::new();
    collect(&root().join("corpus/agent-script").join(folder), None, &mut samples);
    assert!(!samples.is_empty(), "no samples in {folder}");
    samples
}

/// The Agent Script files of the external corpus, by their names in it.
#[must_use]
pub fn external_agent_script() -> Vec<File> {
    let folder = external_root().join("agentscript");
    let mut open = vec![folder.clone()];
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(sorted(&path));
        } else if path.extension().is_some_and(|e| e == "agent") {
            let bytes = fs::read(&path).unwrap();
            let name = path.strip_prefix(&folder).unwrap().display().to_string();
            files.push(File { name, text: String::from_utf8_lossy(&bytes).into_owned() });
        }
    }
    assert!(!files.is_empty(), "no Agent Script in {}", folder.display());
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

/// Conversation tests lie beside the agents that they are for; they are not agents.
#[must_use]
pub fn is_conversation_test(path: &Path) -> bool {
    path.to_str().is_some_and(|p| p.ends_with(".test.yaml"))
}

fn is_sample(path: &Path) -> bool {
    if is_conversation_test(path) {
        return false;
    }
    let kinds = ["abl", "yaml", "json", "agent", "yml", "py"];
    path.extension().is_some_and(|e| kinds.iter().any(|kind| e == *kind))
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

/// All samples and their companion files below a folder.
#[must_use]
pub fn files_below(folder: &Path) -> Vec<File> {
    let mut files = Vec::new();
    for path in sorted(folder) {
        if path.is_dir() {
            files.extend(files_below(&path));
        } else if is_sample(&path) {
            files.push(read(&path));
        }
    }
    files
}

fn read(path: &Path) -> File {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    File { name, text }
}
