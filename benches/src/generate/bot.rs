//! Bots in ADL.

use super::agent::Subject;
use super::words::{FIELDS, Random, VERBS};
use std::fmt::Write as _;

/// `main`, an ensemble, and agents with prompts and with steps; and the functions that they call.
pub(super) fn files(count: usize, random: &mut Random) -> (String, String) {
    let names: Vec<String> =
        (0..count).map(|i| Subject::new(i, false, random).name.to_lowercase()).collect();
    let mut text = "main:\n  type: flow agent\n  steps:\n    - call: desk\n\ndesk:\n  type: ensemble agent\n  description: Finds out what it is about\n  fallback: default\n  contains:\n"
        .to_owned();
    for name in &names {
        let _ = writeln!(text, "    - {name}");
    }
    let mut functions = String::new();
    for name in &names {
        let (field, verbs) = if random.chance(50) {
            prompt(name, random, &mut text)
        } else {
            flow(name, random, &mut text)
        };
        for verb in verbs {
            let _ = write!(
                functions,
                "def {verb}_{name}({field}, **kwargs):\n    \"\"\"Does what its name says.\"\"\"\n    return [{{\"bot\": {field}}}]\n\n\n"
            );
        }
    }
    (text, functions)
}

/// A field of an agent, and what its functions do.
type Named = (&'static str, Vec<&'static str>);

fn head(name: &str, kind: &str, random: &mut Random, text: &mut String) -> &'static str {
    let _ = write!(
        text,
        "\n{name}:\n  type: {kind} agent\n  description: Takes care of {name}\n  args:\n"
    );
    let fields = random.between(2, 5);
    let first = random.below(FIELDS.len() - fields);
    for (field, ..) in FIELDS.iter().skip(first).take(fields) {
        let _ = writeln!(text, "    - {field}");
    }
    FIELDS.get(first).map_or("", |(field, ..)| field)
}

fn prompt(name: &str, random: &mut Random, text: &mut String) -> Named {
    let field = head(name, "llm", random, text);
    let verbs = random.pick_some(VERBS, 2);
    text.push_str("  prompt: |\n");
    for (line, number) in random.prose(4).iter().zip(1..) {
        let _ = writeln!(text, "    {number}. {line}");
    }
    for (verb, number) in verbs.iter().zip(5..) {
        let _ = writeln!(text, "    {number}. Call \"{verb}_{name}\" with the {field}.");
    }
    text.push_str("  uses:\n");
    for verb in &verbs {
        let _ = writeln!(text, "    - {verb}_{name}");
    }
    (field, verbs)
}

fn flow(name: &str, random: &mut Random, text: &mut String) -> Named {
    let field = head(name, "flow", random, text);
    let verb = random.pick(VERBS);
    let _ = write!(
        text,
        "  steps:\n    - label: ask\n    - bot: \"What about your {field}?\"\n    - user\n    - if: {field} == None\n      then:\n        - next: ask\n    - call: {verb}_{name}\n      args:\n        {field}: {field}\n"
    );
    for number in 0..random.between(1, 6) {
        let _ = write!(
            text,
            "    - if: the user claims \"yes\", \"number {number}\"\n      then:\n        - bot: \"It is ${{{field}}}.\"\n        - set:\n            {field}: {number}\n    - else:\n        - bot: \"{}\"\n",
            random.prose(1).join(" ")
        );
    }
    text.push_str("    - return: success\n");
    (field, vec![verb])
}
