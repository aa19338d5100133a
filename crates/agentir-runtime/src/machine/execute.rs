//! The execution of nodes.

use super::scope::{dotted, path_of};
use super::write_access::is_owned;
use super::{Next, NodeResult, Run, STAGE_ASKS, STAGE_RULE, STAGE_SKIP, leads_onward};
use crate::json::{from_json, to_json};
use crate::model::{Message, Role};
use crate::session::{Frame, MemoryWrite, ReturnPoint, RuntimeError, Status};
use crate::trace::EventKind;
use agentir_diagnostics::Span;
use agentir_eval::{State, Value, evaluate, truthy};
use agentir_expr::{Expr, Name, Path, Segment};
use agentir_flow::cfg::{Edge, EdgeKind, NodeKind, Origin};
use agentir_ir::{AgentType, Data, ErrorHandler, NumberOrText, SetVariable, Statement, Transform};
use petgraph::graph::{EdgeIndex, NodeIndex};
use serde_json::Value as Json;
use std::cmp::Ordering;
use std::collections::BTreeMap;

impl<'p> Run<'_, 'p, '_> {
    /// Executes a node and determines the continuation.
    pub(super) fn execute(&mut self, at: NodeIndex) -> NodeResult {
        let node = self.node(at)?;
        let stage = std::mem::take(&mut self.progress.stage);
        self.trace(at, &node);
        if stage == STAGE_SKIP {
            if let Some(next) = self.fail_after_handler() {
                return Ok(next);
            }
            return self.skip_failed_node(at, node.kind);
        }
        if stage == STAGE_ASKS {
            self.ask_again(&node);
        }
        match node.kind {
            NodeKind::Entry => {
                self.enter_agent()?;
                self.leave(at)
            }
            NodeKind::Hook => {
                if matches!(node.origin, Origin::Procedure("instructions")) {
                    self.frame().instructions.clear();
                }
                self.leave(at)
            }
            NodeKind::TurnStart => self.turn_start(at),
            NodeKind::TurnEnd | NodeKind::Return | NodeKind::Branch | NodeKind::FlowEnd => {
                if node.kind == NodeKind::Return {
                    self.handle_return(at, &node)?;
                }
                match &node.origin {
                    Origin::Rule(rule) if node.kind == NodeKind::Branch => {
                        self.route_by_variable(at, rule)
                    }
                    Origin::Trigger(trigger) => self.escalation_trigger(at, trigger),
                    _ => self.leave(at),
                }
            }
            NodeKind::Step => self.enter_step(at),
            NodeKind::Say => {
                if !self.is_late_welcome(&node.origin)? {
                    self.say_element(&node.origin)?;
                }
                self.leave(at)
            }
            NodeKind::Instruct => {
                if let Origin::Statement(Statement::Instruct { text }) = node.origin {
                    let text = self.render(text);
                    self.frame().instructions.push(text);
                }
                self.leave(at)
            }
            NodeKind::Log => {
                if let Origin::Statement(Statement::Log { value }) = node.origin {
                    self.emit(EventKind::Log { value: value.value.clone() });
                }
                self.leave(at)
            }
            NodeKind::Await => self.await_user(at, &node.origin),
            NodeKind::Collect => self.collect(at, &node.origin),
            NodeKind::Confirm => self.confirm_call(at, &node.origin),
            NodeKind::Call => self.call(at, &node.origin),
            NodeKind::Set => {
                match node.origin {
                    Origin::Set(set) | Origin::Statement(Statement::Set(set)) => self.set(set)?,
                    Origin::ToolBinding(offer) => self.fill_from_offer(offer)?,
                    _ => {}
                }
                self.leave(at)
            }
            NodeKind::Clear => {
                let names = match node.origin {
                    Origin::Statement(Statement::Clear { variables }) => variables.as_slice(),
                    Origin::Failure(failure) => failure.clear.as_slice(),
                    _ => &[],
                };
                for name in names {
                    self.clear(&name.value);
                }
                self.leave(at)
            }
            NodeKind::Transform => {
                if let Origin::Statement(Statement::Transform(transform)) = node.origin {
                    self.transform(transform)?;
                }
                self.leave(at)
            }
            NodeKind::Store => {
                let (store, ttl) = match node.origin {
                    Origin::Remember(rule) => (rule.store.as_ref(), rule.ttl.as_ref()),
                    Origin::Completion(done) => (done.store.as_ref(), None),
                    Origin::HumanOutcome(outcome) => (outcome.store.as_ref(), None),
                    _ => (None, None),
                };
                if let Some(store) = store {
                    let ttl = ttl.and_then(|ttl| super::tool_calls::parse_duration_ms(&ttl.value));
                    self.store(store, ttl);
                }
                self.leave(at)
            }
            NodeKind::Choose => {
                self.progress.failed_use = None;
                self.choose(at, &node.origin)
            }
            NodeKind::Route => self.route(at),
            NodeKind::Check => self.check(at, &node.origin),
            NodeKind::Checkpoint => self.checkpoint(at, stage),
            NodeKind::Interrupt => match self.progress.chosen_edge.take() {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            },
            NodeKind::Error => self.handle_error(at),
            NodeKind::Delegate | NodeKind::Handoff => self.transfer(at, &node),
            NodeKind::FanOut => self.fan_out(at),
            NodeKind::Escalate => self.escalate(at, &node.origin),
            NodeKind::Complete => self.complete(at, &node.origin),
            NodeKind::Fail => {
                self.frame().failed = true;
                self.leave(at)
            }
            NodeKind::Resume => self.resume(at),
            NodeKind::Unknown => self.unknown_target(&node.origin),
            NodeKind::Other => self.leave(at),
            NodeKind::Exit => self.exit_agent(),
            NodeKind::Dead => Err(RuntimeError::unknown("this node is unreachable")),
        }
    }

    /// Whether a message is the greeting of a program that has begun already: it opens the conversation, not each
    /// visit of the first subagent (AS part II, 1 and 4).
    fn is_late_welcome(&self, origin: &Origin<'p>) -> Result<bool, RuntimeError> {
        if self.session.turn == 0 || !self.traits().model_acts_by_tools {
            return Ok(false);
        }
        let first = self.agent()?.on_start.0.first();
        Ok(match (first, origin) {
            (Some(welcome @ Statement::Respond(_)), Origin::Statement(said)) => {
                std::ptr::eq(welcome, *said)
            }
            _ => false,
        })
    }

    /// Leaves a node after its error was handled.
    pub(super) fn skip_failed_node(&mut self, at: NodeIndex, kind: NodeKind) -> NodeResult {
        // Nothing passes a check because of an error in it.
        if kind == NodeKind::Checkpoint {
            return self.checkpoint(at, 0);
        }
        if kind == NodeKind::Choose {
            self.frame().pending.clear();
            self.frame().answer = Some(String::new());
            return self.choose_to_speak(at);
        }
        let kinds: &[EdgeKind] = match kind {
            NodeKind::Confirm => &[EdgeKind::Error, EdgeKind::Return],
            // `ON_SUCCESS` is not for a call that failed (current specification, 8.10).
            NodeKind::Call => &[EdgeKind::Error, EdgeKind::Return, EdgeKind::Next],
            _ => &[EdgeKind::Next, EdgeKind::Return, EdgeKind::Turn, EdgeKind::Branch],
        };
        let edges = self.outgoing_edges(at);
        let onward = |wanted: &EdgeKind| {
            edges.iter().find(|(_, to, edge)| edge.kind == *wanted && !self.is_error_hub(*to))
        };
        // A call has several ways out, and the kinds are in their order; other nodes have one.
        let on = match kind {
            NodeKind::Call => kinds.iter().find_map(onward),
            _ => edges
                .iter()
                .find(|(_, to, edge)| kinds.contains(&edge.kind) && !self.is_error_hub(*to)),
        };
        match on {
            Some((edge, ..)) => Ok(Next::Take(*edge)),
            None => Ok(Next::Stop(Status::Await)),
        }
    }

    /// Starts a turn. A model-led agent has nothing to do before the user has spoken.
    fn turn_start(&mut self, at: NodeIndex) -> NodeResult {
        let agent = self.agent()?;
        let frame = self.frame();
        frame.iterations = 0;
        frame.notes.clear();
        let delegated = frame.delegated;
        // One that only routes has nothing to say before there is a message, whoever called it (ADL, B.5).
        let routes = agent.metadata.kind == AgentType::Supervisor && self.input.is_none();
        if agent.flow.is_none() && self.session.turn == 0 && (!delegated || routes) {
            return Ok(Next::Stop(Status::Await));
        }
        if self.progress.input_unread && self.screen(true).is_some() {
            // It counts as read, and nobody has seen it.
            self.progress.input_unread = false;
            self.frame().last_seen_turn = Some(self.session.turn);
        }
        if self.progress.input_unread {
            if let Some(next) = self.dispatch_to_ensemble() {
                return Ok(next);
            }
            if let Some(edge) = self.interruption_edge(at)? {
                return Ok(Next::Take(edge));
            }
            self.add_user_message();
            self.classify_message()?;
            self.extract_ahead()?;
        }
        self.leave(at)
    }

    /// Adds the user's message to the messages of the active agent, once per turn.
    pub(super) fn add_user_message(&mut self) {
        let Some(input) = self.input.clone() else { return };
        let turn = self.session.turn;
        let passed = std::mem::take(&mut self.progress.passed_message);
        let frame = self.frame();
        if frame.last_seen_turn != Some(turn) {
            frame.last_seen_turn = Some(turn);
            if !passed {
                frame.messages.push(Message::new(Role::User, input.text));
            }
        }
    }

    /// Enters a step, within the limits on attempts and flow steps.
    fn enter_step(&mut self, at: NodeIndex) -> NodeResult {
        let agent = self.agent()?;
        self.session.flow_steps += 1;
        if let Some(limit) = agent.execution.max_flow_steps()
            && f64::from(self.session.flow_steps) > limit
        {
            return Err(RuntimeError::new(
                "loop",
                format!("the flow has taken more than {limit} steps (`max_flow_iterations`)"),
            ));
        }
        if let Some(name) = self.node(at)?.step.map(|s| s.name.value.clone()) {
            self.session.set_system("_current_step_for_reset", &Json::from(name.as_str()));
            self.recall(&format!("step:enter:{name}"));
        }
        // A step without a wait of its own can be interrupted on entry.
        if self.progress.input_unread
            && self.session.turn > 0
            && !self.waits_inside(at)
            && let Some(edge) = self.interruption_edge(at)?
        {
            return Ok(Next::Take(edge));
        }
        if let Some(edge) = self.profile_edge(at)? {
            return Ok(Next::Take(edge));
        }
        let own = |edge: &Edge<'p>, _: NodeIndex| {
            !matches!(
                edge.kind,
                EdgeKind::Exhausted
                    | EdgeKind::Error
                    | EdgeKind::Unhandled
                    | EdgeKind::Digression
                    | EdgeKind::Turn
                    | EdgeKind::Named
                    | EdgeKind::Shadowed
                    | EdgeKind::Profile
            )
        };
        if let Some(edge) = self.pick_edge(at, own)? {
            return Ok(Next::Take(edge));
        }
        match self.pick_edge(at, |edge, _| edge.kind == EdgeKind::Exhausted)? {
            Some(edge) => Ok(Next::Take(edge)),
            None => {
                Err(RuntimeError::new("validation_error", "the step exceeded its attempt limit"))
            }
        }
    }

    /// Whether the step that starts at a node contains a node that waits for the user.
    fn waits_inside(&self, at: NodeIndex) -> bool {
        !self.outgoing_edges(at).iter().any(|(.., edge)| edge.kind == EdgeKind::Digression)
    }

    /// The edge of the active profile with the highest priority.
    pub(super) fn profile_edge(
        &mut self,
        at: NodeIndex,
    ) -> Result<Option<EdgeIndex>, RuntimeError> {
        let mut best: Option<(f64, EdgeIndex)> = None;
        for (id, to, edge) in self.outgoing_edges(at) {
            let (EdgeKind::Profile, Origin::Profile(profile)) = (edge.kind, edge.origin) else {
                continue;
            };
            let begins = self.machine.cfg.node(at).is_some_and(|n| n.kind != NodeKind::Step);
            if begins && !self.frame().return_points.is_empty() {
                continue;
            }
            let priority = match &profile.priority {
                NumberOrText::Number(n) => n.0,
                NumberOrText::Text(_) => 0.0,
            };
            if best.is_none_or(|(most, _)| priority > most)
                && self.can_take(id, to, &edge)
                && self.guard_holds(edge.guard)?
            {
                best = Some((priority, id));
            }
        }
        Ok(best.map(|(_, edge)| edge))
    }

    /// Waits for the user's next message, or processes it.
    fn await_user(&mut self, at: NodeIndex, element: &Origin<'p>) -> NodeResult {
        if matches!(element, Origin::Agent(_)) {
            self.leave_no_check_open();
        }
        // The message that led to an agent does not answer the agent's own question.
        let answers = self.frame().started_turn < self.session.turn
            || matches!(element, Origin::Agent(_) | Origin::Zone(_));
        let turn = self.session.turn;
        // An agent that has already seen this message has nothing more to say to it.
        let seen = self.frame().last_seen_turn == Some(turn);
        let again = matches!(element, Origin::Agent(_)) && seen;
        let again_in_opening = seen;
        if !self.progress.input_unread || !answers || again {
            self.progress.input_unread = false;
            // A subagent that is used as a tool, and a knowledge base, are done once they have answered.
            let answered = matches!(element, Origin::Agent(_)) && again;
            let is_tool = self.is_model_led_delegate() && self.traits().model_acts_by_tools;
            if answered && (is_tool || self.is_consulted()?) {
                return self.exit_agent();
            }
            return self.end_turn_at(at);
        }
        // Between turns nothing is consumed; the next turn handles the message.
        if matches!(element, Origin::Agent(_)) {
            return self.leave(at);
        }
        if let Some(edge) = self.interruption_edge(at)? {
            return Ok(Next::Take(edge));
        }
        if self.is_stale_press() {
            self.refuse_press();
            return self.end_turn_at(at);
        }
        if matches!(element, Origin::Statement(Statement::Await { .. }))
            && self.node(at)?.step.is_none()
        {
            // What an agent does before its first turn ends with that turn, which is about this
            // message (ADL, B.5: an ensemble executes its steps and then runs its agents). A second
            // wait is for the next message.
            if again_in_opening {
                self.progress.input_unread = false;
                return self.end_turn_at(at);
            }
            self.add_user_message();
            return self.leave(at);
        }
        self.consume_input();
        self.extract_agent_fields()?;
        if let Origin::Zone(zone) = element {
            self.extract_exit_variables(zone)?;
        }
        if let Origin::Statement(Statement::Goto(_)) | Origin::Jump(_) = element {
            return self.choose_answer(at);
        }
        if let Some(edge) = self.pick_edge(at, |edge, _| leads_onward(edge.kind))? {
            return Ok(Next::Take(edge));
        }
        // The turn limit of a model-led part is exhausted (`MAX_TURNS`).
        match self.pick_edge(at, |edge, _| edge.kind == EdgeKind::Exhausted)? {
            Some(edge) => Ok(Next::Take(edge)),
            None => self.leave(at),
        }
    }

    /// Selects the choice of `ASK_USER` that the user named.
    fn choose_answer(&mut self, at: NodeIndex) -> NodeResult {
        let input = self.input.as_ref().map(|i| i.text.to_lowercase()).unwrap_or_default();
        let chosen = self.outgoing_edges(at).into_iter().find(|(.., edge)| {
            matches!(edge.origin, Origin::Name(name) if input.contains(&name.value.to_lowercase()))
        });
        match chosen {
            Some((edge, ..)) => Ok(Next::Take(edge)),
            None => match self
                .pick_edge(at, |edge, _| leads_onward(edge.kind) && edge.kind != EdgeKind::Retry)?
            {
                Some(edge) => Ok(Next::Take(edge)),
                None => Ok(Next::Stop(Status::Await)),
            },
        }
    }

    /// Marks the user's input as consumed.
    pub(super) fn consume_input(&mut self) {
        self.add_user_message();
        self.progress.input_unread = false;
    }

    /// Ends the turn at a node that continues with the user's next message.
    pub(super) fn end_turn_at(&mut self, at: NodeIndex) -> NodeResult {
        let turn = self.outgoing_edges(at).into_iter().find(|(_, to, edge)| {
            edge.kind == EdgeKind::Turn
                && self.machine.cfg.node(*to).is_some_and(|n| n.kind == NodeKind::TurnEnd)
        });
        match turn {
            Some((edge, ..)) => {
                let stage = if self.is_question_of_turn(at) { STAGE_RULE } else { 0 };
                let back = ReturnPoint { node: super::index(at.index()), stage };
                self.frame().return_points.push(back);
                Ok(Next::Take(edge))
            }
            None => Ok(Next::Stop(Status::Await)),
        }
    }

    /// Whether a node is the start of error handlers.
    pub(super) fn is_error_hub(&self, at: NodeIndex) -> bool {
        self.machine.cfg.node(at).is_some_and(|n| n.kind == NodeKind::Error)
    }

    /// Whether a node's error handlers cover a kind of error, specifically or by default.
    pub(super) fn is_handled(&self, at: NodeIndex, kind: &str) -> bool {
        let hubs = self.outgoing_edges(at).into_iter().filter(|(_, to, edge)| {
            matches!(edge.kind, EdgeKind::Error | EdgeKind::Unhandled) && self.is_error_hub(*to)
        });
        let mut hubs: Vec<NodeIndex> = hubs.map(|(_, to, _)| to).collect();
        // The handlers of a step may continue with those of the agent, which are the last.
        for hub in hubs.clone() {
            let unhandled = self
                .outgoing_edges(hub)
                .into_iter()
                .filter(|(.., e)| e.kind == EdgeKind::Unhandled);
            hubs.extend(unhandled.map(|(_, to, _)| to));
        }
        hubs.into_iter().any(|hub| self.find_handler(hub, kind).is_some())
    }

    /// The handler for a kind of error among those of one hub.
    fn find_handler(&self, hub: NodeIndex, kind: &str) -> Option<(EdgeIndex, &'p ErrorHandler)> {
        let handlers =
            self.outgoing_edges(hub).into_iter().filter_map(|(id, _, edge)| match edge.origin {
                Origin::Handler(handler) => Some((id, handler)),
                _ => None,
            });
        let handlers: Vec<_> = handlers.collect();
        // Newer documentation of ABL calls errors of models and time-outs so.
        let also = |name: &str| match kind {
            "model_error" => name == "llm_error",
            "model_timeout" => matches!(name, "llm_error" | "timeout_error"),
            "tool_timeout" => name == "timeout_error",
            _ => false,
        };
        let named = |handler: &ErrorHandler, kind: &str| {
            handler.kind.value == kind
                || also(&handler.kind.value)
                || handler.subtypes.iter().any(|s| s.value == kind)
        };
        let fits = handlers.iter().find(|(_, handler)| named(handler, kind));
        let all = || {
            handlers.iter().find(|(_, handler)| {
                matches!(handler.kind.value.as_str(), "default" | "unknown_error" | "*")
            })
        };
        fits.or_else(all).copied()
    }

    /// Selects the error handler.
    fn handle_error(&mut self, at: NodeIndex) -> NodeResult {
        let kind = self.frame().error.as_ref().map(|e| e.kind.clone()).unwrap_or_default();
        if let Some((edge, handler)) = self.find_handler(at, &kind) {
            self.wait_before_retry(handler);
            // `RETRY` without a response starts here, and is limited as any other.
            let way = self.outgoing_edges(at).into_iter().find(|(id, to, edge)| {
                let mine = matches!(edge.origin, Origin::Handler(h) if std::ptr::eq(h, handler));
                mine && self.can_take(*id, *to, edge)
            });
            let edge = way.map_or(edge, |(way, ..)| way);
            return Ok(Next::Take(edge));
        }
        match self
            .outgoing_edges(at)
            .into_iter()
            .find(|(.., edge)| edge.kind == EdgeKind::Unhandled)
        {
            Some((edge, ..)) => Ok(Next::Take(edge)),
            None => {
                let message = self.frame().error.as_ref().map(|e| e.message.clone());
                Ok(self.give_up(message.unwrap_or_default()))
            }
        }
    }

    fn unknown_target(&mut self, element: &Origin<'p>) -> NodeResult {
        let what = match element {
            Origin::Name(name) => format!("there is no step `{}`", name.value),
            _ => "the target is unknown".to_owned(),
        };
        Err(RuntimeError::unknown(what))
    }

    // ---- variables --------------------------------------------------------------------------

    /// Evaluates an expression. Whether an evaluation error stops the agent depends on the
    /// language.
    pub(super) fn value(&self, expr: &Expr) -> Result<Value, RuntimeError> {
        let dialect = self.dialect();
        match evaluate(expr, &self.scope(), dialect) {
            Ok(value) => {
                self.note_computed(expr, &self.scope(), &value);
                Ok(value)
            }
            Err(_) if dialect.semantics().error_is_false => Ok(Value::Undefined),
            Err(error) => Err(RuntimeError::unknown(format!("`{expr}` has no value: {error}"))),
        }
    }

    pub(super) fn set(&mut self, set: &SetVariable) -> Result<(), RuntimeError> {
        let value = self.value(&set.value)?;
        self.assign(&set.target, value)
    }

    /// Assigns a shared variable if there is one of that name, else one of the agent.
    pub(super) fn assign(&mut self, path: &Path, value: Value) -> Result<(), RuntimeError> {
        let path = &self.own_path(path);
        let name = dotted(path);
        if self.is_write_protected(&name) {
            return Ok(());
        }
        let shown = self.masked(&name, &to_json(&value));
        if let Some((frame, inner)) = self.other_agent_variables(path) {
            // As elsewhere, a field of a scalar cannot be set.
            let set = frame.variables.set_path(&inner, value);
            set.map_err(|e| RuntimeError::unknown(format!("`{name}` cannot be set: {e}")))?;
            self.emit(EventKind::Set { variable: name.to_string(), value: shown });
            return Ok(());
        }
        self.variable_store(path)
            .set_path(path, value)
            .map_err(|e| RuntimeError::unknown(format!("`{name}` cannot be set: {e}")))?;
        self.emit(EventKind::Set { variable: name.to_string(), value: shown });
        Ok(())
    }

    /// The path that is written: `session.x` is `x`, as where it is read.
    pub(super) fn own_path(&self, path: &Path) -> Path {
        let is_variable = || {
            let declares = |agent: &agentir_ir::Agent| {
                agent.memory.session.iter().any(|variable| variable.name.value == "session")
            };
            self.agent().is_ok_and(declares) || self.session.variable("session").is_some()
        };
        super::scope::of_session(path).filter(|_| !is_variable()).unwrap_or_else(|| path.clone())
    }

    /// The frame of the other agent that a path refers to (`triage.date`), and the path within
    /// it.
    fn other_agent_variables(&mut self, path: &Path) -> Option<(&mut Frame, Path)> {
        if !self.traits().reads_other_agents {
            return None;
        }
        let (Segment::Field(field), rest) = path.segments.split_first()? else { return None };
        let name = path.root.value.as_str();
        let inner = Path { namespace: None, root: field.clone(), segments: rest.to_vec() };
        let others = self.session.stack.len().checked_sub(1)?;
        let at_work = self.session.stack.iter_mut().take(others).rev();
        let mut all = at_work.chain(self.session.parked.iter_mut().rev());
        Some((all.find(|frame| frame.agent == name)?, inner))
    }

    /// The store that holds a variable: the shared one if it has the variable, else the agent's.
    fn variable_store(&mut self, path: &Path) -> &mut State {
        let root = Path { segments: Vec::new(), ..path.clone() };
        let shared = path.namespace.is_some() || self.session.shared.get(&dotted(&root)).is_some();
        if shared { &mut self.session.shared } else { &mut self.frame().variables }
    }

    /// The value of a variable by its dotted name, if it is set.
    pub(super) fn variable(&self, name: &str) -> Option<Value> {
        let expr = Expr::path(path_of(name), Span::default());
        self.value(&expr).ok().filter(|v| !v.is_unset())
    }

    /// Assigns a variable by its dotted name.
    pub(super) fn assign_name(&mut self, name: &str, value: Value) -> Result<(), RuntimeError> {
        self.assign(&path_of(name), value)
    }

    pub(super) fn clear(&mut self, name: &str) {
        let path = self.own_path(&path_of(name));
        if self.is_write_protected(&dotted(&path)) {
            return;
        }
        // A scalar has no fields to clear.
        let _ = self.variable_store(&path).set_path(&path, Value::Undefined);
        self.emit(EventKind::Clear { variable: dotted(&path).to_string() });
    }

    /// Masks the value of a sensitive variable for traces.
    pub(super) fn masked(&self, name: &str, value: &Json) -> Json {
        let masked = self.machine.masked(name, value);
        if masked != *value {
            self.sensitive.borrow_mut().add(value);
        }
        masked
    }

    /// Whether any agent declares a variable as sensitive.
    pub(super) fn is_sensitive(&self, name: &str) -> bool {
        self.machine.is_sensitive(name)
    }

    /// Stores the capture groups of a successful match as `match`.
    pub(super) fn store_captures(&mut self, expr: &Expr) {
        let mut found = None;
        let dialect = self.dialect();
        expr.visit(&mut |e| {
            if let agentir_expr::ExprKind::Binary {
                op: agentir_expr::BinaryOp::Matches,
                left,
                right,
            } = &e.kind
                && let (Ok(Value::Text(text)), Ok(Value::Text(pattern))) = (
                    evaluate(left, &self.scope(), dialect),
                    evaluate(right, &self.scope(), dialect),
                )
                && let Ok(groups) = agentir_eval::captures(&text, &pattern)
            {
                if let Some(groups) = &groups {
                    self.note_derived(left, &self.scope(), groups);
                }
                found = found.take().or(groups);
            }
            agentir_expr::Visit::Children
        });
        if let Some(value) = found {
            self.session.system.set("match", value);
        }
    }

    fn transform(&mut self, transform: &Transform) -> Result<(), RuntimeError> {
        let dialect = self.dialect();
        let Value::List(list) = self.value(&transform.source)? else {
            return self
                .assign_name(&transform.target.value, Value::list(Vec::new()).unwrap_or_default());
        };
        let mut made = Vec::new();
        for item in list.items() {
            self.locals.push((transform.item_var.value.clone(), item.clone()));
            let kept = match &transform.filter {
                Some(filter) => evaluate(filter, &self.scope(), dialect)
                    .is_ok_and(|v| truthy(&v, dialect.semantics())),
                None => true,
            };
            if kept {
                made.push(self.map_item(transform, item)?);
            }
            self.locals.pop();
        }
        if let Some(sort) = &transform.sort_by {
            let key = |value: &Value| match value {
                Value::Object(object) => object.fields().get(&sort.field.value).cloned(),
                _ => None,
            };
            made.sort_by(|a, b| {
                let (a, b) = (key(a).unwrap_or_default(), key(b).unwrap_or_default());
                let order = sort_order(&a, &b);
                if sort.order == "desc" { order.reverse() } else { order }
            });
        }
        if let Some(limit) = &transform.limit
            && let Value::Number(limit) = self.value(limit)?
        {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            made.truncate(limit.clamp(0.0, 1e6) as usize);
        }
        let made = Value::list(made).map_err(|e| RuntimeError::unknown(e.to_string()))?;
        self.assign_name(&transform.target.value, made)
    }

    fn map_item(&self, transform: &Transform, item: &Value) -> Result<Value, RuntimeError> {
        if transform.map.is_empty() {
            return Ok(item.clone());
        }
        let mut fields: BTreeMap<Name, Value> = BTreeMap::new();
        for (name, expr) in &transform.map {
            fields.insert(name.value.clone(), self.value(expr)?);
        }
        Value::object(fields).map_err(|e| RuntimeError::unknown(e.to_string()))
    }

    /// Starts an agent: initialises its variables.
    fn enter_agent(&mut self) -> Result<(), RuntimeError> {
        let agent = self.agent()?;
        self.forget_results()?;
        for variable in &agent.memory.session {
            if variable.scope == Some("program") {
                if variable.reset == Some("per_activation") {
                    let value = initial_value(variable.initial_value.as_ref());
                    let name = super::scope::name_of_variable(agent, &variable.name.value);
                    self.session.shared.set(name, value);
                }
                continue;
            }
            let given = self.frame().variables.get(&variable.name.value).is_some();
            if given || is_owned(agent, &variable.name.value) {
                continue;
            }
            if let Some(value) = self.kept_value(&agent.metadata.name.value, variable) {
                self.frame().variables.set(variable.name.value.clone(), value);
            } else if variable.initial_value.is_some() {
                let value = initial_value(variable.initial_value.as_ref());
                self.frame().variables.set(variable.name.value.clone(), value);
            }
        }
        for path in &agent.memory.persistent {
            if let Some(default) = &path.default_value
                && self.session.memory.get(&path.path.value).is_none()
                && !is_owned(agent, &path.path.value)
            {
                let value = initial_value(Some(default));
                let name = path.path.value.clone();
                self.session.memory_writes.insert(name.to_string(), vec![MemoryWrite::Default]);
                self.session.memory.set(name, value);
            }
        }
        let name = agent.metadata.name.value.clone();
        if self.session.turn == 0 {
            self.recall("session:start");
        }
        self.recall(&format!("agent:{name}:before"));
        Ok(())
    }
}

fn initial_value(data: Option<&Data>) -> Value {
    data.and_then(|d| from_json(d).ok()).unwrap_or_default()
}

/// The sort order of a pipeline: numbers by size, strings lexicographically, unset values first.
fn sort_order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (a, b) => b.is_unset().cmp(&a.is_unset()),
    }
}
