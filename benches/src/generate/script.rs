//! Agents in Agent Script.

use super::agent::Subject;
use super::words::{FIELDS, Random, TRAITS, VERBS};
use std::fmt::Write as _;

/// A file: an agent that routes to `count` subagents, each with actions and a prompt.
pub(super) fn file(name: &str, count: usize, random: &mut Random) -> String {
    let subjects: Vec<Subject> = (0..count).map(|i| Subject::new(i, false, random)).collect();
    let mut text = format!(
        "system:\n    instructions: \"{}. {}\"\n    messages:\n        welcome: \"Welcome. How can I help?\"\n        error: \"Something went wrong. Please try again.\"\n\nconfig:\n    developer_name: \"{name}\"\n    agent_label: \"{name}\"\n\naccess:\n    default_agent_user: \"desk@{name}.example\"\n\nvariables:\n    verified: mutable boolean = False\n        description: \"Whether the caller is known\"\n",
        random.pick(TRAITS),
        random.prose(1).join(" "),
    );
    let fields = random.between(3, 8);
    for (field, ty, question) in FIELDS.iter().take(fields) {
        let (ty, value) = match *ty {
            "number" => ("number", "0"),
            "boolean" => ("boolean", "False"),
            _ => ("string", "\"\""),
        };
        let _ = write!(
            text,
            "    {field}: mutable {ty} = {value}\n        description: \"{question}\"\n"
        );
    }
    text.push_str(
        "\nstart_agent router:\n    description: \"Finds out what it is about\"\n    reasoning:\n        instructions: ->\n            | Ask what it is about, and hand over.\n",
    );
    for (field, ..) in FIELDS.iter().take(fields) {
        let _ = writeln!(text, "            | The {field} is {{!@variables.{field}}}.");
    }
    text.push_str("        actions:\n");
    for subject in &subjects {
        let to = subject.name.to_lowercase();
        let _ = writeln!(
            text,
            "            go_to_{to}: @utils.transition to @subagent.{to}\n                description: \"When it is about {to}\"",
        );
    }
    text.push_str(
        "            note_details: @utils.setVariables\n                description: \"Note what they say\"\n",
    );
    for (field, ..) in FIELDS.iter().take(fields) {
        let _ = writeln!(text, "                with {field}=...");
    }
    subjects.iter().for_each(|s| subagent(s, random, &mut text));
    text
}

fn subagent(subject: &Subject, random: &mut Random, text: &mut String) {
    let name = subject.name.to_lowercase();
    let verbs = random.pick_some(VERBS, 2);
    let _ = write!(
        text,
        "\nsubagent {name}:\n    description: \"Takes care of {name}\"\n    actions:\n"
    );
    for verb in &verbs {
        let _ = write!(
            text,
            "        {verb}_{name}:\n            description: \"Does what the name says\"\n            inputs:\n                postal_code: string\n                    description: \"Where\"\n                    is_required: True\n                guest_count: number\n                    description: \"For how many\"\n            outputs:\n                status: string\n                    description: \"What came of it\"\n            target: \"flow://{verb}_{name}\"\n",
        );
    }
    if random.chance(40) {
        text.push_str(
            "    before_reasoning:\n        if @variables.verified is not True and @variables.guest_count > 8:\n            transition to @subagent.router\n",
        );
    }
    text.push_str("    reasoning:\n        instructions: ->\n");
    for line in random.prose(4) {
        let _ = writeln!(text, "            | {line}");
    }
    text.push_str(
        "            if @variables.verified:\n                | They are known, and live at {!@variables.postal_code}.\n            else:\n                | Ask for the postal code first.\n        actions:\n",
    );
    for verb in &verbs {
        let _ = write!(
            text,
            "            {verb}: @actions.{verb}_{name}\n                description: \"Use it when all is known\"\n                available when @variables.postal_code != \"\"\n                with postal_code=@variables.postal_code\n                with guest_count=...\n                set @variables.verified = @outputs.status == \"known\"\n",
        );
    }
    text.push_str(
        "            note: @utils.setVariables\n                description: \"Note what they say\"\n                with postal_code=...\n                with guest_count=...\n",
    );
}
