//! The values in which the normal forms of two programs differ.

use super::{
    LeftOut, Node, NodeKind, NormalizedProgram, Offers, each_child, first_span, key_of, walk,
};
use agentir_diagnostics::Span;
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use serde_json::Value;

/// A value that differs between two programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The path in the IR: `agents.booking.gather.fields[count].required`.
    pub path: String,
    /// The value of the first program and its span.
    pub left: Option<(Value, Option<Span>)>,
    /// The value of the second program and its span.
    pub right: Option<(Value, Option<Span>)>,
}

/// The names of the items of lists that have some, by path.
fn orders<'n>(node: &'n Node, at: &mut String, found: &mut IndexMap<String, Vec<&'n str>>) {
    if let NodeKind::List(items) = &node.kind
        && let Some(key) = key_of(items)
    {
        let names = items.iter().filter_map(|item| item.get(key).and_then(Node::text));
        found.insert(at.clone(), names.collect());
    }
    each_child(node, at, &mut |child, at| orders(child, at, found));
}

/// A value with its span.
type Said = (Value, Option<Span>);

/// The values of a part of a program, by path.
fn values_of<'n>(node: &'n Node, at: &str) -> IndexMap<String, (&'n Value, Option<Span>)> {
    let mut all = IndexMap::new();
    walk(node, &mut at.to_owned(), None, &mut |path, value, _, at| {
        all.insert(path.to_owned(), (value, at));
    });
    all
}

/// The values of two parts that differ, in the order of the first.
fn different_values(left: &Node, right: &Node, at: &str, found: &mut Vec<Difference>) {
    let [left, right] = [left, right].map(|node| values_of(node, at));
    let owned = |(value, at): (&Value, Option<Span>)| -> Said { (value.clone(), at) };
    for (path, value) in &left {
        let other = right.get(path);
        if other.is_none_or(|other| other.0 != value.0) {
            let [left, right] = [Some(*value), other.copied()].map(|v| v.map(owned));
            found.push(Difference { path: path.clone(), left, right });
        }
    }
    let new = right.into_iter().filter(|(path, _)| !left.contains_key(path));
    found.extend(new.map(|(path, value)| Difference {
        path,
        left: None,
        right: Some(owned(value)),
    }));
}

/// The lists that have the same items in another order.
fn different_orders(left: &Node, right: &Node, found: &mut Vec<Difference>) {
    let [left, right] = [left, right].map(|root| {
        let mut all = IndexMap::new();
        orders(root, &mut String::new(), &mut all);
        all
    });
    for (path, names) in &left {
        let Some(others) = right.get(path) else { continue };
        let [here, there]: [FxHashSet<&str>; 2] =
            [names, others].map(|names| names.iter().copied().collect());
        let shared = |names: &[&'_ str], of: &FxHashSet<&str>| -> Vec<String> {
            names.iter().filter(|name| of.contains(*name)).map(|name| (*name).to_owned()).collect()
        };
        let (one, other) = (shared(names, &there), shared(others, &here));
        if one != other {
            let [left, right] = [one, other].map(|names| Some((Value::from(names), None)));
            found.push(Difference { path: path.clone(), left, right });
        }
    }
}

/// The tools and bindings of agents that differ, where the values of the programs do not show it.
fn different_offers(
    left: &NormalizedProgram,
    right: &NormalizedProgram,
    found: &mut Vec<Difference>,
) {
    let shown = |found: &[Difference], agent: &str, tool: &str| {
        let at = [format!("tools.{tool}"), format!("tools.{tool}@{agent}")];
        found.iter().any(|difference| {
            let path = difference.path.as_str();
            at.iter().any(|at| {
                path.strip_prefix(at.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    };
    for (agent, ours) in &left.offers {
        let Some(theirs) = right.offers.get(agent) else { continue };
        let names =
            ours.tools.keys().chain(theirs.tools.keys().filter(|t| !ours.tools.contains_key(*t)));
        for name in names {
            if shown(found, agent, name) {
                continue;
            }
            let at = format!("agents.{agent}.tools[{name}]");
            match (ours.tools.get(name), theirs.tools.get(name)) {
                (Some(one), Some(other)) => different_values(one, other, &at, found),
                (one, other) => {
                    let said = |node: Option<&Node>| -> Option<Said> {
                        Some((Value::from(name.as_str()), first_span(node?)))
                    };
                    found.push(Difference { path: at, left: said(one), right: said(other) });
                }
            }
        }
        different_left_out(agent, ours, theirs, found);
    }
}

/// What the normal forms of an agent leave out and differs. Other dialects may not have it at all.
fn different_left_out(agent: &str, ours: &Offers, theirs: &Offers, found: &mut Vec<Difference>) {
    let same_dialect = ours.dialect == theirs.dialect;
    let (nothing, one, other) = (Node::default(), &ours.left_out, &theirs.left_out);
    let keys = |of: fn(&LeftOut) -> &IndexMap<String, Node>| {
        let new = of(other).keys().filter(move |key| !of(one).contains_key(*key));
        of(one).keys().chain(new)
    };
    for does in keys(|all| &all.bindings) {
        let at = format!("agents.{agent}.reasoning.bindings[{does}]");
        match (one.bindings.get(does), other.bindings.get(does)) {
            (Some(one), Some(other)) => different_values(one, other, &at, found),
            (one, other) if same_dialect => {
                // The model sees the name, and everything else is declared beside it.
                let said = |node: Option<&Node>| -> Option<Said> {
                    let name = node?.get("name")?;
                    Some((Value::from(name.text()?), first_span(name)))
                };
                found.push(Difference { path: at, left: said(one), right: said(other) });
            }
            _ => {}
        }
    }
    if !same_dialect {
        return;
    }
    // The model sees them in their order.
    let [first, second] = [(one, other), (other, one)].map(|(here, there)| {
        let shared = here.bindings.keys().filter(|does| there.bindings.contains_key(*does));
        shared.map(String::as_str).collect::<Vec<_>>()
    });
    if first != second {
        let path = format!("agents.{agent}.reasoning.bindings");
        let [left, right] = [first, second].map(|names| Some((Value::from(names), None)));
        found.push(Difference { path, left, right });
    }
    for path in keys(|all| &all.extensions) {
        let [one, other] = [one, other].map(|all| all.extensions.get(path).unwrap_or(&nothing));
        different_values(one, other, &format!("agents.{agent}.{path}"), found);
    }
}

/// The values that differ, in the order of the first program.
#[must_use]
pub fn value_differences(left: &NormalizedProgram, right: &NormalizedProgram) -> Vec<Difference> {
    let mut found = Vec::new();
    different_values(&left.root, &right.root, "", &mut found);
    found
}

/// The values that differ, in the order of the first program; then lists of which only the order differs, and tools
/// that an agent has in one of the programs only, or under another name for the model.
#[must_use]
pub fn differences(left: &NormalizedProgram, right: &NormalizedProgram) -> Vec<Difference> {
    let mut found = value_differences(left, right);
    different_orders(&left.root, &right.root, &mut found);
    different_offers(left, right, &mut found);
    found
}
