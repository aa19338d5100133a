//! Text with placeholders: `{{path}}`, and `{name}` in addresses.
//!
//! A placeholder is a path and nothing else. Its context determines how its value is escaped
//! ([`Encoding`]), so that input of a user or a model stays a value: it cannot end a JSON string, add a
//! header or leave its part of an address.

use crate::environment::{EnvVars, Secrets};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value as Json};

/// What may stand in an address as it is (RFC 3986, 2.3).
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A value as a part of an address or a form.
pub(crate) fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Stands as it is.
    Text(&'a str),
    /// What is between the braces, without white space around it.
    Placeholder(&'a str),
}

/// The parts of a text; braces that are not closed are text. `single`: `{x}` is a placeholder as well.
pub(crate) fn parse(text: &str, single: bool) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|r| r.find('{')).map(|at| at + from) {
        let (open, close) = if rest.get(at..).is_some_and(|r| r.starts_with("{{")) {
            ("{{", "}}")
        } else {
            ("{", "}")
        };
        let inside = rest.get(at + open.len()..).unwrap_or_default();
        let end = inside.find(close).filter(|_| open.len() == 2 || single);
        let Some((placeholder, after)) =
            end.and_then(|e| Some((inside.get(..e)?, inside.get(e + close.len()..)?)))
        else {
            from = at + open.len();
            continue;
        };
        found.push(Piece::Text(rest.get(..at).unwrap_or_default()));
        found.push(Piece::Placeholder(placeholder.trim()));
        (rest, from) = (after, 0);
    }
    found.push(Piece::Text(rest));
    found.retain(|piece| *piece != Piece::Text(""));
    found
}

/// The names of the arguments that a text inserts.
pub(crate) fn argument_names(text: &str, single: bool) -> impl Iterator<Item = &str> {
    parse(text, single).into_iter().filter_map(|piece| match piece {
        Piece::Placeholder(path) => Some(path.split('.').next().unwrap_or(path)),
        Piece::Text(_) => None,
    })
}

/// The variables of the environment that stand in a text.
pub(crate) fn variables(written: &str) -> impl Iterator<Item = &str> {
    parse(written, false).into_iter().filter_map(|piece| match piece {
        Piece::Placeholder(path) => EnvVars::variable(path),
        Piece::Text(_) => None,
    })
}

/// The value at a path: `guest.names.0`.
pub(crate) fn value_at<'v>(values: &'v Map<String, Json>, path: &str) -> Option<&'v Json> {
    let mut parts = path.split('.');
    let mut value = values.get(parts.next()?)?;
    for part in parts {
        value = match value {
            Json::Object(fields) => fields.get(part)?,
            Json::Array(items) => items.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// A value as text: texts without quotes, nothing for null, data as JSON.
pub(crate) fn value_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value with the placeholders in its strings filled with arguments. A string that is a single
/// placeholder becomes the argument itself. Recursive; files and answers are at most [`crate::MAX_DEPTH`] deep.
pub(crate) fn substituted(value: &Json, arguments: &Map<String, Json>) -> Json {
    match value {
        Json::String(written) => match parse(written, false).as_slice() {
            [Piece::Placeholder(path)] => value_at(arguments, path).cloned().unwrap_or_default(),
            parts => {
                let part = |piece: &Piece<'_>| match piece {
                    Piece::Text(text) => (*text).to_owned(),
                    Piece::Placeholder(path) => {
                        value_at(arguments, path).map(value_text).unwrap_or_default()
                    }
                };
                Json::String(parts.iter().map(part).collect())
            }
        },
        Json::Array(items) => items.iter().map(|item| substituted(item, arguments)).collect(),
        Json::Object(fields) => {
            fields.iter().map(|(name, v)| (name.clone(), substituted(v, arguments))).collect()
        }
        other => other.clone(),
    }
}

/// Where a text goes, and so how values are written into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// A header, a token, plain text.
    Plain,
    /// A body of JSON.
    Json,
    /// A body of XML.
    Xml,
    /// A body as forms send it.
    Form,
    /// An address.
    Url,
}

/// The values that fill placeholders.
#[derive(Clone, Copy)]
pub(crate) struct Values<'v> {
    /// The arguments of the call.
    pub(crate) arguments: &'v Map<String, Json>,
    /// The variables of the conversation, by their paths: `session.X`.
    pub(crate) session: &'v Map<String, Json>,
    /// The environment.
    pub(crate) env: &'v EnvVars,
}

impl Values<'_> {
    /// Fills the placeholders of a text. Values from the environment are recorded as secrets, unless they
    /// are settings (`config`).
    ///
    /// # Errors
    /// A message: a placeholder has no value or is not allowed there.
    pub(crate) fn fill(
        self,
        written: &str,
        encoding: Encoding,
        secrets: &mut Secrets,
    ) -> Result<String, String> {
        let mut out = String::new();
        // Whether the place in a body of JSON is inside a string.
        let mut quoted = false;
        for piece in parse(written, encoding == Encoding::Url) {
            let path = match piece {
                Piece::Text(text) => {
                    quoted = ends_in_string(text, quoted);
                    out.push_str(text);
                    continue;
                }
                Piece::Placeholder(path) => path,
            };
            if let Some(name) = EnvVars::variable(path) {
                let value = self.env.get(name);
                let value = value.map_err(|why| format!("`{{{{{path}}}}}` has no value: {why}"))?;
                if !path.starts_with("config.") {
                    secrets.add(value);
                }
                // An address may begin with one; what the environment says is the owner's own word.
                match encoding {
                    Encoding::Url => out.push_str(value),
                    _ => write(&Json::from(value), encoding, quoted, &mut out),
                }
                continue;
            }
            let value = match path.strip_prefix("session.") {
                Some(inner) => self
                    .session
                    .get(inner)
                    .ok_or_else(|| format!("`{{{{{path}}}}}` of the session has no value here"))?,
                None if !is_path(path) => {
                    return Err(format!(
                        "`{{{{{path}}}}}` is not a path: compute the value before and pass it as an \
                         argument"
                    ));
                }
                // An argument that may be left out is null.
                None => value_at(self.arguments, path).unwrap_or(&Json::Null),
            };
            if encoding == Encoding::Url {
                out.push_str(&url_segment(path, value, &out)?);
            } else {
                write(value, encoding, quoted, &mut out);
            }
        }
        Ok(out)
    }
}

/// Names with dots between them.
fn is_path(text: &str) -> bool {
    let name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
    };
    text.split('.').all(name)
}

/// Whether a text of JSON ends inside a string, if it begins inside one or outside.
fn ends_in_string(text: &str, begins: bool) -> bool {
    let mut quoted = begins;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
    }
    quoted
}

fn write(value: &Json, encoding: Encoding, quoted: bool, out: &mut String) {
    match encoding {
        Encoding::Json if !quoted => out.push_str(&value.to_string()),
        Encoding::Json => {
            let escaped = Json::from(value_text(value)).to_string();
            out.push_str(escaped.trim_start_matches('"').strip_suffix('"').unwrap_or_default());
        }
        Encoding::Xml => {
            for c in value_text(value).chars() {
                match c {
                    '<' => out.push_str("&lt;"),
                    '>' => out.push_str("&gt;"),
                    '&' => out.push_str("&amp;"),
                    '"' => out.push_str("&quot;"),
                    '\'' => out.push_str("&apos;"),
                    c => out.push(c),
                }
            }
        }
        Encoding::Form => out.push_str(&percent_encoded(&value_text(value))),
        Encoding::Plain | Encoding::Url => out.push_str(&value_text(value)),
    }
}

/// An argument as a part of an address.
fn url_segment(name: &str, value: &Json, before: &str) -> Result<String, String> {
    let text = value_text(value);
    let in_host = before.split_once("://").is_none_or(|(_, rest)| !rest.contains(['/', '?', '#']));
    if text.is_empty() {
        return Err(format!("`{name}` is part of the address and has no value"));
    }
    if text == "." || text == ".." {
        return Err(format!("`{name}` is part of the address and cannot be `{text}`"));
    }
    if in_host && !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(format!(
            "`{name}` is part of the name of a host: only letters, digits and `-` may stand there"
        ));
    }
    Ok(percent_encoded(&text))
}
