//! Every form of inline text, its errors, and their spans.
//!
//! A diagnostic is shown as the text it underlines, between `»` and `«`, and its message.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use agentir_diagnostics::{Diagnostic, FileId};
use agentir_expr::{
    ConditionKind, Expr, ExprKind, Literal, Path, Segment, Template, TemplatePart, UnaryOp,
};
use agentir_lang_abl::inline::{self, ActionKind, Checkpoint, ConstraintKind, FlowKind};
use agentir_syntax::inline::{InlineText, Origin};

fn input(text: &str) -> InlineText<'_> {
    InlineText::verbatim(text, FileId(0), 0)
}

fn shown(text: &str, problems: &[Diagnostic]) -> Vec<String> {
    problems
        .iter()
        .map(|d| {
            let help = d.help.as_ref().map(|h| format!(" / {h}")).unwrap_or_default();
            format!("{}: »{}« {}{help}", d.rule.0, &text[d.primary.span.range()], d.message)
        })
        .collect()
}

/// Parses without problems.
fn fine<T>(text: &str, read: impl Fn(InlineText<'_>, &mut Vec<Diagnostic>) -> Option<T>) -> T {
    let mut problems = Vec::new();
    let result = read(input(text), &mut problems);
    assert_eq!(shown(text, &problems), Vec::<String>::new(), "{text}");
    result.unwrap_or_else(|| panic!("nothing was read from {text}"))
}

/// The diagnostics of a text that cannot be parsed.
fn wrong<T>(
    text: &str,
    read: impl Fn(InlineText<'_>, &mut Vec<Diagnostic>) -> Option<T>,
) -> String {
    let mut problems = Vec::new();
    assert!(read(input(text), &mut problems).is_none(), "{text} was read");
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    shown(text, &problems).remove(0)
}

fn expr(text: &str) -> Expr {
    fine(text, inline::expr)
}

/// The expression with all parentheses written out.
fn grouped(e: &Expr) -> String {
    let all = |es: &[Expr], word: &str| {
        format!("({})", es.iter().map(grouped).collect::<Vec<_>>().join(word))
    };
    match &e.kind {
        ExprKind::And(parts) => all(parts, " AND "),
        ExprKind::Or(parts) => all(parts, " OR "),
        ExprKind::Binary { op, left, right } => {
            format!("({} {op} {})", grouped(left), grouped(right))
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => format!("(NOT {})", grouped(operand)),
        ExprKind::Unary { op: UnaryOp::Negate, operand } => format!("(-{})", grouped(operand)),
        ExprKind::Unary { op: UnaryOp::IsNumber, operand } => {
            format!("({} is_number)", grouped(operand))
        }
        ExprKind::IsSet { operand, negated } => {
            format!("({} IS {}SET)", grouped(operand), if *negated { "NOT " } else { "" })
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            format!("({} ? {} : {})", grouped(condition), grouped(then), grouped(otherwise))
        }
        _ => e.to_string(),
    }
}

#[test]
fn operator_precedence() {
    for (text, expected) in [
        ("a OR b AND c", "(a OR (b AND c))"),
        ("a or b and not c", "(a OR (b AND (NOT c)))"),
        ("a || b && !c", "(a OR (b AND (NOT c)))"),
        ("a AND b AND c", "(a AND b AND c)"),
        ("a AND (b AND c)", "(a AND (b AND c))"),
        ("NOT a IS SET", "(NOT (a IS SET))"),
        ("NOT a == b", "(NOT (a == b))"),
        ("a is SET AND b is not set", "((a IS SET) AND (b IS NOT SET))"),
        ("a == 1 IMPLIES b OR c", "((a == 1) IMPLIES (b OR c))"),
        ("a + b * c - d", "((a + (b * c)) - d)"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b % c", "((a / b) % c)"),
        ("a - -5", "(a - -5)"),
        ("-a + b", "((-a) + b)"),
        ("a + 1 >= b", "((a + 1) >= b)"),
        ("a IN [1, 2]", "(a IN [1, 2])"),
        ("a not in b", "(a NOT IN b)"),
        ("a contains \"x\"", "(a contains \"x\")"),
        ("a CONTAINS 'x'", "(a contains \"x\")"),
        ("a startsWith b OR a endsWith c", "((a startsWith b) OR (a endsWith c))"),
        ("amount is_number", "(amount is_number)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a == b ? c : d", "((a == b) ? c : d)"),
        ("a != 1", "(a != 1)"),
        ("a < 1 OR a <= 2 OR a > 3", "((a < 1) OR (a <= 2) OR (a > 3))"),
        (r"input matches /room\s*\d+/", r"(input matches /room\s*\d+/)"),
        ("a / b / c", "((a / b) / c)"),
    ] {
        assert_eq!(grouped(&expr(text)), expected, "{text}");
    }
}

#[test]
fn keywords_are_names_in_value_position() {
    for text in
        ["in", "contains", "matches", "is", "set", "order.in.not", "a.and.null", "MATCHES(a, b)"]
    {
        assert_eq!(expr(text).to_string(), text);
    }
    assert_eq!(expr("{in, out, not: x, true: y}").to_string(), "{in, out, not: x, true: y}");
    assert_eq!(grouped(&expr("in in contains")), "(in IN contains)");
    assert_eq!(expr("größe.naïve").to_string(), "größe.naïve");
}

#[test]
fn values() {
    for (text, expected) in [
        ("true", "true"),
        ("FALSE", "false"),
        ("null", "null"),
        ("undefined", "undefined"),
        ("3.50", "3.5"),
        ("-2", "-2"),
        ("1e3", "1000"),
        ("'it\\'s'", "\"it's\""),
        (r#""\d\"\n""#, r#""\\d\"\n""#),
        ("a.b[0].c", "a.b[0].c"),
        ("a[\"b c\"].d", "a[\"b c\"].d"),
        ("match.0", "match.0"),
        ("match.0.1", "match.0.1"),
        ("$result.id", "$result.id"),
        ("[]", "[]"),
        ("[1, 'b', [c]]", "[1, \"b\", [c]]"),
        ("[1, 2,]", "[1, 2]"),
        (
            "{a, hotel: x.y, dates: {in, out}, \"b c\": 1}",
            "{a, hotel: x.y, dates: {in, out}, \"b c\": 1}",
        ),
        ("ROUND(MUL(a, 1.2), 2)", "ROUND(MUL(a, 1.2), 2)"),
        ("NOW()", "NOW()"),
        ("input.contains(\"x\")", "input.contains(\"x\")"),
        ("a.b.trim().toLowerCase()", "a.b.trim().toLowerCase()"),
        ("f(x).total", "f(x).total"),
        ("f(x)[0].id", "f(x)[0].id"),
        ("(a).b", "(a).b"),
        ("((a))", "a"),
        ("x matches /a\\/[/]b/i", r"x matches /(?i)a\/[\/]b/"),
    ] {
        assert_eq!(expr(text).to_string(), expected, "{text}");
    }
    assert_eq!(expr(r#""\d""#).kind, ExprKind::Literal(Literal::String(r"\d".into())));
}

#[test]
fn guardrail_helpers_are_functions() {
    let ExprKind::Call { function, args } = expr("abl.word_count(x)").kind else { panic!() };
    assert_eq!((function.value.as_str(), args.len()), ("abl.word_count", 1));
    let ExprKind::Method { method, .. } = expr("input.word_count(x)").kind else { panic!() };
    assert_eq!(method.value, "word_count");
}

#[test]
fn spans_point_into_the_text() {
    let text = "  a.b == f(c) AND (d OR e)";
    let e = expr(text);
    let ExprKind::And(parts) = &e.kind else { panic!() };
    let texts: Vec<_> = parts.iter().map(|p| &text[p.span.range()]).collect();
    assert_eq!(texts, ["a.b == f(c)", "(d OR e)"]);
    let mut paths = Vec::new();
    e.visit(&mut |e| {
        if e.as_path().is_some() {
            paths.push(&text[e.span.range()]);
        }
        agentir_expr::Visit::Children
    });
    assert_eq!(paths, ["a.b", "c", "d", "e"]);
}

#[test]
fn spans_account_for_escapes() {
    // In the file: `"a == \"b\" AND"`, its text beginning at 101.
    let origin = Origin { file: FileId(0), base: 101, shifts: &[(6, 1), (8, 2)] };
    let mut problems = Vec::new();
    inline::expr(InlineText { text: "a == \"b\" AND", origin }, &mut problems);
    let span = problems[0].primary.span;
    assert_eq!((span.start, span.end), (112, 115));
}

#[test]
fn errors_in_expressions() {
    for (text, expected) in [
        ("", "invalid-expression: »« expected a value"),
        ("a AND", "invalid-expression: »AND« expected a value after `AND`"),
        ("a AND AND b", "invalid-expression: »AND« expected a value after `AND`, found `AND`"),
        ("a == )", "invalid-expression: »)« expected a value after `==`, found `)`"),
        ("f(a, b", "invalid-expression: »(« `(` is never closed"),
        ("[a, {b: c]", "invalid-expression: »]« `]` does not close `{`"),
        ("a)", "invalid-expression: »)« `)` has no matching opening bracket"),
        (
            "a b",
            "invalid-expression: »b« expected an operator between `a` and `b` / put strings of several words in quotes",
        ),
        (
            "a == b == c",
            "invalid-expression: »==« comparisons cannot be chained / write two comparisons joined by `AND`",
        ),
        (
            "a IS NULL",
            "invalid-expression: »IS« expected `SET` or `NOT SET` after `IS` / write `IS SET` to test whether there is a value, and `==` to compare",
        ),
        ("a == \"b", "invalid-expression: »\"« this string has no closing `\"`"),
        ("a ; b", "invalid-expression: »;« unexpected character `;`"),
        (
            "a == “b”",
            "invalid-expression: »“« unexpected character `“` / use straight quotes: `\"text\"`",
        ),
        (
            "a[x]",
            "invalid-expression: »x« expected a number or a quoted string after `[`, found `x`",
        ),
        (
            "a[1.5]",
            "invalid-expression: »1.5« expected a whole number between `[` and `]`, found `1.5`",
        ),
        ("a.", "invalid-expression: ».« expected a name after `.`"),
        ("1e999", "invalid-expression: »1e999« the number `1e999` is too large"),
        (
            "a matches /b/x",
            "invalid-expression: »/b/x« `/b/x` has an unknown flag / flags are `i`, `m`, `s`, `u` and `g`",
        ),
        ("a -> b", "invalid-expression: »->« unexpected `->`"),
    ] {
        assert_eq!(wrong(text, inline::expr), expected, "{text}");
    }
}

#[test]
fn operators_of_other_languages_are_accepted_and_reported() {
    for (text, expected) in [
        ("a = b", "»=« `=` is not an operator here; it is read as `==` / write `==`"),
        ("a === b", "»===« `===` is not an operator here; it is read as `==` / write `==`"),
        ("a <> b", "»<>« `<>` is not an operator here; it is read as `!=` / write `!=`"),
        ("a ≠ b", "»≠« `≠` is not an operator here; it is read as `!=` / write `!=`"),
        ("a ≤ b", "»≤« `≤` is not an operator here; it is read as `<=` / write `<=`"),
    ] {
        let mut problems = Vec::new();
        let e = inline::expr(input(text), &mut problems).unwrap();
        assert!(matches!(e.kind, ExprKind::Binary { .. }), "{text}");
        assert_eq!(shown(text, &problems), [format!("invalid-expression: {expected}")], "{text}");
    }
}

#[test]
fn nesting_is_limited() {
    let deep = |open: &str, close: &str| {
        let text = format!("{}a{}", open.repeat(10_000), close.repeat(10_000));
        let mut problems = Vec::new();
        assert!(inline::expr(input(&text), &mut problems).is_none(), "{open}");
        assert_eq!(problems[0].rule.0, "expression-too-deep", "{open}");
    };
    deep("(", ")");
    deep("NOT ", "");
    deep("[", "]");
    deep("-", "");
    deep("{a: ", "}");
    deep("f(", ")");
    deep("x ? y : ", "");
    deep("x IMPLIES ", "");
    deep("", ".f()");
    deep("", "+a");
    let mut problems = Vec::new();
    let many = vec!["a"; 10_000].join(" AND ");
    assert!(inline::expr(input(&many), &mut problems).is_some(), "chains are flat");
    let dimensions = format!("T{}", "[]".repeat(10_000));
    assert!(inline::type_expr(input(&dimensions), &mut problems).is_none());
    let objects = format!("{}T{}", "{a: ".repeat(10_000), "}".repeat(10_000));
    assert!(inline::type_expr(input(&objects), &mut problems).is_none());
}

fn condition_of(text: &str, quoted: bool) -> (&'static str, Vec<String>) {
    let mut problems = Vec::new();
    let condition = inline::condition(input(text), quoted, &mut problems);
    let kind = match condition.kind {
        ConditionKind::Expr(_) => "expression",
        ConditionKind::Natural => "natural",
        ConditionKind::Invalid => "invalid",
    };
    (kind, shown(text, &problems))
}

#[test]
fn conditions_are_told_from_natural_language() {
    for (text, expected) in [
        ("user.intent == \"cancel\"", "expression"),
        ("booking.ready", "expression"),
        ("destination AND checkin AND checkout", "expression"),
        ("input == \"yes\" OR yes", "expression"),
        ("When asked for a refund", "natural"),
        ("customer is angry", "natural"),
        ("the user wants to cancel and leave", "natural"),
        ("User asks about billing, payments or refunds", "natural"),
        ("User's card isn't accepted", "natural"),
        ("user says \"goodbye\" or leaves the chat", "natural"),
        ("a AND", "invalid"),
        ("a == b c", "invalid"),
        ("contains_pii(content", "invalid"),
        ("user.message contains refund request", "invalid"),
        ("a > 5 people", "invalid"),
        ("", "invalid"),
    ] {
        let (kind, problems) = condition_of(text, false);
        assert_eq!(kind, expected, "{text}: {problems:?}");
        assert_eq!(problems.is_empty(), kind != "invalid", "{text}");
    }
}

#[test]
fn quoted_conditions_are_unwrapped() {
    for (text, expected) in [
        ("word_count(content) < 200", "expression"),
        ("needs_help", "expression"),
        ("Customer wants a refund.", "natural"),
        ("Unhappy!", "natural"),
        ("a == b c", "invalid"),
    ] {
        assert_eq!(condition_of(text, true).0, expected, "{text}");
        assert_eq!(condition_of(&format!("\"{text}\""), false).0, expected, "\"{text}\"");
    }
    let condition = inline::condition(input("  \"a == 'b'\""), false, &mut Vec::new());
    assert_eq!(condition.text.value, "a == 'b'");
    assert_eq!((condition.span().start, condition.span().end), (3, 11));
    assert_eq!(condition_of("\"a\" == \"b\"", false).0, "expression");
}

#[test]
fn braces_in_conditions_get_a_hint() {
    let (_, problems) = condition_of("{{status}} == \"open\"", false);
    assert!(
        problems[0].contains("variables in conditions are written without braces"),
        "{problems:?}"
    );
}

#[test]
fn types() {
    for text in [
        "string",
        "Hotel[]",
        "string[][]",
        "{allowed: boolean, reason?: string}",
        "{a: {b: number[]}, c: T}[]",
        "{}",
    ] {
        assert_eq!(fine(text, inline::type_expr).to_string(), text);
    }
    assert_eq!(
        wrong("{a}", inline::type_expr),
        "invalid-value: »}« expected `?`, `:` or `.` after `a`, found `}` / a type is a name, `type[]` or `{field: type, optional?: type}`"
    );
}

#[test]
fn tool_signatures() {
    let tool = fine(
        "search_hotels(destination: string, in: date,\n  guests: number = 2, note?: string, x) ->\n {a: T}[]",
        inline::tool_signature,
    );
    assert_eq!(tool.name.value, "search_hotels");
    let parameters: Vec<_> = tool
        .parameters
        .iter()
        .map(|p| {
            let ty = p.ty.as_ref().map(ToString::to_string);
            let default = p.default.as_ref().map(ToString::to_string);
            (p.name.value.as_str(), p.optional, ty.unwrap_or_default(), default.unwrap_or_default())
        })
        .collect();
    assert_eq!(
        parameters,
        [
            ("destination", false, "string".into(), String::new()),
            ("in", false, "date".into(), String::new()),
            ("guests", false, "number".into(), "2".into()),
            ("note", true, "string".into(), String::new()),
            ("x", false, String::new(), String::new()),
        ]
    );
    assert_eq!(tool.returns.unwrap().to_string(), "{a: T}[]");
    assert_eq!(fine("ping()", inline::tool_signature).returns, None);
    assert_eq!(
        fine("get-weather.v2(a: string)", inline::tool_signature).name.value,
        "get-weather.v2"
    );
    assert_eq!(
        wrong("search(a: string -> T", inline::tool_signature),
        "invalid-signature: »->« expected `.`, `,`, `=`, `)` or `[` after `string`, found `->` / a tool is written `name(parameter: type, optional?: type) -> type`"
    );
    assert_eq!(
        wrong("search(a: string", inline::tool_signature),
        "invalid-signature: »(« `(` is never closed / a tool is written `name(parameter: type, optional?: type) -> type`"
    );
}

#[test]
fn constraints() {
    let rule = fine("REQUIRE a == 1 IMPLIES b IS SET", inline::constraint_rule);
    assert_eq!(rule.kind.value, ConstraintKind::Require);
    assert_eq!(rule.condition.text.value, "a == 1 IMPLIES b IS SET");
    assert_eq!(rule.checkpoint, None);

    let rule = fine("LIMIT n < 5 BEFORE calling reserve-hotel", inline::constraint_rule);
    assert_eq!(rule.condition.text.value, "n < 5");
    let Some(Checkpoint::ToolCall(tool)) = rule.checkpoint.map(|c| c.value) else { panic!() };
    assert_eq!(tool.value, "reserve-hotel");

    let rule = fine("warn done == true BEFORE returning results", inline::constraint_rule);
    assert_eq!(rule.checkpoint.unwrap().value, Checkpoint::Response);
    let rule = fine("RESTRICT x IN [\"A\"] BEFORE the end of it", inline::constraint_rule);
    assert_eq!(rule.checkpoint.unwrap().value, Checkpoint::Other("the end of it".into()));
}

#[test]
fn natural_language_constraints() {
    let text = "REQUIRE the user is verified BEFORE calling pay";
    let rule = fine(text, inline::constraint_rule);
    assert!(matches!(rule.condition.kind, ConditionKind::Natural));
    assert_eq!(&text[rule.condition.span().range()], "the user is verified");
    let Some(Checkpoint::ToolCall(tool)) = rule.checkpoint.map(|c| c.value) else { panic!() };
    assert_eq!(&text[tool.span.range()], "pay");

    let text = "REQUIRE a == BEFORE calling pay";
    let mut problems = Vec::new();
    let rule = inline::constraint_rule(input(text), &mut problems).unwrap();
    assert!(matches!(rule.condition.kind, ConditionKind::Invalid));
    assert_eq!(shown(text, &problems), ["invalid-expression: »==« expected a value after `==`"]);

    assert!(wrong("ALWAYS be kind", inline::constraint_rule).contains("»ALWAYS«"));
    assert!(wrong("REQUIRE", inline::constraint_rule).contains("expected a value after `REQUIRE`"));
}

#[test]
fn actions() {
    use ActionKind::{
        AskUser, Backtrack, Block, Complete, Continue, Delegate, Escalate, GoTo, Handoff, Respond,
        Retry, RetryStep,
    };
    for (text, kind, target, reason, arguments) in [
        ("select_room", GoTo, "select_room", "", ""),
        ("step-2.b", GoTo, "step-2.b", "", ""),
        ("complete-order", GoTo, "complete-order", "", ""),
        ("retry", GoTo, "retry", "", ""),
        ("GOTO next", GoTo, "next", "", ""),
        ("GOTO: next", GoTo, "next", "", ""),
        ("\"a step\"", GoTo, "a step", "", ""),
        ("COMPLETE", Complete, "", "", ""),
        ("complete", Complete, "", "", ""),
        ("continue", Continue, "", "", ""),
        ("CONTINUE: with x", Continue, "", "", "x"),
        ("RETRY", Retry, "", "", ""),
        ("RETRY_STEP", RetryStep, "", "", ""),
        ("ESCALATE", Escalate, "", "", ""),
        ("ESCALATE with REASON: \"why\"", Escalate, "", "why", ""),
        ("ESCALATE \"why\"", Escalate, "", "why", ""),
        ("ESCALATE REASON: why PRIORITY: high", Escalate, "", "why", ""),
        ("BLOCK", Block, "", "", ""),
        ("HANDOFF Fraud_Team", Handoff, "Fraud_Team", "", ""),
        ("handoff to Fraud_Team", Handoff, "Fraud_Team", "", ""),
        ("HANDOFF -> Fraud-Team", Handoff, "Fraud-Team", "", ""),
        ("DELEGATE -> Other", Delegate, "Other", "", ""),
        ("ASK_USER {retry, escalate}", AskUser, "", "", "retry escalate"),
        ("BACKTRACK start", Backtrack, "start", "", ""),
        ("RESPOND \"sorry\"", Respond, "", "sorry", ""),
    ] {
        let action = fine(text, inline::action);
        assert_eq!(action.kind, kind, "{text}");
        assert_eq!(action.target.map(|t| t.value).unwrap_or_default(), target, "{text}");
        assert_eq!(action.reason.map(|t| t.value).unwrap_or_default(), reason, "{text}");
        let names: Vec<_> = action.arguments.iter().map(|n| n.value.as_str()).collect();
        assert_eq!(names.join(" "), arguments, "{text}");
        assert_eq!(&text[action.span.range()], text);
    }
    assert_eq!(fine("retry", inline::action).without_steps().kind, Retry);
    assert_eq!(fine("other", inline::action).without_steps().kind, GoTo);
    assert_eq!(fine("ESCALATE PRIORITY: 1", inline::action).priority.unwrap().value, "1");
    assert!(wrong("go to the end", inline::action).starts_with("invalid-action: »to«"));
    assert!(wrong("HANDOFF a b", inline::action).contains("is not a valid action"));
    assert!(wrong("", inline::action).starts_with("invalid-action: »« expected"));
}

#[test]
fn calls() {
    for (text, expected) in [
        ("search", ""),
        ("get-weather(city)", "city"),
        ("search(a, b.c)", "a; b.c"),
        ("search(k = v, l = 1 + 2)", "k=v; l=1 + 2"),
        ("search(in: v, not: {a})", "in=v; not={a}"),
        ("search(a ? b : c)", "a ? b : c"),
        ("search()", ""),
    ] {
        let call = fine(text, inline::call);
        let arguments: Vec<_> = call
            .arguments
            .iter()
            .map(|a| match &a.name {
                Some(name) => format!("{name}={}", a.value),
                None => a.value.to_string(),
            })
            .collect();
        assert_eq!(arguments.join("; "), expected, "{text}");
    }
    assert!(wrong("search(a", inline::call).contains("`(` is never closed"));
}

#[test]
fn stores() {
    for (text, value, target) in [
        ("{a, b: c.d} -> user.past", "{a, b: c.d}", "user.past"),
        ("pref -> user.preferred_*", "pref", "user.preferred_*"),
        ("pref -> user.*", "pref", "user.*"),
        ("AVG(prices) -> user.average", "AVG(prices)", "user.average"),
        ("quoted_price", "quoted_price", ""),
        ("{a}", "{a}", ""),
    ] {
        let store = fine(text, inline::store);
        assert_eq!(store.value.to_string(), value);
        assert_eq!(store.target.map(|t| t.value.to_string()).unwrap_or_default(), target);
    }
    let target = fine("a -> b.*", inline::store).target.unwrap().value;
    assert_eq!(target.segments, [Segment::Any]);
}

#[test]
fn chains() {
    let names = |text| -> Vec<String> {
        fine(text, inline::chain).into_iter().map(|n| n.value.to_string()).collect()
    };
    assert_eq!(names("a -> step-2 -> c.d"), ["a", "step-2", "c.d"]);
    assert_eq!(names("a->b"), ["a", "b"]);
    assert_eq!(
        wrong("a -> ", inline::chain),
        "invalid-value: »->« expected a name after `->` / a sequence of steps is written `first -> second -> third`"
    );
}

#[test]
fn assignments_and_transformations() {
    for (text, target, value) in [
        ("a = b + 1", "a", "b + 1"),
        ("a.b[0] = UPPER(x)", "a.b[0]", "UPPER(x)"),
        ("a: b == c", "a", "b == c"),
        ("a = b ? c : d", "a", "b ? c : d"),
        ("in = true", "in", "true"),
    ] {
        let assignment = fine(text, inline::assignment);
        assert_eq!(assignment.target.value.to_string(), target);
        assert_eq!(assignment.value.to_string(), value);
    }
    let header = fine("result.items AS item into chosen", inline::transform_header);
    assert_eq!(
        (header.source.to_string(), header.item.value.as_str(), header.target.value.to_string()),
        ("result.items".into(), "item", "chosen".into())
    );
    for (text, direction) in [
        ("item.price DESC", Some(inline::Direction::Descending)),
        ("price asc", Some(inline::Direction::Ascending)),
        ("price", None),
    ] {
        assert_eq!(fine(text, inline::sort_by).direction.map(|d| d.value), direction);
    }
}

#[test]
fn routing() {
    use inline::RouteAction;
    let rule = fine("INTENT(pay, give money back, \"a, b\") -> payment", inline::routing_rule);
    let intents: Vec<_> = rule.intents.unwrap().into_iter().map(|i| i.value).collect();
    assert_eq!(intents, ["pay", "give money back", "a, b"]);
    assert_eq!(rule.target.value, "payment");
    let rule = fine("DEFAULT -> help", inline::routing_rule);
    assert_eq!((rule.intents, rule.target.value.as_str()), (None, "help"));
    assert!(wrong("INTENT(a) help", inline::routing_rule).contains("expected `->` after `)`"));

    assert!(matches!(fine("ROUTE_TO Sales-Team", inline::route_action),
        RouteAction::Agent(name) if name.value == "Sales-Team"));
    assert!(matches!(fine("ROUTE_TO_USER \"hi\"", inline::route_action),
        RouteAction::User(text) if text.value == "hi"));
    assert!(matches!(fine("ROUTE_TO_VARIABLE state.next[0]", inline::route_action),
        RouteAction::Variable(path) if path.value.to_string() == "state.next[0]"));
    assert_eq!(fine("END_CONVERSATION", inline::route_action), RouteAction::EndConversation);
    assert_eq!(fine("INTENT_MATCH:", inline::route_action), RouteAction::IntentMatch);
    assert!(matches!(fine("SYSTEM_ACTION reset", inline::route_action),
        RouteAction::System(name) if name.value == "reset"));

    let header = fine("FROM any TO support", inline::protocol_header);
    assert_eq!((header.from, header.to.value.as_str()), (None, "support"));
    let header = fine("FROM hotel TO payment:", inline::protocol_header);
    assert_eq!(header.from.unwrap().value, "hotel");
}

fn template(text: &str) -> (Template, Vec<String>) {
    let mut problems = Vec::new();
    let template = inline::template(input(text), &mut problems);
    let problems = shown(text, &problems);
    (template, problems)
}

fn parts(text: &str) -> Vec<String> {
    let (template, problems) = template(text);
    assert_eq!(problems, Vec::<String>::new(), "{text}");
    template
        .parts
        .iter()
        .map(|part| match part {
            TemplatePart::Value { expr, filters, span, .. } => {
                let filters: String = filters.iter().map(|f| format!("|{f}")).collect();
                format!("{} = {expr}{filters}", &text[span.range()])
            }
            TemplatePart::SingleBrace { expr, span, .. } => {
                format!("{} ~ {expr}", &text[span.range()])
            }
            TemplatePart::Open { block, expr, .. } => {
                format!("#{block} {}", expr.as_ref().map(ToString::to_string).unwrap_or_default())
            }
            TemplatePart::Else { .. } => "else".into(),
            TemplatePart::Close { block, .. } => format!("/{block}"),
        })
        .collect()
}

#[test]
fn templates() {
    assert_eq!(parts("Plain text."), Vec::<String>::new());
    assert_eq!(parts("Hi {{ name }}, {{a.b[0]}}!"), ["{{ name }} = name", "{{a.b[0]}} = a.b[0]"]);
    assert_eq!(
        parts("{{FORMAT_CURRENCY(x, 'USD')}}"),
        ["{{FORMAT_CURRENCY(x, 'USD')}} = FORMAT_CURRENCY(x, \"USD\")"]
    );
    assert_eq!(parts("{{x | json}}"), ["{{x | json}} = x|json"]);
    assert_eq!(parts("{{{x}}}"), ["{{{x}}} = x"]);
    assert_eq!(parts("{{f({a: {b: '}}'}})}} x"), ["{{f({a: {b: '}}'}})}} = f({a: {b: \"}}\"}})"]);
    assert_eq!(
        parts("{{#each items}}{{@index}} {{this.name}}{{else}}none{{/each}}{{! comment }}"),
        ["#each items", "{{@index}} = @index", "{{this.name}} = this.name", "else", "/each"]
    );
    assert_eq!(
        parts("{{#if a == 1}}x{{else if b}}y{{/if}}{{#unless c}}{{/unless}}"),
        ["#if a == 1", "else", "/if", "#unless c", "/unless"]
    );
}

#[test]
fn single_braces_are_placeholders_only_around_paths_and_calls() {
    assert_eq!(parts("Dear {name}, {f(x)}"), ["{name} ~ name", "{f(x)} ~ f(x)"]);
    assert_eq!(parts("/orders/{order.id}"), ["{order.id} ~ order.id"]);
    assert_eq!(parts("${ctx.v}"), ["${ctx.v} ~ ctx.v"]);
    for text in [
        "{\"a\": 1, \"b\": [{\"c\": 2}]}",
        "p { color: red }",
        "{ a + b }",
        "{}",
        "{",
        "{a: b}",
        "{{\"",
        "}",
    ] {
        let (template, _) = template(text);
        assert_eq!(template.parts, [], "{text}");
    }
    assert_eq!(parts("{\"id\": \"{{x}}\", \"t\": {{y}}}"), ["{{x}} = x", "{{y}} = y"]);
}

#[test]
fn errors_in_templates() {
    for (text, expected) in [
        ("a {{b", "»{{« `{{` has no closing `}}`"),
        ("a {{}} b", "»{{}}« this placeholder is empty"),
        (
            "a {{b c}} d",
            "»c« expected an operator between `b` and `c` / put strings of several words in quotes",
        ),
        ("{{#if a}}x", "»if« `{{#if}}` is never closed / add `{{/if}}` where it ends"),
        ("x{{/if}}", "»{{/if}}« `{{/if}}` has no opening `{{#if}}`"),
        (
            "{{#if a}}{{/each}}",
            "»{{/each}}« `{{/each}}` does not close `{{#if}}` / write `{{/if}}`",
        ),
        ("{{else}}", "»{{else}}« `{{else}}` is not in a block"),
        (
            "{{#when a}}{{/when}}",
            "»when« there is no block `when` / blocks are `if`, `unless`, `each` and `with`",
        ),
        ("{{#if}}{{/if}}", "»if« `#if` needs a value"),
    ] {
        assert_eq!(template(text).1, [format!("invalid-template: {expected}")], "{text}");
    }
}

/// A collection as text: lists in brackets, maps in braces, texts between bars.
fn flow(text: &str) -> (String, Vec<String>) {
    fn show(flow: &inline::Flow<'_>) -> String {
        match &flow.kind {
            FlowKind::Scalar(text) => format!("|{text}|"),
            FlowKind::List(items) => {
                format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" "))
            }
            FlowKind::Map(entries) => {
                let entry = |e: &inline::FlowEntry<'_>| match &e.value {
                    Some(value) => format!("{}={}", e.key.value, show(value)),
                    None => e.key.value.to_owned(),
                };
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(" "))
            }
        }
    }
    let mut problems = Vec::new();
    let flow = inline::flow_collection(input(text), &mut problems);
    (show(&flow), shown(text, &problems))
}

#[test]
fn collections() {
    for (text, expected) in [
        ("[a, money back, image/jpeg, 3.5, +49]", "[|a| |money back| |image/jpeg| |3.5| |+49|]"),
        ("{a, b: c, \"d e\": \"f, g\", 'h': 'i'}", "{a b=|c| d e=|\"f, g\"| h=|'i'|}"),
        ("{\"a\":1,\"b\":[true]}", "{a=|1| b=[|true|]}"),
        ("[{{a}}, x {{b, c}} y]", "[|{{a}}| |x {{b, c}} y|]"),
        ("{a: {b: {c: d}}}", "{a={b={c=|d|}}}"),
        ("[a: b, c]", "[{a=|b|} |c|]"),
        ("[http://x.y/z, agent:a:before]", "[|http://x.y/z| |agent:a:before|]"),
        ("{a: Hotel[], b?: c}", "{a=|Hotel[]| b?=|c|}"),
        ("[it's, min(1, 2)]", "[|it's| |min(1, 2)|]"),
        ("[\n  a,\n  b,\n]", "[|a| |b|]"),
        ("{a: , b:}", "{a b}"),
        ("[]", "[]"),
        ("plain, text", "|plain, text|"),
    ] {
        let (shown, problems) = flow(text);
        assert_eq!(problems, Vec::<String>::new(), "{text}");
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn errors_in_collections() {
    assert_eq!(
        flow("[a, {b"),
        ("[|a| {b}]".into(), vec!["invalid-value: »[« `[` is never closed".into()])
    );
    let (shown, problems) = flow("[a, b} c");
    assert_eq!(shown, "|[a, b} c|");
    assert!(problems[0].starts_with("invalid-value: »}« unexpected `}`"), "{problems:?}");
    assert!(flow(&"[".repeat(10_000)).1[0].contains("64 levels"));
    assert!(flow("[\"a]").1[0].contains("no closing quote"));
}

#[test]
fn paths() {
    let path: Path = fine(" a.b[0] ", inline::path).value;
    assert_eq!(path.to_string(), "a.b[0]");
    assert_eq!(
        wrong("a + b", inline::path),
        "invalid-value: »+« expected `.` or `[` after `a`, found `+` / a path is written `name.field`"
    );
}
