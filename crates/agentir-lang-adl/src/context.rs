//! What stands at an offset of an agent file, and what may be written there.
//!
//! The reader reads a copy of the text with a marker at the offset, and decides the type of the agent; the entries that
//! the marker is in lead through the tables to it.

use crate::dialect::ADL;
use crate::docs;
use crate::inline::{Adl, EntryPoint};
use crate::schema::{self, AgentKind, FIELDS, FieldDef, FieldType, Standing, VERBS};
use crate::tree::Agent;
use crate::{config, reader};
use agentir_diagnostics::{FileId, Span};
use agentir_expr::dialect::Entry as Beginning;
use agentir_syntax::context::{
    Context, Cursor, Expected, ExpectedKind, FieldContext, MARKER, Marked, NameKind, Position,
    RecordContext, Shape, ends_in_string, in_words, open_placeholder, qualifier,
};
use agentir_syntax::inline::following::add_following;
use agentir_syntax::outline::{Entry, EntryKind, Key, Outline, parse_yaml};
use smol_str::SmolStr;

const FILE: FileId = FileId(0);

/// What stands at an offset of the agents of a bot.
pub(crate) fn agents(text: &str, offset: u32) -> Option<Context> {
    answer(text, offset, |search, outline| search.agents(outline))
}

/// What stands at an offset of the settings of a bot.
pub(crate) fn settings(text: &str, offset: u32) -> Option<Context> {
    answer(text, offset, |search, outline| search.settings(outline))
}

fn answer(
    text: &str,
    offset: u32,
    ask: impl Fn(&mut Search<'_, '_>, &Outline<'_>) -> Option<()>,
) -> Option<Context> {
    let cursor = whole_word(Cursor::new(text, offset)?);
    cursor.marked().find_map(|marked| {
        let outline = parse_yaml(FILE, &marked.text, &mut Vec::new());
        if outline.comments.iter().any(|comment| marked.is_in(*comment)) {
            return None;
        }
        let context = Context::new(cursor.word(FILE));
        let mut search = Search { cursor: &cursor, marked: &marked, context };
        ask(&mut search, &outline)?;
        Some(search.context)
    })
}

/// The verb `else if` and the types of agents have two words.
fn whole_word(cursor: Cursor<'_>) -> Cursor<'_> {
    let before = cursor.content_before();
    let word = cursor.word(FILE).range();
    let start = match before.strip_prefix("type:") {
        Some(value) => word.start - value.trim_start().len(),
        None if before.trim_end() == "else" && before.len() > 4 => word.start - before.len(),
        None => return cursor,
    };
    let end = match cursor.after().strip_prefix(" agent") {
        Some(rest) if rest.trim().is_empty() => word.end + " agent".len(),
        _ => word.end,
    };
    cursor.with_word(start..end)
}

struct Search<'c, 't> {
    cursor: &'c Cursor<'t>,
    marked: &'c Marked,
    context: Context,
}

impl Search<'_, '_> {
    fn settings(&mut self, outline: &Outline<'_>) -> Option<()> {
        let entry = self.at(&outline.entries)?;
        self.push("settings", None, entry);
        let EntryKind::Pair { key, .. } = &entry.kind else { return Some(()) };
        if self.is_marker(key) {
            for (name, is_switch, is_nested) in config::settings() {
                if !has(&outline.entries, name) {
                    let shape = match (is_switch, is_nested) {
                        (true, _) => Shape::Boolean,
                        (_, true) => Shape::Data,
                        _ => Shape::Text,
                    };
                    self.key(name, &[shape], is_nested, false);
                }
            }
        } else if let Some((name, true, _)) =
            config::settings().find(|(name, ..)| *name == key.text)
        {
            self.field(name, key, &[Shape::Boolean], false);
            self.words(&["true", "false"]);
        } else {
            self.context.position = Position::Value;
        }
        Some(())
    }

    fn agents(&mut self, outline: &Outline<'_>) -> Option<()> {
        let entry = self.at(&outline.entries)?;
        let EntryKind::Pair { key, children, .. } = &entry.kind else {
            self.context.position = Position::Value;
            return Some(());
        };
        if self.is_marker(key) {
            if let Beginning::Named(name) = ADL.traits().entry
                && !has(&outline.entries, name)
            {
                self.key(name, &[Shape::Record("agent")], true, true);
            }
            return Some(());
        }
        let document = reader::read(outline, &mut Vec::new());
        let agent = document.agents.iter().find(|agent| self.marked.is_in(agent.span));
        let kind = agent.and_then(|agent| agent.kind);
        self.push(kind.map_or("agent", AgentKind::name), Some(key), entry);
        let Some(child) = self.at(children) else {
            self.context.position = Position::Value;
            return Some(());
        };
        let EntryKind::Pair { key, children: below, .. } = &child.kind else {
            self.fields(kind, agent);
            return Some(());
        };
        if self.is_marker(key) {
            self.fields(kind, agent);
            return Some(());
        }
        match schema::by_key(key.text) {
            Some(def) => self.value(def, kind, key, child, below),
            // A subflow.
            None => self.steps(below, "subflow", Some(key), child),
        }
        Some(())
    }

    /// Adds the fields that an agent may have and lacks.
    fn fields(&mut self, kind: Option<AgentKind>, agent: Option<&Agent<'_>>) {
        for def in FIELDS {
            let standing = kind.map(|kind| def.of(kind));
            // The paper defines the language.
            let is_allowed = !matches!(standing, Some(Standing::MicaOnly | Standing::Unknown))
                && def
                    .standing
                    .iter()
                    .any(|one| !matches!(one, Standing::MicaOnly | Standing::Unknown));
            let is_written = agent.is_some_and(|agent| agent.field(def.name).is_some());
            if is_allowed && !is_written {
                let required = standing == Some(Standing::Required);
                self.key(def.name, &shapes(def), def.is_nested(), required);
            }
        }
    }

    fn value(
        &mut self,
        def: &'static FieldDef,
        kind: Option<AgentKind>,
        key: &Key<'_>,
        entry: &Entry<'_>,
        below: &[Entry<'_>],
    ) {
        let required = kind.is_some_and(|kind| def.of(kind) == Standing::Required);
        self.field(def.name, key, &shapes(def), required);
        match def.field_type {
            FieldType::Type => {
                let names = AgentKind::ALL.map(AgentKind::name);
                self.words(&names);
            }
            FieldType::Steps => self.steps(below, "steps", None, entry),
            FieldType::Faq => {
                if let Some(item) = self.at(below) {
                    self.push("question", None, item);
                    self.keys(item.children(), &[("q", Shape::Text), ("a", Shape::Text)]);
                }
            }
            FieldType::Members => self.member(below),
            FieldType::Policy => self.words(&["default"]),
            _ => {
                self.context.qualifier = qualifier(self.cursor.before());
            }
        }
    }

    /// An agent of an ensemble.
    fn member(&mut self, members: &[Entry<'_>]) {
        let Some(item) = self.at(members) else { return };
        let Some(EntryKind::Pair { key, children, .. }) = self.at(item.children()).map(|e| &e.kind)
        else {
            return;
        };
        if self.is_marker(key) {
            return;
        }
        self.push("agent of an ensemble", Some(key), item);
        self.context.field = None;
        self.context.shapes.clear();
        match self.at(children).map(|entry| &entry.kind) {
            Some(EntryKind::Pair { key, children, .. }) if !self.is_marker(key) => {
                self.field("args", key, &[Shape::Name(NameKind::Parameter)], false);
                self.context.tool =
                    self.context.records.last().and_then(|member| member.key.clone());
                self.binding(children);
            }
            _ => self.keys(children, &[("args", Shape::Record("arguments"))]),
        }
    }

    /// Adds those keys that a record has not.
    fn keys(&mut self, written: &[Entry<'_>], keys: &[(&'static str, Shape)]) {
        let own = self.at(written).map(|entry| &entry.kind);
        match own {
            Some(EntryKind::Pair { key, .. }) if !self.is_marker(key) => {
                let found = keys.iter().find(|(name, _)| *name == key.text);
                if let Some((name, shape)) = found {
                    self.field(name, key, &[*shape], false);
                }
            }
            _ => {
                self.context.position = Position::Key;
                self.context.field = None;
                self.context.shapes.clear();
                for (name, shape) in keys {
                    if !has(written, name) {
                        self.key(name, &[*shape], matches!(shape, Shape::Record(_)), true);
                    }
                }
            }
        }
    }

    /// A name and its value, below `args` and `set`.
    fn binding(&mut self, entries: &[Entry<'_>]) {
        let below = |entry: &Entry<'_>| match &entry.kind {
            EntryKind::Pair { .. } => name_of(entry).into_iter().collect::<Vec<_>>(),
            EntryKind::Item { entries } => entries.iter().filter_map(name_of).collect(),
            _ => Vec::new(),
        };
        let given = entries.iter().flat_map(below);
        self.context.given = given.filter(|name| name != MARKER).collect();
        let mut entry = self.at(entries);
        if let Some(item) = entry.filter(|entry| matches!(entry.kind, EntryKind::Item { .. })) {
            entry = self.at(item.children());
        }
        if let Some(EntryKind::Pair { key, .. }) = entry.map(|entry| &entry.kind)
            && !self.is_marker(key)
        {
            self.context.shapes = vec![Shape::Name(NameKind::Variable), Shape::Expression];
            self.context.qualifier = qualifier(self.cursor.before());
            // A static value, as YAML has it.
            if self.context.qualifier.is_none() {
                self.context.add_words(ExpectedKind::Value, &["true", "false", "null"]);
            }
        }
    }

    /// A list of steps.
    fn steps(
        &mut self,
        entries: &[Entry<'_>],
        title: &'static str,
        key: Option<&Key<'_>>,
        whole: &Entry<'_>,
    ) {
        self.push(title, key, whole);
        self.context.field = None;
        self.context.position = Position::Key;
        self.context.shapes = vec![Shape::Record("step")];
        let Some(step) = self.at(entries) else { return self.verbs() };
        let own = match &step.kind {
            EntryKind::Item { entries } => entries.as_slice(),
            _ => std::slice::from_ref(step),
        };
        let Some(EntryKind::Pair { key, children, .. }) = self.at(own).map(|entry| &entry.kind)
        else {
            return self.verbs();
        };
        let verb = VERBS.iter().copied().find(|verb| has(own, verb));
        if self.is_marker(key) {
            let Some(verb) = verb else { return self.verbs() };
            self.push("step", None, step);
            self.context.shapes.clear();
            for name in schema::companion_keys(verb) {
                // Only MICA knows `tries` on conditions.
                let is_known = *name != "tries" || verb == "next";
                if is_known && !has(own, name) {
                    let required = *name == "then";
                    self.key(name, &step_shapes(name), is_nested(name), required);
                }
            }
            return;
        }
        let all = VERBS.iter().chain(schema::companion_keys(verb.unwrap_or_default()));
        let Some(name) = all.copied().find(|name| *name == key.text) else {
            self.context.position = Position::Value;
            self.context.shapes.clear();
            return;
        };
        self.push("step", None, step);
        self.field(name, key, &step_shapes(name), name == "then");
        let since = self.cursor.since(self.context.field.as_ref().map_or(0, |f| f.key.end));
        match name {
            "then" | "else" => self.steps(children, "steps", Some(key), step),
            "set" | "args" => {
                let called = own.iter().find_map(|entry| match &entry.kind {
                    EntryKind::Pair { key, value: Some(value), .. } if key.text == "call" => {
                        Some(value.to_smol())
                    }
                    _ => None,
                });
                self.context.tool = called;
                self.binding(children);
            }
            "return" => self.words(&["success", "error"]),
            "bot" => {
                if let Some(inner) = open_placeholder(since, "${", "}") {
                    self.context.qualifier = qualifier(inner);
                    self.context.shapes = vec![Shape::Expression];
                }
            }
            "if" | "else if" => self.condition(since),
            _ if ends_in_string(since) => self.context.shapes = vec![Shape::Text],
            _ => self.context.qualifier = qualifier(self.cursor.before()),
        }
    }

    /// A condition, of which this is written.
    fn condition(&mut self, since: &str) {
        let text = since.trim_start().strip_prefix(':').unwrap_or(since).trim_start();
        // It may be quoted as a whole.
        let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
        let inner = text.get(1..).filter(|inner| quote.is_some_and(|c| !inner.contains(c)));
        let text = inner.unwrap_or(text);
        self.context.shapes.clear();
        add_following::<Adl>(text, EntryPoint::Condition, &mut self.context);
    }

    fn verbs(&mut self) {
        let dash = if self.cursor.is_first_of_item() { "" } else { "- " };
        let user = Expected::word(ExpectedKind::Keyword, "user", "step");
        let user = user.inserting(format!("{dash}user")).documented(docs::doc("user"));
        self.context.expected.push(user);
        for verb in VERBS {
            let insert = self.inserted(verb, is_nested(verb));
            self.own_key(verb, &step_shapes(verb), false);
            let shape = in_words(&step_shapes(verb));
            let one = Expected::word(ExpectedKind::Field, *verb, shape);
            let one = one.inserting(format!("{dash}{insert}")).documented(docs::doc(verb));
            self.context.expected.push(one);
        }
    }

    /// Says which field the offset is in the value of.
    fn field(&mut self, name: &'static str, key: &Key<'_>, shapes: &[Shape], required: bool) {
        self.context.position = Position::Value;
        self.context.shapes = shapes.to_vec();
        self.set_field(name, self.marked.original(key.span), shapes, required);
    }

    /// Says that the key at the offset is this one, if it is.
    fn own_key(&mut self, name: &'static str, shapes: &[Shape], required: bool) {
        if self.cursor.word_text() == name {
            self.set_field(name, self.cursor.word(FILE), shapes, required);
        }
    }

    fn set_field(&mut self, name: &'static str, key: Span, shapes: &[Shape], required: bool) {
        let shape = in_words(shapes);
        let (doc, source) = docs::doc(name);
        self.context.field = Some(FieldContext { name, key, shape, doc, source, required });
    }

    fn words(&mut self, words: &[&'static str]) {
        let words = words.iter().map(|word| Expected::word(ExpectedKind::Value, *word, ""));
        self.context.expected.extend(words);
    }

    fn key(&mut self, name: &'static str, shapes: &[Shape], nested: bool, required: bool) {
        self.own_key(name, shapes, required);
        let insert = self.inserted(name, nested);
        let key = Expected::word(ExpectedKind::Field, name, in_words(shapes)).inserting(insert);
        let key = key.documented(docs::doc(name));
        self.context.expected.push(Expected { required, ..key });
    }

    fn inserted(&self, name: &str, nested: bool) -> String {
        match (self.cursor.has_colon(), nested) {
            (true, _) => name.to_owned(),
            (false, true) => format!("{name}:"),
            (false, false) => format!("{name}: "),
        }
    }

    fn push(&mut self, title: &'static str, key: Option<&Key<'_>>, entry: &Entry<'_>) {
        let key = key.map(|key| SmolStr::new(key.text));
        let span = self.marked.original(entry.span(FILE));
        self.context.records.push(RecordContext { title, key, span });
    }

    /// The entry that the marker is in.
    fn at<'e, 's>(&self, entries: &'e [Entry<'s>]) -> Option<&'e Entry<'s>> {
        entries.iter().find(|entry| self.marked.is_in(entry.span(FILE)))
    }

    fn is_marker(&self, key: &Key<'_>) -> bool {
        key.text == MARKER && self.marked.is_in(key.span)
    }
}

/// The key of an entry.
fn name_of(entry: &Entry<'_>) -> Option<SmolStr> {
    match &entry.kind {
        EntryKind::Pair { key, .. } => Some(SmolStr::new(key.text)),
        _ => None,
    }
}

/// Whether one of the entries has this key.
fn has(entries: &[Entry<'_>], name: &str) -> bool {
    entries.iter().any(|e| matches!(&e.kind, EntryKind::Pair { key, .. } if key.text == name))
}

/// The shape of the value of a field.
pub(crate) fn shapes(def: &FieldDef) -> Vec<Shape> {
    let names = def.names.map_or(Shape::Text, Shape::Name);
    match def.field_type {
        FieldType::Type => vec![Shape::Text],
        FieldType::Text | FieldType::Prompt | FieldType::File => vec![Shape::Text],
        FieldType::Policy => vec![names, Shape::Text],
        FieldType::Names => vec![Shape::List, names],
        FieldType::Sources => vec![Shape::List, Shape::Text],
        FieldType::Faq => vec![Shape::List, Shape::Record("question")],
        FieldType::Steps => vec![Shape::List, Shape::Record("step")],
        FieldType::Members => vec![Shape::List, names],
    }
}

/// The shape of the value of a key of a step.
pub(crate) fn step_shapes(key: &str) -> Vec<Shape> {
    match key {
        "bot" => vec![Shape::Template],
        "if" | "else if" => vec![Shape::Expression],
        "next" => vec![Shape::Name(NameKind::Step)],
        "call" => vec![Shape::Name(NameKind::Agent), Shape::Name(NameKind::Tool)],
        "set" => vec![Shape::Name(NameKind::Variable)],
        "args" => vec![Shape::Name(NameKind::Parameter)],
        "tries" => vec![Shape::Number],
        "then" | "else" => vec![Shape::List, Shape::Record("step")],
        "return" => vec![Shape::Words(&["success", "error"])],
        _ => vec![Shape::Text],
    }
}

/// Whether the value of a key of a step is below it.
fn is_nested(key: &str) -> bool {
    matches!(key, "set" | "args" | "then" | "else")
}
