//! What the page of findings shows beside them: the agents' graphs, and what they cost.

use agentir_flow::Cfg;
use agentir_flow::cost::{UpperBound, cost};
use agentir_project::Loaded;
use agentir_report::{CostRow, Page};
#[cfg(feature = "pictures")]
use {
    agentir_diagnostics::SourceMap,
    agentir_draw::{Detail, View},
    agentir_ir::Program,
    agentir_report::Picture,
};

/// The largest number of programs that are drawn.
pub const MAX_PICTURES: usize = 40;

/// What only the page shows.
pub fn page(loaded: &Loaded) -> Page {
    let mut page = Page::default();
    for program in loaded.programs.iter().map(|p| &p.program).filter(|p| !p.agents.is_empty()) {
        let cfg = Cfg::of_program(program);
        #[cfg(feature = "pictures")]
        page.pictures.extend(picture(program, &cfg, &loaded.sources, page.pictures.len()));
        let bound = |most: UpperBound| match most {
            UpperBound::AtMost(n) => Some(n),
            UpperBound::Unbounded => None,
        };
        for one in cost(&cfg) {
            let Some(part) = cfg.agent(one.agent) else { continue };
            page.costs.push(CostRow {
                agent: part.agent.metadata.name.value.to_string(),
                own_models: bound(one.own.models),
                own_tools: bound(one.own.tools),
                all_models: bound(one.total.models),
                all_tools: bound(one.total.tools),
            });
        }
    }
    page
}

/// The graph of a program, unless it is too large or there are enough pictures.
#[cfg(feature = "pictures")]
fn picture(program: &Program, cfg: &Cfg<'_>, sources: &SourceMap, drawn: usize) -> Option<Picture> {
    /// The largest number of agents in a picture of steps.
    const MAX_AGENTS: usize = 8;
    if drawn >= MAX_PICTURES {
        return None;
    }
    let entry = program.entry().and_then(|a| cfg.find(&a.metadata.name.value));
    let many = program.agents.len() > MAX_AGENTS;
    let detail = if many { Detail::Agents } else { Detail::Steps };
    let graph = agentir_draw::graph(cfg, sources, &View { detail, agents: &[], entry });
    let name = program.entry().or_else(|| program.agents().next());
    let name = name.map_or("agents", |agent| agent.metadata.name.value.as_str());
    let svg = agentir_draw::svg(&graph).ok()?;
    Some(Picture { name: name.to_owned(), svg })
}
