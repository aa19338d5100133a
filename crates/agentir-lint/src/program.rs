//! Running the rules.

use crate::catalogue::RULES;
use crate::dialects::{holds, is_adl, is_adl_program};
use crate::rule::{AgentContext, Check, ProgramContext, Report};
use agentir_diagnostics::Diagnostic;
use agentir_expr::Version;
use agentir_ir::Program;
use rustc_hash::FxHashSet;

/// Which rules run.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only these, if there are any: names of rules or groups.
    pub select: FxHashSet<String>,
    /// All but these.
    pub ignore: FxHashSet<String>,
}

impl Selection {
    /// Whether findings of the rule called `name` are wanted.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        let group = crate::rule(name).map(|r| r.group_name()).unwrap_or_default();
        let among = |set: &FxHashSet<String>| set.contains(name) || set.contains(group);
        (self.select.is_empty() || among(&self.select)) && !among(&self.ignore)
    }
}

/// Checks a program. `version` says which version of the language each of its agents is held to,
/// by their order.
#[must_use]
pub fn check(program: &Program, versions: &[Version], selection: &Selection) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let whole = ProgramContext::new(program);
    let agents: Vec<AgentContext<'_>> = program
        .agents
        .iter()
        .enumerate()
        .map(|(i, agent)| {
            AgentContext::new(agent, &whole, versions.get(i).copied().unwrap_or_default())
        })
        .collect();
    for rule in RULES.iter().copied() {
        if !selection.wants(rule.name.0) {
            continue;
        }
        let mut report = Report { rule, diagnostics: &mut diagnostics };
        match rule.check {
            Check::FrontEnd => {}
            Check::Agent(check) => agents
                .iter()
                .filter(|cx| holds(rule, is_adl(cx.agent)))
                .for_each(|cx| check(cx, &mut report)),
            Check::Program(check) if holds(rule, is_adl_program(program)) => {
                check(&whole, &mut report);
            }
            Check::Program(_) => {}
        }
    }
    diagnostics
}
