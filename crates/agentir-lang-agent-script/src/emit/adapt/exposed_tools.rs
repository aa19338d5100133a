//! Adapts agents led by the model: their instructions and exposed tools.

use super::expr::{self, all, condition, not, spanned, text};
use super::{Adapter, Variables, action};
use agentir_diagnostics::Span;
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr, TypeField, TypeKind};
use agentir_ir::{
    Activation, Agent, BindingAction, Body, Branch, Call, Data, Delegation, Extensions, FilledBy,
    Gather, GatherField, Hook, InputBinding, Instruction, Response, ReturnType, SetVariable,
    Statement, SystemPrompt, ToolBinding,
};
use agentir_syntax::emit::{guardrail_sentence, with_templates_written_out};
use smol_str::SmolStr;

/// The identity as one text, which other languages spread over several fields.
pub(super) fn system_prompt(variables: &mut Variables, agent: &Agent) -> Option<SystemPrompt> {
    let identity = &agent.identity;
    let mut parts = Vec::new();
    let mut add_part =
        |template: &Template| parts.push(variables.text(template).text.value.to_string());
    if let Some(own) = &identity.system_prompt {
        add_part(&own.template);
    }
    if let Some(persona) = &identity.persona {
        add_part(persona);
    }
    if !identity.limitations.is_empty() {
        let mut lines = vec!["Limitations:".to_owned()];
        lines.extend(
            identity.limitations.iter().map(|l| format!("- {}", variables.text(l).text.value)),
        );
        parts.push(lines.join("\n"));
    }
    let rules = agent.constraints.guardrails.iter().map(guardrail_sentence);
    let rules: Vec<String> = rules.map(|rule| format!("- {rule}")).collect();
    if !rules.is_empty() {
        parts.push(format!("Rules:\n{}", rules.join("\n")));
    }
    if let Some(language) = &identity.language {
        parts.push(format!("Speak the language `{}`.", language.value));
    }
    (!parts.is_empty()).then(|| SystemPrompt { template: text(parts.join("\n")), custom: true })
}

/// Whether a field is asked for, rather than only taken if mentioned.
fn is_asked(field: &GatherField) -> bool {
    !matches!(field.activation, Some(Activation::Optional))
        && field.prompt_mode != Some("extract_only")
}

/// The validation of a field as an instruction.
fn checks(agent: &Agent, field: &GatherField) -> String {
    let mut out = String::new();
    let entity = field.entity_ref.as_ref();
    let entity = agent.entities.iter().find(|e| entity.is_some_and(|r| r.value == e.name.value));
    let values = field.enum_values.iter().chain(entity.iter().flat_map(|e| &e.values));
    let values: Vec<_> = values.map(|v| v.value.as_str()).collect();
    if !values.is_empty() {
        out.push_str(&format!(" One of: {}.", values.join(", ")));
    }
    if let Some(pattern) = entity.and_then(|e| e.pattern.as_ref()) {
        out.push_str(&format!(" It has to fit `{}`.", pattern.value));
    }
    if let Some(check) = &field.validation {
        out.push_str(&format!(" Check ({}): {}.", check.kind.value, check.rule.value));
        for message in check.error_message.iter().chain(&check.retry_prompt) {
            out.push_str(&format!(" Otherwise say: \"{}\"", message.text.value));
        }
    }
    out
}

/// A tool binding with default values.
pub(super) fn binding(name: impl Into<Name>, action: BindingAction) -> ToolBinding {
    ToolBinding {
        name: spanned(name.into()),
        action,
        description: None,
        available_when: None,
        with: Vec::new(),
        after: Body::default(),
        extensions: Extensions::default(),
        span: Span::default(),
    }
}

pub(super) fn say_instruction(template: &Template) -> Template {
    text(format!("Say: \"{}\"", template.text.value))
}

pub(super) fn instruct(agent: &mut Agent, when: Option<Expr>, text: Template) {
    agent.identity.instructions.push(Instruction { when: when.map(condition), text });
}

pub(super) fn expose(agent: &mut Agent, one: ToolBinding) {
    let all = &mut agent.reasoning.get_or_insert_default().bindings;
    let mut one = one;
    let taken = |name: &str| all.iter().any(|b| b.name.value == name);
    if taken(&one.name.value) {
        let base = one.name.value.clone();
        if let Some(free) =
            (2_u32..).map(|n| format!("{base}_{n}")).find(|name| !taken(name.as_str()))
        {
            one.name = spanned(Name::new(free));
        }
    }
    all.push(one);
}

pub(in crate::emit) fn before_turn(agent: &mut Agent) -> &mut Vec<Statement> {
    &mut agent.hooks.before_turn.get_or_insert_with(Hook::default).body.0
}

pub(super) fn after_turn(agent: &mut Agent) -> &mut Vec<Statement> {
    &mut agent.hooks.after_turn.get_or_insert_with(Hook::default).body.0
}

pub(in crate::emit) fn branch(when: Option<Expr>, body: Vec<Statement>) -> Branch {
    Branch {
        condition: when.map(condition),
        body: Body(body),
        extensions: Extensions::default(),
        span: Span::default(),
    }
}

pub(in crate::emit) fn set(variable: &str, value: Expr) -> Statement {
    Statement::Set(SetVariable {
        target: expr::path("variables", variable),
        value,
        span: Span::default(),
    })
}

/// The name of a transition: the verb and the target.
fn transition_name(verb: &str, to: &str) -> Name {
    Name::new(format!("{verb}_{to}"))
}

impl Adapter<'_> {
    /// `ON_START`: the entry agent's first message is the welcome; the rest runs before the first turn,
    /// guarded by a flag.
    pub(super) fn start(&mut self, agent: &Agent, new: &mut Agent) -> Vec<Statement> {
        let first = self.out.is_empty();
        let mut messages = Vec::new();
        let mut done = Vec::new();
        for one in &agent.on_start.0 {
            let said = match one {
                Statement::Respond(response) => agent.response_text(response),
                _ => None,
            };
            match said {
                // A message of the document has no placeholders.
                Some(words)
                    if first
                        && new.on_start.is_empty()
                        && messages.is_empty()
                        && words.parts.is_empty() =>
                {
                    let text = Some(self.variables.text(words));
                    let welcome = Response { text, ..Response::default() };
                    new.on_start.0.push(Statement::Respond(welcome));
                }
                Some(words) => {
                    let words = self.variables.text(words);
                    messages.push(Statement::Instruct { text: say_instruction(&words) });
                }
                None => match one {
                    Statement::Delegate(to) => messages.extend(self.ask_first(agent, to, new)),
                    other => done.extend(self.effects(std::slice::from_ref(other), new)),
                },
            }
        }
        // The turns of a flow pass through its steps.
        if agent.flow.is_none() {
            if let Some(hook) = &agent.hooks.before_turn {
                let body = self.effects(&hook.body.0, new);
                before_turn(new).extend(body);
            }
            if let Some(hook) = &agent.hooks.after_turn {
                let body = self.effects(&hook.body.0, new);
                after_turn(new).extend(body);
            }
        }
        if let Some(hook) = &agent.hooks.before_agent {
            done.extend(self.effects(&hook.body.0, new));
        }
        if !done.is_empty() {
            let flag = self.flag(&format!("{}_started", new.metadata.name.value));
            done.push(set(&flag, boolean(true)));
            let unset = not(expr::reference("variables", &flag));
            before_turn(new).insert(0, Statement::If { branches: vec![branch(unset, done)] });
        }
        messages
    }

    /// An agent that is asked before anything else: the model is told so until it has been in charge once. A flow says the
    /// sentence before its first step.
    fn ask_first(&mut self, agent: &Agent, to: &Delegation, new: &mut Agent) -> Option<Statement> {
        let own = super::resolve(self.program, agent, &to.agent.value);
        let to = self.agent_name(&own, None);
        let c = &agent.coordination;
        let offered = c.handoffs.iter().any(|h| h.returns && h.to.value == own)
            || c.delegates.iter().any(|d| d.agent.value == own);
        let tool = transition_name("ask", &to);
        if agent.flow.is_some() || !offered {
            let mut one =
                binding(tool.clone(), BindingAction::Delegate { agent: spanned(to.clone()) });
            one.description = Some(text(self.purpose(&own, &to)));
            expose(new, one);
        }
        if agent.flow.is_some() {
            let words = text(format!("Ask with {{!@actions.{tool}}}."));
            return Some(Statement::Instruct { text: words });
        }
        let flag = self.flag(&format!("{}_asked_{to}", new.metadata.name.value));
        let unset = not(expr::reference("variables", &flag));
        instruct(new, unset, text(format!("First of all, ask with {{!@actions.{tool}}}.")));
        after_turn(new).push(set(&flag, boolean(true)));
        None
    }

    /// A boolean variable of the document, initially false.
    pub(super) fn flag(&mut self, name: &str) -> Name {
        self.variables.declare(name, "boolean", |declared| {
            declared.initial_value = Some(Data::Bool(false));
        })
    }

    /// The instructions to the model.
    pub(super) fn instructions(&mut self, agent: &Agent, new: &mut Agent) {
        for one in &agent.identity.instructions {
            let mut instruction = self.variables.text(&one.text);
            let written = |said: &Template| self.variables.text(said).text.value.to_string();
            if let Some(text_with) =
                with_templates_written_out(&instruction.text.value, agent, written)
            {
                instruction = text(text_with);
            }
            let when = one.when.as_ref().map(|c| (c, self.variables.condition(c)));
            match when {
                None => instruct(new, None, instruction),
                Some((_, Some(when))) => instruct(new, Some(when), instruction),
                Some((c, None)) => {
                    instruct(
                        new,
                        None,
                        text(format!("If {}: {}", c.text.value, instruction.text.value)),
                    );
                }
            }
        }
        for handler in &agent.error_handling.handlers {
            if let Some(words) = &handler.respond {
                let words = say_instruction(&self.variables.text(words)).text.value;
                let kind = &handler.kind.value;
                instruct(new, None, text(format!("If there is a `{kind}`: {words}")));
            }
        }
    }

    /// Exposes everything that an agent without a flow offers its model.
    pub(super) fn expose_all(&mut self, agent: &Agent, new: &mut Agent) {
        self.gather(agent, &agent.gather, new);
        self.knowledge(agent, new);
        let tools: Vec<_> = agent
            .tools
            .iter()
            .map(|t| t.name.value.clone())
            .chain(agent.use_tools.iter().map(|t| t.value.clone()))
            .collect();
        for tool in tools {
            self.expose_tool(&tool, new);
        }
        self.transitions(agent, new);
        self.constraints(agent, new);
    }

    /// Collecting fields: a tool that sets them, and instructions to ask for them.
    pub(super) fn gather(
        &mut self,
        agent: &Agent,
        gather: &Gather,
        new: &mut Agent,
    ) -> Vec<(Name, bool)> {
        let mut take = binding("note_details", BindingAction::Collect);
        let mut fields = Vec::new();
        for field in &gather.fields {
            let ty = field.ty.as_ref().map_or("", |t| t.value.as_str());
            let name = self.variables.declare(&field.name.value, ty, |_| {});
            if let Some(prompt) = &field.prompt {
                let unset = expr::is_set(expr::reference("variables", &name), true);
                let when = all(unset.into_iter().chain(self.activation_conditions(field)));
                let asked = self.question(agent, field, prompt);
                if is_asked(field) {
                    instruct(new, when, asked);
                }
            }
            take.with.push(InputBinding {
                name: spanned(name.clone()),
                filled_by: FilledBy::Model,
                value: None,
            });
            fields.push((name, field.required));
        }
        if let Some(prompt) = &gather.prompt {
            let asked = self.variables.text(prompt);
            instruct(new, None, asked);
        }
        if !take.with.is_empty() {
            let names: Vec<_> = take.with.iter().map(|w| w.name.value.replace('_', " ")).collect();
            take.description = Some(text(format!("Note what the user says: {}", names.join(", "))));
            expose(new, take);
        }
        fields
    }

    /// How to ask for a field, and what is told of its values.
    pub(super) fn question(
        &mut self,
        agent: &Agent,
        field: &GatherField,
        prompt: &Template,
    ) -> Template {
        let asked = self.variables.text(prompt);
        text(format!("Ask: \"{}\"{}", asked.text.value, checks(agent, field)))
    }

    /// The conditions under which a field is asked for.
    fn activation_conditions(&mut self, field: &GatherField) -> Vec<Expr> {
        let mut when = Vec::new();
        if let Some(Activation::When { when: c }) = &field.activation {
            when.extend(self.variables.condition(c));
        }
        for other in &field.depends_on {
            let name = self.variables.path(&agentir_expr::Path::variable(other.clone()));
            when.extend(expr::is_set(Expr::path(name, Span::default()), false));
        }
        when
    }

    /// The knowledge base, as far as it is inline.
    fn knowledge(&mut self, agent: &Agent, new: &mut Agent) {
        let Some(knowledge) = &agent.knowledge else { return };
        for one in &knowledge.questions {
            if let (Some(question), Some(answer)) = (&one.question, &one.answer) {
                let words =
                    format!("Asked \"{}\", answer: \"{}\"", question.text.value, answer.text.value);
                instruct(new, None, text(words));
            }
        }
        if !knowledge.sources.is_empty() {
            let all: Vec<_> = knowledge.sources.iter().map(|s| s.value.as_str()).collect();
            instruct(new, None, text(format!("Answer from: {}", all.join(", "))));
        }
    }

    /// Exposes a tool while the constraints on its calls hold.
    pub(super) fn expose_tool(&mut self, tool: &str, new: &mut Agent) {
        if !self.add_action(tool, new) {
            return;
        }
        let mut one = binding(
            agentir_syntax::emit::NameSyntax::Word.legalize(&format!("use_{tool}")),
            BindingAction::Call { tool: spanned(Name::new(tool)) },
        );
        one.available_when = self.call_guard(tool).map(condition);
        let declared = self.tool(tool).cloned();
        one.description = declared.as_ref().and_then(|t| t.description.clone());
        for parameter in declared.iter().flat_map(|t| &t.parameters) {
            one.with.push(InputBinding {
                name: parameter.name.clone(),
                filled_by: FilledBy::Model,
                value: None,
            });
        }
        one.after = Body(self.results(tool, tool));
        expose(new, one);
    }

    /// Declares a tool where it is used; false if it is unknown.
    pub(super) fn add_action(&mut self, tool: &str, new: &mut Agent) -> bool {
        if new.tools.iter().any(|t| t.name.value == tool) {
            return true;
        }
        let Some(declared) = self.tool(tool).map(action) else { return false };
        new.tools.push(declared);
        true
    }

    /// Assigns the outputs of a tool to the variables that the rest of the agent reads.
    pub(super) fn results(&mut self, tool: &str, result_name: &str) -> Vec<Statement> {
        let Some(returns) = self.tool(tool).map(action).and_then(|t| t.returns) else {
            return Vec::new();
        };
        let agentir_expr::TypeKind::Object(fields) = returns.ty.kind else { return Vec::new() };
        let whole = matches!(fields.as_slice(), [only] if only.name.value == "result");
        let mut done = Vec::new();
        for field in fields {
            let own = if whole {
                result_name.to_owned()
            } else {
                format!("{result_name}.{}", field.name.value)
            };
            let name = self.variables.declare(&own, &field.ty.to_string(), |_| {});
            // `result` is the result of the last call.
            let last = if whole {
                SmolStr::new_static("result")
            } else {
                SmolStr::new(format!("result.{}", field.name.value))
            };
            self.variables.current_names.insert(last, name.clone());
            self.variables.results.insert(name.clone());
            done.push(set(&name, expr::reference("outputs", &field.name.value)));
        }
        done
    }

    /// The result of a tool without a declared result type.
    fn undeclared_result(&mut self, tool: &str, result_name: &str, new: &mut Agent) -> Statement {
        let ty = TypeExpr::named("object", Span::default());
        let field = TypeField { name: spanned("result".into()), optional: false, ty };
        let kind = TypeKind::Object(vec![field]);
        let returns = ReturnType::new(TypeExpr { kind, span: Span::default() });
        for one in new.tools.iter_mut().filter(|t| t.name.value == tool) {
            one.returns = Some(returns.clone());
        }
        let name = self.variables.declare(result_name, "object", |_| {});
        self.variables.current_names.insert(SmolStr::new_static("result"), name.clone());
        set(&name, expr::reference("outputs", "result"))
    }

    fn add_guard(&mut self, one: &mut ToolBinding, when: Option<&Condition>, otherwise: &str) {
        match when.map(|c| (c, self.variables.condition(c))) {
            Some((_, Some(expr))) => {
                one.available_when = Some(condition(expr));
                one.description = Some(text(otherwise));
            }
            Some((c, None)) => one.description = Some(text(expr::to_phrase(c))),
            None => one.description = Some(text(otherwise)),
        }
    }

    /// The transitions to other agents and to humans, and the end of the conversation.
    pub(super) fn transitions(&mut self, agent: &Agent, new: &mut Agent) {
        for handoff in &agent.coordination.handoffs {
            let own = super::resolve(self.program, agent, &handoff.to.value);
            let to = self.agent_name(&own, handoff.remote.as_ref());
            let action = if handoff.returns {
                BindingAction::Delegate { agent: spanned(to.clone()) }
            } else {
                BindingAction::Handoff { to: spanned(to.clone()) }
            };
            let mut one =
                binding(transition_name(if handoff.returns { "ask" } else { "to" }, &to), action);
            self.add_guard(&mut one, handoff.when.as_ref(), &self.purpose(&own, &to));
            self.guard_way(&own, &mut one);
            expose(new, one);
        }
        for delegate in &agent.coordination.delegates {
            let to = self.agent_name(&delegate.agent.value, delegate.remote.as_ref());
            let mut one = binding(
                transition_name("ask", &to),
                BindingAction::Delegate { agent: spanned(to.clone()) },
            );
            let purpose = delegate.purpose.as_ref().map(|p| p.text.value.to_string());
            let purpose = purpose.unwrap_or_else(|| self.purpose(&delegate.agent.value, &to));
            self.add_guard(&mut one, delegate.when.as_ref(), &purpose);
            self.guard_way(&delegate.agent.value, &mut one);
            expose(new, one);
        }
        for rule in agent.routing.iter().flat_map(|r| &r.rules) {
            let Some(to) = &rule.to else { continue };
            let own = super::resolve(self.program, agent, &to.value);
            let known =
                |h: &agentir_ir::Handoff| super::resolve(self.program, agent, &h.to.value) == own;
            if agent.coordination.handoffs.iter().any(known) {
                continue;
            }
            let to = self.agent_name(&own, None);
            let mut one = binding(
                transition_name("to", &to),
                BindingAction::Handoff { to: spanned(to.clone()) },
            );
            let described = rule.description.as_ref().map(|d| d.text.value.to_string());
            let intents: Vec<_> = rule.intents.iter().map(|i| i.value.as_str()).collect();
            let described = described.or_else(|| {
                let known = agent.nlu.iter().flat_map(|nlu| &nlu.intents);
                let meant = known.filter(|one| intents.contains(&one.name.value.as_str()));
                let words: Vec<&str> = meant
                    .filter_map(|one| Some(one.description.as_ref()?.text.value.trim()))
                    .filter(|words| !words.is_empty())
                    .collect();
                (words.len() == intents.len() && !words.is_empty()).then(|| words.join("; or: "))
            });
            let words = described.unwrap_or_else(|| match intents.as_slice() {
                [] => self.purpose(&own, &to),
                intents => format!("The user wants: {}", intents.join(", ")),
            });
            self.add_guard(&mut one, rule.when.as_ref(), &words);
            self.guard_way(&own, &mut one);
            expose(new, one);
        }
        let default = agent.routing.as_ref().and_then(|r| r.default_agent.as_ref());
        if let Some(to) = default {
            let own = super::resolve(self.program, agent, &to.value);
            let to = self.agent_name(&own, None);
            let mut one =
                binding(transition_name("to", &to), BindingAction::Handoff { to: spanned(to) });
            one.description = Some(text("When nothing else fits"));
            self.guard_way(&own, &mut one);
            expose(new, one);
        }
        for trigger in agent.coordination.escalation.iter().flat_map(|e| &e.triggers) {
            let mut one = binding("to_person", BindingAction::Escalate);
            let reason = trigger.reason.as_ref().map(|r| r.text.value.to_string());
            let reason = reason.unwrap_or_else(|| "When a person has to take over".to_owned());
            self.add_guard(&mut one, trigger.when.as_ref(), &reason);
            expose(new, one);
        }
        for done in &agent.completion.conditions {
            if self.returns_control {
                self.instruct_completion(done, new);
                continue;
            }
            let mut one = binding("finish", BindingAction::Complete);
            let words = match &done.respond {
                Some(message) => {
                    say_instruction(&self.variables.text(message)).text.value.to_string()
                }
                None => "When nothing is left to do".to_owned(),
            };
            self.add_guard(&mut one, done.when.as_ref(), &words);
            expose(new, one);
        }
    }

    /// A delegated agent returns control by itself; the model is only told when it is done.
    fn instruct_completion(&mut self, done: &agentir_ir::CompletionCondition, new: &mut Agent) {
        let message = done
            .respond
            .as_ref()
            .map(|message| say_instruction(&self.variables.text(message)).text.value);
        let mut words = "You are done.".to_owned();
        if let Some(message) = message {
            words.push(' ');
            words.push_str(&message);
        }
        match done.when.as_ref().map(|c| (c, self.variables.condition(c))) {
            Some((_, Some(when))) => instruct(new, Some(when), text(words)),
            Some((c, None)) => instruct(new, None, text(format!("If {}: {words}", c.text.value))),
            None => instruct(new, None, text(words)),
        }
    }

    /// Statements that Agent Script executes itself; messages become instructions elsewhere.
    pub(super) fn effects(&mut self, all: &[Statement], new: &mut Agent) -> Vec<Statement> {
        let mut out = Vec::new();
        for one in all {
            match one {
                Statement::Set(one) => {
                    if let Some(value) = self.variables.expr(&one.value) {
                        let target = self.variables.path(&one.target);
                        let set = SetVariable { target, value, span: one.span };
                        out.extend(self.variables.compiled(set).map(Statement::Set));
                    }
                }
                Statement::Clear { variables } => {
                    for variable in variables {
                        let target =
                            self.variables.path(&agentir_expr::Path::variable(variable.clone()));
                        let value = Expr::literal(agentir_expr::Literal::Null, variable.span);
                        out.push(Statement::Set(SetVariable {
                            target,
                            value,
                            span: variable.span,
                        }));
                    }
                }
                Statement::Call(call) => {
                    let mut done = Vec::new();
                    let guard = self.call_guard(&call.tool.value);
                    self.call(call, new, &mut done);
                    match guard {
                        Some(_) if done.is_empty() => {}
                        guard @ Some(_) => {
                            out.push(Statement::If { branches: vec![branch(guard, done)] });
                        }
                        None => out.append(&mut done),
                    }
                }
                Statement::If { branches } => {
                    let branches = self.branches(branches, new);
                    out.extend(super::flow::if_chain(branches));
                }
                _ => {}
            }
        }
        out
    }

    fn branches(&mut self, branches: &[Branch], new: &mut Agent) -> Vec<Branch> {
        let mut out = Vec::new();
        for one in branches {
            let when = match &one.condition {
                Some(c) => match self.variables.condition(c) {
                    Some(when) => Some(when),
                    None => continue,
                },
                // Without the branch before it, an `else` would always run.
                None if out.is_empty() => continue,
                None => None,
            };
            let body = self.effects(&one.body.0, new);
            out.push(branch(when, body));
        }
        out
    }

    /// `run` and its outputs; the statements that follow are placed after it, since the official tools
    /// reject statements inside a `run`.
    pub(super) fn call(&mut self, call: &Call, new: &mut Agent, out: &mut Vec<Statement>) {
        let tool = call.tool.value.clone();
        if !self.add_action(&tool, new) {
            return;
        }
        let parameters: Vec<_> = self
            .tool(&tool)
            .map(|t| t.parameters.iter().map(|p| p.name.clone()).collect())
            .unwrap_or_default();
        let mut with = Vec::new();
        if call.has_arguments {
            for (i, argument) in call.with.iter().enumerate() {
                let name = argument.name.clone().or_else(|| parameters.get(i).cloned());
                if let (Some(name), Some(value)) = (name, self.variables.value(&argument.value)) {
                    with.push(agentir_expr::Argument { name: Some(name), value });
                }
            }
        } else {
            for name in parameters {
                let own = agentir_expr::Path::variable(name.clone());
                let value = Expr::path(self.variables.path(&own), name.span);
                with.push(agentir_expr::Argument { name: Some(name), value });
            }
        }
        let result_name = call.result.as_ref().map_or(tool.clone(), |r| r.value.clone());
        let mut results = self.results(&tool, &result_name);
        if results.is_empty() {
            results.push(self.undeclared_result(&tool, &result_name, new));
        }
        out.push(Statement::Call(Box::new(Call {
            has_arguments: true,
            on_success: Body(results),
            ..Call::new(call.tool.clone(), with, call.span)
        })));
        out.extend(self.effects(&call.on_success.0, new));
        if !call.on_result.is_empty() {
            let branches = self.branches(&call.on_result, new);
            out.extend(super::flow::if_chain(branches));
        }
    }
}

pub(in crate::emit) fn boolean(value: bool) -> Expr {
    Expr::literal(agentir_expr::Literal::Bool(value), Span::default())
}
