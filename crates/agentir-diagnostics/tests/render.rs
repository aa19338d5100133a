//! What reports look like.

use agentir_diagnostics::{
    Applicability, Binding, Diagnostic, FileId, Format, Label, Premise, Report, RuleName,
    SourceFile, SourceMap, Span, Tag, render, report_schema, sort,
};
use cpu_time::ThreadTime;
use std::time::Duration;

const FLOW: &str = "\
AGENT: Booking
FLOW:
  ask_city:
    COLLECT: destination
    ON_INPUT:
      - IF: destnation == \"Paris\"
        THEN: confirm
      - ELSE:
        THEN: ask_city
  confirm:
    RESPOND: Booked!
    RESPOND: Done.
";

fn add(sources: &mut SourceMap, name: &str, text: &str) -> FileId {
    sources.add(SourceFile::new(name, text))
}

/// The span of the `n`th `part`, from 0, of the file's text.
fn nth(sources: &SourceMap, file: FileId, part: &str, n: usize) -> Span {
    let text = sources.get(file).map(|file| file.text.clone()).unwrap_or_default();
    let start = text.match_indices(part).nth(n).map_or(text.len(), |(at, _)| at);
    Span::new(file, start as u32, (start + part.len()) as u32)
}

fn print(sources: &SourceMap, diagnostics: &[Diagnostic], format: Format, color: bool) -> String {
    let report = Report { sources, diagnostics, files_checked: sources.len() };
    let mut out = Vec::new();
    let result = render(&report, format, color, &mut out);
    assert!(result.is_ok(), "{result:?}");
    String::from_utf8_lossy(&out).into_owned()
}

/// Without the summary.
fn text(sources: &SourceMap, diagnostic: Diagnostic) -> String {
    let all = print(sources, &[diagnostic], Format::Text, false);
    all.rsplit_once("\n\n").map_or(all.as_str(), |(finding, _)| finding).to_owned()
}

fn undefined(sources: &SourceMap, file: FileId) -> Diagnostic {
    Diagnostic::error(
        RuleName("undefined-variable"),
        nth(sources, file, "destnation", 0),
        "`destnation` is not declared",
    )
    .at("no such variable")
    .label(nth(sources, file, "destination", 0), "a similar name is collected here")
    .note("a condition on an undeclared variable is never true, so `confirm` is never reached")
    .help("write `destination`")
    .replace("destination", Applicability::Safe)
}

fn error(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error(RuleName("some-rule"), span, message)
}

#[test]
fn a_finding_has_everything() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "booking.abl", FLOW);
    insta::assert_snapshot!(text(&sources, undefined(&sources, file)), @r#"
    error[undefined-variable]: `destnation` is not declared
       ╭─[ booking.abl:6:13 ]
       │
     4 │     COLLECT: destination
       │              ─────┬─────
       │                   ╰─────── a similar name is collected here
       │
     6 │       - IF: destnation == "Paris"
       │             ─────┬────
       │                  ╰────── no such variable
    ───╯
       = note: a condition on an undeclared variable is never true, so `confirm` is never reached
       = help: write `destination`
       = fix: replace by `destination`
    "#);
}

#[test]
fn a_place_without_message_is_underlined() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "booking.abl", FLOW);
    let finding = error(nth(&sources, file, "confirm", 0), "there is no such step")
        .label(nth(&sources, file, "THEN", 0), "");
    insta::assert_snapshot!(text(&sources, finding), @r"
    error[some-rule]: there is no such step
       ╭─[ booking.abl:7:15 ]
       │
     7 │         THEN: confirm
       │         ──┬─  ───┬───
       │           │      ╰───── here
       │           │
       │           ╰──────────── and here
    ───╯
    ");
}

#[test]
fn labels_of_one_line_do_not_cross() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "booking.abl", FLOW);
    let finding = error(nth(&sources, file, "==", 0), "cannot compare")
        .at("for numbers only")
        .label(nth(&sources, file, "destnation", 0), "a text")
        .label(nth(&sources, file, "\"Paris\"", 0), "a text, too");
    insta::assert_snapshot!(text(&sources, finding), @r#"
    error[some-rule]: cannot compare
       ╭─[ booking.abl:6:24 ]
       │
     6 │       - IF: destnation == "Paris"
       │             ─────┬──── ─┬ ───┬───
       │                  │      │    ╰───── a text, too
       │                  │      │
       │                  │      ╰────────── for numbers only
       │                  │
       │                  ╰───────────────── a text
    ───╯
    "#);
}

#[test]
fn labels_in_other_files_follow() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "booking.abl", FLOW);
    let tools = add(&mut sources, "tools.abl", "TOOLS:\n  find(city: string)\n");
    let finding = error(nth(&sources, file, "destination", 0), "no tool takes `destination`")
        .label(nth(&sources, tools, "city", 0), "`find` takes this")
        .help("rename one of them:\nthe names have to agree");
    insta::assert_snapshot!(text(&sources, finding), @r"
    error[some-rule]: no tool takes `destination`
       ╭─[ booking.abl:4:14 ]
       │
     4 │     COLLECT: destination
       │              ─────┬─────
       │                   ╰─────── here
    ───╯
       ╭─[ tools.abl:2:8 ]
       │
     2 │   find(city: string)
       │        ──┬─
       │          ╰─── `find` takes this
    ───╯
       = help: rename one of them:
               the names have to agree
    ");
}

#[test]
fn a_block_is_bracketed() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "booking.abl", FLOW);
    // From `ask_city` to the line before `confirm`, with the space that follows.
    let start = nth(&sources, file, "ask_city", 0);
    let block = start.to(nth(&sources, file, "confirm:", 0).at_start());
    let finding = error(block, "step never ends")
        .at("this step")
        .label(nth(&sources, file, "ask_city", 1), "goes back to itself");
    insta::assert_snapshot!(text(&sources, finding), @r"
    error[some-rule]: step never ends
       ╭─[ booking.abl:3:3 ]
       │
     3 │ ╭─▶   ask_city:
       ┆ ┆
     9 │ ├─▶         THEN: ask_city
       │ │                 ────┬───
       │ │                     ╰────── goes back to itself
       │ │
       │ ╰──────────────────────────── this step
    ───╯
    ");
    insta::assert_snapshot!(text(&sources, error(block, "step never ends")), @r"
    error[some-rule]: step never ends
       ╭─[ booking.abl:3:3 ]
       │
     3 │ ╭─▶   ask_city:
       ┆ ┆
     9 │ ├─▶         THEN: ask_city
       │ │
       │ ╰──────────────────────────── here
    ───╯
    ");
}

#[test]
fn places_that_hold_nothing_are_seen() {
    let mut sources = SourceMap::new();
    let empty = add(&mut sources, "empty.abl", "");
    let open = add(&mut sources, "open.abl", "FLOW:\n");
    let finding = error(Span::new(empty, 0, 0), "file is empty")
        .at("nothing here")
        .label(Span::new(open, 6, 6), "after the last line")
        .label(Span::new(open, 5, 6), "the line's end");
    insta::assert_snapshot!(text(&sources, finding), @r"
    error[some-rule]: file is empty
       ╭─[ empty.abl:1:1 ]
       │
     1 │
       │ ┬
       │ ╰── nothing here
    ───╯
       ╭─[ open.abl:2:1 ]
       │
     1 │ FLOW:
       │      ┬
       │      ╰── the line's end
     2 │
       │ ┬
       │ ╰── after the last line
    ───╯
    ");
}

#[test]
fn odd_characters_do_no_harm() {
    let mut sources = SourceMap::new();
    let odd = "\u{FEFF}größe:\t东京 x\r\n\u{1B}[2J\u{202E}y\r\n";
    let file = add(&mut sources, "odd.abl", odd);
    let finding = error(nth(&sources, file, "东京", 0), "wide")
        .at("two columns each")
        .label(nth(&sources, file, "größe", 0), "after a byte order mark")
        .label(nth(&sources, file, "x", 0), "one")
        .label(nth(&sources, file, "y", 0), "after an escape");
    insta::assert_snapshot!(text(&sources, finding), @r"
    error[some-rule]: wide
       ╭─[ odd.abl:1:8 ]
       │
     1 │ größe:  东京 x
       │ ──┬──   ──┬─ ┬
       │   │       │  ╰── one
       │   │       │
       │   │       ╰───── two columns each
       │   │
       │   ╰───────────── after a byte order mark
     2 │ ␛[2J�y
       │      ┬
       │      ╰── after an escape
    ───╯
    ");
}

#[test]
fn long_lines_are_cut() {
    let mut sources = SourceMap::new();
    let prose = "Please answer politely and do not mention the price. ".repeat(200_000);
    let file = add(&mut sources, "long.abl", &prose);
    let finding = error(nth(&sources, file, "price", 100_000), "asks for the price").at("here");
    insta::assert_snapshot!(text(&sources, finding), @r"
    error[some-rule]: asks for the price
       ╭─[ long.abl:1:5300047 ]
       │
     1 │ …ce. Please answer politely and do not mention the price. Please answer politely and do not mention t…
       │                                                    ──┬──
       │                                                      ╰──── here
    ───╯
    ");
    let finding = error(Span::new(file, 7, 10_000_000), "prompt is too long");
    insta::assert_snapshot!(text(&sources, finding), @r"
    error[some-rule]: prompt is too long
       ╭─[ long.abl:1:8 ]
       │
     1 │ Please answer politely and do not mention the price. Please answer politely and do not mention the p…
       │        ──────────────────────────────────────────────┬──────────────────────────────────────────────
       │                                                      ╰──────────────────────────────────────────────── here
    ───╯
    ");
}

#[test]
fn labels_in_a_long_line_are_shown_apart() {
    let mut sources = SourceMap::new();
    let line = format!("a {{{{first}}}} {} {{{{second}}}} b", "word ".repeat(60));
    let file = add(&mut sources, "long.abl", &format!("PERSONA:\n  {line}\n"));
    let finding = error(nth(&sources, file, "{{second}}", 0), "not declared")
        .label(nth(&sources, file, "{{first}}", 0), "nor is this");
    insta::assert_snapshot!(text(&sources, finding), @r"
    error[some-rule]: not declared
       ╭─[ long.abl:2:316 ]
       │
     2 │ …ord word word word word word word word word word  {{second}} b
       │                                                    ─────┬────
       │                                                         ╰────── here
    ───╯
       ╭─[ long.abl:2:5 ]
       │
     2 │   a {{first}} word word word word word word word word word word word word word word word word word w…
       │     ────┬────
       │         ╰────── nor is this
    ───╯
    ");
}

#[test]
fn what_is_far_apart_is_shown_apart() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "many.abl", &"step\n".repeat(5000));
    let finding = error(nth(&sources, file, "step", 4000), "goes back")
        .label(nth(&sources, file, "step", 3999), "from here")
        .label(nth(&sources, file, "step", 7), "to here")
        .label(Span::new(file, 0, 24_000), "in this flow");
    insta::assert_snapshot!(text(&sources, finding), @r"
    error[some-rule]: goes back
          ╭─[ many.abl:4001:1 ]
          │
     4000 │ step
          │ ──┬─
          │   ╰─── from here
     4001 │ step
          │ ──┬─
          │   ╰─── here
    ──────╯
       ╭─[ many.abl:8:1 ]
       │
     1 │ step
       │ ──┬─
       │   ╰─── in this flow (to line 4800)
       │
     8 │ step
       │ ──┬─
       │   ╰─── to here
    ───╯
    ");
}

#[test]
fn the_first_places_stand_for_many() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "many.abl", &"step\n".repeat(100));
    let finding = (0..100).fold(error(nth(&sources, file, "step", 9), "again"), |finding, n| {
        finding.label(nth(&sources, file, "step", n), "")
    });
    let shown = text(&sources, finding);
    assert_eq!(shown.matches("step").count(), 10);
    assert!(shown.ends_with("= note: 91 more places are not shown"), "{shown}");
}

#[test]
fn a_report_ends_with_a_summary() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "a.abl", "one\n");
    let span = nth(&sources, file, "one", 0);
    let findings = [
        Diagnostic::warning(RuleName("some-rule"), span, "first"),
        Diagnostic::info(RuleName("other-rule"), span, "second").help("look\nhere"),
    ];
    insta::assert_snapshot!(print(&sources, &findings, Format::Text, false), @r"
    warning[some-rule]: first
       ╭─[ a.abl:1:1 ]
       │
     1 │ one
       │ ─┬─
       │  ╰─── here
    ───╯

    info[other-rule]: second
       ╭─[ a.abl:1:1 ]
       │
     1 │ one
       │ ─┬─
       │  ╰─── here
    ───╯
       = help: look
               here

    Found 1 warning and 1 info in 1 file
    ");
    insta::assert_snapshot!(print(&sources, &findings, Format::Concise, false), @r"
    a.abl:1:1: warning[some-rule]: first
    a.abl:1:1: info[other-rule]: second (look here)
    ");
    insta::assert_snapshot!(print(&sources, &[], Format::Text, false), @r"
    No findings in 1 file
    ");
    assert_eq!(print(&sources, &[], Format::Concise, false), "");
}

#[test]
fn colours_are_only_on_request() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "booking.abl", FLOW);
    let finding = [undefined(&sources, file)];
    for format in [Format::Text, Format::Concise, Format::Json] {
        let plain = print(&sources, &finding, format, false);
        assert!(!plain.contains('\u{1B}'), "{plain:?}");
        let mut coloured = print(&sources, &finding, format, true);
        assert_eq!(coloured.contains('\u{1B}'), format != Format::Json, "{coloured:?}");
        while let Some((before, (_, after))) =
            coloured.split_once('\u{1B}').and_then(|(b, rest)| Some((b, rest.split_once('m')?)))
        {
            coloured = format!("{before}{after}");
        }
        // Spaces at the ends of lines may have a colour.
        let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(trimmed(&coloured), trimmed(&plain));
    }
}

#[test]
fn json_has_everything() {
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "booking.abl", FLOW);
    let mut proved = Diagnostic::info(RuleName("other-rule"), Span::new(file, 0, 5), "second")
        .replace("AGENTS", Applicability::Unsafe)
        .replace("SUPERVISOR", Applicability::DisplayOnly)
        .example([
            Binding { variable: "guests".into(), value: Some(9.into()) },
            Binding { variable: "user.email".into(), value: None },
        ])
        .proof([
            Premise { span: Some(nth(&sources, file, "\"Paris\"", 0)), message: "a city".into() },
            Premise { span: None, message: "cities are text".into() },
        ])
        .run([Label::new(nth(&sources, file, "ask_city", 0), "asks")], true);
    proved.tags = vec![Tag::Deprecated];
    proved.page = Some("https://example.org/other-rule".to_owned());
    let findings = [undefined(&sources, file), proved];
    let printed = print(&sources, &findings, Format::Json, false);
    let keys = [
        "summary",
        "diagnostics",
        "message",
        "file",
        "labels",
        "help",
        "note",
        "fix",
        "fixes",
        "edits",
        "tags",
        "page",
        "evidence",
        "core",
        "run",
    ];
    let broken = keys.iter().fold(printed, |printed, key| {
        printed.replace(&format!(",\"{key}\":"), &format!(",\n\"{key}\":"))
    });
    insta::assert_snapshot!(broken, @r#"
    {"version":1,
    "summary":{"files":1,"errors":1,"warnings":0,"infos":1},
    "diagnostics":[{"rule":"undefined-variable","severity":"error","confidence":"high",
    "message":"`destnation` is not declared",
    "file":"booking.abl","range":{"start":{"line":6,"column":13,"offset":84},"end":{"line":6,"column":23,"offset":94}},
    "labels":[{"file":"booking.abl","range":{"start":{"line":6,"column":13,"offset":84},"end":{"line":6,"column":23,"offset":94}},
    "message":"no such variable"},{"file":"booking.abl","range":{"start":{"line":4,"column":14,"offset":46},"end":{"line":4,"column":25,"offset":57}},
    "message":"a similar name is collected here"}],
    "help":"write `destination`",
    "note":"a condition on an undeclared variable is never true, so `confirm` is never reached",
    "fix":{"title":"replace by `destination`","applicability":"safe",
    "edits":[{"file":"booking.abl","range":{"start":{"line":6,"column":13,"offset":84},"end":{"line":6,"column":23,"offset":94}},"text":"destination"}]},
    "fixes":[{"title":"replace by `destination`","applicability":"safe",
    "edits":[{"file":"booking.abl","range":{"start":{"line":6,"column":13,"offset":84},"end":{"line":6,"column":23,"offset":94}},"text":"destination"}]}]},{"rule":"other-rule","severity":"info","confidence":"high",
    "message":"second",
    "file":"booking.abl","range":{"start":{"line":1,"column":1,"offset":0},"end":{"line":1,"column":6,"offset":5}},
    "labels":[],
    "fix":{"title":"replace by `AGENTS`","applicability":"unsafe",
    "edits":[{"file":"booking.abl","range":{"start":{"line":1,"column":1,"offset":0},"end":{"line":1,"column":6,"offset":5}},"text":"AGENTS"}]},
    "fixes":[{"title":"replace by `AGENTS`","applicability":"unsafe",
    "edits":[{"file":"booking.abl","range":{"start":{"line":1,"column":1,"offset":0},"end":{"line":1,"column":6,"offset":5}},"text":"AGENTS"}]},{"title":"replace by `SUPERVISOR`","applicability":"display-only",
    "edits":[{"file":"booking.abl","range":{"start":{"line":1,"column":1,"offset":0},"end":{"line":1,"column":6,"offset":5}},"text":"SUPERVISOR"}]}],
    "tags":["deprecated"],
    "page":"https://example.org/other-rule",
    "evidence":{"state":[{"variable":"guests","value":9},{"variable":"user.email"}],
    "core":[{"file":"booking.abl","range":{"start":{"line":6,"column":27,"offset":98},"end":{"line":6,"column":34,"offset":105}},"text":"\"Paris\"",
    "message":"a city"},{"message":"cities are text"}],
    "run":{"steps":[{"file":"booking.abl","range":{"start":{"line":3,"column":3,"offset":23},"end":{"line":3,"column":11,"offset":31}},
    "message":"asks"}],"repeats":true}}}]}
    "#);
}

#[test]
fn json_keeps_to_its_schema() {
    let schema = report_schema();
    let text = |pointer: &str| schema.pointer(pointer).map(ToString::to_string).unwrap_or_default();
    assert_eq!(text("/$schema"), r#""https://json-schema.org/draft/2020-12/schema""#);
    assert_eq!(text("/title"), r#""agentir report""#);
    assert_eq!(text("/description"), r#""The findings of one run of agentir.""#);
    assert_eq!(text("/required"), r#"["version","summary","diagnostics"]"#);
    assert_eq!(
        text("/$defs/Diagnostic/required"),
        r#"["rule","severity","confidence","message","file","range","labels"]"#
    );
    assert_eq!(text("/$defs/Diagnostic/properties/help/type"), r#""string""#);
    assert_eq!(text("/$defs/Diagnostic/properties/fix/$ref"), r##""#/$defs/Fix""##);
    assert_eq!(text("/$defs/Diagnostic/properties/fixes/items/$ref"), r##""#/$defs/Fix""##);
    assert_eq!(text("/$defs/Diagnostic/properties/evidence/$ref"), r##""#/$defs/Evidence""##);
    assert_eq!(text("/$defs/Tag/oneOf/0/const"), r#""unnecessary""#);
    assert_eq!(text("/$defs/Binding/required"), r#"["variable"]"#);
    assert_eq!(text("/$defs/Premise/required"), r#"["message"]"#);
    assert_eq!(text("/$defs/Range/required"), r#"["start","end"]"#);
    assert_eq!(text("/$defs/Position/required"), r#"["line","column","offset"]"#);
}

#[test]
fn sorting_does_not_depend_on_the_order_of_files_or_rules() {
    let mut sources = SourceMap::new();
    let b = add(&mut sources, "b.abl", "xyz");
    let a = add(&mut sources, "a.abl", "xyz");
    let finding =
        |file, start, rule| Diagnostic::error(RuleName(rule), Span::new(file, start, 3), "");
    let sorted = [finding(a, 0, "p"), finding(a, 1, "o"), finding(a, 1, "p"), finding(b, 0, "a")];
    let mut mixed = sorted.clone();
    mixed.reverse();
    sort(&mut mixed, &sources);
    assert_eq!(mixed, sorted);
    mixed.swap(0, 2);
    sort(&mut mixed, &sources);
    assert_eq!(mixed, sorted);
}

/// ariadne slices and subtracts; no span may make it panic.
#[test]
fn every_span_can_be_shown() {
    let odd = "\u{FEFF}ä\r\n\r\t\n\n東\u{2028}e\u{301}\u{85}x\n ";
    let mut sources = SourceMap::new();
    let file = add(&mut sources, "odd.abl", odd);
    let other = add(&mut sources, "other.abl", "\r\n東é");
    let offsets = 0..u32::try_from(odd.len()).unwrap_or(0) + 2;
    for start in offsets.clone() {
        for end in offsets.clone() {
            let span = Span::new(file, start, end);
            let swapped = Span::new(file, end / 2, start);
            let missing = Span::new(FileId(9), start, end);
            let finding = error(span, "a")
                .at(if start % 2 == 0 { "" } else { "b" })
                .label(swapped, if end % 2 == 0 { "" } else { "c\nd" })
                .label(Span::new(other, start, end), "e")
                .label(missing, "f");
            let shown = text(&sources, finding);
            assert!(shown.starts_with("error[some-rule]: a\n"), "{shown}");
            assert!(shown.contains(" other.abl:"), "{start} {end} {shown}");
        }
    }
    assert_eq!(text(&sources, error(Span::new(FileId(9), 1, 2), "a")), "error[some-rule]: a");
}

/// Reading all of the file, or of its one line, for every finding would take sixteen times as long for
/// four times as many findings in four times as long a file.
#[test]
fn cpu_time_grows_with_the_number_of_findings() {
    for (name, line) in [("lines.abl", "  söme: text\n"), ("line.abl", "söme text, ")] {
        let (small, large) =
            (time_of_findings(name, line, 250), time_of_findings(name, line, 1000));
        // Small times are not compared, and larger ones with a margin.
        let free = Duration::from_secs(1);
        assert!(large < free || large < 10 * small, "{name}: 250 took {small:?}, 1,000 {large:?}");
    }
}

/// Prints so many findings, one in every 10,000 bytes of a file.
fn time_of_findings(name: &str, line: &str, count: u32) -> Duration {
    let mut sources = SourceMap::new();
    let length = 10_000 * count;
    let file = add(&mut sources, name, &line.repeat(length as usize / line.len()));
    let mut findings: Vec<_> = (0..count)
        .map(|n| {
            let start = n * 9_990;
            error(Span::new(file, start, start + 5), "a")
                .at("b")
                .label(Span::new(file, length - 10_000 - start, length - 5_000), "c")
        })
        .collect();
    let begin = ThreadTime::now();
    sort(&mut findings, &sources);
    for (format, most) in [(Format::Text, 2_000), (Format::Concise, 100), (Format::Json, 1_000)] {
        let length = print(&sources, &findings, format, false).len();
        assert!(length < most * count as usize, "{format:?} prints {length} bytes");
    }
    begin.elapsed()
}
