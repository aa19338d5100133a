//! Bot exports of Kore.ai XO: what becomes of them, and that nothing of them vanishes.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir::ReadOptions;
use agentir::{languages, targets};
use agentir_convert::{Conversion, NormalizedProgram, convert};
use agentir_diagnostics::{FileId, Severity};
use agentir_lang_abl::Options;
use agentir_lang_xo::tables::{ENTITY_TYPES, OPERATORS};
use agentir_project::read_program;
use agentir_tests::check::{Checked, File, check, json};
use agentir_tests::samples::{external_files, root};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

fn sample(path: &str) -> File {
    let text = std::fs::read_to_string(root().join("corpus/xo").join(path)).unwrap();
    File { name: path.to_owned(), text }
}

/// The third-party exports, by their paths in the external corpus.
fn external() -> Vec<File> {
    let mut all = external_files("kore-xo");
    all.retain(|f| f.name.ends_with("botDefinition.json"));
    assert!(!all.is_empty(), "no exports");
    all
}

fn ours() -> Vec<File> {
    let valid = ["valid/bicycle_rental", "valid/van_hire"];
    let valid = valid.map(|folder| sample(&format!("{folder}/botDefinition.json")));
    valid.into_iter().chain([sample("invalid/library.json")]).collect()
}

fn read(file: &File) -> Checked {
    check(std::slice::from_ref(file), Options::default())
}

fn to_abl(checked: &Checked) -> Conversion {
    convert(languages(), &checked.program, &checked.sources, targets::ABL)
}

/// The files of a conversion, one after the other.
fn shown(done: &Conversion) -> String {
    let mut out = String::new();
    for file in &done.files {
        let _ = write!(out, "--- {}\n{}\n", file.path, file.text);
    }
    out
}

/// What checking the output says, as lines.
fn findings(done: &Conversion) -> Vec<String> {
    // The files that knowledge bases and tables load are data.
    let documents = done.files.iter().filter(|f| !f.path.ends_with(".csv"));
    let files: Vec<File> =
        documents.map(|f| File { name: f.path.clone(), text: f.text.clone() }).collect();
    check(&files, Options::default()).lines()
}

fn assert_none(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

#[test]
fn an_export_becomes_a_project() {
    let checked = read(&sample("valid/bicycle_rental/botDefinition.json"));
    assert_none("findings in a correct export", &checked.lines());
    let done = to_abl(&checked);
    assert_none("findings in what it becomes", &findings(&done));
    insta::assert_snapshot!(shown(&done));
}

#[test]
fn a_definition_may_be_wrapped() {
    let file = sample("valid/bicycle_rental/botDefinition.json");
    let bot: Value = serde_json::from_str(&file.text).unwrap();
    let plain = shown(&to_abl(&read(&file)));
    for wrapper in ["botDefinition", "appDefinition", "app", "bot"] {
        let text = json!({ "exportedBy": "somebody", wrapper: bot }).to_string();
        let wrapped = read(&File { name: "appDefinition.json".to_owned(), text });
        assert_eq!(shown(&to_abl(&wrapped)), plain, "{wrapper}");
        assert!(json(&wrapped.program).to_string().contains("somebody"));
    }
}

#[test]
fn what_is_wrong_with_an_export_is_said() {
    let checked = read(&sample("invalid/library.json"));
    let done = to_abl(&checked);
    let errors = done.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    assert_eq!(errors.count(), 0);
    insta::assert_snapshot!(format!("{}\n\n{}", checked.lines().join("\n"), shown(&done)));
}

#[test]
fn credentials_are_in_nothing_that_is_made_of_an_export() {
    let file = sample("invalid/library.json");
    let checked = read(&file);
    let secrets = ["q7Zt4LmW92xKcV8sRb3N", "Zx81LmW92xKcV8sRb3Nq7t"];
    let mut made = vec![json(&checked.program).to_string()];
    for target in targets::all() {
        let done = convert(languages(), &checked.program, &checked.sources, target);
        made.push(shown(&done));
        made.push(serde_json::to_string(&done.report).unwrap());
        made.push(done.report.html());
        made.push(done.report.text());
    }
    made.extend(checked.diagnostics.iter().map(|d| format!("{d:?}")));
    for secret in secrets {
        assert!(file.text.contains(secret));
        assert!(made.iter().all(|text| !text.contains(secret)), "{secret}");
    }
    let settings = languages().get("kore-xo").unwrap().read(
        &agentir_lang_xo::SETTINGS_FILE,
        FileId(0),
        "{\"variables\": [{\"key\": \"A\", \"apiKey\": \"q7Zt4LmW92xKcV8sRb3N\"}]}",
        ReadOptions::default(),
    );
    assert!(!format!("{settings:?}").contains(secrets[0]));
    assert_eq!(settings.diagnostics.len(), 1);
}

/// An export with one dialog of an entity of this type.
fn with_entity(id: &str, more: &Value) -> File {
    let mut entity = json!({
        "_id": "dc-2", "type": "entity", "name": "Answer", "entityType": id,
        "message": [{"channel": "default", "localeData": {"en": {"type": "basic", "text": "Well?"}}}],
    });
    entity.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let bot = json!({
        "localeData": {"en": {"name": "Bot"}},
        "dialogs": [{"_id": "dg-1", "localeData": {"en": {"name": "Ask"}}, "nodes": [
            {"nodeId": "intent0", "type": "intent", "componentId": "dc-1",
             "transitions": [{"default": "entity1"}]},
            {"nodeId": "entity1", "type": "entity", "componentId": "dc-2",
             "transitions": [{"default": "end"}]},
        ]}],
        "dialogComponents": [
            {"_id": "dc-1", "type": "intent", "name": "Ask", "dialogId": "dg-1"},
            entity,
        ],
    });
    File { name: "botDefinition.json".to_owned(), text: bot.to_string() }
}

/// What asks for the entity, in ABL.
fn gathered(checked: &Checked) -> String {
    let done = to_abl(checked);
    let agent = done.files.iter().find(|f| f.path.ends_with("ask.agent.abl")).unwrap();
    let (_, step) = agent.text.split_once("GATHER:\n").unwrap();
    step.lines()
        .take_while(|l| !l.trim().starts_with("THEN"))
        .fold(String::new(), |out, line| out + "  " + line.trim_start_matches(' ') + "\n")
}

#[test]
fn every_type_of_entity_has_a_field() {
    let mut table = String::new();
    for ty in ENTITY_TYPES {
        for id in [Some(ty.id), ty.platform].into_iter().flatten() {
            let checked = read(&with_entity(id, &json!({})));
            assert_none(id, &checked.lines());
            let done = to_abl(&checked);
            let lines = findings(&done);
            assert_none(&format!("{id} in ABL"), &lines);
            if id == ty.id {
                let _ = write!(table, "{id}\n{}", gathered(&checked));
            } else {
                let other = read(&with_entity(ty.id, &json!({})));
                assert_eq!(gathered(&checked), gathered(&other), "{id}");
            }
        }
    }
    let values = json!({"localeData": {"en": {"allowedValues": {"values": [
        {"title": "Red", "value": "red", "synonyms": ["ruby"]}, {"title": "blue", "value": "blue"},
    ]}}}});
    for (what, id, more) in [
        ("a list with synonyms", "list_of_values", values.clone()),
        ("a list that is looked up", "list_of_items_lookup", values),
        ("a pattern", "regex", json!({"regexPattern": "/^[A-Z]{2}\\d+$/g"})),
        ("several", "label", json!({"isArray": true})),
        ("personal", "person_name", json!({"isSensitive": true})),
    ] {
        let checked = read(&with_entity(id, &more));
        let _ = write!(table, "{what}\n{}", gathered(&checked));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_operator_has_a_condition() {
    let mut table = String::new();
    for (name, _) in OPERATORS {
        let file = with_entity("number", &json!({}));
        let mut bot: Value = serde_json::from_str(&file.text).unwrap();
        bot["dialogs"][0]["nodes"][1]["transitions"] = json!([
            {"if": {"field": "entity1", "op": name, "value": "7"}, "then": "entity1"},
            {"default": "end"},
        ]);
        let checked = read(&File { text: bot.to_string(), ..file });
        let errors: Vec<_> = checked.errors().map(|d| checked.line(d)).collect();
        assert_none(name, &errors);
        let text = json(&checked.program).to_string();
        let (_, condition) = text.split_once("\"condition\":\"").unwrap();
        let _ = writeln!(table, "{name:?}: {}", condition.split('"').next().unwrap());
    }
    insta::assert_snapshot!(table);
}

/// Members that refer to other parts of the export; what they mean is said by the form of the result.
const REFERENCES: &[&str] = &[
    "_id",
    "refId",
    "nodeId",
    "componentId",
    "dialogId",
    "taskId",
    "taskName",
    "task",
    "then",
    "default",
    "defaultDialogId",
    "field",
    "formId",
    "level",
    "type",
    "op",
    "action",
    "conjoin",
    "dialogAct",
    "transitionType",
    "channel",
    "taskType",
    "contextMap",
    "idp",
    "protocol",
    "entityType",
    "enabled",
];

/// Words of XO's own that have another form, or none, in AgentIR: the places of variables, and the words
/// of JavaScript that a simple script needs.
const WORDS: &[&str] = &[
    "context",
    "entities",
    "session",
    "botusersession",
    "botcontext",
    "usercontext",
    "response",
    "body",
    "const",
    "let",
    "var",
    "if",
    "else",
    "null",
    "undefined",
    "print",
    "json",
    "stringify",
    "koredebugger",
    "console",
    "log",
    "message",
    "payload",
    "template",
    "type",
    "button",
    "buttons",
    "quick",
    "replies",
    "content",
    "text",
    "title",
    "postback",
    "n",
    "r",
    "20",
    "000",
    "raw",
    "none",
    "basic",
    "uxmap",
    "x",
    "web",
    "url",
    "value",
    "data",
    "currentlanguage",
    "lastmessage",
    "messagepayload",
    "true",
    "false",
    "end",
    "and",
    "u",
    "g",
    "usersession",
    "enterprisecontext",
    "generativeainode",
    // Characters.
    "amp",
    "lt",
    "gt",
    // The types of the components of forms, which their fields have others for.
    "textfield",
    "textarea",
    "radio",
    "dropdown",
    "checkbox",
    "phonenumber",
];

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).filter(|w| !w.is_empty())
}

/// The texts and numbers of an export that are not references, decoded, each with where it is.
fn leaves(key: &str, at: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(n) => found.push((at.to_owned(), n.to_string())),
        Value::String(text) if !REFERENCES.contains(&key) => {
            found.push((at.to_owned(), decoded(text)));
        }
        Value::String(_) => {}
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                leaves(key, &format!("{at}[{i}]"), item, found);
            }
        }
        Value::Object(members) => {
            // Success and failure of a call, which have no number.
            let context = members.get("context").and_then(Value::as_str);
            let is_status = context.is_some_and(|c| c.ends_with(".response.statusCode"));
            for (key, member) in members {
                if !is_status || !matches!(key.as_str(), "context" | "value") {
                    leaves(key, &format!("{at}.{key}"), member, found);
                }
            }
        }
    }
}

/// `%41` is `A`, where that makes a text; written without the reader that is tested.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).and_then(|d| std::str::from_utf8(d).ok());
        match code.and_then(|c| u8::from_str_radix(c, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[test]
fn every_word_of_an_export_is_in_its_ir() {
    every_word_is_in_the_ir(&ours());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn every_word_of_an_export_of_others_is_in_its_ir() {
    every_word_is_in_the_ir(&external());
}

fn every_word_is_in_the_ir(exports: &[File]) {
    let mut problems = Vec::new();
    for file in exports {
        let checked = read(file);
        // What is said of credentials is tested by itself.
        let hidden: BTreeSet<u32> = checked
            .diagnostics
            .iter()
            .filter(|d| d.rule.0 == "credential-not-copied")
            // An address is reported where it begins.
            .flat_map(|d| (0..5).map(|more| checked.place(d.primary.span).1 + more))
            .collect();
        let hidden: String = file
            .text
            .lines()
            .enumerate()
            .filter(|(i, _)| hidden.contains(&u32::try_from(i + 1).unwrap()))
            .map(|(_, line)| line)
            .collect();
        let there: BTreeSet<String> = words(&json(&checked.program).to_string()).collect();
        // In JSON the letters of `\n` stand before words.
        let there: BTreeSet<String> = there
            .iter()
            .flat_map(|w| [Some(w.clone()), w.strip_prefix(['n', 't', 'r']).map(str::to_owned)])
            .flatten()
            .collect();
        let mut found = Vec::new();
        leaves("", "", &serde_json::from_str(&file.text).unwrap(), &mut found);
        for (at, text) in found {
            for word in words(&text).filter(|w| !WORDS.contains(&w.as_str())) {
                if !there.contains(&word) && !decoded(&hidden).to_lowercase().contains(&word) {
                    problems.push(format!("{}{at}: {word}", file.name));
                }
            }
        }
    }
    assert_none("words that are not in the IR", &problems);
}

#[test]
fn every_value_is_kept_approximated_or_dropped() {
    every_value_is_in_the_report(&ours());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn every_value_of_third_party_exports_is_kept_approximated_or_dropped() {
    every_value_is_in_the_report(&external());
}

/// A comparison with an unset value is false in an export, and an error in Agent Script.
#[test]
fn comparisons_are_guarded_where_unset_values_are_errors() {
    let checked = read(&sample("valid/bicycle_rental/botDefinition.json"));
    let done = convert(languages(), &checked.program, &checked.sources, targets::AGENT_SCRIPT);
    let waiting = "@variables.GetPrice.waiting";
    let guarded = format!("{waiting} is not None and {waiting} >= 3");
    assert!(shown(&done).contains(&guarded), "{guarded}");
}

fn every_value_is_in_the_report(exports: &[File]) {
    for file in exports {
        let checked = read(file);
        for target in targets::all() {
            let done = convert(languages(), &checked.program, &checked.sources, target);
            let totals = done.report.totals;
            let sum = totals.kept + totals.approximated + totals.dropped + totals.unneeded;
            assert_eq!(
                sum,
                NormalizedProgram::new(&checked.program).size(),
                "{} to {target:?}",
                file.name
            );
            assert_eq!(sum, done.report.entries.len());
            let unexplained = done.report.losses().filter(|e| e.how.is_none());
            assert_eq!(unexplained.count(), 0, "{} to {target:?}", file.name);
            let unplaced = done.report.entries.iter().filter(|e| e.source.is_none());
            let unplaced: Vec<_> = unplaced.map(|e| e.path.as_str()).take(5).collect();
            assert!(unplaced.is_empty(), "{} to {target:?}: {unplaced:?}", file.name);
        }
    }
}

/// Findings in what third-party exports become: each is a mistake of the export, too.
const KNOWN: &[(&str, &str, usize, &str)] = &[
    (
        "kore-app-samples/kore-otp-generation/botDefinition.json",
        "unread-variable",
        1,
        "a script sets a variable that nothing reads; another one differs in the case of a letter",
    ),
    (
        "kore-app-samples/kore-twilio-sms/botDefinition.json",
        "used-before-set",
        1,
        "a message reads the answer of a service that the bot no longer has",
    ),
    (
        "kore-app-samples/kore-twilio-sms/botDefinition.json",
        "unreachable-step",
        1,
        "no transition leads to the node",
    ),
];

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn exports_of_others_become_projects_without_new_mistakes() {
    let mut problems = Vec::new();
    let mut seen: Vec<(String, String)> = Vec::new();
    for file in external() {
        let checked = read(&file);
        problems.extend(checked.errors().map(|d| format!("{}: {}", file.name, checked.line(d))));
        for target in [targets::ABL, targets::ABL_YAML] {
            let done = convert(languages(), &checked.program, &checked.sources, target);
            for d in done.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
                problems.push(format!("{}: {} {}", file.name, d.rule.0, d.message));
            }
            let again = convert(languages(), &done.program, &done.sources, target);
            if again.files != done.files {
                problems.push(format!("{}: written again, it looks different", file.name));
            }
            if target == targets::ABL {
                for line in findings(&done) {
                    let rule = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
                    seen.push((format!("{} {rule}", file.name), line));
                }
            }
        }
    }
    for (name, rule, count, _) in KNOWN {
        let key = format!("{name} {rule}");
        let found = seen.iter().filter(|(k, _)| *k == key).count();
        if found != *count {
            problems.push(format!("{key}: {found} instead of {count}"));
        }
        seen.retain(|(k, _)| *k != key);
    }
    problems.extend(seen.into_iter().map(|(key, line)| format!("{key}: {line}")));
    assert_none("mistakes", &problems);
}

/// Every value of a sample, replaced by values of other kinds, one at a time.
#[test]
fn nothing_in_an_export_is_trusted() {
    let file = sample("valid/bicycle_rental/botDefinition.json");
    let bot: Value = serde_json::from_str(&file.text).unwrap();
    let mut paths = Vec::new();
    places(&bot, String::new(), &mut paths);
    // Of values that are alike one will do.
    let mut kinds = BTreeSet::new();
    paths.retain(|p| {
        let kind: String = p.chars().filter(|c| !c.is_ascii_digit()).collect();
        kinds.insert(kind)
    });
    let others = [
        Value::Null,
        json!(true),
        json!(-1e300),
        json!("%"),
        json!("{{"),
        json!("{{context}}"),
        json!([[]]),
        json!({"a": {"b": []}}),
        bot["dialogs"].clone(),
    ];
    let run = |(n, path): (usize, &String)| {
        for (i, other) in others.iter().enumerate() {
            let mut broken = bot.clone();
            *broken.pointer_mut(path).unwrap() = other.clone();
            let text = broken.to_string();
            let files = [("botDefinition.json", text.as_str())];
            let loaded = read_program(languages(), files, ReadOptions::default());
            let program = &loaded.programs[0].program;
            // Each place with one of the values, and all values somewhere: writing takes its time.
            if i == n % others.len() && !program.agents.is_empty() {
                let done = convert(languages(), program, &loaded.sources, targets::ABL);
                let wrong = done.diagnostics.iter().find(|d| d.severity == Severity::Error);
                let wrong = wrong.map(|d| format!("{}: {}", d.rule.0, d.message));
                assert_eq!(wrong, None, "{path} = {other}");
            }
        }
    };
    paths.par_iter().enumerate().for_each(run);
}

fn places(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                places(item, format!("{at}/{i}"), found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                places(member, format!("{at}/{key}"), found);
            }
        }
        _ => {}
    }
    if !at.is_empty() {
        found.push(at);
    }
}
