//! Processes that are started for tools, and that end with whoever started them.

use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(windows)]
use process_wrap::std::JobObject;
#[cfg(unix)]
use process_wrap::std::ProcessGroup;
use process_wrap::std::{ChildWrapper, CommandWrap};

/// How often it is asked whether a process has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// How long a supervisor may take to end what it supervises.
#[cfg(unix)]
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// A program that starts another one and ends it, with all that it started, when its own parent is gone
/// or it is told to end: one whose `main` calls `agentir_tools::supervise`.
///
/// Whoever starts a process cannot do this itself: if it is killed, nothing of it is left that could.
#[derive(Clone, Debug)]
pub struct Supervisor {
    program: PathBuf,
    command: OsString,
}

impl Supervisor {
    /// This program, called with this command, which is followed by the arguments that
    /// `agentir_tools::supervise` takes: the id of the parent, and what to start. None where processes
    /// are not supervised: on Windows.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, command: impl Into<OsString>) -> Option<Self> {
        cfg!(unix).then(|| Self { program: program.into(), command: command.into() })
    }

    /// The running program, called again with this command.
    #[must_use]
    pub fn this_program(command: impl Into<OsString>) -> Option<Self> {
        // On Linux also if the file was replaced since.
        let itself = Path::new("/proc/self/exe");
        let program =
            if itself.exists() { itself.to_owned() } else { std::env::current_exe().ok()? };
        Self::new(program, command)
    }
}

/// What to start. No shell reads it.
#[derive(Debug)]
pub struct ProcessSpec<'s> {
    /// The program.
    pub program: &'s OsStr,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// All variables of its environment.
    pub env: Vec<(OsString, OsString)>,
    /// The folder it runs in, if not the current one.
    pub folder: Option<&'s Path>,
    /// Where its error output goes.
    pub stderr: Stdio,
}

/// A running process, whose input and output are pipes. When this value is dropped, it ends, with all
/// that it started: with a [`Supervisor`] on Linux also what left its process group; otherwise the
/// process group, or on Windows the job.
#[derive(Debug)]
pub struct Process {
    child: Box<dyn ChildWrapper>,
    supervised: bool,
}

impl Process {
    /// Starts a process.
    ///
    /// # Errors
    /// It cannot be started; of the kind [`ErrorKind::NotFound`] if there is no such program.
    pub fn start(spec: ProcessSpec<'_>, supervisor: Option<&Supervisor>) -> std::io::Result<Self> {
        let ProcessSpec { program, args, env, folder, stderr } = spec;
        if supervisor.is_some() && !exists(program, &env, folder) {
            return Err(Error::new(ErrorKind::NotFound, "there is no such program"));
        }
        let first = supervisor.map_or(program, |by| by.program.as_os_str());
        let mut command = CommandWrap::with_new(first, |command| {
            if let Some(by) = supervisor {
                command.arg(&by.command).arg(std::process::id().to_string()).arg(program);
            }
            command.args(args).env_clear().envs(env);
            if let Some(folder) = folder {
                command.current_dir(folder);
            }
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        });
        #[cfg(unix)]
        command.wrap(ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(JobObject);
        Ok(Self { child: command.spawn()?, supervised: supervisor.is_some() })
    }

    /// Its input.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin().take()
    }

    /// Its output.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout().take()
    }

    /// Its error output, if it is a pipe.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr().take()
    }

    /// How it ended, if it does so in time.
    pub fn wait_for(&mut self, time: Duration) -> Option<ExitStatus> {
        let end = Instant::now() + time;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < end => thread::sleep(POLL_INTERVAL),
                _ => return None,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        #[cfg(unix)]
        if self.supervised && self.wait_for(Duration::ZERO).is_none() {
            // A supervisor that is killed leaves what it supervises: it is asked to end.
            let _ = self.child.signal(nix::sys::signal::Signal::SIGTERM as i32);
            if self.wait_for(STOP_TIMEOUT).is_some() {
                return;
            }
        }
        // It may have ended already.
        let _ = self.child.start_kill();
        let _ = self.child.wait();
    }
}

/// Whether there is a program, as far as can be known before it is started.
fn exists(program: &OsStr, env: &[(OsString, OsString)], folder: Option<&Path>) -> bool {
    let program = Path::new(program);
    if program.components().count() > 1 || program.is_absolute() {
        return folder.unwrap_or(Path::new("")).join(program).exists();
    }
    let Some((_, all)) = env.iter().find(|(name, _)| name == "PATH") else { return true };
    std::env::split_paths(all)
        .any(|at| folder.unwrap_or(Path::new("")).join(at).join(program).exists())
}
