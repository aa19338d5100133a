//! `agentir graph --watch`: the page of a graph on an address of this machine, drawn again when files change.

use agentir_diagnostics::escape_json;
use std::borrow::Cow;
use std::io::{self, Cursor, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};
use tiny_http::{Header, Request, Response, Server};

/// What is served.
struct Page {
    /// Counts how often it was drawn; the page asks for it. It begins with the time at which the process did, so that a page
    /// that another process drew is never taken for the newest one.
    version: u64,
    html: String,
    /// Why the newest text could not be drawn; the page goes on showing the one before.
    error: Option<String>,
}

/// A page that is served to this machine until the process ends.
pub struct Served {
    page: Arc<Mutex<Page>>,
    /// Its address.
    pub address: SocketAddr,
}

impl Served {
    /// Serves at a port of this machine, or at any that is free.
    ///
    /// # Errors
    /// A message, if the port cannot be used.
    pub fn new(port: Option<u16>) -> Result<Self, String> {
        if let Some(port) = port.filter(|port| BLOCKED.contains(port)) {
            return Err(format!("browsers open no pages at port {port}\nhelp: {FREE_PORT}"));
        }
        let server = Server::http((Ipv4Addr::LOCALHOST, port.unwrap_or_default()));
        let server = server.map_err(|error| {
            let named = port.map_or_else(String::new, |port| format!(" at port {port}"));
            let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
            match kind {
                Some(ErrorKind::PermissionDenied) => {
                    format!("this user may not serve a page{named}\nhelp: {FREE_PORT}")
                }
                Some(ErrorKind::AddrInUse) => {
                    format!("another program serves{named}\nhelp: {FREE_PORT}")
                }
                _ => format!("cannot serve the page{named}: {error}"),
            }
        })?;
        let address = server.server_addr().to_ip().ok_or("cannot serve the page")?;
        let page =
            Arc::new(Mutex::new(Page { version: begun(), html: String::new(), error: None }));
        let shown = Arc::clone(&page);
        thread::spawn(move || {
            for request in server.incoming_requests() {
                let response = answer(&request, address, &shown);
                // A browser that is gone needs no answer.
                let _sent = request.respond(response);
            }
        });
        Ok(Self { page, address })
    }

    /// Shows another page, or why there is none.
    pub fn show(&self, drawn: Result<String, String>) {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        match drawn {
            Ok(html) if html != page.html => {
                page.version += 1;
                page.html = html;
                page.error = None;
            }
            Ok(_) => page.error = None,
            Err(error) => page.error = Some(error),
        }
    }
}

/// The time, in milliseconds since 1970: no more than a script can count.
fn begun() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or_default()
}

/// What helps where a port cannot be used.
const FREE_PORT: &str = "choose a port from 1024 on, or leave out `--port`";

/// The ports that browsers refuse, whoever serves there (Fetch Standard, "port blocking").
const BLOCKED: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
    512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
    6669, 6679, 6697, 10080,
];

fn answer(request: &Request, own: SocketAddr, page: &Mutex<Page>) -> Response<Cursor<Vec<u8>>> {
    // Pages of other sites reach this machine by names of their own.
    let port = own.port();
    let mut names = vec![own.to_string(), format!("localhost:{port}")];
    // Browsers leave out the port of the scheme.
    if port == 80 {
        names.extend([own.ip().to_string(), "localhost".to_owned()]);
    }
    let host = request.headers().iter().find(|header| header.field.equiv("Host"));
    if !host.is_some_and(|host| names.iter().any(|name| host.value.as_str() == name)) {
        return Response::from_string("this page is for this machine").with_status_code(403);
    }
    let page = page.lock().unwrap_or_else(PoisonError::into_inner);
    let (text, kind) = match request.url() {
        "/" => (whole(&page), "text/html; charset=utf-8"),
        "/version" => {
            let said = serde_json::json!({ "version": page.version, "error": page.error });
            (Cow::Owned(said.to_string()), "application/json")
        }
        _ => return Response::from_string("there is no such page").with_status_code(404),
    };
    let header = |name: &str, value: &str| Header::from_bytes(name.as_bytes(), value.as_bytes());
    let headers = [header("Content-Type", kind), header("Cache-Control", "no-store")];
    let response = Response::from_string(text.into_owned());
    headers.into_iter().flatten().fold(response, Response::with_header)
}

/// The page, which knows its version; or that there is none yet.
fn whole(page: &Page) -> Cow<'_, str> {
    let body = format!("<body data-version=\"{}\">", page.version);
    if page.html.is_empty() {
        let error = page.error.as_deref().unwrap_or("nothing was drawn yet");
        let error = escape_json(error).replace('&', "&amp;").replace('<', "&lt;");
        return Cow::Owned(format!(
            "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\">{body}<pre>{error}</pre>"
        ));
    }
    Cow::Owned(page.html.replacen("<body>", &body, 1))
}
