//! ADL: our own samples, the external corpus, and what nobody writes on purpose.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_diagnostics::Severity;
use agentir_ir::Statement;
use agentir_syntax::abl::Options;
use agentir_tests::check::{Checked, File, check, json};
use agentir_tests::expect;
use agentir_tests::samples::{adl, external_root};

fn run(files: &[File]) -> Checked {
    check(files, Options::default())
}

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

fn one(text: &str) -> Checked {
    run(&[File { name: "agents.yml".to_owned(), text: text.to_owned() }])
}

fn found(checked: &Checked) -> Vec<(&'static str, u32)> {
    checked.diagnostics.iter().map(|d| (d.rule.0, checked.place(d.primary.span).1)).collect()
}

#[test]
fn valid_samples_have_no_findings() {
    let problems: Vec<String> = adl("valid").iter().flat_map(|files| run(files).lines()).collect();
    report("findings in correct samples", &problems);
}

#[test]
fn invalid_samples_have_the_findings_they_expect() {
    let problems: Vec<String> =
        adl("invalid").iter().flat_map(|files| expect::differences(files, &run(files))).collect();
    report("differences", &problems);
}

/// Samples of others, by their path in the corpus; nothing where the corpus is not there.
fn others(path: &str) -> Option<Checked> {
    let folder = external_root()?.join("adl").join(path);
    let mut names: Vec<_> = if folder.is_dir() {
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect()
    } else {
        vec![folder]
    };
    names.retain(|n| n.extension().is_some_and(|e| e == "yml" || e == "yaml" || e == "py"));
    names.retain(|n| n.file_name().is_none_or(|f| f != "config.yml"));
    names.sort();
    let files: Vec<File> = names
        .iter()
        .map(|n| File {
            name: n.file_name().unwrap().to_str().unwrap().to_owned(),
            text: std::fs::read_to_string(n).unwrap(),
        })
        .collect();
    Some(run(&files))
}

#[test]
fn the_loop_of_the_papers_case_study_is_found_and_its_guarded_twin_has_none() {
    let Some(buggy) = others("paper/retail_banking_D1.yml") else { return };
    let loops: Vec<_> = buggy.diagnostics.iter().filter(|d| d.rule.0 == "prompt-loop").collect();
    let [found] = loops.as_slice() else { panic!("{loops:?}") };
    assert!(found.message.contains("`transfer_money` → `add_payee` → `transfer_money`"));
    let slice = |span| buggy.sources.slice(span);
    assert_eq!(
        slice(found.primary.span),
        "Prompt the user to enter the \"add payee\" agent and exit this agent."
    );
    assert_eq!(
        found.labels.iter().map(|l| slice(l.span)).collect::<Vec<_>>(),
        ["Ask the user if they need to make a transfer; if so, enter the transfer_money agent."]
    );
    let note = found.note.as_deref().unwrap_or_default();
    for cut in ["5, 6a, 6b, 7, 8a, 8b, 9 never come", "`action_process_immediate_payment`"] {
        assert!(note.contains(cut), "{note}");
    }
    let Some(fixed) = others("paper/retail_banking_D1_fixed_control.yml") else { return };
    assert!(fixed.diagnostics.iter().all(|d| d.rule.0 != "prompt-loop"), "{:?}", fixed.lines());
}

/// Bots of others, and the errors they have.
const BOTS: &[(&str, &[(&str, u32)])] = &[
    ("mica/bookstore", &[]),
    ("mica/custom_llm_example", &[]),
    ("mica/customer_service", &[]),
    ("mica/database_experiment_agent", &[]),
    ("mica/insurance_bot", &[]),
    ("mica/kb_agent_example", &[]),
    ("mica/middleman/llm_agent_impl.yaml", &[]),
    ("mica/retail_banking", &[]),
    ("mica/shopping_assistant", &[("undefined-tool", 31)]),
    ("mica/third_party/dental_assistant", &[]),
    ("mica/transfer_money", &[]),
    ("paper/bookstore_E.yml", &[]),
    ("paper/block_card_flow_F22.yml", &[]),
    ("paper/block_card_llm_F22.yml", &[]),
    ("paper/remove_payee_flow_F1.yml", &[]),
    ("paper/retail_banking_D1.yml", &[("undeclared-arg", 166)]),
];

#[test]
fn bots_of_others_have_the_errors_that_their_authors_made() {
    let mut problems = Vec::new();
    for (path, expected) in BOTS {
        let Some(checked) = others(path) else { return };
        let errors: Vec<(&str, u32)> = checked
            .diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| (d.rule.0, checked.place(d.primary.span).1))
            .collect();
        if errors != *expected {
            problems.push(format!("{path}: {}", checked.lines().join("\n    ")));
        }
        if path.starts_with("mica") && checked.diagnostics.iter().any(|d| d.rule.0 == "prompt-loop")
        {
            problems.push(format!("{path} has no loop"));
        }
        assert!(!checked.program.agents.is_empty(), "{path}");
    }
    report("bots with other errors than expected", &problems);
}

#[test]
fn every_prefix_of_a_sample_is_read() {
    for files in adl("valid").iter().chain(&adl("invalid")) {
        for file in files {
            for end in
                (0..file.text.len()).filter(|end| file.text.is_char_boundary(*end)).step_by(7)
            {
                let text = file.text[..end].to_owned();
                let checked = run(&[File { name: file.name.clone(), text }]);
                let _ = json(&checked.program);
            }
        }
    }
}

#[test]
fn hostile_inputs_give_findings() {
    let deep =
        |open: &str, n| format!("a:\n  type: flow agent\n  steps:\n    - if: {}\n", open.repeat(n));
    let labels: String = (0..20_000).map(|i| format!("    - label: l{i}\n")).collect();
    let texts = [
        deep("(", 100_000),
        deep("not ", 100_000),
        deep("the user claims ", 10_000),
        format!("a: {}", "[".repeat(100_000)),
        format!("a:\n  type: flow agent\n  steps:\n{labels}"),
        format!(
            "a:\n  type: llm agent\n  prompt: \"{}\"\n",
            "if a then enter the a agent. ".repeat(5_000)
        ),
        format!("a:\n  type: flow agent\n  steps:\n    - bot: \"{}\"\n", "${".repeat(50_000)),
        "\u{0}".to_owned(),
        "- - - -\n? :\n: :".to_owned(),
        "a: &x {type: llm agent}\nb: *x".to_owned(),
    ];
    for text in texts {
        let checked = one(&text);
        let _ = json(&checked.program);
    }
}

#[test]
fn a_flow_becomes_a_graph_of_steps() {
    let text = "main:\n  type: flow agent\n  args: [code]\n  steps:\n    - label: again\n    - bot: \"Code? ${code}\"\n    - user\n    - if: code != \"x\"\n      then:\n        - next: again\n          tries: 3\n    - return: error, wrong\n";
    let checked = one(text);
    let agent = checked.program.agent("main").unwrap();
    let flow = agent.flow.as_ref().unwrap();
    let names: Vec<_> = flow.definitions.keys().map(|k| k.as_str()).collect();
    assert_eq!(names, ["steps", "again"]);
    let body = &flow.definitions["again"].body.0;
    let [
        Statement::Respond(said),
        Statement::Await { .. },
        Statement::If { branches },
        Statement::Goto(end),
    ] = body.as_slice()
    else {
        panic!("{body:?}")
    };
    assert_eq!(said.text.as_ref().unwrap().text.value, "Code? {{code}}");
    assert!(matches!(branches[0].body.0.as_slice(), [Statement::Repeat { times: 3, .. }]));
    assert_eq!(end.target.to_string(), "FAIL");
    assert_eq!(end.reason.as_ref().unwrap().value, "wrong");
}

#[test]
fn bindings_and_knowledge_are_in_the_ir() {
    let files =
        adl("valid").into_iter().find(|f| f.iter().any(|f| f.name.contains("ferry"))).unwrap();
    let checked = run(&files);
    let harbour = checked.program.agent("harbour").unwrap();
    let bound: Vec<_> = harbour
        .coordination
        .handoffs
        .iter()
        .flat_map(|h| &h.context.bindings)
        .map(|b| (b.variable.value.to_string(), b.value.to_string(), b.by_reference))
        .collect();
    let text = |s: &str| s.to_owned();
    assert_eq!(
        bound,
        [(text("passenger"), text("passenger"), true), (text("owner"), text("passenger"), false)]
    );
    let known = checked.program.agent("timetable").unwrap().knowledge.as_ref().unwrap();
    assert_eq!((known.sources.len(), known.questions.len()), (2, 1));
    assert_eq!(checked.program.entry().unwrap().metadata.name.value, "main");
}

#[test]
fn fields_that_the_tables_do_not_have_are_kept() {
    let checked = one("main:\n  type: llm agent\n  prompt: Hi\n  colour: green\n");
    assert!(json(&checked.program).to_string().contains("green"));
    assert!(found(&checked).contains(&("unknown-field", 4)));
}

#[test]
fn a_pattern_that_only_python_knows_is_not_judged() {
    let text = "main:\n  type: flow agent\n  args: [x]\n  steps:\n    - call: main2\n    - if: re.match(\"(?=a)(?P<n>b)(?P=n)\", x)\n      then:\n        - user\nmain2:\n  type: llm agent\n  prompt: Hi\n";
    assert_eq!(found(&one(text)), []);
}
