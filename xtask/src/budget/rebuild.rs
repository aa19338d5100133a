//! What is compiled again after a file was changed: its crate, and crates that depend on it; of the languages at
//! most the one whose grammar was changed.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The files that are changed, and the crates they belong to: a rule, and a grammar of each language.
const CHANGES: [(&str, &str); 4] = [
    ("agentir-lint", "crates/agentir-lint/src/rules/undefined_tool.rs"),
    ("agentir-grammar-abl", "grammars/abl/inline.lalrpop"),
    ("agentir-grammar-agent-script", "grammars/agent-script/inline.lalrpop"),
    ("agentir-grammar-adl", "grammars/adl/inline.lalrpop"),
];

/// The languages; a change of one compiles no other.
const LANGUAGES: &str = "agentir-lang-";

/// Builds the workspace, touches each of the files, builds again, and fails if anything was compiled that need not be.
pub(super) fn check(root: &Path) -> Result<()> {
    // Without a platform, Cargo downloads the dependencies of all others.
    let platform = host()?;
    let metadata = ["metadata", "--format-version", "1", "--filter-platform", &platform];
    let packages = Packages::of(&json(root, &metadata)?)?;
    compiled(root)?;
    let unchanged = compiled(root)?;
    if !unchanged.is_empty() {
        return Err(
            format!("compiled again without a change: {}", packages.list(&unchanged)).into()
        );
    }
    CHANGES.iter().try_for_each(|(changed, file)| check_change(root, &packages, changed, file))
}

fn check_change(root: &Path, packages: &Packages, changed: &str, file: &str) -> Result<()> {
    fs::File::options().append(true).open(root.join(file))?.set_modified(SystemTime::now())?;
    let compiled = compiled(root)?;
    println!("touched {file}");
    println!("compiled ({}): {}", compiled.len(), packages.list(&compiled));
    let fresh: Ids = packages.workspace.difference(&compiled).cloned().collect();
    println!("not compiled ({}): {}", fresh.len(), packages.list(&fresh));
    let expected = packages.dependents(changed);
    let needless: Ids = compiled.difference(&expected).cloned().collect();
    if !needless.is_empty() {
        let list = packages.list(&needless);
        return Err(format!("compiled without depending on {changed}: {list}").into());
    }
    if !compiled.iter().any(|id| packages.name(id) == changed) {
        return Err(format!("{changed} was not compiled, although {file} was touched").into());
    }
    let languages: Ids =
        compiled.into_iter().filter(|id| packages.name(id).starts_with(LANGUAGES)).collect();
    if changed.contains("grammar") && languages.len() > 1 {
        let list = packages.list(&languages);
        return Err(format!("{changed} compiles several languages: {list}").into());
    }
    Ok(())
}

/// The ids that Cargo gives packages.
type Ids = BTreeSet<String>;

/// The packages of the workspace and their dependencies, as Cargo resolves them.
#[derive(Debug, Default)]
struct Packages {
    workspace: Ids,
    names: BTreeMap<String, String>,
    /// By package, those that its libraries, programs and build script depend on. What only tests depend on is left
    /// out, because they are not built.
    dependencies: BTreeMap<String, Ids>,
}

impl Packages {
    fn of(metadata: &[Value]) -> Result<Self> {
        let metadata = metadata.first().ok_or("`cargo metadata` gives nothing")?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let list = |pointer: &str| metadata.pointer(pointer).and_then(Value::as_array);
        let missing = |what: &str| format!("`cargo metadata` gives no {what}");
        let members = list("/workspace_members").ok_or_else(|| missing("members"))?;
        let packages = list("/packages").ok_or_else(|| missing("packages"))?;
        let nodes = list("/resolve/nodes").ok_or_else(|| missing("dependencies"))?;
        let name = |package: &Value| Some((text(package.get("id")?)?, text(package.get("name")?)?));
        let on = |found: &Value| {
            let kinds = found.get("dep_kinds")?.as_array()?;
            let built = |kind: &Value| kind.get("kind").and_then(Value::as_str) != Some("dev");
            kinds.iter().any(built).then(|| text(found.get("pkg")?))?
        };
        let node = |node: &Value| {
            let all = node.get("deps")?.as_array()?;
            Some((text(node.get("id")?)?, all.iter().filter_map(on).collect()))
        };
        Ok(Self {
            workspace: members.iter().filter_map(text).collect(),
            names: packages.iter().filter_map(name).collect(),
            dependencies: nodes.iter().filter_map(node).collect(),
        })
    }

    fn name<'a>(&'a self, id: &'a str) -> &'a str {
        self.names.get(id).map_or(id, String::as_str)
    }

    fn list(&self, ids: &Ids) -> String {
        let mut names: Vec<&str> = ids.iter().map(|id| self.name(id)).collect();
        names.sort_unstable();
        names.join(", ")
    }

    /// The packages of a name, and everything that depends on them.
    fn dependents(&self, name: &str) -> Ids {
        let named = self.names.iter().filter(|(_, named)| *named == name);
        let mut all: Ids = named.map(|(id, _)| id.clone()).collect();
        loop {
            let more = self.dependencies.iter().filter(|(_, on)| !on.is_disjoint(&all));
            let more: Vec<String> = more.map(|(id, _)| id.clone()).collect();
            let before = all.len();
            all.extend(more);
            if all.len() == before {
                return all;
            }
        }
    }
}

/// The platform that is compiled for.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("`rustc -vV` names no host")?.to_owned())
}

/// The JSON that Cargo writes, one value a line.
fn json(root: &Path, arguments: &[&str]) -> Result<Vec<Value>> {
    let mut cargo = Command::new(crate::start::cargo());
    cargo.args(arguments).current_dir(root).stderr(Stdio::inherit());
    let output = cargo.output()?;
    if !output.status.success() {
        return Err(format!("{cargo:?} ended with {}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?)
}

/// The packages that a build of the workspace's libraries and programs compiles now.
fn compiled(root: &Path) -> Result<Ids> {
    let build = ["build", "--workspace", "--quiet", "--message-format=json"];
    Ok(not_fresh(&json(root, &build)?))
}

/// The packages with an artifact that was not fresh.
fn not_fresh(messages: &[Value]) -> Ids {
    let is = |message: &Value, key: &str, value: &Value| message.get(key) == Some(value);
    messages
        .iter()
        .filter(|message| is(message, "reason", &"compiler-artifact".into()))
        .filter(|message| is(message, "fresh", &false.into()))
        .filter_map(|message| Some(message.get("package_id")?.as_str()?.to_owned()))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests end by panicking")]
mod tests {
    use super::{Packages, not_fresh};
    use serde_json::{Value, json};

    fn node(id: &str, on: &[(&str, Value)]) -> Value {
        let on = on.iter().map(|(id, kind)| json!({"pkg": id, "dep_kinds": [{"kind": kind}]}));
        json!({"id": id, "deps": on.collect::<Vec<_>>()})
    }

    #[test]
    fn dependents_are_found_over_several_steps_but_not_over_tests() {
        let normal = Value::Null;
        let names = ["lint", "cli", "project", "runtime", "ir"];
        let packages = names.map(|name| json!({"id": format!("{name}#1"), "name": name}));
        let metadata = json!({
            "packages": packages,
            "workspace_members": names.map(|name| format!("{name}#1")),
            "resolve": {"nodes": [
                node("lint#1", &[("ir#1", normal.clone())]),
                node("cli#1", &[("project#1", normal.clone())]),
                node("project#1", &[("lint#1", json!("build"))]),
                node("runtime#1", &[("ir#1", normal), ("project#1", json!("dev"))]),
                node("ir#1", &[]),
            ]},
        });
        let packages = Packages::of(&[metadata]).unwrap();
        assert_eq!(packages.list(&packages.dependents("lint")), "cli, lint, project");
        assert!(packages.dependents("nothing").is_empty());
        assert!(Packages::of(&[json!({})]).is_err());
    }

    #[test]
    fn packages_that_were_compiled_are_those_that_are_not_fresh() {
        let artifact = |id: &str, fresh: bool| json!({"reason": "compiler-artifact", "package_id": id, "fresh": fresh});
        let finished = json!({"reason": "build-finished", "success": true});
        let messages = [artifact("bench#1", false), artifact("ir#1", true), finished];
        assert_eq!(not_fresh(&messages).into_iter().collect::<Vec<_>>(), ["bench#1"]);
    }
}
