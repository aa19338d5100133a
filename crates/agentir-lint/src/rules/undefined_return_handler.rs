//! A handoff whose return is handled by nothing.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-return-handler"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a handoff names a return handler that does not exist",
    vendor: &[],
    requires: &[Construct::Handoffs],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let coordination = &cx.agent.coordination;
    let handlers = &coordination.return_handlers;
    let returns = coordination.handoffs.iter().filter_map(|handoff| handoff.on_return.as_ref());
    for name in returns.filter_map(|on_return| on_return.handler.as_ref()) {
        if handlers.contains_key(&name.value) || name.value.contains("{{") {
            continue;
        }
        let finding = report
            .finding(name.span, format!("there is no return handler `{name}`"))
            .note("the agent continues as if nothing were to be done on return");
        let finding = suggest(finding, &name.value, handlers.keys().map(|k| k.as_str()), || {
            let words = cx.words(name.span);
            let all = words.keyword(Keyword::ReturnHandlers);
            match words.is_json() {
                true => format!("define it in `{all}`: `\"{name}\": {{…}}`"),
                false => format!("define it: `{name}:` below `{all}:`"),
            }
        });
        report.push(finding);
    }
}
