//! Conversions of documents that other programs write: AgentIR with names that no language can write, statements in any
//! order, tools of the model that nothing declares. What a conversion does not say in its report is as it was.
//!
//! `AGENTIR_DOCUMENTS=5000` makes 5000 documents; `AGENTIR_DOCUMENT=17` only that one, and shows it.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests end by panicking, and show what they ended at"
)]

use crate::properties::caught;
use crate::replay::{Sample, retell};
use agentir::{languages, targets};
use agentir_bench::generate::Random;
use agentir_compare::{NormalizedProgram, Verdict, value_differences};
use agentir_convert::{Conversion, Preservation, Target, convert};
use agentir_diagnostics::{Severity, SourceMap};
use agentir_ir::Program;
use agentir_lang_abl::Options;
use agentir_runtime::Machine;
use agentir_scenario::{Limits, first_agent, generate};
use agentir_tests::check::{Checked, File, load};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

/// So many documents are made.
const DOCUMENTS: usize = 400;

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Differences that no report announces: parts of what is reported of them, each with the reason.
const KNOWN: &[(&str, &str)] = &[
    (
        "went wrong",
        "an operator that fails in one language is false in another, for values of other types",
    ),
    (
        "to adl: ends the turn: ",
        "an agent of ADL that comes to its end is done; others wait for the next message",
    ),
];

/// Names of every kind: those that languages can write, words of languages, and others.
const PLAIN: &[&str] = &["ask", "order", "total", "plate", "Desk", "find_it", "hours"];
const HOSTILE: &[&str] = &[
    "COMPLETE",
    "HANDOFF A",
    "ESCALATE",
    "CONTINUE",
    "STEP s",
    "two words",
    "a.b",
    "a-b",
    "#x",
    "q\"uote",
    "it's",
    "line\nbreak",
    "1st",
    "respond",
    "then",
    "steps",
    "größe",
    "true",
    "null",
    "and",
    "a: b",
    "-x",
    "@x",
    "{y}",
    "{{z}}",
    "[0]",
    "tools",
    "main",
    "user",
    "if",
    "x_2",
    "x__2",
    " lead",
    "a\\b",
    "...",
];

/// Makes a document.
struct Maker {
    random: Random,
    dialect: &'static str,
    /// How many names in a hundred are hostile.
    hostile: usize,
    agents: Vec<String>,
    steps: Vec<String>,
    tools: Vec<String>,
}

impl Maker {
    fn chance(&mut self, percent: usize) -> bool {
        self.random.chance(percent)
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        *all.get(self.random.below(all.len())).unwrap()
    }

    fn name(&mut self) -> String {
        let hostile = self.chance(self.hostile);
        self.pick(if hostile { HOSTILE } else { PLAIN }).to_owned()
    }

    fn names(&mut self, most: usize) -> Vec<String> {
        let count = 1 + self.random.below(most);
        let mut all: Vec<String> = Vec::new();
        for _ in 0..count {
            let name = self.name();
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    fn one_of(&mut self, all: &[String]) -> String {
        all.get(self.random.below(all.len())).cloned().unwrap_or_else(|| "nobody".to_owned())
    }

    fn condition(&mut self) -> Value {
        match self.random.below(7) {
            0 => json!("the user wants a refund"),
            1 => json!({"natural": "refund"}),
            2 => json!({"natural": "total > 5 AND order"}),
            3 => json!("total > 5"),
            4 => json!("order IS SET"),
            5 => json!("plate == \"x\" AND NOT hours == 2"),
            _ => json!("the user is a member"),
        }
    }

    fn text(&mut self) -> String {
        self.pick(&[
            "Hello",
            "One moment",
            "Goodbye: see you",
            "a # b",
            "two\nlines",
            "\"quoted\"",
            "- item",
            "100 %",
        ])
        .to_owned()
    }

    fn variable(&mut self) -> String {
        self.pick(&["order", "total", "plate", "hours", "kind"]).to_owned()
    }

    fn value(&mut self) -> String {
        self.pick(&["1", "\"refund\"", "true", "total + 1", "order"]).to_owned()
    }

    fn step_jump(&mut self) -> String {
        let steps = self.steps.clone();
        format!("STEP {}", self.one_of(&steps))
    }

    fn jump(&mut self) -> String {
        match self.random.below(8) {
            0 => "COMPLETE".to_owned(),
            1 => "ESCALATE".to_owned(),
            2 if self.agents.len() > 1 => {
                let agents = self.agents.clone();
                format!("HANDOFF {}", self.one_of(&agents))
            }
            _ if self.steps.is_empty() => "COMPLETE".to_owned(),
            _ => self.step_jump(),
        }
    }

    fn call(&mut self) -> Map<String, Value> {
        let tools = self.tools.clone();
        let mut call = Map::new();
        call.insert("tool".to_owned(), json!(self.one_of(&tools)));
        call.insert("with".to_owned(), json!([{"name": "q", "value": self.value()}]));
        if self.chance(50) {
            call.insert("as".to_owned(), json!(self.name()));
        }
        call
    }

    fn branches(&mut self, depth: usize) -> Vec<Value> {
        let count = 1 + self.random.below(2);
        let mut all: Vec<Value> = (0..count)
            .map(|_| json!({"condition": self.condition(), "do": self.statements(depth)}))
            .collect();
        if self.chance(50) {
            all.push(json!({"do": self.statements(depth)}));
        }
        all
    }

    fn statements(&mut self, depth: usize) -> Vec<Value> {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> Value {
        match self.random.below(if depth == 0 { 6 } else { 12 }) {
            0 | 1 => json!({"type": "respond", "text": self.text()}),
            2 | 3 => {
                json!({"type": "set", "variable": self.variable(), "expression": self.value()})
            }
            4 => json!({"type": "clear", "variables": [self.variable()]}),
            5 => json!({"type": "goto", "then": self.jump()}),
            6 if !self.tools.is_empty() => {
                let mut call = json!({"type": "call", "call_spec": self.call()});
                for outcome in ["on_success", "on_failure"] {
                    if self.chance(40) {
                        call[outcome] = json!({"do": self.statements(depth - 1)});
                    }
                }
                call
            }
            7 => json!({"type": "if", "branches": self.branches(depth - 1)}),
            8 => json!({"type": "await", "branches": self.branches(depth - 1)}),
            9 => {
                json!({"type": "check", "condition": self.condition(), "otherwise": self.jump()})
            }
            10 => {
                json!({"type": "collect", "gather": {"fields": [{"name": self.name(), "type": "string", "prompt": self.text()}]}})
            }
            _ => json!({"type": "log", "value": self.text()}),
        }
    }

    fn step(&mut self) -> Value {
        if self.chance(40) {
            return json!({"do": self.statements(2)});
        }
        let mut step = Map::new();
        let mut put = |key: &str, value: Value| step.insert(key.to_owned(), value);
        if self.chance(20) {
            put("when", self.condition());
        }
        if self.chance(70) {
            put("respond", json!(self.text()));
        }
        if self.chance(20) {
            put("set", json!([{"variable": self.variable(), "expression": self.value()}]));
        }
        if self.chance(20) && !self.tools.is_empty() {
            let call = self.call();
            put("call", json!(call.get("tool")));
            put("call_spec", json!(call));
        }
        match self.random.below(5) {
            0 => {
                put("check", self.condition());
                put("on_fail", json!(self.jump()));
            }
            1 => {
                put("branches", json!(self.branches(1)));
            }
            2 => {
                put("on_input", json!(self.branches(1)));
            }
            _ => {}
        }
        if self.chance(70) {
            put("then", json!(self.jump()));
        }
        Value::Object(step)
    }

    fn ty(&mut self) -> &'static str {
        self.pick(&["string", "number", "{z: string}", "string[]", "object", "{a: {b?: string}[]}"])
    }

    fn tool(&mut self, name: &str) -> Value {
        let mut tool = json!({
            "name": name,
            "description": self.text(),
            "parameters": [{"name": "q", "type": self.ty()}],
            "binding": {"target": "flow://x"},
        });
        if self.chance(60) {
            tool["returns"] = match self.chance(50) {
                true => json!({"type": "object", "fields": [
                    {"name": "total", "type": self.ty()},
                    {"name": "more", "type": self.ty(), "optional": true},
                ]}),
                false => json!({"type": self.ty()}),
            };
        }
        tool
    }

    fn binding(&mut self, number: usize) -> Value {
        let agents = self.agents.clone();
        let tools = self.tools.clone();
        let mut binding = match self.random.below(6) {
            0 => json!({"does": "handoff", "to": self.one_of(&agents)}),
            1 => json!({"does": "delegate", "agent": self.one_of(&agents)}),
            2 => {
                json!({"does": "collect", "with": [{"name": self.variable(), "filled_by": "model"}]})
            }
            3 => json!({"does": "complete"}),
            4 if !tools.is_empty() => json!({"does": "call", "tool": self.one_of(&tools)}),
            _ => json!({"does": "escalate"}),
        };
        binding["name"] = json!(format!("tool_{number}"));
        binding["description"] = json!(self.text());
        if self.chance(40) {
            binding["available_when"] = self.condition();
        }
        binding
    }

    fn agent(&mut self, name: &str) -> Value {
        let count = self.random.below(3);
        self.tools = if count == 0 { Vec::new() } else { self.names(count) };
        self.steps = if self.chance(65) { self.names(4) } else { Vec::new() };
        let tools = self.tools.clone();
        let steps = self.steps.clone();
        let mut agent = json!({
            "metadata": {"name": name, "dialect": self.dialect},
            "identity": {"goal": "Help"},
            "tools": tools.iter().map(|tool| self.tool(tool)).collect::<Vec<_>>(),
        });
        if self.chance(40) {
            agent["memory"] =
                json!({"session": [{"name": self.name(), "type": "string", "initial_value": "x"}]});
        }
        if self.chance(30) {
            agent["gather"] =
                json!({"fields": [{"name": self.name(), "type": "string", "prompt": self.text()}]});
        }
        if self.chance(20) {
            agent["identity"]["instructions"] =
                json!([{"when": self.condition(), "text": self.text()}]);
        }
        if self.chance(20) {
            agent["on_start"] = json!({"do": self.statements(0)});
        }
        if self.chance(15) {
            agent["hooks"] = json!({"before_turn": {"do": self.statements(1)}});
        }
        if self.chance(15) {
            agent["constraints"] = json!({"constraints": [{
                "kind": "require", "condition": self.condition(),
                "on_fail": {"type": "respond", "message": self.text()},
            }]});
        }
        if self.chance(15) {
            agent["completion"] =
                json!({"conditions": [{"when": self.condition(), "respond": self.text()}]});
        }
        if self.chance(15) && self.agents.len() > 1 {
            let agents = self.agents.clone();
            agent["coordination"] =
                json!({"handoffs": [{"to": self.one_of(&agents), "when": self.condition()}]});
        }
        if steps.is_empty() {
            // Other languages have no names for tools.
            let count = if self.dialect == "agent-script" { self.random.below(3) } else { 0 };
            let bindings: Vec<_> = (0..count).map(|number| self.binding(number)).collect();
            if !bindings.is_empty() {
                agent["reasoning"] = json!({ "bindings": bindings });
            }
        } else {
            let all: Map<_, _> = steps.iter().map(|step| (step.clone(), self.step())).collect();
            agent["flow"] = json!({ "definitions": all });
        }
        agent
    }

    fn document(number: usize) -> (&'static str, Value) {
        let random = Random::from_state((number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (agents, steps, tools) = Default::default();
        let mut maker = Self { random, dialect: "abl", hostile: 0, agents, steps, tools };
        maker.dialect = maker.pick(&["abl", "abl", "agent-script", "adl"]);
        maker.hostile = maker.pick(&[0, 15, 60]);
        maker.agents = maker.names(3);
        let agents = maker.agents.clone();
        let all: Map<_, _> = agents.iter().map(|name| (name.clone(), maker.agent(name))).collect();
        let document = json!({
            "version": "1.0", "entry_agent": agents.first(), "complete": true, "agents": all,
        });
        (maker.dialect, document)
    }
}

/// The errors of the front end in a file, with their lines.
fn errors(loaded: &agentir_project::Loaded) -> impl Iterator<Item = String> {
    let errors = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| format!("{} ({})", d.message, d.rule.0))
}

/// What a conversion says that is not so.
fn untruths(sample: &Sample, target: Target) -> Vec<String> {
    let Checked { program, sources, .. } = &sample.checked;
    let done = convert(languages(), program, sources, target);
    let mut found = Vec::new();
    for d in done.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        let file = done.sources.get(d.primary.span.file).unwrap();
        let line = file.line_column(d.primary.span.start).line;
        let text = file.text.lines().nth(line as usize - 1).unwrap_or_default();
        found.push(format!("error: {} ({}): {text}", d.message, d.rule.0));
    }
    if !found.is_empty() {
        return found;
    }
    let [before, after] = [program, &done.program].map(NormalizedProgram::new);
    let mut paths = FxHashSet::default();
    before.values(&mut |path, _, _| {
        paths.insert(path.to_owned());
    });
    if paths.len() != before.size() {
        found.push("two values have one path".to_owned());
    }
    let told: FxHashSet<&str> = done.report.losses().map(|entry| entry.path.as_str()).collect();
    for d in value_differences(&before, &after).iter().filter(|d| d.left.is_some()) {
        if !told.contains(d.path.as_str()) {
            found.push(format!("silent: {}", d.path));
        }
    }
    found
}

/// Whether a conversion says that its output does something else, with a conversation that shows it.
fn says_that_it_differs(program: &Program, sources: &SourceMap, done: &mut Conversion) -> bool {
    done.verify(program, sources);
    done.report.proof.as_ref().is_some_and(|proof| proof.verdict == Verdict::Different)
}

/// What is not so of the conversions of a document; nothing if it has mistakes.
fn problems(number: usize) -> Option<Vec<String>> {
    let (language, document) = Maker::document(number);
    let text = serde_json::to_string_pretty(&document).unwrap();
    // What is on one line is announced together.
    let words = regex::Regex::new(r#"\{\s+("natural": "[^\n]*")\s+\}"#).unwrap();
    let text = words.replace_all(&text, "{$1}").into_owned();
    let shown = self::number("AGENTIR_DOCUMENT").is_some();
    if shown {
        eprintln!("{text}");
    }
    let loaded = load(&[File { name: "a.ir.json".to_owned(), text }], Options::default());
    let wrong: Vec<_> = errors(&loaded).collect();
    if !wrong.is_empty() {
        // A document with mistakes is not converted.
        if shown {
            eprintln!("{wrong:?}");
        }
        return None;
    }
    let program: Program = loaded.programs.into_iter().next()?.program;
    let (sources, diagnostics) = (loaded.sources, Vec::new());
    let sample = Sample {
        name: format!("document {number}"),
        language,
        checked: Checked { sources, diagnostics, program },
    };
    let mut found = Vec::new();
    for target in targets::all() {
        let at = format!("{number} ({language}) to {}", target.name());
        if shown {
            for file in
                convert(languages(), &sample.checked.program, &sample.checked.sources, target).files
            {
                eprintln!("---- {}: {}\n{}", target.name(), file.path, file.text);
            }
        }
        match caught(|| untruths(&sample, target)) {
            Ok(untrue) => {
                found.extend(untrue.into_iter().map(|problem| format!("{at}: {problem}")))
            }
            Err(panic) => found.push(format!("{at}: panic: {panic}")),
        }
    }
    let replayed = caught(|| {
        let program = &sample.checked.program;
        let machine = Machine::new(program);
        let limits = Limits { max_tries: 3, ..Limits::default() };
        let Ok(made) = generate(&machine, first_agent(program), limits) else { return Vec::new() };
        let mut told = Vec::new();
        for target in targets::all() {
            let mut done = convert(languages(), program, &sample.checked.sources, target);
            let is_written = done.diagnostics.iter().all(|d| d.severity != Severity::Error);
            let mut differing = Vec::new();
            // A scripted model does not know words that are said otherwise.
            let judged = done.report.losses().any(|entry| entry.path.ends_with(".natural"));
            if is_written && !judged {
                retell(&sample, &machine, &made, target, &mut differing);
            }
            differing.retain(|what| KNOWN.iter().all(|(part, _)| !what.contains(part)));
            if !differing.is_empty()
                && !says_that_it_differs(program, &sample.checked.sources, &mut done)
            {
                told.append(&mut differing);
            }
        }
        told
    });
    match replayed {
        Ok(told) => found.extend(told.into_iter().map(|what| format!("replay: {what}"))),
        Err(panic) => found.push(format!("{number} ({language}) replayed: panic: {panic}")),
    }
    Some(found)
}

#[test]
fn conversions_of_documents_say_what_they_change() {
    let numbers = match number("AGENTIR_DOCUMENT") {
        Some(one) => one..one + 1,
        None => 0..number("AGENTIR_DOCUMENTS").unwrap_or(DOCUMENTS),
    };
    let wanted = numbers.len();
    let all: Vec<_> = numbers.into_par_iter().filter_map(problems).collect();
    let converted = all.len();
    let wrong = all.iter().filter(|found| !found.is_empty()).count();
    let told: Vec<_> = all.into_iter().flatten().collect();
    let shown = self::number("AGENTIR_SHOWN").unwrap_or(60);
    let more = told.len().saturating_sub(shown);
    assert!(
        told.is_empty(),
        "{wrong} of {converted} documents:\n{}\nand {more} more",
        told.iter().take(shown).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(converted * 2 > wanted, "only {converted} of {wanted} documents can be read");
}

/// A program of one agent, `A`, with these parts, and another one to hand over to.
pub(crate) fn program_of(dialect: &str, parts: Value) -> Checked {
    let mut agent =
        json!({"metadata": {"name": "A", "dialect": dialect}, "identity": {"goal": "Help"}});
    agent.as_object_mut().unwrap().extend(parts.as_object().unwrap().clone());
    let other =
        json!({"metadata": {"name": "B", "dialect": dialect}, "identity": {"goal": "Help"}});
    let text = json!({
        "version": "1.0", "entry_agent": "A", "complete": true, "agents": {"A": agent, "B": other},
    });
    let text = serde_json::to_string_pretty(&text).unwrap();
    let loaded = load(&[File { name: "a.ir.json".to_owned(), text }], Options::default());
    assert_eq!(errors(&loaded).collect::<Vec<_>>(), [""; 0]);
    let program = loaded.programs.into_iter().next().unwrap().program;
    Checked { sources: loaded.sources, diagnostics: Vec::new(), program }
}

/// A conversion without errors, and its output as one text.
pub(crate) fn converted(source: &Checked, target: Target) -> (Conversion, String) {
    let mut done = convert(languages(), &source.program, &source.sources, target);
    done.verify(&source.program, &source.sources);
    assert!(done.diagnostics.iter().all(|d| d.severity != Severity::Error), "{:?}", done.files);
    let text = done.files.iter().map(|file| file.text.as_str()).collect();
    (done, text)
}

fn verdict(done: &Conversion) -> Verdict {
    done.report.proof.as_ref().unwrap().verdict
}

fn fate(done: &Conversion, path: &str) -> Preservation {
    let entry = done.report.entries.iter().find(|entry| entry.path == path);
    entry.unwrap_or_else(|| panic!("no {path}")).preservation
}

/// Tools of the model are declared as lowering declares them.
#[test]
fn what_tools_of_the_model_stand_for_is_declared() {
    let source = program_of(
        "agent-script",
        json!({"reasoning": {"bindings": [
            {"name": "go", "does": "handoff", "to": "B", "description": "Go there"},
            {"name": "note", "does": "collect", "description": "Note it", "with": [{"name": "who"}]},
            {"name": "end", "does": "complete", "description": "It is over"},
        ]}}),
    );
    let agent = source.program.agent("A").unwrap();
    assert!(agent.coordination.handoffs.first().unwrap().repeats_binding);
    assert_eq!(agent.gather.fields.first().unwrap().name.value, "who");
    let (done, _) = converted(&source, targets::AGENT_SCRIPT);
    // Settings that the language requires, and nothing else.
    let required = |path: &str| path.contains(".extensions.agent-script.");
    assert!(done.report.added.iter().all(|added| required(&added.path)));
    assert_eq!((done.report.totals.dropped, verdict(&done)), (0, Verdict::SameButAnnounced));
    for target in [targets::ABL, targets::ABL_YAML] {
        let (_, text) = converted(&source, target);
        assert!(text.contains("Go there") && text.contains("who:"), "{text}");
    }
    assert!(converted(&source, targets::ADL).1.contains("- who"));
}

/// Where a language only has expressions, instructions say words to the model.
#[test]
fn words_are_said_to_the_model() {
    let flow = json!({"flow": {"definitions": {
        "a": {"when": "the user is a member", "respond": "Hello", "check": "the user sounds calm",
            "on_fail": "HANDOFF B", "then": "b"},
        "b": {"branches": [
            {"condition": "the user wants a refund", "set": [{"variable": "kind", "expression": "\"x\""}], "then": "a"},
            {"respond": "Nothing then", "then": "COMPLETE"},
        ]},
    }}});
    let (done, text) = converted(&program_of("abl", flow), targets::AGENT_SCRIPT);
    for said in [
        "If the user is a member: Say: \"Hello\"",
        "it is not the case that the user sounds calm",
        "set @variables.kind = \"x\"",
        "If it is not the case that the user wants a refund: Say: \"Nothing then\"",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    for path in ["a.when", "a.check", "b.branches[0].condition"] {
        let path = format!("agents.A.flow.definitions.{path}");
        assert_eq!(fate(&done, &path), Preservation::Approximated, "{path}");
    }
    let own = json!({
        "identity": {"goal": "Help", "instructions": [{"when": "the user is angry", "text": "Be kind"}]},
        "tools": [{"name": "t", "description": "d", "binding": {"target": "flow://t"}}],
        "reasoning": {"bindings": [{"name": "use", "does": "call", "tool": "t", "description": "Use it",
            "available_when": "the user is polite"}]},
    });
    let (_, text) = converted(&program_of("agent-script", own), targets::AGENT_SCRIPT);
    for said in ["If the user is angry: Be kind", "Use it. Only if the user is polite"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

/// What could be an expression stays words, and equal words are no proof.
#[test]
fn words_stay_words() {
    let when = json!({"natural": "done AND total > 5"});
    let parts = json!({"coordination": {"handoffs": [{"to": "B", "when": when}]}});
    let source = program_of("abl", parts);
    for target in targets::all() {
        let (done, text) = converted(&source, target);
        let when = |program: &Program| {
            let handoffs = &program.agent("A")?.coordination.handoffs;
            handoffs.first()?.when.clone()
        };
        if let Some(when) = when(&done.program) {
            assert!(when.expr().is_none(), "{text}");
        }
        let conditions = &done.report.proof.as_ref().unwrap().conditions;
        assert_eq!((conditions.identical, conditions.proved), (0, 0), "{text}");
    }
}

/// Statements in another order than ABL's are steps of their own.
#[test]
fn statements_in_any_order_are_kept_in_it() {
    let statements = json!([
        {"type": "respond", "text": "one"}, {"type": "respond", "text": "two"},
        {"type": "set", "variable": "x", "expression": "1"}, {"type": "respond", "text": "three"},
    ]);
    let flow = json!({"flow": {"definitions": {
        "a": {"do": statements.clone()},
        "b": {"when": "x == 1", "on_input": [{"condition": "x == 1", "do": statements}]},
    }}});
    let source = program_of("abl", flow);
    for target in [targets::ABL, targets::ABL_YAML] {
        let (done, text) = converted(&source, target);
        assert_eq!(text.to_lowercase().matches("respond: ").count(), 6, "{text}");
        assert!(verdict(&done) <= Verdict::SameButAnnounced, "{text}");
    }
}

/// Steps that are called like something else get other names, and so do the jumps to them.
#[test]
fn names_that_cannot_be_written_are_replaced() {
    let hostile: Vec<&str> = HOSTILE.iter().copied().filter(|name| !name.is_empty()).collect();
    let next = hostile.iter().skip(1).map(|name| format!("STEP {name}"));
    let next = next.chain(["COMPLETE".to_owned()]);
    let steps: Map<_, _> = hostile
        .iter()
        .zip(next)
        .map(|(name, next)| ((*name).to_owned(), json!({"respond": name, "then": next})))
        .collect();
    let source = program_of("abl", json!({"flow": {"definitions": steps}}));
    for target in targets::all() {
        let (done, text) = converted(&source, target);
        let names: FxHashSet<&str> =
            done.report.renamed.iter().map(|renamed| renamed.to.as_str()).collect();
        assert_eq!(names.len(), done.report.renamed.len(), "{text}");
        assert!(verdict(&done) <= Verdict::SameButAnnounced, "{text}");
        if [targets::ABL, targets::ABL_YAML].contains(&target) {
            // Names that look like paths cannot be told from them, so that each new name is one to be reported.
            let found = (done.report.totals.dropped, verdict(&done));
            assert_eq!(found, (0, Verdict::SameButAnnounced), "{text}");
        }
    }
}

/// The fields of a result are its type, of whatever form.
#[test]
fn fields_of_results_may_have_any_type() {
    let tools = json!({"tools": [{"name": "t", "description": "d", "returns": {"type": "object", "fields": [
        {"name": "a", "type": "{z: string}"}, {"name": "b", "type": "string[]"},
        {"name": "c", "type": "{d: {e: string}[]}[]", "optional": true},
    ]}}]});
    let source = program_of("abl", tools);
    for target in [targets::ABL, targets::ABL_YAML] {
        let (done, text) = converted(&source, target);
        assert_eq!(done.report.losses().count(), 0, "{text}");
    }
}

/// A subagent runs its effects first, says its messages next and jumps last, so statements in another order are in
/// several.
#[test]
fn effects_do_not_overtake_what_reads_them() {
    let set = |value: &str| json!({"type": "set", "variable": "x", "expression": value});
    let jump = |to: &str| json!({"type": "goto", "then": to});
    let flow = json!({"memory": {"session": [{"name": "x", "type": "number", "initial_value": 2}]},
        "flow": {"steps": ["a", "b", "c", "d"], "definitions": {
        "a": {"reasoning": false, "then": "b", "branches":
            [{"condition": "x == 2", "set": [{"variable": "x", "expression": "9"}], "respond": "two"}]},
        "b": {"reasoning": false, "do":
            [{"type": "respond", "text": "{{x}} before"}, set("5"), {"type": "respond", "text": "{{x}} behind"}, jump("c")]},
        "c": {"reasoning": false, "do":
            [{"type": "if", "branches": [{"condition": "x == 5", "do": [jump("d")]}]}, set("7"), {"type": "respond", "text": "seven"}, jump("d")]},
        "d": {"reasoning": false, "do": [{"type": "respond", "text": "A person comes"}, {"type": "escalate"}]},
    }}});
    let (done, text) = converted(&program_of("abl", flow), targets::AGENT_SCRIPT);
    insta::assert_snapshot!(text);
    assert_eq!(fate(&done, "agents.A.flow.definitions.b.do[0].text"), Preservation::Approximated);
}

/// People read comments; for the program, what stands only there is lost.
#[test]
fn what_becomes_a_comment_is_dropped() {
    let flow = json!({"flow": {"definitions": {"a": {
        "reasoning": false, "set": [{"variable": "x", "expression": "ROUND(3.7)"}], "then": "COMPLETE",
    }}}});
    let (done, text) = converted(&program_of("abl", flow), targets::ADL);
    assert!(text.contains("# not in ADL: set x to ROUND of 3.7"), "{text}");
    let path = "agents.A.flow.definitions.a.set[x].expression";
    assert_eq!(fate(&done, path), Preservation::Dropped);
}

/// The first steps of a flow have no name in ADL but the label that a jump to them needs.
#[test]
fn jumps_back_to_the_first_step_have_a_label() {
    let flow = json!({"flow": {"definitions": {
        "a": {"respond": "x", "then": "b"},
        "b": {"respond": "y", "on_input": [{"condition": {"natural": "again"}, "then": "a"}, {"then": "COMPLETE"}]},
    }}});
    for dialect in ["abl", "adl"] {
        let (done, text) = converted(&program_of(dialect, flow.clone()), targets::ADL);
        assert!(text.contains("label: a"), "{text}");
        // These documents of ADL do not say of which kind their agents are, and the output does.
        let stated = dialect == "adl";
        assert!(stated || verdict(&done) <= Verdict::SameButAnnounced, "{text}");
    }
}

/// What must hold is required.
#[test]
fn constraints_need_no_keyword() {
    let rules = json!({"constraints": {"constraints": [
        {"condition": "x > 3", "on_fail": {"type": "respond", "message": "no"}},
        {"condition": {"natural": "Be brief"}},
    ]}});
    for target in [targets::ABL, targets::ABL_YAML] {
        let (_, text) = converted(&program_of("abl", rules.clone()), target);
        assert!(text.contains("REQUIRE x > 3") && text.matches("REQUIRE").count() == 2, "{text}");
    }
}
