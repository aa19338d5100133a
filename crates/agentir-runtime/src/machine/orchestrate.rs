//! Who of an ensemble answers, by the methods of the ADL paper ([`Method`]).
//!
//! With a method, a message goes to the ensemble first, whoever was in charge; an agent with a flow
//! keeps it. What several agents would answer is tried out: the conversation goes on with one of
//! them until the turn is over or something would happen outside, and is then as it was before.

use super::{Next, Progress, Run, onward};
use crate::model::{Candidate, Message, Purpose, Role, ToolSpec};
use crate::orchestration::{Method, merged};
use crate::session::{Problem, Session, Status};
use crate::trace::What;
use agentir_flow::cfg::{EdgeKind, NodeKind};
use agentir_ir::{AgentType, Guardrail, GuardrailKind};
use petgraph::graph::{EdgeIndex, NodeIndex};
use serde_json::Value as Json;

/// So many nodes at most stand between a way out of an ensemble and the agent it leads to.
const MAX_WAY: usize = 16;

/// What a method remembers within a turn.
#[derive(Default)]
pub(super) struct Orchestration {
    /// Whether the turn has come to the ensemble, or is none of its business.
    arranged: bool,
    /// The agent that was in charge when the turn began.
    in_charge: Option<String>,
    /// Who goes on, if somebody has said so already.
    wish: Option<String>,
    /// Where the ensemble chooses, and whom it can choose.
    routed: Option<(NodeIndex, Vec<Candidate>)>,
    /// Whether what happens is only tried out.
    trying: bool,
    /// Why it was not tried any further.
    halted: Option<End>,
    /// Whether it was tried out already who answers.
    contested: bool,
    /// Guardrails that the next question to lead the conversation takes with it.
    merging: Option<Box<Merging>>,
    /// Whether guardrails are asked by themselves after all.
    apart: bool,
}

/// Guardrails that are not asked yet.
struct Merging {
    /// The turn as it was before the first.
    before: Kept,
    /// What each looks for, and what is said then.
    rules: Vec<(String, String)>,
}

/// Everything that goes back with a turn.
#[derive(Clone)]
struct Kept {
    session: Session,
    progress: Progress,
}

/// How it ended that was tried out.
#[derive(Clone, Copy)]
enum End {
    /// The turn was over.
    Over(Status),
    /// Something would have happened outside.
    Acts,
    /// The agent gave the message back.
    Declines,
}

/// What an agent would answer.
struct Attempt {
    agent: String,
    text: String,
    end: End,
    after: Kept,
}

impl Attempt {
    /// Whether it is an answer at all.
    fn answers(&self) -> bool {
        match self.end {
            End::Over(status) => status != Status::Failed && !self.text.is_empty(),
            End::Acts => true,
            End::Declines => false,
        }
    }
}

impl<'p> Run<'_, 'p, '_> {
    // ---- the message goes to the ensemble ---------------------------------------------------

    /// Gives a message to the ensemble of the agent in charge, where a method says who answers.
    pub(super) fn ask_ensemble(&mut self) -> Option<Next> {
        self.session.orchestration?;
        if std::mem::replace(&mut self.methods.arranged, true) || !self.is_led() {
            return None;
        }
        self.methods.in_charge = self.session.agent().map(str::to_owned);
        self.hand_up()?;
        self.begin_anew();
        Some(Next::Switch)
    }

    /// Whether the agent in charge is one that the model leads, of an ensemble.
    fn is_led(&self) -> bool {
        let Some((last, above)) = self.session.stack.split_last() else { return false };
        let ensemble = above.last().and_then(|t| self.machine.program.agent(&t.agent));
        !last.delegated
            && last.returns_to.is_some()
            && self.agent().is_ok_and(|agent| agent.flow.is_none())
            && ensemble.is_some_and(|a| a.metadata.kind == AgentType::Supervisor)
    }

    /// The agent in charge steps back, and goes on where it is when it is asked again.
    fn hand_up(&mut self) -> Option<()> {
        let child = self.session.stack.pop()?;
        let since =
            child.messages.iter().rposition(|m| m.role == Role::User).map_or(0, |at| at + 1);
        let new = child.messages.get(since..).unwrap_or_default().iter();
        let words: Vec<Message> = new
            .filter(|m| m.role == Role::Assistant && m.calls.is_empty() && !m.text.is_empty())
            .cloned()
            .collect();
        let to = self.session.agent()?.to_owned();
        self.emit(What::Transfer { how: "return", from: child.agent.clone(), to });
        self.bring(&child);
        self.thread().messages.extend(words);
        self.session.parked.push(child);
        self.progress.fresh = self.input.is_some();
        Some(())
    }

    // ---- who answers ------------------------------------------------------------------------

    /// Whom a method gives a message to, of those that the ensemble would choose among. None if it is
    /// chosen as always.
    pub(super) fn orchestrated(
        &mut self,
        at: NodeIndex,
        asked: &[(EdgeIndex, Candidate)],
    ) -> Result<Option<Next>, Problem> {
        let Some(method) = self.session.orchestration else { return Ok(None) };
        let agents = asked
            .iter()
            .filter_map(|(edge, candidate)| {
                let name = self.leads_to(*edge)?.to_owned();
                Some(Candidate { name, ..candidate.clone() })
            })
            .collect();
        self.methods.routed = Some((at, agents));
        let wish = self.methods.wish.take();
        let wish = match method {
            Method::Autonomous => wish.or_else(|| self.methods.in_charge.take()),
            _ => wish,
        };
        if let Some(wish) = wish {
            let way = asked.iter().find(|(edge, _)| self.leads_to(*edge) == Some(wish.as_str()));
            if let Some((edge, _)) = way {
                return Ok(Some(Next::Take(*edge)));
            }
        }
        let tries = matches!(method, Method::FirstSuccess | Method::BestOfN);
        if tries && !self.methods.trying && !std::mem::replace(&mut self.methods.contested, true) {
            return self.contest(method, asked);
        }
        Ok(None)
    }

    /// The ensemble has chosen; if its guardrails have to be asked by themselves after all, it is not
    /// asked for it again.
    pub(super) fn routed_to(&mut self, edge: EdgeIndex) {
        if self.methods.merging.is_some() {
            self.methods.wish = self.leads_to(edge).map(str::to_owned);
        }
    }

    /// The agent that a way out of an ensemble leads to.
    fn leads_to(&self, edge: EdgeIndex) -> Option<&'p str> {
        let (_, mut at, _) = self.machine.cfg.edge(edge)?;
        for _ in 0..MAX_WAY {
            if let Some(transfer) = self.machine.transfers.get(&at).and_then(|all| all.first()) {
                let part = self.machine.cfg.agent(transfer.target?)?;
                return Some(part.agent.metadata.name.value.as_str());
            }
            at = self.leaving(at).into_iter().find(|(.., edge)| onward(edge.kind))?.1;
        }
        None
    }

    /// Several agents are tried: until one will do, or all of them.
    fn contest(
        &mut self,
        method: Method,
        asked: &[(EdgeIndex, Candidate)],
    ) -> Result<Option<Next>, Problem> {
        let before = self.keep();
        let begin = match (method, &self.methods.in_charge) {
            (Method::FirstSuccess, Some(agent)) => {
                asked.iter().position(|(edge, _)| self.leads_to(*edge) == Some(agent.as_str()))
            }
            _ => None,
        };
        let order = asked.iter().cycle().skip(begin.unwrap_or(0)).take(asked.len());
        let mut attempts = Vec::new();
        for (edge, _) in order {
            let Some(attempt) = self.attempt(*edge) else { continue };
            self.go_back(&before);
            let will_do = method == Method::FirstSuccess
                && attempt.answers()
                && (matches!(attempt.end, End::Acts)
                    || self.judge(
                        "it helps with what the user said last, and is no excuse",
                        attempt.text.clone(),
                    )?);
            if will_do {
                return Ok(Some(self.go_on_with(&attempt)));
            }
            if method == Method::FirstSuccess {
                self.emit(What::Attempt { by: attempt.agent.clone(), taken: false });
            }
            attempts.push(attempt);
        }
        attempts.retain(Attempt::answers);
        let best = match method {
            Method::BestOfN if attempts.len() > 1 => {
                let candidates = attempts.iter().map(|attempt| Candidate {
                    name: attempt.agent.clone(),
                    description: attempt.text.clone(),
                    examples: Vec::new(),
                    keywords: Vec::new(),
                });
                let purpose = "Several agents have answered the user. Which answer is the best?";
                let chosen = self.choose_among(purpose, candidates.collect(), false)?;
                chosen.first().and_then(|name| attempts.iter().position(|a| a.agent == *name))
            }
            _ => None,
        };
        if method == Method::BestOfN {
            for (n, attempt) in attempts.iter().enumerate() {
                if n != best.unwrap_or(0) {
                    self.emit(What::Attempt { by: attempt.agent.clone(), taken: false });
                }
            }
        }
        // Somebody has to speak: if no answer is better than the others, the first does.
        Ok(attempts.get(best.unwrap_or(0)).map(|attempt| self.go_on_with(attempt)))
    }

    /// Tries out what comes of a way out of the ensemble.
    fn attempt(&mut self, edge: EdgeIndex) -> Option<Attempt> {
        let agent = self.leads_to(edge)?.to_owned();
        let before = self.progress.said.len();
        self.methods.trying = true;
        self.methods.halted = None;
        self.take(edge);
        let status = self.go();
        self.methods.trying = false;
        let end = self.methods.halted.take().unwrap_or(End::Over(status));
        let said = self.progress.said.get(before..).unwrap_or_default().iter();
        let mut texts: Vec<String> = said.map(|s| s.text.clone()).collect();
        if let (End::Acts, Some(thread)) = (end, self.session.stack.last()) {
            texts.extend(thread.pending.last().map(|pick| format!("[{}]", pick.name)));
        }
        Some(Attempt { agent, text: texts.join("\n"), end, after: self.keep() })
    }

    /// An attempt is what happens.
    fn go_on_with(&mut self, attempt: &Attempt) -> Next {
        self.go_back(&attempt.after);
        self.emit(What::Attempt { by: attempt.agent.clone(), taken: true });
        match attempt.end {
            End::Over(status) => Next::Stop(status),
            End::Acts | End::Declines => Next::Switch,
        }
    }

    fn keep(&self) -> Kept {
        Kept { session: self.session.clone(), progress: self.progress.clone() }
    }

    /// Everything is as it was, except for what it has cost.
    fn go_back(&mut self, kept: &Kept) {
        let cost = (self.session.usage, self.session.model_calls);
        self.session.clone_from(&kept.session);
        (self.session.usage, self.session.model_calls) = cost;
        self.progress.clone_from(&kept.progress);
    }

    /// Whether what happens may still be taken back, so that nobody is to hear of it yet.
    pub(super) const fn is_tried(&self) -> bool {
        self.methods.trying
    }

    /// Whether it goes no further than a node because it is only tried out.
    pub(super) fn halts(&mut self, at: NodeIndex, kind: NodeKind) -> bool {
        let acts = self.methods.trying
            && (matches!(kind, NodeKind::Confirm | NodeKind::Call | NodeKind::Escalate)
                || self.leads_elsewhere(at));
        if acts {
            self.methods.halted = Some(End::Acts);
        }
        acts
    }

    /// An agent gives a message back that it was only tried with.
    pub(super) fn declines(&mut self) -> Option<Next> {
        self.methods.trying.then(|| {
            self.methods.halted = Some(End::Declines);
            Next::Stop(Status::Await)
        })
    }

    // ---- the agent in charge says who goes on -----------------------------------------------

    /// Offers an agent the others of its ensemble. Whether there are any.
    pub(super) fn offer_siblings(&mut self, tools: &mut Vec<ToolSpec>) -> bool {
        if self.session.orchestration != Some(Method::Autonomous) || !self.is_led() {
            return false;
        }
        let own = self.session.agent().unwrap_or_default();
        let others = self.methods.routed.iter().flat_map(|(_, agents)| agents);
        let mut any = false;
        for other in others.filter(|other| other.name != own) {
            any = true;
            if tools.iter().all(|tool| tool.name != other.name) {
                tools.push(ToolSpec {
                    name: other.name.clone(),
                    description: other.description.clone(),
                    purpose: Purpose::Handoff,
                    parameters: Vec::new(),
                });
            }
        }
        any
    }

    /// The agent in charge has picked another of its ensemble. It is not handed back to within the
    /// turn, so that two agents cannot pass a message to and fro.
    pub(super) fn pick_sibling(&mut self, name: &str) -> Option<Next> {
        if self.session.orchestration != Some(Method::Autonomous) || !self.is_led() {
            return None;
        }
        let own = self.session.agent()?.to_owned();
        let (at, agents) = self.methods.routed.as_mut()?;
        let at = *at;
        agents.iter().find(|agent| agent.name == name)?;
        agents.retain(|agent| agent.name != own);
        self.answer_call(&Json::from("done"));
        self.thread().pending.clear();
        self.hand_up()?;
        self.thread().node = super::index(at.index());
        self.methods.wish = Some(name.to_owned());
        Some(Next::Switch)
    }

    // ---- guardrails with the agent behind them ----------------------------------------------

    /// Whether a guardrail is asked as one with the agent that comes next.
    pub(super) fn merges(&mut self, rail: &Guardrail, blocks: bool) -> bool {
        let fits = self.session.orchestration == Some(Method::Merging)
            && rail.kind == GuardrailKind::Input
            && rail.check.is_none()
            && blocks
            && !self.methods.apart
            && self.agent().is_ok_and(|agent| agent.flow.is_none());
        let Some(question) = rail.llm_check.as_ref().filter(|_| fits) else { return false };
        let rule = (self.render(question), self.guardrail_message(rail));
        if self.methods.merging.is_none() {
            let before = self.keep();
            self.methods.merging = Some(Box::new(Merging { before, rules: Vec::new() }));
        }
        if let Some(merging) = &mut self.methods.merging {
            merging.rules.push(rule);
        }
        true
    }

    /// The turn goes back to guardrails that no question has taken along, before anything comes of the
    /// message that they might have held up.
    pub(super) fn unmerge(&mut self, at: NodeIndex, kind: NodeKind) -> bool {
        let heard_of = self.leads_elsewhere(at)
            || matches!(
                kind,
                NodeKind::Say
                    | NodeKind::Confirm
                    | NodeKind::Call
                    | NodeKind::Await
                    | NodeKind::Collect
                    | NodeKind::Store
                    | NodeKind::FanOut
                    | NodeKind::Escalate
                    | NodeKind::Complete
                    | NodeKind::Fail
                    | NodeKind::Exit
            );
        if !heard_of {
            return false;
        }
        let Some(merging) = self.methods.merging.take() else { return false };
        self.methods.apart = true;
        self.go_back(&merging.before);
        true
    }

    /// What a model that leads is told, with the guardrails that come first.
    pub(super) fn with_guardrails(&mut self, system: String) -> String {
        let Some(merging) = self.methods.merging.take() else { return system };
        self.methods.wish = None;
        self.methods.apart = true;
        merged(&merging.rules, &system)
    }

    /// The place at which the agent in charge looks at a message anew.
    pub(super) fn begin_anew(&mut self) {
        let Some(part) = self.id().and_then(|id| self.machine.cfg.agent(id)) else { return };
        let mut ways = self.machine.cfg.successors(part.wait);
        let start = ways.find(|(_, edge)| edge.kind == EdgeKind::Turn).map(|(to, _)| to);
        if let Some(start) = start {
            self.thread().node = super::index(start.index());
        }
    }
}
