//! A small MCP server, made with the official SDK: `clerk` speaks through its input and output,
//! `clerk http` at an address that it prints. The tests of this crate call it, and people may to try
//! out `mcp` tools.

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, Value as Json, json};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What it can do, with what that is.
const TOOLS: &[(&str, &str)] = &[
    ("echo", "Gives its arguments, as data"),
    ("text", "Gives a text"),
    ("json", "Gives data as text"),
    ("list", "Gives two texts"),
    ("nothing", "Gives nothing"),
    ("count", "Says how often it was called"),
    ("environment", "Gives a variable of its environment"),
    ("fail", "Fails"),
    ("sleep", "Answers after ten seconds"),
    ("key", "Gives the key of the call"),
    ("quit", "Ends the server"),
    ("complain", "Ends the server, and says why on its error output"),
];

#[derive(Clone, Debug, Default)]
struct Clerk {
    counted: Arc<AtomicU32>,
}

impl ServerHandler for Clerk {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::default();
        config.capabilities = ServerCapabilities::builder().enable_tools().build();
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema: Map<String, Json> =
            [("type".to_owned(), json!("object"))].into_iter().collect();
        let tool =
            |(name, says): &(&'static str, &'static str)| Tool::new(*name, *says, schema.clone());
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let texts = |texts: &[&str]| texts.iter().map(|text| ContentBlock::text(*text)).collect();
        let name = arguments.get("name").and_then(Json::as_str).unwrap_or_default();
        let result = match request.name.as_ref() {
            "echo" => {
                let mut result = CallToolResult::success(texts(&["see the data"]));
                result.structured_content = Some(Json::Object(arguments));
                result
            }
            "text" => CallToolResult::success(texts(&["7 days"])),
            "json" => CallToolResult::success(texts(&["{\"days\": 7}"])),
            "list" => CallToolResult::success(texts(&["1", "two"])),
            "nothing" => CallToolResult::success(Vec::new()),
            "count" => {
                let counted = self.counted.fetch_add(1, Ordering::Relaxed) + 1;
                CallToolResult::success(texts(&[&counted.to_string()]))
            }
            "environment" => {
                CallToolResult::success(texts(&[&std::env::var(name).unwrap_or_default()]))
            }
            "fail" => CallToolResult::error(texts(&["out of stamps"])),
            "sleep" => {
                tokio::time::sleep(Duration::from_secs(10)).await;
                CallToolResult::success(Vec::new())
            }
            "key" => {
                let meta = serde_json::to_value(&context.meta).unwrap_or_default();
                let key = meta.get("idempotencyKey").and_then(Json::as_str).unwrap_or("none");
                CallToolResult::success(texts(&[key]))
            }
            "quit" => std::process::exit(0),
            "complain" => {
                eprintln!("the counter of {name} is on fire");
                std::process::exit(3)
            }
            other => return Err(ErrorData::invalid_params(format!("no tool `{other}`"), None)),
        };
        Ok(result.into())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        if std::env::args().nth(1).as_deref() == Some("http") {
            return served().await;
        }
        Clerk::default().serve(stdio()).await?.waiting().await?;
        Ok(())
    })
}

/// Answers at an address until its input ends, so that it does not outlive who started it. All who
/// call share one clerk; who has no key is sent away.
async fn served() -> Result<(), Box<dyn Error>> {
    let clerk = Clerk::default();
    let service = StreamableHttpService::new(
        move || Ok(clerk.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let key = |headers: &axum::http::HeaderMap| {
        headers.get("x-key").is_some_and(|key| key.as_bytes() == b"open-sesame")
    };
    let checked = axum::middleware::from_fn(
        move |request: axum::extract::Request, next: axum::middleware::Next| async move {
            if key(request.headers()) {
                next.run(request).await
            } else {
                axum::http::StatusCode::FORBIDDEN.into_response()
            }
        },
    );
    use axum::response::IntoResponse as _;
    let router = axum::Router::new().nest_service("/mcp", service).layer(checked);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    axum::serve(listener, router).await?;
    Ok(())
}
