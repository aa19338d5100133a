//! Lowers ADL's typed tree to AgentIR.
//!
//! An ensemble is a supervisor whose model chooses among the agents it contains. An agent with steps has
//! a flow; one with a prompt is led by the model; a kb agent has a knowledge base. Labels and subflows
//! are steps of the flow, and `next` is a jump.
//!
//! Whether a value is the name of an argument or a constant is decided here, where the arguments are
//! known.
//!
//! Every end of a list of steps becomes an explicit `COMPLETE`. `!=` becomes the negation of `==`,
//! and a comparison with `None` a test whether the value is set, because ABL's `!=` means something
//! else.

mod agent;
mod flow;
mod names;
mod tool;

use crate::config::Config;
use crate::dialect;
use crate::rules;
use crate::{AgentKind, Document, StepKind, Value};
use agentir_diagnostics::{Diagnostic, FileId, Spanned};
use agentir_expr::Name;
use agentir_ir::{Agent, Extensions};
use agentir_syntax::lower::data::NO_FLOW;
use names::Names;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
pub(crate) use tool::tool;

/// The agent that a program starts with (B.6).
const MAIN: &str = "main";

/// The key of ADL's extensions.
const ADL: &str = dialect::ADL.id();

/// Context of lowering one file.
struct Context<'p> {
    problems: &'p mut Vec<Diagnostic>,
    names: Names,
    /// The hash of the source.
    hash: SmolStr,
    /// Whether the bot is written for MICA, where that differs from the paper.
    for_mica: bool,
}

/// Lowers a file. The entry is the agent `main` (B.6), or the agent that `main` only forwards to.
pub(crate) fn lower(
    document: Document<'_>,
    text: &str,
    for_mica: bool,
    problems: &mut Vec<Diagnostic>,
) -> (Vec<Agent>, Option<Spanned<Name>>) {
    let names = Names::new(&document);
    let main = document.agents.iter().find(|a| a.name.value == MAIN);
    if let Some(main) = main {
        check_main(main, problems);
    }
    let start = main.and_then(|main| forwarded_entry(main, &document));
    let entry = start.or(main.map(|a| &a.name)).cloned();
    check_entry_ensemble(&document, problems);
    let hash = agentir_syntax::lower::source_hash(text);
    let mut cx = Context { problems, names, hash, for_mica };
    let mut agents: Vec<Agent> = document
        .agents
        .into_iter()
        .filter(|a| a.name.value != MAIN || entry.as_ref().is_none_or(|e| e.value == MAIN))
        .map(|a| agent::agent(&mut cx, a))
        .collect();
    // Data of the whole file goes to its first agent.
    if let Some(first) = agents.first_mut() {
        if let Some(key) = document.tools_key {
            let files: Vec<_> = document.tools.iter().map(|t| t.value.as_str()).collect();
            first.extensions.insert(ADL, "tools", files.into(), key);
        }
        for entry in document.unknown {
            let span = entry.span(first.span.file);
            first.extensions.insert(
                ADL,
                "file",
                agentir_syntax::lower::data::of_entry(entry, NO_FLOW),
                span,
            );
        }
    }
    (agents, entry)
}

/// The agent that `main` calls, if that is all `main` does and nothing else uses it. `main` then only
/// declares the entry point and is not lowered as an agent.
fn forwarded_entry<'d>(
    main: &'d crate::Agent<'_>,
    document: &'d Document<'_>,
) -> Option<&'d Spanned<Name>> {
    let mut steps = None;
    for field in &main.fields {
        match &field.value {
            Value::Steps(all) => steps = Some(all.as_slice()),
            _ if field.def.name == "type" => {}
            _ => return None,
        }
    }
    let [crate::Step { kind: StepKind::Call { target, args }, unknown, .. }] = steps? else {
        return None;
    };
    let alone = main.kind == Some(AgentKind::Flow)
        && main.subflows.is_empty()
        && main.unknown.is_empty()
        && unknown.is_empty()
        && args.is_empty()
        && target.value != MAIN;
    let of_main = |a: &&crate::Agent<'_>| a.name.value == MAIN;
    let known = document.agents.iter().any(|a| a.name.value == target.value);
    let once = document.agents.iter().filter(of_main).count() == 1;
    (alone && known && once && !document.agents.iter().any(uses_main)).then_some(target)
}

fn uses_main(agent: &crate::Agent<'_>) -> bool {
    agent.subflows.iter().any(|s| calls_main(&s.steps))
        || agent.fields.iter().any(|field| match &field.value {
            Value::Members(all) => all.iter().any(|m| m.name.value == MAIN),
            Value::Steps(steps) => calls_main(steps),
            Value::Text(text) => text.text.value.trim() == MAIN,
            _ => false,
        })
}

fn calls_main(steps: &[crate::Step<'_>]) -> bool {
    steps.iter().any(|step| match &step.kind {
        StepKind::Call { target, .. } => target.value == MAIN,
        StepKind::If(branches) => branches.iter().any(|b| calls_main(&b.steps)),
        _ => false,
    })
}

/// The settings of a bot, by key. `unsafe_mode` is normalised to a boolean.
pub(crate) fn settings(config: Config<'_>, file: FileId) -> Extensions {
    let mut settings = Extensions::default();
    for entry in config.entries {
        let (key, value) =
            (agent::key_of(entry), agentir_syntax::lower::data::of_value(entry, NO_FLOW));
        let value = match &config.unsafe_mode {
            Some(mode) if key == "unsafe_mode" => mode.value.into(),
            _ => value,
        };
        settings.insert(ADL, &key, value, entry.span(file));
    }
    settings
}

/// Reports an entry ensemble with steps: MICA runs them only if the first event reaches it.
fn check_entry_ensemble(document: &Document<'_>, problems: &mut Vec<Diagnostic>) {
    let first_of = |agent: &crate::Agent<'_>| {
        agent.fields.iter().find_map(|f| match (&f.value, agent.kind) {
            (Value::Steps(steps), Some(AgentKind::Flow)) => match &steps.first()?.kind {
                StepKind::Call { target, .. } => Some(target.value.clone()),
                _ => None,
            },
            _ => None,
        })
    };
    let mut agents: FxHashMap<&str, &crate::Agent<'_>> = FxHashMap::default();
    for agent in &document.agents {
        agents.entry(agent.name.value.as_str()).or_insert(agent);
    }
    // Visit each agent once: flows may call each other in cycles.
    let Some(mut at) = agents.remove("main") else { return };
    while let Some(next) = first_of(at).and_then(|name| agents.remove(name.as_str())) {
        at = next;
    }
    for agent in &document.agents {
        let steps = agent.field("steps").filter(|_| agent.kind == Some(AgentKind::Ensemble));
        let Some(steps) = steps.filter(|_| agent.name != at.name) else { continue };
        problems.push(
            Diagnostic::info(rules::MICA_STEPS, steps.key, "MICA never executes these steps")
                .label(at.name.span, "the conversation begins with this agent")
                .note("it only executes an ensemble's steps if the conversation begins with the ensemble")
                .help("move them to a flow agent, and list that agent in `contains`"),
        );
    }
}

/// Reports a `main` that MICA does not start: it must be a flow whose first step is a call (`bot.py`).
fn check_main(main: &crate::Agent<'_>, problems: &mut Vec<Diagnostic>) {
    let name = &main.name;
    let finding = |span, message: String| {
        Diagnostic::warning(rules::MICA_MAIN, span, message)
            .note("MICA crashes on the user's first message")
            .help("make `main` a flow agent whose first step calls the agent to start with")
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
            format!("MICA cannot start with a `main` of type `{}`", kind.name()),
        )),
        None => {}
    }
}
