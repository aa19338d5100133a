//! Projects generated from a seed, of the size and kind that people write: agents that gather, agents with flows,
//! supervisors, tool libraries, profiles, some of them in YAML. Most files are 1 to 6 KB.

mod agent;
mod bot;
mod flow;
mod script;
mod words;

pub use words::Random;

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path below the project's folder.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Agents that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The name of its folder.
    pub name: String,
    /// Its files, `project.json` included.
    pub files: Vec<File>,
}

/// The fewest documents of a project with a supervisor, a tool library and a profile.
const SHARED: usize = 6;

/// Projects with `documents` documents together; manifests are not counted. The same seed gives the
/// same projects, and the first of many are the first of few.
#[must_use]
pub fn projects(documents: usize, seed: u64) -> Vec<Project> {
    let mut all = Vec::new();
    let mut left = documents;
    while left > 0 {
        let number = all.len();
        let mut random = Random::new(seed, number as u64);
        // A project that is too small for a supervisor is one agent.
        let size = if left < SHARED { 1 } else { random.between(SHARED, 16).min(left) };
        all.push(project(number, size, &mut random));
        left -= size;
    }
    all
}

/// Agents in Agent Script, each a file. The same seed gives the same files.
#[must_use]
pub fn scripts(files: usize, seed: u64) -> Vec<Project> {
    let one = |number: usize| {
        let name = format!("script_{number:05}");
        let mut random = Random::new(seed, number as u64);
        let subagents = random.between(1, 4);
        let text = script::file(&name, subagents, &mut random);
        Project { files: vec![File { path: format!("{name}.agent"), text }], name }
    };
    (0..files).map(one).collect()
}

/// Bots in ADL, each of two files. The same seed gives the same bots.
#[must_use]
pub fn bots(count: usize, seed: u64) -> Vec<Project> {
    let one = |number: usize| {
        let mut random = Random::new(seed, number as u64);
        let agents = random.between(2, 6);
        bot(format!("bot_{number:05}"), agents, &mut random)
    };
    (0..count).map(one).collect()
}

fn bot(name: String, agents: usize, random: &mut Random) -> Project {
    let (agents, functions) = bot::files(agents, random);
    let files = [("agents.yml", agents), ("tools.py", functions)]
        .map(|(path, text)| File { path: path.to_owned(), text })
        .into();
    Project { name, files }
}

/// One project of `documents` documents.
#[must_use]
pub fn project_of(documents: usize, seed: u64) -> Project {
    project(0, documents, &mut Random::new(seed, 0))
}

/// One agent in Agent Script with the fewest subagents that make `lines` lines.
#[must_use]
pub fn script_of(lines: usize, seed: u64) -> String {
    let of = |subagents| script::file("large", subagents, &mut Random::new(seed, 0));
    (1..).map(of).find(|text| text.lines().count() >= lines).unwrap_or_default()
}

/// One bot in ADL with the fewest agents that make `lines` lines.
#[must_use]
pub fn bot_of(lines: usize, seed: u64) -> Project {
    let of = |agents| bot("large".to_owned(), agents, &mut Random::new(seed, 0));
    let long =
        |bot: &Project| bot.files.first().is_none_or(|file| file.text.lines().count() >= lines);
    (1..).map(of).find(long).unwrap_or_else(|| of(1))
}

/// A project of `size` documents: a tool library, a profile, a supervisor and its agents, or one agent.
fn project(number: usize, size: usize, random: &mut Random) -> Project {
    let mut documents = Vec::new();
    let shared = size >= SHARED;
    if shared {
        documents.push(File {
            path: "tools/records.tools.abl".to_owned(),
            text: agent::library(random),
        });
        documents.push(File {
            path: "behavior_profiles/on_the_phone.behavior_profile.abl".to_owned(),
            text: agent::profile(random),
        });
    }
    let specialists = size - documents.len() - usize::from(shared);
    let mut names = Vec::new();
    for index in 0..specialists {
        let subject = agent::Subject::new(index, shared, random);
        let (ending, text) = match random.below(20) {
            0..3 => ("yaml", agent::yaml(&subject, random)),
            3..12 => ("abl", flow::agent(&subject, random)),
            _ => ("abl", agent::gatherer(&subject, random)),
        };
        let path = format!("agents/{}.agent.{ending}", subject.name.to_lowercase());
        documents.push(File { path, text });
        names.push(subject);
    }
    let entry = if shared {
        let text = agent::supervisor(&names, random);
        documents.push(File { path: "agents/front_desk.agent.abl".to_owned(), text });
        "Front_Desk"
    } else {
        names.first().map_or("", |s| &s.name)
    };
    let manifest =
        format!("{{\n  \"name\": \"project_{number:05}\",\n  \"entry_agent\": \"{entry}\"\n}}\n");
    documents.push(File { path: "project.json".to_owned(), text: manifest });
    Project { name: format!("project_{number:05}"), files: documents }
}

#[cfg(test)]
mod tests {
    use super::projects;

    #[test]
    fn the_same_seed_gives_the_same_projects() {
        assert_eq!(projects(40, 7), projects(40, 7));
        assert_ne!(projects(40, 7), projects(40, 8));
        let few = projects(20, 7);
        assert_eq!(few.first(), projects(200, 7).first());
    }

    #[test]
    fn there_are_as_many_documents_as_asked_for() {
        for n in [0, 1, 5, 6, 37] {
            let all = projects(n, 1);
            let count =
                all.iter().flat_map(|p| &p.files).filter(|f| !f.path.ends_with(".json")).count();
            assert_eq!(count, n);
        }
    }

    #[test]
    fn most_files_are_of_usual_size() {
        let all = projects(400, 3);
        let sizes: Vec<usize> = all
            .iter()
            .flat_map(|p| &p.files)
            .filter(|f| f.path.starts_with("agents/"))
            .map(|f| f.text.len())
            .collect();
        let usual = sizes.iter().filter(|s| (900..=6500).contains(*s)).count();
        assert!(usual * 10 >= sizes.len() * 9, "{usual} of {}", sizes.len());
    }
}
