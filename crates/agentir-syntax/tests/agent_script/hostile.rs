//! Texts that nobody writes on purpose: no crash, and time that grows with size.

use super::*;

// ---- Hostile texts -------------------------------------------------------------------------------

const SAMPLE: &str = "# @dialect: agentforce=3.1\nsystem:\n  instructions: |\n    Hi {!@a.b if @c.d else \"x\"}\n  messages:\n    error: \"e\"\nvariables:\n  a: mutable list[string] = [\"x\",\n    \"y\"]\n    description: \"d\"\nsubagent a:\n  description: \"ä\"\n  reasoning:\n    instructions: ->\n      if @a.b == \"x\":\n        | One {!len(@a.b)}\n          two\n      else if not (@c.d is not None):\n        run @actions.A\n          with a=..., b={\"k\": 1.5}\n          set @variables.x = @outputs.y[0].z\n      else:\n        transition to @subagent.b\n    actions:\n      go: @utils.transition to @subagent.b\n        available when @a.b\naccess:\n  sharing_policy:\n    custom_sharing_entities:\n      - \"A\"\n";

#[test]
fn every_prefix_is_read() {
    fine(SAMPLE);
    for (end, _) in SAMPLE.char_indices() {
        let (document, _) = read(&SAMPLE[..end]);
        assert!(document.root.span.end as usize <= end);
    }
}

#[test]
fn every_line_and_character_may_be_missing() {
    let lines: Vec<_> = SAMPLE.lines().collect();
    for i in 0..lines.len() {
        let mut rest = lines.clone();
        rest.remove(i);
        read(&rest.join("\n"));
    }
    for (at, c) in SAMPLE.char_indices() {
        let mut text = SAMPLE.to_owned();
        text.replace_range(at..at + c.len_utf8(), "");
        read(&text);
        text.insert(at, '"');
        read(&text);
    }
}

/// Reads the text made by `n` repetitions and by four times as many; the time may grow little more.
fn linear(what: &str, make: impl Fn(usize) -> String) {
    let time = |n| {
        let text = make(n);
        (0..3)
            .map(|_| {
                let start = Instant::now();
                let (document, problems) = read(&text);
                drop(document);
                drop(problems);
                start.elapsed()
            })
            .min()
            .unwrap()
    };
    let (once, four) = (time(10_000), time(40_000));
    if std::env::var_os("AGENTIR_VERBOSE").is_some() {
        eprintln!("{what}: {once:?}, {four:?}");
    }
    assert!(
        four < once * 10 + Duration::from_millis(50),
        "{what}: {once:?} for 10,000, {four:?} for 40,000"
    );
}

#[test]
fn hostile_texts_take_linear_time() {
    linear("parentheses", |n| prompt(&format!("set @a.b = {}1{}", "(".repeat(n), ")".repeat(n))));
    linear("open brackets", |n| prompt(&format!("set @a.b = {}", "[".repeat(n))));
    linear("prefixes", |n| prompt(&format!("set @a.b = {}1", "not ".repeat(n))));
    linear("sums", |n| prompt(&format!("set @a.b = 1{}", " + 1".repeat(n))));
    linear("ternaries", |n| prompt(&format!("set @a.b = 1{}", " if 1 else 1".repeat(n))));
    linear("conjunctions", |n| prompt(&format!("set @a.b = 1{}", " and 1".repeat(n))));
    linear("members", |n| prompt(&format!("set @a.b = @a.b{}", ".c".repeat(n))));
    linear("lists", |n| prompt(&format!("set @a.b = [{}]", "1,".repeat(n))));
    linear("types", |n| format!("variables:\n  a: mutable {}string\n", "list[".repeat(n)));
    linear("dashes", |n| format!("foo:\n{}x\n", "- ".repeat(n)));
    linear("conditions", |n| {
        let branch = "else if @a.b:\n  | x\n";
        prompt(&format!("if @a.b:\n  | x\n{}", branch.repeat(n / 4)))
    });
    linear("stray else", |n| prompt(&"else:\n".repeat(n)));
    linear("blocks", |n| "subagent a:\n  description: \"d\"\n".repeat(n / 10));
    linear("fields", |n| format!("config:\n{}", "  role: \"d\"\n".repeat(n)));
    linear("unknown fields", |n| format!("config:\n{}", "  rlo: \"d\"\n".repeat(n / 20)));
    linear("variables", |n| {
        let lines: String = (0..n).map(|i| format!("  v{i}: mutable string\n")).collect();
        format!("variables:\n{lines}")
    });
    linear("holes", |n| format!("system:\n  instructions: |\n    {}\n", "{!".repeat(n)));
    linear("blank lines", |n| prompt(&format!("set @a.b = [\n{}]", "\n".repeat(n))));
    linear("comments", |n| prompt(&format!("set @a.b = [\n{}  1]", "# x\n".repeat(n))));
    linear("quotes", |n| prompt(&format!("set @a.b = {}", "\"".repeat(n | 1))));
    linear("placeholders", |n| format!("config:\n  role: {}\n", "{{".repeat(n)));
    linear("words", |n| format!("{}:\n", "a ".repeat(n)));
    linear("words without colon", |n| "a ".repeat(n));
    linear("continued lines", |n| prompt(&format!("set @a.b = 1 {} + 2", "\\\n".repeat(n))));
}

#[test]
fn what_is_too_deep_is_said_once() {
    let mut text = "foo:\n".to_owned();
    for depth in 1..2_000 {
        writeln!(text, "{}a:", " ".repeat(depth)).unwrap();
    }
    let all = said(&text);
    assert!(
        all[0].starts_with("nesting-too-deep: »« nested more than 64 levels deep"),
        "{}",
        all[0]
    );
    assert_eq!(all.len(), 2);
    let all = said(&prompt(&format!("set @a.b = {}1{}", "(".repeat(10_000), ")".repeat(10_000))));
    assert_eq!(
        all,
        [
            "expression-too-deep: »(« this is nested too deep to be read / give names to parts of it, with `set`"
        ]
    );
}
