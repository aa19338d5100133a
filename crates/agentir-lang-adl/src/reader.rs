//! Reads agents from the outline, by the tables of [`super::schema`].

use super::inline;
use super::schema::{self, AgentKind, FieldDef, FieldType, Standing};
use super::steps::{self, Context};
use super::tree::{Agent, Document, Faq, Field, Subflow, Value};
use crate::rules;
use agentir_diagnostics::{Applicability, Diagnostic, FileId, Severity, Span, Spanned, closest};
use agentir_expr::Name;
use agentir_syntax::misspelled::{explain_missing, misspelling, unknown_field};
use agentir_syntax::outline::{Entry, EntryKind, Key, Outline, Scalar, Style};
use agentir_syntax::text::{listed, offset, with_article};
use smol_str::SmolStr;

/// Reads an outline as an ADL file. Never fails: entries that are not agents are reported and kept.
pub fn read<'t>(outline: &'t Outline<'t>, problems: &mut Vec<Diagnostic>) -> Document<'t> {
    let mut reader = Reader { file: outline.file, problems };
    let mut document = Document::default();
    if outline.entries.is_empty() && reader.problems.is_empty() {
        let start = Span::new(outline.file, 0, 0);
        reader.problems.push(
            Diagnostic::error(rules::SYNTAX, start, "this file is empty")
                .help("a file consists of agents: `name:`, with fields indented below"),
        );
    }
    for entry in &outline.entries {
        match &entry.kind {
            EntryKind::Pair { key, value, children } if key.text == "tools" => {
                reader.tools(key, value.as_ref(), children, &mut document);
            }
            EntryKind::Pair { key, value: None, children }
                if children.iter().all(|c| matches!(c.kind, EntryKind::Pair { .. })) =>
            {
                document.agents.push(reader.agent(entry, key, children));
            }
            EntryKind::Pair { key, .. } => {
                reader.problems.push(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        key.span,
                        format!("`{}` is not an agent: an agent consists of fields", key.text),
                    )
                    .note("every key at the left margin is the name of an agent")
                    .help("write `type: …` and the other fields, indented below the name"),
                );
                document.unknown.push(entry);
            }
            EntryKind::Line { .. } | EntryKind::Item { .. } => {
                let span = entry.span(outline.file);
                reader.problems.push(
                    Diagnostic::error(
                        rules::SYNTAX,
                        Span::new(span.file, span.start, span.start),
                        "this is outside any agent",
                    )
                    .help("a file consists of agents: `name:`, with fields indented below"),
                );
                document.unknown.push(entry);
            }
        }
    }
    document
}

/// Context of reading.
pub(super) struct Reader<'p> {
    pub(super) file: FileId,
    pub(super) problems: &'p mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn tools<'t>(
        &mut self,
        key: &Key<'t>,
        value: Option<&Scalar<'t>>,
        children: &'t [Entry<'t>],
        document: &mut Document<'t>,
    ) {
        document.tools = self.names(key, value, children, "files");
        document.tools_key = Some(key.span);
        self.problems.push(
            Diagnostic::warning(
                rules::MICA_FIELD,
                key.span,
                "MICA reads `tools` as an agent and does not start",
            )
            .note("it loads all `.py` files next to `agents.yml`")
            .help("remove `tools` if the bot should run in MICA"),
        );
    }

    fn agent<'t>(
        &mut self,
        entry: &'t Entry<'t>,
        key: &Key<'t>,
        children: &'t [Entry<'t>],
    ) -> Agent<'t> {
        let name = Spanned::new(SmolStr::new(key.text), key.span);
        let span = entry.span(self.file);
        let kind = self.kind(&name, children);
        let mut agent = Agent {
            name,
            kind,
            fields: Vec::new(),
            subflows: Vec::new(),
            unknown: Vec::new(),
            span,
        };
        let mut seen: Vec<(&'static str, Span)> = Vec::new();
        for child in children {
            let EntryKind::Pair { key, value, children: below } = &child.kind else { continue };
            let Some(def) = schema::by_key(key.text) else {
                self.other_key(child, key, children, &mut agent);
                continue;
            };
            if let Some((_, first)) = seen.iter().find(|(name, _)| *name == def.name) {
                self.problems.push(duplicate(key, *first));
            } else {
                seen.push((def.name, key.span));
            }
            self.standing(def, key, &agent);
            // Fields of other agent types are kept as written.
            let misplaced = kind.is_some_and(|k| def.of(k) == Standing::Unknown);
            let value =
                if misplaced { Value::Other } else { self.value(def, key, value.as_ref(), below) };
            agent.fields.push(Field { def, key: key.span, value, entry: child });
        }
        self.required(&agent);
        agent
    }

    /// The type of an agent; reports an invalid one.
    fn kind<'t>(&mut self, agent: &Spanned<Name>, fields: &'t [Entry<'t>]) -> Option<AgentKind> {
        let written = |is_type: &dyn Fn(&str) -> bool| {
            fields.iter().rev().find_map(|f| match &f.kind {
                EntryKind::Pair { key, value, .. } if is_type(key.text) => {
                    Some((key, value.as_ref()))
                }
                _ => None,
            })
        };
        // A misspelled key is reported as such.
        let names = || schema::FIELDS.iter().map(|field| field.name);
        let written = written(&|key| key == "type")
            .or_else(|| written(&|key| closest(key, names()) == Some("type")));
        let all = "`kb agent`, `llm agent`, `flow agent` or `ensemble agent`";
        let Some((key, value)) = written else {
            let guess = guess_kind(fields);
            let finding = Diagnostic::error(
                rules::MISSING_FIELD,
                agent.span,
                format!("the agent `{agent}` has no `type`"),
            )
            .note("every agent needs a type; the bot does not start without it");
            self.problems.push(match guess {
                Some(kind) => {
                    finding.help(format!("its fields are those of `type: {}`", kind.name()))
                }
                None => finding.help(format!("add `type:` with {all}")),
            });
            return guess;
        };
        let Some(value) = value else {
            self.problems.push(
                Diagnostic::error(rules::INVALID_VALUE, key.span, "`type` has no value")
                    .help(format!("write {all}")),
            );
            return guess_kind(fields);
        };
        let text = value.to_smol();
        if let Some(kind) = AgentKind::from_name(&text) {
            return Some(kind);
        }
        let near = AgentKind::similar(&text);
        let finding = Diagnostic::error(
            rules::INVALID_VALUE,
            value.span,
            format!("unknown agent type `{text}`"),
        )
        .note("types must match exactly; the bot does not start");
        self.problems.push(match near {
            Some(kind) => finding
                .help(format!("write `{}`", kind.name()))
                .replace(kind.name(), Applicability::Safe),
            None => finding.help(format!("write {all}")),
        });
        near.or_else(|| guess_kind(fields))
    }

    /// Reports a field that does not belong to the agent's type.
    fn standing(&mut self, def: &'static FieldDef, key: &Key<'_>, agent: &Agent<'_>) {
        if def.name != key.text {
            self.problems.push(
                Diagnostic::warning(
                    rules::LEGACY_FORM,
                    key.span,
                    format!("`{}` has been renamed to `{}`", key.text, def.name),
                )
                .help(format!("write `{}`", def.name))
                .replace(def.name, Applicability::Safe),
            );
        }
        let Some(kind) = agent.kind else { return };
        let what = with_article(kind.name());
        match def.of(kind) {
            Standing::PaperOnly => {
                let note = match kind {
                    AgentKind::Flow => "MICA's loader crashes on it, so the bot does not start",
                    _ => "MICA's validator rejects the whole file because of it",
                };
                self.problems.push(
                    Diagnostic::warning(
                        rules::MICA_FIELD,
                        key.span,
                        format!("in MICA, {what} cannot have `{}`", def.name),
                    )
                    .note(note)
                    .help("remove it if the bot should run in MICA"),
                );
            }
            Standing::Unknown => {
                let finding = Diagnostic::warning(
                    rules::UNKNOWN_FIELD,
                    key.span,
                    format!("{what} cannot have `{}`", def.name),
                );
                self.problems.push(match kind {
                    AgentKind::Flow => finding
                        .note("MICA reads it as a subflow of this name")
                        .help("remove it, or move it to the agent it belongs to"),
                    _ => finding
                        .note("MICA's validator rejects the whole file because of it")
                        .help("remove it, or move it to the agent it belongs to"),
                });
            }
            Standing::Required | Standing::Allowed | Standing::MicaOnly => {}
        }
    }

    /// A key without a row in the table: a subflow of a flow agent, or an error.
    fn other_key<'t>(
        &mut self,
        entry: &'t Entry<'t>,
        key: &Key<'t>,
        siblings: &'t [Entry<'t>],
        agent: &mut Agent<'t>,
    ) {
        let EntryKind::Pair { value, children, .. } = &entry.kind else { return };
        if key.text == "schedule" {
            self.problems.push(
                Diagnostic::warning(
                    rules::LEGACY_FORM,
                    key.span,
                    "`schedule` is from an older form of `main`",
                )
                .note("`priority`, `dispatcher` and `mediator` were removed: an ensemble selects agents by description")
                .help("write a `type: ensemble agent` with `contains`, and call it from `main`"),
            );
            agent.unknown.push(entry);
            return;
        }
        let list = value.is_none()
            && !children.is_empty()
            && children.iter().all(|c| matches!(c.kind, EntryKind::Item { .. }));
        let flow = matches!(agent.kind, Some(AgentKind::Flow) | None);
        let candidates = || match agent.kind {
            Some(kind) => schema::keys(kind).collect::<Vec<_>>(),
            None => schema::FIELDS.iter().map(|f| f.name).collect(),
        };
        let near = closest(key.text, candidates());
        if flow && list {
            // `next: exits` shows that the subflow `exits` is not a misspelt `exit`.
            if near.is_none() || named_by_next(siblings, key.text) {
                let name = Spanned::new(SmolStr::new(key.text), key.span);
                let steps = steps::list(self, children, Context::Top);
                agent.subflows.push(Subflow { name, steps, span: entry.span(self.file) });
                return;
            }
        }
        let what = with_article(agent.kind.map_or("agent", AgentKind::name));
        let message = format!("`{}` is not a field of {what}", key.text);
        let note = if agent.kind == Some(AgentKind::Flow) {
            "MICA silently reads unknown keys of a flow agent as subflows"
        } else {
            "MICA's validator rejects the whole file because of it"
        };
        let mut finding = unknown_field(key.span, message, near).note(note);
        // A list of steps may be a subflow that nothing leads to.
        if flow && list {
            finding.severity = Severity::Warning;
        }
        self.problems.push(match near {
            Some(_) => finding,
            None if flow => {
                finding.help("a subflow is a list of steps: `name:`, and steps below it")
            }
            None => {
                let all: Vec<String> = candidates().iter().map(|c| format!("`{c}`")).collect();
                finding.help(format!("possible fields are {}", listed(&all)))
            }
        });
        // A misspelt field is read as the intended one, so that its content is checked.
        if let (true, Some("steps")) = (list, near)
            && let Some(def) = schema::by_key("steps")
        {
            let value = Value::Steps(steps::list(self, children, Context::Top));
            agent.fields.push(Field { def, key: key.span, value, entry });
            return;
        }
        agent.unknown.push(entry);
    }

    fn required(&mut self, agent: &Agent<'_>) {
        let Some(kind) = agent.kind else { return };
        for def in schema::FIELDS {
            if def.of(kind) == Standing::Required && agent.field(def.name).is_none() {
                let name = &agent.name;
                let message = format!("the {} `{name}` has no `{}`", kind.name(), def.name);
                let unknown = agent.unknown.iter().filter_map(|entry| match &entry.kind {
                    EntryKind::Pair { key, .. } => Some((key.text, key.span)),
                    _ => None,
                });
                let known: Vec<&str> = schema::keys(kind).collect();
                let misspelled = misspelling(def.name, unknown, known.into_iter());
                let explained =
                    misspelled.is_some_and(|key| explain_missing(self.problems, key, &message));
                // Without a type, the kind is a guess.
                if explained || def.name == "type" {
                    continue;
                }
                let why = match def.name {
                    "prompt" => "without a prompt the model has no instructions",
                    "steps" => "the bot does not start if a flow has no steps",
                    _ => "MICA crashes if there are no agents to select from",
                };
                self.problems.push(
                    Diagnostic::error(rules::MISSING_FIELD, name.span, message)
                        .note(why)
                        .help(format!("add `{}:`", def.name)),
                );
            }
        }
    }

    fn value<'t>(
        &mut self,
        def: &FieldDef,
        key: &Key<'t>,
        value: Option<&Scalar<'t>>,
        children: &'t [Entry<'t>],
    ) -> Value<'t> {
        match def.field_type {
            FieldType::Type => Value::Other,
            FieldType::Text | FieldType::Prompt | FieldType::Policy => {
                if def.field_type == FieldType::Policy
                    && value.is_none()
                    && let Some(policy) = self.policies(key, children)
                {
                    return policy;
                }
                let Some(scalar) = value.filter(|_| children.is_empty()) else {
                    self.expected(key, children, "a string", def.name);
                    return Value::Other;
                };
                self.report_yaml_surprises(scalar, def.name);
                if def.field_type == FieldType::Prompt {
                    inline::prompt_placeholders(scalar, self.problems);
                }
                Value::Text(inline::plain(scalar))
            }
            FieldType::Names => Value::Names(self.names(key, value, children, "names")),
            FieldType::Sources => {
                let names = self.names(key, value, children, "files and addresses");
                names.iter().for_each(|source| self.source(source));
                Value::Names(names)
            }
            FieldType::File => {
                self.problems.push(
                    Diagnostic::warning(
                        rules::MICA_SOURCE,
                        key.span,
                        "MICA reads `file` character by character and loads other folders",
                    )
                    .note("it uses every character as a path; `/` is the whole disk")
                    .help("list the folder in `sources`"),
                );
                let names = match value {
                    Some(scalar) => vec![Spanned::new(scalar.to_smol(), scalar.span)],
                    None => self.names(key, value, children, "files"),
                };
                Value::Names(names)
            }
            FieldType::Faq => Value::Faq(self.faq(key, value, children)),
            FieldType::Steps => {
                if value.is_some()
                    || children.is_empty()
                    || !children.iter().all(|c| matches!(c.kind, EntryKind::Item { .. }))
                {
                    self.expected(key, children, "a list of steps", "steps");
                }
                Value::Steps(steps::list(self, children, Context::Top))
            }
            FieldType::Members => Value::Members(self.members(key, value, children)),
        }
    }

    /// `exit: [- policy: …]`, a former notation. Several policies are kept as written.
    fn policies<'t>(&mut self, key: &Key<'t>, children: &'t [Entry<'t>]) -> Option<Value<'t>> {
        fn policy<'t>(item: &'t Entry<'t>) -> Option<&'t Scalar<'t>> {
            let EntryKind::Item { entries } = &item.kind else { return None };
            match entries.as_slice() {
                [Entry { kind: EntryKind::Pair { key, value, children }, .. }]
                    if key.text == "policy" && children.is_empty() =>
                {
                    value.as_ref()
                }
                _ => None,
            }
        }
        let all: Option<Vec<_>> = children.iter().map(policy).collect();
        let all = all.filter(|all| !all.is_empty())?;
        self.problems.push(
            Diagnostic::warning(
                rules::LEGACY_FORM,
                key.span,
                format!("`{}` as a list of policies is an older form", key.text),
            )
            .note("MICA's validator requires a string")
            .help(format!("write `{}: …` as one string", key.text)),
        );
        match all.as_slice() {
            [only] => Some(Value::Text(inline::plain(only))),
            _ => Some(Value::Other),
        }
    }

    pub(super) fn expected(
        &mut self,
        key: &Key<'_>,
        children: &[Entry<'_>],
        what: &str,
        field: &str,
    ) {
        let message = if children.is_empty() {
            format!("`{field}` is empty; expected {what}")
        } else {
            format!("`{field}` expects {what}")
        };
        let help = match what {
            "a list of steps" => "write each step after a dash: `- bot: \"…\"`".to_owned(),
            _ => format!("write {what} after `{field}:`"),
        };
        self.problems.push(Diagnostic::error(rules::INVALID_VALUE, key.span, message).help(help));
    }

    /// Reports words that YAML reads as another type.
    pub(super) fn report_yaml_surprises(&mut self, scalar: &Scalar<'_>, field: &str) {
        if let Some(value) = scalar.yaml_1_1_bool() {
            let word = scalar.raw;
            self.problems.push(
                Diagnostic::warning(
                    rules::YAML_BOOLEAN,
                    scalar.span,
                    format!("YAML reads `{word}` as {value}, not as a string"),
                )
                .note(format!("MICA uses YAML 1.1, so `{field}` is not a string"))
                .help("put it in quotes")
                .replace(format!("\"{word}\""), Applicability::Safe),
            );
        }
        let wide = scalar.raw.chars().next().filter(|c| matches!(c, '｜' | '＞'));
        if let (Style::Bare, Some(wide)) = (scalar.style, wide) {
            let plain = if wide == '｜' { "|" } else { ">" };
            let length = offset(wide.len_utf8());
            let span = Span::new(scalar.span.file, scalar.span.start, scalar.span.start + length);
            self.problems.push(
                Diagnostic::warning(
                    rules::TYPOGRAPHIC_PUNCTUATION,
                    span,
                    format!("`{wide}` is a full-width character, not YAML's `{plain}`"),
                )
                .note("the lines below become one line, which begins with this character")
                .help(format!("write `{plain}`"))
                .replace(plain, Applicability::Safe),
            );
        }
    }

    fn names<'t>(
        &mut self,
        key: &Key<'t>,
        value: Option<&Scalar<'t>>,
        children: &'t [Entry<'t>],
        what: &str,
    ) -> Vec<Spanned<Name>> {
        if let Some(scalar) = value {
            let text = scalar.to_smol();
            self.problems.push(
                Diagnostic::error(
                    rules::INVALID_VALUE,
                    scalar.span,
                    format!("`{}` expects a list of {what}", key.text),
                )
                .note("MICA uses every character of a string as a name")
                .help(format!("write `- {text}` on the line below")),
            );
            return vec![Spanned::new(text, scalar.span)];
        }
        let mut names = Vec::new();
        for child in children {
            let scalar = match &child.kind {
                EntryKind::Item { entries } => match entries.as_slice() {
                    [Entry { kind: EntryKind::Line { text, .. }, .. }] => Some(text),
                    _ => None,
                },
                EntryKind::Line { text, .. } => Some(text),
                EntryKind::Pair { .. } => None,
            };
            match scalar {
                Some(scalar) => {
                    self.report_yaml_surprises(scalar, key.text);
                    names.push(Spanned::new(scalar.to_smol(), scalar.span));
                }
                None => self.problems.push(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        child.span(self.file),
                        format!("`{}` expects a list of {what}", key.text),
                    )
                    .help("write a name after each dash: `- name`"),
                ),
            }
        }
        names
    }

    /// Reports sources that MICA does not load (`kb_agent.py`).
    fn source(&mut self, source: &Spanned<Name>) {
        let text = source.value.as_str();
        let lower = text.to_lowercase();
        let remote = lower.starts_with("http://") || lower.starts_with("https://");
        let file =
            [".pdf", ".txt", ".csv", ".doc", ".docx", ".md"].iter().any(|e| lower.ends_with(e));
        let finding = |message: &str| Diagnostic::warning(rules::MICA_SOURCE, source.span, message);
        if !remote && lower.starts_with("www.") {
            self.problems.push(
                finding("MICA reads an address without `https://` as a folder")
                    .note("the folder does not exist, so the agent does not know the page")
                    .help(format!("write `https://{text}`"))
                    .replace(format!("https://{text}"), Applicability::Safe),
            );
        } else if !remote && file {
            self.problems.push(
                finding("MICA loads folders, not single files")
                    .note("the agent does not know the contents of the file")
                    .help("name the folder that contains the file"),
            );
        }
    }

    fn faq<'t>(
        &mut self,
        key: &Key<'t>,
        value: Option<&Scalar<'t>>,
        children: &'t [Entry<'t>],
    ) -> Vec<Faq> {
        if value.is_some() {
            self.expected(key, children, "a list of questions and answers", "faq");
        }
        let mut all = Vec::new();
        for child in children {
            match &child.kind {
                EntryKind::Item { entries } => all.push(self.question(child, entries)),
                EntryKind::Pair { key, value, .. } => {
                    if all.is_empty() {
                        self.problems.push(
                            Diagnostic::warning(
                                rules::LEGACY_FORM,
                                key.span,
                                "questions as keys are an older form of `faq`",
                            )
                            .note("MICA's validator requires a list")
                            .help("write `- q: …` and below it `a: …`"),
                        );
                    }
                    let question = Scalar::bare(key.text, key.span);
                    all.push(Faq {
                        question: Some(inline::plain(&question)),
                        answer: value.as_ref().map(inline::plain),
                        span: child.span(self.file),
                    });
                }
                EntryKind::Line { text, .. } => {
                    self.problems.push(
                        Diagnostic::error(
                            rules::INVALID_VALUE,
                            text.span,
                            "expected a question and its answer",
                        )
                        .help("write `- q: …` and below it `a: …`"),
                    );
                }
            }
        }
        all
    }

    fn question<'t>(&mut self, item: &Entry<'t>, entries: &'t [Entry<'t>]) -> Faq {
        let span = item.span(self.file);
        let mut faq = Faq { question: None, answer: None, span };
        for entry in entries {
            let EntryKind::Pair { key, value, .. } = &entry.kind else { continue };
            let text = value.as_ref().map(|v| {
                self.report_yaml_surprises(v, key.text);
                inline::plain(v)
            });
            match key.text {
                "q" => faq.question = text,
                "a" => faq.answer = text,
                other => {
                    let finding = Diagnostic::warning(
                        rules::UNKNOWN_FIELD,
                        key.span,
                        format!("a question has no field `{other}`"),
                    );
                    self.problems.push(finding.help("the fields are `q` and `a`"));
                }
            }
        }
        let missing = match (&faq.question, &faq.answer) {
            (None, None) => Some("`q` and `a`"),
            (None, _) => Some("`q`"),
            (_, None) => Some("`a`"),
            _ => None,
        };
        if let Some(missing) = missing {
            self.problems.push(
                Diagnostic::error(
                    rules::MISSING_FIELD,
                    span.at_start(),
                    format!("this entry of `faq` has no {missing}"),
                )
                .help("write `- q: …` and below it `a: …`"),
            );
        }
        faq
    }
}

/// The agent type that these fields indicate.
fn guess_kind(fields: &[Entry<'_>]) -> Option<AgentKind> {
    let has = |name: &str| {
        fields.iter().any(|f| {
            matches!(&f.kind, EntryKind::Pair { key, .. } if schema::by_key(key.text).is_some_and(|d| d.name == name))
        })
    };
    let former = fields
        .iter()
        .any(|f| matches!(&f.kind, EntryKind::Pair { key, .. } if key.text == "schedule"));
    if has("contains") || former {
        Some(AgentKind::Ensemble)
    } else if has("prompt") || has("uses") {
        Some(AgentKind::Llm)
    } else if has("faq") || has("sources") || has("web") {
        Some(AgentKind::Kb)
    } else if has("steps") {
        Some(AgentKind::Flow)
    } else {
        None
    }
}

/// Whether a `next` among the entries, at any depth, refers to `subflow`.
fn named_by_next(entries: &[Entry<'_>], subflow: &str) -> bool {
    entries.iter().any(|entry| match &entry.kind {
        EntryKind::Pair { key, value: Some(value), .. } if key.text == "next" => {
            value.value() == subflow
        }
        _ => named_by_next(entry.children(), subflow),
    })
}

/// A duplicate key in a map.
pub(super) fn duplicate(key: &Key<'_>, first: Span) -> Diagnostic {
    Diagnostic::warning(rules::DUPLICATE_FIELD, key.span, format!("duplicate `{}`", key.text))
        .label(first, "first used here")
        .note("MICA's server rejects the file; its workbench uses the last one")
        .help("remove one of the two")
}
