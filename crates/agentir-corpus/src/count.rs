//! Counting one program.

use crate::{Corpus, DialectStats, FileStats, FindingCounts, ProjectStats, RuleStats, Totals};
use agentir_diagnostics::{Diagnostic, SourceMap};
use agentir_flow::Cfg;
use agentir_flow::cfg::Origin;
use agentir_ir::dialect;
use agentir_ir::{Agent, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A program that was checked, and what that took.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What it is called: its folder, or its file.
    pub name: &'a str,
    /// The program, or the programs, if files of several dialects are in one folder.
    pub programs: &'a [&'a Program],
    /// How many documents it has.
    pub files: usize,
    /// How many bytes these are.
    pub bytes: u64,
    /// What was found in it.
    pub diagnostics: &'a [Diagnostic],
    /// The files that findings point into.
    pub sources: &'a SourceMap,
    /// How long it took.
    pub duration: Duration,
}

impl Measured<'_> {
    /// The corpus that is only this program.
    #[must_use]
    pub fn corpus(&self, rows: usize) -> Corpus {
        let mut corpus = Corpus::new(rows);
        let mut findings = FindingCounts::default();
        let mut by_file: BTreeMap<&str, FindingCounts> = BTreeMap::new();
        let mut by_rule: BTreeMap<&str, (u64, BTreeSet<&str>)> = BTreeMap::new();
        for diagnostic in self.diagnostics {
            let file = self.sources.get(diagnostic.primary.span.file).map_or("", |f| &f.name);
            findings.count(diagnostic.severity);
            by_file.entry(file).or_default().count(diagnostic.severity);
            let (count, files) = by_rule.entry(diagnostic.rule.0).or_default();
            *count += 1;
            files.insert(file);
        }
        let agents = self.programs.iter().flat_map(|p| &p.agents);
        let mut dialects = self.programs.iter().map(|program| program.dialect());
        let dialect = dialects.find(|d| *d != dialect::NONE).unwrap_or(dialect::NONE).id();
        corpus.totals = Totals {
            programs: 1,
            clean: u64::from(self.diagnostics.is_empty()),
            agents: agents.count() as u64,
            files: self.files as u64,
            bytes: self.bytes,
            findings,
        };
        let mut constructs = BTreeMap::new();
        for program in self.programs {
            count_program(program, &mut |name, n| {
                if n > 0 {
                    *constructs.entry(name.to_owned()).or_default() += n as u64;
                }
            });
        }
        let of_dialect = DialectStats { totals: corpus.totals, constructs };
        corpus.dialects.insert(dialect.to_owned(), of_dialect);
        corpus.rules = by_rule
            .into_iter()
            .map(|(rule, (findings, files))| {
                let affected = RuleStats { findings, files: files.len() as u64, programs: 1 };
                (rule.to_owned(), affected)
            })
            .collect();
        let project = ProjectStats {
            name: self.name.to_owned(),
            files: self.files as u64,
            findings,
            microseconds: u64::try_from(self.duration.as_micros()).unwrap_or(u64::MAX),
        };
        let mut alone = Corpus::new(rows);
        alone.most_affected_files = by_file
            .into_iter()
            .map(|(name, findings)| FileStats { name: name.to_owned(), findings })
            .collect();
        if findings.all() > 0 {
            alone.most_affected.push(project.clone());
        }
        alone.slowest.push(project);
        // Which rows a list has, and in which order, is decided in one place.
        corpus.add(alone);
        corpus
    }
}

/// Counts what is written in a program.
fn count_program(program: &Program, count: &mut dyn FnMut(&str, usize)) {
    count("tool-library", program.libraries.len());
    count("tool", program.libraries.iter().map(|l| l.tools.len()).sum());
    count("profile", program.profiles.len());
    for agent in program.agents() {
        count_agent(agent, count);
    }
    let graph = Cfg::of_program(program);
    // What follows from the language alone is not written.
    let written = |node: &&agentir_flow::cfg::Node<'_>| {
        !matches!(node.origin, Origin::None | Origin::Agent(_))
    };
    let nodes = graph.agents().iter().flat_map(|part| part.nodes());
    for node in nodes.filter_map(|node| graph.node(node)).filter(written) {
        count(node.kind.name(), 1);
    }
}

fn count_agent(agent: &Agent, count: &mut dyn FnMut(&str, usize)) {
    count("agent", 1);
    count("tool", agent.tools.len());
    count("gather-field", agent.gather.fields.len());
    count("session-variable", agent.memory.session.len());
    count("persistent-path", agent.memory.persistent.len());
    count("constraint", agent.constraints.constraints.len());
    count("guardrail", agent.constraints.guardrails.len());
    count("handoff-rule", agent.coordination.handoffs.len());
    count("delegate-rule", agent.coordination.delegates.len());
    count("routing-rule", agent.routing.as_ref().map_or(0, |r| r.rules.len()));
    count("escalation", usize::from(agent.coordination.escalation.is_some()));
    count("instruction", agent.identity.instructions.len());
    count("template", agent.templates.len());
    count("message", agent.messages.len());
    count("entity", agent.entities.len());
    count("profile", agent.behavior_profiles.len());
    count("knowledge", usize::from(agent.knowledge.is_some()));
    count("flow", usize::from(agent.flow.is_some()));
    count("reasoning", usize::from(agent.reasoning.is_some()));
}
