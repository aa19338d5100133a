//! Lowers bot exports of Kore.ai XO to AgentIR.
//!
//! A dialog becomes an agent with a flow. Each of its nodes is a step, including the nodes inside a bot
//! action. The bot itself becomes a supervisor, which has the intents and routes them to the agents.
//! Values are taken from the export where AgentIR has a field for them. Remaining data of a node goes to
//! the step's extensions, remaining data of the bot to the supervisor's.
//!
//! Expressions have ABL's semantics: XO's comparisons are loose, as ABL's are. JavaScript that behaves
//! differently is either translated to ABL or called as a tool.
//!
//! Every value of the export has a mark that is set when the value is taken; unmarked values at the
//! end are extensions of the step, tool or supervisor that they belong to. One node becomes one
//! step of the same name: that costs steps, and keeps the result comparable with the bot. Its
//! dialect has no constructs: only rules that apply to all dialects check an export.

mod builders;
mod condition;
mod dialog;
mod entities;
mod entity;
mod extensions;
mod form;
mod generative;
mod globals;
mod knowledge;
mod messages;
mod names;
mod nodes;
mod profiles;
mod scripts;
mod service;
mod sessions;
mod shared;
mod status;
mod supervisor;
mod table;
mod types;

use crate::tables::FormPart;
use crate::{Json, Text, Xo};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Dialect, Name};
use agentir_ir::{Agent, AgentType, ExecutionHints, Extensions, Metadata, Profile};
use agentir_syntax::{Definition, rules};
use names::Names;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// Context of lowering one export.
struct Context<'j, 'p> {
    reports: extensions::Reports<'p>,
    /// The components by id.
    components: FxHashMap<&'j str, &'j Json>,
    /// The agents of the dialogs, by every id the export uses for them.
    agents: FxHashMap<&'j str, Spanned<Name>>,
    names: Names,
    /// The default language of texts.
    language: SmolStr,
    /// All languages of the bot.
    languages: Vec<SmolStr>,
    /// Whether the export says so; else they are only those of the bot's name.
    says_languages: bool,
    /// What users say in the default language, by the id of the intent.
    utterances: FxHashMap<&'j str, Vec<&'j Text>>,
    /// The forms by id.
    forms: FxHashMap<&'j str, &'j Json>,
    profiles: Vec<Profile>,
    /// The tools that run scripts, by their code.
    scripts: FxHashMap<String, Name>,
    /// What scripts do with the status of answers that they are given, by its variable, and where; `None` for anything but
    /// a comparison.
    given_statuses: FxHashMap<SmolStr, Vec<(Option<status::Compared>, Span)>>,
    hash: SmolStr,
    /// The dialect of the agents.
    dialect: Dialect,
    /// The dialect of the language that the export is translated to.
    base: Dialect,
}

impl Context<'_, '_> {
    /// Whether the bot speaks a language, of whatever region.
    fn speaks(&self, language: &str) -> bool {
        self.languages.iter().any(|known| is_same_language(known, language))
    }

    fn problem(&mut self, problem: Diagnostic) {
        self.reports.problems.push(problem);
    }

    /// A text with URI encoding resolved.
    fn decoded(&mut self, text: &Text) -> Text {
        text.decoded().unwrap_or_else(|at| {
            self.problem(
                Diagnostic::warning(
                    rules::INVALID_VALUE,
                    at,
                    "the URI encoding of this text is invalid from here on",
                )
                .note("it is copied unchanged, so users would see the encoding")
                .help(
                    "correct the text in XO and export the bot again, or correct it in the result",
                ),
            );
            text.clone()
        })
    }

    /// A text as people read it: decoded, with the characters that entities of HTML stand for.
    fn readable(&mut self, text: &Text) -> Text {
        entities::unescaped(&self.decoded(text))
    }

    /// Reports expressions that cannot be translated.
    fn report_untranslated(&mut self, untranslated: Vec<Text>) {
        let base = self.base;
        // What stands for a credential is no JavaScript.
        let is_code = |text: &Text| !text.value.starts_with(extensions::SECRETS);
        for text in untranslated.into_iter().filter(is_code) {
            self.problem(
                Diagnostic::warning(
                    rules::UNTRANSLATED,
                    text.span,
                    format!("this JavaScript has no equivalent in {base} and is kept unchanged in the text"),
                )
                .help("compute the value in a tool first, and refer to its result here"),
            );
        }
    }

    fn metadata(&self, name: Spanned<Name>, kind: AgentType) -> Metadata {
        Metadata { kind, ..Metadata::new(name, self.dialect, self.hash.clone()) }
    }
}

/// The languages of a bot, the default one first, and whether the export says which they are.
fn languages(root: &Json, default: &str) -> (Vec<SmolStr>, bool) {
    let mut all = vec![SmolStr::new(default)];
    let said = list_of(root, "supportedLanguages").iter().filter_map(Json::text);
    let mut said: Vec<SmolStr> = said.map(|text| SmolStr::new(&text.value)).collect();
    let says = !said.is_empty();
    if !says {
        let named = root.get("localeData").map_or(&[][..], Json::members);
        said.extend(named.iter().map(|member| member.key.clone()));
    }
    for language in said {
        if !all.contains(&language) {
            all.push(language);
        }
    }
    (all, says)
}

/// The default language of a bot: the one that it says, else English, unless its own name has no English form.
fn default_language(root: &Json) -> SmolStr {
    if let Some(said) = root.take_text("defaultLanguage") {
        return SmolStr::new(&said.value);
    }
    let named = root.get("localeData").map_or(&[][..], Json::members);
    let english = SmolStr::new_static("en");
    let is_english = named.iter().any(|member| is_same_language(&member.key, &english));
    let first = named.first().filter(|_| !is_english);
    first.map_or(english, |member| member.key.clone())
}

/// A language without its region: `en` of `en_US`.
fn base_language(language: &str) -> &str {
    language.split(['_', '-']).next().unwrap_or(language)
}

/// Whether two languages differ in the region at most.
fn is_same_language(a: &str, b: &str) -> bool {
    base_language(a).eq_ignore_ascii_case(base_language(b))
}

fn list_of<'j>(json: &'j Json, key: &str) -> &'j [Json] {
    json.get(key).map_or(&[][..], Json::items)
}

/// The texts of an element in the default language, of any region, else in the first available one.
fn localized<'j>(element: &'j Json, language: &str) -> Option<&'j Json> {
    let all = element.get("localeData")?;
    let own = || all.members().iter().find(|m| is_same_language(&m.key, language));
    let own = all.get(language).or_else(|| own().map(|m| &m.value));
    own.or_else(|| all.members().first().map(|m| &m.value))
}

/// Lowers an export: first the bot's supervisor, then an agent per dialog.
pub(crate) fn lower(
    root: &Json,
    text: &str,
    &Xo { parsers, base, dialect }: &Xo,
    problems: &mut Vec<Diagnostic>,
) -> Definition {
    let list = |key: &str| list_of(root, key);
    let (dialogs, components) = (list("dialogs"), list("dialogComponents"));
    let language = default_language(root);
    let (languages, says_languages) = languages(root, &language);
    let mut cx = Context {
        reports: extensions::Reports::new(problems),
        components: FxHashMap::default(),
        agents: FxHashMap::default(),
        names: Names::new(parsers, base.runtime(), sessions::shared(root, dialogs, components)),
        language,
        languages,
        says_languages,
        utterances: FxHashMap::default(),
        forms: FxHashMap::default(),
        profiles: Vec::new(),
        scripts: FxHashMap::default(),
        given_statuses: FxHashMap::default(),
        hash: agentir_syntax::lower::source_hash(text),
        dialect,
        base,
    };
    for component in components {
        if let Some(id) = component.peek("_id") {
            cx.components.entry(id).or_insert(component);
        }
        // The context stores a service's response under the service's name.
        if let (Some("service" | "webhook"), Some(name)) =
            (component.peek("type"), component.peek("name"))
        {
            cx.names.service(name);
        }
        if generative::request(component).is_some()
            && let Some(name) = component.peek("name")
        {
            cx.names.model(name);
        }
    }
    for sentence in list("sentences") {
        let other = sentence.peek("language").is_some_and(|l| !is_same_language(l, &cx.language));
        let text = sentence.get("sentence").and_then(Json::text).filter(|_| !other);
        if let (Some(id), Some(text)) = (sentence.peek("taskId"), text) {
            cx.utterances.entry(id).or_default().push(text);
        }
    }
    for form in list("forms") {
        for id in ["_id", "refId"].into_iter().filter_map(|key| form.peek(key)) {
            cx.forms.entry(id).or_insert(form);
        }
        if let Some(name) = form.peek("name") {
            let enters = |part: &&Json| {
                let kind = form::kind_of(part).map(|kind| kind.part);
                !matches!(kind, Some(FormPart::Text | FormPart::Control))
            };
            let parts = form::components(form).into_iter().filter(enters);
            cx.names.form(name, parts.filter_map(|p| p.peek("name")).map(SmolStr::new).collect());
        }
    }
    let mut agent_names = cx.names.namespace();
    let own = supervisor::name(&mut cx, root, &mut agent_names);
    let mut entries = Vec::with_capacity(dialogs.len());
    for dialog in dialogs {
        entries.push(dialog::register(&mut cx, dialog, &mut agent_names));
    }
    let mut agents: Vec<Agent> = Vec::with_capacity(dialogs.len() + 1);
    for (dialog, entry) in dialogs.iter().zip(&entries) {
        agents.push(dialog::agent(&mut cx, dialog, entry));
    }
    let topics = knowledge::topics(&mut cx, root, &mut agent_names);
    let supervisor = supervisor::agent(&mut cx, root, own.clone(), (dialogs, &entries), &topics);
    agents.insert(0, supervisor);
    agents.extend(topics.into_iter().map(|topic| topic.agent));
    globals::pass_shared_variables(&mut agents);
    globals::declare_states(&mut cx, &mut agents);
    status::finish(&mut cx, &mut agents);
    types::parameters(&mut agents);
    for agent in &mut agents {
        agent.execution.hints = ExecutionHints::of(agent);
    }
    for place in cx.names.unexpanded() {
        cx.problem(
            Diagnostic::warning(
                rules::UNTRANSLATED,
                place,
                "this names a form as a whole, as so many other places do that not all of its fields are written out here",
            )
            .note("it gets no values here")
            .help("name the fields that are needed"),
        );
    }
    for place in cx.names.unanswered() {
        cx.problem(
            Diagnostic::warning(
                rules::UNTRANSLATED,
                place,
                "this reads something of an answer that is neither its body nor its status",
            )
            .note("a tool gives the body alone, so there is no value here")
            .help("let the service say in its answer what matters, and read that"),
        );
    }
    for (service, place, near) in cx.names.unknown_services() {
        let help = near.map_or_else(
            || "read the answer of a service that there is".to_owned(),
            |near| format!("did you mean the service `{near}`?"),
        );
        cx.problem(
            Diagnostic::warning(
                rules::MISSING_PART,
                place,
                format!("this reads the answer of `{service}`, and the export has no such service"),
            )
            .note("there is no value here")
            .help(help),
        );
    }
    let profiles = std::mem::take(&mut cx.profiles);
    let tools = shared::tools(&mut agents);
    Definition::program(agents, Some(own), tools, profiles)
}

/// The settings that accompany an export.
pub(crate) fn settings(root: &Json, problems: &mut Vec<Diagnostic>) -> Extensions {
    let mut settings = Extensions::default();
    extensions::preserve(root, &mut settings, &mut extensions::Reports::new(problems));
    settings
}
