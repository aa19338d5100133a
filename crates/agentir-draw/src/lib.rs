//! Control-flow graphs as pictures: which agents, steps or statements there are and what can follow
//! what, for people (Mermaid, DOT, SVG, HTML) and for programs (JSON).
//!
//! *Invariant*: nothing here decides what can follow what; a picture shows, leaves out and joins what
//! the graph of `agentir-flow` has. Whatever text comes from a document is escaped where it is written.

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
pub use html::html;
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
