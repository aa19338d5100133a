//! What a supervisor does; [`crate::Supervisor`] starts one.
//!
//! It adopts the processes whose parents end, so that whatever a tool starts is below it, in process
//! groups and sessions of its own or not. It ends all of them when the tool ends, when it is told to
//! end, and when its parent is gone. It cannot miss that: it asks who its parent is, and needs no
//! signal, which a parent that is killed would not send.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout, getpid, getppid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// How often it is asked who the parent is.
const PARENT_INTERVAL: Duration = Duration::from_millis(100);

/// Between two rounds of ending processes.
const ROUND: Duration = Duration::from_millis(2);

/// Processes that are not gone by then cannot be ended: they belong to another user.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// The exit codes that shells use.
const CANNOT_START: u8 = 126;
const SIGNALLED: i32 = 128;

/// Supervises a process: `PARENT PROGRAM [ARGUMENT…]`. Returns its exit code when it and all that it
/// started have ended.
#[must_use]
pub fn supervise(args: &[OsString]) -> u8 {
    let [parent, program, args @ ..] = args else {
        eprintln!("error: a supervisor needs the id of its parent and a program");
        return CANNOT_START;
    };
    let parent = parent.to_str().and_then(|id| id.parse().ok()).map(Pid::from_raw);
    let gone = move || parent != Some(getppid());
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
    let signals = match Signals::new([SIGTERM, SIGINT, SIGHUP]) {
        Ok(signals) => signals,
        Err(error) => {
            eprintln!("error: {error}");
            return CANNOT_START;
        }
    };
    if gone() {
        return CANNOT_START;
    }
    // A group of its own: who ends the group of the supervisor does not end it first.
    let child = match Command::new(program).args(args).process_group(0).spawn() {
        Ok(child) => Pid::from_raw(i32::try_from(child.id()).unwrap_or_default()),
        Err(error) => {
            eprintln!("error: `{}` cannot be started: {error}", program.display());
            return CANNOT_START;
        }
    };
    release_pipes();
    let told = move || {
        let mut signals = signals;
        let _ = signals.forever().next();
        end_all(child);
        std::process::exit(SIGNALLED + SIGTERM);
    };
    let orphaned = move || {
        while !gone() {
            thread::sleep(PARENT_INTERVAL);
        }
        end_all(child);
        std::process::exit(SIGNALLED + SIGTERM);
    };
    // Without a thread nobody could end the process, so it does not run.
    let started = thread::Builder::new().spawn(told).is_ok()
        && thread::Builder::new().spawn(orphaned).is_ok();
    let code = if started { wait(child) } else { i32::from(CANNOT_START) };
    end_all(child);
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Lets go of the pipes of the process, so that their other ends see when it closes them.
fn release_pipes() {
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        let _ = dup2_stdin(&nothing);
        let _ = dup2_stdout(&nothing);
        let _ = dup2_stderr(&nothing);
    }
}

/// Waits for a process, and for those that were adopted meanwhile.
fn wait(child: Pid) -> i32 {
    loop {
        match waitpid(Pid::from_raw(-1), None) {
            Ok(WaitStatus::Exited(pid, code)) if pid == child => return code,
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == child => {
                return SIGNALLED + signal as i32;
            }
            Ok(_) | Err(Errno::EINTR) => {}
            // Another thread has waited for it.
            Err(_) => return SIGNALLED + SIGTERM,
        }
    }
}

/// Ends all processes below this one.
fn end_all(child: Pid) {
    let end = Instant::now() + END_TIMEOUT;
    // The group is killed at once, so that none of its processes can escape by starting another one.
    let _ = killpg(child, Signal::SIGKILL);
    loop {
        for pid in below(getpid()) {
            // It leads no group if this fails.
            let _ = killpg(pid, Signal::SIGKILL);
            let _ = kill(pid, Signal::SIGKILL);
        }
        let none = loop {
            match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => break false,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => break true,
            }
        };
        // Those whose parents ended became children of this process before the parents were waited for.
        if none || Instant::now() > end {
            return;
        }
        thread::sleep(ROUND);
    }
}

/// The processes below a process; none where the system has no list of them.
fn below(root: Pid) -> BTreeSet<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: Vec<(Pid, Pid)> = entries
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            // `PID (NAME) STATE PARENT …`; the name may contain anything.
            let stat = fs::read(entry.path().join("stat")).ok()?;
            let stat = String::from_utf8_lossy(&stat);
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
            Some((Pid::from_raw(pid), Pid::from_raw(parent)))
        })
        .collect();
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for (pid, _) in parents.iter().filter(|(_, of)| *of == parent) {
            if found.insert(*pid) {
                open.push(*pid);
            }
        }
    }
    found
}
