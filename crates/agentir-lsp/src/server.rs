//! The main loop: one thread that owns the workspace. Requests are answered from snapshots by others.

use crate::answers::{self, Failure, Lane, Question, Route, Stop};
use crate::capabilities;
use crate::checker::{Checker, Found, Job, Jobs, Running, Work};
use crate::client::Client;
use crate::documents::{Document, Documents, edited};
use crate::findings::KnownFindings;
use crate::settings::Settings;
use crate::transport::log;
use crate::uri;
use crate::view::{Sent, View};
use crate::watch::Watch;
use agentir::vfs::{Disk, Remembered};
use agentir::{Snapshot, Workspace};
use crossbeam_channel::{Receiver, Sender, bounded, select};
use gen_lsp_types::{
    ConfigurationItem, ConfigurationParams, Diagnostic, DidChangeConfigurationParams,
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, MessageType, PublishDiagnosticsParams,
    Uri, WorkspaceDiagnosticParams, WorkspaceDiagnosticReport, WorkspaceFolder,
};
use lsp_server::{
    Connection, ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError,
};
use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::{fs, thread};

/// The stack of the threads that read and check programs, in bytes.
const STACK: usize = 16 << 20;

/// How much other threads may tell the main loop before it listens.
const WAITING: usize = 64;

/// How many requests are answered at a time; a client that asks for more has an error.
const MAX_PENDING: usize = 4096;

/// What a client is told that asks for more.
const TOO_MANY: &str = "too many requests are being answered already";

/// What other threads tell the main loop.
enum Event {
    /// A request was answered.
    Answered { id: RequestId, result: Result<Value, ResponseError> },
    /// Files were changed on disk.
    Changed(Vec<PathBuf>),
}

/// A request that is being answered.
struct Pending {
    method: &'static str,
    /// The document that it is about.
    uri: Option<Uri>,
    is_volatile: bool,
    stop: Stop,
    /// The parameters of a request that is answered when there are news.
    waits_with: Option<Value>,
    /// How many changes there were when it was asked.
    generation: u64,
}

/// How far the client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    Running,
    ShutDown,
}

/// The server.
pub(crate) struct Server<'c> {
    connection: &'c Connection,
    phase: Phase,
    client: Client,
    settings: Arc<Settings>,
    baseline: Option<KnownFindings>,
    documents: Documents,
    /// How many documents without a file there were.
    numbered: usize,
    folders: Vec<PathBuf>,
    disk: Arc<Remembered>,
    workspace: Workspace,
    /// The latest view, until something changes.
    view: Option<View>,
    /// The commands that the client has.
    commands: Arc<[String]>,
    /// The tokens that the client has.
    sent: Arc<Sent>,
    /// Counts changes.
    generation: u64,
    /// Whether something has changed that was not checked.
    is_dirty: bool,
    /// The documents that changed, the latest first.
    recent: Vec<Uri>,
    pending: FxHashMap<RequestId, Pending>,
    /// The requests for news of the workspace that wait.
    waiting: Vec<(RequestId, Value)>,
    /// The requests of the server that the client has not answered, by their ids.
    asked: FxHashMap<RequestId, &'static str>,
    next_id: i32,
    /// What the client was told of each file, and of which version.
    published: FxHashMap<Uri, (Option<i32>, Vec<Diagnostic>)>,
    running: Running,
    quick: Sender<Question>,
    checks: Sender<Work>,
    jobs: Jobs,
    events: Receiver<Event>,
    to_self: Sender<Event>,
    found: Receiver<Found>,
    watch: Option<Watch>,
}

/// Serves a client until it is done. Returns whether it said so before, as it should.
pub(crate) fn serve(connection: &Connection) -> bool {
    thread::scope(|scope| {
        // The main loop takes from these and never waits to fill one, so that those who do go on.
        let (to_self, events) = bounded(WAITING);
        let (to_found, found) = bounded(WAITING);
        let (quick, questions) = bounded::<Question>(MAX_PENDING);
        let (checks, work) = bounded(MAX_PENDING);
        let running = Running::default();
        let answered = to_self.clone();
        let answer = move |mut question: Question| {
            let result = question.answer();
            let _ = answered.send(Event::Answered { id: question.id, result });
        };
        let jobs = Jobs::default();
        let checker =
            Checker::new(work, jobs.clone(), running.clone(), to_found, Box::new(answer.clone()));
        let builder = |name: &str| thread::Builder::new().name(name.to_owned()).stack_size(STACK);
        let started = builder("answers")
            .spawn_scoped(scope, move || questions.into_iter().for_each(answer))
            .and_then(|_| builder("checker").spawn_scoped(scope, move || checker.run()));
        if started.is_err() {
            return false;
        }
        let disk = Arc::new(Remembered::new(Arc::new(Disk::default())));
        let files: Arc<Remembered> = Arc::clone(&disk);
        let server = Server {
            connection,
            phase: Phase::Start,
            client: Client::default(),
            settings: Arc::default(),
            baseline: None,
            documents: Documents::default(),
            numbered: 0,
            folders: Vec::new(),
            disk,
            workspace: Workspace::new(files, Vec::new()),
            view: None,
            commands: Arc::default(),
            sent: Arc::default(),
            generation: 0,
            is_dirty: false,
            recent: Vec::new(),
            pending: FxHashMap::default(),
            waiting: Vec::new(),
            asked: FxHashMap::default(),
            next_id: 0,
            published: FxHashMap::default(),
            running,
            quick,
            checks,
            jobs,
            events,
            to_self,
            found,
            watch: None,
        };
        let builder = builder("main");
        let served = builder.spawn_scoped(scope, move || server.run());
        served.is_ok_and(|served| served.join().unwrap_or(false))
    })
}

impl Server<'_> {
    fn run(mut self) -> bool {
        loop {
            select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(message) => if self.take(message) {
                        self.running.stop();
                        return self.phase == Phase::ShutDown;
                    },
                    // The client is gone.
                    Err(_) => {
                        self.running.stop();
                        return self.phase == Phase::ShutDown;
                    }
                },
                recv(self.events) -> event => if let Ok(event) = event {
                    self.happened(event);
                },
                recv(self.found) -> found => if let Ok(found) = found {
                    self.publish(found);
                },
            }
            // Keystrokes that have come together are checked together.
            if self.is_dirty && self.connection.receiver.is_empty() {
                self.check();
            }
        }
    }

    // ---- messages ------------------------------------------------------------------------------

    /// Takes a message. Returns whether it was the last one.
    fn take(&mut self, message: Message) -> bool {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) if notification.method == "exit" => return true,
            Message::Notification(notification) => {
                // Others come before the client knows what it may say, or after it is done.
                if self.phase == Phase::Running {
                    self.notification(notification);
                }
            }
            Message::Response(response) => self.response(response),
        }
        false
    }

    fn send(&self, message: impl Into<Message>) {
        // A client that is gone is noticed by the main loop.
        let _ = self.connection.sender.send(message.into());
    }

    fn log(&self, kind: MessageType, message: &str) {
        self.send(log(kind, message));
    }

    fn refuse(&self, id: RequestId, code: ErrorCode, message: String) {
        self.send(Response::new_err(id, code as i32, message));
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        match (self.phase, method.as_str()) {
            (Phase::Start, "initialize") => self.initialize(id, &params),
            (Phase::Start, _) => {
                let message = "the first request is `initialize`".to_owned();
                self.refuse(id, ErrorCode::ServerNotInitialized, message);
            }
            (_, "initialize") => {
                let message = "this was done before".to_owned();
                self.refuse(id, ErrorCode::InvalidRequest, message);
            }
            (Phase::ShutDown, _) => {
                let message = "after `shutdown` nothing is answered".to_owned();
                self.refuse(id, ErrorCode::InvalidRequest, message);
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.running.stop();
                self.send(Response::new_ok(id, Value::Null));
            }
            (Phase::Running, _) => match answers::route(&method) {
                Some(route) => self.ask(id, route, params),
                None => {
                    let message = format!("there is no request `{method}`");
                    self.refuse(id, ErrorCode::MethodNotFound, message);
                }
            },
        }
    }

    /// Has a request answered.
    fn ask(&mut self, id: RequestId, route: Route, params: Value) {
        if self.pending.contains_key(&id) {
            let message = "a request with this id is being answered".to_owned();
            return self.refuse(id, ErrorCode::InvalidRequest, message);
        }
        if self.pending.len() + self.waiting.len() >= MAX_PENDING {
            return self.refuse(id, ErrorCode::RequestFailed, TOO_MANY.to_owned());
        }
        let Some(view) = self.view() else {
            let message = "the workspace cannot be read".to_owned();
            return self.refuse(id, ErrorCode::RequestFailed, message);
        };
        let stop = Stop::default();
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
        let waits = route.method == WORKSPACE_DIAGNOSTIC;
        let pending = Pending {
            method: route.method,
            uri: uri.map(Uri::from),
            is_volatile: route.is_volatile,
            stop: stop.clone(),
            waits_with: waits.then(|| params.clone()),
            generation: self.generation,
        };
        self.pending.insert(id.clone(), pending);
        let baseline = self.baseline.clone();
        let question = Question { id, route, params, view, baseline, stop };
        let id = question.id.clone();
        let is_sent = match route.lane {
            Lane::Quick => self.quick.try_send(question).is_ok(),
            Lane::Findings => self.checks.try_send(Work::Answer(Box::new(question))).is_ok(),
        };
        if !is_sent {
            self.pending.remove(&id);
            return self.refuse(id, ErrorCode::RequestFailed, TOO_MANY.to_owned());
        }
        if route.lane == Lane::Findings {
            // It comes first; what was found until now is kept.
            self.running.stop();
        }
    }

    fn happened(&mut self, event: Event) {
        match event {
            Event::Answered { id, result } => {
                let Some(pending) = self.pending.remove(&id) else { return };
                let is_cancelled = pending.stop.cancelled.is_cancelled();
                if let (Some(params), Ok(value)) = (pending.waits_with, &result)
                    && !is_cancelled
                    && !self.has_news(&params, value)
                {
                    match answers::route(WORKSPACE_DIAGNOSTIC) {
                        // Something has changed meanwhile.
                        Some(route) if pending.generation != self.generation => {
                            self.ask(id, route, params);
                        }
                        _ => self.waiting.push((id, params)),
                    }
                    return;
                }
                let result = match result {
                    Ok(_) if is_cancelled => Err(Failure::Cancelled.error(pending.method)),
                    result => result,
                };
                self.send(Response { id, response_result: result });
            }
            Event::Changed(paths) => self.changed_on_disk(&paths),
        }
    }

    /// Whether a report says something that the client does not know, or the client knows nothing yet.
    fn has_news(&self, params: &Value, report: &Value) -> bool {
        let Ok(params) = serde_json::from_value::<WorkspaceDiagnosticParams>(params.clone()) else {
            return true;
        };
        let report = serde_json::from_value::<WorkspaceDiagnosticReport>(report.clone());
        params.previous_result_ids.is_empty()
            || report.is_ok_and(|report| answers::diagnostics::has_news(&report))
    }

    fn response(&mut self, response: Response) {
        match (self.asked.remove(&response.id), response.response_result) {
            (Some("workspace/configuration"), Ok(Value::Array(values))) => {
                self.configure(values.first().unwrap_or(&Value::Null));
            }
            (Some(method), Err(error)) => {
                self.log(MessageType::Warning, &format!("`{method}`: {}", error.message));
            }
            _ => {}
        }
    }

    /// Sends a request to the client.
    fn request_client(&mut self, method: &'static str, params: Value) {
        self.next_id += 1;
        let id = RequestId::from(format!("agentir-{}", self.next_id));
        self.asked.insert(id.clone(), method);
        self.send(Request { id, method: method.to_owned(), params });
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        let method = method.as_str();
        match method {
            "initialized" => self.initialized(),
            "textDocument/didOpen" => self.read(method, params, Self::opened),
            "textDocument/didChange" => self.read(method, params, Self::changed),
            "textDocument/didClose" => self.read(method, params, Self::closed),
            "workspace/didChangeWatchedFiles" => {
                self.read(method, params, |server, params: DidChangeWatchedFilesParams| {
                    let paths =
                        params.changes.iter().filter_map(|change| uri::path_of(&change.uri));
                    server.changed_on_disk(&paths.collect::<Vec<_>>());
                });
            }
            "workspace/didChangeConfiguration" => {
                self.read(method, params, |server, params: DidChangeConfigurationParams| {
                    match server.client.has_configuration {
                        true => server.ask_configuration(),
                        false => server.configure(&params.settings),
                    }
                });
            }
            "workspace/didChangeWorkspaceFolders" => {
                self.read(method, params, |server, params: DidChangeWorkspaceFoldersParams| {
                    let paths = |folders: &[WorkspaceFolder]| {
                        let paths = folders.iter().filter_map(|folder| uri::path_of(&folder.uri));
                        paths.collect::<Vec<_>>()
                    };
                    let removed = paths(&params.event.removed);
                    server.folders.retain(|folder| !removed.contains(folder));
                    server.add_folders(paths(&params.event.added));
                    server.disk.forget();
                    server.workspace.refresh();
                    server.changed_elsewhere();
                });
            }
            "$/cancelRequest" => {
                if let Some(id) = params.get("id").cloned()
                    && let Ok(id) = serde_json::from_value::<RequestId>(id)
                {
                    self.cancel(&id);
                }
            }
            // Everything else may be ignored.
            _ => {}
        }
    }

    /// Reads the parameters of a notification.
    fn read<P: DeserializeOwned>(
        &mut self,
        method: &str,
        params: Value,
        then: impl FnOnce(&mut Self, P),
    ) {
        match serde_json::from_value(params) {
            Ok(params) => then(self, params),
            Err(error) => {
                let message = format!("these are no parameters of `{method}`: {error}");
                self.log(MessageType::Error, &message);
            }
        }
    }

    fn cancel(&mut self, id: &RequestId) {
        if let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == id) {
            self.waiting.swap_remove(at);
            let message = "cancelled".to_owned();
            self.refuse(id.clone(), ErrorCode::RequestCanceled, message);
        } else if let Some(pending) = self.pending.get(id) {
            pending.stop.cancelled.cancel();
        }
    }

    // ---- the start -----------------------------------------------------------------------------

    fn initialize(&mut self, id: RequestId, params: &Value) {
        self.client = Client::new(params.get("capabilities").unwrap_or(&Value::Null));
        let folders = params.get("workspaceFolders").and_then(Value::as_array);
        let uris = folders.into_iter().flatten().filter_map(|folder| folder.get("uri"));
        let mut roots: Vec<PathBuf> =
            uris.filter_map(|uri| uri::path_of(&Uri::from(uri.as_str()?))).collect();
        if roots.is_empty() {
            let uri = params.get("rootUri").and_then(Value::as_str).map(Uri::from);
            let path = params.get("rootPath").and_then(Value::as_str).map(PathBuf::from);
            roots.extend(uri.as_ref().and_then(uri::path_of).or(path));
        }
        self.add_folders(roots);
        if let Some(options) = params.get("initializationOptions") {
            let commands = options.get("commands").and_then(Value::as_array);
            let commands = commands.into_iter().flatten().filter_map(Value::as_str);
            self.commands = commands.map(str::to_owned).collect();
            self.configure(options);
        }
        self.phase = Phase::Running;
        let result = capabilities::initialize_result(&self.client);
        self.send(Response::new_ok(id, result));
        self.changed_something();
    }

    /// Adds folders of the workspace. Editors start servers in any folder when they know of no project; nobody means all
    /// that is in their home.
    fn add_folders(&mut self, folders: Vec<PathBuf>) {
        let home = std::env::home_dir();
        let home = home.as_deref().and_then(|home| fs::canonicalize(home).ok());
        for folder in folders {
            let is_all = folder.parent().is_none()
                || home.is_some() && fs::canonicalize(&folder).ok() == home;
            if is_all {
                let message = format!(
                    "{} is not searched for agents: open the folder of a project",
                    folder.display()
                );
                self.log(MessageType::Info, &message);
            } else if folder.is_absolute() && !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }

    fn initialized(&mut self) {
        if self.client.has_configuration {
            self.ask_configuration();
        }
        if self.client.watches_files {
            self.request_client("client/registerCapability", capabilities::registrations());
        } else {
            let events = self.to_self.clone();
            let told = move |paths| drop(events.send(Event::Changed(paths)));
            match Watch::new(&self.folders, told) {
                Ok(watch) => {
                    self.watch = Some(watch);
                    // What was changed before it was watched.
                    self.disk.forget();
                    self.workspace.refresh();
                    self.changed_something();
                }
                Err(error) => {
                    let message = format!("changes of files on disk are not noticed: {error}");
                    self.log(MessageType::Warning, &message);
                }
            }
        }
    }

    fn ask_configuration(&mut self) {
        let section = Some("agentir".to_owned());
        let items = vec![ConfigurationItem { scope_uri: None, section }];
        self.request_client("workspace/configuration", json!(ConfigurationParams { items }));
    }

    fn configure(&mut self, value: &Value) {
        let settings = match Settings::read(value) {
            Ok(settings) => settings,
            Err(error) => {
                let message = format!("the settings of agentir have no effect: {error}");
                return self.log(MessageType::Error, &message);
            }
        };
        if settings == *self.settings {
            return;
        }
        if let Ok(selection) = settings.selection() {
            self.workspace.set_selection(selection);
        }
        self.settings = Arc::new(settings);
        self.read_baseline();
        self.changed_elsewhere();
    }

    fn baseline_path(&self) -> Option<PathBuf> {
        Some(self.folders.first()?.join(self.settings.baseline.as_ref()?))
    }

    fn read_baseline(&mut self) {
        self.baseline = None;
        let Some(path) = self.baseline_path() else { return };
        let Some(folder) = self.folders.first() else { return };
        let text = match self.documents.at(&path) {
            Some(document) => Ok(document.text.to_string()),
            None => fs::read_to_string(&path),
        };
        match text.map(|text| KnownFindings::read(&text, &path, folder)) {
            Ok(Ok(known)) => self.baseline = Some(known),
            Ok(Err(error)) => self.log(MessageType::Error, &error),
            // There need not be one yet.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                let message = format!("{} cannot be read: {error}", path.display());
                self.log(MessageType::Error, &message);
            }
        }
    }

    // ---- documents -----------------------------------------------------------------------------

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let path = uri::path_of(&document.uri).unwrap_or_else(|| {
            self.numbered += 1;
            let language = String::from(document.language_id);
            uri::virtual_path(self.numbered, &document.uri, &language)
        });
        let text: Arc<str> = document.text.into();
        self.workspace.set_text(&path, Arc::clone(&text));
        let (uri, version) = (document.uri, document.version);
        self.touched(&uri);
        self.documents.open(Document { uri, path, version, text });
        self.changed_something();
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let id = params.text_document;
        let uri = id.text_document_identifier.uri;
        let encoding = self.client.encoding;
        let Some(document) = self.documents.get_mut(&uri) else {
            let message = format!("`{}` was changed and is not open", uri.0);
            return self.log(MessageType::Error, &message);
        };
        document.version = id.version;
        document.text = edited(&document.text, params.content_changes, encoding).into();
        let document = document.clone();
        self.workspace.set_text(&document.path, Arc::clone(&document.text));
        for pending in self.pending.values() {
            if pending.is_volatile && pending.uri.as_ref() == Some(&uri) {
                pending.stop.stale.store(true, Ordering::Relaxed);
                pending.stop.cancelled.cancel();
            }
        }
        if self.baseline_path().is_some_and(|path| path == document.path) {
            self.read_baseline();
        }
        self.touched(&uri);
        self.changed_something();
    }

    fn closed(&mut self, params: DidCloseTextDocumentParams) {
        let Some(document) = self.documents.close(&params.text_document.uri) else { return };
        self.recent.retain(|uri| *uri != document.uri);
        self.sent.forget(&document.uri);
        // Nobody told of changes of a file that the client had open.
        self.disk.forget();
        self.workspace.remove_text(&document.path);
        self.changed_something();
    }

    fn touched(&mut self, uri: &Uri) {
        self.recent.retain(|known| known != uri);
        self.recent.insert(0, uri.clone());
    }

    fn changed_on_disk(&mut self, paths: &[PathBuf]) {
        // What is open is what the client says it is.
        let mut paths = paths.iter().filter(|path| self.documents.at(path).is_none()).peekable();
        if paths.peek().is_none() {
            return;
        }
        let decides = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            ["agentir.toml", ".gitignore", ".ignore"].contains(&name)
        };
        let is_config = paths.any(decides);
        self.disk.forget();
        match is_config {
            true => self.workspace.refresh(),
            false => self.workspace.refresh_documents(),
        }
        self.read_baseline();
        self.changed_elsewhere();
    }

    /// Something changed that the client did not do: what it shows of open documents may be stale.
    fn changed_elsewhere(&mut self) {
        self.changed_something();
        let client = self.client;
        for (asks_again, method) in [
            (client.refreshes_tokens, "workspace/semanticTokens/refresh"),
            (client.refreshes_hints, "workspace/inlayHint/refresh"),
            (client.refreshes_lenses, "workspace/codeLens/refresh"),
        ] {
            if asks_again && self.phase == Phase::Running {
                self.request_client(method, Value::Null);
            }
        }
    }

    fn changed_something(&mut self) {
        self.view = None;
        self.is_dirty = true;
        self.generation += 1;
    }

    // ---- snapshots and findings ----------------------------------------------------------------

    /// The folders, and the open documents outside of them.
    fn roots(&self) -> Vec<PathBuf> {
        let folders: Vec<PathBuf> =
            self.folders.iter().filter(|folder| folder.is_dir()).cloned().collect();
        let is_outside = |document: &&Document| {
            !folders.iter().any(|folder| document.path.starts_with(folder)) && is_agent(document)
        };
        let mut others: Vec<PathBuf> = self
            .documents
            .iter()
            .filter(is_outside)
            .map(|document| document.path.clone())
            .collect();
        others.sort();
        folders.iter().cloned().chain(others).collect()
    }

    /// The workspace as it is now.
    fn view(&mut self) -> Option<View> {
        if let Some(view) = &self.view {
            return Some(view.clone());
        }
        let roots = self.roots();
        self.workspace.set_roots(roots);
        let snapshot: Snapshot = match self.workspace.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.log(MessageType::Error, &error.to_string());
                return None;
            }
        };
        let named = snapshot.sources().iter().filter(|(_, file)| !file.name.is_empty());
        let files = named.map(|(id, file)| (PathBuf::from(&*file.name), id)).collect();
        let view = View {
            snapshot,
            documents: Arc::new(self.documents.clone()),
            files: Arc::new(files),
            client: self.client,
            settings: Arc::clone(&self.settings),
            folders: self.folders.as_slice().into(),
            commands: Arc::clone(&self.commands),
            sent: Arc::clone(&self.sent),
            maskers: Arc::default(),
        };
        self.view = Some(view.clone());
        Some(view)
    }

    /// Has everything checked, or tells the client to ask.
    fn check(&mut self) {
        self.is_dirty = false;
        let Some(view) = self.view() else { return };
        self.running.stop();
        for (id, params) in std::mem::take(&mut self.waiting) {
            if let Some(route) = answers::route(WORKSPACE_DIAGNOSTIC) {
                self.ask(id, route, params);
            }
        }
        let documents = self.recent.iter().filter_map(|uri| self.documents.get(uri));
        let open = documents.filter_map(|document| view.files.get(&document.path).copied());
        let open = open.collect();
        let baseline = self.baseline.clone();
        let job = Job { generation: self.generation, view, open, baseline };
        if self.jobs.put(job) {
            // Where there is no room, the thread looks for it after each of the requests that take it.
            let _ = self.checks.try_send(Work::Check);
        }
    }

    /// Tells the client what was found, as far as that is news.
    fn publish(&mut self, found: Found) {
        // What is stale is dropped: newer findings are on their way.
        if found.generation != self.generation {
            return;
        }
        if self.client.pulls {
            // It asks for the findings of what it shows when that changes, and is told when rules are done.
            let mut changed = false;
            for (uri, version, diagnostics) in found.files {
                let known = self.published.get(&uri).map(|(_, known)| known);
                changed |= known.map_or(!diagnostics.is_empty(), |known| *known != diagnostics);
                self.published.insert(uri, (version, diagnostics));
            }
            if changed && found.is_all && self.client.refreshes_diagnostics {
                self.request_client("workspace/diagnostic/refresh", Value::Null);
            }
            return;
        }
        if found.is_all {
            let is_gone = |uri: &Uri| !found.files.iter().any(|(known, ..)| known == uri);
            let mut gone: Vec<Uri> =
                self.published.keys().filter(|uri| is_gone(uri)).cloned().collect();
            gone.sort_by(|a, b| a.0.cmp(&b.0));
            for uri in gone {
                let version = self.documents.get(&uri).map(|document| document.version);
                self.publish_file(uri, version, Vec::new());
            }
        }
        for (uri, version, diagnostics) in found.files {
            self.publish_file(uri, version, diagnostics);
        }
    }

    fn publish_file(&mut self, uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic>) {
        // A version says which text the findings are about, also if they are the same.
        let version = version.filter(|_| self.client.versions_in_diagnostics);
        let is_open = self.documents.get(&uri).is_some();
        let is_known = match self.published.get(&uri) {
            Some((of, known)) => *of == version && *known == diagnostics,
            None => diagnostics.is_empty() && !is_open,
        };
        if is_known {
            return;
        }
        match diagnostics.is_empty() && !is_open {
            true => drop(self.published.remove(&uri)),
            false => drop(self.published.insert(uri.clone(), (version, diagnostics.clone()))),
        }
        let params = PublishDiagnosticsParams { uri, version, diagnostics };
        self.send(Notification::new("textDocument/publishDiagnostics".to_owned(), params));
    }
}

const WORKSPACE_DIAGNOSTIC: &str = "workspace/diagnostic";

/// Whether a document outside of all folders is one of a language: others are open, too.
fn is_agent(document: &Document) -> bool {
    let name = document.path.file_name().unwrap_or_default();
    agentir::is_agent_file(&name.to_string_lossy(), &document.text)
}
