//! Data files of programs in folders: the tables and the questions that lie beside the agents (`tables/*.csv`,
//! `knowledge/*.csv`), as conversions write them. An agent has the rows of a file if it names the collection or the knowledge
//! base that the file is called after; other files of these folders are nobody's, and nothing is said about them.

use agentir_diagnostics::{Diagnostic, FileId, SourceMap};
use agentir_ir::{Agent, LookupTable, Program, Tool};
use agentir_syntax::MAX_FILE_SIZE;
use agentir_syntax::emit::{
    DATA_FOLDERS, is_data_path, knowledge_of, questions_from_csv, table_from_csv, table_of,
};
use agentir_vfs::{Depth, Entry, EntryKind, FileSystem};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes the data files of a program have together.
const MAX_SIZE: usize = MAX_FILE_SIZE;

/// A data file of a program, and its bytes, or why it cannot be read.
#[derive(Debug)]
pub(crate) struct DataFile {
    /// The folder of the program.
    pub root: PathBuf,
    /// Where it is in that folder: `tables/town.csv`.
    pub name: String,
    pub bytes: io::Result<Vec<u8>>,
}

impl DataFile {
    pub(crate) fn path(&self) -> PathBuf {
        self.root.join(&self.name)
    }
}

/// The data files in the folder of a program, by their names in it, in order; with an error for those that are not to be
/// read.
pub(crate) fn names(root: &Path, files: &dyn FileSystem) -> Vec<(String, io::Result<()>)> {
    let mut all = Vec::new();
    for folder in DATA_FOLDERS {
        let path = root.join(folder);
        if !files.is_dir(&path) {
            continue;
        }
        let is_link = entries(root, files)
            .iter()
            .any(|entry| entry.kind == EntryKind::Link && entry.path.ends_with(folder));
        for entry in entries(&path, files) {
            let last = entry.path.file_name().and_then(|name| name.to_str());
            let name = last.map(|last| format!("{folder}/{last}"));
            let Some(name) = name.filter(|name| is_data_path(name)) else { continue };
            let may_be_read = match is_link {
                true => Err(io::Error::other("its folder is a link, which is not followed")),
                false => Ok(()),
            };
            all.push((name, may_be_read));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn entries(folder: &Path, files: &dyn FileSystem) -> Vec<Entry> {
    let all: Mutex<Vec<Entry>> = Mutex::default();
    files.walk(folder, Depth::Direct, &|| {
        Box::new(|entry| {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            // What cannot be visited is reported where agents are looked for.
            all.extend(entry);
        })
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the data files of a program.
pub(crate) fn read(root: &Path, files: &dyn FileSystem) -> Vec<DataFile> {
    let mut left = MAX_SIZE;
    let read = |(name, may_be_read): (String, io::Result<()>)| {
        let path = root.join(&name);
        let bytes = may_be_read.and_then(|()| files.size(&path)).and_then(|size| {
            left = left.checked_sub(size).ok_or_else(|| {
                let most = MAX_SIZE >> 20;
                let message =
                    format!("the data files of a program have at most {most} MB together");
                io::Error::new(io::ErrorKind::FileTooLarge, message)
            })?;
            files.read(&path)
        });
        DataFile { root: root.to_owned(), name, bytes }
    };
    names(root, files).into_iter().map(read).collect()
}

/// A data file with the id that spans refer to.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    pub id: FileId,
    /// Where it is in the folder of its program.
    pub name: String,
    /// Why it has no text.
    pub problem: Option<Diagnostic>,
}

/// Gives the rows of data files to those of a program that name them. Returns what is wrong with the files.
pub(crate) fn load(
    program: &mut Program,
    files: &[OpenedFile],
    sources: &SourceMap,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for file in files {
        let text = sources.get(file.id).map_or("", |file| &file.text);
        let found = match (table_of(&file.name), knowledge_of(&file.name)) {
            (Some(table), _) => load_table(program, table, (file.id, text)),
            (None, Some(base)) => load_questions(program, base, (file.id, text)),
            (None, None) => None,
        };
        // Nobody's file may have any form.
        if let Some(found) = found {
            match &file.problem {
                Some(problem) => problems.push(problem.clone()),
                None => problems.extend(found),
            }
        }
    }
    problems
}

/// Loads a table into the agents that name it. `None` if there are none.
fn load_table(
    program: &mut Program,
    name: &str,
    (file, text): (FileId, &str),
) -> Option<Vec<Diagnostic>> {
    let is_wanted = |table: &LookupTable| table.collection() == Some(name) && !table.has_rows();
    let is_user = |agent: &Agent| agent.lookup_tables.values().any(is_wanted);
    if !program.agents().any(is_user) {
        return None;
    }
    let (rows, problems) = table_from_csv(file, text);
    for agent in program.agents.iter_mut().filter(|agent| is_user(agent)) {
        let tables = Arc::make_mut(agent).lookup_tables.values_mut();
        for table in tables.filter(|table| is_wanted(table)) {
            table.values.clone_from(&rows.values);
            table.map.clone_from(&rows.map);
        }
    }
    Some(problems)
}

/// Loads questions into the tools that search them. `None` if there are none.
fn load_questions(
    program: &mut Program,
    base: &str,
    (file, text): (FileId, &str),
) -> Option<Vec<Diagnostic>> {
    let is_wanted = |tool: &Tool| tool.knowledge_base() == Some(base) && tool.questions.is_empty();
    let shared = program.libraries.iter().flat_map(|library| &library.tools);
    if !program.agents().flat_map(|agent| &agent.tools).chain(shared).any(is_wanted) {
        return None;
    }
    let (questions, problems) = questions_from_csv(file, text);
    for agent in program.agents.iter_mut().filter(|agent| agent.tools.iter().any(is_wanted)) {
        let tools = Arc::make_mut(agent).tools.iter_mut();
        tools.filter(|tool| is_wanted(tool)).for_each(|tool| tool.questions.clone_from(&questions));
    }
    for library in program.libraries.iter_mut().filter(|of| of.tools.iter().any(is_wanted)) {
        let tools = Arc::make_mut(library).tools.iter_mut();
        tools.filter(|tool| is_wanted(tool)).for_each(|tool| tool.questions.clone_from(&questions));
    }
    Some(problems)
}
