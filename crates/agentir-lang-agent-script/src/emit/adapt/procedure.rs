//! A flow that only collects, calls and answers as one subagent: an instruction procedure that makes the calls as soon as
//! what they need is known, asks for what is missing, and says what is said at the end.
//!
//! What the vendor's compiler takes has no `if` in an `if`, so each part stands under all of its conditions. The procedure
//! is carried out before each request to the model (part II, 5); a call is made once, and what follows it waits until it has
//! succeeded.

use super::Adapter;
use super::exposed_tools::{after_turn, binding, boolean, branch, expose, say_instruction, set};
use super::expr::{self, all, condition, not, spanned, text};
use agentir_diagnostics::Span;
use agentir_expr::{Expr, Name, Template};
use agentir_ir::{
    Agent, BindingAction, Call, FilledBy, Flow, InputBinding, Response, SetVariable, Statement,
};
use agentir_syntax::emit::Namespace;
use agentir_syntax::emit::dialog::{
    Event, Fact, Facts, Reason, Ways, alternatives, by_tools, names_of, tail,
};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// What a fact is in the document.
struct Terms {
    /// The variables of the fields, by their numbers.
    fields: Vec<Name>,
    /// The variables that say that a tool was called, and that it has succeeded.
    calls: FxHashMap<SmolStr, (Name, Name)>,
    /// The conditions, by their numbers: that each holds, and that it does not.
    decisions: Vec<(Expr, Expr)>,
}

impl Terms {
    fn fact(&self, fact: &Fact) -> Option<Expr> {
        match fact {
            Fact::Known(field) => {
                expr::is_set(expr::reference("variables", self.fields.get(*field)?), false)
            }
            Fact::Called(tool) => {
                let (_, done) = self.calls.get(&tool.value)?;
                Some(expr::reference("variables", done))
            }
            Fact::Holds(decision, truth) => {
                let (holds, fails) = self.decisions.get(*decision)?;
                Some(if *truth { holds.clone() } else { fails.clone() })
            }
        }
    }

    /// What precedes something on all ways to it.
    fn before(&self, ways: &[Vec<Fact>]) -> Vec<Expr> {
        alternatives(ways, &|fact| self.fact(fact))
    }
}

impl Adapter<'_> {
    /// Adapts a flow to the procedure of a single subagent. `said` is what the agent says when it begins.
    ///
    /// # Errors
    /// The reason, if the flow does more.
    pub(super) fn procedure(
        &mut self,
        agent: &Agent,
        flow: &Flow,
        new: &mut Agent,
        said: &[Statement],
    ) -> Result<(), Reason> {
        let ways = Ways::of(agent, flow, None)?;
        let facts = Facts::of(&ways)?;
        for call in &facts.calls {
            let tool = self.tool(&call.tool.value);
            if tool.is_some_and(|tool| tool.confirmation_required_at().is_some()) {
                return Err(format!("the user confirms calls of `{}`", call.tool));
            }
        }
        let preambles = preambles(&ways)?;
        let mut names = names_of(agent);
        for asked in &ways.asked {
            names.claim(&[&asked.field.name.value]);
        }
        let terms = self.terms(&ways, &facts, &mut names)?;
        let mut procedure: Vec<Statement> = Vec::new();
        let begun = names.claim(&[&format!("{}_begun", new.metadata.name.value)]);
        self.beginning(agent, &ways, new, said, &begun, &mut procedure);
        for call in &facts.calls {
            let way = ways.all.iter().find_map(|way| {
                let at = way.iter().position(|event| is_call(event, call))?;
                Some((way, at))
            });
            let Some((way, at)) = way else { continue };
            let mut body = self.preamble(agent, way, at, preambles.get(&key(&Event::Call(call))));
            self.made(call, way.get(..at).unwrap_or_default(), &terms, new, &mut body);
            let mut when = terms.before(&facts.before_call(&call.tool.value));
            when.extend(self.call_guard(&call.tool.value));
            let open = terms
                .calls
                .get(&call.tool.value)
                .and_then(|(called, _)| not(expr::reference("variables", called)));
            when.extend(open);
            procedure.push(Statement::If { branches: vec![branch(all(when), body)] });
        }
        for (number, asked) in ways.asked.iter().enumerate() {
            let Some(name) = terms.fields.get(number) else { continue };
            let way = ways.all.iter().find_map(|way| {
                let is_it = |event: &Event<'_>| matches!(event, Event::Ask(one) if *one == number);
                Some((way, way.iter().position(is_it)?))
            });
            let (Some((way, at)), Some(prompt)) = (way, &asked.field.prompt) else { continue };
            if !asked.is_needed() {
                continue;
            }
            let mut body = self.preamble(agent, way, at, preambles.get(&key(&Event::Ask(number))));
            let asks = self.question(agent, &asked.field, prompt);
            body.push(Statement::Instruct { text: asks });
            let mut when = terms.before(&facts.before_field(number));
            when.extend(expr::is_set(expr::reference("variables", name), true));
            procedure.push(Statement::If { branches: vec![branch(all(when), body)] });
        }
        let ends = self.ends(agent, &ways, &terms, new, &mut procedure)?;
        self.notes(&ways, &facts, &terms, new);
        if !self.returns_control {
            let mut finish = binding("finish", BindingAction::Complete);
            finish.description = Some(text("When the last words are said"));
            let mut ends = ends.into_iter();
            let first = ends.next();
            let any =
                first.and_then(|first| ends.try_fold(first, |any, one| Expr::or(any, one).ok()));
            finish.available_when = any.map(condition);
            expose(new, finish);
        }
        new.reasoning.get_or_insert_default().prepare.0.extend(procedure);
        self.transitions(agent, new);
        self.constraints(agent, new);
        self.turn_hooks(agent, true, new);
        Ok(())
    }

    /// The variables of fields, calls and conditions.
    fn terms(
        &mut self,
        ways: &Ways<'_>,
        facts: &Facts<'_>,
        names: &mut Namespace,
    ) -> Result<Terms, Reason> {
        let mut fields = Vec::new();
        for asked in &ways.asked {
            let ty = asked.field.ty.as_ref().map_or("", |ty| ty.value.as_str());
            let about = asked.field.prompt.as_ref().map(|prompt| self.variables.text(prompt));
            fields.push(self.variables.declare(&asked.field.name.value, ty, |declared| {
                declared.description = declared.description.take().or(about);
            }));
        }
        let mut calls = FxHashMap::default();
        for call in &facts.calls {
            let tool = &call.tool.value;
            self.results(tool, tool);
            let called = self.flag(&names.claim(&[&format!("{tool}_called")]));
            let done = self.flag(&names.claim(&[&format!("{tool}_done")]));
            calls.insert(tool.clone(), (called, done));
        }
        let mut decisions = Vec::new();
        for decision in &ways.decisions {
            let mut one = |side: &Expr| {
                let there = self.variables.condition(&condition(side.clone()));
                there.ok_or_else(|| format!("no document can say `{side}`"))
            };
            decisions.push((one(&decision.holds)?, one(&decision.fails)?));
        }
        Ok(Terms { fields, calls, decisions })
    }

    /// What is said before anything is asked or called, once.
    fn beginning(
        &mut self,
        agent: &Agent,
        ways: &Ways<'_>,
        new: &mut Agent,
        said: &[Statement],
        begun: &str,
        procedure: &mut Vec<Statement>,
    ) {
        let mut words: Vec<Statement> = said.to_vec();
        let first = ways.all.first().map_or(&[][..], Vec::as_slice);
        let count = first.iter().take_while(|event| event.is_said()).count();
        let own: Vec<_> = (0..count).filter_map(|at| self.words(agent, first, at)).collect();
        if self.out.is_empty() && new.on_start.is_empty() && words.is_empty() && !own.is_empty() {
            let lines: Vec<&str> = own.iter().map(|text| text.text.value.trim_end()).collect();
            let welcome = Response { text: Some(text(lines.join("\n"))), ..Response::default() };
            new.on_start.0.push(Statement::Respond(welcome));
            return;
        }
        words.extend(own.iter().map(|text| Statement::Instruct { text: say_instruction(text) }));
        if words.is_empty() {
            return;
        }
        let flag = self.flag(begun);
        let unset = not(expr::reference("variables", &flag));
        procedure.push(Statement::If { branches: vec![branch(unset, words)] });
        after_turn(new).push(set(&flag, boolean(true)));
    }

    /// What an event says, in the document's words.
    fn words(&mut self, agent: &Agent, way: &[Event<'_>], at: usize) -> Option<Template> {
        let said = match way.get(at)? {
            Event::Say(response) => agent.response_text(response)?,
            Event::Present(text) => text,
            _ => return None,
        };
        let before = way.get(..at).unwrap_or_default();
        let mut said = said.clone();
        said.exprs_mut(&mut |expr| *expr = by_tools(expr.clone(), before));
        Some(self.variables.text(&said))
    }

    /// What is said before a question or a call.
    fn preamble(
        &mut self,
        agent: &Agent,
        way: &[Event<'_>],
        at: usize,
        count: Option<&Vec<Option<Span>>>,
    ) -> Vec<Statement> {
        let count = count.map_or(0, Vec::len);
        let said = (at.saturating_sub(count)..at).filter_map(|at| self.words(agent, way, at));
        said.map(|text| Statement::Instruct { text: say_instruction(&text) }).collect()
    }

    /// A call that is made once, and a note that it has succeeded.
    fn made(
        &mut self,
        call: &Call,
        before: &[Event<'_>],
        terms: &Terms,
        new: &mut Agent,
        body: &mut Vec<Statement>,
    ) {
        let Some((called, done)) = terms.calls.get(&call.tool.value) else { return };
        let mut only = Call::new(call.tool.clone(), call.with.clone(), call.span);
        only.has_arguments = call.has_arguments;
        for argument in &mut only.with {
            argument.value = by_tools(argument.value.clone(), before);
        }
        body.push(set(called, boolean(true)));
        let at = body.len();
        self.call(&only, new, body);
        // What stands below a call that has failed is left out.
        for statement in body.iter_mut().skip(at) {
            if let Statement::Call(made) = statement {
                made.on_success.0.push(set(done, boolean(true)));
            }
        }
    }

    /// What is said and set at the end of each way. Returns the conditions of the ends.
    fn ends(
        &mut self,
        agent: &Agent,
        ways: &Ways<'_>,
        terms: &Terms,
        new: &mut Agent,
        procedure: &mut Vec<Statement>,
    ) -> Result<Vec<Expr>, Reason> {
        let mut ends: Vec<(Expr, Vec<Statement>)> = Vec::new();
        for whole in [false, true] {
            ends.clear();
            let mut differs = false;
            for way in &ways.all {
                let when = ending(ways, terms, way, whole)
                    .ok_or("it can end before anything is asked or called")?;
                let mut body = Vec::new();
                for at in tail(way)..way.len() {
                    match way.get(at) {
                        Some(Event::Set(one)) => {
                            let mut again = false;
                            one.value.paths(&mut |path| {
                                again |= path.root.value == one.target.root.value;
                            });
                            if again {
                                return Err(format!("it counts in `{}`", one.target));
                            }
                            let value =
                                by_tools(one.value.clone(), way.get(..at).unwrap_or_default());
                            let one = SetVariable { value, ..(*one).clone() };
                            body.extend(self.effects(&[Statement::Set(one)], new));
                        }
                        _ => {
                            let said = self.words(agent, way, at);
                            body.extend(
                                said.map(|text| Statement::Instruct {
                                    text: say_instruction(&text),
                                }),
                            );
                        }
                    }
                }
                match ends.iter().find(|(known, _)| *known == when) {
                    Some((_, known)) => differs |= texts(known) != texts(&body),
                    None => ends.push((when, body)),
                }
            }
            if !differs {
                break;
            }
            if whole {
                return Err("two ways end alike, and say different things".to_owned());
            }
        }
        let mut conditions = Vec::new();
        for (when, body) in ends {
            if !body.is_empty() {
                let branches = vec![branch(Some(when.clone()), body)];
                procedure.push(Statement::If { branches });
            }
            conditions.push(when);
        }
        Ok(conditions)
    }

    /// The tools with which the model notes what the user says. An answer of yes or no is noted only where it was asked for.
    fn notes(&mut self, ways: &Ways<'_>, facts: &Facts<'_>, terms: &Terms, new: &mut Agent) {
        let mut take = binding("note_details", BindingAction::Collect);
        let input = |name: &Name| InputBinding {
            name: spanned(name.clone()),
            filled_by: FilledBy::Model,
            value: None,
        };
        let words = |name: &Name| name.replace('_', " ");
        for (number, (asked, name)) in ways.asked.iter().zip(&terms.fields).enumerate() {
            if !asked.is_answer() {
                take.with.push(input(name));
                continue;
            }
            let mut one = binding(format!("note_{name}"), BindingAction::Collect);
            one.description =
                Some(text(format!("Note whether the user says yes: {}", words(name))));
            one.available_when = all(terms.before(&facts.before_field(number))).map(condition);
            one.with.push(input(name));
            expose(new, one);
        }
        if !take.with.is_empty() {
            let names: Vec<String> = take.with.iter().map(|with| words(&with.name.value)).collect();
            take.description = Some(text(format!("Note what the user says: {}", names.join(", "))));
            expose(new, take);
        }
    }
}

/// When a way is at its end. What precedes the last call is known where that has succeeded.
fn ending(ways: &Ways<'_>, terms: &Terms, way: &[Event<'_>], whole: bool) -> Option<Expr> {
    let mut known: Vec<Expr> = Vec::new();
    for event in way {
        match event {
            Event::Ask(field) => {
                let asked = ways.asked.get(*field)?;
                if asked.is_needed() && !asked.is_answer() {
                    known.push(terms.fact(&Fact::Known(*field))?);
                }
            }
            Event::Call(call) => {
                if !whole {
                    known.clear();
                }
                known.push(terms.fact(&Fact::Called(call.tool.clone()))?);
            }
            Event::Failed(call) => {
                if !whole {
                    known.clear();
                }
                let (called, done) = terms.calls.get(&call.tool.value)?;
                known.push(expr::reference("variables", called));
                known.extend(not(expr::reference("variables", done)));
            }
            Event::Holds(decision, truth) => {
                known.push(terms.fact(&Fact::Holds(*decision, *truth))?);
            }
            Event::Say(_) | Event::Present(_) | Event::Set(_) => {}
        }
    }
    all(known)
}

/// How many messages come before each question and call; on each way the same.
fn preambles(ways: &Ways<'_>) -> Result<FxHashMap<SmolStr, Vec<Option<Span>>>, Reason> {
    let mut found: FxHashMap<SmolStr, Vec<Option<Span>>> = FxHashMap::default();
    for way in &ways.all {
        let mut said: Vec<Option<Span>> = Vec::new();
        let mut begun = false;
        for event in way.iter().take(tail(way)) {
            match event {
                // What is said first is said once.
                Event::Say(_) | Event::Present(_) if !begun => {}
                Event::Say(response) => {
                    said.push(response.text.as_ref().map(|text| text.text.span))
                }
                Event::Present(text) => said.push(Some(text.text.span)),
                Event::Ask(_) | Event::Call(_) | Event::Failed(_) => {
                    begun = true;
                    let here = std::mem::take(&mut said);
                    let known = found.entry(key(event)).or_insert_with(|| here.clone());
                    if *known != here {
                        return Err("it says different things before it asks or calls".to_owned());
                    }
                }
                Event::Holds(..) if said.is_empty() => {}
                Event::Holds(..) => return Err("it says something before it decides".to_owned()),
                Event::Set(_) => {}
            }
        }
    }
    Ok(found)
}

/// What tells questions and calls apart.
fn key(event: &Event<'_>) -> SmolStr {
    match event {
        Event::Ask(field) => SmolStr::new(format!("field {field}")),
        Event::Call(call) | Event::Failed(call) => SmolStr::new(format!("tool {}", call.tool)),
        _ => SmolStr::default(),
    }
}

fn is_call(event: &Event<'_>, call: &Call) -> bool {
    matches!(event, Event::Call(one) if std::ptr::eq(*one, call))
}

/// What statements say.
fn texts(all: &[Statement]) -> Vec<String> {
    let said = |statement: &Statement| match statement {
        Statement::Instruct { text } => text.text.value.to_string(),
        Statement::Set(set) => format!("{} = {}", set.target, set.value),
        _ => String::new(),
    };
    all.iter().map(said).collect()
}
