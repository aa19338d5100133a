//! The normal form of a program: a tree of values that can be compared with the tree of another
//! program.
//!
//! It is the JSON of the IR without the values that only identify where an agent comes from. Lists
//! are aligned by the names of their items, and every value has its span.

use agentir_diagnostics::{FileId, Span};
use agentir_expr::{Dialect, Name};
use agentir_ir::{Agent, ExecutionHints, Knowledge, LookupTable, Program, Question, Tool};
use agentir_ir_json::{Json, MARKED, Mode, PLACED, TEXT, to_value};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

mod differing;

pub use differing::{Difference, differences, value_differences};

/// A program in normal form.
#[derive(Debug)]
pub struct NormalizedProgram {
    root: Node,
    /// What each agent offers to the model or calls.
    offers: IndexMap<String, Offers>,
}

/// What the normal form of an agent leaves out and is noticed where it differs between agents of one dialect.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// The bindings that declarations repeat, by what they do. The model sees their names.
    pub(crate) bindings: IndexMap<String, Node>,
    /// The entries of extensions that repeat other fields and that emitters read, by their path in the agent.
    pub(crate) extensions: IndexMap<String, Node>,
}

/// What is compared of an agent beside its normal form: what it offers to the model or calls, and what is said apart.
#[derive(Debug)]
pub(crate) struct Offers {
    /// The tools that it declares, uses or calls, by name, wherever they are declared.
    pub(crate) tools: IndexMap<String, Node>,
    /// What the normal form leaves out.
    pub(crate) left_out: LeftOut,
    /// The dialect of the agent.
    dialect: Dialect,
}

/// A value with its span.
#[derive(Debug, Default)]
pub(crate) struct Node {
    kind: NodeKind,
    at: Option<Span>,
    /// A text with placeholders as its file has it, where AgentIR writes it otherwise.
    written: Option<String>,
}

impl From<NodeKind> for Node {
    fn from(kind: NodeKind) -> Self {
        Self { kind, ..Self::default() }
    }
}

#[derive(Debug)]
enum NodeKind {
    /// A string, number or Boolean, or an empty list that says something.
    Leaf(Value),
    List(Vec<Node>),
    Map(IndexMap<String, Node>),
}

impl Default for NodeKind {
    fn default() -> Self {
        Self::Map(IndexMap::new())
    }
}

/// Paths in the JSON of an agent that identify its origin and do not affect its behaviour.
const ORIGIN: &[&[&str]] = &[
    &["ir_version"],
    &["metadata", "dialect"],
    &["metadata", "language_version"],
    &["metadata", "source_hash"],
    &["metadata", "compiler_version"],
    // Listed for all agents together.
    &["tools"],
];

/// The fields of a binding that only name a transition which is also among the agent's handoffs,
/// delegates, triggers or completions: Agent Script names each of them.
const TRANSITION_FIELDS: &[&str] =
    &["name", "does", "to", "agent", "description", "available_when"];

/// The name of the first step, which is unnamed in ADL.
pub const ENTRY: &str = "(entry)";

impl NormalizedProgram {
    /// The normal form of `program`. Of the tools that several agents have under a name, that of the first agent is listed
    /// under the name alone.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        Self::with_tools(program, owned_tools(program).collect())
    }

    /// The same for programs whose agents need not be in the same order: the first of several agents is the first by name.
    #[must_use]
    pub fn in_any_order(program: &Program) -> Self {
        let mut tools: Vec<_> = owned_tools(program).collect();
        tools.sort_by(|(one, _), (other, _)| one.cmp(other));
        Self::with_tools(program, tools)
    }

    fn with_tools(program: &Program, owned: Vec<(String, &Tool)>) -> Self {
        let mut root = IndexMap::new();
        let mut agents = IndexMap::new();
        let mut offers: IndexMap<String, Offers> = IndexMap::new();
        // Where a tool is declared does not matter, and one that several declare is listed once. What others declare
        // under its name is listed with its owner.
        let mut tools: IndexMap<String, Node> = IndexMap::new();
        for (owner, tool) in owned {
            let name = tool.name.value.to_string();
            let declared = declared(tool);
            let is_free = |at: &str| tools.get(at).is_none_or(|first| first.equals(&declared));
            let own = format!("{name}@{owner}");
            let at = if is_free(&name) { Some(name) } else { None };
            let numbered = || (2..).map(|n| format!("{own} {n}")).find(|at| is_free(at));
            let at = at.or_else(|| is_free(&own).then(|| own.clone())).or_else(numbered);
            tools.entry(at.unwrap_or(own)).or_insert(declared);
        }
        for agent in program.agents() {
            let name = agent.metadata.name.value.to_string();
            let dialect = agent.metadata.dialect;
            let mut left_out = LeftOut::default();
            let with_data = with_data(program, agent);
            let mut root = node(&*with_data);
            keep_stated_hints(agent, &mut root);
            let root = normalize_agent(dialect, root, &mut left_out);
            let tools = offered_tools(program, agent);
            let offered = Offers { tools, left_out, dialect };
            offers.insert(name.clone(), offered);
            agents.insert(name, root);
        }
        root.insert("agents".to_owned(), map(agents));
        root.insert("tools".to_owned(), map(tools));
        let libraries = program.libraries.iter().filter_map(|library| {
            let mut library = node(library);
            library.remove(&["tools"]);
            (!library.is_empty()).then_some(library)
        });
        let libraries: Vec<Node> = libraries.collect();
        if !libraries.is_empty() {
            root.insert("libraries".to_owned(), NodeKind::List(libraries).into());
        }
        if let Some(entry) = program.entry() {
            root.insert("entry".to_owned(), node(&entry.metadata.name));
        }
        if !program.remote_agents.is_empty() {
            root.insert("remote_agents".to_owned(), node(&program.remote_agents));
        }
        let profiles: IndexMap<_, _> =
            program.profiles.iter().map(|p| (p.name.value.to_string(), node(p))).collect();
        root.insert("profiles".to_owned(), map(profiles));
        if !program.extensions.is_empty() {
            root.insert("settings".to_owned(), node(&program.extensions));
        }
        let mut root = map(root);
        let taking: FxHashSet<&str> = program
            .tools()
            .filter(|tool| !tool.parameters.is_empty())
            .map(|tool| tool.name.value.as_str())
            .collect();
        remove_empty_arguments(&mut root, &taking);
        Self { root, offers }
    }

    /// The number of values.
    #[must_use]
    pub fn size(&self) -> usize {
        let mut size = 0;
        walk(&self.root, &mut String::new(), None, &mut |_, _, _, _| size += 1);
        size
    }

    /// Visits every value with its path and span. A value without a span has the first span of the
    /// innermost enclosing value that has one.
    pub fn values<'n>(&'n self, found: &mut dyn FnMut(&str, &'n Value, Option<Span>)) {
        walk(&self.root, &mut String::new(), None, &mut |path, value, _, at| {
            found(path, value, at)
        });
    }

    /// Texts as their files have them, by path, where AgentIR writes them otherwise.
    #[must_use]
    pub fn written(&self) -> FxHashMap<String, &str> {
        let mut all = FxHashMap::default();
        walk(&self.root, &mut String::new(), None, &mut |path, _, written, _| {
            all.extend(written.map(|written| (path.to_owned(), written)));
        });
        all
    }
}

/// A tool, apart from what it searches.
fn declared(tool: &Tool) -> Node {
    let mut declared = node(tool);
    declared.remove(&["questions"]);
    declared
}

/// An agent with the data that lies beside the program: where it lies does not matter. The questions that its tools search
/// are what it knows, and the rows of a collection are those of its table.
fn with_data<'a>(program: &Program, agent: &'a Agent) -> Cow<'a, Agent> {
    let shared = program.libraries.iter().flat_map(|library| &library.tools);
    let shared =
        shared.filter(|tool| agent.use_tools.iter().any(|used| used.value == tool.name.value));
    let searched = agent.tools.iter().chain(shared).flat_map(|tool| &tool.questions);
    let searched: Vec<Question> = searched.cloned().collect();
    let is_loaded = |table: &LookupTable| table.collection().is_some() && table.has_rows();
    if searched.is_empty() && !agent.lookup_tables.values().any(is_loaded) {
        return Cow::Borrowed(agent);
    }
    let mut agent = agent.clone();
    if let Some(first) = searched.first() {
        let span = Span::new(first.span.file, 0, 0);
        let knowledge =
            agent.knowledge.get_or_insert_with(|| Knowledge { span, ..Knowledge::default() });
        knowledge.questions.extend(searched);
    }
    for table in agent.lookup_tables.values_mut().filter(|table| is_loaded(table)) {
        table.source = Some("inline");
        table.table_name = None;
    }
    Cow::Owned(agent)
}

/// All declared tools with their owners: agents, then libraries, then profiles.
fn owned_tools(program: &Program) -> impl Iterator<Item = (String, &Tool)> {
    let own = program.agents().flat_map(|agent| {
        agent.tools.iter().map(|tool| (agent.metadata.name.value.to_string(), tool))
    });
    // Libraries have no names, and their order is that of their files.
    let shared = program.libraries.iter().flat_map(|library| &library.tools);
    let shared = shared.map(|tool| ("library".to_owned(), tool));
    let profiles = program.profiles().chain(program.agents().flat_map(|a| &a.behavior_profiles));
    let added = profiles.flat_map(|profile| {
        profile.tools_add.iter().map(|tool| (format!("profile {}", profile.name.value), tool))
    });
    own.chain(shared).chain(added)
}

/// The tools that an agent declares, uses or calls, as they are declared.
fn offered_tools(program: &Program, agent: &Agent) -> IndexMap<String, Node> {
    let mut all: IndexMap<String, Node> = IndexMap::new();
    for tool in &agent.tools {
        all.entry(tool.name.value.to_string()).or_insert_with(|| declared(tool));
    }
    let mut used: Vec<&Name> = agent.use_tools.iter().map(|tool| &tool.value).collect();
    agent.walk(&mut |part| match part {
        agentir_ir::Node::Call(call) => used.push(&call.tool.value),
        agentir_ir::Node::Tool(tool, _) => used.push(&tool.value),
        _ => {}
    });
    for used in used {
        let mut shared = program.libraries.iter().flat_map(|library| &library.tools);
        if let Some(tool) = shared.find(|tool| tool.name.value == *used) {
            all.entry(used.to_string()).or_insert_with(|| declared(tool));
        }
    }
    all
}

/// Removes the execution hints that follow from the rest of the agent.
fn keep_stated_hints(agent: &Agent, root: &mut Node) {
    let NodeKind::Map(derived) = node(&ExecutionHints::of(agent)).kind else { return };
    for (key, hint) in &derived {
        let path = ["execution", "hints", key.as_str()];
        let stated = path.iter().try_fold(&*root, |node, key| node.get(key));
        if stated.is_some_and(|stated| stated.equals(hint)) {
            root.remove(&path);
        }
    }
}

fn map(map: IndexMap<String, Node>) -> Node {
    NodeKind::Map(map).into()
}

fn node(value: &impl Json) -> Node {
    of_json(to_value(value, Mode::WithSpans)).unwrap_or_default()
}

/// Keys whose empty list says something else than their absence: a call passes nothing, rather than the variables named
/// like the parameters; a zone has no tools, rather than all.
const SAID_IF_EMPTY: &[&str] = &["with", "available_tools"];

/// The value of a key, also if it is an empty list that says something.
fn field(key: &str, json: Value) -> Option<Node> {
    match json {
        Value::Array(items) if items.is_empty() && SAID_IF_EMPTY.contains(&key) => {
            Some(NodeKind::Leaf(Value::Array(items)).into())
        }
        json => of_json(json),
    }
}

/// Removes the empty arguments of calls of tools that are not `taking` any: there, they say nothing.
fn remove_empty_arguments(node: &mut Node, taking: &FxHashSet<&str>) {
    let tool = node.get("tool").and_then(Node::text);
    let says = tool.is_some_and(|tool| taking.contains(tool));
    if !says && matches!(node.get("with").map(|with| &with.kind), Some(NodeKind::Leaf(_))) {
        node.remove(&["with"]);
    }
    match &mut node.kind {
        NodeKind::Leaf(_) => {}
        NodeKind::List(items) => {
            items.iter_mut().for_each(|item| remove_empty_arguments(item, taking));
        }
        NodeKind::Map(fields) => {
            fields.values_mut().for_each(|field| remove_empty_arguments(field, taking));
        }
    }
}

/// Free-form data, of which nothing is left out.
fn of_data(json: Value) -> Node {
    let kind = match json {
        Value::Array(items) if !items.is_empty() => {
            NodeKind::List(items.into_iter().map(of_data).collect())
        }
        Value::Object(fields) if !fields.is_empty() => {
            NodeKind::Map(fields.into_iter().map(|(key, value)| (key, of_data(value))).collect())
        }
        leaf => NodeKind::Leaf(leaf),
    };
    kind.into()
}

/// Null and empty values are left out, but for [`SAID_IF_EMPTY`] and those of free-form data.
fn of_json(json: Value) -> Option<Node> {
    let kind = match json {
        Value::Null => return None,
        Value::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(of_json).collect();
            if items.is_empty() {
                return None;
            }
            NodeKind::List(items)
        }
        Value::Object(mut fields) => {
            let [value_key, span_key] = PLACED;
            if let (true, Some(value)) = (fields.contains_key(span_key), fields.remove(value_key)) {
                let at = fields.remove(span_key).and_then(|at| span(&at));
                return of_json(value).map(|node| Node { at: at.or(node.at), ..node });
            }
            if let (1, Some(data)) = (fields.len(), fields.get_mut(MARKED)) {
                return Some(of_data(data.take()));
            }
            if let (1, Some(text)) = (fields.len(), fields.get_mut(TEXT)) {
                let Value::Array(texts) = text.take() else { return None };
                let mut texts = texts.into_iter();
                let (shared, written) = (texts.next()?, texts.next());
                let written = written.and_then(|text| text.as_str().map(str::to_owned));
                return Some(Node { written, ..NodeKind::Leaf(shared).into() });
            }
            let mut fields: IndexMap<_, _> = fields
                .into_iter()
                .filter_map(|(k, v)| {
                    let node = field(&k, v)?;
                    Some((k, node))
                })
                .collect();
            if fields.is_empty() {
                return None;
            }
            sort_by_names(&mut fields);
            NodeKind::Map(fields)
        }
        leaf => NodeKind::Leaf(leaf),
    };
    Some(kind.into())
}

/// The lists in which what is passed goes by its names, in any order, with the key that names an item. Arguments are
/// those of an object with a tool: what a tool of the model collects is asked for in its order.
const PASSED: &[(&str, &str)] = &[("with", "name"), ("pass", "name"), ("bindings", "variable")];

/// Sorts what is passed by its names; what has none goes by its place before the others.
fn sort_by_names(fields: &mut IndexMap<String, Node>) {
    let calls = fields.contains_key("tool");
    for (list, key) in PASSED.iter().filter(|(list, _)| calls || *list != "with") {
        let Some(NodeKind::List(items)) = fields.get_mut(*list).map(|list| &mut list.kind) else {
            continue;
        };
        let name = |item: &Node| {
            item.get(key).and_then(Node::text).or_else(|| item.text()).map(str::to_owned)
        };
        if items.is_sorted_by_key(|item| name(item).is_some()) {
            items.sort_by_key(name);
        }
    }
}

fn span(at: &Value) -> Option<Span> {
    let number = |i: usize| at.get(i)?.as_u64().and_then(|n| u32::try_from(n).ok());
    Some(Span::new(FileId(number(0)?), number(1)?, number(2)?))
}

/// All spans in JSON that was serialized with spans.
pub(crate) fn spans_in(json: &Value, found: &mut Vec<Span>) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| spans_in(item, found)),
        Value::Object(fields) => {
            let [value_key, span_key] = PLACED;
            match (fields.get(value_key), fields.get(span_key)) {
                (Some(value), Some(at)) => {
                    found.extend(span(at));
                    spans_in(value, found);
                }
                _ => fields.values().for_each(|value| spans_in(value, found)),
            }
        }
        _ => {}
    }
}

impl Node {
    fn get(&self, key: &str) -> Option<&Self> {
        match &self.kind {
            NodeKind::Map(fields) => fields.get(key),
            _ => None,
        }
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.kind {
            NodeKind::Map(fields) => fields.get_mut(key),
            _ => None,
        }
    }

    /// Whether the values are equal, wherever they are.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (NodeKind::Leaf(one), NodeKind::Leaf(other)) => one == other,
            (NodeKind::List(items), NodeKind::List(others)) => {
                items.len() == others.len()
                    && items.iter().zip(others).all(|(one, other)| one.equals(other))
            }
            (NodeKind::Map(fields), NodeKind::Map(others)) => {
                fields.len() == others.len()
                    && fields
                        .iter()
                        .all(|(key, one)| others.get(key).is_some_and(|other| one.equals(other)))
            }
            _ => false,
        }
    }

    fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Leaf(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn is_empty(&self) -> bool {
        match &self.kind {
            NodeKind::Leaf(_) => false,
            NodeKind::List(items) => items.is_empty(),
            NodeKind::Map(fields) => fields.is_empty(),
        }
    }

    /// Removes the value at a path, and the maps that are empty without it.
    fn remove(&mut self, path: &[&str]) -> Option<Self> {
        let (Some((first, rest)), NodeKind::Map(fields)) = (path.split_first(), &mut self.kind)
        else {
            return None;
        };
        if rest.is_empty() {
            return fields.shift_remove(*first);
        }
        let inner = fields.get_mut(*first)?;
        let removed = inner.remove(rest);
        if inner.is_empty() {
            fields.shift_remove(*first);
        }
        removed
    }
}

/// The lists of constructs that say whether they repeat another one.
const REPETITIONS: &[(&[&str], &str)] = &[
    (&["coordination", "handoffs"], "repeats_binding"),
    (&["coordination", "delegates"], "repeats_binding"),
    (&["coordination", "escalation", "triggers"], "repeats_binding"),
    (&["completion", "conditions"], "repeats_binding"),
    (&["routing", "rules"], "continues"),
];

/// What declarations do, where they are, and the field of whom they do it to.
const DECLARATIONS: &[(&str, &[&str], Option<&str>)] = &[
    ("handoff", &["coordination", "handoffs"], Some("to")),
    ("delegate", &["coordination", "delegates"], Some("agent")),
    ("escalate", &["coordination", "escalation", "triggers"], None),
    ("complete", &["completion", "conditions"], None),
];

/// The declarations of an agent, by what they do, and to whom.
type Declared<'a> = FxHashMap<(&'static str, Option<&'a str>), Vec<&'a Node>>;

fn declarations(agent: &Node) -> Declared<'_> {
    let mut all = Declared::default();
    for (does, list, target) in DECLARATIONS {
        let list = list.iter().try_fold(agent, |node, key| node.get(key));
        let Some(NodeKind::List(items)) = list.map(|list| &list.kind) else { continue };
        for item in items {
            let target = target.and_then(|target| item.get(target)).and_then(Node::text);
            all.entry((does, target)).or_default().push(item);
        }
    }
    all
}

/// Whether a declaration of the agent says what a binding does, and when.
fn is_declared(declared: &Declared<'_>, binding: &Node) -> bool {
    let does = binding.get("does").and_then(Node::text);
    let Some((does, _, target)) = DECLARATIONS.iter().find(|(name, ..)| Some(*name) == does) else {
        // What it collects is declared by its own fields.
        return true;
    };
    let target = target.and_then(|target| binding.get(target)).and_then(Node::text);
    declared.get(&(*does, target)).into_iter().flatten().any(|item| {
        let when = item.get("when");
        let words = when.and_then(|when| when.get("natural").or(Some(when)));
        let is_there = |key: &str, said: Option<&Node>| {
            binding.get(key).is_none_or(|value| said.is_some_and(|said| said.equals(value)))
        };
        is_there("available_when", when) && is_there("description", words)
    })
}

/// Takes the bindings that declarations repeat: only some languages have both. `into` gets them by what they do.
fn take_declared_bindings(agent: &mut Node, into: &mut IndexMap<String, Node>) {
    let bindings = agent.get_mut("reasoning").and_then(|r| r.get_mut("bindings"));
    let Some(NodeKind::List(bindings)) = bindings.map(|bindings| &mut bindings.kind) else {
        return;
    };
    let bindings = std::mem::take(bindings);
    let mut kept = Vec::new();
    let declared = declarations(agent);
    // How often something was done.
    let mut counts: FxHashMap<String, usize> = FxHashMap::default();
    for binding in bindings {
        let says = |key: &str| binding.get(key).and_then(Node::text).unwrap_or_default();
        let only_transition = match &binding.kind {
            NodeKind::Map(fields) => fields.keys().all(|k| TRANSITION_FIELDS.contains(&k.as_str())),
            _ => false,
        };
        if says("does") == "call" || !only_transition || !is_declared(&declared, &binding) {
            kept.push(binding);
            continue;
        }
        let does = format!("{} {}{}", says("does"), says("to"), says("agent"));
        let mut key = does.trim_end().to_owned();
        let count = counts.entry(key.clone()).or_insert(1);
        while into.contains_key(&key) {
            *count += 1;
            key = format!("{} {count}", does.trim_end());
        }
        into.insert(key, binding);
    }
    if kept.is_empty() {
        agent.remove(&["reasoning", "bindings"]);
    } else if let Some(list) = agent.get_mut("reasoning").and_then(|r| r.get_mut("bindings")) {
        list.kind = NodeKind::List(kept);
    }
}

fn normalize_agent(dialect: Dialect, mut agent: Node, left_out: &mut LeftOut) -> Node {
    for (path, key) in REPETITIONS {
        let list = path.iter().try_fold(&mut agent, |node, key| node.get_mut(key));
        if let Some(NodeKind::List(items)) = list.map(|list| &mut list.kind) {
            items.iter_mut().for_each(|item| {
                item.remove(&[key]);
            });
        }
    }
    for path in ORIGIN {
        agent.remove(path);
    }
    for key in dialect.redundant_extensions() {
        let is_read = dialect.extension_words().iter().any(|(read, _)| read == key);
        if let Some(data) = agent.remove(&["extensions", dialect.id(), key])
            && is_read
        {
            left_out.extensions.insert(format!("extensions.{}.{key}", dialect.id()), data);
        }
    }
    take_declared_bindings(&mut agent, &mut left_out.bindings);
    if let Some(flow) = agent.get_mut("flow") {
        // Nobody has to say that the model does not lead.
        if let Some(NodeKind::Map(steps)) = flow.get_mut("definitions").map(|d| &mut d.kind) {
            steps.values_mut().for_each(remove_default_reasoning);
        }
        let entry = merge_entry_steps(flow);
        if let (Some(entry), Some(NodeKind::Map(steps))) =
            (entry, flow.get_mut("definitions").map(|d| &mut d.kind))
        {
            if let Some(step) = steps.shift_remove(&entry) {
                steps.shift_insert(0, ENTRY.to_owned(), step);
            }
            rename(flow, &entry);
        }
    }
    agent
}

/// A step that does not say whether the model leads it is scripted, unless it has a zone.
fn remove_default_reasoning(step: &mut Node) {
    let says_no = step.get("reasoning").map(|r| &r.kind);
    if matches!(says_no, Some(NodeKind::Leaf(Value::Bool(false))))
        && step.get("reasoning_zone").is_none()
    {
        step.remove(&["reasoning"]);
    }
}

/// Merges a first step that only jumps to another into that step and returns its name. Languages in
/// which the first step is unnamed need the jump to return to it.
fn merge_entry_steps(flow: &mut Node) -> Option<String> {
    let mut entry = flow.get("entry_point").and_then(Node::text)?.to_owned();
    while let Some(NodeKind::Map(steps)) = flow.get_mut("definitions").map(|d| &mut d.kind) {
        let Some(NodeKind::Map(fields)) = steps.get(&entry).map(|s| &s.kind) else { break };
        let next = fields.get("then").and_then(Node::text).map(str::to_owned);
        let Some(next) = next.filter(|n| *n != entry && steps.contains_key(n)) else { break };
        if fields.keys().any(|k| k != "then" && k != "name") {
            break;
        }
        steps.shift_remove(&entry);
        if let Some(NodeKind::List(names)) = flow.get_mut("steps").map(|s| &mut s.kind) {
            names.retain(|name| name.text() != Some(&entry));
        }
        rename(flow, &entry);
        entry = next;
    }
    if let Some(at) = flow.get_mut("entry_point") {
        at.kind = NodeKind::Leaf(Value::from(entry.as_str()));
    }
    Some(entry)
}

fn rename(node: &mut Node, name: &str) {
    match &mut node.kind {
        NodeKind::Leaf(Value::String(text)) if text == name => ENTRY.clone_into(text),
        NodeKind::Leaf(_) => {}
        NodeKind::List(items) => items.iter_mut().for_each(|n| rename(n, name)),
        NodeKind::Map(fields) => fields.values_mut().for_each(|n| rename(n, name)),
    }
}

/// The fields that can name the items of a list, by preference.
const NAMES: &[&str] = &["name", "variable", "to", "agent", "id", "action_id", "tool", "intent"];

/// The field that identifies the items of a list, if all of them have it with distinct values.
fn key_of(items: &[Node]) -> Option<&'static str> {
    NAMES.iter().copied().find(|key| {
        let mut seen = rustc_hash::FxHashSet::default();
        items.iter().all(|item| item.get(key).and_then(Node::text).is_some_and(|t| seen.insert(t)))
    })
}

fn index(at: &mut String, key: Option<&str>, item: &Node, i: usize) {
    let _ = match key.and_then(|key| item.get(key)).and_then(Node::text) {
        Some(name) => write!(at, "[{name}]"),
        None => write!(at, "[{i}]"),
    };
}

/// Gets the path of a value, the value, the text as its file has it, and the span.
type Visitor<'v, 'n> = dyn FnMut(&str, &'n Value, Option<&'n str>, Option<Span>) + 'v;

fn walk<'n>(node: &'n Node, at: &mut String, span: Option<Span>, found: &mut Visitor<'_, 'n>) {
    // A value without a span inherits the nearest one.
    let span = first_span(node).or(span);
    if let NodeKind::Leaf(value) = &node.kind {
        found(at, value, node.written.as_deref(), span);
    }
    each_child(node, at, &mut |child, at| walk(child, at, span, found));
}

/// Visits what is in a list or a map, each with its path.
fn each_child<'n>(node: &'n Node, at: &mut String, visit: &mut dyn FnMut(&'n Node, &mut String)) {
    let length = at.len();
    match &node.kind {
        NodeKind::Leaf(_) => {}
        NodeKind::List(items) => {
            let key = key_of(items);
            for (i, item) in items.iter().enumerate() {
                index(at, key, item, i);
                visit(item, at);
                at.truncate(length);
            }
        }
        NodeKind::Map(fields) => {
            for (key, inner) in fields {
                if !at.is_empty() {
                    at.push('.');
                }
                at.push_str(key);
                visit(inner, at);
                at.truncate(length);
            }
        }
    }
}

fn first_span(node: &Node) -> Option<Span> {
    node.at.or_else(|| match &node.kind {
        NodeKind::Leaf(_) => None,
        NodeKind::List(items) => items.iter().find_map(|n| n.at),
        NodeKind::Map(fields) => fields.values().find_map(|n| n.at),
    })
}
