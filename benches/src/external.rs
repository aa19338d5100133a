//! Third-party documents, if the external corpus is present.

use crate::generate::{File, Project};
use std::fs;
use std::path::Path;

/// The files below `root` with this ending, each a program of its own.
pub(crate) fn projects(root: &Path, ending: &str) -> Vec<Project> {
    let mut projects = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == ending)
                && let Ok(text) = fs::read_to_string(&path)
            {
                let path = path.display().to_string();
                // Not every YAML file is an ADL document.
                if ending != "yml" || agentir_lang_adl::is_adl(&path, &text) {
                    projects.push(Project { name: path.clone(), files: vec![File { path, text }] });
                }
            }
        }
    }
    projects.sort_by(|a, b| a.name.cmp(&b.name));
    projects
}
