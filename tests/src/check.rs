//! From texts to findings, in memory.

use agentir_compare::{Announced, Comparison, Meaning, Side};
use agentir_diagnostics::{Diagnostic, Severity, SourceFile, SourceMap, Span, Spanned, sort};
use agentir_expr::Version;
use agentir_ir::{AgentType, Program};
use agentir_lint::Selection;
use agentir_syntax::abl::Options;
use agentir_syntax::agent_script;
use serde_json::{Value, json};
use smol_str::SmolStr;

/// A file.
#[derive(Debug, Clone)]
pub struct File {
    /// Its name, which says its format.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What was found in some files.
#[derive(Debug)]
pub struct Checked {
    /// The files.
    pub sources: SourceMap,
    /// The findings of front end and rules, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// What the files define.
    pub program: Program,
}

impl Checked {
    /// The findings as lines: `file:line rule (level): message`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.diagnostics.iter().map(|d| self.line(d)).collect()
    }

    /// One finding as a line.
    #[must_use]
    pub fn line(&self, d: &Diagnostic) -> String {
        let (name, line) = self.place(d.primary.span);
        let level = d.severity.name();
        format!("{name}:{line} {} ({level}): {}", d.rule.0, d.message)
    }

    /// The file and the line, from 1, of a place.
    #[must_use]
    pub fn place(&self, span: Span) -> (&str, u32) {
        self.sources.get(span.file).map_or(("", 0), |f| (&f.name, f.line_column(span.start).line))
    }

    /// The findings of error level.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error)
    }
}

/// Reads files as one program and checks it. A `project.json` among them makes it complete.
#[must_use]
pub fn check(files: &[File], options: Options) -> Checked {
    let mut sources = SourceMap::new();
    let mut diagnostics = Vec::new();
    let mut program = Program::default();
    let mut versions: Vec<Version> = Vec::new();
    for file in files {
        let id = sources.add(SourceFile::new(file.name.as_str(), file.text.as_str()));
        if file.name.ends_with("project.json") {
            let manifest: Value = serde_json::from_str(&file.text).expect("a manifest is JSON");
            program.complete = true;
            program.entry_agent = manifest["entry_agent"]
                .as_str()
                .map(|name| Spanned::new(SmolStr::new(name), Span::new(id, 0, 0)));
            continue;
        }
        let export = agentir_lower::is_xo(&file.name, &file.text);
        let mut lowered = if export {
            agentir_lower::xo(id, &file.text)
        } else if file.name.ends_with(".py") {
            agentir_lower::python(id, &file.text)
        } else if agentir_lower::is_adl_config(&file.name, &file.text) {
            agentir_lower::adl_config(id, &file.text)
        } else if agentir_lower::takes_agent_script(&file.name, &file.text) {
            agentir_lower::agent_script(id, &file.text, agent_script::Options::default())
        } else if agentir_lower::is_adl(&file.name, &file.text) {
            agentir_lower::adl(id, &file.text)
        } else {
            agentir_lower::abl(id, &file.name, &file.text, options)
        };
        diagnostics.append(&mut lowered.diagnostics);
        // Exports are searched for credentials where they are read, decoded.
        if !export {
            diagnostics.extend(agentir_lint::check_text(id, &file.text));
        }
        lowered.add_to(&mut program, &mut versions);
    }
    let supervised = program.agents().any(|a| a.metadata.kind == AgentType::Supervisor);
    program.complete |= supervised && program.agents.len() > 1;
    if !options.fragment {
        let checked = agentir_lint::check(&program, &versions, &[], &Selection::default());
        diagnostics.extend(checked.diagnostics);
        agentir_lint::suppress(&sources, &mut diagnostics, &|_, _| true);
    }
    sort(&mut diagnostics, &sources);
    Checked { sources, diagnostics, program }
}

/// Compares what two programs do.
#[must_use]
pub fn compare(left: &Checked, right: &Checked) -> Comparison {
    let [one, other] = [left, right].map(|checked| Meaning::new(&checked.program));
    let left = Side { program: &left.program, sources: &left.sources, meaning: &one };
    let right = Side { program: &right.program, sources: &right.sources, meaning: &other };
    Comparison::new(left, right, &Announced::nothing())
}

/// All that a program says, as JSON, without the hash of its text.
#[must_use]
pub fn json(program: &Program) -> Value {
    let mut agents = serde_json::to_value(&program.agents).expect("agents are JSON");
    for agent in agents.as_array_mut().into_iter().flatten() {
        agent["metadata"].as_object_mut().expect("metadata").remove("source_hash");
    }
    let libraries: Vec<Value> = program
        .libraries
        .iter()
        .map(|library| json!({ "tools": &library.tools, "extensions": &library.extensions }))
        .collect();
    json!({
        "agents": agents,
        "profiles": &program.profiles,
        "libraries": libraries,
        "extensions": &program.extensions,
        "entry_agent": program.entry_agent.as_ref().map(|name| &name.value),
    })
}
