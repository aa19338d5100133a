//! What is read: regular files, through links only in folders that were named, and nothing is shown of others.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use common::{GOOD, agentir, code, stderr, stdout, write};
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longer than any of these runs may take, with other tests on the same machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The names of files that are read beside documents without being named.
const BESIDE: [&str; 4] = ["project.json", "agentir.toml", ".gitignore", ".ignore"];

/// Runs a command that has to end.
fn ends(folder: &Path, args: &[&str]) -> Output {
    let mut command = agentir(folder, folder);
    let mut child =
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    stdout(output) + &stderr(output)
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn pipes_and_devices_are_not_read() {
    for name in BESIDE {
        for device in [None, Some("/dev/zero"), Some("/dev/null")] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &[("x/a.agent.abl", GOOD)]);
            let path = folder.path().join("x").join(name);
            match device {
                None => pipe(&path),
                Some(device) => symlink(device, &path).unwrap(),
            }
            for args in [&["check", "."][..], &["check", "x"], &["fmt", "--check", "x"]] {
                let output = ends(folder.path(), args);
                let said = said(&output);
                // Formatting does not need manifests.
                let unread = name != "project.json" || args.contains(&"check");
                assert_eq!(code(&output) > 0, unread, "{name} {device:?} {args:?}: {said}");
                assert_eq!(said.contains("cannot be read"), unread, "{name} {args:?}: {said}");
            }
        }
    }
}

#[test]
fn a_pipe_that_is_named_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    pipe(&folder.path().join("a.agent.abl"));
    for args in [&["check", "a.agent.abl"][..], &["compile", "a.agent.abl"]] {
        let output = ends(folder.path(), args);
        assert!(code(&output) > 0);
        assert!(said(&output).contains("it is a pipe, a device or a socket"), "{}", said(&output));
    }
    // In a folder it is none of the documents.
    write(folder.path(), &[("b.agent.abl", GOOD)]);
    assert_eq!(code(&ends(folder.path(), &["check", "."])), 0);
}

#[test]
fn lists_of_ignored_names_have_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.agent.abl", GOOD), (".gitignore", &"x\n".repeat(1 << 20))]);
    let output = ends(folder.path(), &["check", "."]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(stdout(&output).contains("it is larger than 1048576 bytes"), "{}", stdout(&output));
}

/// What reads TOML takes a hundred times the memory.
#[test]
fn configurations_have_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("a = [{}]\n", "{},".repeat(400_000));
    write(folder.path(), &[("a.agent.abl", GOOD), ("agentir.toml", &text)]);
    for args in [&["check", "."][..], &["check", "--config", "agentir.toml", "a.agent.abl"]] {
        let output = ends(folder.path(), args);
        assert!(code(&output) > 0, "{}", said(&output));
        assert!(said(&output).contains("it is larger than 1048576 bytes"), "{}", said(&output));
    }
}

/// A file must not take the place of a device.
#[test]
fn devices_stay_devices() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.agent.abl", GOOD)]);
    let device = folder.path().join("null");
    let made = Command::new("mknod").arg(&device).args(["c", "1", "3"]).status();
    let named = match made {
        Ok(status) if status.success() => device.clone(),
        // Only root makes devices.
        _ => std::path::PathBuf::from("/dev/stdout"),
    };
    let named = named.to_str().unwrap();
    let output = ends(folder.path(), &["check", "--format", "json", "-o", named, "a.agent.abl"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(!fs::symlink_metadata(named).unwrap().is_file());
}

#[test]
fn reports_are_files() {
    let folder = tempfile::tempdir().unwrap();
    pipe(&folder.path().join("pipe.json"));
    symlink("/dev/zero", folder.path().join("zero.json")).unwrap();
    let kinds = [("pipe.json", "not a file"), ("zero.json", "not a file"), (".", "is a directory")];
    for (name, said) in kinds {
        let output = ends(folder.path(), &["report", "merge", name]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}

#[test]
fn links_are_followed_within_what_was_named() {
    const SECRET: &str = "hunter2-and-nothing-else";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("outside/secret.txt", SECRET), ("in/x/a.agent.abl", GOOD)]);
    let outside = folder.path().join("outside/secret.txt");
    let beside = ["project.json", "agentir.toml", ".gitignore", "b.agent.abl", "c.test.yaml"];
    for name in beside {
        let link = folder.path().join("in/x").join(name);
        symlink(&outside, &link).unwrap();
        for command in ["check", "graph", "fmt", "test", "compile", "cost"] {
            for format in [&[][..], &["--format", "html"], &["--format", "json"]] {
                let args: Vec<&str> = [&[command, "in"], format].concat();
                let said = said(&ends(folder.path(), &args));
                assert!(!said.contains(SECRET), "{name} {args:?}: {said}");
            }
        }
        let output = ends(folder.path(), &["check", "in/x"]);
        // Links are no documents.
        let is_read = !name.starts_with(['b', 'c']);
        let refused = "it is a link to a file outside of the folders that were named";
        assert_eq!(said(&output).contains(refused), is_read, "{name}: {}", said(&output));
        assert_eq!(fs::read_to_string(&outside).unwrap(), SECRET);
        fs::remove_file(&link).unwrap();
    }
    // What is named is followed, and links between folders that are.
    write(folder.path(), &[("shared/manifest.json", "{\"entry_agent\": \"Nobody\"}")]);
    symlink("../../shared/manifest.json", folder.path().join("in/x/project.json")).unwrap();
    symlink("in/x/a.agent.abl", folder.path().join("link.agent.abl")).unwrap();
    let refused = said(&ends(folder.path(), &["check", "in"]));
    assert!(refused.contains("outside of the folders"), "{refused}");
    for args in [&["check", "in", "shared"][..], &["check", "."], &["check", "link.agent.abl"]] {
        let output = ends(folder.path(), args);
        assert!(!said(&output).contains("outside of the folders"), "{args:?}: {}", said(&output));
    }
    let read = said(&ends(folder.path(), &["check", "."]));
    assert!(read.contains("Nobody"), "{read}");
}

#[test]
fn tests_lead_to_no_agents_outside_of_what_was_named() {
    let private = "AGENT: Private\nGOAL: \"x\"\nFLOW:\n  start:\n    REASONING: false\n    RESPOND: \"hunter2 and nothing else\"\n    THEN: COMPLETE\n";
    let test = |agents: &str| {
        format!("agents: {agents}\ntests:\n  - name: t\n    turns:\n      - says: [\"other\"]\n")
    };
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in/q");
    write(folder.path(), &[("private/p.agent.abl", private), ("in/q/good.agent.abl", private)]);
    symlink("../../private/p.agent.abl", inside.join("link.agent.abl")).unwrap();
    symlink("../../private", inside.join("linked")).unwrap();
    let run = |agents: &str, named: &[&str], more: &[&str]| {
        write(&inside, &[("a.test.yaml", &test(agents))]);
        ends(&folder.path().join("in"), &[&["test"], named, more].concat())
    };
    let refused = "outside of the folders that were named";
    for (agents, named, is_read) in [
        ("link.agent.abl", &["q"][..], false),
        ("linked/p.agent.abl", &["q"], false),
        ("linked", &["q"], false),
        ("[good.agent.abl, link.agent.abl]", &["q"], false),
        ("\"../../private/p.agent.abl\"", &["q"], false),
        ("\"../../private\"", &["."], false),
        ("link.agent.abl", &["q/a.test.yaml"], false),
        ("linked", &["q/a.test.yaml"], false),
        ("good.agent.abl", &["q"], true),
        // Whoever names a test means what it says, and whoever names a folder, what is in it.
        ("\"../../private/p.agent.abl\"", &["q/a.test.yaml"], true),
        ("\"../../private/p.agent.abl\"", &["q", "../private"], true),
        ("link.agent.abl", &["q", "../private"], true),
    ] {
        for more in [&[][..], &["--coverage"], &["--update"]] {
            let output = run(agents, named, more);
            let said = said(&output);
            assert_eq!(said.contains(refused), !is_read, "{agents} {named:?} {more:?}: {said}");
            assert_eq!(code(&output) == 2, !is_read, "{agents} {named:?} {more:?}: {said}");
            if !is_read {
                assert!(!said.contains("hunter2") && !said.contains("Private"), "{said}");
            }
        }
    }
}

#[test]
fn companions_that_cannot_be_read_are_reported() {
    let agents = "bot:\n  type: ensemble agent\n  contains:\n    - x\nx:\n  type: llm agent\n  prompt: Sell\n";
    for name in ["tools.py", "config.yml"] {
        for device in [None, Some("/dev/zero")] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &[("x/agents.yml", agents)]);
            let path = folder.path().join("x").join(name);
            match device {
                None => pipe(&path),
                Some(device) => symlink(device, &path).unwrap(),
            }
            for args in [&["check", "."][..], &["check", "x/agents.yml"]] {
                let output = ends(folder.path(), args);
                let said = said(&output);
                assert!(
                    code(&output) > 0 && said.contains("unreadable-file"),
                    "{name} {args:?}: {said}"
                );
                let why = match device {
                    None => "it is a pipe, a device or a socket",
                    Some(_) => "it is a link to a file outside",
                };
                assert!(said.contains(why), "{name} {args:?}: {said}");
            }
        }
    }
}

#[test]
fn a_store_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.agent.abl", GOOD)]);
    pipe(&folder.path().join("pipe"));
    for args in [
        &["session", "list", "--store", "pipe"][..],
        &["session", "show", "x", "--store", "pipe"],
        &["session", "delete", "x", "--store", "pipe"],
        &["run", "a.agent.abl", "--session", "x", "--store", "pipe"],
        &["session", "list", "--store", "/dev/zero"],
    ] {
        let output = ends(folder.path(), args);
        assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
        assert!(
            stderr(&output).contains("it is a pipe, a device or a socket"),
            "{}",
            said(&output)
        );
    }
}

#[test]
fn a_limit_of_the_size_of_files_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let goal = "many words ".repeat(2000);
    write(folder, &[("a.agent.abl", &format!("AGENT: Desk\nGOAL: \"{goal}\"\n"))]);
    fs::create_dir(folder.join("out")).unwrap();
    for args in [
        "convert a.agent.abl --to adl -o out",
        "check . -o html=out/report.html",
        "fmt a.agent.abl --diff > out/diff",
    ] {
        let to_file = args.contains('>');
        let script = format!("ulimit -f 4; exec \"$0\" {args}");
        let command = agentir(folder, folder);
        let mut shell = Command::new("bash");
        shell.current_dir(folder).arg("-c").arg(script).arg(command.get_program());
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if to_file {
            write(folder, &[("a.agent.abl", &format!("AGENT:   Desk\nGOAL:   \"{goal}\"\n"))]);
        }
        let output = shell.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args}: {}", said(&output));
        assert!(stderr(&output).contains("File too large"), "{args}: {}", stderr(&output));
        if !to_file {
            assert_eq!(fs::read_dir(folder.join("out")).unwrap().count(), 0, "{args}");
        }
    }
}

#[test]
fn nothing_is_written_through_links_that_lead_out() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("outside/precious", "precious"), ("in/a.agent.abl", GOOD)]);
    let inside = folder.path().join("in");
    symlink("../outside/precious", inside.join("report.html")).unwrap();
    symlink("../outside", inside.join("reports")).unwrap();
    fs::create_dir(folder.path().join("outside/sub")).unwrap();
    for target in [
        "html=report.html",
        "html=reports/new.html",
        "html=reports/precious",
        "html=reports/sub/../new.html",
        "html=reports/missing/../new.html",
        "html=../in/reports/new.html",
        "html=new/../reports/new.html",
    ] {
        let output = ends(&inside, &["check", ".", "-o", target]);
        assert_eq!(code(&output), 2, "{target}: {}", said(&output));
        let (name, error) = (target.rsplit(['=', '/']).next().unwrap(), stderr(&output));
        assert!(error.contains("out of this folder"), "{error}");
        let name = if name == "report.html" { "precious" } else { name };
        assert!(error.contains(&format!("outside/{name}, ")), "{error}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("outside/precious")).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path().join("outside")).unwrap().count(), 2);
    // Whoever names the file itself means it, and links within the folder are nobody else's.
    fs::create_dir(inside.join("kept")).unwrap();
    symlink("kept", inside.join("latest")).unwrap();
    for target in [
        "html=../outside/report.html",
        "html=latest/report.html",
        "html=new/report.html",
        "html=other/../back.html",
    ] {
        let output = ends(&inside, &["check", ".", "-o", target]);
        assert_eq!(code(&output), 0, "{target}: {}", said(&output));
    }
    assert!(folder.path().join("outside/report.html").exists());
    assert!(inside.join("kept/report.html").exists() && inside.join("back.html").exists());
}

/// The locks of sessions are removed when nobody holds them, and nothing else is.
#[test]
fn nothing_is_removed_but_locks_of_sessions() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("src/main", "code"), ("src/empty.lock", ""), ("in/a.agent.abl", GOOD)]);
    let inside = folder.path().join("in");
    let run = ["run", "a.agent.abl", "--session", "ann"];
    let all = [&run[..], &["session", "list"], &["session", "show", "ann"]];
    assert_eq!(code(&ends(&inside, &run)), 0);
    // The folder of locks leads elsewhere, or is none.
    let locks = inside.join("agentir.sqlite-locks");
    for put in [
        &|| symlink("../src", &locks).unwrap(),
        &|| symlink("../missing", &locks).unwrap(),
        &|| fs::write(&locks, "mine").unwrap(),
        &|| pipe(&locks),
    ] as [&dyn Fn(); 4]
    {
        put();
        for args in all {
            let output = ends(&inside, args);
            assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
            assert!(stderr(&output).contains("agentir.sqlite-locks"), "{}", stderr(&output));
        }
        fs::remove_file(&locks).unwrap();
    }
    assert_eq!(fs::read_dir(folder.path().join("src")).unwrap().count(), 2);
    assert!(!folder.path().join("missing").exists());
    // What is in it is no lock, or is one of somebody who was killed.
    fs::create_dir_all(locks.join("bob.lock.lock")).unwrap();
    write(&locks, &[("mine.txt", ""), ("carl.lock", "mine"), ("dora.lock", "")]);
    symlink("../../src/empty.lock", locks.join("emil.lock")).unwrap();
    pipe(&locks.join("f"));
    pipe(&locks.join("frida.lock"));
    for args in all {
        let output = ends(&inside, args);
        assert_eq!(code(&output), 0, "{args:?}: {}", said(&output));
    }
    let mut left: Vec<_> =
        fs::read_dir(&locks).unwrap().map(|one| one.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["bob.lock.lock", "carl.lock", "emil.lock", "f", "frida.lock", "mine.txt"]);
    for id in ["carl", "emil", "frida"] {
        let output = ends(&inside, &["run", "a.agent.abl", "--session", id]);
        assert_eq!(code(&output), 2, "{id}: {}", said(&output));
    }
    assert!(folder.path().join("src/empty.lock").exists());
    // What SQLite writes and removes beside a database is no link either.
    for end in ["-wal", "-shm", "-journal"] {
        let beside = inside.join(format!("agentir.sqlite{end}"));
        symlink("../src/main", &beside).unwrap();
        let output = ends(&inside, &["session", "list"]);
        assert_eq!(code(&output), 2, "{end}: {}", said(&output));
        fs::remove_file(beside).unwrap();
    }
    assert_eq!(fs::read_to_string(folder.path().join("src/main")).unwrap(), "code");
}

#[test]
fn no_output_takes_the_place_of_what_a_link_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("outside/precious", "precious"), ("in/a.agent.abl", GOOD)]);
    let inside = folder.path().join("in");
    symlink("../outside/precious", inside.join("report.html")).unwrap();
    symlink("../outside/new", inside.join("lost.sqlite")).unwrap();
    let (link, agent) = (inside.join("report.html"), inside.join("a.agent.abl"));
    let (link, agent) = (link.to_str().unwrap(), agent.to_str().unwrap());
    let lost = inside.join("lost.sqlite");
    // Also where the working directory is far above.
    for place in [Path::new("/"), folder.path(), &inside] {
        for args in [
            &["check", agent, "-o", link][..],
            &["check", agent, "--baseline", link, "--write-baseline"],
            &["convert", agent, "--to", "adl", "--report", link],
            &["run", agent, "--trace-file", link],
            &["run", agent, "--session", "s", "--store", lost.to_str().unwrap()],
            &["run", agent, "--session", "s", "--store", link],
            &["session", "list", "--store", link],
            &["session", "show", "s", "--store", link],
            &["test", "--generate", "--tries", "1", agent, "-o", lost.to_str().unwrap()],
        ] {
            let output = ends(place, args);
            assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
            assert!(stderr(&output).contains("cannot be written"), "{}", stderr(&output));
        }
    }
    assert_eq!(fs::read_to_string(folder.path().join("outside/precious")).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path().join("outside")).unwrap().count(), 1);
    assert!(fs::symlink_metadata(link).unwrap().is_symlink());
}

#[test]
fn an_output_is_no_pipe_that_nobody_reads() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.agent.abl", GOOD)]);
    pipe(&folder.path().join("p"));
    for args in [
        &["check", "a.agent.abl", "-o", "p"][..],
        &["check", "a.agent.abl", "--baseline", "p", "--write-baseline"],
        &["convert", "a.agent.abl", "--to", "adl", "--report", "p"],
        &["run", "a.agent.abl", "--trace-file", "p"],
        &["test", "--generate", "--tries", "1", "a.agent.abl", "-o", "p"],
    ] {
        let output = ends(folder.path(), args);
        assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
        assert!(stderr(&output).contains("it is a pipe"), "{}", stderr(&output));
    }
    // The output of the command is one that is read.
    for args in [
        &["check", "a.agent.abl", "--format", "markdown", "-o", "json=/dev/stdout"][..],
        &["run", "a.agent.abl", "--trace-file", "/dev/stdout"],
    ] {
        let piped = ends(folder.path(), args);
        assert_eq!(code(&piped), 0, "{}", said(&piped));
        let file = fs::File::create(folder.path().join("out")).unwrap();
        let mut command = agentir(folder.path(), folder.path());
        command.args(args).stdout(file).status().unwrap();
        let written = fs::read_to_string(folder.path().join("out")).unwrap();
        assert_eq!(written, stdout(&piped));
        assert!(written.contains('{'), "{written}");
    }
}

#[test]
fn an_output_does_not_take_the_place_of_an_input() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.agent.abl", GOOD)]);
    let compiled = ends(folder.path(), &["compile", "a.agent.abl"]).stdout;
    fs::write(folder.path().join("a.ir.json"), &compiled).unwrap();
    symlink("a.agent.abl", folder.path().join("link")).unwrap();
    for args in [
        &["check", "a.agent.abl", "-o", "text=a.agent.abl"][..],
        &["check", ".", "-o", "text=./a.agent.abl"],
        &["check", "a.agent.abl", "-o", "link"],
        &["check", "a.agent.abl", "--baseline", "a.agent.abl", "--write-baseline"],
        &["convert", "a.ir.json", "--to", "adl", "-o", "out", "--report", "a.ir.json"],
        &["run", "a.agent.abl", "--trace-file", "a.agent.abl"],
    ] {
        let output = ends(folder.path(), args);
        assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
        assert!(stderr(&output).contains("is an input"), "{}", stderr(&output));
    }
    assert_eq!(fs::read_to_string(folder.path().join("a.agent.abl")).unwrap(), GOOD);
    assert_eq!(fs::read(folder.path().join("a.ir.json")).unwrap(), compiled);
    assert!(!folder.path().join("out").exists());
    // A report of the run before is none.
    for _ in 0..2 {
        let output = ends(folder.path(), &["check", "a.agent.abl", "-o", "gitlab=report.json"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
    }
}

/// A file of a zip archive.
fn zip(path: &Path, name: &str, text: &str) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(text.as_bytes()).unwrap();
    zip.finish().unwrap();
}

#[test]
fn an_output_does_not_take_the_place_of_anything_that_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(
        here,
        &[
            ("a/a.agent.abl", GOOD),
            ("a/agentir.toml", "fail-on = \"never\"\n"),
            ("own.toml", "fail-on = \"never\"\n"),
            ("a/t.test.yaml", "agents: a.agent.abl\ntests:\n  - name: t\n    turns: []\n"),
            ("stubs.yaml", "tools:\n  sell:\n    - answer: 1\n"),
            ("mcp.json", "{\"servers\": {}}\n"),
            ("answers.yaml", "answers: []\n"),
        ],
    );
    let app = "{\"app\": {\"name\": \"Desk\", \"agents\": [], \"tools\": []}}";
    zip(&here.join("e.zip"), "app.json", app);
    fs::hard_link(here.join("a/a.agent.abl"), here.join("twin")).unwrap();
    let a = "a/a.agent.abl";
    let store = ["run", a, "--session", "s", "--store", "s.sqlite"];
    ends(here, &store);
    ends(here, &["check", a, "--baseline", "known.json", "--write-baseline"]);
    let files = ["e.zip", "known.json", a, "a/agentir.toml", "own.toml", "a/t.test.yaml"];
    let files = [&files[..], &["stubs.yaml", "mcp.json", "answers.yaml", "s.sqlite"]].concat();
    let read = || files.iter().map(|f| fs::read(here.join(f)).unwrap()).collect::<Vec<_>>();
    let before = read();
    for args in [
        &["check", "e.zip", "-o", "json=e.zip"][..],
        &["check", "e.zip", "--baseline", "e.zip", "--write-baseline"],
        &["check", a, "--baseline", "known.json", "-o", "sarif=known.json"],
        &["check", a, "-o", "json=a/agentir.toml"],
        &["check", a, "--config", "own.toml", "-o", "json=own.toml"],
        &["run", a, "--trace-file", "twin"],
        &["run", a, "--trace-file", "a/agentir.toml"],
        &["run", a, "--stubs", "stubs.yaml", "--trace-file", "stubs.yaml"],
        &["run", a, "--mcp", "mcp.json", "--trace-file", "mcp.json"],
        &[
            "run",
            a,
            "--model",
            "scripted",
            "--answers",
            "answers.yaml",
            "--trace-file",
            "answers.yaml",
        ],
        &[&store[..], &["--trace-file", "s.sqlite"]].concat(),
        &["session", "export", "s", "--store", "s.sqlite", "-o", "s.sqlite"],
        &["test", "a/t.test.yaml", "--junit", "a/t.test.yaml"],
        &["test", "a/t.test.yaml", "--junit", a],
        &["test", "a", "--junit", "a/agentir.toml"],
    ] {
        let output = ends(here, args);
        assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
        assert!(stderr(&output).contains("is an input"), "{args:?}: {}", stderr(&output));
    }
    assert!(read() == before, "something was overwritten");
    // A baseline that is recorded anew is not read.
    let again = ends(here, &["check", a, "--baseline", "known.json", "--write-baseline"]);
    assert_eq!(code(&again), 0, "{}", said(&again));
}

#[test]
fn a_trace_takes_nothing_back_that_is_not_its_own() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.agent.abl", ASKS)]);
    let program = agentir(folder.path(), folder.path());
    for (file, redirected) in [
        ("/dev/stdout", ">> log"),
        ("/dev/stderr", "2>> log"),
        ("/dev/fd/3", "3>> log"),
        ("/proc/self/fd/1", ">> log"),
    ] {
        let before = "important line\n".repeat(7000);
        write(folder.path(), &[("log", &before)]);
        // Of so many kilobytes, in bash.
        let script =
            format!("ulimit -f 104; exec \"$0\" run a.agent.abl --trace-file {file} {redirected}");
        let mut shell = Command::new("bash");
        shell.current_dir(folder.path()).arg("-c").arg(script).arg(program.get_program());
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // It may have ended before it has read all.
        let _ = input.write_all("hello there\n".repeat(500).as_bytes());
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{file}: {}", said(&output));
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(log.starts_with(&before), "{file}: {} bytes are left", log.len());
        assert!(log.len() > before.len(), "{file}: nothing was written");
    }
}

/// A flow that asks for ever.
const ASKS: &str = "AGENT: Desk\n\nGOAL: \"Sell\"\n\nFLOW:\n  ask:\n    REASONING: false\n    GATHER:\n      - a:\n          TYPE: string\n          REQUIRED: true\n          PROMPT: \"What?\"\n    THEN: ask\n";

#[test]
fn a_trace_that_cannot_be_written_has_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.agent.abl", ASKS)]);
    let command = agentir(folder.path(), folder.path());
    let mut shell = Command::new("bash");
    let script = "ulimit -f 4; exec \"$0\" run a.agent.abl --trace-file t.jsonl";
    shell.current_dir(folder.path()).arg("-c").arg(script).arg(command.get_program());
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // It may have ended before it has read all.
    let _ = input.write_all("hello there\n".repeat(500).as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(stderr(&output).contains("the trace cannot be written"), "{}", stderr(&output));
    let trace = fs::read_to_string(folder.path().join("t.jsonl")).unwrap();
    assert!(trace.ends_with("}\n"), "{trace:?}");
    for line in trace.lines() {
        assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
    }
}
