//! A reserved name that the author declares or writes.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Span, Spanned};
use agentir_expr::dialect::{Construct, Keyword};
use agentir_expr::{Expr, Name, TypeKind};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("reserved-name"),
    group: Group::Reserved,
    severity: Severity::Error,
    summary: "a name that is reserved by the runtime is declared or written",
    vendor: &["RESERVED_VARIABLE_NAME", "reserved-name"],
    requires: &[Construct::ReservedNames],
    check: Check::Agent(check),
};

/// The use of the name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Declared(&'static str),
    Written(Keyword),
    TransformItem,
    Returned,
    Removed,
}

/// Reports variables, inputs and outputs named like a keyword or a type.
fn keywords(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let words = cx.dialect().reserved_words();
    if words.is_empty() {
        return;
    }
    let inputs = cx.agent.tools.iter().flat_map(|tool| &tool.parameters);
    let outputs = cx.agent.tools.iter().filter_map(|tool| match &tool.returns.as_ref()?.ty.kind {
        TypeKind::Object(fields) => Some(fields),
        _ => None,
    });
    let all = (cx.agent.memory.session.iter().map(|variable| (&variable.name, "a variable")))
        .chain(inputs.map(|input| (&input.name, "an input")))
        .chain(outputs.flatten().map(|output| (&output.name, "an output")));
    for (name, what) in all {
        if words.contains(&name.value.as_str()) && cx.owns(name.span) {
            report.push(
                report
                    .finding(name.span, format!("`{name}` is a word of the language"))
                    .note(format!(
                        "{what} cannot have the name of a keyword or a type; the agent does not compile"
                    ))
                    .help(format!("use another name, such as `{name}_value`")),
            );
        }
    }
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    keywords(cx, report);
    if cx.dialect().runtime().variables.is_empty() {
        return;
    }
    let agent = cx.agent;
    let mut look = |name: &str, span: Span, how: How| {
        if cx.owns(span)
            && let Some(finding) = variable(cx, report, name, span, how)
        {
            report.push(finding);
        }
    };
    let memory = &agent.memory;
    memory
        .session
        .iter()
        .for_each(|v| look(&v.name.value, v.name.span, How::Declared("session memory")));
    memory
        .persistent
        .iter()
        .for_each(|p| look(&p.path.value, p.path.span, How::Declared("persistent memory")));
    // A supervisor may declare that the system provides a value; and `session.x` is valid there.
    for v in memory.state.iter().filter(|v| v.source != Some("system")) {
        look(&v.name.value, v.name.span, How::Declared("the state"));
    }
    for field in &cx.index.fields {
        look(&field.name.value, field.name.span, How::Declared("a gather field"));
    }
    for set in &cx.index.sets {
        let target = Expr::path(set.target.clone(), set.span).to_string();
        look(&target, set.target.root.span, How::Written(Keyword::Set));
    }
    for (name, used) in &cx.index.writes {
        use agentir_ir::WriteUse::{Return, Store, ToolResult, Transform, TransformItem};
        let how = match used {
            ToolResult => How::Written(Keyword::As),
            Transform => How::Written(Keyword::Into),
            TransformItem => How::TransformItem,
            Return => How::Returned,
            Store => How::Written(Keyword::Store),
        };
        look(&name.value, name.span, how);
    }
    for name in cx.index.clears.iter().copied().flatten() {
        look(&name.value, name.span, How::Removed);
    }
    for tool in &agent.tools {
        report_tool(cx, &tool.name, report);
    }
    for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
        report_step(cx, &step.name, report);
    }
}

fn variable(
    cx: &AgentContext<'_, '_>,
    report: &Report<'_>,
    name: &str,
    span: Span,
    how: How,
) -> Option<Diagnostic> {
    let word = |keyword| cx.words(span).keyword(keyword);
    let does = match how {
        How::Declared(place) => format!("{place} declares it"),
        How::Written(keyword) => format!("`{}` writes it", word(keyword)),
        How::TransformItem => {
            format!("the `{}` of a `{}` writes it", word(Keyword::As), word(Keyword::Transform))
        }
        How::Returned => {
            format!("`{}` of `{}` writes it", word(Keyword::Map), word(Keyword::OnReturn))
        }
        How::Removed => format!("`{}` removes it", word(Keyword::Clear)),
    };
    let runtime = cx.dialect().runtime();
    let finding = |what: &str| report.finding(span, format!("`{name}` {what}, but {does}"));
    if let Some(known) = runtime.variable(name) {
        let root = name.split('.').next().unwrap_or(name);
        // Only the results of existing tools are reserved: `last_known_result` is not.
        if runtime.tool_of_result(root).is_some_and(|t| {
            cx.tool(t).is_none() && cx.agent.use_tools.iter().all(|u| u.value != t)
        }) {
            return None;
        }
        if known.authored_wins {
            let mut finding = finding("is also a variable of the runtime");
            finding.severity = Severity::Info;
            return (cx.version >= known.since)
                .then(|| finding.note("the agent's own variable hides that of the runtime"));
        }
        let mut finding = finding("is reserved by the runtime")
            .at(format!("the runtime assigns it {}", known.assigned))
            .help(format!("use a name of your own, such as `{}`", known.instead));
        finding = match how {
            How::Removed => finding.note("the runtime sets it again with its next assignment"),
            _ => {
                finding.note("only the runtime writes it: other values are refused or overwritten")
            }
        };
        // The specification's own example returns `user_id` from an agent that collects it.
        if matches!(how, How::Removed | How::Returned) {
            finding.severity = Severity::Warning;
        }
        return Some(finding);
    }
    if let Some(free) = name.strip_prefix('_').map(|n| n.trim_start_matches('_')) {
        let root = free.split('.').next().unwrap_or(free);
        let mut finding =
            finding("begins with `_`, which is reserved for variables of the runtime")
                .note("the runtime may use or remove any variable whose name begins with `_`");
        finding.severity = Severity::Warning;
        return Some(if root.is_empty() {
            finding
        } else {
            finding.help(format!("rename it to `{root}`"))
        });
    }
    let (root, rest) = name.split_once('.').map_or((name, None), |(root, rest)| (root, Some(rest)));
    let namespace = runtime.namespace(root).filter(|n| cx.version >= n.since)?;
    if rest.is_some()
        && (namespace.writable
            || !matches!(how, How::Written(_) | How::TransformItem | How::Returned))
    {
        return None;
    }
    let mut finding =
        finding(if rest.is_some() { "cannot be written" } else { "is a namespace of the runtime" })
            .at(format!("`{root}` stands for {}", namespace.holds))
            .help(format!(
                "use a name of your own, such as `my_{}`",
                rest.unwrap_or(root).replace('.', "_")
            ));
    finding.severity = Severity::Warning;
    Some(finding.note(format!(
        "the runtime resolves `{root}.name` itself, and ignores what the agent writes"
    )))
}

fn report_tool(cx: &AgentContext<'_, '_>, name: &Spanned<Name>, report: &mut Report<'_>) {
    let message = match cx.dialect().runtime().tool(&name.value) {
        Some(does) => {
            format!("the tool name `{name}` is reserved: the runtime's own `{name}` {does}")
        }
        None if name.value.starts_with("__") && name.value.ends_with("__") => {
            format!(
                "the tool name `{name}` is reserved: names of the form `__…__` belong to the runtime"
            )
        }
        None => return,
    };
    let finding = report
        .finding(name.span, message)
        .note("the model calls the runtime's tool, never this one")
        .help(format!("rename it to `{}`", name.value.trim_matches('_')));
    report.push(finding);
}

/// Reports a step named like a keyword of `THEN`.
fn report_step(cx: &AgentContext<'_, '_>, name: &Spanned<Name>, report: &mut Report<'_>) {
    const KEYWORDS: &[&str] = &[
        "BACKTRACK",
        "BLOCK",
        "COMPLETE",
        "CONTINUE",
        "DELEGATE",
        "ESCALATE",
        "GOTO",
        "HANDOFF",
        "RESUME",
        "RETRY",
        "RETRY_STEP",
    ];
    if KEYWORDS.contains(&name.value.as_str()) {
        let mut finding = report
            .finding(name.span, format!("the step `{name}` has the name of a keyword"))
            .note(format!("`{}: {name}` is ambiguous", cx.words(name.span).keyword(Keyword::Then)))
            .help(format!("rename it to `{}_step`", name.value.to_lowercase()));
        finding.severity = Severity::Warning;
        report.push(finding);
    }
}
