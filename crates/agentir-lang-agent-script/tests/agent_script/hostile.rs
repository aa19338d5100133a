//! Truncated and too deeply nested texts. Scaling with size is tested in `agentir-tests`.

use super::*;

// ---- Hostile texts -------------------------------------------------------------------------------

const SAMPLE: &str = "# @dialect: agentforce=3.1\nsystem:\n  instructions: |\n    Hi {!@a.b if @c.d else \"x\"}\n  messages:\n    error: \"e\"\nvariables:\n  a: mutable list[string] = [\"x\",\n    \"y\"]\n    description: \"d\"\nsubagent a:\n  description: \"ä\"\n  reasoning:\n    instructions: ->\n      if @a.b == \"x\":\n        | One {!len(@a.b)}\n          two\n      else if not (@c.d is not None):\n        run @actions.A\n          with a=..., b={\"k\": 1.5}\n          set @variables.x = @outputs.y[0].z\n      else:\n        transition to @subagent.b\n    actions:\n      go: @utils.transition to @subagent.b\n        available when @a.b\naccess:\n  sharing_policy:\n    custom_sharing_entities:\n      - \"A\"\n";

#[test]
fn every_prefix_is_parsed() {
    parse_ok(SAMPLE);
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

#[test]
fn excessive_nesting_is_reported_once() {
    let mut text = "foo:\n".to_owned();
    for depth in 1..2_000 {
        writeln!(text, "{}a:", " ".repeat(depth)).unwrap();
    }
    let all = diagnostics(&text);
    assert!(
        all[0].starts_with("nesting-too-deep: »« this is nested more than 64 levels deep"),
        "{}",
        all[0]
    );
    assert_eq!(all.len(), 2);
    let all =
        diagnostics(&prompt(&format!("set @a.b = {}1{}", "(".repeat(10_000), ")".repeat(10_000))));
    assert_eq!(
        all,
        [
            "expression-too-deep: »(« this expression is nested too deeply / assign parts of it to variables with `set`"
        ]
    );
}
