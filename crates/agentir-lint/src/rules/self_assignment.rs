//! A variable that is assigned to itself.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Span, Spanned};
use agentir_expr::{Name, Path};
use agentir_ir::BindingAction;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("self-assignment"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a variable is assigned to itself",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    // What a handoff sets belongs to the other agent.
    let handoffs = cx.agent.coordination.handoffs.iter();
    let elsewhere: FxHashSet<Span> =
        handoffs.flat_map(|handoff| &handoff.context.set).map(|set| set.span).collect();
    for set in &cx.index.sets {
        let is_same = set.value.as_path().is_some_and(|value| same(value, &set.target));
        if is_same && !elsewhere.contains(&set.span) && cx.owns(set.span) {
            report.push(
                report
                    .finding(set.value.span, format!("`{}` is assigned to itself", set.target))
                    .note("the variable keeps the value that it has")
                    .help("assign the value that was meant, or remove the assignment"),
            );
        }
    }
    for offer in &cx.index.offers {
        if !matches!(offer.action, BindingAction::Collect) {
            continue;
        }
        let own = offer.with.iter().filter_map(|with| {
            let value = with.value.as_ref()?;
            let path = value.as_path().filter(|path| path.segments.is_empty())?;
            let shared = path.namespace.as_ref().is_some_and(|n| n.value == "variables");
            let same = shared && path.root.value == with.name.value && cx.owns(value.span);
            same.then_some((&with.name, value.span))
        });
        let own: Vec<(&Spanned<Name>, Span)> = own.collect();
        let Some(((name, at), others)) = own.split_first() else { continue };
        let mut finding = report
            .finding(*at, format!("`{name}` is assigned to itself"))
            .note("the model cannot fill the variable in: it keeps the value that it has")
            .help(format!("write `{name}=...` to let the model fill it in"));
        for (_, span) in others {
            finding = finding.label(*span, "and so is this");
        }
        report.push(finding);
    }
}

/// Whether two paths are the same variable: `session.x` is `x`.
fn same(value: &Path, target: &Path) -> bool {
    if value == target {
        return true;
    }
    let own = |path: &Path| {
        let text = path.to_string();
        text.strip_prefix("session.").map(str::to_owned).unwrap_or(text)
    };
    let namespace = |path: &Path| path.namespace.as_ref().map(|n| n.value.clone());
    let both = |path: &Path| namespace(path).is_none_or(|n| n == "variables");
    both(value) && both(target) && own(value) == own(target)
}
