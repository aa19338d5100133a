//! What a request says about fields and the conversation: questions for fields, and the messages that matter.

use super::addressed::to_user;
use super::sentence;
use super::words::{Word, name_words, similarity, words};
use agentir_runtime::{FieldSpec, Message, ToolSpec, ToolUse};

/// How well a phrase fits a field: the share of the field's words in it.
pub(super) fn overlap(field: &FieldSpec, about: &[Word]) -> f64 {
    let content =
        |text: Vec<Word>| -> Vec<Word> { text.into_iter().filter(Word::is_content).collect() };
    let name: Vec<Word> = content(name_words(&field.name))
        .into_iter()
        .filter(|w| !super::addressed::USERS.contains(&w.text.as_str()) && w.text != "input")
        .collect();
    let described = content(words(&sentence(&field.description)));
    let about: Vec<&Word> = about
        .iter()
        .filter(|w| {
            w.is_content() && !super::addressed::USERS.contains(&w.text.trim_end_matches("'s"))
        })
        .collect();
    // "The code" is not the length of the code.
    let limit = |w: &Word| super::extract::LIMIT_WORDS.contains(&w.text.as_str());
    if name.iter().any(limit) && !about.iter().any(|w| limit(w)) {
        return 0.0;
    }
    let share = |own: &[Word]| {
        let found = own.iter().filter(|o| about.iter().any(|w| similarity(o, w) >= 1.0)).count();
        #[expect(clippy::cast_precision_loss, reason = "a few words")]
        let share = if own.is_empty() { 0.0 } else { found as f64 / own.len() as f64 };
        share
    };
    let by_name = share(&name);
    if by_name > 0.0 { 1.0 + by_name } else { share(&described) * 0.5 }
}

/// A question about a field without a question of its own, with a remark about its values.
pub(super) fn request_for(field: &FieldSpec, remark: Option<&str>) -> String {
    let described = sentence(&field.description);
    let described = described.split(['(', ';', '—']).next().unwrap_or_default();
    let described = to_user(described.trim().trim_end_matches(['.', ':', ',']));
    let lower = {
        let mut letters = described.chars();
        let first = letters.next().map(|c| c.to_lowercase().collect::<String>());
        format!("{}{}", first.unwrap_or_default(), letters.as_str())
    };
    let first = lower.split(' ').next().unwrap_or_default();
    let usable = matches!(first, "the" | "your" | "a" | "an")
        && lower.split(' ').count() <= 9
        && !lower.contains(" you")
        && !["identifier", "json", "variable", "flag", "object", "string", "api"]
            .iter()
            .any(|w| lower.contains(w));
    let what = if usable { lower } else { format!("the {}", spoken(&field.name)) };
    let listed: Vec<&str> = field.values.keys().map(String::as_str).collect();
    let choice = if let Some(remark) = remark {
        format!(" ({remark})")
    } else if listed.is_empty() || listed.len() > 6 {
        String::new()
    } else {
        format!(" ({})", listed.join(", "))
    };
    format!("Could you tell me {what}{choice}, please?")
}

/// The length of a remark about a field in the instructions, in bytes.
const MAX_HINT_BYTES: usize = 60;

/// What instructions say in parentheses after the name of a field, if it lists its values: "payee_type (person/business)".
pub(super) fn remark_about<'t>(name: &str, instructions: &'t [String]) -> Option<&'t str> {
    instructions.iter().find_map(|text| {
        let at = text.find(name)?;
        let rest = text.get(at + name.len()..)?.strip_prefix(" (")?;
        let remark = rest.get(..rest.find(')')?)?;
        let listed = remark.contains(['/', ',']) || remark.contains(" or ");
        (listed && remark.len() <= MAX_HINT_BYTES && !remark.contains(['_', '{', '@']))
            .then_some(remark)
    })
}

/// Tools whose parameters without a description have what the instructions say about their values.
pub(super) fn described(tools: &[ToolSpec], instructions: &[String]) -> Vec<ToolSpec> {
    let mut tools = tools.to_vec();
    let open = |field: &&mut FieldSpec| {
        field.description.trim().is_empty() && field.values.is_empty() && field.name.contains('_')
    };
    for field in tools.iter_mut().flat_map(|tool| &mut tool.parameters).filter(open) {
        if let Some(remark) = remark_about(&field.name, instructions) {
            field.description = format!("({remark})");
        }
    }
    tools
}

/// A name as words, without prefixes of platforms.
pub(super) fn spoken(name: &str) -> String {
    let name = name.rsplit([':', '.']).next().unwrap_or(name);
    let words: Vec<String> = name_words(name).into_iter().map(|w| w.text).collect();
    if words.is_empty() { name.to_owned() } else { words.join(" ") }
}

/// The messages without the calls by which other agents, that share the conversation, passed it on.
pub(super) fn without_transitions(messages: &[Message], tools: &[ToolSpec]) -> Vec<Message> {
    let result = |id: &str| messages.iter().find(|m| m.tool_use_id.as_deref() == Some(id));
    let passed_on = |call: &ToolUse| {
        result(&call.id).is_some_and(|m| m.text == "done")
            && !tools.iter().any(|tool| tool.name == call.name)
    };
    let ids: Vec<&str> = messages
        .iter()
        .flat_map(|m| &m.calls)
        .filter(|call| passed_on(call))
        .map(|call| call.id.as_str())
        .collect();
    let kept =
        messages.iter().filter(|m| m.tool_use_id.as_deref().is_none_or(|id| !ids.contains(&id)));
    let kept = kept.cloned().map(|mut message| {
        let calls = message.calls.len();
        message.calls.retain(|call| !ids.contains(&call.id.as_str()));
        (calls, message)
    });
    kept.filter(|(calls, m)| *calls == 0 || !m.calls.is_empty() || !m.text.is_empty())
        .map(|(_, message)| message)
        .collect()
}
