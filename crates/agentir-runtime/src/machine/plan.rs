//! Asking the questions about a message together. A message can raise several questions that do not depend on each other:
//! which intent it has, how the user sounds, whether a guardrail is triggered, who is to look after it, which values it
//! gives. One request for all of them replaces a request for each.
//!
//! Which questions there are is found by executing the turn on a copy of the session, without side effects, with the
//! answer to each question that changes least: nothing is chosen, nothing holds, there are no values. What is asked until
//! the agent has to speak or to act does not depend on other answers. The turn is then executed with the answers; other
//! questions that it leads to are asked when they arise.

use super::{Input, Machine, Run};
use crate::host::{Clock, Extractor, Host, NoHuman, ToolCall, ToolFailure, Tools};
use crate::model::{Answer, Model, ModelError, ModelRequest, ModelResponse, ModelTask};
use crate::session::{RuntimeError, Session};
use serde_json::{Map, Value as Json};

/// The number of questions that are asked together.
const MAX_QUESTIONS: usize = 16;

/// The questions about a message.
#[derive(Default)]
pub(super) enum Ahead {
    /// They are asked when they arise.
    #[default]
    Nothing,
    /// They are being collected.
    Collecting {
        questions: Vec<ModelTask>,
        /// Whether all are known: what follows depends on their answers.
        complete: bool,
    },
    /// They have been answered.
    Answered(Vec<(ModelTask, Answer)>),
}

impl Run<'_, '_, '_> {
    /// Asks the questions about the message together, if the model prefers that and there are several. If they are not
    /// answered, they are asked when they arise.
    pub(super) fn ask_ahead(&mut self) {
        if self.input.is_none() || !self.host.model.combines_questions() {
            return;
        }
        // The transcript is not needed, and may be long.
        let transcript = std::mem::take(&mut self.session.transcript);
        let session = self.session.clone();
        self.session.transcript = transcript;
        let questions = collect(
            self.machine,
            session,
            self.input.clone(),
            self.host.clock,
            self.host.extractor,
        );
        if questions.len() < 2 {
            return;
        }
        let task = ModelTask::Several { questions: questions.clone() };
        if let Ok(Answer::Several(answers)) = self.ask_model(task)
            && answers.len() == questions.len()
        {
            self.ahead = Ahead::Answered(questions.into_iter().zip(answers).collect());
        }
    }

    /// The answer to a question that was asked ahead, or that is only being collected.
    pub(super) fn answer_ahead(
        &mut self,
        task: &ModelTask,
    ) -> Option<Result<Answer, RuntimeError>> {
        match &mut self.ahead {
            Ahead::Nothing => None,
            Ahead::Answered(answers) => {
                let at = answers.iter().position(|(question, _)| question == task)?;
                Some(Ok(answers.get(at)?.1.clone()))
            }
            Ahead::Collecting { questions, complete } => {
                let Some(answer) = unremarkable(task).filter(|_| questions.len() < MAX_QUESTIONS)
                else {
                    *complete = true;
                    return Some(Err(RuntimeError::unknown("the questions are known")));
                };
                if !questions.contains(task) {
                    questions.push(task.clone());
                }
                Some(Ok(answer))
            }
        }
    }

    /// Whether all questions have been collected.
    pub(super) const fn plan_is_complete(&self) -> bool {
        matches!(self.ahead, Ahead::Collecting { complete: true, .. })
    }
}

/// The answer that changes least; `None` if the agent has to speak.
fn unremarkable(task: &ModelTask) -> Option<Answer> {
    match task {
        ModelTask::Extract { .. } => Some(Answer::Values(Map::new())),
        ModelTask::Choose { .. } => Some(Answer::Choice(Vec::new())),
        ModelTask::Judge { in_doubt, .. } => Some(Answer::Verdict(*in_doubt)),
        ModelTask::Converse { .. } | ModelTask::Several { .. } | ModelTask::Summarize { .. } => {
            None
        }
    }
}

/// The questions about a message, found on a copy of the session.
fn collect(
    machine: &Machine<'_>,
    mut session: Session,
    input: Option<Input>,
    clock: &dyn Clock,
    extractor: &dyn Extractor,
) -> Vec<ModelTask> {
    let mut host = Host {
        model: &mut Silent,
        extractor,
        tools: &mut Silent,
        human: &mut NoHuman,
        clock,
        observer: &mut (),
    };
    let mut run = Run::new(machine, &mut session, &mut host, input);
    run.ahead = Ahead::Collecting { questions: Vec::new(), complete: false };
    run.speculate();
    if run.screen_message().is_none() {
        run.restart_at_entry();
        run.run_until_wait();
    }
    match run.ahead {
        Ahead::Collecting { questions, .. } => questions,
        Ahead::Nothing | Ahead::Answered(_) => Vec::new(),
    }
}

/// Neither answers nor acts.
struct Silent;

impl Model for Silent {
    fn respond(
        &mut self,
        _: &ModelRequest,
        _: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        Err(ModelError::Unavailable("no request is made".to_owned()))
    }
}

impl Tools for Silent {
    fn call(&mut self, _: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        Err(ToolFailure::new(crate::host::FailureKind::Refused, "no call is made"))
    }
}
