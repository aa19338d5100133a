//! Structure, types, expressions and statements (specification part I, 1 to 5).

use super::*;

// ---- 1. Structure --------------------------------------------------------------------------------

#[test]
fn any_deeper_column_is_a_level() {
    let document = parse_ok("system:\n instructions: \"a\"\nconfig:\n        agent_name: \"b\"\n");
    assert_eq!(document.root.record("system").unwrap().text("instructions").unwrap().text(), "a");
    assert_eq!(document.root.record("config").unwrap().text("agent_name").unwrap().text(), "b");
}

#[test]
fn tabs_byte_order_marks_and_carriage_returns() {
    let document = parse_ok(
        "\u{feff}system:\r\n\tinstructions: |\r\n\t\tOne\r\n\t\t Two\r\n\r\nconfig:\r\n\tagent_name: \"b\"\r\n",
    );
    let text = document.root.record("system").unwrap().text("instructions").unwrap().text();
    assert_eq!(text, "One\n Two");
    assert!(document.root.record("config").is_some());
}

#[test]
fn a_tab_is_three_columns() {
    // Three spaces and a tab are the same column.
    let document = parse_ok("config:\n\tagent_name: \"b\"\n   role: \"c\"\n");
    assert_eq!(document.root.record("config").unwrap().fields.len(), 2);
}

#[test]
fn comment_lines_do_not_affect_nesting() {
    let document = parse_ok(
        "config: # one\n      # two\n  agent_name: \"b\" # three\n# four\n  role: \"c\"\n",
    );
    assert_eq!(document.root.record("config").unwrap().fields.len(), 2);
    assert_eq!(document.comments.len(), 4);
}

#[test]
fn a_line_between_two_levels() {
    let text = "config:\n    runtime:\n            streaming: True\n      role: \"c\"\n      company: \"d\"\n";
    assert_eq!(
        diagnostics(text),
        [
            "inconsistent-indentation: »      « this line is indented less than the lines above it, but more than their parent / indent it by 12 to continue the block above, or by 4 to end it"
        ]
    );
    let (document, _) = read(text);
    assert_eq!(document.root.record("config").unwrap().fields.len(), 3, "it leaves the block");
}

#[test]
fn named_blocks() {
    let document =
        parse_ok("subagent a:\n  description: \"x\"\nsubagent b:\n  description: \"y\"\n");
    let names: Vec<_> = document
        .root
        .records("subagent")
        .map(|r| {
            (r.name.as_ref().unwrap().value.to_string(), r.text("description").unwrap().text())
        })
        .collect();
    assert_eq!(names, [("a".into(), "x".into()), ("b".into(), "y".into())]);
    assert_eq!(
        diagnostics("subagent:\n  description: \"x\"\n"),
        ["syntax-error: »subagent« this `subagent` has no name / write `subagent name:`"]
    );
    assert_eq!(
        diagnostics("subagent my agent:\n  description: \"x\"\n"),
        ["syntax-error: »my agent« a name must be one word / join the words with `_`"]
    );
    assert_eq!(
        diagnostics("config main:\n  role: \"x\"\n"),
        ["syntax-error: »main« `config` does not take a name / write `config:`"]
    );
    assert_eq!(
        diagnostics("subagent a:\n  description: \"x\"\nsubagent a:\n  description: \"x\"\n"),
        ["duplicate-section: »a« duplicate subagent `a`"]
    );
    assert_eq!(
        diagnostics("start_agent a:\n  description: \"x\"\nstart_agent b:\n  description: \"x\"\n"),
        ["duplicate-section: »start_agent« there can only be one `start_agent`"]
    );
}

#[test]
fn scalars() {
    let document = parse_ok(
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
    let document = parse_ok(text);
    let policy = document.root.record("access").unwrap().record("sharing_policy").unwrap();
    assert!(matches!(&policy.fields[0].value, Value::List(l) if l.len() == 2));
    let inline = text.replace(
        ":\n      - \"Account\"\n      # none\n      - \"Case\"",
        ": [\"Account\", \"Case\",]",
    );
    let document = parse_ok(&inline);
    let policy = document.root.record("access").unwrap().record("sharing_policy").unwrap();
    assert!(matches!(&policy.fields[0].value, Value::List(l) if l.len() == 2));
    assert_eq!(
        diagnostics("system:\n  messages:\n    error: \"e\"\n    - \"x\"\n"),
        ["syntax-error: »- \"x\"« expected a field of the messages block, found a sequence item"]
    );
}

#[test]
fn quoted_keys() {
    let text = "subagent a:\n  description: \"d\"\n  actions:\n    A:\n      target: \"flow://A\"\n      inputs:\n        \"Input:query\": string\n";
    let document = parse_ok(text);
    let action = subagent(&document).records("actions").next().unwrap();
    assert_eq!(action.declarations("inputs")[0].name.value, "Input:query");
}

#[test]
fn brackets_and_backslashes_continue_the_line() {
    let text = prompt(
        "set @variables.x = [\n  1, # one\n\n  2,\n]\nset @variables.y = 1 + \\\n  2\n| end",
    );
    let document = parse_ok(&text);
    assert_eq!(steps(&document).statements.len(), 3);
}

// ---- 2. Types ------------------------------------------------------------------------------------

#[test]
fn declarations() {
    let text = "variables:\n  a: mutable string = \"x\"\n    description: \"d\"\n  b: linked number\n  c: mutable list[object] = []\n  d: mutable object = {}\n  e: mutable date = 2026-01-31\n";
    let document = parse_ok(text);
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
    let one = |line: &str| diagnostics(&format!("variables:\n  a: {line}\n")).join("\n");
    assert_eq!(
        one("mutabel string"),
        "invalid-value: »mutabel« unknown modifier `mutabel` / did you mean `mutable`?"
    );
    assert_eq!(
        one("mutable str"),
        "invalid-value: »str« unknown type `str` / did you mean `string`?"
    );
    assert_eq!(
        one("mutable map[string]"),
        "syntax-error: »map[string]« only `list` takes a type in brackets, not `map` / write `list[string]`"
            .replace("not `map`", "not `map[string]`")
    );
    assert_eq!(
        one("mutable list[list[string]]"),
        "syntax-error: »list[list[string]]« lists of lists are not supported / write `list[object]`"
    );
    assert_eq!(
        one("mutable id"),
        "deprecated-field: »id« the type `id` is deprecated / write `string` instead"
    );
    assert_eq!(
        diagnostics("variables:\n  a:\n    description: \"d\"\n"),
        ["missing-field: »a« the variable `a` has no type / write `a: string`, or another type"]
    );
    assert_eq!(
        diagnostics("variables:\n  a__b: mutable string\n"),
        [
            "invalid-value: »a__b« `a__b` cannot be the name of a variable / names begin with a letter, followed by letters, digits and single underscores"
        ]
    );
    assert_eq!(
        diagnostics("variables:\n  a: mutable string\n  a: mutable string\n"),
        ["duplicate-field: »a« duplicate variable `a`"]
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
    assert_eq!(
        diagnostics_of("'x'"),
        "syntax-error: »'x'« strings must be in double quotes / write `\"…\"`"
    );
    assert_eq!(
        diagnostics_of(r#""a\d""#).split(" / ").next().unwrap(),
        r"invalid-value: »\d« unknown escape `\d`"
    );
    assert_eq!(
        diagnostics_of("\"abc").split(" / ").next().unwrap(),
        "unterminated-string: »\"« this string has no closing `\"` on its line"
    );
    assert_eq!(
        diagnostics_of("1 +"),
        "syntax-error: »+« expected a value after `+` / an assignment is written `set @variables.name = value`"
    );
    assert_eq!(diagnostics_of("(1"), "syntax-error: »(« `(` is never closed / add `)`");
    assert_eq!(
        diagnostics_of("[1)"),
        "syntax-error: »)« `)` does not close `[` / an assignment is written `set @variables.name = value`"
    );
    assert_eq!(
        diagnostics_of("@variables"),
        "syntax-error: »@variables« `@variables` is not a value by itself / write `@variables.name`"
    );
    assert_eq!(
        diagnostics_of("@a.b in [1]").split(" / ").next().unwrap(),
        "syntax-error: »in« Agent Script has no operator `in`"
    );
    assert_eq!(diagnostics_of("@a.b % 2"), "syntax-error: »%« Agent Script has no operator `%`");
    assert_eq!(
        diagnostics_of("1 < 2 < 3"),
        "syntax-error: »<« comparisons cannot be chained / write two comparisons joined by `and`"
    );
    assert_eq!(diagnostics_of("(@a.b)(1)").split(" / ").next().unwrap(), "");
    assert_eq!(
        diagnostics_of("[1](1)").split(" / ").next().unwrap(),
        "syntax-error: »[1]« only functions can be called, and only by name"
    );
}

#[test]
fn syntax_of_other_languages_is_accepted_and_fixed() {
    for (written, expected) in [
        ("@a.b === 1", "@a.b == 1"),
        ("@a.b && @c.d || !@e.f", "@a.b and @c.d or not @e.f"),
        ("true", "True"),
        ("null", "None"),
        ("'x'", "\"x\""),
    ] {
        assert_eq!(
            fixed(&prompt(&format!("set @variables.x = {written}"))),
            prompt(&format!("set @variables.x = {expected}"))
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
        let document = parse_ok(text);
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
    let document = parse_ok(&text);
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
    let document = parse_ok(&text);
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
    let one = |lines: &str| diagnostics(&prompt(lines)).join("\n");
    assert_eq!(
        one("if @a.b:\n  | x\nelif @c.d:\n  | y"),
        "syntax-error: »elif« Agent Script has no `elif` / write `else if`"
    );
    assert_eq!(
        one("if @a.b\n  | x"),
        "syntax-error: »if @a.b« expected `:` at the end of this line"
    );
    assert_eq!(
        one("if @a.b:\n  | x\nelse\n  | y"),
        "syntax-error: »else« expected `:` at the end of this line"
    );
    assert_eq!(
        one("else:\n  | y"),
        "syntax-error: »else« this `else` has no matching `if` / indent it like the `if` it belongs to"
    );
    assert_eq!(
        one("if @a.b: set @c.d = 1"),
        "syntax-error: »set« the statements of an `if` must begin on the next line / write them below `if …:`, indented"
    );
    assert_eq!(
        one("if (@a.b > 5 and (@c.d < 10):\n  run @actions.A"),
        "invalid-expression: »(« `(` is never closed / add `)`"
    );
    assert_eq!(
        fixed(&prompt("if @a.b\n  | x\nelif @c.d = 1:\n  | y")),
        prompt("if @a.b:\n  | x\nelse if @c.d == 1:\n  | y")
    );
}

#[test]
fn transitions() {
    let text = prompt("transition to @subagent.b");
    let document = parse_ok(&text);
    assert!(
        matches!(&steps(&document).statements[0].kind, StatementKind::Transition { targets, .. } if targets.len() == 1)
    );
    assert_eq!(
        diagnostics(&prompt("transition @subagent.b")),
        [
            "syntax-error: »@subagent.b« expected `to` after `transition` / write `transition to @subagent.name`"
        ]
    );
    assert_eq!(fixed(&prompt("transition @subagent.b")), prompt("transition to @subagent.b"));
    assert_eq!(
        diagnostics(&prompt("transition")),
        ["syntax-error: »« expected a target / write `transition to @subagent.name`"]
    );
}

#[test]
fn collect_and_ask_for() {
    let text = prompt(
        "collect @variables.a\n  message: \"What is it?\"\nask for @variables.b\n  instructions: |\n    Ask politely",
    );
    let document = parse_ok(&text);
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
        diagnostics(&old),
        ["deprecated-field: »collect« `collect` is deprecated / write `ask for` instead"]
    );
}

#[test]
fn tools_for_the_model() {
    let text = "subagent a:\n  description: \"d\"\n  reasoning:\n    actions:\n      go: @utils.transition to @subagent.b\n        description: \"x\"\n        available when @variables.ok == True\n      look: @actions.Look\n        label: \"y\"\n        available when not @variables.a\n        with id=...\n        set @variables.s = @outputs.s\n        if @variables.s:\n          transition to @subagent.c\n      end: @utils.end_session\n";
    let document = parse_ok(text);
    let bindings = subagent(&document).record("reasoning").unwrap().bindings("actions");
    assert_eq!(bindings.len(), 3);
    assert_eq!(bindings[0].targets.len(), 1);
    assert_eq!(bindings[0].available.len(), 1);
    assert_eq!(bindings[1].with.len(), 1);
    assert_eq!(bindings[1].body.len(), 2);
    assert_eq!(bindings[1].properties.text("label").unwrap().text(), "y");
    let broken = text.replace("@utils.transition to", "go to");
    assert_eq!(
        diagnostics(&broken),
        [
            "invalid-value: »go« a tool cannot refer to `go` / write `@utils.transition to @subagent.name`"
        ]
    );
    assert_eq!(fixed(&broken), text);
    assert_eq!(
        diagnostics(&text.replace("available when not", "available not")),
        [
            "syntax-error: »not« expected `when` after `available` / write `available when @variables.ready`"
        ]
    );
    assert_eq!(
        diagnostics(&text.replace(": @utils.end_session", ":")),
        ["missing-field: »end« the tool `end` has no target / write `end: @actions.name`"]
    );
}

#[test]
fn a_bad_line_costs_that_line() {
    let text = prompt(
        "set @variables.x = \nrunn @actions.A\n  with a=1\n| text\nif @a.b and:\n  | inner {!@a.}\nset @variables.y = 1",
    );
    let all = diagnostics(&text);
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!(
        all[0],
        "syntax-error: »=« expected a value after `=` / an assignment is written `set @variables.name = value`"
    );
    assert_eq!(
        all[1],
        "syntax-error: »runn« `runn` is not a statement of Agent Script / did you mean `run`?"
    );
    let (document, _) = read(&text);
    assert_eq!(steps(&document).statements.len(), 5);
    assert!(matches!(steps(&document).statements[4].kind, StatementKind::Set { .. }));
}

#[test]
fn statements_without_effect() {
    assert_eq!(
        diagnostics(
            "subagent a:\n  description: \"d\"\n  before_reasoning:\n    | text\n    if @a.b:\n      | more\n"
        ),
        [
            "misplaced-statement: »| text« a prompt text has no effect here / move it to `reasoning.instructions`",
            "misplaced-statement: »| more« a prompt text has no effect here / move it to `reasoning.instructions`",
        ]
    );
    assert_eq!(
        diagnostics(&prompt("with a=1")),
        [
            "misplaced-statement: »with« this `with` does not belong to an action / indent it below its `run`"
        ]
    );
    assert_eq!(
        diagnostics(&prompt("Tell the user hello")),
        [
            "syntax-error: »Tell the user hello« expected a statement, found `Tell the user hello` / write texts for the model after `|`"
        ]
    );
    assert_eq!(
        diagnostics(&prompt("for x in y:\n  | z")),
        [
            "syntax-error: »for« `for` is not a statement of Agent Script / statements are `|`, `set`, `run`, `if`, `transition`"
        ]
    );
}
