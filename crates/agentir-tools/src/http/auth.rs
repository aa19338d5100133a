//! Who calls: keys and tokens from the environment.

use crate::environment::Secrets;
use crate::template::{Encoding, Values, value_text};
use agentir_ir::Data;
use serde_json::{Map, Value as Json};

/// How a tool logs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Auth {
    kind: AuthKind,
    config: Map<String, Data>,
    /// The credentials by name, where the tool says one.
    profile: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AuthKind {
    #[default]
    None,
    ApiKey,
    Bearer,
    Basic,
    OAuth2,
}

/// The names of ways to log in.
const KINDS: &[(&str, AuthKind)] = &[
    ("none", AuthKind::None),
    ("api_key", AuthKind::ApiKey),
    ("apikey", AuthKind::ApiKey),
    ("bearer", AuthKind::Bearer),
    ("basic", AuthKind::Basic),
    ("oauth2_client", AuthKind::OAuth2),
    ("oauth2_client_credentials", AuthKind::OAuth2),
    ("client_credentials", AuthKind::OAuth2),
];

/// What is added to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) header: Option<(String, String)>,
    pub(super) query: Option<(String, String)>,
}

/// A token that is to be fetched first (RFC 6749, 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Grant {
    pub(super) url: String,
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) scope: Option<String>,
}

/// What is needed to log in.
#[derive(Debug)]
pub(super) enum AuthRequirement {
    /// Nothing more.
    Ready(Credentials),
    /// A token for this.
    Token(Grant),
}

impl Auth {
    /// `auth: bearer`, `auth: {type, config}`, with `auth_config` beside it, or a profile alone.
    pub(super) fn new(
        auth: Option<&Data>,
        config: Option<&Data>,
        profile: Option<&str>,
    ) -> Result<Self, String> {
        let (name, inner) = match auth {
            Some(Json::String(name)) => (Some(name.as_str()), None),
            Some(Json::Object(fields)) => {
                let inner = fields.get("config").or(auth);
                (fields.get("type").and_then(Json::as_str), inner)
            }
            _ => (None, None),
        };
        // A profile stands for credentials that are kept elsewhere; the usual ones are tokens.
        let name = name.unwrap_or(if profile.is_some() { "bearer" } else { "none" });
        let kind = KINDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let Some((_, kind)) = kind else {
            return Err(format!(
                "it logs in by `{name}`, and only api_key, bearer, basic and oauth2_client can be done \
                 without a person"
            ));
        };
        let mut fields = Map::new();
        for part in [inner, config].into_iter().flatten().filter_map(Json::as_object) {
            fields.extend(part.clone());
        }
        Ok(Self { kind: *kind, config: fields, profile: profile.map(str::to_owned) })
    }

    /// What to add to a request to a host.
    pub(super) fn needs(
        &self,
        host: &str,
        values: Values<'_>,
        secrets: &mut Secrets,
    ) -> Result<AuthRequirement, String> {
        let from = Source { auth: self, host, values };
        Ok(AuthRequirement::Ready(match self.kind {
            AuthKind::None => Credentials::default(),
            AuthKind::Bearer => {
                bearer(&from.secret(&["token", "access_token"], "TOKEN", secrets)?)
            }
            AuthKind::Basic => {
                let user = from.secret(&["username", "user"], "USERNAME", secrets)?;
                let password = from.secret(&["password"], "PASSWORD", secrets)?;
                let pair = BASE64.encode(format!("{user}:{password}"));
                secrets.add(&pair);
                Credentials {
                    header: Some(("Authorization".into(), format!("Basic {pair}"))),
                    query: None,
                }
            }
            AuthKind::ApiKey => {
                let key =
                    from.secret(&["key", "api_key", "apiKey", "value"], "API_KEY", secrets)?;
                let name =
                    from.plain(&["header", "header_name", "headerName", "name", "param"], secrets)?;
                let location = from.plain(&["in", "location"], secrets)?;
                let prefix =
                    from.plain(&["prefix"], secrets)?.map_or(String::new(), |p| format!("{p} "));
                if location.is_some_and(|location| location == "query") {
                    let name = name.unwrap_or_else(|| "api_key".to_owned());
                    Credentials { header: None, query: Some((name, key)) }
                } else {
                    let name = name.unwrap_or_else(|| "X-API-Key".to_owned());
                    Credentials { header: Some((name, format!("{prefix}{key}"))), query: None }
                }
            }
            AuthKind::OAuth2 => {
                return Ok(AuthRequirement::Token(Grant {
                    url: from.needed(&["token_url", "tokenUrl"], "TOKEN_URL", secrets)?,
                    id: from.needed(&["client_id", "clientId"], "CLIENT_ID", secrets)?,
                    secret: from.secret(
                        &["client_secret", "clientSecret"],
                        "CLIENT_SECRET",
                        secrets,
                    )?,
                    scope: from.plain(&["scope", "scopes"], secrets)?,
                }));
            }
        }))
    }
}

/// Basic and nothing else needs it; ureq brings the same crate.
const BASE64: base64::engine::GeneralPurpose = base64::engine::general_purpose::STANDARD;
use base64::Engine as _;

pub(super) fn bearer(token: &str) -> Credentials {
    Credentials {
        header: Some(("Authorization".to_owned(), format!("Bearer {token}"))),
        query: None,
    }
}

/// Where the parts of a login come from: what the tool says, else the environment.
struct Source<'a> {
    auth: &'a Auth,
    host: &'a str,
    values: Values<'a>,
}

impl Source<'_> {
    /// The declaration of the tool, with its placeholders filled.
    fn plain(&self, names: &[&str], secrets: &mut Secrets) -> Result<Option<String>, String> {
        let Some(written) = names.iter().find_map(|name| self.auth.config.get(*name)) else {
            return Ok(None);
        };
        let written = match written {
            Json::Array(all) => all.iter().map(value_text).collect::<Vec<_>>().join(" "),
            other => value_text(other),
        };
        // No argument of a call logs in.
        let values = Values { arguments: &Map::new(), ..self.values };
        values.fill(&written, Encoding::Plain, secrets).map(Some)
    }

    /// What the tool says, else the variable of the environment.
    fn needed(&self, names: &[&str], end: &str, secrets: &mut Secrets) -> Result<String, String> {
        if let Some(plain) = self.plain(names, secrets)? {
            return Ok(plain);
        }
        let variable = self.variable(end);
        let value = self.values.env.get(&variable).map(str::to_owned);
        value.map_err(|why| format!("it logs in: {why}"))
    }

    /// The same, kept out of messages.
    fn secret(&self, names: &[&str], end: &str, secrets: &mut Secrets) -> Result<String, String> {
        let value = self.needed(names, end, secrets)?;
        secrets.add(&value);
        Ok(value)
    }

    /// `PROFILE_TOKEN`, else `HOST_TOKEN`.
    fn variable(&self, end: &str) -> String {
        let profile = self.auth.profile.as_deref();
        // A profile that is a setting is called like it.
        let profile =
            profile.map(|p| p.trim_matches(['{', '}', ' ']).trim_start_matches("config."));
        let name = profile.unwrap_or(self.host);
        let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        // No name of a variable begins with a digit.
        let mark = if name.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        format!("{mark}{}_{end}", name.chars().map(word).collect::<String>())
    }
}
