//! SVG.

use crate::colours::colours;
use crate::graph_view::{Cycle, Edge, Graph, Node, Shape};
use crate::layout::{LINE_HEIGHT, Layout, Rect, TooLarge, layout};
use agentir_diagnostics::clean_lines;
use std::fmt::Write;

/// The style that every picture brings.
pub(crate) fn style() -> String {
    let mut css = String::from(
        "text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2328}\
.edge path{fill:none;stroke:#6e7781;stroke-width:1.3}.edge text{font-size:10.5px;fill:#424a53}\
.edge .back{fill:#fff;opacity:.88}.model path,.user path{stroke-dasharray:5 3}\
.circle path{stroke:#9a6700;stroke-width:1.8}.endless path{stroke:#b42318;stroke-width:3}\
.frame{fill:#f8fafc;stroke:#c4ccd6;stroke-width:1}.frame-name{font-weight:600;fill:#57606a}\
.node .shape{stroke-width:1.4}.unreachable .shape{stroke:#b42318;stroke-dasharray:4 3}\
.unreachable{opacity:.65}.title{font-weight:600}",
    );
    for (shape, _) in Shape::ALL {
        let (fill, stroke) = colours(shape);
        let _ = write!(css, ".{} .shape{{fill:{fill};stroke:{stroke}}}", shape.class());
    }
    css
}

/// The graph as an SVG that needs nothing else: style and legend are in it.
///
/// # Errors
/// [`TooLarge`] where it has too many nodes.
pub fn svg(graph: &Graph) -> Result<String, TooLarge> {
    let placed = layout(graph)?;
    let mut out = String::new();
    let entries = legend(graph);
    let columns = f64::max(1.0, ((placed.width - 32.0) / 170.0).floor());
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let rows = (number(entries.len()) / columns).ceil();
    let (width, height) = (placed.width.max(220.0), placed.height + rows * 26.0 + 20.0);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\"><style>{}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
        style()
    );
    out.push_str(&body(graph, &placed, ""));
    for (at, (class, cycle, text)) in entries.iter().enumerate() {
        let column = number(at) % columns;
        let row = (number(at) / columns).floor();
        let (x, y) = (16.0 + column * 170.0, placed.height + 12.0 + row * 26.0);
        if *cycle {
            let _ = write!(out, "<g class=\"edge {class}\"><path d=\"M{x:.0} {y:.0}h26\"/></g>");
        } else {
            let _ = write!(
                out,
                "<g class=\"node {class}\"><rect class=\"shape\" x=\"{x:.0}\" y=\"{:.0}\" width=\"26\" height=\"14\" rx=\"3\"/></g>",
                y - 7.0
            );
        }
        let _ = write!(out, "<text x=\"{:.0}\" y=\"{:.0}\">{text}</text>", x + 34.0, y + 4.0);
    }
    out.push_str("</svg>\n");
    Ok(out)
}

/// What occurs in a picture: a class, whether it is a line, what it means.
fn legend(graph: &Graph) -> Vec<(&'static str, bool, &'static str)> {
    let mut all: Vec<_> = Shape::ALL
        .into_iter()
        .filter(|(shape, _)| graph.nodes.iter().any(|n| n.shape == *shape))
        .map(|(shape, text)| (shape.class(), false, text))
        .collect();
    if graph.nodes.iter().any(|n| n.unreachable) {
        all.push(("unknown unreachable", false, "no way leads here"));
    }
    if graph.edges.iter().any(|e| matches!(e.decided_by, "model" | "user")) {
        all.push(("model", true, "up to model or user"));
    }
    if graph.edges.iter().any(|e| e.cycle == Some(Cycle::Ordinary)) {
        all.push(("circle", true, "part of a loop"));
    }
    if graph.edges.iter().any(|e| e.cycle == Some(Cycle::Endless)) {
        all.push(("endless", true, "loop without a wait"));
    }
    all
}

/// All that is drawn of a graph. `prefix` makes its ids differ from those of other pictures.
pub(crate) fn body(graph: &Graph, placed: &Layout, prefix: &str) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<defs><marker id=\"{prefix}arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#57606a\"/></marker></defs>"
    );
    for (agent, frame) in graph.agents.iter().zip(&placed.agents) {
        let Some(r) = frame.filter(|_| graph.agents.len() > 1) else { continue };
        let _ = write!(
            out,
            "<rect class=\"frame\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\"/>",
            r.x - r.width / 2.0,
            r.y - r.height / 2.0,
            r.width,
            r.height,
        );
        if graph.detail != crate::graph_view::Detail::Agents {
            let _ = write!(
                out,
                "<text class=\"frame-name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                r.x - r.width / 2.0 + 2.0,
                r.y - r.height / 2.0 - 4.0,
                escape(&agent.name)
            );
        }
    }
    for (edge, (points, lines, middle)) in graph.edges.iter().zip(&placed.edges) {
        write_edge(&mut out, edge, points, lines, *middle, prefix);
    }
    for (node, (rect, lines)) in graph.nodes.iter().zip(&placed.nodes) {
        write_node(&mut out, node, *rect, lines);
    }
    out
}

fn write_edge(
    out: &mut String,
    edge: &Edge,
    points: &[(f64, f64)],
    lines: &[String],
    (x, y): (f64, f64),
    prefix: &str,
) {
    let cycle = match edge.cycle {
        Some(Cycle::Ordinary) => " circle",
        Some(Cycle::Endless) => " endless",
        None => "",
    };
    let _ = write!(
        out,
        "<g class=\"edge {}{cycle}\" data-from=\"{}\" data-to=\"{}\"><title>{}</title><path d=\"{}\" marker-end=\"url(#{prefix}arrow)\"/>",
        edge.decided_by,
        edge.from,
        edge.to,
        escape(&tooltip(edge)),
        curve(points)
    );
    if let Some(longest) = lines.iter().map(|l| l.chars().count()).max() {
        let width = 5.8 * f64::from(u32::try_from(longest).unwrap_or(u32::MAX)) + 6.0;
        let step = LINE_HEIGHT * 0.82;
        let rows = f64::from(u32::try_from(lines.len()).unwrap_or(u32::MAX));
        let _ = write!(
            out,
            "<rect class=\"back\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
            x - width / 2.0,
            y - rows * step / 2.0,
            rows * step
        );
        text(out, x, y, lines, step);
    }
    out.push_str("</g>");
}

/// The tooltip of an edge.
fn tooltip(edge: &Edge) -> String {
    let mut text = match (edge.why, edge.decided_by) {
        ("jump", "nobody") => "unconditional jump".to_owned(),
        (why, "nobody") => why.to_owned(),
        (why, who) => format!("{why}, decided by {who}"),
    };
    if !edge.guard.is_empty() {
        text.push_str("\nonly if ");
        text.push_str(&edge.guard.join("\n  and "));
    }
    if let Some(limit) = edge.limit {
        let _ = write!(text, "\nat most {limit} times");
    }
    if let Some(location) = &edge.location {
        let _ = write!(text, "\n{location}");
    }
    text
}

fn write_node(out: &mut String, node: &Node, r: Rect, lines: &[String]) {
    let lost = if node.unreachable { " unreachable" } else { "" };
    let title = match &node.location {
        Some(location) => format!("{}: {}\n{location}", node.kind, node.label),
        None => format!("{}: {}", node.kind, node.label),
    };
    let _ = write!(
        out,
        "<g class=\"node {}{lost}\" data-id=\"{}\" tabindex=\"0\"><title>{}</title>",
        node.shape.class(),
        node.id,
        escape(&title)
    );
    let (left, top) = (r.x - r.width / 2.0, r.y - r.height / 2.0);
    let (right, bottom) = (left + r.width, top + r.height);
    let polygon = |out: &mut String, points: &[(f64, f64)]| {
        out.push_str("<polygon class=\"shape\" points=\"");
        for (x, y) in points {
            let _ = write!(out, "{x:.1},{y:.1} ");
        }
        out.push_str("\"/>");
    };
    match node.shape {
        Shape::Decision => {
            polygon(out, &[(r.x, top), (right, r.y), (r.x, bottom), (left, r.y)]);
        }
        Shape::Model => polygon(
            out,
            &[
                (left + 12.0, top),
                (right - 12.0, top),
                (right, r.y),
                (right - 12.0, bottom),
                (left + 12.0, bottom),
                (left, r.y),
            ],
        ),
        Shape::Wait => polygon(
            out,
            &[(left + 10.0, top), (right, top), (right - 10.0, bottom), (left, bottom)],
        ),
        Shape::Other => polygon(
            out,
            &[
                (left, top),
                (right - 10.0, top),
                (right, r.y),
                (right - 10.0, bottom),
                (left, bottom),
            ],
        ),
        shape => {
            let round = match shape {
                Shape::Agent | Shape::End | Shape::Person => r.height / 2.0,
                Shape::Say | Shape::Error => 9.0,
                _ => 4.0,
            };
            let _ = write!(
                out,
                "<rect class=\"shape\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round:.1}\"/>",
                r.width, r.height
            );
            if shape == Shape::Tool {
                let _ = write!(
                    out,
                    "<path class=\"shape\" d=\"M{:.1} {top:.1}V{bottom:.1}M{:.1} {top:.1}V{bottom:.1}\"/>",
                    left + 6.0,
                    right - 6.0
                );
            }
        }
    }
    text(out, r.x, r.y, lines, LINE_HEIGHT);
    out.push_str("</g>");
}

/// Lines of text around a middle.
fn text(out: &mut String, x: f64, y: f64, lines: &[String], step: f64) {
    let rows = f64::from(u32::try_from(lines.len()).unwrap_or(u32::MAX));
    let _ = write!(out, "<text text-anchor=\"middle\">");
    let mut at = y - (rows - 1.0) * step / 2.0 + 4.0;
    for line in lines {
        let _ = write!(out, "<tspan x=\"{x:.1}\" y=\"{at:.1}\">{}</tspan>", escape(line));
        at += step;
    }
    out.push_str("</text>");
}

/// A line through the points, round at the corners.
fn curve(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let Some((first, rest)) = points.split_first() else { return path };
    let _ = write!(path, "M{:.1} {:.1}", first.0, first.1);
    for pair in rest.windows(2) {
        if let [at, next] = pair {
            let middle = (f64::midpoint(at.0, next.0), f64::midpoint(at.1, next.1));
            let _ = write!(path, "Q{:.1} {:.1} {:.1} {:.1}", at.0, at.1, middle.0, middle.1);
        }
    }
    if let Some(last) = rest.last() {
        let _ = write!(path, "L{:.1} {:.1}", last.0, last.1);
    }
    path
}

/// Text in XML, also between quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // XML has no place for control characters, however they are written.
    for c in clean_lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
