//! Where MCP servers are.

use crate::error::FileError;
use crate::template;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A file of MCP servers.
///
/// ```yaml
/// servers:
///   permit-register:
///     command: permit-server
///     args: [--read-only]
///     env: { TOKEN: "{{secrets.PERMIT_TOKEN}}" }
///   sky-atlas:
///     url: https://sky.example/mcp
///     headers: { Authorization: "Bearer {{secrets.SKY_TOKEN}}" }
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpFile {
    /// The servers, by the names that tools know them by.
    pub servers: BTreeMap<String, Server>,
}

/// A server.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "ServerFields")]
#[schemars(with = "ServerFields")]
pub enum Server {
    /// A process that is started, and spoken to through its input and output.
    Process {
        /// The program. No shell reads it.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment.
        env: BTreeMap<String, String>,
        /// The folder it runs in.
        folder: Option<String>,
    },
    /// A server elsewhere, by streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers of each request.
        headers: BTreeMap<String, String>,
    },
}

/// A server: `command` starts one, `url` is where one is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Server")]
struct ServerFields {
    /// The program to start. No shell reads it.
    command: Option<String>,
    /// Arguments of the program.
    #[serde(default)]
    args: Vec<String>,
    /// Variables of its environment, beside `PATH` and the like; may insert `{{secrets.X}}`.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The folder it runs in.
    folder: Option<String>,
    /// The address of a server that runs already.
    url: Option<String>,
    /// Headers of each request to the address; may insert `{{secrets.X}}`.
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl TryFrom<ServerFields> for Server {
    type Error = &'static str;

    fn try_from(written: ServerFields) -> Result<Self, Self::Error> {
        let ServerFields { command, args, env, folder, url, headers } = written;
        match (command, url) {
            (Some(command), None) if headers.is_empty() => {
                Ok(Self::Process { command, args, env, folder })
            }
            (None, Some(url)) if args.is_empty() && env.is_empty() && folder.is_none() => {
                Ok(Self::Http { url, headers })
            }
            (Some(_), Some(_)) => Err("a server has a `command` or a `url`, not both"),
            (None, None) => {
                Err("a server needs a `command` that starts it or the `url` where it is")
            }
            (Some(_), None) => {
                Err("`headers` are for a server with a `url`; a `command` takes `env`")
            }
            (None, Some(_)) => Err("`args`, `env` and `folder` are for a server with a `command`"),
        }
    }
}

impl McpFile {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(text: &str) -> Result<Self, FileError> {
        serde_saphyr::from_str(text).map_err(|e| FileError::yaml(&e))
    }

    /// The variables of the environment that it inserts. Naming a file allows its servers to get them.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<String> {
        let written = self.servers.values().flat_map(|server| match server {
            Server::Process { env, .. } => env.values(),
            Server::Http { headers, .. } => headers.values(),
        });
        written.flat_map(|text| template::variables(text)).map(str::to_owned).collect()
    }
}
