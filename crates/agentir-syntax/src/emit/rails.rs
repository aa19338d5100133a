//! Guardrails and templates in words, for prompts of languages that have neither.

use super::{expr_phrase, template_phrase};
use agentir_expr::Template;
use agentir_ir::{Agent, Data, Guardrail, GuardrailKind};

/// What a guardrail checks, as begins a sentence.
const fn checked(kind: GuardrailKind) -> &'static str {
    match kind {
        GuardrailKind::Input => "Check what the user writes",
        GuardrailKind::Output => "Check your answer",
        GuardrailKind::ToolInput => "Check what you pass to a function",
        GuardrailKind::ToolOutput => "Check what a function returns",
        GuardrailKind::Handoff => "Check what you hand over to another agent",
    }
}

/// What follows if the check finds a violation (ABL, current specification, 3.9, "Actions").
fn reaction(action: &Data) -> String {
    let field = |name: &str| action.get(name).and_then(Data::as_str);
    let kind = field("type").or(action.as_str()).unwrap_or("block");
    let does = match kind {
        "warn" => "go on, but carefully",
        "redact" | "filter" => "leave that out",
        "fix" => "correct it",
        "reask" => "write another answer",
        "escalate" => "let a person take over",
        _ => "do not go on",
    };
    match field("message") {
        Some(message) if kind == "block" => format!("{does}, and say: \"{message}\""),
        Some(message) => format!("{does}: \"{message}\""),
        None => does.to_owned(),
    }
}

/// A guardrail as an instruction. Its checks describe violations (ABL, current specification, 3.9: "true means the
/// guardrail fires").
#[must_use]
pub fn guardrail_sentence(rail: &Guardrail) -> String {
    let text = |text: &Template| template_phrase(text).trim().to_owned();
    let mut asked = rail.llm_check.as_ref().map(text);
    let mut about = rail.description.as_ref().map(text);
    if asked.is_none() && rail.check.is_none() && rail.category.is_none() {
        asked = about.take();
    }
    let mut violation = Vec::new();
    violation.extend(asked.map(|asked| format!("\"{asked}\"")));
    violation.extend(rail.category.as_ref().map(|category| format!("is there {category}?")));
    violation.extend(rail.check.as_ref().map(expr_phrase));
    let about = about.map(|about| with_full_stop(&about) + " ").unwrap_or_default();
    format!(
        "{}: {about}{}. Violation: {} If so, {}",
        rail.name.value,
        checked(rail.kind),
        with_full_stop(&violation.join(", or ")),
        with_full_stop(&reaction(&rail.action))
    )
}

/// A sentence with a full stop, unless it ends in a sign, also within quotes.
#[must_use]
pub fn with_full_stop(text: &str) -> String {
    let text = text.trim_end();
    let spoken = text.trim_end_matches('"');
    let stop = if spoken.ends_with(['.', '!', '?', ':']) { "" } else { "." };
    format!("{text}{stop}")
}

/// A text for the model with the templates that it names (`RESPOND: TEMPLATE(name)`) written out, as `written` says;
/// `None` if it names none.
#[must_use]
pub fn with_templates_written_out(
    text: &str,
    agent: &Agent,
    mut written: impl FnMut(&Template) -> String,
) -> Option<String> {
    const CALL: &str = "TEMPLATE(";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some((before, after)) = rest.split_once(CALL) {
        let named = after.split_once(')').and_then(|(name, after)| {
            let said = agent.templates.get(name.trim())?.default.as_ref()?;
            Some((said, after))
        });
        let Some((said, after)) = named else {
            out.push_str(before);
            out.push_str(CALL);
            rest = after;
            continue;
        };
        changed = true;
        let tail = before.trim_end();
        let respond = ["RESPOND:", "RESPOND"].iter().find_map(|word| tail.strip_suffix(word));
        out.push_str(respond.unwrap_or(before));
        let begins = out.trim_end().is_empty() || out.trim_end().ends_with(['.', '!', '?']);
        let say = match respond {
            Some(_) if begins => "Say: ",
            Some(_) => "say: ",
            None => "",
        };
        out.push_str(&format!("{say}\"{}\"", written(said).trim()));
        rest = after;
    }
    out.push_str(rest);
    changed.then_some(out)
}
