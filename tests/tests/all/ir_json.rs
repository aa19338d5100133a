//! Reading the JSON of a program gives the program: over all samples, generated programs and the external corpus.
//!
//! Programs with errors are left out, as `agentir compile` leaves out their agents.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_compare::{NormalizedProgram, differences};
use agentir_diagnostics::Severity;
use agentir_flow::cfg::{Cfg, Edge};
use agentir_flow::cost::cost;
use agentir_ir::{CompilationOutput, Deployment, IR_VERSION, Program};
use agentir_ir_json::{Mode, Written, is_complete};
use agentir_lang_abl::Options;
use agentir_project::Loaded;
use agentir_tests::check::{Checked, File, load, run_rules};
use agentir_tests::samples::{self, files_below, root};
use petgraph::visit::EdgeRef;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rules whose findings rest on what AgentIR does not have, with the reason.
const NEED_SOURCE: &[(&str, &str)] = &[
    ("duplicate-template", "JSON has one definition of each name, the effective one"),
    ("duplicate-lookup-table", "JSON has one definition of each name, the effective one"),
];

/// The output of compilation for a program.
pub(crate) fn output(program: &Program) -> CompilationOutput {
    let agents = program.agents.iter().map(|a| (a.metadata.name.value.clone(), Arc::clone(a)));
    let complete = program.complete;
    CompilationOutput {
        version: IR_VERSION,
        agents: agents.collect(),
        entry_agent: program.entry_agent.clone(),
        libraries: program.libraries.clone(),
        behavior_profiles: program.profiles.clone(),
        deployment: Deployment::default(),
        remote_agents: Vec::new(),
        complete: (complete != is_complete(&program.agents, program.entry_agent.is_some()))
            .then_some(complete),
        compilation_errors: Vec::new(),
        compilation_warnings: Vec::new(),
        extensions: program.extensions.clone(),
    }
}

pub(crate) fn json(program: &Program) -> String {
    serde_json::to_string_pretty(&Written(&output(program), Mode::Published)).unwrap()
}

fn has_errors(checked: &Checked) -> bool {
    checked.diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Nouns of languages, and what AgentIR's JSON calls the same.
const NOUNS: &[(&str, &str)] = &[("subagent", "agent"), ("such action", "such tool")];

/// The findings of the rules about programs: without those of the front ends.
fn findings(mut loaded: Loaded) -> BTreeMap<(&'static str, String), usize> {
    loaded.diagnostics.clear();
    let mut found = BTreeMap::new();
    for d in run_rules(loaded, Options::default()).diagnostics {
        let needs_source = NEED_SOURCE.iter().any(|(rule, _)| *rule == d.rule.0);
        if !needs_source {
            let mut message = d.message;
            for (noun, common) in NOUNS {
                message = message.replace(noun, common);
            }
            *found.entry((d.rule.0, message)).or_insert(0) += 1;
        }
    }
    found
}

/// What is wrong with reading the JSON of a program; nothing if the program has errors.
fn problems(files: &[File], options: Options, found: &mut Vec<String>) -> bool {
    let checked = run_rules(load(files, options), options);
    let mut names: Vec<_> = checked.program.agents().map(|a| &a.metadata.name.value).collect();
    names.sort();
    let duplicates = names.windows(2).any(|two| two[0] == two[1]);
    if has_errors(&checked) || names.is_empty() || duplicates || options.fragment {
        return false;
    }
    let name = &files[0].name;
    let text = json(&checked.program);
    let written = File { name: "program.ir.json".to_owned(), text };
    let read = load(std::slice::from_ref(&written), Options::default());
    let errors = read.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    found.extend(errors.map(|d| format!("{name}: {} {}", d.rule.0, d.message)));
    let program = &read.programs[0].program;
    let again = json(program);
    if again != written.text {
        let lines = written.text.lines().zip(again.lines()).find(|(a, b)| a != b);
        found.push(format!("{name}: the JSON differs: {lines:?}"));
    }
    if program.complete != checked.program.complete {
        found.push(format!("{name}: complete is {}", program.complete));
    }
    let [left, right] = [&checked.program, program].map(NormalizedProgram::new);
    for difference in differences(&left, &right) {
        found.push(format!("{name}: {} is not the same", difference.path));
    }
    let [left, right] = [&checked.program, program].map(without_places);
    if left != right {
        let at = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
        let around = |text: &str| {
            let start = text.floor_char_boundary(at.saturating_sub(120));
            text[start..text.floor_char_boundary(at + 60)].to_owned()
        };
        found.push(format!(
            "{name}: the IR differs:\n    {}\n    {}",
            around(&left),
            around(&right)
        ));
    }
    let [left, right] = [&checked.program, program].map(control_flow);
    if let Some((left, right)) = left.iter().zip(&right).find(|(a, b)| a != b) {
        found.push(format!("{name}: the control flow differs: {left} is {right}"));
    } else if left.len() != right.len() {
        found.push(format!(
            "{name}: the control flow has {} parts, not {}",
            right.len(),
            left.len()
        ));
    }
    let (before, after) = (findings(load(files, options)), findings(read));
    if before != after {
        let only = |a: &BTreeMap<_, _>, b: &BTreeMap<_, usize>| {
            a.iter()
                .filter(|(k, n)| b.get(*k) != Some(*n))
                .map(|(k, _)| format!("{k:?}"))
                .collect::<Vec<_>>()
        };
        found.push(format!("{name}: -{:?} +{:?}", only(&before, &after), only(&after, &before)));
    }
    true
}

/// The nodes and edges of the control-flow graph, and the bounds of costs. Neither may depend on locations, which
/// differ.
fn control_flow(program: &Program) -> Vec<String> {
    let cfg = Cfg::of_program(program);
    let graph = cfg.graph();
    let nodes = graph.node_indices().map(|at| format!("{at:?} {:?}", graph[at].kind));
    let edges = graph.edge_references().map(|e| {
        let Edge { kind, decided_by, limit, guard, .. } = e.weight();
        let guard: Vec<_> =
            cfg.guard(*guard).iter().map(|test| (test.holds, test.test.expr().is_some())).collect();
        format!("{:?} -> {:?} {kind:?} {decided_by:?} {limit:?} {guard:?}", e.source(), e.target())
    });
    let spans = regex::Regex::new(r"\d+:\d+\.\.\d+").unwrap();
    let costs = cost(&cfg)
        .into_iter()
        .map(|cost| spans.replace_all(&format!("{cost:?}"), "@").into_owned());
    nodes.chain(edges).chain(costs).collect()
}

/// All findings about a document.
fn all_findings(text: &str) -> Vec<String> {
    let file = File { name: "a.ir.json".to_owned(), text: text.to_owned() };
    let checked = run_rules(load(&[file], Options::default()), Options::default());
    checked.diagnostics.iter().map(|d| format!("{}: {}", d.rule.0, d.message)).collect()
}

/// What is written is defined, also where it could not be read.
#[test]
fn one_mistake_is_one_finding() {
    let sound = r#"{"version":"1.0","entry_agent":"A","complete":true,"agents":{
        "A":{"metadata":{"name":"A","dialect":"abl"},"identity":{"goal":"H"},
            "tools":[{"name":"t","description":"d","parameters":[{"name":"q","type":"string"}]}],
            "memory":{"session":[{"name":"v","type":"string","initial_value":"x"}]},
            "templates":{"bye":{"default":"Bye {{v}}"}},
            "flow":{"definitions":{
                "a":{"respond":"Hello","call_spec":{"tool":"t","with":[{"name":"q","value":"v"}]},"then":"b"},
                "b":{"respond_template":"bye","then":"HANDOFF B"}}}},
        "B":{"metadata":{"name":"B","dialect":"abl"},"identity":{"goal":"H"}}}}"#;
    assert_eq!(all_findings(sound), [""; 0]);
    for (right, wrong) in [
        (r#""B","dialect":"abl""#, r#""B","dialect":"ABL""#),
        (r#""B","dialect":"abl""#, r#""B","dialect":"cobol""#),
        (r#""metadata":{"name":"B","dialect":"abl"}"#, r#""metadata":{"dialect":"abl"}"#),
        (r#""metadata":{"name":"A","dialect":"abl"}"#, r#""metadata":{"dialect":"abl"}"#),
        (r#"{"respond_template":"bye","then":"HANDOFF B"}"#, r#""oops""#),
        (r#""name":"t""#, r#""nam":"t""#),
        (r#""name":"q","type""#, r#""type""#),
        (r#""name":"q","type""#, r#""name":5,"type""#),
        (r#""name":"v","type""#, r#""type""#),
        (r#""name":"q","value":"v""#, r#""name":"q","value":"v +""#),
        (r#""name":"q","value":"v""#, r#""name":"q""#),
        (r#"{"default":"Bye {{v}}"}"#, "5"),
        (r#"{"name":"v","type":"string","initial_value":"x"}"#, "null"),
        (r#""b":{"resp"#, r#""b":{"name":"c","resp"#),
        (r#""then":"b""#, r#""then":"HANDOFF""#),
        (r#""tool":"t","with""#, r#""tool":"t","as":true,"with""#),
        (r#""call_spec":{"tool":"t""#, r#""call":"t","call_spec":{"tool":"tt""#),
        (r#""respond":"Hello""#, r#""respond":"Hello","chek":"v IS SET","on_fail":"RETRY""#),
    ] {
        found_once(sound, right, wrong);
    }
}

/// Whether one mistake in a document is one finding, an error.
fn found_once(sound: &str, right: &str, wrong: &str) {
    assert!(sound.contains(right), "{right}");
    let found = all_findings(&sound.replacen(right, wrong, 1));
    assert_eq!(found.len(), 1, "{wrong}: {found:#?}");
}

/// What an element does not say because it is wrong, it is not reported to lack.
#[test]
fn what_is_wrong_is_not_missing_as_well() {
    let script = r#"{"version":"1.0","entry_agent":"S","complete":true,"agents":{
        "S":{"metadata":{"name":"S","dialect":"agent-script"},
            "identity":{"goal":"Sells","instructions":[{"text":"The size is {!@variables.size}. Use {!@actions.look} and {!@actions.keep}."}]},
            "tools":[{"name":"t","description":"d","binding":{"target":"flow://T"},"parameters":[{"name":"q","type":"number","required":true}],"returns":{"type":"{a: number}","fields":[{"name":"a","type":"number"}]}}],
            "memory":{"session":[{"name":"size","type":"number","mutability":"mutable","initial_value":40,"description":"d"}]},
            "reasoning":{"bindings":[
                {"name":"look","does":"call","tool":"t","available_when":"@variables.size > 0","with":[{"name":"q","filled_by":"value","value":"@variables.size"}],
                 "after":{"do":[{"type":"call","tool":"t","with":[{"name":"q","value":"@variables.size"}]}]}},
                {"name":"keep","does":"collect","with":[{"name":"size","filled_by":"model"}]}]}}}}"#;
    assert_eq!(all_findings(script), [""; 0]);
    for (right, wrong) in [
        (r#""agent-script"}"#, r#""perl"}"#),
        (r#""agent-script"}"#, "5}"),
        (r#","dialect":"agent-script"}"#, "}"),
        (r#""dialect":"agent-script""#, r#""dialekt":"agent-script""#),
        (r#"{"name":"S","dialect":"agent-script"}"#, "5"),
        (r#""fields":[{"name":"a","type":"number"}]"#, r#""fields":[{"name":"a","type":5}]"#),
        (r#""filled_by":"value""#, r#""filled_by":7"#),
        (r#""filled_by":"value""#, r#""filled_by":"banana""#),
        (r#","description":"d"}]},"#, r#","description":7}]},"#),
        (r#""mutability":"mutable""#, r#""mutability":7"#),
        (r#""initial_value":40"#, r#""initial_valu":40"#),
        (
            r#""description":"d"}]},"#,
            r#""description":"d"},{"name":"size","type":"number","description":"e"}]},"#,
        ),
    ] {
        found_once(script, right, wrong);
    }
    let supervisor = r#"{"version":"1.0","entry_agent":"F","complete":true,"agents":{
        "F":{"metadata":{"name":"F","dialect":"abl","type":"supervisor"},"identity":{"goal":"H"},
            "routing":{"rules":[{"to":"B","when":{"natural":"the user asks about b"},"priority":1,"description":"b"}],"default_agent":"B"},
            "coordination":{"handoffs":[{"to":"B","when":{"natural":"the user asks about b"}}]}},
        "B":{"metadata":{"name":"B","dialect":"abl"},"identity":{"goal":"H"}}}}"#;
    assert_eq!(all_findings(supervisor), [""; 0]);
    for wrong in [r#""type":"banana""#, r#""type":null"#, r#""type":5"#, r#""tpye":"supervisor""#] {
        found_once(supervisor, r#""type":"supervisor""#, wrong);
    }
    // Another element may lack something all the same.
    let two = script.replace(r#""mutability":"mutable""#, r#""mutability":7"#);
    let two = two.replace(
        r#""required":true}"#,
        r#""required":true},{"name":"r","type":"number","required":true}"#,
    );
    assert!(all_findings(&two).iter().any(|one| one.starts_with("missing-argument")));
}

/// A network of Agent Script and its document become the same file: what its nodes do when they start is done once, before they
/// lead on.
#[test]
fn a_network_and_its_document_are_converted_alike() {
    let network = r#"# @dialect: AGENTFABRIC=1.0-BETA
system:
  instructions: "You help."
config:
  agent_name: "flow"
  default_llm: @llm.g
llm:
  g:
    target: "llm://gem_connection"
    kind: "Gemini"
    model: "gemini-2.5-flash"
variables:
  msg: mutable string = ""
trigger t:
  kind: "a2a"
  target: "brokers://flow/a2a"
  on_message: ->
    transition to @executor.prep
executor prep:
  do: ->
    set @variables.msg = "x"
  on_exit: ->
    transition to @echo.done
echo done:
  kind: "a2a:status_update_event"
  state: "TASK_STATE_COMPLETED"
  message: "Done {!@variables.msg}"
"#;
    let written = |name: &str, text: String| {
        let file = File { name: name.to_owned(), text };
        let Checked { program, sources, .. } =
            run_rules(load(&[file], Options::default()), Options::default());
        let target = agentir::targets::AGENT_SCRIPT;
        let done = agentir_convert::convert(agentir::languages(), &program, &sources, target);
        (done.files[0].text.clone(), json(&program))
    };
    let (from_source, document) = written("flow.agent", network.to_owned());
    assert_eq!(written("flow.ir.json", document).0, from_source);
    let (flag, transition) = ("set @variables.t_started = True", "transition to @subagent.prep");
    assert!(
        from_source.find(flag).unwrap() < from_source.find(transition).unwrap(),
        "{from_source}"
    );
    assert!(from_source.contains("set @variables.msg = \"x\""), "{from_source}");
}

/// Editors find the schema of a document by the key `$schema`.
#[test]
fn documents_may_name_their_schema() {
    let text = |key: &str, agent: &str| {
        format!(
            r#"{{{key}"version":"1.0","entry_agent":"A","agents":{{"A":{{{agent}"metadata":{{"name":"A","dialect":"abl"}},"identity":{{"goal":"H"}}}}}}}}"#
        )
    };
    let schema = r#""$schema":"https://example.org/agentir.schema.json","#;
    assert_eq!(all_findings(&text(schema, "")), [""; 0]);
    assert_eq!(all_findings(&text("", schema)).len(), 1);
}

/// The program as text, without what JSON does not have: spans, the notations of files and conditions, and what
/// follows from other values.
fn without_places(program: &Program) -> String {
    let text = format!(
        "{:?}{:?}{:?}{:?}",
        program.agents, program.libraries, program.profiles, program.extensions
    );
    let left_out = [
        (r"\d+:\d+\.\.\d+", "@"),
        (r#"text: "(?:[^"\\]|\\.)*", kind: Expr"#, "kind: Expr"),
        (r"shifts: \[[^\]]*\]", "shifts"),
        (r"check_span: (None|Some\(@\))", "check_span"),
        (r"named_again: (None|Some\(@\))", "named_again"),
        (r"comments: \[[^\]]*\]", "comments"),
        (r"depth: \d+", "depth"),
        (r"notation: \w+", "notation"),
    ];
    left_out.iter().fold(text, |text, (pattern, by)| {
        regex::Regex::new(pattern).unwrap().replace_all(&text, *by).into_owned()
    })
}

/// The programs in the innermost folders and single files below a folder.
fn programs_below(folder: &str) -> Vec<Vec<File>> {
    let mut programs: BTreeMap<PathBuf, Vec<File>> = BTreeMap::new();
    for file in files_below(&root().join(folder)) {
        let path = Path::new(&file.name);
        let key = path.parent().filter(|parent| *parent != Path::new(folder)).unwrap_or(path);
        programs.entry(key.to_owned()).or_default().push(file);
    }
    programs.into_values().collect()
}

fn check_all(all: impl IntoIterator<Item = (Vec<File>, Options)>, least: usize) {
    let mut found = Vec::new();
    let all = all.into_iter().filter(|(files, options)| problems(files, *options, &mut found));
    let count = all.count();
    let shown: Vec<_> = found.iter().take(20).map(String::as_str).collect();
    assert!(found.is_empty(), "{} problems:\n  {}\n", found.len(), shown.join("\n  "));
    assert!(count >= least, "only {count} programs were compared");
}

#[test]
fn reading_what_was_written_gives_the_program() {
    let abl = samples::all_ours()
        .into_iter()
        .map(|s| (s.files, Options { version: s.version, fragment: s.fragment }));
    let scripts = ["valid", "invalid"].into_iter().flat_map(samples::agent_script);
    let scripts = scripts.map(|s| (s.files, Options::default()));
    let bots = ["valid", "invalid"].into_iter().flat_map(samples::adl);
    let bots = bots.map(|files| (files, Options::default()));
    let folders = ["corpus/xo/valid", "corpus/xo/invalid", "corpus/rosetta"];
    let others = folders.iter().flat_map(|folder| programs_below(folder));
    let others = others.map(|files| (files, Options::default()));
    check_all(abl.chain(scripts).chain(bots).chain(others), 70);
}

#[test]
fn reading_generated_programs_gives_the_program() {
    let abl = agentir_bench::generate::projects(120, 5);
    let scripts = agentir_bench::generate::scripts(30, 5);
    let bots = agentir_bench::generate::bots(30, 5);
    let files = abl.into_iter().chain(scripts).chain(bots).map(|project| {
        let file = |f: agentir_bench::generate::File| File {
            name: format!("{}/{}", project.name, f.path),
            text: f.text,
        };
        (project.files.into_iter().map(file).collect(), Options::default())
    });
    check_all(files, 50);
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn reading_the_external_corpus_gives_the_programs() {
    let abl = samples::external_documents().into_iter();
    let abl = abl.map(|s| (s.files, Options { version: s.version, fragment: s.fragment }));
    let scripts = samples::external_agent_script().into_iter();
    let scripts = scripts.map(|file| (vec![file], Options::default()));
    check_all(abl.chain(scripts), 100);
}

/// What findings say about documents is about their keys. The keys of other notations end in a colon, or stand in a
/// list below others.
#[test]
fn findings_about_documents_speak_of_their_keys() {
    let foreign = regex::Regex::new(
        r"`[A-Za-z_ ]+:`|`- |`(WHEN|ON_FAIL|GATHER|MEMORY|TOOLS|FLOW|CALL|SET|RESPOND|THEN|RESTRICT|LIMIT|PASS|INPUT)`|`run @|`with |`set @",
    )
    .unwrap();
    let mut wrong = Vec::new();
    let mut checked_rules = 0;
    for page in agentir_tests::pages::all() {
        let mut seen = false;
        for example in page.examples.iter().filter(|example| example.fails) {
            let mut files = example.files.clone();
            files.sort_by(|a, b| a.name.cmp(&b.name));
            let options = Options { version: example.version, ..Options::default() };
            let checked = run_rules(load(&files, options), options);
            let file = File { name: "a.ir.json".to_owned(), text: json(&checked.program) };
            let read = run_rules(load(&[file], Options::default()), Options::default());
            for d in read.diagnostics.iter().filter(|d| d.rule.0 == page.name) {
                seen = true;
                let labels = d.labels.iter().map(|label| label.message.as_str());
                let texts = [Some(d.message.as_str()), d.note.as_deref(), d.help.as_deref()];
                for text in texts.into_iter().flatten().chain(labels) {
                    if foreign.is_match(text) {
                        wrong.push(format!("{}: {text}", page.name));
                    }
                }
            }
        }
        checked_rules += usize::from(seen);
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked_rules > 100, "{checked_rules}");
}

/// Two agents in a dialect, with these changes, and what is found.
fn found_in(dialect: &str, right: &str, wrong: &str) -> Vec<String> {
    let sound = r#"{"version":"1.0","entry_agent":"A","complete":true,"agents":{
        "A":{"metadata":{"name":"A","dialect":"DIALECT"},"identity":{"goal":"H"},
            "tools":[{"name":"t","description":"d","parameters":[{"name":"q","type":"string"}]}],
            "memory":{"session":[{"name":"v","type":"string","initial_value":"x"}]},
            "reasoning":{"bindings":[
                {"name":"use_t","does":"call","tool":"t","with":[{"name":"q","filled_by":"model"}]},
                {"name":"go","does":"handoff","to":"B","description":"wants B"},
                {"name":"ask","does":"delegate","agent":"C","description":"wants C"}]},
            "use_tools":[]},
        "B":{"metadata":{"name":"B","dialect":"DIALECT"},"identity":{"goal":"H"},"use_behavior_profiles":["brief"]},
        "C":{"metadata":{"name":"C","dialect":"DIALECT"},"identity":{"goal":"H"},"gather":{"fields":[]}}},
        "libraries":[{"tools":[{"name":"shared","description":"d"}]}],
        "behavior_profiles":[{"name":"brief","instructions":"Be brief"}]}"#;
    assert!(sound.contains(right), "{right}");
    let text = sound.replacen(right, wrong, 1).replace("DIALECT", dialect);
    let file = File { name: "a.ir.json".to_owned(), text };
    let checked =
        run_rules(load(std::slice::from_ref(&file), Options::default()), Options::default());
    let shown = |d: &agentir_diagnostics::Diagnostic| {
        format!("{} `{}`", d.rule.0, &file.text[d.primary.span.range()])
    };
    checked.diagnostics.iter().map(shown).collect()
}

/// What a document says of tools of the model, names and parts of agents is checked in the same way whatever dialect its
/// agents have, and at its location.
#[test]
fn names_in_documents_are_checked_in_every_dialect() {
    let tool = r#"{"name":"t","description":"d","parameters":[{"name":"q","type":"string"}]}"#;
    let bound = r#"{"name":"q","filled_by":"model"}"#;
    let session = r#"{"name":"v","type":"string","initial_value":"x"}"#;
    let cases = [
        // Tools of the model that are not what they say.
        (r#""tool":"t""#, r#""tool":"B""#.to_owned(), "undefined-tool `B`"),
        (r#""tool":"t""#, r#""tool":"nope""#.to_owned(), "undefined-tool `nope`"),
        (r#""to":"B""#, r#""to":"t""#.to_owned(), "undefined-agent `t`"),
        (r#""agent":"C""#, r#""agent":"Nobody""#.to_owned(), "undefined-agent `Nobody`"),
        (bound, r#"{"name":"zzz"}"#.to_owned(), "unknown-argument `zzz`"),
        (bound, r#"{"name":"q","filled_by":"value"}"#.to_owned(), "missing-field `filled_by`"),
        (
            bound,
            r#"{"name":"q","filled_by":"model","value":"1"}"#.to_owned(),
            "conflicting-fields `value`",
        ),
        // Several of one name.
        (r#""name":"go""#, r#""name":"ask""#.to_owned(), "duplicate-field `ask`"),
        (tool, format!("{tool},{tool}"), "duplicate-tool `t`"),
        (session, format!("{session},{session}"), "duplicate-variable `v`"),
        (
            r#""fields":[]"#,
            r#""fields":[{"name":"f","prompt":"F?"},{"name":"f","prompt":"F!"}]"#.to_owned(),
            "duplicate-gather-field `f`",
        ),
        (
            r#"{"name":"brief","instructions":"Be brief"}"#,
            r#"{"name":"brief","instructions":"a"},{"name":"brief","instructions":"b"}"#.to_owned(),
            "duplicate-profile `brief`",
        ),
        // Names of what is defined elsewhere.
        (r#""use_tools":[]"#, r#""use_tools":["nope"]"#.to_owned(), "undefined-tool `nope`"),
        (
            r#""use_behavior_profiles":["brief"]"#,
            r#""use_behavior_profiles":["brif"]"#.to_owned(),
            "undefined-profile `brif`",
        ),
    ];
    let mut wrong = Vec::new();
    for dialect in ["abl", "agent-script", "adl"] {
        let known = found_in(dialect, "\"A\"", "\"A\"");
        let used = found_in(dialect, r#""use_tools":[]"#, r#""use_tools":["shared"]"#);
        assert!(!used.iter().any(|found| found.starts_with("undefined")), "{dialect}: {used:?}");
        for (right, changed, expected) in &cases {
            let found = found_in(dialect, right, changed);
            if known.iter().any(|found| found == expected) || !found.iter().any(|f| f == expected) {
                wrong.push(format!("{dialect}: {changed}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
