//! Statements, and the expressions, references and texts in them.

use super::{FILE, Search};
use crate::inline::{AgentScript, EntryPoint};
use crate::outline::{Entry, EntryKind, Inline, Text, Word};
use crate::reader::statement::StatementContext;
use crate::schema::{COLLECT, FieldType, RecordType};
use agentir_diagnostics::Span;
use agentir_syntax::context::{
    Expected, ExpectedKind, MARKER, NameKind, Position, Shape, ends_in_string, open_placeholder,
    qualifier,
};
use agentir_syntax::inline::following::{add_following, top_argument};
use smol_str::SmolStr;

/// The namespaces of variables and actions.
const VARIABLES: &[&str] = &["variables"];
const ACTIONS: &[&str] = &["actions"];

impl Search<'_, '_> {
    /// Statements that the marker is in.
    pub(super) fn statements(&mut self, entries: &[Entry<'_>], context: StatementContext) {
        let Some(entry) = self.at(entries) else { return };
        self.context.position = Position::Value;
        self.context.shapes.clear();
        match &entry.kind {
            EntryKind::Pair { key, .. } if self.is_marker(key) => {
                self.context.field = None;
                self.keywords(entries, context);
            }
            EntryKind::Template(raw) => {
                self.context.field = None;
                self.template(raw.pipe + 1);
            }
            EntryKind::Statement { word, text } => {
                self.context.field = None;
                match self.at(&entry.children).is_some() {
                    true => self.below(*word, text, entry, context),
                    false => {
                        self.context.given = given(entries);
                        self.clause(*word, text.start);
                    }
                }
            }
            EntryKind::Conditional(branches) => {
                self.context.field = None;
                let branch = branches
                    .iter()
                    .find(|branch| self.marked.is_in(Span::new(FILE, branch.start, branch.end)));
                let Some(branch) = branch else { return };
                match self.at(&branch.body).is_some() {
                    true => self.statements(&branch.body, context),
                    false => {
                        let condition = self.before(branch.text.start);
                        self.context.result_of.clone_from(&self.context.tool);
                        self.expression(EntryPoint::Condition, condition);
                    }
                }
            }
            _ => self.context.field = None,
        }
    }

    /// What is nested below a statement.
    fn below(&mut self, word: Word, text: &Text<'_>, entry: &Entry<'_>, context: StatementContext) {
        match word {
            Word::Collect | Word::Ask => {
                self.within(&COLLECT, None, entry);
                self.record(&COLLECT, &entry.children);
            }
            Word::Run => {
                // Its inputs may be outputs of the call that it follows.
                self.context.result_of = self.context.tool.take();
                self.context.tool = member(text.raw, ACTIONS);
                self.statements(&entry.children, StatementContext::Callback);
            }
            Word::Transition => self.statements(&entry.children, StatementContext::Callback),
            _ => self.statements(&entry.children, context),
        }
    }

    /// What follows the keyword of a statement. `from` is where that begins.
    fn clause(&mut self, word: Word, from: u32) {
        let before = self.before(from);
        let words = before.trim();
        if !matches!(word, Word::With) {
            self.context.result_of.clone_from(&self.context.tool);
        }
        match word {
            Word::Set => match before.split_once('=') {
                Some((_, value)) => self.expression(EntryPoint::Placeholder, value),
                None => self.target(before),
            },
            Word::Run => self.reference_to(ACTIONS, before),
            Word::With => self.argument(before),
            Word::To => self.reference_to(self.dialect.targets(), before),
            Word::Transition => match words.strip_prefix("to") {
                Some(_) => self.reference_to(self.dialect.targets(), before),
                None => self.follow("to"),
            },
            Word::Available => match before.trim_start().strip_prefix("when") {
                Some(condition) => self.expression(EntryPoint::Placeholder, condition),
                None => self.follow("when"),
            },
            Word::Collect => self.reference_to(VARIABLES, before),
            Word::Ask => match words.strip_prefix("for") {
                Some(_) => self.reference_to(VARIABLES, before),
                None => self.follow("for"),
            },
            Word::StrayElse => self.expression(EntryPoint::Condition, before),
        }
    }

    /// The second word of a keyword.
    fn follow(&mut self, word: &'static str) {
        let one = Expected::word(ExpectedKind::Keyword, word, "");
        self.context.expected.push(one.inserting(format!("{word} ")));
    }

    /// `name = value`, after the comma that ends another.
    fn argument(&mut self, before: &str) {
        let last = top_argument(before);
        match last.split_once('=') {
            Some((_, value)) => self.expression(EntryPoint::Value, value),
            // The model sets variables by a tool of the platform.
            None if self.context.tool.as_deref() == Some("@utils.setVariables") => {
                self.context.tool = None;
                self.context.add_shape(Shape::Name(NameKind::Variable));
            }
            None => self.context.add_shape(Shape::Name(NameKind::Parameter)),
        }
    }

    // ---- tools of the model --------------------------------------------------------------------

    /// The tools that the model may use. Those of a connection are its response formats.
    pub(super) fn bindings(
        &mut self,
        ty: &'static RecordType,
        of_connection: bool,
        entries: &[Entry<'_>],
    ) {
        let Some(entry) = self.at(entries) else { return };
        let EntryKind::Pair { key, value } = &entry.kind else { return };
        if self.is_marker(key) || self.at(&entry.children).is_none() {
            return self.named(ty, entries, |search, _, from| search.bound(of_connection, from));
        }
        self.within(ty, Some(SmolStr::new(key.name)), entry);
        if let Inline::Text(text) = value {
            let sets = text.raw.starts_with("@utils.setVariables");
            let set = sets.then(|| SmolStr::new_static("@utils.setVariables"));
            self.context.tool = member(text.raw, ACTIONS).or(set);
        }
        let Some(child) = self.at(&entry.children) else { return };
        match &child.kind {
            EntryKind::Pair { key, .. } if self.is_marker(key) => {
                self.own_key(ty);
                self.fields(ty, &entry.children);
                self.keywords(&entry.children, StatementContext::Binding);
            }
            EntryKind::Pair { .. } => self.record(ty, &entry.children),
            _ => self.statements(&entry.children, StatementContext::Binding),
        }
        if self.context.tool.as_deref() == Some("@utils.setVariables") {
            self.context.tool = None;
        }
    }

    /// What a tool does.
    fn bound(&mut self, of_connection: bool, from: u32) {
        const FORMATS: &[&str] = &["response_formats"];
        const TARGETS: &[&str] = &["actions", "utils", "subagent", "connected_subagent"];
        let before = self.before(from).trim_start();
        self.context.shapes.clear();
        match before.strip_prefix("@utils.transition") {
            Some(rest) if rest.trim_start().starts_with("to") => {
                self.reference_to(self.dialect.targets(), rest);
            }
            Some(" ") => self.follow("to"),
            _ if of_connection => self.reference_to(FORMATS, before),
            _ => self.reference_to(TARGETS, before),
        }
    }

    // ---- expressions ---------------------------------------------------------------------------

    /// A reference with one of these namespaces.
    fn reference_to(&mut self, namespaces: &'static [&'static str], before: &str) {
        self.context.add_shape(Shape::Reference(namespaces));
        self.reference(before);
    }

    /// A reference, whose shape is known.
    pub(super) fn reference(&mut self, before: &str) {
        self.context.qualifier = qualifier(before);
        self.blocks();
    }

    /// What is set, up to its `=`.
    fn target(&mut self, before: &str) {
        if before.trim().is_empty() || qualifier(before).is_some() {
            self.reference_to(VARIABLES, before);
        } else {
            self.expression(EntryPoint::Set, before);
        }
    }

    /// An expression up to the marker.
    pub(super) fn expression(&mut self, entry_point: EntryPoint, before: &str) {
        self.expression_of(self.dialect.values(), entry_point, before);
    }

    /// An expression whose references have one of these namespaces, if any are listed.
    fn expression_of(
        &mut self,
        namespaces: &'static [&'static str],
        entry_point: EntryPoint,
        before: &str,
    ) {
        if ends_in_string(before) {
            self.context.add_shape(Shape::Template);
            return self.placeholder(before);
        }
        add_following::<AgentScript>(before, entry_point, &mut self.context);
        if self.context.takes_expression() {
            self.context.add_shape(Shape::Reference(namespaces));
        }
        self.blocks();
    }

    /// A text that begins at an offset.
    pub(super) fn template(&mut self, from: u32) {
        self.context.shapes = vec![Shape::Template];
        self.placeholder(self.before(from));
    }

    /// The placeholder of a text that the marker is in, if it is in one.
    pub(super) fn placeholder(&mut self, before: &str) {
        if let Some(inner) = open_placeholder(before, "{!", "}") {
            self.context.shapes.clear();
            // A text for the model also mentions its tools.
            self.expression_of(&[], EntryPoint::Placeholder, inner);
        }
    }

    /// Adds the names of the blocks that a reference with the namespace of a block may have.
    fn blocks(&mut self) {
        let Some(namespace) = self.context.qualifier.as_deref().and_then(|q| q.strip_prefix('@'))
        else {
            return;
        };
        let root = self.dialect.root();
        let Some(space) = root.field(namespace) else { return };
        let stands_for = |name: &str| {
            let Some(def) = root.field(name) else { return false };
            let same = match (def.field_type, space.field_type) {
                (FieldType::Named(one), FieldType::Named(other)) => std::ptr::eq(one, other),
                _ => false,
            };
            // The first subagent is one, and so is what was called a topic.
            let is_alias = def.singular || def.deprecated.is_some();
            std::ptr::eq(def, space) || (same && is_alias)
        };
        let kind = match space.name {
            "llm" | "connection" | "modality" | "skill_definitions" => ExpectedKind::Member,
            _ => ExpectedKind::Name(NameKind::Agent),
        };
        let mut names: Vec<Expected> = Vec::new();
        for entry in &self.outline.entries {
            let EntryKind::Pair { key, .. } = &entry.kind else { continue };
            if !stands_for(key.name) {
                continue;
            }
            match (space.field_type, key.instance) {
                (FieldType::Named(ty), Some(name)) => {
                    names.push(Expected::word(kind, name.raw, ty.name));
                }
                (FieldType::Collection(ty), _) if space.name != "actions" => {
                    let inner = entry.children.iter().filter_map(|child| match &child.kind {
                        EntryKind::Pair { key, .. } => Some(key.name),
                        _ => None,
                    });
                    names.extend(inner.map(|name| Expected::word(kind, name, ty.name)));
                }
                _ => {}
            }
        }
        self.context.expected.extend(names);
    }
}

/// The member of a reference with one of these namespaces that a text begins with.
fn member(text: &str, namespaces: &[&str]) -> Option<SmolStr> {
    let (namespace, rest) = text.trim_start().strip_prefix('@')?.split_once('.')?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    namespaces.contains(&namespace).then(|| rest.get(..end).map(SmolStr::new)).flatten()
}

/// The names of the inputs that statements give.
fn given(entries: &[Entry<'_>]) -> Vec<SmolStr> {
    let mut names = Vec::new();
    for entry in entries {
        let EntryKind::Statement { word: Word::With, text } = &entry.kind else { continue };
        let mut rest = text.raw;
        // From the last one to the first.
        while !rest.is_empty() {
            let last = top_argument(rest);
            let name = last.split('=').next().unwrap_or_default().trim().trim_matches('"');
            if !name.is_empty() && name != MARKER {
                names.push(SmolStr::new(name));
            }
            let before = rest.len() - last.len();
            rest = rest.get(..before.saturating_sub(1)).unwrap_or_default();
        }
    }
    names
}
