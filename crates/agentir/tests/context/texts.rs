//! Texts that are half written, broken elsewhere, or of unusual form.

use super::{Files, ask, labels, snapshot};

const SCRIPT: Files<'_> = Files { name: "desk.agent", text: "", others: &[] };
const NATIVE: Files<'_> = Files { name: "desk.agent.abl", text: "", others: &[] };
const YAML: Files<'_> = Files { name: "desk.agent.yaml", text: "", others: &[] };
const ADL: Files<'_> = Files { name: "agents.yml", text: "", others: &[] };

/// The four notations: a text with the caret at the key of a field, and another field of the same record.
const KEYS: [(Files<'_>, &str, &str); 4] = [
    (
        NATIVE,
        "AGENT: Desk\nGOAL: \"Lend 📚\"\nGATHER:\n  title:\n    prompt: \"Which?\"\n    <|>",
        "type",
    ),
    (
        YAML,
        "agent: Desk\ngoal: \"Lend 📚\"\ngather:\n  title:\n    prompt: \"Which?\"\n    <|>",
        "type",
    ),
    (
        SCRIPT,
        "config:\n    developer_name: \"📚\"\n\nstart_agent desk:\n    label: \"Desk\"\n    <|>",
        "description",
    ),
    (ADL, "main:\n  type: flow agent\n  description: Lends 📚\n  <|>", "steps"),
];

#[test]
fn layouts_change_no_answer() {
    for (files, text, field) in KEYS {
        let plain = labels(files, text);
        assert!(plain.iter().any(|label| label.eq_ignore_ascii_case(field)), "{text}\n{plain:?}");
        let variants = [
            // The end of the file with and without the end of a line.
            format!("{text}\n"),
            format!("{text}\n\n\n"),
            text.replace('\n', "\r\n"),
            format!("{}\r\n", text.replace('\n', "\r\n")),
            format!("\u{feff}{text}"),
            // A key without its colon, and one with it.
            text.replace("<|>", "de<|>"),
            text.replace("<|>", "de<|>:"),
            text.replace("<|>", "d<|>e: x"),
            text.replace("<|>", "<|>  "),
        ];
        for variant in variants {
            assert_eq!(labels(files, &variant), plain, "{variant:?}");
        }
    }
}

#[test]
fn tabs_indent() {
    for (files, text, field) in KEYS {
        // YAML has no tabs.
        if files.name.ends_with("ml") {
            continue;
        }
        let unit = if files.name == SCRIPT.name { "    " } else { "  " };
        let tabs = text.replace(unit, "\t");
        let labels = labels(files, &tabs);
        assert!(labels.iter().any(|label| label.eq_ignore_ascii_case(field)), "{tabs}\n{labels:?}");
    }
}

#[test]
fn errors_elsewhere_do_not_matter() {
    let cases = [
        (
            NATIVE,
            "AGENT: Desk\nGOAL: \"Lend\nMEMORY:\n  session:\n    - title: [a,\nFLOW:\n  ask:\n    RESPOND: \"Hi\"\n    THEN: <|>\n  bye:\n    THEN: ((\nCOMPLETE:\n  - WHEN: ][\n",
            "bye",
        ),
        (
            YAML,
            "agent: Desk\ngoal: Lend\nflow:\n  steps: [ask, bye]\n  ask:\n    respond: \"Hi\"\n    then: <|>\n  bye:\n    respond: \"}}{{\"\n    then: COMPLETE\ncomplete:\n  - when: ((\n",
            "bye",
        ),
        (
            SCRIPT,
            "config:\n    developer_name: \"open\n\nvariables:\n    days: mutable number = = 1\n    title: mutable string = \"\"\n\nstart_agent desk:\n    description: \"Lends\"\n    reasoning:\n        instructions: ->\n            if @variables.<|>\n            set @@ = \n",
            "title",
        ),
        (
            ADL,
            "main:\n  type: flow agent\n  steps:\n    - bot: \"${\"\n    - next: <|>\n    - if: ((\n      then:\n        - label: again\n",
            "again",
        ),
    ];
    for (files, text, name) in cases {
        let labels = labels(files, text);
        assert!(labels.iter().any(|label| label == name), "{text}\n{labels:?}");
    }
}

/// Half a line hides nothing that follows it, even in YAML, where an open bracket or quote does.
#[test]
fn open_brackets_and_quotes_hide_nothing() {
    let base = "agent: Desk\ngoal: Lend\nmemory:\n  session:\n    - name: title\nflow:\n  steps: [ask, bye]\n  ask:\n    set:\n      title: \"x\"\n    HERE\n  bye:\n    respond: \"Bye\"\n    then: COMPLETE\n";
    for (here, name) in [
        ("then: <|>", "bye"),
        ("then: \"<|>", "bye"),
        ("collect: [<|>", "title"),
        ("respond: \"Hello {{<|>", "title"),
        ("if: title == <|>", "title"),
    ] {
        let text = base.replace("HERE", here);
        let labels = labels(YAML, &text);
        assert!(labels.iter().any(|label| label == name), "{text}\n{labels:?}");
    }
}

#[test]
fn places_outside_of_the_text_have_no_answer() {
    for (files, text, _) in KEYS {
        let text = text.replace("<|>", "");
        let (snapshot, file) = snapshot(files.name, &text, &[]);
        let end = u32::try_from(text.len()).unwrap();
        let within = u32::try_from(text.find('📚').unwrap()).unwrap() + 1;
        assert!(snapshot.context(file, end).is_some());
        for offset in [end + 1, u32::MAX, within, within + 2] {
            assert_eq!(snapshot.context(file, offset), None, "{} {offset}", files.name);
            assert!(snapshot.expected(file, offset).is_empty());
        }
    }
}

#[test]
fn comments_have_no_answer() {
    for (files, text) in [
        (NATIVE, "AGENT: Desk\n# about <|>\nGOAL: \"x\"\n"),
        (YAML, "agent: Desk\n# about <|>\ngoal: x\n"),
        (SCRIPT, "config:\n    developer_name: \"x\" # about <|>\n"),
        (ADL, "main:\n  type: flow agent\n  # about <|>\n"),
    ] {
        let (context, expected, _) = ask(files, text);
        assert_eq!(context, None, "{text}");
        assert!(expected.is_empty());
    }
}
