//! Mermaid's flowcharts.

use crate::colours::colours;
use crate::graph_view::{Cycle, Graph, Node, Shape};
use agentir_diagnostics::one_line;
use std::fmt::Write;

/// The graph as a Mermaid flowchart.
#[must_use]
pub fn mermaid(graph: &Graph) -> String {
    let mut out = String::from("flowchart TD\n");
    for (number, agent) in graph.agents.iter().enumerate() {
        let _ = writeln!(out, "  subgraph a{number}[\"{}\"]", escape(&agent.name));
        for node in graph.nodes.iter().filter(|n| n.agent == Some(number)) {
            let _ = writeln!(out, "    {}", node_line(node));
        }
        out.push_str("  end\n");
    }
    for node in graph.nodes.iter().filter(|n| n.agent.is_none()) {
        let _ = writeln!(out, "  {}", node_line(node));
    }
    let mut cycles: [Vec<String>; 2] = Default::default();
    for (number, edge) in graph.edges.iter().enumerate() {
        let arrow = match edge.decided_by {
            "model" | "user" => "-.->",
            _ => "-->",
        };
        let label = match edge.label.as_str() {
            "" => String::new(),
            text => format!("|\"{}\"|", escape(text)),
        };
        let _ = writeln!(out, "  n{} {arrow}{label} n{}", edge.from, edge.to);
        let [ordinary, endless] = &mut cycles;
        match edge.cycle {
            Some(Cycle::Ordinary) => ordinary.push(number.to_string()),
            Some(Cycle::Endless) => endless.push(number.to_string()),
            None => {}
        }
    }
    for (shape, _) in Shape::ALL {
        if graph.nodes.iter().any(|n| n.shape == shape) {
            let (fill, stroke) = colours(shape);
            let _ = writeln!(
                out,
                "  classDef {}_ fill:{fill},stroke:{stroke},color:#1f2328",
                shape.class()
            );
        }
    }
    let lost: Vec<String> =
        graph.nodes.iter().filter(|n| n.unreachable).map(|n| format!("n{}", n.id)).collect();
    if !lost.is_empty() {
        out.push_str("  classDef unreachable stroke-dasharray:4,stroke:#b42318,opacity:0.6\n");
        let _ = writeln!(out, "  class {} unreachable", lost.join(","));
    }
    for (edges, style) in cycles.iter().zip(["stroke:#9a6700", "stroke:#b42318,stroke-width:3px"]) {
        if !edges.is_empty() {
            let _ = writeln!(out, "  linkStyle {} {style}", edges.join(","));
        }
    }
    out
}

fn node_line(node: &Node) -> String {
    let (open, close) = match node.shape {
        Shape::Agent => ("([", "])"),
        Shape::Step => ("[", "]"),
        Shape::Wait => ("[/", "/]"),
        Shape::Tool => ("[[", "]]"),
        Shape::Decision => ("{", "}"),
        Shape::Model => ("{{", "}}"),
        Shape::Other | Shape::Person => (">", "]"),
        Shape::End => ("((", "))"),
        _ => ("(", ")"),
    };
    format!("n{}{open}\"{}\"{close}:::{}_", node.id, escape(&node.label), node.shape.class())
}

/// Text between quotes: Mermaid knows the character references of HTML, with `#` for `&`.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '`' => out.push_str("#96;"),
            '\\' => out.push_str("#92;"),
            c => out.push(c),
        }
    }
    out
}
