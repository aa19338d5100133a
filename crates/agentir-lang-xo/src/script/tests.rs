//! Scripts as they are read.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use super::*;
use agentir_diagnostics::FileId;
use std::fmt::Write;

fn text(code: &str) -> Text {
    let end = u32::try_from(code.len()).unwrap_or_default();
    Text::synthetic(code.to_owned(), Span::new(FileId(0), 0, end))
}

fn shown(all: &[Statement]) -> String {
    let mut out = String::new();
    for statement in all {
        let _ = match statement {
            Statement::Assign { target, value, span } => {
                write!(out, "{} = {value}; ", Expr::path(target.clone(), *span))
            }
            Statement::List { target, made, span } => {
                let target = Expr::path(target.clone(), *span);
                let Made { source, item, filter, fields, limit } = &**made;
                let text = |part: &Option<Expr>| part.as_ref().map(Expr::to_string);
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{}: {value}", name.value)).collect();
                let _ = write!(out, "{target} <- {source} as {}", item.value);
                let _ = text(filter).map(|filter| write!(out, " if {filter}"));
                let _ = text(limit).map(|limit| write!(out, " up to {limit}"));
                write!(out, " [{}]; ", fields.join(", "))
            }
            Statement::Print(value) => write!(out, "print {value}; "),
            Statement::Log(value) => write!(out, "log {value}; "),
            Statement::If(branches) => branches.iter().try_for_each(|b| {
                let when = b.condition.as_ref().map_or("else".to_owned(), Expr::to_string);
                write!(out, "[{when}] {}", shown(&b.body))
            }),
        };
    }
    out
}

#[test]
fn simple_scripts_are_read() {
    for (code, expected) in [
        ("context.entities.DOB = \"\";", "context.entities.DOB = \"\"; "),
        (
            "context.a = context.entities.x; context.b = null",
            "context.a = context.entities.x; context.b = null; ",
        ),
        (
            "context.note = \"From \" + context.d + '.';",
            "context.note = JOIN([\"From \", context.d, \".\"], \"\"); ",
        ),
        ("const m = `Hi ${context.n}`; print(m);", "print JOIN([\"Hi \", context.n], \"\"); "),
        (
            "if (context.a == context['b'] && !context.c) { context.ok = 1 } else context.ok = 0;",
            "[context.a == context.b AND NOT context.c] context.ok = 1; [else] context.ok = 0; ",
        ),
        (
            "if (context.a === undefined) {} else if (context.a.length > 2) { koreDebugger.log('x') }",
            "[context.a IS NOT SET] [LENGTH(context.a) > 2] log \"x\"; ",
        ),
        ("context.n = parseInt(context.m, 10) + 1", "context.n = TO_NUMBER(context.m) + 1; "),
        ("context.u = context.n.trim().toUpperCase()", "context.u = UPPER(TRIM(context.n)); "),
        (
            "var v = {type: 'button', 'all': [1, true]}; print(JSON.stringify(v))",
            "print {type: \"button\", all: [1, true]}; ",
        ),
    ] {
        let script = read(&text(code));
        let simple = script.simple.unwrap_or_else(|| panic!("not simple: {code}"));
        assert_eq!(shown(&simple), expected);
    }
}

#[test]
fn loops_that_make_lists_are_read() {
    let each = "context.l = []; ";
    for (code, expected) in [
        (
            "context.l = context.a.filter(x => x.n > 2 && x.open).map(y => ({name: y.name, m: context.m}))"
                .to_owned(),
            "context.l <- context.a as x if x.n > 2 AND x.open [name: x.name, m: context.m]; ",
        ),
        (
            "context.l = context.a.filter(function (x) { return x.n; }).slice(0, 3)".to_owned(),
            "context.l <- context.a as x if x.n up to 3 []; ",
        ),
        (
            format!("{each}for (const x of context.a) {{ context.l.push(x); }}"),
            "context.l <- context.a as x []; ",
        ),
        (
            format!(
                "{each}context.k = 1; for (let x of context.a) {{ const n = x.name; if (x.ok) context.l.push({{n: n}}) }}"
            ),
            "context.k = 1; context.l <- context.a as x if x.ok [n: x.name]; ",
        ),
        (
            format!(
                "{each}for (var i = 0; i < context.a.length; i++) {{ if (context.a[i].n > 1) {{ context.l.push(context.a[i]); }} }}"
            ),
            "context.l <- context.a as item if item.n > 1 []; ",
        ),
        (
            "var out = []; context.a.forEach(function (x) { out.push({t: x.t}); }); context.l = out; context.n = context.l.length"
                .to_owned(),
            "context.l <- context.a as x [t: x.t]; context.n = LENGTH(context.l); ",
        ),
        (
            "const big = context.a.filter(x => x.n > 1); context.l = big; context.m = big".to_owned(),
            "context.l <- context.a as x if x.n > 1 []; context.m <- context.a as x if x.n > 1 []; ",
        ),
    ] {
        let script = read(&text(&code));
        let simple = script.simple.unwrap_or_else(|| panic!("not simple: {code}"));
        assert_eq!(shown(&simple), expected, "{code}");
    }
}

#[test]
fn other_loops_are_not_simple() {
    for code in [
        // The list had something in it, or may have.
        "for (const x of context.a) { context.l.push(x) }",
        "context.l = [1]; for (const x of context.a) { context.l.push(x) }",
        "context.l = []; context.l.push(1); for (const x of context.a) { context.l.push(x) }",
        "context.l = []; if (context.k) { context.l = context.b } for (const x of context.a) { context.l.push(x) }",
        "context.l = []; for (const x of context.l) { context.l.push(x) }",
        // It does more, or less.
        "context.l = []; for (const x of context.a) { context.l.push(x); context.n = x }",
        "context.l = []; for (const x of context.a) { if (x.k) { context.l.push(x) } else { context.m = 1 } }",
        "context.l = []; for (const x of context.a) { if (!x.k) continue; context.l.push(x) }",
        "context.l = []; for (const x of context.a) { context.l.push(x.name) }",
        "context.l = []; for (const x in context.a) { context.l.push(x) }",
        "context.l = []; for (var i = 1; i < context.a.length; i++) { context.l.push(context.a[i]) }",
        "context.l = []; for (var i = 0; i <= context.a.length; i++) { context.l.push(context.a[i]) }",
        "context.l = []; for (var i = 0; i < context.a.length; i++) { context.l.push({n: i}) }",
        "context.l = []; for (var i = 0; i < context.a.length; i++) { context.l.push(context.b[i]) }",
        "context.l = context.a.map(x => x.name)",
        "context.l = context.a.map((x, i) => ({n: i}))",
        "context.l = context.a.map(x => ({a: x.a})).filter(x => x.a)",
        "context.l = context.a.slice(0, -1)",
        "context.l = context.a.slice(0, 2).filter(x => x.n)",
        "context.l = context.a.filter(context => context.n)",
        // The list has another name, which would have the same items.
        "var l = []; context.m = l; for (const x of context.a) { l.push(x) } context.l = l",
        "var l = []; context.l = l; for (const x of context.a) { context.l.push(x) } context.m = l",
        "if (context.k) { context.l = []; for (const x of context.a) { context.l.push(x) } }",
        // What it was made of has changed since.
        "const l = context.a.filter(x => x.n); context.a = []; context.l = l",
        "context.l = context.a.filter(x => x.f(2))",
    ] {
        assert!(read(&text(code)).simple.is_none(), "simple: {code}");
    }
}

#[test]
fn what_abl_cannot_say_is_not_simple() {
    for code in [
        "context.otp = Math.floor(Math.random() * 9000);",
        "for (const x of context.list) { print(x) }",
        "const t = context.x; context.x = 1; context.y = t;",
        "let r = ''; if (context.a) { r = 'b' } print(r)",
        "context.a = context.b || 'c'",
        "context.a = context.b + context.c",
        "env.KEY = 1",
        "context.a = ;",
        "context[context.k] = 1",
    ] {
        assert!(read(&text(code)).simple.is_none(), "{code}");
    }
}

#[test]
fn reads_and_writes_are_found_in_any_script() {
    let code = "// makes a list\nfor (const el of context.Svc.response.body.data) { context.session.BotContext.max = Math.max(context.session.BotContext.max, el.id, env.LIMIT) }\nprint(context.entities.name.split(' ')[0]);";
    let script = read(&text(code));
    let all = |paths: &[Path]| -> Vec<String> {
        paths
            .iter()
            .map(|p| Expr::path(p.clone(), Span::new(FileId(0), 0, 0)).to_string())
            .collect()
    };
    assert_eq!(
        all(&script.reads),
        [
            "context.Svc.response.body.data",
            "context.session.BotContext.max",
            "env.LIMIT",
            "context.entities.name"
        ]
    );
    assert_eq!(all(&script.writes), ["context.session.BotContext.max"]);
    assert!(script.prints);
    assert_eq!(
        script.comments.iter().map(|c| c.value.as_str()).collect::<Vec<_>>(),
        ["makes a list"]
    );
}

#[test]
fn what_a_script_makes_itself_need_not_be_given() {
    let code = "const ent = context.entities; context.a = 1; f(context.a); if (g()) { context.b = 1 }\nf(context.b, ent.Name);";
    let script = read(&text(code));
    let all = |paths: &[Path]| -> Vec<String> {
        paths
            .iter()
            .map(|p| Expr::path(p.clone(), Span::new(FileId(0), 0, 0)).to_string())
            .collect()
    };
    assert_eq!(all(&script.reads), ["context.entities", "context.b", "context.entities.Name"]);
    assert_eq!(all(&script.writes), ["context.a", "context.b"]);
}

#[test]
fn deep_scripts_are_no_danger() {
    for code in [
        format!("context.a = {}1{};", "(".repeat(50_000), ")".repeat(50_000)),
        "if (context.a) {".repeat(5_000),
        format!("context.a = {};", "1 + ".repeat(20_000) + "1"),
        format!("context.a = context{};", ".x".repeat(50_000)),
    ] {
        let _ = read(&text(&code));
    }
}
