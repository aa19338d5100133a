//! Migration between versions of ABL: what each row of the table changes, and what it leaves alone.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir::{languages, migrate};
use agentir_diagnostics::{FileId, Severity};
use agentir_expr::Version::{self, Current, Legacy, Newest};
use agentir_lang_abl::Options;
use agentir_lang_abl::migrate::ROWS;
use agentir_lang_abl::{ABL, ABL_FILE};
use agentir_rewrite::{Migration, RewriteError};
use agentir_syntax::Detected;
use agentir_tests::check::check;
use agentir_tests::samples::{Sample, all_ours, external_abl, ours};

/// What a case expects.
enum Then {
    /// This text.
    Becomes(&'static str),
    /// The same text.
    Stays,
    /// This text, and a finding whose message has these words.
    Told(&'static str, &'static str),
}
use Then::{Becomes, Stays, Told};

struct Case {
    /// The row of the table it is about.
    row: &'static str,
    from: Version,
    to: Version,
    before: &'static str,
    then: Then,
}

const fn case(
    row: &'static str,
    from: Version,
    to: Version,
    before: &'static str,
    then: Then,
) -> Case {
    Case { row, from, to, before, then }
}

const HEAD: &str = "AGENT: A\n\nGOAL: \"Help\"\n\n";

#[rustfmt::skip]
const CASES: &[Case] = &[
    case("keywords of sections", Legacy, Current, "limitations:\n  - \"No films\"\n", Becomes("LIMITATIONS:\n  - \"No films\"\n")),
    case("keywords of sections", Legacy, Current, "GATHER:\n  prompt_field:\n    prompt: \"lower: case\"\n", Stays),

    case("`WHEN` with a colon", Legacy, Current, "MEMORY:\n  remember:\n    - WHEN  a IS SET   # why\n      STORE: a -> user.a\n", Becomes("MEMORY:\n  remember:\n    - WHEN:  a IS SET   # why\n      STORE: a -> user.a\n")),
    case("`WHEN` with a colon", Current, Newest, "MEMORY:\n  remember:\n    - WHEN: a IS SET\n      STORE: a -> user.a\n", Stays),
    case("`WHEN` with a colon", Legacy, Newest, "ESCALATE:\n  triggers:\n    - WHEN: user.requests_human AND NOT user.requests_humans\n      REASON: \"Asked\"\n", Becomes("ESCALATE:\n  triggers:\n    - WHEN: user.wants_human_agent AND NOT user.requests_humans\n      REASON: \"Asked\"\n")),

    case("`{{x}}` for `{x}`", Legacy, Current, "PERSONA: \"Knows {name} and {{other}}\"\n", Becomes("PERSONA: \"Knows {{name}} and {{other}}\"\n")),
    case("`{{x}}` for `{x}`", Current, Newest, "PERSONA: \"Says {name} as it is\"\n", Told("PERSONA: \"Says {name} as it is\"\n", "placeholder of older versions")),

    case("`x.contains(y)`", Legacy, Current, "COMPLETE:\n  - WHEN: input contains \"bye\" OR contains_it\n", Becomes("COMPLETE:\n  - WHEN: input.contains(\"bye\") OR contains_it\n")),
    case("`x.contains(y)`", Legacy, Newest, "COMPLETE:\n  - WHEN: input contains \"bye\"\n", Stays),
    case("`x.contains(y)`", Legacy, Current, "COMPLETE:\n  - WHEN: done\n    RESPOND: \"It contains nothing\"\n", Stays),

    case("`ON_FAIL` for `ON_FAILURE`", Legacy, Current, "FLOW:\n  entry_point: a\n  steps: [a]\n\n  a:\n    REASONING: false\n    CALL: t()\n    ON_FAILURE:\n      THEN: COMPLETE\n    THEN: COMPLETE\n", Becomes("FLOW:\n  entry_point: a\n  steps: [a]\n\n  a:\n    REASONING: false\n    CALL: t()\n    ON_FAIL:\n      THEN: COMPLETE\n    THEN: COMPLETE\n")),
    case("`ON_FAIL` for `ON_FAILURE`", Legacy, Newest, "FLOW:\n  entry_point: a\n  steps: [a]\n\n  a:\n    REASONING: false\n    CALL: t()\n    ON_FAILURE:\n      THEN: COMPLETE\n    THEN: COMPLETE\n", Stays),
    case("`ON_FAIL` for `ON_FAILURE`", Legacy, Current, "FLOW:\n  entry_point: a\n  steps: [a]\n\n  a:\n    REASONING: false\n    CALL: t()\n    CHECK: x IS SET\n    ON_FAIL: a\n    ON_FAILURE:\n      THEN: COMPLETE\n", Told("FLOW:\n  entry_point: a\n  steps: [a]\n\n  a:\n    REASONING: false\n    CALL: t()\n    CHECK: x IS SET\n    ON_FAIL: a\n    ON_FAILURE:\n      THEN: COMPLETE\n", "has a check")),

    case("`ON:` with an event", Legacy, Current, "MEMORY:\n  recall:\n    - ON_START: \"Look it up\"\n    - ON_CITY_MENTION: \"Which one\"\n", Becomes("MEMORY:\n  recall:\n    - ON: session:start\n      ACTION: prompt_llm\n      INSTRUCTION: \"Look it up\"\n    - ON: entity:city:extracted\n      ACTION: prompt_llm\n      INSTRUCTION: \"Which one\"\n")),
    case("`ON:` with an event", Legacy, Newest, "MEMORY:\n  recall:\n    - ON: session_start\n      PATHS: [user.a]\n", Becomes("MEMORY:\n  recall:\n    - ON: session:start\n      PATHS: [user.a]\n")),
    case("`ON:` with an event", Legacy, Current, "MEMORY:\n  recall:\n    - ON_SEARCH: \"Sort them\"\n", Told("MEMORY:\n  recall:\n    - ON_SEARCH: \"Sort them\"\n", "from an older version")),
    case("`ON:` with an event", Legacy, Current, "MEMORY:\n  recall:\n    - ON: tool:search:after\n      PATHS: [user.a]\n", Stays),

    case("functions and wildcards", Legacy, Current, "MEMORY:\n  remember:\n    - WHEN: a IS SET\n      STORE: AVG(a) -> user.a\n", Told("MEMORY:\n  remember:\n    - WHEN: a IS SET\n      STORE: AVG(a) -> user.a\n", "no `AVG`")),
    case("functions and wildcards", Legacy, Current, "MEMORY:\n  remember:\n    - WHEN: a IS SET\n      STORE: a -> user.preferred_*\n", Told("MEMORY:\n  remember:\n    - WHEN: a IS SET\n      STORE: a -> user.preferred_*\n", "no wildcard")),

    case("strategies of gathering", Legacy, Current, "GATHER:\n  a:\n    prompt: \"A?\"\n    strategy: ml\n", Told("GATHER:\n  a:\n    prompt: \"A?\"\n    strategy: ml\n", "no strategy `ml`")),
    case("strategies of gathering", Legacy, Newest, "GATHER:\n  a:\n    prompt: \"A?\"\n    strategy: ml\n", Stays),
    case("strategies of gathering", Legacy, Current, "GATHER:\n  a:\n    prompt: \"A?\"\n    strategy: hybrid\n", Stays),

    case("a guardrail's check", Legacy, Current, "GUARDRAILS:\n  short:\n    kind: output\n    check: \"word_count(content) < 200\"\n    action: reask\n  rivals:\n    kind: output\n    check: \"not_matches_pattern(content, '(?i)rival')\"\n    action: block\n", Becomes("GUARDRAILS:\n  short:\n    kind: output\n    check: \"word_count(content) >= 200\"\n    action: reask\n  rivals:\n    kind: output\n    check: \"abl.matches_pattern(content, '(?i)rival')\"\n    action: block\n")),
    case("a guardrail's check", Legacy, Current, "GUARDRAILS:\n  odd:\n    kind: output\n    check: \"matches_pattern(content, 'x')\"\n    action: block\n", Told("GUARDRAILS:\n  odd:\n    kind: output\n    check: \"matches_pattern(content, 'x')\"\n    action: block\n", "cannot be decided")),
    case("a guardrail's check", Current, Newest, "GUARDRAILS:\n  long:\n    kind: output\n    check: \"word_count(content) >= 200\"\n    action: reask\n", Stays),

    case("`MAP` below", Current, Newest, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    CONTEXT:\n      history: none\n    RETURN: true\n    MAP:\n      # what comes back\n      a: b\n", Becomes("HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    CONTEXT:\n      history: none\n    RETURN: true\n    ON_RETURN:\n      MAP:\n        # what comes back\n        b: a\n")),
    case("`MAP` below", Legacy, Current, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    RETURN: true\n    MAP:\n      a: b\n", Stays),
    case("`MAP` below", Current, Newest, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    CONTEXT:\n      history: none\n    RETURN: true\n    ON_RETURN: continue\n    MAP:\n      a: b\n", Told("HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    CONTEXT:\n      history: none\n    RETURN: true\n    ON_RETURN: continue\n    MAP:\n      a: b\n", "`MAP`")),

    case("`memory_grants`", Current, Newest, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    CONTEXT:\n      history: none\n      grant_memory: [user.a, user.b]\n", Told("HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    CONTEXT:\n      history: none\n      memory_grants: [{path: user.a, access: read}, {path: user.b, access: read}]\n", "did not say")),
    case("`memory_grants`", Legacy, Current, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    CONTEXT:\n      grant_memory: [user.a]\n", Stays),

    case("how much of the conversation", Current, Newest, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    CONTEXT:\n      history: last_10\n  - TO: C\n    WHEN: x == 2\n    CONTEXT:\n      history: {last_n: 5}\n  - TO: D\n    WHEN: x == 3\n    CONTEXT:\n      history: full\n", Becomes("HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    CONTEXT:\n      history: {mode: last_n, count: 10}\n  - TO: C\n    WHEN: x == 2\n    CONTEXT:\n      history: {mode: last_n, count: 5}\n  - TO: D\n    WHEN: x == 3\n    CONTEXT:\n      history: full\n")),
    case("nothing of the conversation", Current, Newest, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n  - TO: C\n    WHEN: x == 2\n    CONTEXT:\n      pass: [a]\n", Becomes("HANDOFF:\n  - TO: B\n    HISTORY: none\n    WHEN: x == 1\n  - TO: C\n    WHEN: x == 2\n    CONTEXT:\n      history: none\n      pass: [a]\n")),
    case("nothing of the conversation", Newest, Newest, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n", Stays),
    case("nothing of the conversation", Legacy, Current, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n", Stays),

    case("skills and priority", Current, Newest, "ESCALATE:\n  triggers:\n    - WHEN: x == 1\n      REASON: \"x\"\n  routing:\n    queue: \"q\"\n    skill_tags: [a]   # who\n", Becomes("ESCALATE:\n  triggers:\n    - WHEN: x == 1\n      REASON: \"x\"\n  routing:\n    queue: \"q\"\n    skills: [a]   # who\n")),
    case("skills and priority", Current, Newest, "ESCALATE:\n  triggers:\n    - WHEN: x == 1\n      REASON: \"x\"\n  routing:\n    priority_boost: 2\n", Told("ESCALATE:\n  triggers:\n    - WHEN: x == 1\n      REASON: \"x\"\n  routing:\n    priority_boost: 2\n", "`priority_boost` is ignored")),
    case("skills and priority", Legacy, Current, "ESCALATE:\n  triggers:\n    - WHEN: x == 1\n      REASON: \"x\"\n  routing:\n    skill_tags: [a]\n", Stays),

    case("skills and priority", Current, Newest, "ESCALATE:\n  triggers:\n    - WHEN: x == 1\n      REASON: \"x\"\n  routing: {queue: \"q\", skill_tags: [a]}   # who\n", Becomes("ESCALATE:\n  triggers:\n    - WHEN: x == 1\n      REASON: \"x\"\n  routing: {queue: \"q\", skills: [a]}   # who\n")),
    case("skills and priority", Legacy, Newest, "ESCALATE:\n  triggers:\n    - WHEN: x == 1\n      REASON: \"x\"\n  routing: {priority_boost: 2, skill_tags: [a]}\n", Told("ESCALATE:\n  triggers:\n    - WHEN: x == 1\n      REASON: \"x\"\n  routing: {priority_boost: 2, skills: [a]}\n", "`priority_boost` is ignored")),

    // What stands in braces and would need lines of its own is told.
    case("`MAP` below", Current, Newest, "HANDOFF:\n  - {TO: B, WHEN: x == 1, history: none, RETURN: true, MAP: {a: b}}\n", Told("HANDOFF:\n  - {TO: B, WHEN: x == 1, history: none, RETURN: true, MAP: {a: b}}\n", "is from an older version")),
    case("nothing of the conversation", Current, Newest, "HANDOFF:\n  - {TO: B, WHEN: x == 1}\n", Told("HANDOFF:\n  - {TO: B, WHEN: x == 1}\n", "does not say")),

    case("a closed list of error types", Current, Newest, "ON_ERROR:\n  tool_timeout:   # slow\n    RESPOND: \"Wait\"\n    THEN: CONTINUE\n", Becomes("ON_ERROR:\n  tool_error:\n    SUBTYPE: tool_timeout   # slow\n    RESPOND: \"Wait\"\n    THEN: CONTINUE\n")),
    case("a closed list of error types", Current, Newest, "ON_ERROR:\n  rate_limit: ESCALATE\n", Becomes("ON_ERROR:\n  tool_error:\n    SUBTYPE: rate_limit\n    THEN: ESCALATE\n")),
    case("a closed list of error types", Current, Newest, "ON_ERROR:\n  tool_timeout:\n    THEN: CONTINUE\n  tool_error:\n    THEN: ESCALATE\n", Told("ON_ERROR:\n  tool_timeout:\n    THEN: CONTINUE\n  tool_error:\n    THEN: ESCALATE\n", "subtype of `tool_error`")),
    case("a closed list of error types", Current, Newest, "ON_ERROR:\n  printer_jam:\n    THEN: ESCALATE\n", Told("ON_ERROR:\n  printer_jam:\n    THEN: ESCALATE\n", "no error of type `printer_jam`")),
    case("a closed list of error types", Legacy, Current, "ON_ERROR:\n  tool_timeout:\n    THEN: ESCALATE\n", Stays),

    case("handlers of errors that jump", Current, Newest, "FLOW:\n  entry_point: a\n  steps: [a]\n\n  a:\n    REASONING: false\n    RESPOND: \"A\"\n    THEN: COMPLETE\n\nON_ERROR:\n  default:\n    THEN: a\n", Told("FLOW:\n  entry_point: a\n  steps: [a]\n\n  a:\n    REASONING: false\n    RESPOND: \"A\"\n    THEN: COMPLETE\n\nON_ERROR:\n  default:\n    THEN: a\n", "goes to no step")),
    case("only orchestrators delegate", Current, Newest, "DELEGATE:\n  - AGENT: B\n    WHEN: x == 1\n", Told("DELEGATE:\n  - AGENT: B\n    WHEN: x == 1\n", "only orchestrators")),
    case("only orchestrators delegate", Current, Newest, "DELEGATE:\n  - AGENT: B\n    WHEN: x == 1\n\nBEHAVIOR:\n  role: orchestrator\n", Stays),

    case("`DEFAULT_VALUE`", Current, Newest, "MEMORY:\n  persistent:\n    - PATH: user.a\n      SCOPE: user\n      DEFAULT: 1\n    - PATH: user.b\n      DEFAULT_VALUE: 2\n", Becomes("MEMORY:\n  persistent:\n    - PATH: user.a\n      SCOPE: user\n      DEFAULT_VALUE: 1\n    - PATH: user.b\n      DEFAULT_VALUE: 2\n")),
    case("`DEFAULT_VALUE`", Legacy, Current, "MEMORY:\n  persistent:\n    - PATH: user.a\n      DEFAULT: 1\n", Stays),

    // Rows of the comparison that ask for nothing: read alike by all versions.
    case("", Legacy, Newest, "MEMORY:\n  session:\n    - bare\n  persistent:\n    - user.bare\n", Stays),
    case("", Legacy, Newest, "CONSTRAINTS:\n  pre_search:\n    - REQUIRE a IS SET\n      ON_FAIL: \"A?\"\n", Stays),
    case("", Legacy, Current, "HANDOFF:\n  - TO: B\n    WHEN: x == 1\n    RETURN: true\n", Stays),
];

fn run(from: Version, to: Version, text: &str) -> Migration {
    match migrate(Detected { language: ABL, kind: &ABL_FILE }, FileId(0), text, Some(from), to) {
        Ok(done) => done,
        Err(refusal) => panic!("{refusal:?}\n{text}"),
    }
}

#[test]
fn rows_change_what_they_should_and_nothing_else() {
    let mut problems = Vec::new();
    for Case { row, from, to, before, then } in CASES {
        let text = format!("{HEAD}{before}");
        let done = run(*from, *to, &text);
        let told: Vec<&str> = done.findings.iter().map(|f| f.message.as_str()).collect();
        let (expected, words) = match then {
            Becomes(after) => (*after, None),
            Stays => (*before, None),
            Told(after, words) => (*after, Some(*words)),
        };
        let after = done.text.strip_prefix(HEAD).unwrap_or(&done.text);
        let as_told = match words {
            Some(words) => told.iter().any(|m| m.contains(words)),
            None => told.is_empty(),
        };
        if after != expected || !as_told {
            problems.push(format!("{row}, {from} to {to}:\n{after}told: {told:#?}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n---\n"));
}

#[test]
fn every_row_has_cases_that_change_or_tell() {
    let without: Vec<&str> = ROWS
        .iter()
        .map(|row| row.what)
        .filter(|what| {
            let about = |c: &&Case| !c.row.is_empty() && what.starts_with(c.row);
            // What makes files is shown below.
            !CASES.iter().filter(about).any(|c| !matches!(c.then, Stays))
                && *what != "profiles in files of their own"
        })
        .collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn profiles_become_files() {
    let text = "AGENT: A\r\nGOAL: \"Help\"\r\n\r\nBEHAVIOR_PROFILES:\r\n  - NAME: phone   # by voice\r\n    PRIORITY: 10\r\n    WHEN: context.channel == \"voice\"\r\n    # short\r\n    INSTRUCTIONS: |\r\n      One sentence.\r\n        Or two.\r\n  - NAME: web\r\n    PRIORITY: 1\r\n    WHEN: context.channel == \"web\"\r\n\r\nCOMPLETE:\r\n  - WHEN: done\r\n";
    let done = run(Legacy, Current, text);
    assert_eq!(
        done.text,
        "AGENT: A\r\nGOAL: \"Help\"\r\n\r\nUSE BEHAVIOR_PROFILE: phone\r\nUSE BEHAVIOR_PROFILE: web\r\n\r\nCOMPLETE:\r\n  - WHEN: done\r\n"
    );
    let [phone, web] = done.files.as_slice() else { panic!("{:?}", done.files) };
    assert_eq!(phone.name, "phone.behavior_profile.abl");
    assert_eq!(
        phone.text,
        "BEHAVIOR_PROFILE: phone\r\n\r\nPRIORITY: 10\r\nWHEN: context.channel == \"voice\"\r\n# short\r\nINSTRUCTIONS: |\r\n  One sentence.\r\n    Or two.\r\n"
    );
    assert_eq!(web.name, "web.behavior_profile.abl");
}

#[test]
fn the_legacy_samples_in_newer_versions() {
    for sample in ours("legacy") {
        for file in &sample.files {
            for to in [Current, Newest] {
                let done = run(Legacy, to, &file.text);
                let name = file.name.rsplit('/').next().unwrap_or_default();
                let told: Vec<String> = done
                    .findings
                    .iter()
                    .map(|f| {
                        let line = done.text[..f.primary.span.start as usize].lines().count();
                        format!("{line}: {} ({})", f.message, f.rule.0)
                    })
                    .collect();
                let files: Vec<String> =
                    done.files.iter().map(|f| format!("{}\n{}", f.name, f.text)).collect();
                insta::assert_snapshot!(
                    format!("{name}_to_{to}"),
                    format!(
                        "{}\n=====\n{}\n=====\n{}",
                        done.text,
                        files.join("\n"),
                        told.join("\n")
                    )
                );
            }
        }
    }
}

/// A migrated document is of the new version: migrating it again changes nothing, and nothing of it
/// belongs to another version but what was told.
#[test]
fn what_was_migrated_is_of_its_version() {
    migrated_documents_are_of_their_version(all_ours());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn what_was_migrated_of_the_specifications_is_of_its_version() {
    migrated_documents_are_of_their_version(external_abl());
}

fn migrated_documents_are_of_their_version(samples: Vec<Sample>) {
    let mut problems = Vec::new();
    for sample in samples {
        for file in sample.files.iter().filter(|f| !f.name.ends_with(".json")) {
            for to in [Current, Newest] {
                let language = languages().detect(&file.name, &file.text);
                let once = match migrate(language, FileId(0), &file.text, sample.version, to) {
                    Ok(once) => once,
                    Err(RewriteError::InvalidStructure(_)) => continue,
                    Err(RewriteError::MeaningChanged(what)) => {
                        problems.push(format!("{} to {to}: {what} differs", file.name));
                        continue;
                    }
                };
                if once.from > to {
                    continue;
                }
                match migrate(language, FileId(0), &once.text, Some(to), to) {
                    Ok(twice) if twice.text == once.text => {}
                    Ok(twice) => {
                        let at = once.text.lines().zip(twice.text.lines()).find(|(a, b)| a != b);
                        problems.push(format!("{} to {to}: changes again: {at:?}", file.name));
                    }
                    Err(refusal) => problems.push(format!("{} to {to}: {refusal:?}", file.name)),
                }
                let told: Vec<_> = once.findings.iter().map(|f| f.rule).collect();
                let options = Options { version: Some(to), fragment: sample.fragment };
                let migrated =
                    agentir_tests::check::File { name: file.name.clone(), text: once.text };
                let checked = check(&[migrated], options);
                let group = |rule: &str| agentir_lint::rule(rule).map(|r| r.group);
                problems.extend(
                    checked
                        .diagnostics
                        .iter()
                        .filter(|d| {
                            group(d.rule.0) == Some(agentir_lint::Group::Versions)
                                && d.severity > Severity::Info
                                && !matches!(
                                    d.rule.0,
                                    "newer-form"
                                        | "unknown-recall-event"
                                        | "plain-english-complete"
                                )
                                && !told.contains(&d.rule)
                        })
                        .map(|d| format!("to {to}: {}", checked.line(d))),
                );
            }
        }
    }
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems.join("\n"));
}
