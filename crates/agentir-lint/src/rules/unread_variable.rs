//! A variable that is set but never read.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Confidence, RuleName, Severity, Span};
use agentir_expr::{Expr, ExprKind, Visit};
use agentir_ir::{Agent, Node};
use agentir_ir_json::{Json, Mode};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::ser::Formatter;
use std::io;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unread-variable"),
    group: Group::Data,
    severity: Severity::Warning,
    summary: "a variable is set, but nothing reads it",
    vendor: &[],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let program = cx.program;
    let traits = cx.traits();
    let runtime = cx.dialect().runtime();
    // A caller outside of the program may read it.
    if !program.complete && !traits.closed_programs {
        return;
    }
    let mut set: FxHashMap<&str, Vec<Span>> = FxHashMap::default();
    let mut read: FxHashSet<&str> = FxHashSet::default();
    for agent in program.agents() {
        agent.walk(&mut |node| match node {
            // Fields that are not variables are visible to the model.
            Node::Field(field) if !traits.arguments_are_variables => {
                read.insert(&field.name.value);
            }
            _ => collect(node, &mut set, &mut read),
        });
        if shows_memory(agent) {
            read.extend(agent.memory.session.iter().map(|v| v.name.value.as_str()));
            read.extend(agent.gather.fields.iter().map(|f| f.name.value.as_str()));
        }
        read.extend(
            agent
                .memory
                .persistent
                .iter()
                .map(|p| agentir_analysis::variables::first(&p.path.value)),
        );
        // Externally visible variables may be read outside.
        let outside = agent.memory.session.iter().filter(|v| v.extensions.has("visibility"));
        read.extend(outside.map(|v| v.name.value.as_str()));
        read.extend(
            agent.memory.state.iter().map(|v| agentir_analysis::variables::first(&v.name.value)),
        );
        let parameters = agent.tools.iter().flat_map(|t| &t.parameters);
        read.extend(parameters.map(|p| p.name.value.as_str()));
    }
    // `agent.variable` may refer to a variable of another agent.
    read.extend(program.agents().map(|a| a.metadata.name.value.as_str()));
    // Another rule reports undeclared variables.
    let mut declared: FxHashMap<&str, usize> = FxHashMap::default();
    let variables = program.agents().flat_map(|a| &a.memory.session).map(|v| &v.name);
    let arguments = program.agents().flat_map(|a| &a.gather.fields).map(|f| &f.name);
    variables.chain(arguments).for_each(|n| *declared.entry(&n.value).or_default() += 1);
    if traits.closed_programs {
        set.retain(|name, _| declared.contains_key(name));
    }
    set.retain(|name, _| !read.contains(name) && !runtime.lists(name));
    if set.is_empty() {
        return;
    }
    let mentions = mentions(cx, set.keys().copied());
    let mut found: Vec<(&str, Vec<Span>)> = set.into_iter().collect();
    found.sort_by_key(|(_, places)| places.first().map(|s| (s.file, s.start)));
    for (name, places) in found {
        // Texts and data that the IR keeps verbatim may mention it.
        if mentions.get(name).copied().unwrap_or_default()
            > places.len() + declared.get(name).copied().unwrap_or_default()
        {
            continue;
        }
        let Some((first, rest)) = places.split_first() else { continue };
        let mut finding = report
            .finding(*first, format!("`{name}` is set, but never read"))
            .note("no condition, text, call or agent uses it")
            .help("use it, or remove the assignment")
            .confidence(Confidence::Medium);
        for other in rest.iter().take(3) {
            finding = finding.label(*other, "also set here");
        }
        report.push(finding);
    }
}

/// Whether the model may see the variables of an agent's memory without a reference.
fn shows_memory(agent: &Agent) -> bool {
    agent.metadata.dialect.traits().model_sees_memory
        && agent
            .flow
            .as_ref()
            .is_none_or(|f| f.definitions.values().any(|s| s.reasoning_zone.is_some()))
}

fn collect<'a>(
    node: Node<'a>,
    set: &mut FxHashMap<&'a str, Vec<Span>>,
    read: &mut FxHashSet<&'a str>,
) {
    node.exprs(&mut |e| of(e, read));
    match node {
        Node::Set(assignment) => {
            let target = &assignment.target;
            let mut result = false;
            assignment.value.paths(&mut |path| {
                result |= path.namespace.as_ref().is_some_and(|n| n.value == "outputs");
            });
            // A result of a call may be kept without being used; the call has side effects.
            if target.segments.is_empty() && !result {
                set.entry(&target.root.value).or_default().push(target.root.span);
            } else {
                read.insert(&target.root.value);
            }
        }
        Node::Reads(name, _) => {
            read.insert(agentir_analysis::variables::first(&name.value));
        }
        Node::Writes(name, _) => {
            read.insert(agentir_analysis::variables::first(&name.value));
        }
        Node::ToolBinding(offer) => {
            offer.with.iter().filter_map(|w| w.value.as_ref()).for_each(|e| of(e, read));
        }
        _ => {}
    }
}

fn of<'a>(expr: &'a Expr, read: &mut FxHashSet<&'a str>) {
    expr.visit(&mut |e| {
        match &e.kind {
            ExprKind::Path(path) => {
                read.insert(&path.root.value);
                read.extend(path.first_field().map(|f| f.value.as_str()));
            }
            ExprKind::Object(entries) => {
                read.extend(
                    entries.iter().filter(|e| e.value.is_none()).map(|e| e.key.value.as_str()),
                );
            }
            _ => {}
        }
        Visit::Children
    });
}

/// Counts how often each word occurs anywhere in the program, free-form data included.
fn mentions<'n>(
    cx: &ProgramAnalysis<'_>,
    words: impl Iterator<Item = &'n str>,
) -> FxHashMap<&'n str, usize> {
    let counts: FxHashMap<&str, usize> = words.map(|word| (word, 0)).collect();
    // Most words of a text are shorter than the names.
    let shortest = counts.keys().map(|word| word.len()).min().unwrap_or_default();
    let mut mentions = Mentions { counts, shortest };
    let program = cx.program;
    program.agents().for_each(|agent| mentions.add(agent));
    program.profiles.iter().for_each(|profile| mentions.add(profile));
    program.libraries.iter().flat_map(|l| &l.tools).for_each(|tool| mentions.add(tool));
    mentions.counts
}

/// Counts words in the serialized IR. Implements a JSON formatter that writes nothing.
struct Mentions<'n> {
    counts: FxHashMap<&'n str, usize>,
    /// The length of the shortest word.
    shortest: usize,
}

impl Mentions<'_> {
    fn add(&mut self, part: &impl Json) {
        // Serialization of the IR does not fail.
        let mut counting = serde_json::Serializer::with_formatter(io::sink(), self);
        let _ = part.write(Mode::Plain, &mut counting);
    }

    fn word(&mut self, word: &str) {
        if word.len() >= self.shortest
            && let Some(count) = self.counts.get_mut(word)
        {
            *count += 1;
        }
    }
}

impl Formatter for &mut Mentions<'_> {
    /// The text between two escapes, so that no word is split.
    fn write_string_fragment<W>(&mut self, _: &mut W, text: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        if text.len() < self.shortest {
            return Ok(());
        }
        // Nearly all text is ASCII, which is faster to split.
        let may_be_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || !b.is_ascii();
        let mut at = 0;
        for run in text.as_bytes().split(|b| !may_be_part(b)) {
            let run = text.get(at..at + run.len()).unwrap_or_default();
            at += run.len() + 1;
            if run.len() < self.shortest {
                continue;
            }
            match run.is_ascii() {
                true => self.word(run),
                false => run
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .for_each(|word| self.word(word)),
            }
        }
        Ok(())
    }

    /// Spans are numbers, which are never names.
    fn write_u32<W>(&mut self, _: &mut W, _: u32) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        Ok(())
    }
}
