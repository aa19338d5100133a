//! Drives real editors with the language server.

use crate::start;
use clap::ValueEnum;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// An editor that is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    Neovim,
    Emacs,
}

/// An editor, and how it runs a script without a window.
struct Editor {
    name: Name,
    program: &'static str,
    /// The packages of Debian that it is in.
    packages: &'static str,
    /// The arguments, in which `{script}` is the script.
    arguments: &'static [&'static str],
    script: &'static str,
}

const EDITORS: &[Editor] = &[
    Editor {
        name: Name::Neovim,
        program: "nvim",
        packages: "neovim",
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
        packages: "emacs-nox elpa-eglot",
        arguments: &["--batch", "-Q", "-l", "{script}"],
        script: "emacs.el",
    },
];

/// Runs the scripts of all editors that are installed, or of one.
pub(crate) fn run(root: &Path, only: Option<Name>) -> Result<(), Box<dyn Error>> {
    let program = start::program(root, "dev")?;
    let scripts = root.join("tests/editors");
    let mut failed = Vec::new();
    for editor in EDITORS {
        if only.is_some_and(|only| only != editor.name) {
            continue;
        }
        println!("{:?}", editor.name);
        let folder = tempfile::tempdir()?;
        fs::copy(scripts.join("pool.agent.abl"), folder.path().join("pool.agent.abl"))?;
        let script = scripts.join(editor.script).display().to_string();
        let status = Command::new(editor.program)
            .args(editor.arguments.iter().map(|argument| argument.replace("{script}", &script)))
            .env("AGENTIR", &program)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .status();
        match status {
            Ok(status) if status.success() => {}
            Ok(_) => failed.push(format!("{:?}", editor.name)),
            Err(error) => {
                println!("  not run: {error}; on Debian, `apt-get install {}`", editor.packages);
                failed.push(format!("{:?} (not installed)", editor.name));
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}
