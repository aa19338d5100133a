//! Gives names that a language cannot write other ones, in the whole program.

use super::names::{NameSyntax, Namespace, Renamed};
use agentir_expr::Name;
use agentir_ir::{NamedThing, Program};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// The program with names that can be written, and what was renamed. A name is the same thing for whoever reads a
/// report, so all that is called so is renamed, and nothing gets a name that something else has.
pub fn with_legal_names(
    program: &Program,
    is_legal: impl Fn(NamedThing, &str) -> bool,
) -> (Program, Vec<Renamed>) {
    let mut found: IndexMap<Name, Vec<NamedThing>> = IndexMap::new();
    let mut legal = program.clone();
    legal.names_mut(&mut |what, name| {
        let known = found.entry(name.clone()).or_default();
        if !known.contains(&what) {
            known.push(what);
        }
    });
    found.retain(|name, all| !name.is_empty() || all.contains(&NamedThing::Step));
    let (kept, taken): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(name, all)| all.iter().all(|what| is_legal(*what, name)));
    if taken.is_empty() {
        return (program.clone(), Vec::new());
    }
    let mut used = Namespace::of(NameSyntax::Any);
    for (name, _) in &kept {
        used.claim(&[name]);
    }
    let mut names: FxHashMap<Name, Name> = FxHashMap::default();
    let mut renamed = Vec::new();
    for (from, all) in taken {
        let noun = all.first().map_or("name", |what| what.noun());
        let word = legalized(&from);
        let ascii = NameSyntax::Word.legalize(&from);
        let wanted = [
            word.clone(),
            format!("{word}_{noun}"),
            format!("{noun}_{word}"),
            ascii.to_string(),
            format!("my_{noun}"),
        ];
        let fits = |name: &str| all.iter().all(|what| is_legal(*what, name));
        let wanted: Vec<&str> = wanted
            .iter()
            .map(|name| name.trim_matches('_'))
            .filter(|name| !name.is_empty() && fits(name))
            .collect();
        let to = used.claim(&wanted);
        for what in all {
            let (from, to) = (from.to_string(), to.to_string());
            renamed.push(Renamed { what: what.noun(), from, to, agent: None });
        }
        names.insert(from, to);
    }
    legal.names_mut(&mut |_, name| {
        if let Some(to) = names.get(name) {
            name.clone_from(to);
        }
    });
    (legal, renamed)
}

/// The words of a name, joined.
fn legalized(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::legalized;

    #[test]
    fn words_are_joined() {
        assert_eq!(legalized("HANDOFF A"), "HANDOFF_A");
        assert_eq!(legalized(" a. b\n"), "a_b");
        assert_eq!(legalized("#"), "");
    }
}
