//! What is the same for all kinds of tools: time limits, keys of calls that are made again, cancellation.

use crate::server::{say, web};
use crate::{arguments, here, program};
use agentir_ir::Program;
use agentir_runtime::{Cancellation, FailureKind, ToolCall, ToolFailure, Tools};
use agentir_tools::{Allow, EnvVars, Http, Python, Stubs, Toolbox};
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

fn library(tool: &str) -> Program {
    program(&[("x.tools.abl", &format!("TOOLS:\n{tool}"))])
}

/// The limit of the agent is a second, which these calls do not need.
fn call(by: &mut Toolbox, program: &Program, timeout_ms: u64) -> Result<Json, ToolFailure> {
    by.call(&ToolCall {
        agent: "Desk",
        name: "t",
        tool: program.tools().next(),
        remote: None,
        arguments: arguments(json!({})),
        timeout_ms,
        idempotency_key: "0123456789abcdef0123456789abcdef".to_owned(),
        session: serde_json::Map::new(),
    })
}

fn toolbox(program: &Program) -> Toolbox {
    let env: EnvVars = [("WAIT", "150")].into_iter().collect();
    Toolbox::new(program).http(Http::new(env, here())).allow(Allow::Everything)
}

#[test]
fn a_time_limit_means_the_same_for_all_tools() {
    let web = web(|_, _| say(200, "never").held());
    let http = format!("    type: http\n    endpoint: \"{}/a\"\n", web.url());
    let kinds =
        [http.as_str(), "    type: mcp\n    server: s\n", "    type: lambda\n    function: f\n"];
    let stubs = "tools:\n  t:\n    - delay: 1000\n      answer: 1\n";
    for kind in kinds {
        for limit in [
            "    timeout: 150\n",
            "    timeout: \"{{config.WAIT}}\"\n",
            "    timeout: 0.15s\n",
            "    hints:\n      timeout: 150\n",
            "    timeout: 150\n    hints:\n      timeout: 9000\n",
        ] {
            let program = library(&format!("  t()\n{kind}{limit}"));
            let mut by = toolbox(&program).stubs(Stubs::read(stubs).unwrap());
            let failure = call(&mut by, &program, 60_000).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Timeout, "{kind}{limit}{failure}");
            assert!(failure.message.contains("within 150 ms"), "{failure}");
            if kind == http {
                let failure = call(&mut toolbox(&program), &program, 60_000).unwrap_err();
                assert_eq!(failure.message, "`t` did not answer within 150 ms", "{limit}");
            }
        }
        // Without one of its own, it is the agent's; with one, it is not.
        let program = library(&format!("  t()\n{kind}"));
        let mut by = toolbox(&program).stubs(Stubs::read(stubs).unwrap());
        assert_eq!(call(&mut by, &program, 150).unwrap_err().kind, FailureKind::Timeout);
        let program = library(&format!("  t()\n{kind}    timeout: 5s\n"));
        let mut by = toolbox(&program).stubs(Stubs::read(stubs).unwrap());
        assert_eq!(call(&mut by, &program, 150), Ok(json!(1)));
    }
}

#[test]
fn a_time_limit_that_is_none_is_refused() {
    let program = library(
        "  t()\n    type: http\n    endpoint: \"http://127.0.0.1:1/\"\n    timeout: soon\n",
    );
    let failure = call(&mut toolbox(&program), &program, 1000).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused);
    assert!(failure.explanation().contains("its `timeout` needs milliseconds"), "{failure:?}");
}

#[test]
fn a_call_that_may_be_made_again_has_its_key() {
    let web = web(|_, _| say(200, "1"));
    let tool = |rest: &str| {
        library(&format!("  t()\n    type: http\n    endpoint: \"{}/a\"\n{rest}", web.url()))
    };
    for (rest, key) in [
        ("    method: POST\n", Some("0123456789abcdef0123456789abcdef")),
        ("    method: PATCH\n", Some("0123456789abcdef0123456789abcdef")),
        ("    method: GET\n", None),
        ("    method: POST\n    headers:\n      idempotency-key: mine\n", Some("mine")),
    ] {
        let program = tool(rest);
        call(&mut toolbox(&program), &program, 9000).unwrap();
        assert_eq!(web.seen().last().unwrap().header("idempotency-key"), key, "{rest}");
    }

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.py");
    let text = "import os\n\ndef t():\n    return os.environ['AGENTIR_IDEMPOTENCY_KEY']\n";
    std::fs::write(&file, text).unwrap();
    let mut python = Python::new(folder.path(), [("t".to_owned(), file)]).unwrap();
    let call = ToolCall {
        agent: "Desk",
        name: "t",
        tool: None,
        remote: None,
        arguments: arguments(json!({})),
        timeout_ms: 60_000,
        idempotency_key: "k1".to_owned(),
        session: serde_json::Map::new(),
    };
    assert_eq!(python.call(&call), Ok(json!("k1")));
}

#[test]
fn calls_end_when_they_are_cancelled() {
    let web = web(|_, _| say(200, "never").held());
    let http = format!("  t()\n    type: http\n    endpoint: \"{}/a\"\n", web.url());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.py");
    std::fs::write(&file, "import time\n\ndef t():\n    time.sleep(60)\n").unwrap();
    let stub = Stubs::read("tools:\n  t:\n    - delay: 60000\n      answer: 1\n").unwrap();
    let declared = library(&http);
    let undeclared = library("  t()\n");
    let cancellation = Cancellation::default();
    let env = EnvVars::default();
    let toolboxes = [
        (
            &declared,
            Toolbox::new(&declared)
                .http(Http::new(env, here()).cancellation(cancellation.clone()))
                .allow(Allow::Everything),
        ),
        (
            &undeclared,
            Toolbox::new(&undeclared)
                .python(
                    Python::new(folder.path(), [("t".to_owned(), file)])
                        .unwrap()
                        .cancellation(cancellation.clone()),
                )
                .allow(Allow::Everything),
        ),
        (
            &declared,
            Toolbox::new(&declared)
                .stubs(stub.in_real_time(true).cancellation(cancellation.clone())),
        ),
    ];
    for (program, mut toolbox) in toolboxes {
        cancellation.reset();
        let canceller = cancellation.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            canceller.cancel();
        });
        let begin = Instant::now();
        let failure = call(&mut toolbox, program, 60_000).unwrap_err();
        assert_eq!(failure.message, "`t` was cancelled");
        assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
        thread.join().unwrap();
    }
}

#[test]
fn a_function_may_print_so_much_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.py");
    let text = "def t():\n    for _ in range(15):\n        print('x' * (1 << 20))\n    return 1\n\n\n\
                def u():\n    while True:\n        print('x' * (1 << 20))\n";
    std::fs::write(&file, text).unwrap();
    let functions = ["t", "u"].map(|name| (name.to_owned(), file.clone()));
    let mut python = Python::new(folder.path(), functions).unwrap();
    assert_eq!(crate::call_by_name(&mut python, "t", json!({})), Ok(json!(1)));
    let failure = crate::call_by_name(&mut python, "u", json!({})).unwrap_err();
    assert_eq!(failure.message, "`u` prints more than 16 MB");
}
