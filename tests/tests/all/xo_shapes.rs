//! The shapes that real exports of Kore.ai XO have: what becomes of each of them.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir::{languages, targets};
use agentir_convert::{Conversion, Preservation, convert};
use agentir_diagnostics::Severity;
use agentir_lang_abl::Options;
use agentir_lang_xo::tables::FORM_COMPONENTS;
use agentir_tests::check::{Checked, File, check};
use agentir_tests::samples::root;
use serde_json::{Value, json};

fn sample() -> File {
    let name = "valid/van_hire/botDefinition.json";
    let text = std::fs::read_to_string(root().join("corpus/xo").join(name)).unwrap();
    File { name: name.to_owned(), text }
}

pub(super) fn read(bot: &Value) -> Checked {
    let file = File { name: "botDefinition.json".to_owned(), text: bot.to_string() };
    check(&[file], Options::default())
}

pub(super) fn to_abl(checked: &Checked) -> Conversion {
    let done = convert(languages(), &checked.program, &checked.sources, targets::ABL);
    let wrong = done.diagnostics.iter().find(|d| d.severity == Severity::Error);
    assert_eq!(wrong.map(|d| &d.message), None);
    done
}

/// The files of a conversion, one after the other.
pub(super) fn shown(done: &Conversion) -> String {
    done.files.iter().map(|file| format!("--- {}\n{}\n", file.path, file.text)).collect()
}

pub(super) fn abl(bot: &Value) -> String {
    shown(&to_abl(&read(bot)))
}

/// A bot of one dialog: the components, each a node that leads to the next one, and other parts of the export.
pub(super) fn bot(components: &[Value], others: &Value) -> Value {
    let mut all = vec![json!({"_id": "dc-0", "type": "intent", "name": "Ask", "dialogId": "dg-1"})];
    let mut nodes = vec![json!({"nodeId": "n0", "type": "intent", "componentId": "dc-0",
        "transitions": [{"default": "n1"}]})];
    for (at, component) in components.iter().enumerate() {
        let (id, next) = (format!("dc-{}", at + 1), format!("n{}", at + 2));
        let next = if at + 1 == components.len() { "end" } else { &next };
        let mut component = component.clone();
        let transitions = component.as_object_mut().unwrap().remove("transitions");
        let transitions = transitions.unwrap_or_else(|| json!([{"default": next}]));
        nodes.push(json!({"nodeId": format!("n{}", at + 1), "type": component["type"],
            "componentId": id, "transitions": transitions}));
        component["_id"] = id.into();
        all.push(component);
    }
    let mut bot = json!({
        "localeData": {"en": {"name": "Bot"}},
        "dialogs": [{"_id": "dg-1", "localeData": {"en": {"name": "Ask"}}, "nodes": nodes}],
        "dialogComponents": all,
    });
    bot.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
    bot
}

pub(super) fn says(name: &str, texts: &[(&str, &str)]) -> Value {
    let kind = |text: &str| if text.contains("print(") { "uxmap" } else { "basic" };
    let texts: serde_json::Map<String, Value> = texts
        .iter()
        .map(|(l, text)| ((*l).to_owned(), json!({"text": text, "type": kind(text)})))
        .collect();
    json!({"type": "message", "name": name,
        "message": [{"channel": "default", "localeData": texts}]})
}

pub(super) fn script(name: &str, code: &str) -> Value {
    json!({"type": "script", "name": name, "script": code})
}

pub(super) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

pub(super) fn has_not(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "`{part}` is in\n{text}");
    }
}

#[test]
fn the_whole_of_an_export() {
    let file = sample();
    let checked = check(&[file], Options::default());
    let said: Vec<String> = checked.lines();
    let done = to_abl(&checked);
    insta::assert_snapshot!(format!("{}\n\n{}", said.join("\n"), shown(&done)));
}

#[test]
fn other_targets_have_it_too() {
    let checked = check(&[sample()], Options::default());
    for target in [targets::AGENT_SCRIPT, targets::ADL] {
        let done = convert(languages(), &checked.program, &checked.sources, target);
        let wrong = done.diagnostics.iter().find(|d| d.severity == Severity::Error);
        assert_eq!(wrong.map(|d| &d.message), None);
        insta::assert_snapshot!(format!("van_hire_{}", target.name()), shown(&done));
    }
}

#[test]
fn a_form_is_found_by_its_id_and_has_all_of_its_fields() {
    let fields: Vec<Value> = FORM_COMPONENTS
        .iter()
        .map(|c| {
            json!({"name": format!("f_{}", c.id), "type": c.id, "components": [],
            "metaData": {"type": c.id, "key": c.id, "displayName": format!("Label of {}", c.id)}})
        })
        .collect();
    let inner = json!({"name": "Inner", "type": "textField", "components": [],
        "metaData": {"displayName": "Within"}});
    let outer = json!({"name": "Outer", "type": "note", "components": [inner],
        "metaData": {"displayName": "Around"}});
    let all: Vec<Value> = fields.into_iter().chain([outer]).collect();
    let forms = json!({"forms": [{"name": "Data", "refId": "form-1", "components": all}]});
    let form = json!({"type": "form", "name": "Fill", "resourceId": "form-1"});
    let used = says(
        "Said",
        &[("en", "At {{context.forms.Data.f_email}} from {{context.forms.Data.Inner}}")],
    );
    let checked = read(&bot(&[form.clone(), used], &forms));
    assert_eq!(checked.lines(), Vec::<String>::new());
    let text = shown(&to_abl(&checked));
    has(&text, &["At {{f_email}} from {{Inner}}", "Inner:\n", "Around"]);
    let (_, step) = text.split_once("  Fill:\n").unwrap();
    let (step, _) = step.split_once("\n\n").unwrap();
    insta::assert_snapshot!(step);

    let without = read(&bot(&[form], &json!({})));
    assert!(without.lines().iter().any(|l| l.contains("does not contain the form")));
}

#[test]
fn a_service_of_a_data_table_has_method_filter_and_values() {
    let service = |name: &str, payload: Value| json!({"type": "service", "name": name, "serviceNodeType": "datatable", "payload": payload});
    let filter = json!({"operator": "and", "expressions": [
        {"field": "phone", "operand": "=", "value": "{{context.entities.Phone}}", "type": "string"}]});
    let text = abl(&bot(
        &[
            service(
                "Save",
                json!({"resource": "dataTable", "name": "vans", "method": "insert",
                "data": {"place": "{{context.entities.Place}}"}}),
            ),
            service(
                "Find",
                json!({"resource": "dataTable", "name": "vans", "method": "query",
                "skip": "", "limit": "3", "query": filter}),
            ),
            service(
                "Move",
                json!({"resource": "dataTable", "name": "vans", "method": "update",
                "data": {"place": "Ulm"}, "query": filter}),
            ),
            service(
                "Drop",
                json!({"resource": "dataTable", "name": "vans", "method": "delete",
                "query": filter}),
            ),
            says(
                "Said",
                &[(
                    "en",
                    "{{context.Find.response.body.queryResult[0].place}} {{context.Find.response.body.total}}",
                )],
            ),
        ],
        &json!({}),
    ));
    for operation in ["insert", "query", "update", "delete"] {
        has(&text, &[&format!("type: table\n    table: vans\n    operations: [{operation}]")]);
    }
    has(
        &text,
        &[
            "Save(Place: string)",
            "place: \"{{Place}}\"",
            "value: \"{{Phone}}\"",
            "limit: \"3\"",
            "{{Find.queryResult[0].place}} {{Find.total}}",
        ],
    );
    has_not(&text, &["type: http"]);
}

#[test]
fn no_service_is_empty() {
    let service = json!({"type": "service", "name": "Odd", "serviceNodeType": "custom"});
    let checked = read(&bot(&[service], &json!({})));
    let said = checked.lines();
    assert!(said.iter().any(|l| l.contains("the address that this service calls")), "{said:?}");
    has(&shown(&to_abl(&checked)), &["endpoint: \"{{env.ODD_URL}}\""]);
}

#[test]
fn a_request_to_a_model_keeps_prompt_model_and_answer() {
    let node = json!({"type": "generativeai", "name": "Split", "serviceAPITimeout": 10,
        "generativeAI": {"prompt": "Break \"this\" down: {{context.entities.Project}}",
            "preProcessorScript": "context.entities.Project = 'all';", "postProcessorScript": "",
            "settings": {"model": "GPT-3.5", "integrationName": "azure", "temperature": 0.5,
                "max_tokens": 2500, "system_context": "Act as a planner",
                "AdditionalInstructions": "Be brief", "isCustom": false}}});
    let said = says("Said", &[("en", "{{context.GenerativeAINode.Split.text}}")]);
    let text = abl(&bot(&[node, said], &json!({})));
    has(
        &text,
        &[
            "Split(Project: string) -> object",
            "\"model\": \"GPT-3.5\"",
            "\"temperature\": 0.5",
            "\"max_tokens\": 2500",
            "Act as a planner\\nBe brief",
            "Break \\\"this\\\" down: {{Project}}",
            "timeout: 10000",
            "auth_profile: azure",
            "Project = \"all\"",
            "RESPOND: \"{{Split.choices[0].message.content}}\"",
        ],
    );
}

#[test]
fn a_form_is_cleared_as_a_whole() {
    let forms = json!({"forms": [{"name": "Data", "refId": "form-1", "components": [
        {"name": "A", "type": "textField"}, {"name": "B", "type": "number"}]}]});
    for code in ["delete context.forms.Data;", "context.forms.Data = {};", "delete context.forms;"]
    {
        let form = json!({"type": "form", "name": "Fill", "resourceId": "form-1"});
        has(&abl(&bot(&[form, script("Reset", code)], &forms)), &["CLEAR: [A, B]"]);
    }
}

#[test]
fn cards_are_content_and_never_raw() {
    let constant = "var message = {\"type\":\"template\",\"payload\":{\"template_type\":\"carousel\",\"elements\":[\
        {\"title\":\"Small\",\"subtitle\":\"8 m\",\"buttons\":[{\"type\":\"web_url\",\"title\":\"See\",\"url\":\"https://a.invalid\"}]},\
        {\"title\":\"Large\"}]}}; print(JSON.stringify(message));";
    let computed = "var list = []; for (var x of context.List) { list.push({\"title\": x.name}); }\n\
        print(JSON.stringify({\"type\":\"template\",\"payload\":{\"template_type\":\"list\",\"elements\":list}}));";
    let text = abl(&bot(
        &[says("Fixed", &[("en", constant)]), says("Made", &[("en", computed)])],
        &json!({}),
    ));
    has(
        &text,
        &[
            "RESPOND: \"Small: 8 m\\nLarge\"\n      RICH_CONTENT:\n        CAROUSEL:\n          - title: Small",
            "RESPOND: \"{{Made_text.text}}\"\n        RICH_CONTENT:\n          LIST: \"{{Made_text.card.payload.elements}}\"",
        ],
    );
    // What is written is read: the content is no part of the text.
    let done = to_abl(&read(&bot(&[says("Fixed", &[("en", constant)])], &json!({}))));
    let lost = done.report.losses().filter(|e| e.path.contains("rich_content"));
    assert_eq!(lost.count(), 0);
}

#[test]
fn synonyms_are_separated_by_commas() {
    let values = json!([{"title": "Autumn", "value": "autumn", "synonyms": ["Autumn term,fall", "back end"]},
        {"title": "Spring", "value": "spring", "synonyms": "Lent , spring term"}]);
    let entity = json!({"type": "entity", "name": "Term", "entityType": "list_of_values",
        "localeData": {"en": {"allowedValues": {"values": values}}}});
    let text = abl(&bot(&[entity], &json!({})));
    has(
        &text,
        &[
            "autumn: [Autumn, \"Autumn term\", fall, \"back end\"]",
            "spring: [Spring, Lent, \"spring term\"]",
        ],
    );
}

#[test]
fn entities_of_html_are_characters() {
    let others = json!({"patterns": [{"refId": "dc-0", "localeData": {"en": {"patterns": [
        {"value": "&lt;&lt; ask me &gt;&gt;"}]}}}]});
    let text = abl(&bot(
        &[says(
            "Said",
            &[(
                "en",
                "Fish &amp; chips &#8364; &quot;now&quot; &eacute;&Ouml;&infin; &unknown; &#7; &",
            )],
        )],
        &others,
    ));
    has(&text, &["Fish & chips € \\\"now\\\" éÖ∞ &unknown; &#7; &", "<< ask me >>"]);
}

#[test]
fn yes_and_no_are_known_in_every_language_of_the_bot() {
    let ask = json!({"type": "dialogAct", "name": "Sure",
        "message": [{"channel": "default", "localeData": {"en": {"text": "Sure?", "type": "basic"}}}],
        "localeData": {"en": {"synonyms": {"yes": ["book it,take it"], "no": []}}},
        "transitions": [{"if": {"dialogAct": "yes"}, "then": "n2"}, {"if": {"dialogAct": "no"}, "then": "n2"},
            {"default": ""}]});
    let text = abl(&bot(
        &[ask, says("Said", &[("en", "Good")])],
        &json!({"supportedLanguages": ["en", "es"]}),
    ));
    let mut patterns = text
        .lines()
        .filter_map(|line| line.split_once("matches /"))
        .map(|(_, pattern)| regex::Regex::new(pattern.trim_end_matches('/')).unwrap());
    let (yes, no) = (patterns.next().unwrap(), patterns.next().unwrap());
    for said in ["yes", "yes please", "yes, please!", "sí", "sí, claro", "book it", "take it now"]
    {
        assert!(yes.is_match(said) && !no.is_match(said), "{said}");
    }
    for said in ["no", "no, thanks", "not now", "nunca"] {
        assert!(no.is_match(said) && !yes.is_match(said), "{said}");
    }
    for said in ["yesterday", "note", "ja", "maybe"] {
        assert!(!yes.is_match(said) && !no.is_match(said), "{said}");
    }
}

#[test]
fn yes_and_no_are_claims_in_adl() {
    let ask = json!({"type": "dialogAct", "name": "Sure",
        "message": [{"channel": "default", "localeData": {"en": {"text": "Sure?", "type": "basic"}}}],
        "transitions": [{"if": {"dialogAct": "yes"}, "then": "n2"}, {"default": ""}]});
    let checked = read(&bot(&[ask, says("Said", &[("en", "Good")])], &json!({})));
    let done = convert(languages(), &checked.program, &checked.sources, targets::ADL);
    has(&shown(&done), &["the user claims \"yes\", \"y\""]);
    has_not(&shown(&done), &["LOWER", "matches"]);
}

#[test]
fn steps_are_in_the_order_of_the_conversation() {
    let mut export = bot(
        &[
            says("First", &[("en", "1")]),
            says("Second", &[("en", "2")]),
            says("Third", &[("en", "3")]),
        ],
        &json!({}),
    );
    export["dialogs"][0]["nodes"].as_array_mut().unwrap().reverse();
    let text = abl(&export);
    let at = |name: &str| text.find(&format!("\n  {name}:\n")).unwrap();
    assert!(at("First") < at("Second") && at("Second") < at("Third"), "{text}");
}

#[test]
fn goals_and_intents_have_the_descriptions_of_the_export() {
    let mut export = bot(&[says("Said", &[("en", "Hi")])], &json!({}));
    export["dialogComponents"][0]["localeData"] = json!({"en": {"desc": "Answers &amp; helps"}});
    has(&abl(&export), &["GOAL: \"Answers & helps\""]);
    export["dialogComponents"][0]["localeData"] = json!({});
    export["dialogs"][0]["localeData"]["en"]["shortDesc"] = "Does it".into();
    has(&abl(&export), &["GOAL: \"Does it\"", "description: \"Does it\""]);
}

#[test]
fn credentials_in_addresses_are_left_out() {
    let secrets = ["4f1d0c9a8b7e6f5d4c3b2a19080706f5", "T8x2Kq91LmZ4vRb7Wc3Ny6Pd", "hunter22x"];
    let service = json!({"type": "service", "name": "Weather", "endPoint": {"protocol": "https",
        "host": "a.invalid", "method": "get",
        "path": format!("%2Fhooks%2F{}%2Fdays%3Fappid%3D{}%26q%3D%7B%7Bcontext.entities.City%7D%7D%26key%3D{}%26units=metric",
            secrets[1], secrets[0], secrets[2])}});
    let checked = read(&bot(&[service], &json!({})));
    let reported = checked.lines();
    assert_eq!(
        reported.iter().filter(|l| l.contains("a credential in an address")).count(),
        3,
        "{reported:?}"
    );
    for target in targets::all() {
        let done = convert(languages(), &checked.program, &checked.sources, target);
        let report = serde_json::to_string(&done.report).unwrap();
        for secret in secrets {
            assert!(!shown(&done).contains(secret) && !report.contains(secret), "{secret}");
        }
    }
    has(
        &shown(&to_abl(&checked)),
        &[
            "https://a.invalid/hooks/{{secrets.WEATHER_HOOKS}}/days?appid={{secrets.WEATHER_APPID}}&q={City}&key={{secrets.WEATHER_KEY}}&units=metric",
        ],
    );
}

/// A secret stands for one credential; what is equal is one. Nothing else is said of the reference.
#[test]
fn every_credential_has_a_name_of_its_own() {
    let service = |name: &str, token: &str, payload: &str| {
        json!({"type": "service", "name": name,
            "endPoint": {"protocol": "https", "host": "a.invalid", "path": "/x", "method": "post"},
            "headers": {"type": "raw", "value": format!("{{\"Authorization\": \"Bearer {token}\"}}")},
            "payload": {"type": "raw", "value": payload}})
    };
    let one = "grant_type=password&username=bob&password=Tr0ub4dor3&room={{context.entities.Room}}";
    let keys = ["one_9f8e7d6c5b4a3928", "two_1a2b3c4d5e6f7081"];
    let [first, second] = keys.map(|key| format!("{{\"a\": 1, \"client_secret\": \"{key}\"}}"));
    let checked = read(&bot(
        &[
            service("Pay", "aaaa1111bbbb2222cccc3333", &first),
            service("Mail", "zzzz9999yyyy8888xxxx7777", &second),
            service("Again", "aaaa1111bbbb2222cccc3333", one),
        ],
        &json!({}),
    ));
    let text = shown(&to_abl(&checked));
    let count = |reference: &str| text.matches(&format!("{{{{secrets.{reference}}}}}")).count();
    assert_eq!((count("AUTHORIZATION"), count("AUTHORIZATION_2")), (2, 1), "{text}");
    assert_eq!(
        (count("PAYLOAD"), count("PAYLOAD_2"), count("PAYLOAD_PASSWORD")),
        (1, 1, 1),
        "{text}"
    );
    has(&text, &["grant_type=password&username=bob&password={{secrets."]);
    has_not(&text, &["Tr0ub4dor3", keys[0], keys[1]]);
    let reported = checked.lines();
    assert!(!reported.iter().any(|line| line.contains("untranslated")), "{reported:?}");
}

/// Tokens in paths, also behind a colon, and the values of variables, whatever these are called.
#[test]
fn credentials_without_a_name_are_left_out() {
    let secrets = ["AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "sk-live-9988776655AABBCC"];
    let service = json!({"type": "service", "name": "Tell", "endPoint": {"protocol": "https",
        "host": "a.invalid", "method": "post",
        "path": format!("/bot123456:{}/sendMessage", secrets[0])}});
    let others = json!({"variables": [{"key": "GATEWAY", "value": secrets[1]},
        {"key": "CHANNEL", "value": "front-desk-of-the-town-hall"}]});
    let checked = read(&bot(&[service], &others));
    let done = to_abl(&checked);
    has(&shown(&done), &["https://a.invalid/bot123456:{{secrets.", "/sendMessage"]);
    let mut made = vec![shown(&done), done.report.html(), done.report.text()];
    made.push(serde_json::to_string(&done.report).unwrap());
    made.extend(checked.lines());
    for secret in secrets {
        assert!(made.iter().all(|text| !text.contains(secret)), "{secret}");
    }
    assert!(made.iter().any(|text| text.contains("front-desk-of-the-town-hall")));
}

/// A bot of so many dialogs in four languages, which share a table, a service and a script.
fn large(count: usize) -> Value {
    let spoken = ["en", "de", "es", "fr"];
    let values: Vec<Value> = (0..200)
        .map(|k| json!({"title": format!("County {k}"), "value": format!("c{k}"), "synonyms": [format!("County {k} State,Cty {k}")]}))
        .collect();
    let code = "for (const x of context.Look.response.body) { print(x) }";
    let (mut components, mut dialogs) = (Vec::new(), Vec::new());
    for d in 0..count {
        let texts = |text: &str| -> Vec<(&str, String)> {
            spoken.iter().map(|l| (*l, format!("{text} {d} {l}"))).collect()
        };
        let done = texts("Done");
        let done: Vec<(&str, &str)> = done.iter().map(|(l, t)| (*l, t.as_str())).collect();
        let scripts: Vec<(&str, &str)> = spoken.iter().map(|l| (*l, code)).collect();
        let all = [
            json!({"type": "intent", "name": format!("Task {d}"), "dialogId": format!("d{d}")}),
            json!({"type": "entity", "name": "County", "entityType": "list_of_values",
                "localeData": {"en": {"allowedValues": {"values": values}}}}),
            json!({"type": "service", "name": "Look", "endPoint": {"host": "a.invalid", "path": "/look", "method": "get"}}),
            says(&format!("Cards {d}"), &scripts),
            says("Done", &done),
        ];
        let mut nodes = Vec::new();
        for (at, mut component) in all.into_iter().enumerate() {
            let id = format!("c{d}-{at}");
            let next = if at == 4 { "end".to_owned() } else { format!("n{}", at + 1) };
            nodes.push(
                json!({"nodeId": format!("n{at}"), "type": component["type"], "componentId": id,
                "transitions": [{"default": next}]}),
            );
            component["_id"] = id.into();
            components.push(component);
        }
        dialogs.push(json!({"_id": format!("d{d}"), "localeData": {"en": {"name": format!("Task {d}")}}, "nodes": nodes}));
    }
    json!({"defaultLanguage": "en", "supportedLanguages": spoken, "localeData": {"en": {"name": "Large"}},
        "dialogs": dialogs, "dialogComponents": components})
}

#[test]
fn the_output_of_a_large_bot_grows_with_its_messages() {
    let outputs: Vec<Conversion> =
        [10, 20, 40].into_iter().map(|count| to_abl(&read(&large(count)))).collect();
    let lines = |done: &Conversion| shown(done).lines().count();
    let [ten, twenty, forty] = [0, 1, 2].map(|at| lines(&outputs[at]));
    assert_eq!(forty - twenty, 2 * (twenty - ten));
    let whole = shown(&outputs[2]);
    for once in ["\"County 7\",\"c7\"", "for (const x of", "endpoint: \"https://a.invalid/look\""] {
        assert_eq!(whole.matches(once).count(), 1, "{once}");
    }
    // Nothing of the table is lost by that.
    let report = &outputs[2].report;
    let table = report.entries.iter().filter(|e| e.path.contains("lookup_tables"));
    let lost: Vec<&str> =
        table.filter(|e| e.preservation != Preservation::Kept).map(|e| e.path.as_str()).collect();
    assert_eq!(lost, Vec::<&str>::new());
}

#[test]
fn credentials_in_rows_of_a_table_are_left_out() {
    let filter = json!({"operator": "and", "expressions": [
        {"field": "password", "operand": "=", "value": "hunter33x", "type": "string"}]});
    let data = json!({"password": "hunter22x", "apiKey": ["hunter44x"], "n": 1, "note": "",
        "pin": "{{context.entities.Pin}}", "token": "{{context.entities.Token}}"});
    let service = json!({"type": "service", "name": "Save", "serviceNodeType": "datatable",
        "payload": {"resource": "dataTable", "name": "T", "method": "update", "data": data, "query": filter}});
    let checked = read(&bot(&[service], &json!({})));
    let said = checked.lines();
    assert_eq!(said.iter().filter(|l| l.contains("a credential (`")).count(), 3, "{said:?}");
    let text = shown(&to_abl(&checked));
    has(
        &text,
        &[
            "password: \"{{secrets.PASSWORD}}\"",
            "{{secrets.APIKEY}}",
            "pin: \"{{Pin}}\"",
            "token: \"{{Token}}\"",
            "note: \"\"",
            "n: 1",
        ],
    );
    has_not(&text, &["hunter"]);
}

#[test]
fn something_is_said_whatever_the_languages_of_the_bot_are() {
    // The export does not say which languages the bot speaks.
    has(&abl(&bot(&[says("Said", &[("de", "Hallo")])], &json!({}))), &["RESPOND: \"Hallo\""]);
    let both = abl(&bot(&[says("Said", &[("en", "Hello"), ("de", "Hallo")])], &json!({})));
    has(&both, &["RESPOND: \"Hello\"", "WHEN: language == \"de\"", "Hallo"]);
    // It says so, and the text is in none of them.
    let others = json!({"defaultLanguage": "en", "supportedLanguages": ["en", "es"]});
    let done = to_abl(&read(&bot(&[says("Said", &[("de", "Hallo"), ("fr", "Bonjour")])], &others)));
    has(&shown(&done), &["RESPOND: \"Hallo\""]);
    has_not(&shown(&done), &["Bonjour"]);
    assert!(done.report.losses().any(|e| e.path.contains("onlyFor")));
    assert!(done.report.losses().any(|e| e.path.contains("unspokenLanguages")));
    // The region does not matter.
    let others = json!({"defaultLanguage": "en", "supportedLanguages": ["en", "pt"]});
    let texts = [("pt_BR", "Olá"), ("en_US", "Hello")];
    let done = to_abl(&read(&bot(&[says("Said", &texts)], &others)));
    has(&shown(&done), &["RESPOND: \"Hello\"", "WHEN: language == \"pt_BR\"", "Olá"]);
    assert!(!done.report.losses().any(|e| e.path.contains("onlyFor")));
}

#[test]
fn where_the_words_for_yes_are_not_known_that_is_said() {
    let ask = |synonyms: Value| {
        json!({"type": "dialogAct", "name": "Sure",
        "message": [{"channel": "default", "localeData": {"is": {"text": "Viss?", "type": "basic"}}}],
        "localeData": {"is": {"synonyms": {"yes": synonyms, "no": []}}},
        "transitions": [{"if": {"dialogAct": "yes"}, "then": "n2"}, {"default": ""}]})
    };
    let others = json!({"defaultLanguage": "is", "supportedLanguages": ["is"]});
    let bot = |synonyms| bot(&[ask(synonyms), says("Said", &[("is", "Gott")])], &others);
    let checked = read(&bot(json!([])));
    let said = checked.lines();
    assert!(said.iter().any(|l| l.contains("the words for yes in `is` are not known")), "{said:?}");
    has(&shown(&to_abl(&checked)), &["matches /^(yes|"]);
    let checked = read(&bot(json!(["já"])));
    assert_eq!(checked.lines(), Vec::<String>::new());
    has(&shown(&to_abl(&checked)), &["matches /^(já)("]);
}

#[test]
fn only_patterns_of_words_are_claims() {
    let agent = |pattern: &str| {
        let text = format!(
            "AGENT: A\nGOAL: \"g\"\n\nFLOW:\n  steps: [Ask, Done]\n  Ask:\n    REASONING: false\n    RESPOND: \"When?\"\n    ON_INPUT:\n      - IF: input MATCHES /{pattern}/\n        THEN: Done\n      - ELSE:\n        THEN: COMPLETE\n  Done:\n    REASONING: false\n    RESPOND: \"Good\"\n    THEN: COMPLETE\n"
        );
        let checked = check(&[File { name: "a.abl".to_owned(), text }], Options::default());
        shown(&convert(languages(), &checked.program, &checked.sources, targets::ADL))
    };
    for words in ["^(jan|feb)$", "jan|feb", "^(jan|feb)([ ,.!。，].*)?$"] {
        has(&agent(words), &["the user claims \"jan\", \"feb\""]);
    }
    has(&agent("^(हाँ|हां)$"), &["the user claims \"हाँ\", \"हां\""]);
    for other in ["^(19|20)[0-9]{2}$", "^(jan|feb)", "^(jan|feb).+$", "^()$", "jan|"] {
        has_not(&agent(other), &["the user claims"]);
    }
}

#[test]
fn a_request_to_a_model_may_be_called_like_a_service() {
    let service = json!({"type": "service", "name": "Look",
        "endPoint": {"protocol": "https", "host": "a.invalid", "path": "/x", "method": "get"}});
    let model = json!({"type": "generativeai", "name": "Look",
        "generativeAI": {"prompt": "Hi", "settings": {"model": "m"}}});
    let said = says(
        "Said",
        &[("en", "{{context.GenerativeAINode.Look.text}} {{context.Look.response.body.x}}")],
    );
    let text = abl(&bot(&[service, model, said], &json!({})));
    has(
        &text,
        &[
            "CALL: Look",
            "CALL: ask_Look",
            "{{ask_Look.choices[0].message.content}} {{Look.x}}",
            "\"model\": \"m\"",
        ],
    );
}

#[test]
fn a_form_that_is_named_too_often_is_not_written_out() {
    let fields: Vec<Value> =
        (0..100).map(|n| json!({"name": format!("f{n}"), "type": "textField"})).collect();
    let forms = json!({"forms": [{"name": "F", "refId": "form-1", "components": fields}]});
    let all = "{{context.forms.F}} ".repeat(201);
    let checked = read(&bot(&[says("Said", &[("en", &all)])], &forms));
    let said = checked.lines();
    assert_eq!(
        said.iter().filter(|l| l.contains("names a form as a whole")).count(),
        1,
        "{said:?}"
    );
    assert_eq!(shown(&to_abl(&checked)).matches("f99: f99").count(), 200);
}

#[test]
fn the_texts_of_a_form_are_said_in_every_language() {
    let note = json!({"name": "Note", "type": "note", "metaData": {"localeData": {
        "en": {"text": "From 7 to 19"}, "de": {"text": "Von 7 bis 19"}}}});
    let field = json!({"name": "Place", "type": "textField"});
    let others = json!({"supportedLanguages": ["en", "de", "es"],
        "forms": [{"name": "F", "refId": "form-1", "components": [note, field]}]});
    let texts = says("", &[("en", "Fill in"), ("de", "Bitte ausfüllen"), ("es", "Rellena")]);
    let form = json!({"type": "form", "name": "Fill", "resourceId": "form-1", "message": texts["message"]});
    let text = abl(&bot(&[form], &others));
    for (asked, noted) in [
        ("Fill in", "From 7 to 19"),
        ("Bitte ausfüllen", "Von 7 bis 19"),
        ("Rellena", "From 7 to 19"),
    ] {
        let (_, after) = text.split_once(asked).unwrap();
        assert_eq!(after.trim_start().lines().next().map(str::trim), Some(noted), "{text}");
    }
}
