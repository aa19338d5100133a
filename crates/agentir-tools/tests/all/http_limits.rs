//! Time limits, tries, breakers and tokens.

use crate::server::{say, web};
use crate::{call, call_within, tool};
use agentir_runtime::FailureKind;
use agentir_tools::{EnvVars, Http};
use serde_json::json;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn http() -> Http {
    let settings = [("APP_CLIENT_ID", "app"), ("APP_CLIENT_SECRET", "hush-hush"), ("WAIT", "150")];
    Http::new(settings.into_iter().collect::<EnvVars>())
}

#[test]
fn a_service_that_does_not_answer_is_given_up() {
    let web = web(|_, _| say(200, "late").after(700));
    for (rest, within) in [
        ("    timeout: 10000\n", 150),
        ("    timeout: \"{{config.WAIT}}\"\n", 9000),
        ("    timeout: 0.15s\n", 9000),
    ] {
        let t = tool(&format!("  t()\n    type: http\n    endpoint: \"{}/a\"\n{rest}", web.url()));
        let begin = Instant::now();
        let failure = call_within(&mut http(), &t, json!({}), within).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Timeout, "{failure}");
        assert_eq!(failure.message, "`t` did not answer within 150 ms");
        assert!(begin.elapsed() < Duration::from_millis(650), "{:?}", begin.elapsed());
    }
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
    // Time is over before the next try.
    let slow = tool("    retry: 5\n    retry_delay: 60000\n");
    let begin = Instant::now();
    assert!(call_within(&mut http(), &slow, json!({}), 1000).is_ok(), "the third answers");
    assert!(call_within(&mut http(), &slow, json!({}), 1000).is_err());
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_service_says_when_to_come_back() {
    let web = web(|_, before| match before {
        0 => say(429, "").header("retry-after", "1"),
        _ => say(200, "1"),
    });
    let t = tool(&format!(
        "  t()\n    type: http\n    endpoint: \"{}/a\"\n    retry: 1\n    retry_delay: 1\n",
        web.url()
    ));
    let begin = Instant::now();
    assert_eq!(call(&mut http(), &t, json!({})).unwrap(), json!(1));
    assert!(begin.elapsed() >= Duration::from_secs(1));
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
    let web = web(|_, before| if before < 3 { say(500, "") } else { say(200, "1") });
    let t = tool(&format!(
        "  t()\n    type: http\n    endpoint: \"{}/a\"\n    circuit_breaker:\n      threshold: 2\n      resetMs: 1500\n",
        web.url()
    ));
    let mut http = http();
    let mut fails = || call(&mut http, &t, json!({})).unwrap_err().message;
    assert!(fails().contains("answered 500"));
    assert!(fails().contains("answered 500"));
    let told = fails();
    assert!(told.starts_with("`t` was not called: it failed 2 times in a row"), "{told}");
    assert_eq!(web.seen().len(), 2);
    // One try decides: it fails, so the service is left alone again.
    sleep(Duration::from_millis(1600));
    assert!(fails().contains("answered 500"));
    assert!(fails().contains("was not called"));
    assert_eq!(web.seen().len(), 3);
    sleep(Duration::from_millis(1600));
    assert_eq!(call(&mut http, &t, json!({})).unwrap(), json!(1));
    assert_eq!(call(&mut http, &t, json!({})).unwrap(), json!(1));
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
