//! Scripts of XO exports.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use super::xo_shapes::{abl, bot, has, has_not, read, says, script, shown, to_abl};
use serde_json::{Value, json};

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
            "CLEAR: [City]",
            // Persistent memory keeps what it has.
            "project.old = \"\"",
            "RESPOND: \"Noted\"",
            "IF: zip == \"no\"",
            "RESPOND: \"No zip\"",
        ],
    );
    has_not(&text, &["type: sandbox", "UserSession"]);
}

#[test]
fn loops_that_make_lists_are_transforms() {
    let filled = "context.big = [];\nfor (var i = 0; i < context.vans.length; i++) {\n\
        var van = context.vans[i];\n  if (van.size > 8 && van.free) {\n    \
        context.big.push({ name: van.name, town: context.entities.Town });\n  }\n}\n\
        print('Found ' + context.big.length);";
    let chained = "const cheap = context.vans.filter(v => v.price <= context.limit).slice(0, 3);\n\
        context.cheap = cheap; context.copy = context.vans.map(v => ({ 'id': v.id }));";
    let checked = read(&bot(&[script("Fill", filled), script("Chain", chained)], &json!({})));
    assert!(checked.lines().iter().all(|l| !l.contains("error")), "{:?}", checked.lines());
    let done = to_abl(&checked);
    assert!(done.diagnostics.is_empty(), "{:?}", done.diagnostics);
    let text = shown(&done);
    has(
        &text,
        &[
            "TRANSFORM: vans AS item INTO big\n      FILTER: item.size > 8 AND item.free\n      MAP:\n        \
             name: item.name\n        town: Town",
            "RESPOND: \"Found {{LENGTH(big)}}\"",
            "TRANSFORM: vans AS v INTO cheap\n      FILTER: v.price <= limit\n      LIMIT: 3",
            "TRANSFORM: vans AS v INTO copy\n      MAP:\n        id: v.id",
        ],
    );
    has_not(&text, &["type: sandbox", "SET"]);
    // An item that has the name of a variable would hide it.
    let hides = "context.l = context.vans.filter(limit => limit.price <= context.limit);";
    has(&abl(&bot(&[script("Hide", hides)], &json!({}))), &["type: sandbox"]);
    // Where something else is done for each item, the script stays what it is, with what it needs.
    let says = "context.l = []; context.vans.forEach(v => { context.l.push(v.name); });";
    let text = abl(&bot(&[script("Names", says)], &json!({})));
    has(&text, &["type: sandbox", "context.vans.forEach", "l = Names.l"]);
    has_not(&text, &["TRANSFORM"]);
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
    assert!(checked.lines().iter().any(|l| l.contains("computes which value it stores or reads")));
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
fn what_a_store_is_given_third_is_a_value_or_how_long_it_lives() {
    let ttl = "var ttl = 60 * 60; BotUserSession.put('status', 'open', ttl);";
    has(&abl(&bot(&[script("Put", ttl)], &json!({}))), &["SET: status = \"open\""]);
    let in_map = "var key = 'open'; BotUserSession.put('m', 'status', key);";
    has(&abl(&bot(&[script("Put", in_map)], &json!({}))), &["SET: m.status = \"open\""]);
    // Nobody can tell, so the script decides when it runs.
    for unknown in [
        "BotUserSession.put('status', 'open', env.TTL);",
        "var ttl = 5; ttl = context.ttl; BotUserSession.put('status', 'open', ttl);",
        "function f(ttl) { BotUserSession.put('status', 'open', ttl); }; f(5);",
    ] {
        let checked = read(&bot(&[script("Put", unknown)], &json!({})));
        assert!(checked.lines().iter().any(|l| l.contains("computes which value")), "{unknown}");
        let text = shown(&to_abl(&checked));
        has(&text, &["type: sandbox"]);
        has_not(&text, &["SET: status"]);
    }
    let reset = "for (var k in context.session.BotUserSession) { delete context.session.BotUserSession[k]; }";
    let checked = read(&bot(&[script("Reset", reset)], &json!({})));
    assert!(checked.lines().iter().any(|l| l.contains("computes which value")), "{reset}");
}

#[test]
fn stored_values_are_deleted_as_they_are_read() {
    let code =
        "for (const x of context.L) { UserSession.remove('a'); UserSession.delete('m', 'k'); }";
    let text = abl(&bot(&[script("Drop", code)], &json!({})));
    has(
        &text,
        &[
            "delete(...keys) {",
            "delete keys.reduce((at, key) => at?.[key], this)?.[last];",
            "remove(...keys) { this.delete(...keys); }",
            "a = Drop.a",
            "m = Drop.m",
        ],
    );
}

#[test]
fn a_script_of_several_nodes_is_shared_whatever_they_are_called() {
    let code = "for (const x of context.L) { print(x) }";
    let mut export = bot(&[script("First", code)], &json!({}));
    let other = bot(&[script("Second", code)], &json!({})).to_string();
    let other = other.replace("dg-1", "dg-2").replace("dc-", "ec-").replace("\"Ask\"", "\"Other\"");
    let other: Value = serde_json::from_str(&other).unwrap();
    for list in ["dialogs", "dialogComponents"] {
        let more = other[list].as_array().unwrap().clone();
        export[list].as_array_mut().unwrap().extend(more);
    }
    let text = abl(&export);
    assert_eq!(text.matches("type: sandbox").count(), 1, "{text}");
    has(&text, &["Runs the script `First`"]);
}
