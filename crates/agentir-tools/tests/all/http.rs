//! What is sent, by what a tool says, and what is read.

use crate::server::{Seen, Web, say, web};
use crate::{call, call_with_session, call_within, here, tool};
use agentir_runtime::FailureKind;
use agentir_tools::{EnvVars, Http};
use serde_json::{Value as Json, json};

fn http() -> Http {
    let settings = [
        ("PRINT_KEY", "k3y-of-the-printer"),
        ("BASE_PATH", "v2/api"),
        ("OWNER", "city hall"),
        ("USER_NAME", "ann"),
        ("USER_PASSWORD", "s3cret\"word"),
        ("PRINTER_TOKEN", "t0ken-of-the-printer"),
        ("_127_0_0_1_TOKEN", "t0ken-of-the-host"),
        ("_127_0_0_1_API_KEY", "key/of&the=host"),
    ];
    Http::new(settings.into_iter().collect::<EnvVars>(), here())
}

fn echo() -> Web {
    web(|_, _| say(200, "{\"ok\": true}").header("content-type", "application/json"))
}

/// Calls a tool, whose address begins at the server.
fn sent(written: &str, with: Json) -> Result<Seen, String> {
    let web = echo();
    let tool = tool(&written.replace("URL", &web.url()));
    let mut http = http();
    let session = json!({ "channel": "phone", "user.id": 7 });
    match call_with_session(&mut http, &tool, with, session) {
        Ok(answer) => {
            assert_eq!(answer, json!({ "ok": true }));
            Ok(web.seen().remove(0))
        }
        Err(failure) => {
            assert!(web.seen().is_empty(), "it was called");
            assert_eq!(failure.kind, FailureKind::Refused, "{failure}");
            Err(failure.message.replace(&web.url(), "URL"))
        }
    }
}

/// The first line, the headers that a tool decides, and the body.
fn shown(seen: &Seen) -> String {
    let headers = seen.headers.iter().filter(|line| {
        ["content-type", "authorization", "x-"].iter().any(|name| line.starts_with(name))
    });
    let lines: Vec<_> = [&seen.line].into_iter().chain(headers).map(String::as_str).collect();
    format!("{}\n{}", lines.join("\n"), seen.body).trim_end().to_owned()
}

#[test]
fn requests_are_made_as_tools_say() {
    let two = json!({ "street": "High St/1?#", "house": 7, "note": "a \"b\"\nc" });
    let cases = [
        ("a path, and the rest as a query", "    endpoint: \"URL/streets/{street}\"\n"),
        (
            "a query that is declared",
            "    endpoint: \"URL/find?x=1\"\n    query_params:\n      h: \"{{house}}\"\n      none: \"{{missing}}\"\n",
        ),
        (
            "arguments as JSON",
            "    endpoint: \"URL/{{config.BASE_PATH}}/orders\"\n    method: POST\n",
        ),
        (
            "a template of JSON",
            "    endpoint: \"URL/orders\"\n    method: PUT\n    body_template: |\n      {\"s\": \"{{street}}\", \"n\": {{note}}, \"h\": {{house}}, \"c\": \"{{session.channel}}\", \"t\": \"<{{note}}>\"}\n",
        ),
        (
            "a form",
            "    endpoint: \"URL/orders\"\n    method: POST\n    body_type: form\n    body_template: \"s={{street}}&h={{house}}\"\n",
        ),
        (
            "a body that is fixed",
            "    endpoint: \"URL/print/{house}\"\n    method: POST\n    body: |\n      {\"copies\": 1, \"by\": \"{{street}}\"}\n",
        ),
        (
            "XML",
            "    endpoint: \"URL/x\"\n    method: POST\n    body_template: \"<s>{{street}}{{note}}</s>\"\n",
        ),
        (
            "headers",
            "    endpoint: \"URL/x\"\n    method: DELETE\n    query_params:\n      h: \"{{house}}\"\n    headers:\n      X-Owner: \"{{env.OWNER}}\"\n      X-House: \"no. {{house}}\"\n",
        ),
        (
            "a bearer of the host",
            "    endpoint: \"URL/x\"\n    method: POST\n    auth: bearer\n    body: \"{}\"\n",
        ),
        (
            "a bearer of a profile",
            "    endpoint: \"URL/x\"\n    method: POST\n    auth_profile: \"{{config.PRINTER}}\"\n    body: \"{}\"\n",
        ),
        (
            "a key in a header",
            "    endpoint: \"URL/x\"\n    method: POST\n    auth: api_key\n    auth_config:\n      header: X-Key\n      key: \"{{secrets.PRINT_KEY}}\"\n    body: \"{}\"\n",
        ),
        (
            "a key in the query",
            "    endpoint: \"URL/x\"\n    method: POST\n    auth: api_key\n    auth_config:\n      in: query\n      name: k\n    body: \"{}\"\n",
        ),
        (
            "a name and a password",
            "    endpoint: \"URL/x\"\n    method: POST\n    auth: basic\n    auth_config:\n      username: \"{{env.USER_NAME}}\"\n      password: \"{{secrets.USER_PASSWORD}}\"\n    body: \"{}\"\n",
        ),
    ];
    let told = cases.map(|(what, rest)| {
        let written =
            format!("  t(street: string, house: number, note: string)\n    type: http\n{rest}");
        let seen = sent(&written, two.clone()).unwrap_or_else(|e| panic!("{what}: {e}"));
        format!("== {what}\n{}", shown(&seen))
    });
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_was_said_stays_a_value() {
    let with = |endpoint: &str, more: &str, value: &str| {
        let written = format!(
            "  t(x: string)\n    type: http\n    method: POST\n    endpoint: \"{endpoint}\"\n{more}"
        );
        sent(&written, json!({ "x": value }))
    };
    let header = "    headers:\n      X-A: \"{{x}}\"\n";
    let cases = [
        with("URL/a/{x}/b", "", ".."),
        with("URL/a/{x}/b", "", ""),
        with("URL/a/{x}/b", "", "../../admin?y#z%2f"),
        with("URL/a", header, "1\r\nX-Evil: 1"),
        with("http://{x}.example/a", "", "evil.net/"),
        with("http://{x}", "", "evil.net"),
        with(
            "URL/a",
            "    body_template: '{\"a\": {{x}}, \"b\": \"{{x}}\"}'\n",
            "\", \"admin\": \"yes",
        ),
        with("URL/a", "    body_template: '{\"a\": {{UPPER(x)}}}'\n", "x"),
        with("URL/a", "    body_template: '{\"a\": \"{{session.pin}}\"}'\n", "x"),
        with("URL/a", "    body_template: '{\"a\": 1,}'\n", "x"),
        with("file:///etc/passwd", "", "x"),
        with("/relative", "", "x"),
    ];
    let told =
        cases.map(|result| result.map_or_else(|e| format!("refused: {e}"), |seen| shown(&seen)));
    insta::assert_snapshot!(told.join("\n--\n"));
}

#[test]
fn what_is_missing_is_named() {
    let with = |more: &str| {
        sent(&format!("  t()\n    type: http\n    endpoint: \"URL/a\"\n{more}"), json!({}))
            .unwrap_err()
    };
    let told = [
        with("    headers:\n      X-A: \"{{secrets.NOT_THERE}}\"\n"),
        with("    auth: basic\n"),
        with("    auth: oauth2_client\n"),
        with("    auth: oauth2_user\n"),
        with("    auth_profile: google-creds\n"),
        with("    protocol: soap\n"),
        with("    tls_profile: bank\n"),
        with("    retry: often\n"),
        with("    body_type: yaml\n    body: a\n"),
    ];
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn answers_are_read() {
    let get = |status: u16, kind: &'static str, body: &str, more: &str| {
        let body = body.to_owned();
        let web = web(move |_, _| say(status, body.clone()).header("content-type", kind));
        let t = tool(&format!("  t()\n    type: http\n    endpoint: \"{}/a\"\n{more}", web.url()));
        let result = call(&mut http(), &t, json!({}));
        result.map_err(|f| (f.kind, f.message.replace(&web.url(), "URL"), f.data))
    };
    let json = "application/json";
    assert_eq!(get(200, json, "{\"a\": [1]}", ""), Ok(json!({ "a": [1] })));
    assert_eq!(get(201, "text/plain", "done", ""), Ok(json!("done")));
    assert_eq!(get(200, "text/html", "7", ""), Ok(json!(7)));
    assert_eq!(get(200, "text/plain", "", ""), Ok(Json::Null));
    assert_eq!(get(200, json, " ", ""), Ok(Json::Null));
    let deep = "[".repeat(100_000);
    let (kind, message, _) = get(200, json, &deep, "").unwrap_err();
    assert!(
        kind == FailureKind::Api && message.contains("says that it is JSON and is not"),
        "{message}"
    );
    assert_eq!(
        get(404, json, "{\"why\": \"gone\"}", ""),
        Err((
            FailureKind::Api,
            "`t` (GET URL/a) answered 404 Not Found".to_owned(),
            json!({ "status": 404, "body": { "why": "gone" } }),
        ))
    );
    assert_eq!(
        get(404, json, "{\"why\": \"gone\"}", "    on_http_error: data\n"),
        Ok(json!({ "status": 404, "body": { "why": "gone" } }))
    );
    let large = "x".repeat(agentir_tools::MAX_ANSWER_BYTES + 1);
    let (kind, message, _) = get(200, "text/plain", &large, "").unwrap_err();
    assert_eq!(
        (kind, message.as_str()),
        (FailureKind::Api, "`t` (GET URL/a): the answer has more than 4 MB")
    );
}

#[test]
fn redirects_are_not_followed() {
    let other = echo();
    let to = format!("{}/caught", other.url());
    let web = web(move |_, _| say(302, "").header("location", to.clone()));
    let t = tool(&format!(
        "  t()\n    type: http\n    endpoint: \"{}/a\"\n    auth: bearer\n",
        web.url()
    ));
    let failure = call(&mut http(), &t, json!({})).unwrap_err();
    assert!(
        failure.message.ends_with("answered 302 Found, and redirects are not followed"),
        "{failure}"
    );
    assert!(other.seen().is_empty());
}

#[test]
fn secrets_are_in_no_failure() {
    // A service that repeats all that it was sent.
    let web = web(|seen, _| say(500, format!("{} {:?} {}", seen.line, seen.headers, seen.body)));
    let secrets =
        ["k3y-of-the-printer", "s3cret", "t0ken-of-the-host", "key/of&the=host", "key%2Fof"];
    let tools = [
        "    auth: bearer\n",
        "    auth: api_key\n",
        "    auth: api_key\n    auth_config:\n      in: query\n",
        "    auth: basic\n    auth_config:\n      username: ann\n      password: \"{{secrets.USER_PASSWORD}}\"\n",
        "    query_params:\n      k: \"{{secrets.PRINT_KEY}}\"\n",
        "    method: POST\n    body_template: '{\"p\": \"{{secrets.USER_PASSWORD}}\"}'\n",
    ];
    for rest in tools {
        for port in [web.url(), "http://127.0.0.1:1".to_owned()] {
            let t = tool(&format!("  t()\n    type: http\n    endpoint: \"{port}/a\"\n{rest}"));
            let failure = call_within(&mut http(), &t, json!({}), 3000).unwrap_err();
            let told = format!("{} {}", failure.message, failure.data);
            for secret in secrets {
                assert!(!told.contains(secret), "`{secret}` in {told}");
            }
        }
    }
    assert_eq!(web.seen().len(), tools.len());
    let basic = web.seen()[3].header("authorization").unwrap().to_owned();
    assert!(basic.starts_with("Basic YW5uOnMzY3"), "{basic}");
    assert!(!format!("{:?}", http()).contains("k3y"));
}

#[test]
fn a_host_that_is_not_there_is_told() {
    let t = tool(
        "  t()\n    type: http\n    endpoint: \"http://127.0.0.1:1/a/{{config.BASE_PATH}}\"\n",
    );
    let failure = call(&mut http(), &t, json!({})).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Api);
    assert!(failure.message.starts_with("`t` "), "{failure}");
}

/// Variables of the conversation have their values in the address, the query, headers and the body.
#[test]
fn variables_of_the_conversation_are_filled_in_everywhere() {
    let written = r#"  t(street: string)
    type: http
    method: POST
    endpoint: "URL/users/{{session.user.id}}"
    headers:
      X-Channel: "{{session.channel}}"
    body_template: '{"u": {{session.user.id}}}'
"#;
    let seen = sent(written, json!({ "street": "Elm" })).unwrap();
    let shown = shown(&seen);
    assert!(shown.contains("/users/7"), "{shown}");
    assert!(shown.to_lowercase().contains("x-channel: phone"), "{shown}");
    assert!(shown.contains("{\"u\": 7}"), "{shown}");
}
