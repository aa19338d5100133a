//! What configurations say, and what is said of wrong ones.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_config::{Config, Configs, Level, Names, OptionValue, Threshold, ValueKind};
use agentir_diagnostics::{FileId, Format, Report, Severity, SourceFile, SourceMap, render};
use agentir_expr::Version;
use std::fs;
use std::path::Path;

fn names() -> Names {
    Names {
        rules: vec![
            ("undefined-tool", "names"),
            ("unused-tool", "names"),
            ("legacy-form", "versions"),
        ],
        options: vec![
            ("undefined-tool", "known", ValueKind::Names),
            ("unused-tool", "most", ValueKind::Number),
        ],
    }
}

fn read(text: &str) -> Result<Config, String> {
    let mut sources = SourceMap::new();
    let file = SourceFile::new("agentir.toml", text);
    let id = sources.add(file.clone());
    Config::read(id, &file, Path::new("/p"), &names()).map_err(|diagnostics| {
        let mut out = Vec::new();
        let report = Report { sources: &sources, diagnostics: &diagnostics, files_checked: 1 };
        render(&report, Format::Text, false, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    })
}

#[test]
fn a_rule_comes_before_its_group_and_an_override_before_both() {
    let config = read(
        r#"
fail-on = "warning"
abl-version = "current"
exclude = ["vendor", "**/*.draft.abl"]

[rules]
names = "off"
unused-tool = "error"

[[overrides]]
files = ["old/**"]
abl-version = "legacy"
[overrides.rules]
names = "info"

[[overrides]]
files = ["old/kept.abl"]
[overrides.rules]
undefined-tool = "default"
"#,
    )
    .unwrap();
    let level = |path: &str, rule: &str| config.level(Path::new(path), rule, "names");
    assert_eq!(level("/p/a.abl", "undefined-tool"), Some(Level::Off));
    assert_eq!(level("/p/a.abl", "unused-tool"), Some(Level::Error));
    assert_eq!(level("/p/old/a.abl", "unused-tool"), Some(Level::Info));
    assert_eq!(level("/p/old/kept.abl", "undefined-tool"), None, "as the rule has it");
    assert_eq!(config.level(Path::new("/p/a.abl"), "legacy-form", "versions"), None);
    assert!(!config.always_off("undefined-tool", "names"), "some files want it");
    assert_eq!(config.abl_version(Path::new("/p/a.abl")), Some(Version::Current));
    assert_eq!(config.abl_version(Path::new("/p/old/a.abl")), Some(Version::Legacy));
    let takes = |path: &str| config.includes(Path::new(path));
    assert!(takes("/p/a.abl") && !takes("/p/vendor/x/a.abl") && !takes("/p/b/c.draft.abl"));
    assert_eq!(config.fail_on(), Threshold::Warning);
    assert!(config.fail_on().fails(Severity::Error) && !config.fail_on().fails(Severity::Info));
}

#[test]
fn rules_have_pages_on_the_web_if_that_is_said() {
    let config = read("rule-pages = \"https://example.org/rules/{rule}.html#why\"\n").unwrap();
    let page = config.rule_page("unused-tool");
    assert_eq!(page.as_deref(), Some("https://example.org/rules/unused-tool.html#why"));
    assert_eq!(read("").unwrap().rule_page("unused-tool"), None);
}

#[test]
fn what_does_not_exist_is_an_error_at_its_place() {
    let all = [
        "fial-on = \"error\"\n",
        "fail-on = \"warnings\"\n",
        "[rules]\nundefined-toll = \"off\"\nnaems = \"off\"\n",
        "[rules]\nundefined-tool = \"of\"\n",
        "exclude = [\"a[\"]\n",
        "rule-pages = \"docs/{rule}.md\"\n",
        "rule-pages = \"https://example.org/rules\"\n",
        "[[overrides]]\nrules = { names = \"off\" }\n",
        "include = \"agents\"\n",
        "[options.unused-toll]\nmost = 1\n[options.legacy-form]\nmost = 1\n",
        "[options.unused-tool]\nmots = 1\nmost = \"many\"\n",
        "[options.undefined-tool]\nknown = [1]\nknwn = []\n",
        "this is no TOML\n",
        "fail-on = 3\n",
        "exclude = 3\n",
        "rules = []\n",
        "fail-on = error\n",
    ];
    let said: Vec<String> = all.iter().map(|text| read(text).unwrap_err()).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn options_of_rules_are_set_for_all_files_and_otherwise_for_some() {
    let config = read(
        r#"
[options]
unused-tool.most = 3
undefined-tool.known = ["crm_*", "send_sms"]

[[overrides]]
files = ["old/**"]
options.unused-tool.most = 9
"#,
    )
    .unwrap();
    let most = |path: &str| match config.options(Path::new(path))[&("unused-tool", "most")] {
        OptionValue::Number(number) => *number,
        OptionValue::Names(_) => panic!("a number was set"),
    };
    assert_eq!((most("/p/a.abl"), most("/p/old/a.abl")), (3, 9));
    match config.options(Path::new("/p/old/a.abl"))[&("undefined-tool", "known")] {
        OptionValue::Names(names) => {
            assert!(names.is_match("crm_find") && names.is_match("send_sms"));
            assert!(!names.is_match("crm") && !names.is_match("send_sms_now"));
        }
        OptionValue::Number(_) => panic!("names were set"),
    }
}

#[test]
fn the_nearest_one_above_a_file_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (root, inner) = (folder.path(), folder.path().join("a/b"));
    fs::create_dir_all(&inner).unwrap();
    fs::create_dir_all(root.join("c")).unwrap();
    fs::write(root.join("agentir.toml"), "[rules]\nnames = \"off\"\n").unwrap();
    fs::write(inner.join("agentir.toml"), "[rules]\nnames = \"info\"\n").unwrap();
    let configs = Configs::nearest(std::sync::Arc::new(agentir_vfs::Disk::default()), names());
    let level = |path: &str| {
        let path = root.join(path);
        configs.of(&path).level(&path, "unused-tool", "names")
    };
    assert_eq!(level("c/x.abl"), Some(Level::Off));
    assert!(configs.always_off("unused-tool", "names"), "by all that was asked so far");
    assert_eq!(level("a/b/x.abl"), Some(Level::Info));
    assert_eq!(level("a/x.abl"), Some(Level::Off));
    assert!(!configs.always_off("unused-tool", "names"));
    assert!(configs.problems().diagnostics.is_empty());
    let none = Configs::none(names());
    assert_eq!(none.of(&inner.join("x")).level(&inner.join("x"), "unused-tool", "names"), None);
}

#[test]
fn a_broken_one_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("agentir.toml"), "rules = 1\n").unwrap();
    let configs = Configs::nearest(std::sync::Arc::new(agentir_vfs::Disk::default()), names());
    for name in ["a", "b"] {
        let _ = configs.of(&folder.path().join(name));
    }
    let problems = configs.problems();
    assert_eq!(problems.diagnostics.len(), 1);
    assert_eq!(problems.diagnostics[0].primary.span.file, FileId(0));
}

/// However a folder is written, and whatever was asked before: its configuration is the same one, read once.
#[test]
fn a_folder_may_be_written_in_several_ways() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    fs::write(root.join("a/agentir.toml"), "rules = 1\n").unwrap();
    let configs = Configs::nearest(std::sync::Arc::new(agentir_vfs::Disk::default()), names());
    for name in ["a/x", "a//x", "a/./b/x", "a/b/c/x", "a/b//c/x", "./a/b/x", "a/b"] {
        let _ = configs.of(&root.join(name));
    }
    assert_eq!(configs.problems().diagnostics.len(), 1);
    let empty = |name: &str| configs.of(Path::new(name)).is_empty();
    assert!(empty("") && empty("/") && empty("x") && empty("../x"), "nothing is above them");
}
