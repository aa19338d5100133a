//! XO's names as tables: entity types, operators, nodes, variables, channels, events, and the fields with
//! encoded texts.

/// An entity type and its counterpart in ABL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityType {
    /// The id in exports, in lower case.
    pub id: &'static str,
    /// The platform's name in capitals, if ABL knows it (`kore_entity_type`).
    pub platform: Option<&'static str>,
    /// The field type in ABL.
    pub ty: &'static str,
    /// The format of values (`semantics.format`).
    pub format: Option<&'static str>,
    /// The components of values.
    pub components: &'static [&'static str],
    /// The unit of values.
    pub unit: Option<&'static str>,
    /// The lookup table of values.
    pub lookup: Option<&'static str>,
    /// Whether values are personal or secret, so that they are neither shown nor stored.
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

    /// Whether the type has semantics beyond its ABL type.
    #[must_use]
    pub const fn has_semantics(&self) -> bool {
        self.format.is_some()
            || self.unit.is_some()
            || self.lookup.is_some()
            || !self.components.is_empty()
    }

    /// The type with this id in exports or platform name.
    #[must_use]
    pub fn called(id: &str) -> Option<&'static Self> {
        ENTITY_TYPES
            .iter()
            .find(|t| t.id.eq_ignore_ascii_case(id) || t.platform.is_some_and(|name| name == id))
    }
}

/// All entity types.
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

/// An operator of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Equality.
    Equal,
    /// Inequality.
    NotEqual,
    /// Greater than.
    Greater,
    /// Greater than or equal.
    GreaterEqual,
    /// Less than.
    Less,
    /// Less than or equal.
    LessEqual,
    /// Substring test.
    Contains,
    /// Whether there is a value.
    Exists,
    /// Whether there is no value.
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
    // Empty if only a field was chosen in the editor.
    ("", Operator::Exists),
];

/// The kind of a dialog node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Starts a dialog, or calls another one.
    Intent,
    /// Collects a value.
    Entity,
    /// Sends a message.
    Message,
    /// Asks for confirmation.
    Confirmation,
    /// Calls a service.
    Service,
    /// Runs a script.
    Script,
    /// Contains other nodes.
    BotAction,
    /// Branches.
    Logic,
    /// Collects several values.
    Form,
    /// Hands over to a human.
    AgentTransfer,
    /// Lets the model lead.
    Generative,
    /// Calls a service that answers asynchronously.
    Webhook,
    /// Calls a process of the platform.
    Process,
    /// Searches.
    Search,
}

impl NodeKind {
    /// The kind of an empty `BotAction`, which only branches; other kinds are unchanged.
    #[must_use]
    pub fn or_logic(self) -> Self {
        if self == Self::BotAction { Self::Logic } else { self }
    }
}

/// The node types, by their names in exports.
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

/// What a component of a form is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormPart {
    /// A value of this type is entered.
    Field(&'static str),
    /// A text is shown.
    Text,
    /// The form is sent or left: the conversation does that itself.
    Control,
}

/// A component of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormComponent {
    /// The type in exports.
    pub id: &'static str,
    /// What it is for.
    pub part: FormPart,
    /// The format of values (`semantics.format`).
    pub format: Option<&'static str>,
    /// Whether several values may be chosen.
    pub several: bool,
    /// Whether values are secret.
    pub secret: bool,
}

impl FormComponent {
    /// The component with this type in exports.
    #[must_use]
    pub fn called(id: &str) -> Option<&'static Self> {
        FORM_COMPONENTS.iter().find(|c| c.id.eq_ignore_ascii_case(id))
    }
}

const fn component(id: &'static str, part: FormPart) -> FormComponent {
    FormComponent { id, part, format: None, several: false, secret: false }
}

const fn entered(id: &'static str, ty: &'static str) -> FormComponent {
    component(id, FormPart::Field(ty))
}

/// The components of forms.
pub static FORM_COMPONENTS: &[FormComponent] = &[
    entered("textField", "string"),
    entered("textArea", "text"),
    entered("radio", "enum"),
    entered("dropdown", "enum"),
    FormComponent { several: true, ..entered("multiSelect", "enum") },
    // With options: which of them; without: whether.
    entered("checkbox", "boolean"),
    entered("toggle", "boolean"),
    entered("date", "date"),
    entered("dateTime", "datetime"),
    FormComponent { format: Some("time"), ..entered("time", "string") },
    FormComponent { format: Some("date_range"), ..entered("dateRange", "string") },
    entered("phoneNumber", "phone"),
    entered("email", "email"),
    entered("number", "number"),
    entered("rating", "number"),
    FormComponent { format: Some("currency_amount"), ..entered("currency", "number") },
    FormComponent { format: Some("url"), ..entered("url", "string") },
    FormComponent { format: Some("address"), ..entered("address", "string") },
    FormComponent { secret: true, ..entered("password", "string") },
    entered("attachment", "attachment"),
    entered("fileUpload", "attachment"),
    component("note", FormPart::Text),
    component("proTip", FormPart::Text),
    component("label", FormPart::Text),
    component("button", FormPart::Control),
];

/// The scope in [`SCOPES`] of user data, which ABL has in persistent memory.
pub const USER: &str = "user";

/// The scopes in [`SCOPES`] of data that outlives the conversation and that all users share.
pub const LASTING: &[&str] = &["bot", "enterprise"];

/// The member of the context with what users entered into forms: `context.forms.<form>.<field>`.
pub const FORMS: &str = "forms";

/// The member of the context with the values of entities: `context.entities.<entity>`.
pub const ENTITIES: &str = "entities";

/// The member of the context with what models answered: `context.GenerativeAINode.<node>.text`.
pub const ANSWERS: &str = "GenerativeAINode";

/// The scopes of context variables: the prefix of their paths, and the prefix that disambiguates variables
/// of the same name.
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

/// The objects of the session. Scripts also use them by these names alone: `BotUserSession.put("key", value, seconds)`.
pub const SESSION_OBJECTS: &[&str] = &[
    "BotUserSession",
    "UserSession",
    "BotContext",
    "UserContext",
    "EnterpriseContext",
    "OrgContext",
];

/// JavaScript methods that change the list they are called on.
pub const MUTATORS: &[&str] =
    &["push", "pop", "shift", "unshift", "splice", "sort", "reverse", "fill", "copyWithin"];

/// JavaScript methods that only lists have.
pub const LIST_METHODS: &[&str] = &[
    "push",
    "pop",
    "shift",
    "unshift",
    "splice",
    "sort",
    "reverse",
    "fill",
    "map",
    "filter",
    "forEach",
    "join",
    "find",
    "findIndex",
    "some",
    "every",
    "reduce",
];

/// JavaScript methods that only texts have.
pub const TEXT_METHODS: &[&str] = &[
    "toUpperCase",
    "toLowerCase",
    "trim",
    "split",
    "replace",
    "replaceAll",
    "substring",
    "substr",
    "charAt",
    "startsWith",
    "endsWith",
    "match",
    "padStart",
    "padEnd",
];

/// Context paths with a name of their own in ABL's runtime.
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

/// The channels of XO and their names in ABL's runtime. Other channels keep their names.
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

/// The cards of message templates: the kind (`template_type`), the format that rich content has for it, and the member of
/// the payload with its parts; without one, the payload is the content.
pub static CARDS: &[(&str, &str, &str)] = &[
    ("carousel", "CAROUSEL", "elements"),
    ("carouselAdv", "CAROUSEL", "elements"),
    ("list", "LIST", "elements"),
    ("listView", "LIST", "elements"),
    ("listWidget", "LIST", "elements"),
    ("tableList", "LIST", "elements"),
    ("advancedListTemplate", "LIST", "listItems"),
    ("advancedMultiListTemplate", "LIST", "listItems"),
    ("quick_replies", "QUICK_REPLIES", "quick_replies"),
    ("button", "QUICK_REPLIES", "buttons"),
    ("dropdown_template", "QUICK_REPLIES", "elements"),
    ("multi_select", "QUICK_REPLIES", "elements"),
    ("radioOptionTemplate", "QUICK_REPLIES", "radioOptions"),
    ("table", "TABLE", ""),
    ("mini_table", "TABLE", ""),
    ("piechart", "CHART", ""),
    ("linechart", "CHART", ""),
    ("barchart", "CHART", ""),
    ("form_template", "FORM", ""),
    ("feedbackTemplate", "FEEDBACK", ""),
];

/// The channel of default texts.
pub const DEFAULT_CHANNEL: &str = "default";

/// JavaScript methods and the ABL functions that replace them.
pub static METHODS: &[(&str, &str)] =
    &[("toUpperCase", "UPPER"), ("toLowerCase", "LOWER"), ("trim", "TRIM")];

/// JavaScript functions and the ABL functions that replace them.
pub static FUNCTIONS: &[(&str, &str)] = &[
    ("parseInt", "TO_NUMBER"),
    ("parseFloat", "TO_NUMBER"),
    ("Number", "TO_NUMBER"),
    ("String", "TO_STRING"),
];

/// What people say to agree and to refuse, by language: the words that the platform takes without being told. What
/// follows them does not matter: "yes please".
pub static ANSWERS_BY_LANGUAGE: &[(&str, &[&str], &[&str])] = &[
    (
        "en",
        &["yes", "y", "yeah", "yep", "sure", "ok", "okay", "correct", "of course", "go ahead"],
        &["no", "n", "nope", "nah", "not now", "don't", "incorrect", "never"],
    ),
    (
        "de",
        &["ja", "j", "jawohl", "klar", "gerne", "genau", "richtig", "stimmt"],
        &["nein", "nee", "nö", "falsch", "lieber nicht"],
    ),
    (
        "es",
        &["sí", "si", "s", "claro", "vale", "correcto", "por supuesto"],
        &["no", "nunca", "incorrecto", "para nada"],
    ),
    (
        "fr",
        &["oui", "o", "ouais", "d'accord", "bien sûr", "exact"],
        &["non", "pas du tout", "jamais", "pas maintenant"],
    ),
    (
        "it",
        &["sì", "si", "certo", "va bene", "esatto", "giusto"],
        &["no", "mai", "per niente", "sbagliato"],
    ),
    (
        "pt",
        &["sim", "s", "claro", "com certeza", "certo", "correto"],
        &["não", "nao", "nunca", "errado"],
    ),
    (
        "nl",
        &["ja", "j", "jazeker", "klopt", "prima", "graag"],
        &["nee", "neen", "niet", "liever niet"],
    ),
    ("sv", &["ja", "j", "japp", "visst", "okej", "stämmer"], &["nej", "nä", "inte"]),
    ("da", &["ja", "jo", "jep", "selvfølgelig"], &["nej", "ikke"]),
    ("no", &["ja", "jo", "japp", "selvfølgelig"], &["nei", "ikke"]),
    ("nb", &["ja", "jo", "japp", "selvfølgelig"], &["nei", "ikke"]),
    ("nn", &["ja", "jo", "japp", "sjølvsagt"], &["nei", "ikkje"]),
    ("ca", &["sí", "si", "és clar", "d'acord", "correcte"], &["no", "mai", "incorrecte"]),
    ("fi", &["kyllä", "joo", "juu", "selvä"], &["ei", "en"]),
    ("pl", &["tak", "t", "jasne", "pewnie", "zgadza się"], &["nie", "nigdy"]),
    ("cs", &["ano", "jasně", "jo", "souhlasím"], &["ne", "nikdy"]),
    ("hu", &["igen", "persze", "rendben"], &["nem", "soha"]),
    ("ro", &["da", "sigur", "desigur"], &["nu", "niciodată"]),
    ("tr", &["evet", "e", "tabii", "tamam", "olur"], &["hayır", "h", "olmaz", "asla"]),
    ("ru", &["да", "д", "конечно", "хорошо", "верно"], &["нет", "н", "не надо", "неверно"]),
    ("uk", &["так", "т", "звичайно", "добре"], &["ні", "н", "не треба"]),
    ("bg", &["да", "добре", "разбира се", "точно"], &["не", "никога"]),
    (
        "sr",
        &["да", "da", "наравно", "naravno", "у реду", "u redu", "тачно", "tačno"],
        &["не", "ne", "никад", "nikad"],
    ),
    ("hr", &["da", "naravno", "u redu", "točno"], &["ne", "nikad"]),
    ("el", &["ναι", "βέβαια", "σωστά"], &["όχι", "οχι", "ποτέ"]),
    ("ar", &["نعم", "أجل", "بالتأكيد", "موافق"], &["لا", "كلا", "أبدا"]),
    ("he", &["כן", "בטח", "בסדר"], &["לא", "ממש לא"]),
    ("hi", &["हाँ", "हां", "जी", "ठीक है", "बिल्कुल"], &["नहीं", "ना", "मत"]),
    ("bn", &["হ্যাঁ", "হাঁ", "জি", "ঠিক আছে"], &["না"]),
    ("te", &["అవును", "సరే"], &["లేదు", "కాదు", "వద్దు"]),
    ("ta", &["ஆம்", "சரி"], &["இல்லை", "வேண்டாம்"]),
    ("zh", &["是", "是的", "对", "好", "好的", "可以"], &["不", "不是", "不要", "没有"]),
    ("ja", &["はい", "ええ", "うん", "お願いします"], &["いいえ", "いえ", "違います"]),
    ("ko", &["네", "예", "응", "좋아요", "맞아요"], &["아니요", "아니오", "아니", "싫어요"]),
    ("th", &["ใช่", "ครับ", "ค่ะ", "ตกลง"], &["ไม่", "ไม่ใช่"]),
    ("vi", &["có", "vâng", "dạ", "đồng ý"], &["không", "chưa"]),
    ("id", &["ya", "iya", "tentu", "baik"], &["tidak", "bukan", "jangan"]),
    ("ms", &["ya", "boleh", "baik"], &["tidak", "bukan", "jangan"]),
];

/// Fields with URI-encoded texts.
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
