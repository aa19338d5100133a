//! The same findings in every format.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_diagnostics::{
    Applicability, Binding, Diagnostic, Label, Premise, Report, RuleName, Severity, SourceFile,
    SourceMap, Span, Tag,
};
use agentir_report::{
    Baseline, CostRow, Findings, Format, Page, Picture, RuleDoc, fingerprints, write,
};
use serde_json::{Value, json};
use std::path::Path;

const TEXT: &str = "AGENT: Ferry|Desk\nFLOW:\n  start:\n    CALL: sell_tikcet()\n    CALL: sell_tikcet()\n    THEN: <b>, 100%\n";

struct Case {
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
}

/// Findings in a file in the folder `/repo`, and a file without any.
fn case(text: &str) -> Case {
    let mut sources = SourceMap::new();
    let id = sources.add(SourceFile::new("/repo/agents/ferry desk.abl", text));
    sources.add(SourceFile::new("/repo/agents/clean.abl", "AGENT: Clean\n"));
    let span = |what: &str, nth: usize| {
        let at = text.match_indices(what).nth(nth).unwrap().0 as u32;
        Span::new(id, at, at + what.len() as u32)
    };
    let tool = |nth| {
        Diagnostic::error(
            RuleName("undefined-tool"),
            span("sell_tikcet", nth),
            "there is no tool `sell_tikcet`",
        )
        .at("called here")
        .label(span("Ferry|Desk", 0), "by this agent")
        .note("the call fails")
        .help("did you mean `sell_ticket`?")
        .replace("sell_ticket", Applicability::Unsafe)
        .replace("sell_tickets", Applicability::Unsafe)
    };
    let step = |nth| Label::new(span("CALL", nth), format!("call {nth}"));
    let mut diagnostics = vec![
        tool(0),
        tool(1),
        Diagnostic::warning(
            RuleName("undefined-step"),
            span("<b>, 100%", 0),
            "there is no step `<b>`, nor | it",
        )
        .example([
            Binding { variable: "guests".into(), value: Some(json!(9)) },
            Binding { variable: "user.email".into(), value: None },
        ])
        .proof([
            Premise { span: Some(span("Ferry|Desk", 0)), message: "this holds".into() },
            Premise { span: None, message: "it is never negative".into() },
        ])
        .run([step(0), step(1)], true),
        Diagnostic::info(RuleName("unused-tool"), span("start:", 0), "two\nlines"),
    ];
    for finding in &mut diagnostics {
        let rule = finding.rule.0;
        // One rule has no page.
        if rule == "unused-tool" {
            finding.tags = vec![Tag::Unnecessary];
        } else {
            finding.page = Some(format!("https://example.org/rules/{rule}.html?a&b"));
        }
    }
    Case { sources, diagnostics }
}

fn with<R>(case: &Case, then: impl FnOnce(&Findings<'_>) -> R) -> R {
    let page = Page {
        pictures: vec![Picture { name: "Ferry".into(), svg: "<svg></svg>".into() }],
        costs: vec![CostRow {
            agent: "Ferry".into(),
            own_models: Some(2),
            own_tools: Some(0),
            all_models: None,
            all_tools: Some(1),
        }],
    };
    let report =
        Report { sources: &case.sources, diagnostics: &case.diagnostics, files_checked: 2 };
    let fails = |finding: &Diagnostic| finding.severity == Severity::Error;
    let (root, fails) = (Path::new("/repo"), &fails);
    let rules = |name: &str| {
        let info = agentir_lint::rule(name)?;
        Some(RuleDoc {
            name: info.name,
            group: info.group_name(),
            severity: info.severity,
            summary: info.summary,
            page: agentir_lint::page(name)?,
        })
    };
    then(&Findings { report, root, fails, page: &page, rules: &rules })
}

fn written(text: &str, format: Format) -> String {
    with(&case(text), |findings| {
        let mut out = Vec::new();
        write(findings, format, false, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    })
}

#[test]
fn every_format_says_the_same() {
    for (name, format) in Format::ALL {
        let text = written(TEXT, format);
        // The pages of the rules are long, and stand elsewhere; the version changes.
        let text = match format {
            Format::Sarif => {
                let mut whole: Value = serde_json::from_str(&text).unwrap();
                let driver = &mut whole["runs"][0]["tool"]["driver"];
                driver["semanticVersion"] = "…".into();
                for rule in driver["rules"].as_array_mut().unwrap() {
                    let id = rule["id"].as_str().unwrap().to_owned();
                    let help = rule["help"]["markdown"].as_str().unwrap();
                    assert!(help.starts_with(&format!("# {id}")), "{help}");
                    rule["help"] = "…".into();
                }
                serde_json::to_string_pretty(&whole).unwrap()
            }
            Format::Html => {
                let (_, body) = text.split_once("<body>").unwrap();
                body.split_once("<script>").unwrap().0.to_owned()
            }
            _ => text,
        };
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn sarif_is_what_its_schema_says() {
    // One pattern of the schema, that of languages, which we do not write, is not regular: it closes a
    // bracket that nothing opens.
    let text = include_str!("sarif-2.1.0.json").replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    for text in [TEXT.to_owned(), format!("# Fähre 😀\n{TEXT}")] {
        let sarif: Value = serde_json::from_str(&written(&text, Format::Sarif)).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&sarif).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }
    let wrong: Value = serde_json::from_str("{\"version\": \"2.1.0\", \"runs\": 1}").unwrap();
    assert!(!validator.is_valid(&wrong), "the schema can say no");
}

#[test]
fn formats_of_programs_can_be_read() {
    for format in [Format::Junit, Format::Checkstyle] {
        let xml = written(TEXT, format);
        let mut reader = quick_xml::Reader::from_str(&xml);
        loop {
            match reader.read_event().unwrap() {
                quick_xml::events::Event::Eof => break,
                _ => continue,
            }
        }
    }
    for line in written(TEXT, Format::JsonLines).lines() {
        let _: Value = serde_json::from_str(line).unwrap();
    }
    for line in written(TEXT, Format::Github).lines() {
        assert!(line.starts_with("::"), "a finding is one line: {line}");
    }
}

#[test]
fn fingerprints_survive_lines_that_come_and_go() {
    let prints =
        |text: &str| with(&case(text), |findings| fingerprints(&findings.report, findings.root));
    let before = prints(TEXT);
    let mut unique = before.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), before.len(), "two findings on equal lines are two");
    assert_eq!(before, prints(&format!("# a comment\n\n{TEXT}# more\n")));
    assert_eq!(
        before,
        prints(&TEXT.replace("    CALL", "      CALL")),
        "indentation does not matter"
    );
    assert_ne!(before, prints(&TEXT.replace("sell_tikcet()", "sell_tikcet(a)")));
}

#[test]
fn a_baseline_knows_what_was_there() {
    let old = case(TEXT);
    let baseline = with(&old, Baseline::of);
    let read = Baseline::read(&baseline.to_json()).unwrap();
    let moved = case(&format!("# a comment\n{TEXT}"));
    let compared = with(&moved, |findings| read.compare(findings));
    assert_eq!(compared.known, [true; 4]);
    assert!(compared.gone.is_empty());
    let mut mended = case(TEXT);
    mended.diagnostics.remove(1);
    let compared = with(&mended, |findings| read.compare(findings));
    assert_eq!(compared.known, [true; 3]);
    assert_eq!(compared.gone.len(), 1);
    assert_eq!(compared.gone[0].rule, "undefined-tool");
    assert!(Baseline::read("{}").is_err());
    let other = baseline.to_json().replace("agentir/v1", "agentir/v0");
    assert!(Baseline::read(&other).unwrap_err().to_string().contains("--write-baseline"));
}

/// Formats that show no source say what the labels say, and where: a part of the sentence may be in them.
#[test]
fn texts_without_the_source_have_the_labels() {
    let mut case = case(TEXT);
    let mut files = case.sources.iter().map(|(id, _)| id);
    let (here, other) = (files.next().unwrap(), files.next().unwrap());
    let finding = Diagnostic::warning(
        RuleName("unreachable-branch"),
        Span::new(here, 0, 5),
        "this branch is never taken",
    )
    .at("whenever this is true …")
    .label(Span::new(here, 19, 21), "this is true as well, and comes first")
    .label(Span::new(here, 0, 1), "")
    .label(Span::new(other, 0, 5), "so says this");
    let many = (0..12).fold(
        Diagnostic::info(RuleName("unused-tool"), Span::new(here, 0, 5), "many"),
        |finding, at| finding.label(Span::new(here, 0, 1), format!("use {at}")),
    );
    case.diagnostics = vec![finding, many];
    let formats = [
        Format::Github,
        Format::Sarif,
        Format::Junit,
        Format::Checkstyle,
        Format::Gitlab,
        Format::Html,
        Format::Concise,
        Format::Markdown,
    ];
    for format in formats {
        let text = with(&case, |findings| {
            let mut out = Vec::new();
            write(findings, format, false, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        });
        let whole = "this branch is never taken: whenever this is true … (line 2: this is true as well, and \
                     comes first; /repo/agents/clean.abl:1: so says this)";
        assert!(text.contains(whole), "{format:?}: {text}");
        assert!(text.contains("line 1: use 8; 3 more places)"), "{format:?}: {text}");
    }
}
