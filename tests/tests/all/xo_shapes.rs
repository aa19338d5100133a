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

fn read(bot: &Value) -> Checked {
    let file = File { name: "botDefinition.json".to_owned(), text: bot.to_string() };
    check(&[file], Options::default())
}

fn to_abl(checked: &Checked) -> Conversion {
    let done = convert(languages(), &checked.program, &checked.sources, targets::ABL);
    let wrong = done.diagnostics.iter().find(|d| d.severity == Severity::Error);
    assert_eq!(wrong.map(|d| &d.message), None);
    done
}

/// The files of a conversion, one after the other.
fn shown(done: &Conversion) -> String {
    done.files.iter().map(|file| format!("--- {}\n{}\n", file.path, file.text)).collect()
}

fn abl(bot: &Value) -> String {
    shown(&to_abl(&read(bot)))
}

/// A bot of one dialog: the components, each a node that leads to the next one, and other parts of the export.
fn bot(components: &[Value], others: &Value) -> Value {
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

fn says(name: &str, texts: &[(&str, &str)]) -> Value {
    let kind = |text: &str| if text.contains("print(") { "uxmap" } else { "basic" };
    let texts: serde_json::Map<String, Value> = texts
        .iter()
        .map(|(l, text)| ((*l).to_owned(), json!({"text": text, "type": kind(text)})))
        .collect();
    json!({"type": "message", "name": name,
        "message": [{"channel": "default", "localeData": texts}]})
}

fn script(name: &str, code: &str) -> Value {
    json!({"type": "script", "name": name, "script": code})
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

fn has_not(text: &str, parts: &[&str]) {
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
fn scripts_use_the_objects_of_the_session() {
    let code = "UserSession.put('zip', 'no', 2000); BotUserSession.put('m', 'zip', context.entities.Z, 60);\n\
        delete context.entities.City; EnterpriseContext.delete('old'); print('Noted');";
    let read_it = "if (UserSession.get('zip') == 'no') { print('No zip'); }";
    let text = abl(&bot(&[script("Put", code), script("Get", read_it)], &json!({})));
    has(
        &text,
        &[
            "zip = \"no\"",
            "m.zip = Z",
            "CLEAR: [City, old]",
            "RESPOND: \"Noted\"",
            "IF: zip == \"no\"",
            "RESPOND: \"No zip\"",
        ],
    );
    has_not(&text, &["type: sandbox", "UserSession"]);
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
fn what_stays_a_script_carries_the_objects_it_needs() {
    let code = "for (var i = 0; i < context.List.length; i++) {\n\tcontext.names.push(context.List[i].name);\n}\n\
        if (context.names.length > 3) { BotUserSession.put(\"many\", true); }\n\
        delete context.entities.Town;\nprint(context.names.join());";
    let text = abl(&bot(&[script("Loop", code)], &json!({})));
    has(
        &text,
        &[
            // What is only written on some ways is given, but need not be there.
            "Loop(List, names, many?) -> object",
            "const BotUserSession = stored(context.session.BotUserSession);",
            "  context.names.push(context.List[i].name);",
            "names: context.names",
            "many: context.session.BotUserSession.many",
            "Town: context.entities.Town ?? null",
            "names = Loop.names",
            "many = Loop.many",
            "Town = Loop.Town",
            "{{Loop.text}}",
        ],
    );
    // Indented by a tab, a block would be one line.
    has_not(&text, &["\\n\\t"]);

    let checked = read(&bot(&[script("Odd", "BotUserSession.put(context.key, 1);")], &json!({})));
    assert!(checked.lines().iter().any(|l| l.contains("computes the name of the value")));
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
        &[says("Said", &[("en", "Fish &amp; chips &#8364; &quot;now&quot; &unknown; &")])],
        &others,
    ));
    has(&text, &["Fish & chips € \\\"now\\\" &unknown; &", "<< ask me >>"]);
}

#[test]
fn an_equal_script_of_several_languages_is_there_once() {
    let code = "for (const x of context.List) { print(x) }";
    let languages = [("en", code), ("de", code), ("es", code), ("fr", code)];
    let others = json!({"supportedLanguages": ["en", "de", "es"]});
    let done = to_abl(&read(&bot(&[says("Said", &languages)], &others)));
    let text = shown(&done);
    assert_eq!(text.matches("type: sandbox").count(), 1, "{text}");
    assert!(done.files.iter().all(|f| !f.path.starts_with("behavior_profiles")), "{text}");
    // Another text is said by a profile, but not in a language that the bot does not speak.
    let languages = [("en", "Hello"), ("de", "Hallo"), ("fr", "Bonjour")];
    let done = to_abl(&read(&bot(&[says("Said", &languages)], &others)));
    let text = shown(&done);
    has(&text, &["WHEN: language == \"de\"", "Hallo"]);
    has_not(&text, &["Bonjour", "\"fr\""]);
    assert!(done.report.losses().any(|e| e.path.contains("unspokenLanguages")));
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

/// A bot with so many questions.
fn with_questions(count: usize) -> Value {
    let faqs: Vec<Value> = (0..count)
        .map(|n| json!({"question": format!("Question {n}, \"quoted\"?"), "responseType": "message",
            "alternateQuestions": [{"question": format!("Other {n}")}],
            "answer": [{"text": format!("Answer%20{n}%0Aof%20two%20lines"), "type": "basic", "channel": "default"}]}))
        .collect();
    let small = json!([{"language": "en", "groups": [{"groupName": "greetings", "nodes": [
        {"userUtterances": [{"text": "!hello ~emohello"}, {"text": "~emogoodbye"}],
         "botUtterances": [{"channel": "default", "text": "Hello%20you!", "type": "basic"}]},
        {"userUtterances": [{"text": "who be you"}],
         "botUtterances": [{"channel": "default", "text": "I%20am%20%26lt%3Bdisplay-bot-name%26gt%3B.", "type": "basic"}]},
        {"userUtterances": [{"text": "!y ~yes"}, {"text": "~ibedone"}],
         "botUtterances": [{"channel": "default", "text": "Well%20then.", "type": "basic"}]}]}]}]);
    let tasks =
        json!([{"name": "Vans", "description": "What drivers ask", "faqs": {"faqs": faqs}}]);
    bot(&[says("Said", &[("en", "Hi")])], &json!({"knowledgeTasks": tasks, "smallTalk": small}))
}

#[test]
fn questions_are_a_file_that_a_tool_searches() {
    let done = to_abl(&read(&with_questions(30)));
    let text = shown(&done);
    has(
        &text,
        &[
            "INTENT(Vans) -> vans",
            "description: \"What drivers ask\"",
            "search_vans(query: string)",
            "type: searchai",
            "kb_name: vans",
            "\"Question 29, \"\"quoted\"\"?\",\"Answer 29\nof two lines\"",
            "\"Other 29\",\"Answer 29\nof two lines\"",
            "INTENT(Small_talk) -> small_talk",
            "- hello\n    Hello you!",
            "- goodbye\n    Hello you!",
            "- who be you\n    I am Bot.",
        ],
    );
    // Who says yes answers a question.
    has_not(&text, &["Well then", "ibedone"]);
    // Each of them was read back, none is only said to be there.
    let asked = done.report.entries.iter().filter(|e| e.path.contains("Vans.knowledge.questions"));
    let kept: Vec<_> = asked.map(|e| e.preservation).collect();
    assert_eq!(kept.len(), 2 * 60);
    assert!(kept.iter().all(|p| *p == Preservation::Kept));
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
            says("Cards", &scripts),
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
