//! A conversation in a terminal.

use super::quiet::Quiet;
use super::style::Style;
use super::{Outcome, Run, Talk, said, setup};
use crate::write::replace_private;
use agentir_runtime::{Input, Role, Session, Status};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Cmd, Config, Context, Editor, Helper, KeyCode, KeyEvent, Modifiers};
use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;

const PROMPT: &str = "> ";

/// How many turns can be undone.
const MAX_UNDO: usize = 100;

/// How many messages of a conversation that goes on are shown.
const MAX_SHOWN_HISTORY: usize = 10;

/// How long the value of a variable is shown, in characters.
const MAX_SHOWN_VALUE: usize = 200;

/// The commands, with what they do.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("/help", "", "what can be typed"),
    ("/state", "", "the agent in charge, the step and the variables"),
    ("/undo", "", "take the last message back"),
    ("/retry", "", "send the last message again, from the state before it"),
    ("/trace", " [on|off]", "the steps of the last turn; or show them always, or not"),
    ("/attach", " FILE", "send a file with the next message"),
    ("/save", " FILE", "write the conversation to a file: JSON if it is called *.json, else text"),
    ("/quit", "", "leave, as Ctrl-D does"),
];

/// A turn that can be undone.
struct Done {
    before: Session,
    input: Option<Input>,
}

/// What follows a line.
enum Then {
    Continue,
    Leave(ExitCode),
}

struct Console<'t, 'p> {
    talk: &'t mut Talk<'p>,
    done: Vec<Done>,
    /// The message whose turn was cancelled.
    cancelled: Option<Option<Input>>,
    attachments: Vec<super::Attachment>,
}

/// Talks until the user leaves.
pub fn run(talk: &mut Talk<'_>, args: &Run) -> Result<ExitCode, String> {
    let mut editor = editor(talk.screen.style()).map_err(|e| e.to_string())?;
    listen(talk);
    banner(talk, args);
    let mut console = Console { talk, done: Vec::new(), cancelled: None, attachments: Vec::new() };
    if console.talk.session.has_begun() {
        console.show_history(&mut editor);
    } else if let Then::Leave(code) = console.turn(None)? {
        return Ok(code);
    }
    let mut interrupted = false;
    loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Eof) => {
                println!();
                return Ok(ExitCode::SUCCESS);
            }
            Err(ReadlineError::Interrupted) if interrupted => return Ok(ExitCode::SUCCESS),
            Err(ReadlineError::Interrupted) => {
                interrupted = true;
                console.talk.screen.aside("Ctrl-C once more, or Ctrl-D, leaves");
                continue;
            }
            Err(error) => return Err(format!("the input cannot be read: {error}")),
        };
        interrupted = false;
        if line.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(line.as_str());
        if let Then::Leave(code) = console.line(&line)? {
            return Ok(code);
        }
    }
}

/// Has Ctrl-C cancel the turn, and a second one end the program if that takes too long.
#[cfg(unix)]
fn listen(talk: &Talk<'_>) {
    let cancellation = talk.cancellation.clone();
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT]) {
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if cancellation.is_cancelled() {
                    Quiet::end();
                    std::process::exit(130);
                }
                cancellation.cancel();
            }
        });
    }
}

/// Has Ctrl-C cancel the turn.
#[cfg(windows)]
fn listen(talk: &Talk<'_>) {
    let flag = talk.cancellation.flag();
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, flag);
}

/// Says who talks, and with what.
fn banner(talk: &mut Talk<'_>, args: &Run) {
    let agent = talk.session.agent().unwrap_or("no agent").to_owned();
    let tools: std::collections::BTreeSet<&str> =
        talk.machine.program().tools().map(|tool| tool.name.value.as_str()).collect();
    let allowed = match &args.tools.allow_tools {
        None => "none may be called".to_owned(),
        Some(names) if names.iter().any(|name| name == "*") => "all may be called".to_owned(),
        Some(names) => format!("{} may be called", names.join(", ")),
    };
    let stubs = args.tools.stubs.as_ref();
    let stubs = stubs.map(|file| format!("; {} answers first", file.display()));
    let tools = match tools.len() {
        0 => "none".to_owned(),
        n => format!("{n}, {allowed}{}", stubs.unwrap_or_default()),
    };
    let session = match &args.session {
        Some(id) if talk.session.has_begun() => {
            let turns = talk.session.turn;
            let s = if turns == 1 { "" } else { "s" };
            format!("{id} in {}, after {turns} turn{s}", args.store.display())
        }
        Some(id) => format!("{id} in {}, new", args.store.display()),
        None => "not kept (`--session ID` keeps it)".to_owned(),
    };
    let lines = [
        format!("agentir {}", env!("CARGO_PKG_VERSION")),
        format!("agent: {agent}    model: {}", setup::model_name(&args.model)),
        format!("tools: {tools}"),
        format!("session: {session}"),
        "Type a message. /help lists commands; Ctrl-C cancels a turn, Ctrl-D leaves.".to_owned(),
    ];
    talk.screen.aside(&lines.join("\n"));
    println!();
}

impl Console<'_, '_> {
    /// Shows the end of a conversation that goes on. What the user said can be recalled.
    fn show_history(&mut self, editor: &mut Editor<Typing, MemHistory>) {
        let transcript = self.talk.session.transcript.clone();
        let skipped = transcript.len().saturating_sub(MAX_SHOWN_HISTORY);
        for message in transcript.iter().filter(|message| message.role == Role::User) {
            let _ = editor.add_history_entry(message.text.as_str());
        }
        if skipped > 0 {
            self.talk.screen.aside(&format!("… {skipped} earlier messages"));
        }
        for message in transcript.iter().skip(skipped) {
            let mark = if message.role == Role::User { PROMPT } else { "" };
            self.talk.screen.speak("", &format!("{mark}{}", message.text));
        }
        self.say_if_ended();
    }

    fn has_ended(&self) -> bool {
        matches!(self.talk.session.status, Status::Done | Status::Failed)
    }

    fn say_if_ended(&mut self) {
        let how = match self.talk.session.status {
            Status::Await => return,
            Status::Human => "a human agent has taken over",
            Status::Done => "the conversation has ended",
            Status::Failed => "the conversation has failed",
        };
        self.talk
            .screen
            .aside(&format!("[{how}; /undo takes the last message back, /quit leaves]"));
    }

    fn line(&mut self, line: &str) -> Result<Then, String> {
        match line.strip_prefix('/') {
            Some(rest) if !rest.starts_with('/') => self.command(line),
            // A message that begins with a slash.
            Some(rest) => self.say(said(rest)),
            None => self.say(said(line)),
        }
    }

    fn say(&mut self, mut input: Input) -> Result<Then, String> {
        if self.has_ended() {
            self.say_if_ended();
            return Ok(Then::Continue);
        }
        if let Err(why) = super::lines::check_length(&input.text) {
            self.talk.screen.aside(&format!("[not sent: {why}]"));
            return Ok(Then::Continue);
        }
        // The opening turn was cancelled.
        if !self.talk.session.has_begun()
            && let then @ Then::Leave(_) = self.turn(None)?
        {
            return Ok(then);
        }
        input.attachments.append(&mut self.attachments);
        self.turn(Some(input))
    }

    fn turn(&mut self, input: Option<Input>) -> Result<Then, String> {
        let before = self.talk.session.clone();
        self.talk.cancellation.reset();
        self.cancelled = None;
        let quiet = (!self.talk.desk.attended).then(Quiet::begin);
        let outcome = self.talk.turn(input.as_ref())?;
        drop(quiet);
        self.talk.cancellation.reset();
        match outcome {
            Outcome::Cancelled => {
                let calls = self.talk.screen.calls().to_vec();
                let mut text =
                    "[cancelled: as if nothing had been said; /retry says it again]".to_owned();
                if !calls.is_empty() {
                    text = format!("{text}\n[what was called stays called: {}]", calls.join(", "));
                }
                self.talk.screen.aside(&text);
                self.cancelled = Some(input);
            }
            Outcome::Over(_) => {
                if self.done.len() == MAX_UNDO {
                    self.done.remove(0);
                }
                self.done.push(Done { before, input });
                self.say_if_ended();
            }
        }
        Ok(Then::Continue)
    }

    fn command(&mut self, line: &str) -> Result<Then, String> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match name {
            "/help" => self.help(),
            "/state" => self.state(),
            "/undo" => self.undo()?,
            "/retry" => return self.retry(),
            "/trace" => self.trace(rest),
            "/attach" => self.attach(rest),
            "/save" => self.save(rest),
            "/quit" | "/exit" => return Ok(Then::Leave(ExitCode::SUCCESS)),
            _ => self.talk.screen.aside(&format!(
                "there is no command `{name}`: /help lists them, and `/{line}` sends it as a message"
            )),
        }
        Ok(Then::Continue)
    }

    fn help(&mut self) {
        let mut text = String::new();
        for (name, arguments, what) in COMMANDS {
            text.push_str(&format!("{:<18}{what}\n", format!("{name}{arguments}")));
        }
        text.push_str(
            "!ID VALUE         press a button, choose of a menu, or fill an input\n\
             //TEXT            a message that begins with a slash\n\
             Up, Down, Ctrl-R  earlier messages; Alt-Enter begins a new line\n\
             Ctrl-C            cancels the turn; twice at an empty prompt, leaves\n\
             Everything else is a message.",
        );
        self.talk.screen.aside(&text);
    }

    fn state(&mut self) {
        let talk = &self.talk;
        let session = &talk.session;
        let mut lines = vec![format!(
            "agent: {}    step: {}    status: {}    turn: {}",
            session.agent().unwrap_or("none"),
            talk.machine.current_step(session).unwrap_or("none"),
            session.status.name(),
            session.turn
        )];
        lines.push(format!(
            "model: {} calls, {} + {} tokens",
            session.model_calls, session.usage.input_tokens, session.usage.output_tokens
        ));
        let mut show = |name: &str, value: &serde_json::Value| {
            if !value.is_null() {
                let value = talk.machine.masked(name, value).to_string();
                let mut text: String = value.chars().take(MAX_SHOWN_VALUE).collect();
                if text.len() < value.len() {
                    text.push('…');
                }
                lines.push(format!("  {name} = {text}"));
            }
        };
        for (name, value) in session.variables() {
            show(&name, &value);
        }
        for (path, value) in session.memory() {
            show(&path, &value);
        }
        self.talk.screen.aside(&lines.join("\n"));
    }

    /// Goes back to the state before the last turn of the user; returns what was said.
    fn step_back(&mut self) -> Result<Option<Input>, String> {
        let Some(Done { before, input }) = self.done.pop_if(|done| done.input.is_some()) else {
            self.talk.screen.aside("there is no message of this run to take back");
            return Ok(None);
        };
        let later = std::mem::replace(&mut self.talk.session, before);
        self.talk.keeper.step_back(&mut self.talk.session, later)?;
        Ok(input)
    }

    fn undo(&mut self) -> Result<(), String> {
        let Some(input) = self.step_back()? else { return Ok(()) };
        self.talk.screen.aside(&format!(
            "[taken back: {}; calls that were made stay made]",
            input.text.replace('\n', " ")
        ));
        let last = self.talk.session.transcript.iter().rev();
        let last = last.take_while(|message| message.role == Role::Assistant).count();
        let transcript = self.talk.session.transcript.clone();
        let agent = self.talk.session.agent().unwrap_or_default().to_owned();
        for message in transcript.iter().skip(transcript.len() - last) {
            self.talk.screen.speak(&agent, &message.text);
        }
        Ok(())
    }

    fn retry(&mut self) -> Result<Then, String> {
        if let Some(input) = self.cancelled.take() {
            return self.turn(input);
        }
        match self.step_back()? {
            Some(input) => self.turn(Some(input)),
            None => Ok(Then::Continue),
        }
    }

    fn trace(&mut self, how: &str) {
        match how {
            "" => {
                let steps = self.talk.screen.steps().join("\n");
                self.talk.screen.aside(if steps.is_empty() {
                    "nothing happened yet"
                } else {
                    &steps
                });
            }
            "on" | "off" => self.talk.screen.trace = how == "on",
            _ => self.talk.screen.aside("write `/trace`, `/trace on` or `/trace off`"),
        }
    }

    fn attach(&mut self, file: &str) {
        if file.is_empty() {
            self.talk.screen.aside("write `/attach FILE`");
            return;
        }
        match super::attachment(Path::new(file)) {
            Ok(attachment) => {
                self.talk.screen.aside(&format!(
                    "[{} ({}, {} bytes) goes with the next message]",
                    attachment.name, attachment.media_type, attachment.size
                ));
                self.attachments.push(attachment);
            }
            Err(why) => self.talk.screen.aside(&why),
        }
    }

    fn save(&mut self, file: &str) {
        if file.is_empty() {
            self.talk.screen.aside("write `/save FILE`");
            return;
        }
        let path = Path::new(file);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let said = if path.exists() {
            format!("{file} exists already: name another file")
        } else if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            format!("{file} cannot be written: there is no folder {}", folder.display())
        } else {
            let text = if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) {
                crate::session::exported("", &self.talk.session)
            } else {
                crate::session::transcript(&self.talk.session)
            };
            let text = self.talk.screen.shown(&text);
            match replace_private(path, &text) {
                Ok(()) => format!("[written to {file}]"),
                Err(error) => error,
            }
        };
        self.talk.screen.aside(&said);
    }
}

/// What helps with typing: commands are completed, and the prompt has a colour.
struct Typing {
    style: Style,
}

impl Helper for Typing {}
impl Validator for Typing {}

impl Hinter for Typing {
    type Hint = String;
}

impl Highlighter for Typing {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(self.style.prompt(prompt))
    }
}

impl Completer for Typing {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..at).unwrap_or_default();
        let names = COMMANDS.iter().map(|(name, ..)| *name);
        let found = names.filter(|name| !typed.is_empty() && name.starts_with(typed));
        Ok((0, found.map(str::to_owned).collect()))
    }
}

fn editor(style: Style) -> rustyline::Result<Editor<Typing, MemHistory>> {
    let config = Config::builder().auto_add_history(false).build();
    let mut editor = Editor::with_history(config, MemHistory::new())?;
    editor.set_helper(Some(Typing { style }));
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
    Ok(editor)
}
