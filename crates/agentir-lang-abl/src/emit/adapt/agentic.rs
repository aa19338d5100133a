//! The agentic style: a flow that only collects, calls tools and answers becomes fields, constraints on the calls, and
//! conditions under which the agent is done. What is left, the order and the words in between, is the model's.
//!
//! The [`Ways`] through the flow say what precedes each call: what all of them share is a constraint each, and what only
//! some have is one of alternatives. What is said on a way behind its last call is said by `COMPLETE`; what is said before
//! anything is asked or called, by `ON_START`; the rest is told to the model.

use super::expr::{of_expr, replace_text};
use super::reasoning::{call_constraint, fix};
use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Expr, Literal, Path, Template};
use agentir_ir::{
    Activation, Agent, AgentType, Branch, Call, CompletionCondition, Data, Extensions, Flow,
    GatherField, GatherOverrides, Instruction, Profile, Program, Response, SessionVariable,
    SetVariable, Statement,
};
use agentir_syntax::emit::dialog::{
    Event, Fact, Facts, Reason, Ways, alternatives, by_tools, names_of, shared, tail,
};
use agentir_syntax::emit::{Remark, expr_phrase};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};
use std::fmt;
use std::sync::Arc;

/// Gives the flows of a program to the model, where nothing is lost but their order. Returns the agents that keep theirs, and those that do
/// not.
pub(in crate::emit) fn program(program: &mut Program) -> (Vec<Remark>, Vec<SmolStr>) {
    let (mut kept, mut led) = (Vec::new(), Vec::new());
    let mut agents = std::mem::take(&mut program.agents);
    let mut users: FxHashMap<SmolStr, usize> = FxHashMap::default();
    for profile in agents.iter().flat_map(|agent| &agent.use_behavior_profiles) {
        *users.entry(profile.value.clone()).or_default() += 1;
    }
    for shared in &mut agents {
        let Some(flow) = shared.flow.clone() else { continue };
        let name = shared.metadata.name.value.clone();
        match agent(shared, &flow, &program.profiles, &users) {
            Ok((new, profiles)) => {
                *shared = Arc::new(new);
                program.profiles = profiles;
                led.push(name);
            }
            Err(why) => kept.push(Remark {
                agent: name.to_string(),
                cause: format!("the agent keeps its flow: {why}"),
                help: "leave it, or write it with `GOAL`, `GATHER` and `CONSTRAINTS` by hand"
                    .to_owned(),
            }),
        }
    }
    program.agents = agents;
    (kept, led)
}

type Profiles = Vec<Arc<Profile>>;

/// What a profile says instead: the condition, and the ways with its words.
struct Variant<'a> {
    when: &'a Condition,
    ways: Ways<'a>,
}

/// The agent without its flow, and the profiles of the program without their changes of it. `users` says how many agents use
/// each profile.
fn agent(
    agent: &Agent,
    flow: &Flow,
    profiles: &Profiles,
    users: &FxHashMap<SmolStr, usize>,
) -> Result<(Agent, Profiles), Reason> {
    if agent.metadata.kind == AgentType::Supervisor {
        return Err("a supervisor leads the conversation by rules".to_owned());
    }
    if agent.reasoning.is_some() {
        return Err("the model leads a part of it already".to_owned());
    }
    let ways = Ways::of(agent, flow, None)?;
    let facts = Facts::of(&ways)?;
    let called: FxHashSet<&str> = facts.calls.iter().map(|call| call.tool.value.as_str()).collect();
    let idle = agent.tools.iter().find(|tool| !called.contains(tool.name.value.as_str()));
    if let Some(idle) = idle {
        return Err(format!("it never calls `{}`, which the model could", idle.name));
    }
    let asks = |field: &&GatherField| {
        ways.asked.iter().any(|asked| asked.field.name.value == field.name.value)
    };
    if let Some(field) = agent.gather.fields.iter().find(|field| !asks(field)) {
        return Err(format!("it never asks for `{}`, which the agent has", field.name));
    }
    let used = |profile: &&Arc<Profile>| {
        agent.use_behavior_profiles.iter().any(|name| name.value == profile.name.value)
    };
    let own: Vec<&Profile> = profiles
        .iter()
        .filter(used)
        .map(|profile| &**profile)
        .chain(&agent.behavior_profiles)
        .filter(|profile| profile.flow_modifications.is_some() || profile.flow_replace.is_some())
        .collect();
    // It would be changed for the others as well.
    let by_others = |profile: &&&Profile| {
        let inside = |own: &Profile| std::ptr::eq(own, **profile);
        !agent.behavior_profiles.iter().any(inside)
            && users.get(&profile.name.value).is_some_and(|users| *users > 1)
    };
    if let Some(profile) = own.iter().find(by_others) {
        let name = &profile.name;
        return Err(format!("the profile `{name}` changes its steps, and other agents use it"));
    }
    let mut variants = Vec::new();
    for profile in &own {
        variants.push(variant(agent, flow, &ways, profile)?);
    }
    let mut new = agent.clone();
    new.flow = None;
    fields(&mut new, &ways, &facts);
    let failures = calls(&mut new, &ways, &facts)?;
    constraints(&mut new, &ways, &facts);
    for way in &ways.all {
        for event in way.iter().take(tail(way)) {
            if let Event::Say(response) = event {
                plain(response)?;
            }
        }
    }
    let mut writer =
        Writer { agent, ways: &ways, facts: &facts, variants: &variants, failures: &failures };
    writer.completion(&mut new)?;
    writer.start(&mut new);
    writer.procedure(&mut new);
    // What profiles say instead is said by the agent now, or overrides the questions of its fields.
    let rewrite = |profile: &Profile| -> Profile {
        let mut profile = profile.clone();
        let at = own.iter().position(|one| one.name.value == profile.name.value);
        if let Some(variant) = at.and_then(|at| variants.get(at)) {
            profile.flow_modifications = None;
            questions(&mut profile, &ways, &variant.ways);
        }
        profile
    };
    new.behavior_profiles = agent.behavior_profiles.iter().map(rewrite).collect();
    let empty = |profile: &Profile| {
        profile.gather_overrides.is_none()
            && profile.instructions.is_none()
            && profile.voice.is_none()
            && profile.response_rules.is_none()
            && profile.constraints.is_empty()
            && profile.constraint_texts.is_empty()
            && profile.tools_hide.is_empty()
            && profile.tools_add.is_empty()
            && profile.conversation_behavior.is_none()
    };
    let mut left = Vec::new();
    for profile in profiles {
        if !own.iter().any(|one| std::ptr::eq(*one, &**profile)) {
            left.push(profile.clone());
            continue;
        }
        let profile = rewrite(profile);
        if empty(&profile) {
            new.use_behavior_profiles.retain(|name| name.value != profile.name.value);
        } else {
            left.push(Arc::new(profile));
        }
    }
    Ok((new, left))
}

/// The ways with the words of a profile, which has to change nothing else.
fn variant<'a>(
    agent: &'a Agent,
    flow: &'a Flow,
    ways: &Ways<'_>,
    profile: &'a Profile,
) -> Result<Variant<'a>, Reason> {
    let name = &profile.name.value;
    let changes = || format!("the profile `{name}` changes its steps");
    let (Some(when), Some(modified), None) = (
        profile.when.as_ref().filter(|when| when.expr().is_some()),
        &profile.flow_modifications,
        &profile.flow_replace,
    ) else {
        return Err(changes());
    };
    if !modified.skip.is_empty() || !modified.insertions.is_empty() {
        return Err(changes());
    }
    let own = Ways::of(agent, flow, Some(&modified.overrides)).map_err(|_| changes())?;
    let same = |(one, other): (&Event<'_>, &Event<'_>)| match (one, other) {
        (Event::Ask(one), Event::Ask(other)) => one == other,
        (Event::Holds(one, truth), Event::Holds(other, other_truth)) => {
            one == other && truth == other_truth
        }
        (Event::Call(one), Event::Call(other)) | (Event::Failed(one), Event::Failed(other)) => {
            one.tool.value == other.tool.value
        }
        (Event::Set(one), Event::Set(other)) => {
            one.target == other.target && one.value == other.value
        }
        (Event::Say(_), Event::Say(_)) | (Event::Present(_), Event::Present(_)) => true,
        _ => false,
    };
    let alike = ways.all.len() == own.all.len()
        && ways.decisions == own.decisions
        && ways.asked.len() == own.asked.len()
        && ways
            .all
            .iter()
            .zip(&own.all)
            .all(|(one, other)| one.len() == other.len() && one.iter().zip(other).all(same));
    match alike {
        true => Ok(Variant { when, ways: own }),
        false => Err(changes()),
    }
}

/// The fields of all steps become the agent's, each asked for when its turn has come.
fn fields(new: &mut Agent, ways: &Ways<'_>, facts: &Facts<'_>) {
    let mut all: Vec<GatherField> = Vec::new();
    for (number, asked) in ways.asked.iter().enumerate() {
        let mut field = asked.field.clone();
        let when = facts.when_asked(number);
        if let (Some(when), None | Some(Activation::Required)) = (when, &field.activation)
            && asked.is_needed()
        {
            field.activation = Some(Activation::When { when: of_expr(when) });
        }
        all.push(field);
    }
    new.gather.fields = all;
}

/// What a call passes is not the model's to say. Returns the variables that say that a call has failed.
fn calls(
    new: &mut Agent,
    ways: &Ways<'_>,
    facts: &Facts<'_>,
) -> Result<Vec<(SmolStr, Spanned<SmolStr>)>, Reason> {
    let mut failures = Vec::new();
    let mut names = names_of(new);
    for asked in &ways.asked {
        names.claim(&[&asked.field.name.value]);
    }
    for call in &facts.calls {
        let is_it =
            |event: &Event<'_>| matches!(event, Event::Call(one) if std::ptr::eq(*one, *call));
        let before = ways.all.iter().find_map(|way| way.get(..way.iter().position(is_it)?));
        let before = before.unwrap_or_default();
        let name = &call.tool.value;
        let Some(tool) = new.tools.iter_mut().find(|tool| tool.name.value == *name) else {
            continue;
        };
        for (at, parameter) in tool.parameters.iter_mut().enumerate() {
            let value = match call.has_arguments {
                true => call
                    .with
                    .iter()
                    .enumerate()
                    .find(|(position, argument)| match &argument.name {
                        Some(name) => name.value == parameter.name.value,
                        None => *position == at,
                    })
                    .map(|(_, argument)| argument.value.clone()),
                // Without arguments it takes the variables of these names.
                false => {
                    let path = Path::variable(parameter.name.clone());
                    Some(Expr::path(path, parameter.name.span))
                }
            };
            match value {
                Some(value) if parameter.source.is_none() => {
                    fix(parameter, by_tools(value, before))
                }
                Some(_) => {}
                None if parameter.required && parameter.default.is_none() => {
                    return Err(format!(
                        "it does not say what `{name}` gets as `{}`",
                        parameter.name
                    ));
                }
                None => parameter.hidden = Some(true),
            }
        }
        if facts.fails(name) {
            let free = names.claim(&[&format!("{name}_failed")]);
            let mark = Spanned::new(free, call.tool.span);
            let value = Expr::literal(Literal::Bool(true), mark.span);
            let target = Path::variable(mark.clone());
            tool.on_error.push(SetVariable { target, value, span: mark.span });
            new.memory.session.push(SessionVariable {
                ty: Some(agentir_expr::TypeExpr::named("boolean", mark.span)),
                initial_value: Some(Data::Bool(false)),
                ..SessionVariable::new(mark.clone())
            });
            failures.push((name.clone(), mark));
        }
    }
    Ok(failures)
}

/// What precedes a call on each way to it.
fn constraints(new: &mut Agent, ways: &Ways<'_>, facts: &Facts<'_>) {
    for call in &facts.calls {
        let before = facts.before_call(&call.tool.value);
        for condition in alternatives(&before, &|fact| fact.expr(ways)) {
            new.constraints.constraints.push(call_constraint(of_expr(condition), &call.tool));
        }
    }
}

/// Writes what the agent says, and when it is done.
struct Writer<'w, 'a> {
    agent: &'w Agent,
    ways: &'w Ways<'a>,
    facts: &'w Facts<'a>,
    variants: &'w [Variant<'w>],
    failures: &'w [(SmolStr, Spanned<SmolStr>)],
}

impl Writer<'_, '_> {
    /// Each way ends the agent, with what it says behind everything else.
    fn completion(&mut self, new: &mut Agent) -> Result<(), Reason> {
        let mut all: Vec<CompletionCondition> = Vec::new();
        for (number, way) in self.ways.all.iter().enumerate() {
            let ends = |whole: bool| {
                let when = self.facts.when_done(self.ways, way, self.failures, whole);
                when.ok_or_else(|| "it can end before anything is asked or called".to_owned())
            };
            let when = ends(self.says_otherwise(way, &ends(false)?))?;
            let first = tail(way);
            for variant in self.variants {
                let Some(own) = variant.ways.all.get(number) else { continue };
                if self.same_words(way, own, first) {
                    continue;
                }
                let both = variant.when.expr().cloned();
                let both = both.and_then(|also| Expr::and(when.clone(), also).ok());
                let both = both.ok_or("its conditions are too long")?;
                all.push(self.done(both, own)?);
            }
            all.push(self.done(when, way)?);
        }
        for done in all {
            let same = |one: &&CompletionCondition| one.when == done.when;
            match new.completion.conditions.iter().find(same) {
                None => new.completion.conditions.push(done),
                Some(known) if texts_of(known) == texts_of(&done) => {}
                Some(_) => return Err("two ways end alike, and say different things".to_owned()),
            }
        }
        Ok(())
    }

    /// Whether another way ends under the same condition, but says something else.
    fn says_otherwise(&self, way: &[Event<'_>], when: &Expr) -> bool {
        self.ways.all.iter().any(|other| {
            let same = self.facts.when_done(self.ways, other, self.failures, false);
            same.as_ref() == Some(when) && self.last_words(way) != self.last_words(other)
        })
    }

    /// What a way says and sets at its end.
    fn last_words(&self, way: &[Event<'_>]) -> Vec<SmolStr> {
        let first = tail(way);
        let all = way.iter().enumerate().skip(first);
        all.filter_map(|(at, event)| match event {
            Event::Set(set) => Some(format_smolstr!("{} = {}", set.target, set.value)),
            _ => self.words(way, at).map(|text| text.text.value),
        })
        .collect()
    }

    fn done(&self, when: Expr, way: &[Event<'_>]) -> Result<CompletionCondition, Reason> {
        let span = when.span;
        let mut done = CompletionCondition::new(Some(of_expr(when)), span);
        let said: Vec<(usize, &Event<'_>)> = way.iter().enumerate().skip(tail(way)).collect();
        let said_alone = said.iter().filter(|(_, event)| event.is_said()).count() == 1;
        let mut words: Vec<Template> = Vec::new();
        for (at, event) in said {
            match event {
                Event::Say(response) if said_alone => {
                    done.respond_template.clone_from(&response.template);
                    done.voice_config.clone_from(&response.voice_config);
                    done.rich_content.clone_from(&response.rich_content);
                    if response.template.is_none() {
                        words.extend(self.words(way, at));
                    }
                }
                Event::Say(response) => {
                    plain(response)?;
                    words.extend(self.words(way, at));
                }
                Event::Set(set) => {
                    let value = by_tools(set.value.clone(), way.get(..at).unwrap_or_default());
                    done.set.push(SetVariable { value, ..(*set).clone() });
                }
                _ => {}
            }
        }
        done.respond = joined(words);
        Ok(done)
    }

    /// What an event says, with the results of calls called as their tools are.
    fn words(&self, way: &[Event<'_>], at: usize) -> Option<Template> {
        let text = match way.get(at)? {
            Event::Say(response) => self.agent.response_text(response)?,
            Event::Present(text) => text,
            _ => return None,
        };
        let before = way.get(..at).unwrap_or_default();
        let written = text.rewritten(|part, _| {
            let expr = part.expr()?;
            let renamed = by_tools(expr.clone(), before);
            part.written_with(&renamed).filter(|_| renamed != *expr)
        });
        let mut text = text.clone();
        if written != text.text.value {
            replace_text(&mut text, &written);
        }
        Some(text)
    }

    /// Whether two ways say the same from some event on.
    fn same_words(&self, one: &[Event<'_>], other: &[Event<'_>], first: usize) -> bool {
        let text = |way, at| self.words(way, at).map(|text| text.text.value);
        (first..one.len()).all(|at| text(one, at) == text(other, at))
    }

    /// What is said before anything is asked or called.
    fn start(&mut self, new: &mut Agent) {
        let Some(way) = self.ways.all.first() else { return };
        let count = way.iter().take_while(|event| event.is_said()).count();
        if count == 0 || !self.agent.on_start.is_empty() {
            return;
        }
        let words =
            |way: &[Event<'_>]| joined((0..count).filter_map(|at| self.words(way, at)).collect());
        let respond = |text: Template| {
            Statement::Respond(Response { text: Some(text), ..Response::default() })
        };
        let mut branches: Vec<Branch> = Vec::new();
        let branch = |condition: Option<Condition>, text: Template| Branch {
            span: text.text.span,
            condition,
            body: agentir_ir::Body(vec![respond(text)]),
            extensions: Extensions::default(),
        };
        let Some(plain) = words(way) else { return };
        for variant in self.variants {
            let own = variant.ways.all.first().and_then(|own| words(own));
            if let Some(own) = own.filter(|own| own.text.value != plain.text.value) {
                branches.push(branch(Some(variant.when.clone()), own));
            }
        }
        new.on_start.0.push(match branches.is_empty() {
            true => respond(plain),
            false => {
                branches.push(branch(None, plain));
                Statement::If { branches }
            }
        });
    }

    /// What the model is told: the calls, and what it says between them.
    fn procedure(&mut self, new: &mut Agent) {
        let mut lines: Vec<String> = Vec::new();
        let mut in_order: Vec<&Vec<Event<'_>>> = self.ways.all.iter().collect();
        in_order.sort_by_key(|way| std::cmp::Reverse(way.len()));
        let mut told: FxHashSet<String> = FxHashSet::default();
        for way in in_order {
            let number = self.ways.all.iter().position(|one| std::ptr::eq(one, way)).unwrap_or(0);
            for line in self.lines(way, number) {
                if told.insert(line.clone()) {
                    lines.push(line);
                }
            }
        }
        if lines.is_empty() {
            return;
        }
        let all: Vec<String> =
            lines.iter().enumerate().map(|(at, line)| format!("{}. {line}", at + 1)).collect();
        let span = new.metadata.name.span;
        let mut text = Template::plain(Spanned::new(SmolStr::default(), span));
        replace_text(&mut text, &all.join("\n"));
        new.identity.instructions.push(Instruction { when: None, text });
    }

    fn lines(&self, way: &[Event<'_>], number: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let starts = match self.agent.on_start.is_empty() {
            true => way.iter().take_while(|event| event.is_said()).count(),
            false => 0,
        };
        let mut anchor: Option<Anchor<'_>> = None;
        let mut under: Vec<String> = Vec::new();
        for (at, event) in way.iter().enumerate().take(tail(way)) {
            match event {
                Event::Ask(field) => {
                    under.clear();
                    let asked = self.ways.asked.get(*field);
                    anchor = asked.map(|asked| Anchor::Asked(&asked.field.name.value));
                }
                Event::Call(call) => {
                    lines.push(self.call_line(call));
                    under.clear();
                    anchor = Some(Anchor::Called(&call.tool.value));
                }
                Event::Failed(call) => anchor = Some(Anchor::Failed(&call.tool.value)),
                Event::Holds(decision, truth) => {
                    under.extend(self.ways.decisions.get(*decision).map(|decision| {
                        expr_phrase(if *truth { &decision.holds } else { &decision.fails })
                    }));
                }
                Event::Say(_) | Event::Present(_) if at >= starts => {
                    let next = way.iter().skip(at + 1).find_map(|event| match event {
                        Event::Call(call) | Event::Failed(call) => {
                            Some(format!("Before you call `{}`", call.tool.value))
                        }
                        Event::Ask(field) => self.ways.asked.get(*field).map(|asked| {
                            format!("Before you ask for `{}`", asked.field.name.value)
                        }),
                        _ => None,
                    });
                    let here = anchor.map(|anchor| anchor.to_string());
                    let place = match anchor {
                        Some(Anchor::Called(_)) => here,
                        _ => next.or(here),
                    };
                    let place = place.unwrap_or_else(|| "At first".to_owned());
                    let place = match under.is_empty() {
                        true => place,
                        false => format!("{place}, if {}", under.join(" and ")),
                    };
                    let says = |way: &[Event<'_>]| {
                        let text = self.words(way, at)?;
                        Some(text.text.value.trim().replace('\n', " "))
                    };
                    let Some(plain) = says(way) else { continue };
                    lines.push(format!("{place}, say: {plain}"));
                    for variant in self.variants {
                        let own = variant.ways.all.get(number).and_then(|own| says(own));
                        if let (Some(own), Some(when)) =
                            (own.filter(|own| *own != plain), variant.when.expr())
                        {
                            let when = expr_phrase(when);
                            lines.push(format!("{place}, say instead, if {when}: {own}"));
                        }
                    }
                }
                _ => {}
            }
        }
        lines
    }

    /// When a tool is to be called.
    fn call_line(&self, call: &Call) -> String {
        let tool = &call.tool.value;
        let before = self.facts.before_call(tool);
        let shared = shared(&before);
        let known: Vec<String> = shared.iter().filter_map(|fact| fact.known(self.ways)).collect();
        let called: Vec<String> = shared.iter().filter_map(Fact::called).collect();
        let holds: Vec<String> = shared
            .iter()
            .filter(|fact| matches!(fact, Fact::Holds(..)))
            .filter_map(|fact| fact.expr(self.ways))
            .map(|holds| expr_phrase(&holds))
            .collect();
        let mut line = format!("Call `{tool}`");
        if let Some(last) = called.last() {
            line.push_str(&format!(" after `{last}`"));
        }
        let listed = |names: &[String]| {
            names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
        };
        if !known.is_empty() {
            let verb = if known.len() == 1 { "is" } else { "are" };
            line.push_str(&format!(" once {} {verb} known", listed(&known)));
        }
        if !holds.is_empty() {
            line.push_str(&format!(", if {}", holds.join(" and ")));
        }
        if self.facts.fails(tool) {
            line.push_str("; if it fails, do not call it again");
        }
        line.push('.');
        line
    }
}

/// What has happened last where something is said.
#[derive(Clone, Copy)]
enum Anchor<'n> {
    /// A field was asked for.
    Asked(&'n str),
    /// A tool was called.
    Called(&'n str),
    /// A call has failed.
    Failed(&'n str),
}

impl fmt::Display for Anchor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked(field) => write!(f, "Once you have asked for `{field}`"),
            Self::Called(tool) => write!(f, "After `{tool}`"),
            Self::Failed(tool) => write!(f, "If `{tool}` fails"),
        }
    }
}

/// A message that consists of nothing but words.
fn plain(response: &Response) -> Result<(), Reason> {
    match response.rich_content.is_some() || response.voice_config.is_some() {
        true => Err("it shows cards in between".to_owned()),
        false => Ok(()),
    }
}

/// What tells two ends under the same condition apart.
fn texts_of(done: &CompletionCondition) -> (Option<&SmolStr>, Option<&SmolStr>, Vec<String>) {
    let sets = done.set.iter().map(|set| format!("{} = {}", set.target, set.value));
    (
        done.respond.as_ref().map(|text| &text.text.value),
        done.respond_template.as_ref().map(|name| &name.value),
        sets.collect(),
    )
}

/// Several messages as one.
fn joined(words: Vec<Template>) -> Option<Template> {
    let mut words = words.into_iter();
    let mut first = words.next()?;
    let more: Vec<Template> = words.collect();
    if !more.is_empty() {
        let texts =
            std::iter::once(&first).chain(&more).map(|text| text.text.value.trim_end().to_owned());
        let text = texts.collect::<Vec<_>>().join("\n");
        replace_text(&mut first, &text);
    }
    Some(first)
}

/// The questions that a profile asks otherwise.
fn questions(profile: &mut Profile, ways: &Ways<'_>, own: &Ways<'_>) {
    for (plain, other) in ways.asked.iter().zip(&own.asked) {
        let text =
            |field: &GatherField| field.prompt.as_ref().map(|prompt| prompt.text.value.clone());
        let Some(prompt) = other.field.prompt.clone() else { continue };
        if text(&plain.field) == text(&other.field) {
            continue;
        }
        let overrides = profile.gather_overrides.get_or_insert_with(|| GatherOverrides {
            validation_style: None,
            confirmation: None,
            field_overrides: Vec::new(),
        });
        let name = &other.field.name;
        let known = overrides.field_overrides.iter().any(|one| one.name.value == name.value);
        if !known {
            overrides.field_overrides.push(GatherField {
                prompt: Some(prompt),
                ..agentir_syntax::lower::required_field(name.clone())
            });
        }
    }
}
