//! What documents contain must not leave the program in another way than as a document: secrets are masked, and nothing
//! is a command to a terminal or to what reads a log.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{FORMATS, agentir, stderr, stdout, write};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

/// Letters and digits without a pattern. They are made here, so that scanners find no secret in the repository.
fn random(seed: u64, length: usize) -> String {
    let mut state = seed;
    let alphabet: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()]
    };
    // At least three digits.
    (0..length - 3).map(|_| next()).chain("407".chars()).collect()
}

/// The secrets of the fixture.
struct Secrets {
    token: String,
    key: String,
    /// A key of a model service, as short as they are.
    service: String,
    bearer: String,
    password: String,
    short: String,
    in_url: String,
    private: Vec<String>,
    in_name: String,
}

impl Secrets {
    fn new() -> Self {
        Self {
            token: format!("ghp_{}", random(1, 36)),
            key: random(2, 24),
            service: format!("sk-proj-{}", random(10, 25)),
            bearer: random(3, 40),
            password: "Gr4nite&Wharf!9".to_owned(),
            short: "h0rseStap".to_owned(),
            in_url: "c0rrectHorse9".to_owned(),
            private: (4..8).map(|seed| random(seed, 64)).collect(),
            in_name: format!("ghp_{}", random(9, 36)),
        }
    }

    fn private_key(&self, indent: &str) -> String {
        let lines: String = self.private.iter().map(|line| format!("{indent}{line}\n")).collect();
        let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
        format!("{indent}{begin}\n{lines}{indent}{end}")
    }

    /// No output has more of a secret than its first four characters.
    fn assert_masked(&self, what: &str, output: &str) {
        let mut all: Vec<&str> = self.private.iter().map(String::as_str).collect();
        all.extend([&*self.token, &*self.key, &*self.bearer, &*self.password]);
        all.extend([&*self.short, &*self.in_url, &*self.in_name, &*self.service]);
        for secret in all {
            let tail = if secret.len() < 12 { secret } else { &secret[4..] };
            // Escapes cut a secret into pieces.
            for part in [&tail[..tail.len() / 2], &tail[tail.len() / 2..]] {
                let at = output.find(part).unwrap_or_default();
                let around = output.get(output.floor_char_boundary(at.saturating_sub(80))..);
                let around: String = around.unwrap_or_default().chars().take(200).collect();
                assert!(!output.contains(part), "{what}: {part} of {secret}\n…{around}…");
            }
        }
    }
}

/// An agent with secrets in all places; `tool` is what it calls.
fn desk(s: &Secrets, name: &str, tool: &str) -> String {
    let Secrets { token, key, service, bearer, password, short, in_url, .. } = s;
    format!(
        "AGENT: {name}\n\
         # the login of the desk, password: \"{password}\"\n\
         GOAL: \"Sell tickets with {token}\"\n\
         PERSONA: |\n  You know everything.\n{pem}\n\
         TOOLS:\n\
         \x20 high_tide(harbour: string) -> {{time: string}}\n\
         \x20   description: \"Asks with {token} and {service}\"\n\
         \x20   type: http\n\
         \x20   endpoint: \"https://bot:{in_url}@tides.invalid/high\"\n\
         \x20   method: GET\n\
         \x20   headers:\n\
         \x20     X-Api-Key: \"{key}\"\n\
         \x20     Authorization: \"Bearer {bearer}\"\n\
         CONSTRAINTS:\n\
         \x20 known:\n\
         \x20   - REQUIRE harbour != \"{token}\" BEFORE calling high_tide\n\
         \x20     ON_FAIL: \"Do not say {token} or password: '{short}'\"\n\
         FLOW:\n\
         \x20 start -> done\n\
         \x20 start:\n\
         \x20   REASONING: false\n\
         \x20   RESPOND: \"The key is {token}, the login is {password}, {short} and {key}. Bearer {bearer}\"\n\
         \x20   ON_INPUT:\n\
         \x20     - IF: input == \"{token}\"\n\
         \x20       RESPOND: \"Right, {token}\"\n\
         \x20       THEN: done\n\
         \x20     - IF: input == \"{key}\"\n\
         \x20       RESPOND: \"{password}\"\n\
         \x20       THEN: done\n\
         \x20     - ELSE:\n\
         \x20       RESPOND: \"{key}\"\n\
         \x20       THEN: start\n\
         \x20 done:\n\
         \x20   REASONING: false\n\
         \x20   CALL: {tool}(harbour: \"{key}\")\n\
         \x20   THEN: COMPLETE\n",
        pem = s.private_key("  "),
    )
}

/// Folders with secrets: of a program without errors, of one with them, and of one under a name that is a secret.
fn secrets() -> (TempDir, Secrets) {
    let (folder, s) = (tempfile::tempdir().unwrap(), Secrets::new());
    let named = format!("named/{}.agent.abl", s.in_name);
    let script = format!(
        "system:\n    messages:\n        error: \"Say {token}\"\n\nconfig:\n    developer_name: \"Tides\"\n\n\
         variables:\n    api_token: mutable string = \"{key}\"\n\nstart_agent tides:\n    \
         description: \"Says {token}\"\n    reasoning:\n        instructions: ->\n            \
         | Say {token} with {{!@variables.api_tokn}} and Bearer {bearer}.\n",
        token = s.token,
        key = s.key,
        bearer = s.bearer,
    );
    let adl = format!(
        "main:\n  type: flow agent\n  steps:\n    - bot: Say {}\n    - call: dsk\n\n# password: \"{}\"\ndesk:\n  \
         type: llm agent\n  description: Says {}\n  prompt: |\n    You know it.\n{}\n",
        s.token,
        s.password,
        s.token,
        s.private_key("    "),
    );
    write(
        folder.path(),
        &[
            ("good/desk.agent.abl", &desk(&s, "Desk", "high_tide")),
            (
                "other/desk.agent.abl",
                &desk(&s, "Desk", "high_tide").replace(&s.key, &random(20, 24)),
            ),
            ("bad/desk.agent.abl", &desk(&s, "Desk", "hihg_tide")),
            ("bad/broken.agent.abl", &format!("AGENT: X\nGOAL: \"{}\nTOOLS: {}\n", s.token, s.key)),
            (&named, &desk(&s, &s.in_name, "high_tide")),
            ("script/tides.agent", &script),
            ("adl/bot.yml", &adl),
            (
                "good/desk.test.yaml",
                &format!(
                    "agents: desk.agent.abl\ntests:\n  - name: says {}\n    turns:\n      - says: [\"{} or so\"]\n",
                    s.token, s.key
                ),
            ),
        ],
    );
    (folder, s)
}

/// Runs the program as in CI, with a line on standard input. The text of standard output and of standard error.
fn ran(folder: &Path, args: &[&str], input: &str) -> (Output, String) {
    let mut command = agentir(folder, &folder.join("cache"));
    command.env("CI", "true").args(args);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    // It may have ended without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 3), "{args:?}: {}", stderr(&output));
    let text = format!("{}{}", stdout(&output), stderr(&output));
    (output, text)
}

/// All that is printed and written about a folder, each with what it is. What is left out has the secrets of the
/// documents, because it is a document:
///
/// - AgentIR (`compile`), programs (`convert`), documents that `fmt`, `migrate` and `check --fix` write;
/// - tests that `test --generate -o` writes, which must say what the agents say;
/// - a diff or a test that goes into a file or a pipe outside of CI, because it is going to be applied or run;
/// - a database of sessions (`--store`), which a conversation goes on from.
fn outputs(folder: &Path, good: &[&str], all: &[&str]) -> Vec<(String, String)> {
    let mut done = Vec::new();
    let mut run = |args: &[&str], files: &[&str], input: &str| {
        let (output, text) = ran(folder, args, input);
        let what = args.join(" ");
        // A program on standard output is one.
        let text = if args[0] == "convert" { stderr(&output) } else { text };
        done.push((what.clone(), text));
        for file in files {
            if let Ok(text) = fs::read_to_string(folder.join(file)) {
                done.push((format!("{what} > {file}"), text));
                fs::remove_file(folder.join(file)).unwrap();
            }
        }
    };
    for path in all {
        for format in FORMATS {
            run(&["check", path, "--no-cache", "--format", format], &[], "");
        }
        run(&["check", path, "-o", "sarif=s.json", "-o", "html=p.html"], &["s.json", "p.html"], "");
        run(&["check", path, "--baseline", "b.json", "--write-baseline"], &["b.json"], "");
        run(&["check", path, "--diff", "--unsafe-fixes"], &[], "");
        run(&["fmt", path, "--diff"], &[], "");
        run(&["migrate", path, "--to", "newest", "--diff"], &[], "");
        for format in ["table", "json", "html"] {
            run(&["corpus", path, "--no-cache", "--format", format], &[], "");
        }
    }
    for path in good {
        for format in ["mermaid", "dot", "svg", "html", "json"] {
            for detail in ["agents", "steps", "statements"] {
                run(&["graph", path, "--format", format, "--detail", detail], &[], "");
            }
        }
        for format in ["text", "json"] {
            run(&["cost", path, "--format", format], &[], "");
        }
        for to in ["abl", "abl-yaml", "adl", "agent-script"] {
            for report in ["r.json", "r.html", "r.txt"] {
                run(
                    &["convert", path, "--to", to, "-o", "out", "--force", "--report", report],
                    &[report],
                    "",
                );
            }
        }
        run(&["test", "--generate", path], &[], "");
        run(&["run", path, "--trace", "--trace-file", "t.jsonl"], &["t.jsonl"], "hello\nagain\n");
    }
    done
}

#[test]
fn secrets_are_masked_in_all_outputs() {
    let (folder, secrets) = secrets();
    let good = ["good/desk.agent.abl", "named", "script"];
    let all = outputs(folder.path(), &good, &["good", "bad", "named", "script", "adl"]);
    assert!(all.len() > 150);
    for (what, text) in &all {
        secrets.assert_masked(what, text);
    }
    // It is not that nothing is shown.
    let shown = |what: &str| &all.iter().find(|(w, _)| w.starts_with(what)).unwrap().1;
    let mask = "ghp_…";
    for what in [
        "check good --no-cache --format text",
        "check good --no-cache --format html",
        "graph good/desk.agent.abl --format mermaid --detail statements",
        "run good/desk.agent.abl",
    ] {
        assert!(shown(what).contains(mask), "{what}\n{}", shown(what));
    }
}

#[test]
fn secrets_are_masked_in_comparisons_tests_and_merged_reports() {
    let (folder, secrets) = secrets();
    let folder = folder.path();
    let (_, text) = ran(folder, &["diff", "good/desk.agent.abl", "other/desk.agent.abl"], "");
    secrets.assert_masked("diff", &text);
    let (_, text) = ran(folder, &["test", "good", "--junit", "j.xml", "--coverage"], "");
    assert!(text.contains("1 failed"), "{text}");
    secrets.assert_masked("test", &text);
    secrets.assert_masked("test", &fs::read_to_string(folder.join("j.xml")).unwrap());
    let (output, _) = ran(folder, &["check", "bad", "--format", "json"], "");
    fs::write(folder.join("one.json"), stdout(&output)).unwrap();
    let (_, text) = ran(folder, &["report", "merge", "one.json"], "");
    secrets.assert_masked("merge", &text);
    // The findings that were kept are masked in the same way.
    for _ in 0..2 {
        let (_, text) = ran(folder, &["check", ".", "--format", "text"], "");
        secrets.assert_masked("cached", &text);
    }
}

#[test]
fn settings_are_quoted_without_secrets() {
    let (folder, s) = secrets();
    let folder = folder.path();
    let all = [&s.token, &s.service, &s.bearer];
    let settings = all.iter().flat_map(|secret| {
        [
            format!("fail-on = \"{secret}\"\n"),
            format!("{secret} = 1\n"),
            format!("[rules]\n{secret} = \"error\"\n"),
            format!("[rules]\nhardcoded-secret = \"Bearer {secret}\"\n"),
            format!("include = [\"{secret}[\"]\n"),
            format!("fail-on = \"api_key: {secret}\nx"),
        ]
    });
    let mut shown = 0;
    for text in settings {
        write(folder, &[("good/agentir.toml", &text)]);
        for args in [
            &["check", "good"][..],
            &["check", "good", "--format", "json"],
            &["fmt", "good", "--check"],
        ] {
            let (_, said) = ran(folder, args, "");
            // A bearer token is one by what it follows.
            let bare =
                text.contains(&*s.bearer) && !text.contains("Bearer") && !text.contains("api_key");
            if !bare {
                s.assert_masked(&format!("{args:?} {text}"), &said);
            }
            shown += usize::from(said.contains("invalid-configuration"));
        }
    }
    assert!(shown > 15, "{shown}");
    for args in [
        vec!["explain", &*s.token],
        vec!["explain", &*s.service],
        vec!["schema", &*s.service],
        vec!["check", &*s.token],
        vec!["check", "good", "--format", &*s.service],
        vec!["convert", "good", "--to", &*s.service],
        vec!["run", "other", "--agent", &*s.service],
        vec!["graph", "other", "--agent", &*s.token],
        vec!["session", "show", &*s.token, "--store", "none.sqlite"],
    ] {
        let (_, said) = ran(folder, &args, "");
        s.assert_masked(&format!("{args:?}"), &said);
    }
}

#[test]
fn stored_conversations_are_shown_without_secrets_and_to_nobody_else() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, secrets) = secrets();
    let folder = folder.path();
    let args = [
        "run",
        "good/desk.agent.abl",
        "--session",
        "s",
        "--store",
        "s.sqlite",
        "--trace-file",
        "t.jsonl",
    ];
    for _ in 0..2 {
        let (_, text) = ran(folder, &args, "hello\n");
        secrets.assert_masked("session", &text);
        assert!(text.contains("ghp_…"), "{text}");
    }
    for args in [
        &["session", "list", "--store", "s.sqlite"][..],
        &["session", "show", "s", "--store", "s.sqlite"],
        &["session", "export", "s", "--store", "s.sqlite"],
    ] {
        let (output, text) = ran(folder, args, "");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {text}");
        // The documents are not there, so what is a secret by its place in them is not known to be one.
        for known in [&secrets.token, &secrets.bearer] {
            assert!(!text.contains(&known[4..]), "{args:?}: {text}");
        }
    }
    ran(folder, &["check", ".", "--cache-dir", "kept"], "");
    let mut found = 0;
    for path in ["s.sqlite", "t.jsonl", "kept"] {
        let mut paths = vec![folder.join(path)];
        while let Some(path) = paths.pop() {
            let metadata = fs::metadata(&path).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o77, 0, "{}", path.display());
            found += 1;
            if metadata.is_dir() {
                paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
    }
    assert!(found >= 4, "{found}");
    assert!(!folder.join("s.sqlite-locks").exists());
}

#[test]
fn programs_and_diffs_that_are_applied_are_true() {
    let (folder, secrets) = secrets();
    let folder = folder.path();
    // Agents with errors are left out.
    write(folder, &[("good/agentir.toml", "[rules]\nhardcoded-secret = \"off\"\n")]);
    let (output, _) = ran(folder, &["compile", "good/desk.agent.abl"], "");
    assert!(stdout(&output).contains(&secrets.token), "{}", stderr(&output));
    let file = folder.join("good/desk.agent.abl");
    let messy = fs::read_to_string(&file).unwrap().replace("GOAL: ", "GOAL:    ");
    fs::write(&file, &messy).unwrap();
    let (output, text) = ran(folder, &["fmt", "good/desk.agent.abl", "--diff"], "");
    assert!(stdout(&output).contains("GOAL: \"Sell tickets with ghp_…"), "{text}");
    assert!(stderr(&output).contains("cannot be applied"), "{text}");
    secrets.assert_masked("diff", &text);
    // In a file it can be applied.
    let to = fs::File::create(folder.join("fmt.diff")).unwrap();
    let mut command = agentir(folder, &folder.join("cache"));
    command.env("CI", "true").args(["fmt", "good/desk.agent.abl", "--diff"]).stdout(to);
    let output = command.output().unwrap();
    assert!(!stderr(&output).contains("cannot be applied"));
    assert!(fs::read_to_string(folder.join("fmt.diff")).unwrap().contains(&secrets.token));
}

#[test]
fn what_goes_into_a_log_has_no_commands() {
    const CI: [&str; 9] = [
        "CI",
        "GITHUB_ACTIONS",
        "TF_BUILD",
        "GITLAB_CI",
        "JENKINS_URL",
        "BUILDKITE",
        "TEAMCITY_VERSION",
        "CIRCLECI",
        "BITBUCKET_BUILD_NUMBER",
    ];
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // It is no error, which would keep the document from being converted, but not to be shown.
    let token = "kQhTzLmWvBnPydRwZa";
    let text = format!(
        "AGENT: Desk\nGOAL:    |\n  ::error::x\n  a ##[error]x ##vso[task.x]y --token {token}\n   ::stop-commands::abc\n"
    );
    write(folder, &[("desk.agent.abl", &text)]);
    let run = |args: &[&str], variable: Option<&str>, to: Stdio| {
        let mut command = agentir(folder, &folder.join("cache"));
        for name in CI {
            command.env_remove(name);
        }
        command.envs(variable.map(|name| (name, "1"))).args(args).stdout(to).output().unwrap()
    };
    for args in [
        &["fmt", "desk.agent.abl", "--diff"][..],
        &["convert", "desk.agent.abl", "--to", "abl"],
        &["convert", "desk.agent.abl", "--to", "adl"],
    ] {
        for variable in CI {
            let output = run(args, Some(variable), Stdio::piped());
            let text = stdout(&output);
            assert!(text.contains("stop-commands"), "{args:?} {variable}: {}", stderr(&output));
            for line in text.lines() {
                assert!(!line.trim_start().starts_with("::"), "{args:?} {variable}: {line}");
                assert!(!line.contains("##[") && !line.contains("##vso["), "{args:?}: {line}");
                assert!(!line.contains(token), "{args:?} {variable}: {line}");
            }
            assert!(stderr(&output).contains("not shown"), "{}", stderr(&output));
        }
        // Elsewhere, and in a file, it is what it is.
        let text = stdout(&run(args, None, Stdio::piped()));
        assert!(text.contains("##vso[task.x]y") && text.contains(token), "{args:?}: {text}");
        let file = fs::File::create(folder.join("out")).unwrap();
        run(args, Some("CI"), file.into());
        let text = fs::read_to_string(folder.join("out")).unwrap();
        assert!(text.contains("##vso[task.x]y") && text.contains(token), "{args:?}: {text}");
    }
}

#[test]
fn secrets_of_any_form_are_masked_in_the_line_of_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let random = "7uDG3xO2LwSMujLM7uDG3xO2LwSM";
    for line in [
        format!("authorization: bearer {random}"),
        format!("Authorization: Token {random}"),
        format!("Cookie: session={random}"),
        format!("client --password {random}"),
        format!("https://{random}@x.example/"),
        format!("xai-{random}"),
        "password='kQhTzLmWvBnPydRwZa'".to_owned(),
    ] {
        // What stands in the line of a finding.
        let text = format!("AGENT: Desk\nGOAL: \"Sell\"\nNOPE: \"{line}\"\n");
        write(folder.path(), &[("desk.agent.abl", &text)]);
        let (_, text) = ran(folder.path(), &["check", "."], "");
        assert!(text.contains("NOPE: "), "{text}");
        assert!(
            text.contains('…') && !text.contains("O2LwSM") && !text.contains("hTzLmW"),
            "{text}"
        );
    }
}

#[test]
fn secrets_behind_schemes_and_escapes_are_masked_in_the_line_of_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    // Read from behind, so that scanners find no secret in the repository.
    let reversed = |text: &str| text.chars().rev().collect::<String>();
    let password = reversed("m2xVq7kZ");
    let token = format!("{password}Pw9tRb4nLc8s");
    let login = reversed("==wMyEDZy92dzNXYwpjclNXd");
    let in_abl = [
        format!("Basic {login}"),
        format!("X-Auth: basic {}", login.trim_end_matches('=')),
        format!("Proxy-Authorization: Basic {login}"),
        format!("Authorization: Digest username=a, response={}", "6629fae49393a053".repeat(2)),
        format!("Passwort: {password}"),
        format!("mysql -u root -p{password}"),
        format!("password = 'my {password} x'"),
        format!("Bot_ghp_{token}{token}"),
        format!("glsa_{}_0f1e2d3c", &format!("{token}{token}")[..32]),
    ];
    let hidden = [&password[4..], &login[8..16], &"6629fae49393a053"[4..], "Pw9tRb4n"];
    let check = |name: &str, text: &str, what: &str| {
        write(folder.path(), &[(name, text)]);
        for format in ["text", "html"] {
            let (_, said) = ran(folder.path(), &["check", name, "--format", format], "");
            assert!(said.contains("NOPE") && said.contains('…'), "{what}: {said}");
            for part in hidden {
                assert!(!said.contains(part), "{what}: {said}");
            }
        }
    };
    for line in in_abl {
        let text = format!("AGENT: Desk\nGOAL: \"Sell\"\nNOPE: \"{line}\"\n");
        check("a.agent.abl", &text, &line);
    }
    let in_json = [
        format!(r"postgres:\/\/admin:{password}@db.example\/x"),
        format!(r"https:\/\/{token}@github.com\/x.git"),
        format!(r"https:\/\/discord.com\/api\/webhooks\/12345678\/{token}"),
        format!(r"\u0067hp_{token}{token}"),
        format!(r#"{{\\\"apiKey\\\": \\\"{token}\\\"}}"#),
        format!(r#"[{{\"key\": \"Authorization\", \"value\": \"{token}\"}}]"#),
    ];
    for line in in_json {
        let text = format!(
            r#"{{"version":"1.0","entry_agent":"A","agents":{{"A":{{"ir_version":"1.0","metadata":{{"name":"A","dialect":"abl"}},"NOPE":1,"identity":{{"goal":"{line}"}}}}}}}}"#
        );
        check("a.ir.json", &text, &line);
    }
}

#[test]
fn a_page_says_that_a_line_is_cut_only_if_it_is() {
    let folder = tempfile::tempdir().unwrap();
    for mark in ["", "\u{feff}"] {
        write(folder.path(), &[("a.agent.abl", &format!("{mark}AGENTT: x\n"))]);
        let (_, said) = ran(folder.path(), &["check", "a.agent.abl", "--format", "html"], "");
        assert!(said.contains("<mark>AGENTT</mark>: x\n"), "{said}");
        assert!(!said.contains("…<mark>"), "{said}");
        let long = format!("{mark}AGENTT: {}\n", "x ".repeat(200));
        write(folder.path(), &[("a.agent.abl", &long)]);
        let (_, said) = ran(folder.path(), &["check", "a.agent.abl", "--format", "html"], "");
        assert!(said.contains("<mark>AGENTT</mark>: x x") && said.contains("x x …"), "{said}");
        assert!(!said.contains("…<mark>"), "{said}");
    }
}

#[test]
fn secrets_in_comparisons_and_below_the_first_line_of_a_key_are_masked() {
    let folder = tempfile::tempdir().unwrap();
    // Read from behind, so that scanners find no secret in the repository.
    let password: String = "m2xVq7kZ".chars().rev().collect();
    let key = format!("{password}0f1e2d3c4b5a6978");
    for line in [
        format!("password == '{password}' and api_key == '{key}'"),
        format!("'password' => '{password}', passwd != '{password}'"),
        format!("API_KEY_2={key}, DB_PASSWORD_PROD={password}"),
        format!("passwords: [{password}, {password}]"),
    ] {
        let text = format!("AGENT: Desk\nGOAL: \"Sell\"\nNOPE: \"{line}\"\n");
        write(folder.path(), &[("desk.agent.abl", &text)]);
        for format in ["text", "html"] {
            let (_, said) = ran(folder.path(), &["check", ".", "--format", format], "");
            assert!(said.contains("NOPE") && said.contains('…'), "{said}");
            assert!(!said.contains(&password) && !said.contains("2d3c"), "{line}: {said}");
        }
    }
    // What a comparison contains is reported as well.
    let guard = format!(
        "AGENT: Desk\nGOAL: \"Sell\"\nGATHER:\n  - password:\n      TYPE: string\nCONSTRAINTS:\n  - REQUIRE password == \"{password}\"\n"
    );
    write(folder.path(), &[("desk.agent.abl", &guard)]);
    let (_, said) = ran(folder.path(), &["check", ".", "--format", "concise"], "");
    assert!(said.contains("hardcoded-secret"), "{said}");
    for begin in [
        "key: \"-----BEGIN PRIVATE KEY-----\"",
        "# paste the -----BEGIN RSA PRIVATE KEY----- block",
    ] {
        let text =
            format!("{begin}\nuser: bob\npassword: '{password}'\nAuthorization: Bearer {key}");
        let (output, said) = ran(folder.path(), &["explain", &text], "");
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("bob"), "{said}");
        assert!(!said.contains(&password) && !said.contains("2d3c"), "{said}");
    }
    for plain in ["password: string?", "PASS: address1", "compass: north_2", "a basic 24h-service"]
    {
        let (_, said) = ran(folder.path(), &["explain", plain], "");
        assert!(said.contains(plain), "{said}");
    }
}

#[test]
fn costs_show_no_token_in_the_name_of_an_agent() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = Secrets::new();
    let text = format!("AGENT: Bot_{}\nGOAL: \"Sell\"\n", secrets.token);
    write(folder.path(), &[("desk.agent.abl", &text)]);
    for format in ["json", "text"] {
        let (output, said) = ran(folder.path(), &["cost", ".", "--format", format], "");
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("Bot_ghp_…") && !said.contains(&secrets.token), "{said}");
    }
}

#[test]
fn a_fix_that_would_write_a_secret_is_not_offered_in_reports() {
    let folder = tempfile::tempdir().unwrap();
    let s = Secrets::new();
    // A name with a secret is suggested for one that is almost the same.
    let text = format!(
        "AGENT: Desk\nGOAL: \"Sell\"\nTOOLS:\n  {token}(a: string) -> {{b: string}}\nFLOW:\n  start:\n    REASONING: false\n    CALL: {token}x(a: \"1\")\n    THEN: COMPLETE\n",
        token = s.token
    );
    write(folder.path(), &[("desk.agent.abl", &text)]);
    for format in FORMATS {
        let (_, text) = ran(folder.path(), &["check", ".", "--format", format], "");
        s.assert_masked(format, &text);
        if format == "json" {
            let report: serde_json::Value =
                serde_json::from_str(text.lines().next().unwrap()).unwrap();
            let findings = report["diagnostics"].as_array().unwrap();
            let found = findings.iter().find(|f| f["rule"] == "undefined-tool").unwrap();
            assert!(found["help"].as_str().unwrap().contains("ghp_…"), "{found}");
            assert_eq!(found["fix"], serde_json::Value::Null);
        }
    }
}

/// What a hostile text contains: commands to terminals, characters that reorder what is read, commands to CI systems.
const HOSTILE: &str = "\u{1B}[2J\u{1B}]0;pwned\u{7}\u{9B}31m\u{7F}\u{8}\u{202E}\u{2066}\u{200F}\u{85}\u{C}##[error]pwned ##vso[task.pwned]x ##teamcity[pwned]";

/// Whether a character may be printed.
fn is_harmless(c: char) -> bool {
    matches!(c, '\n' | '\t')
        || !(c.is_control()
            || matches!(c, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'))
}

fn assert_harmless(what: &str, text: &str) {
    let bad = text.chars().find(|c| !is_harmless(*c));
    assert_eq!(bad, None, "{what}: {text:?}");
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::error::pwned"), "{what}: {line:?}");
        for command in ["##[", "##vso[", "##teamcity["] {
            assert!(!line.contains(command), "{what}: {line:?}");
        }
    }
    let is = |word| what.split_whitespace().any(|w| w == word);
    if is("junit") || is("checkstyle") || is("svg") || what.ends_with(".xml") {
        let text = text.get(text.find('<').unwrap()..=text.rfind('>').unwrap()).unwrap();
        let mut xml = quick_xml::Reader::from_str(text);
        xml.config_mut().check_end_names = true;
        let mut elements = 0;
        loop {
            match xml.read_event() {
                Ok(quick_xml::events::Event::Eof) => break,
                Ok(event) => {
                    elements += 1;
                    if let quick_xml::events::Event::Start(e) | quick_xml::events::Event::Empty(e) =
                        event
                    {
                        for attribute in e.attributes() {
                            let value = attribute
                                .unwrap()
                                .normalized_value(quick_xml::XmlVersion::Explicit1_0)
                                .unwrap();
                            let allowed = |c| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
                            assert!(value.chars().all(allowed), "{what}: {value:?}");
                        }
                    }
                }
                Err(error) => assert_eq!(error.to_string(), "", "{what}: {text}"),
            }
        }
        assert!(elements > 2, "{what}: {text}");
    }
}

/// Files whose names and texts are hostile.
fn hostile() -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "AGENT: Desk\nGOAL: \"Sell {HOSTILE}\"\n# {HOSTILE}\nPERSONA: |\n  Be kind.\n  ::error::pwned\n  {HOSTILE}\nTOOLS:\n  sell(a: string) -> {{b: string}}\n    description: \"{HOSTILE}\"\nFLOW:\n  start -> next\n  start:\n    REASONING: false\n    RESPOND: |\n      ::error::pwned\n      {HOSTILE}\n    THEN: next\n  next:\n    REASONING: false\n    CALL: sell(a: \"{HOSTILE}\")\n    ON_SUCCESS:\n      RESPOND: \"{{{{sell.b}}}}\"\n      THEN: COMPLETE\n    ON_FAIL:\n      RESPOND: \"no\"\n      THEN: COMPLETE\n"
    );
    let names = [
        format!("a/x\n::error::pwned\n{}.agent.abl", HOSTILE.replace('/', "")),
        "b/::error::pwned.agent.abl".to_owned(),
    ];
    let broken =
        text.replace("CALL: sell(", "CALL: sel(").replace("AGENT: Desk", "AGENT: Desk\u{1B}[1m");
    let other = names[0].replace("a/x", "c/x");
    write(folder.path(), &[(&*names[0], &*text), (&*names[1], &*broken), (&*other, &*broken)]);
    let tests = format!(
        "agents: \"::error::pwned.agent.abl\"\ntests:\n  - name: {:?}\n    turns:\n      - says: [\"x\"]\n",
        "a\n::error::pwned"
    );
    // YAML has no control characters beyond ASCII, so that they are written as escapes.
    let answer: String = format!("x\n::error::pwned\n{HOSTILE}")
        .encode_utf16()
        .map(|unit| format!("\\u{unit:04x}"))
        .collect();
    let stubs = format!("tools:\n  sell:\n    - answer: {{ b: \"{answer}\" }}\n");
    write(folder.path(), &[("b/x.test.yaml", &*tests), ("stubs.yaml", &*stubs)]);
    (folder, names.map(PathBuf::from).into())
}

#[test]
fn nothing_that_is_printed_is_a_command() {
    let (folder, names) = hostile();
    let first = names[0].to_str().unwrap();
    let all = outputs(folder.path(), &[first, "a", "b"], &["a", "b", first, "."]);
    for (what, text) in &all {
        assert_harmless(what, text);
    }
    let (_, text) = ran(folder.path(), &["test", "b", "--junit", "j.xml"], "");
    assert_harmless("test", &text);
    if let Ok(text) = fs::read_to_string(folder.path().join("j.xml")) {
        assert_harmless("j.xml", &text);
    }
    let typed = format!("hello {HOSTILE}\n");
    let (_, text) = ran(folder.path(), &["run", "a", "--stubs", "stubs.yaml", "--trace"], &typed);
    assert!(text.contains("pwned"), "{text}");
    assert_harmless("run", &text);
    let (_, text) = ran(folder.path(), &["diff", "a", "b"], "");
    assert_harmless("diff", &text);
    let missing = format!("no\n::error::pwned\n{HOSTILE}");
    for command in
        ["check", "fmt", "graph", "run", "test", "compile", "cost", "report merge", "corpus"]
    {
        let mut args: Vec<&str> = command.split(' ').collect();
        args.push(&missing);
        let (output, text) = ran(folder.path(), &args, "");
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert_harmless(command, &text);
    }
    // A shell passes names of files, and some look like options.
    let option = format!("--{HOSTILE}\n::error::pwned");
    let (output, text) = ran(folder.path(), &["check", &option], "");
    assert_eq!(output.status.code(), Some(2));
    assert_harmless("option", &text);
}

#[test]
fn json_says_exactly_what_a_name_is() {
    let (folder, _) = hostile();
    let (output, _) = ran(folder.path(), &["check", "c", "--format", "json"], "");
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let files: Vec<&str> = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|d| d["file"].as_str())
        .collect();
    let name = format!("c/x\n::error::pwned\n{}.agent.abl", HOSTILE.replace('/', ""));
    assert!(!files.is_empty());
    assert!(files.iter().all(|file| *file == name), "{files:?}");
}
