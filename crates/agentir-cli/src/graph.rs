//! `agentir graph`: programs as pictures of what can follow what.

use agentir::{Detail, Snapshot};
use agentir_draw::View;
use agentir_flow::Cfg;
use agentir_flow::cfg::AgentId;
use agentir_ir::Program;
use clap::ValueEnum;
#[cfg(feature = "pictures")]
use {
    agentir_diagnostics::one_line,
    agentir_draw::{Finding, Graph, TooLarge},
};

/// How a graph is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// A Mermaid flowchart, for Markdown
    Mermaid,
    /// Graphviz
    Dot,
    /// An image
    Svg,
    /// A self-contained interactive page
    Html,
    /// JSON; `agentir schema graph` describes it
    Json,
}

/// How much a graph shows.
#[derive(Clone, Copy, ValueEnum)]
pub enum GraphDetail {
    /// A node for each agent
    Agents,
    /// A node for each step, and for each action that the model can choose
    Steps,
    /// A node for each statement
    Statements,
}

/// So many agents fit on a picture of steps.
const MANY_AGENTS: usize = 8;

/// The graph of everything that was loaded, or of the agent called `name`, in a format.
///
/// # Errors
/// A message: there is no such agent, there is nothing to draw, or too much.
pub fn graph(
    snapshot: &Snapshot,
    format: GraphFormat,
    name: Option<&str>,
    detail: Option<GraphDetail>,
) -> Result<String, String> {
    // What is loaded together may be several programs; one picture shows one.
    let programs: Vec<&Program> =
        snapshot.programs().map(|(_, program)| program).filter(|p| !p.agents.is_empty()).collect();
    let found = match name {
        None => programs.first().copied(),
        Some(name) => programs.iter().find(|p| p.agent(name).is_some()).copied(),
    };
    let Some(program) = found else {
        return Err(match name {
            Some(name) => unknown(name, &programs),
            None => crate::input::no_agent(snapshot),
        });
    };
    if name.is_none() && programs.len() > 1 {
        return Err(format!(
            "found {} programs, but a graph can show only one\nhelp: pass the folder or the file of one of them, or the name of an agent with `--agent`",
            programs.len()
        ));
    }
    let cfg = Cfg::of_program(program);
    let entry = program.entry().and_then(|a| cfg.find(&a.metadata.name.value));
    let chosen: Vec<AgentId> = name.and_then(|n| cfg.find(n)).into_iter().collect();
    let detail = match detail {
        Some(GraphDetail::Agents) => Detail::Agents,
        Some(GraphDetail::Steps) => Detail::Steps,
        Some(GraphDetail::Statements) => Detail::Statements,
        None if !chosen.is_empty() => Detail::Statements,
        None if program.agents.len() > MANY_AGENTS => Detail::Agents,
        None => Detail::Steps,
    };
    let draw = |detail: Detail, agents: &[AgentId]| {
        // An agent that is shown alone is looked at as if it were reached.
        let entry = entry.filter(|_| agents.is_empty());
        agentir_draw::graph(&cfg, snapshot.sources(), &View { detail, agents, entry })
    };
    let whole = draw(detail, &chosen);
    match format {
        GraphFormat::Mermaid => Ok(agentir_draw::mermaid(&whole)),
        GraphFormat::Dot => Ok(agentir_draw::dot(&whole)),
        #[cfg(not(feature = "pictures"))]
        GraphFormat::Svg | GraphFormat::Html => Err(format!(
            "this build of agentir cannot lay out graphs; `mermaid`, `dot` and `json` work\nhelp: {}",
            crate::INSTALL_FULL
        )),
        #[cfg(feature = "pictures")]
        GraphFormat::Svg => agentir_draw::svg(&whole).map_err(too_large),
        #[cfg(feature = "pictures")]
        GraphFormat::Html => page(program, &cfg, name, detail, whole, &draw, snapshot),
        GraphFormat::Json => serde_json::to_string_pretty(&whole)
            .map(|text| text + "\n")
            .map_err(|error| error.to_string()),
    }
}

/// The most agents that a page shows alone.
#[cfg(feature = "pictures")]
const MAX_ALONE: usize = 100;

/// The most nodes that are looked at for them: for each, all of the program are.
#[cfg(feature = "pictures")]
const MAX_LOOKED_AT: usize = 2_000_000;

/// The whole first, then each agent alone.
#[cfg(feature = "pictures")]
fn page(
    program: &Program,
    cfg: &Cfg<'_>,
    name: Option<&str>,
    detail: Detail,
    whole: Graph,
    draw: &dyn Fn(Detail, &[AgentId]) -> Graph,
    snapshot: &Snapshot,
) -> Result<String, String> {
    let masker = snapshot.sources().masker();
    let shown = |text: &str| one_line(&masker.mask(text)).into_owned();
    let findings = snapshot.check().unwrap_or_default().iter().filter_map(|finding| {
        let span = finding.primary.span;
        let source = snapshot.sources().get(span.file)?;
        Some(Finding {
            file: shown(&source.name),
            line: source.line_index(span.start as usize) + 1,
            severity: finding.severity.name(),
            message: shown(&finding.message),
        })
    });
    let findings: Vec<Finding> = findings.collect();
    let title = name.or_else(|| program.entry().map(|a| a.metadata.name.value.as_str()));
    let title = shown(title.unwrap_or("agents"));
    let whole = (shown(name.unwrap_or("all agents")), whole);
    let page = if name.is_none() {
        let all = cfg.agents();
        let count = cfg.graph().node_count().max(1);
        let alone = (MAX_LOOKED_AT / count).clamp(1, MAX_ALONE);
        let others = (0..).map(AgentId).zip(all).take(alone).flat_map(|(id, part)| {
            let name = &part.agent.metadata.name.value;
            [(Detail::Steps, "steps"), (Detail::Statements, "statements")]
                .map(|(detail, how)| (shown(&format!("{name}: {how}")), draw(detail, &[id])))
        });
        let page = agentir_draw::html(&title, whole, others, &findings);
        if page.is_ok() && all.len() > alone {
            tell!(
                "note: the page shows the first {alone} of {} agents alone; `--agent NAME` draws another one",
                all.len()
            );
        }
        page
    } else {
        let id = name.and_then(|n| cfg.find(n)).filter(|_| detail == Detail::Statements);
        let steps = id.map(|id| ("steps".to_owned(), draw(Detail::Steps, &[id])));
        agentir_draw::html(&title, whole, steps, &findings)
    };
    page.map_err(too_large)
}

#[cfg(feature = "pictures")]
fn too_large(error: TooLarge) -> String {
    format!(
        "{error}\nhelp: reduce the detail with `--detail agents` or `--detail steps`, choose one agent with `--agent NAME`, or write `--format dot`, `mermaid` or `json`, which have no limit"
    )
}

fn unknown(name: &str, programs: &[&Program]) -> String {
    let names = || programs.iter().flat_map(|p| &p.agents).map(|a| a.metadata.name.value.as_str());
    let help = match agentir_diagnostics::closest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the agents are: {}", names().take(10).collect::<Vec<_>>().join(", ")),
    };
    format!("there is no agent `{name}`\nhelp: {help}")
}
