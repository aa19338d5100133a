//! The scaffold of a rule: its file, its page, and its registration.

use std::error::Error;
use std::fs;
use std::path::Path;

pub(crate) fn write(root: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.chars().all(kebab)
        || name.ends_with('-')
    {
        return Err(format!("`{name}` is not in kebab case: lower-case words joined by `-`").into());
    }
    let module = name.replace('-', "_");
    let rules = root.join("crates/agentir-lint/src/rules");
    let file = rules.join(format!("{module}.rs"));
    let page = root.join("rules").join(format!("{name}.md"));
    for path in [&file, &page] {
        if path.exists() {
            return Err(format!("{} already exists", path.display()).into());
        }
    }
    let catalogue = root.join("crates/agentir-lint/src/catalogue.rs");
    let registered = with_line(
        &fs::read_to_string(&catalogue)?,
        "pub(crate) static RULES: &[&Rule] = &[\n",
        "    &rules::",
        &format!("    &rules::{module}::RULE,\n"),
    )?;
    let list = rules.join("mod.rs");
    let listed = with_line(
        &fs::read_to_string(&list)?,
        "",
        "pub(crate) mod ",
        &format!("pub(crate) mod {module};\n"),
    )?;
    fs::write(&file, rule(name))?;
    fs::write(&page, page_of(name))?;
    fs::write(&catalogue, registered)?;
    fs::write(&list, listed)?;
    println!("wrote {} and {}, and registered the rule", file.display(), page.display());
    println!("next: describe the rule in both; `cargo test --workspace` runs the page's examples");
    Ok(())
}

/// Inserts `line` into the first sorted run of lines that begin with `prefix`, after the text `after`.
fn with_line(text: &str, after: &str, prefix: &str, line: &str) -> Result<String, String> {
    let missing = || format!("there is no list of `{prefix}…` lines to add to");
    let start = text.find(after).ok_or_else(missing)? + after.len();
    let (before, rest) = text.split_at_checked(start).ok_or_else(missing)?;
    let begin = rest.find(prefix).ok_or_else(missing)?;
    let (between, list) = rest.split_at_checked(begin).ok_or_else(missing)?;
    let at: usize = list
        .split_inclusive('\n')
        .take_while(|l| l.starts_with(prefix) && *l < line)
        .map(str::len)
        .sum();
    let (smaller, larger) = list.split_at_checked(at).ok_or_else(missing)?;
    Ok(format!("{before}{between}{smaller}{line}{larger}"))
}

/// A rule that the tests of agentir-lint compile and run, so the scaffold always compiles.
const TEMPLATE: &str = include_str!("../../crates/agentir-lint/src/rule_template.rs");

fn rule(name: &str) -> String {
    TEMPLATE.replace("example-rule", name).replace("example_tool", &example_tool(name))
}

/// The tool that the rule of the scaffold reports.
fn example_tool(name: &str) -> String {
    format!("example_of_{}", name.replace('-', "_"))
}

fn page_of(name: &str) -> String {
    let tool = example_tool(name);
    // The finding of the template, as the tests of the pages write it.
    let mark = format!("          {} `{tool}` is an example\n", "^".repeat(tool.len()));
    let example = |fence: &str, tool: &str, mark: &str| {
        format!(
            "```abl {fence}\nAGENT: Example\n\nGOAL: \"Show what the rule is about\"\n\nTOOLS:\n  {tool}() -> {{done: boolean}}\n\nFLOW:\n  start:\n    REASONING: false\n    CALL: {tool}()\n{mark}    THEN: COMPLETE\n```\n"
        )
    };
    format!(
        "# {name}\n\n(What it finds.)\n\n## Why\n\n(What happens at run time.)\n\n## Wrong\n\n{}\n## Right\n\n{}",
        example("fail", &tool, &mark),
        example("pass", "open_door", "")
    )
}

#[cfg(test)]
mod tests {
    use super::{page_of, rule, with_line};

    #[test]
    fn the_rule_and_its_page_are_about_the_same_tool() {
        let (rule, page) = (rule("odd-name"), page_of("odd-name"));
        assert!(
            rule.contains("RuleName(\"odd-name\")") && rule.contains("\"example_of_odd_name\"")
        );
        assert!(page.starts_with("# odd-name\n") && page.contains("CALL: example_of_odd_name()"));
        assert!(!rule.contains("example-rule") && !rule.contains("example_tool"));
        let mark = "          ^^^^^^^^^^^^^^^^^^^ `example_of_odd_name` is an example\n";
        assert!(page.contains(&format!("    CALL: example_of_odd_name()\n{mark}    THEN:")));
    }

    #[test]
    fn lines_are_inserted_in_order() {
        let text = "// head\nmod a;\nmod c;\n\nmod z;\n";
        let with = |line| with_line(text, "", "mod ", line);
        assert_eq!(with("mod b;\n").as_deref(), Ok("// head\nmod a;\nmod b;\nmod c;\n\nmod z;\n"));
        assert_eq!(with("mod d;\n").as_deref(), Ok("// head\nmod a;\nmod c;\nmod d;\n\nmod z;\n"));
        assert!(with_line("nothing", "", "mod ", "mod a;\n").is_err());
    }
}
