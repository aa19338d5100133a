//! Hostile exports of Kore.ai XO.

use super::{Case, around, lines};

/// A bot of one dialog with these nodes and components, which all begin with a comma.
fn bot(nodes: &str, components: &str) -> String {
    format!(
        "{{\"dialogs\": [{{\"_id\": \"d\", \"nodes\": [{{\"nodeId\": \"i\", \"type\": \"intent\", \"componentId\": \"c\", \"transitions\": [{{\"default\": \"n0\"}}]}}{nodes}]}}],\n\"dialogComponents\": [{{\"_id\": \"c\", \"type\": \"intent\", \"name\": \"I\", \"dialogId\": \"d\"}}{components}]}}"
    )
}

fn message(i: usize, text: &str) -> String {
    format!(
        ",\n{{\"_id\": \"c{i}\", \"type\": \"message\", \"name\": \"M\", \"message\": [{{\"channel\": \"default\", \"localeData\": {{\"en\": {{\"type\": \"basic\", \"text\": \"{text}\"}}}}}}]}}"
    )
}

fn script(code: &str) -> String {
    let code: String = code.bytes().map(|b| format!("%{b:02X}")).collect();
    bot(
        ",{\"nodeId\": \"n0\", \"type\": \"script\", \"componentId\": \"s\"}",
        &format!(
            ", {{\"_id\": \"s\", \"type\": \"script\", \"name\": \"S\", \"script\": \"{code}\"}}"
        ),
    )
}

pub(crate) const CASES: &[Case] = &[
    ("nodes of one name", "botDefinition.json", 4_000, |n| {
        bot(
            &lines(n, |i| {
                format!(
                    ",\n{{\"nodeId\": \"n{i}\", \"type\": \"message\", \"componentId\": \"c{i}\", \"transitions\": [{{\"default\": \"n{}\"}}]}}",
                    i + 1
                )
            }),
            &lines(n, |i| message(i, "Hello%20there")),
        )
    }),
    ("messages with a hole, one behind the other", "botDefinition.json", 4_000, |n| {
        bot(
            &lines(n, |i| {
                format!(
                    ",\n{{\"nodeId\": \"n{i}\", \"type\": \"message\", \"componentId\": \"c{i}\", \"transitions\": [{{\"default\": \"n{}\"}}]}}",
                    i + 1
                )
            }),
            &lines(n, |i| message(i, "Hello%20{{context.x}}")),
        )
    }),
    ("nodes without components", "botDefinition.json", 4_000, |n| {
        bot(
            &lines(n, |i| {
                format!(
                    ",\n{{\"nodeId\": \"n{i}\", \"type\": \"teleport\", \"componentId\": \"x\", \"transitions\": [{{\"default\": \"nowhere\"}}]}}"
                )
            }),
            "",
        )
    }),
    ("actions in actions", "botDefinition.json", 40, |n| {
        bot(
            &format!(
                ",{}",
                around(
                    n,
                    "{\"nodeId\": \"n0\", \"type\": \"botAction\", \"componentId\": \"a\", \"nodes\": [",
                    "",
                    "]}"
                )
            ),
            ", {\"_id\": \"a\", \"type\": \"botAction\", \"name\": \"A\"}",
        )
    }),
    ("deep lists", "botDefinition.json", 100_000, |n| around(n, "[", "", "]")),
    ("deep objects", "botDefinition.json", 100_000, |n| around(n, "{\"dialogs\":", "1", "}")),
    ("a deep condition", "botDefinition.json", 60, |n| {
        let test = around(
            n / 2,
            "{\"conjoin\": \"and\", \"tests\": [",
            "{\"field\": \"n0\", \"op\": \"exists\"}",
            "]}",
        );
        bot(
            &format!(
                ",{{\"nodeId\": \"n0\", \"type\": \"logic\", \"componentId\": \"c\", \"transitions\": [{{\"if\": {test}, \"then\": \"n0\"}}]}}"
            ),
            "",
        )
    }),
    ("a wide condition", "botDefinition.json", 2_000, |n| {
        let tests = lines(n, |i| {
            format!(
                "{}{{\"context\": \"context.v{i}\", \"op\": \"eq\", \"value\": \"1\"}}",
                if i == 0 { "" } else { ",\n" }
            )
        });
        bot(
            &format!(
                ",{{\"nodeId\": \"n0\", \"type\": \"logic\", \"componentId\": \"c\", \"transitions\": [{{\"if\": {{\"conjoin\": \"or\", \"tests\": [{tests}]}}, \"then\": \"n0\"}}]}}"
            ),
            "",
        )
    }),
    ("dialogs that call each other", "botDefinition.json", 1_000, |n| {
        let dialogs = lines(n, |i| {
            format!(
                "{}{{\"_id\": \"d{i}\", \"nodes\": [{{\"nodeId\": \"i\", \"type\": \"intent\", \"componentId\": \"c{i}\", \"transitions\": [{{\"default\": \"n\"}}]}}, {{\"nodeId\": \"n\", \"type\": \"intent\", \"componentId\": \"c{}\"}}]}}",
                if i == 0 { "" } else { ",\n" },
                (i + 1) % n.max(1)
            )
        });
        let components = lines(n, |i| {
            format!(
                "{}{{\"_id\": \"c{i}\", \"type\": \"intent\", \"name\": \"D\", \"dialogId\": \"d{i}\"}}",
                if i == 0 { "" } else { ",\n" }
            )
        });
        format!("{{\"dialogs\": [{dialogs}],\n\"dialogComponents\": [{components}]}}")
    }),
    ("holes", "botDefinition.json", 4_000, |n| {
        bot(
            ",{\"nodeId\": \"n0\", \"type\": \"message\", \"componentId\": \"c0\"}",
            &message(0, &"{{context.x}}".repeat(n)),
        )
    }),
    ("open holes", "botDefinition.json", 40_000, |n| {
        bot(
            ",{\"nodeId\": \"n0\", \"type\": \"message\", \"componentId\": \"c0\"}",
            &message(0, &"{{".repeat(n)),
        )
    }),
    ("encoded text", "botDefinition.json", 100_000, |n| {
        bot(
            ",{\"nodeId\": \"n0\", \"type\": \"message\", \"componentId\": \"c0\"}",
            &message(0, &"%F0%9F%9A%B2".repeat(n)),
        )
    }),
    ("escaped text", "botDefinition.json", 100_000, |n| {
        bot(
            ",{\"nodeId\": \"n0\", \"type\": \"message\", \"componentId\": \"c0\"}",
            &message(0, &"\\ud83d\\udeb2".repeat(n)),
        )
    }),
    ("a script of many statements", "botDefinition.json", 2_000, |n| {
        script(&lines(n, |i| format!("context.v{i} = context.v{};\n", i + 1)))
    }),
    ("a script of many brackets", "botDefinition.json", 20_000, |n| {
        script(&around(n, "(", "1", ")"))
    }),
    ("a script of many calls", "botDefinition.json", 100_000, |n| {
        script(&format!("x{};", ".f()".repeat(n)))
    }),
    ("a script of many members", "botDefinition.json", 40_000, |n| {
        script(&format!("x{};", ".a".repeat(n)))
    }),
    ("a script of many stores", "botDefinition.json", 10_000, |n| {
        script(&format!("for (;;) {{ UserSession{}; }}", ".put('a', 1, x)".repeat(n)))
    }),
    ("an address of many parts", "botDefinition.json", 200_000, |n| {
        bot(
            ",{\"nodeId\": \"n0\", \"type\": \"service\", \"componentId\": \"s\"}",
            &format!(
                ", {{\"_id\": \"s\", \"type\": \"service\", \"name\": \"S\", \"endPoint\": {{\"host\": \"a.invalid\", \"path\": \"/x?{}\", \"method\": \"get\"}}}}",
                "a&".repeat(n)
            ),
        )
    }),
    ("forms as a whole", "botDefinition.json", 1_000, |n| {
        let fields = lines(n, |i| {
            format!(
                "{}{{\"name\": \"f{i}\", \"type\": \"textField\"}}",
                if i == 0 { "" } else { ",\n" }
            )
        });
        let whole = bot(
            ",{\"nodeId\": \"n0\", \"type\": \"message\", \"componentId\": \"c0\"}",
            &message(0, &"{{context.forms.F}}".repeat(n)),
        );
        let (open, _) = whole.rsplit_once('}').unwrap_or_default();
        format!("{open}, \"forms\": [{{\"name\": \"F\", \"components\": [{fields}]}}]}}")
    }),
    ("a long answer to many questions", "botDefinition.json", 2_000, |n| {
        let ways =
            lines(n, |i| format!("{}{{\"question\": \"q{i}\"}}", if i == 0 { "" } else { ",\n" }));
        format!(
            "{{\"dialogs\": [], \"dialogComponents\": [], \"knowledgeTasks\": [{{\"name\": \"K\", \"faqs\": {{\"faqs\": [{{\"question\": \"q\", \"alternateQuestions\": [{ways}], \"answer\": [{{\"text\": \"{}\", \"type\": \"basic\"}}]}}]}}}}]}}",
            "A".repeat(50 * n)
        )
    }),
    ("a script of many parts", "botDefinition.json", 10_000, |n| {
        script(&format!("context{} = 1;", ".x".repeat(n)))
    }),
];
