//! What parts of an XO export mean, and what of it somebody has to do by hand: the status of answers, answers that end a
//! dialog, the session, settings that nobody has decided, other languages, what tools are given.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use super::xo_shapes::{abl, bot, has, has_not, read, says, script, shown, to_abl};
use agentir::{languages, targets};
use agentir_convert::{Target, Task, convert};
use agentir_diagnostics::Severity;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check};
use agentir_tests::samples::root;
use serde_json::{Value, json};

fn sample() -> Checked {
    let name = "valid/library_desk/botDefinition.json";
    let text = std::fs::read_to_string(root().join("corpus/xo").join(name)).unwrap();
    check(&[File { name: name.to_owned(), text }], Options::default())
}

fn converted(checked: &Checked, target: Target) -> String {
    let mut done = convert(languages(), &checked.program, &checked.sources, target);
    let wrong = done.diagnostics.iter().find(|d| d.severity == Severity::Error);
    assert_eq!(wrong.map(|d| &d.message), None);
    let source = (&checked.program, &checked.sources);
    done.annotate(languages(), source, target, &checked.diagnostics);
    let todo = done.report.todo.iter().filter(|todo| todo.task == Task::Must);
    let todo: String = todo.map(|todo| format!("{}: {:?}\n", todo.cause, todo.help)).collect();
    format!("{}{todo}", shown(&done))
}

#[test]
fn the_sample_of_meanings() {
    let checked = sample();
    insta::assert_snapshot!("library_desk_abl", converted(&checked, targets::ABL));
    insta::assert_snapshot!(
        "library_desk_agent-script",
        converted(&checked, targets::AGENT_SCRIPT)
    );
    insta::assert_snapshot!("library_desk_adl", converted(&checked, targets::ADL));
}

fn service(name: &str, transitions: &Value) -> Value {
    json!({"type": "service", "name": name, "serviceNodeType": "custom", "transitions": transitions,
        "endPoint": {"protocol": "https", "host": "a.example", "path": "/x", "method": "get"}})
}

/// A service with a condition on its status, and two messages; and what follows in the output.
fn with_status(op: &str, value: &str) -> (String, Vec<String>) {
    let test = json!({"context": "Svc.response.statusCode", "op": op, "value": value});
    let ways = json!([{"if": test, "then": "n2"}, {"default": "n3"}]);
    let mut yes = says("Yes", &[("en", "Fine.")]);
    yes["transitions"] = json!([{"default": "end"}]);
    let checked =
        read(&bot(&[service("Svc", &ways), yes, says("No", &[("en", "Bad.")])], &json!({})));
    (shown(&to_abl(&checked)), checked.lines())
}

#[test]
fn the_status_of_an_answer_is_success_or_failure() {
    let (good, bad) = ("Yes", "No");
    for (op, value, success, failure) in [
        ("eq", "200", good, bad),
        ("eq", "201", good, bad),
        ("neq", "200", bad, good),
        ("lt", "300", good, bad),
        ("gte", "400", bad, good),
        ("gt", "299", bad, good),
        ("exists", "", good, good),
    ] {
        let (text, said) = with_status(op, value);
        let outcome = format!(
            "    ON_SUCCESS:\n      THEN: {success}\n    ON_FAIL:\n      THEN: {failure}\n"
        );
        has(&text, &[&outcome]);
        has_not(&text, &["statusCode", "_status"]);
        assert!(said.iter().all(|line| !line.contains("status")), "{op} {value}: {said:?}");
    }
    // Which failure it is, nothing says.
    let (text, said) = with_status("eq", "404");
    has(
        &text,
        &[
            "ON_SUCCESS:\n      SET: Svc_status = 200\n      THEN: No",
            "SET: Svc_status = 500",
            "Svc_status == 404",
        ],
    );
    assert!(
        said.iter().any(|line| line.contains("needs the status that `Svc` was answered with")),
        "{said:?}"
    );
}

#[test]
fn two_successes_are_not_told_apart() {
    let test =
        |value: &str| json!({"context": "Svc.response.statusCode", "op": "eq", "value": value});
    let ways = json!([{"if": test("200"), "then": "n2"}, {"if": test("202"), "then": "n3"}, {"default": "end"}]);
    let mut first = says("First", &[("en", "Done.")]);
    first["transitions"] = json!([{"default": "end"}]);
    let checked =
        read(&bot(&[service("Svc", &ways), first, says("Later", &[("en", "Later.")])], &json!({})));
    let said = checked.lines();
    let count = said.iter().filter(|line| line.contains("needs the status")).count();
    // One finding for both places.
    assert_eq!(count, 1, "{said:?}");
}

#[test]
fn a_status_that_is_read_later_is_a_variable() {
    let next = json!([{"default": "n2"}]);
    let later = "if (context.Svc.response.statusCode == 204) { context.ok = 'yes'; }";
    let checked = read(&bot(&[service("Svc", &next), script("Look", later)], &json!({})));
    let text = shown(&to_abl(&checked));
    // It is what all ask for.
    has(
        &text,
        &[
            "SET: Svc_status = 204",
            "SET: Svc_status = 500",
            "Svc_status == 204",
            "- Svc_status\n        TYPE: number",
        ],
    );
    assert!(
        checked.lines().iter().all(|line| !line.contains("needs the status")),
        "{:?}",
        checked.lines()
    );
    // A text that shows it needs more.
    let shows = says("Show", &[("en", "It was {{context.Svc.response.statusCode}}.")]);
    let checked = read(&bot(&[service("Svc", &next), shows], &json!({})));
    assert!(
        checked.lines().iter().any(|line| line.contains("needs the status")),
        "{:?}",
        checked.lines()
    );
    // Where nobody reads it, nobody sets it.
    has_not(&abl(&bot(&[service("Svc", &json!([{"default": "end"}]))], &json!({}))), &["status"]);
}

#[test]
fn scripts_find_answers_in_one_shape() {
    let next = json!([{"default": "n2"}]);
    let shape = |code: &str| abl(&bot(&[service("Svc", &next), script("Use", code)], &json!({})));
    let body = "for (const x of context.Svc.response.body.list) { print(x); }";
    has(&shape(body), &["const context = { Svc: { response: { body: Svc } } };"]);
    for whole in [
        "const r = context.Svc.response; for (const x of r.body.list) { print(x + r.statusCode); }",
        "for (const x of context.Svc.response.list()) { print(x); }",
    ] {
        has(&shape(whole), &["{ response: { statusCode: Svc_status, body: Svc } }"]);
    }
    let status =
        "for (const x of [1]) { if (context.Svc.response.statusCode === 200) { print(x); } }";
    has(&shape(status), &["{ response: { statusCode: Svc_status } }", "Use(Svc_status: number)"]);
    // Anything else is not there, which is said.
    let headers = "for (const x of context.Svc.response.headers.list) { print(x); }";
    let checked = read(&bot(&[service("Svc", &next), script("Use", headers)], &json!({})));
    assert!(
        checked.lines().iter().any(|l| l.contains("neither its body nor its status")),
        "{:?}",
        checked.lines()
    );
    let unknown = says("Show", &[("en", "{{context.Svcs.response.body.x}}")]);
    let checked = read(&bot(&[service("Svc", &next), unknown], &json!({})));
    let said = checked.lines();
    assert!(
        said.iter().any(|l| l.contains("the answer of `Svcs`, and the export has no such service")),
        "{said:?}"
    );
}

fn confirmation(transitions: &Value) -> String {
    let mut one = says("Sure", &[("en", "Are you sure?")]);
    one["type"] = "dialogAct".into();
    one["transitions"] = transitions.clone();
    let mut then = says("Then", &[("en", "Then.")]);
    then["transitions"] = json!([{"default": "end"}]);
    abl(&bot(&[one, then], &json!({})))
}

#[test]
fn an_answer_that_leads_nowhere_ends_the_dialog() {
    let yes = json!({"if": {"dialogAct": "yes"}, "then": "n2"});
    let no = json!({"if": {"dialogAct": "no"}, "then": "n2"});
    let end = json!({"default": "end"});
    let is_no = |text: &str| text.lines().position(|l| l.contains("(no|n|")).unwrap();
    let after = |text: &str, at: usize| text.lines().nth(at + 1).unwrap().trim().to_owned();
    for ways in [json!([yes, end]), json!([yes]), json!([end]), json!([])] {
        let text = confirmation(&ways);
        assert_eq!(after(&text, is_no(&text)), "THEN: COMPLETE", "{text}");
        // What is neither yes nor no asks again.
        has(&text, &["- ELSE:\n        THEN: Sure"]);
    }
    let text = confirmation(&json!([no, end]));
    let is_yes = text.lines().position(|l| l.contains("(yes|y|")).unwrap();
    assert_eq!(after(&text, is_yes), "THEN: COMPLETE", "{text}");
    assert_eq!(after(&text, is_no(&text)), "THEN: Then", "{text}");
    // Where both answers lead on, the default is for every other answer, as one that leads on is.
    let text = confirmation(&json!([yes, no, end]));
    has(&text, &["- ELSE:\n        THEN: COMPLETE"]);
    let text = confirmation(&json!([yes, no]));
    has(&text, &["- ELSE:\n        THEN: Sure"]);
    let text = confirmation(&json!([yes, {"default": "n2"}]));
    has(&text, &["- ELSE:\n        THEN: Then"]);
    has_not(&text, &["(no|n|"]);
}

/// Two dialogs, of one script each.
fn two_dialogs(first: &str, second: &str) -> Value {
    let mut export = bot(&[script("First", first)], &json!({}));
    let other = bot(&[script("Second", second)], &json!({})).to_string();
    let other = other.replace("dg-1", "dg-2").replace("dc-", "ec-").replace("\"Ask\"", "\"Other\"");
    let other: Value = serde_json::from_str(&other).unwrap();
    for list in ["dialogs", "dialogComponents"] {
        let more = other[list].as_array().unwrap().clone();
        export[list].as_array_mut().unwrap().extend(more);
    }
    export
}

#[test]
fn the_session_reaches_other_dialogs() {
    for (put, get) in [
        ("BotUserSession.put('tier', 'gold', 60);", "context.x = BotUserSession.get('tier');"),
        ("UserSession.tier = 'gold';", "context.x = context.session.UserSession.tier;"),
        ("context.session.BotUserSession['tier'] = 'gold';", "context.x = BotUserSession.tier;"),
    ] {
        let text = abl(&two_dialogs(put, get));
        has(
            &text,
            &[
                "STATE:\n  conversation:\n    tier:\n      type: string\n      default: null\n      source: agent",
                "SET: conversation.tier = \"gold\"",
                "SET: x = conversation.tier",
            ],
        );
        has_not(&text, &["- tier"]);
    }
    // What one dialog uses is its own.
    let text = abl(&two_dialogs("BotUserSession.put('tier', 'gold', 60);", "context.x = 1;"));
    has(&text, &["SET: tier = \"gold\"", "- tier"]);
    has_not(&text, &["STATE:"]);
    // An object of the session that is used as a whole may be asked for anything.
    let whole = "const s = BotUserSession; context.x = s.tier;";
    has(
        &abl(&two_dialogs("BotUserSession.put('tier', 1, 60);", whole)),
        &["conversation.tier = 1"],
    );
    // What a script gives goes there, too.
    let made = "for (const x of [1, 2]) { BotUserSession.put('tier', x, 60); }";
    let text = abl(&two_dialogs(made, "context.x = BotUserSession.get('tier');"));
    has(&text, &["conversation.tier = First.tier", "tier: conversation.tier"]);
}

#[test]
fn what_outlives_the_conversation_is_memory_of_the_project() {
    for object in ["BotContext", "EnterpriseContext"] {
        let put = format!("{object}.put('rate', 2, 60);");
        let text = abl(&two_dialogs(&put, &format!("context.x = {object}.get('rate');")));
        has(
            &text,
            &[
                "SET: project.rate = 2",
                "STORE: project.rate -> project.rate",
                "- PATH: project.rate\n      SCOPE: project\n      ACCESS: read\n",
                "SET: x = project.rate",
            ],
        );
    }
    let checked = read(&two_dialogs("BotContext.delete('rate');", "context.x = 1;"));
    assert!(
        checked.lines().iter().any(|l| l.contains("deletes a value of persistent memory")),
        "{:?}",
        checked.lines()
    );
}

fn unneeded(bot: &Value) -> Vec<String> {
    let done = to_abl(&read(bot));
    let all = done.report.losses().filter(|e| e.task == Some(Task::Nothing));
    all.map(|entry| entry.path.clone()).collect()
}

#[test]
fn settings_of_a_new_bot_are_nothing_to_do() {
    let with = |options: &Value| {
        let mut export = bot(&[says("Said", &[("en", "Hello")])], &json!({}));
        export["dialogs"][0]["nodes"][1]["nodeOptions"] = options.clone();
        export
    };
    let usual = json!({"promptOptions": "required", "reuseOptions": "1", "userInputCorrection": true,
        "interruptOptions": {"priority": "task"}});
    let there = unneeded(&with(&usual));
    for name in
        ["promptOptions", "reuseOptions", "userInputCorrection", "interruptOptions.priority"]
    {
        assert!(there.iter().any(|path| path.ends_with(name)), "{name}: {there:?}");
    }
    // What somebody has changed is to be looked at.
    let changed =
        json!({"promptOptions": "required", "reuseOptions": "3", "userInputCorrection": false});
    let there = unneeded(&with(&changed));
    assert!(there.iter().any(|path| path.ends_with("promptOptions")), "{there:?}");
    for name in ["reuseOptions", "userInputCorrection"] {
        assert!(!there.iter().any(|path| path.ends_with(name)), "{name}: {there:?}");
    }
    // So are synonyms, and events that are switched on.
    let texts = |you: &[&str], enabled: bool| {
        let event = json!({"enabled": enabled, "action": "showMsg",
            "msg": [{"channel": "default", "localeData": {"en": {"text": "Bye", "type": "basic"}}}]});
        let all = json!({"localeData": {"en": {"name": "Bot", "synonyms": {"~you": you}}},
            "botEvents": {"CONVERSATION_END": event}});
        unneeded(&bot(&[says("Said", &[("en", "Hello")])], &all))
    };
    let usual = texts(&["you", "u"], false);
    assert!(usual.iter().any(|path| path.contains("synonyms")), "{usual:?}");
    assert!(usual.iter().any(|path| path.contains("CONVERSATION_END")), "{usual:?}");
    let own = texts(&["you", "ye"], true);
    assert!(
        !own.iter().any(|path| path.contains("synonyms") || path.contains("CONVERSATION_END")),
        "{own:?}"
    );
}

#[test]
fn other_languages_arrive() {
    let text = converted(&sample(), targets::ABL);
    has(
        &text,
        &[
            "adult: [Adult, grown-up, full, Erwachsene, groß, voll]",
            "retry_prompt: \"Es gibt nur Ausweise für Erwachsene und Kinder.\"",
            "- IF: language == \"de\"\n      RESPOND: \"Willkommen in der Bücherei.\"",
            "- \"Mitglied werden\"",
        ],
    );
    // After a form, too.
    let form = json!({"type": "form", "name": "F1", "resourceId": "f-1", "message": [],
        "submitMessage": [{"channel": "default", "localeData": {
            "en": {"text": "Thanks", "type": "basic"}, "de": {"text": "Danke", "type": "basic"}}}],
        "errorMessage": [{"channel": "default", "localeData": {
            "en": {"text": "Wrong", "type": "basic"}, "de": {"text": "Falsch", "type": "basic"}}}]});
    let others = json!({"supportedLanguages": ["en", "de"], "forms": [{"refId": "f-1", "name": "F",
        "components": [{"name": "Town", "type": "textField", "metaData": {"required": true}}]}]});
    let text = abl(&bot(&[form], &others));
    has_not(&text, &["retry_prompt#2"]);
    has(
        &text,
        &[
            "RESPOND: \"Thanks\"",
            "RESPOND: \"Danke\"",
            "retry_prompt: Wrong",
            "retry_prompt: Falsch",
        ],
    );
}

#[test]
fn what_may_be_missing_may_be_missing_for_tools() {
    let text = converted(&sample(), targets::ABL);
    has(&text, &["Register(CardKind: string, Telephone?: string)"]);
}

#[test]
fn parameters_of_scripts_have_the_types_that_scripts_show() {
    let typed = |code: &str| {
        abl(&bot(
            &[script("Run", &format!("{code} for (const q of [1]) {{ print(q); }}"))],
            &json!({}),
        ))
    };
    for (code, parameter) in [
        ("print(context.a * 2);", "Run(a: number)"),
        ("if (context.a > 2) { print('x'); }", "Run(a: number)"),
        ("print(context.a.toUpperCase());", "Run(a: string)"),
        ("print(context.a.b.c);", "Run(a: object)"),
        ("print(context.a[0].name);", "Run(a: object[])"),
        ("print(context.a[0].trim());", "Run(a: string[])"),
        ("print(env.KEY);", "Run(KEY: string)"),
        // Nothing is shown, or two things are.
        ("print(context.a);", "Run(a)"),
        ("if (context.a == 2) { print('x'); }", "Run(a)"),
        ("print(context.a.length > 2);", "Run(a)"),
        ("print(context.a * 2); print(context.a.trim());", "Run(a)"),
    ] {
        has(&typed(code), &[parameter]);
    }
}

#[test]
fn scripts_that_end_early_give_what_they_made() {
    let code =
        "if (context.n < 1) { return print('Too few'); } for (const x of context.l) { print(x); }";
    let text = abl(&bot(&[script("Run", code)], &json!({})));
    has(&text, &["(() => {\n", "})();\n", "return { text: said.join"]);
    // A function of the script may return.
    let inner = "const f = (x) => { return x; }; for (const x of context.l) { print(f(x)); }";
    has_not(&abl(&bot(&[script("Run", inner)], &json!({}))), &["(() => {\n"]);
    // Its names are not those of what is added.
    let names = "const said = 1; for (const x of context.l) { print(said + x); }";
    has(&abl(&bot(&[script("Run", names)], &json!({}))), &["(() => {\n"]);
}

#[test]
fn cards_have_the_formats_of_the_language() {
    let card = |kind: &str| {
        let code = format!(
            "for (const x of context.l) {{ print(JSON.stringify({{\"type\": \"template\", \"payload\": {{\"template_type\": \"{kind}\", \"elements\": [x]}}}})); }}"
        );
        let checked = read(&bot(&[says("Card", &[("en", &code)])], &json!({})));
        (shown(&to_abl(&checked)), checked.lines())
    };
    for (kind, format) in [
        ("carousel", "CAROUSEL: \"{{Card_text.card.payload.elements}}\""),
        ("advancedMultiListTemplate", "LIST: \"{{Card_text.card.payload.listItems}}\""),
        ("table", "TABLE: \"{{Card_text.card.payload}}\""),
        ("piechart", "CHART: \"{{Card_text.card.payload}}\""),
    ] {
        let (text, said) = card(kind);
        has(&text, &[format]);
        assert!(said.iter().all(|line| !line.contains("no format")), "{said:?}");
    }
    let (text, said) = card("clockTemplate");
    has_not(&text, &["RICH_CONTENT"]);
    assert!(
        said.iter().any(|line| line.contains("no format for the card `clockTemplate`")),
        "{said:?}"
    );
}

#[test]
fn what_the_output_refers_to_is_something_to_create() {
    let checked = sample();
    let text = converted(&checked, targets::ABL);
    has(
        &text,
        &[
            "create the environment variable `LIBRARY_HOST`",
            "create the environment variable `LIBRARY_TOKEN`",
            "create the auth profile `library_login`",
        ],
    );
    // A table, a lookup that the platform had, a secret that an import took out is not asked for twice.
    let table = json!({"type": "service", "name": "Save", "serviceNodeType": "datatable",
        "payload": {"resource": "dataTable", "name": "vans", "method": "insert", "data": {"a": "1"}}});
    let airport = json!({"type": "entity", "name": "From", "entityType": "airport", "message": []});
    let secret = json!({"type": "service", "name": "Pay", "serviceNodeType": "custom",
        "endPoint": {"protocol": "https", "host": "a.example", "path": "/x?apikey=K3yS3cret991122", "method": "get"}});
    let checked = read(&bot(&[airport, table, secret], &json!({})));
    let text = converted(&checked, targets::ABL);
    has(&text, &["create the table `vans`", "create the collection `iata_codes`"]);
    has_not(&text, &["create the secret"]);
    // Of the same language everything is there.
    let mut abl = to_abl(&read(&bot(&[says("Said", &[("en", "{{env.TOWN}}")])], &json!({}))));
    let (program, sources) = (abl.program.clone(), abl.sources.clone());
    abl = convert(languages(), &program, &sources, targets::ABL_YAML);
    abl.annotate(languages(), (&program, &sources), targets::ABL_YAML, &[]);
    assert!(
        abl.report.todo.iter().all(|todo| !todo.cause.contains("TOWN")),
        "{:?}",
        abl.report.todo
    );
}

#[test]
fn concepts_of_small_talk_are_words_or_nothing() {
    let text = converted(&sample(), targets::ABL);
    has(&text, &["thank you", "who be you"]);
    has_not(&text, &["~you"]);
}
