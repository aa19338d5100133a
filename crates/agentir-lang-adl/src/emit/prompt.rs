//! Emits the prompt of an llm agent: instructions, and sentences for constructs that ADL lacks.

use super::verbatim;
use super::{Context, expr::Form, form};
use agentir_expr::{Condition, Template};
use agentir_ir::{
    Agent, Constraint, Data, ErrorHandler, GatherField, Jump, ReasoningZone, Statement, Step,
    Target, ToolBinding,
};
use agentir_syntax::emit::{
    Choices, expr_phrase, guardrail_sentence, phrase, with_full_stop, with_templates_written_out,
};

/// The paragraphs of a prompt.
#[derive(Default)]
struct Prompt(Vec<String>);

impl Prompt {
    fn push(&mut self, text: impl Into<String>) {
        let text = text.into();
        let text = text.trim_end();
        if !text.is_empty() {
            self.0.push(text.to_owned());
        }
    }

    /// A heading and one line per item.
    fn list(&mut self, heading: &str, items: impl Iterator<Item = String>) {
        let items: Vec<_> =
            items.map(|i| format!("- {}", i.trim().replace('\n', "\n  "))).collect();
        if !items.is_empty() {
            self.0.push(format!("{heading}\n{}", items.join("\n")));
        }
    }

    fn finish(self) -> String {
        self.0.join("\n\n")
    }
}

fn when(condition: Option<&Condition>, what: &str) -> String {
    match condition {
        // A noun phrase, as descriptions often are, rather than a clause.
        Some(condition)
            if condition.expr().is_none()
                && condition.text.value.starts_with(|c: char| c.is_uppercase()) =>
        {
            with_full_stop(&format!("{}: {what}", condition.text.value.trim_end_matches('.')))
        }
        Some(condition) => {
            let sign = if what.starts_with(char::is_uppercase) { ":" } else { "," };
            with_full_stop(&format!("If {}{sign} {what}", phrase(condition)))
        }
        None => with_full_stop(&capitalized(what)),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

fn data(value: &Data) -> String {
    match value {
        Data::String(text) => text.clone(),
        Data::Array(items) => items.iter().map(data).collect::<Vec<_>>().join(", "),
        Data::Object(map) => {
            map.iter().map(|(k, v)| format!("{k} {}", data(v))).collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    }
}

/// The prompt of an agent.
pub(super) fn of(context: &Context<'_>, agent: &Agent) -> String {
    let mut prompt = Prompt::default();
    if form(agent) == Form::AsWritten {
        let all = agent.identity.instructions.iter().map(|i| verbatim(&i.text));
        return all.collect::<Vec<_>>().join("\n");
    }
    identity(agent, &mut prompt);
    prompt.list("Find out what you need from the user:", agent.gather.fields.iter().map(field));
    let files = agent.attachments.iter().map(|a| {
        let asks = a.prompt.as_ref().map(|p| format!(" ({})", verbatim(p))).unwrap_or_default();
        format!("{}: {}{asks}", a.name, a.category)
    });
    prompt.list("Ask for these files:", files);
    tools(context, agent, &mut prompt);
    prompt.list("Rules:", agent.constraints.constraints.iter().map(constraint));
    prompt.list(
        "Never break these safety rules:",
        agent.constraints.guardrails.iter().map(guardrail_sentence),
    );
    prompt.list("Policies:", policies(agent));
    coordination(agent, &mut prompt);
    completion(agent, &mut prompt);
    let errors =
        agent.error_handling.handlers.iter().chain(agent.error_handling.default_handler.as_deref());
    prompt.list("If something goes wrong:", errors.map(error));
    prompt.list("Texts to use:", texts(agent));
    let text = prompt.finish();
    if text.is_empty() {
        // An agent must have a prompt.
        return agent.identity.goal.as_ref().map_or_else(|| "Help the user.".to_owned(), verbatim);
    }
    text
}

fn identity(agent: &Agent, prompt: &mut Prompt) {
    let identity = &agent.identity;
    if let Some(system) = &identity.system_prompt {
        prompt.push(verbatim(&system.template));
    }
    if let Some(persona) = &identity.persona {
        prompt.push(verbatim(persona));
    }
    let told = |text: &Template| {
        let text = verbatim(text);
        with_templates_written_out(&text, agent, verbatim).unwrap_or(text)
    };
    let plain: Vec<_> =
        identity.instructions.iter().filter(|i| i.when.is_none()).map(|i| told(&i.text)).collect();
    prompt.push(plain.join("\n"));
    for instruction in identity.instructions.iter().filter(|i| i.when.is_some()) {
        prompt.push(when(instruction.when.as_ref(), &told(&instruction.text)));
    }
    instructions_in(&agent.on_start.0, prompt);
    prompt.list("Limits:", identity.limitations.iter().map(verbatim));
    if let Some(language) = &identity.language {
        prompt.push(format!("Speak {language}."));
    }
}

/// The instructions in statements.
fn instructions_in(statements: &[Statement], prompt: &mut Prompt) {
    for statement in statements {
        if let Statement::Instruct { text } = statement {
            prompt.push(verbatim(text));
        }
    }
}

fn field(field: &GatherField) -> String {
    let mut text = field.name.value.to_string();
    let mut about = Vec::new();
    about.extend(field.ty.as_ref().map(|t| t.value.to_string()));
    if !field.required {
        about.push("optional".to_owned());
    }
    if !about.is_empty() {
        text += &format!(" ({})", about.join(", "));
    }
    let mut more: Vec<String> = Vec::new();
    more.extend(field.description.as_ref().map(verbatim));
    more.extend(field.prompt.as_ref().map(|p| format!("Ask: {}", verbatim(p))));
    if !field.enum_values.is_empty() {
        let values: Vec<_> = field.enum_values.iter().map(|v| v.value.as_str()).collect();
        more.push(format!("One of {}", values.join(", ")));
    }
    more.extend(field.default.as_ref().map(|d| format!("Otherwise {}", data(d))));
    if let Some(validation) = &field.validation {
        more.push(format!("It must fit the {} {}", validation.kind, validation.rule));
        more.extend(
            validation
                .error_message
                .as_ref()
                .map(|m| format!("If it does not, say: {}", verbatim(m))),
        );
        more.extend(validation.retry_prompt.as_ref().map(|m| format!("Then ask: {}", verbatim(m))));
        more.extend(validation.max_retries.map(|n| format!("Ask at most {} times", n.0)));
    }
    more.extend(field.range.as_ref().map(|r| format!("It lies between {}", data(r))));
    let hints: Vec<_> = field.extraction_hints.iter().map(verbatim).collect();
    if !hints.is_empty() {
        more.push(format!("Hints: {}", hints.join("; ")));
    }
    if !field.depends_on.is_empty() {
        let first: Vec<_> = field.depends_on.iter().map(|d| d.value.as_str()).collect();
        more.push(format!("Ask only after {}", first.join(", ")));
    }
    if let Some(agentir_ir::Activation::When { when }) = &field.activation {
        more.push(format!("Ask only if {}", phrase(when)));
    }
    more.extend(field.infer.filter(|i| *i).map(|_| "It may be inferred".to_owned()));
    more.extend(field.infer_confirm.filter(|i| *i).map(|_| "Let the user confirm it".to_owned()));
    if more.is_empty() {
        return text;
    }
    let more: Vec<_> = more.iter().map(|m| with_full_stop(m)).collect();
    format!("{text}: {}", more.join(" "))
}

/// When tools are exposed, and which calls the user must confirm.
fn tools(context: &Context<'_>, agent: &Agent, prompt: &mut Prompt) {
    let bindings = agent.reasoning.iter().flat_map(|r| &r.bindings);
    let offered = bindings.filter_map(|b| {
        let agentir_ir::BindingAction::Call { tool } = &b.action else { return None };
        let mut text = Vec::new();
        text.extend(b.description.as_ref().map(verbatim));
        text.extend(b.available_when.as_ref().map(|w| format!("Only if {}", phrase(w))));
        for input in &b.with {
            text.extend(
                input.value.as_ref().map(|v| format!("Pass {} as {}", expr_phrase(v), input.name)),
            );
        }
        let mut text: Vec<_> = text.iter().map(|s| with_full_stop(s)).collect();
        handoffs_after_calls(&b.after.0, None, &mut text);
        (!text.is_empty()).then(|| format!("\"{tool}\": {}", text.join(" ")))
    });
    let confirmed = super::agent::uses(agent).into_iter().filter_map(|name| {
        let tool = context.tools.get(name)?;
        tool.confirmation_required_at()?;
        Some(format!("Before you call \"{name}\", let the user confirm it."))
    });
    prompt.list("Functions:", offered.chain(confirmed));
}

/// The handoffs after a call.
fn handoffs_after_calls(
    statements: &[Statement],
    only: Option<&Condition>,
    text: &mut Vec<String>,
) {
    for statement in statements {
        let what = match statement {
            Statement::Handoff(d) => format!("then transfer to the \"{}\" agent", d.agent),
            Statement::Delegate(d) => format!("then ask the \"{}\" agent", d.agent),
            Statement::If { branches } => {
                for branch in branches {
                    handoffs_after_calls(&branch.body.0, branch.condition.as_ref(), text);
                }
                continue;
            }
            _ => continue,
        };
        text.push(when(only, &what));
    }
}

fn constraint(constraint: &Constraint) -> String {
    let must = match constraint.kind {
        Some(agentir_ir::ConstraintKind::Restrict) => "It must not be that",
        Some(agentir_ir::ConstraintKind::Warn) => "It should be that",
        _ => "It must be that",
    };
    let mut text = with_full_stop(&format!("{must} {}", phrase(&constraint.condition)));
    if let Some(only) = &constraint.applies_when {
        text = format!("If {}: {text}", phrase(only));
    }
    let Some(fail) = &constraint.on_fail else { return text };
    if let Some(message) = &fail.message {
        text += &format!(" Otherwise say: {}", with_full_stop(&verbatim(message)));
    }
    if let Some(target) = &fail.target {
        text += &format!(" Otherwise transfer to the {target} agent.");
    }
    if let Some(reason) = &fail.reason {
        text += &format!(" Otherwise a person takes over: {reason}.");
    }
    if !fail.collect_fields.is_empty() {
        let again: Vec<_> = fail.collect_fields.iter().map(|f| f.value.as_str()).collect();
        text += &format!(" Then ask again for {}.", again.join(", "));
    }
    text
}

fn policies(agent: &Agent) -> impl Iterator<Item = String> {
    let policies =
        agent.policies.iter().filter(|p| !matches!(p.name.value.as_str(), "fallback" | "exit"));
    policies.flat_map(|policy| {
        let head = policy.description.as_ref().map(verbatim);
        let rules = policy.rules.iter().map(|rule| {
            let mut text: Vec<String> = Vec::new();
            text.extend(rule.allowed_when.as_ref().map(|w| format!("Allowed if {}", phrase(w))));
            text.extend(
                rule.forbidden_when.as_ref().map(|w| format!("Forbidden if {}", phrase(w))),
            );
            text.extend(rule.behavior.as_ref().map(verbatim));
            let text: Vec<_> = text.iter().map(|s| with_full_stop(s)).collect();
            text.join(" ")
        });
        head.into_iter().chain(rules).filter(|s| !s.is_empty()).collect::<Vec<_>>()
    })
}

/// What the model may do: its description says when, and the guard under which condition it may.
fn chosen(choice: Option<&ToolBinding>, condition: Option<&Condition>, what: &str) -> String {
    let Some(choice) = choice else { return when(condition, what) };
    let described = choice.description.as_ref().map(Condition::words);
    let Some(guard) = &choice.available_when else {
        return when(described.as_ref().or(condition), what);
    };
    when(described.as_ref(), &format!("{what}, but only if {}", phrase(guard)))
}

/// Whether an agent goes on without a word about what failed.
fn is_silent(reaction: &Jump) -> bool {
    reaction.target == Target::Continue
}

/// Handoffs, in the wording usual in ADL.
fn coordination(agent: &Agent, prompt: &mut Prompt) {
    let c = &agent.coordination;
    let choices = Choices::of(agent);
    let handoffs = c.handoffs.iter().zip(&choices.handoffs).map(|(h, choice)| {
        let what = format!("transfer to the \"{}\" agent", h.to);
        let mut text = chosen(*choice, h.when.as_ref(), &what);
        text.extend(
            h.context
                .summary
                .as_ref()
                .map(|s| format!(" Summarize: {}", with_full_stop(&verbatim(s)))),
        );
        text
    });
    let delegates = c.delegates.iter().zip(&choices.delegates).map(|(d, choice)| {
        let what = format!("ask the \"{}\" agent, and go on with its answer", d.agent);
        let mut text = chosen(*choice, d.when.as_ref(), &what);
        text.extend(d.purpose.as_ref().map(|p| format!(" {}", with_full_stop(&verbatim(p)))));
        text.extend(d.use_result.as_ref().map(|p| format!(" {}", with_full_stop(&verbatim(p)))));
        text.extend(
            d.failure_message
                .as_ref()
                .filter(|_| !d.on_failure.as_ref().is_some_and(is_silent))
                .map(|p| format!(" If it fails, say: {}", with_full_stop(&verbatim(p)))),
        );
        text
    });
    let rules = agent.routing.iter().flat_map(|r| &r.rules).filter_map(|r| {
        Some(when(r.when.as_ref(), &format!("transfer to the \"{}\" agent", r.to.as_ref()?)))
    });
    for text in handoffs.chain(delegates).chain(rules) {
        prompt.push(text);
    }
    let mut around = Vec::new();
    for (_, hook) in agent.hooks.iter() {
        handoffs_after_calls(&hook.body.0, None, &mut around);
    }
    around.into_iter().for_each(|text| prompt.push(text));
    let triggers = c.escalation.iter().flat_map(|e| &e.triggers).zip(&choices.triggers);
    let triggers = triggers.map(|(t, choice)| {
        let what = "tell the user that a person will take over, and exit this agent";
        let mut text = chosen(*choice, t.when.as_ref(), what);
        text.extend(
            t.reason.as_ref().map(|r| format!(" Reason: {}", with_full_stop(&verbatim(r)))),
        );
        text.extend(t.respond.as_ref().map(|r| format!(" Say: {}", with_full_stop(&verbatim(r)))));
        text.extend(t.priority.as_ref().map(|p| format!(" Its priority is {p}.")));
        text
    });
    prompt.list("A person takes over:", triggers);
    if let Some(context) =
        c.escalation.as_ref().map(|e| &e.context_for_human).filter(|c| !c.is_empty())
    {
        prompt.list("The person needs to know:", context.iter().map(|item| data(&item.data())));
    }
}

fn completion(agent: &Agent, prompt: &mut Prompt) {
    let choices = Choices::of(agent).completions;
    let done = agent.completion.conditions.iter().zip(choices).map(|(c, choice)| {
        let mut text = chosen(choice, c.when.as_ref(), "exit this agent");
        text.extend(c.respond.as_ref().map(|r| format!(" Say: {}", with_full_stop(&verbatim(r)))));
        text
    });
    prompt.list("You are done:", done);
}

fn error(handler: &ErrorHandler) -> String {
    let mut text = handler.kind.value.to_string();
    let mut more: Vec<String> = Vec::new();
    more.extend(handler.respond.as_ref().map(|r| format!("Say: {}", verbatim(r))));
    more.extend(handler.retry.as_ref().map(|n| match n {
        agentir_ir::NumberOrText::Number(n) => format!("Try again {} times", n.0),
        agentir_ir::NumberOrText::Text(t) => format!("Try again {t} times"),
    }));
    more.extend(handler.handoff_target.as_ref().map(|a| format!("Transfer to the \"{a}\" agent")));
    more.extend(handler.then.as_ref().map(|j| match &j.reason {
        Some(reason) => format!("Then {}: {reason}", j.target.to_string().to_lowercase()),
        None => format!("Then {}", j.target.to_string().to_lowercase()),
    }));
    let more: Vec<_> = more.iter().map(|m| with_full_stop(m)).collect();
    if !more.is_empty() {
        text += &format!(": {}", more.join(" "));
    }
    text
}

/// Named templates, and fixed answers of an llm agent.
fn texts(agent: &Agent) -> impl Iterator<Item = String> {
    let named = |name: &str, text: Option<&Template>| Some(format!("{name}: {}", verbatim(text?)));
    let templates =
        agent.templates.iter().filter_map(move |(name, t)| named(name, t.default.as_ref()));
    let messages = agent.messages.iter().filter_map(move |(name, m)| named(name, m.text.as_ref()));
    let questions = agent.knowledge.iter().flat_map(|k| &k.questions).map(|q| {
        let text = |t: &Option<Template>| t.as_ref().map(verbatim).unwrap_or_default();
        format!("{} {}", text(&q.question), text(&q.answer))
    });
    templates.chain(messages).chain(questions)
}

/// The prompt of the agent that takes over a reasoning zone.
pub(super) fn of_zone(agent: &Agent, step: &Step, zone: &ReasoningZone) -> String {
    let mut prompt = Prompt::default();
    identity(agent, &mut prompt);
    prompt.push(step.description.as_ref().map(verbatim).unwrap_or_default());
    prompt.push(zone.goal.as_ref().map(verbatim).unwrap_or_default());
    instructions_in(&zone.prepare.0, &mut prompt);
    prompt.list(
        "Rules:",
        agent.constraints.constraints.iter().chain(&zone.constraints).map(constraint),
    );
    prompt.list(
        "Never break these safety rules:",
        agent.constraints.guardrails.iter().map(guardrail_sentence),
    );
    if let Some(done) = &zone.exit_when {
        prompt.push(when(Some(done), "exit this agent"));
    }
    if let Some(turns) = zone.max_turns {
        prompt.push(format!("Exit this agent after {} turns.", turns.0));
    }
    prompt.finish()
}
