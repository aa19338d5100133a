//! Detects the language version of a document and reports forms of other versions.

use crate::schema::Version;
use agentir_diagnostics::{Applicability, Diagnostic, Edit, Fix, RuleName, Span};
use agentir_syntax::rules;

/// The use of a form that not every version has.
pub(super) struct Usage {
    pub(super) span: Span,
    pub(super) description: String,
    pub(super) since: Version,
    pub(super) until: Option<(Version, &'static str)>,
    pub(super) rule: Option<RuleName>,
    /// The edit that replaces the form by its successor.
    pub(super) fix: Option<Edit>,
    /// Whether the form indicates the version of the document.
    pub(super) indicates_version: bool,
}

/// Detects the version from the forms used: the newest, if newest forms occur and no removed ones; legacy,
/// if several removed forms occur and no later ones.
pub(super) fn detect(usages: &[Usage]) -> Version {
    let indicates_version = || usages.iter().filter(|u| u.indicates_version);
    let gone = indicates_version()
        .filter(|u| u.until.is_some_and(|(last, _)| last == Version::Legacy))
        .count();
    let newest = indicates_version().filter(|u| u.since == Version::Newest).count();
    let current = indicates_version().filter(|u| u.since == Version::Current).count();
    if newest > 0 && gone == 0 {
        Version::Newest
    } else if gone > 1 && newest + current == 0 {
        Version::Legacy
    } else {
        Version::Current
    }
}

/// Reports once that a document is legacy; its legacy forms are not reported then.
pub(super) fn report_legacy(usages: &[Usage], problems: &mut Vec<Diagnostic>) {
    let gone = |u: &&Usage| u.until.is_some_and(|(last, _)| last == Version::Legacy);
    let count = usages.iter().filter(gone).count();
    if let Some(first) = usages.iter().find(gone) {
        problems.push(
            Diagnostic::info(
                rules::LEGACY_FORM,
                first.span,
                "this document uses legacy ABL",
            )
            .note(format!(
                "{count} of its forms were removed in the current version, and it uses no newer ones"
            ))
            .help("`--abl-version current` shows what needs to change"),
        );
    }
}

impl Usage {
    pub(super) fn report(self, version: Version, problems: &mut Vec<Diagnostic>) {
        let Self { span, description, since, until, rule, fix, .. } = self;
        match until {
            Some((last, instead)) if version > last => {
                let help = if instead.contains(' ') {
                    instead.to_owned()
                } else {
                    format!("write `{instead}`")
                };
                let mut finding = Diagnostic::warning(
                    rule.unwrap_or(rules::LEGACY_FORM),
                    span,
                    format!("{description} is from an older version of ABL"),
                )
                .note(format!("this document is read as {version} ABL"));
                if let Some(edit) = fix {
                    finding = finding.fix(Fix {
                        title: help.clone(),
                        edits: vec![edit],
                        applicability: Applicability::Safe,
                    });
                }
                problems.push(finding.help(help));
            }
            _ if since > version => {
                problems.push(
                    Diagnostic::warning(
                        rules::NEWER_FORM,
                        span,
                        format!("{description} is from a newer version of ABL"),
                    )
                    .note(format!(
                        "this document is read as {version} ABL; {description} requires {since} ABL"
                    )),
                );
            }
            _ => {}
        }
    }
}
