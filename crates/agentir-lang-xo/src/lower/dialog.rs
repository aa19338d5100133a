//! Lowers a dialog to an agent with a flow.

use super::condition::{Scope, condition};
use super::names::Namespace;
use super::{Context, builders, extensions, localized, nodes};
use crate::tables::{NODES, NodeKind};
use crate::{Json, Text};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Name, Template};
use agentir_ir::{
    Agent, AgentType, Body, Branch, Extensions, Flow, SessionVariable, Statement, Step, Target,
};
use agentir_syntax::rules;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// What must be known of a dialog before any dialog is lowered.
pub(super) struct Entry<'j> {
    /// The name of the agent.
    pub(super) name: Spanned<Name>,
    /// The component of the intent that starts the dialog.
    pub(super) intent: Option<&'j Json>,
    /// What the dialog does, if its author wrote it.
    pub(super) described: Option<&'j Text>,
    /// The id of the node that starts it.
    start_node: Option<&'j str>,
}

/// A node of the dialog or of a bot action.
pub(super) struct DialogNode<'j> {
    pub(super) json: &'j Json,
    pub(super) component: Option<&'j Json>,
    pub(super) kind: Option<NodeKind>,
    /// The name of its step.
    pub(super) step: Spanned<Name>,
    /// Its transitions.
    transitions: Option<&'j Json>,
    /// The enclosing bot action, whose transitions apply at its end and where the node has none.
    parent: Option<usize>,
    /// The first node inside, for a bot action.
    first: Option<usize>,
}

/// Registers the agent of a dialog under every name by which others refer to it.
pub(super) fn register<'j>(
    cx: &mut Context<'j, '_>,
    dialog: &'j Json,
    names: &mut Namespace,
) -> Entry<'j> {
    let id = dialog.peek("_id");
    let nodes = dialog.get("nodes").map_or(&[][..], Json::items);
    let intents = nodes.iter().filter(|n| n.peek("type") == Some("intent"));
    let component = |n: &&'j Json| {
        let component = n.peek("componentId").and_then(|id| cx.components.get(id).copied());
        component.map(|c| (*n, c))
    };
    let all: Vec<_> = intents.filter_map(|n| component(&n)).collect();
    let own = |(_, c): &&(&'j Json, &'j Json)| c.peek("dialogId") == id && id.is_some();
    let begin = all.iter().find(own).or_else(|| all.first()).copied();
    let intent = begin.map(|(_, c)| c);
    let named = intent.and_then(|c| c.take_text("name"));
    let named = named.or_else(|| localized(dialog, &cx.language).and_then(|t| t.take_text("name")));
    let named = named.or_else(|| dialog.take_text("lname"));
    let span = named.map_or(dialog.span.at_start(), |n| n.span);
    let wanted = named.map_or("Dialog", |n| n.value.as_str());
    let name = Spanned::new(names.claim(wanted, "Dialog"), span);
    let ids = ["_id", "refId"].into_iter();
    let ids = ids.flat_map(|key| [dialog.peek(key), intent.and_then(|c| c.peek(key))]);
    for id in ids.flatten() {
        cx.agents.entry(id).or_insert_with(|| name.clone());
    }
    let texts = localized(dialog, &cx.language);
    let described = texts.and_then(|t| t.get("shortDesc")).and_then(Json::text);
    let described = described.filter(|t| !t.value.trim().is_empty());
    Entry { name, intent, described, start_node: begin.and_then(|(n, _)| n.peek("nodeId")) }
}

/// Lowers a dialog.
pub(super) fn agent<'j>(cx: &mut Context<'j, '_>, dialog: &'j Json, entry: &Entry<'j>) -> Agent {
    let metadata = cx.metadata(entry.name.clone(), AgentType::Agent);
    let mut agent = Agent::new(metadata, dialog.span);
    let _ = cx.names.used();
    let texts = localized(dialog, &cx.language);
    let described = texts.and_then(|t| t.take_text("shortDesc")).filter(|t| !t.value.is_empty());
    let title = texts.and_then(|t| t.take_text("name"));
    // The supervisor has it as the description of the intent.
    let intent = entry.intent.and_then(|intent| localized(intent, &cx.language));
    let intent = intent.and_then(|texts| texts.get("desc")).and_then(Json::text);
    let goal = described.or(intent.filter(|t| !t.value.trim().is_empty()));
    let goal =
        goal.map(|text| cx.readable(text)).or_else(|| title.map(|t| named_goal(cx, entry, t)));
    agent.identity.goal = goal.map(|text| Template::plain(text.spanned()));
    let mut flow = Lowering::new(cx, dialog, entry);
    flow.lower_nodes(cx, &mut agent);
    agent.flow = Some(flow.flow);
    if let Some(intent) = entry.intent {
        // Its description is that of the intent of the supervisor, which it names; it leads to this dialog.
        for key in ["type", "dialogId"] {
            intent.take_member(key);
        }
        if let Some(texts) = localized(intent, &cx.language) {
            texts.take_member("desc");
            texts.take_member("intent");
        }
        let texts = intent.get("localeData").map_or(&[][..], Json::members).iter();
        for texts in texts.filter(|texts| cx.speaks(&texts.key)) {
            texts.value.take_member("intent");
        }
        let mut kept = Extensions::default();
        // The utterances of the intent belong to the supervisor.
        extensions::preserve_as("intent", intent, &mut kept, &mut cx.reports);
        merge_extensions(&mut agent.extensions, kept);
    }
    // Whether it is routed to.
    dialog.take_bool("isHidden");
    if dialog.get("isFollowUp").is_some_and(|f| matches!(f.kind, crate::Kind::Bool(false))) {
        dialog.take_member("isFollowUp");
    }
    extensions::preserve(dialog, &mut agent.extensions, &mut cx.reports);
    declare_variables(cx, &mut agent);
    agent
}

/// How many utterances say what a dialog is for that nobody has described.
const MAX_UTTERANCES: usize = 3;

/// What a dialog is for that only has a name: the name in words, and what users say.
fn named_goal(cx: &mut Context<'_, '_>, entry: &Entry<'_>, title: &Text) -> Text {
    let mut goal = super::names::words(&cx.readable(title).value);
    let ids = ["_id", "refId"].into_iter().filter_map(|key| entry.intent?.peek(key));
    let said = ids.filter_map(|id| cx.utterances.get(id)).next();
    let said = said.into_iter().flatten().take(MAX_UTTERANCES);
    let said: Vec<String> =
        said.map(|text| format!("\"{}\"", super::entities::unescaped(text).value)).collect();
    if !said.is_empty() {
        goal = format!("{goal}, when users say for example {}", said.join(" or "));
    }
    Text::synthetic(goal, title.span)
}

/// Declares the variables that the agent uses but does not collect.
pub(super) fn declare_variables(cx: &mut Context<'_, '_>, agent: &mut Agent) {
    let mut asked: FxHashSet<SmolStr> = FxHashSet::default();
    agent.walk(&mut |node| {
        if let agentir_ir::Node::Field(field) = node {
            asked.insert(field.name.value.clone());
        }
    });
    let used = cx.names.used().into_iter().filter(|u| !asked.contains(&u.value));
    let (paths, variables): (Vec<_>, Vec<_>) = used.partition(|u| u.value.contains('.'));
    agent.memory.session = variables.into_iter().map(SessionVariable::new).collect();
    let mut written: FxHashSet<SmolStr> = FxHashSet::default();
    agent.walk(&mut |node| match node {
        agentir_ir::Node::Set(set) => {
            written.insert(SmolStr::new(set.target.to_string()));
        }
        agentir_ir::Node::Clear(names) => {
            written.extend(names.iter().map(|name| name.value.clone()));
        }
        agentir_ir::Node::Writes(name, _) => {
            written.insert(name.value.clone());
        }
        _ => {}
    });
    for path in paths {
        let is_written = written.iter().any(|name| {
            let rest = name.strip_prefix(path.value.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        });
        agent.memory.remember.extend(is_written.then(|| builders::kept(&path)));
        agent.memory.persistent.push(builders::memory_path(path, is_written));
    }
}

pub(super) fn merge_extensions(into: &mut Extensions, from: Extensions) {
    for (dialect, all) in from.0 {
        for (key, extension) in all {
            into.insert(dialect.clone(), &key, extension.value, extension.span);
        }
    }
}

struct Lowering<'j, 'e> {
    entry: &'e Entry<'j>,
    nodes: Vec<DialogNode<'j>>,
    /// Indices into `nodes`, by node id.
    by_id: FxHashMap<&'j str, usize>,
    flow: Flow,
}

impl<'j, 'e> Lowering<'j, 'e> {
    fn new(cx: &mut Context<'j, '_>, dialog: &'j Json, entry: &'e Entry<'j>) -> Self {
        let span = dialog.get("nodes").map_or(dialog.span, |n| n.span);
        let flow = Flow { span, key: span.at_start(), ..Flow::default() };
        let mut all = Self { entry, nodes: Vec::new(), by_id: FxHashMap::default(), flow };
        let mut steps = cx.names.namespace();
        let nodes = dialog.get("nodes").map_or(&[][..], Json::items);
        // The JSON reader bounds the nesting.
        for node in nodes {
            all.add_node(cx, node, node.get("transitions"), None, &mut steps);
        }
        all
    }

    fn add_node(
        &mut self,
        cx: &mut Context<'j, '_>,
        node: &'j Json,
        transitions: Option<&'j Json>,
        parent: Option<usize>,
        steps: &mut Namespace,
    ) {
        let id = node.get("nodeId").map(Json::take).and_then(Json::text);
        let ty = node.get("type").map(Json::take).and_then(Json::text);
        let component = node.get("componentId").map(Json::take).and_then(Json::text);
        let known = component.and_then(|c| cx.components.get(c.value.as_str()).copied());
        if let (Some(component), None) = (component, known) {
            cx.problem(
                Diagnostic::warning(
                    rules::MISSING_PART,
                    component.span,
                    "the export does not contain the component of this node",
                )
                .note("the node only continues with the next one")
                .help("export the bot again with all of its tasks, or write the step by hand"),
            );
        }
        let name = ty.map_or("", |t| t.value.as_str());
        let kind = NODES.iter().find(|(xo_name, _)| *xo_name == name).map(|(_, kind)| *kind);
        if kind == Some(NodeKind::BotAction) {
            known.and_then(|c| c.get("type")).map(Json::take);
        }
        // The nodes of an action are written twice: inside the action, and, with their transitions, in its
        // component.
        let inside = node.get("nodes").map_or(&[][..], Json::items);
        let in_component = known.and_then(|c| c.get("nodes")).map_or(&[][..], Json::items);
        let inside = if inside.is_empty() { in_component } else { inside };
        let action = kind == Some(NodeKind::BotAction) && !inside.is_empty();
        // An empty action only has transitions.
        let kind = if action { kind } else { kind.map(|k| k.or_logic()) };
        if let (None, Some(ty)) = (kind, ty) {
            report_unknown_type(cx, ty);
            node.get("type").iter().for_each(|t| t.release());
        }
        let own = id.map(|i| i.value.as_str());
        let begins = own.is_some() && own == self.entry.start_node && parent.is_none();
        let component_name = known.and_then(|c| c.peek("name")).or(own).unwrap_or(name);
        let wanted = if begins { "start" } else { component_name };
        let span = known.and_then(|c| c.get("name")).map_or(node.span.at_start(), |n| n.span);
        // A bot action itself is not a step.
        let step = if action { SmolStr::new(wanted) } else { steps.claim(wanted, "") };
        let step = Spanned::new(step, span);
        let index = self.nodes.len();
        if let Some(id) = own {
            self.by_id.entry(id).or_insert(index);
        }
        self.nodes.push(DialogNode {
            json: node,
            component: known,
            kind,
            step,
            transitions,
            parent,
            first: None,
        });
        if !action {
            return;
        }
        let before = self.nodes.len();
        let mut first = None;
        for child in inside {
            let id = child.peek("nodeId");
            let counterpart = in_component.iter().find(|t| t.peek("nodeId") == id && id.is_some());
            if let Some(counterpart) = counterpart.filter(|t| !std::ptr::eq(*t, child)) {
                for key in ["nodeId", "type", "componentId", "level"] {
                    counterpart.get(key).map(Json::take);
                }
                // The dialog has the ways on once more.
                let both = child.get("transitions").zip(counterpart.get("transitions"));
                if let Some((_, theirs)) = both.filter(|(own, theirs)| own.equals(theirs)) {
                    theirs.take();
                }
            }
            let transitions =
                child.get("transitions").or(counterpart.and_then(|t| t.get("transitions")));
            let at = self.nodes.len();
            self.add_node(cx, child, transitions, Some(index), steps);
            let root = child.get("level").or(counterpart.and_then(|t| t.get("level")));
            let root = root.is_some_and(|l| l.text().is_some_and(|t| t.value == "root"));
            child.get("level").map(Json::take);
            if first.is_none() && root {
                first = Some(at);
            }
        }
        let first = first.or((self.nodes.len() > before).then_some(before));
        if let Some(node) = self.nodes.get_mut(index) {
            node.first = first;
        }
    }

    fn lower_nodes(&mut self, cx: &mut Context<'j, '_>, agent: &mut Agent) {
        let fields: FxHashMap<&str, &str> = self
            .by_id
            .iter()
            .filter_map(|(id, at)| Some((*id, self.nodes.get(*at)?.component?.peek("name")?)))
            .collect();
        let mut scope = Scope { fields, synonyms: [Vec::new(), Vec::new()] };
        let mut used = Vec::new();
        for index in 0..self.nodes.len() {
            let Some(node) = self.nodes.get(index) else { continue };
            scope.synonyms = nodes::synonyms(node);
            let mut kept = Extensions::default();
            let (branches, default_target, says_default) = self.transitions(cx, index, &scope);
            let Some(node) = self.nodes.get(index) else { continue };
            if node.kind == Some(NodeKind::BotAction) {
                continue;
            }
            if self.is_entry(index) && branches.is_empty() {
                // It only has transitions.
                if let Target::Step(step) = &default_target.0 {
                    self.flow.entry_point = Some(step.clone());
                    self.preserve_remaining(cx, index, &mut kept);
                    merge_extensions(&mut agent.extensions, kept);
                    continue;
                }
            }
            let mut step = Step {
                name: node.step.clone(),
                span: node.json.span,
                reasoning: Some(false),
                ..Step::default()
            };
            let begins = self.is_entry(index);
            let mut transitions = nodes::StepTransitions {
                branches,
                default_target,
                says_default,
                variants: Vec::new(),
                begins,
                field: None,
                retries: None,
                submitted: Vec::new(),
            };
            nodes::body(cx, node, agent, &mut step, &mut transitions);
            self.preserve_remaining(cx, index, &mut kept);
            merge_extensions(&mut step.extensions, kept);
            if !transitions.variants.is_empty() {
                let target = match &transitions.field {
                    Some(field) => super::profiles::OverrideTarget::Field(field),
                    None => super::profiles::OverrideTarget::Step(&step),
                };
                super::profiles::override_messages(
                    cx,
                    &self.entry.name,
                    &mut used,
                    &target,
                    transitions.variants,
                );
            }
            let agent_name = &self.entry.name;
            super::profiles::submitted(cx, agent_name, &mut used, &mut step, transitions.submitted);
            if let Some((fields, variants)) = transitions.retries {
                super::profiles::ask_again(cx, agent_name, &mut used, &mut step, &fields, variants);
            }
            self.flow.steps.push(step.name.clone());
            self.flow.definitions.insert(step.name.value.clone(), step);
        }
        // What is left of bot actions, which are no steps themselves, once that of the nodes inside is taken.
        for index in 0..self.nodes.len() {
            if self.nodes.get(index).is_some_and(|node| node.kind == Some(NodeKind::BotAction)) {
                let mut kept = Extensions::default();
                self.preserve_remaining(cx, index, &mut kept);
                let first = self.entry_of(index).and_then(|at| self.nodes.get(at));
                let first = first.and_then(|p| self.flow.definitions.get_mut(&p.step.value));
                let into = first.map_or(&mut agent.extensions, |step| &mut step.extensions);
                merge_extensions(into, kept);
            }
        }
        agent.use_behavior_profiles = used;
        if self.flow.entry_point.is_none() {
            self.flow.entry_point = self.flow.steps.first().cloned();
        }
        in_order_of_conversation(&mut self.flow);
    }

    fn is_entry(&self, index: usize) -> bool {
        let id = self.nodes.get(index).and_then(|n| n.json.peek("nodeId"));
        id.is_some()
            && id == self.entry.start_node
            && self.by_id.get(&id.unwrap_or_default()) == Some(&index)
    }

    /// Preserves the remaining data of a node, its transitions and its component.
    fn preserve_remaining(&self, cx: &mut Context<'j, '_>, index: usize, into: &mut Extensions) {
        let Some(node) = self.nodes.get(index) else { return };
        if let Some(component) = node.component
            // The intents of other dialogs belong to those.
            && node.kind != Some(NodeKind::Intent)
        {
            extensions::preserve_as("component", component, into, &mut cx.reports);
        }
        if let Some(transitions) = node.transitions {
            extensions::preserve_as("transitions", transitions, into, &mut cx.reports);
        }
        // The nodes inside an action preserve their own data.
        for member in node.json.members().iter().filter(|m| m.key != "nodes") {
            extensions::preserve_as(&member.key, &member.value, into, &mut cx.reports);
        }
    }

    /// The node whose step a node starts with: for an action, one of the nodes inside.
    fn entry_of(&self, index: usize) -> Option<usize> {
        let mut at = index;
        // Nested actions are as deep as the JSON.
        while self.nodes.get(at)?.kind == Some(NodeKind::BotAction) {
            at = self.nodes.get(at)?.first?;
        }
        Some(at)
    }

    /// The conditional transitions of a node, its default target, and whether the node says that itself. The last node of
    /// an action continues where the action does.
    fn transitions(
        &self,
        cx: &mut Context<'j, '_>,
        index: usize,
        scope: &Scope<'_>,
    ) -> (Vec<Branch>, (Target, Span), bool) {
        let own = self.nodes.get(index).and_then(|node| node.transitions);
        let says = own.map_or(&[][..], Json::items).iter().any(|one| one.get("default").is_some());
        let mut branches = Vec::new();
        let mut at = Some(index);
        let mut span = Span::default();
        while let Some(node) = at.and_then(|at| self.nodes.get(at)) {
            let here = at.unwrap_or(index);
            span = node.transitions.map_or(node.json.span, |t| t.span).at_start();
            let mut default_target = None;
            for transition in node.transitions.map_or(&[][..], Json::items) {
                if let (Some(test), Some(to)) = (transition.get("if"), transition.get("then")) {
                    let Some(condition) = condition(cx, test, scope) else {
                        test.release();
                        continue;
                    };
                    let target = self.target(cx, here, to.take());
                    let jump = builders::goto(target.unwrap_or(Target::Complete), to.span);
                    branches.push(builders::branch(Some(condition), vec![jump], transition.span));
                } else if let Some(to) = transition.get("default")
                    && default_target.is_none()
                {
                    default_target =
                        self.target(cx, here, to.take()).map(|target| (target, to.span));
                }
            }
            if let Some(default_target) = default_target {
                return (branches, default_target, says);
            }
            at = node.parent;
        }
        (branches, (Target::Complete, span), says)
    }

    /// Resolves a target id; `None` where the dialog or the enclosing action ends.
    fn target(&self, cx: &mut Context<'j, '_>, index: usize, to: &Json) -> Option<Target> {
        let id = to.text().map_or("", |t| t.value.as_str());
        if id.is_empty() || id == "end" {
            return None;
        }
        let node = self.by_id.get(id).and_then(|at| self.entry_of(*at));
        if let Some(node) = node.and_then(|at| self.nodes.get(at)) {
            return Some(Target::Step(node.step.clone()));
        }
        let within = self.nodes.get(index).map_or("dialog", |p| match p.parent {
            Some(_) => "bot action",
            None => "dialog",
        });
        cx.problem(
            Diagnostic::warning(
                rules::MISSING_PART,
                to.span,
                format!("the {within} does not contain the target of this transition"),
            )
            .note(format!("the {within} ends here instead"))
            .help("connect the nodes in XO and export the bot again, or set the target by hand"),
        );
        None
    }
}

/// Puts the steps into the order in which a conversation comes to them: each behind those that lead to it, the way that
/// is tested first in front. Exports have them in the order in which they were made. Steps that nothing leads to come
/// last.
fn in_order_of_conversation(flow: &mut Flow) {
    let mut followers: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for (name, step) in &flow.definitions {
        let next = followers.entry(name).or_default();
        step.walk(&mut |node| {
            if let agentir_ir::Node::Jump(jump) = node
                && let Target::Step(step) = &jump.target
            {
                next.push(&step.value);
            }
        });
    }
    // The reverse of the order in which a depth-first search leaves the steps.
    let mut left: Vec<SmolStr> = Vec::with_capacity(flow.definitions.len());
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let entry = flow.entry_point.iter().map(|entry| entry.value.as_str());
    let mut open: Vec<(&str, usize)> = entry.filter(|e| seen.insert(e)).map(|e| (e, 0)).collect();
    while let Some((name, at)) = open.last_mut() {
        let next = followers.get(name).map_or(&[][..], Vec::as_slice);
        // The last way first, so that it comes last.
        let follower = next.len().checked_sub(*at + 1).and_then(|i| next.get(i));
        *at += 1;
        match follower {
            Some(follower) => {
                if followers.contains_key(follower) && seen.insert(follower) {
                    open.push((follower, 0));
                }
            }
            None => {
                left.push(SmolStr::new(*name));
                open.pop();
            }
        }
    }
    let places: FxHashMap<SmolStr, usize> =
        left.into_iter().rev().enumerate().map(|(at, name)| (name, at)).collect();
    let place = |name: &SmolStr| places.get(name).copied().unwrap_or(usize::MAX);
    flow.definitions.sort_by(|a, _, b, _| place(a).cmp(&place(b)));
    flow.steps.sort_by_key(|step| place(&step.value));
}

fn report_unknown_type(cx: &mut Context<'_, '_>, ty: &crate::Text) {
    let near = agentir_diagnostics::closest(&ty.value, NODES.iter().map(|(name, _)| *name));
    let help = near.map_or_else(
        || "write the step by hand; the content of the node is kept with it".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    cx.problem(
        Diagnostic::warning(
            rules::UNTRANSLATED,
            ty.span,
            format!("unknown node type `{}`", ty.value),
        )
        .note("the step only continues with the next one")
        .help(help),
    );
}

/// The end of a step: branches and the default target.
pub(super) fn tail(branches: Vec<Branch>, (target, span): (Target, Span)) -> Vec<Statement> {
    let default_target = builders::goto(target, span);
    if branches.is_empty() {
        return vec![default_target];
    }
    let mut branches = branches;
    branches.push(Branch {
        body: Body(vec![default_target]),
        ..builders::branch(None, Vec::new(), span)
    });
    vec![Statement::If { branches }]
}
