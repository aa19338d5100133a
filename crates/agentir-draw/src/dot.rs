//! The DOT language of Graphviz.

use crate::colours::colours;
use crate::graph_view::{Cycle, Graph, Node, Shape};
use agentir_diagnostics::one_line;
use std::fmt::Write;

/// The graph in DOT.
#[must_use]
pub fn dot(graph: &Graph) -> String {
    let mut out = String::from(
        "digraph agents {\n  node [style=\"filled,rounded\", shape=box, fontname=\"Helvetica\", fontsize=11];\n  edge [fontname=\"Helvetica\", fontsize=9];\n",
    );
    for (number, agent) in graph.agents.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{number} {{");
        let _ = writeln!(out, "    label={};", quoted(&agent.name));
        for node in graph.nodes.iter().filter(|n| n.agent == Some(number)) {
            let _ = writeln!(out, "    {}", node_line(node));
        }
        out.push_str("  }\n");
    }
    for node in graph.nodes.iter().filter(|n| n.agent.is_none()) {
        let _ = writeln!(out, "  {}", node_line(node));
    }
    for edge in &graph.edges {
        let mut attributes = Vec::new();
        if !edge.label.is_empty() {
            attributes.push(format!("label={}", quoted(&edge.label)));
        }
        if matches!(edge.decided_by, "model" | "user") {
            attributes.push("style=dashed".to_owned());
        }
        match edge.cycle {
            Some(Cycle::Ordinary) => attributes.push("color=\"#9a6700\"".to_owned()),
            Some(Cycle::Endless) => attributes.push("color=\"#b42318\", penwidth=3".to_owned()),
            None => {}
        }
        let attributes = match attributes.is_empty() {
            true => String::new(),
            false => format!(" [{}]", attributes.join(", ")),
        };
        let _ = writeln!(out, "  n{} -> n{}{attributes};", edge.from, edge.to);
    }
    out.push_str("}\n");
    out
}

fn node_line(node: &Node) -> String {
    let (fill, stroke) = colours(node.shape);
    let shape = match node.shape {
        Shape::Decision => ", shape=diamond, style=filled",
        Shape::Model => ", shape=hexagon, style=filled",
        Shape::Tool => ", shape=component, style=filled",
        Shape::End => ", shape=doublecircle, style=filled",
        _ => "",
    };
    let lost = if node.unreachable { ", style=\"filled,dashed\", color=\"#b42318\"" } else { "" };
    format!(
        "n{} [label={}, fillcolor=\"{fill}\", color=\"{stroke}\"{shape}{lost}];",
        node.id,
        quoted(&node.label)
    )
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in one_line(text).chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
