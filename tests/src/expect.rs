//! Expected findings: the `# expect:` line at the head of a sample.

use crate::check::{Checked, File};
use agentir_diagnostics::Severity;

/// Compares what was found with what the files say is to be found, and tells the differences. Findings
/// of information level need not be expected.
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

/// The findings that `# expect: rule @ line, …` or `# expect: none` promises.
fn header(text: &str) -> Result<Vec<(String, u32)>, String> {
    let first = text.lines().next().unwrap_or_default();
    let list = first.strip_prefix("# expect:").ok_or("no `# expect:` line")?.trim();
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
        assert!(header("AGENT: X").is_err());
        assert!(header("# expect: a").is_err());
    }
}
