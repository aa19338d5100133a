//! Lowers ABL's typed tree to AgentIR.

pub(crate) mod agent;
mod checkpoints;
mod coordination;
pub(crate) mod data;
mod digressions;
mod fields;
pub(crate) mod flow;
mod gather;
mod memory;
mod rules;
pub(crate) mod supervisor;
mod tools;
mod written;

use crate::dialect;
use crate::{Document, DocumentKind, Record};
use agentir_diagnostics::Diagnostic;
use agentir_expr::dialect::Notation;
use agentir_ir::{Extensions, ToolLibrary};
use agentir_syntax::Definition;
use agentir_syntax::lower::merge_extensions;
use fields::Fields;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use std::sync::Arc;

/// Context of lowering one document.
struct Context<'p> {
    problems: &'p mut Vec<Diagnostic>,
    /// The names of the flow's steps. A step may be named like a keyword (`retry`, `complete`); the name
    /// then means the step.
    steps: FxHashSet<SmolStr>,
    /// The names of the agent's tools.
    tools: FxHashSet<SmolStr>,
    /// Whether the document is a fragment, in which nothing counts as missing.
    fragment: bool,
    /// The notation of the document.
    notation: Notation,
}

/// Lowers a document. `text` is its source, for the hash.
pub(crate) fn lower(
    document: Document<'_>,
    notation: Notation,
    text: &str,
    fragment: bool,
    problems: &mut Vec<Diagnostic>,
) -> Definition {
    let mut steps = FxHashSet::default();
    collect_steps(&document.root, &mut steps);
    let mut cx = Context { problems, steps, tools: FxHashSet::default(), fragment, notation };
    let kind = document.kind;
    let span = document.root.span;
    let fields = Fields::new(document.root);
    match kind {
        DocumentKind::Agent | DocumentKind::Supervisor => {
            Definition::Agent(Arc::new(agent::agent(&mut cx, fields, kind, text)))
        }
        DocumentKind::Profile => Definition::Profile(Arc::new(rules::profile(&mut cx, fields))),
        DocumentKind::ToolLibrary => {
            let mut fields = fields;
            let mut all = Vec::new();
            let mut extensions = Extensions::default();
            for section in fields.records("tools") {
                // Settings common to all tools stay with the library: `base_url`, `auth`, …
                let (tools, _, shared) = tools::tools(&mut cx, section);
                all.extend(tools);
                merge_extensions(&mut extensions, shared);
            }
            fields.preserve(&mut extensions);
            let imports = Vec::new();
            Definition::Tools(Arc::new(ToolLibrary {
                dialect: dialect::ABL,
                tools: all,
                imports,
                comments: Vec::new(),
                extensions,
                span,
            }))
        }
    }
}

fn collect_steps(record: &Record<'_>, steps: &mut FxHashSet<SmolStr>) {
    use crate::Value;
    for field in &record.fields {
        if let ("flow" | "steps", Value::Record(inner)) = (field.def.name, &field.value) {
            steps.extend(inner.items.iter().filter_map(|i| Some(i.name.as_ref()?.value.clone())));
            collect_steps(inner, steps);
        }
    }
}
