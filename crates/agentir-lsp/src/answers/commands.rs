//! Commands, and texts that the server has.

use super::navigate::file_of;
use super::{Answer, Failure, Question};
use crate::findings::SCHEME;
use agentir::ir_json::{Mode, Written};
use agentir::{Detail, ProgramId};
use gen_lsp_types::{
    ExecuteCommandParams, ExecuteCommandRequest, TextDocumentContentParams,
    TextDocumentContentRequest, TextDocumentContentResult, Uri,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The commands. None of them writes anything: what comes out is for the client.
pub(crate) const COMMANDS: [&str; 4] =
    ["agentir.convert", "agentir.explain", "agentir.graph", "agentir.ir"];

/// Runs a command.
pub(crate) fn execute(
    question: &Question,
    params: ExecuteCommandParams,
) -> Answer<ExecuteCommandRequest> {
    let argument = params.arguments.unwrap_or_default().into_iter().next().unwrap_or_default();
    let result = match params.command.as_str() {
        "agentir.convert" => convert(question, read(argument)?)?,
        "agentir.explain" => explain(&read::<Explain>(argument)?.rule)?,
        "agentir.graph" => graph(question, &read(argument)?)?,
        "agentir.ir" => ir(question)?,
        other => return Err(Failure::Refused(format!("there is no command `{other}`"))),
    };
    Ok(Some(result))
}

fn read<T: DeserializeOwned>(argument: Value) -> Result<T, Failure> {
    serde_json::from_value(argument).map_err(|error| Failure::Params(error.to_string()))
}

#[derive(Deserialize)]
struct Explain {
    rule: String,
}

#[derive(Deserialize)]
struct Convert {
    uri: Uri,
    target: String,
}

#[derive(Deserialize)]
struct Graph {
    uri: Uri,
    /// `mermaid`, `dot` or `json`.
    #[serde(default)]
    format: Option<String>,
    /// `agents`, `steps` or `statements`.
    #[serde(default)]
    detail: Option<String>,
}

fn program_of(question: &Question, uri: &Uri) -> Result<ProgramId, Failure> {
    let file = file_of(question, uri)?;
    let found = question.view.snapshot.program_of(file);
    found.ok_or_else(|| Failure::Refused(format!("`{}` belongs to no program", uri.0)))
}

/// A program in another language: the files, and what was lost.
fn convert(question: &Question, of: Convert) -> Result<Value, Failure> {
    let id = program_of(question, &of.uri)?;
    let target = agentir::languages()
        .targets()
        .find(|target| target.name() == of.target)
        .ok_or_else(|| {
            let names: Vec<&str> =
                agentir::languages().targets().map(|target| target.name()).collect();
            Failure::Refused(format!(
                "there is no target `{}`; there are {}",
                of.target,
                names.join(", ")
            ))
        })?;
    let snapshot = &question.view.snapshot;
    let done = snapshot.convert(id, target);
    let done = done.ok_or_else(|| Failure::Refused("there is no such program".to_owned()))?;
    let files: Vec<Value> =
        done.files.iter().map(|file| json!({ "path": file.path, "text": file.text })).collect();
    // The files are made to be used, and the report to be read.
    let report = done.report.shown(&snapshot.sources().masker());
    Ok(json!({ "files": files, "report": report }))
}

fn explain(rule: &str) -> Result<Value, Failure> {
    let page = agentir::explain(rule);
    page.map(Value::from).ok_or_else(|| Failure::Refused(format!("there is no rule `{rule}`")))
}

/// The graph of a program as a text.
fn graph(question: &Question, of: &Graph) -> Result<Value, Failure> {
    let id = program_of(question, &of.uri)?;
    let detail = match of.detail.as_deref() {
        None | Some("steps") => Detail::Steps,
        Some("agents") => Detail::Agents,
        Some("statements") => Detail::Statements,
        Some(other) => return Err(Failure::Refused(format!("there is no detail `{other}`"))),
    };
    let graph = question.view.snapshot.graph(id, detail);
    let graph = graph.ok_or_else(|| Failure::Refused("there is nothing to draw".to_owned()))?;
    match of.format.as_deref() {
        None | Some("mermaid") => Ok(agentir::draw::mermaid(&graph).into()),
        Some("dot") => Ok(agentir::draw::dot(&graph).into()),
        Some("json") => {
            serde_json::to_value(&graph).map_err(|error| Failure::Internal(error.to_string()))
        }
        Some(other) => Err(Failure::Refused(format!("there is no format `{other}`"))),
    }
}

/// The AgentIR of the workspace, as `agentir compile` prints it.
fn ir(question: &Question) -> Result<Value, Failure> {
    let snapshot = question.view.snapshot.clone().cancelled_by(question.stop.cancelled.clone());
    let output = snapshot.compile()?;
    serde_json::to_value(Written(&output, Mode::Published))
        .map_err(|error| Failure::Internal(error.to_string()))
}

/// The page of a rule, as a document.
pub(crate) fn content(
    _: &Question,
    params: TextDocumentContentParams,
) -> Answer<TextDocumentContentRequest> {
    let path = params.uri.0.strip_prefix(SCHEME).and_then(|rest| rest.strip_prefix(":/rules/"));
    let page = path.and_then(|path| path.strip_suffix(".md")).and_then(agentir::explain);
    let page = page.ok_or_else(|| Failure::Refused(format!("there is no `{}`", params.uri.0)))?;
    Ok(TextDocumentContentResult { text: page.to_owned() })
}
