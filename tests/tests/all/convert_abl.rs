//! Conversions to ABL, in both notations.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::{languages, targets};
use agentir_compare::Verdict;
use agentir_convert::{Conversion, NormalizedProgram, Target, convert, differences};
use agentir_diagnostics::{Diagnostic, Severity, SourceMap};
use agentir_ir::Program;
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};
use agentir_tests::samples::{
    Sample, adl, agent_script, external_agent_script, external_documents, files_below, ours, root,
};
use std::path::Path;

const BOTH: [Target; 2] = [targets::ABL, targets::ABL_YAML];

struct Source {
    name: String,
    sources: SourceMap,
    program: Program,
}

fn source(files: &[File], options: Options) -> Source {
    let name = files.first().map(|f| f.name.clone()).unwrap_or_default();
    let checked = check(files, options);
    Source { name, sources: checked.sources, program: checked.program }
}

fn sources(samples: Vec<Sample>) -> impl Iterator<Item = Source> {
    samples
        .into_iter()
        .map(|s| source(&s.files, Options { version: s.version, fragment: s.fragment }))
}

fn assert_none(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

/// What our front end calls an error in the output, each with its line.
fn errors(name: &str, done: &Conversion) -> Vec<String> {
    let errors = done.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors
        .map(|d| {
            let file = done.sources.get(d.primary.span.file).unwrap();
            let at = file.line_column(d.primary.span.start).line;
            let line = file.text.lines().nth(at as usize - 1).unwrap_or_default();
            format!("{name}: {}:{at}: {} ({}): {line}", file.name, d.rule.0, d.message)
        })
        .collect()
}

/// What two programs do not have in common.
fn differing(name: &str, left: &Program, right: &Program) -> Vec<String> {
    let found = differences(&NormalizedProgram::new(left), &NormalizedProgram::new(right));
    found
        .iter()
        .map(|d| {
            let side = |v: &Option<(serde_json::Value, _)>| {
                v.as_ref().map_or_else(|| "nothing".to_owned(), |(v, _)| v.to_string())
            };
            format!("{name}: {}: {} / {}", d.path, side(&d.left), side(&d.right))
        })
        .collect()
}

/// Another name for the differences that a sample has for a reason.
fn rewritten(source: &Source, problems: &mut Vec<String>) {
    for target in BOTH {
        let done = convert(languages(), &source.program, &source.sources, target);
        let name = format!("{} to {}", source.name, target.name());
        problems.extend(errors(&name, &done));
        let removed: Vec<&str> = done
            .report
            .losses()
            .filter(|entry| entry.how.as_deref() == Some(crate::convert::REMOVED))
            .map(|entry| entry.path.as_str())
            .collect();
        let differing = differing(&name, &source.program, &done.program).into_iter();
        problems.extend(differing.filter(|d| !removed.iter().any(|path| d.contains(path))));
        // What was written is written the same way again.
        let again = convert(languages(), &done.program, &done.sources, target);
        if again.files != done.files {
            problems.push(format!("{name}: written again, it looks different"));
        }
    }
}

#[test]
fn our_samples_keep_everything() {
    let mut problems = Vec::new();
    for folder in ["valid", "newest", "legacy"] {
        for source in sources(ours(folder)) {
            rewritten(&source, &mut problems);
        }
    }
    assert_none("differences", &problems);
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn the_documents_of_the_specifications_keep_everything() {
    let mut problems = Vec::new();
    for sample in external_documents() {
        let options = Options { version: sample.version, fragment: false };
        let checked = check(&sample.files, options);
        if checked.errors().next().is_none() {
            rewritten(&source(&sample.files, options), &mut problems);
        }
    }
    assert_none("differences", &problems);
}

/// The folders of one agent's languages.
fn folders(at: &Path) -> Vec<std::path::PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(at).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

/// The same agent, written by hand in ABL and converted from another language, is the same.
#[test]
fn conversions_are_as_good_as_what_is_written_by_hand() {
    let mut problems = Vec::new();
    for agent in folders(&root().join("corpus/rosetta")) {
        let by_hand = source(&files_below(&agent.join("abl")), Options::default());
        for language in folders(&agent) {
            let other = source(&files_below(&language), Options::default());
            for target in BOTH {
                let done = convert(languages(), &other.program, &other.sources, target);
                let name = format!("{} to {}", language.display(), target.name());
                problems.extend(errors(&name, &done));
                let found = differing(&name, &by_hand.program, &done.program);
                // Agent Script requires a message; the others leave it to the platform. What only chooses other agents
                // becomes a supervisor, which in ABL may as well be an agent with handoffs.
                let free = [
                    ".messages.error.",
                    ".metadata.type: \"agent\" / \"supervisor\"",
                    ".available_agents[",
                ];
                let all = found.into_iter().filter(|d| !free.iter().any(|part| d.contains(part)));
                problems.extend(all);
            }
        }
    }
    assert_none("differences", &problems);
}

fn foreign() -> Vec<Source> {
    let mut all: Vec<Source> = sources(agent_script("valid")).collect();
    all.extend(adl("valid").iter().map(|files| source(files, Options::default())));
    all
}

/// A loss of a sample of ours is one that the table knows.
#[test]
fn every_loss_has_a_reason() {
    let mut problems = Vec::new();
    for source in foreign() {
        for target in BOTH {
            let done = convert(languages(), &source.program, &source.sources, target);
            let name = format!("{} to {}", source.name, target.name());
            problems.extend(errors(&name, &done));
            let unexplained = done.report.losses().filter(|e| {
                e.how.as_deref().is_some_and(|how| how.ends_with("has no place for it"))
            });
            problems.extend(unexplained.map(|e| format!("{name}: {}: {}", e.path, e.value)));
        }
    }
    assert_none("losses without a reason", &problems);
}

/// Errors that the rules find in the output are in the source as well: there are none.
#[test]
fn conversions_of_our_samples_have_no_errors() {
    let mut problems = Vec::new();
    for source in foreign() {
        for target in BOTH {
            let done = convert(languages(), &source.program, &source.sources, target);
            let files: Vec<File> = done
                .files
                .iter()
                .map(|f| File { name: f.path.clone(), text: f.text.clone() })
                .collect();
            let checked = check(&files, Options::default());
            let name = format!("{} to {}", source.name, target.name());
            problems.extend(checked.errors().map(|d| format!("{name}: {}", checked.line(d))));
        }
    }
    assert_none("errors in the output", &problems);
}

/// The text of a file of the output.
fn text(source: &Source, target: Target, path: &str) -> String {
    let done = convert(languages(), &source.program, &source.sources, target);
    let file = done.files.iter().find(|f| f.path == path);
    file.unwrap_or_else(|| panic!("no {path}")).text.clone()
}

#[test]
fn agent_script_reads_as_abl() {
    let sample = agent_script("valid")
        .into_iter()
        .find(|s| s.files.first().unwrap().name.ends_with("luthier_orders.agent"))
        .unwrap();
    let source = source(&sample.files, Options::default());
    insta::assert_snapshot!(text(&source, targets::ABL, "agents/workshop.agent.abl"));
}

#[test]
fn adl_reads_as_abl() {
    let bots = adl("valid");
    let ferry = bots.iter().find(|b| b.iter().any(|f| f.name.contains("ferry"))).unwrap();
    let source = source(ferry, Options::default());
    insta::assert_snapshot!(text(&source, targets::ABL, "agents/crossing.agent.abl"));
    insta::assert_snapshot!(text(&source, targets::ABL_YAML, "agents/harbour.agent.yaml"));
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn what_others_wrote_can_be_read() {
    let mut problems = Vec::new();
    for file in external_agent_script() {
        let source = source(&[file], Options::default());
        if source.program.agents.is_empty() {
            continue;
        }
        for target in BOTH {
            let done = convert(languages(), &source.program, &source.sources, target);
            problems.extend(errors(&format!("{} to {}", source.name, target.name()), &done));
        }
    }
    assert_none("errors in the output", &problems);
}

/// Names that ABL's runtime and expressions have for themselves, in the languages that may use them.
const RESERVED: &[&str] =
    &["user_id", "channel", "language", "match", "tool_failures", "_x", "__7", "route", "implies"];

fn in_adl(name: &str) -> File {
    let text = format!(
        "desk:\n  type: flow agent\n  description: A desk\n  args:\n    - {name}\n    - order\n  steps:\n    \
         - bot: \"You are ${{{name}}}, and it is ${{order}}.\"\n    - user\n    - if: {name} == \"a\"\n      \
         then:\n        - set:\n            order: {name}\n      else:\n        - return: error, no\n    \
         - call: look_up\n      args:\n        {name}: {name}\n    - return: success, done\n"
    );
    File { name: "agents.yml".to_owned(), text }
}

fn in_agent_script(name: &str) -> File {
    let text = format!(
        "config:\n    developer_name: \"desk\"\nvariables:\n    {name}: mutable string = \"\"\n    \
         order: mutable string = \"\"\nstart_agent desk:\n    description: \"A desk\"\n    reasoning:\n        \
         instructions: ->\n            if @variables.{name} == \"a\":\n                | You talk to \
         {{!@variables.{name}}}.\n        actions:\n            note: @utils.setVariables\n                \
         description: \"Notes who it is\"\n                with {name}=...\n            on: @utils.transition to \
         @subagent.till\n                available when @variables.{name} != \"\"\nsubagent till:\n    description: \
         \"The till\"\n    reasoning:\n        instructions: ->\n            | Ask {{!@variables.{name}}} to pay.\n"
    );
    File { name: "desk.agent".to_owned(), text }
}

#[test]
fn reserved_names_are_called_otherwise_everywhere() {
    let mut problems = Vec::new();
    for name in RESERVED {
        for file in [in_adl(name), in_agent_script(name)] {
            // Agent Script's names begin with letters, and none of its variables is called `__7`.
            if file.name.ends_with(".agent") && name.starts_with('_') {
                continue;
            }
            let source = source(&[file], Options::default());
            for target in BOTH {
                let mut done = convert(languages(), &source.program, &source.sources, target);
                let what = format!("{name} in {} to {}", source.name, target.name());
                problems.extend(errors(&what, &done));
                let renamed: Vec<_> =
                    done.report.renamed.iter().map(|r| (r.what, r.from.as_str())).collect();
                if renamed != [("variable", *name)] {
                    problems.push(format!("{what}: renamed are {renamed:?}"));
                }
                done.verify(&source.program, &source.sources);
                let proof = done.report.proof.as_ref().unwrap();
                // The new name is in the report.
                if proof.verdict > Verdict::SameButAnnounced && source.name.ends_with(".yml") {
                    problems.push(format!("{what}: {}", proof.text(["source", "output"])));
                }
                let files: Vec<File> = done
                    .files
                    .iter()
                    .map(|f| File { name: f.path.clone(), text: f.text.clone() })
                    .collect();
                let checked = check(&files, Options::default());
                let still = checked.diagnostics.iter().filter(|d| d.rule.0 == "reserved-name");
                problems.extend(still.map(|d| format!("{what}: {}", checked.line(d))));
                // Tools keep the names of their parameters, and texts their words.
                let parameter = format!("{name}: ");
                let left = done.files.iter().flat_map(|f| f.text.lines()).filter(|line| {
                    let line = line.replace(&parameter, "");
                    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == *name)
                });
                problems.extend(left.map(|line| format!("{what}: {line}")));
            }
        }
    }
    assert_none("reserved names", &problems);
}

/// Findings in recipes that were converted which are none in the source, each with the reason.
const NEW_IN_RECIPES: &[(&str, &str, &str)] = &[
    // A command of Salesforce's platform; ABL's model has none, and the finding says so.
    ("CustomLightningTypes", "unlisted-tool", "`show_command`"),
];

/// What the rules find in an agent that was converted, they find in its source.
#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn recipes_become_agents_without_new_mistakes() {
    let recipes = external_agent_script().into_iter().filter(|f| f.name.contains("recipes"));
    let mut problems = Vec::new();
    for recipe in recipes {
        let before = check(std::slice::from_ref(&recipe), Options::default());
        // What is wrong itself is not converted by the program either.
        if before.errors().next().is_some() {
            continue;
        }
        let done = convert(languages(), &before.program, &before.sources, targets::ABL);
        let file =
            |f: &agentir_convert::OutputFile| File { name: f.path.clone(), text: f.text.clone() };
        let files: Vec<File> = done.files.iter().map(file).collect();
        let after = check(&files, Options::default());
        let known = |d: &&Diagnostic| before.diagnostics.iter().any(|b| b.rule == d.rule);
        let allowed = |d: &&Diagnostic| {
            NEW_IN_RECIPES.iter().any(|(name, rule, words)| {
                recipe.name.contains(name) && d.rule.0 == *rule && d.message.contains(words)
            })
        };
        let new = after.diagnostics.iter().filter(|d| !known(d) && !allowed(d));
        problems.extend(new.map(|d| format!("{}: {}", recipe.name, after.line(d))));
    }
    assert_none("findings in recipes that are new", &problems);
}

/// A hook of ABL knows no outcomes of calls: what follows from a result is set behind the choice, under
/// the condition of its branch, and what would be called then is reported.
#[test]
fn hooks_have_no_outcomes() {
    let nested = agent_script("valid").into_iter().find(|sample| {
        sample.files.iter().any(|file| file.name.ends_with("beekeeper_hotline.agent"))
    });
    let from = source(&nested.unwrap().files, Options::default());
    let done = convert(languages(), &from.program, &from.sources, targets::ABL);
    let text: String = done.files.iter().map(|f| f.text.as_str()).collect();
    let hooks = text.split_once("HOOKS:").unwrap().1;
    insta::assert_snapshot!(hooks.split_once("MESSAGES:").unwrap().0);
    let lost: Vec<&str> = done.report.losses().map(|e| e.path.as_str()).collect();
    assert!(lost.iter().any(|path| path.ends_with("on_success.call")), "{lost:?}");
}

/// An element of a list by a number that is worked out, everywhere an expression may stand.
const ELEMENTS: &str = r#"system:
    instructions: "You help."
config:
    developer_name: "queue"
variables:
    items: mutable list[string] = []
    n: mutable number = 0
    current: mutable string = ""
    done: mutable boolean = False
start_agent picker:
    description: "Picks one"
    reasoning:
        instructions: ->
            if @variables.items[@variables.n] == "a":
                set @variables.current = "x"
                | Say that it is an a.
            else if @variables.done:
                | Say that it is done.
            set @variables.current = @variables.items[@variables.n + 1]
            | The item is {!@variables.items[@variables.n]}.
        actions:
            go: @utils.transition to @subagent.other
                available when @variables.items[@variables.n] == "b" or @variables.done
            look: @actions.look
                available when @variables.items[@variables.n] != ""
                with q=@variables.items[@variables.n]
            note: @utils.setVariables
                available when @variables.items[@variables.n] == "d"
                with n=...
            person: @utils.escalate
                available when @variables.items[@variables.n] == "e"
    actions:
        look:
            description: "Looks something up"
            inputs:
                q: string
            outputs:
                r: string
            target: "flow://look"
    after_reasoning:
        if @variables.items[@variables.n] == "c":
            transition to @subagent.other
subagent other:
    description: "Does the rest"
    reasoning:
        instructions: |
            Help.
"#;

/// ABL has no form for it: where the model decides and in texts it is said in words; where the runtime would
/// take words for true, and for values, it is left out and reported.
/// A branch that is never taken is no outcome of a check.
#[test]
fn a_second_else_is_no_failure() {
    let text = "AGENT: A\nGOAL: \"g\"\nFLOW:\n  a:\n    REASONING: false\n    ON_RESULT:\n      - ELSE:\n        RESPOND: \"One\"\n        THEN: COMPLETE\n      - ELSE:\n        RESPOND: \"Two\"\n        THEN: COMPLETE\n";
    let file = File { name: "a.agent.abl".to_owned(), text: text.to_owned() };
    let source = source(&[file], Options::default());
    let written = self::text(&source, targets::ABL, "a.agent.abl");
    assert!(!written.contains("ON_FAIL"), "{written}");
    let done = convert(languages(), &source.program, &source.sources, targets::ABL);
    assert_eq!(differing("a", &source.program, &done.program), [""; 0]);
}

#[test]
fn elements_by_number_are_said_in_words() {
    let file = File { name: "queue.agent".to_owned(), text: ELEMENTS.to_owned() };
    let from = source(&[file], Options::default());
    let done = convert(languages(), &from.program, &from.sources, targets::ABL);
    assert_eq!(errors("queue", &done), Vec::<String>::new());
    let picker = done.files.iter().find(|f| f.path.contains("picker")).unwrap();
    insta::assert_snapshot!(picker.text);
    let rules: Vec<&str> = done.diagnostics.iter().map(|d| d.rule.0).collect();
    assert!(!rules.contains(&"natural-language-condition"), "{rules:?}");
    let lost: Vec<&str> = done.report.losses().map(|e| e.path.as_str()).collect();
    for part in [
        "with[q]",
        "handoffs[other].when",
        "prepare.do[0].branches[0].do[0]",
        "bindings[look].available_when",
        "bindings[note].available_when",
        "triggers[",
    ] {
        assert!(lost.iter().any(|path| path.contains(part)), "{part}: {lost:?}");
    }
}

/// Words for the model that ABL would read as an expression stay words; and a value that is an empty collection is one.
#[test]
fn words_and_empty_values_stay_what_they_are() {
    let text = r#"{"ir_version": "1.0", "metadata": {"name": "Desk", "dialect": "agent-script"},
        "identity": {"goal": "Help"},
        "memory": {"session": [
            {"name": "all", "type": "string[]", "initial_value": []},
            {"name": "plan", "type": "object", "initial_value": {"a": [], "b": {}}},
            {"name": "none", "initial_value": {}}]},
        "reasoning": {"bindings": [
            {"name": "go", "does": "delegate", "agent": "Freight", "description": "Parcels and vehicles"}]}}"#;
    let file = File { name: "desk.ir.json".to_owned(), text: text.to_owned() };
    let source = source(&[file], Options::default());
    for target in BOTH {
        let done = convert(languages(), &source.program, &source.sources, target);
        assert_none("errors", &errors("desk", &done));
        let read = done.program.agents().next().unwrap();
        let when = read.coordination.delegates.first().and_then(|one| one.when.as_ref()).unwrap();
        assert!(when.expr().is_none(), "{when:?}");
        assert!(when.text.value.to_lowercase().contains("parcels and vehicles"), "{when:?}");
        let values = |program: &Program| -> Vec<_> {
            let agent = program.agents().next().unwrap();
            agent.memory.session.iter().map(|one| one.initial_value.clone()).collect()
        };
        assert_eq!(values(&done.program), values(&source.program), "{}", target.name());
    }
}
