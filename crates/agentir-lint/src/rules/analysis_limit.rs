//! Analyses that stopped early.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_analysis::limits::Limit;
use agentir_diagnostics::{Label, RuleName, Severity, Span};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("analysis-limit"),
    group: Group::Syntax,
    severity: Severity::Info,
    summary: "an analysis stopped early, because it takes too many steps",
    vendor: &[],
    requires: &[],
    check: Check::Program(check),
};

fn check(program: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let anywhere = program.all_agents().next().map(|first| first.agent.metadata.name.span);
    let mut places: Vec<(Limit, Span)> = program
        .limits()
        .reached()
        .into_iter()
        .filter_map(|(limit, at)| Some((limit, at.or(anywhere)?)))
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut all = places.as_slice();
    while let Some((limit, first)) = all.first() {
        let (same, rest) = all.split_at(all.partition_point(|(other, _)| other == limit));
        all = rest;
        let mut finding = report.finding(*first, said(*limit));
        let more = same.get(1..).unwrap_or_default().iter();
        finding.labels.extend(more.map(|(_, at)| Label::new(*at, "and here")));
        report.push(finding.note("mistakes that only show there are not reported").help(
            match limit {
                Limit::Condition | Limit::Conditions => {
                    "write simpler conditions: compare fewer variables with each other, or match shorter patterns"
                }
                Limit::Paths | Limit::Combinations | Limit::Values => "divide the agent into several",
            },
        ));
    }
}

const fn said(limit: Limit) -> &'static str {
    match limit {
        Limit::Condition => "this condition is too complex to be decided",
        Limit::Conditions => {
            "the conditions of this program are too many and too complex: this one was not decided"
        }
        Limit::Paths => "the paths of this agent have too many variables: not all were followed",
        Limit::Combinations => {
            "the constraints or handoffs of this agent have too many combinations: not all were tried"
        }
        Limit::Values => {
            "the variables of this program have too many values: what they hold where was not computed"
        }
    }
}
