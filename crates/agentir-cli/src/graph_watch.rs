//! `agentir graph --watch`: the page of a graph on an address of this machine, drawn again when files change.

use agentir_diagnostics::escape_json;
use std::borrow::Cow;
use std::io::Cursor;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tiny_http::{Header, Request, Response, Server};

/// What is served.
#[derive(Default)]
struct Page {
    /// How often it was drawn; the page asks for it.
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
        let server = Server::http((Ipv4Addr::LOCALHOST, port.unwrap_or_default()));
        let server = server.map_err(|error| {
            let named = port.map_or_else(String::new, |port| format!(" at port {port}"));
            format!("cannot serve the page{named}: {error}")
        })?;
        let address = server.server_addr().to_ip().ok_or("cannot serve the page")?;
        let page = Arc::new(Mutex::new(Page::default()));
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

fn answer(request: &Request, own: SocketAddr, page: &Mutex<Page>) -> Response<Cursor<Vec<u8>>> {
    // Pages of other sites reach this machine by names of their own.
    let names = [own.to_string(), format!("localhost:{}", own.port())];
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
