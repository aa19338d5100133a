//! A variable that is read but never set.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::expressions::{ExprContext, expressions};
use agentir_analysis::script::variables;
use agentir_analysis::variables::{first, roots};
use agentir_diagnostics::{
    Applicability, Confidence, Edit, Fix, RuleName, Severity, Span, closest,
};
use agentir_expr::dialect::{Construct, Keyword};
use agentir_ir::ReadUse;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-variable"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a variable is read, but nothing declares or sets it",
    vendor: &["UNDEFINED_CONDITION_VAR", "undefined-reference", "set-variables-unknown-variable"],
    requires: &[Construct::DeclaredVariables],
    check: Check::Agent(check),
};

/// The reads of a name.
#[derive(Default)]
struct Uses {
    places: Vec<Span>,
    /// Whether it is only read with a member, as `booking` in `booking.confirmed`.
    object: bool,
}

/// Agent Script declares all variables of a program in one place (specification part II, 3).
fn with_namespaces(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let declared = &cx.program.variables;
    let mut order = Vec::new();
    let mut unknown: FxHashMap<&str, Vec<Span>> = FxHashMap::default();
    variables(cx, &mut |name, _| {
        if !name.value.is_empty()
            && !declared.contains_key(name.value.as_str())
            && !cx.names(&RULE, "known", &name.value)
        {
            let places = unknown.entry(&name.value).or_insert_with(|| {
                order.push(&name.value);
                Vec::new()
            });
            places.push(name.span);
        }
    });
    for name in order {
        let mut places = unknown.remove(name.as_str()).unwrap_or_default();
        places.sort_by_key(|span| (span.file, span.start));
        places.dedup();
        let Some((first, rest)) = places.split_first() else { continue };
        let mut finding = report.finding(*first, format!("there is no variable `{name}`")).note(
            cx.words(*first).either(
                "the agent does not compile: all variables are declared in `variables:`",
                "the agent does not compile: all variables are declared in `memory.session`",
            ),
        );
        finding.severity = Severity::Error;
        for other in rest {
            finding = finding.label(*other, "also used here");
        }
        report.push(suggest(finding, name, declared.keys().copied(), || {
            match cx.words(*first).is_json() {
                true => format!(
                    "declare it in `memory.session`: `{{\"name\": \"{name}\", \"type\": \"string\"}}`"
                ),
                false => format!("declare it below `variables:`, such as `{name}: mutable string`"),
            }
        }));
    }
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.traits().namespaced_references {
        with_namespaces(cx, report);
        return;
    }
    let variables = &cx.variables;
    let mut order = Vec::new();
    let mut unknown: FxHashMap<&str, Uses> = FxHashMap::default();
    let lost = cx.program.dropped();
    let mut read = |name, span, object| {
        if !variables.knows(name)
            && !lost.takes(&cx.agent.metadata.name.value, name)
            && !cx.names(&RULE, "known", name)
        {
            let uses = unknown.entry(name).or_insert_with(|| {
                order.push(name);
                Uses { places: Vec::new(), object: true }
            });
            uses.places.push(span);
            uses.object &= object;
        }
    };
    expressions(cx, &mut |expr, context| {
        // What a guardrail checks has names of its own.
        let own = match context {
            ExprContext::Plain => &[][..],
            ExprContext::Guardrail => cx.dialect().runtime().checked,
            ExprContext::Each => return,
        };
        roots(expr, &mut |name, object| {
            if !own.contains(&name.value.as_str()) {
                read(&name.value, name.span, object);
            }
        });
    });
    let required =
        cx.index.reads.iter().filter(|(_, used)| *used == ReadUse::Required).map(|(name, _)| *name);
    for name in
        cx.index.clears.iter().copied().flatten().chain(required).filter(|n| cx.owns(n.span))
    {
        read(first(&name.value), name.span, false);
    }
    for name in order {
        if let Some(uses) = unknown.remove(name) {
            tell(cx, name, uses, report);
        }
    }
}

fn tell(cx: &AgentContext<'_, '_>, name: &str, mut uses: Uses, report: &mut Report<'_>) {
    uses.places.sort_by_key(|span| (span.file, span.start));
    let mut places = uses.places.iter().copied();
    let Some(at) = places.next() else { return };
    let mut finding = report
        .finding(at, format!("nothing sets the variable `{name}`"))
        .confidence(Confidence::Medium)
        .note("a variable that is never set is undefined: conditions on it are false, and texts show nothing in its place");
    for other in places {
        finding = finding.label(other, "also read here");
    }
    let section = match cx.words(at) {
        words if words.is_json() => "`memory.session`".to_owned(),
        words => format!("`{}:`, below `session:`", words.keyword(Keyword::Memory)),
    };
    if let Some(near) = closest(name, cx.variables.names()) {
        let edits = uses.places.iter().map(|&span| Edit { span, text: near.to_owned() }).collect();
        let (title, applicability) = (format!("replace by `{near}`"), Applicability::Unsafe);
        finding = finding.help(format!("did you mean `{near}`?")).fix(Fix {
            title,
            edits,
            applicability,
        });
    } else if let Some(tool) = cx.dialect().runtime().tool_of_result(name) {
        finding = finding.help(format!(
            "it would be the result of a tool `{tool}`, which this agent does not have"
        ));
    } else if uses.object {
        // The specification's examples leave such objects to the model.
        finding.severity = Severity::Info;
        let comma = if cx.words(at).is_json() { "" } else { "," };
        finding =
            finding.help(format!("declare `{name}` in {section}{comma} if the agent stores it"));
    } else {
        finding =
            finding.help(format!("declare it in {section}; for a string, write `\"{name}\"`"));
    }
    report.push(finding);
}
