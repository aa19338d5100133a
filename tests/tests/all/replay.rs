//! Cross-language replay: converted agents behave like their sources, except for differences that the
//! report of the conversion announces. `docs/semantics.md`, "Cross-language replay", says what is
//! compared.
//!
//! `AGENTIR_CONVERSATIONS=300` replays 300 conversations per program.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir::{languages, targets};
use agentir_convert::{Target, convert};
use agentir_lang_abl::Options;
use agentir_runtime::Machine;
use agentir_scenario::{
    ActionKind, Generated, Limits, Names, Replayer, compare_by_replay, compare_conversations,
    first_agent, generate,
};
use agentir_tests::check::{Checked, File, check};
use agentir_tests::conversions::correct;
use agentir_tests::samples::{external_abl, external_agent_script, external_files};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// So many conversations are tried with each program.
const TRIES: usize = 10;

/// Differences that are left although nothing announces them: parts of what is reported of them, each
/// with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[(
    "mica/retail_banking/agents.yml to abl",
    "a knowledge base of ADL returns when it has answered; in ABL its knowledge is a part of the instructions, and \
     nothing says yet that it is done",
)];

fn tries() -> usize {
    let given = std::env::var("AGENTIR_CONVERSATIONS").ok().and_then(|n| n.parse().ok());
    given.unwrap_or(TRIES)
}

/// A program and its sources.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) language: &'static str,
    pub(crate) checked: Checked,
}

impl Sample {
    fn new(files: &[File], options: Options, language: &'static str) -> Option<Self> {
        let checked = check(files, options);
        let sound = checked.errors().next().is_none() && !checked.program.agents.is_empty();
        let name = files.first()?.name.clone();
        sound.then_some(Self { name, language, checked })
    }
}

type Input = (Vec<File>, Options, &'static str);

fn samples() -> Vec<Input> {
    let languages = ["abl", "agent-script", "adl"].into_iter();
    let all = languages.flat_map(|language| {
        correct(language).into_iter().map(move |(files, options)| (files, options, language))
    });
    all.collect()
}

fn third_party_samples() -> Vec<Input> {
    let abl = external_abl()
        .into_iter()
        .map(|sample| (sample.files, Options { version: sample.version, fragment: false }, "abl"));
    let scripts = external_agent_script().into_iter();
    let scripts = scripts.map(|f| (vec![f], Options::default(), "agent-script"));
    let adl = external_files("adl").into_iter();
    let bots = adl.filter(|f| agentir_lang_adl::is_adl(&f.name, &f.text));
    abl.chain(scripts).chain(bots.map(|f| (vec![f], Options::default(), "adl"))).collect()
}

/// The number of conversations in which a conversion does the same, differs where a loss is reported, differs in who says
/// that an agent is done, or differs elsewhere.
type Counts = [usize; 4];

/// Goes through the conversations of a program with its conversion.
pub(crate) fn retell(
    sample: &Sample,
    machine: &Machine<'_>,
    made: &Generated,
    target: Target,
    problems: &mut Vec<String>,
) -> Counts {
    let source = (&sample.checked.program, &sample.checked.sources);
    let done = convert(languages(), source.0, source.1, target);
    let all = compare_conversations(source, machine, made, &done).unwrap();
    for one in all.differing.iter().filter(|one| !one.reported) {
        let what = format!("{} to {}: {}", sample.name, target.name(), one.first.join(" / "));
        if !EXCEPTIONS.iter().any(|(part, _)| what.contains(part)) {
            let mut told = format!("{what}\n");
            for turn in &one.turns {
                let _ = writeln!(told, "    > {}", turn.input.as_deref().unwrap_or_default());
                let _ = writeln!(told, "    {}", turn.source.join("\n    "));
                if turn.source != turn.output {
                    let _ = writeln!(told, "    output: {}", turn.output.join("\n    output: "));
                }
            }
            problems.push(told);
        }
    }
    [all.same, all.reported, all.end_of_agent, all.different()]
}

/// What a conversation does, told by what was after in it, is what it did when it was made: otherwise
/// comparing would say nothing.
fn faithful(sample: &Sample, machine: &Machine<'_>, made: &Generated) -> Vec<String> {
    let mut problems = Vec::new();
    let names = Names::own(&sample.checked.program);
    let replayer = Replayer::new(machine);
    for (n, conversation) in made.conversations.iter().enumerate() {
        let again = replayer.replay(conversation, &names).unwrap();
        let status = |n: usize| again.get(n).and_then(|t| t.actions.last()).map(|d| d.kind.clone());
        for (at, turn) in conversation.turns.iter().enumerate() {
            if status(at) != Some(ActionKind::Ends(turn.status)) {
                problems.push(format!("{}: {n}: turn {at} ends otherwise", sample.name));
                break;
            }
            let calls: Vec<usize> =
                again[at].actions.iter().flat_map(|d| d.path.iter().copied()).collect();
            if calls != turn.path {
                problems.push(format!("{}: {n}: turn {at} goes another way", sample.name));
                break;
            }
        }
    }
    problems
}

#[test]
fn converted_agents_do_the_same_but_for_what_is_announced() {
    replays_are_the_same(samples());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn converted_third_party_agents_do_the_same_but_for_what_is_announced() {
    replays_are_the_same(third_party_samples());
}

fn replays_are_the_same(inputs: Vec<Input>) {
    let limits = Limits { max_tries: tries(), ..Limits::default() };
    type Row = BTreeMap<(&'static str, &'static str), [usize; 4]>;
    let (mut problems, unfaithful, table) = inputs
        .into_par_iter()
        .filter_map(|(files, options, language)| Sample::new(&files, options, language))
        .map(|sample| {
            let sample = &sample;
            let program = &sample.checked.program;
            let machine = Machine::new(program);
            let made = generate(&machine, first_agent(program), limits).unwrap();
            let mut problems = Vec::new();
            let mut row = Row::new();
            for target in targets::all() {
                let counts = retell(sample, &machine, &made, target, &mut problems);
                row.insert((sample.language, target.name()), counts);
            }
            (problems, faithful(sample, &machine, &made), row)
        })
        .reduce(Default::default, |mut a, b| {
            a.0.extend(b.0);
            a.1.extend(b.1);
            for (pair, counts) in b.2 {
                let all = a.2.entry(pair).or_insert([0; 4]);
                all.iter_mut().zip(counts).for_each(|(all, more)| *all += more);
            }
            a
        });
    let mut told = String::new();
    for ((from, to), [same, announced, done, different]) in &table {
        let _ = writeln!(told, "{from} to {to}: {same} / {announced} / {done} / {different}");
    }
    eprintln!(
        "the same / up to what is announced / up to who is done / reviewed or different\n{told}"
    );
    problems.extend(unfaithful);
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems.join("\n"));
}

/// An agent that repairs bicycles, and asks before with these words.
fn workshop(words: &str) -> Checked {
    let text = format!(
        r#"AGENT: Workshop
GOAL: "Repair bicycles"
TOOLS:
  price(hours: number) -> number
    description: "The price of some hours"
    type: sandbox
    runtime: javascript
    code: "return hours * 40 + 5;"
FLOW:
  ask:
    REASONING: false
    GATHER:
      - hours: required
        type: number
        prompt: "{words}"
    THEN: tell
  tell:
    REASONING: false
    CALL: price(hours)
    ON_SUCCESS:
      RESPOND: "That is {{{{price}}}}."
      THEN: COMPLETE
"#
    );
    check(&[File { name: "workshop.agent.abl".into(), text }], Options::default())
}

/// What differs without being reported is shown side by side, up to where it differs; scripts give what they compute.
#[test]
fn conversations_that_differ_are_shown() {
    let (source, other) = (workshop("How many hours?"), workshop("How long?"));
    let done = convert(languages(), &source.program, &source.sources, targets::ABL);
    let limits = Limits { max_tries: 20, ..Limits::default() };
    let held = compare_by_replay(&source.program, &source.sources, &done, limits).unwrap();
    assert!(held.conversations > 0 && held.same == held.conversations, "{held:?}");
    // A conversion that has another program's words, and says nothing of it.
    let wrong = convert(languages(), &other.program, &other.sources, targets::ABL);
    let held = compare_by_replay(&source.program, &source.sources, &wrong, limits).unwrap();
    assert_eq!((held.different(), held.same), (held.conversations, 0));
    let first = held.differing.first().unwrap();
    assert_eq!(first.first, ["says “How many hours?”", "says “How long?”"]);
    // The script of the output computes something else.
    let cheaper = source.sources.iter().next().unwrap().1.text.replace("40", "30");
    let file = File { name: "workshop.agent.abl".into(), text: cheaper.as_str().into() };
    let cheaper = check(&[file], Options::default());
    let wrong = convert(languages(), &cheaper.program, &cheaper.sources, targets::ABL);
    let held = compare_by_replay(&source.program, &source.sources, &wrong, limits).unwrap();
    assert!(held.different() > 0, "{held:?}");
    let said = held.differing.iter().map(|one| one.first.join(" / "));
    assert!(
        said.clone().any(|what| what.contains("says “That is")),
        "{:?}",
        said.collect::<Vec<_>>()
    );
}
