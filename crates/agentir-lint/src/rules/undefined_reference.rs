//! A reference to an unknown namespace or to an unknown member.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::wording::{listed, plural};
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Span, Spanned};
use agentir_expr::dialect::Construct;
use agentir_expr::dialect::{Referent, RuntimeNames};
use agentir_expr::{Name, Path};
use agentir_ir::BindingAction;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-reference"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a reference cannot be resolved",
    vendor: &["undefined-reference", "unknown-identifier", "constraint-resolved-type"],
    requires: &[Construct::PromptReferences],
    check: Check::Agent(check),
};

/// The maximum number of further places that a finding shows.
const MAX_PLACES: usize = 4;

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    // Its nodes have namespaces of their own.
    if cx.program.open_references {
        return;
    }
    let mut seen = FxHashSet::default();
    // One finding per namespace that only a connection has: it has one cause.
    let mut of_connections: Vec<Spanned<Name>> = Vec::new();
    cx.index.paths(&mut |path, _| {
        if !seen.insert(path.root.span) {
            return;
        }
        let runtime = cx.dialect().runtime();
        let space = path.namespace.as_ref().and_then(|name| runtime.reference(&name.value));
        match &path.namespace {
            Some(name) if space.is_some_and(|space| space.holds == Referent::Connection) => {
                of_connections.push(name.clone());
            }
            _ => look(cx, path, report),
        }
    });
    let mut told: FxHashSet<&str> = FxHashSet::default();
    for name in &of_connections {
        if !told.insert(&name.value) {
            continue;
        }
        let mut finding = of_connection(name, report);
        let others = of_connections.iter().filter(|other| other.value == name.value).skip(1);
        for other in others.take(MAX_PLACES) {
            finding = finding.label(other.span, "and here");
        }
        report.push(finding);
    }
    for offer in &cx.index.offers {
        let BindingAction::Other { reference } = &offer.action else { continue };
        let text = &reference.value;
        let Some((namespace, member)) = text.strip_prefix('@').and_then(|r| r.split_once('.'))
        else {
            continue;
        };
        // The front end reports a transition without `to`.
        if text == "@utils.transition" {
            continue;
        }
        // The text is that of the source, so its parts lie where they lie in it.
        let Span { file, end, .. } = reference.span;
        let length = u32::try_from(member.len()).unwrap_or(0);
        let dot = end.saturating_sub(length + 1);
        let namespace =
            Spanned::new(Name::new(namespace), Span::new(file, reference.span.start + 1, dot));
        let member = Spanned::new(Name::new(member), Span::new(file, dot + 1, end));
        if !known(cx.dialect().runtime(), &namespace, &member, report) {
            continue;
        }
        report.push(
            report
                .finding(reference.span, format!("a tool cannot refer to `{text}`"))
                .help("a tool refers to `@actions.name`, `@utils.transition to …`, `@utils.setVariables`, `@utils.escalate` or `@subagent.name`"),
        );
    }
}

fn look(cx: &AgentContext<'_, '_>, path: &Path, report: &mut Report<'_>) {
    match &path.namespace {
        Some(namespace) => {
            known(cx.dialect().runtime(), namespace, &path.root, report);
        }
        None if path.root.value.is_empty() => {}
        None => {
            let name = &path.root;
            let finding = report
                .finding(name.span, format!("`{name}` is not a value"))
                .note("a value is a reference or a constant; the agent does not compile");
            report.push(if cx.program.variables.contains_key(name.value.as_str()) {
                finding.help(format!("write `@variables.{name}`")).replace(
                    format!("@variables.{name}"),
                    agentir_diagnostics::Applicability::Unsafe,
                )
            } else {
                finding.help(format!(
                    "write `\"{name}\"` for a string, or `@variables.{name}` for a variable"
                ))
            });
        }
    }
}

fn of_connection(namespace: &Spanned<Name>, report: &Report<'_>) -> Diagnostic {
    let mut finding = report
        .finding(namespace.span, format!("`@{namespace}` is empty outside a connection"))
        .note("the value is silently missing")
        .help("store the value in a variable, and read `@variables.name`");
    finding.severity = Severity::Warning;
    finding
}

/// Whether a namespace is known and has the member. Reports what is unknown.
fn known(
    runtime: &RuntimeNames,
    namespace: &Spanned<Name>,
    member: &Spanned<Name>,
    report: &mut Report<'_>,
) -> bool {
    let space = runtime.reference(&namespace.value);
    if space.is_some_and(|space| space.holds == Referent::Connection) {
        report.push(of_connection(namespace, report));
        return false;
    }
    let Some(space) = space else {
        let finding = report
            .finding(namespace.span, format!("there is no namespace `@{namespace}`"))
            .note("the reference cannot be resolved; the agent does not compile");
        let readable = runtime.references.iter().filter(|s| s.holds != Referent::Connection);
        let names = readable.map(|space| space.name);
        report.push(suggest(finding, &namespace.value, names, || {
            "variables are `@variables.name`, actions `@actions.name`".to_owned()
        }));
        return false;
    };
    if member.value.is_empty() {
        report.push(
            report
                .finding(namespace.span, format!("`@{namespace}` is not a value by itself"))
                .help(format!("name a member: `@{namespace}.name`")),
        );
        return false;
    }
    let Some(members) = space.members.filter(|m| !m.contains(&member.value.as_str())) else {
        return true;
    };
    let finding = report.finding(member.span, format!("`@{namespace}` has no member `{member}`"));
    report.push(suggest(finding, &member.value, members.iter().copied(), || {
        let all: Vec<String> = members.iter().map(|m| format!("`{m}`")).collect();
        format!("`@{namespace}` has the {} {}", plural("member", all.len()), listed(&all))
    }));
    false
}
