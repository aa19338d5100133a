//! The conversation as it is kept.

use super::Run;
use crate::session::new_id;
use crate::write::check_output;
use agentir_ir::Program;
use agentir_runtime::{Machine, Session};
use agentir_store::{Memory, Sqlite, Store};

/// Keeps the conversation, if it is to be kept.
pub struct Keeper {
    store: Option<(Sqlite, String)>,
    memory: Memory,
}

impl Keeper {
    pub fn new(args: &Run, program: &Program) -> Result<Self, String> {
        let store = match &args.session {
            Some(id) => {
                check_output(&args.store)?;
                Some((Sqlite::open(&args.store).map_err(|e| e.to_string())?, id.clone()))
            }
            None => None,
        };
        let project = program.entry().map_or("project", |a| a.metadata.name.value.as_str());
        Ok(Self { store, memory: Memory::new(program, project, args.user.as_deref()) })
    }

    /// The conversation to go on with, or a new one.
    pub fn session(&mut self, machine: &Machine<'_>, args: &Run) -> Result<Session, String> {
        let fresh = || -> Result<Session, String> {
            let mut session = machine.session(args.agent.as_deref()).map_err(|e| e.to_string())?;
            session.set_system("channel", &serde_json::Value::from(args.channel.as_str()));
            session.id = new_id();
            if let Some(user) = &args.user {
                session.set_system("user_id", &serde_json::Value::from(user.as_str()));
            }
            Ok(session)
        };
        let Some((store, id)) = &mut self.store else { return fresh() };
        let found = store.load(id).map_err(|e| e.to_string())?;
        let is_new = found.is_none();
        let mut session = match found {
            Some(mut session) => {
                // What was found out about one user is not true of another.
                let known =
                    session.variable("user_id").and_then(|id| Some(id.as_str()?.to_owned()));
                if let (Some(known), Some(user)) = (known, &args.user)
                    && known != *user
                {
                    return Err(format!(
                        "session `{id}` is a conversation with another user than `{user}`\nhelp: begin anew under another id"
                    ));
                }
                let changed = machine.adopt(&mut session).map_err(|why| {
                    format!(
                        "session `{id}` cannot go on, because its agents were changed: {why}\nhelp: \
                         `agentir session show {id}` shows what was said; begin anew under another id"
                    )
                })?;
                if changed {
                    tell!(
                        "note: the agents were changed since the last turn; session `{id}` goes on with the new ones"
                    );
                }
                session
            }
            None => fresh()?,
        };
        self.memory.load_into(store, &mut session).map_err(|e| e.to_string())?;
        if is_new {
            // Its id is kept before the first call that it identifies.
            store.save(id, &session, &[]).map_err(|e| e.to_string())?;
        }
        Ok(session)
    }

    /// Reads what other conversations remember, before a turn.
    pub fn refresh(&mut self, session: &mut Session) -> Result<(), String> {
        match &mut self.store {
            Some((store, _)) => self.memory.load_into(store, session).map_err(|e| e.to_string()),
            None => Ok(()),
        }
    }

    /// Writes a session that went back from a later state. What others remembered since then stays, also what nobody here
    /// has read yet.
    pub fn step_back(&mut self, session: &mut Session, mut later: Session) -> Result<(), String> {
        self.refresh(&mut later)?;
        self.memory.keep_foreign(session);
        session.forget_memory_writes();
        self.save(session)
    }

    /// Writes a turn.
    pub fn save(&mut self, session: &Session) -> Result<(), String> {
        match &mut self.store {
            Some((store, id)) => self.memory.save(store, id, session).map_err(|e| e.to_string()),
            None => Ok(()),
        }
    }
}
