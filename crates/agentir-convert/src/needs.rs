//! What the output refers to and somebody must create on its platform: settings, secrets, auth profiles, knowledge bases,
//! tables, collections and workflows. Nothing of that is in an export, and no converter can make it.

use crate::tasks::mentioned;
use crate::todo::{Place, Todo};
use agentir_diagnostics::{Diagnostic, SourceMap, Span};
use agentir_expr::Segment;
use agentir_ir::{Data, LookupTable, Program, ToolType};
use agentir_syntax::emit::{OutputFile, Task, knowledge_of, table_of};
use indexmap::IndexMap;

/// A kind of thing that a platform has beside the agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// `env.X`.
    Environment,
    /// `config.X`.
    Setting,
    /// `secrets.X`.
    Secret,
    AuthProfile,
    KnowledgeBase,
    Table,
    Collection,
    Workflow,
}

impl Kind {
    /// The kind that a path with this root names.
    fn of_root(root: &str) -> Option<Self> {
        match root {
            "env" => Some(Self::Environment),
            "config" => Some(Self::Setting),
            "secrets" => Some(Self::Secret),
            _ => None,
        }
    }

    /// Why something is needed, and what to do.
    fn words(self, name: &str) -> (String, String) {
        let (cause, what, how) = match self {
            Self::Environment => (
                "the output reads",
                "create the environment variable",
                "with the value of the source's environment",
            ),
            Self::Setting => (
                "the output reads",
                "create the configuration value",
                "with the value of the source's configuration",
            ),
            Self::Secret => ("the output reads", "create the secret", "which is not copied"),
            Self::AuthProfile => (
                "a tool logs in with",
                "create the auth profile",
                "with the credentials that the source's platform has",
            ),
            Self::KnowledgeBase => (
                "a tool searches",
                "create the knowledge base",
                "and load the documents that the source searches",
            ),
            Self::Table => (
                "a tool uses the data table",
                "create the table",
                "with the columns and rows of the source's",
            ),
            Self::Collection => (
                "values are looked up in",
                "create the collection",
                "with the values of the source's platform",
            ),
            Self::Workflow => {
                ("a tool starts", "build the workflow", "and give the tool its identifier")
            }
        };
        (format!("{cause} `{}`", self.written(name)), format!("{what} `{name}`, {how}"))
    }

    /// How the output names it.
    fn written(self, name: &str) -> String {
        match self {
            Self::Environment => format!("env.{name}"),
            Self::Setting => format!("config.{name}"),
            Self::Secret => format!("secrets.{name}"),
            _ => name.to_owned(),
        }
    }
}

/// What a program needs, by kind and name, in the order of the first mention: the declaration that needs it, if it has a
/// place of its own, and how often it is needed.
type Needs = IndexMap<(Kind, String), (Option<Span>, usize)>;

fn add(needs: &mut Needs, kind: Kind, name: &str, at: Option<Span>) {
    let need = needs.entry((kind, name.to_owned())).or_insert((at, 0));
    need.1 += 1;
}

/// Adds what the placeholders of a text name. Recursive: bindings are as deep as their files.
fn of_data(data: &Data, needs: &mut Needs) {
    match data {
        Data::String(text) => {
            let holes = text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
            for hole in holes {
                let Some((root, rest)) = hole.trim().split_once('.') else { continue };
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                if let Some(kind) = Kind::of_root(root.trim()).filter(|_| !name.is_empty()) {
                    add(needs, kind, name, None);
                }
            }
        }
        Data::Array(items) => items.iter().for_each(|item| of_data(item, needs)),
        Data::Object(fields) => fields.values().for_each(|value| of_data(value, needs)),
        _ => {}
    }
}

/// What a program needs of its platform.
fn of_program(program: &Program, files: &[OutputFile]) -> Needs {
    let mut needs = Needs::new();
    for tool in program.tools() {
        let place = Some(tool.name.span);
        if let Some(profile) = &tool.auth_profile_ref {
            add(&mut needs, Kind::AuthProfile, &profile.value, Some(profile.span));
        }
        if let Some(base) = tool.knowledge_base()
            && !files.iter().any(|file| knowledge_of(&file.path) == Some(base))
        {
            add(&mut needs, Kind::KnowledgeBase, base, place);
        }
        let Some(binding) = &tool.binding else { continue };
        let named = |key: &str| binding.0.get(key).and_then(Data::as_str);
        let kind = match tool.tool_type {
            Some(ToolType::Table) => named("table").map(|name| (Kind::Table, name)),
            Some(ToolType::Workflow) => named("workflow_id").map(|name| (Kind::Workflow, name)),
            _ => None,
        };
        if let Some((kind, name)) = kind {
            add(&mut needs, kind, name, place);
        }
        binding.0.values().for_each(|value| of_data(value, &mut needs));
    }
    for agent in program.agents() {
        agent.walk(&mut |node| {
            node.exprs(&mut |e| {
                e.paths(&mut |path| {
                    if let Some(kind) = Kind::of_root(&path.root.value)
                        && path.namespace.is_none()
                        && let Some(Segment::Field(name)) = path.segments.first()
                    {
                        add(&mut needs, kind, &name.value, None);
                    }
                });
            });
        });
        for table in agent.lookup_tables.values() {
            if let Some(name) = LookupTable::collection(table)
                && !files.iter().any(|file| table_of(&file.path) == Some(name))
            {
                add(&mut needs, Kind::Collection, name, Some(table.name.span));
            }
        }
    }
    needs
}

/// What the output of a conversion needs and its source did not: of the same language, everything is there already. What
/// `told`, the findings of the import, ask for is not asked for again.
pub(crate) fn of_conversion(
    (source, program): (&Program, &Program),
    files: &[OutputFile],
    outputs: &SourceMap,
    told: &[Diagnostic],
) -> Vec<Todo> {
    if crate::keeps_surroundings(source, program) {
        return Vec::new();
    }
    let is_told = |written: &str| {
        let reference = format!("{{{{{written}}}}}");
        let mut texts = told.iter().flat_map(|one| one.note.iter().chain(&one.help));
        texts.any(|text| text.contains(&reference))
    };
    let none = SourceMap::default();
    let all = of_program(program, files).into_iter().filter_map(|((kind, name), (at, count))| {
        let written = kind.written(&name);
        if is_told(&written) {
            return None;
        }
        let (cause, help) = kind.words(&name);
        let at = at.or_else(|| mentioned(outputs, &written));
        let snippet = matches!(kind, Kind::Environment | Kind::Setting | Kind::Secret);
        Some(Todo {
            help: Some(help),
            snippet: snippet.then(|| format!("{name}=\n")),
            count,
            places: vec![Place::new(None, (&none, None), (outputs, at))],
            ..Todo::new(Task::Must, cause)
        })
    });
    all.collect()
}
