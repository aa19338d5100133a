//! Bot exports of Kore.ai XO to AgentIR.
//!
//! A dialog is an agent with a flow; each of its nodes is a step, and the nodes of a bot action are steps
//! like others. The bot itself is a supervisor: it knows what users may want, and who does it. Values are
//! taken from the export where an element of the IR says them; what is left of a node at the end goes
//! to its step's extensions, what is left of the bot to the supervisor's.
//!
//! Expressions mean what ABL's mean: XO compares loosely, as ABL does, and what its JavaScript says
//! otherwise is either brought into ABL's words or called as a tool.

mod condition;
mod dialog;
mod entity;
mod form;
mod make;
mod names;
mod nodes;
mod rest;
mod said;
mod scripts;
mod service;
mod shared;
mod supervisor;

use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::Name;
use agentir_ir::{Agent, AgentType, Dialect, Extensions, Metadata, Profile};
use agentir_syntax::rules;
use agentir_syntax::xo::{Json, Text};
use names::{Names, Space};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// What agents of an export are said to be written in, and the key of their extensions.
pub(crate) const XO: &str = "kore-xo";

/// What lowering needs everywhere.
struct Context<'j, 'p> {
    problems: &'p mut Vec<Diagnostic>,
    /// The components by their ids.
    components: FxHashMap<&'j str, &'j Json>,
    /// The agents of the dialogs, by every id under which the export refers to one.
    agents: FxHashMap<&'j str, Spanned<Name>>,
    names: Names,
    /// The language of texts that hold where no other does.
    language: SmolStr,
    /// The forms by their ids.
    forms: FxHashMap<&'j str, &'j Json>,
    profiles: Vec<Profile>,
    hash: SmolStr,
}

impl Context<'_, '_> {
    fn problem(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    /// A text as it is meant: URI encoding resolved.
    fn decoded(&mut self, text: &Text) -> Text {
        text.decoded().unwrap_or_else(|at| {
            self.problem(
                Diagnostic::warning(
                    rules::INVALID_VALUE,
                    at,
                    "this text is URI-encoded, but not from here on",
                )
                .note("it is taken as it stands, so people would read the encoding")
                .help("correct the text in XO and export the bot again, or in the result"),
            );
            text.clone()
        })
    }

    /// Says of each of these that ABL cannot say it.
    fn untranslated(&mut self, lost: Vec<Text>) {
        for text in lost {
            self.problem(
                Diagnostic::warning(
                    rules::UNTRANSLATED,
                    text.span,
                    "this JavaScript has no counterpart in ABL and stays in the text as it is",
                )
                .help("compute the value in a tool before, and name its result here"),
            );
        }
    }

    fn metadata(&self, name: Spanned<Name>, kind: AgentType) -> Metadata {
        // The expressions are ABL's; the agent was not written in it.
        let metadata = Metadata::new(name, Dialect::Abl, self.hash.clone());
        Metadata { kind, dialect: XO, ..metadata }
    }
}

/// The texts of an element in the default language, else in the first that there is.
fn localized<'j>(element: &'j Json, language: &str) -> Option<&'j Json> {
    let all = element.get("localeData")?;
    all.get(language).or_else(|| all.members().first().map(|m| &m.value))
}

/// Lowers an export: the bot's supervisor first, then an agent for each dialog.
pub(crate) fn lower(root: &Json, text: &str, problems: &mut Vec<Diagnostic>) -> crate::Unit {
    let list = |key: &str| root.get(key).map_or(&[][..], Json::items);
    let (dialogs, components) = (list("dialogs"), list("dialogComponents"));
    let language = root.take_text("defaultLanguage").map_or("en", |t| t.value.as_str());
    let mut cx = Context {
        problems,
        components: FxHashMap::default(),
        agents: FxHashMap::default(),
        names: Names::default(),
        language: SmolStr::new(language),
        forms: FxHashMap::default(),
        profiles: Vec::new(),
        hash: crate::source_hash(text),
    };
    for component in components {
        if let Some(id) = component.peek("_id") {
            cx.components.entry(id).or_insert(component);
        }
        // The context holds what it answers under its name.
        if let (Some("service" | "webhook"), Some(name)) =
            (component.peek("type"), component.peek("name"))
        {
            cx.names.service(name);
        }
    }
    for form in list("forms") {
        for id in ["_id", "refId"].into_iter().filter_map(|key| form.peek(key)) {
            cx.forms.entry(id).or_insert(form);
        }
    }
    let mut agent_names = Space::default();
    let own = supervisor::name(&mut cx, root, &mut agent_names);
    let mut entries = Vec::with_capacity(dialogs.len());
    for dialog in dialogs {
        entries.push(dialog::announce(&mut cx, dialog, &mut agent_names));
    }
    let mut agents: Vec<Agent> = Vec::with_capacity(dialogs.len() + 1);
    for (dialog, entry) in dialogs.iter().zip(&entries) {
        agents.push(dialog::agent(&mut cx, dialog, entry));
    }
    let supervisor = supervisor::agent(&mut cx, root, own.clone(), dialogs, &entries);
    agents.insert(0, supervisor);
    shared::hand_on(&mut agents);
    let profiles = std::mem::take(&mut cx.profiles);
    crate::Unit::Agents { agents, entry: Some(own), tools: Vec::new(), profiles }
}

/// The settings beside an export.
pub(crate) fn settings(root: &Json, problems: &mut Vec<Diagnostic>) -> Extensions {
    let mut settings = Extensions::default();
    rest::keep(root, &mut settings, problems);
    settings
}
