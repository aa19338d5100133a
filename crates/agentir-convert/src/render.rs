//! Renders the fidelity report as text and HTML. Its JSON is its own serialisation.

use crate::fidelity::{Entry, Report, Totals};
use crate::replays::{DifferingConversation, Replays};
use crate::todo::Todo;
use agentir_compare::{Comparison, Location};
use agentir_syntax::emit::{Preservation, Renamed, Task};
use askama::Template;
use indexmap::{IndexMap, IndexSet};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'r> {
    title: &'r str,
    totals: Totals,
    groups: Vec<Group<'r>>,
    /// The agents, for the filter.
    agents: Vec<&'r str>,
    /// How many things to do are in the JSON only.
    omitted: usize,
    renamed: &'r [Renamed],
    more_renamed: usize,
    statements: Vec<String>,
    differences: String,
    /// Conversations that differ.
    differing: &'r [DifferingConversation],
    comments: Vec<(String, &'r str)>,
    more_comments: usize,
}

/// The things to do of one urgency.
struct Group<'r> {
    task: Task,
    count: usize,
    items: Vec<&'r Todo>,
}

/// The bytes that the things to do may take in a page. Each takes its texts and some markup.
const MAX_PAGE: usize = 700_000;
/// The bytes of markup around a thing to do, and around one of its places.
const MARKUP: [usize; 2] = [500, 260];
/// The number of renamed names, and of comments, in a page.
const MAX_LISTED: usize = 200;

/// The bytes that a thing to do takes in a page, at least. Characters with a meaning in HTML take up to six.
fn page_size(todo: &Todo) -> usize {
    let of = |text: &str| {
        text.chars().map(|c| if "<>&\"'".contains(c) { 6 } else { c.len_utf8() }).sum()
    };
    let optional = |text: &Option<String>| text.as_deref().map_or(0, of);
    let [around, around_place] = MARKUP;
    let places = todo.places.iter().map(|place| {
        let locations = place.source.iter().chain(&place.target);
        let locations: usize = locations.map(|at| of(&at.file) + 12).sum();
        let texts =
            optional(&place.path) + optional(&place.source_text) + optional(&place.target_text);
        around_place + locations + texts
    });
    let texts = optional(&todo.agent) * 2 + optional(&todo.help) + optional(&todo.snippet);
    around + of(&todo.cause) + texts + places.sum::<usize>()
}

/// The groups of what is to be done, as far as a page has space for it, and the number of the other things.
fn groups(todos: &[Todo]) -> (Vec<Group<'_>>, usize) {
    let mut space = MAX_PAGE;
    let mut omitted = 0;
    let mut all: Vec<Group<'_>> = Vec::new();
    for todo in todos {
        let Some(left) = space.checked_sub(page_size(todo)) else {
            omitted += 1;
            continue;
        };
        space = left;
        if all.last().is_none_or(|group| group.task != todo.task) {
            all.push(Group { task: todo.task, count: 0, items: Vec::new() });
        }
        if let Some(group) = all.last_mut() {
            group.count += todo.count;
            group.items.push(todo);
        }
    }
    (all, omitted)
}

/// The names of the two programs of a conversion.
const PROGRAM_NAMES: [&str; 2] = ["source", "output"];

fn location(location: Option<&Location>) -> String {
    location.map_or_else(String::new, Location::to_string)
}

/// A value on one line, truncated.
fn short(value: &Value, most: usize) -> String {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        value => value.to_string(),
    };
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// The maximum number of files listed for a reason.
const MAX_FILES: usize = 3;
/// The maximum number of line ranges listed per file.
const MAX_LOCATIONS: usize = 8;

/// Why values are lost, and what can be done about it.
#[derive(PartialEq, Eq, Hash)]
struct Reason<'r> {
    preservation: Preservation,
    how: &'r str,
    help: Option<&'r str>,
}

impl<'r> Reason<'r> {
    fn of(entry: &'r Entry) -> Self {
        let how = entry.how.as_deref().unwrap_or_default();
        Self { preservation: entry.preservation, how, help: entry.help.as_deref() }
    }

    fn text(&self, out: &mut String, alike: &[&Entry]) {
        let Some(first) = alike.first() else { return };
        let (preservation, how) = (self.preservation.name(), self.how);
        let value = format!("{} (`{}`)", first.path, short(&first.value, 60));
        if alike.len() == 1 {
            let from = first.source.as_ref().map_or_else(String::new, |p| format!("{p}: "));
            let _ = writeln!(out, "{from}{preservation}: {value}: {how}");
        } else {
            let _ = writeln!(out, "{preservation}, {} values: {how}", alike.len());
            places(out, alike);
            if self.preservation == Preservation::Dropped {
                let _ = writeln!(out, "    the first is {value}");
            }
        }
    }
}

/// The locations of values, one line per file.
fn places(out: &mut String, alike: &[&Entry]) {
    let mut files: IndexMap<&str, BTreeSet<u32>> = IndexMap::new();
    for place in alike.iter().filter_map(|entry| entry.source.as_ref()) {
        files.entry(&place.file).or_default().insert(place.line);
    }
    for (file, lines) in files.iter().take(MAX_FILES) {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for line in lines {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == *line => *last = *line,
                _ => runs.push((*line, *line)),
            }
        }
        let run = |(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        let ranges: Vec<String> = runs.iter().take(MAX_LOCATIONS).map(run).collect();
        let more = if runs.len() > MAX_LOCATIONS { ", …" } else { "" };
        let _ = writeln!(out, "    {file}:{}{more}", ranges.join(", "));
    }
    if files.len() > MAX_FILES {
        let _ = writeln!(out, "    and {} more files", files.len() - MAX_FILES);
    }
}

/// A text in one line of Markdown, in which it has no markup of its own.
fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quoted = false;
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        quoted ^= c == '`';
        if !quoted && "\\*_<>[]#|".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Whether somebody has to look at it or do it: what is only said in another way, and has no help, is for information.
const fn is_open(todo: &Todo) -> bool {
    matches!(todo.task, Task::Must) || todo.help.is_some() || todo.rule.is_some()
}

/// A thing to do as an item of a list in Markdown.
fn item(out: &mut String, todo: &Todo) {
    let count = if todo.count > 1 { format!(" ({} places)", todo.count) } else { String::new() };
    let rule = todo.rule.map_or_else(String::new, |rule| format!(" [{rule}]"));
    let help = todo.help.as_ref().map_or_else(String::new, |help| format!(": {}", line(help)));
    // What is said of a value stands behind it.
    let code = |path: &str| format!("`{}`", path.replace('`', "'"));
    let first =
        todo.places.iter().find_map(|place| place.path.as_deref()).filter(|_| todo.rule.is_none());
    let first = first.map_or_else(String::new, |path| format!("{}: ", code(path)));
    let mark = if is_open(todo) { "[ ] " } else { "" };
    let _ = writeln!(out, "- {mark}{first}{}{rule}{help}{count}", line(&todo.cause));
    for place in todo.places.iter().take(MAX_LOCATIONS) {
        let path = place.path.as_deref().filter(|_| todo.count > 1).map(code);
        let source = place.source.as_ref().map(|at| format!("from {}", line(&at.to_string())));
        let target = place.target.as_ref().map(|at| format!("to {}", line(&at.to_string())));
        let parts: Vec<String> = path.into_iter().chain(source).chain(target).collect();
        if !parts.is_empty() {
            let _ = writeln!(out, "  - {}", parts.join(", "));
        }
    }
    if let Some(snippet) = &todo.snippet {
        let _ = writeln!(out, "\n  ```");
        for line in snippet.lines() {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
        let _ = writeln!(out, "  ```\n");
    }
}

impl Report {
    /// Renders the report as text. It lists only losses, most severe first, grouped by reason, and the first
    /// value that only the output has; the other formats list each value.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut reasons: IndexMap<Reason<'_>, Vec<&Entry>> = IndexMap::new();
        for entry in self.losses().filter(|entry| entry.task != Some(Task::Nothing)) {
            reasons.entry(Reason::of(entry)).or_default().push(entry);
        }
        // Group reasons with the same help, which is printed once.
        let helps: IndexSet<_> = reasons.keys().map(|r| (r.preservation, r.help)).collect();
        reasons.sort_by_key(|r, _| {
            (Reverse(r.preservation), helps.get_index_of(&(r.preservation, r.help)))
        });
        let mut reasons = reasons.iter().peekable();
        let mut together = 0;
        while let Some((reason, alike)) = reasons.next() {
            reason.text(&mut out, alike);
            together += 1;
            if reasons.peek().is_some_and(|(r, _)| {
                (r.preservation, r.help) == (reason.preservation, reason.help)
            }) {
                continue;
            }
            if let Some(help) = reason.help {
                let all = match together {
                    1 => String::new(),
                    n => format!(" for these {n} reasons"),
                };
                let _ = writeln!(out, "    help{all}: {help}");
            }
            together = 0;
        }
        for comment in self.dropped_comments() {
            let text = comment.text.lines().next().unwrap_or_default();
            let _ = writeln!(
                out,
                "{}: a comment has no place: {text}",
                location(Some(&comment.source))
            );
        }
        for Renamed { what, from, to, agent } in &self.renamed {
            let of = agent.as_ref().map_or_else(String::new, |agent| format!(" of `{agent}`"));
            let _ = writeln!(out, "renamed: the {what} `{from}`{of} is `{to}`");
        }
        if let Some(first) = self.added.first() {
            let value = format!("{} (`{}`)", first.path, short(&first.value, 60));
            let _ = match self.added.len() {
                1 => writeln!(out, "added: {value}"),
                count => writeln!(out, "added, {count} values: the first is {value}"),
            };
        }
        for todo in self.todo.iter().filter(|todo| todo.task == Task::Must) {
            let place = todo
                .places
                .iter()
                .find_map(|place| place.target.as_ref().or(place.source.as_ref()));
            let place = place.map_or_else(String::new, |at| format!("{at}: "));
            let _ = writeln!(out, "{place}must do: {}", todo.line());
        }
        for todo in self.todo.iter().filter(|todo| todo.task == Task::Look) {
            let Some(rule) = todo.rule else { continue };
            let more =
                if todo.count > 1 { format!(", {} times", todo.count) } else { String::new() };
            let place = todo.places.iter().find_map(|place| place.target.as_ref());
            let _ = writeln!(
                out,
                "{}: check of the output: {} ({rule}{more})",
                location(place),
                todo.cause
            );
        }
        if let Some(proof) = &self.proof {
            out.push_str(&proof.text(PROGRAM_NAMES));
            out.push_str(&proof.differing_values(PROGRAM_NAMES));
        }
        if let Some(replays) = &self.replays {
            out.push_str(&replays.text());
        }
        let _ = writeln!(out, "{}", self.totals);
        for statement in self.statements() {
            let _ = writeln!(out, "{statement}");
        }
        out
    }

    /// What was compared, and what was not.
    fn statements(&self) -> Vec<String> {
        let replays = self.replays.as_ref();
        let refuted = replays.is_some_and(|replays| replays.different() > 0);
        let proof = self.proof.as_ref();
        let mut all = proof.map_or_else(Vec::new, |proof| proof.statements("output"));
        if refuted && proof.is_some_and(Comparison::is_same) {
            // The last one says that both do the same.
            all.pop();
            all.push(
                "the proof and the replay contradict each other: please report this as a bug"
                    .to_owned(),
            );
        }
        all.extend(replays.map(Replays::statement));
        all
    }

    /// Whether somebody has to do something, or look at it.
    #[must_use]
    pub fn has_todos(&self) -> bool {
        self.todo.iter().any(|todo| todo.task != Task::Nothing)
    }

    /// Renders what is left to do as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out =
            format!("# What to do after the conversion to {}\n\n{}.\n", self.title, self.totals);
        let statements = self.statements();
        if !statements.is_empty() {
            out.push('\n');
        }
        for statement in statements {
            let _ = writeln!(out, "- {statement}");
        }
        for (task, open) in [(Task::Must, true), (Task::Look, true), (Task::Look, false)] {
            let mut agents: IndexMap<Option<&str>, Vec<&Todo>> = IndexMap::new();
            for todo in self.todo.iter().filter(|one| one.task == task && is_open(one) == open) {
                agents.entry(todo.agent.as_deref()).or_default().push(todo);
            }
            if agents.is_empty() {
                continue;
            }
            let title = if open { task.title() } else { "Said in another way" };
            let _ = writeln!(out, "\n## {title}");
            for (agent, todos) in agents {
                let title = agent.map_or_else(
                    || "The program".to_owned(),
                    |name| format!("Agent {}", line(name)),
                );
                let _ = writeln!(out, "\n### {title}\n");
                todos.into_iter().for_each(|todo| item(&mut out, todo));
            }
        }
        let unneeded: Vec<&Todo> =
            self.todo.iter().filter(|todo| todo.task == Task::Nothing).collect();
        if !unneeded.is_empty() {
            let mut causes: IndexMap<&str, usize> = IndexMap::new();
            for todo in unneeded {
                *causes.entry(&todo.cause).or_default() += todo.count;
            }
            let _ = writeln!(out, "\n## {}\n", Task::Nothing.title());
            for (cause, count) in causes {
                let _ = writeln!(out, "- {count} values: {}", line(cause));
            }
        }
        out
    }

    /// Renders the report as a self-contained HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        let (groups, omitted) = groups(&self.todo);
        let agents: IndexSet<&str> =
            groups.iter().flat_map(|g| &g.items).filter_map(|todo| todo.agent.as_deref()).collect();
        let differences = self.proof.as_ref().map_or_else(String::new, |p| {
            p.text(PROGRAM_NAMES) + &p.differing_values(PROGRAM_NAMES)
        });
        let renamed = self.renamed.get(..MAX_LISTED).unwrap_or(&self.renamed);
        let comments =
            self.dropped_comments().map(|c| (location(Some(&c.source)), c.text.as_str()));
        let comments: Vec<_> = comments.take(MAX_LISTED).collect();
        // Rendering a built-in template cannot fail.
        Page {
            title: self.title,
            totals: self.totals,
            groups,
            agents: agents.into_iter().collect(),
            omitted,
            more_renamed: self.renamed.len() - renamed.len(),
            renamed,
            statements: self.statements(),
            differences,
            differing: self.replays.as_ref().map_or(&[], |replays| &replays.differing),
            more_comments: self.dropped_comments().count() - comments.len(),
            comments,
        }
        .render()
        .unwrap_or_default()
    }
}
