//! Expected findings: the first line of a sample, `# expect: rule @ line, …`, and the version that
//! the sample is held to where that is not the current one, `# expect newest: …`.

use crate::check::{Checked, File};
use agentir_diagnostics::Severity;
use agentir_expr::Version;

/// Compares the findings with the expected ones and returns the differences. Findings of information
/// level need not be expected.
#[must_use]
pub fn differences(files: &[File], checked: &Checked) -> Vec<String> {
    let mut differences = Vec::new();
    let mut expected: Vec<(String, u32, String)> = Vec::new();
    for file in files.iter().filter(|f| !f.name.ends_with("project.json")) {
        match header(&file.text) {
            Ok(findings) => {
                expected.extend(
                    findings.into_iter().map(|(rule, line)| (file.name.clone(), line, rule)),
                );
            }
            Err(problem) => differences.push(format!("{}:1 {problem}", file.name)),
        }
    }
    for finding in &checked.diagnostics {
        let (name, line) = checked.place(finding.primary.span);
        let found = (name.to_owned(), line, finding.rule.0.to_owned());
        if let Some(at) = expected.iter().position(|e| *e == found) {
            expected.swap_remove(at);
        } else if finding.severity != Severity::Info {
            differences.push(format!("unexpected: {}", checked.line(finding)));
        }
    }
    differences.extend(
        expected.iter().map(|(name, line, rule)| format!("missing:    {name}:{line} {rule}")),
    );
    differences.sort();
    differences
}

/// The version that the first file requests.
#[must_use]
pub fn version(files: &[File]) -> Version {
    let first = files.iter().find_map(|f| f.text.lines().next()?.strip_prefix("# expect "));
    match first.and_then(|rest| rest.split_once(':')).map(|(version, _)| version) {
        Some("newest") => Version::Newest,
        Some("legacy") => Version::Legacy,
        _ => Version::Current,
    }
}

/// The findings that the first line expects.
fn header(text: &str) -> Result<Vec<(String, u32)>, String> {
    let first = text.lines().next().unwrap_or_default();
    let (_, list) = first
        .split_once(':')
        .filter(|(head, _)| {
            matches!(*head, "# expect" | "# expect legacy" | "# expect current" | "# expect newest")
        })
        .ok_or("no `# expect:` line")?;
    let list = list.trim();
    if list == "none" {
        return Ok(Vec::new());
    }
    list.split(',')
        .map(|item| {
            let (rule, line) = item.split_once('@').ok_or(format!("no line in `{item}`"))?;
            let line = line.trim().parse().map_err(|e| format!("`{item}`: {e}"))?;
            Ok((rule.trim().to_owned(), line))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn headers_are_lists() {
        let two = vec![("a-b".to_owned(), 3), ("c".to_owned(), 12)];
        assert_eq!(header("# expect: a-b @ 3, c @ 12\nx"), Ok(two));
        assert_eq!(header("# expect: none"), Ok(vec![]));
        assert_eq!(header("# expect newest: a @ 1"), Ok(vec![("a".to_owned(), 1)]));
        assert!(header("# expect oldest: a @ 1").is_err());
        assert!(header("AGENT: X").is_err());
        assert!(header("# expect: a").is_err());
    }
}
