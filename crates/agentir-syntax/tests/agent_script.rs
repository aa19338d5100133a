//! Every construct of Agent Script, by section of its specification, the mistakes, and where they
//! point.
//!
//! A message is shown as the text it underlines, between `»` and `«`, and what is said about it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use agentir_diagnostics::{Diagnostic, FileId};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Segment as Step, TypeKind};
use agentir_syntax::agent_script::{
    CollectForm, Data, Dialect, Document, Modifier, Options, Procedure, Record, Segment,
    StatementKind, Template, Value, interpolated, parse,
};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

fn read(text: &str) -> (Document<'_>, Vec<Diagnostic>) {
    read_as(text, None)
}

fn read_as(text: &str, dialect: Option<Dialect>) -> (Document<'_>, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let document = parse(FileId(0), text, Options { dialect }, &mut problems);
    (document, problems)
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

/// Reads without problems.
fn fine(text: &str) -> Document<'_> {
    let (document, problems) = read(text);
    assert_eq!(shown(text, &problems), Vec::<String>::new(), "{text}");
    document
}

/// What is said about a text.
fn said(text: &str) -> Vec<String> {
    shown(text, &read(text).1)
}

/// What is said about a text, after its first safe fix was applied until none is left.
fn mended(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..10 {
        let fix = read(&text).1.into_iter().find_map(|d| d.fix);
        let Some(fix) = fix else { return text };
        for edit in fix.edits.iter().rev() {
            text.replace_range(edit.span.range(), &edit.text);
        }
    }
    panic!("the fixes never end: {text}");
}

/// A subagent with this prompt, indented by four.
fn prompt(statements: &str) -> String {
    let mut text =
        "subagent a:\n  description: \"d\"\n  reasoning:\n    instructions: ->\n".to_owned();
    for line in statements.lines() {
        writeln!(text, "      {line}").unwrap();
    }
    text
}

fn subagent<'d, 's>(document: &'d Document<'s>) -> &'d Record<'s> {
    document.root.records("subagent").next().unwrap()
}

fn steps<'d, 's>(document: &'d Document<'s>) -> &'d Procedure<'s> {
    subagent(document).record("reasoning").unwrap().procedure("instructions").unwrap()
}

/// The value of `set @variables.x = …`, as the tree prints it.
fn expr(text: &str) -> Expr {
    let text = prompt(&format!("set @variables.x = {text}"));
    let document = fine(&text);
    match &steps(&document).statements[0].kind {
        StatementKind::Set { value, .. } => value.clone(),
        other => panic!("{other:?}"),
    }
}

fn printed(text: &str) -> String {
    expr(text).to_string()
}

/// What is said about an expression.
fn wrong(text: &str) -> String {
    let text = prompt(&format!("set @variables.x = {text}"));
    said(&text).join("\n")
}

// ---- 1. Structure --------------------------------------------------------------------------------

#[test]
fn any_deeper_column_is_a_level() {
    let document = fine("system:\n instructions: \"a\"\nconfig:\n        agent_name: \"b\"\n");
    assert_eq!(document.root.record("system").unwrap().text("instructions").unwrap().text(), "a");
    assert_eq!(document.root.record("config").unwrap().text("agent_name").unwrap().text(), "b");
}

#[test]
fn tabs_byte_order_marks_and_carriage_returns() {
    let document = fine(
        "\u{feff}system:\r\n\tinstructions: |\r\n\t\tOne\r\n\t\t Two\r\n\r\nconfig:\r\n\tagent_name: \"b\"\r\n",
    );
    let text = document.root.record("system").unwrap().text("instructions").unwrap().text();
    assert_eq!(text, "One\n Two");
    assert!(document.root.record("config").is_some());
}

#[test]
fn a_tab_is_three_columns() {
    // Three spaces and a tab are the same column.
    let document = fine("config:\n\tagent_name: \"b\"\n   role: \"c\"\n");
    assert_eq!(document.root.record("config").unwrap().fields.len(), 2);
}

#[test]
fn comment_lines_open_and_close_nothing() {
    let document =
        fine("config: # one\n      # two\n  agent_name: \"b\" # three\n# four\n  role: \"c\"\n");
    assert_eq!(document.root.record("config").unwrap().fields.len(), 2);
    assert_eq!(document.comments.len(), 4);
}

#[test]
fn a_line_between_two_levels() {
    let text = "config:\n    runtime:\n            streaming: True\n      role: \"c\"\n      company: \"d\"\n";
    assert_eq!(
        said(text),
        [
            "inconsistent-indentation: »      « this line is indented less than the lines above it, but more than what they belong to / indent it by 12 to go on with the block above, or by 4 to leave it"
        ]
    );
    let (document, _) = read(text);
    assert_eq!(document.root.record("config").unwrap().fields.len(), 3, "it leaves the block");
}

#[test]
fn named_blocks() {
    let document = fine("subagent a:\n  description: \"x\"\nsubagent b:\n  description: \"y\"\n");
    let names: Vec<_> = document
        .root
        .records("subagent")
        .map(|r| {
            (r.name.as_ref().unwrap().value.to_string(), r.text("description").unwrap().text())
        })
        .collect();
    assert_eq!(names, [("a".into(), "x".into()), ("b".into(), "y".into())]);
    assert_eq!(
        said("subagent:\n  description: \"x\"\n"),
        ["syntax-error: »subagent« this subagent has no name / write `subagent name:`"]
    );
    assert_eq!(
        said("subagent my agent:\n  description: \"x\"\n"),
        ["syntax-error: »my agent« a name is one word / join the words with `_`"]
    );
    assert_eq!(
        said("config main:\n  role: \"x\"\n"),
        ["syntax-error: »main« `config` takes no name / write `config:`"]
    );
    assert_eq!(
        said("subagent a:\n  description: \"x\"\nsubagent a:\n  description: \"x\"\n"),
        ["duplicate-section: »a« there is a subagent `a` already"]
    );
    assert_eq!(
        said("start_agent a:\n  description: \"x\"\nstart_agent b:\n  description: \"x\"\n"),
        ["duplicate-section: »start_agent« there may only be one `start_agent`"]
    );
}

#[test]
fn scalars() {
    let document = fine(
        "config:\n  agent_label: \"My Agent\"\n  max_tokens: 42\n  temperature: .5\n  debug: True\n",
    );
    let config = document.root.record("config").unwrap();
    assert_eq!(config.text("agent_label").unwrap().text(), "My Agent");
    assert!(matches!(config.field("max_tokens").unwrap().value, Value::Number(n) if n == 42.0));
    assert!(matches!(config.field("temperature").unwrap().value, Value::Number(n) if n == 0.5));
    assert_eq!(config.bool("debug"), Some(true));
}

#[test]
fn sequences() {
    let text = "access:\n  sharing_policy:\n    custom_sharing_entities:\n      - \"Account\"\n      # none\n      - \"Case\"\n";
    let document = fine(text);
    let policy = document.root.record("access").unwrap().record("sharing_policy").unwrap();
    assert!(matches!(&policy.fields[0].value, Value::List(l) if l.len() == 2));
    let inline = text.replace(
        ":\n      - \"Account\"\n      # none\n      - \"Case\"",
        ": [\"Account\", \"Case\",]",
    );
    let document = fine(&inline);
    let policy = document.root.record("access").unwrap().record("sharing_policy").unwrap();
    assert!(matches!(&policy.fields[0].value, Value::List(l) if l.len() == 2));
    assert_eq!(
        said("system:\n  messages:\n    error: \"e\"\n    - \"x\"\n"),
        ["syntax-error: »-« expected a field of the messages block, found an item of a sequence"]
    );
}

#[test]
fn quoted_keys() {
    let text = "subagent a:\n  description: \"d\"\n  actions:\n    A:\n      target: \"flow://A\"\n      inputs:\n        \"Input:query\": string\n";
    let document = fine(text);
    let action = subagent(&document).records("actions").next().unwrap();
    assert_eq!(action.declarations("inputs")[0].name.value, "Input:query");
}

#[test]
fn brackets_and_backslashes_go_on() {
    let text = prompt(
        "set @variables.x = [\n  1, # one\n\n  2,\n]\nset @variables.y = 1 + \\\n  2\n| end",
    );
    let document = fine(&text);
    assert_eq!(steps(&document).statements.len(), 3);
}

// ---- 2. Types ------------------------------------------------------------------------------------

#[test]
fn declarations() {
    let text = "variables:\n  a: mutable string = \"x\"\n    description: \"d\"\n  b: linked number\n  c: mutable list[object] = []\n  d: mutable object = {}\n  e: mutable date = 2026-01-31\n";
    let document = fine(text);
    let variables = document.root.declarations("variables");
    let [a, b, c, _, e] = variables else { panic!("{variables:?}") };
    assert_eq!(a.modifier.unwrap().value, Modifier::Mutable);
    assert_eq!(a.ty.as_ref().unwrap().name(), Some("string"));
    assert_eq!(a.value.as_ref().unwrap().to_string(), "\"x\"");
    assert_eq!(a.properties.text("description").unwrap().text(), "d");
    assert_eq!(b.modifier.unwrap().value, Modifier::Linked);
    assert!(b.value.is_none());
    assert!(
        matches!(&c.ty.as_ref().unwrap().kind, TypeKind::Array(e) if e.name() == Some("object"))
    );
    assert!(
        matches!(&e.value.as_ref().unwrap().kind, ExprKind::Literal(Literal::Date(d)) if d == "2026-01-31")
    );
}

#[test]
fn wrong_declarations() {
    let one = |line: &str| said(&format!("variables:\n  a: {line}\n")).join("\n");
    assert_eq!(
        one("mutabel string"),
        "invalid-value: »mutabel« `mutabel` is no modifier / did you mean `mutable`?"
    );
    assert_eq!(
        one("mutable str"),
        "invalid-value: »str« there is no type `str` / did you mean `string`?"
    );
    assert_eq!(
        one("mutable map[string]"),
        "syntax-error: »map[string]« only `list` takes a type in brackets, not `map` / write `list[string]`"
            .replace("not `map`", "not `map[string]`")
    );
    assert_eq!(
        one("mutable list[list[string]]"),
        "syntax-error: »list[list[string]]« there are no lists of lists / write `list[object]`"
    );
    assert_eq!(
        one("mutable id"),
        "deprecated-field: »id« the type `id` is deprecated / write `string` instead"
    );
    assert_eq!(
        said("variables:\n  a:\n    description: \"d\"\n"),
        ["missing-field: »a« the variable `a` has no type / write `a: string`, or another type"]
    );
    assert_eq!(
        said("variables:\n  a__b: mutable string\n"),
        [
            "invalid-value: »a__b« `a__b` cannot be the name of a variable / it begins with a letter; letters, digits and single underscores follow"
        ]
    );
    assert_eq!(
        said("variables:\n  a: mutable string\n  a: mutable string\n"),
        ["duplicate-field: »a« there is a variable `a` already"]
    );
}

// ---- 3. Expressions ------------------------------------------------------------------------------

#[test]
fn precedence() {
    assert_eq!(printed("not @a.b == 1 and @c.d or @e.f"), "NOT @a.b == 1 AND @c.d OR @e.f");
    let e = expr("not @a.b == 1");
    assert!(matches!(e.kind, ExprKind::Unary { .. }), "{e:?}");
    assert_eq!(printed("1 + 2 * 3 - -4 / +5"), "1 + 2 * 3 - -(4) / +5");
    assert_eq!(printed("(1 + 2) * 3"), "(1 + 2) * 3");
    assert_eq!(printed("(@a.b or @c.d) and @e.f"), "(@a.b OR @c.d) AND @e.f");
    let e = expr("@a.b if @c.d else 2 if @e.f else 3");
    let ExprKind::Conditional { otherwise, .. } = e.kind else { panic!("{e:?}") };
    assert!(matches!(otherwise.kind, ExprKind::Conditional { .. }));
}

#[test]
fn comparisons_have_their_own_operators() {
    for (text, op) in [
        ("@a.b == 1", BinaryOp::StrictEqual),
        ("@a.b != 1", BinaryOp::StrictNotEqual),
        ("@a.b is None", BinaryOp::Is),
        ("@a.b is not None", BinaryOp::IsNot),
        ("@a.b <= 1", BinaryOp::LessEqual),
    ] {
        let e = expr(text);
        assert!(matches!(e.kind, ExprKind::Binary { op: o, .. } if o == op), "{e:?}");
    }
}

#[test]
fn references_and_members() {
    let e = expr("@outputs.items[0].id[\"x\"].set");
    let path = e.as_path().unwrap();
    assert_eq!(path.namespace.as_ref().unwrap().value, "outputs");
    assert_eq!(path.root.value, "items");
    assert_eq!(path.segments.len(), 4);
    assert!(matches!(path.segments[0], Step::Index(0)));
    assert!(matches!(expr("@a.b[@c.d]").kind, ExprKind::Subscript { .. }));
    assert!(matches!(expr("@a.b[-1]").kind, ExprKind::Subscript { .. }));
    assert!(matches!(expr("f(1).x").kind, ExprKind::Member { .. }));
}

#[test]
fn calls_lists_and_objects() {
    assert_eq!(printed("len(@a.b) + max(1, 2,)"), "len(@a.b) + max(1, 2)");
    assert_eq!(
        printed("a2a.message({parts: [a2a.textPart(@e.x)], \"k\": {}})"),
        "a2a.message({parts: [a2a.textPart(@e.x)], k: {}})"
    );
    assert_eq!(printed("[1, *@a.b, f(*@c.d)]"), "[1, *@a.b, f(*@c.d)]");
    assert_eq!(printed("[]"), "[]");
}

#[test]
fn literals() {
    assert!(matches!(expr("5.").kind, ExprKind::Literal(Literal::Number(n)) if n == 5.0));
    assert!(matches!(expr(".5").kind, ExprKind::Literal(Literal::Number(n)) if n == 0.5));
    assert!(matches!(expr("2026-01-31T08:30:00Z").kind, ExprKind::Literal(Literal::Date(_))));
    assert!(matches!(expr("None").kind, ExprKind::Literal(Literal::Null)));
    assert!(matches!(expr("...").kind, ExprKind::Ellipsis));
    let ExprKind::Literal(Literal::String(s)) = expr(r#""a\"b\\\n\t\'""#).kind else { panic!() };
    assert_eq!(s, "a\"b\\\n\t'");
}

#[test]
fn wrong_expressions() {
    assert_eq!(wrong("'x'"), "syntax-error: »'x'« texts stand in double quotes / write `\"…\"`");
    assert_eq!(
        wrong(r#""a\d""#).split(" / ").next().unwrap(),
        r"invalid-value: »\d« `\d` is no escape of Agent Script"
    );
    assert_eq!(
        wrong("\"abc").split(" / ").next().unwrap(),
        "unterminated-string: »\"« this text has no closing `\"` on its line"
    );
    assert_eq!(
        wrong("1 +"),
        "syntax-error: »+« expected a value after `+` / an assignment is written `set @variables.name = value`"
    );
    assert_eq!(wrong("(1"), "syntax-error: »(« `(` is never closed / add `)`");
    assert_eq!(
        wrong("[1)"),
        "syntax-error: »)« `)` does not close `[` / an assignment is written `set @variables.name = value`"
    );
    assert_eq!(
        wrong("@variables"),
        "syntax-error: »@variables« `@variables` names no member / write `@variables.name`"
    );
    assert_eq!(
        wrong("@a.b in [1]").split(" / ").next().unwrap(),
        "syntax-error: »in« Agent Script has no operator `in`"
    );
    assert_eq!(wrong("@a.b % 2"), "syntax-error: »%« Agent Script has no operator `%`");
    assert_eq!(
        wrong("1 < 2 < 3"),
        "syntax-error: »<« `<` cannot follow another comparison / compare in two steps, joined by `and`"
    );
    assert_eq!(wrong("(@a.b)(1)").split(" / ").next().unwrap(), "");
    assert_eq!(
        wrong("[1](1)").split(" / ").next().unwrap(),
        "syntax-error: »[1]« only functions can be called, by their names"
    );
}

#[test]
fn slips_are_understood_and_mended() {
    for (slip, meant) in [
        ("@a.b === 1", "@a.b == 1"),
        ("@a.b && @c.d || !@e.f", "@a.b and @c.d or not @e.f"),
        ("true", "True"),
        ("null", "None"),
        ("'x'", "\"x\""),
    ] {
        assert_eq!(
            mended(&prompt(&format!("set @variables.x = {slip}"))),
            prompt(&format!("set @variables.x = {meant}"))
        );
    }
}

// ---- 5. Statements -------------------------------------------------------------------------------

#[test]
fn procedures_with_and_without_the_arrow() {
    for text in [
        "subagent a:\n  description: \"d\"\n  before_reasoning:\n    set @variables.x = 1\n",
        "subagent a:\n  description: \"d\"\n  before_reasoning: ->\n    set @variables.x = 1\n",
        "subagent a:\n  description: \"d\"\n  before_reasoning:->\n    set x = 1\n",
    ] {
        let document = fine(text);
        let procedure = subagent(&document).procedure("before_reasoning").unwrap();
        assert_eq!(procedure.statements.len(), 1);
        assert_eq!(procedure.arrow.is_some(), text.contains("->"));
    }
}

#[test]
fn run_and_its_clauses() {
    let text = prompt(
        "run @actions.A # why\n  with a=@variables.a, b = ...\n  with \"c:d\"=1\n  set @variables.x = @outputs.y\n  run @actions.B\n    with e=2\n  transition to @subagent.b",
    );
    let document = fine(&text);
    let StatementKind::Run { action, with, body } = &steps(&document).statements[0].kind else {
        panic!()
    };
    assert_eq!(action.to_string(), "@actions.A");
    let names: Vec<_> = with.iter().map(|w| w.name.value.as_str()).collect();
    assert_eq!(names, ["a", "b", "c:d"]);
    assert!(matches!(with[1].value.kind, ExprKind::Ellipsis));
    assert_eq!(body.len(), 3);
    assert!(matches!(&body[1].kind, StatementKind::Run { with, .. } if with.len() == 1));
}

#[test]
fn conditions() {
    let text = prompt(
        "if @variables.a:\n  | A\nelse if @variables.b == 1:\n  | B\nelse if not @variables.c:\n  | C\nelse:\n  | D\nif @variables.e:\n  if @variables.f:\n    | F\n  else:\n    | G",
    );
    let document = fine(&text);
    let StatementKind::If { branches, otherwise } = &steps(&document).statements[0].kind else {
        panic!()
    };
    assert_eq!(branches.len(), 3);
    assert_eq!(otherwise.as_ref().unwrap().len(), 1);
    let StatementKind::If { branches, otherwise } = &steps(&document).statements[1].kind else {
        panic!()
    };
    assert!(otherwise.is_none(), "the `else` belongs to the inner one");
    assert_eq!(branches[0].body.len(), 1);
}

#[test]
fn wrong_conditions() {
    let one = |lines: &str| said(&prompt(lines)).join("\n");
    assert_eq!(
        one("if @a.b:\n  | x\nelif @c.d:\n  | y"),
        "syntax-error: »elif« Agent Script has no `elif` / write `else if`"
    );
    assert_eq!(
        one("if @a.b\n  | x"),
        "syntax-error: »if @a.b« a colon is missing at the end of this line"
    );
    assert_eq!(
        one("if @a.b:\n  | x\nelse\n  | y"),
        "syntax-error: »else« a colon is missing at the end of this line"
    );
    assert_eq!(
        one("else:\n  | y"),
        "syntax-error: »else« this `else` follows no `if` / indent it like the `if` it belongs to"
    );
    assert_eq!(
        one("if @a.b: set @c.d = 1"),
        "syntax-error: »set« what the condition decides about goes on the next line / write it below `if …:`, indented"
    );
    assert_eq!(
        one("if (@a.b > 5 and (@c.d < 10):\n  run @actions.A"),
        "invalid-expression: »(« `(` is never closed / add `)`"
    );
    assert_eq!(
        mended(&prompt("if @a.b\n  | x\nelif @c.d = 1:\n  | y")),
        prompt("if @a.b:\n  | x\nelse if @c.d == 1:\n  | y")
    );
}

#[test]
fn transitions() {
    let text = prompt("transition to @subagent.b");
    let document = fine(&text);
    assert!(
        matches!(&steps(&document).statements[0].kind, StatementKind::Transition { targets, .. } if targets.len() == 1)
    );
    assert_eq!(
        said(&prompt("transition @subagent.b")),
        [
            "syntax-error: »@subagent.b« `to` is missing behind `transition` / write `transition to @subagent.name`"
        ]
    );
    assert_eq!(mended(&prompt("transition @subagent.b")), prompt("transition to @subagent.b"));
    assert_eq!(
        said(&prompt("transition")),
        [
            "syntax-error: »« expected where to, found nothing / write `transition to @subagent.name`"
        ]
    );
}

#[test]
fn collect_and_ask_for() {
    let text = prompt(
        "collect @variables.a\n  message: \"What is it?\"\nask for @variables.b\n  instructions: |\n    Ask politely",
    );
    let document = fine(&text);
    let all: Vec<_> = steps(&document)
        .statements
        .iter()
        .map(|s| match &s.kind {
            StatementKind::Collect { form, properties, .. } => (*form, properties.fields.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(all, [(CollectForm::Collect, 1), (CollectForm::AskFor, 1)]);
    let old = format!("# @dialect: agentforce=3.2\n{}", prompt("collect @variables.a"));
    assert_eq!(
        said(&old),
        ["deprecated-field: »collect« `collect` is deprecated / write `ask for` instead"]
    );
}

#[test]
fn tools_of_the_model() {
    let text = "subagent a:\n  description: \"d\"\n  reasoning:\n    actions:\n      go: @utils.transition to @subagent.b\n        description: \"x\"\n        available when @variables.ok == True\n      look: @actions.Look\n        label: \"y\"\n        available when not @variables.a\n        with id=...\n        set @variables.s = @outputs.s\n        if @variables.s:\n          transition to @subagent.c\n      end: @utils.end_session\n";
    let document = fine(text);
    let bindings = subagent(&document).record("reasoning").unwrap().bindings("actions");
    assert_eq!(bindings.len(), 3);
    assert_eq!(bindings[0].targets.len(), 1);
    assert_eq!(bindings[0].available.len(), 1);
    assert_eq!(bindings[1].with.len(), 1);
    assert_eq!(bindings[1].body.len(), 2);
    assert_eq!(bindings[1].properties.text("label").unwrap().text(), "y");
    let broken = text.replace("@utils.transition to", "go to");
    assert_eq!(
        said(&broken),
        [
            "invalid-value: »go« `go` is nothing a tool could do / write `@utils.transition to @subagent.name`"
        ]
    );
    assert_eq!(mended(&broken), text);
    assert_eq!(
        said(&text.replace("available when not", "available not")),
        [
            "syntax-error: »not« `when` is missing behind `available` / write `available when @variables.ready`"
        ]
    );
    assert_eq!(
        said(&text.replace(": @utils.end_session", ":")),
        ["missing-field: »end« the tool `end` does nothing / write `end: @actions.name`"]
    );
}

#[test]
fn a_bad_line_costs_that_line() {
    let text = prompt(
        "set @variables.x = \nrunn @actions.A\n  with a=1\n| text\nif @a.b and:\n  | inner {!@a.}\nset @variables.y = 1",
    );
    let all = said(&text);
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!(
        all[0],
        "syntax-error: »=« expected a value after `=` / an assignment is written `set @variables.name = value`"
    );
    assert_eq!(
        all[1],
        "syntax-error: »runn« `runn` is no statement of Agent Script / did you mean `run`?"
    );
    let (document, _) = read(&text);
    assert_eq!(steps(&document).statements.len(), 5);
    assert!(matches!(steps(&document).statements[4].kind, StatementKind::Set { .. }));
}

#[test]
fn statements_where_they_have_no_effect() {
    assert_eq!(
        said(
            "subagent a:\n  description: \"d\"\n  before_reasoning:\n    | text\n    if @a.b:\n      | more\n"
        ),
        [
            "misplaced-statement: »|« there is no prompt here that a text could be added to / texts belong into `reasoning.instructions`",
            "misplaced-statement: »|« there is no prompt here that a text could be added to / texts belong into `reasoning.instructions`",
        ]
    );
    assert_eq!(
        said(&prompt("with a=1")),
        [
            "misplaced-statement: »with« `with` belongs to no action here / indent it below the `run` that it is for"
        ]
    );
    assert_eq!(
        said(&prompt("Tell the user hello")),
        [
            "syntax-error: »Tell the user hello« expected a statement, found `Tell the user hello` / write texts for the model behind `|`"
        ]
    );
    assert_eq!(
        said(&prompt("for x in y:\n  | z")),
        [
            "syntax-error: »for« `for` is no statement of Agent Script / statements are `|`, `set`, `run`, `if`, `transition`"
        ]
    );
}

// ---- 6. Templates --------------------------------------------------------------------------------

fn instructions(text: &str) -> (String, usize) {
    let document = fine(text);
    let template: &Template<'_> =
        document.root.record("system").unwrap().text("instructions").unwrap();
    (template.text(), template.holes.len())
}

#[test]
fn template_text() {
    for (text, expected) in [
        ("system:\n  instructions: \"a\\n{!@a.b}\"\n", "a\n{!@a.b}"),
        ("system:\n  instructions: |\n    One\n      Two\n\n    Three\n", "One\n  Two\n\nThree"),
        ("system:\n  instructions:|\n    One\n", "One"),
        ("system:\n  instructions: | One\n    Two\n", "One\nTwo"),
        ("system:\n  instructions: |\n\n\n    One\n", "\nOne"),
        (
            "system:\n  instructions: |\n    One\n   Two\n  strip_salesforce_instructions: True\n",
            " One\nTwo",
        ),
        ("system:\n  instructions: |\n      {!@a.b} x\n        {!@c.d}\n", "{!@a.b} x\n  {!@c.d}"),
        (
            "system:\n  instructions: |\n    # One\n  # no text\n    Two # three\n",
            "# One\nTwo # three",
        ),
        ("system:\n  instructions: |\n", ""),
    ] {
        assert_eq!(instructions(text).0, expected, "{text}");
    }
}

#[test]
fn prompt_lines_lose_what_the_bar_indents() {
    let text = prompt("| One\n  Two\n    Three\n|Four\n| ");
    let document = fine(&text);
    let texts: Vec<_> = steps(&document)
        .statements
        .iter()
        .map(|s| match &s.kind {
            StatementKind::Template(t) => t.text(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["One\nTwo\n  Three", "Four", ""]);
}

#[test]
fn holes() {
    let text = "system:\n  instructions: |\n    Hi {!@a.name}, {! @a.n + 1 } of {!len(@a.l)} {!\"}\" if @a.b else {}}\n";
    let document = fine(text);
    let template = document.root.record("system").unwrap().text("instructions").unwrap();
    assert_eq!(template.holes.len(), 4);
    let second = &template.holes[1];
    assert_eq!(&text[second.span.range()], "{! @a.n + 1 }");
    let expr = second.expr.as_ref().unwrap();
    assert_eq!(&text[expr.span.range()], "@a.n + 1");
    assert!(matches!(template.segments()[0], Segment::Text(ref t) if t == "Hi "));
}

#[test]
fn holes_in_strings_of_expressions() {
    let text = prompt("set @variables.x = \"Turn {!@a.n}\"");
    let document = fine(&text);
    let StatementKind::Set { value, .. } = &steps(&document).statements[0].kind else { panic!() };
    let mut problems = Vec::new();
    let template = interpolated(&text[value.span.range()], value.span, &mut problems);
    assert_eq!(template.holes.len(), 1);
    assert_eq!(&text[template.holes[0].span.range()], "{!@a.n}");
}

#[test]
fn what_has_no_place_stays_in_the_tree() {
    let text = "config:\n  role: \"x\"\n    deeper: 1\n- item\nset @a.b = 1\n";
    let (document, problems) = read(text);
    assert_eq!(problems.len(), 3, "{:?}", shown(text, &problems));
    let config = document.root.record("config").unwrap();
    assert_eq!(config.unknown[0].key.as_ref().unwrap().value, "deeper");
    assert_eq!(document.root.unknown.len(), 2);
}

#[test]
fn wrong_holes() {
    let one =
        |hole: &str| said(&format!("system:\n  instructions: |\n    a {hole} b\n")).join("\n");
    assert_eq!(
        one("{!}").split(" / ").next().unwrap(),
        "invalid-template: »{!}« nothing stands in these braces"
    );
    assert_eq!(one("{!@a.b"), "invalid-template: »{!« this `{!` has no closing `}`");
    assert_eq!(one("{!@a.b +}"), "invalid-template: »+« expected a value after `+`");
    assert_eq!(one("{!@a}"), "invalid-template: »@a« `@a` names no member / write `@a.name`");
    assert_eq!(one("{ x } {{y}} }"), "");
}

#[test]
fn constant_texts_take_no_template() {
    assert_eq!(
        said("subagent a:\n  description: \"d\"\n  label: |\n    x\n"),
        ["invalid-value: »|« `label` takes a text in quotes, not a text behind `|`"]
    );
    assert_eq!(
        said("subagent a:\n  description: \"d\"\n  label: \"{!@a.b}\"\n"),
        ["invalid-value: »{!@a.b}« `label` takes a constant text, without holes"]
    );
}

// ---- 7. Actions, and the tables ------------------------------------------------------------------

#[test]
fn actions() {
    let text = "subagent a:\n  description: \"d\"\n  actions:\n    Look:\n      description: \"x\"\n      target: \"flow://Look\"\n      inputs:\n        id: string\n          is_required: True\n        limit: number = 5\n        key: @variables.key\n      outputs:\n        items: list[object]\n          description: \"y\"\n";
    let document = fine(text);
    let action = subagent(&document).records("actions").next().unwrap();
    assert_eq!(action.name.as_ref().unwrap().value, "Look");
    let inputs = action.declarations("inputs");
    assert_eq!(inputs[0].properties.bool("is_required"), Some(true));
    assert_eq!(inputs[1].value.as_ref().unwrap().to_string(), "5");
    assert!(inputs[2].ty.is_none() && inputs[2].value.is_some());
    assert_eq!(
        said(&text.replace("      target: \"flow://Look\"\n", "")),
        [
            "missing-field: »Look« the action `Look` has no `target` / add `target: \"…\"`: what carries it out, such as `flow://Name`"
        ]
    );
}

#[test]
fn unknown_names() {
    assert_eq!(
        said("sytem:\n  instructions: \"x\"\n"),
        ["unknown-section: »sytem« `sytem` is no block of agentforce / did you mean `system`?"]
    );
    assert_eq!(
        said("config:\n  agent_nmae: \"x\"\n"),
        [
            "unknown-field: »agent_nmae« `agent_nmae` is no field of the config block / did you mean `agent_name`?"
        ]
    );
    assert_eq!(
        said("reasoning:\n  instructions: ->\n    if @a.b and:\n      | x\n"),
        [
            "unknown-section: »reasoning« `reasoning` is no block of agentforce / `reasoning` is a field of a subagent",
            "invalid-expression: »:« expected a value after `and`, found `:` / a condition is written `if @variables.ready:`",
        ]
    );
    let (document, _) = read(
        "foo bar:\n  a: mutable string = \"\"\n  b: @utils.transition to @subagent.x\n  c:\n    - 1\n",
    );
    let unknown = &document.root.unknown[0];
    assert_eq!(unknown.name.as_ref().unwrap().value, "bar");
    let Data::Map(fields) = &unknown.data else { panic!("{unknown:?}") };
    assert!(matches!(&fields[0].data, Data::Declared(d, _) if d.value.is_some()));
    assert!(matches!(&fields[1].data, Data::Bound(_, targets, _) if targets.len() == 1));
    assert!(matches!(&fields[2].data, Data::List(items) if items.len() == 1));
}

#[test]
fn wrong_values() {
    let one = |line: &str| said(&format!("config:\n  {line}\n")).join("\n");
    assert_eq!(
        one("debug: \"True\""),
        "invalid-value: »\"True\"« `debug` takes `True` or `False`, without quotes"
    );
    assert_eq!(one("debug: 1"), "invalid-value: »1« `debug` takes `True` or `False`, not `1`");
    assert_eq!(
        one("max_tokens: \"x\""),
        "invalid-value: »\"x\"« `max_tokens` takes a number, not a text"
    );
    assert_eq!(one("role: None"), "invalid-value: »None« `role` takes a text, not `None`");
    assert_eq!(
        one("role: Help desk"),
        "invalid-value: »Help desk« the text of `role` stands in no quotes / put it in double quotes"
    );
    assert_eq!(mended("config:\n  role: Help desk\n"), "config:\n  role: \"Help desk\"\n");
    assert_eq!(one("role:"), "invalid-value: »role« `role` has no value / expected a text");
    assert_eq!(
        one("role: \"a\"\n  role: \"b\""),
        "duplicate-field: »role« `role` is written twice"
    );
    assert_eq!(
        one("default_agent_user: None"),
        "deprecated-field: »default_agent_user« `default_agent_user` is deprecated / write `default_agent_user` in `access` instead"
    );
    assert_eq!(
        one("file_upload:\n    mode: \"manged\""),
        "invalid-value: »\"manged\"« `mode` cannot be `manged` / did you mean `\"managed\"`?"
    );
    assert_eq!(
        said("variables:\n  a: linked string\n    source: @foo.bar\n"),
        [
            "invalid-value: »@foo.bar« `source` cannot refer to `@foo` / it takes members of `@MessagingSession`, `@MessagingEndUser`, `@VoiceCall`"
        ]
    );
    assert_eq!(
        said("modality voice:\n  outbound_speed: 3\n  anything: \"x\"\n"),
        ["invalid-value: »3« `outbound_speed` goes from 0.5 to 2"]
    );
    assert_eq!(
        said("connected_subagent a:\n  target: \"billing\"\n"),
        ["invalid-value: »\"billing\"« `target` is an address: `scheme://name`"]
    );
    assert_eq!(
        said("subagent a:\n  description: \"d\"\n    label: \"x\"\n"),
        [
            "invalid-value: »l« nothing can stand below `description` / indent this line like `description`, if it is no part of it"
        ]
    );
    assert_eq!(
        said("subagent a:\n  description: \"d\"\n  parameters:\n    x: 1\n"),
        ["unknown-field: »parameters« `parameters` means something only together with `schema`"]
    );
    assert_eq!(
        said("topic a:\n  description: \"d\"\n"),
        ["deprecated-field: »topic« `topic` is deprecated / write `subagent` instead"]
    );
}

#[test]
fn connection_types() {
    let text = "connection messaging:\n  response_formats:\n    choices:\n      description: \"d\"\n      inputs:\n        options:\n          is_required: True\n          type: list\n            value: object\n              fields:\n                title: string\n                kind:\n                  type: string\n                    enum:\n                      - \"a\"\n                      - \"b\"\n";
    let document = fine(text);
    let connection = document.root.records("connection").next().unwrap();
    let format = connection.records("response_formats").next().unwrap();
    let options = &format.declarations("inputs")[0];
    let Value::Type(list) = &options.properties.field("type").unwrap().value else { panic!() };
    assert_eq!(list.ty.name(), Some("list"));
    let Value::Type(value) = &list.properties.field("value").unwrap().value else { panic!() };
    assert_eq!(value.properties.declarations("fields").len(), 2);
}

// ---- Dialects ------------------------------------------------------------------------------------

#[test]
fn dialects_are_named_given_or_found_out() {
    let (document, _) = read_as("config:\n  role: \"x\"\n", None);
    assert_eq!(document.dialect, Dialect::Agentforce);
    let (document, problems) = read_as("config:\n  role: \"x\"\n", Some(Dialect::AgentScript));
    assert_eq!(document.dialect, Dialect::AgentScript);
    assert_eq!(problems.len(), 1);
    let (document, _) =
        read_as("# @dialect: AgentForce=3.1\nconfig:\n  role: \"x\"\n", Some(Dialect::AgentScript));
    assert_eq!(document.dialect, Dialect::Agentforce);
    assert_eq!(document.version.unwrap().value.to_string(), "3.1");
    let (document, _) = read("executor a:\n  do:\n    set @variables.x = 1\n");
    assert_eq!(document.dialect, Dialect::Agentfabric);
    assert_eq!(
        said("# @dialect: agentfroce\nconfig:\n  role: \"x\"\n"),
        [
            "unknown-dialect: »agentfroce« there is no dialect `agentfroce` / did you mean `agentforce`?"
        ]
    );
}

#[test]
fn agentfabric() {
    let text = "# @dialect: agentfabric=1.0-BETA\nconfig:\n  agent_name: \"x\"\n  default_llm: @llm.a\nllm:\n  a:\n    target: \"llm://openai\"\n    kind: \"OpenAI\"\n    model: \"gpt\"\n    reasoning_effort: \"low\"\ntrigger t:\n  kind: \"a2a\"\n  target: \"brokers://bus/in\"\n  on_message: ->\n    transition to @router.r\nrouter r:\n  routes:\n    - target: @echo.e\n      when: @request.headers[\"X-Y\"] != \"\"\n      label: \"a\"\n  otherwise:\n    target: @echo.e\necho e:\n  kind: \"a2a:status_update_event\"\n  state: \"DONE\"\n  message: a2a.message({\n    parts: [\n      a2a.textPart(@echo.e.input)\n    ]\n  })\n";
    let document = fine(text);
    let router = document.root.records("router").next().unwrap();
    assert_eq!(router.records("routes").count(), 1);
    assert_eq!(
        said(&text.replace("    transition to @router.r", "    set @variables.x = 1")),
        [
            "misplaced-statement: »set« only `transition` can stand here, not `set` / write `transition to @kind.name`"
        ]
    );
    assert_eq!(
        said(&text.replace("OpenAI", "Gemini")),
        [
            "unknown-field: »reasoning_effort« `reasoning_effort` belongs to `kind: \"OpenAI\"`, not to `\"Gemini\"`"
        ]
    );
    assert_eq!(
        said(&text.replace("brokers://bus/in", "brokers://bb")),
        [
            "invalid-value: »\"brokers://bb\"« `target` is the address of a connection: `brokers://name/name`"
        ]
    );
}

#[test]
fn templates_of_documents_say_one_thing() {
    let text = "config:\n  agent_name: {{name}}\n  debug: {{#if x}}\n{{#each topics}}\nsubagent {{this}}:\n  description: {{d}}\n";
    assert_eq!(
        said(text),
        [
            "unfilled-placeholder: »{{name}}« `{{name}}` still has to be filled in here and at 4 more places"
        ]
    );
    assert!(read(text).0.placeholders);
    fine("system:\n  instructions: \"say {{x}}\"\n");
}

// ---- Hostile texts -------------------------------------------------------------------------------

const SAMPLE: &str = "# @dialect: agentforce=3.1\nsystem:\n  instructions: |\n    Hi {!@a.b if @c.d else \"x\"}\n  messages:\n    error: \"e\"\nvariables:\n  a: mutable list[string] = [\"x\",\n    \"y\"]\n    description: \"d\"\nsubagent a:\n  description: \"ä\"\n  reasoning:\n    instructions: ->\n      if @a.b == \"x\":\n        | One {!len(@a.b)}\n          two\n      else if not (@c.d is not None):\n        run @actions.A\n          with a=..., b={\"k\": 1.5}\n          set @variables.x = @outputs.y[0].z\n      else:\n        transition to @subagent.b\n    actions:\n      go: @utils.transition to @subagent.b\n        available when @a.b\naccess:\n  sharing_policy:\n    custom_sharing_entities:\n      - \"A\"\n";

#[test]
fn every_prefix_is_read() {
    fine(SAMPLE);
    for (end, _) in SAMPLE.char_indices() {
        let (document, _) = read(&SAMPLE[..end]);
        assert!(document.root.span.end as usize <= end);
    }
}

#[test]
fn every_line_and_character_may_be_missing() {
    let lines: Vec<_> = SAMPLE.lines().collect();
    for i in 0..lines.len() {
        let mut rest = lines.clone();
        rest.remove(i);
        read(&rest.join("\n"));
    }
    for (at, c) in SAMPLE.char_indices() {
        let mut text = SAMPLE.to_owned();
        text.replace_range(at..at + c.len_utf8(), "");
        read(&text);
        text.insert(at, '"');
        read(&text);
    }
}

/// Reads the text made by `n` repetitions and by four times as many; the time may grow little more.
fn linear(what: &str, make: impl Fn(usize) -> String) {
    let time = |n| {
        let text = make(n);
        (0..3)
            .map(|_| {
                let start = Instant::now();
                let (document, problems) = read(&text);
                drop(document);
                drop(problems);
                start.elapsed()
            })
            .min()
            .unwrap()
    };
    let (once, four) = (time(10_000), time(40_000));
    if std::env::var_os("AGENTIR_VERBOSE").is_some() {
        eprintln!("{what}: {once:?}, {four:?}");
    }
    assert!(
        four < once * 10 + Duration::from_millis(50),
        "{what}: {once:?} for 10,000, {four:?} for 40,000"
    );
}

#[test]
fn hostile_texts_take_linear_time() {
    linear("parentheses", |n| prompt(&format!("set @a.b = {}1{}", "(".repeat(n), ")".repeat(n))));
    linear("open brackets", |n| prompt(&format!("set @a.b = {}", "[".repeat(n))));
    linear("prefixes", |n| prompt(&format!("set @a.b = {}1", "not ".repeat(n))));
    linear("sums", |n| prompt(&format!("set @a.b = 1{}", " + 1".repeat(n))));
    linear("ternaries", |n| prompt(&format!("set @a.b = 1{}", " if 1 else 1".repeat(n))));
    linear("conjunctions", |n| prompt(&format!("set @a.b = 1{}", " and 1".repeat(n))));
    linear("members", |n| prompt(&format!("set @a.b = @a.b{}", ".c".repeat(n))));
    linear("lists", |n| prompt(&format!("set @a.b = [{}]", "1,".repeat(n))));
    linear("types", |n| format!("variables:\n  a: mutable {}string\n", "list[".repeat(n)));
    linear("dashes", |n| format!("foo:\n{}x\n", "- ".repeat(n)));
    linear("conditions", |n| {
        let branch = "else if @a.b:\n  | x\n";
        prompt(&format!("if @a.b:\n  | x\n{}", branch.repeat(n / 4)))
    });
    linear("stray else", |n| prompt(&"else:\n".repeat(n)));
    linear("blocks", |n| "subagent a:\n  description: \"d\"\n".repeat(n / 10));
    linear("fields", |n| format!("config:\n{}", "  role: \"d\"\n".repeat(n)));
    linear("unknown fields", |n| format!("config:\n{}", "  rlo: \"d\"\n".repeat(n / 20)));
    linear("variables", |n| {
        let lines: String = (0..n).map(|i| format!("  v{i}: mutable string\n")).collect();
        format!("variables:\n{lines}")
    });
    linear("holes", |n| format!("system:\n  instructions: |\n    {}\n", "{!".repeat(n)));
    linear("blank lines", |n| prompt(&format!("set @a.b = [\n{}]", "\n".repeat(n))));
    linear("comments", |n| prompt(&format!("set @a.b = [\n{}  1]", "# x\n".repeat(n))));
    linear("quotes", |n| prompt(&format!("set @a.b = {}", "\"".repeat(n | 1))));
    linear("placeholders", |n| format!("config:\n  role: {}\n", "{{".repeat(n)));
    linear("words", |n| format!("{}:\n", "a ".repeat(n)));
    linear("words without colon", |n| "a ".repeat(n));
    linear("continued lines", |n| prompt(&format!("set @a.b = 1 {} + 2", "\\\n".repeat(n))));
}

#[test]
fn what_is_too_deep_is_said_once() {
    let mut text = "foo:\n".to_owned();
    for depth in 1..2_000 {
        writeln!(text, "{}a:", " ".repeat(depth)).unwrap();
    }
    let all = said(&text);
    assert!(
        all[0].starts_with("nesting-too-deep: »« nested more than 64 levels deep"),
        "{}",
        all[0]
    );
    assert_eq!(all.len(), 2);
    let all = said(&prompt(&format!("set @a.b = {}1{}", "(".repeat(10_000), ")".repeat(10_000))));
    assert_eq!(
        all,
        [
            "expression-too-deep: »(« this is nested too deep to be read / give names to parts of it, with `set`"
        ]
    );
}
