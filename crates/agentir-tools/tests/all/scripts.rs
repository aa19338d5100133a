//! Scripts in JavaScript: what they can do, and what nobody lets them do.

use crate::{arguments, does_not_hang, program};
use agentir_runtime::{Cancellation, FailureKind, ToolCall, ToolFailure, Tools};
use agentir_tools::{Scripts, Stubs, Toolbox};
use serde_json::{Map, Value as Json, json};
use std::time::Duration;

/// An agent with a script of these parameters.
fn with_script(parameters: &str, language: &str, code: &str) -> agentir_ir::Program {
    let code = code.lines().map(|line| format!("      {line}\n")).collect::<String>();
    let text = format!(
        "AGENT: Desk\nGOAL: \"Help\"\nTOOLS:\n  work({parameters}) -> object\n    type: sandbox\n    runtime: {language}\n    code: |\n{code}"
    );
    program(&[("desk.agent.abl", &text)])
}

fn call(
    by: &mut Toolbox,
    program: &agentir_ir::Program,
    with: Json,
    ms: u64,
) -> Result<Json, ToolFailure> {
    by.call(&ToolCall {
        agent: "Desk",
        name: "work",
        tool: program.tools().find(|t| t.name.value == "work"),
        remote: None,
        arguments: arguments(with),
        timeout_ms: ms,
        idempotency_key: String::new(),
        session: Map::new(),
    })
}

/// What a script answers that nothing was allowed to.
fn answer(parameters: &str, code: &str, with: Json) -> Result<Json, ToolFailure> {
    let program = with_script(parameters, "javascript", code);
    does_not_hang(move || call(&mut Toolbox::new(&program), &program, with, 20_000))
}

#[test]
fn a_script_computes_with_its_arguments() {
    let sum = "let all = 0;\nfor (const n of numbers) { all += n; }\nreturn { all, more: more === undefined };";
    let with = json!({ "numbers": [1, 2.5, 3] });
    let found = answer("numbers: number[], more?: string", sum, with).unwrap();
    assert_eq!(found, json!({ "all": 6.5, "more": true }));
    // Texts stay texts, whatever they are.
    let text = "\"}); throw 1; // \u{2028} \u{0} ü 🚐 \\ `${x}`";
    assert_eq!(
        answer("x: string", "return { x };", json!({ "x": text })).unwrap(),
        json!({ "x": text })
    );
    for (code, value) in [
        ("", Json::Null),
        ("return undefined;", Json::Null),
        ("return () => 1;", Json::Null),
        ("return NaN;", Json::Null),
        ("return await Promise.resolve(7);", json!(7)),
        ("undeclared = 3; return undeclared;", json!(3)),
        ("console.log('x'); return [1, , 2];", json!([1, null, 2])),
        ("return new Map([[1, 2]]);", json!({})),
        ("return 'a-b'.replace(/-/g, '+').toUpperCase();", json!("A+B")),
        ("return Object.entries({a: 1}).map(([k, v]) => `${k}=${v}`).join();", json!("a=1")),
        ("return JSON.parse('{\"__proto__\": 1}');", json!({ "__proto__": 1 })),
    ] {
        assert_eq!(answer("", code, json!({})).unwrap(), value, "{code}");
    }
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    for (code, kind, parts) in [
        ("const a = 1;\na.b.c();", FailureKind::Error, &["TypeError", "line 2 of its code"][..]),
        ("return 1 +;", FailureKind::Error, &["SyntaxError", "line 1 of its code"]),
        ("throw new Error('No van');", FailureKind::Error, &["No van"]),
        ("throw { code: 5 };", FailureKind::Error, &["{\"code\":5}"]),
        ("throw undefined;", FailureKind::Error, &["throws nothing"]),
        ("const a = {}; a.a = a; return a;", FailureKind::Error, &["circular"]),
        ("await new Promise(() => {});", FailureKind::Error, &["never comes"]),
        ("throw new Error('x'.repeat(1e6));", FailureKind::Error, &["xxx"]),
    ] {
        let failure = answer("", code, json!({})).unwrap_err();
        assert_eq!(failure.kind, kind, "{code}: {}", failure.message);
        for part in parts {
            assert!(failure.message.contains(part), "{code}: {}", failure.message);
        }
        assert!(failure.message.len() < 600, "{code}");
    }
}

#[test]
fn a_script_reaches_nothing() {
    let found = answer(
        "",
        "const all = ['require', 'process', 'fetch', 'XMLHttpRequest', 'WebSocket', 'std', 'os', 'scriptArgs', 'Deno', 'Bun',\n\
         'setTimeout', 'setInterval', 'print', 'load', 'loadScript', 'importScripts', 'Worker', 'module', 'exports'];\n\
         return all.filter((name) => typeof globalThis[name] !== 'undefined');",
        json!({}),
    );
    assert_eq!(found.unwrap(), json!([]));
    for code in
        ["return await import('fs');", "return await import('./x.js');", "return import.meta.url;"]
    {
        assert_eq!(answer("", code, json!({})).unwrap_err().kind, FailureKind::Error, "{code}");
    }
    // What one call leaves, the next one does not see.
    let program =
        with_script("", "JavaScript", "globalThis.n = (globalThis.n ?? 0) + 1; return n;");
    let mut toolbox = Toolbox::new(&program);
    for _ in 0..2 {
        assert_eq!(call(&mut toolbox, &program, json!({}), 20_000).unwrap(), json!(1));
    }
}

#[test]
fn memory_stack_and_answers_are_bounded() {
    for code in [
        "const all = []; for (;;) all.push(new Array(1000).fill(1));",
        "let x = 'x'; for (;;) x += x;",
        "return new ArrayBuffer(1e9).byteLength;",
        "function f() { return f() + 1; } return f();",
        "return 'x'.repeat(5e6);",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a;",
        "return JSON.parse('['.repeat(1e5) + ']'.repeat(1e5));",
        "return new RegExp('('.repeat(1e5)).test('');",
    ] {
        let failure = answer("", code, json!({})).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Error, "{code}: {}", failure.message);
    }
}

#[test]
fn time_is_bounded_whatever_a_script_does() {
    for (code, calls) in [
        ("for (;;) {}", 2),
        ("for (;;) { try { for (;;) {} } catch (e) {} finally { continue; } }", 2),
        ("const f = async () => { await 1; return f(); }; await f();", 2),
        ("return /^(a+)+$/.test('a'.repeat(40) + 'b');", 2),
        ("return /(a*)*b/.test('a'.repeat(1e5));", 2),
        ("return { toJSON() { for (;;) {} } };", 2),
        // Built-in functions that are not interrupted, and go on in this process.
        ("return Array.prototype.reverse.call({ length: 2 ** 53 - 1 });", 1),
        ("const a = []; a.length = 4e9; return a.join();", 1),
    ] {
        let program = with_script("", "javascript", code);
        let failures = does_not_hang(move || {
            let mut toolbox = Toolbox::new(&program);
            let mut failure = || call(&mut toolbox, &program, json!({}), 300).unwrap_err();
            std::iter::repeat_with(&mut failure).take(calls).collect::<Vec<_>>()
        });
        for failure in failures {
            assert_eq!(failure.kind, FailureKind::Timeout, "{code}: {}", failure.message);
        }
    }
}

#[test]
fn a_cancelled_script_ends() {
    let program = with_script("", "js", "for (;;) {}");
    let failure = does_not_hang(move || {
        let cancellation = Cancellation::default();
        let scripts = Scripts::default().cancellation(cancellation.clone());
        let mut toolbox = Toolbox::new(&program).scripts(scripts);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            cancellation.cancel();
        });
        call(&mut toolbox, &program, json!({}), 3_600_000).unwrap_err()
    });
    assert!(failure.message.contains("cancelled"), "{}", failure.message);
}

#[test]
fn stubs_come_first_and_other_languages_are_refused() {
    let program = with_script("", "javascript", "return 1;");
    let stubs = Stubs::read("tools:\n  work:\n    - answer: 2\n").unwrap();
    let mut toolbox = Toolbox::new(&program).stubs(stubs);
    assert_eq!(call(&mut toolbox, &program, json!({}), 5000).unwrap(), json!(2));
    let program = with_script("", "python", "return 1");
    let failure = call(&mut Toolbox::new(&program), &program, json!({}), 5000).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused);
    assert!(
        failure.explanation().contains("runs on its platform only"),
        "{}",
        failure.explanation()
    );
}
