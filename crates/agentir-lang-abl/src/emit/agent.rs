//! Emits an agent: its sections, in the order authors usually write them.

use super::body::{Bodies, extension_entries, gather_field, of_condition};
use super::record::{self, extension, inner, record_of_ir};
use super::rules;
use super::tools;
use super::tree::{Entry, Key, Notation, Scalar, data, data_item, names};
use crate::dialect::ABL;
use crate::schema::{AGENT, RecordType};
use agentir_expr::Template;
use agentir_ir::{
    Agent, AgentType, Coordination, Extensions, Handoff, Hook, Identity, Memory, Timeouts,
};
use agentir_ir_json::{Json, Mode, to_value};
use serde_json::{Map, Value, json};

/// Emits the sections of an agent.
#[derive(Debug)]
pub(super) struct Agents {
    notation: Notation,
    bodies: Bodies,
    /// The sections so far.
    out: Vec<Entry>,
}

pub(super) fn table(section: &str) -> &'static RecordType {
    inner(&AGENT, section).unwrap_or(&AGENT)
}

pub(super) fn item_table(section: &str) -> &'static RecordType {
    let ty = table(section);
    ty.items.unwrap_or(ty)
}

fn text(template: &Template) -> Scalar {
    Scalar::Text(template.text.value.to_string())
}

pub(super) fn json_of(part: &impl Json) -> Map<String, Value> {
    match to_value(part, Mode::Plain) {
        Value::Object(json) => json,
        _ => Map::new(),
    }
}

/// The document of an agent.
pub(super) fn agent(notation: Notation, agent: &Agent) -> Vec<Entry> {
    let mut writer = Agents { notation, bodies: Bodies { notation }, out: Vec::new() };
    writer.agent(agent);
    writer.out
}

impl Agents {
    fn section(&mut self, entry: Entry) {
        if !self.out.is_empty() {
            self.out.push(Entry::Gap);
        }
        self.out.push(entry);
    }

    pub(super) fn block(&mut self, key: &str, children: Vec<Entry>) {
        if !children.is_empty() {
            self.section(Entry::block(key, children));
        }
    }

    fn text(&mut self, key: &str, value: Option<&Template>) {
        if let Some(value) = value {
            self.section(Entry::field(key, text(value)));
        }
    }

    /// The elements of a section, by its table.
    fn list<'p, T: Json + 'p>(&mut self, key: &str, parts: impl IntoIterator<Item = &'p T>) {
        let ty = item_table(key);
        let all = parts.into_iter().filter_map(|p| record::item(ty, &Value::Object(json_of(p))));
        let children = all.collect();
        self.block(key, children);
    }

    fn agent(&mut self, a: &Agent) {
        let mut rest = a.extensions.clone();
        let word = match a.metadata.kind {
            AgentType::Agent => "agent",
            AgentType::Supervisor => "supervisor",
        };
        self.section(Entry::field(word, Scalar::Code(a.metadata.name.value.to_string())));
        if let Some(version) = &a.metadata.version {
            self.section(Entry::field("version", Scalar::Text(version.value.to_string())));
        }
        self.text("description", a.metadata.description.as_ref());
        self.identity(&a.identity);
        let execution = execution(a);
        self.block("execution", execution);
        self.tools(a, &mut rest);
        let entities: Vec<Value> = a.entities.iter().map(entity).collect();
        let entities = record::items(item_table("entities"), &entities);
        self.block("entities", entities);
        self.lookup_tables(a);
        let mut gather = record_of_ir(table("gather"), &without_fields(&a.gather));
        let fields: Vec<Entry> = a.gather.fields.iter().map(gather_field).collect();
        if gather.is_empty() {
            gather = fields;
        } else if !fields.is_empty() {
            gather.push(Entry::block("fields", fields).lower());
        }
        self.block("gather", gather);
        self.list("attachments", &a.attachments);
        self.memory(&a.memory);
        self.supervisor(a, &mut rest);
        let rules = rules::constraints(self.bodies, &a.constraints.constraints);
        self.block("constraints", rules);
        let guardrails = a.constraints.guardrails.iter().map(rules::guardrail).collect();
        self.block("guardrails", guardrails);
        let on_start = Hook { body: a.on_start.clone(), ..Hook::default() };
        let on_start = self.bodies.hook(&on_start);
        self.block("on_start", on_start);
        let hooks = a.hooks.iter();
        let hooks =
            hooks.map(|(name, hook)| Entry::block(name, self.bodies.hook(hook)).lower()).collect();
        self.block("hooks", hooks);
        if let Some(flow) = &a.flow {
            let children = self.bodies.flow(flow);
            // An empty flow still is a flow.
            self.section(Entry::block("flow", children));
        }
        self.coordination(&a.coordination);
        let handlers = a.error_handling.handlers.iter();
        let handlers = handlers.chain(a.error_handling.default_handler.as_deref());
        let handlers = self.bodies.error_handlers(handlers);
        self.block("on_error", handlers);
        let buttons = self.bodies.action_handlers(&a.action_handlers);
        self.block("action_handlers", buttons);
        self.list("complete", &a.completion.conditions.iter().map(completion).collect::<Vec<_>>());
        self.messages(a);
        self.templates(a);
        self.understanding(a);
        if !a.use_behavior_profiles.is_empty() {
            let used = names(a.use_behavior_profiles.iter().map(|n| n.value.as_str()));
            let key = match self.notation {
                Notation::Abl => "USE BEHAVIOR_PROFILE",
                Notation::Yaml => "use_behavior_profile",
            };
            self.section(Entry::field(key, used));
        }
        for profile in &a.behavior_profiles {
            let inline = self.inline_profile(profile);
            self.section(inline);
        }
        if let Some(conversation) = &a.conversation_behavior {
            self.section(data(Key::keyword("conversation"), conversation));
        }
        let destinations = a.destinations.iter().map(data_item).collect();
        self.block("destinations", destinations);
        self.rest(&rest);
    }

    /// An inline profile is a section with the fields of a profile document.
    fn inline_profile(&self, profile: &agentir_ir::Profile) -> Entry {
        let mut children = rules::profile(self.bodies, profile);
        children.retain(|e| !matches!(e, Entry::Gap));
        let name = Scalar::Code(profile.name.value.to_string());
        let key = Key::keyword("behavior_profile");
        match (self.notation, children.first_mut()) {
            // Fields indented below the name would be read as sections.
            (Notation::Yaml, Some(first)) => {
                *first = Entry::field("name", name);
                Entry::Field { key, value: None, children }
            }
            _ => {
                children.remove(0);
                Entry::Field { key, value: Some(name), children }
            }
        }
    }

    fn identity(&mut self, identity: &Identity) {
        if let Some(language) = &identity.language {
            self.section(Entry::field("language", Scalar::Code(language.value.to_string())));
        }
        self.text("goal", identity.goal.as_ref());
        self.text("persona", identity.persona.as_ref());
        let item = |t: &Template| Entry::Item(vec![Entry::line(text(t))]);
        self.block("limitations", identity.limitations.iter().map(item).collect());
        match identity.instructions.as_slice() {
            [only] if only.when.is_none() => self.text("instructions", Some(&only.text)),
            all => {
                let item = |i: &agentir_ir::Instruction| {
                    let mut item = Vec::new();
                    item.extend(i.when.as_ref().map(|w| Entry::field("when", of_condition(w))));
                    item.push(Entry::field("text", text(&i.text)));
                    Entry::Item(item)
                };
                self.block("instructions", all.iter().map(item).collect());
            }
        }
        self.text("system_prompt", identity.system_prompt.as_ref().map(|p| &p.template));
        let more = extension_entries(table("identity"), &identity.extensions);
        self.block("identity", more);
    }

    fn tools(&mut self, a: &Agent, rest: &mut Extensions) {
        let mut children = Vec::new();
        // Defaults written next to the tools.
        let ty = table("tools");
        if let Some(all) = rest.0.get_mut(ABL.id()) {
            let shared: Vec<String> = all
                .keys()
                .filter(|k| ty.field(k).is_some() && AGENT.field(k).is_none())
                .cloned()
                .collect();
            for key in shared {
                if let Some(stored) = all.remove(&key) {
                    children.push(extension(ty, &key, &stored.value));
                }
            }
        }
        let beside = self.notation == Notation::Yaml && !a.tools.is_empty();
        if !a.use_tools.is_empty() && !beside {
            let used = a.use_tools.iter().map(|n| n.value.as_str());
            children.push(tools::use_tools(self.notation, used));
        }
        let dashes = self.notation == Notation::Yaml;
        let all = tools::tools(self.notation, &a.tools, dashes);
        for tool in all {
            if !children.is_empty() && !dashes {
                children.push(Entry::Gap);
            }
            children.push(tool);
        }
        self.block("tools", children);
        // A YAML list cannot have other fields next to its items.
        if beside {
            for tool in &a.use_tools {
                self.section(Entry::field("use_tool", Scalar::Code(tool.value.to_string())));
            }
        }
    }

    fn lookup_tables(&mut self, a: &Agent) {
        let ty = item_table("lookup_tables");
        let all = a.lookup_tables.iter();
        let all = all.map(|(name, t)| Entry::named(name, record_of_ir(ty, t))).collect();
        self.block("lookup_tables", all);
    }

    fn memory(&mut self, memory: &Memory) {
        let ty = table("memory");
        let mut children = Vec::new();
        let mut part = |key: &str, all: Vec<Entry>| {
            if !all.is_empty() {
                children.push(Entry::block(key, all).lower());
            }
        };
        let items = |key: &str| inner(ty, key).and_then(|t| t.items);
        if let Some(ty) = items("session") {
            let variable = |v: &agentir_ir::SessionVariable| {
                let mut json = json_of(v);
                json.remove("name");
                let children = record::record(ty, &json);
                let text = Scalar::Code(v.name.value.to_string());
                Entry::Item(vec![Entry::Line { key: "name", text, children }])
            };
            part("session", memory.session.iter().map(variable).collect());
        }
        if let Some(ty) = items("persistent") {
            // The default scope and access need not be written.
            let usual = |p: &agentir_ir::PersistentPath| {
                json_of(p).len() == 3
                    && p.access == "readwrite"
                    && p.scope == agentir_ir::PersistentPath::scope_of(&p.path.value)
            };
            let path = |p: &agentir_ir::PersistentPath| {
                if !usual(p) {
                    return Entry::Item(record_of_ir(ty, p));
                }
                let text = Scalar::Code(p.path.value.to_string());
                Entry::Item(vec![Entry::Line { key: "path", text, children: Vec::new() }])
            };
            part("persistent", memory.persistent.iter().map(path).collect());
        }
        if let Some(ty) = items("remember") {
            let all = memory.remember.iter().map(|r| {
                let mut json = json_of(r);
                let block = ["operation", "unique", "maxSize"];
                if let Some(Value::Object(store)) = json.get("store").filter(|s| {
                    block.iter().any(|k| s.get(k).is_some()) || s.get("value").is_none()
                }) {
                    let ty = inner(ty, "store").unwrap_or(ty);
                    let store = record::record(ty, store);
                    json.remove("store");
                    let mut item = record::record(ty, &json);
                    item.clear();
                    item.extend(r.when.as_ref().map(|w| Entry::field("when", of_condition(w))));
                    if !store.is_empty() {
                        item.push(Entry::block("store", store));
                    }
                    let ttl = |t: &agentir_diagnostics::Spanned<_>| {
                        Entry::field("ttl", Scalar::Text(smol_text(t)))
                    };
                    item.extend(r.ttl.as_ref().map(ttl));
                    item.extend(extension_entries(ty, &r.extensions));
                    return Entry::Item(item);
                }
                let store = json.remove("store");
                let mut item = record::record(ty, &json);
                let store = store.as_ref().and_then(|s| {
                    let field_type = crate::schema::FieldType::Store;
                    record::written(Key::keyword("store"), field_type, s)
                });
                let at = usize::from(r.when.is_some()).min(item.len());
                if let Some(store) = store {
                    item.insert(at, store);
                }
                Entry::Item(item)
            });
            part("remember", all.collect());
        }
        if let Some(ty) = items("recall") {
            let all = memory.recall.iter().map(|r| {
                let mut json = json_of(r);
                let event = json.remove("event").unwrap_or_default();
                json.insert("on".to_owned(), event);
                if let Some(Value::Object(action)) = json.remove("action") {
                    for (key, value) in action {
                        match key.as_str() {
                            "type" => json.insert("action".to_owned(), value),
                            "instruction" => None,
                            _ => json.insert(key, value),
                        };
                    }
                }
                Entry::Item(record::record(ty, &json))
            });
            part("recall", all.collect());
        }
        children.extend(extension_entries(ty, &memory.extensions));
        self.block("memory", children);
        self.state(memory);
    }

    fn coordination(&mut self, c: &Coordination) {
        let ty = item_table("delegate");
        let delegates = c.delegates.iter().map(|delegate| {
            let mut json = json_of(delegate);
            // The number of attempts is a part of the strategy.
            if let Some(count) = json.remove("max_retries") {
                json.insert("on_failure".to_owned(), json!({ "type": "retry", "count": count }));
            }
            Entry::Item(record::record(ty, &json))
        });
        self.block("delegate", delegates.collect());
        let from =
            |h: &&Handoff| h.extensions.0.get(ABL.id()).is_some_and(|a| a.contains_key("from"));
        let ty = item_table("handoff");
        let handoffs: Vec<Entry> = c
            .handoffs
            .iter()
            .filter(|h| !from(h))
            .map(|h| {
                let mut json = json_of(h);
                // There is no field for the message: the action says it.
                let responds = h.on_failure.as_ref().is_some_and(|jump| {
                    jump.target == agentir_ir::Target::Respond && jump.reason.is_none()
                });
                if let Some(words) = h.failure_message.as_ref().filter(|_| responds) {
                    json.remove("failure_message");
                    let says = agentir_ir::Jump {
                        target: agentir_ir::Target::Respond,
                        reason: Some(words.text.clone()),
                        span: h.span,
                    };
                    json.insert("on_failure".to_owned(), to_value(&says, Mode::Plain));
                }
                if let Some(Value::Array(grants)) =
                    json.get_mut("context").and_then(|c| c.get_mut("memory_grants"))
                    && grants.iter().all(|g| g.get("access").is_none())
                {
                    let paths: Vec<Value> =
                        grants.iter().filter_map(|g| g.get("path").cloned()).collect();
                    *grants = paths;
                }
                if let Some(text) = json.get("on_return").and_then(|r| {
                    let r = r.as_object().filter(|r| r.len() == 1)?;
                    r.get("action").cloned()
                }) {
                    json.insert("on_return".to_owned(), text);
                }
                Entry::Item(record::record(ty, &json))
            })
            .collect();
        self.block("handoff", handoffs);
        let protocol: Vec<Entry> = c.handoffs.iter().filter(from).map(protocol).collect();
        self.block("handoff_protocol", protocol);
        let ty = item_table("return_handlers");
        let handlers = c.return_handlers.iter();
        let handlers = handlers.map(|(n, h)| Entry::named(n, record_of_ir(ty, h))).collect();
        self.block("return_handlers", handlers);
        if let Some(escalation) = &c.escalation {
            let ty = table("escalate");
            let mut json = json_of(escalation);
            let outcomes: Vec<Entry> = escalation
                .on_human_complete
                .iter()
                .map(|o| self.human_outcome(inner(ty, "on_human_complete"), o))
                .collect();
            json.remove("on_human_complete");
            let context = json.remove("context_for_human");
            let mut children = record::record(ty, &json);
            if let Some(Value::Array(all)) = context
                && !all.is_empty()
            {
                let at = children.iter().take_while(|e| is_field(e, "triggers")).count();
                let all = all.iter().map(data_item).collect();
                children.insert(at, Entry::block("context_for_human", all).lower());
            }
            if !outcomes.is_empty() {
                children.push(Entry::block("on_human_complete", outcomes).lower());
            }
            self.block("escalate", children);
        }
        let rest = extension_entries(&AGENT, &c.extensions);
        for entry in rest {
            self.section(entry);
        }
    }

    fn human_outcome(
        &self,
        ty: Option<&'static RecordType>,
        o: &agentir_ir::HumanOutcome,
    ) -> Entry {
        let Some(ty) = ty.and_then(|t| t.items) else { return Entry::Gap };
        let mut json = json_of(o);
        json.remove("action");
        let mut item = record::record(ty, &json);
        if let Some(jump) = &o.action {
            item.push(match (&jump.target, &jump.reason) {
                (agentir_ir::Target::Complete, None) => {
                    Entry::field("complete", Scalar::Word("true".to_owned()))
                }
                (agentir_ir::Target::Continue, Some(words)) => {
                    Entry::field("continue", Scalar::Text(words.value.to_string()))
                }
                (agentir_ir::Target::Handoff(Some(agent)), None) => {
                    Entry::field("handoff", Scalar::Code(agent.to_string()))
                }
                _ => Entry::field("then", self.bodies.jump(jump)),
            });
        }
        Entry::Item(item)
    }

    fn messages(&mut self, a: &Agent) {
        let all = a.messages.iter().filter_map(|(name, message)| {
            let value = match (&message.text, &message.template) {
                (Some(template), _) => text(template),
                (None, Some(named)) => Scalar::Code(format!("TEMPLATE({named})")),
                (None, None) => return None,
            };
            Some(Entry::Field { key: Key::own(name), value: Some(value), children: Vec::new() })
        });
        let all = all.collect();
        self.block("messages", all);
    }

    fn templates(&mut self, a: &Agent) {
        let ty = item_table("templates");
        let all = a
            .templates
            .iter()
            .map(|(name, template)| {
                let mut json = json_of(template);
                if let Some(Value::Object(rich)) = json.remove("rich_content") {
                    json.extend(rich);
                }
                Entry::named(name, record::record(ty, &json))
            })
            .collect();
        self.block("templates", all);
    }

    fn understanding(&mut self, a: &Agent) {
        if let Some(nlu) = &a.nlu {
            let mut json = json_of(nlu);
            json.remove("entities");
            let mut children = record::record(table("nlu"), &json);
            if let Some(ty) = inner(table("nlu"), "entities").and_then(|t| t.items) {
                let all: Vec<Value> = nlu.entities.iter().map(entity).collect();
                let all = record::items(ty, &all);
                if !all.is_empty() {
                    children.push(Entry::block("entities", all).lower());
                }
            }
            self.block("nlu", children);
        }
        if let Some(handling) = &a.intent_handling {
            if let Some(multi) = &handling.multi_intent {
                let children = record_of_ir(table("multi_intent"), multi);
                self.section(Entry::block("multi_intent", children));
            }
            if let Some(intents) = &handling.intents {
                let ty = item_table("intents");
                let mut children = Vec::new();
                children.extend(intents.lexical_fallback.map(|word| {
                    Entry::field("lexical_fallback", Scalar::Word(word.to_owned())).lower()
                }));
                let all = intents.intents.iter();
                children.extend(all.filter_map(|i| record::item(ty, &Value::Object(json_of(i)))));
                self.section(Entry::block("intents", children));
            }
        }
    }

    fn rest(&mut self, rest: &Extensions) {
        let Some(all) = rest.0.get(ABL.id()) else { return };
        for (key, stored) in all {
            // Redefined entries without effect.
            if key.starts_with("templates.") || key.starts_with("lookup_tables.") {
                continue;
            }
            let mut entry = extension(&AGENT, key, &stored.value);
            if let Entry::Field { key, .. } = &mut entry {
                key.upper = true;
            }
            self.section(entry);
        }
    }
}

/// The fields of a `Gather` without those that have their own notation.
fn without_fields(gather: &agentir_ir::Gather) -> Value {
    let mut json = json_of(gather);
    json.remove("fields");
    Value::Object(json)
}

fn smol_text(text: &agentir_diagnostics::Spanned<impl std::fmt::Display>) -> String {
    text.value.to_string()
}

fn is_field(entry: &Entry, name: &str) -> bool {
    matches!(entry, Entry::Field { key, .. } if key.text == name)
}

fn entity(entity: &agentir_ir::Entity) -> Value {
    let mut json = json_of(entity);
    json.remove("source");
    Value::Object(json)
}

fn completion(c: &agentir_ir::CompletionCondition) -> Value {
    let mut json = json_of(c);
    if let Some(template) =
        json.remove("respond_template").and_then(|t| t.as_str().map(String::from))
    {
        json.insert("respond".to_owned(), Value::from(format!("TEMPLATE({template})")));
    }
    Value::Object(json)
}

fn protocol(handoff: &Handoff) -> Entry {
    let from = handoff.extensions.0.get(ABL.id()).and_then(|a| a.get("from"));
    let from = from.and_then(|f| f.value.as_str()).unwrap_or("any");
    let mut children = Vec::new();
    if !handoff.context.pass.is_empty() {
        let pass = names(handoff.context.pass.iter().map(|p| p.name.value.as_str()));
        children.push(Entry::field("context", pass));
    }
    children.extend(handoff.when.as_ref().map(|w| Entry::field("trigger", of_condition(w))));
    let mut item = Vec::new();
    if from != "any" {
        item.push(Entry::field("from", Scalar::Code(from.to_owned())));
    }
    item.push(Entry::field("to", Scalar::Code(handoff.to.to_string())));
    item.append(&mut children);
    Entry::Item(item)
}

fn execution(a: &Agent) -> Vec<Entry> {
    let ty = table("execution");
    let mut json = json_of(&a.execution);
    json.remove("hints");
    let mut timeouts = json.remove("timeouts").unwrap_or_default();
    let usual = json_of(&Timeouts::default());
    if let Some(all) = timeouts.as_object_mut() {
        all.retain(|key, value| usual.get(key) != Some(value));
    }
    let mut children = record::record(ty, &json);
    let models = a.execution.operation_models.iter().map(|(name, model)| match model {
        Value::Object(fields) => {
            let mut entries: Vec<Entry> =
                fields.get("model").map(|m| data(Key::own("model"), m)).into_iter().collect();
            entries.extend(extension_fields(fields.get(ABL.id())));
            Entry::named(name, entries)
        }
        other => data(Key::own(name), other),
    });
    let models: Vec<Entry> = models.collect();
    if !models.is_empty() {
        children.push(Entry::block("models", models).lower());
    }
    let timeouts = match (inner(ty, "timeouts"), timeouts) {
        (Some(ty), Value::Object(all)) => record::record(ty, &all),
        _ => Vec::new(),
    };
    if !timeouts.is_empty() {
        children.push(Entry::block("timeouts", timeouts).lower());
    }
    children
}

fn extension_fields(extensions: Option<&Value>) -> Vec<Entry> {
    let all = extensions.and_then(Value::as_object);
    all.into_iter().flatten().map(|(k, v)| data(Key::own(k), v)).collect()
}
