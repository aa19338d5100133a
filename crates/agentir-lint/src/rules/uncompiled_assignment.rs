//! An assignment that the vendor's compiler does not compile.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, UncompiledForm};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("uncompiled-assignment"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "an assignment has a form that the vendor's compiler does not compile",
    vendor: &[],
    requires: &[Construct::LinkedVariables],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let forms = cx.dialect().uncompiled_assignments();
    for set in &cx.index.sets {
        let Some(form) = forms.iter().find(|form| form.is_in(&set.target, &set.value)) else {
            continue;
        };
        let name = &set.target.root;
        let (span, what, help) = match form {
            UncompiledForm::PartOfVariable => (
                set.target.root.span,
                format!("only a part of `{name}` is set"),
                "set the whole variable, or let an action change it".to_owned(),
            ),
            UncompiledForm::List | UncompiledForm::Object => (
                set.value.span,
                format!("`{name}` is set to {}", form.noun()),
                format!("declare a variable with this value, and set `{name}` to that variable"),
            ),
        };
        report.push(
            report
                .finding(span, what)
                .note("the grammar allows it, but the vendor's compiler refuses the agent")
                .help(help),
        );
    }
}
