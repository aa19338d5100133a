//! A dialog: an agent with a flow.

use super::condition::{Scope, condition};
use super::names::Space;
use super::{Context, localized, make, nodes, rest};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Name, Template};
use agentir_ir::{
    Agent, AgentType, Body, Branch, Extensions, Flow, SessionVariable, Statement, Step, Target,
};
use agentir_syntax::rules;
use agentir_syntax::xo::Json;
use agentir_syntax::xo::tables::{NODES, NodeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// What is known of a dialog before any is lowered.
pub(super) struct Entry<'j> {
    /// The agent it becomes.
    pub(super) name: Spanned<Name>,
    /// The component of the intent that begins it.
    pub(super) intent: Option<&'j Json>,
    /// The id of the node that begins it.
    node: Option<&'j str>,
}

/// A node, whether it stands in the dialog or in a bot action.
pub(super) struct Place<'j> {
    pub(super) node: &'j Json,
    pub(super) component: Option<&'j Json>,
    pub(super) kind: Option<NodeKind>,
    /// The step it becomes.
    pub(super) step: Spanned<Name>,
    /// Where its transitions are written.
    transitions: Option<&'j Json>,
    /// What leads on where it says nothing or that the action ends: the bot action around it.
    outside: Option<usize>,
    /// The first node in it, of a bot action.
    first: Option<usize>,
}

/// The agent a dialog becomes, under every name by which others call it.
pub(super) fn announce<'j>(
    cx: &mut Context<'j, '_>,
    dialog: &'j Json,
    names: &mut Space,
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
    Entry { name, intent, node: begin.and_then(|(n, _)| n.peek("nodeId")) }
}

/// The agent of a dialog.
pub(super) fn agent<'j>(cx: &mut Context<'j, '_>, dialog: &'j Json, entry: &Entry<'j>) -> Agent {
    let metadata = cx.metadata(entry.name.clone(), AgentType::Agent);
    let mut agent = Agent::new(metadata, dialog.span);
    let _ = cx.names.used();
    let texts = localized(dialog, &cx.language);
    let described = texts.and_then(|t| t.take_text("shortDesc")).filter(|t| !t.value.is_empty());
    let title = texts.and_then(|t| t.take_text("name"));
    let goal = described.or(title);
    agent.identity.goal = goal.map(|text| Template::plain(text.spanned()));
    let mut flow = Lowering::new(cx, dialog, entry);
    flow.run(cx, &mut agent);
    agent.flow = Some(flow.flow);
    if let Some(intent) = entry.intent {
        let mut kept = Extensions::default();
        // What users say for it belongs to the supervisor.
        rest::keep_as("intent", intent, &mut kept, cx.problems);
        merge(&mut agent.extensions, kept);
    }
    rest::keep(dialog, &mut agent.extensions, cx.problems);
    remember(cx, &mut agent);
    agent
}

/// Declares the variables that the agent uses and does not ask for.
pub(super) fn remember(cx: &mut Context<'_, '_>, agent: &mut Agent) {
    let mut asked: FxHashSet<SmolStr> = FxHashSet::default();
    agent.walk(&mut |node| {
        if let agentir_ir::Node::Field(field) = node {
            asked.insert(field.name.value.clone());
        }
    });
    let used = cx.names.used().into_iter().filter(|u| !asked.contains(&u.value));
    let (paths, variables): (Vec<_>, Vec<_>) = used.partition(|u| u.value.contains('.'));
    agent.memory.session = variables.into_iter().map(SessionVariable::new).collect();
    agent.memory.persistent = paths.into_iter().map(make::known_of_user).collect();
}

pub(super) fn merge(into: &mut Extensions, from: Extensions) {
    for (dialect, all) in from.0 {
        for (key, extension) in all {
            into.keep(dialect, &key, extension.value, extension.span);
        }
    }
}

struct Lowering<'j, 'e> {
    entry: &'e Entry<'j>,
    places: Vec<Place<'j>>,
    /// The places by the ids of their nodes.
    by_id: FxHashMap<&'j str, usize>,
    flow: Flow,
}

impl<'j, 'e> Lowering<'j, 'e> {
    fn new(cx: &mut Context<'j, '_>, dialog: &'j Json, entry: &'e Entry<'j>) -> Self {
        let span = dialog.get("nodes").map_or(dialog.span, |n| n.span);
        let flow = Flow { span, ..Flow::default() };
        let mut all = Self { entry, places: Vec::new(), by_id: FxHashMap::default(), flow };
        let mut steps = Space::default();
        let nodes = dialog.get("nodes").map_or(&[][..], Json::items);
        // What nests is bounded by the reader of JSON.
        for node in nodes {
            all.place(cx, node, node.get("transitions"), None, &mut steps);
        }
        all
    }

    fn place(
        &mut self,
        cx: &mut Context<'j, '_>,
        node: &'j Json,
        transitions: Option<&'j Json>,
        outside: Option<usize>,
        steps: &mut Space,
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
                    "the component of this node is not in the export",
                )
                .note("the node does nothing but lead on")
                .help("export the bot again with all of its tasks, or write the step by hand"),
            );
        }
        let name = ty.map_or("", |t| t.value.as_str());
        let kind = NODES.iter().find(|(theirs, _)| *theirs == name).map(|(_, kind)| *kind);
        // The nodes of an action are written twice: where it stands, and, with their transitions, in its
        // component.
        let inside = node.get("nodes").map_or(&[][..], Json::items);
        let again = known.and_then(|c| c.get("nodes")).map_or(&[][..], Json::items);
        let inside = if inside.is_empty() { again } else { inside };
        let action = kind == Some(NodeKind::BotAction) && !inside.is_empty();
        // An action with nothing in it only leads on.
        let kind = if action { kind } else { kind.map(|k| k.or_logic()) };
        if let (None, Some(ty)) = (kind, ty) {
            ty_unknown(cx, ty);
            node.get("type").iter().for_each(|t| t.release());
        }
        let own = id.map(|i| i.value.as_str());
        let begins = own.is_some() && own == self.entry.node && outside.is_none();
        let called = known.and_then(|c| c.peek("name")).or(own).unwrap_or(name);
        let wanted = if begins { "start" } else { called };
        let span = known.and_then(|c| c.get("name")).map_or(node.span.at_start(), |n| n.span);
        // The bot action itself is no step.
        let step = if action { SmolStr::new(wanted) } else { steps.claim(wanted, "") };
        let step = Spanned::new(step, span);
        let index = self.places.len();
        if let Some(id) = own {
            self.by_id.entry(id).or_insert(index);
        }
        self.places.push(Place {
            node,
            component: known,
            kind,
            step,
            transitions,
            outside,
            first: None,
        });
        if !action {
            return;
        }
        let before = self.places.len();
        let mut first = None;
        for child in inside {
            let id = child.peek("nodeId");
            let twin = again.iter().find(|t| t.peek("nodeId") == id && id.is_some());
            if let Some(twin) = twin.filter(|t| !std::ptr::eq(*t, child)) {
                for key in ["nodeId", "type", "componentId", "level"] {
                    twin.get(key).map(Json::take);
                }
            }
            let transitions = child.get("transitions").or(twin.and_then(|t| t.get("transitions")));
            let at = self.places.len();
            self.place(cx, child, transitions, Some(index), steps);
            let root = child.get("level").or(twin.and_then(|t| t.get("level")));
            let root = root.is_some_and(|l| l.text().is_some_and(|t| t.value == "root"));
            child.get("level").map(Json::take);
            if first.is_none() && root {
                first = Some(at);
            }
        }
        let first = first.or((self.places.len() > before).then_some(before));
        if let Some(place) = self.places.get_mut(index) {
            place.first = first;
        }
    }

    fn run(&mut self, cx: &mut Context<'j, '_>, agent: &mut Agent) {
        let fields: FxHashMap<&str, &str> = self
            .by_id
            .iter()
            .filter_map(|(id, at)| Some((*id, self.places.get(*at)?.component?.peek("name")?)))
            .collect();
        let mut scope = Scope { fields, synonyms: [Vec::new(), Vec::new()] };
        let mut used = Vec::new();
        for index in 0..self.places.len() {
            let Some(place) = self.places.get(index) else { continue };
            scope.synonyms = nodes::synonyms(place, &cx.language);
            let mut kept = Extensions::default();
            let (branches, onwards) = self.transitions(cx, index, &scope);
            let Some(place) = self.places.get(index) else { continue };
            if place.kind == Some(NodeKind::BotAction) {
                self.leftovers(cx, index, &mut kept);
                // Its nodes are steps; what it says itself stays with the first of them.
                let first = self.entry_of(index).and_then(|at| self.places.get(at));
                let first = first.and_then(|p| self.flow.definitions.get_mut(&p.step.value));
                match first {
                    Some(step) => merge(&mut step.extensions, kept),
                    None => merge(&mut agent.extensions, kept),
                }
                continue;
            }
            if self.is_entry(index) && branches.is_empty() {
                // It only leads on.
                if let Target::Step(step) = &onwards.0 {
                    self.flow.entry_point = Some(step.clone());
                    self.leftovers(cx, index, &mut kept);
                    merge(&mut agent.extensions, kept);
                    continue;
                }
            }
            let mut step = Step {
                name: place.step.clone(),
                span: place.node.span,
                reasoning: Some(false),
                ..Step::default()
            };
            let begins = self.is_entry(index);
            let mut turn =
                nodes::Turn { branches, onwards, variants: Vec::new(), begins, field: None };
            nodes::body(cx, place, agent, &mut step, &mut turn);
            self.leftovers(cx, index, &mut kept);
            merge(&mut step.extensions, kept);
            if !turn.variants.is_empty() {
                let place = match &turn.field {
                    Some(field) => super::said::Place::Field(field),
                    None => super::said::Place::Step(&step),
                };
                super::said::vary(cx, &self.entry.name, &mut used, &place, turn.variants);
            }
            self.flow.steps.push(step.name.clone());
            self.flow.definitions.insert(step.name.value.clone(), step);
        }
        agent.use_behavior_profiles = used;
        if self.flow.entry_point.is_none() {
            self.flow.entry_point = self.flow.steps.first().cloned();
        }
    }

    fn is_entry(&self, index: usize) -> bool {
        let id = self.places.get(index).and_then(|p| p.node.peek("nodeId"));
        id.is_some()
            && id == self.entry.node
            && self.by_id.get(&id.unwrap_or_default()) == Some(&index)
    }

    /// Keeps what nobody took of a node, its transitions and its component.
    fn leftovers(&self, cx: &mut Context<'j, '_>, index: usize, into: &mut Extensions) {
        let Some(place) = self.places.get(index) else { return };
        if let Some(component) = place.component
            // The intents of other dialogs are theirs.
            && place.kind != Some(NodeKind::Intent)
        {
            rest::keep_as("component", component, into, cx.problems);
        }
        if let Some(transitions) = place.transitions {
            rest::keep_as("transitions", transitions, into, cx.problems);
        }
        // The nodes in an action are kept with themselves.
        for member in place.node.members().iter().filter(|m| m.key != "nodes") {
            rest::keep_as(&member.key, &member.value, into, cx.problems);
        }
    }

    /// The step with which a place begins: an action begins with one of its nodes.
    fn entry_of(&self, index: usize) -> Option<usize> {
        let mut at = index;
        // Actions in actions are as deep as the JSON is.
        while self.places.get(at)?.kind == Some(NodeKind::BotAction) {
            at = self.places.get(at)?.first?;
        }
        Some(at)
    }

    /// Where a node leads under conditions, and where otherwise. Behind the last node of an action it goes
    /// on as the action does.
    fn transitions(
        &self,
        cx: &mut Context<'j, '_>,
        index: usize,
        scope: &Scope<'_>,
    ) -> (Vec<Branch>, (Target, Span)) {
        let mut branches = Vec::new();
        let mut at = Some(index);
        let mut span = Span::default();
        while let Some(place) = at.and_then(|at| self.places.get(at)) {
            let here = at.unwrap_or(index);
            span = place.transitions.map_or(place.node.span, |t| t.span).at_start();
            let mut onwards = None;
            for transition in place.transitions.map_or(&[][..], Json::items) {
                if let (Some(test), Some(to)) = (transition.get("if"), transition.get("then")) {
                    let Some(condition) = condition(cx, test, scope) else {
                        test.release();
                        continue;
                    };
                    let target = self.target(cx, here, to.take());
                    let jump = make::goto(target.unwrap_or(Target::Complete), to.span);
                    branches.push(make::branch(Some(condition), vec![jump], transition.span));
                } else if let Some(to) = transition.get("default")
                    && onwards.is_none()
                {
                    onwards = self.target(cx, here, to.take()).map(|target| (target, to.span));
                }
            }
            if let Some(onwards) = onwards {
                return (branches, onwards);
            }
            at = place.outside;
        }
        (branches, (Target::Complete, span))
    }

    /// What a target's id means; nothing where the dialog, or the action that the node stands in, ends.
    fn target(&self, cx: &mut Context<'j, '_>, index: usize, to: &Json) -> Option<Target> {
        let id = to.text().map_or("", |t| t.value.as_str());
        if id.is_empty() || id == "end" {
            return None;
        }
        let place = self.by_id.get(id).and_then(|at| self.entry_of(*at));
        if let Some(place) = place.and_then(|at| self.places.get(at)) {
            return Some(Target::Step(place.step.clone()));
        }
        let within = self.places.get(index).map_or("dialog", |p| match p.outside {
            Some(_) => "bot action",
            None => "dialog",
        });
        cx.problem(
            Diagnostic::warning(
                rules::MISSING_PART,
                to.span,
                format!("the node that this leads to is not in the {within}"),
            )
            .note(format!("the {within} ends here instead"))
            .help("connect the nodes in XO and export the bot again, or name a step by hand"),
        );
        None
    }
}

fn ty_unknown(cx: &mut Context<'_, '_>, ty: &agentir_syntax::xo::Text) {
    let near = agentir_diagnostics::closest(&ty.value, NODES.iter().map(|(name, _)| *name));
    let help = near.map_or_else(
        || "write the step by hand; what the node says is kept with it".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    cx.problem(
        Diagnostic::warning(
            rules::INVALID_VALUE,
            ty.span,
            format!("`{}` is no type of node that is known", ty.value),
        )
        .note("the step does nothing but lead on")
        .help(help),
    );
}

/// What stands at the end of a step: branches, and where it goes on otherwise.
pub(super) fn tail(branches: Vec<Branch>, (target, span): (Target, Span)) -> Vec<Statement> {
    let onwards = make::goto(target, span);
    if branches.is_empty() {
        return vec![onwards];
    }
    let mut branches = branches;
    branches.push(Branch { body: Body(vec![onwards]), ..make::branch(None, Vec::new(), span) });
    vec![Statement::If { branches }]
}
