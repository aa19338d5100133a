//! What is found in third-party agents: every finding has been judged, and the list says why. `docs/precision.md` has
//! the counts.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::languages;
use agentir_config::Configs;
use agentir_lint::{Cancellation, Selection};
use agentir_project::{CheckOptions, Levels, Request, check_loaded, config_names, load, max_steps};
use agentir_syntax::ReadOptions;
use agentir_tests::documents::assert_fresh;
use agentir_tests::samples::{external_root, root};
use agentir_vfs::Disk;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The judged findings: `## file`, and below it `line rule judgement — reason` for each.
const REVIEWED: &str = include_str!("reviewed.txt");

/// The folders of the corpus, one for each language.
const FOLDERS: [(&str, &str); 4] =
    [("abl", "ABL"), ("adl", "ADL"), ("agentscript", "Agent Script"), ("kore-xo", "Kore.ai XO")];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Judgement {
    /// The claim holds, and an author would want to know.
    True,
    /// The claim holds, but nobody would act on it, or another finding says the same.
    Noise,
    /// The claim is wrong.
    False,
}

/// A file, a line and a rule.
type Place<'t> = (&'t str, u32, &'t str);

/// The list: the judgements of the findings at each place.
fn reviewed() -> BTreeMap<Place<'static>, Vec<Judgement>> {
    let mut all: BTreeMap<_, Vec<Judgement>> = BTreeMap::new();
    let mut file = "";
    for line in REVIEWED.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("## ") {
            file = name;
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        let (finding, reason) =
            line.split_once(" — ").unwrap_or_else(|| panic!("no reason: {line}"));
        assert!(!reason.trim().is_empty(), "no reason: {line}");
        let mut parts = finding.split(' ');
        let at = parts.next().and_then(|at| at.parse().ok());
        let at = at.unwrap_or_else(|| panic!("no line: {line}"));
        let rule = parts.next().unwrap_or_else(|| panic!("no rule: {line}"));
        assert!(
            agentir_lint::rule_names().any(|(known, _)| known == rule),
            "there is no rule of this name: {line}"
        );
        let judgement = match parts.next() {
            Some("true") => Judgement::True,
            Some("noise") => Judgement::Noise,
            Some("false") => Judgement::False,
            _ => panic!("no judgement: {line}"),
        };
        all.entry((file, at, rule)).or_default().push(judgement);
    }
    all
}

/// Whether a file of the corpus is a part of a document, by its name.
fn is_fragment(name: &str) -> bool {
    name.contains("-fragment.")
}

/// What `agentir check` reports in the corpus, with `--fragment` in what are parts of documents: file, line and rule, and
/// the message.
fn findings() -> Vec<(String, u32, &'static str, String)> {
    let whole = checked(false).into_iter().filter(|(name, ..)| !is_fragment(name));
    whole.chain(checked(true).into_iter().filter(|(name, ..)| is_fragment(name))).collect()
}

fn checked(fragment: bool) -> Vec<(String, u32, &'static str, String)> {
    let corpus = external_root();
    let paths: Vec<PathBuf> = FOLDERS.iter().map(|(folder, _)| corpus.join(folder)).collect();
    let configs = Configs::none(config_names());
    let request = Request {
        paths: &paths,
        together: None,
        stdin: None,
        languages: languages(),
        options: ReadOptions { fragment, ..ReadOptions::default() },
        configs: &configs,
        files: &Disk::default(),
    };
    let mut loaded = load(&request).unwrap();
    let selection = Selection::default();
    let options = CheckOptions {
        max_steps: max_steps(loaded.programs.len()),
        languages: languages(),
        selection: &selection,
        levels: &Levels::new(&configs, &selection),
        fragment,
        timed: false,
        cancellation: &Cancellation::default(),
    };
    let (checked, _) = check_loaded(&mut loaded, options).unwrap();
    let place = |finding: agentir_diagnostics::Diagnostic| {
        let file = loaded.sources.get(finding.primary.span.file).unwrap();
        let name = file.name.strip_prefix(&*corpus.display().to_string()).unwrap();
        let line = file.line_column(finding.primary.span.start).line;
        (name.trim_start_matches('/').to_owned(), line, finding.rule.0, finding.message)
    };
    checked.diagnostics.into_iter().map(place).collect()
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn findings_in_agents_by_others_are_reviewed() {
    let mut reviewed = reviewed();
    let mut problems = Vec::new();
    let found = findings();
    for (name, line, rule, message) in &found {
        let known = reviewed.get_mut(&(name.as_str(), *line, *rule)).and_then(Vec::pop);
        if known.is_none() {
            problems.push(format!("not reviewed: {name}:{line} {rule}: {message}"));
        }
    }
    for ((name, line, rule), left) in reviewed {
        for judgement in left {
            let verb = match judgement {
                Judgement::True => "no longer found",
                Judgement::Noise | Judgement::False => "gone, as it should be; remove it",
            };
            problems.push(format!("{verb}: {name}:{line} {rule}"));
        }
    }
    assert!(problems.is_empty(), "{} of them:\n{}", problems.len(), problems.join("\n"));
}

/// The counts by a key of each place.
fn counts<'t>(
    reviewed: &BTreeMap<Place<'t>, Vec<Judgement>>,
    key: impl Fn(&Place<'t>) -> &'t str,
) -> BTreeMap<&'t str, [usize; 3]> {
    let mut all: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for (place, judgements) in reviewed {
        for judgement in judgements {
            if let Some(count) = all.entry(key(place)).or_default().get_mut(*judgement as usize) {
                *count += 1;
            }
        }
    }
    all
}

fn row(table: &mut String, name: &str, [found, noise, wrong]: [usize; 3]) {
    let all = found + noise + wrong;
    writeln!(table, "| {name} | {all} | {found} | {noise} | {wrong} |").unwrap();
}

fn sum(counts: &BTreeMap<&str, [usize; 3]>) -> [usize; 3] {
    counts.values().fold([0; 3], |[a, b, c], [x, y, z]| [a + x, b + y, c + z])
}

#[test]
fn hardly_any_reviewed_finding_is_wrong() {
    let reviewed = reviewed();
    let [found, noise, wrong] = sum(&counts(&reviewed, |_| "all"));
    let all = found + noise + wrong;
    assert!(wrong * 50 <= all, "{wrong} of {all} are wrong");
    assert!(noise * 20 <= all, "{noise} of {all} are noise");
}

/// `AGENTIR_UPDATE_PAGES=1` writes the page.
#[test]
fn the_page_has_the_counts() {
    let reviewed = reviewed();
    let language = |(file, ..): &Place<'static>| {
        let folder = file.split('/').next();
        FOLDERS.iter().find(|(own, _)| Some(*own) == folder).map_or("other", |(_, name)| *name)
    };
    let mut table =
        String::from("| language | findings | true | noise | false |\n|---|--:|--:|--:|--:|\n");
    let by_language = counts(&reviewed, language);
    for (name, all) in &by_language {
        row(&mut table, name, *all);
    }
    row(&mut table, "all", sum(&by_language));
    table += "\n| rule | findings | true | noise | false |\n|---|--:|--:|--:|--:|\n";
    for (name, all) in counts(&reviewed, |(_, _, rule)| rule) {
        row(&mut table, &format!("`{name}`"), all);
    }
    let path = root().join("docs/precision.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (text, _) = page.split_once("| language |").unwrap_or((&page, ""));
    let expected = format!("{text}{table}");
    assert_fresh(&path, &expected, "this test with AGENTIR_UPDATE_PAGES=1");
}
