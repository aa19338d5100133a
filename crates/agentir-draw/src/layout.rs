//! Where nodes and edges lie: layers from top to bottom, by dagre.

use crate::graph_view::{Graph, Node, Shape};
use dagre::graph::{Graph as Dag, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, Ranker};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;
use std::fmt;

/// The maximal number of nodes of a drawing; a larger one would be illegible.
pub const MAX_NODES: usize = 1_500;

/// How many layers all edges of a drawing may cross together. The layout puts a point on each, and orders them again
/// and again.
const MAX_CROSSED: usize = 16_000;

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
            "the graph has {} nodes and {} edges, too many for a picture: at most {MAX_NODES} nodes fit on one, and fewer if most are connected with each other",
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

/// Lays a graph out.
///
/// # Errors
/// [`TooLarge`] where it has too many nodes.
pub(crate) fn layout(graph: &Graph) -> Result<Layout, TooLarge> {
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    if nodes.max(edges / 2) > MAX_NODES || crossed(graph) > MAX_CROSSED {
        return Err(TooLarge { nodes, edges });
    }
    // dagre recurses as deep as a graph is long, so it gets a stack of its own.
    let placed = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        let work = thread.spawn_scoped(scope, || place(graph));
        work.ok().and_then(|work| work.join().ok())
    });
    placed.ok_or(TooLarge { nodes, edges })
}

/// About how many layers the edges cross together, if each node is one layer below the lowest that leads to it. Edges
/// that lead back are turned round, as the layout does.
fn crossed(graph: &Graph) -> usize {
    let mut dag: DiGraph<(), ()> = DiGraph::with_capacity(graph.nodes.len(), graph.edges.len());
    graph.nodes.iter().for_each(|_| {
        dag.add_node(());
    });
    for edge in graph.edges.iter().filter(|e| e.from != e.to) {
        if edge.from.max(edge.to) < graph.nodes.len() {
            dag.add_edge(NodeIndex::new(edge.from), NodeIndex::new(edge.to), ());
        }
    }
    let mut place = vec![0; graph.nodes.len()];
    let mut order = Vec::new();
    let mut seen = DfsPostOrder::empty(&dag);
    for node in dag.node_indices() {
        seen.move_to(node);
        while let Some(next) = seen.next(&dag) {
            order.push(next);
        }
    }
    order.reverse();
    for (at, node) in order.iter().enumerate() {
        if let Some(slot) = place.get_mut(node.index()) {
            *slot = at;
        }
    }
    let place = |node: NodeIndex| place.get(node.index()).copied().unwrap_or_default();
    let mut layers = vec![0_usize; graph.nodes.len()];
    let layer = |layers: &[usize], node: NodeIndex| layers.get(node.index()).copied().unwrap_or(0);
    for node in &order {
        let above = dag.neighbors_undirected(*node).filter(|other| place(*other) < place(*node));
        let own = above.map(|other| layer(&layers, other) + 1).max().unwrap_or_default();
        if let Some(slot) = layers.get_mut(node.index()) {
            *slot = own;
        }
    }
    let ends = dag.edge_indices().filter_map(|edge| dag.edge_endpoints(edge));
    ends.map(|(from, to)| layer(&layers, from).abs_diff(layer(&layers, to))).sum()
}

fn place(graph: &Graph) -> Layout {
    let mut dag: Dag<NodeLabel, EdgeLabel> =
        Dag::with_options(GraphOptions { directed: true, multigraph: true, compound: true });
    let mut out = Layout::default();
    let several = graph.agents.len() > 1;
    if several {
        for number in 0..graph.agents.len() {
            if graph.nodes.iter().any(|n| n.agent == Some(number)) {
                dag.set_node(format!("a{number}"), Some(NodeLabel::default()));
            }
        }
    }
    for node in &graph.nodes {
        let lines = wrap_words(&node.label, NODE_WRAP_CHARS);
        let (width, height) = size(node, &lines);
        let label = NodeLabel { width, height, ..NodeLabel::default() };
        let name = format!("n{}", node.id);
        dag.set_node(name.clone(), Some(label));
        if let Some(agent) = node.agent.filter(|_| several) {
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
        // The best ranks take a time that grows faster than the graph.
        ranker: if graph.nodes.len() > 300 { Ranker::LongestPath } else { Ranker::NetworkSimplex },
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
