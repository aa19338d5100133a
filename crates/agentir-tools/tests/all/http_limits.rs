//! Time limits, tries, breakers and tokens.

use crate::server::{Web, say, web};
use crate::{call, call_within, does_not_hang, here, tool};
use agentir_ir::Tool;
use agentir_runtime::FailureKind;
use agentir_tools::{EnvVars, Http};
use serde_json::json;
use std::io::Write;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn http() -> Http {
    let settings = [("APP_CLIENT_ID", "app"), ("APP_CLIENT_SECRET", "hush-hush"), ("WAIT", "150")];
    Http::new(settings.into_iter().collect::<EnvVars>(), here())
}

#[test]
fn a_service_that_does_not_answer_is_given_up() {
    let web = web(|_, _| say(200, "never").held());
    let t = tool(&format!("  t()\n    type: http\n    endpoint: \"{}/a\"\n", web.url()));
    let failure = does_not_hang(move || call_within(&mut http(), &t, json!({}), 150));
    let failure = failure.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout, "{failure}");
    assert_eq!(failure.message, "`t` did not answer within 150 ms");
}

#[test]
fn an_answer_that_unpacks_to_too_much_is_refused() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..64 {
        packed.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 1 << 17);
    let web = web(move |_, _| say(200, packed.clone()).header("content-encoding", "gzip"));
    let t = tool(&format!("  t()\n    type: http\n    endpoint: \"{}/a\"\n", web.url()));
    let failure = does_not_hang(move || call(&mut http(), &t, json!({}))).unwrap_err();
    assert!(failure.message.ends_with("the answer has more than 4 MB"), "{failure}");
}

#[test]
fn what_fails_is_tried_again() {
    // Two failures, then an answer.
    let web = web(|_, before| if before % 3 < 2 { say(503, "busy") } else { say(200, "\"here\"") });
    let tool = |rest: &str| {
        tool(&format!("  t()\n    type: http\n    endpoint: \"{}/a\"\n{rest}", web.url()))
    };
    let twice = tool("    retry: 2\n    retry_delay: 1\n");
    assert_eq!(call(&mut http(), &twice, json!({})).unwrap(), json!("here"));
    let policy = tool("    retry_policy:\n      max_attempts: 3\n      delay_ms: 1\n");
    assert_eq!(call(&mut http(), &policy, json!({})).unwrap(), json!("here"));
    let once = tool("    retry: 1\n    retry_delay: 1\n");
    let failure = call(&mut http(), &once, json!({})).unwrap_err();
    assert!(failure.message.ends_with("answered 503 Service Unavailable"), "{failure}");
    assert_eq!(web.seen().len(), 8);
}

#[test]
fn a_try_that_would_come_too_late_is_not_waited_for() {
    let web = web(|_, _| say(503, "busy"));
    let day = tool(&format!(
        "  t()\n    type: http\n    endpoint: \"{}/a\"\n    retry: 5\n    retry_delay: 86400000\n",
        web.url()
    ));
    assert!(does_not_hang(move || call(&mut http(), &day, json!({}))).is_err());
    assert_eq!(web.seen().len(), 1);
}

#[test]
fn a_service_says_when_to_come_back() {
    // Who comes back too early is sent away.
    let first = Mutex::new(None);
    let web = web(move |_, _| match *first.lock().unwrap().get_or_insert_with(Instant::now) {
        first if first.elapsed() < Duration::from_secs(1) => {
            say(429, "").header("retry-after", "1")
        }
        _ => say(200, "1"),
    });
    let t = tool(&format!(
        "  t()\n    type: http\n    endpoint: \"{}/a\"\n    retry: 1\n    retry_delay: 1\n",
        web.url()
    ));
    assert_eq!(call(&mut http(), &t, json!({})).unwrap(), json!(1));
    assert_eq!(web.seen().len(), 2);
}

#[test]
fn mistakes_of_the_caller_are_not_tried_again() {
    let web = web(|_, _| say(400, ""));
    let t = tool(&format!(
        "  t()\n    type: http\n    endpoint: \"{}/a\"\n    retry: 3\n    retry_delay: 1\n",
        web.url()
    ));
    assert!(call(&mut http(), &t, json!({})).is_err());
    assert_eq!(web.seen().len(), 1);
}

#[test]
fn a_breaker_leaves_a_service_alone_for_a_while() {
    let web = web(|_, _| say(500, ""));
    let (day, moment) = (breaker(&web, 86_400_000), breaker(&web, 1));
    let mut http = http();
    let mut fails = |tool| call(&mut http, tool, json!({})).unwrap_err().message;
    assert!(fails(&moment).contains("answered 500"));
    assert!(fails(&moment).contains("answered 500"));
    // One try decides: it fails, so the service is left alone again.
    sleep(Duration::from_millis(10));
    assert!(fails(&day).contains("answered 500"));
    let told = fails(&day);
    assert!(told.starts_with("`t` was not called: it failed 3 times in a row"), "{told}");
    assert_eq!(web.seen().len(), 3);
}

#[test]
fn a_breaker_counts_failures_since_the_last_success() {
    let web = web(|_, before| if before == 2 { say(200, "1") } else { say(500, "") });
    let (day, moment) = (breaker(&web, 86_400_000), breaker(&web, 1));
    let mut http = http();
    for succeeds in [false, false, true] {
        sleep(Duration::from_millis(10));
        assert_eq!(call(&mut http, &moment, json!({})).is_ok(), succeeds);
    }
    let mut fails = || call(&mut http, &day, json!({})).unwrap_err().message;
    assert!(fails().contains("answered 500"));
    assert!(fails().contains("answered 500"));
    assert!(fails().contains("was not called: it failed 2 times in a row"));
}

/// A tool that is left alone for so many milliseconds when it failed twice.
fn breaker(web: &Web, reset: u32) -> Tool {
    tool(&format!(
        "  t()\n    type: http\n    endpoint: \"{}/a\"\n    circuit_breaker:\n      threshold: 2\n      resetMs: {reset}\n",
        web.url()
    ))
}

#[test]
fn calls_of_a_minute_are_limited() {
    let web = web(|_, _| say(200, "1"));
    let t = tool(&format!(
        "  t()\n    type: http\n    endpoint: \"{}/a\"\n    rate_limit: 2\n",
        web.url()
    ));
    let mut http = http();
    assert!(call(&mut http, &t, json!({})).is_ok());
    assert!(call(&mut http, &t, json!({})).is_ok());
    let told = call(&mut http, &t, json!({})).unwrap_err().message;
    assert_eq!(told, "`t` was not called: its 2 calls of this minute are made (rate limit)");
    assert_eq!(web.seen().len(), 2);
}

#[test]
fn tokens_are_fetched_kept_and_renewed() {
    let web = web(|seen, before| match seen.line.as_str() {
        "POST /token" => {
            say(200, format!("{{\"access_token\": \"token-{before}\", \"expires_in\": 3600}}"))
        }
        // The first token is taken back after two calls.
        _ if before >= 3 && seen.header("authorization") == Some("Bearer token-0") => say(401, ""),
        _ => say(200, "1"),
    });
    let t = tool(&format!(
        "  t()\n    type: http\n    endpoint: \"{0}/a\"\n    auth_profile: app\n    auth: oauth2_client\n    auth_config:\n      token_url: \"{0}/token\"\n      scopes: [read, write]\n",
        web.url()
    ));
    let mut http = http();
    for _ in 0..3 {
        assert_eq!(call(&mut http, &t, json!({})).unwrap(), json!(1));
    }
    let told: Vec<_> = web
        .seen()
        .iter()
        .map(|s| format!("{} {} {}", s.line, s.header("authorization").unwrap_or("-"), s.body))
        .collect();
    let grant = "grant_type=client_credentials&client_id=app&client_secret=hush-hush&scope=read";
    assert!(told[0].starts_with(&format!("POST /token - {grant}")), "{told:?}");
    assert_eq!(
        told[1..4],
        ["GET /a Bearer token-0 ", "GET /a Bearer token-0 ", "GET /a Bearer token-0 "]
    );
    assert!(told[4].starts_with("POST /token"));
    assert_eq!(told[5], "GET /a Bearer token-4 ");
}

#[test]
fn a_service_without_tokens_is_told() {
    for (status, body, why) in
        [(403, "hush-hush", "answered 403"), (200, "{}", "gave none"), (200, "<", "gave none")]
    {
        let web = web(move |_, _| say(status, body));
        let t = tool(&format!(
            "  t()\n    type: http\n    endpoint: \"{0}/a\"\n    auth_profile: app\n    auth: oauth2_client\n    auth_config:\n      token_url: \"{0}/token\"\n",
            web.url()
        ));
        let told = call(&mut http(), &t, json!({})).unwrap_err().message;
        assert!(told.ends_with(&format!("the service that gives tokens {why}")), "{told}");
    }
}
