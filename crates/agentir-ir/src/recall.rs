//! Recall events (current specification 8.10).

/// The current meaning of a legacy event name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Legacy<'a> {
    /// This event.
    Event(&'static str),
    /// A value for this field was extracted.
    Field(&'a str),
    /// A custom event; newer versions have none.
    Unknown,
}

const NAMES: &[(&str, &str)] = &[
    ("start", "session:start"),
    ("session_start", "session:start"),
    ("end", "session:end"),
    ("session_end", "session:end"),
    ("agent_start", "agent:*:before"),
    // As the specification defines it, although the name suggests otherwise.
    ("agent_enter", "agent:*:after"),
    ("agent_end", "agent:*:after"),
    ("agent_exit", "agent:*:after"),
    ("agent_complete", "agent:*:after"),
    ("complete", "agent:*:after"),
    ("tool_call", "tool:*:after"),
    ("tool_result", "tool:*:after"),
];

/// Returns the meaning of a legacy name: `ON_START`, `session_start`, `ON_DESTINATION_MENTION`.
#[must_use]
pub fn legacy(event: &str) -> Option<Legacy<'_>> {
    let prefixed =
        event.get(..3).filter(|p| p.eq_ignore_ascii_case("on_")).and_then(|_| event.get(3..));
    let name = prefixed.unwrap_or(event);
    if let Some((_, now)) = NAMES.iter().find(|(old, _)| old.eq_ignore_ascii_case(name)) {
        // No version has the bare name `start`.
        return (prefixed.is_some() || name.contains('_')).then_some(Legacy::Event(now));
    }
    let prefixed = prefixed?;
    let field = [8, 10].iter().zip(["_mention", "_mentioned"]).find_map(|(len, end)| {
        let at = prefixed.len().checked_sub(*len)?;
        prefixed.get(at..)?.eq_ignore_ascii_case(end).then(|| prefixed.get(..at)).flatten()
    });
    Some(field.map_or(Legacy::Unknown, Legacy::Field))
}

/// A parsed event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// `session:start`, `session:end`.
    Session,
    /// `agent:NAME:before`, `agent:NAME:after`; `*` for any.
    Agent(&'a str),
    /// `tool:NAME:after`; `*` for any.
    Tool(&'a str),
    /// `entity:NAME:extracted`.
    Field(&'a str),
    /// `step:enter:NAME`, `step:exit:NAME`.
    Step(&'a str),
}

/// Parses an event. Returns `None` if the language has no such event.
pub fn event(text: &str) -> Option<Event<'_>> {
    let mut parts = text.trim().split(':').map(str::trim);
    let event = match (parts.next()?, parts.next()?, parts.next()) {
        ("session", "start" | "end", None) => Event::Session,
        ("agent", name, Some("before" | "after")) if !name.is_empty() => Event::Agent(name),
        ("tool", name, Some("after")) if !name.is_empty() => Event::Tool(name),
        ("entity", name, Some("extracted")) if !name.is_empty() => Event::Field(name),
        ("step", "enter" | "exit", Some(name)) if !name.is_empty() => Event::Step(name),
        _ => return None,
    };
    parts.next().is_none().then_some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_taken_apart() {
        assert_eq!(event("session:start"), Some(Event::Session));
        assert_eq!(event("agent:*:before"), Some(Event::Agent("*")));
        assert_eq!(event("step:enter:Pay"), Some(Event::Step("Pay")));
        assert_eq!(event("tool:search:before"), None);
        assert_eq!(event("session:start:now"), None);
        assert_eq!(event("greeting"), None);
    }

    #[test]
    fn legacy_names_have_a_meaning() {
        assert_eq!(legacy("ON_START"), Some(Legacy::Event("session:start")));
        assert_eq!(legacy("session_start"), Some(Legacy::Event("session:start")));
        assert_eq!(legacy("ON_DESTINATION_MENTION"), Some(Legacy::Field("DESTINATION")));
        assert_eq!(legacy("ON_SEARCH"), Some(Legacy::Unknown));
        assert_eq!(legacy("session:start"), None);
        assert_eq!(legacy("start"), None);
    }
}
