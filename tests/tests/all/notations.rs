//! Messages about a file are in its notation.

use agentir::{languages, targets};
use agentir_convert::convert;
use agentir_expr::dialect::{Notation, Phrase, Vocabulary};
use agentir_lang_abl::Options;
use agentir_lint::Group;
use agentir_tests::check::{File, check};
use agentir_tests::pages;
use std::collections::BTreeMap;

/// How each key of one notation is spelt in another. What ends a flow is a value, which is the same in both.
fn respelt<'v>(from: &'v Vocabulary, to: &'v Vocabulary) -> BTreeMap<&'v str, &'v str> {
    let keys = from.keywords.iter().map(|(keyword, word)| (*word, to.keyword(*keyword)));
    keys.filter(|(word, _)| *word != from.phrase(Phrase::EndOfFlow)).collect()
}

/// A text with the keys in its quotations respelt: `` `WHEN: x` `` and `` `WHEN` ``.
fn in_notation(text: &str, respelt: &BTreeMap<&str, &str>) -> String {
    let mut parts: Vec<String> = text.split('`').map(str::to_owned).collect();
    for part in parts.iter_mut().skip(1).step_by(2) {
        let end = part.find(':').unwrap_or(part.len());
        if let Some(word) = part.get(..end).and_then(|word| respelt.get(word)) {
            part.replace_range(..end, word);
        }
    }
    parts.join("`")
}

/// The examples of all pages of rules that see AgentIR are converted to YAML and checked again.
#[test]
fn messages_about_yaml_spell_keys_as_yaml_does() {
    let rules = agentir_lint::catalogue();
    let (mut quoting, mut problems) = (0, Vec::new());
    for page in pages::all() {
        let rule = rules.iter().find(|rule| rule.name == page.name);
        if rule.is_none_or(|r| matches!(r.group, Group::Syntax | Group::Versions)) {
            continue;
        }
        for example in page.examples.iter().filter(|example| example.fails) {
            let native = example.check();
            let dialect = native.program.dialect();
            let (from, to) =
                (dialect.vocabulary(Notation::Native), dialect.vocabulary(Notation::Yaml));
            if to.notation != Notation::Yaml {
                continue;
            }
            let respelt = respelt(from, to);
            let done = convert(languages(), &native.program, &native.sources, targets::ABL_YAML);
            let files = done.files.into_iter().map(|f| File { name: f.path, text: f.text });
            let yaml = check(&files.collect::<Vec<_>>(), Options::default());
            for finding in yaml.diagnostics.iter().filter(|d| d.rule.0 == page.name) {
                let labels = finding.labels.iter().map(|label| label.message.to_string());
                let texts = [Some(finding.message.to_string()), finding.help.clone()];
                for text in texts.into_iter().flatten().chain(finding.note.clone()).chain(labels) {
                    let own = in_notation(&text, &respelt);
                    let keys = to.keywords.iter().map(|(_, word)| format!("`{word}"));
                    quoting += usize::from(keys.clone().any(|key| text.contains(&key)));
                    if own != text {
                        problems.push(format!("{}: {text}\n    expected: {own}", page.name));
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} messages:\n{}", problems.len(), problems.join("\n"));
    assert!(quoting >= 30, "only {quoting} messages name a key");
}
