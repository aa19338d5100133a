//! Where nodes and edges lie: layers from top to bottom, by dagre.

use crate::graph_view::{Graph, Node, Shape};
use dagre::graph::{Graph as Dag, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, Ranker};
use std::collections::BTreeSet;
use std::fmt;

/// The maximal number of nodes of a drawing; a larger one would be illegible.
pub const MAX_NODES: usize = 1_500;

/// How many points a layout may have: nodes, and what stands for edges and frames on the layers that they cross. The
/// layout orders them again and again.
pub(crate) const MAX_POINTS: usize = 32_000;

/// A graph has more nodes, or more and longer edges, than a drawing has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    nodes: usize,
    edges: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the graph has {} nodes and {} edges, too many for a picture: at most {MAX_NODES} nodes fit on one, and fewer if many edges are long",
            self.nodes, self.edges
        )
    }
}

impl std::error::Error for TooLarge {}

/// How wide a character is, in pixels, at the size of labels. Fonts differ; this is on the safe side.
const CHAR_WIDTH: f64 = 6.9;
/// How high a line is.
pub(crate) const LINE_HEIGHT: f64 = 16.0;
/// How many characters a line of a node takes.
const NODE_WRAP_CHARS: usize = 26;
/// How many characters a line at an edge takes.
const EDGE_WRAP_CHARS: usize = 22;
/// Space around each agent.
const FRAME_PADDING: f64 = 24.0;

/// A point, in pixels.
pub(crate) type Point = (f64, f64);

/// A rectangle by its middle.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Where everything lies, in pixels.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The frame of each agent that has nodes.
    pub(crate) agents: Vec<Option<Rect>>,
    /// Each node and the lines in it.
    pub(crate) nodes: Vec<(Rect, Vec<String>)>,
    /// Each edge: the points it passes, the lines at it and their middle.
    pub(crate) edges: Vec<(Vec<Point>, Vec<String>, Point)>,
}

/// Whether a graph can be drawn: the work of its layout is counted before it is done.
///
/// # Errors
/// [`TooLarge`] where it cannot.
pub(crate) fn fits(graph: &Graph) -> Result<usize, TooLarge> {
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    let too_large = TooLarge { nodes, edges };
    if nodes.max(edges / 2) > MAX_NODES {
        return Err(too_large);
    }
    Some(nodes + points(graph)).filter(|points| *points <= MAX_POINTS).ok_or(too_large)
}

/// Lays a graph out.
///
/// # Errors
/// [`TooLarge`] where it has too many nodes.
pub(crate) fn layout(graph: &Graph) -> Result<Layout, TooLarge> {
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    fits(graph)?;
    // dagre recurses as deep as a graph is long, so it gets a stack of its own.
    let placed = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        let work = thread.spawn_scoped(scope, || place(graph));
        work.ok().and_then(|work| work.join().ok())
    });
    placed.ok_or(TooLarge { nodes, edges })
}

/// How many points the layout makes: one on each layer that an edge crosses, and two on each that an agent with a
/// frame of its own reaches over.
fn points(graph: &Graph) -> usize {
    let order = order(graph);
    let mut place = vec![0; graph.nodes.len()];
    for (at, node) in order.iter().enumerate() {
        if let Some(slot) = place.get_mut(*node) {
            *slot = at;
        }
    }
    let place = |node: usize| place.get(node).copied().unwrap_or_default();
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for edge in graph.edges.iter().filter(|e| e.from != e.to) {
        for (one, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
            if let Some(slot) = neighbours.get_mut(one) {
                slot.push(other);
            }
        }
    }
    // Both ways to give each node the first layer that its edges allow, from the end and from the start. The plain
    // ranker goes from the end; the other one finds layers that are at least as good as either.
    let layers = |from_end: bool| {
        let mut layers = vec![0_usize; graph.nodes.len()];
        let mut step = |node: usize| {
            let all = neighbours.get(node).into_iter().flatten();
            let placed = all.filter(|other| (place(**other) < place(node)) == from_end);
            let own = placed.filter_map(|other| layers.get(*other)).map(|layer| layer + 1).max();
            if let (Some(own), Some(slot)) = (own, layers.get_mut(node)) {
                *slot = own;
            }
        };
        if from_end {
            order.iter().for_each(|node| step(*node));
        } else {
            order.iter().rev().for_each(|node| step(*node));
        }
        layers
    };
    let count = |layers: &[usize]| {
        let layer = |node: usize| layers.get(node).copied().unwrap_or_default();
        let crossed: usize = graph.edges.iter().map(|e| layer(e.from).abs_diff(layer(e.to))).sum();
        let mut frames = vec![None; graph.agents.len()];
        for (node, agent) in graph.nodes.iter().zip(framed(graph)) {
            let slot = agent.and_then(|agent| frames.get_mut(agent));
            let Some(slot) = slot else { continue };
            let (low, high) = slot.unwrap_or((usize::MAX, 0));
            *slot = Some((layer(node.id).min(low), layer(node.id).max(high)));
        }
        let simple = is_simple(graph);
        let height = |(low, high): (usize, usize)| if simple { high + 1 } else { high - low + 1 };
        let heights: usize = frames.iter().flatten().map(|ends| height(*ends)).sum();
        crossed + 2 * heights
    };
    if is_simple(graph) {
        count(&layers(true))
    } else {
        count(&layers(true)).min(count(&layers(false)))
    }
}

/// The nodes so that each edge leads from a later to an earlier one, but for those that close a circle, which the
/// layout turns round. It decides which those are in the same way: depth first, nodes and edges as they come.
fn order(graph: &Graph) -> Vec<usize> {
    let mut next = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        if let Some(slot) = next.get_mut(edge.from) {
            slot.push(edge.to);
        }
    }
    let mut order = Vec::with_capacity(graph.nodes.len());
    let mut seen = vec![false; graph.nodes.len()];
    for start in 0..graph.nodes.len() {
        let mut path = vec![(start, 0)];
        while let Some((node, at)) = path.last_mut() {
            if *at == 0 && std::mem::replace(seen.get_mut(*node).unwrap_or(&mut true), true) {
                path.pop();
                continue;
            }
            if let Some(to) = next.get(*node).and_then(|all| all.get(*at)) {
                *at += 1;
                if seen.get(*to) == Some(&false) {
                    path.push((*to, 0));
                }
            } else {
                order.push(*node);
                path.pop();
            }
        }
    }
    order
}

/// Whether the layers are found in the simple way: the best ones take a time that grows faster than the graph.
fn is_simple(graph: &Graph) -> bool {
    graph.nodes.len() > 300
}

/// For each node the agent whose frame the layout keeps free of the nodes of others. An agent that has only one node
/// needs no such frame.
fn framed(graph: &Graph) -> Vec<Option<usize>> {
    let mut counts = vec![0_usize; graph.agents.len()];
    for agent in graph.nodes.iter().filter_map(|node| node.agent) {
        if let Some(count) = counts.get_mut(agent) {
            *count += 1;
        }
    }
    let several = graph.agents.len() > 1;
    let many = |agent: &usize| several && counts.get(*agent).is_some_and(|count| *count > 1);
    graph.nodes.iter().map(|node| node.agent.filter(many)).collect()
}

fn place(graph: &Graph) -> Layout {
    let mut dag: Dag<NodeLabel, EdgeLabel> =
        Dag::with_options(GraphOptions { directed: true, multigraph: true, compound: true });
    let mut out = Layout::default();
    let framed = framed(graph);
    let frames: BTreeSet<usize> = framed.iter().copied().flatten().collect();
    for number in frames {
        dag.set_node(format!("a{number}"), Some(NodeLabel::default()));
    }
    for (node, agent) in graph.nodes.iter().zip(framed) {
        let lines = wrap_words(&node.label, NODE_WRAP_CHARS);
        let (width, height) = size(node, &lines);
        let label = NodeLabel { width, height, ..NodeLabel::default() };
        let name = format!("n{}", node.id);
        dag.set_node(name.clone(), Some(label));
        if let Some(agent) = agent {
            dag.set_parent(&name, Some(&format!("a{agent}")));
        }
        out.nodes.push((Rect { width, height, ..Rect::default() }, lines));
    }
    for (number, edge) in graph.edges.iter().enumerate() {
        let lines = wrap_words(&edge.label, EDGE_WRAP_CHARS);
        let (width, height) = match lines.is_empty() {
            true => (0.0, 0.0),
            false => (widest(&lines) + 8.0, LINE_HEIGHT * 0.9 * count(&lines) + 4.0),
        };
        let label = EdgeLabel { width, height, ..EdgeLabel::default() };
        let (from, to) = (format!("n{}", edge.from), format!("n{}", edge.to));
        dag.set_edge(from, to, Some(label), Some(&number.to_string()));
        out.edges.push((Vec::new(), lines, (0.0, 0.0)));
    }
    let options = LayoutOptions {
        nodesep: 28.0,
        edgesep: 14.0,
        ranksep: 34.0,
        marginx: FRAME_PADDING,
        marginy: FRAME_PADDING,
        ranker: if is_simple(graph) { Ranker::LongestPath } else { Ranker::NetworkSimplex },
        ..LayoutOptions::default()
    };
    dagre::layout(&mut dag, Some(options));
    for (node, (rect, _)) in graph.nodes.iter().zip(&mut out.nodes) {
        if let Some(label) = dag.node(&format!("n{}", node.id)) {
            rect.x = label.x.unwrap_or_default();
            rect.y = label.y.unwrap_or_default();
        }
    }
    for (number, (edge, (points, _, middle))) in graph.edges.iter().zip(&mut out.edges).enumerate()
    {
        let (from, to) = (format!("n{}", edge.from), format!("n{}", edge.to));
        if let Some(label) = dag.edge(&from, &to, Some(&number.to_string())) {
            *points = label.points.iter().map(|p| (p.x, p.y)).collect();
            *middle = (label.x.unwrap_or_default(), label.y.unwrap_or_default());
        }
    }
    for number in 0..graph.agents.len() {
        out.agents.push(frame(graph, &out, number));
    }
    let corners = |r: &Rect| (r.x + r.width / 2.0, r.y + r.height / 2.0);
    let ends = out
        .nodes
        .iter()
        .map(|(r, _)| corners(r))
        .chain(out.agents.iter().flatten().map(corners))
        .chain(out.edges.iter().flat_map(|(points, ..)| points.iter().copied()))
        .chain(out.edges.iter().filter(|e| !e.1.is_empty()).map(|(_, lines, (x, y))| {
            (x + widest(lines) / 2.0 + 8.0, y + LINE_HEIGHT * count(lines) / 2.0)
        }));
    let (width, height) = ends.fold((0.0_f64, 0.0_f64), |(w, h), (x, y)| (w.max(x), h.max(y)));
    (out.width, out.height) = (width + FRAME_PADDING, height + FRAME_PADDING);
    out
}

/// The frame around the nodes of an agent.
fn frame(graph: &Graph, layout: &Layout, agent: usize) -> Option<Rect> {
    let own = graph.nodes.iter().zip(&layout.nodes).filter(|(n, _)| n.agent == Some(agent));
    let sides = own.map(|(_, (r, _))| {
        let (w, h) = (r.width / 2.0, r.height / 2.0);
        (r.x - w, r.y - h, r.x + w, r.y + h)
    });
    let (left, top, right, bottom) =
        sides.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1), a.2.max(b.2), a.3.max(b.3)))?;
    let (width, height) = (right - left + FRAME_PADDING, bottom - top + FRAME_PADDING);
    Some(Rect { x: f64::midpoint(left, right), y: f64::midpoint(top, bottom), width, height })
}

fn size(node: &Node, lines: &[String]) -> (f64, f64) {
    let (width, height) = (widest(lines) + 20.0, LINE_HEIGHT * count(lines) + 12.0);
    match node.shape {
        Shape::Decision => (width * 1.25 + 12.0, height * 1.5 + 8.0),
        Shape::Model => (width + 28.0, height + 6.0),
        Shape::Tool | Shape::Wait | Shape::Other => (width + 16.0, height),
        _ => (width, height),
    }
}

fn widest(lines: &[String]) -> f64 {
    let longest = lines.iter().map(|l| l.chars().count()).max().unwrap_or_default();
    CHAR_WIDTH * f64::from(u32::try_from(longest).unwrap_or(u32::MAX)).max(4.0)
}

fn count(lines: &[String]) -> f64 {
    f64::from(u32::try_from(lines.len().max(1)).unwrap_or(u32::MAX))
}

/// The words of a text on lines of at most `limit` characters; longer words are cut.
fn wrap_words(text: &str, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        while !rest.is_empty() {
            let used = line.chars().count();
            if used > 0 && used + 1 + rest.len() > limit {
                lines.push(std::mem::take(&mut line));
                continue;
            }
            if used > 0 {
                line.push(' ');
            }
            let take = rest.len().min(limit);
            line.extend(rest.drain(..take));
            if !rest.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}
