//! ADL: typed trees to AgentIR.
//!
//! An ensemble is a supervisor whose model chooses among the agents it contains; an agent with steps
//! has a flow; one with a prompt leaves everything to the model; a kb agent has knowledge. Labels and
//! subflows are steps of the flow, `next` is a jump between them.
//!
//! What of a text is the name of an argument only shows here, where the arguments are known.

mod agent;
mod flow;
mod names;
mod tool;

use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::Name;
use agentir_ir::{Agent, Dialect};
use agentir_syntax::adl::{AgentKind, Document, StepKind, Value};
use agentir_syntax::rules;
use names::Names;
pub(crate) use tool::tool;

/// The key of ADL in extensions.
const ADL: &str = Dialect::Adl.name();

/// What lowering needs everywhere.
struct Context<'p> {
    problems: &'p mut Vec<Diagnostic>,
    names: Names,
}

/// Lowers a file. The entry is the agent called `main` (B.6).
pub(crate) fn lower(
    document: Document<'_>,
    text: &str,
    problems: &mut Vec<Diagnostic>,
) -> (Vec<Agent>, Option<Spanned<Name>>) {
    let names = Names::new(&document);
    let main = document.agents.iter().find(|a| a.name.value == "main");
    let entry = main.map(|a| a.name.clone());
    if let Some(main) = main {
        check_main(main, problems);
    }
    let mut cx = Context { problems, names };
    let mut agents: Vec<Agent> =
        document.agents.into_iter().map(|a| agent::agent(&mut cx, a, text)).collect();
    // What belongs to the file stays with its first agent.
    if let Some(first) = agents.first_mut() {
        if let Some(key) = document.tools_key {
            let files: Vec<_> = document.tools.iter().map(|t| t.value.as_str()).collect();
            first.extensions.keep(ADL, "tools", files.into(), key);
        }
        for entry in document.unknown {
            let span = entry.span(first.span.file);
            first.extensions.keep(ADL, "file", crate::abl::data::of_entry(entry), span);
        }
    }
    (agents, entry)
}

/// MICA starts `main` only if it is a flow whose first step is a call (`bot.py`).
fn check_main(main: &agentir_syntax::adl::Agent<'_>, problems: &mut Vec<Diagnostic>) {
    let name = &main.name;
    let finding = |span, message: String| {
        Diagnostic::warning(rules::MICA_MAIN, span, message)
            .note("MICA crashes at the user's first message")
            .help("let `main` be a flow agent whose first step calls the agent that is to start")
    };
    match main.kind {
        Some(AgentKind::Flow) => {
            let steps = main.fields.iter().find_map(|f| match &f.value {
                Value::Steps(steps) => Some(steps),
                _ => None,
            });
            let first = steps.and_then(|s| s.first());
            if let Some(step) = first.filter(|s| !matches!(s.kind, StepKind::Call { .. })) {
                problems.push(finding(
                    step.span,
                    "MICA can only start with a `main` whose first step is `call`".to_owned(),
                ));
            }
        }
        Some(kind) => problems.push(finding(
            name.span,
            format!("MICA cannot start with a `main` that is of type `{}`", kind.name()),
        )),
        None => {}
    }
}
