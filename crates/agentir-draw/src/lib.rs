//! Drawings of control-flow graphs: agents, steps or statements and their successors, for people
//! (Mermaid, DOT, SVG, HTML) and for programs (JSON). `dagre` computes the layered layout.
//!
//! *Invariant*: nothing here decides which nodes can follow each other; a drawing shows, omits or
//! merges what the graph of `agentir-flow` has. Text from documents is escaped where it is written.

mod colours;
mod dot;
mod graph_view;
#[cfg(feature = "layout")]
mod html;
mod label;
#[cfg(feature = "layout")]
mod layout;
mod mermaid;
#[cfg(feature = "layout")]
mod svg;

pub use dot::dot;
pub use graph_view::{Agent, Cycle, Detail, Edge, Graph, Node, Shape, View, graph};
#[cfg(feature = "layout")]
pub use html::{Finding, html};
#[cfg(feature = "layout")]
pub use layout::{MAX_NODES, TooLarge};
pub use mermaid::mermaid;
#[cfg(feature = "layout")]
pub use svg::svg;

/// The JSON Schema of [`Graph`].
#[must_use]
pub fn graph_schema() -> serde_json::Value {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.meta_schema = Some("https://json-schema.org/draft/2020-12/schema".into());
    let mut value = settings.into_generator().into_root_schema_for::<Graph>().to_value();
    if let Some(object) = value.as_object_mut() {
        object.insert("title".into(), "agentir control-flow graph".into());
    }
    value
}
