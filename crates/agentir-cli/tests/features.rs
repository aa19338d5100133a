//! What a build without some features says about them. The other tests need `--all-features`, and are not built
//! without.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests end by panicking")]

use std::process::{Command, Output};

fn agentir(arguments: &[&str]) -> Output {
    let mut agentir = Command::new(env!("CARGO_BIN_EXE_agentir"));
    agentir.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    agentir.output().expect("it runs")
}

const AGENTS: &str = "corpus/abl/valid/parcel_redirect.agent.abl";

#[test]
#[cfg_attr(feature = "runtime", ignore = "it is about builds without the feature `runtime`")]
fn without_the_runtime_its_commands_say_how_to_get_them() {
    for command in [&["run", AGENTS, "--stubs", "x.yaml"][..], &["test", "--coverage", AGENTS]] {
        let output = agentir(command);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(&format!("has no `{}`", command[0])), "{stderr}");
        assert!(stderr.contains("--features full"), "{stderr}");
    }
    let help = String::from_utf8(agentir(&["--help"]).stdout).expect("it is text");
    assert!(!help.contains("\n  run ") && help.contains("\n  check "), "{help}");
    assert_eq!(agentir(&["schema", "trace"]).status.code(), Some(2));
}

#[test]
#[cfg_attr(feature = "pictures", ignore = "it is about builds without the feature `pictures`")]
fn without_pictures_graphs_have_other_formats() {
    for format in ["svg", "html"] {
        let output = agentir(&["graph", AGENTS, "--format", format]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("`mermaid`") && stderr.contains("--features full"), "{stderr}");
    }
    let mermaid = agentir(&["graph", AGENTS]);
    assert!(mermaid.status.success());
    let report = agentir(&["check", "--no-cache", "--format", "html", AGENTS]);
    assert!(report.status.success() && report.stdout.starts_with(b"<!"));
}

#[test]
#[cfg_attr(feature = "z3", ignore = "it is about builds without the feature `z3`")]
fn without_z3_everything_else_is_checked() {
    let output = agentir(&["check", "--no-cache", "--format", "concise", "corpus/abl/invalid"]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    assert!(stdout.contains("undefined-tool"), "{stdout}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("undecided") && stderr.contains("the feature `z3`"), "{stderr}");
}

#[test]
#[cfg(feature = "runtime")]
#[cfg_attr(feature = "scripts", ignore = "it is about builds without the feature `scripts`")]
fn without_scripts_tools_say_how_to_get_them() {
    let file =
        std::env::temp_dir().join(format!("agentir-features-{}.agent.abl", std::process::id()));
    let text = "AGENT: Desk\nGOAL: \"Help\"\nTOOLS:\n  work() -> object\n    type: sandbox\n    runtime: javascript\n    code: |\n      return 1;\nFLOW:\n  start:\n    REASONING: false\n    CALL: work()\n    THEN: COMPLETE\n";
    std::fs::write(&file, text).expect("it can be written");
    let output = agentir(&["run", "--trace", &file.to_string_lossy()]);
    let _ = std::fs::remove_file(&file);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("`work` is a script"), "{stderr}");
    assert!(stderr.contains("--features full") && !stderr.contains("platform"), "{stderr}");
}
