//! Random programs with flags, counters and words, in three languages.

use agentir_runtime::SplitMix64;
use std::fmt::Write as _;

/// The variables of the programs.
pub(super) const VARIABLES: &[&str] = &["a", "b", "c", "n", "m", "word", "guests"];

/// Random numbers that are the same on every machine.
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next()
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

/// The files of a program; the first agent is the entry.
pub(super) fn program(random: &mut Random) -> Vec<(String, String)> {
    match random.below(10) {
        0..=4 => abl(random),
        5..=8 => vec![("boats.agent".to_owned(), agent_script(random))],
        _ => vec![("boats.yml".to_owned(), adl(random))],
    }
}

/// Conditions, in ABL; `{v}` is what variables begin with.
const CONDITIONS: &[&str] = &[
    "{v}a == {t}",
    "{v}a == {f}",
    "{v}b == {t}",
    "{v}c == {f}",
    "{v}n > 2",
    "{v}n >= 5",
    "{v}n < 1",
    "{v}n == 3",
    "{v}m > {v}n",
    "{v}m <= {v}n",
    "{v}m == 4",
    "{v}word == \"red\"",
    "{v}word == \"green\"",
    "{v}word != \"blue\"",
    "{v}a == {t} {and} {v}b == {f}",
    "{v}a == {t} {or} {v}c == {t}",
    "{v}b == {t} {and} {v}n > 3",
    "{v}n > 0 {and} {v}n < 4",
    "{v}a == {f} {and} {v}b == {f} {and} {v}c == {f}",
];

/// Assignments: the variable, and its value.
const ASSIGNMENTS: &[(&str, &str)] = &[
    ("a", "{t}"),
    ("a", "{f}"),
    ("b", "{t}"),
    ("b", "{f}"),
    ("c", "{t}"),
    ("c", "{v}a"),
    ("b", "{v}c"),
    ("n", "0"),
    ("n", "3"),
    ("n", "{v}n + 1"),
    ("n", "{v}n - 1"),
    ("m", "{v}n"),
    ("m", "{v}n + 2"),
    ("m", "5"),
    ("n", "{v}m * 2"),
    ("word", "\"red\""),
    ("word", "\"green\""),
];

fn spelled(text: &str, script: bool) -> String {
    let [v, t, f, and, or] = match script {
        true => ["@variables.", "True", "False", "and", "or"],
        false => ["", "true", "false", "AND", "OR"],
    };
    let text = text.replace("{v}", v).replace("{t}", t).replace("{f}", f);
    text.replace("{and}", and).replace("{or}", or)
}

fn condition(random: &mut Random, script: bool) -> String {
    spelled(random.pick(CONDITIONS), script)
}

fn assignment(random: &mut Random, script: bool) -> (&'static str, String) {
    let (name, value) = ASSIGNMENTS[random.below(ASSIGNMENTS.len())];
    (name, spelled(value, script))
}

fn memory(random: &mut Random, to: &mut String) {
    to.push_str("MEMORY:\n  session:\n");
    for (name, values) in [
        ("a", ["true", "false"]),
        ("b", ["false", "false"]),
        ("c", ["false", "true"]),
        ("n", ["0", "2"]),
        ("m", ["0", "4"]),
        ("word", ["\"red\"", "\"blue\""]),
    ] {
        let _ = writeln!(to, "    - {name}");
        if random.chance(70) {
            let _ = writeln!(to, "        INITIAL: {}", values[random.below(2)]);
        }
    }
}

fn sets(random: &mut Random, indent: &str, to: &mut String) {
    let count = random.below(3);
    if count == 0 {
        return;
    }
    let _ = writeln!(to, "{indent}SET:");
    for _ in 0..count {
        let (name, value) = assignment(random, false);
        let _ = writeln!(to, "{indent}  {name} = {value}");
    }
}

fn abl(random: &mut Random) -> Vec<(String, String)> {
    let other = random.chance(50);
    let mut text = String::from(
        "AGENT: Boats\nGOAL: \"Rents out boats\"\nTOOLS:\n  look_up(n: number) -> {ok: boolean, amount: number, state: string}\n    description: \"Looks up\"\n",
    );
    memory(random, &mut text);
    text.push_str(
        "GATHER:\n  guests:\n    prompt: \"How many?\"\n    type: number\n    required: true\n",
    );
    steps(random, other, &mut text);
    if other {
        let (name, _) = assignment(random, false);
        let _ = write!(
            text,
            "DELEGATE:\n  - AGENT: Desk\n    WHEN: guests > 0\n    INPUT: {{{name}: {name}}}\n    RETURNS: {{b: b}}\n"
        );
        let _ = write!(
            text,
            "HANDOFF:\n  - TO: Desk\n    WHEN: {}\n    CONTEXT:\n      pass: [{name}, n]\n",
            condition(random, false)
        );
    }
    let mut files = vec![("boats.agent.abl".to_owned(), text)];
    if other {
        let mut text = String::from(
            "AGENT: Desk\nGOAL: \"Takes the money\"\nTOOLS:\n  look_up(n: number) -> {ok: boolean, amount: number, state: string}\n    description: \"Looks up\"\n",
        );
        memory(random, &mut text);
        text.push_str(
            "GATHER:\n  guests:\n    prompt: \"How many?\"\n    type: number\n    required: true\n",
        );
        steps(random, false, &mut text);
        files.push(("desk.agent.abl".to_owned(), text));
    }
    if random.chance(50) {
        let agents = if other { r#","desk":{"path":"desk.agent.abl"}"# } else { "" };
        let manifest = format!(
            r#"{{"name":"boats","entry_agent":"Boats","agents":{{"boats":{{"path":"boats.agent.abl"}}{agents}}}}}"#
        );
        files.push(("project.json".to_owned(), manifest));
    }
    files
}

/// Steps with branches; a step goes to a later one, and sometimes to an earlier one.
fn steps(random: &mut Random, other: bool, text: &mut String) {
    let count = 2 + random.below(4);
    text.push_str("FLOW:\n  entry_point: s0\n");
    if random.chance(30) {
        let (name, value) = assignment(random, false);
        let _ = write!(
            text,
            "  global_digressions:\n    - INTENT: start_over\n      SET: {name} = {value}\n      RESUME: true\n"
        );
    }
    for step in 0..count {
        let target = |random: &mut Random| match random.below(6) {
            0 => format!("s{}", random.below(count)),
            _ if step + 1 < count => format!("s{}", step + 1 + random.below(count - step - 1)),
            _ => "done".to_owned(),
        };
        let _ = write!(text, "  s{step}:\n    REASONING: false\n");
        let waits = match random.below(4) {
            0 => {
                text.push_str("    COLLECT: guests\n");
                true
            }
            _ => {
                text.push_str("    RESPOND: \"Yes?\"\n");
                false
            }
        };
        sets(random, "    ", text);
        if random.chance(25) {
            text.push_str("    CALL: look_up(1)\n");
        }
        if other && random.chance(20) {
            text.push_str("    DELEGATE: Desk\n");
        }
        if random.chance(75) || !waits {
            text.push_str("    ON_INPUT:\n");
            for _ in 0..1 + random.below(3) {
                let _ = writeln!(text, "      - IF: {}", condition(random, false));
                sets(random, "        ", text);
                let _ = writeln!(text, "        THEN: {}", target(random));
            }
            text.push_str("      - ELSE:\n");
            sets(random, "        ", text);
            let _ = writeln!(text, "        THEN: {}", target(random));
        } else {
            let _ = writeln!(text, "    THEN: {}", target(random));
        }
    }
    text.push_str("  done:\n    REASONING: false\n    RESPOND: \"Bye\"\n    THEN: COMPLETE\n");
}

fn procedure(random: &mut Random, indent: &str, subagents: usize, own: usize, to: &mut String) {
    for _ in 0..1 + random.below(3) {
        let (name, value) = assignment(random, true);
        match random.below(4) {
            0 => {
                let _ = writeln!(to, "{indent}set @variables.{name} = {value}");
            }
            1 => {
                let _ = writeln!(to, "{indent}run @actions.Look_Up");
                let _ = writeln!(to, "{indent}    set @variables.c = @outputs.known");
            }
            _ => {
                let _ = writeln!(to, "{indent}if {}:", condition(random, true));
                let _ = writeln!(to, "{indent}    set @variables.{name} = {value}");
                // Only onwards, so that no procedure goes round in circles.
                if own + 1 < subagents && random.chance(50) {
                    let _ = writeln!(to, "{indent}    transition to @subagent.t{}", own + 1);
                }
            }
        }
    }
}

fn agent_script(random: &mut Random) -> String {
    let mut text = String::from(
        "system:\n    instructions: \"You rent out boats.\"\n    messages:\n        welcome: \"Hello\"\n        error: \"Sorry\"\nconfig:\n    developer_name: \"Boats\"\naccess:\n    default_agent_user: \"boats@boathouse.example\"\nvariables:\n",
    );
    for (name, ty, values) in [
        ("a", "boolean", ["True", "False"]),
        ("b", "boolean", ["False", "False"]),
        ("c", "boolean", ["False", "True"]),
        ("n", "number", ["0", "2"]),
        ("m", "number", ["0", "4"]),
        ("word", "string", ["\"red\"", "\"blue\""]),
    ] {
        let value = values[random.below(2)];
        let _ = writeln!(text, "    {name}: mutable {ty} = {value}\n        description: \"x\"");
    }
    let count = 1 + random.below(3);
    for own in 0..count {
        let head = if own == 0 { "start_agent t0" } else { "subagent t" };
        let name = if own == 0 { String::new() } else { own.to_string() };
        let _ = write!(
            text,
            "{head}{name}:\n    description: \"d\"\n    actions:\n        Look_Up:\n            description: \"Looks up\"\n            outputs:\n                amount: number\n                known: boolean\n            target: \"flow://Look_Up\"\n"
        );
        if random.chance(60) {
            text.push_str("    before_reasoning:\n");
            procedure(random, "        ", count, own, &mut text);
        }
        text.push_str("    reasoning:\n        instructions: ->\n            | Help.\n");
        if random.chance(70) {
            let _ = writeln!(text, "            if {}:", condition(random, true));
            text.push_str("                | Be kind.\n");
        }
        text.push_str("        actions:\n");
        if random.chance(40) {
            text.push_str("            note: @utils.setVariables\n                description: \"Notes\"\n                with b=...\n");
        }
        text.push_str("            look_up: @actions.Look_Up\n");
        if random.chance(50) {
            let _ = writeln!(text, "                available when {}", condition(random, true));
        }
        for _ in 0..1 + random.below(2) {
            let (name, value) = assignment(random, true);
            let _ = writeln!(text, "                set @variables.{name} = {value}");
        }
        if count > 1 {
            let _ = writeln!(
                text,
                "            go: @utils.transition to @subagent.t{}\n                description: \"g\"",
                (own + 1) % count
            );
            if random.chance(50) {
                let _ =
                    writeln!(text, "                available when {}", condition(random, true));
            }
        }
        if random.chance(40) {
            text.push_str("    after_reasoning:\n");
            procedure(random, "        ", count, own, &mut text);
        }
    }
    text
}

fn adl(random: &mut Random) -> String {
    let mut text = String::from(
        "main:\n  type: flow agent\n  steps:\n    - call: boats\nboats:\n  type: flow agent\n  description: Rents out boats\n  args:\n    - word\n    - n\n  fallback: \"Sorry?\"\n  steps:\n",
    );
    for _ in 0..3 + random.below(4) {
        match random.below(4) {
            0 => text.push_str("    - user\n"),
            1 => text.push_str("    - bot: \"Hello\"\n"),
            2 => {
                let word = random.pick(&["red", "green", "blue"]);
                let _ = write!(text, "    - set:\n        word: \"{word}\"\n");
            }
            _ => {
                let test = random.pick(&["word == \"red\"", "word == \"green\"", "word == None"]);
                let word = random.pick(&["red", "green"]);
                let _ = write!(
                    text,
                    "    - if: {test}\n      then:\n        - set:\n            word: \"{word}\"\n        - bot: \"Well\"\n"
                );
            }
        }
    }
    text
}
