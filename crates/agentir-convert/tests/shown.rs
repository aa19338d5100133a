//! Reports as they may be shown.

#![allow(clippy::expect_used, reason = "tests end by panicking")]

use agentir_convert::{OutputFile, Report, Target, convert, read_back};
use agentir_lang_abl::ABL;
use agentir_lang_agent_script::{AGENT_SCRIPT, AGENTFORCE};
use agentir_syntax::{Language, Languages};

fn languages() -> Languages {
    static ALL: [&dyn Language; 2] = [ABL, AGENT_SCRIPT];
    Languages::new(ABL, &ALL)
}

/// A converter lists the values that it drops, and what it drops may be a secret.
#[test]
fn reports_have_no_secrets_and_no_commands() {
    // Put together here, so that scanners find no secret in the repository.
    let token = ["ghp_", "Zx7Qw9Er2Ty5Ui8Op1", "As4Df6Gh3Jk0Lz7Xc9V"].concat();
    let password = "Gr4nite&Wharf!9";
    let source = format!(
        "AGENT: Desk\n# password: \"{password}\"\nGOAL: \"Sell with {token}\"\nTOOLS:\n  tide(a: string) -> {{b: string}}\n    type: http\n    endpoint: \"https://tides.invalid/{token}\"\n    method: GET\n    headers:\n      X-Login: \"{password}\"\n      X-Other: \"\u{1B}[2J ##[error]{token}\"\n"
    );
    let files = [OutputFile { path: "desk.agent.abl".to_owned(), text: source }];
    let (sources, program, _) = read_back(languages(), &files);
    let mut done = convert(languages(), &program, &sources, Target(AGENTFORCE));
    done.verify(&program, &sources);
    let json = |report: &Report| serde_json::to_string(report).expect("a report is JSON");
    let exact = json(&done.report);
    assert!(exact.contains(&token) && exact.contains(password), "{exact}");
    let report = done.report.shown(&sources.masker());
    for text in [report.text(), report.html(), json(&report)] {
        assert!(!text.contains("As4Df6") && !text.contains("Wharf"), "{text}");
        assert!(!text.contains(['\u{1B}']) && !text.contains("##["), "{text}");
    }
    assert!(json(&report).contains("ghp_…"));
    assert!(report.text().contains("dropped"), "{}", report.text());
}
