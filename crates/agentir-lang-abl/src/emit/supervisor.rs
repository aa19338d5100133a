//! Emits what only supervisors have: available agents, routing, state and policies.

use super::agent::{Agents, item_table, json_of, table};
use super::body::{extension_entries, number};
use super::record::{self, extension, inner};
use super::tree::{Entry, Key, Scalar, data, names};
use crate::dialect::ABL;
use crate::schema::{AGENT, RecordType};
use agentir_ir::{Agent, Extensions, Memory, Routing, RoutingRule, RoutingTarget};
use serde_json::{Map, Value};

impl Agents {
    /// The variables of a supervisor, grouped by namespace.
    pub(super) fn state(&mut self, memory: &Memory) {
        let ty = item_table("state");
        let mut children: Vec<Entry> = Vec::new();
        for variable in &memory.state {
            let mut json = json_of(variable);
            json.remove("name");
            let fields = record::record(ty, &json);
            let mut names: Vec<&str> = variable.name.value.split('.').collect();
            let Some(last) = names.pop() else { continue };
            insert(&mut children, &names, Entry::named(last, fields));
        }
        self.block("state", children);
    }

    pub(super) fn supervisor(&mut self, a: &Agent, rest: &mut Extensions) {
        let ty = item_table("agents");
        let short = |r: &agentir_ir::AgentReference| {
            r.file.is_none()
                && r.capabilities.is_empty()
                && r.channels.is_empty()
                && r.requires_validation.is_none()
                && r.extensions.is_empty()
        };
        let children = if a.available_agents.iter().all(short) {
            let line = |r: &agentir_ir::AgentReference| Entry::Field {
                key: Key::own(&r.alias.value),
                value: Some(Scalar::Code(
                    r.agent.as_ref().map_or_else(String::new, |n| n.value.to_string()),
                )),
                children: Vec::new(),
            };
            a.available_agents.iter().map(line).collect()
        } else {
            let item = |r: &agentir_ir::AgentReference| {
                let mut json = json_of(r);
                let guessed = r.file.as_ref().and_then(|f| {
                    let stem = f.value.rsplit(['/', '\\']).next()?.split('.').next()?;
                    Some(r.agent.as_ref()?.value == stem)
                });
                if guessed == Some(true) {
                    json.remove("agent");
                }
                Entry::Item(record::record(ty, &json))
            };
            a.available_agents.iter().map(item).collect()
        };
        self.block("agents", children);
        let mut behavior = Vec::new();
        if let Some(all) = rest.0.get_mut(ABL.id()) {
            if let Some(role) = all.remove("behavior.role") {
                behavior.push(data(Key::keyword("role"), &role.value));
            }
            let own = table("behavior");
            let keys: Vec<String> = all
                .keys()
                .filter(|k| own.field(k).is_some() && AGENT.field(k).is_none())
                .cloned()
                .collect();
            for key in keys {
                if let Some(stored) = all.remove(&key) {
                    behavior.push(extension(own, &key, &stored.value));
                }
            }
        }
        if let Some(routing) = &a.routing {
            if let (Some(direct), true) = (
                routing.direct_response_allowed,
                !behavior
                    .iter()
                    .any(|e| matches!(e, Entry::Field { key, .. } if key.text == "role")),
            ) {
                let word = Scalar::Word(direct.to_string());
                behavior.insert(0, Entry::field("can_respond_directly", word));
            }
            if !routing.forbidden_actions.is_empty() {
                let names = routing.forbidden_actions.iter().map(|n| Value::from(n.value.as_str()));
                let fields = [("forbidden_actions".to_owned(), names.collect())];
                behavior.extend(record::record(table("behavior"), &fields.into_iter().collect()));
            }
            let children = self.routing(routing);
            self.block("routing", children);
        }
        self.block("behavior", behavior);
        let policies: Vec<Entry> = a
            .policies
            .iter()
            .map(|p| {
                let mut json = json_of(p);
                let rules = json.remove("rules");
                json.remove("name");
                let mut children = record::record(item_table("policies"), &json);
                let ty = inner(item_table("policies"), "rules").unwrap_or(&AGENT);
                if let Some(Value::Array(rules)) = rules {
                    let mut all = Vec::new();
                    for rule in &rules {
                        let Some(fields) = rule.as_object() else { continue };
                        let written = record::record(ty, fields);
                        match fields.get("name").and_then(Value::as_str) {
                            Some(name) => all.push(Entry::named(name, written)),
                            None => all.extend(written),
                        }
                    }
                    children.push(Entry::block("rules", all));
                }
                Entry::named(&p.name.value, children)
            })
            .collect();
        self.block("policies", policies);
    }

    fn routing(&self, routing: &Routing) -> Vec<Entry> {
        let ty = item_table("routing");
        let mut children = Vec::new();
        let plain = |r: &RoutingRule| {
            r.name.is_none()
                && r.when.is_none()
                && r.description.is_none()
                && r.priority.is_none()
                && r.pass.is_empty()
                && r.returns.is_none()
                && !r.intents.is_empty()
        };
        let mut rules = routing.rules.as_slice();
        while let Some((first, rest)) = rules.split_first() {
            rules = rest;
            if let (true, Some(to)) = (plain(first), &first.to) {
                let all: Vec<&str> = first.intents.iter().map(|i| i.value.as_str()).collect();
                let text = format!("INTENT({}) -> {to}", all.join(", "));
                children.push(Entry::Item(vec![Entry::line(Scalar::Code(text))]));
                continue;
            }
            // Several rules of one name in the IR are one rule that branches by intent.
            let more = rest.iter().take_while(|r| first.name.is_some() && r.name == first.name);
            let (same, rest) = rest.split_at(more.count());
            rules = rest;
            let all: Vec<&RoutingRule> = std::iter::once(first).chain(same).collect();
            children.push(self.rule(ty, &all));
        }
        if let Some(default) = &routing.default_agent {
            let intents = routing.rules.iter().all(plain) && !routing.rules.is_empty();
            let entry = if intents {
                Entry::line(Scalar::Code(format!("DEFAULT -> {default}")))
            } else {
                Entry::field("default", Scalar::Code(default.to_string()))
            };
            children.push(Entry::Item(vec![entry]));
        }
        let mut around = Vec::new();
        if let Some(known) = &routing.intent_classification
            && known.min_confidence != agentir_ir::Number(0.6)
        {
            let confidence = Scalar::Word(number(known.min_confidence));
            around.push(Entry::field("min_confidence", confidence).lower());
        }
        around.extend(extension_entries(table("routing"), &routing.extensions));
        if around.is_empty() {
            return children;
        }
        if !children.is_empty() {
            around.insert(0, Entry::block("rules", children).lower());
        }
        around
    }

    fn rule(&self, ty: &'static RecordType, all: &[&RoutingRule]) -> Entry {
        let Some(first) = all.first() else { return Entry::Gap };
        let mut json = json_of(*first);
        let constraints: Map<String, Value> = ["ignoreIntents", "channels", "requiresState"]
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), json.remove(*key)?)))
            .collect();
        let direct = all.len() == 1 && first.intents.is_empty() && first.to.is_some();
        if !(direct && first.name.is_none()) {
            json.remove("to");
        }
        let mut item = record::record(ty, &json);
        let route = |rule: &RoutingRule| match (&rule.to, &rule.action) {
            (Some(to), _) => format!("ROUTE_TO {to}"),
            (None, Some(RoutingTarget::RouteToUser { message })) => {
                format!("ROUTE_TO_USER {}", super::layout::quoted(&message.text.value))
            }
            (None, Some(RoutingTarget::RouteToVariable { variable })) => {
                format!("ROUTE_TO_VARIABLE {variable}")
            }
            (None, Some(RoutingTarget::SystemAction { action })) => {
                format!("SYSTEM_ACTION {action}")
            }
            (None, Some(RoutingTarget::EndConversation) | None) => "END_CONVERSATION".to_owned(),
        };
        let by_intent: Vec<&&RoutingRule> = all.iter().filter(|r| !r.intents.is_empty()).collect();
        let others: Vec<&&RoutingRule> = all.iter().filter(|r| r.intents.is_empty()).collect();
        if by_intent.is_empty() {
            if !(direct && first.name.is_none()) {
                item.push(Entry::field("then", Scalar::Code(route(first))));
            }
        } else {
            let matches = by_intent
                .iter()
                .map(|rule| {
                    let intents = names(rule.intents.iter().map(|i| i.value.as_str()));
                    Entry::Item(vec![
                        Entry::field("intents", intents),
                        Entry::field("action", Scalar::Code(route(rule))),
                    ])
                })
                .collect();
            let mut then = vec![Entry::block("intent_match", matches)];
            then.extend(others.iter().map(|r| Entry::field("fallback", Scalar::Code(route(r)))));
            item.push(Entry::block("then", then));
        }
        if let Some(ty) = inner(ty, "constraints")
            && !constraints.is_empty()
        {
            item.push(Entry::block("constraints", record::record(ty, &constraints)));
        }
        Entry::Item(item)
    }
}

/// Inserts an entry at a path of nested names.
fn insert(into: &mut Vec<Entry>, names: &[&str], entry: Entry) {
    let Some((first, rest)) = names.split_first() else {
        into.push(entry);
        return;
    };
    let known = into.iter_mut().find_map(|e| match e {
        Entry::Field { key, children, .. } if key.text == *first => Some(children),
        _ => None,
    });
    match known {
        Some(children) => insert(children, rest, entry),
        None => {
            let mut children = Vec::new();
            insert(&mut children, rest, entry);
            into.push(Entry::named(first, children));
        }
    }
}
