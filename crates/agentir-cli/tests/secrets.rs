//! What is not shown although its text alone does not tell: secrets by their place in a document, passwords of all
//! characters, and what is made of sensitive values. Beside it, the doors that files are read through.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{FORMATS, code, ran, run_with_input, samples, stderr, stdout, write};
use std::fs;
use std::path::Path;
use std::process::Command;

/// An agent with this text on a line that has a finding.
fn saying(text: &str) -> String {
    format!(
        "AGENT: Desk\nGOAL: \"Help\"\nFLOW:\n  entry_point: s\n  steps:\n    - s\n  s:\n    REASONING: false\n    \
         RESPOND: \"{text} {{{{undefined_name}}}}\"\n    THEN: COMPLETE\n"
    )
}

/// What a folder's outputs show beside a source: all formats of `check`, the messages and reports of conversions.
fn shown(folder: &Path, path: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for format in FORMATS {
        let (_, out, err) = ran(folder, &["check", path, "--format", format]);
        all.push(((*format).to_owned(), out + &err));
        // From the cache as well.
        let (_, out, err) = ran(folder, &["check", path, "--format", format]);
        all.push((format!("{format}, again"), out + &err));
    }
    for target in ["abl", "adl", "agent-script"] {
        for report in ["json", "html", "txt"] {
            let (out, report) = (format!("out-{target}-{report}"), format!("{target}.{report}"));
            let args = ["convert", path, "--to", target, "-o", &out, "--report", &report];
            let (_, said, err) = ran(folder, &args);
            let written = fs::read_to_string(folder.join(&report)).unwrap_or_default();
            let notes = fs::read_to_string(folder.join(&out).join("MIGRATION.md"));
            all.push((target.to_owned(), said + &err + &written + &notes.unwrap_or_default()));
        }
    }
    let (_, out, err) = ran(folder, &["diff", path, path]);
    all.push(("diff".to_owned(), out + &err));
    all
}

/// The graphs of a program, in all formats.
fn graphs(folder: &Path, path: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for format in ["mermaid", "dot", "svg", "html", "json"] {
        for detail in ["agents", "steps", "statements"] {
            let args = ["graph", path, "--format", format, "--detail", detail];
            let (_, out, err) = ran(folder, &args);
            all.push((format!("graph {format} {detail}"), out + &err));
        }
    }
    all
}

#[test]
fn what_a_finding_calls_a_credential_is_shown_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let bot =
        fs::read_to_string(samples().join("xo/valid/bicycle_rental/botDefinition.json")).unwrap();
    let secrets = ["4XPKgIBn2XtOUMo8KlPwxgEZ", "ePkStjqJZUZgdbKEdmpnfqq", "WyAPJIzotAeNZGVCRBLXH"];
    let settings = format!(
        "{{\n \"name\": \"B\",\n \"variables\": [\n  {{\n   \"key\": \"apiSecret\",\n   \"value\": \"{}\"\n  }},\n  {{\n   \
         \"key\": \"DB_PASSWORD\",\n   \"value\": \"{}\"\n  }}\n ],\n \"contentVariables\": [\n  {{\n   \"key\": \
         \"apiToken\",\n   \"value\":\n    \"{}\"\n  }}\n ]\n}}",
        secrets[0], secrets[1], secrets[2]
    );
    write(folder.path(), &[("xo/botDefinition.json", &bot), ("xo/config.json", &settings)]);
    let all = shown(folder.path(), "xo");
    let about: Vec<_> =
        all.iter().filter(|(_, text)| text.contains("credential-not-copied")).collect();
    assert!(about.len() >= FORMATS.len(), "{all:?}");
    for (output, text) in all.iter().chain(&graphs(folder.path(), "xo")) {
        for secret in secrets {
            assert!(!text.contains(&secret[4..]), "{output}: {text}");
        }
    }
    let (_, text, _) = ran(folder.path(), &["check", "xo"]);
    assert!(text.contains("\"value\": \"4XPK…\""), "{text}");
}

#[test]
fn passwords_of_all_characters_are_not_shown() {
    let passwords = [
        "xK9$mQ2vL7!pW4z",
        "xK9mQ2&vL7pW4zz",
        "xK9mQ2vL7)pW4zz",
        "xK<9mQ2vL7pW4z",
        "Größe7mQ2vL7pW",
        "мойПароль7mQ2vL7pW",
        "Tr0ub4dor&3",
        "$mQ2vL7pW4zxK9",
        "%mQ2vL7pW4zxK9",
        ";mQ2vL7pW4zxK9",
    ];
    for password in passwords {
        for text in [
            format!("password: {password}"),
            format!("Passwort = '{password}'"),
            format!("the password is {password}"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &[("desk.agent.abl", &saying(&text))]);
            let tail: String = password.chars().skip(4).collect();
            for format in FORMATS {
                let (_, out, err) =
                    ran(folder.path(), &["check", "desk.agent.abl", "--format", format]);
                assert!((out.clone() + &err).contains("undefined_name"), "{format}: {out}{err}");
                assert!(!out.contains(&tail) && !err.contains(&tail), "{format}, {text}: {out}");
            }
        }
    }
    let plain = "password: at least 8 characters, see $NAME and <your-password>";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("desk.agent.abl", &saying(plain))]);
    assert!(ran(folder.path(), &["check", "desk.agent.abl"]).1.contains(plain));
}

#[test]
fn values_of_headers_are_not_shown() {
    let value = "keIpDHahvYFevPUaKRIr";
    for header in ["Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key"] {
        let agent = format!(
            "AGENT: Desk\nGOAL: \"Help\"\nTOOLS:\n  find(q: string) -> object\n    description: \"d\"\n    type: http\n    \
             endpoint: \"https://h.example/x\"\n    method: GET\n    headers:\n      {header}: \"{value}\"\n      \
             X-Other: \"{{{{undefined_name}}}}\"\nFLOW:\n  entry_point: s\n  steps:\n    - s\n  s:\n    REASONING: false\n    \
             CALL: nothing()\n    THEN: COMPLETE\n"
        );
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("desk.agent.abl", &agent)]);
        for format in FORMATS {
            let (_, out, err) =
                ran(folder.path(), &["check", "desk.agent.abl", "--format", format]);
            assert!(
                !out.contains(&value[4..]) && !err.contains(&value[4..]),
                "{format}, {header}: {out}"
            );
        }
    }
}

/// What expressions make of a sensitive value is as sensitive: in texts, in variables, in later turns.
#[test]
fn what_is_made_of_sensitive_values_is_masked() {
    let agent = "AGENT: Desk\nGOAL: \"Help\"\nMEMORY:\n  session:\n    - name: log\n      type: string\n    - name: twice\n      \
        type: string\nFLOW:\n  entry_point: s\n  steps:\n    - s\n    - t\n    - u\n  s:\n    REASONING: false\n    \
        GATHER:\n      - code: required\n        sensitive: true\n        prompt: \"code?\"\n    THEN: t\n  t:\n    \
        REASONING: false\n    SET:\n      log = LOWER(code)\n      twice = CONCAT(log, \"-x\")\n    RESPOND: \"You said \
        {{UPPER(code)}} {{SUBSTRING(code, 0, 9)}} {{code | lower}} {{twice}}, fine {{code == \\\"a\\\" ? \\\"yes\\\" : \\\"nope\\\"}}\"\n    \
        THEN: u\n  u:\n    REASONING: false\n    RESPOND: \"more?\"\n    ON_INPUT:\n      - ELSE:\n        \
        RESPOND: \"ok {{UPPER(log)}}\"\n        THEN: COMPLETE\n";
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("desk.agent.abl", agent)]);
    let args =
        ["run", "desk.agent.abl", "--session", "s", "--store", "s.db", "--trace-file", "t.jsonl"];
    let first = run_with_input(here, &args, b"Kv4Gxy9hIFLs9V\n");
    let said = stdout(&first);
    assert!(
        said.contains("KV4GXY9HIFLS9V") && said.contains("Kv4Gxy9hI"),
        "{said}{}",
        stderr(&first)
    );
    let trace = fs::read_to_string(here.join("t.jsonl")).unwrap();
    let second = run_with_input(here, &args, b"yes\n");
    let later = fs::read_to_string(here.join("t.jsonl")).unwrap();
    assert!(
        stdout(&second).contains("ok KV4GXY9HIFLS9V"),
        "{}{}",
        stdout(&second),
        stderr(&second)
    );
    let session = |what| ran(here, &["session", what, "s", "--store", "s.db"]).1;
    let (shown, exported) = (session("show"), session("export"));
    for text in [trace, later, shown, exported] {
        assert!(text.contains("***"), "{text}");
        let found = text.to_lowercase().contains("kv4gxy9hi");
        assert!(!found, "{text}");
        // What a condition decides between is no secret.
        assert!(!text.contains("You said") || text.contains("fine nope"), "{text}");
    }
}

#[test]
fn reports_are_read_through_the_same_door_as_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::File::create(here.join("r.json")).unwrap().set_len(2 << 30).unwrap();
    let (code, _, err) = ran(here, &["report", "merge", "r.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("larger than 64 MB"), "{err}");
    fs::File::create(here.join("a.yaml")).unwrap().set_len(2 << 30).unwrap();
    for args in [&["fmt", "a.yaml"][..], &["migrate", "--to", "newest", "a.yaml"]] {
        let (code, _, err) = ran(here, args);
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains("larger than 64 MB"), "{args:?}: {err}");
    }
}

/// A file of the kernel that waits for more at its end.
#[test]
#[cfg(target_os = "linux")]
fn a_file_without_an_end_is_refused() {
    // Readable by root alone; for others it cannot be opened.
    let output = Command::new("timeout")
        .args(["20", env!("CARGO_BIN_EXE_agentir"), "check", "/proc/kmsg"])
        .env("XDG_CACHE_HOME", common::CACHE)
        .output()
        .unwrap();
    assert!([1, 2].contains(&code(&output)), "{:?} {}", output.status, stderr(&output));
}

/// The time of a conversation is in proportion to the length of an expression.
#[test]
fn long_expressions_are_evaluated_in_linear_time() {
    let head = "AGENT: D\nGOAL: \"g\"\nMEMORY:\n  session:\n    - x\nFLOW:\n  entry_point: s\n  steps:\n    - s\n  s:\n    \
        REASONING: false\n";
    let branch = |condition: &str| {
        format!(
            "{head}    ON_INPUT:\n      - IF: {condition} == 1\n        THEN: COMPLETE\n      - ELSE:\n        THEN: COMPLETE\n"
        )
    };
    for agent in [
        branch(&format!("x{}", ".a".repeat(50_000))),
        branch(&format!("x{}", "[0]".repeat(30_000))),
        format!(
            "{head}    RESPOND: \"{{{{x{}}}}}\"\n    THEN: COMPLETE\n",
            " | json".repeat(5_000)
        ),
        format!(
            "{head}    RESPOND: \"{{{{x{}}}}}\"\n    THEN: COMPLETE\n",
            " | upper".repeat(5_000)
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("d.agent.abl", &agent)]);
        let binary = env!("CARGO_BIN_EXE_agentir");
        let limited = format!(
            "printf 'hi\\n' | timeout 60 prlimit --as=4000000000 --cpu=30 {binary} run d.agent.abl; echo \"code ${{PIPESTATUS[1]}}\""
        );
        let output = Command::new("bash")
            .args(["-c", &limited])
            .current_dir(folder.path())
            .env("XDG_CACHE_HOME", common::CACHE)
            .output()
            .unwrap();
        let said = stdout(&output);
        let ended = ["code 0", "code 1", "code 2"].iter().any(|code| said.contains(code));
        assert!(ended, "{said} {}", stderr(&output));
    }
}

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A secret: letters without vowels, so that it is no word, and digits.
    fn secret(&mut self) -> String {
        let letters: Vec<char> = "BCDFGHJKLMNPQRSTVWbcdfghjklmnpqrstvw0123456789".chars().collect();
        let length = 12 + self.below(20);
        let body: String = (0..length).map(|_| *self.of(&letters)).collect();
        format!("q7Z{body}4Km9")
    }
}

/// The values of headers, and texts, in which `{}` is a secret.
const VALUES: &[(&str, &[&str])] = &[
    (
        "Authorization",
        &[
            "{}",
            "Bearer {}",
            "ApiKey-v1 {}",
            "Custom a b {}",
            "aaaa bbbb {}",
            "Digest username=bob, realm=x, nonce=abc, response={}",
            "AWS4-HMAC-SHA256 Credential=x, Signature={}",
        ],
    ),
    ("Proxy-Authorization", &["Negotiate {}", "v2 {}"]),
    ("Cookie", &["{}", "a={}", "lang=en; a={}; b=c", "a=b {}"]),
    ("Set-Cookie", &["z={}", "z={}; Path=/; HttpOnly"]),
    ("X-Api-Key", &["{}", "key {}"]),
];

/// Documents with a finding each, and the secrets that they have: at places and in forms that are drawn.
fn drawn_documents(numbers: &mut Numbers, count: usize) -> (Vec<(String, String)>, Vec<String>) {
    let (mut files, mut secrets) = (Vec::new(), Vec::new());
    for at in 0..count {
        let mut headers: Vec<(&str, String)> = Vec::new();
        for (name, values) in VALUES {
            if numbers.below(3) > 0 {
                secrets.push(numbers.secret());
                let value = numbers.of(values).replace("{}", secrets.last().unwrap());
                headers.insert(numbers.below(headers.len() + 1), (name, value));
            }
        }
        secrets.push(numbers.secret());
        let mark = *numbers.of(&["password: {}", "password={}", "Passwort: {}", "--token {}"]);
        let said = mark.replace("{}", secrets.last().unwrap());
        if at % 2 == 0 {
            let headers: serde_json::Map<_, _> =
                headers.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
            let document = serde_json::json!({
                "ir_version": "1.0",
                "metadata": { "name": format!("A{at}"), "dialect": "abl" },
                "identity": { "goal": format!("Say {said} to all") },
                "tools": [{
                    "name": "t", "description": "d", "parameters": [], "returns": { "type": "string" },
                    "tool_type": "http",
                    "binding": { "endpoint": "https://h.invalid", "method": "GET", "headers": headers },
                }],
                "flow": { "definitions": { "s": { "call": "nothing", "then": "COMPLETE" } } },
            });
            let text = match numbers.below(2) {
                0 => document.to_string(),
                _ => serde_json::to_string_pretty(&document).unwrap(),
            };
            files.push((format!("a{at}/a.ir.json"), text));
        } else {
            let line = |(name, value): &(&str, String)| format!("      {name}: \"{value}\"\n");
            let headers: String = headers.iter().map(line).collect();
            files.push((format!("a{at}/a.agent.abl"), format!(
                "AGENT: A{at}\nGOAL: \"Say {said} to all\"\nTOOLS:\n  t(q: string) -> object\n    description: \"d\"\n    \
                 type: http\n    endpoint: \"https://h.invalid/x\"\n    method: GET\n    headers:\n      X-Other: \"x\"\n\
                 {headers}FLOW:\n  entry_point: s\n  steps:\n    - s\n  s:\n    REASONING: false\n    CALL: nothing()\n    \
                 THEN: COMPLETE\n"
            )));
        }
    }
    (files, secrets)
}

/// Whether a text has a part of a secret behind the characters of it that may be shown.
fn assert_hidden(what: &str, text: &str, secrets: &[String]) {
    for secret in secrets {
        let parts = (4..secret.len() - 6).map(|at| &secret[at..at + 6]);
        for part in parts {
            assert!(!text.contains(part), "{what} shows {part} of {secret}: {text}");
        }
    }
}

#[test]
fn secrets_in_drawn_documents_are_shown_by_no_output() {
    let (files, secrets) = drawn_documents(&mut Numbers(0x9E37_79B9_7F4A_7C15), 12);
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in &files {
        write(folder.path(), &[(&format!("all/{name}"), text)]);
    }
    for (output, text) in shown(folder.path(), "all") {
        assert!(output == "diff" || text.contains("A1") || text.contains("a1"), "{output}: {text}");
        assert_hidden(&output, &text, &secrets);
    }
    // Each against one that has none of them.
    let bare = "{\"ir_version\":\"1.0\",\"metadata\":{\"name\":\"A\",\"dialect\":\"abl\"},\"identity\":{\"goal\":\"g\"}}";
    write(folder.path(), &[("bare.ir.json", bare)]);
    for (number, (name, _)) in files.iter().enumerate() {
        let (code, out, err) =
            ran(folder.path(), &["diff", &format!("all/{name}"), "bare.ir.json"]);
        assert_eq!(code, 1, "{name}: {out}{err}");
        assert_hidden(name, &(out + &err), &secrets);
        for (output, text) in graphs(folder.path(), &format!("all/{name}")) {
            assert!(text.contains(&format!("A{number}")), "{output}: {text}");
            assert_hidden(&output, &text, &secrets);
        }
    }
}

#[test]
fn the_cache_has_no_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "oeq3hDavJA76rNicHTp8";
    let agent = format!(
        "config:\n    developer_name: \"Tides\"\nvariables:\n    api_token: mutable string = \"{secret}\"\nstart_agent tides:\n    \
         description: \"x\"\n    reasoning:\n        instructions: ->\n            if @variables.api_token == \"x\":\n                | Say it.\n"
    );
    write(folder.path(), &[("bot/tides.agent", &agent)]);
    let args = ["check", "bot", "--cache-dir", "cache"];
    let (_, first, _) = ran(folder.path(), &args);
    assert!(first.contains("its initial value is `\"oeq3…\"`"), "{first}");
    let mut files = 0;
    for entry in fs::read_dir(folder.path().join("cache")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(!has(&secret[4..]));
        files += usize::from(has("its initial value is"));
    }
    assert!(files > 0, "nothing was kept");
    assert_eq!(ran(folder.path(), &args).1, first);
}

#[test]
fn merged_reports_are_masked() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("desk.agent.abl", &saying("hello"))]);
    let (_, report, _) = ran(folder.path(), &["check", "desk.agent.abl", "--format", "json"]);
    assert!(report.contains("undefined_name"), "{report}");
    write(folder.path(), &[("own.json", &report)]);
    assert_eq!(ran(folder.path(), &["report", "merge", "own.json"]).1, report);
    // By somebody else.
    let secret = "q7Zt4LmW92xKcV8sRb3N";
    let other = report.replace("desk.agent.abl", &format!("desk password={secret}"));
    let other = other.replace("undefined_name", &format!("token: {secret}"));
    write(folder.path(), &[("other.json", &other)]);
    let (_, merged, err) = ran(folder.path(), &["report", "merge", "other.json"]);
    assert!(merged.contains("q7Zt…") && !merged.contains(&secret[4..]), "{merged}{err}");
}

#[test]
fn a_secret_in_the_source_does_not_stop_a_conversion() {
    let folder = tempfile::tempdir().unwrap();
    let agent = "AGENT: Desk\nGOAL: \"Help\"\nTOOLS:\n  find(q: string) -> object\n    description: \"d\"\n    type: http\n    \
         endpoint: \"https://h.example/x\"\n    method: GET\n    headers:\n      X-Api-Key: \"q7Zt4LmW92xKcV8sRb3N\"\n";
    write(folder.path(), &[("bot/desk.agent.abl", agent)]);
    let found = ran(folder.path(), &["check", "bot"]).1;
    assert!(found.contains("error[hardcoded-secret]"), "{found}");
    for (target, extra) in [("abl", None), ("agent-script", None), ("abl", Some("--force"))] {
        let args = ["convert", "bot", "--to", target, "-o", target].into_iter().chain(extra);
        let (code, out, err) = ran(folder.path(), &args.collect::<Vec<_>>());
        assert!(code < 2, "{target} {extra:?}: {out}{err}");
    }
    let written = fs::read_to_string(folder.path().join("abl/desk.agent.abl")).unwrap();
    assert!(written.contains("X-Api-Key"), "{written}");
}

/// A value that stands on another line than its name is a secret by the name of what it is the value of.
#[test]
fn initial_values_are_secrets_by_the_names_of_their_variables() {
    let secret = "w8Hy3PnD57vLgQ2tUc6M";
    let variables = [
        "- name: apiKey\n      type: string\n      initial_value: \"{}\"",
        "- name: apiKey\n      initial_value: \"{}\"",
        "- name: apiKey\n      type: string\n      description: \"The key\"\n      initial_value: '{}'",
        "- apiKey\n      INITIAL: \"{}\"",
        "- name: password\n      type: string\n      initial_value: \"{}\"",
        "- name: x_api_key\n      type: string\n      initial_value: {}",
        "apiKey:\n        type: string\n        initial_value: \"{}\"",
        "- { name: apiKey, initial_value: \"{}\" }",
        "- name: Passwort\n      type: string\n      initial_value: \"{}\"",
        "- name: apiKey\n      type: string[]\n      initial_value:\n        - \"{}\"",
    ];
    let agent = |variable: &str| {
        format!(
            "AGENT: A\nGOAL: \"Help\"\nMEMORY:\n  session:\n    {variable}\nFLOW:\n  a:\n    REASONING: false\n    \
             RESPOND: \"hi {{{{apiKey}}}} {{{{password}}}} {{{{x_api_key}}}}\"\n    THEN: COMPLETE\n"
        )
    };
    for variable in variables {
        let folder = tempfile::tempdir().unwrap();
        let text = agent(&variable.replace("{}", secret));
        write(folder.path(), &[("bot/a.agent.abl", &text)]);
        write(folder.path(), &[("other/a.agent.abl", &text.replace("w8Hy", "q8Hy"))]);
        let found = ran(folder.path(), &["check", "bot"]).1;
        assert_eq!(found.matches("error[hardcoded-secret]").count(), 1, "{variable}: {found}");
        assert!(found.contains("w8Hy…"), "{variable}: {found}");
        let args = ["run", "bot", "--trace", "--trace-file", "t"];
        let output = run_with_input(folder.path(), &args, b"hello\n");
        let mut all = vec![("run".to_owned(), stdout(&output) + &stderr(&output))];
        all.push(("trace".to_owned(), fs::read_to_string(folder.path().join("t")).unwrap()));
        let (_, out, err) = ran(folder.path(), &["diff", "bot", "other"]);
        all.push(("diff".to_owned(), out + &err));
        all.extend(shown(folder.path(), "bot"));
        for (output, text) in all {
            assert_hidden(&format!("{variable}: {output}"), &text, &[secret.to_owned()]);
        }
    }
    // What stands for a secret, or is a word, is none.
    for value in ["{{secrets.KEY}}", "changeme", "none", "the key of the desk"] {
        let folder = tempfile::tempdir().unwrap();
        let text = agent(&variables[0].replace("{}", value));
        write(folder.path(), &[("bot/a.agent.abl", &text)]);
        let found = ran(folder.path(), &["check", "bot"]).1;
        assert!(!found.contains("hardcoded-secret"), "{value}: {found}");
    }
}

/// What has a value, or is compared with it, tells that it is a secret, wherever the two stand. The place is that of the
/// value, and where people read a difference it is masked as well.
#[test]
fn values_are_secrets_by_the_names_of_what_has_them() {
    let secret = "w8Hy3PnD57vLgQ2tUc6M";
    let steps = "FLOW:\n  a:\n    REASONING: false\n    RESPOND: \"hi\"\n    THEN: COMPLETE\n";
    let memory = "MEMORY:\n  session:\n    - name: apiKey\n      type: string\n    - name: v\n      type: string\n";
    let binding = "    type: http\n    endpoint: \"https://x.example/a\"\n    method: GET\n";
    let tool = |signature: &str, more: &str| {
        format!("TOOLS:\n  {signature} -> string\n{binding}{more}{steps}")
    };
    let step = |line: &str| {
        format!(
            "{memory}FLOW:\n  a:\n    REASONING: false\n    {line}\n    RESPOND: \"hi {{{{v}}}}\"\n    THEN: COMPLETE\n"
        )
    };
    let branch = |condition: &str| {
        format!(
            "{memory}FLOW:\n  a:\n    REASONING: false\n    GATHER:\n      - q: required\n    ON_INPUT:\n      \
             - IF: {condition}\n        THEN: COMPLETE\n      - ELSE:\n        THEN: a\n"
        )
    };
    let variable = |text: &str| format!("MEMORY:\n  session:\n    - {text}\n{steps}");
    let agents = [
        tool("f(x: string, api_key: string = \"{}\")", ""),
        tool("f(x: string, y?: string, password: string = \"{}\")", ""),
        tool(
            "f(x: string, api_key: string = \"{}\")",
            "    parameters:\n      api_key:\n        description: \"The key\"\n",
        ),
        tool(
            "f(x: string, api_key: string)",
            "    parameters:\n      api_key:\n        source: config\n        value: \"{}\"\n",
        ),
        variable("name: api_keys\n      type: array\n      initial_value: [\"{}\", \"x\"]"),
        variable("name: apiKeys\n      type: object\n      initial_value: {\"a\": \"{}\"}"),
        variable("name: apiKey\n      type: string\n      inital_value: \"{}\""),
        variable("name: apiKey\n      type: string\n      initial_value: \"{}"),
        format!(
            "GATHER:\n  api_key:\n    prompt: \"?\"\n    type: enum\n    options: [\"{{}}\", \"b\"]\n{steps}"
        ),
        format!("LOOKUP_TABLES:\n  api_keys:\n    source: inline\n    values: [\"{{}}\"]\n{steps}"),
        step("SET: apiKey = v == \"a\" ? \"{}\" : \"x\""),
        branch("\"{}\" == apiKey"),
        branch("apiKey == \"{}\""),
    ];
    let abl = agents.map(|agent| ("a.agent.abl", format!("AGENT: A\nGOAL: \"Help\"\n{agent}")));
    let adl = "main:\n  type: flow agent\n  steps:\n    - set:\n        api_key: \"'{}'\"\n    - say: \"hi\"\n";
    for (name, agent) in abl.into_iter().chain([("agents.yml", adl.to_owned())]) {
        let folder = tempfile::tempdir().unwrap();
        let text = agent.replace("{}", secret);
        let path = format!("bot/{name}");
        write(folder.path(), &[(&path, &text)]);
        write(folder.path(), &[(&format!("other/{name}"), &text.replace("w8Hy", "q8Hy"))]);
        let found = ran(folder.path(), &["check", "bot", "--format", "concise"]).1;
        let line = text.lines().position(|line| line.contains(secret)).unwrap();
        let column = text.lines().nth(line).unwrap().find(secret).unwrap();
        let place = format!("{path}:{}:{}: error[hardcoded-secret]", line + 1, column + 1);
        assert_eq!(found.matches("hardcoded-secret").count(), 1, "{text}: {found}");
        assert!(found.contains(&place), "{place}: {found}");
        let mut all = shown(folder.path(), "bot");
        all.extend(graphs(folder.path(), "bot"));
        let (_, out, err) = ran(folder.path(), &["diff", "bot", "other"]);
        all.push(("diff of both".to_owned(), out + &err));
        // A diff that may be applied has all; what is said beside it does not.
        for args in [&["fmt", "bot", "--diff"][..], &["migrate", "bot", "--to", "newest", "--diff"]]
        {
            all.push((args.join(" "), ran(folder.path(), args).2));
        }
        for (output, text) in all {
            assert_hidden(&format!("{agent}: {output}"), &text, &[secret.to_owned()]);
        }
    }
}

/// What a finding calls a credential by its place is masked in what shows changes, unless that may be applied.
#[test]
fn differences_that_people_read_show_no_credentials() {
    let secret = "w8Hy3PnD57vLgQ2tUc6M";
    let texts = [
        "    - name: apiKey\n      initial_value: \"{}\"\n      descripton:   \"x\"\n",
        "    - name: apiKey\n      descripton:   \"x\"\n      initial_value: \"{}\"\n",
        "    - apiKey\n      INITIAL: \"{}\"\n      descripton:   \"x\"\n",
    ];
    let session = texts.map(|text| format!("MEMORY:\n  session:\n{text}"));
    let stored = "MEMORY:\n  persistent:\n    - svc.secretKey\n      DEFAULT: \"{}\"\n      descripton:   \"x\"\n";
    for text in session.into_iter().chain([stored.to_owned()]) {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("AGENT: A\nGOAL:   \"Help\"\n{}", text.replace("{}", secret));
        write(folder.path(), &[("a.agent.abl", &text)]);
        let mut shown = 0;
        for args in [
            &["fmt", "--diff"][..],
            &["migrate", "--to", "newest", "--diff"],
            &["check", "--unsafe-fixes", "--diff"],
        ] {
            let run = |to_log: bool| {
                let mut command = common::agentir(folder.path(), Path::new(common::CACHE));
                for name in ["CI", "GITHUB_ACTIONS"] {
                    if to_log {
                        command.env(name, "1")
                    } else {
                        command.env_remove(name)
                    };
                }
                let output = command.args(args).arg("a.agent.abl").output().unwrap();
                (stdout(&output), stderr(&output))
            };
            let (log, note) = run(true);
            assert_hidden(&format!("{args:?}"), &(log.clone() + &note), &[secret.to_owned()]);
            let (applied, _) = run(false);
            assert_eq!(log.lines().count(), applied.lines().count(), "{log}{note}");
            assert_eq!(note.contains("cannot be applied"), applied.contains(secret), "{log}{note}");
            shown += usize::from(applied.contains(secret) && log.contains("w8Hy…"));
        }
        assert!(shown > 1, "{text}");
    }
}

/// The texts of all files below a folder.
fn texts_below(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: std::path::PathBuf| match path.is_dir() {
        true => texts_below(&path),
        false => fs::read_to_string(path).unwrap(),
    };
    entries.map(text).collect()
}

#[test]
fn credentials_in_texts_are_found_by_the_names_of_passwords() {
    let secret = "5nf4Gakq5p1Vm8kV6um4";
    for text in ["password: {}", "password={}", "Passwort: {}", "token: {}", "apiKey={}"] {
        let text = text.replace("{}", secret);
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("desk.agent.abl", &saying(&format!("{text} is yours")))]);
        let found = ran(folder.path(), &["check", "desk.agent.abl"]).1;
        assert!(found.contains("hardcoded-secret"), "{text}: {found}");
        // An import does not copy it.
        let export = format!(
            r#"{{"dialogs":[{{"_id":"d","lname":"d","nodes":[{{"nodeId":"n","type":"message","componentId":"c","transitions":[]}}]}}],"dialogComponents":[{{"_id":"c","name":"c","type":"message","message":[{{"localeData":{{"en":{{"text":"{text} is yours"}}}}}}]}}],"sentences":[]}}"#
        );
        write(folder.path(), &[("bot/botDefinition.json", &export)]);
        for target in ["abl", "adl", "agent-script"] {
            let out = format!("out-{target}");
            let (code, said, err) =
                ran(folder.path(), &["convert", "bot", "--to", target, "-o", &out]);
            assert!(code < 2, "{target}: {said}{err}");
            assert!(err.contains("credential-not-copied"), "{target}: {said}{err}");
            let written = texts_below(&folder.path().join(&out));
            assert!(written.contains("is yours"), "{target}: {written}");
            assert!(!written.contains(secret), "{target}: {written}");
        }
    }
}
