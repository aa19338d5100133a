//! `fmt` and `migrate` as people and scripts run them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{code, ran as run, run_with_input, stdout};
use std::fs;

const UNTIDY: &str = "AGENT:  Ferry_Desk\nGOAL: \"Sell tickets\"\nLIMITATIONS:\n- \"No cars\"\n";
const TIDY: &str = "AGENT: Ferry_Desk\nGOAL: \"Sell tickets\"\n\nLIMITATIONS:\n  - \"No cars\"\n";
const OLD: &str = "AGENT: Ferry_Desk\ngoal: \"Sell tickets\"\n\nMEMORY:\n  remember:\n    - WHEN a IS SET\n      STORE: a -> user.a\n  recall:\n    - ON_START: \"Look\"\n\nBEHAVIOR_PROFILES:\n  - NAME: phone\n    PRIORITY: 1\n    WHEN: context.channel == \"voice\"\n";

#[test]
fn files_are_formatted_in_place_and_only_where_they_have_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("a.agent.abl"), UNTIDY).unwrap();
    fs::write(here.join("b.agent.abl"), TIDY).unwrap();
    fs::write(here.join("notes.txt"), UNTIDY).unwrap();

    let (code, out, _) = run(here, &["fmt", ".", "--check"]);
    assert_eq!((code, out.as_str()), (1, "a.agent.abl\n"));
    let (code, out, _) = run(here, &["fmt", ".", "--diff"]);
    assert_eq!(code, 1);
    assert!(out.starts_with("--- a.agent.abl\n+++ a.agent.abl\n@@"), "{out}");
    assert!(out.contains("-AGENT:  Ferry_Desk\n+AGENT: Ferry_Desk\n"), "{out}");
    assert_eq!(fs::read_to_string(here.join("a.agent.abl")).unwrap(), UNTIDY);

    let (code, out, err) = run(here, &["fmt", "."]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", "1 file formatted, 1 unchanged\n"));
    assert_eq!(fs::read_to_string(here.join("a.agent.abl")).unwrap(), TIDY);
    assert_eq!(fs::read_to_string(here.join("notes.txt")).unwrap(), UNTIDY);
    assert_eq!(run(here, &["fmt", ".", "--check"]).0, 0);
}

#[cfg(unix)]
#[test]
fn rights_and_links_stay_what_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let file = here.join("real.agent.abl");
    fs::write(&file, UNTIDY).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.agent.abl", here.join("link.agent.abl")).unwrap();
    assert_eq!(run(here, &["fmt", "link.agent.abl"]).0, 0);
    assert!(fs::symlink_metadata(here.join("link.agent.abl")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), TIDY);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn what_is_broken_is_shown_and_the_rest_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("a.agent.abl"), UNTIDY).unwrap();
    let broken = "AGENT: A\nGOAL:   \"not closed\n";
    fs::write(here.join("b.agent.abl"), broken).unwrap();
    let (code, _, err) = run(here, &["fmt", "."]);
    assert_eq!(code, 2);
    assert!(err.contains("unterminated-string"), "{err}");
    assert_eq!(fs::read_to_string(here.join("b.agent.abl")).unwrap(), broken);
    assert_eq!(fs::read_to_string(here.join("a.agent.abl")).unwrap(), TIDY);
    assert_eq!(run(here, &["fmt", "nowhere"]).0, 2);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["fmt", "-", "--stdin-filename", "x.agent.abl"];
    let output = run_with_input(folder.path(), &args, UNTIDY.as_bytes());
    assert_eq!((code(&output), stdout(&output).as_str()), (0, TIDY));
}

#[test]
fn documents_are_migrated_with_what_comes_out_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let agents = here.join("agents");
    fs::create_dir(&agents).unwrap();
    let file = agents.join("desk.agent.abl");
    fs::write(&file, OLD).unwrap();

    let (code, out, _) = run(here, &["migrate", ".", "--to", "current", "--check"]);
    assert_eq!((code, out.as_str()), (1, "agents/desk.agent.abl\n"));
    let (code, out, _) = run(here, &["migrate", ".", "--to", "current", "--diff"]);
    assert_eq!(code, 1);
    assert!(out.contains("--- /dev/null"), "{out}");
    assert_eq!(fs::read_to_string(&file).unwrap(), OLD);

    let (code, _, err) = run(here, &["migrate", ".", "--to", "current"]);
    assert_eq!(code, 0, "{err}");
    let new = fs::read_to_string(&file).unwrap();
    assert!(new.contains("    - WHEN: a IS SET\n"), "{new}");
    assert!(new.contains("    - ON: session:start\n"), "{new}");
    assert!(new.contains("USE BEHAVIOR_PROFILE: phone\n"), "{new}");
    let profile = here.join("behavior_profiles/phone.behavior_profile.abl");
    assert!(fs::read_to_string(profile).unwrap().starts_with("BEHAVIOR_PROFILE: phone\n"));

    // A profile that is there already is somebody's.
    fs::write(&file, OLD).unwrap();
    let (code, _, err) = run(here, &["migrate", ".", "--to", "current"]);
    assert_eq!(code, 2);
    assert!(err.contains("was not overwritten"), "{err}");
    assert_eq!(fs::read_to_string(&file).unwrap(), OLD);
}

/// An export beside documents is left alone; one that is named cannot be formatted.
#[test]
fn exports_are_not_formatted() {
    let samples =
        std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xo/valid"));
    let (code, _, stderr) = run(samples, &["fmt", ".", "--check"]);
    assert_eq!(code, 0, "{stderr}");
    let (code, _, stderr) = run(samples, &["fmt", "bicycle_rental/botDefinition.json", "--check"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("exports of Kore.ai XO cannot be formatted"), "{stderr}");
}
