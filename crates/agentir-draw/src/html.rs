//! A page that shows a graph: one can move it, choose an agent, and click on nodes. It needs no
//! network.

use crate::colours::colours;
use crate::graph_view::{Graph, Shape};
use crate::layout::{MAX_POINTS, TooLarge, fits, layout};
use crate::svg::{body, escape, style};
use agentir_diagnostics::escape_json;
use serde::Serialize;
use std::fmt::Write;

/// What moves the picture and fills the panel.
const SCRIPT: &str = include_str!("page.js");
/// How the page around the pictures looks.
const STYLE: &str = include_str!("page.css");

/// So many points all layouts of a page have together at most.
const MAX_POINTS_OF_PAGE: usize = 2 * MAX_POINTS;

/// What was found at a line of a file.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The name of the file, as in the places of nodes.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// `error`, `warning` or `info`.
    pub severity: &'static str,
    /// What is said of it.
    pub message: String,
}

/// Graphs as one page: `whole` is shown first, the others, which are made only if there is room for it, can be chosen by
/// their names. Those that are too large are left out, and those for which the page has no room left. Findings are
/// shown at the nodes that they belong to.
///
/// # Errors
/// [`TooLarge`] where there is no room for `whole`.
pub fn html(
    title: &str,
    whole: (String, Graph),
    others: impl IntoIterator<Item = (String, Graph)>,
    findings: &[Finding],
) -> Result<String, TooLarge> {
    fits(&whole.1)?;
    let mut out = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let _ = write!(
        out,
        "<meta name=\"viewport\" content=\"width=device-width\"><title>{}</title><style>{}{STYLE}</style></head><body><header><h1>{}</h1>",
        escape(title),
        style(),
        escape(title)
    );
    let mut pictures = String::new();
    let mut options = String::new();
    let mut data = Vec::new();
    let mut left = MAX_POINTS_OF_PAGE;
    for (name, graph) in std::iter::once(whole).chain(others) {
        let at = data.len();
        let room = fits(&graph).ok().and_then(|points| left.checked_sub(points));
        let Some(room) = room else { continue };
        left = room;
        let placed = match layout(&graph) {
            Ok(placed) => placed,
            Err(error) if at == 0 => return Err(error),
            Err(_) => continue,
        };
        let _ = write!(options, "<option value=\"{at}\">{}</option>", escape(&name));
        let hidden = if at == 0 { "" } else { " hidden" };
        let _ = write!(
            pictures,
            "<svg class=\"picture\"{hidden} data-graph=\"{at}\" viewBox=\"0 0 {:.0} {:.0}\">{}</svg>",
            placed.width,
            placed.height,
            body(&graph, &placed, &format!("g{at}-"))
        );
        data.push(graph);
    }
    // A script ends where `</script` stands, whatever is around it.
    let in_script = |json: String| escape_json(&json.replace('<', "\\u003c")).into_owned();
    let json = in_script(serde_json::to_string(&data).unwrap_or_default());
    let findings = in_script(serde_json::to_string(findings).unwrap_or_default());
    let _ = writeln!(
        out,
        "<label>Show <select id=\"which\">{options}</select></label><label><input id=\"find\" type=\"search\" placeholder=\"Find…\"></label></header><main><div id=\"stage\">{pictures}</div><aside id=\"panel\"><p>Click on a node to see what it is, what leads to it and what follows. Drag or use the arrow keys to move, turn the wheel or press <kbd>+</kbd> and <kbd>-</kbd> to come closer or go away, double-click or press <kbd>0</kbd> to see all, press <kbd>/</kbd> to search. Nodes with findings have a thick red or brown frame.</p>{}</aside></main><script type=\"application/json\" id=\"data\">{json}</script><script type=\"application/json\" id=\"findings\">{findings}</script><script>{SCRIPT}</script></body></html>",
        legend()
    );
    Ok(out)
}

fn legend() -> String {
    let mut out = String::from("<ul class=\"legend\">");
    for (shape, text) in Shape::ALL {
        let (fill, stroke) = colours(shape);
        let _ =
            write!(out, "<li><i style=\"background:{fill};border-color:{stroke}\"></i>{text}</li>");
    }
    out.push_str("<li><i class=\"lost\"></i>no way leads here</li><li><b class=\"dashed\"></b>up to model or user</li><li><b class=\"loop\"></b>part of a loop</li><li><b class=\"endless\"></b>loop without a wait</li></ul>");
    out
}
