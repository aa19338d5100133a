//! What XO calls things, as tables: types of entities, operators, nodes, variables, channels, events,
//! and the fields that hold texts, credentials or only the editor's own data.

/// A type of entity, and what it is in ABL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityType {
    /// Its id in exports, in lower case.
    pub id: &'static str,
    /// What the platform calls it in capitals, where ABL knows that name (`kore_entity_type`).
    pub platform: Option<&'static str>,
    /// The type of the field in ABL.
    pub ty: &'static str,
    /// What its values look like (`semantics.format`).
    pub format: Option<&'static str>,
    /// The parts of its values.
    pub components: &'static [&'static str],
    /// Their unit.
    pub unit: Option<&'static str>,
    /// The reference table that knows its values.
    pub lookup: Option<&'static str>,
    /// Personal or secret, so that it is not shown and not kept.
    pub secret: bool,
}

const fn entity(id: &'static str, ty: &'static str) -> EntityType {
    EntityType {
        id,
        platform: None,
        ty,
        format: None,
        components: &[],
        unit: None,
        lookup: None,
        secret: false,
    }
}

impl EntityType {
    const fn platform(self, name: &'static str) -> Self {
        Self { platform: Some(name), ..self }
    }

    const fn format(self, format: &'static str) -> Self {
        Self { format: Some(format), ..self }
    }

    const fn of(self, components: &'static [&'static str]) -> Self {
        Self { components, ..self }
    }

    const fn unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    const fn lookup(self, table: &'static str) -> Self {
        Self { lookup: Some(table), ..self }
    }

    /// Whether a value means more than its type in ABL says.
    #[must_use]
    pub const fn has_semantics(&self) -> bool {
        self.format.is_some()
            || self.unit.is_some()
            || self.lookup.is_some()
            || !self.components.is_empty()
    }

    /// The type called `id` in an export, or by the platform.
    #[must_use]
    pub fn called(id: &str) -> Option<&'static Self> {
        ENTITY_TYPES
            .iter()
            .find(|t| t.id.eq_ignore_ascii_case(id) || t.platform.is_some_and(|name| name == id))
    }
}

/// All types of entities.
pub static ENTITY_TYPES: &[EntityType] = &[
    entity("label", "string"),
    entity("description", "text"),
    entity("number", "number"),
    entity("percentage", "number").unit("percent"),
    entity("quantity", "number").format("quantity"),
    entity("quantityv2", "number").format("quantity"),
    entity("from_number", "number"),
    entity("to_number", "number"),
    entity("currency", "number").platform("CURRENCY").unit("currency").format("currency_amount"),
    entity("currencyv2", "number").unit("currency").format("currency_amount"),
    entity("date", "date"),
    entity("datetime", "datetime"),
    entity("time", "string").format("time"),
    entity("dateperiod", "string")
        .platform("DATE_PERIOD")
        .format("date_range")
        .of(&["start", "end"]),
    entity("timezone", "string").format("timezone"),
    entity("email", "email").platform("EMAIL"),
    entity("phone_number", "phone").platform("PHONE"),
    entity("url", "string").format("url"),
    entity("zipcode", "string").format("postal_code"),
    entity("person_name", "string")
        .platform("PERSON_NAME")
        .format("person_name")
        .of(&["first", "middle", "last", "title"]),
    entity("company_name", "string").format("organization_name"),
    entity("address", "string")
        .platform("LOC_ADDRESS")
        .format("address")
        .of(&["street", "city", "state", "zip", "country"]),
    entity("airport", "string").platform("LOC_AIRPORT").format("airport_code").lookup("iata_codes"),
    entity("city", "location").format("city"),
    entity("cityadv", "location").format("city"),
    entity("city_coordinates", "location").format("city"),
    entity("country", "string").format("country").lookup("country_names"),
    entity("location", "location"),
    entity("color", "string").lookup("colors"),
    entity("list_of_values", "enum"),
    entity("list_of_items_lookup", "string"),
    entity("regex", "pattern"),
    entity("composite", "object"),
    entity("attachment", "attachment"),
    EntityType { secret: true, ..entity("password", "string") },
    entity("json_object", "object"),
];

/// What an operator of a condition asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Whether both are equal.
    Equal,
    /// Whether they differ.
    NotEqual,
    /// Whether the first is greater.
    Greater,
    /// Whether the first is greater, or both are equal.
    GreaterEqual,
    /// Whether the first is less.
    Less,
    /// Whether the first is less, or both are equal.
    LessEqual,
    /// Whether the first contains the second.
    Contains,
    /// Whether there is a value.
    Exists,
    /// Whether there is none.
    Missing,
}

/// The operators of conditions, by their names in exports.
pub static OPERATORS: &[(&str, Operator)] = &[
    ("eq", Operator::Equal),
    ("neq", Operator::NotEqual),
    ("ne", Operator::NotEqual),
    ("gt", Operator::Greater),
    ("gte", Operator::GreaterEqual),
    ("lt", Operator::Less),
    ("lte", Operator::LessEqual),
    ("cnt", Operator::Contains),
    ("contains", Operator::Contains),
    ("exists", Operator::Exists),
    ("ex", Operator::Exists),
    ("dne", Operator::Missing),
    // The editor leaves it empty where nothing but the field was chosen.
    ("", Operator::Exists),
];

/// What a node of a dialog does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Begins a dialog, or calls another one.
    Intent,
    /// Asks for a value.
    Entity,
    /// Says something.
    Message,
    /// Asks for yes or no.
    Confirmation,
    /// Calls a service.
    Service,
    /// Runs a script.
    Script,
    /// Contains other nodes.
    BotAction,
    /// Branches.
    Logic,
    /// Asks for several values.
    Form,
    /// Hands over to a person.
    AgentTransfer,
    /// Lets a model lead.
    Generative,
    /// Calls something that answers later.
    Webhook,
    /// Calls a process of the platform.
    Process,
    /// Searches.
    Search,
}

impl NodeKind {
    /// The same without what it should contain: it only branches.
    #[must_use]
    pub fn or_logic(self) -> Self {
        if self == Self::BotAction { Self::Logic } else { self }
    }
}

/// The types of nodes, by their names in exports.
pub static NODES: &[(&str, NodeKind)] = &[
    ("intent", NodeKind::Intent),
    ("dynamicIntent", NodeKind::Intent),
    ("entity", NodeKind::Entity),
    ("message", NodeKind::Message),
    ("dialogAct", NodeKind::Confirmation),
    ("service", NodeKind::Service),
    ("script", NodeKind::Script),
    ("botAction", NodeKind::BotAction),
    ("logic", NodeKind::Logic),
    ("form", NodeKind::Form),
    ("agentTransfer", NodeKind::AgentTransfer),
    ("generativeai", NodeKind::Generative),
    ("aiassist", NodeKind::Generative),
    ("webhook", NodeKind::Webhook),
    ("process", NodeKind::Process),
    ("searchai", NodeKind::Search),
];

/// The word of [`SCOPES`] for what the platform knows about the user: ABL has it in longer-lived memory.
pub const USER: &str = "user";

/// Where variables of the context are: what a path begins with, and the word that tells a variable from
/// one of the same name elsewhere.
pub static SCOPES: &[(&[&str], &str)] = &[
    (&["context", "entities"], "entity"),
    (&["context", "session", "BotUserSession"], "session"),
    (&["context", "session", "UserSession"], "user_session"),
    (&["context", "session", "BotContext"], "bot"),
    (&["context", "session", "UserContext"], USER),
    (&["context", "session", "EnterpriseContext"], "enterprise"),
    (&["context", "session", "OrgContext"], "enterprise"),
    (&["context", "session"], "session"),
    (&["context"], "context"),
];

/// Parts of the context that ABL's runtime knows by a name of its own.
pub static KNOWN_PATHS: &[(&[&str], &str)] = &[
    (
        &[
            "context",
            "session",
            "BotUserSession",
            "lastMessage",
            "messagePayload",
            "message",
            "body",
        ],
        "input",
    ),
    (&["context", "currentLanguage"], "language"),
    (&["context", "session", "BotUserSession", "channels", "type"], "channel"),
    (&["context", "intent"], "user.intent"),
];

/// The channels of XO, by what ABL's runtime calls them. What is not here keeps its name.
pub static CHANNELS: &[(&str, &str)] = &[
    ("rtm", "web"),
    ("rtmweb", "web"),
    ("msteams", "teams"),
    ("slack", "slack"),
    ("whatsapp", "whatsapp"),
    ("twiliosms", "sms"),
    ("ivr", "voice"),
    ("ivrVoice", "voice"),
    ("audiocodes", "voice"),
    ("twiliovoice", "voice"),
    ("korevg", "voice"),
    ("smartassist", "voice"),
];

/// The channel of texts that hold where no other does.
pub const DEFAULT_CHANNEL: &str = "default";

/// The functions of JavaScript that ABL has under another name: what is called on a value, and the
/// function of ABL that takes it.
pub static METHODS: &[(&str, &str)] =
    &[("toUpperCase", "UPPER"), ("toLowerCase", "LOWER"), ("trim", "TRIM")];

/// The same for functions.
pub static FUNCTIONS: &[(&str, &str)] = &[
    ("parseInt", "TO_NUMBER"),
    ("parseFloat", "TO_NUMBER"),
    ("Number", "TO_NUMBER"),
    ("String", "TO_STRING"),
];

/// What a user says for yes, where the export does not say it.
pub static YES: &[&str] = &["yes", "y", "yeah", "yep", "sure", "ok", "okay", "correct"];
/// What a user says for no.
pub static NO: &[&str] = &["no", "n", "nope", "nah", "not now", "incorrect"];

/// Fields that hold URI-encoded texts.
pub static ENCODED: &[&str] =
    &["text", "script", "preProcessor", "postProcessor", "value", "path", "message", "response"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once() {
        for (i, a) in ENTITY_TYPES.iter().enumerate() {
            assert!(a.id.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit()));
            assert!(ENTITY_TYPES.iter().skip(i + 1).all(|b| b.id != a.id), "{}", a.id);
        }
        let names = OPERATORS.iter().map(|(n, _)| *n).chain(NODES.iter().map(|(n, _)| *n));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|w| w.first() != w.last()));
    }

    #[test]
    fn types_are_found_by_both_names() {
        assert_eq!(EntityType::called("LOC_AIRPORT"), EntityType::called("airport"));
        assert_eq!(EntityType::called("cityAdv").map(|t| t.ty), Some("location"));
        assert_eq!(EntityType::called("horoscope"), None);
    }
}
