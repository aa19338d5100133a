//! Drives real editors with the language server.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An editor, and how it runs a script without a window.
struct Editor {
    name: &'static str,
    program: &'static str,
    /// The packages of Debian that it is in.
    packages: &'static str,
    /// The arguments, in which `{script}` is the script.
    arguments: &'static [&'static str],
    script: &'static str,
}

const EDITORS: &[Editor] = &[
    Editor {
        name: "Neovim",
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
        name: "Emacs",
        program: "emacs",
        packages: "emacs-nox elpa-eglot",
        arguments: &["--batch", "-Q", "-l", "{script}"],
        script: "emacs.el",
    },
];

/// Runs the scripts of all editors that are installed, or of one.
pub(crate) fn run(root: &Path, only: Option<&str>) -> Result<(), Box<dyn Error>> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--workspace", "--all-features", "--bin", "agentir"])
        .current_dir(root)
        .status()?;
    if !built.success() {
        return Err("the program was not built".into());
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let program = target.join("debug").join(format!("agentir{}", std::env::consts::EXE_SUFFIX));
    let scripts = root.join("tests/editors");
    let mut failed = Vec::new();
    for editor in EDITORS {
        if only.is_some_and(|only| !editor.name.eq_ignore_ascii_case(only)) {
            continue;
        }
        println!("{}", editor.name);
        let folder =
            std::env::temp_dir().join(format!("agentir-{}-{}", editor.program, std::process::id()));
        fs::create_dir_all(&folder)?;
        fs::copy(scripts.join("pool.agent.abl"), folder.join("pool.agent.abl"))?;
        let script = scripts.join(editor.script).display().to_string();
        let status = Command::new(editor.program)
            .args(editor.arguments.iter().map(|argument| argument.replace("{script}", &script)))
            .env("AGENTIR", &program)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .status();
        fs::remove_dir_all(&folder)?;
        match status {
            Ok(status) if status.success() => {}
            Ok(_) => failed.push(editor.name.to_owned()),
            Err(error) => {
                println!("  not run: {error}; on Debian, `apt-get install {}`", editor.packages);
                failed.push(format!("{} (not installed)", editor.name));
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}
