//! Comparing what programs do: nothing tells a program from itself, what means the same is the same
//! however it is written, and what does not is told by a conversation.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::{languages, targets};
use agentir_compare::{Comparison, NormalizedProgram, Verdict, differences};
use agentir_convert::{OutputFile, convert, read_back};
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check, compare};
use agentir_tests::samples::{
    Sample, adl, agent_script, external_abl, external_agent_script, ours,
};

fn read(name: &str, text: &str) -> Checked {
    check(&[File { name: name.to_owned(), text: text.to_owned() }], Options::default())
}

/// A flow of ABL with this body of its first step.
fn flow(step: &str) -> String {
    format!(
        "AGENT: pool\n\nGOAL: \"Lets lanes\"\n\nMEMORY:\n  session:\n    - guests\n        TYPE: number\n    - member\n        TYPE: boolean\n\nTOOLS:\n  book(day: string) -> {{code: string}}\n    description: \"Books\"\n\nFLOW:\n  entry_point: begin\n\n  begin:\n{step}\n  thanks:\n    RESPOND: \"Thank you\"\n    THEN: COMPLETE\n\n  sorry:\n    RESPOND: \"Sorry\"\n    THEN: COMPLETE\n"
    )
}

fn compared(one: &str, other: &str) -> Comparison {
    compare(&read("one.agent.abl", &flow(one)), &read("other.agent.abl", &flow(other)))
}

fn input(sample: Sample) -> (Vec<File>, Options) {
    (sample.files, Options { version: sample.version, fragment: sample.fragment })
}

#[test]
fn nothing_tells_a_program_from_itself() {
    let mut all = Vec::new();
    for folder in ["valid", "invalid", "newest", "legacy"] {
        all.extend(ours(folder).into_iter().map(input));
    }
    for folder in ["valid", "invalid"] {
        all.extend(agent_script(folder).into_iter().map(input));
        all.extend(adl(folder).into_iter().map(|files| (files, Options::default())));
    }
    same_as_themselves(all);
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn nothing_tells_a_program_of_others_from_itself() {
    let mut all: Vec<_> = external_abl().into_iter().map(input).collect();
    all.extend(external_agent_script().into_iter().map(|f| (vec![f], Options::default())));
    same_as_themselves(all);
}

fn same_as_themselves(programs: Vec<(Vec<File>, Options)>) {
    let mut problems = Vec::new();
    for (files, options) in programs {
        let checked = check(&files, options);
        let found = compare(&checked, &checked);
        if found.verdict != Verdict::Same {
            let name = &files.first().unwrap().name;
            problems.push(format!("{name}: {}\n{}", found.summary(), found.text(["a", "b"])));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The same, written otherwise.
#[test]
fn what_means_the_same_is_the_same() {
    let input = |branches: &[(&str, &str)]| {
        let mut step = "    RESPOND: \"Well?\"\n    ON_INPUT:\n".to_owned();
        for (condition, to) in branches {
            step += &match *condition {
                "" => format!("      - ELSE:\n        THEN: {to}\n"),
                condition => format!("      - IF: {condition}\n        THEN: {to}\n"),
            };
        }
        step
    };
    let mut problems = Vec::new();
    for (one, other) in [
        // Operands of `AND` in another order.
        (
            vec![("member AND guests > 3", "sorry"), ("", "thanks")],
            vec![("guests > 3 AND member", "sorry"), ("", "thanks")],
        ),
        // De Morgan.
        (
            vec![("NOT (member AND guests > 3)", "thanks"), ("", "sorry")],
            vec![("NOT member OR NOT guests > 3", "thanks"), ("", "sorry")],
        ),
        // The branches turned round.
        (
            vec![("guests > 3", "sorry"), ("", "thanks")],
            vec![("NOT guests > 3", "thanks"), ("", "sorry")],
        ),
        // One branch for two that lead to the same place.
        (
            vec![("guests > 3", "sorry"), ("member", "sorry"), ("", "thanks")],
            vec![("guests > 3 OR member", "sorry"), ("", "thanks")],
        ),
        // A branch that can never be taken.
        (
            vec![("guests > 3", "sorry"), ("guests > 8", "thanks"), ("", "thanks")],
            vec![("guests > 3", "sorry"), ("", "thanks")],
        ),
        // Only the solver knows that these are the same.
        (
            vec![("guests > 3 AND guests < 9", "sorry"), ("", "thanks")],
            vec![("guests < 9 AND guests > 3 AND guests > 2", "sorry"), ("", "thanks")],
        ),
    ] {
        let found = compared(&input(&one), &input(&other));
        if found.behaviour.same != found.behaviour.places {
            problems.push(format!("{one:?} / {other:?}:\n{}", found.text(["one", "other"])));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_difference_is_a_conversation() {
    const BEFORE: &str = "    RESPOND: \"For how many?\"\n    ON_INPUT:\n      - IF: guests > 8\n        RESPOND: \"That is too many\"\n        THEN: sorry\n      - IF: input == \"stop\"\n        THEN: sorry\n      - ELSE:\n        CALL: book(day)\n        ON_FAIL:\n          THEN: sorry\n        THEN: thanks\n";
    let mut told = String::new();
    for (from, to) in [
        ("guests > 8", "guests >= 8"),
        ("\"That is too many\"", "\"Too many\""),
        ("CALL: book(day)", "CALL: book(\"Monday\")"),
        (
            "          THEN: sorry\n        THEN: thanks",
            "          THEN: thanks\n        THEN: thanks",
        ),
        ("      - IF: input == \"stop\"\n        THEN: sorry\n", ""),
    ] {
        assert!(BEFORE.contains(from));
        let found = compared(BEFORE, &BEFORE.replace(from, to));
        assert_eq!(found.verdict, Verdict::Different, "{from} → {to}");
        told += &format!("{from} → {to}\n{}\n", found.text(["before", "after"]));
    }
    insta::assert_snapshot!(told);
}

/// A difference at the end of a long chain parts the chain step by step.
#[test]
fn long_flows_are_compared() {
    let long = |last: &str| {
        let mut step = "    THEN: s0\n".to_owned();
        for i in 0..500 {
            step += &format!(
                "  s{i}:\n    RESPOND: \"Number {i}\"\n    ON_INPUT:\n      - IF: guests > {i}\n        THEN: s{}\n      - ELSE:\n        THEN: thanks\n",
                i + 1
            );
        }
        step + &format!("  s500:\n    RESPOND: \"{last}\"\n    THEN: COMPLETE\n")
    };
    // Without the rules, which look at the conditions of long flows for much longer.
    let read = |last: &str| {
        let text = flow(&long(last));
        read_back(languages(), &[OutputFile { path: "long.agent.abl".to_owned(), text }])
    };
    let verdict = |one: &str, other: &str| {
        let [(sources, program, _), (other_sources, other_program, _)] = [read(one), read(other)];
        let checked = |sources, program| Checked { sources, program, diagnostics: Vec::new() };
        let other = checked(other_sources, other_program);
        let found = compare(&checked(sources, program), &other);
        (found.verdict, found.behaviour.different.first().map(|d| d.turns_before))
    };
    assert_eq!(verdict("End", "End"), (Verdict::Same, None));
    let (found, before) = verdict("End", "The end");
    assert_eq!(found, Verdict::Different);
    assert!(before > Some(900), "{before:?}");
}

/// A call without `WITH` takes the variables named like the parameters; an empty one passes nothing.
#[test]
fn no_arguments_are_not_the_arguments_of_the_same_names() {
    let program = |call: &str| {
        let text = flow(&format!("    CALL: book\n{call}    THEN: thanks\n"))
            .replace("book(day: string)", "book(guests?: number)");
        read("one.agent.abl", &text)
    };
    let (nothing, same_names) = (program("    WITH: {}\n"), program(""));
    let normalized = |checked: &Checked| NormalizedProgram::new(&checked.program);
    let found = differences(&normalized(&nothing), &normalized(&same_names));
    let paths: Vec<&str> = found.iter().map(|difference| difference.path.as_str()).collect();
    assert_eq!(paths, ["agents.pool.flow.definitions.(entry).call_spec.with"], "{found:?}");
    assert_eq!(compare(&nothing, &same_names).verdict, Verdict::Different);
    assert_eq!(compare(&nothing, &nothing).verdict, Verdict::Same);
    assert_eq!(compare(&same_names, &same_names).verdict, Verdict::Same);
    for (checked, written) in [(&nothing, true), (&same_names, false)] {
        let target = targets::all().into_iter().find(|target| target.name() == "abl").unwrap();
        let conversion = convert(languages(), &checked.program, &checked.sources, target);
        let text = &conversion.files.first().unwrap().text;
        assert_eq!(text.contains("WITH: {}"), written, "{text}");
    }
}

/// The texts of a program with one line changed, in as many ways as there are lines with a quoted text or a number: the
/// file, the line, and the program. Neither the list of a project's files nor the code of tools is what agents do.
fn changed_lines(files: &[File]) -> Vec<(usize, usize, Vec<File>)> {
    let text = regex::Regex::new(r#""([^"\\{}$]*[a-z])""#).unwrap();
    let number = regex::Regex::new(r"([:=<>] )(\d+)$").unwrap();
    let mut all = Vec::new();
    let is_agent = |file: &File| !file.name.ends_with(".json") && !file.name.ends_with(".py");
    for (at, file) in files.iter().enumerate().filter(|(_, file)| is_agent(file)) {
        for (line, written) in file.text.lines().enumerate() {
            let is_comment = written.trim_start().starts_with(['#', '/']);
            let other = match text.is_match(written) {
                true => text.replace(written, "\"${1}x\""),
                false => number.replace(written, "${1}1${2}"),
            };
            if is_comment || other == written {
                continue;
            }
            let mut lines: Vec<&str> = file.text.lines().collect();
            *lines.get_mut(line).unwrap() = &other;
            let text = lines.join("\n") + "\n";
            let mut files: Vec<File> = files.to_vec();
            *files.get_mut(at).unwrap() = File { name: file.name.clone(), text };
            all.push((at, line + 1, files));
        }
    }
    all
}

/// Whoever changes one line of a program, inside or outside of what controls the conversation, is told so: a difference
/// is at the line, or at the part that it belongs to, with what the line says now.
#[test]
fn a_change_of_one_line_is_named() {
    let mut programs: Vec<_> = ours("valid").into_iter().map(input).collect();
    programs.extend(agent_script("valid").into_iter().map(input));
    programs.extend(adl("valid").into_iter().map(|files| (files, Options::default())));
    let read = |files: &[File], options| {
        let mut loaded = agentir_tests::check::load(files, options);
        let errors = loaded.diagnostics.iter().any(|d| {
            // A text that another place refers to may have to be what it was.
            d.severity == agentir_diagnostics::Severity::Error
        });
        (!errors).then(|| (loaded.programs.pop().unwrap().program, loaded.sources))
    };
    let (mut tried, mut silent) = (0_usize, Vec::new());
    for (files, options) in programs {
        let Some((before, _)) = read(&files, options) else { continue };
        let before = NormalizedProgram::new(&before);
        // Some of them: neighbours are alike.
        for (at, line, changed) in changed_lines(&files).into_iter().step_by(3) {
            let Some((after, sources)) = read(&changed, options) else { continue };
            tried += 1;
            let found = differences(&before, &NormalizedProgram::new(&after));
            let is_there = |span: agentir_diagnostics::Span| {
                let file = sources.get(span.file).unwrap();
                let lines = [span.start, span.end].map(|at| file.line_column(at).line as usize);
                *file.name == *files.get(at).unwrap().name && (lines[0]..=lines[1]).contains(&line)
            };
            let now = changed.get(at).unwrap().text.lines().nth(line - 1).unwrap();
            let says = |value: &serde_json::Value| match value {
                serde_json::Value::String(text) => {
                    let longer = |(a, b): (&str, &str)| a.contains(b) || b.contains(a);
                    let long = |part: &&str| part.len() > 3;
                    now.ends_with(&format!(" {text}"))
                        || long(&text.as_str())
                            && now.split('"').filter(long).any(|part| longer((text, part)))
                }
                value => now.ends_with(&value.to_string()),
            };
            let named = found.iter().any(|difference| {
                let Some((value, span)) = &difference.right else { return false };
                span.is_some_and(is_there) || says(value)
            });
            if !named {
                let name = &files.get(at).unwrap().name;
                silent.push(format!("{name}:{line}: {found:?}"));
            }
        }
    }
    assert!(silent.is_empty(), "{} of {tried}:\n{}", silent.len(), silent.join("\n"));
    assert!(tried >= 150, "{tried}");
}
