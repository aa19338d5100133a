//! The service model against a server on this machine that plays all the parts: one that streams, one
//! that is busy, one that breaks off, one that talks nonsense.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;
#[path = "common/server.rs"]
mod server;

use agentir_model::{ApiKey, Endpoint, EndpointError, OpenAi};
use agentir_runtime::{Answer, Model, ModelError, ModelRequest, ModelResponse, Purpose};
use common::*;
use serde_json::{Value as Json, json};
use server::{Play, Server, event_stream, events, http, json_answer, said};
use std::time::Duration;

/// A key that must not be seen anywhere.
const KEY: &str = "sk-secret-0123456789";

fn model(server: &Server) -> OpenAi {
    let mut endpoint = Endpoint::new(server.url());
    endpoint.model = Some("gpt-4o-mini".to_owned());
    endpoint.key = ApiKey::new(KEY);
    endpoint.backoff = Duration::from_millis(10);
    OpenAi::new(endpoint).unwrap()
}

/// Asks, and gives the parts of what is said, too.
fn ask_in_parts(
    server: &Server,
    request: &ModelRequest,
) -> (Result<ModelResponse, ModelError>, Vec<String>) {
    let mut parts = Vec::new();
    let reply = model(server).respond(request, &mut |part| parts.push(part.to_owned()));
    if let Err(error) = &reply {
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
    (reply, parts)
}

fn talk() -> ModelRequest {
    let tools = vec![
        tool(Purpose::Call, "search books", "Finds books", &["title: text", "most: number"]),
        tool(Purpose::Handoff, "Refunds", "Handles refunds", &[]),
    ];
    let mut messages = vec![user("hi"), assistant("Hello!"), user("Have you got Emma?")];
    messages.extend(called("search books", json!({"title": "Emma"}), json!({"stock": 2})));
    messages.push(user("And Persuasion?"));
    converse(messages, tools, Vec::new(), json!({}))
}

#[test]
fn a_question_is_sent_as_a_chat() {
    let server = Server::start(vec![json_answer(&said("Yes."))]);
    let mut request = talk();
    request.settings.temperature = Some(0.2);
    request.settings.max_tokens = Some(50);
    let (reply, parts) = ask_in_parts(&server, &request);
    assert_eq!(reply.unwrap().answer, Answer::Message { text: "Yes.".to_owned(), calls: vec![] });
    assert_eq!(parts, ["Yes."], "what does not stream is said in one piece");
    let seen = server.seen();
    assert_eq!(seen[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(seen[0].path, "/v1/chat/completions");
    insta::assert_json_snapshot!(seen[0].body);
}

#[test]
fn what_is_said_streams() {
    let server = Server::start(vec![event_stream(&[
        json!({"choices": [{"delta": {"role": "assistant", "content": ""}}]}),
        json!({"choices": [{"delta": {"content": "Yes, "}}]}),
        json!({"choices": [{"delta": {"content": "two."}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 4}}),
    ])]);
    let (reply, parts) = ask_in_parts(&server, &talk());
    let reply = reply.unwrap();
    assert_eq!(reply.answer, Answer::Message { text: "Yes, two.".to_owned(), calls: vec![] });
    assert_eq!(parts, ["Yes, ", "two."]);
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (120, 4));
    assert_eq!(server.seen()[0].body["stream"], json!(true));
}

#[test]
fn calls_stream_in_pieces() {
    let piece = |call: Json| json!({"choices": [{"delta": {"tool_calls": [call]}}]});
    let server = Server::start(vec![event_stream(&[
        piece(
            json!({"index": 0, "id": "a", "function": {"name": "search_books", "arguments": ""}}),
        ),
        piece(json!({"index": 0, "function": {"arguments": "{\"title\":"}})),
        piece(json!({"index": 1, "id": "b", "function": {"name": "Refunds", "arguments": ""}})),
        piece(json!({"index": 0, "function": {"arguments": "\"Persuasion\"}"}})),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ])]);
    let (reply, parts) = ask_in_parts(&server, &talk());
    let reply = reply.unwrap();
    let Answer::Message { text, calls } = reply.answer else { panic!() };
    assert_eq!((text.as_str(), parts.len()), ("", 0));
    assert_eq!(calls.len(), 2);
    // Under its own name, which the service would not have taken.
    assert_eq!((calls[0].id.as_str(), calls[0].name.as_str()), ("a", "search books"));
    assert_eq!(Json::Object(calls[0].arguments.clone()), json!({"title": "Persuasion"}));
    assert_eq!(calls[1].name, "Refunds");
    // The service did not say what it cost, so it is counted.
    assert!(reply.usage.input_tokens > 50 && reply.usage.output_tokens > 3, "{:?}", reply.usage);
}

#[test]
fn a_busy_service_is_asked_again() {
    let server = Server::start(vec![
        http(429, &[("retry-after", "0")], "{\"error\": {\"message\": \"slow down\"}}"),
        http(503, &[], "gone"),
        json_answer(&said("Yes.")),
    ]);
    let (reply, _) = ask_in_parts(&server, &talk());
    assert!(reply.is_ok(), "{reply:?}");
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_broken_connection_is_tried_again() {
    let server = Server::start(vec![vec![], json_answer(&said("Yes."))]);
    let (reply, _) = ask_in_parts(&server, &talk());
    assert!(reply.is_ok(), "{reply:?}");
}

#[test]
fn what_the_service_wants_counts_more_than_the_pause() {
    let server =
        Server::start(vec![http(429, &[("retry-after", "1")], "{}"), json_answer(&said("Yes."))]);
    assert!(ask_in_parts(&server, &talk()).0.is_ok());
    assert_eq!(server.seen().len(), 2);
    // Longer than there is time is not waited for at all.
    let busy = || http(429, &[("retry-after", "3600")], "{}");
    let server = Server::start(vec![busy(), json_answer(&said("Yes."))]);
    let error = ask_in_parts(&server, &talk()).0.unwrap_err();
    assert_eq!(server.seen().len(), 1);
    assert_eq!(
        error.to_string(),
        "the model could not be reached: too many requests (HTTP 429): {}"
    );
}

#[test]
fn an_exhausted_quota_is_not_asked_for_again() {
    for field in ["code", "type"] {
        let words =
            json!({"error": {"message": "You exceeded your quota.", field: "insufficient_quota"}});
        let server =
            Server::start(vec![http(429, &[], &words.to_string()), json_answer(&said("Yes."))]);
        let error = ask_in_parts(&server, &talk()).0.unwrap_err();
        assert_eq!(server.seen().len(), 1);
        assert_eq!(
            error.to_string(),
            "the model could not be reached: the quota of the API key is exhausted: You exceeded your quota."
        );
    }
}

#[test]
fn a_refusal_is_no_answer() {
    let refused = json!({"choices": [{"message": {"refusal": "I won't do that."}}]});
    let server = Server::start(vec![json_answer(&refused), json_answer(&refused)]);
    for request in [talk(), judge("x", "y")] {
        let (reply, parts) = ask_in_parts(&server, &request);
        assert_eq!(reply, Err(ModelError::Refused("I won't do that.".to_owned())));
        assert!(parts.is_empty(), "{parts:?}");
    }
    assert_eq!(server.seen().len(), 2, "asked once each");
}

#[test]
fn a_service_that_stays_busy_is_given_up() {
    let busy = || http(500, &[], "{\"error\": {\"message\": \"boom\"}}");
    let server = Server::start(vec![busy(), busy(), busy(), busy()]);
    let error = ask_in_parts(&server, &talk()).0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model could not be reached: the service failed (HTTP 500): boom"
    );
    assert_eq!(server.seen().len(), 3, "two retries");
}

#[test]
fn keys_are_never_shown() {
    let words = format!("{{\"error\": {{\"message\": \"Incorrect API key: {KEY}\"}}}}");
    let server = Server::start(vec![http(401, &[], &words)]);
    let error = ask_in_parts(&server, &talk()).0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model could not be reached: the API key is missing, invalid, or lacks permission (HTTP 401): Incorrect API key: …"
    );
    assert_eq!(server.seen().len(), 1, "a wrong key stays wrong");
    // Nor where a model is shown for debugging.
    assert!(!format!("{:?}", model(&server)).contains("secret"));
    // Nor in an answer that makes no sense.
    let nonsense = json!({"choices": [{"message": {"tool_calls": [
        {"id": "a", "function": {"name": KEY, "arguments": "{}"}}]}}]});
    let server = Server::start(vec![json_answer(&nonsense), json_answer(&nonsense)]);
    assert!(matches!(ask_in_parts(&server, &talk()).0, Err(ModelError::Malformed(_))));
}

#[test]
fn a_time_out_ends_all_attempts() {
    // The service answers the second attempt, which is not made.
    let server = Server::start(vec![vec![Play::Hold], json_answer(&said("Yes."))]);
    let mut request = talk();
    request.settings.timeout_ms = 300;
    assert_eq!(ask_in_parts(&server, &request).0, Err(ModelError::Timeout));
    // So does one in the middle of an answer.
    let mut play = events(&[json!({"choices": [{"delta": {"content": "Yes, "}}]})]);
    play.push(Play::Hold);
    let server = Server::start(vec![play]);
    let (reply, parts) = ask_in_parts(&server, &request);
    assert_eq!(reply, Err(ModelError::Timeout));
    assert_eq!(parts, ["Yes, "]);
}

#[test]
fn a_stream_without_an_end_ends_at_the_time_limit() {
    // There is always more to read, so nobody ever waits for it.
    let piece = json!({"choices": [{"delta": {"content": ""}}]});
    let endless = || {
        let mut play = events(&[]);
        play.push(Play::Repeat(format!("data: {piece}\n\n").into_bytes()));
        play
    };
    let server = Server::start(vec![endless(), endless()]);
    let mut request = talk();
    request.settings.timeout_ms = 400;
    let start = std::time::Instant::now();
    assert_eq!(ask_in_parts(&server, &request).0, Err(ModelError::Timeout));
    // Nor does it help that whoever shows the parts is slow.
    let server = Server::start(vec![{
        let mut play = events(&[]);
        play.push(Play::Repeat(
            b"data: {\"choices\": [{\"delta\": {\"content\": \"w\"}}]}\n\n".to_vec(),
        ));
        play
    }]);
    let slow =
        model(&server).respond(&request, &mut |_| std::thread::sleep(Duration::from_millis(50)));
    assert_eq!(slow, Err(ModelError::Timeout));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn an_answer_that_is_too_long_is_not_read_to_its_end() {
    let part = json!({"choices": [{"delta": {"content": "w".repeat(10_000)}}]});
    let mut play = events(&[]);
    play.push(Play::Repeat(format!("data: {part}\n\n").into_bytes()));
    let whole = json_answer(&said(&"w".repeat((1 << 20) + 1)));
    for play in [play, whole] {
        let server = Server::start(vec![play]);
        let (reply, parts) = ask_in_parts(&server, &talk());
        let why = "it is too long (more than 1 MiB of text)".to_owned();
        assert_eq!(reply, Err(ModelError::Malformed(why)));
        assert!(parts.concat().len() <= (1 << 20) + 10_000);
    }
}

/// An answer that the service ended is no answer, whether it is streamed or not.
#[test]
fn an_answer_that_was_cut_is_an_error() {
    let stream = |reason: &str| {
        event_stream(&[
            json!({"choices": [{"delta": {"content": "This is cut in the mid"}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": reason}]}),
        ])
    };
    let server = Server::start(vec![stream("length")]);
    let error = ask_in_parts(&server, &talk()).0.unwrap_err();
    assert!(error.to_string().ends_with("it is cut off, because it is too long"), "{error}");
    let server = Server::start(vec![stream("content_filter")]);
    let error = ask_in_parts(&server, &talk()).0.unwrap_err();
    assert!(
        matches!(&error, ModelError::Refused(why) if why.contains("content filter")),
        "{error}"
    );

    let whole = |reason: &str| {
        json_answer(&json!({"choices": [
            {"message": {"content": "Part"}, "finish_reason": reason}]}))
    };
    // What nobody has seen yet is asked for again.
    let server = Server::start(vec![whole("length"), json_answer(&said("All of it."))]);
    let reply = ask_in_parts(&server, &talk()).0.unwrap();
    assert_eq!(reply.answer, Answer::Message { text: "All of it.".to_owned(), calls: vec![] });
    let server = Server::start(vec![whole("length"), whole("length")]);
    assert!(matches!(ask_in_parts(&server, &talk()).0, Err(ModelError::Malformed(_))));
    let server = Server::start(vec![whole("content_filter")]);
    assert!(matches!(ask_in_parts(&server, &judge("x", "y")).0, Err(ModelError::Refused(_))));
}

#[test]
fn an_answer_that_breaks_off_is_an_error() {
    let server =
        Server::start(vec![events(&[json!({"choices": [{"delta": {"content": "Yes, "}}]})])]);
    let error = ask_in_parts(&server, &talk()).0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model could not be reached: the connection was closed before the answer was complete"
    );
    assert_eq!(server.seen().len(), 1, "what was said is not said twice");
    let server = Server::start(vec![event_stream(&[json!({"error": {"message": "overloaded"}})])]);
    let error = ask_in_parts(&server, &talk()).0.unwrap_err();
    assert!(error.to_string().ends_with("failed while answering: overloaded"), "{error}");
}

#[test]
fn values_come_in_the_form_that_is_asked_for() {
    let fields = fields(&["day: date", "room: text = single, double", "guests: number"]);
    let request = extract("a double for two", fields, Some("guests"));
    let answer = json!({"day": null, "room": "double", "guests": 2}).to_string();
    let server = Server::start(vec![json_answer(&said(&answer))]);
    let (reply, parts) = ask_in_parts(&server, &request);
    let expected = json!({"room": "double", "guests": 2});
    assert_eq!(reply.unwrap().answer, Answer::Values(expected.as_object().unwrap().clone()));
    assert!(parts.is_empty(), "nothing is said");
    insta::assert_json_snapshot!(server.seen()[0].body);
}

#[test]
fn an_answer_in_another_form_is_mended_once() {
    let request = extract("tomorrow", fields(&["day: date"]), None);
    let good = json_answer(&said("```json\n{\"day\": \"2026-11-19\"}\n```"));
    let server = Server::start(vec![json_answer(&said("{\"day\": \"tomorrow\"}")), good]);
    let reply = ask_in_parts(&server, &request).0.unwrap();
    assert_eq!(
        reply.answer,
        Answer::Values(json!({"day": "2026-11-19"}).as_object().unwrap().clone())
    );
    assert_eq!(reply.usage.input_tokens, 14, "both questions cost");
    let messages = server.seen()[1].body["messages"].clone();
    assert_eq!(messages[2], json!({"role": "assistant", "content": "{\"day\": \"tomorrow\"}"}));
    assert_eq!(
        messages[3]["content"],
        "That does not answer the question: `day` is not a date such as `2026-03-15`. Answer again."
    );
}

#[test]
fn nonsense_twice_is_an_error() {
    let cases: [(ModelRequest, &str, &str); 5] = [
        (extract("x", fields(&["day: date"]), None), "{}", "missing field `day`"),
        (
            choose("x", vec![candidate("a")], false),
            "{\"choices\": [{\"name\": \"b\", \"confidence\": 1}]}",
            "at `/choices/0/name`, unknown value `b`, expected `a`",
        ),
        (judge("x", "y"), "perhaps", "it is not valid JSON"),
        (
            judge("x", "y"),
            "{\"holds\": \"yes\"}",
            "at `/holds`, expected true or false, found a string",
        ),
        (talk(), "", "it says nothing and calls nothing"),
    ];
    for (request, text, expected) in cases {
        let server = Server::start(vec![json_answer(&said(text)), json_answer(&said(text))]);
        match ask_in_parts(&server, &request).0 {
            Err(ModelError::Malformed(why)) => {
                assert!(why.contains(expected), "{why}");
            }
            other => panic!("{text}: {other:?}"),
        }
        assert_eq!(server.seen().len(), 2);
    }
    for body in ["", "nonsense", "{}", "{\"choices\": []}", "[1]"] {
        let server = Server::start(vec![http(200, &[], body)]);
        let error = ask_in_parts(&server, &talk()).0.unwrap_err();
        assert!(matches!(error, ModelError::Malformed(_)), "{body}: {error:?}");
    }
}

#[test]
fn tools_that_do_not_exist_are_not_called() {
    let call = |arguments: &str, name: &str| {
        json_answer(&json!({"choices": [{"message": {"tool_calls": [
            {"id": "a", "function": {"name": name, "arguments": arguments}}]}}]}))
    };
    let server = Server::start(vec![call("{}", "delete_everything"), call("{}", "Refunds")]);
    assert!(ask_in_parts(&server, &talk()).0.is_ok());
    let again = server.seen()[1].body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        again["content"],
        "That does not answer the question: it calls `delete_everything`; there are only search_books, Refunds. Answer again."
    );
    let server = Server::start(vec![call("{\"title\":", "Refunds"), call("[]", "Refunds")]);
    assert!(matches!(ask_in_parts(&server, &talk()).0, Err(ModelError::Malformed(_))));
}

#[test]
fn choices_and_verdicts() {
    let choices = json!({"choices": [
        {"name": "b", "confidence": 0.4}, {"name": "a", "confidence": 7.0}, {"name": "b", "confidence": 1}]});
    let server = Server::start(vec![json_answer(&said(&choices.to_string()))]);
    let request = choose("x", vec![candidate("a: first"), candidate("b: second")], true);
    let reply = ask_in_parts(&server, &request).0.unwrap();
    assert_eq!(reply.answer, Answer::Choice(vec![("a".to_owned(), 1.0), ("b".to_owned(), 0.4)]));
    let server = Server::start(vec![json_answer(&said("{\"holds\": true}"))]);
    let reply = ask_in_parts(&server, &judge("the user agrees", "yes")).0.unwrap();
    assert_eq!(reply.answer, Answer::Verdict(true));
}

#[test]
fn a_service_without_schemas_is_told_the_form_in_words() {
    let refusal =
        http(400, &[], "{\"error\": {\"message\": \"response_format is not supported\"}}");
    let good = || json_answer(&said("{\"holds\": false}"));
    let server = Server::start(vec![refusal, good(), good()]);
    let mut model = model(&server);
    for _ in 0..2 {
        let reply = respond(&mut model, &judge("x", "y")).unwrap();
        assert_eq!(reply.answer, Answer::Verdict(false));
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 3, "it is only asked once whether it knows schemas");
    assert!(seen[2].body.get("response_format").is_none());
    let system = seen[2].body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("Answer with nothing but JSON of this schema: {"), "{system}");
}

#[test]
fn the_model_is_the_users_or_the_agents() {
    let server = Server::start(vec![json_answer(&said("Yes.")), json_answer(&said("Yes."))]);
    let mut request = talk();
    request.settings.model = Some("of-the-agent".to_owned());
    assert!(respond(&mut model(&server), &request).is_ok());
    let mut own = OpenAi::new(Endpoint::new(server.url())).unwrap();
    assert!(respond(&mut own, &request).is_ok());
    assert_eq!(server.seen()[0].body["model"], "gpt-4o-mini");
    assert_eq!(server.seen()[1].body["model"], "of-the-agent");
    assert_eq!(server.seen()[1].header("authorization"), None);
    request.settings.model = None;
    let error = respond(&mut own, &request).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model could not be reached: neither the agent `Desk` nor the command line names a model"
    );
}

#[test]
fn addresses_are_checked_before_anything_is_sent() {
    let open = |url: &str, key: Option<ApiKey>| {
        let mut endpoint = Endpoint::new(url);
        endpoint.key = key;
        OpenAi::new(endpoint).map(|_| ())
    };
    let none = |url: &str| Err(EndpointError::InvalidUrl(url.to_owned()));
    for url in ["", "nonsense", "ftp://x/v1", "https://user:pass@x/v1", "https://x/v1?key=1", "/v1"]
    {
        assert_eq!(open(url, None), none(url));
    }
    assert_eq!(open("https://api.openai.com/v1/", ApiKey::new(KEY)), Ok(()));
    assert_eq!(open("http://127.0.0.1:8080/v1", ApiKey::new(KEY)), Ok(()));
    assert_eq!(open("http://10.0.0.1/v1", None), Ok(()));
    assert_eq!(
        open("http://10.0.0.1/v1", ApiKey::new(KEY)),
        Err(EndpointError::UnencryptedKey("http://10.0.0.1/v1".to_owned()))
    );
    assert_eq!(ApiKey::new("  "), None);
    assert_eq!(ApiKey::new("a\nb"), None);
    let variable = "AGENTIR_TEST_NO_SUCH_KEY";
    assert_eq!(
        ApiKey::from_env(variable).unwrap_err().to_string(),
        "the environment variable `AGENTIR_TEST_NO_SUCH_KEY` does not contain a valid API key; set it, or name another variable"
    );
}

#[test]
fn nobody_there_is_an_error_in_words() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let mut endpoint = Endpoint::new(format!("http://{address}/v1"));
    endpoint.model = Some("m".to_owned());
    endpoint.backoff = Duration::from_millis(1);
    let error = respond(&mut OpenAi::new(endpoint).unwrap(), &talk()).unwrap_err();
    assert!(matches!(error, ModelError::Unavailable(_)), "{error:?}");
}

#[test]
fn the_model_is_told_what_day_it_is_where_it_matters() {
    let none = json_answer(&said("{\"day\": null}"));
    let holds = json_answer(&said("{\"holds\": true}"));
    let server = Server::start(vec![none, holds, json_answer(&said("Wednesday."))]);
    let mut model =
        model(&server).with_clock(|| "2026-11-18T10:00:00[UTC]".parse().unwrap_or_default());
    respond(&mut model, &extract("tomorrow", fields(&["day: date"]), None)).unwrap();
    respond(&mut model, &judge("x", "y")).unwrap();
    let content = |n: usize, message: usize| {
        server.seen()[n].body["messages"][message]["content"].to_string()
    };
    // Last, so that the beginning can be cached.
    let last = content(0, 1);
    assert!(last.contains("Now it is Wednesday, 18 November 2026, 10:00 (UTC)."), "{last}");
    assert!(!content(0, 0).contains("Now it is"));
    assert!(!content(1, 0).contains("Now it is") && !content(1, 1).contains("Now it is"));
    // Users ask for it, too: it is the last line of what the model is told.
    respond(&mut model, &talk()).unwrap();
    let body = &server.seen()[2].body["messages"];
    let last = body.as_array().unwrap().last().unwrap();
    assert_eq!(last["role"], "system");
    let text = last["content"].as_str().unwrap();
    assert_eq!(text.lines().last(), Some("Now it is Wednesday, 18 November 2026, 10:00 (UTC)."));
    assert!(!body[0]["content"].as_str().unwrap().contains("Now it is"));
}
