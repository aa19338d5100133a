//! Cycles among the modules of a crate.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

/// Modules that may use each other: data that is recursive, and two halves of one thing.
const MUTUALLY_RECURSIVE: &[(&str, &[&str])] = &[
    ("agentir-diagnostics", &["diagnostic", "evidence"]),
    ("agentir-diagnostics", &["lines", "source"]),
    ("agentir-eval", &["eval", "functions", "state"]),
    ("agentir-expr", &["expr", "template"]),
    ("agentir-ir", &["agent", "flow", "rules"]),
    ("agentir-ir", &["coordination", "statement"]),
    ("agentir-ir-json", &["describe", "reader", "schema"]),
    ("agentir-tools", &["environment", "template"]),
    ("agentir-z3", &["functions", "library"]),
];

/// The cycles among the modules of a crate that the table does not list, and those that it lists in vain.
pub(super) fn cycles(name: &str, source: &Path) -> io::Result<Vec<String>> {
    let mut uses = BTreeMap::new();
    collect(source, None, &mut uses)?;
    let found = knots(&uses);
    let known = MUTUALLY_RECURSIVE.iter().filter(|(krate, _)| *krate == name);
    let known: Vec<&[&str]> = known.map(|(_, modules)| *modules).collect();
    let list = |modules: &[&str]| modules.join("`, `");
    let new = found.iter().filter(|knot| !known.contains(&knot.as_slice()));
    let new = new.map(|knot| format!("modules of `{name}` use each other: `{}`", list(knot)));
    let gone = known.iter().filter(|knot| !found.iter().any(|found| found == *knot));
    let gone = gone.map(|knot| {
        format!("`{}` of `{name}` form no cycle any more: drop them from the table", list(knot))
    });
    Ok(new.chain(gone).collect())
}

/// Collects which modules at the top of a crate use which others.
fn collect(
    folder: &Path,
    top: Option<&str>,
    uses: &mut BTreeMap<String, BTreeSet<String>>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let module = top.unwrap_or(stem);
        if path.is_dir() {
            collect(&path, Some(module), uses)?;
        } else if path.extension().is_some_and(|end| end == "rs")
            && module != "lib"
            && module != "main"
        {
            let used = used_in(&super::code(&fs::read_to_string(&path)?));
            uses.entry(module.to_owned()).or_default().extend(used);
        }
    }
    Ok(())
}

/// The names behind `crate::` in source text.
fn used_in(code: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = |text: &str| text.split(|c: char| !is_word(c)).next().unwrap_or_default().to_owned();
    let mut used = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            used.insert(word(rest));
            continue;
        };
        let mut depth = 0_usize;
        let mut start = true;
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => start = true,
                c if start && is_word(c) => {
                    used.insert(word(group.get(at..).unwrap_or_default()));
                    start = false;
                }
                _ => {}
            }
        }
    }
    used
}

/// The sets of modules that use each other, sorted.
fn knots(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<&str>> {
    let mut graph = DiGraphMap::<&str, ()>::new();
    for (module, used) in uses {
        for other in used.iter().filter(|other| uses.contains_key(*other)) {
            graph.add_edge(module, other, ());
        }
    }
    let knots = tarjan_scc(&graph).into_iter().filter(|knot| knot.len() > 1);
    let mut knots: Vec<Vec<&str>> = knots.collect();
    knots.iter_mut().for_each(|knot| knot.sort_unstable());
    knots.sort_unstable();
    knots
}

#[cfg(test)]
mod tests {
    use super::{knots, used_in};
    use std::collections::BTreeMap;

    #[test]
    fn uses_are_found_in_groups_and_paths() {
        let code = "use crate::{a::{self, X}, b, c::Y};\nfn f() { crate::d::g() }";
        let found: Vec<String> = used_in(code).into_iter().collect();
        assert_eq!(found, ["a", "b", "c", "d"]);
    }

    #[test]
    fn cycles_are_found_through_several_modules() {
        let uses = [
            ("a", "use crate::b;"),
            ("b", "use crate::c;"),
            ("c", "use crate::a;"),
            ("d", "use crate::a;"),
        ];
        let uses: BTreeMap<_, _> =
            uses.iter().map(|(module, code)| ((*module).to_owned(), used_in(code))).collect();
        assert_eq!(knots(&uses), [["a", "b", "c"]]);
    }
}
