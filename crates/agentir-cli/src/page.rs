//! What the page of findings shows beside them: the agents' graphs, and what they cost.

use agentir_draw::{Detail, View};
use agentir_flow::Cfg;
use agentir_flow::cost::{UpperBound, cost};
use agentir_project::Loaded;
use agentir_report::{CostRow, Page, Picture};

/// So many agents fit on a picture of steps.
const MANY_AGENTS: usize = 8;
/// So many programs are drawn.
pub const MAX_PICTURES: usize = 40;

/// What only the page shows.
pub fn page(loaded: &Loaded) -> Page {
    let mut page = Page::default();
    for program in loaded.programs.iter().map(|p| &p.program).filter(|p| !p.agents.is_empty()) {
        let cfg = Cfg::of_program(program);
        let entry = program.entry().and_then(|a| cfg.find(&a.metadata.name.value));
        let many = program.agents.len() > MANY_AGENTS;
        let detail = if many { Detail::Agents } else { Detail::Steps };
        if page.pictures.len() < MAX_PICTURES {
            let view = View { detail, agents: &[], entry };
            let graph = agentir_draw::graph(&cfg, &loaded.sources, &view);
            let name = program.entry().or_else(|| program.agents().next());
            let name = name.map_or("agents", |agent| agent.metadata.name.value.as_str());
            if let Ok(svg) = agentir_draw::svg(&graph) {
                page.pictures.push(Picture { name: name.to_owned(), svg });
            }
        }
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
